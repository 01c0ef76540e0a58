/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A branch on random data. Healthy: the data is sorted. */
#include "problem.h"

#define NUMBERS 16384u

static uint8_t numbers[NUMBERS];

static NOINLINE uint32_t count_large(void)
{
    uint32_t count = 0, i;

    for (i = 0; i < NUMBERS; i++) {
        if (numbers[i] >= 128) {
            count++;
            __asm__ volatile(""); /* not to become a conditional select */
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    uint32_t random = 1, count = 0, i;

    for (i = 0; i < NUMBERS; i++)
        numbers[i] =
            (uint8_t)(is_healthy(argc, argv) ? i * 256 / NUMBERS : next_random(&random) >> 24);
    for (i = 0; i < 50; i++)
        count += count_large();
    printf("%u\n", count);
    return 0;
}
