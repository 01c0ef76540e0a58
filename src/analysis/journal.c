/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/journal.h"

#include <stdlib.h>

#define FIRST_ENTRIES 1024

void journal_free(struct journal *j)
{
    free(j->entries);
    free(j->cells);
    *j = (struct journal){.max = j->max};
}

int journal_make_room(struct journal *j, size_t n)
{
    size_t capacity = j->capacity ? j->capacity : FIRST_ENTRIES;
    struct journal_entry *entries;

    if (!j->cells)
        j->cells = calloc(JOURNAL_CELLS, sizeof(*j->cells));
    if (!j->cells)
        return SPE_ERR_NOMEM;
    if (j->count + n <= j->capacity)
        return SPE_OK;
    while (capacity < j->count + n)
        capacity *= 2;
    entries = realloc(j->entries, capacity * sizeof(*entries));
    if (!entries)
        return SPE_ERR_NOMEM;
    j->entries = entries;
    j->capacity = capacity;
    return SPE_OK;
}

struct exact_key journal_key(const struct journal_entry *entry)
{
    return (struct exact_key){.place = entry->place,
                              .weight = entry->weight,
                              .counts = {.space = entry->space,
                                         .samples = 1,
                                         .loads = entry->load,
                                         .misses = entry->miss,
                                         .thread = entry->thread,
                                         .shared = entry->shared,
                                         .within = entry->within,
                                         .votes = entry->weight}};
}
