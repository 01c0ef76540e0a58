/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Architecture features, as a set. They determine which encodings are defined and which are
 * reserved (for naming and validation), and what the unit may record. Decoding never depends on
 * them.
 */
#ifndef SPECIMEN_FEATURES_H
#define SPECIMEN_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Spelled as in the Arm ARM after FEAT_. Values are bit numbers: add at the end. */
enum spe_feature {
    SPE_FEAT_SPE,
    SPE_FEAT_SPEv1p1,
    SPE_FEAT_SPEv1p2,
    SPE_FEAT_SPEv1p3,
    SPE_FEAT_SPEv1p4,
    SPE_FEAT_SPEv1p5,
    SPE_FEAT_SPE_ArchInst, /* instructions are sampled, not micro-operations */
    SPE_FEAT_SPE_LDS,      /* Data Source packets for loads */
    SPE_FEAT_SPE_ERnd,
    SPE_FEAT_SPE_FnE,
    SPE_FEAT_SPE_FDS,
    SPE_FEAT_SPE_PBT,
    SPE_FEAT_SPE_CRR,
    SPE_FEAT_SPE_EFT,
    SPE_FEAT_SPE_FPF,
    SPE_FEAT_SPE_SME,
    SPE_FEAT_SPE_ALTCLK,
    SPE_FEAT_SPE_EXC,
    SPE_FEAT_SPE_nVM,
    SPE_FEAT_SPE_DPFZS,
    SPE_FEAT_SVE,
    SPE_FEAT_SME,
    SPE_FEAT_MTE,
    SPE_FEAT_MTE2,
    SPE_FEAT_MTE_CANONICAL_TAGS,
    SPE_FEAT_MOPS,
    SPE_FEAT_GCS,
    SPE_FEAT_NV,
    SPE_FEAT_NV2,
    SPE_FEAT_LS64,
    SPE_FEAT_LS64_V,
    SPE_FEAT_LS64_ACCDATA,
    SPE_FEAT_RME,
    SPE_FEAT_Secure, /* Secure state is implemented (not a FEAT_ name, but D18.2.1 depends on it) */
    SPE_FEAT_EL2,    /* EL2 is implemented (likewise) */
    SPE_FEAT_EL3,    /* EL3 is implemented (likewise) */
    SPE_FEAT_SEL2,
    SPE_FEAT_VHE,
    SPE_FEAT_E2H0,
    SPE_FEAT_ECV,
    SPE_FEAT_ECV_POFF,
    SPE_FEAT_FGT,
    SPE_FEAT_FGT2,
    SPE_FEAT_RAS,
    SPE_FEAT_HAFDBS,
    SPE_FEAT_HAFT,
    SPE_FEAT_THE,
    SPE_FEAT_LPA2,
    SPE_FEAT_D128,
    SPE_FEAT_S1PIE,
    SPE_FEAT_S1POE,
    SPE_FEAT_EBEP,
    SPE_FEAT_PMUv3,
    SPE_FEAT_PMUv3p7,
    SPE_FEAT_TRBE,
    SPE_FEAT_COUNT
};

typedef uint64_t spe_features; /* bit n = enum spe_feature n */

#define SPE_FEAT(name) (UINT64_C(1) << SPE_FEAT_##name)
#define SPE_FEATURES_ALL ((UINT64_C(1) << SPE_FEAT_COUNT) - 1)

static inline int spe_has(spe_features set, enum spe_feature f)
{
    return (int)(set >> f & 1);
}

/* "FEAT_SPEv1p1" and so on; NULL for a number that is not a feature. */
SPE_API const char *spe_feature_name(unsigned feature);

/* The set with all features that its members imply (v1p3 implies v1p2 and v1p1; v1p5 implies CRR,
 * EXC and nVM; ...). Idempotent. */
SPE_API spe_features spe_features_close(spe_features set);

/* Zero if the set has every feature that its members require. Else SPE_ERR_INVALID, and the
 * sentence in `why` names the member and the missing feature. */
SPE_API int spe_features_validate(spe_features set, char *why, size_t why_size);

/*
 * Parse a list such as "v1p4,sve,spe_sme,-mte2" into *set and close it. Names are those of the Arm
 * ARM with or without "FEAT_" or "FEAT_SPE", in any case; "v1p0" is plain SPE; "all" is every
 * feature; a leading '-' removes a feature from the list so far. The list starts from the initial
 * *set. For SPE_ERR_UNKNOWN, `why` names the word.
 */
SPE_API int spe_features_parse(const char *list, spe_features *set, char *why, size_t why_size);

/* Write the set as a list for spe_features_parse. Returns the required length, like snprintf. */
SPE_API int spe_features_format(spe_features set, char *out, size_t out_size);

#ifdef __cplusplus
}
#endif
#endif
