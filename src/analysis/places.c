/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/places.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 4096

static struct place *find_like(const struct places *p, const struct place *place)
{
    return place_find(p, place->pc, place->code);
}

int places_grow(struct places *p)
{
    struct places larger = {.mask = p->slots ? 2 * p->mask + 1 : FIRST_SLOTS - 1};
    size_t i;

    larger.slots = calloc_lines(larger.mask + 1, sizeof(*larger.slots));
    if (!larger.slots)
        return SPE_ERR_NOMEM;
    for (i = 0; p->slots && i <= p->mask; i++) {
        if (p->slots[i].samples)
            *find_like(&larger, &p->slots[i]) = p->slots[i];
    }
    larger.used = p->used;
    free(p->slots);
    *p = larger;
    return SPE_OK;
}

void places_empty(struct places *p)
{
    if (p->slots)
        memset(p->slots, 0, (p->mask + 1) * sizeof(*p->slots));
    p->used = 0;
}

void places_free(struct places *p)
{
    free(p->slots);
    memset(p, 0, sizeof(*p));
}

static void sum_up(struct place *to, const struct place *from)
{
    unsigned i;

    to->latency += from->latency;
    for (i = 0; i < PLACE_COUNTS; i++)
        to->counts[i] += from->counts[i];
}

int places_add(struct places *p, const struct place *place)
{
    struct place *slot;

    if (places_full(p) && places_grow(p) < 0)
        return SPE_ERR_NOMEM;
    slot = find_like(p, place);
    if (slot->samples) {
        sum_up(slot, place);
    } else {
        *slot = *place;
        p->used++;
    }
    return SPE_OK;
}

static size_t count_above(const struct places *p, uint32_t mispredicted)
{
    size_t n = 0, i;

    for (i = 0; i <= p->mask; i++)
        n += p->slots[i].samples && p->slots[i].mispredicted > mispredicted;
    return n;
}

/* The bound doubles until it is high enough: which entries go matters little, only that they are
 * the same ones every time. */
uint32_t places_keep_mispredicted(struct places *p, size_t keep)
{
    struct places rest = {.mask = p->mask};
    uint32_t bound = 0;
    size_t i;

    while (count_above(p, bound) > keep)
        bound = bound ? 2 * bound : 1;
    rest.slots = calloc_lines(rest.mask + 1, sizeof(*rest.slots));
    if (!rest.slots)
        return 0; /* keeping more than needed is no mistake */
    for (i = 0; i <= p->mask; i++) {
        struct place *place = &p->slots[i];

        if (place->samples && place->mispredicted > bound) {
            *find_like(&rest, place) = *place;
            rest.used++;
        }
    }
    places_free(p);
    *p = rest;
    return bound;
}
