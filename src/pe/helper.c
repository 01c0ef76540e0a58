/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/helper.h"

#include <sched.h>
#include <signal.h>

#include "pe/merge.h"

#define STACK_BYTES (256u << 10)

bool pe_helper_may_help(const struct pe_merge *m)
{
    return m->helper.wanted && __atomic_load_n(&m->count, __ATOMIC_ACQUIRE) == 1;
}

static void *help(void *user)
{
    struct pe_merge *m = user;

    for (;;) {
        while (sem_wait(&m->helper.work) != 0)
            continue;
        if (atomic_load_explicit(&m->helper.over, memory_order_acquire))
            return NULL;
        pe_merge_lock(m);
        pe_merge_unlock(m);
        atomic_store_explicit(&m->helper.awake, false, memory_order_release);
    }
}

/* On one processor there is nobody to help. */
static bool has_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1;
}

/* Signals are for the program: none may come here. */
static bool begin(struct pe_merge *m)
{
    sigset_t all, old;
    pthread_attr_t attributes;
    bool good;

    if (!has_processors() || sem_init(&m->helper.work, 0, 0) != 0)
        return false;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    good = pthread_create(&m->helper.thread, &attributes, help, m) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return good;
}

void pe_helper_wake(struct pe_merge *m)
{
    struct pe_helper *h = &m->helper;

    if (!h->there) {
        h->there = begin(m);
        h->wanted = h->there;
    }
    if (h->there && !atomic_exchange_explicit(&h->awake, true, memory_order_acq_rel))
        sem_post(&h->work);
}

void pe_helper_end(struct pe_helper *h)
{
    if (!h->there)
        return;
    atomic_store_explicit(&h->over, true, memory_order_release);
    sem_post(&h->work);
    pthread_join(h->thread, NULL);
    sem_destroy(&h->work);
}
