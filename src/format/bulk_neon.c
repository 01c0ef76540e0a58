/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Shapes compared with NEON (Advanced SIMD). */
#include <arm_neon.h>

#include "state.h"

static inline uint8x16_t differs(const uint8_t *p, const struct spe_shape *s, unsigned at)
{
    return veorq_u8(vandq_u8(vld1q_u8(p + at), vld1q_u8(s->mask + at)), vld1q_u8(s->match + at));
}

static inline bool shape_matches(const struct spe_shape *s, const uint8_t *p)
{
    uint8x16_t d = differs(p, s, 0);

    for (unsigned at = 16; at < SPE_SHAPE_MAX; at += 16)
        d = vorrq_u8(d, differs(p, s, at));
    return vmaxvq_u8(d) == 0;
}

#include "bulk_scalar.h"

#include "bulk_pass.h"

void spe_bulk_fill_neon(struct spe_bulk *b, struct spe_columns *c)
{
    fill_columns(b, c);
}

int spe_bulk_pass_neon(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass)
{
    return pass_columns(b, c, pass);
}
