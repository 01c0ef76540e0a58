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

static __thread unsigned looks;
static __thread unsigned seen_index;
static __thread void *seen_user;

static void look(unsigned index, void *user)
{
    looks++;
    seen_index = index;
    seen_user = user;
}

/* What is left, and whether it looked, after a call of the function for `count` with `left`. */
static bool goes(uint32_t count, int64_t left, bool looked)
{
    unsigned before = looks;
    int user;

    seen_user = NULL;
    here.left = left;
    countdown_of(count)(INDEX, &user);
    if (here.left != left - (int64_t)count || looks - before != looked)
        return false;
    return !looked || (seen_index == INDEX && seen_user == &user);
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

static void test_counts(void **state)
{
    uint32_t wrong = 1;
    pthread_t thread;

    (void)state;
    assert_null(countdown_of(1));
    countdown_begin(look);
    if (!countdown_of(1)) {
        print_message("there are none on this host\n");
        skip();
    }
    assert_int_equal(first_wrong(), 0);
    here.left = 1000;
    assert_int_equal(pthread_create(&thread, NULL, in_thread, &wrong), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(here.left, 1000); /* of this thread */
    assert_null(countdown_of(MOST + 1));
    assert_null(countdown_of(UINT32_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
