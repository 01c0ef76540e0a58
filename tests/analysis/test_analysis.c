/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The questions over rows made by hand, whose answers were counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/analysis.h>

#define ROWS 4096

/* All columns, and the rows over them. */
static struct {
    uint64_t wide[10][ROWS], symbol[ROWS];
    uint32_t u32[9][ROWS];
    uint16_t u16[6][ROWS];
    uint8_t u8[7][ROWS];
    struct spe_rows rows;
} t;

enum { PC, TARGET, VA, PA, PREVIOUS, EVENTS, TIME, TIMESTAMP, OFFSET };

static void start_rows(void)
{
    memset(&t, 0, sizeof(t));
    t.rows.size = sizeof(t.rows);
    t.rows.pc = t.wide[PC];
    t.rows.target = t.wide[TARGET];
    t.rows.va = t.wide[VA];
    t.rows.pa = t.wide[PA];
    t.rows.previous_target = t.wide[PREVIOUS];
    t.rows.events = t.wide[EVENTS];
    t.rows.time_ns = t.wide[TIME];
    t.rows.timestamp = t.wide[TIMESTAMP];
    t.rows.offset = t.wide[OFFSET];
    t.rows.symbol = t.symbol;
    t.rows.cpu = t.u32[0];
    t.rows.pid = t.u32[1];
    t.rows.tid = t.u32[2];
    t.rows.thread = t.u32[3];
    t.rows.comm = t.u32[4];
    t.rows.map = t.u32[5];
    t.rows.context1 = t.u32[6];
    t.rows.context2 = t.u32[7];
    t.rows.op = t.u16[0];
    t.rows.total = t.u16[1];
    t.rows.issue = t.u16[2];
    t.rows.translation = t.u16[3];
    t.rows.alt_issue = t.u16[4];
    t.rows.source = t.u16[5];
    t.rows.el = t.u8[0];
    t.rows.flags = t.u8[1];
    t.rows.tag = t.u8[2];
    t.rows.level = t.u8[3];
    t.rows.has = t.u8[4];
    t.rows.addresses = t.u8[5];
    t.rows.counters = t.u8[6];
}

enum { LOAD = 0x100, STORE = 0x101, BRANCH = 0x200, OTHER = 0x000 };

/* Everything that the questions look at. Symbols are of DSO 3. */
static size_t add(uint16_t op, uint64_t pc, uint64_t symbol, uint64_t events, uint16_t total)
{
    size_t i = t.rows.count++;

    assert_true(i < ROWS);
    t.u16[0][i] = op;
    t.wide[PC][i] = pc;
    t.symbol[i] = symbol == SPE_NO_SYMBOL ? symbol : UINT64_C(3) << 32 | symbol;
    t.wide[EVENTS][i] = events;
    t.u16[1][i] = total;
    t.u32[5][i] = SPE_NO_ID;
    t.u8[4][i] = SPE_HAS_OP | SPE_HAS_EVENTS;
    t.u8[5][i] = 1u << SPE_ADDRESS_PC;
    t.u8[6][i] = 1u << SPE_COUNTER_TOTAL;
    return i;
}

static void address(size_t i, uint64_t va, uint32_t pid, uint32_t thread)
{
    t.wide[VA][i] = va;
    t.u8[5][i] |= 1u << SPE_ADDRESS_VA;
    t.u32[1][i] = pid;
    t.u32[3][i] = thread;
}

static struct spe_analysis *analyse(struct spe_analysis_config config)
{
    struct spe_analysis *a;

    config.size = sizeof(config);
    assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
    assert_int_equal(spe_analysis_add(a, NULL, &t.rows), SPE_OK);
    assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
    return a;
}

#define L1D (SPE_EVENT_BIT(L1D_ACCESS))
#define L1M (SPE_EVENT_BIT(L1D_ACCESS) | SPE_EVENT_BIT(L1D_MISS))
#define LLC (L1M | SPE_EVENT_BIT(LLC_ACCESS))
#define LLCM (LLC | SPE_EVENT_BIT(LLC_MISS))
#define WALK SPE_EVENT_BIT(TLB_WALK)
#define MISP SPE_EVENT_BIT(MISPREDICTED)
#define NOT SPE_EVENT_BIT(NOT_TAKEN)

static void test_config(void **state)
{
    struct spe_analysis_config config = {.size = sizeof(config), .data = true, .data_memory = 8191};
    struct spe_analysis *a = NULL;

    (void)state;
    assert_int_equal(spe_analysis_create(&a, &config), SPE_ERR_INVALID);
    assert_null(a);
    config.data_memory = 8192;
    config.size = 0;
    assert_int_equal(spe_analysis_create(&a, &config), SPE_ERR_INVALID);
    spe_analysis_destroy(NULL);
}

static void test_groups(void **state)
{
    struct spe_group top[8];
    struct spe_counts all;
    struct spe_analysis *a;

    (void)state;
    start_rows();
    add(LOAD, 0x10, 1, L1D, 5);
    add(LOAD, 0x10, 1, LLCM | WALK, 300);
    add(STORE, 0x14, 1, L1M, 7);
    add(BRANCH, 0x20, 2, MISP, 4);
    add(BRANCH, 0x24, 2, NOT, 4);
    add(BRANCH, 0x20, 2, 0, 4);
    add(OTHER, 0x28, 2, MISP | L1M | WALK, 2); /* these events count for their own kind only */
    add(OTHER, 0x30, SPE_NO_SYMBOL, 0, 1);
    a = analyse((struct spe_analysis_config){.by = 1u << SPE_BY_FUNCTION});

    spe_analysis_totals(a, &all);
    assert_int_equal(all.samples, 8);
    assert_int_equal(all.latency, 327);
    assert_int_equal(all.memory, 3);
    assert_int_equal(all.branches, 3);
    assert_int_equal(spe_analysis_group_count(a, SPE_BY_FUNCTION), 3);
    assert_int_equal(spe_analysis_groups(a, SPE_BY_FUNCTION, SPE_SORT_SAMPLES, top, 8), 3);
    assert_int_equal(top[0].symbol, UINT64_C(3) << 32 | 2);
    assert_int_equal(top[0].dso, 3);
    assert_int_equal(top[0].counts.samples, 4);
    assert_int_equal(top[0].counts.branches, 3);
    assert_int_equal(top[0].counts.mispredicted, 1);
    assert_int_equal(top[0].counts.memory, 0);
    assert_int_equal(top[0].counts.l1_misses, 0);
    assert_int_equal(top[0].counts.tlb_walks, 0);
    assert_int_equal(top[2].symbol, SPE_NO_SYMBOL);
    assert_int_equal(top[2].dso, SPE_NO_ID);
    assert_int_equal(spe_analysis_groups(a, SPE_BY_FUNCTION, SPE_SORT_LATENCY, top, 1), 1);
    assert_int_equal(top[0].symbol, UINT64_C(3) << 32 | 1);
    assert_int_equal(top[0].counts.latency, 312);
    assert_int_equal(top[0].counts.memory, 3);
    assert_int_equal(top[0].counts.l1_misses, 2);
    assert_int_equal(top[0].counts.llc_misses, 1);
    assert_int_equal(top[0].counts.tlb_walks, 1);
    spe_analysis_destroy(a);
}

/* A branch whose first samples were summed up before its first misprediction keeps them. */
static void test_branch_across_sums(void **state)
{
    struct spe_analysis_config config = {.size = sizeof(config), .pc_slots = 16};
    struct spe_branch top[2];
    struct spe_analysis *a;
    uint64_t error;
    unsigned i;

    (void)state;
    start_rows();
    add(BRANCH, 0x40, 1, NOT, 3);
    for (i = 0; i < ROWS - 2; i++) /* enough pcs to fill the smallest table */
        add(OTHER, 0x1000 + 4 * i, 1, 0, 1);
    add(BRANCH, 0x40, 1, MISP, 9);
    assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
    assert_int_equal(spe_analysis_add(a, NULL, &t.rows), SPE_OK);
    assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
    assert_int_equal(spe_analysis_branches(a, top, 2, &error), 1);
    assert_int_equal(top[0].samples, 2);
    assert_int_equal(top[0].mispredicted, 1);
    assert_int_equal(top[0].latency, 12);
    spe_analysis_destroy(a);
}

/* Equal counts: by id, wherever the hash put them. */
static void test_ties(void **state)
{
    struct spe_group top[20];
    struct spe_analysis *a;
    unsigned i;

    (void)state;
    start_rows();
    for (i = 0; i < 20; i++)
        add(LOAD, 4 * i, 19 - i, L1D, 5);
    a = analyse((struct spe_analysis_config){.by = 1u << SPE_BY_FUNCTION});
    assert_int_equal(spe_analysis_groups(a, SPE_BY_FUNCTION, SPE_SORT_LATENCY, top, 20), 20);
    for (i = 0; i < 20; i++)
        assert_int_equal(top[i].symbol, UINT64_C(3) << 32 | i);
    spe_analysis_destroy(a);
}

static void test_branches(void **state)
{
    struct spe_branch top[4];
    struct spe_analysis *a;
    uint64_t error;

    (void)state;
    start_rows();
    add(BRANCH, 0x40, 1, MISP, 10);
    add(BRANCH, 0x40, 1, NOT | MISP, 20);
    add(BRANCH + 1, 0x40, 1, NOT, 3);          /* another kind of branch at the same pc: one row */
    add(LOAD, 0x40, 1, NOT | MISP | L1M, 100); /* no branch: neither its events nor its latency */
    add(BRANCH, 0x50, 1, MISP, 3);
    add(BRANCH, 0x60, 1, 0, 3); /* never mispredicted: not in the list */
    a = analyse((struct spe_analysis_config){0});
    assert_int_equal(spe_analysis_branches(a, top, 4, &error), 2);
    assert_int_equal(error, 0);
    assert_int_equal(top[0].pc, 0x40);
    assert_int_equal(top[0].samples, 3);
    assert_int_equal(top[0].mispredicted, 2);
    assert_int_equal(top[0].not_taken, 2);
    assert_int_equal(top[0].latency, 33);
    assert_int_equal(top[0].op >> 8, SPE_CLASS_BRANCH);
    assert_int_equal(top[1].pc, 0x50);
    assert_int_equal(top[1].op, BRANCH);
    spe_analysis_destroy(a);
}

static void test_served(void **state)
{
    struct spe_served_row rows[SPE_SERVED_COUNT];
    uint64_t bins[SPE_LATENCY_BINS];
    struct spe_analysis *a;
    size_t i;

    (void)state;
    start_rows();
    for (i = 1; i <= 4; i++) { /* a data source beats the events */
        size_t row = add(LOAD, 0x10, 1, LLCM, (uint16_t)(10 * i));

        t.u8[3][row] = SPE_LEVEL_L2;
    }
    add(LOAD, 0x10, 1, L1D, 4);
    add(LOAD, 0x10, 1, LLCM, 4095);
    add(LOAD, 0x10, 1, 0, 9);
    t.u8[6][add(LOAD, 0x10, 1, 0, 0)] = 0; /* no latency: a load, but no sample of it */
    add(STORE, 0x10, 1, L1D, 4);           /* not a load */
    a = analyse((struct spe_analysis_config){.saturated_at = 4095});
    assert_int_equal(spe_analysis_served(a, rows), 4);
    assert_int_equal(rows[0].served, SPE_LEVEL_L2);
    assert_true(rows[0].by_source);
    assert_int_equal(rows[0].loads, 4);
    assert_int_equal(rows[0].latency.sum, 100);
    assert_int_equal(rows[0].latency.median, 20);
    assert_int_equal(rows[0].latency.p95, 40);
    assert_int_equal(rows[1].served, SPE_SERVED_L1_HIT);
    assert_false(rows[1].by_source);
    assert_int_equal(rows[2].served, SPE_SERVED_BEYOND_LLC);
    assert_int_equal(rows[2].latency.saturated, 1);
    assert_int_equal(rows[3].served, SPE_SERVED_UNKNOWN); /* never an L1 hit */
    assert_int_equal(rows[3].loads, 2);
    assert_int_equal(rows[3].latency.samples, 1);
    spe_analysis_latencies(a, SPE_LEVEL_L2, bins);
    for (i = 0; i < SPE_LATENCY_BINS; i++) /* 10, 20, 30, 40 */
        assert_int_equal(bins[i], i == 9 || i == 13 || i == 15 || i == 17);
    spe_analysis_destroy(a);
}

static void test_served_by_events(void **state)
{
    (void)state;
    assert_int_equal(spe_served_by(SPE_LEVEL_DRAM, L1D), SPE_LEVEL_DRAM);
    assert_int_equal(spe_served_by(0, L1D), SPE_SERVED_L1_HIT);
    assert_int_equal(spe_served_by(0, L1M), SPE_SERVED_BEYOND_L1);
    assert_int_equal(spe_served_by(0, L1M | SPE_EVENT_BIT(RECENTLY_FETCHED)), SPE_SERVED_IN_FLIGHT);
    assert_int_equal(spe_served_by(0, L1M | SPE_EVENT_BIT(L2D_ACCESS)), SPE_SERVED_L2_HIT);
    assert_int_equal(spe_served_by(0, L1M | SPE_EVENT_BIT(L2D_ACCESS) | SPE_EVENT_BIT(L2D_MISS)),
                     SPE_SERVED_BEYOND_L2);
    assert_int_equal(spe_served_by(0, LLC), SPE_SERVED_LLC_HIT);
    assert_int_equal(spe_served_by(0, LLCM), SPE_SERVED_BEYOND_LLC);
    assert_int_equal(spe_served_by(0, LLCM | SPE_EVENT_BIT(REMOTE)), SPE_SERVED_REMOTE);
    assert_int_equal(spe_served_by(0, 0), SPE_SERVED_UNKNOWN);
}

static void test_mix(void **state)
{
    struct spe_mix mix[SPE_MIX_MAX];
    struct spe_analysis *a;
    uint64_t sum = 0, events[64];
    size_t n, i;

    (void)state;
    start_rows();
    add(LOAD, 1, 1, L1D, 10);
    add(LOAD | 4, 1, 1, L1D, 20); /* SIMD&FP */
    add(LOAD, 1, 1, L1M, 30);
    add(STORE, 1, 1, 0, 1);
    add(BRANCH | 1, 1, 1, UINT64_C(1) << 63, 1); /* conditional */
    t.u8[4][add(OTHER, 1, 1, 0, 1)] = 0;         /* no Operation Type packet */
    a = analyse((struct spe_analysis_config){0});
    n = spe_analysis_mix(a, mix);
    assert_int_equal(n, 8); /* 3 classes with 4 kinds, and one without */
    assert_string_equal(mix[0].name, "loads");
    assert_int_equal(mix[0].samples, 3);
    assert_int_equal(mix[0].latency, 60);
    assert_string_equal(mix[1].name, "general-purpose");
    assert_int_equal(mix[1].samples, 2);
    assert_string_equal(mix[2].name, "SIMD and floating-point");
    assert_string_equal(mix[6].name, "conditional");
    assert_string_equal(mix[7].name, "no operation type");
    for (i = 0; i < n; i++)
        sum += mix[i].is_class ? mix[i].samples : 0;
    assert_int_equal(sum, 6);
    spe_analysis_events(a, events);
    assert_int_equal(events[SPE_EVENT_L1D_ACCESS], 3);
    assert_int_equal(events[SPE_EVENT_L1D_MISS], 1);
    assert_int_equal(events[63], 1);
    spe_analysis_destroy(a);
}

static void test_data(void **state)
{
    struct spe_data_summary summary;
    struct spe_data top[8];
    struct spe_analysis *a;

    (void)state;
    start_rows();
    address(add(LOAD, 1, 1, L1M, 50), 0x1000, 7, 1);
    address(add(STORE, 1, 1, L1D, 5), 0x103f, 7, 2); /* the same line, another thread */
    address(add(LOAD, 1, 1, L1D, 40), 0x1000, 8, 3); /* another process */
    address(add(LOAD, 1, 1, L1D, 20), 0xffff800000000000, 7, 1);
    address(add(LOAD, 1, 1, L1D, 10), 0xffff800000000008, 8, 3); /* the same for all processes */
    add(LOAD, 1, 1, L1D, 99);                                    /* no address */
    a = analyse((struct spe_analysis_config){.data = true});
    assert_int_equal(spe_analysis_data(a, top, 8, &summary), 3);
    assert_int_equal(summary.shift, 6);
    assert_int_equal(summary.latency, 125);
    assert_int_equal(summary.missing, 0);
    assert_int_equal(top[0].error, 0);
    assert_int_equal(top[0].address, 0x1000);
    assert_int_equal(top[0].pid, 7);
    assert_int_equal(top[0].latency, 55);
    assert_int_equal(top[0].hottest, 0x1000);
    assert_int_equal(top[0].loads, 1);
    assert_int_equal(top[0].stores, 1);
    assert_int_equal(top[0].l1_misses, 1);
    assert_true(top[0].several_threads);
    assert_int_equal(top[0].shared, 0);
    assert_int_equal(top[1].pid, 8);
    assert_false(top[1].several_threads);
    assert_int_equal(top[2].address, 0xffff800000000000);
    assert_int_equal(top[2].pid, SPE_NO_TASK);
    assert_int_equal(top[2].samples, 2);
    spe_analysis_destroy(a);
    a = analyse((struct spe_analysis_config){.data = true, .data_shift = 12});
    assert_int_equal(spe_analysis_data(a, top, 1, &summary), 1);
    assert_int_equal(top[0].latency, 55);
    spe_analysis_destroy(a);
}

/* The byte that has most of a line's latency, whichever came first or last; also of parts that are
 * merged. */
static void test_hottest(void **state)
{
    struct spe_data_summary summary;
    struct spe_data top;
    struct spe_analysis *a, *b;

    (void)state;
    start_rows();
    address(add(LOAD, 1, 1, L1D, 9), 0x1000, 7, 1);
    address(add(LOAD, 1, 1, L1D, 20), 0x1018, 7, 1);
    address(add(LOAD, 1, 1, L1D, 20), 0x1018, 7, 1);
    address(add(LOAD, 1, 1, L1D, 9), 0x103f, 7, 1);
    a = analyse((struct spe_analysis_config){.data = true});
    assert_int_equal(spe_analysis_data(a, &top, 1, &summary), 1);
    assert_int_equal(top.address, 0x1000);
    assert_int_equal(top.hottest, 0x1018);
    b = analyse((struct spe_analysis_config){.data = true, .data_shift = 12});
    assert_int_equal(spe_analysis_data(b, &top, 1, &summary), 1);
    assert_int_equal(top.hottest, 0x1018);
    spe_analysis_destroy(b);
    start_rows();
    address(add(LOAD, 1, 1, L1D, 100), 0x1020, 7, 1);
    b = analyse((struct spe_analysis_config){.data = true});
    assert_int_equal(spe_analysis_merge(b, a, NULL), SPE_OK);
    assert_int_equal(spe_analysis_data(b, &top, 1, &summary), 1);
    assert_int_equal(top.hottest, 0x1020);
    assert_int_equal(top.latency, 158);
    spe_analysis_destroy(a);
    spe_analysis_destroy(b);
}

/* Many more lines than there is room for, most of them light: every latency is within its error of
 * the truth, and no line that is missing has more than it may. */
static void test_data_errors(void **state)
{
    enum { LINES = 2000 };
    uint64_t truth[LINES] = {0};
    struct spe_data_summary summary;
    struct spe_analysis_config config = {
        .size = sizeof(config), .data = true, .data_memory = 32768};
    struct spe_data top[64];
    struct spe_analysis *a;
    uint32_t random = 1;
    size_t n, i, round;

    (void)state;
    assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
    for (round = 0; round < 60; round++) {
        start_rows();
        for (i = 0; i < 1000; i++) {
            uint32_t line;

            random = random * 1664525 + 1013904223;
            line = i % 4 ? (random >> 12) % LINES : (random >> 12) % 10;
            truth[line] += 1 + i % 50;
            address(add(LOAD, 1, 1, L1D, (uint16_t)(1 + i % 50)), line * 64, 7, 1);
        }
        assert_int_equal(spe_analysis_add(a, NULL, &t.rows), SPE_OK);
    }
    assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
    n = spe_analysis_data(a, top, 64, &summary);
    assert_true(n >= 10 && summary.missing > 0);
    for (i = 0; i < n; i++) {
        uint64_t *true_latency = &truth[top[i].address / 64];

        assert_in_range(*true_latency, top[i].latency, top[i].latency + top[i].error);
        assert_true(i >= 10 || top[i].address / 64 < 10);
        *true_latency = 0;
    }
    for (i = 0; i < LINES; i++)
        assert_in_range(truth[i], 0, summary.missing);
    spe_analysis_destroy(a);
}

enum { MANY_LINES = 20000 };

struct plain_line {
    uint64_t latency;
    uint32_t samples, loads, threads; /* a bit of each thread */
};

/* Samples `from` to `to` of a sequence over all lines, also counted in a plain way. */
static void add_many_lines(struct spe_analysis *a, struct plain_line *truth, uint32_t from,
                           uint32_t to)
{
    for (uint32_t n = from; n < to;) {
        start_rows();
        for (; n < to && t.rows.count < ROWS; n++) {
            uint32_t line = n < MANY_LINES ? n : n * 2654435761u % MANY_LINES;
            uint16_t latency = (uint16_t)(1 + (n >> 3) % 900);
            bool load = n % 3;

            uint32_t thread = n / 5 % 3;

            address(add(load ? LOAD : STORE, 1, 1, L1D, latency), (uint64_t)line * 64, 7, thread);
            truth[line].latency += latency;
            truth[line].samples++;
            truth[line].loads += load;
            truth[line].threads |= 1u << thread;
        }
        assert_int_equal(spe_analysis_add(a, NULL, &t.rows), SPE_OK);
    }
}

static void check_many_lines(const struct spe_analysis *a, const struct plain_line *truth)
{
    static struct spe_data top[MANY_LINES + 1];
    struct spe_data_summary summary;
    uint64_t sum = 0;

    assert_int_equal(spe_analysis_data(a, top, MANY_LINES + 1, &summary), MANY_LINES);
    assert_int_equal(summary.missing, 0);
    for (size_t i = 0; i < MANY_LINES; i++) {
        const struct plain_line *line = &truth[top[i].address / 64];

        assert_int_equal(top[i].error, 0);
        assert_int_equal(top[i].latency, line->latency);
        assert_int_equal(top[i].samples, line->samples);
        assert_int_equal(top[i].loads, line->loads);
        assert_int_equal(top[i].several_threads, (line->threads & (line->threads - 1)) != 0);
        assert_true(!i || top[i - 1].latency >= top[i].latency);
        sum += top[i].latency;
    }
    assert_int_equal(summary.latency, sum);
}

/* More lines than the 8,192 that were once kept, in the memory that there is by default: what is
 * said is what a plain count says, in one analysis and in two that are merged. */
static void test_data_exact(void **state)
{
    static struct plain_line truth[MANY_LINES];
    struct spe_analysis_config config = {.size = sizeof(config), .data = true};
    struct spe_analysis *a, *b;

    (void)state;
    for (int parts = 1; parts <= 2; parts++) {
        uint32_t end = 60000, middle = parts == 1 ? end : 25000;

        memset(truth, 0, sizeof(truth));
        assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
        assert_int_equal(spe_analysis_create(&b, &config), SPE_OK);
        add_many_lines(a, truth, 0, middle);
        add_many_lines(b, truth, middle, end);
        assert_int_equal(spe_analysis_merge(a, b, NULL), SPE_OK);
        assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
        check_many_lines(a, truth);
        spe_analysis_destroy(a);
        spe_analysis_destroy(b);
    }
}

enum { SAMPLES = 90000, HOT = 20 };

/* Rows of two processes that use each other's addresses, and of the kernel. Some lines are hot,
 * from a sample on up to another. */
static void give_hot_lines(struct spe_analysis *a, uint32_t from, uint32_t to, bool again)
{

    for (uint32_t n = 0; n < SAMPLES;) {
        start_rows();
        for (; n < SAMPLES && t.rows.count < ROWS; n++) {
            uint64_t line = n * 2654435761u % MANY_LINES, kernel = n % 11 == 0;
            uint16_t latency = (uint16_t)(1 + n % 90);

            if (n % 4 == 1 && n >= from && n < to) {
                line = MANY_LINES + n / 4 % HOT;
                latency = (uint16_t)(500 + line);
            }
            address(add(n % 3 ? LOAD : STORE, 1, 1, n % 5 ? L1D : L1M, latency),
                    (line * 64 + n % 7) | kernel * UINT64_C(0xffff000000000000), 7 + n % 2, n % 3);
        }
        assert_int_equal(
            again ? spe_analysis_add_data(a, &t.rows) : spe_analysis_add(a, NULL, &t.rows), SPE_OK);
    }
}

static bool same_data(const struct spe_data *a, const struct spe_data *b)
{
    return a->address == b->address && a->pid == b->pid && a->latency == b->latency &&
           a->error == b->error && a->samples == b->samples && a->loads == b->loads &&
           a->l1_misses == b->l1_misses && a->shared == b->shared &&
           a->several_threads == b->several_threads;
}

/* In memory for few samples, and with rows that can come again, the hottest lines are those of an
 * analysis that keeps all: after one pass if they came first, or while samples were kept; else, or
 * if all are asked for, after two. */
static void test_data_again(void **state)
{
    static const struct {
        uint32_t from, to;
        uint64_t memory;
        size_t top;
        int again;
    } cases[] = {{0, SAMPLES / 2, 1 << 19, 25, 0},
                 {12000, SAMPLES, 1 << 19, 25, 0},
                 {SAMPLES / 2, SAMPLES, 1 << 19, 25, 1},
                 {SAMPLES / 2, SAMPLES, 1 << 21, 0, 1}};
    static struct spe_data expected[4 * MANY_LINES], top[4 * MANY_LINES];
    struct spe_data_summary all, summary;
    struct spe_analysis *plain, *a;

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct spe_analysis_config config = {.size = sizeof(config), .data = true};
        size_t n = cases[c].top ? cases[c].top : 4 * MANY_LINES;

        assert_int_equal(spe_analysis_create(&plain, &config), SPE_OK);
        give_hot_lines(plain, cases[c].from, cases[c].to, false);
        assert_int_equal(spe_analysis_finish(plain, NULL), SPE_OK);
        n = spe_analysis_data(plain, expected, n, &all);

        config.data_memory = cases[c].memory;
        config.data_top = cases[c].top;
        config.again = true;
        assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
        give_hot_lines(a, cases[c].from, cases[c].to, false);
        assert_int_equal(spe_analysis_merge(a, plain, NULL), SPE_ERR_INVALID);
        assert_int_equal(spe_analysis_wants_data(a), cases[c].again);
        if (cases[c].again)
            give_hot_lines(a, cases[c].from, cases[c].to, true);
        assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
        assert_int_equal(spe_analysis_data(a, top, 4 * MANY_LINES, &summary), n);
        assert_int_equal(summary.missing, 0);
        assert_int_equal(summary.latency, all.latency);
        for (size_t i = 0; i < n; i++)
            assert_true(same_data(&top[i], &expected[i]));
        spe_analysis_destroy(plain);
        spe_analysis_destroy(a);
    }
}

/* Rows come again, and there is no room even for the lines that matter: the bounds hold. */
static void test_data_again_errors(void **state)
{
    static struct spe_data truth[4 * MANY_LINES], top[4 * MANY_LINES];
    struct spe_analysis_config config = {.size = sizeof(config), .data = true};
    struct spe_data_summary summary;
    struct spe_analysis *plain, *a;
    size_t n, lines;

    (void)state;
    assert_int_equal(spe_analysis_create(&plain, &config), SPE_OK);
    give_hot_lines(plain, SAMPLES / 2, SAMPLES, false);
    assert_int_equal(spe_analysis_finish(plain, NULL), SPE_OK);
    lines = spe_analysis_data(plain, truth, 4 * MANY_LINES, &summary);

    config.data_memory = 1 << 17;
    config.again = true;
    assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
    give_hot_lines(a, SAMPLES / 2, SAMPLES, false);
    assert_int_equal(spe_analysis_wants_data(a), 1);
    give_hot_lines(a, SAMPLES / 2, SAMPLES, true);
    assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
    n = spe_analysis_data(a, top, 4 * MANY_LINES, &summary);
    assert_true(n > 0 && n < lines && summary.missing > 0);
    for (size_t i = 0; i < lines; i++) {
        const struct spe_data *found = NULL;

        for (size_t k = 0; k < n && !found; k++)
            found =
                top[k].address == truth[i].address && top[k].pid == truth[i].pid ? &top[k] : NULL;
        if (found)
            assert_in_range(truth[i].latency, found->latency, found->latency + found->error);
        else
            assert_in_range(truth[i].latency, 0, summary.missing);
    }
    spe_analysis_destroy(plain);
    spe_analysis_destroy(a);
}

/* An analysis that had room for all, and one that had not: the bounds hold for what is merged. */
static void test_data_merge_errors(void **state)
{
    static struct plain_line truth[MANY_LINES];
    struct spe_analysis_config config = {
        .size = sizeof(config), .data = true, .data_memory = 65536};
    static struct spe_data top[MANY_LINES];
    struct spe_data_summary summary;
    struct spe_analysis *a, *b;

    (void)state;
    for (int full = 0; full < 2; full++) {
        size_t n;

        memset(truth, 0, sizeof(truth));
        assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
        assert_int_equal(spe_analysis_create(&b, &config), SPE_OK);
        add_many_lines(a, truth, 0, full ? 30000 : 300);
        add_many_lines(b, truth, 300, full ? 600 : 30000);
        assert_int_equal(spe_analysis_merge(a, b, NULL), SPE_OK);
        assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
        n = spe_analysis_data(a, top, MANY_LINES, &summary);
        assert_true(n > 0 && summary.missing > 0);
        for (size_t i = 0; i < n; i++) {
            struct plain_line *line = &truth[top[i].address / 64];

            assert_in_range(line->latency, top[i].latency, top[i].latency + top[i].error);
            line->latency = 0;
        }
        for (size_t i = 0; i < MANY_LINES; i++)
            assert_in_range(truth[i].latency, 0, summary.missing);
        spe_analysis_destroy(a);
        spe_analysis_destroy(b);
    }
}

static void test_threads_and_cpus(void **state)
{
    struct spe_group top[4];
    struct spe_analysis *a;
    size_t i;

    (void)state;
    start_rows();
    for (i = 0; i < 6; i++) {
        size_t row = add(LOAD, 1, 1, L1D, 1);

        t.u32[0][row] = i < 2 ? 0 : 1;
        t.u32[3][row] = i < 5 ? 10 : SPE_NO_ID;
    }
    a = analyse((struct spe_analysis_config){.by = 1u << SPE_BY_THREAD | 1u << SPE_BY_CPU});
    assert_int_equal(spe_analysis_groups(a, SPE_BY_THREAD, SPE_SORT_SAMPLES, top, 4), 2);
    assert_int_equal(top[0].id, 10);
    assert_int_equal(top[0].counts.samples, 5);
    assert_int_equal(top[1].id, SPE_NO_ID);
    assert_int_equal(spe_analysis_groups(a, SPE_BY_CPU, SPE_SORT_SAMPLES, top, 4), 2);
    assert_int_equal(top[0].id, 1);
    assert_int_equal(top[0].counts.samples, 4);
    assert_int_equal(spe_analysis_group_count(a, SPE_BY_FUNCTION), 0);
    spe_analysis_destroy(a);
}

/* Many pcs through a table that is too small for them, in one pass and in two that are merged: the
 * answers are the same. */
static void many_rows(unsigned round)
{
    unsigned i;

    start_rows();
    for (i = 0; i < ROWS; i++) {
        unsigned n = i * 7 + round * 13;
        unsigned place = n % 3499; /* more than fit; a pc is in one function */
        size_t row = add(place % 3 ? LOAD : BRANCH, 0x1000 + 4 * place, place % 37,
                         n % 5 ? MISP : L1M, (uint16_t)(n % 200));

        if (place % 3)
            address(row, 0x100000 + 64 * (n % 50), n % 2, n % 4);
    }
}

/* Member by member: what lies between them is nobody's. */
static void assert_same_data(const struct spe_data *a, const struct spe_data *b)
{
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->latency, b->latency);
    assert_int_equal(a->error, b->error);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->loads, b->loads);
    assert_int_equal(a->stores, b->stores);
    assert_int_equal(a->l1_misses, b->l1_misses);
    assert_int_equal(a->shared, b->shared);
    assert_int_equal(a->several_threads, b->several_threads);
    assert_int_equal(a->hottest, b->hottest);
}

static void assert_same_group(const struct spe_group *a, const struct spe_group *b)
{
    assert_int_equal(a->symbol, b->symbol);
    assert_int_equal(a->dso, b->dso);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->address, b->address);
    assert_memory_equal(&a->counts, &b->counts, sizeof(a->counts)); /* has no gaps */
}

static void assert_same_branch(const struct spe_branch *a, const struct spe_branch *b)
{
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->symbol, b->symbol);
    assert_int_equal(a->map, b->map);
    assert_int_equal(a->op, b->op);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->mispredicted, b->mispredicted);
    assert_int_equal(a->not_taken, b->not_taken);
    assert_int_equal(a->latency, b->latency);
}

static void test_sums_and_merge(void **state)
{
    struct spe_analysis_config config = {
        .size = sizeof(config), .by = 1u << SPE_BY_FUNCTION | 1u << SPE_BY_THREAD, .data = true};
    struct spe_group top[3][40];
    struct spe_branch branches[3][20];
    struct spe_data data[3][20];
    struct spe_data_summary summary;
    struct spe_analysis *a[4];
    uint64_t error;
    unsigned i, round;

    (void)state;
    for (i = 0; i < 4; i++) {
        config.pc_slots = i == 1 ? 16 : 0; /* the second sums up again and again */
        assert_int_equal(spe_analysis_create(&a[i], &config), SPE_OK);
    }
    for (round = 0; round < 4; round++) {
        many_rows(round);
        for (i = 0; i < 2; i++)
            assert_int_equal(spe_analysis_add(a[i], NULL, &t.rows), SPE_OK);
        assert_int_equal(spe_analysis_add(a[2 + round / 2], NULL, &t.rows), SPE_OK);
    }
    assert_int_equal(spe_analysis_merge(a[2], a[3], NULL), SPE_OK);
    memset(top, 0, sizeof(top));
    memset(branches, 0, sizeof(branches));
    memset(data, 0, sizeof(data));
    for (i = 0; i < 3; i++) {
        assert_int_equal(spe_analysis_finish(a[i], NULL), SPE_OK);
        assert_int_equal(spe_analysis_groups(a[i], SPE_BY_FUNCTION, SPE_SORT_LATENCY, top[i], 40),
                         37);
        assert_int_equal(spe_analysis_branches(a[i], branches[i], 20, &error), 20);
        assert_int_equal(error, 0);
        assert_int_equal(spe_analysis_data(a[i], data[i], 20, &summary), 20);
        assert_int_equal(summary.missing, 0);
    }
    for (i = 1; i < 3; i++) {
        for (size_t k = 0; k < 37; k++)
            assert_same_group(&top[0][k], &top[i][k]);
        for (size_t k = 0; k < 20; k++) {
            assert_same_branch(&branches[0][k], &branches[i][k]);
            assert_same_data(&data[0][k], &data[i][k]);
        }
    }
    for (i = 0; i < 4; i++)
        spe_analysis_destroy(a[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_branch_across_sums),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_served),
        cmocka_unit_test(test_served_by_events),
        cmocka_unit_test(test_mix),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_hottest),
        cmocka_unit_test(test_data_errors),
        cmocka_unit_test(test_data_exact),
        cmocka_unit_test(test_data_merge_errors),
        cmocka_unit_test(test_data_again),
        cmocka_unit_test(test_data_again_errors),
        cmocka_unit_test(test_threads_and_cpus),
        cmocka_unit_test(test_sums_and_merge),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
