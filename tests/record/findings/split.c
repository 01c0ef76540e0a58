/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Eight-byte loads that lie across two lines. Healthy: each in one. */
#include "problem.h"

static uint8_t bytes[128 * 64] __attribute__((aligned(64)));

static NOINLINE uint64_t sum_words(size_t offset, int times)
{
    uint64_t sum = 0, word;
    size_t line;

    while (times--) {
        for (line = 0; line < 126; line++) {
            memcpy(&word, bytes + 64 * line + offset, sizeof(word));
            sum += word;
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    printf("%u\n", (unsigned)sum_words(is_healthy(argc, argv) ? 56 : 60, 12000));
    return 0;
}
