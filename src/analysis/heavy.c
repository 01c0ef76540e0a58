/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/heavy.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/lines.h"
#include "analysis/top.h"

int heavy_init(struct heavy *h, size_t slots)
{
    size_t sets = slots / HEAVY_WAYS, i;
    unsigned way;

    memset(h, 0, sizeof(*h));
    h->sets = calloc_lines(sets, sizeof(*h->sets));
    h->heads = calloc(sets, sizeof(*h->heads));
    if (!h->sets || !h->heads)
        return SPE_ERR_NOMEM;
    h->mask = sets - 1;
    for (i = 0; i < sets; i++) {
        for (way = 0; way < HEAVY_WAYS; way++)
            h->sets[i].held[way] = way;
    }
    return SPE_OK;
}

void heavy_free(struct heavy *h)
{
    free(h->sets);
    free(h->heads);
    memset(h, 0, sizeof(*h));
}

/* 0: the way is free. */
static uint64_t weight_of(const struct heavy *h, size_t set, unsigned way)
{
    return h->sets[set].held[way] / HEAVY_WAYS - h->heads[set].error;
}

/* Bytes of `tags` that are `tag`, as their highest bits; and maybe others above one of them. */
static uint64_t ways_with(uint64_t tags, uint64_t tag)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t different = tags ^ tag * ones;

    return (different - ones) & ~different & ones << 7;
}

/* Take the same off all, the newcomer included, until somebody has nothing left: the newcomer, who
 * then does not come in, or another, whose way it gets. */
static struct heavy_counts *push_in(struct heavy *h, size_t number, uint64_t tag, uint64_t place,
                                    uint32_t space, uint64_t weight)
{
    struct heavy_head *head = &h->heads[number];
    struct heavy_set *set = &h->sets[number];
    uint64_t least = set->held[0], limit = head->error + weight;
    unsigned way;

    for (way = 1; way < HEAVY_WAYS; way++)
        least = set->held[way] < least ? set->held[way] : least;
    if (least / HEAVY_WAYS >= limit) {
        head->error = limit;
        return &h->nowhere;
    }
    way = least % HEAVY_WAYS;
    head->error = least / HEAVY_WAYS;
    head->tags = (head->tags & ~(UINT64_C(0xff) << 8 * way)) | tag << 8 * way;
    set->held[way] = limit * HEAVY_WAYS + way;
    set->place[way] = place;
    set->counts[way] = (struct heavy_counts){.space = space, .samples = 1};
    return &set->counts[way];
}

struct heavy_counts *heavy_add_hashed(struct heavy *h, uint64_t hash, uint64_t place,
                                      uint32_t space, uint64_t weight)
{
    size_t number = heavy_set_of(h, hash);
    struct heavy_set *set = &h->sets[number];
    uint64_t tag = hash >> 56, ways;

    h->total += weight;
    for (ways = ways_with(h->heads[number].tags, tag); ways; ways &= ways - 1) {
        unsigned way = (unsigned)__builtin_ctzll(ways) / 8;

        if (set->place[way] == place && set->counts[way].space == space &&
            weight_of(h, number, way)) {
            set->held[way] += weight * HEAVY_WAYS;
            set->counts[way].samples++;
            return &set->counts[way];
        }
    }
    return push_in(h, number, tag, place, space, weight);
}

static void merge_key(struct heavy *to, uint64_t place, const struct heavy_counts *from,
                      uint64_t weight)
{
    struct heavy_counts *key = heavy_add(to, place, from->space, weight);

    if (key->samples == 1)
        key->thread = from->thread;
    key->several |= from->several | (key->thread != from->thread);
    key->samples += from->samples - 1;
    key->loads += from->loads;
    key->misses += from->misses;
    key->shared += from->shared;
}

/* More error, with the same weights. */
static void raise_error(struct heavy *h, size_t set, uint64_t error)
{
    unsigned way;

    h->heads[set].error += error;
    for (way = 0; way < HEAVY_WAYS; way++)
        h->sets[set].held[way] += error * HEAVY_WAYS;
}

void heavy_merge(struct heavy *to, const struct heavy *from)
{
    uint64_t total = to->total + from->total;
    unsigned way;
    size_t i;

    for (i = 0; from->sets && i <= from->mask; i++) {
        for (way = 0; way < HEAVY_WAYS; way++) {
            uint64_t weight = weight_of(from, i, way);

            if (weight)
                merge_key(to, from->sets[i].place[way], &from->sets[i].counts[way], weight);
        }
        raise_error(to, i, from->heads[i].error);
    }
    to->total = total; /* what was taken off in `from` counts too */
}

size_t heavy_count(const struct heavy *h)
{
    size_t count = 0, i;
    unsigned way;

    for (i = 0; h->sets && i <= h->mask; i++) {
        for (way = 0; way < HEAVY_WAYS; way++)
            count += weight_of(h, i, way) != 0;
    }
    return count;
}

uint64_t heavy_error(const struct heavy *h)
{
    uint64_t error = 0;
    size_t i;

    for (i = 0; h->sets && i <= h->mask; i++)
        error = h->heads[i].error > error ? h->heads[i].error : error;
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
            const struct heavy_set *set = &h->sets[i];
            const struct heavy_counts *c = &set->counts[way];
            struct heavy_key key = {weight_of(h, i, way),
                                    set->place[way],
                                    c->space,
                                    c->samples,
                                    c->loads,
                                    c->misses,
                                    c->thread,
                                    c->several,
                                    c->shared};

            if (key.weight)
                top_offer(&top, &key);
        }
    }
    return top_finish(&top);
}
