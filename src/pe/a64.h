/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Inside the A64 classifier. Each file decodes one top-level encoding group of Arm ARM C4.1, whose
 * sections and names it follows. Two shapes do it all:
 *
 *   groups   tables of {mask, value, decoder}: which encoding group a word belongs to
 *   rows     tables of {mask, value, sizes, facts}: what an instruction of a group is
 *
 * A decoder fills in what its group decides and returns whether the word is allocated.
 */
#ifndef PE_A64_H
#define PE_A64_H

#include "base/bits.h"
#include "base/count_of.h"
#include "specimen/pe.h"

static inline bool bit(uint32_t word, unsigned n)
{
    return word >> n & 1;
}

static inline int64_t signed_bits(uint32_t word, unsigned high, unsigned low)
{
    uint64_t sign = UINT64_C(1) << (high - low);

    return (int64_t)((bits(word, high, low) ^ sign) - sign);
}

struct a64_group {
    uint32_t mask, value;
    bool (*decode)(struct spe_a64 *insn);
};

/* The first group that the word matches decides; a word of no group is not allocated. */
bool a64_decode(struct spe_a64 *insn, const struct a64_group *groups, size_t count);

/* Facts of data processing, or-ed. */
enum {
    A64_FP = 1u << 0,         /* floating_point */
    A64_ASIMD = 1u << 1,      /* advanced_simd */
    A64_SVE = 1u << 2,        /* kind */
    A64_SME_VECTOR = 1u << 3, /* kind */
    A64_SME_TILE = 1u << 4,   /* kind */
    A64_GOVERNED = 1u << 5,   /* predicated, and so with a predicate operand */
    A64_PREDICATE = 1u << 6,  /* predicate_operand */
    A64_ONLY_PREDICATES = 1u << 7,
    A64_COUNTER = 1u << 8,    /* predicate-as-counter */
    A64_SAME_ASIMD = 1u << 9, /* advsimd_equivalent */
    A64_ZT = 1u << 10,
    A64_UNALLOCATED = 1u << 11, /* what a later row would take in */
    A64_VECTORS_2 = 1u << 12,   /* the output's number of vectors, if more than one */
    A64_VECTORS_4 = 1u << 13,
    A64_VECTORS_8 = 1u << 14,
    A64_VECTORS_16 = 1u << 15,
    A64_TILE_H = 1u << 16, /* size of the elements of a ZA tile */
    A64_TILE_S = 1u << 17,
    A64_TILE_D = 1u << 18,
    A64_MULTIPLE = 1u << 19, /* several vectors in, one out: multi_vector */
};

enum { A64_ANY_SIZE = 0xf };

struct a64_row {
    uint32_t mask, value;
    uint8_t sizes;  /* set of the values that bits 23:22 may have */
    uint32_t facts; /* A64_* */
};

const struct a64_row *a64_find(uint32_t word, const struct a64_row *rows, size_t count);
bool a64_data_processing(struct spe_a64 *insn, const struct a64_row *rows, size_t count);

/* Is N:imms (with any immr) a bitmask immediate? DecodeBitMasks(). */
bool a64_is_bitmask(bool n, uint32_t imms);

/* Allocated, and nothing else to say. */
bool a64_other(struct spe_a64 *insn);

/* An operation of `kind` on memory. */
void a64_access(struct spe_a64 *insn, enum spe_operation_kind kind,
                enum spe_operation_registers registers, uint32_t bytes);

/* C4.1.x, the top-level groups */
bool a64_sme(struct spe_a64 *insn);
bool a64_sve(struct spe_a64 *insn);
bool a64_immediate(struct spe_a64 *insn);
bool a64_branch(struct spe_a64 *insn);
bool a64_system(struct spe_a64 *insn);
bool a64_register(struct spe_a64 *insn);
bool a64_simd(struct spe_a64 *insn);
bool a64_memory(struct spe_a64 *insn);
bool a64_sve_memory(struct spe_a64 *insn);

#endif
