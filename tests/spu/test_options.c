/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The options of an implementation: one row per CHOICE of the catalogue, with the values that its
 * statement permits, some that it does not, and what is refused beside other options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/spu.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CHOICES 106 /* rows of that kind in the catalogue */

/*
 * Lists are separated by '|'. `with` is a list of settings on top of the architecture preset under
 * which the row holds.
 */
struct choice {
    const char *id; /* "" for an option that is no row */
    const char *option;
    const char *with;
    const char *good;  /* every word that is permitted, or telling numbers */
    const char *clash; /* can be set, but not `with` that */
    const char *never; /* cannot be set at all; besides what no option takes */
};

static const struct choice choices[] = {
    /* Sampling */
    {"D17.3-002", "feat_spe_ernd", "", "0|1", "", "2|on"},
    {"D17.3-006", "sample_pick", "", "exact|1|2|128|255", "", "0|256|exactly"},
    {"D17.3-009", "reload_point", "features=-spe_ernd", "before_random|at_selection", "", "never"},
    {"D17.3-009", "reload_point", "features=spe_ernd", "before_random", "at_selection", "before"},
    {"D17.3-012", "rng_kind", "", "lfsr|xorshift|user", "", "callback"},
    {"D17.3-012", "rng_seed", "", "0|1|255|18446744073709551615", "", "18446744073709551616|x"},
    {"D17.3-014", "rng_config_regs", "", "none|present", "", "absent|1"},
    {"D17.3-015", "random_when", "features=-spe_ernd", "before_countdown", "after_zero", "after"},
    {"D17.3-015", "random_when", "features=spe_ernd", "after_zero", "before_countdown", "before"},
    {"D17.3-033", "ecount_select", "features=spe_ernd", "on_reach|next", "", "reach"},
    {"D17.3-033", "ecount_select", "features=-spe_ernd", "on_reach", "next", "previous"},
    {"D17.3-038", "sample_stage", "", "decode|dispatch|issue", "", "retire"},
    {"D17.3-040", "max_inflight_samples", "", "1|2|1023|1024", "", "0|1025|none"},

    /* What a record holds */
    {"D17.6-002", "ts_point", "", "sampled|later|finished", "", "earlier"},
    {"D17.6-003", "ts_counter_disabled", "", "as_disabled|unknown_value", "", "unknown"},
    {"D17.6-014", "incomplete_op_info", "", "none|subset|all", "", "some"},
    {"D17.6-016", "omit_fixed_counters", "", "0|1", "", "2"},
    {"D17.6-017", "impdef_events", "", "0x0|0x1000|0xf000|0xffff00000000f000",
     "0x1000000|0x80000000", "0x800|0x10000|0x800000|0x100000000|0x800000000000|12"},
    {"D17.6-017", "impdef_events", "features=-v1p4,-spe_sme", "0x1000000|0x80000000", "", "0x10"},
    {"D17.6-017", "impdef_events", "features=-v1p4,spe_sme,sme", "0x4000000|0x80000000",
     "0x1000000|0x2000000", "0x20"},
    {"D17.6-017", "impdef_counters", "", "none|6|7|16|31|6,7,16,17,31", "",
     "0|1|2|3|4|5|8|15|32|6,|6,,7|6 7|all"},
    {"D17.6-017", "impdef_addresses", "max_size=256", "none|6|7|16|31|6,7,16,17,31", "",
     "0|1|2|3|4|5|8|15|32|6,|,6|all"},
    {"D17.6-018", "async_counter_clock", "features=spe_sme,spe_altclk", "cpu|smcu_alt|impdef", "",
     "gpu"},
    {"D17.6-018", "async_counter_clock", "features=-spe_sme", "cpu|impdef", "smcu_alt", "smcu"},
    {"D17.6-018", "async_counter_clock", "features=-spe_altclk", "cpu|impdef", "smcu_alt", "alt"},
    {"D17.6-018", "async_counter_clock", "altclk=impdef", "cpu|impdef", "smcu_alt", "alt"},
    {"D17.6-018", "async_counter_clock", "impdef_counters=6,7", "cpu", "impdef", "alt"},
    {"D17.6-022", "sample_unit", "", "instruction|micro_op", "", "micro|0"},
    {"D17.6-029", "illegal_eret_context", "", "actual|spsr", "", "both"},
    {"D17.6-030", "branch_prediction", "", "0|1", "", "2"},
    {"D17.6-034", "not_taken_target", "", "omit|emit_unknown", "", "emit"},
    {"D17.6-041", "isb_is_branch", "", "0|1", "", "2"},
    {"D17.6-044", "pbt_non_branch", "", "0|1", "", "2"},
    {"D17.6-045", "pbt_after_cse", "", "0|1", "", "2"},
    {"D17.6-046", "pbt_none_since_cse", "", "0|1", "", "2"},
    {"D17.6-062", "ev_llc", "", "0|1", "", "2"},
    {"D17.6-063", "ev_remote", "", "0|1", "", "2"},
    {"D17.6-064", "data_source", "features=spe_lds", "8bit|16bit", "none", "32bit|8"},
    {"D17.6-064", "data_source", "features=-spe_lds", "none", "8bit|16bit", "64bit|0"},
    {"D17.6-065", "data_source_multi", "", "combined|chosen_part", "", "chosen"},
    {"D17.6-066", "ev_align", "features=v1p1", "0|1", "", "2"},
    {"D17.6-066", "ev_align", "features=-v1p1", "0", "1", "2"},
    {"D17.6-067", "ev_l2", "features=v1p4", "0|1", "", "2"},
    {"D17.6-067", "ev_l2", "features=-v1p4", "0", "1", "2"},
    {"D17.6-068", "ev_modified", "features=v1p4", "0|1", "", "2"},
    {"D17.6-068", "ev_modified", "features=-v1p4", "0", "1", "2"},
    {"D17.6-068", "ev_recent", "features=v1p4", "0|1", "", "2"},
    {"D17.6-068", "ev_recent", "features=-v1p4", "0", "1", "2"},
    {"D17.6-069", "ev_snoop", "features=v1p4", "0|1", "", "2"},
    {"D17.6-069", "ev_snoop", "features=-v1p4", "0", "1", "2"},
    {"D17.6-071", "store_cache_events", "", "recorded|zero|varying", "",
     "never|2:never|2|2:|:zero|zero:2|4:zero|0:zero|11:zero|18:zero|24:zero|32:zero|2:zero,|zero,2:"
     "zero"},
    {"D17.6-072", "dc_zva_as", "", "store|cache_maintenance", "", "load"},
    {"D17.6-072", "dc_zva_as", "features=-v1p1", "cache_maintenance", "store", "cache"},
    {"D17.6-073", "multi_access", "", "all|part", "", "parts"},
    {"D17.6-074", "part_choice", "", "random|round_robin", "", "first"},
    {"D17.6-076", "part_contig_va", "", "lowest|chosen", "", "highest"},
    {"D17.6-078", "part_events", "", "whole|chosen", "", "part"},
    {"D17.6-083", "xlat_latency_rule", "", "waiting_and_none_accessing|waiting", "", "accessing"},
    {"D17.6-087", "stx_fail_pa", "", "0|1", "", "2"},
    {"D17.6-088", "no_access_xlat", "", "omit|zero", "", "one"},
    {"D17.6-090", "no_access_events", "", "recorded|zero", "", "omit"},
    {"D17.6-092", "tag_access_va", "", "location|granule_base", "", "granule"},
    {"D17.6-096", "tag_access_pa", "", "from_va|from_granule_base", "", "va"},
    {"D17.6-098", "tag_data_store_as", "", "general|unspecified", "", "tag"},
    {"D17.6-098", "tag_data_store_as", "features=-v1p1", "general", "unspecified", "tags"},
    {"D17.6-102", "pre_v1p3_tag_mops_as", "features=-v1p3", "general|unspecified", "", "tag"},
    {"D17.6-102", "pre_v1p3_tag_mops_as", "features=-v1p1", "general", "unspecified", "tags"},
    {"D17.6-108", "st64bv_data_source", "", "0|1", "", "2"},
    {"D17.6-109", "st64bv_latency", "", "to_result|as_store", "", "result"},
    {"D17.6-117", "align_rule", "", "line_crossing|2|4|64|2048", "", "0|1|3|48|4096"},
    {"D17.6-120", "cond_ops", "",
     "none|all|csel|fcsel|csinc|csneg|csinv|ccmp|fccmp|ccmn|csel,ccmn|fcsel,csinc,csneg,csinv", "",
     "csel,|csel,none|all,csel|none,csel|fccmn|0xff|1"},
    {"D17.6-132", "simd_split_bits", "sample_unit=micro_op", "none|32|64|128|1024|2048", "",
     "0|16|31|48|4096"},
    {"D17.6-132", "simd_split_bits", "sample_unit=instruction", "none", "32|2048", "1"},
    {"D17.6-135", "sve128_as", "sample_unit=micro_op", "sve|advsimd|dp|ldst", "", "neon|dp,sve"},
    {"D17.6-135", "sve128_as", "sample_unit=instruction", "sve", "advsimd|dp|ldst", "ld"},
    {"D17.6-140", "zt_op_as", "", "other|sve_vector", "", "sve"},
    {"D17.6-141", "multivec_op_as", "", "other|sve_vector", "", "sve"},
    {"D17.6-148", "sme_ldst_as", "", "sve_sme|unspecified", "", "sve"},
    {"D17.6-148", "sme_ldst_as", "features=-v1p1", "sve_sme", "unspecified", "sme"},
    {"D17.6-151", "sve_prefetch_info", "", "none|address|address+events+latency", "", "events"},
    {"D17.6-153", "sve_prefetch_as", "", "sve_vector|other", "", "load"},
    {"D17.6-155", "sve_contig_va", "", "lowest_element|lowest_active", "", "lowest"},
    {"D17.6-156", "sve_contig_inactive_va", "", "0|1", "", "2"},
    {"D17.6-157", "pop_misspec", "", "0|1", "", "2"},
    {"D17.6-158", "pop_nonarch", "", "0|1", "", "2"},
    {"D17.6-159", "capture_misspec", "pop_misspec=1|spec_sampling=1", "0|1", "", "2"},
    {"D17.6-159", "capture_misspec", "pop_nonarch=1|spec_sampling=1", "0", "1", "2"},
    {"D17.6-159", "capture_nonarch", "pop_nonarch=1|spec_sampling=1", "0|1", "", "2"},
    {"D17.6-159", "capture_nonarch", "pop_misspec=1|spec_sampling=1", "0", "1", "2"},
    {"D17.6-165", "cmo_info", "", "none|address|address+events+latency", "", "address+events"},
    {"D17.6-190", "pct_reserved_as", "", "0b00|0b01|0b11", "", "0b10|1|0b1"},
    {"D17.6-193", "pa_collect_cycles", "", "0|1|4096|65535", "", "65536|none"},
    {"D17.6-195", "incomplete_op_info", "", "none|subset|all", "", "any"},
    {"D17.6-197", "pop_nonarch_exc", "", "0|1", "", "2"},
    {"D17.6-198", "capture_nonarch_exc", "pop_nonarch_exc=1", "0|1", "", "2"},
    {"D17.6-198", "capture_nonarch_exc", "pop_nonarch=1|pop_misspec=1", "0", "1", "2"},
    {"D17.6-199", "nonarch_exc_record", "", "handling|not_executed", "", "executed"},
    {"D17.6-201", "nonarch_exc_e0", "", "0|1", "", "2"},

    /* The Profiling Buffer */
    {"D17.8-007", "ext_abort_sync", "features=-v1p3", "sync|async", "", "maybe"},
    {"D17.8-009", "fault_late_samples", "features=v1p5", "0|1|1024", "", "1025|none"},
    {"D17.8-009", "fault_late_samples", "features=-v1p5", "0", "1|1024", "1026"},
    {"D17.8-068", "fault_boundary_dl", "", "unchanged|0|1", "", "2"},
    {"D17.8-076", "spe_exc_order", "", "highest_target_first|lowest_target_first", "", "highest"},
    {"D17.8-113", "spe_exc_delay", "", "0|1|4294967295", "", "4294967296|forever"},
    {"D17.8-118", "pmscr_el1_ee_reserved", "features=-nv", "table|literal", "", "rules"},
    {"D17.8-118", "pmscr_el1_ee_reserved", "features=nv", "table", "literal", "rule"},
    {"D17.8-136", "min_align_bytes", "max_size=2048", "1|2|64|2048", "", "0|3|96|4096"},
    {"D17.8-136", "min_align_bytes", "max_size=128", "1|2|64|128", "256|2048", "5"},
    {"D17.8-136", "misaligned_ptr", "", "alignment_fault|write_anyway|access_not_allowed", "",
     "fault"},
    {"D17.8-140", "tlb_conflict_fault", "", "0|1", "", "2"},
    {"D17.8-150", "walk_abort_sets_ea", "", "0|1", "", "2"},
    {"D17.8-153", "spu_hw_af_dirty", "features=-v1p3", "0|1", "", "2"},
    {"D17.8-153", "spu_hw_af_dirty", "features=v1p3", "1", "0", "2"},
    {"D17.8-154", "speculative_dirty", "", "0|1", "", "2"},
    {"D17.8-154", "speculative_dirty", "features=-v1p3|spu_hw_af_dirty=0", "0", "1", "2"},
    {"D17.8-156", "write_abort", "features=-v1p3", "ignore|serror|report", "", "mmu_fault"},
    {"D17.8-156", "write_abort", "features=v1p3", "ignore|serror", "report", "fault"},
    {"D17.8-156", "walk_abort", "features=-v1p3", "ignore|serror|mmu_fault|report", "", "abort"},
    {"D17.8-156", "walk_abort", "features=v1p3", "ignore|serror|mmu_fault", "report", "mmu"},
    {"D17.8-164", "ext_abort_sync", "features=-v1p3", "sync|async", "", "asynchronous"},
    {"D17.8-170", "access_not_allowed", "", "event|silent_discard", "", "silent"},
    {"D17.8-173", "impdef_buffer_event", "", "absent|present", "", "none"},

    /* Records and packets */
    {"D18.1-016", "access_granule_bytes", "", "1|2|4|8|16|32|64|128|256|512|1024|2048", "",
     "0|3|24|2047|4096"},
    {"D18.1-017", "access_granule_mode", "", "fixed|varying", "", "vary"},
    {"D18.2-020", "tbi0_tag", "", "zero|va_63_56", "", "va"},
    {"D18.2-025", "ch_when_tcf_ignored", "", "0|1", "", "2"},
    {"D18.2-028", "pat_unchecked", "", "zero|tag", "", "pat"},
    {"D18.2-043", "complete_means_committed", "", "0|1", "", "2"},
    {"D18.2-044", "wfx_complete", "", "before_sleep|on_wake", "", "never"},
    {"D18.2-045", "wfx_counters_run", "", "0|1", "", "2"},
    {"D18.2-046", "wfx_sample_wakes", "", "0|1", "", "2"},
    {"D18.2-050", "count_size", "", "12|16", "", "0|8|11|14|32"},
    {"D18.2-053", "data_source_on_abort", "", "0|1", "", "2"},
    {"D18.2-054", "data_source_st_atomic", "", "0|1", "", "2"},
    {"D18.2-055", "data_source_map", "", "raw|0x0|0x0,0x8,0xff", "0x100|0x0,0xffff",
     "0x10000|1,|raw,1|1;2"},
    {"D18.2-055", "data_source_map", "data_source=16bit", "raw|0x100|0x0,0xffff", "", "0x10001"},
    {"D18.2-055", "data_source_multi", "", "combined|chosen_part", "", "all"},
    {"D18.2-060", "events_size", "features=-spe_sme", "4|8|smallest", "1|2", "0|3|5|16"},
    {"D18.2-060", "events_size", "features=-v1p1", "2|4|8|smallest", "1", "6"},
    {"D18.2-060", "events_size", "features=-v1p1|ev_llc=0|ev_remote=0", "1|2|4|8|smallest", "",
     "7"},
    {"D18.2-060", "events_size", "impdef_events=0x8000000000000000", "8|smallest", "1|2|4", "9"},
    {"D18.2-069", "ev_modified_scope", "", "cache_hit|snoop_hit|both", "", "hit"},
    {"D18.2-072", "store_cache_events", "", "recorded|zero|varying", "", "5:zero|31:zero"},
    {"D18.2-082", "llc_includes_remote", "", "0|1", "", "2"},
    {"D18.2-083", "pmu_rd_only", "", "0|1", "", "2"},
    {"D18.2-083", "pmu_mispred_retired", "", "0|1", "", "2"},
    {"D18.2-093", "spec_sampling", "", "0|1", "", "2"},
    {"D18.2-093", "spec_sampling", "pop_misspec=1|capture_misspec=1", "1", "0", "2"},
    {"D18.2-093", "spec_sampling", "pop_nonarch=1|capture_nonarch=1", "1", "0", "2"},
    {"D18.2-093", "spec_sampling", "pop_nonarch_exc=1|capture_nonarch_exc=1", "0|1", "", "2"},
    {"D18.2-093", "spec_sampling",
     "pop_nonarch_exc=1|capture_nonarch_exc=1|nonarch_exc_record=not_executed", "1", "0", "2"},
    {"D18.2-095", "nonarch_exc_e0", "", "0|1", "", "2"},
    {"D18.2-114", "zero_masked_ets", "", "whole|exact", "", "part"},
    {"D18.2-144", "ts_counter_disabled", "", "as_disabled|unknown_value", "", "disabled"},

    /* No rows: identity, and what the register descriptions leave open */
    {"", "layout", "", "architecture", "", "alphabetical"},
    {"", "layout", "features=-all,spe,lds|max_size=64|count_size=12|events_size=2",
     "architecture|neoverse-n1", "", "n1"},
    {"", "layout", "features=-all,spe|max_size=64|count_size=12|events_size=2", "kunpeng-920", "",
     "920"},
    {"", "max_size", "", "128|256|2048", "64", "32|96|4096"},
    {"", "max_size", "features=-all,spe|count_size=12", "64|128|2048", "", "63"},
    {"", "min_interval", "", "256|512|768|1024|1536|2048|3072|4096", "", "0|128|2560|8192"},
    {"", "altclk", "", "smcu|impdef", "", "cpu"},
    {"", "ea_described", "features=-v1p3", "0|1", "", "2"},
    {"", "ea_described", "features=v1p3", "1", "0", "2"},
    {"", "granule_shift", "", "12|14|16", "", "0|11|13|15|17"},
    {"", "pa_bits", "", "32|48|52|56", "", "31|57"},
    {"", "reset_values", "", "zero|random", "", "one"},
    {"", "sdd_trap_first", "", "0|1", "", "2"},
    {"", "nspb_reserved_traps", "", "0|1", "", "2"},
    {"", "ptr_low_res0", "", "0|1", "", "2"},
    {"", "ev_smcu", "", "0|1", "", "2"},
    {"", "ev_pred_no_vector", "", "0|1", "", "2"},
    {"", "filter_events", "", "0x0|0x714|0xf000|0xff000000|0xffff0000ff00f714", "",
     "0x1|0x2|0x8|0x20|0x80|0x800|0x10000|0x800000|0x100000000"},
    {"", "filter_sources", "", "0x0|0x1|0xffffffffffffffff", "", "0x10000000000000000|g"},
    {"", "zero_type_filter", "", "none_recorded|as_off", "", "off"},
    {"", "zero_event_filter", "", "none_recorded|as_off", "", "off"},
    {"", "zero_inverted_filter", "", "none_recorded|as_off", "", "off"},
    {"", "common_event_filter", "", "none_recorded|as_off", "", "off"},
    {"", "zero_latency_filter", "", "none_recorded|as_off", "", "off"},
    {"", "fixed_counters", "", "none|0|1|2|4|0,1,2,4,6,7,16,31", "", "3|5|8|15|32|all"},
    {"", "fixed_counter_value", "count_size=12", "0|1|4095", "4096|65535", "65536|none"},
    {"", "fixed_counter_value", "count_size=16", "0|4096|65535", "", "65537"},
    {"", "async_counter_index", "", "6|7|16|17|30|31", "", "0|1|5|8|15|32|none"},
    {"", "line_bytes", "", "16|32|64|128|2048", "", "0|8|48|4096"},
};

/* What no option takes. */
static const char *const never[] = {"-1", " 0", "+1", "nonsense", "0x", "0b", "0b2", "1e3", "?"};

/* ---- Helpers -------------------------------------------------------------------------------- */

static void must_set(struct spe_spu_config *config, const char *option, const char *value)
{
    char why[200] = "";
    int error = spe_spu_option_set(config, option, value, why, sizeof(why));

    if (error || why[0])
        fail_msg("%s=%s gives %d: %s", option, value, error, why);
}

/* The next word of a '|' list; false at its end. An empty list has no words. */
static bool next_word(const char **list, char *word, size_t size)
{
    size_t length = strcspn(*list, "|");

    if (!**list)
        return false;
    assert_true(length < size);
    memcpy(word, *list, length);
    word[length] = 0;
    *list += length + ((*list)[length] == '|');
    return true;
}

/* A list of option=value. */
static void apply(struct spe_spu_config *config, const char *settings)
{
    char word[100];

    while (next_word(&settings, word, sizeof(word))) {
        char *equals = strchr(word, '=');

        assert_non_null(equals);
        *equals = 0;
        must_set(config, word, equals + 1);
    }
}

/* Copies padding too, so that configurations can be compared as memory. */
static void config_with(struct spe_spu_config *config, const char *settings)
{
    assert_int_equal(spe_spu_config_init(config, "architecture"), SPE_OK);
    apply(config, settings);
}

static void must_be(const struct spe_spu_config *config, const char *option, const char *value)
{
    char text[1000] = "";
    int length = spe_spu_option_get(config, option, text, sizeof(text));

    assert_int_equal(length, strlen(text));
    assert_string_equal(text, value);
}

/* What is refused changes nothing, and the sentence names option and value. */
static void must_refuse(const struct spe_spu_config *config, const char *option, const char *value)
{
    struct spe_spu_config copy;
    char why[400] = "";
    size_t length;

    memcpy(&copy, config, sizeof(copy));
    if (spe_spu_option_set(&copy, option, value, why, sizeof(why)) != SPE_ERR_INVALID)
        fail_msg("%s takes %s", option, value);
    assert_memory_equal(&copy, config, sizeof(copy));
    length = strlen(why);
    if (!strstr(why, option) || !strstr(why, value) || why[length - 1] == '.')
        fail_msg("%s=%s is refused by: %s", option, value, why);
    assert_int_equal(spe_spu_option_set(&copy, option, value, NULL, 0), SPE_ERR_INVALID);
}

static void must_be_valid(const struct spe_spu_config *config, const char *about)
{
    char why[400] = "";
    int error = spe_spu_config_validate(config, why, sizeof(why));

    if (error || why[0])
        fail_msg("%s: %d %s", about, error, why);
    assert_int_equal(spe_spu_config_validate(config, NULL, 0), SPE_OK);
}

static void must_be_invalid(const struct spe_spu_config *config, const char *names)
{
    char why[400] = "";

    if (spe_spu_config_validate(config, why, sizeof(why)) != SPE_ERR_INVALID)
        fail_msg("not refused: %s", names);
    if (!strstr(why, names) || why[strlen(why) - 1] == '.')
        fail_msg("refused because of %s by: %s", names, why);
    assert_int_equal(spe_spu_config_validate(config, NULL, 0), SPE_ERR_INVALID);
}

/* ---- The rows ------------------------------------------------------------------------------- */

/* Is `word` one of those separated by single spaces in `list`? */
static bool in_list(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

static void every_row_is_an_option(void **state)
{
    size_t ids = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(choices); i++) {
        const struct spe_option *option = spe_spu_option_find(choices[i].option);
        bool again = false;

        assert_non_null(option);
        assert_string_equal(option->name, choices[i].option);
        if (choices[i].id[0] && !in_list(option->requirements, choices[i].id))
            fail_msg("option %s does not name %s", option->name, choices[i].id);
        if (!choices[i].id[0])
            assert_string_equal(option->requirements, "");
        for (size_t j = 0; j < i; j++)
            again |= !strcmp(choices[j].id, choices[i].id);
        ids += choices[i].id[0] && !again;
    }
    assert_int_equal(ids, CHOICES);
}

/* How often the table has the option with this id. */
static size_t rows_of(const char *option, const char *id)
{
    size_t n = 0;

    for (size_t i = 0; i < COUNT(choices); i++)
        n += !strcmp(choices[i].option, option) && !strcmp(choices[i].id, id);
    return n;
}

static void every_option_is_a_row_or_says_so(void **state)
{
    const struct spe_option *option;
    size_t count = 0;

    (void)state;
    for (; (option = spe_spu_option_at(count)); count++) {
        char ids[100];

        assert_true(strlen(option->values) > 0);
        assert_true(strlen(option->sentence) > 10);
        assert_int_equal(option->sentence[strlen(option->sentence) - 1], '.');
        assert_ptr_equal(spe_spu_option_find(option->name), option);
        assert_true(strlen(option->requirements) < sizeof(ids));
        strcpy(ids, option->requirements);
        if (!ids[0] && strcmp(option->name, "features") != 0)
            assert_true(rows_of(option->name, "") > 0);
        for (char *save, *id = strtok_r(ids, " ", &save); id; id = strtok_r(NULL, " ", &save))
            if (!rows_of(option->name, id))
                fail_msg("option %s names %s, which is another's", option->name, id);
    }
    assert_null(spe_spu_option_at(count + 1));
    assert_null(spe_spu_option_at(SIZE_MAX));
}

static void check_good(const struct choice *c, const struct spe_spu_config *base)
{
    struct spe_spu_config set, back;
    const char *list = c->good;
    char value[100], about[200];

    while (next_word(&list, value, sizeof(value))) {
        memcpy(&set, base, sizeof(set));
        must_set(&set, c->option, value);
        must_be(&set, c->option, value); /* the table has values as they are printed */
        snprintf(about, sizeof(about), "%s=%s with %s", c->option, value, c->with);
        must_be_valid(&set, about);
        memcpy(&back, &set, sizeof(back)); /* and back over itself */
        must_set(&back, c->option, value);
        assert_memory_equal(&back, &set, sizeof(back));
    }
}

static void check_clashes(const struct choice *c, const struct spe_spu_config *base)
{
    struct spe_spu_config set;
    const char *list = c->clash;
    char value[100];

    while (next_word(&list, value, sizeof(value))) {
        memcpy(&set, base, sizeof(set));
        must_set(&set, c->option, value);
        must_be(&set, c->option, value);
        must_be_invalid(&set, c->option);
    }
}

static void each_value_is_taken_and_the_others_are_refused(void **state)
{
    struct spe_spu_config base;
    char value[100];

    (void)state;
    for (size_t i = 0; i < COUNT(choices); i++) {
        const char *list = choices[i].never;

        config_with(&base, choices[i].with);
        check_good(&choices[i], &base);
        check_clashes(&choices[i], &base);
        while (next_word(&list, value, sizeof(value)))
            must_refuse(&base, choices[i].option, value);
        for (size_t n = 0; n < COUNT(never); n++)
            must_refuse(&base, choices[i].option, never[n]);
        must_refuse(&base, choices[i].option, "");
    }
}

/* The words that an option lists are exactly those of its rows. */
static void words_are_listed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(choices); i++) {
        const struct spe_option *option = spe_spu_option_find(choices[i].option);
        const char *word;
        struct spe_spu_config config;
        size_t n = 0;

        for (; (word = spe_spu_option_word(option, n)); n++) {
            config_with(&config, choices[i].with);
            must_set(&config, option->name, word);
            must_be(&config, option->name, word);
            assert_true(strstr(option->values, word) || strstr(option->values, " to "));
        }
        assert_null(spe_spu_option_word(option, n + 1));
        if (!strcmp(option->values, "0 | 1"))
            assert_int_equal(n, 2);
    }
}

static void some_lists_of_words(void **state)
{
    static const struct {
        const char *option;
        const char *words[6];
    } some[] = {
        {"reload_point", {"before_random", "at_selection"}},
        {"rng_kind", {"lfsr", "xorshift", "user"}},
        {"write_abort", {"ignore", "serror", "report"}},
        {"walk_abort", {"ignore", "serror", "mmu_fault", "report"}},
        {"feat_spe_ernd", {"0", "1"}},
        {"sample_pick", {"exact"}},
        {"rng_seed", {NULL}},
        {"events_size", {"1", "2", "4", "8", "smallest"}},
        {"impdef_counters", {"none"}},
        {"data_source_map", {"raw"}},
        {"features", {NULL}},
    };
    const struct spe_option stranger = {"stranger", "", "", ""};

    (void)state;
    for (size_t i = 0; i < COUNT(some); i++) {
        const struct spe_option *option = spe_spu_option_find(some[i].option);
        size_t n = 0;

        for (; some[i].words[n]; n++)
            assert_string_equal(spe_spu_option_word(option, n), some[i].words[n]);
        assert_null(spe_spu_option_word(option, n));
    }
    assert_null(spe_spu_option_word(&stranger, 0));
}

/* ---- Values and fields ---------------------------------------------------------------------- */

struct word_value {
    const char *option, *word;
    size_t offset, width;
    uint64_t value;
};

#define W(field, word, value)                                                                      \
    {                                                                                              \
#field, word, offsetof(struct spe_spu_config, field),                                      \
            sizeof(((struct spe_spu_config *)0)->field), value                                     \
    }

static const struct word_value word_values[] = {
    W(altclk, "smcu", SPE_ALTCLK_SMCU),
    W(altclk, "impdef", SPE_ALTCLK_IMPDEF),
    W(reset_values, "zero", SPE_RESET_ZERO),
    W(reset_values, "random", SPE_RESET_RANDOM),
    W(zero_type_filter, "none_recorded", SPE_ZERO_FILTER_NONE_RECORDED),
    W(zero_type_filter, "as_off", SPE_ZERO_FILTER_AS_OFF),
    W(zero_event_filter, "none_recorded", SPE_ZERO_FILTER_NONE_RECORDED),
    W(zero_event_filter, "as_off", SPE_ZERO_FILTER_AS_OFF),
    W(zero_inverted_filter, "none_recorded", SPE_ZERO_FILTER_NONE_RECORDED),
    W(zero_inverted_filter, "as_off", SPE_ZERO_FILTER_AS_OFF),
    W(common_event_filter, "none_recorded", SPE_ZERO_FILTER_NONE_RECORDED),
    W(common_event_filter, "as_off", SPE_ZERO_FILTER_AS_OFF),
    W(zero_latency_filter, "none_recorded", SPE_ZERO_FILTER_NONE_RECORDED),
    W(zero_latency_filter, "as_off", SPE_ZERO_FILTER_AS_OFF),
    W(max_size, "512", 512),
    W(min_interval, "3072", 3072),
    W(granule_shift, "14", 14),
    W(pa_bits, "0x34", 52),
    W(filter_events, "0x714", 0x714),
    W(filter_sources, "0b101", 5),
    W(sample_pick, "exact", 0),
    W(sample_pick, "17", 17),
    W(reload_point, "before_random", SPE_RELOAD_BEFORE_RANDOM),
    W(reload_point, "at_selection", SPE_RELOAD_AT_SELECTION),
    W(rng_kind, "lfsr", SPE_RNG_LFSR),
    W(rng_kind, "xorshift", SPE_RNG_XORSHIFT),
    W(rng_kind, "user", SPE_RNG_USER),
    W(rng_seed, "0x123456789abcdef0", UINT64_C(0x123456789abcdef0)),
    W(rng_config_regs, "none", SPE_ABSENT),
    W(rng_config_regs, "present", SPE_PRESENT),
    W(random_when, "before_countdown", SPE_RANDOM_BEFORE_COUNTDOWN),
    W(random_when, "after_zero", SPE_RANDOM_AFTER_ZERO),
    W(ecount_select, "on_reach", SPE_ECOUNT_ON_REACH),
    W(ecount_select, "next", SPE_ECOUNT_NEXT),
    W(sample_stage, "decode", SPE_STAGE_DECODE),
    W(sample_stage, "dispatch", SPE_STAGE_DISPATCH),
    W(sample_stage, "issue", SPE_STAGE_ISSUE),
    W(max_inflight_samples, "0x200", 512),
    W(ts_point, "sampled", SPE_TS_SAMPLED),
    W(ts_point, "later", SPE_TS_LATER),
    W(ts_point, "finished", SPE_TS_FINISHED),
    W(ts_counter_disabled, "as_disabled", SPE_TS_AS_DISABLED),
    W(ts_counter_disabled, "unknown_value", SPE_TS_UNKNOWN_VALUE),
    W(incomplete_op_info, "none", SPE_INFO_NONE),
    W(incomplete_op_info, "subset", SPE_INFO_SUBSET),
    W(incomplete_op_info, "all", SPE_INFO_ALL),
    W(omit_fixed_counters, "1", 1),
    W(fixed_counters, "0,31", UINT32_C(0x80000001)),
    W(fixed_counter_value, "4095", 4095),
    W(impdef_events, "0x8000000000001000", UINT64_C(0x8000000000001000)),
    W(impdef_counters, "6,16", 0x10040),
    W(impdef_addresses, "31,7", UINT32_C(0x80000080)),
    W(async_counter_clock, "cpu", SPE_ASYNC_CPU),
    W(async_counter_clock, "smcu_alt", SPE_ASYNC_SMCU_ALT),
    W(async_counter_clock, "impdef", SPE_ASYNC_IMPDEF),
    W(async_counter_index, "0x10", 16),
    W(illegal_eret_context, "actual", SPE_ERET_ACTUAL),
    W(illegal_eret_context, "spsr", SPE_ERET_SPSR),
    W(branch_prediction, "0", 0),
    W(not_taken_target, "omit", SPE_NOT_TAKEN_OMIT),
    W(not_taken_target, "emit_unknown", SPE_NOT_TAKEN_EMIT_UNKNOWN),
    W(data_source, "none", SPE_SOURCE_NONE),
    W(data_source, "8bit", SPE_SOURCE_8BIT),
    W(data_source, "16bit", SPE_SOURCE_16BIT),
    W(data_source_multi, "combined", SPE_SOURCE_COMBINED),
    W(data_source_multi, "chosen_part", SPE_SOURCE_CHOSEN_PART),
    W(dc_zva_as, "store", SPE_ZVA_STORE),
    W(dc_zva_as, "cache_maintenance", SPE_ZVA_CACHE_MAINTENANCE),
    W(multi_access, "all", SPE_MULTI_ALL),
    W(multi_access, "part", SPE_MULTI_PART),
    W(part_choice, "random", SPE_PART_RANDOM),
    W(part_choice, "round_robin", SPE_PART_ROUND_ROBIN),
    W(part_contig_va, "lowest", SPE_PART_VA_LOWEST),
    W(part_contig_va, "chosen", SPE_PART_VA_CHOSEN),
    W(part_events, "whole", SPE_PART_EVENTS_WHOLE),
    W(part_events, "chosen", SPE_PART_EVENTS_CHOSEN),
    W(xlat_latency_rule, "waiting_and_none_accessing", SPE_XLAT_WAITING_AND_NONE_ACCESSING),
    W(xlat_latency_rule, "waiting", SPE_XLAT_WAITING),
    W(no_access_xlat, "omit", SPE_NO_ACCESS_OMIT),
    W(no_access_xlat, "zero", SPE_NO_ACCESS_ZERO),
    W(no_access_events, "recorded", SPE_NO_ACCESS_EVENTS_RECORDED),
    W(no_access_events, "zero", SPE_NO_ACCESS_EVENTS_ZERO),
    W(tag_access_va, "location", SPE_TAG_VA_LOCATION),
    W(tag_access_va, "granule_base", SPE_TAG_VA_GRANULE_BASE),
    W(tag_access_pa, "from_va", SPE_TAG_PA_FROM_VA),
    W(tag_access_pa, "from_granule_base", SPE_TAG_PA_FROM_GRANULE_BASE),
    W(tag_data_store_as, "general", SPE_AS_GENERAL),
    W(tag_data_store_as, "unspecified", SPE_AS_UNSPECIFIED),
    W(pre_v1p3_tag_mops_as, "general", SPE_AS_GENERAL),
    W(pre_v1p3_tag_mops_as, "unspecified", SPE_AS_UNSPECIFIED),
    W(st64bv_latency, "to_result", SPE_ST64BV_TO_RESULT),
    W(st64bv_latency, "as_store", SPE_ST64BV_AS_STORE),
    W(align_rule, "line_crossing", 0),
    W(align_rule, "0b10000", 16),
    W(line_bytes, "128", 128),
    W(cond_ops, "none", 0),
    W(cond_ops, "all", 0xff),
    W(cond_ops, "csel", SPE_COND_CSEL),
    W(cond_ops, "fcsel", SPE_COND_FCSEL),
    W(cond_ops, "csinc", SPE_COND_CSINC),
    W(cond_ops, "csneg", SPE_COND_CSNEG),
    W(cond_ops, "csinv", SPE_COND_CSINV),
    W(cond_ops, "ccmp", SPE_COND_CCMP),
    W(cond_ops, "fccmp", SPE_COND_FCCMP),
    W(cond_ops, "ccmn", SPE_COND_CCMN),
    W(cond_ops, "ccmn,csel", SPE_COND_CCMN | SPE_COND_CSEL),
    W(simd_split_bits, "none", 0),
    W(simd_split_bits, "256", 256),
    W(sve128_as, "sve", 0),
    W(sve128_as, "advsimd", SPE_SVE128_DP | SPE_SVE128_LDST),
    W(sve128_as, "dp", SPE_SVE128_DP),
    W(sve128_as, "ldst", SPE_SVE128_LDST),
    W(zt_op_as, "other", SPE_AS_OTHER),
    W(zt_op_as, "sve_vector", SPE_AS_SVE_VECTOR),
    W(multivec_op_as, "other", SPE_AS_OTHER),
    W(multivec_op_as, "sve_vector", SPE_AS_SVE_VECTOR),
    W(sme_ldst_as, "sve_sme", SPE_SME_LDST_SVE_SME),
    W(sme_ldst_as, "unspecified", SPE_SME_LDST_UNSPECIFIED),
    W(sve_prefetch_info, "none", SPE_SUBSET_NONE),
    W(sve_prefetch_info, "address", SPE_SUBSET_ADDRESS),
    W(sve_prefetch_info, "address+events+latency", SPE_SUBSET_FULL),
    W(sve_prefetch_as, "sve_vector", SPE_PREFETCH_SVE_VECTOR),
    W(sve_prefetch_as, "other", SPE_PREFETCH_OTHER),
    W(sve_contig_va, "lowest_element", SPE_CONTIG_LOWEST_ELEMENT),
    W(sve_contig_va, "lowest_active", SPE_CONTIG_LOWEST_ACTIVE),
    W(cmo_info, "none", SPE_SUBSET_NONE),
    W(cmo_info, "address", SPE_SUBSET_ADDRESS),
    W(cmo_info, "address+events+latency", SPE_SUBSET_FULL),
    W(pct_reserved_as, "0b00", SPE_PCT_AS_00),
    W(pct_reserved_as, "0b01", SPE_PCT_AS_01),
    W(pct_reserved_as, "0b11", SPE_PCT_AS_11),
    W(pa_collect_cycles, "0xffff", 0xffff),
    W(nonarch_exc_record, "handling", SPE_NONARCH_HANDLING),
    W(nonarch_exc_record, "not_executed", SPE_NONARCH_NOT_EXECUTED),
    W(ext_abort_sync, "sync", SPE_EXT_ABORT_SYNC),
    W(ext_abort_sync, "async", SPE_EXT_ABORT_ASYNC),
    W(fault_late_samples, "3", 3),
    W(fault_boundary_dl, "unchanged", SPE_DL_UNCHANGED),
    W(fault_boundary_dl, "0", SPE_DL_0),
    W(fault_boundary_dl, "1", SPE_DL_1),
    W(spe_exc_order, "highest_target_first", SPE_HIGHEST_TARGET_FIRST),
    W(spe_exc_order, "lowest_target_first", SPE_LOWEST_TARGET_FIRST),
    W(spe_exc_delay, "4294967295", UINT32_MAX),
    W(pmscr_el1_ee_reserved, "table", SPE_EE_TABLE),
    W(pmscr_el1_ee_reserved, "literal", SPE_EE_LITERAL),
    W(min_align_bytes, "64", 64),
    W(misaligned_ptr, "alignment_fault", SPE_MISALIGNED_FAULT),
    W(misaligned_ptr, "write_anyway", SPE_MISALIGNED_WRITE_ANYWAY),
    W(misaligned_ptr, "access_not_allowed", SPE_MISALIGNED_NOT_ALLOWED),
    W(write_abort, "ignore", SPE_ABORT_IGNORE),
    W(write_abort, "serror", SPE_ABORT_SERROR),
    W(write_abort, "report", SPE_ABORT_REPORT),
    W(walk_abort, "ignore", SPE_ABORT_IGNORE),
    W(walk_abort, "serror", SPE_ABORT_SERROR),
    W(walk_abort, "mmu_fault", SPE_ABORT_MMU_FAULT),
    W(walk_abort, "report", SPE_ABORT_REPORT),
    W(access_not_allowed, "event", SPE_NOT_ALLOWED_EVENT),
    W(access_not_allowed, "silent_discard", SPE_NOT_ALLOWED_SILENT),
    W(impdef_buffer_event, "absent", SPE_ABSENT),
    W(impdef_buffer_event, "present", SPE_PRESENT),
    W(access_granule_bytes, "0x800", 2048),
    W(access_granule_mode, "fixed", SPE_GRANULE_FIXED),
    W(access_granule_mode, "varying", SPE_GRANULE_VARYING),
    W(tbi0_tag, "zero", SPE_TBI0_ZERO),
    W(tbi0_tag, "va_63_56", SPE_TBI0_VA_63_56),
    W(pat_unchecked, "zero", SPE_PAT_ZERO),
    W(pat_unchecked, "tag", SPE_PAT_TAG),
    W(wfx_complete, "before_sleep", SPE_WFX_BEFORE_SLEEP),
    W(wfx_complete, "on_wake", SPE_WFX_ON_WAKE),
    W(count_size, "0xc", 12),
    W(events_size, "smallest", 0),
    W(events_size, "8", 8),
    W(ev_modified_scope, "cache_hit", SPE_MODIFIED_CACHE_HIT),
    W(ev_modified_scope, "snoop_hit", SPE_MODIFIED_SNOOP_HIT),
    W(ev_modified_scope, "both", SPE_MODIFIED_BOTH),
    W(zero_masked_ets, "whole", SPE_ETS_MASKED_WHOLE),
    W(zero_masked_ets, "exact", SPE_ETS_MASKED_EXACT),
};

static uint64_t field(const struct spe_spu_config *config, size_t offset, size_t width)
{
    uint64_t value = 0;

    memcpy(&value, (const char *)config + offset, width); /* little-endian hosts only */
    return value;
}

static void words_are_the_fields_values(void **state)
{
    struct spe_spu_config before, config;

    (void)state;
    config_with(&before, "");
    for (size_t i = 0; i < COUNT(word_values); i++) {
        const struct word_value *w = &word_values[i];

        memcpy(&config, &before, sizeof(config));
        must_set(&config, w->option, w->word);
        if (field(&config, w->offset, w->width) != w->value)
            fail_msg("%s=%s is %llu", w->option, w->word,
                     (unsigned long long)field(&config, w->offset, w->width));
        /* Nothing else has changed. */
        memcpy((char *)&config + w->offset, (char *)&before + w->offset, w->width);
        assert_memory_equal(&config, &before, sizeof(config));
    }
}

static void flags_are_the_fields_values(void **state)
{
    static const struct word_value flags[] = {
#define FLAG(field) W(field, "", 0)
        FLAG(ea_described),
        FLAG(sdd_trap_first),
        FLAG(nspb_reserved_traps),
        FLAG(ptr_low_res0),
        FLAG(ev_smcu),
        FLAG(ev_pred_no_vector),
        FLAG(omit_fixed_counters),
        FLAG(branch_prediction),
        FLAG(isb_is_branch),
        FLAG(pbt_non_branch),
        FLAG(pbt_after_cse),
        FLAG(pbt_none_since_cse),
        FLAG(ev_llc),
        FLAG(ev_remote),
        FLAG(ev_align),
        FLAG(ev_l2),
        FLAG(ev_modified),
        FLAG(ev_recent),
        FLAG(ev_snoop),
        FLAG(stx_fail_pa),
        FLAG(st64bv_data_source),
        FLAG(sve_contig_inactive_va),
        FLAG(pop_misspec),
        FLAG(pop_nonarch),
        FLAG(pop_nonarch_exc),
        FLAG(capture_misspec),
        FLAG(capture_nonarch),
        FLAG(capture_nonarch_exc),
        FLAG(nonarch_exc_e0),
        FLAG(tlb_conflict_fault),
        FLAG(walk_abort_sets_ea),
        FLAG(spu_hw_af_dirty),
        FLAG(speculative_dirty),
        FLAG(ch_when_tcf_ignored),
        FLAG(wfx_counters_run),
        FLAG(wfx_sample_wakes),
        FLAG(complete_means_committed),
        FLAG(llc_includes_remote),
        FLAG(data_source_on_abort),
        FLAG(pmu_rd_only),
        FLAG(spec_sampling),
        FLAG(data_source_st_atomic),
        FLAG(pmu_mispred_retired),
    };
    struct spe_spu_config config;

    (void)state;
    config_with(&config, "");
    for (size_t i = 0; i < COUNT(flags); i++) {
        const struct spe_option *option = spe_spu_option_find(flags[i].option);

        assert_string_equal(option->values, "0 | 1");
        assert_int_equal(flags[i].width, 1);
        must_set(&config, flags[i].option, "1");
        assert_int_equal(field(&config, flags[i].offset, 1), 1);
        must_set(&config, flags[i].option, "0");
        assert_int_equal(field(&config, flags[i].offset, 1), 0);
    }
}

/* Values that only a program can put into a field. */
static void fields_out_of_range_are_refused(void **state)
{
    static const struct word_value bad[] = {
        W(altclk, "", 2),
        W(max_size, "", 0),
        W(max_size, "", 32),
        W(max_size, "", 96),
        W(max_size, "", 4096),
        W(min_interval, "", 0),
        W(min_interval, "", 257),
        W(granule_shift, "", 13),
        W(pa_bits, "", 31),
        W(pa_bits, "", 57),
        W(reset_values, "", 2),
        W(filter_events, "", 1),
        W(sdd_trap_first, "", 2),
        W(zero_latency_filter, "", 2),
        W(reload_point, "", 2),
        W(rng_kind, "", 3),
        W(sample_stage, "", 255),
        W(max_inflight_samples, "", 0),
        W(max_inflight_samples, "", 1025),
        W(ts_point, "", 3),
        W(fixed_counters, "", 8),
        W(impdef_events, "", 0x800),
        W(impdef_counters, "", 1),
        W(impdef_addresses, "", 0x100),
        W(async_counter_clock, "", 3),
        W(async_counter_index, "", 5),
        W(async_counter_index, "", 8),
        W(async_counter_index, "", 32),
        W(branch_prediction, "", 2),
        W(data_source, "", 3),
        W(align_rule, "", 1),
        W(align_rule, "", 3),
        W(align_rule, "", 4096),
        W(line_bytes, "", 8),
        W(simd_split_bits, "", 16),
        W(simd_split_bits, "", 33),
        W(sve128_as, "", 4),
        W(pa_collect_cycles, "", 0x10000),
        W(fault_late_samples, "", 1025),
        W(min_align_bytes, "", 0),
        W(min_align_bytes, "", 3),
        W(misaligned_ptr, "", 3),
        W(write_abort, "", SPE_ABORT_MMU_FAULT),
        W(write_abort, "", 4),
        W(walk_abort, "", 4),
        W(access_granule_bytes, "", 0),
        W(access_granule_bytes, "", 4096),
        W(count_size, "", 0),
        W(count_size, "", 13),
        W(events_size, "", 3),
        W(zero_masked_ets, "", 2),
    };
    struct spe_spu_config config;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        config_with(&config, "");
        memcpy((char *)&config + bad[i].offset, &bad[i].value, bad[i].width);
        must_be_invalid(&config, bad[i].option);
    }
}

static void numbers_have_three_spellings(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"0", 0},
        {"255", 255},
        {"0xff", 255},
        {"0XFF", 255},
        {"0b101", 5},
        {"0B11111111", 255},
        {"010", 10},
        {"00", 0},
        {"0xffffffffffffffff", UINT64_MAX},
        {"18446744073709551615", UINT64_MAX},
    };
    static const char *const bad[] = {"",     "0x",  "0b",   "0b102", "0xfg",
                                      "12a",  "a12", "1 ",   " 1",    "-0",
                                      "0x-1", "+1",  "0b 1", "0b-1",  "0x10000000000000000",
                                      "0b+1", "1.0", "1,2",  "0b0b1", "18446744073709551616"};
    struct spe_spu_config config;
    char sixty_four[67] = "0b", long_zero[80];

    (void)state;
    config_with(&config, "");
    for (size_t i = 0; i < COUNT(good); i++) {
        must_set(&config, "rng_seed", good[i].text);
        assert_int_equal(config.rng_seed, good[i].value);
    }
    memset(sixty_four + 2, '1', 64);
    must_set(&config, "rng_seed", sixty_four);
    assert_int_equal(config.rng_seed, UINT64_MAX);
    for (size_t i = 0; i < COUNT(bad); i++)
        must_refuse(&config, "rng_seed", bad[i]);
    memset(long_zero, '0', sizeof(long_zero) - 1);
    long_zero[sizeof(long_zero) - 1] = 0;
    must_refuse(&config, "rng_seed", long_zero);
}

/* ---- Options with a text of their own ------------------------------------------------------- */

static void store_events_are_set_one_by_one(void **state)
{
    static const unsigned events[] = {2, 3, 8, 9, 10, 19, 20, 21, 22, 23}; /* D18.2-072 */
    static const struct {
        const char *word;
        uint8_t value;
    } words[] = {
        {"recorded", SPE_STORE_RECORDED}, {"zero", SPE_STORE_ZERO}, {"varying", SPE_STORE_VARYING}};
    struct spe_spu_config config, back;
    char text[300];

    (void)state;
    for (size_t all = 0; all < COUNT(words); all++)
        for (size_t i = 0; i < COUNT(events); i++)
            for (size_t w = 0; w < COUNT(words); w++) {
                config_with(&config, "");
                must_set(&config, "store_cache_events", words[all].word);
                snprintf(text, sizeof(text), "%u:%s", events[i], words[w].word);
                must_set(&config, "store_cache_events", text);
                for (size_t j = 0; j < COUNT(events); j++)
                    assert_int_equal(config.store_cache_events[events[j]],
                                     j == i ? words[w].value : words[all].value);
                must_be_valid(&config, text);
                assert_true(spe_spu_option_get(&config, "store_cache_events", text, sizeof(text)) <
                            (int)sizeof(text));
                config_with(&back, "");
                must_set(&back, "store_cache_events", text);
                assert_memory_equal(&back, &config, sizeof(back));
            }
    config_with(&config, "store_cache_events=2:zero,3:varying");
    must_be(&config, "store_cache_events",
            "2:zero,3:varying,8:recorded,9:recorded,10:recorded,19:recorded,20:recorded,"
            "21:recorded,22:recorded,23:recorded");
    /* A list with a fault in it changes nothing. */
    must_refuse(&config, "store_cache_events", "8:zero,4:zero");
    must_refuse(&config, "store_cache_events", "8:zero;9:zero");
    config.store_cache_events[3] = 3;
    must_be_invalid(&config, "store_cache_events");
    config_with(&config, "");
    config.store_cache_events[4] = SPE_STORE_ZERO; /* no event that a store may lose */
    must_be_invalid(&config, "store_cache_events");
}

static void source_maps_have_up_to_64_entries(void **state)
{
    struct spe_spu_config config;
    char list[400] = "";
    int length = 0;

    (void)state;
    config_with(&config, "");
    for (unsigned i = 0; i < SPE_SOURCE_MAP_MAX; i++)
        length += snprintf(list + length, sizeof(list) - (size_t)length, "%s0x%x", i ? "," : "", i);
    must_set(&config, "data_source_map", list);
    must_be(&config, "data_source_map", list);
    must_be_valid(&config, list);
    assert_int_equal(config.data_source_map_count, 64);
    for (unsigned i = 0; i < SPE_SOURCE_MAP_MAX; i++)
        assert_int_equal(config.data_source_map[i], i);
    strcat(list, ",0x1");
    must_refuse(&config, "data_source_map", list);
    config.data_source_map_count = 65;
    must_be_invalid(&config, "data_source_map");
    config_with(&config, "data_source_map=7,0xff");
    assert_int_equal(config.data_source_map_count, 2);
    assert_int_equal(config.data_source_map[0], 7);
    assert_int_equal(config.data_source_map[1], 255);
    must_set(&config, "data_source_map", "raw");
    assert_int_equal(config.data_source_map_count, 0);
    assert_int_equal(config.data_source_map[0], 0);
    /* The last entry is looked at too. */
    config_with(&config, "data_source=16bit|data_source_map=1,2,256|data_source=8bit");
    must_be_invalid(&config, "data_source_map");
}

static void features_are_an_option(void **state)
{
    struct spe_spu_config config, back;
    char text[1000] = "-all,", why[100] = "";

    (void)state;
    config_with(&config, "features=-all,v1p4,sve,el2");
    assert_int_equal(config.features,
                     spe_features_close(SPE_FEAT(SPEv1p4) | SPE_FEAT(SVE) | SPE_FEAT(EL2)));
    must_be(&config, "features", "SPE,SPEv1p1,SPEv1p2,SPEv1p3,SPEv1p4,SPE_FnE,SVE,EL2");
    spe_spu_option_get(&config, "features", text + 5, sizeof(text) - 5);
    config_with(&back, "");
    must_set(&back, "features", text);
    assert_int_equal(back.features, config.features);
    /* A list goes on from what is there. */
    must_set(&config, "features", "-sve,rme");
    assert_int_equal(config.features,
                     spe_features_close(SPE_FEAT(SPEv1p4) | SPE_FEAT(RME) | SPE_FEAT(EL2)));
    assert_int_equal(spe_spu_option_set(&config, "features", "sve,sve9", why, sizeof(why)),
                     SPE_ERR_UNKNOWN);
    assert_string_equal(why, "'sve9' is not a feature");
    assert_false(spe_has(config.features, SPE_FEAT_SVE));
    assert_string_equal(spe_spu_option_find("features")->requirements, "");
}

static void feature_options_are_features(void **state)
{
    struct spe_spu_config config;

    (void)state;
    config_with(&config, "feat_spe_ernd=0|sample_unit=micro_op");
    assert_false(spe_has(config.features, SPE_FEAT_SPE_ERnd));
    assert_false(spe_has(config.features, SPE_FEAT_SPE_ArchInst));
    assert_int_equal(config.features | SPE_FEAT(SPE_ERnd) | SPE_FEAT(SPE_ArchInst),
                     SPE_FEATURES_ALL);
    assert_int_equal(config.random_when, SPE_RANDOM_BEFORE_COUNTDOWN);
    apply(&config, "feat_spe_ernd=1|sample_unit=instruction");
    assert_int_equal(config.features, SPE_FEATURES_ALL);
    assert_int_equal(config.random_when, SPE_RANDOM_AFTER_ZERO);
}

static void unknown_options_are_named(void **state)
{
    struct spe_spu_config config, before;
    char why[100] = "", text[10];

    (void)state;
    config_with(&before, "");
    config_with(&config, "");
    assert_int_equal(spe_spu_option_set(&config, "sample_peck", "exact", why, sizeof(why)),
                     SPE_ERR_UNKNOWN);
    assert_string_equal(why, "there is no option named sample_peck");
    assert_int_equal(spe_spu_option_set(&config, "", "1", NULL, 0), SPE_ERR_UNKNOWN);
    assert_int_equal(spe_spu_option_set(&config, "size", "1", NULL, 0), SPE_ERR_UNKNOWN);
    assert_memory_equal(&config, &before, sizeof(config));
    assert_int_equal(spe_spu_option_get(&config, "sample_peck", text, sizeof(text)),
                     SPE_ERR_UNKNOWN);
    assert_null(spe_spu_option_find("sample_peck"));
    assert_null(spe_spu_option_find("sample_pick "));
}

static void texts_are_bounded(void **state)
{
    static const char *const some[] = {"store_cache_events", "reload_point", "cond_ops",
                                       "data_source_map",    "rng_seed",     "layout",
                                       "impdef_counters",    "features",     "sample_unit"};
    struct spe_spu_config config;
    char whole[1000], part[1000], why[12];

    (void)state;
    config_with(&config, "store_cache_events=8:zero|cond_ops=csel,ccmp|data_source_map=1,2,3|"
                         "impdef_counters=6,7,31");
    for (size_t i = 0; i < COUNT(some); i++) {
        int length = spe_spu_option_get(&config, some[i], whole, sizeof(whole));

        assert_int_equal(length, strlen(whole));
        assert_int_equal(spe_spu_option_get(&config, some[i], NULL, 0), length);
        for (int size = 1; size <= length + 1; size++) {
            memset(part, 'x', sizeof(part));
            assert_int_equal(spe_spu_option_get(&config, some[i], part, (size_t)size), length);
            assert_memory_equal(part, whole, (size_t)size - 1);
            assert_int_equal(part[size - 1], 0);
            assert_int_equal(part[size], 'x');
        }
    }
    memset(why, 'x', sizeof(why));
    assert_int_equal(spe_spu_option_set(&config, "ev_llc", "2", why, 10), SPE_ERR_INVALID);
    assert_string_equal(why, "option ev");
    assert_int_equal(why[10], 'x');
    assert_int_equal(spe_spu_option_set(&config, "ev_llc", "2", why, 0), SPE_ERR_INVALID);
    assert_string_equal(why, "option ev");
}

/* ---- What features settle ------------------------------------------------------------------- */

/* Options whose value is changed when the features leave only one. */
static void features_settle_options(void **state)
{
    static const struct {
        const char *before, *features, *option, *after;
    } cases[] = {
        {"feat_spe_ernd=0|reload_point=at_selection", "spe_ernd", "reload_point", "before_random"},
        {"feat_spe_ernd=0|reload_point=at_selection", "-spe_ernd", "reload_point", "at_selection"},
        {"", "-spe_ernd", "random_when", "before_countdown"},
        {"", "spe_ernd", "random_when", "after_zero"},
        {"ecount_select=next", "-spe_ernd", "ecount_select", "on_reach"},
        {"ecount_select=next", "spe_ernd", "ecount_select", "next"},
        {"sample_unit=micro_op|simd_split_bits=128", "archinst", "simd_split_bits", "none"},
        {"sample_unit=micro_op|simd_split_bits=128", "-archinst", "simd_split_bits", "128"},
        {"sample_unit=micro_op|sve128_as=advsimd", "archinst", "sve128_as", "sve"},
        {"sample_unit=micro_op|sve128_as=advsimd", "-archinst", "sve128_as", "advsimd"},
        {"", "-v1p1", "ev_align", "0"},
        {"", "-v1p2", "ev_align", "1"},
        {"", "-v1p4", "ev_l2", "0"},
        {"", "-v1p4", "ev_modified", "0"},
        {"", "-v1p4", "ev_recent", "0"},
        {"", "-v1p4", "ev_snoop", "0"},
        {"", "-v1p5", "ev_l2", "1"},
        {"", "-v1p5", "ev_modified", "1"},
        {"", "-v1p5", "ev_recent", "1"},
        {"", "-v1p5", "ev_snoop", "1"},
        {"features=-v1p4,-spe_sme|impdef_events=0xff00f000", "v1p4", "impdef_events", "0xf000"},
        {"features=-v1p4,-spe_sme|impdef_events=0xff00f000", "spe_sme,sme", "impdef_events",
         "0xfc00f000"},
        {"features=-v1p4,-spe_sme|impdef_events=0xff00f000", "v1p3", "impdef_events", "0xff00f000"},
        {"features=-v1p1|events_size=2", "v1p1,sve", "events_size", "smallest"},
        {"features=-v1p1|events_size=2", "v1p0", "events_size", "2"},
        {"features=-v1p1|events_size=4", "v1p4,sve", "events_size", "4"},
        {"events_size=8|impdef_events=0x8000000000000000", "v1p5", "events_size", "8"},
        {"features=-v1p1|ev_llc=0|ev_remote=0|events_size=1", "v1p0", "events_size", "1"},
        {"features=-v1p1|ev_llc=0|ev_remote=0|impdef_events=0x1000|events_size=1", "v1p0",
         "events_size", "smallest"},
        {"pre_v1p3_tag_mops_as=unspecified", "-v1p1", "pre_v1p3_tag_mops_as", "general"},
        {"pre_v1p3_tag_mops_as=unspecified", "-v1p2", "pre_v1p3_tag_mops_as", "unspecified"},
        {"tag_data_store_as=unspecified", "-v1p1", "tag_data_store_as", "general"},
        {"tag_data_store_as=unspecified", "-v1p2", "tag_data_store_as", "unspecified"},
        {"sme_ldst_as=unspecified", "-v1p1", "sme_ldst_as", "sve_sme"},
        {"sme_ldst_as=unspecified", "-v1p2", "sme_ldst_as", "unspecified"},
        {"dc_zva_as=store", "-v1p1", "dc_zva_as", "cache_maintenance"},
        {"dc_zva_as=store", "-v1p2", "dc_zva_as", "store"},
        {"", "-spe_lds", "data_source", "none"},
        {"features=-spe_lds", "spe_lds", "data_source", "8bit"},
        {"data_source=16bit", "spe_lds", "data_source", "16bit"},
        {"async_counter_clock=smcu_alt", "-spe_sme", "async_counter_clock", "cpu"},
        {"async_counter_clock=smcu_alt", "-spe_altclk", "async_counter_clock", "cpu"},
        {"async_counter_clock=smcu_alt", "spe_sme,spe_altclk", "async_counter_clock", "smcu_alt"},
        {"async_counter_clock=impdef", "-spe_sme,-spe_altclk", "async_counter_clock", "impdef"},
        {"features=-v1p3|spu_hw_af_dirty=0", "v1p3", "spu_hw_af_dirty", "1"},
        {"features=-v1p3|spu_hw_af_dirty=0", "v1p2", "spu_hw_af_dirty", "0"},
        {"features=-v1p3|ea_described=0", "v1p3", "ea_described", "1"},
        {"features=-v1p3|ea_described=0", "v1p2", "ea_described", "0"},
        {"features=-v1p3|write_abort=report", "v1p3", "write_abort", "serror"},
        {"features=-v1p3|write_abort=ignore", "v1p3", "write_abort", "ignore"},
        {"features=-v1p3|write_abort=report", "v1p2", "write_abort", "report"},
        {"features=-v1p3|walk_abort=report", "v1p3", "walk_abort", "mmu_fault"},
        {"features=-v1p3|walk_abort=ignore", "v1p3", "walk_abort", "ignore"},
        {"features=-v1p3|walk_abort=report", "v1p2", "walk_abort", "report"},
        {"features=-v1p3|speculative_dirty=1|spu_hw_af_dirty=0", "v1p2", "speculative_dirty", "0"},
        {"features=-v1p3|speculative_dirty=1", "v1p2", "speculative_dirty", "1"},
        {"fault_late_samples=3", "-v1p5", "fault_late_samples", "0"},
        {"fault_late_samples=3", "v1p5", "fault_late_samples", "3"},
        {"features=-nv|pmscr_el1_ee_reserved=literal", "nv", "pmscr_el1_ee_reserved", "table"},
        {"features=-nv|pmscr_el1_ee_reserved=literal", "-nv2", "pmscr_el1_ee_reserved", "literal"},
    };
    struct spe_spu_config config;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        config_with(&config, cases[i].before);
        must_set(&config, "features", cases[i].features);
        must_be(&config, cases[i].option, cases[i].after);
        must_be_valid(&config, cases[i].option);
    }
}

/* ---- What only validation sees -------------------------------------------------------------- */

static void whole_configurations_are_refused(void **state)
{
    struct spe_spu_config config;

    (void)state;
    config_with(&config, "");
    config.size = 0;
    must_be_invalid(&config, "size");
    config_with(&config, "");
    config.features = 0;
    must_be_invalid(&config, "FEAT_SPE");
    config_with(&config, "");
    config.layout = NULL;
    must_be_invalid(&config, "layout");
    must_be(&config, "layout", "none");
    /* A feature without what it needs: the sentence is that of the feature set. */
    config_with(&config, "features=-all,spe,sel2");
    assert_int_equal(spe_spu_config_validate(&config, NULL, 0), SPE_ERR_INVALID);
}

/* The largest record must fit, whatever makes it large. */
static void the_largest_record_must_fit(void **state)
{
    static const struct {
        const char *settings;
        const char *refused; /* part of the sentence; NULL: it fits */
    } cases[] = {
        {"features=-all,v1p0|max_size=64", NULL},
        {"features=-all,v1p0,el2|max_size=64", NULL},
        {"max_size=64", "branch"},           /* with a GCS access */
        {"max_size=64|features=-gcs", NULL}, /* a load takes exactly that */
        {"max_size=64|features=-gcs|data_source=16bit", "load"},
        {"max_size=64|features=-gcs|pbt_non_branch=1", "load"},
        {"max_size=64|features=-gcs|async_counter_clock=impdef|async_counter_index=7", NULL},
        {"max_size=64|features=-gcs|async_counter_clock=impdef|async_counter_index=16", "load"},
        {"max_size=64|features=-gcs|async_counter_clock=cpu|async_counter_index=16", NULL},
        {"max_size=64|features=-gcs|events_size=8", "load"},
        {"max_size=64|features=-gcs,-el2|events_size=8", NULL},
        {"max_size=64|features=-gcs,-el2|events_size=8|impdef_addresses=6", "load"},
        {"max_size=64|features=-gcs,-spe_lds|data_source_map=raw|impdef_counters=6", "load"},
        {"max_size=128", NULL},
        {"max_size=128|impdef_counters=16,17,18,19,20,21,22,23|"
         "impdef_addresses=16,17",
         "branch"},
        {"max_size=256|impdef_counters=16,17,18,19,20,21,22,23|"
         "impdef_addresses=16,17",
         NULL},
        {"layout=neoverse-n1|max_size=64|features=-all,v1p0,lds,pbt,v1p2", "branch"},
        {"layout=neoverse-n1|features=-all,v1p0,lds|max_size=64|count_size=12|events_size=2", NULL},
        {"layout=neoverse-n1|features=-all,v1p0|impdef_counters=6|max_size=64", "layout"},
    };
    struct spe_spu_config config;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        config_with(&config, cases[i].settings);
        if (cases[i].refused)
            must_be_invalid(&config, cases[i].refused);
        else
            must_be_valid(&config, cases[i].settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_an_option),
        cmocka_unit_test(every_option_is_a_row_or_says_so),
        cmocka_unit_test(each_value_is_taken_and_the_others_are_refused),
        cmocka_unit_test(words_are_listed),
        cmocka_unit_test(some_lists_of_words),
        cmocka_unit_test(words_are_the_fields_values),
        cmocka_unit_test(flags_are_the_fields_values),
        cmocka_unit_test(fields_out_of_range_are_refused),
        cmocka_unit_test(numbers_have_three_spellings),
        cmocka_unit_test(store_events_are_set_one_by_one),
        cmocka_unit_test(source_maps_have_up_to_64_entries),
        cmocka_unit_test(features_are_an_option),
        cmocka_unit_test(feature_options_are_features),
        cmocka_unit_test(unknown_options_are_named),
        cmocka_unit_test(texts_are_bounded),
        cmocka_unit_test(features_settle_options),
        cmocka_unit_test(whole_configurations_are_refused),
        cmocka_unit_test(the_largest_record_must_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
