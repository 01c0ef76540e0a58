/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Accesses: L1 and L2 of the cpu, the LLC of the line's home socket, and MESI between the cpus.
 * L2 includes L1. The LLC belongs to memory: it has lines that memory gave and lines that were
 * written back, and includes nothing. Where a line is in L1 and L2, the L1 word has its state and
 * L2 may still say exclusive of a line that is modified.
 */
#include "machine_fast.h"

#include <sched.h>
#include <string.h>

/* One access on its way. */
struct request {
    struct spe_machine *machine;
    struct pe_cpu *cpu;
    struct spe_machine_access *met;
    uint64_t line;
    bool exclusive; /* it needs the line for itself */
    bool modify;
    bool snooped;                     /* it had to wait for another cpu's cache */
    unsigned other_count;             /* find_others */
    uint64_t others[PE_SHARER_WORDS]; /* ... if there are any */
};

/* ---- Locks ---------------------------------------------------------------------------------- */

#define SPINS 64

static struct pe_lock *lock_line(struct spe_machine *machine, uint64_t line)
{
    struct pe_lock *lock = &machine->locks[line >> machine->line_shift & machine->lock_mask];

    if (machine->alone)
        return lock;
    for (unsigned i = 1; atomic_exchange_explicit(&lock->taken, true, memory_order_acquire); i++)
        if (i % SPINS == 0) /* its holder may have been put off the host's core */
            sched_yield();
    return lock;
}

static void unlock(struct pe_lock *lock)
{
    atomic_store_explicit(&lock->taken, false, memory_order_release);
}

/* `word` is what was there a moment ago, and gets what is there now if that is something else. */
static bool exchange(const struct spe_machine *machine, pe_word *at, uint64_t *word, uint64_t after)
{
    if (machine->alone) {
        atomic_store_explicit(at, after, memory_order_relaxed);
        return true;
    }
    return atomic_compare_exchange_strong_explicit(at, word, after, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

/* ---- The home socket and its LLC ------------------------------------------------------------ */

/* Memory belongs to the socket that touches its page first. Pages that are far apart may share an
 * entry of the table; they then share their home. */
static unsigned home_of(struct spe_machine *machine, uint64_t line, unsigned socket)
{
    unsigned char home;
    atomic_uchar *at;

    if (!machine->homes)
        return 0;
    at = &machine->homes[line >> machine->page_shift & (PE_HOMES - 1)];
    home = atomic_load_explicit(at, memory_order_relaxed);
    if (home == 0 &&
        atomic_compare_exchange_strong_explicit(at, &home, (unsigned char)(1 + socket),
                                                memory_order_relaxed, memory_order_relaxed))
        return socket;
    return home - 1u;
}

static void write_llc(struct pe_cache *llc, uint64_t line, uint64_t state)
{
    int way;

    if (!llc->words)
        return;
    way = pe_cache_find(llc, line);
    if (way < 0)
        way = (int)pe_cache_victim(llc, line);
    atomic_store_explicit(pe_cache_word(llc, line, (unsigned)way), line | state,
                          memory_order_relaxed);
    pe_cache_use(llc, line, (unsigned)way);
}

/* The state of the line there; it counts as a use. 0: not there. */
static uint64_t read_llc(struct pe_cache *llc, uint64_t line)
{
    int way = llc->words ? pe_cache_find(llc, line) : -1;

    if (way < 0)
        return 0;
    pe_cache_use(llc, line, (unsigned)way);
    return pe_get(pe_cache_word(llc, line, (unsigned)way)) & PE_STATE;
}

static void write_back(struct spe_machine *machine, const struct pe_cpu *cpu, uint64_t line)
{
    write_llc(&machine->llc[home_of(machine, line, cpu->socket)], line, PE_VALID | PE_MODIFIED);
}

/* ---- Other cpus ----------------------------------------------------------------------------- */

/* Take bits away from a cpu's copies, the inner first: what its L1 gives up, L2 has. Returns the
 * state before. */
static uint64_t snoop(struct pe_cpu *cpu, bool alone, uint64_t line, uint64_t bits)
{
    uint64_t state = pe_cache_clear(&cpu->l1, line, bits | PE_TOLD);

    if (alone)
        *pe_hit_last(cpu, &cpu->l1, line) = PE_NO_LINE;
    return (state | pe_cache_clear(&cpu->l2, line, bits)) & ~(uint64_t)(PE_FRESH | PE_TOLD);
}

static void find_others(struct request *r)
{
    const struct pe_directory *directory = &r->machine->directory;
    const uint64_t *sharers = directory->cpus > 1 ? pe_directory_find(directory, r->line) : NULL;

    r->other_count = 0;
    if (!sharers)
        return;
    memset(r->others, 0, sizeof(r->others));
    memcpy(r->others, sharers, (directory->entry_words - 1) * sizeof(*sharers));
    r->others[r->cpu->number / 64] &= ~(UINT64_C(1) << r->cpu->number % 64);
    for (unsigned i = 0; i < PE_SHARER_WORDS; i++)
        r->other_count += (unsigned)__builtin_popcountll(r->others[i]);
}

/* The next cpu with a copy, from `cpu` on; PE_CPUS_MAX: there is none. */
static unsigned next_other(const struct request *r, unsigned cpu)
{
    if (!r->other_count)
        return PE_CPUS_MAX;
    while (cpu < PE_CPUS_MAX && !(r->others[cpu / 64] >> cpu % 64))
        cpu = (cpu / 64 + 1) * 64;
    return cpu < PE_CPUS_MAX ? cpu + (unsigned)__builtin_ctzll(r->others[cpu / 64] >> cpu % 64)
                             : PE_CPUS_MAX;
}

/* The cpu's request leaves nobody else with a copy. Returns the state of what was there. */
static uint64_t invalidate_others(struct request *r)
{
    struct spe_machine *machine = r->machine;
    uint64_t state = 0;

    for (unsigned c = next_other(r, 0); c < PE_CPUS_MAX; c = next_other(r, c + 1)) {
        state |= snoop(machine->cpus[c], machine->alone, r->line, PE_VALID);
        pe_directory_remove(&machine->directory, r->line, c);
    }
    pe_count(&r->cpu->counts.invalidations, r->other_count);
    r->snooped |= r->other_count != 0;
    return state;
}

/* A copy of the line in the cpu's own socket, if there is one, else anywhere: a cpu. */
static unsigned nearest_other(const struct request *r)
{
    unsigned first = next_other(r, 0);

    for (unsigned c = first; c < PE_CPUS_MAX; c = next_other(r, c + 1))
        if (r->machine->cpus[c]->socket == r->cpu->socket)
            return c;
    return first;
}

/* ---- Filling the cpu's caches --------------------------------------------------------------- */

/* A line leaves the outermost private cache. */
static void evict(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, uint64_t state)
{
    if (cpu->l2.words) {
        state |= pe_cache_clear(&cpu->l1, line, PE_VALID);
        *pe_hit_last(cpu, &cpu->l1, line) = PE_NO_LINE;
    }
    pe_directory_remove(&machine->directory, line, cpu->number);
    if (state & PE_MODIFIED)
        write_back(machine, cpu, line);
}

/* Other cpus may be at it: they take from L1 first. */
void pe_leave_l1(const struct spe_machine *machine, const struct pe_cpu *cpu, uint64_t line)
{
    const struct pe_cache *l2 = &cpu->l2;
    int way = pe_cache_find(l2, line);
    pe_word *at = pe_cache_word(l2, line, way >= 0 ? (unsigned)way : 0);
    uint64_t word = pe_get(at);

    if (way >= 0 && word == (line | PE_EXCLUSIVE_LINE))
        exchange(machine, at, &word, line | PE_MODIFIED_LINE);
}

static void fill_l1(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, uint64_t state)
{
    if (!cpu->l2.words) {
        uint64_t old = pe_get(pe_cache_word(&cpu->l1, line, pe_cache_victim(&cpu->l1, line)));

        if (old)
            evict(machine, cpu, old & ~(uint64_t)PE_STATE, old & PE_STATE);
    }
    pe_fill_l1(machine, cpu, &cpu->l1, line, state);
}

static void fill_l2(struct request *r, uint64_t state)
{
    struct pe_cache *l2 = &r->cpu->l2;
    unsigned way;
    uint64_t old;

    if (!l2->words)
        return;
    way = pe_cache_victim(l2, r->line);
    old = pe_get(pe_cache_word(l2, r->line, way));
    if (old)
        evict(r->machine, r->cpu, old & ~(uint64_t)PE_STATE, old & PE_STATE);
    atomic_store_explicit(pe_cache_word(l2, r->line, way), r->line | state, memory_order_release);
    pe_cache_use(l2, r->line, way);
}

/* ---- Where the line comes from -------------------------------------------------------------- */

static uint64_t granted(const struct request *r)
{
    if (r->modify)
        return PE_MODIFIED_LINE;
    return r->exclusive || r->other_count == 0 ? PE_EXCLUSIVE_LINE : PE_SHARED_LINE;
}

static void from_cpu(struct request *r, unsigned other)
{
    bool near = r->machine->cpus[other]->socket == r->cpu->socket;

    r->met->facts |= SPE_FACT_SNOOPED | (near ? 0 : SPE_FACT_REMOTE);
    r->met->place = near ? SPE_PLACE_PEER : SPE_PLACE_REMOTE_CACHE;
    r->snooped = true;
}

/* The home socket's LLC, if it may serve; a cpu that is nearer than it comes first. */
static bool from_llc(struct request *r, unsigned home, unsigned other)
{
    bool near = home == r->cpu->socket;
    uint64_t state;

    if (!near && other < PE_CPUS_MAX && r->machine->cpus[other]->socket == r->cpu->socket)
        return false;
    state = read_llc(&r->machine->llc[home], r->line);
    if (!state)
        return false;
    r->met->place = near ? SPE_PLACE_LLC : SPE_PLACE_REMOTE_CACHE;
    r->met->facts |= near ? 0 : SPE_FACT_REMOTE | SPE_FACT_REMOTE_LLC_HIT;
    r->met->facts |= state & PE_MODIFIED ? SPE_FACT_MODIFIED_HIT : 0;
    return true;
}

static void from_memory(struct request *r, unsigned home)
{
    bool near = home == r->cpu->socket;

    r->met->place = near ? SPE_PLACE_MEMORY : SPE_PLACE_REMOTE_MEMORY;
    r->met->facts |= near ? 0 : SPE_FACT_REMOTE;
    write_llc(&r->machine->llc[home], r->line, PE_VALID);
}

/* Outside the cpu's own caches. A modified copy is the only right one; else the nearest serves. */
static void fetch(struct request *r)
{
    struct spe_machine *machine = r->machine;
    unsigned home = home_of(machine, r->line, r->cpu->socket);
    unsigned other = nearest_other(r);
    uint64_t state = 0;

    if (r->exclusive)
        state = invalidate_others(r);
    else if (r->other_count == 1) /* with more of them, all are shared */
        state = snoop(machine->cpus[other], machine->alone, r->line, PE_EXCLUSIVE | PE_MODIFIED);
    r->snooped |= (state & PE_EXCLUSIVE) != 0;
    if (state & PE_MODIFIED) {
        from_cpu(r, other);
        r->met->facts |= SPE_FACT_MODIFIED_SNOOP;
        pe_count(&r->cpu->counts.modified_snoops, 1);
        if (!r->modify)
            write_back(machine, r->cpu, r->line);
    } else if (!from_llc(r, home, other)) {
        if (other < PE_CPUS_MAX)
            from_cpu(r, other);
        else
            from_memory(r, home);
    }
}

static void miss_llc(struct request *r)
{
    if (!r->machine->llc[0].words)
        return;
    r->met->facts |= SPE_FACT_LLC_ACCESS;
    if (r->met->place != SPE_PLACE_LLC) {
        r->met->facts |= SPE_FACT_LLC_MISS;
        pe_count(&r->cpu->counts.llc_misses, 1);
    }
}

static void miss_l2(struct request *r)
{
    uint64_t state;

    find_others(r);
    state = granted(r);
    if (r->cpu->l2.words) {
        r->met->facts |= SPE_FACT_L2D_MISS;
        pe_count(&r->cpu->counts.l2_misses, 1);
    }
    fetch(r);
    miss_llc(r);
    fill_l2(r, state & ~(uint64_t)PE_MODIFIED);
    fill_l1(r->machine, r->cpu, r->line, state);
    pe_directory_add(&r->machine->directory, r->line, r->cpu->number);
}

/* The line is in L2, in a state that may not be enough. */
static void hit_l2(struct request *r, unsigned way)
{
    pe_word *word = pe_cache_word(&r->cpu->l2, r->line, way);
    uint64_t state = pe_get(word) & PE_STATE;

    r->met->place = SPE_PLACE_L2;
    r->met->facts |= (state & PE_PREFETCHED ? PE_MET_FIRST : 0) | PE_MET_FLIGHT;
    if (state & PE_PREFETCHED) {
        state &= ~PE_PREFETCHED;
        atomic_store_explicit(word, r->line | state, memory_order_release);
    }
    r->met->facts |= state & PE_MODIFIED ? SPE_FACT_MODIFIED_HIT : 0;
    if (r->exclusive && !(state & PE_EXCLUSIVE)) {
        find_others(r);
        invalidate_others(r);
        state |= PE_EXCLUSIVE;
        atomic_store_explicit(word, r->line | state, memory_order_release);
    }
    pe_cache_use(&r->cpu->l2, r->line, way);
    pe_fill_from_l2(r->machine, r->cpu, &r->cpu->l1, r->line, state, r->modify);
}

/* The line is in L1, shared, and must be exclusive. That is not a miss: no data is fetched. */
static void upgrade(struct request *r, unsigned way)
{
    pe_word *word = pe_cache_word(&r->cpu->l1, r->line, way);
    int outer = r->cpu->l2.words ? pe_cache_find(&r->cpu->l2, r->line) : -1;

    find_others(r);
    invalidate_others(r);
    if (outer >= 0)
        atomic_store_explicit(pe_cache_word(&r->cpu->l2, r->line, (unsigned)outer),
                              r->line | PE_EXCLUSIVE_LINE, memory_order_release);
    atomic_store_explicit(word, r->line | (r->modify ? PE_MODIFIED_LINE : PE_EXCLUSIVE_LINE),
                          memory_order_release);
    pe_use_l1(r->cpu, &r->cpu->l1, r->line, way);
    r->met->place = SPE_PLACE_L1;
}

static void miss_l1(struct request *r)
{
    int way = r->cpu->l2.words ? pe_cache_find(&r->cpu->l2, r->line) : -1;

    pe_count(&r->cpu->counts.l1_misses, 1);
    r->met->facts |= SPE_FACT_L1D_MISS | SPE_FACT_L1D_REFILL;
    r->met->facts |= r->cpu->l2.words ? SPE_FACT_L2D_ACCESS : 0;
    if (way >= 0)
        hit_l2(r, (unsigned)way);
    else
        miss_l2(r);
    pe_count(&r->cpu->counts.served[r->met->place], 1);
}

/* ---- L1 ------------------------------------------------------------------------------------- */

static bool is_recent(const struct pe_cpu *cpu, const pe_word *word)
{
    for (unsigned i = 0; i < PE_RECENT_FILLS; i++)
        if (cpu->filled[i] == word)
            return true;
    return false;
}

/* A hit in a state that is enough; no lock is held. */
static bool hit_l1(struct request *r, unsigned way)
{
    pe_word *at = pe_cache_word(&r->cpu->l1, r->line, way);
    uint64_t word = pe_get(at), after;

    do {
        if ((word & ~(uint64_t)PE_STATE) != r->line || !(word & PE_VALID) ||
            (r->exclusive && !(word & PE_EXCLUSIVE)))
            return false;
        after = (word & ~(PE_FRESH | PE_PREFETCHED)) | (r->modify ? PE_MODIFIED : 0);
    } while (after != word && !exchange(r->machine, at, &word, after));
    pe_use_l1(r->cpu, &r->cpu->l1, r->line, way);
    r->met->place = SPE_PLACE_L1;
    r->met->facts |= word & PE_MODIFIED ? SPE_FACT_MODIFIED_HIT : 0;
    r->met->facts |= word & PE_FRESH && is_recent(r->cpu, at) ? SPE_FACT_RECENT : 0;
    r->met->facts |= word & PE_FLIGHT ? PE_MET_FLIGHT : 0;
    r->met->facts |= word & PE_PREFETCHED ? PE_MET_FIRST : 0;
    return true;
}

/* `way` is where the line is in L1, or was: others take away. */
static void request_line(struct request *r, int way)
{
    struct pe_lock *lock = lock_line(r->machine, r->line);

    if (way >= 0)
        way = pe_cache_find(&r->cpu->l1, r->line);
    if (way >= 0)
        upgrade(r, (unsigned)way);
    else
        miss_l1(r);
    unlock(lock);
}

static void remember_miss(struct pe_cpu *cpu, uint32_t cycles)
{
    struct pe_miss *miss = &cpu->misses[cpu->miss_count++ % PE_MISSES];

    miss->at = pe_moment(cpu);
    miss->cycles = cycles;
}

void pe_access_line(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, unsigned how,
                    struct spe_machine_access *met)
{
    bool modify = how & (SPE_ACCESS_STORE | SPE_ACCESS_ATOMIC);
    int way = pe_cache_find(&cpu->l1, line);
    struct request r; /* of which `others` is nothing yet */

    r.machine = machine;
    r.cpu = cpu;
    r.met = met;
    r.line = line;
    r.exclusive = modify || how & SPE_ACCESS_PREFETCH_FOR_STORE;
    r.modify = modify;
    r.snooped = false;
    pe_count(&cpu->counts.accesses, 1);
    met->facts |= SPE_FACT_L1D_ACCESS;
    if (way < 0 || !hit_l1(&r, (unsigned)way))
        request_line(&r, way);
    met->asked = r.snooped;
    met->cycles = met->translation_cycles + machine->cycles[met->place][r.snooped];
    /* Later operations do not wait for stores and prefetches. */
    if (met->facts & SPE_FACT_L1D_MISS && (how == 0 || how & SPE_ACCESS_ATOMIC))
        remember_miss(cpu, met->cycles);
}

/* Under the line's lock, and the line is not in L1. */
static inline bool refill(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line,
                          bool store)
{
    const struct pe_cache l2 = cpu->l2;
    int way = pe_cache_find(&l2, line);
    uint64_t state;

    if (way < 0)
        return false;
    state = pe_get(pe_cache_word(&l2, line, (unsigned)way)) & PE_STATE;
    if (store && !(state & PE_EXCLUSIVE))
        return false;
    pe_cache_use(&l2, line, (unsigned)way);
    pe_fill_from_l2(machine, cpu, &cpu->l1, line, state, store);
    return true;
}

bool pe_refill(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, bool store,
               uint32_t translation_cycles)
{
    struct pe_lock *lock;
    bool done;

    if (!cpu->l2.words || pe_cache_find(&cpu->l1, line) >= 0)
        return false;
    lock = lock_line(machine, line);
    done = refill(machine, cpu, line, store);
    unlock(lock);
    if (!done)
        return false;
    pe_count(&cpu->counts.accesses, 1);
    pe_count(&cpu->counts.l1_misses, 1);
    pe_count(&cpu->counts.served[SPE_PLACE_L2], 1);
    if (!store)
        remember_miss(cpu, translation_cycles + machine->cycles[SPE_PLACE_L2][false]);
    return true;
}

bool pe_held_by_others(const struct spe_machine *machine, const struct pe_cpu *cpu, uint64_t line)
{
    const uint64_t *sharers = pe_directory_find(&machine->directory, line);
    uint64_t others = 0;

    for (unsigned i = 0; sharers && i < machine->directory.entry_words - 1; i++)
        others |= sharers[i] & ~(i == cpu->number / 64 ? UINT64_C(1) << cpu->number % 64 : 0);
    return others;
}

/* ---- Prefetchers ----------------------------------------------------------------------------- */

/* In modelled time, in which one has the machine at a time. */
static void mark(const struct pe_cache *cache, uint64_t line, uint64_t bits)
{
    int way = pe_cache_find(cache, line);
    pe_word *word = pe_cache_word(cache, line, way >= 0 ? (unsigned)way : 0);

    if (way >= 0)
        atomic_store_explicit(word, pe_get(word) | bits, memory_order_relaxed);
}

bool pe_prefetch_line(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, bool into_l1,
                      struct spe_machine_access *met)
{
    struct request r = {.machine = machine, .cpu = cpu, .met = met, .line = line};
    int way = cpu->l2.words ? pe_cache_find(&cpu->l2, line) : -1;

    if (pe_cache_find(&cpu->l1, line) >= 0 || (!into_l1 && (way >= 0 || !cpu->l2.words)))
        return false;
    if (way >= 0) {
        hit_l2(&r, (unsigned)way);
    } else {
        find_others(&r);
        if (r.other_count)
            return false;
        fetch(&r);
        fill_l2(&r, PE_EXCLUSIVE_LINE);
        if (into_l1)
            fill_l1(machine, cpu, line, PE_EXCLUSIVE_LINE);
        pe_directory_add(&machine->directory, line, cpu->number);
    }
    mark(into_l1 ? &cpu->l1 : &cpu->l2, line, PE_PREFETCHED | (into_l1 ? PE_FLIGHT : 0));
    met->cycles = machine->cycles[met->place][false];
    return true;
}

/* ---- Cache maintenance ---------------------------------------------------------------------- */

/* All copies, wherever they are, are cleaned or gone. */
void pe_maintain_line(struct spe_machine *machine, uint64_t line, unsigned how,
                      struct spe_machine_access *met)
{
    uint64_t bits = how & SPE_ACCESS_INVALIDATE ? PE_VALID : PE_MODIFIED;
    struct pe_lock *lock = lock_line(machine, line);
    const uint64_t *found = pe_directory_find(&machine->directory, line);
    uint64_t sharers[PE_SHARER_WORDS] = {0};

    if (found)
        memcpy(sharers, found, (machine->directory.entry_words - 1) * sizeof(*found));
    for (unsigned c = 0; c < machine->config.cpus; c++) {
        if (!(sharers[c / 64] >> c % 64 & 1))
            continue;
        snoop(machine->cpus[c], machine->alone, line, bits);
        if (bits == PE_VALID)
            pe_directory_remove(&machine->directory, line, c);
    }
    for (unsigned s = 0; s < machine->config.sockets; s++)
        pe_cache_clear(&machine->llc[s], line, bits);
    unlock(lock);
    met->place = SPE_PLACE_MEMORY;
    met->cycles =
        met->translation_cycles + pe_access_cycles(&machine->config, SPE_PLACE_MEMORY, false);
}
