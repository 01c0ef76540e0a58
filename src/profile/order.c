/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which queue's rows come next. Groups are requested ahead and handed out in the order of requests.
 * That a queue is at its end becomes known sooner or later, but requests behind its end only give
 * groups without rows, which are dropped: the order of the others is always the same.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

#define BATCH 64        /* queues that are open at a time with SPE_ORDER_FAST */
#define MERGE_ROWS 4096 /* rows in memory with SPE_ORDER_TIME */
/* Threads that are ahead of the reader wait less for each other. */
#define GROUPS_AHEAD 16
#define MERGE_ROWS_AHEAD 32768
/* A group has 64 rows at least, unless that makes too many. */
#define MERGE_ROWS_MOST 262144
#define MERGE_ROWS_LEAST 4

/* ---- One queue after the other, or in turn -------------------------------------------------- */

static bool next_in_turn(struct spe_profile *p, size_t *queue)
{
    for (; p->batch < p->queue_count; p->batch += BATCH, p->next_queue = p->batch) {
        size_t end = p->queue_count - p->batch < BATCH ? p->queue_count : p->batch + BATCH;

        for (size_t i = p->batch; i < end; i++) {
            *queue = p->next_queue;
            p->next_queue = p->next_queue + 1 < end ? p->next_queue + 1 : p->batch;
            if (!pool_queue_ended(p, *queue))
                return true;
        }
    }
    return false;
}

static bool next_queue(struct spe_profile *p, size_t *queue)
{
    if (p->order == SPE_ORDER_FAST)
        return next_in_turn(p, queue);
    while (p->next_queue < p->queue_count && pool_queue_ended(p, p->next_queue))
        p->next_queue++;
    *queue = p->next_queue;
    return *queue < p->queue_count;
}

static void request_ahead(struct spe_profile *p)
{
    size_t queue;

    while (p->free_count && next_queue(p, &queue)) {
        struct group *g = p->free_slots[--p->free_count];

        pool_request(p, g, queue);
        p->ring[(p->ring_first + p->ring_count++) % p->slot_count] = g;
    }
}

static void give_back(struct spe_profile *p, struct group *g)
{
    p->free_slots[p->free_count++] = g;
}

int order_next(struct spe_profile *p, struct group **group)
{
    if (p->merge)
        return merge_next(p, group);
    if (p->current)
        give_back(p, p->current);
    p->current = NULL;
    for (;;) {
        struct group *g;
        int result;

        request_ahead(p);
        if (!p->ring_count)
            return 0;
        g = p->ring[p->ring_first];
        p->ring_first = (p->ring_first + 1) % p->slot_count;
        p->ring_count--;
        result = pool_wait(p, g);
        if (result < 0)
            return result;
        counts_add(&p->counts, &g->counts);
        if (g->columns.rows) {
            *group = p->current = g;
            return 1;
        }
        give_back(p, g);
    }
}

/* ---- By time -------------------------------------------------------------------------------- */

struct merge_queue {
    struct group *group[2]; /* that is read, that comes next */
    uint32_t at, end;       /* rows of the table: the next, and the first behind the group */
};

/* A row that is the next of its queue, as one number: its time above, and below the queue's rank,
 * from 1 on, so that with equal times the first queue comes first. Times do not descend in a queue:
 * a stray timestamp holds nobody up. */
__extension__ typedef unsigned __int128 u128;

#define ENDED (UINT64_C(1) << 32) /* in the rank: the queue has no more rows */

static inline u128 entry_of(uint64_t time, uint64_t rank)
{
    return (u128)time << 64 | rank;
}

static inline uint64_t rank_of(u128 entry)
{
    return (uint64_t)entry;
}

/*
 * A tree in which every node has the later one of the two rows that met there, and the earlier one
 * went on; the earliest of all is at node 0. When its queue has another row, that one goes the same
 * way up.
 */
struct merge {
    struct merge_queue *queues;
    u128 *nodes;
    size_t leaves; /* a power of two */
    struct group out;
    uint32_t *rows; /* of the table, that come next in `out` */
    size_t waiting; /* how many of them */
    bool started;
};

/* Without branches: which row is earlier is what nobody can predict. */
static void replay(struct merge *m, u128 entry)
{
    size_t leaf = (size_t)(entry & (ENDED - 1)) - 1;

    for (size_t at = (m->leaves + leaf) / 2; at; at /= 2) {
        u128 *other = &m->nodes[at], was = *other;
        bool earlier = was < entry;

        *other = earlier ? entry : was;
        entry = earlier ? was : entry;
    }
    m->nodes[0] = entry;
}

static void gather(struct spe_profile *p)
{
    struct merge *m = p->merge;

    group_gather(&m->out, &p->table, m->rows, m->waiting);
    m->waiting = 0;
}

/* Go on to a group with rows: 1, 0 at the end of the queue, or an error. The rows that were read
 * are gathered before their memory gets others. */
static int advance(struct spe_profile *p, uint32_t number)
{
    struct merge_queue *q = &p->merge->queues[number];

    gather(p);
    do {
        struct group *done = q->group[0];
        int result;

        q->group[0] = q->group[1];
        q->group[1] = done;
        result = pool_wait(p, q->group[0]);
        if (result < 0)
            return result;
        counts_add(&p->counts, &q->group[0]->counts);
        if (!q->group[0]->columns.rows && pool_queue_ended(p, number))
            return 0;
        pool_request(p, done, number);
    } while (!q->group[0]->columns.rows);
    q->at = (uint32_t)((size_t)(q->group[0] - p->slots) * p->slot_stride);
    q->end = q->at + (uint32_t)q->group[0]->columns.rows;
    return 1;
}

/* The next row of the queue that has the first one now. */
static int next_row(struct spe_profile *p)
{
    struct merge *m = p->merge;
    uint64_t rank = rank_of(m->nodes[0]), before = (uint64_t)(m->nodes[0] >> 64), time;
    struct merge_queue *q = &m->queues[rank - 1];

    if (q->at == q->end) {
        int result = advance(p, (uint32_t)rank - 1);

        if (result < 0)
            return result;
        if (!result) {
            replay(m, entry_of(UINT64_MAX, rank | ENDED));
            return SPE_OK;
        }
    }
    time = p->table.time_ns[q->at];
    replay(m, entry_of(time > before ? time : before, rank));
    return SPE_OK;
}

/* Two groups for each queue. One of them is asked for now, the other when that one is read. The
 * tree begins with rows that are before all others, and each queue drives one of them out. */
static int start(struct spe_profile *p)
{
    struct merge *m = p->merge;

    m->started = true;
    for (uint32_t i = 0; i < p->queue_count; i++)
        pool_request(p, m->queues[i].group[1], i);
    for (size_t i = 0; i < m->leaves; i++) {
        int result;

        m->nodes[0] = entry_of(0, i + 1);
        if (i >= p->queue_count)
            replay(m, entry_of(UINT64_MAX, (i + 1) | ENDED));
        else if ((result = next_row(p)) < 0)
            return result;
    }
    return SPE_OK;
}

int merge_next(struct spe_profile *p, struct group **group)
{
    struct merge *m = p->merge;
    int result;

    m->out.columns.rows = 0;
    m->waiting = 0;
    result = m->started ? SPE_OK : start(p);
    while (result >= 0 && rank_of(m->nodes[0]) < ENDED &&
           m->out.columns.rows + m->waiting < m->out.columns.capacity) {
        uint64_t queue = rank_of(m->nodes[0]) - 1;

        m->out.queues[m->out.columns.rows + m->waiting] = (uint32_t)queue;
        m->rows[m->waiting++] = m->queues[queue].at++;
        result = next_row(p);
    }
    if (result < 0)
        return result;
    gather(p);
    *group = &m->out;
    return m->out.columns.rows > 0;
}

int merge_start(struct spe_profile *p)
{
    struct merge *m = p->merge = calloc(1, sizeof(*m));

    if (!m)
        return SPE_ERR_NOMEM;
    for (m->leaves = 1; m->leaves < p->queue_count;)
        m->leaves *= 2;
    m->queues = calloc(p->queue_count, sizeof(*m->queues));
    m->nodes = calloc(m->leaves, sizeof(*m->nodes));
    m->rows = malloc(p->group_rows * sizeof(*m->rows));
    if (!m->queues || !m->nodes || !m->rows ||
        group_init(&m->out, 1, p->group_rows, p, GROUP_MERGE) < 0)
        return SPE_ERR_NOMEM;
    for (size_t i = 0; i < p->queue_count; i++) {
        m->queues[i].group[0] = &p->slots[2 * i];
        m->queues[i].group[1] = &p->slots[2 * i + 1];
    }
    return SPE_OK;
}

void merge_stop(struct spe_profile *p)
{
    if (!p->merge)
        return;
    group_free(&p->merge->out);
    free(p->merge->queues);
    free(p->merge->nodes);
    free(p->merge->rows);
    free(p->merge);
    p->merge = NULL;
}

/* ---- Starting ------------------------------------------------------------------------------- */

static int make_slots(struct spe_profile *p, size_t count, size_t rows)
{
    p->slot_stride = (rows + MERGE_ROWS_LEAST - 1) / MERGE_ROWS_LEAST * MERGE_ROWS_LEAST;
    if (group_init(&p->table, count, p->slot_stride, p, GROUP_JOIN) < 0)
        return SPE_ERR_NOMEM;
    p->slots = calloc(count ? count : 1, sizeof(*p->slots));
    p->free_slots = calloc(count ? count : 1, sizeof(struct group *));
    p->ring = calloc(count ? count : 1, sizeof(struct group *));
    if (!p->slots || !p->free_slots || !p->ring)
        return SPE_ERR_NOMEM;
    for (p->slot_count = 0; p->slot_count < count; p->slot_count++) {
        struct group *slot = &p->slots[p->slot_count];

        group_part(slot, &p->table, p->slot_count, rows);
        p->free_slots[p->free_count++] = slot;
    }
    return SPE_OK;
}

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Bytes of queues that are open at the same time are bounded together. */
static size_t chunk_of(const struct spe_profile *p, size_t open)
{
    return clamp((size_t)(16 << 20) / (open ? open : 1), 1024, p->in_place ? 2 << 20 : 128 << 10);
}

static size_t merge_rows(const struct spe_profile *p)
{
    size_t slots = 2 * p->queue_count;
    size_t rows = (p->thread_count == 1 ? MERGE_ROWS : MERGE_ROWS_AHEAD) / slots;

    return clamp(MERGE_ROWS_MOST / slots, MERGE_ROWS_LEAST, clamp(rows, 64, p->group_rows));
}

/* To put rows in order of time, all queues are open at the same time. */
static uint64_t merge_memory(const struct spe_profile *p)
{
    uint64_t group = sizeof(struct group) + merge_rows(p) * group_row_size(p, GROUP_JOIN);
    uint64_t buffer = p->in_place ? 0 : chunk_of(p, p->queue_count);

    return p->queue_count * (spe_bulk_sizeof() + buffer + 2 * group);
}

static bool can_merge(struct spe_profile *p)
{
    uint64_t needed;

    if (p->order != SPE_ORDER_TIME || !p->info.timed || p->queue_count < 2)
        return false;
    needed = merge_memory(p);
    if (needed > p->memory_limit && !p->unordered)
        profile_warn(p,
                     "samples come buffer after buffer and not in order of time: for %zu buffers "
                     "that may take %llu MB of memory, and the limit is %llu MB (--max-memory)",
                     p->queue_count, (unsigned long long)(needed >> 20),
                     (unsigned long long)(p->memory_limit >> 20));
    p->unordered = needed > p->memory_limit;
    return !p->unordered;
}

int order_start(struct spe_profile *p)
{
    bool merge = can_merge(p);
    bool alone = p->thread_count == 1;
    size_t rows = p->group_rows, slots = alone ? 1 : p->thread_count + GROUPS_AHEAD;
    int result;

    if (merge) {
        slots = 2 * p->queue_count;
        rows = merge_rows(p);
    }
    p->chunk = chunk_of(p, merge || p->queue_count < BATCH ? p->queue_count : BATCH);
    result = make_slots(p, slots, rows);
    if (result >= 0 && merge)
        result = merge_start(p);
    return result < 0 ? result : pool_start(p);
}

void order_stop(struct spe_profile *p)
{
    pool_stop(p);
    merge_stop(p);
    group_free(&p->table);
    free(p->slots);
    free(p->free_slots);
    free(p->ring);
    p->slots = NULL;
    p->free_slots = p->ring = NULL;
    p->current = NULL;
    p->slot_count = p->free_count = p->ring_first = p->ring_count = 0;
    p->next_queue = p->batch = 0;
    for (size_t i = 0; i < p->queue_count; i++) {
        struct queue *q = &p->queues[i];

        queue_stop(q);
        q->piece = q->position = q->taken = q->base = q->last_time = q->join_time = 0;
        q->issued = q->decoded = 0;
        q->has_time = q->ending = q->ended = false;
        q->drained = q->unread;
    }
}
