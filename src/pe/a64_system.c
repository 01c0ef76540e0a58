/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C4.1, Branches, Exception Generating and System instructions: the System ones; C5.1. */
#include "pe/a64.h"

/* WFET, WFIT; WFE, WFI */
static bool wait(struct spe_a64 *insn)
{
    insn->operation.kind = SPE_OPERATION_WFX;
    return true;
}

static bool isb(struct spe_a64 *insn)
{
    insn->operation.kind = SPE_OPERATION_ISB;
    return true;
}

/* An operation on the address in Xt. Its size is told as one byte: the line or page around it. */
static bool by_va(struct spe_a64 *insn, enum spe_operation_kind kind)
{
    a64_access(insn, kind, SPE_REGISTERS_GENERAL, 1);
    insn->address = SPE_A64_REGISTER;
    insn->base = (uint8_t)bits(insn->word, 4, 0);
    return true;
}

static bool cmo(struct spe_a64 *insn)
{
    return by_va(insn, SPE_OPERATION_CMO);
}

static bool at(struct spe_a64 *insn)
{
    return by_va(insn, SPE_OPERATION_AT);
}

/* D17.6.4: a store, whose size DCZID_EL0 tells. */
static bool dc_zva(struct spe_a64 *insn)
{
    by_va(insn, SPE_OPERATION_DC_ZVA);
    insn->operation.registers = SPE_REGISTERS_UNSPECIFIED;
    insn->operation.contiguous = true;
    insn->store = true;
    insn->writes_memory_unconditionally = true;
    insn->bytes = 0;
    insn->rounds_down = true;
    return true;
}

/* The Guarded Control Stack pointer is a System register: no address is known. */
static void gcs(struct spe_a64 *insn, bool load, bool store)
{
    insn->operation.kind = SPE_OPERATION_GCS;
    insn->load = load;
    insn->store = store;
    insn->writes_memory_unconditionally = store && !load;
}

/* GCSPUSHM, GCSPUSHX */
static bool gcs_push(struct spe_a64 *insn)
{
    gcs(insn, false, true);
    insn->bytes = bits(insn->word, 18, 16) == 3 ? 8 : 32;
    return true;
}

/* GCSPOPM, GCSPOPX, GCSPOPCX */
static bool gcs_pop(struct spe_a64 *insn)
{
    gcs(insn, true, false);
    insn->bytes = bits(insn->word, 18, 16) == 3 ? 8 : 32;
    return true;
}

/* GCSSS1 swaps the entry at Xt, and sees what was there: a swap that returns a value to the PE. */
static bool gcs_switch(struct spe_a64 *insn)
{
    gcs(insn, true, true);
    insn->operation.returns_value = true;
    insn->address = SPE_A64_REGISTER;
    insn->base = (uint8_t)bits(insn->word, 4, 0);
    insn->bytes = 8;
    return true;
}

/* GCSSS2 reads the new stack and writes to the old one. */
static bool gcs_switched(struct spe_a64 *insn)
{
    gcs(insn, true, true);
    insn->bytes = 8;
    return true;
}

/*
 * C5.3 to C5.5. SYS without a name here is allocated and OTHER: set/way and whole-cache
 * maintenance, maintenance by PA, TLBI, BRB, prediction restriction ...
 */
#define SYS(op1, crm, op2) (0xd5087000u | (op1) << 16 | (crm) << 8 | (op2) << 5)
#define SYSL(op1, crm, op2) (SYS(op1, crm, op2) | 1u << 21)
#define ONE 0xffffffe0u /* all of op1, CRn, CRm, op2 */

static const struct a64_group sys_named[] = {
    {ONE, SYS(0, 6, 1), cmo},                  /* DC IVAC */
    {ONE, SYS(0, 6, 3), cmo},                  /* DC IGVAC */
    {ONE, SYS(0, 6, 5), cmo},                  /* DC IGDVAC */
    {ONE, SYS(3, 4, 1), dc_zva},               /* DC ZVA */
    {ONE, SYS(3, 4, 3), dc_zva},               /* DC GVA */
    {ONE, SYS(3, 4, 4), dc_zva},               /* DC GZVA */
    {ONE, SYS(3, 5, 1), cmo},                  /* IC IVAU */
    {ONE, SYS(3, 10, 1), cmo},                 /* DC CVAC */
    {ONE, SYS(3, 10, 3), cmo},                 /* DC CGVAC */
    {ONE, SYS(3, 10, 5), cmo},                 /* DC CGDVAC */
    {ONE, SYS(3, 11, 0), cmo},                 /* DC CVAOC */
    {ONE, SYS(3, 11, 1), cmo},                 /* DC CVAU */
    {ONE, SYS(3, 11, 7), cmo},                 /* DC CGDVAOC */
    {ONE, SYS(3, 12, 1), cmo},                 /* DC CVAP */
    {ONE, SYS(3, 12, 3), cmo},                 /* DC CGVAP */
    {ONE, SYS(3, 12, 5), cmo},                 /* DC CGDVAP */
    {ONE, SYS(3, 13, 1), cmo},                 /* DC CVADP */
    {ONE, SYS(3, 13, 3), cmo},                 /* DC CGVADP */
    {ONE, SYS(3, 13, 5), cmo},                 /* DC CGDVADP */
    {ONE, SYS(3, 14, 1), cmo},                 /* DC CIVAC */
    {ONE, SYS(3, 14, 3), cmo},                 /* DC CIGVAC */
    {ONE, SYS(3, 14, 5), cmo},                 /* DC CIGDVAC */
    {ONE, SYS(3, 15, 0), cmo},                 /* DC CIVAOC */
    {ONE, SYS(3, 15, 7), cmo},                 /* DC CIGDVAOC */
    {ONE & ~0x60u, SYS(0, 8, 0), at},          /* AT S1E1R, S1E1W, S1E0R, S1E0W */
    {ONE & ~0x20u, SYS(0, 9, 0), at},          /* AT S1E1RP, S1E1WP */
    {ONE, SYS(0, 9, 2), at},                   /* AT S1E1A */
    {ONE & ~0x20u, SYS(4, 8, 0), at},          /* AT S1E2R, S1E2W */
    {ONE & ~0x60u, SYS(4, 8, 4), at},          /* AT S12E1R, S12E1W, S12E0R, S12E0W */
    {ONE, SYS(4, 9, 2), at},                   /* AT S1E2A */
    {ONE & ~0x20u, SYS(6, 8, 0), at},          /* AT S1E3R, S1E3W */
    {ONE, SYS(6, 9, 2), at},                   /* AT S1E3A */
    {ONE, SYS(3, 7, 0), gcs_push},             /* GCSPUSHM */
    {ONE, SYSL(3, 7, 1), gcs_pop},             /* GCSPOPM */
    {ONE, SYS(3, 7, 2), gcs_switch},           /* GCSSS1 */
    {ONE, SYSL(3, 7, 3), gcs_switched},        /* GCSSS2 */
    {0xffffffff, SYS(0, 7, 4) | 31, gcs_push}, /* GCSPUSHX */
    {0xffffffff, SYS(0, 7, 5) | 31, gcs_pop},  /* GCSPOPCX */
    {0xffffffff, SYS(0, 7, 6) | 31, gcs_pop},  /* GCSPOPX */
};

/* SYS and SYSL: all are allocated. Those with a name here have CRn 7. */
static bool sys(struct spe_a64 *insn)
{
    if (bits(insn->word, 15, 12) == 7)
        a64_decode(insn, sys_named, COUNT_OF(sys_named));
    return true;
}

static const struct a64_group groups[] = {
    {0xffffffdf, 0xd503205f, wait},      /* WFE, WFI */
    {0xfffff01f, 0xd503201f, a64_other}, /* hints: all are allocated, as NOP */
    {0xfffff0ff, 0xd50330df, isb},       /* ISB */
    {0xfffff0ff, 0xd503305f, a64_other}, /* CLREX */
    {0xfffff0df, 0xd503309f, a64_other}, /* DSB, DMB */
    {0xfffff3ff, 0xd503323f, a64_other}, /* DSB nXS */
    {0xfffff0ff, 0xd50330ff, a64_other}, /* SB */
    {0xffffffff, 0xd503307f, a64_other}, /* TCOMMIT */
    {0xffffffc0, 0xd5031000, wait},      /* WFET, WFIT */
    {0xfff8f01f, 0xd500401f, a64_other}, /* MSR (immediate), CFINV, XAFLAG, AXFLAG, SMSTART */
    {0xfffffde0, 0xd5233060, a64_other}, /* TSTART, TTEST */
    {0xffd80000, 0xd5080000, sys},       /* SYS, SYSL */
    {0xffd00000, 0xd5100000, a64_other}, /* MSR, MRS (register) */
    {0xfff80001, 0xd5480000, a64_other}, /* SYSP: of a pair */
    {0xfff8001f, 0xd548001f, a64_other}, /* ... of XZR, XZR */
    {0xffd00001, 0xd5500000, a64_other}, /* MSRR, MRRS: of a pair */
};

bool a64_system(struct spe_a64 *insn)
{
    return a64_decode(insn, groups, COUNT_OF(groups));
}
