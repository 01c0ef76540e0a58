/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The functions that count a block down: each takes its number, of the thread that calls it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "qemu/countdown.h"
#include "qemu/unit.h"

enum { INDEX = 0x12345678, MOST = 127 };

static __thread unsigned looks, follows;
static __thread unsigned seen_index;
static __thread void *seen_user;

static void look(unsigned index, void *user)
{
    looks++;
    seen_index = index;
    seen_user = user;
}

static void follow(unsigned index, void *user)
{
    follows++;
    seen_index = index;
    seen_user = user;
}

static bool were_seen(const struct pe_block *b)
{
    return seen_index == INDEX && seen_user == b;
}

/* What is left, and whether it looked, after a call of the function for `count` with `left`. */
static bool goes(uint32_t count, int64_t left, bool looked)
{
    struct pe_block b = {.count = count};
    unsigned before = looks;

    seen_user = NULL;
    here.left = left;
    countdown_of (&b)(INDEX, &b);
    return here.left == left - (int64_t)count && looks - before == looked && !follows &&
           (!looked || were_seen(&b));
}

/* Nothing is counted or noted then. */
static bool follows_with(unsigned flow, uint8_t flow_of_block)
{
    struct pe_block b = {.count = 5, .flow = flow_of_block};

    follows = 0;
    here.left = 1000;
    here.block = NULL;
    here.flow = flow;
    countdown_of (&b)(INDEX, &b);
    return follows == 1 && were_seen(&b) && here.left == 1000 && !here.block && here.flow == flow;
}

static uint32_t first_wrong(void)
{
    for (uint32_t count = 1; count <= MOST; count++)
        if (!goes(count, count + 1, false) || !goes(count, count, false) ||
            !goes(count, count - 1, true) || !goes(count, INT64_MAX, false) ||
            !goes(count, -1, true) || !goes(count, -(INT64_C(1) << 62), true))
            return count;
    return 0;
}

static void *in_thread(void *user)
{
    *(uint32_t *)user = first_wrong();
    return user;
}

static bool there_are(const struct pe_block *b)
{
    if (!countdown_of(b))
        print_message("there are none on this host\n");
    return countdown_of(b);
}

static void test_counts(void **state)
{
    const struct pe_block one = {.count = 1, .flow = FLOW_RETURN}, many = {.count = MOST + 1};
    uint32_t wrong = 1;
    pthread_t thread;

    (void)state;
    assert_null(countdown_of(&one));
    countdown_begin(look, NULL);
    if (!there_are(&one))
        skip();
    here.block = NULL;
    here.flow = 1;
    assert_int_equal(first_wrong(), 0);
    assert_null(here.block);
    here.left = 1000;
    assert_int_equal(pthread_create(&thread, NULL, in_thread, &wrong), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(here.left, 1000); /* of this thread */
    assert_null(countdown_of(&many));
}

static void test_calls(void **state)
{
    const struct pe_block after = {.count = 5, .flow = FLOW_AFTER_CALL | FLOW_MARKED};
    const struct pe_block ends = {.count = 5, .flow = FLOW_CALL}, many = {.count = MOST + 1};

    (void)state;
    countdown_begin(look, follow);
    if (!there_are(&after))
        skip();
    here.flow = 0;
    assert_int_equal(first_wrong(), 0);
    here.left = 1000;
    countdown_of (&after)(INDEX, (void *)(uintptr_t)&after);
    assert_int_equal(here.left, 995);
    assert_ptr_equal(here.block, &after);
    assert_int_equal(here.flow, 0);
    assert_true(follows_with(FLOW_RETURN, 0));
    assert_true(follows_with(1u << 31, 0));
    assert_true(follows_with(0, FLOW_HANDLER));
    assert_null(countdown_of(&ends));
    assert_null(countdown_of(&many));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
