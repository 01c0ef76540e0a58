/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A program without an operating system on QEMU's virt machine: starts at EL1 with translation off,
 * turns it on (bare.c has the tables), calls main, and turns the machine off.
 */
    .section .start, "ax"
    .global _start
_start:
    adrp    x0, stack_top
    add     x0, x0, :lo12:stack_top
    mov     sp, x0
    adrp    x0, vectors
    add     x0, x0, :lo12:vectors
    msr     vbar_el1, x0
    bl      make_tables
    mov     x1, #0x00ff
    msr     mair_el1, x1
    ldr     x1, =0x0000000200803519 /* T0SZ 25, 4K pages, write-back, TTBR1 off, 40-bit addresses */
    msr     tcr_el1, x1
    msr     ttbr0_el1, x0
    isb
    mrs     x1, sctlr_el1
    orr     x1, x1, #1
    msr     sctlr_el1, x1
    isb
    bl      main
    .global power_off
power_off:
    ldr     x0, =0x84000008      /* PSCI SYSTEM_OFF */
    hvc     #0
1:  wfi
    b       1b

    /* Every exception skips the instruction that caused it and counts; interrupts stay masked. */
    .balign 2048
vectors:
    .rept 16
    .balign 128
    stp     x0, x1, [sp, #-16]!
    mrs     x0, elr_el1
    add     x0, x0, #4
    msr     elr_el1, x0
    adrp    x0, exceptions
    ldr     x1, [x0, :lo12:exceptions]
    add     x1, x1, #1
    str     x1, [x0, :lo12:exceptions]
    ldp     x0, x1, [sp], #16
    eret
    .endr

    .bss
    .balign 16
    .skip 16384
stack_top:
