/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* How often each branch goes where can be told from this text; ROUNDS is a multiple of 8. */
        .globl  _start
        .type   _start, %function
_start: ldr     x0, =ROUNDS
        .globl  loop, choose, call, joined, again, rare, back, give
loop:   tst     x0, #7
choose: b.eq    rare            /* taken ROUNDS / 8 times, not taken the others */
call:   bl      callee          /* ROUNDS * 7 / 8 */
joined: subs    x0, x0, #1
again:  b.ne    loop            /* ROUNDS - 1, and once not */
        mov     x0, #5
        mov     x8, #93
        svc     #0
rare:   add     x1, x1, #1
back:   b       joined          /* ROUNDS / 8 */
        .size   _start, . - _start
        .globl  callee
        .type   callee, %function
callee: add     x2, x2, #1
give:   ret                     /* ROUNDS * 7 / 8 */
        .size   callee, . - callee
        .ltorg
