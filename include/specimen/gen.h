/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A generator of valid sample records for tests and benchmarks. It imitates a program with a few
 * hot places: every PC has one operation type, every load has its own memory and miss rate, and
 * every branch has its own bias. The same configuration gives the same records on every host and in
 * every build of one version; versions may differ.
 *
 * Nothing is allocated: the caller provides the memory of a struct spe_gen.
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
    spe_features features;     /* records have only packets and values that these features define */
    const struct spe_cpu *cpu; /* its data sources and events are used; NULL: no particular CPU */
    const struct spe_layout *layout; /* packets without a slot are omitted; NULL: none are */
    uint32_t mix[SPE_GEN_CLASSES];   /* relative weights, not all zero */
    unsigned count_bits;             /* 12 or 16 */
    uint64_t first_timestamp;
    uint32_t period;  /* mean ticks between two records, from 1 to 2^30 */
    bool timestamps;  /* records end with a Timestamp, else with End */
    bool physical;    /* loads and stores have a physical address */
    bool context1;    /* CONTEXTIDR_EL1 */
    bool context2;    /* CONTEXTIDR_EL2 */
    bool speculative; /* some operations do not retire */
};

/* The caller provides spe_gen_sizeof() bytes of memory, aligned as by malloc. */
struct spe_gen;

/* Called by spe_gen_config_init after it has set the size. */
SPE_API void spe_gen_config_default(struct spe_gen_config *config);

/* Defaults: seed 1, plain SPE, 40 % loads, 15 % stores, 20 % branches and 25 % others, 12-bit
 * counters, timestamps, physical addresses and CONTEXTIDR_EL1. */
static inline void spe_gen_config_init(struct spe_gen_config *config)
{
    config->size = sizeof(*config);
    spe_gen_config_default(config);
}

/* The size in bytes. */
SPE_API size_t spe_gen_sizeof(void);

/* Zero, or SPE_ERR_INVALID with a sentence in `why`. The configuration is copied; its CPU and
 * layout must outlive the generator. */
SPE_API int spe_gen_init(struct spe_gen *g, const struct spe_gen_config *config, char *why,
                         size_t why_size);

/* Get the next record. The sequence never ends. */
SPE_API void spe_gen_next(struct spe_gen *g, struct spe_record *record);

#ifdef __cplusplus
}
#endif
#endif
