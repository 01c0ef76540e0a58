/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Translation: a fully associative first level, a set-associative second, then a walk. */
#include "machine_internal.h"

#include <stdlib.h>

int pe_tlb_init(struct pe_cpu *cpu, const struct spe_machine_config *config)
{
    struct pe_tlb *tlb = &cpu->tlb;

    tlb->entries = config->l1_tlb_entries;
    tlb->all = UINT64_MAX >> (64 - tlb->entries);
    tlb->page[PE_TLB_MAX] = PE_NO_PAGE;
    if (config->l2_tlb_entries) {
        tlb->l2 = calloc(config->l2_tlb_entries, sizeof(*tlb->l2));
        tlb->l2_used = calloc(config->l2_tlb_entries / config->l2_tlb_ways, sizeof(*tlb->l2_used));
        if (!tlb->l2 || !tlb->l2_used)
            return SPE_ERR_NOMEM;
    }
    pe_tlb_flush(cpu, config);
    return SPE_OK;
}

static void forget_hits(struct pe_cpu *cpu)
{
    for (uint64_t i = 0; i <= cpu->l1.set_mask; i++)
        cpu->hit_last[i] = PE_NO_LINE;
}

void pe_tlb_next_round(struct pe_cpu *cpu)
{
    cpu->tlb.round += PE_TLB_ROUND;
    if (!cpu->tlb.round) /* as a round long ago */
        forget_hits(cpu);
}

void pe_tlb_free(struct pe_tlb *tlb)
{
    free(tlb->l2);
    free(tlb->l2_used);
}

void pe_tlb_flush(struct pe_cpu *cpu, const struct spe_machine_config *config)
{
    struct pe_tlb *tlb = &cpu->tlb;

    for (unsigned i = 0; i < PE_TLB_CHAINS; i++)
        tlb->first[i] = PE_TLB_MAX;
    tlb->filled = 0;
    tlb->used = 0;
    forget_hits(cpu);
    for (unsigned i = 0; i < config->l2_tlb_entries; i++)
        tlb->l2[i] = PE_NO_PAGE;
    for (unsigned i = 0; i < config->l2_tlb_entries; i += config->l2_tlb_ways)
        tlb->l2_used[i / config->l2_tlb_ways] = 0;
}

/* The entry of a page, or PE_TLB_MAX. */
static unsigned find_first_level(const struct pe_tlb *tlb, uint64_t page)
{
    unsigned entry = tlb->first[page % PE_TLB_CHAINS];

    while (entry != PE_TLB_MAX && tlb->page[entry] != page)
        entry = tlb->next[entry];
    return entry;
}

PE_INLINE void unlink_entry(struct pe_tlb *tlb, unsigned entry)
{
    uint8_t *link = &tlb->first[tlb->page[entry] % PE_TLB_CHAINS];

    while (*link != entry)
        link = &tlb->next[*link];
    *link = tlb->next[entry];
}

/* The entry becomes the first of its chain. */
PE_INLINE void link_entry(struct pe_tlb *tlb, unsigned entry)
{
    uint8_t *first = &tlb->first[tlb->page[entry] % PE_TLB_CHAINS];

    tlb->next[entry] = *first;
    *first = (uint8_t)entry;
}

PE_INLINE unsigned fill_first_level(struct pe_tlb *tlb, uint64_t page)
{
    unsigned entry = 0;

    if (tlb->filled < tlb->entries) {
        entry = tlb->filled++;
    } else {
        if (tlb->entries > 1)
            entry = (unsigned)__builtin_ctzll(~tlb->used);
        unlink_entry(tlb, entry);
    }
    tlb->page[entry] = page;
    link_entry(tlb, entry);
    return entry;
}

/* The way of a page that the second level does not have. */
static unsigned second_level_victim(const pe_word *pages, unsigned ways, uint32_t used)
{
    uint32_t unused = pe_compare_all(pages, ways, UINT64_MAX, PE_NO_PAGE);

    if (unused)
        return (unsigned)__builtin_ctz(unused);
    return ways > 1 ? (unsigned)__builtin_ctz(~used) : 0;
}

/* The page's way; false: the page was not there, but is to be there now. */
PE_INLINE bool find_second_level(struct pe_tlb *tlb, pe_word *pages, unsigned ways, uint32_t used,
                                 uint64_t page, unsigned *way)
{
    uint8_t *hint = &tlb->l2_hint[page % PE_TLB_HINTS];
    uint32_t same;

    *way = *hint;
    if (pe_get(&pages[*way]) == page)
        return true;
    same = pe_compare_all(pages, ways, UINT64_MAX, page);
    *way = same ? (unsigned)__builtin_ctz(same) : second_level_victim(pages, ways, used);
    *hint = (uint8_t)*way;
    atomic_store_explicit(&pages[*way], page, memory_order_relaxed);
    return same;
}

/* Is it there? It is afterwards. */
PE_INLINE bool second_level(const struct spe_machine *machine, struct pe_tlb *tlb, uint64_t page)
{
    unsigned ways = machine->config.l2_tlb_ways, set = page & machine->tlb_set_mask, way;
    pe_word *pages = &tlb->l2[(size_t)set * ways];
    uint32_t *used = &tlb->l2_used[set], all = UINT32_MAX >> (32 - ways);
    bool there = find_second_level(tlb, pages, ways, *used, page, &way);

    *used |= UINT32_C(1) << way;
    if (*used == all)
        *used = UINT32_C(1) << way;
    return there;
}

/* The page's entry in the first level, which did not have it. Returns the cycles that it takes. */
PE_INLINE uint32_t find_page(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t page,
                             unsigned *entry, bool *walked)
{
    pe_count(&cpu->counts.tlb_l1_misses, 1);
    *walked = !cpu->tlb.l2 || !second_level(machine, &cpu->tlb, page);
    if (*walked)
        pe_count(&cpu->counts.walks, 1);
    *entry = fill_first_level(&cpu->tlb, page);
    return *walked ? machine->config.walk_latency : machine->config.l2_tlb_latency;
}

bool pe_translate(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address,
                  struct spe_machine_access *met)
{
    uint64_t page = address >> machine->page_shift;
    unsigned entry = find_first_level(&cpu->tlb, page);
    bool hit = entry != PE_TLB_MAX, walked = false;

    if (!hit)
        met->translation_cycles = find_page(machine, cpu, page, &entry, &walked);
    met->facts |= SPE_FACT_TLB_ACCESS | (walked ? SPE_FACT_TLB_WALK : 0);
    pe_tlb_use(cpu, entry);
    return hit;
}

uint64_t pe_translate_other(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t page)
{
    unsigned entry = find_first_level(&cpu->tlb, page);
    uint32_t cycles = 0;
    bool walked;

    if (entry == PE_TLB_MAX)
        cycles = find_page(machine, cpu, page, &entry, &walked);
    pe_tlb_use(cpu, entry);
    return cycles;
}
