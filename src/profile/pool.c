/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The threads that make rows. Requests are taken in the order in which they were made. A queue is
 * decoded by one thread at a time, in the order of its tickets; joining needs no order. What comes
 * out depends on the requests only, not on who works when. With one thread there is no pool: the
 * caller's thread makes a group when it waits for it. If a thread has no memory to start with, the
 * whole read fails.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

static void decode(struct spe_profile *p, struct joiner *j, struct group *g)
{
    struct queue *q = &p->queues[g->queue_index];

    g->error = queue_fill(p, j, q, g);
}

static void join(struct spe_profile *p, struct joiner *j, struct group *g)
{
    if (g->error >= 0)
        g->error = join_group(p, j, &p->queues[g->queue_index], g);
}

/* Under the lock: the next request, or NULL to stop. */
static struct group *take(struct pool *pool)
{
    struct group *g;

    while (!pool->waiting && !pool->stop)
        pthread_cond_wait(&pool->work, &pool->lock);
    if (pool->stop)
        return NULL;
    g = pool->requests[pool->first];
    pool->first = (pool->first + 1) % pool->capacity;
    pool->waiting--;
    return g;
}

/* Under the lock, which is given up meanwhile. */
static void make(struct spe_profile *p, struct joiner *j, struct group *g)
{
    struct pool *pool = &p->pool;
    struct queue *q = &p->queues[g->queue_index];

    while (q->decoded != g->ticket) /* its predecessor was taken before: it will be done */
        pthread_cond_wait(&pool->progress, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    decode(p, j, g);
    pthread_mutex_lock(&pool->lock);
    q->decoded++;
    q->ended = q->drained || g->error < 0;
    pthread_cond_broadcast(&pool->progress);
    pthread_mutex_unlock(&pool->lock);
    join(p, j, g);
    pthread_mutex_lock(&pool->lock);
    g->ready = true;
    pthread_cond_broadcast(&pool->progress);
}

static void *work(void *argument)
{
    struct spe_profile *p = argument;
    int error = SPE_OK;
    struct joiner *j = joiner_new(p, &error);
    struct group *g;

    pthread_mutex_lock(&p->pool.lock);
    while (j && (g = take(&p->pool)))
        make(p, j, g);
    if (!j) {
        p->pool.error = error;
        pthread_cond_broadcast(&p->pool.progress);
    }
    pthread_mutex_unlock(&p->pool.lock);
    joiner_free(j);
    return NULL;
}

int pool_start(struct spe_profile *p)
{
    struct pool *pool = &p->pool;
    int error = SPE_OK;

    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->progress, NULL);
    pool->started = true;
    pool->stop = false;
    pool->first = pool->waiting = 0;
    pool->count = 0;
    if (p->thread_count == 1) {
        p->joiner = joiner_new(p, &error);
        return error;
    }
    pool->capacity = p->slot_count;
    pool->requests = calloc(pool->capacity, sizeof(struct group *));
    pool->threads = calloc(p->thread_count, sizeof(pthread_t));
    if (!pool->requests || !pool->threads)
        return SPE_ERR_NOMEM;
    for (; pool->count < p->thread_count; pool->count++) {
        if (pthread_create(&pool->threads[pool->count], NULL, work, p))
            break;
    }
    if (!pool->count) /* no threads to be had: do without */
        p->joiner = joiner_new(p, &error);
    return error;
}

void pool_stop(struct spe_profile *p)
{
    struct pool *pool = &p->pool;

    if (!pool->started)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    joiner_free(p->joiner);
    p->joiner = NULL;
    free(pool->requests);
    free(pool->threads);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->progress);
    pthread_mutex_destroy(&pool->lock);
    memset(pool, 0, sizeof(*pool));
}

void pool_request(struct spe_profile *p, struct group *g, size_t queue)
{
    struct pool *pool = &p->pool;

    g->ready = false;
    g->error = SPE_OK;
    g->queue_index = queue;
    if (!pool->count)
        return;
    pthread_mutex_lock(&pool->lock);
    g->ticket = p->queues[queue].issued++;
    pool->requests[(pool->first + pool->waiting++) % pool->capacity] = g;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

int pool_wait(struct spe_profile *p, struct group *g)
{
    struct pool *pool = &p->pool;
    int error;

    if (!pool->count) {
        decode(p, p->joiner, g);
        p->queues[g->queue_index].ended = p->queues[g->queue_index].drained || g->error < 0;
        join(p, p->joiner, g);
        return g->error;
    }
    pthread_mutex_lock(&pool->lock);
    while (!g->ready && !pool->error)
        pthread_cond_wait(&pool->progress, &pool->lock);
    error = pool->error ? pool->error : g->error;
    pthread_mutex_unlock(&pool->lock);
    return error;
}

bool pool_queue_ended(struct spe_profile *p, size_t queue)
{
    bool ended;

    if (!p->pool.count)
        return p->queues[queue].ended;
    pthread_mutex_lock(&p->pool.lock);
    ended = p->queues[queue].ended;
    pthread_mutex_unlock(&p->pool.lock);
    return ended;
}
