/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The guest's registers, for spe_a64_evaluate: plugin interface 2 and later. */
#ifndef QEMU_REGISTERS_H
#define QEMU_REGISTERS_H

#include <specimen/pe.h>

/* Look them up, once, when there is a vCPU. */
void registers_find(void);

/* Those of the vCPU whose callback (QEMU_R_REGS) is running. */
extern struct spe_a64_registers registers_now;

#endif
