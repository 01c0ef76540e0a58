/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Feature sets and error sentences: names, implications, needs, lists. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/features.h>

#define F(name) SPE_FEAT(name)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void names_are_those_of_the_architecture(void **state)
{
    static const struct {
        unsigned feature;
        const char *name;
    } some[] = {
        {SPE_FEAT_SPE, "FEAT_SPE"},         {SPE_FEAT_SPEv1p1, "FEAT_SPEv1p1"},
        {SPE_FEAT_SPEv1p5, "FEAT_SPEv1p5"}, {SPE_FEAT_SPE_ArchInst, "FEAT_SPE_ArchInst"},
        {SPE_FEAT_SPE_nVM, "FEAT_SPE_nVM"}, {SPE_FEAT_SME, "FEAT_SME"},
        {SPE_FEAT_SPE_SME, "FEAT_SPE_SME"}, {SPE_FEAT_LS64_ACCDATA, "FEAT_LS64_ACCDATA"},
        {SPE_FEAT_Secure, "Secure"},        {SPE_FEAT_EL2, "EL2"},
        {SPE_FEAT_PMUv3p7, "FEAT_PMUv3p7"}, {SPE_FEAT_TRBE, "FEAT_TRBE"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(some); i++)
        assert_string_equal(spe_feature_name(some[i].feature), some[i].name);
    for (unsigned a = 0; a < SPE_FEAT_COUNT; a++) {
        assert_non_null(spe_feature_name(a));
        for (unsigned b = 0; b < a; b++)
            assert_string_not_equal(spe_feature_name(a), spe_feature_name(b));
    }
    assert_null(spe_feature_name(SPE_FEAT_COUNT));
    assert_null(spe_feature_name(UINT_MAX));
}

#define V1P2 (F(SPE) | F(SPEv1p1) | F(SPEv1p2) | F(SPE_FnE))
#define V1P4 (V1P2 | F(SPEv1p3) | F(SPEv1p4))
#define V1P5 (V1P4 | F(SPEv1p5) | F(SPE_CRR) | F(SPE_EXC) | F(SPE_nVM))

static const struct {
    spe_features set, closed;
} closures[] = {
    {0, 0},
    {F(SPE), F(SPE)},
    {F(SPEv1p1), F(SPE) | F(SPEv1p1)},
    {F(SPEv1p2), V1P2},
    {F(SPE_FnE), V1P2}, /* they imply each other */
    {F(SPEv1p3), V1P2 | F(SPEv1p3)},
    {F(SPEv1p4), V1P4},
    {F(SPEv1p5), V1P5},
    {F(SPE_EXC), V1P5}, /* they imply each other */
    {F(SPE_EFT), F(SPE) | F(SPE_EFT) | F(SPE_FPF)},
    {F(SPE_FPF), F(SPE) | F(SPE_EFT) | F(SPE_FPF)},
    {F(SPE_LDS), F(SPE) | F(SPE_LDS)},
    {F(SPE_CRR), F(SPE) | F(SPE_CRR)},
    {F(GCS), F(GCS)}, /* brings CRR beside SPE only */
    {F(GCS) | F(SPE), F(GCS) | F(SPE) | F(SPE_CRR)},
    {F(GCS) | F(SPEv1p1), F(GCS) | F(SPE) | F(SPEv1p1) | F(SPE_CRR)},
    {F(MTE2), F(MTE) | F(MTE2)},
    {F(MTE_CANONICAL_TAGS), F(MTE) | F(MTE2) | F(MTE_CANONICAL_TAGS)},
    {F(NV2), F(NV) | F(NV2)},
    {F(LS64_ACCDATA), F(LS64) | F(LS64_V) | F(LS64_ACCDATA)},
    {F(ECV_POFF), F(ECV) | F(ECV_POFF)},
    {F(FGT2), F(FGT) | F(FGT2)},
    {F(HAFT), F(HAFDBS) | F(HAFT)},
    {F(PMUv3p7), F(PMUv3) | F(PMUv3p7)},
    {F(SME), F(SME)},
    {SPE_FEATURES_ALL, SPE_FEATURES_ALL},
};

static void closing_adds_what_is_implied(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(closures); i++)
        assert_int_equal(spe_features_close(closures[i].set), closures[i].closed);
}

static void closing_is_idempotent_and_monotone(void **state)
{
    (void)state;
    for (unsigned a = 0; a < SPE_FEAT_COUNT; a++) {
        for (unsigned b = 0; b < SPE_FEAT_COUNT; b++) {
            spe_features set = UINT64_C(1) << a | UINT64_C(1) << b;
            spe_features closed = spe_features_close(set);

            assert_int_equal(closed & set, set);
            assert_int_equal(spe_features_close(closed), closed);
        }
    }
}

static void needs_are_named(void **state)
{
    static const struct {
        spe_features set;
        const char *why; /* NULL: valid */
    } cases[] = {
        {0, NULL},
        {F(SPE), NULL},
        {V1P5, NULL},
        {SPE_FEATURES_ALL, NULL},
        {F(SPEv1p1), "FEAT_SPEv1p1 needs FEAT_SPE"},
        {F(SPE) | F(SPE_FDS) | F(SPE_LDS), "FEAT_SPE_FDS needs FEAT_SPEv1p4"},
        {V1P4 | F(SPE_FDS), "FEAT_SPE_FDS needs FEAT_SPE_LDS"},
        {V1P4 | F(SPE_FDS) | F(SPE_LDS), NULL},
        {F(SPE) | F(SPE_PBT), "FEAT_SPE_PBT needs FEAT_SPEv1p2"},
        {V1P2 | F(SPE_PBT), NULL},
        {V1P2 | F(SPE_CRR), "FEAT_SPE_CRR needs FEAT_SPEv1p4"},
        {V1P4 | F(SPE_CRR), NULL},
        {F(SPE) | F(SPEv1p1) | F(SPE_SME), "FEAT_SPE_SME needs FEAT_SME"},
        {F(SPE) | F(SME) | F(SPE_SME), "FEAT_SPE_SME needs FEAT_SPEv1p1"},
        {F(SPE) | F(SPEv1p1) | F(SME) | F(SPE_SME), NULL},
        {V1P2 | F(SPE_DPFZS), "FEAT_SPE_DPFZS needs FEAT_PMUv3p7"},
        {F(SPE) | F(PMUv3) | F(PMUv3p7) | F(SPE_DPFZS), "FEAT_SPE_DPFZS needs FEAT_SPEv1p2"},
        {V1P2 | F(PMUv3) | F(PMUv3p7) | F(SPE_DPFZS), NULL},
        {V1P4 | F(GCS), "FEAT_GCS with FEAT_SPE needs FEAT_SPE_CRR"},
        {F(GCS), NULL},
        {F(NV) | F(NV2), "FEAT_NV needs EL2"},
        {F(RME) | F(EL2), "FEAT_RME needs EL3"},
        {F(RME) | F(EL2) | F(EL3), NULL},
        {F(SPE) | F(RME) | F(EL2) | F(EL3), "FEAT_RME with FEAT_SPE needs FEAT_SPEv1p2"},
        {V1P2 | F(RME) | F(EL2) | F(EL3), NULL},
        {V1P5 | F(EL2), "FEAT_SPE_nVM with EL2 needs FEAT_FGT2"},
        {V1P5 | F(EL2) | F(FGT) | F(FGT2), NULL},
        {V1P4 | F(SPE_FDS) | F(SPE_LDS) | F(EL2), "FEAT_SPE_FDS with EL2 needs FEAT_FGT2"},
        {V1P4 | F(SPE_FDS) | F(SPE_LDS) | F(EL2) | F(FGT) | F(FGT2), NULL},
        {F(SEL2) | F(EL2), "FEAT_SEL2 needs Secure"},
        {UINT64_C(1) << 63, "bit 63 is not a feature"},
    };
    char why[100];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int error = spe_features_validate(cases[i].set, why, sizeof(why));

        assert_int_equal(error, cases[i].why ? SPE_ERR_INVALID : SPE_OK);
        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
    }
    assert_int_equal(spe_features_validate(F(SPEv1p1), NULL, 0), SPE_ERR_INVALID);
}

static void lists_are_parsed(void **state)
{
    static const struct {
        const char *list;
        spe_features start, result;
    } cases[] = {
        {"", 0, 0},
        {"", F(SPEv1p1), F(SPE) | F(SPEv1p1)},
        {"v1p0", 0, F(SPE)},
        {"SPE", 0, F(SPE)},
        {"FEAT_SPE", 0, F(SPE)},
        {"v1p4", 0, V1P4},
        {"SPEv1p4", 0, V1P4},
        {"feat_spev1P4", 0, V1P4},
        {"sme", 0, F(SME)},
        {"spe_sme", 0, F(SPE) | F(SPE_SME)},
        {"crr", 0, F(SPE) | F(SPE_CRR)},
        {"FEAT_SPE_CRR", 0, F(SPE) | F(SPE_CRR)},
        {"archinst,EL2,secure", 0, F(SPE) | F(SPE_ArchInst) | F(EL2) | F(Secure)},
        {"v1p1, sve ,", F(NV), F(SPE) | F(SPEv1p1) | F(SVE) | F(NV)},
        {"all", 0, SPE_FEATURES_ALL},
        {"all,-all,sve", 0, F(SVE)},
        {"v1p4,sve,spe_sme,mte2,-mte2", 0, V1P4 | F(SVE) | F(SPE_SME) | F(MTE)},
        {"-mte", F(MTE2), 0},
        /* What depends on the removed one goes with it. */
        {"v1p4,-v1p2", 0, F(SPE) | F(SPEv1p1)},
        {"v1p4,lds,fds,-lds", 0, V1P4},
        {"v1p5,-exc", 0, V1P4 | F(SPE_CRR) | F(SPE_nVM)},
        {"v1p4,gcs,-crr", 0, V1P4},
        {"-sve", F(SPE), F(SPE)},
    };
    char why[100];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        spe_features set = cases[i].start;

        assert_int_equal(spe_features_parse(cases[i].list, &set, why, sizeof(why)), SPE_OK);
        assert_int_equal(set, cases[i].result);
    }
}

static void removing_leaves_a_closed_set_without_it(void **state)
{
    char list[100], why[100];

    (void)state;
    for (unsigned f = 0; f < SPE_FEAT_COUNT; f++) {
        spe_features set = SPE_FEATURES_ALL;

        list[0] = '-';
        strcpy(list + 1, spe_feature_name(f));
        assert_int_equal(spe_features_parse(list, &set, why, sizeof(why)), SPE_OK);
        assert_false(spe_has(set, (enum spe_feature)f));
        assert_int_equal(spe_features_validate(set, why, sizeof(why)), SPE_OK);
    }
}

static void unknown_words_are_named(void **state)
{
    static const struct {
        const char *list, *why;
    } cases[] = {
        {"v1p1,v1p9,sve", "'v1p9' is not a feature"},
        {"-nothing", "'-nothing' is not a feature"},
        {"-", "'-' is not a feature"},
        {"feat_", "'feat_' is not a feature"},
        {"sv", "'sv' is not a feature"},
        {"sve2", "'sve2' is not a feature"},
    };
    char why[100];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        spe_features set = F(NV);

        assert_int_equal(spe_features_parse(cases[i].list, &set, why, sizeof(why)),
                         SPE_ERR_UNKNOWN);
        assert_string_equal(why, cases[i].why);
        assert_int_equal(set, F(NV)); /* untouched */
    }
}

static void lists_round_trip(void **state)
{
    char text[1000], why[100];

    (void)state;
    for (unsigned a = 0; a < SPE_FEAT_COUNT; a++) {
        for (unsigned b = 0; b < SPE_FEAT_COUNT; b++) {
            spe_features set = spe_features_close(UINT64_C(1) << a | UINT64_C(1) << b);
            spe_features back = 0;
            int length = spe_features_format(set, text, sizeof(text));

            assert_int_equal(length, strlen(text));
            assert_int_equal(spe_features_parse(text, &back, why, sizeof(why)), SPE_OK);
            assert_int_equal(back, set);
        }
    }
}

static void formatting_is_bounded(void **state)
{
    char text[2000], small[8];
    int length = spe_features_format(SPE_FEATURES_ALL, text, sizeof(text));

    (void)state;
    assert_int_equal(spe_features_format(SPE_FEATURES_ALL, NULL, 0), length);
    memset(small, 'x', sizeof(small));
    assert_int_equal(spe_features_format(SPE_FEATURES_ALL, small, 7), length);
    assert_memory_equal(small, text, 6);
    assert_int_equal(small[6], '\0');
    assert_int_equal(small[7], 'x');
    assert_int_equal(spe_features_format(0, text, sizeof(text)), 0);
    assert_string_equal(text, "");
    assert_int_equal(spe_features_format(F(SPE) | F(SPE_LDS) | F(EL2), text, sizeof(text)), 15);
    assert_string_equal(text, "SPE,SPE_LDS,EL2");
}

static void every_error_has_a_sentence(void **state)
{
    (void)state;
    for (int error = SPE_ERR_FORMAT; error <= SPE_OK; error++) {
        assert_non_null(spe_strerror(error));
        for (int other = SPE_ERR_FORMAT; other < error; other++)
            assert_string_not_equal(spe_strerror(error), spe_strerror(other));
        assert_string_not_equal(spe_strerror(error), spe_strerror(SPE_ERR_FORMAT - 1));
    }
    assert_string_equal(spe_strerror(5), spe_strerror(SPE_OK));
    assert_string_equal(spe_strerror(INT_MIN), spe_strerror(SPE_ERR_FORMAT - 1));
    assert_string_equal(spe_strerror(INT_MAX), spe_strerror(SPE_OK));
}

static void needs_and_words(void **state)
{
    static const spe_features alone[] = {SPE_FEAT(MTE_CANONICAL_TAGS), SPE_FEAT(LS64_V),
                                         SPE_FEAT(FGT2), SPE_FEAT(HAFT)};
    spe_features set = SPE_FEAT(SPE);
    char why[200];

    (void)state;
    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
        spe_features closed = spe_features_close(alone[i]);

        assert_int_equal(closed & SPE_FEAT(SPE), 0);
        assert_int_equal(spe_features_validate(closed, why, sizeof(why)), SPE_OK);
    }
    assert_int_equal(spe_features_close(SPE_FEAT(SPE_ALTCLK)),
                     SPE_FEAT(SPE_ALTCLK) | SPE_FEAT(SPE));
    /* A long word is cut in the sentence: 40 letters are shown, the 41st is not. */
    assert_int_equal(
        spe_features_parse("abcdefghijabcdefghijabcdefghijabcdefghijK", &set, why, sizeof(why)),
        SPE_ERR_UNKNOWN);
    assert_string_equal(why, "'abcdefghijabcdefghijabcdefghijabcdefghij' is not a feature");
    assert_string_equal(spe_strerror(1), "success");
    assert_string_equal(spe_strerror(0), spe_strerror(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_architecture),
        cmocka_unit_test(closing_adds_what_is_implied),
        cmocka_unit_test(closing_is_idempotent_and_monotone),
        cmocka_unit_test(needs_are_named),
        cmocka_unit_test(lists_are_parsed),
        cmocka_unit_test(removing_leaves_a_closed_set_without_it),
        cmocka_unit_test(unknown_words_are_named),
        cmocka_unit_test(lists_round_trip),
        cmocka_unit_test(formatting_is_bounded),
        cmocka_unit_test(every_error_has_a_sentence),
        cmocka_unit_test(needs_and_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
