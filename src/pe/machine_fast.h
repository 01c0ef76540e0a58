/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The access that most accesses are, inline: one line, its page found at once, the line in L1 in a
 * state that is enough. A few nanoseconds, no lock; all else is pe_touch's. And the branch that
 * most branches are.
 */
#ifndef PE_MACHINE_FAST_H
#define PE_MACHINE_FAST_H

#include <stdlib.h>

#include "machine_internal.h"
#include "pe/code.h"

/*
 * The cpu's own caches, as a copy that the compiler need not read again. Most machines have the
 * same shape: where the cpu says so, what depends on it is constant.
 */
struct pe_near {
    struct pe_cache l1, l2;
    uint32_t line_bytes, page_shift;
};

enum { USUAL_LINE_SHIFT = 6, USUAL_PAGE_SHIFT = 12, USUAL_L1_WAYS = 4, USUAL_L2_WAYS = 8 };

PE_INLINE struct pe_near pe_near_of(const struct pe_cpu *cpu, bool usual)
{
    struct pe_near near = {cpu->l1, cpu->l2, cpu->line_bytes, cpu->page_shift};

    if (usual) {
        near.line_bytes = 1u << USUAL_LINE_SHIFT;
        near.page_shift = USUAL_PAGE_SHIFT;
        near.l1.line_shift = near.l2.line_shift = USUAL_LINE_SHIFT;
        near.l1.ways = USUAL_L1_WAYS;
        near.l2.ways = USUAL_L2_WAYS;
        near.l1.all_used = (1u << USUAL_L1_WAYS) - 1;
        near.l2.all_used = (1u << USUAL_L2_WAYS) - 1;
    }
    return near;
}

static inline bool pe_is_usual(const struct pe_cpu *cpu)
{
    return cpu->line_bytes == 1u << USUAL_LINE_SHIFT && cpu->page_shift == USUAL_PAGE_SHIFT &&
           cpu->l1.ways == USUAL_L1_WAYS && cpu->l2.words && cpu->l2.ways == USUAL_L2_WAYS;
}

PE_INLINE uint64_t pe_line_of(const struct pe_near *near, uint64_t address)
{
    return address & PE_ADDRESS_MASK & ~(uint64_t)(near->line_bytes - 1);
}

PE_INLINE bool pe_crosses_lines(const struct pe_near *near, uint64_t address, uint32_t bytes)
{
    return (address & (near->line_bytes - 1)) + bytes > near->line_bytes;
}

PE_INLINE uint64_t *pe_hit_last(const struct pe_cpu *cpu, const struct pe_cache *l1, uint64_t line)
{
    return &cpu->hit_last[line >> l1->line_shift & l1->set_mask];
}

/* Next time the line is looked for there first. */
PE_INLINE void pe_use_l1(struct pe_cpu *cpu, const struct pe_cache *l1, uint64_t line, unsigned way)
{
    *pe_hit_last(cpu, l1, line) = PE_NO_LINE;
    pe_cache_use(l1, line, way);
    cpu->way_hint[line >> l1->line_shift & cpu->hint_mask] = (uint8_t)way;
}

/* The line was hit in L1, as a load that changes nothing would hit it, or a store if it is
 * modified, and its page was used: for pe_hit_again. */
PE_INLINE void pe_note_hit(struct pe_cpu *cpu, const struct pe_near *near, uint64_t line,
                           bool modified)
{
    *pe_hit_last(cpu, &near->l1, line) = line | modified | cpu->tlb.round;
}

/* Is it such an access? Then it has happened. Only loads and stores. */
PE_INLINE bool pe_hit_near(struct pe_cpu *cpu, const struct pe_near *near, uint64_t address,
                           uint32_t bytes, bool store)
{
    uint64_t line = pe_line_of(near, address), page = line >> near->page_shift;
    unsigned entry = cpu->tlb.first[page % PE_TLB_CHAINS];
    unsigned way = cpu->way_hint[line >> near->l1.line_shift & cpu->hint_mask];
    uint64_t word = pe_get(pe_cache_word(&near->l1, line, way));
    uint64_t ignored = PE_TOLD | (store ? 0 : PE_EXCLUSIVE | PE_MODIFIED);
    uint64_t wanted = line | (store ? PE_MODIFIED_LINE : PE_VALID);

    if (pe_crosses_lines(near, address, bytes) || cpu->tlb.page[entry] != page ||
        (word & ~ignored) != wanted)
        return false;
    pe_tlb_use(cpu, entry);
    pe_cache_use(&near->l1, line, way);
    pe_note_hit(cpu, near, line, word & PE_MODIFIED);
    pe_count(&cpu->counts.accesses, 1);
    return true;
}

/*
 * One more hit of the line that was hit last in its set, in the same round of the TLB: its way and
 * its page are known to be used, and nothing but a count changes, which is the caller's. In
 * modelled time only.
 */
PE_INLINE bool pe_hit_again(struct pe_cpu *cpu, const struct pe_near *near, uint64_t address,
                            uint32_t bytes, bool store)
{
    uint64_t line = pe_line_of(near, address);
    uint64_t differs = *pe_hit_last(cpu, &near->l1, line) ^ (line | 1 | cpu->tlb.round);

    /* By 1: it is not modified, and only a load hits it. */
    return differs + store <= 1 && !pe_crosses_lines(near, address, bytes);
}

static inline bool pe_hit(struct pe_cpu *cpu, uint64_t address, uint32_t bytes, bool store)
{
    const struct pe_near near = pe_near_of(cpu, false);

    return pe_hit_near(cpu, &near, address, bytes, store);
}

/* The line takes the place of another in L1. Where there is no L2, that has left before. */
PE_INLINE void pe_fill_l1(struct spe_machine *machine, struct pe_cpu *cpu,
                          const struct pe_cache *l1, uint64_t line, uint64_t state)
{
    unsigned way = pe_cache_victim(l1, line);
    pe_word *word = pe_cache_word(l1, line, way);
    uint64_t old = pe_get(word);

    if ((old & (PE_MODIFIED | PE_TOLD)) == PE_MODIFIED && cpu->l2.words)
        pe_leave_l1(machine, cpu, old & ~(uint64_t)PE_STATE);
    atomic_store_explicit(word, line | state | PE_FRESH, memory_order_release);
    pe_use_l1(cpu, l1, line, way);
    cpu->filled[cpu->fills++ % PE_RECENT_FILLS] = word;
}

PE_INLINE void pe_fill_from_l2(struct spe_machine *machine, struct pe_cpu *cpu,
                               const struct pe_cache *l1, uint64_t line, uint64_t state,
                               bool modify)
{
    uint64_t told = state & PE_MODIFIED ? PE_TOLD : 0;

    pe_fill_l1(machine, cpu, l1, line, state | told | (modify ? PE_MODIFIED : 0));
}

/*
 * In modelled time: a plain load or store misses L1 and finds in L2 all it needs, if it is such a
 * one; else nothing has happened. A line that a prefetcher brought to L2 is none such. `flight` is
 * PE_FLIGHT if the line is on its way to L1 then. The caller counts it.
 */
PE_INLINE bool pe_refill_near(struct spe_machine *machine, struct pe_cpu *cpu,
                              const struct pe_near *near, uint64_t line, bool store,
                              uint64_t flight)
{
    int way = near->l2.words ? pe_cache_find(&near->l2, line) : -1;
    uint64_t state;

    if (way < 0) {
        pe_cache_fetch_set(&machine->llc[0], line); /* most machines have one */
        return false;
    }
    state = pe_get(pe_cache_word(&near->l2, line, (unsigned)way)) & PE_STATE;
    if (state & PE_PREFETCHED || (store && !(state & PE_EXCLUSIVE)))
        return false;
    pe_cache_use(&near->l2, line, (unsigned)way);
    pe_fill_from_l2(machine, cpu, &near->l1, line, state | flight, store);
    return true;
}

/* So many accesses, of which so many were such ones. */
static inline void pe_count_refills(struct pe_cpu *cpu, uint64_t accesses, uint64_t refills)
{
    pe_count(&cpu->counts.accesses, accesses);
    pe_count(&cpu->counts.l1_misses, refills);
    pe_count(&cpu->counts.served[SPE_PLACE_L2], refills);
}

/*
 * A conditional branch that went as its history made sure, and was believed to: there is little to
 * learn from it. If it is such a one it has happened, and was not mispredicted; the caller counts
 * it. `word`: its address in words, or the lower bits of that.
 */
PE_INLINE bool pe_foresee(struct pe_cpu *cpu, uint64_t word, bool taken)
{
    struct pe_predictor *p = &cpu->predictor;
    uint64_t history = p->history, by_pc = word & p->mask, by_history = (word ^ history) & p->mask;
    uint8_t sure = (uint8_t)(taken * PE_STRONG), before; /* no branch: it is the program's */

    if (p->gshare[by_history] != sure)
        return false;
    before = p->bimodal[by_pc];
    if (before != sure) {
        if (!pe_says_yes(p->chooser[by_pc]))
            return false;
        if (pe_says_yes(before) != taken)
            pe_teach(&p->chooser[by_pc], true);
        p->bimodal[by_pc] = (uint8_t)(before + 2 * taken - 1); /* as pe_teach does */
    }
    p->history = history * 2 + taken;
    return true;
}

PE_INLINE bool pe_foreseen(struct pe_cpu *cpu, uint64_t pc, bool taken)
{
    if (!pe_foresee(cpu, pc >> 2, taken))
        return false;
    pe_count(&cpu->counts.branches, 1);
    return true;
}

/* Cycles that translation adds. */
PE_INLINE uint64_t pe_translation_cycles(const struct spe_machine *machine, struct pe_cpu *cpu,
                                         const struct pe_near *near, uint64_t line)
{
    uint64_t page = line >> near->page_shift;
    unsigned entry = cpu->tlb.first[page % PE_TLB_CHAINS];

    if (cpu->tlb.page[entry] != page)
        return pe_translate_other(machine, cpu, page);
    pe_tlb_use(cpu, entry);
    return 0;
}

/* Is it sure? */
PE_INLINE bool pe_learn_stride(struct pe_stride *s, uint64_t pc, uint64_t address)
{
    int64_t stride = (int64_t)(address - s->last);

    if (s->pc != pc) {
        *s = (struct pe_stride){.pc = pc, .last = address, .ahead = address};
        return false;
    }
    if (stride == s->stride && stride != 0 && llabs(stride) <= PE_STRIDE_MAX) {
        s->sure += s->sure < PE_SURE;
    } else {
        s->sure = 0;
        s->stride = stride;
        s->ahead = address;
    }
    s->last = address;
    return s->sure >= PE_SURE;
}

/* pe_prefetch where L2 has the line. */
PE_INLINE void pe_prefetch_by_stride(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc,
                                     uint64_t address, bool store, uint64_t when)
{
    struct pe_stride *s = &cpu->prefetchers.strides[pc >> 2 & (PE_STRIDES - 1)];

    if (pc && machine->config.l1_prefetch.distance && pe_learn_stride(s, pc, address))
        pe_go_by_stride(machine, cpu, s, address, when, store);
}

/* A block that follows itself can be no faster than what one round hands to the next. */
PE_INLINE uint64_t pe_block_time(const struct pe_window *w, const struct pe_block *last,
                                 const struct pe_block *block)
{
    uint64_t width = (uint64_t)last->count * w->step;
    uint64_t round = (uint64_t)last->recurrence * PE_TICKS / PE_RECURRENCE;

    return last == block && round > width ? round : width;
}

/* No store waits and the window has room: most often, when a block begins. */
static inline bool pe_window_passes(const struct pe_cpu *cpu, const struct pe_block *block)
{
    const struct pe_window *w = &cpu->window;

    return w->block && w->stored.first == w->stored.end &&
           w->operations + w->block->count + block->count <= w->full_at;
}

/* pe_window_begin in that case, behind a branch that was foreseen. */
PE_INLINE void pe_window_pass(struct pe_cpu *cpu, const struct pe_block *block, uint64_t ticks)
{
    struct pe_window *w = &cpu->window;
    const struct pe_block *last = w->block;
    bool late = w->late & last->registers;

    if (late)
        pe_window_settle(cpu);
    w->now += ticks;
    if (late && w->late_until <= w->now)
        w->late = 0;
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
