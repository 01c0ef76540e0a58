/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C4.1, Branches, Exception Generating and System instructions: all but the System ones. */
#include "pe/a64.h"

static void branch(struct spe_a64 *insn)
{
    insn->branch = true;
    insn->ends_block = true;
    insn->operation.kind = SPE_OPERATION_BRANCH;
}

static void direct(struct spe_a64 *insn, int64_t words)
{
    branch(insn);
    insn->direct = true;
    insn->displacement = words * 4;
}

static void indirect(struct spe_a64 *insn, unsigned xn)
{
    branch(insn);
    insn->operation.indirect = true;
    insn->operation.taken = true;
    insn->target_register = (uint8_t)xn;
}

/* B, BL */
static bool unconditional_immediate(struct spe_a64 *insn)
{
    direct(insn, signed_bits(insn->word, 25, 0));
    insn->operation.taken = true;
    insn->operation.link = bit(insn->word, 31);
    return true;
}

/* B.cond, BC.cond: the condition AL (and NV, which is the same) is still a conditional branch. */
static bool conditional_immediate(struct spe_a64 *insn)
{
    direct(insn, signed_bits(insn->word, 23, 5));
    insn->operation.conditional = true;
    insn->has_condition = true;
    insn->condition = (uint8_t)bits(insn->word, 3, 0);
    return true;
}

/* CBZ, CBNZ */
static bool compare_immediate(struct spe_a64 *insn)
{
    direct(insn, signed_bits(insn->word, 23, 5));
    insn->operation.conditional = true;
    return true;
}

/* TBZ, TBNZ */
static bool test_immediate(struct spe_a64 *insn)
{
    direct(insn, signed_bits(insn->word, 18, 5));
    insn->operation.conditional = true;
    return true;
}

/* CB<cc>, CBB<cc>, CBH<cc> with a register, CB<cc> with an immediate (FEAT_CMPBR): 0b10x are no
 * comparisons. */
static bool compare_two(struct spe_a64 *insn)
{
    uint32_t word = insn->word;
    bool immediate = bit(word, 24), small = bit(word, 15);

    if (bits(word, 23, 22) == 2 || bit(word, 14) > small || (immediate && bit(word, 14)))
        return false;
    if (!immediate && small && bit(word, 31))
        return false;
    direct(insn, signed_bits(word, 13, 5));
    insn->operation.conditional = true;
    return true;
}

/* RETAASPPC, RETABSPPC: the label is where the return address was signed, not the target. */
static bool return_signed_at_label(struct spe_a64 *insn)
{
    indirect(insn, 30);
    insn->authenticated = true;
    insn->operation.procedure_return = true;
    return bits(insn->word, 4, 0) == 31;
}

/* SVC, HVC, SMC; BRK; HLT; TCANCEL; DCPS1 to DCPS3 */
static bool exception_generation(struct spe_a64 *insn)
{
    static const uint8_t low_bits[8] = {[0] = 0xe, [1] = 0x1, [2] = 0x1, [3] = 0x1, [5] = 0xe};

    insn->ends_block = true;
    return bits(insn->word, 4, 2) == 0 &&
           low_bits[bits(insn->word, 23, 21)] >> bits(insn->word, 1, 0) & 1;
}

static bool br(struct spe_a64 *insn)
{
    indirect(insn, bits(insn->word, 9, 5));
    return true;
}

static bool blr(struct spe_a64 *insn)
{
    insn->operation.link = true;
    return br(insn);
}

static bool ret(struct spe_a64 *insn)
{
    insn->operation.procedure_return = true;
    return br(insn);
}

/* RETAA and its kind: from X30. */
static bool ret_signed(struct spe_a64 *insn)
{
    insn->operation.procedure_return = true;
    indirect(insn, 30);
    return true;
}

/* The target is ELR_ELx, no register of ours. */
static bool eret(struct spe_a64 *insn)
{
    indirect(insn, 0);
    insn->operation.kind = SPE_OPERATION_ERET;
    return true;
}

/* DRPS is an exception return of Debug state, in which nothing is sampled. */
static bool drps(struct spe_a64 *insn)
{
    insn->ends_block = true;
    return true;
}

/* Unconditional branch (register) */
static const struct a64_group unconditional_register[] = {
    {0xfffffc1f, 0xd61f0000, br},         /* BR */
    {0xfffff81f, 0xd61f081f, br},         /* BRAAZ, BRABZ */
    {0xfffff800, 0xd71f0800, br},         /* BRAA, BRAB */
    {0xfffffc1f, 0xd63f0000, blr},        /* BLR */
    {0xfffff81f, 0xd63f081f, blr},        /* BLRAAZ, BLRABZ */
    {0xfffff800, 0xd73f0800, blr},        /* BLRAA, BLRAB */
    {0xfffffc1f, 0xd65f0000, ret},        /* RET */
    {0xfffffbe0, 0xd65f0be0, ret_signed}, /* RETAA, RETAB; RETAASPPCR, RETABSPPCR */
    {0xffffffff, 0xd69f03e0, eret},       /* ERET */
    {0xfffffbff, 0xd69f0bff, eret},       /* ERETAA, ERETAB */
    {0xffffffff, 0xd6bf03e0, drps},       /* DRPS */
};

static bool branch_register(struct spe_a64 *insn)
{
    insn->authenticated = bit(insn->word, 11);
    return a64_decode(insn, unconditional_register, COUNT_OF(unconditional_register));
}

static const struct a64_group groups[] = {
    {0x7c000000, 0x14000000, unconditional_immediate}, /* B, BL */
    {0xff000000, 0x54000000, conditional_immediate},   /* B.cond, BC.cond */
    {0x7e000000, 0x34000000, compare_immediate},       /* CBZ, CBNZ */
    {0x7e000000, 0x36000000, test_immediate},          /* TBZ, TBNZ */
    {0xff000000, 0xd5000000, a64_system},
    {0xfe000000, 0xd6000000, branch_register},
    {0xff000000, 0xd4000000, exception_generation},
    {0x7e000000, 0x74000000, compare_two},
    {0xffc00000, 0x55000000, return_signed_at_label},
};

bool a64_branch(struct spe_a64 *insn)
{
    return a64_decode(insn, groups, COUNT_OF(groups));
}
