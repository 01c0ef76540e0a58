/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include <stdint.h>

/* For qsort: the smaller one comes first. */
static inline int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

#endif
