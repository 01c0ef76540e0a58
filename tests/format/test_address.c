/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.1: every INDEX, every value of byte 7. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LOW UINT64_C(0x00a1b2c3d4e5f607)  /* bits [55:0], bit 55 is 1 */
#define LOW0 UINT64_C(0x0021b2c3d4e5f607) /* bit 55 is 0 */

static uint64_t with_top(uint64_t low, unsigned top)
{
    return low | (uint64_t)top << 56;
}

/* The INDEX table, typed in: d defined, p defined with FEAT_SPE_PBT, i IMPLEMENTATION DEFINED, r
 * reserved. */
static const char index_table[] = "ddddp"             /* D18.2-005 to D18.2-009 */
                                  "rii"               /* 5, 6, 7: D18.2-010 */
                                  "rrrrrrrr"          /* 8-15: D18.2-010 */
                                  "iiiiiiiiiiiiiiii"; /* 16-31: D18.2-010 */

static enum spe_definition expected_status(unsigned index, bool pbt)
{
    switch (index_table[index]) {
    case 'd':
        return SPE_DEFINED;
    case 'p':
        return pbt ? SPE_DEFINED : SPE_RESERVED;
    case 'i':
        return SPE_IMPDEF;
    default:
        return SPE_RESERVED;
    }
}

static void every_index_is_classified(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        /* D18.2-009, D18.2-010 */
        assert_int_equal(spe_address_status(i, SPE_FEAT(SPE)), expected_status(i, false));
        assert_int_equal(spe_address_status(i, SPE_FEAT(SPE) | SPE_FEAT(SPE_PBT)),
                         expected_status(i, true));
        assert_int_equal(spe_address_status(i, SPE_FEATURES_ALL), expected_status(i, true));
    }
    assert_int_equal(spe_address_status(32, SPE_FEATURES_ALL), SPE_RESERVED);
}

static void every_index_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(spe_address_name(0), "pc");              /* D18.2-005 */
    assert_string_equal(spe_address_name(1), "target");          /* D18.2-006 */
    assert_string_equal(spe_address_name(2), "va");              /* D18.2-007 */
    assert_string_equal(spe_address_name(3), "pa");              /* D18.2-008 */
    assert_string_equal(spe_address_name(4), "previous_target"); /* D18.2-009 */
    for (unsigned i = 5; i < 40; i++)
        assert_null(spe_address_name(i));
}

static void assert_fields(const struct spe_address *a, uint64_t address, struct spe_address top)
{
    assert_int_equal(a->address, address);
    assert_int_equal(a->el, top.el);
    assert_int_equal(a->ns, top.ns);
    assert_int_equal(a->nse, top.nse);
    assert_int_equal(a->tag, top.tag);
    assert_int_equal(a->ch, top.ch);
    assert_int_equal(a->pat, top.pat);
    assert_int_equal(a->zero, top.zero);
}

/* PC, branch target and previous branch target: NS [7], EL [6:5], NSE [4], zero [3:0]. */
static void instruction_addresses_have_ns_el_nse(void **state)
{
    static const unsigned indexes[] = {0, 1, 4}; /* D18.2-017: 4 is like 1 */
    struct spe_address a;

    (void)state;
    for (size_t i = 0; i < COUNT(indexes); i++) {
        for (unsigned ns = 0; ns < 2; ns++) {
            for (unsigned el = 0; el < 4; el++) { /* D18.2-014: the field is the number */
                for (unsigned nse = 0; nse < 2; nse++) {
                    for (unsigned zero = 0; zero < 16; zero++) {
                        unsigned top = ns * 128 + el * 32 + nse * 16 + zero;

                        spe_address_decode(indexes[i], with_top(LOW, top), &a);
                        assert_fields(&a, LOW, /* D18.2-011 */
                                      (struct spe_address){.ns = (uint8_t)ns,
                                                           .el = (uint8_t)el,
                                                           .nse = (uint8_t)nse,
                                                           .zero = (uint8_t)zero});
                    }
                }
            }
        }
    }
}

static void data_virtual_address_has_its_tag(void **state)
{
    struct spe_address a;

    (void)state;
    for (unsigned top = 0; top < 256; top++) {
        spe_address_decode(2, with_top(LOW, top), &a);
        assert_fields(&a, LOW, (struct spe_address){.tag = (uint8_t)top}); /* D18.2-018 */
        a = (struct spe_address){.address = LOW, .tag = (uint8_t)top};
        assert_int_equal(spe_address_encode(2, &a), with_top(LOW, top)); /* D18.2-019 */
    }
}

/* NS [7], CH [6], zero [5], NSE [4], PAT [3:0]. */
static void data_physical_address_has_its_fields(void **state)
{
    struct spe_address a;

    (void)state;
    for (unsigned ns = 0; ns < 2; ns++) {
        for (unsigned ch = 0; ch < 2; ch++) {
            for (unsigned zero = 0; zero < 2; zero++) {
                for (unsigned nse = 0; nse < 2; nse++) {
                    for (unsigned pat = 0; pat < 16; pat++) {
                        unsigned top = ns * 128 + ch * 64 + zero * 32 + nse * 16 + pat;

                        spe_address_decode(3, with_top(LOW, top), &a);
                        assert_fields(&a, LOW, /* D18.2-021, D18.2-024, D18.2-027 */
                                      (struct spe_address){.ns = (uint8_t)ns,
                                                           .ch = (uint8_t)ch,
                                                           .zero = (uint8_t)zero,
                                                           .nse = (uint8_t)nse,
                                                           .pat = (uint8_t)pat});
                    }
                }
            }
        }
    }
}

static void other_indexes_have_no_layout(void **state)
{
    struct spe_address a;

    (void)state;
    for (unsigned i = 5; i < 34; i++) {
        spe_address_decode(i, with_top(LOW, 0xf5), &a);
        assert_fields(&a, LOW, (struct spe_address){.tag = 0xf5});
    }
}

static void encoding_undoes_decoding(void **state)
{
    struct spe_address a;

    (void)state;
    for (unsigned i = 0; i < 34; i++) {
        for (unsigned top = 0; top < 256; top++) {
            spe_address_decode(i, with_top(LOW, top), &a);
            assert_int_equal(spe_address_encode(i, &a), with_top(LOW, top));
        }
        for (unsigned bit = 0; bit < 64; bit++) {
            spe_address_decode(i, UINT64_C(1) << bit, &a);
            assert_int_equal(spe_address_encode(i, &a), UINT64_C(1) << bit);
        }
    }
}

/* Fields in unused places and values too wide do not leak into other fields. */
static void encoding_looks_at_its_own_fields_only(void **state)
{
    struct spe_address a;

    (void)state;
    memset(&a, 0xff, sizeof(a));
    a.ns = a.el = a.nse = a.zero = 0;
    assert_int_equal(spe_address_encode(0, &a), UINT64_C(0x00ffffffffffffff));
    a.ns = 2;
    a.el = 4;
    a.nse = 2;
    a.zero = 16;
    assert_int_equal(spe_address_encode(4, &a), UINT64_C(0x00ffffffffffffff));
}

/* {NSE,NS}: 00 Secure, 01 Non-secure, 10 reserved, 11 Realm. */
static void security_is_nse_and_ns(void **state)
{
    static const struct {
        uint8_t nse, ns;
        enum spe_security with_rme, without;
    } cases[] = {
        {0, 0, SPE_SECURE, SPE_SECURE},
        {0, 1, SPE_NONSECURE, SPE_NONSECURE},
        {1, 0, SPE_SECURITY_RESERVED, SPE_SECURE},
        {1, 1, SPE_REALM, SPE_NONSECURE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_address a = {.ns = cases[i].ns, .nse = cases[i].nse};

        /* D18.2-012, D18.2-022 */
        assert_int_equal(spe_address_security(&a, SPE_FEAT(RME)), cases[i].with_rme);
        /* D18.2-013, D18.2-023 */
        assert_int_equal(spe_address_security(&a, SPE_FEATURES_ALL & ~SPE_FEAT(RME)),
                         cases[i].without);
    }
}

static void canonical_addresses(void **state)
{
    (void)state;
    for (unsigned top = 0; top < 256; top++) {
        for (unsigned i = 0; i < 5; i++) {
            bool physical = i == 3;

            assert_int_equal(spe_address_canonical(i, with_top(LOW0, top)), LOW0);
            assert_int_equal(spe_address_canonical(i, with_top(LOW, top)),
                             physical ? LOW : with_top(LOW, 0xff));
        }
        assert_int_equal(spe_address_canonical(6, with_top(LOW, top)), with_top(LOW, top));
        assert_int_equal(spe_address_canonical(31, with_top(LOW0, top)), with_top(LOW0, top));
    }
}

/* Bit 55 is the sign, not bit 54; and only INDEX 4 asks for a feature. */
static void sign_and_features(void **state)
{
    (void)state;
    assert_int_equal(spe_address_canonical(SPE_ADDRESS_VA, UINT64_C(0x0040000000000000)),
                     UINT64_C(0x0040000000000000));
    assert_int_equal(spe_address_canonical(SPE_ADDRESS_VA, UINT64_C(0x1280000000000000)),
                     UINT64_C(0xff80000000000000));
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++) {
        bool impdef = i == 6 || i == 7 || i >= 16;
        enum spe_definition expected = i <= 3 ? SPE_DEFINED : impdef ? SPE_IMPDEF : SPE_RESERVED;

        assert_int_equal(spe_address_status(i, 0), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_classified),
        cmocka_unit_test(every_index_has_its_name),
        cmocka_unit_test(instruction_addresses_have_ns_el_nse),
        cmocka_unit_test(data_virtual_address_has_its_tag),
        cmocka_unit_test(data_physical_address_has_its_fields),
        cmocka_unit_test(other_indexes_have_no_layout),
        cmocka_unit_test(encoding_undoes_decoding),
        cmocka_unit_test(encoding_looks_at_its_own_fields_only),
        cmocka_unit_test(security_is_nse_and_ns),
        cmocka_unit_test(canonical_addresses),
        cmocka_unit_test(sign_and_features),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
