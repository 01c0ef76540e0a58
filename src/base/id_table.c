/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "base/id_table.h"

#include <stdlib.h>

static struct id_entry *find(const struct id_table *t, uint32_t key)
{
    uint64_t hash = hash_number(t->seed, key);
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&t->table, hash, &cursor)) != UINT32_MAX) {
        if (t->entries.at[i].key == key)
            return &t->entries.at[i];
    }
    return NULL;
}

int id_table_set(struct id_table *t, uint32_t key, uint32_t value)
{
    struct id_entry *found = find(t, key);

    if (found) {
        found->value = value;
        return SPE_OK;
    }
    if (!t->seed)
        t->seed = hash_seed();
    if (VECTOR_ROOM(&t->entries) < 0 ||
        hash_table_add(&t->table, hash_number(t->seed, key), (uint32_t)t->entries.count) < 0)
        return SPE_ERR_NOMEM;
    t->entries.at[t->entries.count++] = (struct id_entry){key, value};
    return SPE_OK;
}

uint32_t id_table_get(const struct id_table *t, uint32_t key)
{
    const struct id_entry *found = find(t, key);

    return found ? found->value : NONE;
}

uint64_t id_table_memory(const struct id_table *t)
{
    return t->entries.capacity * sizeof(*t->entries.at) + t->table.capacity * sizeof(*t->table.at);
}

void id_table_free(struct id_table *t)
{
    free(t->entries.at);
    hash_table_free(&t->table);
}
