/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/times.h"

#include <stdlib.h>
#include <string.h>

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

static void widen(struct times *t, uint64_t time_ns)
{
    t->least_ns = time_ns < t->least_ns ? time_ns : t->least_ns;
    t->most_ns = time_ns > t->most_ns ? time_ns : t->most_ns;
}

static struct spe_time_bin *bin_at(struct times *t, uint64_t time_ns)
{
    if (!t->begun) {
        t->begun = true;
        t->first = time_ns >> t->shift;
        t->least_ns = t->most_ns = time_ns;
    }
    widen(t, time_ns);
    while ((t->most_ns >> t->shift) - (t->least_ns >> t->shift) >= SPE_TIME_BINS_MAX)
        coarsen(t);
    if (t->least_ns >> t->shift < t->first ||
        (t->most_ns >> t->shift) - t->first >= SPE_TIME_BINS_MAX)
        begin_at(t, t->least_ns >> t->shift);
    return &t->bins[(time_ns >> t->shift) - t->first];
}

/* Neighbours count in turn: nearly all are of one level, and each sum would wait for the one
 * before. */
#define TURNS 4

void time_bin_add(struct spe_time_bin *bin, const struct spe_rows *rows, size_t from, size_t to)
{
    uint32_t loads[TURNS][SPE_SERVED_COUNT] = {{0}};
    uint64_t latency = 0;

    for (size_t i = from; i < to; i++) {
        bool load =
            ((rows->has[i] & SPE_HAS_OP) != 0) & ((rows->op[i] & 0x301) == SPE_CLASS_LDST << 8);

        latency += rows->total[i];
        loads[i % TURNS][served_if(rows, i, load)] += load;
    }
    bin->samples += to - from;
    bin->latency += latency;
    for (unsigned served = 0; served < SPE_SERVED_COUNT; served++) {
        for (unsigned turn = 0; turn < TURNS; turn++)
            bin->loads[served] += loads[turn][served];
    }
}

void times_add(struct times *t, const struct spe_rows *rows)
{
    size_t from, to;

    for (from = 0; from < rows->count; from = to) {
        uint64_t time = rows->time_ns[from], start;
        struct spe_time_bin *bin;

        to = from + 1;
        if (!time)
            continue;
        bin = bin_at(t, time);
        start = time >> t->shift << t->shift;
        for (; to < rows->count && time_is_within(rows, to, start, UINT64_C(1) << t->shift); to++)
            widen(t, rows->time_ns[to]);
        time_bin_add(bin, rows, from, to);
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
