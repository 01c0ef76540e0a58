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

/* Neighbouring rows are mostly of the same lane and bin. */
void spe_lanes_add(struct spe_lanes *l, const struct spe_rows *rows)
{
    const uint32_t *ids = l->by == SPE_BY_CPU ? rows->cpu : rows->thread;
    size_t last = 0;

    for (size_t from = 0, to; from < rows->count; from = to) {
        size_t bin = time_bin_of(&l->times, rows->time_ns[from], &last);
        uint64_t ns = l->times.bin_ns, start = l->times.from_ns + bin * ns;

        to = from + 1;
        if (bin == SIZE_MAX)
            continue;
        while (to < rows->count && ids[to] == ids[from] && time_is_within(rows, to, start, ns))
            to++;
        time_bin_add(&l->bins[lane_of(l, ids[from]) * l->times.count + bin], rows, from, to);
    }
}

const struct spe_time_bin *spe_lanes_bins(const struct spe_lanes *l, size_t lane)
{
    return l->bins + lane * l->times.count;
}
