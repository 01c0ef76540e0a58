/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/journal.h"

#include <stdlib.h>

#include "base/large.h"
#include "base/vector.h"
#include "format/clones.h"

static void free_entries(struct journal *j)
{
    free(j->va);
    free(j->weight);
    free(j->runs);
}

void journal_free(struct journal *j)
{
    free_entries(j);
    free(j->cells);
    *j = (struct journal){.memory = j->memory, .shift = j->shift};
}

void journal_keep_cells(struct journal *j)
{
    free_entries(j);
    *j = (struct journal){
        .memory = j->memory, .shift = j->shift, .cells = j->cells, .cells_only = true};
}

bool journal_is_full(const struct journal *j, size_t n)
{
    return (j->count + n) * JOURNAL_BYTES + (j->run_count + n) * sizeof(*j->runs) > j->memory;
}

static int make_room_for_entries(struct journal *j, size_t n)
{
    size_t most = (size_t)(j->memory / JOURNAL_BYTES), capacity;

    if (j->count + n <= j->capacity)
        return SPE_OK;
    capacity = large_capacity(j->capacity, j->count + n, most);
    if (large_resize(&j->va, j->count * sizeof(*j->va), capacity * sizeof(*j->va)) < 0 ||
        large_resize(&j->weight, j->count * sizeof(*j->weight), capacity * sizeof(*j->weight)) < 0)
        return SPE_ERR_NOMEM;
    j->capacity = capacity;
    return SPE_OK;
}

int journal_make_room(struct journal *j, size_t n)
{
    if (!j->cells)
        j->cells = calloc(JOURNAL_CELLS, sizeof(*j->cells));
    if (!j->cells)
        return SPE_ERR_NOMEM;
    if (j->cells_only)
        return SPE_OK;
    if (make_room_for_entries(j, n) < 0)
        return SPE_ERR_NOMEM;
    return vector_reserve(&j->runs, &j->run_capacity, j->run_count + n, sizeof(*j->runs));
}

static CLONES size_t cells_with(const uint32_t *cells, uint32_t weight)
{
    uint32_t count = 0;
    size_t i;

    for (i = 0; i < JOURNAL_CELLS; i++)
        count += cells[i] >= weight;
    return count;
}

uint32_t journal_heaviest(const struct journal *j, size_t n)
{
    uint32_t low = 1, high = UINT32_MAX;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (cells_with(j->cells, middle) > n)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool journal_reaches(const struct journal *j, uint64_t weight)
{
    uint32_t most = 0;
    size_t i;

    for (i = 0; j->cells && i < JOURNAL_CELLS; i++)
        most = j->cells[i] > most ? j->cells[i] : most;
    return most >= weight;
}

struct exact_key journal_key(const struct journal *j, size_t entry, size_t *run)
{
    uint64_t va = (uint64_t)((int64_t)(j->va[entry] << 8) >> 8);
    const struct journal_run *of;

    while (*run + 1 < j->run_count && j->runs[*run + 1].first <= entry)
        ++*run;
    while (j->runs[*run].first > entry)
        --*run;
    of = &j->runs[*run];
    return (struct exact_key){
        .place = va >> j->shift,
        .weight = j->weight[entry],
        .counts = {.space = va >> 63 ? SPE_NO_TASK : of->pid,
                   .samples = 1,
                   .loads = (j->va[entry] & JOURNAL_LOAD) != 0,
                   .misses = (j->va[entry] & JOURNAL_MISS) != 0,
                   .thread = of->thread,
                   .shared = (j->va[entry] & JOURNAL_SHARED) != 0,
                   .within = (uint32_t)(va & ((UINT64_C(1) << j->shift) - 1)),
                   .votes = j->weight[entry]},
    };
}
