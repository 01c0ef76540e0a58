/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Coroutines that threads hand to each other, as the scheduler of Go does: one stops in one thread
 * and goes on in another, in the middle of its calls.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { THREADS = 3, COROUTINES = 4, TURNS = 60, STACK = 64 << 10 };

static struct coroutine {
    ucontext_t own, back;
    unsigned long value;
} coroutines[COROUTINES];
static sem_t turn[THREADS];
static __thread struct coroutine *running;

#define LEAF(name)                                                                                 \
    __attribute__((noinline)) unsigned long leaf_##name(unsigned long x)                           \
    {                                                                                              \
        for (int i = 0; i < 300; i++)                                                              \
            __asm__ volatile("add %0, %0, #3\n\teor %0, %0, %0, lsr #7" : "+r"(x));                \
        return x;                                                                                  \
    }

LEAF(even)
LEAF(odd)
LEAF(thread)

/* To whoever resumed it. The thread may be another one behind it. */
__attribute__((noinline)) void stop(struct coroutine *c)
{
    swapcontext(&c->own, &c->back);
}

__attribute__((noinline)) void even_inner(struct coroutine *c)
{
    c->value = leaf_even(c->value) + 1;
    stop(c);
    c->value = leaf_even(c->value) + 2;
}

__attribute__((noinline)) void odd_inner(struct coroutine *c)
{
    c->value = leaf_odd(c->value) + 1;
    stop(c);
    c->value = leaf_odd(c->value) + 2;
}

__attribute__((noinline)) void even_body(int number)
{
    for (;;)
        even_inner(&coroutines[number]);
}

__attribute__((noinline)) void odd_body(int number)
{
    for (;;)
        odd_inner(&coroutines[number]);
}

__attribute__((noinline)) void resume(struct coroutine *c)
{
    running = c;
    swapcontext(&c->back, &c->own);
    running = NULL;
}

/* Turn by turn, so that each coroutine goes through all threads. */
__attribute__((noinline)) void *thread(void *number)
{
    size_t self = (size_t)number;
    unsigned long x = self;

    for (int i = 0; i < TURNS; i++) {
        sem_wait(&turn[self]);
        for (int c = 0; c < COROUTINES; c++)
            resume(&coroutines[c]);
        x = leaf_thread(x);
        sem_post(&turn[(self + 1) % THREADS]);
    }
    return (void *)x;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned long sum = 0;

    for (int i = 0; i < COROUTINES; i++) {
        struct coroutine *c = &coroutines[i];

        getcontext(&c->own);
        c->own.uc_stack.ss_sp = malloc(STACK);
        c->own.uc_stack.ss_size = STACK;
        makecontext(&c->own, (void (*)(void))(i % 2 ? odd_body : even_body), 1, i);
    }
    for (size_t i = 0; i < THREADS; i++)
        sem_init(&turn[i], 0, i == 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < COROUTINES; i++)
        sum += coroutines[i].value;
    printf("%lu\n", sum);
    return 0;
}
