/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Is the difference of two estimates more than chance?
 *
 * A quantity is a sum over samples: 1 for each load, the cycles of each operation. What is compared
 * is the sum by the unit of work. Latencies have heavy tails: a few samples can make most of a sum,
 * and then its variance is known badly, too. So the difference, divided by its standard error, is
 * held against Student's distribution with as many degrees of freedom as the fourth moment says
 * that the variance is worth (Satterthwaite's way): 2 N / (kurtosis - 1) of N samples. For a few
 * hits among many samples that is twice the number of hits.
 *
 * The variance is that of both sides together, as if there were no difference, or that of each side
 * by itself, whichever is more: the first fails if a side has none of it, the second if the sides
 * have very different numbers of samples.
 */
#ifndef ANALYSIS_DIFF_H
#define ANALYSIS_DIFF_H

#include <specimen/analysis.h>

/* Sums of a value, its square and so on; of a count they are all the same. */
struct moments {
    double sum[4];
};

struct diff_work {
    double units;
    /* The part of the squared mean that comes to the variance of a sample: -1 if the unit is a
     * sample (shares are of a fixed number), 0 if it is fixed, 1 if it is a count itself. */
    double spread;
};

/* Fills in everything but `significant`. `hits` are the samples that have the quantity. */
void diff_change(struct spe_change *change, const struct moments side[2],
                 const struct diff_work work[2], uint64_t hits);

/* How likely a value of Student's distribution is at least so far from 0. */
double student_beyond(double t, double freedom);

/* Which of the p of n tests are significant at SPE_DIFF_RATE: those up to the result, which is
 * negative if none is. The list is sorted. */
double diff_threshold(double *p, size_t n);

#endif
