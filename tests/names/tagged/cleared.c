/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Memory that the C library's functions give back: compilers go on with their result. */
#include <string.h>

struct counts {
    unsigned of[64];
    long all;
};

struct line {
    struct line *next;
    char text[24];
};

__attribute__((noinline)) long count(const unsigned char *text, int n, unsigned *table)
{
    unsigned *const low = table, *const high = low + 64;
    long sum = 0;

    memset(table, 0, 512);
    for (int i = 0; i < n; i++) {
        low[text[i] & 63]++; /* T: unsigned int; unsigned char */
        high[text[i] >> 2]++; /* T: unsigned int; unsigned char */
    }
    for (int i = 0; i < 64; i++)
        sum += low[i] ^ high[i]; /* T: unsigned int */
    return sum;
}

__attribute__((noinline)) long tally(struct counts *c, const unsigned char *text, int n)
{
    memset(c, 0, sizeof(*c));
    for (int i = 0; i < n; i++) {
        c->of[text[i] & 63]++; /* T: struct counts.of; unsigned char */
        c->all += i; /* T: struct counts.all */
    }
    return c->all; /* T: struct counts.all */
}

__attribute__((noinline)) struct line *copy(struct line *to, const struct line *from)
{
    struct line *l = memcpy(to, from, sizeof(*to) * 64);

    l->next = to + 1; /* T: struct line.next */
    l->text[0] = 'a'; /* T: struct line.text */
    return l;
}

int main(int argc, char **argv)
{
    static unsigned table[128];
    static struct counts counts;
    static struct line lines[64], others[64];
    const unsigned char *text = (const unsigned char *)argv[0];

    return (int)(count(text, argc, table) + tally(&counts, text, argc) +
                 copy(lines, others)->text[argc]);
}
