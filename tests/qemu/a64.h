/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A little loop: what the tests let the stand-in for QEMU run. */
#ifndef TESTS_QEMU_A64_H
#define TESTS_QEMU_A64_H

#include <stdint.h>

#define LOOP_PC UINT64_C(0x400000)
#define LOOP_SIZE 5

static const uint32_t loop_words[LOOP_SIZE] = {
    0xf9400020, /* ldr x0, [x1] */
    0x91000400, /* add x0, x0, #1 */
    0xf9000020, /* str x0, [x1] */
    0xd503201f, /* nop */
    0x54ffff81, /* b.ne to the ldr */
};

#endif
