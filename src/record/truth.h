/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The truth beside the samples: exact counts of the emulator and estimates from the recording,
 * function by function. An estimate is what anybody gets from a profile; the exact count is what no
 * hardware can tell.
 */
#ifndef RECORD_TRUTH_H
#define RECORD_TRUTH_H

#include "record/record.h"

enum truth_quantity {
    TRUTH_OPERATIONS,
    TRUTH_LOADS,
    TRUTH_STORES,
    TRUTH_BRANCHES,
    TRUTH_NOT_TAKEN,
    TRUTH_MISPREDICTED,
    TRUTH_L1_MISSES,
    TRUTH_LLC_MISSES,
    TRUTH_WALKS,
    TRUTH_QUANTITIES
};

extern const char *const truth_names[TRUTH_QUANTITIES]; /* "operations" ... */

/* How many of the quantities are counted: with a model all, without one the first four. */
unsigned truth_quantities(const struct record_options *options);

struct truth_function {
    char *name, *dso;
    uint64_t exact[TRUTH_QUANTITIES];
    uint64_t samples[TRUTH_QUANTITIES];
    uint64_t runs[TRUTH_QUANTITIES], last[TRUTH_QUANTITIES]; /* see truth.c, estimate */
    double estimate[TRUTH_QUANTITIES], low[TRUTH_QUANTITIES], high[TRUTH_QUANTITIES]; /* 95 % */
};

struct truth {
    uint64_t operations, samples;     /* of all */
    uint64_t cycles;                  /* of modelled time; 0: there is none */
    struct truth_function *functions; /* by operations, most first */
    size_t count, room;
};

/* Read the recording again and compare. False with a problem; free it in any case. */
bool truth_find(const struct record_options *options, const struct record_summary *summary,
                const struct record_counts *counts, struct truth *truth, struct problem *problem);
void truth_free(struct truth *truth);

#endif
