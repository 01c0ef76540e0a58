/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A loop of conditional selects and compares: half of their conditions fail. */
    .global _start
_start:
    mov     x0, #0x8000
loop:
    tst     x0, #1
    csel    x1, x2, x3, eq
    csinc   x1, x2, x3, ne
    ccmp    x1, x2, #0, eq
    subs    x0, x0, #1
    b.ne    loop
    mov     x0, #0
    mov     x8, #94
    svc     #0
