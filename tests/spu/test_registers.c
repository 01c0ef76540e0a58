/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D24.7: which registers and bits there are under which features, what they hold after reset, and
 * what the identification registers say. Who may access them is in test_registers_access.c.
 */
#include "support/spu_unit.h"

#define F(name) SPE_FEAT(name)
#define BITS(high, low) ((~UINT64_C(0) >> (63 - ((high) - (low)))) << (low))

/* ---- Names and encodings -------------------------------------------------------------------- */

/* D24.7: op0 is 3 and CRn is 9 for all of the architecture's. */
static const struct {
    enum spe_register reg;
    const char *name;
    unsigned op1, crm, op2;
} names[] = {
    {SPE_REG_PMSCR_EL1, "PMSCR_EL1", 0, 9, 0},
    {SPE_REG_PMSNEVFR_EL1, "PMSNEVFR_EL1", 0, 9, 1},
    {SPE_REG_PMSICR_EL1, "PMSICR_EL1", 0, 9, 2},
    {SPE_REG_PMSIRR_EL1, "PMSIRR_EL1", 0, 9, 3},
    {SPE_REG_PMSFCR_EL1, "PMSFCR_EL1", 0, 9, 4},
    {SPE_REG_PMSEVFR_EL1, "PMSEVFR_EL1", 0, 9, 5},
    {SPE_REG_PMSLATFR_EL1, "PMSLATFR_EL1", 0, 9, 6},
    {SPE_REG_PMSIDR_EL1, "PMSIDR_EL1", 0, 9, 7},
    {SPE_REG_PMBLIMITR_EL1, "PMBLIMITR_EL1", 0, 10, 0},
    {SPE_REG_PMBPTR_EL1, "PMBPTR_EL1", 0, 10, 1},
    {SPE_REG_PMBSR_EL1, "PMBSR_EL1", 0, 10, 3},
    {SPE_REG_PMSDSFR_EL1, "PMSDSFR_EL1", 0, 10, 4},
    {SPE_REG_PMBMAR_EL1, "PMBMAR_EL1", 0, 10, 5},
    {SPE_REG_PMBIDR_EL1, "PMBIDR_EL1", 0, 10, 7},
    {SPE_REG_PMSCR_EL2, "PMSCR_EL2", 4, 9, 0},
    {SPE_REG_PMBSR_EL2, "PMBSR_EL2", 4, 10, 3},
    {SPE_REG_PMSCR_EL12, "PMSCR_EL12", 5, 9, 0},
    {SPE_REG_PMBSR_EL12, "PMBSR_EL12", 5, 10, 3},
    {SPE_REG_PMBSR_EL3, "PMBSR_EL3", 6, 10, 3},
};

static void names_and_encodings(void **state)
{
    unsigned found = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        unsigned encoding =
            3u << 14 | names[i].op1 << 11 | 9u << 7 | names[i].crm << 3 | names[i].op2;

        assert_int_equal(spe_register_encoding(names[i].reg), encoding);
        assert_int_equal(spe_register_by_encoding(encoding), names[i].reg);
        assert_string_equal(spe_register_name(names[i].reg), names[i].name);
        assert_int_equal(spe_register_by_name(names[i].name), names[i].reg);
    }
    assert_int_equal(spe_register_by_encoding(SPE_SYSREG_RNG), SPE_REG_RNG);
    assert_int_equal(spe_register_by_name("pmscr_el12"), SPE_REG_PMSCR_EL12);
    assert_int_equal(spe_register_by_name("PMSCR_EL"), SPE_ERR_UNKNOWN);
    assert_int_equal(spe_register_by_name("PMSCR_EL11"), SPE_ERR_UNKNOWN);
    assert_int_equal(spe_register_by_name(""), SPE_ERR_UNKNOWN);
    for (unsigned encoding = 0; encoding < 0x10000; encoding++)
        found += spe_register_by_encoding(encoding) >= 0;
    assert_int_equal(found, COUNT(names) + 1); /* and RNG */
    assert_int_equal(spe_register_encoding(SPE_REG_NAME_COUNT), SPE_ERR_INVALID);
    assert_null(spe_register_name(SPE_REG_NAME_COUNT));
}

static void unknown_encodings_are_the_hosts(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    assert_int_equal(spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 10, 2), 0, &access), SPE_ERR_UNKNOWN);
    assert_int_equal(spe_spu_write(u.spu, SPE_SYSREG(3, 0, 9, 11, 0), 0, 1, &access),
                     SPE_ERR_UNKNOWN);
    unit_destroy(&u);
}

/* ---- Bits by feature ------------------------------------------------------------------------ */

/* D24.7. A bit can be written when all the features beside it are there. */
static const struct {
    enum spe_register reg;
    uint64_t bits;
    spe_features needs;
} bits[] = {
    {SPE_REG_PMSCR_EL1, BIT(11), F(SPE_nVM) | F(NV)},
    {SPE_REG_PMSCR_EL1, BITS(10, 8), F(SPE_EXC)},
    {SPE_REG_PMSCR_EL1, BIT(7), F(ECV) | F(EL2)},
    {SPE_REG_PMSCR_EL1, BIT(6), F(EL2)},
    {SPE_REG_PMSCR_EL1, BITS(5, 3) | BITS(1, 0), 0},
    {SPE_REG_PMSCR_EL2, BIT(11), F(SPE_nVM) | F(EL2)},
    {SPE_REG_PMSCR_EL2, BITS(10, 8), F(SPE_EXC) | F(EL2)},
    {SPE_REG_PMSCR_EL2, BIT(7), F(ECV) | F(EL2)},
    {SPE_REG_PMSCR_EL2, BITS(6, 3) | BITS(1, 0), F(EL2)},
    {SPE_REG_PMSICR_EL1, BITS(63, 56), F(SPE_ERnd)}, /* D17.3-002 */
    {SPE_REG_PMSICR_EL1, BITS(31, 0), 0},
    {SPE_REG_PMSIRR_EL1, BITS(31, 8) | BIT(0), 0},
    {SPE_REG_PMSFCR_EL1, BITS(52, 48) | BITS(20, 19), F(SPE_EFT)},
    {SPE_REG_PMSFCR_EL1, BIT(4), F(SPE_FDS)},
    {SPE_REG_PMSFCR_EL1, BIT(3), F(SPE_FnE)},
    {SPE_REG_PMSFCR_EL1, BITS(18, 16) | BITS(2, 0), 0},
    {SPE_REG_PMSLATFR_EL1, BITS(15, 0), 0}, /* 16-bit counters */
    {SPE_REG_PMSDSFR_EL1, BITS(63, 0), F(SPE_FDS)},
    {SPE_REG_PMBLIMITR_EL1, BIT(7), F(SPE_nVM)},
    {SPE_REG_PMBLIMITR_EL1, BIT(5), F(SPEv1p2)},
    {SPE_REG_PMBLIMITR_EL1, BITS(63, 12) | BITS(2, 0), 0},
    {SPE_REG_PMBPTR_EL1, BITS(63, 0), 0},
    {SPE_REG_PMBMAR_EL1, BITS(9, 0), F(SPE_nVM)},
    {SPE_REG_PMBSR_EL1, BITS(55, 26) | BITS(19, 0), 0},
    {SPE_REG_PMBSR_EL2, BITS(55, 26) | BITS(19, 0), F(SPE_EXC) | F(EL2)},
    {SPE_REG_PMBSR_EL3, BITS(55, 26) | BITS(19, 0), F(SPE_EXC) | F(EL3)},
    /* Events that can always be filtered on, and those of a feature; E[1] is without speculation.
     */
    {SPE_REG_PMSEVFR_EL1, BIT(3) | BIT(5) | BIT(7), 0},
    {SPE_REG_PMSEVFR_EL1, BIT(6), F(SPE_FnE)},
    {SPE_REG_PMSEVFR_EL1, BIT(11), F(SPEv1p1)},
    {SPE_REG_PMSEVFR_EL1, BITS(18, 17), F(SPEv1p1) | F(SVE)},
    {SPE_REG_PMSEVFR_EL1, BITS(18, 17), F(SPEv1p1) | F(SME)},
    {SPE_REG_PMSEVFR_EL1, BIT(2) | BIT(4) | BITS(10, 8) | BITS(23, 19), F(SPEv1p4)},
    {SPE_REG_PMSEVFR_EL1, BITS(25, 24), F(SPE_SME)},
    {SPE_REG_PMSNEVFR_EL1, BIT(3) | BIT(5) | BIT(6) | BIT(7) | BIT(11), F(SPE_FnE)},
    {SPE_REG_PMSNEVFR_EL1, BITS(18, 17), F(SPE_FnE) | F(SVE)},
    {SPE_REG_PMSNEVFR_EL1, BITS(18, 17), F(SPE_FnE) | F(SME)},
    {SPE_REG_PMSNEVFR_EL1, BIT(2) | BIT(4) | BITS(10, 8) | BITS(23, 19), F(SPEv1p4)},
    {SPE_REG_PMSNEVFR_EL1, BITS(25, 24), F(SPE_FnE) | F(SPE_SME)},
};

static uint64_t expected_bits(enum spe_register reg, spe_features features)
{
    uint64_t mask = 0;

    for (size_t i = 0; i < COUNT(bits); i++)
        if (bits[i].reg == reg && !(bits[i].needs & ~features))
            mask |= bits[i].bits;
    return mask;
}

/* What stays is what is there; PMSCR_EL1.PCT reads 01 without EL2. */
static void check_bits(struct unit *u, enum spe_register reg, spe_features features)
{
    uint64_t mask = expected_bits(reg, features);
    uint64_t fixed = reg == SPE_REG_PMSCR_EL1 && !(features & F(EL2)) ? BIT(6) : 0;

    unit_set(u, reg, ~UINT64_C(0));
    if (unit_get(u, reg) != (mask | fixed))
        fail_msg("%s holds 0x%llx, not 0x%llx, with features 0x%llx", spe_register_name(reg),
                 (unsigned long long)unit_get(u, reg), (unsigned long long)(mask | fixed),
                 (unsigned long long)features);
    for (unsigned bit = 0; bit < 64; bit++) {
        unit_set(u, reg, BIT(bit));
        assert_int_equal(unit_get(u, reg), (BIT(bit) & mask) | fixed);
    }
    unit_set(u, reg, 0);
    assert_int_equal(unit_get(u, reg), fixed);
}

static void check_features(spe_features features)
{
    struct spe_spu_config config;
    struct unit u;

    assert_int_equal(spe_spu_config_init(&config, "architecture"), SPE_OK);
    config.filter_events = 0; /* only what is mandatory */
    config.count_size = 16;
    spe_spu_config_features(&config, features);
    unit_create(&u, &config);
    for (unsigned reg = 0; reg < SPE_REG_RNG; reg++)
        if (reg != SPE_REG_PMSIDR_EL1 && reg != SPE_REG_PMBIDR_EL1)
            check_bits(&u, (enum spe_register)reg, config.features);
    unit_destroy(&u);
}

static void bits_by_feature(void **state)
{
    char list[64];

    (void)state;
    check_features(SPE_FEATURES_ALL);
    check_features(unit_features("spe"));
    check_features(unit_features("spe,el2"));
    check_features(unit_features("v1p1,el2,el3,sve"));
    check_features(unit_features("v1p1,sme,spe_sme,el2"));
    for (unsigned f = SPE_FEAT_SPE + 1; f < SPE_FEAT_COUNT; f++) {
        snprintf(list, sizeof(list), "all,-%s", spe_feature_name(f));
        check_features(unit_features(list));
    }
}

/* Names of the _EL12 kind are EL1's registers; there is nothing behind a number that is none. */
static void other_names(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    unit_set(&u, SPE_REG_PMSCR_EL12, 3);
    assert_int_equal(unit_get(&u, SPE_REG_PMSCR_EL1), 3);
    assert_int_equal(unit_get(&u, SPE_REG_PMSCR_EL12), 3);
    unit_set(&u, SPE_REG_PMBSR_EL12, 5);
    assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1), 5);
    assert_int_equal(spu_register_mask(u.spu, SPE_REG_PMSCR_EL12), 0xffb);
    unit_set(&u, SPE_REG_NAME_COUNT, 5);
    assert_int_equal(unit_get(&u, SPE_REG_NAME_COUNT), 0);
    unit_destroy(&u);
}

/* ---- Bits by option ------------------------------------------------------------------------- */

static uint64_t held(const struct spe_spu_config *config, enum spe_register reg)
{
    struct unit u;
    uint64_t value;

    unit_create(&u, config);
    unit_set(&u, reg, ~UINT64_C(0));
    value = unit_get(&u, reg);
    unit_destroy(&u);
    return value;
}

static void bits_by_option(void **state)
{
    struct spe_spu_config config;

    (void)state;
    unit_config(&config, "all");
    config.count_size = 12;
    assert_int_equal(held(&config, SPE_REG_PMSLATFR_EL1), 0x0fff); /* D18.2-050 */
    config.count_size = 16;
    assert_int_equal(held(&config, SPE_REG_PMSLATFR_EL1), 0xffff); /* D18.2-050 */
    config.granule_shift = 14;
    assert_int_equal(held(&config, SPE_REG_PMBLIMITR_EL1), ~UINT64_C(0x3fff) | 0xa7);
    config.granule_shift = 16;
    assert_int_equal(held(&config, SPE_REG_PMBLIMITR_EL1), ~UINT64_C(0xffff) | 0xa7);
    config.filter_sources = 0x8000000000000005;
    assert_int_equal(held(&config, SPE_REG_PMSDSFR_EL1), 0x8000000000000005);
    config.spec_sampling = 1;
    assert_int_equal(held(&config, SPE_REG_PMSEVFR_EL1) & 3, 2);
    config.impdef_events = BIT(12) | BIT(63);
    config.filter_events = BIT(63);
    assert_int_equal(held(&config, SPE_REG_PMSEVFR_EL1) & (BIT(12) | BIT(63)), BIT(63));
    config.ptr_low_res0 = 1;
    config.min_align_bytes = 64;
    assert_int_equal(held(&config, SPE_REG_PMBPTR_EL1), ~UINT64_C(63));
    config.ptr_low_res0 = 0;
    assert_int_equal(held(&config, SPE_REG_PMBPTR_EL1), ~UINT64_C(0));
}

/* E[0], E[16] and E[47:32] can never be filtered on. */
static void events_that_are_never_filtered(void **state)
{
    struct spe_spu_config config;

    (void)state;
    unit_config(&config, "spe,v1p1,el2");
    config.impdef_events = UINT64_C(0xffff0000ff00f000);
    config.filter_events = UINT64_C(0xffff0000ff00f714);
    config.spec_sampling = 1;
    /* Without FEAT_SPEv1p2 there is no E[6], without SVE no E[18:17]. */
    assert_int_equal(held(&config, SPE_REG_PMSEVFR_EL1), UINT64_C(0xffff0000ff00ffbe));
}

/* PMSCR_EL2.{E2SPE,E0HSPE} are RES0 for instructions while EL1 owns the buffer. */
static void bits_that_hide(void **state)
{
    struct spe_register_access access;
    struct unit u;
    unsigned pmscr_el2 = SPE_SYSREG(3, 4, 9, 9, 0);

    (void)state;
    unit_with(&u, "all");
    u.pe.el = 2;
    u.pe.mdcr_el2 = ~UINT64_C(0); /* its neighbours do not matter */
    for (unsigned e2pb = 0; e2pb < 4; e2pb++) {
        unit_put(&u.pe.mdcr_el2, 12, 2, e2pb);
        unit_pe(&u);
        unit_set(&u, SPE_REG_PMSCR_EL2, 0x3b);
        spe_spu_read(u.spu, pmscr_el2, 0, &access);
        assert_int_equal(access.value, e2pb ? 0x38 : 0x3b);
        spe_spu_write(u.spu, pmscr_el2, 0, 0, &access);
        assert_int_equal(unit_get(&u, SPE_REG_PMSCR_EL2), e2pb ? 3 : 0);
        spe_spu_write(u.spu, pmscr_el2, 0, 0x3b, &access);
        unit_set(&u, SPE_REG_PMSCR_EL2, 0);
        spe_spu_write(u.spu, pmscr_el2, 0, 0x3b, &access);
        assert_int_equal(unit_get(&u, SPE_REG_PMSCR_EL2), e2pb ? 0x38 : 0x3b);
    }
    unit_destroy(&u);
}

/* ---- Fields --------------------------------------------------------------------------------- */

/* A register's fields do not overlap, come from high to low, and those that can be written make up
 * the bits that it holds. */
static void check_field_list(struct unit *u, unsigned reg)
{
    struct spe_register_field f;
    uint64_t all = 0, writable = 0;
    unsigned above = 64;
    size_t i = 0;

    for (; spe_register_field_at(u->spu, reg, i, &f); i++) {
        assert_true(f.high >= f.low);
        assert_true(f.high < above);
        above = f.low;
        assert_int_equal(all & BITS(f.high, f.low), 0);
        all |= BITS(f.high, f.low);
        assert_true(f.present || !f.writable);
        if (f.writable)
            writable |= BITS(f.high, f.low);
    }
    assert_true(i > 0);
    if (reg < SPE_REG_COUNT) /* the others are names, which may be missing */
        assert_int_equal(spu_register_mask(u->spu, (enum spe_register)reg) & ~writable, 0);
}

static void field_lists(void **state)
{
    static const char *const sets[] = {"all", "spe", "v1p1,el2", "all,-el2", "all,-spe_exc"};
    struct unit u;

    (void)state;
    for (size_t s = 0; s < COUNT(sets); s++) {
        unit_with(&u, sets[s]);
        for (unsigned reg = 0; reg < SPE_REG_NAME_COUNT; reg++)
            check_field_list(&u, reg);
        unit_destroy(&u);
    }
}

/* All of them, as they are written in the manual. */
static const struct {
    enum spe_register reg;
    const char *fields;
} field_rows[] = {
    {SPE_REG_PMSCR_EL1, "EnVM[11] KE[10] EE[9:8] PCT[7:6] TS[5] PA[4] CX[3] E1SPE[1] E0SPE[0]"},
    {SPE_REG_PMSCR_EL12, "EnVM[11] KE[10] EE[9:8] PCT[7:6] TS[5] PA[4] CX[3] E1SPE[1] E0SPE[0]"},
    {SPE_REG_PMSCR_EL2, "EnVM[11] KE[10] EE[9:8] PCT[7:6] TS[5] PA[4] CX[3] E2SPE[1] E0HSPE[0]"},
    {SPE_REG_PMSICR_EL1, "ECOUNT[63:56] COUNT[31:0]"},
    {SPE_REG_PMSIRR_EL1, "INTERVAL[31:8] RND[0]"},
    {SPE_REG_PMSFCR_EL1, "SIMDm[52] FPm[51] STm[50] LDm[49] Bm[48] SIMD[20] FP[19] ST[18] LD[17] "
                         "B[16] FDS[4] FnE[3] FL[2] FT[1] FE[0]"},
    {SPE_REG_PMSEVFR_EL1, "E[63:0]"},
    {SPE_REG_PMSNEVFR_EL1, "E[63:0]"},
    {SPE_REG_PMSLATFR_EL1, "MINLAT[15:0]"},
    {SPE_REG_PMSDSFR_EL1, "S[63:0]"},
    {SPE_REG_PMBLIMITR_EL1, "LIMIT[63:12] nVM[7] PMFZ[5] FM[2:1] E[0]"},
    {SPE_REG_PMBPTR_EL1, "PTR[63:0]"},
    {SPE_REG_PMBMAR_EL1, "SH[9:8] Attr[7:0]"},
    {SPE_REG_PMBSR_EL1, "MSS2[55:32] EC[31:26] DL[19] EA[18] S[17] COLL[16] MSS[15:0]"},
    {SPE_REG_PMBSR_EL12, "MSS2[55:32] EC[31:26] DL[19] EA[18] S[17] COLL[16] MSS[15:0]"},
    {SPE_REG_PMBSR_EL2, "MSS2[55:32] EC[31:26] DL[19] EA[18] S[17] COLL[16] MSS[15:0]"},
    {SPE_REG_PMBSR_EL3, "MSS2[55:32] EC[31:26] DL[19] EA[18] S[17] COLL[16] MSS[15:0]"},
    {SPE_REG_PMSIDR_EL1,
     "SME[32] ALTCLK[31:28] FPF[27] EFT[26] CRR[25] PBT[24] Format[23:20] CountSize[19:16] "
     "MaxSize[15:12] Interval[11:8] FDS[7] FnE[6] ERnd[5] LDS[4] ArchInst[3] FL[2] FT[1] FE[0]"},
    {SPE_REG_PMBIDR_EL1, "MaxBuffSize[47:32] EA[11:8] AddrMode[7:6] F[5] P[4] Align[3:0]"},
    {SPE_REG_RNG, "STATE[63:0]"},
};

static void every_field(void **state)
{
    struct spe_register_field f;
    struct unit u;
    char list[512];

    (void)state;
    unit_with(&u, "all");
    assert_int_equal(COUNT(field_rows), SPE_REG_NAME_COUNT);
    for (size_t i = 0; i < COUNT(field_rows); i++) {
        unsigned reg = field_rows[i].reg;
        bool fixed = reg == SPE_REG_PMSIDR_EL1 || reg == SPE_REG_PMBIDR_EL1 || reg == SPE_REG_RNG;
        size_t length = 0;

        list[0] = '\0';
        for (size_t n = 0; spe_register_field_at(u.spu, reg, n, &f); n++) {
            length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s[%u",
                                       n ? " " : "", f.name, f.high);
            if (f.low != f.high)
                length += (size_t)snprintf(list + length, sizeof(list) - length, ":%u", f.low);
            length += (size_t)snprintf(list + length, sizeof(list) - length, "]");
            assert_int_equal(f.present, reg != SPE_REG_RNG); /* rng_config_regs is none */
            assert_int_equal(f.writable, !fixed);
        }
        assert_string_equal(list, field_rows[i].fields);
    }
    assert_false(spe_register_field_at(u.spu, SPE_REG_NAME_COUNT, 0, &f));
    unit_destroy(&u);
}

static void fields_that_are_missing(void **state)
{
    struct spe_register_field f;
    struct unit u;

    (void)state;
    unit_with(&u, "all,-spe_exc");
    assert_true(spe_register_field_at(u.spu, SPE_REG_PMSCR_EL1, 2, &f)); /* EE */
    assert_false(f.present);
    assert_false(f.writable);
    assert_true(spe_register_field_at(u.spu, SPE_REG_PMSCR_EL1, 3, &f)); /* PCT */
    assert_true(f.present);
    assert_true(spe_register_field_at(u.spu, SPE_REG_PMBSR_EL12, 0, &f));
    assert_false(f.present); /* the name is not there, though the register is */
    unit_destroy(&u);

    unit_with(&u, "all,-el2");
    assert_true(spe_register_field_at(u.spu, SPE_REG_PMSCR_EL1, 3, &f)); /* PCT */
    assert_true(f.present);
    assert_false(f.writable); /* it reads 01 */
    assert_true(spe_register_field_at(u.spu, SPE_REG_PMSCR_EL2, 3, &f));
    assert_false(f.present);
    unit_destroy(&u);
}

/* ---- Reset ---------------------------------------------------------------------------------- */

static void reset_to_zero(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned reg = 0; reg < SPE_REG_RNG; reg++)
        unit_set(&u, (enum spe_register)reg, ~UINT64_C(0));
    spe_spu_reset(u.spu);
    for (unsigned reg = 0; reg < SPE_REG_RNG; reg++)
        if (reg != SPE_REG_PMSIDR_EL1 && reg != SPE_REG_PMBIDR_EL1)
            assert_int_equal(unit_get(&u, (enum spe_register)reg), 0);
    unit_destroy(&u);
}

/* UNKNOWN values: each bit is seen 0 and 1 over many resets, but for those with a reset value. */
static void check_random_reset(const char *features, uint64_t pmscr_el1, uint64_t pmscr_el2)
{
    uint64_t ones[SPE_REG_RNG] = {0}, zeros[SPE_REG_RNG] = {0};
    struct spe_spu_config config;
    struct unit u;

    unit_config(&config, features);
    config.reset_values = SPE_RESET_RANDOM;
    for (unsigned seed = 0; seed < 64; seed++) {
        config.rng_seed = seed;
        unit_create(&u, &config);
        for (unsigned reg = 0; reg < SPE_REG_RNG; reg++) {
            uint64_t mask = spu_register_mask(u.spu, (enum spe_register)reg);
            uint64_t value = unit_get(&u, (enum spe_register)reg);

            ones[reg] |= value & mask;
            zeros[reg] |= ~value & mask;
        }
        unit_destroy(&u);
    }
    unit_create(&u, &config);
    for (unsigned reg = 0; reg < SPE_REG_RNG; reg++) {
        uint64_t mask = spu_register_mask(u.spu, (enum spe_register)reg), fixed = 0;

        if (reg == SPE_REG_PMBLIMITR_EL1)
            fixed = 1; /* E */
        if (reg == SPE_REG_PMSCR_EL1)
            fixed = pmscr_el1;
        if (reg == SPE_REG_PMSCR_EL2)
            fixed = pmscr_el2;
        assert_int_equal(ones[reg], mask & ~fixed);
        assert_int_equal(zeros[reg], mask);
    }
    unit_destroy(&u);
}

static void reset_to_unknown_values(void **state)
{
    (void)state;
    check_random_reset("all", 0, 0); /* MDCR_EL3.PMSEE is the one that is 0 */
    check_random_reset("all,-el3", 0, BITS(9, 8));
    check_random_reset("all,-el3,-el2", BITS(9, 8), 0);
}

/* ---- PMSIDR_EL1 ----------------------------------------------------------------------------- */

static uint64_t pmsidr_of(const char *features)
{
    struct spe_spu_config config;
    struct unit u;
    uint64_t value;

    unit_config(&config, features);
    config.max_size = 2048;
    unit_create(&u, &config);
    value = unit_get(&u, SPE_REG_PMSIDR_EL1);
    unit_destroy(&u);
    return value;
}

static void pmsidr_features(void **state)
{
    static const struct {
        const char *features;
        uint64_t flags; /* all but Format, CountSize, MaxSize, Interval */
    } rows[] = {
        {"spe", 0x7},
        {"spe,spe_archinst", 0xf},
        {"spe,spe_lds", 0x17},
        {"spe,spe_ernd", 0x27}, /* D17.3-002 */
        {"v1p2", 0x47},
        {"v1p4,spe_lds,spe_fds", 0xd7},
        {"v1p2,spe_pbt", BIT(24) | 0x47},
        {"v1p4,spe_crr", BIT(25) | 0x47},
        {"spe,spe_eft", BIT(26) | BIT(27) | 0x7},
        {"spe,spe_altclk", BIT(28) | 0x7},
        {"v1p1,sme,spe_sme", BIT(32) | 0x7},
        {"all", BIT(32) | BITS(28, 24) | 0xff},
    };
    struct spe_spu_config config;
    struct unit u;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t value = pmsidr_of(rows[i].features);

        assert_int_equal(value & ~BITS(19, 8), rows[i].flags);
        assert_int_equal(value >> 20 & 15, 0); /* D18.1-001, D18.1-002: v1p0 and v1p1 too */
    }
    unit_config(&config, "all");
    config.altclk = SPE_ALTCLK_IMPDEF;
    unit_create(&u, &config);
    assert_int_equal(unit_get(&u, SPE_REG_PMSIDR_EL1) >> 28 & 15, 15);
    unit_destroy(&u);
}

static void pmsidr_numbers(void **state)
{
    static const struct {
        unsigned interval, code;
    } intervals[] = {
        {256, 0}, {512, 2}, {768, 3}, {1024, 4}, {1536, 5}, {2048, 6}, {3072, 7}, {4096, 8},
    };
    struct spe_spu_config config;
    struct unit u;

    (void)state;
    unit_config(&config, "spe,v1p1,el2");
    for (size_t i = 0; i < COUNT(intervals); i++) {
        config.min_interval = intervals[i].interval;
        unit_create(&u, &config);
        assert_int_equal(unit_get(&u, SPE_REG_PMSIDR_EL1) >> 8 & 15, intervals[i].code);
        unit_destroy(&u);
    }
    for (unsigned log = 7; log <= 11; log++) {
        config.max_size = 1u << log;
        unit_create(&u, &config);
        assert_int_equal(unit_get(&u, SPE_REG_PMSIDR_EL1) >> 12 & 15, log);
        unit_destroy(&u);
    }
    config.count_size = 12;
    unit_create(&u, &config);
    assert_int_equal(unit_get(&u, SPE_REG_PMSIDR_EL1) >> 16 & 15, 2); /* D18.2-050 */
    unit_destroy(&u);
    config.count_size = 16;
    unit_create(&u, &config);
    assert_int_equal(unit_get(&u, SPE_REG_PMSIDR_EL1) >> 16 & 15, 3); /* D18.2-050 */
    unit_destroy(&u);
}

/* The identification registers cannot be written, by anybody. */
static void identification_is_read_only(void **state)
{
    static const enum spe_register regs[] = {SPE_REG_PMSIDR_EL1, SPE_REG_PMBIDR_EL1};
    static const char *const sets[] = {"spe,el2,el3", "v1p1,el2,el3", "all"};
    struct spe_register_access access;
    struct unit u;

    (void)state;
    for (size_t s = 0; s < COUNT(sets); s++) {
        unit_with(&u, sets[s]);
        for (size_t i = 0; i < COUNT(regs); i++) {
            for (uint8_t el = 0; el < 4; el++) {
                uint64_t before;

                u.pe.el = el;
                unit_pe(&u);
                before = unit_get(&u, regs[i]);
                unit_set(&u, regs[i], ~before);
                assert_int_equal(spe_spu_write(u.spu, (unsigned)spe_register_encoding(regs[i]), 0,
                                               ~before, &access),
                                 SPE_OK);
                assert_int_equal(access.outcome, SPE_OUTCOME_UNDEFINED); /* D18.1-002 */
                assert_int_equal(unit_get(&u, regs[i]), before);         /* D18.1-002 */
            }
        }
        unit_destroy(&u);
    }
}

/* ---- PMBIDR_EL1 ----------------------------------------------------------------------------- */

static uint64_t pmbidr_of(const struct spe_spu_config *config)
{
    struct unit u;
    uint64_t value;

    unit_create(&u, config);
    value = unit_get(&u, SPE_REG_PMBIDR_EL1);
    unit_destroy(&u);
    return value;
}

static void pmbidr_by_option(void **state)
{
    struct spe_spu_config config;

    (void)state;
    unit_config(&config, "v1p2,el2,el3,secure");
    config.max_size = 2048;
    config.ea_described = 1;
    config.write_abort = SPE_ABORT_IGNORE;
    assert_int_equal(pmbidr_of(&config) >> 8 & 15, 1); /* D17.8-158 */
    config.write_abort = SPE_ABORT_SERROR;
    assert_int_equal(pmbidr_of(&config) >> 8 & 15, 2); /* D17.8-158 */
    config.write_abort = SPE_ABORT_REPORT;
    assert_int_equal(pmbidr_of(&config) >> 8 & 15, 0); /* D17.8-158 */
    config.write_abort = SPE_ABORT_SERROR;
    config.ea_described = 0;
    assert_int_equal(pmbidr_of(&config) >> 8 & 15, 0);
    config.spu_hw_af_dirty = 0;
    assert_int_equal(pmbidr_of(&config) >> 5 & 1, 0); /* D17.8-153 */
    config.spu_hw_af_dirty = 1;
    assert_int_equal(pmbidr_of(&config) >> 5 & 1, 1); /* D17.8-153 */
    for (unsigned log = 0; log <= 11; log++) {
        config.min_align_bytes = 1u << log;
        assert_int_equal(pmbidr_of(&config) & 15, log); /* D17.8-136 */
    }
    assert_int_equal(pmbidr_of(&config) & ~BITS(11, 0), 0); /* MaxBuffSize and RES0 */
}

/* P, by the description of the field: who owns the buffer and who reads. */
static void pmbidr_programming(void **state)
{
    static const uint8_t states[] = {SPE_SECURE, SPE_NONSECURE, SPE_REALM};
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    unit_field(&u, SPE_REG_PMSCR_EL2, 11, 1, 1); /* EnVM */
    for (unsigned n = 0; n < 3 * 3 * 4 * 3 * 2; n++) {
        static const unsigned e2pbs[] = {0, 2, 3};
        unsigned now = states[n % 3], owner = states[n / 3 % 3], el = n / 9 % 4;
        unsigned e2pb = e2pbs[n / 36 % 3], eel2 = n / 108;
        bool p = el < 3;

        unit_put(&u.pe.scr_el3, 0, 1, now & 1);
        unit_put(&u.pe.scr_el3, 62, 1, now >> 1);
        unit_put(&u.pe.scr_el3, 18, 1, eel2);
        unit_put(&u.pe.mdcr_el3, 13, 1, owner & 1);
        unit_put(&u.pe.mdcr_el3, 11, 1, owner >> 1);
        unit_put(&u.pe.mdcr_el2, 12, 2, e2pb);
        u.pe.el = (uint8_t)el;
        unit_pe(&u);
        if (el == 2 && now == SPE_SECURE && !eel2)
            continue; /* there is no such place */
        if (el == 1 && now == owner)
            p = e2pb == 0 && (now != SPE_SECURE || eel2);
        if (el == 2 && now == owner)
            p = false;
        assert_int_equal(unit_get(&u, SPE_REG_PMBIDR_EL1) >> 4 & 1, p);
        assert_int_equal(unit_get(&u, SPE_REG_PMBIDR_EL1) >> 6 & 3, p ? 0 : 1);
    }
    unit_destroy(&u);
}

/* AddrMode: FEAT_SPE_nVM, and EL2 has not kept it for itself. */
static void pmbidr_address_modes(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    u.pe.el = 1;
    for (unsigned envm = 0; envm < 2; envm++) {
        unit_pe(&u);
        unit_field(&u, SPE_REG_PMSCR_EL2, 11, 1, envm);
        assert_int_equal(unit_get(&u, SPE_REG_PMBIDR_EL1) >> 6 & 3, envm);
    }
    unit_field(&u, SPE_REG_PMSCR_EL2, 11, 1, 0);
    u.pe.el = 2;
    unit_put(&u.pe.mdcr_el2, 12, 2, 0); /* EL2 owns: the Effective value is 1 */
    unit_pe(&u);
    assert_int_equal(unit_get(&u, SPE_REG_PMBIDR_EL1) >> 6 & 3, 1);
    unit_destroy(&u);

    unit_with(&u, "v1p4,el2");
    u.pe.el = 2;
    unit_pe(&u);
    assert_int_equal(unit_get(&u, SPE_REG_PMBIDR_EL1) >> 6 & 3, 0);
    unit_destroy(&u);
}

/* ---- The generator's register --------------------------------------------------------------- */

static void generator_register(void **state)
{
    struct spe_spu_config config;
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_config(&config, "all");
    assert_int_equal(config.rng_config_regs, SPE_ABSENT);
    unit_create(&u, &config);
    u.pe.el = 1;
    unit_pe(&u);
    assert_int_equal(spe_spu_read(u.spu, SPE_SYSREG_RNG, 0, &access),
                     SPE_ERR_UNKNOWN); /* D17.3-014 */
    assert_int_equal(unit_get(&u, SPE_REG_RNG), 0);
    unit_set(&u, SPE_REG_RNG, 1);
    assert_int_equal(unit_get(&u, SPE_REG_RNG), 0);
    unit_destroy(&u);

    config.rng_config_regs = SPE_PRESENT;
    unit_create(&u, &config);
    assert_int_equal(spe_spu_read(u.spu, SPE_SYSREG_RNG, 0, &access), SPE_OK);
    assert_int_equal(access.outcome, SPE_OUTCOME_UNDEFINED); /* at EL0 */
    u.pe.el = 1;
    unit_pe(&u);
    spe_spu_write(u.spu, SPE_SYSREG_RNG, 0, 0x123456789abcdef0, &access);
    assert_int_equal(access.outcome, SPE_OUTCOME_DONE); /* D17.3-014 */
    spe_spu_read(u.spu, SPE_SYSREG_RNG, 0, &access);
    assert_int_equal(access.value, 0x123456789abcdef0); /* D17.3-014 */
    assert_int_equal(access.reg, SPE_REG_RNG);
    unit_destroy(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_encodings),
        cmocka_unit_test(unknown_encodings_are_the_hosts),
        cmocka_unit_test(bits_by_feature),
        cmocka_unit_test(other_names),
        cmocka_unit_test(bits_by_option),
        cmocka_unit_test(events_that_are_never_filtered),
        cmocka_unit_test(bits_that_hide),
        cmocka_unit_test(field_lists),
        cmocka_unit_test(every_field),
        cmocka_unit_test(fields_that_are_missing),
        cmocka_unit_test(reset_to_zero),
        cmocka_unit_test(reset_to_unknown_values),
        cmocka_unit_test(pmsidr_features),
        cmocka_unit_test(pmsidr_numbers),
        cmocka_unit_test(identification_is_read_only),
        cmocka_unit_test(pmbidr_by_option),
        cmocka_unit_test(pmbidr_programming),
        cmocka_unit_test(pmbidr_address_modes),
        cmocka_unit_test(generator_register),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
