/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the Linux kernel does with a unit for `perf record`: it turns an event's attributes into
 * registers, gives the unit a buffer, and empties the buffer on the interrupt. It uses MSR and MRS
 * only.
 */
#ifndef QEMU_DRIVER_H
#define QEMU_DRIVER_H

#include <specimen/spu.h>

/* An event's attributes, as in struct perf_event_attr. */
struct driver_event {
    uint64_t config, config1, config2, config3, config4, period;
};

/* What was in the buffer at an interrupt or stop. */
struct driver_data {
    uint64_t size;  /* bytes of whole records from the buffer's start */
    unsigned flags; /* PERF_AUX_FLAG_... */
    bool fatal;     /* the event was none that goes with more profiling */
};

enum { DRIVER_TRUNCATED = 1, DRIVER_PARTIAL = 4, DRIVER_COLLISION = 8 };

/* The interval that PMSIRR_EL1 gets for a period: a multiple of 256 from 256 to 0xffffff00. */
static inline uint64_t driver_interval(uint64_t period)
{
    const uint64_t max = 0xffffff00;

    period = period < 256 ? 256 : period;
    return period > max ? max : period & max;
}

/* Start profiling EL0 for the thread whose CONTEXTIDR_EL1 is `context`, into `size` bytes at
 * `base`, a page's start. */
void driver_start(struct spe_spu *spu, const struct driver_event *event, uint64_t base,
                  uint64_t size, uint32_t context);

/* Interrupt, or a wish to see the data early: report the data so far. driver_resume then begins
 * again at the buffer's start. */
void driver_collect(struct spe_spu *spu, uint64_t base, struct driver_data *data);
void driver_resume(struct spe_spu *spu, uint64_t base, uint64_t size);

#endif
