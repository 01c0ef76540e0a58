/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A cpu's time: misses that overlap and misses that cannot, prefetchers, and waiting that passes.
 * Expected cycles are the configuration's latencies and widths, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pe/machine_internal.h"
#include "pe/merge.h"

/* LDR x1, [x0]; ADD x2, x2, x1; ADD x0, x0, #8; SUBS x3, x3, #1; B.NE */
static const uint32_t sum_words[] = {0xf9400001, 0x8b010042, 0x91002000, 0xf1000463, 0x54ffff81};
/* LDR x0, [x0]; SUBS x3, x3, #1; B.NE */
static const uint32_t chase_words[] = {0xf9400000, 0xf1000463, 0x54ffffc1};
/* LDR x1, [x0]; ADD x0, x1, #0; SUBS x3, x3, #1; B.NE */
static const uint32_t step_words[] = {0xf9400001, 0x91000020, 0xf1000463, 0x54ffffa1};
/* ADD x5, x5, #1; ADD x6, x6, #1; SUBS; B.NE */
static const uint32_t count_words[] = {0x910004a5, 0x910004c6, 0xf1000463, 0x54ffffa1};
/* STR x1, [x0]; ADD; SUBS; B.NE */
static const uint32_t store_words[] = {0xf9000001, 0x910004c6, 0xf1000463, 0x54ffffa1};

struct rig {
    struct spe_machine_config config;
    struct spe_machine *machine;
    struct pe_merge merge;
    struct pe_stream stream;
    struct pe_writer writer;
    struct pe_block *blocks[4];
    unsigned block_count;
};

static struct pe_block *block(struct rig *r, uint64_t pc, const uint32_t *words, size_t count)
{
    struct pe_block *b = pe_block_create(pc, words, count);

    assert_non_null(b);
    assert_true(r->block_count < 4);
    r->blocks[r->block_count++] = b;
    return b;
}

static void begin(struct rig *r)
{
    memset(r, 0, sizeof(*r));
    spe_machine_config_init(&r->config, "neoverse-n1");
    assert_int_equal(spe_machine_create(&r->config, &r->machine, NULL, 0), SPE_OK);
    assert_true(pe_merge_init(&r->merge, r->machine, false));
    assert_true(pe_stream_begin(&r->stream, &r->writer, &r->merge, 0));
}

static void end(struct rig *r)
{
    pe_stream_end(&r->stream);
    free(r->stream.watches);
    for (unsigned i = 0; i < r->block_count; i++)
        pe_block_destroy(r->blocks[i]);
    pe_merge_free(&r->merge);
    spe_machine_destroy(r->machine);
}

/* Modelled cycles so far; everything handed over has been had. */
static double now(struct rig *r)
{
    pe_stream_hand(&r->stream);
    return (double)r->machine->cpus[0]->window.now / PE_TICKS;
}

/* A round of a loop with one access, or none: NULL. Returns cycles a round. */
static double rounds(struct rig *r, struct pe_block *loop, uint64_t (*address)(unsigned i),
                     unsigned count)
{
    double before = now(r);

    for (unsigned i = 0; i < count; i++) {
        if (pe_put_block(r->stream.writer, loop))
            pe_stream_hand(&r->stream);
        if (address)
            pe_put_access(r->stream.writer, 0, address(i));
    }
    return (now(r) - before) / count;
}

static uint64_t in_order(unsigned i)
{
    return UINT64_C(0x10000000) + UINT64_C(8) * i;
}

/* Another page each time, in no order that a prefetcher knows. */
static uint64_t scattered(unsigned i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    return UINT64_C(0x100000000) + (x >> 20 & UINT64_C(0xffffffff000)) + (x & 0xfc0);
}

static void test_chains(void **state)
{
    struct rig r;
    double dependent, independent, memory;

    (void)state;
    begin(&r);
    memory = r.config.memory_latency + r.config.walk_latency;
    dependent = rounds(&r, block(&r, 0x1000, chase_words, 3), scattered, 2000);
    end(&r);
    assert_true(dependent > 0.95 * memory && dependent < 1.05 * memory);

    begin(&r);
    independent = rounds(&r, block(&r, 0x1000, sum_words, 5), scattered, 2000);
    end(&r);
    /* As many as the window has room for at a time, or as there are misses to be served. */
    assert_true(independent < memory / 15 && independent > 0.95 * memory / r.config.load_misses);
}

/* The chain's load is the last of a block that ends without a branch. */
static void test_load_at_the_end(void **state)
{
    enum { COUNT = 2000 };
    struct pe_block *load, *rest;
    struct rig r;
    double cycles, memory;

    (void)state;
    begin(&r);
    memory = r.config.memory_latency + r.config.walk_latency;
    load = block(&r, 0x1000, step_words, 1);
    rest = block(&r, 0x1004, step_words + 1, 3);
    for (unsigned i = 0; i < COUNT; i++) {
        pe_put_block(r.stream.writer, load);
        pe_put_access(r.stream.writer, 0, scattered(i));
        if (pe_put_block(r.stream.writer, rest))
            pe_stream_hand(&r.stream);
    }
    cycles = now(&r) / COUNT;
    end(&r);
    assert_true(cycles > 0.95 * memory && cycles < 1.05 * memory);
}

/* A thread ends while it waits, and the next one in its memory, on its cpu, waits for nothing. */
static void test_new_thread(void **state)
{
    struct pe_block *load, *rest;
    uint32_t wait;
    struct rig r;

    (void)state;
    begin(&r);
    load = block(&r, 0x1000, step_words, 1);
    rest = block(&r, 0x1004, step_words + 1, 3);
    pe_put_block(r.stream.writer, load);
    pe_put_access(r.stream.writer, 0, scattered(0));
    pe_put_block(r.stream.writer, rest);
    pe_stream_end(&r.stream);
    free(r.stream.watches);
    assert_true(pe_stream_begin(&r.stream, &r.writer, &r.merge, 0));
    pe_put_watch(r.stream.writer, 0);
    pe_put_block(r.stream.writer, rest);
    pe_put_block(r.stream.writer, load);
    pe_stream_hand(&r.stream);
    assert_true(r.stream.watches[0].done);
    wait = r.stream.watches[0].wait;
    end(&r);
    assert_int_equal(wait, 0);
}

static void test_prefetched(void **state)
{
    struct rig r;
    double ordered, strided;

    (void)state;
    begin(&r);
    ordered = rounds(&r, block(&r, 0x1000, sum_words, 5), in_order, 200000);
    end(&r);
    begin(&r);
    r.machine->config.l1_prefetch.distance = r.machine->config.l2_prefetch.distance = 0;
    strided = rounds(&r, block(&r, 0x1000, sum_words, 5), in_order, 200000);
    end(&r);
    assert_true(ordered < 1.3);           /* 1.25 is the width */
    assert_true(strided > 1.5 * ordered); /* what overlapping alone can do */
}

static uint64_t by_line(unsigned i)
{
    return UINT64_C(0x10000000) + UINT64_C(64) * i;
}

static uint64_t by_page(unsigned i)
{
    return UINT64_C(0x10000000) + UINT64_C(4160) * i;
}

/* One word of each line takes what memory needs for a line, and no more: what prefetchers bring is
 * brought once. A stride that they do not follow takes longer. */
static void test_memory_keeps_pace(void **state)
{
    struct rig r;
    double lines, pages;

    (void)state;
    begin(&r);
    lines = rounds(&r, block(&r, 0x1000, sum_words, 5), by_line, 100000);
    end(&r);
    begin(&r);
    pages = rounds(&r, block(&r, 0x1000, sum_words, 5), by_page, 10000);
    end(&r);
    assert_true(lines > 0.99 * r.config.memory_interval && lines < 1.02 * r.config.memory_interval);
    assert_true(pages > 1.5 * lines);
}

static uint64_t by_line_of_l2(unsigned i)
{
    return by_line(i % (256 * 1024 / 64));
}

static uint64_t by_line_of_llc(unsigned i)
{
    return by_line(i % (8 * 1024 * 1024 / 64));
}

/* So do the caches, which have all of it the second time. */
static void test_caches_keep_pace(void **state)
{
    struct rig r;
    double l2, llc;

    (void)state;
    begin(&r);
    rounds(&r, block(&r, 0x1000, sum_words, 5), by_line_of_l2, 256 * 1024 / 64);
    l2 = rounds(&r, r.blocks[0], by_line_of_l2, 100000);
    end(&r);
    begin(&r);
    rounds(&r, block(&r, 0x1000, sum_words, 5), by_line_of_llc, 8 * 1024 * 1024 / 64);
    llc = rounds(&r, r.blocks[0], by_line_of_llc, 100000);
    end(&r);
    assert_true(l2 > 0.99 * r.config.l2_interval && l2 < 1.05 * r.config.l2_interval);
    assert_true(llc > 0.99 * r.config.llc_interval && llc < 1.05 * r.config.llc_interval);
}

/* What a miss made late is in time again when its data is there. */
static void test_waiting_passes(void **state)
{
    struct pe_block *loop;
    struct pe_watch *watch;
    struct rig r;
    double before, after;

    (void)state;
    begin(&r);
    loop = block(&r, 0x2000, count_words, 4);
    before = rounds(&r, loop, NULL, 5000);
    rounds(&r, block(&r, 0x1000, chase_words, 3), scattered, 1);
    rounds(&r, loop, NULL, 500);
    after = rounds(&r, loop, NULL, 5000);
    assert_true(after < 1.01 * before && after > 0.99 * before);
    watch = &r.stream.watches[0];
    memset(watch, 0, sizeof(*watch));
    watch->index = 2;
    pe_put_watch(r.stream.writer, 0);
    rounds(&r, loop, NULL, 2);
    assert_true(watch->done);
    assert_int_equal(watch->wait, 0);
    end(&r);
}

/* Stores wait only when their queue is full: a few cost nothing, many cost what memory gives. */
static void test_stores(void **state)
{
    struct rig r;
    double few, many;

    (void)state;
    begin(&r);
    few = rounds(&r, block(&r, 0x1000, store_words, 4), scattered, r.config.store_queue / 2);
    end(&r);
    begin(&r);
    many = rounds(&r, block(&r, 0x1000, store_words, 4), scattered, 5000);
    end(&r);
    assert_true(few < 1.5);
    assert_true(many > 0.95 * r.config.memory_interval && many < 3 * r.config.memory_interval);
}

/* A load of a line that is on its way waits for what is left, and comes from where the line does.
 */
static void test_on_its_way(void **state)
{
    struct pe_block *loop;
    struct pe_watch *watch;
    struct rig r;

    (void)state;
    begin(&r);
    loop = block(&r, 0x1000, sum_words, 5);
    watch = &r.stream.watches[3];
    memset(watch, 0, sizeof(*watch));
    for (unsigned i = 0; i < 8; i++) {
        if (i == 4)
            pe_put_watch(r.stream.writer, 3);
        pe_put_block(r.stream.writer, loop);
        pe_put_access(r.stream.writer, 0, scattered(1) + 8 * i);
    }
    pe_put_block(r.stream.writer, loop);
    now(&r);
    assert_true(watch->done);
    assert_int_equal(watch->access_count, 1);
    assert_int_equal(watch->accesses[0].met.place, SPE_PLACE_MEMORY);
    assert_false(watch->accesses[0].met.facts & SPE_FACT_L1D_REFILL);
    assert_true(watch->accesses[0].met.cycles < r.config.memory_latency + r.config.walk_latency);
    assert_true(watch->accesses[0].met.cycles > r.config.memory_latency);
    end(&r);
}

/* ---- The short ways lead to the same place ----------------------------------------------------
 */

struct outcome {
    uint64_t now, cycles;
    struct spe_machine_counts counts;
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Arrays in order and with strides, and what lies anywhere: in L1, in L2, in memory; in pages that
 * the TLB has or not. */
static uint64_t some_address(uint64_t *state, unsigned i)
{
    static const uint64_t sizes[] = {0x2000, 0x40000, 0x400000};
    uint64_t random = next_random(state);

    switch (random % 4) {
    case 0:
        return UINT64_C(0x10000000) + UINT64_C(16) * i;
    case 1:
        return UINT64_C(0x20000000) + UINT64_C(192) * i;
    default:
        return UINT64_C(0x30000000) + next_random(state) % sizes[random / 4 % 3];
    }
}

static void follow_trace(bool simple, uint64_t seed, struct outcome *outcome)
{
    struct pe_block *loops[3];
    struct rig r;

    begin(&r);
    r.merge.simple = simple;
    loops[0] = block(&r, 0x1000, sum_words, 5);
    loops[1] = block(&r, 0x1000, chase_words, 3);
    loops[2] = block(&r, 0x1000, store_words, 4);
    memset(outcome, 0, sizeof(*outcome));
    for (unsigned i = 0; i < 60000; i++) {
        struct pe_watch *watch = &r.stream.watches[i % PE_WATCHES];
        bool watched = next_random(&seed) % 50 == 0;

        if (watched) {
            memset(watch, 0, sizeof(*watch));
            pe_put_watch(r.stream.writer, i % PE_WATCHES);
        }
        if (pe_put_block(r.stream.writer, loops[next_random(&seed) % 3]))
            pe_stream_hand(&r.stream);
        pe_put_access(r.stream.writer, 0, some_address(&seed, i));
        if (watched) {
            pe_put_block(r.stream.writer, loops[1]);
            pe_put_access(r.stream.writer, 0, some_address(&seed, i));
            pe_put_block(r.stream.writer, loops[1]);
            now(&r);
            assert_true(watch->done);
            outcome->cycles += watch->wait + watch->accesses[0].met.cycles;
        }
    }
    now(&r);
    outcome->now = r.machine->cpus[0]->window.now;
    spe_machine_counts(r.machine, 0, &outcome->counts);
    end(&r);
}

static void test_short_ways(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        struct outcome quick, simple;

        follow_trace(false, seed, &quick);
        follow_trace(true, seed, &simple);
        assert_true(quick.counts.l1_misses > 1000 && quick.counts.llc_misses > 1000);
        assert_int_equal(quick.now, simple.now);
        assert_int_equal(quick.cycles, simple.cycles);
        assert_memory_equal(&quick.counts, &simple.counts, sizeof(quick.counts));
    }
}

/* Rounds without an access become one event, unless each is handed over at once. Either way the
 * same happens. */
static void some_rounds(bool apart, struct outcome *outcome)
{
    struct pe_block *loops[2];
    uint64_t seed = 1;
    struct rig r;

    begin(&r);
    loops[0] = block(&r, 0x1000, count_words, 4);
    loops[1] = block(&r, 0x2000, chase_words, 3);
    for (unsigned i = 0; i < 2000; i++) {
        for (uint64_t rounds = next_random(&seed) % 200; rounds; rounds--)
            if (pe_put_block(r.stream.writer, loops[0]) || apart)
                pe_stream_hand(&r.stream);
        if (pe_put_block(r.stream.writer, loops[1]) || apart)
            pe_stream_hand(&r.stream);
        pe_put_access(r.stream.writer, 0, some_address(&seed, i));
    }
    now(&r);
    memset(outcome, 0, sizeof(*outcome));
    outcome->now = r.machine->cpus[0]->window.now;
    outcome->cycles = r.machine->cpus[0]->window.operations;
    spe_machine_counts(r.machine, 0, &outcome->counts);
    end(&r);
}

static void test_rounds(void **state)
{
    struct outcome together, apart;

    (void)state;
    some_rounds(false, &together);
    some_rounds(true, &apart);
    assert_true(together.counts.branches > 100000);
    assert_int_equal(together.now, apart.now);
    assert_int_equal(together.cycles, apart.cycles);
    assert_memory_equal(&together.counts, &apart.counts, sizeof(together.counts));
}

/* Cpus that come when the directory has no room for them: what others hold is still known. */
static void test_cpus_come_later(void **state)
{
    struct spe_machine_config config;
    struct spe_machine_access met = {0};
    struct spe_machine *machine;
    struct pe_cpu *late;

    (void)state;
    spe_machine_config_init(&config, "neoverse-n1");
    config.cpus = 256;
    assert_int_equal(pe_machine_create(&config, &machine, NULL, 0), SPE_OK);
    for (uint64_t i = 0; i < 1000; i++)
        spe_machine_touch(machine, 0, 64 * i, 8, SPE_ACCESS_STORE, NULL);
    late = pe_machine_cpu(machine, 200);
    assert_non_null(late);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(pe_held_by_others(machine, late, 64 * i));
    assert_false(pe_held_by_others(machine, late, UINT64_C(64) * 1000));
    spe_machine_touch(machine, 200, 64 * 7, 8, 0, &met);
    assert_int_equal(met.place, SPE_PLACE_PEER);
    assert_true(met.facts & SPE_FACT_MODIFIED_SNOOP);
    spe_machine_destroy(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_load_at_the_end),
        cmocka_unit_test(test_new_thread),
        cmocka_unit_test(test_prefetched),
        cmocka_unit_test(test_memory_keeps_pace),
        cmocka_unit_test(test_caches_keep_pace),
        cmocka_unit_test(test_waiting_passes),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_on_its_way),
        cmocka_unit_test(test_short_ways),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_cpus_come_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
