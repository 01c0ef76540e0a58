/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Loops of 2 to 12 instructions, 400,000 rounds each; loop_N is the first instruction of the loop. */
    .macro loop length
    mov     x0, #0x1a80
    movk    x0, #0x6, lsl #16
    .global loop_\length
loop_\length:
    .rept   \length - 2
    nop
    .endr
    subs    x0, x0, #1
    b.ne    loop_\length
    .endm

    .text
    .global _start
_start:
    loop 2
    loop 3
    loop 4
    loop 5
    loop 6
    loop 7
    loop 8
    loop 9
    loop 10
    loop 11
    loop 12
    mov     x0, #0
    mov     x8, #94
    svc     #0
