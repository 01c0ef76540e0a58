/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Counts by instruction, of rows made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/analysis.h>

#define ROWS 20000

static struct {
    uint64_t pc[ROWS], target[ROWS], events[ROWS], time[ROWS];
    uint32_t map[ROWS], thread[ROWS];
    uint16_t op[ROWS], total[ROWS], issue[ROWS], translation[ROWS];
    uint8_t has[ROWS], addresses[ROWS], counters[ROWS], level[ROWS];
    struct spe_rows rows;
} t;

static struct spe_profile *profile; /* of nothing: rows are in no map */
static struct spe_annotation *annotation;

#define ALL_COUNTERS                                                                               \
    (1u << SPE_COUNTER_TOTAL | 1u << SPE_COUNTER_ISSUE | 1u << SPE_COUNTER_TRANSLATION)

static size_t add(uint64_t pc, unsigned class_, unsigned payload, uint64_t events)
{
    size_t i = t.rows.count++;

    assert_true(i < ROWS);
    t.pc[i] = pc;
    t.map[i] = t.thread[i] = SPE_NO_ID;
    t.has[i] = SPE_HAS_OP;
    t.op[i] = (uint16_t)(class_ << 8 | payload);
    t.events[i] = events;
    return i;
}

static size_t add_timed(uint64_t pc, unsigned class_, unsigned payload, uint64_t events,
                        uint16_t total, uint16_t issue, uint16_t translation)
{
    size_t i = add(pc, class_, payload, events);

    t.counters[i] = ALL_COUNTERS;
    t.total[i] = total;
    t.issue[i] = issue;
    t.translation[i] = translation;
    return i;
}

static int start(void **state)
{
    static const uint8_t bytes[64]; /* padding */
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;
    struct spe_code_choice nowhere = {SPE_NO_SYMBOL, SPE_NO_ID};

    (void)state;
    options.raw = true;
    memset(&t, 0, sizeof(t));
    t.rows = (struct spe_rows){.pc = t.pc,
                               .target = t.target,
                               .events = t.events,
                               .time_ns = t.time,
                               .map = t.map,
                               .thread = t.thread,
                               .op = t.op,
                               .total = t.total,
                               .issue = t.issue,
                               .translation = t.translation,
                               .has = t.has,
                               .addresses = t.addresses,
                               .counters = t.counters,
                               .level = t.level};
    if (spe_profile_open_memory(&profile, bytes, sizeof(bytes), &options, NULL) < 0)
        return -1;
    return spe_annotation_create(&annotation, &nowhere, 1);
}

static int end(void **state)
{
    (void)state;
    spe_annotation_destroy(annotation);
    spe_profile_close(profile);
    return 0;
}

static const struct spe_instruction *count(size_t want)
{
    const struct spe_instruction *list;
    size_t n;

    assert_int_equal(spe_annotation_add(annotation, profile, &t.rows), SPE_OK);
    assert_int_equal(spe_annotation_finish(annotation), SPE_OK);
    list = spe_annotation_instructions(annotation, 0, &n);
    assert_int_equal(n, want);
    return list;
}

static void test_load(void **state)
{
    const struct spe_instruction *insn;
    uint64_t samples, latency;

    (void)state;
    t.level[add_timed(0x1004, SPE_CLASS_LDST, 0, SPE_EVENT_BIT(L1D_MISS), 50, 10, 5)] =
        SPE_LEVEL_DRAM;
    t.level[add_timed(0x1004, SPE_CLASS_LDST, 0,
                      SPE_EVENT_BIT(L1D_MISS) | SPE_EVENT_BIT(LLC_MISS) | SPE_EVENT_BIT(TLB_WALK),
                      70, 10, 15)] = SPE_LEVEL_DRAM;
    t.level[add(0x1004, SPE_CLASS_LDST, 0, 0)] = SPE_LEVEL_L1; /* without counters */
    add_timed(0x1000, SPE_CLASS_LDST, 1, 0, 4, 6, 1);          /* a store; less than its parts */
    insn = count(2);
    assert_int_equal(insn[0].address, 0x1000);
    assert_string_equal(insn[0].operation, "store");
    assert_int_equal(insn[0].counts.memory, 1);
    assert_int_equal(insn[0].loads, 0);
    assert_int_equal(insn[0].execution.samples, 1);
    assert_int_equal(insn[0].execution.cycles, 0);
    assert_int_equal(insn[1].address, 0x1004);
    assert_string_equal(insn[1].operation, "load");
    assert_int_equal(insn[1].counts.samples, 3);
    assert_int_equal(insn[1].loads, 3);
    assert_int_equal(insn[1].counts.l1_misses, 2);
    assert_int_equal(insn[1].counts.llc_misses, 1);
    assert_int_equal(insn[1].counts.tlb_walks, 1);
    assert_int_equal(insn[1].served[SPE_LEVEL_DRAM], 2);
    assert_int_equal(insn[1].served[SPE_LEVEL_L1], 1);
    assert_int_equal(insn[1].total.samples, 2);
    assert_int_equal(insn[1].total.cycles, 120);
    assert_int_equal(insn[1].issue.cycles, 20);
    assert_int_equal(insn[1].translation.cycles, 20);
    assert_int_equal(insn[1].execution.cycles, 80);
    assert_int_equal(insn[1].counts.latency, 120);
    spe_annotation_totals(annotation, &samples, &latency);
    assert_int_equal(samples, 4);
    assert_int_equal(latency, 124);
}

/* D17.6.3: a branch that was not taken has no target that means anything. */
static void test_branch(void **state)
{
    const struct spe_instruction *insn;
    const struct spe_branch_target *targets;
    const uint64_t to[] = {0x3000, 0x2000, 0x2000, 0x4000, 0x2000};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        size_t row = add(0x1000, SPE_CLASS_BRANCH, 1, i == 1 ? SPE_EVENT_BIT(MISPREDICTED) : 0);

        t.target[row] = to[i];
        t.addresses[row] = 1u << SPE_ADDRESS_TARGET;
        t.events[row] |= i == 3 ? SPE_EVENT_BIT(NOT_TAKEN) : 0;
    }
    add(0x1000, SPE_CLASS_BRANCH, 1, 0); /* taken, but it does not say where to */
    insn = count(1);
    assert_int_equal(insn->counts.branches, 6);
    assert_int_equal(insn->not_taken, 1);
    assert_int_equal(insn->counts.mispredicted, 1);
    assert_int_equal(insn->target_count, 2);
    targets = spe_annotation_targets(annotation) + insn->first_target;
    assert_int_equal(targets[0].address, 0x2000);
    assert_int_equal(targets[0].samples, 3);
    assert_int_equal(targets[0].mispredicted, 1);
    assert_int_equal(targets[0].dso, SPE_NO_ID);
    assert_int_equal(targets[1].address, 0x3000);
    assert_int_equal(targets[1].samples, 1);
}

/* More instructions than the first table has room for, in any order. */
static void test_many(void **state)
{
    const struct spe_instruction *insn;
    struct spe_instruction sum = {0};

    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        add(0x10000 + 4 * (i * 7919 % 9973), SPE_CLASS_OTHER, 0, 0);
    insn = count(9973);
    for (size_t i = 0; i < 9973; i++) {
        assert_int_equal(insn[i].address, 0x10000 + 4 * i);
        assert_in_range(insn[i].counts.samples, 2, 3);
        spe_instruction_add(&sum, &insn[i]);
    }
    assert_int_equal(sum.counts.samples, ROWS);
    assert_int_equal(sum.counts.memory, 0);
}

/* Rows that are in none of the chosen functions count in the whole only. */
static void test_not_chosen(void **state)
{
    uint64_t samples, latency;
    size_t n;

    (void)state;
    spe_annotation_destroy(annotation);
    assert_int_equal(spe_annotation_create(&annotation, NULL, 0), SPE_OK);
    add_timed(0x1000, SPE_CLASS_OTHER, 0, 0, 9, 1, 0);
    assert_null(count(0));
    spe_annotation_choices(annotation, &n);
    assert_int_equal(n, 0);
    spe_annotation_totals(annotation, &samples, &latency);
    assert_int_equal(samples, 1);
    assert_int_equal(latency, 9);
}

/* Three bins of 10 ns from 100 on. */
static const struct spe_times three = {.from_ns = 100, .bin_ns = 10, .count = 3};

static void add_at(uint64_t pc, uint64_t time, uint16_t total, uint32_t thread)
{
    size_t i = add_timed(pc, SPE_CLASS_LDST, 0, SPE_EVENT_BIT(L1D_ACCESS), total, 1, 1);

    t.time[i] = time;
    t.thread[i] = thread;
    t.level[i] = SPE_LEVEL_DRAM;
}

/* The last of a bin, the first of the next; and samples that are in none: before, behind, without
 * time. */
static void add_times(void)
{
    add_at(0x1000, 100, 5, 7);
    add_at(0x1000, 109, 7, 7);
    add_at(0x1004, 110, 11, 8);
    add_at(0x1004, 129, 13, 9);
    add_at(0x1004, 99, 100, 7);
    add_at(0x1004, 130, 100, 7);
    add_at(0x1004, 0, 100, 7);
}

static void test_lanes(void **state)
{
    const uint32_t ids[] = {8, 7};
    struct spe_lanes *lanes;

    (void)state;
    add_times();
    assert_int_equal(spe_lanes_create(&lanes, SPE_BY_LINE, ids, 2, &three), SPE_ERR_INVALID);
    assert_int_equal(spe_lanes_create(&lanes, SPE_BY_THREAD, ids, 2, &three), SPE_OK);
    spe_lanes_add(lanes, &t.rows);
    assert_int_equal(spe_lanes_bins(lanes, 0)[1].latency, 11);
    assert_int_equal(spe_lanes_bins(lanes, 0)[0].samples, 0);
    assert_int_equal(spe_lanes_bins(lanes, 1)[0].samples, 2);
    assert_int_equal(spe_lanes_bins(lanes, 1)[0].loads[SPE_LEVEL_DRAM], 2);
    assert_int_equal(spe_lanes_bins(lanes, 1)[2].samples, 0);
    assert_int_equal(spe_lanes_bins(lanes, 2)[2].latency, 13); /* thread 9: all others */
    spe_lanes_destroy(lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_load, start, end),
        cmocka_unit_test_setup_teardown(test_branch, start, end),
        cmocka_unit_test_setup_teardown(test_many, start, end),
        cmocka_unit_test_setup_teardown(test_not_chosen, start, end),
        cmocka_unit_test_setup_teardown(test_lanes, start, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
