/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* An interpreter: indirect branches, calls and returns, a small stack; and recursion. */
#include <stdint.h>
#include <stdio.h>

#define PART __attribute__((noinline))

enum { PUSH, ADD, MULTIPLY, DUPLICATE, SWAP, DROP, LESS, JUMP_IF, OPERATIONS };

struct state {
    int64_t stack[64];
    unsigned depth, at;
};

static uint8_t program[4096];

PART static void op_push(struct state *s)
{
    s->stack[s->depth++ & 63] = program[s->at++ & 4095];
}

PART static void op_add(struct state *s)
{
    s->stack[(s->depth - 2) & 63] += s->stack[(s->depth - 1) & 63];
    s->depth--;
}

PART static void op_multiply(struct state *s)
{
    s->stack[(s->depth - 2) & 63] *= s->stack[(s->depth - 1) & 63];
    s->depth--;
}

PART static void op_duplicate(struct state *s)
{
    s->stack[s->depth & 63] = s->stack[(s->depth - 1) & 63];
    s->depth++;
}

PART static void op_swap(struct state *s)
{
    int64_t t = s->stack[(s->depth - 1) & 63];

    s->stack[(s->depth - 1) & 63] = s->stack[(s->depth - 2) & 63];
    s->stack[(s->depth - 2) & 63] = t;
}

PART static void op_drop(struct state *s)
{
    s->depth--;
}

PART static void op_less(struct state *s)
{
    s->stack[(s->depth - 1) & 63] = s->stack[(s->depth - 1) & 63] < s->stack[(s->depth - 2) & 63];
}

PART static void op_jump_if(struct state *s)
{
    if (s->stack[--s->depth & 63] & 1)
        s->at += 3;
}

static void (*const operations[OPERATIONS])(struct state *) = {
    op_push, op_add, op_multiply, op_duplicate, op_swap, op_drop, op_less, op_jump_if,
};

PART static void assemble(void)
{
    uint32_t seed = 3;

    for (unsigned i = 0; i < sizeof(program); i++) {
        seed = seed * 1664525 + 1013904223;
        program[i] = (uint8_t)(seed >> 24);
    }
}

PART static int64_t run(unsigned steps)
{
    struct state s = {.depth = 8};

    while (steps--) {
        operations[program[s.at++ & 4095] % OPERATIONS](&s);
        s.depth = (s.depth & 31) + 32;
    }
    return s.stack[s.depth & 63];
}

PART static unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
    assemble();
    printf("%lld %u\n", (long long)run(1500000), fibonacci(25));
    return 0;
}
