/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A stand-in for QEMU: its side of the plugin interface (qemu/api.h), which a test drives as QEMU
 * drives the plugin. Guest addresses are those of this process.
 */
#ifndef TESTS_QEMU_STAND_IN_H
#define TESTS_QEMU_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qemu/api.h"

enum { STAND_IN_INSNS = 16, STAND_IN_VCPUS = 512 /* with inline counts, level 3 */ };

/* What all vCPUs have in them; vectors of 128 bits. */
extern struct stand_in_registers {
    uint64_t x[32], cpsr; /* x[31] is SP */
    uint8_t z[32][16], p[16][2];
} stand_in_registers;

/* The plugin, loaded into a QEMU of this level. */
void stand_in_install(const char *socket_name, int level);

struct qemu_plugin_tb *stand_in_translate(uint64_t pc, const uint32_t *words, size_t count);

/* A thread's vCPU comes, within clone (of vCPU 0, but for 0 itself), and goes, within exit. */
void stand_in_begin(unsigned vcpu);
void stand_in_end(unsigned vcpu);

/* Where a host's register of generated code points when a block begins; NULL: anywhere. */
extern const void *stand_in_state;

/* Does the plugin want to be told of the instruction's accesses? */
bool stand_in_tells(const struct qemu_plugin_tb *tb, size_t insn);

/* Is an atomic a read and then a write, as in QEMU 10? Else one that writes, as in QEMU 7.2. */
extern bool stand_in_splits_atomics;

/* A block runs to its end; each instruction that is a load or a store accesses `va`. */
void stand_in_run(unsigned vcpu, struct qemu_plugin_tb *tb, uint64_t va);

/* A system call; returns if the plugin does. */
void stand_in_call(unsigned vcpu, int64_t number, const uint64_t arguments[8]);
void stand_in_return(unsigned vcpu, int64_t number, int64_t result);

/* The process ends. No block may run meanwhile, as in QEMU. */
void stand_in_exit(void);

#endif
