/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Sums by a number: of functions, instructions, threads, lines of data. */
#ifndef ANALYSIS_TALLY_H
#define ANALYSIS_TALLY_H

#include <specimen/error.h>
#include <stdbool.h>

#include "base/hash.h"
#include "base/vector.h"

struct tally_item {
    uint64_t key;
    double sum;
    uint64_t count;
    size_t first; /* who was added first: a row */
};

struct tally {
    struct hash_table table;
    VECTOR(struct tally_item) items; /* in the order of their first */
    uint64_t seed;                   /* 0: not yet */
    bool no_memory;
};

void tally_free(struct tally *t);

/* The number of its item, which is new if there was none; UINT32_MAX if memory ran out. */
uint32_t tally_add(struct tally *t, uint64_t key, double amount, size_t row);

/* The item of a key; NULL: nobody added it. */
const struct tally_item *tally_find(const struct tally *t, uint64_t key);

/* The item with the greatest sum, of equal ones the first; NULL if none has more than nothing. */
const struct tally_item *tally_best(const struct tally *t);

#endif
