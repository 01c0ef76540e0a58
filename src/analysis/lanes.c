/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* How chosen threads or CPUs went over time: one count for each of them and each bin. */
#include <specimen/analysis.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/times.h"

struct spe_lanes {
    enum spe_group_by by;
    struct spe_times times; /* without bins */
    uint32_t *ids;
    size_t count;
    struct spe_time_bin *bins; /* of each lane, and of all others */
};

int spe_lanes_create(struct spe_lanes **lanes, enum spe_group_by by, const uint32_t *ids,
                     size_t count, const struct spe_times *times)
{
    struct spe_lanes *l;

    *lanes = NULL;
    if (by != SPE_BY_THREAD && by != SPE_BY_CPU)
        return SPE_ERR_INVALID;
    l = calloc(1, sizeof(*l));
    if (!l)
        return SPE_ERR_NOMEM;
    l->by = by;
    l->times = *times;
    l->times.bins = NULL;
    l->count = count;
    l->ids = calloc(count + 1, sizeof(*l->ids));
    l->bins = calloc((count + 1) * times->count + 1, sizeof(*l->bins));
    if (!l->ids || !l->bins) {
        spe_lanes_destroy(l);
        return SPE_ERR_NOMEM;
    }
    if (count)
        memcpy(l->ids, ids, count * sizeof(*ids));
    *lanes = l;
    return SPE_OK;
}

void spe_lanes_destroy(struct spe_lanes *l)
{
    if (!l)
        return;
    free(l->ids);
    free(l->bins);
    free(l);
}

static size_t lane_of(const struct spe_lanes *l, uint32_t id)
{
    size_t lane = 0;

    while (lane < l->count && l->ids[lane] != id)
        lane++;
    return lane;
}

/* Neighbouring rows are mostly of the same lane. */
void spe_lanes_add(struct spe_lanes *l, const struct spe_rows *rows)
{
    const uint32_t *ids = l->by == SPE_BY_CPU ? rows->cpu : rows->thread;
    size_t lane = 0, last = 0;

    for (size_t i = 0; i < rows->count; i++) {
        size_t bin = time_bin_of(&l->times, rows->time_ns[i], &last);

        if (i == 0 || ids[i] != ids[i - 1])
            lane = lane_of(l, ids[i]);
        if (bin != SIZE_MAX)
            time_bin_add(&l->bins[lane * l->times.count + bin], rows, i);
    }
}

const struct spe_time_bin *spe_lanes_bins(const struct spe_lanes *l, size_t lane)
{
    return l->bins + lane * l->times.count;
}
