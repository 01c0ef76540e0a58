/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Four threads count the letters and spaces of a text. It has a problem: see docs/tutorial.md. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS 4
#define CHARACTERS 16384
#define ROUNDS 16

struct tally {
    uint64_t letters;
    uint64_t spaces;
};

static struct tally tallies[THREADS] __attribute__((aligned(64)));
static char text[CHARACTERS];
static pthread_barrier_t start;

static void *count(void *argument)
{
    struct tally *tally = argument;

    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS * CHARACTERS; i++) {
        if (text[i % CHARACTERS] == ' ')
            tally->spaces++;
        else
            tally->letters++;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    uint64_t letters = 0;

    for (int i = 0; i < CHARACTERS; i++)
        text[i] = i % 6 == 5 ? ' ' : 'x';
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, &tallies[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        letters += tallies[i].letters;
    }
    printf("%llu letters\n", (unsigned long long)letters);
    return 0;
}
