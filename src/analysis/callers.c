/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/callers.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct callers *c, size_t wanted)
{
    size_t count = c->count ? c->count : 1024;
    struct caller *grown;

    while (count <= wanted)
        count *= 2;
    grown = reallocarray(c->at, count, sizeof(*grown));
    if (!grown)
        return false;
    memset(grown + c->count, 0, (count - c->count) * sizeof(*grown));
    c->at = grown;
    c->count = count;
    return true;
}

/* The address is behind the call, which may be the last instruction of its function. */
const struct caller *callers_find(struct callers *c, struct spe_profile *profile,
                                  const struct stack_of *whose, uint32_t call, uint64_t address)
{
    struct spe_profile_place place;

    if (call >= c->count && !make_room(c, call))
        return NULL;
    if (!c->at[call].known) {
        spe_profile_place(profile, whose->thread, whose->time_ns, address - 4, false, &place);
        c->at[call] = (struct caller){
            .symbol = place.symbol,
            .dso = place.dso,
            .line = c->lines ? spe_profile_find_line(profile, place.map, address - 4) : SPE_NO_ID,
            .known = true};
    }
    return &c->at[call];
}

void callers_free(struct callers *c)
{
    free(c->at);
    *c = (struct callers){0};
}

uint32_t dso_of_row(const struct spe_profile *profile, const struct spe_rows *rows, size_t i)
{
    const struct spe_profile_map *map =
        rows->map[i] != SPE_NO_ID ? spe_profile_map(profile, rows->map[i]) : NULL;

    return map ? map->dso : SPE_NO_ID;
}
