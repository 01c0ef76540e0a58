/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.8: what each management event writes into PMBSR_ELx, and what it leaves alone. Where the
 * bytes of a record go and where PMBPTR_EL1 stops is in test_buffer.c.
 */
#include "support/spu_unit.h"

/* PMBSR_ELx, by the register's description. */
#define S BIT(17)
#define DL BIT(19)
#define EA BIT(18)
#define COLL BIT(16)
#define SYNDROME (UINT64_C(0xffffff) << 32 | UINT64_C(0x3f) << 26 | 0xffff) /* MSS2, EC, MSS */
#define ALL (SYNDROME | S | DL | EA | COLL)

static uint64_t mss2(uint64_t value)
{
    return value << 32;
}

static uint64_t ec(uint64_t value)
{
    return value << 26;
}

/* ---- EC and FSC of every fault -------------------------------------------------------------- */

/* Table of the FSC values and the classes of D17.8.3. */
static const struct fault_row {
    struct spe_write_result fault;
    unsigned ec, fsc;
} fault_rows[] = {
    {{.fault = SPE_FAULT_ADDRESS_SIZE, .stage = 1, .level = 0}, 0x24, 0x00},
    {{.fault = SPE_FAULT_ADDRESS_SIZE, .stage = 1, .level = 3}, 0x24, 0x03},
    {{.fault = SPE_FAULT_ADDRESS_SIZE, .stage = 2, .level = -1}, 0x25, 0x29},
    {{.fault = SPE_FAULT_ADDRESS_SIZE, .stage = 2, .level = -2}, 0x25, 0x2c},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 1, .level = 0}, 0x24, 0x04},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 1, .level = 1}, 0x24, 0x05},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 0, .level = 2}, 0x24, 0x06},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 2, .level = 3}, 0x25, 0x07},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 1, .level = -1}, 0x24, 0x2b},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 1, .level = -2}, 0x24, 0x2a},
    {{.fault = SPE_FAULT_ACCESS_FLAG, .stage = 1, .level = 0}, 0x24, 0x08},
    {{.fault = SPE_FAULT_ACCESS_FLAG, .stage = 2, .level = 3}, 0x25, 0x0b},
    {{.fault = SPE_FAULT_PERMISSION, .stage = 1, .level = 0}, 0x24, 0x0c},
    {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .level = 2}, 0x25, 0x0e},
    {{.fault = SPE_FAULT_PERMISSION, .stage = 1, .level = 3}, 0x24, 0x0f},
    /* Levels for which there is no code: the nearest. */
    {{.fault = SPE_FAULT_ACCESS_FLAG, .stage = 1, .level = -2}, 0x24, 0x08},
    {{.fault = SPE_FAULT_PERMISSION, .stage = 1, .level = -1}, 0x24, 0x0c},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 1, .level = 9}, 0x24, 0x07},
    {{.fault = SPE_FAULT_ALIGNMENT}, 0x24, 0x21},
    {{.fault = SPE_FAULT_TLB_CONFLICT, .stage = 1}, 0x24, 0x30},
    {{.fault = SPE_FAULT_TLB_CONFLICT, .stage = 2}, 0x25, 0x30},
    {{.fault = SPE_FAULT_UNSUPPORTED_ATOMIC, .stage = 1}, 0x24, 0x31},
    {{.fault = SPE_FAULT_UNSUPPORTED_ATOMIC, .stage = 2}, 0x25, 0x31},
    {{.fault = SPE_FAULT_GPF, .stage = 1}, 0x24, 0x28},
    {{.fault = SPE_FAULT_GPF, .stage = 2}, 0x24, 0x28},
    {{.fault = SPE_FAULT_GPF, .stage = 1, .level = 0, .walk = SPE_WALK_TABLE}, 0x24, 0x24},
    {{.fault = SPE_FAULT_GPF, .stage = 2, .level = 3, .walk = SPE_WALK_TABLE}, 0x25, 0x27},
    {{.fault = SPE_FAULT_GPF, .stage = 2, .level = -1, .walk = SPE_WALK_TABLE}, 0x25, 0x23},
    {{.fault = SPE_FAULT_GPF, .stage = 1, .level = -2, .walk = SPE_WALK_TABLE}, 0x24, 0x22},
    {{.fault = SPE_FAULT_GPC}, 0x1e, 0},
    {{.fault = SPE_FAULT_GPC, .stage = 2, .level = 3}, 0x1e, 0},
    {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 1, .level = 0, .walk = SPE_WALK_TABLE},
     0x24,
     0x14},
    {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .level = 3, .walk = SPE_WALK_TABLE},
     0x25,
     0x17},
    {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 1, .level = -1, .walk = SPE_WALK_TABLE},
     0x24,
     0x13},
    {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .level = -2, .walk = SPE_WALK_TABLE},
     0x25,
     0x12},
    {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .walk = SPE_WALK_GPT}, 0x1e, 0},
};

static void syndrome_of_every_fault(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (size_t i = 0; i < COUNT(fault_rows); i++) {
        const struct fault_row *r = &fault_rows[i];

        unit_set(&u, SPE_REG_PMBSR_EL1, 0);
        assert_true(spu_event_fault(u.spu, &r->fault, false));
        /* D17.8-026, D17.8-027, D17.8-028: the classes; D17.8-144, D17.8-145: which is whose */
        assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1) >> 26 & 0x3f, r->ec);
        assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1) & 0xffff, r->fsc); /* D17.8-146 */
        assert_int_equal(u.event.ec, r->ec);
        assert_int_equal(u.event.mss, r->fsc);
    }
    unit_destroy(&u);
}

/* ---- MSS2: details of a Permission fault ---------------------------------------------------- */

static void permission_details_by_feature(void **state)
{
    static const struct {
        const char *features;
        uint64_t stage1, stage2; /* TopLevel 40, AssuredOnly 39, Overlay 38, DirtyBit 37 */
    } rows[] = {
        {"all", BIT(38) | BIT(37), BIT(40) | BIT(39) | BIT(38) | BIT(37)},
        {"all,-the", BIT(38) | BIT(37), BIT(38) | BIT(37)},
        {"all,-s1poe", BIT(37), BIT(40) | BIT(39) | BIT(37)},
        {"all,-s1pie", BIT(38), BIT(40) | BIT(39) | BIT(38)},
    };
    struct unit u;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unit_with(&u, rows[i].features);
        for (unsigned fault = SPE_FAULT_TRANSLATION; fault < SPE_FAULT_NOT_ALLOWED; fault++) {
            for (uint8_t stage = 1; stage <= 2; stage++) {
                const struct spe_write_result result = {
                    .fault = (uint8_t)fault,
                    .stage = stage,
                    .top_level = true,
                    .assured_only = true,
                    .overlay = true,
                    .dirty_bit = true,
                };
                uint64_t expected = fault != SPE_FAULT_PERMISSION ? 0
                                    : stage == 1                  ? rows[i].stage1
                                                                  : rows[i].stage2;

                unit_set(&u, SPE_REG_PMBSR_EL1, mss2(0xffffff)); /* what was there is cleared */
                spu_event_fault(u.spu, &result, false);
                /* D17.8-147 */
                assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1) & mss2(0xffffff), expected);
            }
        }
        unit_destroy(&u);
    }
}

static void each_permission_detail(void **state)
{
    static const struct {
        struct spe_write_result fault;
        unsigned bit;
    } rows[] = {
        {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .top_level = true}, 40},    /* D17.8-147 */
        {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .assured_only = true}, 39}, /* D17.8-147 */
        {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .overlay = true}, 38},
        {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .dirty_bit = true}, 37},
    };
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (size_t i = 0; i < COUNT(rows); i++) {
        unit_set(&u, SPE_REG_PMBSR_EL1, 0);
        spu_event_fault(u.spu, &rows[i].fault, false);
        assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1) & mss2(0xffffff), BIT(rows[i].bit));
        assert_int_equal(u.event.mss2, BIT(rows[i].bit - 32));
    }
    unit_destroy(&u);
}

/* ---- What an event changes and what it does not --------------------------------------------- */

static void put_all(struct unit *u, const uint64_t before[4])
{
    for (unsigned x = 1; x <= 3; x++)
        unit_set(u, unit_pmbsr(x), before[x]);
}

/* Route everything to x: EE2=11, PMSEE=11, or neither. */
static void route_to(struct unit *u, unsigned x)
{
    unit_put(&u->pe.mdcr_el3, 51, 2, x == 3 ? 3 : 1);
    unit_pe(u);
    unit_field(u, SPE_REG_PMSCR_EL2, 8, 2, x == 2 ? 3 : 1);
}

enum cause { FAULT, FAULT_MID, FULL, NOT_ALLOWED, IMPDEF, CAUSES };

static bool cause(struct unit *u, enum cause cause)
{
    static const struct spe_write_result fault = {
        .fault = SPE_FAULT_TRANSLATION, .stage = 2, .level = 1};

    switch (cause) {
    case FAULT:
        return spu_event_fault(u->spu, &fault, false);
    case FAULT_MID:
        return spu_event_fault(u->spu, &fault, true);
    case FULL:
        return spu_event_other(u->spu, BSC_FULL);
    case NOT_ALLOWED:
        return spu_event_other(u->spu, BSC_NOT_ALLOWED);
    default:
        return spe_spu_impdef_event(u->spu, 0xabcd, 0x123456) == 1;
    }
}

/* The fields that each one sets, and to what. DL: set, or left as it is. */
static const struct {
    uint64_t syndrome;
    bool sets_dl;
} effects[CAUSES] = {
    [FAULT] = {UINT64_C(0x25) << 26 | 0x05, false},    /* D17.8-143, D17.8-149 */
    [FAULT_MID] = {UINT64_C(0x25) << 26 | 0x05, true}, /* D17.8-149, D17.8-067 */
    [FULL] = {0x01, false},                            /* D17.8-127, D17.8-129 */
    [NOT_ALLOWED] = {0x00, true},                      /* D17.8-171 */
    [IMPDEF] = {UINT64_C(0x123456) << 32 | UINT64_C(0x1f) << 26 | 0xabcd, false}, /* D17.8-174 */
};

static void check_effect(struct unit *u, enum cause c, unsigned x, uint64_t fill)
{
    uint64_t before[4] = {0}, expected;
    unsigned events = u->events;

    for (unsigned y = 1; y <= 3; y++)
        before[y] = y == x ? fill & ~S : fill;
    put_all(u, before);
    /* Another register's S may be 1 here, which in a run would have stopped the writing. */
    assert_true(cause(u, c));
    expected = (before[x] & ~SYNDROME) | S | effects[c].syndrome; /* D17.8-003 */
    if (effects[c].sets_dl)
        expected |= DL;
    /* D17.8-004, D17.8-130, D17.8-151, D17.8-171: EA, COLL and at times DL stay */
    assert_int_equal(unit_get(u, unit_pmbsr(x)), expected);
    for (unsigned y = 1; y <= 3; y++)
        if (y != x)
            assert_int_equal(unit_get(u, unit_pmbsr(y)), before[y]); /* D17.8-004 */
    assert_int_equal(u->events, events + 1);
    assert_true(u->event.is_new);
    assert_int_equal(u->event.el, x);
    assert_int_equal(u->event.before, before[x]);
    assert_int_equal(u->event.after, expected);
    assert_int_equal(u->event.pointer, unit_get(u, SPE_REG_PMBPTR_EL1));
}

/* D17.8-143 [U09], D17.8-126, D17.8-171: with S=1 already there is no event, and nothing moves. */
static void check_no_second(struct unit *u, enum cause c, unsigned x, uint64_t fill)
{
    const uint64_t before[4] = {0, fill, fill, fill};
    unsigned events, full = u->full;
    struct spe_spu_stats stats, after;

    put_all(u, before);
    unit_field(u, unit_pmbsr(x), 17, 1, 1);
    events = u->events;
    spe_spu_stats(u->spu, &stats);
    assert_false(cause(u, c));
    for (unsigned y = 1; y <= 3; y++)
        assert_int_equal(unit_get(u, unit_pmbsr(y)), y == x ? fill | S : fill);
    assert_int_equal(u->events, events);
    assert_int_equal(u->full, full);
    spe_spu_stats(u->spu, &after);
    assert_int_equal(after.management_events, stats.management_events);
}

static void every_event_in_every_register(void **state)
{
    static const uint64_t fills[] = {0, ALL, ALL & ~DL, DL, EA, COLL, SYNDROME};
    struct spe_spu_config config;
    struct unit u;

    (void)state;
    unit_config(&config, "all");
    config.impdef_buffer_event = SPE_PRESENT;
    unit_create(&u, &config);
    unit_set(&u, SPE_REG_PMBPTR_EL1, 0x123456789abc);
    assert_int_equal(spe_spu_impdef_enable(u.spu, true), SPE_OK);
    for (unsigned c = 0; c < CAUSES; c++) {
        for (unsigned x = 1; x <= 3; x++) {
            route_to(&u, x);
            for (size_t f = 0; f < COUNT(fills); f++) {
                check_effect(&u, (enum cause)c, x, fills[f]);
                check_no_second(&u, (enum cause)c, x, fills[f]);
            }
        }
    }
    unit_destroy(&u);
}

/* D17.8.2: the PMU event comes with the event, and with none other. */
static void buffer_full_is_counted(void **state)
{
    struct spe_spu_stats stats;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    cause(&u, FAULT);
    assert_int_equal(u.full, 0);
    unit_set(&u, SPE_REG_PMBSR_EL1, 0);
    cause(&u, NOT_ALLOWED);
    assert_int_equal(u.full, 0);
    unit_set(&u, SPE_REG_PMBSR_EL1, 0);
    assert_true(cause(&u, FULL));
    assert_int_equal(u.full, 1); /* D17.8-131 */
    assert_false(cause(&u, FULL));
    assert_int_equal(u.full, 1);
    spe_spu_stats(u.spu, &stats);
    assert_int_equal(stats.management_events, 3);
    unit_destroy(&u);
}

/* The host hears of the event before the interrupt that follows, from a unit that has stopped. */
static void notices_come_in_order(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    route_to(&u, 1);
    assert_false(u.irq);
    cause(&u, FULL);
    assert_true(u.stopped_at_event);
    assert_false(u.irq_at_event);
    assert_true(u.irq);
    unit_destroy(&u);
}

/* ---- Choices -------------------------------------------------------------------------------- */

/* fault_boundary_dl: X08. */
static void data_loss_at_a_boundary(void **state)
{
    static const struct {
        const char *value;
        uint64_t from_0, from_1;
    } rows[] = {
        {"unchanged", 0, DL}, /* D17.8-068 */
        {"0", 0, 0},          /* D17.8-068 */
        {"1", DL, DL},        /* D17.8-068 */
    };
    struct spe_spu_config config;
    struct unit u;
    char why[128];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unit_config(&config, "all");
        assert_int_equal(
            spe_spu_option_set(&config, "fault_boundary_dl", rows[i].value, why, sizeof(why)),
            SPE_OK);
        unit_create(&u, &config);
        for (unsigned dl = 0; dl < 2; dl++) {
            unit_set(&u, SPE_REG_PMBSR_EL1, dl ? DL : 0);
            cause(&u, FAULT);
            assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1) & DL,
                             dl ? rows[i].from_1 : rows[i].from_0);
            unit_set(&u, SPE_REG_PMBSR_EL1, dl ? DL : 0);
            cause(&u, FAULT_MID);
            assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1) & DL, DL); /* D17.8-067 */
        }
        unit_destroy(&u);
    }
    assert_int_equal(spe_spu_option_set(&config, "fault_boundary_dl", "2", why, sizeof(why)),
                     SPE_ERR_INVALID);
}

/* walk_abort_sets_ea */
static void external_abort_on_a_walk(void **state)
{
    static const struct spe_write_result walks[] = {
        {.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 1, .walk = SPE_WALK_TABLE},
        {.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .walk = SPE_WALK_TABLE},
        {.fault = SPE_FAULT_EXTERNAL_ABORT, .walk = SPE_WALK_GPT},
    };
    static const struct spe_write_result plain = {.fault = SPE_FAULT_TRANSLATION};
    struct spe_spu_config config;
    struct unit u;

    (void)state;
    for (uint8_t sets = 0; sets < 2; sets++) {
        unit_config(&config, "all");
        config.walk_abort_sets_ea = sets;
        unit_create(&u, &config);
        for (unsigned ea = 0; ea < 2; ea++) {
            for (size_t i = 0; i < COUNT(walks); i++) {
                unit_set(&u, SPE_REG_PMBSR_EL1, ea ? EA : 0);
                spu_event_fault(u.spu, &walks[i], false);
                /* D17.8-150 */
                assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1) & EA, sets || ea ? EA : 0);
            }
            unit_set(&u, SPE_REG_PMBSR_EL1, ea ? EA : 0);
            spu_event_fault(u.spu, &plain, false);
            assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1) & EA, ea ? EA : 0);
        }
        unit_destroy(&u);
    }
}

/* impdef_buffer_event */
static void implementation_defined_event(void **state)
{
    struct spe_spu_config config;
    struct unit u;

    (void)state;
    unit_config(&config, "all");
    assert_int_equal(config.impdef_buffer_event, SPE_ABSENT);
    unit_create(&u, &config);
    assert_int_equal(spe_spu_impdef_enable(u.spu, true), SPE_ERR_INVALID); /* D17.8-173 */
    assert_int_equal(spe_spu_impdef_event(u.spu, 1, 2), SPE_ERR_INVALID);
    assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1), 0);
    unit_destroy(&u);

    config.impdef_buffer_event = SPE_PRESENT;
    unit_create(&u, &config);
    assert_int_equal(spe_spu_impdef_event(u.spu, 1, 2), 0); /* D17.8-173: off by itself */
    assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1), 0);
    assert_int_equal(spe_spu_impdef_enable(u.spu, true), SPE_OK);
    assert_int_equal(spe_spu_impdef_event(u.spu, 0xffff, 0xff000001), 1);
    /* D17.8-174, D17.8-001; MSS2 has 24 bits */
    assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1), mss2(1) | ec(0x1f) | S | 0xffff);
    unit_set(&u, SPE_REG_PMBSR_EL1, 0);
    assert_int_equal(spe_spu_impdef_enable(u.spu, false), SPE_OK);
    assert_int_equal(spe_spu_impdef_event(u.spu, 1, 2), 0);
    unit_destroy(&u);
}

/* EC 0x1f comes from nothing else. */
static void no_other_event_has_its_class(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned fault = 0; fault < SPE_FAULT_COUNT; fault++)
        for (unsigned walk = 0; walk < 3; walk++)
            for (int level = -2; level <= 3; level++)
                for (unsigned stage = 0; stage < 3; stage++) {
                    const struct spe_write_result result = {.fault = (uint8_t)fault,
                                                            .walk = (uint8_t)walk,
                                                            .level = (int8_t)level,
                                                            .stage = (uint8_t)stage};

                    assert_int_not_equal(spu_fault_ec(&result), 0x1f); /* D17.8-174 */
                    assert_true(spu_fault_fsc(&result, false) < 64);
                }
    unit_destroy(&u);
}

/* ---- External aborts that are reported (D17.8.4.4) ------------------------------------------ */

/* Without FEAT_SPEv1p3, and so without FEAT_SPE_EXC: PMBSR_EL1. */
static void reporting_unit(struct unit *u)
{
    struct spe_spu_config config;

    unit_config(&config, "spe,v1p2,el2,el3,secure,rme,vhe");
    config.write_abort = config.walk_abort = SPE_ABORT_REPORT;
    unit_create(u, &config);
}

static void reported_abort_syndrome(void **state)
{
    static const struct {
        struct spe_write_result abort;
        unsigned ec, sync;
    } rows[] = {
        {{.fault = SPE_FAULT_EXTERNAL_ABORT}, 0x24, 0x10},
        {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2}, 0x24, 0x10}, /* not of a table */
        {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 1, .level = 2, .walk = SPE_WALK_TABLE},
         0x24,
         0x16},
        {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .level = 3, .walk = SPE_WALK_TABLE},
         0x25,
         0x17},
        {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 1, .walk = SPE_WALK_GPT}, 0x1e, 0x10},
    };
    struct unit u;

    (void)state;
    reporting_unit(&u);
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (unsigned async = 0; async < 2; async++) {
            unit_set(&u, SPE_REG_PMBSR_EL1, COLL | SYNDROME);
            assert_true(spu_event_abort(u.spu, &rows[i].abort, async, true));
            /* D17.8-166, D17.8-167: COLL stays; D17.8-163: EA */
            assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1),
                             COLL | EA | DL | S | ec(rows[i].ec) | (async ? 0x11 : rows[i].sync));
            assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL2), 0); /* D17.8-167 */
            assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL3), 0); /* D17.8-167 */
        }
    }
    unit_destroy(&u);
}

static void reported_abort_data_loss(void **state)
{
    static const struct spe_write_result abort = {.fault = SPE_FAULT_EXTERNAL_ABORT};
    struct unit u;

    (void)state;
    reporting_unit(&u);
    for (unsigned n = 0; n < 16; n++) {
        bool async = n & 1, mid = n & 2, dl = n & 4, service = n & 8;
        uint64_t before = (dl ? DL : 0) | (service ? S : 0) | ec(0x25) | 7, after = before | EA;
        unsigned events;

        unit_set(&u, SPE_REG_PMBSR_EL1, before);
        events = u.events;
        assert_int_equal(spu_event_abort(u.spu, &abort, async, mid), !service);
        if (async || mid)
            after |= DL; /* D17.8-165 */
        if (!service)
            after = (after & ~SYNDROME) | S | ec(0x24) | (async ? 0x11 : 0x10);
        /* D17.8-163, D17.8-169: with S=1 only EA and DL move */
        assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1), after);
        assert_int_equal(u.events, events + 1);
        assert_int_equal(u.event.is_new, !service);
    }
    unit_destroy(&u);
}

/* IXPWQC: and the other way round. */
static void event_after_an_abort(void **state)
{
    static const struct spe_write_result abort = {.fault = SPE_FAULT_EXTERNAL_ABORT};
    uint64_t first;
    struct unit u;

    (void)state;
    reporting_unit(&u);
    spu_event_abort(u.spu, &abort, true, true);
    first = unit_get(&u, SPE_REG_PMBSR_EL1);
    assert_false(cause(&u, FULL));
    assert_false(cause(&u, FAULT_MID));
    assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1), first); /* D17.8-169 */
    unit_destroy(&u);
}

/* ---- Collisions ----------------------------------------------------------------------------- */

static void collision_sets_coll_only(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned x = 1; x <= 3; x++) {
        route_to(&u, x);
        for (unsigned y = 1; y <= 3; y++)
            unit_set(&u, unit_pmbsr(y), ALL & ~COLL & ~S);
        u.events = u.collisions = 0;
        spu_event_collision(u.spu);
        for (unsigned y = 1; y <= 3; y++)
            assert_int_equal(unit_get(&u, unit_pmbsr(y)), (ALL & ~S) & ~(y == x ? 0 : COLL));
        assert_int_equal(u.events, 1);
        assert_false(u.event.is_new);
        spu_event_collision(u.spu);
        assert_int_equal(u.events, 1); /* nothing changed any more */
        assert_int_equal(u.collisions, 2);
    }
    unit_destroy(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syndrome_of_every_fault),
        cmocka_unit_test(permission_details_by_feature),
        cmocka_unit_test(each_permission_detail),
        cmocka_unit_test(every_event_in_every_register),
        cmocka_unit_test(buffer_full_is_counted),
        cmocka_unit_test(notices_come_in_order),
        cmocka_unit_test(data_loss_at_a_boundary),
        cmocka_unit_test(external_abort_on_a_walk),
        cmocka_unit_test(implementation_defined_event),
        cmocka_unit_test(no_other_event_has_its_class),
        cmocka_unit_test(reported_abort_syndrome),
        cmocka_unit_test(reported_abort_data_loss),
        cmocka_unit_test(event_after_an_abort),
        cmocka_unit_test(collision_sets_coll_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
