/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which functions the calls of a stack are in. */
#ifndef ANALYSIS_CALLERS_H
#define ANALYSIS_CALLERS_H

#include <specimen/analysis.h>

struct caller {
    uint64_t symbol;
    uint32_t dso;
    bool known; /* it was looked up */
};

/* By rows.stack and by the callers of these. */
struct callers {
    struct caller *at;
    size_t count;
};

/* The function that made a call, at the time and in the thread of a row. NULL without memory. */
const struct caller *callers_find(struct callers *c, struct spe_profile *profile,
                                  const struct spe_rows *rows, size_t i, uint32_t call,
                                  uint64_t address);
void callers_free(struct callers *c);

/* What a row adds to the counts of its group. */
struct spe_counts counts_of_row(const struct spe_rows *rows, size_t i);

#endif
