/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The access that most accesses are, inline: one line, its page found at once, the line in L1 in a
 * state that is enough. A few nanoseconds, no lock; all else is spe_machine_touch's.
 */
#ifndef PE_MACHINE_FAST_H
#define PE_MACHINE_FAST_H

#include "machine_internal.h"

/* Is it such an access? Then it has happened. Only loads, stores and atomics; the cpu exists. */
static inline bool pe_hit(struct pe_cpu *cpu, uint64_t address, uint32_t bytes, bool store)
{
    uint64_t line = address & PE_ADDRESS_MASK & ~(uint64_t)(cpu->line_bytes - 1);
    uint64_t page = line >> cpu->page_shift;
    unsigned entry = cpu->tlb.first[page % PE_TLB_CHAINS];
    unsigned way = cpu->way_hint[line >> cpu->l1.line_shift & cpu->hint_mask];
    uint64_t word = pe_get(pe_cache_word(&cpu->l1, line, way));
    uint64_t ignored = store ? 0 : PE_EXCLUSIVE | PE_MODIFIED;
    uint64_t wanted = line | (store ? PE_MODIFIED_LINE : PE_VALID);

    if ((address & (cpu->line_bytes - 1)) + bytes > cpu->line_bytes ||
        cpu->tlb.page[entry] != page || (word & ~ignored) != wanted)
        return false;
    pe_tlb_use(&cpu->tlb, entry);
    pe_cache_use(&cpu->l1, line, way);
    pe_count(&cpu->counts.accesses, 1);
    return true;
}

/* ---- Directions: two-bit counters, see predictor.c ------------------------------------------ */

enum { PE_WEAK = 1 /* says no, and changes its mind at once */, PE_STRONG = 3 };

/* Most counters are at their end and stay there: then nothing is written. */
static inline void pe_teach(uint8_t *counter, unsigned value, bool yes)
{
    if (__builtin_expect(value != (yes ? PE_STRONG : 0), 0))
        *counter = (uint8_t)(yes ? value + 1 : value - 1);
}

/* Was the direction foreseen? All is read before anything is written: the compiler has to take a
 * counter for a part of anything. */
static inline bool pe_direction(const struct spe_machine *machine, struct pe_predictor *p,
                                uint64_t pc, bool taken)
{
    uint64_t history = p->history, mask = machine->counter_mask, place = pc >> 2;
    uint8_t *bimodal = &p->bimodal[place & mask], *chooser = &p->chooser[place & mask];
    uint8_t *gshare = &p->gshare[(place ^ history) & mask];
    unsigned plain = *bimodal, shared = *gshare, choice = *chooser;
    bool plain_right = (plain > PE_WEAK) == taken, shared_right = (shared > PE_WEAK) == taken;

    p->history = history << 1 | taken;
    pe_teach(bimodal, plain, taken);
    pe_teach(gshare, shared, taken);
    if (__builtin_expect(plain_right != shared_right, 0))
        pe_teach(chooser, choice, shared_right);
    return choice > PE_WEAK ? shared_right : plain_right;
}

/* spe_machine_branch of a direct conditional branch that does not link. The cpu exists. */
static inline bool spe_machine_direction_fast(struct spe_machine *machine, unsigned cpu,
                                              uint64_t pc, bool taken)
{
    struct pe_cpu *c = machine->cpus[cpu];

    pe_count(&c->counts.branches, 1);
    if (__builtin_expect(pe_direction(machine, &c->predictor, pc, taken), 1))
        return false;
    pe_count(&c->counts.mispredicted, 1);
    c->refetched_at = pe_get(&c->counts.accesses);
    return true;
}

/* ---- Accesses ------------------------------------------------------------------------------- */

/* spe_machine_touch for accesses whose result nobody asks for. */
static inline bool spe_machine_touch_fast(struct spe_machine *machine, unsigned cpu,
                                          uint64_t address, uint32_t bytes, bool store)
{
    if (pe_hit(machine->cpus[cpu], address, bytes, store))
        return false;
    return spe_machine_touch(machine, cpu, address, bytes, store ? SPE_ACCESS_STORE : 0, NULL);
}

#endif
