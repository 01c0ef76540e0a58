/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Pearson's chi-square test of a histogram that should be flat. The limit is the value that chance
 * exceeds with probability 1 in 10,000 (Wilson and Hilferty's approximation, good to a fraction of
 * a percent). Seeds are fixed, so a test that passes does so for ever.
 */
#ifndef TESTS_SUPPORT_SAMPLING_CHI_H
#define TESTS_SUPPORT_SAMPLING_CHI_H

#include <stddef.h>
#include <stdint.h>

#define CHI_NORMAL 3.719 /* of the normal distribution, 1 in 10,000 */

static inline double chi_root(double x)
{
    double root = x > 1 ? x : 1;

    for (int i = 0; i < 60; i++)
        root = (root + x / root) / 2;
    return root;
}

static inline double chi_limit(size_t bins)
{
    double df = (double)bins - 1;
    double t = 1 - 2 / (9 * df) + CHI_NORMAL * chi_root(2 / (9 * df));

    return df * t * t * t;
}

static inline double chi_square(const uint32_t *histogram, size_t bins)
{
    double total = 0, sum = 0, expected;

    for (size_t i = 0; i < bins; i++)
        total += histogram[i];
    expected = total / (double)bins;
    for (size_t i = 0; i < bins; i++)
        sum += (histogram[i] - expected) * (histogram[i] - expected) / expected;
    return sum;
}

/* Nothing that chance does not explain. One bin is always flat. */
static inline int chi_is_flat(const uint32_t *histogram, size_t bins)
{
    return bins < 2 || chi_square(histogram, bins) < chi_limit(bins);
}

#endif
