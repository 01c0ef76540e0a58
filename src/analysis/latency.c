/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/latency.h"

#include <stdlib.h>
#include <string.h>

int latency_prepare(struct latency *l)
{
    if (!l->counts)
        l->counts = calloc(LATENCY_VALUES, sizeof(*l->counts));
    return l->counts ? SPE_OK : SPE_ERR_NOMEM;
}

int latency_merge(struct latency *to, const struct latency *from)
{
    size_t i;

    if (!from->end)
        return SPE_OK;
    if (latency_prepare(to) < 0)
        return SPE_ERR_NOMEM;
    for (i = 0; i < from->end; i++)
        to->counts[i] += from->counts[i];
    to->end = from->end > to->end ? from->end : to->end;
    return SPE_OK;
}

void latency_free(struct latency *l)
{
    free(l->counts);
    memset(l, 0, sizeof(*l));
}

uint64_t latency_samples(const struct latency *l)
{
    uint64_t samples = 0;
    size_t i;

    for (i = 0; i < l->end; i++)
        samples += l->counts[i];
    return samples;
}

/* ceil(samples * permille / 1000) without overflow. */
static uint64_t rank_of(uint64_t samples, unsigned permille)
{
    uint64_t rank = samples / 1000 * permille + (samples % 1000 * permille + 999) / 1000;

    return rank ? rank : 1;
}

uint16_t latency_quantile(const struct latency *l, unsigned permille)
{
    uint64_t rank = rank_of(latency_samples(l), permille), seen = 0;
    size_t i;

    for (i = 0; i < l->end; i++) {
        seen += l->counts[i];
        if (seen >= rank)
            return (uint16_t)i;
    }
    return 0;
}

uint32_t spe_latency_bin_from(unsigned bin)
{
    return bin < 8 ? bin : (4 + bin % 4) << ((bin - 4) / 4);
}

void latency_bins(const struct latency *l, uint64_t samples[SPE_LATENCY_BINS])
{
    memset(samples, 0, SPE_LATENCY_BINS * sizeof(*samples));
    for (uint32_t i = 0; i < l->end; i++)
        samples[latency_bin_of(i)] += l->counts[i];
}

void latency_summary(const struct latency *l, uint16_t saturated_at,
                     struct spe_latency_summary *summary)
{
    size_t i;

    memset(summary, 0, sizeof(*summary));
    summary->saturated_at = saturated_at;
    summary->samples = latency_samples(l);
    if (!summary->samples)
        return;
    for (i = 0; i < l->end; i++) {
        summary->sum += i * l->counts[i];
        summary->saturated += saturated_at && i >= saturated_at ? l->counts[i] : 0;
    }
    summary->mean = (double)summary->sum / (double)summary->samples;
    summary->median = latency_quantile(l, 500);
    summary->p95 = latency_quantile(l, 950);
    summary->p99 = latency_quantile(l, 990);
    summary->max = (uint16_t)(l->end - 1);
}
