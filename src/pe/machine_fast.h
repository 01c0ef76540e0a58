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

/* spe_machine_touch for accesses whose result nobody asks for. */
static inline bool spe_machine_touch_fast(struct spe_machine *machine, unsigned cpu,
                                          uint64_t address, uint32_t bytes, bool store)
{
    if (pe_hit(machine->cpus[cpu], address, bytes, store))
        return false;
    return spe_machine_touch(machine, cpu, address, bytes, store ? SPE_ACCESS_STORE : 0, NULL);
}

#endif
