/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A unit that is ready to sample, and a host that counts PMU events, tells the time and keeps what
 * is written to the Profiling Buffer. Everything goes through the public interface, and records are
 * read back from the bytes that were written.
 */
#ifndef TESTS_SUPPORT_SAMPLING_UNIT_H
#define TESTS_SUPPORT_SAMPLING_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/spu.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n) (UINT64_C(1) << (n))

/* Feature lists without a version and what hangs on it. */
#define ALL "all"
#define NO_V1P5 ALL ",-v1p5,-spe_exc"
#define NO_V1P4 NO_V1P5 ",-v1p4,-spe_fds,-spe_crr,-gcs"
#define NO_V1P3 NO_V1P4 ",-v1p3"
#define NO_V1P2 NO_V1P3 ",-v1p2,-spe_fne,-spe_pbt,-spe_dpfzs"
#define NO_V1P1 NO_V1P2 ",-v1p1,-spe_sme"
#define NO_EFT ",-spe_eft,-spe_fpf"
#define MICRO_OPS ",-spe_archinst"

#define BUFFER_BASE UINT64_C(0x10000)
#define BUFFER_SIZE 8192

static const unsigned bench_pmu_events[] = {
    SPE_PMU_SAMPLE_POP,       SPE_PMU_SAMPLE_FEED,       SPE_PMU_SAMPLE_FILTRATE,
    SPE_PMU_SAMPLE_COLLISION, SPE_PMU_SAMPLE_FEED_DS,    SPE_PMU_SAMPLE_BUFFER_FULL,
    SPE_PMU_SAMPLE_FEED_BR,   SPE_PMU_SAMPLE_FEED_LD,    SPE_PMU_SAMPLE_FEED_ST,
    SPE_PMU_SAMPLE_FEED_OP,   SPE_PMU_SAMPLE_FEED_EVENT, SPE_PMU_SAMPLE_FEED_LAT,
    SPE_PMU_SAMPLE_FEED_FP,   SPE_PMU_SAMPLE_FEED_SIMD,
};

struct bench {
    struct spe_spu *spu;
    struct spe_spu_config config;
    struct spe_pe_state pe; /* change it, then bench_pe */
    uint64_t now;           /* PhysicalCountInt() */
    uint64_t flight_time;   /* that passes between selection and the end of an operation */
    uint64_t pmu[COUNT(bench_pmu_events)];
    unsigned wakes;
    const uint8_t *random; /* for rng_kind user: bytes that come round and round */
    size_t random_size, random_at;
    unsigned random_drawn;
    uint8_t memory[BUFFER_SIZE];
    uint64_t written;
    bool faults; /* every write has a Translation fault */

    int fate; /* of the last sample */
    size_t size;
    struct spe_record record; /* valid if it was written */
    struct spe_op type;
};

/* ---- Host ----------------------------------------------------------------------------------- */

static inline void bench_on_write(void *user, const struct spe_write *write,
                                  struct spe_write_result *result)
{
    struct bench *b = user;

    if (b->faults) {
        result->fault = SPE_FAULT_TRANSLATION;
        return;
    }
    assert_in_range(write->address, BUFFER_BASE, BUFFER_BASE + BUFFER_SIZE - write->size);
    memcpy(b->memory + (write->address - BUFFER_BASE), write->data, write->size);
    b->written += write->size;
    result->written = write->size;
}

static inline uint64_t bench_on_count(void *user)
{
    return ((struct bench *)user)->now;
}

static inline uint8_t bench_on_random(void *user)
{
    struct bench *b = user;

    b->random_drawn++;
    return b->random[b->random_at++ % b->random_size];
}

static inline void bench_on_wake(void *user)
{
    ((struct bench *)user)->wakes++;
}

static inline void bench_on_pmu(void *user, unsigned event, uint64_t count)
{
    struct bench *b = user;

    for (size_t i = 0; i < COUNT(bench_pmu_events); i++)
        if (bench_pmu_events[i] == event)
            b->pmu[i] += count;
}

static inline uint64_t bench_pmu(const struct bench *b, unsigned event)
{
    for (size_t i = 0; i < COUNT(bench_pmu_events); i++)
        if (bench_pmu_events[i] == event)
            return b->pmu[i];
    fail_msg("event 0x%x is not counted", event);
    return 0;
}

/* ---- Life ----------------------------------------------------------------------------------- */

/* Set options from "name=value name=value"; a value that is refused fails the test. */
static inline void bench_options(struct spe_spu_config *config, const char *options)
{
    char text[512], why[256] = "", *save = NULL;

    assert_true(strlen(options) < sizeof(text));
    strcpy(text, options);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');

        assert_non_null(equals);
        *equals = 0;
        if (spe_spu_option_set(config, word, equals + 1, why, sizeof(why)) != SPE_OK)
            fail_msg("%s=%s: %s", word, equals + 1, why);
    }
}

static inline void bench_config(struct spe_spu_config *config, const char *features,
                                const char *options)
{
    spe_features set = 0;
    char why[256] = "";

    assert_int_equal(spe_spu_config_init(config, "architecture"), SPE_OK);
    if (spe_features_parse(features, &set, why, sizeof(why)) != SPE_OK)
        fail_msg("%s: %s", features, why);
    spe_spu_config_features(config, set);
    config->max_size = 256;
    bench_options(config, options);
}

static inline int bench_create(struct bench *b, const char *features, const char *options,
                               char *why, size_t why_size)
{
    struct spe_spu_host host = {
        .size = sizeof(host),
        .user = b,
        .write = bench_on_write,
        .physical_count = bench_on_count,
        .random_byte = bench_on_random,
        .wake = bench_on_wake,
        .pmu_event = bench_on_pmu,
    };

    memset(b, 0, sizeof(*b));
    bench_config(&b->config, features, options);
    return spe_spu_create(&b->config, &host, &b->spu, why, why_size);
}

static inline void bench_set(struct bench *b, enum spe_register reg, uint64_t value)
{
    spe_spu_reg_set(b->spu, reg, value);
}

static inline uint64_t bench_get(const struct bench *b, enum spe_register reg)
{
    return spe_spu_reg_get(b->spu, reg);
}

static inline void bench_pe(struct bench *b)
{
    spe_spu_set_pe(b->spu, &b->pe);
}

#define PMSCR_ON 0x13 /* EL1 and EL0, physical addresses */

/* Profiling on at EL0 and EL1, which own the buffer; physical addresses allowed, interval 1. */
static inline void bench_open(struct bench *b, const char *features, const char *options)
{
    char why[256] = "";

    if (bench_create(b, features, options, why, sizeof(why)) != SPE_OK)
        fail_msg("%s %s: %s", features, options, why);
    spe_spu_get_pe(b->spu, &b->pe);
    bench_set(b, SPE_REG_PMSIRR_EL1, 0x100);
    bench_set(b, SPE_REG_PMSCR_EL1, PMSCR_ON);
    bench_set(b, SPE_REG_PMSCR_EL2, 0x10);
    bench_set(b, SPE_REG_PMBPTR_EL1, BUFFER_BASE);
    bench_set(b, SPE_REG_PMBLIMITR_EL1, (BUFFER_BASE + BUFFER_SIZE) | 1);
    assert_true(spe_spu_status(b->spu)->enabled);
}

static inline void bench_close(struct bench *b)
{
    spe_spu_destroy(b->spu);
    b->spu = NULL;
}

/* ---- Samples -------------------------------------------------------------------------------- */

static inline void bench_on_violation(void *user, const struct spe_violation *v)
{
    unsigned *violations = user;

    if (v->severity != SPE_VIOLATION)
        return;
    print_error("%s: %s %s\n", v->rule->name, v->rule->sentence, v->detail);
    ++*violations;
}

/* Read the record back; every one must be valid under the unit's features. */
static inline void bench_read(struct bench *b)
{
    struct spe_check_config check = {
        .size = sizeof(check),
        .features = b->config.features,
        .count_bits = b->config.count_size,
        .max_size = b->config.max_size,
        .speculative = b->config.spec_sampling,
        .tbi = true,
    };
    size_t size = bench_get(b, SPE_REG_PMBPTR_EL1) - BUFFER_BASE;
    unsigned violations = 0;

    assert_int_equal(spe_record_decode(b->memory, size, &b->record), (int)size);
    spe_check_record(&check, b->memory, size, 0, bench_on_violation, &violations);
    assert_int_equal(violations, 0);
    spe_op_decode(b->record.op_class, b->record.op, &b->type);
    b->size = size;
}

/* The next member is sampled: select it. */
static inline void bench_select(struct bench *b)
{
    bench_set(b, SPE_REG_PMSICR_EL1, 1);
    assert_int_equal(spe_spu_step(b->spu, 0), 1);
}

/* An operation that has been selected ends. */
static inline int bench_finish(struct bench *b, const struct spe_operation *op)
{
    bench_set(b, SPE_REG_PMBPTR_EL1, BUFFER_BASE);
    memset(&b->record, 0, sizeof(b->record));
    memset(&b->type, 0, sizeof(b->type));
    b->now += b->flight_time;
    b->fate = spe_spu_sample(b->spu, op);
    if (b->fate == SPE_FATE_WRITTEN)
        bench_read(b);
    return b->fate;
}

static inline int bench_sample(struct bench *b, const struct spe_operation *op)
{
    bench_select(b);
    return bench_finish(b, op);
}

/* A sample that must be written. */
static inline const struct spe_record *bench_record(struct bench *b, const struct spe_operation *op)
{
    assert_int_equal(bench_sample(b, op), SPE_FATE_WRITTEN);
    return &b->record;
}

static inline bool has_address(const struct bench *b, unsigned index)
{
    return spe_record_has_address(&b->record, index);
}

static inline bool has_counter(const struct bench *b, unsigned index)
{
    return spe_record_has_counter(&b->record, index);
}

/* Bits [55:0] of an address that must be there. */
static inline uint64_t address_of(const struct bench *b, unsigned index)
{
    assert_true(has_address(b, index));
    return b->record.address[index] & (UINT64_MAX >> 8);
}

static inline unsigned counter_of(const struct bench *b, unsigned index)
{
    assert_true(has_counter(b, index));
    return b->record.counter[index];
}

static inline bool event(const struct bench *b, unsigned number)
{
    return b->record.events >> number & 1;
}

/* Types of the operation for the filter, as PMSFCR_EL1.TYPE numbers them: a sample is kept by
 * FEAT_SPE_EFT's exact match of one type only if it has that type. */
enum { TYPE_B = 1, TYPE_LD = 2, TYPE_ST = 4, TYPE_FP = 8, TYPE_SIMD = 16 };

static inline unsigned bench_types(struct bench *b, const struct spe_operation *op)
{
    unsigned types = 0;

    for (unsigned bit = 1; bit < 32; bit <<= 1) {
        bench_set(b, SPE_REG_PMSFCR_EL1, (uint64_t)bit << 48 | (uint64_t)bit << 16 | 2);
        types |= bench_sample(b, op) == SPE_FATE_WRITTEN ? bit : 0;
    }
    bench_set(b, SPE_REG_PMSFCR_EL1, 0);
    return types;
}

/* Is the operation kept when only loads, or whatever types, are asked for? */
static inline bool bench_keeps(struct bench *b, const struct spe_operation *op, unsigned types)
{
    bool kept;

    bench_set(b, SPE_REG_PMSFCR_EL1, (uint64_t)types << 16 | 2);
    kept = bench_sample(b, op) == SPE_FATE_WRITTEN;
    bench_set(b, SPE_REG_PMSFCR_EL1, 0);
    return kept;
}

/* ---- Operations ----------------------------------------------------------------------------- */

static inline struct spe_operation operation(enum spe_operation_kind kind)
{
    struct spe_operation op;

    spe_operation_init(&op, kind);
    op.pc = 0x400000;
    op.issue_cycles = 3;
    op.execute_cycles = 5;
    return op;
}

/* A hit in everything. */
static inline struct spe_memory_access access_at(uint64_t va)
{
    return (struct spe_memory_access){
        .va = va,
        .pa = va + 0x80000000,
        .bytes = 8,
        .facts = SPE_FACT_L1D_ACCESS | SPE_FACT_TLB_ACCESS,
        .has_source = true,
        .pas = SPE_NONSECURE,
    };
}

/* A load of general-purpose registers, or another kind, with these accesses. */
static inline struct spe_operation access_operation(enum spe_operation_kind kind,
                                                    const struct spe_memory_access *accesses,
                                                    uint32_t count)
{
    struct spe_operation op = operation(kind);

    op.accesses = accesses;
    op.access_count = count;
    return op;
}

#endif
