/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C4.1, Loads and Stores. */
#include "pe/a64.h"

static unsigned field_size(const struct spe_a64 *insn)
{
    return bits(insn->word, 31, 30);
}

static unsigned field_rt(const struct spe_a64 *insn)
{
    return bits(insn->word, 4, 0);
}

static void load_or_store(struct spe_a64 *insn, bool load, enum spe_operation_registers registers,
                          uint32_t bytes)
{
    a64_access(insn, load ? SPE_OPERATION_LOAD : SPE_OPERATION_STORE, registers, bytes);
}

static void offset(struct spe_a64 *insn, int64_t bytes)
{
    insn->address = SPE_A64_BASE_OFFSET;
    insn->offset = bytes;
}

/* Prefetches name a place, not a size. */
static void prefetch(struct spe_a64 *insn)
{
    a64_access(insn, SPE_OPERATION_PREFETCH, SPE_REGISTERS_GENERAL, 1);
}

/* Q registers hold vectors for SPE, the smaller ones scalars. */
static enum spe_operation_registers simd_fp(uint32_t bytes)
{
    return bytes == 16 ? SPE_REGISTERS_SIMD : SPE_REGISTERS_FP;
}

/* ---- Exclusives, ordered, compare and swap -------------------------------------------------- */

static bool compare_and_swap(struct spe_a64 *insn, uint32_t bytes)
{
    a64_access(insn, SPE_OPERATION_ATOMIC, SPE_REGISTERS_GENERAL, bytes);
    insn->operation.returns_value = true;
    insn->writes_memory_unconditionally = false;
    return true;
}

/* CAS, CASP: L is acquire, o0 is release */
static bool cas(struct spe_a64 *insn)
{
    insn->operation.acquire_release = bit(insn->word, 22) || bit(insn->word, 15);
    return compare_and_swap(insn, 1u << field_size(insn));
}

/* The registers are pairs: even numbers. */
static bool casp(struct spe_a64 *insn)
{
    insn->operation.acquire_release = bit(insn->word, 22) || bit(insn->word, 15);
    return compare_and_swap(insn, bit(insn->word, 30) ? 16 : 8) && !bit(insn->word, 16) &&
           !bit(insn->word, 0);
}

static bool exclusive(struct spe_a64 *insn)
{
    load_or_store(insn, bit(insn->word, 22), SPE_REGISTERS_GENERAL, 1u << field_size(insn));
    insn->operation.exclusive = true;
    insn->operation.acquire_release = bit(insn->word, 15);
    insn->writes_memory_unconditionally = false;
    return true;
}

static bool exclusive_pair(struct spe_a64 *insn)
{
    exclusive(insn);
    insn->bytes *= 2;
    return true;
}

static void acquire_or_release(struct spe_a64 *insn, bool load, uint32_t bytes)
{
    load_or_store(insn, load, SPE_REGISTERS_GENERAL, bytes);
    insn->operation.acquire_release = true;
}

/* LDAR, STLR; LDLAR, STLLR, whose order is that of a LORegion */
static bool ordered(struct spe_a64 *insn)
{
    acquire_or_release(insn, bit(insn->word, 22), 1u << field_size(insn));
    return true;
}

/* STLR that first subtracts the size from the base */
static bool stlr_pre(struct spe_a64 *insn)
{
    acquire_or_release(insn, false, 1u << field_size(insn));
    offset(insn, -(int64_t)insn->bytes);
    return true;
}

static bool ldapr_post(struct spe_a64 *insn)
{
    acquire_or_release(insn, true, 1u << field_size(insn));
    return true;
}

/* LDIAPP, STILP: the store's writeback form subtracts first */
static bool ordered_pair(struct spe_a64 *insn)
{
    acquire_or_release(insn, bit(insn->word, 22), 2u << field_size(insn));
    if (insn->store && !bit(insn->word, 12))
        offset(insn, -(int64_t)insn->bytes);
    return true;
}

/* LDAPUR, STLUR and their sizes */
static bool ordered_unscaled(struct spe_a64 *insn)
{
    unsigned size = field_size(insn), opc = bits(insn->word, 23, 22);

    acquire_or_release(insn, opc != 0, 1u << size);
    offset(insn, signed_bits(insn->word, 20, 12));
    return size + opc < 5 && !(size == 3 && opc == 2);
}

/* LDAPUR, STLUR (SIMD&FP): size 0 with opc<1> is Q */
static bool ordered_unscaled_simd(struct spe_a64 *insn)
{
    unsigned size = field_size(insn);
    uint32_t bytes = bit(insn->word, 23) ? 16 : 1u << size;

    acquire_or_release(insn, bit(insn->word, 22), bytes);
    insn->operation.registers = (uint8_t)simd_fp(bytes);
    offset(insn, signed_bits(insn->word, 20, 12));
    return !bit(insn->word, 23) || size == 0;
}

/* LDAP1, STL1 */
static bool ordered_lane(struct spe_a64 *insn)
{
    acquire_or_release(insn, bit(insn->word, 22), 8);
    insn->operation.registers = SPE_REGISTERS_SIMD;
    insn->element_bytes = 8;
    return true;
}

/* ---- Atomic memory operations --------------------------------------------------------------- */

/* A is bit 23, R is bit 22. There is no acquire if the value read is thrown away. */
static void atomic(struct spe_a64 *insn, uint32_t bytes, bool discards)
{
    a64_access(insn, SPE_OPERATION_ATOMIC, SPE_REGISTERS_GENERAL, bytes);
    insn->operation.returns_value = true;
    insn->operation.acquire_release = (bit(insn->word, 23) && !discards) || bit(insn->word, 22);
}

/* LDADD ... LDUMIN; without A and with Rt 31 they are STADD ... STUMIN */
static bool load_and_operate(struct spe_a64 *insn)
{
    bool discards = field_rt(insn) == 31;

    atomic(insn, 1u << field_size(insn), discards);
    insn->operation.returns_value = !discards || bit(insn->word, 23);
    return true;
}

static bool swap(struct spe_a64 *insn)
{
    atomic(insn, 1u << field_size(insn), field_rt(insn) == 31);
    return true;
}

/* RCWCLR, RCWSET, RCWSWP: the write happens if the checks of the entry pass */
static bool read_check_write(struct spe_a64 *insn)
{
    atomic(insn, 8, field_rt(insn) == 31);
    insn->writes_memory_unconditionally = false;
    return true;
}

static bool ldapr(struct spe_a64 *insn)
{
    acquire_or_release(insn, true, 1u << field_size(insn));
    return true;
}

static bool ld64b(struct spe_a64 *insn)
{
    load_or_store(insn, true, SPE_REGISTERS_GENERAL, 64);
    return field_rt(insn) < 24 && !bit(insn->word, 0); /* Xt to X(t+7) */
}

static bool st64b(struct spe_a64 *insn)
{
    load_or_store(insn, false, SPE_REGISTERS_GENERAL, 64);
    return field_rt(insn) < 24 && !bit(insn->word, 0);
}

/* ST64BV, ST64BV0: whether the place took the store is told in Ws */
static bool st64bv(struct spe_a64 *insn)
{
    insn->operation.st64bv = true;
    st64b(insn);
    insn->writes_memory_unconditionally = false;
    return field_rt(insn) < 24 && !bit(insn->word, 0);
}

static const struct a64_group atomics[] = {
    {0x3f208c00, 0x38200000, load_and_operate}, /* LDADD, LDCLR, LDEOR, LDSET, LD[SU](MAX|MIN) */
    {0x3f20fc00, 0x38208000, swap},             /* SWP */
    {0x3ffffc00, 0x38bfc000, ldapr},            /* LDAPR */
    {0xfffffc00, 0xf83f9000, st64b},            /* ST64B */
    {0xffe0fc00, 0xf820a000, st64bv},           /* ST64BV0 */
    {0xffe0fc00, 0xf820b000, st64bv},           /* ST64BV */
    {0xfffffc00, 0xf83fd000, ld64b},            /* LD64B */
    {0xbf20fc00, 0x38209000, read_check_write}, /* RCWCLR, RCWSCLR */
    {0xbf20ec00, 0x3820a000, read_check_write}, /* RCWSWP, RCWSET and with S */
};

static bool atomic_operations(struct spe_a64 *insn)
{
    return a64_decode(insn, atomics, COUNT_OF(atomics));
}

/* LDCLRP, LDSETP, SWPP: two different registers, neither of them 31 */
static bool pair_128(struct spe_a64 *insn)
{
    unsigned rt = field_rt(insn), rt2 = bits(insn->word, 20, 16);

    atomic(insn, 16, false);
    return rt != 31 && rt2 != 31;
}

/* RCWCLRP, RCWSETP, RCWSWPP */
static bool read_check_write_128(struct spe_a64 *insn)
{
    bool allocated = pair_128(insn);

    insn->writes_memory_unconditionally = false;
    return allocated;
}

/* RCWCAS, RCWCASP */
static bool rcw_cas(struct spe_a64 *insn)
{
    bool pair = bit(insn->word, 10);

    atomic(insn, pair ? 16 : 8, false);
    insn->writes_memory_unconditionally = false;
    return !pair || (!bit(insn->word, 16) && !bit(insn->word, 0));
}

/* ---- Allocation Tags, Guarded Control Stack, Memory Copy and Set ---------------------------- */

/* LDG and the multiple forms; LDGM, STGM, STZGM transfer the tags of a block by GMID_EL1 */
static bool tag_multiple(struct spe_a64 *insn)
{
    bool load = bit(insn->word, 22), zero = !bit(insn->word, 23);

    load_or_store(insn, load, zero && !load ? SPE_REGISTERS_TAG_DATA : SPE_REGISTERS_TAG, 0);
    insn->rounds_down = true;
    return bits(insn->word, 20, 12) == 0;
}

static bool ldg(struct spe_a64 *insn)
{
    load_or_store(insn, true, SPE_REGISTERS_TAG, 16);
    insn->rounds_down = true;
    offset(insn, 16 * signed_bits(insn->word, 20, 12));
    return true;
}

/* STG, ST2G; STZG, STZ2G write data, too. Bits 11:10 are 1 for post-index. */
static bool stg(struct spe_a64 *insn)
{
    bool zero = bit(insn->word, 22), two = bit(insn->word, 23);

    load_or_store(insn, false, zero ? SPE_REGISTERS_TAG_DATA : SPE_REGISTERS_TAG, two ? 32 : 16);
    if (bits(insn->word, 11, 10) != 1)
        offset(insn, 16 * signed_bits(insn->word, 20, 12));
    return true;
}

/* GCSSTR, GCSSTTR */
static bool gcsstr(struct spe_a64 *insn)
{
    a64_access(insn, SPE_OPERATION_GCS, SPE_REGISTERS_GENERAL, 8);
    insn->store = true;
    insn->writes_memory_unconditionally = true;
    return true;
}

/*
 * CPYF, CPY; SET, SETG. op1 is 3 for the latter. No register may appear twice; none is 31, but for
 * the data of SET.
 */
static bool memory_copy(struct spe_a64 *insn)
{
    unsigned rd = field_rt(insn), rn = bits(insn->word, 9, 5), rs = bits(insn->word, 20, 16);

    insn->operation.kind = SPE_OPERATION_MEMCPY;
    insn->load = true;
    insn->store = true;
    insn->address = SPE_A64_MEMORY_COPY;
    insn->base = (uint8_t)rd;
    insn->index = (uint8_t)rs;
    return rd != 31 && rn != 31 && rs != 31 && rd != rn && rd != rs && rn != rs;
}

static bool memory_set(struct spe_a64 *insn)
{
    unsigned rd = field_rt(insn), rn = bits(insn->word, 9, 5), rs = bits(insn->word, 20, 16);

    insn->operation.kind = SPE_OPERATION_MEMSET;
    insn->store = true;
    insn->writes_memory_unconditionally = true;
    insn->address = SPE_A64_MEMORY_SET;
    insn->base = (uint8_t)rd;
    return rd != 31 && rn != 31 && rd != rn && rd != rs && rn != rs && bits(insn->word, 15, 14) < 3;
}

static bool memory_copy_and_set(struct spe_a64 *insn)
{
    return bits(insn->word, 23, 22) == 3 ? memory_set(insn) : memory_copy(insn);
}

/* ---- Literal, pairs ------------------------------------------------------------------------- */

static bool literal(struct spe_a64 *insn)
{
    unsigned opc = field_size(insn);
    bool simd = bit(insn->word, 26);

    if (simd)
        load_or_store(insn, true, simd_fp(4u << opc), 4u << opc);
    else if (opc == 3)
        prefetch(insn);
    else
        load_or_store(insn, true, SPE_REGISTERS_GENERAL, opc == 1 ? 8 : 4);
    insn->address = SPE_A64_LITERAL;
    insn->offset = 4 * signed_bits(insn->word, 23, 5);
    return !(simd && opc == 3);
}

/* opc 1 of general registers is LDPSW, or STGP if it is a store. */
static bool pair(struct spe_a64 *insn)
{
    unsigned opc = field_size(insn), mode = bits(insn->word, 24, 23);
    bool simd = bit(insn->word, 26), load = bit(insn->word, 22);
    bool stgp = !simd && opc == 1 && !load;
    uint32_t one = simd ? 4u << opc : opc == 2 || stgp ? 8 : 4;
    uint32_t scale = stgp ? 16 : one;

    if (opc == 3 || (!simd && opc == 1 && mode == 0))
        return false;
    load_or_store(insn, load,
                  simd   ? simd_fp(one)
                  : stgp ? SPE_REGISTERS_TAG_DATA
                         : SPE_REGISTERS_GENERAL,
                  2 * one);
    if (mode != 1)
        offset(insn, scale * signed_bits(insn->word, 21, 15));
    return true;
}

/* ---- Register ------------------------------------------------------------------------------- */

/* size and opc of the register forms. Returns whether they are allocated. */
static bool one_register(struct spe_a64 *insn, bool may_prefetch)
{
    unsigned size = field_size(insn), opc = bits(insn->word, 23, 22);

    if (bit(insn->word, 26)) {
        uint32_t bytes = opc & 2 ? 16 : 1u << size;

        load_or_store(insn, opc & 1, simd_fp(bytes), bytes);
        return !(opc & 2) || size == 0;
    }
    if (size == 3 && opc == 2) {
        prefetch(insn);
        return may_prefetch;
    }
    load_or_store(insn, opc != 0, SPE_REGISTERS_GENERAL, 1u << size);
    return size + opc < 5;
}

static bool unscaled(struct spe_a64 *insn)
{
    bool allocated = one_register(insn, true);

    offset(insn, signed_bits(insn->word, 20, 12));
    return allocated;
}

static bool unprivileged(struct spe_a64 *insn)
{
    bool allocated = one_register(insn, false);

    offset(insn, signed_bits(insn->word, 20, 12));
    return allocated && !bit(insn->word, 26);
}

static bool post_indexed(struct spe_a64 *insn)
{
    return one_register(insn, false);
}

static bool pre_indexed(struct spe_a64 *insn)
{
    bool allocated = one_register(insn, false);

    offset(insn, signed_bits(insn->word, 20, 12));
    return allocated;
}

static unsigned log2_bytes(const struct spe_a64 *insn)
{
    unsigned size = field_size(insn);

    return insn->operation.registers == SPE_REGISTERS_SIMD ? 4 : size;
}

static bool unsigned_offset(struct spe_a64 *insn)
{
    bool allocated = one_register(insn, true);

    offset(insn, (int64_t)bits(insn->word, 21, 10) << log2_bytes(insn));
    return allocated;
}

/* Extensions of bytes and halfwords do not exist here. */
static bool register_offset(struct spe_a64 *insn)
{
    bool allocated = one_register(insn, true) && bit(insn->word, 14);

    insn->address = SPE_A64_BASE_REGISTER;
    insn->index = (uint8_t)bits(insn->word, 20, 16);
    insn->extend = (uint8_t)bits(insn->word, 15, 13);
    insn->shift = (uint8_t)(bit(insn->word, 12) ? log2_bytes(insn) : 0);
    if (insn->operation.kind == SPE_OPERATION_PREFETCH && bits(insn->word, 4, 3) == 3) {
        insn->address = SPE_A64_BASE; /* RPRFM: a range, whose shape Xm tells */
        insn->shift = 0;
    }
    return allocated;
}

/* LDRAA, LDRAB */
static bool authenticated(struct spe_a64 *insn)
{
    int64_t imm10 = signed_bits(insn->word, 22, 22) * 512 + bits(insn->word, 20, 12);

    load_or_store(insn, true, SPE_REGISTERS_GENERAL, 8);
    insn->authenticated = true;
    offset(insn, 8 * imm10);
    return true;
}

/* ---- Advanced SIMD structures --------------------------------------------------------------- */

/* Registers transferred by opcode of the multiple forms; 0: not allocated */
static const uint8_t multiple_registers[16] = {
    [0x0] = 4, [0x2] = 4, [0x4] = 3, [0x6] = 3, [0x7] = 1, [0x8] = 2, [0xa] = 2,
};

/* LD1 to LD4, ST1 to ST4 of whole registers. Only LD1 and ST1 (opcode<1>) know 1D. */
static bool structures(struct spe_a64 *insn)
{
    unsigned opcode = bits(insn->word, 15, 12), size = bits(insn->word, 11, 10);
    bool q = bit(insn->word, 30);

    load_or_store(insn, bit(insn->word, 22), SPE_REGISTERS_SIMD,
                  multiple_registers[opcode] * (q ? 16u : 8u));
    insn->element_bytes = (uint8_t)(1u << size);
    return multiple_registers[opcode] && (q || size != 3 || bit(opcode, 1));
}

/* One element to one lane, or to all lanes (opcode 6 and 7, loads only). */
static bool structure_lane(struct spe_a64 *insn)
{
    unsigned opcode = bits(insn->word, 15, 13), size = bits(insn->word, 11, 10);
    unsigned count = 1 + bit(insn->word, 21) + 2 * (opcode & 1);
    unsigned scale = opcode >> 1;
    bool load = bit(insn->word, 22), s = bit(insn->word, 12), allocated = true;

    if (scale == 3) {
        allocated = load && !s;
        scale = size;
    } else if (scale == 2) {
        allocated = size == 0 || (size == 1 && !s);
        scale += size;
    } else if (scale == 1) {
        allocated = !(size & 1);
    }
    load_or_store(insn, load, SPE_REGISTERS_SIMD, count << (scale & 3));
    insn->element_bytes = (uint8_t)(1u << (scale & 3));
    return allocated;
}

static const struct a64_group groups[] = {
    {0x3b000000, 0x39000000, unsigned_offset},
    {0x3a000000, 0x28000000, pair},
    {0x3b200c00, 0x38000000, unscaled},
    {0x3b200c00, 0x38000400, post_indexed},
    {0x3b200c00, 0x38000800, unprivileged},
    {0x3b200c00, 0x38000c00, pre_indexed},
    {0x3b200c00, 0x38200800, register_offset},
    {0x3b000000, 0x18000000, literal},
    {0x3f200c00, 0x38200000, atomic_operations},
    {0xff200400, 0xf8200400, authenticated},
    {0x3fa00000, 0x08000000, exclusive},
    {0xbfa00000, 0x88200000, exclusive_pair},
    {0xbfa07c00, 0x08207c00, casp},
    {0x3fa07c00, 0x08a07c00, cas},
    {0x3fa00000, 0x08800000, ordered},
    {0xbfbf0000, 0x0c000000, structures},
    {0xbfa00000, 0x0c800000, structures},
    {0xbf9f0000, 0x0d000000, structure_lane},
    {0xbf800000, 0x0d800000, structure_lane},
    {0xbfbffc00, 0x0d018400, ordered_lane},
    {0xff200c00, 0xd9200400, stg},
    {0xff200800, 0xd9200800, stg},
    {0xffe00c00, 0xd9600000, ldg},
    {0xff200c00, 0xd9200000, tag_multiple},
    {0xffffec00, 0xd91f0c00, gcsstr},
    {0x3f200c00, 0x19000000, ordered_unscaled},
    {0xbfa0ec00, 0x99000800, ordered_pair},
    {0xbffffc00, 0x99800800, stlr_pre},
    {0xbffffc00, 0x99c00800, ldapr_post},
    {0x3f200c00, 0x1d000800, ordered_unscaled_simd},
    {0xfb200c00, 0x19000400, memory_copy_and_set},
    {0xff20fc00, 0x19201000, pair_128},             /* LDCLRP */
    {0xff20fc00, 0x19203000, pair_128},             /* LDSETP */
    {0xff20fc00, 0x19208000, pair_128},             /* SWPP */
    {0xbf20fc00, 0x19209000, read_check_write_128}, /* RCWCLRP */
    {0xbf20ec00, 0x1920a000, read_check_write_128}, /* RCWSWPP, RCWSETP */
    {0xbf20f800, 0x19200800, rcw_cas},
};

bool a64_memory(struct spe_a64 *insn)
{
    return a64_decode(insn, groups, COUNT_OF(groups));
}
