/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * PMBIRQ is a level (GICv3): a handler that leaves PMBSR_EL1.S set is called again, one that clears
 * it is not, and a level that falls before the interrupt is taken leaves nothing pending.
 */
#include "bare.h"

#define GICD_CTLR (*(volatile uint32_t *)0x08000000)
#define GICR_WAKER (*(volatile uint32_t *)0x080a0014)
#define GICR_IGROUPR0 (*(volatile uint32_t *)0x080b0080)
#define GICR_ISENABLER0 (*(volatile uint32_t *)0x080b0100)
#define ICC_PMR_EL1 "s3_0_c4_c6_0"
#define ICC_SRE_EL1 "s3_0_c12_c12_5"
#define ICC_IGRPEN1_EL1 "s3_0_c12_c12_7"
#define ICC_IAR1_EL1 "s3_0_c12_c12_0"
#define ICC_EOIR1_EL1 "s3_0_c12_c12_1"

enum { INTID = 21, CALLS = 3 };

static volatile u64 calls, others;
static volatile u64 sink;

void irq(void)
{
    u64 id = READ(ICC_IAR1_EL1);

    if (id == INTID && ++calls == CALLS) {
        WRITE(PMSCR_EL1, 0);
        ISB();
        WRITE(PMBSR_EL1, 0);
    } else if (id != INTID) {
        others++;
    }
    if (id < 1020)
        WRITE(ICC_EOIR1_EL1, id);
}

static void set_up(void)
{
    WRITE(ICC_SRE_EL1, 7);
    ISB();
    GICR_WAKER = 0;
    GICD_CTLR = 0x12; /* group 1, affinity routing */
    GICR_IGROUPR0 = ~0u;
    GICR_ISENABLER0 = 1u << INTID;
    WRITE(ICC_PMR_EL1, 0xff);
    WRITE(ICC_IGRPEN1_EL1, 1);
    ISB();
}

static void work(void)
{
    for (unsigned i = 0; i < 200000; i++)
        sink += i;
}

/* Fill a page of buffer. */
static void fill(void)
{
    WRITE(PMSIRR_EL1, 256);
    WRITE(PMSICR_EL1, 0);
    WRITE(PMSFCR_EL1, 0);
    WRITE(PMBPTR_EL1, PAGES);
    WRITE(PMBLIMITR_EL1, (PAGES + 4096) | 1);
    ISB();
    WRITE(PMSCR_EL1, 2);
    ISB();
    work();
    WRITE(PMSCR_EL1, 0);
    ISB();
    PSB_CSYNC();
    WRITE(PMBLIMITR_EL1, 0);
    ISB();
}

int main(void)
{
    set_up();
    __asm__ volatile("msr daifclr, #2");
    fill();
    work();
    print_hex("calls", calls);
    __asm__ volatile("msr daifset, #2");
    fill();
    print_hex("pmbsr", READ(PMBSR_EL1));
    WRITE(PMBSR_EL1, 0); /* falls before it is taken */
    ISB();
    __asm__ volatile("msr daifclr, #2");
    work();
    print_hex("after", calls);
    print_hex("others", others);
    print("\nend\n");
    return 0;
}
