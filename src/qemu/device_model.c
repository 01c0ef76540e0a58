/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The functional model of caches, TLB and branch prediction, on request (model=functional): every
 * access and every branch of the guest goes through it, so that sampled ones meet what they would
 * have met. Physical addresses, as all address spaces of the guest share the caches.
 */
#include <stdio.h>

#include "qemu/device.h"
#include "qemu/registers.h"

bool device_model_create(const char *preset, unsigned cpus)
{
    struct spe_machine_config config;
    char why[300];

    if (spe_machine_config_init(&config, preset) < 0 &&
        spe_machine_config_init(&config, "neoverse-n1") < 0)
        return false;
    config.cpus = cpus;
    if (config.sockets > cpus)
        config.sockets = 1;
    if (spe_machine_create(&config, &device.machine, why, sizeof(why)) == 0)
        return true;
    fprintf(stderr, "specimen: the model: %s\n", why);
    return false;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool is_sampled(const struct device_cpu *cpu, const struct device_site *site)
{
    return (cpu->pending & PENDING_SAMPLE) && cpu->block == site->block &&
           cpu->block_index == site->index;
}

/* QEMU makes one access of a pair or a structure several: together they are as slow as the slowest.
 */
static void add_met(struct device_cpu *cpu, const struct spe_machine_access *one)
{
    struct spe_machine_access *met;

    if (cpu->met_count < cpu->op.access_count) {
        cpu->met[cpu->met_count++] = *one;
        return;
    }
    if (cpu->met_count == 0)
        return;
    met = &cpu->met[cpu->met_count - 1];
    met->facts |= one->facts;
    if (one->cycles > met->cycles) {
        met->cycles = one->cycles;
        met->translation_cycles = one->translation_cycles;
        met->place = one->place;
    }
}

void device_model_access(unsigned vcpu, uint32_t info, uint64_t va, void *user)
{
    const struct device_site *site = user;
    struct device_cpu *cpu = device.cpus[vcpu];
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, va);
    struct spe_machine_access met;
    unsigned how = qemu_plugin_mem_is_store(info) ? SPE_ACCESS_STORE : 0;

    if (!cpu || !where || qemu_plugin_hwaddr_is_io(where))
        return;
    spe_machine_touch(device.machine, vcpu, qemu_plugin_hwaddr_phys_addr(where),
                      1u << qemu_plugin_mem_size_shift(info), how, &met);
    if (is_sampled(cpu, site))
        add_met(cpu, &met);
}

/* Vector accesses that QEMU does not tell (device.c), by registers. An element without a
 * translation is about to fault. */
void device_model_evaluate(unsigned vcpu, void *user)
{
    const struct device_site *site = user;
    struct device_cpu *cpu = device.cpus[vcpu];
    struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX];
    struct spe_operation op;
    struct spe_a64 insn;

    if (!cpu)
        return;
    spe_a64_classify(site->block->words[site->index], device_vector_length(), &insn);
    spe_a64_evaluate(&insn, 0, &registers_now, &op, accesses);
    for (uint32_t i = 0; i < op.access_count; i++) {
        const struct spe_memory_access *a = &accesses[i];
        struct spe_machine_access met = {.facts = 0};
        bool seen = a->inactive;
        uint64_t pa;

        if (!a->inactive && qemu_plugin_translate_vaddr(a->va, &pa)) {
            spe_machine_touch(device.machine, vcpu, pa, a->bytes, a->store ? SPE_ACCESS_STORE : 0,
                              &met);
            seen = true;
        }
        if (is_sampled(cpu, site)) {
            add_met(cpu, &met);
            cpu->op.unmodelled |= !seen;
        }
    }
}

/* ---- Branches -------------------------------------------------------------------------------- */

static unsigned branch_kind(const struct spe_operation *op)
{
    return (op->conditional ? SPE_BRANCH_CONDITIONAL : 0) |
           (op->indirect ? SPE_BRANCH_INDIRECT : 0) | (op->link ? SPE_BRANCH_LINK : 0) |
           (op->procedure_return ? SPE_BRANCH_RETURN : 0);
}

/* A block begins: the one before, if a branch ended it, tells where that branch went. */
void device_model_block(unsigned vcpu, void *user)
{
    const struct device_block *block = user, *before;
    struct device_cpu *cpu = device.cpus[vcpu];
    uint64_t pc;
    bool wrong;

    if (!cpu)
        return;
    before = cpu->flow;
    cpu->flow = block->branch ? block : NULL;
    if (!before)
        return;
    pc = before->pc + 4 * (uint64_t)(before->count - 1);
    wrong = spe_machine_branch(device.machine, vcpu, pc, before->branch_kind, block->pc != pc + 4,
                               block->pc);
    if ((cpu->pending & PENDING_SAMPLE) && cpu->block == before &&
        cpu->block_index == before->count - 1)
        cpu->op.mispredicted = wrong;
}

void device_model_note_branch(struct device_block *block, const struct spe_a64 *insn)
{
    block->branch = insn->branch && insn->operation.kind == SPE_OPERATION_BRANCH;
    block->branch_kind = (uint8_t)branch_kind(&insn->operation);
}

/* ---- The sampled operation ------------------------------------------------------------------- */

/* What met nothing that we know of (a device, memory that is not there, an access that QEMU did not
 * show) has no cycles and no data source: zero would be read as a hit of L1. */
void device_model_describe(struct device_cpu *cpu)
{
    cpu->op.unmodelled |= cpu->met_count < cpu->op.access_count;
    if (!cpu->op.unmodelled)
        spe_machine_describe(device.machine, cpu->index, &cpu->op, cpu->accesses, cpu->met);
}
