/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Sampling without a model, where QEMU cannot count by itself, or calls are followed: every block
 * calls back, but no access whose address the registers tell when its block begins. Registers are
 * those of registers_bare.h; until they are proved, all accesses call back.
 */
#ifndef QEMU_SAMPLER_BARE_H
#define QEMU_SAMPLER_BARE_H

#include "pe/code.h"
#include "qemu/api.h"

/* Before the first block. */
void bare_prepare(void);

/* A new block. Only where bare_begin said so. */
void bare_call_back(struct qemu_plugin_tb *tb, struct pe_block *block);

#endif
