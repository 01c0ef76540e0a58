/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Stores that are on their way to L1, and the loads behind them. A store leaves the queue when its
 * registers are known, all loads before it have their data (it cannot be committed before) and its
 * line is there; then L1 takes it in some cycles more. Until then a load of its bytes has them from
 * the queue, or fails to and waits for the store.
 *
 * Only plain stores are here, and not those to lines that cpus take from each other.
 * docs/microarchitecture.md has the rules, and the measurements that they come from.
 */
#include "machine_fast.h"

static struct pe_queued_store *store_at(struct pe_store_queue *queue, uint32_t i)
{
    return &queue->at[i % PE_STORES_MAX];
}

static bool overlaps(const struct pe_queued_store *store, uint64_t address, uint64_t end)
{
    return store->address < end && address < store->end;
}

/* ---- Stores ---------------------------------------------------------------------------------- */

static void forget_left(struct pe_store_queue *queue, uint64_t now)
{
    while (queue->first != queue->end && store_at(queue, queue->first)->past <= now)
        queue->first++;
}

void pe_forget_stores(struct pe_cpu *cpu, uint64_t address, uint32_t bytes)
{
    struct pe_store_queue *queue = &cpu->window.queue;

    if (!pe_may_meet_store(cpu, address, bytes))
        return;
    for (uint32_t i = queue->first; i != queue->end; i++)
        if (overlaps(store_at(queue, i), address, address + bytes))
            store_at(queue, i)->past = 0;
}

/* Cpus take it from each other: what a load of it finds is decided elsewhere, by time. */
static bool is_passed_on(const struct spe_machine *machine, const struct pe_cpu *cpu,
                         uint64_t address)
{
    uint64_t line = address & PE_ADDRESS_MASK & ~(uint64_t)(cpu->line_bytes - 1);

    return machine->has_turns &&
           machine->turns[line >> machine->line_shift & (PE_TURNS - 1)].line == line;
}

void pe_stored(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address,
               uint32_t bytes, bool forwards, uint64_t issued, uint64_t done)
{
    struct pe_window *w = &cpu->window;
    struct pe_store_queue *queue = &w->queue;
    uint64_t ready = later(later(issued, done), w->committed), past = ready + machine->past_ticks;

    if (!forwards || is_passed_on(machine, cpu, address)) {
        pe_forget_stores(cpu, address, bytes);
        return;
    }
    *store_at(queue, queue->end++) = (struct pe_queued_store){address, address + bytes, issued,
                                                              ready + machine->store_ticks, past};
    if (queue->end - queue->first > machine->config.store_queue)
        queue->first++;
    queue->all_past = later(queue->all_past, past);
    for (uint64_t word = address >> 3; word < (address + bytes + 7) >> 3; word++)
        *pe_past_of(queue, word) = later(*pe_past_of(queue, word), past);
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* Where bytes of a load are. */
struct found {
    enum { IN_CACHE, IN_STORE, IN_NO_ONE_PLACE } where;
    uint64_t when; /* ticks: the store's data is known, or the last of the stores has left */
};

/* The core can take what begins where the store does, or in its middle. */
static bool gives(const struct pe_queued_store *store, uint64_t address, uint64_t end)
{
    uint64_t from = address - store->address;

    return address >= store->address && end <= store->end &&
           (!from || from == (store->end - store->address) / 2);
}

/* The youngest store counts. If it does not give all, all of them have to leave. */
static struct found find(struct pe_store_queue *queue, uint64_t address, uint64_t end,
                         uint64_t issued)
{
    struct found found = {IN_CACHE, 0};

    for (uint32_t i = queue->end; i != queue->first; i--) {
        const struct pe_queued_store *store = store_at(queue, i - 1);

        if (store->past <= issued || !overlaps(store, address, end))
            continue;
        if (found.where == IN_CACHE && gives(store, address, end))
            return (struct found){IN_STORE, store->data};
        found = (struct found){IN_NO_ONE_PLACE, later(found.when, store->left)};
    }
    return found;
}

/* A load of 8 bytes or more may have its halves from two places. True: and one is the cache. */
static bool find_halves(struct pe_store_queue *queue, uint64_t address, uint64_t end,
                        uint64_t issued, struct found *found)
{
    uint64_t middle = address + (end - address) / 2;
    struct found first, second;

    if (found->where != IN_NO_ONE_PLACE || end - address < 8)
        return false;
    first = find(queue, address, middle, issued);
    second = find(queue, middle, end, issued);
    if (first.where == IN_NO_ONE_PLACE || second.where == IN_NO_ONE_PLACE)
        return false;
    *found = (struct found){IN_STORE, later(first.when, second.when)};
    return first.where == IN_CACHE || second.where == IN_CACHE;
}

uint64_t pe_load_behind_stores(const struct spe_machine *machine, struct pe_cpu *cpu,
                               uint64_t address, uint32_t bytes, uint64_t issued, uint64_t done,
                               struct spe_machine_access *met)
{
    struct pe_store_queue *queue = &cpu->window.queue;
    uint64_t end = address + bytes, ticks = machine->forward_ticks;
    uint64_t translated = issued + (uint64_t)met->translation_cycles * PE_TICKS;
    struct found found;
    bool cache;

    forget_left(queue, cpu->window.now);
    found = find(queue, address, end, issued);
    cache = find_halves(queue, address, end, issued, &found);
    if (found.where == IN_CACHE)
        return done;
    if (found.where == IN_NO_ONE_PLACE) {
        ticks = (uint64_t)machine->cycles[SPE_PLACE_L1][false] * PE_TICKS;
    } else if (!cache) { /* it does not wait for the line */
        met->place = SPE_PLACE_L1;
        met->facts &= ~(uint32_t)SPE_FACT_RECENT;
        done = 0;
    }
    done = later(done, later(translated, found.when) + ticks);
    met->cycles = (uint32_t)((done - issued) / PE_TICKS);
    return done;
}
