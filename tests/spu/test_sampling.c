/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D17.3: the counters, operation by operation; loads, reloads, disabling, population, collisions.
 */
#include "support/sampling_unit.h"

#define NO_ERND ALL ",-spe_ernd"
#define COUNT_MASK UINT64_C(0xffffffff)
#define SCR_NS UINT64_C(1)

static uint64_t count(const struct bench *b)
{
    return bench_get(b, SPE_REG_PMSICR_EL1) & COUNT_MASK;
}

static unsigned ecount(const struct bench *b)
{
    return (unsigned)(bench_get(b, SPE_REG_PMSICR_EL1) >> 56);
}

/* Disable and enable by the EL0 bit, as software at EL1 would. */
static void enable(struct bench *b, bool on)
{
    bench_set(b, SPE_REG_PMSCR_EL1, on ? PMSCR_ON : PMSCR_ON & ~UINT64_C(1));
    assert_int_equal(spe_spu_status(b->spu)->enabled, on);
}

/* Start again: PMSICR_EL1 holds this when profiling becomes enabled. */
static void restart(struct bench *b, uint64_t pmsirr, uint64_t pmsicr)
{
    enable(b, false);
    bench_set(b, SPE_REG_PMSIRR_EL1, pmsirr);
    bench_set(b, SPE_REG_PMSICR_EL1, pmsicr);
    enable(b, true);
}

/* Members up to and with the one that is sampled; it ends at once. */
static uint64_t distance(struct bench *b)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    uint64_t n = 1;

    while (!spe_spu_step(b->spu, 0))
        assert_true(n++ < UINT32_MAX);
    assert_int_equal(bench_finish(b, &op), SPE_FATE_WRITTEN);
    return n;
}

static void run(struct bench *b, unsigned members)
{
    while (members--)
        assert_int_equal(spe_spu_step(b->spu, 0), 0);
}

static const uint8_t forced[] = {5};

static void force(struct bench *b, const uint8_t *bytes, size_t size)
{
    b->random = bytes;
    b->random_size = size;
    b->random_at = 0;
}

/* ---- PMSIRR_EL1.RND is 0 -------------------------------------------------------------------- */

static void test_period(void **state)
{
    static const char *const units[][2] = {
        {ALL, ""}, /* FEAT_SPE_ERnd makes no difference */
        {NO_ERND, "reload_point=before_random"},
        {NO_ERND, "reload_point=at_selection"}, /* D17.3-009 */
    };
    static const unsigned intervals[] = {1, 2, 16, 255};
    struct bench b;

    (void)state;
    for (size_t u = 0; u < COUNT(units); u++) {
        bench_open(&b, units[u][0], units[u][1]);
        for (size_t i = 0; i < COUNT(intervals); i++) {
            restart(&b, intervals[i] << 8, 0);
            for (unsigned sample = 0; sample < 20; sample++)
                /* D17.3-008 */ /* D17.3-023 */
                assert_int_equal(distance(&b), intervals[i] * 256 + 1);
        }
        bench_close(&b);
    }
}

/* The first sample after software has written COUNT. */
static void test_first(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, NO_ERND, "reload_point=before_random");
    for (unsigned c = 1; c < 700; c += 37) {
        restart(&b, 0x100, c);
        assert_int_equal(distance(&b), c); /* D17.3-001 */
    }
    bench_close(&b);
    bench_open(&b, NO_ERND, "reload_point=at_selection");
    for (unsigned c = 1; c < 700; c += 37) {
        restart(&b, 0x100, c);
        assert_int_equal(distance(&b), c + 1); /* D17.3-001 */ /* D17.3-009 */
    }
    bench_close(&b);
}

static void check_trace(struct bench *b, uint64_t start)
{
    for (uint64_t expected = start; expected > 1;) {
        assert_int_equal(count(b), expected);
        run(b, 1);
        expected--;
        /* D17.3-004 */ /* D17.3-021 */ /* D17.3-024 */ /* D17.3-027 */
        assert_int_equal(count(b), expected);
    }
}

static void test_decrement(void **state)
{
    static const char *const features[] = {ALL, NO_ERND};
    struct bench b;

    (void)state;
    for (size_t f = 0; f < COUNT(features); f++)
        for (unsigned rnd = 0; rnd < 2; rnd++) {
            bench_open(&b, features[f], "rng_kind=user");
            force(&b, forced, 1);
            restart(&b, 0x300 | rnd, 600);
            check_trace(&b, 600);
            bench_close(&b);
        }
}

static void test_reload(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, NO_ERND, "");
    restart(&b, 0x700, 2);
    assert_int_equal(distance(&b), 2);
    assert_int_equal(count(&b), 0); /* software can see it */
    run(&b, 1);
    assert_int_equal(count(&b), 0x700); /* D17.3-022 */
    run(&b, 1);
    assert_int_equal(count(&b), 0x6ff);
    bench_close(&b);

    bench_open(&b, NO_ERND, "reload_point=at_selection");
    restart(&b, 0x700, 2);
    assert_int_equal(distance(&b), 3);
    assert_int_equal(count(&b), 0x700); /* D17.3-022 */ /* D17.3-009 */
    bench_close(&b);
}

/* ---- PMSIRR_EL1.RND is 1 -------------------------------------------------------------------- */

static void test_random_before(void **state)
{
    static const uint8_t bytes[] = {0, 255, 1, 128, 17};
    static const char *const points[] = {"before_random", "at_selection"};
    char options[80];
    struct bench b;

    (void)state;
    for (size_t p = 0; p < COUNT(points); p++) {
        snprintf(options, sizeof(options), "rng_kind=user reload_point=%s", points[p]);
        bench_open(&b, NO_ERND, options);
        force(&b, bytes, sizeof(bytes));
        restart(&b, 0x201, 0);
        assert_int_equal(count(&b), 0x200); /* byte 0 */
        for (unsigned i = 0; i < 12; i++) {
            /* D17.3-024: at zero a member is selected */ /* D17.3-015: before_countdown */
            assert_int_equal(distance(&b), 0x201 + bytes[i % COUNT(bytes)]);
            if (p == 1) /* D17.3-025 */
                assert_int_equal(count(&b), 0x200 + bytes[(i + 1) % COUNT(bytes)]);
        }
        bench_close(&b);
    }
    bench_open(&b, NO_ERND, "rng_kind=user");
    force(&b, bytes + 3, 1);
    restart(&b, 0x201, 1);
    assert_int_equal(distance(&b), 1);
    run(&b, 1);
    assert_int_equal(count(&b), 0x280); /* D17.3-025 */
    assert_int_equal(ecount(&b), 0);    /* D17.3-002: there is none */
    bench_close(&b);
}

/* With FEAT_SPE_ERnd: r members after the primary counter has reached zero. */
static void check_secondary(struct bench *b, uint8_t r, unsigned extra)
{
    unsigned delay = r ? r + extra : 0;

    force(b, &r, 1);
    restart(b, 0x201, 3);
    run(b, 2);
    assert_int_equal(count(b), 1);
    if (r == 0) { /* D17.3-030 */
        assert_int_equal(distance(b), 1);
        assert_int_equal(bench_get(b, SPE_REG_PMSICR_EL1), 0);
        return;
    }
    run(b, 1); /* D17.3-030: the primary counter alone selects nothing */
    assert_int_equal(count(b), 0);
    assert_int_equal(ecount(b), r); /* D17.3-029 */
    run(b, delay > 1);
    if (delay > 1)
        assert_int_equal(count(b), 0x200); /* D17.3-028 */
    for (unsigned i = 2; i < delay; i++) {
        assert_int_equal(ecount(b), r - (i - 1));    /* D17.3-031 */
        assert_int_equal(count(b), 0x200 - (i - 2)); /* D17.3-031 */
        run(b, 1);
    }
    assert_int_equal(distance(b), 1); /* D17.3-032 */ /* D17.3-033 */
    assert_int_equal(ecount(b), 0);
}

static void test_random_after(void **state)
{
    static const char *const selects[] = {"ecount_select=on_reach", "ecount_select=next"};
    char options[80];
    struct bench b;

    (void)state;
    for (unsigned extra = 0; extra < 2; extra++) { /* D17.3-033 */
        snprintf(options, sizeof(options), "rng_kind=user %s", selects[extra]);
        bench_open(&b, ALL, options);
        for (unsigned r = 0; r < 256; r++)
            check_secondary(&b, (uint8_t)r, extra);
        bench_close(&b);
    }
}

/* Primary zeros stay one period apart, whatever comes between. */
static void test_random_does_not_accumulate(void **state)
{
    static const uint8_t bytes[] = {255, 0, 7, 255, 255, 1};
    uint64_t position = 0;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "rng_kind=user");
    force(&b, bytes, sizeof(bytes));
    restart(&b, 0x101, 0);
    for (unsigned i = 0; i < 60; i++) {
        position += distance(&b);
        /* D17.3-005 */ /* D17.3-034 */ /* D17.3-015: after_zero */
        assert_int_equal(position, 257 * (i + 1) + bytes[i % COUNT(bytes)]);
    }
    assert_int_equal(b.random_drawn, 60);
    bench_close(&b);
}

/* ---- Loading (D17.3.3) ---------------------------------------------------------------------- */

static void test_initial_load(void **state)
{
    static const struct {
        const char *features;
        uint64_t pmsirr, loaded;
    } cases[] = {
        {ALL, 0x12300, 0x12300},           /* D17.3-018 */
        {NO_ERND, 0x12300, 0x12300},       /* D17.3-018 */
        {NO_ERND, 0xffffff01, 0xffffff05}, /* D17.3-019 */
        {ALL, 0xffffff01, 0xffffff00},     /* D17.3-020 */
    };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bench_open(&b, cases[i].features, "rng_kind=user");
        force(&b, forced, 1);
        restart(&b, cases[i].pmsirr, 0);
        /* D17.3-017 */ /* D17.3-018 */ /* D17.3-019 */ /* D17.3-020 */
        assert_int_equal(bench_get(&b, SPE_REG_PMSICR_EL1), cases[i].loaded);
        bench_close(&b);
    }
}

static void test_initial_load_covers_the_range(void **state)
{
    static const char *const kinds[] = {"rng_kind=lfsr", "rng_kind=xorshift"};
    struct bench b;

    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        bool seen[256] = {false};

        bench_open(&b, NO_ERND, kinds[k]);
        for (unsigned i = 0; i < 8192; i++) {
            restart(&b, 0x501, 0);
            assert_int_equal(count(&b) >> 8, 5);
            seen[count(&b) & 0xff] = true;
        }
        for (unsigned i = 0; i < 256; i++)
            assert_true(seen[i]); /* D17.3-019 */
        bench_close(&b);
    }
}

/* The test is on the whole register. */
static void test_no_load(void **state)
{
    uint8_t r = 9;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "rng_kind=user");
    force(&b, &r, 1);
    restart(&b, 0x201, 77);
    assert_int_equal(bench_get(&b, SPE_REG_PMSICR_EL1), 77); /* D17.3-016 */
    restart(&b, 0x201, BIT(56) * 4);
    assert_int_equal(bench_get(&b, SPE_REG_PMSICR_EL1), BIT(56) * 4); /* D17.3-017 */
    run(&b, 1);
    assert_int_equal(count(&b), 0x200); /* the next member does it */
    assert_int_equal(distance(&b), 3);  /* D17.3-016: ECOUNT goes on */
    restart(&b, 0x201, BIT(56) * 4 | 77);
    assert_int_equal(bench_get(&b, SPE_REG_PMSICR_EL1), BIT(56) * 4 | 77); /* D17.3-016 */
    bench_close(&b);
}

/* Without FEAT_SPE_ERnd a write cannot make ECOUNT nonzero. */
static void test_no_secondary(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, NO_ERND, "");
    restart(&b, 0x200, UINT64_C(0xff00000000000009));
    assert_int_equal(bench_get(&b, SPE_REG_PMSICR_EL1), 9); /* D17.3-002 */
    assert_int_equal(distance(&b), 9);
    bench_close(&b);
    bench_open(&b, ALL, "");
    restart(&b, 0x200, UINT64_C(0xff00000000000009));
    assert_int_equal(ecount(&b), 0xff); /* D17.3-002 */
    assert_int_equal(distance(&b), 9);
    assert_int_equal(ecount(&b), 0xff); /* RND is 0: it does not count */
    bench_close(&b);
}

/* The invalid combinations are refused. */
static void test_options(void **state)
{
    static const char *const refused[][2] = {
        {ALL, "reload_point=at_selection"},              /* D17.3-009 */
        {ALL, "random_when=before_countdown"},           /* D17.3-015 */
        {NO_ERND, "random_when=after_zero"},             /* D17.3-015 */
        {NO_ERND, "ecount_select=next"},                 /* D17.3-033 */
        {ALL, "feat_spe_ernd=0 random_when=after_zero"}, /* D17.3-002 */
    };
    struct spe_spu_config config;
    char why[256];
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        assert_int_equal(bench_create(&b, refused[i][0], refused[i][1], why, sizeof(why)),
                         SPE_ERR_INVALID);
        assert_non_null(strstr(why, "option"));
    }
    bench_config(&config, ALL, "");
    /* D17.3-006 */ /* D17.3-040 */ /* D17.3-012 */ /* D17.3-038 */
    assert_int_equal(spe_spu_option_set(&config, "sample_pick", "256", NULL, 0), SPE_ERR_INVALID);
    assert_int_equal(spe_spu_option_set(&config, "max_inflight_samples", "0", NULL, 0),
                     SPE_ERR_INVALID);
    assert_int_equal(spe_spu_option_set(&config, "rng_kind", "dice", NULL, 0), SPE_ERR_INVALID);
    assert_int_equal(spe_spu_option_set(&config, "sample_stage", "fetch", NULL, 0),
                     SPE_ERR_INVALID);
}

/* ---- Changes while a count is on ------------------------------------------------------------ */

static void test_interval_change(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    restart(&b, 0x200, 0);
    run(&b, 100);
    bench_set(&b, SPE_REG_PMSIRR_EL1, 0x100);
    assert_int_equal(count(&b), 0x200 - 99); /* it is only read at the next load */
    assert_int_equal(distance(&b), 0x201 - 100);
    assert_int_equal(distance(&b), 0x101);
    bench_close(&b);
}

/* RND is looked at when the primary counter reaches zero, and ECOUNT counts only while it is 1. */
static void test_random_change(void **state)
{
    uint8_t r = 50;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "rng_kind=user");
    force(&b, &r, 1);
    restart(&b, 0x200, 10);
    run(&b, 9);
    bench_set(&b, SPE_REG_PMSIRR_EL1, 0x201);
    run(&b, 1 + 20);
    assert_int_equal(ecount(&b), 30);
    bench_set(&b, SPE_REG_PMSIRR_EL1, 0x200);
    run(&b, 100);
    assert_int_equal(ecount(&b), 30);
    assert_int_equal(count(&b), 0x200 - 119);
    bench_set(&b, SPE_REG_PMSIRR_EL1, 0x201);
    assert_int_equal(distance(&b), 30);
    bench_close(&b);
}

/* The member after ECOUNT has reached zero waits while RND is 0, and is forgotten by a write. */
static void test_due_change(void **state)
{
    uint8_t r = 5;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "rng_kind=user ecount_select=next");
    force(&b, &r, 1);
    for (unsigned write = 0; write < 2; write++) {
        restart(&b, 0x201, 1);
        run(&b, 1 + 5);
        assert_int_equal(ecount(&b), 0);
        bench_set(&b, SPE_REG_PMSIRR_EL1, 0x200);
        run(&b, 7);
        bench_set(&b, SPE_REG_PMSIRR_EL1, 0x201);
        if (write) {
            bench_set(&b, SPE_REG_PMSICR_EL1, 100);
            assert_int_equal(distance(&b), 106);
        } else {
            assert_int_equal(distance(&b), 1);
        }
    }
    bench_close(&b);
}

/* Software restarts the count while profiling is enabled: the next member loads it. */
static void test_write_while_enabled(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    restart(&b, 0x300, 0);
    run(&b, 200);
    bench_set(&b, SPE_REG_PMSICR_EL1, 0);
    assert_int_equal(count(&b), 0);
    assert_int_equal(distance(&b), 0x301);
    run(&b, 10);
    bench_set(&b, SPE_REG_PMSICR_EL1, 4);
    assert_int_equal(distance(&b), 4);
    bench_close(&b);
}

/* ---- Disabled (D17.3.5) --------------------------------------------------------------------- */

/* The ways in which profiling is disabled; each must stop everything. */
static void disable_by(struct bench *b, unsigned way)
{
    switch (way) {
    case 0:
        enable(b, false);
        break;
    case 1:
        bench_set(b, SPE_REG_PMBLIMITR_EL1, BUFFER_BASE + BUFFER_SIZE);
        break;
    case 2:
        b->pe.el = 2;
        bench_pe(b);
        break;
    case 3:
        b->pe.el = 3; /* D18.2-016: also no records */
        bench_pe(b);
        break;
    case 4:
        b->pe.scr_el3 &= ~SCR_NS;
        bench_pe(b);
        break;
    case 5:
        b->pe.debug = true;
        bench_pe(b);
        break;
    default:
        bench_set(b, SPE_REG_PMBSR_EL1, BIT(17));
    }
}

static void enable_again(struct bench *b)
{
    b->pe.el = 0;
    b->pe.debug = false;
    b->pe.scr_el3 |= SCR_NS;
    bench_pe(b);
    bench_set(b, SPE_REG_PMBSR_EL1, 0);
    bench_set(b, SPE_REG_PMBLIMITR_EL1, (BUFFER_BASE + BUFFER_SIZE) | 1);
    enable(b, true);
}

static void test_disabled(void **state)
{
    uint8_t r = 100;
    struct bench b;

    (void)state;
    for (unsigned way = 0; way < 7; way++) {
        uint64_t before, population;

        bench_open(&b, ALL, "rng_kind=user");
        force(&b, &r, 1);
        restart(&b, 0x201, 1);
        run(&b, 1 + 40); /* 60 to go in ECOUNT */
        before = bench_get(&b, SPE_REG_PMSICR_EL1);
        population = bench_pmu(&b, SPE_PMU_SAMPLE_POP);
        disable_by(&b, way);
        assert_false(spe_spu_status(b.spu)->enabled);
        assert_int_equal(spe_spu_budget(b.spu), UINT64_MAX);
        run(&b, 2000); /* D17.3-035 */
        assert_int_equal(spe_spu_advance(b.spu, UINT64_MAX), SPE_OK);
        assert_int_equal(bench_get(&b, SPE_REG_PMSICR_EL1), before); /* D17.3-037 */
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_POP), population);
        assert_int_equal(bench_get(&b, SPE_REG_PMBPTR_EL1), BUFFER_BASE);
        assert_int_equal(b.written, 0); /* D17.3-036 */ /* D18.2-016 */
        enable_again(&b);
        /* D17.3-005: the random count stood still too */ /* D17.3-016 */
        assert_int_equal(distance(&b), 60);
        bench_close(&b);
    }
}

/* ---- Population (D17.2, D17.6.7) ------------------------------------------------------------ */

/* One operation with these flags, in a unit that counts those of `set`. */
static void check_population(const char *options, unsigned set, unsigned flags)
{
    bool member = !(flags & ~set);
    struct bench b;

    bench_open(&b, ALL, options);
    restart(&b, 0x200, 100);
    assert_int_equal(spe_spu_in_population(b.spu, flags), member);
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(spe_spu_step(b.spu, flags), 0);
    /* D17.3-021 */ /* D17.6-157 */ /* D17.6-158 */ /* D17.6-197 */
    assert_int_equal(count(&b), member ? 50 : 100);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_POP), member ? 50 : 0);
    bench_set(&b, SPE_REG_PMSICR_EL1, 1); /* the next member is sampled */
    assert_int_equal(spe_spu_step(b.spu, flags), member);
    assert_int_equal(spe_spu_step(b.spu, 0), !member);
    bench_close(&b);
}

static void test_population(void **state)
{
    char options[80];

    (void)state;
    for (unsigned set = 0; set < 8; set++) {
        /* D17.6-157 */ /* D17.6-158 */ /* D17.6-197 */
        snprintf(options, sizeof(options), "pop_misspec=%u pop_nonarch=%u pop_nonarch_exc=%u",
                 set & 1, set >> 1 & 1, set >> 2 & 1);
        for (unsigned flags = 0; flags < 8; flags++)
            check_population(options, set, flags);
    }
}

/* ---- Collisions (D17.3.7) ------------------------------------------------------------------- */

static void test_collisions(void **state)
{
    static const unsigned limits[] = {1, 2, 3, 17};
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct spe_spu_stats stats;
    char options[80];
    struct bench b;

    (void)state;
    for (size_t l = 0; l < COUNT(limits); l++) {
        unsigned n = limits[l];

        snprintf(options, sizeof(options), "max_inflight_samples=%u", n);
        bench_open(&b, ALL, options);
        for (unsigned i = 1; i <= n; i++) {
            bench_set(&b, SPE_REG_PMSICR_EL1, 1);
            assert_int_equal(spe_spu_step(b.spu, 0), i); /* D17.3-040 */
        }
        assert_int_equal(bench_get(&b, SPE_REG_PMBSR_EL1), 0);
        for (unsigned i = 1; i <= 5; i++) {
            bench_set(&b, SPE_REG_PMSICR_EL1, 1);
            /* D17.3-040 */ /* D17.3-041 */ /* D17.3-045 */
            assert_int_equal(spe_spu_step(b.spu, 0), 0);
            assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_COLLISION), i); /* D17.3-042 */
        }
        assert_int_equal(bench_get(&b, SPE_REG_PMBSR_EL1), BIT(16));
        assert_true(spe_spu_status(b.spu)->enabled);
        for (unsigned i = 0; i < n; i++) {
            op.pc = 0x1000 + i;
            assert_int_equal(bench_finish(&b, &op), SPE_FATE_WRITTEN); /* D17.3-045 */
            assert_int_equal(address_of(&b, SPE_ADDRESS_PC), op.pc);
        }
        assert_int_equal(bench_finish(&b, &op), SPE_ERR_INVALID); /* there is no other */
        spe_spu_stats(b.spu, &stats);
        assert_int_equal(stats.selected, n + 5);
        assert_int_equal(stats.collisions, 5);
        assert_int_equal(stats.sampled, n);
        bench_close(&b);
    }
}

/* The Other event column of Table D17-7: {PMSEE, PMSCR_EL2.EE} -> x of PMBSR_ELx. */
static const struct {
    const char *pmsee, *ee;
    unsigned x;
} table_7[] = {
    {"00", "xx", 1}, {"01", "0x", 1}, {"01", "10", 1}, {"01", "11", 2},
    {"10", "0x", 1}, {"10", "10", 1}, {"10", "11", 2}, {"11", "xx", 3},
};

static bool bits_match(const char *pattern, unsigned value)
{
    for (unsigned i = 0; i < 2; i++)
        if (pattern[i] != 'x' && (unsigned)(pattern[i] - '0') != (value >> (1 - i) & 1))
            return false;
    return true;
}

static unsigned other_event(unsigned pmsee, unsigned ee)
{
    for (size_t i = 0; i < COUNT(table_7); i++)
        if (bits_match(table_7[i].pmsee, pmsee) && bits_match(table_7[i].ee, ee))
            return table_7[i].x;
    fail_msg("no row for PMSEE %u, EE %u", pmsee, ee);
    return 0;
}

/* Whatever the registers held, COLL of one of them is all that changes. */
static void check_collision_route(struct bench *b, unsigned x)
{
    static const enum spe_register registers[] = {SPE_REG_PMBSR_EL1, SPE_REG_PMBSR_EL2,
                                                  SPE_REG_PMBSR_EL3};
    uint64_t before[3];

    for (unsigned i = 0; i < 3; i++) {
        bench_set(b, registers[i], UINT64_C(0x0012340094080021) + i); /* EC, DL, MSS; not S */
        before[i] = bench_get(b, registers[i]);
        assert_false(before[i] & BIT(16));
    }
    bench_select(b);
    bench_set(b, SPE_REG_PMSICR_EL1, 1);
    assert_int_equal(spe_spu_step(b->spu, 0), 0);
    for (unsigned i = 0; i < 3; i++) /* D17.3-043 */ /* D17.3-044 */
        assert_int_equal(bench_get(b, registers[i]), before[i] | (i + 1 == x ? BIT(16) : 0));
    assert_false(spe_spu_interrupt(b->spu)); /* D17.3-044 */
    assert_false(spe_spu_status(b->spu)->stopped);
}

static void test_collision_route(void **state)
{
    struct spe_exception exception;
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 16; n++) {
        unsigned pmsee = n & 3, ee = n >> 2;

        bench_open(&b, ALL, "");
        b.pe.mdcr_el3 = (b.pe.mdcr_el3 & ~(UINT64_C(3) << 51)) | (uint64_t)pmsee << 51;
        bench_pe(&b);
        bench_set(&b, SPE_REG_PMSCR_EL2, 0x10 | (uint64_t)ee << 8);
        check_collision_route(&b, other_event(pmsee, ee));
        spe_spu_exception(b.spu, &exception);
        assert_int_equal(exception.masking, SPE_MASK_DISABLED); /* D17.3-044 */
        bench_close(&b);
    }
}

/* RLTMKQ: collision, Context synchronization event, direct read. */
static void test_collision_is_seen(void **state)
{
    unsigned encoding = (unsigned)spe_register_encoding(SPE_REG_PMBSR_EL1);
    struct spe_register_access access;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    b.pe.el = 1;
    bench_pe(&b);
    bench_select(&b);
    bench_set(&b, SPE_REG_PMSICR_EL1, 1);
    assert_int_equal(spe_spu_step(b.spu, 0), 0);
    spe_spu_context_sync(b.spu);
    assert_int_equal(spe_spu_read(b.spu, encoding, 0, &access), SPE_OK);
    assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
    assert_int_equal(access.value, BIT(16)); /* D17.3-047 */
    bench_close(&b);
}

/* A number in flight is free again when its operation has ended, in any order. */
static void test_numbers(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "max_inflight_samples=3");
    for (int i = 1; i <= 3; i++) {
        bench_set(&b, SPE_REG_PMSICR_EL1, 1);
        assert_int_equal(spe_spu_step(b.spu, 0), i);
    }
    assert_int_equal(spe_spu_complete(b.spu, 2, &op), SPE_FATE_WRITTEN);
    bench_set(&b, SPE_REG_PMSICR_EL1, 1);
    assert_int_equal(spe_spu_step(b.spu, 0), 2);
    assert_int_equal(spe_spu_in_flight(b.spu), 3);
    spe_spu_reset(b.spu); /* all of them are free again */
    assert_int_equal(spe_spu_in_flight(b.spu), 0);
    bench_set(&b, SPE_REG_PMSCR_EL1, PMSCR_ON);
    bench_set(&b, SPE_REG_PMBPTR_EL1, BUFFER_BASE);
    bench_set(&b, SPE_REG_PMBSR_EL1, 0);
    bench_set(&b, SPE_REG_PMBLIMITR_EL1, (BUFFER_BASE + BUFFER_SIZE) | 1);
    for (int i = 1; i <= 3; i++) {
        bench_set(&b, SPE_REG_PMSICR_EL1, 1);
        assert_int_equal(spe_spu_step(b.spu, 0), i);
    }
    bench_close(&b);
}

/* ---- The operation that is chosen ----------------------------------------------------------- */

static void test_chosen_operation(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    restart(&b, 0x100, 0);
    for (uint64_t i = 1; i <= 257 * 5; i++) {
        struct spe_operation op = operation(SPE_OPERATION_OTHER);

        op.pc = i * 4;
        if (!spe_spu_step(b.spu, 0))
            continue;
        assert_int_equal(i % 257, 0);
        assert_int_equal(b.written, 0); /* D17.3-011 */
        bench_finish(&b, &op);
        assert_true(b.written > 0);
        assert_int_equal(address_of(&b, SPE_ADDRESS_PC), i * 4); /* D17.3-010 */
        b.written = 0;
    }
    bench_close(&b);
}

static void test_skid(void **state)
{
    static const unsigned skids[] = {1, 7, 255};
    char options[80];
    struct bench b;

    (void)state;
    for (size_t s = 0; s < COUNT(skids); s++) {
        uint64_t position = 0;
        unsigned least = 1000, most = 0;

        snprintf(options, sizeof(options), "sample_pick=%u", skids[s]);
        bench_open(&b, ALL, options);
        restart(&b, 0x100, 0);
        for (uint64_t i = 1; i <= 3000; i++) {
            unsigned late;

            position += distance(&b);
            assert_true(position >= i * 257);
            late = (unsigned)(position - i * 257);
            assert_true(late <= skids[s]); /* D17.3-006 */
            least = late < least ? late : least;
            most = late > most ? late : most;
        }
        assert_int_equal(least, 0);
        assert_int_equal(most, skids[s]); /* D17.3-006 */
        bench_close(&b);
    }
}

/* Sampling points closer than the skid: none is lost, and no member is taken twice. */
static void test_skid_overlap(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct spe_spu_stats stats;
    unsigned sampled = 0;
    struct bench b;

    (void)state;
    bench_open(&b, NO_ERND, "sample_pick=9 reload_point=at_selection");
    restart(&b, 0, 1); /* INTERVAL 0: every member from the second on */
    for (unsigned i = 0; i < 1001; i++)
        if (spe_spu_step(b.spu, 0)) {
            sampled++;
            bench_finish(&b, &op);
        }
    assert_in_range(sampled, 999, 1000); /* the last may still wait */
    bench_set(&b, SPE_REG_PMSICR_EL1, 50);
    run(&b, 50); /* and is forgotten when software starts again */
    spe_spu_stats(b.spu, &stats);
    assert_int_equal(stats.selected, sampled);
    bench_close(&b);
}

static void test_wake(void **state)
{
    struct bench b;

    (void)state;
    for (unsigned wakes = 0; wakes < 2; wakes++) {
        bench_open(&b, ALL, wakes ? "wfx_sample_wakes=1" : "wfx_sample_wakes=0");
        bench_select(&b);
        assert_int_equal(b.wakes, wakes); /* D18.2-046 */
        bench_set(&b, SPE_REG_PMSICR_EL1, 1);
        assert_int_equal(spe_spu_step(b.spu, 0), 0); /* a collision is not a sample */
        assert_int_equal(b.wakes, wakes);
        bench_close(&b);
    }
}

/* ---- The generator (D17.3.2) ---------------------------------------------------------------- */

static uint8_t draw(struct bench *b)
{
    restart(b, 0x101, 0);
    return (uint8_t)count(b);
}

static void test_generator_after_reset(void **state)
{
    static const char *const kinds[] = {"lfsr", "xorshift"};
    static const char *const seeds[] = {"0", "1", "2", "0x8000000000000000", "0xffffffffffffffff"};
    char options[100];
    struct bench b;

    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t s = 0; s < COUNT(seeds); s++) {
            bool seen[256] = {false};
            unsigned different = 0, first[8], equal = 0;

            /* D17.3-012 */
            snprintf(options, sizeof(options), "rng_kind=%s rng_seed=%s", kinds[k], seeds[s]);
            bench_open(&b, NO_ERND, options);
            for (unsigned i = 0; i < 4096; i++) {
                uint8_t byte = draw(&b);

                different += !seen[byte];
                seen[byte] = true;
                if (i < 8)
                    first[i] = byte;
            }
            assert_int_equal(different, 256); /* D17.3-013 */
            spe_spu_reset(b.spu);
            bench_set(&b, SPE_REG_PMBLIMITR_EL1, (BUFFER_BASE + BUFFER_SIZE) | 1);
            for (unsigned i = 0; i < 8; i++)
                equal += draw(&b) == first[i];
            assert_int_equal(equal, 8); /* D17.3-012: the seed decides */
            bench_close(&b);
        }
}

static void test_generator_register(void **state)
{
    static const char *const kinds[] = {"rng_config_regs=present rng_kind=lfsr",
                                        "rng_config_regs=present rng_kind=xorshift"};
    struct spe_register_access access;
    uint8_t sequence[16];
    struct bench b;

    (void)state;
    bench_open(&b, NO_ERND, "rng_config_regs=none");
    b.pe.el = 1;
    bench_pe(&b);
    assert_int_equal(spe_spu_read(b.spu, SPE_SYSREG_RNG, 0, &access), SPE_ERR_UNKNOWN);
    bench_close(&b);
    for (size_t k = 0; k < COUNT(kinds); k++) {
        uint64_t kept;
        unsigned different = 0;

        bench_open(&b, NO_ERND, kinds[k]);
        kept = bench_get(&b, SPE_REG_RNG);
        for (size_t i = 0; i < COUNT(sequence); i++)
            sequence[i] = draw(&b);
        bench_set(&b, SPE_REG_RNG, kept);
        for (size_t i = 0; i < COUNT(sequence); i++)
            assert_int_equal(draw(&b), sequence[i]); /* D17.3-014 */
        bench_set(&b, SPE_REG_RNG, 0);               /* the state in which it would be stuck */
        for (size_t i = 0; i < COUNT(sequence); i++) {
            sequence[i] = draw(&b);
            different += i && sequence[i] != sequence[i - 1];
        }
        assert_true(different > 10); /* D17.3-013 */
        bench_close(&b);
    }
}

static void test_generator_of_the_host(void **state)
{
    struct spe_spu_host host = {.size = sizeof(host)};
    struct spe_spu_config config;
    struct spe_spu *spu = NULL;
    char why[128];

    (void)state;
    bench_config(&config, ALL, "rng_kind=user"); /* D17.3-012 */
    assert_int_equal(spe_spu_create(&config, &host, &spu, why, sizeof(why)), SPE_ERR_INVALID);
    assert_null(spu);
}

/* ---- The batch interface -------------------------------------------------------------------- */

static void test_budget(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    restart(&b, 0x1000, 0);
    assert_int_equal(spe_spu_budget(b.spu), 0x1000);
    assert_int_equal(spe_spu_advance(b.spu, 0x1001), SPE_ERR_RANGE);
    assert_int_equal(spe_spu_budget(b.spu), 0x1000); /* nothing has happened */
    assert_int_equal(count(&b), 0x1000);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_POP), 0);
    assert_int_equal(spe_spu_advance(b.spu, 0xfff), SPE_OK);
    assert_int_equal(count(&b), 2);
    assert_int_equal(spe_spu_advance(b.spu, 0), SPE_OK);
    assert_int_equal(spe_spu_advance(b.spu, 1), SPE_OK);
    assert_int_equal(spe_spu_budget(b.spu), 0);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_POP), 0x1000);
    assert_int_equal(spe_spu_step(b.spu, 0), 1);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_POP), 0x1001);
    bench_close(&b);
}

/* ---- After a fault (D17.8-009) -------------------------------------------------------------- */

static void test_late_samples(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    for (unsigned late = 0; late < 4; late++) {
        char options[80];
        unsigned taken = 0;

        snprintf(options, sizeof(options), "fault_late_samples=%u", late);
        bench_open(&b, ALL, options);
        b.faults = true;
        assert_int_equal(bench_sample(&b, &op), SPE_FATE_FAULT);
        assert_int_equal(spe_spu_status(b.spu)->stopped, late == 0);
        for (unsigned i = 0; i < 5000; i++)
            if (spe_spu_step(b.spu, 0)) {
                taken++;
                assert_int_equal(spe_spu_status(b.spu)->stopped, taken == late);
                assert_int_equal(bench_finish(&b, &op), SPE_FATE_STOPPED);
            }
        assert_int_equal(taken, late); /* D17.8-009 */
        b.faults = false;
        bench_set(&b, SPE_REG_PMBSR_EL1, 0);
        bench_set(&b, SPE_REG_PMBSR_EL2, 0);
        bench_set(&b, SPE_REG_PMBSR_EL3, 0);
        assert_int_equal(bench_sample(&b, &op), SPE_FATE_WRITTEN);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_period),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_decrement),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_random_before),
        cmocka_unit_test(test_random_after),
        cmocka_unit_test(test_random_does_not_accumulate),
        cmocka_unit_test(test_initial_load),
        cmocka_unit_test(test_initial_load_covers_the_range),
        cmocka_unit_test(test_no_load),
        cmocka_unit_test(test_no_secondary),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_interval_change),
        cmocka_unit_test(test_random_change),
        cmocka_unit_test(test_due_change),
        cmocka_unit_test(test_write_while_enabled),
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_population),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_collision_route),
        cmocka_unit_test(test_collision_is_seen),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_chosen_operation),
        cmocka_unit_test(test_skid),
        cmocka_unit_test(test_skid_overlap),
        cmocka_unit_test(test_wake),
        cmocka_unit_test(test_generator_after_reset),
        cmocka_unit_test(test_generator_register),
        cmocka_unit_test(test_generator_of_the_host),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_late_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
