/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A sample's memory access in the form of Linux: union perf_mem_data_src, by the rules of perf 7.2,
 * with one exception: a record without a Data Source packet has no level by data source (perf takes
 * it for source 0, which on many CPUs is an L1 hit), so its events decide.
 */
#ifndef RENDER_DATASRC_H
#define RENDER_DATASRC_H

#include <specimen/analysis.h>

/* The rules for one CPU; NULL: not known, or of several kinds. */
struct datasrc {
    const struct spe_source_table *table;
    bool cluster_levels; /* clusters and sockets have levels of their own */
};

void datasrc_init(struct datasrc *d, const struct spe_cpu *cpu);

/* 0 if it is neither load nor store. */
uint64_t datasrc_of(const struct datasrc *d, uint16_t op, uint8_t level, bool has_source,
                    uint16_t source, uint64_t events);

/* perf's text, "|OP LOAD|LVL L1 hit|SNP None|TLB Walker hit|LCK No|BLK  N/A", into at least 128
 * bytes; returns its length. */
size_t datasrc_text(uint64_t value, char *text, size_t size);

#endif
