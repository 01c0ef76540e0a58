/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The system counter never runs backwards, whatever its frequency. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "qemu/device.h"

#define SECOND UINT64_C(1000000000)

struct device device; /* without the rest of it */

static const uint64_t frequencies[] = {0,        1,          3,        1000,      19200000,
                                       24000000, 62500000,   99999999, 700000000, SECOND - 1,
                                       SECOND,   SECOND + 1, 1u << 31, UINT64_MAX};

static void test_monotonic(void **state)
{
    (void)state;
    for (unsigned f = 0; f < sizeof(frequencies) / sizeof(frequencies[0]); f++) {
        for (uint64_t second = 1; second < 2000000; second = second * 3 + 1) {
            uint64_t last = device_ticks(second * SECOND - 2000, frequencies[f]);

            for (int64_t ns = -1999; ns < 2000; ns++) {
                uint64_t now =
                    device_ticks((uint64_t)((int64_t)(second * SECOND) + ns), frequencies[f]);

                assert_true(now == last || now == last + 1);
                last = now;
            }
        }
    }
}

/* As QEMU's: a tick is a whole number of nanoseconds. */
static void test_ticks(void **state)
{
    (void)state;
    assert_int_equal(device_ticks(10 * SECOND, SECOND), 10 * SECOND);
    assert_int_equal(device_ticks(10 * SECOND, 62500000), 625000000);
    assert_int_equal(device_ticks(10 * SECOND, 24000000), 10 * SECOND / 41);
    assert_int_equal(device_ticks(10 * SECOND - 1, 1), 9);
    assert_int_equal(device_ticks(10 * SECOND, 1), 10);
    assert_int_equal(device_ticks(10 * SECOND, 0), 10 * SECOND);
    assert_int_equal(device_ticks(10 * SECOND, 3 * SECOND), 10 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monotonic),
        cmocka_unit_test(test_ticks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
