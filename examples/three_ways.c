/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Three loops over the same million numbers. One waits for memory, one for its branches, one for
 * nothing: `spe record` and `spe report` tell which, and where.
 *
 *   aarch64-linux-gnu-gcc -O2 -g examples/three_ways.c -o three_ways
 *   spe record -- ./three_ways && spe report
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT (1 << 20)

static uint32_t next[COUNT], value[COUNT];

static void prepare(void)
{
    uint32_t seed = 1;

    for (uint32_t i = 0; i < COUNT; i++) {
        seed = seed * 1664525 + 1013904223;
        value[i] = seed >> 8;
        next[i] = i;
    }
    for (uint32_t i = COUNT - 1; i > 0; i--) { /* one cycle through all, in no order */
        seed = seed * 1664525 + 1013904223;
        uint32_t j = (uint32_t)((uint64_t)seed * i >> 32), t = next[i];

        next[i] = next[j];
        next[j] = t;
    }
}

/* In order: the caches and the prediction do all the work. */
__attribute__((noinline)) static uint64_t in_order(void)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < COUNT; i++)
        sum += value[i];
    return sum;
}

/* Half of the numbers, which half nobody can predict. */
__attribute__((noinline)) static uint64_t only_some(void)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < COUNT; i++)
        if (value[i] & 64) {
            sum += value[i];
            __asm__ volatile("" : "+r"(sum)); /* keep it a branch */
        }
    return sum;
}

/* In no order: every step is a miss. */
__attribute__((noinline)) static uint64_t in_no_order(void)
{
    uint64_t sum = 0;

    for (uint32_t i = 0, steps = COUNT; steps > 0; steps--) {
        sum += value[i];
        i = next[i];
    }
    return sum;
}

int main(void)
{
    uint64_t sum = 0;

    prepare();
    for (int round = 0; round < 2; round++)
        sum += in_order() + only_some() + in_no_order();
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
