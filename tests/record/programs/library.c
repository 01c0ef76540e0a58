/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
int library_work(int n);

__attribute__((noinline)) int library_work(int n)
{
    volatile int sum = 0;

    for (int i = 0; i < n; i++)
        sum += i & 1;
    return sum == n / 2 ? 43 : 1;
}
