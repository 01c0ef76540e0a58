/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Cells of tables that several pages have. */
#ifndef RENDER_CELLS_H
#define RENDER_CELLS_H

#include "render/table.h"

/* Both ends in percent, with the digits that the width of the interval gives a meaning to, rounded
 * away from each other: what is shown is never narrower than it is. */
void interval_cell(struct table *t, uint64_t hits, uint64_t samples);

/* A share of its own kind: "-" where there are none of the kind. */
void miss_cell(struct table *t, uint64_t misses, uint64_t of);

/* Cycles on average. */
void mean_cell(struct table *t, uint64_t latency, uint64_t samples);

#endif
