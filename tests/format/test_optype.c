/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.7: all four CLASS values times all 256 payloads, under all sets of the features that
 * matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The SUBCLASS patterns as the text writes them, bit 7 first, with a letter for each bit of a
 * field: L LDST  C COND  F FP  I IND  A ASE  P PRED  T AT  M COMM  G GCS  X EXCL  R AR  S SG K CR
 * E EVL   W ETS
 */
static const struct {
    unsigned class_;
    const char *bits;
    unsigned kind;
} patterns[] = {
    {0, "00000AFC", SPE_OP_OTHER},       /* D18.2-097, D18.2-101, D18.2-103 */
    {0, "0EEE1PF0", SPE_OP_SVE},         /* D18.2-097, D18.2-104, D18.2-108 */
    {0, "1WWW1WF0", SPE_OP_SME},         /* D18.2-097, D18.2-109, D18.2-115 */
    {1, "0000000L", SPE_OP_GP},          /* D18.2-098, D18.2-116 */
    {1, "0000010L", SPE_OP_SIMD_FP},     /* D18.2-117 */
    {1, "0001000L", SPE_OP_UNSPECIFIED}, /* D18.2-118 */
    {1, "0001010L", SPE_OP_TAG},         /* D18.2-119 */
    {1, "0011000L", SPE_OP_NV2},         /* D18.2-120 */
    {1, "000RXT1L", SPE_OP_EXTENDED},    /* D18.2-122, D18.2-123 */
    {1, "SEEE1P0L", SPE_OP_SVE_LDST},    /* D18.2-124, D18.2-125, D18.2-128 */
    {1, "0010000L", SPE_OP_MEMCPY},      /* D18.2-129 */
    {1, "00100101", SPE_OP_MEMSET},      /* D18.2-130 */
    {1, "01000M0L", SPE_OP_GCS},         /* D18.2-131, D18.2-132 */
    {2, "000KKGIC", SPE_OP_BRANCH},      /* D18.2-099, D18.2-133, D18.2-137 */
};

static bool matches(const char *bits, unsigned payload)
{
    for (unsigned i = 0; i < 8; i++) {
        unsigned bit = payload >> (7 - i) & 1;

        if ((bits[i] == '0' && bit) || (bits[i] == '1' && !bit))
            return false;
    }
    return true;
}

/* The bits under a letter, first to last, as a number; zero if the letter is not there. */
static unsigned field(const char *bits, char letter, unsigned payload)
{
    unsigned value = 0;

    for (unsigned i = 0; i < 8; i++)
        if (bits[i] == letter)
            value = value << 1 | (payload >> (7 - i) & 1);
    return value;
}

static int find_pattern(unsigned class_, unsigned payload)
{
    int found = -1;

    for (size_t i = 0; i < COUNT(patterns); i++) {
        if (patterns[i].class_ != class_ || !matches(patterns[i].bits, payload))
            continue;
        assert_int_equal(found, -1); /* D18.2-100: they exclude each other */
        found = (int)i;
    }
    return found;
}

static void assert_op(const struct spe_op *op, const char *bits, unsigned payload)
{
    assert_int_equal(op->cond, field(bits, 'C', payload)); /* D18.2-103, D18.2-137 */
    assert_int_equal(op->ind, field(bits, 'I', payload));  /* D18.2-137 */
    assert_int_equal(op->gcs, field(bits, 'G', payload));  /* D18.2-136 */
    assert_int_equal(op->cr, field(bits, 'K', payload));   /* D18.2-134 */
    assert_int_equal(op->ase, field(bits, 'A', payload));  /* D18.2-102 */
    assert_int_equal(op->fp, field(bits, 'F', payload));   /* D18.2-102, D18.2-108, D18.2-115 */
    assert_int_equal(op->ar, field(bits, 'R', payload));   /* D18.2-123 */
    assert_int_equal(op->excl, field(bits, 'X', payload)); /* D18.2-123 */
    assert_int_equal(op->at, field(bits, 'T', payload));   /* D18.2-123 */
    assert_int_equal(op->pred, field(bits, 'P', payload)); /* D18.2-108, D18.2-127 */
    assert_int_equal(op->sg, field(bits, 'S', payload));   /* D18.2-125 */
    assert_int_equal(op->evl, field(bits, 'E', payload));  /* D18.2-104, D18.2-124 */
    assert_int_equal(op->ets, field(bits, 'W', payload));  /* D18.2-109 */
    assert_int_equal(op->comm, field(bits, 'M', payload)); /* D18.2-132 */
}

static void every_payload_is_decoded(void **state)
{
    (void)state;
    for (unsigned class_ = 0; class_ < 4; class_++) {
        for (unsigned payload = 0; payload < 256; payload++) {
            int found = find_pattern(class_, payload);
            struct spe_op op;

            memset(&op, 0xa5, sizeof(op));
            spe_op_decode(class_, (uint8_t)payload, &op);
            assert_int_equal(op.class_, class_);
            assert_int_equal(op.payload, payload);
            if (found < 0) {
                assert_int_equal(op.kind, SPE_OP_RESERVED); /* D18.2-099, D18.2-100 */
                assert_op(&op, "00000000", payload);
                assert_false(op.store);
                continue;
            }
            assert_int_equal(op.kind, patterns[found].kind); /* rows of `patterns` */
            assert_op(&op, patterns[found].bits, payload);
            /* D18.2-121, D18.2-128, D18.2-129, D18.2-132; a memory set is always a store,
             * D18.2-130 */
            assert_int_equal(op.store,
                             field(patterns[found].bits, 'L', payload) || op.kind == SPE_OP_MEMSET);
        }
    }
}

/* Values that the architecture's examples and the payload's number pin down. */
static void some_payloads_by_hand(void **state)
{
    struct spe_op op;

    (void)state;
    spe_op_decode(0, 0x3e, &op); /* 0 011 1 1 1 0 */
    assert_int_equal(op.kind, SPE_OP_SVE);
    assert_int_equal(op.evl, 3); /* D18.2-105 */
    assert_true(op.pred && op.fp);
    spe_op_decode(0, 0xdc, &op); /* 1 101 1 1 0 0: ETS 0b1011 */
    assert_int_equal(op.kind, SPE_OP_SME);
    assert_int_equal(op.ets, 11); /* D18.2-109: bit 2 is the lowest */
    spe_op_decode(1, 0x24, &op);
    assert_int_equal(op.kind, SPE_OP_RESERVED); /* D18.2-130 */
    spe_op_decode(1, 0x25, &op);
    assert_int_equal(op.kind, SPE_OP_MEMSET); /* D18.2-130 */
    assert_true(op.store);
    spe_op_decode(1, 0x12, &op);                           /* load-acquire */
    assert_true(op.ar && !op.excl && !op.at && !op.store); /* D18.2-121, D18.2-123 */
    spe_op_decode(1, 0x07, &op);                           /* STADD */
    assert_true(!op.ar && !op.excl && op.at && op.store);  /* D18.2-121 */
    spe_op_decode(2, 0x12, &op);                           /* RET */
    assert_int_equal(op.cr, SPE_CR_RETURN);                /* D18.2-134 */
    assert_true(op.ind && !op.cond);
    spe_op_decode(2, 0x08, &op);
    assert_int_equal(op.cr, SPE_CR_LINK); /* D18.2-134 */
    spe_op_decode(2, 0x19, &op);
    assert_int_equal(op.cr, SPE_CR_NEITHER); /* D18.2-134 */
    spe_op_decode(2, 0x01, &op);
    assert_int_equal(op.cr, SPE_CR_NOT_RECORDED); /* D18.2-134 */
    spe_op_decode(4, 0x00, &op);
    assert_int_equal(op.kind, SPE_OP_RESERVED);
    spe_op_decode(257, 0x00, &op);
    assert_int_equal(op.kind, SPE_OP_RESERVED);
}

static void encoding_undoes_decoding(void **state)
{
    (void)state;
    for (unsigned class_ = 0; class_ < 4; class_++) {
        for (unsigned payload = 0; payload < 256; payload++) {
            struct spe_op op;
            int error;

            spe_op_decode(class_, (uint8_t)payload, &op);
            op.class_ = 0xff;
            op.payload = 0xff;
            error = spe_op_encode(&op);
            if (find_pattern(class_, payload) < 0) {
                assert_int_equal(error, SPE_ERR_INVALID);
                continue;
            }
            assert_int_equal(error, SPE_OK); /* D18.2-096 */
            assert_int_equal(op.class_, class_);
            assert_int_equal(op.payload, payload);
        }
    }
}

/* Everything set: only the fields that the kind has may show. */
static void encoding_looks_at_its_own_fields_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(patterns); i++) {
        struct spe_op op = {
            .kind = (uint8_t)patterns[i].kind,
            .store = true,
            .cond = true,
            .ind = true,
            .gcs = true,
            .cr = 3,
            .ase = true,
            .fp = true,
            .ar = true,
            .excl = true,
            .at = true,
            .pred = true,
            .sg = true,
            .evl = 7,
            .ets = 15,
            .comm = true,
        };
        unsigned ones = 0;

        for (unsigned b = 0; b < 8; b++)
            ones = ones << 1 | (patterns[i].bits[b] != '0');
        assert_int_equal(spe_op_encode(&op), SPE_OK);
        assert_int_equal(op.payload, ones);
    }
}

static void fields_out_of_range(void **state)
{
    struct spe_op op = {.kind = SPE_OP_BRANCH, .cr = 4};

    (void)state;
    assert_int_equal(spe_op_encode(&op), SPE_ERR_RANGE);
    op = (struct spe_op){.kind = SPE_OP_SVE, .evl = 8};
    assert_int_equal(spe_op_encode(&op), SPE_ERR_RANGE);
    op.kind = SPE_OP_SVE_LDST;
    assert_int_equal(spe_op_encode(&op), SPE_ERR_RANGE);
    op = (struct spe_op){.kind = SPE_OP_SME, .ets = 16};
    assert_int_equal(spe_op_encode(&op), SPE_ERR_RANGE);
    op = (struct spe_op){.kind = SPE_OP_GP, .cr = 4, .evl = 8, .ets = 16};
    assert_int_equal(spe_op_encode(&op), SPE_OK);
    op.kind = SPE_OP_RESERVED;
    assert_int_equal(spe_op_encode(&op), SPE_ERR_INVALID);
    op.kind = SPE_OP_KIND_COUNT;
    assert_int_equal(spe_op_encode(&op), SPE_ERR_INVALID);
}

static bool defined(unsigned kind, unsigned evl, unsigned ets, spe_features f)
{
#define HAS(name) ((f & SPE_FEAT(name)) != 0)
    switch (kind) {
    case SPE_OP_OTHER:
    case SPE_OP_GP:       /* D18.2-116 */
    case SPE_OP_SIMD_FP:  /* D18.2-117 */
    case SPE_OP_EXTENDED: /* D18.2-122 */
    case SPE_OP_BRANCH:
        return true;
    case SPE_OP_SVE: /* D18.2-104, D18.2-105 */
        return HAS(SPEv1p1) && HAS(SVE) && (evl != 7 || HAS(SPE_SME));
    case SPE_OP_SME: /* D18.2-109, D18.2-110 */
        return HAS(SPE_SME) && ets != 12 && ets != 13 && ets != 14;
    case SPE_OP_UNSPECIFIED: /* D18.2-118 */
        return HAS(SPEv1p1);
    case SPE_OP_TAG: /* D18.2-119 */
        return HAS(SPEv1p3) && HAS(MTE);
    case SPE_OP_NV2: /* D18.2-120 */
        return HAS(NV2);
    case SPE_OP_SVE_LDST: /* D18.2-124, D18.2-105 */
        return HAS(SPEv1p1) && (HAS(SVE) || HAS(SME)) && (evl != 7 || HAS(SPE_SME));
    case SPE_OP_MEMCPY: /* D18.2-129 */
    case SPE_OP_MEMSET: /* D18.2-130 */
        return HAS(SPEv1p3) && HAS(MOPS);
    case SPE_OP_GCS: /* D18.2-131 */
        return HAS(GCS) && HAS(SPEv1p4);
    default:
        return false;
    }
#undef HAS
}

static const spe_features looked_at[] = {
    SPE_FEAT(SPEv1p1), SPE_FEAT(SPEv1p3), SPE_FEAT(SPEv1p4), SPE_FEAT(SVE), SPE_FEAT(SME),
    SPE_FEAT(SPE_SME), SPE_FEAT(MTE),     SPE_FEAT(MOPS),    SPE_FEAT(GCS), SPE_FEAT(NV2),
};

static void check_status(unsigned class_, unsigned payload, spe_features f)
{
    int found = find_pattern(class_, payload);
    unsigned kind = found < 0 ? (unsigned)SPE_OP_RESERVED : patterns[found].kind;
    const char *bits = found < 0 ? "00000000" : patterns[found].bits;
    bool expected = defined(kind, field(bits, 'E', payload), field(bits, 'W', payload), f);
    struct spe_op op;

    spe_op_decode(class_, (uint8_t)payload, &op);
    if (spe_op_status(&op, f) != (expected ? SPE_DEFINED : SPE_RESERVED)) /* D18.2-100 */
        fail_msg("class %u payload 0x%02x features 0x%llx", class_, payload, (unsigned long long)f);
}

static void every_payload_under_every_set(void **state)
{
    spe_features others = SPE_FEATURES_ALL;

    (void)state;
    for (size_t i = 0; i < COUNT(looked_at); i++)
        others &= ~looked_at[i];
    for (unsigned n = 0; n < 2u << COUNT(looked_at); n++) {
        spe_features f = n >> COUNT(looked_at) ? others : 0; /* must not matter */

        for (size_t i = 0; i < COUNT(looked_at); i++)
            if (n >> i & 1)
                f |= looked_at[i];
        for (unsigned class_ = 0; class_ < 4; class_++)
            for (unsigned payload = 0; payload < 256; payload++)
                check_status(class_, payload, f);
    }
}

/* D18.2-105 */
static const uint32_t evl_bits[8] = {32, 64, 128, 256, 512, 1024, 2048, 0};

/* D18.2-110 */
static const uint32_t ets_bits[16] = {128,   256,   512,    1024,   2048, 4096, 8192, 16384,
                                      32768, 65536, 131072, 262144, 0,    0,    0,    0};

static void lengths_of_the_fields(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(spe_evl_bits(i), evl_bits[i]); /* D18.2-105 */
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(spe_ets_bits(i), ets_bits[i]); /* D18.2-110 */
    assert_int_equal(spe_evl_bits(8), 0);
    assert_int_equal(spe_ets_bits(16), 0);
    assert_int_equal(spe_evl_bits(UINT32_MAX), 0);
    assert_int_equal(spe_ets_bits(UINT32_MAX), 0);
}

static void fields_of_the_lengths(void **state)
{
    (void)state;
    assert_int_equal(spe_evl_from_bits(0), 0);
    assert_int_equal(spe_evl_from_bits(8), 0); /* D18.2-107: one byte element */
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(spe_evl_from_bits(evl_bits[i]), i);         /* D18.2-106 */
        assert_int_equal(spe_evl_from_bits(evl_bits[i] - 1), i);     /* D18.2-107 */
        assert_int_equal(spe_evl_from_bits(evl_bits[i] + 1), i + 1); /* D18.2-107, D18.2-126 */
    }
    assert_int_equal(spe_evl_from_bits(384), 4); /* three vectors of 128 bits: D18.2-106 */
    assert_int_equal(spe_evl_from_bits(4 * 2048), SPE_EVL_OVER); /* D18.2-126 */
    assert_int_equal(spe_evl_from_bits(UINT32_MAX), SPE_EVL_OVER);
    assert_int_equal(spe_ets_from_bits(0), 0);
    assert_int_equal(spe_ets_from_bits(64), 0); /* D18.2-112 */
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(spe_ets_from_bits(ets_bits[i]), i);     /* D18.2-111 */
        assert_int_equal(spe_ets_from_bits(ets_bits[i] - 1), i); /* D18.2-112 */
        assert_int_equal(spe_ets_from_bits(ets_bits[i] + 1), i < 11 ? i + 1 : 15);
    }
    /* The ZA array of SVL 2048 is 2048 * 2048 bits. */
    assert_int_equal(spe_ets_from_bits(2048 * 2048), SPE_ETS_WHOLE); /* D18.2-113 */
    assert_int_equal(spe_ets_from_bits(UINT32_MAX), SPE_ETS_WHOLE);
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    for (unsigned a = 0; a < SPE_OP_KIND_COUNT; a++)
        for (unsigned b = 0; b < a; b++)
            assert_string_not_equal(spe_op_kind_name(a), spe_op_kind_name(b));
    assert_string_equal(spe_op_kind_name(SPE_OP_OTHER), "other");
    assert_string_equal(spe_op_kind_name(SPE_OP_SVE_LDST), "sve_ldst");
    assert_string_equal(spe_op_kind_name(SPE_OP_KIND_COUNT), "reserved");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_payload_is_decoded),
        cmocka_unit_test(some_payloads_by_hand),
        cmocka_unit_test(encoding_undoes_decoding),
        cmocka_unit_test(encoding_looks_at_its_own_fields_only),
        cmocka_unit_test(fields_out_of_range),
        cmocka_unit_test(every_payload_under_every_set),
        cmocka_unit_test(lengths_of_the_fields),
        cmocka_unit_test(fields_of_the_lengths),
        cmocka_unit_test(every_kind_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
