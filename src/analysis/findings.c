/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* All rules, and which of their findings come first. */
#include "analysis/findings.h"

#include <stdlib.h>
#include <string.h>

/* What a thread or a phase has, its causes have too: it comes first unless they have more than
 * this more. */
#define STRUCTURE_FIRST 0.05

#define DOUBTS_MOST 2 /* if there are costs enough to fill the list */

static const char *const names[SPE_FINDING_RULES] = {
    [SPE_FINDING_ONE_THREAD] = "one-thread",
    [SPE_FINDING_ONE_PHASE] = "one-phase",
    [SPE_FINDING_FALSE_SHARING] = "false-sharing",
    [SPE_FINDING_TRUE_SHARING] = "true-sharing",
    [SPE_FINDING_CONTENDED_ATOMICS] = "contended-atomics",
    [SPE_FINDING_DRAM] = "dram",
    [SPE_FINDING_L3] = "l3",
    [SPE_FINDING_L2] = "l2",
    [SPE_FINDING_BEYOND_L1] = "beyond-l1",
    [SPE_FINDING_TLB_WALKS] = "tlb-walks",
    [SPE_FINDING_ATOMICS] = "atomics",
    [SPE_FINDING_STORES] = "stores",
    [SPE_FINDING_MISPREDICTED] = "mispredicted",
    [SPE_FINDING_MISALIGNED] = "misaligned",
    [SPE_FINDING_EMPTY_PREDICATES] = "empty-predicates",
    [SPE_FINDING_PARTIAL_PREDICATES] = "partial-predicates",
    [SPE_FINDING_ISSUE_WAIT] = "issue-wait",
    [SPE_FINDING_NOTHING] = "nothing",
    [SPE_FINDING_FEW_SAMPLES] = "few-samples",
    [SPE_FINDING_NO_LATENCY] = "no-latency",
    [SPE_FINDING_LOST] = "lost",
    [SPE_FINDING_COLLISIONS] = "collisions",
    [SPE_FINDING_DAMAGED] = "damaged",
    [SPE_FINDING_RESONANCE] = "resonance",
    [SPE_FINDING_NO_THREADS] = "no-threads",
    [SPE_FINDING_NO_SYMBOLS] = "no-symbols",
    [SPE_FINDING_UNKNOWN_SOURCES] = "unknown-sources",
    [SPE_FINDING_CONTRADICTIONS] = "contradictions",
};

const char *spe_finding_name(unsigned rule)
{
    return names[rule < SPE_FINDING_RULES ? rule : SPE_FINDING_NOTHING];
}

bool spe_finding_is_doubt(unsigned rule)
{
    return rule > SPE_FINDING_NOTHING;
}

/* The rule says which kind of sharing it is. */
static finding_rule *const rules[SPE_FINDING_RULES] = {
    [SPE_FINDING_ONE_THREAD] = find_one_thread,
    [SPE_FINDING_ONE_PHASE] = find_one_phase,
    [SPE_FINDING_FALSE_SHARING] = find_sharing,
    [SPE_FINDING_DRAM] = find_dram,
    [SPE_FINDING_L3] = find_l3,
    [SPE_FINDING_L2] = find_l2,
    [SPE_FINDING_BEYOND_L1] = find_beyond_l1,
    [SPE_FINDING_TLB_WALKS] = find_tlb_walks,
    [SPE_FINDING_ATOMICS] = find_atomics,
    [SPE_FINDING_STORES] = find_stores,
    [SPE_FINDING_MISPREDICTED] = find_mispredicted,
    [SPE_FINDING_MISALIGNED] = find_misaligned,
    [SPE_FINDING_EMPTY_PREDICATES] = find_empty_predicates,
    [SPE_FINDING_PARTIAL_PREDICATES] = find_partial_predicates,
    [SPE_FINDING_ISSUE_WAIT] = find_issue_wait,
    [SPE_FINDING_FEW_SAMPLES] = find_few_samples,
    [SPE_FINDING_NO_LATENCY] = find_no_latency,
    [SPE_FINDING_LOST] = find_lost,
    [SPE_FINDING_COLLISIONS] = find_collisions,
    [SPE_FINDING_DAMAGED] = find_damaged,
    [SPE_FINDING_RESONANCE] = find_resonance,
    [SPE_FINDING_NO_THREADS] = find_no_threads,
    [SPE_FINDING_NO_SYMBOLS] = find_no_symbols,
    [SPE_FINDING_UNKNOWN_SOURCES] = find_unknown_sources,
    [SPE_FINDING_CONTRADICTIONS] = find_contradictions,
};

static struct spe_finding no_finding(unsigned rule)
{
    return (struct spe_finding){
        .rule = (uint8_t)rule,
        .symbol = SPE_NO_SYMBOL,
        .map = SPE_NO_ID,
        .line = SPE_NO_ID,
        .thread = SPE_NO_ID,
        .pid = SPE_NO_TASK,
    };
}

static double rank_of(const struct spe_finding *f)
{
    return f->share + (f->rule <= SPE_FINDING_ONE_PHASE ? STRUCTURE_FIRST : 0.0);
}

/* Larger shares first; equal ones as the rules are listed. */
static int order(const void *left, const void *right)
{
    const struct spe_finding *a = left, *b = right;

    if (rank_of(a) != rank_of(b))
        return rank_of(a) > rank_of(b) ? -1 : 1;
    return (int)a->rule - (int)b->rule;
}

/* The findings of the rules from first up to the last. */
static size_t ask(struct study *s, unsigned first, unsigned last, struct spe_finding *list)
{
    size_t n = 0;
    unsigned i;

    for (i = first; i <= last; i++) {
        list[n] = no_finding(i);
        if (rules[i] && rules[i](s, &list[n]))
            n++;
    }
    qsort(list, n, sizeof(*list), order);
    return n;
}

int findings_of(struct study *s, struct spe_finding findings[SPE_FINDINGS_MAX])
{
    struct spe_finding costs[SPE_FINDING_RULES], doubts[SPE_FINDING_RULES];
    size_t n_costs = 0, n_doubts, room, i;

    if (s->count >= LEAST_SAMPLES)
        n_costs = ask(s, 0, SPE_FINDING_NOTHING - 1, costs);
    n_doubts = ask(s, SPE_FINDING_NOTHING + 1, SPE_FINDING_RULES - 1, doubts);
    if (!n_costs && s->count >= LEAST_SAMPLES && s->latency > 0.0)
        costs[n_costs++] = no_finding(SPE_FINDING_NOTHING);
    if (s->no_memory)
        return SPE_ERR_NOMEM;
    room = n_doubts < DOUBTS_MOST ? n_doubts : DOUBTS_MOST;
    n_costs = n_costs < SPE_FINDINGS_MAX - room ? n_costs : SPE_FINDINGS_MAX - room;
    for (i = 0; i < n_costs; i++)
        findings[i] = costs[i];
    for (; i < SPE_FINDINGS_MAX && i - n_costs < n_doubts; i++)
        findings[i] = doubts[i - n_costs];
    return (int)i;
}
