/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The table of options, and what its rows are to the files that use it: options_text.c turns text
 * to values and back, config.c gives defaults and refuses what no implementation may have.
 */
#ifndef SPECIMEN_SPU_OPTIONS_H
#define SPECIMEN_SPU_OPTIONS_H

#include "spu_internal.h"

enum kind {
    KIND_WORD,     /* one of `words`, stored as its index; `high` is the set of permitted ones */
    KIND_ONE_OF,   /* one of `words`, stored as the number it is, or 0 */
    KIND_NUMBER,   /* low to high; words[0], if any, is 0 */
    KIND_POWER,    /* a power of two, low to high; words[0], if any, is 0 */
    KIND_MASK,     /* bits within high */
    KIND_SET,      /* any of words[2...]; words[0] is none of them, words[1] all */
    KIND_INDEXES,  /* a set of INDEXes within high */
    KIND_FEATURE,  /* one of two words, stored as feature `low`; high: word 0 is the feature */
    KIND_FEATURES, /* the whole set */
    KIND_LAYOUT,
    KIND_STORE_EVENTS,
    KIND_SOURCE_MAP,
};

struct spu_option {
    struct spe_option option;
    const char *const *words; /* ends with NULL */
    uint64_t low, high, initial;
    uint16_t offset;
    uint8_t width, kind;
};

/* IMPLEMENTATION DEFINED events, and all that PMSEVFR_EL1 need not filter on. */
#define EVENTS_IMPDEF UINT64_C(0xffff0000ff00f000)
#define EVENTS_OPTIONAL (EVENTS_IMPDEF | UINT64_C(0x714))

extern const struct spu_option spu_options[];
extern const size_t spu_option_count;

const struct spu_option *spu_option_find(const char *name); /* NULL: there is none */
size_t spu_option_words(const struct spu_option *o);        /* how many words it has */

/* The value in the configuration, for the kinds that have one number. */
uint64_t spu_option_load(const struct spu_option *o, const struct spe_spu_config *config);
void spu_option_store(const struct spu_option *o, struct spe_spu_config *config, uint64_t value);

/* May the option hold this value, looked at alone? */
bool spu_option_permits(const struct spu_option *o, uint64_t value);

/* store_cache_events: the same choice for every event that has one. */
void spu_store_events_fill(struct spe_spu_config *config, uint8_t choice);

#endif
