/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/merge.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pe/skim.h"

/* Ahead of the others that a cpu may be before they have their turn: less than a line takes from
 * one to another. */
#define SLACK (48 * PE_TICKS)
#define LEAD 8192           /* events that a thread may be ahead of the machine, and of others */
#define BATCH 2048          /* events from one handing over to the next */
#define LONG_STRETCH 16     /* batches that take longer than to wait for the helper */
#define PATIENCE_MAX 800000 /* microseconds that others wait for a thread */
#define PATIENCE_MIN 200

/* ---- What an event does ---------------------------------------------------------------------- */

static struct pe_site_counts *counts_of(const struct pe_stream *s, const struct pe_site *site)
{
    struct pe_block *block = site->block;

    if (!s->merge->counting)
        return NULL;
    if (!block->counts)
        block->counts = calloc(block->count, sizeof(*block->counts));
    return block->counts ? &block->counts[site - block->sites] : NULL;
}

/* Watched instructions up to this one of the block have been dispatched. */
static void time_watches(struct pe_stream *s, uint32_t index)
{
    for (uint32_t i = 0; i < s->watching_count; i++) {
        struct pe_watch *w = &s->watches[s->watching[i]];

        if (w->timed || w->index > index)
            continue;
        w->timed = true;
        w->wait = pe_window_wait(s->cpu, &s->block->sites[w->index]);
    }
}

/* The second half of a pair is not an access of its own. */
static bool joins(struct pe_watch *w, uint64_t va, uint32_t bytes, bool store,
                  const struct spe_machine_access *met)
{
    struct pe_watched_access *last;

    if (w->access_count == 0)
        return false;
    last = &w->accesses[w->access_count - 1];
    if (last->store != store || last->va + last->bytes != va)
        return false;
    last->bytes += bytes;
    pe_merge_access(&last->met, met);
    return true;
}

static void tell_watch(struct pe_watch *w, uint64_t va, uint32_t bytes, bool store,
                       const struct spe_machine_access *met)
{
    if (!joins(w, va, bytes, store, met) && w->access_count < PE_WATCHED_ACCESSES)
        w->accesses[w->access_count++] = (struct pe_watched_access){va, bytes, store, *met};
}

/* The watch of this instruction of the block, or -1. */
static int watch_of(const struct pe_stream *s, uint32_t index)
{
    for (uint32_t i = 0; i < s->watching_count; i++)
        if (s->watches[s->watching[i]].index == index)
            return s->watching[i];
    return -1;
}

/* Its owner may have it when nothing of it is left to happen. */
static void finish_watch(struct pe_watch *w)
{
    if (w->ended && w->late_stores == 0)
        __atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
}

/* Operations are counted, not accesses: a pair that misses twice is one that missed. */
static void count_access(struct pe_stream *s, const struct pe_site *site, uint64_t va,
                         uint32_t bytes, uint32_t facts)
{
    struct pe_site_counts *counts = counts_of(s, site);
    bool same = site == s->latest && (va == s->latest_end || site->hidden);
    uint32_t before = same ? s->latest_facts : 0;
    uint32_t now = facts & ~before;

    s->latest = site;
    s->latest_end = va + bytes;
    s->latest_facts = before | now;
    if (!counts)
        return;
    counts->l1_misses += (now & SPE_FACT_L1D_REFILL) != 0;
    counts->llc_misses += (now & SPE_FACT_LLC_MISS) != 0;
    counts->walks += (now & SPE_FACT_TLB_WALK) != 0;
}

/* The line's word; 0: the cache does not have it. */
static uint64_t state_in(const struct pe_cache *cache, uint64_t line)
{
    int way = cache->words ? pe_cache_find(cache, line) : -1;

    return way < 0 ? 0 : pe_get(pe_cache_word(cache, line, (unsigned)way));
}

/* Its own caches do not have what it needs. */
static bool has_to_ask(const struct pe_stream *s, uint64_t line, unsigned how)
{
    uint64_t word = state_in(&s->cpu->l1, line);

    if (!word)
        word = state_in(&s->cpu->l2, line);
    return !word || (how & (SPE_ACCESS_STORE | SPE_ACCESS_ATOMIC) && !(word & PE_EXCLUSIVE));
}

static uint64_t line_of(const struct pe_stream *s, uint64_t va)
{
    return va & PE_ADDRESS_MASK & ~(uint64_t)(s->cpu->line_bytes - 1);
}

/* A cpu has one request for a line in progress: when the next one can be made. */
static uint64_t asks_at(const struct pe_stream *s, uint64_t line, uint64_t issued)
{
    const struct pe_flight *flight = pe_flight_of(s->cpu, line);

    return flight->line == line ? later(issued, flight->done) : issued;
}

/* When a line that another cpu has can be had: not before it is asked for, and not before it has
 * arrived where it is on its way to. 0: at once. */
static uint64_t wait_until(struct pe_stream *s, uint64_t line, unsigned how, uint64_t issued)
{
    if (!has_to_ask(s, line, how) || !pe_held_by_others(s->merge->machine, s->cpu, line))
        return 0;
    s->merge->met = later(s->merge->met, issued);
    return later(pe_turn(s->merge->machine, line), asks_at(s, line, issued));
}

/* Until then the others have their turn: because they have the line, or are to have it before. */
static bool has_to_wait(struct pe_stream *s, uint64_t issued, uint64_t va, unsigned how)
{
    struct spe_machine *machine = s->merge->machine;
    uint64_t line = line_of(s, va), until;

    until = wait_until(s, line, how, issued);
    if (until ? until <= s->cpu->window.now : pe_wanted(machine, line) >= issued)
        return false;
    if (later(until, issued) <= s->not_before) {
        if (!until)
            pe_unwant(machine, line); /* they had their turn */
        return false;
    }
    if (until)
        pe_want(machine, line, until);
    if (how == SPE_ACCESS_STORE && s->stores_end - s->stores_first < PE_LATE_STORES)
        return true; /* only the store */
    s->not_before = later(until, issued);
    s->asked = issued;
    return true;
}

static void accessed(struct pe_stream *s, const struct pe_site *site, int watch, uint64_t va,
                     uint32_t bytes, unsigned how, const struct spe_machine_access *met)
{
    if (s->merge->counting)
        count_access(s, site, va, bytes, met->facts);
    if (watch >= 0)
        tell_watch(&s->watches[watch], va, bytes, how & (SPE_ACCESS_STORE | SPE_ACCESS_ATOMIC),
                   met);
}

/* Stores of the cpu that were dispatched before this one. */
static uint64_t store_number(const struct pe_stream *s, const struct pe_site *site)
{
    uint64_t number = s->cpu->window.stores;

    for (const struct pe_site *before = s->block->sites; before != site; before++)
        number += (before->is & PE_IS_STORE) != 0;
    return number;
}

static struct pe_late_store *late_store(const struct pe_stream *s, uint32_t number)
{
    return &s->stores[number % PE_LATE_STORES];
}

/* When it asks for its line. */
static uint64_t store_time(const struct pe_late_store *store)
{
    return later(store->issued, store->not_before);
}

/* Each asks for its line whatever the others wait for: who asks first, of those that are left? */
static void find_next_store(struct pe_stream *s)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t i = s->stores_first; i != s->stores_end; i++) {
        const struct pe_late_store *store = late_store(s, i);

        if (store->done || store_time(store) >= first)
            continue;
        first = store_time(store);
        s->stores_next = i;
    }
}

/* The store queue has no room for this one before the oldest of the late stores has been made. */
static bool is_full_of_stores(struct pe_stream *s, uint64_t number)
{
    const struct pe_late_store *oldest = late_store(s, s->stores_first);

    if (s->stores_first == s->stores_end ||
        number - oldest->number < s->merge->machine->config.store_queue)
        return false;
    s->not_before = later(s->not_before, store_time(oldest));
    s->asked = UINT64_MAX; /* after the store */
    return true;
}

/* What follows a store does not wait for it: it is kept, and made when its time has come. */
static bool keep_store(struct pe_stream *s, const struct pe_site *site, uint64_t issued,
                       uint64_t va, uint32_t bytes)
{
    uint32_t index = (uint32_t)(site - s->block->sites);
    int watch = s->watching_count ? watch_of(s, index) : -1;

    if (s->stores_end - s->stores_first == PE_LATE_STORES)
        return false;
    pe_forget_stores(s->cpu, va, bytes);
    *late_store(s, s->stores_end++) = (struct pe_late_store){
        .site = site,
        .va = va,
        .issued = issued,
        .asked = issued,
        .number = store_number(s, site),
        .bytes = bytes,
        .watch = watch,
    };
    if (watch >= 0)
        s->watches[watch].late_stores++;
    find_next_store(s);
    return true;
}

/* Others may want the line, or have it. True: the access is not made now; then *goes_on says
 * whether what follows it is. */
static bool meets_others(struct pe_stream *s, const struct pe_site *site, uint64_t va,
                         uint32_t bytes, unsigned how, bool *goes_on)
{
    uint64_t issued, queued = 0;

    *goes_on = false;
    if (how == SPE_ACCESS_STORE) {
        uint64_t number = store_number(s, site);

        if (is_full_of_stores(s, number))
            return true;
        queued = pe_window_queue_store(s->merge->machine, s->cpu, site, number);
    }
    issued = later(pe_window_issue(s->cpu, site), queued);
    if (!has_to_wait(s, issued, va, how))
        return false;
    *goes_on = how == SPE_ACCESS_STORE && keep_store(s, site, issued, va, bytes);
    return true;
}

/* False: not yet. */
static bool any_access(struct pe_stream *s, uint32_t index, uint64_t va, uint32_t bytes,
                       unsigned how)
{
    const struct pe_site *site = &s->block->sites[index];
    struct spe_machine_access met = {0};
    bool goes_on;

    time_watches(s, index);
    if (s->merge->count > 1 && meets_others(s, site, va, bytes, how, &goes_on))
        return goes_on;
    pe_timed_access(s->merge->machine, s->cpu, site, va, bytes, how, &met);
    accessed(s, site, s->watching_count ? watch_of(s, index) : -1, va, bytes, how, &met);
    return true;
}

static bool has_late_stores(const struct pe_stream *s)
{
    return s->stores_first != s->stores_end;
}

/* Behind stores that are late a store has to see whether the queue has room, and a load behind any
 * whether it has its data from one. */
static inline bool has_a_short_way(struct pe_stream *s, uint64_t va, uint32_t bytes, bool store)
{
    return !s->watching_count && !s->merge->simple &&
           !(store ? has_late_stores(s) : pe_may_meet_store(s->cpu, va, bytes));
}

static inline bool plain_access(struct pe_stream *s, unsigned ordinal, uint64_t va)
{
    const struct pe_plain plain = s->block->plain_sites[ordinal];
    const struct pe_site *site = &s->block->sites[plain.index];
    struct spe_machine *machine = s->merge->machine;

    if (has_a_short_way(s, va, plain.bytes, plain.store)) {
        if (pe_hit(s->cpu, va, plain.bytes, plain.store)) {
            if (plain.store)
                pe_stored(machine, s->cpu, va, plain.bytes, site->forwards,
                          pe_window_issue(s->cpu, site), 0);
            return true;
        }
        if (!s->merge->counting &&
            pe_timed_quick(machine, s->cpu, site, va, plain.bytes, plain.store))
            return true;
    }
    return any_access(s, plain.index, va, plain.bytes, site->how);
}

static bool wide_access(struct pe_stream *s, uint32_t index, uint64_t va, uint32_t bytes,
                        unsigned how)
{
    if (!(how & ~SPE_ACCESS_STORE) && !s->merge->counting && has_a_short_way(s, va, bytes, how) &&
        pe_timed_quick(s->merge->machine, s->cpu, &s->block->sites[index], va, bytes, how))
        return true;
    return any_access(s, index, va, bytes, how);
}

static void count_branch(struct pe_stream *s, const struct pe_site *site, bool taken, bool wrong)
{
    struct pe_site_counts *counts = counts_of(s, site);

    if (!counts)
        return;
    counts->taken += taken;
    counts->mispredicted += wrong;
}

/* Was it mispredicted? */
PE_INLINE bool end_branch(struct pe_stream *s, uint64_t next, bool counting)
{
    const struct pe_block *b = s->block;
    bool taken, wrong;

    if (!pe_branch_outcome(b, next, &taken))
        return false;
    if (b->plain && !counting && pe_foreseen(s->cpu, b->end - 4, taken))
        return false;
    wrong = pe_branch(s->merge->machine, s->cpu, b->end - 4, b->kind, taken, next);
    if (counting)
        count_branch(s, pe_block_last(b), taken, wrong);
    return wrong;
}

static void end_watches(struct pe_stream *s, uint64_t next, bool wrong)
{
    time_watches(s, UINT32_MAX);
    for (uint32_t i = 0; i < s->watching_count; i++) {
        struct pe_watch *w = &s->watches[s->watching[i]];

        w->next = next;
        w->mispredicted = wrong && w->index == s->block->count - 1;
        w->ended = true;
        finish_watch(w);
    }
    s->watching_count = 0;
}

/* What the stream's block takes if it waits for nothing. */
static uint64_t block_time(const struct pe_stream *s, const struct pe_block *next)
{
    return s->block ? pe_block_time(&s->cpu->window, s->block, next) : 0;
}

static void begin_block(struct pe_stream *s, struct pe_block *block)
{
    bool counting = s->merge->counting;
    bool wrong = s->block && s->block->branch && end_branch(s, block->pc, counting);

    if (s->watching_count)
        end_watches(s, block->pc, wrong);
    pe_window_begin(s->merge->machine, s->cpu, block, block_time(s, block), wrong);
    s->began = s->cpu->window.now;
    s->block = block;
    s->latest = NULL;
    if (counting)
        block->executed++;
    if (s->next_count) {
        memcpy(s->watching, s->next, s->next_count);
        s->watching_count = s->next_count;
        s->next_count = 0;
    }
}

static void begin_watch(struct pe_stream *s, unsigned watch)
{
    if (s->next_count < PE_WATCHES)
        s->next[s->next_count++] = (uint8_t)watch;
}

static void rest(struct pe_stream *s, uint64_t operations)
{
    uint64_t next = s->cpu->window.operations + (s->block ? s->block->count : 0);
    uint64_t margin = s->margin;

    s->skim_until = operations > margin ? next + operations - margin : next;
}

/* The event has been had, and all but one of its words are behind; false: it has to wait. */
static bool rare_event(struct pe_stream *s, uint64_t event)
{
    uint64_t more;

    switch (event >> PE_EVENT_SHIFT) {
    case PE_EVENT_WIDE:
        more = s->events[(s->done + 1) % PE_EVENTS];
        if (!wide_access(s, PE_WIDE_INDEX(more), event & PE_EVENT_MASK, PE_WIDE_BYTES(more),
                         PE_WIDE_HOW(more)))
            return false;
        s->done++;
        break;
    case PE_EVENT_WATCH:
        begin_watch(s, event & 0xff);
        break;
    case PE_EVENT_REST:
        rest(s, event & PE_EVENT_MASK);
        break;
    default:
        pe_window_sleep(s->cpu, event & PE_EVENT_MASK);
        s->began = s->cpu->window.now; /* the block did not take that time */
    }
    return true;
}

/* Nobody watches or counts, and no store is kept. */
static inline bool is_quiet(const struct pe_stream *s)
{
    return !(s->watching_count | s->next_count | (s->stores_end - s->stores_first)) &&
           !s->merge->counting && !s->merge->simple;
}

/* The block begins, once. False: it has to wait before. */
static bool block_event(struct pe_stream *s, uint64_t event)
{
    if (is_full_of_stores(s, s->cpu->window.stores + (s->block ? s->block->stores : 0) - 1))
        return false;
    begin_block(s, pe_event_block(event));
    if (s->again++ == pe_event_again(event)) {
        s->again = 0;
        s->done++;
    }
    return true;
}

static bool has_events(const struct pe_stream *s)
{
    return s->done != s->handed;
}

/* It runs, or did something that has not been had. */
static bool is_busy(const struct pe_stream *s)
{
    return s->running || has_events(s) || has_late_stores(s);
}

/* All others wait in the kernel. */
static bool is_alone(const struct pe_stream *s)
{
    const struct pe_merge *m = s->merge;

    for (size_t i = 0; i < m->count; i++)
        if (m->streams[i] != s && is_busy(m->streams[i]))
            return false;
    return true;
}

static bool shares_cpu(const struct pe_stream *s)
{
    const struct pe_merge *m = s->merge;

    for (size_t i = 0; i < m->count; i++)
        if (m->streams[i] != s && m->streams[i]->cpu == s->cpu)
            return true;
    return false;
}

/* Until the cpu's time is past `limit`, or nothing is left, or it has to wait. */
static void run(struct pe_stream *s, uint64_t limit)
{
    const uint64_t *events = s->events;

    if (pe_window_resume(s->cpu, s, s->block))
        s->began = s->cpu->window.now;
    s->limit = limit;
    s->in_turn = false;
    s->alone = is_alone(s);
    while (s->done != s->handed) {
        uint64_t event = events[s->done % PE_EVENTS];
        unsigned tag = (unsigned)(event >> PE_EVENT_SHIFT);

        if (tag < PE_ORDINALS) {
            if (!plain_access(s, tag, event & PE_EVENT_MASK))
                return;
            s->done++;
        } else if (tag == PE_EVENT_BLOCK) {
            if (s->block && is_quiet(s))
                pe_skim(s);
            else if (!block_event(s, event))
                return;
            if (s->cpu->window.now > limit)
                return;
        } else {
            if (!rare_event(s, event))
                return;
            s->done++;
        }
    }
    s->in_turn = !shares_cpu(s);
}

/* They leave the queue in order. */
static void let_stores_go(struct pe_stream *s)
{
    for (; s->stores_first != s->stores_end; s->stores_first++) {
        const struct pe_late_store *store = late_store(s, s->stores_first);

        if (!store->done)
            break;
        if (store->done > store->issued)
            pe_window_stored(s->cpu, store->number, store->done);
    }
    find_next_store(s);
}

/* One of the stores that were kept; it may have to wait once more. */
static void run_store(struct pe_stream *s, struct pe_late_store *store)
{
    struct spe_machine_access met = {0};
    struct spe_machine *machine = s->merge->machine;
    uint64_t line = line_of(s, store->va);
    uint64_t until = wait_until(s, line, SPE_ACCESS_STORE, store->issued);

    if (until > store->issued && until > store->not_before) {
        store->not_before = until;
        store->asked = asks_at(s, line, store->issued);
        pe_want(machine, line, until);
        find_next_store(s);
        return;
    }
    if (!until && pe_wanted(machine, line) < store_time(store))
        pe_unwant(machine, line); /* they had their turn */
    store->done = later(1, pe_timed_store(machine, s->cpu, pe_site_pc(store->site), store->va,
                                          store->bytes, store->issued, &met));
    accessed(s, store->site, store->watch, store->va, store->bytes, SPE_ACCESS_STORE, &met);
    if (store->watch >= 0) {
        s->watches[store->watch].late_stores--;
        finish_watch(&s->watches[store->watch]);
    }
    let_stores_go(s);
}

/* ---- Whose turn it is ------------------------------------------------------------------------ */

/* What a stream does next: go on in its events, or make a store that it kept. */
struct turn {
    struct pe_stream *stream;
    uint64_t time, asked;
    bool goes_on;      /* it is the stream's turn, which was out of events */
    bool store, holds; /* holds: it has no events, and will have */
};

static struct turn turn_of_events(struct pe_stream *s)
{
    uint64_t now = s->cpu->window.now;

    return (struct turn){.stream = s,
                         .time = later(now, s->not_before),
                         .asked = s->not_before > now ? s->asked : now,
                         .goes_on = s->in_turn,
                         .holds = !has_events(s)};
}

static struct turn turn_of_store(struct pe_stream *s)
{
    const struct pe_late_store *store = late_store(s, s->stores_next);

    return (struct turn){
        .stream = s, .time = store_time(store), .asked = store->asked, .store = true};
}

/* Who waits for the same moment goes by who asked first. Threads that share a cpu have its time in
 * common, and one that has no events does not hold up the other. */
static bool is_before(const struct turn *a, const struct turn *b)
{
    if (a->goes_on != b->goes_on)
        return a->goes_on;
    if (a->time != b->time)
        return a->time < b->time;
    if (a->holds != b->holds && a->stream->cpu == b->stream->cpu)
        return b->holds;
    return a->asked != b->asked ? a->asked < b->asked : a->store; /* which is older */
}

/* The turn that comes first, and in *limit the time until which it may go on. No stream: nothing is
 * left to do. */
static struct turn first_turn(struct pe_merge *m, bool everyone, uint64_t *limit)
{
    struct turn first = {0};
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < m->count; i++) {
        struct pe_stream *s = m->streams[i];

        for (unsigned store = 0; store < 2; store++) {
            struct turn turn, behind;

            if (store ? s->stores_first == s->stores_end
                      : !has_events(s) && (everyone || !s->running || s->ignored))
                continue;
            turn = behind = store ? turn_of_store(s) : turn_of_events(s);
            if (!first.stream || is_before(&turn, &first)) {
                behind = first;
                first = turn;
            }
            if (behind.stream && (behind.store || behind.stream->cpu != first.stream->cpu) &&
                behind.time < next)
                next = behind.time;
        }
    }
    *limit = next > UINT64_MAX - SLACK ? UINT64_MAX : next + SLACK;
    if (first.goes_on)
        *limit = first.stream->limit;
    return first;
}

static void note_room(struct pe_stream *s)
{
    s->has_room = s->waiting && s->handed - s->done <= LEAD / 2;
}

/* They need the lock to go on: so whoever has it does so at the end, and before it waits itself. */
static void wake_those_with_room(const struct pe_merge *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct pe_stream *s = m->streams[i];

        if (s->has_room)
            pthread_cond_signal(&s->room);
        s->has_room = false;
    }
}

/* Whoever let the machine have events gives the lock back. */
static void give_back(struct pe_merge *m)
{
    wake_those_with_room(m);
    pe_merge_unlock(m);
}

/* As far as can be. Returns who holds it up, NULL: nobody. */
static struct pe_stream *proceed(struct pe_merge *m, bool everyone)
{
    for (;;) {
        uint64_t limit;
        struct turn turn = first_turn(m, everyone, &limit);

        if (!turn.stream || turn.holds)
            return turn.stream;
        if (turn.store)
            run_store(turn.stream, late_store(turn.stream, turn.stream->stores_next));
        else
            run(turn.stream, limit);
        note_room(turn.stream);
    }
}

/* ---- Handing over ---------------------------------------------------------------------------- */

static uint64_t microseconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Nobody waits for ever for a thread that the host does not run, or that waits for us itself. There
 * may be many such, and all of them have had their time. */
static void lose_patience(struct pe_merge *m)
{
    uint64_t now = microseconds_now();

    for (size_t i = 0; i < m->count; i++) {
        struct pe_stream *s = m->streams[i];

        if (!s->running || s->ignored || has_events(s) || now < s->handed_at + s->patience)
            continue;
        s->ignored = true;
        s->patience = later(s->patience / 2, PATIENCE_MIN);
    }
}

static bool is_ahead(const struct pe_stream *s, uint64_t lead)
{
    return s->handed - s->done > lead || (!lead && s->stores_first != s->stores_end);
}

static void wait_for_room(struct pe_stream *s, struct pe_stream *holds, uint64_t lead)
{
    struct pe_merge *m = s->merge;

    while (!m->hurried && is_ahead(s, lead) && holds && holds != s) {
        uint64_t end = holds->handed_at + holds->patience;
        struct timespec until = {(time_t)(end / 1000000), (long)(end % 1000000 * 1000)};

        wake_those_with_room(m);
        s->waiting = true;
        if (pthread_cond_timedwait(&s->room, &m->lock, &until) != 0)
            lose_patience(m);
        s->waiting = false;
        holds = proceed(m, false);
    }
    if (m->hurried)
        proceed(m, true);
}

/* Somebody joins whom the limits of turns that were to go on do not know. */
static void end_turns(struct pe_merge *m)
{
    for (size_t i = 0; i < m->count; i++)
        m->streams[i]->in_turn = false;
}

/* It may write past the end of the ring until it hands over: what is there belongs to the
 * beginning. (Where it is at the very end it stays there, so that an event is before it.) */
static void wrap(struct pe_writer *w)
{
    size_t count = (size_t)(w->at - w->events);

    if (count <= PE_EVENTS)
        return;
    memcpy(w->events, w->events + PE_EVENTS, (count - PE_EVENTS) * sizeof(*w->events));
    w->at -= PE_EVENTS;
    w->hand_at = (uintptr_t)w->at; /* until set_next_hand */
}

/* Others may have the events so far. Returns where they end. */
static uint64_t end_batch(struct pe_stream *s)
{
    struct pe_writer *w = s->writer;

    pe_close(w);
    w->again = PE_AGAIN_HANDED;
    s->shown += ((uint64_t)(w->at - w->events) - s->shown) % PE_EVENTS;
    wrap(w);
    return s->shown;
}

static void handed_up_to(struct pe_stream *s, uint64_t end)
{
    if (!s->running || s->ignored)
        end_turns(s->merge);
    s->handed = end;
    s->handed_at = microseconds_now();
    s->running = true;
    if (s->ignored) { /* it comes back at the others' time */
        s->ignored = false;
    } else if (s->patience < PATIENCE_MAX) {
        s->patience *= 2;
    }
}

static void publish(struct pe_stream *s)
{
    handed_up_to(s, end_batch(s));
}

/* Those that wait now, one after the other, as if each had been had when it was handed over. */
static void have_batches(struct pe_merge *m, struct pe_stream *s)
{
    uint64_t end;

    for (uint64_t count = pe_batches_waiting(&s->batches); count; count--) {
        end = pe_batches_next(&s->batches);
        handed_up_to(s, end);
        proceed(m, false);
        pe_batches_had(&s->batches, s->done);
        pe_helper_had(s);
    }
}

static void have_all_batches(struct pe_merge *m)
{
    for (size_t i = 0; i < m->count; i++)
        have_batches(m, m->streams[i]);
}

void pe_merge_lock(struct pe_merge *m)
{
    atomic_fetch_add(&m->helper.others, 1);
    pthread_mutex_lock(&m->lock);
    atomic_fetch_sub(&m->helper.others, 1);
    have_all_batches(m);
}

static bool try_lock(struct pe_merge *m)
{
    if (pthread_mutex_trylock(&m->lock) != 0)
        return false;
    have_all_batches(m);
    return true;
}

/* Who has the lock has what the helper would have. */
static void lock_as_helper(struct pe_merge *m)
{
    uint64_t begin;

    if (pthread_mutex_trylock(&m->lock) == 0)
        return;
    begin = pe_helper_now();
    pthread_mutex_lock(&m->lock);
    m->helper.slept += pe_helper_now() - begin;
}

bool pe_merge_help(struct pe_merge *m)
{
    bool more = false;

    lock_as_helper(m);
    have_all_batches(m);
    for (size_t i = 0; i < m->count; i++)
        more |= pe_batches_waiting(&m->streams[i]->batches) != 0;
    pe_merge_unlock(m);
    return more;
}

/* The only one that can have something to do, and runs. */
static struct pe_stream *find_lone(const struct pe_merge *m)
{
    struct pe_stream *lone = NULL;

    for (size_t i = 0; i < m->count; i++) {
        if (!is_busy(m->streams[i]))
            continue;
        if (lone)
            return NULL;
        lone = m->streams[i];
    }
    return lone && lone->running ? lone : NULL;
}

void pe_merge_unlock(struct pe_merge *m)
{
    pe_helper_choose(m, find_lone(m));
    pthread_mutex_unlock(&m->lock);
}

static void begin_ring(struct pe_stream *s)
{
    s->done = s->handed = s->shown = 1; /* an event is before it */
    s->writer->at = s->events + 1;
}

/* So many events of it have not been had yet. Hand over after a batch, or before the stream is full
 * if that comes first. */
static void set_room(struct pe_stream *s, uint64_t waiting)
{
    struct pe_writer *w = s->writer;
    int64_t room = PE_EVENTS - PE_BLOCK_EVENTS - (int64_t)waiting;

    w->watched = 0;
    w->room_to = (uintptr_t)w->at + (uintptr_t)room * sizeof(*w->at);
    if (room > BATCH)
        room = BATCH;
    w->hand_at = (uintptr_t)w->at + (uintptr_t)room * sizeof(*w->at);
}

/* Where all has been had it begins anew, in memory that the host has at hand. */
static void set_next_hand(struct pe_stream *s)
{
    if (s->done == s->handed)
        begin_ring(s);
    atomic_store(&s->batches.end, s->handed);
    atomic_store(&s->batches.done, s->done);
    set_room(s, s->handed - s->done);
}

/* It has the lock, which it gives back. */
static void hand_over(struct pe_stream *s, uint64_t lead)
{
    publish(s);
    wait_for_room(s, proceed(s->merge, false), lead);
    set_next_hand(s);
    give_back(s->merge);
}

/* Who has the lock lets the machine have events, and that takes a while. A thread that has room for
 * one more batch goes on meanwhile. */
static bool hands_later(struct pe_writer *w)
{
    uintptr_t next = (uintptr_t)w->at + BATCH * sizeof(*w->at);

    if (w->watched >= PE_BATCH_WATCHES || next > w->room_to ||
        next > (uintptr_t)(w->events + PE_EVENTS))
        return false;
    w->hand_at = next;
    return true;
}

/* There is no room for one more batch. */
static bool is_full(const struct pe_batches *b)
{
    return pe_batches_waiting(b) == PE_BATCHES ||
           pe_batches_events(b) + BATCH > PE_EVENTS - PE_BLOCK_EVENTS;
}

_Static_assert(PE_BATCHES_FEW_EVENTS + BATCH <= PE_EVENTS - PE_BLOCK_EVENTS, "few leave room");
_Static_assert(BATCH + (BATCH + PE_HAND_LATER + PE_BLOCK_EVENTS) * PE_BATCHES_MANY <=
                   PE_EVENTS - PE_BLOCK_EVENTS,
               "who waits for room has rung for the helper");

/* The helper has read what was written there before. Each line would have to come back from its
 * processor when the first event is stored, and hold up all other stores: together they come
 * sooner. */
static void fetch_lines(const struct pe_writer *w)
{
    for (volatile uint64_t *at = w->at; (uintptr_t)at < w->hand_at; at += 64 / sizeof(*at))
        *at = 0;
}

/* The helper has it, or whoever takes the lock before. False: there is no room, and no helper. */
static bool leave_to_helper(struct pe_stream *s)
{
    pe_batches_add(&s->batches, end_batch(s));
    pe_helper_tell(s);
    while (is_full(&s->batches)) {
        if (!pe_helper_is_for(s))
            return false;
        pe_helper_wait(s);
    }
    set_room(s, pe_batches_events(&s->batches));
    fetch_lines(s->writer);
    return true;
}

/* Who goes into the kernel waits for the helper before. That takes longer than what the helper
 * saves, unless there was much to do: as the time before, or now. */
static bool is_worth_help(const struct pe_stream *s)
{
    return s->before >= LONG_STRETCH || s->stretch >= LONG_STRETCH;
}

void pe_stream_hand(struct pe_stream *s)
{
    s->stretch++;
    if (is_worth_help(s) && pe_helper_is_for(s) && leave_to_helper(s))
        return;
    if (!try_lock(s->merge)) {
        if (hands_later(s->writer))
            return;
        pe_merge_lock(s->merge);
    }
    hand_over(s, LEAD);
}

/* The thread needs that all has been had. It takes the lock, and has what the helper has not. */
static void end_stretch(struct pe_stream *s)
{
    s->before = s->stretch;
    s->stretch = 0;
    pe_merge_lock(s->merge);
}

void pe_stream_catch_up(struct pe_stream *s)
{
    end_stretch(s);
    pe_merge_unlock(s->merge);
}

void pe_stream_settle(struct pe_stream *s)
{
    end_stretch(s);
    hand_over(s, 0);
}

static void show(struct pe_stream *s)
{
    publish(s);
    proceed(s->merge, false);
    set_next_hand(s);
}

void pe_stream_show(struct pe_stream *s)
{
    struct pe_merge *m = s->merge;

    end_stretch(s);
    show(s);
    give_back(m);
}

/* ---- Away and back --------------------------------------------------------------------------- */

void pe_stream_away(struct pe_stream *s)
{
    struct pe_merge *m = s->merge;

    end_stretch(s);
    publish(s);
    s->running = false;
    proceed(m, false);
    give_back(m);
}

/* The time of those that run: nobody who comes back is earlier. */
static uint64_t common_time(const struct pe_merge *m)
{
    uint64_t time = UINT64_MAX;

    for (size_t i = 0; i < m->count; i++)
        if ((m->streams[i]->running && !m->streams[i]->ignored) || has_events(m->streams[i]))
            time = turn_of_events(m->streams[i]).time < time ? turn_of_events(m->streams[i]).time
                                                             : time;
    return time == UINT64_MAX ? 0 : time;
}

void pe_stream_back(struct pe_stream *s)
{
    struct pe_merge *m = s->merge;

    pe_merge_lock(m);
    pe_put(s->writer, (uint64_t)PE_EVENT_WAKE << PE_EVENT_SHIFT | (common_time(m) & PE_EVENT_MASK));
    show(s);
    give_back(m);
}

void pe_merge_finish(struct pe_merge *m)
{
    pe_merge_lock(m);
    proceed(m, true);
    give_back(m);
}

void pe_merge_hurry(struct pe_merge *m, bool hurry)
{
    pe_merge_lock(m);
    m->hurried += hurry ? 1 : -1u;
    if (hurry)
        proceed(m, true);
    give_back(m);
}

/* ---- Life ------------------------------------------------------------------------------------ */

bool pe_merge_init(struct pe_merge *merge, struct spe_machine *machine, bool counting)
{
    *merge = (struct pe_merge){.machine = machine, .counting = counting};
    pthread_mutex_init(&merge->lock, NULL);
    spe_machine_alone(machine, true); /* whoever has the lock */
    return true;
}

void pe_merge_free(struct pe_merge *merge)
{
    pe_helper_end(&merge->helper);
    pe_merge_forget(merge);
}

void pe_merge_forget(struct pe_merge *merge)
{
    free(merge->streams);
    pthread_mutex_destroy(&merge->lock);
}

static bool add(struct pe_merge *m, struct pe_stream *s)
{
    if (m->count == m->room) {
        size_t room = m->room ? m->room * 2 : 16;
        struct pe_stream **streams = realloc(m->streams, room * sizeof(struct pe_stream *));

        if (!streams)
            return false;
        m->streams = streams;
        m->room = room;
    }
    m->streams[m->count] = s;
    m->count++;
    return true;
}

void pe_write_nowhere(struct pe_writer *w)
{
    static uint64_t nowhere[PE_BLOCK_EVENTS]; /* of all threads that are not recorded */

    *w = (struct pe_writer){.at = nowhere + 1, .again = PE_AGAIN_HANDED};
}

/* The writer, at the beginning of a ring with room for what wrap() finds behind it. */
static void begin_writing(struct pe_stream *s)
{
    s->events = malloc((PE_EVENTS + BATCH + PE_BLOCK_EVENTS) * sizeof(*s->events));
    *s->writer = (struct pe_writer){.events = s->events, .again = PE_AGAIN_MAX};
    if (!s->events)
        return;
    s->events[0] = 0;
    begin_ring(s);
    set_next_hand(s);
}

bool pe_stream_begin(struct pe_stream *s, struct pe_writer *writer, struct pe_merge *merge,
                     unsigned cpu)
{
    bool good;

    *s = (struct pe_stream){.writer = writer, .merge = merge, .patience = PATIENCE_MAX};
    s->handed_at = microseconds_now();
    begin_writing(s);
    s->watches = calloc(PE_WATCHES, sizeof(*s->watches));
    s->stores = calloc(PE_LATE_STORES, sizeof(*s->stores));
    pthread_cond_init(&s->room, NULL);
    pe_merge_lock(merge);
    s->cpu = pe_machine_cpu(merge->machine, cpu % merge->machine->config.cpus);
    s->margin = pe_skim_margin(&merge->machine->config);
    good = s->cpu && s->events && s->watches && s->stores && add(merge, s);
    if (good)
        pe_window_sleep(s->cpu, common_time(merge));
    end_turns(merge);
    s->running = good;
    pe_merge_unlock(merge);
    return good;
}

static void remove_stream(struct pe_merge *m, const struct pe_stream *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < m->count; i++)
        if (m->streams[i] != s)
            m->streams[kept++] = m->streams[i];
    m->count = kept;
}

void pe_stream_end(struct pe_stream *s)
{
    struct pe_merge *m = s->merge;

    if (!m)
        return;
    pe_merge_lock(m);
    publish(s);
    s->running = false;
    wait_for_room(s, proceed(m, false), 0);
    s->not_before = UINT64_MAX; /* nothing holds up what is left */
    for (run(s, UINT64_MAX); s->stores_first != s->stores_end; run(s, UINT64_MAX)) {
        late_store(s, s->stores_first)->not_before = UINT64_MAX;
        run_store(s, late_store(s, s->stores_first));
    }
    if (s->watching_count)
        end_watches(s, 0, false);
    s->ended = s->cpu->window.now;
    pe_window_leave(s->cpu, s);
    remove_stream(m, s);
    proceed(m, false);
    give_back(m);
    free(s->events);
    free(s->stores);
    pthread_cond_destroy(&s->room);
    pe_write_nowhere(s->writer);
    s->events = NULL;
    s->stores = NULL;
    s->merge = NULL;
}
