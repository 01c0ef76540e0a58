/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The access that most accesses are, inline: one line, its page found at once, the line in L1 in a
 * state that is enough. A few nanoseconds, no lock; all else is pe_touch's. And the branch that
 * most branches are.
 */
#ifndef PE_MACHINE_FAST_H
#define PE_MACHINE_FAST_H

#include "machine_internal.h"
#include "pe/code.h"

/* Is it such an access? Then it has happened. Only loads and stores. */
static inline bool pe_hit(struct pe_cpu *cpu, uint64_t address, uint32_t bytes, bool store)
{
    uint64_t line = address & PE_ADDRESS_MASK & ~(uint64_t)(cpu->line_bytes - 1);
    uint64_t page = line >> cpu->page_shift;
    unsigned entry = cpu->tlb.first[page % PE_TLB_CHAINS];
    unsigned way = cpu->way_hint[line >> cpu->l1.line_shift & cpu->hint_mask];
    uint64_t word = pe_get(pe_cache_word(&cpu->l1, line, way));
    uint64_t ignored = PE_TOLD | (store ? 0 : PE_EXCLUSIVE | PE_MODIFIED);
    uint64_t wanted = line | (store ? PE_MODIFIED_LINE : PE_VALID);

    if ((address & (cpu->line_bytes - 1)) + bytes > cpu->line_bytes ||
        cpu->tlb.page[entry] != page || (word & ~ignored) != wanted)
        return false;
    pe_tlb_use(&cpu->tlb, entry);
    pe_cache_use(&cpu->l1, line, way);
    pe_count(&cpu->counts.accesses, 1);
    return true;
}

/*
 * A conditional branch that went as its history made sure, and was believed to: there is little to
 * learn from it. If it is such a one it has happened, and was not mispredicted.
 */
static inline bool pe_foreseen(struct pe_cpu *cpu, uint64_t pc, bool taken)
{
    struct pe_predictor *p = &cpu->predictor;
    uint64_t by_pc = pc >> 2 & p->mask, by_history = (pc >> 2 ^ p->history) & p->mask;
    uint8_t sure = taken ? PE_STRONG : 0;

    if (p->gshare[by_history] != sure)
        return false;
    if (p->bimodal[by_pc] != sure) {
        if (!pe_says_yes(p->chooser[by_pc]))
            return false;
        if (pe_says_yes(p->bimodal[by_pc]) != taken)
            pe_teach(&p->chooser[by_pc], true);
        pe_teach(&p->bimodal[by_pc], taken);
    }
    p->history = p->history << 1 | taken;
    pe_count(&cpu->counts.branches, 1);
    return true;
}

/* A block that follows itself can be no faster than what one round hands to the next. */
static inline uint64_t pe_block_time(const struct pe_window *w, const struct pe_block *last,
                                     const struct pe_block *block)
{
    uint64_t width = (uint64_t)last->count * w->step;
    uint64_t round = (uint64_t)last->recurrence * PE_TICKS / PE_RECURRENCE;

    return last == block && round > width ? round : width;
}

/* Nothing is late, no store waits and the window has room: most often, when a block begins. */
static inline bool pe_window_passes(const struct pe_cpu *cpu, const struct pe_block *block)
{
    const struct pe_window *w = &cpu->window;

    return w->block && !w->late && w->stored.first == w->stored.end &&
           w->operations + w->block->count + block->count <= w->full_at;
}

/* pe_window_begin in that case, behind a branch that was foreseen. */
static inline void pe_window_pass(struct pe_cpu *cpu, const struct pe_block *block)
{
    struct pe_window *w = &cpu->window;
    const struct pe_block *last = w->block;

    w->now += pe_block_time(w, last, block);
    w->operations += last->count;
    w->stores += last->stores;
    w->block = block;
    w->settled = 0;
}

/*
 * Only one thread uses the machine from now on, or several: nothing needs a lock while it is one.
 * That thread itself says so, before there is another.
 */
static inline void spe_machine_alone(struct spe_machine *machine, bool alone)
{
    if (machine->alone != alone) /* one of several threads may say that there is one more */
        machine->alone = alone;
}

/* spe_machine_touch for a plain load or store whose result nobody asks for. */
static inline bool pe_touch_fast(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address,
                                 uint32_t bytes, bool store)
{
    return !pe_hit(cpu, address, bytes, store) && pe_touch(machine, cpu, address, bytes, store);
}

#endif
