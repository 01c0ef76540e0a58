/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "base/buffer.h"

#include <stdlib.h>

uint8_t *buffer_room(struct buffer *b, size_t more)
{
    size_t capacity = b->capacity ? b->capacity : 256;
    uint8_t *bigger;

    if (b->failed || more > SIZE_MAX / 4 - b->size) {
        b->failed = true;
        return NULL;
    }
    if (more <= b->capacity - b->size)
        return b->at + b->size;
    while (capacity - b->size < more)
        capacity *= 2;
    bigger = realloc(b->at, capacity);
    if (!bigger) {
        b->failed = true;
        return NULL;
    }
    b->at = bigger;
    b->capacity = capacity;
    return b->at + b->size;
}

void buffer_free(struct buffer *b)
{
    free(b->at);
    memset(b, 0, sizeof(*b));
}
