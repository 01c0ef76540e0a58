/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Structs and arrays on the stack, parameters by value, spilled variables. */
#include <string.h>

struct span {
    long from, to;
};

struct big {
    int kind;
    struct span spans[4];
    long extra[6];
};

struct pair {
    struct span *first;
    long n;
};

void use(void *p);

__attribute__((noinline)) void use(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

__attribute__((noinline)) long local(long n)
{
    struct span s;
    struct big b;

    memset(&b, 0, sizeof(b));
    s.from = n; /* T: struct span.from */
    s.to = n + 1; /* T: struct span.to */
    use(&s);
    use(&b);
    b.kind += 3; /* T: struct big.kind */
    b.spans[1].to += s.from; /* T: struct span.to; struct span.from */
    use(&b);
    return s.to + b.spans[n & 3].from + b.kind; /* T: struct span.to; struct span.from; struct big.kind */
}

__attribute__((noinline)) long given(struct big b, int i)
{
    b.extra[i] += b.kind; /* T: struct big.extra; struct big.kind */
    use(&b);
    return b.extra[2]; /* T: struct big.extra */
}

__attribute__((noinline)) long in_registers(struct pair p)
{
    long sum = 0;

    for (long i = 0; i < p.n; i++)
        sum += p.first[i].to; /* T: struct span.to */
    return sum;
}

__attribute__((noinline)) struct span result(long n)
{
    struct span s = {n, n * 2};

    return s;
}

__attribute__((noinline)) void out(struct span *s, long n)
{
    *s = result(n); /* T: struct span.from; struct span.to; struct span */
    s->from -= 1; /* T: struct span.from */
}

__attribute__((noinline)) long table(int n)
{
    long numbers[12];
    long sum = 0;

    for (int i = 0; i < 12; i++)
        numbers[i] = i * n; /* T: long int */
    use(numbers);
    for (int i = 0; i < 12; i++)
        sum += numbers[i]; /* T: long int */
    return sum;
}

int main(void)
{
    static struct big big;
    static struct span spans[8];
    struct pair pair = {spans, 8};

    out(&spans[3], 5);
    return local(2) + given(big, 1) + in_registers(pair) + table(3) == 12345;
}
