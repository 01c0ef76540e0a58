/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Accesses that QEMU's callbacks do not show, or of which they show a part: QEMU makes them in a
 * function of its own that goes to the host's memory, or does not make them at all (a prefetch).
 * Registers tell them, where the interface has registers. Elsewhere nobody knows them.
 */
#ifndef QEMU_HIDDEN_H
#define QEMU_HIDDEN_H

#include "pe/code.h"

/* Is the instruction such a one? */
bool hidden_is(const struct spe_a64 *insn);

/* What such an instruction is about to do. */
struct hidden {
    unsigned how; /* SPE_ACCESS_... of its accesses, for the machine */
    struct spe_operation op;
    struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX];
};

/* By the registers of the vCPU whose callback (QEMU_R_REGS) is running. False if they do not tell
 * where it accesses memory. */
bool hidden_evaluate(const struct pe_site *site, uint32_t vector_bits, struct hidden *hidden);

/* Is this one of its accesses made? */
static inline bool hidden_is_made(const struct spe_memory_access *access)
{
    return !access->inactive && !access->unperformed;
}

#endif
