/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Samples for programs that draw them: pprof, speedscope, the Firefox Profiler, Perfetto. Each
 * function writes a whole file; 0, or SPE_ERR_NOMEM. docs/viewers.md says what is in them.
 */
#ifndef RENDER_VIEWERS_H
#define RENDER_VIEWERS_H

#include "analysis/timeline.h"
#include "render/out.h"

/* pprof reads both weights, Perfetto and the Firefox Profiler have their own. */
struct viewer {
    struct spe_profile *profile;
    const struct timeline *timeline;
    struct out *out;
    const char *file; /* the recording's name */
    bool latency;     /* what entries weigh, or are shown by first, where there is a choice */
};

int export_pprof(const struct viewer *v);
int export_speedscope(const struct viewer *v);
int export_firefox(const struct viewer *v);
int export_perfetto(const struct viewer *v);

/* ---- what they have in common ---------------------------------------------------------------- */

#define VIEWER_NAME 4352 /* a name of a profile, and a few words */

/* The function of a frame; not safe to show as it is. */
const char *viewer_frame_name(const struct viewer *v, const struct stack_frame *frame,
                              char text[VIEWER_NAME]);
/* "walk 123", "[no thread]" */
const char *viewer_thread_name(const struct viewer *v, uint32_t thread, char text[VIEWER_NAME]);
/* "walk", "[no thread]" */
const char *viewer_comm(const struct viewer *v, uint32_t thread);
/* Of a thread that is not known: pid and tid SPE_NO_TASK. */
struct spe_profile_thread viewer_thread(const struct viewer *v, uint32_t thread);
/* The end of the entries of the thread whose entries begin at `from`. */
size_t viewer_thread_end(const struct viewer *v, size_t from);

#endif
