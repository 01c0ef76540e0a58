/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Threads that meet in modelled time. The judge is a slow machine of its own, below: it has the
 * complete traces of all threads and goes through them cycle by cycle. Which loads other cores
 * serve has to agree with it, however the host schedules the threads that hand their events over.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pe/machine_internal.h"
#include "pe/merge.h"

enum { CPUS = 16, LINES = 64, ROUNDS = 2000 };

/* One round of a thread's loop: LDR x1, [x0]; ADD x1, x1, #1; STR x1, [x4]; SUBS; B.NE, where load
 * or store may be left out by putting a NOP there. */
static const uint32_t LDR = 0xf9400001, ADD = 0x91000421, STR = 0xf9000081, NOP = 0xd503201f;
static const uint32_t SUBS = 0xf1000463, BNE = 0x54ffff81;

struct round {
    uint64_t load, store; /* addresses; 0: none */
};

struct program {
    const char *name;
    struct round (*round)(unsigned thread, unsigned i);
    double tolerance; /* share of loads */
};

static const uint64_t base = UINT64_C(0x20000000);

static struct round false_sharing(unsigned thread, unsigned i)
{
    uint64_t a = base + 8 * (thread % 8);

    (void)i;
    return (struct round){a, a};
}

static struct round true_sharing(unsigned thread, unsigned i)
{
    (void)thread;
    (void)i;
    return (struct round){base, base};
}

static struct round padded(unsigned thread, unsigned i)
{
    uint64_t a = base + UINT64_C(64) * thread;

    (void)i;
    return (struct round){a, a};
}

/* Everybody reads, the first one writes now and then. */
static struct round read_mostly(unsigned thread, unsigned i)
{
    return (struct round){base, thread == 0 && i % 256 == 255 ? base : 0};
}

/* In each pair of threads one fills a ring of lines and the other reads it. */
static struct round ring(unsigned thread, unsigned i)
{
    uint64_t a = base + UINT64_C(512) * (thread / 2) + UINT64_C(64) * (i / 16 % 8);

    return thread % 2 ? (struct round){a, 0} : (struct round){0, a};
}

/* ---- The machine that has to be agreed with -------------------------------------------------- */

/* A slow machine: what a core has in flight, and who has which line until when. */
struct ref_op {
    bool load, complete;
    int line;
    bool issued, peer;
    unsigned number; /* of the round */
};

struct ref_core {
    unsigned next;          /* operation to dispatch */
    struct ref_op rob[512]; /* a ring */
    unsigned head, count;
    struct {
        int line;
        bool asked;
        unsigned number; /* of its round, whose load gives the data */
    } queue[256];
    unsigned queue_head, queue_count;
    unsigned loaded; /* rounds whose loads have completed */
    uint64_t loads, peers;
};

struct ref_line {
    uint8_t state[CPUS]; /* 0 none, 1 shared, 2 exclusive */
    uint64_t arrives[CPUS];
    bool from_peer[CPUS];
    uint64_t busy;
    struct {
        unsigned cpu;
        bool exclusive;
    } waiting[CPUS * 2];
    unsigned waiting_count;
    uint8_t asked[CPUS]; /* 0 no, 1 to load, 2 to store */
    bool touched;
};

struct ref {
    const struct program *program;
    unsigned cpus;
    struct spe_machine_config config;
    struct ref_core core[CPUS];
    struct ref_line line[LINES];
    uint64_t now;
};

static int line_number(uint64_t address)
{
    return address ? (int)((address - base) / 64) : -1;
}

static void ask(struct ref *r, int line, unsigned cpu, bool exclusive)
{
    struct ref_line *l = &r->line[line];

    if (l->asked[cpu] > exclusive || l->waiting_count == CPUS * 2)
        return;
    l->asked[cpu] = (uint8_t)(1 + exclusive);
    l->waiting[l->waiting_count].cpu = cpu;
    l->waiting[l->waiting_count++].exclusive = exclusive;
}

static void grant(struct ref *r, struct ref_line *l)
{
    unsigned cpu = l->waiting[0].cpu, others = 0, modified = 0;
    bool exclusive = l->waiting[0].exclusive, had = l->state[cpu] != 0;
    uint64_t cycles;

    memmove(l->waiting, l->waiting + 1, --l->waiting_count * sizeof(l->waiting[0]));
    l->asked[cpu] = l->asked[cpu] > 1 + exclusive ? l->asked[cpu] : 0;
    if (l->state[cpu] > exclusive)
        return;
    for (unsigned i = 0; i < r->cpus; i++) {
        if (i == cpu || !l->state[i])
            continue;
        others++;
        modified += l->state[i] == 2;
        l->state[i] = exclusive ? 0 : 1;
    }
    if (had)
        cycles = r->config.l1d.latency + r->config.snoop_latency;
    else if (modified)
        cycles = r->config.llc.latency + r->config.snoop_latency;
    else
        cycles = l->touched
                     ? r->config.llc.latency + (exclusive && others ? r->config.snoop_latency : 0)
                     : r->config.memory_latency;
    l->touched = true;
    l->state[cpu] = exclusive || others == 0 ? 2 : 1;
    if (!had) {
        l->arrives[cpu] = r->now + cycles;
        l->from_peer[cpu] = modified;
    }
    if (modified || (exclusive && (others || had)))
        l->busy = r->now + cycles;
}

/* Returns whether it completes now. */
static bool try_load(struct ref *r, unsigned cpu, struct ref_op *op)
{
    struct ref_line *l = &r->line[op->line];

    if (!op->issued && l->state[cpu]) {
        op->issued = true;
        op->peer = l->arrives[cpu] > r->now && l->from_peer[cpu];
    }
    if (!l->state[cpu] && !op->issued) {
        ask(r, op->line, cpu, false);
        return false;
    }
    return l->arrives[cpu] <= r->now;
}

/* Lines are asked for as soon as the data is known; stores leave the queue in order. */
static void drain_stores(struct ref *r, unsigned cpu)
{
    struct ref_core *c = &r->core[cpu];

    for (unsigned i = 0; i < c->queue_count; i++) {
        unsigned at = (c->queue_head + i) % 256;

        if (c->queue[at].number < c->loaded && r->line[c->queue[at].line].state[cpu] != 2)
            ask(r, c->queue[at].line, cpu, true);
    }
    while (c->queue_count) {
        unsigned at = c->queue_head % 256;
        const struct ref_line *l = &r->line[c->queue[at].line];

        if (c->queue[at].number >= c->loaded || l->state[cpu] != 2 || l->arrives[cpu] > r->now)
            return;
        c->queue_head++;
        c->queue_count--;
    }
}

static void complete_loads(struct ref *r, unsigned cpu)
{
    struct ref_core *c = &r->core[cpu];

    for (unsigned i = 0; i < c->count; i++) {
        struct ref_op *op = &c->rob[(c->head + i) % 512];

        if (op->complete || !op->load)
            continue;
        if (!try_load(r, cpu, op))
            continue;
        op->complete = true;
        c->loads++;
        c->peers += op->peer;
    }
    while (c->count && c->rob[c->head % 512].complete) {
        if (c->rob[c->head % 512].load)
            c->loaded = c->rob[c->head % 512].number + 1;
        c->head++;
        c->count--;
    }
}

static void dispatch(struct ref *r, unsigned cpu)
{
    struct ref_core *c = &r->core[cpu];

    for (unsigned i = 0; i < r->config.issue_width && c->next < ROUNDS * 5; i++) {
        struct round round = r->program->round(cpu, c->next / 5);
        struct ref_op op = {.complete = true, .line = -1, .number = c->next / 5};

        if (c->count == r->config.window)
            return;
        if (c->next % 5 == 0 && round.load)
            op =
                (struct ref_op){.load = true, .line = line_number(round.load), .number = op.number};
        if (c->next % 5 == 2 && round.store) {
            unsigned at = (c->queue_head + c->queue_count) % 256;

            if (c->queue_count == r->config.store_queue)
                return;
            c->queue[at].line = line_number(round.store);
            c->queue[at].number = round.load ? op.number : 0;
            c->queue_count++;
            if (!round.load && c->loaded == 0)
                c->loaded = 1;
        }
        c->rob[(c->head + c->count++) % 512] = op;
        c->next++;
    }
}

static double reference(const struct program *program, unsigned cpus)
{
    struct ref *r = calloc(1, sizeof(*r));
    uint64_t loads = 0, peers = 0;
    bool busy = true;

    assert_non_null(r);
    r->program = program;
    r->cpus = cpus;
    spe_machine_config_init(&r->config, "neoverse-n1");
    for (r->now = 1; busy && r->now < 20000000; r->now++) {
        busy = false;
        for (unsigned i = 0; i < LINES; i++)
            if (r->line[i].waiting_count && r->line[i].busy < r->now)
                grant(r, &r->line[i]);
        for (unsigned i = 0; i < cpus; i++) {
            unsigned cpu = (unsigned)((i + r->now) % cpus);

            complete_loads(r, cpu);
            drain_stores(r, cpu);
            dispatch(r, cpu);
            busy |= r->core[cpu].next < ROUNDS * 5;
        }
    }
    for (unsigned i = 0; i < cpus; i++) {
        loads += r->core[i].loads;
        peers += r->core[i].peers;
    }
    free(r);
    return loads ? (double)peers / (double)loads : 0;
}

/* ---- The same through streams, by threads of the host ---------------------------------------- */

struct worker {
    const struct program *program;
    unsigned number;
    struct pe_stream stream;
    struct pe_block *blocks[4]; /* by what a round has: 1 a load, 2 a store */
    uint64_t loads, peers;
};

static struct pe_block *block_of(struct round round)
{
    uint32_t words[] = {round.load ? LDR : NOP, ADD, round.store ? STR : NOP, SUBS, BNE};

    return pe_block_create(0x1000, words, 5);
}

static void *work(void *user)
{
    struct worker *w = user;
    struct pe_stream *s = &w->stream;
    unsigned next = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        struct round round = w->program->round(w->number, i);
        struct pe_watch *watch = &s->watches[next % PE_WATCHES];
        uint64_t ordinal = 0;

        if (i % 13 == w->number % 13 && round.load) {
            if (next >= PE_WATCHES) {
                while (!__atomic_load_n(&watch->done, __ATOMIC_ACQUIRE))
                    pe_stream_hand(s);
                w->loads++;
                w->peers += watch->accesses[0].met.place == SPE_PLACE_PEER;
            }
            memset(watch, 0, sizeof(*watch));
            pe_put_watch(s, next++ % PE_WATCHES);
        }
        if (pe_put_block(s, w->blocks[(round.load != 0) + 2 * (round.store != 0)]))
            pe_stream_hand(s);
        if (round.load)
            pe_put_access(s, ordinal++ << PE_EVENT_SHIFT, round.load);
        if (round.store)
            pe_put_access(s, ordinal << PE_EVENT_SHIFT, round.store);
    }
    pe_stream_end(s);
    return NULL;
}

static double merged(const struct program *program, unsigned cpus)
{
    struct worker *workers = calloc(cpus, sizeof(*workers));
    pthread_t threads[CPUS];
    struct spe_machine_config config;
    struct spe_machine *machine;
    struct pe_merge merge;
    uint64_t loads = 0, peers = 0;

    spe_machine_config_init(&config, "neoverse-n1");
    config.cpus = cpus;
    assert_int_equal(spe_machine_create(&config, &machine, NULL, 0), SPE_OK);
    assert_true(pe_merge_init(&merge, machine, false));
    for (unsigned i = 0; i < cpus; i++) {
        workers[i].program = program;
        workers[i].number = i;
        for (unsigned k = 0; k < 4; k++)
            workers[i].blocks[k] = block_of((struct round){k & 1, k & 2});
        assert_true(pe_stream_begin(&workers[i].stream, &merge, i));
    }
    for (unsigned i = 0; i < cpus; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (unsigned i = 0; i < cpus; i++) {
        pthread_join(threads[i], NULL);
        loads += workers[i].loads;
        peers += workers[i].peers;
    }
    for (unsigned i = 0; i < cpus; i++) {
        for (unsigned k = 0; k < 4; k++)
            pe_block_destroy(workers[i].blocks[k]);
        free(workers[i].stream.watches);
    }
    pe_merge_free(&merge);
    spe_machine_destroy(machine);
    free(workers);
    return loads ? (double)peers / (double)loads : 0;
}

/* Those of the ring are not in step with each other, and how often one overtakes the other is a
 * matter of a few cycles: there it only has to be seen. */
static const struct program programs[] = {
    {"false sharing", false_sharing, 0.12},
    {"true sharing", true_sharing, 0.12},
    {"padded", padded, 0.01},
    {"read-mostly", read_mostly, 0.02},
    {"ring", ring, 0.5},
};

static void test_agrees(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++) {
        for (unsigned cpus = 2; cpus <= CPUS; cpus *= 2) {
            double expected = reference(&programs[p], cpus), got = merged(&programs[p], cpus);

            print_message("%-14s %2u cpus: reference %.3f, merged %.3f\n", programs[p].name, cpus,
                          expected, got);
            assert_true(got >= expected - programs[p].tolerance &&
                        got <= expected + programs[p].tolerance);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
