/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Four threads with the same work; the data of one lies anywhere in 32 MB. Healthy: of none. */
#include <pthread.h>

#include "problem.h"

#define THREADS 4
#define WORDS (4u << 20)

static volatile uint64_t table[WORDS] __attribute__((aligned(4096)));
static pthread_barrier_t barrier;
static uint32_t masks[THREADS];

static NOINLINE void *gather(void *mask)
{
    uint32_t random = 1, of = *(const uint32_t *)mask, i;
    uint64_t sum = 0;

    pthread_barrier_wait(&barrier);
    for (i = 0; i < 150000; i++)
        sum += table[(next_random(&random) >> 8 & of) ^ (sum & 1)];
    *(uint32_t *)mask += (uint32_t)sum;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int i;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (i = 0; i < THREADS; i++) {
        masks[i] = i == 2 && !is_healthy(argc, argv) ? WORDS - 1 : 1023;
        pthread_create(&threads[i], NULL, gather, &masks[i]);
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", (unsigned)masks[0]);
    return 0;
}
