/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * How many operations one sample takes, to the last one: two loops that differ by 1000 periods
 * leave the same PMSICR_EL1.COUNT behind.
 */
#include "bare.h"

static u64 count_after(u64 turns)
{
    WRITE(PMSCR_EL1, 0);
    ISB();
    WRITE(PMBSR_EL1, 0);
    WRITE(PMSFCR_EL1, 0);
    WRITE(PMSIRR_EL1, 1024);
    WRITE(PMSICR_EL1, 0);
    WRITE(PMBPTR_EL1, PAGES);
    WRITE(PMBLIMITR_EL1, (PAGES + 0x200000) | 1);
    ISB();
    WRITE(PMSCR_EL1, 2);
    ISB();
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns)::"cc");
    WRITE(PMSCR_EL1, 0);
    ISB();
    PSB_CSYNC();
    return READ(PMSICR_EL1);
}

/* The same with a load and a store a turn: they have callbacks of their own. */
static u64 count_after_memory(u64 turns)
{
    static u64 cell[2];

    WRITE(PMSICR_EL1, 0);
    WRITE(PMBPTR_EL1, PAGES);
    ISB();
    WRITE(PMSCR_EL1, 2);
    ISB();
    __asm__ volatile("1: ldr x9, [%1]\n\tadd x9, x9, #1\n\tstr x9, [%1, #8]\n\tsubs %0, %0, #1\n\t"
                     "b.ne 1b"
                     : "+r"(turns)
                     : "r"(cell)
                     : "cc", "x9", "memory");
    WRITE(PMSCR_EL1, 0);
    ISB();
    PSB_CSYNC();
    return READ(PMSICR_EL1);
}

int main(void)
{
    print_hex("plain", count_after(1000));
    print_hex("plain1", count_after(1001));
    print_hex("plain1000", count_after(1000 + 1000 * 1025 / 2));
    print_hex("memory", count_after_memory(1000));
    print_hex("memory1", count_after_memory(1001));
    print_hex("memory1000", count_after_memory(1000 + 1000 * 1025 / 5));
    print("\nend\n");
    return 0;
}
