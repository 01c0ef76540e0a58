/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Findings: rules over the kept rows. docs/findings.md tells what each means; its thresholds are
 * here.
 */
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include "analysis/kept.h"
#include "analysis/tally.h"

/*
 * What latency is spent on. All of it is: an operation's own time (without issue and translation)
 * goes to its own cause, its translation to the TLB, and the wait for older operations to what the
 * operations of its function wait for, each by the square of its time: an operation that takes
 * twice as long holds up twice as many, twice as long. Waits below WAIT_LEAST are ordinary.
 */
enum cause {
    CAUSE_BASE, /* the ordinary course of things */
    CAUSE_L2,
    CAUSE_L3,
    CAUSE_DRAM,
    CAUSE_BEYOND_L1,
    CAUSE_SHARED, /* another core's cache had it; an atomic: has it again and again */
    CAUSE_TLB,
    CAUSE_ATOMIC,
    CAUSE_STORE,
    CAUSE_BRANCH, /* mispredicted */
    CAUSE_COUNT
};

#define WAIT_LEAST 8 /* cycles */

#define LEAST_SAMPLES 100 /* for findings about costs */
#define LEAST_SHOWN 20    /* samples that show one */

struct function {
    double weight[CAUSE_COUNT]; /* of the causes of waits; together 1 */
};

/* What rules look at. */
struct study {
    struct kept_row *rows;
    size_t count;
    double latency; /* of all of them */
    uint16_t saturated_at;
    uint32_t *function_of; /* of each row, an item of functions */
    struct tally functions;
    struct function *function;
    double mean[CAUSE_COUNT];    /* own cycles */
    struct spe_profile *profile; /* NULL: nobody knows */
    const struct spe_profile_info *info;
    const struct spe_profile_counts *counts;
    uint64_t pairs, repeats; /* neighbours; of the same pc */
    bool no_memory;
};

/* Whether there is something to say; the finding, which has no place yet, is then filled. */
typedef bool finding_rule(struct study *s, struct spe_finding *finding);

/* ---- causes ---------------------------------------------------------------------------------- */

int study_begin(struct study *s); /* rows, count, saturated_at are set; SPE_OK or SPE_ERR_NOMEM */
void study_end(struct study *s);

/* Atomics on a line that other cores take have the cause that it is shared. */
void share_contended(struct study *s);

double own_cycles(const struct study *s, const struct kept_row *row);
double translation_cycles(const struct kept_row *row);
double wait_cycles(const struct kept_row *row);

/* What a row costs for a cause. */
double cost_of(const struct study *s, size_t i, enum cause cause);

/* What a row is, once the study has begun. */
enum { ROW_LOAD = 1, ROW_STORE = 2, ROW_MEMORY = 3, ROW_BRANCH = 4, ROW_ATOMIC = 8, ROW_SVE = 16 };

static inline bool row_is(const struct kept_row *row, unsigned what)
{
    return row->is & what;
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* The sum of some amounts over all rows, as a share of all latency: a ratio of two sums over the
 * same rows, whose variance is that of amount - share * latency. */
struct ratio {
    double amount, squares, products; /* sums: amounts, their squares, with the latency */
};

void ratio_add(struct ratio *r, double amount, double latency);
void ratio_finish(const struct ratio *r, const struct study *s, struct spe_finding *finding);
void count_finish(uint64_t hits, uint64_t of, enum spe_finding_basis basis,
                  struct spe_finding *finding);

/* Cycles of samples whose counter was not full; 0 if fewer than LEAST_SHOWN were not. */
struct mean {
    double sum;
    uint64_t samples;
};

void mean_add(struct mean *m, const struct study *s, const struct kept_row *row, double cycles);
double mean_of(const struct mean *m);

/* What a row has of something; `what` is the amount's own. */
typedef double amount_of(const struct study *s, size_t row, int what);

/* The place: the function with most of `in_function`, and its instruction with most of `at_pc`. */
void find_place(struct study *s, amount_of *in_function, amount_of *at_pc, int what,
                struct spe_finding *finding);
void place_row(const struct study *s, size_t i, struct spe_finding *f);

/* ---- rules ----------------------------------------------------------------------------------- */

int findings_of(struct study *s, struct spe_finding findings[SPE_FINDINGS_MAX]);

finding_rule find_one_thread, find_one_phase;
finding_rule find_sharing;
finding_rule find_dram, find_l3, find_l2, find_beyond_l1, find_tlb_walks, find_atomics, find_stores;
finding_rule find_issue_wait, find_mispredicted, find_misaligned;
finding_rule find_empty_predicates, find_partial_predicates;
finding_rule find_few_samples, find_no_latency, find_lost, find_collisions, find_damaged,
    find_resonance;
finding_rule find_no_threads, find_no_symbols, find_unknown_sources, find_contradictions;

#endif
