/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Straight pieces of code as QEMU translates them. QEMU may throw its translations away and make
 * them again; ours are found again by address and content, and live as long as the process, so that
 * a pointer to one is always good and counts add up.
 */
#ifndef QEMU_BLOCKS_H
#define QEMU_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qemu/api.h"

struct block;

/* One instruction. */
struct site {
    const struct block *block;
    uint32_t word;
    uint32_t id;            /* dense, over all blocks */
    uint16_t how;           /* SPE_ACCESS_... that the word alone tells */
    uint16_t is;            /* WIRE_IS_... */
    _Atomic uint16_t bytes; /* of each access, once there was one; any thread's */
    bool registers;         /* what it does depends on them: an access, a condition */
};

struct block {
    uint64_t pc, end;   /* [pc, end) */
    uint64_t target;    /* of the branch at the end, if it is direct */
    uint64_t time;      /* first seen */
    uint32_t count;     /* of instructions */
    uint32_t id;        /* dense */
    bool branch;        /* the last instruction is one */
    bool direct;        /* ... with `target` */
    bool plain;         /* ... and conditional, and no more */
    uint8_t kind;       /* ... SPE_BRANCH_... */
    struct block *next; /* in the table */
    struct site sites[];
};

static inline uint64_t site_pc(const struct site *site)
{
    return site->block->pc + 4 * (uint64_t)(site - site->block->sites);
}

static inline const struct site *block_last(const struct block *block)
{
    return &block->sites[block->count - 1];
}

/* The block of a translation; NULL without memory. */
struct block *blocks_find(const struct qemu_plugin_tb *tb);

/* How many there are, and one by its id. */
size_t blocks_count(void);
size_t blocks_site_count(void);
const struct block *blocks_at(size_t id);

/* Around fork. */
void blocks_lock(void);
void blocks_unlock(void);

#endif
