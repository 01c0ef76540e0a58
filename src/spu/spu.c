/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The unit as a whole: its life, the PE state, the end of a sampled operation, statistics. What the
 * rules say is in the other files; here is the order in which they are asked.
 */
#include "base/sized.h"
#include "spu_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Names and plain states ----------------------------------------------------------------- */

const char *spe_sample_fate_name(unsigned fate)
{
    static const char *const names[SPE_FATE_COUNT] = {
        [SPE_FATE_WRITTEN] = "written",
        [SPE_FATE_FILTERED] = "filtered",
        [SPE_FATE_NOT_CAPTURED] = "not_captured",
        [SPE_FATE_DISCARD_MODE] = "discard_mode",
        [SPE_FATE_STOPPED] = "stopped",
        [SPE_FATE_DISABLED] = "disabled",
        [SPE_FATE_FAULT] = "fault",
        [SPE_FATE_ABORT] = "abort",
        [SPE_FATE_NOT_ALLOWED] = "not_allowed",
    };

    return fate < SPE_FATE_COUNT ? names[fate] : "unknown";
}

/* Fine-grained traps of the kind that trap while 0 are held off by ones (nPMSNEVFR_EL1 ...). */
#define HDFGxTR_OPEN (UINT64_C(1) << 62)
#define HDFGxTR2_OPEN (UINT64_C(1) << 19 | UINT64_C(1) << 24)
#define SCR_EL3_OPEN                                                                               \
    (UINT64_C(1) << SCR_NS | UINT64_C(1) << SCR_RW | UINT64_C(1) << SCR_EEL2 |                     \
     UINT64_C(1) << SCR_FGTEN | UINT64_C(1) << SCR_ECVEN | UINT64_C(1) << SCR_FGTEN2)
#define MDCR_EL3_OPEN                                                                              \
    (UINT64_C(3) << MDCR3_NSPB | UINT64_C(1) << MDCR3_ENPMSN | UINT64_C(1) << MDCR3_ENPMS3 |       \
     UINT64_C(1) << MDCR3_ENPMS4)

static void set_plain(struct spe_pe_state *pe)
{
    *pe = (struct spe_pe_state){
        .size = sizeof(*pe),
        .counter_enabled = true,
        .scr_el3 = SCR_EL3_OPEN,
        .mdcr_el3 = MDCR_EL3_OPEN,
        .mdcr_el2 = UINT64_C(3) << MDCR2_E2PB,
        .hdfgrtr_el2 = HDFGxTR_OPEN,
        .hdfgwtr_el2 = HDFGxTR_OPEN,
        .hdfgrtr2_el2 = HDFGxTR2_OPEN,
        .hdfgwtr2_el2 = HDFGxTR2_OPEN,
    };
}

void spe_pe_state_default(struct spe_pe_state *pe)
{
    struct spe_pe_state own;
    size_t size = pe->size;

    set_plain(&own);
    sized_give(pe, size, &own, sizeof(own));
    pe->size = size;
}

/* ---- Life ----------------------------------------------------------------------------------- */

static unsigned excluded_population(const struct spe_spu_config *config)
{
    return (config->pop_misspec ? 0 : SPE_POP_MISSPECULATED) |
           (config->pop_nonarch ? 0 : SPE_POP_NONARCH) |
           (config->pop_nonarch_exc ? 0 : SPE_POP_NONARCH_EXCEPTION);
}

static int check_host(const struct spe_spu_config *config, const struct spe_spu_host *host,
                      char *why, size_t why_size)
{
    if (config->rng_kind == SPE_RNG_USER && !host->random_byte)
        return spu_refuse(why, why_size, "option rng_kind user needs the host's random_byte");
    return SPE_OK;
}

static int create(const struct spe_spu_config *config, const struct spe_spu_host *host,
                  struct spe_spu **spu, char *why, size_t why_size)
{
    struct spe_spu *unit;
    int error = spu_config_validate(config, why, why_size);

    if (!error)
        error = check_host(config, host, why, why_size);
    if (error)
        return error;
    unit = calloc(1, sizeof(*unit) + config->max_inflight_samples * sizeof(unit->flight[0]));
    if (!unit) {
        spu_refuse(why, why_size, "there is no memory for the unit");
        return SPE_ERR_NOMEM;
    }
    unit->config = *config;
    unit->host = *host;
    spu_config_layout(config, &unit->layout);
    unit->implemented_events = spu_config_events(config);
    unit->filterable_events = spu_config_filterable(config);
    unit->excluded_population = excluded_population(config);
    set_plain(&unit->pe);
    spe_spu_reset(unit);
    *spu = unit;
    return SPE_OK;
}

int spe_spu_create(const struct spe_spu_config *config, const struct spe_spu_host *host,
                   struct spe_spu **spu, char *why, size_t why_size)
{
    struct spe_spu_config own_config;
    struct spe_spu_host own_host = {.size = sizeof(own_host)};
    int error = spu_config_take(&own_config, config, why, why_size);

    if (!error && host && !sized_take(&own_host, sizeof(own_host), host, host->size))
        error = spu_refuse(why, why_size, "the host has no size, or is of a later version");
    return error ? error : create(&own_config, &own_host, spu, why, why_size);
}

void spe_spu_destroy(struct spe_spu *spu)
{
    free(spu);
}

static void drop_flights(struct spe_spu *spu)
{
    spu->stats.dropped += spu->in_flight;
    spu->in_flight = 0;
    for (unsigned i = 0; i < spu->config.max_inflight_samples; i++)
        spu->flight[i].busy = false;
}

/* The level that the host was last told of PMBIRQ and the exception stay, so that it is told of
 * their end. */
void spe_spu_reset(struct spe_spu *spu)
{
    drop_flights(spu);
    memset(&spu->last, 0, sizeof(spu->last));
    memset(spu->sync, 0, sizeof(spu->sync));
    spu->round_robin = 0;
    spu->prepared = 0;
    spu->late.left = 0;
    spu->impdef_enabled = false; /* D17.8.6: off unless switched on */
    spu_sampling_reset(spu);
    spu_registers_reset(spu);
    spu_state_update(spu);
}

int spe_spu_set_pe(struct spe_spu *spu, const struct spe_pe_state *pe)
{
    struct spe_pe_state own;

    set_plain(&own);
    if (!sized_take(&own, sizeof(own), pe, pe->size))
        return SPE_ERR_INVALID;
    own.size = sizeof(own);
    own.el &= 3;
    spu->pe = own;
    spu_state_update(spu);
    return SPE_OK;
}

void spe_spu_pe_sized(const struct spe_spu *spu, struct spe_pe_state *pe, size_t size)
{
    sized_give(pe, size, &spu->pe, sizeof(spu->pe));
    pe->size = size;
}

void spe_spu_config_sized(const struct spe_spu *spu, struct spe_spu_config *config, size_t size)
{
    sized_give(config, size, &spu->config, sizeof(spu->config));
    config->size = size;
}

void spe_spu_stats_sized(const struct spe_spu *spu, struct spe_spu_stats *stats, size_t size)
{
    sized_give(stats, size, &spu->stats, sizeof(spu->stats));
}

unsigned spe_spu_in_flight(const struct spe_spu *spu)
{
    return spu->in_flight;
}

/* ---- The end of a sampled operation (SPECompleteSample) ------------------------------------- */

static void count_rejections(struct spe_spu *spu, unsigned rejected)
{
    for (unsigned f = 0; f < SPE_SAMPLE_FILTER_COUNT; f++)
        spu->stats.filtered_by[f] += rejected >> f & 1;
}

/*
 * The PMU events belong to the end of the operation, so they come whatever happens to the record
 * (IVJVKZ, D17.8-014): FEED before the filters, FILTRATE after them, also if Discard mode or a
 * management event then loses it.
 */
static enum spe_sample_fate finish(struct spe_spu *spu, const struct spu_sample *sample)
{
    unsigned rejected;

    spu_filter_feed(spu, sample);
    if (!sample->captured)
        return SPE_FATE_NOT_CAPTURED;
    rejected = spu_filter(spu, sample);
    if (rejected) {
        count_rejections(spu, rejected);
        return SPE_FATE_FILTERED;
    }
    spu_pmu(spu, SPE_PMU_SAMPLE_FILTRATE, 1);
    return spu_buffer_write(spu, &sample->record);
}

static int collect(struct spe_spu *spu, struct spu_flight *flight, const struct spe_operation *op)
{
    enum spe_sample_fate fate;

    flight->busy = false;
    spu->in_flight--;
    if (!op || spu_collect(spu, flight, op, &spu->scratch) < 0) {
        spu->stats.dropped++;
        return SPE_ERR_INVALID;
    }
    fate = finish(spu, &spu->scratch);
    spu->stats.fate[fate]++;
    return (int)fate;
}

/* A description that this library cannot take whole is a bad one. */
static int complete_sized(struct spe_spu *spu, struct spu_flight *flight,
                          const struct spe_operation *op)
{
    struct spe_operation own = {0};

    return collect(spu, flight, sized_take(&own, sizeof(own), op, op->size) ? &own : NULL);
}

static int complete(struct spe_spu *spu, struct spu_flight *flight, const struct spe_operation *op)
{
    if (op->size == sizeof(*op))
        return collect(spu, flight, op);
    return complete_sized(spu, flight, op);
}

int spe_spu_complete(struct spe_spu *spu, unsigned number, const struct spe_operation *op)
{
    if (number == 0 || number > spu->config.max_inflight_samples || !spu->flight[number - 1].busy)
        return SPE_ERR_INVALID;
    return complete(spu, &spu->flight[number - 1], op);
}

int spe_spu_sample(struct spe_spu *spu, const struct spe_operation *op)
{
    struct spu_flight *oldest = NULL;

    for (unsigned i = 0; i < spu->config.max_inflight_samples; i++) {
        struct spu_flight *flight = &spu->flight[i];

        if (flight->busy && (!oldest || flight->order < oldest->order))
            oldest = flight;
    }
    return oldest ? complete(spu, oldest, op) : SPE_ERR_INVALID;
}
