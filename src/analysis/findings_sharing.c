/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Rules about data that threads take from each other. */
#include "analysis/findings.h"

#define LINE_SHIFT 6
#define LEAST 0.05 /* of all latency */
#define SAME_BYTES                                                                                 \
    0.10 /* of the accesses to a line: more of them on bytes of several threads are                \
            true sharing */
#define ATOMIC_SHARE 0.50 /* of the shared cost: it is a lock, or something like it */
#define CONTENDED 0.25    /* of the atomics on a line come from other cores: the rest waits, too */

/* Equal keys of two processes only make a line look hotter. */
static uint64_t line_key(const struct kept_row *row)
{
    return row->va >> LINE_SHIFT ^ (uint64_t)row->pid << 40;
}

static bool has_va(const struct kept_row *row)
{
    return row_is(row, ROW_MEMORY) && row->addresses >> SPE_ADDRESS_VA & 1;
}

/* Cores take the line from each other: an atomic that has it in L1 by now was behind one that had
 * to get it, so that both wait for the same thing. */
void share_contended(struct study *s)
{
    struct tally lines = {.seed = 0};
    size_t i;

    for (i = 0; i < s->count; i++) {
        if (has_va(&s->rows[i]) && row_is(&s->rows[i], ROW_ATOMIC))
            tally_add(&lines, line_key(&s->rows[i]), s->rows[i].cause == CAUSE_SHARED, i);
    }
    s->no_memory |= lines.no_memory;
    for (i = 0; i < s->count && !lines.no_memory; i++) {
        const struct tally_item *line;

        if (!has_va(&s->rows[i]) || s->rows[i].cause != CAUSE_ATOMIC)
            continue;
        line = tally_find(&lines, line_key(&s->rows[i]));
        if (line->sum >= LEAST_SHOWN && line->sum >= CONTENDED * (double)line->count)
            s->rows[i].cause = CAUSE_SHARED;
    }
    tally_free(&lines);
}

static double shared_cost(const struct study *s, size_t i, int unused)
{
    (void)unused;
    return cost_of(s, i, CAUSE_SHARED);
}

static double shared_own(const struct study *s, size_t i, int unused)
{
    (void)unused;
    return s->rows[i].cause == CAUSE_SHARED ? own_cycles(s, &s->rows[i]) : 0.0;
}

/* The row that is the first on the line with the most of it; s->count: none has an address. */
static size_t hottest_line(struct study *s)
{
    struct tally lines = {.seed = 0};
    const struct tally_item *best;
    size_t i, found = s->count;

    for (i = 0; i < s->count; i++) {
        if (has_va(&s->rows[i]) && s->rows[i].cause == CAUSE_SHARED)
            tally_add(&lines, line_key(&s->rows[i]), shared_own(s, i, 0), i);
    }
    best = tally_best(&lines);
    found = best ? best->first : found;
    s->no_memory |= lines.no_memory;
    tally_free(&lines);
    return found;
}

/* Which bytes of the line which threads begin to access: the accesses to bytes of several threads,
 * and all of them. Records do not say how many bytes it were. */
static void look_at_bytes(const struct study *s, size_t line, uint64_t *common, uint64_t *all)
{
    uint32_t first[1u << LINE_SHIFT];
    bool seen[1u << LINE_SHIFT] = {false}, several[1u << LINE_SHIFT] = {false};
    uint64_t accesses[1u << LINE_SHIFT] = {0};
    size_t i;

    *common = *all = 0;
    for (i = 0; i < s->count; i++) {
        const struct kept_row *row = &s->rows[i];
        unsigned byte = row->va & ((1u << LINE_SHIFT) - 1);

        if (!has_va(row) || line_key(row) != line_key(&s->rows[line]))
            continue;
        first[byte] = seen[byte] ? first[byte] : row->thread;
        seen[byte] = true;
        several[byte] |= first[byte] != row->thread;
        accesses[byte]++;
    }
    for (i = 0; i < 1u << LINE_SHIFT; i++) {
        *all += accesses[i];
        *common += several[i] ? accesses[i] : 0;
    }
}

/* The bytes of the line that cost most, and the first thread there: those of all threads, or
 * without one's. SPE_NO_ID: nobody's. */
static uint64_t hottest_bytes(const struct study *s, size_t line, uint32_t without,
                              uint32_t *thread)
{
    uint64_t latency[1u << LINE_SHIFT] = {0}, most = 0, base = s->rows[line].va >> LINE_SHIFT;
    uint32_t first[1u << LINE_SHIFT];
    unsigned found = 0;

    *thread = SPE_NO_ID;
    for (size_t i = 0; i < s->count; i++) {
        const struct kept_row *row = &s->rows[i];
        unsigned byte = row->va & ((1u << LINE_SHIFT) - 1);

        if (!has_va(row) || line_key(row) != line_key(&s->rows[line]) || row->thread == without)
            continue;
        first[byte] = latency[byte] ? first[byte] : row->thread;
        latency[byte] += row->total;
        if (latency[byte] <= most)
            continue;
        most = latency[byte];
        found = byte;
        *thread = first[byte];
    }
    return base << LINE_SHIFT | found;
}

/* Whose data it is: the hottest on the line, and of false sharing the hottest of another thread. */
static void name_data(const struct study *s, size_t line, struct spe_finding *f)
{
    uint64_t other;
    uint32_t thread;

    f->pid = s->rows[line].pid;
    f->address = hottest_bytes(s, line, SPE_NO_ID, &f->thread);
    if (f->rule != SPE_FINDING_FALSE_SHARING)
        return;
    other = hottest_bytes(s, line, f->thread, &thread);
    if (thread != SPE_NO_ID && other != f->address)
        f->other = other;
}

static bool is_false(const struct study *s, size_t line)
{
    uint64_t common, all;

    if (line == s->count)
        return false;
    look_at_bytes(s, line, &common, &all);
    return all >= LEAST_SHOWN && (double)common < SAME_BYTES * (double)all;
}

bool find_sharing(struct study *s, struct spe_finding *f)
{
    struct ratio ratio = {0};
    struct mean mean = {0};
    double own = 0.0, atomic = 0.0;
    size_t i, line;

    for (i = 0; i < s->count; i++) {
        ratio_add(&ratio, cost_of(s, i, CAUSE_SHARED), s->rows[i].total);
        own += shared_own(s, i, 0);
        atomic += row_is(&s->rows[i], ROW_ATOMIC) ? shared_own(s, i, 0) : 0.0;
        if (s->rows[i].cause != CAUSE_SHARED)
            continue;
        f->samples++;
        mean_add(&mean, s, &s->rows[i], own_cycles(s, &s->rows[i]));
    }
    ratio_finish(&ratio, s, f);
    if (f->samples < LEAST_SHOWN || f->interval.low < LEAST)
        return false;
    f->cycles = mean_of(&mean);
    find_place(s, shared_cost, shared_own, 0, f);
    line = hottest_line(s);
    f->rule = is_false(s, line)             ? SPE_FINDING_FALSE_SHARING
              : atomic > ATOMIC_SHARE * own ? SPE_FINDING_CONTENDED_ATOMICS
                                            : SPE_FINDING_TRUE_SHARING;
    if (line < s->count)
        name_data(s, line, f);
    return true;
}
