/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.6: what a record holds. The host describes a finished operation; the unit decides, by its
 * features, options and the controls that held when the operation was selected, what of it may be
 * told, and fills the record.
 */
#include "spu_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define INDEXES_IMPDEF UINT32_C(0xffff00c0) /* 6, 7, 16-31: addresses and counters alike */
#define TAG_GRANULE 16
#define EVL_MAX_BITS 2048

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

/* One sample being collected: where from, where to, and what has been decided so far. */
struct collector {
    struct spe_spu *spu;
    const struct spe_spu_config *config;
    const struct spu_flight *flight;
    const struct spe_operation *op;
    struct spu_sample *sample;
    struct spe_record *record;

    uint8_t kind;        /* enum spe_operation_kind that it is treated as */
    bool executed;       /* Architecturally executed */
    bool speculative;    /* D17.6.7: its operands may hold what it must not see */
    uint8_t info;        /* SPE_INFO_*: how much is told */
    uint8_t access_info; /* SPE_SUBSET_*: how much is told of its accesses */
    bool gcs_branch;     /* a branch that makes a Guarded Control Stack access */
    bool data;           /* it is a load, store or atomic, or such a branch */
    bool writes;         /* the LDST bit: not a memory-reading operation */
    bool one_direction;  /* only accesses in the direction of `writes` are looked at */

    uint32_t parts;                          /* accesses that are looked at */
    const struct spe_memory_access *part;    /* the chosen one; NULL: there is none */
    const struct spe_memory_access *address; /* the one whose addresses are recorded; or NULL */
    bool va, pa;                             /* those packets are output */
};

static bool has(const struct collector *c, enum spe_feature f)
{
    return spe_has(c->config->features, f);
}

static bool has_gcs_types(const struct collector *c)
{
    return has(c, SPE_FEAT_SPEv1p4) && has(c, SPE_FEAT_GCS);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

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

void spe_operation_init(struct spe_operation *op, enum spe_operation_kind kind)
{
    *op = (struct spe_operation){.size = sizeof(*op), .kind = (uint8_t)kind};
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
    return e->index >= SPE_INDEX_COUNT || !(INDEXES_IMPDEF >> e->index & 1);
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
    return op->size != sizeof(*op) || op->kind >= SPE_OPERATION_KIND_COUNT ||
           op->registers >= SPE_REGISTERS_COUNT || op->cond_op > 8 || op->target_el > 3 ||
           op->spsr_el > 3 || op->target_security > SPE_REALM || op->spsr_security > SPE_REALM;
}

/* ---- What it is treated as ------------------------------------------------------------------ */

static bool taken(const struct collector *c)
{
    return c->op->taken || c->op->kind == SPE_OPERATION_ISB || c->op->kind == SPE_OPERATION_ERET;
}

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

/* ---- Direction ------------------------------------------------------------------------------ */

static bool accesses_both_ways(const struct spe_operation *op)
{
    bool reads = false, writes = false;

    for (uint32_t i = 0; i < op->access_count; i++) {
        reads |= !op->accesses[i].store;
        writes |= op->accesses[i].store;
    }
    return reads && writes;
}

/* Memory Copy and GCSSS2 are sampled as the load or as the store that they are, by the type filter
 * or evenly: SPEMultiAccessSample(). */
static bool either_way(const struct collector *c)
{
    switch (spu_filter_directions(c->spu)) {
    case SPU_TYPE_LD:
        return false;
    case SPU_TYPE_ST:
        return true;
    default:
        return spu_choose(c->spu, 2);
    }
}

static void judge_direction(struct collector *c)
{
    const struct spe_operation *op = c->op;

    c->one_direction = false;
    switch (c->kind) {
    case SPE_OPERATION_STORE:
    case SPE_OPERATION_MEMSET:
    case SPE_OPERATION_DC_ZVA:
        c->writes = true;
        break;
    case SPE_OPERATION_ATOMIC:
        c->writes = !op->returns_value;
        break;
    case SPE_OPERATION_MEMCPY:
        c->one_direction = accesses_both_ways(op);
        c->writes = c->one_direction || !op->access_count ? either_way(c) : op->accesses[0].store;
        break;
    case SPE_OPERATION_GCS:
        c->one_direction = !op->returns_value && accesses_both_ways(op);
        if (c->one_direction)
            c->writes = either_way(c);
        else
            c->writes = !op->returns_value && op->access_count && op->accesses[0].store;
        break;
    case SPE_OPERATION_BRANCH:
        c->writes = c->gcs_branch && op->accesses[0].store;
        break;
    default:
        c->writes = false;
    }
}

/* ---- Parts of an operation with several accesses (D17.6.4) ---------------------------------- */

static bool looked_at(const struct collector *c, const struct spe_memory_access *a, bool active)
{
    return (!c->one_direction || a->store == c->writes) && !(active && a->inactive);
}

static uint32_t count_parts(const struct collector *c, bool active)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->op->access_count; i++)
        n += looked_at(c, &c->op->accesses[i], active);
    return n;
}

static const struct spe_memory_access *nth_part(const struct collector *c, uint32_t n, bool active)
{
    const struct spe_memory_access *a = c->op->accesses;

    while (!looked_at(c, a, active) || n--)
        a++;
    return a;
}

static const struct spe_memory_access *lowest_part(const struct collector *c, bool active)
{
    const struct spe_memory_access *lowest = NULL;

    for (uint32_t i = 0; i < c->op->access_count; i++) {
        const struct spe_memory_access *a = &c->op->accesses[i];

        if (looked_at(c, a, active) && (!lowest || a->va < lowest->va))
            lowest = a;
    }
    return lowest;
}

static bool is_vector_access(const struct collector *c)
{
    return c->kind == SPE_OPERATION_SVE_PREFETCH || c->op->registers == SPE_REGISTERS_SVE ||
           c->op->registers == SPE_REGISTERS_SME;
}

/* Which of n parts; elements of a gather or scatter are always drawn (RMYPFF). */
static uint32_t choose_part(const struct collector *c, uint32_t n)
{
    if (c->config->part_choice == SPE_PART_ROUND_ROBIN && !is_vector_access(c))
        return c->spu->round_robin++ % n;
    return spu_choose(c->spu, n);
}

static const struct spe_memory_access *choose_address(const struct collector *c)
{
    if (!c->op->contiguous)
        return c->part;
    if (is_vector_access(c)) { /* RNHSYR */
        bool active = c->config->sve_contig_va == SPE_CONTIG_LOWEST_ACTIVE && count_parts(c, true);

        return lowest_part(c, active);
    }
    if (c->config->multi_access == SPE_MULTI_PART &&
        c->config->part_contig_va == SPE_PART_VA_CHOSEN)
        return c->part;
    return lowest_part(c, false);
}

static void choose_parts(struct collector *c)
{
    bool active = c->op->contiguous && count_parts(c, true);

    c->parts = c->access_info == SPE_SUBSET_NONE ? 0 : count_parts(c, active);
    if (c->parts == 0)
        return;
    c->part = nth_part(c, c->parts == 1 ? 0 : choose_part(c, c->parts), active);
    c->address = c->op->access_count == 1 ? c->part : choose_address(c);
}

/* Do events and total latency belong to the whole operation, not to the chosen part? */
static bool describes_whole(const struct collector *c)
{
    return c->op->access_count == 1 || c->config->multi_access == SPE_MULTI_ALL ||
           c->config->part_events == SPE_PART_EVENTS_WHOLE;
}

static bool performed(const struct spe_memory_access *a)
{
    return !a->unperformed && !a->inactive;
}

static bool translated(const struct spe_memory_access *a)
{
    return !a->untranslated && !a->inactive;
}

/* ---- Addresses (D17.6.4, D18.2.1) ----------------------------------------------------------- */

static void put_address(struct collector *c, unsigned index, uint64_t payload)
{
    c->record->addresses |= 1u << index;
    c->record->address[index] = payload;
}

static void put_instruction_address(struct collector *c, unsigned index, uint64_t va, unsigned el,
                                    unsigned security)
{
    struct spe_address a = {.address = va & (UINT64_MAX >> 8), .el = (uint8_t)el};

    a.ns = security & 1;
    a.nse = has(c, SPE_FEAT_RME) ? (uint8_t)(security >> 1) : 0;
    put_address(c, index, spe_address_encode(index, &a));
}

static bool is_nv2_access(const struct collector *c)
{
    return c->op->registers == SPE_REGISTERS_NV2 && has(c, SPE_FEAT_NV2);
}

static bool records_va(const struct collector *c)
{
    if (!c->address || c->info != SPE_INFO_ALL)
        return false;
    if (is_nv2_access(c) && !c->flight->nv2_address) /* D17.6.4.2 */
        return false;
    if (c->address->inactive) /* RMYPFF, RNHSYR */
        return c->op->contiguous && c->config->sve_contig_inactive_va;
    return true;
}

static bool records_pa(const struct collector *c)
{
    const struct spe_operation *op = c->op;

    if (!c->va || !c->flight->physical_address || !translated(c->address))
        return false;
    return !(c->kind == SPE_OPERATION_STORE && op->exclusive_failed && !c->config->stx_fail_pa);
}

static bool is_tag_access(const struct collector *c)
{
    return c->op->registers == SPE_REGISTERS_TAG && access_rules[c->kind] == ACCESS_DATA;
}

/* D17.6.4.1: a Tag access may be one to the location or to all that the tags cover. */
static uint64_t data_va(const struct collector *c)
{
    uint64_t granule = c->address->granule ? c->address->granule : TAG_GRANULE;

    if (is_tag_access(c) && c->config->tag_access_va == SPE_TAG_VA_GRANULE_BASE)
        return c->address->va & ~(granule - 1);
    return c->address->va;
}

static void put_va(struct collector *c)
{
    const struct spe_memory_access *access = c->address;
    uint64_t va = data_va(c);
    struct spe_address a = {.address = va & (UINT64_MAX >> 8)};

    if (access->tbi || access->mte_untagged_addresses || c->config->tbi0_tag == SPE_TBI0_VA_63_56)
        a.tag = (uint8_t)(va >> 56);
    put_address(c, SPE_ADDRESS_VA, spe_address_encode(SPE_ADDRESS_VA, &a));
}

static uint64_t data_pa(const struct collector *c)
{
    const struct spe_memory_access *a = c->address;
    bool base = c->config->tag_access_va == SPE_TAG_VA_GRANULE_BASE ||
                c->config->tag_access_pa == SPE_TAG_PA_FROM_GRANULE_BASE;

    return is_tag_access(c) && base ? a->granule_pa : a->pa;
}

static bool is_checked(const struct collector *c, const struct spe_memory_access *a)
{
    if (!has(c, SPE_FEAT_MTE2) || !a->tag_checked)
        return false;
    if (a->canonical_tag && has(c, SPE_FEAT_MTE_CANONICAL_TAGS))
        return false;
    return !a->tcf_ignored || c->config->ch_when_tcf_ignored;
}

static void put_pa(struct collector *c)
{
    const struct spe_memory_access *access = c->address;
    struct spe_address a = {.address = data_pa(c) & (UINT64_MAX >> 8)};

    a.ns = access->pas & 1;
    a.nse = has(c, SPE_FEAT_RME) ? access->pas >> 1 : 0;
    a.ch = is_checked(c, access);
    if (a.ch || (has(c, SPE_FEAT_MTE2) && c->config->pat_unchecked == SPE_PAT_TAG))
        a.pat = access->pat;
    put_address(c, SPE_ADDRESS_PA, spe_address_encode(SPE_ADDRESS_PA, &a));
}

static void put_target(struct collector *c)
{
    const struct spe_operation *op = c->op;
    uint64_t target = op->kind == SPE_OPERATION_ISB ? op->pc + 4 : op->target;

    if (!taken(c)) { /* software may not make anything of it */
        if (c->config->not_taken_target == SPE_NOT_TAKEN_EMIT_UNKNOWN)
            put_instruction_address(c, SPE_ADDRESS_TARGET, target, c->flight->el,
                                    c->flight->security);
        return;
    }
    if (op->kind == SPE_OPERATION_ISB)
        put_instruction_address(c, SPE_ADDRESS_TARGET, target, c->flight->el, c->flight->security);
    else if (op->illegal_return && c->config->illegal_eret_context == SPE_ERET_SPSR)
        put_instruction_address(c, SPE_ADDRESS_TARGET, target, op->spsr_el, op->spsr_security);
    else
        put_instruction_address(c, SPE_ADDRESS_TARGET, target, op->target_el, op->target_security);
}

/* D17.6.3.1; `last` is what was known when the operation was selected. */
static bool records_previous_target(const struct collector *c)
{
    const struct spu_last_branch *last = &c->flight->last;
    bool branched = c->kind == SPE_OPERATION_BRANCH && taken(c) && c->executed;

    if (!has(c, SPE_FEAT_SPE_PBT) || !last->valid || c->speculative)
        return false;
    return (branched || c->config->pbt_non_branch) &&
           (!last->branch.context_sync || c->config->pbt_after_cse) &&
           (last->since_cse || c->config->pbt_none_since_cse);
}

static void put_addresses(struct collector *c)
{
    const struct spe_taken_branch *previous = &c->flight->last.branch;

    if (c->kind == SPE_OPERATION_BRANCH && !c->speculative)
        put_target(c);
    if (c->va)
        put_va(c);
    if (c->pa)
        put_pa(c);
    if (records_previous_target(c))
        put_instruction_address(c, SPE_ADDRESS_PREVIOUS_TARGET, previous->target, previous->el,
                                previous->security);
}

/* ---- Events (D18.2.6) ----------------------------------------------------------------------- */

/* Facts that are events as they are. Those of `reads` are told of loads only (X16). */
static const struct {
    uint32_t fact;
    uint8_t event;
    bool reads;
} fact_events[] = {
    {SPE_FACT_L1D_ACCESS, SPE_EVENT_L1D_ACCESS, false},
    {SPE_FACT_TLB_ACCESS, SPE_EVENT_TLB_ACCESS, false},
    {SPE_FACT_TLB_WALK, SPE_EVENT_TLB_WALK, false},
    {SPE_FACT_LLC_ACCESS, SPE_EVENT_LLC_ACCESS, false},
    {SPE_FACT_REMOTE, SPE_EVENT_REMOTE, false},
    {SPE_FACT_L2D_ACCESS, SPE_EVENT_L2D_ACCESS, true},
    {SPE_FACT_L2D_MISS, SPE_EVENT_L2D_MISS, true},
    {SPE_FACT_RECENT, SPE_EVENT_RECENTLY_FETCHED, true},
    {SPE_FACT_SNOOPED, SPE_EVENT_SNOOPED, true},
};

/* Caches and other sockets: what a store may finish before (D18.2-072). */
#define STORE_EVENTS UINT64_C(0xf8070c)
/* Those of them with a PMU event that counts reads only (D18.2-083). */
#define RD_EVENTS UINT64_C(0x70c)

static const uint32_t modified_facts[] = {
    [SPE_MODIFIED_CACHE_HIT] = SPE_FACT_MODIFIED_HIT,
    [SPE_MODIFIED_SNOOP_HIT] = SPE_FACT_MODIFIED_SNOOP,
    [SPE_MODIFIED_BOTH] = SPE_FACT_MODIFIED_HIT | SPE_FACT_MODIFIED_SNOOP,
};

/* Atomics read memory, also those that return nothing. */
static bool reads_memory(const struct collector *c, const struct spe_memory_access *a)
{
    return !a->store || c->kind == SPE_OPERATION_ATOMIC ||
           (c->kind == SPE_OPERATION_GCS && c->op->returns_value);
}

static uint64_t facts_to_events(const struct collector *c, uint32_t facts, bool reads)
{
    uint32_t miss = has(c, SPE_FEAT_SPEv1p4) ? SPE_FACT_L1D_MISS : SPE_FACT_L1D_REFILL;
    uint64_t events = 0;

    for (size_t i = 0; i < COUNT_OF(fact_events); i++)
        if ((facts & fact_events[i].fact) && (reads || !fact_events[i].reads))
            events |= UINT64_C(1) << fact_events[i].event;
    if (facts & miss)
        events |= SPE_EVENT_BIT(L1D_MISS);
    if ((facts & SPE_FACT_LLC_MISS) &&
        !(c->config->llc_includes_remote && (facts & SPE_FACT_REMOTE_LLC_HIT)))
        events |= SPE_EVENT_BIT(LLC_MISS);
    if (reads && (facts & modified_facts[c->config->ev_modified_scope]))
        events |= SPE_EVENT_BIT(MODIFIED);
    return events;
}

/* A store may finish before a cache or another socket has been asked (D17.6-071). */
static uint64_t store_events(const struct collector *c, uint64_t events)
{
    uint64_t left = events & STORE_EVENTS;

    if (c->config->pmu_rd_only)
        events &= ~RD_EVENTS;
    for (; left; left &= left - 1) {
        unsigned event = (unsigned)__builtin_ctzll(left);
        uint8_t choice = c->config->store_cache_events[event];

        if (choice == SPE_STORE_ZERO || (choice == SPE_STORE_VARYING && spu_choose(c->spu, 2)))
            events &= ~(UINT64_C(1) << event);
    }
    return events;
}

/* D17.6.4.6: more blocks than the size needs are touched, only because of where it starts. */
static bool crosses(const struct collector *c, uint64_t va, uint64_t bytes)
{
    uint64_t block = c->config->align_rule ? c->config->align_rule : c->config->line_bytes;

    if (bytes == 0)
        return false;
    return (va & (block - 1)) + bytes > (bytes + block - 1) / block * block;
}

/* A contiguous operation is one stretch of memory, however many accesses it took. */
static bool stretch_crosses(const struct collector *c)
{
    const struct spe_memory_access *lowest = lowest_part(c, true);
    uint64_t bytes = 0;

    if (!lowest)
        return false;
    for (uint32_t i = 0; i < c->op->access_count; i++) {
        const struct spe_memory_access *a = &c->op->accesses[i];
        uint64_t end = a->va - lowest->va + a->bytes;

        if (looked_at(c, a, true) && end > bytes)
            bytes = end;
    }
    return crosses(c, lowest->va, bytes);
}

static uint64_t events_of_access(const struct collector *c, const struct spe_memory_access *a,
                                 bool alone)
{
    bool reads = reads_memory(c, a);
    uint64_t events;

    if (!performed(a)) /* D17.6-091 */
        return 0;
    events = facts_to_events(c, a->facts, reads);
    if (!reads)
        events = store_events(c, events);
    if ((a->facts & SPE_FACT_SLOW_ALIGNMENT) || (alone && crosses(c, a->va, a->bytes)))
        events |= SPE_EVENT_BIT(MISALIGNED);
    return events;
}

static uint64_t events_of_all(const struct collector *c)
{
    bool stretch = c->op->contiguous && c->op->access_count > 1, made = false;
    uint64_t events = 0;

    for (uint32_t i = 0; i < c->op->access_count; i++) {
        events |= events_of_access(c, &c->op->accesses[i], !stretch);
        made |= performed(&c->op->accesses[i]);
    }
    if (stretch && made && stretch_crosses(c))
        events |= SPE_EVENT_BIT(MISALIGNED);
    return events;
}

static uint64_t access_events(const struct collector *c)
{
    if (c->access_info != SPE_SUBSET_FULL || c->parts == 0)
        return 0;
    if (!c->va && c->config->no_access_events == SPE_NO_ACCESS_EVENTS_ZERO)
        return 0;
    return describes_whole(c) ? events_of_all(c) : events_of_access(c, c->part, true);
}

static bool is_conditional(const struct collector *c)
{
    const struct spe_operation *op = c->op;

    if (c->kind == SPE_OPERATION_BRANCH) /* exception returns are unconditional */
        return op->kind == SPE_OPERATION_BRANCH && op->conditional;
    return c->kind == SPE_OPERATION_OTHER && op->cond_op &&
           (c->config->cond_ops >> (op->cond_op - 1) & 1);
}

static bool condition_failed(const struct collector *c)
{
    if (c->kind == SPE_OPERATION_BRANCH)
        return is_conditional(c) && !c->op->taken;
    return is_conditional(c) && c->op->condition_failed;
}

static uint64_t branch_events(const struct collector *c)
{
    bool counts = c->executed || !c->config->pmu_mispred_retired; /* D18.2-083 */
    uint64_t events = 0;

    if (condition_failed(c))
        events |= SPE_EVENT_BIT(NOT_TAKEN);
    if (c->kind == SPE_OPERATION_BRANCH && c->op->mispredicted && counts)
        events |= SPE_EVENT_BIT(MISPREDICTED);
    return events;
}

static bool is_vector(const struct collector *c)
{
    switch (c->kind) {
    case SPE_OPERATION_SVE:
    case SPE_OPERATION_SME_VECTOR:
    case SPE_OPERATION_SME_TILE:
        return true;
    default:
        return (c->data || c->kind == SPE_OPERATION_SVE_PREFETCH) && is_vector_access(c);
    }
}

static uint64_t vector_events(const struct collector *c)
{
    uint64_t events = 0;

    if (is_vector(c) && (c->op->partial_predicate || c->op->empty_predicate))
        events |= SPE_EVENT_BIT(PARTIAL_PREDICATE);
    if (is_vector(c) && c->op->empty_predicate)
        events |= SPE_EVENT_BIT(EMPTY_PREDICATE);
    if (has(c, SPE_FEAT_SPE_SME)) {
        events |= c->op->streaming ? SPE_EVENT_BIT(STREAMING) : 0;
        events |= c->op->smcu ? SPE_EVENT_BIT(SMCU) : 0;
    }
    return events;
}

/* E[1:0]: how the operation ended. */
static uint64_t ending_events(const struct collector *c)
{
    const struct spe_operation *op = c->op;
    uint64_t events = 0;

    if (c->executed || !c->config->spec_sampling) /* D18.2-092 */
        events |= SPE_EVENT_BIT(RETIRED);
    if (c->executed ? op->exception
                    : !c->speculative && op->nonarch_exception && c->config->nonarch_exc_e0)
        events |= SPE_EVENT_BIT(EXCEPTION);
    return events;
}

static void put_events(struct collector *c)
{
    uint64_t events = ending_events(c);

    if (c->info == SPE_INFO_ALL) {
        /* Condition, prediction and predicate may tell what must not be known (D17.6-162). */
        if (!c->speculative)
            events |= access_events(c) | branch_events(c) | vector_events(c);
        events |= c->op->impdef_events & c->config->impdef_events;
    }
    events &= c->spu->implemented_events;
    c->sample->events = events;
    c->record->has |= SPE_HAS_EVENTS;
    c->record->events = events;
    c->record->events_size =
        c->config->events_size ? c->config->events_size : (uint8_t)spe_events_size(events);
}

/* ---- Counters (D18.2.3) --------------------------------------------------------------------- */

/* Counters that always have one value have it in the filters too. */
static uint16_t counter_value(const struct collector *c, unsigned index, uint64_t cycles)
{
    if (c->config->fixed_counters >> index & 1)
        return c->config->fixed_counter_value;
    return spe_counter_clip(cycles, c->config->count_size);
}

static void put_counter(struct collector *c, unsigned index, uint64_t cycles)
{
    if (c->config->omit_fixed_counters && (c->config->fixed_counters >> index & 1))
        return;
    c->record->counters |= 1u << index;
    c->record->counter[index] = counter_value(c, index, cycles);
}

/* From where the operation is sampled to where it is issued. */
static uint64_t issue_latency(const struct collector *c)
{
    switch (c->config->sample_stage) {
    case SPE_STAGE_DECODE:
        return (uint64_t)c->op->decode_cycles + c->op->issue_cycles;
    case SPE_STAGE_DISPATCH:
        return c->op->issue_cycles;
    default:
        return 0;
    }
}

/* Loads are complete when all data has come; a store need not have reached its end (D18.2-042). */
static uint32_t execute_latency(const struct collector *c)
{
    uint32_t cycles = c->op->execute_cycles;

    if (c->access_info != SPE_SUBSET_FULL || !c->data || c->parts == 0)
        return cycles;
    if (!describes_whole(c)) {
        if (c->part->done_at == 0 || (c->part->store && c->part->done_at > cycles))
            return cycles;
        return c->part->done_at;
    }
    for (uint32_t i = 0; i < c->op->access_count; i++)
        if (!c->op->accesses[i].store)
            cycles = larger(cycles, c->op->accesses[i].done_at);
    return cycles;
}

static uint64_t total_latency(const struct collector *c)
{
    const struct spe_operation *op = c->op;
    uint64_t cycles = issue_latency(c) + execute_latency(c);

    if (c->config->complete_means_committed)
        cycles += op->commit_cycles;
    if (op->kind == SPE_OPERATION_WFX && c->config->wfx_complete == SPE_WFX_ON_WAKE &&
        c->config->wfx_counters_run)
        cycles += op->sleep_cycles;
    if (c->kind == SPE_OPERATION_STORE && op->st64bv &&
        c->config->st64bv_latency == SPE_ST64BV_TO_RESULT)
        cycles += op->result_cycles;
    if (c->pa) /* D17.6-193 */
        cycles += c->config->pa_collect_cycles;
    return cycles;
}

/* Is a part waiting for translation at this cycle, and is one accessing memory? */
static bool counts_as_waiting(const struct collector *c, uint32_t now)
{
    bool waiting = false, accessing = false;

    for (uint32_t i = 0; i < c->op->access_count; i++) {
        const struct spe_memory_access *a = &c->op->accesses[i];

        waiting |= translated(a) && a->wait_start <= now && now < a->translated_at;
        accessing |= performed(a) && a->translated_at <= now && now < a->done_at;
    }
    return waiting &&
           !(accessing && c->config->xlat_latency_rule == SPE_XLAT_WAITING_AND_NONE_ACCESSING);
}

static uint32_t after(uint32_t candidate, uint32_t now, uint32_t best)
{
    return candidate > now && candidate < best ? candidate : best;
}

/* The first moment after `now` at which a part begins or ends something; UINT32_MAX: none. */
static uint32_t next_change(const struct spe_operation *op, uint32_t now)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < op->access_count; i++) {
        best = after(op->accesses[i].wait_start, now, best);
        best = after(op->accesses[i].translated_at, now, best);
        best = after(op->accesses[i].done_at, now, best);
    }
    return best;
}

/* All parts of an operation: cycles, each counted once. */
static uint64_t translation_of_all(const struct collector *c)
{
    uint64_t cycles = 0;
    uint32_t now = 0, next;

    do {
        next = next_change(c->op, now);
        if (counts_as_waiting(c, now))
            cycles += next - now;
        now = next;
    } while (now != UINT32_MAX);
    return cycles;
}

static uint64_t translation_latency(const struct collector *c)
{
    const struct spe_memory_access *a = c->part;

    if (c->op->access_count > 1 && c->config->multi_access == SPE_MULTI_ALL)
        return translation_of_all(c);
    return translated(a) ? a->translated_at - a->wait_start : 0;
}

/* In part mode only the chosen part counts for whether there was an access. */
static bool any_part(const struct collector *c, bool (*is)(const struct spe_memory_access *))
{
    if (c->config->multi_access == SPE_MULTI_PART)
        return is(c->part);
    for (uint32_t i = 0; i < c->op->access_count; i++)
        if (is(&c->op->accesses[i]))
            return true;
    return false;
}

static void put_translation(struct collector *c)
{
    bool made;

    if (c->access_info != SPE_SUBSET_FULL || c->parts == 0)
        return;
    made = any_part(c, performed);
    if (!made && !any_part(c, translated)) /* D17.6-089 */
        return;
    if (c->va && made)
        put_counter(c, SPE_COUNTER_TRANSLATION, translation_latency(c));
    else if (c->config->no_access_xlat == SPE_NO_ACCESS_ZERO)
        put_counter(c, SPE_COUNTER_TRANSLATION, 0);
}

/* D17.6.1: another clock has a counter of its own, and never the total. */
static void put_issue(struct collector *c)
{
    const struct spe_operation *op = c->op;
    uint64_t other = c->config->sample_stage == SPE_STAGE_ISSUE ? 0 : op->alt_issue_cycles;

    if (op->asynchronous && c->config->async_counter_clock == SPE_ASYNC_IMPDEF)
        put_counter(c, c->config->async_counter_index, other);
    else if (op->asynchronous && c->config->async_counter_clock == SPE_ASYNC_SMCU_ALT &&
             op->streaming)
        put_counter(c, SPE_COUNTER_ALT_ISSUE, other);
    else
        put_counter(c, SPE_COUNTER_ISSUE, issue_latency(c));
}

static void put_extras(struct collector *c)
{
    for (uint32_t i = 0; i < c->op->extra_count; i++) {
        const struct spe_extra *e = &c->op->extras[i];

        if (e->type == SPE_PACKET_COUNTER && (c->config->impdef_counters >> e->index & 1))
            put_counter(c, e->index, e->value);
        if (e->type == SPE_PACKET_ADDRESS && (c->config->impdef_addresses >> e->index & 1) &&
            !c->speculative)
            put_address(c, e->index, e->value);
    }
}

/* ---- Data source (D18.2.4) ------------------------------------------------------------------ */

/* Loads and atomics; `filtered` is set for those that PMSDSFR_EL1 looks at. */
static bool source_applies(const struct collector *c, bool *filtered)
{
    *filtered = c->data && !c->writes;
    if (!c->data)
        return false;
    if (c->kind == SPE_OPERATION_ATOMIC && c->writes)
        return c->config->data_source_st_atomic;
    if (c->kind == SPE_OPERATION_STORE && c->op->st64bv)
        return c->config->st64bv_data_source;
    return !c->writes;
}

/* Combined: the part that everything had to wait for. NULL: no data was accessed. */
static const struct spe_memory_access *source_part(const struct collector *c)
{
    const struct spe_memory_access *slowest = NULL;

    if (c->parts == 0)
        return NULL;
    if (c->config->data_source_multi == SPE_SOURCE_CHOSEN_PART || c->parts == 1)
        return performed(c->part) ? c->part : NULL;
    for (uint32_t i = 0; i < c->op->access_count; i++) {
        const struct spe_memory_access *a = &c->op->accesses[i];

        if (looked_at(c, a, true) && performed(a) && (!slowest || a->done_at > slowest->done_at))
            slowest = a;
    }
    return slowest;
}

/* Every load and atomic that runs to its end has a data source, 0 if there is nothing to tell;
 * those that abort may have one (D18.2-052, D18.2-053). */
static bool lacks_source(const struct collector *c, const struct spe_memory_access *a)
{
    if (a)
        return a->external_abort && !c->config->data_source_on_abort;
    return !c->executed || c->op->exception || c->op->fault_condition;
}

static int put_source(struct collector *c)
{
    unsigned size = c->config->data_source == SPE_SOURCE_16BIT ? 2 : 1;
    const struct spe_memory_access *a;
    uint16_t source;
    bool filtered;

    a = source_part(c);
    if (c->config->data_source == SPE_SOURCE_NONE || !source_applies(c, &filtered) ||
        lacks_source(c, a))
        return SPE_OK;
    source = a && a->has_source ? a->source : 0;
    if (c->config->data_source_map_count) {
        if (source >= c->config->data_source_map_count)
            return SPE_ERR_INVALID;
        source = c->config->data_source_map[source];
    }
    if (source >> (8 * size - 1) > 1)
        return SPE_ERR_INVALID;
    c->record->has |= SPE_HAS_SOURCE;
    c->record->source = source;
    c->record->source_size = (uint8_t)size;
    c->sample->has_source = filtered;
    c->sample->source = source;
    return SPE_OK;
}

/* ---- Operation type (D18.2.7) --------------------------------------------------------------- */

/* Sampled effective vector length, in bits (DWRNLK). What lies above VL is not part of it. */
static uint64_t vector_length(const struct spe_operation *op)
{
    uint64_t bits = op->vector_bits ? op->vector_bits : op->vl_bits;

    if (op->predicate_only)
        return op->predicate_as_counter ? op->vl_bits : (uint64_t)op->predicate_bits * 8;
    return op->vl_bits && bits > op->vl_bits ? op->vl_bits : bits;
}

/* IXYGNN: a micro-operation works on no more than this of it. */
static uint32_t split(const struct collector *c, uint64_t bits)
{
    if (c->config->simd_split_bits && bits > c->config->simd_split_bits)
        return c->config->simd_split_bits;
    return bits > UINT32_MAX ? UINT32_MAX : (uint32_t)bits;
}

static uint32_t length_of_vectors(const struct collector *c)
{
    uint64_t vectors = c->op->vectors ? c->op->vectors : 1;
    uint64_t bits = vector_length(c->op);

    return split(c, bits > UINT32_MAX / vectors ? UINT32_MAX : bits * vectors);
}

/* RMDBYZ, RJCLMP: all vectors with FEAT_SPE_SME, else one of them. */
static uint8_t vector_evl(const struct collector *c)
{
    uint32_t one = split(c, vector_length(c->op));

    if (has(c, SPE_FEAT_SPE_SME))
        return (uint8_t)spe_evl_from_bits(length_of_vectors(c));
    return (uint8_t)spe_evl_from_bits(one > EVL_MAX_BITS ? EVL_MAX_BITS : one);
}

/* RDDCQB */
static bool is_advsimd(const struct collector *c, unsigned type)
{
    const struct spe_operation *op = c->op;

    return (c->config->sve128_as & type) && split(c, vector_length(op)) == 128 && !op->predicated &&
           !op->predicate_operand && op->advsimd_equivalent;
}

static void type_other(const struct collector *c, struct spe_op *t, bool advanced_simd)
{
    t->kind = SPE_OP_OTHER;
    t->cond = is_conditional(c);
    if (has(c, SPE_FEAT_SPE_FPF)) {
        t->ase = advanced_simd;
        t->fp = c->op->floating_point;
    }
}

static bool has_sve_vectors(const struct collector *c)
{
    return has(c, SPE_FEAT_SPEv1p1) && has(c, SPE_FEAT_SVE); /* X15 */
}

static void type_sve_vector(const struct collector *c, struct spe_op *t, bool predicated)
{
    t->kind = SPE_OP_SVE;
    t->evl = vector_evl(c);
    t->pred = predicated;
    t->fp = c->op->floating_point;
}

static void type_sve(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;
    bool sme = has(c, SPE_FEAT_SPE_SME);

    if (is_advsimd(c, SPE_SVE128_DP))
        type_other(c, t, true);
    else if (!has_sve_vectors(c) || (!sme && op->uses_zt && c->config->zt_op_as == SPE_AS_OTHER) ||
             (!sme && op->multi_vector && c->config->multivec_op_as == SPE_AS_OTHER))
        type_other(c, t, false);
    else
        type_sve_vector(c, t, op->predicated);
}

/* RCYBGV, RLQXZR */
static void type_sme(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;
    bool tile = c->kind == SPE_OPERATION_SME_TILE;
    bool whole =
        op->whole_za || (op->masked_zero && c->config->zero_masked_ets == SPE_ETS_MASKED_WHOLE);

    if (!tile && is_advsimd(c, SPE_SVE128_DP)) {
        type_other(c, t, true);
        return;
    }
    if (!has(c, SPE_FEAT_SPE_SME)) {
        type_other(c, t, false);
        return;
    }
    t->kind = SPE_OP_SME;
    t->fp = op->floating_point;
    if (tile && whole)
        t->ets = SPE_ETS_WHOLE;
    else
        t->ets = (uint8_t)spe_ets_from_bits(tile ? split(c, op->tile_bits) : length_of_vectors(c));
}

/* D18.2-127: a load counts as predicated only if it zeroes what it does not load, and only with
 * FEAT_SPEv1p2. */
static void type_sve_ldst(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;

    t->evl = vector_evl(c);
    t->sg = op->gather_scatter;
    t->pred = op->predicated && (c->writes || (op->zeroing && has(c, SPE_FEAT_SPEv1p2)));
}

static uint8_t vector_ldst_kind(const struct collector *c)
{
    bool sme = c->op->registers == SPE_REGISTERS_SME;

    if (!has(c, SPE_FEAT_SPEv1p1) || !(has(c, SPE_FEAT_SVE) || has(c, SPE_FEAT_SME)) ||
        is_advsimd(c, SPE_SVE128_LDST))
        return SPE_OP_SIMD_FP;
    if (sme && !has(c, SPE_FEAT_SPE_SME) && c->config->sme_ldst_as == SPE_SME_LDST_UNSPECIFIED)
        return SPE_OP_UNSPECIFIED;
    return SPE_OP_SVE_LDST;
}

/* U11: what has no subclass of its own before FEAT_SPEv1p3. */
static uint8_t plain_kind(const struct collector *c)
{
    return c->config->pre_v1p3_tag_mops_as == SPE_AS_GENERAL ? SPE_OP_GP : SPE_OP_UNSPECIFIED;
}

static uint8_t ldst_kind(const struct collector *c)
{
    const struct spe_operation *op = c->op;

    switch (op->registers) {
    case SPE_REGISTERS_SVE:
    case SPE_REGISTERS_SME:
        return vector_ldst_kind(c);
    case SPE_REGISTERS_TAG:
        return has(c, SPE_FEAT_SPEv1p3) && has(c, SPE_FEAT_MTE) ? SPE_OP_TAG : plain_kind(c);
    case SPE_REGISTERS_TAG_DATA:
        return c->config->tag_data_store_as == SPE_AS_GENERAL ? SPE_OP_GP : SPE_OP_UNSPECIFIED;
    case SPE_REGISTERS_NV2:
        return has(c, SPE_FEAT_NV2) ? SPE_OP_NV2 : SPE_OP_GP;
    case SPE_REGISTERS_UNSPECIFIED:
        return has(c, SPE_FEAT_SPEv1p1) ? SPE_OP_UNSPECIFIED : SPE_OP_GP;
    default:
        if (op->acquire_release || op->exclusive)
            return SPE_OP_EXTENDED;
        return op->registers == SPE_REGISTERS_GENERAL ? SPE_OP_GP : SPE_OP_SIMD_FP;
    }
}

static uint8_t mops_kind(const struct collector *c, uint8_t own)
{
    return has(c, SPE_FEAT_SPEv1p3) && has(c, SPE_FEAT_MOPS) ? own : plain_kind(c);
}

static void type_ldst(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;

    switch (c->kind) {
    case SPE_OPERATION_ATOMIC:
        t->kind = SPE_OP_EXTENDED;
        t->at = true;
        break;
    case SPE_OPERATION_MEMCPY:
        t->kind = mops_kind(c, SPE_OP_MEMCPY);
        break;
    case SPE_OPERATION_MEMSET:
        t->kind = mops_kind(c, SPE_OP_MEMSET);
        break;
    case SPE_OPERATION_GCS:
        t->kind = has_gcs_types(c) ? SPE_OP_GCS : SPE_OP_GP;
        t->comm = !op->link && !op->procedure_return;
        break;
    case SPE_OPERATION_DC_ZVA:
        t->kind = SPE_OP_UNSPECIFIED;
        break;
    default:
        t->kind = ldst_kind(c);
    }
    if (t->kind == SPE_OP_SVE_LDST)
        type_sve_ldst(c, t);
    t->ar = op->acquire_release;
    t->excl = op->exclusive;
    t->store = c->writes;
}

static void type_branch(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;

    t->kind = SPE_OP_BRANCH;
    t->cond = is_conditional(c);
    t->ind = op->kind == SPE_OPERATION_ERET || (op->kind == SPE_OPERATION_BRANCH && op->indirect);
    t->gcs = c->gcs_branch;
    if (has(c, SPE_FEAT_SPE_CRR))
        t->cr = op->link ? SPE_CR_LINK : op->procedure_return ? SPE_CR_RETURN : SPE_CR_NEITHER;
}

static void put_type(struct collector *c)
{
    struct spe_op t = {0};

    switch (c->kind) {
    case SPE_OPERATION_BRANCH:
        type_branch(c, &t);
        break;
    case SPE_OPERATION_SVE:
        type_sve(c, &t);
        break;
    case SPE_OPERATION_SME_VECTOR:
    case SPE_OPERATION_SME_TILE:
        type_sme(c, &t);
        break;
    case SPE_OPERATION_SVE_PREFETCH: /* RBHKSC: it writes no vector, so PRED is 0 */
        if (c->config->sve_prefetch_as == SPE_PREFETCH_SVE_VECTOR && has_sve_vectors(c))
            type_sve_vector(c, &t, false);
        else
            type_other(c, &t, false);
        break;
    default:
        if (access_rules[c->kind] == ACCESS_DATA)
            type_ldst(c, &t);
        else
            type_other(c, &t, c->op->advanced_simd);
    }
    spe_op_encode(&t);
    c->record->has |= SPE_HAS_OP;
    c->record->op_class = t.class_;
    c->record->op = t.payload;
}

/* ---- Types for the filter (D17.5.1) --------------------------------------------------------- */

static unsigned direction_types(const struct collector *c)
{
    bool swaps =
        c->op->returns_value && (c->kind == SPE_OPERATION_ATOMIC || c->kind == SPE_OPERATION_GCS);

    if (swaps)
        return SPU_TYPE_LD | SPU_TYPE_ST;
    return c->writes ? SPU_TYPE_ST : SPU_TYPE_LD;
}

static unsigned register_types(const struct spe_operation *op)
{
    switch (op->registers) {
    case SPE_REGISTERS_FP:
        return SPU_TYPE_FP;
    case SPE_REGISTERS_SIMD:
    case SPE_REGISTERS_SVE:
    case SPE_REGISTERS_SME:
        return SPU_TYPE_SIMD;
    default:
        return 0;
    }
}

static unsigned filter_types(const struct collector *c)
{
    const struct spe_operation *op = c->op;
    unsigned fp = op->floating_point ? SPU_TYPE_FP : 0;

    switch (c->kind) {
    case SPE_OPERATION_BRANCH:
        return SPU_TYPE_B | (c->gcs_branch ? direction_types(c) : 0);
    case SPE_OPERATION_LOAD:
    case SPE_OPERATION_STORE:
        return direction_types(c) | register_types(op);
    case SPE_OPERATION_OTHER:
        return op->address_generation ? 0 : fp | (op->advanced_simd ? SPU_TYPE_SIMD : 0);
    case SPE_OPERATION_SVE:
    case SPE_OPERATION_SME_VECTOR:
    case SPE_OPERATION_SME_TILE:
        return fp | SPU_TYPE_SIMD;
    default:
        return access_rules[c->kind] == ACCESS_DATA ? direction_types(c) : 0;
    }
}

/* ---- The record ----------------------------------------------------------------------------- */

static void put_contexts(struct collector *c)
{
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
    judge_direction(c);
    choose_parts(c);
    c->va = records_va(c);
    c->pa = records_pa(c);
}

/* Everything but Events and terminator: D17.6-014 says how much of it. */
static int put_information(struct collector *c)
{
    if (c->info == SPE_INFO_NONE)
        return SPE_OK;
    put_contexts(c);
    put_instruction_address(c, SPE_ADDRESS_PC, c->op->pc, c->flight->el, c->flight->security);
    put_type(c);
    if (c->info == SPE_INFO_SUBSET)
        return SPE_OK;
    put_counter(c, SPE_COUNTER_TOTAL, total_latency(c));
    put_issue(c);
    put_translation(c);
    put_addresses(c);
    put_extras(c);
    return put_source(c);
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
    put_events(&c);
    sample->types = (uint8_t)filter_types(&c);
    sample->total = counter_value(&c, SPE_COUNTER_TOTAL, total_latency(&c));
    sample->captured = is_captured(&c);
    put_timestamp(&c);
    return put_information(&c);
}
