/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Small numbers for threads: each gets the lowest that no other thread of the process has. */
#ifndef QEMU_SLOTS_H
#define QEMU_SLOTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SLOTS_NONE UINT32_MAX

uint32_t slots_take(void); /* SLOTS_NONE if all are taken */
void slots_give(uint32_t slot);
void slots_reset(void); /* a forked child has no other threads */

/* Threads share the machine's cpus: make a lock for each. */
bool slots_share_cpus(unsigned cpus);
bool slots_are_shared(void);
pthread_mutex_t *slots_cpu_lock(unsigned cpu); /* NULL if they do not */

#endif
