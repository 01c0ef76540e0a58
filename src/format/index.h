/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The INDEX tables of D18.2.1 and D18.2.3: what Address and Counter packets are for. What a table
 * does not list is reserved. */
#ifndef SPE_FORMAT_INDEX_H
#define SPE_FORMAT_INDEX_H

#include <specimen/format.h>

struct index_row {
    uint8_t first, last; /* INDEX */
    uint8_t status;      /* enum spe_definition, when the features are there */
    const char *name;
    spe_features needs;
};

static inline const struct index_row *index_find(const struct index_row *rows, size_t count,
                                                 unsigned index)
{
    for (size_t i = 0; i < count; i++)
        if (index >= rows[i].first && index <= rows[i].last)
            return &rows[i];
    return NULL;
}

static inline enum spe_definition index_status(const struct index_row *row, spe_features features)
{
    if (!row || (row->needs & ~features))
        return SPE_RESERVED;
    return (enum spe_definition)row->status;
}

#endif
