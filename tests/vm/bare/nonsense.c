/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Writes nonsense to every SPE register from EL1 for a while (SECONDS), with some code to sample in
 * between, and prints how much. Everything may happen, except that the machine crashes or hangs.
 */
#include "bare.h"

#ifndef SECONDS
#define SECONDS 60
#endif

static u64 state = 88172645463325252;
static volatile u64 memory[512];

static u64 random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

#define REGISTERS(X)                                                                               \
    X(PMSCR_EL1)                                                                                   \
    X(PMSNEVFR_EL1)                                                                                \
    X(PMSICR_EL1)                                                                                  \
    X(PMSIRR_EL1)                                                                                  \
    X(PMSFCR_EL1)                                                                                  \
    X(PMSEVFR_EL1)                                                                                 \
    X(PMSLATFR_EL1)                                                                                \
    X(PMSIDR_EL1)                                                                                  \
    X(PMBLIMITR_EL1)                                                                               \
    X(PMBPTR_EL1)                                                                                  \
    X(PMBSR_EL1)                                                                                   \
    X(PMSDSFR_EL1)                                                                                 \
    X(PMBMAR_EL1)                                                                                  \
    X(PMBIDR_EL1)                                                                                  \
    X(PMSCR_EL2)                                                                                   \
    X(PMBSR_EL2)                                                                                   \
    X(PMSCR_EL12)                                                                                  \
    X(PMBSR_EL12)                                                                                  \
    X(PMBSR_EL3)

enum { COUNT = 19 };

static u64 access_register(unsigned n, int write, u64 value)
{
    unsigned i = 0;

#define ONE(reg)                                                                                   \
    if (i++ == n) {                                                                                \
        if (write)                                                                                 \
            WRITE(reg, value);                                                                     \
        else                                                                                       \
            value = READ(reg);                                                                     \
    }
    REGISTERS(ONE)
    return value;
}

/* Any bits, few bits, or something that makes the unit do what it is for. */
static u64 any_value(void)
{
    u64 r = random();

    switch (r >> 60) {
    case 0:
    case 1:
    case 2:
        return random();
    case 3:
    case 4:
        return random() & random() & random();
    case 5:
        return ~UINT64_C(0);
    case 6:
    case 7:
        return 0;
    case 8:
    case 9:
    case 10:
        return (PAGES + (r & 0x1fffff)) & ~UINT64_C(63);
    case 11:
    case 12:
        return ((PAGES + (r & 0x3fffff)) & ~UINT64_C(0xfff)) | 1;
    case 13:
        return r & 0x1ff;
    default:
        return 3 | (r & 0x38);
    }
}

static void some_code(void)
{
    unsigned rounds = random() & 255;

    for (unsigned i = 0; i < rounds; i++)
        memory[i] = memory[(i * 7) & 511] + (i & 1 ? i : memory[0]);
    if (rounds & 1)
        PSB_CSYNC();
    if (rounds & 2)
        ISB();
}

/* Sample with what nonsense has left, but with a buffer that works: there must be records. */
static u64 sane_moment(void)
{
    u64 start = PAGES + 0x1000;

    WRITE(PMSCR_EL1, 0);
    WRITE(PMBLIMITR_EL1, 0);
    ISB();
    WRITE(PMBSR_EL1, 0);
    WRITE(PMSFCR_EL1, 0);
    WRITE(PMSIRR_EL1, 256);
    WRITE(PMSICR_EL1, 0);
    WRITE(PMBPTR_EL1, start);
    WRITE(PMBLIMITR_EL1, (PAGES + 0x9000) | 1);
    ISB();
    WRITE(PMSCR_EL1, 2);
    ISB();
    for (unsigned i = 0; i < 20; i++)
        some_code();
    WRITE(PMSCR_EL1, 0);
    ISB();
    PSB_CSYNC();
    return READ(PMBPTR_EL1) - start;
}

int main(void)
{
    u64 end = READ("cntvct_el0") + SECONDS * READ("cntfrq_el0"), writes = 0, good = 0, bad = 0;

    while (READ("cntvct_el0") < end) {
        for (unsigned i = 0; i < 1000; i++) {
            unsigned n = (unsigned)(random() % COUNT);

            access_register(n, random() & 7, any_value());
            writes++;
            if ((random() & 3) == 0)
                some_code();
        }
        if (sane_moment())
            good++;
        else
            bad++;
    }
    print_hex("writes", writes);
    print_hex("good", good);
    print_hex("bad", bad);
    print_hex("exceptions", exceptions);
    print("\nend\n");
    return 0;
}
