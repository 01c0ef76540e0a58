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
    h->cells = calloc(sets, HEAVY_CELLS * sizeof(*h->cells));
    if (!h->sets || !h->heads || !h->cells)
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
    free(h->cells);
    memset(h, 0, sizeof(*h));
}

static uint64_t least_held(const struct heavy_set *set)
{
    uint64_t least = set->held[0];
    unsigned way;

    for (way = 1; way < HEAVY_WAYS; way++)
        least = set->held[way] < least ? set->held[way] : least;
    return least;
}

/* What the set's cells may have, after its error or its lightest key has changed. Weights only grow
 * until the next time: while there is no room now, there is none then. */
static void allow_cells(struct heavy *h, size_t number)
{
    struct heavy_head *head = &h->heads[number];
    uint64_t least = least_held(&h->sets[number]) / HEAVY_WAYS;
    uint64_t most =
        head->error < UINT16_MAX / HEAVY_ABSORB ? head->error * HEAVY_ABSORB : UINT16_MAX;

    head->absorb = least > head->error ? (uint32_t)most : 0;
}

/* Take the same off all, the newcomer included, until somebody has nothing left: the newcomer, who
 * then does not come in, or another, whose way it gets. */
static struct heavy_counts *push_in(struct heavy *h, size_t number, uint64_t tag, uint64_t place,
                                    uint32_t space, uint64_t weight)
{
    struct heavy_head *head = &h->heads[number];
    struct heavy_set *set = &h->sets[number];
    uint64_t least = least_held(set), limit = head->error + weight;
    unsigned way = least % HEAVY_WAYS;

    if (least / HEAVY_WAYS >= limit) {
        head->error = limit;
        allow_cells(h, number);
        return NULL;
    }
    head->error = least / HEAVY_WAYS;
    head->tags = (head->tags & ~(UINT64_C(0xff) << 8 * way)) | tag << 8 * way;
    set->held[way] = limit * HEAVY_WAYS + way;
    set->place[way] = place;
    set->counts[way] = (struct heavy_counts){.space = space, .samples = 1};
    allow_cells(h, number);
    return &set->counts[way];
}

struct heavy_counts *heavy_add_new(struct heavy *h, uint64_t hash, uint64_t place, uint32_t space,
                                   uint64_t weight)
{
    if (heavy_absorb(h, hash, weight))
        return NULL;
    h->total += weight;
    return push_in(h, heavy_set_of(h, hash), hash >> 56, place, space, weight);
}

void heavy_counts_merge(struct heavy_counts *key, const struct heavy_counts *from)
{
    if (key->samples == 1) {
        key->thread = from->thread;
        key->within = from->within;
    }
    key->several |= from->several | (key->thread != from->thread);
    key->samples += from->samples - 1;
    key->loads += from->loads;
    key->misses += from->misses;
    key->shared += from->shared;
    heavy_vote(key, from->within, from->votes);
}

void heavy_add_counts(struct heavy *to, uint64_t place, const struct heavy_counts *from,
                      uint64_t weight)
{
    struct heavy_counts *key = heavy_add(to, place, from->space, weight);

    if (key)
        heavy_counts_merge(key, from);
}

/* More error, with the same weights. */
static void raise_error(struct heavy *h, size_t set, uint64_t error)
{
    unsigned way;

    h->heads[set].error += error;
    for (way = 0; way < HEAVY_WAYS; way++)
        h->sets[set].held[way] += error * HEAVY_WAYS;
}

/* What a cell has no room for is error of the set. */
static void merge_cells(struct heavy *to, const struct heavy *from, size_t set)
{
    size_t first = set * HEAVY_CELLS, i;

    for (i = first; i < first + HEAVY_CELLS; i++) {
        unsigned sum = (unsigned)to->cells[i] + from->cells[i];

        to->cells[i] = sum < UINT16_MAX ? (uint16_t)sum : UINT16_MAX;
        raise_error(to, set, sum - to->cells[i]);
    }
}

void heavy_merge(struct heavy *to, const struct heavy *from)
{
    uint64_t total = to->total + from->total;
    unsigned way;
    size_t i;

    for (i = 0; from->sets && i <= from->mask; i++) {
        for (way = 0; way < HEAVY_WAYS; way++) {
            uint64_t weight = heavy_weight(from, i, way);

            if (weight)
                heavy_add_counts(to, from->sets[i].place[way], &from->sets[i].counts[way], weight);
        }
        raise_error(to, i, from->heads[i].error);
        merge_cells(to, from, i);
        allow_cells(to, i);
    }
    to->total = total; /* what was taken off in `from` counts too */
}

size_t heavy_count(const struct heavy *h)
{
    size_t count = 0, i;
    unsigned way;

    for (i = 0; h->sets && i <= h->mask; i++) {
        for (way = 0; way < HEAVY_WAYS; way++)
            count += heavy_weight(h, i, way) != 0;
    }
    return count;
}

uint64_t heavy_error(const struct heavy *h)
{
    uint64_t most = 0;
    size_t i;

    for (i = 0; h->sets && i < (h->mask + 1) * HEAVY_CELLS; i++) {
        uint64_t error = h->heads[i / HEAVY_CELLS].error + h->cells[i];

        most = error > most ? error : most;
    }
    return most;
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

size_t heavy_slots(const struct heavy *h)
{
    return h->sets ? (h->mask + 1) * HEAVY_WAYS : 0;
}

struct heavy_key heavy_key_at(const struct heavy *h, size_t slot)
{
    size_t i = slot / HEAVY_WAYS;
    unsigned way = (unsigned)(slot % HEAVY_WAYS);
    const struct heavy_set *set = &h->sets[i];
    const struct heavy_counts *c = &set->counts[way];
    uint64_t hash = heavy_hash(set->place[way], c->space);

    return (struct heavy_key){heavy_weight(h, i, way),
                              h->heads[i].error + *heavy_cell_of(h, hash),
                              set->place[way],
                              c->space,
                              c->samples,
                              c->loads,
                              c->misses,
                              c->thread,
                              c->several,
                              c->shared,
                              c->within};
}

size_t heavy_top(const struct heavy *h, struct heavy_key *first, size_t n)
{
    struct top top = {.elements = first, .size = sizeof(*first), .n = n, .order = heavy_order};
    size_t slot;

    for (slot = 0; slot < heavy_slots(h); slot++) {
        struct heavy_key key = heavy_key_at(h, slot);

        if (key.weight)
            top_offer(&top, &key);
    }
    return top_finish(&top);
}
