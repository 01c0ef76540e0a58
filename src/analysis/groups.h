/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Groups by their keys: as many as symbols, lines, threads ... have samples. */
#ifndef ANALYSIS_GROUPS_H
#define ANALYSIS_GROUPS_H

#include <specimen/analysis.h>

#include "base/hash.h"
#include "base/vector.h"

#define GROUPS_RECENT 64

struct groups {
    VECTOR(struct spe_group) all;
    struct hash_table table; /* of their numbers */
    uint64_t seed;
    uint32_t recent[GROUPS_RECENT]; /* numbers of groups that came lately */
};

/* Of the same symbol, dso, line, address and id? */
static inline bool same_group(const struct spe_group *a, const struct spe_group *b)
{
    return a->symbol == b->symbol && a->dso == b->dso && a->line == b->line && a->id == b->id &&
           a->address == b->address;
}

/* Counts of the group of the same symbol, dso, line, address and id, until the next call. NULL:
 * no memory. */
struct spe_counts *groups_counts(struct groups *g, const struct spe_group *key);

/* Add to the group of the same symbol, dso, line, address and id. SPE_OK or SPE_ERR_NOMEM. */
int groups_add(struct groups *g, const struct spe_group *group);
int groups_merge(struct groups *to, const struct groups *from);
void groups_free(struct groups *g);

size_t groups_top(const struct groups *g, enum spe_sort sort, struct spe_group *first, size_t n);

void group_counts_add(struct spe_counts *to, const struct spe_counts *from);

#endif
