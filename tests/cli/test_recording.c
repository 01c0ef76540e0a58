/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which part of a recording, in the words of a command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/recording.h"

static uint64_t time_of(const char *text)
{
    uint64_t ns;

    return recording_time(text, strlen(text), &ns) ? ns : UINT64_MAX;
}

static void test_recording_time(void **state)
{
    (void)state;
    assert_int_equal(time_of("12.5s"), 12500000000);
    assert_int_equal(time_of("12.5"), 12500000000);
    assert_int_equal(time_of("3"), 3000000000);
    assert_int_equal(time_of("0.000000001"), 1);
    assert_int_equal(time_of("0.0000000019"), 1);
    assert_int_equal(time_of("7ms"), 7000000);
    assert_int_equal(time_of("1.5us"), 1500);
    assert_int_equal(time_of("9ns"), 9);
    assert_int_equal(time_of(""), UINT64_MAX);
    assert_int_equal(time_of("s"), UINT64_MAX);
    assert_int_equal(time_of("1h"), UINT64_MAX);
    assert_int_equal(time_of("-1"), UINT64_MAX);
    assert_int_equal(time_of("99999999999999999999"), UINT64_MAX);
    assert_int_equal(time_of("99999999999s"), UINT64_MAX);
}

static void test_recording_list(void **state)
{
    uint32_t n[6];

    (void)state;
    assert_int_equal(recording_list("0-2,8", n, 6), 4);
    assert_int_equal(n[2], 2);
    assert_int_equal(n[3], 8);
    assert_int_equal(recording_list("4294967295", n, 6), 1);
    assert_int_equal(n[0], UINT32_MAX);
    assert_int_equal(recording_list("4294967296", n, 6), SPE_ERR_INVALID);
    assert_int_equal(recording_list("1-6", n, 6), 6);
    assert_int_equal(recording_list("1-7", n, 6), SPE_ERR_INVALID);
    assert_int_equal(recording_list("2-1", n, 6), SPE_ERR_INVALID);
    assert_int_equal(recording_list("", n, 6), SPE_ERR_INVALID);
    assert_int_equal(recording_list("1,", n, 6), SPE_ERR_INVALID);
    assert_int_equal(recording_list("1;2", n, 6), SPE_ERR_INVALID);
}

static void test_recording_options(void **state)
{
    struct recording r;
    const char *why;

    (void)state;
    recording_init(&r);
    assert_int_equal(recording_option(&r, RECORDING_TIME, "1s,2s", &why), 1);
    assert_int_equal(r.options.time_from, 1000000000);
    assert_int_equal(r.options.time_to, 2000000000);
    assert_int_equal(recording_option(&r, RECORDING_TIME, "2s,1s", &why), SPE_ERR_INVALID);
    assert_int_equal(recording_option(&r, RECORDING_TIME, ",", &why), SPE_ERR_INVALID);
    assert_int_equal(recording_option(&r, RECORDING_TIME, "1s", &why), SPE_ERR_INVALID);
    recording_init(&r);
    assert_int_equal(recording_option(&r, RECORDING_TIME, ",5ms", &why), 1);
    assert_int_equal(r.options.time_from, 0);
    assert_int_equal(r.options.time_to, 5000000);
    assert_int_equal(recording_option(&r, RECORDING_TID, "7,9", &why), 1);
    assert_int_equal(r.options.tid_count, 2);
    assert_int_equal(r.options.tids[1], 9);
    assert_int_equal(recording_option(&r, RECORDING_CPUS, "x", &why), SPE_ERR_INVALID);
    assert_int_equal(recording_option(&r, 'h', NULL, &why), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording_time),
        cmocka_unit_test(test_recording_list),
        cmocka_unit_test(test_recording_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
