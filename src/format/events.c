/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D18.2.6: the Events packet. E[n] is bit n of the little-endian payload. What an event means, and
 * whether it may be 1 at all, depends on the features: that is one table.
 */
#include <specimen/format.h>

struct row {
    uint8_t first, last; /* E[first] to E[last] */
    spe_features all;    /* needs all of these ... */
    spe_features any;    /* ... and one of these, if there are any */
    uint8_t met;         /* enum spe_definition when the needs are met */
    uint8_t unmet_v1p4;  /* when they are not, with FEAT_SPEv1p4 */
    uint8_t unmet;       /* when they are not, without */
    const char *name;
    const char *sentence;
    const char *before_v1p4; /* the sentence without FEAT_SPEv1p4, where it differs */
};

#define ALWAYS 0, 0, SPE_DEFINED, SPE_DEFINED, SPE_DEFINED
#define IMPDEF 0, 0, SPE_IMPDEF, SPE_IMPDEF, SPE_IMPDEF
#define ZERO 0, 0, SPE_RESERVED, SPE_RESERVED, SPE_RESERVED
#define V1P1 SPE_FEAT(SPEv1p1), 0, SPE_DEFINED, SPE_RESERVED, SPE_RESERVED
#define V1P1_VECTOR                                                                                \
    SPE_FEAT(SPEv1p1), SPE_FEAT(SVE) | SPE_FEAT(SME), SPE_DEFINED, SPE_RESERVED, SPE_RESERVED
#define V1P4 SPE_FEAT(SPEv1p4), 0, SPE_DEFINED, SPE_RESERVED, SPE_RESERVED
/* Until FEAT_SPEv1p4 gave E[31:24] to the architecture they were IMPLEMENTATION DEFINED. */
#define SME_OR_IMPDEF SPE_FEAT(SPE_SME), 0, SPE_DEFINED, SPE_RESERVED, SPE_IMPDEF
#define ZERO_OR_IMPDEF SPE_FEAT(SPEv1p4), 0, SPE_RESERVED, SPE_RESERVED, SPE_IMPDEF

/* In ascending order, without gaps. */
static const struct row rows[] = {
    {0, 0, ALWAYS, "exception",
     "The operation completed with a synchronous exception; without E[1] the meaning is "
     "IMPLEMENTATION DEFINED.",
     NULL},
    {1, 1, ALWAYS, "retired",
     "The operation committed its results or completed with a synchronous architectural exception.",
     NULL},
    {2, 2, ALWAYS, "l1d_access",
     "A load or store that accessed at least the level 1 data or unified cache.", NULL},
    {3, 3, ALWAYS, "l1d_miss",
     "A load or store that accessed and missed the level 1 data or unified cache, not counting "
     "what the refill of an earlier miss satisfied.",
     "A load or store that caused a refill of at least the level 1 data or unified cache, not "
     "counting what the refill of an earlier miss satisfied."},
    {4, 4, ALWAYS, "tlb_access",
     "A load or store that accessed at least the first level data or unified TLB.", NULL},
    {5, 5, ALWAYS, "tlb_walk",
     "A load or store that refilled a data or unified TLB with at least one translation table walk "
     "access.",
     NULL},
    {6, 6, ALWAYS, "not_taken",
     "A conditional operation whose condition failed: a branch not taken, a select of the second "
     "operand, a compare that set the flags to its immediate.",
     NULL},
    {7, 7, ALWAYS, "mispredicted",
     "A branch that caused a correction to the predicted program flow.", NULL},
    {8, 8, ALWAYS, "llc_access",
     "A load or store that accessed at least the Last Level data or unified cache.", NULL},
    {9, 9, ALWAYS, "llc_miss",
     "A load or store that reached at least the Last Level cache and was not completed by it.",
     NULL},
    {10, 10, ALWAYS, "remote",
     "A load or store that caused an access to another socket, whether or not it returned data.",
     NULL},
    {11, 11, V1P1, "misaligned",
     "A load or store that took longer because of its address alignment and data size.", NULL},
    {12, 15, IMPDEF, NULL, NULL, NULL},
    {16, 16, ZERO, "transactional", "Formerly Transactional; reads as zero.", NULL},
    {17, 17, V1P1_VECTOR, "partial_predicate",
     "An SVE or SME operation with at least one FALSE element in its Governing predicates.", NULL},
    {18, 18, V1P1_VECTOR, "empty_predicate",
     "An SVE or SME operation whose Governing predicates had only FALSE elements.", NULL},
    {19, 19, V1P4, "l2d_access", "A load that accessed at least the level 2 data or unified cache.",
     NULL},
    {20, 20, V1P4, "l2d_miss",
     "A load that accessed and missed the level 2 data or unified cache, not counting what the "
     "refill of an earlier miss satisfied.",
     NULL},
    {21, 21, V1P4, "modified", "A load that accessed modified data in a cache.", NULL},
    {22, 22, V1P4, "recently_fetched", "A load that hit a recently fetched line in a cache.", NULL},
    {23, 23, V1P4, "snooped",
     "A load that snooped data from a cache outside the cache hierarchy of this PE.", NULL},
    {24, 24, SME_OR_IMPDEF, "streaming", "The operation executed in Streaming SVE mode.", NULL},
    {25, 25, SME_OR_IMPDEF, "smcu", "The operation executed on an SMCU or external coprocessor.",
     NULL},
    {26, 31, ZERO_OR_IMPDEF, NULL, NULL, NULL},
    {32, 47, ZERO, NULL, NULL, NULL},
    {48, 63, IMPDEF, NULL, NULL, NULL},
};

static const struct row *find(unsigned event)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (event >= rows[i].first && event <= rows[i].last)
            return &rows[i];
    return NULL;
}

static enum spe_definition row_status(const struct row *row, spe_features features)
{
    if (!(row->all & ~features) && (!row->any || (row->any & features)))
        return (enum spe_definition)row->met;
    return (enum spe_definition)(spe_has(features, SPE_FEAT_SPEv1p4) ? row->unmet_v1p4
                                                                     : row->unmet);
}

enum spe_definition spe_event_status(unsigned event, spe_features features)
{
    const struct row *row = find(event);

    return row ? row_status(row, features) : SPE_RESERVED;
}

uint64_t spe_events_allowed(spe_features features)
{
    uint64_t allowed = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (row_status(&rows[i], features) != SPE_RESERVED)
            allowed |= UINT64_MAX << rows[i].first & UINT64_MAX >> (63 - rows[i].last);
    return allowed;
}

const char *spe_event_name(unsigned event)
{
    const struct row *row = find(event);

    return row ? row->name : NULL;
}

const char *spe_event_sentence(unsigned event, spe_features features)
{
    const struct row *row = find(event);

    if (!row)
        return NULL;
    if (row->before_v1p4 && !spe_has(features, SPE_FEAT_SPEv1p4))
        return row->before_v1p4;
    return row->sentence;
}

unsigned spe_events_size(uint64_t events)
{
    if (events >> 32)
        return 8;
    if (events >> 16)
        return 4;
    return events >> 8 ? 2 : 1;
}
