/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C4.1, Data Processing - Scalar Floating-Point and Advanced SIMD. */
#include "pe/a64.h"

#define INTEGER A64_ASIMD
#define FLOAT (A64_ASIMD | A64_FP)
#define NONE A64_UNALLOCATED

/* Sets of sizes: bits 23:22 are 0 to 3. LOW, HIGH: size<1>, which is part of the opcode of
 * floating-point; size<0> is then S or D. */
enum {
    B = 1,
    H = 2,
    S = 4,
    D = 8,
    BHS = 7,
    HS = 6,
    BH = 3,
    LOW = 3,
    HIGH = 12,
    ANY = A64_ANY_SIZE
};

/* clang-format off */

/* Three registers of the same type: 0 Q U 01110 size 1 Rm opcode 1. Masks leave out Q, and U if
 * both its values are allocated. */
static const struct a64_row three_same[] = {
    {0x9f20fc00, 0x0e201c00, ANY, INTEGER}, /* AND, BIC, ORR, ORN, EOR, BSL, BIT, BIF */
    {0xffe00400, 0x0ee00400, ANY, NONE},    /* one doubleword is not a vector */
    {0xffe00400, 0x2ee00400, ANY, NONE},
    {0xdf60c400, 0x0e60c400, ANY, NONE},    /* ... of floating-point, either */
    {0x9f20fc00, 0x0e200400, BHS, INTEGER}, /* SHADD, UHADD */
    {0x9f20fc00, 0x0e200c00, ANY, INTEGER}, /* SQADD, UQADD */
    {0x9f20fc00, 0x0e201400, BHS, INTEGER}, /* SRHADD, URHADD */
    {0x9f20fc00, 0x0e202400, BHS, INTEGER}, /* SHSUB, UHSUB */
    {0x9f20fc00, 0x0e202c00, ANY, INTEGER}, /* SQSUB, UQSUB */
    {0x9f20f400, 0x0e203400, ANY, INTEGER}, /* CMGT, CMHI, CMGE, CMHS */
    {0x9f20e400, 0x0e204400, ANY, INTEGER}, /* SSHL ... UQRSHL */
    {0x9f20e400, 0x0e206400, BHS, INTEGER}, /* SMAX, SMIN, SABD, SABA, UMAX ... */
    {0x9f20f400, 0x0e208400, ANY, INTEGER}, /* ADD, SUB, CMTST, CMEQ */
    {0x9f20fc00, 0x0e209400, BHS, INTEGER}, /* MLA, MLS */
    {0xbf20fc00, 0x0e209c00, BHS, INTEGER}, /* MUL */
    {0xbf20fc00, 0x2e209c00, B, INTEGER},   /* PMUL */
    {0x9f20f400, 0x0e20a400, BHS, INTEGER}, /* SMAXP, SMINP, UMAXP, UMINP */
    {0x9f20fc00, 0x0e20b400, HS, INTEGER},  /* SQDMULH, SQRDMULH */
    {0xbf20fc00, 0x0e20bc00, ANY, INTEGER}, /* ADDP */
    {0xbf20fc00, 0x0e20ec00, B | S, FLOAT}, /* FMLAL, FMLSL */
    {0xbf20fc00, 0x2e20cc00, B | S, FLOAT}, /* FMLAL2, FMLSL2 */
    {0x9f20fc00, 0x0e20c400, ANY, FLOAT},   /* FMAXNM, FMINNM, FMAXNMP, FMINNMP */
    {0xbf20fc00, 0x0e20cc00, ANY, FLOAT},   /* FMLA, FMLS */
    {0x9f20fc00, 0x0e20d400, ANY, FLOAT},   /* FADD, FSUB, FADDP, FABD */
    {0x9f20fc00, 0x0e20dc00, ANY, FLOAT},   /* FMULX, FMUL, FAMAX, FAMIN */
    {0xbf20fc00, 0x0e20e400, LOW, FLOAT},   /* FCMEQ */
    {0xbf20f400, 0x2e20e400, ANY, FLOAT},   /* FCMGE, FCMGT, FACGE, FACGT */
    {0x9f20fc00, 0x0e20f400, ANY, FLOAT},   /* FMAX, FMIN, FMAXP, FMINP */
    {0x9f20fc00, 0x0e20fc00, ANY, FLOAT},   /* FRECPS, FRSQRTS, FDIV, FSCALE */
};

/* The other vector groups with bits 28:24 of 01110 */
static const struct a64_row vector[] = {
    /* three same, FP16: bits 23:21 are a10 */
    {0x9f60fc00, 0x0e400400, ANY, FLOAT},   /* FMAXNM, FMINNM, FMAXNMP, FMINNMP */
    {0xbf60fc00, 0x0e400c00, ANY, FLOAT},   /* FMLA, FMLS */
    {0x9f60fc00, 0x0e401400, ANY, FLOAT},   /* FADD, FSUB, FADDP, FABD */
    {0x9f60fc00, 0x0e401c00, ANY, FLOAT},   /* FMULX, FMUL, FAMAX, FAMIN */
    {0xbfe0fc00, 0x0e402400, ANY, FLOAT},   /* FCMEQ */
    {0xbf60f400, 0x2e402400, ANY, FLOAT},   /* FCMGE, FCMGT, FACGE, FACGT */
    {0x9f60fc00, 0x0e403400, ANY, FLOAT},   /* FMAX, FMIN, FMAXP, FMINP */
    {0x9f60fc00, 0x0e403c00, ANY, FLOAT},   /* FRECPS, FRSQRTS, FDIV, FSCALE */
    /* three same, extra */
    {0xbf20f400, 0x2e008400, HS, INTEGER},  /* SQRDMLAH, SQRDMLSH */
    {0x9f20fc00, 0x0e009400, S, INTEGER},   /* SDOT, UDOT */
    {0xbf20fc00, 0x0e009c00, S, INTEGER},   /* USDOT */
    {0xdf20fc00, 0x4e00a400, S, INTEGER},   /* SMMLA, UMMLA */
    {0xff20fc00, 0x4e00ac00, S, INTEGER},   /* USMMLA */
    {0xbfe0fc00, 0x2ec0fc00, ANY, FLOAT},   /* BFMLALB, BFMLALT */
    {0xffe0c400, 0x2ec0c400, ANY, NONE},    /* complex: no single doubleword */
    {0xbf20e400, 0x2e00c400, H | S | D, FLOAT}, /* FCMLA */
    {0xbf20ec00, 0x2e00e400, H | S | D, FLOAT}, /* FCADD */
    {0xffe0fc00, 0x6e40ec00, ANY, FLOAT},   /* BFMMLA */
    {0xbfe0fc00, 0x2e40fc00, ANY, FLOAT},   /* BFDOT */
    {0xbfa0fc00, 0x0e00fc00, ANY, FLOAT},   /* FDOT of 8 bits */
    {0xbfe0fc00, 0x0ec0fc00, ANY, FLOAT},   /* FMLALB, FMLALT of 8 bits */
    {0xbfa0fc00, 0x0e00c400, ANY, FLOAT},   /* FMLALLBB ... FMLALLTT of 8 bits */
    {0xbfa0fc00, 0x0e00f400, ANY, FLOAT},   /* FCVTN to 8 bits */
    /* two-register miscellaneous: size 10000 opcode 10 */
    {0xbf3ffc00, 0x0e200800, BHS, INTEGER}, /* REV64 */
    {0xbf3ffc00, 0x0e201800, B, INTEGER},   /* REV16 */
    {0xbf3ffc00, 0x2e200800, BH, INTEGER},  /* REV32 */
    {0x9f3ffc00, 0x0e202800, BHS, INTEGER}, /* SADDLP, UADDLP */
    {0x9f3ffc00, 0x0e206800, BHS, INTEGER}, /* SADALP, UADALP */
    {0x9f3ffc00, 0x0e204800, BHS, INTEGER}, /* CLS, CLZ */
    {0xbf3ffc00, 0x0e205800, B, INTEGER},   /* CNT */
    {0xbf3ffc00, 0x2e205800, BH, INTEGER},  /* NOT, RBIT */
    {0x9f3ffc00, 0x0e212800, BHS, INTEGER}, /* XTN, SQXTUN */
    {0xbf3ffc00, 0x2e213800, BHS, INTEGER}, /* SHLL */
    {0x9f3ffc00, 0x0e214800, BHS, INTEGER}, /* SQXTN, UQXTN */
    {0xbf3ffc00, 0x0e216800, BHS, FLOAT},   /* FCVTN, BFCVTN */
    {0xbf3ffc00, 0x2e216800, H, FLOAT},     /* FCVTXN */
    {0xbf3ffc00, 0x0e217800, BH, FLOAT},    /* FCVTL */
    {0xbf3ffc00, 0x2e217800, ANY, FLOAT},   /* F1CVTL, F2CVTL, BF1CVTL, BF2CVTL */
    {0x9f3ffc00, 0x0e21c800, S, INTEGER},   /* URECPE, URSQRTE */
    {0xdfff0c00, 0x0ee00800, ANY, NONE},    /* one doubleword is not a vector */
    {0x9f3ffc00, 0x0e203800, ANY, INTEGER}, /* SUQADD, USQADD */
    {0x9f3ffc00, 0x0e207800, ANY, INTEGER}, /* SQABS, SQNEG */
    {0x9f3fec00, 0x0e208800, ANY, INTEGER}, /* CMGT, CMEQ, CMGE, CMLE with zero */
    {0xbf3ffc00, 0x0e20a800, ANY, INTEGER}, /* CMLT with zero */
    {0x9f3ffc00, 0x0e20b800, ANY, INTEGER}, /* ABS, NEG */
    {0xdf7f0c00, 0x0e610800, ANY, NONE},
    {0xdf7f0c00, 0x0e600800, HIGH, NONE},
    {0x9f3fec00, 0x0e20c800, HIGH, FLOAT},  /* FCMGT, FCMEQ, FCMGE, FCMLE with zero */
    {0xbf3ffc00, 0x0e20e800, HIGH, FLOAT},  /* FCMLT with zero */
    {0x9f3ffc00, 0x0e20f800, HIGH, FLOAT},  /* FABS, FNEG */
    {0x9f3fec00, 0x0e218800, LOW, FLOAT},   /* FRINTN, FRINTM, FRINTA, FRINTX */
    {0xbf3fec00, 0x0e218800, HIGH, FLOAT},  /* FRINTP, FRINTZ */
    {0xbf3ffc00, 0x2e219800, HIGH, FLOAT},  /* FRINTI */
    {0x9f3fec00, 0x0e21a800, ANY, FLOAT},   /* FCVTNS, FCVTMS, FCVTPS, FCVTZS and unsigned */
    {0x9f3fec00, 0x0e21c800, LOW, FLOAT},   /* FCVTAS, FCVTAU, SCVTF, UCVTF */
    {0x9f3ffc00, 0x0e21d800, HIGH, FLOAT},  /* FRECPE, FRSQRTE */
    {0x9f3fec00, 0x0e21e800, LOW, FLOAT},   /* FRINT32Z, FRINT64Z, FRINT32X, FRINT64X */
    {0xbf3ffc00, 0x2e21f800, HIGH, FLOAT},  /* FSQRT */
    /* two-register miscellaneous, FP16: a 111100 opcode 10 */
    {0x9ffffc00, 0x0ef8c800, ANY, FLOAT},   /* FCMGT, FCMGE with zero */
    {0x9ffffc00, 0x0ef8d800, ANY, FLOAT},   /* FCMEQ, FCMLE with zero */
    {0xbffffc00, 0x0ef8e800, ANY, FLOAT},   /* FCMLT with zero */
    {0x9ffffc00, 0x0ef8f800, ANY, FLOAT},   /* FABS, FNEG */
    {0x9fffec00, 0x0e798800, ANY, FLOAT},   /* FRINTN, FRINTM, FRINTA, FRINTX */
    {0xbfffec00, 0x0ef98800, ANY, FLOAT},   /* FRINTP, FRINTZ */
    {0xbffffc00, 0x2ef99800, ANY, FLOAT},   /* FRINTI */
    {0x9f7fec00, 0x0e79a800, ANY, FLOAT},   /* FCVTNS, FCVTMS, FCVTPS, FCVTZS and unsigned */
    {0x9fffec00, 0x0e79c800, ANY, FLOAT},   /* FCVTAS, FCVTAU, SCVTF, UCVTF */
    {0x9ffffc00, 0x0ef9d800, ANY, FLOAT},   /* FRECPE, FRSQRTE */
    {0xbffffc00, 0x2ef9f800, ANY, FLOAT},   /* FSQRT */
    /* across lanes: size 11000 opcode 10 */
    {0xbf3ffc00, 0x0e30c800, B | S, FLOAT}, /* FMAXNMV, FMINNMV of H */
    {0xff3ffc00, 0x6e30c800, B | S, FLOAT}, /* ... of S */
    {0xbf3ffc00, 0x0e30f800, B | S, FLOAT}, /* FMAXV, FMINV of H */
    {0xff3ffc00, 0x6e30f800, B | S, FLOAT}, /* ... of S */
    {0xdf3e0c00, 0x0e300800, S, NONE},      /* not of two lanes */
    {0x9f3ffc00, 0x0e303800, BHS, INTEGER}, /* SADDLV, UADDLV */
    {0x9f3ffc00, 0x0e30a800, BHS, INTEGER}, /* SMAXV, UMAXV */
    {0x9f3ffc00, 0x0e31a800, BHS, INTEGER}, /* SMINV, UMINV */
    {0xbf3ffc00, 0x0e31b800, BHS, INTEGER}, /* ADDV */
    /* three different: size 1 Rm opcode 00 */
    {0x9f208c00, 0x0e200000, BHS, INTEGER}, /* SADDL ... RSUBHN, SABAL, SABDL and unsigned */
    {0x9f20fc00, 0x0e208000, BHS, INTEGER}, /* SMLAL, UMLAL */
    {0xbf20dc00, 0x0e209000, HS, INTEGER},  /* SQDMLAL, SQDMLSL */
    {0x9f20fc00, 0x0e20a000, BHS, INTEGER}, /* SMLSL, UMLSL */
    {0x9f20fc00, 0x0e20c000, BHS, INTEGER}, /* SMULL, UMULL */
    {0xbf20fc00, 0x0e20d000, HS, INTEGER},  /* SQDMULL */
    {0xbf20fc00, 0x0e20e000, B | D, INTEGER}, /* PMULL */
    /* copy: 0 Q op 01110000 imm5 0 imm4 1 */
    {0x9fef8400, 0x0e000400, ANY, NONE},    /* no size */
    {0xffeffc00, 0x0e080400, ANY, NONE},    /* one doubleword is not a vector */
    {0xbfe0fc00, 0x0e000400, ANY, INTEGER}, /* DUP (element) */
    {0xffeffc00, 0x0e080c00, ANY, NONE},
    {0xbfe0fc00, 0x0e000c00, ANY, INTEGER}, /* DUP (general) */
    {0xffe0fc00, 0x4e001c00, ANY, INTEGER}, /* INS (general) */
    {0xbfe1fc00, 0x0e012c00, ANY, INTEGER}, /* SMOV of B */
    {0xbfe3fc00, 0x0e022c00, ANY, INTEGER}, /* ... of H */
    {0xffe7fc00, 0x4e042c00, ANY, INTEGER}, /* ... of S */
    {0xffe1fc00, 0x0e013c00, ANY, INTEGER}, /* UMOV of B */
    {0xffe3fc00, 0x0e023c00, ANY, INTEGER}, /* ... of H */
    {0xffe7fc00, 0x0e043c00, ANY, INTEGER}, /* ... of S */
    {0xffeffc00, 0x4e083c00, ANY, INTEGER}, /* ... of D */
    {0xffe08400, 0x6e000400, ANY, INTEGER}, /* INS (element) */
    /* table lookup, permute, extract */
    {0xbfe08c00, 0x0e000000, ANY, INTEGER}, /* TBL, TBX */
    {0xffe09c00, 0x4e801000, ANY, INTEGER}, /* LUTI2 of 8 bits */
    {0xffe08c00, 0x4ec00000, ANY, INTEGER}, /* LUTI2 of 16 bits */
    {0xffe0bc00, 0x4e402000, ANY, INTEGER}, /* LUTI4 of 8 bits */
    {0xffe09c00, 0x4e401000, ANY, INTEGER}, /* LUTI4 of 16 bits */
    {0xffe00c00, 0x0ec00800, ANY, NONE},    /* one doubleword is not a vector */
    {0xbf20bc00, 0x0e001800, ANY, INTEGER}, /* UZP1, UZP2 */
    {0xbf20bc00, 0x0e002800, ANY, INTEGER}, /* TRN1, TRN2 */
    {0xbf20bc00, 0x0e003800, ANY, INTEGER}, /* ZIP1, ZIP2 */
    {0xffe0c400, 0x2e000000, ANY, INTEGER}, /* EXT of 8 bytes */
    {0xffe08400, 0x6e000000, ANY, INTEGER}, /* EXT of 16 bytes */
    /* cryptography */
    {0xffffcc00, 0x4e284800, ANY, INTEGER}, /* AESE, AESD, AESMC, AESIMC */
};

/* By element and shift by immediate, modified immediate: bits 28:24 are 01111 */
static const struct a64_row element[] = {
    /* modified immediate: 0 Q op 0111100000 abc cmode o2 1 defgh */
    {0xfff8fc00, 0x2f00f400, ANY, NONE},       /* one doubleword is not a vector of floating-point */
    {0x9ff8fc00, 0x0f00f400, ANY, FLOAT},      /* FMOV */
    {0xbff8fc00, 0x0f00fc00, ANY, FLOAT},      /* FMOV of H */
    {0x9ff80c00, 0x0f000400, ANY, INTEGER},    /* MOVI, MVNI, ORR, BIC */
    /* shift by immediate: 0 Q U 011110 immh immb opcode 1 */
    {0x9ff80400, 0x0f000400, ANY, NONE},       /* immh is not 0 */
    {0xdfc08400, 0x0f400400, ANY, NONE},       /* one doubleword is not a vector */
    {0x9f80cc00, 0x0f000400, ANY, INTEGER},    /* SSHR, SSRA, SRSHR, SRSRA */
    {0xbf80fc00, 0x2f004400, ANY, INTEGER},    /* SRI */
    {0x9f80fc00, 0x0f005400, ANY, INTEGER},    /* SHL, SLI */
    {0xbf80fc00, 0x2f006400, ANY, INTEGER},    /* SQSHLU */
    {0x9f80fc00, 0x0f007400, ANY, INTEGER},    /* SQSHL, UQSHL */
    {0x9fc0e400, 0x0f008400, ANY, INTEGER},    /* SHRN ... UQRSHRN: immh<3> is 0 */
    {0x9fc0fc00, 0x0f00a400, ANY, INTEGER},    /* SSHLL, USHLL */
    {0xdfc0e400, 0x0f40e400, ANY, NONE},
    {0x9ff8e400, 0x0f08e400, ANY, NONE},       /* no floating-point of 8 bits */
    {0x9f80fc00, 0x0f00e400, ANY, FLOAT},      /* SCVTF, UCVTF */
    {0x9f80fc00, 0x0f00fc00, ANY, FLOAT},      /* FCVTZS, FCVTZU */
    /* by element: 0 Q U 01111 size L M Rm opcode H 0 */
    {0x9f00f400, 0x0f002000, HS, INTEGER},     /* SMLAL, UMLAL */
    {0x9f00f400, 0x0f006000, HS, INTEGER},     /* SMLSL, UMLSL */
    {0x9f00f400, 0x0f00a000, HS, INTEGER},     /* SMULL, UMULL */
    {0xbf00b400, 0x0f003000, HS, INTEGER},     /* SQDMLAL, SQDMLSL */
    {0xbf00f400, 0x0f00b000, HS, INTEGER},     /* SQDMULL */
    {0xbf00f400, 0x0f008000, HS, INTEGER},     /* MUL */
    {0xbf00f400, 0x0f00c000, HS, INTEGER},     /* SQDMULH */
    {0x9f00f400, 0x0f00d000, HS, INTEGER},     /* SQRDMULH, SQRDMLAH */
    {0xbf00f400, 0x2f00f000, HS, INTEGER},     /* SQRDMLSH */
    {0xbf00b400, 0x2f000000, HS, INTEGER},     /* MLA, MLS */
    {0x9f00f400, 0x0f00e000, S, INTEGER},      /* SDOT, UDOT */
    {0xbf00f400, 0x0f00f000, B | S, INTEGER},  /* SUDOT, USDOT */
    {0xbf00f400, 0x0f00f000, H | D, FLOAT},    /* BFDOT, BFMLALB, BFMLALT */
    {0xbf00b400, 0x0f000000, S, FLOAT},        /* FMLAL, FMLSL */
    {0xbf00b400, 0x2f008000, S, FLOAT},        /* FMLAL2, FMLSL2 */
    {0xff00f400, 0x0f009000, D, NONE},         /* one doubleword is not a vector */
    {0xff00b400, 0x0f001000, D, NONE},
    {0xff00f400, 0x2f009000, D, NONE},
    {0x9fe0f400, 0x0fe09000, ANY, NONE},       /* D has no L */
    {0xbfe0b400, 0x0fe01000, ANY, NONE},
    {0xbf00b400, 0x0f001000, B | S | D, FLOAT}, /* FMLA, FMLS */
    {0x9f00f400, 0x0f009000, B | S | D, FLOAT}, /* FMUL, FMULX */
    {0xff009400, 0x2f001000, S, NONE},         /* FCMLA of two S: none */
    {0xff009c00, 0x2f001800, H, NONE},         /* ... of the fourth pair of four H: none */
    {0xbf209400, 0x2f201000, S, NONE},         /* ... L is 0 for S */
    {0xbf009400, 0x2f001000, HS, FLOAT},       /* FCMLA */
    {0xbfc0f400, 0x0fc00000, ANY, FLOAT},      /* FMLALB, FMLALT of 8 bits */
    {0xbfc0f400, 0x0f000000, ANY, FLOAT},      /* FDOT of 8 bits */
    {0xbfc0f400, 0x0f400000, ANY, FLOAT},
    {0xbf80f400, 0x2f008000, ANY, FLOAT},      /* FMLALLBB ... FMLALLTT of 8 bits */
};

/* Scalar: bits 31:30 are 01, bits 28:24 are 11110 */
static const struct a64_row scalar[] = {
    /* three same: 01 U 11110 size 1 Rm opcode 1 */
    {0xdf20fc00, 0x5e200c00, ANY, INTEGER}, /* SQADD, UQADD */
    {0xdf20fc00, 0x5e202c00, ANY, INTEGER}, /* SQSUB, UQSUB */
    {0xdf20f400, 0x5e203400, D, INTEGER},   /* CMGT, CMHI, CMGE, CMHS */
    {0xdf20fc00, 0x5e204400, D, INTEGER},   /* SSHL, USHL */
    {0xdf20ec00, 0x5e204c00, ANY, INTEGER}, /* SQSHL, UQSHL, SQRSHL, UQRSHL */
    {0xdf20fc00, 0x5e205400, D, INTEGER},   /* SRSHL, URSHL */
    {0xdf20f400, 0x5e208400, D, INTEGER},   /* ADD, SUB, CMTST, CMEQ */
    {0xdf20fc00, 0x5e20b400, HS, INTEGER},  /* SQDMULH, SQRDMULH */
    {0xff20fc00, 0x7e20d400, HIGH, FLOAT},  /* FABD */
    {0xff20fc00, 0x5e20dc00, LOW, FLOAT},   /* FMULX */
    {0xff20fc00, 0x5e20e400, LOW, FLOAT},   /* FCMEQ */
    {0xff20f400, 0x7e20e400, ANY, FLOAT},   /* FCMGE, FCMGT, FACGE, FACGT */
    {0xff20fc00, 0x5e20fc00, ANY, FLOAT},   /* FRECPS, FRSQRTS */
    {0xff60fc00, 0x7e401400, HIGH, FLOAT},  /* FP16: FABD */
    {0xffe0fc00, 0x5e401c00, ANY, FLOAT},   /* FMULX */
    {0xffe0fc00, 0x5e402400, ANY, FLOAT},   /* FCMEQ */
    {0xff60f400, 0x7e402400, ANY, FLOAT},   /* FCMGE, FCMGT, FACGE, FACGT */
    {0xff60fc00, 0x5e403c00, ANY, FLOAT},   /* FRECPS, FRSQRTS */
    {0xff20f400, 0x7e008400, HS, INTEGER},  /* SQRDMLAH, SQRDMLSH */
    /* two-register miscellaneous */
    {0xdf3ffc00, 0x5e203800, ANY, INTEGER}, /* SUQADD, USQADD */
    {0xdf3ffc00, 0x5e207800, ANY, INTEGER}, /* SQABS, SQNEG */
    {0xdf3fec00, 0x5e208800, D, INTEGER},   /* CMGT, CMEQ, CMGE, CMLE with zero */
    {0xff3ffc00, 0x5e20a800, D, INTEGER},   /* CMLT with zero */
    {0xdf3ffc00, 0x5e20b800, D, INTEGER},   /* ABS, NEG */
    {0xff3ffc00, 0x7e212800, BHS, INTEGER}, /* SQXTUN */
    {0xdf3ffc00, 0x5e214800, BHS, INTEGER}, /* SQXTN, UQXTN */
    {0xdf3fec00, 0x5e20c800, HIGH, FLOAT},  /* FCMGT, FCMEQ, FCMGE, FCMLE with zero */
    {0xff3ffc00, 0x5e20e800, HIGH, FLOAT},  /* FCMLT with zero */
    {0xdf3fec00, 0x5e21a800, ANY, FLOAT},   /* FCVTNS, FCVTMS, FCVTPS, FCVTZS and unsigned */
    {0xdf3fec00, 0x5e21c800, LOW, FLOAT},   /* FCVTAS, FCVTAU, SCVTF, UCVTF */
    {0xdf3ffc00, 0x5e21d800, HIGH, FLOAT},  /* FRECPE, FRSQRTE */
    {0xff3ffc00, 0x5e21f800, HIGH, FLOAT},  /* FRECPX */
    {0xff3ffc00, 0x7e216800, H, FLOAT},     /* FCVTXN */
    {0xdfffec00, 0x5ef8c800, ANY, FLOAT},   /* FP16: FCMGT, FCMEQ, FCMGE, FCMLE with zero */
    {0xfffffc00, 0x5ef8e800, ANY, FLOAT},   /* FCMLT with zero */
    {0xdf7fec00, 0x5e79a800, ANY, FLOAT},   /* FCVTNS, FCVTMS, FCVTPS, FCVTZS and unsigned */
    {0xdfffec00, 0x5e79c800, ANY, FLOAT},   /* FCVTAS, FCVTAU, SCVTF, UCVTF */
    {0xdffffc00, 0x5ef9d800, ANY, FLOAT},   /* FRECPE, FRSQRTE */
    {0xfffffc00, 0x5ef9f800, ANY, FLOAT},   /* FRECPX */
    /* pairwise */
    {0xff3ffc00, 0x5e31b800, D, INTEGER},   /* ADDP */
    {0xff3ffc00, 0x5e30c800, B | S, FLOAT}, /* FMAXNMP, FMINNMP of H */
    {0xff3ffc00, 0x7e30c800, ANY, FLOAT},
    {0xff3ffc00, 0x5e30d800, B, FLOAT},     /* FADDP of H */
    {0xff3ffc00, 0x7e30d800, LOW, FLOAT},
    {0xff3ffc00, 0x5e30f800, B | S, FLOAT}, /* FMAXP, FMINP of H */
    {0xff3ffc00, 0x7e30f800, ANY, FLOAT},
    /* three different */
    {0xff20dc00, 0x5e209000, HS, INTEGER},  /* SQDMLAL, SQDMLSL */
    {0xff20fc00, 0x5e20d000, HS, INTEGER},  /* SQDMULL */
    /* copy */
    {0xffeffc00, 0x5e000400, ANY, NONE},
    {0xffe0fc00, 0x5e000400, ANY, INTEGER}, /* DUP (element) */
    /* cryptography */
    {0xffe0cc00, 0x5e000000, ANY, INTEGER}, /* SHA1C, SHA1P, SHA1M, SHA1SU0 */
    {0xffe0ec00, 0x5e004000, ANY, INTEGER}, /* SHA256H, SHA256H2 */
    {0xffe0fc00, 0x5e006000, ANY, INTEGER}, /* SHA256SU1 */
    {0xffffec00, 0x5e280800, ANY, INTEGER}, /* SHA1H, SHA1SU1 */
    {0xfffffc00, 0x5e282800, ANY, INTEGER}, /* SHA256SU0 */
};

/* Scalar by element and shift by immediate: 01 U 11111 */
static const struct a64_row scalar_element[] = {
    {0xdff80400, 0x5f000400, ANY, NONE},       /* immh is not 0 */
    {0xdfc0cc00, 0x5f400400, ANY, INTEGER},    /* SSHR, SSRA, SRSHR, SRSRA; of D */
    {0xffc0fc00, 0x7f404400, ANY, INTEGER},    /* SRI */
    {0xdfc0fc00, 0x5f405400, ANY, INTEGER},    /* SHL, SLI */
    {0xff80fc00, 0x7f006400, ANY, INTEGER},    /* SQSHLU */
    {0xdf80fc00, 0x5f007400, ANY, INTEGER},    /* SQSHL, UQSHL */
    {0xffc0f400, 0x7f008400, ANY, INTEGER},    /* SQSHRUN, SQRSHRUN */
    {0xdfc0f400, 0x5f009400, ANY, INTEGER},    /* SQSHRN, SQRSHRN, UQSHRN, UQRSHRN */
    {0xdff8e400, 0x5f08e400, ANY, NONE},       /* no floating-point of 8 bits */
    {0xdf80fc00, 0x5f00e400, ANY, FLOAT},      /* SCVTF, UCVTF */
    {0xdf80fc00, 0x5f00fc00, ANY, FLOAT},      /* FCVTZS, FCVTZU */
    {0xff00b400, 0x5f003000, HS, INTEGER},     /* SQDMLAL, SQDMLSL */
    {0xff00f400, 0x5f00b000, HS, INTEGER},     /* SQDMULL */
    {0xff00f400, 0x5f00c000, HS, INTEGER},     /* SQDMULH */
    {0xdf00f400, 0x5f00d000, HS, INTEGER},     /* SQRDMULH, SQRDMLAH */
    {0xff00f400, 0x7f00f000, HS, INTEGER},     /* SQRDMLSH */
    {0xffe0b400, 0x5fe01000, ANY, NONE},       /* D has no L */
    {0xdfe0f400, 0x5fe09000, ANY, NONE},
    {0xff00b400, 0x5f001000, B | S | D, FLOAT}, /* FMLA, FMLS */
    {0xdf00f400, 0x5f009000, B | S | D, FLOAT}, /* FMUL, FMULX */
};

/* Cryptographic three and four registers, SHA-512, SM3, SM4: 11001110 */
static const struct a64_row crypto[] = {
    {0xffe08000, 0xce000000, ANY, INTEGER}, /* EOR3 */
    {0xffe08000, 0xce200000, ANY, INTEGER}, /* BCAX */
    {0xffe08000, 0xce400000, ANY, INTEGER}, /* SM3SS1 */
    {0xffe0c000, 0xce408000, ANY, INTEGER}, /* SM3TT1A ... SM3TT2B */
    {0xffe0f000, 0xce608000, ANY, INTEGER}, /* SHA512H, SHA512H2, SHA512SU1, RAX1 */
    {0xffe0f800, 0xce60c000, ANY, INTEGER}, /* SM3PARTW1, SM3PARTW2 */
    {0xffe0fc00, 0xce60c800, ANY, INTEGER}, /* SM4EKEY */
    {0xffe00000, 0xce800000, ANY, INTEGER}, /* XAR */
    {0xfffff800, 0xcec08000, ANY, INTEGER}, /* SHA512SU0, SM4E */
};

/* Scalar floating-point: x0011110 and 00011111; bits 23:22 are ptype: S, D, none, H */
enum { SDH = 11, SDQ = 3 };
static const struct a64_row floating[] = {
    /* conversion to and from fixed-point: 32 fraction bits at most in W */
    {0xff208000, 0x1e000000, ANY, NONE},
    {0x7f3e0000, 0x1e020000, SDH, A64_FP},  /* SCVTF, UCVTF */
    {0x7f3e0000, 0x1e180000, SDH, A64_FP},  /* FCVTZS, FCVTZU */
    /* conversion to and from integer */
    {0x7f3efc00, 0x1e220000, SDH, A64_FP},  /* SCVTF, UCVTF */
    {0x7f26fc00, 0x1e200000, SDH, A64_FP},  /* FCVTNS, FCVTPS, FCVTMS, FCVTZS and unsigned */
    {0x7f3efc00, 0x1e240000, SDH, A64_FP},  /* FCVTAS, FCVTAU */
    {0xfffefc00, 0x1e260000, ANY, A64_FP},  /* FMOV between W and S */
    {0xfffefc00, 0x9e660000, ANY, A64_FP},  /* FMOV between X and D */
    {0xfffefc00, 0x9eae0000, ANY, A64_FP},  /* FMOV between X and V.D[1] */
    {0x7ffefc00, 0x1ee60000, ANY, A64_FP},  /* FMOV between W or X and H */
    {0xfffffc00, 0x1e7e0000, ANY, A64_FP},  /* FJCVTZS */
    /* one source */
    {0xff3e7c00, 0x1e204000, SDH, A64_FP},  /* FMOV, FABS, FNEG, FSQRT */
    {0xfffffc00, 0x1e22c000, ANY, A64_FP},  /* FCVT S to D */
    {0xfffffc00, 0x1e23c000, ANY, A64_FP},  /* FCVT S to H */
    {0xfffffc00, 0x1e624000, ANY, A64_FP},  /* FCVT D to S */
    {0xfffffc00, 0x1e63c000, ANY, A64_FP},  /* FCVT D to H */
    {0xfffffc00, 0x1e634000, ANY, A64_FP},  /* BFCVT */
    {0xffff7c00, 0x1ee24000, ANY, A64_FP},  /* FCVT H to S, to D */
    {0xff3e7c00, 0x1e244000, SDH, A64_FP},  /* FRINTN, FRINTP, FRINTM, FRINTZ */
    {0xff3ffc00, 0x1e264000, SDH, A64_FP},  /* FRINTA */
    {0xff3f7c00, 0x1e274000, SDH, A64_FP},  /* FRINTX, FRINTI */
    {0xff3e7c00, 0x1e284000, SDQ, A64_FP},  /* FRINT32Z, FRINT32X, FRINT64Z, FRINT64X */
    /* compare, immediate */
    {0xff20fc07, 0x1e202000, SDH, A64_FP},  /* FCMP, FCMPE */
    {0xff201fe0, 0x1e201000, SDH, A64_FP},  /* FMOV (immediate) */
    /* conditional compare, conditional select: cond_op is set by the caller */
    {0xff200c00, 0x1e200400, SDH, A64_FP},  /* FCCMP, FCCMPE */
    {0xff200c00, 0x1e200c00, SDH, A64_FP},  /* FCSEL */
    /* two sources */
    {0xff208c00, 0x1e200800, SDH, A64_FP},  /* FMUL, FDIV, FADD, FSUB, FMAX, FMIN, FMAXNM, FMINNM */
    {0xff20fc00, 0x1e208800, SDH, A64_FP},  /* FNMUL */
    /* three sources */
    {0xff000000, 0x1f000000, SDH, A64_FP},  /* FMADD, FMSUB, FNMADD, FNMSUB */
};
/* clang-format on */

static bool floating_point(struct spe_a64 *insn)
{
    uint32_t word = insn->word;

    if (!a64_data_processing(insn, floating, COUNT_OF(floating)))
        return false;
    if (!bit(word, 24) && bit(word, 21) && bit(word, 10)) {
        insn->has_condition = true;
        insn->condition = (uint8_t)bits(word, 15, 12);
        insn->operation.cond_op =
            1 + __builtin_ctz(bit(word, 11) ? SPE_COND_FCSEL : SPE_COND_FCCMP);
    }
    return true;
}

static bool three_same_register(struct spe_a64 *insn)
{
    return a64_data_processing(insn, three_same, COUNT_OF(three_same));
}

static bool other_vector(struct spe_a64 *insn)
{
    return a64_data_processing(insn, vector, COUNT_OF(vector));
}

static bool by_element(struct spe_a64 *insn)
{
    return a64_data_processing(insn, element, COUNT_OF(element));
}

static bool scalar_simd(struct spe_a64 *insn)
{
    return a64_data_processing(insn, scalar, COUNT_OF(scalar));
}

static bool scalar_by_element(struct spe_a64 *insn)
{
    return a64_data_processing(insn, scalar_element, COUNT_OF(scalar_element));
}

static bool cryptography(struct spe_a64 *insn)
{
    return a64_data_processing(insn, crypto, COUNT_OF(crypto));
}

static const struct a64_group groups[] = {
    {0x7e000000, 0x1e000000, floating_point}, {0x9f200400, 0x0e200400, three_same_register},
    {0x9f000000, 0x0e000000, other_vector},   {0x9f000000, 0x0f000000, by_element},
    {0xdf000000, 0x5e000000, scalar_simd},    {0xdf000000, 0x5f000000, scalar_by_element},
    {0xff000000, 0xce000000, cryptography},
};

bool a64_simd(struct spe_a64 *insn)
{
    return a64_decode(insn, groups, COUNT_OF(groups));
}
