/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Feature sets: names, and what each brings or needs. An implied feature is added by
 * spe_features_close; a needed one has to be asked for, and spe_features_validate says so.
 */
#include <specimen/features.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Bit 63 stays free, so that SPE_FEATURES_ALL can be computed. */
_Static_assert(SPE_FEAT_COUNT < 64, "the set is a 64-bit word");

#define PREFIX "FEAT_"
#define F(name) SPE_FEAT(name)

static const char *const names[SPE_FEAT_COUNT] = {
    [SPE_FEAT_SPE] = "FEAT_SPE",
    [SPE_FEAT_SPEv1p1] = "FEAT_SPEv1p1",
    [SPE_FEAT_SPEv1p2] = "FEAT_SPEv1p2",
    [SPE_FEAT_SPEv1p3] = "FEAT_SPEv1p3",
    [SPE_FEAT_SPEv1p4] = "FEAT_SPEv1p4",
    [SPE_FEAT_SPEv1p5] = "FEAT_SPEv1p5",
    [SPE_FEAT_SPE_ArchInst] = "FEAT_SPE_ArchInst",
    [SPE_FEAT_SPE_LDS] = "FEAT_SPE_LDS",
    [SPE_FEAT_SPE_ERnd] = "FEAT_SPE_ERnd",
    [SPE_FEAT_SPE_FnE] = "FEAT_SPE_FnE",
    [SPE_FEAT_SPE_FDS] = "FEAT_SPE_FDS",
    [SPE_FEAT_SPE_PBT] = "FEAT_SPE_PBT",
    [SPE_FEAT_SPE_CRR] = "FEAT_SPE_CRR",
    [SPE_FEAT_SPE_EFT] = "FEAT_SPE_EFT",
    [SPE_FEAT_SPE_FPF] = "FEAT_SPE_FPF",
    [SPE_FEAT_SPE_SME] = "FEAT_SPE_SME",
    [SPE_FEAT_SPE_ALTCLK] = "FEAT_SPE_ALTCLK",
    [SPE_FEAT_SPE_EXC] = "FEAT_SPE_EXC",
    [SPE_FEAT_SPE_nVM] = "FEAT_SPE_nVM",
    [SPE_FEAT_SPE_DPFZS] = "FEAT_SPE_DPFZS",
    [SPE_FEAT_SVE] = "FEAT_SVE",
    [SPE_FEAT_SME] = "FEAT_SME",
    [SPE_FEAT_MTE] = "FEAT_MTE",
    [SPE_FEAT_MTE2] = "FEAT_MTE2",
    [SPE_FEAT_MTE_CANONICAL_TAGS] = "FEAT_MTE_CANONICAL_TAGS",
    [SPE_FEAT_MOPS] = "FEAT_MOPS",
    [SPE_FEAT_GCS] = "FEAT_GCS",
    [SPE_FEAT_NV] = "FEAT_NV",
    [SPE_FEAT_NV2] = "FEAT_NV2",
    [SPE_FEAT_LS64] = "FEAT_LS64",
    [SPE_FEAT_LS64_V] = "FEAT_LS64_V",
    [SPE_FEAT_LS64_ACCDATA] = "FEAT_LS64_ACCDATA",
    [SPE_FEAT_RME] = "FEAT_RME",
    /* Not features of the Arm ARM, so without its prefix. */
    [SPE_FEAT_Secure] = "Secure",
    [SPE_FEAT_EL2] = "EL2",
    [SPE_FEAT_EL3] = "EL3",
    [SPE_FEAT_SEL2] = "FEAT_SEL2",
    [SPE_FEAT_VHE] = "FEAT_VHE",
    [SPE_FEAT_E2H0] = "FEAT_E2H0",
    [SPE_FEAT_ECV] = "FEAT_ECV",
    [SPE_FEAT_ECV_POFF] = "FEAT_ECV_POFF",
    [SPE_FEAT_FGT] = "FEAT_FGT",
    [SPE_FEAT_FGT2] = "FEAT_FGT2",
    [SPE_FEAT_RAS] = "FEAT_RAS",
    [SPE_FEAT_HAFDBS] = "FEAT_HAFDBS",
    [SPE_FEAT_HAFT] = "FEAT_HAFT",
    [SPE_FEAT_THE] = "FEAT_THE",
    [SPE_FEAT_LPA2] = "FEAT_LPA2",
    [SPE_FEAT_D128] = "FEAT_D128",
    [SPE_FEAT_S1PIE] = "FEAT_S1PIE",
    [SPE_FEAT_S1POE] = "FEAT_S1POE",
    [SPE_FEAT_EBEP] = "FEAT_EBEP",
    [SPE_FEAT_PMUv3] = "FEAT_PMUv3",
    [SPE_FEAT_PMUv3p7] = "FEAT_PMUv3p7",
    [SPE_FEAT_TRBE] = "FEAT_TRBE",
};

struct relation {
    uint8_t feature;
    spe_features when; /* the row holds only beside these */
    spe_features implies;
    spe_features needs;
};

/* Relations between the features, as their descriptions and those of PMSIDR_EL1 and
 * ID_AA64DFR0_EL1.PMSVer give them. */
static const struct relation relations[] = {
    {SPE_FEAT_SPEv1p1, 0, F(SPE), 0},
    {SPE_FEAT_SPEv1p2, 0, F(SPEv1p1) | F(SPE_FnE), 0},
    {SPE_FEAT_SPEv1p3, 0, F(SPEv1p2), 0},
    {SPE_FEAT_SPEv1p4, 0, F(SPEv1p3), 0},
    {SPE_FEAT_SPEv1p5, 0, F(SPEv1p4) | F(SPE_CRR) | F(SPE_EXC) | F(SPE_nVM), 0},
    {SPE_FEAT_SPE_ArchInst, 0, F(SPE), 0},
    {SPE_FEAT_SPE_LDS, 0, F(SPE), 0},
    {SPE_FEAT_SPE_ERnd, 0, F(SPE), 0},
    {SPE_FEAT_SPE_FnE, 0, F(SPEv1p2), 0},
    {SPE_FEAT_SPE_FDS, 0, F(SPE), F(SPE_LDS) | F(SPEv1p4)},
    {SPE_FEAT_SPE_PBT, 0, F(SPE), F(SPEv1p2)},
    {SPE_FEAT_SPE_CRR, 0, F(SPE), F(SPEv1p4)},
    {SPE_FEAT_SPE_EFT, 0, F(SPE) | F(SPE_FPF), 0},
    {SPE_FEAT_SPE_FPF, 0, F(SPE) | F(SPE_EFT), 0},
    {SPE_FEAT_SPE_SME, 0, F(SPE), F(SPEv1p1) | F(SME)},
    {SPE_FEAT_SPE_ALTCLK, 0, F(SPE), 0},
    {SPE_FEAT_SPE_FDS, F(EL2), 0, F(FGT2)},
    {SPE_FEAT_SPE_EXC, 0, F(SPEv1p5), 0},
    {SPE_FEAT_SPE_nVM, 0, F(SPE), 0},
    {SPE_FEAT_SPE_nVM, F(EL2), 0, F(FGT2)},
    {SPE_FEAT_SPE_DPFZS, 0, F(SPE), F(SPEv1p2) | F(PMUv3p7)},
    {SPE_FEAT_MTE2, 0, F(MTE), 0},
    {SPE_FEAT_MTE_CANONICAL_TAGS, 0, F(MTE2), 0},
    {SPE_FEAT_GCS, F(SPE), F(SPE_CRR), 0},
    {SPE_FEAT_NV, 0, 0, F(EL2)},
    {SPE_FEAT_NV2, 0, F(NV), 0},
    {SPE_FEAT_LS64_V, 0, F(LS64), 0},
    {SPE_FEAT_LS64_ACCDATA, 0, F(LS64_V), 0},
    {SPE_FEAT_RME, 0, 0, F(EL2) | F(EL3)},
    {SPE_FEAT_RME, F(SPE), 0, F(SPEv1p2)},
    {SPE_FEAT_SEL2, 0, 0, F(EL2) | F(Secure)},
    {SPE_FEAT_VHE, 0, 0, F(EL2)},
    {SPE_FEAT_E2H0, 0, 0, F(EL2)},
    {SPE_FEAT_ECV_POFF, 0, F(ECV), F(EL2)},
    {SPE_FEAT_FGT2, 0, F(FGT), 0},
    {SPE_FEAT_HAFT, 0, F(HAFDBS), 0},
    {SPE_FEAT_PMUv3p7, 0, F(PMUv3), 0},
};

#define RELATIONS (sizeof(relations) / sizeof(relations[0]))

static bool holds(const struct relation *r, spe_features set)
{
    return spe_has(set, (enum spe_feature)r->feature) && !(r->when & ~set);
}

const char *spe_feature_name(unsigned feature)
{
    return feature < SPE_FEAT_COUNT ? names[feature] : NULL;
}

spe_features spe_features_close(spe_features set)
{
    spe_features before;

    do {
        before = set;
        for (size_t i = 0; i < RELATIONS; i++)
            if (holds(&relations[i], set))
                set |= relations[i].implies;
    } while (set != before);
    return set;
}

static unsigned lowest(spe_features set)
{
    unsigned feature = 0;

    while (!(set >> feature & 1))
        feature++;
    return feature;
}

int spe_features_validate(spe_features set, char *why, size_t why_size)
{
    if (set & ~SPE_FEATURES_ALL) {
        snprintf(why, why_size, "bit %u is not a feature", lowest(set & ~SPE_FEATURES_ALL));
        return SPE_ERR_INVALID;
    }
    for (size_t i = 0; i < RELATIONS; i++) {
        const struct relation *r = &relations[i];
        spe_features missing = (r->implies | r->needs) & ~set;

        if (!holds(r, set) || !missing)
            continue;
        snprintf(why, why_size, "%s%s%s needs %s", names[r->feature], r->when ? " with " : "",
                 r->when ? names[lowest(r->when)] : "", names[lowest(missing)]);
        return SPE_ERR_INVALID;
    }
    return SPE_OK;
}

/* ---- Lists ---------------------------------------------------------------------------------- */

/* A word of the list, without its sign. Not terminated. */
struct word {
    const char *text;
    size_t length;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool word_is(struct word word, const char *name)
{
    size_t i = 0;

    while (i < word.length && name[i] && lower(word.text[i]) == lower(name[i]))
        i++;
    return i == word.length && !name[i];
}

static const char *without(const char *prefix, const char *name)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) ? NULL : name + length;
}

/* Exact names go first: "sme" is FEAT_SME, not FEAT_SPE_SME. */
static int find(struct word word)
{
    static const char *const prefixes[] = {"", PREFIX, PREFIX "SPE_", PREFIX "SPE"};

    if (word_is(word, "v1p0"))
        return SPE_FEAT_SPE;
    for (size_t p = 0; p < sizeof(prefixes) / sizeof(prefixes[0]); p++) {
        for (int f = 0; f < SPE_FEAT_COUNT; f++) {
            const char *rest = without(prefixes[p], names[f]);

            if (rest && *rest && word_is(word, rest))
                return f;
        }
    }
    return SPE_ERR_UNKNOWN;
}

/* Take a feature out, and with it all that implies or needs it: closing must not bring it back. */
static spe_features remove_feature(spe_features set, unsigned feature)
{
    spe_features before;
    spe_features gone = UINT64_C(1) << feature;

    do {
        before = gone;
        for (size_t i = 0; i < RELATIONS; i++)
            if (holds(&relations[i], set & ~gone) &&
                ((relations[i].implies | relations[i].needs) & gone))
                gone |= UINT64_C(1) << relations[i].feature;
    } while (gone != before);
    return set & ~gone;
}

static int apply(struct word word, spe_features *set)
{
    bool remove = word.length && word.text[0] == '-';
    int feature;

    if (remove) {
        word.text++;
        word.length--;
    }
    if (word_is(word, "all")) {
        *set = remove ? 0 : SPE_FEATURES_ALL;
        return SPE_OK;
    }
    feature = find(word);
    if (feature < 0)
        return feature;
    if (remove)
        *set = remove_feature(spe_features_close(*set), (unsigned)feature);
    else
        *set |= UINT64_C(1) << feature;
    return SPE_OK;
}

#define SEPARATORS ", \t\n"

int spe_features_parse(const char *list, spe_features *set, char *why, size_t why_size)
{
    spe_features result = *set;

    for (list += strspn(list, SEPARATORS); *list; list += strspn(list, SEPARATORS)) {
        struct word word = {list, strcspn(list, SEPARATORS)};
        int error = apply(word, &result);

        if (error) {
            snprintf(why, why_size, "'%.*s' is not a feature",
                     word.length > 40 ? 40 : (int)word.length, word.text);
            return error;
        }
        list += word.length;
    }
    *set = spe_features_close(result);
    return SPE_OK;
}

int spe_features_format(spe_features set, char *out, size_t out_size)
{
    int length = 0;

    if (out_size)
        out[0] = '\0';
    for (unsigned f = 0; f < SPE_FEAT_COUNT; f++) {
        size_t used = (size_t)length < out_size ? (size_t)length : out_size;
        const char *name = without(PREFIX, names[f]);

        if (set >> f & 1)
            length += snprintf(out ? out + used : NULL, out_size - used, "%s%s", length ? "," : "",
                               name ? name : names[f]);
    }
    return length;
}
