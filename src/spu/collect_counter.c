/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.3: Counter packets. */
#include "collect.h"

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

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

static uint64_t total_cycles(const struct collector *c)
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

void spu_put_counters(struct collector *c)
{
    c->sample->total = counter_value(c, SPE_COUNTER_TOTAL, total_cycles(c));
    if (c->info != SPE_INFO_ALL)
        return;
    if (!c->op->unmodelled) {
        put_counter(c, SPE_COUNTER_TOTAL, c->sample->total);
        put_issue(c);
        put_translation(c);
    }
    for (uint32_t i = 0; i < c->op->extra_count; i++) {
        const struct spe_extra *e = &c->op->extras[i];

        if (e->type == SPE_PACKET_COUNTER && (c->config->impdef_counters >> e->index & 1))
            put_counter(c, e->index, e->value);
    }
}
