/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which registers an Advanced SIMD or floating-point instruction reads and writes. The destination
 * is read, too, by what accumulates into it, inserts into it, or writes its upper half only. What
 * writes a smaller register clears the rest and does not read it.
 */
#include "pe/a64_uses.h"

#define XN USES_XN
#define VD USES_VD
#define VN USES_VN
#define VM USES_VM
#define VA USES_VA
#define VM_BITS_3 USES_VM_BITS_3
#define VM_BITS_4 USES_VM_BITS_4
#define VM_ELEMENT USES_VM_ELEMENT
#define VD_IF_Q USES_VD_IF_Q
#define NZCV USES_NZCV
#define TO_XD USES_TO_XD
#define TO_VD USES_TO_VD
#define TO_NZCV USES_TO_NZCV

/* clang-format off */

/* Scalar floating-point and cryptography */
static const struct uses_row scalar[] = {
    {0x7f3e0000, 0x1e020000, XN | TO_VD},                  /* SCVTF, UCVTF (fixed-point) */
    {0x7f3e0000, 0x1e180000, VN | TO_XD},                  /* FCVTZS, FCVTZU (fixed-point) */
    {0x7f3efc00, 0x1e220000, XN | TO_VD},                  /* SCVTF, UCVTF */
    {0xfffffc00, 0x9eaf0000, XN | VD | TO_VD},             /* FMOV to V.D[1] */
    {0x7f3ffc00, 0x1e270000, XN | TO_VD},                  /* FMOV from a general register */
    {0xfffffc00, 0x1e7e0000, VN | TO_XD | TO_NZCV},        /* FJCVTZS */
    {0x7f20fc00, 0x1e200000, VN | TO_XD},                  /* FCVTNS ... FCVTZU, FMOV */
    {0xff207c00, 0x1e204000, VN | TO_VD},                  /* one source */
    {0xff20fc08, 0x1e202008, VN | TO_NZCV},                /* FCMP, FCMPE with zero */
    {0xff20fc00, 0x1e202000, VN | VM | TO_NZCV},           /* FCMP, FCMPE */
    {0xff201c00, 0x1e201000, TO_VD},                       /* FMOV (immediate) */
    {0xff200c00, 0x1e200400, VN | VM | NZCV | TO_NZCV},    /* FCCMP, FCCMPE */
    {0xff200c00, 0x1e200c00, VN | VM | NZCV | TO_VD},      /* FCSEL */
    {0xff200c00, 0x1e200800, VN | VM | TO_VD},             /* two sources */
    {0xff000000, 0x1f000000, VN | VM | VA | TO_VD},        /* three sources */
    /* cryptography */
    {0xffe08c00, 0x5e000000, VD | VN | VM | TO_VD},        /* SHA1C ... SHA256SU1 */
    {0xfffffc00, 0x5e280800, VN | TO_VD},                  /* SHA1H */
    {0xffff0c00, 0x5e280800, VD | VN | TO_VD},             /* SHA1SU1, SHA256SU0 */
    {0xffff2c00, 0x4e280800, VD | VN | TO_VD},             /* AESE, AESD */
    {0xffe0c000, 0xce408000, VD | VN | VM | TO_VD},        /* SM3TT1A ... SM3TT2B */
    {0xff808000, 0xce000000, VN | VM | VA | TO_VD},        /* EOR3, BCAX, SM3SS1 */
    {0xffe0fc00, 0xce608c00, VN | VM | TO_VD},             /* RAX1 */
    {0xffe0fc00, 0xce60c800, VN | VM | TO_VD},             /* SM4EKEY */
    {0xffe00000, 0xce600000, VD | VN | VM | TO_VD},        /* SHA512H ... SM3PARTW2 */
    {0xffe00000, 0xce800000, VN | VM | TO_VD},             /* XAR */
    {0xffe00000, 0xcec00000, VD | VN | TO_VD},             /* SHA512SU0, SM4E */
};

/* Bits 28:24 are 01110. A scalar instruction is looked up as the vector one with Q of 0. */
static const struct uses_row vector[] = {
    /* copy */
    {0xbfe08400, 0x2e000400, VD | VN | TO_VD},             /* INS (element) */
    {0xbfe0fc00, 0x0e000400, VN | TO_VD},                  /* DUP (element) */
    {0xbfe0fc00, 0x0e000c00, XN | TO_VD},                  /* DUP (general) */
    {0xbfe0fc00, 0x0e001c00, XN | VD | TO_VD},             /* INS (general) */
    {0xbfe0e400, 0x0e002400, VN | TO_XD},                  /* SMOV, UMOV */
    /* table lookup: TBX keeps what is out of range */
    {0xbfe0fc00, 0x0e000000, VN | VM | TO_VD},             /* TBL of one register ... */
    {0xbfe0fc00, 0x0e002000, USES_VN_2 | VM | TO_VD},
    {0xbfe0fc00, 0x0e004000, USES_VN_3 | VM | TO_VD},
    {0xbfe0fc00, 0x0e006000, USES_VN_4 | VM | TO_VD},
    {0xbfe0fc00, 0x0e001000, VD | VN | VM | TO_VD},        /* TBX of one register ... */
    {0xbfe0fc00, 0x0e003000, VD | USES_VN_2 | VM | TO_VD},
    {0xbfe0fc00, 0x0e005000, VD | USES_VN_3 | VM | TO_VD},
    {0xbfe0fc00, 0x0e007000, VD | USES_VN_4 | VM | TO_VD},
    {0xbfe09c00, 0x0e401000, USES_VN_2 | VM | TO_VD},      /* LUTI4 of 16 bits */
    /* three same: what reads its destination */
    {0xbfe0fc00, 0x2e201c00, VN | VM | TO_VD},             /* EOR */
    {0xbf20fc00, 0x2e201c00, VD | VN | VM | TO_VD},        /* BSL, BIT, BIF */
    {0x9f20fc00, 0x0e207c00, VD | VN | VM | TO_VD},        /* SABA, UABA */
    {0x9f20fc00, 0x0e209400, VD | VN | VM | TO_VD},        /* MLA, MLS */
    {0xbf20fc00, 0x0e20cc00, VD | VN | VM | TO_VD},        /* FMLA, FMLS */
    {0xbf20fc00, 0x0e20ec00, VD | VN | VM | TO_VD},        /* FMLAL, FMLSL */
    {0xbf20fc00, 0x2e20cc00, VD | VN | VM | TO_VD},        /* FMLAL2, FMLSL2 */
    {0xbf60fc00, 0x0e400c00, VD | VN | VM | TO_VD},        /* FMLA, FMLS of H */
    /* three same, extra: all but the first two accumulate */
    {0xbf20ec00, 0x2e00e400, VN | VM | TO_VD},             /* FCADD */
    {0xbfe0fc00, 0x0e40f400, VN | VM | TO_VD},             /* FCVTN of H to 8 bits */
    {0xbfe0fc00, 0x0e00f400, VD_IF_Q | VN | VM | TO_VD},   /* FCVTN, FCVTN2 of S to 8 bits */
    {0x9f208400, 0x0e008400, VD | VN | VM | TO_VD},        /* SDOT, FCMLA, BFMMLA ... */
    /* two-register miscellaneous, across lanes */
    {0x9f3ffc00, 0x0e203800, VD | VN | TO_VD},             /* SUQADD, USQADD */
    {0x9f3ffc00, 0x0e206800, VD | VN | TO_VD},             /* SADALP, UADALP */
    {0x9f3ffc00, 0x0e212800, VD_IF_Q | VN | TO_VD},        /* XTN, SQXTUN */
    {0x9f3ffc00, 0x0e214800, VD_IF_Q | VN | TO_VD},        /* SQXTN, UQXTN */
    {0x9f3ffc00, 0x0e216800, VD_IF_Q | VN | TO_VD},        /* FCVTN, BFCVTN, FCVTXN */
    {0x9f260c00, 0x0e200800, VN | TO_VD},                  /* all others; AESMC */
    /* three different: those that narrow or accumulate */
    {0x9f20dc00, 0x0e204000, VD_IF_Q | VN | VM | TO_VD},   /* ADDHN, SUBHN and rounding */
    {0x9f20fc00, 0x0e205000, VD | VN | VM | TO_VD},        /* SABAL, UABAL */
    {0x9f20dc00, 0x0e208000, VD | VN | VM | TO_VD},        /* SMLAL, SMLSL, UMLAL, UMLSL */
    {0x9f20dc00, 0x0e209000, VD | VN | VM | TO_VD},        /* SQDMLAL, SQDMLSL */
    /* all else has three registers */
    {0x00000000, 0x00000000, VN | VM | TO_VD},
};

/* Bits 28:24 are 01111 */
static const struct uses_row element[] = {
    /* modified immediate: ORR and BIC have an odd cmode below 12 */
    {0x9ff8d400, 0x0f009400, VD | TO_VD},
    {0x9ff89400, 0x0f001400, VD | TO_VD},
    {0x9ff80400, 0x0f000400, TO_VD},
    /* shift by immediate */
    {0x9f00dc00, 0x0f001400, VD | VN | TO_VD},             /* SSRA, USRA, SRSRA, URSRA */
    {0xbf00ec00, 0x2f004400, VD | VN | TO_VD},             /* SRI, SLI */
    {0x9f00e400, 0x0f008400, VD_IF_Q | VN | TO_VD},        /* SHRN ... UQRSHRN */
    {0x9f000400, 0x0f000400, VN | TO_VD},
    /* by element, with a Vm of its own */
    {0xbf009400, 0x2f001000, VD | VN | VM | TO_VD},        /* FCMLA */
    {0xbfc0f400, 0x0fc0f000, VD | VN | VM_BITS_4 | TO_VD}, /* BFMLALB, BFMLALT */
    {0xbf00f400, 0x0f00f000, VD | VN | VM | TO_VD},        /* BFDOT, SUDOT, USDOT */
    {0xbfc0b400, 0x0f800000, VD | VN | VM_BITS_4 | TO_VD}, /* FMLAL, FMLSL */
    {0xbfc0b400, 0x2f808000, VD | VN | VM_BITS_4 | TO_VD}, /* FMLAL2, FMLSL2 */
    {0xbfc0f400, 0x0f000000, VD | VN | VM | TO_VD},        /* FDOT of 8 bits to S */
    {0xbfc0f400, 0x0f400000, VD | VN | VM_BITS_4 | TO_VD}, /* FDOT of 8 bits to H */
    {0xbfc0f400, 0x0fc00000, VD | VN | VM_BITS_3 | TO_VD}, /* FMLALB, FMLALT of 8 bits */
    {0xbf00f400, 0x2f008000, VD | VN | VM_BITS_3 | TO_VD}, /* FMLALLBB ... FMLALLTT */
    /* products */
    {0xbf00f400, 0x0f008000, VN | VM_ELEMENT | TO_VD},     /* MUL */
    {0x9f00f400, 0x0f009000, VN | VM_ELEMENT | TO_VD},     /* FMUL, FMULX */
    {0x9f00f400, 0x0f00a000, VN | VM_ELEMENT | TO_VD},     /* SMULL, UMULL */
    {0xbf00f400, 0x0f00b000, VN | VM_ELEMENT | TO_VD},     /* SQDMULL */
    {0xbf00e400, 0x0f00c000, VN | VM_ELEMENT | TO_VD},     /* SQDMULH, SQRDMULH */
    /* all others accumulate */
    {0x9f000400, 0x0f000000, VD | VN | VM_ELEMENT | TO_VD},
};

/* clang-format on */

/* Elements of halfwords are in V0 to V15: integers of size 1, floating-point of size 0. */
static uint64_t element_register(uint32_t word)
{
    return bit(word, 23) ? VM : VM_BITS_4;
}

static uint64_t vector_uses(uint32_t word)
{
    uint64_t uses = bit(word, 24) ? uses_find(word, element, COUNT_OF(element))
                                  : uses_find(word, vector, COUNT_OF(vector));

    if (uses & VD_IF_Q && bit(word, 30))
        uses |= VD;
    if (uses & VM_ELEMENT)
        uses |= element_register(word);
    return uses;
}

struct uses uses_simd(uint32_t word)
{
    uint32_t scalar_bits = UINT32_C(1) << 30 | UINT32_C(1) << 28;
    uint64_t uses = uses_find(word, scalar, COUNT_OF(scalar));

    if (!uses)
        uses = vector_uses(bit(word, 28) ? word & ~scalar_bits : word);
    return uses_registers(word, uses);
}
