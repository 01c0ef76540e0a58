/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Fields of a word, as manuals write them: <high:low>. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>

static inline uint32_t bits(uint32_t word, unsigned high, unsigned low)
{
    return word >> low & (UINT32_MAX >> (31 - (high - low)));
}

#endif
