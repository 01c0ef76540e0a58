/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Data of three kinds: beside other data in one cache line, in .bss, and in .bss far behind. */
struct {
    long filler, sums[6];
} stats __attribute__((aligned(16))) = {1, {0}};
static long table[8192];

int main(void)
{
    for (long i = 0; i < 200000; i++) {
        *(volatile long *)&stats.sums[i & 3] += i;
        *(volatile long *)&table[i * 8 & 8191] += i;
    }
    return 0;
}
