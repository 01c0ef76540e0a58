/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The A64 classifier: words assembled by llvm-mc 19, conditions, every address mode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "specimen/pe.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* What a word must be: kind, registers and the flags that are on. */
enum {
    LOADS = 1u << 0,
    STORES = 1u << 1,
    RETURNS = 1u << 2,
    ORDERED = 1u << 3,
    EXCLUSIVE = 1u << 4,
    CONDITIONAL = 1u << 5,
    INDIRECT = 1u << 6,
    LINK = 1u << 7,
    RETURN = 1u << 8,
    FLOAT = 1u << 9,
    ASIMD = 1u << 10,
    PREDICATED = 1u << 11,
    ONLY_P = 1u << 12,
    GATHER = 1u << 13,
    ENDS = 1u << 14,
    WRITES = 1u << 15, /* unconditionally */
    WITH_P = 1u << 16,
    EQUIVALENT = 1u << 17,
};

struct expectation {
    uint32_t word;
    const char *text;
    uint8_t kind, registers;
    uint32_t flags;
    uint32_t bytes;
};

#define OTHER SPE_OPERATION_OTHER
#define LOAD SPE_OPERATION_LOAD
#define STORE SPE_OPERATION_STORE
#define ATOMIC SPE_OPERATION_ATOMIC
#define BRANCH SPE_OPERATION_BRANCH
#define GEN SPE_REGISTERS_GENERAL

/* clang-format off */
static const struct expectation words[] = {
    {0xf9400420, "ldr x0, [x1, #8]", LOAD, GEN, LOADS, 8},
    {0x38e3cbe2, "ldrsb w2, [sp, w3, sxtw]", LOAD, GEN, LOADS, 1},
    {0xb80044a4, "str w4, [x5], #4", STORE, GEN, STORES | WRITES, 4},
    {0xa9c107e0, "ldp x0, x1, [sp, #16]!", LOAD, GEN, LOADS, 16},
    {0x69400c82, "ldpsw x2, x3, [x4]", LOAD, GEN, LOADS, 8},
    {0x28010440, "stnp w0, w1, [x2, #8]", STORE, GEN, STORES | WRITES, 8},
    {0x58000007, "ldr x7, .", LOAD, GEN, LOADS, 8},
    {0x78400820, "ldtrh w0, [x1]", LOAD, GEN, LOADS, 2},
    {0xf87ff420, "ldraa x0, [x1, #-8]", LOAD, GEN, LOADS, 8},
    {0x885f7c20, "ldxr w0, [x1]", LOAD, GEN, LOADS | EXCLUSIVE, 4},
    {0xc802fc20, "stlxr w2, x0, [x1]", STORE, GEN, STORES | EXCLUSIVE | ORDERED, 8},
    {0xc87f8440, "ldaxp x0, x1, [x2]", LOAD, GEN, LOADS | EXCLUSIVE | ORDERED, 16},
    {0x88dffc20, "ldar w0, [x1]", LOAD, GEN, LOADS | ORDERED, 4},
    {0x089f7c20, "stllrb w0, [x1]", STORE, GEN, STORES | ORDERED | WRITES, 1},
    {0x78bfc020, "ldaprh w0, [x1]", LOAD, GEN, LOADS | ORDERED, 2},
    {0x999fc020, "ldapursw x0, [x1, #-4]", LOAD, GEN, LOADS | ORDERED, 4},
    {0xd9001020, "stlur x0, [x1, #1]", STORE, GEN, STORES | ORDERED | WRITES, 8},
    {0xd9411840, "ldiapp x0, x1, [x2]", LOAD, GEN, LOADS | ORDERED, 16},
    {0x99010840, "stilp w0, w1, [x2, #-8]!", STORE, GEN, STORES | ORDERED | WRITES, 8},
    {0x4d018420, "stl1 { v0.d }[1], [x1]", STORE, SPE_REGISTERS_SIMD, STORES | ORDERED | WRITES, 8},
    {0xb8200041, "ldadd w0, w1, [x2]", ATOMIC, GEN, LOADS | STORES | RETURNS | WRITES, 4},
    {0xf820003f, "stadd x0, [x1]", ATOMIC, GEN, LOADS | STORES | WRITES, 8},
    {0x7860003f, "staddlh w0, [x1]", ATOMIC, GEN, LOADS | STORES | ORDERED | WRITES, 2},
    {0xf8a0003f, "ldadda x0, xzr, [x1]", ATOMIC, GEN, LOADS | STORES | RETURNS | WRITES, 8},
    {0x38e08041, "swpalb w0, w1, [x2]",
     ATOMIC, GEN, LOADS | STORES | RETURNS | ORDERED | WRITES, 1},
    {0xc8a07c41, "cas x0, x1, [x2]", ATOMIC, GEN, LOADS | STORES | RETURNS, 8},
    {0x0820fc82, "caspl w0, w1, w2, w3, [x4]", ATOMIC, GEN, LOADS | STORES | RETURNS | ORDERED, 8},
    {0x19218040, "swpp x0, x1, [x2]", ATOMIC, GEN, LOADS | STORES | RETURNS | WRITES, 16},
    {0x19e11040, "ldclrpal x0, x1, [x2]",
     ATOMIC, GEN, LOADS | STORES | RETURNS | ORDERED | WRITES, 16},
    {0x19200841, "rcwcas x0, x1, [x2]", ATOMIC, GEN, LOADS | STORES | RETURNS, 8},
    {0xf83fd020, "ld64b x0, [x1]", LOAD, GEN, LOADS, 64},
    {0xf83f9020, "st64b x0, [x1]", STORE, GEN, STORES | WRITES, 64},
    {0xf823b020, "st64bv x3, x0, [x1]", STORE, GEN, STORES, 64},
    {0xd9601020, "ldg x0, [x1, #16]", LOAD, SPE_REGISTERS_TAG, LOADS, 16},
    {0xd9201420, "stg x0, [x1], #16", STORE, SPE_REGISTERS_TAG, STORES | WRITES, 16},
    {0xd9e0283f, "stz2g sp, [x1, #32]", STORE, SPE_REGISTERS_TAG_DATA, STORES | WRITES, 32},
    {0x693f8440, "stgp x0, x1, [x2, #-16]", STORE, SPE_REGISTERS_TAG_DATA, STORES | WRITES, 16},
    {0xd9e00020, "ldgm x0, [x1]", LOAD, SPE_REGISTERS_TAG, LOADS, 0},
    {0xd9200020, "stzgm x0, [x1]", STORE, SPE_REGISTERS_TAG_DATA, STORES | WRITES, 0},
    {0x19010440, "cpyfp [x0]!, [x1]!, x2!", SPE_OPERATION_MEMCPY, GEN, LOADS | STORES, 0},
    {0x1d819440, "cpyewtrn [x0]!, [x1]!, x2!", SPE_OPERATION_MEMCPY, GEN, LOADS | STORES, 0},
    {0x19c24420, "setm [x0]!, x1!, x2", SPE_OPERATION_MEMSET, GEN, STORES | WRITES, 0},
    {0x1dc2a420, "setgen [x0]!, x1!, x2", SPE_OPERATION_MEMSET, GEN, STORES | WRITES, 0},
    {0xd50b7700, "gcspushm x0", SPE_OPERATION_GCS, GEN, STORES | WRITES, 8},
    {0xd52b7720, "gcspopm x0", SPE_OPERATION_GCS, GEN, LOADS, 8},
    {0xd50b7740, "gcsss1 x0", SPE_OPERATION_GCS, GEN, LOADS | STORES | RETURNS, 8},
    {0xd52b7760, "gcsss2 x0", SPE_OPERATION_GCS, GEN, LOADS | STORES, 8},
    {0xd91f0c20, "gcsstr x0, [x1]", SPE_OPERATION_GCS, GEN, STORES | WRITES, 8},
    {0xd50877bf, "gcspopcx", SPE_OPERATION_GCS, GEN, LOADS, 32},
    {0x3d400020, "ldr b0, [x1]", LOAD, SPE_REGISTERS_FP, LOADS, 1},
    {0xfc627820, "ldr d0, [x1, x2, lsl #3]", LOAD, SPE_REGISTERS_FP, LOADS, 8},
    {0x3d800420, "str q0, [x1, #16]", STORE, SPE_REGISTERS_SIMD, STORES | WRITES, 16},
    {0xad400440, "ldp q0, q1, [x2]", LOAD, SPE_REGISTERS_SIMD, LOADS, 32},
    {0x2d400440, "ldp s0, s1, [x2]", LOAD, SPE_REGISTERS_FP, LOADS, 8},
    {0x0c407020, "ld1 { v0.8b }, [x1]", LOAD, SPE_REGISTERS_SIMD, LOADS, 8},
    {0x4cdf0820, "ld4 { v0.4s-v3.4s }, [x1], #64", LOAD, SPE_REGISTERS_SIMD, LOADS, 64},
    {0x0d205820, "st2 { v0.h, v1.h }[3], [x1]", STORE, SPE_REGISTERS_SIMD, STORES | WRITES, 4},
    {0x4d40ec20, "ld3r { v0.2d-v2.2d }, [x1]", LOAD, SPE_REGISTERS_SIMD, LOADS, 24},
    {0xf9800400, "prfm pldl1keep, [x0, #8]", SPE_OPERATION_PREFETCH, GEN, 0, 1},
    {0xf89f8010, "prfum pstl1keep, [x0, #-8]", SPE_OPERATION_PREFETCH, GEN, 0, 1},
    {0xf8a04838, "rprfm pldkeep, x0, [x1]", SPE_OPERATION_PREFETCH, GEN, 0, 1},
    {0xd50b7e20, "dc civac, x0", SPE_OPERATION_CMO, GEN, 0, 1},
    {0xd50b7520, "ic ivau, x0", SPE_OPERATION_CMO, GEN, 0, 1},
    {0xd508751f, "ic iallu", OTHER, GEN, 0, 0},
    {0xd5087e40, "dc cisw, x0", OTHER, GEN, 0, 0},
    {0xd50b7420, "dc zva, x0", SPE_OPERATION_DC_ZVA, SPE_REGISTERS_UNSPECIFIED, STORES | WRITES, 0},
    {0xd50b7480, "dc gzva, x0",
     SPE_OPERATION_DC_ZVA, SPE_REGISTERS_UNSPECIFIED, STORES | WRITES, 0},
    {0xd5087840, "at s1e0r, x0", SPE_OPERATION_AT, GEN, 0, 1},
    {0xd5088720, "tlbi vae1, x0", OTHER, GEN, 0, 0},
    {0x14000000, "b .", BRANCH, GEN, ENDS, 0},
    {0x94000000, "bl .", BRANCH, GEN, ENDS | LINK, 0},
    {0x54000001, "b.ne .", BRANCH, GEN, ENDS | CONDITIONAL, 0},
    {0x54000010, "bc.eq .", BRANCH, GEN, ENDS | CONDITIONAL, 0},
    {0xb5000000, "cbnz x0, .", BRANCH, GEN, ENDS | CONDITIONAL, 0},
    {0xb6f80000, "tbz x0, #63, .", BRANCH, GEN, ENDS | CONDITIONAL, 0},
    {0xd61f0020, "br x1", BRANCH, GEN, ENDS | INDIRECT, 0},
    {0xd73f0822, "blraa x1, x2", BRANCH, GEN, ENDS | INDIRECT | LINK, 0},
    {0xd65f03c0, "ret", BRANCH, GEN, ENDS | INDIRECT | RETURN, 0},
    {0xd65f0fff, "retab", BRANCH, GEN, ENDS | INDIRECT | RETURN, 0},
    {0xd69f03e0, "eret", SPE_OPERATION_ERET, GEN, ENDS | INDIRECT, 0},
    {0xd69f0bff, "eretaa", SPE_OPERATION_ERET, GEN, ENDS | INDIRECT, 0},
    {0xd4000001, "svc #0", OTHER, GEN, ENDS, 0},
    {0xd4200020, "brk #1", OTHER, GEN, ENDS, 0},
    {0x00000000, "udf #0", OTHER, GEN, ENDS, 0},
    {0xd5033fdf, "isb", SPE_OPERATION_ISB, GEN, 0, 0},
    {0xd5033f9f, "dsb sy", OTHER, GEN, 0, 0},
    {0xd503201f, "nop", OTHER, GEN, 0, 0},
    {0xd503205f, "wfe", SPE_OPERATION_WFX, GEN, 0, 0},
    {0xd5031020, "wfit x0", SPE_OPERATION_WFX, GEN, 0, 0},
    {0xd53b4200, "mrs x0, nzcv", OTHER, GEN, 0, 0},
    {0x8b020020, "add x0, x1, x2", OTHER, GEN, 0, 0},
    {0x9a820020, "csel x0, x1, x2, eq", OTHER, GEN, 0, 0},
    {0x1e622820, "fadd d0, d1, d2", OTHER, GEN, FLOAT, 0},
    {0x9e670000, "fmov d0, x0", OTHER, GEN, FLOAT, 0},
    {0x1e220000, "scvtf s0, w0", OTHER, GEN, FLOAT, 0},
    {0x1e621c20, "fcsel d0, d1, d2, ne", OTHER, GEN, FLOAT, 0},
    {0x4e22d420, "fadd v0.4s, v1.4s, v2.4s", OTHER, GEN, FLOAT | ASIMD, 0},
    {0x4e228420, "add v0.16b, v1.16b, v2.16b", OTHER, GEN, ASIMD, 0},
    {0x5ee28420, "add d0, d1, d2", OTHER, GEN, ASIMD, 0},
    {0x4e284820, "aese v0.16b, v1.16b", OTHER, GEN, ASIMD, 0},
    {0x04801c20, "add z0.s, p7/m, z0.s, z1.s", SPE_OPERATION_SVE, GEN, PREDICATED | WITH_P, 0},
    {0x04a20020, "add z0.s, z1.s, z2.s", SPE_OPERATION_SVE, GEN, EQUIVALENT, 0},
    {0x64a48062, "fmlalb z2.s, z3.h, z4.h", SPE_OPERATION_SVE, GEN, FLOAT, 0},
    {0x05a0b900, "lasta w0, p6, z8.s", SPE_OPERATION_SVE, GEN, WITH_P, 0},
    {0x65802420, "faddv s0, p1, z1.s", SPE_OPERATION_SVE, GEN, FLOAT | WITH_P, 0},
    {0x0522c020, "sel z0.b, p0, z1.b, z2.b", SPE_OPERATION_SVE, GEN, WITH_P, 0},
    {0x2403a440, "cmpeq p0.b, p1/z, z2.b, z3.b", SPE_OPERATION_SVE, GEN, WITH_P, 0},
    {0x2598e3e0, "ptrue p0.s", SPE_OPERATION_SVE, GEN, ONLY_P | WITH_P, 0},
    {0x25208440, "cntp x0, p1, p2.b", SPE_OPERATION_SVE, GEN, ONLY_P | WITH_P, 0},
    {0x25a21c20, "whilelo p0.s, x1, x2", SPE_OPERATION_SVE, GEN, ONLY_P | WITH_P, 0},
    {0x04e0e3e0, "cntd x0", OTHER, GEN, 0, 0},
    {0x04bf5020, "rdvl x0, #1", OTHER, GEN, 0, 0},
    {0xa4434440, "ld1b { z0.s }, p1/z, [x2, x3]",
     LOAD, SPE_REGISTERS_SVE, LOADS | PREDICATED | WITH_P, 4},
    {0xa540e440, "ld3w { z0.s-z2.s }, p1/z, [x2]",
     LOAD, SPE_REGISTERS_SVE, LOADS | PREDICATED | WITH_P, 48},
    {0xa4e36440, "ldff1h { z0.d }, p1/z, [x2, x3, lsl #1]",
     LOAD, SPE_REGISTERS_SVE, LOADS | PREDICATED | WITH_P, 4},
    {0xa5f0a440, "ldnf1d { z0.d }, p1/z, [x2]",
     LOAD, SPE_REGISTERS_SVE, LOADS | PREDICATED | WITH_P, 16},
    {0x8541c440, "ld1rw { z0.s }, p1/z, [x2, #4]",
     LOAD, SPE_REGISTERS_SVE, LOADS | PREDICATED | WITH_P, 4},
    {0xa5802440, "ld1rqd { z0.d }, p1/z, [x2]",
     LOAD, SPE_REGISTERS_SVE, LOADS | PREDICATED | WITH_P, 16},
    {0x85634440, "ld1w { z0.s }, p1/z, [x2, z3.s, sxtw #2]",
     LOAD, SPE_REGISTERS_SVE, LOADS | PREDICATED | WITH_P | GATHER, 0},
    {0xe5c1a440, "st1d { z0.d }, p1, [z2.d, #8]",
     STORE, SPE_REGISTERS_SVE, STORES | WRITES | PREDICATED | WITH_P | GATHER, 0},
    {0xe4b1e440, "st2h { z0.h, z1.h }, p1, [x2, #2, mul vl]",
     STORE, SPE_REGISTERS_SVE, STORES | WRITES | PREDICATED | WITH_P, 32},
    {0x85bf5420, "ldr z0, [x1, #-3, mul vl]", LOAD, SPE_REGISTERS_SVE, LOADS | EQUIVALENT, 16},
    {0xe5800020, "str p0, [x1]", STORE, SPE_REGISTERS_SVE, STORES | WRITES | ONLY_P | WITH_P, 2},
    {0x85c06020, "prfd pldl1keep, p0, [x1]",
     SPE_OPERATION_SVE_PREFETCH, SPE_REGISTERS_SVE, WITH_P, 16},
    {0xa040c020, "ld1w { z0.s-z3.s }, pn8/z, [x1]",
     LOAD, SPE_REGISTERS_SVE, LOADS | PREDICATED | WITH_P, 64},
    {0xe082b024, "ld1w { za1v.s[w13, 0] }, p4/z, [x1, x2, lsl #2]",
     LOAD, SPE_REGISTERS_SME, LOADS | PREDICATED | WITH_P, 16},
    {0xe1200023, "str za[w12, 3], [x1, #3, mul vl]", STORE, SPE_REGISTERS_SME, STORES | WRITES, 16},
    {0xe11f8020, "ldr zt0, [x1]", LOAD, SPE_REGISTERS_SME, LOADS, 64},
    {0xa0832040, "smopa za0.s, p0/m, p1/m, z2.b, z3.b",
     SPE_OPERATION_SME_TILE, GEN, PREDICATED | WITH_P, 0},
    {0x80c32041, "fmopa za1.d, p0/m, p1/m, z2.d, z3.d",
     SPE_OPERATION_SME_TILE, GEN, PREDICATED | WITH_P | FLOAT, 0},
    {0xc00800aa, "zero { za1.h }", SPE_OPERATION_SME_TILE, GEN, 0, 0},
    {0xc0820c2b, "mova z11.s, p3/m, za0h.s[w12, 1]",
     SPE_OPERATION_SME_VECTOR, GEN, PREDICATED | WITH_P, 0},
    {0xc1a21813, "add za.s[w8, 3, vgx2], { z0.s-z1.s }, { z2.s-z3.s }",
     SPE_OPERATION_SME_VECTOR, GEN, 0, 0},
    {0xc1a92882, "fmlal za.s[w9, 4:5, vgx4], { z4.h-z7.h }, { z8.h-z11.h }",
     SPE_OPERATION_SME_VECTOR, GEN, FLOAT, 0},
    {0xc08b5148, "luti4 { z8.h-z9.h }, zt0, z10[2]", SPE_OPERATION_SVE, GEN, 0, 0},
    {0xc164b100, "fmax { z0.h-z1.h }, { z0.h-z1.h }, { z4.h-z5.h }",
     SPE_OPERATION_SVE, GEN, FLOAT, 0},
};
/* clang-format on */

static uint32_t flags_of(const struct spe_a64 *i)
{
    const struct spe_operation *op = &i->operation;
    const bool flags[] = {i->load,
                          i->store,
                          op->returns_value,
                          op->acquire_release,
                          op->exclusive,
                          op->conditional,
                          op->indirect,
                          op->link,
                          op->procedure_return,
                          op->floating_point,
                          op->advanced_simd,
                          op->predicated,
                          op->predicate_only,
                          op->gather_scatter,
                          i->ends_block,
                          i->writes_memory_unconditionally,
                          op->predicate_operand,
                          op->advsimd_equivalent};
    uint32_t set = 0;

    for (size_t n = 0; n < COUNT_OF(flags); n++)
        set |= (uint32_t)flags[n] << n;
    return set;
}

static void classifies(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT_OF(words); n++) {
        const struct expectation *e = &words[n];
        struct spe_a64 insn;

        spe_a64_classify(e->word, 128, &insn);
        if (!insn.allocated || insn.operation.kind != e->kind ||
            insn.operation.registers != e->registers || flags_of(&insn) != e->flags ||
            insn.bytes != e->bytes)
            fail_msg("%08x %s: kind %u registers %u flags %#x bytes %u", e->word, e->text,
                     insn.operation.kind, insn.operation.registers, flags_of(&insn), insn.bytes);
        assert_int_equal(insn.operation.size, sizeof(struct spe_operation));
    }
}

/* ---- Evaluation ----------------------------------------------------------------------------- */

/* A PE of which all is known. */
struct pe {
    uint64_t x[32];
    unsigned nzcv;
    uint8_t z[32][256];
    uint8_t p[16][32];
};

static uint64_t read_x(void *user, unsigned n)
{
    return ((struct pe *)user)->x[n];
}

static unsigned read_nzcv(void *user)
{
    return ((struct pe *)user)->nzcv;
}

static bool read_z(void *user, unsigned n, uint8_t *out, size_t size)
{
    memcpy(out, ((struct pe *)user)->z[n], size);
    return true;
}

static bool read_p(void *user, unsigned n, uint8_t *out, size_t size)
{
    memcpy(out, ((struct pe *)user)->p[n], size);
    return true;
}

static struct spe_a64_registers registers_of(struct pe *pe)
{
    return (struct spe_a64_registers){.size = sizeof(struct spe_a64_registers),
                                      .user = pe,
                                      .x = read_x,
                                      .nzcv = read_nzcv,
                                      .z = read_z,
                                      .p = read_p};
}

static const struct spe_a64_registers nothing = {.size = sizeof(nothing)};

struct result {
    unsigned known;
    struct spe_operation op;
    struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX];
};

static struct result evaluate(uint32_t word, uint32_t vl_bits, uint64_t pc, struct pe *pe)
{
    struct result r = {0};
    struct spe_a64 insn;
    struct spe_a64_registers registers = registers_of(pe);

    spe_a64_classify(word, vl_bits, &insn);
    assert_true(insn.allocated);
    r.known = spe_a64_evaluate(&insn, pc, &registers, &r.op, r.accesses);
    assert_int_equal(r.op.pc, pc);
    r.op.accesses = NULL; /* they are where the caller's copy is not */
    return r;
}

/* C1.2.4, Table C1-1, in its own words */
static bool holds(unsigned condition, unsigned nzcv)
{
    bool n = nzcv >> 3 & 1, z = nzcv >> 2 & 1, c = nzcv >> 1 & 1, v = nzcv & 1;

    switch (condition) {
    case 0: /* EQ */
        return z;
    case 1: /* NE */
        return !z;
    case 2: /* CS */
        return c;
    case 3: /* CC */
        return !c;
    case 4: /* MI */
        return n;
    case 5: /* PL */
        return !n;
    case 6: /* VS */
        return v;
    case 7: /* VC */
        return !v;
    case 8: /* HI */
        return c && !z;
    case 9: /* LS */
        return !(c && !z);
    case 10: /* GE */
        return n == v;
    case 11: /* LT */
        return n != v;
    case 12: /* GT */
        return !z && n == v;
    case 13: /* LE */
        return !(!z && n == v);
    default: /* AL, NV */
        return true;
    }
}

static void conditions(void **state)
{
    struct pe pe = {0};

    (void)state;
    for (unsigned condition = 0; condition < 16; condition++)
        for (pe.nzcv = 0; pe.nzcv < 16; pe.nzcv++) {
            bool passes = holds(condition, pe.nzcv);
            struct result b = evaluate(0x54000040 | condition, 0, 0x1000, &pe);     /* B.cond .+8 */
            struct result s = evaluate(0x9a820020 | condition << 12, 0, 0x10, &pe); /* CSEL */
            struct result f = evaluate(0x1e620c20 | condition << 12, 0, 0x10, &pe); /* FCSEL */
            struct result c = evaluate(0xfa420020 | condition << 12, 0, 0x10, &pe); /* CCMP */

            assert_int_equal(b.known, SPE_A64_KNOWS_BRANCH | SPE_A64_KNOWS_CONDITION);
            assert_int_equal(b.op.taken, passes);
            assert_int_equal(b.op.condition_failed, !passes);
            assert_int_equal(b.op.target, 0x1008);
            assert_int_equal(s.known, SPE_A64_KNOWS_CONDITION);
            assert_int_equal(s.op.condition_failed, !passes);
            assert_int_equal(f.op.condition_failed, !passes);
            assert_int_equal(c.op.condition_failed, !passes);
        }
}

/* cond_op is 1 + the number of the SPE_COND_ bit */
static void conditional_operations(void **state)
{
    static const struct {
        uint32_t word;
        unsigned bit;
    } cases[] = {
        {0x9a820020, SPE_COND_CSEL},  /* csel x0, x1, x2, eq */
        {0x9a820420, SPE_COND_CSINC}, /* csinc x0, x1, x2, eq */
        {0xda820020, SPE_COND_CSINV}, /* csinv x0, x1, x2, eq */
        {0xda820420, SPE_COND_CSNEG}, /* csneg x0, x1, x2, eq */
        {0xfa420020, SPE_COND_CCMP},  /* ccmp x1, x2, #0, eq */
        {0xba420820, SPE_COND_CCMN},  /* ccmn x1, #2, #0, eq */
        {0x1e620c20, SPE_COND_FCSEL}, /* fcsel d0, d1, d2, eq */
        {0x1e620420, SPE_COND_FCCMP}, /* fccmp d1, d2, #0, eq */
    };

    (void)state;
    for (size_t n = 0; n < COUNT_OF(cases); n++) {
        struct spe_a64 insn;

        spe_a64_classify(cases[n].word, 0, &insn);
        assert_int_equal(1u << (insn.operation.cond_op - 1), cases[n].bit);
        assert_true(insn.has_condition);
        assert_false(insn.ends_block);
    }
}

static void compare_and_branch(void **state)
{
    static const struct {
        uint32_t word;
        uint64_t x1, x2;
        bool taken;
    } cases[] = {
        {0xb4000041, 0, 0, true}, /* cbz x1, .+8 */
        {0xb4000041, UINT64_C(1) << 32, 0, false},
        {0x34000041, UINT64_C(1) << 32, 0, true},  /* cbz w1, .+8 */
        {0x35000041, 5, 0, true},                  /* cbnz w1, .+8 */
        {0x3500005f, 5, 0, false},                 /* cbnz wzr, .+8 */
        {0xb6f80041, UINT64_C(1) << 63, 0, false}, /* tbz x1, #63, .+8 */
        {0xb7f80041, UINT64_C(1) << 63, 0, true},  /* tbnz x1, #63, .+8 */
        {0x37080041, 2, 0, true},                  /* tbnz w1, #1, .+8 */
        {0x74020041, 3, (uint64_t)-1, true},       /* cbgt w1, w2, .+8 */
        {0x74420041, 3, UINT32_MAX, false},        /* cbhi w1, w2, .+8 */
        {0xf4220041, 3, 3, true},                  /* cbge x1, x2, .+8 */
        {0x74c2c041, 0x10001, 1, true},            /* cbheq w1, w2, .+8 */
        {0x74028041, 0x7f, 0x80, true},            /* cbbgt w1, w2, .+8 */
        {0x75218041, 2, 0, true},                  /* cblt w1, #3, .+8 */
    };

    (void)state;
    for (size_t n = 0; n < COUNT_OF(cases); n++) {
        struct pe pe = {.x = {[1] = cases[n].x1, [2] = cases[n].x2, [31] = 99}};
        struct result r = evaluate(cases[n].word, 0, 0x2000, &pe);

        assert_int_equal(r.known, SPE_A64_KNOWS_BRANCH | SPE_A64_KNOWS_CONDITION);
        if (r.op.taken != cases[n].taken)
            fail_msg("%08x", cases[n].word);
        assert_int_equal(r.op.condition_failed, !cases[n].taken);
        assert_int_equal(r.op.target, 0x2008);
    }
}

static void branches(void **state)
{
    struct pe pe = {.x = {[3] = 0x1234, [30] = 0x5678}};
    struct result r = evaluate(0x97ffffff, 0, 0x4000, &pe); /* bl .-4 */
    struct spe_a64 insn;

    (void)state;
    assert_int_equal(r.known, SPE_A64_KNOWS_BRANCH);
    assert_true(r.op.taken);
    assert_int_equal(r.op.target, 0x3ffc);
    r = evaluate(0xd61f0060, 0, 0, &pe); /* br x3 */
    assert_int_equal(r.op.target, 0x1234);
    assert_int_equal(r.known, SPE_A64_KNOWS_BRANCH);
    r = evaluate(0xd65f03c0, 0, 0, &pe); /* ret */
    assert_int_equal(r.op.target, 0x5678);
    r = evaluate(0xd65f0bff, 0, 0, &pe); /* retaa: X30 is signed */
    assert_int_equal(r.known, 0);
    assert_true(r.op.taken);
    r = evaluate(0xf8600c20, 0, 0, &pe); /* ldraa x0, [x1, #-4096]! : so is X1 */
    assert_int_equal(r.known, 0);
    r = evaluate(0xd69f03e0, 0, 0, &pe); /* eret: ELR is not among our registers */
    assert_int_equal(r.known, 0);
    assert_true(r.op.taken);

    spe_a64_classify(0x54000040, 0, &insn); /* b.eq .+8, with nothing known */
    assert_int_equal(spe_a64_evaluate(&insn, 0x10, &nothing, &r.op, r.accesses), 0);
    assert_int_equal(r.op.target, 0x18);
    assert_false(r.op.taken);
}

/* X1 is 0x1000, X2 is -3 as a word with rubbish above, SP is 0x8000, pc is 0x400 */
static void scalar_addresses(void **state)
{
    static const struct {
        uint32_t word;
        uint64_t va;
        uint32_t bytes;
        bool store;
    } cases[] = {
        {0xf9400420, 0x1008, 8, false},             /* ldr x0, [x1, #8] */
        {0xf84087e0, 0x8000, 8, false},             /* ldr x0, [sp], #8 */
        {0xf81f8c20, 0x0ff8, 8, true},              /* str x0, [x1, #-8]! */
        {0xf842c820, 0x102c, 8, false},             /* ldtr x0, [x1, #44] */
        {0xb862d820, 0x1000 - 12, 4, false},        /* ldr w0, [x1, w2, sxtw #2] */
        {0xb8624820, 0x100001000 - 3, 4, false},    /* ldr w0, [x1, w2, uxtw] */
        {0xf87f6820, 0x1000, 8, false},             /* ldr x0, [x1, xzr] */
        {0x3ce37820, 0x1000 + (7 << 4), 16, false}, /* ldr q0, [x1, x3, lsl #4] */
        {0x58000040, 0x408, 8, false},              /* ldr x0, .+8 */
        {0xa97f0be1, 0x7ff0, 16, false},            /* ldp x1, x2, [sp, #-16] */
        {0x69400820, 0x1000, 8, false},             /* ldpsw x0, x2, [x1] */
        {0xd9600020, 0x1000, 16, false},            /* ldg x0, [x1] */
        {0x99000821, 0x0ff8, 8, true},              /* stilp w1, w0, [x1, #-8]! */
        {0x4c402020, 0x1000, 64, false},            /* ld1 {v0.16b-v3.16b}, [x1] */
        {0xd50b7e21, 0x1000, 1, false},             /* dc civac, x1 */
        {0xd50b7e3f, 0, 1, false},                  /* dc civac, xzr */
        {0xd50b7424, 0x2040, 64, true},             /* dc zva, x4 (0x2047) */
    };
    struct pe pe = {
        .x = {[1] = 0x1000, [2] = 0xabcd0000fffffffd, [3] = 7, [4] = 0x2047, [31] = 0x8000}};

    (void)state;
    for (size_t n = 0; n < COUNT_OF(cases); n++) {
        struct result r = evaluate(cases[n].word, 0, 0x400, &pe);

        if (r.known != SPE_A64_KNOWS_ADDRESS || r.op.access_count != 1 ||
            r.accesses[0].va != cases[n].va || r.accesses[0].bytes != cases[n].bytes ||
            r.accesses[0].store != cases[n].store)
            fail_msg("%08x: known %u, %u accesses, %#llx + %u", cases[n].word, r.known,
                     r.op.access_count, (unsigned long long)r.accesses[0].va, r.accesses[0].bytes);
    }
}

static void set_predicate(struct pe *pe, unsigned n, unsigned lane, unsigned element)
{
    unsigned at = lane * element;

    pe->p[n][at / 8] = (uint8_t)(pe->p[n][at / 8] | 1u << at % 8);
}

/* At 512 bits, so that what is in units of the vector length shows. */
static void contiguous_vectors(void **state)
{
    struct pe pe = {.x = {[1] = 0x1000, [3] = 5}};
    struct result r;

    (void)state;
    memset(pe.p[1], 0xff, sizeof(pe.p[1]));
    r = evaluate(0xa4034400, 512, 0, &pe); /* ld1b {z0.b}, p1/z, [x0, x3] */
    assert_int_equal(r.known, SPE_A64_KNOWS_ADDRESS | SPE_A64_KNOWS_PREDICATE);
    assert_int_equal(r.op.access_count, 1);
    assert_int_equal(r.accesses[0].va, 5);
    assert_int_equal(r.accesses[0].bytes, 64);
    assert_false(r.op.partial_predicate);

    r = evaluate(0xa54fa420, 512, 0, &pe); /* ld1w {z0.s}, p1/z, [x1, #-1, mul vl] */
    assert_int_equal(r.accesses[0].va, 0x1000 - 64);
    r = evaluate(0xa565a420, 512, 0, &pe); /* ld1w {z0.d}, p1/z, [x1, #5, mul vl] */
    assert_int_equal(r.accesses[0].va, 0x1000 + 5 * 32);
    assert_int_equal(r.accesses[0].bytes, 32);
    r = evaluate(0xe571e420, 512, 0, &pe); /* st4w {z0.s-z3.s}, p1, [x1, #4, mul vl] */
    assert_int_equal(r.accesses[0].va, 0x1000 + 4 * 64);
    assert_int_equal(r.accesses[0].bytes, 256);
    assert_true(r.accesses[0].store);
    r = evaluate(0x85804420, 512, 0, &pe); /* ldr z0, [x1, #1, mul vl] */
    assert_int_equal(r.accesses[0].va, 0x1000 + 64);
    assert_int_equal(r.known, SPE_A64_KNOWS_ADDRESS);
    r = evaluate(0xe5bf1c20, 512, 0, &pe); /* str p0, [x1, #-1, mul vl] */
    assert_int_equal(r.accesses[0].va, 0x1000 - 8);
    assert_int_equal(r.accesses[0].bytes, 8);
    r = evaluate(0xa4012420, 512, 0, &pe); /* ld1rqb {z0.b}, p1/z, [x1, #16] */
    assert_int_equal(r.accesses[0].va, 0x1010);
    assert_int_equal(r.accesses[0].bytes, 16);
}

static void sme_addresses(void **state)
{
    struct pe pe = {.x = {[1] = 0x1000, [3] = 5}};
    struct result r;

    (void)state;
    r = evaluate(0xa041c020, 512, 0, &pe); /* ld1w {z0.s-z3.s}, pn8/z, [x1, #4, mul vl] */
    assert_int_equal(r.accesses[0].va, 0x1000 + 4 * 64);
    r = evaluate(0xa0034020, 512, 0, &pe); /* ld1w {z0.s-z1.s}, pn8/z, [x1, x3, lsl #2] */
    assert_int_equal(r.accesses[0].va, 0x1000 + 5 * 4);
    assert_int_equal(r.accesses[0].bytes, 128);
    r = evaluate(0xe0a30020, 512, 0, &pe); /* st1w {za0h.s[w12, 0]}, p0, [x1, x3, lsl #2] */
    assert_int_equal(r.accesses[0].va, 0x1000 + 5 * 4);
    assert_int_equal(r.accesses[0].bytes, 64);
    r = evaluate(0xe1000023, 512, 0, &pe); /* ldr za[w12, 3], [x1, #3, mul vl] */
    assert_int_equal(r.accesses[0].va, 0x1000 + 3 * 64);
    r = evaluate(0xe13f8020, 512, 0, &pe); /* str zt0, [x1] */
    assert_int_equal(r.accesses[0].bytes, 64);
    assert_true(r.accesses[0].store);
}

static void predicated_vectors(void **state)
{
    struct pe pe = {.x = {[1] = 0x1000}};
    struct result r;

    (void)state;
    set_predicate(&pe, 1, 4, 3); /* the fourth of sixteen words */
    set_predicate(&pe, 1, 4, 9);
    r = evaluate(0xa540a420, 512, 0, &pe); /* ld1w {z0.s}, p1/z, [x1] */
    assert_true(r.op.partial_predicate);
    assert_false(r.op.empty_predicate);
    assert_int_equal(r.op.access_count, 2);
    assert_true(r.accesses[0].inactive);
    assert_int_equal(r.accesses[0].va, 0x1000);
    assert_int_equal(r.accesses[0].bytes, 12);
    assert_false(r.accesses[1].inactive);
    assert_int_equal(r.accesses[1].va, 0x100c);
    assert_int_equal(r.accesses[1].bytes, 52);
    r = evaluate(0xa540a820, 512, 0, &pe); /* ld1w {z0.s}, p2/z, [x1]: nothing active */
    assert_true(r.op.empty_predicate);
    assert_int_equal(r.op.access_count, 1);
    assert_true(r.accesses[0].inactive);
    assert_int_equal(r.accesses[0].bytes, 64);
    r = evaluate(0x04800420, 512, 0, &pe); /* add z0.s, p1/m, z0.s, z1.s */
    assert_int_equal(r.known, SPE_A64_KNOWS_PREDICATE);
    assert_true(r.op.partial_predicate);
    assert_int_equal(r.op.access_count, 0);
}

/* CounterToPredicate(): PN8 of words, the first 20 of 64; inverted: all from there on */
static void predicate_as_counter(void **state)
{
    struct pe pe = {.x = {[1] = 0x1000}};
    unsigned counter = 20 << 3 | 4;
    struct result r;

    (void)state;
    pe.p[8][0] = (uint8_t)counter;
    r = evaluate(0xa040c020, 512, 0, &pe); /* ld1w {z0.s-z3.s}, pn8/z, [x1] */
    assert_true(r.op.partial_predicate);
    assert_int_equal(r.op.access_count, 1);
    assert_int_equal(r.accesses[0].bytes, 256);
    pe.p[8][1] = 0x80;
    r = evaluate(0xa040c020, 512, 0, &pe);
    assert_int_equal(r.op.access_count, 2);
    assert_int_equal(r.accesses[0].bytes, 80);
    assert_int_equal(r.accesses[1].va, 0x1000 + 80);
    pe.p[8][0] = 0;
    pe.p[8][1] = 0;
    r = evaluate(0xa040c020, 512, 0, &pe);
    assert_true(r.op.empty_predicate);
}

static void put(uint8_t *vector, size_t at, uint64_t value, size_t size)
{
    memcpy(vector + at, &value, size);
}

static void gather_and_scatter(void **state)
{
    struct pe pe = {.x = {[1] = 0x1000, [31] = 0x77}};
    struct result r;

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        put(pe.z[2], 4 * i, (uint64_t) - (int64_t)i, 4);
        put(pe.z[3], 8 * i, UINT64_C(0x100000000) * i + i, 8);
        set_predicate(&pe, 1, 4, i);
    }
    pe.p[1][0] = 0x11;                     /* words 0 and 1; doublewords 0 */
    r = evaluate(0x85624420, 256, 0, &pe); /* ld1w {z0.s}, p1/z, [x1, z2.s, sxtw #2] */
    assert_int_equal(r.known, SPE_A64_KNOWS_ADDRESS | SPE_A64_KNOWS_PREDICATE);
    assert_int_equal(r.op.access_count, 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(r.accesses[i].va, 0x1000 - 4 * i);
        assert_int_equal(r.accesses[i].bytes, 4);
        assert_false(r.accesses[i].store);
    }
    assert_false(r.accesses[1].inactive);
    assert_true(r.accesses[7].inactive || pe.p[1][3] & 0x10);
    r = evaluate(0xc5e3c420, 256, 0, &pe); /* ld1d {z0.d}, p1/z, [x1, z3.d, lsl #3] */
    assert_int_equal(r.op.access_count, 4);
    assert_int_equal(r.accesses[3].va, 0x1000 + 8 * UINT64_C(0x300000003));
    assert_int_equal(r.accesses[3].bytes, 8);
    r = evaluate(0xc5434420, 256, 0, &pe); /* ld1w {z0.d}, p1/z, [x1, z3.d, sxtw] */
    assert_int_equal(r.accesses[2].va, 0x1002);
    r = evaluate(0xe5c2a460, 256, 0, &pe); /* st1d {z0.d}, p1, [z3.d, #16] */
    assert_int_equal(r.op.access_count, 4);
    assert_int_equal(r.accesses[1].va, UINT64_C(0x100000001) + 16);
    assert_true(r.accesses[1].store);
    r = evaluate(0xe41f2460, 256, 0, &pe); /* stnt1b {z0.d}, p1, [z3.d, xzr] */
    assert_int_equal(r.accesses[2].va, UINT64_C(0x200000002));
    assert_int_equal(r.accesses[2].bytes, 1);
}

static void memory_copy_and_set(void **state)
{
    struct pe pe = {.x = {[0] = 0x1000, [1] = 0x9000, [2] = 0x100}};
    struct result r = evaluate(0x19010440, 0, 0, &pe); /* cpyfp [x0]!, [x1]!, x2! */

    (void)state;
    assert_int_equal(r.known, SPE_A64_KNOWS_ADDRESS);
    assert_int_equal(r.op.access_count, 2);
    assert_int_equal(r.accesses[0].va, 0x9000);
    assert_int_equal(r.accesses[0].bytes, 0x100);
    assert_false(r.accesses[0].store);
    assert_int_equal(r.accesses[1].va, 0x1000);
    assert_true(r.accesses[1].store);

    pe.x[2] = (uint64_t)-0x20; /* option A, forwards: what is left ends at the addresses */
    r = evaluate(0x19410440, 0, 0, &pe); /* cpyfm */
    assert_int_equal(r.accesses[0].va, 0x9000 - 0x20);
    assert_int_equal(r.accesses[1].va, 0x1000 - 0x20);
    assert_int_equal(r.accesses[1].bytes, 0x20);
    pe.x[2] = 0x20;
    pe.nzcv = 0xa;                       /* option B, backwards */
    r = evaluate(0x1d410440, 0, 0, &pe); /* cpym */
    assert_int_equal(r.accesses[1].va, 0x1000 - 0x20);
    pe.nzcv = 2;                         /* option B, forwards */
    r = evaluate(0x19c34440, 0, 0, &pe); /* setm [x0]!, x2!, x3 */
    assert_int_equal(r.op.access_count, 1);
    assert_int_equal(r.accesses[0].va, 0x1000);
    assert_int_equal(r.accesses[0].bytes, 0x20);
    assert_true(r.accesses[0].store);
    pe.x[2] = 0; /* all done */
    r = evaluate(0x19c34440, 0, 0, &pe);
    assert_int_equal(r.op.access_count, 0);
    assert_int_equal(r.known, SPE_A64_KNOWS_ADDRESS);
}

/* Without callbacks all stays as classified. */
static void nothing_known(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT_OF(words); n++) {
        struct spe_a64 insn;
        struct spe_operation op;
        struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX];
        unsigned known;

        spe_a64_classify(words[n].word, 128, &insn);
        known = spe_a64_evaluate(&insn, 0x100, &nothing, &op, accesses);
        if (insn.address == SPE_A64_LITERAL)
            assert_int_equal(known, SPE_A64_KNOWS_ADDRESS);
        else if (insn.direct && !insn.operation.conditional)
            assert_int_equal(known, SPE_A64_KNOWS_BRANCH);
        else
            assert_int_equal(known, 0);
        assert_int_equal(op.kind, words[n].kind);
    }
}

static void sizes_of_sme(void **state)
{
    struct spe_a64 insn;

    (void)state;
    spe_a64_classify(0xa0832040, 512, &insn); /* smopa za0.s, p0/m, p1/m, z2.b, z3.b */
    assert_int_equal(insn.operation.tile_bits, 16 * 16 * 32);
    spe_a64_classify(0xc00800ff, 512, &insn); /* zero {za} */
    assert_true(insn.operation.whole_za);
    assert_false(insn.operation.masked_zero);
    assert_int_equal(insn.operation.tile_bits, 64 * 512);
    assert_false(insn.operation.multi_vector);
    spe_a64_classify(0xc0080055, 512, &insn); /* zero {za0.h} */
    assert_true(insn.operation.masked_zero);
    assert_int_equal(insn.operation.tile_bits, 64 * 512 / 2);
    spe_a64_classify(0xc1a01810, 512, &insn); /* add za.s[w8, 0, vgx2], {z0.s-z1.s}, {z0.s-z1.s} */
    assert_int_equal(insn.operation.vectors, 2);
    spe_a64_classify(0xc123e000, 512, &insn); /* sqcvt z0.h, {z0.s-z1.s} */
    assert_true(insn.operation.multi_vector);
    assert_int_equal(insn.operation.vectors, 0);
}

static void unallocated(void **state)
{
    static const uint32_t none[] = {
        0x00010000, /* not UDF: bits 31:16 are not 0 */
        0x02000000, /* op0 1 */
        0x06000000, /* op0 3 */
        0xd4000000, /* SVC without LL */
        0x38600420, /* LDRAA is of doublewords */
        0x48217c20, /* CASP from an odd register */
        0xb8a00820, /* register offset extended from a halfword */
    };

    (void)state;
    for (size_t n = 0; n < COUNT_OF(none); n++) {
        struct spe_a64 insn;

        spe_a64_classify(none[n], 128, &insn);
        if (insn.allocated)
            fail_msg("%08x", none[n]);
        assert_int_equal(insn.operation.kind, SPE_OPERATION_OTHER);
        assert_int_equal(flags_of(&insn), ENDS);
    }
}

/* Whatever the word, what is said of it is of one piece, and its accesses fit. */
static void any_word(void **state)
{
    static struct pe pe;
    uint32_t word = 1;

    (void)state;
    memset(&pe, 0x5a, sizeof(pe));
    pe.nzcv = 10;
    for (unsigned n = 0; n < 400000; n++) {
        struct spe_a64 insn;
        struct result r;
        struct spe_a64_registers registers = registers_of(&pe);
        const struct spe_operation *op = &insn.operation;
        bool memory;

        word = word * 1664525 + 1013904223;
        spe_a64_classify(word ^ word >> 15, 2048, &insn);
        memory = insn.load || insn.store;
        r.known = spe_a64_evaluate(&insn, 0, &registers, &r.op, r.accesses);
        assert_in_range(r.op.access_count, 0, SPE_A64_ACCESSES_MAX);
        if (op->kind == SPE_OPERATION_LOAD)
            assert_true(insn.load && !insn.store);
        else if (op->kind == SPE_OPERATION_STORE || op->kind == SPE_OPERATION_DC_ZVA)
            assert_true(insn.store && !insn.load);
        else if (op->kind == SPE_OPERATION_ATOMIC)
            assert_true(insn.store && insn.load);
        else if (op->kind != SPE_OPERATION_MEMCPY && op->kind != SPE_OPERATION_MEMSET &&
                 op->kind != SPE_OPERATION_GCS)
            assert_false(memory);
        assert_int_equal(insn.branch,
                         op->kind == SPE_OPERATION_BRANCH || op->kind == SPE_OPERATION_ERET);
        assert_true(!insn.branch || insn.direct != op->indirect);
        assert_true(!insn.writes_memory_unconditionally || insn.store);
        for (uint32_t i = 0; i < r.op.access_count; i++) {
            assert_int_not_equal(r.accesses[i].bytes, 0);
            if (r.accesses[i].store)
                assert_true(insn.store);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classifies),
        cmocka_unit_test(conditions),
        cmocka_unit_test(conditional_operations),
        cmocka_unit_test(compare_and_branch),
        cmocka_unit_test(branches),
        cmocka_unit_test(scalar_addresses),
        cmocka_unit_test(contiguous_vectors),
        cmocka_unit_test(sme_addresses),
        cmocka_unit_test(predicated_vectors),
        cmocka_unit_test(predicate_as_counter),
        cmocka_unit_test(gather_and_scatter),
        cmocka_unit_test(memory_copy_and_set),
        cmocka_unit_test(nothing_known),
        cmocka_unit_test(sizes_of_sme),
        cmocka_unit_test(unallocated),
        cmocka_unit_test(any_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
