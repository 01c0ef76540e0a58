/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Bytes that grow. After a failure nothing is added any more: look at `failed` at the end. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buffer {
    uint8_t *at;
    size_t size, capacity;
    bool failed; /* there was no memory */
};

/* Room for `more` bytes behind those that are there, or NULL. Whoever fills it adds to `size`. */
uint8_t *buffer_room(struct buffer *b, size_t more);
void buffer_free(struct buffer *b);

static inline void buffer_put(struct buffer *b, const void *bytes, size_t size)
{
    uint8_t *to = size ? buffer_room(b, size) : NULL;

    if (to) {
        memcpy(to, bytes, size);
        b->size += size;
    }
}

static inline void buffer_byte(struct buffer *b, unsigned byte)
{
    uint8_t value = (uint8_t)byte;

    buffer_put(b, &value, 1);
}

/* Seven bits a byte, the lowest first. */
static inline void buffer_varint(struct buffer *b, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        buffer_byte(b, (unsigned)(value & 0x7f) | 0x80);
    buffer_byte(b, (unsigned)value);
}

/* Small numbers of both signs become small varints. */
static inline void buffer_zigzag(struct buffer *b, int64_t value)
{
    buffer_varint(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

#endif
