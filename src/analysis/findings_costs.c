/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Rules about what operations cost. */
#include "analysis/findings.h"

/* ---- latency by cause ------------------------------------------------------------------------ */

static double cause_cost(const struct study *s, size_t i, int cause)
{
    return cost_of(s, i, (enum cause)cause);
}

/* The instruction that is the cause, not those that wait for it. */
static double cause_weight(const struct study *s, size_t i, int cause)
{
    double own = cause == CAUSE_TLB          ? translation_cycles(&s->rows[i])
                 : cause == s->rows[i].cause ? own_cycles(s, &s->rows[i])
                                             : 0.0;

    return own * own;
}

static double cause_cycles(const struct study *s, size_t i, enum cause cause)
{
    return cause == CAUSE_TLB ? translation_cycles(&s->rows[i]) : own_cycles(s, &s->rows[i]);
}

static bool shows_cause(const struct kept_row *row, enum cause cause)
{
    return cause == CAUSE_TLB ? row->translation > 0 : row->cause == cause;
}

static bool find_cause(struct study *s, enum cause cause, double least, struct spe_finding *f)
{
    struct ratio ratio = {0};
    struct mean mean = {0};
    size_t i;

    for (i = 0; i < s->count; i++) {
        const struct kept_row *row = &s->rows[i];

        ratio_add(&ratio, cost_of(s, i, cause), row->total);
        if (!shows_cause(row, cause))
            continue;
        f->samples++;
        mean_add(&mean, s, row, cause_cycles(s, i, cause));
    }
    ratio_finish(&ratio, s, f);
    f->cycles = mean_of(&mean);
    if (f->samples < LEAST_SHOWN || f->interval.low < least)
        return false;
    find_place(s, cause_cost, cause_weight, (int)cause, f);
    return true;
}

bool find_dram(struct study *s, struct spe_finding *f)
{
    return find_cause(s, CAUSE_DRAM, 0.10, f);
}

bool find_l3(struct study *s, struct spe_finding *f)
{
    return find_cause(s, CAUSE_L3, 0.10, f);
}

bool find_l2(struct study *s, struct spe_finding *f)
{
    return find_cause(s, CAUSE_L2, 0.25, f);
}

bool find_beyond_l1(struct study *s, struct spe_finding *f)
{
    return find_cause(s, CAUSE_BEYOND_L1, 0.10, f);
}

bool find_tlb_walks(struct study *s, struct spe_finding *f)
{
    return find_cause(s, CAUSE_TLB, 0.10, f);
}

bool find_atomics(struct study *s, struct spe_finding *f)
{
    return find_cause(s, CAUSE_ATOMIC, 0.10, f);
}

bool find_stores(struct study *s, struct spe_finding *f)
{
    return find_cause(s, CAUSE_STORE, 0.20, f) && (f->cycles == 0.0 || f->cycles >= WAIT_LEAST);
}

/* ---- waits for nothing in particular --------------------------------------------------------- */

static double ordinary_wait(const struct study *s, size_t i, int unused)
{
    (void)unused;
    return wait_cycles(&s->rows[i]) * s->function[s->function_of[i]].weight[CAUSE_BASE];
}

bool find_issue_wait(struct study *s, struct spe_finding *f)
{
    struct ratio ratio = {0};
    double waits = 0.0;
    size_t i;

    for (i = 0; i < s->count; i++) {
        double wait = ordinary_wait(s, i, 0);

        ratio_add(&ratio, wait, s->rows[i].total);
        waits += wait;
        f->samples += wait > 0.0;
    }
    ratio_finish(&ratio, s, f);
    if (f->samples < LEAST_SHOWN || f->interval.low < 0.25)
        return false;
    f->cycles = waits / (double)f->samples;
    find_place(s, ordinary_wait, ordinary_wait, 0, f);
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Events, and of which operations they are. What has an empty predicate has a partial one, too
 * (D18.2.6): it is counted once. */
static const struct {
    int event;
    unsigned of;       /* ROW_... */
    uint64_t not_with; /* events */
    enum spe_finding_basis basis;
    double least;
} events[] = {
    {SPE_EVENT_MISPREDICTED, ROW_BRANCH, 0, SPE_OF_BRANCHES, 0.05},
    {SPE_EVENT_MISALIGNED, ROW_MEMORY, 0, SPE_OF_ACCESSES, 0.10},
    {SPE_EVENT_EMPTY_PREDICATE, ROW_SVE, 0, SPE_OF_SVE, 0.10},
    {SPE_EVENT_PARTIAL_PREDICATE, ROW_SVE, SPE_EVENT_BIT(EMPTY_PREDICATE), SPE_OF_SVE, 0.25},
};

static double event_here(const struct study *s, size_t i, int which)
{
    const struct kept_row *row = &s->rows[i];

    return row_is(row, events[which].of) && row->events >> events[which].event & 1 &&
           !(row->events & events[which].not_with);
}

static bool find_event(struct study *s, int which, struct spe_finding *f)
{
    uint64_t hits = 0, all = 0;
    struct mean mean = {0};
    size_t i;

    for (i = 0; i < s->count; i++) {
        bool hit = event_here(s, i, which) > 0.0;

        all += row_is(&s->rows[i], events[which].of);
        hits += hit;
        if (hit)
            mean_add(&mean, s, &s->rows[i], own_cycles(s, &s->rows[i]));
    }
    count_finish(hits, all, events[which].basis, f);
    if (hits < LEAST_SHOWN || f->interval.low < events[which].least ||
        spe_interval_of_share(hits, s->count).low < 0.01)
        return false;
    f->cycles = mean_of(&mean);
    find_place(s, event_here, event_here, which, f);
    return true;
}

bool find_mispredicted(struct study *s, struct spe_finding *f)
{
    return find_event(s, 0, f);
}

bool find_misaligned(struct study *s, struct spe_finding *f)
{
    return find_event(s, 1, f);
}

bool find_empty_predicates(struct study *s, struct spe_finding *f)
{
    return find_event(s, 2, f);
}

bool find_partial_predicates(struct study *s, struct spe_finding *f)
{
    return find_event(s, 3, f);
}
