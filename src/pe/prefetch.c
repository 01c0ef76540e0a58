/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Prefetchers. Both learn from accesses that miss L1 and from the first use of a line that was
 * prefetched.
 *
 *   by stride   each instruction's distance from one such access to the next, twice the same and
 *               not too far. It knows virtual addresses, and goes on in the next page
 *   streams     lines that follow each other in a page, whoever asks for them, the first
 *               prefetcher included; for L2, and within the page. It does not see what L2 has
 *
 * Neither asks a cache or memory for more while that is far behind: what the program itself asks
 * for comes next.
 */
#include "machine_fast.h"

#define APART __attribute__((noinline))

static bool same_page(const struct spe_machine *machine, uint64_t a, uint64_t b)
{
    return a >> machine->page_shift == b >> machine->page_shift;
}

static void by_stream(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address,
                      uint64_t when);

/* What was asked for before takes the place longer than half an access. */
static bool is_behind(const struct spe_machine *machine, const struct pe_cpu *cpu, unsigned place,
                      uint64_t when)
{
    return cpu->window.free[place] > when + machine->cycles[place][false] * PE_TICKS / 2;
}

static bool is_outside_behind(const struct spe_machine *machine, const struct pe_cpu *cpu,
                              uint64_t line, uint64_t when)
{
    return (is_behind(machine, cpu, SPE_PLACE_MEMORY, when) ||
            is_behind(machine, cpu, SPE_PLACE_LLC, when)) &&
           (!cpu->l2.words || pe_cache_find(&cpu->l2, line) < 0);
}

/* What is still on its way to L2 comes from where that does, and leaves L2 when it is there. */
static uint64_t on_its_way(struct pe_cpu *cpu, uint64_t line, uint8_t *place, uint64_t when)
{
    const struct pe_flight *flight = pe_flight_of(cpu, line);

    if (*place != SPE_PLACE_L2 || flight->line != line || flight->done <= when)
        return when;
    *place = flight->place;
    return flight->done;
}

/* pe_prefetch_line for what L2 has and L1 gets, if it is such a line; else nothing has happened. */
PE_INLINE bool from_l2(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_near *near,
                       uint64_t line, bool *first)
{
    int way = pe_cache_find(&near->l2, line);
    pe_word *at = pe_cache_word(&near->l2, line, way >= 0 ? (unsigned)way : 0);
    uint64_t state;

    if (way < 0)
        return false;
    state = pe_get(at) & PE_STATE;
    *first = state & PE_PREFETCHED;
    state &= ~PE_PREFETCHED;
    atomic_store_explicit(at, line | state, memory_order_relaxed);
    pe_cache_use(&near->l2, line, (unsigned)way);
    pe_fill_from_l2(machine, cpu, &near->l1, line, state | PE_PREFETCHED | PE_FLIGHT, false);
    return true;
}

/* False: not now. */
static bool ask(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address, bool into_l1,
                uint64_t when)
{
    uint64_t line = address & PE_ADDRESS_MASK & ~(uint64_t)(cpu->line_bytes - 1), left;
    struct spe_machine_access met = {0};
    bool outside;

    if (is_outside_behind(machine, cpu, line, when))
        return false;
    if (!pe_prefetch_line(machine, cpu, line, into_l1, &met))
        return true;
    outside = met.place != SPE_PLACE_L2 || met.facts & PE_MET_FIRST;
    left = pe_leaves(machine, cpu, met.place, when);
    left = on_its_way(cpu, line, &met.place, left);
    pe_flight_add(cpu, line, left + (uint64_t)met.cycles * PE_TICKS, met.place);
    if (into_l1 && outside && machine->config.l2_prefetch.distance)
        by_stream(machine, cpu, address, when);
    return true;
}

/* The same for L1: what L2 has does not wait for memory. L2 is often behind, and that is known
 * without a search for the line. */
PE_INLINE bool ask_for_l1(struct spe_machine *machine, struct pe_cpu *cpu,
                          const struct pe_near *near, uint64_t address, uint64_t when, bool store)
{
    uint64_t line = pe_line_of(near, address), left;
    uint8_t place = SPE_PLACE_L2;
    bool first;

    if (!near->l2.words)
        return ask(machine, cpu, address, true, when);
    if (!store && is_behind(machine, cpu, SPE_PLACE_L2, when))
        return false;
    if (pe_cache_find(&near->l1, line) >= 0)
        return true;
    if (!from_l2(machine, cpu, near, line, &first))
        return ask(machine, cpu, address, true, when);
    left = store ? when : pe_leaves(machine, cpu, SPE_PLACE_L2, when);
    left = on_its_way(cpu, line, &place, left);
    pe_flight_add(cpu, line, left + (uint64_t)machine->cycles[SPE_PLACE_L2][false] * PE_TICKS,
                  place);
    if (first && machine->config.l2_prefetch.distance)
        by_stream(machine, cpu, address, when);
    return true;
}

/* ---- By stride ------------------------------------------------------------------------------- */

/* What lies between the furthest address asked for and `distance` strides ahead, nearest first. */
PE_INLINE void by_stride(struct spe_machine *machine, struct pe_cpu *cpu, struct pe_near near,
                         struct pe_stride *s, uint64_t address, uint64_t when, bool store)
{
    const struct spe_prefetch_shape *shape = &machine->config.l1_prefetch;
    uint64_t sign = s->stride < 0 ? UINT64_MAX : 1, step = (uint64_t)s->stride * sign;
    uint64_t far = step * shape->distance;
    uint64_t asked = (s->ahead - address) * sign; /* so far: behind it, or beyond, is nothing */

    if (asked > far)
        asked = 0;
    for (uint32_t i = 0; i < shape->degree && asked < far; i++) {
        asked += step;
        if (!ask_for_l1(machine, cpu, &near, address + asked * sign, when, store))
            break;
        s->ahead = address + asked * sign;
    }
}

/* Each for itself: the host's registers are few. */
APART static void usual_stride(struct spe_machine *machine, struct pe_cpu *cpu, struct pe_stride *s,
                               uint64_t address, uint64_t when, bool store)
{
    by_stride(machine, cpu, pe_near_of(cpu, true), s, address, when, store);
}

APART static void other_stride(struct spe_machine *machine, struct pe_cpu *cpu, struct pe_stride *s,
                               uint64_t address, uint64_t when, bool store)
{
    by_stride(machine, cpu, pe_near_of(cpu, false), s, address, when, store);
}

void pe_go_by_stride(struct spe_machine *machine, struct pe_cpu *cpu, struct pe_stride *s,
                     uint64_t address, uint64_t when, bool store)
{
    if (cpu->usual)
        usual_stride(machine, cpu, s, address, when, store);
    else
        other_stride(machine, cpu, s, address, when, store);
}

/* ---- Streams of lines ------------------------------------------------------------------------ */

/* The stream that is in this page, or came to its end in the one before or behind it. */
static struct pe_line_stream *find_stream(const struct spe_machine *machine, struct pe_cpu *cpu,
                                          uint64_t line)
{
    struct pe_prefetchers *p = &cpu->prefetchers;
    uint64_t page = line >> (machine->page_shift - machine->line_shift);
    struct pe_line_stream *s;

    for (unsigned i = 0; i < PE_STREAMS; i++) {
        s = &p->streams[i];
        if (s->page == page || (s->direction && s->page + (uint64_t)(int64_t)s->direction == page &&
                                s->last + (uint64_t)(int64_t)s->direction == line)) {
            s->page = page;
            return s;
        }
    }
    s = &p->streams[p->next_stream++ % PE_STREAMS];
    *s = (struct pe_line_stream){.page = page, .last = line, .ahead = line};
    return s;
}

static bool learn_stream(struct pe_line_stream *s, uint64_t line)
{
    int64_t step = (int64_t)(line - s->last);
    int32_t direction = step > 0 ? 1 : -1;

    if (step == 0)
        return false;
    if (llabs(step) > 1 || direction != s->direction) {
        s->sure = 0;
        s->ahead = line;
    } else {
        s->sure += s->sure < PE_SURE;
    }
    s->direction = direction;
    s->last = line;
    return s->sure >= PE_SURE;
}

static void by_stream(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address,
                      uint64_t when)
{
    const struct spe_prefetch_shape *shape = &machine->config.l2_prefetch;
    uint64_t line = (address & PE_ADDRESS_MASK) >> machine->line_shift;
    struct pe_line_stream *s = find_stream(machine, cpu, line);
    int64_t ahead;

    if (!learn_stream(s, line))
        return;
    ahead = ((int64_t)(s->ahead - line)) * s->direction;
    if (ahead < 0 || ahead > shape->distance)
        ahead = 0;
    for (uint32_t i = 0; i < shape->degree && ahead < shape->distance; i++) {
        uint64_t next;

        ahead++;
        next = line + (uint64_t)(ahead * s->direction);
        if (!same_page(machine, address, next << machine->line_shift) ||
            !ask(machine, cpu, next << machine->line_shift, false, when))
            break;
        s->ahead = next;
    }
}

void pe_prefetch(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc, uint64_t address,
                 bool outside, bool store, uint64_t when)
{
    if (outside && machine->config.l2_prefetch.distance)
        by_stream(machine, cpu, address, when);
    pe_prefetch_by_stride(machine, cpu, pc, address, store, when);
}
