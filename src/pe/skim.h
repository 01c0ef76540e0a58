/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Between samples. Caches, TLB, prediction and prefetchers are told everything, always. The window,
 * which makes times, is followed from some operations before an instruction that is watched until
 * it is done, and while anything from beyond L2 is on its way. Elsewhere what L2 gives is not
 * followed: a block takes the time that it would without, and as much longer as it did on average
 * when it was followed. What the window waited for before, it waits for behind.
 *
 * Not while threads take lines from each other, which they do by time: only where the stream is
 * alone, or nobody has met another for a while. And not where exact counts are made, whose cycles
 * are counted, not estimated.
 */
#ifndef PE_SKIM_H
#define PE_SKIM_H

#include "pe/machine_fast.h"
#include "pe/merge.h"

/* Operations that the window is followed before one that is watched: it holds most of these, and
 * the rest is for what waits longer than it. */
static inline uint64_t pe_skim_margin(const struct spe_machine_config *config)
{
    return config->window + UINT64_C(128);
}

/* Ticks behind a line that a cpu had to ask another for, until threads are taken not to meet. */
#define PE_CALM (UINT64_C(100000) * PE_TICKS)

/* May the next block, of those that were handed over, be the first to be skimmed? */
static inline bool pe_may_skim(const struct pe_stream *s)
{
    const struct pe_window *w = &s->cpu->window;

    return w->operations < s->skim_until && (s->alone || w->now > s->merge->met + PE_CALM) &&
           !s->merge->thorough && !s->merge->counting;
}

/* Have events until one that is not for here: all else is as before it. The block that is last had
 * has begun. */
void pe_skim(struct pe_stream *s);

/* The window had filled, and was followed through the stream's block, whose branch may have been
 * mispredicted: see pe_skim_learn. */
void pe_skim_note(struct pe_stream *s, const struct pe_block *next, bool wrong);

/* The window was followed through the stream's block, and the next has begun: what the last one
 * waited for is not only its own, but on average it is. */
static inline void pe_skim_learn(struct pe_stream *s, const struct pe_block *next, bool wrong)
{
    const struct pe_window *w = &s->cpu->window;

    if (w->operations - s->followed_from >= s->margin * 3 / 4 && s->began >= w->slow_until &&
        s->block)
        pe_skim_note(s, next, wrong);
    s->began = w->now;
}

#endif
