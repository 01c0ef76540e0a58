/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The n first of many elements, without sorting or copying the others. */
#ifndef ANALYSIS_TOP_H
#define ANALYSIS_TOP_H

#include <stdbool.h>
#include <stddef.h>

/* Negative if a comes before b; never 0 for two different elements, or the order of slots in a hash
 * table would show. */
typedef int top_order(const void *a, const void *b, void *user);

struct top {
    void *elements; /* room for n: a heap with the last in front */
    size_t size, n, count;
    top_order *order;
    void *user;
};

void top_offer(struct top *t, const void *element);

/* Put them in order; returns their number. */
size_t top_finish(struct top *t);

#endif
