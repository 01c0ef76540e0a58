/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which registers an SVE instruction reads and writes. Predicate registers are not followed. A
 * destination is read by what is merging, destructive or accumulating.
 */
#include "pe/a64_uses.h"

#define XD USES_XD
#define XN USES_XN
#define XM USES_XM
#define VD USES_VD
#define VN USES_VN
#define VN_2 USES_VN_2
#define VN_EVEN_2 USES_VN_EVEN_2
#define VM USES_VM
#define VM_BITS_3 USES_VM_BITS_3
#define VM_ELEMENT USES_VM_ELEMENT
#define NZCV USES_NZCV
#define TO_XD USES_TO_XD
#define TO_VD USES_TO_VD
#define TO_NZCV USES_TO_NZCV

/* clang-format off */

/* Integer: bits 31:24 are 0x04 */
static const struct uses_row integer[] = {
    {0xff3fe000, 0x04102000, VN | TO_VD},                  /* MOVPRFX (predicated), zeroing */
    {0xff3fe000, 0x04112000, VD | VN | TO_VD},             /* ... merging */
    {0xff20e000, 0x04002000, VN | TO_VD},                  /* reductions */
    {0xff204000, 0x04004000, VD | VN | VM | TO_VD},        /* MLA, MLS, MAD, MSB */
    {0xff30e000, 0x04008000, VD | TO_VD},                  /* shifts by an immediate, predicated */
    {0xff200000, 0x04000000, VD | VN | TO_VD},             /* unary and binary, predicated */
    {0xff20fc00, 0x04203400, VD | VN | TO_VD},             /* XAR */
    {0xff20f800, 0x04203800, VD | VN | VM | TO_VD},        /* EOR3, BCAX, BSL ... */
    {0xff20fc00, 0x04204000, TO_VD},                       /* INDEX */
    {0xff20fc00, 0x04204400, XN | TO_VD},
    {0xff20fc00, 0x04204800, XM | TO_VD},
    {0xff20fc00, 0x04204c00, XN | XM | TO_VD},
    {0xff20f000, 0x04205000, XM | TO_XD},                  /* ADDVL, RDVL ... */
    {0xff20f000, 0x04209000, VN | TO_VD},                  /* ASR, LSR, LSL by an immediate */
    {0xff20f800, 0x0420b800, VN | TO_VD},                  /* FEXPA, MOVPRFX */
    {0xff20f000, 0x0420c000, VD | TO_VD},                  /* INCH ... UQDECD (vector) */
    {0xff30f000, 0x0420e000, TO_XD},                       /* CNTB ... CNTD */
    {0xff20e000, 0x0420e000, XD | TO_XD},                  /* INCB ... UQDECD */
    {0xff200000, 0x04200000, VN | VM | TO_VD},
};

/* Bitwise immediate and permute: 0x05 */
static const struct uses_row permute[] = {
    {0xfffc0000, 0x05c00000, TO_VD},                       /* DUPM */
    {0xff3c0000, 0x05000000, VD | TO_VD},                  /* ORR, EOR, AND */
    {0xff304000, 0x05100000, TO_VD},                       /* CPY (immediate), zeroing */
    {0xff304000, 0x05104000, VD | TO_VD},                  /* ... merging; FCPY */
    {0xffe0e000, 0x05200000, VD | VN | TO_VD},             /* EXT */
    {0xffe0e000, 0x05600000, VN_2 | TO_VD},                /* EXT (constructive) */
    {0xffe0fc00, 0x05602400, VD | VN | TO_VD},             /* EXTQ */
    {0xff20f800, 0x05202000, VN | TO_VD},                  /* DUP (indexed), DUPQ */
    {0xff20fc00, 0x05202800, VN_2 | VM | TO_VD},           /* TBL of two */
    {0xff20fc00, 0x05202c00, VD | VN | VM | TO_VD},        /* TBX */
    {0xff20fc00, 0x05203400, VD | VN | VM | TO_VD},        /* TBXQ */
    {0xff3ffc00, 0x05203800, XN | TO_VD},                  /* DUP (scalar) */
    {0xff3ffc00, 0x05243800, XN | VD | TO_VD},             /* INSR (scalar) */
    {0xff3ffc00, 0x05343800, VN | VD | TO_VD},             /* INSR (SIMD&FP) */
    {0xff39fc00, 0x05283800, VN},                          /* PMOV to a predicate */
    {0xff39fc00, 0x05293800, VD | TO_VD},                  /* PMOV to a vector */
    {0xff20fc00, 0x05203800, VN | TO_VD},                  /* SUNPKLO ... REV */
    {0xff20e000, 0x05204000, 0},                           /* predicates */
    {0xff3fe000, 0x05218000, VN | TO_VD},                  /* COMPACT */
    {0xff3ee000, 0x05228000, VN | TO_VD},                  /* LASTA, LASTB (SIMD&FP) */
    {0xff3fe000, 0x052d8000, VN_2 | TO_VD},                /* SPLICE (constructive) */
    {0xff20e000, 0x05208000, VD | VN | TO_VD},             /* CPY, REVB, CLASTA, SPLICE ... */
    {0xff38e000, 0x0520a000, VN | TO_XD},                  /* LASTA, LASTB (scalar) */
    {0xff38e000, 0x0528a000, XN | VD | TO_VD},             /* CPY (scalar) */
    {0xff38e000, 0x0530a000, XD | VN | TO_XD},             /* CLASTA, CLASTB (scalar) */
    {0xff200000, 0x05200000, VN | VM | TO_VD},             /* ZIP1 ... TRN2, TBL, SEL */
};

/* Integer compare: 0x24 */
static const struct uses_row compare[] = {
    {0xff200000, 0x24000000, VN | VM | TO_NZCV},
    {0xff200000, 0x24200000, VN | TO_NZCV},
};

/* Compare with a signed immediate, predicates, wide immediates: 0x25 */
static const struct uses_row predicate[] = {
    {0xff204000, 0x25000000, VN | TO_NZCV},
    {0xff3fe000, 0x2519c000, TO_NZCV},                     /* PNEXT */
    {0xff3ff000, 0x2519e000, TO_NZCV},                     /* PTRUES */
    {0xff3ff000, 0x2518e000, 0},                           /* PTRUE, PFALSE */
    {0xff600000, 0x25400000, TO_NZCV},                     /* S is bit 22 */
    {0xff600000, 0x25000000, 0},
    {0xff20f000, 0x25202000, XN | XM | NZCV | TO_NZCV},    /* CTERMEQ, CTERMNE: V is from C */
    {0xff20c000, 0x25200000, XN | XM | TO_NZCV},           /* WHILEGE ... WHILERW */
    {0xff20f010, 0x25207010, 0},                           /* PEXT, PTRUE (predicate-as-counter) */
    {0xff20c010, 0x25204010, XN | XM | TO_NZCV},           /* WHILEGE ... of counters and pairs */
    {0xff20c010, 0x25204000, USES_W12_LOW},                /* PSEL */
    {0xff38c000, 0x25208000, TO_XD},                       /* CNTP */
    {0xff38f800, 0x25288000, VD | TO_VD},                  /* INCP ... (vector) */
    {0xff38f800, 0x25288800, XD | TO_XD},                  /* INCP ... (scalar) */
    {0xff38f000, 0x25289000, 0},                           /* WRFFR, SETFFR */
    {0xff38c000, 0x2538c000, TO_VD},                       /* DUP, FDUP */
    {0xff20c000, 0x2520c000, VD | TO_VD},                  /* ADD ... MUL (immediate) */
};

/* SVE2 integer multiply-add and predicated: 0x44 */
static const struct uses_row multiply[] = {
    {0xff20c000, 0x44008000, VD | VN | TO_VD},             /* predicated */
    {0xff20e000, 0x4400e000, VN | VM | TO_VD},             /* ZIPQ1 ... UZPQ2, TBLQ */
    {0xffe0f800, 0x4480c800, VD | VN | VM_BITS_3 | TO_VD}, /* SDOT, UDOT of two (indexed) */
    {0xff200000, 0x44000000, VD | VN | VM | TO_VD},
    {0xff20c000, 0x4420c000, VN | VM_ELEMENT | TO_VD},     /* products by an element */
    {0xff200000, 0x44200000, VD | VN | VM_ELEMENT | TO_VD},
};

/* SVE2 widening, narrowing, bit permutation, histogram, crypto: 0x45 */
static const struct uses_row wide[] = {
    {0xff20f000, 0x45009000, VD | VN | VM | TO_VD},        /* EORBT, EORTB, SMMLA ... */
    {0xff20f000, 0x4500a000, VN | TO_VD},                  /* SSHLLB ... USHLLT */
    {0xff20f800, 0x4500d800, VD | VN | TO_VD},             /* CADD, SQCADD */
    {0xff20f800, 0x4500f800, VD | VN | VM | TO_VD},        /* SABA, UABA */
    {0xff20e000, 0x4500c000, VD | VN | VM | TO_VD},        /* SABALB ... UABALT, ADCLB ... */
    {0xff20e000, 0x4500e000, VD | VN | TO_VD},             /* SSRA ... SLI */
    {0xff200000, 0x45000000, VN | VM | TO_VD},
    /* narrowing: what writes the odd elements (T is bit 10) keeps the even ones */
    {0xffa0c000, 0x45a00000, VN_EVEN_2 | TO_VD},           /* SQRSHRN ... of two vectors */
    {0xff21e000, 0x45214000, VN_EVEN_2 | TO_VD},           /* SQCVTN ... of two vectors */
    {0xff20e400, 0x45206400, VD | VN | VM | TO_VD},        /* ADDHNT ... RSUBHNT */
    {0xff208400, 0x45200400, VD | VN | TO_VD},             /* with T */
    {0xff20e000, 0x45206000, VN | VM | TO_VD},             /* ADDHNB ... RSUBHNB */
    {0xff208000, 0x45200000, VN | TO_VD},
    {0xff20e000, 0x45208000, VN | VM | TO_NZCV},           /* MATCH, NMATCH */
    {0xff20fc00, 0x4520b400, VN_2 | VM | TO_VD},           /* LUTI4 of two tables */
    {0xfffff000, 0x4520e000, VD | TO_VD},                  /* AESMC, AESIMC */
    {0xfffef000, 0x4522e000, VD | VN | TO_VD},             /* AESE, AESD, SM4E */
    {0xff200000, 0x45200000, VN | VM | TO_VD},
};

/* Floating-point, complex, widening, by element: 0x64 */
static const struct uses_row floating[] = {
    {0xff30e000, 0x6410a000, VN | TO_VD},                  /* FADDQV ... FMINQV */
    {0xff208000, 0x64008000, VD | VN | TO_VD},             /* predicated */
    {0xff20fc00, 0x64202000, VN | VM_ELEMENT | TO_VD},     /* FMUL (indexed) */
    {0xff20fc00, 0x64202800, VN | VM_BITS_3 | TO_VD},      /* BFMUL (indexed) */
    {0xff20fc00, 0x64202400, VD | VN | VM | TO_VD},        /* FCLAMP, BFCLAMP */
    {0xff20c000, 0x64200000, VD | VN | VM_ELEMENT | TO_VD}, /* FMLA, FCMLA ... (indexed) */
    {0xff20c000, 0x64204000, VD | VN | VM_BITS_3 | TO_VD}, /* FDOT, FMLALB ... (indexed) */
    {0xff20f000, 0x6420c000, VD | VN | VM_BITS_3 | TO_VD}, /* FMLALLBB ... (indexed) */
    {0xff000000, 0x64000000, VD | VN | VM | TO_VD},
};

/* Floating-point: 0x65 */
static const struct uses_row floating_more[] = {
    {0xff200000, 0x65200000, VD | VN | VM | TO_VD},        /* FMLA ... */
    {0xff20e000, 0x65000000, VN | VM | TO_VD},             /* FADD ... FRSQRTS */
    {0xff204000, 0x65004000, VN | VM},                     /* FCMGE ... FACGT, to a predicate */
    {0xff38e000, 0x65188000, VD | TO_VD},                  /* FADD ... FMIN (immediate) */
    {0xff208000, 0x65008000, VD | VN | TO_VD},             /* predicated, FTMAD */
    {0xff38e000, 0x65102000, VN},                          /* FCMGE ... with zero */
    {0xff38e000, 0x65182000, VD | VN | TO_VD},             /* FADDA */
    {0xfffffc00, 0x650a3c00, VD | VN_EVEN_2 | TO_VD},      /* FCVTNT to 8 bits */
    {0xfffff000, 0x650a3000, VN_EVEN_2 | TO_VD},           /* FCVTN ... to 8 bits */
    {0xff20e000, 0x65002000, VN | TO_VD},                  /* FADDV ..., FRECPE, F1CVT ... */
};

/* clang-format on */

static uint64_t find(uint32_t word)
{
    switch (word >> 24) {
    case 0x04:
        return uses_find(word, integer, COUNT_OF(integer));
    case 0x05:
        return uses_find(word, permute, COUNT_OF(permute));
    case 0x24:
        return uses_find(word, compare, COUNT_OF(compare));
    case 0x25:
        return uses_find(word, predicate, COUNT_OF(predicate));
    case 0x44:
        return uses_find(word, multiply, COUNT_OF(multiply));
    case 0x45:
        return uses_find(word, wide, COUNT_OF(wide));
    case 0x64:
        return uses_find(word, floating, COUNT_OF(floating));
    default:
        return uses_find(word, floating_more, COUNT_OF(floating_more));
    }
}

struct uses uses_sve(uint32_t word)
{
    uint64_t uses = find(word);

    if (uses & VM_ELEMENT) /* the index takes more bits if the elements are smaller */
        uses |= bits(word, 23, 22) == 3 ? USES_VM_BITS_4 : VM_BITS_3;
    return uses_registers(word, uses);
}

/* ---- Loads and stores, of SME too ------------------------------------------------------------ */

/* LD1 ... STNT1 of several vectors are in SME's group; bit 24 is set if they are apart. */
static uint64_t transferred(const struct spe_a64 *insn)
{
    const struct spe_operation *op = &insn->operation;
    unsigned first = bits(insn->word, 4, 0), count = op->vectors ? op->vectors : 1;

    if (op->registers != SPE_REGISTERS_SVE || op->predicate_only)
        return 0;
    if ((insn->word & 0xff000000) == 0xa1000000)
        return uses_vectors(count == 2 ? first & 23 : first & 19, count, 16 / count);
    if ((insn->word & 0xff000000) == 0xa0000000)
        first &= ~(count - 1);
    return uses_vectors(first, count, 1);
}

/* Tile slices and vectors of ZA are told by W12 to W15. */
static uint64_t address(const struct spe_a64 *insn)
{
    uint64_t reads = 0;

    if (insn->base != SPE_A64_NO_REGISTER)
        reads |= uses_x(insn->base);
    if (insn->address == SPE_A64_BASE_REGISTER)
        reads |= uses_x(insn->index);
    if (insn->address == SPE_A64_VECTOR_ADDRESSES)
        reads |= uses_vectors(insn->index, 1, 1);
    if (insn->operation.registers == SPE_REGISTERS_SME && !insn->operation.uses_zt)
        reads |= uses_registers(insn->word, USES_W12).reads;
    return reads;
}

struct uses uses_sve_memory(const struct spe_a64 *insn)
{
    uint64_t data = transferred(insn);

    return (struct uses){
        address(insn) | (insn->store ? data : 0),
        insn->load ? data : 0,
    };
}
