/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef SPE_FORMAT_BULK_H
#define SPE_FORMAT_BULK_H

#include <specimen/format.h>

#include "state.h"

#define NO_SHAPE 16 /* nodes of the tree from here on are leaves: none, and the shapes */
#define LEAF (NO_SHAPE + 1)

/* A step: the node, and in its low byte where to look. */
static inline unsigned next_step(const struct spe_bulk *b, unsigned step, const uint8_t *p)
{
    return b->next[(step & 0xff00) | p[step & 0xff]];
}

/* A load of 8 bytes may begin at the last byte that a shape covers. */
#define READ_AHEAD (SPE_SHAPE_MAX + 8)

/* Append rows from the stream's piece while its records have shapes that are known. Every one of
 * these does the same; they differ in the instructions used.
 * The one for AVX-512 needs shapes that end within 64 bytes. */
void spe_bulk_fill_portable(struct spe_bulk *b, struct spe_columns *c);
void spe_bulk_fill_avx2(struct spe_bulk *b, struct spe_columns *c);
void spe_bulk_fill_avx512(struct spe_bulk *b, struct spe_columns *c);
void spe_bulk_fill_neon(struct spe_bulk *b, struct spe_columns *c);

/* The same, passing over records: 1 behind a row with other contexts or another time, else 0. */
int spe_bulk_pass_portable(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass);
int spe_bulk_pass_avx2(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass);
int spe_bulk_pass_avx512(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass);
int spe_bulk_pass_neon(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass);

#endif
