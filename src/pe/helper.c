/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/helper.h"

#include <sched.h>
#include <signal.h>

#include "pe/merge.h"

#define STACK_BYTES (256u << 10)

/* ---- Doorbells ------------------------------------------------------------------------------- */

static void wait_for_ring(struct pe_doorbell *bell)
{
    while (sem_wait(&bell->rings) != 0)
        continue; /* the handler of a signal ran */
}

static void ring(struct pe_doorbell *bell)
{
    if (atomic_load(&bell->sleeps) && atomic_exchange(&bell->sleeps, false))
        sem_post(&bell->rings);
}

/* It need not sleep after all. One who has rung just now must not ring for the next time. */
static void stay_awake(struct pe_doorbell *bell)
{
    if (!atomic_exchange(&bell->sleeps, false))
        wait_for_ring(bell);
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* Who wants the lock for a moment would not get it from one who gives it back and takes it again.
 */
static void have_all(struct pe_merge *m)
{
    do
        while (atomic_load(&m->helper.others))
            sched_yield();
    while (pe_merge_help(m));
}

/* Who adds batches after it said that it sleeps, rings. Those from before it has once more. */
static void *help(void *user)
{
    struct pe_merge *m = user;

    while (!atomic_load(&m->helper.over)) {
        have_all(m);
        atomic_store(&m->helper.work.sleeps, true);
        have_all(m);
        wait_for_ring(&m->helper.work);
    }
    return NULL;
}

/* On one processor there is nobody to help. */
static bool has_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1;
}

/* Signals are for the program: none may come here. */
static bool begin_thread(struct pe_merge *m)
{
    sigset_t all, old;
    pthread_attr_t attributes;
    bool good;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    good = pthread_create(&m->helper.thread, &attributes, help, m) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return good;
}

static bool begin(struct pe_merge *m)
{
    struct pe_helper *h = &m->helper;

    if (!has_processors())
        return false;
    sem_init(&h->work.rings, 0, 0);
    sem_init(&h->room.rings, 0, 0);
    return begin_thread(m);
}

static bool are_few(const struct pe_batches *b)
{
    return pe_batches_waiting(b) <= PE_BATCHES_FEW && pe_batches_events(b) <= PE_BATCHES_FEW_EVENTS;
}

/* ---- For whom -------------------------------------------------------------------------------- */

bool pe_helper_is_for(const struct pe_stream *s)
{
    const struct pe_helper *h = &s->merge->helper;

    return atomic_load(&h->wanted) && atomic_load(&h->chosen) == s;
}

void pe_helper_choose(struct pe_merge *m, struct pe_stream *s)
{
    if (atomic_load(&m->helper.chosen) == s)
        return;
    atomic_store(&m->helper.chosen, s);
    ring(&m->helper.room);
}

void pe_helper_tell(struct pe_stream *s)
{
    struct pe_helper *h = &s->merge->helper;

    if (pe_batches_waiting(&s->batches) < PE_BATCHES_MANY)
        return;
    if (!h->there) {
        h->there = begin(s->merge);
        atomic_store(&h->wanted, h->there);
    }
    ring(&h->work);
}

void pe_helper_wait(struct pe_stream *s)
{
    struct pe_doorbell *room = &s->merge->helper.room;

    atomic_store(&room->sleeps, true);
    if (are_few(&s->batches) || !pe_helper_is_for(s))
        stay_awake(room);
    else
        wait_for_ring(room);
}

void pe_helper_had(struct pe_stream *s)
{
    if (are_few(&s->batches))
        ring(&s->merge->helper.room);
}

void pe_helper_end(struct pe_helper *h)
{
    if (!h->there)
        return;
    atomic_store(&h->over, true);
    sem_post(&h->work.rings);
    pthread_join(h->thread, NULL);
    sem_destroy(&h->work.rings);
    sem_destroy(&h->room.rings);
}
