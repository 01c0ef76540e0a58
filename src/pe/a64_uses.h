/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Inside spe_a64_uses. Tables of {mask, value, uses} say which fields of an instruction are
 * registers that it reads or writes; the first row that a word matches decides. Words that are not
 * allocated never get here, so masks look only at what tells one use from another.
 *
 * Fields are called D, N, A and M for bits 4:0, 9:5, 14:10 and 20:16, whatever the instruction
 * calls them: the Zm of a destructive SVE operation is USES_VN. USES_TO_ is what is written, all
 * else is read. Numbers are those of registers that follow each other.
 */
#ifndef PE_A64_USES_H
#define PE_A64_USES_H

#include "pe/a64.h"

#define USE(n) (UINT64_C(1) << (n))

/* General-purpose */
#define USES_XD USE(0)
#define USES_XN USE(1)
#define USES_XM USE(2)
#define USES_XA USE(3)
#define USES_XD_2 USE(4)
#define USES_XD_8 USE(5)
#define USES_XM_2 USE(6)
#define USES_W8 USE(7)      /* W8 to W11 by bits 14:13: a vector of ZA */
#define USES_W12 USE(8)     /* W12 to W15 by bits 14:13: a slice of a tile */
#define USES_W12_LOW USE(9) /* W12 to W15 by bits 17:16: PSEL */
#define USES_X15 USE(10)
#define USES_X16 USE(11)
#define USES_X17 USE(12)
#define USES_X30 USE(13)
#define USES_TO_XD USE(14)
#define USES_TO_XN USE(15)
#define USES_TO_XM USE(16)
#define USES_TO_XA USE(17)
#define USES_TO_XD_2 USE(18)
#define USES_TO_XD_8 USE(19)
#define USES_TO_XM_2 USE(20)
#define USES_TO_X16 USE(21)
#define USES_TO_X17 USE(22)
#define USES_TO_X30 USE(23)

/* Flags */
#define USES_NZCV USE(24)
#define USES_TO_NZCV USE(25)

/* Vectors. Lists of two and four are multiples of that in SME, and are not elsewhere. */
#define USES_VD USE(26)
#define USES_VN USE(27)
#define USES_VM USE(28)
#define USES_VA USE(29)
#define USES_VM_BITS_3 USE(30) /* V0 to V7 by bits 18:16 */
#define USES_VM_BITS_4 USE(31) /* V0 to V15 by bits 19:16 */
#define USES_VN_2 USE(32)
#define USES_VN_3 USE(33)
#define USES_VN_4 USE(34)
#define USES_VD_EVEN_2 USE(35)
#define USES_VD_EVEN_4 USE(36)
#define USES_VN_EVEN_2 USE(37)
#define USES_VN_EVEN_4 USE(38)
#define USES_VM_EVEN_2 USE(39)
#define USES_VM_EVEN_4 USE(40)
#define USES_TO_VD USE(41)
#define USES_TO_VA USE(42)
#define USES_TO_VD_EVEN_2 USE(43)
#define USES_TO_VD_EVEN_4 USE(44)
#define USES_TO_VD_APART_2 USE(45) /* Vd and V(d+8) */
#define USES_TO_VD_APART_4 USE(46) /* Vd, V(d+4), V(d+8), V(d+12) */

/* What depends on one more field: replaced by one of the above. */
#define USES_VD_IF_Q USE(47)    /* the upper half is written, the lower kept: XTN2 */
#define USES_VM_ELEMENT USE(48) /* Vm of a vector by an element */

struct uses {
    uint64_t reads, writes;
};

struct uses_row {
    uint32_t mask, value;
    uint64_t uses; /* USES_* */
};

static inline uint64_t uses_x(unsigned n)
{
    return n < 31 ? UINT64_C(1) << n : 0;
}

/* Vectors from Vn on, `step` apart, after V31 comes V0. */
static inline uint64_t uses_vectors(unsigned n, unsigned count, unsigned step)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < count; i++)
        all |= UINT64_C(1) << (32 + (n + i * step) % 32);
    return all;
}

/* The uses of the first row that the word matches; 0 if there is none. */
uint64_t uses_find(uint32_t word, const struct uses_row *rows, size_t count);

/* The registers that the word has in those fields. */
struct uses uses_registers(uint32_t word, uint64_t uses);

/* C4.1.x, the top-level groups */
struct uses uses_memory(uint32_t word);
struct uses uses_simd(uint32_t word);
struct uses uses_sve(uint32_t word);
struct uses uses_sve_memory(const struct spe_a64 *insn);
struct uses uses_sme(uint32_t word);

#endif
