/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * --model core: the plugin writes down what each thread does, and the model has it in the order of
 * modelled time (pe/merge.h). What is sampled is watched there, and known a little later.
 */
#ifndef QEMU_CORE_H
#define QEMU_CORE_H

#include "qemu/unit.h"

/* What is to be called when the block runs. */
void core_call_back(struct qemu_plugin_tb *tb, struct pe_block *block);

/* A system call of the vCPU's thread is about to begin, and has returned. `forks`: QEMU stops all
 * threads for it. */
void core_syscall(struct vcpu *v, int64_t number, const uint64_t arguments[8], bool forks);
void core_syscall_return(struct vcpu *v, int64_t number, int64_t result);
/* In the child, where the other threads are not. */
void core_forked(void);

#endif
