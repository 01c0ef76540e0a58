/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/groups.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/top.h"
#include "base/hash.h"

#define FIRST_SLOTS 256

static size_t home_of(const struct groups *g, const struct spe_group *key)
{
    uint64_t hash = hash_number(g->seed, key->symbol);

    hash = hash_number(hash, (uint64_t)key->line << 32 | key->id);
    hash = hash_number(hash, key->address);
    return (size_t)hash_number(hash, key->dso) & g->mask;
}

static bool same_key(const struct spe_group *a, const struct spe_group *b)
{
    return a->symbol == b->symbol && a->dso == b->dso && a->line == b->line && a->id == b->id &&
           a->address == b->address;
}

static struct spe_group *find_slot(const struct groups *g, const struct spe_group *key)
{
    size_t i = home_of(g, key);

    while (g->slots[i].counts.samples && !same_key(&g->slots[i], key))
        i = (i + 1) & g->mask;
    return &g->slots[i];
}

/* Most keys came lately: rows are of a few threads. */
static struct spe_group *find_recent(struct groups *g, const struct spe_group *key)
{
    uint32_t *recent = &g->recent[(key->id ^ key->line ^ key->symbol) % GROUPS_RECENT];
    struct spe_group *slot = &g->slots[*recent];

    if (slot->counts.samples && same_key(slot, key))
        return slot;
    slot = find_slot(g, key);
    *recent = (uint32_t)(slot - g->slots);
    return slot;
}

static int grow(struct groups *g)
{
    struct groups larger = {.mask = g->slots ? 2 * g->mask + 1 : FIRST_SLOTS - 1};
    size_t i;

    larger.seed = g->slots ? g->seed : hash_seed();
    larger.slots = calloc(larger.mask + 1, sizeof(*larger.slots));
    if (!larger.slots)
        return SPE_ERR_NOMEM;
    for (i = 0; g->slots && i <= g->mask; i++) {
        if (g->slots[i].counts.samples)
            *find_slot(&larger, &g->slots[i]) = g->slots[i];
    }
    larger.used = g->used;
    free(g->slots);
    *g = larger;
    return SPE_OK;
}

void group_counts_add(struct spe_counts *to, const struct spe_counts *from)
{
#define COUNT(name) to->name += from->name;
#include "analysis/counts.def"
}

struct spe_counts *groups_counts(struct groups *g, const struct spe_group *key)
{
    struct spe_group *slot;

    if ((!g->slots || g->used >= (g->mask + 1) / 4 * 3) && grow(g) < 0)
        return NULL;
    slot = find_recent(g, key);
    if (!slot->counts.samples) {
        *slot = *key;
        slot->counts = (struct spe_counts){.samples = 0};
        g->used++;
    }
    return &slot->counts;
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
    size_t i;

    for (i = 0; from->slots && i <= from->mask; i++) {
        if (from->slots[i].counts.samples && groups_add(to, &from->slots[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

void groups_free(struct groups *g)
{
    free(g->slots);
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

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
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
    size_t i;

    top.order = group_order;
    top.user = &sort;
    for (i = 0; g->slots && i <= g->mask; i++) {
        if (g->slots[i].counts.samples)
            top_offer(&top, &g->slots[i]);
    }
    return top_finish(&top);
}
