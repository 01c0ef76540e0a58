/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What a branch predictor must have learnt, and what it cannot learn. */
#include "machine_test.h"

#include <pe/machine_fast.h>

static struct spe_machine *machine;

static int setup(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");

    (void)state;
    machine = make_machine(&config);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    spe_machine_destroy(machine);
    return 0;
}

static bool conditional(uint64_t pc, bool taken)
{
    return spe_machine_branch(machine, 0, pc, SPE_BRANCH_CONDITIONAL, taken, pc + 64);
}

static void test_always_taken(void **state)
{
    unsigned missed = 0, late = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        missed += conditional(0x1000, true);
    for (unsigned i = 0; i < 1000; i++)
        late += conditional(0x2000, false);
    assert_in_range(missed, 1, 2);
    assert_int_equal(late, 0); /* a branch that was never seen is expected to fall through */
}

static void test_unconditional(void **state)
{
    struct spe_machine_counts counts;

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        assert_false(spe_machine_branch(machine, 0, 4u * i, 0, true, 0x8000));
    spe_machine_counts(machine, 0, &counts);
    assert_int_equal(counts.branches, 100);
    assert_int_equal(counts.mispredicted, 0);
}

/* A loop of `trips` taken branches and one that leaves; mispredictions in `rounds` of it, after as
 * many to learn. */
static unsigned loop(unsigned trips, unsigned rounds)
{
    unsigned missed = 0;

    for (unsigned r = 0; r < 2 * rounds; r++)
        for (unsigned i = 0; i <= trips; i++)
            missed += conditional(0x4000, i < trips) && r >= rounds;
    return missed;
}

static void test_loops(void **state)
{
    (void)state;
    assert_int_equal(loop(1, 100), 0);
    assert_int_equal(loop(3, 100), 0);
    assert_int_equal(loop(7, 100), 0);
    assert_int_equal(loop(12, 100), 0);   /* within the history of 14 */
    assert_int_equal(loop(100, 50), 50);  /* beyond it: the exit, once a round */
    assert_int_equal(loop(1000, 20), 20); /* and nothing but the exit */
}

static void test_patterns(void **state)
{
    static const char *const patterns[] = {"10", "110", "1000", "11010", "1110010"};

    (void)state;
    for (size_t p = 0; p < sizeof(patterns) / sizeof(patterns[0]); p++) {
        size_t length = strlen(patterns[p]);
        unsigned missed = 0;

        for (unsigned i = 0; i < 2000; i++)
            missed += conditional(0x8000 + 256 * p, patterns[p][i % length] == '1') && i >= 1000;
        assert_int_equal(missed, 0);
    }
}

/* One branch tells what another will do. */
static void test_correlation(void **state)
{
    uint64_t seed = 1;
    unsigned missed = 0;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        bool way = chance(&seed, 2);

        conditional(0x1000, way);
        missed += conditional(0x1040, !way) && i >= 10000;
    }
    assert_true(missed < 1500); /* of 10000; half without the history */
}

static void test_random(void **state)
{
    uint64_t seed = 7;
    unsigned missed = 0, rare = 0;

    (void)state;
    for (unsigned i = 0; i < 100000; i++)
        missed += conditional(0x1000, chance(&seed, 2));
    assert_in_range(missed, 47000, 53000);
    for (unsigned i = 0; i < 100000; i++)
        rare += conditional(0x2000, chance(&seed, 20) != 0);
    assert_in_range(rare, 5000 * 8 / 10, 5000 * 2); /* near the one in twenty that are otherwise */
}

/* Calls to a depth and back; mispredicted returns. */
static unsigned nest(unsigned depth)
{
    unsigned missed = 0;

    for (unsigned i = 0; i < depth; i++)
        assert_false(spe_machine_branch(machine, 0, 0x1000 + 64 * i, SPE_BRANCH_LINK, true,
                                        0x1040 + 64 * i));
    for (unsigned i = depth; i-- > 0;)
        missed += spe_machine_branch(machine, 0, 0x9000, SPE_BRANCH_RETURN | SPE_BRANCH_INDIRECT,
                                     true, 0x1004 + 64 * i);
    return missed;
}

static void test_returns(void **state)
{
    (void)state;
    assert_int_equal(nest(1), 0);
    assert_int_equal(nest(16), 0);
    assert_int_equal(nest(17), 1);
    assert_int_equal(nest(40), 24);
    assert_int_equal(nest(16), 0);
}

/* All calls come from one place, but the stack has forgotten how many there were. */
static void test_recursion(void **state)
{
    unsigned missed = 0;

    (void)state;
    for (unsigned i = 0; i < 40; i++)
        spe_machine_branch(machine, 0, 0x1000, SPE_BRANCH_LINK, true, 0x1000);
    for (unsigned i = 0; i < 40; i++)
        missed += spe_machine_branch(machine, 0, 0x9000, SPE_BRANCH_RETURN | SPE_BRANCH_INDIRECT,
                                     true, 0x1004);
    assert_int_equal(missed, 24);
}

static bool indirect(uint64_t pc, uint64_t target)
{
    return spe_machine_branch(machine, 0, pc, SPE_BRANCH_INDIRECT, true, target);
}

static void test_indirect(void **state)
{
    unsigned missed = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        missed += indirect(0x1000, 0x5000);
    assert_int_equal(missed, 1); /* the first time */
    missed = 0;
    for (unsigned i = 0; i < 3000; i++)
        missed += indirect(0x2000, 0x6000 + 64 * (i % 3)) && i >= 100;
    assert_int_equal(missed, 0); /* the path tells which of three comes next */
}

/* One target each: perfect whatever the path between them. */
static void test_many_indirect(void **state)
{
    uint64_t seed = 3;
    unsigned missed = 0;
    bool seen[8] = {false};

    (void)state;
    for (unsigned i = 0; i < 10000; i++) {
        unsigned n = (unsigned)chance(&seed, 8);

        missed += indirect(0x1000 + 8 * n, 0x5000 + 128 * n) && seen[n];
        seen[n] = true;
    }
    assert_int_equal(missed, 0);
}

static void test_random_targets(void **state)
{
    uint64_t seed = 5;
    unsigned missed = 0;

    (void)state;
    for (unsigned i = 0; i < 10000; i++)
        missed += indirect(0x1000, 0x5000 + 64 * chance(&seed, 16));
    assert_true(missed > 8500); /* 15 of 16 */
}

/* What one cpu learns the others do not know. */
static void test_cpus_apart(void **state)
{
    struct spe_machine_counts counts;

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        conditional(0x1000, true);
    assert_false(conditional(0x1000, true));
    assert_true(spe_machine_branch(machine, 1, 0x1000, SPE_BRANCH_CONDITIONAL, true, 0x1040));
    spe_machine_counts(machine, 1, &counts);
    assert_int_equal(counts.branches, 1);
    assert_int_equal(counts.mispredicted, 1);
}

/* The short way and the long one: the same answers, and the same is learnt. */
static void test_foreseen(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *plain;
    struct spe_machine_counts counts, expected;
    unsigned foreseen = 0;
    uint64_t seed = 11;

    (void)state;
    config.predictor_bits = 6; /* so that branches are in each other's way */
    plain = make_machine(&config);
    spe_machine_destroy(machine);
    machine = make_machine(&config);
    for (unsigned i = 0; i < 100000; i++) {
        unsigned n = i % 16;
        bool taken = n < 8 ? n & 1 : n < 12 ? i % n == 0 : chance(&seed, n);
        bool expected_wrong =
            spe_machine_branch(plain, 0, 64u * n, SPE_BRANCH_CONDITIONAL, taken, 0);
        bool sure = pe_foreseen(machine->cpus[0], 64u * n, taken);

        assert_int_equal(!sure && conditional(64u * n, taken), expected_wrong);
        foreseen += sure;
    }
    assert_in_range(foreseen, 20000, 99000);
    spe_machine_counts(machine, 0, &counts);
    spe_machine_counts(plain, 0, &expected);
    assert_memory_equal(&counts, &expected, sizeof(counts));
    spe_machine_destroy(plain);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_always_taken),  TEST(test_unconditional),  TEST(test_loops),
        TEST(test_patterns),      TEST(test_correlation),    TEST(test_random),
        TEST(test_returns),       TEST(test_recursion),      TEST(test_indirect),
        TEST(test_many_indirect), TEST(test_random_targets), TEST(test_cpus_apart),
        TEST(test_foreseen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
