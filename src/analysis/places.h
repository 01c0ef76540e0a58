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
#include "base/hash.h"

#define PLACE_COUNTS 7

typedef uint32_t place_vector __attribute__((vector_size(16)));

/* One operation: what has another operation type is another one, even at the same pc. */
struct place {
    uint64_t pc, symbol;
    uint64_t latency;
    uint64_t code; /* place_code */
    union {
        struct {
            uint32_t samples;
            uint32_t timed; /* samples with a total latency */
            uint32_t l1_misses, llc_misses, tlb_walks, mispredicted, not_taken;
            uint32_t first_op; /* of branches: their code has no type, so that a pc is one branch */
        };
        uint32_t counts[PLACE_COUNTS]; /* the same */
        place_vector vectors[2];       /* the same; left to itself, the compiler adds one by one */
    };
};

_Static_assert(sizeof(struct place) == CACHE_LINE, "a place fills a cache line");

/* One place behind the other, and an index, which is kept sparse: nearly all places are where they
 * are looked for first. Every row is looked up here, inline: base/hash.h would be a call, and
 * fuller. */
struct places {
    struct place *list;
    size_t used, room;
    uint32_t *index; /* of the place in the list, and 1; 0: none. Or NULL */
    size_t mask;
    uint64_t seed; /* from the first index on */
};

/* Map and operation type (OP_NONE: none) in one number, which is not 0. */
static inline uint64_t place_code(uint32_t map, unsigned op)
{
    return (uint64_t)map << 16 | 1u << 15 | op;
}

static inline uint32_t place_map(const struct place *place)
{
    return (uint32_t)(place->code >> 16);
}

static inline uint16_t place_op(const struct place *place)
{
    return place->code & 0x7fff;
}

/* No pc can be chosen so that it takes back what the code has added. */
static inline uint64_t place_hash(uint64_t seed, uint64_t pc, uint64_t code)
{
    return hash_number(seed, pc + code * (seed | 1));
}

/* Where the index has the place, or has room for it. There must be an index. */
static inline size_t place_find(const struct places *p, uint64_t hash, uint64_t pc, uint64_t code)
{
    size_t i;

    for (i = hash & p->mask; p->index[i]; i = (i + 1) & p->mask) {
        const struct place *place = &p->list[p->index[i] - 1];

        if (!((place->pc ^ pc) | (place->code ^ code)))
            break;
    }
    return i;
}

/* What is counted of a sample: its events and, above them, whether it has a total latency. */
static inline uint32_t place_word(uint64_t events, bool timed)
{
    return (uint32_t)(events & 0xffff) | (uint32_t)timed << 16;
}

/* Each count is of samples that have all bits of its mask in their word. */
static inline void place_count(struct place *place, uint32_t word, uint16_t latency)
{
    const place_vector first = {0, 1u << 16, 1u << SPE_EVENT_L1D_MISS, 1u << SPE_EVENT_LLC_MISS};
    const place_vector second = {1u << SPE_EVENT_TLB_WALK, 1u << SPE_EVENT_MISPREDICTED,
                                 1u << SPE_EVENT_NOT_TAKEN, 1u << 31};
    const place_vector words = {word, word, word, word};

    place->latency += latency;
    place->vectors[0] -= (place_vector)((words & first) == first); /* true is -1 */
    place->vectors[1] -= (place_vector)((words & second) == second);
}

/* Where in its file an instruction is, as a disassembler shows it. Code of the kernel, and of what
 * is in no file, is where it was. The profile may be NULL. */
uint64_t address_in_file(struct spe_profile *profile, uint32_t map, uint64_t pc);

/* Room for one more place and its index. SPE_OK or SPE_ERR_NOMEM. */
int places_make_room(struct places *p);
/* A place without counts, at the end of the list; there must be room for it. */
struct place *places_append(struct places *p, uint64_t pc, uint64_t code);
/* Until the next time that room is made. */
void places_drop_index(struct places *p);
void places_free(struct places *p);

/* Add to the entry of the same operation; grows. */
int places_add(struct places *p, const struct place *place);

/* Keep at most `keep` entries, those with the most mispredictions; returns how many mispredictions
 * an entry that went can have had. */
uint32_t places_keep_mispredicted(struct places *p, size_t keep);

#endif
