/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef ANALYSIS_SHARING_H
#define ANALYSIS_SHARING_H

#include <specimen/analysis.h>

/* Whether threads share the same bytes, or different ones, of a line; sets same_used of its
 * offsets. */
enum spe_sharing_kind sharing_kind(const struct spe_shared_line *line,
                                   struct spe_shared_offset *offsets);

/* Whether a row travelled, as a mask: it is 0 or all ones. */
static inline uint64_t has_travelled(enum spe_sharing_basis basis, uint64_t op, uint64_t level,
                                     uint64_t events)
{
    const uint64_t peers = SPE_LEVEL_REMOTE_CACHE - SPE_LEVEL_PEER_CORE;
    uint64_t load = (op & 1) - 1;

    switch (basis) {
    case SPE_SHARING_SOURCE:
        return load & -(uint64_t)(level - SPE_LEVEL_PEER_CORE <= peers);
    case SPE_SHARING_SNOOPED:
        return load & -(events >> SPE_EVENT_SNOOPED & 1);
    default:
        return -(events >> SPE_EVENT_L1D_MISS & 1);
    }
}

#endif
