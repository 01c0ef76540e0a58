/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Lets the Profiling Buffer run into pages that cannot be written, and prints what PMBSR_EL1 says.
 */
#include "bare.h"

static volatile u64 sink;

/* Sample at EL1 until the unit stops, or for too long. */
static u64 profile(u64 pointer, u64 limit)
{
    WRITE(PMSCR_EL1, 0);
    ISB();
    WRITE(PMBSR_EL1, 0);
    WRITE(PMSFCR_EL1, 0);
    WRITE(PMSIRR_EL1, 256);
    WRITE(PMSICR_EL1, 0);
    WRITE(PMBPTR_EL1, pointer);
    WRITE(PMBLIMITR_EL1, limit | 1);
    ISB();
    WRITE(PMSCR_EL1, 2);
    ISB();
    for (unsigned i = 0; i < 1000000 && !(READ(PMBSR_EL1) >> 17 & 1); i++)
        for (unsigned k = 0; k < 100; k++)
            sink += k;
    WRITE(PMSCR_EL1, 0);
    ISB();
    PSB_CSYNC();
    DSB();
    WRITE(PMBLIMITR_EL1, 0);
    ISB();
    return READ(PMBSR_EL1);
}

static void report(const char *name, u64 pointer, u64 limit)
{
    u64 status = profile(pointer, limit);

    print(name);
    print(": ");
    print_hex("pmbsr", status);
    print_hex("pmbptr", READ(PMBPTR_EL1));
    print("\n");
}

int main(void)
{
    u64 start = PAGES + 0x10000, bad = start + 4096, limit = start + 0x4000;

    print_hex("pmsidr", READ(PMSIDR_EL1));
    print_hex("pmbidr", READ(PMBIDR_EL1));
    print_hex("dfr0", READ("id_aa64dfr0_el1"));
    print("\n");
    report("full", start, start + 4096);
    set_page(17, PAGE_UNMAPPED);
    report("unmapped", start, limit);
    report("unmapped first", bad, limit);
    set_page(17, PAGE_READ_ONLY);
    report("read-only", start, limit);
    report("read-only first", bad, limit);
    set_page(17, PAGE_NOT_ACCESSED);
    report("not accessed", start, limit);
    set_page(17, PAGE_GOOD);
    report("good", start, limit);
    report("no table", NOTHING, NOTHING + 0x4000);
    report("no range", UINT64_C(1) << 40, (UINT64_C(1) << 40) + 0x4000);
    report("no upper range", UINT64_C(0xffff000000000000), UINT64_C(0xffff000000004000));
    print_hex("exceptions", exceptions);
    print("\nend\n");
    return 0;
}
