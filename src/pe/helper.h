/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A thread of our own that runs the model while the program goes on.
 *
 * Only where one stream is alone. It says where its batches of events end, and goes on; the helper
 * takes the lock and lets the machine have them, one after the other. Whoever else takes the lock
 * does the same first. So the machine has the same events in the same batches as without a helper,
 * whoever brings them, and nobody can see a difference but in time.
 */
#ifndef PE_HELPER_H
#define PE_HELPER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pe_merge;

enum {
    PE_BATCHES = 8,      /* that may wait */
    PE_BATCHES_MANY = 2, /* that are worth waking somebody */
};

/* Where batches end that were handed over and not had yet. The owner of the stream adds, whoever
 * has the lock takes. */
struct pe_batches {
    uint64_t ends[PE_BATCHES];
    _Atomic uint64_t added, had;
};

static inline bool pe_batches_are_full(const struct pe_batches *b)
{
    return atomic_load_explicit(&b->added, memory_order_relaxed) -
               atomic_load_explicit(&b->had, memory_order_acquire) ==
           PE_BATCHES;
}

static inline bool pe_batches_are_many(const struct pe_batches *b)
{
    return atomic_load_explicit(&b->added, memory_order_relaxed) -
               atomic_load_explicit(&b->had, memory_order_relaxed) >=
           PE_BATCHES_MANY;
}

static inline void pe_batches_add(struct pe_batches *b, uint64_t end)
{
    uint64_t added = atomic_load_explicit(&b->added, memory_order_relaxed);

    b->ends[added % PE_BATCHES] = end;
    atomic_store_explicit(&b->added, added + 1, memory_order_release);
}

/* False: there is none. */
static inline bool pe_batches_next(const struct pe_batches *b, uint64_t *end)
{
    uint64_t had = atomic_load_explicit(&b->had, memory_order_relaxed);

    if (had == atomic_load_explicit(&b->added, memory_order_acquire))
        return false;
    *end = b->ends[had % PE_BATCHES];
    return true;
}

static inline void pe_batches_had(struct pe_batches *b)
{
    uint64_t had = atomic_load_explicit(&b->had, memory_order_relaxed);

    atomic_store_explicit(&b->had, had + 1, memory_order_release);
}

struct pe_helper {
    atomic_bool wanted; /* by its owner: there may be one */
    bool there;
    pthread_t thread;
    sem_t work;
    atomic_bool awake; /* it was woken, and is not done */
    atomic_bool over;
};

/* May the stream that asks leave its batches to the helper? It is alone then. */
bool pe_helper_may_help(const struct pe_merge *merge);
/* It begins, if it has not yet. Where that cannot be, it is not wanted any more. */
void pe_helper_wake(struct pe_merge *merge);
void pe_helper_end(struct pe_helper *helper);

#endif
