/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Atomics, a lock, counters next to each other. */
#include <stdatomic.h>

struct lock {
    atomic_int held;
};

struct shared {
    struct lock lock;
    atomic_long tickets;
    long first, second;
    _Atomic(struct shared *) other;
};

__attribute__((noinline)) void hold(struct lock *l)
{
    while (atomic_exchange_explicit(&l->held, 1, memory_order_acquire)) /* T: struct lock.held */
        ;
}

__attribute__((noinline)) void release(struct lock *l)
{
    atomic_store_explicit(&l->held, 0, memory_order_release); /* T: struct lock.held; int */
}

__attribute__((noinline)) long ticket(struct shared *s)
{
    return atomic_fetch_add_explicit(&s->tickets, 1, memory_order_relaxed); /* T: struct shared.tickets */
}

__attribute__((noinline)) long add(struct shared *s, long by)
{
    hold(&s->lock);
    s->first += by; /* T: struct shared.first */
    s->second -= by; /* T: struct shared.second */
    release(&s->lock);
    return s->first; /* T: struct shared.first */
}

__attribute__((noinline)) long peer(struct shared *s)
{
    struct shared *o = atomic_load_explicit(&s->other, memory_order_acquire); /* T: struct shared.other; struct shared * */

    return o ? o->second : s->second; /* T: struct shared.second */
}

int main(void)
{
    static struct shared a, b;

    atomic_store(&a.other, &b); /* T: struct shared.other; struct shared * */
    return add(&a, 3) + ticket(&a) + peer(&a) == 12345;
}
