/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What is counted many rows at a time, over time and by instruction, against counting them one by
 * one: rows at random, in pieces of any size, out of order, without time, type or source.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/analysis.h>

#include "analysis/latency.h"
#include "support/random.h"

enum { ROWS = 12000, PCS = 150, TARGETS = 3, THREADS = 4, LINES = 60, BINS = 13 };

/* From 0 on, so that the first bin has the time of rows that have none. */
static const struct spe_times bins = {.from_ns = 0, .bin_ns = 100, .count = BINS};

static struct {
    uint64_t pc[ROWS], target[ROWS], va[ROWS], events[ROWS], time[ROWS];
    uint32_t map[ROWS], thread[ROWS], pid[ROWS], cpu[ROWS];
    uint16_t op[ROWS], total[ROWS], issue[ROWS], translation[ROWS];
    uint8_t has[ROWS], addresses[ROWS], counters[ROWS], level[ROWS];
} t;

static struct spe_profile *profile; /* of nothing: rows are in no map */

/* ---- rows ------------------------------------------------------------------------------------ */

static void make_row(struct random *r, size_t i)
{
    static const uint16_t ops[] = {0x100, 0x101, 0x110, 0x200, 0x201, 0x202, 0x000, 0x302};
    uint32_t place = random_below(r, PCS), one = random_chance(r, 95);

    t.pc[i] = 0x10000 + 4 * place;
    t.op[i] = ops[(one ? place : random_next(r)) % 8]; /* nearly always the same one */
    t.target[i] = 0x20000 + 4 * random_below(r, random_chance(r, 90) ? 1 : TARGETS);
    t.va[i] = 64 * random_below(r, LINES) + random_below(r, 64);
    t.va[i] |= random_chance(r, 20) ? UINT64_C(0xffff000000000000) : 0;
    t.events[i] = random_next(r) & 0x1ffff;
    t.map[i] = SPE_NO_ID;
    t.thread[i] = i && random_chance(r, 90) ? t.thread[i - 1] : random_below(r, THREADS);
    t.pid[i] = t.thread[i] / 2;
    t.cpu[i] = random_below(r, 2);
    t.total[i] = (uint16_t)random_below(r, random_chance(r, 5) ? 65536 : 300);
    t.issue[i] = (uint16_t)random_below(r, 100);
    t.translation[i] = (uint16_t)random_below(r, 100);
    t.has[i] = random_chance(r, 97) ? SPE_HAS_OP : 0;
    t.addresses[i] = (uint8_t)random_next(r);
    t.counters[i] = random_chance(r, 80) ? 0xff : (uint8_t)random_next(r);
    t.total[i] = t.counters[i] >> SPE_COUNTER_TOTAL & 1 ? t.total[i] : 0;
    t.level[i] = (uint8_t)random_below(r, random_chance(r, 50) ? 2 : SPE_LEVEL_COUNT);
    t.time[i] = i / 8 + random_below(r, 20); /* some bins, and more */
    t.time[i] = random_chance(r, 98) ? t.time[i] : random_below(r, 5000);
    t.time[i] = random_chance(r, 97) ? t.time[i] : 0;
}

static struct spe_rows piece(size_t from, size_t count)
{
    return (struct spe_rows){.size = sizeof(struct spe_rows),
                             .count = count,
                             .pc = t.pc + from,
                             .target = t.target + from,
                             .va = t.va + from,
                             .events = t.events + from,
                             .time_ns = t.time + from,
                             .map = t.map + from,
                             .thread = t.thread + from,
                             .pid = t.pid + from,
                             .cpu = t.cpu + from,
                             .op = t.op + from,
                             .total = t.total + from,
                             .issue = t.issue + from,
                             .translation = t.translation + from,
                             .has = t.has + from,
                             .addresses = t.addresses + from,
                             .counters = t.counters + from,
                             .level = t.level + from};
}

static int start(void **state)
{
    static const uint8_t padding[64];
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;
    struct random r = {.state = 15};

    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        make_row(&r, i);
    options.raw = true;
    return spe_profile_open_memory(&profile, padding, sizeof(padding), &options, NULL);
}

static int end(void **state)
{
    (void)state;
    spe_profile_close(profile);
    return 0;
}

typedef int add_rows(void *user, const struct spe_rows *rows);

static void give(add_rows *add, void *user)
{
    struct random r = {.state = 51};
    size_t from, count;

    for (from = 0; from < ROWS; from += count) {
        struct spe_rows rows;

        count = 1 + random_below(&r, 2000);
        count = count < ROWS - from ? count : ROWS - from;
        rows = piece(from, count);
        assert_int_equal(add(user, &rows), SPE_OK);
    }
}

/* ---- one row --------------------------------------------------------------------------------- */

static bool is_memory(size_t i)
{
    return t.has[i] & SPE_HAS_OP && t.op[i] >> 8 == SPE_CLASS_LDST;
}

static bool is_load(size_t i)
{
    return is_memory(i) && !(t.op[i] & 1);
}

static bool is_branch(size_t i)
{
    return t.has[i] & SPE_HAS_OP && t.op[i] >> 8 == SPE_CLASS_BRANCH;
}

static bool has(size_t i, unsigned event)
{
    return t.events[i] >> event & 1;
}

static bool has_address(size_t i)
{
    return is_memory(i) && t.addresses[i] >> SPE_ADDRESS_VA & 1;
}

static uint32_t space(size_t i)
{
    return t.va[i] >> 63 ? SPE_NO_TASK : t.pid[i];
}

/* BINS: in none. */
static size_t bin_of(size_t i)
{
    size_t bin = (size_t)(t.time[i] / bins.bin_ns);

    return t.time[i] && bin < BINS ? bin : BINS;
}

static struct spe_counts plain_counts(size_t i)
{
    return (struct spe_counts){
        .samples = 1,
        .timed = t.counters[i] >> SPE_COUNTER_TOTAL & 1,
        .latency = t.total[i],
        .memory = is_memory(i),
        .branches = is_branch(i),
        .l1_misses = is_memory(i) && has(i, SPE_EVENT_L1D_MISS),
        .llc_misses = is_memory(i) && has(i, SPE_EVENT_LLC_MISS),
        .tlb_walks = is_memory(i) && has(i, SPE_EVENT_TLB_WALK),
        .mispredicted = is_branch(i) && has(i, SPE_EVENT_MISPREDICTED),
    };
}

static void add_counts(uint64_t *to, size_t i)
{
    struct spe_counts counts = plain_counts(i);
    const uint64_t *from = (const uint64_t *)&counts;

    for (size_t k = 0; k < sizeof(counts) / sizeof(*from); k++)
        to[k] += from[k];
}

static void add_to_bin(struct spe_time_bin *bin, size_t i)
{
    bin->samples++;
    bin->latency += t.total[i];
    if (is_load(i))
        bin->loads[spe_served_by(t.level[i], t.events[i])]++;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static int add_to_analysis(void *user, const struct spe_rows *rows)
{
    return spe_analysis_add(user, NULL, rows);
}

/* Bins of the whole time, whatever their length is; and threads. */
static void test_times(void **state)
{
    struct spe_analysis_config config = {
        .size = sizeof(config), .by = 1u << SPE_BY_THREAD, .time = true};
    uint64_t counts[THREADS][sizeof(struct spe_counts) / 8] = {{0}};
    struct spe_group groups[THREADS + 1];
    struct spe_analysis *a;
    struct spe_times times;

    (void)state;
    assert_int_equal(spe_analysis_create(&a, &config), SPE_OK);
    give(add_to_analysis, a);
    assert_int_equal(spe_analysis_finish(a, NULL), SPE_OK);
    assert_int_equal(spe_analysis_times(a, 40, &times), SPE_OK);
    assert_in_range(times.count, 20, 40);
    for (size_t b = 0; b < times.count; b++) {
        uint64_t from = times.from_ns + b * times.bin_ns;
        struct spe_time_bin expected = {0};

        for (size_t i = 0; i < ROWS; i++) {
            if (t.time[i] && t.time[i] >= from && t.time[i] - from < times.bin_ns)
                add_to_bin(&expected, i);
        }
        assert_memory_equal(&times.bins[b], &expected, sizeof(expected));
    }
    for (size_t i = 0; i < ROWS; i++)
        add_counts(counts[t.thread[i]], i);
    assert_int_equal(spe_analysis_groups(a, SPE_BY_THREAD, SPE_SORT_SAMPLES, groups, THREADS + 1),
                     THREADS);
    for (size_t i = 0; i < THREADS; i++)
        assert_memory_equal(&groups[i].counts, counts[groups[i].id], sizeof(counts[0]));
    spe_times_free(&times);
    spe_analysis_destroy(a);
}

static int add_to_lanes(void *user, const struct spe_rows *rows)
{
    spe_lanes_add(user, rows);
    return SPE_OK;
}

static void test_lanes(void **state)
{
    static struct spe_time_bin expected[3][BINS + 1];
    const uint32_t ids[] = {2, 0};
    struct spe_lanes *lanes;

    (void)state;
    assert_int_equal(spe_lanes_create(&lanes, SPE_BY_THREAD, ids, 2, &bins), SPE_OK);
    give(add_to_lanes, lanes);
    for (size_t i = 0; i < ROWS; i++)
        add_to_bin(&expected[t.thread[i] == 2 ? 0 : t.thread[i] == 0 ? 1 : 2][bin_of(i)], i);
    for (size_t lane = 0; lane < 3; lane++)
        assert_memory_equal(spe_lanes_bins(lanes, lane), expected[lane],
                            BINS * sizeof(expected[0][0]));
    spe_lanes_destroy(lanes);
}

/* What chosen rows of lists have, of one kind: fields by the order of their names. */
static struct {
    uint64_t total[BINS + 1][12];
    uint64_t served[BINS + 1][SPE_SERVED_COUNT][4 + SPE_LATENCY_BINS];
    uint64_t pcs[BINS + 1][PCS][9], threads[BINS + 1][THREADS][9];
    uint64_t branches[BINS + 1][PCS][4];
    uint64_t data[BINS + 1][LINES][6], lines[BINS + 1][LINES][4];
} plain;

static void count_load_plainly(size_t bin, size_t i)
{
    uint64_t *to = plain.served[bin][spe_served_by(t.level[i], t.events[i])];

    to[0]++;
    if (!(t.counters[i] >> SPE_COUNTER_TOTAL & 1))
        return;
    to[1]++;
    to[2] += t.total[i];
    to[3] = t.total[i] > to[3] ? t.total[i] : to[3];
    to[4 + latency_bin_of(t.total[i])]++;
}

/* Lists have every line of process 1, and no other. */
static void count_address_plainly(size_t bin, size_t i)
{
    uint64_t *data = plain.data[bin][t.va[i] / 64 % LINES];
    uint64_t *line = plain.lines[bin][t.va[i] / 64 % LINES], thread = t.thread[i] + 1;
    bool peer = t.level[i] >= SPE_LEVEL_PEER_CORE && t.level[i] <= SPE_LEVEL_REMOTE_CACHE;

    plain.total[bin][11] += t.total[i];
    if (space(i) != 1)
        return;
    line[0] += is_load(i) && peer;
    line[1] += is_load(i);
    line[2] += !is_load(i);
    line[3] += t.total[i];
    if (!t.total[i])
        return;
    data[0]++;
    data[1] += t.total[i];
    data[2] += is_load(i);
    data[3] += has(i, SPE_EVENT_L1D_MISS);
    data[4] += peer || has(i, SPE_EVENT_MODIFIED) || has(i, SPE_EVENT_SNOOPED);
    data[5] = !data[5] || data[5] == thread ? thread : SPE_SLICE_SEVERAL;
}

static void count_plainly(size_t i)
{
    size_t bin = bin_of(i), place = (size_t)(t.pc[i] - 0x10000) / 4;
    uint64_t *branch = plain.branches[bin][place];

    add_counts(plain.total[bin], i);
    add_counts(plain.pcs[bin][place], i);
    add_counts(plain.threads[bin][t.thread[i]], i);
    plain.total[bin][9] += is_load(i);
    plain.total[bin][10] += is_memory(i) ? t.total[i] : 0;
    if (is_branch(i)) {
        branch[0]++;
        branch[1] += has(i, SPE_EVENT_MISPREDICTED);
        branch[2] += has(i, SPE_EVENT_NOT_TAKEN);
        branch[3] += t.total[i];
    }
    if (is_load(i))
        count_load_plainly(bin, i);
    if (has_address(i))
        count_address_plainly(bin, i);
}

static void choose(struct spe_slices *s)
{
    static struct spe_group pcs[PCS], threads[THREADS];
    static struct spe_branch branches[PCS];
    static struct spe_data data[LINES];
    static struct spe_shared_line lines[LINES];

    for (uint32_t i = 0; i < PCS; i++) {
        pcs[i] = (struct spe_group){.symbol = SPE_NO_SYMBOL,
                                    .dso = SPE_NO_ID,
                                    .line = SPE_NO_ID,
                                    .id = SPE_NO_ID,
                                    .address = 0x10000 + 4 * i};
        branches[i] = (struct spe_branch){.pc = 0x10000 + 4 * i, .map = SPE_NO_ID};
    }
    for (uint32_t i = 0; i < THREADS; i++)
        threads[i].id = i;
    for (uint32_t i = 0; i < LINES; i++) {
        data[i] = (struct spe_data){.address = 64 * i, .pid = 1};
        lines[i] = (struct spe_shared_line){.address = 64 * i, .pid = 1};
    }
    assert_int_equal(spe_slices_groups(s, SPE_BY_PC, pcs, PCS), SPE_OK);
    assert_int_equal(spe_slices_groups(s, SPE_BY_THREAD, threads, THREADS), SPE_OK);
    assert_int_equal(spe_slices_branches(s, branches, PCS), SPE_OK);
    assert_int_equal(spe_slices_data(s, data, LINES, 6), SPE_OK);
    assert_int_equal(spe_slices_lines(s, lines, LINES, SPE_SHARING_SOURCE, 6), SPE_OK);
}

static int add_to_slices(void *user, const struct spe_rows *rows)
{
    return spe_slices_add(user, profile, rows);
}

static void hold(const struct spe_slices *s, enum spe_slice_kind kind, enum spe_group_by by,
                 const void *expected, size_t size)
{
    struct spe_slice_table table;

    assert_true(spe_slices_table(s, kind, by, &table));
    assert_int_equal(BINS * table.rows * table.fields * sizeof(*table.cells),
                     size / (BINS + 1) * BINS);
    assert_memory_equal(table.cells, expected, size / (BINS + 1) * BINS);
}

static void test_slices(void **state)
{
    struct spe_slices *s;

    (void)state;
    assert_int_equal(spe_slices_create(&s, &bins), SPE_OK);
    choose(s);
    give(add_to_slices, s);
    spe_slices_finish(s);
    for (size_t i = 0; i < ROWS; i++)
        count_plainly(i);
    hold(s, SPE_SLICE_TOTAL, 0, plain.total, sizeof(plain.total));
    hold(s, SPE_SLICE_SERVED, 0, plain.served, sizeof(plain.served));
    hold(s, SPE_SLICE_GROUPS, SPE_BY_PC, plain.pcs, sizeof(plain.pcs));
    hold(s, SPE_SLICE_GROUPS, SPE_BY_THREAD, plain.threads, sizeof(plain.threads));
    hold(s, SPE_SLICE_BRANCHES, 0, plain.branches, sizeof(plain.branches));
    hold(s, SPE_SLICE_DATA, 0, plain.data, sizeof(plain.data));
    hold(s, SPE_SLICE_LINES, 0, plain.lines, sizeof(plain.lines));
    spe_slices_destroy(s);
}

static void add_sum(struct spe_latency_sum *sum, bool is, uint64_t cycles)
{
    sum->samples += is;
    sum->cycles += is ? cycles : 0;
}

static void count_instruction(struct spe_instruction *insn, size_t i)
{
    bool total = t.counters[i] >> SPE_COUNTER_TOTAL & 1,
         issue = t.counters[i] >> SPE_COUNTER_ISSUE & 1,
         translation = t.counters[i] >> SPE_COUNTER_TRANSLATION & 1;
    unsigned waited = (issue ? t.issue[i] : 0u) + (translation ? t.translation[i] : 0u);

    add_counts((uint64_t *)&insn->counts, i);
    insn->counts.timed = 0; /* `total` has it */
    insn->loads += is_load(i);
    insn->not_taken += is_branch(i) && has(i, SPE_EVENT_NOT_TAKEN);
    add_sum(&insn->total, total, t.total[i]);
    add_sum(&insn->issue, issue, t.issue[i]);
    add_sum(&insn->translation, translation, t.translation[i]);
    add_sum(&insn->execution, total && issue, t.total[i] > waited ? t.total[i] - waited : 0);
    if (is_load(i))
        insn->served[spe_served_by(t.level[i], t.events[i])]++;
}

static bool is_taken_to(size_t i, uint64_t pc, uint64_t target)
{
    return is_branch(i) && t.pc[i] == pc && t.target[i] == target && !has(i, SPE_EVENT_NOT_TAKEN) &&
           t.addresses[i] >> SPE_ADDRESS_TARGET & 1;
}

static void hold_targets(const struct spe_instruction *insn,
                         const struct spe_branch_target *targets)
{
    size_t found = 0;

    for (size_t k = 0; k < TARGETS; k++) {
        uint64_t samples = 0, mispredicted = 0, target = 0x20000 + 4 * k;

        for (size_t i = 0; i < ROWS; i++) {
            samples += is_taken_to(i, insn->pc, target);
            mispredicted += is_taken_to(i, insn->pc, target) && has(i, SPE_EVENT_MISPREDICTED);
        }
        for (size_t n = 0; n < insn->target_count; n++) {
            const struct spe_branch_target *is = &targets[insn->first_target + n];

            if (is->address != target)
                continue;
            assert_int_equal(is->samples, samples);
            assert_int_equal(is->mispredicted, mispredicted);
            samples = 0;
            found++;
        }
        assert_int_equal(samples, 0);
    }
    assert_int_equal(found, insn->target_count);
}

static int add_to_annotation(void *user, const struct spe_rows *rows)
{
    return spe_annotation_add(user, profile, rows);
}

static void test_instructions(void **state)
{
    struct spe_code_choice nowhere = {SPE_NO_SYMBOL, SPE_NO_ID};
    static struct spe_instruction expected[PCS];
    const struct spe_instruction *insn;
    struct spe_annotation *a;
    size_t count;

    (void)state;
    assert_int_equal(spe_annotation_create(&a, &nowhere, 1), SPE_OK);
    give(add_to_annotation, a);
    assert_int_equal(spe_annotation_finish(a), SPE_OK);
    for (size_t i = 0; i < ROWS; i++)
        count_instruction(&expected[(t.pc[i] - 0x10000) / 4], i);
    insn = spe_annotation_instructions(a, 0, &count);
    assert_int_equal(count, PCS);
    for (size_t i = 0; i < PCS; i++) {
        const struct spe_instruction *e = &expected[i];

        assert_int_equal(insn[i].address, 0x10000 + 4 * i);
        assert_memory_equal(&insn[i].counts, &e->counts, sizeof(e->counts));
        assert_memory_equal(insn[i].served, e->served, sizeof(e->served));
        assert_memory_equal(&insn[i].total, &e->total, 4 * sizeof(e->total)); /* and the others */
        assert_int_equal(insn[i].loads, e->loads);
        assert_int_equal(insn[i].not_taken, e->not_taken);
        hold_targets(&insn[i], spe_annotation_targets(a));
    }
    spe_annotation_destroy(a);
}

/* Below 8 each value; from there on four bins for each power of two. */
static void test_latency_bins(void **state)
{
    unsigned bin = 0;

    (void)state;
    for (uint32_t cycles = 0, next = 1, step = 1; cycles < LATENCY_VALUES; cycles++) {
        if (cycles == next) {
            bin++;
            step = cycles >= 8 && (cycles & (cycles - 1)) == 0 ? cycles / 4 : step;
            next += step;
        }
        assert_int_equal(latency_bin_of(cycles), bin);
    }
    assert_int_equal(bin, SPE_LATENCY_BINS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_slices),       cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_latency_bins),
    };

    return cmocka_run_group_tests(tests, start, end);
}
