/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Samples of data that is not in the table of those that came first: most of them are of places
 * that are used once. They are written one behind the other, which is far cheaper than finding a
 * place for each in a table that no cache holds. What a place can weigh at most is known all the
 * same, by the sum of all that share its cell, so that at the end only a few need to be looked at.
 */
#ifndef ANALYSIS_JOURNAL_H
#define ANALYSIS_JOURNAL_H

#include "analysis/exact.h"

struct journal_entry {
    uint64_t place;
    uint32_t space, thread, within;
    uint16_t weight;
    uint8_t load, miss : 1, shared : 1;
};

#define JOURNAL_CELLS 65536

struct journal {
    struct journal_entry *entries;
    size_t count, capacity, max;
    uint32_t *cells; /* weights of the entries, by the high bits of their hash */
};

void journal_free(struct journal *j);

/* Room for n more: SPE_OK or SPE_ERR_NOMEM. */
int journal_make_room(struct journal *j, size_t n);

static inline uint32_t *journal_cell(const struct journal *j, uint64_t hash)
{
    return &j->cells[hash >> 48];
}

/* There is room. */
static inline void journal_add(struct journal *j, uint64_t hash, struct journal_entry entry)
{
    uint32_t *cell = journal_cell(j, hash), sum = *cell + entry.weight;

    *cell = sum < *cell ? UINT32_MAX : sum;
    j->entries[j->count++] = entry;
}

/* As a key of one sample. */
struct exact_key journal_key(const struct journal_entry *entry);

#endif
