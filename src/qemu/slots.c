/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/slots.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t taken[SLOTS_MAX / 64];
static struct {
    pthread_mutex_t mutex;
} * cpu_locks;

uint32_t slots_take(void)
{
    uint32_t slot = 0;

    pthread_mutex_lock(&lock);
    while (slot < SLOTS_MAX && (taken[slot / 64] >> slot % 64 & 1))
        slot++;
    if (slot < SLOTS_MAX)
        taken[slot / 64] |= UINT64_C(1) << slot % 64;
    else
        slot = SLOTS_NONE;
    pthread_mutex_unlock(&lock);
    return slot;
}

void slots_give(uint32_t slot)
{
    pthread_mutex_lock(&lock);
    taken[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    pthread_mutex_unlock(&lock);
}

void slots_reset(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(taken, 0, sizeof(taken));
}

bool slots_share_cpus(unsigned cpus)
{
    cpu_locks = calloc(cpus, sizeof(*cpu_locks));
    for (unsigned i = 0; cpu_locks && i < cpus; i++)
        pthread_mutex_init(&cpu_locks[i].mutex, NULL);
    return cpu_locks != NULL;
}

bool slots_are_shared(void)
{
    return cpu_locks != NULL;
}

pthread_mutex_t *slots_cpu_lock(unsigned cpu)
{
    return cpu_locks ? &cpu_locks[cpu].mutex : NULL;
}
