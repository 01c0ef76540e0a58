/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C4.1, SVE encodings: Memory - 32-bit Gather, Contiguous Load, 64-bit Gather, Stores. */
#include "pe/a64.h"

/*
 * Sizes are told as logarithms of bytes: B 0, H 1, W 2, D 3, Q 4. msz is that of an element in
 * memory, size that of a lane of the vector.
 */
enum { B, H, W, D, Q };

static uint32_t vector_bytes(const struct spe_a64 *insn)
{
    return insn->operation.vl_bits / 8;
}

static void transfer(struct spe_a64 *insn, bool load, unsigned msz, unsigned size)
{
    a64_access(insn, load ? SPE_OPERATION_LOAD : SPE_OPERATION_STORE, SPE_REGISTERS_SVE, 0);
    insn->operation.predicated = true;
    insn->operation.predicate_operand = true;
    insn->operation.zeroing = load;
    insn->element_bytes = (uint8_t)(1u << msz);
    insn->lane_bytes = (uint8_t)(1u << size);
    insn->predicate = (uint8_t)bits(insn->word, 12, 10);
}

/* `vectors` registers with as many elements each as a vector has lanes of `size` */
static void contiguous(struct spe_a64 *insn, bool load, unsigned msz, unsigned size,
                       unsigned vectors)
{
    transfer(insn, load, msz, size);
    insn->bytes = (vector_bytes(insn) * vectors) >> (size - msz);
    if (vectors > 1)
        insn->operation.vectors = vectors;
}

static void scalar_plus_scalar(struct spe_a64 *insn, unsigned shift)
{
    insn->address = SPE_A64_BASE_REGISTER;
    insn->index = (uint8_t)bits(insn->word, 20, 16);
    insn->extend = 3;
    insn->shift = (uint8_t)shift;
}

/* The immediate counts whole accesses of the vector length at hand; scale is what it counts at 128
 * bits. */
static void scalar_plus_vectors(struct spe_a64 *insn, int64_t offset)
{
    insn->address = SPE_A64_BASE_VL;
    insn->scale = insn->bytes * 16 / vector_bytes(insn);
    insn->offset = offset;
}

static void scalar_plus_imm4(struct spe_a64 *insn)
{
    unsigned vectors = insn->operation.vectors ? insn->operation.vectors : 1;

    scalar_plus_vectors(insn, signed_bits(insn->word, 19, 16));
    insn->offset *= vectors; /* what is encoded is a multiple of the number of vectors */
    insn->scale /= vectors;
}

static void scalar_plus_bytes(struct spe_a64 *insn, int64_t offset)
{
    insn->address = SPE_A64_BASE_OFFSET;
    insn->offset = offset;
}

/* [Xn|SP, Zm, extend #shift]; xs is 0 for UXTW, 1 for SXTW */
static void scalar_plus_vector(struct spe_a64 *insn, unsigned extend, unsigned shift)
{
    insn->address = SPE_A64_VECTOR_ADDRESSES;
    insn->operation.gather_scatter = true;
    insn->operation.contiguous = false;
    insn->index = (uint8_t)bits(insn->word, 20, 16);
    insn->extend = (uint8_t)extend;
    insn->shift = (uint8_t)shift;
}

enum { UXTW = 2, LSL = 3, SXTW = 6 };

static unsigned xs(bool sign)
{
    return sign ? SXTW : UXTW;
}

/* [Zn.S|Zn.D, ...]: addresses of 32 or 64 bits */
static void vector_plus(struct spe_a64 *insn)
{
    insn->address = SPE_A64_VECTOR_ADDRESSES;
    insn->operation.gather_scatter = true;
    insn->operation.contiguous = false;
    insn->index = (uint8_t)bits(insn->word, 9, 5);
    insn->base = SPE_A64_NO_REGISTER;
    insn->extend = insn->lane_bytes == 4 ? UXTW : LSL;
    insn->shift = 0;
}

static void vector_plus_imm5(struct spe_a64 *insn, unsigned msz)
{
    vector_plus(insn);
    insn->offset = (int64_t)bits(insn->word, 20, 16) << msz;
}

/* Xm is XZR if it is 31. */
static void vector_plus_scalar(struct spe_a64 *insn)
{
    unsigned xm = bits(insn->word, 20, 16);

    vector_plus(insn);
    if (xm != 31)
        insn->base = (uint8_t)xm;
}

/* A prefetch names places, and writes no register: it is not predicated in SPE's sense. */
static void prefetch(struct spe_a64 *insn, unsigned msz, unsigned size)
{
    a64_access(insn, SPE_OPERATION_SVE_PREFETCH, SPE_REGISTERS_SVE, 0);
    insn->operation.predicate_operand = true;
    insn->element_bytes = (uint8_t)(1u << msz);
    insn->lane_bytes = (uint8_t)(1u << size);
    insn->predicate = (uint8_t)bits(insn->word, 12, 10);
    insn->bytes = vector_bytes(insn) >> (size - msz);
    insn->operation.contiguous = true;
}

/* ---- LDR, STR ------------------------------------------------------------------------------- */

static bool whole_register(struct spe_a64 *insn, bool vector)
{
    bool load = !bit(insn->word, 29);

    a64_access(insn, load ? SPE_OPERATION_LOAD : SPE_OPERATION_STORE, SPE_REGISTERS_SVE,
               vector_bytes(insn) / (vector ? 1 : 8));
    insn->operation.advsimd_equivalent = vector;
    insn->operation.predicate_operand = !vector;
    insn->operation.predicate_only = !vector;
    insn->operation.predicate_bits = vector ? 0 : insn->operation.vl_bits / 8;
    scalar_plus_vectors(insn, signed_bits(insn->word, 21, 16) * 8 + bits(insn->word, 12, 10));
    return true;
}

static bool whole_vector(struct spe_a64 *insn)
{
    return whole_register(insn, true);
}

static bool whole_predicate(struct spe_a64 *insn)
{
    return whole_register(insn, false);
}

/* ---- 32-bit gather -------------------------------------------------------------------------- */

/* Bits 24:23 are msz, U is bit 14. Lanes of their own size have no sign to extend. */
static bool gather(struct spe_a64 *insn, unsigned size)
{
    unsigned msz = bits(insn->word, 24, 23);

    transfer(insn, true, msz, size);
    return msz < size || (msz == size && bit(insn->word, 14));
}

static bool gather_32_offsets(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);
    bool allocated = gather(insn, W);

    scalar_plus_vector(insn, xs(bit(insn->word, 22)), bit(insn->word, 21) ? msz : 0);
    return allocated;
}

static bool gather_32_vector(struct spe_a64 *insn)
{
    bool allocated = gather(insn, W);

    vector_plus_imm5(insn, bits(insn->word, 24, 23));
    return allocated;
}

/* LDNT1: U is bit 13 here */
static bool gather_32_nontemporal(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);

    transfer(insn, true, msz, W);
    vector_plus_scalar(insn);
    return msz < W || (msz == W && bit(insn->word, 13));
}

/* dtypeh:dtypel, as of contiguous loads: which sizes */
struct dtype {
    uint8_t msz, size;
};

static const struct dtype dtypes[16] = {
    {B, B}, {B, H}, {B, W}, {B, D}, {W, D}, {H, H}, {H, W}, {H, D},
    {H, D}, {H, W}, {W, W}, {W, D}, {B, D}, {B, W}, {B, H}, {D, D},
};

static bool replicate_one(struct spe_a64 *insn)
{
    struct dtype t = dtypes[bits(insn->word, 24, 23) * 4 + bits(insn->word, 14, 13)];

    transfer(insn, true, t.msz, t.size);
    insn->bytes = 1u << t.msz;
    scalar_plus_bytes(insn, (int64_t)bits(insn->word, 21, 16) << t.msz);
    return true;
}

/* ---- Prefetch ------------------------------------------------------------------------------- */

static bool prefetch_imm6(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 14, 13);

    prefetch(insn, msz, msz);
    scalar_plus_vectors(insn, signed_bits(insn->word, 21, 16));
    return true;
}

static bool prefetch_scalar(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);

    prefetch(insn, msz, msz);
    scalar_plus_scalar(insn, msz);
    return bits(insn->word, 20, 16) != 31;
}

static void prefetch_gather(struct spe_a64 *insn, unsigned msz)
{
    prefetch(insn, msz > W && !bit(insn->word, 30) ? W : msz, bit(insn->word, 30) ? D : W);
    insn->element_bytes = (uint8_t)(1u << msz);
    insn->bytes = 0;
}

static bool prefetch_offsets(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 14, 13);

    prefetch_gather(insn, msz);
    scalar_plus_vector(insn, bit(insn->word, 15) ? LSL : xs(bit(insn->word, 22)), msz);
    return true;
}

static bool prefetch_vector(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);

    prefetch_gather(insn, msz);
    vector_plus_imm5(insn, msz);
    return true;
}

/* ---- Contiguous load ------------------------------------------------------------------------ */

/* LD1RQ, LD1RO: 16 or 32 bytes, in lanes of msz */
static bool replicate_block(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);
    uint32_t block = bit(insn->word, 21) ? 32 : 16;

    transfer(insn, true, msz, msz);
    insn->bytes = block;
    if (bit(insn->word, 13))
        scalar_plus_bytes(insn, signed_bits(insn->word, 19, 16) * block);
    else
        scalar_plus_scalar(insn, msz);
    return !bit(insn->word, 22) &&
           (bit(insn->word, 13) ? !bit(insn->word, 20) : bits(insn->word, 20, 16) != 31);
}

static struct dtype contiguous_dtype(const struct spe_a64 *insn)
{
    return dtypes[bits(insn->word, 24, 21)];
}

static bool load_scalar(struct spe_a64 *insn)
{
    struct dtype t = contiguous_dtype(insn);

    contiguous(insn, true, t.msz, t.size, 1);
    scalar_plus_scalar(insn, t.msz);
    return bits(insn->word, 20, 16) != 31;
}

/* LDFF1: Xm may be XZR */
static bool load_first_fault(struct spe_a64 *insn)
{
    load_scalar(insn);
    return true;
}

/* LD1; LDNF1 */
static bool load_imm(struct spe_a64 *insn)
{
    struct dtype t = contiguous_dtype(insn);

    contiguous(insn, true, t.msz, t.size, 1);
    scalar_plus_imm4(insn);
    return true;
}

/* LDNT1, LD2 to LD4 and the stores: bits 22:21 are the number of vectors less one */
static bool structures_scalar(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);

    contiguous(insn, !bit(insn->word, 30), msz, msz, 1 + bits(insn->word, 22, 21));
    scalar_plus_scalar(insn, msz);
    return bits(insn->word, 20, 16) != 31;
}

static bool structures_imm(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);

    contiguous(insn, !bit(insn->word, 30), msz, msz, 1 + bits(insn->word, 22, 21));
    scalar_plus_imm4(insn);
    return true;
}

/* LD2Q to LD4Q: bits 24:23 are the number of vectors less one */
static bool load_quadwords(struct spe_a64 *insn)
{
    contiguous(insn, true, Q, Q, 1 + bits(insn->word, 24, 23));
    if (bit(insn->word, 13))
        scalar_plus_imm4(insn);
    else
        scalar_plus_scalar(insn, Q);
    return bits(insn->word, 24, 23) != 0 && (bit(insn->word, 13) || bits(insn->word, 20, 16) != 31);
}

/* LD1W, LD1D of one element in each quadword: bit 23 is D */
static bool load_in_quadwords(struct spe_a64 *insn)
{
    unsigned msz = bit(insn->word, 23) ? D : W;

    contiguous(insn, true, msz, Q, 1);
    if (bit(insn->word, 13))
        scalar_plus_imm4(insn);
    else
        scalar_plus_scalar(insn, msz);
    return bit(insn->word, 13) || bits(insn->word, 20, 16) != 31;
}

/* ---- 64-bit gather -------------------------------------------------------------------------- */

static bool gather_64_offsets(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);
    bool allocated = gather(insn, D);

    scalar_plus_vector(insn, bit(insn->word, 15) ? LSL : xs(bit(insn->word, 22)),
                       bit(insn->word, 21) ? msz : 0);
    return allocated && !(bit(insn->word, 21) && msz == B); /* bytes are not scaled */
}

static bool gather_64_vector(struct spe_a64 *insn)
{
    bool allocated = gather(insn, D);

    vector_plus_imm5(insn, bits(insn->word, 24, 23));
    return allocated;
}

static bool gather_64_nontemporal(struct spe_a64 *insn)
{
    bool allocated = gather(insn, D);

    vector_plus_scalar(insn);
    return allocated;
}

/* LD1Q, ST1Q: addresses in the low half of each quadword */
static bool quadwords_by_vector(struct spe_a64 *insn)
{
    transfer(insn, !bit(insn->word, 29), Q, Q);
    vector_plus_scalar(insn);
    return true;
}

/* ---- Stores --------------------------------------------------------------------------------- */

/* msz and size; W and D of one element in each quadword are where narrower lanes would be */
static bool store_type(const struct spe_a64 *insn, struct dtype *t)
{
    unsigned msz = bits(insn->word, 24, 23), size = bits(insn->word, 22, 21);

    if (size < msz) {
        *t = (struct dtype){(uint8_t)msz, Q};
        return (msz == W && size == B) || (msz == D && size == W);
    }
    *t = (struct dtype){(uint8_t)msz, (uint8_t)size};
    return true;
}

static bool store_scalar(struct spe_a64 *insn)
{
    struct dtype t;
    bool allocated = store_type(insn, &t);

    contiguous(insn, false, t.msz, t.size, 1);
    scalar_plus_scalar(insn, t.msz);
    return allocated && bits(insn->word, 20, 16) != 31;
}

static bool store_imm(struct spe_a64 *insn)
{
    struct dtype t;
    bool allocated = store_type(insn, &t);

    contiguous(insn, false, t.msz, t.size, 1);
    scalar_plus_imm4(insn);
    return allocated;
}

/* ST2Q to ST4Q: bits 23:22 are the number of vectors less one */
static bool store_quadwords(struct spe_a64 *insn)
{
    bool imm = !bit(insn->word, 21);

    contiguous(insn, false, Q, Q, 1 + bits(insn->word, 23, 22));
    if (imm)
        scalar_plus_imm4(insn);
    else
        scalar_plus_scalar(insn, Q);
    return bits(insn->word, 23, 22) != 0 &&
           (imm ? !bit(insn->word, 20) : bits(insn->word, 20, 16) != 31);
}

/* Bits 22:21: 64-bit lanes, scaled, 32-bit lanes, scaled. xs is bit 14. */
static bool scatter_offsets_32(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23), size = bit(insn->word, 22) ? W : D;
    bool scaled = bit(insn->word, 21);

    transfer(insn, false, msz, size);
    scalar_plus_vector(insn, xs(bit(insn->word, 14)), scaled ? msz : 0);
    return msz <= size && !(scaled && msz == B);
}

static bool scatter_offsets_64(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23);
    bool scaled = bit(insn->word, 21);

    transfer(insn, false, msz, D);
    scalar_plus_vector(insn, LSL, scaled ? msz : 0);
    return !(scaled && msz == B);
}

static bool scatter_vector(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23), size = bit(insn->word, 21) ? W : D;

    transfer(insn, false, msz, size);
    vector_plus_imm5(insn, msz);
    return msz <= size;
}

static bool scatter_nontemporal(struct spe_a64 *insn)
{
    unsigned msz = bits(insn->word, 24, 23), size = bit(insn->word, 22) ? W : D;

    transfer(insn, false, msz, size);
    vector_plus_scalar(insn);
    return msz <= size;
}

static const struct a64_group groups[] = {
    /* 32-bit gather and unsized contiguous */
    {0xffe08010, 0x84200000, prefetch_offsets},
    {0xffe08010, 0x84600000, prefetch_offsets},
    {0xffc0e010, 0x85800000, whole_predicate},
    {0xffc0e000, 0x85804000, whole_vector},
    {0xffc08010, 0x85c00000, prefetch_imm6},
    {0xffa08000, 0x84a00000, gather_32_offsets}, /* halfwords, scaled */
    {0xffa08000, 0x85200000, gather_32_offsets}, /* words, scaled */
    {0xfe208000, 0x84000000, gather_32_offsets},
    {0xfe408000, 0x84408000, replicate_one},
    {0xfe60e010, 0x8400c000, prefetch_scalar},
    {0xfe60e010, 0x8400e000, prefetch_vector},
    {0xfe60c000, 0x84008000, gather_32_nontemporal},
    {0xfe608000, 0x84208000, gather_32_vector},
    /* contiguous load */
    {0xff70e000, 0xa5102000, load_in_quadwords},
    {0xfe00c000, 0xa4000000, replicate_block},
    {0xfe00e000, 0xa4004000, load_scalar},
    {0xfe00e000, 0xa4006000, load_first_fault},
    {0xfe00e000, 0xa400a000, load_imm},
    {0xfe00e000, 0xa400c000, structures_scalar},
    {0xfe10e000, 0xa400e000, structures_imm},
    {0xfe60e000, 0xa4208000, load_quadwords},
    {0xfe70e000, 0xa410e000, load_quadwords},
    {0xff60e000, 0xa5008000, load_in_quadwords},
    /* 64-bit gather */
    {0xffa08010, 0xc4200000, prefetch_offsets},
    {0xffe08010, 0xc4608000, prefetch_offsets},
    {0xffe0e000, 0xc400a000, quadwords_by_vector},
    {0xfe60e010, 0xc400e000, prefetch_vector},
    {0xfe60a000, 0xc4008000, gather_64_nontemporal},
    {0xfe608000, 0xc4208000, gather_64_vector},
    {0xfe008000, 0xc4000000, gather_64_offsets},
    {0xfe408000, 0xc4408000, gather_64_offsets},
    /* stores */
    {0xffc0e010, 0xe5800000, whole_predicate},
    {0xffc0e000, 0xe5804000, whole_vector},
    {0xff00e000, 0xe4000000, store_quadwords},
    {0xfe00e000, 0xe4004000, store_scalar},
    {0xfe00e000, 0xe4006000, structures_scalar},
    {0xfe10e000, 0xe400e000, store_imm},
    {0xfe10e000, 0xe410e000, structures_imm},
    {0xfe00a000, 0xe4008000, scatter_offsets_32},
    {0xfe40e000, 0xe400a000, scatter_offsets_64},
    {0xfe40e000, 0xe440a000, scatter_vector},
    {0xffe0e000, 0xe4202000, quadwords_by_vector},
    {0xfe20e000, 0xe4002000, scatter_nontemporal},
};

bool a64_sve_memory(struct spe_a64 *insn)
{
    return a64_decode(insn, groups, COUNT_OF(groups));
}
