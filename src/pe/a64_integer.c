/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C4.1, Data Processing - Immediate and Data Processing - Register. */
#include "pe/a64.h"

static bool sf(const struct spe_a64 *insn)
{
    return bit(insn->word, 31);
}

/* ---- Immediate ------------------------------------------------------------------------------ */

/* An element of ones only is none. */
bool a64_is_bitmask(bool n, uint32_t imms)
{
    uint32_t length = (n ? 0x40 : 0) | (~imms & 0x3f);
    uint32_t element = 1;

    if (length < 2)
        return false;
    while (element * 2 <= length)
        element *= 2;
    return (imms & (element - 1)) != element - 1;
}

static bool logical_immediate(struct spe_a64 *insn)
{
    bool n = bit(insn->word, 22);

    return (sf(insn) || !n) && a64_is_bitmask(n, bits(insn->word, 15, 10));
}

static bool move_wide(struct spe_a64 *insn)
{
    return bits(insn->word, 30, 29) != 1 && (sf(insn) || !bit(insn->word, 22));
}

static bool bitfield(struct spe_a64 *insn)
{
    return bits(insn->word, 30, 29) != 3 && bit(insn->word, 22) == sf(insn) &&
           (sf(insn) || (!bit(insn->word, 21) && !bit(insn->word, 15)));
}

static bool extract(struct spe_a64 *insn)
{
    return bit(insn->word, 22) == sf(insn) && (sf(insn) || !bit(insn->word, 15));
}

static const struct a64_group immediate[] = {
    {0x1f000000, 0x10000000, a64_other},         /* ADR, ADRP */
    {0x1f800000, 0x11000000, a64_other},         /* ADD, ADDS, SUB, SUBS */
    {0xbfc00000, 0x91800000, a64_other},         /* ADDG, SUBG */
    {0x7ff00000, 0x11c00000, a64_other},         /* SMAX, UMAX, SMIN, UMIN */
    {0x1f800000, 0x12000000, logical_immediate}, /* AND, ORR, EOR, ANDS */
    {0x1f800000, 0x12800000, move_wide},         /* MOVN, MOVZ, MOVK */
    {0x1f800000, 0x13000000, bitfield},          /* SBFM, BFM, UBFM */
    {0x7fa00000, 0x13800000, extract},           /* EXTR */
    {0xffc0001f, 0xf380001f, a64_other},         /* AUTIASPPC, AUTIBSPPC */
};

bool a64_immediate(struct spe_a64 *insn)
{
    return a64_decode(insn, immediate, COUNT_OF(immediate));
}

/* ---- Register ------------------------------------------------------------------------------- */

static bool shifted(struct spe_a64 *insn)
{
    return sf(insn) || !bit(insn->word, 15);
}

static bool shifted_sum(struct spe_a64 *insn)
{
    return bits(insn->word, 23, 22) != 3 && shifted(insn);
}

static bool extended_sum(struct spe_a64 *insn)
{
    return bits(insn->word, 12, 10) <= 4;
}

static void conditional(struct spe_a64 *insn, unsigned set)
{
    insn->has_condition = true;
    insn->condition = (uint8_t)bits(insn->word, 15, 12);
    insn->operation.cond_op = (uint8_t)(1 + __builtin_ctz(set));
}

/* CSEL, CSINC; CSINV, CSNEG: told by op and o2 */
static bool conditional_select(struct spe_a64 *insn)
{
    static const uint8_t which[4] = {SPE_COND_CSEL, SPE_COND_CSINC, SPE_COND_CSINV, SPE_COND_CSNEG};

    conditional(insn, which[bit(insn->word, 30) * 2 + bit(insn->word, 10)]);
    return true;
}

static bool conditional_compare(struct spe_a64 *insn)
{
    conditional(insn, bit(insn->word, 30) ? SPE_COND_CCMP : SPE_COND_CCMN);
    return true;
}

/* CRC32B, CRC32H, CRC32W; CRC32X: sf goes with the doubleword */
static bool crc32(struct spe_a64 *insn)
{
    return sf(insn) == (bits(insn->word, 11, 10) == 3);
}

/* PACIA ... AUTDB and PACIZA ... AUTDZB (Z is bit 13, and Rn is 31) */
static bool pointer_authentication(struct spe_a64 *insn)
{
    return !bit(insn->word, 13) || bits(insn->word, 9, 5) == 31;
}

static const struct a64_group by_register[] = {
    {0x1f000000, 0x0a000000, shifted},     /* AND, BIC, ORR, ORN, EOR, EON, ANDS, BICS */
    {0x1f200000, 0x0b000000, shifted_sum}, /* ADD, ADDS, SUB, SUBS */
    {0x1fe00000, 0x0b200000, extended_sum},
    {0x1fe0fc00, 0x1a000000, a64_other},           /* ADC, ADCS, SBC, SBCS */
    {0xbfe0e000, 0x9a002000, a64_other},           /* ADDPT, SUBPT */
    {0xffe07c10, 0xba000400, a64_other},           /* RMIF */
    {0xffffbc1f, 0x3a00080d, a64_other},           /* SETF8, SETF16 */
    {0x3fe00410, 0x3a400000, conditional_compare}, /* CCMN, CCMP */
    {0x3fe00800, 0x1a800000, conditional_select},  /* CSEL, CSINC, CSINV, CSNEG */
    {0x7fe00000, 0x1b000000, a64_other},           /* MADD, MSUB */
    {0xff600000, 0x9b200000, a64_other},           /* SMADDL, SMSUBL, UMADDL, UMSUBL */
    {0xff608000, 0x9b400000, a64_other},           /* SMULH, UMULH */
    {0xffe00000, 0x9b600000, a64_other},           /* MADDPT, MSUBPT */
    {0xdfe0fc00, 0x9ac00000, a64_other},           /* SUBP, SUBPS: op is bit 29 */
    {0x7fe0f800, 0x1ac00800, a64_other},           /* UDIV, SDIV */
    {0xffe0f800, 0x9ac01000, a64_other},           /* IRG, GMI */
    {0x7fe0f000, 0x1ac02000, a64_other},           /* LSLV, LSRV, ASRV, RORV */
    {0xffe0fc00, 0x9ac03000, a64_other},           /* PACGA */
    {0x7fe0e000, 0x1ac04000, crc32},               /* CRC32, CRC32C */
    {0x7fe0f000, 0x1ac06000, a64_other},           /* SMAX, UMAX, SMIN, UMIN */
    {0x7ffff800, 0x5ac00000, a64_other},           /* RBIT, REV16 */
    {0x7ffffc00, 0x5ac00800, a64_other},           /* REV, REV32 */
    {0xfffffc00, 0xdac00c00, a64_other},           /* REV of a doubleword */
    {0x7ffff000, 0x5ac01000, a64_other},           /* CLZ, CLS, CTZ, CNT */
    {0x7ffffc00, 0x5ac02000, a64_other},           /* ABS */
    {0xffffc000, 0xdac10000, pointer_authentication},
    {0xfffffbe0, 0xdac143e0, a64_other}, /* XPACI, XPACD */
    {0xfffff3ff, 0xdac183fe, a64_other}, /* PACNBIASPPC, PACNBIBSPPC, PACIA171615, PACIB171615 */
    {0xfffff81f, 0xdac1901e, a64_other}, /* AUTIASPPCR, AUTIBSPPCR */
    {0xfffffbff, 0xdac1a3fe, a64_other}, /* PACIASPPC, PACIBSPPC */
    {0xfffffbff, 0xdac1bbfe, a64_other}, /* AUTIA171615, AUTIB171615 */
};

bool a64_register(struct spe_a64 *insn)
{
    return a64_decode(insn, by_register, COUNT_OF(by_register));
}
