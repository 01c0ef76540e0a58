/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D18.2.1: the Address packet. Bytes 6:0 hold address bits [55:0] whatever the INDEX; byte 7 has
 * one of three layouts:
 *
 *   PC, branch target, previous branch target   NS [7]  EL [6:5]  NSE [4]  zero [3:0]
 *   data access virtual address                 TAG [7:0]
 *   data access physical address                NS [7]  CH [6]  zero [5]  NSE [4]  PAT [3:0]
 */
#include "index.h"

#define ADDRESS_BITS 56
#define ADDRESS_MASK ((UINT64_C(1) << ADDRESS_BITS) - 1)

enum layout { LAYOUT_NONE, LAYOUT_INSTRUCTION, LAYOUT_DATA_VA, LAYOUT_DATA_PA };

/* The INDEX table of D18.2.1; what it does not list is reserved. */
static const struct index_row rows[] = {
    {0, 0, SPE_DEFINED, "pc", 0},
    {1, 1, SPE_DEFINED, "target", 0},
    {2, 2, SPE_DEFINED, "va", 0},
    {3, 3, SPE_DEFINED, "pa", 0},
    {4, 4, SPE_DEFINED, "previous_target", SPE_FEAT(SPE_PBT)},
    {6, 7, SPE_IMPDEF, NULL, 0},
    {16, 31, SPE_IMPDEF, NULL, 0},
};

static const struct index_row *find(unsigned index)
{
    return index_find(rows, sizeof(rows) / sizeof(rows[0]), index);
}

/* The previous branch target has the layout of the branch target, though the text gives none
 * (U07). */
static const uint8_t layouts[] = {
    [SPE_ADDRESS_PC] = LAYOUT_INSTRUCTION,
    [SPE_ADDRESS_TARGET] = LAYOUT_INSTRUCTION,
    [SPE_ADDRESS_VA] = LAYOUT_DATA_VA,
    [SPE_ADDRESS_PA] = LAYOUT_DATA_PA,
    [SPE_ADDRESS_PREVIOUS_TARGET] = LAYOUT_INSTRUCTION,
};

static enum layout layout_of(unsigned index)
{
    return index < sizeof(layouts) ? (enum layout)layouts[index] : LAYOUT_NONE;
}

void spe_address_decode(unsigned index, uint64_t payload, struct spe_address *a)
{
    uint8_t top = (uint8_t)(payload >> ADDRESS_BITS);

    *a = (struct spe_address){.address = payload & ADDRESS_MASK};
    switch (layout_of(index)) {
    case LAYOUT_INSTRUCTION:
        a->ns = top >> 7;
        a->el = top >> 5 & 3;
        a->nse = top >> 4 & 1;
        a->zero = top & 0xf;
        break;
    case LAYOUT_DATA_PA:
        a->ns = top >> 7;
        a->ch = top >> 6 & 1;
        a->zero = top >> 5 & 1;
        a->nse = top >> 4 & 1;
        a->pat = top & 0xf;
        break;
    case LAYOUT_DATA_VA:
    case LAYOUT_NONE:
        a->tag = top;
        break;
    }
}

uint64_t spe_address_encode(unsigned index, const struct spe_address *a)
{
    unsigned top = a->tag;

    switch (layout_of(index)) {
    case LAYOUT_INSTRUCTION:
        top = (a->ns & 1u) << 7 | (a->el & 3u) << 5 | (a->nse & 1u) << 4 | (a->zero & 0xfu);
        break;
    case LAYOUT_DATA_PA:
        top = (a->ns & 1u) << 7 | (a->ch & 1u) << 6 | (a->zero & 1u) << 5 | (a->nse & 1u) << 4 |
              (a->pat & 0xfu);
        break;
    case LAYOUT_DATA_VA:
    case LAYOUT_NONE:
        break;
    }
    return (uint64_t)top << ADDRESS_BITS | (a->address & ADDRESS_MASK);
}

uint64_t spe_address_canonical(unsigned index, uint64_t payload)
{
    switch (layout_of(index)) {
    case LAYOUT_INSTRUCTION:
    case LAYOUT_DATA_VA:
        payload &= ADDRESS_MASK;
        return payload >> (ADDRESS_BITS - 1) ? payload | ~ADDRESS_MASK : payload;
    case LAYOUT_DATA_PA:
        return payload & ADDRESS_MASK;
    case LAYOUT_NONE:
        break;
    }
    return payload;
}

enum spe_security spe_address_security(const struct spe_address *a, spe_features features)
{
    unsigned nse = spe_has(features, SPE_FEAT_RME) ? a->nse & 1u : 0;

    return (enum spe_security)(nse << 1 | (a->ns & 1u));
}

enum spe_definition spe_address_status(unsigned index, spe_features features)
{
    return index_status(find(index), features);
}

const char *spe_address_name(unsigned index)
{
    const struct index_row *row = find(index);

    return row ? row->name : NULL;
}
