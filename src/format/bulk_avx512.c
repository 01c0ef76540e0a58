/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * AVX-512 with VBMI. A record of up to 64 bytes is one register: one masked compare tells its
 * shape, one permutation makes its row. Eight rows at a time are transposed into the columns.
 */
#include <immintrin.h>

#include "bulk.h"

/* What of a shape the loop needs, in whole cache lines. */
struct hot {
    __m512i match, wide_from;
    __m128i narrow_from, narrow_constant;
    uint64_t mask, wide_mask;
    uint64_t tally; /* what a record adds to the account */
    uint16_t narrow_mask;
};

/* Sizes, unknown packets and, on top, records at another distance than expected: sums of one group
 * have room in one number. */
#define TALLY_UNKNOWN 24
#define TALLY_OTHER 56
#define TILE_ROWS 65536

/* The records of up to eight rows that are not in the columns yet. */
struct sink {
    const struct spe_columns *columns;
    size_t waiting;
    const struct hot *shape[8];
    const uint8_t *record[8];
    struct hot leaf[1 + SPE_BULK_SHAPES]; /* none, and the shapes */
};

static inline __m128i load128(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline bool has_shape(const struct sink *k, const struct spe_bulk *b, unsigned shape,
                             const uint8_t *p)
{
    const struct hot *h = &k->leaf[1 + shape];

    (void)b;
    return !_mm512_mask_cmpneq_epi8_mask(h->mask, _mm512_loadu_si512(p), h->match);
}

/* A row: wide columns and contexts in 64 bytes, narrow columns and constants in 16. */
struct row {
    __m512i wide;
    __m128i narrow;
};

static inline struct row make_row(const struct hot *h, __m512i record)
{
    __m512i narrow = _mm512_permutexvar_epi8(_mm512_castsi128_si512(h->narrow_from), record);

    return (struct row){
        _mm512_maskz_permutexvar_epi8(h->wide_mask, h->wide_from, record),
        _mm_mask_mov_epi8(h->narrow_constant, h->narrow_mask, _mm512_castsi512_si128(narrow)),
    };
}

/* Rows become columns: column[i] of the result is element i of all eight rows. */
static inline void transpose(const struct row *row, __m512i *column)
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const __m512i first = _mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 6, 7, 12, 13, 14, 15);
    __m512i pair[8], quad[8];

    for (int i = 0; i < 4; i++) {
        __m512i a = row[2 * i].wide, b = row[2 * i + 1].wide;

        pair[2 * i] = _mm512_unpacklo_epi64(a, b);     /* columns 0 2 4 6 */
        pair[2 * i + 1] = _mm512_unpackhi_epi64(a, b); /* columns 1 3 5 7 */
    }
    for (int i = 0; i < 2; i++) {
        for (int odd = 0; odd < 2; odd++) {
            __m512i a = pair[4 * i + odd], b = pair[4 * i + 2 + odd];

            quad[4 * i + odd] = _mm512_permutex2var_epi64(a, low, b);      /* 0 4, or 1 5 */
            quad[4 * i + 2 + odd] = _mm512_permutex2var_epi64(a, high, b); /* 2 6, or 3 7 */
        }
    }
    for (int i = 0; i < 4; i++) {
        column[i] = _mm512_permutex2var_epi64(quad[i], first, quad[4 + i]);
        column[4 + i] = _mm512_permutex2var_epi64(quad[i], second, quad[4 + i]);
    }
}

static inline void store_wide(uint64_t *column, size_t row, __m512i value)
{
    if (column)
        _mm512_storeu_si512(column + row, value);
}

static inline void store_context(uint32_t *column, size_t row, __m512i value)
{
    if (column)
        _mm256_storeu_si256((__m256i *)(void *)(column + row), _mm512_cvtepi64_epi32(value));
}

static inline void store_narrow(uint16_t *column, size_t row, __m128i value)
{
    if (column)
        _mm_storeu_si128((__m128i *)(void *)(column + row), value);
}

static inline void store_byte(uint8_t *column, size_t row, __m128i value)
{
    if (column)
        _mm_storel_epi64((__m128i *)(void *)(column + row), _mm_cvtepi16_epi8(value));
}

static inline void put_wide(const struct spe_columns *c, size_t row, const struct row *rows)
{
    __m512i column[8];

    transpose(rows, column);
    store_wide(c->pc, row, column[WIDE_PC]);
    store_wide(c->target, row, column[WIDE_TARGET]);
    store_wide(c->va, row, column[WIDE_VA]);
    store_wide(c->pa, row, column[WIDE_PA]);
    store_wide(c->previous_target, row, column[WIDE_PREVIOUS]);
    store_wide(c->events, row, column[WIDE_EVENTS]);
    store_wide(c->timestamp, row, column[WIDE_TIMESTAMP]);
    store_context(c->context1, row, column[7]);
    store_context(c->context2, row, _mm512_srli_epi64(column[7], 32));
}

/* Narrow parts of four rows in one register. */
static inline __m512i four_narrow(const struct row *row)
{
    __m512i four = _mm512_castsi128_si512(row[0].narrow);

    four = _mm512_inserti32x4(four, row[1].narrow, 1);
    four = _mm512_inserti32x4(four, row[2].narrow, 2);
    return _mm512_inserti32x4(four, row[3].narrow, 3);
}

static inline void put_narrow(const struct spe_columns *c, size_t row, const struct row *rows)
{
    /* Word i of all eight rows in 128-bit lane i. */
    const __m512i words =
        _mm512_set_epi16(59, 51, 43, 35, 27, 19, 11, 3, 58, 50, 42, 34, 26, 18, 10, 2, 57, 49, 41,
                         33, 25, 17, 9, 1, 56, 48, 40, 32, 24, 16, 8, 0);
    const __m512i next_words = _mm512_add_epi16(words, _mm512_set1_epi16(4));
    __m512i a = four_narrow(rows), b = four_narrow(rows + 4);
    __m512i low = _mm512_permutex2var_epi16(a, words, b);
    __m512i high = _mm512_permutex2var_epi16(a, next_words, b);
    __m128i has_addresses = _mm512_extracti32x4_epi32(high, 2);

#define LANE(which) _mm512_extracti32x4_epi32((which) < 4 ? low : high, (which)&3)
#define COUNTER(name, NAME, sentence) store_narrow(c->name, row, LANE(NARROW_##NAME));
#include "format/counters.def"
    store_narrow(c->source, row, LANE(NARROW_SOURCE));
    store_narrow(c->op, row, LANE(NARROW_OP));
    store_byte(c->has, row, has_addresses);
    store_byte(c->addresses, row, _mm_srli_epi16(has_addresses, 8));
    store_byte(c->counters, row, _mm512_extracti32x4_epi32(high, 3));
}

static inline __attribute__((always_inline)) void put_tile(const struct spe_columns *c, size_t row,
                                                           const struct hot *const *shape,
                                                           const __m512i *record)
{
    struct row rows[8];

    for (unsigned i = 0; i < 8; i++)
        rows[i] = make_row(shape[i], record[i]);
    put_wide(c, row, rows);
    put_narrow(c, row, rows);
}

static inline void put_waiting(struct sink *k, size_t row)
{
    __m512i record[8];

    for (unsigned i = 0; i < 8; i++)
        record[i] = _mm512_loadu_si512(k->record[i]);
    put_tile(k->columns, row, k->shape, record);
    k->waiting = 0;
}

static inline __attribute__((always_inline)) void sink_put(struct sink *k, size_t row,
                                                           const struct spe_bulk *b, unsigned shape,
                                                           const uint8_t *p, uint64_t offset)
{
    (void)b;
    if (k->columns->offset)
        k->columns->offset[row] = offset;
    k->shape[k->waiting] = &k->leaf[1 + shape];
    k->record[k->waiting] = p;
    if (++k->waiting == 8)
        put_waiting(k, row - 7);
}

static inline void put_row(const struct spe_columns *c, size_t row, const uint64_t *wide,
                           const uint16_t *narrow)
{
    uint64_t *const wides[WIDE_COLUMNS] = {c->pc,     c->target,   c->va, c->pa, c->previous_target,
                                           c->events, c->timestamp};
    uint16_t *const narrows[] = {
#define COUNTER(name, NAME, sentence) c->name,
#include "format/counters.def"
        c->source, c->op};

    for (unsigned i = 0; i < WIDE_COLUMNS; i++)
        if (wides[i])
            wides[i][row] = wide[i];
    for (unsigned i = 0; i < NARROW_COLUMNS; i++)
        if (narrows[i])
            narrows[i][row] = narrow[i];
    if (c->context1)
        c->context1[row] = (uint32_t)wide[7];
    if (c->context2)
        c->context2[row] = (uint32_t)(wide[7] >> 32);
    if (c->has)
        c->has[row] = (uint8_t)narrow[6];
    if (c->addresses)
        c->addresses[row] = (uint8_t)(narrow[6] >> 8);
    if (c->counters)
        c->counters[row] = (uint8_t)narrow[7];
}

/* Rows that are fewer than eight, one by one. */
static inline void sink_flush(struct sink *k, size_t rows)
{
    for (size_t i = 0; i < k->waiting; i++) {
        struct row row = make_row(k->shape[i], _mm512_loadu_si512(k->record[i]));
        uint64_t wide[8];
        uint16_t narrow[8];

        _mm512_storeu_si512(wide, row.wide);
        _mm_storeu_si128((__m128i *)(void *)narrow, row.narrow);
        put_row(k->columns, rows - k->waiting + i, wide, narrow);
    }
    k->waiting = 0;
}

#include "bulk_fill.h"

/* Whether eight records, `stride` bytes from each other, all have known shapes. */
static inline __attribute__((always_inline)) bool
find_tile(const struct sink *k, const struct spe_bulk *b, const uint8_t *p, size_t stride,
          const struct hot **shape, __m512i *record)
{
    unsigned step[8];
    uint64_t differs = 0;

    for (unsigned i = 0; i < 8; i++)
        step[i] = b->root;
    for (unsigned depth = 0; depth < b->depth; depth++) {
        for (unsigned i = 0; i < 8; i++)
            step[i] = next_step(b, step[i], p + i * stride);
    }
    for (unsigned i = 0; i < 8; i++) {
        shape[i] = &k->leaf[(step[i] >> 8) - NO_SHAPE];
        record[i] = _mm512_loadu_si512(p + i * stride);
        differs |= _mm512_mask_cmpneq_epi8_mask(shape[i]->mask, record[i], shape[i]->match);
    }
    return !differs;
}

static inline void put_offsets(uint64_t *offset, uint64_t first, size_t stride)
{
    for (unsigned i = 0; i < 8; i++)
        offset[i] = first + i * stride;
}

/* Eight rows at a time, as long as records follow each other at the same distance: no record then
 * waits for another, and there is one branch for all of them. */
static inline __attribute__((always_inline)) void
fill_tiles(struct spe_bulk *b, struct spe_columns *c, struct sink *sink, const size_t stride)
{
    const uint8_t *piece = b->stream.piece;
    const size_t end = b->stream.piece_size;
    size_t pos = b->stream.piece_pos, row = c->rows;
    const size_t last_row = c->capacity < row + TILE_ROWS ? c->capacity : row + TILE_ROWS;
    uint64_t *const offsets = c->offset;
    uint64_t tally = 0, with_tile;
    struct run run = {.last = b->last};
    const struct hot *shape[8];
    __m512i record[8];

    while (last_row - row >= 8 && end - pos >= 7 * stride + READ_AHEAD &&
           find_tile(sink, b, piece + pos, stride, shape, record)) {
        with_tile = tally;
        for (unsigned i = 0; i < 8; i++) {
            PREFETCH(piece + pos + i * stride);
            with_tile += shape[i]->tally;
        }
        if (with_tile >> TALLY_OTHER)
            break;
        tally = with_tile;
        if (offsets)
            put_offsets(offsets + row, b->stream.offset + pos, stride);
        put_tile(sink->columns, row, shape, record);
        row += 8;
        pos += 8 * stride;
        run.last = (uint8_t)(shape[7] - sink->leaf - 1);
    }
    run.record_bytes = tally & ((UINT64_C(1) << TALLY_UNKNOWN) - 1);
    run.unknown = tally >> TALLY_UNKNOWN;
    account(b, c, row, pos, &run);
}

void spe_bulk_fill_avx512(struct spe_bulk *b, struct spe_columns *c)
{
    const struct spe_columns copy = *c; /* which the stores into the columns cannot change */
    const unsigned stride = b->shape[b->last].advance;
    struct sink sink;

    sink.columns = &copy;
    sink.waiting = 0;
    for (unsigned i = 0; i < b->shapes; i++) {
        const struct spe_shape *s = &b->shape[i];

        sink.leaf[1 + i] = (struct hot){
            .match = _mm512_loadu_si512(s->match),
            .wide_from = _mm512_loadu_si512(s->row_from),
            .narrow_from = load128(s->row_from + 64),
            .narrow_constant = load128(s->tail),
            .mask = s->mask_bits,
            .wide_mask = s->row_mask,
            .narrow_mask = s->tail_mask,
            .tally = s->size | (uint64_t)s->unknown << TALLY_UNKNOWN |
                     (uint64_t)(s->advance != stride) << TALLY_OTHER,
        };
    }
    sink.leaf[0] = (struct hot){.tally = UINT64_C(1) << TALLY_OTHER};
    /* Most CPUs' records: as a constant, the distance needs no register for each record. */
    if (stride == 64)
        fill_tiles(b, c, &sink, 64);
    else
        fill_tiles(b, c, &sink, stride);
    fill(b, c, &sink);
}
