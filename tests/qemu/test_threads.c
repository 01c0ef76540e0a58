/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Threads that come and go while others run, and the end of the process among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "a64.h"
#include "hear.h"
#include "qemu/vcpus.h"
#include "stand_in.h"

static struct qemu_plugin_tb *block;
static int level = 1;

static void begin(const char *socket_name)
{
    stand_in_install(socket_name, level);
    stand_in_begin(0);
    block = stand_in_translate(LOOP_PC, loop_words, LOOP_SIZE);
}

static void run(unsigned vcpu, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        stand_in_run(vcpu, block, 0x10000 + (uint64_t)vcpu * 4096 + i % 64 * 8);
}

/* Who waits, waits in the kernel. */
enum { FUTEX = 98 };

static void join(pthread_t thread)
{
    stand_in_call(0, FUTEX, (uint64_t[8]){0});
    pthread_join(thread, NULL);
    stand_in_return(0, FUTEX, 0);
}

static void meet(unsigned vcpu, pthread_barrier_t *where)
{
    stand_in_call(vcpu, FUTEX, (uint64_t[8]){0});
    pthread_barrier_wait(where);
    stand_in_return(vcpu, FUTEX, 0);
}

static void assert_good(const struct heard *heard)
{
    assert_true(WIFEXITED(heard->status));
    assert_int_equal(WEXITSTATUS(heard->status), 0);
    assert_int_equal(heard->threads, heard->ends);
    assert_int_equal(heard->bytes, heard->statistics.bytes);
    assert_int_equal(heard->statistics.records, heard->statistics.sampled);
}

/* Every operation is counted once, and sampled about one in `period`. */
static void assert_operations(const struct heard *heard, uint64_t operations, uint64_t period)
{
    assert_int_equal(heard->statistics.operations, operations);
    assert_in_range(heard->statistics.sampled, operations / period / 2, operations / period * 2);
}

/* ---- Waves of threads ----------------------------------------------------------------------- */

enum { WAVES = 6, WIDTH = 5, TIMES = 3000 };

static void *live(void *user)
{
    unsigned vcpu = (unsigned)(uintptr_t)user;

    run(vcpu, TIMES);
    stand_in_end(vcpu);
    return NULL;
}

/* Each wave begins before the one before it has ended, and indexes are used again. */
static void waves(const char *socket_name)
{
    pthread_t threads[WAVES][WIDTH];

    begin(socket_name);
    for (unsigned w = 0; w < WAVES; w++) {
        for (unsigned i = 0; i < WIDTH; i++) {
            unsigned vcpu = 1 + w % 2 * WIDTH + i;

            if (w >= 2)
                join(threads[w - 2][i]);
            stand_in_begin(vcpu);
            pthread_create(&threads[w][i], NULL, live, (void *)(uintptr_t)vcpu);
        }
        run(0, TIMES);
    }
    for (unsigned w = WAVES - 2; w < WAVES; w++)
        for (unsigned i = 0; i < WIDTH; i++)
            join(threads[w][i]);
    stand_in_exit();
}

static void waves_of(unsigned flags, int at_level)
{
    const uint64_t times = (uint64_t)TIMES * (WAVES * WIDTH + WAVES);
    struct wire_setup setup;
    struct heard heard;

    level = at_level;
    hear_setup(&setup, flags, 512);
    hear(waves, &setup, &heard, NULL, NULL);
    assert_good(&heard);
    assert_int_equal(heard.threads, WAVES * WIDTH + 1);
    assert_true(heard.slot_end <= 2 * WIDTH + 1);
    assert_operations(&heard, times * LOOP_SIZE, 512);
    if (flags & WIRE_STAT)
        for (unsigned i = 0; i < LOOP_SIZE; i++)
            assert_int_equal(heard_executed(&heard, LOOP_PC + 4 * (uint64_t)i), times);
}

static void test_waves(void **state)
{
    (void)state;
    waves_of(0, 1);
    waves_of(0, 3); /* QEMU counts by itself */
    waves_of(WIRE_FUNCTIONAL, 1);
    waves_of(WIRE_STAT, 1);
    waves_of(WIRE_STAT | WIRE_FUNCTIONAL, 1);
    waves_of(WIRE_CORE | WIRE_FUNCTIONAL, 1);
    waves_of(WIRE_STAT | WIRE_CORE | WIRE_FUNCTIONAL, 1);
}

/* ---- Many at once --------------------------------------------------------------------------- */

enum { MANY = 200 };

static pthread_barrier_t together;

static void *live_together(void *user)
{
    unsigned vcpu = (unsigned)(uintptr_t)user;

    run(vcpu, 300);
    meet(vcpu, &together);
    run(vcpu, 300);
    stand_in_end(vcpu);
    return NULL;
}

static void many(const char *socket_name)
{
    pthread_t threads[MANY];

    begin(socket_name);
    pthread_barrier_init(&together, NULL, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        stand_in_begin(i + 1);
        pthread_create(&threads[i], NULL, live_together, (void *)(uintptr_t)(i + 1));
    }
    for (unsigned i = 0; i < MANY; i++)
        join(threads[i]);
    run(0, 1);
    stand_in_exit();
}

static void test_many(void **state)
{
    static const struct {
        unsigned flags;
        int level;
    } ways[] = {{0, 1}, {0, 3}, {WIRE_CORE | WIRE_FUNCTIONAL, 1}};
    struct wire_setup setup;
    struct heard heard;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        level = ways[i].level;
        hear_setup(&setup, ways[i].flags, 512);
        hear(many, &setup, &heard, NULL, NULL);
        assert_good(&heard);
        assert_int_equal(heard.threads, MANY + 1);
        /* One each, and the lowest; the first thread runs last, but with a merge it has its own. */
        assert_int_equal(heard.slot_end, ways[i].flags ? MANY + 1 : MANY);
        assert_operations(&heard, ((uint64_t)MANY * 600 + 1) * LOOP_SIZE, 512);
    }
}

/* Loads, and those of which the machine said where they were served and how long they took. */
struct known {
    unsigned loads, sources, latencies;
};

static void see_known(const struct spe_record *r, void *user)
{
    struct known *known = user;

    if (r->op_class != SPE_CLASS_LDST || (r->op & 1))
        return;
    known->loads++;
    known->sources += (r->has & SPE_HAS_SOURCE) != 0;
    known->latencies += spe_record_has_counter(r, SPE_COUNTER_TOTAL) && r->counter[0] > 1;
}

/* The functional model has 64 cpus. The other threads run unrecorded, which is said: nothing is
 * made up for them. */
static void test_more_than_cpus(void **state)
{
    struct wire_setup setup;
    struct heard heard;
    struct known known = {0};

    (void)state;
    level = 1;
    hear_setup(&setup, WIRE_FUNCTIONAL, 256);
    setup.config |= UINT64_C(1) << 16; /* jitter: every place of the loop is met */
    hear(many, &setup, &heard, see_known, &known);
    assert_good(&heard);
    assert_int_equal(heard.slot_end, setup.cpus);
    assert_int_equal(heard.threads + heard.troubles, MANY + 1);
    assert_true(known.loads > 50);
    assert_int_equal(known.sources, known.loads);
    assert_int_equal(known.latencies, known.loads);
    for (unsigned i = 0; i < 3; i++)
        assert_non_null(
            strstr(heard.trouble[i], "the functional model has no CPU for another one"));
}

/* ---- The end of the process ----------------------------------------------------------------- */

static void *end_late(void *user)
{
    unsigned vcpu = (unsigned)(uintptr_t)user;

    run(vcpu, 300);
    meet(vcpu, &together);
    stand_in_end(vcpu);
    return NULL;
}

/* Threads end just when the process does. */
static void end_at_once(const char *socket_name)
{
    pthread_t threads[WIDTH];

    begin(socket_name);
    pthread_barrier_init(&together, NULL, WIDTH + 1);
    for (unsigned i = 0; i < WIDTH; i++) {
        stand_in_begin(i + 1);
        pthread_create(&threads[i], NULL, end_late, (void *)(uintptr_t)(i + 1));
    }
    run(0, 300);
    meet(0, &together);
    stand_in_exit();
    for (unsigned i = 0; i < WIDTH; i++)
        pthread_join(threads[i], NULL);
}

static void test_end_at_once(void **state)
{
    struct wire_setup setup;
    struct heard heard;

    (void)state;
    level = 1;
    for (unsigned round = 0; round < 20; round++) {
        hear_setup(&setup, WIRE_STAT | WIRE_FUNCTIONAL | (round % 2 ? WIRE_CORE : 0), 512);
        hear(end_at_once, &setup, &heard, NULL, NULL);
        assert_good(&heard);
        assert_int_equal(heard.threads, WIDTH + 1);
        assert_int_equal(heard_executed(&heard, LOOP_PC), (WIDTH + 1) * 300);
        assert_int_equal(heard.statistics.operations, (WIDTH + 1) * 300 * LOOP_SIZE);
    }
}

/* ---- Much code ------------------------------------------------------------------------------ */

enum { BLOCKS = 900, LENGTH = STAND_IN_INSNS };

/* More instructions than there was room for when counting began, in fewer blocks than that. */
static void much_code(const char *socket_name)
{
    uint32_t words[LENGTH];

    for (unsigned i = 0; i < LENGTH; i++)
        words[i] = 0xd503201f;                                    /* nop */
    words[LENGTH - 1] = 0x14000000 | (-(LENGTH - 1) & 0x3ffffff); /* b to the block's beginning */
    begin(socket_name);
    run(0, 1);
    for (unsigned i = 0; i < BLOCKS; i++) {
        block = stand_in_translate(0x500000 + i * UINT64_C(4) * LENGTH, words, LENGTH);
        run(0, 2);
    }
    stand_in_exit();
}

static void test_much_code(void **state)
{
    struct wire_setup setup;
    struct heard heard;

    (void)state;
    level = 1;
    for (unsigned core = 0; core < 2; core++) {
        hear_setup(&setup, WIRE_STAT | WIRE_FUNCTIONAL | (core ? WIRE_CORE : 0), 512);
        hear(much_code, &setup, &heard, NULL, NULL);
        assert_int_equal(heard.status, 0);
        assert_int_equal(heard.executed, LOOP_SIZE + 2 * BLOCKS * LENGTH);
        assert_int_equal(heard.taken, BLOCKS);
    }
}

/* ---- A long life ---------------------------------------------------------------------------- */

enum { LONG = 1000000, SEEN = 100000 };

static unsigned short_life; /* times that the block runs */

/* As QEMU does, a vCPU runs and ends in a thread of its own. */
static void *live_shortly(void *vcpu)
{
    run((unsigned)(uintptr_t)vcpu, short_life);
    stand_in_end((unsigned)(uintptr_t)vcpu);
    return NULL;
}

static void let_live(unsigned vcpu, unsigned times)
{
    pthread_t thread;

    short_life = times;
    REQUIRE(pthread_create(&thread, NULL, live_shortly, (void *)(uintptr_t)vcpu) == 0);
    pthread_join(thread, NULL);
}

/* Each thread begins before the last one ends, so that indexes only grow. */
static void chain(const char *socket_name)
{
    unsigned pieces = 0;

    begin(socket_name);
    run(0, 1);
    for (unsigned i = 0; i < LONG; i++) {
        stand_in_begin(i + 1);
        if (i && i % SEEN == 0)
            let_live(i, 1);
        else
            stand_in_end(i);
    }
    for (unsigned i = 0; i < VCPUS_PIECES; i++)
        pieces += vcpus_pieces[i] != NULL;
    REQUIRE(pieces == 1); /* there is memory for those that live */
    let_live(LONG, 1);
    stand_in_begin(UINT32_MAX);
    let_live(UINT32_MAX, 1);
    stand_in_exit();
}

static void test_chain(void **state)
{
    struct wire_setup setup;
    struct heard heard;

    (void)state;
    level = 1;
    hear_setup(&setup, 0, 512);
    hear(chain, &setup, &heard, NULL, NULL);
    assert_good(&heard);
    assert_int_equal(heard.threads, LONG / SEEN + 2);
    assert_int_equal(heard.slot_end, 1);
    assert_int_equal(heard.statistics.operations, (LONG / SEEN + 2) * LOOP_SIZE);
}

/* ---- Threads that cannot be recorded -------------------------------------------------------- */

static int limited;

static void under_limit(const char *socket_name)
{
    struct rlimit limit, old;

    begin(socket_name);
    run(0, 1);
    REQUIRE(getrlimit(limited, &limit) == 0);
    old = limit;
    limit.rlim_cur = 0;
    REQUIRE(setrlimit(limited, &limit) == 0);
    for (unsigned i = 1; i <= 3; i++) {
        stand_in_begin(i);
        let_live(i, 100);
    }
    REQUIRE(setrlimit(limited, &old) == 0);
    stand_in_begin(4); /* recorded again, in the slot that those had */
    let_live(4, 100);
    stand_in_exit();
}

static void test_limits(void **state)
{
    static const int limits[] = {RLIMIT_NOFILE, RLIMIT_FSIZE};
    static const char *const why[] = {"a thread could not be recorded: Too many open files",
                                      "a thread could not be recorded: File too large"};
    struct wire_setup setup;
    struct heard heard;

    (void)state;
    level = 1;
    for (unsigned i = 0; i < 4; i++) {
        hear_setup(&setup, WIRE_FUNCTIONAL | (i / 2 ? WIRE_CORE : 0), 512);
        limited = limits[i % 2];
        hear(under_limit, &setup, &heard, NULL, NULL);
        assert_good(&heard);
        assert_int_equal(heard.threads, 2);
        assert_int_equal(heard.slot_end, 2);
        assert_int_equal(heard.statistics.operations, 101 * LOOP_SIZE);
        assert_int_equal(heard.troubles, 3);
        for (unsigned j = 0; j < 3; j++)
            assert_string_equal(heard.trouble[j], why[i % 2]);
    }
}

/* ---- Two threads and a line -------------------------------------------------------------------
 */

enum { ROUNDS = 20000 };

static uint64_t apart; /* bytes between what the two access */

static void *use_line(void *user)
{
    unsigned vcpu = (unsigned)(uintptr_t)user;

    pthread_barrier_wait(&together);
    for (unsigned i = 0; i < ROUNDS; i++)
        stand_in_run(vcpu, block, 0x10000 + vcpu * apart);
    stand_in_end(vcpu);
    return NULL;
}

static void two(const char *socket_name)
{
    pthread_t threads[2];

    begin(socket_name);
    pthread_barrier_init(&together, NULL, 2);
    for (unsigned i = 0; i < 2; i++) {
        stand_in_begin(i + 1);
        pthread_create(&threads[i], NULL, use_line, (void *)(uintptr_t)(i + 1));
    }
    for (unsigned i = 0; i < 2; i++)
        join(threads[i]);
    stand_in_exit();
}

struct served {
    unsigned loads, elsewhere; /* not by L1 */
};

static void see_source(const struct spe_record *r, void *user)
{
    struct served *served = user;

    if (r->op_class != SPE_CLASS_LDST || (r->op & 1))
        return;
    served->loads++;
    served->elsewhere += r->source != 0;
}

/* They meet in modelled time, however the host lets them run. */
static void test_line(void **state)
{
    struct wire_setup setup;
    struct heard heard;

    (void)state;
    level = 1;
    for (apart = 8; apart <= 64; apart += 56) {
        struct served served = {0};

        hear_setup(&setup, WIRE_CORE | WIRE_FUNCTIONAL, 256);
        setup.config |= UINT64_C(1) << 16; /* jitter, or one of the loop's places is never met */
        hear(two, &setup, &heard, see_source, &served);
        assert_good(&heard);
        assert_int_equal(heard.statistics.operations, 2 * ROUNDS * LOOP_SIZE);
        assert_true(served.loads > 50);
        if (apart == 8)
            assert_true(served.elsewhere * 4 > served.loads);
        else
            assert_true(served.elsewhere * 20 < served.loads);
    }
}

/* ---- One wakes another ------------------------------------------------------------------------
 */

enum { FUTEX_WAKE = 1, LONG_CALL = 50000 /* us */ };

static unsigned waker_takes, woken_takes;
static pthread_barrier_t asleep;

static void *be_woken(void *user)
{
    unsigned vcpu = (unsigned)(uintptr_t)user;

    stand_in_call(vcpu, FUTEX, (uint64_t[8]){0x5000});
    pthread_barrier_wait(&asleep);
    pthread_barrier_wait(&together);
    usleep(woken_takes);
    stand_in_return(vcpu, FUTEX, -11); /* EAGAIN: it had not come to wait */
    for (unsigned i = 0; i < ROUNDS; i++)
        stand_in_run(vcpu, block, 0x10000);
    stand_in_end(vcpu);
    return NULL;
}

/* Where the host has other things to do, one of the two is back long before the other. */
static void *wake(void *user)
{
    unsigned vcpu = (unsigned)(uintptr_t)user;

    pthread_barrier_wait(&asleep);
    stand_in_run(vcpu, block, 0x10000);
    stand_in_call(vcpu, FUTEX, (uint64_t[8]){0x5000, FUTEX_WAKE, INT32_MAX});
    pthread_barrier_wait(&together);
    usleep(waker_takes);
    stand_in_return(vcpu, FUTEX, 0);
    for (unsigned i = 0; i < ROUNDS; i++)
        stand_in_run(vcpu, block, 0x10008);
    stand_in_end(vcpu);
    return NULL;
}

static void waking(const char *socket_name)
{
    pthread_t threads[2];

    begin(socket_name);
    pthread_barrier_init(&asleep, NULL, 2);
    pthread_barrier_init(&together, NULL, 2);
    for (unsigned i = 0; i < 2; i++) {
        stand_in_begin(i + 1);
        pthread_create(&threads[i], NULL, i ? wake : be_woken, (void *)(uintptr_t)(i + 1));
    }
    for (unsigned i = 0; i < 2; i++)
        join(threads[i]);
    stand_in_exit();
}

/* They meet all the same: waking is not waiting. */
static void test_waking(void **state)
{
    struct wire_setup setup;
    struct heard heard;

    (void)state;
    level = 1;
    for (unsigned late = 0; late < 2; late++) {
        struct served served = {0};

        waker_takes = late ? 0 : LONG_CALL;
        woken_takes = late ? LONG_CALL : 0;
        hear_setup(&setup, WIRE_CORE | WIRE_FUNCTIONAL, 256);
        setup.config |= UINT64_C(1) << 16; /* jitter */
        hear(waking, &setup, &heard, see_source, &served);
        assert_good(&heard);
        assert_true(served.loads > 50);
        assert_true(served.elsewhere * 4 > served.loads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waves),          cmocka_unit_test(test_many),
        cmocka_unit_test(test_more_than_cpus), cmocka_unit_test(test_end_at_once),
        cmocka_unit_test(test_much_code),      cmocka_unit_test(test_chain),
        cmocka_unit_test(test_limits),         cmocka_unit_test(test_line),
        cmocka_unit_test(test_waking),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
