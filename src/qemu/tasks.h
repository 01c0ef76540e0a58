/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What a kernel would tell of the process beside its samples: its name, what is mapped where, and
 * what it becomes with exec.
 */
#ifndef QEMU_TASKS_H
#define QEMU_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu/wire.h"

/* Before the program is loaded: what is mapped now is QEMU's, not the program's. */
void tasks_begin(const struct wire_setup *setup);

/* At the first translation, when the program is loaded; guest address 0 is at this host address.
 * Sends WIRE_PROGRAM and the WIRE_MAPs of the program and its loader. */
void tasks_announce(uint64_t base);

/* System calls that change names, maps or our descriptor. Arguments are those of AArch64's. */
void tasks_syscall(int64_t number, const uint64_t arguments[8]);
void tasks_syscall_return(int64_t number, const uint64_t arguments[8], int64_t result,
                          uint64_t called); /* the time */

/*
 * execve or execveat is about to happen in the thread of this vCPU. If the new program is one for
 * AArch64, become QEMU with it (this does not return); else let QEMU do what it does. `leave` is
 * called in the first case once it is certain that there is something to become, to send all that
 * is left.
 */
void tasks_exec(int64_t number, const uint64_t arguments[8], void (*leave)(unsigned vcpu),
                unsigned vcpu);

/* Could so many descriptors be opened now? Else false with errno. */
bool tasks_has_descriptors(unsigned count);

/* A word of the program's memory; 0 if it is not there. */
uint64_t tasks_read_word(uint64_t address);

/* AArch64's numbers of the system calls that somebody looks at. */
enum {
    SYSCALL_DUP3 = 24,
    SYSCALL_CLOSE = 57,
    SYSCALL_EXIT = 93,
    SYSCALL_EXIT_GROUP = 94,
    SYSCALL_FUTEX = 98,
    SYSCALL_RT_SIGACTION = 134,
    SYSCALL_PRCTL = 167,
    SYSCALL_BRK = 214,
    SYSCALL_CLONE = 220,
    SYSCALL_EXECVE = 221,
    SYSCALL_MMAP = 222,
    SYSCALL_MPROTECT = 226,
    SYSCALL_EXECVEAT = 281,
    SYSCALL_CLONE3 = 435,
    SYSCALL_CLOSE_RANGE = 436,
};

#endif
