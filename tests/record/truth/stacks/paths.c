/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Functions that call each other as chance will have it, leave by longjmp, are interrupted by
 * signals, and run on stacks of coroutines and of threads. Each keeps its own list of who called
 * whom, and prints every path that was ever on it: f_a;f_c;f_a.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))
#define DEPTH 24
#define SEEN (1u << 17)
#define FIBERS 3
#define CALLS 6000 /* of a thread */

/* A stack of the program's, and our list of what is on it. */
struct fiber {
    const char *names[DEPTH + 8];
    unsigned depth;
    ucontext_t context;
    char *stack;
    jmp_buf marks[DEPTH + 8];
    unsigned marked[DEPTH + 8]; /* depths that can be jumped back to */
    unsigned mark_count;
};

static __thread struct fiber *self, *fibers;
static __thread uint32_t seed, calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t seen[SEEN];
volatile uint64_t sum;

static void (*const functions[])(void);

static uint32_t chance(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 9) % below;
}

static int is_new(uint64_t hash)
{
    uint32_t at = (uint32_t)(hash % SEEN);

    while (seen[at] && seen[at] != hash)
        at = (at + 1) % SEEN;
    if (seen[at])
        return 0;
    seen[at] = hash;
    return 1;
}

static void enter(const char *name)
{
    char line[8 * (DEPTH + 8)] = "";
    uint64_t hash = 14695981039346656037u;

    self->names[self->depth++] = name;
    calls++;
    for (unsigned i = 0; i < self->depth; i++) {
        for (const char *c = self->names[i]; *c; c++)
            hash = (hash ^ (uint8_t)*c) * 1099511628211u;
        hash = (hash ^ ';') * 1099511628211u;
        strcat(strcat(line, i ? ";" : ""), self->names[i]);
    }
    pthread_mutex_lock(&lock);
    if (is_new(hash))
        puts(line);
    pthread_mutex_unlock(&lock);
}

APART static void work(void)
{
    for (unsigned i = 0; i < 60; i++)
        sum += i;
}

/* Straight to another stack; back when somebody comes here again. */
APART static void change(void)
{
    struct fiber *from = self, *to = &fibers[chance(FIBERS)];

    if (to == from)
        return;
    self = to;
    swapcontext(&from->context, &to->context);
    self = from;
}

/* Calls that may be left by longjmp. */
APART static void call_marked(void (*function)(void))
{
    struct fiber *f = self;

    f->marked[f->mark_count] = f->depth;
    if (!setjmp(f->marks[f->mark_count++])) {
        function();
        f->mark_count--;
    }
}

APART static void leave_all(void)
{
    struct fiber *f = self;
    unsigned to;

    if (!f->mark_count)
        return;
    to = f->mark_count = chance(f->mark_count);
    f->depth = f->marked[to];
    longjmp(f->marks[to], 1);
}

static void act(void)
{
    void (*function)(void) = functions[chance(8)];

    work();
    switch (self->depth < DEPTH && calls < CALLS ? chance(8) : 7) {
    case 0:
        change();
        break;
    case 1:
        call_marked(function);
        break;
    case 2:
        leave_all();
        break;
    case 3:
        raise(SIGUSR1);
        break;
    case 7:
        break;
    default:
        function();
    }
    work();
}

#define FUNCTION(name)                                                                             \
    APART static void name(void)                                                                   \
    {                                                                                              \
        enter(#name);                                                                              \
        for (uint32_t n = 1 + chance(2); n; n--)                                                   \
            act();                                                                                 \
        self->depth--;                                                                             \
    }

FUNCTION(f_a)
FUNCTION(f_b)
FUNCTION(f_c)
FUNCTION(f_d)
FUNCTION(f_e)
FUNCTION(f_f)
FUNCTION(f_g)
FUNCTION(f_h)

static void (*const functions[])(void) = {f_a, f_b, f_c, f_d, f_e, f_f, f_g, f_h};

APART static void f_handler(int number)
{
    (void)number;
    enter("f_handler");
    work();
    if (self->depth < DEPTH && calls < CALLS)
        functions[chance(8)]();
    self->depth--;
}

/* Where each coroutine begins; it never ends. */
static void f_fiber(void)
{
    struct fiber *own = self;

    enter("f_fiber");
    for (;;) {
        functions[chance(8)]();
        self = &fibers[0];
        swapcontext(&own->context, &self->context);
        self = own;
    }
}

static void make_fibers(void)
{
    fibers = calloc(FIBERS, sizeof(*fibers));
    self = &fibers[0];
    for (unsigned i = 1; i < FIBERS; i++) {
        fibers[i].stack = malloc(1 << 18);
        getcontext(&fibers[i].context);
        fibers[i].context.uc_stack.ss_sp = fibers[i].stack;
        fibers[i].context.uc_stack.ss_size = 1 << 18;
        makecontext(&fibers[i].context, f_fiber, 0);
    }
}

static void *f_thread(void *user)
{
    seed = (uint32_t)(uintptr_t)user;
    make_fibers();
    enter("f_thread");
    while (calls < CALLS)
        functions[chance(8)]();
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = f_handler, .sa_flags = SA_NODEFER};
    pthread_t threads[3];

    sigaction(SIGUSR1, &action, NULL);
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, f_thread, (void *)(uintptr_t)(i + 1));
    for (unsigned i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
