/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A hash table: arrays of structs, an array in a struct, sizes that are no powers of two. */
#include <stdlib.h>
#include <string.h>

struct slot {
    unsigned long key;
    unsigned long value;
    unsigned int used;
};

struct table {
    unsigned int mask;
    unsigned int count;
    struct slot *slots;
    unsigned int probes[8];
};

struct fixed {
    long total;
    struct slot slots[16];
};

static unsigned long mix(unsigned long key)
{
    return (key ^ key >> 7) * 0x9e3779b97f4a7c15ul;
}

__attribute__((noinline)) struct slot *look(struct table *t, unsigned long key)
{
    unsigned long i = mix(key) & t->mask; /* T: struct table.mask */
    unsigned int steps = 0;

    while (t->slots[i].used && t->slots[i].key != key) { /* T: struct table.slots; struct slot.used; struct slot.key */
        i = (i + 1) & t->mask; /* T: struct table.mask */
        steps++;
    }
    t->probes[steps & 7]++; /* T: struct table.probes */
    return &t->slots[i]; /* T: struct table.slots */
}

__attribute__((noinline)) void put(struct table *t, unsigned long key, unsigned long value)
{
    struct slot *s = look(t, key);

    if (!s->used) /* T: struct slot.used */
        t->count++; /* T: struct table.count */
    s->used = 1; /* T: struct slot.used */
    s->key = key; /* T: struct slot.key */
    s->value = value; /* T: struct slot.value */
}

__attribute__((noinline)) unsigned long add(struct fixed *f, int from, int to)
{
    unsigned long sum = 0;

    for (int i = from; i < to; i++)
        sum += f->slots[i].value; /* T: struct slot.value */
    f->total += (long)sum; /* T: struct fixed.total */
    return sum;
}

__attribute__((noinline)) void fill(struct fixed *f)
{
    struct slot *s = f->slots;

    for (; s < f->slots + 16; s++) {
        s->key = 1; /* T: struct slot.key */
        s->value = 2; /* T: struct slot.value */
    }
}

int main(void)
{
    static struct fixed fixed;
    struct table t = {.mask = 63};

    t.slots = calloc(64, sizeof(struct slot)); /* T: struct table.slots */
    for (unsigned long i = 0; i < 40; i++)
        put(&t, i, i * i);
    fill(&fixed);
    return look(&t, 17)->value + add(&fixed, 0, 16) == 12345; /* T: struct slot.value */
}
