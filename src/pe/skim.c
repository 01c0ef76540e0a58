/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/skim.h"

#define APART __attribute__((noinline))
/* With these the compiler keeps the clock in one of the host's registers. */
#define OFTEN(condition) __builtin_expect(condition, 1)
#define SELDOM(condition) __builtin_expect(condition, 0)

/* ---- Accesses -------------------------------------------------------------------------------- */

/* The line comes from beyond L2 and is not there yet. */
PE_INLINE bool is_far(struct pe_cpu *cpu, const struct pe_near *near, uint64_t line)
{
    const struct pe_flight *flight = pe_flight_at(cpu, near->l1.line_shift, line);

    return flight->line == line && flight->done > cpu->window.now && flight->place > SPE_PLACE_L2;
}

static inline void translate(const struct spe_machine *machine, struct pe_cpu *cpu,
                             const struct pe_near *near, uint64_t line)
{
    uint64_t cycles = pe_translation_cycles(machine, cpu, near, line);

    if (cycles > machine->config.l2_tlb_latency)
        cpu->window.walk = (uint32_t)cycles;
}

/* What an access was. */
enum found {
    NOT_FOR_HERE, /* nothing has happened */
    HIT,
    REFILLED, /* L1, from L2 */
};

/* As pe_timed_quick, but for the window. The next access of the line finds out sooner what it is.
 */
PE_INLINE enum found hit(struct spe_machine *machine, struct pe_cpu *cpu,
                         const struct pe_near *near, uint64_t pc, uint64_t va, uint64_t line,
                         unsigned way, bool store)
{
    pe_word *at = pe_cache_word(&near->l1, line, way);
    uint64_t word = pe_get(at), after = word & ~(PE_FRESH | PE_PREFETCHED | PE_FLIGHT);

    if ((store && !(word & PE_EXCLUSIVE)) || (word & PE_FLIGHT && is_far(cpu, near, line)))
        return NOT_FOR_HERE;
    translate(machine, cpu, near, line);
    after |= store ? PE_MODIFIED : 0;
    atomic_store_explicit(at, after, memory_order_relaxed);
    pe_use_l1(cpu, &near->l1, line, way);
    pe_note_hit(cpu, near, line, after & PE_MODIFIED);
    if (word & PE_PREFETCHED)
        pe_prefetch_by_stride(machine, cpu, pc, va, store, cpu->window.now);
    return HIT;
}

PE_INLINE enum found refill(struct spe_machine *machine, struct pe_cpu *cpu,
                            const struct pe_near *near, uint64_t pc, uint64_t va, uint64_t line,
                            bool store)
{
    if (is_far(cpu, near, line) || !pe_refill_near(machine, cpu, near, line, store, 0))
        return NOT_FOR_HERE;
    translate(machine, cpu, near, line);
    if (!store)
        pe_leaves(machine, cpu, SPE_PLACE_L2, cpu->window.now); /* prefetchers look at it */
    pe_prefetch_by_stride(machine, cpu, pc, va, store, cpu->window.now);
    return REFILLED;
}

PE_INLINE enum found any_access(struct spe_machine *machine, struct pe_cpu *cpu,
                                struct pe_near near, uint64_t pc, uint64_t va, uint32_t size)
{
    uint64_t line = pe_line_of(&near, va);
    uint32_t bytes = size >> 1;
    bool store = size & 1;
    int way;

    if (pe_crosses_lines(&near, va, bytes))
        return NOT_FOR_HERE;
    way = pe_cache_find(&near.l1, line);
    return way >= 0 ? hit(machine, cpu, &near, pc, va, line, (unsigned)way, store)
                    : refill(machine, cpu, &near, pc, va, line, store);
}

/* Apart from the loop, which has its own use for the host's registers: they are few, and `size` is
 * twice the bytes, and one more for a store. */
APART static enum found usual_access(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc,
                                     uint64_t va, uint32_t size)
{
    return any_access(machine, cpu, pe_near_of(cpu, true), pc, va, size);
}

APART static enum found other_access(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc,
                                     uint64_t va, uint32_t size)
{
    return any_access(machine, cpu, pe_near_of(cpu, false), pc, va, size);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* How blocks and accesses are had. */
enum mode {
    SKIMMED,  /* nothing is waited for */
    WAITING,  /* the window waits for what is beyond L2, and what depends on that is timed */
    FOLLOWED, /* the window times all */
};

/* What the loop has at hand: in the host's registers, so nobody may have its address. The cpu has
 * it where others look at it. */
struct view {
    struct spe_machine *machine;
    struct pe_cpu *cpu;
    enum mode mode; /* but for SKIMMED the window's time and operations are these */
    bool usual, in_turns;
    bool only;                    /* there is no other stream */
    const struct pe_block *block; /* that has begun last */
    uint64_t now, operations, until;
    uint64_t limit;      /* ticks: if there are turns, that of the stream ends then */
    uint64_t skim_until; /* operations: of those that are followed, not these */
    uint64_t learn_from; /* operations: the window has filled */
    uint64_t began;      /* ticks: the block, where it is followed */
    uint64_t wrong;      /* ticks that a mispredicted branch takes longer */
    uint64_t carried_to, carried_operations; /* the window's time and operations: ticks */
    uint64_t accesses, refills, branches;    /* that are not counted yet */
};

PE_INLINE void show(const struct view *v)
{
    v->cpu->window.now = v->now;
    v->cpu->window.operations = v->operations;
}

/* What the window waited for when it was not followed any more, it waits for now. */
PE_INLINE void carry(struct view *v)
{
    pe_window_carry(v->cpu, v->now - v->carried_to, v->operations - v->carried_operations);
    v->carried_to = v->now;
    v->carried_operations = v->operations;
}

/* What follows the access waits for its page. */
PE_INLINE void wait_for_walk(struct view *v, uint32_t index, bool store)
{
    struct pe_window *w = &v->cpu->window;
    uint64_t cycles = (uint64_t)w->walk + v->machine->cycles[SPE_PLACE_L1][false];

    w->walk = 0;
    if (v->mode == SKIMMED) {
        w->block = v->block;
        carry(v);
        v->until = 0;
    }
    pe_timed_walk(v->machine, v->cpu, &v->block->sites[index], store, cycles);
    v->now = w->now;
}

/* An access that does not hit what was hit last in its set. */
PE_INLINE bool other_than_last(struct view *v, uint32_t index, uint64_t va, uint32_t bytes,
                               bool store)
{
    uint64_t pc = v->block->pc + UINT64_C(4) * index;
    enum found found;

    show(v);
    found = v->usual ? usual_access(v->machine, v->cpu, pc, va, bytes << 1 | store)
                     : other_access(v->machine, v->cpu, pc, va, bytes << 1 | store);
    if (found == NOT_FOR_HERE)
        return false;
    v->refills += found - HIT;
    if (SELDOM(v->cpu->window.walk))
        wait_for_walk(v, index, store);
    return true;
}

/* `va`: whatever its highest byte is. */
PE_INLINE bool hits_again(struct view *v, uint64_t va, uint32_t bytes, bool store)
{
    const struct pe_near near = pe_near_of(v->cpu, v->usual);
    bool again = pe_hit_again(v->cpu, &near, va, bytes, store);

    v->accesses += again;
    return again;
}

PE_INLINE bool skimmed_access(struct view *v, uint32_t index, uint64_t event, uint32_t bytes,
                              bool store)
{
    if (OFTEN(hits_again(v, event, bytes, store)))
        return true;
    if (!other_than_last(v, index, event & PE_EVENT_MASK, bytes, store))
        return false;
    v->accesses++;
    return true;
}

/* What depends on what the window waits for is timed, and prefetchers hear of it then. What does
 * not is skimmed, but takes its turn among what is beyond L1. */
PE_INLINE bool waiting_access(struct view *v, uint32_t index, uint64_t va, uint32_t bytes,
                              bool store)
{
    const struct pe_site *site = &v->block->sites[index];
    uint64_t refills = v->refills;

    if (pe_window_is_late(v->cpu, site)) {
        if (!pe_timed_quick(v->machine, v->cpu, site, va, bytes, store))
            return false;
        v->now = v->cpu->window.now;
        return true;
    }
    if (!other_than_last(v, index, va, bytes, store))
        return false;
    v->accesses++;
    if (v->refills > refills && !store)
        pe_window_serve(v->machine, v->cpu, site);
    return true;
}

/* Beyond L2, or not a simple one. As have_far does it, but without leaving the loop, which would
 * take 2 to 3 % longer in all. */
PE_INLINE bool far_access(struct view *v, uint32_t index, uint64_t va, uint32_t bytes, bool store)
{
    struct spe_machine_access met = {0};

    if (!v->only) /* others may have the line */
        return false;
    pe_timed_access(v->machine, v->cpu, &v->block->sites[index], va, bytes,
                    store ? SPE_ACCESS_STORE : 0, &met);
    v->now = v->cpu->window.now;
    return true;
}

/* While threads meet, whether others want the line has to be looked at. */
PE_INLINE bool hits(struct view *v, uint64_t va, uint32_t bytes, bool store)
{
    const struct pe_near near = pe_near_of(v->cpu, v->usual);

    return (!v->in_turns && hits_again(v, va, bytes, store)) ||
           pe_hit_near(v->cpu, &near, va, bytes, store);
}

/* A load that may have its data from a store is not for here. */
PE_INLINE bool followed_access(struct view *v, uint32_t index, uint64_t va, uint32_t bytes,
                               bool store)
{
    const struct pe_site *site = &v->block->sites[index];

    if (!store && pe_may_meet_store(v->cpu, va, bytes))
        return false;
    if (hits(v, va, bytes, store)) {
        if (store)
            pe_stored(v->machine, v->cpu, va, bytes, site->forwards, pe_window_issue(v->cpu, site),
                      0);
        return true;
    }
    if (!pe_timed_quick(v->machine, v->cpu, site, va, bytes, store))
        return false;
    v->now = v->cpu->window.now;
    return true;
}

/* False: it is not for here. */
PE_INLINE bool access(struct view *v, uint32_t index, uint64_t event, uint32_t bytes, bool store)
{
    uint64_t va = event & PE_EVENT_MASK;

    switch (v->mode) {
    case SKIMMED:
        return skimmed_access(v, index, event, bytes, store);
    case WAITING:
        return hits_again(v, va, bytes, store) || waiting_access(v, index, va, bytes, store) ||
               far_access(v, index, va, bytes, store);
    default:
        return followed_access(v, index, va, bytes, store);
    }
}

/* The window was followed through it, or it is skimmed for the first time. */
static void set_ticks(const struct pe_window *w, struct pe_block *block)
{
    uint32_t stall = block->stall / PE_STALL_PARTS;

    block->ticks[false] = pe_block_time(w, block, NULL) + stall;
    block->ticks[true] = pe_block_time(w, block, block->target == block->pc ? block : NULL) + stall;
    if (block->plain) {
        block->goes_on[false] = block->end;
        block->goes_on[true] = block->target;
    }
}

/* Was it mispredicted? */
APART static bool learn_branch(struct pe_cpu *cpu, uint64_t word, bool taken)
{
    bool wrong = !pe_direction(&cpu->predictor, word, taken);

    pe_count(&cpu->counts.mispredicted, wrong);
    return wrong;
}

APART static bool end_other(const struct spe_machine *machine, struct pe_cpu *cpu,
                            const struct pe_block *last, uint64_t next)
{
    bool taken;

    if (!last->ticks[false])
        set_ticks(&cpu->window, pe_block_last(last)->block);
    return last->branch && pe_branch_outcome(last, next, &taken) &&
           pe_branch(machine, cpu, last->end - 4, last->kind, taken, next);
}

/* Which of its ticks did the last block take? */
PE_INLINE bool end_branch(struct view *v, uint64_t next, bool *wrong)
{
    const struct pe_block *last = v->block;
    bool taken = next == last->goes_on[true];

    if (SELDOM(!(taken | (next == last->goes_on[false])))) {
        *wrong = end_other(v->machine, v->cpu, last, next);
        return next == last->pc;
    }
    v->branches++;
    *wrong = SELDOM(!pe_foresee(v->cpu, last->last_word, taken)) &&
             learn_branch(v->cpu, last->last_word, taken);
    return taken;
}

PE_INLINE bool may_begin(const struct view *v)
{
    return v->operations < v->until && (!v->in_turns || v->now <= v->limit);
}

#define ROUNDS 64 /* that the average is of */
#define STALL_MAX (UINT32_MAX / PE_STALL_PARTS)

/* So many ticks more than without waiting. Most often none, and none before. */
PE_INLINE void note_stall(const struct pe_window *w, struct pe_block *block, uint64_t ticks)
{
    int64_t known = (int64_t)block->stall, more;

    block->learnt += block->learnt < ROUNDS;
    if (!(ticks | block->stall) && block->ticks[false])
        return;
    more = (int64_t)(ticks < STALL_MAX ? ticks : STALL_MAX) * PE_STALL_PARTS - known;
    /* Most have had their rounds, and the host divides slowly by what it does not know. */
    more = block->learnt == ROUNDS ? more / ROUNDS : more / (int64_t)block->learnt;
    block->stall = (uint32_t)(known + more);
    set_ticks(w, block);
}

/* What the block waited for is not only its own, but on average it is. Nothing is learnt from what
 * is slow. */
PE_INLINE void learn(const struct view *v, const struct pe_block *next, bool wrong)
{
    const struct pe_window *w = &v->cpu->window;
    uint64_t ticks = pe_block_time(w, v->block, next) + (wrong ? v->wrong : 0);

    if (v->operations >= v->learn_from && v->began >= w->slow_until)
        note_stall(w, pe_block_last(v->block)->block, later(v->now - v->began, ticks) - ticks);
}

PE_INLINE void begin_followed(struct view *v, const struct pe_block *block, bool wrong)
{
    const struct pe_window *w = &v->cpu->window;
    uint64_t ticks = pe_block_time(w, v->block, block);

    if (!wrong && pe_window_passes(v->cpu, block))
        pe_window_pass(v->cpu, block, ticks);
    else
        pe_window_begin(v->machine, v->cpu, block, ticks, wrong);
    v->now = w->now;
    v->operations = w->operations;
    learn(v, block, wrong);
    v->began = v->now;
    if (v->operations < v->skim_until)
        v->until = 0;
}

/* The block takes what it takes where nothing is waited for, or longer. */
PE_INLINE void begin_waiting(struct view *v, const struct pe_block *block, bool taken, bool wrong)
{
    const struct pe_window *w = &v->cpu->window;
    uint64_t ticks = v->block->ticks[taken] + (wrong ? v->wrong : 0);

    pe_window_begin(v->machine, v->cpu, block, ticks, wrong);
    v->now = w->now;
    v->operations = w->operations;
    if (v->now >= w->slow_until)
        v->until = 0;
}

PE_INLINE void begin_skimmed(struct view *v, bool taken, bool wrong)
{
    v->now += v->block->ticks[taken];
    if (SELDOM(wrong))
        v->now += v->wrong;
    v->operations += v->block->count;
}

PE_INLINE void begin(struct view *v, const struct pe_block *block)
{
    bool wrong, taken = end_branch(v, block->pc, &wrong);

    if (v->mode == SKIMMED)
        begin_skimmed(v, taken, wrong);
    else if (v->mode == WAITING)
        begin_waiting(v, block, taken, wrong);
    else
        begin_followed(v, block, wrong);
    v->block = block;
}

/* The stream's turn is over when a block has begun. */
PE_INLINE bool is_over(const struct view *v)
{
    return v->mode == FOLLOWED && v->in_turns && v->now > v->limit;
}

/* The window has nothing to wait for, and the block has never waited. */
PE_INLINE bool is_idle(const struct view *v, const struct pe_block *block)
{
    const struct pe_window *w = &v->cpu->window;

    return !w->late && w->full_at == UINT64_MAX && w->stored.first == w->stored.end &&
           !block->stall;
}

/* The window was not asked about these rounds. */
PE_INLINE void pass_rounds(struct view *v, struct pe_block *block, uint32_t rounds)
{
    v->cpu->window.stores += (uint64_t)rounds * block->stores;
    v->began = v->now;
    show(v);
    if (v->operations >= v->learn_from)
        block->learnt = block->learnt + rounds < ROUNDS ? block->learnt + rounds : ROUNDS;
}

/* The block has begun, and begins again at most so often, as long as that is foreseen: what is the
 * same in all rounds is found out once. Returns how often it did. */
PE_INLINE uint32_t begin_foreseen(struct view *v, uint32_t most)
{
    struct pe_block *block = pe_block_last(v->block)->block;
    struct pe_predictor *p = &v->cpu->predictor;
    uint64_t word = block->last_word, history = p->history;
    uint32_t left, rounds;

    if (v->in_turns || v->mode == WAITING || block->goes_on[true] != block->pc ||
        p->bimodal[word & p->mask] != PE_STRONG || (v->mode == FOLLOWED && !is_idle(v, block)))
        return 0;
    if (v->operations + (uint64_t)most * block->count > v->until)
        most = v->operations < v->until
                   ? (uint32_t)((v->until - v->operations - 1) / block->count + 1)
                   : 0;
    for (left = most; left && p->gshare[(word ^ history) & p->mask] == PE_STRONG; left--)
        history = history << 1 | 1;
    rounds = most - left;
    v->operations += (uint64_t)rounds * block->count;
    v->now += rounds * block->ticks[true];
    p->history = history;
    v->branches += rounds;
    if (v->mode == FOLLOWED && rounds)
        pass_rounds(v, block, rounds);
    return rounds;
}

/* The event's block begins, and does so again. False: it has to begin once more, but not here. */
PE_INLINE bool begin_rounds(struct pe_stream *s, struct view *v, uint64_t event)
{
    const struct pe_block *block = pe_event_block(event);
    uint32_t rounds = pe_event_again(event) + 1, i = s->again;

    while (i < rounds && may_begin(v)) {
        begin(v, block);
        i += 1 + begin_foreseen(v, rounds - i - 1);
    }
    s->again = i == rounds ? 0 : i;
    return i == rounds;
}

/* The highest bits of most events of a block: it begins once. Those of plain accesses are less. */
#define ONE_ROUND ((uint64_t)PE_EVENT_BLOCK << (PE_EVENT_SHIFT - PE_AGAIN_SHIFT))

_Static_assert(PE_EVENT_BLOCK == PE_ORDINALS, "plain accesses are less");

/* Events from `at` to `end`, until one that is not for here. Returns where that is. The second word
 * of the last one may be the first of all. */
PE_INLINE const uint64_t *events(struct pe_stream *s, struct view *v, const uint64_t *at,
                                 const uint64_t *end)
{
    for (; at < end; at++) {
        uint64_t event = *at, highest = event >> PE_AGAIN_SHIFT, more;
        unsigned tag = (unsigned)(event >> PE_EVENT_SHIFT);

        if (highest == ONE_ROUND) {
            if (!may_begin(v))
                break;
            begin(v, pe_event_block(event));
            if (is_over(v))
                return at + 1;
        } else if (highest < ONE_ROUND) {
            const struct pe_plain *plain = &v->block->plain_sites[tag];

            if (!access(v, plain->index, event, plain->bytes, plain->store))
                break;
        } else if (tag == PE_EVENT_BLOCK) {
            if (!begin_rounds(s, v, event))
                break;
            if (is_over(v))
                return at + 1;
        } else if (tag == PE_EVENT_WIDE) {
            more = s->events[(size_t)(at + 1 - s->events) % PE_EVENTS];
            if (PE_WIDE_HOW(more) & ~SPE_ACCESS_STORE)
                break;
            if (!access(v, PE_WIDE_INDEX(more), event, PE_WIDE_BYTES(more), PE_WIDE_HOW(more)))
                break;
            at++;
        } else {
            break;
        }
    }
    return at;
}

/* Events from `done` on, until one that is not for here. */
PE_INLINE void have_events(struct pe_stream *s, struct view v)
{
    const uint64_t *at, *from, *end;

    do {
        from = &s->events[s->done % PE_EVENTS];
        end = &s->events[PE_EVENTS];
        if (s->handed - s->done < (uint64_t)(end - from))
            end = from + (s->handed - s->done);
        at = events(s, &v, from, end);
        s->done += (uint64_t)(at - from);
    } while (at >= end && s->done != s->handed && !is_over(&v));
    show(&v);
    pe_count_refills(v.cpu, v.accesses, v.refills);
    pe_count(&v.cpu->counts.branches, v.branches);
    v.cpu->window.block = s->block = v.block;
    s->began = v.began;
    if (v.mode == SKIMMED)
        carry(&v);
}

/* Ticks from a mispredicted branch on until the next block begins, beyond those of the block. */
static uint64_t wrong_ticks(const struct pe_stream *s)
{
    return (uint64_t)s->merge->machine->config.mispredict_cycles * PE_TICKS - s->cpu->window.step;
}

/* Until skim_until; 0: not at all. */
static uint64_t skim_until(const struct pe_stream *s)
{
    const struct pe_merge *m = s->merge;
    bool calm = s->alone || s->cpu->window.now > m->met + PE_CALM;

    return calm && !m->thorough && !m->counting ? s->skim_until : 0;
}

PE_INLINE struct view view_of(const struct pe_stream *s, bool usual, bool in_turns, enum mode mode)
{
    const struct pe_window *w = &s->cpu->window;

    return (struct view){.machine = s->merge->machine,
                         .cpu = s->cpu,
                         .mode = mode,
                         .usual = usual,
                         .in_turns = in_turns,
                         .only = !in_turns && s->merge->count == 1,
                         .block = s->block,
                         .now = w->now,
                         .operations = w->operations,
                         .until = mode == FOLLOWED ? UINT64_MAX : s->skim_until,
                         .limit = s->limit,
                         .skim_until = skim_until(s),
                         .learn_from = s->followed_from + s->margin * 7 / 8,
                         .began = s->began,
                         .wrong = wrong_ticks(s),
                         .carried_to = w->now,
                         .carried_operations = w->operations};
}

/* Each for itself: the host's registers are few. */
APART static void skim_usual(struct pe_stream *s)
{
    have_events(s, view_of(s, true, false, SKIMMED));
}

APART static void skim_other(struct pe_stream *s)
{
    have_events(s, view_of(s, false, false, SKIMMED));
}

APART static void skim_in_turns(struct pe_stream *s)
{
    have_events(s, view_of(s, false, true, SKIMMED));
}

APART static void wait_usual(struct pe_stream *s)
{
    have_events(s, view_of(s, true, false, WAITING));
}

APART static void wait_other(struct pe_stream *s)
{
    have_events(s, view_of(s, false, !s->alone, WAITING));
}

APART static void follow_usual(struct pe_stream *s)
{
    have_events(s, view_of(s, true, false, FOLLOWED));
}

APART static void follow_other(struct pe_stream *s)
{
    have_events(s, view_of(s, false, !s->alone, FOLLOWED));
}

static void skim(struct pe_stream *s)
{
    bool usual = s->alone && s->cpu->usual;

    if (s->cpu->window.now < s->cpu->window.slow_until)
        (usual ? wait_usual : wait_other)(s);
    else if (usual)
        skim_usual(s);
    else
        (s->alone ? skim_other : skim_in_turns)(s);
}

/* Stores have numbers to count how many are between two of them: here are none, but where the
 * window waits. */
static void skim_on(struct pe_stream *s)
{
    const struct pe_window *w = &s->cpu->window;
    uint64_t operations = w->operations;

    skim(s);
    s->followed_from = w->operations;
    s->skimmed += w->operations - operations;
}

/* The plain access that skimming left. False: it is none, or others may have the line. */
static bool have_far(struct pe_stream *s)
{
    uint64_t event = s->events[s->done % PE_EVENTS];
    unsigned tag = (unsigned)(event >> PE_EVENT_SHIFT);
    struct spe_machine_access met = {0};
    const struct pe_plain *plain;

    if (tag >= PE_ORDINALS || s->merge->count > 1)
        return false;
    plain = &s->block->plain_sites[tag];
    pe_timed_access(s->merge->machine, s->cpu, &s->block->sites[plain->index],
                    event & PE_EVENT_MASK, plain->bytes, plain->store ? SPE_ACCESS_STORE : 0, &met);
    s->done++;
    return true;
}

void pe_skim(struct pe_stream *s)
{
    if (s->cpu->window.operations < skim_until(s)) {
        do
            skim_on(s);
        while (s->done != s->handed && have_far(s));
    } else if (s->alone && s->cpu->usual)
        follow_usual(s);
    else
        follow_other(s);
}
