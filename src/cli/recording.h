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

/* The options, whose targets are in a struct recording; the letters are perf's. */
extern const struct option_row recording_options[];

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

/* "12.5s", "3ms", "12.5" (seconds): nanoseconds, exactly. False if it is none. */
bool recording_time(const char *text, size_t length, uint64_t *ns);

/* "0-3,8": the numbers, at most `max`. Their number, or SPE_ERR_INVALID. */
int recording_list(const char *text, uint32_t *numbers, size_t max);

/* A row of --data-memory, which is for report and c2c. */
#define DATA_MEMORY_OPTION(job, member, what)                                                      \
    {                                                                                              \
        "data-memory", 0, "SIZE", what, OPTION_SIZE(job, member, 65536, UINT64_MAX)                \
    }

/* The one file that the command line names, by -i (NULL) or as its argument; perf.data if it names
 * none. NULL after a complaint. */
const char *one_file(const struct command *c, const char *input, int argc, char **argv);

/* After the last option: options.filter is now all that samples are chosen by. False after a
 * complaint. */
bool recording_choose(struct recording *r, const struct command *c);

/* The same, and that file. */
const char *recording_file(struct recording *r, const struct command *c, int argc, char **argv);

/* When the file was written, in seconds; 0: not known. */
int64_t recording_made_at(const char *file);

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

/* Open it, let `answer` make a status of it, close it. */
int recording_run(struct recording *r, const struct command *c, const char *file,
                  int (*answer)(void *job, struct spe_profile *profile), void *job);

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

/* A sentence with the name of an event. */
#define OTHER_CALLS                                                                                \
    "the call stacks are of another event (%s), not of SPE's samples: the samples of a function "  \
    "are divided among its callers there"

#endif
