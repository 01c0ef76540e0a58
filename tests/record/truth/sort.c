/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Five ways to sort, which branch and reuse memory differently. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 60000
#define FEW 1500
#define PART __attribute__((noinline))

static uint32_t values[N], work[N];

PART static void fill(uint32_t seed)
{
    for (size_t i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        values[i] = seed >> 4;
    }
}

PART static void insertion(uint32_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t x = v[i];
        size_t j = i;

        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

PART static void sift(uint32_t *v, size_t i, size_t n)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        uint32_t t = v[i];

        if (child + 1 < n && v[child + 1] > v[child])
            child++;
        if (v[child] <= t)
            return;
        v[i] = v[child];
        v[child] = t;
    }
}

PART static void heap(uint32_t *v, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(v, i, n);
    while (n-- > 1) {
        uint32_t t = v[0];

        v[0] = v[n];
        v[n] = t;
        sift(v, 0, n);
    }
}

PART static void merge(uint32_t *v, size_t middle, size_t n)
{
    size_t i = 0, j = middle, k = 0;

    while (i < middle && j < n)
        work[k++] = v[i] <= v[j] ? v[i++] : v[j++];
    while (i < middle)
        work[k++] = v[i++];
    while (j < n)
        work[k++] = v[j++];
    memcpy(v, work, n * sizeof(*v));
}

PART static void merge_sort(uint32_t *v, size_t n)
{
    if (n < 16) {
        insertion(v, n);
        return;
    }
    merge_sort(v, n / 2);
    merge_sort(v + n / 2, n - n / 2);
    merge(v, n / 2, n);
}

PART static void radix(uint32_t *v, size_t n)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        size_t starts[257] = {0};

        for (size_t i = 0; i < n; i++)
            starts[(v[i] >> shift & 255) + 1]++;
        for (unsigned d = 0; d < 256; d++)
            starts[d + 1] += starts[d];
        for (size_t i = 0; i < n; i++)
            work[starts[v[i] >> shift & 255]++] = v[i];
        memcpy(v, work, n * sizeof(*v));
    }
}

PART static uint64_t digest(void)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < N; i++)
        sum = sum * 31 + values[i];
    return sum;
}

int main(void)
{
    uint64_t sum = 0;

    for (uint32_t round = 0; round < 2; round++) {
        fill(round);
        heap(values, N);
        sum += digest();
        fill(round);
        merge_sort(values, N);
        sum += digest();
        fill(round);
        radix(values, N);
        sum += digest();
        fill(round);
        insertion(values, FEW);
        sum += digest();
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
