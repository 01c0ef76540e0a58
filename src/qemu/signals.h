/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the kernel, and QEMU in its place, leaves on the stack for the handler of a signal. */
#ifndef QEMU_SIGNALS_H
#define QEMU_SIGNALS_H

#include <specimen/pe.h>
#include <stdbool.h>
#include <stdint.h>

/* Where the stack pointer of what was interrupted is, from that of the handler. */
enum { SIGNAL_SP_AT = 128 + 176 + 8 + 31 * 8 };

/* A handler is about to run its first instruction: the signal came before the instruction at *pc.
 * False if that is not so, or nobody knows. `read`: a word of the program's memory, 0 if it is not
 * there. */
bool signal_interrupted(const struct spe_a64_registers *registers,
                        uint64_t (*read)(uint64_t address), uint64_t *pc);

#endif
