/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Data that threads share, three ways, and the same work without sharing. The first argument says
 * which:
 *
 *   false   counters of two threads in one line;   repaired: a line each
 *   true    one counter of two threads;            repaired: one each, added up at the end
 *   queue   one thread hands numbers to another;   repaired: it keeps them
 *
 * A second argument, any, is the repaired twin.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 64, THREADS = 2, STEPS = 300000, HANDED = 20000 };

static pthread_barrier_t start;

/* ---- false sharing --------------------------------------------------------------------------- */

_Alignas(LINE) volatile long packed[LINE / sizeof(long)];
_Alignas(LINE) volatile long padded[THREADS * LINE / sizeof(long)];

__attribute__((noinline)) void *count(void *counter)
{
    volatile long *value = counter;

    pthread_barrier_wait(&start);
    for (int i = 0; i < STEPS; i++)
        ++*value;
    return NULL;
}

/* ---- true sharing ---------------------------------------------------------------------------- */

_Alignas(LINE) atomic_long total;
_Alignas(LINE) atomic_long own[THREADS * LINE / sizeof(atomic_long)];

__attribute__((noinline)) void *add(void *sum)
{
    atomic_long *to = sum;

    pthread_barrier_wait(&start);
    for (int i = 0; i < STEPS; i++)
        atomic_fetch_add_explicit(to, 1, memory_order_relaxed);
    return NULL;
}

/* ---- a queue of one place -------------------------------------------------------------------- */

struct slot {
    _Alignas(LINE) atomic_long full;
    long number;
};

struct slot slot;
struct slot kept[THREADS];

__attribute__((noinline)) void *produce(void *to)
{
    struct slot *s = to;

    pthread_barrier_wait(&start);
    for (long i = 1; i <= HANDED; i++) {
        while (atomic_load_explicit(&s->full, memory_order_acquire))
            ;
        s->number = i;
        atomic_store_explicit(&s->full, 1, memory_order_release);
    }
    return NULL;
}

__attribute__((noinline)) void *consume(void *from)
{
    struct slot *s = from;
    long sum = 0;

    pthread_barrier_wait(&start);
    for (int i = 0; i < HANDED; i++) {
        while (!atomic_load_explicit(&s->full, memory_order_acquire))
            ;
        sum += s->number;
        atomic_store_explicit(&s->full, 0, memory_order_release);
    }
    return (void *)sum;
}

__attribute__((noinline)) void *keep(void *place)
{
    struct slot *s = place;

    pthread_barrier_wait(&start);
    for (long i = 1; i <= HANDED; i++) {
        s->number += i;
        atomic_store_explicit(&s->full, 0, memory_order_release);
    }
    return NULL;
}

static void run(void *(*first)(void *), void *a, void *(*second)(void *), void *b)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&start, NULL, THREADS);
    pthread_create(&threads[0], NULL, first, a);
    pthread_create(&threads[1], NULL, second, b);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int repaired = argc > 2;
    long far = LINE / (long)sizeof(long);

    if (strcmp(what, "false") == 0)
        run(count, (void *)(repaired ? &padded[0] : &packed[0]), count,
            (void *)(repaired ? &padded[far] : &packed[1]));
    else if (strcmp(what, "true") == 0)
        run(add, repaired ? &own[0] : &total, add, repaired ? &own[far] : &total);
    else if (strcmp(what, "queue") == 0)
        run(repaired ? keep : produce, repaired ? &kept[0] : &slot, repaired ? keep : consume,
            repaired ? &kept[1] : &slot);
    else
        return 2;
    return 0;
}
