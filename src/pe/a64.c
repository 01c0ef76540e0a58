/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C4.1: A64 instruction set encoding, the main table. */
#include "pe/a64.h"
#include "base/sized.h"

bool a64_decode(struct spe_a64 *insn, const struct a64_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((insn->word & groups[i].mask) == groups[i].value)
            return groups[i].decode(insn);
    return false;
}

const struct a64_row *a64_find(uint32_t word, const struct a64_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((word & rows[i].mask) == rows[i].value && rows[i].sizes >> bits(word, 23, 22) & 1)
            return &rows[i];
    return NULL;
}

static enum spe_operation_kind kind_of(uint32_t facts)
{
    if (facts & A64_SVE)
        return SPE_OPERATION_SVE;
    if (facts & A64_SME_VECTOR)
        return SPE_OPERATION_SME_VECTOR;
    return facts & A64_SME_TILE ? SPE_OPERATION_SME_TILE : SPE_OPERATION_OTHER;
}

/* The number is one of 2, 4, 8, 16, whose flags are neighbours. */
static void set_vectors(struct spe_operation *op, uint32_t facts)
{
    uint32_t flags = facts / A64_VECTORS_2 & 0xf;

    op->vectors = 2 * flags;
    op->multi_vector = flags || facts & A64_MULTIPLE;
}

/* A tile has as many rows as columns: the vector length over the size of an element. */
static void set_tile(struct spe_operation *op, uint32_t facts)
{
    uint32_t size = facts & A64_TILE_H ? 16 : facts & A64_TILE_S ? 32 : 64;

    op->tile_bits = op->vl_bits / size * op->vl_bits;
}

bool a64_data_processing(struct spe_a64 *insn, const struct a64_row *rows, size_t count)
{
    const struct a64_row *row = a64_find(insn->word, rows, count);
    struct spe_operation *op = &insn->operation;

    if (!row || row->facts & A64_UNALLOCATED)
        return false;
    op->kind = (uint8_t)kind_of(row->facts);
    op->floating_point = row->facts & A64_FP;
    op->advanced_simd = row->facts & A64_ASIMD;
    op->predicated = row->facts & A64_GOVERNED;
    op->predicate_only = row->facts & A64_ONLY_PREDICATES;
    op->predicate_operand = row->facts & (A64_GOVERNED | A64_PREDICATE | A64_ONLY_PREDICATES);
    op->predicate_as_counter = row->facts & A64_COUNTER;
    op->advsimd_equivalent = row->facts & A64_SAME_ASIMD;
    op->uses_zt = row->facts & A64_ZT;
    if (op->predicate_only)
        op->predicate_bits = op->vl_bits / 8;
    if (op->kind == SPE_OPERATION_SME_TILE)
        set_tile(op, row->facts);
    set_vectors(op, row->facts);
    return true;
}

bool a64_other(struct spe_a64 *insn)
{
    (void)insn;
    return true;
}

void a64_access(struct spe_a64 *insn, enum spe_operation_kind kind,
                enum spe_operation_registers registers, uint32_t bytes)
{
    bool atomic = kind == SPE_OPERATION_ATOMIC;

    insn->operation.kind = (uint8_t)kind;
    insn->operation.registers = (uint8_t)registers;
    insn->load = atomic || kind == SPE_OPERATION_LOAD;
    insn->store = atomic || kind == SPE_OPERATION_STORE;
    insn->writes_memory_unconditionally = insn->store;
    insn->operation.contiguous = insn->load || insn->store;
    insn->bytes = bytes;
    insn->address = SPE_A64_BASE;
    insn->base = (uint8_t)bits(insn->word, 9, 5);
}

/* C4.1.2: Reserved. UDF is all that it has. */
static bool reserved(struct spe_a64 *insn)
{
    insn->ends_block = true;
    return bits(insn->word, 31, 16) == 0;
}

static const struct a64_group top[] = {
    {0x9e000000, 0x00000000, reserved},     {0x9e000000, 0x80000000, a64_sme},
    {0x1e000000, 0x04000000, a64_sve},      {0x1c000000, 0x10000000, a64_immediate},
    {0x1c000000, 0x14000000, a64_branch},   {0x0a000000, 0x08000000, a64_memory},
    {0x0e000000, 0x0a000000, a64_register}, {0x0e000000, 0x0e000000, a64_simd},
};

static uint32_t vector_length(uint32_t bits_wanted)
{
    uint32_t vl = 128;

    while (vl < bits_wanted && vl < 2048)
        vl *= 2;
    return vl;
}

static void clear(struct spe_a64 *insn, uint32_t word, uint32_t vl_bits)
{
    *insn = (struct spe_a64){.word = word};
    spe_operation_init(&insn->operation, SPE_OPERATION_OTHER);
    insn->operation.vl_bits = vl_bits;
}

static void classify(uint32_t word, uint32_t vl_bits, struct spe_a64 *insn)
{
    uint32_t vl = vector_length(vl_bits);

    clear(insn, word, vl);
    if (a64_decode(insn, top, COUNT_OF(top))) {
        insn->allocated = true;
    } else {
        clear(insn, word, vl);
        insn->ends_block = true; /* an exception is taken */
    }
}

void spe_a64_classify_sized(uint32_t word, uint32_t vl_bits, struct spe_a64 *insn, size_t size)
{
    struct spe_a64 own;

    if (size == sizeof(own)) {
        classify(word, vl_bits, insn);
        return;
    }
    classify(word, vl_bits, &own);
    sized_give(insn, size, &own, sizeof(own));
}
