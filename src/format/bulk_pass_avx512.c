/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Passing over records of up to 64 bytes with AVX-512: what has to be asked of one is a permutation
 * of its bytes, a subtraction and a comparison. Eight at a time are passed over, or none.
 */
#include <immintrin.h>

#include "state.h"

static inline bool shape_matches(const struct spe_shape *s, const uint8_t *p)
{
    return !_mm512_mask_cmpneq_epi8_mask(s->mask_bits, _mm512_loadu_si512(p),
                                         _mm512_loadu_si512(s->match));
}

#include "bulk_scalar.h"

#include "pass_start.h"

#define TILE 8

/* What a record has to tell, as four numbers. By its data, latency and operation are asked of loads
 * and stores with an address, and the pc of none. */
enum { ASK_PC, ASK_TIMESTAMP, ASK_CONTEXTS, ASK_LATENCY };

#define ASK_STORE 4 /* the byte of the last one that has the operation */
#define STORES_AND_LATENCY (UINT64_C(1) << 8 * ASK_STORE | UINT16_MAX)

/* Of one that is passed over, all but the first have to be within their bounds. */
#define PASSES (1u << ASK_TIMESTAMP | 1u << ASK_CONTEXTS | 1u << ASK_LATENCY)

/* A record at the usual distance adds its size and unknown packets; another one a bit on top. */
#define TALLY_UNKNOWN 24
#define TALLY_OTHER 56

/* By its data, a load or store adds to a second one what its source says. */
#define TALLY_SAMPLES 20
#define TALLY_NO_ADDRESS 38
#define TALLY_WANTED 56
#define TILES_MAX 8192 /* so that the sums have room */

struct ask {
    __m512i match, from;
    uint64_t mask, tally, keep;
    uint8_t source_at, va_at;
    uint64_t va_mask, data_tally;
    const uint64_t *says; /* by source */
};

struct tiles {
    size_t stride;
    struct ask leaf[1 + SPE_BULK_SHAPES]; /* none, and the shapes; for this stride */
    uint64_t says[256], nothing[256];
};

static void ask_for(uint8_t *from, uint64_t *keep, unsigned number, unsigned at, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        from[8 * number + i] = (uint8_t)((at + i) % 64);
        *keep |= UINT64_C(1) << (8 * number + i);
    }
}

/* What is asked of its data. Sources of two bytes are left to pass_run. */
static void ask_for_data(struct ask *ask, uint8_t *from, const struct tiles *t,
                         const struct spe_shape *s)
{
    ask_for(from, &ask->keep, ASK_LATENCY, s->narrow_at[NARROW_TOTAL],
            s->narrow_mask[NARROW_TOTAL] ? 2 : 0);
    from[8 * ASK_LATENCY + ASK_STORE] = s->narrow_at[NARROW_OP] % 64;
    ask->keep |= UINT64_C(1) << (8 * ASK_LATENCY + ASK_STORE);
    ask->va_at = s->wide_at[WIDE_VA];
    ask->va_mask = s->wide_mask[WIDE_VA];
    if (s->has & SPE_HAS_SOURCE) {
        ask->source_at = s->narrow_at[NARROW_SOURCE];
        ask->says = t->says;
    }
}

static struct ask ask_of_shape(const struct tiles *t, const struct passing *k,
                               const struct spe_shape *s, unsigned shape, bool by_data)
{
    struct ask ask = {
        .match = _mm512_loadu_si512(s->match), .mask = s->mask_bits, .says = t->nothing};
    bool with_data = k->with_data >> shape & 1, memory = k->memory >> shape & 1;
    bool passes = k->shapes >> shape & 1 && (s->has & PASS_CONTEXTS) == k->is->has &&
                  s->advance == t->stride &&
                  !(by_data && with_data && s->narrow_mask[NARROW_SOURCE] > UINT8_MAX);
    uint8_t from[64] = {0};

    ask_for(from, &ask.keep, ASK_TIMESTAMP, s->wide_at[WIDE_TIMESTAMP], 8);
    if (s->context_mask[0])
        ask_for(from, &ask.keep, ASK_CONTEXTS, s->context_at[0], 4);
    for (unsigned i = 0; s->context_mask[1] && i < 4; i++) {
        from[8 * ASK_CONTEXTS + 4 + i] = (uint8_t)((s->context_at[1] + i) % 64);
        ask.keep |= UINT64_C(1) << (8 * ASK_CONTEXTS + 4 + i);
    }
    if (!by_data) {
        ask_for(from, &ask.keep, ASK_PC, s->wide_at[WIDE_PC], 7);
        ask_for(from, &ask.keep, ASK_LATENCY, s->narrow_at[NARROW_TOTAL],
                s->narrow_mask[NARROW_TOTAL] ? 2 : 0);
    } else if (with_data) {
        ask_for_data(&ask, from, t, s);
    }
    ask.data_tally = (uint64_t)with_data << TALLY_SAMPLES | (uint64_t)(memory && !with_data)
                                                                << TALLY_NO_ADDRESS;
    ask.from = _mm512_loadu_si512(from);
    ask.tally = s->size | (uint64_t)s->unknown << TALLY_UNKNOWN | (uint64_t)!passes << TALLY_OTHER;
    return ask;
}

static void ask_all(struct tiles *t, const struct spe_bulk *b, const struct passing *k,
                    bool by_data, size_t stride)
{
    t->stride = stride;
    for (unsigned i = 0; by_data && i < 256; i++) {
        unsigned says = k->data->sources[i];

        t->says[i] = (says & SPE_PASS_SAID) | (uint64_t) !!(says & SPE_PASS_WANTED) << TALLY_WANTED;
        t->nothing[i] = 0;
    }
    t->leaf[0] = (struct ask){.tally = UINT64_C(1) << TALLY_OTHER, .says = t->nothing};
    for (unsigned i = 0; i < b->shapes; i++)
        t->leaf[1 + i] = ask_of_shape(t, k, &b->shape[i], i, by_data);
}

/* Over tiles. */
struct tile_sums {
    uint64_t tally, data_tally;
    __m256i numbers; /* latencies in the last one */
    __m256i last;    /* numbers of the last record ... */
    uint8_t shape;   /* ... and its shape */
};

/* Whether eight records, `stride` bytes from each other, can all be passed over; `lines` are for a
 * note of them. */
static inline __attribute__((always_inline)) bool
pass_tile(const struct tiles *t, const struct spe_bulk *b, __m256i base, __m256i most,
          const uint8_t *p, size_t stride, bool by_data, unsigned shift, uint16_t *lines,
          struct tile_sums *sums)
{
    const __m256i counted = _mm256_setr_epi64x(0, 0, 0, (long long)STORES_AND_LATENCY);
    const unsigned passes = by_data ? PASSES | 1u << ASK_PC : PASSES;
    struct tile_sums new = *sums;
    unsigned step[TILE], refused = 0;
    uint64_t differs = 0;

    for (unsigned i = 0; i < TILE; i++)
        step[i] = b->root;
    for (unsigned depth = 0; depth < b->depth; depth++) {
        for (unsigned i = 0; i < TILE; i++)
            step[i] = next_step(b, step[i], p + i * stride);
    }
#pragma GCC unroll 8 /* a loop would keep the steps in memory */
    for (unsigned i = 0; i < TILE; i++) {
        const struct ask *ask = &t->leaf[(step[i] >> 8) - NO_SHAPE];
        __m512i record = _mm512_loadu_si512(p + i * stride);

        new.last =
            _mm512_castsi512_si256(_mm512_maskz_permutexvar_epi8(ask->keep, ask->from, record));
        differs |= _mm512_mask_cmpneq_epi8_mask(ask->mask, record, ask->match);
        refused |= _mm256_cmple_epu64_mask(_mm256_sub_epi64(new.last, base), most) ^ passes;
        new.numbers =
            _mm256_add_epi64(new.numbers, by_data ? _mm256_and_si256(new.last, counted) : new.last);
        new.tally += ask->tally;
        if (by_data) {
            new.data_tally += ask->data_tally + ask->says[p[i * stride + ask->source_at]];
            lines[i] = spe_pass_line(load64(p + i * stride + ask->va_at) & ask->va_mask, shift);
        }
        PREFETCH(p + i * stride);
    }
    if (differs | refused | new.tally >> TALLY_OTHER | new.data_tally >> TALLY_WANTED)
        return false;
    new.shape = (uint8_t)((step[TILE - 1] >> 8) - LEAF);
    *sums = new;
    return true;
}

static void count_data(struct spe_pass_data *d, uint64_t tally, uint64_t stores_and_latency)
{
    d->said += tally & ((UINT64_C(1) << TALLY_SAMPLES) - 1);
    d->samples +=
        tally >> TALLY_SAMPLES & ((UINT64_C(1) << (TALLY_NO_ADDRESS - TALLY_SAMPLES)) - 1);
    d->no_address += tally >> TALLY_NO_ADDRESS;
    d->stores += stores_and_latency >> 8 * ASK_STORE;
    d->latency += stores_and_latency & UINT32_MAX;
}

static void count_tiles(struct passing *k, bool by_data, struct run *run, size_t tiles,
                        const struct tile_sums *sums)
{
    uint64_t numbers[4], last[4];

    if (!tiles)
        return;
    _mm256_storeu_si256((__m256i *)(void *)numbers, sums->numbers);
    _mm256_storeu_si256((__m256i *)(void *)last, sums->last);
    k->records += TILE * tiles;
    if (by_data)
        count_data(k->data, sums->data_tally, numbers[ASK_LATENCY]);
    else
        k->latency += numbers[ASK_LATENCY];
    k->timestamp = last[ASK_TIMESTAMP];
    run->record_bytes += sums->tally & ((UINT64_C(1) << TALLY_UNKNOWN) - 1);
    run->unknown += sums->tally >> TALLY_UNKNOWN;
    run->last = sums->shape;
}

static inline __attribute__((always_inline)) size_t
pass_at_stride(const struct tiles *t, const struct spe_bulk *b, struct passing *k, bool by_data,
               size_t pos, size_t stride, struct run *run)
{
    const __m256i base =
        _mm256_setr_epi64x(by_data ? 0 : (long long)k->low, (long long)k->first,
                           (long long)((uint64_t)k->context[1] << 32 | k->context[0]), 0);
    const __m256i most =
        _mm256_setr_epi64x(by_data ? -1 : (long long)k->size, (long long)k->span, 0, -1);
    const uint8_t *piece = b->stream.piece;
    const size_t end = b->stream.piece_size,
                 room = by_data ? k->data->capacity - k->data->count : 0;
    const size_t tiles_max = by_data && room < TILES_MAX ? room : TILES_MAX;
    const unsigned shift = by_data ? k->data->shift : 0;
    struct spe_pass_note *note = by_data ? k->data->notes + k->data->count : NULL;
    struct tile_sums sums = {.tally = 0};
    size_t tiles = 0;

    while (tiles < tiles_max && end - pos >= (TILE - 1) * stride + READ_AHEAD &&
           pass_tile(t, b, base, most, piece + pos, stride, by_data, shift,
                     by_data ? note->line : NULL, &sums)) {
        if (by_data)
            note++->place = note_place(k->data, piece + pos, stride, TILE);
        pos += TILE * stride;
        tiles++;
    }
    if (by_data)
        k->data->count += tiles;
    count_tiles(k, by_data, run, tiles, &sums);
    return pos;
}

/* Records are 64 bytes from each other on most CPUs: where that is a constant, no register holds
 * where each record of a tile begins. */
static inline __attribute__((always_inline)) size_t pass_tiles(struct tiles *t,
                                                               const struct spe_bulk *b,
                                                               struct passing *k, bool by_data,
                                                               size_t pos, struct run *run)
{
    const size_t stride = b->shape[run->last].advance;

    if (!stride)
        return pos;
    if (t->stride != stride)
        ask_all(t, b, k, by_data, stride);
    return stride == 64 ? pass_at_stride(t, b, k, by_data, pos, 64, run)
                        : pass_at_stride(t, b, k, by_data, pos, stride, run);
}

#include "bulk_pass.h"

int spe_bulk_pass_avx512(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass)
{
    return pass_columns(b, c, pass);
}
