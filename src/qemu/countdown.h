/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The callback of a block that only counts: a function for each number of instructions, which takes
 * them from the thread's counter (here.left) and goes on elsewhere when that falls below 0. With
 * calls, it also notes the block (here.block), and goes on elsewhere before that if the last block
 * has something to follow (here.flow), or this one is a signal's handler.
 *
 * They are written when the plugin starts. Only then it is known where a thread has its counter, so
 * that the one instruction that counts has the place and the number in it. What a compiler makes of
 * the same for a library has to load both, which took as long again as the callback itself.
 */
#ifndef QEMU_COUNTDOWN_H
#define QEMU_COUNTDOWN_H

#include "pe/code.h"
#include "qemu/api.h"

/* Write them; `look` is where they go on, with the arguments and all registers as they were but for
 * one that no function keeps. `follow` is where they go on with calls; NULL: without. Where the
 * host is of another kind, or does not permit it, there are none. */
void countdown_begin(qemu_plugin_exec_fn look, qemu_plugin_exec_fn follow);

/* The function for this block; NULL if there is none: it has many instructions, or with calls, it
 * ends with something to follow. */
qemu_plugin_exec_fn countdown_of(const struct pe_block *block);

#endif
