/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The heaviest of more keys than memory should be spent on (data lines and pages), by the method of
 * Misra and Gries with weights, in many small sets: a key's hash tells its set, which has room for
 * HEAVY_WAYS keys.
 *
 * While a set has room, it is exact. When a key comes to a full one, as much is taken off its keys
 * and the newcomer as the least of them weighs, and those that reach zero go. What was taken off
 * adds up to the set's error, so that
 *
 *     weight  <=  true weight  <=  weight + error of its set
 *
 * holds for every key that is there, and a key that is not there weighs at most the error of its
 * set, which is at most what came to the set / (HEAVY_WAYS + 1). The other counts of a key begin
 * when it last came in: they are lower bounds too.
 *
 * No random numbers: the same keys in the same order give the same answers.
 */
#ifndef ANALYSIS_HEAVY_H
#define ANALYSIS_HEAVY_H

#include <specimen/analysis.h>

#define HEAVY_WAYS 8

/* What is counted of a key; all but space and samples by the caller. */
struct heavy_counts {
    uint32_t space; /* address space */
    uint32_t samples;
    uint32_t loads, misses;
    uint32_t thread;      /* the first one */
    uint32_t several : 1; /* other threads came later */
    uint32_t shared : 31; /* samples that another core's cache had a part in */
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

/* What is looked at first; apart from the sets, since these fill cache lines. */
struct heavy_head {
    uint64_t tags; /* a byte of each key's hash, the first way's lowest */
    uint64_t error;
};

struct heavy {
    struct heavy_set *sets;
    struct heavy_head *heads;
    size_t mask; /* sets - 1 */
    uint64_t total;
    struct heavy_counts nowhere; /* of keys for which there was no room */
};

/* An answer. */
struct heavy_key {
    uint64_t weight, place;
    uint32_t space, samples, loads, misses, thread, several, shared;
};

/* slots: a power of two from 16 on. SPE_OK or SPE_ERR_NOMEM. */
int heavy_init(struct heavy *h, size_t slots);
void heavy_free(struct heavy *h);

static inline uint64_t heavy_hash(uint64_t place, uint32_t space)
{
    return (place ^ (uint64_t)space << 40) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline size_t heavy_set_of(const struct heavy *h, uint64_t hash)
{
    return (size_t)(hash >> 32 ^ hash >> 17) & h->mask;
}

/* The key will be added soon: its set is in no near cache, most likely. */
static inline void heavy_prefetch(const struct heavy *h, uint64_t hash)
{
    size_t set = heavy_set_of(h, hash);

    __builtin_prefetch(&h->heads[set], 1);
    for (unsigned line = 0; line < sizeof(struct heavy_set) / 64; line++)
        __builtin_prefetch((const char *)&h->sets[set] + (size_t)line * 64, 1);
}

/* The key's counts after its weight (not 0) was added; the caller adds the others. If there was no
 * room for it, these are counts that nobody reads. Valid until the next call. */
struct heavy_counts *heavy_add_hashed(struct heavy *h, uint64_t hash, uint64_t place,
                                      uint32_t space, uint64_t weight);

static inline struct heavy_counts *heavy_add(struct heavy *h, uint64_t place, uint32_t space,
                                             uint64_t weight)
{
    return heavy_add_hashed(h, heavy_hash(place, space), place, space, weight);
}

/* As if the keys of `from`, of the same number of slots, had come behind those of `to`. */
void heavy_merge(struct heavy *to, const struct heavy *from);

size_t heavy_count(const struct heavy *h);
uint64_t heavy_error(const struct heavy *h); /* the largest of a set */

/* The heaviest first, at most n; equal weights by space and place. Returns their number. */
size_t heavy_top(const struct heavy *h, struct heavy_key *first, size_t n);

#endif
