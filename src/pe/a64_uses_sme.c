/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which registers an SME instruction reads and writes, besides ZA, ZT0 and predicates: vectors, and
 * the registers that select a slice of a tile or a vector of ZA.
 */
#include "pe/a64_uses.h"

#define W8 USES_W8
#define W12 USES_W12
#define VD USES_VD
#define VD_2 USES_VD_EVEN_2
#define VD_4 USES_VD_EVEN_4
#define VN USES_VN
#define VN_2 USES_VN_EVEN_2
#define VN_4 USES_VN_EVEN_4
#define VM USES_VM
#define VM_BITS_4 USES_VM_BITS_4
#define VM_2 USES_VM_EVEN_2
#define VM_4 USES_VM_EVEN_4
#define TO_VD USES_TO_VD
#define TO_VD_2 USES_TO_VD_EVEN_2
#define TO_VD_4 USES_TO_VD_EVEN_4

/* clang-format off */

static const struct uses_row rows[] = {
    /* outer products */
    {0xde000000, 0x80000000, VN | VM},
    /* moves to and from ZA: bit 10 is four vectors, bit 11 is a vector of ZA, not of a tile */
    {0xff3e0000, 0xc0000000, VN | W12},                    /* MOVA to a tile */
    {0xff3e0200, 0xc0020200, W12 | TO_VD},                 /* MOVAZ */
    {0xff3e0000, 0xc0020000, VD | W12 | TO_VD},            /* MOVA from a tile is merging */
    {0xff3e0c00, 0xc0040000, VN_2 | W12},
    {0xff3e0c00, 0xc0040400, VN_4 | W12},
    {0xff3e0c00, 0xc0040800, VN_2 | W8},
    {0xff3e0c00, 0xc0040c00, VN_4 | W8},
    {0xff3e0c00, 0xc0060000, W12 | TO_VD_2},
    {0xff3e0c00, 0xc0060400, W12 | TO_VD_4},
    {0xff3e0c00, 0xc0060800, W8 | TO_VD_2},
    {0xff3e0c00, 0xc0060c00, W8 | TO_VD_4},
    {0xfffc0000, 0xc00c0000, W8},                          /* ZERO of vectors of ZA */
    /* ZT0 */
    {0xffff0000, 0xc04c0000, USES_TO_XD},                  /* MOVT to a general register */
    {0xffff0000, 0xc04e0000, USES_XD},                     /* MOVT from a general register */
    {0xffff0000, 0xc04f0000, VD},                          /* MOVT from a vector */
    {0xffffc000, 0xc08b0000, VN_2 | TO_VD_4},              /* LUTI4 of two vectors of indices */
    {0xffffc000, 0xc09b0000, VN_2 | USES_TO_VD_APART_4},
    {0xfff84000, 0xc0884000, VN | TO_VD_2},                /* LUTI2, LUTI4 */
    {0xfff84000, 0xc0880000, VN | TO_VD_4},
    {0xfff84000, 0xc0984000, VN | USES_TO_VD_APART_2},
    {0xfff84000, 0xc0980000, VN | USES_TO_VD_APART_4},
    {0xfff80000, 0xc0c80000, VN | TO_VD},
    {0xffb80000, 0xc0900000, VN},                          /* ADDHA, ADDVA */
    /* into ZA: by an element */
    {0xff300000, 0xc1000000, VN | VM_BITS_4 | W8},
    {0xff308000, 0xc1100000, VN_2 | VM_BITS_4 | W8},
    {0xff308000, 0xc1108000, VN_4 | VM_BITS_4 | W8},
    /* ... by one vector: two and four of the first are any that follow each other */
    {0xffa09400, 0xc1200400, VN | VM_BITS_4 | W8},
    {0xffb08000, 0xc1200000, USES_VN_2 | VM_BITS_4 | W8},
    {0xffb08000, 0xc1300000, USES_VN_4 | VM_BITS_4 | W8},
    /* ... several vectors, and several by several */
    {0xffa19c00, 0xc1a01c00, VN_2 | W8},                   /* ADD, SUB, FADD, FSUB */
    {0xffa19c00, 0xc1a11c00, VN_4 | W8},
    {0xffa18000, 0xc1a00000, VN_2 | VM_2 | W8},
    {0xffa18000, 0xc1a10000, VN_4 | VM_4 | W8},
    /* several vectors of SVE */
    {0xff21e000, 0xc1208000, VN_2 | VM_2 | TO_VD_2},       /* SEL */
    {0xff21e000, 0xc1218000, VN_4 | VM_4 | TO_VD_4},
    {0xff20f800, 0xc120a000, VD_2 | VM_BITS_4 | TO_VD_2},  /* SMAX ... by one vector */
    {0xff20f800, 0xc120a800, VD_4 | VM_BITS_4 | TO_VD_4},
    {0xff20f800, 0xc120b000, VD_2 | VM_2 | TO_VD_2},       /* SMAX ... by several */
    {0xff20f800, 0xc120b800, VD_4 | VM_4 | TO_VD_4},
    {0xff20f800, 0xc120c000, VD_2 | VN | VM | TO_VD_2},    /* SCLAMP, UCLAMP, FCLAMP */
    {0xff20f800, 0xc120c800, VD_4 | VN | VM | TO_VD_4},
    {0xffe0fc00, 0xc1e0d400, VN_2 | TO_VD},                /* SQRSHR ... of two */
    {0xff20f800, 0xc120d800, VN_4 | TO_VD},                /* SQRSHR ... of four */
    {0xff20f000, 0xc120d000, VN | VM | TO_VD_2},           /* ZIP, UZP of two */
    {0xffffe000, 0xc1a0e000, VN | TO_VD_2},                /* FCVT, FCVTL */
    {0xff3be000, 0xc120e000, VN_2 | TO_VD},                /* FCVT, FCVTN, BFCVT, BFCVTN */
    {0xff3fe000, 0xc123e000, VN_2 | TO_VD},                /* SQCVT ... of two */
    {0xff3fe000, 0xc133e000, VN_4 | TO_VD},                /* SQCVT ... of four */
    {0xff3fe000, 0xc134e000, VN_4 | TO_VD},                /* FCVT, FCVTN to 8 bits */
    {0xff3fe000, 0xc125e000, VN | TO_VD_2},                /* SUNPK, UUNPK */
    {0xff3fe000, 0xc135e000, VN_2 | TO_VD_4},
    {0xff3fe000, 0xc126e000, VN | TO_VD_2},                /* F1CVT ... of 8 bits */
    {0xff30e000, 0xc120e000, VN_2 | TO_VD_2},              /* FCVTZS, SCVTF, FRINTN ... */
    {0xff30e000, 0xc130e000, VN_4 | TO_VD_4},              /* ... and ZIP, UZP of four */
};

/* clang-format on */

struct uses uses_sme(uint32_t word)
{
    return uses_registers(word, uses_find(word, rows, COUNT_OF(rows)));
}
