/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Where a load was served. The data source is the CPU's own word (D18.2.4) and comes first; the
 * events (D18.2.6) tell as much as they tell.
 */
#include <specimen/analysis.h>

static const char *const names[SPE_SERVED_COUNT] = {
    [SPE_LEVEL_UNKNOWN] = "unknown",
    [SPE_LEVEL_L1] = "L1 cache",
    [SPE_LEVEL_L2] = "L2 cache",
    [SPE_LEVEL_L3] = "L3 or system cache",
    [SPE_LEVEL_PEER_CORE] = "peer core",
    [SPE_LEVEL_LOCAL_CLUSTER] = "local cluster",
    [SPE_LEVEL_PEER_CLUSTER] = "peer cluster",
    [SPE_LEVEL_REMOTE_CACHE] = "remote",
    [SPE_LEVEL_DRAM] = "DRAM",
    [SPE_LEVEL_REMOTE_DRAM] = "remote DRAM",
    [SPE_LEVEL_IO] = "device or uncached",
    [SPE_SERVED_L1_HIT] = "L1 hit",
    [SPE_SERVED_IN_FLIGHT] = "recently fetched",
    [SPE_SERVED_L2_HIT] = "L2 hit",
    [SPE_SERVED_LLC_HIT] = "last-level hit",
    [SPE_SERVED_REMOTE] = "remote access",
    [SPE_SERVED_BEYOND_LLC] = "last-level miss",
    [SPE_SERVED_BEYOND_L2] = "L2 miss, level unknown",
    [SPE_SERVED_BEYOND_L1] = "L1 miss, level unknown",
    [SPE_SERVED_UNKNOWN] = "not recorded",
};

const char *spe_served_name(unsigned served)
{
    return names[served < SPE_SERVED_COUNT ? served : SPE_SERVED_UNKNOWN];
}

static bool hit(uint64_t events, uint64_t access, uint64_t miss)
{
    return (events & access) && !(events & miss);
}

enum spe_served spe_served_by(uint8_t level, uint64_t events)
{
    if (level != SPE_LEVEL_UNKNOWN && level < SPE_LEVEL_COUNT)
        return (enum spe_served)level;
    if (hit(events, SPE_EVENT_BIT(L1D_ACCESS), SPE_EVENT_BIT(L1D_MISS)))
        return SPE_SERVED_L1_HIT;
    if (events & SPE_EVENT_BIT(RECENTLY_FETCHED))
        return SPE_SERVED_IN_FLIGHT;
    if (hit(events, SPE_EVENT_BIT(L2D_ACCESS), SPE_EVENT_BIT(L2D_MISS)))
        return SPE_SERVED_L2_HIT;
    if (events & SPE_EVENT_BIT(REMOTE))
        return SPE_SERVED_REMOTE;
    if (hit(events, SPE_EVENT_BIT(LLC_ACCESS), SPE_EVENT_BIT(LLC_MISS)))
        return SPE_SERVED_LLC_HIT;
    if (events & SPE_EVENT_BIT(LLC_MISS))
        return SPE_SERVED_BEYOND_LLC;
    if (events & SPE_EVENT_BIT(L2D_MISS))
        return SPE_SERVED_BEYOND_L2;
    if (events & SPE_EVENT_BIT(L1D_MISS))
        return SPE_SERVED_BEYOND_L1;
    return SPE_SERVED_UNKNOWN;
}
