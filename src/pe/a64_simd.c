/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C4.1, Data Processing - Scalar Floating-Point and Advanced SIMD. */
#include "pe/a64.h"

bool a64_simd(struct spe_a64 *insn)
{
    insn->operation.floating_point = bit(insn->word, 28) && !bit(insn->word, 30);
    insn->operation.advanced_simd = !insn->operation.floating_point;
    return true;
}
