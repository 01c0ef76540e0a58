/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/a64.h"

bool a64_sve(struct spe_a64 *insn)
{
    insn->operation.kind = SPE_OPERATION_SVE;
    return true;
}
