/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Between samples the window is not followed. Samples must not show it: programs of several kinds
 * run twice, with the same samples, once followed everywhere, and what the samples say is compared:
 * how long they waited, how long their data took, and from where it came.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/count_of.h"
#include "pe/machine_internal.h"
#include "pe/merge.h"

/* LDR x1, [x0]; ADD x2, x2, x1; ADD x0, x0, #8; SUBS x3, x3, #1; B.NE */
static const uint32_t sum_words[] = {0xf9400001, 0x8b010042, 0x91002000, 0xf1000463, 0x54ffff81};
/* LDR x0, [x0]; SUBS x3, x3, #1; B.NE */
static const uint32_t chase_words[] = {0xf9400000, 0xf1000463, 0x54ffffc1};
/* STR x1, [x0]; ADD; SUBS; B.NE */
static const uint32_t store_words[] = {0xf9000001, 0x910004c6, 0xf1000463, 0x54ffffa1};
/* ADD x5, x5, #1; ADD x6, x6, #1; SUBS; B.NE */
static const uint32_t count_words[] = {0x910004a5, 0x910004c6, 0xf1000463, 0x54ffffa1};
/* LDR d1, [x1]; ADD x1, x1, #2048; LDR d2, [x0], #8; FMADD d0, d2, d1, d0; CMP x0, x2; B.NE */
static const uint32_t column_words[] = {0xfd400021, 0x91200021, 0xfc408402,
                                        0x1f410040, 0xeb02001f, 0x54ffff61};
/* LDR x1, [x0]; CMP x1, x2; B.NE + 4: the next block, or the one behind it */
static const uint32_t test_words[] = {0xf9400001, 0xeb02003f, 0x54000041};
/* ADD x5, x5, #1 */
static const uint32_t then_words[] = {0x910004a5};
/* ADD x6, x6, #1; B back */
static const uint32_t else_words[] = {0x910004c6, 0x17fffffb};

/* STR x1, [x0]; LDR x1, [x5]; SUBS x3, x3, #1; B.NE */
static const uint32_t spill_words[] = {0xf9000001, 0xf94000a1, 0xf1000463, 0x54ffffa1};

#define NODES (1u << 15)
enum { ROUNDS = 300000, INTERVAL = 2048, JITTER = 256, BINS = 1024, SAMPLES_MAX = 4096 };

struct rig {
    struct spe_machine_config config;
    struct spe_machine *machine;
    struct pe_merge merge;
    struct pe_stream stream;
    struct pe_writer writer;
    struct pe_stream other; /* see begin_other */
    struct pe_writer other_writer;
    struct pe_block *blocks[9];
    uint32_t *next; /* nodes in an order that nobody foresees */
    uint32_t node;
    uint64_t random;
    int64_t left; /* operations up to the next sample */
    unsigned put, taken;
    struct pe_watch *latest;
    struct outcome *outcome;
};

struct outcome {
    unsigned samples, misses, far;
    double wait, cycles;                         /* sums */
    unsigned wait_bins[BINS], cycles_bins[BINS]; /* of the samples */
    double clock, skimmed;
    struct spe_machine_counts counts;
    uint64_t prediction; /* a digest of all that it has learnt */
    unsigned unwritten;  /* lines of L1 that were asked for, and not modified */
};

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* ---- What the samples say -------------------------------------------------------------------- */

static void take_sample(struct rig *r)
{
    struct outcome *o = r->outcome;
    const struct pe_watch *w = r->latest;
    uint32_t cycles;

    pe_stream_hand(&r->stream);
    assert_true(w->done);
    cycles = w->access_count ? w->accesses[0].met.cycles : 0;
    o->samples++;
    o->wait += w->wait;
    o->cycles += cycles;
    o->wait_bins[w->wait < BINS ? w->wait : BINS - 1]++;
    o->cycles_bins[cycles < BINS ? cycles : BINS - 1]++;
    o->misses += w->access_count && w->accesses[0].met.facts & SPE_FACT_L1D_REFILL;
    o->far += w->access_count && w->accesses[0].met.place > SPE_PLACE_L2;
    r->latest = NULL;
}

/* A block begins. It is looked at when a sample falls into it, as the plugin does. */
static void put_block(struct rig *r, struct pe_block *block)
{
    if (r->latest && r->put++ == 1)
        take_sample(r);
    r->left -= block->count;
    if (r->left < 0) {
        unsigned number = r->taken++ % PE_WATCHES;

        if (r->latest)
            take_sample(r);
        r->latest = &r->stream.watches[number];
        memset(r->latest, 0, sizeof(*r->latest));
        r->latest->index = (uint32_t)(r->left + block->count);
        pe_put_watch(r->stream.writer, number);
        r->left = INTERVAL + next_random(&r->random) % JITTER;
        pe_put_rest(r->stream.writer, block->count + (uint64_t)r->left);
        r->put = 0;
    }
    if (pe_put_block(r->stream.writer, block))
        pe_stream_hand(&r->stream);
}

static void put_access(struct rig *r, unsigned ordinal, uint64_t va)
{
    pe_put_access(r->stream.writer, (uint64_t)ordinal << PE_EVENT_SHIFT, va);
}

/* ---- Programs -------------------------------------------------------------------------------- */

#define DATA UINT64_C(0x10000000)

static void walk(struct rig *r, uint64_t node_bytes)
{
    put_block(r, r->blocks[1]);
    put_access(r, 0, DATA + node_bytes * r->node);
    r->node = r->next[r->node];
}

static void chase_l2(struct rig *r, unsigned i)
{
    (void)i;
    walk(r, 8); /* 256 KiB */
}

static void chase_llc(struct rig *r, unsigned i)
{
    (void)i;
    walk(r, 256); /* 8 MiB */
}

static void stream(struct rig *r, unsigned i)
{
    put_block(r, r->blocks[0]);
    put_access(r, 0, DATA + UINT64_C(8) * i);
}

static void columns(struct rig *r, unsigned i)
{
    put_block(r, r->blocks[3]);
    put_access(r, 0, DATA + UINT64_C(2048) * (i % 256) + UINT64_C(8) * (i / 256 % 256));
    put_access(r, 1, DATA + 0x100000 + UINT64_C(8) * (i % 256));
}

static void stores(struct rig *r, unsigned i)
{
    put_block(r, r->blocks[2]);
    put_access(r, 0, DATA + UINT64_C(72) * i % 0x60000);
}

/* A branch that nobody can foresee, every fourth time. */
static void branches(struct rig *r, unsigned i)
{
    put_block(r, r->blocks[4]);
    put_access(r, 0, DATA + UINT64_C(8) * (i % 1024));
    if (i % 4 == 0 && next_random(&r->random) % 2)
        put_block(r, r->blocks[5]);
    put_block(r, r->blocks[6]);
}

/* Data from beyond L2 tells the address of data in L2, and that tells a branch that nobody can
 * foresee. */
static void far_branches(struct rig *r, unsigned i)
{
    walk(r, 256);
    put_block(r, r->blocks[4]);
    put_access(r, 0, DATA + 0x2000000 + UINT64_C(8) * r->node);
    if (i % 4 == 0 && next_random(&r->random) % 2)
        put_block(r, r->blocks[5]);
    put_block(r, r->blocks[6]);
}

/* Lines that follow each other, in pages that data from beyond L2 tells. */
static void far_strides(struct rig *r, unsigned i)
{
    if (i % 64 == 0)
        walk(r, 256);
    put_block(r, r->blocks[4]);
    put_access(r, 0, DATA + 0x2000000 + UINT64_C(4096) * (r->node % 64) + UINT64_C(64) * (i % 64));
    put_block(r, r->blocks[6]);
}

/* Data from beyond L2 that nothing depends on: several lines are on their way at a time. */
static void far_words(struct rig *r, unsigned i)
{
    (void)i;
    put_block(r, r->blocks[0]);
    put_access(r, 0, DATA + UINT64_C(256) * (next_random(&r->random) % NODES));
}

/* Stores to such lines, which fill the store queue, and loads that hit. */
static void far_stores(struct rig *r, unsigned i)
{
    put_block(r, r->blocks[2]);
    put_access(r, 0, DATA + UINT64_C(256) * (next_random(&r->random) % NODES));
    put_block(r, r->blocks[0]);
    put_access(r, 0, DATA + 0x2000000 + UINT64_C(8) * (i % 1024));
}

/* Rounds of a loop without an access, so many that samples are in them. */
static void long_rounds(struct rig *r, unsigned i)
{
    if (i % 64 == 0)
        walk(r, 8);
    put_block(r, r->blocks[7]);
}

/* A loop of some rounds without an access, which is one event, behind each access. */
static void rounds(struct rig *r, unsigned i)
{
    if (i % 8 == 0)
        walk(r, 8);
    put_block(r, r->blocks[7]);
}

/* Now from L2, now from memory, now nothing at all. */
static void phases(struct rig *r, unsigned i)
{
    switch (i / 20000 % 3) {
    case 0:
        chase_l2(r, i);
        break;
    case 1:
        stream(r, 3 * i);
        break;
    default:
        branches(r, i);
    }
}

/* Each word is read twice and then written. */
static void update(struct rig *r, unsigned i)
{
    uint64_t va = DATA + UINT64_C(8) * (i % 16384);

    for (unsigned k = 0; k < 2; k++) {
        put_block(r, r->blocks[0]);
        put_access(r, 0, va);
    }
    put_block(r, r->blocks[2]);
    put_access(r, 0, va);
}

/* A word is stored and read again. Sometimes what is read begins within the word. */
static void spill(struct rig *r, unsigned i)
{
    uint64_t va = DATA + UINT64_C(8) * (i % 16384);

    put_block(r, r->blocks[8]);
    put_access(r, 0, va);
    put_access(r, 1, va + (i % 5 == 0));
}

/* ---- What is left ---------------------------------------------------------------------------- */

static void digest(uint64_t *sum, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *sum = (*sum ^ bytes[i]) * UINT64_C(1099511628211);
}

static uint64_t digest_of(const struct pe_predictor *p)
{
    uint64_t sum = p->history;

    digest(&sum, p->bimodal, p->mask + 1);
    digest(&sum, p->gshare, p->mask + 1);
    digest(&sum, p->chooser, p->mask + 1);
    return sum;
}

static unsigned count_unwritten(const struct pe_cache *l1)
{
    unsigned count = 0;

    for (size_t i = 0; i < (l1->set_mask + 1) * l1->ways; i++)
        count += (l1->words[i] & (PE_VALID | PE_PREFETCHED | PE_MODIFIED)) == PE_VALID;
    return count;
}

/* ---- Running them ---------------------------------------------------------------------------- */

static struct pe_block *block(uint64_t pc, const uint32_t *words, size_t count)
{
    struct pe_block *b = pe_block_create(pc, words, count);

    assert_non_null(b);
    return b;
}

static void make_blocks(struct rig *r)
{
    r->blocks[0] = block(0x1000, sum_words, 5);
    r->blocks[1] = block(0x2000, chase_words, 3);
    r->blocks[2] = block(0x3000, store_words, 4);
    r->blocks[3] = block(0x4000, column_words, 6);
    r->blocks[4] = block(0x5000, test_words, 3);
    r->blocks[5] = block(0x500c, then_words, 1);
    r->blocks[6] = block(0x5010, else_words, 2);
    r->blocks[7] = block(0x6000, count_words, 4);
    r->blocks[8] = block(0x7000, spill_words, 4);
}

static void shuffle(struct rig *r)
{
    uint32_t *order = malloc(NODES * sizeof(*order));

    r->next = malloc(NODES * sizeof(*r->next));
    assert_true(order && r->next);
    for (uint32_t i = 0; i < NODES; i++)
        order[i] = i;
    for (uint32_t i = NODES - 1; i; i--) {
        uint32_t j = next_random(&r->random) % (i + 1), t = order[i];

        order[i] = order[j];
        order[j] = t;
    }
    for (uint32_t i = 0; i < NODES; i++)
        r->next[order[i]] = order[(i + 1) % NODES];
    free(order);
}

/* What else the process has: nobody, a thread that waits in the kernel, or one that stores to the
 * first thread's data every so many rounds. */
enum { NOBODY, WAITS };

static void begin_other(struct rig *r)
{
    assert_true(pe_stream_begin(&r->other, &r->other_writer, &r->merge, 1));
    pe_put_block(r->other.writer, r->blocks[7]);
    pe_stream_away(&r->other);
}

/* It does so later than the first thread is: until then that one is not alone. */
static void store_later(struct rig *r, unsigned rounds)
{
    struct pe_cpu **cpus = r->machine->cpus;

    pe_stream_hand(&r->stream);
    cpus[1]->window.now = cpus[0]->window.now + UINT64_C(9) * PE_TICKS * rounds;
    pe_stream_back(&r->other);
    pe_put_block(r->other.writer, r->blocks[2]);
    pe_put_access(r->other.writer, 0, DATA + UINT64_C(8) * r->node);
    pe_stream_away(&r->other);
}

/* The first thread was in the kernel for a while, as the other one's clock says. */
static void sleep_beside(struct rig *r, uint64_t cycles)
{
    struct pe_cpu **cpus = r->machine->cpus;

    pe_stream_away(&r->stream);
    cpus[1]->window.now = cpus[0]->window.now + cycles * PE_TICKS;
    pe_stream_back(&r->other);
    pe_stream_back(&r->stream);
    pe_stream_away(&r->other);
}

static void begin_rig(struct rig *r, const char *preset, bool thorough)
{
    spe_machine_config_init(&r->config, preset);
    assert_int_equal(spe_machine_create(&r->config, &r->machine, NULL, 0), SPE_OK);
    assert_true(pe_merge_init(&r->merge, r->machine, false));
    assert_true(pe_stream_begin(&r->stream, &r->writer, &r->merge, 0));
    r->merge.thorough = thorough;
    make_blocks(r);
    shuffle(r);
}

static void end_rig(struct rig *r)
{
    pe_stream_end(&r->stream);
    pe_stream_end(&r->other);
    free(r->stream.watches);
    free(r->other.watches);
    for (unsigned i = 0; i < 9; i++)
        pe_block_destroy(r->blocks[i]);
    free(r->next);
    pe_merge_free(&r->merge);
    spe_machine_destroy(r->machine);
}

static void run_beside(unsigned other, void (*round)(struct rig *r, unsigned i), const char *preset,
                       bool thorough, struct outcome *outcome)
{
    struct rig r = {.random = 1, .outcome = outcome, .left = INTERVAL};

    memset(outcome, 0, sizeof(*outcome));
    begin_rig(&r, preset, thorough);
    if (other != NOBODY)
        begin_other(&r);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (other > WAITS && i % other == 0)
            store_later(&r, other);
        round(&r, i);
    }
    pe_stream_hand(&r.stream);
    outcome->clock = (double)r.machine->cpus[0]->window.now;
    outcome->skimmed = (double)r.stream.skimmed / (double)r.machine->cpus[0]->window.operations;
    spe_machine_counts(r.machine, 0, &outcome->counts);
    outcome->prediction = digest_of(&r.machine->cpus[0]->predictor);
    outcome->unwritten = count_unwritten(&r.machine->cpus[0]->l1);
    end_rig(&r);
}

static void run(void (*round)(struct rig *r, unsigned i), const char *preset, bool thorough,
                struct outcome *outcome)
{
    run_beside(NOBODY, round, preset, thorough, outcome);
}

/* The largest difference of the two distributions (Kolmogorov and Smirnov). */
static double distance(const unsigned *a, const unsigned *b, unsigned samples)
{
    double sum = 0, largest = 0;

    for (unsigned i = 0; i < BINS; i++) {
        sum += (double)a[i] - (double)b[i];
        largest = fabs(sum) > largest ? fabs(sum) : largest;
    }
    return largest / samples;
}

static bool is_near(double a, double b, double part, double absolute)
{
    return fabs(a - b) <= part * fabs(b) + absolute;
}

struct kind {
    const char *name;
    void (*round)(struct rig *r, unsigned i);
    double misses; /* they differ by less than this part */
};

static void compare(const struct kind *kind, const char *preset)
{
    static struct outcome quick, slow;
    unsigned n;

    run(kind->round, preset, false, &quick);
    run(kind->round, preset, true, &slow);
    n = slow.samples;
    print_message("%s, %s: %.0f %% skimmed; %u samples, wait %.2f and %.2f (distance %.3f), "
                  "data %.2f and %.2f (%.3f), clock %.3f of it, L1 misses %.3f\n",
                  kind->name, preset, 100 * quick.skimmed, n, quick.wait / n, slow.wait / n,
                  distance(quick.wait_bins, slow.wait_bins, n), quick.cycles / n, slow.cycles / n,
                  distance(quick.cycles_bins, slow.cycles_bins, n), quick.clock / slow.clock,
                  (double)quick.counts.l1_misses / (double)slow.counts.l1_misses);
    assert_true(n > 300 && quick.samples == n);
    assert_true(slow.skimmed == 0 && quick.skimmed > 0.75); /* all but what is before samples */
    assert_true(is_near(quick.wait, slow.wait, 0.02, 0.1 * n));
    assert_true(is_near(quick.cycles, slow.cycles, 0.02, 0.1 * n));
    assert_true(distance(quick.wait_bins, slow.wait_bins, n) < 0.05);
    assert_true(distance(quick.cycles_bins, slow.cycles_bins, n) < 0.05);
    assert_true(is_near(quick.misses, slow.misses, 0.02, 3));
    assert_true(is_near(quick.far, slow.far, 0.02, 3));
    assert_true(is_near(quick.clock, slow.clock, 0.015, 0));
    /* Prediction is told everything. */
    assert_int_equal(quick.counts.branches, slow.counts.branches);
    assert_int_equal(quick.counts.mispredicted, slow.counts.mispredicted);
    assert_true(quick.prediction == slow.prediction);
    assert_int_equal(quick.counts.accesses, slow.counts.accesses);
    assert_true(
        is_near((double)quick.counts.l1_misses, (double)slow.counts.l1_misses, kind->misses, 10));
}

static void test_same_samples(void **state)
{
    static const char *const presets[] = {"neoverse-n1", "neoverse-v2"};
    static const struct kind kinds[] = {
        {"chase in L2", chase_l2, 0.01},
        {"chase beyond L2", chase_llc, 0.01},
        {"stream", stream, 0.01},
        {"columns", columns, 0.01},
        {"stores", stores, 0.01},
        {"spills", spill, 0.01},
        {"branches", branches, 0.01},
        {"branches on data from beyond L2", far_branches, 0.01},
        {"strides from such data", far_strides, 0.02},
        {"such data at once", far_words, 0.01},
        {"stores beyond L2", far_stores, 0.01},
        {"rounds", rounds, 0.01},
        {"many rounds", long_rounds, 0.01},
        {"phases", phases, 0.01},
    };

    (void)state;
    for (unsigned i = 0; i < COUNT_OF(presets); i++)
        for (unsigned k = 0; k < COUNT_OF(kinds); k++)
            compare(&kinds[k], presets[i]);
}

/* A store behind hits of its line is not taken for one more of them. */
static void test_stores_are_kept(void **state)
{
    static struct outcome outcome;

    (void)state;
    run(update, "neoverse-n1", false, &outcome);
    assert_true(outcome.skimmed > 0.5);
    assert_int_equal(outcome.unwritten, 0);
}

/* A thread that waits in the kernel changes nothing, wherever data comes from. While threads take
 * lines from each other by time the clock has to be right, and the window is followed. */
static void test_beside_another(void **state)
{
    static struct outcome alone, beside;

    (void)state;
    run(chase_l2, "neoverse-n1", false, &alone);
    run_beside(WAITS, chase_l2, "neoverse-n1", false, &beside);
    assert_true(alone.skimmed > 0.6);
    assert_memory_equal(&alone, &beside, sizeof(alone));
    run(far_branches, "neoverse-n1", false, &alone);
    run_beside(WAITS, far_branches, "neoverse-n1", false, &beside);
    assert_memory_equal(&alone, &beside, sizeof(alone));
    run_beside(1000, chase_l2, "neoverse-n1", false, &beside);
    assert_true(beside.skimmed < 0.2); /* where it is alone */
    run_beside(60000, chase_l2, "neoverse-n1", false, &beside);
    assert_true(beside.skimmed > 0.6);
}

/* What a block takes is not what its thread slept in it. */
static void test_sleep_is_not_learnt(void **state)
{
    enum { CYCLES = 1000000, TIMES = 100 };
    static struct outcome alone;
    struct outcome outcome = {0};
    struct rig r = {.random = 1, .outcome = &outcome, .left = INTERVAL};
    double clock;

    (void)state;
    run(chase_l2, "neoverse-n1", false, &alone);
    begin_rig(&r, "neoverse-n1", false);
    begin_other(&r);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % (ROUNDS / TIMES) == ROUNDS / TIMES / 2)
            sleep_beside(&r, CYCLES);
        chase_l2(&r, i);
    }
    pe_stream_hand(&r.stream);
    clock = (double)r.machine->cpus[0]->window.now - (double)CYCLES * TIMES * PE_TICKS;
    end_rig(&r);
    assert_true(is_near(clock, alone.clock, 0.05, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_samples),
        cmocka_unit_test(test_stores_are_kept),
        cmocka_unit_test(test_beside_another),
        cmocka_unit_test(test_sleep_is_not_learnt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
