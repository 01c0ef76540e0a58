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

    if (!from->samples)
        return SPE_OK;
    if (latency_prepare(to) < 0)
        return SPE_ERR_NOMEM;
    for (i = 0; i < LATENCY_VALUES; i++)
        to->counts[i] += from->counts[i];
    to->samples += from->samples;
    to->sum += from->sum;
    return SPE_OK;
}

void latency_free(struct latency *l)
{
    free(l->counts);
    memset(l, 0, sizeof(*l));
}

/* ceil(samples * permille / 1000) without overflow. */
static uint64_t rank_of(uint64_t samples, unsigned permille)
{
    uint64_t rank = samples / 1000 * permille + (samples % 1000 * permille + 999) / 1000;

    return rank ? rank : 1;
}

uint16_t latency_quantile(const struct latency *l, unsigned permille)
{
    uint64_t rank = rank_of(l->samples, permille), seen = 0;
    size_t i;

    if (!l->samples)
        return 0;
    for (i = 0; i < LATENCY_VALUES - 1; i++) {
        seen += l->counts[i];
        if (seen >= rank)
            break;
    }
    return (uint16_t)i;
}

void latency_summary(const struct latency *l, uint16_t saturated_at,
                     struct spe_latency_summary *summary)
{
    memset(summary, 0, sizeof(*summary));
    summary->samples = l->samples;
    summary->sum = l->sum;
    summary->saturated_at = saturated_at;
    if (!l->samples)
        return;
    summary->mean = (double)l->sum / (double)l->samples;
    summary->median = latency_quantile(l, 500);
    summary->p95 = latency_quantile(l, 950);
    summary->p99 = latency_quantile(l, 990);
    summary->max = latency_quantile(l, 1000);
    if (saturated_at) {
        size_t i;

        for (i = saturated_at; i < LATENCY_VALUES; i++)
            summary->saturated += l->counts[i];
    }
}
