/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A generator of valid sample records: the source of test and benchmark data. It imitates a program
 * with a few hot places: every PC has one operation type, every load site its piece of memory and
 * its chances of a miss, every branch its bias. The same configuration gives the same records on
 * every host and in every build of one version; versions may differ.
 *
 * Nothing is allocated; a struct spe_gen lives where the caller puts it (it is about 24 KB).
 */
#ifndef SPECIMEN_GEN_H
#define SPECIMEN_GEN_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What spe_gen_config.mix counts. */
enum spe_gen_class { SPE_GEN_LOAD, SPE_GEN_STORE, SPE_GEN_BRANCH, SPE_GEN_OTHER, SPE_GEN_CLASSES };

struct spe_gen_config {
    size_t size; /* sizeof(struct spe_gen_config) */
    uint64_t seed;
    spe_features features;           /* records have only what these define */
    const struct spe_cpu *cpu;       /* whose data sources and events; NULL: none in particular */
    const struct spe_layout *layout; /* packets without a place in it are left out; NULL: all */
    uint32_t mix[SPE_GEN_CLASSES];   /* relative weights, not all zero */
    unsigned count_bits;             /* 12 or 16 */
    uint64_t first_timestamp;
    uint32_t period;  /* mean ticks between two records, 1 to 2^30 */
    bool timestamps;  /* records end with a Timestamp, else with End */
    bool physical;    /* loads and stores have a physical address */
    bool context1;    /* CONTEXTIDR_EL1 */
    bool context2;    /* CONTEXTIDR_EL2 */
    bool speculative; /* some operations do not retire */
};

#define SPE_GEN_SITES 64
#define SPE_GEN_REGIONS 16

/* Private. */
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

/* Private. */
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

/* Defaults: seed 1, plain SPE, 40 % loads, 15 % stores, 20 % branches and 25 % others, 12-bit
 * counters, timestamps, physical addresses and CONTEXTIDR_EL1. */
SPE_API void spe_gen_config_init(struct spe_gen_config *config);

/* Zero, or SPE_ERR_INVALID with a sentence about the configuration. The configuration is copied;
 * its CPU and layout have to outlive the generator. */
SPE_API int spe_gen_init(struct spe_gen *g, const struct spe_gen_config *config, char *why,
                         size_t why_size);

/* The next record; there is no last one. */
SPE_API void spe_gen_next(struct spe_gen *g, struct spe_record *record);

#ifdef __cplusplus
}
#endif
#endif
