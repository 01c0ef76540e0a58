/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Accesses that QEMU does not show: by registers where the interface has them, else absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/wait.h>

#include "hear.h"
#include "stand_in.h"

#define PC UINT64_C(0x400000)
#define ADDRESS(a) ((a)&UINT64_C(0xffffffffffffff))

enum { TURNS = 40000, ZVA = 0, PREFETCH, GATHER, PARTIAL, JUMP, INSNS };

static const uint32_t words[INSNS] = {
    0xd50b7421, /* dc zva, x1 */
    0xf9800040, /* prfm pldl1keep, [x2] */
    0xc5e1c060, /* ld1d {z0.d}, p0/z, [x3, z1.d, lsl #3] */
    0xe5e0e480, /* st1d {z0.d}, p1, [x4] */
    0x17fffffc, /* b to the first */
};

static int level;

static void set_registers(void)
{
    struct stand_in_registers *r = &stand_in_registers;
    const uint64_t indexes[2] = {0, 8};

    r->x[1] = 0x100064; /* in a block of 64 */
    r->x[2] = 0x200000;
    r->x[3] = 0x300000;
    r->x[4] = 0x400000;
    memcpy(r->z[1], indexes, sizeof(indexes));
    r->p[0][0] = r->p[0][1] = 1;
    r->p[1][0] = 1;
}

static void turns(const char *socket_name)
{
    struct qemu_plugin_tb *block;

    set_registers();
    stand_in_install(socket_name, level);
    stand_in_begin(0);
    block = stand_in_translate(PC, words, INSNS);
    for (unsigned i = 0; i < TURNS; i++)
        stand_in_run(0, block, 0);
    stand_in_exit();
}

struct seen {
    unsigned at[INSNS], with_va[INSNS], with_source[INSNS], timed[INSNS], partial[INSNS];
    unsigned elements[2];
    unsigned wrong;
};

static bool is_where(unsigned i, uint64_t va, struct seen *seen)
{
    switch (i) {
    case ZVA:
        return va == 0x100040;
    case PREFETCH:
        return va == 0x200000;
    case GATHER:
        seen->elements[va != 0x300000]++;
        return va == 0x300000 || va == 0x300040;
    default:
        return i == PARTIAL && va == 0x400000;
    }
}

static void see(const struct spe_record *r, void *user)
{
    struct seen *seen = user;
    unsigned i = (unsigned)((ADDRESS(r->address[SPE_ADDRESS_PC]) - PC) / 4);

    if (i >= INSNS) {
        seen->wrong++;
        return;
    }
    seen->at[i]++;
    seen->with_source[i] += (r->has & SPE_HAS_SOURCE) != 0;
    seen->timed[i] += spe_record_has_counter(r, SPE_COUNTER_TOTAL);
    seen->partial[i] += (r->events & UINT64_C(1) << SPE_EVENT_PARTIAL_PREDICATE) != 0;
    if (spe_record_has_address(r, SPE_ADDRESS_VA)) {
        seen->with_va[i]++;
        seen->wrong += !is_where(i, ADDRESS(r->address[SPE_ADDRESS_VA]), seen);
    }
}

static void run(unsigned flags, int at_level, struct seen *seen, struct heard *heard)
{
    struct wire_setup setup;

    memset(seen, 0, sizeof(*seen));
    level = at_level;
    hear_setup(&setup, flags, 256);
    strcpy(setup.cpu, "neoverse-v2");
    setup.config |= UINT64_C(1) << 16; /* jitter */
    hear(turns, &setup, heard, see, seen);
    assert_true(WIFEXITED(heard->status));
    assert_int_equal(WEXITSTATUS(heard->status), 0);
    assert_int_equal(heard->statistics.dropped, 0);
    assert_int_equal(seen->wrong, 0);
    for (unsigned i = 0; i < INSNS; i++)
        assert_true(seen->at[i] > 50);
    assert_int_equal(seen->with_va[JUMP], 0);
}

static void test_absent(void **state)
{
    static const unsigned models[] = {0, WIRE_FUNCTIONAL, WIRE_FUNCTIONAL | WIRE_CORE};
    struct heard heard;
    struct seen seen;

    (void)state;
    for (unsigned m = 0; m < 3; m++) {
        run(models[m], 1, &seen, &heard);
        for (unsigned i = ZVA; i <= PARTIAL; i++) {
            assert_int_equal(seen.with_va[i], 0);
            assert_int_equal(seen.with_source[i], 0);
            assert_int_equal(seen.timed[i], 0);
            assert_int_equal(seen.partial[i], 0);
        }
        assert_int_equal(seen.timed[JUMP], models[m] ? seen.at[JUMP] : 0);
    }
}

static void test_by_registers(void **state)
{
    static const unsigned models[] = {0, WIRE_STAT, WIRE_FUNCTIONAL, WIRE_FUNCTIONAL | WIRE_STAT,
                                      WIRE_FUNCTIONAL | WIRE_CORE};
    struct heard heard;
    struct seen seen;

    (void)state;
    for (unsigned m = 0; m < 5; m++) {
        bool modelled = models[m] & WIRE_FUNCTIONAL;

        run(models[m], 3, &seen, &heard);
        for (unsigned i = ZVA; i <= PARTIAL; i++) {
            assert_int_equal(seen.with_va[i], seen.at[i]);
            assert_int_equal(seen.timed[i], modelled ? seen.at[i] : 0);
            assert_int_equal(seen.with_source[i], modelled && i == GATHER ? seen.at[i] : 0);
        }
        assert_true(seen.elements[0] > 10);
        assert_true(seen.elements[1] > 10);
        if (!(models[m] & WIRE_CORE)) {
            assert_int_equal(seen.partial[PARTIAL], seen.at[PARTIAL]);
            assert_int_equal(seen.partial[GATHER], 0);
        }
    }
}

/* Exact counts: one miss of the line of each access, and never again. */
static void test_counts(void **state)
{
    struct heard heard;
    struct seen seen;
    uint64_t misses = 0;

    (void)state;
    run(WIRE_FUNCTIONAL | WIRE_STAT, 3, &seen, &heard);
    assert_int_equal(heard_executed(&heard, PC), TURNS);
    for (unsigned i = 0; i < heard.count_count; i++) {
        const struct wire_count *c = &heard.counts[i];

        misses += c->l1_misses;
        assert_int_equal((c->is & WIRE_IS_STORE) != 0,
                         c->pc == PC + 4 * ZVA || c->pc == PC + 4 * PARTIAL);
    }
    assert_int_equal(misses, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_by_registers),
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
