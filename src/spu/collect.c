/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.6: what a record holds. The host describes a finished operation; the unit decides, by its
 * features, options and the controls that held when the operation was selected, what of it may be
 * told, and fills the record.
 */
#include "collect.h"

/* What the record tells of an operation's accesses, by its kind. */
enum access_rule {
    ACCESS_NONE,
    ACCESS_DATA,     /* a load, store or atomic: everything (D17.6.4) */
    ACCESS_BRANCH,   /* a data access only if it uses the Guarded Control Stack (D17.6.3) */
    ACCESS_CMO,      /* as cmo_info says (D17.6.8) */
    ACCESS_PREFETCH, /* as sve_prefetch_info says (RBHKSC) */
};

static const uint8_t access_rules[SPE_OPERATION_KIND_COUNT] = {
    [SPE_OPERATION_LOAD] = ACCESS_DATA,   [SPE_OPERATION_STORE] = ACCESS_DATA,
    [SPE_OPERATION_ATOMIC] = ACCESS_DATA, [SPE_OPERATION_MEMCPY] = ACCESS_DATA,
    [SPE_OPERATION_MEMSET] = ACCESS_DATA, [SPE_OPERATION_GCS] = ACCESS_DATA,
    [SPE_OPERATION_DC_ZVA] = ACCESS_DATA, [SPE_OPERATION_BRANCH] = ACCESS_BRANCH,
    [SPE_OPERATION_CMO] = ACCESS_CMO,     [SPE_OPERATION_PREFETCH] = ACCESS_CMO,
    [SPE_OPERATION_AT] = ACCESS_CMO,      [SPE_OPERATION_SVE_PREFETCH] = ACCESS_PREFETCH,
};

/* ---- When an operation is selected ---------------------------------------------------------- */

static uint64_t physical_count(const struct spe_spu *spu)
{
    return spu->host.physical_count ? spu->host.physical_count(spu->host.user) : 0;
}

/* A counter that is disabled, not one that is merely out of reach of this EL (D17.6-004). */
static void begin_time(const struct spe_spu *spu, struct spu_flight *flight)
{
    bool stands = !spu->pe.counter_enabled;

    flight->timestamp = spu->status.timestamp;
    if (stands && spu->config.ts_counter_disabled == SPE_TS_AS_DISABLED)
        flight->timestamp = SPE_TIMESTAMP_NONE;
    flight->time_unknown = stands;
    flight->time_offset = spu->status.time_offset;
    flight->start_count = flight->timestamp == SPE_TIMESTAMP_NONE ? 0 : physical_count(spu);
}

/* Conditions hold as of now, whatever changes until the record is written (D17.6-169). */
void spu_flight_begin(struct spe_spu *spu, struct spu_flight *flight)
{
    const struct spe_spu_status *status = &spu->status;

    flight->el = spu->pe.el;
    flight->security = status->security;
    flight->context1 = status->context1;
    flight->context2 = status->context2;
    flight->contextidr_el1 = spu->pe.contextidr_el1;
    flight->contextidr_el2 = spu->pe.contextidr_el2;
    flight->physical_address = status->physical_address;
    flight->nv2_address = status->enabled_at[2];
    flight->last = spu->last;
    begin_time(spu, flight);
}

/* A branch while profiling is disabled hides the one before it (D17.6-047). */
void spe_spu_branch(struct spe_spu *spu, const struct spe_taken_branch *branch)
{
    spu->last.branch = *branch;
    spu->last.valid = spu->status.enabled;
    spu->last.since_cse = true;
}

/* ---- Descriptions that contradict themselves ------------------------------------------------ */

static bool bad_access(const struct spe_memory_access *a)
{
    return (a->granule & (a->granule - 1)) || a->pat > 15 || a->pas > SPE_REALM ||
           a->translated_at < a->wait_start;
}

static bool bad_extra(const struct spe_extra *e)
{
    if (e->type != SPE_PACKET_ADDRESS && e->type != SPE_PACKET_COUNTER)
        return true;
    return e->index >= SPE_INDEX_COUNT || !(SPU_INDEXES_IMPDEF >> e->index & 1);
}

static bool bad_lists(const struct spe_operation *op)
{
    if ((op->access_count && !op->accesses) || (op->extra_count && !op->extras))
        return true;
    for (uint32_t i = 0; i < op->access_count; i++)
        if (bad_access(&op->accesses[i]))
            return true;
    for (uint32_t i = 0; i < op->extra_count; i++)
        if (bad_extra(&op->extras[i]))
            return true;
    return false;
}

static bool bad_flags(const struct spe_operation *op)
{
    bool mops = op->kind == SPE_OPERATION_MEMCPY || op->kind == SPE_OPERATION_MEMSET;

    return (op->misspeculated && op->exception) || (op->taken && op->condition_failed) ||
           (op->link && op->procedure_return) || (op->exclusive_failed && !op->exclusive) ||
           (op->unfinished_mops && (!mops || op->misspeculated)) ||
           (op->gcs_access && op->access_count == 0);
}

static bool bad_numbers(const struct spe_operation *op)
{
    return op->kind >= SPE_OPERATION_KIND_COUNT || op->registers >= SPE_REGISTERS_COUNT ||
           op->cond_op > 8 || op->target_el > 3 || op->spsr_el > 3 ||
           op->target_security > SPE_REALM || op->spsr_security > SPE_REALM;
}

/* ---- What it is treated as ------------------------------------------------------------------ */

static uint8_t treated_as(const struct collector *c)
{
    const struct spe_operation *op = c->op;

    if (op->address_generation) /* Example D17-2 */
        return SPE_OPERATION_OTHER;
    switch (op->kind) {
    case SPE_OPERATION_BRANCH:
    case SPE_OPERATION_ERET: /* not a branch if it generates an exception (D17.6.3) */
        return op->exception ? SPE_OPERATION_OTHER : SPE_OPERATION_BRANCH;
    case SPE_OPERATION_ISB:
        return c->config->isb_is_branch && !op->exception ? SPE_OPERATION_BRANCH
                                                          : SPE_OPERATION_OTHER;
    case SPE_OPERATION_DC_ZVA:
        return c->config->dc_zva_as == SPE_ZVA_STORE ? SPE_OPERATION_DC_ZVA : SPE_OPERATION_CMO;
    default:
        return op->kind;
    }
}

/* D17.6.7, D17.6.10: what of an operation that did not run to its end is told. */
static void judge_execution(struct collector *c)
{
    const struct spe_operation *op = c->op;
    bool not_handled =
        op->nonarch_exception && c->config->nonarch_exc_record == SPE_NONARCH_NOT_EXECUTED;

    c->speculative = op->misspeculated || op->nonarch;
    c->executed = !c->speculative && !not_handled;
    c->info = c->executed && !op->exception && !op->fault_condition ? SPE_INFO_ALL
                                                                    : c->config->incomplete_op_info;
}

static uint8_t judge_accesses(const struct collector *c)
{
    if (c->op->access_count == 0 || c->speculative)
        return SPE_SUBSET_NONE;
    switch (access_rules[c->kind]) {
    case ACCESS_DATA:
        return SPE_SUBSET_FULL;
    case ACCESS_BRANCH:
        return c->gcs_branch ? SPE_SUBSET_FULL : SPE_SUBSET_NONE;
    case ACCESS_CMO:
        return c->config->cmo_info;
    case ACCESS_PREFETCH:
        return c->config->sve_prefetch_info;
    default:
        return SPE_SUBSET_NONE;
    }
}

/* ---- The record ----------------------------------------------------------------------------- */

static void put_contexts(struct collector *c)
{
    if (c->info == SPE_INFO_NONE)
        return;
    if (c->flight->context1) {
        c->record->has |= SPE_HAS_CONTEXT1;
        c->record->context[0] = c->flight->contextidr_el1;
    }
    if (c->flight->context2) {
        c->record->has |= SPE_HAS_CONTEXT2;
        c->record->context[1] = c->flight->contextidr_el2;
    }
}

static void put_timestamp(struct collector *c)
{
    const struct spu_flight *flight = c->flight;
    uint64_t now = flight->start_count;

    if (flight->timestamp == SPE_TIMESTAMP_NONE)
        return;
    if (c->config->ts_point != SPE_TS_SAMPLED)
        now = physical_count(c->spu);
    if (c->config->ts_point == SPE_TS_LATER)
        now = flight->start_count + (now - flight->start_count) / 2;
    c->record->has |= SPE_HAS_TIMESTAMP;
    c->record->timestamp =
        flight->time_unknown ? spu_choice_bits(c->spu) : now - flight->time_offset;
}

static bool is_captured(const struct collector *c)
{
    const struct spe_operation *op = c->op;

    return (!op->misspeculated || c->config->capture_misspec) &&
           (!op->nonarch || c->config->capture_nonarch) &&
           (!op->nonarch_exception || c->config->capture_nonarch_exc);
}

static void judge(struct collector *c)
{
    judge_execution(c);
    c->kind = treated_as(c);
    c->gcs_branch = c->kind == SPE_OPERATION_BRANCH && c->op->gcs_access && has_gcs_types(c);
    c->data = access_rules[c->kind] == ACCESS_DATA || c->gcs_branch;
    c->access_info = judge_accesses(c);
    spu_choose_parts(c);
    spu_judge_addresses(c);
}

int spu_collect(struct spe_spu *spu, const struct spu_flight *flight,
                const struct spe_operation *op, struct spu_sample *sample)
{
    struct collector c = {
        .spu = spu,
        .config = &spu->config,
        .flight = flight,
        .op = op,
        .sample = sample,
        .record = &sample->record,
    };

    if (bad_numbers(op) || bad_flags(op) || bad_lists(op))
        return SPE_ERR_INVALID;
    spe_record_clear(&sample->record);
    sample->has_source = false;
    sample->source = 0;
    judge(&c);
    spu_put_events(&c);
    spu_put_type(&c);
    spu_put_counters(&c);
    sample->captured = is_captured(&c);
    put_timestamp(&c);
    put_contexts(&c);
    spu_put_addresses(&c);
    return spu_put_source(&c);
}
