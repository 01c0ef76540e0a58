/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * One column of a batch as Parquet's pages: definition levels, values in the encoding that pays,
 * zstd. Every function works for one thread with memory of its own.
 */
#ifndef COLUMNS_PARQUET_ENCODE_H
#define COLUMNS_PARQUET_ENCODE_H

#include "base/buffer.h"
#include "columns/table.h"

/* Numbers are Parquet's. */
enum parquet_type { PARQUET_BOOLEAN = 0, PARQUET_INT32 = 1, PARQUET_INT64 = 2, PARQUET_BYTES = 6 };

enum parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_RLE = 3,
    PARQUET_DELTA = 5,
    PARQUET_DICTIONARY = 8,
};

/* The pages of a column in a row group, and what the footer says of them. */
struct chunk {
    struct buffer bytes;
    enum parquet_encoding encoding;
    size_t dictionary_size; /* bytes of the dictionary page at the beginning; 0: there is none */
    uint64_t uncompressed;  /* bytes, with headers */
    size_t values, nulls;
    uint8_t patience; /* row groups in which a dictionary is not tried again */
    uint8_t noise;    /* ... in which pages are taken for ones that do not become smaller */
    bool has_range;   /* min and max mean something */
    uint64_t min, max;
};

struct encoder; /* memory of a thread */

struct encoder *encoder_new(int level); /* NULL: no memory */
void encoder_free(struct encoder *e);   /* NULL is fine */

enum parquet_type parquet_type(const struct column *c);

/* SPE_OK or an error. Empties the chunk first: it is that of the row group before. */
int encode_chunk(struct encoder *e, const struct column *c, const struct cells *cells, size_t rows,
                 struct chunk *chunk);

#endif
