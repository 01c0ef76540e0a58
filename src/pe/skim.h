/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Between samples. Caches, TLB, prediction and prefetchers are told everything, always. The window,
 * which makes times, is followed from some operations before an instruction that is watched until
 * it is done. Elsewhere what L2 gives is not followed: a block takes the time that it would
 * without, and as much longer as it did on average when it was followed. What the window waited for
 * before, it waits for behind.
 *
 * What comes from beyond L2, and pages that are looked for, are waited for even there: blocks
 * behind them begin in the window, which may be full, and what depends on them is late, whoever
 * gives it. So what takes longest is no average, and prefetchers have the time that they really
 * have.
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

/* Have events until one that is not for here: all else is as before it. The stream is quiet, the
 * block that is last had has begun, and the next event is one that begins. */
void pe_skim(struct pe_stream *s);

#endif
