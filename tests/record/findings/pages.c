/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* One line in each of 4096 pages, in random order: the data fits into L2, the pages not into the
 * TLB. Healthy: the same lines, side by side. */
#include "problem.h"

#define PAGES 4096u

static uint8_t memory[PAGES][4096] __attribute__((aligned(4096)));

static NOINLINE uint64_t touch_pages(size_t distance, uint32_t times)
{
    const uint8_t *base = memory[0];
    uint32_t random = 1, i;
    uint64_t sum = 0;

    for (i = 0; i < times; i++) {
        size_t page = next_random(&random) >> 20;

        sum += base[page * distance + page % 61 * (distance == 64 ? 0 : 64)];
    }
    return sum;
}

int main(int argc, char **argv)
{
    printf("%u\n", (unsigned)touch_pages(is_healthy(argc, argv) ? 64 : 4096, 400000));
    return 0;
}
