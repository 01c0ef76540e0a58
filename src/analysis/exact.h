/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Data lines or pages, every one of them, in memory that grows with their number up to a limit.
 * Whoever finds it full goes on with the heaviest only: heavy.h.
 *
 * Keys are in the order in which they came, so that a new one is written behind the others. The
 * index alone is in no near cache: rows are looked up some at a time, with their places in the
 * index, and then their keys, asked for before.
 */
#ifndef ANALYSIS_EXACT_H
#define ANALYSIS_EXACT_H

#include "analysis/heavy.h"
#include "base/hash.h"

struct exact_key {
    uint64_t place, weight;
    struct heavy_counts counts;
};

struct exact {
    struct exact_key *keys;
    size_t count, capacity, max;
    uint64_t *index; /* high half of the hash, number of the key + 1; 0: free */
    size_t mask;     /* of the index */
    size_t filtered; /* by its owner, before the first key comes: for so many keys are bits */
    uint64_t *bits;  /* of the keys' hashes, so few that a near cache has them, or NULL */
    unsigned bit_at; /* where a hash says which bit is its */
    uint64_t seed;
    uint64_t total; /* weight */
};

#define EXACT_BYTES 64 /* that a key takes, at most, with its share of the index */

/* Nothing is allocated yet. */
void exact_init(struct exact *e, size_t max);
void exact_free(struct exact *e);

/* Room for n more keys, or as many as there may be. SPE_OK or SPE_ERR_NOMEM. */
int exact_make_room(struct exact *e, size_t n);

static inline uint64_t exact_hash(uint64_t seed, uint64_t place, uint32_t space)
{
    return hash_number(seed, place ^ space * (seed | 1));
}

static inline void exact_prefetch(const struct exact *e, uint64_t hash)
{
    __builtin_prefetch(&e->index[hash & e->mask], 1);
}

/* Whether its bit leaves it possible that the key is there; of a filtered one. */
static inline bool exact_may_have(const struct exact *e, uint64_t hash)
{
    return e->bits[hash >> e->bit_at >> 6] >> (hash >> e->bit_at & 63) & 1;
}

static inline void exact_set_bit(struct exact *e, uint64_t hash)
{
    e->bits[hash >> e->bit_at >> 6] |= UINT64_C(1) << (hash >> e->bit_at & 63);
}

static inline bool exact_has(const struct exact *e, uint64_t hash, uint64_t place, uint32_t space)
{
    size_t slot = hash & e->mask;

    for (; e->index && e->index[slot]; slot = (slot + 1) & e->mask) {
        const struct exact_key *key = &e->keys[(uint32_t)e->index[slot] - 1];

        if (e->index[slot] >> 32 == hash >> 32 && key->place == place && key->counts.space == space)
            return true;
    }
    return false;
}

/* The number of the key, which is new if need be; there is room. SIZE_MAX: there are max others. */
static inline size_t exact_find(struct exact *e, uint64_t hash, uint64_t place, uint32_t space)
{
    size_t slot = hash & e->mask;
    struct exact_key *key;

    for (; e->index[slot]; slot = (slot + 1) & e->mask) {
        size_t number = (uint32_t)e->index[slot] - 1;

        key = &e->keys[number];
        if (e->index[slot] >> 32 == hash >> 32 && key->place == place && key->counts.space == space)
            return number;
    }
    if (e->count == e->max)
        return SIZE_MAX;
    key = &e->keys[e->count];
    *key = (struct exact_key){.place = place, .counts.space = space};
    e->index[slot] = (hash >> 32 << 32) | ++e->count;
    if (e->bits)
        exact_set_bit(e, hash);
    return e->count - 1;
}

/* As if `key` had come behind those that are there. False: it is new, and there are max others. */
bool exact_add(struct exact *e, const struct exact_key *key);

#endif
