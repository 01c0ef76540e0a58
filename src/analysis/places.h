/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Counts by instruction. Everything that is a question about code (functions, lines, DSOs,
 * branches) is first counted here, with one look-up a sample, and summed up when the table is full
 * or the rows are at their end. An entry fills one cache line.
 */
#ifndef ANALYSIS_PLACES_H
#define ANALYSIS_PLACES_H

#include <specimen/analysis.h>

#include "analysis/lines.h"

#define PLACE_COUNTS 8

typedef uint32_t place_vector __attribute__((vector_size(16)));

struct place {
    uint64_t pc, symbol;
    uint64_t latency;
    uint32_t map;
    uint16_t op; /* of the first sample */
    uint16_t unused;
    union {
        struct {
            uint32_t samples; /* 0: the slot is free */
            uint32_t memory, branches, l1_misses, llc_misses, tlb_walks, mispredicted, not_taken;
        };
        uint32_t counts[PLACE_COUNTS]; /* the same */
        place_vector vectors[2];       /* the same; left to itself, the compiler adds one by one */
    };
};

_Static_assert(sizeof(struct place) == CACHE_LINE, "a place fills a cache line");

struct places {
    struct place *slots; /* NULL until the first */
    size_t mask, used;
};

static inline size_t place_home(const struct places *p, uint64_t pc, uint32_t map)
{
    uint64_t x = (pc >> 2 ^ (uint64_t)map << 44) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(x >> 40 ^ x >> 20) & p->mask;
}

/* The entry, or the free slot where it belongs. There must be slots. */
static inline struct place *place_find(const struct places *p, uint64_t pc, uint32_t map)
{
    size_t i = place_home(p, pc, map);

    while (p->slots[i].samples && (p->slots[i].pc != pc || p->slots[i].map != map))
        i = (i + 1) & p->mask;
    return &p->slots[i];
}

static inline bool places_full(const struct places *p)
{
    return !p->slots || p->used >= (p->mask + 1) / 4 * 3;
}

/* Twice as many slots. SPE_OK or SPE_ERR_NOMEM. */
int places_grow(struct places *p);
void places_empty(struct places *p);
void places_free(struct places *p);

/* Add to the entry of the same pc and map; grows. */
int places_add(struct places *p, const struct place *place);

/* Keep at most `keep` entries, those with the most mispredictions; returns how many mispredictions
 * an entry that went can have had. */
uint32_t places_keep_mispredicted(struct places *p, size_t keep);

#endif
