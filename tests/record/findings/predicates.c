/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* An SVE loop over rows that are shorter than a vector. Healthy: the same elements in long rows. */
#pragma GCC target("+sve")
#include <arm_sve.h>

#include "problem.h"

enum { ELEMENTS = 3 * 1024 };

static int32_t elements[ELEMENTS];

static NOINLINE int64_t sum_rows(uint64_t row, int times)
{
    svint32_t sum = svdup_s32(0);

    while (times--) {
        for (uint64_t from = 0; from < ELEMENTS; from += row) {
            for (uint64_t i = 0; i < row; i += svcntw()) {
                svbool_t some = svwhilelt_b32(i, row);
                sum = svadd_m(some, sum, svld1(some, elements + from + i));
            }
        }
    }
    return svaddv(svptrue_b32(), sum);
}

int main(int argc, char **argv)
{
    printf("%d\n", (int)sum_rows(is_healthy(argc, argv) ? ELEMENTS : 3, 200));
    return 0;
}
