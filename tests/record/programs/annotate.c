/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A list that is walked, with an inlined function, calls through pointers and branches that nobody
 * can predict: what `spe annotate` has to show. */
#include <stdlib.h>

struct node {
    struct node *next;
    long value[7];
};

typedef long operation(long);

static inline __attribute__((always_inline)) struct node *step(struct node *n)
{
    return n->next;
}

static long odd(long x)
{
    return x & 1;
}

static long even(long x)
{
    return x + 3;
}

__attribute__((noinline)) long walk(struct node *n, int steps, operation *const *operations)
{
    long sum = 0;

    while (steps--) {
        n = step(n);
        if (((unsigned long)n >> 6) % 3 == 1)
            sum += operations[steps & 1](sum);
        else
            sum ^= n->value[0];
    }
    if (sum == 42) {
        n->value[1] = sum;
        n->value[2] = -sum;
        n->value[3] = sum * 3;
        n->value[4] = sum * 5;
        n->value[5] = sum * 7;
    }
    return sum;
}

int main(void)
{
    enum { COUNT = 1 << 15 };
    static operation *const operations[] = {odd, even};
    struct node *nodes = calloc(COUNT, sizeof(*nodes));
    unsigned x = 1;

    for (int i = 0; i < COUNT; i++) {
        x = x * 1664525 + 1013904223;
        nodes[i].next = &nodes[(i + (x >> 17)) % COUNT];
        nodes[i].value[0] = i;
    }
    return walk(nodes, 300000, operations) == 1;
}
