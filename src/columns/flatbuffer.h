/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * FlatBuffers, written from front to back: a table first, then what it points to. Every field of a
 * table has eight bytes, which keeps all of them aligned; Arrow's headers are small.
 */
#ifndef COLUMNS_FLATBUFFER_H
#define COLUMNS_FLATBUFFER_H

#include "base/buffer.h"

/* A table with the fields whose bits are set, all zero: its position. */
size_t flat_table(struct buffer *b, unsigned fields);
/* The position of a field. */
size_t flat_field(size_t table, unsigned field);
/* A scalar of at most eight bytes. */
void flat_set(struct buffer *b, size_t table, unsigned field, uint64_t value);
/* Let the field, or an element of a vector of offsets, point to what comes next. */
void flat_point(struct buffer *b, size_t from, size_t to);
/* `count` elements, all zero, behind their number: the position of the number. */
size_t flat_vector(struct buffer *b, size_t count, size_t element);
size_t flat_string(struct buffer *b, const char *text);
/* Until the size is a multiple of 8. */
void flat_align(struct buffer *b, size_t to);

#endif
