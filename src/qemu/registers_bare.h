/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The guest's registers without the plugin interface, which has none up to QEMU 8.2 (level 1) and
 * is slow to read them at every call.
 *
 * The code that QEMU generates has the address of its CPUARMState in one register of the host, and
 * that structure begins with the registers of AArch32, then X0 to X30 and SP. When a block begins
 * they are all there. None of this is promised, so it has to be proved in each process: while
 * nothing is proved, QEMU calls back for every access, and the addresses that registers tell are
 * compared with those that QEMU tells. One that differs ends it: registers are not looked at then.
 *
 * Only the callback of a block can look: behind its first instruction some values may be in other
 * registers of the host.
 */
#ifndef QEMU_REGISTERS_BARE_H
#define QEMU_REGISTERS_BARE_H

#include <stdbool.h>
#include <stdint.h>

#include "pe/code.h"

/*
 * BARE_CALL(name): name_here(vcpu, user) calls name(vcpu, user, state). It has to be the last that
 * a block's callback does, so that the compiler makes it a jump: the register has what QEMU left in
 * it then. (A build without optimisation does not, finds that nothing can be proved, and goes on
 * without.)
 */
#if defined(__x86_64__)
#define BARE_PASS "mov %rbp, %rdx\n\tjmp "
#elif defined(__aarch64__)
#define BARE_PASS "mov x2, x19\n\tb "
#endif

#ifdef BARE_PASS
#define BARE_CALL(name)                                                                            \
    __attribute__((visibility("hidden"))) void name(unsigned vcpu, void *user, const void *state); \
    __attribute__((visibility("hidden"))) void name##_here(unsigned vcpu, void *user);             \
    __asm__(".pushsection .text\n\t.globl " #name "_here\n\t.hidden " #name "_here\n\t"            \
            ".type " #name "_here, %function\n" #name "_here:\n\t" BARE_PASS #name "\n\t"          \
            ".size " #name "_here, . - " #name "_here\n\t.popsection")
#endif

/* Is there such a register on this host? */
bool bare_begin(void);

/* Were enough addresses right, and none wrong? */
bool bare_is_proved(void);

/* The beginning of QEMU's CPUARMState. */
struct bare_state {
    uint32_t regs[16];
    uint64_t x[32]; /* X31 is SP */
};

static inline uint64_t bare_sp(const void *state)
{
    return ((const struct bare_state *)state)->x[31];
}

/* The registers, while the block's callback runs; NULL if they are not proved. */
const struct spe_a64_registers *bare_registers(const void *state);

/* While nothing is proved. The block begins: what one of its accesses will be. */
void bare_foresee(const struct pe_block *block, const void *state);
/* QEMU tells an access. */
void bare_compare(const struct pe_site *site, uint64_t va);

/* They told an address that QEMU tells differently. */
void bare_refute(void);

#endif
