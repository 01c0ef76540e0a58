/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Edges between instructions of one file. */
#include "analysis/edges.h"

#include <stdlib.h>

#include "analysis/groups.h"
#include "base/sized.h"

struct spe_edges {
    uint32_t dso;
    unsigned kinds;
    struct spe_edge_counts counts;
    struct groups groups; /* whose names are addresses: see add_edge */
};

int spe_edges_create(struct spe_edges **edges, uint32_t dso, unsigned kinds)
{
    struct spe_edges *e = calloc(1, sizeof(*e));

    *edges = e;
    if (!e)
        return SPE_ERR_NOMEM;
    e->dso = dso;
    e->kinds = kinds;
    return SPE_OK;
}

void spe_edges_destroy(struct spe_edges *e)
{
    if (e)
        groups_free(&e->groups);
    free(e);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What an edge is made of, in one row. */
struct step {
    struct spe_profile *profile;
    const struct spe_rows *rows;
    size_t i;
    const struct spe_profile_map *map; /* of the pc; NULL: none */
    uint64_t pc;                       /* in the file; 0: it is elsewhere */
};

static int add_edge(struct spe_edges *e, const struct step *s, enum spe_edge_kind kind,
                    uint64_t from, uint64_t to)
{
    uint64_t events = s->rows->events[s->i];
    struct spe_group group = {
        .symbol = from,
        .dso = (uint32_t)(to >> 32),
        .line = (uint32_t)to,
        .id = kind,
        .counts = {.samples = 1, .mispredicted = events >> SPE_EVENT_MISPREDICTED & 1},
    };

    return e->kinds >> kind & 1 ? groups_add(&e->groups, &group) : SPE_OK;
}

static bool is_in(const struct spe_profile_map *map, uint64_t address)
{
    return map && address >= map->start && address < map->end;
}

/* An address of the row's process in the file; 0: it is elsewhere. Most are in the map of the pc,
 * and need not be looked for. */
static uint64_t find_in_file(const struct spe_edges *e, const struct step *s, uint64_t address)
{
    const struct spe_rows *rows = s->rows;
    struct spe_profile_place place;
    uint64_t found = UINT64_MAX;

    if (is_in(s->map, address)) {
        if (s->map->dso == e->dso)
            found = spe_profile_find_address(s->profile, rows->map[s->i], address);
    } else if (spe_profile_place(s->profile, rows->thread[s->i], rows->time_ns[s->i], address,
                                 false, &place) == SPE_OK &&
               place.dso == e->dso) {
        found = place.address;
    }
    return found == UINT64_MAX ? 0 : found;
}

/* From the previous taken branch's target to this one all went straight on. An exception between
 * them, that does not count as a branch, makes it look otherwise. */
static int add_straight_on(struct spe_edges *e, const struct step *s)
{
    uint64_t previous;

    if (!(s->rows->addresses[s->i] >> SPE_ADDRESS_PREVIOUS_TARGET & 1))
        return SPE_OK;
    e->counts.previous++;
    previous = s->rows->previous_target[s->i];
    if (!is_in(s->map, previous) || previous > s->rows->pc[s->i]) {
        e->counts.previous_impossible++;
        return SPE_OK;
    }
    return add_edge(e, s, SPE_EDGE_STRAIGHT_ON, find_in_file(e, s, previous), s->pc);
}

static int add_taken(struct spe_edges *e, const struct step *s)
{
    bool conditional = s->rows->op[s->i] & 1; /* D18.2.7: COND */
    uint64_t target;

    if (!(s->rows->addresses[s->i] >> SPE_ADDRESS_TARGET & 1)) {
        e->counts.no_target += s->pc != 0;
        return SPE_OK;
    }
    target = find_in_file(e, s, s->rows->target[s->i]);
    if (!s->pc && !target)
        return SPE_OK;
    return add_edge(e, s, conditional ? SPE_EDGE_TAKEN : SPE_EDGE_JUMP, s->pc, target);
}

static int add_branch(struct spe_edges *e, const struct step *s)
{
    bool taken = !(s->rows->events[s->i] & SPE_EVENT_BIT(NOT_TAKEN));
    int error;

    e->counts.branches += s->pc != 0;
    e->counts.taken += s->pc && taken;
    if (!taken)
        return s->pc ? add_edge(e, s, SPE_EDGE_NOT_TAKEN, s->pc, s->pc + 4) : SPE_OK;
    error = add_taken(e, s);
    return error == SPE_OK && s->pc ? add_straight_on(e, s) : error;
}

/* The map of an operation that counts. NULL if it does not, or is nowhere. */
static const struct spe_profile_map *find_map(struct spe_edges *e, const struct step *s)
{
    const struct spe_rows *rows = s->rows;
    const struct spe_profile_map *map = NULL;

    if (rows->flags[s->i] & SPE_ROW_KERNEL)
        e->counts.kernel++;
    else if (!(rows->events[s->i] & SPE_EVENT_BIT(RETIRED)))
        e->counts.not_retired++;
    else if (!(map = spe_profile_map(s->profile, rows->map[s->i])))
        e->counts.no_map++;
    return map;
}

static int add_row(struct spe_edges *e, struct step *s)
{
    const struct spe_rows *rows = s->rows;
    int error = SPE_OK;

    e->counts.samples++;
    s->map = find_map(e, s);
    if (!s->map)
        return SPE_OK;
    s->pc = find_in_file(e, s, rows->pc[s->i]);
    e->counts.inside += s->pc != 0;
    e->counts.elsewhere += s->pc == 0;
    if (s->pc)
        error = add_edge(e, s, SPE_EDGE_NONE, s->pc, 0);
    if (error == SPE_OK && rows->has[s->i] & SPE_HAS_OP && rows->op[s->i] >> 8 == SPE_CLASS_BRANCH)
        error = add_branch(e, s);
    return error;
}

int spe_edges_add(struct spe_edges *e, struct spe_profile *profile, const struct spe_rows *rows)
{
    struct spe_rows own;
    struct step s = {.profile = profile};
    int error = SPE_OK;

    s.rows = sized_view(&own, sizeof(own), rows, rows->size);
    if (!s.rows)
        return SPE_ERR_INVALID;
    for (s.i = 0; s.i < s.rows->count && error == SPE_OK; s.i++)
        error = add_row(e, &s);
    return error;
}

/* ---- answers --------------------------------------------------------------------------------- */

bool edges_know_previous(const struct spe_edge_counts *c)
{
    return c->taken && 10 * c->previous >= 9 * c->taken;
}

const struct spe_edge_counts *spe_edges_counts(const struct spe_edges *e)
{
    return &e->counts;
}

size_t spe_edges_count(const struct spe_edges *e)
{
    return e->groups.all.count;
}

static int edge_order(const void *left, const void *right)
{
    const struct spe_edge *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

void spe_edges_list(const struct spe_edges *e, struct spe_edge *list)
{
    size_t n = e->groups.all.count;

    for (size_t i = 0; i < n; i++) {
        const struct spe_group *group = &e->groups.all.at[i];

        list[i] = (struct spe_edge){
            .from = group->symbol,
            .to = (uint64_t)group->dso << 32 | group->line,
            .kind = (uint8_t)group->id,
            .samples = group->counts.samples,
            .mispredicted = group->counts.mispredicted,
        };
    }
    if (n)
        qsort(list, n, sizeof(*list), edge_order);
}
