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

#define BATCH 64          /* queues that are open at a time with SPE_ORDER_FAST */
#define MERGE_ROWS 131072 /* rows in memory with SPE_ORDER_TIME */

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

        request_ahead(p);
        if (!p->ring_count)
            return 0;
        g = p->ring[p->ring_first];
        p->ring_first = (p->ring_first + 1) % p->slot_count;
        p->ring_count--;
        pool_wait(p, g);
        if (g->error < 0)
            return g->error;
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
    size_t row;
    uint64_t key; /* of the row; does not descend, so that a stray timestamp holds nobody up */
};

struct merge {
    struct merge_queue *queues;
    uint32_t *heap; /* queues with rows, the earliest first */
    size_t count;
    struct group out;
    bool started;
};

static bool earlier(const struct merge *m, uint32_t a, uint32_t b)
{
    uint64_t x = m->queues[a].key, y = m->queues[b].key;

    return x != y ? x < y : a < b;
}

static void sift_down(struct merge *m, size_t at)
{
    for (;;) {
        size_t least = at, child = 2 * at + 1;
        uint32_t swap = m->heap[at];

        if (child < m->count && earlier(m, m->heap[child], m->heap[least]))
            least = child;
        if (child + 1 < m->count && earlier(m, m->heap[child + 1], m->heap[least]))
            least = child + 1;
        if (least == at)
            return;
        m->heap[at] = m->heap[least];
        m->heap[least] = swap;
        at = least;
    }
}

static void set_key(struct merge_queue *q)
{
    uint64_t time = q->group[0]->time_ns[q->row];

    if (time > q->key)
        q->key = time;
}

/* Go on to a group with rows: 1, 0 at the end of the queue, or an error. */
static int advance(struct spe_profile *p, uint32_t number)
{
    struct merge_queue *q = &p->merge->queues[number];

    do {
        struct group *done = q->group[0];

        q->group[0] = q->group[1];
        q->group[1] = done;
        pool_wait(p, q->group[0]);
        if (q->group[0]->error < 0)
            return q->group[0]->error;
        counts_add(&p->counts, &q->group[0]->counts);
        if (!q->group[0]->columns.rows && pool_queue_ended(p, number))
            return 0;
        pool_request(p, done, number);
    } while (!q->group[0]->columns.rows);
    q->row = 0;
    set_key(q);
    return 1;
}

/* Two groups for each queue. One of them is asked for now, the other when that one is read. */
static int start(struct spe_profile *p)
{
    struct merge *m = p->merge;

    m->started = true;
    for (uint32_t i = 0; i < p->queue_count; i++)
        pool_request(p, m->queues[i].group[1], i);
    for (uint32_t i = 0; i < p->queue_count; i++) {
        int result = advance(p, i);

        if (result < 0)
            return result;
        if (result)
            m->heap[m->count++] = i;
    }
    for (size_t i = m->count / 2; i-- > 0;)
        sift_down(m, i);
    return SPE_OK;
}

int merge_next(struct spe_profile *p, struct group **group)
{
    struct merge *m = p->merge;
    int result = m->started ? SPE_OK : start(p);

    m->out.columns.rows = 0;
    while (result >= 0 && m->count && m->out.columns.rows < m->out.columns.capacity) {
        uint32_t number = m->heap[0];
        struct merge_queue *q = &m->queues[number];

        group_copy_row(&m->out, q->group[0], q->row);
        if (++q->row < q->group[0]->columns.rows)
            set_key(q);
        else
            result = advance(p, number);
        if (result == 0 && q->row >= q->group[0]->columns.rows)
            m->heap[0] = m->heap[--m->count];
        sift_down(m, 0);
    }
    if (result < 0)
        return result;
    *group = &m->out;
    return m->out.columns.rows > 0;
}

int merge_start(struct spe_profile *p)
{
    struct merge *m = p->merge = calloc(1, sizeof(*m));

    if (!m)
        return SPE_ERR_NOMEM;
    m->queues = calloc(p->queue_count ? p->queue_count : 1, sizeof(*m->queues));
    m->heap = calloc(p->queue_count ? p->queue_count : 1, sizeof(*m->heap));
    if (!m->queues || !m->heap || group_init(&m->out, p->group_rows, p->want) < 0)
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
    free(p->merge->heap);
    free(p->merge);
    p->merge = NULL;
}

/* ---- Starting ------------------------------------------------------------------------------- */

static int make_slots(struct spe_profile *p, size_t count, size_t rows)
{
    p->slots = calloc(count ? count : 1, sizeof(*p->slots));
    p->free_slots = calloc(count ? count : 1, sizeof(struct group *));
    p->ring = calloc(count ? count : 1, sizeof(struct group *));
    if (!p->slots || !p->free_slots || !p->ring)
        return SPE_ERR_NOMEM;
    for (p->slot_count = 0; p->slot_count < count; p->slot_count++) {
        if (group_init(&p->slots[p->slot_count], rows, p->want) < 0)
            return SPE_ERR_NOMEM;
        p->free_slots[p->free_count++] = &p->slots[p->slot_count];
    }
    return SPE_OK;
}

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

int order_start(struct spe_profile *p)
{
    bool merge = p->order == SPE_ORDER_TIME && p->info.timed && p->queue_count > 1;
    size_t rows = p->group_rows, slots = p->thread_count == 1 ? 1 : p->thread_count + 2;
    int result;

    p->chunk = 256 * 1024;
    if (merge) {
        slots = 2 * p->queue_count;
        rows = clamp(MERGE_ROWS / slots, 64, rows);
        p->chunk = clamp((size_t)(16 << 20) / p->queue_count, 8192, p->chunk);
    }
    result = make_slots(p, slots, rows);
    if (result >= 0 && merge)
        result = merge_start(p);
    return result < 0 ? result : pool_start(p);
}

void order_stop(struct spe_profile *p)
{
    pool_stop(p);
    merge_stop(p);
    for (size_t i = 0; i < p->slot_count; i++)
        group_free(&p->slots[i]);
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
        q->piece = q->position = q->base = q->last_time = q->join_time = 0;
        q->issued = q->decoded = 0;
        q->has_time = q->ending = q->drained = q->ended = false;
    }
}
