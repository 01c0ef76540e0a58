/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The unit as a whole, through its public functions only: life, PE state, the way of a sample from
 * the operation to the buffer, what an event stops, and the accounts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/spu.h>

#include "format/state.h"
#include "support/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- A host --------------------------------------------------------------------------------- */

#define BASE UINT64_C(0x40000000)
#define SIZE 0x8000
#define LIMIT (BASE + SIZE)
#define NOWHERE UINT64_MAX

struct rig {
    struct spe_spu *spu;
    struct spe_spu_config config;
    uint8_t memory[SIZE];
    uint64_t fault_at, time;
    struct spe_write_result answer;
    unsigned feed, filtrate, pop, full, cti, notices, edges, exceptions, writes;
    bool irq;
    uint8_t event_el;
};

static void write_memory(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct rig *rig = user;

    rig->writes++;
    for (uint32_t i = 0; i < w->size; i++) {
        if (w->address + i >= rig->fault_at) {
            *result = rig->answer;
            result->written = i;
            return;
        }
        assert_in_range(w->address + i, BASE, LIMIT - 1); /* D17.8-010 */
        rig->memory[w->address + i - BASE] = w->data[i];
    }
    result->written = w->size;
}

static uint64_t physical_count(void *user)
{
    return ((struct rig *)user)->time;
}

static void note_pmu(void *user, unsigned event, uint64_t count)
{
    struct rig *rig = user;

    rig->feed += event == SPE_PMU_SAMPLE_FEED ? (unsigned)count : 0;
    rig->filtrate += event == SPE_PMU_SAMPLE_FILTRATE ? (unsigned)count : 0;
    rig->pop += event == SPE_PMU_SAMPLE_POP ? (unsigned)count : 0;
    rig->full += event == SPE_PMU_SAMPLE_BUFFER_FULL ? (unsigned)count : 0;
}

static void note_cti(void *user, unsigned trigger)
{
    ((struct rig *)user)->cti += trigger == SPE_CTI_TRIGGER;
}

static void note_record(void *user, const struct spe_record_notice *notice)
{
    (void)notice;
    ((struct rig *)user)->notices++;
}

static void note_irq(void *user, bool level)
{
    struct rig *rig = user;

    assert_int_not_equal(level, rig->irq); /* edges only */
    rig->irq = level;
    rig->edges++;
}

static void note_exception(void *user, const struct spe_exception *e)
{
    (void)e;
    ((struct rig *)user)->exceptions++;
}

static void note_event(void *user, const struct spe_management_event *event)
{
    ((struct rig *)user)->event_el = event->is_new ? event->el : 0;
}

static uint8_t one(void *user)
{
    (void)user;
    return 1;
}

static struct spe_spu_host host_of(struct rig *rig)
{
    return (struct spe_spu_host){
        .size = sizeof(struct spe_spu_host),
        .user = rig,
        .write = write_memory,
        .physical_count = physical_count,
        .random_byte = one,
        .interrupt = note_irq,
        .pmu_event = note_pmu,
        .cti_trigger = note_cti,
        .exception = note_exception,
        .management_event = note_event,
        .record = note_record,
    };
}

static void configure(struct rig *rig, const char *preset, const char *const *settings)
{
    char why[200] = "";

    memset(rig, 0, sizeof(*rig));
    rig->fault_at = NOWHERE;
    assert_int_equal(spe_spu_config_init(&rig->config, preset), SPE_OK);
    for (; settings && *settings; settings += 2)
        if (spe_spu_option_set(&rig->config, settings[0], settings[1], why, sizeof(why)))
            fail_msg("%s %s: %s", settings[0], settings[1], why);
}

static void enable(struct rig *rig)
{
    spe_spu_reg_set(rig->spu, SPE_REG_PMBPTR_EL1, BASE);
    spe_spu_reg_set(rig->spu, SPE_REG_PMSIRR_EL1, 1 << 8);
    spe_spu_reg_set(rig->spu, SPE_REG_PMSICR_EL1, 0);
    spe_spu_reg_set(rig->spu, SPE_REG_PMSCR_EL1, 0x3b);
    spe_spu_reg_set(rig->spu, SPE_REG_PMSCR_EL2, 0x18);
    spe_spu_reg_set(rig->spu, SPE_REG_PMBLIMITR_EL1, LIMIT | 1);
}

static void create(struct rig *rig)
{
    const struct spe_spu_host host = host_of(rig);
    char why[200] = "";

    if (spe_spu_create(&rig->config, &host, &rig->spu, why, sizeof(why)))
        fail_msg("create: %s", why);
    enable(rig);
}

#define START(rig, preset, ...)                                                                    \
    do {                                                                                           \
        static const char *const settings_[] = {__VA_ARGS__};                                      \
        configure(rig, preset, settings_);                                                         \
        create(rig);                                                                               \
    } while (0)

static void stop(struct rig *rig)
{
    spe_spu_destroy(rig->spu);
}

/* Run up to the next sample; its number. */
static int next_sample(struct rig *rig)
{
    for (unsigned i = 0; i < 600; i++) {
        int number;

        assert_int_equal(spe_spu_advance(rig->spu, spe_spu_budget(rig->spu)), SPE_OK);
        number = spe_spu_step(rig->spu, 0);
        if (number > 0)
            return number;
    }
    fail_msg("no sample");
    return 0;
}

static int sample(struct rig *rig)
{
    struct spe_operation op;

    spe_operation_init(&op, SPE_OPERATION_OTHER);
    op.pc = 0x1000;
    op.execute_cycles = 10;
    next_sample(rig);
    return spe_spu_sample(rig->spu, &op);
}

static struct spe_spu_stats stats_of(const struct rig *rig)
{
    struct spe_spu_stats s;

    spe_spu_stats(rig->spu, &s);
    return s;
}

/* sampled = in flight + dropped + all fates; bytes built = written + discarded, by cause. */
static void check_accounts(const struct rig *rig)
{
    struct spe_spu_stats s = stats_of(rig);
    uint64_t fates = 0, discarded = 0;

    for (unsigned f = 0; f < SPE_FATE_COUNT; f++) {
        fates += s.fate[f];
        discarded += s.bytes_discarded_by[f];
    }
    assert_int_equal(s.selected, s.collisions + s.sampled);
    assert_int_equal(s.sampled, spe_spu_in_flight(rig->spu) + s.dropped + fates);
    assert_int_equal(s.bytes_discarded, discarded);
    assert_int_equal(s.bytes_built, s.bytes_written + s.bytes_discarded);
    assert_int_equal(s.records, s.fate[SPE_FATE_WRITTEN]);
}

/* ---- Life ----------------------------------------------------------------------------------- */

static void test_create_refuses(void **state)
{
    struct rig rig;
    struct spe_spu_host host;
    struct spe_spu *spu = NULL;
    char why[200] = "";

    (void)state;
    configure(&rig, NULL, NULL);
    host = host_of(&rig);
    host.size = 0;
    assert_int_equal(spe_spu_create(&rig.config, &host, &spu, why, sizeof(why)), SPE_ERR_INVALID);
    assert_string_not_equal(why, "");
    host = host_of(&rig);
    host.random_byte = NULL;
    rig.config.rng_kind = SPE_RNG_USER;
    why[0] = '\0';
    assert_int_equal(spe_spu_create(&rig.config, &host, &spu, why, sizeof(why)), SPE_ERR_INVALID);
    assert_non_null(strstr(why, "random_byte"));
    assert_int_equal(spe_spu_create(&rig.config, NULL, &spu, NULL, 0), SPE_ERR_INVALID);
    rig.config.rng_kind = SPE_RNG_LFSR;
    rig.config.max_size = 65;
    assert_int_equal(spe_spu_create(&rig.config, NULL, &spu, why, sizeof(why)), SPE_ERR_INVALID);
    assert_non_null(strstr(why, "max_size"));
    assert_null(spu);
    spe_spu_destroy(NULL);
}

static void test_names(void **state)
{
    (void)state;
    for (unsigned f = 0; f < SPE_FATE_COUNT; f++)
        for (unsigned g = 0; g < f; g++)
            assert_string_not_equal(spe_sample_fate_name(f), spe_sample_fate_name(g));
    assert_string_equal(spe_sample_fate_name(SPE_FATE_WRITTEN), "written");
    assert_string_equal(spe_sample_fate_name(SPE_FATE_COUNT), "unknown");
}

/* The plain PE state: nothing is trapped at EL1, EL1 owns the buffer, Non-secure. */
static void test_plain_pe_state(void **state)
{
    struct spe_pe_state pe;
    struct spe_register_access access;
    struct rig rig;

    (void)state;
    START(&rig, NULL, NULL);
    spe_spu_get_pe(rig.spu, &pe);
    assert_int_equal(pe.el, 0);
    assert_true(spe_spu_status(rig.spu)->enabled);
    assert_true(spe_spu_status(rig.spu)->el2_enabled);
    assert_int_equal(spe_spu_status(rig.spu)->owner_el, 1);
    assert_int_equal(spe_spu_status(rig.spu)->owner_security, SPE_NONSECURE);
    spe_pe_state_init(&pe);
    assert_true(pe.counter_enabled);
    /* NS, RW, EEL2, FGTEn, ECVEn, FGTEn2; NSPB, EnPMSN, EnPMS3, EnPMS4; E2PB */
    assert_int_equal(pe.scr_el3, UINT64_C(0x0800000018040401));
    assert_int_equal(pe.mdcr_el3, UINT64_C(0x0080041000003000));
    assert_int_equal(pe.mdcr_el2, 0x3000);
    pe.el = 1;
    spe_spu_set_pe(rig.spu, &pe);
    for (unsigned reg = SPE_REG_PMSCR_EL1; reg <= SPE_REG_PMBIDR_EL1; reg++) {
        assert_int_equal(spe_spu_read(rig.spu, (unsigned)spe_register_encoding(reg), 0, &access),
                         SPE_OK);
        assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
    }
    stop(&rig);
}

/* An older caller's PE state is shorter: what it lacks is as in the plain state. */
static void test_short_pe_state(void **state)
{
    struct spe_spu_config config;
    struct spe_pe_state pe;
    struct rig rig;

    (void)state;
    START(&rig, NULL, NULL);
    spe_spu_get_pe(rig.spu, &pe);
    pe.el = 7; /* there is no such level: two bits are taken */
    pe.contextidr_el2 = 77;
    pe.size = offsetof(struct spe_pe_state, contextidr_el2);
    assert_int_equal(spe_spu_set_pe(rig.spu, &pe), SPE_OK);
    spe_spu_get_pe(rig.spu, &pe);
    assert_int_equal(pe.el, 3);
    assert_int_equal(pe.contextidr_el2, 0);
    assert_int_equal(pe.size, sizeof(pe));
    pe.size = 0;
    assert_int_equal(spe_spu_set_pe(rig.spu, &pe), SPE_ERR_INVALID);
    spe_spu_get_config(rig.spu, &config);
    assert_int_equal(config.max_size, 128);
    stop(&rig);
}

static void test_reset(void **state)
{
    struct rig rig;
    struct spe_operation op;

    (void)state;
    START(&rig, NULL, "max_inflight_samples", "3", "impdef_buffer_event", "present", NULL);
    spe_operation_init(&op, SPE_OPERATION_OTHER);
    next_sample(&rig);
    next_sample(&rig);
    assert_int_equal(spe_spu_in_flight(rig.spu), 2);
    assert_int_equal(spe_spu_impdef_enable(rig.spu, true), SPE_OK);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, UINT64_C(1) << 17);
    assert_true(rig.irq);
    spe_spu_reset(rig.spu);
    assert_false(rig.irq); /* the host is told of the end */
    assert_int_equal(rig.edges, 2);
    assert_int_equal(spe_spu_in_flight(rig.spu), 0);
    assert_int_equal(stats_of(&rig).dropped, 2);
    assert_int_equal(stats_of(&rig).sampled, 2); /* statistics stay */
    assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBLIMITR_EL1) & 1, 0);
    assert_int_equal(spe_spu_complete(rig.spu, 1, &op), SPE_ERR_INVALID);
    assert_int_equal(spe_spu_impdef_event(rig.spu, 1, 0), 0); /* off again */
    check_accounts(&rig);
    enable(&rig);
    assert_int_equal(sample(&rig), SPE_FATE_WRITTEN);
    stop(&rig);
}

/* Whatever happened before, a unit that was reset does what a new one does. */
static void use_unit(struct rig *rig)
{
    const struct spe_taken_branch branch = {.target = 0x7000, .security = SPE_NONSECURE};
    struct spe_memory_access access[3] = {{.va = 0x1000, .bytes = 8, .done_at = 3},
                                          {.va = 0x2000, .bytes = 8, .done_at = 4},
                                          {.va = 0x3000, .bytes = 8, .done_at = 5}};
    struct spe_operation op;

    enable(rig);
    spe_spu_reg_set(rig->spu, SPE_REG_PMSIRR_EL1, 1 << 8 | 1);
    spe_operation_init(&op, SPE_OPERATION_LOAD);
    op.accesses = access;
    op.access_count = 3;
    for (unsigned i = 0; i < 20; i++) {
        next_sample(rig);
        spe_spu_sample(rig->spu, &op);
        if (i == 9)
            spe_spu_branch(rig->spu, &branch);
    }
}

static void misuse_unit(struct rig *rig)
{
    const struct spe_taken_branch branch = {.target = 0x9000, .security = SPE_NONSECURE};
    struct spe_register_access access;
    struct spe_operation op;

    enable(rig);
    spe_operation_init(&op, SPE_OPERATION_OTHER);
    use_unit(rig);
    spe_spu_reg_set(rig->spu, SPE_REG_PMSCR_EL2, 0x318); /* EE: a synchronized exception ... */
    spe_spu_reg_set(rig->spu, SPE_REG_PMBSR_EL2, UINT64_C(1) << 17);
    spe_spu_psb_csync(rig->spu, &access);
    spe_spu_context_sync(rig->spu);
    spe_spu_reg_set(rig->spu, SPE_REG_PMBSR_EL2, 0);
    enable(rig);
    rig->fault_at = BASE + 10; /* ... and a fault after which samples still come */
    rig->answer = (struct spe_write_result){.fault = SPE_FAULT_TRANSLATION};
    next_sample(rig);
    assert_int_equal(spe_spu_sample(rig->spu, &op), SPE_FATE_FAULT);
    assert_int_not_equal(spe_spu_budget(rig->spu), UINT64_MAX);
    rig->fault_at = NOWHERE;
    spe_spu_reg_set(rig->spu, SPE_REG_PMBSR_EL1, 0);
    spe_spu_branch(rig->spu, &branch); /* a target to remember */
    next_sample(rig);
    spe_spu_sample(rig->spu, &op);
}

static void test_reset_is_complete(void **state)
{
    static struct rig used, fresh;
    static const char *const settings[] = {
        "multi_access",      "part", "part_choice", "round_robin", "fault_late_samples", "5",
        "sample_pick",       "3",    "rng_seed",    "11",          "pbt_non_branch",     "1",
        "speculative_dirty", "1",    NULL};
    unsigned writes;

    (void)state;
    configure(&used, NULL, settings);
    create(&used);
    misuse_unit(&used);
    spe_spu_reset(used.spu);
    assert_int_equal(spe_spu_budget(used.spu), UINT64_MAX);
    for (unsigned reg = 0; reg < SPE_REG_COUNT; reg++)
        if (reg != SPE_REG_PMSIDR_EL1 && reg != SPE_REG_PMBIDR_EL1 && reg != SPE_REG_RNG)
            assert_int_equal(spe_spu_reg_get(used.spu, (enum spe_register)reg), 0);
    memset(used.memory, 0, sizeof(used.memory));
    writes = used.writes;
    use_unit(&used);

    configure(&fresh, NULL, settings);
    create(&fresh);
    spe_spu_reset(fresh.spu);
    use_unit(&fresh);
    assert_memory_equal(used.memory, fresh.memory, SIZE);
    assert_int_equal(used.writes - writes, fresh.writes);
    stop(&used);
    stop(&fresh);
}

/* An exception that was synchronized before the reset has nothing to do with one after it. */
static void test_reset_forgets_synchronization(void **state)
{
    unsigned pmbsr = (unsigned)spe_register_encoding(SPE_REG_PMBSR_EL2);
    struct spe_exception e;
    struct spe_register_access access;
    struct spe_pe_state pe;
    struct rig rig;

    (void)state;
    START(&rig, NULL, NULL);
    spe_pe_state_init(&pe);
    pe.mdcr_el3 |= UINT64_C(1) << 51; /* PMSEE */
    for (unsigned round = 0; round < 2; round++) {
        pe.el = 3;
        spe_spu_set_pe(rig.spu, &pe);
        spe_spu_reg_set(rig.spu, SPE_REG_PMSCR_EL2, 3 << 8); /* EE */
        if (round == 0) {
            assert_int_equal(spe_spu_write(rig.spu, pmbsr, 0, 1 << 17, &access), SPE_OK);
            spe_spu_context_sync(rig.spu);
        } else {
            spe_spu_reset(rig.spu);
            spe_spu_reg_set(rig.spu, SPE_REG_PMSCR_EL2, 3 << 8);
            spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL2, 1 << 17);
        }
        pe.el = 0;
        spe_spu_set_pe(rig.spu, &pe);
        spe_spu_exception(rig.spu, &e);
        assert_int_equal(e.masking, SPE_MASK_UNMASKED);
        assert_int_equal(e.synchronized, round == 0);
    }
    stop(&rig);
}

/* A new unit is one after reset: with random reset values it shows. */
static void test_new_unit_is_reset(void **state)
{
    static const char *const settings[] = {"reset_values", "random", "rng_seed", "3", NULL};
    struct rig rig;
    uint64_t first[SPE_REG_COUNT];
    bool any = false;

    (void)state;
    configure(&rig, NULL, settings);
    assert_int_equal(spe_spu_create(&rig.config,
                                    &(struct spe_spu_host){.size = sizeof(struct spe_spu_host)},
                                    &rig.spu, NULL, 0),
                     SPE_OK);
    for (unsigned reg = 0; reg < SPE_REG_COUNT; reg++)
        first[reg] = spe_spu_reg_get(rig.spu, (enum spe_register)reg);
    spe_spu_reset(rig.spu);
    for (unsigned reg = 0; reg < SPE_REG_COUNT; reg++)
        assert_int_equal(spe_spu_reg_get(rig.spu, (enum spe_register)reg), first[reg]);
    for (unsigned reg = 0; reg <= SPE_REG_PMSLATFR_EL1; reg++)
        any |= first[reg] != 0;
    assert_true(any);
    assert_int_equal(first[SPE_REG_PMBLIMITR_EL1] & 1, 0);
    stop(&rig);
}

/* Which operations are members of the population: one option for each flag. */
static void test_population(void **state)
{
    static const struct {
        const char *option;
        unsigned flag;
    } cases[] = {{"pop_misspec", SPE_POP_MISSPECULATED},
                 {"pop_nonarch", SPE_POP_NONARCH},
                 {"pop_nonarch_exc", SPE_POP_NONARCH_EXCEPTION}};
    struct rig rig;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (unsigned on = 0; on < 2; on++) {
            const char *const settings[] = {"spec_sampling", "1", cases[i].option, on ? "1" : "0",
                                            NULL};

            configure(&rig, NULL, settings);
            create(&rig);
            for (unsigned flags = 0; flags < 8; flags++) {
                bool others = flags & ~cases[i].flag;
                bool counted = !others && (on || !flags);
                unsigned pop = rig.pop;

                assert_int_equal(spe_spu_in_population(rig.spu, flags), counted);
                spe_spu_step(rig.spu, flags);
                assert_int_equal(rig.pop - pop, counted);
            }
            stop(&rig);
        }
    START(&rig, NULL, "spec_sampling", "1", "pop_misspec", "1", "pop_nonarch", "1",
          "pop_nonarch_exc", "1", NULL);
    for (unsigned flags = 0; flags < 8; flags++)
        assert_true(spe_spu_in_population(rig.spu, flags));
    stop(&rig);
}

/* ---- From the operation to the buffer ------------------------------------------------------- */

static void test_in_flight(void **state)
{
    struct rig rig;
    struct spe_operation op;
    int first, second, third;

    (void)state;
    START(&rig, NULL, "max_inflight_samples", "2", NULL);
    spe_operation_init(&op, SPE_OPERATION_OTHER);
    assert_int_equal(spe_spu_sample(rig.spu, &op), SPE_ERR_INVALID);
    first = next_sample(&rig);
    second = next_sample(&rig);
    assert_int_not_equal(first, second);
    assert_int_equal(spe_spu_complete(rig.spu, 0, &op), SPE_ERR_INVALID);
    assert_int_equal(spe_spu_complete(rig.spu, 3, &op), SPE_ERR_INVALID);
    op.pc = 0x2000;
    assert_int_equal(spe_spu_complete(rig.spu, (unsigned)second, &op), SPE_FATE_WRITTEN);
    assert_int_equal(spe_spu_complete(rig.spu, (unsigned)second, &op), SPE_ERR_INVALID);
    third = next_sample(&rig);
    assert_int_equal(third, second);                                  /* the slot that is free */
    assert_int_equal(spe_spu_sample(rig.spu, &op), SPE_FATE_WRITTEN); /* the oldest: the first */
    assert_int_equal(spe_spu_complete(rig.spu, (unsigned)first, &op), SPE_ERR_INVALID);
    op.size = 0;
    assert_int_equal(spe_spu_complete(rig.spu, (unsigned)third, &op), SPE_ERR_INVALID);
    assert_int_equal(stats_of(&rig).dropped, 1);
    check_accounts(&rig);
    stop(&rig);
}

/* FEED for all, FILTRATE for those that the filters keep, whatever becomes of the record. */
static void test_completion_order(void **state)
{
    struct rig rig;
    struct spe_spu_stats s;

    (void)state;
    START(&rig, NULL, NULL);
    assert_int_equal(sample(&rig), SPE_FATE_WRITTEN);
    assert_int_equal(rig.feed, 1);
    assert_int_equal(rig.filtrate, 1);
    assert_int_equal(rig.cti, 1);

    spe_spu_reg_set(rig.spu, SPE_REG_PMSLATFR_EL1, 100);
    spe_spu_reg_set(rig.spu, SPE_REG_PMSEVFR_EL1, 8);
    spe_spu_reg_set(rig.spu, SPE_REG_PMSFCR_EL1, 5); /* FE and FL */
    assert_int_equal(sample(&rig), SPE_FATE_FILTERED);
    assert_int_equal(rig.feed, 2);
    assert_int_equal(rig.filtrate, 1);
    s = stats_of(&rig);
    assert_int_equal(s.filtered_by[SPE_SAMPLE_FILTER_LATENCY], 1);
    assert_int_equal(s.filtered_by[SPE_SAMPLE_FILTER_EVENTS], 1);
    assert_int_equal(s.filtered_by[SPE_SAMPLE_FILTER_TYPE], 0);
    assert_int_equal(s.filtered_by[SPE_SAMPLE_FILTER_SOURCE], 0);
    spe_spu_reg_set(rig.spu, SPE_REG_PMSFCR_EL1, 1 << 17 | 2); /* FT: loads only */
    assert_int_equal(sample(&rig), SPE_FATE_FILTERED);
    s = stats_of(&rig);
    assert_int_equal(s.filtered_by[SPE_SAMPLE_FILTER_TYPE], 1);
    assert_int_equal(s.filtered_by[SPE_SAMPLE_FILTER_LATENCY], 1);
    assert_int_equal(s.records, 1);
    assert_int_equal(s.bytes_built, s.bytes_written); /* a filtered sample builds nothing */
    assert_int_equal(rig.notices, 1);

    spe_spu_reg_set(rig.spu, SPE_REG_PMSFCR_EL1, 0);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT | 2 << 1 | 1);
    assert_int_equal(sample(&rig), SPE_FATE_DISCARD_MODE);
    assert_int_equal(rig.filtrate, 2);
    assert_int_equal(rig.cti, 1);
    check_accounts(&rig);
    stop(&rig);
}

/* D17.8-014: counted when the operation ends, though the fault loses the record. */
static void test_counted_before_the_fault(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, NULL, NULL);
    rig.fault_at = BASE + 5;
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TRANSLATION};
    assert_int_equal(sample(&rig), SPE_FATE_FAULT);
    assert_int_equal(rig.feed, 1);
    assert_int_equal(rig.filtrate, 1);
    assert_int_equal(stats_of(&rig).records, 0);
    check_accounts(&rig);
    stop(&rig);
}

static void test_not_captured(void **state)
{
    struct rig rig;
    struct spe_operation op;

    (void)state;
    START(&rig, NULL, "spec_sampling", "1", "pop_misspec", "1", "capture_misspec", "0", NULL);
    spe_operation_init(&op, SPE_OPERATION_OTHER);
    op.misspeculated = true;
    next_sample(&rig);
    assert_int_equal(spe_spu_sample(rig.spu, &op), SPE_FATE_NOT_CAPTURED);
    assert_int_equal(rig.feed, 1);
    assert_int_equal(rig.filtrate, 0);
    assert_int_equal(stats_of(&rig).bytes_built, 0);
    check_accounts(&rig);
    stop(&rig);
}

/* The buffer is disabled, or stopped, between selection and end. */
static void test_lost_in_between(void **state)
{
    struct rig rig;
    struct spe_operation op;
    struct spe_pe_state pe;

    (void)state;
    START(&rig, NULL, NULL);
    spe_operation_init(&op, SPE_OPERATION_OTHER);
    next_sample(&rig);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT);
    assert_int_equal(spe_spu_sample(rig.spu, &op), SPE_FATE_DISABLED);
    enable(&rig);
    next_sample(&rig);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, UINT64_C(1) << 17);
    assert_int_equal(spe_spu_sample(rig.spu, &op), SPE_FATE_STOPPED);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, 0);
    enable(&rig);
    next_sample(&rig);
    spe_spu_get_pe(rig.spu, &pe);
    pe.el = 1; /* another level, where nothing is sampled: the record is written all the same */
    spe_spu_set_pe(rig.spu, &pe);
    assert_int_equal(spe_spu_sample(rig.spu, &op), SPE_FATE_WRITTEN);
    assert_int_equal(rig.writes > 0, 1);
    check_accounts(&rig);
    stop(&rig);
}

/* ---- What an event stops -------------------------------------------------------------------- */

/* D17.8-005 D17.8-006 D17.8-008: a synchronous event; nothing is sampled or counted after it. */
static void test_events_are_synchronous(void **state)
{
    struct rig rig;
    uint64_t pmsicr;
    unsigned pop;

    (void)state;
    for (unsigned full = 0; full < 2; full++) {
        START(&rig, NULL, "features", "-v1p5,-exc,-nvm", "max_size", "128", NULL);
        if (full) {
            spe_spu_reg_set(rig.spu, SPE_REG_PMBPTR_EL1, LIMIT - 130);
            assert_int_equal(sample(&rig), SPE_FATE_WRITTEN);
            assert_int_equal(rig.full, 1);
        } else {
            rig.fault_at = BASE;
            rig.answer = (struct spe_write_result){.fault = SPE_FAULT_ACCESS_FLAG, .level = 3};
            assert_int_equal(sample(&rig), SPE_FATE_FAULT);
        }
        assert_true(spe_spu_status(rig.spu)->stopped);
        assert_int_equal(spe_spu_budget(rig.spu), UINT64_MAX);
        pmsicr = spe_spu_reg_get(rig.spu, SPE_REG_PMSICR_EL1);
        pop = rig.pop;
        for (unsigned i = 0; i < 1000; i++)
            assert_int_equal(spe_spu_step(rig.spu, 0), 0);
        assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMSICR_EL1), pmsicr);
        assert_int_equal(rig.pop, pop);
        assert_true(rig.irq);
        stop(&rig);
    }
}

/* D17.4: with S set the unit has stopped, and PMSICR_EL1 stands still. */
static void check_late_fault(struct rig *rig)
{
    uint64_t pmsicr = spe_spu_reg_get(rig->spu, SPE_REG_PMSICR_EL1);
    uint64_t pmbsr = spe_spu_reg_get(rig->spu, SPE_REG_PMBSR_EL1);

    assert_int_equal(pmbsr, UINT64_C(0x24) << 26 | 1u << 19 | 1u << 17 | 0x0f);
    assert_true(rig->irq);
    assert_true(spe_spu_status(rig->spu)->stopped);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(spe_spu_step(rig->spu, 0), 0);
    assert_int_equal(spe_spu_reg_get(rig->spu, SPE_REG_PMSICR_EL1), pmsicr);
}

/* D17.8-009: that many samples more are taken after a fault, all of them lost; none after a full
 * buffer. */
static void test_late_samples(void **state)
{
    static const char *const late[] = {"0", "1", "3", "1024"};
    static const unsigned counts[] = {0, 1, 3, 1024};
    struct rig rig;

    (void)state;
    for (unsigned i = 0; i < COUNT(late); i++) {
        const char *const settings[] = {"fault_late_samples", late[i], "max_size", "128", NULL};
        uint64_t pointer;
        unsigned taken = 0, writes;

        configure(&rig, NULL, settings);
        create(&rig);
        rig.fault_at = BASE + 7;
        rig.answer = (struct spe_write_result){.fault = SPE_FAULT_PERMISSION, .level = 3};
        assert_int_equal(sample(&rig), SPE_FATE_FAULT);
        pointer = spe_spu_reg_get(rig.spu, SPE_REG_PMBPTR_EL1);
        writes = rig.writes;
        while (spe_spu_budget(rig.spu) != UINT64_MAX) {
            assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBSR_EL1), 0);
            assert_false(rig.irq);
            assert_int_equal(sample(&rig), SPE_FATE_STOPPED);
            taken++;
        }
        assert_int_equal(taken, counts[i]);
        assert_int_equal(rig.writes, writes);
        assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBPTR_EL1), pointer);
        check_late_fault(&rig);
        check_accounts(&rig);

        /* After the handler all is as before. */
        rig.fault_at = NOWHERE;
        spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, 0);
        assert_int_equal(sample(&rig), SPE_FATE_WRITTEN);
        spe_spu_reg_set(rig.spu, SPE_REG_PMBPTR_EL1, LIMIT - 130);
        assert_int_equal(sample(&rig), SPE_FATE_WRITTEN);
        assert_int_equal(rig.full, 1);
        assert_int_equal(spe_spu_budget(rig.spu), UINT64_MAX);
        stop(&rig);
    }
}

static void fault_with_late_samples(struct rig *rig)
{
    START(rig, NULL, "fault_late_samples", "3", "max_size", "128", NULL);
    rig->fault_at = BASE + 7;
    rig->answer = (struct spe_write_result){.fault = SPE_FAULT_PERMISSION, .level = 3};
    assert_int_equal(sample(rig), SPE_FATE_FAULT);
    assert_int_equal(spe_spu_reg_get(rig->spu, SPE_REG_PMBSR_EL1), 0);
}

/* D17.8-009: the event does not wait for samples that cannot come: profiling is disabled, PSB
 * CSYNC waits for it. Where it goes is settled by the write; a reset forgets it. */
static void test_late_samples_end_early(void **state)
{
    struct spe_register_access access;
    struct spe_pe_state pe;
    struct rig rig;

    (void)state;
    fault_with_late_samples(&rig);
    spe_spu_get_pe(rig.spu, &pe);
    pe.el = 3;
    spe_spu_set_pe(rig.spu, &pe);
    check_late_fault(&rig);
    stop(&rig);

    fault_with_late_samples(&rig);
    assert_int_equal(sample(&rig), SPE_FATE_STOPPED);
    spe_spu_psb_csync(rig.spu, &access);
    check_late_fault(&rig);
    stop(&rig);

    fault_with_late_samples(&rig);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT); /* E=0 */
    check_late_fault(&rig);
    stop(&rig);

    fault_with_late_samples(&rig);
    spe_spu_reset(rig.spu);
    assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBSR_EL1), 0);
    stop(&rig);
}

/* D17.8-173 D17.8-174 */
static void test_impdef_events(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, NULL, "impdef_buffer_event", "absent", NULL);
    assert_int_equal(spe_spu_impdef_enable(rig.spu, true), SPE_ERR_INVALID);
    assert_int_equal(spe_spu_impdef_event(rig.spu, 1, 2), SPE_ERR_INVALID);
    stop(&rig);

    START(&rig, NULL, "impdef_buffer_event", "present", NULL);
    assert_int_equal(spe_spu_impdef_event(rig.spu, 1, 2), 0); /* off by default */
    assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBSR_EL1), 0);
    assert_int_equal(spe_spu_impdef_enable(rig.spu, true), SPE_OK);
    assert_int_equal(spe_spu_impdef_event(rig.spu, 0x1234, 0x5678), 1); /* D17.8-001 */
    assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBSR_EL1),
                     UINT64_C(0x5678) << 32 | UINT64_C(0x1f) << 26 | UINT64_C(1) << 17 | 0x1234);
    assert_int_equal(spe_spu_impdef_event(rig.spu, 1, 1), 0); /* S is 1 already */
    assert_false(spe_spu_status(rig.spu)->enabled);

    /* D17.5.5: in Discard mode buffer management events are not generated. */
    spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, 0);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT | 5);
    assert_true(spe_spu_status(rig.spu)->enabled);
    assert_int_equal(spe_spu_impdef_event(rig.spu, 1, 1), 0);
    assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBSR_EL1), 0);
    assert_false(rig.irq);
    assert_true(spe_spu_status(rig.spu)->enabled);
    stop(&rig);
}

/* D17.5.5, D17.8-164: an abort that arrives in Discard mode, also of a write made before. */
static void test_abort_in_discard_mode(void **state)
{
    const struct spe_write_result abort = {.fault = SPE_FAULT_EXTERNAL_ABORT};
    struct rig rig;

    (void)state;
    START(&rig, NULL, "features", "-v1p3", "write_abort", "report", "ext_abort_sync", "async",
          NULL);
    assert_int_equal(sample(&rig), SPE_FATE_WRITTEN);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT | 5);
    assert_int_equal(spe_spu_external_abort(rig.spu, &abort), 0);
    assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBSR_EL1), 0);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT | 1);
    assert_int_equal(spe_spu_external_abort(rig.spu, &abort), 1);
    assert_true(spe_spu_status(rig.spu)->stopped);
    stop(&rig);
}

/* D17.8-158: PMBIDR_EL1.EA tells what write_abort does. */
static void test_abort_mechanism_is_told(void **state)
{
    static const struct {
        const char *value;
        unsigned described, ea;
    } cases[] = {{"ignore", 1, 1}, {"serror", 1, 2}, {"ignore", 0, 0}, {"serror", 0, 0}};
    struct rig rig;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const settings[] = {"write_abort", cases[i].value, "ea_described",
                                        cases[i].described ? "1" : "0", NULL};

        configure(&rig, "neoverse-n1", settings);
        create(&rig);
        assert_int_equal(spe_spu_reg_get(rig.spu, SPE_REG_PMBIDR_EL1) >> 8 & 15, cases[i].ea);
        stop(&rig);
    }
}

/* ---- Which PMBSR_ELx an event of the buffer reaches ----------------------------------------- */

/* Table D17-7: 0xf is "any"; columns stage 1, stage 2, other. */
static const struct {
    uint8_t pmsee, ee2, e2pb, stage1, stage2, other;
} rows_d17_7[] = {
    {0, 0xf, 0xf, 1, 1, 1},                     /* D17.8-055 */
    {1, 0, 0xf, 1, 1, 1},                       /* D17.8-056 */
    {1, 1, 0xf, 1, 1, 1},   {1, 2, 0, 2, 2, 1}, /* D17.8-057 */
    {1, 2, 3, 1, 2, 1},                         /* D17.8-058 */
    {1, 3, 0xf, 2, 2, 2},                       /* D17.8-059 */
    {2, 0, 0xf, 1, 1, 1},                       /* D17.8-060 */
    {2, 1, 0xf, 1, 1, 1},   {2, 2, 0, 2, 2, 1}, /* D17.8-061 */
    {2, 2, 2, 1, 2, 1},                         /* D17.8-062 */
    {2, 3, 0xf, 2, 2, 2},                       /* D17.8-063 */
    {3, 0xf, 0xf, 3, 3, 3},                     /* D17.8-064 */
};

enum cause { STAGE1, STAGE2, FULL, NOT_ALLOWED, CAUSES };

static unsigned cause_event(struct rig *rig, enum cause cause, unsigned ee2)
{
    rig->event_el = 0;
    rig->fault_at = NOWHERE;
    for (unsigned x = 0; x < 3; x++)
        spe_spu_reg_set(rig->spu,
                        x == 0   ? SPE_REG_PMBSR_EL1
                        : x == 1 ? SPE_REG_PMBSR_EL2
                                 : SPE_REG_PMBSR_EL3,
                        0);
    enable(rig);
    spe_spu_reg_set(rig->spu, SPE_REG_PMSCR_EL2, 0x18 | (uint64_t)ee2 << 8);
    switch (cause) {
    case FULL:
        spe_spu_reg_set(rig->spu, SPE_REG_PMBPTR_EL1, LIMIT - 130);
        break;
    case NOT_ALLOWED:
        spe_spu_reg_set(rig->spu, SPE_REG_PMBPTR_EL1, LIMIT);
        break;
    default:
        rig->fault_at = BASE + 3;
        rig->answer = (struct spe_write_result){
            .fault = SPE_FAULT_TRANSLATION, .stage = cause == STAGE2 ? 2 : 1, .level = 3};
    }
    sample(rig);
    return rig->event_el;
}

static void try_row(struct rig *rig, size_t row, unsigned ee2, unsigned e2pb)
{
    struct spe_pe_state pe;

    spe_pe_state_init(&pe);
    pe.mdcr_el3 |= (uint64_t)rows_d17_7[row].pmsee << 51;
    pe.mdcr_el2 = (uint64_t)e2pb << 12;
    pe.hcr_el2 = 0;
    spe_spu_set_pe(rig->spu, &pe);
    for (unsigned c = 0; c < CAUSES; c++) {
        unsigned expected = c == STAGE1   ? rows_d17_7[row].stage1
                            : c == STAGE2 ? rows_d17_7[row].stage2
                                          : rows_d17_7[row].other; /* D17.8-132 D17.8-172 */

        if (cause_event(rig, c, ee2) != expected)
            fail_msg("row %zu, EE=%u, E2PB=%u, cause %u: PMBSR_EL%u, expected %u", row, ee2, e2pb,
                     c, rig->event_el, expected);
    }
}

static void test_routes_of_buffer_events(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, NULL, "max_size", "128", NULL);
    for (size_t row = 0; row < COUNT(rows_d17_7); row++)
        for (unsigned ee2 = 0; ee2 < 4; ee2++)
            for (unsigned e2pb = 0; e2pb < 4; e2pb++) {
                bool this_ee = rows_d17_7[row].ee2 == 0xf || rows_d17_7[row].ee2 == ee2;
                bool this_owner =
                    rows_d17_7[row].e2pb == 0xf || (rows_d17_7[row].e2pb == 0) == (e2pb == 0);

                if (this_ee && this_owner && e2pb != 1)
                    try_row(&rig, row, ee2, e2pb);
            }
    stop(&rig);
}

/* ---- Everything together -------------------------------------------------------------------- */

static void random_access(struct random *r, struct spe_memory_access *a, bool store)
{
    memset(a, 0, sizeof(*a));
    a->va = random_next(r) >> 8;
    a->pa = random_next(r) >> 20;
    a->bytes = 1u << random_below(r, 5);
    a->facts = random_below(r, 1u << 16);
    a->source = (uint16_t)random_below(r, 11);
    a->has_source = !store && random_chance(r, 80);
    a->store = store;
    a->pas = SPE_NONSECURE;
    a->tbi = random_chance(r, 30);
    a->tag_checked = random_chance(r, 30);
    a->pat = (uint8_t)random_below(r, 16);
    a->translated_at = random_below(r, 50);
    a->done_at = a->translated_at + random_below(r, 5000);
}

static void random_operation(struct random *r, struct spe_operation *op,
                             struct spe_memory_access *access)
{
    static const enum spe_operation_kind kinds[] = {SPE_OPERATION_OTHER, SPE_OPERATION_LOAD,
                                                    SPE_OPERATION_STORE, SPE_OPERATION_BRANCH};

    spe_operation_init(op, kinds[random_below(r, COUNT(kinds))]);
    op->pc = random_next(r) >> 9 & ~UINT64_C(3);
    op->issue_cycles = random_below(r, 100);
    op->execute_cycles = random_below(r, 10000);
    op->exception = random_chance(r, 5);
    if (op->kind == SPE_OPERATION_BRANCH) {
        op->taken = random_chance(r, 60);
        op->conditional = !op->taken || random_chance(r, 50);
        op->condition_failed = !op->taken;
        op->target = random_next(r) >> 9 & ~UINT64_C(3);
        op->target_security = SPE_NONSECURE;
        op->mispredicted = random_chance(r, 10);
    } else if (op->kind != SPE_OPERATION_OTHER) {
        random_access(r, access, op->kind == SPE_OPERATION_STORE);
        op->accesses = access;
        op->access_count = 1;
    }
}

static void complain(void *user, const struct spe_violation *v)
{
    (void)user;
    if (v->severity == SPE_VIOLATION)
        fail_msg("%s: %s (%s)", v->rule->name, v->rule->sentence, v->detail);
}

static void check_memory(const struct rig *rig)
{
    const struct spe_check_config check = {
        .size = sizeof(check),
        .features = rig->config.features,
        .count_bits = rig->config.count_size,
        .max_size = rig->config.max_size,
        .align = rig->config.min_align_bytes,
        .tbi = true,
    };
    uint64_t pointer = spe_spu_reg_get(rig->spu, SPE_REG_PMBPTR_EL1);
    struct spe_stream stream;
    struct spe_record record;
    struct spe_item item;

    spe_stream_init(&stream, 0);
    spe_stream_feed(&stream, rig->memory, (size_t)(pointer - BASE));
    spe_stream_end(&stream);
    while (spe_stream_next(&stream, &item, &record) != SPE_ITEM_NONE) {
        assert_int_equal(item.type, SPE_ITEM_RECORD);
        spe_check_record(&check, item.bytes, item.size, item.offset, complain, NULL);
    }
}

/* Every record in every buffer passes the check, on every preset. */
static void test_buffers_are_valid(void **state)
{
    struct random random = {.state = 5};
    struct spe_memory_access access;
    struct spe_operation op;
    struct rig rig;

    (void)state;
    for (size_t p = 0; spe_spu_preset_at(p); p++) {
        unsigned buffers = 0;

        configure(&rig, spe_spu_preset_at(p), NULL);
        create(&rig);
        while (buffers < 3) {
            rig.time += 1000;
            next_sample(&rig);
            random_operation(&random, &op, &access);
            assert_int_equal(spe_spu_sample(rig.spu, &op), SPE_FATE_WRITTEN);
            if (!rig.irq)
                continue;
            check_memory(&rig);
            buffers++;
            spe_spu_reg_set(rig.spu, SPE_REG_PMBPTR_EL1, BASE);
            spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, 0);
        }
        assert_int_equal(rig.full, 3);
        check_accounts(&rig);
        stop(&rig);
    }
}

/* The same seed, configuration and calls: the same bytes. */
static void test_deterministic(void **state)
{
    static struct rig rig[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct random random = {.state = 9};
        struct spe_memory_access access;
        struct spe_operation op;

        START(&rig[i], NULL, "multi_access", "part", "sample_pick", "5", "rng_seed", "77", NULL);
        spe_spu_reg_set(rig[i].spu, SPE_REG_PMSIRR_EL1, 1 << 8 | 1);
        for (unsigned n = 0; n < 200; n++) {
            next_sample(&rig[i]);
            random_operation(&random, &op, &access);
            spe_spu_sample(rig[i].spu, &op);
        }
    }
    assert_memory_equal(rig[0].memory, rig[1].memory, SIZE);
    assert_int_equal(rig[0].pop, rig[1].pop);
    stop(&rig[0]);
    stop(&rig[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_refuses),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_plain_pe_state),
        cmocka_unit_test(test_short_pe_state),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_reset_is_complete),
        cmocka_unit_test(test_reset_forgets_synchronization),
        cmocka_unit_test(test_new_unit_is_reset),
        cmocka_unit_test(test_population),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_completion_order),
        cmocka_unit_test(test_counted_before_the_fault),
        cmocka_unit_test(test_not_captured),
        cmocka_unit_test(test_lost_in_between),
        cmocka_unit_test(test_events_are_synchronous),
        cmocka_unit_test(test_late_samples),
        cmocka_unit_test(test_late_samples_end_early),
        cmocka_unit_test(test_impdef_events),
        cmocka_unit_test(test_abort_in_discard_mode),
        cmocka_unit_test(test_abort_mechanism_is_told),
        cmocka_unit_test(test_routes_of_buffer_events),
        cmocka_unit_test(test_buffers_are_valid),
        cmocka_unit_test(test_deterministic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
