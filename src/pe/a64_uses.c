/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which registers an instruction reads and writes: the fields of the tables, and those of integer,
 * branch and system instructions.
 */
#include "pe/a64_uses.h"
#include "base/sized.h"

uint64_t uses_find(uint32_t word, const struct uses_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((word & rows[i].mask) == rows[i].value)
            return rows[i].uses;
    return 0;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* The registers that a field names: the first is `add` and bits `mask` of the word from `low` on.
 */
struct field {
    uint64_t use;
    uint8_t low, mask, add, count, step;
};

static const struct field general_reads[] = {
    {USES_XD, 0, 31, 0, 1, 1},       {USES_XN, 5, 31, 0, 1, 1},   {USES_XM, 16, 31, 0, 1, 1},
    {USES_XA, 10, 31, 0, 1, 1},      {USES_XD_2, 0, 31, 0, 2, 1}, {USES_XD_8, 0, 31, 0, 8, 1},
    {USES_XM_2, 16, 31, 0, 2, 1},    {USES_W8, 13, 3, 8, 1, 1},   {USES_W12, 13, 3, 12, 1, 1},
    {USES_W12_LOW, 16, 3, 12, 1, 1}, {USES_X15, 0, 0, 15, 1, 1},  {USES_X16, 0, 0, 16, 1, 1},
    {USES_X17, 0, 0, 17, 1, 1},      {USES_X30, 0, 0, 30, 1, 1},
};

static const struct field general_writes[] = {
    {USES_TO_XD, 0, 31, 0, 1, 1},    {USES_TO_XN, 5, 31, 0, 1, 1},   {USES_TO_XM, 16, 31, 0, 1, 1},
    {USES_TO_XA, 10, 31, 0, 1, 1},   {USES_TO_XD_2, 0, 31, 0, 2, 1}, {USES_TO_XD_8, 0, 31, 0, 8, 1},
    {USES_TO_XM_2, 16, 31, 0, 2, 1}, {USES_TO_X16, 0, 0, 16, 1, 1},  {USES_TO_X17, 0, 0, 17, 1, 1},
    {USES_TO_X30, 0, 0, 30, 1, 1},
};

static const struct field vector_reads[] = {
    {USES_VD, 0, 31, 0, 1, 1},         {USES_VN, 5, 31, 0, 1, 1},
    {USES_VM, 16, 31, 0, 1, 1},        {USES_VA, 10, 31, 0, 1, 1},
    {USES_VM_BITS_3, 16, 7, 0, 1, 1},  {USES_VM_BITS_4, 16, 15, 0, 1, 1},
    {USES_VN_2, 5, 31, 0, 2, 1},       {USES_VN_3, 5, 31, 0, 3, 1},
    {USES_VN_4, 5, 31, 0, 4, 1},       {USES_VD_EVEN_2, 0, 30, 0, 2, 1},
    {USES_VD_EVEN_4, 0, 28, 0, 4, 1},  {USES_VN_EVEN_2, 5, 30, 0, 2, 1},
    {USES_VN_EVEN_4, 5, 28, 0, 4, 1},  {USES_VM_EVEN_2, 16, 30, 0, 2, 1},
    {USES_VM_EVEN_4, 16, 28, 0, 4, 1},
};

static const struct field vector_writes[] = {
    {USES_TO_VD, 0, 31, 0, 1, 1},         {USES_TO_VA, 10, 31, 0, 1, 1},
    {USES_TO_VD_EVEN_2, 0, 30, 0, 2, 1},  {USES_TO_VD_EVEN_4, 0, 28, 0, 4, 1},
    {USES_TO_VD_APART_2, 0, 23, 0, 2, 8}, {USES_TO_VD_APART_4, 0, 19, 0, 4, 4},
};

static uint64_t general(uint32_t word, uint64_t uses, const struct field *fields, size_t count)
{
    uint64_t all = 0;

    for (size_t i = 0; i < count; i++)
        for (unsigned n = 0; uses & fields[i].use && n < fields[i].count; n++)
            all |= uses_x((word >> fields[i].low & fields[i].mask) + fields[i].add + n);
    return all;
}

static uint64_t vectors(uint32_t word, uint64_t uses, const struct field *fields, size_t count)
{
    uint64_t all = 0;

    for (size_t i = 0; i < count; i++)
        if (uses & fields[i].use)
            all |= uses_vectors(word >> fields[i].low & fields[i].mask, fields[i].count,
                                fields[i].step);
    return all;
}

struct uses uses_registers(uint32_t word, uint64_t uses)
{
    struct uses u = {
        general(word, uses, general_reads, COUNT_OF(general_reads)) |
            vectors(word, uses, vector_reads, COUNT_OF(vector_reads)),
        general(word, uses, general_writes, COUNT_OF(general_writes)) |
            vectors(word, uses, vector_writes, COUNT_OF(vector_writes)),
    };

    if (uses & USES_NZCV)
        u.reads |= SPE_A64_USES_FLAGS;
    if (uses & USES_TO_NZCV)
        u.writes |= SPE_A64_USES_FLAGS;
    return u;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

#define XD USES_XD
#define XN USES_XN
#define XM USES_XM
#define XA USES_XA
#define X30 USES_X30
#define X16_17 (USES_X16 | USES_X17)
#define X15_16_17 (USES_X15 | USES_X16 | USES_X17)
#define NZCV USES_NZCV
#define TO_XD USES_TO_XD
#define TO_X17 USES_TO_X17
#define TO_X30 USES_TO_X30
#define TO_NZCV USES_TO_NZCV

/* clang-format off */

static const struct uses_row integer[] = {
    {0x1f000000, 0x10000000, TO_XD},                       /* ADR, ADRP */
    {0x3f800000, 0x31000000, XN | TO_XD | TO_NZCV},        /* ADDS, SUBS (immediate) */
    {0x1f000000, 0x11000000, XN | TO_XD},                  /* ADD, SUB, ADDG, SUBG, SMAX ... */
    {0x7f800000, 0x72000000, XN | TO_XD | TO_NZCV},        /* ANDS (immediate) */
    {0x1f800000, 0x12000000, XN | TO_XD},                  /* AND, ORR, EOR */
    {0x7f800000, 0x72800000, XD | TO_XD},                  /* MOVK */
    {0x1f800000, 0x12800000, TO_XD},                       /* MOVN, MOVZ */
    {0x7f800000, 0x33000000, XD | XN | TO_XD},             /* BFM */
    {0x1f800000, 0x13000000, XN | TO_XD},                  /* SBFM, UBFM */
    {0xff800000, 0xf3800000, X30 | TO_X30},                /* AUTIASPPC, AUTIBSPPC */
    {0x1f800000, 0x13800000, XN | XM | TO_XD},             /* EXTR */
    /* register */
    {0x7f000000, 0x6a000000, XN | XM | TO_XD | TO_NZCV},   /* ANDS, BICS */
    {0x1f000000, 0x0a000000, XN | XM | TO_XD},             /* AND, BIC, ORR, ORN, EOR, EON */
    {0x3f000000, 0x2b000000, XN | XM | TO_XD | TO_NZCV},   /* ADDS, SUBS */
    {0x1f000000, 0x0b000000, XN | XM | TO_XD},             /* ADD, SUB */
    {0x3fe0fc00, 0x1a000000, XN | XM | NZCV | TO_XD},      /* ADC, SBC */
    {0x3fe0fc00, 0x3a000000, XN | XM | NZCV | TO_XD | TO_NZCV}, /* ADCS, SBCS */
    {0x3fe00000, 0x1a000000, XN | XM | TO_XD},             /* ADDPT, SUBPT */
    {0x3fe00000, 0x3a000000, XN | NZCV | TO_NZCV},         /* RMIF, SETF8, SETF16 keep flags */
    {0x1fe00800, 0x1a400000, XN | XM | NZCV | TO_NZCV},    /* CCMN, CCMP (register) */
    {0x1fe00800, 0x1a400800, XN | NZCV | TO_NZCV},         /* CCMN, CCMP (immediate) */
    {0x1fe00000, 0x1a800000, XN | XM | NZCV | TO_XD},      /* CSEL, CSINC, CSINV, CSNEG */
    {0x1f600000, 0x1b400000, XN | XM | TO_XD},             /* SMULH, UMULH */
    {0x1f000000, 0x1b000000, XN | XM | XA | TO_XD},        /* MADD, MSUB, SMADDL ... MADDPT */
    /* two sources, one source */
    {0x7fe0fc00, 0x3ac00000, XN | XM | TO_XD | TO_NZCV},   /* SUBPS */
    {0x5fe00000, 0x1ac00000, XN | XM | TO_XD},             /* UDIV, LSLV, CRC32, PACGA, IRG ... */
    {0x5fffc000, 0x5ac10000, XD | XN | TO_XD},             /* PACIA ... AUTDZB */
    {0x5fffc000, 0x5ac14000, XD | TO_XD},                  /* XPACI, XPACD */
    {0x5ffff800, 0x5ac18000, X30 | TO_X30},                /* PACNBIASPPC, PACNBIBSPPC */
    {0x5ffff800, 0x5ac18800, X15_16_17 | TO_X17},          /* PACIA171615, PACIB171615 */
    {0x5ffff800, 0x5ac19000, X30 | XN | TO_X30},           /* AUTIASPPCR, AUTIBSPPCR */
    {0x5ffff800, 0x5ac1a000, X30 | TO_X30},                /* PACIASPPC, PACIBSPPC */
    {0x5ffff800, 0x5ac1b800, X15_16_17 | TO_X17},          /* AUTIA171615, AUTIB171615 */
    {0x5fe00000, 0x5ac00000, XN | TO_XD},                  /* RBIT, REV, CLZ, ABS ... */
};

static const struct uses_row branch[] = {
    {0xff000000, 0x54000000, NZCV},                        /* B.cond, BC.cond */
    {0xff000000, 0x55000000, X30},                         /* RETAASPPC, RETABSPPC */
    {0x7c000000, 0x34000000, XD},                          /* CBZ, CBNZ, TBZ, TBNZ */
    {0x7f000000, 0x74000000, XD | XM},                     /* CB<cc>, CBB<cc>, CBH<cc> */
    {0x7f000000, 0x75000000, XD},                          /* CB<cc> (immediate) */
    {0xfc000000, 0x94000000, TO_X30},                      /* BL */
    {0xfffff800, 0xd65f0800, X30 | XD},                    /* RETAA, RETAB; RETAASPPCR: Rm is D */
    {0xfffff800, 0xd71f0800, XN | XD},                     /* BRAA, BRAB */
    {0xfffff800, 0xd73f0800, XN | XD | TO_X30},            /* BLRAA, BLRAB */
    {0xfffff000, 0xd63f0000, XN | TO_X30},                 /* BLR, BLRAAZ, BLRABZ */
    {0xff9ff000, 0xd61f0000, XN},                          /* BR, BRAAZ, BRABZ, RET */
    {0xff9ff000, 0xd69f0000, TO_NZCV},                     /* ERET, ERETAA, ERETAB, DRPS */
    /* system */
    {0xfffff000, 0xd5031000, XD},                          /* WFET, WFIT */
    {0xffffff1f, 0xd503231f, X30 | TO_X30},                /* PACIAZ ... AUTIBSP */
    {0xffffff3f, 0xd503211f, X16_17 | TO_X17},             /* PACIA1716 ... AUTIB1716 */
    {0xffffffff, 0xd50320ff, X30 | TO_X30},                /* XPACLRI */
    {0xffffffff, 0xd503251f, USES_X16 | USES_TO_X16},      /* CHKFEAT */
    {0xfffff0ff, 0xd500401f, NZCV | TO_NZCV},              /* CFINV */
    {0xfffff0ff, 0xd500403f, NZCV | TO_NZCV},              /* XAFLAG */
    {0xfffff0ff, 0xd500405f, NZCV | TO_NZCV},              /* AXFLAG */
    {0xffffffe0, 0xd51b4200, XD | TO_NZCV},                /* MSR NZCV */
    {0xffffffe0, 0xd53b4200, NZCV | TO_XD},                /* MRS NZCV */
    {0xffffffc0, 0xd53b2400, TO_XD | TO_NZCV},             /* MRS RNDR, RNDRRS */
    {0xffffffa0, 0xd52b7720, XD | TO_XD},                  /* GCSPOPM, GCSSS2: or a NOP */
    {0xffe00000, 0xd5200000, TO_XD},                       /* MRS, SYSL, TSTART, TTEST */
    {0xfff80000, 0xd5080000, XD},                          /* SYS */
    {0xfff00000, 0xd5100000, XD},                          /* MSR */
    {0xfff80000, 0xd5480000, USES_XD_2},                   /* SYSP */
    {0xfff00000, 0xd5500000, USES_XD_2},                   /* MSRR */
    {0xfff00000, 0xd5700000, USES_TO_XD_2},                /* MRRS */
};

/* clang-format on */

/* ---- The top-level groups -------------------------------------------------------------------- */

static struct uses allocated(const struct spe_a64 *insn)
{
    uint32_t word = insn->word;
    unsigned group = bits(word, 28, 25);
    bool accesses = insn->address != SPE_A64_NO_ADDRESS;

    if (group == 0)
        return accesses ? uses_sve_memory(insn) : uses_sme(word);
    if (group == 2)
        return accesses ? uses_sve_memory(insn) : uses_sve(word);
    if ((group & 0xe) == 8 || (group & 7) == 5)
        return uses_registers(word, uses_find(word, integer, COUNT_OF(integer)));
    if ((group & 0xe) == 10)
        return uses_registers(word, uses_find(word, branch, COUNT_OF(branch)));
    return (group & 7) == 7 ? uses_simd(word) : uses_memory(word);
}

void spe_a64_uses_sized(const struct spe_a64 *insn, size_t size, uint64_t *reads, uint64_t *writes)
{
    struct uses u = {0, 0};
    struct spe_a64 own;

    if (size != sizeof(own)) {
        sized_give(&own, sizeof(own), insn, size);
        insn = &own;
    }
    if (insn->allocated)
        u = allocated(insn);
    *reads = u.reads;
    *writes = u.writes;
}
