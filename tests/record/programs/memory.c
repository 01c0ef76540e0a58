/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Loads from one array, stores to another, branches that a predictor cannot know. */
#include <stdint.h>
#include <stdlib.h>

uint64_t from[1 << 16], to[1 << 16];
volatile uint64_t sink;

__attribute__((noinline)) void loads(void)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < 1 << 16; i++)
        sum += *(volatile uint64_t *)&from[i];
    sink = sum;
}

__attribute__((noinline)) void stores(void)
{
    for (unsigned i = 0; i < 1 << 16; i++)
        *(volatile uint64_t *)&to[i] = i;
}

__attribute__((noinline)) void branches(void)
{
    uint64_t x = 88172645463325252;

    for (unsigned i = 0; i < 1 << 16; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if (x & 1)
            __asm__ volatile("nop");
    }
    sink = x;
}

int main(void)
{
    for (int i = 0; i < 6; i++) {
        loads();
        stores();
        branches();
    }
    return 0;
}
