/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What streams and bulk decoders keep. Callers of the library see none of it, so that it can
 * change. */
#ifndef FORMAT_STATE_H
#define FORMAT_STATE_H

#include <specimen/format.h>

/*
 * The stream over one buffer queue. Bytes arrive in pieces split anywhere; the answers do not
 * depend on where.
 */
struct spe_stream {
    struct spe_account account;
    const uint8_t *piece; /* what is being read; the caller's memory or carry[] */
    size_t piece_size, piece_pos;
    const uint8_t *next_piece; /* the caller's piece, while carry[] is read */
    size_t next_size;
    uint64_t offset;     /* stream offset of piece[0] */
    uint64_t skip_start; /* while resynchronising */
    uint8_t resyncing, skip_reason, ended, flags;
    int16_t first_header; /* of the last good record, -1 if there was none */
    uint16_t zeros;       /* last bytes seen while resynchronising */
    uint16_t carry_size;  /* bytes in carry[] from earlier pieces; the rest are of this one */
    uint8_t carry[2 * SPE_RECORD_MAX];
};

#define SPE_BULK_SHAPES 15
#define SPE_SHAPE_MAX 96 /* bytes of a record, and padding after it, that a shape covers */

/* Columns of the wide_* and narrow_* arrays. */
enum {
    WIDE_PC,
    WIDE_TARGET,
    WIDE_VA,
    WIDE_PA,
    WIDE_PREVIOUS,
    WIDE_EVENTS,
    WIDE_TIMESTAMP,
    WIDE_COLUMNS
};
enum {
#define COUNTER(name, NAME, sentence) NARROW_##NAME,
#include "format/counters.def"
    NARROW_SOURCE,
    NARROW_OP,
    NARROW_COLUMNS
};

/*
 * Where a record has its packets. Real CPUs emit few shapes, so one compare of all header
 * bytes tells which one it is, and every value is then a load from a known place.
 */
struct spe_shape {
    uint8_t mask[SPE_SHAPE_MAX]; /* 0xff where match[] must be found: headers and padding */
    uint8_t match[SPE_SHAPE_MAX];
    uint64_t wide_mask[WIDE_COLUMNS];
    uint32_t context_mask[2];
    uint16_t narrow_mask[NARROW_COLUMNS];
    uint16_t op_class; /* CLASS << 8 */
    uint16_t unknown;
    uint8_t wide_at[WIDE_COLUMNS], context_at[2], narrow_at[NARROW_COLUMNS];
    uint8_t
        row_from[80]; /* the same as one permutation of bytes: wide, contexts, narrow, constants */
    uint64_t mask_bits; /* mask[] of the first 64 bytes, a bit each */
    uint64_t row_mask;  /* of its first 64 bytes: those that come from the record */
    uint16_t tail_mask; /* of its last 16 */
    uint8_t tail[16];   /* what the others of the last 16 are */
    uint8_t has, addresses, counters;
    uint8_t size;    /* of the record */
    uint8_t advance; /* with the padding after it */
    uint8_t first_header;
};

/*
 * The bulk decoder is a stream that remembers the shapes of the records it has seen.
 */
struct spe_bulk {
    struct spe_stream stream;
    struct spe_shape shape[SPE_BULK_SHAPES];
    /* The tree that finds the shape which a record may have. A step is a node << 8, and the place
     * of the byte to look at there, which leads to the next step. Node 16 is not a shape, and
     * those behind it are shapes; they lead to themselves. */
    uint16_t root, next[32 * 256];
    uint8_t depth;
    uint8_t shapes, next_victim, last; /* of them: known, to be replaced, seen last */
    uint64_t predicted;                /* rows that came from a known shape */
    uint8_t longest;                   /* advance of a shape */
    uint8_t path;                      /* enum spe_bulk_path in use */
};

#endif
