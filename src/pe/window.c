/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A cpu's time. Operations are dispatched in order, issue_width a cycle, and wait for registers
 * that a missing load brings. A load that missed holds the window: when as many operations as the
 * window has room for have been dispatched behind it, dispatch waits for its data. A store that
 * missed holds the store queue in the same way. So misses that do not need each other overlap, and
 * those that do, do not; and a miss that is done costs nothing any more.
 *
 * What hits L1 is taken to be in time: registers are followed while some are late, and not
 * otherwise. That keeps the cost of a block without misses at a few additions.
 */
#include <string.h>

#include "machine_fast.h"
#include "pe/code.h"

/* ---- Rings of what is pending ---------------------------------------------------------------- */

static bool is_empty(const struct pe_pending_ring *ring)
{
    return ring->first == ring->end;
}

static struct pe_pending *oldest(struct pe_pending_ring *ring)
{
    return &ring->at[ring->first % PE_WINDOW_MAX];
}

static void push(struct pe_pending_ring *ring, uint64_t number, uint64_t done)
{
    if (ring->end - ring->first == PE_WINDOW_MAX)
        ring->first++;
    ring->at[ring->end++ % PE_WINDOW_MAX] = (struct pe_pending){number, done};
}

/* Let go of what is done, and wait for what lies `room` behind `number`. Returns the time then. */
static uint64_t wait_for_room(struct pe_pending_ring *ring, uint64_t number, uint64_t room,
                              uint64_t now)
{
    while (!is_empty(ring)) {
        const struct pe_pending *p = oldest(ring);

        if (p->done > now && p->number + room >= number)
            break;
        now = later(now, p->done);
        ring->first++;
    }
    return now;
}

/* ---- Registers ------------------------------------------------------------------------------- */

static uint64_t dispatched(const struct pe_window *w, uint32_t index)
{
    return w->now + (uint64_t)index * w->step;
}

static uint64_t latest(const struct pe_window *w, uint64_t registers)
{
    uint64_t when = 0;

    for (; registers; registers &= registers - 1)
        when = later(when, w->ready[__builtin_ctzll(registers)]);
    return when;
}

static void set_all(uint64_t *ready, uint64_t registers, uint64_t when)
{
    for (; registers; registers &= registers - 1)
        ready[__builtin_ctzll(registers)] = when;
}

static void set_ready(struct pe_window *w, uint64_t registers, uint64_t when)
{
    w->late |= registers;
    w->late_until = later(w->late_until, when);
    set_all(w->ready, registers, when);
}

/* Only misses make a register late: what else an operation takes is in the block's own time. */
static void follow_registers(struct pe_window *w, uint32_t until)
{
    const struct pe_site *site = &w->block->sites[w->settled], *end = &w->block->sites[until];
    uint64_t now = dispatched(w, w->settled), late = w->late, step = w->step;

    for (; site < end; site++, now += step) {
        uint64_t reads = site->reads & late, when = reads ? latest(w, reads) : 0;

        if (when > now) {
            late |= site->writes;
            set_all(w->ready, site->writes, when);
        } else {
            late &= ~site->writes;
        }
    }
    w->late = late; /* none of them is later than the latest was */
}

/* Follow the registers up to this instruction of the block. */
static inline void settle(struct pe_window *w, uint32_t until)
{
    if (w->late & w->block->registers)
        follow_registers(w, until);
    w->settled = until;
}

/* When the instruction has what it reads. */
static uint64_t ready_at(const struct pe_window *w, const struct pe_site *site)
{
    uint64_t when = dispatched(w, (uint32_t)(site - w->block->sites));

    if (site->how & SPE_ACCESS_ATOMIC)
        when = later(when, w->atomic_free);
    return site->reads & w->late ? later(when, latest(w, site->reads & w->late)) : when;
}

uint64_t pe_window_issue(struct pe_cpu *cpu, const struct pe_site *site)
{
    struct pe_window *w = &cpu->window;
    uint32_t index = (uint32_t)(site - w->block->sites);

    if (w->late && w->settled < index)
        settle(w, index);
    return ready_at(w, site);
}

bool pe_window_is_late(struct pe_cpu *cpu, const struct pe_site *site)
{
    const struct pe_window *w = &cpu->window;

    return w->late &&
           pe_window_issue(cpu, site) > dispatched(w, (uint32_t)(site - w->block->sites));
}

uint32_t pe_window_wait(struct pe_cpu *cpu, const struct pe_site *site)
{
    const struct pe_window *w = &cpu->window;

    return (
        uint32_t)((pe_window_issue(cpu, site) - dispatched(w, (uint32_t)(site - w->block->sites))) /
                  PE_TICKS);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void full(struct pe_window *w, const struct spe_machine_config *config)
{
    w->now = wait_for_room(&w->loads, w->operations, config->window, w->now);
    w->full_at = is_empty(&w->loads) ? UINT64_MAX : oldest(&w->loads)->number + config->window;
}

void pe_window_begin(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_block *block,
                     uint64_t ticks, bool mispredicted)
{
    struct pe_window *w = &cpu->window;
    const struct pe_block *last = w->block;

    if (last) {
        uint64_t resolved = 0;

        if (mispredicted) {
            settle(w, last->count - 1);
            resolved = ready_at(w, pe_block_last(last)) +
                       (uint64_t)machine->config.mispredict_cycles * PE_TICKS;
        }
        settle(w, last->count);
        w->now = later(w->now + ticks, resolved);
        w->operations += last->count;
        w->stores += last->stores;
    }
    w->block = block;
    w->settled = 0;
    if (w->operations + block->count > w->full_at)
        full(w, &machine->config);
    if (!is_empty(&w->stored))
        w->now = wait_for_room(&w->stored, w->stores, machine->config.store_queue, w->now);
    if (w->late && w->late_until <= w->now)
        w->late = 0;
}

void pe_window_settle(struct pe_cpu *cpu)
{
    follow_registers(&cpu->window, cpu->window.block->count);
}

/* At that time, `ticks` ago. What was done then is not carried. */
static void carry_ring(struct pe_pending_ring *ring, uint64_t numbers, uint64_t ticks,
                       uint64_t then)
{
    while (!is_empty(ring) && oldest(ring)->done <= then)
        ring->first++;
    for (uint32_t i = ring->first; i != ring->end; i++) {
        ring->at[i % PE_WINDOW_MAX].number += numbers;
        ring->at[i % PE_WINDOW_MAX].done += ticks;
    }
}

void pe_window_carry(struct pe_cpu *cpu, uint64_t ticks, uint64_t operations)
{
    struct pe_window *w = &cpu->window;

    carry_ring(&w->loads, operations, ticks, w->now - ticks);
    carry_ring(&w->stored, 0, ticks, w->now - ticks);
    if (w->full_at != UINT64_MAX)
        w->full_at += operations;
    for (uint64_t registers = w->late; registers; registers &= registers - 1)
        w->ready[__builtin_ctzll(registers)] += ticks;
    w->late_until += ticks;
    for (unsigned i = 0; i < PE_WAITING; i++)
        w->waiting[i] += ticks;
    for (unsigned i = 0; i < PE_LOAD_MISSES_MAX; i++)
        w->served_until[i] += ticks;
    w->committed += ticks;
    w->settled = 0;
}

bool pe_window_resume(struct pe_cpu *cpu, const void *thread, const struct pe_block *block)
{
    struct pe_window *w = &cpu->window;

    if (w->thread == thread)
        return false;
    w->thread = thread;
    w->block = block;
    w->settled = 0;
    w->late = 0; /* what the other thread left in registers is not this one's */
    return true;
}

void pe_window_leave(struct pe_cpu *cpu, const void *thread)
{
    if (cpu->window.thread == thread)
        cpu->window.thread = NULL;
}

void pe_window_sleep(struct pe_cpu *cpu, uint64_t until)
{
    cpu->window.now = later(cpu->window.now, until);
}

/* ---- Lines on their way ---------------------------------------------------------------------- */

static void change_l1(struct pe_cpu *cpu, uint64_t line, uint64_t clear, uint64_t set)
{
    int way = pe_cache_find(&cpu->l1, line);
    pe_word *word = way < 0 ? NULL : pe_cache_word(&cpu->l1, line, (unsigned)way);

    if (word)
        atomic_store_explicit(word, (pe_get(word) & ~clear) | set, memory_order_relaxed);
}

/* The lines that several cpus want go from one to the next: when this one can be had. */
static struct pe_turn *turn_of(struct spe_machine *machine, uint64_t line)
{
    return &machine->turns[line >> machine->line_shift & (PE_TURNS - 1)];
}

uint64_t pe_turn(struct spe_machine *machine, uint64_t line)
{
    const struct pe_turn *turn = turn_of(machine, line);

    return turn->line == line ? turn->until : 0;
}

uint64_t pe_wanted(const struct spe_machine *machine, uint64_t line)
{
    const struct pe_turn *turn = &machine->turns[line >> machine->line_shift & (PE_TURNS - 1)];

    return turn->line == line && turn->wanted ? turn->wanted : UINT64_MAX;
}

void pe_want(struct spe_machine *machine, uint64_t line, uint64_t when)
{
    const uint64_t *sharers = pe_directory_find(&machine->directory, line);
    struct pe_turn *turn = turn_of(machine, line);

    if (turn->line != line)
        *turn = (struct pe_turn){.line = line};
    machine->has_turns = true;
    if (turn->wanted && turn->wanted <= when)
        return;
    turn->wanted = when;
    for (unsigned i = 0; sharers && i < machine->directory.entry_words - 1; i++)
        for (uint64_t bits = sharers[i]; bits; bits &= bits - 1)
            change_l1(machine->cpus[64 * i + (unsigned)__builtin_ctzll(bits)], line, 0, PE_FLIGHT);
}

void pe_unwant(struct spe_machine *machine, uint64_t line)
{
    struct pe_turn *turn = turn_of(machine, line);

    if (turn->line == line)
        turn->wanted = 0;
}

/* The access found a line that was asked for before. Returns when its data is there, 0: it is. */
static uint64_t arriving(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line,
                         uint64_t when, struct spe_machine_access *met)
{
    const struct pe_flight *flight = pe_flight_of(cpu, line);

    if (flight->line == line && flight->done > when) {
        met->place = flight->place;
        met->facts |= SPE_FACT_RECENT; /* as L1D_LFB_HIT_RD counts it: D18.2.6, E[22] */
        return flight->done;
    }
    if (met->place == SPE_PLACE_L1 && (flight->line != line || flight->done <= cpu->window.now) &&
        pe_wanted(machine, line) == UINT64_MAX)
        change_l1(cpu, line, PE_FLIGHT, 0);
    return 0;
}

/* ---- Accesses -------------------------------------------------------------------------------- */

/* The next load miss may begin when the oldest of so many is over. */
static void take_server(const struct spe_machine *machine, struct pe_window *w, uint64_t until)
{
    w->served_until[w->served] = until;
    w->served = w->served + 1 < machine->config.load_misses ? w->served + 1 : 0;
}

void pe_window_serve(const struct spe_machine *machine, struct pe_cpu *cpu,
                     const struct pe_site *site)
{
    struct pe_window *w = &cpu->window;
    uint64_t start = later(pe_window_issue(cpu, site), w->served_until[w->served]);

    take_server(machine, w, start + (uint64_t)machine->cycles[SPE_PLACE_L2][false] * PE_TICKS);
}

/* A miss is served: when is its data there? */
static uint64_t serve(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line,
                      uint64_t issued, const struct spe_machine_access *met, bool load)
{
    struct pe_window *w = &cpu->window;
    uint64_t start = issued, done;

    if (load)
        start = later(start, w->served_until[w->served]);
    if (load || met->place != SPE_PLACE_L2) /* nobody waits for a store that L2 has the line of */
        start = pe_leaves(machine, cpu, met->place, start);
    start = later(start, pe_turn(machine, line));
    if (met->place == SPE_PLACE_L1 && pe_flight_of(cpu, line)->line == line)
        start = later(start, pe_flight_of(cpu, line)->done); /* it has to arrive first */
    done = start + (uint64_t)met->cycles * PE_TICKS;
    if (load)
        take_server(machine, w, done);
    if (met->asked) {
        *turn_of(machine, line) = (struct pe_turn){line, done, done};
        machine->has_turns = true;
    }
    if (met->place != SPE_PLACE_L1)
        pe_flight_add(cpu, line, done, met->place);
    change_l1(cpu, line, 0, PE_FLIGHT); /* also of a line that becomes exclusive on its way */
    return done;
}

/* From beyond L2, or of the prefetcher there. */
static bool is_from_outside(const struct spe_machine_access *met)
{
    return met->facts & SPE_FACT_L2D_MISS ||
           (met->facts & SPE_FACT_L1D_MISS && met->facts & PE_MET_FIRST);
}

/* One line: when is its data there? */
static uint64_t access_line(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc,
                            uint64_t address, unsigned how, uint64_t issued,
                            struct spe_machine_access *met)
{
    uint64_t line = address & PE_ADDRESS_MASK & ~(uint64_t)(cpu->line_bytes - 1), done = 0;
    bool load = !(how & (SPE_ACCESS_STORE | SPE_ACCESS_PREFETCH | SPE_ACCESS_PREFETCH_FOR_STORE));
    bool translated = pe_translate(machine, cpu, line, met);

    pe_access_line(machine, cpu, line, how, met);
    if (met->facts & PE_MET_FLIGHT) {
        done = arriving(machine, cpu, line, issued, met);
        if (done)
            change_l1(cpu, line, 0, PE_FLIGHT);
    }
    if (!done && (met->place != SPE_PLACE_L1 || met->asked))
        done = serve(machine, cpu, line, issued, met, load);
    else if (!done && !translated)
        done = issued + (uint64_t)met->cycles * PE_TICKS;
    if (met->facts & (SPE_FACT_L1D_MISS | PE_MET_FIRST) && !(how & SPE_ACCESS_ATOMIC))
        pe_prefetch(machine, cpu, pc, address, is_from_outside(met), how & SPE_ACCESS_STORE,
                    issued);
    met->facts &= ~PE_MET;
    if (done > issued)
        met->cycles = (uint32_t)((done - issued) / PE_TICKS);
    return done;
}

static uint64_t access_lines(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc,
                             uint64_t address, uint32_t bytes, unsigned how, uint64_t issued,
                             struct spe_machine_access *met)
{
    uint64_t end = address + (bytes ? bytes : 1), done;

    done = access_line(machine, cpu, pc, address, how, issued, met);
    for (address = (address | (cpu->line_bytes - 1)) + 1; address < end;
         address += cpu->line_bytes) {
        struct spe_machine_access part = {0};

        done = later(done, access_line(machine, cpu, pc, address, how, issued, &part));
        pe_merge_access(met, &part);
    }
    return done;
}

/* It waits for registers until `issued`. When the queue of those that do is full, what is behind it
 * is dispatched when the oldest of them is issued. */
static void queue_up(struct pe_window *w, uint32_t index, uint64_t issued)
{
    uint64_t room;

    w->waiting[w->waited++ % PE_WAITING] = issued;
    room = w->waiting[w->waited % PE_WAITING];
    if (room > dispatched(w, index + 1))
        w->now = room - (uint64_t)(index + 1) * w->step;
}

/* What the operations behind it will have to wait for. */
static void hold(const struct spe_machine *machine, struct pe_window *w, const struct pe_site *site,
                 bool store, uint64_t issued, uint64_t done)
{
    uint32_t index = (uint32_t)(site - w->block->sites);

    if (store) {
        push(&w->stored, w->stores, done);
        return;
    }
    settle(w, index + 1);
    if (issued > dispatched(w, index))
        queue_up(w, index, issued);
    set_ready(w, site->writes, done);
    w->committed = later(w->committed, done);
    push(&w->loads, w->operations + index, done);
    if (w->full_at == UINT64_MAX)
        w->full_at = w->operations + index + machine->config.window;
}

uint64_t pe_window_queue_store(const struct spe_machine *machine, struct pe_cpu *cpu,
                               const struct pe_site *site, uint64_t number)
{
    struct pe_window *w = &cpu->window;
    uint32_t index = (uint32_t)(site - w->block->sites);
    uint64_t before = dispatched(w, index), room;

    room = wait_for_room(&w->stored, number + 1, machine->config.store_queue, before);
    w->now += room - before;
    return room + PE_TICKS;
}

/* The stores before it, and what it is to the loads behind it. Returns when its data is there. */
static uint64_t pass_store_queue(const struct spe_machine *machine, struct pe_cpu *cpu,
                                 const struct pe_site *site, uint64_t address, uint32_t bytes,
                                 unsigned how, uint64_t issued, uint64_t done,
                                 struct spe_machine_access *met)
{
    const struct pe_near near = pe_near_of(cpu, false);
    bool plain = site->forwards && !pe_crosses_lines(&near, address, bytes);

    if (how == 0) {
        bool own =
            (met->facts & (SPE_FACT_L1D_MISS | SPE_FACT_MODIFIED_HIT)) == SPE_FACT_MODIFIED_HIT;

        return plain && own && pe_may_meet_store(cpu, address, bytes)
                   ? pe_load_behind_stores(machine, cpu, address, bytes, issued, done, met)
                   : done;
    }
    if (how & (SPE_ACCESS_STORE | SPE_ACCESS_ATOMIC))
        pe_stored(machine, cpu, address, bytes, plain && how == SPE_ACCESS_STORE, issued, done);
    return done;
}

void pe_timed_access(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_site *site,
                     uint64_t address, uint32_t bytes, unsigned how, struct spe_machine_access *met)
{
    uint64_t issued = pe_window_issue(cpu, site), done;

    done = access_lines(machine, cpu, pe_site_pc(site), address, bytes, how, issued, met);
    done = pass_store_queue(machine, cpu, site, address, bytes, how, issued, done, met);
    if (how & SPE_ACCESS_ATOMIC) {
        done = later(done, issued + (uint64_t)met->cycles * PE_TICKS);
        cpu->window.atomic_free = done;
    }
    if (done > issued)
        hold(machine, &cpu->window, site, how & SPE_ACCESS_STORE, issued, done);
    if (met->place > SPE_PLACE_L2 || met->facts & SPE_FACT_TLB_WALK)
        cpu->window.slow_until = later(cpu->window.slow_until, done);
}

void pe_timed_walk(const struct spe_machine *machine, struct pe_cpu *cpu,
                   const struct pe_site *site, bool store, uint64_t cycles)
{
    uint64_t issued = pe_window_issue(cpu, site), done = issued + cycles * PE_TICKS;

    hold(machine, &cpu->window, site, store, issued, done);
    cpu->window.slow_until = later(cpu->window.slow_until, done);
}

uint64_t pe_timed_store(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc,
                        uint64_t address, uint32_t bytes, uint64_t issued,
                        struct spe_machine_access *met)
{
    return access_lines(machine, cpu, pc, address, bytes, SPE_ACCESS_STORE, issued, met);
}

void pe_window_stored(struct pe_cpu *cpu, uint64_t number, uint64_t done)
{
    push(&cpu->window.stored, number, done);
}

/* ---- Those that most are --------------------------------------------------------------------- */

/* The line is in L1: perhaps it is its first use, or the first since it arrived. */
PE_INLINE bool quick_hit(struct spe_machine *machine, struct pe_cpu *cpu,
                         const struct pe_near *near, const struct pe_site *site, uint64_t address,
                         uint32_t bytes, uint64_t line, unsigned way, bool store)
{
    pe_word *at = pe_cache_word(&near->l1, line, way);
    uint64_t word = pe_get(at), issued = pe_window_issue(cpu, site), cycles, done = 0;
    bool slow = false;
    uint64_t after = (word & ~(PE_FRESH | PE_PREFETCHED)) | (store ? PE_MODIFIED : 0);

    if (store && !(word & PE_EXCLUSIVE))
        return false;
    if (word & PE_FLIGHT) {
        const struct pe_flight *flight = pe_flight_of(cpu, line);

        uint64_t wanted = pe_wanted(machine, line);

        if (wanted < issued || (store && wanted != UINT64_MAX))
            return false;
        if (flight->line == line && flight->done > issued) {
            done = flight->done;
            slow = flight->place > SPE_PLACE_L2;
        } else if ((flight->line != line || flight->done <= cpu->window.now) &&
                   wanted == UINT64_MAX) {
            after &= ~PE_FLIGHT;
        }
    }
    cycles = pe_translation_cycles(machine, cpu, near, line);
    atomic_store_explicit(at, after, memory_order_relaxed);
    pe_use_l1(cpu, &near->l1, line, way);
    pe_count(&cpu->counts.accesses, 1);
    if (word & PE_PREFETCHED)
        pe_prefetch(machine, cpu, pe_site_pc(site), address, false, store, issued);
    if (cycles && !done)
        done = issued + (cycles + machine->cycles[SPE_PLACE_L1][false]) * PE_TICKS;
    if (store)
        pe_stored(machine, cpu, address, bytes, site->forwards, issued, done);
    if (done)
        hold(machine, &cpu->window, site, store, issued, done);
    if (slow || cycles > machine->config.l2_tlb_latency)
        cpu->window.slow_until = later(cpu->window.slow_until, done);
    return true;
}

PE_INLINE bool quick_refill(struct spe_machine *machine, struct pe_cpu *cpu,
                            const struct pe_near *near, const struct pe_site *site,
                            uint64_t address, uint32_t bytes, uint64_t line, bool store)
{
    struct pe_window *w = &cpu->window;
    const struct pe_flight *flight = pe_flight_of(cpu, line);
    uint64_t issued = pe_window_issue(cpu, site), done;

    if ((flight->line == line && flight->done > issued) ||
        !pe_refill_near(machine, cpu, near, line, store, PE_FLIGHT))
        return false;
    pe_count_refills(cpu, 1, 1);
    done = issued;
    if (!store)
        done = pe_leaves(machine, cpu, SPE_PLACE_L2, later(issued, w->served_until[w->served]));
    done +=
        (machine->cycles[SPE_PLACE_L2][false] + pe_translation_cycles(machine, cpu, near, line)) *
        PE_TICKS;
    if (!store)
        take_server(machine, w, done);
    pe_flight_add(cpu, line, done, SPE_PLACE_L2);
    pe_prefetch(machine, cpu, pe_site_pc(site), address, false, store, issued);
    if (store)
        pe_stored(machine, cpu, address, bytes, site->forwards, issued, done);
    hold(machine, w, site, store, issued, done);
    return true;
}

PE_INLINE bool quick(struct spe_machine *machine, struct pe_cpu *cpu, struct pe_near near,
                     const struct pe_site *site, uint64_t address, uint32_t bytes, bool store)
{
    uint64_t line = pe_line_of(&near, address);
    int way;

    if (pe_crosses_lines(&near, address, bytes))
        return false;
    way = pe_cache_find(&near.l1, line);
    return way >= 0
               ? quick_hit(machine, cpu, &near, site, address, bytes, line, (unsigned)way, store)
               : quick_refill(machine, cpu, &near, site, address, bytes, line, store);
}

bool pe_timed_quick(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_site *site,
                    uint64_t address, uint32_t bytes, bool store)
{
    return cpu->usual ? quick(machine, cpu, pe_near_of(cpu, true), site, address, bytes, store)
                      : quick(machine, cpu, pe_near_of(cpu, false), site, address, bytes, store);
}
