/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which registers a load or store reads and writes. */
#include "pe/a64_uses.h"

#define XD USES_XD
#define XN USES_XN
#define XM USES_XM
#define XA USES_XA
#define VD USES_VD
#define VA USES_VA
#define NZCV USES_NZCV
#define TO_XD USES_TO_XD
#define TO_XN USES_TO_XN
#define TO_XM USES_TO_XM
#define TO_XA USES_TO_XA
#define TO_VD USES_TO_VD
#define TO_VA USES_TO_VA
#define TO_NZCV USES_TO_NZCV

/* CPY moves both addresses and the size on, SET the address and the size. */
#define COPY (XD | XN | XM | TO_XD | TO_XN | TO_XM)
#define SET (XD | XN | XM | TO_XD | TO_XN)
#define PAIRS (XN | USES_XD_2 | USES_XM_2 | USES_TO_XM_2)

/* clang-format off */

static const struct uses_row rows[] = {
    /* exclusive, ordered, compare and swap */
    {0xbfa00000, 0x08200000, PAIRS},                       /* CASP */
    {0xbfe00000, 0x88200000, XD | XA | XN | TO_XM},        /* STXP, STLXP: M is the status */
    {0xbfe00000, 0x88600000, XN | TO_XD | TO_XA},          /* LDXP, LDAXP */
    {0x3fa00000, 0x08a00000, XD | XM | XN | TO_XM},        /* CAS */
    {0x3fe00000, 0x08000000, XD | XN | TO_XM},             /* STXR, STLXR */
    {0x3fe00000, 0x08800000, XD | XN},                     /* STLR, STLLR */
    {0x3f400000, 0x08400000, XN | TO_XD},                  /* LDXR, LDAXR, LDAR, LDLAR */
    /* literal */
    {0xff000000, 0xd8000000, 0},                           /* PRFM */
    {0x3f000000, 0x18000000, TO_XD},
    {0x3f000000, 0x1c000000, TO_VD},
    /* pairs */
    {0x3e400000, 0x28000000, XD | XA | XN},                /* STP, STNP, STGP */
    {0x3e400000, 0x28400000, XN | TO_XD | TO_XA},          /* LDP, LDNP, LDPSW */
    {0x3e400000, 0x2c000000, VD | VA | XN},
    {0x3e400000, 0x2c400000, XN | TO_VD | TO_VA},
    /* Memory Copy and Set: a prologue sets the flags, what follows reads them */
    {0x3be0cc00, 0x19c00400, SET | TO_NZCV},               /* SETP, SETGP */
    {0x3be00c00, 0x19c00400, SET | NZCV},                  /* SETM, SETE, SETGM, SETGE */
    {0x3be00c00, 0x19000400, COPY | TO_NZCV},              /* CPYP, CPYFP */
    {0x3b200c00, 0x19000400, COPY | NZCV},                 /* CPYM, CPYE, CPYFM, CPYFE */
    /* ordered: LDAPUR, STLUR and the forms of FEAT_LRCPC3 */
    {0x3fe00c00, 0x19000000, XD | XN},                     /* STLUR */
    {0x3f200c00, 0x19000000, XN | TO_XD},                  /* LDAPUR */
    {0x3f600c00, 0x1d000800, VD | XN},                     /* STLUR (SIMD&FP) */
    {0x3f600c00, 0x1d400800, XN | TO_VD},                  /* LDAPUR (SIMD&FP) */
    {0x3fe00c00, 0x19000800, XD | XM | XN},                /* STILP */
    {0x3fe00c00, 0x19400800, XN | TO_XD | TO_XM},          /* LDIAPP */
    {0x3fe00c00, 0x19800800, XD | XN | TO_XN},             /* STLR with writeback */
    {0x3fe00c00, 0x19c00800, XN | TO_XD | TO_XN},          /* LDAPR with writeback */
    {0x3fe00c00, 0x19000c00, XD | XN},                     /* GCSSTR, GCSSTTR */
    /* Allocation Tags */
    {0xffe00c00, 0xd9600000, XD | XN | TO_XD},             /* LDG keeps all but the tag */
    {0xffe00c00, 0xd9e00000, XN | TO_XD},                  /* LDGM */
    {0xff200000, 0xd9200000, XD | XN},                     /* STG, ST2G, STZG, STZ2G, STGM, STZGM */
    /* FEAT_LSE128; FEAT_THE tells by the flags what it did */
    {0xbf200c00, 0x19200800, XD | XM | XN | TO_XM | TO_NZCV}, /* RCWCAS */
    {0xbf200c00, 0x19200c00, PAIRS | TO_NZCV},             /* RCWCASP */
    {0xff20fc00, 0x19201000, XD | XM | XN | TO_XD | TO_XM}, /* LDCLRP */
    {0xff20fc00, 0x19203000, XD | XM | XN | TO_XD | TO_XM}, /* LDSETP */
    {0xff20fc00, 0x19208000, XD | XM | XN | TO_XD | TO_XM}, /* SWPP */
    {0xbf200c00, 0x19200000, XD | XM | XN | TO_XD | TO_XM | TO_NZCV}, /* RCWCLRP ... */
    /* atomic */
    {0x3ffffc00, 0x38bfc000, XN | TO_XD},                  /* LDAPR */
    {0xfffffc00, 0xf83f9000, XN | USES_XD_8},              /* ST64B */
    {0xffe0ec00, 0xf820a000, XN | USES_XD_8 | TO_XM},      /* ST64BV, ST64BV0 */
    {0xfffffc00, 0xf83fd000, XN | USES_TO_XD_8},           /* LD64B */
    {0xbf20fc00, 0x38209000, XM | XN | TO_XD | TO_NZCV},   /* RCWCLR */
    {0xbf20ec00, 0x3820a000, XM | XN | TO_XD | TO_NZCV},   /* RCWSWP, RCWSET */
    {0x3f200c00, 0x38200000, XM | XN | TO_XD},             /* LDADD, SWP ... */
    {0x3f200400, 0x38200400, XN | TO_XD},                  /* LDRAA, LDRAB */
    /* one register with a register offset */
    {0xffe00c00, 0xf8a00800, XN | XM},                     /* PRFM, RPRFM */
    {0x3fe00c00, 0x38200800, XD | XN | XM},
    {0x3f200c00, 0x38200800, XN | XM | TO_XD},
    {0x3f600c00, 0x3c200800, VD | XN | XM},
    {0x3f600c00, 0x3c600800, XN | XM | TO_VD},
    /* one register, else */
    {0xfec00000, 0xf8800000, XN},                          /* PRFM, PRFUM */
    {0x3ec00000, 0x38000000, XD | XN},
    {0x3e000000, 0x38000000, XN | TO_XD},
    {0x3e400000, 0x3c000000, VD | XN},
    {0x3e400000, 0x3c400000, XN | TO_VD},
};

/* The base is written, too. */
static const struct uses_row writebacks[] = {
    {0x3a800000, 0x28800000, TO_XN},                       /* pairs */
    {0x3b200400, 0x38000400, TO_XN},                       /* one register */
    {0x3b200c00, 0x38200c00, TO_XN},                       /* LDRAA, LDRAB */
    {0xff200400, 0xd9200400, TO_XN},                       /* STG ... STZ2G */
    {0xbfa01c00, 0x99000800, TO_XN},                       /* STILP, LDIAPP */
};

/* clang-format on */

/* ---- Advanced SIMD structures ---------------------------------------------------------------- */

/* LD1 to LD4: how many registers. Of several structures, opcode tells. */
static unsigned structure_registers(uint32_t word)
{
    static const uint8_t multiple[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};

    if (!bit(word, 24))
        return multiple[bits(word, 15, 12)];
    return 1 + bit(word, 21) + 2 * bit(word, 13);
}

/* A load of one lane keeps the others: a single structure that is not replicated. */
static bool keeps_lanes(uint32_t word)
{
    return bit(word, 24) && bits(word, 15, 14) != 3;
}

/* Post-indexed forms add Xm, or the size if that is 31. */
static struct uses structures(uint32_t word)
{
    uint64_t data = uses_vectors(bits(word, 4, 0), structure_registers(word), 1);
    bool load = bit(word, 22), back = bit(word, 23);
    struct uses u = uses_registers(word, XN | (back ? XM | TO_XN : 0));

    if (load)
        u.writes |= data;
    if (!load || keeps_lanes(word))
        u.reads |= data;
    return u;
}

struct uses uses_memory(uint32_t word)
{
    if ((word & 0xbe000000) == 0x0c000000)
        return structures(word);
    return uses_registers(word, uses_find(word, rows, COUNT_OF(rows)) |
                                    uses_find(word, writebacks, COUNT_OF(writebacks)));
}
