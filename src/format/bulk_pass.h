/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The loop that passes over records, included behind bulk_scalar.h, whose sink makes the rows of
 * those that are wanted. An includer that can pass over many at once defines TILE, the number of
 * records that are looked at one by one before that is tried again, and behind pass_start.h
 *
 *   struct tiles, with a member `stride`, which is 0 at first
 *   static size_t pass_tiles(struct tiles *t, const struct spe_bulk *b, struct passing *k,
 *                            bool by_data, size_t pos, struct run *run);
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

/* What the data source of a load or store says; it has to be one with an address. */
static inline unsigned source_says(const struct passing *k, const struct spe_shape *s,
                                   const uint8_t *p)
{
    unsigned source = NARROW(NARROW_SOURCE);

    return s->has & SPE_HAS_SOURCE && source < 256 ? k->data->sources[source] : 0;
}

/* Together with the records before, if it can be. */
static inline void note_line(struct spe_pass_data *d, const uint8_t *p, size_t stride,
                             uint16_t line)
{
    struct spe_pass_note *n = &d->notes[d->count ? d->count - 1 : 0];
    unsigned count = d->count ? n->place & 0xff : 0;

    if (!count || count == SPE_PASS_NOTED ||
        n->place != note_place(d, p - count * stride, stride, count)) {
        n = &d->notes[d->count++];
        n->place = note_place(d, p, stride, 0);
        count = 0;
    }
    n->line[count] = line;
    n->place++;
}

/* A record of which there is no row, by its data. */
static inline void pass_data(struct passing *k, const struct spe_shape *s, unsigned shape,
                             unsigned says, const uint8_t *p, size_t stride)
{
    struct spe_pass_data *d = k->data;
    uint64_t with_data = k->with_data >> shape & 1, memory = k->memory >> shape & 1;

    d->samples += with_data;
    d->no_address += memory - with_data;
    d->stores += with_data & NARROW(NARROW_OP);
    d->latency += with_data * NARROW(NARROW_TOTAL);
    d->said += says & SPE_PASS_SAID;
    note_line(d, p, stride, spe_pass_line(with_data * WIDE(WIDE_VA), d->shift));
}

#ifndef TILE
#define TILE SIZE_MAX

struct tiles {
    size_t stride;
};

static inline size_t pass_tiles(struct tiles *t, const struct spe_bulk *b, struct passing *k,
                                bool by_data, size_t pos, struct run *run)
{
    (void)t;
    (void)b;
    (void)k;
    (void)by_data;
    (void)run;
    return pos;
}
#endif

static inline bool has_room(const struct passing *k, bool by_data)
{
    return !by_data || k->data->count < k->data->capacity;
}

/* Records from `pos` on that are `stride` bytes from each other: see fill_run. */
static inline __attribute__((always_inline)) size_t pass_run(struct spe_bulk *b, struct sink *sink,
                                                             struct passing *k, bool by_data,
                                                             size_t *row, size_t pos, size_t stride,
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
        unsigned says = 0;
        bool wanted;

        if (found < 0 || !(k->shapes >> found & 1)) {
            run->missed = true;
            return pos;
        }
        s = &b->shape[found];
        PREFETCH(p);
        k->timestamp = WIDE(WIDE_TIMESTAMP);
        k->other = !same_run(k, s, p);
        if (by_data && k->with_data >> found & 1)
            says = source_says(k, s, p);
        wanted = by_data ? says & SPE_PASS_WANTED : is_wanted(k, s, p);
        if (k->other | wanted) {
            sink_put(sink, (*row)++, b, (unsigned)found, p, offset + pos);
        } else {
            k->records++;
            if (by_data)
                pass_data(k, s, (unsigned)found, says, p, stride);
            else
                k->latency += NARROW(NARROW_TOTAL);
        }
        run->record_bytes += s->size;
        run->unknown += s->unknown;
        run->last = (uint8_t)found;
        advance = s->advance;
        pos += stride;
        left = by_data && wanted && TILE < SIZE_MAX ? 0 : left - 1; /* the next may all be passed */
    } while (advance == stride && left && !k->other && *row < capacity && has_room(k, by_data) &&
             end - pos >= READ_AHEAD);
    return pos - stride + advance;
}

static inline __attribute__((always_inline)) int pass_by(struct spe_bulk *b, struct spe_columns *c,
                                                         struct spe_bulk_pass *pass, bool by_data)
{
    const struct spe_columns copy = *c;
    struct sink sink = {.columns = &copy, .all = false};
    struct passing k = start_passing(b, pass);
    struct run run = {.last = b->last};
    struct tiles tiles = {.stride = 0};
    size_t pos = b->stream.piece_pos, row = c->rows;

    while (!run.missed && !k.other && row < c->capacity && has_room(&k, by_data) &&
           b->stream.piece_size - (pos = pass_tiles(&tiles, b, &k, by_data, pos, &run)) >=
               READ_AHEAD &&
           has_room(&k, by_data))
        pos = pass_run(b, &sink, &k, by_data, &row, pos, b->shape[run.last].advance, &run);
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

static inline int pass_columns(struct spe_bulk *b, struct spe_columns *c,
                               struct spe_bulk_pass *pass)
{
    return pass->data ? pass_by(b, c, pass, true) : pass_by(b, c, pass, false);
}
