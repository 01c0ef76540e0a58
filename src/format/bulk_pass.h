/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The loop that passes over records, included behind bulk_scalar.h, whose sink makes the rows of
 * those that are wanted. An includer that can pass over many at once defines TILE, the number of
 * records that are looked at one by one before that is tried again, and behind pass_start.h
 *
 *   struct tiles, with a member `stride`, which is 0 at first
 *   static size_t pass_tiles(struct tiles *t, const struct spe_bulk *b, struct passing *k,
 *                            size_t pos, struct run *run);
 *       pass over records from `pos` on, as far as that goes; returns where the next one is
 */
#include "pass_start.h"

/* Of the same run as the records before. */
static inline bool same_run(const struct passing *k, const struct spe_shape *s, const uint8_t *p)
{
    return k->timestamp - k->first <= k->span && (s->has & PASS_CONTEXTS) == k->is->has &&
           CONTEXT(0) == k->context[0] && CONTEXT(1) == k->context[1];
}

static inline bool is_wanted(const struct passing *k, const struct spe_shape *s, const uint8_t *p)
{
    uint64_t pc = WIDE(WIDE_PC) & UINT64_MAX >> 8, bit = spe_pass_bit(pc, k->grain);

    return (pc - k->low <= k->size) & (k->pcs[bit / 64] >> bit % 64);
}

#ifndef TILE
#define TILE SIZE_MAX

struct tiles {
    size_t stride;
};

static inline size_t pass_tiles(struct tiles *t, const struct spe_bulk *b, struct passing *k,
                                size_t pos, struct run *run)
{
    (void)t;
    (void)b;
    (void)k;
    (void)run;
    return pos;
}
#endif

/* Records from `pos` on that are `stride` bytes from each other: see fill_run. */
static inline __attribute__((always_inline)) size_t pass_run(struct spe_bulk *b, struct sink *sink,
                                                             struct passing *k, size_t *row,
                                                             size_t pos, size_t stride,
                                                             struct run *run)
{
    const uint8_t *piece = b->stream.piece;
    const uint64_t offset = b->stream.offset;
    const unsigned root = b->root, depth = b->depth;
    const size_t end = b->stream.piece_size, capacity = sink->columns->capacity;
    size_t advance, left = TILE;

    do {
        const uint8_t *p = piece + pos;
        int found = find_shape(sink, b, root, depth, p);
        const struct spe_shape *s;

        if (found < 0 || !(k->shapes >> found & 1)) {
            run->missed = true;
            return pos;
        }
        s = &b->shape[found];
        PREFETCH(p);
        k->timestamp = WIDE(WIDE_TIMESTAMP);
        k->other = !same_run(k, s, p);
        if (k->other | is_wanted(k, s, p)) {
            sink_put(sink, (*row)++, b, (unsigned)found, p, offset + pos);
        } else {
            k->records++;
            k->latency += NARROW(NARROW_TOTAL);
        }
        run->record_bytes += s->size;
        run->unknown += s->unknown;
        run->last = (uint8_t)found;
        advance = s->advance;
        pos += stride;
    } while (advance == stride && --left && !k->other && *row < capacity &&
             end - pos >= READ_AHEAD);
    return pos - stride + advance;
}

static inline int pass_columns(struct spe_bulk *b, struct spe_columns *c,
                               struct spe_bulk_pass *pass)
{
    const struct spe_columns copy = *c;
    struct sink sink = {.columns = &copy, .all = false};
    struct passing k = start_passing(b, pass);
    struct run run = {.last = b->last};
    struct tiles tiles = {.stride = 0};
    size_t pos = b->stream.piece_pos, row = c->rows;

    while (!run.missed && !k.other && row < c->capacity &&
           b->stream.piece_size - (pos = pass_tiles(&tiles, b, &k, pos, &run)) >= READ_AHEAD)
        pos = pass_run(b, &sink, &k, &row, pos, b->shape[run.last].advance, &run);
    if (k.records)
        b->stream.first_header = b->shape[run.last].first_header;
    b->stream.account.records += k.records;
    b->predicted += k.records;
    account(b, c, row, pos, &run);
    pass->records += k.records;
    pass->latency += k.latency;
    pass->timestamp = k.timestamp;
    return k.other;
}
