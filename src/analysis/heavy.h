/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The heaviest of more keys than memory should be spent on (see exact.h for fewer), by the method
 * of Misra and Gries with weights, in many small sets: a key's hash tells its set, which has room
 * for HEAVY_WAYS keys.
 *
 * While a set has room, it is exact. When a key comes to a full one, as much is taken off its keys
 * and the newcomer as the least of them weighs, and those that reach zero go. What was taken off
 * adds up to the set's error.
 *
 * Most keys are light and come once. They are kept away from the sets: a newcomer's weight goes
 * into a cell, which its hash tells too, as long as that has at most HEAVY_ABSORB times the set's
 * error. A cell takes two bytes and one look, a key twenty times that, so that the same memory does
 * much better with cells.
 *
 *     weight  <=  true weight  <=  weight + error of its set + its cell
 *
 * holds for every key that is there, and a key that is not there weighs at most the rest of this.
 * The other counts of a key begin when it last came in: they are lower bounds too.
 *
 * No random numbers, not even a seed of the hash: the same keys in the same order give the same
 * answers. Keys that were made to meet in one set cost nobody time: a set has its size. They make
 * the error larger, which is said.
 */
#ifndef ANALYSIS_HEAVY_H
#define ANALYSIS_HEAVY_H

#include <specimen/analysis.h>

#define HEAVY_WAYS 8
#define HEAVY_CELLS 32 /* of a set */
#define HEAVY_ABSORB 4

/* What is counted of a key; all but space and samples by the caller. */
struct heavy_counts {
    uint32_t space; /* address space */
    uint32_t samples;
    uint32_t loads, misses;
    uint32_t thread;      /* the first one */
    uint32_t several : 1; /* other threads came later */
    uint32_t shared : 31; /* samples that another core's cache had a part in */
    uint32_t within;      /* where in the place most of its weight is, see heavy_vote */
    uint32_t votes;       /* for that */
};

/*
 * Taking the same off all keys of a set is done by adding it to the set's error: what a way holds
 * is the weight of its key and the error, so that a way with nothing left holds the error, as free
 * ways do. It is held in units of HEAVY_WAYS, and the number of the way below: the least of them
 * tells the way, too.
 */
struct heavy_set {
    _Alignas(64) uint64_t held[HEAVY_WAYS];
    uint64_t place[HEAVY_WAYS]; /* line or page number */
    struct heavy_counts counts[HEAVY_WAYS];
};

/* What is looked at first; apart from the sets, so that near caches have it. */
struct heavy_head {
    uint64_t tags; /* a byte of each key's hash, the first way's lowest */
    uint64_t error;
    uint32_t absorb; /* what a cell may have: 0 while there may be room for a key */
};

struct heavy {
    struct heavy_set *sets;
    struct heavy_head *heads;
    uint16_t *cells; /* HEAVY_CELLS of each set */
    size_t mask;     /* sets - 1 */
    uint64_t total;
};

/* An answer. */
struct heavy_key {
    uint64_t weight, error, place; /* it may weigh up to `error` more */
    uint32_t space, samples, loads, misses, thread, several, shared, within;
};

/* slots: a power of two from 16 on. SPE_OK or SPE_ERR_NOMEM. */
int heavy_init(struct heavy *h, size_t slots);
void heavy_free(struct heavy *h);

static inline uint64_t heavy_hash(uint64_t place, uint32_t space)
{
    return (place ^ (uint64_t)space << 40) * UINT64_C(0x9e3779b97f4a7c15);
}

/* 0: the way is free. */
static inline uint64_t heavy_weight(const struct heavy *h, size_t set, unsigned way)
{
    return h->sets[set].held[way] / HEAVY_WAYS - h->heads[set].error;
}

static inline size_t heavy_set_of(const struct heavy *h, uint64_t hash)
{
    return (size_t)(hash >> 32 ^ hash >> 17) & h->mask;
}

static inline uint16_t *heavy_cell_of(const struct heavy *h, uint64_t hash)
{
    return &h->cells[heavy_set_of(h, hash) * HEAVY_CELLS + (hash >> 50) % HEAVY_CELLS];
}

/* The key will be added soon: its cell is in no near cache, most likely. */
static inline void heavy_prefetch(const struct heavy *h, uint64_t hash)
{
    __builtin_prefetch(heavy_cell_of(h, hash), 1);
}

/* Bytes of `tags` that are `tag`, as their highest bits; and maybe others above one of them. */
static inline uint64_t heavy_ways_with(uint64_t tags, uint64_t tag)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t different = tags ^ tag * ones;

    return (different - ones) & ~different & ones << 7;
}

/* Whether its set may have the key; nearly always right. */
static inline bool heavy_may_have(const struct heavy *h, uint64_t hash)
{
    return heavy_ways_with(h->heads[heavy_set_of(h, hash)].tags, hash >> 56) != 0;
}

/* Whether the cell took the weight of a key that its set, which is full, did not have lately. */
static inline bool heavy_absorb(struct heavy *h, uint64_t hash, uint64_t weight)
{
    const struct heavy_head *head = &h->heads[heavy_set_of(h, hash)];
    uint16_t *cell = heavy_cell_of(h, hash);
    uint64_t sum = *cell + weight;

    if (sum > head->absorb)
        return false;
    *cell = (uint16_t)sum;
    h->total += weight;
    return true;
}

/* A key that its set does not have. */
struct heavy_counts *heavy_add_new(struct heavy *h, uint64_t hash, uint64_t place, uint32_t space,
                                   uint64_t weight);

/* The key's counts after its weight (not 0) was added; the caller adds the others. NULL if there
 * was no room for it. Valid until the next call. */
static inline struct heavy_counts *heavy_add_hashed(struct heavy *h, uint64_t hash, uint64_t place,
                                                    uint32_t space, uint64_t weight)
{
    size_t number = heavy_set_of(h, hash);
    struct heavy_set *set = &h->sets[number];
    uint64_t ways = heavy_ways_with(h->heads[number].tags, hash >> 56);

    for (; ways; ways &= ways - 1) {
        unsigned way = (unsigned)__builtin_ctzll(ways) / 8;

        if (set->place[way] == place && set->counts[way].space == space &&
            heavy_weight(h, number, way)) {
            h->total += weight;
            set->held[way] += weight * HEAVY_WAYS;
            set->counts[way].samples++;
            return &set->counts[way];
        }
    }
    return heavy_add_new(h, hash, place, space, weight);
}

static inline struct heavy_counts *heavy_add(struct heavy *h, uint64_t place, uint32_t space,
                                             uint64_t weight)
{
    return heavy_add_hashed(h, heavy_hash(place, space), place, space, weight);
}

/*
 * Which byte of its line or page a key is about, by the vote of Boyer and Moore: a byte that has
 * more than half of the weight wins, and else one of those that came. It takes one look, and no
 * memory for all the bytes that there are.
 */
static inline void heavy_vote(struct heavy_counts *key, uint32_t within, uint64_t weight)
{
    uint64_t votes = key->within == within  ? key->votes + weight
                     : key->votes >= weight ? key->votes - weight
                                            : weight - key->votes;

    key->within = key->within != within && key->votes < weight ? within : key->within;
    key->votes = votes < UINT32_MAX ? (uint32_t)votes : UINT32_MAX;
}

/* A key's counts, of which one sample has been counted, and those of the same key elsewhere, with
 * that sample. */
void heavy_counts_merge(struct heavy_counts *key, const struct heavy_counts *from);

/* A key with all its counts. */
void heavy_add_counts(struct heavy *to, uint64_t place, const struct heavy_counts *from,
                      uint64_t weight);

/* As if the keys of `from`, of the same number of slots, had come behind those of `to`. */
void heavy_merge(struct heavy *to, const struct heavy *from);

size_t heavy_count(const struct heavy *h);
uint64_t heavy_error(const struct heavy *h); /* the largest that a key can have */

/* The key in a slot, of those from 0 to heavy_slots - 1; of weight 0 if it is free. */
size_t heavy_slots(const struct heavy *h);
struct heavy_key heavy_key_at(const struct heavy *h, size_t slot);

/* The heaviest first, at most n; equal weights by space and place. Returns their number. */
size_t heavy_top(const struct heavy *h, struct heavy_key *first, size_t n);

#endif
