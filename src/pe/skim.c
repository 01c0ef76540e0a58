/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/skim.h"

/* ---- Accesses -------------------------------------------------------------------------------- */

/* The line comes from beyond L2 and is not there yet. */
static inline bool is_far(struct pe_cpu *cpu, uint64_t line)
{
    const struct pe_flight *flight = pe_flight_of(cpu, line);

    return flight->line == line && flight->done > cpu->window.now && flight->place > SPE_PLACE_L2;
}

static inline void translate(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line)
{
    if (pe_translation_cycles(machine, cpu, line) > machine->config.l2_tlb_latency)
        cpu->window.slow_at = cpu->window.operations;
}

/* As pe_timed_quick, but for the window. */
PE_INLINE bool hit(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_near *near,
                   const struct pe_site *site, uint64_t va, uint64_t line, unsigned way, bool store)
{
    pe_word *at = pe_cache_word(&near->l1, line, way);
    uint64_t word = pe_get(at), after = word & ~(PE_FRESH | PE_PREFETCHED | PE_FLIGHT);

    if ((store && !(word & PE_EXCLUSIVE)) || (word & PE_FLIGHT && is_far(cpu, line)))
        return false;
    translate(machine, cpu, line);
    atomic_store_explicit(at, after | (store ? PE_MODIFIED : 0), memory_order_relaxed);
    pe_use_l1(cpu, &near->l1, line, way);
    pe_count(&cpu->counts.accesses, 1);
    if (word & PE_PREFETCHED)
        pe_prefetch(machine, cpu, pe_site_pc(site), va, false, cpu->window.now);
    return true;
}

PE_INLINE bool refill(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_near *near,
                      const struct pe_site *site, uint64_t va, uint64_t line, bool store)
{
    if (is_far(cpu, line) || !pe_refill_near(machine, cpu, near, line, store, 0))
        return false;
    translate(machine, cpu, line);
    pe_prefetch(machine, cpu, pe_site_pc(site), va, false, cpu->window.now);
    return true;
}

PE_INLINE bool any_access(struct spe_machine *machine, struct pe_cpu *cpu,
                          const struct pe_near *near, const struct pe_site *site, uint64_t va,
                          uint32_t bytes, bool store)
{
    uint64_t line = pe_line_of(near, va);
    int way;

    if (pe_hit_near(cpu, near, va, bytes, store))
        return true;
    if (pe_crosses_lines(near, va, bytes))
        return false;
    way = pe_cache_find(&near->l1, line);
    return way >= 0 ? hit(machine, cpu, near, site, va, line, (unsigned)way, store)
                    : refill(machine, cpu, near, site, va, line, store);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static inline void end_branch(struct spe_machine *machine, struct pe_cpu *cpu,
                              const struct pe_block *last, uint64_t next)
{
    bool taken;

    if (!last->branch || !pe_branch_outcome(last, next, &taken))
        return;
    if (!last->plain) {
        spe_machine_branch(machine, cpu->number, last->end - 4, last->kind, taken, next);
        return;
    }
    if (pe_foreseen(cpu, last->end - 4, taken))
        return;
    pe_count(&cpu->counts.branches, 1);
    pe_count(&cpu->counts.mispredicted, !pe_direction(&cpu->predictor, last->end - 4, taken));
}

PE_INLINE void begin(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_block *last,
                     const struct pe_block *block)
{
    end_branch(machine, cpu, last, block->pc);
    pe_window_pass(cpu, block);
    cpu->window.now += last->stall;
}

/* A block that has begun does so again, so many times at most. Returns how many times it did. */
static uint32_t repeat(struct pe_stream *s, const struct pe_block *block, uint32_t times)
{
    struct pe_window *w = &s->cpu->window;
    uint64_t round = pe_block_time(w, block, block) + block->stall;
    uint32_t i;

    for (i = 0; i < times && w->operations < s->skim_until; i++) {
        end_branch(s->merge->machine, s->cpu, block, block->pc);
        w->operations += block->count;
    }
    w->now += i * round;
    w->stores += (uint64_t)i * block->stores;
    return i;
}

/* Events from `done` on. Returns where it ends, in *block the block that it has begun last. */
PE_INLINE uint64_t skim(struct pe_stream *s, struct spe_machine *machine, struct pe_cpu *cpu,
                        struct pe_near near, const struct pe_block **block)
{
    const uint64_t *events = s->events, handed = s->handed, margin = pe_skim_margin(s);
    const struct pe_block *in = *block;
    const struct pe_window *w = &cpu->window;
    uint64_t done = s->done;

    for (; done != handed; done++) {
        uint64_t event = events[done % PE_EVENTS], more;
        unsigned tag = (unsigned)(event >> PE_EVENT_SHIFT);

        event &= PE_EVENT_MASK;
        if (tag < PE_ORDINALS) {
            const struct pe_site *site = &in->sites[in->plain_sites[tag]];

            if (!any_access(machine, cpu, &near, site, event, site->bytes,
                            site->how & SPE_ACCESS_STORE))
                break;
        } else if (tag == PE_EVENT_BLOCK) {
            if (w->operations >= s->skim_until || w->operations - w->slow_at <= margin)
                break;
            begin(machine, cpu, in, pe_event_block(event));
            in = pe_event_block(event);
            if (pe_event_again(event)) {
                s->again += repeat(s, in, pe_event_again(event) - s->again);
                if (s->again < pe_event_again(event)) {
                    s->again++;
                    break;
                }
                s->again = 0;
            }
        } else if (tag == PE_EVENT_WIDE) {
            more = events[(done + 1) % PE_EVENTS];
            if (PE_WIDE_HOW(more) & ~SPE_ACCESS_STORE ||
                !any_access(machine, cpu, &near, &in->sites[PE_WIDE_INDEX(more)], event,
                            PE_WIDE_BYTES(more), PE_WIDE_HOW(more)))
                break;
            done++;
        } else {
            break;
        }
    }
    *block = in;
    return done;
}

void pe_skim(struct pe_stream *s)
{
    struct spe_machine *machine = s->merge->machine;
    const struct pe_window *w = &s->cpu->window;
    const struct pe_window_mark before = {w->now, w->operations, w->stores};

    s->done = s->cpu->usual ? skim(s, machine, s->cpu, pe_near_of(s->cpu, true), &s->block)
                            : skim(s, machine, s->cpu, pe_near_of(s->cpu, false), &s->block);
    pe_window_carry(s->cpu, &before);
    s->followed_from = w->operations;
    s->skimmed += w->operations - before.operations;
}

/* ---- What a block takes ---------------------------------------------------------------------- */

#define ROUNDS 64 /* that the average is of */

void pe_skim_learn(struct pe_stream *s, const struct pe_block *block)
{
    const struct pe_window *w = &s->cpu->window;
    uint64_t from = s->followed_from > w->slow_at ? s->followed_from : w->slow_at;
    struct pe_block *last = s->block ? pe_block_last(s->block)->block : NULL;
    int64_t stall, known;

    if (last && w->operations - from >= pe_skim_margin(s) * 3 / 4) { /* the window has filled */
        stall = (int64_t)(w->now - s->began - pe_block_time(w, last, block));
        known = (int64_t)last->stall;
        last->learnt += last->learnt < ROUNDS;
        last->stall = (uint32_t)(known + (stall - known) / (int64_t)last->learnt);
    }
    s->began = w->now;
}
