/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A hash table of groups; it grows with the symbols, lines, threads ... that have samples. */
#ifndef ANALYSIS_GROUPS_H
#define ANALYSIS_GROUPS_H

#include <specimen/analysis.h>

#define GROUPS_RECENT 64

struct groups {
    struct spe_group *slots; /* counts.samples 0: free; NULL until the first */
    size_t mask, used;
    uint64_t seed;
    uint32_t recent[GROUPS_RECENT]; /* slots of keys that came lately */
};

/* Counts of the group of the same symbol, dso, line, address and id, until the next call; the
 * caller adds a sample at least. NULL: no memory. */
struct spe_counts *groups_counts(struct groups *g, const struct spe_group *key);

/* Add to the group of the same symbol, dso, line, address and id. counts.samples is not 0. SPE_OK
 * or SPE_ERR_NOMEM. */
int groups_add(struct groups *g, const struct spe_group *group);
int groups_merge(struct groups *to, const struct groups *from);
void groups_free(struct groups *g);

size_t groups_top(const struct groups *g, enum spe_sort sort, struct spe_group *first, size_t n);

void group_counts_add(struct spe_counts *to, const struct spe_counts *from);

#endif
