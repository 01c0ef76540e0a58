/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.6: all 64 events under all sets of the features that matter to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What D18.2.6 says of each bit, typed in:
 *   d  defined                         i  IMPLEMENTATION DEFINED       0  reads as zero
 *   1  FEAT_SPEv1p1, else zero         4  FEAT_SPEv1p4, else zero
 *   v  FEAT_SPEv1p1 and SVE or SME, else zero
 *   s  FEAT_SPE_SME; else zero with FEAT_SPEv1p4; else IMPLEMENTATION DEFINED
 *   z  zero with FEAT_SPEv1p4, else IMPLEMENTATION DEFINED */
static const char table[] = "d"                 /* 0: D18.2-094 */
                            "d"                 /* 1: D18.2-091 */
                            "d"                 /* 2: D18.2-090 */
                            "d"                 /* 3: D18.2-088, D18.2-089 */
                            "d"                 /* 4: D18.2-087 */
                            "d"                 /* 5: D18.2-086 */
                            "d"                 /* 6: D18.2-085 */
                            "d"                 /* 7: D18.2-084 */
                            "d"                 /* 8: D18.2-081 */
                            "d"                 /* 9: D18.2-080 */
                            "d"                 /* 10: D18.2-079 */
                            "1"                 /* 11: D18.2-078 */
                            "iiii"              /* 12-15: D18.2-077 */
                            "0"                 /* 16: D18.2-076 */
                            "v"                 /* 17: D18.2-074 */
                            "v"                 /* 18: D18.2-073 */
                            "4"                 /* 19: D18.2-071 */
                            "4"                 /* 20: D18.2-070 */
                            "4"                 /* 21: D18.2-068 */
                            "4"                 /* 22: D18.2-067 */
                            "4"                 /* 23: D18.2-066 */
                            "s"                 /* 24: D18.2-065 */
                            "s"                 /* 25: D18.2-064 */
                            "zzzzzz"            /* 26-31: D18.2-063 */
                            "0000000000000000"  /* 32-47: D18.2-062 */
                            "iiiiiiiiiiiiiiii"; /* 48-63: D18.2-061 */

static const struct {
    unsigned event;
    const char *name;
} names[] = {
    {0, "exception"},          /* D18.2-094 */
    {1, "retired"},            /* D18.2-091 */
    {2, "l1d_access"},         /* D18.2-090 */
    {3, "l1d_miss"},           /* D18.2-088, D18.2-089 */
    {4, "tlb_access"},         /* D18.2-087 */
    {5, "tlb_walk"},           /* D18.2-086 */
    {6, "not_taken"},          /* D18.2-085 */
    {7, "mispredicted"},       /* D18.2-084 */
    {8, "llc_access"},         /* D18.2-081 */
    {9, "llc_miss"},           /* D18.2-080 */
    {10, "remote"},            /* D18.2-079 */
    {11, "misaligned"},        /* D18.2-078 */
    {16, "transactional"},     /* D18.2-076 */
    {17, "partial_predicate"}, /* D18.2-074 */
    {18, "empty_predicate"},   /* D18.2-073 */
    {19, "l2d_access"},        /* D18.2-071 */
    {20, "l2d_miss"},          /* D18.2-070 */
    {21, "modified"},          /* D18.2-068 */
    {22, "recently_fetched"},  /* D18.2-067 */
    {23, "snooped"},           /* D18.2-066 */
    {24, "streaming"},         /* D18.2-065 */
    {25, "smcu"},              /* D18.2-064 */
};

static enum spe_definition expected_status(unsigned event, spe_features f)
{
    bool v1p1 = f & SPE_FEAT(SPEv1p1), v1p4 = f & SPE_FEAT(SPEv1p4);
    bool vector = f & (SPE_FEAT(SVE) | SPE_FEAT(SME)), sme = f & SPE_FEAT(SPE_SME);

    switch (table[event]) {
    case 'd':
        return SPE_DEFINED;
    case 'i':
        return SPE_IMPDEF;
    case '1':
        return v1p1 ? SPE_DEFINED : SPE_RESERVED;
    case '4':
        return v1p4 ? SPE_DEFINED : SPE_RESERVED;
    case 'v':
        return v1p1 && vector ? SPE_DEFINED : SPE_RESERVED;
    case 's':
        return sme ? SPE_DEFINED : v1p4 ? SPE_RESERVED : SPE_IMPDEF;
    case 'z':
        return v1p4 ? SPE_RESERVED : SPE_IMPDEF;
    default:
        return SPE_RESERVED;
    }
}

/* The n-th set of the features that the table looks at, with or without all others. */
static spe_features feature_set(unsigned n)
{
    static const spe_features bits[] = {SPE_FEAT(SPEv1p1), SPE_FEAT(SPEv1p4), SPE_FEAT(SVE),
                                        SPE_FEAT(SME), SPE_FEAT(SPE_SME)};
    spe_features looked_at = 0, set = 0;

    for (unsigned i = 0; i < COUNT(bits); i++) {
        looked_at |= bits[i];
        if (n >> i & 1)
            set |= bits[i];
    }
    return n >> COUNT(bits) & 1 ? set | (SPE_FEATURES_ALL & ~looked_at) : set;
}

static void every_event_under_every_set(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 64; n++) {
        spe_features f = feature_set(n);
        uint64_t allowed = 0;

        for (unsigned e = 0; e < 64; e++) {
            assert_int_equal(spe_event_status(e, f), expected_status(e, f)); /* rows of `table` */
            if (expected_status(e, f) != SPE_RESERVED)
                allowed |= UINT64_C(1) << e;
        }
        assert_int_equal(spe_events_allowed(f), allowed);
        assert_int_equal(spe_event_status(64, f), SPE_RESERVED);
    }
}

static const char *expected_name(unsigned event)
{
    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].event == event)
            return names[i].name;
    return NULL;
}

static void names_and_sentences(void **state)
{
    (void)state;
    for (unsigned e = 0; e < 66; e++) {
        const char *name = expected_name(e);

        if (name) {
            assert_string_equal(spe_event_name(e), name); /* rows of `names` */
            assert_non_null(spe_event_sentence(e, 0));
            assert_non_null(spe_event_sentence(e, SPE_FEATURES_ALL));
        } else {
            assert_null(spe_event_name(e));
            assert_null(spe_event_sentence(e, 0));
            assert_null(spe_event_sentence(e, SPE_FEATURES_ALL));
        }
    }
}

/* E[3] is a miss from FEAT_SPEv1p4 on, a refill before; no other sentence depends on features. */
static void event_3_changed_its_meaning(void **state)
{
    spe_features before = SPE_FEATURES_ALL & ~SPE_FEAT(SPEv1p4);

    (void)state;
    assert_non_null(strstr(spe_event_sentence(3, SPE_FEAT(SPEv1p4)), "missed")); /* D18.2-088 */
    assert_null(strstr(spe_event_sentence(3, SPE_FEAT(SPEv1p4)), "caused a refill"));
    assert_non_null(strstr(spe_event_sentence(3, before), "caused a refill")); /* D18.2-089 */
    assert_null(strstr(spe_event_sentence(3, before), "missed"));
    for (unsigned e = 0; e < 64; e++)
        if (e != 3 && spe_event_name(e))
            assert_string_equal(spe_event_sentence(e, 0), spe_event_sentence(e, SPE_FEATURES_ALL));
}

static void the_constants_are_the_bits(void **state)
{
    (void)state;
    assert_int_equal(SPE_EVENT_BIT(EXCEPTION), 0x1);
    assert_int_equal(SPE_EVENT_BIT(RETIRED), 0x2);
    assert_int_equal(SPE_EVENT_BIT(MISPREDICTED), 0x80);
    assert_int_equal(SPE_EVENT_BIT(LLC_ACCESS), 0x100);
    assert_int_equal(SPE_EVENT_BIT(MISALIGNED), 0x800);
    assert_int_equal(SPE_EVENT_BIT(PARTIAL_PREDICATE), 0x20000);
    assert_int_equal(SPE_EVENT_BIT(SMCU), 0x2000000);
}

/* E[n] is byte n/8, bit n%8 of the payload, whatever its size; what is not output is zero. */
static void every_bit_in_every_size(void **state)
{
    static const uint8_t headers[] = {0x42, 0x52, 0x62, 0x72};

    (void)state;
    for (unsigned s = 0; s < 4; s++) {
        unsigned size = 1u << s;

        for (unsigned e = 0; e < 8 * size; e++) {
            uint8_t bytes[9] = {headers[s]};
            struct spe_packet p;

            bytes[1 + e / 8] = (uint8_t)(1u << e % 8);
            assert_int_equal(spe_packet_decode(bytes, sizeof(bytes), &p), 1 + size);
            assert_int_equal(p.payload, UINT64_C(1) << e); /* D18.2-057, D18.2-058, D18.2-059 */
        }
    }
}

static void the_smallest_size_that_carries_them(void **state)
{
    (void)state;
    assert_int_equal(spe_events_size(0), 1); /* D18.2-060 */
    for (unsigned e = 0; e < 64; e++) {
        unsigned size = e < 8 ? 1 : e < 16 ? 2 : e < 32 ? 4 : 8;

        assert_int_equal(spe_events_size(UINT64_C(1) << e), size); /* D18.2-060 */
        assert_int_equal(spe_events_size(UINT64_C(1) << e | 1), size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_under_every_set),
        cmocka_unit_test(names_and_sentences),
        cmocka_unit_test(event_3_changed_its_meaning),
        cmocka_unit_test(the_constants_are_the_bits),
        cmocka_unit_test(every_bit_in_every_size),
        cmocka_unit_test(the_smallest_size_that_carries_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
