/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/helper.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "pe/merge.h"

#define STACK_BYTES (256u << 10)
#define MS UINT64_C(1000000) /* nanoseconds */
#define WINDOW (30 * MS)     /* real time from one look at its own time to the next */
#define PAUSE_MIN (400 * MS)
#define PAUSE_MAX (3200 * MS)

/* ---- Time ----------------------------------------------------------------------------------- */

static uint64_t time_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

uint64_t pe_helper_now(void)
{
    return time_of(CLOCK_MONOTONIC);
}

/* ---- Doorbells ------------------------------------------------------------------------------- */

static void wait_for_ring(struct pe_doorbell *bell)
{
    while (sem_wait(&bell->rings) != 0)
        continue; /* the handler of a signal ran */
}

static void ring(struct pe_doorbell *bell)
{
    if (!atomic_load(&bell->sleeps) || !atomic_exchange(&bell->sleeps, false))
        return;
    atomic_store(&bell->rung, pe_helper_now());
    sem_post(&bell->rings);
}

/* It need not sleep after all. One who has rung just now must not ring for the next time. */
static void stay_awake(struct pe_doorbell *bell)
{
    if (!atomic_exchange(&bell->sleeps, false))
        wait_for_ring(bell);
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void look_from_now_on(struct pe_helper *h)
{
    h->since = pe_helper_now();
    h->cpu = time_of(CLOCK_THREAD_CPUTIME_ID);
    h->slept = 0;
}

/* For more than a sixth of the time it would have run, and did not. */
static bool is_kept_waiting(struct pe_helper *h)
{
    uint64_t real = pe_helper_now() - h->since, used;
    bool waits;

    if (real < WINDOW || h->tireless)
        return false;
    used = time_of(CLOCK_THREAD_CPUTIME_ID) - h->cpu + h->slept;
    waits = used + real / 6 < real;
    if (!waits)
        h->pause = PAUSE_MIN;
    look_from_now_on(h);
    return waits;
}

/* The program has its events itself meanwhile. Longer each time, while nothing has changed. */
static void rest(struct pe_helper *h)
{
    uint64_t end = time_of(CLOCK_REALTIME) + h->pause;
    const struct timespec until = {(time_t)(end / (1000 * MS)), (long)(end % (1000 * MS))};

    atomic_store(&h->rests, true);
    ring(&h->room);
    while (sem_timedwait(&h->end, &until) != 0 && errno == EINTR)
        continue;
    h->pause = h->pause < PAUSE_MAX ? 2 * h->pause : PAUSE_MAX;
    look_from_now_on(h);
    atomic_store(&h->rests, false);
}

/* Who wants the lock for a moment would not get it from one who gives it back and takes it again.
 */
static bool have_some(struct pe_merge *m)
{
    bool more;

    while (atomic_load(&m->helper.others))
        sched_yield();
    more = pe_merge_help(m);
    if (is_kept_waiting(&m->helper))
        rest(&m->helper);
    return more;
}

/* It has slept until somebody rang, and waited for a processor since. */
static void sleep_until_rung(struct pe_helper *h)
{
    uint64_t begin = pe_helper_now(), rung;

    wait_for_ring(&h->work);
    rung = atomic_load(&h->work.rung);
    h->slept += rung > begin ? rung - begin : 0;
}

/* Who adds batches after it said that it sleeps, rings. Those from before it has once more. */
static void *help(void *user)
{
    struct pe_merge *m = user;
    struct pe_helper *h = &m->helper;

    h->pause = PAUSE_MIN;
    look_from_now_on(h);
    while (!atomic_load(&h->over)) {
        while (have_some(m))
            continue;
        atomic_store(&h->work.sleeps, true);
        while (have_some(m))
            continue;
        sleep_until_rung(h);
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
    sem_init(&h->end, 0, 0);
    return begin_thread(m);
}

/* ---- For whom -------------------------------------------------------------------------------- */

bool pe_helper_is_for(const struct pe_stream *s)
{
    const struct pe_helper *h = &s->merge->helper;

    return atomic_load(&h->wanted) && !atomic_load(&h->rests) && atomic_load(&h->chosen) == s;
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

static bool are_few(const struct pe_batches *b)
{
    return pe_batches_waiting(b) <= PE_BATCHES_FEW && pe_batches_events(b) <= PE_BATCHES_FEW_EVENTS;
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
    sem_post(&h->end);
    pthread_join(h->thread, NULL);
    sem_destroy(&h->work.rings);
    sem_destroy(&h->room.rings);
    sem_destroy(&h->end);
}
