/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Ticks <-> nanoseconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/perfdata.h>

#include "../support/random.h"

/* What the kernel's formula gives for common counters, an hour ahead. */
static void test_frequencies(void **state)
{
    static const struct {
        uint64_t hz, shift, mult;
    } known[] = {
        {25000000, 21, 83886080},
        {62500000, 21, 33554432},
        {100000000, 21, 20971520},
        {1000000000, 21, 2097152},
    };
    struct spe_perf_time_conv tc;

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        assert_int_equal(spe_perf_time_from_hz(&tc, known[i].hz), SPE_OK);
        assert_int_equal(tc.shift, known[i].shift);
        assert_int_equal(tc.mult, known[i].mult);
        assert_int_equal(spe_perf_time_to_ns(&tc, known[i].hz * 60), UINT64_C(60000000000));
    }
    assert_int_equal(spe_perf_time_from_hz(&tc, 0), SPE_ERR_RANGE);
    assert_int_equal(spe_perf_time_from_hz(&tc, UINT64_C(1) << 32), SPE_ERR_RANGE);
    for (uint64_t hz = 1; hz < UINT32_MAX; hz = hz * 3 + 1) {
        assert_int_equal(spe_perf_time_from_hz(&tc, hz), SPE_OK);
        assert_true(tc.shift < 32 && tc.mult <= UINT32_MAX);
    }
}

/* The rule in 64-bit steps, as perf computes it where nothing overflows. */
static uint64_t by_parts(const struct spe_perf_time_conv *tc, uint64_t ticks)
{
    uint64_t low = ticks & ((UINT64_C(1) << tc->shift) - 1);

    return tc->zero + (ticks >> tc->shift) * tc->mult + (low * tc->mult >> tc->shift);
}

/* Many at once are the same as one by one, with any rule that a file may have. */
static void test_many(void **state)
{
    struct random rng = {8};

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        struct spe_perf_time_conv tc = {.shift = random_below(&rng, 64),
                                        .mult = random_next(&rng) >> random_below(&rng, 64),
                                        .zero = random_next(&rng),
                                        .cap_short = random_below(&rng, 2),
                                        .cycles = random_next(&rng) >> random_below(&rng, 64),
                                        .mask = UINT64_MAX >> random_below(&rng, 64)};
        uint64_t ticks[21], ns[21];
        size_t count = random_below(&rng, 22);

        for (size_t j = 0; j < count; j++)
            ticks[j] = random_next(&rng) >> random_below(&rng, 64);
        spe_perf_times_to_ns(&tc, ticks, ns, count);
        for (size_t j = 0; j < count; j++)
            assert_true(ns[j] == spe_perf_time_to_ns(&tc, ticks[j]));
    }
}

static void test_rule(void **state)
{
    struct random rng = {7};

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        struct spe_perf_time_conv tc = {.shift = random_below(&rng, 32),
                                        .mult = random_below(&rng, UINT32_MAX) + UINT64_C(1),
                                        .zero = random_next(&rng)};
        uint64_t ticks = random_next(&rng) >> random_below(&rng, 64), back, ns;

        assert_true(spe_perf_time_to_ns(&tc, ticks) == by_parts(&tc, ticks));
        spe_perf_times_to_ns(&tc, &ticks, &ns, 1);
        assert_true(ns == by_parts(&tc, ticks));
        /* There and back, where the clock has not wrapped. */
        if ((double)ticks * (double)tc.mult / (double)(UINT64_C(1) << tc.shift) > 1e19)
            continue;
        ns = spe_perf_time_to_ns(&tc, ticks);
        back = spe_perf_time_to_ticks(&tc, ns);
        assert_true(back <= ticks);
        assert_true(spe_perf_time_to_ns(&tc, back) - tc.zero <= ns - tc.zero);
        assert_true(spe_perf_time_to_ns(&tc, back + 1) - tc.zero >= ns - tc.zero);
    }
}

/* Products beyond 64 bits, a clock that starts before the counter, and nonsense. */
static void test_edges(void **state)
{
    struct spe_perf_time_conv tc = {.shift = 40, .mult = UINT64_C(1) << 40, .zero = 0};

    (void)state;
    assert_true(spe_perf_time_to_ns(&tc, UINT64_MAX) == UINT64_MAX);
    assert_true(spe_perf_time_to_ticks(&tc, UINT64_MAX) == UINT64_MAX);
    tc.zero = (uint64_t)-1000;
    assert_true(spe_perf_time_to_ns(&tc, 1500) == 500);
    assert_true(spe_perf_time_to_ticks(&tc, 500) == 1500);
    tc.mult = 0;
    assert_int_equal(spe_perf_time_validate(&tc), SPE_ERR_RANGE);
    assert_true(spe_perf_time_to_ns(&tc, 1500) == 0);
    assert_true(spe_perf_time_to_ticks(&tc, 1500) == 0);
    tc.mult = 1;
    tc.shift = 64;
    assert_int_equal(spe_perf_time_validate(&tc), SPE_ERR_RANGE);
    assert_true(spe_perf_time_to_ns(&tc, 1500) == 0);
    assert_true(spe_perf_time_to_ticks(&tc, 1500) == 0);
    tc.shift = 63;
    tc.mult = UINT64_MAX;
    tc.zero = 0;
    assert_true(spe_perf_time_to_ns(&tc, 4) == 7);
}

/* cap_short: a counter of 56 bits goes on counting after it wrapped. */
static void test_short_counter(void **state)
{
    struct spe_perf_time_conv tc = {.shift = 0,
                                    .mult = 1,
                                    .cycles = (UINT64_C(1) << 56) - 100,
                                    .mask = (UINT64_C(1) << 56) - 1,
                                    .cap_short = true};

    (void)state;
    assert_true(spe_perf_time_to_ns(&tc, (UINT64_C(1) << 56) - 50) == (UINT64_C(1) << 56) - 50);
    assert_true(spe_perf_time_to_ns(&tc, 50) == (UINT64_C(1) << 56) + 50);
    tc.cap_short = false;
    assert_true(spe_perf_time_to_ns(&tc, 50) == 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequencies),   cmocka_unit_test(test_rule),
        cmocka_unit_test(test_many),          cmocka_unit_test(test_edges),
        cmocka_unit_test(test_short_counter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
