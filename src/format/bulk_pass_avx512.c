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

/* What a record has to tell, as four numbers. */
enum { ASK_PC, ASK_TIMESTAMP, ASK_CONTEXTS, ASK_LATENCY };

/* Of one that is passed over, all but the first have to be within their bounds. */
#define PASSES (1u << ASK_TIMESTAMP | 1u << ASK_CONTEXTS | 1u << ASK_LATENCY)

/* A record at the usual distance adds its size and unknown packets; another one a bit on top. */
#define TALLY_UNKNOWN 24
#define TALLY_OTHER 56
#define TILES_MAX 8192 /* so that the sums have room */

struct ask {
    __m512i match, from;
    uint64_t mask, tally;
    uint32_t keep;
};

struct tiles {
    size_t stride;
    struct ask leaf[1 + SPE_BULK_SHAPES]; /* none, and the shapes; for this stride */
};

static void ask_for(uint8_t *from, uint32_t *keep, unsigned number, unsigned at, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        from[8 * number + i] = (uint8_t)((at + i) % 64);
        *keep |= 1u << (8 * number + i);
    }
}

static struct ask ask_of_shape(const struct spe_shape *s, bool passes, size_t stride)
{
    struct ask ask = {.match = _mm512_loadu_si512(s->match), .mask = s->mask_bits};
    uint8_t from[64] = {0};

    ask_for(from, &ask.keep, ASK_PC, s->wide_at[WIDE_PC], 7);
    ask_for(from, &ask.keep, ASK_TIMESTAMP, s->wide_at[WIDE_TIMESTAMP], 8);
    if (s->context_mask[0])
        ask_for(from, &ask.keep, ASK_CONTEXTS, s->context_at[0], 4);
    ask_for(from, &ask.keep, ASK_LATENCY, s->narrow_at[NARROW_TOTAL],
            s->narrow_mask[NARROW_TOTAL] ? 2 : 0);
    for (unsigned i = 0; s->context_mask[1] && i < 4; i++) {
        from[8 * ASK_CONTEXTS + 4 + i] = (uint8_t)((s->context_at[1] + i) % 64);
        ask.keep |= 1u << (8 * ASK_CONTEXTS + 4 + i);
    }
    ask.from = _mm512_loadu_si512(from);
    ask.tally = s->size | (uint64_t)s->unknown << TALLY_UNKNOWN |
                (uint64_t)(!passes || s->advance != stride) << TALLY_OTHER;
    return ask;
}

static void ask_all(struct tiles *t, const struct spe_bulk *b, const struct passing *k,
                    size_t stride)
{
    t->stride = stride;
    t->leaf[0] = (struct ask){.tally = UINT64_C(1) << TALLY_OTHER};
    for (unsigned i = 0; i < b->shapes; i++) {
        bool passes = k->shapes >> i & 1 && (b->shape[i].has & PASS_CONTEXTS) == k->is->has;

        t->leaf[1 + i] = ask_of_shape(&b->shape[i], passes, stride);
    }
}

/* Over tiles. */
struct tile_sums {
    uint64_t tally;
    __m256i numbers; /* latencies in the last one */
    __m256i last;    /* numbers of the last record ... */
    uint8_t shape;   /* ... and its shape */
};

/* Whether eight records, `stride` bytes from each other, can all be passed over. */
static inline __attribute__((always_inline)) bool pass_tile(const struct tiles *t,
                                                            const struct spe_bulk *b, __m256i base,
                                                            __m256i most, const uint8_t *p,
                                                            size_t stride, struct tile_sums *sums)
{
    struct tile_sums new = *sums;
    unsigned step[TILE], refused = 0;
    uint64_t differs = 0;

    for (unsigned i = 0; i < TILE; i++)
        step[i] = b->root;
    for (unsigned depth = 0; depth < b->depth; depth++) {
        for (unsigned i = 0; i < TILE; i++)
            step[i] = next_step(b, step[i], p + i * stride);
    }
    for (unsigned i = 0; i < TILE; i++) {
        const struct ask *ask = &t->leaf[(step[i] >> 8) - NO_SHAPE];
        __m512i record = _mm512_loadu_si512(p + i * stride);

        new.last =
            _mm512_castsi512_si256(_mm512_maskz_permutexvar_epi8(ask->keep, ask->from, record));
        differs |= _mm512_mask_cmpneq_epi8_mask(ask->mask, record, ask->match);
        refused |= _mm256_cmple_epu64_mask(_mm256_sub_epi64(new.last, base), most) ^ PASSES;
        new.numbers = _mm256_add_epi64(new.numbers, new.last);
        new.tally += ask->tally;
        PREFETCH(p + i * stride);
    }
    if (differs | refused | new.tally >> TALLY_OTHER)
        return false;
    new.shape = (uint8_t)((step[TILE - 1] >> 8) - LEAF);
    *sums = new;
    return true;
}

static void count_tiles(struct passing *k, struct run *run, size_t tiles,
                        const struct tile_sums *sums)
{
    uint64_t numbers[4], last[4];

    if (!tiles)
        return;
    _mm256_storeu_si256((__m256i *)(void *)numbers, sums->numbers);
    _mm256_storeu_si256((__m256i *)(void *)last, sums->last);
    k->records += TILE * tiles;
    k->latency += numbers[ASK_LATENCY];
    k->timestamp = last[ASK_TIMESTAMP];
    run->record_bytes += sums->tally & ((UINT64_C(1) << TALLY_UNKNOWN) - 1);
    run->unknown += sums->tally >> TALLY_UNKNOWN;
    run->last = sums->shape;
}

static inline __attribute__((always_inline)) size_t pass_at_stride(const struct tiles *t,
                                                                   const struct spe_bulk *b,
                                                                   struct passing *k, size_t pos,
                                                                   size_t stride, struct run *run)
{
    const __m256i base =
        _mm256_setr_epi64x((long long)k->low, (long long)k->first,
                           (long long)((uint64_t)k->context[1] << 32 | k->context[0]), 0);
    const __m256i most = _mm256_setr_epi64x((long long)k->size, (long long)k->span, 0, -1);
    const uint8_t *piece = b->stream.piece;
    const size_t end = b->stream.piece_size;
    struct tile_sums sums = {.tally = 0};
    size_t tiles = 0;

    while (tiles < TILES_MAX && end - pos >= (TILE - 1) * stride + READ_AHEAD &&
           pass_tile(t, b, base, most, piece + pos, stride, &sums)) {
        pos += TILE * stride;
        tiles++;
    }
    count_tiles(k, run, tiles, &sums);
    return pos;
}

/* Records are 64 bytes from each other on most CPUs: where that is a constant, no register holds
 * where each record of a tile begins. */
static inline size_t pass_tiles(struct tiles *t, const struct spe_bulk *b, struct passing *k,
                                size_t pos, struct run *run)
{
    const size_t stride = b->shape[run->last].advance;

    if (!stride)
        return pos;
    if (t->stride != stride)
        ask_all(t, b, k, stride);
    return stride == 64 ? pass_at_stride(t, b, k, pos, 64, run)
                        : pass_at_stride(t, b, k, pos, stride, run);
}

#include "bulk_pass.h"

int spe_bulk_pass_avx512(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass)
{
    return pass_columns(b, c, pass);
}
