/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/narrow.h"

#include <stdlib.h>
#include <string.h>

static int add_function(struct narrow *n, uint64_t symbol)
{
    if (VECTOR_ROOM(&n->functions) < 0)
        return SPE_ERR_NOMEM;
    n->functions.at[n->functions.count++] = symbol;
    return SPE_OK;
}

int narrow_start(struct narrow *n, struct spe_profile *profile,
                 const struct spe_code_choice *choices, size_t count, bool all)
{
    n->dsos = spe_profile_dso_count(profile);
    n->known = calloc(n->dsos + 1, sizeof(*n->known));
    n->changed = true;
    if (!n->known)
        return SPE_ERR_NOMEM;
    memset(n->known, all, n->dsos * sizeof(*n->known));
    for (size_t i = 0; i < count; i++) {
        if (choices[i].symbol != SPE_NO_SYMBOL && add_function(n, choices[i].symbol) < 0)
            return SPE_ERR_NOMEM;
        if (choices[i].symbol == SPE_NO_SYMBOL && choices[i].dso < n->dsos)
            n->known[choices[i].dso] = false;
        n->off = n->off || (choices[i].symbol == SPE_NO_SYMBOL && choices[i].dso >= n->dsos);
    }
    return SPE_OK;
}

int narrow_see(struct narrow *n, struct spe_profile *profile, uint32_t map,
               spe_annotation_wanted *wanted, void *user)
{
    const struct spe_profile_map *m = wanted ? spe_profile_map(profile, map) : NULL;
    struct spe_profile_symbol is;

    if (!m || m->dso >= n->dsos || n->known[m->dso])
        return SPE_OK;
    n->known[m->dso] = n->changed = true;
    for (uint64_t symbol = (uint64_t)m->dso << 32;
         spe_profile_symbol(profile, symbol, &is) == SPE_OK; symbol++) {
        if (wanted(user, profile, symbol) && add_function(n, symbol) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

struct spans {
    VECTOR(struct spe_profile_span) list;
};

static int add_span(struct spans *s, const struct spe_profile_span *span)
{
    if (VECTOR_ROOM(&s->list) < 0)
        return SPE_ERR_NOMEM;
    s->list.at[s->list.count++] = *span;
    return SPE_OK;
}

static int add_map(const struct narrow *n, const struct spe_profile *profile, uint32_t number,
                   struct spans *s)
{
    const struct spe_profile_map *map = spe_profile_map(profile, number);
    struct spe_profile_span span = {map->start, map->end};

    if (map->dso >= n->dsos || !n->known[map->dso])
        return add_span(s, &span);
    for (size_t i = 0; i < n->functions.count; i++) {
        if (n->functions.at[i] >> 32 == map->dso &&
            spe_profile_span(profile, number, n->functions.at[i], &span) && add_span(s, &span) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

int narrow_tell(struct narrow *n, struct spe_profile *profile)
{
    struct spans spans = {0};
    int error = SPE_OK;

    if (n->off || !n->changed)
        return SPE_OK;
    n->changed = false;
    if (VECTOR_ROOM(&spans.list) < 0) /* no span is not the same as no list */
        return SPE_ERR_NOMEM;
    for (uint32_t i = 0; i < spe_profile_map_count(profile) && error == SPE_OK; i++)
        error = add_map(n, profile, i, &spans);
    if (error == SPE_OK)
        error = spe_profile_only(profile, spans.list.at, spans.list.count);
    free(spans.list.at);
    return error;
}

void narrow_free(struct narrow *n)
{
    free(n->functions.at);
    free(n->known);
}
