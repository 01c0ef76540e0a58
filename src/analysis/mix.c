/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The operation mix: Operation Types (D18.2.7) in a few words each. */
#include "analysis/mix.h"

enum {
    KIND_GENERAL,
    KIND_SIMD_FP,
    KIND_SVE_LDST,
    KIND_GATHER,
    KIND_ATOMIC,
    KIND_EXCLUSIVE,
    KIND_ORDERED,
    KIND_EXTENDED,
    KIND_COPY,
    KIND_SET,
    KIND_TAGS,
    KIND_NESTED,
    KIND_STACK,
    KIND_UNSPECIFIED,
    KIND_CONDITIONAL,
    KIND_DIRECT,
    KIND_INDIRECT,
    KIND_CALL,
    KIND_INDIRECT_CALL,
    KIND_RETURN,
    KIND_VECTOR,
    KIND_SVE,
    KIND_SME,
    KIND_SELECT,
    KIND_PLAIN,
    KIND_RESERVED,
};

static const char *const kind_names[MIX_KINDS] = {
    [KIND_GENERAL] = "general-purpose",
    [KIND_SIMD_FP] = "SIMD and floating-point",
    [KIND_SVE_LDST] = "SVE and SME",
    [KIND_GATHER] = "SVE gather and scatter",
    [KIND_ATOMIC] = "atomic",
    [KIND_EXCLUSIVE] = "exclusive",
    [KIND_ORDERED] = "acquire and release",
    [KIND_EXTENDED] = "extended, none of these",
    [KIND_COPY] = "memory copy",
    [KIND_SET] = "memory set",
    [KIND_TAGS] = "allocation tags",
    [KIND_NESTED] = "nested virtualization",
    [KIND_STACK] = "guarded control stack",
    [KIND_UNSPECIFIED] = "unspecified registers",
    [KIND_CONDITIONAL] = "conditional",
    [KIND_DIRECT] = "direct",
    [KIND_INDIRECT] = "indirect",
    [KIND_CALL] = "calls",
    [KIND_INDIRECT_CALL] = "indirect calls",
    [KIND_RETURN] = "returns",
    [KIND_VECTOR] = "SIMD and floating-point",
    [KIND_SVE] = "SVE",
    [KIND_SME] = "SME",
    [KIND_SELECT] = "conditional selects and compares",
    [KIND_PLAIN] = "all else",
    [KIND_RESERVED] = "reserved encodings",
};

static const char *const class_names[MIX_CLASSES] = {
    [MIX_LOAD] = "loads",
    [MIX_STORE] = "stores",
    [MIX_BRANCH] = "branches",
    [MIX_OTHER] = "other operations",
    [MIX_RESERVED] = "reserved class",
    [MIX_NONE] = "no operation type",
};

const char *mix_class_name(unsigned class_)
{
    return class_names[class_];
}

const char *mix_kind_name(unsigned kind)
{
    return kind_names[kind];
}

enum mix_class mix_class_of(unsigned op)
{
    if (op == OP_NONE)
        return MIX_NONE;
    switch (op >> 8) {
    case SPE_CLASS_LDST: /* bit 0 is ST in every format of the class */
        return op & 1 ? MIX_STORE : MIX_LOAD;
    case SPE_CLASS_BRANCH:
        return MIX_BRANCH;
    case SPE_CLASS_OTHER:
        return MIX_OTHER;
    default:
        return MIX_RESERVED;
    }
}

static unsigned extended_kind(const struct spe_op *op)
{
    return op->at ? KIND_ATOMIC : op->excl ? KIND_EXCLUSIVE : op->ar ? KIND_ORDERED : KIND_EXTENDED;
}

static unsigned branch_kind(const struct spe_op *op)
{
    if (op->cr == SPE_CR_RETURN)
        return KIND_RETURN;
    if (op->cr == SPE_CR_LINK)
        return op->ind ? KIND_INDIRECT_CALL : KIND_CALL;
    return op->cond ? KIND_CONDITIONAL : op->ind ? KIND_INDIRECT : KIND_DIRECT;
}

unsigned mix_kind_of(unsigned number)
{
    static const uint8_t kinds[SPE_OP_KIND_COUNT] = {
        [SPE_OP_RESERVED] = KIND_RESERVED, [SPE_OP_SVE] = KIND_SVE,
        [SPE_OP_SME] = KIND_SME,           [SPE_OP_GP] = KIND_GENERAL,
        [SPE_OP_SIMD_FP] = KIND_SIMD_FP,   [SPE_OP_UNSPECIFIED] = KIND_UNSPECIFIED,
        [SPE_OP_TAG] = KIND_TAGS,          [SPE_OP_NV2] = KIND_NESTED,
        [SPE_OP_MEMCPY] = KIND_COPY,       [SPE_OP_MEMSET] = KIND_SET,
        [SPE_OP_GCS] = KIND_STACK,
    };
    struct spe_op op;

    if (number >= OP_NONE)
        return KIND_RESERVED;
    spe_op_decode(number >> 8, (uint8_t)number, &op);
    switch (op.kind) {
    case SPE_OP_EXTENDED:
        return extended_kind(&op);
    case SPE_OP_SVE_LDST:
        return op.sg ? KIND_GATHER : KIND_SVE_LDST;
    case SPE_OP_BRANCH:
        return branch_kind(&op);
    case SPE_OP_OTHER:
        return op.ase || op.fp ? KIND_VECTOR : op.cond ? KIND_SELECT : KIND_PLAIN;
    default:
        return op.kind < SPE_OP_KIND_COUNT ? kinds[op.kind] : KIND_RESERVED;
    }
}
