/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Unions, bit fields, members of several sizes, packed ones. */
#include <stdint.h>

struct flags {
    unsigned ready : 1;
    unsigned level : 5;
    unsigned rest : 26;
    uint16_t port;
    uint64_t wide : 40;
    uint8_t last;
};

union number {
    int64_t integer;
    double real;
    char bytes[8];
};

struct value {
    int kind;
    union number as;
    union {
        uint32_t word;
        float single;
    };
};

struct __attribute__((packed)) header {
    uint8_t version;
    uint32_t length;
    uint16_t sum;
};

enum color { RED, GREEN };

struct mixed {
    uint8_t byte;
    uint16_t half;
    enum color color;
    int8_t sign;
    _Bool yes;
    float f;
};

__attribute__((noinline)) unsigned raise(struct flags *f)
{
    f->ready = 1; /* T: struct flags.ready */
    f->level += 3; /* T: struct flags.level */
    f->port++; /* T: struct flags.port */
    f->last = 7; /* T: struct flags.last */
    return f->rest; /* T: struct flags.rest */
}

__attribute__((noinline)) double get(struct value *v)
{
    if (v->kind == 1) /* T: struct value.kind */
        return (double)v->as.integer; /* T: union number.integer */
    if (v->kind == 2) /* T: struct value.kind */
        return v->as.real; /* T: union number.real */
    if (v->kind == 3) /* T: struct value.kind */
        return v->single; /* T: struct value.single */
    return v->word; /* T: struct value.word */
}

__attribute__((noinline)) void set(struct value *v, double d)
{
    v->kind = 2; /* T: struct value.kind */
    v->as.real = d; /* T: union number.real */
    v->word = 5; /* T: struct value.word */
}

__attribute__((noinline)) uint32_t parse(const struct header *h, int n)
{
    uint32_t sum = 0;

    for (int i = 0; i < n; i++) {
        if (h[i].version == 4) /* T: struct header.version */
            sum += h[i].length; /* T: struct header.length */
        sum += h[i].sum; /* T: struct header.sum */
    }
    return sum;
}

__attribute__((noinline)) int mix(struct mixed *m)
{
    int sum = m->byte; /* T: struct mixed.byte */

    sum += m->half; /* T: struct mixed.half */
    sum += m->color == GREEN; /* T: struct mixed.color */
    sum += m->sign; /* T: struct mixed.sign */
    if (m->yes) /* T: struct mixed.yes */
        sum += (int)m->f; /* T: struct mixed.f */
    m->half = (uint16_t)sum; /* T: struct mixed.half */
    m->color = RED; /* T: struct mixed.color */
    return sum;
}

int main(void)
{
    static struct flags flags;
    static struct value value;
    static struct header headers[8];
    static struct mixed mixed;

    set(&value, 2.5);
    return raise(&flags) + (unsigned)get(&value) + parse(headers, 8) + (unsigned)mix(&mixed) ==
           12345;
}
