/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A thread of our own that lets the machine have events while the program goes on.
 *
 * Only while one thread of the program runs, and all others wait in the kernel. That one says where
 * its batches of events end, and goes on; the helper takes the lock of the merge and has them, one
 * after the other. Whoever else takes the lock does the same first. So the machine has the same
 * events in the same batches as without a helper, whoever brings them, and nobody can see a
 * difference but in time.
 *
 * Neither wakes the other for little: the helper sleeps until many batches wait, and the program,
 * when there is no room for more, until few do. Where others want the processors, each would wait
 * for its turn before the other can go on, so the helper rests for a while.
 */
#ifndef PE_HELPER_H
#define PE_HELPER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pe_merge;
struct pe_stream;

enum {
    PE_BATCHES = 16,                 /* that may wait; a power of two */
    PE_BATCHES_MANY = 4,             /* fewer than there is room for, however large they are */
    PE_BATCHES_FEW = PE_BATCHES / 2, /* with at most so many events: */
    PE_BATCHES_FEW_EVENTS = 1 << 14,
};

/* Where batches end that wait to be had. The program's thread adds, whoever has the lock takes. */
struct pe_batches {
    uint64_t ends[PE_BATCHES];
    _Atomic uint64_t added, had;
    _Atomic uint64_t end, done; /* events up to the latest that was added, and that was had */
};

/* For one who sleeps when nothing is to be done. */
struct pe_doorbell {
    sem_t rings;
    atomic_bool sleeps;
    _Atomic uint64_t rung; /* nanoseconds: the latest time */
};

struct pe_helper {
    atomic_bool wanted; /* by its owner: there may be one */
    atomic_bool there;
    atomic_bool rests;  /* others want the processors */
    bool tireless;      /* it never does: for tests, which run beside others */
    atomic_uint others; /* that wait for the lock: the helper comes after them */
    pthread_t thread;
    struct pe_stream *_Atomic chosen; /* it runs, and all others are in the kernel; NULL: none */
    struct pe_doorbell work;          /* for the helper */
    struct pe_doorbell room;          /* for the program's thread */
    atomic_bool over;
    sem_t end; /* it is to wake up, for it is over */

    /* Its own: nanoseconds. */
    uint64_t since, cpu; /* real time and its thread's, when it looked at them last, */
    uint64_t slept;      /* and for so long it has slept since then */
    uint64_t pause;      /* that it makes when it rests */
};

/* Real time: nanoseconds. */
uint64_t pe_helper_now(void);

static inline uint64_t pe_batches_waiting(const struct pe_batches *b)
{
    return atomic_load(&b->added) - atomic_load(&b->had);
}

/* Events in them. */
static inline uint64_t pe_batches_events(const struct pe_batches *b)
{
    return atomic_load(&b->end) - atomic_load(&b->done);
}

static inline void pe_batches_add(struct pe_batches *b, uint64_t end)
{
    uint64_t added = atomic_load(&b->added);

    b->ends[added % PE_BATCHES] = end;
    atomic_store(&b->end, end);
    atomic_store(&b->added, added + 1);
}

/* Where the oldest that waits ends. */
static inline uint64_t pe_batches_next(const struct pe_batches *b)
{
    return b->ends[atomic_load(&b->had) % PE_BATCHES];
}

static inline void pe_batches_had(struct pe_batches *b, uint64_t done)
{
    atomic_store(&b->done, done);
    atomic_store(&b->had, atomic_load(&b->had) + 1);
}

/* Has the stream's thread a helper? */
bool pe_helper_is_for(const struct pe_stream *stream);
/* It has added a batch. The helper begins, if it has not yet; where that cannot be, it is not
 * wanted any more. */
void pe_helper_tell(struct pe_stream *stream);
/* It sleeps until few batches wait, or it has no helper. */
void pe_helper_wait(struct pe_stream *stream);
/* Whoever has the lock has had a batch of it. */
void pe_helper_had(struct pe_stream *stream);
/* Whoever has the lock: from now on the helper is for this stream, NULL: for none. */
void pe_helper_choose(struct pe_merge *merge, struct pe_stream *stream);
/* It is gone. */
void pe_helper_end(struct pe_helper *helper);

#endif
