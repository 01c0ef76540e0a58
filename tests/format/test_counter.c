/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.3: every INDEX, and counts at the edges of both sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <specimen/format.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The INDEX table, typed in: d defined, a the alternate clock, i IMPLEMENTATION DEFINED, r
 * reserved. */
static const char index_table[] = "dddrar"            /* D18.2-036 to D18.2-040 */
                                  "ii"                /* 6, 7: D18.2-040 */
                                  "rrrrrrrr"          /* 8-15: D18.2-040 */
                                  "iiiiiiiiiiiiiiii"; /* 16-31: D18.2-040 */

static enum spe_definition expected_status(unsigned index, bool alternate_clock)
{
    switch (index_table[index]) {
    case 'd':
        return SPE_DEFINED;
    case 'a':
        return alternate_clock ? SPE_DEFINED : SPE_RESERVED;
    case 'i':
        return SPE_IMPDEF;
    default:
        return SPE_RESERVED;
    }
}

static void every_index_is_classified(void **state)
{
    static const struct {
        spe_features features;
        bool alternate_clock; /* D18.2-039: FEAT_SPE_SME, and a clock that ALTCLK names */
    } cases[] = {
        {SPE_FEAT(SPE), false},
        {SPE_FEAT(SPE) | SPE_FEAT(SPE_SME), false},
        {SPE_FEAT(SPE) | SPE_FEAT(SPE_ALTCLK), false},
        {SPE_FEAT(SPE) | SPE_FEAT(SPE_SME) | SPE_FEAT(SPE_ALTCLK), true},
        {SPE_FEATURES_ALL, true},
    };

    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        for (unsigned i = 0; i < 32; i++) /* D18.2-040 */
            assert_int_equal(spe_counter_status(i, cases[c].features),
                             expected_status(i, cases[c].alternate_clock));
        assert_int_equal(spe_counter_status(32, cases[c].features), SPE_RESERVED);
    }
}

static void every_index_has_its_name(void **state)
{
    (void)state;
    assert_string_equal(spe_counter_name(0), "total");       /* D18.2-036 */
    assert_string_equal(spe_counter_name(1), "issue");       /* D18.2-037 */
    assert_string_equal(spe_counter_name(2), "translation"); /* D18.2-038 */
    assert_null(spe_counter_name(3));
    assert_string_equal(spe_counter_name(4), "alt_issue"); /* D18.2-039 */
    for (unsigned i = 5; i < 40; i++)
        assert_null(spe_counter_name(i));
}

static void counts_saturate(void **state)
{
    static const struct {
        uint64_t cycles;
        uint16_t in12, in16;
        bool full12, full16;
    } cases[] = {
        {0, 0, 0, false, false},
        {1, 1, 1, false, false},
        {0xffe, 0xffe, 0xffe, false, false},
        {0xfff, 0xfff, 0xfff, true, false}, /* the mark of saturation */
        {0x1000, 0xfff, 0x1000, true, false},
        {0xfffe, 0xfff, 0xfffe, true, false},
        {0xffff, 0xfff, 0xffff, true, true},
        {0x10000, 0xfff, 0xffff, true, true},
        {UINT64_C(1) << 32, 0xfff, 0xffff, true, true},
        {UINT64_MAX, 0xfff, 0xffff, true, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint16_t in12 = spe_counter_clip(cases[i].cycles, 12);
        uint16_t in16 = spe_counter_clip(cases[i].cycles, 16);

        assert_int_equal(in12, cases[i].in12); /* D18.2-047, D18.2-049 */
        assert_int_equal(in16, cases[i].in16); /* D18.2-048, D18.2-049 */
        assert_int_equal(spe_counter_saturated(in12, 12), cases[i].full12);
        assert_int_equal(spe_counter_saturated(in16, 16), cases[i].full16);
    }
    assert_int_equal(spe_counter_max(12), 0xfff);  /* D18.2-049 */
    assert_int_equal(spe_counter_max(16), 0xffff); /* D18.2-049 */
}

/* The count is the whole payload, in its low bits: bytes 1:0, little-endian. */
static void the_payload_is_the_count(void **state)
{
    static const struct {
        uint8_t bytes[3];
        uint16_t count;
    } cases[] = {
        {{0x98, 0x00, 0x00}, 0},      {{0x98, 0x01, 0x00}, 1},
        {{0x98, 0xfe, 0x0f}, 0xffe},  {{0x98, 0xff, 0x0f}, 0xfff},  /* D18.2-047 */
        {{0x98, 0xfe, 0xff}, 0xfffe}, {{0x98, 0xff, 0xff}, 0xffff}, /* D18.2-048 */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_packet p;
        uint8_t bytes[3];

        assert_int_equal(spe_packet_decode(cases[i].bytes, 3, &p), 3);
        assert_int_equal(p.payload, cases[i].count); /* D18.2-033 */
        assert_int_equal(spe_packet_make(&p, SPE_PACKET_COUNTER, 0, 0, cases[i].count), 0);
        assert_int_equal(spe_packet_encode(&p, bytes, 3), 3);
        assert_memory_equal(bytes, cases[i].bytes, 3);
    }
}

static void without_any_feature(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++) {
        bool impdef = i == 6 || i == 7 || i >= 16;
        enum spe_definition expected = i <= 2 ? SPE_DEFINED : impdef ? SPE_IMPDEF : SPE_RESERVED;

        assert_int_equal(spe_counter_status(i, 0), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_classified), cmocka_unit_test(every_index_has_its_name),
        cmocka_unit_test(counts_saturate),           cmocka_unit_test(the_payload_is_the_count),
        cmocka_unit_test(without_any_feature),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
