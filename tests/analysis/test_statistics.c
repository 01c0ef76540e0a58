/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Intervals, distributions, heavy hitters, lists and places, against values computed by hand and
 * plain models. */
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
#include "analysis/places.h"
#include "analysis/sort.h"
#include "analysis/top.h"
#include "support/random.h"

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

/* Every value is in the bin that says so, and bins have no gaps. */
static void test_latency_bins(void **state)
{
    uint64_t bins[SPE_LATENCY_BINS];
    struct latency l = {0};

    (void)state;
    assert_int_equal(latency_prepare(&l), SPE_OK);
    for (uint32_t i = 0; i < LATENCY_VALUES; i++)
        latency_add(&l, (uint16_t)i);
    latency_bins(&l, bins);
    assert_int_equal(spe_latency_bin_from(0), 0);
    assert_int_equal(spe_latency_bin_from(8), 8);
    assert_int_equal(spe_latency_bin_from(9), 10);
    assert_int_equal(spe_latency_bin_from(SPE_LATENCY_BINS), LATENCY_VALUES);
    for (unsigned i = 0; i < SPE_LATENCY_BINS; i++)
        assert_int_equal(bins[i], spe_latency_bin_from(i + 1) - spe_latency_bin_from(i));
    latency_free(&l);
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
#define PLAIN_SETS 4

struct plain_key {
    uint64_t weight, place;
    uint32_t space, samples;
};

struct plain {
    struct plain_key sets[PLAIN_SETS][HEAVY_WAYS];
    uint64_t error[PLAIN_SETS], cells[PLAIN_SETS * HEAVY_CELLS];
};

/* Returns the key, if it is there now. */
static struct plain_key *plain_add_to(struct plain_key *set, uint64_t *error, uint64_t *cell,
                                      uint64_t place, uint32_t space, uint64_t weight)
{
    struct plain_key *free_key = NULL;
    uint64_t least = weight;
    bool full = true;
    unsigned i;

    for (i = 0; i < HEAVY_WAYS; i++) {
        if (set[i].weight && set[i].place == place && set[i].space == space) {
            set[i].weight += weight;
            set[i].samples++;
            return &set[i];
        }
        least = set[i].weight < least ? set[i].weight : least;
        full = full && set[i].weight;
    }
    if (full && *cell + weight <= HEAVY_ABSORB * *error && *cell + weight <= UINT16_MAX) {
        *cell += weight;
        return NULL;
    }
    for (i = 0; i < HEAVY_WAYS; i++) {
        set[i].weight -= least;
        free_key = set[i].weight ? free_key : &set[i];
    }
    *error += least;
    if (weight == least)
        return NULL;
    *free_key = (struct plain_key){weight - least, place, space, 1};
    return free_key;
}

/* `h` tells the place of a key only. */
static struct plain_key *plain_add(struct plain *p, const struct heavy *h, uint64_t place,
                                   uint32_t space, uint64_t weight)
{
    uint64_t hash = heavy_hash(place, space);
    size_t set = heavy_set_of(h, hash);

    return plain_add_to(p->sets[set], &p->error[set], &p->cells[heavy_cell_of(h, hash) - h->cells],
                        place, space, weight);
}

static const struct plain_key *plain_find(const struct plain *p, size_t set, uint64_t place,
                                          uint32_t space)
{
    unsigned way;

    for (way = 0; way < HEAVY_WAYS; way++) {
        const struct plain_key *key = &p->sets[set][way];

        if (key->weight && key->place == place && key->space == space)
            return key;
    }
    return NULL;
}

/* The keys of `from` come behind those of `to`, in the order in which its table has them; what was
 * taken off there, and what its cells have, can be of any key of the set or the cell. */
static void plain_merge(struct plain *to, const struct plain *from, const struct heavy *table)
{
    size_t set, i;
    unsigned way;

    for (set = 0; set < PLAIN_SETS; set++) {
        for (way = 0; way < HEAVY_WAYS; way++) {
            uint64_t place = table->sets[set].place[way];
            uint32_t space = table->sets[set].counts[way].space;
            const struct plain_key *key = plain_find(from, set, place, space);
            struct plain_key *there;

            if (!key || !heavy_weight(table, set, way))
                continue;
            there = plain_add(to, table, place, space, key->weight);
            if (there)
                there->samples += key->samples - 1;
        }
        to->error[set] += from->error[set];
        for (i = set * HEAVY_CELLS; i < (set + 1) * HEAVY_CELLS; i++) {
            to->cells[i] += from->cells[i];
            if (to->cells[i] > UINT16_MAX) {
                to->error[set] += to->cells[i] - UINT16_MAX;
                to->cells[i] = UINT16_MAX;
            }
        }
    }
}

static void check_plain(const struct heavy *h, const struct plain *p)
{
    struct heavy_key top[PLAIN_SETS * HEAVY_WAYS];
    size_t n = heavy_top(h, top, PLAIN_SETS * HEAVY_WAYS), keys = 0, i, set, way;

    assert_int_equal(n, heavy_count(h));
    for (i = 0; i < n; i++) {
        const struct plain_key *key = plain_find(
            p, heavy_set_of(h, heavy_hash(top[i].place, top[i].space)), top[i].place, top[i].space);

        assert_true(key && key->weight == top[i].weight && key->samples == top[i].samples);
    }
    for (set = 0; set < PLAIN_SETS; set++) {
        assert_int_equal(h->heads[set].error, p->error[set]);
        for (way = 0; way < HEAVY_WAYS; way++)
            keys += p->sets[set][way].weight != 0;
    }
    assert_int_equal(keys, n);
    for (i = 0; i < PLAIN_SETS * HEAVY_CELLS; i++)
        assert_int_equal(h->cells[i], p->cells[i]);
}

/* Keys of which some are heavy and many are light. */
#define PLACES 2048

struct weights {
    struct heavy heavy;
    struct plain plain;
    uint64_t truth[2][PLACES], total; /* by space */
};

static void start_weights(struct weights *w)
{
    memset(w, 0, sizeof(*w));
    assert_int_equal(heavy_init(&w->heavy, (size_t)PLAIN_SETS * HEAVY_WAYS), SPE_OK);
}

static void add_weights(struct weights *w, struct random *rng, unsigned count, uint32_t most)
{
    while (count--) {
        uint64_t place = random_below(rng, random_chance(rng, 50) ? 16 : PLACES);
        uint64_t weight = 1 + random_below(rng, place < 16 ? 4 * most : most);
        uint32_t space = random_below(rng, 2);

        plain_add(&w->plain, &w->heavy, place, space, weight);
        heavy_add(&w->heavy, place, space, weight);
        w->truth[space][place] += weight;
        w->total += weight;
    }
}

/* Every key weighs what the table says at least, and at most that and its error, there or not. */
static void check_weights(const struct weights *w)
{
    const struct heavy *h = &w->heavy;
    uint64_t error = heavy_error(h);
    uint32_t space;
    size_t place;

    check_plain(h, &w->plain);
    assert_int_equal(h->total, w->total);
    for (space = 0; space < 2; space++) {
        for (place = 0; place < PLACES; place++) {
            uint64_t hash = heavy_hash(place, space), truth = w->truth[space][place];
            size_t set = heavy_set_of(h, hash);
            const struct plain_key *key = plain_find(&w->plain, set, place, space);
            uint64_t weight = key ? key->weight : 0;
            uint64_t rest = h->heads[set].error + *heavy_cell_of(h, hash);

            assert_true(weight <= truth && truth <= weight + rest);
            assert_true(rest <= error);
        }
    }
}

static void test_heavy_plain(void **state)
{
    static struct weights w;
    struct random rng = {1};

    (void)state;
    start_weights(&w);
    add_weights(&w, &rng, 50000, 64);
    check_weights(&w);
    heavy_free(&w.heavy);
}

/* Parts are merged and go on, with light weights and with such that cells are full. */
static void test_heavy_merge_plain(void **state)
{
    static struct weights a, b;
    struct random rng = {2};
    unsigned round, space, part;
    size_t place;

    (void)state;
    for (round = 0; round < 40; round++) {
        uint32_t most = round % 2 ? 16000 : 20;
        unsigned rows = 1 + random_below(&rng, round % 4 < 2 ? 5000 : 60);

        start_weights(&a);
        add_weights(&a, &rng, round ? rows : 0, most);
        for (part = 0; part < 3; part++) {
            start_weights(&b);
            add_weights(&b, &rng, rows, most);
            plain_merge(&a.plain, &b.plain, &b.heavy);
            heavy_merge(&a.heavy, &b.heavy);
            a.total += b.total;
            for (space = 0; space < 2; space++) {
                for (place = 0; place < PLACES; place++)
                    a.truth[space][place] += b.truth[space][place];
            }
            check_weights(&a);
            add_weights(&a, &rng, rows, most);
            check_weights(&a);
            heavy_free(&b.heavy);
        }
        heavy_free(&a.heavy);
    }
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

/* Places are told apart by pc and code; several pcs have the same hash. */
#define OPERATIONS 20000

struct places_model {
    struct place place[OPERATIONS]; /* by number */
    uint32_t at[OPERATIONS];        /* in the list, and 1; 0: not there */
    size_t used;
};

static void add_place(struct places *p, struct places_model *m, struct random *rng, unsigned number)
{
    struct place *known = &m->place[number];
    struct place add = {.pc = 0x400000 + number / 3,
                        .code = place_code(number % 3, number % 7),
                        .symbol = number,
                        .latency = random_below(rng, 1000)};
    unsigned i;

    for (i = 0; i < PLACE_COUNTS; i++)
        add.counts[i] = random_below(rng, 4);
    assert_int_equal(places_add(p, &add), SPE_OK);
    if (!m->at[number]) {
        m->at[number] = (uint32_t)++m->used;
        *known = add;
    } else {
        known->latency += add.latency;
        for (i = 0; i < PLACE_COUNTS; i++)
            known->counts[i] += add.counts[i];
    }
    assert_int_equal(p->used, m->used);
    assert_true(p->mask + 1 >= 4 * p->used); /* the index is sparse */
}

static void check_places(const struct places *p, const struct places_model *m)
{
    size_t used = 0, i;

    for (i = 0; i < OPERATIONS; i++) {
        const struct place *place = &m->place[i];

        if (!m->at[i])
            continue;
        used++;
        assert_memory_equal(&p->list[m->at[i] - 1], place, sizeof(*place));
        if (p->index)
            assert_int_equal(p->index[place_find(p, place_hash(p->seed, place->pc, place->code),
                                                 place->pc, place->code)],
                             m->at[i]);
    }
    assert_int_equal(used, p->used);
}

/* Those that are left come in the order that they had. */
static void keep_places(struct places *p, struct places_model *m, size_t keep)
{
    static struct place old[OPERATIONS];
    size_t used = p->used, above = 0, kept = 0, i;
    uint32_t bound;

    memcpy(old, p->list, used * sizeof(*old));
    bound = places_keep_mispredicted(p, keep);
    for (i = 0; i < used; i++) {
        m->at[old[i].symbol] = old[i].mispredicted > bound ? (uint32_t)++kept : 0;
        above += old[i].mispredicted > bound / 2;
    }
    m->used = kept;
    assert_true(kept <= keep);
    assert_true(!bound || above > keep); /* half of it would not do */
}

static void test_places(void **state)
{
    static struct places_model m;
    struct places p = {0};
    struct random rng = {3};
    unsigned round, i;

    (void)state;
    for (i = 0; i < OPERATIONS; i++) { /* one by one, past every size of the index */
        unsigned border = 1024;

        add_place(&p, &m, &rng, i);
        while (border + 4 < p.used)
            border *= 2;
        if (p.used + 4 > border)
            check_places(&p, &m);
        if (p.used > border)
            add_place(&p, &m, &rng, random_below(&rng, i));
    }
    for (round = 0; round < 12; round++) {
        keep_places(&p, &m, random_below(&rng, 6000));
        if (round % 2)
            check_places(&p, &m);
        for (i = 0; i < 5000; i++)
            add_place(&p, &m, &rng, random_below(&rng, OPERATIONS >> round % 4));
        check_places(&p, &m);
    }
    places_drop_index(&p);
    for (i = 0; i < 1000; i++)
        add_place(&p, &m, &rng, random_below(&rng, OPERATIONS));
    check_places(&p, &m);
    places_free(&p);
}

/* Those with the same key keep the order of their numbers. */
static int key_order(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* As qsort has them: few and many keys, which differ in some of their bytes. */
static void test_sort(void **state)
{
    static const uint64_t masks[] = {0, 0xf, UINT64_C(7) << 32 | 63, UINT64_C(0xff) << 56,
                                     UINT64_MAX};
    struct sort_key keys[600], wanted[600], room[600];
    struct random random = {1};

    (void)state;
    for (size_t n = 0; n <= 600; n += n < 40 ? 1 : 56) {
        for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++) {
            for (size_t i = 0; i < n; i++)
                wanted[i] = keys[i] =
                    (struct sort_key){random_next(&random) & masks[m], (uint32_t)i};
            qsort(wanted, n, sizeof(*wanted), key_order);
            sort_keys(keys, room, n);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(keys[i].key, wanted[i].key);
                assert_int_equal(keys[i].number, wanted[i].number);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_latency_bins),
        cmocka_unit_test(test_quantile_ranks),
        cmocka_unit_test(test_heavy_exact),
        cmocka_unit_test(test_heavy_error),
        cmocka_unit_test(test_heavy_plain),
        cmocka_unit_test(test_heavy_merge),
        cmocka_unit_test(test_heavy_merge_plain),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_top),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_heavy_merge_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
