/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which stack the program is on, by the blocks that it runs and where it uses its stack pointer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "qemu/calls.h"

#define NOP 0xd503201fu
#define RET 0xd65f03c0u
#define BR_X16 0xd61f0200u
#define BLR_X1 0xd63f0020u
#define SVC 0xd4000001u
#define MOV_SIGRETURN 0xd2801168u
#define SAVE 0xa9be7bfdu    /* stp x29, x30, [sp, #-32]! */
#define RESTORE 0xa8c27bfdu /* ldp x29, x30, [sp], #32 */
#define LOAD 0xf9400be0u    /* ldr x0, [sp, #16] */
#define LOAD_X2 0xf940d802u /* ldr x2, [x0, #432] */
#define MOV_SP_X2 0x9100005fu
#define MOV_SP_X5 0x910000bfu
#define EOR_X5_X2_X3 0xca030045u
#define LOAD_X3 0xf9400043u /* ldr x3, [x2] */
#define ADD_SP_SP_X5 0x8b2563ffu

/* A program's thread. */
struct run {
    struct calls calls;
    const struct pe_block *last;
    struct pe_block *blocks[256];
    unsigned count;
};

static const struct pe_block nowhere;

static uint32_t bl(uint64_t from, uint64_t to)
{
    return 0x94000000u | ((uint32_t)((to - from) / 4) & 0x3ffffff);
}

static int begin(void **state)
{
    struct run *run = calloc(1, sizeof(*run));

    run->last = &nowhere;
    *state = run;
    return 0;
}

static int end(void **state)
{
    struct run *run = *state;

    calls_free(&run->calls);
    for (unsigned i = 0; i < run->count; i++)
        pe_block_destroy(run->blocks[i]);
    free(run);
    return 0;
}

static struct pe_block *block_of(struct run *run, uint64_t pc, uint32_t before,
                                 const uint32_t *words, size_t count)
{
    struct pe_block *b = pe_block_create(pc, words, count);

    assert_non_null(b);
    assert_true(run->count < 256);
    run->blocks[run->count++] = b;
    calls_mark(b, before);
    return b;
}

/* The block is run, without its accesses. */
static void go(struct run *run, const struct pe_block *b)
{
    if (calls_matter(run->last, b))
        calls_follow(&run->calls, run->last, b);
    run->last = b;
}

/* One instruction behind another. */
static struct pe_block *at(struct run *run, uint64_t pc, uint32_t word)
{
    struct pe_block *b = block_of(run, pc, NOP, &word, 1);

    go(run, b);
    return b;
}

/* Likewise behind a call, where it returns to. */
static struct pe_block *back_at(struct run *run, uint64_t pc, uint32_t word)
{
    struct pe_block *b = block_of(run, pc, bl(pc - 4, pc + 64), &word, 1);

    go(run, b);
    return b;
}

static void call(struct run *run, uint64_t from, uint64_t to)
{
    at(run, from, bl(from, to));
}

/* An instruction that uses the stack pointer. */
static void use_sp(struct run *run, uint64_t pc, uint32_t word, uint64_t va)
{
    struct pe_block *b = at(run, pc, word);

    assert_true(b->sites[0].by_sp);
    calls_access(&run->calls, &b->sites[0], va);
}

/* A function that saves registers, with the stack pointer from then on. */
static void enter(struct run *run, uint64_t pc, uint64_t sp)
{
    use_sp(run, pc, SAVE, sp);
    assert_int_equal(run->calls.sp, sp);
}

static void expect_stack(struct run *run, int count, ...)
{
    static uint64_t frames[WIRE_FRAMES];
    va_list list;

    assert_int_equal(calls_take(&run->calls, frames), count);
    va_start(list, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(frames[i], va_arg(list, uint64_t));
    va_end(list);
}

#define A(n) (UINT64_C(n))

/* main at 0x1000 with SP 0x8fe0 has called a function at 0x2000 with SP 0x8fc0, and that one at
 * 0x3000 with SP 0x8fa0. */
static void two_deep(struct run *run)
{
    enter(run, 0x1000, 0x8fe0);
    call(run, 0x1010, 0x2000);
    enter(run, 0x2000, 0x8fc0);
    call(run, 0x2010, 0x3000);
    enter(run, 0x3000, 0x8fa0);
    expect_stack(run, 2, A(0x2014), A(0x1014));
}

static void test_calls_and_returns(void **state)
{
    struct run *run = *state;

    expect_stack(run, 0);
    two_deep(run);
    at(run, 0x3010, RET);
    back_at(run, 0x2014, NOP);
    expect_stack(run, 1, A(0x1014));
    at(run, 0x2018, BLR_X1);
    at(run, 0x4000, NOP);
    expect_stack(run, 2, A(0x201c), A(0x1014));
    at(run, 0x4004, RET);
    back_at(run, 0x201c, RET);
    back_at(run, 0x1014, NOP);
    expect_stack(run, 0);
}

static void test_tail_call(void **state)
{
    struct run *run = *state;

    two_deep(run);
    at(run, 0x3010, BR_X16);
    at(run, 0x5000, NOP);
    expect_stack(run, 2, A(0x2014), A(0x1014));
    at(run, 0x5004, RET);
    back_at(run, 0x2014, NOP);
    expect_stack(run, 1, A(0x1014));
}

/* A block that ends with a call, but is left in the middle and goes on there: it has not called. */
static void test_block_left_in_the_middle(void **state)
{
    const uint32_t words[] = {NOP, NOP, bl(0x1008, 0x2000)};
    struct run *run = *state;

    go(run, block_of(run, 0x1000, NOP, words, 3));
    at(run, 0x1004, NOP);
    expect_stack(run, 0);
    at(run, 0x1008, bl(0x1008, 0x2000));
    at(run, 0x2000, NOP);
    expect_stack(run, 1, A(0x100c));
}

static void jump_with_sp(struct run *run, uint32_t move)
{
    const uint32_t words[] = {move, BR_X16};

    go(run, block_of(run, 0x9000, NOP, words, 2));
}

/* An exception: nothing is known until the stack pointer is used, in the handler or in what it
 * calls. */
static void test_exception(void **state)
{
    struct run *run = *state;

    two_deep(run);
    jump_with_sp(run, ADD_SP_SP_X5);
    at(run, 0x1100, NOP);
    expect_stack(run, CALLS_UNSETTLED);
    use_sp(run, 0x1104, LOAD, 0x8fe0 + 16);
    expect_stack(run, 0);
    call(run, 0x1108, 0x2000);
    at(run, 0x2000, NOP);
    expect_stack(run, 1, A(0x110c));
}

static void test_exception_that_calls_first(void **state)
{
    struct run *run = *state;

    two_deep(run);
    jump_with_sp(run, ADD_SP_SP_X5);
    at(run, 0x2100, bl(0x2100, 0x6000));
    at(run, 0x6000, NOP);
    expect_stack(run, CALLS_UNSETTLED);
    enter(run, 0x6004, 0x8fa0); /* where 0x2000's stack pointer was 32 above */
    expect_stack(run, 2, A(0x2104), A(0x1014));
}

/* A landing pad behind the very call that throws, of another frame of the same function. */
static void test_exception_in_recursion(void **state)
{
    struct run *run = *state;

    enter(run, 0x1000, 0x8fe0);
    call(run, 0x1010, 0x2000);
    enter(run, 0x2000, 0x8fc0);
    call(run, 0x2010, 0x2000);
    enter(run, 0x2000, 0x8fa0);
    call(run, 0x2020, 0x7000); /* throws */
    at(run, 0x7000, NOP);
    jump_with_sp(run, ADD_SP_SP_X5);
    back_at(run, 0x2024, NOP);
    use_sp(run, 0x2028, LOAD, 0x8fc0 + 16);
    expect_stack(run, 1, A(0x1014));
}

/* A function without a frame calls with its caller's stack pointer: which of the two it is that
 * goes on, that does not tell. */
static void test_exception_in_one_of_two(void **state)
{
    struct run *run = *state;

    enter(run, 0x1000, 0x8fe0);
    call(run, 0x1010, 0x2000);
    call(run, 0x2000, 0x3000);
    enter(run, 0x3000, 0x8fc0);
    expect_stack(run, 2, A(0x2004), A(0x1014));
    jump_with_sp(run, ADD_SP_SP_X5);
    at(run, 0x2100, NOP);
    use_sp(run, 0x2104, LOAD, 0x8fe0 + 16);
    expect_stack(run, CALLS_LOST);
}

/* ---- What memory tells ---------------------------------------------------------------------- */

static uint64_t memory_sp, memory_guard;

static uint64_t read_memory(uint64_t address)
{
    return address == 0xa000 ? memory_sp : address == 0xb000 ? memory_guard : 0;
}

/* setcontext: the stack pointer is loaded and moved, and the target is jumped to. */
static void switch_to(struct run *run, uint64_t sp)
{
    const uint32_t words[] = {LOAD_X2, MOV_SP_X2, BR_X16};
    struct pe_block *b = block_of(run, 0x9000, NOP, words, 3);

    calls_read_with(read_memory);
    memory_sp = sp;
    go(run, b);
    calls_load(&run->calls, &b->sites[0], 0xa000);
}

static void test_longjmp_with_guard(void **state)
{
    const uint32_t words[] = {LOAD_X2, LOAD_X3, EOR_X5_X2_X3, MOV_SP_X5, BR_X16};
    struct run *run = *state;
    struct pe_block *b;

    two_deep(run);
    b = block_of(run, 0x9000, NOP, words, 5);
    calls_read_with(read_memory);
    memory_guard = UINT64_C(0x123456789abcdef0);
    memory_sp = 0x8fe0 ^ memory_guard;
    go(run, b);
    calls_load(&run->calls, &b->sites[0], 0xa000);
    calls_load(&run->calls, &b->sites[1], 0xb000);
    back_at(run, 0x1040, NOP); /* behind setjmp */
    expect_stack(run, 0);
}

/* main's stack, a new one, and back to each where it was. */
static void test_coroutines(void **state)
{
    struct run *run = *state;

    two_deep(run);
    call(run, 0x3010, 0x9000);
    switch_to(run, 0x20000);
    at(run, 0xc000, NOP); /* begins */
    expect_stack(run, 0);
    enter(run, 0xc004, 0x1ffe0);
    call(run, 0xc010, 0xd000);
    enter(run, 0xd000, 0x1ffc0);
    call(run, 0xd010, 0x9000);
    switch_to(run, 0x8fa0);
    back_at(run, 0x3014, NOP);
    expect_stack(run, 2, A(0x2014), A(0x1014));
    call(run, 0x3018, 0x9000);
    switch_to(run, 0x1ffc0);
    back_at(run, 0xd014, NOP);
    expect_stack(run, 1, A(0xc014));
}

/* Two that wait at the same place: the stack pointer tells which. */
static void test_coroutines_of_one_function(void **state)
{
    struct run *run = *state;
    uint64_t stacks[] = {0x20000, 0x40000};

    enter(run, 0x1000, 0x8fe0);
    for (unsigned i = 0; i < 2; i++) {
        call(run, 0x1010 + 8 * i, 0x9000);
        switch_to(run, stacks[i]);
        at(run, 0xc000 + 0x100 * i, NOP);
        enter(run, 0xc004 + 0x100 * i, stacks[i] - 32);
        call(run, 0xc010 + 0x100 * i, 0xd000);
        enter(run, 0xd000, stacks[i] - 64);
        call(run, 0xd010, 0x9000);
        switch_to(run, 0x8fe0);
        back_at(run, 0x1014 + 8 * i, NOP);
        expect_stack(run, 0);
    }
    call(run, 0x1020, 0x9000);
    switch_to(run, stacks[0] - 64);
    back_at(run, 0xd014, NOP);
    expect_stack(run, 1, A(0xc014));
    call(run, 0xd018, 0x9000);
    switch_to(run, stacks[1] - 64);
    back_at(run, 0xd014, NOP);
    expect_stack(run, 1, A(0xc114));
    /* One that nobody has seen: whatever it is, it is none of these. */
    call(run, 0xd018, 0x9000);
    switch_to(run, 0x60000);
    back_at(run, 0xd014, NOP);
    expect_stack(run, CALLS_LOST);
}

/* ---- Returns to elsewhere ------------------------------------------------------------------- */

static void test_changed_return_address(void **state)
{
    struct run *run = *state;

    two_deep(run);
    at(run, 0x3010, RET);
    at(run, 0x7000, NOP); /* not where it was called from */
    expect_stack(run, CALLS_UNSETTLED);
    use_sp(run, 0x7004, LOAD, 0x8fc0 + 16);
    expect_stack(run, CALLS_LOST);
    at(run, 0x7008, RET);
    back_at(run, 0x2014, NOP); /* there, at last */
    expect_stack(run, CALLS_UNSETTLED);
    use_sp(run, 0x2018, LOAD, 0x8fc0 + 16);
    expect_stack(run, 1, A(0x1014));
}

static void test_return_without_call(void **state)
{
    struct run *run = *state;

    at(run, 0x1000, RET);
    at(run, 0x2000, NOP);
    use_sp(run, 0x2004, LOAD, 0x8fc0 + 16);
    expect_stack(run, CALLS_LOST);
}

/* ---- Signals -------------------------------------------------------------------------------- */

static void end_handler(struct run *run)
{
    const uint32_t words[] = {MOV_SIGRETURN, SVC};

    go(run, block_of(run, 0xe000, NOP, words, 2));
}

static void test_signal(void **state)
{
    struct run *run = *state;

    calls_handler(0xf000);
    two_deep(run);
    at(run, 0x3010, bl(0x3010, 0x4000)); /* the signal comes when the call is done */
    at(run, 0xf000, NOP);
    expect_stack(run, 3, A(0x3014), A(0x2014), A(0x1014));
    enter(run, 0xf004, 0x70000); /* on a stack of its own */
    call(run, 0xf010, 0x6000);
    at(run, 0x6000, RET);
    back_at(run, 0xf014, RET);
    end_handler(run);
    at(run, 0x4000, NOP);
    expect_stack(run, 3, A(0x3014), A(0x2014), A(0x1014));
    at(run, 0x4004, RET);
    back_at(run, 0x3014, RET);
    back_at(run, 0x2014, NOP);
    expect_stack(run, 1, A(0x1014));
}

/* A load faults in front of a call, and is tried again. */
static void test_signal_of_a_fault(void **state)
{
    const uint32_t words[] = {NOP, LOAD, bl(0x3018, 0x4000)};
    struct run *run = *state;

    calls_handler(0xf000);
    two_deep(run);
    go(run, block_of(run, 0x3010, NOP, words, 3));
    at(run, 0xf000, RET);
    end_handler(run);
    at(run, 0x3014, LOAD);
    expect_stack(run, 2, A(0x2014), A(0x1014));
    at(run, 0x3018, bl(0x3018, 0x4000));
    at(run, 0x4000, NOP);
    expect_stack(run, 3, A(0x301c), A(0x2014), A(0x1014));
}

/* ---- Depth ---------------------------------------------------------------------------------- */

static void test_depth(void **state)
{
    struct run *run = *state;
    const struct pe_block *caller = block_of(run, 0x1000, NOP, (uint32_t[]){bl(0x1000, 0x1000)}, 1);
    const struct pe_block *leaf = block_of(run, 0x1000, NOP, (uint32_t[]){RET}, 1);
    const struct pe_block *back = block_of(run, 0x1004, bl(0x1000, 0x1000), (uint32_t[]){RET}, 1);
    static uint64_t frames[WIRE_FRAMES];
    const int depth = CALLS_DEPTH + 1000;

    for (int i = 0; i < depth; i++) {
        go(run, caller);
        assert_int_equal(calls_take(&run->calls, frames), i <= WIRE_FRAMES ? i : CALLS_DEEP);
    }
    go(run, leaf);
    for (int i = depth - 1; i >= 0; i--) {
        go(run, back);
        assert_int_equal(calls_take(&run->calls, frames), i <= WIRE_FRAMES ? i : CALLS_DEEP);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_calls_and_returns),
        TEST(test_tail_call),
        TEST(test_block_left_in_the_middle),
        TEST(test_exception),
        TEST(test_exception_that_calls_first),
        TEST(test_exception_in_recursion),
        TEST(test_exception_in_one_of_two),
        TEST(test_longjmp_with_guard),
        TEST(test_coroutines),
        TEST(test_coroutines_of_one_function),
        TEST(test_changed_return_address),
        TEST(test_return_without_call),
        TEST(test_signal),
        TEST(test_signal_of_a_fault),
        TEST(test_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
