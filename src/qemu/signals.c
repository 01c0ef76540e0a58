/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/signals.h"

/* Linux's frame of a signal (arch/arm64, struct rt_sigframe) is at SP: siginfo, then ucontext, in
 * which the context of the machine has the address of a fault, X0 to X30, SP (SIGNAL_SP_AT) and the
 * pc. */
enum { SIGINFO_BYTES = 128, PC_AT = SIGNAL_SP_AT + 8, SIGNALS = 64 };

/* The handler's arguments are the signal and where its siginfo and its ucontext are: here. */
bool signal_interrupted(const struct spe_a64_registers *registers,
                        uint64_t (*read)(uint64_t address), uint64_t *pc)
{
    uint64_t arguments[3], sp;

    if (!registers->x)
        return false;
    for (unsigned i = 0; i < 3; i++)
        arguments[i] = registers->x(registers->user, i);
    sp = registers->x(registers->user, 31);
    if (arguments[0] - 1 >= SIGNALS || arguments[1] != sp || arguments[2] != sp + SIGINFO_BYTES ||
        (uint32_t)read(sp) != arguments[0])
        return false;
    *pc = read(sp + PC_AT);
    return *pc != 0;
}
