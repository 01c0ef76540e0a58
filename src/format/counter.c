/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.3: the Counter packet. Its payload is the count; only the INDEX says something more. */
#include "index.h"

/*
 * The INDEX table of D18.2.3; what it does not list is reserved. The table has no condition on the
 * alternate clock issue latency, but D17.6.1 lets it be used only with FEAT_SPE_SME and for the
 * clock that PMSIDR_EL1.ALTCLK names.
 */
static const struct index_row rows[] = {
    {0, 0, SPE_DEFINED, "total", 0},
    {1, 1, SPE_DEFINED, "issue", 0},
    {2, 2, SPE_DEFINED, "translation", 0},
    {4, 4, SPE_DEFINED, "alt_issue", SPE_FEAT(SPE_SME) | SPE_FEAT(SPE_ALTCLK)},
    {6, 7, SPE_IMPDEF, NULL, 0},
    {16, 31, SPE_IMPDEF, NULL, 0},
};

static const struct index_row *find(unsigned index)
{
    return index_find(rows, sizeof(rows) / sizeof(rows[0]), index);
}

enum spe_definition spe_counter_status(unsigned index, spe_features features)
{
    return index_status(find(index), features);
}

const char *spe_counter_name(unsigned index)
{
    const struct index_row *row = find(index);

    return row ? row->name : NULL;
}
