/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef BARE_H
#define BARE_H

#include <stdint.h>

typedef uint64_t u64;

#define PMSCR_EL1 "s3_0_c9_c9_0"
#define PMSNEVFR_EL1 "s3_0_c9_c9_1"
#define PMSICR_EL1 "s3_0_c9_c9_2"
#define PMSIRR_EL1 "s3_0_c9_c9_3"
#define PMSFCR_EL1 "s3_0_c9_c9_4"
#define PMSEVFR_EL1 "s3_0_c9_c9_5"
#define PMSLATFR_EL1 "s3_0_c9_c9_6"
#define PMSIDR_EL1 "s3_0_c9_c9_7"
#define PMBLIMITR_EL1 "s3_0_c9_c10_0"
#define PMBPTR_EL1 "s3_0_c9_c10_1"
#define PMBSR_EL1 "s3_0_c9_c10_3"
#define PMSDSFR_EL1 "s3_0_c9_c10_4"
#define PMBMAR_EL1 "s3_0_c9_c10_5"
#define PMBIDR_EL1 "s3_0_c9_c10_7"
#define PMSCR_EL2 "s3_4_c9_c9_0"
#define PMBSR_EL2 "s3_4_c9_c10_3"
#define PMSCR_EL12 "s3_5_c9_c9_0"
#define PMBSR_EL12 "s3_5_c9_c10_3"
#define PMBSR_EL3 "s3_6_c9_c10_3"

#define READ(reg)                                                                                  \
    ({                                                                                             \
        u64 value_ = 0;                                                                            \
        __asm__ volatile("mrs %0, " reg : "+r"(value_)::"memory");                                 \
        value_;                                                                                    \
    })
#define WRITE(reg, value) __asm__ volatile("msr " reg ", %0" ::"r"((u64)(value)) : "memory")
#define ISB() __asm__ volatile("isb" ::: "memory")
#define PSB_CSYNC() __asm__ volatile("hint #17" ::: "memory")
#define DSB() __asm__ volatile("dsb sy" ::: "memory")

extern volatile u64 exceptions;

/* RAM is mapped one to one with blocks of 2 MB, except these 2 MB, which have pages, and 2 MB
 * behind them, which have nothing. */
#define PAGES UINT64_C(0x48000000)
#define NOTHING (PAGES + 0x200000)

enum page { PAGE_GOOD, PAGE_UNMAPPED, PAGE_READ_ONLY, PAGE_NOT_ACCESSED };
void set_page(unsigned n, enum page kind);

void irq(void); /* an interrupt; bare.c has one that does nothing */

void print(const char *text);
void print_hex(const char *name, u64 value);
int main(void);
u64 make_tables(void);

#endif
