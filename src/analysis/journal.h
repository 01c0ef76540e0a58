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

#define JOURNAL_CELLS 65536

/* Above the address, which is extended from bit 55. */
#define JOURNAL_LOAD (UINT64_C(1) << 56)
#define JOURNAL_MISS (UINT64_C(1) << 57)
#define JOURNAL_SHARED (UINT64_C(1) << 58)

/* Whose the entries from `first` on are. */
struct journal_run {
    size_t first;
    uint32_t pid, thread;
};

struct journal {
    uint64_t *va; /* and flags */
    uint16_t *weight;
    size_t count, capacity;
    struct journal_run *runs;
    size_t run_count, run_capacity;
    uint64_t memory; /* bytes that it may take, without the cells */
    uint32_t *cells; /* weights of the entries, by the high bits of their hash */
    unsigned shift;  /* from addresses to places */
    bool cells_only; /* entries are not kept any more */
};

#define JOURNAL_BYTES (sizeof(uint64_t) + sizeof(uint16_t)) /* of an entry */

void journal_free(struct journal *j);

/* From now on only what places can weigh is kept. */
void journal_keep_cells(struct journal *j);

/* Whether n more entries may be too many. */
bool journal_is_full(const struct journal *j, size_t n);

/* Room for n more: SPE_OK or SPE_ERR_NOMEM. */
int journal_make_room(struct journal *j, size_t n);

static inline uint32_t *journal_cell(const struct journal *j, uint64_t hash)
{
    return &j->cells[hash >> 48];
}

/* Entries that follow are of this thread. There is room. */
static inline void journal_run(struct journal *j, uint32_t pid, uint32_t thread)
{
    const struct journal_run *last = &j->runs[j->run_count ? j->run_count - 1 : 0];

    if (!j->run_count || last->pid != pid || last->thread != thread)
        j->runs[j->run_count++] = (struct journal_run){j->count, pid, thread};
}

static inline void journal_weigh(struct journal *j, uint64_t hash, uint16_t weight)
{
    uint32_t *cell = journal_cell(j, hash), sum = *cell + weight;

    *cell = sum < *cell ? UINT32_MAX : sum;
}

/* There is room. */
static inline void journal_add(struct journal *j, uint64_t hash, uint64_t va, uint16_t weight)
{
    journal_weigh(j, hash, weight);
    j->va[j->count] = va;
    j->weight[j->count++] = weight;
}

/* The least weight that at most n cells have. */
uint32_t journal_heaviest(const struct journal *j, size_t n);

/* Whether a place can have this weight. */
bool journal_reaches(const struct journal *j, uint64_t weight);

/* An entry as a key of one sample. *run is where to look for its run first: 0, or what the entry
 * before or behind it left there. */
struct exact_key journal_key(const struct journal *j, size_t entry, size_t *run);

#endif
