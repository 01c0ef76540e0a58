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

struct heavy_key {
    uint64_t weight; /* filled in by heavy_top */
    uint64_t place;  /* line or page number */
    uint32_t space;  /* address space */
    uint32_t samples;
    /* What the caller counts: */
    uint32_t loads, stores, misses;
    uint32_t thread;  /* the first one */
    uint32_t several; /* 1: other threads came later */
};

/* Weights and places apart from the rest: they are all that has to be looked at to find a key. */
struct heavy_set {
    uint64_t weight[HEAVY_WAYS]; /* 0: free */
    uint64_t place[HEAVY_WAYS];
    uint64_t error;
    struct heavy_key keys[HEAVY_WAYS];
};

struct heavy {
    struct heavy_set *sets;
    size_t mask; /* sets - 1 */
    uint64_t total;
};

/* slots: a power of two from 16 on. SPE_OK or SPE_ERR_NOMEM. */
int heavy_init(struct heavy *h, size_t slots);
void heavy_free(struct heavy *h);

static inline struct heavy_set *heavy_set_of(const struct heavy *h, uint64_t place, uint32_t space)
{
    uint64_t x = (place ^ (uint64_t)space << 40) * UINT64_C(0x9e3779b97f4a7c15);

    return &h->sets[(size_t)(x >> 32 ^ x >> 17) & h->mask];
}

/* The key will be added soon: its set is in no near cache, most likely. */
static inline void heavy_prefetch(const struct heavy *h, uint64_t place, uint32_t space)
{
    const struct heavy_set *set = heavy_set_of(h, place, space);

    __builtin_prefetch(set->weight, 1);
    __builtin_prefetch(set->place, 1);
}

/* The key's counts after its weight (not 0) was added; the caller adds the others. NULL if there
 * was no room for it. Valid until the next call. */
struct heavy_key *heavy_add(struct heavy *h, uint64_t place, uint32_t space, uint64_t weight);

/* As if the keys of `from`, of the same number of slots, had come behind those of `to`. */
void heavy_merge(struct heavy *to, const struct heavy *from);

size_t heavy_count(const struct heavy *h);
uint64_t heavy_error(const struct heavy *h); /* the largest of a set */

/* The heaviest first, at most n; equal weights by space and place. Returns their number. */
size_t heavy_top(const struct heavy *h, struct heavy_key *first, size_t n);

#endif
