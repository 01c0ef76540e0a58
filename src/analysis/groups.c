/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/groups.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/top.h"

static uint64_t hash_of(const struct groups *g, const struct spe_group *key)
{
    uint64_t hash = hash_number(g->seed, key->symbol);

    hash = hash_number(hash, (uint64_t)key->line << 32 | key->id);
    hash = hash_number(hash, key->address);
    return hash_number(hash, key->dso);
}

/* Its number, or UINT32_MAX. */
static uint32_t find(const struct groups *g, uint64_t hash, const struct spe_group *key)
{
    size_t cursor = 0;
    uint32_t number;

    do
        number = hash_table_find(&g->table, hash, &cursor);
    while (number != UINT32_MAX && !same_group(&g->all.at[number], key));
    return number;
}

/* Its number, or UINT32_MAX without memory. */
static uint32_t find_or_add(struct groups *g, const struct spe_group *key)
{
    uint64_t hash;
    uint32_t number;

    if (!g->table.capacity)
        g->seed = hash_seed();
    hash = hash_of(g, key);
    number = find(g, hash, key);
    if (number != UINT32_MAX)
        return number;
    number = (uint32_t)g->all.count;
    if (number == UINT32_MAX || VECTOR_ROOM(&g->all) < 0 ||
        hash_table_add(&g->table, hash, number) < 0)
        return UINT32_MAX;
    g->all.at[number] = *key;
    g->all.at[number].counts = (struct spe_counts){.samples = 0};
    g->all.count++;
    return number;
}

void group_counts_add(struct spe_counts *to, const struct spe_counts *from)
{
#define COUNT(name) to->name += from->name;
#include "analysis/counts.def"
}

/* Most keys came lately: rows are of a few threads. */
struct spe_counts *groups_counts(struct groups *g, const struct spe_group *key)
{
    uint32_t *recent = &g->recent[(key->id ^ key->line ^ key->symbol) % GROUPS_RECENT];
    uint32_t number = *recent;

    if (number >= g->all.count || !same_group(&g->all.at[number], key)) {
        number = find_or_add(g, key);
        if (number == UINT32_MAX)
            return NULL;
        *recent = number;
    }
    return &g->all.at[number].counts;
}

int groups_add(struct groups *g, const struct spe_group *group)
{
    struct spe_counts *counts = groups_counts(g, group);

    if (!counts)
        return SPE_ERR_NOMEM;
    group_counts_add(counts, &group->counts);
    return SPE_OK;
}

int groups_merge(struct groups *to, const struct groups *from)
{
    for (size_t i = 0; i < from->all.count; i++) {
        if (groups_add(to, &from->all.at[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

void groups_free(struct groups *g)
{
    free(g->all.at);
    hash_table_free(&g->table);
    memset(g, 0, sizeof(*g));
}

static uint64_t sort_count(const struct spe_counts *c, enum spe_sort sort)
{
    switch (sort) {
    case SPE_SORT_LATENCY:
        return c->latency;
    case SPE_SORT_L1:
        return c->l1_misses;
    case SPE_SORT_LLC:
        return c->llc_misses;
    case SPE_SORT_TLB:
        return c->tlb_walks;
    case SPE_SORT_MISPREDICTED:
        return c->mispredicted;
    default:
        return c->samples;
    }
}

static int group_order(const void *left, const void *right, void *user)
{
    const struct spe_group *a = left, *b = right;
    enum spe_sort sort = *(enum spe_sort *)user;
    int order = compare_numbers(sort_count(&b->counts, sort), sort_count(&a->counts, sort));

    order = order ? order : compare_numbers(b->counts.samples, a->counts.samples);
    order = order ? order : compare_numbers(a->symbol, b->symbol);
    order = order ? order : compare_numbers(a->dso, b->dso);
    order = order ? order : compare_numbers(a->line, b->line);
    order = order ? order : compare_numbers(a->address, b->address);
    return order ? order : compare_numbers(a->id, b->id);
}

size_t groups_top(const struct groups *g, enum spe_sort sort, struct spe_group *first, size_t n)
{
    struct top top = {.elements = first, .size = sizeof(*first), .n = n};

    top.order = group_order;
    top.user = &sort;
    for (size_t i = 0; i < g->all.count; i++)
        top_offer(&top, &g->all.at[i]);
    return top_finish(&top);
}
