/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Rows: addresses as software uses them, thread, map, symbol, data source, cut and filter. Programs
 * are in few places and few threads at a time, so that nearly all lookups end in small caches.
 */
#include <stdlib.h>
#include <string.h>

#include "format/clones.h"
#include "profile_internal.h"

#define BLOCK 64 /* rows that are looked at together */

static struct pc_entry *new_pc_cache(void)
{
    struct pc_entry *cache = malloc(PC_CACHE * sizeof(*cache));

    if (cache)
        memset(cache, 0xff, PC_CACHE * sizeof(*cache)); /* no pc */
    return cache;
}

struct joiner *joiner_new(struct spe_profile *p, int *error)
{
    const struct map_view nowhere = {1, 0, NONE, NONE}; /* is of no space */
    struct joiner *j = calloc(1, sizeof(*j));

    *error = SPE_ERR_NOMEM;
    if (!j)
        return NULL;
    for (size_t i = 0; i < MAP_CACHE; i++)
        j->map[i] = nowhere;
    j->user = j->kernel = nowhere;
    for (size_t i = 0; i < TASK_CACHE; i++)
        j->task[i] = (struct task_view){1, 0, 0, 0, 0, 0, 0}; /* holds at no time */
    j->pc = p->want & SPE_WANT_SYMBOL ? new_pc_cache() : NULL;
    if (j->pc || !(p->want & SPE_WANT_SYMBOL))
        *error = p->worker_filter ? spe_filter_create(&j->filter, p->filter_text, NULL) : SPE_OK;
    if (*error < 0) {
        joiner_free(j);
        return NULL;
    }
    return j;
}

void joiner_free(struct joiner *j)
{
    if (!j)
        return;
    spe_filter_destroy(j->filter);
    free(j->pc);
    free(j);
}

/* ---- Addresses ------------------------------------------------------------------------------ */

/* Virtual addresses, sign-extended from bit 55 (D18.2.1: bits above are EL, NS and tag). */
static void extend(uint64_t *column, size_t rows)
{
    const uint64_t sign = UINT64_C(1) << 55;

    for (size_t i = 0; column && i < rows; i++)
        column[i] = ((column[i] & UINT64_MAX >> 8) ^ sign) - sign;
}

/* The pointers are copied to locals first: a uint8_t column may alias the structs that hold them,
 * and the compiler would have to load them again for every row. */
static CLONES void join_addresses(struct group *g)
{
    struct spe_columns *c = &g->columns;
    const uint64_t *pc = c->pc, *va = c->va;
    const uint8_t *addresses = c->addresses;
    uint8_t *el = g->el, *flags = g->flags, *tag = g->tag;
    size_t rows = c->rows;

    for (size_t i = 0; i < rows; i++) {
        unsigned level = pc[i] >> 61 & 3, there = addresses[i] >> SPE_ADDRESS_PC & 1;
        unsigned bits = (level ? SPE_ROW_KERNEL : 0) | (unsigned)(pc[i] >> 63) * SPE_ROW_NS |
                        (unsigned)(pc[i] >> 60 & 1) * SPE_ROW_NSE;

        el[i] = (uint8_t)(there ? level : SPE_NO_EL);
        flags[i] |= (uint8_t)(bits * there);
    }
    for (size_t i = 0; va && i < rows; i++)
        tag[i] = (uint8_t)(va[i] >> 56);
    extend(c->pc, rows);
    extend(c->target, rows);
    extend(c->previous_target, rows);
    extend(c->va, rows);
    for (size_t i = 0; c->pa && i < rows; i++)
        c->pa[i] &= UINT64_MAX >> 8;
}

static CLONES void join_levels(const struct queue *q, struct group *g)
{
    const uint8_t *levels = q->levels, *has = g->columns.has;
    const uint16_t *source = g->columns.source;
    uint8_t *level = g->level;
    size_t rows = g->columns.rows;

    if (!levels) {
        memset(level, SPE_LEVEL_UNKNOWN, rows);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        bool known = ((has[i] & SPE_HAS_SOURCE) != 0) & (source[i] < 256);

        level[i] = (uint8_t)(levels[source[i] & 0xff] * known); /* SPE_LEVEL_UNKNOWN is 0 */
    }
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* Who runs on a CPU at a time, and, narrowed down in *from and *to, from when until when. */
static uint32_t turn_at(const struct cpu_turns *t, uint64_t time, uint64_t *from, uint64_t *to)
{
    size_t low = 0, high = t ? t->turns.count : 0;

    if (!t)
        return SPE_NO_TASK;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (t->turns.at[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && t->turns.at[low - 1].time > *from)
        *from = t->turns.at[low - 1].time;
    if (low < t->turns.count && t->turns.at[low].time < *to)
        *to = t->turns.at[low].time;
    return low ? t->turns.at[low - 1].tid : t->before;
}

static const struct task_view *view_of(const struct spe_profile *p, struct joiner *j, uint32_t tid,
                                       uint64_t time)
{
    struct task_view *view = &j->task[tid % TASK_CACHE];

    if (view->tid != tid || time < view->from || time >= view->to)
        tasks_view(&p->tasks, tid, time, view);
    return view;
}

/* Rows that follow each other and have the same thread for the same reason. */
struct run {
    size_t first, end;
    uint64_t from, to;       /* times for which it holds */
    const uint32_t *context; /* that tells the thread, or NULL */
    uint8_t has;             /* contexts */
    uint8_t flags;
};

#define HAS_CONTEXTS (SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2)

/* Who runs, by the record itself, else by SWITCH records, else by the buffer. On hosts with VHE the
 * kernel's register is CONTEXTIDR_EL2, and CONTEXTIDR_EL1 then is a guest's. */
static uint32_t thread_of(const struct queue *q, const struct group *g, struct run *run,
                          uint32_t turn)
{
    uint32_t other = turn != SPE_NO_TASK ? turn : q->cpu == SPE_NO_CPU ? q->tid : SPE_NO_TASK;

    run->has = g->columns.has[run->first] & HAS_CONTEXTS;
    if (run->has) {
        run->context = run->has & SPE_HAS_CONTEXT2 ? g->columns.context2 : g->columns.context1;
        run->flags = SPE_ROW_BY_CONTEXT;
        if (other != SPE_NO_TASK && other != run->context[run->first])
            run->flags |= SPE_ROW_MISMATCH;
        return run->context[run->first];
    }
    if (turn != SPE_NO_TASK) {
        run->flags = SPE_ROW_BY_SWITCH;
        return turn;
    }
    if (q->tid != SPE_NO_TASK)
        run->flags = SPE_ROW_BY_BUFFER;
    return q->tid;
}

static CLONES bool block_within(const uint64_t *time, uint64_t from, uint64_t to)
{
    uint64_t outside = 0;

    for (size_t i = 0; i < BLOCK; i++)
        outside |= (time[i] < from) | (time[i] >= to);
    return !outside;
}

static CLONES bool block_has_context(const uint8_t *has, const uint32_t *context, uint8_t which,
                                     uint32_t value)
{
    uint32_t other = 0;

    for (size_t i = 0; i < BLOCK; i++)
        other |= (has[i] & HAS_CONTEXTS) ^ which;
    for (size_t i = 0; context && i < BLOCK; i++)
        other |= context[i] ^ value;
    return !other;
}

static bool block_goes_on(const struct group *g, const struct run *run, size_t end)
{
    return block_within(g->join_time + end, run->from, run->to) &&
           block_has_context(g->columns.has + end, run->context ? run->context + end : NULL,
                             run->has, run->context ? run->context[run->first] : 0);
}

static size_t end_of_run(const struct group *g, const struct run *run)
{
    const uint8_t *has = g->columns.has;
    const uint64_t *time = g->join_time;
    size_t end = run->first + 1, rows = g->columns.rows;

    while (rows - end >= BLOCK && block_goes_on(g, run, end))
        end += BLOCK;
    while (end < rows && (has[end] & HAS_CONTEXTS) == run->has &&
           (!run->context || run->context[end] == run->context[run->first]) &&
           ((time[end] >= run->from && time[end] < run->to) || time[end] == time[run->first]))
        end++;
    return end;
}

static void count_run(struct group_counts *counts, const struct run *run, uint32_t thread)
{
    uint64_t rows = run->end - run->first;

    if (run->flags & SPE_ROW_BY_CONTEXT)
        counts->by_context += rows;
    else if (run->flags & SPE_ROW_BY_SWITCH)
        counts->by_switch += rows;
    else if (run->flags & SPE_ROW_BY_BUFFER)
        counts->by_buffer += rows;
    else
        counts->by_nothing += rows;
    if (run->flags & SPE_ROW_BY_CONTEXT && thread == SPE_NO_ID)
        counts->context_unknown += rows;
    if (run->flags & SPE_ROW_MISMATCH)
        counts->context_mismatch += rows;
}

static CLONES void fill(uint32_t *column, const struct run *run, uint32_t value)
{
    for (size_t i = run->first; column && i < run->end; i++)
        column[i] = value;
}

/* The run is copied for the same reason as in join_addresses. */
static CLONES void add_flags(uint8_t *column, const struct run *run)
{
    const size_t first = run->first, end = run->end;
    const uint8_t flags = run->flags;

    for (size_t i = first; i < end; i++)
        column[i] |= flags;
}

static CLONES uint64_t count_of(const uint32_t *column, size_t rows, uint32_t value)
{
    uint32_t count = 0; /* a group has fewer rows */

    for (size_t i = 0; i < rows; i++)
        count += column[i] == value;
    return count;
}

/* `map` holds the root of the thread's space until join_maps has looked the pc up in it. */
static void fill_run(struct group *g, const struct run *run, const struct task_view *view)
{
    fill(g->tid, run, view->tid);
    fill(g->pid, run, view->pid);
    fill(g->thread, run, view->thread);
    fill(g->comm, run, view->comm);
    fill(g->map, run, view->root);
    add_flags(g->flags, run);
}

static const struct cpu_turns *turns_of(const struct spe_profile *p, const struct queue *q)
{
    return p->info.timed && q->cpu != SPE_NO_CPU ? tasks_turns(&p->tasks, q->cpu) : NULL;
}

/* A thread is sampled many times before another one runs. */
static void join_threads(struct spe_profile *p, struct joiner *j, const struct queue *q,
                         struct group *g)
{
    const struct cpu_turns *turns = turns_of(p, q);
    struct run run = {.end = 0}, all = {.end = g->columns.rows};

    fill(g->cpu, &all, q->cpu);
    while (run.end < g->columns.rows) {
        uint64_t time = g->join_time[run.end];
        const struct task_view *view;
        uint32_t turn;

        run = (struct run){.first = run.end, .to = UINT64_MAX};
        turn = turn_at(turns, time, &run.from, &run.to);
        view = view_of(p, j, thread_of(q, g, &run, turn), time);
        run.from = view->from > run.from ? view->from : run.from;
        run.to = view->to < run.to ? view->to : run.to;
        run.end = end_of_run(g, &run);
        fill_run(g, &run, view);
        count_run(&g->counts, &run, view->thread);
    }
}

/* ---- Records without rows ------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 u128;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Ticks that take less than so many nanoseconds, wherever they begin. */
static uint64_t ticks_within(const struct spe_perf_time_conv *tc, uint64_t ns)
{
    u128 ticks = ns < 2 ? 0 : ((u128)(ns - 2) << tc->shift) / tc->mult;

    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

/* Timestamps from one record on, and before it, that stay between two times. Of bounds that are not
 * sharp the nearer one is taken: a record outside becomes a row. */
static void bound_timestamps(const struct spe_perf_time_conv *tc, uint64_t ticks, uint64_t ns,
                             const struct run *run, struct spe_bulk_pass *pass)
{
    uint64_t mask = tc->cap_short ? tc->mask : UINT64_MAX;
    uint64_t below = tc->cap_short ? (ticks - tc->cycles) & mask : ticks, above = mask - below;
    bool sound = spe_perf_time_validate(tc) == SPE_OK && !(mask & (mask + 1)) && ns >= run->from &&
                 ns < run->to;

    pass->first = pass->last = ticks;
    if (!sound)
        return;
    below = least(below, ticks_within(tc, ns - run->from));
    above = least(above, ticks_within(tc, run->to - ns));
    pass->first -= least(below, ticks);
    pass->last += least(above, UINT64_MAX - ticks);
}

void join_run(const struct spe_profile *p, struct joiner *j, const struct queue *q,
              const struct group *g, struct pass_run *pass)
{
    size_t row = g->columns.rows - 1;
    struct run run = {.first = row, .end = row + 1, .to = UINT64_MAX};
    uint64_t time = g->join_time[row];
    uint32_t turn = turn_at(turns_of(p, q), time, &run.from, &run.to);
    const struct task_view *view = view_of(p, j, thread_of(q, g, &run, turn), time);

    run.from = view->from > run.from ? view->from : run.from;
    run.to = view->to < run.to ? view->to : run.to;
    pass->flags = run.flags;
    pass->thread = view->thread;
    pass->pass.has = run.has;
    pass->pass.context[0] = g->columns.context1[row];
    pass->pass.context[1] = g->columns.context2[row];
    pass->pass.first = 0;
    pass->pass.last = UINT64_MAX;
    if (p->info.timed && p->sideband_timed && (run.from || run.to < UINT64_MAX))
        bound_timestamps(&p->time_conv, g->columns.timestamp[row], time, &run, &pass->pass);
}

void join_passed(struct group_counts *counts, const struct pass_run *pass, uint64_t records)
{
    struct run run = {.end = records, .flags = pass->flags};

    count_run(counts, &run, pass->thread);
}

/* ---- The cut -------------------------------------------------------------------------------- */

static bool in_list(const uint32_t *list, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i] == value)
            return true;
    }
    return !count;
}

static bool in_cut(const struct spe_profile *p, const struct group *g, size_t i)
{
    if (p->info.timed && (g->flags[i] & SPE_ROW_TIMESTAMP) &&
        (g->time_ns[i] < p->time_from || (p->time_to && g->time_ns[i] >= p->time_to)))
        return false;
    return in_list(p->cut_cpus, p->cut_cpu_count, g->cpu[i]) &&
           in_list(p->cut_pids, p->cut_pid_count, g->pid[i]) &&
           in_list(p->cut_tids, p->cut_tid_count, g->tid[i]);
}

static void cut(const struct spe_profile *p, struct group *g)
{
    size_t rows = g->columns.rows;

    if (!p->time_from && !p->time_to && !p->cut_cpu_count && !p->cut_pid_count && !p->cut_tid_count)
        return;
    memset(g->selected, 0, (rows + 63) / 64 * sizeof(uint64_t));
    for (size_t i = 0; i < rows; i++) {
        if (in_cut(p, g, i))
            g->selected[i / 64] |= UINT64_C(1) << i % 64;
    }
    group_select(g, g->selected);
    g->counts.cut += rows - g->columns.rows;
}

/* ---- Places --------------------------------------------------------------------------------- */

/* Bits of an address: maps that are this near to each other share a place in the cache. */
#define MAP_GRAIN 16

static struct map_view *view_at(const struct spe_profile *p, struct joiner *j, uint32_t root,
                                uint64_t pc)
{
    struct map_view *view = &j->map[((pc >> MAP_GRAIN) + root) % MAP_CACHE];

    if ((view->root != root) | (pc < view->first) | (pc > view->last))
        *view = spaces_view(&p->tasks.spaces, root, pc);
    return view;
}

/* EL0 is in its process; above it, addresses of the upper half are in the kernel, and the others
 * (hypervisors, guests) nowhere that the recording tells of. */
static inline bool in_kernel(uint8_t el, uint64_t pc)
{
    return (el != 0) & (el != SPE_NO_EL) & (pc >> 63);
}

/* Whether all rows of a block are in these two maps; then their maps are in `maps`. Masks of whole
 * words instead of truth: the compiler vectorises these. */
static CLONES bool map_block(const uint64_t *pcs, const uint8_t *els, const uint32_t *roots,
                             const struct map_view *user, const struct map_view *kernel,
                             uint32_t *maps)
{
    const struct map_view u = *user, k = *kernel;
    const uint64_t user_size = u.last - u.first, kernel_size = k.last - k.first;
    uint64_t other = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        uint64_t el = els[i], root = roots[i], pc = pcs[i], upper = -(pc >> 63);
        uint64_t above = -(uint64_t)(el != 0), known = -(uint64_t)(el != SPE_NO_EL);
        uint64_t in_kernel_map = -(uint64_t)(pc - k.first <= kernel_size) & upper & known;
        uint64_t in_user_map = -(uint64_t)(pc - u.first <= user_size) & -(uint64_t)(root == u.root);

        other |= ~((in_kernel_map & above) | (in_user_map & ~above));
    }
    for (size_t i = 0; i < BLOCK; i++)
        maps[i] = els[i] ? k.map : u.map;
    return !other;
}

/* The same for any rows. The last map of each kind may hold for the next block. */
static void map_rows(const struct spe_profile *p, struct joiner *j, struct group *g, size_t first,
                     size_t end, uint32_t kernel)
{
    for (size_t i = first; i < end; i++) {
        uint64_t pc = g->columns.pc[i];
        bool above = in_kernel(g->el[i], pc);
        uint32_t root = above ? kernel : g->el[i] ? 0 : g->map[i];
        const struct map_view *view = view_at(p, j, root, pc);

        *(above ? &j->kernel : &j->user) = *view;
        g->map[i] = view->map;
    }
}

/* Rows from `first` to `end` have the same map of the kernel. Code is in few maps for a while. */
static void map_period(const struct spe_profile *p, struct joiner *j, struct group *g, size_t first,
                       size_t end, uint32_t kernel)
{
    uint32_t maps[BLOCK];

    if (j->kernel.root != kernel)
        j->kernel = spaces_view(&p->tasks.spaces, kernel, UINT64_MAX);
    for (; end - first >= BLOCK; first += BLOCK) {
        if (map_block(g->columns.pc + first, g->el + first, g->map + first, &j->user, &j->kernel,
                      maps))
            memcpy(g->map + first, maps, sizeof(maps));
        else
            map_rows(p, j, g, first, first + BLOCK, kernel);
    }
    map_rows(p, j, g, first, end, kernel);
}

static size_t end_of_period(const struct group *g, size_t first, uint64_t from, uint64_t to)
{
    const uint64_t *time = g->join_time;
    size_t end = first + 1, rows = g->columns.rows;

    while (rows - end >= BLOCK && block_within(time + end, from, to))
        end += BLOCK;
    while (end < rows && time[end] >= from && time[end] < to)
        end++;
    return end;
}

static void join_maps(const struct spe_profile *p, struct joiner *j, struct group *g)
{
    uint64_t from, to;

    for (size_t first = 0, end; first < g->columns.rows; first = end) {
        uint32_t kernel = tasks_kernel_root(&p->tasks, g->join_time[first], &from, &to);

        end = end_of_period(g, first, from, to);
        map_period(p, j, g, first, end, kernel);
    }
    g->counts.no_map += count_of(g->map, g->columns.rows, NONE);
}

static void join_symbols(struct spe_profile *p, struct joiner *j, struct group *g)
{
    const uint64_t *pcs = g->columns.pc;
    const uint32_t *maps = g->map;

    for (size_t i = 0; i < g->columns.rows; i++) {
        struct pc_entry *entry =
            &j->pc[((pcs[i] >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % PC_CACHE];

        if ((entry->pc != pcs[i]) | (entry->map != maps[i]))
            *entry =
                (struct pc_entry){pcs[i], spe_profile_find_symbol(p, maps[i], pcs[i]), maps[i]};
        g->symbol[i] = entry->symbol;
    }
}

/* Only a record's own time finds its stack. */
static void join_stacks(const struct spe_profile *p, struct group *g)
{
    for (size_t i = 0; i < g->columns.rows; i++) {
        bool timed = p->info.timed && g->flags[i] & SPE_ROW_TIMESTAMP;

        g->stack[i] =
            timed ? stacks_find(&p->stacks, g->time_ns[i], g->columns.pc[i], g->tid[i]) : SPE_NO_ID;
    }
}

static uint64_t count_stacks(const struct group *g)
{
    uint64_t count = 0;

    for (size_t i = 0; i < g->columns.rows; i++)
        count += g->stack[i] != SPE_NO_ID;
    return count;
}

/* ---- All of it ------------------------------------------------------------------------------ */

/* 0 means no time: less one, it is the greatest. */
static CLONES void count_times(struct group *g)
{
    struct group_counts *counts = &g->counts;
    uint64_t first = UINT64_MAX, last = 0;

    for (size_t i = 0; i < g->columns.rows; i++) {
        uint64_t time = g->time_ns[i];

        first = time - 1 < first ? time - 1 : first;
        last = time > last ? time : last;
    }
    if (last) {
        counts->first_ns = first + 1;
        counts->last_ns = last;
    }
}

int join_group(struct spe_profile *p, struct joiner *j, const struct queue *q, struct group *g)
{
    size_t rows;
    struct spe_rows view;
    int64_t kept;

    g->queue = (size_t)(q - p->queues);
    join_addresses(g);
    join_threads(p, j, q, g);
    cut(p, g);
    join_levels(q, g);
    join_maps(p, j, g);
    if (g->symbol)
        join_symbols(p, j, g);
    if (g->line)
        memset(g->line, 0xff, g->columns.rows * sizeof(*g->line));
    if (g->stack)
        join_stacks(p, g);
    rows = g->columns.rows;
    if (j->filter && rows) {
        group_show(g, &view);
        kept = spe_filter_select(j->filter, p, &view, g->selected);
        if (kept < 0)
            return (int)kept;
        if ((size_t)kept < rows)
            group_select(g, g->selected);
        g->counts.filtered += rows - g->columns.rows;
    }
    if (p->info.timed)
        count_times(g);
    if (g->stack)
        g->counts.stacks += count_stacks(g);
    g->counts.rows += g->columns.rows;
    return SPE_OK;
}
