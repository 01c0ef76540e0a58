/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D18.2.7: the Operation Type packet. CLASS is in the header; the payload byte (SUBCLASS) is
 * matched against the patterns of its CLASS, which exclude each other. A field has the same place
 * in every pattern that has it, so a pattern names its fields by a mask.
 */
#include <specimen/format.h>

enum field {
    F_LDST = 1u << 0, /* bit 0 */
    F_COND = 1u << 1, /* bit 0 */
    F_FP = 1u << 2,   /* bit 1 */
    F_IND = 1u << 3,  /* bit 1 */
    F_ASE = 1u << 4,  /* bit 2 */
    F_PRED = 1u << 5, /* bit 2 */
    F_AT = 1u << 6,   /* bit 2 */
    F_COMM = 1u << 7, /* bit 2 */
    F_GCS = 1u << 8,  /* bit 2 */
    F_EXCL = 1u << 9, /* bit 3 */
    F_CR = 1u << 10,  /* bits 4:3 */
    F_AR = 1u << 11,  /* bit 4 */
    F_EVL = 1u << 12, /* bits 6:4 */
    F_ETS = 1u << 13, /* bits 6:4 and, as the lowest, bit 2 */
    F_SG = 1u << 14,  /* bit 7 */
};

struct pattern {
    uint8_t class_;      /* enum spe_op_class */
    uint8_t mask, match; /* payload & mask == match */
    uint16_t fields;
    spe_features all; /* needs all of these ... */
    spe_features any; /* ... and one of these, if there are any */
};

/*
 * By enum spe_op_kind; SPE_OP_RESERVED, the first, has none.
 *
 * The pattern of Allocation Tags lost its conditions in the text; they are those of D17.6.4. SVE
 * data processing needs FEAT_SVE, though a rule of D17.6.6 does not say so (X15).
 */
static const struct pattern patterns[SPE_OP_KIND_COUNT] = {
    [SPE_OP_OTHER] = {SPE_CLASS_OTHER, 0xf8, 0x00, F_ASE | F_FP | F_COND, 0, 0},
    [SPE_OP_SVE] = {SPE_CLASS_OTHER, 0x89, 0x08, F_EVL | F_PRED | F_FP,
                    SPE_FEAT(SPEv1p1) | SPE_FEAT(SVE), 0},
    [SPE_OP_SME] = {SPE_CLASS_OTHER, 0x89, 0x88, F_ETS | F_FP, SPE_FEAT(SPE_SME), 0},
    [SPE_OP_GP] = {SPE_CLASS_LDST, 0xfe, 0x00, F_LDST, 0, 0},
    [SPE_OP_SIMD_FP] = {SPE_CLASS_LDST, 0xfe, 0x04, F_LDST, 0, 0},
    [SPE_OP_UNSPECIFIED] = {SPE_CLASS_LDST, 0xfe, 0x10, F_LDST, SPE_FEAT(SPEv1p1), 0},
    [SPE_OP_TAG] = {SPE_CLASS_LDST, 0xfe, 0x14, F_LDST, SPE_FEAT(SPEv1p3) | SPE_FEAT(MTE), 0},
    [SPE_OP_NV2] = {SPE_CLASS_LDST, 0xfe, 0x30, F_LDST, SPE_FEAT(NV2), 0},
    [SPE_OP_EXTENDED] = {SPE_CLASS_LDST, 0xe2, 0x02, F_AR | F_EXCL | F_AT | F_LDST, 0, 0},
    [SPE_OP_SVE_LDST] = {SPE_CLASS_LDST, 0x0a, 0x08, F_SG | F_EVL | F_PRED | F_LDST,
                         SPE_FEAT(SPEv1p1), SPE_FEAT(SVE) | SPE_FEAT(SME)},
    [SPE_OP_MEMCPY] = {SPE_CLASS_LDST, 0xfe, 0x20, F_LDST, SPE_FEAT(SPEv1p3) | SPE_FEAT(MOPS), 0},
    [SPE_OP_MEMSET] = {SPE_CLASS_LDST, 0xff, 0x25, 0, SPE_FEAT(SPEv1p3) | SPE_FEAT(MOPS), 0},
    [SPE_OP_GCS] = {SPE_CLASS_LDST, 0xfa, 0x40, F_COMM | F_LDST, SPE_FEAT(SPEv1p4) | SPE_FEAT(GCS),
                    0},
    [SPE_OP_BRANCH] = {SPE_CLASS_BRANCH, 0xe0, 0x00, F_CR | F_GCS | F_IND | F_COND, 0, 0},
};

static const char *const kind_names[SPE_OP_KIND_COUNT] = {
    [SPE_OP_RESERVED] = "reserved",
    [SPE_OP_OTHER] = "other",
    [SPE_OP_SVE] = "sve",
    [SPE_OP_SME] = "sme",
    [SPE_OP_GP] = "gp",
    [SPE_OP_SIMD_FP] = "simd_fp",
    [SPE_OP_UNSPECIFIED] = "unspecified",
    [SPE_OP_TAG] = "tag",
    [SPE_OP_NV2] = "nv2",
    [SPE_OP_EXTENDED] = "extended",
    [SPE_OP_SVE_LDST] = "sve_ldst",
    [SPE_OP_MEMCPY] = "memcpy",
    [SPE_OP_MEMSET] = "memset",
    [SPE_OP_GCS] = "gcs",
    [SPE_OP_BRANCH] = "branch",
};

/* The kind of a payload, SPE_OP_RESERVED if there is none. */
static unsigned kind_of_payload(unsigned class_, uint8_t payload)
{
    for (unsigned kind = SPE_OP_RESERVED + 1; kind < SPE_OP_KIND_COUNT; kind++)
        if (patterns[kind].class_ == class_ &&
            (payload & patterns[kind].mask) == patterns[kind].match)
            return kind;
    return SPE_OP_RESERVED;
}

static const struct pattern *pattern_of_kind(unsigned kind)
{
    return kind > SPE_OP_RESERVED && kind < SPE_OP_KIND_COUNT ? &patterns[kind] : NULL;
}

/* The field's bits in the payload, or zero if the pattern does not have it. */
static unsigned get(unsigned fields, enum field field, uint8_t payload, unsigned shift,
                    unsigned mask)
{
    return fields & field ? payload >> shift & mask : 0;
}

void spe_op_decode(unsigned class_, uint8_t payload, struct spe_op *op)
{
    unsigned kind = kind_of_payload(class_, payload);
    unsigned fields = patterns[kind].fields;

    *op = (struct spe_op){.kind = (uint8_t)kind, .class_ = (uint8_t)class_, .payload = payload};
    op->store = get(fields, F_LDST, payload, 0, 1) || op->kind == SPE_OP_MEMSET;
    op->cond = get(fields, F_COND, payload, 0, 1);
    op->fp = get(fields, F_FP, payload, 1, 1);
    op->ind = get(fields, F_IND, payload, 1, 1);
    op->ase = get(fields, F_ASE, payload, 2, 1);
    op->pred = get(fields, F_PRED, payload, 2, 1);
    op->at = get(fields, F_AT, payload, 2, 1);
    op->comm = get(fields, F_COMM, payload, 2, 1);
    op->gcs = get(fields, F_GCS, payload, 2, 1);
    op->excl = get(fields, F_EXCL, payload, 3, 1);
    op->cr = (uint8_t)get(fields, F_CR, payload, 3, 3);
    op->ar = get(fields, F_AR, payload, 4, 1);
    op->evl = (uint8_t)get(fields, F_EVL, payload, 4, 7);
    op->ets = (uint8_t)(get(fields, F_ETS, payload, 4, 7) << 1 | get(fields, F_ETS, payload, 2, 1));
    op->sg = get(fields, F_SG, payload, 7, 1);
}

static unsigned put(unsigned fields, enum field field, unsigned value, unsigned shift)
{
    return fields & field ? value << shift : 0;
}

static bool fits(unsigned fields, enum field field, unsigned value, unsigned max)
{
    return !(fields & field) || value <= max;
}

static bool all_fit(unsigned fields, const struct spe_op *op)
{
    return fits(fields, F_CR, op->cr, 3) && fits(fields, F_EVL, op->evl, 7) &&
           fits(fields, F_ETS, op->ets, 15);
}

static inline unsigned put_fields(unsigned fields, const struct spe_op *op)
{
    return put(fields, F_LDST, op->store, 0) | put(fields, F_COND, op->cond, 0) |
           put(fields, F_FP, op->fp, 1) | put(fields, F_IND, op->ind, 1) |
           put(fields, F_ASE, op->ase, 2) | put(fields, F_PRED, op->pred, 2) |
           put(fields, F_AT, op->at, 2) | put(fields, F_COMM, op->comm, 2) |
           put(fields, F_GCS, op->gcs, 2) | put(fields, F_EXCL, op->excl, 3) |
           put(fields, F_CR, op->cr, 3) | put(fields, F_AR, op->ar, 4) |
           put(fields, F_EVL, op->evl, 4) | put(fields, F_ETS, op->ets >> 1, 4) |
           put(fields, F_ETS, op->ets & 1u, 2) | put(fields, F_SG, op->sg, 7);
}

/* Most operations have one of these sets of fields: where the set is constant, no field of another
 * is looked at. */
static unsigned payload_of(const struct pattern *pattern, const struct spe_op *op)
{
    switch (pattern->fields) {
    case F_LDST:
        return pattern->match | put_fields(F_LDST, op);
    case F_ASE | F_FP | F_COND:
        return pattern->match | put_fields(F_ASE | F_FP | F_COND, op);
    case F_CR | F_GCS | F_IND | F_COND:
        return pattern->match | put_fields(F_CR | F_GCS | F_IND | F_COND, op);
    default:
        return pattern->match | put_fields(pattern->fields, op);
    }
}

int spe_op_encode(struct spe_op *op)
{
    const struct pattern *pattern = pattern_of_kind(op->kind);

    if (!pattern)
        return SPE_ERR_INVALID;
    if ((op->cr | op->evl | op->ets) > 3 && !all_fit(pattern->fields, op))
        return SPE_ERR_RANGE;
    op->class_ = pattern->class_;
    op->payload = (uint8_t)payload_of(pattern, op);
    return SPE_OK;
}

enum spe_definition spe_op_status(const struct spe_op *op, spe_features features)
{
    const struct pattern *pattern = pattern_of_kind(op->kind);

    if (!pattern || (pattern->all & ~features) || (pattern->any && !(pattern->any & features)))
        return SPE_RESERVED;
    if ((pattern->fields & F_EVL) && op->evl == SPE_EVL_OVER &&
        !spe_has(features, SPE_FEAT_SPE_SME))
        return SPE_RESERVED;
    if ((pattern->fields & F_ETS) && !spe_ets_bits(op->ets) && op->ets != SPE_ETS_WHOLE)
        return SPE_RESERVED;
    return SPE_DEFINED;
}

const char *spe_op_kind_name(unsigned kind)
{
    return kind_names[kind < SPE_OP_KIND_COUNT ? kind : SPE_OP_RESERVED];
}

#define EVL_LEAST 32u
#define EVL_LAST 6u /* 2048 bits */
#define ETS_LEAST 128u
#define ETS_LAST 11u /* 262144 bits */

uint32_t spe_evl_bits(unsigned evl)
{
    return evl <= EVL_LAST ? EVL_LEAST << evl : 0;
}

uint32_t spe_ets_bits(unsigned ets)
{
    return ets <= ETS_LAST ? ETS_LEAST << ets : 0;
}

/* The least n with least << n >= bits, or `over` if it is more than `last`. */
static unsigned round_up(uint32_t bits, uint32_t least, unsigned last, unsigned over)
{
    for (unsigned n = 0; n <= last; n++)
        if (bits <= least << n)
            return n;
    return over;
}

unsigned spe_evl_from_bits(uint32_t bits)
{
    return round_up(bits, EVL_LEAST, EVL_LAST, SPE_EVL_OVER);
}

unsigned spe_ets_from_bits(uint32_t bits)
{
    return round_up(bits, ETS_LEAST, ETS_LAST, SPE_ETS_WHOLE);
}
