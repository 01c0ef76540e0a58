/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A unit under test and a host that remembers what it was told. */
#ifndef TESTS_SUPPORT_SPU_UNIT_H
#define TESTS_SUPPORT_SPU_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/spu.h>

#include "spu/spu_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n) (UINT64_C(1) << (n))

struct unit {
    struct spe_spu *spu;
    struct spe_pe_state pe; /* change it, then unit_pe */
    bool irq;
    unsigned irq_edges;
    unsigned exceptions;
    struct spe_exception exception;
    unsigned events;
    struct spe_management_event event;
    bool stopped_at_event, irq_at_event; /* what the unit said then */
    unsigned full, collisions;           /* PMU events */
};

static inline void unit_on_interrupt(void *user, bool level)
{
    struct unit *u = user;

    u->irq = level;
    u->irq_edges++;
}

static inline void unit_on_exception(void *user, const struct spe_exception *exception)
{
    struct unit *u = user;

    u->exception = *exception;
    u->exceptions++;
}

static inline void unit_on_event(void *user, const struct spe_management_event *event)
{
    struct unit *u = user;

    u->event = *event;
    u->events++;
    u->stopped_at_event = spe_spu_status(u->spu)->stopped;
    u->irq_at_event = u->irq;
}

static inline void unit_on_pmu(void *user, unsigned event, uint64_t count)
{
    struct unit *u = user;

    u->full += event == SPE_PMU_SAMPLE_BUFFER_FULL ? (unsigned)count : 0;
    u->collisions += event == SPE_PMU_SAMPLE_COLLISION ? (unsigned)count : 0;
}

/* The features of a list such as "all,-rme". */
static inline spe_features unit_features(const char *list)
{
    spe_features set = 0;
    char why[128];

    assert_int_equal(spe_features_parse(list, &set, why, sizeof(why)), SPE_OK);
    return set;
}

/* The pseudocode's choices with these features; change it and make a unit of it. */
static inline void unit_config(struct spe_spu_config *config, const char *features)
{
    assert_int_equal(spe_spu_config_init(config, "architecture"), SPE_OK);
    spe_spu_config_features(config, unit_features(features));
}

static inline void unit_create(struct unit *u, const struct spe_spu_config *config)
{
    struct spe_spu_host host = {
        .size = sizeof(host),
        .user = u,
        .interrupt = unit_on_interrupt,
        .exception = unit_on_exception,
        .management_event = unit_on_event,
        .pmu_event = unit_on_pmu,
    };
    char why[256] = "";

    memset(u, 0, sizeof(*u));
    if (spe_spu_create(config, &host, &u->spu, why, sizeof(why)) != SPE_OK)
        fail_msg("no unit: %s", why);
    spe_spu_get_pe(u->spu, &u->pe);
}

static inline void unit_with(struct unit *u, const char *features)
{
    struct spe_spu_config config;

    unit_config(&config, features);
    unit_create(u, &config);
}

static inline void unit_destroy(struct unit *u)
{
    spe_spu_destroy(u->spu);
    u->spu = NULL;
}

static inline void unit_pe(struct unit *u)
{
    spe_spu_set_pe(u->spu, &u->pe);
}

static inline void unit_put(uint64_t *word, unsigned low, unsigned bits, uint64_t value)
{
    uint64_t mask = (~UINT64_C(0) >> (64 - bits)) << low;

    *word = (*word & ~mask) | (value << low & mask);
}

static inline uint64_t unit_get(const struct unit *u, enum spe_register reg)
{
    return spe_spu_reg_get(u->spu, reg);
}

static inline void unit_set(struct unit *u, enum spe_register reg, uint64_t value)
{
    spe_spu_reg_set(u->spu, reg, value);
}

/* Change some bits of a register. */
static inline void unit_field(struct unit *u, enum spe_register reg, unsigned low, unsigned bits,
                              uint64_t value)
{
    uint64_t word = unit_get(u, reg);

    unit_put(&word, low, bits, value);
    unit_set(u, reg, word);
}

/* PMBSR_ELx by x. */
static inline enum spe_register unit_pmbsr(unsigned x)
{
    return x == 3 ? SPE_REG_PMBSR_EL3 : x == 2 ? SPE_REG_PMBSR_EL2 : SPE_REG_PMBSR_EL1;
}

/* Does a number match a pattern of the manual's tables? "01", "0X", "XX", "!00". */
static inline bool unit_matches(const char *pattern, unsigned value)
{
    bool negated = pattern[0] == '!';
    const char *digits = pattern + negated;
    size_t length = strlen(digits);
    bool match = true;

    for (size_t i = 0; i < length; i++)
        match &= digits[i] == 'X' || (unsigned)(digits[i] - '0') == (value >> (length - 1 - i) & 1);
    return match != negated;
}

#endif
