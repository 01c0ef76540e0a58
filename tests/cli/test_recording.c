/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which part of a recording, in the words of a command line. */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

/* The options of a command that has these alone. */
static bool take(struct recording *r, const char *option, const char *value)
{
    static const struct command c = {.name = "test", .options = recording_options};
    char command[] = "test", words[2][32];
    char *argv[] = {command, words[0], value ? words[1] : NULL, NULL};
    int status;

    snprintf(words[0], sizeof(words[0]), "%s", option);
    snprintf(words[1], sizeof(words[1]), "%s", value ? value : "");
    optind = 0; /* getopt_long: from the beginning */
    return take_options(&c, r, value ? 3 : 2, argv, &status);
}

static void test_recording_options(void **state)
{
    static struct recording r;

    (void)state;
    recording_init(&r);
    assert_true(take(&r, "--time", "1s,2s"));
    assert_int_equal(r.options.time_from, 1000000000);
    assert_int_equal(r.options.time_to, 2000000000);
    assert_false(take(&r, "--time", "2s,1s"));
    assert_false(take(&r, "--time", ","));
    recording_init(&r);
    assert_true(take(&r, "--time", "1s"));
    assert_int_equal(r.options.time_from, 1000000000);
    assert_int_equal(r.options.time_to, 0); /* not limited */
    recording_init(&r);
    assert_true(take(&r, "--time", ",5ms"));
    assert_int_equal(r.options.time_from, 0);
    assert_int_equal(r.options.time_to, 5000000);
    assert_true(take(&r, "--tid", "7,9"));
    assert_int_equal(r.options.tid_count, 2);
    assert_int_equal(r.options.tids[1], 9);
    assert_false(take(&r, "--cpus", "x"));
    assert_true(take(&r, "-C", "3"));
    assert_int_equal(r.options.cpus[0], 3);
    assert_false(take(&r, "-x", NULL));
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
