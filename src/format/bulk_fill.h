/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The loop of the bulk decoder, included by one file per instruction set. The includer defines
 * before:
 *
 *   struct sink, with a member `columns` (const struct spe_columns *)
 *   static inline bool has_shape(const struct sink *k, const struct spe_bulk *b, unsigned shape,
 *                                const uint8_t *p);
 *       whether the SPE_SHAPE_MAX bytes at p have every byte that the shape asks for
 *   static inline void sink_put(struct sink *k, size_t row, const struct spe_bulk *b,
 *                               unsigned shape, const uint8_t *p, uint64_t offset);
 *       write the row of the record at p
 *   static inline void sink_flush(struct sink *k, size_t rows);
 *       rows before this one must be in the columns now
 */
#include "bulk.h"

/* The only shape that the record at p may have, if any: the tree has asked for the bytes in which
 * the known shapes differ. Every walk is as long as the deepest, so that no branch depends on the
 * record. Root and depth are arguments to keep them in registers. */
static inline int find_shape(const struct sink *k, const struct spe_bulk *b, unsigned root,
                             unsigned depth, const uint8_t *p)
{
    unsigned n = root;

    for (unsigned i = 0; i < depth; i++)
        n = next_step(b, n, p);
    n >>= 8;
    if (n == NO_SHAPE || !has_shape(k, b, n - LEAF, p))
        return -1;
    return (int)(n - LEAF);
}

/* The bytes come once and in order, but the columns' stores hide that from the hardware. A page
 * ahead, into the second level: nearer, they come too late, and those that are asked for as never
 * used again are dropped before they are used. */
#define PREFETCH_AHEAD 4096
#define PREFETCH(at) __builtin_prefetch((at) + PREFETCH_AHEAD, 0, 2)

/* What a run of rows tells. */
struct run {
    uint64_t record_bytes, unknown; /* for the stream's account */
    uint8_t last;                   /* shape */
    bool missed;                    /* a record has no known shape */
};

/*
 * Rows from `pos` on, until a record has no known shape or is not `stride` bytes from the next.
 * The stride is a constant of the loop so that the next record's place does not wait for this
 * one's shape to be found.
 */
static inline __attribute__((always_inline)) size_t fill_run(struct spe_bulk *b, struct sink *sink,
                                                             size_t *row, size_t pos, size_t stride,
                                                             struct run *run)
{
    const struct spe_stream *stream = &b->stream;
    const uint8_t *piece = stream->piece;
    const uint64_t offset = stream->offset;
    const unsigned root = b->root, depth = b->depth;
    const size_t end = stream->piece_size, capacity = sink->columns->capacity;
    size_t advance;

    do {
        int found = find_shape(sink, b, root, depth, piece + pos);
        const struct spe_shape *s;

        if (found < 0) {
            run->missed = true;
            return pos;
        }
        s = &b->shape[found];
        PREFETCH(piece + pos);
        sink_put(sink, *row, b, (unsigned)found, piece + pos, offset + pos);
        ++*row;
        run->record_bytes += s->size;
        run->unknown += s->unknown;
        advance = s->advance;
        pos += stride;
        run->last = (uint8_t)found;
    } while (advance == stride && *row < capacity && end - pos >= READ_AHEAD);
    return pos - stride + advance;
}

/* The rows up to `row`, whose bytes end at `pos`, are in the columns. */
static inline void account(struct spe_bulk *b, struct spe_columns *c, size_t row, size_t pos,
                           const struct run *run)
{
    struct spe_stream *stream = &b->stream;

    b->predicted += row - c->rows;
    stream->account.records += row - c->rows;
    stream->account.record_bytes += run->record_bytes;
    stream->account.padding_bytes += pos - stream->piece_pos - run->record_bytes;
    stream->account.unknown += run->unknown;
    if (row > c->rows)
        stream->first_header = b->shape[run->last].first_header;
    b->last = run->last;
    stream->piece_pos = pos;
    c->rows = row;
}

static inline __attribute__((always_inline)) void fill(struct spe_bulk *b, struct spe_columns *c,
                                                       struct sink *sink)
{
    size_t pos = b->stream.piece_pos;
    size_t row = c->rows;
    struct run run = {.last = b->last};

    while (!run.missed && row < c->capacity && b->stream.piece_size - pos >= READ_AHEAD)
        pos = fill_run(b, sink, &row, pos, b->shape[run.last].advance, &run);
    sink_flush(sink, row);
    account(b, c, row, pos, &run);
}
