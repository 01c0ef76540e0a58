/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Blocks of one size, for batches. Blocks that come back are handed out again. The first two share
 * a slab of memory: a consumer that gives each batch back needs no more. One that keeps them gets
 * slabs of many blocks, in large pages where the kernel has them, because a page of the usual size
 * costs more to get than to fill. Any thread may take blocks and put them back.
 */
#ifndef COLUMNS_SHELF_H
#define COLUMNS_SHELF_H

#include <stddef.h>

#define SHELF_ALIGNMENT 64 /* of blocks */

struct shelf;

/* With one user; NULL: no memory. */
struct shelf *shelf_new(size_t block_size);
void shelf_keep(struct shelf *s); /* one user more */
void shelf_release(
    struct shelf *s); /* the last one frees it, when all blocks are back; NULL is fine */

void *shelf_take(struct shelf *s);            /* NULL: no memory */
void shelf_put(struct shelf *s, void *block); /* NULL is fine */

#endif
