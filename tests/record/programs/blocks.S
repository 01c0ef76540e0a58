/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A load of each block of 512 bytes of 16 MiB. ZVA: the block is cleared just before, PREFETCH: the
 * next one is asked for; else nothing is done, and each load misses. */
        .globl  _start
        .type   _start, %function
_start: mov     x20, #32768
        ldr     x0, =buffer
        .globl  walk
        .type   walk, %function
walk:
#if defined(ZVA)
        dc      zva, x0
#elif defined(PREFETCH)
        prfm    pldl1keep, [x0, #512]
#else
        nop
#endif
        ldr     x1, [x0]
        add     x0, x0, #512
        subs    x20, x20, #1
        b.ne    walk
        mov     x0, #0
        mov     x8, #93
        svc     #0
        .size   walk, . - walk
        .ltorg
        .bss
        .balign 4096
buffer: .skip   16 << 20
        .skip   4096
