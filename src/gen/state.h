/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What a generator keeps. Callers of the library see none of it, so that it can change. */
#ifndef GEN_STATE_H
#define GEN_STATE_H

#include <specimen/gen.h>

#define SPE_GEN_SITES 64
#define SPE_GEN_REGIONS 16

struct spe_gen_site {
    uint64_t pc;     /* Address payload */
    uint64_t target; /* likewise, of a branch */
    uint32_t stride; /* bytes from one access to the next; 0: anywhere in the region */
    uint16_t likely; /* of 1024: a branch is mispredicted, a load or store misses */
    uint16_t taken;  /* of 1024 */
    uint8_t op, kind, region, flags;
};

struct spe_gen_region {
    uint64_t base, mask, position;
};

struct spe_gen {
    struct spe_gen_config config;
    uint64_t state[4]; /* of the random numbers */
    uint64_t time, previous_target;
    uint64_t events; /* that may be set */
    uint64_t cpu_events;
    uint32_t addresses, counters, has; /* packets that have a place */
    uint32_t limit[SPE_GEN_CLASSES];   /* of the number that picks a class, ascending */
    uint32_t context, context_left;
    uint16_t source[SPE_LEVEL_COUNT];
    struct spe_gen_region region[SPE_GEN_REGIONS];
    struct spe_gen_site site[SPE_GEN_CLASSES][SPE_GEN_SITES];
};

#endif
