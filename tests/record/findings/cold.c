/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The same look-ups all the time; the first of them find a table of 32 MB in memory that nobody
 * has read yet. Healthy: the table that is used is small from the beginning. */
#include "problem.h"

#define WORDS (4u << 20)

static volatile uint64_t table[WORDS] __attribute__((aligned(4096)));

static NOINLINE uint64_t look_up(uint32_t mask, uint32_t times, uint32_t *random)
{
    uint64_t sum = 0;

    while (times--)
        sum += table[(next_random(random) >> 8 & mask) ^ (sum & 1)];
    return sum;
}

int main(int argc, char **argv)
{
    uint32_t random = 1, small = 1023;
    uint64_t sum = look_up(is_healthy(argc, argv) ? small : WORDS - 1, 150000, &random);

    sum += look_up(small, 1500000, &random);
    printf("%u\n", (unsigned)sum);
    return 0;
}
