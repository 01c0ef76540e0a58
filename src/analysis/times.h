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
int times_show(const struct times *t, size_t most, struct spe_times *times);

#endif
