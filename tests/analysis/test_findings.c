/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Each rule on samples that show it, and on samples that do not: docs/findings.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/findings.h"
#include "analysis/mix.h"

/* ---- samples --------------------------------------------------------------------------------- */

#define ROWS 4000

enum { LOAD = 0x100, STORE = 0x101, ATOMIC = 0x106, BRANCH = 0x201, OTHER = 0x000, SVE = 0x008 };
enum { WALK = 1, INIT = 2 }; /* functions */

static struct kept_row rows[ROWS];
static size_t count;

static int start(void **state)
{
    (void)state;
    memset(rows, 0, sizeof(rows));
    count = 0;
    return 0;
}

/* One that takes so long, of it so long until it is issued. */
static struct kept_row *add(unsigned op, uint64_t pc, uint64_t symbol, uint16_t total,
                            uint16_t issue)
{
    struct kept_row *row = &rows[count++];

    assert_true(count <= ROWS);
    *row = (struct kept_row){
        .pc = pc,
        .symbol = symbol,
        .time_ns = 1000 + count,
        .map = SPE_NO_ID,
        .op = (uint16_t)op,
        .total = total,
        .issue = issue,
        .level = op == LOAD ? SPE_LEVEL_L1 : SPE_LEVEL_UNKNOWN,
        .has = SPE_HAS_OP | SPE_HAS_EVENTS,
        .counters = 1u << SPE_COUNTER_TOTAL | 1u << SPE_COUNTER_ISSUE,
    };
    return row;
}

static struct kept_row *at(struct kept_row *row, uint64_t va, uint32_t thread)
{
    row->va = va;
    row->addresses |= 1u << SPE_ADDRESS_VA;
    row->thread = thread;
    return row;
}

/* A program that nothing is to be said of: operations of 2 cycles, loads of 5. */
static void ordinary(size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        add(i % 4 ? OTHER : LOAD, 0x100 + 4 * (i % 8), INIT, i % 4 ? 2 : 5, 1);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct study study_of(void)
{
    return (struct study){.rows = rows, .count = count, .saturated_at = 4095};
}

static bool holds_in(finding_rule *rule, struct study s, struct spe_finding *finding)
{
    bool found;

    memset(finding, 0, sizeof(*finding));
    finding->symbol = SPE_NO_SYMBOL;
    assert_int_equal(study_begin(&s), SPE_OK);
    found = rule(&s, finding);
    study_end(&s);
    assert_false(s.no_memory);
    if (found) {
        assert_true(finding->interval.low <= finding->share);
        assert_true(finding->interval.high >= finding->share);
    }
    return found;
}

static bool holds(finding_rule *rule, struct spe_finding *finding)
{
    return holds_in(rule, study_of(), finding);
}

static int find(struct spe_finding findings[SPE_FINDINGS_MAX])
{
    struct study s = study_of();
    int n;

    assert_int_equal(study_begin(&s), SPE_OK);
    n = findings_of(&s, findings);
    study_end(&s);
    return n;
}

#define NEAR(a, b) assert_true((a) > (b)-0.005 && (a) < (b) + 0.005)

/* ---- loads by level -------------------------------------------------------------------------- */

/* A load in so many is served elsewhere. */
static void loads_from(uint8_t level, uint16_t cycles, size_t one_in)
{
    size_t i;

    ordinary(1000);
    for (i = 0; i < 1000; i++) {
        bool far = i % one_in == 0;

        add(LOAD, 0x200 + 4 * far, WALK, far ? cycles : 5, 1)->level =
            far ? level : (uint8_t)SPE_LEVEL_L1;
    }
}

/* Found if all are; not if they are one in so many, and a little slower than others. */
static void check_level(finding_rule *rule, uint8_t level, uint16_t cycles, size_t rare)
{
    struct spe_finding f;

    loads_from(level, cycles, 1);
    assert_true(holds(rule, &f));
    assert_int_equal(f.basis, SPE_OF_LATENCY);
    assert_int_equal(f.symbol, WALK);
    assert_int_equal(f.pc, 0x204); /* the load that is served there */
    assert_int_equal(f.samples, 1000);
    NEAR(f.cycles, cycles - 1.0);
    start(NULL);
    loads_from(level, 30, rare);
    assert_false(holds(rule, &f));
    assert_true(f.samples >= LEAST_SHOWN); /* that is not why */
}

static void test_dram(void **state)
{
    (void)state;
    check_level(find_dram, SPE_LEVEL_DRAM, 300, 40);
}

static void test_l3(void **state)
{
    (void)state;
    check_level(find_l3, SPE_LEVEL_L3, 90, 40);
}

static void test_l2(void **state)
{
    (void)state;
    check_level(find_l2, SPE_LEVEL_L2, 15, 12);
}

static void test_beyond_l1(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    loads_from(SPE_LEVEL_UNKNOWN, 100, 1);
    assert_false(holds(find_beyond_l1, &f)); /* nothing tells that they missed */
    for (i = 1000; i < 2000; i++)
        rows[i].events = SPE_EVENT_BIT(L1D_ACCESS) | SPE_EVENT_BIT(L1D_MISS);
    assert_true(holds(find_beyond_l1, &f));
}

/* The wait for a slow load is charged to it; a counter that is full does not say how long the load
 * itself took. */
static void test_waits_are_charged(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    ordinary(200);
    for (i = 0; i < 500; i++) {
        add(LOAD, 0x200, WALK, 4095, 4095)->level = SPE_LEVEL_DRAM;
        add(OTHER, 0x204, WALK, 4095, 4095);
    }
    assert_true(holds(find_dram, &f));
    assert_true(f.share > 0.95);
    assert_int_equal(f.pc, 0x200);
    assert_true(f.cycles == 0.0);
    assert_false(holds(find_issue_wait, &f));
}

/* Translation is known of full counters, too, but is not all that is left: two quick loads do not
 * tell how long the slow ones took. */
static void test_two_do_not_tell(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    ordinary(200);
    for (i = 0; i < 502; i++) {
        struct kept_row *row = add(LOAD, 0x200, WALK, i < 500 ? 4095 : 45, i < 500 ? 4095 : 1);

        row->level = SPE_LEVEL_DRAM;
        row->translation = 40;
        add(OTHER, 0x204, WALK, 4095, 4095);
    }
    assert_true(holds(find_dram, &f));
    assert_true(f.share > 0.95);
    assert_true(f.cycles == 0.0);
    assert_false(holds(find_tlb_walks, &f));
}

static void test_issue_wait(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    for (i = 0; i < 1000; i++)
        add(OTHER, 0x200 + 4 * (i % 2), WALK, i % 2 ? 60 : 3, i % 2 ? 57 : 1);
    assert_true(holds(find_issue_wait, &f));
    assert_int_equal(f.pc, 0x204); /* who waits */
    start(NULL);
    for (i = 0; i < 1000; i++)
        add(OTHER, 0x200, WALK, 8, 7); /* that is ordinary */
    assert_false(holds(find_issue_wait, &f));
}

static void test_tlb_walks(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    loads_from(SPE_LEVEL_L2, 50, 1);
    assert_false(holds(find_tlb_walks, &f));
    for (i = 1000; i < 2000; i++)
        rows[i].translation = 38;
    assert_true(holds(find_tlb_walks, &f));
    assert_int_equal(f.symbol, WALK);
    NEAR(f.cycles, 38.0);
}

/* ---- stores and atomics ---------------------------------------------------------------------- */

static void test_stores(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    ordinary(500);
    for (i = 0; i < 500; i++)
        add(STORE, 0x300, WALK, 40, 1);
    assert_true(holds(find_stores, &f));
    assert_int_equal(f.pc, 0x300);
    for (i = 500; i < 1000; i++)
        rows[i].total = 4; /* many, but they do not wait */
    assert_false(holds(find_stores, &f));
}

static void test_atomics(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    ordinary(1000);
    for (i = 0; i < 300; i++)
        add(ATOMIC, 0x300, WALK, 30, 1);
    assert_true(holds(find_atomics, &f));
    assert_int_equal(f.pc, 0x300);
    for (i = 1000; i < 1300; i++)
        rows[i].op = LOAD;
    assert_false(holds(find_atomics, &f));
}

/* ---- sharing --------------------------------------------------------------------------------- */

/* Four threads on a line, each on bytes of its own or all on the same. */
static void on_a_line(unsigned op, size_t distance, uint8_t level)
{
    size_t i;

    ordinary(400);
    for (i = 0; i < 400; i++)
        at(add(op, 0x400, WALK, 120, 1), 0x8000 + i % 4 * distance, (uint32_t)(i % 4))->level =
            level;
}

static void test_sharing(void **state)
{
    struct spe_finding f;

    (void)state;
    on_a_line(LOAD, 8, SPE_LEVEL_PEER_CORE);
    assert_true(holds(find_sharing, &f));
    assert_int_equal(f.rule, SPE_FINDING_FALSE_SHARING);
    assert_int_equal(f.address & ~UINT64_C(63), 0x8000);
    assert_int_equal(f.symbol, WALK);
    start(NULL);
    on_a_line(LOAD, 0, SPE_LEVEL_PEER_CORE);
    assert_true(holds(find_sharing, &f));
    assert_int_equal(f.rule, SPE_FINDING_TRUE_SHARING);
    start(NULL);
    on_a_line(ATOMIC, 0, SPE_LEVEL_PEER_CORE);
    assert_true(holds(find_sharing, &f));
    assert_int_equal(f.rule, SPE_FINDING_CONTENDED_ATOMICS);
    start(NULL);
    on_a_line(LOAD, 8, SPE_LEVEL_L1); /* nobody took it away */
    assert_false(holds(find_sharing, &f));
}

/* The data of a finding are what costs most on the line, and the most of another thread. */
static void test_shared_data(void **state)
{
    static const uint16_t cycles[] = {120, 150, 200, 130};
    struct spe_finding f;
    size_t i;

    (void)state;
    ordinary(400);
    for (i = 0; i < 400; i++)
        at(add(LOAD, 0x400, WALK, cycles[i % 4], 1), 0x8000 + i % 4 * 8, (uint32_t)(i % 4))->level =
            SPE_LEVEL_PEER_CORE;
    assert_true(holds(find_sharing, &f));
    assert_int_equal(f.rule, SPE_FINDING_FALSE_SHARING);
    assert_int_equal(f.address, 0x8010);
    assert_int_equal(f.thread, 2);
    assert_int_equal(f.other, 0x8008);
    start(NULL);
    on_a_line(LOAD, 0, SPE_LEVEL_PEER_CORE); /* all use the same */
    assert_true(holds(find_sharing, &f));
    assert_int_equal(f.address, 0x8000);
    assert_int_equal(f.other, 0);
}

/* Atomics on one line, one in so many of them from another core; all take as long. */
static void atomics_on_a_line(size_t one_in)
{
    size_t i;

    ordinary(400);
    for (i = 0; i < 400; i++)
        at(add(ATOMIC, 0x400, WALK, 120, 1), 0x8000, (uint32_t)(i % 4))->level =
            i % one_in ? SPE_LEVEL_L1 : SPE_LEVEL_PEER_CORE;
}

static void test_contended(void **state)
{
    struct spe_finding f;

    (void)state;
    atomics_on_a_line(2);
    assert_true(holds(find_sharing, &f));
    assert_int_equal(f.rule, SPE_FINDING_CONTENDED_ATOMICS);
    assert_int_equal(f.samples, 400); /* who has the line waited behind who did not */
    assert_false(holds(find_atomics, &f));
    start(NULL);
    atomics_on_a_line(16); /* most find it where they left it */
    assert_true(holds(find_atomics, &f));
    assert_int_equal(f.samples, 375);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* So many of a thousand operations have the event. */
static void with_event(unsigned op, uint64_t events, size_t hits)
{
    size_t i;

    ordinary(1000);
    for (i = 0; i < 1000; i++)
        add(op, 0x500 + 4 * (i < hits), WALK, 3, 1)->events = i < hits ? events : 0;
}

static void check_event(finding_rule *rule, unsigned op, uint64_t events, size_t many, size_t few)
{
    struct spe_finding f;

    with_event(op, events, many);
    assert_true(holds(rule, &f));
    assert_int_equal(f.pc, 0x504);
    assert_int_equal(f.samples, many);
    start(NULL);
    with_event(op, events, few);
    assert_false(holds(rule, &f));
}

static void test_mispredicted(void **state)
{
    struct spe_finding f;

    (void)state;
    check_event(find_mispredicted, BRANCH, SPE_EVENT_BIT(MISPREDICTED), 250, 50);
    start(NULL);
    with_event(BRANCH, SPE_EVENT_BIT(MISPREDICTED), 250);
    assert_true(holds(find_mispredicted, &f));
    NEAR(f.share, 0.25);
    assert_int_equal(f.basis, SPE_OF_BRANCHES);
}

static void test_misaligned(void **state)
{
    (void)state;
    check_event(find_misaligned, STORE, SPE_EVENT_BIT(MISALIGNED), 500, 50);
}

static void test_empty_predicates(void **state)
{
    (void)state;
    check_event(find_empty_predicates, SVE,
                SPE_EVENT_BIT(EMPTY_PREDICATE) | SPE_EVENT_BIT(PARTIAL_PREDICATE), 200, 90);
}

static void test_partial_predicates(void **state)
{
    struct spe_finding f;

    (void)state;
    check_event(find_partial_predicates, SVE, SPE_EVENT_BIT(PARTIAL_PREDICATE), 400, 240);
    start(NULL);
    with_event(SVE, SPE_EVENT_BIT(EMPTY_PREDICATE) | SPE_EVENT_BIT(PARTIAL_PREDICATE), 400);
    assert_false(holds(find_partial_predicates, &f)); /* these do nothing: another finding */
}

/* ---- threads and phases ---------------------------------------------------------------------- */

static void threads(uint16_t cycles_of_one, size_t n)
{
    size_t i;

    for (i = 0; i < 1000; i++) {
        bool one = i % n == n - 1;

        add(OTHER, one ? 0x604 : 0x600, WALK, one ? cycles_of_one : 5, 1)->thread =
            (uint32_t)(i % n);
    }
}

static void test_one_thread(void **state)
{
    struct spe_finding f;

    (void)state;
    threads(100, 4);
    assert_true(holds(find_one_thread, &f));
    assert_int_equal(f.thread, 3);
    assert_int_equal(f.pc, 0x604);
    NEAR(f.share, 100.0 / 115.0);
    NEAR(f.cycles, 100.0);
    NEAR(f.others, 5.0);
    start(NULL);
    threads(8, 4);
    assert_false(holds(find_one_thread, &f));
    start(NULL);
    threads(100, 1); /* there is no other */
    assert_false(holds(find_one_thread, &f));
}

static void phase(uint16_t cycles, uint16_t later, size_t n)
{
    size_t i;

    for (i = 0; i < 2000; i++) {
        add(OTHER, 0x700, WALK, i < n ? cycles : later, 1)->time_ns = 1000000 + 1000 * i;
        add(OTHER, 0x704, INIT, 2, 1)->time_ns = 1000000 + 1000 * i;
    }
}

static void test_one_phase(void **state)
{
    struct spe_finding f;

    (void)state;
    phase(200, 3, 400);
    assert_true(holds(find_one_phase, &f));
    assert_int_equal(f.symbol, WALK);
    NEAR(f.share, 80000.0 / (80000 + 4800 + 4000));
    assert_in_range(f.from_ns, 1000000, 1001000);
    assert_in_range(f.to_ns, 1390000, 1440000);
    start(NULL);
    phase(35, 10, 800); /* not so much slower */
    assert_false(holds(find_one_phase, &f));
    start(NULL);
    phase(200, 3, 1200); /* most of the time */
    assert_false(holds(find_one_phase, &f));
    start(NULL);
    phase(15, 3, 100); /* little of the latency */
    assert_false(holds(find_one_phase, &f));
}

static double next_random(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (double)(*random >> 11) / (double)(UINT64_C(1) << 53);
}

/* Samples of any time, some of them very slow: no stretch of time is, but by chance. */
static void test_no_phase_by_chance(void **state)
{
    unsigned found = 0, round;
    struct spe_finding f;
    uint64_t random = 1;
    size_t i;

    (void)state;
    for (round = 0; round < 100; round++) {
        start(NULL);
        for (i = 0; i < 500; i++) {
            double cycles = 3.0 / (next_random(&random) + 0.0008);

            add(OTHER, 0x700, WALK, (uint16_t)cycles, 1)->time_ns = 1000000 + 1000 * i;
        }
        found += holds(find_one_phase, &f);
    }
    assert_true(found <= 1);
}

/* The interval has the share of the population in it, 95 times of 100. */
static void test_intervals(void **state)
{
    const double truth = 0.2 * 300 / (0.2 * 300 + 0.8 * 10);
    unsigned inside = 0, round;
    uint64_t random = 1;
    size_t i;

    (void)state;
    for (round = 0; round < 1000; round++) {
        struct spe_finding f;

        start(NULL);
        for (i = 0; i < 200; i++) {
            bool far = next_random(&random) < 0.2;

            add(LOAD, 0x200, WALK, far ? 300 : 10, 0)->level = far ? SPE_LEVEL_DRAM : SPE_LEVEL_L1;
        }
        assert_true(holds(find_dram, &f));
        inside += f.interval.low <= truth && truth <= f.interval.high;
    }
    assert_in_range(inside, 925, 975);
}

/* ---- doubts ---------------------------------------------------------------------------------- */

static void test_few_samples(void **state)
{
    struct spe_finding f, findings[SPE_FINDINGS_MAX];

    (void)state;
    ordinary(99);
    assert_true(holds(find_few_samples, &f));
    assert_int_equal(f.samples, 99);
    assert_int_equal(find(findings), 1); /* and nothing is said of costs */
    assert_int_equal(findings[0].rule, SPE_FINDING_FEW_SAMPLES);
    ordinary(1);
    assert_false(holds(find_few_samples, &f));
}

static void test_no_latency(void **state)
{
    struct spe_finding f, findings[SPE_FINDINGS_MAX];
    size_t i;

    (void)state;
    ordinary(1000);
    assert_false(holds(find_no_latency, &f));
    for (i = 0; i < count; i++)
        rows[i].total = rows[i].issue = 0;
    assert_true(holds(find_no_latency, &f));
    assert_int_equal(find(findings), 1); /* it is not said that nothing stands out */
    assert_int_equal(findings[0].rule, SPE_FINDING_NO_LATENCY);
}

static void check_counts(finding_rule *rule, const struct spe_profile_counts *bad,
                         const struct spe_profile_counts *good)
{
    struct study s;
    struct spe_finding f;

    ordinary(200);
    s = study_of();
    s.counts = bad;
    assert_true(holds_in(rule, s, &f));
    s.counts = good;
    assert_false(holds_in(rule, s, &f));
    s.counts = NULL;
    assert_false(holds_in(rule, s, &f));
}

static void test_lost(void **state)
{
    struct spe_profile_counts bad = {.aux_truncated = 20, .aux_partial = 10}, good = {.lost = 0};

    (void)state;
    bad.file.records_by[SPE_PERF_AUX] = good.file.records_by[SPE_PERF_AUX] = 200;
    good.aux_truncated = 2;
    check_counts(find_lost, &bad, &good);
}

static void test_collisions(void **state)
{
    struct spe_profile_counts bad = {.aux_collision = 40}, good = {.aux_collision = 4};

    (void)state;
    bad.file.records_by[SPE_PERF_AUX] = good.file.records_by[SPE_PERF_AUX] = 200;
    check_counts(find_collisions, &bad, &good);
}

static void test_damaged(void **state)
{
    struct spe_profile_counts bad = {.rows = 200}, good = {.rows = 200};

    (void)state;
    bad.account.bytes = good.account.bytes = 10000;
    bad.account.skipped_bytes = 100;
    good.account.skipped_bytes = 99;
    check_counts(find_damaged, &bad, &good);
}

static void test_no_threads(void **state)
{
    struct spe_profile_counts bad = {.rows = 1000, .by_nothing = 100},
                              good = {.rows = 1000, .by_nothing = 40};

    (void)state;
    check_counts(find_no_threads, &bad, &good);
}

static void test_no_symbols(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    ordinary(1000);
    for (i = 0; i < 150; i++)
        rows[i].symbol = SPE_NO_SYMBOL;
    assert_false(holds(find_no_symbols, &f));
    for (; i < 300; i++)
        rows[i].symbol = SPE_NO_SYMBOL;
    assert_true(holds(find_no_symbols, &f));
}

static void test_unknown_sources(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    loads_from(SPE_LEVEL_UNKNOWN, 5, 1);
    assert_false(holds(find_unknown_sources, &f)); /* there is no Data Source packet */
    for (i = 1000; i < 2000; i++)
        rows[i].has |= SPE_HAS_SOURCE;
    assert_true(holds(find_unknown_sources, &f));
    assert_int_equal(f.basis, SPE_OF_LOADS);
}

static void test_contradictions(void **state)
{
    struct spe_finding f;
    size_t i;

    (void)state;
    ordinary(1000);
    assert_false(holds(find_contradictions, &f));
    for (i = 0; i < 50; i++)
        rows[i].issue = (uint16_t)(rows[i].total + 1);
    assert_true(holds(find_contradictions, &f));
}

static void test_resonance(void **state)
{
    struct spe_profile_info info = {.period = 4096};
    struct spe_finding f;
    struct study s;

    (void)state;
    ordinary(1000);
    s = study_of();
    s.info = &info;
    s.pairs = 999;
    s.repeats = 125; /* one of eight instructions, by chance */
    assert_false(holds_in(find_resonance, s, &f));
    s.repeats = 900;
    assert_true(holds_in(find_resonance, s, &f));
    info.config = SPE_CONFIG_JITTER;
    assert_false(holds_in(find_resonance, s, &f));
}

/* ---- the list -------------------------------------------------------------------------------- */

static void test_nothing(void **state)
{
    struct spe_finding findings[SPE_FINDINGS_MAX];

    (void)state;
    ordinary(1000);
    assert_int_equal(find(findings), 1);
    assert_int_equal(findings[0].rule, SPE_FINDING_NOTHING);
    assert_false(spe_finding_is_doubt(SPE_FINDING_NOTHING));
    assert_true(spe_finding_is_doubt(SPE_FINDING_FEW_SAMPLES));
}

/* The largest share first; two doubts have their place. */
static void test_order(void **state)
{
    struct spe_finding findings[SPE_FINDINGS_MAX];
    size_t i;
    int n;

    (void)state;
    for (i = 0; i < 500; i++) {
        add(LOAD, 0x800, SPE_NO_SYMBOL, 200, 1)->level = SPE_LEVEL_DRAM;
        add(LOAD, 0x804, SPE_NO_SYMBOL, 150, 1)->level = SPE_LEVEL_L3;
        add(STORE, 0x808, SPE_NO_SYMBOL, 160, 1);
        add(ATOMIC, 0x80c, SPE_NO_SYMBOL, 120, 1);
        add(BRANCH, 0x810, SPE_NO_SYMBOL, 3, 9)->events = SPE_EVENT_BIT(MISPREDICTED);
    }
    n = find(findings);
    assert_int_equal(n, SPE_FINDINGS_MAX);
    assert_int_equal(findings[0].rule, SPE_FINDING_MISPREDICTED); /* all branches are */
    assert_int_equal(findings[1].rule, SPE_FINDING_DRAM);
    assert_int_equal(findings[2].rule, SPE_FINDING_STORES);
    assert_int_equal(findings[3].rule, SPE_FINDING_NO_SYMBOLS);
    assert_int_equal(findings[4].rule, SPE_FINDING_CONTRADICTIONS);
}

static void test_names(void **state)
{
    unsigned i, k;

    (void)state;
    for (i = 0; i < SPE_FINDING_RULES; i++) {
        assert_non_null(spe_finding_name(i));
        for (k = 0; k < i; k++)
            assert_string_not_equal(spe_finding_name(i), spe_finding_name(k));
    }
}

/* All causes together are all latency. */
static void test_causes_add_up(void **state)
{
    struct study s;
    double sum = 0.0;
    size_t i;
    int c;

    (void)state;
    loads_from(SPE_LEVEL_DRAM, 300, 3);
    with_event(BRANCH, SPE_EVENT_BIT(MISPREDICTED), 250);
    for (i = 0; i < count; i += 7)
        rows[i].total = rows[i].issue = 4095;
    for (i = 0; i < count; i += 5)
        rows[i].translation = 40;
    s = study_of();
    assert_int_equal(study_begin(&s), SPE_OK);
    for (i = 0; i < count; i++) {
        for (c = 0; c < CAUSE_COUNT; c++) {
            assert_true(cost_of(&s, i, (enum cause)c) >= 0.0);
            sum += cost_of(&s, i, (enum cause)c);
        }
    }
    assert_true(sum > s.latency * 0.999999 && sum < s.latency * 1.000001);
    study_end(&s);
}

/* ---- through the analysis -------------------------------------------------------------------- */

static struct spe_rows some_rows(size_t n, uint64_t *pc, uint64_t *time)
{
    static const uint64_t events[64];
    static const uint32_t ids[64];
    static const uint16_t u16[64];
    static const uint8_t has[64];
    size_t i;

    for (i = 0; i < n; i++)
        pc[i]++, time[i] += 64;
    return (struct spe_rows){.size = sizeof(struct spe_rows),
                             .count = n,
                             .pc = pc,
                             .time_ns = time,
                             .events = events,
                             .map = ids,
                             .thread = ids,
                             .pid = ids,
                             .op = u16,
                             .total = u16,
                             .level = has,
                             .has = has,
                             .addresses = has,
                             .counters = has};
}

/* One in 1, 2, 4 ... from the first to the last. */
static void test_kept(void **state)
{
    uint64_t pc[64], time[64];
    struct kept k, other;
    size_t i;

    (void)state;
    for (i = 0; i < 64; i++) {
        pc[i] = i;
        time[i] = i;
    }
    assert_int_equal(kept_init(&k), SPE_OK);
    assert_int_equal(kept_init(&other), SPE_OK);
    for (i = 0; i < 2000; i++) {
        struct spe_rows r = some_rows(64, pc, time);

        kept_add(&k, &r);
        if (i == 100)
            kept_add(&other, &r);
    }
    assert_int_equal(k.seen, 128000);
    assert_int_equal(k.step, 4);
    assert_in_range(k.count, 31990, KEPT_MAX);
    for (i = 1; i < k.count; i++)
        assert_int_equal(k.rows[i].time_ns - k.rows[i - 1].time_ns, 4);
    i = k.count;
    kept_merge(&k, &other);
    assert_int_equal(k.count, i + 16);
    kept_free(&k);
    kept_free(&other);
}

/* A walk through a list after a long preparation: one sample in 800 has most of the latency. */
static void test_rare_and_slow(void **state)
{
    struct spe_analysis_config config = {.size = sizeof(config), .findings = true};
    struct spe_finding findings[SPE_FINDINGS_MAX];
    struct spe_analysis *a;
    uint64_t pc[64] = {0}, time[64] = {0};
    uint16_t op[64] = {0}, total[64];
    uint8_t level[64], has[64], counters[64];
    struct spe_rows r;
    size_t i, k;

    (void)state;
    assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
    for (i = 0; i < 740; i++) { /* 47,360 samples */
        r = some_rows(64, pc, time);
        for (k = 0; k < 64; k++) {
            bool slow = (64 * i + k) % 797 == 0;

            op[k] = LOAD;
            total[k] = slow ? 4000 : 3;
            level[k] = slow ? SPE_LEVEL_DRAM : SPE_LEVEL_L1;
            has[k] = SPE_HAS_OP;
            counters[k] = 1u << SPE_COUNTER_TOTAL;
        }
        r.op = op;
        r.total = total;
        r.level = level;
        r.has = has;
        r.counters = counters;
        assert_int_equal(spe_analysis_add(a, NULL, &r), SPE_OK);
    }
    assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
    assert_true(spe_analysis_findings(a, NULL, findings) >= 1);
    assert_int_equal(findings[0].rule, SPE_FINDING_DRAM);
    assert_true(findings[0].interval.low > 0.4);
    spe_analysis_destroy(a);
}

/* Bins are as wide as they have to be, wherever the first sample was. */
static void test_times(void **state)
{
    struct spe_analysis_config config = {.size = sizeof(config), .time = true};
    struct spe_analysis *a, *b;
    struct spe_times times;
    uint64_t pc[64] = {0}, time[64], samples = 0;
    struct spe_rows r;
    size_t i;

    (void)state;
    for (i = 0; i < 64; i++)
        time[i] = 1000000 + 4096 * i;
    assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
    assert_int_equal(spe_analysis_create(&b, &config), SPE_OK);
    r = some_rows(64, pc, time);
    assert_int_equal(spe_analysis_add(a, NULL, &r), SPE_OK);
    for (i = 0; i < 64; i++)
        time[i] -= 500000; /* before them */
    r = some_rows(64, pc, time);
    assert_int_equal(spe_analysis_add(b, NULL, &r), SPE_OK);
    assert_int_equal(spe_analysis_merge(a, b, NULL), SPE_OK);
    assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
    assert_int_equal(spe_analysis_times(a, 40, &times), SPE_OK);
    assert_in_range(times.count, 30, 40);
    assert_in_range(times.from_ns, 499000, 500128);
    assert_true(times.from_ns + times.bin_ns * times.count > 1000064 + 4096 * 63);
    for (i = 0; i < times.count; i++)
        samples += times.bins[i].samples;
    assert_int_equal(samples, 128);
    assert_int_equal(times.bins[times.count / 2].samples, 0); /* between the two */
    spe_times_free(&times);
    spe_analysis_destroy(a);
    spe_analysis_destroy(b);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_dram),
        TEST(test_l3),
        TEST(test_l2),
        TEST(test_beyond_l1),
        TEST(test_waits_are_charged),
        TEST(test_two_do_not_tell),
        TEST(test_issue_wait),
        TEST(test_tlb_walks),
        TEST(test_stores),
        TEST(test_atomics),
        TEST(test_sharing),
        TEST(test_shared_data),
        TEST(test_contended),
        TEST(test_mispredicted),
        TEST(test_misaligned),
        TEST(test_empty_predicates),
        TEST(test_partial_predicates),
        TEST(test_one_thread),
        TEST(test_one_phase),
        TEST(test_no_phase_by_chance),
        TEST(test_intervals),
        TEST(test_few_samples),
        TEST(test_no_latency),
        TEST(test_lost),
        TEST(test_collisions),
        TEST(test_damaged),
        TEST(test_no_threads),
        TEST(test_no_symbols),
        TEST(test_unknown_sources),
        TEST(test_contradictions),
        TEST(test_resonance),
        TEST(test_nothing),
        TEST(test_order),
        TEST(test_names),
        TEST(test_causes_add_up),
        TEST(test_kept),
        TEST(test_rare_and_slow),
        TEST(test_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
