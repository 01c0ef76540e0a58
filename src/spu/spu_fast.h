/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What a host of the same build asks of a unit at each sample, inline: a copy of all statistics, or
 * a call for one number, would take as long as the sample itself.
 */
#ifndef SPU_FAST_H
#define SPU_FAST_H

#include "spu_internal.h"

static inline uint64_t spu_budget(const struct spe_spu *spu)
{
    return spu->sampling.budget;
}

/* Members of the population run, no more than the budget. */
static inline void spu_run(struct spe_spu *spu, uint64_t members)
{
    if (!spu->sampling.enabled)
        return; /* D17.3.5 */
    spu->sampling.budget -= members;
    spu->sampling.ran += members;
    spu->stats.population += members;
    if (members)
        spu_pmu(spu, SPE_PMU_SAMPLE_POP, members);
}

/* Where the next record goes. */
static inline uint64_t spu_pointer(const struct spe_spu *spu)
{
    return spu->reg[SPE_REG_PMBPTR_EL1];
}

static inline const struct spe_spu_stats *spu_stats(const struct spe_spu *spu)
{
    return &spu->stats;
}

/* Samples that ended without a record. */
static inline uint64_t spu_lost(const struct spe_spu *spu)
{
    return spu->stats.sampled - spu->in_flight - spu->stats.records;
}

#endif
