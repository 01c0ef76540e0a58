/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Intervals, distributions, heavy hitters and lists, against values computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/heavy.h"
#include "analysis/latency.h"
#include "analysis/top.h"

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-6)
        fail_msg("%.9f is not %.9f", a, b);
}

/* Values of Wilson's formula, z = 1.959963985, computed apart with 40 digits. */
static void test_interval(void **state)
{
    struct spe_interval i = spe_interval_of_share(10, 100);

    (void)state;
    assert_near(i.low, 0.055229137);
    assert_near(i.high, 0.174365668);
    i = spe_interval_of_share(0, 10);
    assert_near(i.low, 0.0);
    assert_near(i.high, 0.277532799);
    i = spe_interval_of_share(10, 10);
    assert_near(i.low, 0.722467201);
    assert_near(i.high, 1.0);
    i = spe_interval_of_share(1, 1000000);
    assert_true(i.low > 0.0 && i.high < 6e-6);
    i = spe_interval_of_share(0, 0);
    assert_near(i.low, 0.0);
    assert_near(i.high, 1.0);
}

static void test_latency(void **state)
{
    struct latency l = {0}, m = {0};
    struct spe_latency_summary s;
    unsigned i;

    (void)state;
    latency_summary(&l, 0, &s);
    assert_int_equal(s.samples, 0);
    assert_int_equal(latency_quantile(&l, 500), 0);
    assert_int_equal(latency_prepare(&l), SPE_OK);
    for (i = 1; i <= 100; i++) /* 1 to 100: nearest rank of q % is q */
        latency_add(&l, (uint16_t)i);
    latency_summary(&l, 100, &s);
    assert_int_equal(s.samples, 100);
    assert_int_equal(s.sum, 5050);
    assert_near(s.mean, 50.5);
    assert_int_equal(s.median, 50);
    assert_int_equal(s.p95, 95);
    assert_int_equal(s.p99, 99);
    assert_int_equal(s.max, 100);
    assert_int_equal(s.saturated, 1);
    assert_int_equal(latency_prepare(&m), SPE_OK);
    latency_add(&m, 0xffff);
    latency_add(&m, 0);
    assert_int_equal(latency_merge(&m, &l), SPE_OK);
    latency_summary(&m, 0xfff, &s);
    assert_int_equal(s.samples, 102);
    assert_int_equal(s.median, 50); /* 0, 1 ... 100, 65535: the 51st */
    assert_int_equal(s.max, 0xffff);
    assert_int_equal(s.saturated, 1);
    latency_free(&l);
    latency_free(&m);
}

/* One value only, and odd numbers of samples. */
static void test_quantile_ranks(void **state)
{
    struct latency l = {0};

    (void)state;
    assert_int_equal(latency_prepare(&l), SPE_OK);
    latency_add(&l, 7);
    assert_int_equal(latency_quantile(&l, 500), 7);
    assert_int_equal(latency_quantile(&l, 990), 7);
    latency_add(&l, 9);
    assert_int_equal(latency_quantile(&l, 500), 7);
    assert_int_equal(latency_quantile(&l, 501), 9);
    latency_add(&l, 9);
    assert_int_equal(latency_quantile(&l, 500), 9);
    latency_free(&l);
}

static void test_heavy_exact(void **state)
{
    struct heavy_key top[4];
    struct heavy h;

    (void)state;
    assert_int_equal(heavy_init(&h, 1024), SPE_OK);
    heavy_add(&h, 5, 1, 10);
    heavy_add(&h, 5, 2, 30); /* the same place in another space is another key */
    heavy_add(&h, 5, 1, 15);
    heavy_add(&h, 6, 1, 25);
    assert_int_equal(heavy_count(&h), 3);
    assert_int_equal(heavy_error(&h), 0);
    assert_int_equal(h.total, 80);
    assert_int_equal(heavy_top(&h, top, 4), 3);
    assert_int_equal(top[0].weight, 30);
    assert_int_equal(top[0].space, 2);
    assert_int_equal(top[1].weight, 25); /* equal weights by place */
    assert_int_equal(top[1].place, 5);
    assert_int_equal(top[1].samples, 2);
    assert_int_equal(top[2].place, 6);
    assert_int_equal(heavy_top(&h, top, 1), 1);
    assert_int_equal(top[0].weight, 30);
    heavy_free(&h);
}

#define KEYS 5000

/* Far more keys than slots: every weight in the list is within its stated error of the truth, and
 * what is not in the list weighs no more than the error. */
static void fill_heavy(struct heavy *h, uint64_t *truth, unsigned from, unsigned to)
{
    unsigned i;

    for (i = from; i < to; i++) {
        unsigned key = i % 3 == 0 ? i % 7 : i * 2654435761u % KEYS;
        uint64_t weight = 1 + i % 13;

        truth[key] += weight;
        heavy_add(h, key, 1, weight);
    }
}

static void check_heavy(const struct heavy *h, const uint64_t *truth)
{
    struct heavy_key top[4096];
    uint64_t error = heavy_error(h);
    uint8_t listed[KEYS] = {0};
    size_t n = heavy_top(h, top, 4096), i;

    assert_true(error > 0);
    assert_true(n > 0 && n <= 256);
    for (i = 0; i < n; i++) {
        assert_true(top[i].weight <= truth[top[i].place]);
        assert_true(top[i].error <= error);
        assert_true(top[i].weight + top[i].error >= truth[top[i].place]);
        assert_true(i == 0 || top[i].weight <= top[i - 1].weight);
        listed[top[i].place] = 1;
    }
    for (i = 0; i < KEYS; i++)
        assert_true(listed[i] || truth[i] <= error);
    for (i = 0; i < 7; i++)
        assert_true(top[i].place < 7);
}

static void test_heavy_error(void **state)
{
    uint64_t truth[KEYS] = {0}, total = 0;
    struct heavy h;
    unsigned i;

    (void)state;
    assert_int_equal(heavy_init(&h, 256), SPE_OK);
    fill_heavy(&h, truth, 0, 60000);
    for (i = 0; i < KEYS; i++)
        total += truth[i];
    assert_int_equal(h.total, total);
    check_heavy(&h, truth);
    heavy_free(&h);
}

/* The method as it is written down: what comes to a full set goes into a cell, or is taken off
 * every weight in the set. */
struct plain_key {
    uint64_t weight, place;
    uint32_t space, samples;
};

static void plain_add(struct plain_key *set, uint64_t *error, uint64_t *cell, uint64_t place,
                      uint32_t space, uint64_t weight)
{
    struct plain_key *free_key = NULL;
    uint64_t least = weight;
    bool full = true;
    unsigned i;

    for (i = 0; i < HEAVY_WAYS; i++) {
        if (set[i].weight && set[i].place == place && set[i].space == space) {
            set[i].weight += weight;
            set[i].samples++;
            return;
        }
        least = set[i].weight < least ? set[i].weight : least;
        full = full && set[i].weight;
    }
    if (full && *cell + weight <= HEAVY_ABSORB * *error && *cell + weight <= UINT16_MAX) {
        *cell += weight;
        return;
    }
    for (i = 0; i < HEAVY_WAYS; i++) {
        set[i].weight -= least;
        free_key = set[i].weight ? free_key : &set[i];
    }
    *error += least;
    if (weight > least)
        *free_key = (struct plain_key){weight - least, place, space, 1};
}

#define PLAIN_SETS 4

static void test_heavy_plain(void **state)
{
    struct plain_key plain[PLAIN_SETS][HEAVY_WAYS] = {0};
    uint64_t error[PLAIN_SETS] = {0}, cells[PLAIN_SETS * HEAVY_CELLS] = {0}, random = 1;
    struct heavy_key top[PLAIN_SETS * HEAVY_WAYS];
    size_t n, i, found = 0, set, way;
    struct heavy h;

    (void)state;
    assert_int_equal(heavy_init(&h, (size_t)PLAIN_SETS * HEAVY_WAYS), SPE_OK);
    for (i = 0; i < 50000; i++) {
        uint64_t place, weight, hash;
        uint32_t space;

        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        place = random >> 40 & (random >> 33 & 1 ? 15 : 127);
        space = random >> 50 & 1;
        weight = 1 + (random >> 52 & 63);
        hash = heavy_hash(place, space);
        set = heavy_set_of(&h, hash);
        plain_add(plain[set], &error[set], &cells[heavy_cell_of(&h, hash) - h.cells], place, space,
                  weight);
        heavy_add(&h, place, space, weight);
    }
    n = heavy_top(&h, top, PLAIN_SETS * HEAVY_WAYS);
    assert_int_equal(n, heavy_count(&h));
    for (i = 0; i < n; i++) {
        set = heavy_set_of(&h, heavy_hash(top[i].place, top[i].space));
        for (way = 0; way < HEAVY_WAYS; way++) {
            const struct plain_key *key = &plain[set][way];

            found += key->weight == top[i].weight && key->place == top[i].place &&
                     key->space == top[i].space && key->samples == top[i].samples;
        }
    }
    assert_int_equal(found, n);
    for (set = 0; set < PLAIN_SETS; set++) {
        assert_int_equal(h.heads[set].error, error[set]);
        for (way = 0; way < HEAVY_WAYS; way++)
            found -= plain[set][way].weight != 0;
    }
    assert_int_equal(found, 0);
    for (i = 0; i < PLAIN_SETS * HEAVY_CELLS; i++)
        assert_int_equal(h.cells[i], cells[i]);
    heavy_free(&h);
}

static void test_heavy_merge(void **state)
{
    uint64_t truth[KEYS] = {0};
    struct heavy a, b;

    (void)state;
    assert_int_equal(heavy_init(&a, 256), SPE_OK);
    assert_int_equal(heavy_init(&b, 256), SPE_OK);
    fill_heavy(&a, truth, 0, 20000);
    fill_heavy(&b, truth, 20000, 60000);
    heavy_merge(&a, &b);
    check_heavy(&a, truth);
    heavy_free(&a);
    heavy_free(&b);
}

/* Two threads of two parts are several threads, and the first is that of the first part. */
static void test_heavy_merge_threads(void **state)
{
    struct heavy a, b;
    struct heavy_key top;

    (void)state;
    assert_int_equal(heavy_init(&a, 16), SPE_OK);
    assert_int_equal(heavy_init(&b, 16), SPE_OK);
    heavy_add(&a, 5, 1, 10)->thread = 1;
    heavy_add(&b, 5, 1, 10)->thread = 2;
    heavy_merge(&a, &b);
    assert_int_equal(heavy_top(&a, &top, 1), 1);
    assert_int_equal(top.samples, 2);
    assert_int_equal(top.thread, 1);
    assert_int_equal(top.several, 1);
    heavy_free(&a);
    heavy_free(&b);
}

static int int_order(const void *a, const void *b, void *user)
{
    (void)user;
    return *(const int *)a - *(const int *)b;
}

static void test_top(void **state)
{
    int first[10];
    unsigned n, count, i;

    (void)state;
    for (n = 0; n <= 10; n++) {
        for (count = 0; count < 40; count++) {
            struct top top = {.elements = first, .size = sizeof(int), .n = n, .order = int_order};
            size_t found;

            for (i = 0; i < count; i++) {
                int value = (int)((i * 17) % 41);

                top_offer(&top, &value);
            }
            found = top_finish(&top);
            assert_int_equal(found, n < count ? n : count);
            for (i = 1; i < found; i++)
                assert_true(first[i - 1] < first[i]);
            if (count == 39 && n) { /* 17 times 0 to 38 modulo 41 leaves out 7 and 24 */
                for (i = 0; i < found; i++)
                    assert_int_equal(first[i], i < 7 ? i : i + 1);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_quantile_ranks),
        cmocka_unit_test(test_heavy_exact),
        cmocka_unit_test(test_heavy_error),
        cmocka_unit_test(test_heavy_plain),
        cmocka_unit_test(test_heavy_merge),
        cmocka_unit_test(test_top),
        cmocka_unit_test(test_heavy_merge_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
