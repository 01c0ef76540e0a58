/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What `spe report`, `spe c2c`, `spe script` and `spe export` have in common: which part of which
 * recording, in the words of a command line; opening it; going through its rows.
 */
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include <specimen/analysis.h>
#include <specimen/profile.h>

#include "cli/cli.h"

/* Values of long options, clear of letters and of those that a command has for itself. */
enum recording_option {
    RECORDING_FILTER = 0x2000,
    RECORDING_TIME,
    RECORDING_CPUS,
    RECORDING_PID,
    RECORDING_TID,
    RECORDING_SYMFS,
    RECORDING_DEBUG_DIR,
    RECORDING_VMLINUX,
    RECORDING_KALLSYMS,
    RECORDING_CPU,
    RECORDING_RAW,
    RECORDING_THREADS,
    RECORDING_MEMORY,
    RECORDING_COMMS,
    RECORDING_DSOS,
    RECORDING_SYMBOLS,
    RECORDING_NOTHING, /* an option of perf that asks for what is so anyway */
};

/* For an array of struct option; the letters are perf's. */
#define RECORDING_LETTERS "hi:C:c:d:S:k:fq"
#define RECORDING_OPTIONS                                                                          \
    {"input", required_argument, NULL, 'i'}, {"quiet", no_argument, NULL, 'q'},                    \
        {"force", no_argument, NULL, RECORDING_NOTHING},                                           \
        {"comms", required_argument, NULL, RECORDING_COMMS},                                       \
        {"dsos", required_argument, NULL, RECORDING_DSOS},                                         \
        {"symbols", required_argument, NULL, RECORDING_SYMBOLS},                                   \
        {"filter", required_argument, NULL, RECORDING_FILTER},                                     \
        {"time", required_argument, NULL, RECORDING_TIME},                                         \
        {"cpus", required_argument, NULL, RECORDING_CPUS},                                         \
        {"pid", required_argument, NULL, RECORDING_PID},                                           \
        {"tid", required_argument, NULL, RECORDING_TID},                                           \
        {"symfs", required_argument, NULL, RECORDING_SYMFS},                                       \
        {"debug-dir", required_argument, NULL, RECORDING_DEBUG_DIR},                               \
        {"vmlinux", required_argument, NULL, RECORDING_VMLINUX},                                   \
        {"kallsyms", required_argument, NULL, RECORDING_KALLSYMS},                                 \
        {"cpu", required_argument, NULL, RECORDING_CPU},                                           \
        {"raw", no_argument, NULL, RECORDING_RAW},                                                 \
        {"threads", required_argument, NULL, RECORDING_THREADS},                                   \
    {                                                                                              \
        "max-memory", required_argument, NULL, RECORDING_MEMORY                                    \
    }

/* c, d: what stands in front of --comms and --dsos, which are other options for some. */
#define RECORDING_WHICH(c, d)                                                                      \
    "Which samples:\n"                                                                             \
    "      --filter EXPR      those that match (man spe-filter), for example\n"                    \
    "                         'load and total > 100 and symbol ~ \"mem\"'\n"                       \
    "      --time FROM,TO     from FROM up to TO, either may be missing: 12.5s,13s;\n"             \
    "                         +0.5s is from the start; also 10%-20%\n" c                           \
    "--comms LIST       of threads with these names\n" d                                           \
    "--dsos LIST        of these programs and libraries\n"                                         \
    "  -S, --symbols LIST     of these functions\n"                                                \
    "  -C, --cpus LIST        of these CPUs, for example 0-3,8\n"                                  \
    "      --pid LIST         of these processes\n"                                                \
    "      --tid LIST         of these threads\n"                                                  \
    "\n"
#define RECORDING_HELP_REST                                                                         \
    "Where names come from:\n"                                                                      \
    "      --symfs DIR        files of the recording's machine are below DIR\n"                     \
    "      --debug-dir DIR    cache of binaries by build-id (~/.debug)\n"                           \
    "  -k, --vmlinux FILE     the kernel's symbols: its ELF file\n"                                 \
    "      --kallsyms FILE    ... or a copy of /proc/kallsyms\n"                                    \
    "\n"                                                                                            \
    "What the bytes are:\n"                                                                         \
    "  -i, --input FILE       as FILE, in perf's way\n"                                             \
    "      --cpu NAME         the CPU, where the file does not say\n"                               \
    "      --raw              bare SPE bytes, whatever they look like\n"                            \
    "      --threads N        decode with so many threads (as many as there are CPUs)\n"            \
    "      --max-memory SIZE  for tasks, maps and buffers, such as 512M (1G, or the file's size)\n" \
    "  -f, --force            is taken, as perf has it, and changes nothing\n"                      \
    "  -q, --quiet            no warnings; errors are still said\n"
#define RECORDING_HELP RECORDING_WHICH("  -c, ", "  -d, ") RECORDING_HELP_REST

#define RECORDING_LIST 4096
#define RECORDING_TEXT 16384

/* One end of --time, before the recording is known. */
struct recording_moment {
    enum { MOMENT_NONE, MOMENT_AT, MOMENT_SINCE, MOMENT_PERCENT } kind;
    uint64_t value; /* ns; of MOMENT_PERCENT: millionths of the recording */
};

struct recording {
    struct spe_profile_options options;
    const char *input; /* of -i */
    bool quiet;
    const char *comms, *dsos, *symbols; /* lists that become a part of the filter */
    char filter[RECORDING_TEXT];        /* ... with what --filter says */
    struct recording_moment from, to;   /* of --time */
    uint32_t cpus[RECORDING_LIST], pids[RECORDING_LIST], tids[RECORDING_LIST];
};

void recording_init(struct recording *r);

/* 1 if the option is one of the above and its value is good, 0 if it is another one, or
 * SPE_ERR_INVALID with a sentence about the value. Values are borrowed. */
int recording_option(struct recording *r, int option, const char *value, const char **why);

/* "12.5s", "3ms", "12.5" (seconds): nanoseconds, exactly. False if it is none. */
bool recording_time(const char *text, size_t length, uint64_t *ns);

/* "0-3,8": the numbers, at most `max`. Their number, or SPE_ERR_INVALID. */
int recording_list(const char *text, uint32_t *numbers, size_t max);

/* The same for a command's own loop over its options: what is wrong, also that there is no such
 * option, is reported; false then. */
bool recording_take(struct recording *r, const struct command *c, int option, const char *value);

/* --data-memory of report and c2c. */
bool data_memory_option(const struct command *c, const char *text, uint64_t *bytes);

/* The one file that the command line names, by -i (NULL) or as its argument; perf.data if it names
 * none. NULL after a complaint. */
const char *one_file(const struct command *c, const char *input, int argc, char **argv);

/* After the last option: options.filter is now all that samples are chosen by. False after a
 * complaint. */
bool recording_choose(struct recording *r, const struct command *c);

/* The same, and that file. */
const char *recording_file(struct recording *r, const struct command *c, int argc, char **argv);

/* Open the recording with the options. STATUS_OK, or another status after a complaint. */
int recording_open(struct recording *r, const struct command *c, const char *file,
                   struct spe_profile **profile);

/* Were all samples outside the times of --time? Then this has been said, with the recording's. */
bool recording_missed(const struct recording *r, const char *file,
                      const struct spe_profile *profile);

/* Every row group goes to `each`, with progress shown, until that returns less than 1. The last
 * result: 0, or an error that is not reported yet. */
typedef int recording_each(void *user, struct spe_profile *profile, struct spe_rows *rows);
int recording_rows(struct spe_profile *profile, const char *file, recording_each *each, void *user);

/* All rows go into the analysis, and it is finished. */
int recording_analyse(struct spe_profile *profile, const char *file, struct spe_analysis *analysis);

/* All rows are in an analysis that may need them again (config.again): it gets them, and is
 * finished.
 */
int recording_finish(struct spe_profile *profile, const char *file, struct spe_analysis *analysis);

/* The result of all that, or of looking up names since, which has been reported if it is an error.
 */
int recording_result(const struct spe_profile *profile, const char *file, int result);

/* What was found wrong with the recording, and the bytes outside records; nothing with -q. */
void recording_warn(const struct recording *r, const struct spe_profile *profile, const char *file);

/* STATUS_BAD_DATA if something of the recording was lost because its file is damaged, else
 * STATUS_OK. A recording that says itself that samples were lost, or that its recorder was killed,
 * is intact. */
int recording_status(const struct spe_profile *profile);

#endif
