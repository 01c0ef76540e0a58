/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "bare.h"

#define UART (*(volatile uint32_t *)0x09000000)

volatile u64 exceptions;

static u64 level1[512] __attribute__((aligned(4096)));
static u64 level2[512] __attribute__((aligned(4096)));
static u64 level3[512] __attribute__((aligned(4096)));

enum {
    VALID = 1,
    TABLE = 2, /* or a page at level 3 */
    DEVICE = 1 << 2,
    READ_ONLY = 1 << 7,
    INNER_SHAREABLE = 3 << 8,
    ACCESSED = 1 << 10,
    NORMAL = INNER_SHAREABLE | ACCESSED
};

void set_page(unsigned n, enum page kind)
{
    u64 address = PAGES + 4096 * (u64)n;

    switch (kind) {
    case PAGE_GOOD:
        level3[n] = address | NORMAL | TABLE | VALID;
        break;
    case PAGE_UNMAPPED:
        level3[n] = 0;
        break;
    case PAGE_READ_ONLY:
        level3[n] = address | NORMAL | READ_ONLY | TABLE | VALID;
        break;
    case PAGE_NOT_ACCESSED:
        level3[n] = address | INNER_SHAREABLE | TABLE | VALID;
        break;
    }
    DSB();
    __asm__ volatile("tlbi vmalle1" ::: "memory");
    DSB();
    ISB();
}

u64 make_tables(void)
{
    for (unsigned i = 0; i < 512; i++) {
        level2[i] = (UINT64_C(0x40000000) + ((u64)i << 21)) | NORMAL | VALID;
        level3[i] = (PAGES + 4096 * (u64)i) | NORMAL | TABLE | VALID;
    }
    level2[(PAGES >> 21) & 511] = (u64)level3 | TABLE | VALID;
    level2[(NOTHING >> 21) & 511] = 0;
    level1[0] = DEVICE | ACCESSED | VALID;
    level1[1] = (u64)level2 | TABLE | VALID;
    return (u64)level1;
}

__attribute__((weak)) void irq(void) {}

void print(const char *text)
{
    while (*text)
        UART = (uint32_t)*text++;
}

void print_hex(const char *name, u64 value)
{
    print(name);
    print("=");
    for (int shift = 60; shift >= 0; shift -= 4)
        UART = (uint32_t) "0123456789abcdef"[value >> shift & 15];
    print(" ");
}
