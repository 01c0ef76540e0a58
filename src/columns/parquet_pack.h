/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Numbers as Parquet's runs and packed bits (RLE), and as packed differences (DELTA_BINARY_PACKED).
 */
#ifndef COLUMNS_PARQUET_PACK_H
#define COLUMNS_PARQUET_PACK_H

#include "base/buffer.h"

static inline unsigned bits_of(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* Indexes of `width` bits, 1 to 16: equal ones in runs, the others packed. There is room for 8 more
 * behind them, which are written over. */
void pack_indexes(struct buffer *b, uint16_t *indexes, size_t count, unsigned width);

/* The first value, and the differences of neighbours. */
void pack_differences(struct buffer *b, const uint64_t *values, size_t count);

#endif
