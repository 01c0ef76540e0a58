/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The system counter. QEMU derives it from the host's monotonic clock, minus the time that the
 * machine stood still; a plugin cannot read it. But it sees what the guest reads, and remembers
 * the distance to the host's clock.
 */
#include <time.h>

#include "qemu/device.h"

/* QEMU's counter until the guest has told its frequency. */
#define DEFAULT_FREQUENCY UINT64_C(1000000000)

/* As QEMU does it: a tick takes whole nanoseconds, at least one. So at 24 MHz it takes 41, and the
 * guest's counter is 1.6 % too fast; a time that counts 24 million a second is not the guest's. */
uint64_t device_ticks(uint64_t nanoseconds, uint64_t frequency)
{
    if (frequency == 0 || frequency > DEFAULT_FREQUENCY)
        frequency = DEFAULT_FREQUENCY;
    return nanoseconds / (UINT64_C(1000000000) / frequency);
}

static uint64_t host_count(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return device_ticks((uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec,
                        device_read(REG_CNTFRQ_EL0));
}

uint64_t device_count(void *user)
{
    (void)user;
    return host_count() - (uint64_t)atomic_load_explicit(&device.time_offset, memory_order_relaxed);
}

/*
 * The host's clock was read later than the guest's, so that the smallest distance is the truest;
 * unless it has grown by much: then the machine stood still in between.
 */
void device_count_seen(uint64_t count)
{
    long long seen = (long long)(host_count() - count);
    long long known = atomic_load(&device.time_offset);
    long long much = 20000000;

    if (!atomic_load(&device.time_known) || seen < known || seen - known > much) {
        atomic_store(&device.time_offset, seen);
        atomic_store(&device.time_known, true);
    }
}
