/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Four threads: work of their own, counters in one line, a lock, atomics. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 4
#define PART __attribute__((noinline))

static volatile uint64_t counters[THREADS];
static uint64_t locked, added;
static uint32_t own[THREADS][4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

PART static void mix(uint32_t *values, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        values[i * 7 % 4096] += values[i % 4096] ^ i;
}

PART static void count(volatile uint64_t *counter, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        ++*counter;
}

PART static void add_locked(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        locked++;
        pthread_mutex_unlock(&lock);
    }
}

PART static void add_atomic(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        __atomic_fetch_add(&added, 1, __ATOMIC_RELAXED);
}

static void *work(void *user)
{
    unsigned number = (unsigned)(uintptr_t)user;

    mix(own[number], 200000);
    count(&counters[number], 100000);
    add_locked(5000);
    add_atomic(50000);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%llu %llu %llu\n", (unsigned long long)counters[0], (unsigned long long)locked,
           (unsigned long long)added);
    return 0;
}
