/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Any word under any registers: classified and evaluated without surprises. Sizes and addresses
 * are those of an instruction, registers are asked for by numbers that exist, what is not known is
 * not claimed, and the unit can make a sample of the result.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/pe.h>

#include "require.h"

/* The input: the vector length, flags, the PC, a seed for the registers, then words. */
struct head {
    uint8_t vl, nzcv, known, block;
    uint64_t pc, seed;
};

enum { KNOWS_X = 1, KNOWS_NZCV = 2, KNOWS_Z = 4, KNOWS_P = 8 };

struct file {
    struct head head;
    uint32_t vl_bits;
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 27;
}

static uint64_t read_x(void *user, unsigned n)
{
    const struct file *f = user;

    REQUIRE(n <= 31);
    /* Now and then an edge of the address space. */
    return f->head.seed >> n & 1 ? mix(f->head.seed + n) : f->head.seed << n >> 4;
}

static unsigned read_nzcv(void *user)
{
    return ((const struct file *)user)->head.nzcv & 15;
}

static void fill(const struct file *f, unsigned n, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = f->head.seed & 1 ? (uint8_t)mix(f->head.seed + n * 256 + i)
                                  : (uint8_t)(f->head.seed >> 1);
}

static bool read_z(void *user, unsigned n, uint8_t *out, size_t size)
{
    const struct file *f = user;

    REQUIRE(n <= 31 && size == f->vl_bits / 8);
    fill(f, n, out, size);
    return f->head.known & KNOWS_Z;
}

static bool read_p(void *user, unsigned n, uint8_t *out, size_t size)
{
    const struct file *f = user;

    REQUIRE(n <= 15 && size == f->vl_bits / 64);
    fill(f, n, out, size);
    return f->head.known & KNOWS_P;
}

/* ---- What holds of every instruction -------------------------------------------------------- */

static void check_class(const struct spe_a64 *insn, uint32_t word)
{
    REQUIRE(insn->word == word);
    REQUIRE(insn->operation.kind <= SPE_OPERATION_WFX);
    REQUIRE(insn->allocated || insn->operation.kind == SPE_OPERATION_OTHER);
    REQUIRE(insn->allocated || (!insn->load && !insn->store && !insn->branch));
    REQUIRE(!insn->branch || insn->ends_block);
    REQUIRE(!insn->writes_memory_unconditionally || insn->store);
    REQUIRE(insn->base <= 31 || insn->base == SPE_A64_NO_REGISTER);
    REQUIRE(insn->predicate <= 15 && insn->condition <= 15);
    REQUIRE(insn->bytes <= 4096 && insn->element_bytes <= 16 && insn->lane_bytes <= 16);
    if (insn->direct)
        REQUIRE(insn->branch && insn->displacement % 4 == 0 &&
                insn->displacement >= -(INT64_C(1) << 27) && insn->displacement < INT64_C(1) << 27);
}

/* Memory Copy and Set take their size from a register; everything else is small. */
static bool is_mops(const struct spe_operation *op)
{
    return op->kind == SPE_OPERATION_MEMCPY || op->kind == SPE_OPERATION_MEMSET;
}

static void check_accesses(const struct spe_operation *op, const struct spe_memory_access *accesses)
{
    REQUIRE(op->access_count <= SPE_A64_ACCESSES_MAX);
    REQUIRE(op->access_count == 0 || op->accesses == accesses);
    for (uint32_t i = 0; i < op->access_count; i++)
        REQUIRE(is_mops(op) || accesses[i].bytes <= 4096);
}

static void check_knowledge(const struct spe_a64 *insn, const struct spe_operation *op,
                            const struct spe_a64_registers *r, unsigned known)
{
    REQUIRE(!(known & SPE_A64_KNOWS_BRANCH) || insn->branch);
    REQUIRE(!(known & SPE_A64_KNOWS_BRANCH) || insn->direct || r->x);
    REQUIRE(!(known & SPE_A64_KNOWS_BRANCH) || !insn->direct ||
            op->target == op->pc + (uint64_t)insn->displacement);
    REQUIRE(!(known & SPE_A64_KNOWS_CONDITION) || r->nzcv || r->x);
    REQUIRE(!(known & SPE_A64_KNOWS_PREDICATE) || r->p);
    REQUIRE(!op->empty_predicate || op->partial_predicate);
}

/* ---- The unit's opinion --------------------------------------------------------------------- */

static struct spe_spu *make_unit(void)
{
    struct spe_spu_config config;
    struct spe_spu *spu;

    REQUIRE(spe_spu_config_init(&config, NULL) == SPE_OK);
    REQUIRE(spe_spu_create(&config, NULL, &spu, NULL, 0) == SPE_OK);
    spe_spu_reg_set(spu, SPE_REG_PMSIRR_EL1, 1 << 8);
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL1, 1);
    spe_spu_reg_set(spu, SPE_REG_PMBLIMITR_EL1, 5); /* discard: there is no memory */
    return spu;
}

static void sample(struct spe_spu *spu, const struct spe_operation *op)
{
    REQUIRE(spe_spu_advance(spu, spe_spu_budget(spu)) == SPE_OK);
    while (spe_spu_step(spu, 0) == 0)
        REQUIRE(spe_spu_budget(spu) < 1024);
    REQUIRE(spe_spu_sample(spu, op) == SPE_FATE_DISCARD_MODE);
}

static void one_word(struct spe_spu *spu, struct file *file, uint32_t word)
{
    struct spe_a64_registers r = {
        .size = sizeof(r),
        .user = file,
        .x = file->head.known & KNOWS_X ? read_x : NULL,
        .nzcv = file->head.known & KNOWS_NZCV ? read_nzcv : NULL,
        .z = read_z,
        .p = read_p,
        .zva_bytes = 4u << file->head.block % 10,
        .tag_bytes = 32u << file->head.block % 4,
    };
    struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX];
    struct spe_operation op;
    struct spe_a64 insn;
    unsigned known;

    spe_a64_classify(word, file->vl_bits, &insn);
    check_class(&insn, word);
    known = spe_a64_evaluate(&insn, file->head.pc, &r, &op, accesses);
    check_accesses(&op, accesses);
    check_knowledge(&insn, &op, &r, known);
    sample(spu, &op);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct spe_spu *spu;
    struct file file;

    if (size < sizeof(file.head))
        return 0;
    if (!spu)
        spu = make_unit();
    memcpy(&file.head, data, sizeof(file.head));
    file.vl_bits = 128u << file.head.vl % 5;
    for (size_t at = sizeof(file.head); at + 4 <= size && at < 4096; at += 4) {
        uint32_t word;

        memcpy(&word, data + at, 4);
        one_word(spu, &file, word);
    }
    return 0;
}
