/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Four threads, each with a counter of its own, in one line. Healthy: in lines of their own. */
#include <pthread.h>

#include "problem.h"

#define THREADS 4
#define LONGS_OF_A_LINE 8

static volatile uint64_t counters[THREADS * LONGS_OF_A_LINE] __attribute__((aligned(64)));
static pthread_barrier_t barrier;

static NOINLINE void *count_up(void *counter)
{
    volatile uint64_t *mine = counter;
    int i;

    pthread_barrier_wait(&barrier);
    for (i = 0; i < 250000; i++)
        (*mine)++;
    return NULL;
}

int main(int argc, char **argv)
{
    size_t distance = is_healthy(argc, argv) ? LONGS_OF_A_LINE : 1;
    pthread_t threads[THREADS];
    int i;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count_up, (void *)&counters[(size_t)i * distance]);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", (unsigned)counters[0]);
    return 0;
}
