/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the first pass counts of a row, for slices.c to count the same. */
#ifndef ANALYSIS_SLICES_H
#define ANALYSIS_SLICES_H

#include "analysis/groups.h"
#include "analysis/mix.h"
#include "analysis/places.h"

/* What a place is called in a grouping by code. */
void name_group(struct spe_profile *profile, const struct place *place, unsigned by, uint32_t line,
                struct spe_group *group);
void counts_of_place(const struct place *place, enum mix_class class_, struct spe_counts *counts);
void count_row(struct spe_counts *counts, const struct spe_rows *rows, size_t i,
               enum mix_class class_);

/* What is known of rows that follow each other, which are at most RUN_MOST. */
#define RUN_MOST 512
struct run {
    const uint32_t *word;  /* place_word */
    const uint8_t *class_; /* enum mix_class */
    const uint16_t *total;
    size_t count;
};

/* The same as count_row of each of them. */
void count_run(struct spe_counts *counts, const struct run *run);

/* Ids of rows in a grouping by thread, process, comm or CPU. */
const uint32_t *task_ids(const struct spe_rows *rows, enum spe_group_by task);

/* Kernel addresses mean the same in every process. */
static inline uint32_t space_of(uint64_t va, uint32_t pid)
{
    return va >> 63 ? SPE_NO_TASK : pid;
}

/* By the data source, or by the events of the CPUs that have them. */
static inline unsigned from_another_cache(const struct spe_rows *rows, size_t i)
{
    unsigned level = rows->level[i];

    return (level >= SPE_LEVEL_PEER_CORE && level <= SPE_LEVEL_REMOTE_CACHE) |
           ((rows->events[i] >> SPE_EVENT_MODIFIED | rows->events[i] >> SPE_EVENT_SNOOPED) & 1);
}

#endif
