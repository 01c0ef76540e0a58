/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Differences: Student's distribution against its tables, false alarms counted over many pairs of
 * recordings that differ by chance only, and changes that are found. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diff.h"
#include "support/random.h"

#define FUNCTIONS 40
#define QUANTITIES 3 /* operations, latency, misses */

static void assert_near(double a, double b, double by)
{
    if (fabs(a - b) > by)
        fail_msg("%.9f is not %.9f", a, b);
}

/* Two-sided tails, as tables have them. */
static void test_student(void **state)
{
    (void)state;
    assert_near(student_beyond(12.706205, 1), 0.05, 1e-7);
    assert_near(student_beyond(2.570582, 5), 0.05, 1e-7);
    assert_near(student_beyond(2.228139, 10), 0.05, 1e-7);
    assert_near(student_beyond(3.385185, 100), 0.001017, 1e-6);
    assert_near(student_beyond(1.959964, 1e9), 0.05, 1e-7);
    assert_near(student_beyond(-1.959964, 99999), 0.0500028, 1e-6);
    assert_near(student_beyond(0, 7), 1.0, 1e-12);
    assert_true(student_beyond(40, 30) < 1e-20);
}

/* Benjamini and Hochberg: the largest p that lies below its line counts, and all below it. */
static void test_threshold(void **state)
{
    double none[] = {0.9, 0.006, 0.5, 0.011}, first[] = {0.9, 0.001, 0.5, 0.3};
    double two[] = {0.009, 0.5, 0.9, 0.008}; /* 0.008 lies above 0.005, 0.009 below 0.01 */

    (void)state;
    assert_true(diff_threshold(none, 4) < 0.0);
    assert_near(diff_threshold(first, 4), 0.001, 1e-12);
    assert_near(diff_threshold(two, 4), 0.009, 1e-12);
    assert_true(diff_threshold(none, 0) < 0.0);
}

/* ---- recordings by chance -------------------------------------------------------------------- */

struct recording {
    struct moments moments[FUNCTIONS + 1][QUANTITIES]; /* the last one: the whole program */
    unsigned samples;
};

/* Most operations take a few cycles, some wait for a cache, few for memory, and hardly any for
 * something that takes longer than the counter counts. */
static unsigned heavy_tail(struct random *r, bool *miss)
{
    unsigned what = random_below(r, 10000);

    *miss = what >= 9700;
    return what < 9700   ? 1 + random_below(r, 10)
           : what < 9950 ? 20 + random_below(r, 60)
           : what < 9995 ? 200 + random_below(r, 300)
                         : 4095;
}

/* Function i has about a share of 1 / (i + 1) of what is left for it: few have most. */
static unsigned some_function(struct random *r)
{
    unsigned i = 0;

    while (i < FUNCTIONS - 1 && random_chance(r, 80))
        i++;
    return i;
}

static void add_value(struct moments *m, double value)
{
    double power = value;

    for (unsigned i = 0; i < 4; i++, power *= value)
        m->sum[i] += power;
}

/* `slow`: cycles more for each operation of function 3. */
static void record(struct recording *rec, struct random *r, unsigned samples, unsigned slow)
{
    memset(rec, 0, sizeof(*rec));
    rec->samples = samples;
    for (unsigned i = 0; i < samples; i++) {
        unsigned function = some_function(r);
        bool miss;
        unsigned cycles = heavy_tail(r, &miss) + (function == 3 ? slow : 0);

        for (unsigned at = function;; at = FUNCTIONS) {
            add_value(&rec->moments[at][0], 1);
            add_value(&rec->moments[at][1], cycles);
            if (miss)
                add_value(&rec->moments[at][2], 1);
            if (at == FUNCTIONS)
                break;
        }
    }
}

/* Changes that are significant, of all; those of function 3 and of the whole go into *named. */
static unsigned compare(const struct recording rec[2], double spread, unsigned *named)
{
    struct spe_change changes[FUNCTIONS + 1][QUANTITIES];
    double p[(FUNCTIONS + 1) * QUANTITIES], threshold;
    unsigned significant = 0;
    size_t n = 0;

    for (unsigned f = 0; f <= FUNCTIONS; f++) {
        for (unsigned q = 0; q < QUANTITIES; q++) {
            struct moments side[2] = {rec[0].moments[f][q], rec[1].moments[f][q]};
            struct diff_work work[2] = {{rec[0].samples, spread}, {rec[1].samples, spread}};
            unsigned hits = q == 1 ? 0 : q;

            diff_change(
                &changes[f][q], side, work,
                (uint64_t)(rec[0].moments[f][hits].sum[0] + rec[1].moments[f][hits].sum[0]));
            if (changes[f][q].tested)
                p[n++] = changes[f][q].p;
        }
    }
    threshold = diff_threshold(p, n);
    *named = 0;
    for (unsigned f = 0; f <= FUNCTIONS; f++) {
        for (unsigned q = 0; q < QUANTITIES; q++) {
            bool is = changes[f][q].tested && changes[f][q].p <= threshold;

            significant += is;
            *named += is && q == 1 && (f == 3 || f == FUNCTIONS);
        }
    }
    return significant;
}

/* Pairs in which anything is called a change. */
static unsigned false_alarms(unsigned pairs, unsigned old, unsigned new_, double spread)
{
    struct recording *rec = calloc(2, sizeof(*rec));
    struct random r = {old + new_};
    unsigned alarms = 0, named;

    assert_non_null(rec);
    for (unsigned i = 0; i < pairs; i++) {
        record(&rec[0], &r, old, 0);
        record(&rec[1], &r, new_, 0);
        alarms += compare(rec, spread, &named) > 0;
    }
    free(rec);
    printf("%u alarms of %u pairs, %u and %u samples, spread %g\n", alarms, pairs, old, new_,
           spread);
    return alarms;
}

static void test_false_alarms(void **state)
{
    (void)state;
    assert_in_range(false_alarms(400, 3000, 3000, -1), 0, 12);
    assert_in_range(false_alarms(400, 1000, 6000, -1), 0, 12);
    assert_in_range(false_alarms(400, 300, 300, -1), 0, 12);
    assert_in_range(false_alarms(400, 3000, 3000, 0), 0, 12);
    assert_in_range(false_alarms(400, 3000, 3000, 1), 0, 12);
}

static void test_found(void **state)
{
    struct recording *rec = calloc(2, sizeof(*rec));
    struct random r = {5};
    unsigned named;

    (void)state;
    assert_non_null(rec);
    record(&rec[0], &r, 20000, 0);
    record(&rec[1], &r, 20000, 50);
    assert_in_range(compare(rec, -1, &named), 2, 4);
    assert_int_equal(named, 2); /* the function, and with it the whole */
    free(rec);
}

/* ---- intervals ------------------------------------------------------------------------------- */

static struct moments count(double n)
{
    return (struct moments){{n, n, n, n}};
}

static void test_interval(void **state)
{
    const struct diff_work work[2] = {{10000, -1}, {10000, -1}};
    struct moments side[2] = {count(1000), count(500)};
    struct spe_change c;

    (void)state;
    diff_change(&c, side, work, 1500);
    assert_near(c.before, 0.1, 1e-12);
    assert_near(c.after, 0.05, 1e-12);
    /* The textbook's: 0.5 times or by exp(1.96 sqrt(0.9 / 1000 + 0.95 / 500)) */
    assert_near(c.ratio.low, 0.4507, 0.005);
    assert_near(c.ratio.high, 0.5546, 0.005);
    assert_true(c.tested && c.p < 1e-20);
    side[1] = count(1000);
    diff_change(&c, side, work, 2000);
    assert_near(c.p, 1.0, 1e-12);
    assert_true(c.ratio.low < 1.0 && c.ratio.high > 1.0);
    side[0] = count(0); /* from nothing: no upper end, but surely more */
    diff_change(&c, side, work, 1000);
    assert_true(isinf(c.ratio.high) && c.ratio.low > 10.0);
    side[0] = count(3); /* too few */
    side[1] = count(4);
    diff_change(&c, side, work, 7);
    assert_false(c.tested);
}

/* Few hits: never bolder than the exact probability. n on one side and none on the other are 2 /
 * 2^n by chance; 5 and 15 with a tenth of the samples on the first side are 3.1 %, one-sided. */
static void test_few(void **state)
{
    const struct diff_work even[2] = {{100000, -1}, {100000, -1}};
    const struct diff_work uneven[2] = {{10000, -1}, {100000, -1}};
    struct spe_change c;

    (void)state;
    for (unsigned n = SPE_DIFF_LEAST; n < 30; n++) {
        struct moments side[2] = {count(0), count(n)};

        diff_change(&c, side, even, n);
        assert_true(c.tested);
        assert_true(c.p >= ldexp(2.0, -(int)n));
        assert_true(c.p < 0.01); /* but bold enough */
    }
    diff_change(&c, (const struct moments[]){count(5), count(15)}, uneven, 20);
    assert_true(c.p > 0.031);
}

/* Of 1000 pairs with a true ratio of 1.5, about 950 intervals have it. */
static void test_coverage(void **state)
{
    struct random r = {77};
    unsigned within = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        const struct diff_work work[2] = {{2000, -1}, {2000, -1}};
        struct moments side[2] = {{{0}}, {{0}}};
        struct spe_change c;

        for (unsigned s = 0; s < 2; s++) {
            for (unsigned n = 0; n < 2000; n++) {
                bool miss;
                unsigned cycles = heavy_tail(&r, &miss);

                add_value(&side[s], s ? 1.5 * cycles : cycles);
            }
        }
        diff_change(&c, side, work, 4000);
        within += c.ratio.low <= 1.5 && c.ratio.high >= 1.5;
    }
    assert_in_range(within, 930, 1000);
}

/* ---- threads that wait for each other -------------------------------------------------------- */

enum { THREADS = 4, TIMES = 1000 };

struct meeting {
    struct moments moments;
    struct diff_blocks all, threads[THREADS];
    struct diff_uneven uneven;
};

static void count_latency(struct meeting *m, struct diff_clock *clock, uint64_t time,
                          unsigned thread, unsigned cycles)
{
    uint64_t block;

    while ((block = diff_block(clock, time)) >= DIFF_BLOCKS) {
        diff_clock_double(clock);
        diff_blocks_double(&m->all);
        for (unsigned t = 0; t < THREADS; t++)
            diff_blocks_double(&m->threads[t]);
    }
    add_value(&m->moments, cycles);
    m->all.cycles[block] += cycles;
    m->all.samples[block]++;
    m->threads[thread].cycles[block] += cycles;
    m->threads[thread].samples[block]++;
}

/* They meet when the last one has started, and until the first one ends: by chance. With `slow`
 * they do not meet, but the last one is slow, and alone for most of the time. */
static void meet(struct meeting *m, struct random *r, unsigned wait, unsigned slow)
{
    unsigned from = random_below(r, TIMES / 4), to = TIMES - random_below(r, TIMES / 4);
    struct diff_clock clock = {0};
    double mean[DIFF_BLOCKS];

    memset(m, 0, sizeof(*m));
    for (unsigned i = 0; i < TIMES; i++) {
        for (unsigned t = 0; t < THREADS; t++) {
            bool last = t == THREADS - 1;
            uint64_t time = 7000 + (slow && !last ? i / 8 : i);
            unsigned cycles = 1 + random_below(r, 10);

            if (slow ? last : i >= from && i < to)
                cycles += random_below(r, slow ? slow : wait);
            count_latency(m, &clock, time, t, cycles);
        }
    }
    diff_even_threads(m->threads, THREADS, mean);
    diff_uneven_blocks(&m->uneven, &m->all, mean);
}

/* The probability that they are the same; `blocks`: with what the blocks of time say. */
static double same(const struct meeting m[2], bool blocks)
{
    const struct moments side[2] = {m[0].moments, m[1].moments};
    const struct diff_uneven uneven[2] = {m[0].uneven, m[1].uneven};
    const struct diff_work work[2] = {{THREADS * TIMES, -1}, {THREADS * TIMES, -1}};
    const uint64_t samples[2] = {THREADS * TIMES, THREADS * TIMES};
    struct spe_change c;

    if (blocks)
        diff_change_uneven(&c, side, work, samples, uneven);
    else
        diff_change(&c, side, work, samples[0] + samples[1]);
    assert_true(c.tested);
    return c.p;
}

static void test_meetings(void **state)
{
    struct meeting m[2];
    struct random r = {11};
    unsigned alarms = 0, without = 0, found = 0;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        meet(&m[0], &r, 300, 0);
        meet(&m[1], &r, 300, 0);
        alarms += same(m, true) < 0.01;
        without += same(m, false) < 0.01;
        meet(&m[1], &r, 30, 0);
        found += same(m, true) < 0.01;
    }
    printf("%u alarms of 200 pairs, %u without blocks; %u changes found\n", alarms, without, found);
    assert_in_range(alarms, 0, 10);
    assert_in_range(without, 40, 200); /* or nothing is shown */
    assert_in_range(found, 190, 200);
}

/* That one thread is slow, and alone in the end, is not chance. */
static void test_slow_thread(void **state)
{
    struct meeting m[2];
    struct random r = {12};

    (void)state;
    meet(&m[0], &r, 0, 400);
    meet(&m[1], &r, 0, 200);
    assert_true(same(m, true) < 1e-6);
    meet(&m[1], &r, 0, 400);
    assert_true(same(m, true) > 0.001);
}

/* Blocks become longer, and nothing is lost. */
static void test_blocks(void **state)
{
    struct diff_clock clock = {0};
    struct meeting m = {0};
    uint64_t cycles = 0, samples = 0;

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        count_latency(&m, &clock, 5000 + i, 0, 3);
    count_latency(&m, &clock, 10, 0, 3);   /* from before the first one */
    assert_int_equal(m.all.samples[0], 9); /* 8 times are a block now */
    assert_int_equal(m.all.samples[1], 8);
    for (unsigned i = 0; i < DIFF_BLOCKS; i++) {
        cycles += m.all.cycles[i];
        samples += m.all.samples[i];
    }
    assert_int_equal(samples, 101);
    assert_int_equal(cycles, 303);
}

/* ---- exact counts, and names ----------------------------------------------------------------- */

static void add_exact(struct spe_diff *diff, unsigned side, const char *dso, const char *function,
                      uint64_t operations)
{
    uint64_t counts[SPE_DIFF_QUANTITIES] = {
        [SPE_DIFF_OPERATIONS] = operations, [SPE_DIFF_LOADS] = operations / 10};

    assert_int_equal(spe_diff_add_exact(diff, side, dso, function,
                                        1u << SPE_DIFF_OPERATIONS | 1u << SPE_DIFF_LOADS, counts),
                     SPE_OK);
}

static struct spe_diff *begin(enum spe_group_by by, enum spe_diff_per per, const char *function)
{
    struct spe_diff_config config;
    struct spe_diff *diff;

    spe_diff_config_init(&config);
    config.by = by;
    config.per = per;
    config.function = function;
    assert_int_equal(spe_diff_create(&diff, &config), SPE_OK);
    return diff;
}

/* A program of another name, a function that the compiler split, one that is new. */
static void test_names(void **state)
{
    struct spe_diff *diff = begin(SPE_BY_FUNCTION, SPE_PER_RUN, NULL);
    const struct spe_diff_result *r;

    (void)state;
    add_exact(diff, 0, "old-program", "walk", 1000);
    add_exact(diff, 0, "libc.so.6", "memcpy", 50);
    add_exact(diff, 1, "new-program", "walk.constprop.0", 1500);
    add_exact(diff, 1, "new-program", "walk.part.0.cold", 100);
    add_exact(diff, 1, "new-program", "fresh", 7);
    add_exact(diff, 1, "libc.so.6", "memcpy", 50);
    assert_int_equal(spe_diff_end_side(diff, 0, NULL), SPE_OK);
    assert_int_equal(spe_diff_end_side(diff, 1, NULL), SPE_OK);
    assert_int_equal(spe_diff_finish(diff), SPE_OK);
    r = spe_diff_result(diff);
    assert_true(r->exact);
    assert_string_equal(r->program[0], "old-program");
    assert_string_equal(r->program[1], "new-program");
    assert_int_equal(r->row_count, 3);
    assert_int_equal(r->row_significant, 2);
    assert_string_equal(r->rows[0].function, "walk");
    assert_near(r->rows[0].changes[SPE_DIFF_OPERATIONS].after, 1600, 0);
    assert_near(r->rows[0].changes[SPE_DIFF_OPERATIONS].ratio.low, 1.6, 1e-12);
    assert_string_equal(r->rows[1].function, "fresh");
    assert_true(isinf(r->rows[1].changes[SPE_DIFF_OPERATIONS].ratio.low));
    assert_string_equal(r->rows[2].function, "memcpy");
    assert_false(r->rows[2].significant);
    assert_near(r->total->changes[SPE_DIFF_LOADS].after, 150 + 10 + 5, 0);
    spe_diff_destroy(diff);
}

static void test_per_function(void **state)
{
    struct spe_diff *diff = begin(SPE_BY_FUNCTION, SPE_PER_FUNCTION, "serve");
    const struct spe_diff_result *r;

    (void)state;
    for (unsigned side = 0; side < 2; side++) { /* twice the work at the same cost */
        add_exact(diff, side, "server", "serve", 100 << side);
        add_exact(diff, side, "server", "parse", 1000 << side);
        assert_int_equal(spe_diff_end_side(diff, side, NULL), SPE_OK);
    }
    assert_int_equal(spe_diff_finish(diff), SPE_OK);
    r = spe_diff_result(diff);
    assert_int_equal(r->significant, 0);
    assert_near(r->total->changes[SPE_DIFF_OPERATIONS].before, 11, 1e-12);
    spe_diff_destroy(diff);
    diff = begin(SPE_BY_FUNCTION, SPE_PER_FUNCTION, "nobody");
    add_exact(diff, 0, "server", "serve", 1);
    add_exact(diff, 1, "server", "serve", 1);
    assert_int_equal(spe_diff_finish(diff), SPE_ERR_UNKNOWN);
    spe_diff_destroy(diff);
}

static void test_config(void **state)
{
    struct spe_diff_config config;
    struct spe_diff *diff;

    (void)state;
    spe_diff_config_init(&config);
    config.by = SPE_BY_THREAD;
    assert_int_equal(spe_diff_create(&diff, &config), SPE_ERR_INVALID);
    spe_diff_config_init(&config);
    config.per = SPE_PER_FUNCTION;
    assert_int_equal(spe_diff_create(&diff, &config), SPE_ERR_INVALID);
    spe_diff_config_init(&config);
    config.size = 1;
    assert_int_equal(spe_diff_create(&diff, &config), SPE_ERR_INVALID);
    spe_diff_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student),      cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_false_alarms), cmocka_unit_test(test_found),
        cmocka_unit_test(test_interval),     cmocka_unit_test(test_few),
        cmocka_unit_test(test_coverage),     cmocka_unit_test(test_meetings),
        cmocka_unit_test(test_slow_thread),  cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_per_function),
        cmocka_unit_test(test_config),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
