/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Memory without a file: a small allocation is on the heap, a large one is mapped. */
#include <stdlib.h>

int main(void)
{
    volatile long *small = malloc(64 << 10), *large = malloc(8 << 20);

    if (!small || !large)
        return 1;
    for (long i = 0; i < 200000; i++) {
        small[i & 8191] += i;
        large[i * 8 & 1048575] += i;
    }
    return 0;
}
