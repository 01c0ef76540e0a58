/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Accesses of SVE, DC ZVA and a prefetch, each at its label and with addresses that can be told from
 * this text: pages of `buffer`, one for each. */
        .arch   armv8-a+sve
        .globl  _start
        .type   _start, %function
_start: ldr     x20, =LOOPS
        ldr     x0, =buffer
        add     x1, x0, #0x1000
        add     x2, x0, #0x2000
        add     x3, x0, #0x3000
        add     x4, x0, #0x4000
        add     x5, x0, #0x5000
        add     x6, x0, #0x6000
        add     x6, x6, #100
        add     x7, x0, #0x7000
        add     x9, x0, #0x8000
        add     x10, x0, #0xa000
        sub     x10, x10, #8
        ptrue   p0.d
        ptrue   p1.d, vl1
        pfalse  p2.b
        index   z1.d, #0, #1
        lsl     z1.d, z1.d, #6
        fmov    z2.d, #1.0
        .globl  contiguous, partial, empty, gather, scatter, first_fault, at_the_edge, structure
        .globl  whole, zva, prefetch
contiguous:     ld1d    z0.d, p0/z, [x0]
partial:        st1d    z2.d, p1, [x1, #1, mul vl]
empty:          ld1d    z0.d, p2/z, [x1, #2, mul vl]
gather:         ld1d    z0.d, p0/z, [x2, z1.d]
scatter:        st1d    z2.d, p0, [x3, z1.d]
first_fault:    ldff1d  z0.d, p0/z, [x4]
at_the_edge:    ldff1d  z0.d, p0/z, [x10]
structure:      ld2d    {z4.d, z5.d}, p0/z, [x5]
whole:          ldr     z6, [x9, #1, mul vl]
zva:            dc      zva, x6
prefetch:       prfm    pldl1keep, [x7]
        subs    x20, x20, #1
        b.ne    contiguous
        mov     x0, #0
        mov     x8, #93
        svc     #0
        .size   _start, . - _start
        .ltorg
        .bss
        .balign 4096
        .globl  buffer
        .type   buffer, %object
buffer: .skip   0xa000
        .size   buffer, . - buffer
