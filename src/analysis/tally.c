/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/tally.h"

#include <stdlib.h>

void tally_free(struct tally *t)
{
    hash_table_free(&t->table);
    free(t->items.at);
    *t = (struct tally){.no_memory = false};
}

static uint32_t find(const struct tally *t, uint64_t hash, uint64_t key)
{
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&t->table, hash, &cursor)) != UINT32_MAX) {
        if (t->items.at[i].key == key)
            return i;
    }
    return UINT32_MAX;
}

static uint32_t append(struct tally *t, uint64_t hash, uint64_t key, size_t row)
{
    uint32_t i = (uint32_t)t->items.count;

    if (VECTOR_ROOM(&t->items) < 0 || hash_table_add(&t->table, hash, i) < 0) {
        t->no_memory = true;
        return UINT32_MAX;
    }
    t->items.at[t->items.count++] = (struct tally_item){.key = key, .first = row};
    return i;
}

uint32_t tally_add(struct tally *t, uint64_t key, double amount, size_t row)
{
    uint64_t hash;
    uint32_t i;

    t->seed = t->seed ? t->seed : hash_seed();
    hash = hash_number(t->seed, key);
    i = find(t, hash, key);
    if (i == UINT32_MAX)
        i = append(t, hash, key, row);
    if (i != UINT32_MAX) {
        t->items.at[i].sum += amount;
        t->items.at[i].count++;
    }
    return i;
}

const struct tally_item *tally_find(const struct tally *t, uint64_t key)
{
    uint32_t i = find(t, hash_number(t->seed, key), key);

    return i == UINT32_MAX ? NULL : &t->items.at[i];
}

const struct tally_item *tally_best(const struct tally *t)
{
    const struct tally_item *best = NULL;
    size_t i;

    for (i = 0; i < t->items.count; i++) {
        if (t->items.at[i].sum > (best ? best->sum : 0.0))
            best = &t->items.at[i];
    }
    return best;
}
