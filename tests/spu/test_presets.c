/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Presets: they are valid, and they hold what they say they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/spu.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct value {
    const char *option, *text;
};

/* The choices of the pseudocode, or the plainest where it leaves them open. */
static const struct value architecture[] = {
    {"layout", "architecture"},
    {"max_size", "128"},
    {"min_interval", "256"},
    {"altclk", "smcu"},
    {"ea_described", "1"},
    {"granule_shift", "12"},
    {"pa_bits", "48"},
    {"reset_values", "zero"},
    {"sdd_trap_first", "0"},
    {"nspb_reserved_traps", "1"},
    {"ptr_low_res0", "0"},
    {"ev_smcu", "1"},
    {"ev_pred_no_vector", "0"},
    {"filter_events", "0xffff0000ff00f714"},
    {"filter_sources", "0xffffffffffffffff"},
    {"zero_type_filter", "as_off"},
    {"zero_event_filter", "as_off"},
    {"zero_inverted_filter", "as_off"},
    {"common_event_filter", "none_recorded"},
    {"zero_latency_filter", "as_off"},
    {"feat_spe_ernd", "1"},
    {"sample_pick", "exact"},
    {"reload_point", "before_random"},
    {"rng_kind", "xorshift"},
    {"rng_seed", "1"},
    {"rng_config_regs", "none"},
    {"random_when", "after_zero"},
    {"ecount_select", "on_reach"},
    {"sample_stage", "dispatch"},
    {"max_inflight_samples", "1"},
    {"ts_point", "sampled"},
    {"ts_counter_disabled", "as_disabled"},
    {"incomplete_op_info", "all"},
    {"omit_fixed_counters", "0"},
    {"fixed_counters", "none"},
    {"fixed_counter_value", "0"},
    {"impdef_events", "0x0"},
    {"impdef_counters", "none"},
    {"impdef_addresses", "none"},
    {"async_counter_clock", "cpu"},
    {"async_counter_index", "6"},
    {"sample_unit", "instruction"},
    {"illegal_eret_context", "actual"},
    {"branch_prediction", "1"},
    {"not_taken_target", "omit"},
    {"isb_is_branch", "0"},
    {"pbt_non_branch", "0"},
    {"pbt_after_cse", "0"},
    {"pbt_none_since_cse", "0"},
    {"ev_llc", "1"},
    {"ev_remote", "1"},
    {"data_source", "8bit"},
    {"data_source_multi", "chosen_part"},
    {"ev_align", "1"},
    {"ev_l2", "1"},
    {"ev_modified", "1"},
    {"ev_recent", "1"},
    {"ev_snoop", "1"},
    {"store_cache_events", "recorded"},
    {"dc_zva_as", "store"},
    {"multi_access", "part"},
    {"part_choice", "random"},
    {"part_contig_va", "chosen"},
    {"part_events", "chosen"},
    {"xlat_latency_rule", "waiting"},
    {"stx_fail_pa", "0"},
    {"no_access_xlat", "omit"},
    {"no_access_events", "recorded"},
    {"tag_access_va", "location"},
    {"tag_access_pa", "from_va"},
    {"tag_data_store_as", "general"},
    {"pre_v1p3_tag_mops_as", "general"},
    {"st64bv_data_source", "0"},
    {"st64bv_latency", "to_result"},
    {"align_rule", "line_crossing"},
    {"line_bytes", "64"},
    {"cond_ops", "all"},
    {"simd_split_bits", "none"},
    {"sve128_as", "sve"},
    {"zt_op_as", "sve_vector"},
    {"multivec_op_as", "sve_vector"},
    {"sme_ldst_as", "sve_sme"},
    {"sve_prefetch_info", "address+events+latency"},
    {"sve_prefetch_as", "other"},
    {"sve_contig_va", "lowest_element"},
    {"sve_contig_inactive_va", "0"},
    {"pop_misspec", "0"},
    {"pop_nonarch", "0"},
    {"capture_misspec", "0"},
    {"capture_nonarch", "0"},
    {"cmo_info", "address+events+latency"},
    {"pct_reserved_as", "0b01"},
    {"pa_collect_cycles", "0"},
    {"pop_nonarch_exc", "0"},
    {"capture_nonarch_exc", "0"},
    {"nonarch_exc_record", "handling"},
    {"nonarch_exc_e0", "0"},
    {"ext_abort_sync", "sync"},
    {"fault_late_samples", "0"},
    {"fault_boundary_dl", "unchanged"},
    {"spe_exc_order", "highest_target_first"},
    {"spe_exc_delay", "0"},
    {"pmscr_el1_ee_reserved", "table"},
    {"min_align_bytes", "1"},
    {"misaligned_ptr", "write_anyway"},
    {"tlb_conflict_fault", "1"},
    {"walk_abort_sets_ea", "0"},
    {"spu_hw_af_dirty", "1"},
    {"speculative_dirty", "0"},
    {"write_abort", "serror"},
    {"walk_abort", "mmu_fault"},
    {"access_not_allowed", "event"},
    {"impdef_buffer_event", "absent"},
    {"access_granule_bytes", "64"},
    {"access_granule_mode", "fixed"},
    {"tbi0_tag", "zero"},
    {"ch_when_tcf_ignored", "1"},
    {"pat_unchecked", "zero"},
    {"complete_means_committed", "0"},
    {"wfx_complete", "before_sleep"},
    {"wfx_counters_run", "0"},
    {"wfx_sample_wakes", "0"},
    {"count_size", "16"},
    {"data_source_on_abort", "0"},
    {"data_source_st_atomic", "0"},
    {"data_source_map", "raw"},
    {"events_size", "smallest"},
    {"ev_modified_scope", "both"},
    {"llc_includes_remote", "0"},
    {"pmu_rd_only", "0"},
    {"pmu_mispred_retired", "0"},
    {"spec_sampling", "0"},
    {"zero_masked_ets", "exact"},
    {NULL, NULL},
};

/* By enum spe_source_level: unknown, L1, L2, L3, peer core, local cluster, peer cluster, remote
 * cache, DRAM; remote DRAM and device have no number of their own. */
#define NEOVERSE_SOURCES "0x0,0x0,0x8,0xb,0x9,0xa,0xc,0xd,0xe,0xe,0xe"

#define AMPEREONE_SOURCES "0x0,0x8,0x9,0x3,0x0,0x0,0x0,0x5,0x7,0x7,0x7"

/* In which options a CPU differs from the architecture preset. */
static const struct value neoverse_n1[] = {
    {"features", "SPE,SPE_LDS,Secure,EL2,EL3,VHE,E2H0,RAS,HAFDBS,PMUv3"},
    {"feat_spe_ernd", "0"},
    {"sample_unit", "micro_op"},
    {"random_when", "before_countdown"},
    {"layout", "neoverse-n1"},
    {"max_size", "64"},
    {"min_align_bytes", "64"},
    {"min_interval", "1024"},
    {"count_size", "12"},
    {"events_size", "2"},
    {"ea_described", "0"},
    {"ev_align", "0"},
    {"ev_l2", "0"},
    {"ev_modified", "0"},
    {"ev_recent", "0"},
    {"ev_snoop", "0"},
    {"dc_zva_as", "cache_maintenance"},
    {"data_source_map", NEOVERSE_SOURCES},
    {NULL, NULL},
};

/* clang-format off */
#define V1P1_VALUES                                                                                \
    {"feat_spe_ernd", "0"}, {"sample_unit", "micro_op"}, {"random_when", "before_countdown"},      \
        {"max_size", "64"}, {"min_align_bytes", "64"}, {"min_interval", "1024"},                   \
        {"count_size", "12"}, {"events_size", "4"}, {"ea_described", "0"}, {"ev_l2", "0"},         \
        {"ev_modified", "0"}, {"ev_recent", "0"}, {"ev_snoop", "0"}
/* clang-format on */

static const struct value neoverse_v2[] = {
    {"features", "SPE,SPEv1p1,SPE_LDS,SVE,MTE,MTE2,NV,NV2,Secure,EL2,EL3,SEL2,VHE,E2H0,ECV,FGT,"
                 "RAS,HAFDBS,PMUv3"},
    V1P1_VALUES,
    {"data_source_map", NEOVERSE_SOURCES},
    {NULL, NULL},
};

static const struct value neoverse_v1[] = {
    {"features", "SPE,SPEv1p1,SPE_LDS,SVE,NV,NV2,Secure,EL2,EL3,VHE,E2H0,RAS,HAFDBS,PMUv3"},
    V1P1_VALUES,
    {"data_source_map", NEOVERSE_SOURCES},
    {NULL, NULL},
};

static const struct value ampereone_1a[] = {
    {"features", "SPE,SPEv1p1,SPE_LDS,Secure,EL2,EL3,VHE,E2H0,RAS,HAFDBS,PMUv3"},
    V1P1_VALUES,
    {"data_source_map", AMPEREONE_SOURCES},
    {NULL, NULL},
};

static const struct value kunpeng_920[] = {
    {"features", "SPE,Secure,EL2,EL3,VHE,E2H0,RAS,HAFDBS,PMUv3"},
    {"feat_spe_ernd", "0"},
    {"sample_unit", "micro_op"},
    {"random_when", "before_countdown"},
    {"layout", "kunpeng-920"},
    {"max_size", "128"},
    {"min_align_bytes", "4"},
    {"min_interval", "1024"},
    {"count_size", "12"},
    {"events_size", "2"},
    {"ea_described", "0"},
    {"ev_align", "0"},
    {"ev_l2", "0"},
    {"ev_modified", "0"},
    {"ev_recent", "0"},
    {"ev_snoop", "0"},
    {"dc_zva_as", "cache_maintenance"},
    {"data_source", "none"},
    {NULL, NULL},
};

static const struct {
    const char *name;
    const struct value *values; /* what differs */
} presets[] = {
    {"architecture", architecture}, {"neoverse-n1", neoverse_n1},   {"neoverse-v1", neoverse_v1},
    {"neoverse-n2", neoverse_v2}, /* of the same features */
    {"neoverse-v2", neoverse_v2},   {"ampereone-1a", ampereone_1a}, {"kunpeng-920", kunpeng_920},
};

static const char *value_in(const struct value *values, const char *option)
{
    for (; values->option; values++)
        if (!strcmp(values->option, option))
            return values->text;
    return NULL;
}

static void presets_have_these_values(void **state)
{
    struct spe_spu_config config;
    const struct spe_option *option;
    char text[1000];

    (void)state;
    for (size_t p = 0; p < COUNT(presets); p++) {
        assert_int_equal(spe_spu_config_init(&config, presets[p].name), SPE_OK);
        for (size_t i = 0; (option = spe_spu_option_at(i)); i++) {
            const char *expected = value_in(presets[p].values, option->name);

            if (!expected)
                expected = value_in(architecture, option->name);
            if (!expected) {
                assert_string_equal(option->name, "features");
                assert_int_equal(config.features, SPE_FEATURES_ALL);
                continue;
            }
            spe_spu_option_get(&config, option->name, text, sizeof(text));
            if (strcmp(text, expected) != 0)
                fail_msg("%s: %s is %s, not %s", presets[p].name, option->name, text, expected);
        }
    }
}

static void presets_are_valid(void **state)
{
    struct spe_spu_config config;
    char why[200];
    size_t i = 0;

    (void)state;
    for (; spe_spu_preset_at(i); i++) {
        const char *sentence = spe_spu_preset_sentence(i);

        assert_true(i < COUNT(presets));
        assert_string_equal(spe_spu_preset_at(i), presets[i].name);
        assert_int_equal(sentence[strlen(sentence) - 1], '.');
        memset(&config, 0xff, sizeof(config));
        assert_int_equal(spe_spu_config_init(&config, spe_spu_preset_at(i)), SPE_OK);
        assert_int_equal(config.size, sizeof(config));
        if (spe_spu_config_validate(&config, why, sizeof(why)))
            fail_msg("%s: %s", presets[i].name, why);
    }
    assert_int_equal(i, COUNT(presets));
    assert_null(spe_spu_preset_sentence(i));
    assert_null(spe_spu_preset_at(SIZE_MAX));
    assert_null(spe_spu_preset_sentence(SIZE_MAX));
}

static void no_name_is_the_architecture(void **state)
{
    struct spe_spu_config named, unnamed;

    (void)state;
    assert_int_equal(spe_spu_config_init(&named, "architecture"), SPE_OK);
    assert_int_equal(spe_spu_config_init(&unnamed, NULL), SPE_OK);
    assert_memory_equal(&named, &unnamed, sizeof(named));
    assert_int_equal(spe_spu_config_init(&named, "neoverse"), SPE_ERR_UNKNOWN);
    assert_memory_equal(&named, &unnamed, sizeof(named)); /* untouched */
    assert_int_equal(spe_spu_config_init(&named, ""), SPE_ERR_UNKNOWN);
}

/* Written out option by option and read back over another preset, a preset is the same. */
static void presets_can_be_written_out(void **state)
{
    struct spe_spu_config config, copy;
    const struct spe_option *option;
    char text[1000] = "-all,", why[200];

    (void)state;
    for (size_t p = 0; p < COUNT(presets); p++) {
        spe_spu_config_init(&config, presets[p].name);
        spe_spu_config_init(&copy, presets[(p + 1) % COUNT(presets)].name);
        for (size_t i = 0; (option = spe_spu_option_at(i)); i++) {
            bool features = !strcmp(option->name, "features");

            spe_spu_option_get(&config, option->name, text + 5, sizeof(text) - 5);
            if (spe_spu_option_set(&copy, option->name, features ? text : text + 5, why,
                                   sizeof(why)))
                fail_msg("%s", why);
        }
        assert_memory_equal(&copy, &config, sizeof(config));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_have_these_values),
        cmocka_unit_test(presets_are_valid),
        cmocka_unit_test(no_name_is_the_architecture),
        cmocka_unit_test(presets_can_be_written_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
