/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Operands of A64 instructions that make addresses. What an instruction is, which registers it
 * writes and how it finds its address is told by the pe room; here are the few fields it leaves.
 */
#include "names/operands.h"

#include <specimen/pe.h>

#include "base/bits.h"

static int64_t signed_field(uint32_t word, unsigned high, unsigned low)
{
    uint64_t sign = UINT64_C(1) << (high - low);

    return (int64_t)((bits(word, high, low) ^ sign) - sign);
}

/* Register 31 is the zero register in most places. */
static uint8_t zero_register(uint32_t n)
{
    return n == 31 ? REG_NONE : (uint8_t)n;
}

/* ---- Data processing ------------------------------------------------------------------------ */

static bool decode_address(uint32_t word, uint64_t pc, struct operands *o)
{
    int64_t offset;

    if ((word & 0x1f000000) != 0x10000000) /* ADR, ADRP */
        return false;
    offset = (int64_t)((uint64_t)signed_field(word, 23, 5) << 2 | bits(word, 30, 29));
    o->kind = OPERANDS_CONSTANT;
    o->d = zero_register(bits(word, 4, 0));
    o->value =
        word >> 31 ? (pc & ~UINT64_C(0xfff)) + ((uint64_t)offset << 12) : pc + (uint64_t)offset;
    return true;
}

static bool decode_wide(uint32_t word, struct operands *o)
{
    unsigned shift = 16 * bits(word, 22, 21);
    uint64_t value = (uint64_t)bits(word, 20, 5) << shift;

    if ((word & 0x1f800000) != 0x12800000)
        return false;
    o->d = zero_register(bits(word, 4, 0));
    o->shift = (uint8_t)shift;
    switch (bits(word, 30, 29)) {
    case 0: /* MOVN */
        o->kind = OPERANDS_CONSTANT;
        o->value = o->narrow ? (uint32_t)~value : ~value;
        return true;
    case 2: /* MOVZ */
        o->kind = OPERANDS_CONSTANT;
        o->value = value;
        return true;
    case 3: /* MOVK */
        o->kind = OPERANDS_INSERT;
        o->value = value;
        return true;
    default:
        return false;
    }
}

/* ADD and SUB (immediate). */
static bool decode_add_immediate(uint32_t word, struct operands *o)
{
    uint64_t value = (uint64_t)bits(word, 21, 10) << (bits(word, 22, 22) ? 12 : 0);
    bool flags = bits(word, 29, 29);

    if ((word & 0x9f800000) != 0x91000000)
        return false;
    o->kind = OPERANDS_ADD;
    o->d = flags ? zero_register(bits(word, 4, 0)) : (uint8_t)bits(word, 4, 0);
    o->n = (uint8_t)bits(word, 9, 5);
    o->value = bits(word, 30, 30) ? -value : value;
    return true;
}

/* ADD, SUB, ORR as MOV, of registers. */
static bool decode_register(uint32_t word, struct operands *o)
{
    o->d = zero_register(bits(word, 4, 0));
    o->n = zero_register(bits(word, 9, 5));
    o->m = zero_register(bits(word, 20, 16));
    if ((word & 0xffe0ffe0) == 0xaa0003e0) { /* MOV */
        o->kind = OPERANDS_ADD;
        o->n = o->m;
        o->m = REG_NONE;
        return true;
    }
    if ((word & 0x9f200000) == 0x8b000000 && !bits(word, 23, 22)) { /* shifted left */
        o->kind = bits(word, 30, 30) ? OPERANDS_SUBTRACT : OPERANDS_ADD;
        o->shift = (uint8_t)bits(word, 15, 10);
        return true;
    }
    if ((word & 0x9fe00000) == 0x8b200000) { /* extended */
        o->kind = bits(word, 30, 30) ? OPERANDS_SUBTRACT : OPERANDS_ADD;
        o->shift = (uint8_t)bits(word, 12, 10);
        o->n = (uint8_t)bits(word, 9, 5);
        if (!bits(word, 29, 29))
            o->d = (uint8_t)bits(word, 4, 0);
        return true;
    }
    return false;
}

static bool decode_multiply(uint32_t word, struct operands *o)
{
    if ((word & 0xffe08000) != 0x9b000000 && (word & 0xff608000) != 0x9b200000)
        return false; /* MADD; SMADDL, UMADDL */
    o->kind = OPERANDS_MULTIPLY;
    o->d = zero_register(bits(word, 4, 0));
    o->n = zero_register(bits(word, 9, 5));
    o->m = zero_register(bits(word, 20, 16));
    o->a = zero_register(bits(word, 14, 10));
    return true;
}

/* UBFM and SBFM, where bits go up and the rest is zero or sign. */
static bool decode_shift(uint32_t word, struct operands *o)
{
    unsigned r = bits(word, 21, 16), s = bits(word, 15, 10), size = o->narrow ? 32 : 64;

    if ((word & 0xbf800000) != 0x93000000 || (r <= s && r))
        return false;
    o->kind = OPERANDS_ADD;
    o->d = zero_register(bits(word, 4, 0));
    o->n = REG_NONE;
    o->m = r ? zero_register(bits(word, 9, 5)) : REG_NONE;
    o->shift = (uint8_t)((size - r) % size);
    if (!r) { /* UXTB: any number */
        o->kind = OPERANDS_OTHER;
        o->n = zero_register(bits(word, 9, 5));
        if (!o->narrow && s == 31 && !bits(word, 30, 30)) /* SXTW */
            o->kind = OPERANDS_EXTEND;
    }
    return true;
}

static bool decode_other(uint32_t word, struct operands *o)
{
    if ((word & 0xffe00c00) == 0x9a800000) { /* CSEL */
        o->kind = OPERANDS_SELECT;
        o->d = zero_register(bits(word, 4, 0));
        o->n = zero_register(bits(word, 9, 5));
        o->m = zero_register(bits(word, 20, 16));
        return true;
    }
    if ((word & 0xffffffe0) == 0xd53bd040) { /* MRS TPIDR_EL0 */
        o->kind = OPERANDS_THREAD;
        o->d = zero_register(bits(word, 4, 0));
        return true;
    }
    return false;
}

/* What writes the stack pointer in other ways: AND (immediate) and what depends on the length of
 * vectors. The pe room does not tell. */
static bool writes_stack_pointer(uint32_t word)
{
    return bits(word, 4, 0) == 31 && ((word & 0x7f800000) == 0x12000000 || /* AND */
                                      (word & 0x7f800000) == 0x11000000 || /* ADD */
                                      (word & 0x7f800000) == 0x51000000 || /* SUB */
                                      (word & 0x7fe00000) == 0x0b200000 || /* ... extended */
                                      (word & 0x7fe00000) == 0x4b200000 || /* */
                                      (word & 0xffa0f000) == 0x04205000); /* of streaming vectors */
}

/* ---- Loads and stores ----------------------------------------------------------------------- */

static bool is_pair(uint32_t word)
{
    return (word & 0x3a000000) == 0x28000000;
}

static void decode_write_back(uint32_t word, const struct spe_a64 *a, struct operands *o)
{
    bool pair = is_pair(word) && bits(word, 23, 23), before = bits(word, 24, 24);
    bool single = (word & 0x3b200400) == 0x38000400;
    bool structures = (word & 0xbe800000) == 0x0c800000; /* post-indexed */

    if (pair) {
        o->writes_back = true;
        o->early = before;
        o->advance =
            signed_field(word, 21, 15) * (int64_t)(a->bytes / 2 + !a->bytes); /* of one register */
    } else if (single) {
        o->writes_back = true;
        o->early = bits(word, 11, 11);
        o->advance = signed_field(word, 20, 12);
    } else if (structures && bits(word, 20, 16) == 31) {
        o->writes_back = true;
        o->advance = a->bytes;
    }
    if (o->early && o->writes_back) /* the classifier gives it as the offset, too */
        o->offset = o->advance;
}

static void decode_access(uint32_t word, const struct spe_a64 *a, struct operands *o)
{
    bool general = a->operation.registers == SPE_REGISTERS_GENERAL;
    bool plain = general && (a->operation.kind == SPE_OPERATION_LOAD ||
                             a->operation.kind == SPE_OPERATION_STORE);
    bool pair = is_pair(word);

    o->load = a->load;
    o->store = a->store;
    o->bytes = a->bytes;
    o->base = a->base;
    o->index = REG_NONE;
    o->d = plain ? zero_register(bits(word, 4, 0)) : REG_NONE;
    o->a = plain && pair ? zero_register(bits(word, 14, 10)) : REG_NONE;
    o->takes_value = plain && a->load && a->bytes == (pair ? 16 : 8);
    o->gives_value = plain && a->store && !a->load && a->bytes == (pair ? 16 : 8);
    switch (a->address) {
    case SPE_A64_BASE:
        o->known = true;
        break;
    case SPE_A64_BASE_OFFSET:
        o->known = true;
        o->offset = a->offset;
        break;
    case SPE_A64_BASE_REGISTER:
        o->known = true;
        o->index = zero_register(a->index);
        o->scale = a->shift;
        break;
    default:
        break;
    }
    if (o->known)
        decode_write_back(word, a, o);
}

/* ---- All ------------------------------------------------------------------------------------ */

static void decode_flow(const struct spe_a64 *a, uint64_t pc, struct operands *o)
{
    uint32_t word = a->word;

    if ((word & 0xfc000000) == 0x94000000) { /* BL */
        o->flow = FLOW_CALL;
        o->target = pc + (uint64_t)a->displacement;
    } else if ((word & 0xfffff000) == 0xd63f0000 || (word & 0xfffff800) == 0xd73f0800) { /* BLR */
        o->flow = FLOW_CALL;
    } else if ((word & 0xffe0001f) == 0xd4000001) { /* SVC: the kernel keeps all but X0 */
        o->flow = FLOW_NEXT;
        o->writes |= 1;
    } else if ((word & 0xfffffc1f) == 0xd61f0000) { /* BR */
        o->flow = FLOW_JUMP;
    } else if (a->branch && a->direct) {
        o->flow = (word & 0xfc000000) == 0x14000000 ? FLOW_BRANCH : FLOW_MAYBE;
        o->target = pc + (uint64_t)a->displacement;
    } else if (a->branch || a->ends_block || !a->allocated) {
        o->flow = FLOW_ELSEWHERE;
    }
}

void operands_decode(uint32_t word, uint64_t pc, struct operands *o)
{
    struct spe_a64 a;
    uint64_t reads, writes;

    *o = (struct operands){.d = REG_NONE,
                           .n = REG_NONE,
                           .m = REG_NONE,
                           .a = REG_NONE,
                           .base = REG_NONE,
                           .index = REG_NONE};
    spe_a64_classify(word, 0, &a);
    spe_a64_uses(&a, &reads, &writes);
    o->writes = writes & 0x7fffffff;
    if (writes_stack_pointer(word))
        o->writes |= UINT32_C(1) << REG_SP;
    decode_flow(&a, pc, o);
    if (a.load || a.store) {
        decode_access(word, &a, o);
        if (o->writes_back && o->base == REG_SP)
            o->writes |= UINT32_C(1) << REG_SP;
    } else if (!decode_address(word, pc, o) && !decode_other(word, o)) {
        o->narrow = !(word >> 31);
        word |= UINT32_C(1) << 31;
        if (!(decode_wide(word, o) || decode_add_immediate(word, o) || decode_register(word, o) ||
              decode_multiply(word, o) || decode_shift(word, o)))
            o->d = REG_NONE;
    }
}
