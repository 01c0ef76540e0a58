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
 *
 * That is the chance of sampling. Where several threads work there is another one: when they meet
 * is a different thing in each run, and what they wait for each other with it. Of that a run tells
 * as much as its latencies differ from one block of time to the next (the method of batch means).
 * What the blocks differ by beyond what sampling makes of it is added to the variance.
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

/* Latencies over the time of a recording. */
enum { DIFF_BLOCKS = 16 };

struct diff_blocks {
    uint64_t cycles[DIFF_BLOCKS];
    uint32_t samples[DIFF_BLOCKS];
};

/* Which block a time is in. Nobody knows before how long a recording is: blocks become longer. */
struct diff_clock {
    bool started;
    uint64_t first;
    unsigned shift;
};

/* Over all blocks: products of their cycles, and of what each was expected to weigh. Two things can
 * be expected: as many cycles for each sample at all times, or as many for each of a thread, whose
 * samples are more or fewer in a block. */
enum { DIFF_EXPECTED = 2 };

struct diff_uneven {
    double products;
    struct {
        double sum, squares; /* of weights */
        double own, with;    /* products of weights, and of weights and cycles */
    } expected[DIFF_EXPECTED];
};

/* At least DIFF_BLOCKS if blocks have to be doubled first, by both of the next. */
uint64_t diff_block(struct diff_clock *clock, uint64_t ns);
void diff_clock_double(struct diff_clock *clock);
void diff_blocks_double(struct diff_blocks *blocks);
void diff_blocks_add(struct diff_blocks *to, const struct diff_blocks *from);

/* Cycles that a sample of each block has if threads are even over time. */
void diff_even_threads(const struct diff_blocks *threads, size_t count, double mean[DIFF_BLOCKS]);
void diff_uneven_blocks(struct diff_uneven *to, const struct diff_blocks *blocks,
                        const double mean[DIFF_BLOCKS]);
void diff_uneven_add(struct diff_uneven *to, const struct diff_uneven *from);

/* Fills in everything but `significant`. `hits` are the samples that have the quantity. */
void diff_change(struct spe_change *change, const struct moments side[2],
                 const struct diff_work work[2], uint64_t hits);

/* The same for latencies of threads that wait for each other; samples are those of the sums. */
void diff_change_uneven(struct spe_change *change, const struct moments side[2],
                        const struct diff_work work[2], const uint64_t samples[2],
                        const struct diff_uneven uneven[2]);

/* How likely a value of Student's distribution is at least so far from 0. */
double student_beyond(double t, double freedom);

/* Which of the p of n tests are significant at SPE_DIFF_RATE: those up to the result, which is
 * negative if none is. The list is sorted. */
double diff_threshold(double *p, size_t n);

#endif
