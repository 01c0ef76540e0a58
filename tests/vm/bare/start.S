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

    /* Every exception skips the instruction that caused it and counts; interrupts, which most
       programs leave masked, call irq(). */
    .macro skip
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
    .endm

    .balign 2048
vectors:
    .rept 5
    skip
    .endr
    .balign 128
    b       interrupt
    .rept 10
    skip
    .endr

interrupt:
    stp     x0, x1, [sp, #-160]!
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x30, [sp, #144]
    bl      irq
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    ldp     x10, x11, [sp, #80]
    ldp     x12, x13, [sp, #96]
    ldp     x14, x15, [sp, #112]
    ldp     x16, x17, [sp, #128]
    ldp     x18, x30, [sp, #144]
    ldp     x0, x1, [sp], #160
    eret

    .bss
    .balign 16
    .skip 16384
stack_top:
