/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Branch prediction. Direction: two tables of two-bit counters, one by address (bimodal), one by
 * address and the directions of the latest conditional branches (gshare), and a third that has
 * learnt which of them to believe. Indirect targets: by address and the path of the latest four
 * indirect targets if that was seen before, else the latest target. Returns: a stack.
 */
#include "machine_internal.h"

#include <stdlib.h>
#include <string.h>

int pe_predictor_init(struct pe_predictor *predictor, const struct spe_machine_config *config)
{
    size_t counters = (size_t)1 << config->predictor_bits;

    predictor->mask = counters - 1;
    predictor->bimodal = malloc(counters);
    predictor->gshare = malloc(counters);
    predictor->chooser = malloc(counters);
    predictor->latest = calloc(config->btb_entries, sizeof(*predictor->latest));
    predictor->by_path = calloc(config->btb_entries, sizeof(*predictor->by_path));
    predictor->stack = calloc(config->return_stack, sizeof(*predictor->stack));
    if (!predictor->bimodal || !predictor->gshare || !predictor->chooser || !predictor->latest ||
        !predictor->by_path || !predictor->stack)
        return SPE_ERR_NOMEM;
    memset(predictor->bimodal, PE_WEAK, counters);
    memset(predictor->gshare, PE_WEAK, counters);
    memset(predictor->chooser, PE_WEAK, counters);
    return SPE_OK;
}

void pe_predictor_free(struct pe_predictor *predictor)
{
    free(predictor->bimodal);
    free(predictor->gshare);
    free(predictor->chooser);
    free(predictor->latest);
    free(predictor->by_path);
    free(predictor->stack);
}

static struct pe_target *target_at(const struct spe_machine *machine, struct pe_target *table,
                                   uint64_t key)
{
    return &table[key * UINT64_C(0x9e3779b97f4a7c15) >> 32 & machine->target_mask];
}

#define APART __attribute__((noinline)) /* what does not need it saves none of its registers */

/* The target of a return is on the stack. */
static inline bool is_looked_up(unsigned kind)
{
    return (kind & (SPE_BRANCH_INDIRECT | SPE_BRANCH_RETURN)) == SPE_BRANCH_INDIRECT;
}

APART static bool indirect(const struct spe_machine *machine, struct pe_predictor *p, uint64_t pc,
                           uint64_t target)
{
    uint64_t key = pc ^ p->path << 2;
    struct pe_target *latest = target_at(machine, p->latest, pc);
    struct pe_target *by_path = target_at(machine, p->by_path, key);
    const struct pe_target *guess = by_path->pc == key ? by_path : latest;
    bool right = guess->target == target && guess->pc == (guess == by_path ? key : pc);

    if (!right || by_path->pc == key) /* what the latest target tells needs no second entry */
        *by_path = (struct pe_target){key, target};
    *latest = (struct pe_target){pc, target};
    p->path = p->path << 16 ^ target >> 2;
    return right;
}

static void push(struct pe_predictor *p, uint32_t entries, uint64_t address)
{
    p->stack_top = p->stack_top + 1 < entries ? p->stack_top + 1 : 0;
    p->stack[p->stack_top] = address;
    p->stack_depth += p->stack_depth < entries;
}

static bool pop(struct pe_predictor *p, uint32_t entries, uint64_t target)
{
    bool right = p->stack_depth && p->stack[p->stack_top] == target;

    if (p->stack_depth) {
        p->stack_depth--;
        p->stack_top = p->stack_top ? p->stack_top - 1 : entries - 1;
    }
    return right;
}

/* Apart: most that come here are not conditional, and need fewer of the host's registers. */
APART static bool conditional(const struct spe_machine *machine, struct pe_predictor *p,
                              uint64_t pc, unsigned kind, bool taken, uint64_t target)
{
    bool right = pe_direction(p, pc >> 2, taken);

    if (is_looked_up(kind) && taken)
        right &= indirect(machine, p, pc, target);
    return right;
}

/* Direct targets are known when the branch is decoded: only a direction can be wrong. */
APART static bool is_wrong(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc,
                           unsigned kind, bool taken, uint64_t target)
{
    struct pe_predictor *p = &cpu->predictor;
    bool right = true;

    if (kind & SPE_BRANCH_RETURN)
        right = pop(p, machine->config.return_stack, target);
    if (kind & SPE_BRANCH_LINK)
        push(p, machine->config.return_stack, pc + 4);
    if (kind & SPE_BRANCH_CONDITIONAL)
        right &= conditional(machine, p, pc, kind, taken, target);
    else if (is_looked_up(kind) && taken)
        right &= indirect(machine, p, pc, target);
    if (!right)
        pe_count(&cpu->counts.mispredicted, 1);
    return !right;
}

/* A jump is counted, and that is all. */
bool pe_branch(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc, unsigned kind,
               bool taken, uint64_t target)
{
    pe_count(&cpu->counts.branches, 1);
    return kind && is_wrong(machine, cpu, pc, kind, taken, target);
}

bool spe_machine_branch(struct spe_machine *machine, unsigned cpu, uint64_t pc, unsigned kind,
                        bool taken, uint64_t target)
{
    struct pe_cpu *c;

    if (cpu >= machine->config.cpus)
        return false;
    c = machine->cpus[cpu];
    if (!pe_branch(machine, c, pc, kind, taken, target))
        return false;
    c->refetched_at = pe_moment(c);
    return true;
}
