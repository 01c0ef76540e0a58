/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Who calls a function, by call stacks of another event than SPE (spe_profile_other_stack). Which
 * of its callers a sample had nobody knows: what a function has is shared out among them in
 * proportion to how often the other event saw each.
 */
#ifndef ANALYSIS_OTHER_CALLS_H
#define ANALYSIS_OTHER_CALLS_H

#include "analysis/callers.h"
#include "analysis/groups.h"

struct other_call {
    uint64_t symbol; /* of the function at the top of the stack */
    uint32_t dso;
    uint32_t stack;
    uint64_t weight;
    struct stack_of whose;
};

/* By function, and each stack once. */
struct other_calls {
    struct other_call *at;
    size_t count;
};

/* Those of the profile; of a profile that has none, none. SPE_OK or SPE_ERR_NOMEM. */
int other_calls_read(struct other_calls *o, struct spe_profile *profile);
void other_calls_free(struct other_calls *o);

/* Those of one function, `count` from *first on; none for a function without a name. */
size_t other_calls_of(const struct other_calls *o, uint64_t symbol, uint32_t dso, size_t *first);

/* What is shared out among calls, one after the other: their weights, and those of the ones before.
 */
struct share {
    const struct spe_counts *whole;
    uint64_t all, before;
};

struct share other_calls_shares(const struct other_calls *o, size_t first, size_t count,
                                const struct spe_counts *whole);
/* The part of the next call. Parts add up to the whole; one without samples has nothing else. */
struct spe_counts other_calls_part(struct share *share, const struct other_call *call);

/* spe_group.id of a group whose callers are still to be found: those of the function `symbol`. */
enum { CALLER_OF = SPE_CALLER_UNKNOWN + 1 };

/* Groups by caller: shares out all of CALLER_OF. SPE_OK or SPE_ERR_NOMEM. */
int other_calls_share_groups(struct groups *groups, struct callers *callers,
                             struct spe_profile *profile);

#endif
