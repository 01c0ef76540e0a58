/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe sim: drives a Statistical Profiling Unit from a script. */
#include <errno.h>
#include <inttypes.h>
#include <specimen/spu.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/cli.h"
#include "sim/report.h"
#include "sim/sim.h"

static const char usage[] =
    "Usage: spe sim [OPTION]... [FILE]...\n"
    "\n"
    "Drive a Statistical Profiling Unit from a script and print what happens: records,\n"
    "management events, interrupts, exceptions, PMU events. Without FILE and -e, or\n"
    "when FILE is -, the script is read from standard input. docs/sim.md and\n"
    "spe-sim(1) describe the language.\n";

static const char examples[] =
    "The exit status is 1 if an 'expect' failed, 2 if a script cannot be understood.\n"
    "\n"
    "Examples:\n"
    "  spe sim -e 'buffer 0x10000 64K' -e 'reg PMSIRR_EL1.INTERVAL=1 PMSCR_EL1.E0SPE=1' \\\n"
    "          -e 'op load pc=0x400000' -e 'access va=0x1000 pa=0x2000' -e 'run 600'\n"
    "  spe sim --json script.sim | jq 'select(.effect == \"record\").record'\n"
    "  spe sim --list options\n";

struct job {
    const struct command *command;
    struct sim *sim;
    struct out out;
    struct report report;
    bool json;
    const char *list;
    char *lines; /* of all --execute, one after the other */
    size_t length;
};

/* ---- options -------------------------------------------------------------------------------- */

static bool add_line(const struct command *c, void *target, const char *line)
{
    struct job *job = target;
    size_t length = strlen(line);
    char *grown = realloc(job->lines, job->length + length + 2);

    (void)c;
    if (!grown) {
        complain("--execute", "%s", spe_strerror(SPE_ERR_NOMEM));
        return false;
    }
    job->lines = grown;
    memcpy(grown + job->length, line, length + 1);
    job->length += length + 1;
    grown[job->length - 1] = '\n';
    return true;
}

static const struct option_row options[] = {
    {"execute", 'e', "LINE", "a statement; may be given again, before or without FILE",
     OPTION_TAKE(add_line)},
    {"json", 0, NULL, "one JSON object per line", OPTION_FLAG(struct job, json)},
    {"list", 0, "WHAT",
     "print the known names: statements, quantities, registers, options, presets, features, pe "
     "(with its defaults), operations, accesses, facts or faults",
     OPTION_STRING(struct job, list)},
    {0},
};

/* ---- lists ---------------------------------------------------------------------------------- */

static void list_options(struct out *o)
{
    const struct spe_option *option;

    for (size_t i = 0; (option = spe_spu_option_at(i)); i++) {
        out_string(o, option->name);
        out_string(o, " = ");
        out_string(o, option->values);
        out_string(o, "\n    ");
        out_string(o, option->sentence);
        if (option->requirements[0]) {
            out_string(o, " (");
            out_string(o, option->requirements);
            out_char(o, ')');
        }
        out_char(o, '\n');
    }
}

static void list_presets(struct out *o)
{
    for (size_t i = 0; spe_spu_preset_at(i); i++)
        out_printf(o, "%-14s %s\n", spe_spu_preset_at(i), spe_spu_preset_sentence(i));
}

static void list_registers(struct out *o)
{
    for (unsigned reg = 0; reg < SPE_REG_NAME_COUNT; reg++) {
        unsigned e = (unsigned)spe_register_encoding(reg);

        out_printf(o, "%-14s S%u_%u_C%u_C%u_%u\n", spe_register_name(reg), e >> 14 & 3, e >> 11 & 7,
                   e >> 7 & 15, e >> 3 & 15, e & 7);
    }
}

static void print_line(void *user, const char *line)
{
    out_string(user, line);
    out_char(user, '\n');
}

static int print_list(struct job *job)
{
    static const struct {
        const char *name;
        void (*print)(struct out *o);
    } lists[] = {
        {"options", list_options},
        {"presets", list_presets},
        {"registers", list_registers},
    };

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (!strcmp(lists[i].name, job->list)) {
            lists[i].print(&job->out);
            return STATUS_OK;
        }
    if (sim_list(job->list, print_line, &job->out))
        return STATUS_OK;
    return usage_error(job->command, "--list",
                       "'%s' is not accesses, facts, faults, features, operations, options, pe, "
                       "presets, quantities, registers or statements",
                       job->list);
}

/* ---- scripts -------------------------------------------------------------------------------- */

#define SCRIPT_MAX (16u << 20)

/* The whole of a stream; NULL after a complaint. */
static char *read_all(FILE *f, const char *name, size_t *length)
{
    char *text = NULL;
    size_t room = 0;

    *length = 0;
    for (;;) {
        size_t n;

        if (*length == room) {
            char *grown = room < SCRIPT_MAX ? realloc(text, room + 65536) : NULL;

            if (!grown) {
                complain(name, "the script is too large");
                free(text);
                return NULL;
            }
            text = grown;
            room += 65536;
        }
        n = fread(text + *length, 1, room - *length, f);
        *length += n;
        if (n == 0)
            break;
    }
    if (!ferror(f))
        return text;
    complain(name, "%s", strerror(errno));
    free(text);
    return NULL;
}

static char *read_script(const char *path, size_t *length)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    char *text;

    if (!f) {
        complain(path, "%s", strerror(errno));
        return NULL;
    }
    text = read_all(f, standard ? "standard input" : path, length);
    if (!standard)
        fclose(f);
    return text;
}

static int run_text(struct job *job, const char *name, const char *text, size_t length)
{
    struct sim_error error;
    char place[4200];

    if (sim_run(job->sim, text, length, &error) == SPE_OK)
        return STATUS_OK;
    out_flush(&job->out); /* what happened before comes before the complaint */
    snprintf(place, sizeof(place), "%s:%u:%u", name, error.line, error.column);
    complain(place, "%s", error.sentence);
    return STATUS_USAGE;
}

static int run_file(struct job *job, const char *path)
{
    size_t length;
    char *text = read_script(path, &length);
    int status;

    if (!text)
        return STATUS_USAGE;
    status = run_text(job, strcmp(path, "-") == 0 ? "standard input" : path, text, length);
    free(text);
    return status;
}

static int run_scripts(struct job *job, int argc, char **argv)
{
    int status = STATUS_OK;

    if (job->length)
        status = run_text(job, "--execute", job->lines, job->length);
    if (!job->length && optind == argc)
        return run_file(job, "-");
    for (int i = optind; i < argc && status == STATUS_OK; i++)
        status = run_file(job, argv[i]);
    return status;
}

static int simulate(struct job *job, int argc, char **argv)
{
    struct sim_listener listener;
    int status;

    listener = report_listener(&job->report, &job->out, job->json, use_color(STDOUT_FILENO));
    job->sim = sim_create(&listener);
    if (!job->sim) {
        complain("sim", "%s", spe_strerror(SPE_ERR_NOMEM));
        return STATUS_BAD_DATA;
    }
    status = run_scripts(job, argc, argv);
    if (sim_failed(job->sim)) {
        out_flush(&job->out);
        complain("sim", "%" PRIu64 " of %" PRIu64 " expectations failed", sim_failed(job->sim),
                 sim_expected(job->sim));
        status = status == STATUS_OK ? STATUS_BAD_DATA : status;
    }
    sim_destroy(job->sim);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct job job = {.command = self};
    int status;

    if (!take_options(self, &job, argc, argv, &status) || !open_stdout(&job.out)) {
        free(job.lines);
        return status;
    }
    status = job.list ? print_list(&job) : simulate(&job, argc, argv);
    free(job.lines);
    return close_stdout(&job.out, status);
}

const struct command command_sim = {
    .name = "sim",
    .summary = "drive a Statistical Profiling Unit from a script",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
