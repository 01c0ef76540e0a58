/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Straight pieces of code as QEMU translates them. QEMU may throw its translations away and make
 * them again; ours are found again by address and content, and live as long as the process, so that
 * a pointer to one is always good and counts add up.
 */
#ifndef QEMU_BLOCKS_H
#define QEMU_BLOCKS_H

#include <stddef.h>

#include "pe/code.h"
#include "qemu/api.h"

/* The block of a translation; NULL without memory. */
struct pe_block *blocks_find(const struct qemu_plugin_tb *tb);

/* How many there are, and one by its id. */
size_t blocks_count(void);
size_t blocks_site_count(void);
struct pe_block *blocks_at(size_t id);

/* Set bits of the flow of all blocks that begin here. Others may run them meanwhile. */
void blocks_mark(uint64_t pc, uint8_t flow);

/* Around fork. */
void blocks_lock(void);
void blocks_unlock(void);

#endif
