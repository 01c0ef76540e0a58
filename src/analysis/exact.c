/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/exact.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_KEYS 1024
#define SPREAD 2    /* places in the index for each key */
#define KEY_BITS 32 /* of which a key has one: 3 of 100 other keys seem to be there, too */

void exact_init(struct exact *e, size_t max)
{
    memset(e, 0, sizeof(*e));
    e->max = max < UINT32_MAX / 4 ? max : UINT32_MAX / 4; /* a number has 32 bits */
    e->seed = hash_seed();
}

void exact_free(struct exact *e)
{
    free(e->keys);
    free(e->index);
    free(e->bits);
    e->keys = NULL;
    e->index = NULL;
    e->bits = NULL;
    e->count = e->capacity = e->mask = 0;
}

static int grow_index(struct exact *e, size_t slots)
{
    uint64_t *index = calloc(slots, sizeof(*index));
    size_t i, slot;

    if (!index)
        return SPE_ERR_NOMEM;
    for (i = 0; i < e->count; i++) {
        uint64_t hash = exact_hash(e->seed, e->keys[i].place, e->keys[i].counts.space);

        for (slot = hash & (slots - 1); index[slot]; slot = (slot + 1) & (slots - 1))
            ;
        index[slot] = (hash >> 32 << 32) | (i + 1);
    }
    free(e->index);
    e->index = index;
    e->mask = slots - 1;
    return SPE_OK;
}

static int make_bits(struct exact *e)
{
    unsigned log = 6;

    while (log < 40 && (UINT64_C(1) << log) < e->filtered * KEY_BITS)
        log++;
    e->bit_at = 64 - log;
    e->bits = calloc((size_t)1 << (log - 6), sizeof(*e->bits));
    return e->bits ? SPE_OK : SPE_ERR_NOMEM;
}

int exact_make_room(struct exact *e, size_t n)
{
    size_t wanted = e->count + n < e->max ? e->count + n : e->max, capacity = FIRST_KEYS;
    struct exact_key *keys;

    if (wanted <= e->capacity)
        return SPE_OK;
    while (capacity < wanted)
        capacity *= 2;
    keys = realloc(e->keys, capacity * sizeof(*keys));
    if (!keys)
        return SPE_ERR_NOMEM;
    e->keys = keys;
    if ((e->filtered && !e->bits && make_bits(e) < 0) || grow_index(e, SPREAD * capacity) < 0)
        return SPE_ERR_NOMEM;
    e->capacity = capacity;
    return SPE_OK;
}

bool exact_add(struct exact *e, const struct exact_key *key)
{
    uint64_t hash = exact_hash(e->seed, key->place, key->counts.space);
    size_t number = exact_find(e, hash, key->place, key->counts.space);
    struct exact_key *to;

    if (number == SIZE_MAX)
        return false;
    to = &e->keys[number];
    to->weight += key->weight;
    e->total += key->weight;
    to->counts.samples++;
    heavy_counts_merge(&to->counts, &key->counts);
    return true;
}
