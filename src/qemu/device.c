/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The device: instrumentation and sampling.
 *
 * Each block adds its number of instructions to the vCPU's counter when it starts. The counter is
 * armed so that it passes TRIP with the operation that the unit wants to see: instruction i of a
 * block of n is that operation when the counter is at least TRIP + (n - 1 - i). One condition at
 * the start of the block finds operations that need no registers; loads, stores and others that
 * do have a condition of their own.
 *
 * A sampled operation is described when it is selected, and finished at the next callback of any
 * kind: then it is known whether it generated an exception, where a branch went, and what its
 * page is. To make that callback come soon, CALL is added to the counter.
 */
#include "qemu/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu/registers.h"

#define TRIP (UINT64_C(1) << 62)
#define CALL (UINT64_C(1) << 63)

struct device device;

/* A vCPU's entry of the scoreboard. */
struct cells {
    uint64_t count;
    uint64_t watching; /* as in struct device_cpu, for conditions */
};

static const struct plugin_role role;

static struct cells *cells_of(const struct device_cpu *cpu)
{
    return qemu_plugin_scoreboard_find(device.score, cpu->index);
}

static struct device_cpu *find_cpu(unsigned vcpu)
{
    return atomic_load_explicit(&device.cpus[vcpu], memory_order_relaxed);
}

/* ---- The counter ----------------------------------------------------------------------------- */

/* An operation that the unit wants to see, but not because it may select it: COUNT is zero, and is
 * reloaded (D17.3.1). */
static bool step_reload(struct spe_spu *spu)
{
    struct spe_operation op;

    if (spe_spu_reg_get(spu, SPE_REG_PMSICR_EL1) != 0)
        return false;
    if (spe_spu_step(spu, 0) > 0) { /* reload_point may be so: nobody has seen what it was */
        spe_operation_init(&op, SPE_OPERATION_OTHER);
        op.misspeculated = true;
        spe_spu_sample(spu, &op);
    }
    return true;
}

/* Tell the unit of operations that have run; `ahead` of those that were counted have not. A block
 * that an exception cuts short has counted too many: an operation that the unit waits for does not
 * get lost by that, it is the next one then. */
static void catch_up(struct device_cpu *cpu, uint32_t ahead)
{
    uint64_t count = cells_of(cpu)->count, ran = count - cpu->base, budget;

    ran = ran > ahead ? ran - ahead : 0;
    while (ran > (budget = spe_spu_budget(cpu->spu))) {
        spe_spu_advance(cpu->spu, budget);
        ran -= budget;
        ran = step_reload(cpu->spu) ? ran - 1 : 0;
    }
    spe_spu_advance(cpu->spu, ran);
    cpu->base = count - ahead;
}

/* Set the counter for what the unit wants to see next. The opposite of catch_up. */
static void arm(struct device_cpu *cpu, uint32_t ahead)
{
    const struct spe_spu_status *status = spe_spu_status(cpu->spu);
    uint64_t budget = spe_spu_budget(cpu->spu);
    struct cells *cells = cells_of(cpu);

    cpu->base = budget < TRIP / 2 ? TRIP - 1 - budget : 0;
    if (cpu->pending)
        cpu->base += CALL;
    cells->count = cpu->base + ahead;
    cpu->watching =
        cpu->interrupt || status->enabled_at[0] || status->enabled_at[1] || status->enabled_at[2];
    cells->watching = cpu->watching;
}

/* ---- What a sampled operation was ------------------------------------------------------------ */

/* SVE and SME, by the top level of the A64 encodings (C4.1): only they depend on the length of
 * vectors. */
static bool is_scalable(uint32_t word)
{
    unsigned op0 = word >> 25 & 15;

    return op0 == 2 || (op0 == 0 && word >> 31);
}

/* vg counts units of 64 bits. */
uint32_t device_vector_length(void)
{
    uint64_t vg = device_read(REG_VG);

    return vg >= 2 && vg <= 32 ? 64 * (uint32_t)vg : 128;
}

/* As it is before it runs. */
static void describe(struct device_cpu *cpu, const struct device_block *block, uint32_t index,
                     bool registers)
{
    static const struct spe_a64_registers unknown = {.size = sizeof(unknown)};
    uint32_t word = block->words[index];

    cpu->block = block;
    cpu->block_pc = block->pc;
    cpu->block_index = index;
    spe_a64_classify(word, is_scalable(word) ? device_vector_length() : 0, &cpu->insn);
    spe_a64_evaluate(&cpu->insn, block->pc + 4 * (uint64_t)index,
                     registers ? &registers_now : &unknown, &cpu->op, cpu->accesses);
    cpu->met_count = 0;
    cpu->pending |= PENDING_SAMPLE;
}

/* Where the next block begins is where a branch went. */
static void finish_branch(struct device_cpu *cpu, uint64_t next)
{
    struct spe_operation *op = &cpu->op;

    op->taken = !op->conditional || next == op->pc + (uint64_t)cpu->insn.displacement;
    op->condition_failed = !op->taken;
    op->target = next;
    op->target_el = op->kind == SPE_OPERATION_ERET ? device_level() : cpu->pe.el;
    op->target_security = spe_spu_status(cpu->spu)->security;
}

static void finish_access(struct device_cpu *cpu, struct spe_memory_access *a)
{
    a->pas = spe_spu_status(cpu->spu)->security;
    a->tbi = cpu->tbi[a->va >> 55 & 1];
    a->untranslated = !qemu_plugin_translate_vaddr(a->va, &a->pa);
}

/* The operation has ended, by an exception if that is said; `next` is what runs after it. What only
 * a model can know, caches, TLB, prediction and cycles, stays zero without one. */
static void finish_sample(struct device_cpu *cpu, uint64_t next, bool exception, bool never_ran)
{
    struct spe_operation *op = &cpu->op;

    cpu->pending &= ~(unsigned)PENDING_SAMPLE;
    op->exception = exception;
    op->misspeculated = never_ran;
    if (cpu->insn.branch && !exception && !never_ran)
        finish_branch(cpu, next);
    for (uint32_t i = 0; i < op->access_count; i++)
        finish_access(cpu, &cpu->accesses[i]);
    if (device.functional)
        device_model_describe(cpu);
    spe_spu_sample(cpu->spu, op);
}

static void finish_time(struct device_cpu *cpu)
{
    uint64_t count = plugin_read(device.x[cpu->time_register]);

    cpu->pending &= ~(unsigned)PENDING_TIME;
    if (cpu->time_virtual && !spe_spu_status(cpu->spu)->in_host)
        count += cpu->pe.cntvoff_el2;
    device_count_seen(count);
}

static void finish_state(struct device_cpu *cpu)
{
    if (cpu->pending & PENDING_STATE)
        device_read_state(cpu);
    else
        device_read_level(cpu);
    cpu->pending &= ~(unsigned)(PENDING_STATE | PENDING_LEVEL);
    spe_spu_context_sync(cpu->spu);
    device_interrupt_again(cpu);
}

/* Something follows the operations before it, in the normal course of things. */
static void settle(struct device_cpu *cpu, uint64_t next)
{
    if (cpu->pending & PENDING_TIME)
        finish_time(cpu);
    if (cpu->pending & PENDING_SAMPLE)
        finish_sample(cpu, next, false, false);
    if (cpu->pending & (PENDING_STATE | PENDING_LEVEL))
        finish_state(cpu);
}

/* ---- Callbacks ------------------------------------------------------------------------------- */

static void choose(struct device_cpu *cpu, const struct device_block *block, uint32_t index,
                   bool registers)
{
    catch_up(cpu, block->count - index);
    device_read_context(cpu);
    if (spe_spu_step(cpu->spu, 0) > 0)
        describe(cpu, block, index, registers);
    arm(cpu, block->count - index - 1);
}

/* The operation that the unit waits for, counted from the block's start; past its end: none. */
static uint64_t point_of(const struct device_cpu *cpu, const struct device_block *block)
{
    uint64_t count = cells_of(cpu)->count;

    if (count >= CALL)
        count -= CALL;
    if (count < TRIP)
        return UINT64_MAX;
    return count - TRIP < block->count ? block->count - 1 - (count - TRIP) : 0;
}

static void on_block(unsigned vcpu, void *user)
{
    const struct device_block *block = user;
    struct device_cpu *cpu = find_cpu(vcpu);
    uint64_t point;

    if (!cpu)
        return;
    if (cpu->pending) {
        catch_up(cpu, block->count);
        settle(cpu, block->pc);
        arm(cpu, block->count);
    }
    point = point_of(cpu, block);
    if (point < block->count && !block->alone[point])
        choose(cpu, block, (uint32_t)point, false);
}

static bool not_there_yet(const struct device_cpu *cpu, const struct device_site *site)
{
    return (cpu->pending & PENDING_SAMPLE) && cpu->block == site->block &&
           cpu->block_index >= site->index;
}

static void on_instruction(unsigned vcpu, void *user)
{
    const struct device_site *site = user;
    const struct device_block *block = site->block;
    struct device_cpu *cpu = find_cpu(vcpu);

    if (!cpu || not_there_yet(cpu, site))
        return;
    if (cpu->pending) {
        catch_up(cpu, block->count - site->index);
        settle(cpu, block->pc + 4 * (uint64_t)site->index);
        arm(cpu, block->count - site->index);
    }
    if (point_of(cpu, block) <= site->index)
        choose(cpu, block, site->index, true);
}

static void on_access(unsigned vcpu, void *user)
{
    const struct device_site *site = user;
    const struct device_block *block = site->block;
    uint64_t pc = block->pc + 4 * (uint64_t)site->index;
    struct device_cpu *cpu = find_cpu(vcpu);
    bool done;

    if (!cpu)
        return;
    catch_up(cpu, block->count - site->index);
    settle(cpu, pc);
    done = device_access(cpu, block->words[site->index]);
    arm(cpu, 0);
    if (done)
        qemu_plugin_set_pc(pc + 4); /* does not return */
}

/* PSB CSYNC: what was sampled before is in the buffer. */
static void on_psb(unsigned vcpu, void *user)
{
    const struct device_site *site = user;
    const struct device_block *block = site->block;
    struct device_cpu *cpu = find_cpu(vcpu);
    struct spe_register_access access;

    if (!cpu || not_there_yet(cpu, site))
        return;
    catch_up(cpu, block->count - site->index);
    settle(cpu, block->pc + 4 * (uint64_t)site->index);
    spe_spu_psb_csync(cpu->spu, &access);
    arm(cpu, block->count - site->index);
}

/* Have a callback soon. */
static void call_for(struct device_cpu *cpu, unsigned what)
{
    if (!cpu->pending) {
        cpu->base += CALL;
        cells_of(cpu)->count += CALL;
    }
    cpu->pending |= what;
}

/* The next instruction runs with another PE state. */
static void on_control(unsigned vcpu, void *user)
{
    struct device_cpu *cpu = find_cpu(vcpu);

    (void)user;
    if (cpu)
        call_for(cpu, PENDING_STATE);
}

static void on_eret(unsigned vcpu, void *user)
{
    struct device_cpu *cpu = find_cpu(vcpu);

    (void)user;
    if (cpu)
        call_for(cpu, PENDING_LEVEL);
}

/* The guest reads the system counter: once in a while look at what it gets. */
static void on_counter(unsigned vcpu, void *user)
{
    enum { EVERY = 64 };
    uint32_t word = (uint32_t)(uintptr_t)user;
    struct device_cpu *cpu = find_cpu(vcpu);

    if (!cpu || cpu->pending || cpu->time_reads++ % EVERY || (word & 31) == 31)
        return;
    cpu->time_register = word & 31;
    cpu->time_virtual = word >> 5 & 2;
    call_for(cpu, PENDING_TIME);
}

static void on_tlbi(unsigned vcpu, void *user)
{
    (void)user;
    if (device.functional)
        spe_machine_flush_tlb(device.machine, vcpu);
    atomic_fetch_add_explicit(&device.generation, 1, memory_order_relaxed);
}

/*
 * An exception was taken. QEMU tells the address that it came from: that of the instruction, of the
 * one behind it for SVC and HVC, or for an interrupt of the one that would have been next.
 */
static void discontinuity(unsigned vcpu, unsigned type, uint64_t from, uint64_t to)
{
    struct device_cpu *cpu = find_cpu(vcpu);
    bool exception, never_ran;

    (void)to;
    if (cpu)
        cpu->flow = NULL;
    if (!cpu || (!cpu->watching && !cpu->pending))
        return;
    catch_up(cpu, 0);
    cpu->pending &= ~(unsigned)PENDING_TIME;
    if (cpu->pending & PENDING_SAMPLE) {
        exception = type != QEMU_DISCON_INTERRUPT &&
                    (from == cpu->op.pc ||
                     (from == cpu->op.pc + 4 && cpu->insn.ends_block && !cpu->insn.branch));
        never_ran = !exception && from >= cpu->block_pc && from <= cpu->op.pc;
        finish_sample(cpu, from, exception, never_ran);
    }
    cpu->pending |= PENDING_LEVEL;
    finish_state(cpu);
    arm(cpu, 0);
}

/* ---- Translation ----------------------------------------------------------------------------- */

#define WORD_PSB_CSYNC UINT32_C(0xd503223f)

static bool is_eret(uint32_t word)
{
    return word == 0xd69f03e0 || word == 0xd69f0bff ||
           word == 0xd69f0fff; /* ERET, ERETAA, ERETAB */
}

/* SYS, or SYSP, with CRn 8 or (nXS) 9. */
static bool is_tlbi(uint32_t word)
{
    return (word & 0xffb80000) == 0xd5080000 && ((word >> 12 & 15) == 8 || (word >> 12 & 15) == 9);
}

/* Does its description depend on registers that may change before the block ends? */
static bool needs_registers(const struct spe_a64 *insn)
{
    return insn->address != SPE_A64_NO_ADDRESS || insn->operation.predicated;
}

/*
 * QEMU's helpers of gathers and scatters, and of first-fault and non-fault loads, look for a host
 * address, which they do not get where there are memory callbacks, and crash (seen with 11.1).
 * Addresses of these come from registers.
 */
static bool crashes_with_callbacks(uint32_t word)
{
    struct spe_a64 insn;

    if ((word & 0xfe00e000) == 0xa4006000 || (word & 0xfe10e000) == 0xa410a000) /* LDFF1, LDNF1 */
        return true;
    spe_a64_classify(word, 0, &insn);
    return insn.operation.gather_scatter;
}

static struct qemu_plugin_u64 cell(size_t offset)
{
    return (struct qemu_plugin_u64){device.score, offset};
}

static void instrument(struct qemu_plugin_insn *insn, struct device_site *site)
{
    const struct device_block *block = site->block;
    uint32_t word = block->words[site->index];
    bool blind = device.functional && crashes_with_callbacks(word);

    if (device.functional && !blind)
        qemu_plugin_register_vcpu_mem_cb(insn, device_model_access, QEMU_NO_REGS, QEMU_MEM_BOTH,
                                         site);
    if (block->alone[site->index])
        qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_instruction, QEMU_R_REGS, QEMU_COND_GE,
                                                    cell(offsetof(struct cells, count)),
                                                    TRIP + (block->count - 1 - site->index), site);
    if (blind) /* after the sample has been chosen */
        qemu_plugin_register_vcpu_insn_exec_cb(insn, device_model_evaluate, QEMU_R_REGS, site);
    switch (device_access_kind(word)) {
    case ACCESS_UNIT:
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_access, QEMU_RW_REGS_PC, site);
        return;
    case ACCESS_CONTROL:
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_control, QEMU_NO_REGS, NULL);
        return;
    case ACCESS_COUNTER:
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_counter, QEMU_NO_REGS,
                                               (void *)(uintptr_t)word);
        return;
    case ACCESS_NONE:
        break;
    }
    if (is_eret(word))
        qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, on_eret, QEMU_NO_REGS, QEMU_COND_NE,
                                                    cell(offsetof(struct cells, watching)), 0,
                                                    NULL);
    else if (word == WORD_PSB_CSYNC)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_psb, QEMU_R_REGS, site);
    else if (is_tlbi(word))
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_tlbi, QEMU_NO_REGS, NULL);
}

static struct device_block *new_block(uint64_t pc, size_t count)
{
    struct device_block *block = calloc(1, sizeof(*block));

    if (!block)
        return NULL;
    block->pc = pc;
    block->sites = calloc(count, sizeof(*block->sites));
    block->words = calloc(count, sizeof(*block->words));
    block->alone = calloc(count, sizeof(*block->alone));
    if (!block->sites || !block->words || !block->alone) {
        free(block->sites);
        free(block->words);
        free(block->alone);
        free(block);
        return NULL;
    }
    block->next = atomic_load(&device.blocks);
    while (!atomic_compare_exchange_weak(&device.blocks, &block->next, block))
        ;
    return block;
}

static void translate(struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    struct device_block *block = new_block(qemu_plugin_tb_vaddr(tb), count);
    struct spe_a64 insn;

    if (!block)
        return;
    while (block->count < count) {
        uint32_t i = block->count++, word = plugin_word(qemu_plugin_tb_get_insn(tb, i));

        block->words[i] = word;
        block->sites[i] = (struct device_site){block, i};
        spe_a64_classify(word, 0, &insn);
        block->alone[i] = needs_registers(&insn);
        if (device_access_kind(word) == ACCESS_UNIT)
            break; /* on_access, or an exception, leaves the block */
    }
    if (device.functional) {
        device_model_note_branch(block, &insn);
        qemu_plugin_register_vcpu_tb_exec_cb(tb, device_model_block, QEMU_NO_REGS, block);
    }
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
        tb, QEMU_INLINE_ADD, cell(offsetof(struct cells, count)), block->count);
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_block, QEMU_R_REGS, QEMU_COND_GE,
                                              cell(offsetof(struct cells, count)), TRIP, block);
    for (uint32_t i = 0; i < block->count; i++)
        instrument(qemu_plugin_tb_get_insn(tb, i), &block->sites[i]);
}

/* No vCPU runs now. */
static void flush(void)
{
    struct device_block *block = atomic_exchange(&device.blocks, NULL);

    for (unsigned i = 0; i < DEVICE_CPUS_MAX; i++) {
        struct device_cpu *cpu = find_cpu(i);

        if (cpu)
            cpu->block = cpu->flow = NULL;
    }
    while (block) {
        struct device_block *next = block->next;

        free(block->sites);
        free(block->words);
        free(block->alone);
        free(block);
        block = next;
    }
}

/* ---- Life ------------------------------------------------------------------------------------ */

static struct device_cpu *new_cpu(unsigned vcpu)
{
    struct device_cpu *cpu = calloc(1, sizeof(*cpu));
    const struct spe_spu_host host = {
        .size = sizeof(host),
        .user = cpu,
        .write = device_write,
        .physical_count = device_count,
        .interrupt = device_interrupt,
    };
    struct spe_spu_config config = device.config;
    char why[300] = "out of memory";

    if (!cpu)
        return NULL;
    cpu->index = vcpu;
    spe_spu_config_features(&config, device_features(config.features));
    config.rng_seed += vcpu;
    if (spe_spu_create(&config, &host, &cpu->spu, why, sizeof(why)) < 0) {
        fprintf(stderr, "specimen: %s\n", why);
        free(cpu);
        return NULL;
    }
    spe_pe_state_init(&cpu->pe);
    return cpu;
}

static pthread_once_t registers_once = PTHREAD_ONCE_INIT;

static void find_registers(void)
{
    registers_find();
    device_find_registers();
}

static void vcpu_init(unsigned vcpu)
{
    if (vcpu >= DEVICE_CPUS_MAX || find_cpu(vcpu))
        return;
    pthread_once(&registers_once, find_registers);
    atomic_store(&device.cpus[vcpu], new_cpu(vcpu));
    if (!find_cpu(vcpu))
        _exit(1); /* there is no other way to say that this machine cannot be */
}

static const struct plugin_role role = {
    .vcpu_init = vcpu_init,
    .translate = translate,
    .flush = flush,
    .discontinuity = discontinuity,
};

const struct plugin_role *device_create(const struct qemu_plugin_info *info,
                                        const struct plugin_arguments *arguments)
{
    if (!info->system_emulation || plugin_level() < 6) {
        fputs("specimen: a device takes qemu-system-aarch64 11.0 or newer\n", stderr);
        return NULL;
    }
    if (!device_configure(arguments))
        return NULL;
    if (device.functional && !device_model_create(plugin_argument(arguments, "preset"),
                                                  (unsigned)info->system.max_vcpus))
        return NULL;
    device.score = qemu_plugin_scoreboard_new(sizeof(struct cells));
    return &role;
}
