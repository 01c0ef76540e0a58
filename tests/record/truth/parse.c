/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Functions that call each other: sums in brackets are written, read, and made a tree of. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PART __attribute__((noinline))

struct tree {
    char kind;
    int64_t number;
    struct tree *left, *right;
};

static char text[1 << 16];
static size_t length, at;
static uint32_t seed = 7;

PART static uint32_t next_random(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

/* Depth ends it. */
PART static void write_sum(unsigned depth)
{
    if (depth == 0 || next_random(8) == 0 || length > sizeof(text) - 64) {
        length += (size_t)sprintf(text + length, "%u", next_random(1000));
        return;
    }
    text[length++] = '(';
    write_sum(depth - 1);
    text[length++] = "+-*"[next_random(3)];
    write_sum(depth - 1);
    text[length++] = ')';
}

PART static struct tree *new_tree(char kind)
{
    struct tree *t = calloc(1, sizeof(*t));

    t->kind = kind;
    return t;
}

PART static struct tree *read_number(void)
{
    struct tree *t = new_tree('n');

    while (text[at] >= '0' && text[at] <= '9')
        t->number = t->number * 10 + (text[at++] - '0');
    return t;
}

PART static struct tree *read_sum(void)
{
    struct tree *left, *t;

    if (text[at] != '(')
        return read_number();
    at++;
    left = read_sum();
    t = new_tree(text[at++]);
    t->left = left;
    t->right = read_sum();
    at++;
    return t;
}

PART static int64_t value_of(const struct tree *t)
{
    switch (t->kind) {
    case '+':
        return value_of(t->left) + value_of(t->right);
    case '-':
        return value_of(t->left) - value_of(t->right);
    case '*':
        return (value_of(t->left) * value_of(t->right)) % 1000003;
    default:
        return t->number;
    }
}

PART static void free_tree(struct tree *t)
{
    if (!t)
        return;
    free_tree(t->left);
    free_tree(t->right);
    free(t);
}

int main(void)
{
    int64_t sum = 0;

    for (unsigned i = 0; i < 24; i++) {
        struct tree *t;

        length = at = 0;
        write_sum(12);
        t = read_sum();
        for (unsigned k = 0; k < 10; k++)
            sum += value_of(t) % 1000;
        free_tree(t);
    }
    printf("%lld\n", (long long)sum);
    return 0;
}
