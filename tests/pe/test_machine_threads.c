/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * One thread a cpu, all at the same lines. Every count adds up, and at the end the caches keep all
 * their rules. Under ThreadSanitizer this is the proof that hits need no lock:
 *   meson setup build-tsan -Db_sanitize=thread && meson test -C build-tsan machine_threads
 */
#include "machine_test.h"

#include <pthread.h>

#include <pe/machine_fast.h>

#define THREADS 4
#define STEPS 40000

struct worker {
    struct spe_machine *machine;
    unsigned cpu, span;
    uint64_t misses, lines, modified;
    bool bad;
};

static void one_step(struct worker *w, uint64_t *seed)
{
    static const unsigned kinds[] = {0,
                                     0,
                                     0,
                                     SPE_ACCESS_STORE,
                                     SPE_ACCESS_STORE,
                                     SPE_ACCESS_ATOMIC,
                                     SPE_ACCESS_PREFETCH_FOR_STORE};
    uint64_t address = chance(seed, w->span) * 64 + chance(seed, 8) * 8;
    unsigned how = kinds[chance(seed, 7)];
    struct spe_machine_access met;

    if (chance(seed, 1000) == 0) {
        spe_machine_touch(w->machine, w->cpu, address, 8, SPE_ACCESS_INVALIDATE, NULL);
        return;
    }
    w->lines++;
    if (chance(seed, 2)) {
        spe_machine_touch(w->machine, w->cpu, address, 8, how, &met);
        w->misses += (met.facts & SPE_FACT_L1D_MISS) != 0;
        w->modified += (met.facts & SPE_FACT_MODIFIED_SNOOP) != 0;
        w->bad |= met.place >= SPE_PLACE_COUNT || met.cycles == 0;
    } else {
        pe_touch_fast(w->machine, w->machine->cpus[w->cpu], address, 8, how & SPE_ACCESS_STORE);
    }
    spe_machine_branch(w->machine, w->cpu, 0x1000, SPE_BRANCH_CONDITIONAL, chance(seed, 2), 0);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    uint64_t seed = 1234567 + 7919u * w->cpu;

    for (unsigned i = 0; i < STEPS; i++)
        one_step(w, &seed);
    return NULL;
}

static void check_worker(const struct spe_machine *machine, const struct worker *w)
{
    struct spe_machine_counts counts;
    uint64_t served = 0, misses = 0;

    spe_machine_counts(machine, w->cpu, &counts);
    for (unsigned i = 0; i < SPE_PLACE_COUNT; i++) {
        served += counts.served[i];
        misses += i == SPE_PLACE_L1 ? 0 : counts.served[i];
    }
    assert_false(w->bad);
    assert_int_equal(counts.accesses, w->lines);
    assert_int_equal(counts.branches, w->lines);
    assert_int_equal(served, w->lines);
    assert_int_equal(misses, counts.l1_misses);
    assert_true(counts.l1_misses >= w->misses && counts.modified_snoops >= w->modified);
    assert_true(counts.l2_misses <= counts.l1_misses);
    if (machine->config.l2.bytes)
        assert_int_equal(counts.l1_misses - counts.l2_misses, counts.served[SPE_PLACE_L2]);
    if (machine->config.llc.bytes && machine->config.l2.bytes)
        assert_int_equal(counts.l2_misses - counts.llc_misses, counts.served[SPE_PLACE_LLC]);
}

static void hammer(const struct spe_machine_config *config, unsigned span)
{
    struct spe_machine *machine = make_machine(config);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.machine = machine, .cpu = i, .span = span};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < 100; i++) { /* anyone may look meanwhile */
        struct spe_machine_counts counts;

        spe_machine_counts(machine, i % THREADS, &counts);
        assert_true(counts.l1_misses <= counts.accesses);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        check_worker(machine, &workers[i]);
    for (unsigned line = 0; line < span; line++)
        check_line(machine, line * 64u);
    check_caches(machine);
    spe_machine_destroy(machine);
}

static void test_few_lines(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    hammer(&config, 4);
}

static void test_more_than_fit(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    hammer(&config, 100);
    hammer(&config, 1000);
}

static void test_one_level(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    config.l2.bytes = 0;
    config.llc.bytes = 0;
    hammer(&config, 40);
}

static void test_large(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");

    (void)state;
    hammer(&config, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_lines),
        cmocka_unit_test(test_more_than_fit),
        cmocka_unit_test(test_one_level),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
