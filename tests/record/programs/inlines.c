/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Functions that are inlined into each other, calls through pointers, and a loop for vectors. For C
 * and C++. */
#ifdef __cplusplus
namespace space
{
#endif

static inline __attribute__((always_inline)) unsigned shift(unsigned s)
{
    s ^= s << 13;
    s ^= s >> 17;
    return s ^ s << 5;
}

static inline __attribute__((always_inline)) unsigned twice(unsigned s)
{
    s = shift(s);
    return s & 8 ? shift(s) : s;
}

static __attribute__((noinline)) unsigned odd(unsigned s)
{
    return s * 3;
}

static __attribute__((noinline)) unsigned even(unsigned s)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < (s & 7); i++)
        sum += i * s;
    return sum;
}

static unsigned table[256];

static __attribute__((noinline)) unsigned fill(unsigned s)
{
    for (unsigned i = 0; i < 256; i++)
        table[i] = table[i] * s + i;
    return table[s & 255];
}

__attribute__((noinline)) unsigned run(unsigned n, unsigned (*const calls[2])(unsigned))
{
    unsigned s = 1, sum = 0;

    for (unsigned i = 0; i < n; i++) {
        s = twice(s);
        sum += (s & 15) == 0 ? odd(s) : even(s); /* one line, three pieces of code */
        sum += calls[s >> 4 & 1](i);
    }
    return sum;
}

#ifdef __cplusplus
}
using namespace space;
#endif

int main(void)
{
    unsigned (*const calls[2])(unsigned) = {odd, even};

    for (unsigned i = 0; i < 2000; i++)
        fill(i);
    return run(60000, calls) == 1;
}
