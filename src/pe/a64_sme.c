/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * C4.1, SME encodings. Rows join what is alike for SPE; VECTORS_n are the ZA array vectors or Z
 * registers that an instruction writes.
 */
#include "pe/a64.h"

#define TILE A64_SME_TILE
#define TILE_FP (A64_SME_TILE | A64_FP)
#define ZA A64_SME_VECTOR
#define ZA_FP (A64_SME_VECTOR | A64_FP)
#define SVE A64_SVE
#define SVE_FP (A64_SVE | A64_FP)
#define GOVERNED A64_GOVERNED
#define PREDICATE A64_PREDICATE
#define ZT A64_ZT
#define VECTORS_2 A64_VECTORS_2
#define VECTORS_4 A64_VECTORS_4
#define VECTORS_8 A64_VECTORS_8
#define VECTORS_16 A64_VECTORS_16
#define TILE_H A64_TILE_H
#define TILE_S A64_TILE_S
#define TILE_D A64_TILE_D

enum { ANY = A64_ANY_SIZE };

/* clang-format off */

/* Outer products: bits 31:24 are 0x80, 0x81, 0xa0 and 0xa1, bit 23 is 1 */
static const struct a64_row outer[] = {
    {0xffc0001c, 0x80800000, ANY, TILE_FP | GOVERNED | TILE_S}, /* FMOPA */
    {0xffe0000c, 0x80800000, ANY, TILE_FP | GOVERNED | TILE_S}, /* FMOPA, FMOPS */
    {0xffe0000c, 0x80800008, ANY, TILE | GOVERNED | TILE_S}, /* BMOPA, BMOPS */
    {0xffe0001e, 0x80a00008, ANY, TILE_FP | GOVERNED | TILE_H}, /* FMOPA */
    {0xffe00008, 0x80c00000, ANY, TILE_FP | GOVERNED | TILE_D}, /* FMOPA, FMOPS */
    {0xffc0000c, 0x81800000, ANY, TILE_FP | GOVERNED | TILE_S}, /* BFMOPA, BFMOPS, FMOPA, FMOPS */
    {0xffc0000e, 0x81800008, ANY, TILE_FP | GOVERNED | TILE_H}, /* BFMOPA, BFMOPS, FMOPA, FMOPS */
    {0xffc0000c, 0xa0800000, ANY, TILE | GOVERNED | TILE_S}, /* SMOPA, SMOPS, SUMOPA, SUMOPS */
    {0xffe00004, 0xa0800000, ANY, TILE | GOVERNED | TILE_S}, /* SMOPA, SMOPS */
    {0xffc00008, 0xa0c00000, ANY, TILE | GOVERNED | TILE_D}, /* SMOPA, SMOPS, SUMOPA, SUMOPS */
    {0xffc0000c, 0xa1800000, ANY, TILE | GOVERNED | TILE_S}, /* UMOPA, UMOPS, USMOPA, USMOPS */
    {0xffe00004, 0xa1800000, ANY, TILE | GOVERNED | TILE_S}, /* UMOPA, UMOPS, USMOPA, USMOPS */
    {0xffc00008, 0xa1c00000, ANY, TILE | GOVERNED | TILE_D}, /* UMOPA, UMOPS, USMOPA, USMOPS */
};

/* Moves to and from ZA, ZERO, ADDHA, ADDVA, lookup in ZT0: 0xc0 */
static const struct a64_row za[] = {
    {0xff3f0010, 0xc0000000, ANY, ZA | GOVERNED},        /* MOVA */
    {0xff3f0200, 0xc0020000, ANY, ZA | GOVERNED},        /* MOVA */
    {0xff3f1e00, 0xc0020200, ANY, ZA},                   /* MOVAZ */
    {0xff3f1c38, 0xc0040000, ANY, ZA | VECTORS_2},       /* MOVA */
    {0xffff9438, 0xc0040000, ANY, ZA | VECTORS_2},       /* MOVA */
    {0xff3f1c7c, 0xc0040400, ANY, ZA | VECTORS_4},       /* MOVA */
    {0xffff9c78, 0xc0040c00, ANY, ZA | VECTORS_4},       /* MOVA */
    {0xff3f1d01, 0xc0060000, ANY, ZA | VECTORS_2},       /* MOVA, MOVAZ */
    {0xffff9501, 0xc0060000, ANY, ZA | VECTORS_2},       /* MOVA, MOVAZ */
    {0xff3f1d83, 0xc0060400, ANY, ZA | VECTORS_4},       /* MOVA, MOVAZ */
    {0xffff9d03, 0xc0060c00, ANY, ZA | VECTORS_4},       /* MOVA, MOVAZ */
    {0xffff1ff8, 0xc00c0000, ANY, ZA | VECTORS_2},       /* ZERO */
    {0xffff9ffc, 0xc00d0000, ANY, ZA | VECTORS_4},       /* ZERO */
    {0xffff9ffc, 0xc00d8000, ANY, ZA | VECTORS_8},       /* ZERO */
    {0xffff9ff8, 0xc00e0000, ANY, ZA | VECTORS_4},       /* ZERO */
    {0xffff9ffc, 0xc00e8000, ANY, ZA | VECTORS_4},       /* ZERO */
    {0xffff9ffe, 0xc00f0000, ANY, ZA | VECTORS_8},       /* ZERO */
    {0xffff9ffe, 0xc00f8000, ANY, ZA | VECTORS_16},      /* ZERO */
    {0xffffffff, 0xc0480001, ANY, SVE | ZT},             /* ZERO (ZT0) */
    {0xfffd8fe0, 0xc04c03e0, ANY, SVE | ZT},             /* MOVT */
    {0xfffecfe0, 0xc04e03e0, ANY, SVE | ZT},             /* MOVT */
    {0xfffa5c01, 0xc08a4000, ANY, SVE | ZT | VECTORS_2}, /* LUTI2, LUTI4 */
    {0xfffa6c01, 0xc08a4000, ANY, SVE | ZT | VECTORS_2}, /* LUTI2, LUTI4 */
    {0xfffafc03, 0xc08a9000, ANY, SVE | ZT | VECTORS_4}, /* LUTI2, LUTI4 */
    {0xfffafc03, 0xc08aa000, ANY, SVE | ZT | VECTORS_4}, /* LUTI2, LUTI4 */
    {0xfffffc23, 0xc08b0000, ANY, SVE | ZT | VECTORS_4}, /* LUTI4 */
    {0xfffc5c01, 0xc08c4000, ANY, SVE | ZT | VECTORS_2}, /* LUTI2 */
    {0xfffc6c01, 0xc08c4000, ANY, SVE | ZT | VECTORS_2}, /* LUTI2 */
    {0xfffcdc03, 0xc08c8000, ANY, SVE | ZT | VECTORS_4}, /* LUTI2 */
    {0xfffcec03, 0xc08c8000, ANY, SVE | ZT | VECTORS_4}, /* LUTI2 */
    {0xfffe001c, 0xc0900000, ANY, TILE | GOVERNED | TILE_S}, /* ADDHA, ADDVA */
    {0xfffa6c08, 0xc09a4000, ANY, SVE | ZT | VECTORS_2}, /* LUTI2, LUTI4 */
    {0xfffafc0c, 0xc09a9000, ANY, SVE | ZT | VECTORS_4}, /* LUTI2, LUTI4 */
    {0xfffffc2c, 0xc09b0000, ANY, SVE | ZT | VECTORS_4}, /* LUTI4 */
    {0xfffc6c08, 0xc09c4000, ANY, SVE | ZT | VECTORS_2}, /* LUTI2 */
    {0xfffcec0c, 0xc09c8000, ANY, SVE | ZT | VECTORS_4}, /* LUTI2 */
    {0xfffe0010, 0xc0c00000, ANY, ZA | GOVERNED},        /* MOVA */
    {0xfffe0200, 0xc0c20000, ANY, ZA | GOVERNED},        /* MOVA */
    {0xfffe1e00, 0xc0c20200, ANY, ZA},                   /* MOVAZ */
    {0xffff1c78, 0xc0c40400, ANY, ZA | VECTORS_4},       /* MOVA */
    {0xffff1d03, 0xc0c60400, ANY, ZA | VECTORS_4},       /* MOVA, MOVAZ */
    {0xfffa1c00, 0xc0ca0000, ANY, SVE | ZT},             /* LUTI2, LUTI4 */
    {0xfffa2c00, 0xc0ca0000, ANY, SVE | ZT},             /* LUTI2, LUTI4 */
    {0xfffc1c00, 0xc0cc0000, ANY, SVE | ZT},             /* LUTI2 */
    {0xfffc2c00, 0xc0cc0000, ANY, SVE | ZT},             /* LUTI2 */
    {0xfffe0018, 0xc0d00000, ANY, TILE | GOVERNED | TILE_D}, /* ADDHA, ADDVA */
};

/* Multiple vectors with an indexed element, into ZA: 0xc1, bit 21 is 0 */
static const struct a64_row indexed[] = {
    {0xfff00004, 0xc1000000, ANY, ZA | VECTORS_4},       /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff00008, 0xc1000000, ANY, ZA | VECTORS_4},       /* SMLALL, SUMLALL, UMLALL, USMLALL */
    {0xfff09008, 0xc1100000, ANY, ZA | VECTORS_8},       /* SMLALL, SUMLALL, UMLALL, USMLALL */
    {0xfff09020, 0xc1100000, ANY, ZA | VECTORS_8},       /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff09000, 0xc1101000, ANY, ZA_FP | VECTORS_2},    /* BFMLA, BFMLS, FMLA, FMLS */
    {0xfff09048, 0xc1108000, ANY, ZA | VECTORS_16},      /* SMLALL, SUMLALL, UMLALL, USMLALL */
    {0xfff09060, 0xc1108000, ANY, ZA | VECTORS_16},      /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff09078, 0xc1108040, ANY, ZA_FP | VECTORS_16},   /* FMLALL */
    {0xfff09030, 0xc1109000, ANY, ZA_FP | VECTORS_4},    /* FDOT, FMLA */
    {0xfff09040, 0xc1109000, ANY, ZA_FP | VECTORS_4},    /* BFMLA, BFMLS, FMLA, FMLS */
    {0xfff0001c, 0xc1400000, ANY, ZA_FP | VECTORS_4},    /* FMLALL */
    {0xfff09020, 0xc1500000, ANY, ZA_FP | VECTORS_2},    /* BFVDOT, FMLA, FMLS, FVDOT */
    {0xfff08028, 0xc1500008, ANY, ZA_FP | VECTORS_2},    /* BFDOT, BFVDOT, FDOT, FVDOT */
    {0xfff09018, 0xc1500018, ANY, ZA_FP | VECTORS_2},    /* BFVDOT, FDOT */
    {0xfff08028, 0xc1500020, ANY, ZA | VECTORS_2},       /* SDOT, SVDOT, UDOT, UVDOT */
    {0xfff09008, 0xc1501000, ANY, ZA | VECTORS_2},       /* SDOT, UDOT */
    {0xfff09020, 0xc1501020, ANY, ZA | VECTORS_2},       /* SDOT, SUDOT, UDOT, USDOT */
    {0xfff09068, 0xc1508000, ANY, ZA_FP | VECTORS_4},    /* FMLA, FMLS */
    {0xfff09070, 0xc1508000, ANY, ZA_FP | VECTORS_4},    /* FDOT, FMLA */
    {0xfff08060, 0xc1508020, ANY, ZA | VECTORS_4},       /* SDOT, SUDOT, SVDOT, UDOT ... */
    {0xfff09048, 0xc1509000, ANY, ZA | VECTORS_4},       /* SDOT, UDOT */
    {0xfff09068, 0xc1509008, ANY, ZA_FP | VECTORS_4},    /* FDOT, BFDOT */
    {0xfff01004, 0xc1800000, ANY, ZA | VECTORS_4},       /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff01000, 0xc1801000, ANY, ZA_FP | VECTORS_2},    /* BFMLAL, BFMLSL, FMLAL, FMLSL */
    {0xfff09820, 0xc1900000, ANY, ZA | VECTORS_8},       /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff09038, 0xc1900020, ANY, ZA_FP | VECTORS_8},    /* FMLALL */
    {0xfff09020, 0xc1901000, ANY, ZA_FP | VECTORS_4},    /* BFMLAL, BFMLSL, FMLAL, FMLSL */
    {0xfff09010, 0xc1901010, ANY, ZA_FP | VECTORS_4},    /* BFMLAL, BFMLSL, FMLAL */
    {0xfff09860, 0xc1908000, ANY, ZA | VECTORS_16},      /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff09050, 0xc1909000, ANY, ZA_FP | VECTORS_8},    /* FMLAL, FMLSL */
    {0xfff09060, 0xc1909000, ANY, ZA_FP | VECTORS_8},    /* BFMLAL, BFMLSL, FMLAL, FMLSL */
    {0xfff01010, 0xc1c00000, ANY, ZA_FP | VECTORS_2},    /* FMLAL */
    {0xfff01000, 0xc1c01000, ANY, ZA | VECTORS_2},       /* SMLAL, SMLSL, UMLAL, UMLSL */
    {0xfff09828, 0xc1d00000, ANY, ZA_FP | VECTORS_2},    /* FMLA, FMLS */
    {0xfff09828, 0xc1d00008, ANY, ZA | VECTORS_2},       /* SDOT, UDOT */
    {0xfff08030, 0xc1d00020, ANY, ZA_FP | VECTORS_2},    /* FDOT, FVDOT */
    {0xfff09820, 0xc1d00800, ANY, ZA_FP | VECTORS_4},    /* FVDOTB, FVDOTT */
    {0xfff09020, 0xc1d01000, ANY, ZA | VECTORS_4},       /* SMLAL, SMLSL, UMLAL, UMLSL */
    {0xfff09868, 0xc1d08000, ANY, ZA_FP | VECTORS_4},    /* FMLA, FMLS */
    {0xfff09068, 0xc1d08008, ANY, ZA | VECTORS_4},       /* SDOT, SVDOT, UDOT, UVDOT */
    {0xfff09060, 0xc1d09000, ANY, ZA | VECTORS_8},       /* SMLAL, SMLSL, UMLAL, UMLSL */
};

/* Multiple vectors into ZA: 0xc1, bit 21 is 1, bit 15 is 0 */
static const struct a64_row multiple[] = {
    {0xffb09c06, 0xc1200000, ANY, ZA | VECTORS_8},       /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff09c0a, 0xc1200000, ANY, ZA | VECTORS_8},       /* SMLALL, SUMLALL, UMLALL, USMLALL */
    {0xfff09c1e, 0xc1200002, ANY, ZA_FP | VECTORS_8},    /* FMLALL */
    {0xffb09c04, 0xc1200400, ANY, ZA | VECTORS_4},       /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff09c1c, 0xc1200404, ANY, ZA | VECTORS_4},       /* USMLALL */
    {0xfff09c04, 0xc1200800, ANY, ZA_FP | VECTORS_4},    /* BFMLAL, BFMLSL, FMLAL, FMLSL */
    {0xfff09c18, 0xc1200800, ANY, ZA_FP | VECTORS_4},    /* FMLAL */
    {0xfff09c00, 0xc1200c00, ANY, ZA_FP | VECTORS_2},    /* BFMLAL, BFMLSL, FMLAL, FMLSL */
    {0xfff09c00, 0xc1201000, ANY, ZA_FP | VECTORS_2},    /* BFDOT, FDOT */
    {0xffb09c00, 0xc1201400, ANY, ZA | VECTORS_2},       /* SDOT, SUDOT, UDOT, USDOT */
    {0xffb09810, 0xc1201800, ANY, ZA_FP | VECTORS_2},    /* BFMLA, BFMLS, FMLA, FMLS */
    {0xffb09c10, 0xc1201810, ANY, ZA | VECTORS_2},       /* ADD, SUB */
    {0xffb09c06, 0xc1300000, ANY, ZA | VECTORS_16},      /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xfff09c0a, 0xc1300000, ANY, ZA | VECTORS_16},      /* SMLALL, SUMLALL, UMLALL, USMLALL */
    {0xfff09c1e, 0xc1300002, ANY, ZA_FP | VECTORS_16},   /* FMLALL */
    {0xfff09c1c, 0xc1300400, ANY, ZA_FP | VECTORS_4},    /* FMLALL */
    {0xfff09c04, 0xc1300800, ANY, ZA_FP | VECTORS_8},    /* BFMLAL, BFMLSL, FMLAL, FMLSL */
    {0xfff09c18, 0xc1300800, ANY, ZA_FP | VECTORS_8},    /* FMLAL */
    {0xfff09c18, 0xc1300c00, ANY, ZA_FP | VECTORS_2},    /* FMLAL */
    {0xfff09c00, 0xc1301000, ANY, ZA_FP | VECTORS_4},    /* BFDOT, FDOT */
    {0xffb09c00, 0xc1301400, ANY, ZA | VECTORS_4},       /* SDOT, SUDOT, UDOT, USDOT */
    {0xffb09810, 0xc1301800, ANY, ZA_FP | VECTORS_4},    /* BFMLA, BFMLS, FMLA, FMLS */
    {0xffb09c10, 0xc1301810, ANY, ZA | VECTORS_4},       /* ADD, SUB */
    {0xfff09c04, 0xc1600800, ANY, ZA | VECTORS_4},       /* SMLAL, SMLSL, UMLAL, UMLSL */
    {0xfff09c00, 0xc1600c00, ANY, ZA | VECTORS_2},       /* SMLAL, SMLSL, UMLAL, UMLSL */
    {0xfff09c04, 0xc1700800, ANY, ZA | VECTORS_8},       /* SMLAL, SMLSL, UMLAL, UMLSL */
    {0xffa19c26, 0xc1a00000, ANY, ZA | VECTORS_8},       /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xffe19c3a, 0xc1a00000, ANY, ZA | VECTORS_8},       /* SMLALL, USMLALL */
    {0xffe19c3e, 0xc1a00020, ANY, ZA_FP | VECTORS_8},    /* FMLALL */
    {0xffe19c1c, 0xc1a00800, ANY, ZA_FP | VECTORS_4},    /* FMLAL */
    {0xffe19c24, 0xc1a00800, ANY, ZA_FP | VECTORS_4},    /* BFMLAL, BFMLSL, FMLAL, FMLSL */
    {0xffe19c08, 0xc1a01000, ANY, ZA_FP | VECTORS_2},    /* BFDOT, FDOT */
    {0xffa19c28, 0xc1a01008, ANY, ZA_FP | VECTORS_2},    /* BFMLA, BFMLS, FMLA, FMLS */
    {0xffa19c28, 0xc1a01400, ANY, ZA | VECTORS_2},       /* SDOT, UDOT */
    {0xffa19c30, 0xc1a01400, ANY, ZA | VECTORS_2},       /* SDOT, USDOT */
    {0xffa19c30, 0xc1a01800, ANY, ZA_FP | VECTORS_2},    /* FMLA, FMLS */
    {0xffa19c30, 0xc1a01810, ANY, ZA | VECTORS_2},       /* ADD, SUB */
    {0xffbb9c30, 0xc1a01c00, ANY, ZA_FP | VECTORS_2},    /* FADD, FSUB, BFADD, BFSUB */
    {0xffbf9c30, 0xc1a01c10, ANY, ZA | VECTORS_2},       /* ADD, SUB */
    {0xffa39c66, 0xc1a10000, ANY, ZA | VECTORS_16},      /* SMLALL, SMLSLL, UMLALL, UMLSLL */
    {0xffe39c7a, 0xc1a10000, ANY, ZA | VECTORS_16},      /* SMLALL, USMLALL */
    {0xffe39c7e, 0xc1a10020, ANY, ZA_FP | VECTORS_16},   /* FMLALL */
    {0xffe39c5c, 0xc1a10800, ANY, ZA_FP | VECTORS_8},    /* FMLAL */
    {0xffe39c64, 0xc1a10800, ANY, ZA_FP | VECTORS_8},    /* BFMLAL, BFMLSL, FMLAL, FMLSL */
    {0xffe39c48, 0xc1a11000, ANY, ZA_FP | VECTORS_4},    /* BFDOT, FDOT */
    {0xffa39c68, 0xc1a11008, ANY, ZA_FP | VECTORS_4},    /* BFMLA, BFMLS, FMLA, FMLS */
    {0xffa39c68, 0xc1a11400, ANY, ZA | VECTORS_4},       /* SDOT, UDOT */
    {0xffa39c70, 0xc1a11400, ANY, ZA | VECTORS_4},       /* SDOT, USDOT */
    {0xffa39c70, 0xc1a11800, ANY, ZA_FP | VECTORS_4},    /* FMLA, FMLS */
    {0xffa39c70, 0xc1a11810, ANY, ZA | VECTORS_4},       /* ADD, SUB */
    {0xffbb9c70, 0xc1a11c00, ANY, ZA_FP | VECTORS_4},    /* FADD, FSUB, BFADD, BFSUB */
    {0xffbf9c70, 0xc1a11c10, ANY, ZA | VECTORS_4},       /* ADD, SUB */
    {0xffe19c24, 0xc1e00800, ANY, ZA | VECTORS_4},       /* SMLAL, SMLSL, UMLAL, UMLSL */
    {0xffe19c20, 0xc1e01400, ANY, ZA | VECTORS_2},       /* SDOT, UDOT */
    {0xffe39c64, 0xc1e10800, ANY, ZA | VECTORS_8},       /* SMLAL, SMLSL, UMLAL, UMLSL */
    {0xffe39c60, 0xc1e11400, ANY, ZA | VECTORS_4},       /* SDOT, UDOT */
};

/* Multiple vectors of SVE: 0xc1, bits 21 and 15 are 1 */
static const struct a64_row sve_multiple[] = {
    {0xff21e021, 0xc1208000, ANY, SVE | PREDICATE | VECTORS_2}, /* SEL */
    {0xff30fbe1, 0xc120a000, ANY, SVE | VECTORS_2},      /* SMAX, SQDMULH */
    {0xff30ffc0, 0xc120a000, ANY, SVE | VECTORS_2},      /* SMAX, SMIN, UMAX, UMIN */
    {0xff30fde0, 0xc120a020, ANY, SVE | VECTORS_2},      /* SMIN, SRSHL, UMIN, URSHL */
    {0xff30ffc0, 0xc120a100, ANY, SVE_FP | VECTORS_2},   /* FMAX, FMAXNM, FMIN, FMINNM, BF... */
    {0xff30ffe1, 0xc120a300, ANY, SVE | VECTORS_2},      /* ADD */
    {0xff30fbe3, 0xc120a800, ANY, SVE | VECTORS_4},      /* SMAX, SQDMULH */
    {0xff30ffc2, 0xc120a800, ANY, SVE | VECTORS_4},      /* SMAX, SMIN, UMAX, UMIN */
    {0xff30fde2, 0xc120a820, ANY, SVE | VECTORS_4},      /* SMIN, SRSHL, UMIN, URSHL */
    {0xff30ffc2, 0xc120a900, ANY, SVE_FP | VECTORS_4},   /* FMAX, FMAXNM, FMIN, FMINNM, BF... */
    {0xff30ffe3, 0xc120ab00, ANY, SVE | VECTORS_4},      /* ADD */
    {0xff21fbe1, 0xc120b000, ANY, SVE | VECTORS_2},      /* SMAX, SQDMULH */
    {0xff21ffc0, 0xc120b000, ANY, SVE | VECTORS_2},      /* SMAX, SMIN, UMAX, UMIN */
    {0xff21fde0, 0xc120b020, ANY, SVE | VECTORS_2},      /* SMIN, SRSHL, UMIN, URSHL */
    {0xff21ffc0, 0xc120b100, ANY, SVE_FP | VECTORS_2},   /* FMAX, FMAXNM, FMIN, FMINNM, BF... */
    {0xff23fbe3, 0xc120b800, ANY, SVE | VECTORS_4},      /* SMAX, SQDMULH */
    {0xff23ffc2, 0xc120b800, ANY, SVE | VECTORS_4},      /* SMAX, SMIN, UMAX, UMIN */
    {0xff23fde2, 0xc120b820, ANY, SVE | VECTORS_4},      /* SMIN, SRSHL, UMIN, URSHL */
    {0xff23ffc2, 0xc120b900, ANY, SVE_FP | VECTORS_4},   /* FMAX, FMAXNM, FMIN, FMINNM, BF... */
    {0xff20fc01, 0xc120c000, ANY, SVE_FP | VECTORS_2},   /* BFCLAMP, FCLAMP */
    {0xff20fc00, 0xc120c400, ANY, SVE | VECTORS_2},      /* SCLAMP, UCLAMP */
    {0xff20fc03, 0xc120c800, ANY, SVE_FP | VECTORS_4},   /* BFCLAMP, FCLAMP */
    {0xff20fc02, 0xc120cc00, ANY, SVE | VECTORS_4},      /* SCLAMP, UCLAMP */
    {0xff20fc00, 0xc120d000, ANY, SVE | VECTORS_2},      /* UZP, ZIP */
    {0xffe0f800, 0xc120d000, ANY, SVE | VECTORS_2},      /* UZP, ZIP */
    {0xffbbfc20, 0xc120e000, ANY, SVE_FP | A64_MULTIPLE}, /* BFCVT, FCVT */
    {0xffbffc00, 0xc120e000, ANY, SVE_FP | A64_MULTIPLE}, /* BFCVT, BFCVTN, FCVT, FCVTN */
    {0xff23e063, 0xc1218000, ANY, SVE | PREDICATE | VECTORS_4}, /* SEL */
    {0xfffffc01, 0xc121e000, ANY, SVE_FP | VECTORS_2},   /* FCVTZS, FCVTZU */
    {0xfffffc01, 0xc122e000, ANY, SVE_FP | VECTORS_2},   /* SCVTF, UCVTF */
    {0xffaffc20, 0xc123e000, ANY, SVE | A64_MULTIPLE},   /* SQCVT, SQCVTN, SQCVTU, SQCVTUN */
    {0xffeffc00, 0xc123e000, ANY, SVE | A64_MULTIPLE},   /* SQCVT, SQCVTN, UQCVT, UQCVTN */
    {0xff3ffc00, 0xc126e000, ANY, SVE_FP | VECTORS_2},   /* F1CVT, F1CVTL, BF1CVT ... */
    {0xfffffc43, 0xc131e000, ANY, SVE_FP | VECTORS_4},   /* FCVTZS, FCVTZU */
    {0xfffffc43, 0xc132e000, ANY, SVE_FP | VECTORS_4},   /* SCVTF, UCVTF */
    {0xff3ffc20, 0xc133e000, ANY, SVE | A64_MULTIPLE},   /* SQCVT, SQCVTN, SQCVTU, SQCVTUN */
    {0xff7ffc00, 0xc133e000, ANY, SVE | A64_MULTIPLE},   /* SQCVT, SQCVTN, UQCVT, UQCVTN */
    {0xfffffc40, 0xc134e000, ANY, SVE_FP | A64_MULTIPLE}, /* FCVT, FCVTN */
    {0xff3ffc61, 0xc136e000, ANY, SVE | VECTORS_4},      /* UZP, ZIP */
    {0xfffefc61, 0xc136e000, ANY, SVE | VECTORS_4},      /* UZP, ZIP */
    {0xff70ff61, 0xc160a100, ANY, SVE_FP | VECTORS_2},   /* FMAX, FSCALE */
    {0xff70ff63, 0xc160a900, ANY, SVE_FP | VECTORS_4},   /* FMAX, FSCALE */
    {0xff61ff61, 0xc160b100, ANY, SVE_FP | VECTORS_2},   /* FMAX, FSCALE */
    {0xff61ffa0, 0xc160b100, ANY, SVE_FP | VECTORS_2},   /* FAMAX, FAMIN, FMAX, FMIN */
    {0xff63ff63, 0xc160b900, ANY, SVE_FP | VECTORS_4},   /* FMAX, FSCALE */
    {0xff63ffa2, 0xc160b900, ANY, SVE_FP | VECTORS_4},   /* FAMAX, FAMIN, FMAX, FMIN */
    {0xff60f820, 0xc160d800, ANY, SVE | A64_MULTIPLE},   /* SQRSHR, SQRSHRU and N */
    {0xff60f840, 0xc160d800, ANY, SVE | A64_MULTIPLE},   /* SQRSHR, SQRSHRN, UQRSHR, UQRSHRN */
    {0xff7ffc00, 0xc165e000, ANY, SVE | VECTORS_2},      /* SUNPK, UUNPK */
    {0xff7ffc22, 0xc175e000, ANY, SVE | VECTORS_4},      /* SUNPK, UUNPK */
    {0xffb0ff61, 0xc1a0a100, ANY, SVE_FP | VECTORS_2},   /* FMAX, FSCALE */
    {0xffb0ff63, 0xc1a0a900, ANY, SVE_FP | VECTORS_4},   /* FMAX, FSCALE */
    {0xffa1ff61, 0xc1a0b100, ANY, SVE_FP | VECTORS_2},   /* FMAX, FSCALE */
    {0xffa1ffa0, 0xc1a0b100, ANY, SVE_FP | VECTORS_2},   /* FAMAX, FAMIN, FMAX, FMIN */
    {0xffa3ff63, 0xc1a0b900, ANY, SVE_FP | VECTORS_4},   /* FMAX, FSCALE */
    {0xffa3ffa2, 0xc1a0b900, ANY, SVE_FP | VECTORS_4},   /* FAMAX, FAMIN, FMAX, FMIN */
    {0xffa0f820, 0xc1a0d800, ANY, SVE | A64_MULTIPLE},   /* SQRSHR, SQRSHRU and N */
    {0xffa0f840, 0xc1a0d800, ANY, SVE | A64_MULTIPLE},   /* SQRSHR, SQRSHRN, UQRSHR, UQRSHRN */
    {0xfffffc00, 0xc1a0e000, ANY, SVE_FP | VECTORS_2},   /* FCVT, FCVTL */
    {0xffbffc00, 0xc1a5e000, ANY, SVE | VECTORS_2},      /* SUNPK, UUNPK */
    {0xfffdfc21, 0xc1a8e000, ANY, SVE_FP | VECTORS_2},   /* FRINTN, FRINTM */
    {0xfffffc21, 0xc1a9e000, ANY, SVE_FP | VECTORS_2},   /* FRINTP */
    {0xfffffc21, 0xc1ace000, ANY, SVE_FP | VECTORS_2},   /* FRINTA */
    {0xffbffc22, 0xc1b5e000, ANY, SVE | VECTORS_4},      /* SUNPK, UUNPK */
    {0xfffdfc63, 0xc1b8e000, ANY, SVE_FP | VECTORS_4},   /* FRINTM */
    {0xfffffc63, 0xc1b9e000, ANY, SVE_FP | VECTORS_4},   /* FRINTP */
    {0xfffffc63, 0xc1bce000, ANY, SVE_FP | VECTORS_4},   /* FRINTA */
    {0xffe0f420, 0xc1e0d400, ANY, SVE | A64_MULTIPLE},   /* SQRSHR, SQRSHRU and N */
    {0xfff0fc00, 0xc1e0d400, ANY, SVE | A64_MULTIPLE},   /* SQRSHR, UQRSHR */
};

/* clang-format on */

static uint32_t vector_bytes(const struct spe_a64 *insn)
{
    return insn->operation.vl_bits / 8;
}

/* ---- Loads and stores ----------------------------------------------------------------------- */

/* LD1, ST1, LDNT1, STNT1 of two or four vectors, consecutive or (bit 24) strided; PNg */
static bool several_vectors(struct spe_a64 *insn)
{
    uint32_t word = insn->word;
    bool load = !bit(word, 21), imm = bit(word, 22), four = bit(word, 15);
    unsigned vectors = four ? 4 : 2, msz = bits(word, 14, 13);
    unsigned unused = !four ? 0 : bit(word, 24) ? 4 : 2; /* the register list starts at multiples */

    a64_access(insn, load ? SPE_OPERATION_LOAD : SPE_OPERATION_STORE, SPE_REGISTERS_SVE,
               vector_bytes(insn) * vectors);
    insn->operation.predicated = true;
    insn->operation.predicate_operand = true;
    insn->operation.predicate_as_counter = true;
    insn->operation.zeroing = load;
    insn->operation.vectors = vectors;
    insn->element_bytes = (uint8_t)(1u << msz);
    insn->lane_bytes = insn->element_bytes;
    insn->predicate = (uint8_t)(8 + bits(word, 12, 10));
    if (imm) {
        insn->address = SPE_A64_BASE_VL;
        insn->scale = 16;
        insn->offset = signed_bits(word, 19, 16) * vectors;
    } else {
        insn->address = SPE_A64_BASE_REGISTER;
        insn->index = (uint8_t)bits(word, 20, 16);
        insn->extend = 3;
        insn->shift = (uint8_t)msz;
    }
    return !(word & unused) && !(imm && bit(word, 20));
}

/* LD1, ST1 of a tile slice; quadwords are those of 0xe1 */
static bool tile_slice(struct spe_a64 *insn)
{
    bool load = !bit(insn->word, 21);
    unsigned msz = bit(insn->word, 24) ? 4 : bits(insn->word, 23, 22);

    a64_access(insn, load ? SPE_OPERATION_LOAD : SPE_OPERATION_STORE, SPE_REGISTERS_SME,
               vector_bytes(insn));
    insn->operation.predicated = true;
    insn->operation.predicate_operand = true;
    insn->operation.zeroing = load;
    insn->element_bytes = (uint8_t)(1u << msz);
    insn->lane_bytes = insn->element_bytes;
    insn->predicate = (uint8_t)bits(insn->word, 12, 10);
    insn->address = SPE_A64_BASE_REGISTER;
    insn->index = (uint8_t)bits(insn->word, 20, 16);
    insn->extend = 3;
    insn->shift = (uint8_t)msz;
    return true;
}

/* LDR, STR of a ZA array vector */
static bool array_vector(struct spe_a64 *insn)
{
    a64_access(insn, bit(insn->word, 21) ? SPE_OPERATION_STORE : SPE_OPERATION_LOAD,
               SPE_REGISTERS_SME, vector_bytes(insn));
    insn->address = SPE_A64_BASE_VL;
    insn->scale = 16;
    insn->offset = bits(insn->word, 3, 0);
    return true;
}

/* LDR, STR of ZT0: 512 bits */
static bool table_register(struct spe_a64 *insn)
{
    a64_access(insn, bit(insn->word, 21) ? SPE_OPERATION_STORE : SPE_OPERATION_LOAD,
               SPE_REGISTERS_SME, 64);
    insn->operation.uses_zt = true;
    return true;
}

/* ---- Data processing ------------------------------------------------------------------------ */

static bool outer_product(struct spe_a64 *insn)
{
    return a64_data_processing(insn, outer, COUNT_OF(outer));
}

/* ZERO (tiles): a mask of the eight doubleword tiles */
static bool zero_tiles(struct spe_a64 *insn)
{
    insn->operation.kind = SPE_OPERATION_SME_TILE;
    insn->operation.whole_za = true;
    insn->operation.masked_zero = bits(insn->word, 7, 0) != 0xff;
    insn->operation.tile_bits = insn->operation.vl_bits / 64 * insn->operation.vl_bits *
                                (uint32_t)__builtin_popcount(bits(insn->word, 7, 0));
    return true;
}

static bool array(struct spe_a64 *insn)
{
    return a64_data_processing(insn, za, COUNT_OF(za));
}

static bool by_element(struct spe_a64 *insn)
{
    return a64_data_processing(insn, indexed, COUNT_OF(indexed));
}

static bool into_array(struct spe_a64 *insn)
{
    return a64_data_processing(insn, multiple, COUNT_OF(multiple));
}

static bool sve_vectors(struct spe_a64 *insn)
{
    return a64_data_processing(insn, sve_multiple, COUNT_OF(sve_multiple));
}

static const struct a64_group groups[] = {
    {0xde800000, 0x80800000, outer_product},  {0xfe800000, 0xa0000000, several_vectors},
    {0xffffff00, 0xc0080000, zero_tiles},     {0xff000000, 0xc0000000, array},
    {0xff200000, 0xc1000000, by_element},     {0xff208000, 0xc1200000, into_array},
    {0xff208000, 0xc1208000, sve_vectors},    {0xff000010, 0xe0000000, tile_slice},
    {0xffc00010, 0xe1c00000, tile_slice},     {0xffdf9c10, 0xe1000000, array_vector},
    {0xffdffc1f, 0xe11f8000, table_register},
};

bool a64_sme(struct spe_a64 *insn)
{
    return a64_decode(insn, groups, COUNT_OF(groups));
}
