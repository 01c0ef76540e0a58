/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/times.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/mix.h"

int times_init(struct times *t)
{
    memset(t, 0, sizeof(*t));
    t->bins = calloc(SPE_TIME_BINS_MAX, sizeof(*t->bins));
    return t->bins ? SPE_OK : SPE_ERR_NOMEM;
}

void times_free(struct times *t)
{
    free(t->bins);
    memset(t, 0, sizeof(*t));
}

static void add_bin(struct spe_time_bin *to, const struct spe_time_bin *from)
{
    unsigned i;

    to->samples += from->samples;
    to->latency += from->latency;
    for (i = 0; i < SPE_SERVED_COUNT; i++)
        to->loads[i] += from->loads[i];
}

/* Bins of twice the time. */
static void coarsen(struct times *t)
{
    uint64_t first = t->first / 2;
    size_t i;

    for (i = 0; i < SPE_TIME_BINS_MAX; i++) {
        struct spe_time_bin bin = t->bins[i];

        memset(&t->bins[i], 0, sizeof(bin));
        add_bin(&t->bins[(t->first + i) / 2 - first], &bin);
    }
    t->first = first;
    t->shift++;
}

/* Make room for bins before the first. */
static void begin_at(struct times *t, uint64_t first)
{
    size_t by = (size_t)(t->first - first);

    memmove(t->bins + by, t->bins, (SPE_TIME_BINS_MAX - by) * sizeof(*t->bins));
    memset(t->bins, 0, by * sizeof(*t->bins));
    t->first = first;
}

static struct spe_time_bin *bin_at(struct times *t, uint64_t time_ns)
{
    if (!t->begun) {
        t->begun = true;
        t->first = time_ns >> t->shift;
        t->least_ns = t->most_ns = time_ns;
    }
    t->least_ns = time_ns < t->least_ns ? time_ns : t->least_ns;
    t->most_ns = time_ns > t->most_ns ? time_ns : t->most_ns;
    while ((t->most_ns >> t->shift) - (t->least_ns >> t->shift) >= SPE_TIME_BINS_MAX)
        coarsen(t);
    if (t->least_ns >> t->shift < t->first ||
        (t->most_ns >> t->shift) - t->first >= SPE_TIME_BINS_MAX)
        begin_at(t, t->least_ns >> t->shift);
    return &t->bins[(time_ns >> t->shift) - t->first];
}

void times_add(struct times *t, const struct spe_rows *rows)
{
    size_t i;

    for (i = 0; i < rows->count; i++) {
        struct spe_time_bin *bin;

        if (!rows->time_ns[i])
            continue;
        bin = bin_at(t, rows->time_ns[i]);
        bin->samples++;
        bin->latency += rows->total[i];
        if (rows->has[i] & SPE_HAS_OP && mix_class_of(rows->op[i] & 0x3ff) == MIX_LOAD)
            bin->loads[spe_served_by(rows->level[i], rows->events[i])]++;
    }
}

void times_merge(struct times *to, const struct times *from)
{
    size_t i;

    if (!from->begun)
        return;
    bin_at(to, from->least_ns);
    bin_at(to, from->most_ns);
    while (to->shift < from->shift)
        coarsen(to);
    for (i = 0; i < SPE_TIME_BINS_MAX; i++) {
        if (from->bins[i].samples)
            add_bin(bin_at(to, (from->first + i) << from->shift), &from->bins[i]);
    }
}

int times_show(const struct times *t, size_t most, struct spe_times *times)
{
    uint64_t first = t->least_ns >> t->shift, last = t->most_ns >> t->shift, by, i;

    *times = (struct spe_times){.count = 0};
    if (!t->begun || !most)
        return SPE_OK;
    by = (last - first) / most + 1;
    times->from_ns = first << t->shift;
    times->bin_ns = by << t->shift;
    times->count = (size_t)((last - first) / by + 1);
    times->bins = calloc(times->count, sizeof(*times->bins));
    if (!times->bins)
        return SPE_ERR_NOMEM;
    for (i = first; i <= last; i++)
        add_bin(&times->bins[(i - first) / by], &t->bins[i - t->first]);
    return SPE_OK;
}

void spe_times_free(struct spe_times *times)
{
    free(times->bins);
    *times = (struct spe_times){.count = 0};
}
