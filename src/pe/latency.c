/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Time. There is no pipeline: an operation takes as long as its kind and its accesses say, and
 * waits for issue as long as the latest load misses before it make likely, or as the window found.
 */
#include "machine_internal.h"

#define DECODE_CYCLES 4
#define ISSUE_CYCLES 1
#define COMMIT_CYCLES 1
#define FLOATING_POINT_CYCLES 2 /* more than the integer operation */

/* Issued to finished, beside what the accesses need. */
static const uint8_t kind_cycles[SPE_OPERATION_KIND_COUNT] = {
    [SPE_OPERATION_OTHER] = 1,        [SPE_OPERATION_SVE] = 2,    [SPE_OPERATION_SME_VECTOR] = 4,
    [SPE_OPERATION_SME_TILE] = 8,     [SPE_OPERATION_LOAD] = 0,   [SPE_OPERATION_STORE] = 0,
    [SPE_OPERATION_ATOMIC] = 2,       [SPE_OPERATION_MEMCPY] = 2, [SPE_OPERATION_MEMSET] = 2,
    [SPE_OPERATION_GCS] = 1,          [SPE_OPERATION_BRANCH] = 1, [SPE_OPERATION_ERET] = 1,
    [SPE_OPERATION_ISB] = 1,          [SPE_OPERATION_CMO] = 0,    [SPE_OPERATION_PREFETCH] = 1,
    [SPE_OPERATION_SVE_PREFETCH] = 1, [SPE_OPERATION_AT] = 1,     [SPE_OPERATION_DC_ZVA] = 1,
    [SPE_OPERATION_WFX] = 1,
};

static uint32_t nearest_shared(const struct spe_machine_config *config)
{
    if (config->llc.bytes)
        return config->llc.latency;
    return config->l2.bytes ? config->l2.latency : config->l1d.latency;
}

uint32_t pe_access_cycles(const struct spe_machine_config *config, unsigned place, bool snooped)
{
    uint32_t snoop = snooped ? config->snoop_latency : 0;

    switch (place) {
    case SPE_PLACE_L1:
        return config->l1d.latency + snoop;
    case SPE_PLACE_L2:
        return config->l2.latency + snoop;
    case SPE_PLACE_PEER:
    case SPE_PLACE_LLC:
        return nearest_shared(config) + snoop;
    case SPE_PLACE_REMOTE_CACHE:
        return nearest_shared(config) + config->remote_latency + snoop;
    case SPE_PLACE_MEMORY:
        return config->memory_latency;
    default:
        return config->memory_latency + config->remote_latency;
    }
}

/* ---- Accesses ------------------------------------------------------------------------------- */

static void describe_access(const struct spe_machine_config *config, struct spe_memory_access *a,
                            const struct spe_machine_access *met)
{
    uint16_t source = config->source[met->place % SPE_PLACE_COUNT];

    if (a->unperformed || a->inactive)
        return;
    a->facts |= met->facts;
    a->has_source = source != SPE_MACHINE_NO_SOURCE;
    a->source = a->has_source ? source : 0;
    a->wait_start = 0;
    a->translated_at = met->translation_cycles;
    a->done_at = met->cycles;
}

/* A load has finished with its data, a store when it is in the store buffer: its address is known
 * and translated. */
static uint32_t access_cycles(const struct spe_operation *op, const struct spe_memory_access *a)
{
    bool buffered = a->store && op->kind != SPE_OPERATION_ATOMIC && op->kind != SPE_OPERATION_CMO;
    bool hint = op->kind == SPE_OPERATION_PREFETCH || op->kind == SPE_OPERATION_SVE_PREFETCH;

    return buffered || hint ? a->translated_at + 1 : a->done_at;
}

/* ---- Stages --------------------------------------------------------------------------------- */

static uint32_t execute_cycles(const struct spe_machine_config *config,
                               const struct spe_operation *op,
                               const struct spe_memory_access *accesses)
{
    uint32_t cycles = 0;

    for (uint32_t i = 0; i < op->access_count; i++) {
        uint32_t n = access_cycles(op, &accesses[i]);

        cycles = n > cycles ? n : cycles;
    }
    if (op->kind < SPE_OPERATION_KIND_COUNT)
        cycles += kind_cycles[op->kind];
    if (op->floating_point)
        cycles += FLOATING_POINT_CYCLES;
    if (op->mispredicted || op->kind == SPE_OPERATION_ERET || op->kind == SPE_OPERATION_ISB)
        cycles += config->mispredict_cycles; /* until what follows has been fetched anew */
    return cycles ? cycles : 1;
}

/* Lines that the operation's own accesses touched: they are not what it waits for. */
static uint64_t own_lines(const struct spe_machine *machine, const struct spe_operation *op,
                          const struct spe_memory_access *accesses)
{
    uint64_t lines = 0;

    for (uint32_t i = 0; i < op->access_count; i++) {
        const struct spe_memory_access *a = &accesses[i];
        uint64_t last = a->bytes ? a->bytes - 1 : 0;

        if (a->unperformed || a->inactive)
            continue;
        last += a->va & (machine->config.line_bytes - 1);
        lines += 1 + (last >> machine->line_shift);
    }
    return lines;
}

/*
 * An operation needs the data of a load before it with a chance that is one in issue_width for the
 * newest and falls by half with every access or branch in between; it waits for the mean. What was before a
 * misprediction is over.
 */
static uint32_t likely_wait(const struct spe_machine *machine, const struct pe_cpu *cpu,
                            uint64_t own)
{
    uint64_t now = pe_moment(cpu) - own;
    uint32_t longest = 0;

    for (unsigned i = 0; i < PE_MISSES; i++) {
        const struct pe_miss *miss = &cpu->misses[i];
        uint64_t age = now - miss->at;
        uint32_t cycles;

        if (miss->at <= cpu->refetched_at || miss->at > now || age > 31)
            continue;
        cycles = (miss->cycles >> age) / machine->config.issue_width;
        longest = cycles > longest ? cycles : longest;
    }
    return longest;
}

void pe_describe(const struct spe_machine_config *config, struct spe_operation *op,
                 struct spe_memory_access *accesses, const struct spe_machine_access *met,
                 uint32_t wait)
{
    for (uint32_t i = 0; i < op->access_count; i++)
        describe_access(config, &accesses[i], &met[i]);
    op->decode_cycles = DECODE_CYCLES;
    op->issue_cycles = ISSUE_CYCLES + wait;
    op->execute_cycles = execute_cycles(config, op, accesses);
    op->commit_cycles = COMMIT_CYCLES;
}

void spe_machine_describe(const struct spe_machine *machine, unsigned cpu, struct spe_operation *op,
                          struct spe_memory_access *accesses, const struct spe_machine_access *met)
{
    if (cpu < machine->config.cpus)
        pe_describe(&machine->config, op, accesses, met,
                    likely_wait(machine, machine->cpus[cpu], own_lines(machine, op, accesses)));
}
