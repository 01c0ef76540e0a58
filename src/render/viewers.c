/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/viewers.h"

#include <inttypes.h>
#include <stdio.h>

const char *viewer_frame_name(const struct viewer *v, const struct stack_frame *frame,
                              char text[VIEWER_NAME])
{
    struct spe_profile_symbol symbol;
    const struct spe_profile_dso *dso;

    switch (frame->kind) {
    case FRAME_NO_STACK:
        return "[no call stack]";
    case FRAME_LEFT_OUT:
        return "[callers left out]";
    case FRAME_SERVED:
        return spe_served_name((unsigned)frame->symbol);
    default:
        break;
    }
    if (spe_profile_symbol(v->profile, frame->symbol, &symbol) == SPE_OK) {
        snprintf(text, VIEWER_NAME, "%s", symbol.name);
        return text;
    }
    dso = frame->dso != SPE_NO_ID ? spe_profile_dso(v->profile, frame->dso) : NULL;
    if (!dso)
        return "[no map]";
    snprintf(text, VIEWER_NAME, "[no symbol] %s", spe_profile_string(v->profile, dso->name));
    return text;
}

struct spe_profile_thread viewer_thread(const struct viewer *v, uint32_t thread)
{
    const struct spe_profile_thread *t =
        thread != SPE_NO_ID ? spe_profile_thread(v->profile, thread) : NULL;

    return t ? *t
             : (struct spe_profile_thread){
                   .pid = SPE_NO_TASK, .tid = SPE_NO_TASK, .comm = SPE_NO_ID};
}

const char *viewer_comm(const struct viewer *v, uint32_t thread)
{
    struct spe_profile_thread t = viewer_thread(v, thread);

    if (t.tid == SPE_NO_TASK)
        return "[no thread]";
    return t.comm != SPE_NO_ID ? spe_profile_string(v->profile, t.comm) : "[no name]";
}

const char *viewer_thread_name(const struct viewer *v, uint32_t thread, char text[VIEWER_NAME])
{
    struct spe_profile_thread t = viewer_thread(v, thread);

    if (t.tid == SPE_NO_TASK)
        return "[no thread]";
    snprintf(text, VIEWER_NAME, "%s %" PRIu32, viewer_comm(v, thread), t.tid);
    return text;
}

size_t viewer_thread_end(const struct viewer *v, size_t from)
{
    size_t to = from;

    while (to < v->timeline->entries.count &&
           v->timeline->entries.at[to].thread == v->timeline->entries.at[from].thread)
        to++;
    return to;
}
