/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Shapes compared with AVX2. */
#include <immintrin.h>

#include "state.h"

static inline __m256i load256(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline __m256i differs(__m256i bytes, const uint8_t *mask, const uint8_t *match)
{
    return _mm256_xor_si256(_mm256_and_si256(bytes, load256(mask)), load256(match));
}

static inline bool shape_matches(const struct spe_shape *s, const uint8_t *p)
{
    __m256i d0 = differs(load256(p), s->mask, s->match);
    __m256i d1 = differs(load256(p + 32), s->mask + 32, s->match + 32);
    __m256i d2 = differs(load256(p + 64), s->mask + 64, s->match + 64);
    __m256i d = _mm256_or_si256(_mm256_or_si256(d0, d1), d2);

    return _mm256_testz_si256(d, d);
}

#include "bulk_scalar.h"

#include "bulk_pass.h"

void spe_bulk_fill_avx2(struct spe_bulk *b, struct spe_columns *c)
{
    fill_columns(b, c);
}

int spe_bulk_pass_avx2(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass)
{
    return pass_columns(b, c, pass);
}
