/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A function of one megabyte, of which a short loop runs. */
    .text
    .global _start
    .type _start, %function
_start:
    ldr x1, =200000
1:  subs x1, x1, #1
    b.ne 1b
    mov x0, #0
    mov x8, #93
    svc #0
    .ltorg
    .rept 262144
    add x2, x2, #1
    .endr
    .size _start, . - _start
