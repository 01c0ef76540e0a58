/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.7: the Operation Type packet; D17.5.1: the types that the filter looks at. */
#include "collect.h"

#define EVL_MAX_BITS 2048

/* Sampled effective vector length, in bits (DWRNLK). What lies above VL is not part of it. */
static uint64_t vector_length(const struct spe_operation *op)
{
    uint64_t bits = op->vector_bits ? op->vector_bits : op->vl_bits;

    if (op->predicate_only)
        return op->predicate_as_counter ? op->vl_bits : (uint64_t)op->predicate_bits * 8;
    return op->vl_bits && bits > op->vl_bits ? op->vl_bits : bits;
}

/* IXYGNN: a micro-operation works on no more than this of it. */
static uint32_t split(const struct collector *c, uint64_t bits)
{
    if (c->config->simd_split_bits && bits > c->config->simd_split_bits)
        return c->config->simd_split_bits;
    return bits > UINT32_MAX ? UINT32_MAX : (uint32_t)bits;
}

static uint32_t length_of_vectors(const struct collector *c)
{
    uint64_t vectors = c->op->vectors ? c->op->vectors : 1;
    uint64_t bits = vector_length(c->op);

    return split(c, bits > UINT32_MAX / vectors ? UINT32_MAX : bits * vectors);
}

/* RMDBYZ, RJCLMP: all vectors with FEAT_SPE_SME, else one of them. */
static uint8_t vector_evl(const struct collector *c)
{
    uint32_t one = split(c, vector_length(c->op));

    if (has(c, SPE_FEAT_SPE_SME))
        return (uint8_t)spe_evl_from_bits(length_of_vectors(c));
    return (uint8_t)spe_evl_from_bits(one > EVL_MAX_BITS ? EVL_MAX_BITS : one);
}

/* RDDCQB */
static bool is_advsimd(const struct collector *c, unsigned type)
{
    const struct spe_operation *op = c->op;

    return (c->config->sve128_as & type) && split(c, vector_length(op)) == 128 && !op->predicated &&
           !op->predicate_operand && op->advsimd_equivalent;
}

static void type_other(const struct collector *c, struct spe_op *t, bool advanced_simd)
{
    t->kind = SPE_OP_OTHER;
    t->cond = is_conditional(c);
    if (has(c, SPE_FEAT_SPE_FPF)) {
        t->ase = advanced_simd;
        t->fp = c->op->floating_point;
    }
}

static bool has_sve_vectors(const struct collector *c)
{
    return has(c, SPE_FEAT_SPEv1p1) && has(c, SPE_FEAT_SVE); /* X15 */
}

static void type_sve_vector(const struct collector *c, struct spe_op *t, bool predicated)
{
    t->kind = SPE_OP_SVE;
    t->evl = vector_evl(c);
    t->pred = predicated;
    t->fp = c->op->floating_point;
}

static void type_sve(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;
    bool sme = has(c, SPE_FEAT_SPE_SME);

    if (is_advsimd(c, SPE_SVE128_DP))
        type_other(c, t, true);
    else if (!has_sve_vectors(c) || (!sme && op->uses_zt && c->config->zt_op_as == SPE_AS_OTHER) ||
             (!sme && op->multi_vector && c->config->multivec_op_as == SPE_AS_OTHER))
        type_other(c, t, false);
    else
        type_sve_vector(c, t, op->predicated);
}

/* RCYBGV, RLQXZR */
static void type_sme(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;
    bool tile = c->kind == SPE_OPERATION_SME_TILE;
    bool whole =
        op->whole_za || (op->masked_zero && c->config->zero_masked_ets == SPE_ETS_MASKED_WHOLE);

    if (!tile && is_advsimd(c, SPE_SVE128_DP)) {
        type_other(c, t, true);
        return;
    }
    if (!has(c, SPE_FEAT_SPE_SME)) {
        type_other(c, t, false);
        return;
    }
    t->kind = SPE_OP_SME;
    t->fp = op->floating_point;
    if (tile && whole)
        t->ets = SPE_ETS_WHOLE;
    else
        t->ets = (uint8_t)spe_ets_from_bits(tile ? split(c, op->tile_bits) : length_of_vectors(c));
}

/* D18.2-127: a load counts as predicated only if it zeroes what it does not load, and only with
 * FEAT_SPEv1p2. */
static void type_sve_ldst(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;

    t->evl = vector_evl(c);
    t->sg = op->gather_scatter;
    t->pred = op->predicated && (c->writes || (op->zeroing && has(c, SPE_FEAT_SPEv1p2)));
}

static uint8_t vector_ldst_kind(const struct collector *c)
{
    bool sme = c->op->registers == SPE_REGISTERS_SME;

    if (!has(c, SPE_FEAT_SPEv1p1) || !(has(c, SPE_FEAT_SVE) || has(c, SPE_FEAT_SME)) ||
        is_advsimd(c, SPE_SVE128_LDST))
        return SPE_OP_SIMD_FP;
    if (sme && !has(c, SPE_FEAT_SPE_SME) && c->config->sme_ldst_as == SPE_SME_LDST_UNSPECIFIED)
        return SPE_OP_UNSPECIFIED;
    return SPE_OP_SVE_LDST;
}

/* U11: what has no subclass of its own before FEAT_SPEv1p3. */
static uint8_t plain_kind(const struct collector *c)
{
    return c->config->pre_v1p3_tag_mops_as == SPE_AS_GENERAL ? SPE_OP_GP : SPE_OP_UNSPECIFIED;
}

static uint8_t ldst_kind(const struct collector *c)
{
    const struct spe_operation *op = c->op;

    switch (op->registers) {
    case SPE_REGISTERS_SVE:
    case SPE_REGISTERS_SME:
        return vector_ldst_kind(c);
    case SPE_REGISTERS_TAG:
        return has(c, SPE_FEAT_SPEv1p3) && has(c, SPE_FEAT_MTE) ? SPE_OP_TAG : plain_kind(c);
    case SPE_REGISTERS_TAG_DATA:
        return c->config->tag_data_store_as == SPE_AS_GENERAL ? SPE_OP_GP : SPE_OP_UNSPECIFIED;
    case SPE_REGISTERS_NV2:
        return has(c, SPE_FEAT_NV2) ? SPE_OP_NV2 : SPE_OP_GP;
    case SPE_REGISTERS_UNSPECIFIED:
        return has(c, SPE_FEAT_SPEv1p1) ? SPE_OP_UNSPECIFIED : SPE_OP_GP;
    default:
        if (op->acquire_release || op->exclusive)
            return SPE_OP_EXTENDED;
        return op->registers == SPE_REGISTERS_GENERAL ? SPE_OP_GP : SPE_OP_SIMD_FP;
    }
}

static uint8_t mops_kind(const struct collector *c, uint8_t own)
{
    return has(c, SPE_FEAT_SPEv1p3) && has(c, SPE_FEAT_MOPS) ? own : plain_kind(c);
}

static void type_ldst(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;

    switch (c->kind) {
    case SPE_OPERATION_ATOMIC:
        t->kind = SPE_OP_EXTENDED;
        t->at = true;
        break;
    case SPE_OPERATION_MEMCPY:
        t->kind = mops_kind(c, SPE_OP_MEMCPY);
        break;
    case SPE_OPERATION_MEMSET:
        t->kind = mops_kind(c, SPE_OP_MEMSET);
        break;
    case SPE_OPERATION_GCS:
        t->kind = has_gcs_types(c) ? SPE_OP_GCS : SPE_OP_GP;
        t->comm = !op->link && !op->procedure_return;
        break;
    case SPE_OPERATION_DC_ZVA:
        t->kind = SPE_OP_UNSPECIFIED;
        break;
    default:
        t->kind = ldst_kind(c);
    }
    if (t->kind == SPE_OP_SVE_LDST)
        type_sve_ldst(c, t);
    t->ar = op->acquire_release;
    t->excl = op->exclusive;
    t->store = c->writes;
}

static void type_branch(const struct collector *c, struct spe_op *t)
{
    const struct spe_operation *op = c->op;

    t->kind = SPE_OP_BRANCH;
    t->cond = is_conditional(c);
    t->ind = op->kind == SPE_OPERATION_ERET || (op->kind == SPE_OPERATION_BRANCH && op->indirect);
    t->gcs = c->gcs_branch;
    if (has(c, SPE_FEAT_SPE_CRR))
        t->cr = op->link ? SPE_CR_LINK : op->procedure_return ? SPE_CR_RETURN : SPE_CR_NEITHER;
}

static void type_of(const struct collector *c, struct spe_op *t)
{
    switch (c->kind) {
    case SPE_OPERATION_BRANCH:
        type_branch(c, t);
        break;
    case SPE_OPERATION_SVE:
        type_sve(c, t);
        break;
    case SPE_OPERATION_SME_VECTOR:
    case SPE_OPERATION_SME_TILE:
        type_sme(c, t);
        break;
    case SPE_OPERATION_SVE_PREFETCH: /* RBHKSC: it writes no vector, so PRED is 0 */
        if (c->config->sve_prefetch_as == SPE_PREFETCH_SVE_VECTOR && has_sve_vectors(c))
            type_sve_vector(c, t, false);
        else
            type_other(c, t, false);
        break;
    default:
        if (c->data)
            type_ldst(c, t);
        else
            type_other(c, t, c->op->advanced_simd);
    }
}

/* ---- Types for the filter (D17.5.1) --------------------------------------------------------- */

static unsigned direction_types(const struct collector *c)
{
    bool swaps =
        c->op->returns_value && (c->kind == SPE_OPERATION_ATOMIC || c->kind == SPE_OPERATION_GCS);

    if (swaps)
        return SPU_TYPE_LD | SPU_TYPE_ST;
    return c->writes ? SPU_TYPE_ST : SPU_TYPE_LD;
}

static unsigned register_types(const struct spe_operation *op)
{
    switch (op->registers) {
    case SPE_REGISTERS_FP:
        return SPU_TYPE_FP;
    case SPE_REGISTERS_SIMD:
    case SPE_REGISTERS_SVE:
    case SPE_REGISTERS_SME:
        return SPU_TYPE_SIMD;
    default:
        return 0;
    }
}

static unsigned filter_types(const struct collector *c)
{
    const struct spe_operation *op = c->op;
    unsigned fp = op->floating_point ? SPU_TYPE_FP : 0;

    switch (c->kind) {
    case SPE_OPERATION_BRANCH:
        return SPU_TYPE_B | (c->gcs_branch ? direction_types(c) : 0);
    case SPE_OPERATION_LOAD:
    case SPE_OPERATION_STORE:
        return direction_types(c) | register_types(op);
    case SPE_OPERATION_OTHER:
        return op->address_generation ? 0 : fp | (op->advanced_simd ? SPU_TYPE_SIMD : 0);
    case SPE_OPERATION_SVE:
    case SPE_OPERATION_SME_VECTOR:
    case SPE_OPERATION_SME_TILE:
        return fp | SPU_TYPE_SIMD;
    default:
        return c->data ? direction_types(c) : 0;
    }
}

/* ---- Both ----------------------------------------------------------------------------------- */

void spu_put_type(struct collector *c)
{
    struct spe_op t = {0};

    c->sample->types = (uint8_t)filter_types(c);
    if (c->info == SPE_INFO_NONE)
        return;
    type_of(c, &t);
    spe_op_encode(&t);
    c->record->has |= SPE_HAS_OP;
    c->record->op_class = t.class_;
    c->record->op = t.payload;
}
