/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/flatbuffer.h"

#define SLOT 8u

void flat_align(struct buffer *b, size_t to)
{
    while (b->size % to && !b->failed)
        buffer_byte(b, 0);
}

static void put16(struct buffer *b, unsigned value)
{
    uint16_t v = (uint16_t)value;

    buffer_put(b, &v, sizeof(v));
}

static void zeros(struct buffer *b, size_t count)
{
    uint8_t *to = count ? buffer_room(b, count) : NULL;

    if (to) {
        memset(to, 0, count);
        b->size += count;
    }
}

size_t flat_table(struct buffer *b, unsigned fields)
{
    unsigned count = fields ? 32 - (unsigned)__builtin_clz(fields) : 0;
    size_t description, table;
    int32_t back;

    flat_align(b, SLOT);
    description = b->size;
    put16(b, 4 + 2 * count);
    put16(b, SLOT + SLOT * count);
    for (unsigned i = 0; i < count; i++)
        put16(b, fields >> i & 1 ? SLOT + SLOT * i : 0);
    flat_align(b, SLOT);
    table = b->size;
    back = (int32_t)(table - description);
    buffer_put(b, &back, sizeof(back));
    zeros(b, SLOT - sizeof(back) + SLOT * count);
    return table;
}

size_t flat_field(size_t table, unsigned field)
{
    return table + SLOT + SLOT * field;
}

void flat_set(struct buffer *b, size_t table, unsigned field, uint64_t value)
{
    if (!b->failed)
        memcpy(b->at + flat_field(table, field), &value, sizeof(value));
}

void flat_point(struct buffer *b, size_t from, size_t to)
{
    uint32_t distance = (uint32_t)(to - from);

    if (!b->failed)
        memcpy(b->at + from, &distance, sizeof(distance));
}

size_t flat_vector(struct buffer *b, size_t count, size_t element)
{
    uint32_t number = (uint32_t)count;
    size_t at;

    flat_align(b, SLOT);
    zeros(b, sizeof(number)); /* the elements are aligned, not their number */
    at = b->size;
    buffer_put(b, &number, sizeof(number));
    zeros(b, count * element);
    return at;
}

size_t flat_string(struct buffer *b, const char *text)
{
    uint32_t size = (uint32_t)strlen(text);
    size_t at;

    flat_align(b, sizeof(size));
    at = b->size;
    buffer_put(b, &size, sizeof(size));
    buffer_put(b, text, size + 1);
    return at;
}
