/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What a sampled operation did is known at the next block: records belong to the right one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "a64.h"
#include "hear.h"
#include "stand_in.h"

enum { TURNS = 60000 };

/* The loop goes round twice, then on to a block of one instruction, and back with another. */
#define LAST_PC (LOOP_PC + 4 * LOOP_SIZE)
#define BACK_PC (LAST_PC + 4)

static const uint32_t load_alone[] = {0xf9400041}; /* ldr x1, [x2] */
static const uint32_t back[] = {0x17fffffa};       /* b to the loop's beginning */

static uint64_t va_of(uint64_t pc)
{
    return 0x100000 + (pc == LAST_PC ? 0x5000 : 0);
}

static int level;

static void turns(const char *socket_name)
{
    struct qemu_plugin_tb *loop, *alone, *jump;

    stand_in_install(socket_name, level);
    stand_in_begin(0);
    loop = stand_in_translate(LOOP_PC, loop_words, LOOP_SIZE);
    alone = stand_in_translate(LAST_PC, load_alone, 1);
    jump = stand_in_translate(BACK_PC, back, 1);
    for (unsigned i = 0; i < TURNS; i++) {
        stand_in_run(0, loop, va_of(LOOP_PC));
        stand_in_run(0, loop, va_of(LOOP_PC));
        stand_in_run(0, alone, va_of(LAST_PC));
        stand_in_run(0, jump, 0);
    }
    stand_in_exit();
}

struct seen {
    unsigned at[LOOP_SIZE + 2]; /* samples of each instruction */
    unsigned not_taken, wrong;
};

#define ADDRESS(a) ((a)&UINT64_C(0xffffffffffffff))

/* Is that what this instruction does? Without registers (level 3) all are 0. */
static bool is_right(const struct spe_record *r, uint64_t pc, struct seen *seen)
{
    unsigned i = (unsigned)((pc - LOOP_PC) / 4);
    bool load = i == 0 || pc == LAST_PC, store = i == 2, branch = i == 4 || pc == BACK_PC;
    bool has_target = spe_record_has_address(r, SPE_ADDRESS_TARGET), not_taken;

    if (load || store)
        return r->op_class == SPE_CLASS_LDST && (r->op & 1) == store &&
               spe_record_has_address(r, SPE_ADDRESS_VA) &&
               ADDRESS(r->address[SPE_ADDRESS_VA]) == (level < 3 ? va_of(pc) : 0);
    if (!branch)
        return r->op_class == SPE_CLASS_OTHER && !has_target &&
               !spe_record_has_address(r, SPE_ADDRESS_VA);
    not_taken = r->events & UINT64_C(1) << SPE_EVENT_NOT_TAKEN;
    if (i == 4)
        seen->not_taken += not_taken;
    return r->op_class == SPE_CLASS_BRANCH && has_target == !not_taken &&
           (not_taken || ADDRESS(r->address[SPE_ADDRESS_TARGET]) == LOOP_PC);
}

static void see(const struct spe_record *r, void *user)
{
    struct seen *seen = user;
    uint64_t pc = ADDRESS(r->address[SPE_ADDRESS_PC]);

    if (pc < LOOP_PC || pc > BACK_PC) {
        seen->wrong++;
        return;
    }
    seen->at[(pc - LOOP_PC) / 4]++;
    seen->wrong += !is_right(r, pc, seen);
}

static void check_samples(unsigned flags, int at_level)
{
    const uint64_t operations = (uint64_t)TURNS * 12;
    struct seen seen = {0};
    struct wire_setup setup;
    struct heard heard;

    level = at_level;
    hear_setup(&setup, flags, 256);
    setup.config |= UINT64_C(1) << 16; /* jitter, or a loop of 12 is met at one place */
    hear(turns, &setup, &heard, see, &seen);
    assert_true(WIFEXITED(heard.status));
    assert_int_equal(WEXITSTATUS(heard.status), 0);
    assert_int_equal(heard.statistics.operations, operations);
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(heard.statistics.dropped, 0);
    assert_int_equal(heard.statistics.records, heard.statistics.sampled);
    /* Instructions of the loop run twice as often; 4 sigma is about a quarter here. */
    for (unsigned i = 0; i < LOOP_SIZE + 2; i++) {
        uint64_t fair = heard.statistics.records * (i < LOOP_SIZE ? 2 : 1) / 12;

        assert_in_range(seen.at[i], fair * 2 / 3, fair * 3 / 2);
    }
    /* Of two turns one is taken. */
    assert_in_range(seen.not_taken, seen.at[4] / 3, seen.at[4] * 2 / 3);
}

static void test_samples(void **state)
{
    (void)state;
    check_samples(0, 1);
    check_samples(0, 3);
    check_samples(WIRE_FUNCTIONAL, 1);
    check_samples(WIRE_STAT | WIRE_FUNCTIONAL, 1);
    check_samples(WIRE_CORE | WIRE_FUNCTIONAL, 1);
    check_samples(WIRE_STAT | WIRE_CORE | WIRE_FUNCTIONAL, 1);
}

/* ---- Atomics --------------------------------------------------------------------------------- */

static const uint32_t swaps[] = {
    0xf8a08041, /* swpa x0, x1, [x2] */
    0xf9400043, /* ldr x3, [x2] */
    0xf8608041, /* swpl x0, x1, [x2] */
    0x17fffffd, /* b to the first */
};

static void swap(const char *socket_name)
{
    struct qemu_plugin_tb *tb;

    stand_in_install(socket_name, 1);
    stand_in_begin(0);
    tb = stand_in_translate(LOOP_PC, swaps, 4);
    for (unsigned i = 0; i < TURNS; i++)
        stand_in_run(0, tb, 0x100000 + UINT64_C(64) * (i % 4096));
    stand_in_exit();
}

static void add_cycles(const struct spe_record *r, void *user)
{
    *(uint64_t *)user += r->counter[SPE_COUNTER_TOTAL];
}

static uint64_t cycles_of_swaps(bool split)
{
    struct wire_setup setup;
    struct heard heard;
    uint64_t cycles = 0;

    stand_in_splits_atomics = split;
    hear_setup(&setup, WIRE_CORE | WIRE_FUNCTIONAL, 256);
    setup.config |= UINT64_C(1) << 16;
    hear(swap, &setup, &heard, add_cycles, &cycles);
    assert_int_equal(heard.statistics.operations, TURNS * 4);
    return cycles;
}

/* An atomic is one access, however QEMU tells it. */
static void test_atomics(void **state)
{
    (void)state;
    assert_int_not_equal(cycles_of_swaps(false), 0);
    assert_int_equal(cycles_of_swaps(true), cycles_of_swaps(false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_atomics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
