/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/a64.h"

bool a64_sve_memory(struct spe_a64 *insn)
{
    insn->operation.registers = SPE_REGISTERS_SVE;
    return true;
}
