/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Distribution of a latency counter. It has at most 16 bits, so one count for each value is exact
 * and small enough: quantiles need neither a sketch nor the samples.
 */
#ifndef ANALYSIS_LATENCY_H
#define ANALYSIS_LATENCY_H

#include <specimen/analysis.h>

#define LATENCY_VALUES 65536

struct latency {
    uint64_t *counts; /* LATENCY_VALUES of them, or NULL */
    uint32_t end;     /* all values are below */
};

/* Make room. SPE_OK or SPE_ERR_NOMEM. */
int latency_prepare(struct latency *l);

/* Of a prepared one. */
static inline void latency_add(struct latency *l, uint16_t cycles)
{
    l->counts[cycles]++;
    if (cycles >= l->end)
        l->end = cycles + 1u;
}

uint64_t latency_samples(const struct latency *l);

int latency_merge(struct latency *to, const struct latency *from);
void latency_free(struct latency *l);

/* The smallest value that at least permille/1000 of the samples do not exceed (nearest rank); 0 of
 * no samples. */
uint16_t latency_quantile(const struct latency *l, unsigned permille);

/* Of SPE_LATENCY_BINS. Below 8 its own; else its highest bit and the two below that. */
static inline unsigned latency_bin_of(uint32_t cycles)
{
    unsigned octave = 31u - (unsigned)__builtin_clz(cycles | 4);

    return 4 * octave - 8 + (cycles >> (octave - 2));
}

void latency_bins(const struct latency *l, uint64_t samples[SPE_LATENCY_BINS]);

/* saturated_at: the value that stands for itself and everything above; 0: none is known to. */
void latency_summary(const struct latency *l, uint16_t saturated_at,
                     struct spe_latency_summary *summary);

#endif
