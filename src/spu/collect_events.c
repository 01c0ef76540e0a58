/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.6: the Events packet. */
#include "collect.h"

/* Facts that are events as they are, by the number of their bit. */
#define FACT(name) [__builtin_ctz(SPE_FACT_##name)]
static const uint8_t fact_events[] = {
    FACT(L1D_ACCESS) = SPE_EVENT_L1D_ACCESS, FACT(TLB_ACCESS) = SPE_EVENT_TLB_ACCESS,
    FACT(TLB_WALK) = SPE_EVENT_TLB_WALK,     FACT(LLC_ACCESS) = SPE_EVENT_LLC_ACCESS,
    FACT(REMOTE) = SPE_EVENT_REMOTE,         FACT(L2D_ACCESS) = SPE_EVENT_L2D_ACCESS,
    FACT(L2D_MISS) = SPE_EVENT_L2D_MISS,     FACT(RECENT) = SPE_EVENT_RECENTLY_FETCHED,
    FACT(SNOOPED) = SPE_EVENT_SNOOPED,
};
#undef FACT

/* Of these facts, those that are told of everything and those that are told of loads only (X16). */
#define FACTS_ANY                                                                                  \
    (SPE_FACT_L1D_ACCESS | SPE_FACT_TLB_ACCESS | SPE_FACT_TLB_WALK | SPE_FACT_LLC_ACCESS |         \
     SPE_FACT_REMOTE)
#define FACTS_READS (SPE_FACT_L2D_ACCESS | SPE_FACT_L2D_MISS | SPE_FACT_RECENT | SPE_FACT_SNOOPED)

/* Those of SPU_STORE_EVENTS with a PMU event that counts reads only (D18.2-083). */
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
    uint32_t left = facts & (FACTS_ANY | (reads ? FACTS_READS : 0));
    uint64_t events = 0;

    for (; left; left &= left - 1)
        events |= UINT64_C(1) << fact_events[__builtin_ctz(left)];
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
    uint64_t left = events & SPU_STORE_EVENTS;

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
    const struct spe_memory_access *lowest = spu_lowest_part(c, true);
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

/* Does the Governing predicate count for E[17] and E[18], which agree with the PMU's
 * SVE_PRED_EMPTY_SPEC and SVE_PRED_NOT_FULL_SPEC? By SVE_PRED_SPEC (0x8074), every SME operation's
 * does, and it is a choice for SVE data processing that writes no vector under it. */
static bool counts_as_predicated(const struct collector *c)
{
    if (c->op->predicated)
        return is_vector(c);
    switch (c->kind) {
    case SPE_OPERATION_SVE:
        return c->op->predicate_operand && c->config->ev_pred_no_vector;
    case SPE_OPERATION_SME_VECTOR:
    case SPE_OPERATION_SME_TILE:
        return c->op->predicate_operand;
    default:
        return false;
    }
}

static uint64_t vector_events(const struct collector *c)
{
    bool counts = counts_as_predicated(c);
    uint64_t events = 0;

    if (counts && (c->op->partial_predicate || c->op->empty_predicate))
        events |= SPE_EVENT_BIT(PARTIAL_PREDICATE);
    if (counts && c->op->empty_predicate)
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

void spu_put_events(struct collector *c)
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
