/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/heavy.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/top.h"

int heavy_init(struct heavy *h, size_t slots)
{
    memset(h, 0, sizeof(*h));
    h->sets = calloc(slots / HEAVY_WAYS, sizeof(*h->sets));
    h->mask = slots / HEAVY_WAYS - 1;
    return h->sets ? SPE_OK : SPE_ERR_NOMEM;
}

void heavy_free(struct heavy *h)
{
    free(h->sets);
    memset(h, 0, sizeof(*h));
}

static struct heavy_key *take_way(struct heavy_set *set, unsigned way, uint64_t place,
                                  uint32_t space, uint64_t weight)
{
    struct heavy_key *key = &set->keys[way];

    memset(key, 0, sizeof(*key));
    set->weight[way] = weight;
    set->place[way] = key->place = place;
    key->space = space;
    key->samples = 1;
    return key;
}

/* Take the same off all, the newcomer included; who is left with nothing goes. */
static struct heavy_key *push_in(struct heavy_set *set, uint64_t place, uint32_t space,
                                 uint64_t weight)
{
    uint64_t least = weight;
    unsigned way, free_way = HEAVY_WAYS;

    for (way = 0; way < HEAVY_WAYS; way++)
        least = set->weight[way] < least ? set->weight[way] : least;
    for (way = 0; way < HEAVY_WAYS; way++) {
        set->weight[way] -= least;
        free_way = set->weight[way] ? free_way : way;
    }
    set->error += least;
    if (weight == least || free_way == HEAVY_WAYS)
        return NULL;
    return take_way(set, free_way, place, space, weight - least);
}

struct heavy_key *heavy_add(struct heavy *h, uint64_t place, uint32_t space, uint64_t weight)
{
    struct heavy_set *set = heavy_set_of(h, place, space);
    unsigned way, free_way = HEAVY_WAYS;

    h->total += weight;
    for (way = 0; way < HEAVY_WAYS; way++) {
        if (set->place[way] == place && set->weight[way] && set->keys[way].space == space) {
            set->weight[way] += weight;
            set->keys[way].samples++;
            return &set->keys[way];
        }
        free_way = set->weight[way] ? free_way : way;
    }
    if (free_way < HEAVY_WAYS)
        return take_way(set, free_way, place, space, weight);
    return push_in(set, place, space, weight);
}

static void merge_key(struct heavy *to, const struct heavy_key *from, uint64_t weight)
{
    struct heavy_key *key = heavy_add(to, from->place, from->space, weight);

    if (!key)
        return;
    if (key->samples == 1)
        key->thread = from->thread;
    key->several |= from->several | (key->thread != from->thread);
    key->samples += from->samples - 1;
    key->loads += from->loads;
    key->stores += from->stores;
    key->misses += from->misses;
}

void heavy_merge(struct heavy *to, const struct heavy *from)
{
    uint64_t total = to->total + from->total;
    unsigned way;
    size_t i;

    for (i = 0; from->sets && i <= from->mask; i++) {
        for (way = 0; way < HEAVY_WAYS; way++) {
            if (from->sets[i].weight[way])
                merge_key(to, &from->sets[i].keys[way], from->sets[i].weight[way]);
        }
        to->sets[i].error += from->sets[i].error;
    }
    to->total = total; /* what was taken off in `from` counts too */
}

size_t heavy_count(const struct heavy *h)
{
    size_t count = 0, i;
    unsigned way;

    for (i = 0; h->sets && i <= h->mask; i++) {
        for (way = 0; way < HEAVY_WAYS; way++)
            count += h->sets[i].weight[way] != 0;
    }
    return count;
}

uint64_t heavy_error(const struct heavy *h)
{
    uint64_t error = 0;
    size_t i;

    for (i = 0; h->sets && i <= h->mask; i++)
        error = h->sets[i].error > error ? h->sets[i].error : error;
    return error;
}

static int heavy_order(const void *left, const void *right, void *user)
{
    const struct heavy_key *a = left, *b = right;

    (void)user;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->space != b->space)
        return a->space < b->space ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

size_t heavy_top(const struct heavy *h, struct heavy_key *first, size_t n)
{
    struct top top = {.elements = first, .size = sizeof(*first), .n = n, .order = heavy_order};
    unsigned way;
    size_t i;

    for (i = 0; h->sets && i <= h->mask; i++) {
        for (way = 0; way < HEAVY_WAYS; way++) {
            struct heavy_key key = h->sets[i].keys[way];

            key.weight = h->sets[i].weight[way];
            if (key.weight)
                top_offer(&top, &key);
        }
    }
    return top_finish(&top);
}
