/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.5: which samples are recorded, and the PMU events that count them. A sample is kept if no
 * filter rejects it. The SAMPLE_FEED_x events look at the filters' values, not at their enables.
 */
#include "spu_internal.h"

enum { /* PMSFCR_EL1 */
       PMSFCR_FE = 0,
       PMSFCR_FT = 1,
       PMSFCR_FL = 2,
       PMSFCR_FNE = 3,
       PMSFCR_FDS = 4,
       PMSFCR_TYPE = 16,  /* five bits, SPU_TYPE_*; three without FEAT_SPE_EFT */
       PMSFCR_TYPEM = 48, /* five bits */
};

#define PMSFCR_ENABLES                                                                             \
    (1u << PMSFCR_FE | 1u << PMSFCR_FT | 1u << PMSFCR_FL | 1u << PMSFCR_FNE | 1u << PMSFCR_FDS)
#define TYPES_PLAIN (SPU_TYPE_B | SPU_TYPE_LD | SPU_TYPE_ST)

static bool enabled(const struct spe_spu *spu, unsigned bit)
{
    return spu_bit(spu->reg[SPE_REG_PMSFCR_EL1], bit);
}

/* ---- Type (D17.5.1) ------------------------------------------------------------------------- */

struct type_filter {
    unsigned types; /* those that there are */
    unsigned ctrl, mask;
};

static struct type_filter type_filter(const struct spe_spu *spu)
{
    uint64_t pmsfcr = spu->reg[SPE_REG_PMSFCR_EL1];
    bool eft = spu_has(spu, SPE_FEAT_SPE_EFT);
    struct type_filter f = {.types = eft ? 0x1f : TYPES_PLAIN};

    f.ctrl = (unsigned)(pmsfcr >> PMSFCR_TYPE) & f.types;
    f.mask = eft ? (unsigned)(pmsfcr >> PMSFCR_TYPEM) & f.types : 0;
    return f;
}

/* RNYZKJ: any of the unmasked types, if one is named, and exactly the masked ones. */
static bool type_matches(const struct type_filter *f, unsigned types)
{
    unsigned any = f->ctrl & ~f->mask;

    return (any == 0 || (types & any)) && (types & f->mask) == (f->ctrl & f->mask);
}

static bool type_rejects(const struct spe_spu *spu, unsigned types)
{
    struct type_filter f = type_filter(spu);

    if (!enabled(spu, PMSFCR_FT))
        return false;
    if (f.ctrl == 0 && !spu_has(spu, SPE_FEAT_SPE_EFT)) /* CONSTRAINED UNPREDICTABLE */
        return spu->config.zero_type_filter == SPE_ZERO_FILTER_NONE_RECORDED;
    return !type_matches(&f, types);
}

unsigned spu_filter_directions(const struct spe_spu *spu)
{
    bool load = !type_rejects(spu, SPU_TYPE_LD);
    bool store = !type_rejects(spu, SPU_TYPE_ST);

    if (load == store)
        return SPU_TYPE_LD | SPU_TYPE_ST;
    return load ? SPU_TYPE_LD : SPU_TYPE_ST;
}

/* ---- Events (D17.5.2) ----------------------------------------------------------------------- */

static uint64_t events_wanted(const struct spe_spu *spu)
{
    return spu->reg[SPE_REG_PMSEVFR_EL1] & spu->filterable_events;
}

static uint64_t events_unwanted(const struct spe_spu *spu)
{
    if (!spu_has(spu, SPE_FEAT_SPE_FnE))
        return 0;
    return spu->reg[SPE_REG_PMSNEVFR_EL1] & spu->filterable_events;
}

static bool has_events(const struct spe_spu *spu, uint64_t events)
{
    return !(events_wanted(spu) & ~events);
}

static bool lacks_events(const struct spe_spu *spu, uint64_t events)
{
    return !(events_unwanted(spu) & events);
}

static bool events_reject(const struct spe_spu *spu, uint64_t events)
{
    if (events_wanted(spu) == 0) /* CONSTRAINED UNPREDICTABLE */
        return spu->config.zero_event_filter == SPE_ZERO_FILTER_NONE_RECORDED;
    return !has_events(spu, events);
}

static bool inverted_rejects(const struct spe_spu *spu, uint64_t events)
{
    if (events_unwanted(spu) == 0) /* CONSTRAINED UNPREDICTABLE */
        return spu->config.zero_inverted_filter == SPE_ZERO_FILTER_NONE_RECORDED;
    return !lacks_events(spu, events);
}

static unsigned reject_by_events(const struct spe_spu *spu, uint64_t events)
{
    bool fe = enabled(spu, PMSFCR_FE);
    bool fne = spu_has(spu, SPE_FEAT_SPE_FnE) && enabled(spu, PMSFCR_FNE);
    unsigned both = 1u << SPE_SAMPLE_FILTER_EVENTS | 1u << SPE_SAMPLE_FILTER_INVERTED;
    unsigned rejected = 0;

    if (fe && fne && (events_wanted(spu) & events_unwanted(spu))) /* CONSTRAINED UNPREDICTABLE */
        return spu->config.common_event_filter == SPE_ZERO_FILTER_NONE_RECORDED ? both : 0;
    if (fe && events_reject(spu, events))
        rejected |= 1u << SPE_SAMPLE_FILTER_EVENTS;
    if (fne && inverted_rejects(spu, events))
        rejected |= 1u << SPE_SAMPLE_FILTER_INVERTED;
    return rejected;
}

/* ---- Latency and data source (D17.5.3, D17.5.4) --------------------------------------------- */

static bool long_enough(const struct spe_spu *spu, uint16_t total)
{
    return total >= spu_bits(spu->reg[SPE_REG_PMSLATFR_EL1], 15, 0);
}

static bool latency_rejects(const struct spe_spu *spu, uint16_t total)
{
    if (!enabled(spu, PMSFCR_FL))
        return false;
    if (spu_bits(spu->reg[SPE_REG_PMSLATFR_EL1], 15, 0) == 0) /* CONSTRAINED UNPREDICTABLE */
        return spu->config.zero_latency_filter == SPE_ZERO_FILTER_NONE_RECORDED;
    return !long_enough(spu, total);
}

static bool source_chosen(const struct spe_spu *spu, uint16_t source)
{
    uint64_t chosen = spu->reg[SPE_REG_PMSDSFR_EL1] & spu->config.filter_sources;

    return spu_bit(chosen, source & 63);
}

/* Only samples with a data source are looked at; a register of zero drops them all. */
static bool source_rejects(const struct spe_spu *spu, const struct spu_sample *sample)
{
    return spu_has(spu, SPE_FEAT_SPE_FDS) && enabled(spu, PMSFCR_FDS) && sample->has_source &&
           !source_chosen(spu, sample->source);
}

/* ---- Entry points --------------------------------------------------------------------------- */

unsigned spu_filter(const struct spe_spu *spu, const struct spu_sample *sample)
{
    unsigned rejected;

    if (!(spu->reg[SPE_REG_PMSFCR_EL1] & PMSFCR_ENABLES))
        return 0;
    rejected = reject_by_events(spu, sample->events);
    if (type_rejects(spu, sample->types))
        rejected |= 1u << SPE_SAMPLE_FILTER_TYPE;
    if (latency_rejects(spu, sample->total))
        rejected |= 1u << SPE_SAMPLE_FILTER_LATENCY;
    if (source_rejects(spu, sample))
        rejected |= 1u << SPE_SAMPLE_FILTER_SOURCE;
    return rejected;
}

/* The feature that brings each event, and the type that it counts, if it is that simple. */
static const struct {
    uint16_t event;
    uint8_t feature;
    uint8_t type;
} type_events[] = {
    {SPE_PMU_SAMPLE_FEED_BR, SPE_FEAT_SPEv1p2, SPU_TYPE_B},
    {SPE_PMU_SAMPLE_FEED_LD, SPE_FEAT_SPEv1p2, SPU_TYPE_LD},
    {SPE_PMU_SAMPLE_FEED_ST, SPE_FEAT_SPEv1p2, SPU_TYPE_ST},
    {SPE_PMU_SAMPLE_FEED_FP, SPE_FEAT_SPE_EFT, SPU_TYPE_FP},
    {SPE_PMU_SAMPLE_FEED_SIMD, SPE_FEAT_SPE_EFT, SPU_TYPE_SIMD},
};

static void feed_matches(struct spe_spu *spu, const struct spu_sample *sample)
{
    struct type_filter f = type_filter(spu);

    if ((f.ctrl | f.mask) && type_matches(&f, sample->types))
        spu_pmu(spu, SPE_PMU_SAMPLE_FEED_OP, 1);
    if (has_events(spu, sample->events) && lacks_events(spu, sample->events))
        spu_pmu(spu, SPE_PMU_SAMPLE_FEED_EVENT, 1);
    if (long_enough(spu, sample->total))
        spu_pmu(spu, SPE_PMU_SAMPLE_FEED_LAT, 1);
}

void spu_filter_feed(struct spe_spu *spu, const struct spu_sample *sample)
{
    if (!spu->host.pmu_event)
        return;
    spu_pmu(spu, SPE_PMU_SAMPLE_FEED, 1);
    for (size_t i = 0; i < sizeof(type_events) / sizeof(type_events[0]); i++)
        if (spu_has(spu, (enum spe_feature)type_events[i].feature) &&
            (sample->types & type_events[i].type))
            spu_pmu(spu, type_events[i].event, 1);
    if (spu_has(spu, SPE_FEAT_SPEv1p2))
        feed_matches(spu, sample);
    if (spu_has(spu, SPE_FEAT_SPE_FDS) && sample->has_source && source_chosen(spu, sample->source))
        spu_pmu(spu, SPE_PMU_SAMPLE_FEED_DS, 1);
}
