/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Runs a number of instructions that can be told from this text:
 *   2 + LOOPS * 8 + 3 = LOOPS * 8 + 5, of which the last is SVC. */
        .globl  _start
        .type   _start, %function
_start: ldr     x0, =LOOPS
        adr     x1, table
loop:   ldr     x2, [x1]
        add     x2, x2, #1
        str     x2, [x1]
        ldp     x3, x4, [x1, #16]
        add     x3, x3, x4
        nop
        subs    x0, x0, #1
        b.ne    loop
        .size   _start, . - _start
        .globl  finish
        .type   finish, %function
finish: mov     x0, #5
        mov     x8, #93
        svc     #0
        .size   finish, . - finish
        .ltorg
        .section .data
        .globl  table
        .type   table, %object
        .balign 64
table:  .quad   0, 0, 1, 2
        .size   table, . - table
