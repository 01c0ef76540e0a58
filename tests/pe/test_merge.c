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
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "pe/machine_internal.h"
#include "pe/merge.h"

enum { CPUS = 64, LINES = 320, ROUNDS = 1000 };

/* One round of a thread's loop: LDR x1, [x0]; ADD x1, x1, #1; STR x1, [x4]; SUBS; B.NE, where load
 * or store may be left out by putting a NOP there, and the load may be LDADD x2, x1, [x0]. */
static const uint32_t LDR = 0xf9400001, ADD = 0x91000421, STR = 0xf9000081, NOP = 0xd503201f;
static const uint32_t SUBS = 0xf1000463, BNE = 0x54ffff81, LDADD = 0xf8220001;

struct round {
    uint64_t load, store; /* addresses; 0: none */
    bool atomic;          /* the load is one that adds */
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
    return (struct round){.load = a, .store = a};
}

static struct round true_sharing(unsigned thread, unsigned i)
{
    (void)thread;
    (void)i;
    return (struct round){.load = base, .store = base};
}

static struct round padded(unsigned thread, unsigned i)
{
    uint64_t a = base + UINT64_C(64) * thread;

    (void)i;
    return (struct round){.load = a, .store = a};
}

/* Everybody reads, the first one writes now and then. */
static struct round read_mostly(unsigned thread, unsigned i)
{
    return (struct round){.load = base, .store = thread == 0 && i % 256 == 255 ? base : 0};
}

/* In each pair of threads one fills a ring of lines and the other reads it. */
static struct round ring(unsigned thread, unsigned i)
{
    uint64_t a = base + UINT64_C(512) * (thread / 2) + UINT64_C(64) * (i / 16 % 8);

    return thread % 2 ? (struct round){.load = a} : (struct round){.store = a};
}

static struct round atomics(unsigned thread, unsigned i)
{
    (void)thread;
    (void)i;
    return (struct round){.load = base, .atomic = true};
}

static struct round own_atomics(unsigned thread, unsigned i)
{
    (void)i;
    return (struct round){.load = base + UINT64_C(64) * thread, .atomic = true};
}

/* A lock in one line and what it guards in another: taken, read and written, let go. */
static struct round lock(unsigned thread, unsigned i)
{
    uint64_t data = base + 64;

    (void)thread;
    return i % 2 ? (struct round){.load = data, .store = base}
                 : (struct round){.load = base, .store = data, .atomic = true};
}

/* The same, each thread with its own. */
static struct round own_lock(unsigned thread, unsigned i)
{
    struct round r = lock(thread, i);

    return (struct round){r.load + UINT64_C(128) * thread, r.store + UINT64_C(128) * thread,
                          r.atomic};
}

/* A counter of all, and for each round with it three with a counter of the thread's own. */
static struct round now_and_then(unsigned thread, unsigned i)
{
    uint64_t a = i % 4 ? base + UINT64_C(64) * (1 + thread) : base;

    return (struct round){.load = a, .store = a};
}

/* ---- The machine that has to be agreed with -------------------------------------------------- */

/* What was found: loads by line, and how many of them other cores served. */
struct shares {
    uint64_t loads[LINES], peers[LINES];
};

/* A slow machine: what a core has in flight, and who has which line until when. */
struct ref_op {
    bool load, atomic, complete;
    int line;
    bool issued, waited, peer;
    uint64_t done;   /* of an atomic that has begun */
    unsigned number; /* of the round */
};

struct ref_core {
    unsigned next;          /* operation to dispatch */
    struct ref_op rob[512]; /* a ring */
    unsigned head, count;
    struct {
        int line;
        bool made;
        unsigned number; /* of its round, whose load gives the data */
    } queue[256];
    unsigned queue_head, queue_count;
    unsigned loaded; /* rounds whose loads have completed */
    struct shares *shares;
};

struct ref_line {
    uint8_t state[CPUS];                     /* 0 none, 1 shared, 2 exclusive */
    uint64_t arrives[CPUS], exclusive[CPUS]; /* when it has the data, and nobody else has */
    bool from_peer[CPUS];
    uint64_t busy;
    struct {
        unsigned cpu;
        bool exclusive;
    } waiting[CPUS];
    unsigned waiting_count;
    bool asked[CPUS];
    bool touched;
};

struct ref {
    const struct program *program;
    unsigned cpus;
    struct spe_machine_config config;
    struct ref_core core[CPUS];
    struct ref_line line[LINES];
    uint64_t now;
    bool moved; /* something happened in this cycle */
};

static int line_number(uint64_t address)
{
    return address ? (int)((address - base) / 64) : -1;
}

/* A core has one request for a line under way, and no second one before the first is answered. */
static void ask(struct ref *r, int line, unsigned cpu, bool exclusive)
{
    struct ref_line *l = &r->line[line];

    if (l->asked[cpu] || l->arrives[cpu] > r->now)
        return;
    l->asked[cpu] = r->moved = true;
    l->waiting[l->waiting_count].cpu = cpu;
    l->waiting[l->waiting_count++].exclusive = exclusive;
}

static void grant(struct ref *r, struct ref_line *l)
{
    unsigned cpu = l->waiting[0].cpu, others = 0, modified = 0;
    bool exclusive = l->waiting[0].exclusive, had = l->state[cpu] != 0;
    uint64_t cycles;

    memmove(l->waiting, l->waiting + 1, --l->waiting_count * sizeof(l->waiting[0]));
    l->asked[cpu] = false;
    r->moved = true;
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
    l->exclusive[cpu] = r->now + cycles;
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

/* Atomics are made one after the other, by whoever has the line alone. */
static bool try_atomic(struct ref *r, unsigned cpu, struct ref_op *op)
{
    struct ref_line *l = &r->line[op->line];

    if (!op->issued && l->state[cpu] != 2) {
        ask(r, op->line, cpu, true);
        return false;
    }
    if (!op->issued) {
        op->issued = true;
        op->peer = l->arrives[cpu] > r->now && l->from_peer[cpu];
    }
    if (!op->done && l->exclusive[cpu] <= r->now)
        op->done = r->now + (op->waited ? 0 : r->config.l1d.latency);
    op->waited = true;
    r->moved |= op->done != 0;
    return op->done && op->done <= r->now;
}

/* Lines are asked for as soon as the data is known. A store is made when its line is there, in
 * whatever order that is; its place in the queue is free when all before it have been made. */
static void drain_stores(struct ref *r, unsigned cpu)
{
    struct ref_core *c = &r->core[cpu];

    for (unsigned i = 0; i < c->queue_count; i++) {
        unsigned at = (c->queue_head + i) % 256;
        const struct ref_line *l = &r->line[c->queue[at].line];

        if (c->queue[at].made || c->queue[at].number >= c->loaded)
            continue;
        if (l->state[cpu] != 2)
            ask(r, c->queue[at].line, cpu, true);
        else
            r->moved |= c->queue[at].made = l->exclusive[cpu] <= r->now;
    }
    while (c->queue_count && c->queue[c->queue_head % 256].made) {
        c->queue_head++;
        c->queue_count--;
    }
}

static void complete_loads(struct ref *r, unsigned cpu)
{
    struct ref_core *c = &r->core[cpu];
    bool after_atomic = false;

    for (unsigned i = 0; i < c->count; i++) {
        struct ref_op *op = &c->rob[(c->head + i) % 512];

        if (op->complete || !op->load || (op->atomic && after_atomic))
            continue;
        after_atomic |= op->atomic;
        if (op->atomic ? !try_atomic(r, cpu, op) : !try_load(r, cpu, op))
            continue;
        op->complete = r->moved = true;
        after_atomic = false;
        c->shares->loads[op->line]++;
        c->shares->peers[op->line] += op->peer;
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
            op = (struct ref_op){.load = true,
                                 .atomic = round.atomic,
                                 .line = line_number(round.load),
                                 .number = op.number};
        if (c->next % 5 == 2 && round.store) {
            unsigned at = (c->queue_head + c->queue_count) % 256;

            if (c->queue_count == r->config.store_queue)
                return;
            c->queue[at].line = line_number(round.store);
            c->queue[at].made = false;
            c->queue[at].number = round.load ? op.number : 0;
            c->queue_count++;
            if (!round.load && c->loaded == 0)
                c->loaded = 1;
        }
        r->moved = true;
        c->rob[(c->head + c->count++) % 512] = op;
        c->next++;
    }
}

static void sooner(uint64_t *next, uint64_t time, uint64_t now)
{
    if (time > now && time < *next)
        *next = time;
}

/* The next cycle in which something can happen, after one in which nothing did. */
static uint64_t next_cycle(const struct ref *r)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < LINES; i++) {
        const struct ref_line *l = &r->line[i];

        if (l->waiting_count)
            sooner(&next, l->busy + 1, r->now);
        for (unsigned cpu = 0; l->touched && cpu < r->cpus; cpu++) {
            sooner(&next, l->arrives[cpu], r->now);
            sooner(&next, l->exclusive[cpu], r->now);
        }
    }
    assert_true(next != UINT64_MAX);
    return next;
}

static void reference(const struct program *program, unsigned cpus, struct shares *shares)
{
    struct ref *r = calloc(1, sizeof(*r));
    bool busy = true;

    assert_non_null(r);
    r->program = program;
    r->cpus = cpus;
    spe_machine_config_init(&r->config, "neoverse-n1");
    for (unsigned i = 0; i < cpus; i++)
        r->core[i].shares = shares;
    for (r->now = 1; busy; r->now = r->moved ? r->now + 1 : next_cycle(r)) {
        busy = r->moved = false;
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
    free(r);
}

/* ---- The same through streams, by threads of the host ---------------------------------------- */

struct worker {
    const struct program *program;
    unsigned number, watched;
    unsigned batch; /* rounds that are handed over at a time; 0: as many as there is room for */
    bool watches;   /* every load */
    uint64_t ended; /* ticks */
    struct pe_stream stream;
    struct pe_writer writer;
    struct pe_block *blocks[8]; /* by what a round has: 1 a load, 2 a store, 4 an atomic */
    struct shares shares;
};

static unsigned kind_of(struct round round)
{
    return (round.load != 0) + 2 * (round.store != 0) + 4 * round.atomic;
}

static struct pe_block *block_of(unsigned kind)
{
    uint32_t load = kind & 4 ? LDADD : LDR;
    uint32_t words[] = {kind & 1 ? load : NOP, ADD, kind & 2 ? STR : NOP, SUBS, BNE};

    return pe_block_create(0x1000, words, 5);
}

static void count_watch(struct worker *w, const struct pe_watch *watch)
{
    int line = line_number(watch->accesses[0].va);

    assert_int_equal(watch->access_count > 0, 1);
    w->shares.loads[line]++;
    w->shares.peers[line] += watch->accesses[0].met.place == SPE_PLACE_PEER;
}

/* The next instruction is watched; what became of the one that had the place before is counted. */
static void put_watch(struct worker *w)
{
    struct pe_watch *watch = &w->stream.watches[w->watched % PE_WATCHES];

    if (w->watched >= PE_WATCHES) {
        while (!__atomic_load_n(&watch->done, __ATOMIC_ACQUIRE))
            pe_stream_settle(&w->stream);
        count_watch(w, watch);
    }
    memset(watch, 0, sizeof(*watch));
    pe_put_watch(w->stream.writer, w->watched++ % PE_WATCHES);
}

static void *work(void *user)
{
    struct worker *w = user;
    struct pe_stream *s = &w->stream;

    for (unsigned i = 0; i < ROUNDS; i++) {
        struct round round = w->program->round(w->number, i);
        uint64_t ordinal = 0;

        if (w->watches && round.load)
            put_watch(w);
        if (w->batch && i % w->batch == 0)
            pe_stream_settle(s);
        if (pe_put_block(s->writer, w->blocks[kind_of(round)]))
            pe_stream_hand(s);
        if (round.atomic)
            pe_put_wide(s->writer, 0, round.load, 8, SPE_ACCESS_ATOMIC);
        else if (round.load)
            pe_put_access(s->writer, ordinal++ << PE_EVENT_SHIFT, round.load);
        if (round.store)
            pe_put_access(s->writer, ordinal << PE_EVENT_SHIFT, round.store);
    }
    pe_stream_end(s);
    w->ended = s->ended;
    for (unsigned i = 0; i < PE_WATCHES && i < w->watched; i++)
        count_watch(w, &s->watches[i]);
    return NULL;
}

/* `patient`: nobody goes on without a thread that the host does not run for long. A host that has
 * other things to do does not run 64 threads within the time that others wait for one. */
static void run_workers(struct worker *workers, const struct program *program, unsigned cpus,
                        bool patient)
{
    struct pe_writer unused;
    struct pe_stream asleep; /* so that nobody is ever alone, when short ways may be taken */
    pthread_t threads[CPUS];
    struct spe_machine_config config;
    struct spe_machine *machine;
    struct pe_merge merge;

    spe_machine_config_init(&config, "neoverse-n1");
    config.cpus = PE_CPUS_MAX; /* of which only those are made that are used, as in a recording */
    assert_int_equal(pe_machine_create(&config, &machine, NULL, 0), SPE_OK);
    assert_true(pe_merge_init(&merge, machine, false));
    for (unsigned i = 0; i < cpus; i++) {
        workers[i].program = program;
        workers[i].number = i;
        for (unsigned k = 0; k < 8; k++)
            workers[i].blocks[k] = block_of(k);
        assert_true(pe_stream_begin(&workers[i].stream, &workers[i].writer, &merge, i));
        if (patient)
            workers[i].stream.patience = UINT64_C(3600) * 1000000;
    }
    assert_true(pe_stream_begin(&asleep, &unused, &merge, cpus));
    pe_stream_away(&asleep);
    for (unsigned i = 0; i < cpus; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (unsigned i = 0; i < cpus; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < cpus; i++) {
        for (unsigned k = 0; k < 8; k++)
            pe_block_destroy(workers[i].blocks[k]);
        free(workers[i].stream.watches);
    }
    pe_stream_end(&asleep);
    free(asleep.watches);
    pe_merge_free(&merge);
    spe_machine_destroy(machine);
}

/* Every load is looked at. */
static void merged(const struct program *program, unsigned cpus, bool patient,
                   struct shares *shares)
{
    struct worker *workers = calloc(cpus, sizeof(*workers));

    assert_non_null(workers);
    for (unsigned i = 0; i < cpus; i++)
        workers[i].watches = true;
    run_workers(workers, program, cpus, patient);
    for (unsigned i = 0; i < cpus; i++)
        for (unsigned k = 0; k < LINES; k++) {
            shares->loads[k] += workers[i].shares.loads[k];
            shares->peers[k] += workers[i].shares.peers[k];
        }
    free(workers);
}

/* ---- Both ------------------------------------------------------------------------------------ */

static const struct program programs[] = {
    {"false sharing", false_sharing, 0.10},
    {"true sharing", true_sharing, 0.10},
    {"padded", padded, 0.01},
    {"read-mostly", read_mostly, 0.02},
    {"ring", ring, 0.10},
    {"atomics", atomics, 0.10},
    {"own atomics", own_atomics, 0.01},
    {"lock", lock, 0.10},
    {"own lock", own_lock, 0.01},
    {"now and then", now_and_then, 0.10},
};

static double share(const struct shares *shares, int line)
{
    uint64_t loads = 0, peers = 0;

    for (int i = 0; i < LINES; i++) {
        if (line >= 0 && i != line)
            continue;
        loads += shares->loads[i];
        peers += shares->peers[i];
    }
    return loads ? (double)peers / (double)loads : 0;
}

static void compare(const struct program *program, unsigned cpus, bool patient)
{
    struct shares expected = {{0}, {0}}, got = {{0}, {0}};
    bool right = true;

    reference(program, cpus, &expected);
    merged(program, cpus, patient, &got);
    print_message("%-14s %2u cpus: reference %.3f, merged %.3f\n", program->name, cpus,
                  share(&expected, -1), share(&got, -1));
    for (int i = -1; i < LINES; i++) {
        double difference = share(&got, i) - share(&expected, i);

        if ((i >= 0 && got.loads[i] < 150) || /* too few say little */
            (difference <= program->tolerance && difference >= -program->tolerance))
            continue;
        print_message("line %d: reference %.3f, merged %.3f\n", i, share(&expected, i),
                      share(&got, i));
        right = false;
    }
    assert_true(right);
}

static void test_agrees(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++)
        for (unsigned cpus = 2; cpus <= CPUS; cpus *= 2)
            compare(&programs[p], cpus, true);
}

/* When the threads end, if they hand over so many rounds at a time and wait until these were had.
 */
static void find_ends(const struct program *program, unsigned cpus, unsigned batch, uint64_t *ends)
{
    struct worker *workers = calloc(cpus, sizeof(*workers));

    assert_non_null(workers);
    for (unsigned i = 0; i < cpus; i++)
        workers[i].batch = batch;
    run_workers(workers, program, cpus, true);
    for (unsigned i = 0; i < cpus; i++)
        ends[i] = workers[i].ended;
    free(workers);
}

/* What the threads do is the same to the tick, however much they hand over at a time and however
 * the host runs them. */
static void test_does_not_depend_on_batches(void **state)
{
    static const unsigned cpus[] = {2, 3, 8}, batches[] = {1, 8, 50};
    uint64_t expected[8], ends[8];

    (void)state;
    for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++)
        for (size_t c = 0; c < 3; c++) {
            find_ends(&programs[p], cpus[c], 0, expected);
            for (size_t b = 0; b < 3; b++) {
                find_ends(&programs[p], cpus[c], batches[b], ends);
                assert_memory_equal(expected, ends, cpus[c] * sizeof(*ends));
            }
        }
}

static void put_rounds(struct worker *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        pe_put_block(w->stream.writer, w->blocks[3]);
        pe_put_access(w->stream.writer, 0, base);
        pe_put_access(w->stream.writer, UINT64_C(1) << PE_EVENT_SHIFT, base);
    }
    pe_stream_hand(&w->stream);
}

static uint64_t cycles_ahead(const struct worker *w, const struct worker *of)
{
    return (w->stream.cpu->window.now - of->stream.cpu->window.now) / PE_TICKS;
}

/* A machine and its first thread. */
static void begin_one(struct worker *one, struct pe_merge *merge)
{
    struct spe_machine_config config;
    struct spe_machine *machine;

    memset(one, 0, sizeof(*one));
    spe_machine_config_init(&config, "neoverse-n1");
    assert_int_equal(pe_machine_create(&config, &machine, NULL, 0), SPE_OK);
    assert_true(pe_merge_init(merge, machine, false));
    one->blocks[3] = block_of(3);
    assert_true(pe_stream_begin(&one->stream, &one->writer, merge, 0));
}

static void end_one(struct worker *one, struct pe_merge *merge)
{
    pe_stream_end(&one->stream);
    pe_block_destroy(one->blocks[3]);
    free(one->stream.watches);
    pe_merge_free(merge);
    spe_machine_destroy(merge->machine);
}

/* A thread that was alone, and out of events, is held up by one that begins or comes back. */
static void test_others_join(void **state)
{
    struct worker one, other = {0};
    struct pe_merge merge;

    (void)state;
    begin_one(&one, &merge);
    put_rounds(&one, 1000);
    assert_true(pe_stream_begin(&other.stream, &other.writer, &merge, 1));
    for (unsigned i = 0; i < 2; i++) {
        put_rounds(&one, 1000);
        assert_in_range(cycles_ahead(&one, &other), 0, 100);
        pe_stream_away(&other.stream);
        put_rounds(&one, 1000);
        assert_in_range(cycles_ahead(&one, &other), 1000, UINT32_MAX);
        pe_stream_back(&other.stream);
    }
    pe_stream_end(&other.stream);
    free(other.stream.watches);
    end_one(&one, &merge);
}

/* While another thread has the lock, and lets the machine have events, a thread goes on. What it
 * put then is had later. */
static void test_goes_on_meanwhile(void **state)
{
    enum { TIMES = 4, COUNT = 1000 };
    struct worker one;
    struct pe_merge merge;
    uint64_t handed;

    (void)state;
    begin_one(&one, &merge);
    put_rounds(&one, COUNT);
    handed = one.stream.handed;
    pe_merge_lock(&merge);
    for (unsigned i = 0; i < TIMES; i++)
        put_rounds(&one, COUNT);
    assert_int_equal(one.stream.handed, handed);
    pe_merge_unlock(&merge);
    put_rounds(&one, COUNT);
    assert_int_equal(one.stream.done, one.stream.handed);
    assert_int_equal(one.stream.cpu->counts.accesses, 2 * COUNT * (TIMES + 2));
    end_one(&one, &merge);
}

/* Times that the thread gave up the host's processor while it waited until all was had. */
static void *settle(void *user)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    struct worker *w = user;
    struct rusage before, after;

    for (unsigned i = 0; i < 10; i++)
        pe_put_block(w->stream.writer, w->blocks[3]);
    nanosleep(&pause, NULL);
    getrusage(RUSAGE_THREAD, &before);
    pe_stream_settle(&w->stream);
    getrusage(RUSAGE_THREAD, &after);
    w->ended = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
    return NULL;
}

/* Threads that wait for a third do not wake each other meanwhile. */
static void test_waits_in_peace(void **state)
{
    static const struct timespec pause = {.tv_nsec = 200000000};
    struct worker one, others[2] = {{0}};
    pthread_t threads[2];
    struct pe_merge merge;

    (void)state;
    begin_one(&one, &merge);
    for (unsigned i = 0; i < 2; i++) {
        others[i].blocks[3] = one.blocks[3];
        assert_true(pe_stream_begin(&others[i].stream, &others[i].writer, &merge, 1 + i));
    }
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, settle, &others[i]), 0);
    nanosleep(&pause, NULL);
    pe_stream_away(&one.stream);
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_in_range(others[i].ended, 0, 100);
        pe_stream_end(&others[i].stream);
        free(others[i].stream.watches);
    }
    end_one(&one, &merge);
}

static void *burn(void *stop)
{
    while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
        ;
    return NULL;
}

/* The host has something else to do, too. */
static void test_agrees_when_busy(void **state)
{
    pthread_t burners[2];
    bool stop = false;

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&burners[i], NULL, burn, &stop), 0);
    for (size_t p = 0; p < sizeof(programs) / sizeof(programs[0]); p++)
        compare(&programs[p], 4, false);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(burners[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees),         cmocka_unit_test(test_does_not_depend_on_batches),
        cmocka_unit_test(test_others_join),    cmocka_unit_test(test_goes_on_meanwhile),
        cmocka_unit_test(test_waits_in_peace), cmocka_unit_test(test_agrees_when_busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
