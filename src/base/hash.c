/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "base/hash.h"

#include <specimen/error.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define FREE UINT64_MAX

/* Where the system has no random numbers yet, time and place are better than nothing. */
uint64_t hash_seed(void)
{
    struct timespec now;
    uint64_t seed;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
        return seed;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)&seed;
}

uint32_t hash_table_find(const struct hash_table *t, uint64_t hash, size_t *cursor)
{
    while (t->capacity) {
        uint64_t entry = t->at[((uint32_t)hash + (*cursor)++) & (t->capacity - 1)];

        if (entry == FREE)
            break;
        if (entry >> 32 == (uint32_t)hash)
            return (uint32_t)entry;
    }
    return UINT32_MAX;
}

static void put(struct hash_table *t, uint64_t entry)
{
    size_t slot = entry >> 32;

    while (t->at[slot & (t->capacity - 1)] != FREE)
        slot++;
    t->at[slot & (t->capacity - 1)] = entry;
}

static int grow(struct hash_table *t)
{
    struct hash_table bigger = {.capacity = t->capacity ? 2 * t->capacity : 64, .used = t->used};

    bigger.at = malloc(bigger.capacity * sizeof(*bigger.at));
    if (!bigger.at)
        return SPE_ERR_NOMEM;
    memset(bigger.at, 0xff, bigger.capacity * sizeof(*bigger.at));
    for (size_t i = 0; i < t->capacity; i++) {
        if (t->at[i] != FREE)
            put(&bigger, t->at[i]);
    }
    free(t->at);
    *t = bigger;
    return SPE_OK;
}

int hash_table_add(struct hash_table *t, uint64_t hash, uint32_t number)
{
    if (4 * (t->used + 1) > 3 * t->capacity && grow(t) < 0)
        return SPE_ERR_NOMEM;
    put(t, hash << 32 | number);
    t->used++;
    return SPE_OK;
}

void hash_table_free(struct hash_table *t)
{
    free(t->at);
    *t = (struct hash_table){0};
}
