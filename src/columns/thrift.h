/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Thrift's compact protocol, as much of it as Parquet's headers need. Fields of a struct are
 * written in ascending order of their numbers. */
#ifndef COLUMNS_THRIFT_H
#define COLUMNS_THRIFT_H

#include "base/buffer.h"

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I8 = 3,
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12,
};

#define THRIFT_DEPTH 8

struct thrift {
    struct buffer *out;
    int last[THRIFT_DEPTH]; /* field of each struct that is open */
    unsigned depth;
};

static inline void thrift_field(struct thrift *t, int field, enum thrift_type type)
{
    int step = field - t->last[t->depth];

    t->last[t->depth] = field;
    if (step <= 15) {
        buffer_byte(t->out, (unsigned)step << 4 | type);
        return;
    }
    buffer_byte(t->out, type);
    buffer_zigzag(t->out, field);
}

static inline void thrift_number(struct thrift *t, int field, enum thrift_type type, int64_t value)
{
    thrift_field(t, field, type);
    if (type == THRIFT_I8)
        buffer_byte(t->out, (uint8_t)value);
    else
        buffer_zigzag(t->out, value);
}

static inline void thrift_bool(struct thrift *t, int field, bool value)
{
    thrift_field(t, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

/* A text or bytes of a list. */
static inline void thrift_bytes(struct thrift *t, const void *bytes, size_t size)
{
    buffer_varint(t->out, size);
    buffer_put(t->out, bytes, size);
}

static inline void thrift_binary(struct thrift *t, int field, const void *bytes, size_t size)
{
    thrift_field(t, field, THRIFT_BINARY);
    thrift_bytes(t, bytes, size);
}

static inline void thrift_text(struct thrift *t, int field, const char *text)
{
    thrift_binary(t, field, text, strlen(text));
}

/* The elements follow. */
static inline void thrift_list(struct thrift *t, int field, enum thrift_type type, size_t count)
{
    thrift_field(t, field, THRIFT_LIST);
    if (count < 15) {
        buffer_byte(t->out, (unsigned)count << 4 | type);
        return;
    }
    buffer_byte(t->out, 0xf0 | type);
    buffer_varint(t->out, count);
}

/* A struct that is an element of a list, or the outermost one. */
static inline void thrift_begin(struct thrift *t)
{
    t->last[++t->depth] = 0;
}

static inline void thrift_end(struct thrift *t)
{
    buffer_byte(t->out, 0);
    t->depth--;
}

/* A struct that is a field. */
static inline void thrift_struct(struct thrift *t, int field)
{
    thrift_field(t, field, THRIFT_STRUCT);
    thrift_begin(t);
}

#endif
