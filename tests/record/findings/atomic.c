/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Four threads add to one atomic counter, one by one. Healthy: each adds up for itself first. */
#include <pthread.h>
#include <stdatomic.h>

#include "problem.h"

#define THREADS 4
#define TIMES 100000

static struct {
    _Atomic uint64_t total;
    char rest_of_line[56];
} sum_of_all __attribute__((aligned(64)));
static pthread_barrier_t barrier;
static uint64_t at_once;

static NOINLINE void *add_up(void *unused)
{
    uint64_t sum = 0, i;

    pthread_barrier_wait(&barrier);
    for (i = 1; i <= TIMES; i++) {
        sum += i & 3;
        if (i % at_once == 0) {
            atomic_fetch_add(&sum_of_all.total, sum);
            sum = 0;
        }
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int i;

    at_once = is_healthy(argc, argv) ? TIMES : 1;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add_up, NULL);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", (unsigned)sum_of_all.total);
    return 0;
}
