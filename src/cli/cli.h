/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the commands share. Errors go to standard error as "spe: what: why", one sentence each; a
 * command returns its exit status.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <getopt.h>
#include <specimen/format.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "render/naming.h"
#include "render/out.h"
#include "render/out_file.h"

enum { STATUS_OK = 0, STATUS_BAD_DATA = 1, STATUS_USAGE = 2 };

struct command {
    const char *name;
    const char *summary; /* for the list of commands */
    const char *usage;   /* the help, before the options */
    const struct option_row *options;
    const char *examples; /* the help, after the options */
    bool words_follow;    /* behind the first word that is not an option, nothing is one */
    int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_record, command_report, command_script, command_export;
extern const struct command command_dump, command_check, command_gen, command_sim, command_vm;
extern const struct command command_annotate, command_c2c, command_diff;
extern const struct command command_evlist, command_buildid_list;

/* "spe: what: why". */
void complain(const char *what, const char *why, ...) __attribute__((format(printf, 2, 3)));

/* As complain, with a pointer to --help; returns STATUS_USAGE. */
int usage_error(const struct command *c, const char *what, const char *why, ...)
    __attribute__((format(printf, 3, 4)));

/* --color, --no-pager, for commands whose output people read. */
extern const struct option_row page_options[];

/* May standard output or standard error have colours? As --color says for the first; else a
 * terminal, and no NO_COLOR. */
bool use_color(int fd);

/* May our own signs be more than ASCII? */
bool use_utf8(void);

/* If standard output is a terminal, what follows goes through the user's pager, and so does
 * standard error. To be called when nothing has been written yet. */
void start_pager(void);

/* At the very end: let the user read. */
void end_pager(void);

/* A row of --width, and the columns of a page: those of the option (0: not given), of the terminal
 * behind fd, of $COLUMNS, or 80. */
enum { WIDTH_MIN = 60, WIDTH_MAX = 1000 };
#define WIDTH_OPTION(job, member)                                                                  \
    {                                                                                              \
        "width", 0, "N", "columns of the page (the terminal's, or 80)",                            \
            OPTION_NUMBER(job, member, WIDTH_MIN, WIDTH_MAX)                                       \
    }
unsigned page_width(uint64_t given, int fd);

/* ---- which machine --------------------------------------------------------------------------- */

/* --cpu, --features and --count-bits as they were given. */
struct machine_options {
    const char *cpu;
    const char *features;
    uint64_t count_bits;
};

bool count_bits_option(const struct command *c, void *target, const char *text);

/* The CPU of this name. Reports a usage error that lists those that there are; NULL then. */
const struct spe_cpu *find_cpu(const struct command *c, const char *name);

/* Their meaning: the CPU's own features and counters unless they are given. A features list that
 * is given beside a CPU starts from the CPU's. The CPU is that of the option, else the one with the
 * MIDR_EL1 that a file tells (0: none). Reports a usage error; false then. `color` is kept. */
bool find_machine(const struct command *c, const struct machine_options *options, uint64_t midr,
                  struct naming *machine);

/* ---- output ---------------------------------------------------------------------------------- */

/* Standard output; false (and reported) if there is no memory. */
bool open_stdout(struct out *o);

/* Finish it; the status, or STATUS_BAD_DATA if something could not be written. */
int close_stdout(struct out *o, int status);

/* What -o names: a file, or standard output (NULL or "-"). */
struct output {
    struct out out;
    struct out_file file;
    const char *name; /* for messages */
};

/* False, and reported, if it cannot be made. */
bool open_output(struct output *o, const char *path);

/* Finish it; the status, or STATUS_BAD_DATA (and reported) if something could not be written. What
 * is not complete is thrown away, and a file of that name is as it was. */
int close_output(struct output *o, bool complete, int status);

/* Is the output (as of open_output) the file that is read? Then this has been reported. */
bool is_input(const char *output, const char *input);

/* "12 bytes = 8 in records + 1 padding + 3 skipped (why: 3); records 1, ..." on standard error. */
void report_account(const char *name, const struct spe_account *a);

/* ---- progress -------------------------------------------------------------------------------- */

/* A line on a terminal for work that takes more than two seconds; nothing elsewhere. */
struct progress {
    const char *what;
    uint64_t total; /* bytes or records; 0: not known */
    double start, last;
    bool enabled, shown;
};

/* For -q. */
void progress_off(void);
/* The result is written to standard output as it is made: on a terminal that is progress enough. */
void progress_with_output(void);
void progress_start(struct progress *p, const char *what, uint64_t total);
void progress_update(struct progress *p, uint64_t done);
void progress_end(struct progress *p);

#endif
