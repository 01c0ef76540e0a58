/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.3: what intervals and samples look like over many of them. Seeds are fixed; a histogram is
 * flat if Pearson's chi-square stays under what chance exceeds once in 10,000 (sampling_chi.h).
 */
#include "support/sampling_chi.h"
#include "support/sampling_unit.h"

#define NO_ERND ALL ",-spe_ernd"
#define SAMPLES 100000

static const char *const generators[] = {"rng_kind=lfsr", "rng_kind=xorshift"};

static void start(struct bench *b, const char *features, const char *options, uint64_t pmsirr)
{
    bench_open(b, features, options);
    bench_set(b, SPE_REG_PMSCR_EL1, 0);
    bench_set(b, SPE_REG_PMSIRR_EL1, pmsirr);
    bench_set(b, SPE_REG_PMSICR_EL1, 0);
    bench_set(b, SPE_REG_PMSFCR_EL1, 4); /* nothing is long enough: records are not the matter */
    bench_set(b, SPE_REG_PMSLATFR_EL1, 1000);
    bench_set(b, SPE_REG_PMSCR_EL1, PMSCR_ON);
}

/* Members up to and with the one that is sampled. */
static uint64_t distance(struct bench *b)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    uint64_t members = 0;

    for (;;) {
        uint64_t budget = spe_spu_budget(b->spu);

        assert_int_equal(spe_spu_advance(b->spu, budget), SPE_OK);
        members += budget + 1;
        if (spe_spu_step(b->spu, 0))
            break;
    }
    assert_int_equal(spe_spu_sample(b->spu, &op), SPE_FATE_FILTERED);
    return members;
}

/* ---- Intervals ------------------------------------------------------------------------------ */

static void test_random_before(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(generators); g++) { /* D17.3-012 */
        uint32_t histogram[256] = {0};
        uint64_t sum = 0;
        struct bench b;

        start(&b, NO_ERND, generators[g], 0x401);
        for (unsigned i = 0; i < SAMPLES; i++) {
            uint64_t d = distance(&b);

            assert_in_range(d, 0x401, 0x500); /* D17.3-026 */
            histogram[d - 0x401]++;
            sum += d;
        }
        /* X03: +128 and +128.5 are both admitted, one either way. D17.3-026 */
        assert_in_range(sum, SAMPLES * (0x400 + 127.25), SAMPLES * (0x400 + 129.25));
        assert_true(histogram[0] && histogram[255]); /* D17.3-025 */
        assert_true(chi_is_flat(histogram, 256));    /* D17.3-015: before_countdown */
        bench_close(&b);
    }
}

static void check_random_after(const char *generator, const char *select, unsigned extra)
{
    uint32_t histogram[256] = {0};
    uint64_t position = 0, previous = 0;
    char options[80];
    struct bench b;

    snprintf(options, sizeof(options), "%s ecount_select=%s", generator, select);
    start(&b, ALL, options, 0x401);
    for (unsigned i = 1; i <= SAMPLES; i++) {
        unsigned late;

        position += distance(&b);
        late = (unsigned)(position - UINT64_C(0x401) * i);
        assert_true(late <= 255 + extra);
        if (late)
            late -= extra;
        assert_in_range(position - previous, 0x401 - 256, 0x401 + 256); /* D17.3-034 */
        histogram[late]++;
        previous = position;
    }
    /* D17.3-034: the mean is off by no more than one offset over all of them. */
    assert_in_range(position, UINT64_C(0x401) * SAMPLES, UINT64_C(0x401) * SAMPLES + 256);
    assert_true(histogram[0] && histogram[255]);              /* D17.3-029 */
    assert_true(chi_is_flat(histogram, 256)); /* D17.3-029 */ /* D17.3-015: after_zero */
    bench_close(&b);
}

static void test_random_after(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(generators); g++) {      /* D17.3-012 */
        check_random_after(generators[g], "on_reach", 0); /* D17.3-033 */
        check_random_after(generators[g], "next", 1);     /* D17.3-033 */
    }
}

static void test_skid_is_flat(void **state)
{
    uint32_t histogram[64] = {0};
    uint64_t position = 0;
    struct bench b;

    (void)state;
    start(&b, ALL, "sample_pick=63", 0x100);
    for (unsigned i = 1; i <= SAMPLES; i++) {
        position += distance(&b);
        histogram[position - UINT64_C(0x101) * i]++;
    }
    assert_true(chi_is_flat(histogram, 64)); /* D17.3-006 */ /* D17.3-007 */
    bench_close(&b);
}

/* ---- Loops ---------------------------------------------------------------------------------- */

/*
 * Which operation of a loop is sampled. The period without the random part, INTERVAL*256+1, is a
 * prime here (257 and 3329): where it has a common factor with the loop's length, the secondary
 * counter alone cannot be even, for 256 is not a multiple of every length.
 */
static void check_loops(const char *features, const char *options, unsigned interval)
{
    struct bench b;

    start(&b, features, options, interval << 8 | 1);
    for (unsigned length = 1; length <= 64; length++) {
        uint32_t histogram[64] = {0};
        uint64_t position = 0;

        for (unsigned i = 0; i < 8000; i++) {
            position += distance(&b);
            histogram[position % length]++;
        }
        if (!chi_is_flat(histogram, length)) /* D17.3-007 */
            fail_msg("%s, interval %u: a loop of %u is sampled unevenly", options, interval,
                     length);
    }
    bench_close(&b);
}

static void test_loops(void **state)
{
    static const unsigned intervals[] = {1, 13};
    char options[80];

    (void)state;
    for (size_t g = 0; g < COUNT(generators); g++)
        for (size_t i = 0; i < COUNT(intervals); i++) {
            check_loops(NO_ERND, generators[g], intervals[i]);
            check_loops(ALL, generators[g], intervals[i]);
        }
    snprintf(options, sizeof(options), "%s sample_pick=20", generators[1]);
    check_loops(ALL, options, 1); /* D17.3-007: nor does the choice of a later one */
    check_loops(NO_ERND, "reload_point=at_selection", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_before),
        cmocka_unit_test(test_random_after),
        cmocka_unit_test(test_skid_is_flat),
        cmocka_unit_test(test_loops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
