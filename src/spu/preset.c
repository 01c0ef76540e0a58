/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Presets: a feature set and the options in which an implementation is not like the pseudocode.
 * What is not publicly known of a CPU is left as the pseudocode has it.
 */
#include "spu_internal.h"

#include <string.h>

#define BASE                                                                                       \
    (SPE_FEAT(SPE) | SPE_FEAT(Secure) | SPE_FEAT(EL2) | SPE_FEAT(EL3) | SPE_FEAT(VHE) |            \
     SPE_FEAT(E2H0) | SPE_FEAT(RAS) | SPE_FEAT(HAFDBS) | SPE_FEAT(PMUv3))

struct setting {
    const char *name, *value;
};

struct preset {
    const char *name;
    const char *sentence;
    const char *cpu; /* whose data source numbers fill data_source_map; NULL: raw */
    spe_features features;
    struct setting settings[16]; /* ends with a NULL name */
};

/* Of the cores with SPEv1p1: what is known of Neoverse V2. That the others are like it in this is
 * assumed. */
/* clang-format off */
#define V1P1_SETTINGS                                                                              \
    {{"layout", "architecture"}, {"max_size", "64"}, {"min_align_bytes", "64"},                    \
     {"min_interval", "1024"}, {"count_size", "12"}, {"events_size", "4"}, {"ea_described", "0"}}
/* clang-format on */
#define V1P1 (BASE | SPE_FEAT(SPEv1p1) | SPE_FEAT(SPE_LDS))
#define V1 (V1P1 | SPE_FEAT(SVE) | SPE_FEAT(NV) | SPE_FEAT(NV2))
#define N2 (V1 | SPE_FEAT(MTE) | SPE_FEAT(MTE2) | SPE_FEAT(SEL2) | SPE_FEAT(FGT) | SPE_FEAT(ECV))

static const struct preset presets[] = {
    {
        .name = "architecture",
        .sentence = "Every feature, and the choices that the Arm ARM's pseudocode makes.",
        .features = SPE_FEATURES_ALL,
        .settings = {{"layout", "architecture"}},
    },
    {
        .name = "neoverse-n1",
        .sentence = "Armv8.2: records of 64 bytes with fixed places, 12-bit counters, data "
                    "sources, micro-operations.",
        .cpu = "neoverse-n1",
        .features = BASE | SPE_FEAT(SPE_LDS),
        .settings = {{"layout", "neoverse-n1"},
                     {"max_size", "64"},
                     {"min_align_bytes", "64"},
                     {"min_interval", "1024"},
                     {"count_size", "12"},
                     {"events_size", "2"},
                     {"ea_described", "0"}},
    },
    {
        .name = "neoverse-v1",
        .sentence = "Armv8.4 with SVE: FEAT_SPEv1p1, records of 64 bytes, 12-bit counters, data "
                    "sources, micro-operations.",
        .cpu = "neoverse-v1",
        .features = V1,
        .settings = V1P1_SETTINGS,
    },
    {
        .name = "neoverse-n2",
        .sentence = "Armv9.0 with SVE: FEAT_SPEv1p1, records of 64 bytes, 12-bit counters, data "
                    "sources, micro-operations.",
        .cpu = "neoverse-n2",
        .features = N2,
        .settings = V1P1_SETTINGS,
    },
    {
        .name = "neoverse-v2",
        .sentence = "Armv9.0 with SVE: FEAT_SPEv1p1, records of 64 bytes, 12-bit counters, data "
                    "sources, micro-operations.",
        .cpu = "neoverse-v2",
        .features = N2,
        .settings = V1P1_SETTINGS,
    },
    {
        .name = "ampereone-1a",
        .sentence = "Armv8.6: FEAT_SPEv1p1, records of 64 bytes, 12-bit counters, data sources, "
                    "micro-operations; as assumed.",
        .cpu = "ampereone-1a",
        .features = V1P1,
        .settings = V1P1_SETTINGS,
    },
    {
        .name = "kunpeng-920",
        .sentence = "Armv8.2: records of up to 128 bytes at an alignment of 4, 12-bit counters, no "
                    "data sources, micro-operations.",
        .cpu = NULL,
        .features = BASE,
        .settings = {{"layout", "kunpeng-920"},
                     {"max_size", "128"},
                     {"min_align_bytes", "4"},
                     {"min_interval", "1024"},
                     {"count_size", "12"},
                     {"events_size", "2"},
                     {"ea_described", "0"}},
    },
};

#define PRESET_COUNT (sizeof(presets) / sizeof(presets[0]))

/* The host then numbers its sources by enum spe_source_level; a level that the CPU does not tell
 * gets the number of the nearest one before it. */
static void map_sources(struct spe_spu_config *config, const struct spe_cpu *cpu)
{
    uint16_t value = 0;

    if (!cpu || !cpu->sources)
        return;
    for (unsigned level = 0; level < SPE_LEVEL_COUNT; level++) {
        for (size_t i = cpu->sources->count; i-- > 0;)
            if (cpu->sources->sources[i].level == level && !cpu->sources->sources[i].modified)
                value = cpu->sources->sources[i].value;
        config->data_source_map[level] = value;
    }
    config->data_source_map_count = SPE_LEVEL_COUNT;
}

static int apply(const struct preset *preset, struct spe_spu_config *config)
{
    int error = SPE_OK;

    memset(config, 0, sizeof(*config));
    config->size = sizeof(*config);
    spu_options_default(config);
    spu_config_features(config, preset->features);
    for (const struct setting *s = preset->settings; !error && s->name; s++)
        error = spu_option_set(config, s->name, s->value, NULL, 0);
    if (preset->cpu)
        map_sources(config, spe_cpu_by_name(preset->cpu));
    return error;
}

int spu_config_preset(struct spe_spu_config *config, const char *preset)
{
    for (size_t i = 0; i < PRESET_COUNT; i++)
        if (!strcmp(presets[i].name, preset ? preset : "architecture"))
            return apply(&presets[i], config);
    return SPE_ERR_UNKNOWN;
}

const char *spe_spu_preset_at(size_t i)
{
    return i < PRESET_COUNT ? presets[i].name : NULL;
}

const char *spe_spu_preset_sentence(size_t i)
{
    return i < PRESET_COUNT ? presets[i].sentence : NULL;
}
