/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A configuration: its defaults, what its features settle, what follows from it, and the
 * combinations that no implementation may have.
 */
#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Defaults and what features settle ------------------------------------------------------ */

void spu_options_default(struct spe_spu_config *config)
{
    for (size_t i = 0; i < spu_option_count; i++)
        if (spu_options[i].kind < KIND_FEATURE)
            spu_option_store(&spu_options[i], config, spu_options[i].initial);
    spu_store_events_fill(config, SPE_STORE_RECORDED);
    config->data_source_map_count = 0;
    memset(config->data_source_map, 0, sizeof(config->data_source_map));
}

static void settle_sampling(struct spe_spu_config *c)
{
    bool ernd = spe_has(c->features, SPE_FEAT_SPE_ERnd);

    c->random_when = ernd ? SPE_RANDOM_AFTER_ZERO : SPE_RANDOM_BEFORE_COUNTDOWN;
    if (ernd)
        c->reload_point = SPE_RELOAD_BEFORE_RANDOM;
    else
        c->ecount_select = SPE_ECOUNT_ON_REACH;
    if (spe_has(c->features, SPE_FEAT_SPE_ArchInst)) {
        c->simd_split_bits = 0;
        c->sve128_as = 0;
    }
}

static void settle_events(struct spe_spu_config *c)
{
    if (!spe_has(c->features, SPE_FEAT_SPEv1p1))
        c->ev_align = 0;
    if (!spe_has(c->features, SPE_FEAT_SPEv1p4))
        c->ev_l2 = c->ev_modified = c->ev_recent = c->ev_snoop = 0;
    else
        c->impdef_events &= ~UINT64_C(0xff000000);
    if (spe_has(c->features, SPE_FEAT_SPE_SME))
        c->impdef_events &= ~UINT64_C(0x3000000);
    if (c->events_size && spu_config_events(c) >> (c->events_size * 8 - 1) > 1)
        c->events_size = 0;
}

static void settle_types(struct spe_spu_config *c)
{
    if (!spe_has(c->features, SPE_FEAT_SPEv1p1)) {
        c->pre_v1p3_tag_mops_as = SPE_AS_GENERAL;
        c->tag_data_store_as = SPE_AS_GENERAL;
        c->sme_ldst_as = SPE_SME_LDST_SVE_SME;
        c->dc_zva_as = SPE_ZVA_CACHE_MAINTENANCE;
    }
    if (!spe_has(c->features, SPE_FEAT_SPE_LDS))
        c->data_source = SPE_SOURCE_NONE;
    else if (c->data_source == SPE_SOURCE_NONE)
        c->data_source = SPE_SOURCE_8BIT;
    if (c->async_counter_clock == SPE_ASYNC_SMCU_ALT &&
        (!spe_has(c->features, SPE_FEAT_SPE_SME) || !spe_has(c->features, SPE_FEAT_SPE_ALTCLK)))
        c->async_counter_clock = SPE_ASYNC_CPU;
}

static void settle_buffer(struct spe_spu_config *c)
{
    if (spe_has(c->features, SPE_FEAT_SPEv1p3)) {
        c->spu_hw_af_dirty = 1;
        c->ea_described = 1;
        if (c->write_abort == SPE_ABORT_REPORT)
            c->write_abort = SPE_ABORT_SERROR;
        if (c->walk_abort == SPE_ABORT_REPORT)
            c->walk_abort = SPE_ABORT_MMU_FAULT;
    }
    if (!c->spu_hw_af_dirty)
        c->speculative_dirty = 0;
    if (!spe_has(c->features, SPE_FEAT_SPEv1p5))
        c->fault_late_samples = 0;
    if (spe_has(c->features, SPE_FEAT_NV))
        c->pmscr_el1_ee_reserved = SPE_EE_TABLE;
}

void spu_options_settle(struct spe_spu_config *config)
{
    settle_sampling(config);
    settle_events(config);
    settle_types(config);
    settle_buffer(config);
}

void spu_config_features(struct spe_spu_config *config, spe_features features)
{
    config->features = spe_features_close(features);
    spu_options_settle(config);
}

/* ---- What follows from a configuration ------------------------------------------------------ */

uint64_t spu_config_events(const struct spe_spu_config *c)
{
    uint64_t events = 0x7f | c->impdef_events;
    spe_features f = c->features;

    if (c->branch_prediction)
        events |= SPE_EVENT_BIT(MISPREDICTED);
    if (c->ev_llc)
        events |= SPE_EVENT_BIT(LLC_ACCESS) | SPE_EVENT_BIT(LLC_MISS);
    if (c->ev_remote)
        events |= SPE_EVENT_BIT(REMOTE);
    if (c->ev_align && spe_has(f, SPE_FEAT_SPEv1p1))
        events |= SPE_EVENT_BIT(MISALIGNED);
    if (spe_has(f, SPE_FEAT_SPEv1p1) && (spe_has(f, SPE_FEAT_SVE) || spe_has(f, SPE_FEAT_SME)))
        events |= SPE_EVENT_BIT(PARTIAL_PREDICATE) | SPE_EVENT_BIT(EMPTY_PREDICATE);
    if (spe_has(f, SPE_FEAT_SPEv1p4)) { /* X05: not FEAT_SPEv1p2 */
        events |= c->ev_l2 ? SPE_EVENT_BIT(L2D_ACCESS) | SPE_EVENT_BIT(L2D_MISS) : 0;
        events |= c->ev_modified ? SPE_EVENT_BIT(MODIFIED) : 0;
        events |= c->ev_recent ? SPE_EVENT_BIT(RECENTLY_FETCHED) : 0;
        events |= c->ev_snoop ? SPE_EVENT_BIT(SNOOPED) : 0;
    }
    if (spe_has(f, SPE_FEAT_SPE_SME)) {
        events |= SPE_EVENT_BIT(STREAMING);
        events |= c->ev_smcu ? SPE_EVENT_BIT(SMCU) : 0;
    }
    return events;
}

uint64_t spu_config_filterable(const struct spe_spu_config *c)
{
    uint64_t implemented = spu_config_events(c) | SPE_EVENT_BIT(MISPREDICTED);
    uint64_t may = SPE_EVENT_BIT(L1D_MISS) | SPE_EVENT_BIT(TLB_WALK) | SPE_EVENT_BIT(MISPREDICTED);

    if (c->spec_sampling)
        may |= SPE_EVENT_BIT(RETIRED);
    if (spe_has(c->features, SPE_FEAT_SPE_FnE))
        may |= SPE_EVENT_BIT(NOT_TAKEN);
    may |= SPE_EVENT_BIT(MISALIGNED) | SPE_EVENT_BIT(PARTIAL_PREDICATE) |
           SPE_EVENT_BIT(EMPTY_PREDICATE);
    may |= UINT64_C(0x3f80000); /* 19 to 25 exist only where they can be filtered on */
    may |= spe_has(c->features, SPE_FEAT_SPEv1p4) ? UINT64_C(0x714) : 0;
    /* The rest is the implementation's choice, except that bits above cannot be taken away. */
    may &= ~(c->impdef_events & ~c->filter_events);
    may |= c->filter_events & EVENTS_OPTIONAL;
    return implemented & may;
}

void spu_config_layout(const struct spe_spu_config *config, struct spe_layout *layout)
{
    *layout = *config->layout;
    layout->max_size = (uint16_t)config->max_size;
    layout->align = (uint16_t)config->min_align_bytes;
    layout->count_bits = config->count_size;
    layout->events_size = config->events_size;
    layout->source_size = config->data_source == SPE_SOURCE_16BIT ? 2 : 1;
    if (layout->min_size > layout->max_size)
        layout->min_size = layout->max_size;
}

/* ---- Combinations --------------------------------------------------------------------------- */

int spu_refuse(char *why, size_t why_size, const char *format, ...)
{
    va_list args;

    if (why && why_size) {
        va_start(args, format);
        vsnprintf(why, why_size, format, args);
        va_end(args);
    }
    return SPE_ERR_INVALID;
}

static const char *bad_sampling(const struct spe_spu_config *c)
{
    bool ernd = spe_has(c->features, SPE_FEAT_SPE_ERnd);

    if (ernd && c->reload_point != SPE_RELOAD_BEFORE_RANDOM)
        return "option reload_point must be before_random with FEAT_SPE_ERnd";
    if (ernd != (c->random_when == SPE_RANDOM_AFTER_ZERO))
        return "option random_when must be after_zero with FEAT_SPE_ERnd and before_countdown "
               "without it";
    if (!ernd && c->ecount_select != SPE_ECOUNT_ON_REACH)
        return "option ecount_select next needs FEAT_SPE_ERnd";
    return NULL;
}

static const char *bad_events(const struct spe_spu_config *c)
{
    spe_features f = c->features;

    if (c->ev_align && !spe_has(f, SPE_FEAT_SPEv1p1))
        return "option ev_align needs FEAT_SPEv1p1";
    if ((c->ev_l2 || c->ev_modified || c->ev_recent || c->ev_snoop) &&
        !spe_has(f, SPE_FEAT_SPEv1p4))
        return "options ev_l2, ev_modified, ev_recent and ev_snoop need FEAT_SPEv1p4";
    if ((c->impdef_events & 0xff000000) && spe_has(f, SPE_FEAT_SPEv1p4))
        return "option impdef_events cannot have events 24 to 31 with FEAT_SPEv1p4";
    if ((c->impdef_events & 0x3000000) && spe_has(f, SPE_FEAT_SPE_SME))
        return "option impdef_events cannot have events 24 and 25 with FEAT_SPE_SME";
    if (c->events_size && c->events_size < 8 && spu_config_events(c) >> (c->events_size * 8))
        return "option events_size is too small for the events that are implemented";
    if (c->fixed_counter_value > spe_counter_max(c->count_size))
        return "option fixed_counter_value does not fit count_size";
    return NULL;
}

static const char *bad_types(const struct spe_spu_config *c)
{
    spe_features f = c->features;
    bool v1p1 = spe_has(f, SPE_FEAT_SPEv1p1);

    if (spe_has(f, SPE_FEAT_SPE_LDS) != (c->data_source != SPE_SOURCE_NONE))
        return "option data_source must be none without FEAT_SPE_LDS, and only then";
    if (!v1p1 && c->pre_v1p3_tag_mops_as == SPE_AS_UNSPECIFIED)
        return "option pre_v1p3_tag_mops_as unspecified needs FEAT_SPEv1p1";
    if (!v1p1 && c->tag_data_store_as == SPE_AS_UNSPECIFIED)
        return "option tag_data_store_as unspecified needs FEAT_SPEv1p1";
    if (!v1p1 && c->dc_zva_as == SPE_ZVA_STORE)
        return "option dc_zva_as store is a store of unspecified registers: it needs FEAT_SPEv1p1";
    if (!v1p1 && c->sme_ldst_as == SPE_SME_LDST_UNSPECIFIED)
        return "option sme_ldst_as unspecified needs FEAT_SPEv1p1";
    if (spe_has(f, SPE_FEAT_SPE_ArchInst) && c->simd_split_bits)
        return "option simd_split_bits needs sample_unit micro_op";
    if (spe_has(f, SPE_FEAT_SPE_ArchInst) && c->sve128_as)
        return "option sve128_as advsimd needs sample_unit micro_op";
    return NULL;
}

static const char *bad_clock(const struct spe_spu_config *c)
{
    if (c->async_counter_clock == SPE_ASYNC_SMCU_ALT) {
        if (!spe_has(c->features, SPE_FEAT_SPE_SME))
            return "option async_counter_clock smcu_alt needs FEAT_SPE_SME";
        if (!spe_has(c->features, SPE_FEAT_SPE_ALTCLK) || c->altclk != SPE_ALTCLK_SMCU)
            return "option async_counter_clock smcu_alt needs FEAT_SPE_ALTCLK and altclk smcu";
    }
    if (c->async_counter_clock == SPE_ASYNC_IMPDEF &&
        (c->impdef_counters >> c->async_counter_index & 1))
        return "option async_counter_clock impdef needs an async_counter_index that is not one of "
               "impdef_counters";
    return NULL;
}

/* D18.2-093: without speculative sampling E[1] reads as one, so nothing may need a zero there. */
static const char *bad_speculation(const struct spe_spu_config *c)
{
    if (c->capture_misspec && !c->pop_misspec)
        return "option capture_misspec needs pop_misspec";
    if (c->capture_nonarch && !c->pop_nonarch)
        return "option capture_nonarch needs pop_nonarch";
    if (c->capture_nonarch_exc && !c->pop_nonarch_exc)
        return "option capture_nonarch_exc needs pop_nonarch_exc";
    if (c->spec_sampling)
        return NULL;
    if (c->capture_misspec || c->capture_nonarch)
        return "options capture_misspec and capture_nonarch need spec_sampling";
    if (c->capture_nonarch_exc && c->nonarch_exc_record == SPE_NONARCH_NOT_EXECUTED)
        return "option capture_nonarch_exc with nonarch_exc_record not_executed needs "
               "spec_sampling";
    return NULL;
}

static const char *bad_buffer(const struct spe_spu_config *c)
{
    spe_features f = c->features;

    if (spe_has(f, SPE_FEAT_SPEv1p3)) {
        if (c->write_abort == SPE_ABORT_REPORT || c->walk_abort == SPE_ABORT_REPORT)
            return "options write_abort and walk_abort cannot be report with FEAT_SPEv1p3";
        if (!c->spu_hw_af_dirty)
            return "option spu_hw_af_dirty must be 1 with FEAT_SPEv1p3";
        if (!c->ea_described)
            return "option ea_described must be 1 with FEAT_SPEv1p3";
    }
    if (c->speculative_dirty && !c->spu_hw_af_dirty)
        return "option speculative_dirty needs spu_hw_af_dirty";
    if (c->fault_late_samples && !spe_has(f, SPE_FEAT_SPEv1p5))
        return "option fault_late_samples needs FEAT_SPEv1p5";
    if (c->pmscr_el1_ee_reserved == SPE_EE_LITERAL && spe_has(f, SPE_FEAT_NV))
        return "option pmscr_el1_ee_reserved cannot be literal with FEAT_NV, which gives the "
               "values a meaning";
    if (c->min_align_bytes > c->max_size)
        return "option min_align_bytes is larger than max_size";
    return NULL;
}

/* The largest records that can come: a load, and a branch that may have a GCS access too. */
static void largest_record(const struct spe_spu_config *c, bool branch, struct spe_record *r)
{
    spe_features f = c->features;
    bool pbt = spe_has(f, SPE_FEAT_SPE_PBT);
    bool data = !branch || (spe_has(f, SPE_FEAT_GCS) && spe_has(f, SPE_FEAT_SPEv1p4));

    memset(r, 0, sizeof(*r));
    r->has = SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_CONTEXT1 | SPE_HAS_TIMESTAMP;
    r->has |= spe_has(f, SPE_FEAT_EL2) ? SPE_HAS_CONTEXT2 : 0;
    r->op_class = branch ? SPE_CLASS_BRANCH : SPE_CLASS_LDST;
    r->events = spu_config_events(c);
    r->events_size = (uint8_t)spe_events_size(r->events);
    r->addresses = 1u << SPE_ADDRESS_PC | c->impdef_addresses;
    r->counters = 1u << SPE_COUNTER_TOTAL | 1u << SPE_COUNTER_ISSUE | c->impdef_counters;
    if (branch)
        r->addresses |= 1u << SPE_ADDRESS_TARGET;
    if (pbt && (branch || c->pbt_non_branch))
        r->addresses |= 1u << SPE_ADDRESS_PREVIOUS_TARGET;
    if (data) {
        r->addresses |= 1u << SPE_ADDRESS_VA | 1u << SPE_ADDRESS_PA;
        r->counters |= 1u << SPE_COUNTER_TRANSLATION;
    }
    if (data && c->data_source != SPE_SOURCE_NONE) {
        r->has |= SPE_HAS_SOURCE;
        r->source_size = c->data_source == SPE_SOURCE_16BIT ? 2 : 1;
    }
    /* Another clock's counter stands in for INDEX 1, and may have a larger header. */
    if (c->async_counter_clock == SPE_ASYNC_IMPDEF)
        r->counters = (r->counters & ~(1u << SPE_COUNTER_ISSUE)) | 1u << c->async_counter_index;
}

static int check_layout(const struct spe_spu_config *config, char *why, size_t why_size)
{
    struct spe_layout layout;
    struct spe_record record;
    uint8_t bytes[SPE_RECORD_MAX];
    int error;

    if (!config->layout)
        return spu_refuse(why, why_size, "option layout is missing");
    spu_config_layout(config, &layout);
    error = spe_layout_validate(&layout, why, why_size);
    for (int branch = 0; !error && branch < 2; branch++) {
        largest_record(config, branch, &record);
        error = spe_record_encode(&record, &layout, bytes, sizeof(bytes));
        if (error >= 0)
            error = SPE_OK;
        else if (error == SPE_ERR_SIZE)
            spu_refuse(why, why_size, "option max_size %u is too small for the largest %s record",
                       config->max_size, branch ? "branch" : "load");
        else
            spu_refuse(why, why_size, "option layout %s cannot hold the largest %s record: %s",
                       layout.name, branch ? "branch" : "load", spe_strerror(error));
    }
    return error ? SPE_ERR_INVALID : SPE_OK;
}

static int check_single(const struct spe_spu_config *config, char *why, size_t why_size)
{
    for (size_t i = 0; i < spu_option_count; i++) {
        const struct spu_option *o = &spu_options[i];

        if (o->kind < KIND_FEATURE && !spu_option_permits(o, spu_option_load(o, config)))
            return spu_refuse(why, why_size, "option %s cannot be %llu; it takes %s",
                              o->option.name, (unsigned long long)spu_option_load(o, config),
                              o->option.values);
    }
    for (unsigned i = 0; i < 32; i++)
        if (config->store_cache_events[i] > (SPU_STORE_EVENTS >> i & 1 ? SPE_STORE_VARYING : 0))
            return spu_refuse(why, why_size, "option store_cache_events cannot be %u for event %u",
                              config->store_cache_events[i], i);
    if (config->data_source_map_count > SPE_SOURCE_MAP_MAX)
        return spu_refuse(why, why_size, "option data_source_map has more than %d entries",
                          SPE_SOURCE_MAP_MAX);
    for (unsigned i = 0; i < config->data_source_map_count; i++)
        if (config->data_source != SPE_SOURCE_16BIT && config->data_source_map[i] > 0xff)
            return spu_refuse(why, why_size,
                              "option data_source_map has 0x%x, which needs data_source 16bit",
                              config->data_source_map[i]);
    return SPE_OK;
}

typedef const char *combination_fn(const struct spe_spu_config *);

int spu_config_validate(const struct spe_spu_config *config, char *why, size_t why_size)
{
    static combination_fn *const combinations[] = {
        bad_sampling, bad_events, bad_types, bad_clock, bad_speculation, bad_buffer,
    };
    int error;

    if (!spe_has(config->features, SPE_FEAT_SPE))
        return spu_refuse(why, why_size, "the features lack FEAT_SPE");
    error = spe_features_validate(config->features, why, why_size);
    if (!error)
        error = check_single(config, why, why_size);
    for (size_t i = 0; !error && i < sizeof(combinations) / sizeof(combinations[0]); i++) {
        const char *sentence = combinations[i](config);

        if (sentence)
            error = spu_refuse(why, why_size, "%s", sentence);
    }
    return error ? error : check_layout(config, why, why_size);
}
