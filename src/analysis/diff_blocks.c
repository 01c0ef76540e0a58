/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Latencies by blocks of time. */
#include "analysis/diff.h"

uint64_t diff_block(struct diff_clock *clock, uint64_t ns)
{
    if (!clock->started)
        *clock = (struct diff_clock){.started = true, .first = ns};
    /* Another CPU's may be from before the first one that came. */
    return ns > clock->first ? (ns - clock->first) >> clock->shift : 0;
}

void diff_clock_double(struct diff_clock *clock)
{
    clock->shift++;
}

void diff_blocks_double(struct diff_blocks *b)
{
    for (unsigned i = 0; i < DIFF_BLOCKS / 2; i++) {
        b->cycles[i] = b->cycles[2 * i] + b->cycles[2 * i + 1];
        b->samples[i] = b->samples[2 * i] + b->samples[2 * i + 1];
    }
    for (unsigned i = DIFF_BLOCKS / 2; i < DIFF_BLOCKS; i++) {
        b->cycles[i] = 0;
        b->samples[i] = 0;
    }
}

void diff_blocks_add(struct diff_blocks *to, const struct diff_blocks *from)
{
    for (unsigned i = 0; i < DIFF_BLOCKS; i++) {
        to->cycles[i] += from->cycles[i];
        to->samples[i] += from->samples[i];
    }
}

void diff_even_threads(const struct diff_blocks *threads, size_t count, double mean[DIFF_BLOCKS])
{
    double samples[DIFF_BLOCKS] = {0}, cycles[DIFF_BLOCKS] = {0};

    for (size_t t = 0; t < count; t++) {
        double n = 0.0, x = 0.0;

        for (unsigned i = 0; i < DIFF_BLOCKS; i++) {
            n += threads[t].samples[i];
            x += (double)threads[t].cycles[i];
        }
        for (unsigned i = 0; i < DIFF_BLOCKS && n > 0.0; i++) {
            samples[i] += threads[t].samples[i];
            cycles[i] += threads[t].samples[i] * x / n;
        }
    }
    for (unsigned i = 0; i < DIFF_BLOCKS; i++)
        mean[i] = samples[i] > 0.0 ? cycles[i] / samples[i] : 0.0;
}

/* A product of two blocks: of each with itself, and half of it with the next one, both ways (the
 * kernel of Bartlett, as Newey and West use it): what lasts longer than a block counts more. */
static double product(const double *a, const double *b, unsigned i)
{
    double next = i + 1 < DIFF_BLOCKS ? a[i] * b[i + 1] + a[i + 1] * b[i] : 0.0;

    return a[i] * b[i] + 0.5 * next;
}

void diff_uneven_blocks(struct diff_uneven *to, const struct diff_blocks *b,
                        const double mean[DIFF_BLOCKS])
{
    double cycles[DIFF_BLOCKS], weight[DIFF_EXPECTED][DIFF_BLOCKS];

    for (unsigned i = 0; i < DIFF_BLOCKS; i++) {
        cycles[i] = (double)b->cycles[i];
        weight[0][i] = b->samples[i];
        weight[1][i] = b->samples[i] * mean[i];
    }
    for (unsigned i = 0; i < DIFF_BLOCKS; i++) {
        to->products += product(cycles, cycles, i);
        for (unsigned e = 0; e < DIFF_EXPECTED; e++) {
            to->expected[e].sum += weight[e][i];
            to->expected[e].squares += weight[e][i] * weight[e][i];
            to->expected[e].own += product(weight[e], weight[e], i);
            to->expected[e].with += product(weight[e], cycles, i);
        }
    }
}

void diff_uneven_add(struct diff_uneven *to, const struct diff_uneven *from)
{
    to->products += from->products;
    for (unsigned e = 0; e < DIFF_EXPECTED; e++) {
        to->expected[e].sum += from->expected[e].sum;
        to->expected[e].squares += from->expected[e].squares;
        to->expected[e].own += from->expected[e].own;
        to->expected[e].with += from->expected[e].with;
    }
}
