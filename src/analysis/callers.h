/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which functions the calls of a stack are in. */
#ifndef ANALYSIS_CALLERS_H
#define ANALYSIS_CALLERS_H

#include <specimen/analysis.h>

struct caller {
    uint64_t symbol;
    uint32_t dso;
    uint32_t line; /* SPE_NO_ID if it is not known or nobody wants it */
    bool known;    /* it was looked up */
};

/* By rows.stack and by the callers of these. */
struct callers {
    struct caller *at;
    size_t count;
    bool lines; /* are looked up, too */
};

/* Whose stack it is, and when. */
struct stack_of {
    uint32_t thread;
    uint64_t time_ns;
};

/* The function that made a call, which returns to `address`. NULL without memory. */
const struct caller *callers_find(struct callers *c, struct spe_profile *profile,
                                  const struct stack_of *whose, uint32_t call, uint64_t address);
void callers_free(struct callers *c);

/* The object of a row's pc, or SPE_NO_ID. */
uint32_t dso_of_row(const struct spe_profile *profile, const struct spe_rows *rows, size_t i);

/* What a row adds to the counts of its group. */
struct spe_counts counts_of_row(const struct spe_rows *rows, size_t i);

#endif
