/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Known programs for the guest:
 *
 * - work sort|matrix|checksum ROUNDS: prints the seconds of CPU time of the best round.
 * - work shares ROUNDS: three functions that take 1, 2 and 5 parts of the instructions.
 * - work strides ROUNDS: loads and stores at addresses that it prints.
 * - work counter: prints CNTVCT_EL0.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline, noipa))

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static KEEP void sort(void)
{
    enum { N = 20000 };
    static uint32_t list[N];
    uint32_t state = 1;

    for (int i = 0; i < N; i++)
        list[i] = state = state * 1664525 + 1013904223;
    qsort(list, N, sizeof(list[0]), compare);
}

static KEEP void matrix(void)
{
    enum { N = 96 };
    static double a[N][N], b[N][N], c[N][N];

    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i][j] += a[i][k] * b[k][j];
}

static KEEP void checksum(void)
{
    static unsigned char bytes[1 << 18];
    volatile uint32_t result;
    uint32_t crc = ~0u;

    for (size_t i = 0; i < sizeof(bytes); i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    result = crc;
    (void)result;
}

/* A loop of as many instructions as it is told, two a turn. */
#define PART(name)                                                                                 \
    static KEEP void name(uint64_t turns)                                                          \
    {                                                                                              \
        __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns)::"cc");                     \
    }
PART(one_part)
PART(two_parts)
PART(five_parts)

static uint64_t numbers[4096] __attribute__((aligned(64)));

static KEEP void strides(void)
{
    uint64_t address = (uint64_t)numbers, end = address + sizeof(numbers), value;

    __asm__ volatile("1: ldr %1, [%0]\n\tadd %1, %1, #1\n\tstr %1, [%0, #8]\n\tadd %0, %0, #16\n\t"
                     "cmp %0, %2\n\tb.ne 1b"
                     : "+&r"(address), "=&r"(value)
                     : "r"(end)
                     : "cc", "memory");
}

static double cpu_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(const char *name, void (*program)(void), int rounds)
{
    double best = 1e9;

    for (int i = 0; i < rounds; i++) {
        double start = cpu_time(), took;

        program();
        took = cpu_time() - start;
        best = took < best ? took : best;
    }
    printf("%s %.4f\n", name, best);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rounds = argc > 2 ? atoi(argv[2]) : 1;

    if (strcmp(what, "sort") == 0) {
        measure(what, sort, rounds);
    } else if (strcmp(what, "matrix") == 0) {
        measure(what, matrix, rounds);
    } else if (strcmp(what, "checksum") == 0) {
        measure(what, checksum, rounds);
    } else if (strcmp(what, "strides") == 0) {
        printf("numbers 0x%llx %zu\n", (unsigned long long)(uintptr_t)numbers, sizeof(numbers));
        for (int i = 0; i < rounds; i++)
            strides();
    } else if (strcmp(what, "counter") == 0) {
        uint64_t now;

        __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now));
        printf("counter %llu\n", (unsigned long long)now);
    } else if (strcmp(what, "shares") == 0) {
        for (int i = 0; i < rounds; i++) {
            one_part(100000);
            two_parts(200000);
            five_parts(500000);
        }
    } else {
        fprintf(stderr, "work: sort, matrix, checksum, shares, strides or counter\n");
        return 2;
    }
    return 0;
}
