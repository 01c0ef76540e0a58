/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the unit is: a preset, changed by `spe` (a version or a list of features) and by any option
 * of the unit, and by what the processor has that QEMU models.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/device.h"

/* What a plugin can do nothing about: exceptions (v1p5) cannot be delivered, taken branches are not
 * all seen, there is no second clock and no PMU to freeze. */
static const spe_features impossible = SPE_FEAT(SPEv1p5) | SPE_FEAT(SPE_EXC) | SPE_FEAT(SPE_nVM) |
                                       SPE_FEAT(SPE_PBT) | SPE_FEAT(SPE_ALTCLK) |
                                       SPE_FEAT(SPE_DPFZS) | SPE_FEAT(EBEP) | SPE_FEAT(TRBE);

static const spe_features of_el2 = SPE_FEAT(VHE) | SPE_FEAT(NV) | SPE_FEAT(NV2) | SPE_FEAT(FGT) |
                                   SPE_FEAT(FGT2) | SPE_FEAT(ECV_POFF);

/* A feature of the PE, and the field of an ID register that is at least `least` with it. */
static const struct {
    uint8_t reg, shift, least, feature;
} identified[] = {
    {REG_ID_AA64PFR1_EL1, 8, 2, SPE_FEAT_MTE2},    {REG_ID_AA64PFR1_EL1, 24, 1, SPE_FEAT_SME},
    {REG_ID_AA64PFR1_EL1, 44, 1, SPE_FEAT_GCS},    {REG_ID_AA64ISAR1_EL1, 60, 1, SPE_FEAT_LS64},
    {REG_ID_AA64ISAR2_EL1, 16, 1, SPE_FEAT_MOPS},  {REG_ID_AA64MMFR0_EL1, 56, 1, SPE_FEAT_FGT},
    {REG_ID_AA64MMFR0_EL1, 60, 1, SPE_FEAT_ECV},   {REG_ID_AA64MMFR0_EL1, 60, 2, SPE_FEAT_ECV_POFF},
    {REG_ID_AA64MMFR1_EL1, 0, 1, SPE_FEAT_HAFDBS}, {REG_ID_AA64MMFR1_EL1, 8, 1, SPE_FEAT_VHE},
    {REG_ID_AA64MMFR2_EL1, 24, 1, SPE_FEAT_NV},    {REG_ID_AA64MMFR2_EL1, 24, 2, SPE_FEAT_NV2},
    {REG_ID_AA64MMFR3_EL1, 8, 1, SPE_FEAT_S1PIE},  {REG_ID_AA64DFR0_EL1, 8, 1, SPE_FEAT_PMUv3},
    {REG_ID_AA64DFR0_EL1, 8, 7, SPE_FEAT_PMUv3p7}, {REG_ID_AA64MMFR0_EL1, 56, 2, SPE_FEAT_FGT2},
};

/* ID_AA64PFR0_EL1 is not among the registers that a plugin can read: these tell the same. */
static const struct {
    uint8_t reg, feature;
} present[] = {
    {REG_HCR_EL2, SPE_FEAT_EL2}, {REG_SCR_EL3, SPE_FEAT_EL3},    {REG_SCR_EL3, SPE_FEAT_Secure},
    {REG_ZCR_EL1, SPE_FEAT_SVE}, {REG_ERRIDR_EL1, SPE_FEAT_RAS},
};

#define OF_UNIT                                                                                    \
    (SPE_FEAT(SPE) | SPE_FEAT(SPEv1p1) | SPE_FEAT(SPEv1p2) | SPE_FEAT(SPEv1p3) |                   \
     SPE_FEAT(SPEv1p4) | SPE_FEAT(SPE_ArchInst) | SPE_FEAT(SPE_LDS) | SPE_FEAT(SPE_ERnd) |         \
     SPE_FEAT(SPE_FnE) | SPE_FEAT(SPE_FDS) | SPE_FEAT(SPE_CRR) | SPE_FEAT(SPE_EFT) |               \
     SPE_FEAT(SPE_FPF) | SPE_FEAT(SPE_SME))

spe_features device_features(spe_features wanted)
{
    spe_features set = wanted & OF_UNIT;

    for (size_t i = 0; i < sizeof(identified) / sizeof(identified[0]); i++) {
        uint64_t value = device_read((enum device_register)identified[i].reg);
        unsigned field = value >> identified[i].shift & 15;

        if (field >= identified[i].least && field < 15)
            set |= UINT64_C(1) << identified[i].feature;
    }
    for (size_t i = 0; i < sizeof(present) / sizeof(present[0]); i++)
        if (device.registers[present[i].reg])
            set |= UINT64_C(1) << present[i].feature;
    /* ID registers may tell of what needs EL2 where EL2 is switched off. */
    if (!(set & SPE_FEAT(EL2)))
        set &= ~of_el2;
    if (set & SPE_FEAT(VHE))
        set |= SPE_FEAT(E2H0);
    /* FEAT_GCS brings FEAT_SPE_CRR, which an older unit cannot have: it does not know of GCS. */
    if (!(set & SPE_FEAT(SPEv1p4)))
        set &= ~SPE_FEAT(GCS);
    /* PMSDSFR_EL1 has its traps to EL2 in FEAT_FGT2. */
    if ((set & SPE_FEAT(EL2)) && !(set & SPE_FEAT(FGT2)))
        set &= ~SPE_FEAT(SPE_FDS);
    if (!(set & SPE_FEAT(SME)))
        set &= ~SPE_FEAT(SPE_SME);
    return set;
}

static bool complain(const char *what, const char *why)
{
    fprintf(stderr, "specimen: %s: %s\n", what, why);
    return false;
}

static uint32_t version_of(spe_features set)
{
    static const enum spe_feature versions[] = {SPE_FEAT_SPEv1p1, SPE_FEAT_SPEv1p2,
                                                SPE_FEAT_SPEv1p3, SPE_FEAT_SPEv1p4};
    uint32_t version = 1;

    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (spe_has(set, versions[i]))
            version = (uint32_t)i + 2;
    return version;
}

/* Words that are not options of the unit. */
static bool is_ours(const char *argument, size_t length)
{
    static const char *const names[] = {"role", "ppi", "gicr", "gicd", "preset", "spe", "model"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == length && memcmp(names[i], argument, length) == 0)
            return true;
    return false;
}

static bool unit_options(const struct plugin_arguments *arguments)
{
    char name[64], why[300];

    for (int i = 0; i < arguments->count; i++) {
        const char *argument = arguments->list[i], *value = strchr(argument, '=');
        size_t length = value ? (size_t)(value - argument) : strlen(argument);

        if (is_ours(argument, length))
            continue;
        if (!value || length >= sizeof(name))
            return complain(argument, "the device has no such argument");
        memcpy(name, argument, length);
        name[length] = '\0';
        if (spe_spu_option_set(&device.config, name, value + 1, why, sizeof(why)) < 0)
            return complain(argument, why);
    }
    return true;
}

/* What tells of data sources: without a model nobody knows any, and a source of 0 would be read as
 * the first cache. */
static const spe_features of_model = SPE_FEAT(SPE_LDS) | SPE_FEAT(SPE_FDS);

static bool choose_features(const char *list)
{
    spe_features set = device.config.features & ~impossible;
    char why[300];

    if (list) {
        set = SPE_FEAT(SPE) | SPE_FEAT(SPE_ArchInst);
        if (spe_features_parse(list, &set, why, sizeof(why)) < 0)
            return complain(list, why);
        if (set & impossible)
            return complain(list, "v1p5 and its features, pbt, altclk and dpfzs cannot be had "
                                  "from a plugin of QEMU");
        if (!device.functional && (set & of_model))
            return complain(list, "lds and fds need data sources: --model functional");
    }
    if (!device.functional)
        set &= ~of_model;
    spe_spu_config_features(&device.config, set);
    device.pmsver = version_of(set);
    return true;
}

/* Without a model no cycles are counted: a counter that always has one value may be left out of
 * records (D17.6). */
static void leave_out_counters(void)
{
    device.config.fixed_counters = 1u << SPE_COUNTER_TOTAL | 1u << SPE_COUNTER_ISSUE |
                                   1u << SPE_COUNTER_TRANSLATION | 1u << SPE_COUNTER_ALT_ISSUE;
    device.config.fixed_counter_value = 0;
    device.config.omit_fixed_counters = 1;
}

bool device_configure(const struct plugin_arguments *arguments)
{
    const char *preset = plugin_argument(arguments, "preset");
    const char *model = plugin_argument(arguments, "model");

    if (spe_spu_config_init(&device.config, preset) < 0)
        return complain(preset, "there is no such preset of the unit");
    if (model && strcmp(model, "none") != 0 && strcmp(model, "functional") != 0)
        return complain(model, "the model is none or functional");
    device.functional = model && strcmp(model, "functional") == 0;
    /* Conditional selects and compares would need the flags as they are before each of them: they
     * count as unconditional, which an implementation may choose (D17.6.5). */
    device.config.cond_ops = 0;
    /* Operations that have not run are not recorded: device.c calls them misspeculated. */
    device.config.capture_misspec = 0;
    device.config.max_inflight_samples = 1;
    device.config.data_source_map_count = 0; /* the model knows the numbers */
    if (!device.functional)
        leave_out_counters();
    return choose_features(plugin_argument(arguments, "spe")) && unit_options(arguments) &&
           device_gic_configure(arguments);
}
