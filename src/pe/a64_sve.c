/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * C4.1, SVE encodings: data processing. One table for each value of bits 31:24, with the groups in
 * the order of the Arm ARM. What only reads or writes general-purpose registers is OTHER (D17.6.6).
 */
#include "pe/a64.h"

/* What a row is, in short. GOVERNED: merging or zeroing predication of a vector register; a
 * comparison, a reduction, a select is not (DWRNLK). EQ: Advanced SIMD has the same operation. */
#define VECTOR A64_SVE
#define EQ (A64_SVE | A64_SAME_ASIMD)
#define GOVERNED (A64_SVE | A64_GOVERNED)
#define WITH_P (A64_SVE | A64_PREDICATE)
#define ONLY_P (A64_SVE | A64_ONLY_PREDICATES)
#define ONLY_PN (A64_SVE | A64_ONLY_PREDICATES | A64_COUNTER)
#define FLOAT (A64_SVE | A64_FP)
#define FLOAT_EQ (A64_SVE | A64_FP | A64_SAME_ASIMD)
#define FLOAT_GOVERNED (A64_SVE | A64_FP | A64_GOVERNED)
#define FLOAT_WITH_P (A64_SVE | A64_FP | A64_PREDICATE)
#define NARROW (A64_SVE | A64_MULTIPLE)
#define SCALAR 0
#define NONE A64_UNALLOCATED

/* Sets of sizes: bits 23:22 are 0 to 3 for B, H, S, D. */
enum { B = 1, H = 2, S = 4, D = 8, BHS = 7, HSD = 14, SD = 12, BH = 3, ANY = A64_ANY_SIZE };

/* clang-format off */

/* Integer: bits 31:24 are 0x04 */
static const struct a64_row integer[] = {
    /* binary arithmetic - predicated */
    {0xff3ee000, 0x04000000, ANY, GOVERNED}, /* ADD, SUB */
    {0xff3fe000, 0x04030000, ANY, GOVERNED}, /* SUBR */
    {0xff3ee000, 0x04040000, D, GOVERNED},   /* ADDPT, SUBPT */
    {0xff3ce000, 0x04080000, ANY, GOVERNED}, /* SMAX, UMAX, SMIN, UMIN */
    {0xff3ee000, 0x040c0000, ANY, GOVERNED}, /* SABD, UABD */
    {0xff3fe000, 0x04100000, ANY, GOVERNED}, /* MUL */
    {0xff3ee000, 0x04120000, ANY, GOVERNED}, /* SMULH, UMULH */
    {0xff3ce000, 0x04140000, SD, GOVERNED},  /* SDIV, UDIV, SDIVR, UDIVR */
    {0xff3ce000, 0x04180000, ANY, GOVERNED}, /* ORR, EOR, AND, BIC */
    /* reduction */
    {0xff3fe000, 0x04002000, BHS, WITH_P},   /* SADDV */
    {0xff3fe000, 0x04012000, ANY, WITH_P},   /* UADDV */
    {0xff3fe000, 0x04052000, ANY, WITH_P},   /* ADDQV */
    {0xff38e000, 0x04082000, ANY, WITH_P},   /* SMAXV ... UMINV, SMAXQV ... UMINQV */
    {0xff3ee000, 0x04102000, ANY, GOVERNED}, /* MOVPRFX (predicated) */
    {0xff3ae000, 0x04182000, ANY, WITH_P},   /* ORV, EORV; with bit 18 the Q forms are below */
    {0xff3fe000, 0x041a2000, ANY, WITH_P},   /* ANDV */
    {0xff3ee000, 0x041c2000, ANY, WITH_P},   /* ORQV, EORQV */
    {0xff3fe000, 0x041e2000, ANY, WITH_P},   /* ANDQV */
    /* multiply-accumulate - predicated */
    {0xff204000, 0x04004000, ANY, GOVERNED}, /* MLA, MLS, MAD, MSB */
    /* bitwise shift - predicated */
    {0xfff0e300, 0x04008000, ANY, NONE},     /* by an immediate: tsz is not 0 */
    {0xff3ee000, 0x04008000, ANY, GOVERNED}, /* ASR, LSR */
    {0xff3fe000, 0x04038000, ANY, GOVERNED}, /* LSL */
    {0xff3fe000, 0x04048000, ANY, GOVERNED}, /* ASRD */
    {0xff3ee000, 0x04068000, ANY, GOVERNED}, /* SQSHL, UQSHL */
    {0xff3ee000, 0x040c8000, ANY, GOVERNED}, /* SRSHR, URSHR */
    {0xff3fe000, 0x040f8000, ANY, GOVERNED}, /* SQSHLU */
    {0xff3ae000, 0x04108000, ANY, GOVERNED}, /* ASR, ASRR, LSR, LSRR by vector */
    {0xff3be000, 0x04138000, ANY, GOVERNED}, /* LSL, LSLR */
    {0xff3ee000, 0x04188000, BHS, GOVERNED}, /* ASR, LSR by wide elements */
    {0xff3fe000, 0x041b8000, BHS, GOVERNED}, /* LSL */
    /* unary arithmetic - predicated */
    {0xff3ee000, 0x0410a000, HSD, GOVERNED}, /* SXTB, UXTB */
    {0xff3ee000, 0x0412a000, SD, GOVERNED},  /* SXTH, UXTH */
    {0xff3ee000, 0x0414a000, D, GOVERNED},   /* SXTW, UXTW */
    {0xff3ee000, 0x0416a000, ANY, GOVERNED}, /* ABS, NEG */
    {0xff3ce000, 0x0418a000, ANY, GOVERNED}, /* CLS, CLZ, CNT, CNOT */
    {0xff3ee000, 0x041ca000, HSD, FLOAT_GOVERNED}, /* FABS, FNEG */
    {0xff3fe000, 0x041ea000, ANY, GOVERNED}, /* NOT */
    /* unpredicated */
    {0xff20f800, 0x04200000, ANY, EQ},       /* ADD, SUB */
    {0xff20f800, 0x04200800, D, VECTOR},     /* ADDPT, SUBPT */
    {0xff20f000, 0x04201000, ANY, EQ},       /* SQADD, UQADD, SQSUB, UQSUB */
    {0xff20fc00, 0x04203000, ANY, EQ},       /* AND, ORR, EOR, BIC */
    {0xfff8fc00, 0x04203400, ANY, NONE},     /* tsz is not 0 */
    {0xff20fc00, 0x04203400, ANY, VECTOR},   /* XAR */
    {0xff20fc00, 0x04203800, BH, EQ},        /* EOR3, BCAX */
    {0xff20fc00, 0x04203c00, ANY, VECTOR},   /* BSL, BSL1N, BSL2N, NBSL */
    {0xff20f000, 0x04204000, ANY, VECTOR},   /* INDEX */
    {0xffa0f000, 0x04205000, ANY, SCALAR},   /* ADDVL, ADDPL, ADDSVL, ADDSPL */
    {0xfffff000, 0x04bf5000, ANY, SCALAR},   /* RDVL, RDSVL */
    {0xff20fc00, 0x04206000, ANY, EQ},       /* MUL */
    {0xff20fc00, 0x04206400, B, EQ},         /* PMUL */
    {0xff20f800, 0x04206800, ANY, VECTOR},   /* SMULH, UMULH */
    {0xff20f800, 0x04207000, ANY, VECTOR},   /* SQDMULH, SQRDMULH */
    {0xff20f800, 0x04208000, BHS, VECTOR},   /* ASR, LSR by wide elements */
    {0xff20fc00, 0x04208c00, BHS, VECTOR},   /* LSL */
    {0xfff8f000, 0x04209000, ANY, NONE},     /* by an immediate: tsz is not 0 */
    {0xff20f800, 0x04209000, ANY, EQ},       /* ASR, LSR */
    {0xff20fc00, 0x04209c00, ANY, EQ},       /* LSL */
    {0xff20f000, 0x0420a000, ANY, VECTOR},   /* ADR */
    {0xff20fc00, 0x0420b000, HSD, FLOAT},    /* FTSSEL */
    {0xff3ffc00, 0x0420b800, HSD, FLOAT},    /* FEXPA */
    {0xfffffc00, 0x0420bc00, ANY, VECTOR},   /* MOVPRFX (unpredicated) */
    /* element count */
    {0xff30f000, 0x0420c000, HSD, VECTOR},   /* SQINCH ... UQDECD (vector) */
    {0xff30fc00, 0x0420e000, ANY, SCALAR},   /* CNTB ... CNTD */
    {0xff30f800, 0x0430c000, HSD, VECTOR},   /* INCH ... DECD (vector) */
    {0xff30f800, 0x0430e000, ANY, SCALAR},   /* INCB ... DECD */
    {0xff20f000, 0x0420f000, ANY, SCALAR},   /* SQINCB ... UQDECD */
};

/* Bitwise immediate and permute: 0x05 */
static const struct a64_row permute[] = {
    {0xff3c0000, 0x05000000, ANY, VECTOR},   /* ORR, EOR, AND, DUPM */
    {0xff30a000, 0x05100000, ANY, GOVERNED}, /* CPY (immediate) */
    {0xff30a000, 0x05102000, HSD, GOVERNED}, /* ... shifted: not of bytes */
    {0xff30e000, 0x0510c000, HSD, FLOAT_GOVERNED}, /* FCPY */
    {0xffa0e000, 0x05200000, ANY, VECTOR},   /* EXT */
    {0xffe0f800, 0x05a01000, ANY, NONE},
    {0xffe0e000, 0x05a00000, ANY, VECTOR},   /* ZIP1, ZIP2, UZP1, UZP2, TRN1, TRN2 of quadwords */
    {0xff3ffc00, 0x05202000, ANY, NONE},     /* tsz is not 0 */
    {0xff20fc00, 0x05202000, ANY, EQ},       /* DUP (indexed) */
    {0xffeffc00, 0x05202400, ANY, NONE},     /* tsz is not 0 */
    {0xffe0fc00, 0x05202400, ANY, VECTOR},   /* DUPQ */
    {0xfff0fc00, 0x05602400, ANY, VECTOR},   /* EXTQ */
    {0xff20f800, 0x05202800, ANY, VECTOR},   /* TBL of two, TBX */
    {0xff20f800, 0x05203000, ANY, VECTOR},   /* TBL, TBXQ */
    {0xff3ffc00, 0x05203800, ANY, VECTOR},   /* DUP (scalar) */
    {0xff3ffc00, 0x05243800, ANY, VECTOR},   /* INSR (scalar) */
    {0xff3cfc00, 0x05303800, HSD, VECTOR},   /* SUNPKLO, SUNPKHI, UUNPKLO, UUNPKHI */
    {0xff3ffc00, 0x05343800, ANY, VECTOR},   /* INSR (SIMD&FP) */
    {0xff3ffc00, 0x05383800, ANY, VECTOR},   /* REV */
    {0xfffefc00, 0x05283800, ANY, NONE},     /* of no size */
    {0xff39fc10, 0x05283800, ANY, WITH_P},   /* PMOV to a predicate */
    {0xff39fe00, 0x05293800, ANY, WITH_P},   /* PMOV to a vector */
    {0xff30f210, 0x05204000, ANY, ONLY_P},   /* ZIP1, ZIP2, UZP1, UZP2 (predicates) */
    {0xff30fa10, 0x05205000, ANY, ONLY_P},   /* TRN1, TRN2 */
    {0xfffefe10, 0x05304000, ANY, ONLY_P},   /* PUNPKLO, PUNPKHI */
    {0xff3ffe10, 0x05344000, ANY, ONLY_P},   /* REV (predicate) */
    {0xff20f000, 0x05206000, ANY, EQ},       /* ZIP1, ZIP2, UZP1, UZP2 */
    {0xff20f800, 0x05207000, ANY, EQ},       /* TRN1, TRN2 */
    {0xff3fe000, 0x05208000, ANY, GOVERNED}, /* CPY (SIMD&FP) */
    {0xff3fe000, 0x05218000, SD, WITH_P},    /* COMPACT */
    {0xff3ee000, 0x05228000, ANY, WITH_P},   /* LASTA, LASTB (SIMD&FP) */
    {0xff3fe000, 0x05248000, HSD, GOVERNED}, /* REVB */
    {0xff3fe000, 0x05258000, SD, GOVERNED},  /* REVH */
    {0xff3fe000, 0x05268000, D, GOVERNED},   /* REVW */
    {0xff3fe000, 0x05278000, ANY, GOVERNED}, /* RBIT */
    {0xff3ee000, 0x05288000, ANY, WITH_P},   /* CLASTA, CLASTB (vector) */
    {0xff3ee000, 0x052a8000, ANY, WITH_P},   /* CLASTA, CLASTB (SIMD&FP) */
    {0xff3ee000, 0x052c8000, ANY, WITH_P},   /* SPLICE */
    {0xff3fe000, 0x052e8000, B, GOVERNED},   /* REVD */
    {0xff3ee000, 0x0520a000, ANY, WITH_P},   /* LASTA, LASTB (scalar) */
    {0xff3fe000, 0x0528a000, ANY, GOVERNED}, /* CPY (scalar) */
    {0xff3ee000, 0x0530a000, ANY, WITH_P},   /* CLASTA, CLASTB (scalar) */
    {0xff20c000, 0x0520c000, ANY, WITH_P},   /* SEL */
};

/* Integer compare of vectors and with an unsigned immediate: 0x24 */
static const struct a64_row compare[] = {
    {0xff20e000, 0x24000000, ANY, WITH_P},   /* CMPHS, CMPHI */
    {0xff20c000, 0x24008000, ANY, WITH_P},   /* CMPGE, CMPGT, CMPEQ, CMPNE */
    {0xff20e000, 0x24002000, BHS, WITH_P},   /* ... with wide elements */
    {0xff204000, 0x24004000, BHS, WITH_P},
    {0xff200000, 0x24200000, ANY, WITH_P},   /* CMPHS, CMPHI, CMPLO, CMPLS (immediate) */
};

/* Compare with a signed immediate, predicates, wide immediates: 0x25 */
static const struct a64_row predicate[] = {
    {0xff20c000, 0x25000000, ANY, WITH_P},   /* CMPGE, CMPGT, CMPLT, CMPLE (immediate) */
    {0xff20e000, 0x25008000, ANY, WITH_P},   /* CMPEQ, CMPNE (immediate) */
    {0xff30c210, 0x25004210, B | S | D, ONLY_P}, /* SEL, which sets no flags; NAND, NANDS */
    {0xff30c200, 0x25004000, ANY, ONLY_P},   /* AND, BIC, ORR, ORN ... */
    {0xff30c210, 0x25004200, ANY, ONLY_P},   /* EOR, NOR ... */
    {0xffb0c200, 0x2500c000, ANY, ONLY_P},   /* BRKPA, BRKPB */
    {0xffbfc210, 0x25184000, ANY, ONLY_P},   /* BRKN */
    {0xff7fc200, 0x25104000, ANY, ONLY_P},   /* BRKA, BRKB */
    {0xff7fc210, 0x25504000, ANY, ONLY_P},   /* BRKAS, BRKBS: zeroing only */
    {0xffffc21f, 0x2550c000, ANY, ONLY_P},   /* PTEST */
    {0xfffffe10, 0x2558c000, ANY, ONLY_P},   /* PFIRST */
    {0xff3ffe10, 0x2519c400, ANY, ONLY_P},   /* PNEXT */
    {0xff3efc10, 0x2518e000, ANY, ONLY_P},   /* PTRUE, PTRUES */
    {0xfffffff0, 0x2518e400, ANY, ONLY_P},   /* PFALSE */
    {0xffbffe10, 0x2518f000, ANY, ONLY_P},   /* RDFFR (predicated) */
    {0xfffffff0, 0x2519f000, ANY, ONLY_P},   /* RDFFR */
    {0xff20e000, 0x25200000, ANY, ONLY_P},   /* WHILEGE ... WHILELS */
    {0xff20fc00, 0x25203000, ANY, ONLY_P},   /* WHILEWR, WHILERW */
    {0xffa0fc0f, 0x25a02000, ANY, SCALAR},   /* CTERMEQ, CTERMNE */
    {0xff20d010, 0x25204010, ANY, ONLY_PN},  /* WHILEGE ... (predicate-as-counter) */
    {0xff20f010, 0x25205010, ANY, ONLY_P},   /* WHILEGE ... (predicate pair) */
    {0xff3ffff8, 0x25207810, ANY, ONLY_PN},  /* PTRUE (predicate-as-counter) */
    {0xff3ffc10, 0x25207010, ANY, ONLY_PN},  /* PEXT */
    {0xff3ffe10, 0x25207410, ANY, ONLY_PN},  /* PEXT (predicate pair) */
    {0xff3fc200, 0x25208000, ANY, ONLY_P},   /* CNTP */
    {0xff3ffa00, 0x25208200, ANY, ONLY_PN},  /* CNTP (predicate-as-counter) */
    {0xff3cfe00, 0x25288000, HSD, WITH_P},   /* SQINCP ... (vector) */
    {0xff3cfa00, 0x25288800, ANY, ONLY_P},   /* SQINCP ... (scalar) */
    {0xff3efe00, 0x252c8000, HSD, WITH_P},   /* INCP, DECP (vector) */
    {0xff3efe00, 0x252c8800, ANY, ONLY_P},   /* INCP, DECP (scalar) */
    {0xfffffe1f, 0x25289000, ANY, ONLY_P},   /* WRFFR */
    {0xffffffff, 0x252c9000, ANY, ONLY_P},   /* SETFFR */
    {0xff3ee000, 0x2520c000, ANY, VECTOR},   /* ADD, SUB (immediate) */
    {0xff3ee000, 0x2520e000, HSD, VECTOR},   /* ... shifted */
    {0xff3fe000, 0x2523c000, ANY, VECTOR},   /* SUBR */
    {0xff3fe000, 0x2523e000, HSD, VECTOR},
    {0xff3ce000, 0x2524c000, ANY, VECTOR},   /* SQADD, UQADD, SQSUB, UQSUB */
    {0xff3ce000, 0x2524e000, HSD, VECTOR},
    {0xff3ce000, 0x2528c000, ANY, VECTOR},   /* SMAX, UMAX, SMIN, UMIN */
    {0xff3fe000, 0x2530c000, ANY, VECTOR},   /* MUL */
    {0xff3fe000, 0x2538c000, ANY, VECTOR},   /* DUP (immediate) */
    {0xff3fe000, 0x2538e000, HSD, VECTOR},
    {0xff3fe000, 0x2539c000, HSD, FLOAT},    /* FDUP */
    {0xff7cc210, 0x25204000, ANY, NONE},     /* tsz is not 0 */
    {0xff20c210, 0x25204000, ANY, ONLY_P},   /* PSEL */
};

/* SVE2 integer multiply-add and predicated: 0x44 */
static const struct a64_row multiply[] = {
    {0xff20f800, 0x44000000, SD, EQ},        /* SDOT, UDOT */
    {0xff20f800, 0x44000800, HSD, VECTOR},   /* SQDMLALBT, SQDMLSLBT */
    {0xff20f000, 0x44001000, SD, VECTOR},    /* CDOT */
    {0xff20e000, 0x44002000, ANY, VECTOR},   /* CMLA, SQRDCMLAH */
    {0xff20e000, 0x44004000, HSD, VECTOR},   /* SMLALB ... UMLSLT */
    {0xff20f000, 0x44006000, HSD, VECTOR},   /* SQDMLALB ... SQDMLSLT */
    {0xff20f800, 0x44007000, ANY, VECTOR},   /* SQRDMLAH, SQRDMLSH */
    {0xff20fc00, 0x44007800, S, EQ},         /* USDOT */
    {0xff20f800, 0x4400c000, ANY, VECTOR},   /* SCLAMP, UCLAMP */
    {0xffe0f800, 0x4400c800, ANY, VECTOR},   /* SDOT, UDOT of two */
    {0xffe0f800, 0x4480c800, ANY, VECTOR},   /* ... indexed */
    {0xffe0fc00, 0x44c0d000, ANY, VECTOR},   /* MLAPT */
    {0xffe0fc00, 0x44c0d800, ANY, VECTOR},   /* MADPT */
    {0xff20f000, 0x4400e000, ANY, VECTOR},   /* ZIPQ1, ZIPQ2, UZPQ1, UZPQ2 */
    {0xff20fc00, 0x4400f800, ANY, VECTOR},   /* TBLQ */
    /* predicated */
    {0xff3ae000, 0x44028000, ANY, GOVERNED}, /* SRSHL, URSHL, SRSHLR, URSHLR */
    {0xff38e000, 0x44088000, ANY, GOVERNED}, /* SQSHL ... UQRSHLR */
    {0xff30e000, 0x44108000, ANY, GOVERNED}, /* halving, saturating add and subtract */
    {0xff3ee000, 0x4400a000, S, GOVERNED},   /* URECPE, URSQRTE */
    {0xff3ee000, 0x4408a000, ANY, GOVERNED}, /* SQABS, SQNEG */
    {0xff3ee000, 0x4404a000, HSD, GOVERNED}, /* SADALP, UADALP */
    {0xff3fe000, 0x4411a000, ANY, GOVERNED}, /* ADDP */
    {0xff3ce000, 0x4414a000, ANY, GOVERNED}, /* SMAXP, UMAXP, SMINP, UMINP */
    /* by indexed element */
    {0xff20f800, 0x44200000, SD, EQ},        /* SDOT, UDOT */
    {0xff20f800, 0x44200800, ANY, VECTOR},   /* MLA, MLS */
    {0xff20f800, 0x44201000, ANY, VECTOR},   /* SQRDMLAH, SQRDMLSH */
    {0xff20f800, 0x44201800, S, EQ},         /* USDOT, SUDOT */
    {0xff20e000, 0x44202000, SD, VECTOR},    /* SQDMLALB ... SQDMLSLT */
    {0xff20f000, 0x44204000, SD, VECTOR},    /* CDOT */
    {0xff20e000, 0x44206000, SD, VECTOR},    /* CMLA, SQRDCMLAH */
    {0xff20c000, 0x44208000, SD, VECTOR},    /* SMLALB ... UMLSLT */
    {0xff20e000, 0x4420c000, SD, VECTOR},    /* SMULLB ... UMULLT */
    {0xff20f000, 0x4420e000, SD, VECTOR},    /* SQDMULLB, SQDMULLT */
    {0xff20f800, 0x4420f000, ANY, VECTOR},   /* SQDMULH, SQRDMULH */
    {0xff20fc00, 0x4420f800, ANY, VECTOR},   /* MUL */
};

/* SVE2 widening, narrowing, bit permutation, histogram, crypto: 0x45 */
static const struct a64_row wide[] = {
    {0xff20e000, 0x45000000, HSD, VECTOR},   /* SADDLB ... USUBLT */
    {0xff20f000, 0x45003000, HSD, VECTOR},   /* SABDLB ... UABDLT */
    {0xff20e000, 0x45004000, HSD, VECTOR},   /* SADDWB ... USUBWT */
    {0xff20f800, 0x45006000, HSD, VECTOR},   /* SQDMULLB, SQDMULLT */
    {0xff20f800, 0x45006800, B | H | D, VECTOR}, /* PMULLB, PMULLT */
    {0xff20f000, 0x45007000, HSD, VECTOR},   /* SMULLB ... UMULLT */
    {0xff20fc00, 0x45008000, HSD, VECTOR},   /* SADDLBT */
    {0xff20f800, 0x45008800, HSD, VECTOR},   /* SSUBLBT, SSUBLTB */
    {0xff20f800, 0x45009000, ANY, VECTOR},   /* EORBT, EORTB */
    {0xff20fc00, 0x45009800, B | S | D, EQ}, /* SMMLA, USMMLA, UMMLA */
    {0xfff8f000, 0x4500a000, ANY, NONE},     /* tsz is not 0 */
    {0xffa0f000, 0x4500a000, ANY, VECTOR},   /* SSHLLB ... USHLLT */
    {0xff20f800, 0x4500b000, ANY, VECTOR},   /* BEXT, BDEP */
    {0xff20fc00, 0x4500b800, ANY, VECTOR},   /* BGRP */
    {0xff20f000, 0x4500c000, HSD, VECTOR},   /* SABALB ... UABALT */
    {0xff20f800, 0x4500d000, ANY, VECTOR},   /* ADCLB, ADCLT, SBCLB, SBCLT */
    {0xff3ef800, 0x4500d800, ANY, VECTOR},   /* CADD, SQCADD */
    {0xfff8e800, 0x4500e000, ANY, NONE},     /* tsz is not 0 */
    {0xfff8f800, 0x4500e800, ANY, NONE},
    {0xff20f000, 0x4500e000, ANY, VECTOR},   /* SSRA, USRA, SRSRA, URSRA */
    {0xff20f800, 0x4500f000, ANY, VECTOR},   /* SRI, SLI */
    {0xff20f800, 0x4500f800, ANY, VECTOR},   /* SABA, UABA */
    {0xfff8c000, 0x45200000, ANY, NONE},     /* tsz is not 0 */
    {0xffa0c000, 0x45200000, ANY, VECTOR},   /* SQSHRUNB ... UQRSHRNT */
    {0xfff0fc20, 0x45b00800, ANY, NARROW},   /* SQRSHRUN of two vectors */
    {0xfff0fc20, 0x45b02800, ANY, NARROW},   /* SQRSHRN */
    {0xfff0fc20, 0x45b03800, ANY, NARROW},   /* UQRSHRN */
    {0xfffff000, 0x45284000, ANY, VECTOR},   /* SQXTNB ... UQXTNT */
    {0xfffff000, 0x45304000, ANY, VECTOR},
    {0xfffff000, 0x45604000, ANY, VECTOR},
    {0xfffff800, 0x45285000, ANY, VECTOR},   /* SQXTUNB, SQXTUNT */
    {0xfffff800, 0x45305000, ANY, VECTOR},
    {0xfffff800, 0x45605000, ANY, VECTOR},
    {0xfffff420, 0x45314000, ANY, NARROW},   /* SQCVTN, UQCVTN of two vectors */
    {0xfffffc20, 0x45315000, ANY, NARROW},   /* SQCVTUN */
    {0xff20e000, 0x45206000, HSD, VECTOR},   /* ADDHNB ... RSUBHNT */
    {0xff20e000, 0x45208000, BH, WITH_P},    /* MATCH, NMATCH */
    {0xffe0fc00, 0x4520a000, ANY, VECTOR},   /* HISTSEG */
    {0xff20fc00, 0x4520b000, ANY, VECTOR},   /* LUTI2 (8-bit) */
    {0xff20ec00, 0x4520a800, ANY, VECTOR},   /* LUTI2 (16-bit) */
    {0xff60fc00, 0x4560a400, ANY, VECTOR},   /* LUTI4 (8-bit) */
    {0xff20f400, 0x4520b400, ANY, VECTOR},   /* LUTI4 (16-bit), of two tables or one */
    {0xff20e000, 0x4520c000, SD, GOVERNED},  /* HISTCNT */
    {0xfffffbe0, 0x4520e000, ANY, EQ},       /* AESMC, AESIMC */
    {0xfffff800, 0x4522e000, ANY, EQ},       /* AESE, AESD */
    {0xfffffc00, 0x4523e000, ANY, EQ},       /* SM4E */
    {0xffe0f800, 0x4520f000, ANY, EQ},       /* SM4EKEY, RAX1 */
};

/* Floating-point, complex, widening, by element: 0x64 */
static const struct a64_row floating[] = {
    {0xff208000, 0x64000000, HSD, FLOAT_GOVERNED}, /* FCMLA */
    {0xff3ee000, 0x64008000, HSD, FLOAT_GOVERNED}, /* FCADD */
    {0xffffe000, 0x640aa000, ANY, FLOAT_GOVERNED}, /* FCVTXNT */
    {0xfffee000, 0x6488a000, ANY, FLOAT_GOVERNED}, /* FCVTNT, FCVTLT: S and H */
    {0xffffe000, 0x648aa000, ANY, FLOAT_GOVERNED}, /* BFCVTNT */
    {0xfffee000, 0x64caa000, ANY, FLOAT_GOVERNED}, /* FCVTNT, FCVTLT: D and S */
    {0xff3fe000, 0x64108000, HSD, FLOAT_GOVERNED}, /* FADDP */
    {0xff3ce000, 0x64148000, HSD, FLOAT_GOVERNED}, /* FMAXNMP, FMINNMP, FMAXP, FMINP */
    {0xff3fe000, 0x6410a000, HSD, FLOAT_WITH_P},   /* FADDQV */
    {0xff3ce000, 0x6414a000, HSD, FLOAT_WITH_P},   /* FMAXNMQV, FMINNMQV, FMAXQV, FMINQV */
    {0xff20f800, 0x64200000, ANY, FLOAT_EQ},       /* FMLA, FMLS (indexed) */
    {0xffa0f800, 0x64200800, ANY, FLOAT},          /* BFMLA, BFMLS (indexed) */
    {0xff20f000, 0x64201000, SD, FLOAT},           /* FCMLA (indexed) */
    {0xff20fc00, 0x64202000, ANY, FLOAT_EQ},       /* FMUL (indexed) */
    {0xffa0fc00, 0x64202800, ANY, FLOAT},          /* BFMUL (indexed) */
    {0xff20fc00, 0x64202400, ANY, FLOAT},          /* FCLAMP, BFCLAMP */
    {0xffa0fc00, 0x64204000, ANY, FLOAT_EQ},       /* FDOT, BFDOT (indexed) */
    {0xffa0fc00, 0x64208000, ANY, FLOAT_EQ},       /* FDOT, BFDOT */
    {0xffa0d000, 0x64a04000, ANY, FLOAT},          /* FMLALB ... BFMLSLT (indexed) */
    {0xffa0d800, 0x64a08000, ANY, FLOAT},          /* FMLALB ... BFMLSLT */
    {0xff20fc00, 0x6420e400, HSD, FLOAT},          /* BFMMLA, FMMLA */
    /* 8-bit floating-point */
    {0xffe0f400, 0x64204400, ANY, FLOAT},          /* FDOT to H (indexed) */
    {0xffe0fc00, 0x64604400, ANY, FLOAT},          /* FDOT to S (indexed) */
    {0xffa0fc00, 0x64208400, ANY, FLOAT},          /* FDOT */
    {0xff60f000, 0x64205000, ANY, FLOAT},          /* FMLALB, FMLALT (indexed) */
    {0xff20f000, 0x6420c000, ANY, FLOAT},          /* FMLALLBB ... FMLALLTT (indexed) */
    {0xffe0ec00, 0x64a08800, ANY, FLOAT},          /* FMLALB, FMLALT */
    {0xffe0cc00, 0x64208800, ANY, FLOAT},          /* FMLALLBB ... FMLALLTT */
};

/* Floating-point: 0x65 */
static const struct a64_row floating_more[] = {
    {0xff20f800, 0x65000000, ANY, FLOAT_EQ},       /* FADD, FSUB, BFADD, BFSUB */
    {0xff20fc00, 0x65000800, ANY, FLOAT_EQ},       /* FMUL, BFMUL */
    {0xff20fc00, 0x65000c00, HSD, FLOAT},          /* FTSMUL */
    {0xff20f800, 0x65001800, HSD, FLOAT_EQ},       /* FRECPS, FRSQRTS */
    {0xff20c000, 0x65004000, HSD, FLOAT_WITH_P},   /* FCMGE, FCMGT, FCMEQ, FCMNE */
    {0xff20e000, 0x6500c000, HSD, FLOAT_WITH_P},   /* FCMUO, FACGE */
    {0xff20e010, 0x6500e010, HSD, FLOAT_WITH_P},   /* FACGT */
    {0xff3ee000, 0x65008000, ANY, FLOAT_GOVERNED}, /* FADD, FSUB, BFADD, BFSUB */
    {0xff3fe000, 0x65028000, ANY, FLOAT_GOVERNED}, /* FMUL, BFMUL */
    {0xff3fe000, 0x65038000, HSD, FLOAT_GOVERNED}, /* FSUBR */
    {0xff3ce000, 0x65048000, ANY, FLOAT_GOVERNED}, /* FMAXNM, FMINNM, FMAX, FMIN; BFMAXNM ... */
    {0xff3ee000, 0x65088000, HSD, FLOAT_GOVERNED}, /* FABD, FSCALE */
    {0xff3fe000, 0x650a8000, HSD, FLOAT_GOVERNED}, /* FMULX */
    {0xff3ee000, 0x650c8000, HSD, FLOAT_GOVERNED}, /* FDIVR, FDIV */
    {0xff3ee000, 0x650e8000, HSD, FLOAT_GOVERNED}, /* FAMAX, FAMIN */
    {0xff38fc00, 0x65108000, HSD, FLOAT},          /* FTMAD */
    {0xff38e3c0, 0x65188000, HSD, FLOAT_GOVERNED}, /* FADD ... FMIN (immediate) */
    {0xff3ce000, 0x6500a000, HSD, FLOAT_GOVERNED}, /* FRINTN, FRINTP, FRINTM, FRINTZ */
    {0xff3fe000, 0x6504a000, HSD, FLOAT_GOVERNED}, /* FRINTA */
    {0xff3ee000, 0x6506a000, HSD, FLOAT_GOVERNED}, /* FRINTX, FRINTI */
    {0xffffe000, 0x650aa000, ANY, FLOAT_GOVERNED}, /* FCVTX */
    {0xfffee000, 0x6588a000, ANY, FLOAT_GOVERNED}, /* FCVT: S and H */
    {0xffffe000, 0x658aa000, ANY, FLOAT_GOVERNED}, /* BFCVT */
    {0xfffce000, 0x65c8a000, ANY, FLOAT_GOVERNED}, /* FCVT: D and H, D and S */
    {0xff3ee000, 0x650ca000, HSD, FLOAT_GOVERNED}, /* FRECPX, FSQRT */
    {0xfffee000, 0x6552a000, ANY, FLOAT_GOVERNED}, /* SCVTF, UCVTF to H from H */
    {0xfffce000, 0x6554a000, ANY, FLOAT_GOVERNED}, /* ... from S, from D */
    {0xfffee000, 0x6594a000, ANY, FLOAT_GOVERNED}, /* to S from S */
    {0xfffee000, 0x65d0a000, ANY, FLOAT_GOVERNED}, /* to D from S */
    {0xfffce000, 0x65d4a000, ANY, FLOAT_GOVERNED}, /* to S, to D from D */
    {0xffffe000, 0x6518a000, ANY, NONE},           /* of no size */
    {0xfff9e000, 0x6518a000, ANY, FLOAT_GOVERNED}, /* FLOGB */
    {0xfffee000, 0x655aa000, ANY, FLOAT_GOVERNED}, /* FCVTZS, FCVTZU from H to H */
    {0xfffce000, 0x655ca000, ANY, FLOAT_GOVERNED}, /* ... to S, to D */
    {0xfffee000, 0x659ca000, ANY, FLOAT_GOVERNED}, /* from S to S */
    {0xfffee000, 0x65d8a000, ANY, FLOAT_GOVERNED}, /* from D to S */
    {0xfffce000, 0x65dca000, ANY, FLOAT_GOVERNED}, /* from S, from D to D */
    {0xff3fe000, 0x65002000, HSD, FLOAT_WITH_P},   /* FADDV */
    {0xff3ce000, 0x65042000, HSD, FLOAT_WITH_P},   /* FMAXNMV, FMINNMV, FMAXV, FMINV */
    {0xff3efc00, 0x650e3000, HSD, FLOAT_EQ},       /* FRECPE, FRSQRTE */
    {0xff3ee000, 0x65102000, HSD, FLOAT_WITH_P},   /* FCMGE, FCMGT, FCMLT, FCMLE with zero */
    {0xff3fe010, 0x65122000, HSD, FLOAT_WITH_P}, /* FCMEQ */
    {0xff3fe010, 0x65132000, HSD, FLOAT_WITH_P},   /* FCMNE */
    {0xff3fe000, 0x65182000, HSD, FLOAT_WITH_P},   /* FADDA */
    {0xff20c000, 0x65200000, ANY, FLOAT_GOVERNED}, /* FMLA, FMLS; BFMLA, BFMLS */
    {0xff204000, 0x65204000, HSD, FLOAT_GOVERNED}, /* FNMLA, FNMLS, FNMAD, FNMSB */
    {0xff20c000, 0x65208000, HSD, FLOAT_GOVERNED}, /* FMAD, FMSB */
    {0xfffff000, 0x65083000, ANY, FLOAT},          /* F1CVT, F2CVT, BF1CVT, BF2CVT */
    {0xfffff000, 0x65093000, ANY, FLOAT},          /* ... of the odd elements */
    {0xfffff020, 0x650a3000, ANY, FLOAT | A64_MULTIPLE}, /* FCVTN ... to 8 bits */
};
/* clang-format on */

/* Bitwise immediates are 0x05 with bits 21:18 zero. */
static bool bitwise_immediate(uint32_t word)
{
    return bits(word, 21, 18) != 0 || a64_is_bitmask(bit(word, 17), bits(word, 10, 5));
}

static bool data_processing(struct spe_a64 *insn)
{
    switch (insn->word >> 24) {
    case 0x04:
        return a64_data_processing(insn, integer, COUNT_OF(integer));
    case 0x05:
        return a64_data_processing(insn, permute, COUNT_OF(permute)) &&
               bitwise_immediate(insn->word);
    case 0x24:
        return a64_data_processing(insn, compare, COUNT_OF(compare));
    case 0x25:
        return a64_data_processing(insn, predicate, COUNT_OF(predicate));
    case 0x44:
        return a64_data_processing(insn, multiply, COUNT_OF(multiply));
    case 0x45:
        return a64_data_processing(insn, wide, COUNT_OF(wide));
    case 0x64:
        return a64_data_processing(insn, floating, COUNT_OF(floating));
    default:
        return a64_data_processing(insn, floating_more, COUNT_OF(floating_more));
    }
}

/* Conversions: their sizes are not in bits 23:22. 15:13 is 5 and bit 21 is 0 in 0x64 and 0x65. */
static bool is_conversion(uint32_t word)
{
    unsigned group = bits(word, 20, 18);

    return bits(word, 31, 25) == 0x32 && !bit(word, 21) && bits(word, 15, 13) == 5 &&
           (group == 2 || group >= 4);
}

/* The size of a governed lane: bits 23:22 as a rule. 0: it is not told. */
static unsigned lane_bytes(uint32_t word)
{
    unsigned size = bits(word, 23, 22);

    if (is_conversion(word))
        return 0;
    if ((word & 0xff30e000) == 0x04008000) /* shift by immediate: the highest bit of tsz */
        return 1u << (31 - __builtin_clz(size << 2 | bits(word, 9, 8)));
    if ((word & 0xff3fe000) == 0x052e8000) /* REVD */
        return 16;
    if (word >> 24 == 0x65 && size == 0) /* BFloat16 */
        return 2;
    return 1u << size;
}

bool a64_sve(struct spe_a64 *insn)
{
    uint32_t word = insn->word;

    if (bit(word, 31))
        return a64_sve_memory(insn);
    if (!data_processing(insn))
        return false;
    if (insn->operation.predicated) {
        bool immediate = (word & 0xff300000) == 0x05100000; /* CPY, FCPY */

        insn->predicate = (uint8_t)(immediate ? bits(word, 19, 16) : bits(word, 12, 10));
        insn->lane_bytes = (uint8_t)lane_bytes(word);
    }
    return true;
}
