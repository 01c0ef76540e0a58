/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A generator of valid sample records: the source of test and benchmark data. It imitates a program
 * with a few hot places: every PC has one operation type, every load site its piece of memory and
 * its chances of a miss, every branch its bias. The same configuration gives the same records on
 * every host and in every build of one version; versions may differ.
 *
 * Nothing is allocated: a struct spe_gen lives where the caller puts it.
 */
#ifndef SPECIMEN_GEN_H
#define SPECIMEN_GEN_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations of spe_gen_config.mix. */
enum spe_gen_class { SPE_GEN_LOAD, SPE_GEN_STORE, SPE_GEN_BRANCH, SPE_GEN_OTHER, SPE_GEN_CLASSES };

struct spe_gen_config {
    size_t size; /* written by spe_gen_config_init */
    uint64_t seed;
    spe_features features;           /* records have only packets and values that these define */
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

/* Lives in memory of the caller's: spe_gen_sizeof() bytes, aligned as malloc does it. */
struct spe_gen;

/* What spe_gen_config_init does once the size is known. */
SPE_API void spe_gen_config_default(struct spe_gen_config *config);

/* Defaults: seed 1, plain SPE, 40 % loads, 15 % stores, 20 % branches and 25 % others, 12-bit
 * counters, timestamps, physical addresses and CONTEXTIDR_EL1. */
static inline void spe_gen_config_init(struct spe_gen_config *config)
{
    config->size = sizeof(*config);
    spe_gen_config_default(config);
}

/* Bytes that one takes. */
SPE_API size_t spe_gen_sizeof(void);

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
