/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Translation: a fully associative first level, a set-associative second, then a walk. */
#include "machine_internal.h"

#include <stdlib.h>

int pe_tlb_init(struct pe_tlb *tlb, const struct spe_machine_config *config)
{
    if (config->l2_tlb_entries) {
        tlb->l2 = calloc(config->l2_tlb_entries, sizeof(*tlb->l2));
        tlb->l2_used = calloc(config->l2_tlb_entries / config->l2_tlb_ways, sizeof(*tlb->l2_used));
        if (!tlb->l2 || !tlb->l2_used)
            return SPE_ERR_NOMEM;
    }
    pe_tlb_flush(tlb, config);
    return SPE_OK;
}

void pe_tlb_free(struct pe_tlb *tlb)
{
    free(tlb->l2);
    free(tlb->l2_used);
}

void pe_tlb_flush(struct pe_tlb *tlb, const struct spe_machine_config *config)
{
    for (unsigned i = 0; i < PE_RECENT_PAGES; i++)
        tlb->recent_page[i] = PE_NO_PAGE;
    for (unsigned i = 0; i < PE_TLB_MAX; i++)
        tlb->page[i] = PE_NO_PAGE;
    tlb->used = 0;
    for (unsigned i = 0; i < config->l2_tlb_entries; i++)
        tlb->l2[i] = PE_NO_PAGE;
    for (unsigned i = 0; i < config->l2_tlb_entries; i += config->l2_tlb_ways)
        tlb->l2_used[i / config->l2_tlb_ways] = 0;
}

static void use(struct pe_cpu *cpu, unsigned way)
{
    cpu->tlb.used |= UINT64_C(1) << way;
    if (cpu->tlb.used == cpu->tlb_all)
        cpu->tlb.used = UINT64_C(1) << way;
}

static int find_first_level(const struct pe_cpu *cpu, unsigned entries, uint64_t page)
{
    const struct pe_tlb *tlb = &cpu->tlb;
    unsigned recent = page % PE_RECENT_PAGES;

    if (tlb->recent_page[recent] == page)
        return tlb->recent_way[recent];
    for (unsigned way = 0; way < entries; way++)
        if (tlb->page[way] == page)
            return (int)way;
    return -1;
}

static unsigned fill_first_level(struct pe_cpu *cpu, unsigned entries, uint64_t page)
{
    struct pe_tlb *tlb = &cpu->tlb;
    unsigned way = 0;

    while (way < entries && tlb->page[way] != PE_NO_PAGE)
        way++;
    if (way == entries)
        way = entries == 1 ? 0 : (unsigned)__builtin_ctzll(~tlb->used);
    if (tlb->recent_page[tlb->page[way] % PE_RECENT_PAGES] == tlb->page[way])
        tlb->recent_page[tlb->page[way] % PE_RECENT_PAGES] = PE_NO_PAGE;
    tlb->page[way] = page;
    return way;
}

/* Is it there? It is afterwards. */
static bool second_level(const struct spe_machine *machine, struct pe_tlb *tlb, uint64_t page)
{
    unsigned ways = machine->config.l2_tlb_ways, set = page & machine->tlb_set_mask, way = 0;
    uint64_t *pages = &tlb->l2[(size_t)set * ways];
    uint32_t *used = &tlb->l2_used[set], all = UINT32_MAX >> (32 - ways);
    bool hit;

    while (way < ways && pages[way] != page)
        way++;
    hit = way < ways;
    if (!hit)
        for (way = 0; way < ways && pages[way] != PE_NO_PAGE;)
            way++;
    if (way == ways)
        way = ways == 1 ? 0 : (unsigned)__builtin_ctz(~*used);
    pages[way] = page;
    *used |= UINT32_C(1) << way;
    if (*used == all)
        *used = UINT32_C(1) << way;
    return hit;
}

void pe_translate(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address,
                  struct spe_machine_access *met)
{
    const struct spe_machine_config *config = &machine->config;
    uint64_t page = address >> machine->page_shift;
    int way = find_first_level(cpu, config->l1_tlb_entries, page);
    unsigned recent = page % PE_RECENT_PAGES;

    met->facts |= SPE_FACT_TLB_ACCESS;
    if (way < 0) {
        way = (int)fill_first_level(cpu, config->l1_tlb_entries, page);
        pe_count(&cpu->counts.tlb_l1_misses, 1);
        if (cpu->tlb.l2 && second_level(machine, &cpu->tlb, page)) {
            met->translation_cycles = config->l2_tlb_latency;
        } else {
            met->translation_cycles = config->walk_latency;
            met->facts |= SPE_FACT_TLB_WALK;
            pe_count(&cpu->counts.walks, 1);
        }
    }
    use(cpu, (unsigned)way);
    cpu->tlb.recent_page[recent] = page;
    cpu->tlb.recent_way[recent] = (uint8_t)way;
}
