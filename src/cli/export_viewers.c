/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/export_viewers.h"

#include <inttypes.h>

#include "render/viewers.h"

/* Entries: what pprof may take in memory, and what a page in a browser can still draw. */
#define PPROF_MOST 1000000
#define PAGE_MOST 250000
#define TRACE_BINS 1000 /* of the time line */

void viewer_wants(enum viewer_format format, bool lines, struct spe_profile_options *options)
{
    options->order = SPE_ORDER_FAST;
    options->want = SPE_WANT_SYMBOL;
    if (format != VIEWER_PERFETTO)
        options->want |= SPE_WANT_STACK;
    if (lines && (format == VIEWER_SPEEDSCOPE || format == VIEWER_FIREFOX))
        options->want |= SPE_WANT_LINE;
}

bool viewer_can(struct spe_profile *profile, const char *file, enum viewer_format format)
{
    if (format != VIEWER_PERFETTO || spe_profile_info(profile)->timed)
        return true;
    complain(file, "has no times, and a trace is drawn over time; pprof, speedscope and firefox "
                   "take it");
    return false;
}

static int add_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = timeline_add(user, profile, rows);

    return result < 0 ? result : 1;
}

/* Nothing is said of bins that the user does not see: those of a trace, and one for all. */
static void say_what_is_missing(const struct timeline *s, const char *file, bool bins)
{
    if (bins && s->shift && s->shift < TIMELINE_NO_TIME)
        complain(file,
                 "%" PRIu64 " samples became %zu: those of a thread with the same stack within "
                 "%.3f us are one, of their weight",
                 s->samples, s->entries.count, (double)(UINT64_C(1) << s->shift) * 1e-3);
    if (s->left_out)
        complain(file,
                 "%" PRIu64 " samples are without their callers: there are too many different "
                 "stacks; --filter and --time make it fewer",
                 s->left_out);
    if (s->without_time)
        complain(file, "%" PRIu64 " samples without a time are omitted", s->without_time);
}

static int write_file(const struct viewer *v, enum viewer_format format)
{
    static int (*const write[])(const struct viewer *) = {
        [VIEWER_PPROF] = export_pprof,
        [VIEWER_SPEEDSCOPE] = export_speedscope,
        [VIEWER_FIREFOX] = export_firefox,
        [VIEWER_PERFETTO] = export_perfetto,
    };

    return write[format](v);
}

int export_viewer(struct spe_profile *profile, const char *file, enum viewer_format format,
                  bool latency, bool lines, bool quiet, struct out *o)
{
    bool trace = format == VIEWER_PERFETTO,
         page = format == VIEWER_SPEEDSCOPE || format == VIEWER_FIREFOX;
    struct timeline_config config = {
        .by_pc = format == VIEWER_PPROF,
        .lines = lines && !trace,
        .served = trace,
        .timed = format != VIEWER_PPROF && spe_profile_info(profile)->timed,
        .most = format == VIEWER_PPROF ? PPROF_MOST : PAGE_MOST,
        .bins = trace ? TRACE_BINS : 0,
    };
    struct timeline timeline;
    struct viewer viewer = {profile, &timeline, o, file, latency};
    int result = timeline_init(&timeline, &config);

    if (result == SPE_OK)
        result = recording_rows(profile, file, add_rows, &timeline);
    if (result == SPE_OK)
        result = timeline_finish(&timeline);
    if (result == SPE_OK)
        result = write_file(&viewer, format);
    if (result == SPE_OK && !quiet)
        say_what_is_missing(&timeline, file, page);
    timeline_free(&timeline);
    return result;
}
