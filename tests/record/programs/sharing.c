/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * False sharing: two threads, each with a counter of its own, in one cache line. With -DFIXED the
 * counters are a line apart, and nothing is shared. Threads yield now and then, so that they take
 * turns on a host with one free core, too.
 */
#include <pthread.h>
#include <sched.h>

enum { LINE = 64, TURNS = 100000, STEPS = 8 };

struct counter {
    volatile long value;
#ifdef FIXED
    char apart[LINE - sizeof(long)];
#endif
};

_Alignas(LINE) struct counter counters[2];
static pthread_barrier_t start;

__attribute__((noinline)) void *count(void *counter)
{
    volatile long *value = &((struct counter *)counter)->value;

    pthread_barrier_wait(&start);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int step = 0; step < STEPS; step++)
            ++*value;
        sched_yield();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];

    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, &counters[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counters[0].value == TURNS * STEPS && counters[1].value == TURNS * STEPS ? 0 : 1;
}
