/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Samples over time, in bins that become longer as the time that they have to hold does. */
#ifndef ANALYSIS_TIMES_H
#define ANALYSIS_TIMES_H

#include <specimen/analysis.h>

struct times {
    struct spe_time_bin *bins; /* SPE_TIME_BINS_MAX of them, or NULL */
    uint64_t first;            /* number of the first bin: times are in bin time >> shift */
    unsigned shift;
    bool begun;
    uint64_t least_ns, most_ns; /* of all samples */
};

int times_init(struct times *t); /* SPE_OK or SPE_ERR_NOMEM */
void times_free(struct times *t);
void times_add(struct times *t, const struct spe_rows *rows);
void times_merge(struct times *to, const struct times *from);

/* What served a load. Most records say it themselves. */
static inline unsigned served_row(const struct spe_rows *rows, size_t i)
{
    unsigned level = rows->level[i];

    return level != SPE_LEVEL_UNKNOWN ? level : spe_served_by(level, rows->events[i]);
}

/* The same of a row that may be another operation, which is then to be counted 0 times: which rows
 * are loads is what no branch can predict. */
static inline unsigned served_if(const struct spe_rows *rows, size_t i, bool load)
{
    unsigned level = rows->level[i];

    _Static_assert(SPE_LEVEL_UNKNOWN == 0, "one comparison is enough");
    return (level | !load) == 0 ? spe_served_by(level, rows->events[i]) : level;
}

/* Rows from one up to another in their bin. */
void time_bin_add(struct spe_time_bin *bin, const struct spe_rows *rows, size_t from, size_t to);

/* Whether a row has a time, and one that is within `ns` from `start` on. */
static inline bool time_is_within(const struct spe_rows *rows, size_t i, uint64_t start,
                                  uint64_t ns)
{
    return rows->time_ns[i] && rows->time_ns[i] - start < ns;
}

/* The bin of a time among those that are shown, which is most often the last one; SIZE_MAX: in
 * none. */
static inline size_t time_bin_of(const struct spe_times *times, uint64_t time_ns, size_t *last)
{
    uint64_t bin;

    if (time_ns < times->from_ns || !time_ns || !times->bin_ns)
        return SIZE_MAX;
    if (time_ns - times->from_ns - *last * times->bin_ns < times->bin_ns)
        return *last;
    bin = (time_ns - times->from_ns) / times->bin_ns;
    if (bin >= times->count)
        return SIZE_MAX;
    return *last = (size_t)bin;
}

int times_show(const struct times *t, size_t most, struct spe_times *times);

#endif
