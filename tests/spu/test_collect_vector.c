/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.6.6: SVE and SME operations: which Operation Type packet, EVL and ETS, predicates, splitting
 * into micro-operations, loads, stores and prefetches.
 */
#include "support/sampling_chi.h"
#include "support/sampling_unit.h"

#define NO_SPE_SME ALL ",-spe_sme"
#define NO_SVE ALL ",-sve"

static struct spe_operation vector(enum spe_operation_kind kind, uint32_t vl)
{
    struct spe_operation op = operation(kind);

    op.vl_bits = vl;
    return op;
}

/* EVL: 32, 64 ... 2048 bits are 0 to 6. ETS: 128, 256 ... are 0, 1 ... */
static unsigned evl(uint32_t bits)
{
    unsigned n = 0;

    while (32u << n < bits)
        n++;
    return n > 6 ? 7 : n;
}

static unsigned ets(uint32_t bits)
{
    unsigned n = 0;

    while (128u << n < bits)
        n++;
    return n;
}

/* ---- Data processing: SVE ------------------------------------------------------------------- */

/* Described as an emulator would; `kind` is the category that the text names. */
struct example {
    const char *text;
    struct spe_operation op;
    uint8_t type;
    bool pred, fp;
    uint32_t bits; /* of EVL or ETS */
};

#define OP(k, ...)                                                                                 \
    {                                                                                              \
        .size = sizeof(struct spe_operation), .kind = k, .vl_bits = 512, __VA_ARGS__               \
    }

static const struct example examples[] = {
    /* D17.6-125 */ /* D17.6-137 */
    {"ADD Z0.S, P7/M, Z0.S, Z1.S", OP(SPE_OPERATION_SVE, .predicated = true), SPE_OP_SVE, 1, 0,
     512},
    {"FMLALB Z2.S, Z3.H, Z4.H", OP(SPE_OPERATION_SVE, .floating_point = true), SPE_OP_SVE, 0, 1,
     512},
    {"TBL Z5.H, { Z6.H }, Z7.H", OP(SPE_OPERATION_SVE, .vectors = 1), SPE_OP_SVE, 0, 0, 512},
    {"LASTA W0, P6, Z8.S", OP(SPE_OPERATION_SVE, .vector_bits = 32, .predicate_operand = true),
     SPE_OP_SVE, 0, 0, 32},
    {"LUTI4 {Z8.H-Z9.H}, ZT0, Z10[2]",
     OP(SPE_OPERATION_SVE, .uses_zt = true, .multi_vector = true, .vectors = 2), SPE_OP_SVE, 0, 0,
     1024},
    {"FMAX {Z0.H-Z1.H}, {Z2.H-Z3.H}, {Z4.H-Z5.H}",
     OP(SPE_OPERATION_SVE, .multi_vector = true, .vectors = 2, .floating_point = true), SPE_OP_SVE,
     0, 1, 1024},
    /* D17.6-131: these are not predicated, though they have a predicate */
    {"CNTP X0, P0, P1.S",
     OP(SPE_OPERATION_SVE, .predicate_operand = true, .predicate_only = true, .predicate_bits = 64),
     SPE_OP_SVE, 0, 0, 512},
    {"FADDV S0, P0, Z1.S",
     OP(SPE_OPERATION_SVE, .predicate_operand = true, .vector_bits = 32, .floating_point = true),
     SPE_OP_SVE, 0, 1, 32},
    {"SEL Z0.S, P0, Z1.S, Z2.S", OP(SPE_OPERATION_SVE, .predicate_operand = true), SPE_OP_SVE, 0, 0,
     512},
    /* D17.6-126 */ /* D17.6-144 */
    {"ADD ZA.S[W8, 3, VGx2], {Z0.S-Z1.S}, {Z2.S-Z3.S}", OP(SPE_OPERATION_SME_VECTOR, .vectors = 2),
     SPE_OP_SME, 0, 0, 1024},
    {"FMLAL ZA.S[W9, 4:5, VGx4], {Z4.H-Z7.H}, {Z8.H-Z11.H}",
     OP(SPE_OPERATION_SME_VECTOR, .vectors = 8, .floating_point = true), SPE_OP_SME, 0, 1, 4096},
    {"MOVA Z11.S, P3/M, ZA0H.S[W12,1]", OP(SPE_OPERATION_SME_VECTOR, .predicated = true),
     SPE_OP_SME, 0, 0, 512},
    /* D17.6-127 */ /* D17.6-130 */ /* D17.6-142 */
    {"SMOPA ZA0.S, P0/M, P1/M, Z2.B, Z3.B",
     OP(SPE_OPERATION_SME_TILE, .predicated = true, .tile_bits = 512 * 512 / 32), SPE_OP_SME, 0, 0,
     8192},
    {"FMOPA ZA0.S", OP(SPE_OPERATION_SME_TILE, .floating_point = true, .tile_bits = 8192),
     SPE_OP_SME, 0, 1, 8192},
    {"ZERO {ZA1.H}", OP(SPE_OPERATION_SME_TILE, .tile_bits = 512 * 512 / 16), SPE_OP_SME, 0, 0,
     16384},
};

static void check_example(struct bench *b, const struct example *e)
{
    bench_record(b, &e->op);
    if (b->type.kind != e->type)
        fail_msg("%s is %s", e->text, spe_op_kind_name(b->type.kind));
    /* D17.6-125 */ /* D17.6-126 */ /* D17.6-127 */ /* D17.6-137 */ /* D17.6-142 */ /* D17.6-144 */
    assert_int_equal(b->record.op_class, SPE_CLASS_OTHER);
    assert_int_equal(b->type.fp, e->fp);
    if (e->type == SPE_OP_SVE) {
        assert_int_equal(b->type.pred, e->pred);                                     /* D17.6-131 */
        assert_int_equal(b->type.evl, evl(e->bits)); /* D17.6-128 */ /* D17.6-138 */ /* D18.2-106 */
    } else {
        /* D17.6-130 */ /* D17.6-142 */ /* D17.6-144 */ /* D18.2-111 */
        assert_int_equal(b->type.ets, ets(e->bits));
    }
    assert_int_equal(bench_types(b, &e->op), TYPE_SIMD | (e->fp ? TYPE_FP : 0));
}

static void test_examples(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (size_t i = 0; i < COUNT(examples); i++)
        check_example(&b, &examples[i]);
    bench_close(&b);
}

static unsigned evl_of(struct bench *b, const struct spe_operation *op)
{
    bench_record(b, op);
    assert_int_equal(b->type.kind, SPE_OP_SVE);
    return b->type.evl;
}

/* Lengths that are no power of two, or short, are rounded up. */
static void test_lengths(void **state)
{
    static const uint32_t bits[] = {8, 16, 32, 33, 64, 96, 128, 384, 512, 1024, 1025, 2048};
    static const unsigned expected[] = {0, 0, 0, 1, 1, 2, 2, 4, 4, 5, 6, 6};
    struct spe_operation op = vector(SPE_OPERATION_SVE, 2048);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (size_t i = 0; i < COUNT(bits); i++) {
        op.vector_bits = bits[i];
        assert_int_equal(evl_of(&b, &op), expected[i]); /* D17.6-128 */ /* D18.2-107 */
    }
    /* D17.6-134: what lies above VL does not count, what a predicate discards does */
    op = vector(SPE_OPERATION_SVE, 256);
    op.vector_bits = 512;
    assert_int_equal(evl_of(&b, &op), 3);
    op.vector_bits = 0;
    op.predicated = op.partial_predicate = true;
    assert_int_equal(evl_of(&b, &op), 3);
    bench_close(&b);
}

static void test_predicates_only(void **state)
{
    struct spe_operation op = vector(SPE_OPERATION_SVE, 512);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    op.predicate_only = true;
    op.predicate_bits = 64;
    assert_int_equal(evl_of(&b, &op), 4); /* D17.6-129: PTRUE, mask: 64 * 8 */
    op.predicate_bits = 16;
    assert_int_equal(evl_of(&b, &op), 2); /* D17.6-129 */
    op.predicate_as_counter = true;
    assert_int_equal(evl_of(&b, &op), 4); /* D17.6-129: VL */
    bench_close(&b);
}

static void test_several_vectors(void **state)
{
    static const struct {
        uint32_t vl, vectors, with, without;
    } cases[] = {
        {1024, 4, 7, 5}, {256, 2, 4, 3}, {512, 4, 6, 4}, {2048, 1, 6, 6},
        {2048, 2, 7, 6}, {128, 0, 2, 2}, {384, 2, 5, 4},
    };
    struct bench sme, plain;

    (void)state;
    bench_open(&sme, ALL, "");
    bench_open(&plain, NO_SPE_SME, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_operation op = vector(SPE_OPERATION_SVE, cases[i].vl);

        op.vectors = cases[i].vectors;
        assert_int_equal(evl_of(&sme, &op), cases[i].with); /* D17.6-138 */ /* D18.2-106 */
        assert_int_equal(evl_of(&plain, &op), cases[i].without);            /* D17.6-139 */
    }
    bench_close(&sme);
    bench_close(&plain);
}

/* Without FEAT_SPE_SME: ZT, multi-vector and SME operations. */
static void test_without_spe_sme(void **state)
{
    char options[80];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        struct spe_operation zt = vector(SPE_OPERATION_SVE, 512), multi = zt, plain = zt;
        bool zt_sve = n & 1, multi_sve = n & 2;

        /* D17.6-140 */ /* D17.6-141 */
        snprintf(options, sizeof(options), "zt_op_as=%s multivec_op_as=%s",
                 zt_sve ? "sve_vector" : "other", multi_sve ? "sve_vector" : "other");
        zt.uses_zt = true;
        multi.multi_vector = true;
        multi.vectors = 2;
        bench_open(&b, NO_SPE_SME, options);
        bench_record(&b, &zt);
        assert_int_equal(b.type.kind, zt_sve ? SPE_OP_SVE : SPE_OP_OTHER); /* D17.6-140 */
        bench_record(&b, &multi);
        assert_int_equal(b.type.kind, multi_sve ? SPE_OP_SVE : SPE_OP_OTHER); /* D17.6-141 */
        bench_record(&b, &plain);
        assert_int_equal(b.type.kind, SPE_OP_SVE);
        plain.kind = SPE_OPERATION_SME_TILE;
        plain.floating_point = true;
        bench_record(&b, &plain);
        assert_int_equal(b.type.kind, SPE_OP_OTHER); /* D17.6-143 */
        assert_true(b.type.fp && !b.type.ase);
        plain.kind = SPE_OPERATION_SME_VECTOR;
        bench_record(&b, &plain);
        assert_int_equal(b.type.kind, SPE_OP_OTHER); /* D17.6-145 */
        bench_close(&b);
        bench_open(&b, ALL, options); /* they have no say with it */
        bench_record(&b, &zt);
        assert_int_equal(b.type.kind, SPE_OP_SVE);
        bench_record(&b, &multi);
        assert_int_equal(b.type.kind, SPE_OP_SVE);
        bench_close(&b);
    }
}

/* The format needs FEAT_SVE (X15) and FEAT_SPEv1p1. */
static void test_without_features(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation add = vector(SPE_OPERATION_SVE, 256);
    struct spe_operation load = access_operation(SPE_OPERATION_LOAD, &a, 1);
    struct bench b;

    (void)state;
    load.vl_bits = 256;
    load.registers = SPE_REGISTERS_SVE;
    load.partial_predicate = load.empty_predicate = true;
    bench_open(&b, NO_SVE, "");
    bench_record(&b, &add);
    assert_int_equal(b.type.kind, SPE_OP_OTHER);
    bench_close(&b);
    bench_open(&b, NO_V1P1, "");
    bench_record(&b, &add);
    assert_int_equal(b.type.kind, SPE_OP_OTHER); /* D17.6-123 */
    bench_record(&b, &load);
    assert_int_equal(b.record.op, 0x04);        /* D17.6-123 */
    assert_int_equal(b.record.events >> 16, 0); /* D17.6-123 */
    load.registers = SPE_REGISTERS_SME;
    bench_record(&b, &load);
    assert_int_equal(b.record.op, 0x04);
    bench_close(&b);
    bench_open(&b, ALL, "");
    load.registers = SPE_REGISTERS_SVE;
    bench_record(&b, &load);
    assert_int_equal(b.type.kind, SPE_OP_SVE_LDST); /* D17.6-123 */
    bench_close(&b);
}

/* ---- Data processing: SME tiles ------------------------------------------------------------- */

static void test_tiles(void **state)
{
    static const struct {
        uint32_t bits;
        unsigned expected;
    } cases[] = {
        {64, 0}, {128, 0}, {129, 1}, {3 * 4096, 7}, {262144, 11}, {262145, SPE_ETS_WHOLE},
    };
    struct spe_operation op = vector(SPE_OPERATION_SME_TILE, 2048);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        op.tile_bits = cases[i].bits;
        bench_record(&b, &op);
        assert_int_equal(b.type.ets, cases[i].expected); /* D17.6-130 */ /* D18.2-112 */
    }
    op.tile_bits = 4096;
    op.whole_za = true;
    bench_record(&b, &op);
    assert_int_equal(b.type.ets, SPE_ETS_WHOLE); /* D17.6-142 */ /* D18.2-113 */
    bench_close(&b);
}

static void test_masked_zero(void **state)
{
    static const char *const options[] = {"zero_masked_ets=exact", "zero_masked_ets=whole"};
    struct spe_operation op = vector(SPE_OPERATION_SME_TILE, 512);
    struct bench b;

    (void)state;
    op.tile_bits = 8192;
    for (unsigned whole = 0; whole < 2; whole++) {
        op.masked_zero = true;
        bench_open(&b, ALL, options[whole]);
        bench_record(&b, &op);
        assert_int_equal(b.type.ets, whole ? SPE_ETS_WHOLE : ets(8192)); /* D18.2-114 */
        op.masked_zero = false; /* no other operation is concerned */
        bench_record(&b, &op);
        assert_int_equal(b.type.ets, ets(8192));
        bench_close(&b);
    }
}

/* ---- Splitting ------------------------------------------------------------------------------ */

static void test_split(void **state)
{
    static const struct {
        const char *options;
        unsigned evl, evl4, ets;
    } cases[] = {
        /* D17.6-132: of 1024 bits, of four such vectors, of a tile of 32768 bits */
        {"simd_split_bits=none", 5, 7, 8},
        {"simd_split_bits=256", 3, 3, 1},
        {"simd_split_bits=32", 0, 0, 0},
        {"simd_split_bits=2048", 5, 6, 4},
    };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_operation op = vector(SPE_OPERATION_SVE, 1024);

        bench_open(&b, ALL MICRO_OPS, cases[i].options);
        assert_int_equal(evl_of(&b, &op), cases[i].evl); /* D17.6-132 */
        op.vectors = 4;
        assert_int_equal(evl_of(&b, &op), cases[i].evl4); /* D17.6-132 */
        op.kind = SPE_OPERATION_SME_TILE;
        op.tile_bits = 32768;
        bench_record(&b, &op);
        assert_int_equal(b.type.ets, cases[i].ets); /* D17.6-132 */
        bench_close(&b);
    }
}

/* The split is made before sampling: how many members there are does not depend on it. */
static void test_split_is_fixed(void **state)
{
    struct spe_operation op = vector(SPE_OPERATION_SVE, 1024);
    struct spe_spu_stats stats;
    uint64_t population = 0;
    struct bench b;

    (void)state;
    for (unsigned interval = 1; interval < 5; interval++) {
        bench_open(&b, ALL MICRO_OPS, "simd_split_bits=256");
        bench_set(&b, SPE_REG_PMSIRR_EL1, interval << 8);
        for (unsigned instruction = 0; instruction < 1000; instruction++)
            for (unsigned part = 0; part < 4; part++)
                if (spe_spu_step(b.spu, 0)) {
                    bench_finish(&b, &op);
                    assert_int_equal(b.type.evl, 3); /* D17.6-136 */
                }
        spe_spu_stats(b.spu, &stats);
        assert_int_equal(stats.population, 4000); /* D17.6-136 */
        assert_true(population == 0 || population == stats.population);
        population = stats.population;
        bench_close(&b);
    }
}

static void test_split_refused(void **state)
{
    static const char *const refused[] = {"simd_split_bits=256", "sve128_as=advsimd"};
    struct spe_spu_config config;
    char why[256];
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) /* D17.6-132 */ /* D17.6-135 */
        assert_int_equal(bench_create(&b, ALL, refused[i], why, sizeof(why)), SPE_ERR_INVALID);
    bench_config(&config, ALL, "");
    /* D17.6-132 */
    assert_int_equal(spe_spu_option_set(&config, "simd_split_bits", "16", why, sizeof(why)),
                     SPE_ERR_INVALID);
    assert_int_equal(spe_spu_option_set(&config, "simd_split_bits", "96", why, sizeof(why)),
                     SPE_ERR_INVALID);
}

/* ---- As Advanced SIMD ----------------------------------------------------------------------- */

/* Of 128 bits, without predicates, with an equivalent: all of them must hold. */
static void check_equivalent(struct bench *b, unsigned missing, bool dp, bool ldst)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = vector(SPE_OPERATION_SVE, missing == 1 ? 256 : 128);
    bool all = missing == 0;

    op.advsimd_equivalent = missing != 2;
    op.predicated = missing == 3;
    op.predicate_operand = missing == 4;
    op.floating_point = true;
    bench_record(b, &op);
    assert_int_equal(b->type.kind, all && dp ? SPE_OP_OTHER : SPE_OP_SVE); /* D17.6-135 */
    assert_int_equal(b->type.ase, all && dp);                              /* D17.6-135 */
    assert_true(b->type.fp);
    op.kind = SPE_OPERATION_SME_VECTOR;
    bench_record(b, &op);
    assert_int_equal(b->type.kind, all && dp ? SPE_OP_OTHER : SPE_OP_SME); /* D17.6-135 */
    assert_int_equal(b->type.ase, all && dp);                              /* D17.6-135 */
    op.kind = SPE_OPERATION_LOAD;
    op.registers = SPE_REGISTERS_SVE;
    op.accesses = &a;
    op.access_count = 1;
    bench_record(b, &op);
    assert_int_equal(b->type.kind, all && ldst ? SPE_OP_SIMD_FP : SPE_OP_SVE_LDST); /* D17.6-135 */
}

static void test_advsimd(void **state)
{
    static const struct {
        const char *options;
        bool dp, ldst;
    } cases[] = {
        /* D17.6-135 */
        {"sve128_as=sve", false, false},
        {"sve128_as=advsimd", true, true},
        {"sve128_as=dp", true, false},
        {"sve128_as=ldst", false, true},
    };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bench_open(&b, ALL MICRO_OPS, cases[i].options);
        for (unsigned missing = 0; missing < 5; missing++)
            check_equivalent(&b, missing, cases[i].dp, cases[i].ldst);
        bench_close(&b);
    }
    /* A part of 128 bits of a longer vector is one too. */
    bench_open(&b, ALL MICRO_OPS, "sve128_as=dp simd_split_bits=128");
    {
        struct spe_operation op = vector(SPE_OPERATION_SVE, 512);

        op.advsimd_equivalent = true;
        bench_record(&b, &op);
        assert_true(b.type.ase); /* D17.6-135 */
    }
    bench_close(&b);
}

/* ---- Predicates in Events ------------------------------------------------------------------- */

static void test_predicate_events(void **state)
{
    static const uint8_t kinds[] = {SPE_OPERATION_SVE, SPE_OPERATION_SME_VECTOR,
                                    SPE_OPERATION_SME_TILE, SPE_OPERATION_LOAD};
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (unsigned n = 0; n < 3; n++) {
            struct spe_operation op = vector(kinds[i], 512);

            op.registers = SPE_REGISTERS_SVE;
            op.predicated = true;
            op.partial_predicate = n == 1;
            op.empty_predicate = n == 2; /* which says that it is not full either */
            bench_record(&b, &op);
            /* D18.2-075: what the host judged at the input element size, for outer products too */
            assert_int_equal(event(&b, SPE_EVENT_PARTIAL_PREDICATE), n > 0);
            assert_int_equal(event(&b, SPE_EVENT_EMPTY_PREDICATE), n == 2);
        }
    {
        struct spe_operation op = operation(SPE_OPERATION_OTHER);

        op.partial_predicate = op.empty_predicate = true; /* of no vector operation */
        bench_record(&b, &op);
        assert_int_equal(b.record.events, 2);
    }
    bench_close(&b);
    bench_open(&b, ALL ",-sve,-sme,-spe_sme", "");
    {
        struct spe_operation op = vector(SPE_OPERATION_SVE, 512);

        op.predicated = op.partial_predicate = op.empty_predicate = true;
        bench_record(&b, &op);
        assert_int_equal(b.record.events, 2);
    }
    bench_close(&b);
}

/* D18.2-073 D18.2-074: an operation that is not predicated has neither event; for INCP and its like
 * it is a choice, as it is for PMU event 0x8074, which counts every governed SME operation. */
static void test_predicate_events_of_others(void **state)
{
    static const struct {
        uint8_t kind;
        bool operand, expected[2]; /* by ev_pred_no_vector */
    } cases[] = {
        {SPE_OPERATION_SVE, false, {false, false}},
        {SPE_OPERATION_SVE, true, {false, true}},
        {SPE_OPERATION_SME_VECTOR, false, {false, false}},
        {SPE_OPERATION_SME_VECTOR, true, {true, true}},
        {SPE_OPERATION_SME_TILE, true, {true, true}},
        {SPE_OPERATION_LOAD, true, {false, false}},
        {SPE_OPERATION_SVE_PREFETCH, true, {false, false}},
    };
    struct bench b;

    (void)state;
    for (unsigned choice = 0; choice < 2; choice++) {
        bench_open(&b, ALL, choice ? "ev_pred_no_vector=1" : "");
        for (size_t i = 0; i < COUNT(cases); i++) {
            struct spe_operation op = vector(cases[i].kind, 512);

            op.registers = SPE_REGISTERS_SVE;
            op.predicated = false;
            op.predicate_operand = cases[i].operand;
            op.partial_predicate = op.empty_predicate = true;
            bench_record(&b, &op);
            assert_int_equal(event(&b, SPE_EVENT_PARTIAL_PREDICATE), cases[i].expected[choice]);
            assert_int_equal(event(&b, SPE_EVENT_EMPTY_PREDICATE), cases[i].expected[choice]);
        }
        bench_close(&b);
    }
}

static void test_streaming_events(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    op.streaming = op.smcu = true;
    bench_open(&b, ALL, "");
    bench_record(&b, &op);
    assert_int_equal(b.record.events, BIT(24) | BIT(25) | 2);
    bench_close(&b);
    bench_open(&b, ALL, "ev_smcu=0");
    bench_record(&b, &op);
    assert_int_equal(b.record.events, BIT(24) | 2);
    bench_close(&b);
    bench_open(&b, NO_SPE_SME, "");
    bench_record(&b, &op);
    assert_int_equal(b.record.events, 2);
    bench_close(&b);
    bench_open(&b, NO_V1P4 ",-spe_sme", "impdef_events=0x3000000"); /* the bits mean other things */
    bench_record(&b, &op);
    assert_int_equal(b.record.events, 2);
    bench_close(&b);
}

/* ---- Loads and stores ----------------------------------------------------------------------- */

static void test_ldst(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct bench b, old;

    (void)state;
    bench_open(&b, ALL, "");
    bench_open(&old, NO_V1P2, "");
    for (unsigned n = 0; n < 32; n++) {
        struct spe_operation op =
            access_operation(n & 1 ? SPE_OPERATION_STORE : SPE_OPERATION_LOAD, &a, 1);
        bool store = n & 1, predicated = n & 2, zeroing = n & 4, sg = n & 8;

        a.store = store;
        op.vl_bits = 256;
        op.registers = n & 16 ? SPE_REGISTERS_SME : SPE_REGISTERS_SVE;
        op.predicated = predicated;
        op.zeroing = zeroing;
        op.gather_scatter = sg;
        bench_record(&b, &op);
        assert_int_equal(b.type.kind, SPE_OP_SVE_LDST); /* D17.6-147 */ /* D17.6-126 */
        assert_int_equal(b.type.store, store);
        assert_int_equal(b.type.sg, sg);
        assert_int_equal(b.type.evl, 3);
        assert_int_equal(b.type.pred, predicated && (store || zeroing)); /* D17.6-131 */
        assert_int_equal(bench_types(&b, &op), TYPE_SIMD | (store ? TYPE_ST : TYPE_LD));
        bench_record(&old, &op);
        assert_int_equal(old.type.pred, predicated && store);
    }
    bench_close(&b);
    bench_close(&old);
}

static void test_ldst_length(void **state)
{
    static const struct {
        uint32_t vl, vectors;
        unsigned with, without;
    } cases[] = {{1024, 4, 7, 5}, {256, 4, 5, 3}, {128, 1, 2, 2}, {2048, 1, 6, 6}, {512, 3, 6, 4}};
    struct spe_memory_access a = access_at(0x1000);
    struct bench sme, plain;

    (void)state;
    bench_open(&sme, ALL, "");
    bench_open(&plain, NO_SPE_SME, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_operation op = access_operation(SPE_OPERATION_LOAD, &a, 1);

        op.registers = SPE_REGISTERS_SVE;
        op.vl_bits = cases[i].vl;
        op.vectors = cases[i].vectors;
        bench_record(&sme, &op);
        assert_int_equal(sme.type.evl, cases[i].with); /* D17.6-149 */ /* D18.2-126 */
        bench_record(&plain, &op);
        assert_int_equal(plain.type.evl, cases[i].without); /* D17.6-150 */ /* D18.2-126 */
    }
    bench_close(&sme);
    bench_close(&plain);
}

static void test_sme_ldst(void **state)
{
    static const char *const options[] = {"sme_ldst_as=sve_sme", "sme_ldst_as=unspecified"};
    struct spe_memory_access a = access_at(0x1000);
    char why[256];
    struct bench b;

    (void)state;
    for (unsigned unspecified = 0; unspecified < 2; unspecified++) {
        struct spe_operation op = access_operation(SPE_OPERATION_LOAD, &a, 1);

        op.vl_bits = 256;
        op.registers = SPE_REGISTERS_SME;
        bench_open(&b, NO_SPE_SME, options[unspecified]);
        bench_record(&b, &op);
        /* D17.6-148 */
        assert_int_equal(b.type.kind, unspecified ? SPE_OP_UNSPECIFIED : SPE_OP_SVE_LDST);
        op.registers = SPE_REGISTERS_SVE;
        bench_record(&b, &op);
        assert_int_equal(b.type.kind, SPE_OP_SVE_LDST); /* D17.6-147 */
        bench_close(&b);
        op.registers = SPE_REGISTERS_SME;
        bench_open(&b, ALL, options[unspecified]);
        bench_record(&b, &op);
        assert_int_equal(b.type.kind, SPE_OP_SVE_LDST); /* D17.6-147 */
        bench_close(&b);
    }
    assert_int_equal(bench_create(&b, NO_V1P1, options[1], why, sizeof(why)),
                     SPE_ERR_INVALID); /* D17.6-148 */
}

/* ---- Which element -------------------------------------------------------------------------- */

/* Eight elements, some of them inactive. */
static void elements(struct spe_memory_access *a, struct spe_operation *op, unsigned inactive)
{
    for (unsigned i = 0; i < 8; i++) {
        a[i] = access_at(0x1000 + 8 * i);
        a[i].inactive = inactive >> i & 1;
    }
    *op = access_operation(SPE_OPERATION_LOAD, a, 8);
    op->registers = SPE_REGISTERS_SVE;
    op->vl_bits = 512;
    op->partial_predicate = inactive != 0;
}

static void test_gather(void **state)
{
    static const char *const options[] = {"multi_access=part", "multi_access=all",
                                          "part_choice=round_robin"};
    struct spe_memory_access a[8];
    struct spe_operation op;
    struct bench b;

    (void)state;
    for (size_t o = 0; o < COUNT(options); o++) {
        uint32_t histogram[6] = {0}, missing[2] = {0};
        unsigned in_turn = 0, last = 99;

        bench_open(&b, ALL, options[o]);
        elements(a, &op, 0x81); /* the first and the last */
        op.gather_scatter = true;
        for (unsigned i = 0; i < 8000; i++) {
            unsigned element;

            bench_record(&b, &op);
            assert_int_equal(has_address(&b, SPE_ADDRESS_VA), has_address(&b, SPE_ADDRESS_PA));
            missing[!has_address(&b, SPE_ADDRESS_VA)]++;
            if (!has_address(&b, SPE_ADDRESS_VA))
                continue;
            element = (unsigned)(address_of(&b, SPE_ADDRESS_VA) - 0x1000) / 8;
            assert_in_range(element, 1, 6); /* D17.6-154 */
            histogram[element - 1]++;
            in_turn += element == last + 1;
            last = element;
        }
        assert_true(chi_is_flat(histogram, 6));  /* D17.6-154 */
        assert_in_range(missing[1], 1800, 2200); /* D17.6-154: two of eight */
        assert_true(in_turn < 1500);             /* at random, not in turn */
        bench_close(&b);
    }
}

static void test_contiguous(void **state)
{
    char options[120];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 8; n++) {
        bool active = n & 1, output = n & 2, all = n & 4;
        struct spe_memory_access a[8];
        struct spe_operation op;

        /* D17.6-155 */ /* D17.6-156 */
        snprintf(options, sizeof(options),
                 "sve_contig_va=%s sve_contig_inactive_va=%u multi_access=%s",
                 active ? "lowest_active" : "lowest_element", output, all ? "all" : "part");
        bench_open(&b, ALL, options);
        elements(a, &op, 0x07); /* the first three */
        op.contiguous = true;
        for (unsigned i = 0; i < 30; i++) {
            bench_record(&b, &op);
            assert_int_equal(has_address(&b, SPE_ADDRESS_VA), active || output); /* D17.6-156 */
            if (has_address(&b, SPE_ADDRESS_VA))                                 /* D17.6-155 */
                assert_int_equal(address_of(&b, SPE_ADDRESS_VA), active ? 0x1018 : 0x1000);
            assert_int_equal(has_address(&b, SPE_ADDRESS_PA), active); /* D17.6-084 */
        }
        op.accesses = a + 2; /* of two elements the first, just before a line's end, is inactive */
        op.access_count = 2;
        a[2].va = 0x1038;
        a[3].va = 0x1040;
        bench_record(&b, &op);
        assert_false(event(&b, SPE_EVENT_MISALIGNED)); /* D17.6-115: it was not accessed */
        elements(a, &op, 0);                           /* all active: the lowest is both */
        op.contiguous = true;
        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), 0x1000);
        elements(a, &op, 0xff); /* none is */
        op.contiguous = true;
        op.empty_predicate = true;
        bench_record(&b, &op);
        assert_int_equal(has_address(&b, SPE_ADDRESS_VA), output); /* D17.6-156 */
        assert_false(has_address(&b, SPE_ADDRESS_PA));
        assert_false(has_counter(&b, SPE_COUNTER_TRANSLATION)); /* D17.6-089 */
        assert_int_equal(b.record.events & 0xf3c, 0);           /* D17.6-091 */
        bench_close(&b);
    }
}

/* ---- Prefetch ------------------------------------------------------------------------------- */

static void test_prefetch(void **state)
{
    static const char *const infos[] = {"none", "address", "address+events+latency"};
    char options[120];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 6; n++) {
        unsigned info = n % 3;
        bool as_vector = n / 3;
        struct spe_memory_access a = access_at(0x1000);
        struct spe_operation op = access_operation(SPE_OPERATION_SVE_PREFETCH, &a, 1);

        /* D17.6-151 */ /* D17.6-153 */
        snprintf(options, sizeof(options), "sve_prefetch_info=%s sve_prefetch_as=%s", infos[info],
                 as_vector ? "sve_vector" : "other");
        bench_open(&b, ALL, options);
        op.vl_bits = 1024;
        op.predicated = op.partial_predicate = true;
        bench_record(&b, &op);
        assert_int_equal(b.record.op_class, SPE_CLASS_OTHER);                 /* D17.6-152 */
        assert_int_equal(b.type.kind, as_vector ? SPE_OP_SVE : SPE_OP_OTHER); /* D17.6-153 */
        if (as_vector)
            assert_int_equal(b.type.evl, 5);
        assert_false(b.type.pred);
        /* D17.6-151 */
        assert_int_equal(has_address(&b, SPE_ADDRESS_VA), info > 0);
        assert_int_equal(has_address(&b, SPE_ADDRESS_PA), info > 0);
        assert_int_equal(has_counter(&b, SPE_COUNTER_TRANSLATION), info == 2);
        assert_int_equal(event(&b, SPE_EVENT_L1D_ACCESS), info == 2);
        assert_true(event(&b, SPE_EVENT_PARTIAL_PREDICATE));
        assert_false(bench_keeps(&b, &op, TYPE_LD)); /* D17.6-152 */
        assert_int_equal(bench_types(&b, &op), 0);   /* D17.6-152 */
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_predicates_only),
        cmocka_unit_test(test_several_vectors),
        cmocka_unit_test(test_without_spe_sme),
        cmocka_unit_test(test_without_features),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_masked_zero),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_is_fixed),
        cmocka_unit_test(test_split_refused),
        cmocka_unit_test(test_advsimd),
        cmocka_unit_test(test_predicate_events),
        cmocka_unit_test(test_predicate_events_of_others),
        cmocka_unit_test(test_streaming_events),
        cmocka_unit_test(test_ldst),
        cmocka_unit_test(test_ldst_length),
        cmocka_unit_test(test_sme_ldst),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_contiguous),
        cmocka_unit_test(test_prefetch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
