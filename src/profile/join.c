/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Rows: addresses as software uses them, thread, map, symbol, data source, cut and filter. Programs
 * are in few places and few threads at a time, so that nearly all lookups end in two small caches.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

#define KERNEL_HALF (UINT64_C(1) << 63)

struct joiner *joiner_new(struct spe_profile *p, int *error)
{
    struct joiner *j = malloc(sizeof(*j));

    *error = SPE_ERR_NOMEM;
    if (!j)
        return NULL;
    memset(j->pc, 0xff, sizeof(j->pc));
    for (size_t i = 0; i < TASK_CACHE; i++)
        j->task[i] = (struct task_view){1, 0, 0, 0, 0, 0, 0}; /* holds at no time */
    j->filter = NULL;
    *error = SPE_OK;
    if (p->worker_filter)
        *error = spe_filter_compile(&j->filter, p->filter_text, NULL);
    if (*error < 0) {
        free(j);
        return NULL;
    }
    return j;
}

void joiner_free(struct joiner *j)
{
    if (!j)
        return;
    spe_filter_free(j->filter);
    free(j);
}

/* ---- Addresses ------------------------------------------------------------------------------ */

/* A virtual address, sign-extended from bit 55 (D18.2.1: bits above are EL, NS and tag). */
static inline uint64_t extend(uint64_t payload)
{
    return (uint64_t)((int64_t)(payload << 8) >> 8);
}

static void join_addresses(struct group *g)
{
    struct spe_columns *c = &g->columns;

    for (size_t i = 0; i < c->rows; i++) {
        uint64_t pc = c->pc[i];
        bool has_pc = c->addresses[i] & 1u << SPE_ADDRESS_PC;
        uint8_t el = (uint8_t)(pc >> 61 & 3);

        g->el[i] = has_pc ? el : SPE_NO_EL;
        if (has_pc)
            g->flags[i] |= (uint8_t)((el ? SPE_ROW_KERNEL : 0) | (pc >> 63 ? SPE_ROW_NS : 0) |
                                     (pc >> 60 & 1 ? SPE_ROW_NSE : 0));
        c->pc[i] = extend(pc);
        c->target[i] = extend(c->target[i]);
        c->previous_target[i] = extend(c->previous_target[i]);
        g->tag[i] = (uint8_t)(c->va[i] >> 56);
        c->va[i] = extend(c->va[i]);
        c->pa[i] &= UINT64_MAX >> 8;
    }
}

static void join_levels(const struct queue *q, struct group *g)
{
    if (!q->levels) {
        memset(g->level, SPE_LEVEL_UNKNOWN, g->columns.rows);
        return;
    }
    for (size_t i = 0; i < g->columns.rows; i++) {
        bool known = g->columns.has[i] & SPE_HAS_SOURCE && g->columns.source[i] < 256;

        g->level[i] = known ? q->levels[g->columns.source[i]] : SPE_LEVEL_UNKNOWN;
    }
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* Moves along the turns of a CPU with the time of rows. */
struct turn_cursor {
    const struct cpu_turns *turns;
    size_t next; /* the first turn that is later */
};

static void seek_turn(struct turn_cursor *c, uint64_t time)
{
    size_t low = 0, high = c->turns->turns.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->turns->turns.at[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    c->next = low;
}

static uint32_t turn_at(struct turn_cursor *c, uint64_t time)
{
    const struct turn *at;

    if (!c->turns)
        return SPE_NO_TASK;
    at = c->turns->turns.at;
    if ((c->next && at[c->next - 1].time > time) ||
        (c->next < c->turns->turns.count && at[c->next].time <= time))
        seek_turn(c, time);
    return c->next ? at[c->next - 1].tid : c->turns->before;
}

/* Who runs, by the record itself, else by SWITCH records, else by the buffer. On hosts with VHE the
 * kernel's register is CONTEXTIDR_EL2, and CONTEXTIDR_EL1 then is a guest's. */
static uint32_t thread_of(const struct queue *q, struct group *g, size_t i, uint32_t turn)
{
    uint8_t has = g->columns.has[i];
    uint32_t other = turn != SPE_NO_TASK ? turn : q->cpu == SPE_NO_CPU ? q->tid : SPE_NO_TASK;
    uint32_t tid;

    if (has & (SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2)) {
        tid = has & SPE_HAS_CONTEXT2 ? g->columns.context2[i] : g->columns.context1[i];
        g->flags[i] |= SPE_ROW_BY_CONTEXT;
        if (other != SPE_NO_TASK && other != tid)
            g->flags[i] |= SPE_ROW_MISMATCH;
        return tid;
    }
    if (turn != SPE_NO_TASK) {
        g->flags[i] |= SPE_ROW_BY_SWITCH;
        return turn;
    }
    if (q->tid != SPE_NO_TASK)
        g->flags[i] |= SPE_ROW_BY_BUFFER;
    return q->tid;
}

static const struct task_view *view_of(const struct spe_profile *p, struct joiner *j, uint32_t tid,
                                       uint64_t time)
{
    struct task_view *view = &j->task[tid % TASK_CACHE];

    if (view->tid != tid || time < view->from || time >= view->to)
        tasks_view(&p->tasks, tid, time, view);
    return view;
}

static void count_thread(struct spe_profile_counts *counts, uint8_t flags, uint32_t thread)
{
    counts->by_context += !!(flags & SPE_ROW_BY_CONTEXT);
    counts->by_switch += !!(flags & SPE_ROW_BY_SWITCH);
    counts->by_buffer += !!(flags & SPE_ROW_BY_BUFFER);
    counts->by_nothing += !(flags & (SPE_ROW_BY_CONTEXT | SPE_ROW_BY_SWITCH | SPE_ROW_BY_BUFFER));
    counts->context_unknown += flags & SPE_ROW_BY_CONTEXT && thread == SPE_NO_ID;
    counts->context_mismatch += !!(flags & SPE_ROW_MISMATCH);
}

/* `map` holds the root of the thread's space until join_places has looked the pc up in it. */
static void join_threads(struct spe_profile *p, struct joiner *j, const struct queue *q,
                         struct group *g)
{
    struct turn_cursor cursor = {NULL, 0};

    if (p->info.timed && q->cpu != SPE_NO_CPU)
        cursor.turns = tasks_turns(&p->tasks, q->cpu);
    for (size_t i = 0; i < g->columns.rows; i++) {
        uint64_t time = g->join_time[i];
        uint32_t tid = thread_of(q, g, i, turn_at(&cursor, time));
        const struct task_view *view = view_of(p, j, tid, time);

        g->cpu[i] = q->cpu;
        g->tid[i] = tid;
        g->pid[i] = view->pid;
        g->thread[i] = view->thread;
        g->comm[i] = view->comm;
        g->map[i] = view->root;
        count_thread(&g->counts, g->flags[i], view->thread);
    }
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

static uint64_t symbol_of(struct spe_profile *p, uint32_t map, uint64_t pc)
{
    struct dso *dso = p->dsos.list.at[p->maps.at[map].dso];
    uint32_t number;

    dso_load(&p->dsos, dso);
    number = dso_find(dso, dso_address(dso, &p->maps.at[map], pc), SYMBOL_FUNCTION);
    return number == NONE ? SPE_NO_SYMBOL : (uint64_t)p->maps.at[map].dso << 32 | number;
}

static const struct pc_entry *look_up(struct spe_profile *p, struct joiner *j, uint64_t pc,
                                      uint32_t root)
{
    struct pc_entry *entry = &j->pc[((pc >> 2) * 0x9e3779b97f4a7c15u >> 40 ^ root) % PC_CACHE];

    if (entry->pc != pc || entry->root != root) {
        entry->pc = pc;
        entry->root = root;
        entry->map = spaces_find(&p->tasks.spaces, root, pc);
        entry->symbol = SPE_NO_SYMBOL;
        if (entry->map != NONE && p->want & SPE_WANT_SYMBOL)
            entry->symbol = symbol_of(p, entry->map, pc);
    }
    return entry;
}

/* EL0 is in its process; above it, addresses of the upper half are in the kernel, and the others
 * (hypervisors, guests) nowhere that the recording tells of. */
static void join_places(struct spe_profile *p, struct joiner *j, struct group *g)
{
    uint64_t from = 1, to = 0;
    uint32_t kernel = 0;

    for (size_t i = 0; i < g->columns.rows; i++) {
        uint64_t pc = g->columns.pc[i], time = g->join_time[i];
        uint32_t root = g->el[i] == 0 ? g->map[i] : 0;
        const struct pc_entry *entry;

        if (g->el[i] != 0 && g->el[i] != SPE_NO_EL && pc & KERNEL_HALF) {
            if (time < from || time >= to)
                kernel = tasks_kernel_root(&p->tasks, time, &from, &to);
            root = kernel;
        }
        entry = look_up(p, j, pc, root);
        g->map[i] = entry->map;
        g->counts.no_map += entry->map == NONE;
        if (g->symbol)
            g->symbol[i] = entry->symbol;
    }
}

/* ---- All of it ------------------------------------------------------------------------------ */

static void count_times(struct group *g)
{
    struct spe_profile_counts *counts = &g->counts;

    for (size_t i = 0; i < g->columns.rows; i++) {
        uint64_t time = g->time_ns[i];

        if (!time)
            continue;
        if (!counts->first_ns || time < counts->first_ns)
            counts->first_ns = time;
        if (time > counts->last_ns)
            counts->last_ns = time;
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
    join_places(p, j, g);
    if (g->line)
        memset(g->line, 0xff, g->columns.rows * sizeof(*g->line));
    for (size_t i = 0; i < g->columns.rows; i++)
        g->queues[i] = (uint32_t)g->queue;
    rows = g->columns.rows;
    if (j->filter && rows) {
        group_show(g, &view, false);
        kept = spe_filter_select(j->filter, p, &view, g->selected);
        if (kept < 0)
            return (int)kept;
        if ((size_t)kept < rows)
            group_select(g, g->selected);
        g->counts.filtered += rows - g->columns.rows;
    }
    if (p->info.timed)
        count_times(g);
    g->counts.rows += g->columns.rows;
    return SPE_OK;
}
