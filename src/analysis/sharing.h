/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef ANALYSIS_SHARING_H
#define ANALYSIS_SHARING_H

#include <specimen/analysis.h>

/* Whether threads share the same bytes, or different ones, of a line; sets same_used of its
 * offsets. */
enum spe_sharing_kind sharing_kind(const struct spe_shared_line *line,
                                   struct spe_shared_offset *offsets);

static inline bool has_travelled(enum spe_sharing_basis basis, const struct spe_rows *rows,
                                 size_t i)
{
    bool load = !(rows->op[i] & 1);

    switch (basis) {
    case SPE_SHARING_SOURCE:
        return load && rows->level[i] >= SPE_LEVEL_PEER_CORE &&
               rows->level[i] <= SPE_LEVEL_REMOTE_CACHE;
    case SPE_SHARING_SNOOPED:
        return load && rows->events[i] >> SPE_EVENT_SNOOPED & 1;
    default:
        return rows->events[i] >> SPE_EVENT_L1D_MISS & 1;
    }
}

#endif
