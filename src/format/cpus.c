/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What a MIDR tells about a CPU's records: the meaning of its data sources and IMPLEMENTATION
 * DEFINED events (D18.2.4, D18.2.6), its features, its record layout. Only what a public document
 * says is here; the rest stays unknown.
 *
 * Sources:
 * - part numbers: the MIDR_EL1 descriptions of each core's Technical Reference Manual (TRM), as
 *   collected in the Linux kernel's table of arm64 CPU types;
 * - common data sources: the SPE chapters of the TRMs of the Neoverse and Cortex cores that Linux
 * perf lists for them. Cores that it does not list have no table here either, though a TRM may well
 *   give them the same one;
 * - AmpereOne data sources: Ampere's patch "perf arm-spe: Add support for SPE Data Source packet on
 *   AmpereOne" of November 2024, which names part 0xac4 only; nothing is claimed for 0xac3;
 * - HIP12 data sources: HiSilicon's table in Linux perf 6.16, which names part 0xd06 only;
 * - features: reset values of ID_AA64DFR0_EL1 (PMSVer), ID_AA64PFR0/1_EL1 and ID_AA64MMFR1/2_EL1
 * that QEMU's models of Neoverse N1, V1 and N2 take from the TRMs; FEAT_SPE_LDS because their data
 *   sources are documented. The same register of Cortex-A710 has a PMSVer of 0: it has no SPE;
 * - Azure Cobalt 100 is a Neoverse N2 with another implementer (Linux kernel, as above);
 * - Neoverse N1 event 12: TRM 100616, "Implementation defined features of SPE".
 */
#include <specimen/format.h>

#include <string.h>

#include "cpus.h"
#include "layout.h"

static const char *const level_names[SPE_LEVEL_COUNT] = {
    [SPE_LEVEL_UNKNOWN] = "unknown",
    [SPE_LEVEL_L1] = "l1",
    [SPE_LEVEL_L2] = "l2",
    [SPE_LEVEL_L3] = "l3",
    [SPE_LEVEL_PEER_CORE] = "peer_core",
    [SPE_LEVEL_LOCAL_CLUSTER] = "local_cluster",
    [SPE_LEVEL_PEER_CLUSTER] = "peer_cluster",
    [SPE_LEVEL_REMOTE_CACHE] = "remote_cache",
    [SPE_LEVEL_DRAM] = "dram",
    [SPE_LEVEL_REMOTE_DRAM] = "remote_dram",
    [SPE_LEVEL_IO] = "io",
};

static const struct spe_source common_list[] = {
    {0x0, SPE_LEVEL_L1, false, "L1D"},
    {0x8, SPE_LEVEL_L2, false, "L2"},
    {0x9, SPE_LEVEL_PEER_CORE, false, "Peer core"},
    {0xa, SPE_LEVEL_LOCAL_CLUSTER, false, "Local cluster"},
    {0xb, SPE_LEVEL_L3, false, "System cache"},
    {0xc, SPE_LEVEL_PEER_CLUSTER, false, "Peer cluster"},
    {0xd, SPE_LEVEL_REMOTE_CACHE, false, "Remote"},
    {0xe, SPE_LEVEL_DRAM, false, "DRAM"},
};

static const struct spe_source ampereone_list[] = {
    {0x0, SPE_LEVEL_PEER_CORE, false, "Local chip cache or device"},
    {0x3, SPE_LEVEL_L3, false, "System level cache"},
    {0x5, SPE_LEVEL_REMOTE_CACHE, false, "Remote chip cache"},
    {0x7, SPE_LEVEL_DRAM, false, "DDR"},
    {0x8, SPE_LEVEL_L1, false, "L1D"},
    {0x9, SPE_LEVEL_L2, false, "L2D"},
};

static const struct spe_source hip12_list[] = {
    {0, SPE_LEVEL_PEER_CORE, false, "Peer core"},
    {1, SPE_LEVEL_PEER_CORE, true, "Peer core, modified"},
    {2, SPE_LEVEL_L3, false, "L3"},
    {3, SPE_LEVEL_L3, true, "L3, modified"},
    {4, SPE_LEVEL_PEER_CLUSTER, false, "Peer cluster"},
    {5, SPE_LEVEL_PEER_CLUSTER, true, "Peer cluster, modified"},
    {6, SPE_LEVEL_REMOTE_CACHE, false, "Remote socket"},
    {7, SPE_LEVEL_REMOTE_CACHE, true, "Remote socket, modified"},
    {8, SPE_LEVEL_DRAM, false, "Local memory"},
    {9, SPE_LEVEL_REMOTE_DRAM, false, "Remote memory"},
    {13, SPE_LEVEL_IO, false, "Non-cacheable or device"},
    {16, SPE_LEVEL_L2, false, "L2"},
    {17, SPE_LEVEL_L2, true, "L2, modified"},
    {18, SPE_LEVEL_L1, false, "L1D"},
};

#define TABLE(list) (list), sizeof(list) / sizeof((list)[0])

static const struct spe_source_table common = {"common", TABLE(common_list)};
static const struct spe_source_table ampereone = {"ampereone", TABLE(ampereone_list)};
static const struct spe_source_table hip12 = {"hip12", TABLE(hip12_list)};

/* The tables for which perf names clusters and sockets. */
static const struct spe_source_table *const with_clusters[] = {&hip12};

#define LEVELS (SPE_FEAT(EL2) | SPE_FEAT(EL3) | SPE_FEAT(Secure) | SPE_FEAT(VHE) | SPE_FEAT(E2H0))
#define FEATURES_N1                                                                                \
    (SPE_FEAT(SPE) | SPE_FEAT(SPE_LDS) | LEVELS | SPE_FEAT(RAS) | SPE_FEAT(HAFDBS) |               \
     SPE_FEAT(PMUv3))
#define FEATURES_V1 (FEATURES_N1 | SPE_FEAT(SPEv1p1) | SPE_FEAT(SVE) | SPE_FEAT(NV) | SPE_FEAT(NV2))
#define FEATURES_N2 (FEATURES_V1 | SPE_FEAT(MTE) | SPE_FEAT(MTE2) | SPE_FEAT(SEL2) | SPE_FEAT(TRBE))

#define ARM 0x41
#define HISILICON 0x48
#define NVIDIA 0x4e
#define MICROSOFT 0x6d
#define AMPERE 0xc0

#define N1_LATE_PREFETCH 12

static const struct spe_cpu cpus[] = {
    {"neoverse-n1", "Arm Neoverse N1", ARM, 0xd0c, &common, FEATURES_N1, &spe_layout_neoverse_n1,
     UINT64_C(1) << N1_LATE_PREFETCH},
    {"neoverse-n2", "Arm Neoverse N2", ARM, 0xd49, &common, FEATURES_N2, NULL, 0},
    {"neoverse-n3", "Arm Neoverse N3", ARM, 0xd8e, NULL, 0, NULL, 0},
    {"neoverse-v1", "Arm Neoverse V1", ARM, 0xd40, &common, FEATURES_V1, NULL, 0},
    {"neoverse-v2", "Arm Neoverse V2", ARM, 0xd4f, &common, 0, NULL, 0},
    {"neoverse-v3", "Arm Neoverse V3", ARM, 0xd84, &common, 0, NULL, 0},
    {"neoverse-v3ae", "Arm Neoverse V3AE", ARM, 0xd83, NULL, 0, NULL, 0},
    {"cortex-a78", "Arm Cortex-A78", ARM, 0xd41, NULL, 0, NULL, 0},
    {"cortex-a78ae", "Arm Cortex-A78AE", ARM, 0xd42, NULL, 0, NULL, 0},
    {"cortex-a78c", "Arm Cortex-A78C", ARM, 0xd4b, &common, 0, NULL, 0},
    {"cortex-a710", "Arm Cortex-A710", ARM, 0xd47, NULL, 0, NULL, 0},
    {"cortex-a715", "Arm Cortex-A715", ARM, 0xd4d, &common, 0, NULL, 0},
    {"cortex-a720", "Arm Cortex-A720", ARM, 0xd81, &common, 0, NULL, 0},
    {"cortex-a720ae", "Arm Cortex-A720AE", ARM, 0xd89, &common, 0, NULL, 0},
    {"cortex-a725", "Arm Cortex-A725", ARM, 0xd87, &common, 0, NULL, 0},
    {"cortex-x1", "Arm Cortex-X1", ARM, 0xd44, &common, 0, NULL, 0},
    {"cortex-x1c", "Arm Cortex-X1C", ARM, 0xd4c, &common, 0, NULL, 0},
    {"cortex-x2", "Arm Cortex-X2", ARM, 0xd48, NULL, 0, NULL, 0},
    {"cortex-x3", "Arm Cortex-X3", ARM, 0xd4e, &common, 0, NULL, 0},
    {"cortex-x4", "Arm Cortex-X4", ARM, 0xd82, &common, 0, NULL, 0},
    {"cortex-x925", "Arm Cortex-X925", ARM, 0xd85, &common, 0, NULL, 0},
    {"olympus", "NVIDIA Olympus", NVIDIA, 0x010, &common, 0, NULL, 0},
    {"cobalt-100", "Microsoft Azure Cobalt 100", MICROSOFT, 0xd49, &common, FEATURES_N2, NULL, 0},
    {"ampereone", "Ampere AmpereOne (AMPERE1)", AMPERE, 0xac3, NULL, 0, NULL, 0},
    {"ampereone-1a", "Ampere AmpereOne (AMPERE1A)", AMPERE, 0xac4, &ampereone, 0, NULL, 0},
    {"kunpeng-920", "HiSilicon Kunpeng 920 (TSV110)", HISILICON, 0xd01, NULL, 0,
     &spe_layout_kunpeng_920, 0},
    {"hip09", "HiSilicon HIP09", HISILICON, 0xd02, NULL, 0, NULL, 0},
    {"hip12", "HiSilicon HIP12", HISILICON, 0xd06, &hip12, 0, NULL, 0},
};

#define CPUS (sizeof(cpus) / sizeof(cpus[0]))

struct event_name {
    uint8_t implementer;
    uint16_t part;
    uint8_t event;
    const char *name;
};

/* One row for each bit of each named_impdef_events. */
static const struct event_name event_names[] = {
    {ARM, 0xd0c, N1_LATE_PREFETCH, "late_prefetch"},
};

const char *spe_source_level_name(unsigned level)
{
    return level_names[level < SPE_LEVEL_COUNT ? level : SPE_LEVEL_UNKNOWN];
}

const struct spe_cpu *spe_cpu_by_midr(uint64_t midr)
{
    uint8_t implementer = (uint8_t)(midr >> 24);
    uint16_t part = midr >> 4 & 0xfff;

    for (size_t i = 0; i < CPUS; i++)
        if (cpus[i].implementer == implementer && cpus[i].part == part)
            return &cpus[i];
    return NULL;
}

const struct spe_cpu *spe_cpu_by_name(const char *name)
{
    for (size_t i = 0; i < CPUS; i++)
        if (!strcmp(cpus[i].name, name))
            return &cpus[i];
    return NULL;
}

const struct spe_cpu *spe_cpu_at(size_t i)
{
    return i < CPUS ? &cpus[i] : NULL;
}

bool spe_source_table_has_clusters(const struct spe_source_table *table)
{
    for (size_t i = 0; i < sizeof(with_clusters) / sizeof(with_clusters[0]); i++)
        if (with_clusters[i] == table)
            return true;
    return false;
}

const struct spe_source *spe_cpu_source(const struct spe_cpu *cpu, uint16_t value)
{
    const struct spe_source_table *table = cpu ? cpu->sources : NULL;

    for (size_t i = 0; table && i < table->count; i++)
        if (table->sources[i].value == value)
            return &table->sources[i];
    return NULL;
}

const char *spe_cpu_event_name(const struct spe_cpu *cpu, unsigned event)
{
    if (!cpu || event > 63 || !(cpu->named_impdef_events >> event & 1))
        return NULL;
    for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++)
        if (event_names[i].implementer == cpu->implementer && event_names[i].part == cpu->part &&
            event_names[i].event == event)
            return event_names[i].name;
    return NULL;
}
