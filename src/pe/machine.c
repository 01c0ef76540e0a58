/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The machine: its life, its accesses, its counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "machine_fast.h"

#define LOCKS_MAX 1024

/* ---- Life ----------------------------------------------------------------------------------- */

static void free_cpu(struct pe_cpu *cpu)
{
    if (!cpu)
        return;
    pe_cache_free(&cpu->l1);
    pe_cache_free(&cpu->l2);
    pe_tlb_free(&cpu->tlb);
    pe_predictor_free(&cpu->predictor);
    free(cpu->way_hint);
    free(cpu->hit_last);
    free(cpu);
}

void spe_machine_destroy(struct spe_machine *machine)
{
    if (!machine)
        return;
    for (unsigned i = 0; machine->cpus && i < machine->config.cpus; i++)
        free_cpu(machine->cpus[i]);
    for (unsigned i = 0; i < PE_SOCKETS_MAX; i++)
        pe_cache_free(&machine->llc[i]);
    pe_directory_free(&machine->directory);
    free(machine->cpus);
    free(machine->locks);
    free(machine->homes);
    free(machine);
}

static void *allocate_aligned(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);

    if (memory)
        memset(memory, 0, size);
    return memory;
}

static int init_cpu(const struct spe_machine *machine, struct pe_cpu *cpu, unsigned number)
{
    const struct spe_machine_config *config = &machine->config;
    uint64_t lines = config->l1d.bytes / config->line_bytes, hints = 1;
    int error;

    while (hints < lines)
        hints *= 2;
    cpu->number = number;
    /* CPUs that come when a thread needs one are spread: nobody knows how many there will be. */
    cpu->socket =
        machine->on_demand ? number % config->sockets : number * config->sockets / config->cpus;
    cpu->line_bytes = config->line_bytes;
    cpu->page_shift = machine->page_shift;
    cpu->hint_mask = hints - 1;
    cpu->window.step = PE_TICKS / config->issue_width;
    cpu->window.full_at = UINT64_MAX;
    cpu->way_hint = calloc(hints, sizeof(*cpu->way_hint));
    cpu->hit_last = malloc(lines / config->l1d.ways * sizeof(*cpu->hit_last));
    error = cpu->way_hint && cpu->hit_last ? SPE_OK : SPE_ERR_NOMEM;
    if (!error)
        error = pe_cache_init(&cpu->l1, &config->l1d, machine->line_shift);
    if (!error)
        error = pe_cache_init(&cpu->l2, &config->l2, machine->line_shift);
    cpu->usual = pe_is_usual(cpu);
    if (!error)
        error = pe_tlb_init(cpu, config);
    return error ? error : pe_predictor_init(&cpu->predictor, config);
}

static int make_cpu(struct spe_machine *machine, unsigned number)
{
    struct pe_cpu *cpu = allocate_aligned(sizeof(*cpu));
    int error = cpu ? init_cpu(machine, cpu, number) : SPE_ERR_NOMEM;

    if (error) {
        free_cpu(cpu);
        return error;
    }
    machine->cpus[number] = cpu;
    return SPE_OK;
}

static int init_cpus(struct spe_machine *machine, unsigned count)
{
    int error = SPE_OK;

    machine->cpus = calloc(machine->config.cpus, sizeof(struct pe_cpu *));
    if (!machine->cpus)
        return SPE_ERR_NOMEM;
    for (unsigned i = 0; !error && i < count; i++)
        error = make_cpu(machine, i);
    return error;
}

static const struct pe_cache *outermost_of(const struct spe_machine *machine)
{
    return machine->config.l2.bytes ? &machine->cpus[0]->l2 : &machine->cpus[0]->l1;
}

/* As many locks as indexes that the outermost private cache and the LLC have in common. */
static int init_locks(struct spe_machine *machine, const struct pe_cache *outermost)
{
    uint64_t mask = outermost->set_mask & (LOCKS_MAX - 1);

    if (machine->llc[0].words)
        mask &= machine->llc[0].set_mask;
    machine->lock_mask = mask;
    machine->locks = allocate_aligned((mask + 1) * sizeof(struct pe_lock));
    return machine->locks ? SPE_OK : SPE_ERR_NOMEM;
}

static int init_shared(struct spe_machine *machine, unsigned cpus)
{
    const struct spe_machine_config *config = &machine->config;
    const struct pe_cache *outermost = outermost_of(machine);
    int error = SPE_OK;

    for (unsigned i = 0; !error && i < config->sockets; i++)
        error = pe_cache_init(&machine->llc[i], &config->llc, machine->line_shift);
    if (!error && config->sockets > 1) {
        machine->homes = calloc(PE_HOMES, sizeof(*machine->homes));
        error = machine->homes ? SPE_OK : SPE_ERR_NOMEM;
    }
    if (!error)
        error = pe_directory_init(&machine->directory, outermost, cpus);
    return error ? error : init_locks(machine, outermost);
}

/* A load that fails reads L1 behind the store: what it takes longer than that, the store takes. */
static void derive_store_queue(struct spe_machine *machine)
{
    const struct spe_machine_config *config = &machine->config;
    uint32_t l1 = config->l1d.latency;
    uint32_t forward = config->forward_latency ? config->forward_latency : l1;
    uint32_t store = config->forward_failure > l1 ? config->forward_failure - l1 : 0;
    uint32_t past = store > l1 ? store : l1; /* chains of loads and stores have no gaps */

    machine->forward_ticks = (uint64_t)forward * PE_TICKS;
    machine->store_ticks = (uint64_t)store * PE_TICKS;
    machine->past_ticks = (uint64_t)past * PE_TICKS;
}

static void derive(struct spe_machine *machine)
{
    const struct spe_machine_config *config = &machine->config;

    machine->line_shift = pe_log2(config->line_bytes);
    machine->page_shift = pe_log2(config->page_bytes);
    machine->target_mask = config->btb_entries - 1;
    if (config->l2_tlb_entries)
        machine->tlb_set_mask = config->l2_tlb_entries / config->l2_tlb_ways - 1;
    for (unsigned place = 0; place < SPE_PLACE_COUNT; place++)
        for (unsigned snooped = 0; snooped < 2; snooped++)
            machine->cycles[place][snooped] = pe_access_cycles(config, place, snooped);
    machine->intervals[SPE_PLACE_L2] = (uint64_t)config->l2_interval * PE_TICKS;
    machine->intervals[SPE_PLACE_LLC] = (uint64_t)config->llc_interval * PE_TICKS;
    machine->intervals[SPE_PLACE_MEMORY] = (uint64_t)config->memory_interval * PE_TICKS;
    machine->intervals[SPE_PLACE_REMOTE_MEMORY] = machine->intervals[SPE_PLACE_MEMORY];
    derive_store_queue(machine);
}

/* With so many of its cpus. */
static int create(const struct spe_machine_config *config, unsigned cpus,
                  struct spe_machine **machine, char *why, size_t why_size)
{
    struct spe_machine *m;
    int error = spe_machine_config_validate(config, why, why_size);

    if (error)
        return error;
    m = calloc(1, sizeof(*m));
    if (!m)
        return SPE_ERR_NOMEM;
    m->config = *config;
    m->on_demand = cpus < config->cpus;
    derive(m);
    error = init_cpus(m, cpus);
    if (!error)
        error = init_shared(m, cpus);
    if (error)
        spe_machine_destroy(m);
    else
        *machine = m;
    return error;
}

/* Members that the caller does not know are those of the first preset. */
int spe_machine_create(const struct spe_machine_config *config, struct spe_machine **machine,
                       char *why, size_t why_size)
{
    struct spe_machine_config own;

    spe_machine_config_init(&own, NULL);
    if (!sized_take(&own, sizeof(own), config, config->size)) {
        snprintf(why, why_size, "the configuration has no size, or is of a later version");
        return SPE_ERR_INVALID;
    }
    own.size = sizeof(own);
    return create(&own, own.cpus, machine, why, why_size);
}

int pe_machine_create(const struct spe_machine_config *config, struct spe_machine **machine,
                      char *why, size_t why_size)
{
    return create(config, 1, machine, why, why_size);
}

struct pe_cpu *pe_machine_cpu(struct spe_machine *machine, unsigned number)
{
    struct pe_directory *directory = &machine->directory;
    int error = SPE_OK;

    if (machine->cpus[number])
        return machine->cpus[number];
    if (number >= directory->cpus)
        error = pe_directory_grow(directory, outermost_of(machine), number + 1);
    if (!error)
        error = make_cpu(machine, number);
    return error ? NULL : machine->cpus[number];
}

/* ---- Accesses ------------------------------------------------------------------------------- */

void pe_merge_access(struct spe_machine_access *whole, const struct spe_machine_access *part)
{
    uint32_t facts = whole->facts | part->facts;

    if (part->cycles > whole->cycles)
        *whole = *part;
    whole->facts = facts;
}

/* Did it miss? */
static bool touch_line(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, unsigned how,
                       struct spe_machine_access *met)
{
    bool missed = !pe_translate(machine, cpu, line, met);

    if (how & (SPE_ACCESS_CLEAN | SPE_ACCESS_INVALIDATE))
        pe_maintain_line(machine, line, how, met);
    else
        pe_access_line(machine, cpu, line, how, met);
    return missed || met->facts & SPE_FACT_L1D_MISS;
}

static bool touch(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address, uint32_t bytes,
                  unsigned how, struct spe_machine_access *whole)
{
    uint64_t line = address & PE_ADDRESS_MASK & ~(uint64_t)(machine->config.line_bytes - 1);
    uint64_t offset = address & (machine->config.line_bytes - 1);
    uint64_t lines = 1 + ((offset + (bytes ? bytes - 1 : 0)) >> machine->line_shift);
    bool missed = touch_line(machine, cpu, line, how, whole);

    while (--lines) {
        struct spe_machine_access part = {0};

        line = (line + machine->config.line_bytes) & PE_ADDRESS_MASK;
        missed |= touch_line(machine, cpu, line, how, &part);
        pe_merge_access(whole, &part);
    }
    return missed;
}

bool pe_touch(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address, uint32_t bytes,
              bool store)
{
    uint64_t line = address & PE_ADDRESS_MASK & ~(uint64_t)(cpu->line_bytes - 1);
    unsigned how = store ? SPE_ACCESS_STORE : 0;
    struct spe_machine_access met = {0};
    bool missed;

    if ((address & (cpu->line_bytes - 1)) + bytes > cpu->line_bytes)
        return touch(machine, cpu, address, bytes, how, &met);
    missed = !pe_translate(machine, cpu, line, &met);
    if (pe_refill(machine, cpu, line, store, met.translation_cycles))
        return true;
    pe_access_line(machine, cpu, line, how, &met);
    return missed || met.facts & SPE_FACT_L1D_MISS;
}

bool spe_machine_touch(struct spe_machine *machine, unsigned cpu, uint64_t address, uint32_t bytes,
                       unsigned how, struct spe_machine_access *result)
{
    struct spe_machine_access whole = {0};
    bool missed;

    if (cpu >= machine->config.cpus)
        return false;
    if (!result && (how == 0 || how == SPE_ACCESS_STORE))
        return pe_touch_fast(machine, machine->cpus[cpu], address, bytes, how != 0);
    missed = touch(machine, machine->cpus[cpu], address, bytes, how, &whole);
    whole.facts &= ~(uint32_t)PE_MET;
    if (result)
        *result = whole;
    return missed;
}

void spe_machine_flush_tlb(struct spe_machine *machine, unsigned cpu)
{
    if (cpu < machine->config.cpus)
        pe_tlb_flush(machine->cpus[cpu], &machine->config);
}

/* ---- Counts --------------------------------------------------------------------------------- */

static void get_counts(const struct spe_machine *machine, unsigned cpu,
                       struct spe_machine_counts *counts)
{
    const struct pe_counts *c;

    memset(counts, 0, sizeof(*counts));
    if (cpu >= machine->config.cpus)
        return;
    c = &machine->cpus[cpu]->counts;
    /* Misses first: while the cpu runs, there are never more of them than accesses. */
    counts->l1_misses = pe_get(&c->l1_misses);
    counts->l2_misses = pe_get(&c->l2_misses);
    counts->llc_misses = pe_get(&c->llc_misses);
    counts->tlb_l1_misses = pe_get(&c->tlb_l1_misses);
    counts->walks = pe_get(&c->walks);
    counts->modified_snoops = pe_get(&c->modified_snoops);
    counts->invalidations = pe_get(&c->invalidations);
    counts->mispredicted = pe_get(&c->mispredicted);
    counts->branches = pe_get(&c->branches);
    for (unsigned i = 0; i < SPE_PLACE_COUNT; i++)
        counts->served[i] = pe_get(&c->served[i]);
    counts->accesses = pe_get(&c->accesses);
    counts->served[SPE_PLACE_L1] = counts->accesses;
    for (unsigned i = SPE_PLACE_L1 + 1; i < SPE_PLACE_COUNT; i++)
        counts->served[SPE_PLACE_L1] -= counts->served[i];
}

void spe_machine_counts_sized(const struct spe_machine *machine, unsigned cpu,
                              struct spe_machine_counts *counts, size_t size)
{
    struct spe_machine_counts own;

    get_counts(machine, cpu, &own);
    sized_give(counts, size, &own, sizeof(own));
}
