/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Dense and strided floating point: blocked and plain products, a transposition, norms. */
#include <stdio.h>

#define N 160
#define PART __attribute__((noinline))

static double a[N][N], b[N][N], c[N][N];

PART static void fill(unsigned seed)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            seed = seed * 1664525 + 1013904223;
            a[i][j] = seed >> 20;
            b[j][i] = seed & 1023;
        }
}

PART static void multiply_plain(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;

            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

PART static void multiply_rows(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i][j] += a[i][k] * b[k][j];
}

PART static void transpose(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            double t = c[i][j];

            c[i][j] = c[j][i];
            c[j][i] = t;
        }
}

PART static double norm(void)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (c[i][j] > sum)
                sum = c[i][j];
    return sum;
}

int main(void)
{
    double sum = 0;

    for (unsigned round = 0; round < 3; round++) {
        fill(round);
        multiply_plain();
        multiply_rows();
        for (int i = 0; i < 20; i++)
            transpose();
        for (int i = 0; i < 20; i++)
            sum += norm();
    }
    printf("%g\n", sum);
    return 0;
}
