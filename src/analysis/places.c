/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/places.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096 /* places; memory that nobody has touched costs nothing */
#define FIRST_INDEX 4096
#define SPARSE 4 /* entries of the index for each place, at least */

static size_t index_of(const struct places *p, const struct place *place)
{
    return place_find(p, place_hash(p->seed, place->pc, place->code), place->pc, place->code);
}

static int grow_list(struct places *p)
{
    size_t room = p->room ? 2 * p->room : FIRST_ROOM;
    struct place *list = aligned_alloc(CACHE_LINE, room * sizeof(*list));

    if (!list)
        return SPE_ERR_NOMEM;
    if (p->used)
        memcpy(list, p->list, p->used * sizeof(*list));
    free(p->list);
    p->list = list;
    p->room = room;
    return SPE_OK;
}

static int make_index(struct places *p)
{
    size_t entries = FIRST_INDEX, i;

    while (entries / SPARSE <= p->used)
        entries *= 2;
    places_drop_index(p);
    p->index = calloc(entries, sizeof(*p->index));
    if (!p->index)
        return SPE_ERR_NOMEM;
    p->mask = entries - 1;
    p->seed = p->seed ? p->seed : hash_seed();
    for (i = 0; i < p->used; i++)
        p->index[index_of(p, &p->list[i])] = (uint32_t)i + 1;
    return SPE_OK;
}

int places_make_room(struct places *p)
{
    if (p->used == p->room && grow_list(p) < 0)
        return SPE_ERR_NOMEM;
    return p->index && p->used < p->mask / SPARSE ? SPE_OK : make_index(p);
}

void places_drop_index(struct places *p)
{
    free(p->index);
    p->index = NULL;
}

struct place *places_append(struct places *p, uint64_t pc, uint64_t code)
{
    struct place *place = &p->list[p->used];

    p->index[place_find(p, place_hash(p->seed, pc, code), pc, code)] = (uint32_t)++p->used;
    *place = (struct place){.pc = pc, .code = code};
    return place;
}

void places_free(struct places *p)
{
    free(p->list);
    free(p->index);
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
    size_t i;

    if (places_make_room(p) < 0)
        return SPE_ERR_NOMEM;
    i = index_of(p, place);
    if (p->index[i])
        sum_up(&p->list[p->index[i] - 1], place);
    else
        *places_append(p, place->pc, place->code) = *place;
    return SPE_OK;
}

static size_t count_above(const struct places *p, uint32_t mispredicted)
{
    size_t n = 0, i;

    for (i = 0; i < p->used; i++)
        n += p->list[i].mispredicted > mispredicted;
    return n;
}

/* The bound doubles until it is high enough: which entries go matters little, only that they are
 * the same ones every time. */
uint32_t places_keep_mispredicted(struct places *p, size_t keep)
{
    uint32_t bound = 0;
    size_t kept = 0, i;

    while (count_above(p, bound) > keep)
        bound = bound ? 2 * bound : 1;
    for (i = 0; i < p->used; i++) {
        if (p->list[i].mispredicted > bound)
            p->list[kept++] = p->list[i];
    }
    p->used = kept;
    places_drop_index(p);
    return bound;
}
