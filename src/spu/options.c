/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The options of an implementation: one table with a row per choice of D17 and D18, text to value
 * and back, and the combinations that no implementation may have.
 */
#include "spu_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_WORD,     /* one of `words`, stored as its index; `high` is the set of permitted ones */
    KIND_ONE_OF,   /* one of `words`, stored as the number it is, or 0 */
    KIND_NUMBER,   /* low to high; words[0], if any, is 0 */
    KIND_POWER,    /* a power of two, low to high; words[0], if any, is 0 */
    KIND_MASK,     /* bits within high */
    KIND_SET,      /* any of words[2...]; words[0] is none of them, words[1] all */
    KIND_INDEXES,  /* a set of INDEXes within high */
    KIND_FEATURE,  /* one of two words, stored as feature `low`; high: word 0 is the feature */
    KIND_FEATURES, /* the whole set */
    KIND_LAYOUT,
    KIND_STORE_EVENTS,
    KIND_SOURCE_MAP,
};

struct option {
    struct spe_option option;
    const char *const *words; /* ends with NULL */
    uint64_t low, high, initial;
    uint16_t offset;
    uint8_t width, kind;
};

#define ANY UINT64_MAX
#define EVENTS_IMPDEF UINT64_C(0xffff0000ff00f000)
#define EVENTS_OPTIONAL (EVENTS_IMPDEF | UINT64_C(0x714))

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PLACE(field)                                                                               \
    .offset = offsetof(struct spe_spu_config, field),                                              \
    .width = sizeof(((struct spe_spu_config *)0)->field)

/* Rows of the table. Arguments: field, values ..., default, requirement ids, sentence. */
#define WORD2(f, a, b, d, ids, text)                                                               \
    {                                                                                              \
        {#f, a " | " b, text, ids}, LIST(a, b), 0, 3, d, PLACE(f), KIND_WORD                       \
    }
#define WORD3(f, a, b, c, d, ids, text)                                                            \
    {                                                                                              \
        {#f, a " | " b " | " c, text, ids}, LIST(a, b, c), 0, 7, d, PLACE(f), KIND_WORD            \
    }
#define FLAG(f, d, ids, text) WORD2(f, "0", "1", d, ids, text)
#define NUMBER(f, lo, hi, values, d, ids, text)                                                    \
    {                                                                                              \
        {#f, values, text, ids}, NULL, lo, hi, d, PLACE(f), KIND_NUMBER                            \
    }
#define NUMBER_OR(f, zero, lo, hi, values, d, ids, text)                                           \
    {                                                                                              \
        {#f, zero " | " values, text, ids}, LIST(zero), lo, hi, d, PLACE(f), KIND_NUMBER           \
    }
#define POWER(f, lo, hi, values, d, ids, text)                                                     \
    {                                                                                              \
        {#f, values, text, ids}, NULL, lo, hi, d, PLACE(f), KIND_POWER                             \
    }
#define POWER_OR(f, zero, lo, hi, values, d, ids, text)                                            \
    {                                                                                              \
        {#f, zero " | " values, text, ids}, LIST(zero), lo, hi, d, PLACE(f), KIND_POWER            \
    }
#define MASK(f, allowed, values, d, ids, text)                                                     \
    {                                                                                              \
        {#f, values, text, ids}, NULL, 0, allowed, d, PLACE(f), KIND_MASK                          \
    }
#define INDEXES(f, allowed, values, ids, text)                                                     \
    {                                                                                              \
        {#f, values, text, ids}, LIST("none"), 0, allowed, 0, PLACE(f), KIND_INDEXES               \
    }

static const struct option options[] = {
    /* Identity */
    {{"features", "a feature list such as v1p4,sve,-mte2",
      "Which architecture features the PE has; settles the options that they decide.", ""},
     NULL,
     0,
     0,
     0,
     PLACE(features),
     KIND_FEATURES},
    {{"layout", "a layout's name", "In which order and where the packets of a record are put.", ""},
     NULL,
     0,
     0,
     0,
     /* NOLINTNEXTLINE(bugprone-sizeof-expression): the pointer itself is the field */
     PLACE(layout),
     KIND_LAYOUT},
    POWER(max_size, 64, 2048, "a power of two, 64 to 2048", 128, "",
          "Largest record in bytes, PMSIDR_EL1.MaxSize."),
    {{"min_interval", "256 | 512 | 768 | 1024 | 1536 | 2048 | 3072 | 4096",
      "Smallest recommended sampling interval, PMSIDR_EL1.Interval.", ""},
     LIST("256", "512", "768", "1024", "1536", "2048", "3072", "4096"),
     0,
     0,
     256,
     PLACE(min_interval),
     KIND_ONE_OF},
    WORD2(altclk, "smcu", "impdef", SPE_ALTCLK_SMCU, "",
          "Which clock the alternate clock counters count, PMSIDR_EL1.ALTCLK."),
    FLAG(ea_described, 1, "", "Whether PMBIDR_EL1.EA tells what write_abort does."),
    {{"granule_shift", "12 | 14 | 16", "Smallest translation granule, as a power of two.", ""},
     LIST("12", "14", "16"),
     0,
     0,
     12,
     PLACE(granule_shift),
     KIND_ONE_OF},
    NUMBER(pa_bits, 32, 56, "32 to 56", 48, "", "Implemented physical address size in bits."),
    WORD2(reset_values, "zero", "random", SPE_RESET_ZERO, "",
          "What register fields hold that are UNKNOWN after reset."),
    FLAG(sdd_trap_first, 0, "",
         "Debug state with EDSCR.SDD set: whether EL3 traps are looked at before those to EL2."),
    FLAG(nspb_reserved_traps, 1, "",
         "Whether a reserved value of MDCR_EL3.{NSPBE,NSPB} traps register accesses to EL3."),
    FLAG(ptr_low_res0, 0, "", "Whether PMBPTR_EL1 has no bits below the minimum alignment."),
    FLAG(ev_smcu, 1, "", "With FEAT_SPE_SME: whether event 25 is implemented."),
    MASK(filter_events, EVENTS_OPTIONAL, "a mask of events 2 4 8-10 12-15 24-31 48-63",
         EVENTS_OPTIONAL, "",
         "Which events that need not be filterable PMSEVFR_EL1 can filter on, if implemented."),
    MASK(filter_sources, ANY, "a 64-bit mask", ANY, "",
         "Which data sources PMSDSFR_EL1 can filter on."),
    WORD2(zero_type_filter, "none_recorded", "as_off", SPE_FILTER_AS_OFF, "",
          "PMSFCR_EL1.FT set and no type chosen, without FEAT_SPE_EFT."),
    WORD2(zero_event_filter, "none_recorded", "as_off", SPE_FILTER_AS_OFF, "",
          "PMSFCR_EL1.FE set and PMSEVFR_EL1 zero."),
    WORD2(zero_inverted_filter, "none_recorded", "as_off", SPE_FILTER_AS_OFF, "",
          "PMSFCR_EL1.FnE set and PMSNEVFR_EL1 zero."),
    WORD2(common_event_filter, "none_recorded", "as_off", SPE_FILTER_NONE_RECORDED, "",
          "PMSFCR_EL1.FE and FnE set and a bit common to PMSEVFR_EL1 and PMSNEVFR_EL1."),
    WORD2(zero_latency_filter, "none_recorded", "as_off", SPE_FILTER_AS_OFF, "",
          "PMSFCR_EL1.FL set and PMSLATFR_EL1.MINLAT zero."),

    /* D17.3 */
    {{"feat_spe_ernd", "0 | 1",
      "Whether the secondary counter PMSICR_EL1.ECOUNT exists (FEAT_SPE_ERnd).", "D17.3-002"},
     LIST("0", "1"),
     SPE_FEAT_SPE_ERnd,
     0,
     0,
     PLACE(features),
     KIND_FEATURE},
    NUMBER_OR(sample_pick, "exact", 1, 255, "1 to 255", 0, "D17.3-006",
              "Which operation is taken: the one at the sampling point, or one of up to that many "
              "later ones with equal chance."),
    WORD2(reload_point, "before_random", "at_selection", SPE_RELOAD_BEFORE_RANDOM, "D17.3-009",
          "When COUNT is reloaded: with the first member after it has reached zero, or as part of "
          "selecting the member that is met while it is zero."),
    WORD3(rng_kind, "lfsr", "xorshift", "user", SPE_RNG_XORSHIFT, "D17.3-012",
          "The generator of random intervals; user asks the host for each byte."),
    NUMBER(rng_seed, 0, ANY, "any 64-bit number", 1, "D17.3-012",
           "Where the generators start after reset."),
    WORD2(rng_config_regs, "none", "present", SPE_ABSENT, "D17.3-014",
          "Whether software can read and write the generator's state in a register."),
    WORD2(random_when, "before_countdown", "after_zero", SPE_RANDOM_AFTER_ZERO, "D17.3-015",
          "Whether the random number is part of the interval (no FEAT_SPE_ERnd) or is counted "
          "after it (FEAT_SPE_ERnd)."),
    WORD2(ecount_select, "on_reach", "next", SPE_ECOUNT_ON_REACH, "D17.3-033",
          "Whether the member that takes ECOUNT to zero is selected, or the one after it."),
    WORD3(sample_stage, "decode", "dispatch", "issue", SPE_STAGE_DISPATCH, "D17.3-038",
          "The point in its life at which an operation is taken: its latencies start there."),
    NUMBER(max_inflight_samples, 1, 1024, "1 to 1024", 1, "D17.3-040",
           "How many sampled operations there can be at a time; one more collides."),

    /* D17.6 */
    WORD3(ts_point, "sampled", "later", "finished", SPE_TS_SAMPLED, "D17.6-002",
          "The moment that the timestamp tells: selection, half way, or the end of execution."),
    WORD2(ts_counter_disabled, "as_disabled", "unknown_value", SPE_TS_AS_DISABLED,
          "D17.6-003 D18.2-144",
          "The system counter is disabled: no timestamps, or timestamps without meaning."),
    WORD3(incomplete_op_info, "none", "subset", "all", SPE_INFO_ALL, "D17.6-014 D17.6-195",
          "What a record of an operation that was not executed, or generated an exception, holds "
          "besides Events and terminator; subset is PC and Operation Type."),
    FLAG(omit_fixed_counters, 0, "D17.6-016", "Whether fixed_counters are left out of records."),
    INDEXES(fixed_counters, SPU_INDEXES_IMPDEF | 0x17, "none | a list of counter INDEXes", "",
            "Which counters have the same value in every record."),
    NUMBER(fixed_counter_value, 0, 0xffff, "0 to 65535", 0, "", "The value of the fixed_counters."),
    MASK(impdef_events, EVENTS_IMPDEF, "a mask of events 12-15, 48-63; before FEAT_SPEv1p4 24-31",
         0, "D17.6-017", "Which IMPLEMENTATION DEFINED events are collected."),
    INDEXES(impdef_counters, SPU_INDEXES_IMPDEF, "none | a list of 6, 7, 16 to 31", "D17.6-017",
            "Which IMPLEMENTATION DEFINED counters are collected."),
    INDEXES(impdef_addresses, SPU_INDEXES_IMPDEF, "none | a list of 6, 7, 16 to 31", "D17.6-017",
            "Which IMPLEMENTATION DEFINED addresses are collected."),
    WORD3(async_counter_clock, "cpu", "smcu_alt", "impdef", SPE_ASYNC_CPU, "D17.6-018",
          "Which clock counts the issue latency of an operation in another clock domain; those not "
          "of the CPU have a counter of their own instead of INDEX 1."),
    {{"async_counter_index", "6 | 7 | 16 to 31",
      "The counter INDEX that async_counter_clock impdef uses.", ""},
     LIST("6", "7", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28",
          "29", "30", "31"),
     0,
     0,
     6,
     PLACE(async_counter_index),
     KIND_ONE_OF},
    {{"sample_unit", "instruction | micro_op",
      "What is sampled: instructions (FEAT_SPE_ArchInst) or micro-operations.", "D17.6-022"},
     LIST("instruction", "micro_op"),
     SPE_FEAT_SPE_ArchInst,
     1,
     0,
     PLACE(features),
     KIND_FEATURE},
    WORD2(illegal_eret_context, "actual", "spsr", SPE_ERET_ACTUAL, "D17.6-029",
          "Illegal exception return: whether the target packet tells where execution went or what "
          "the SPSR says."),
    FLAG(branch_prediction, 1, "D17.6-030", "Whether branches are predicted; if not, E[7] is 0."),
    WORD2(not_taken_target, "omit", "emit_unknown", SPE_NOT_TAKEN_OMIT, "D17.6-034",
          "Whether a branch that is not taken has a target packet."),
    FLAG(isb_is_branch, 0, "D17.6-041", "Whether ISB is a branch to the next instruction."),
    FLAG(pbt_non_branch, 0, "D17.6-044",
         "Whether operations other than retired taken branches have a previous branch target."),
    FLAG(pbt_after_cse, 0, "D17.6-045",
         "Whether the previous branch target is recorded if that branch was a Context "
         "synchronization operation, exception-generating instruction or exception return."),
    FLAG(pbt_none_since_cse, 0, "D17.6-046",
         "Whether the previous branch target is recorded if no branch has retired since the last "
         "Context synchronization operation or taken exception."),
    FLAG(ev_llc, 1, "D17.6-062", "Whether Last Level cache events E[8], E[9] are implemented."),
    FLAG(ev_remote, 1, "D17.6-063", "Whether the other-socket event E[10] is implemented."),
    WORD3(data_source, "none", "8bit", "16bit", SPE_SOURCE_8BIT, "D17.6-064",
          "Whether loads have a Data Source packet (FEAT_SPE_LDS), and its size."),
    WORD2(data_source_multi, "combined", "chosen_part", SPE_SOURCE_CHOSEN_PART,
          "D17.6-065 D18.2-055",
          "Several accesses: the data source of the one that took longest, or of the chosen part."),
    FLAG(ev_align, 1, "D17.6-066",
         "With FEAT_SPEv1p1: whether the alignment event E[11] is implemented."),
    FLAG(ev_l2, 1, "D17.6-067",
         "With FEAT_SPEv1p4: whether the Level 2 cache events E[19], E[20] are implemented."),
    FLAG(ev_modified, 1, "D17.6-068",
         "With FEAT_SPEv1p4: whether the modified data event E[21] is implemented."),
    FLAG(ev_recent, 1, "D17.6-068",
         "With FEAT_SPEv1p4: whether the recently fetched event E[22] is implemented."),
    FLAG(ev_snoop, 1, "D17.6-069",
         "With FEAT_SPEv1p4: whether the snooped data event E[23] is implemented."),
    {{"store_cache_events",
      "recorded | zero | varying, for all or as 3:zero,8:varying for events 2 3 8 9 10 19-23",
      "Whether cache and other-socket events are recorded for stores, read as zero because the "
      "store has finished before, or vary.",
      "D17.6-071 D18.2-072"},
     LIST("recorded", "zero", "varying"),
     0,
     7,
     SPE_STORE_RECORDED,
     PLACE(store_cache_events),
     KIND_STORE_EVENTS},
    WORD2(dc_zva_as, "store", "cache_maintenance", SPE_ZVA_STORE, "D17.6-072",
          "How DC ZVA, DC GVA and DC GZVA are recorded."),
    WORD2(multi_access, "all", "part", SPE_MULTI_PART, "D17.6-073",
          "Whether all accesses of an operation are profiled or a chosen one."),
    WORD2(part_choice, "random", "round_robin", SPE_PART_RANDOM, "D17.6-074",
          "How the part is chosen."),
    WORD2(part_contig_va, "lowest", "chosen", SPE_PART_VA_CHOSEN, "D17.6-076",
          "multi_access part, contiguous accesses: the lowest address or the chosen part's."),
    WORD2(part_events, "whole", "chosen", SPE_PART_EVENTS_CHOSEN, "D17.6-078",
          "multi_access part: what events and total latency belong to."),
    WORD2(xlat_latency_rule, "waiting_and_none_accessing", "waiting", SPE_XLAT_WAITING, "D17.6-083",
          "multi_access all: whether a cycle in which one part waits for translation and another "
          "accesses memory counts as translation latency."),
    FLAG(stx_fail_pa, 0, "D17.6-087",
         "Whether a Store-Exclusive that fails its monitor has a physical address packet."),
    WORD2(no_access_xlat, "omit", "zero", SPE_NO_ACCESS_OMIT, "D17.6-088",
          "No data address, or no access: translation latency absent or zero."),
    WORD2(no_access_events, "recorded", "zero", SPE_NO_ACCESS_EVENTS_RECORDED, "D17.6-090",
          "No data address: whether the events of the access are recorded."),
    WORD2(tag_access_va, "location", "granule_base", SPE_TAG_VA_LOCATION, "D17.6-092",
          "Allocation Tag access: the address of the location or the lowest that the tags cover."),
    WORD2(tag_access_pa, "from_va", "from_granule_base", SPE_TAG_PA_FROM_VA, "D17.6-096",
          "Allocation Tag access: which of the two translations is the physical address."),
    WORD2(tag_data_store_as, "general", "unspecified", SPE_AS_GENERAL, "D17.6-098",
          "Which registers an operation that stores Tags and data is said to store."),
    WORD2(pre_v1p3_tag_mops_as, "general", "unspecified", SPE_AS_GENERAL, "D17.6-102",
          "Without FEAT_SPEv1p3: the registers of Tag and Memory Copy and Set operations; "
          "unspecified needs FEAT_SPEv1p1."),
    FLAG(st64bv_data_source, 0, "D17.6-108", "Whether ST64BV and ST64BV0 have a data source."),
    WORD2(st64bv_latency, "to_result", "as_store", SPE_ST64BV_TO_RESULT, "D17.6-109",
          "Whether the total latency of ST64BV and ST64BV0 runs until the status has returned."),
    POWER_OR(align_rule, "line_crossing", 2, 2048, "a boundary, a power of two, 2 to 2048", 0,
             "D17.6-117",
             "Which accesses are non-optimal by alignment: those that touch more lines, or blocks "
             "of that many bytes, than their size needs."),
    POWER(line_bytes, 16, 2048, "a power of two, 16 to 2048", 64, "", "Size of a cache line."),
    {{"cond_ops", "none | all | a list of csel fcsel csinc csneg csinv ccmp fccmp ccmn",
      "Which operations on PSTATE.NZCV count as conditional.", "D17.6-120"},
     LIST("none", "all", "csel", "fcsel", "csinc", "csneg", "csinv", "ccmp", "fccmp", "ccmn"),
     0,
     0xff,
     0xff,
     PLACE(cond_ops),
     KIND_SET},
    POWER_OR(simd_split_bits, "none", 32, 2048, "a power of two, 32 to 2048", 0, "D17.6-132",
             "With micro-operations: the widest part of a vector or tile that one works on."),
    {{"sve128_as", "sve | advsimd | a list of dp ldst",
      "With micro-operations: which unpredicated 128-bit operations are recorded as their Advanced "
      "SIMD equivalent: none, all, data processing, loads and stores.",
      "D17.6-135"},
     LIST("sve", "advsimd", "dp", "ldst"),
     0,
     3,
     0,
     PLACE(sve128_as),
     KIND_SET},
    WORD2(zt_op_as, "other", "sve_vector", SPE_AS_SVE_VECTOR, "D17.6-140",
          "Without FEAT_SPE_SME: the type of SVE operations that involve ZT registers."),
    WORD2(multivec_op_as, "other", "sve_vector", SPE_AS_SVE_VECTOR, "D17.6-141",
          "Without FEAT_SPE_SME: the type of SVE operations with a multi-vector operand."),
    WORD2(sme_ldst_as, "sve_sme", "unspecified", SPE_SME_LDST_SVE_SME, "D17.6-148",
          "Without FEAT_SPE_SME: the type of SME vector loads and stores."),
    WORD3(sve_prefetch_info, "none", "address", "address+events+latency", SPE_SUBSET_FULL,
          "D17.6-151", "What a record of an SVE prefetch holds of what a load's would."),
    WORD2(sve_prefetch_as, "sve_vector", "other", SPE_PREFETCH_OTHER, "D17.6-153",
          "The Operation Type packet of an SVE prefetch."),
    WORD2(sve_contig_va, "lowest_element", "lowest_active", SPE_CONTIG_LOWEST_ELEMENT, "D17.6-155",
          "Contiguous SVE load or store: whose address is recorded."),
    FLAG(sve_contig_inactive_va, 0, "D17.6-156",
         "Contiguous SVE load or store: whether the address of an Inactive element is recorded."),
    FLAG(pop_misspec, 0, "D17.6-157",
         "Whether operations on misspeculated paths are in the sample population."),
    FLAG(pop_nonarch, 0, "D17.6-158",
         "Whether operations of no architectural instruction are in the sample population."),
    FLAG(capture_misspec, 0, "D17.6-159",
         "Whether records of operations on misspeculated paths are written."),
    FLAG(capture_nonarch, 0, "D17.6-159",
         "Whether records of operations of no architectural instruction are written."),
    WORD3(cmo_info, "none", "address", "address+events+latency", SPE_SUBSET_FULL, "D17.6-165",
          "What a record of cache maintenance, prefetch or address translation holds of what a "
          "load's would."),
    WORD3(pct_reserved_as, "0b00", "0b01", "0b11", SPE_PCT_AS_01, "D17.6-190",
          "How the reserved value 0b10 of PMSCR_ELx.PCT behaves."),
    NUMBER(pa_collect_cycles, 0, 0xffff, "0 to 65535", 0, "D17.6-193",
           "Cycles that collecting the physical address adds to the sampled operation."),
    FLAG(pop_nonarch_exc, 0, "D17.6-197",
         "Whether operations with non-architectural exceptions are in the sample population."),
    FLAG(capture_nonarch_exc, 0, "D17.6-198",
         "Whether records of operations with non-architectural exceptions are written."),
    WORD2(nonarch_exc_record, "handling", "not_executed", SPE_NONARCH_HANDLING, "D17.6-199",
          "Whether such a record describes the handling, or an operation that was not executed."),
    FLAG(nonarch_exc_e0, 0, "D17.6-201 D18.2-095",
         "Whether E[0] tells that it did not complete because of the non-architectural exception."),

    /* D17.8 */
    WORD2(ext_abort_sync, "sync", "async", SPE_ABORT_SYNC, "D17.8-007 D17.8-164",
          "How External aborts are reported to the unit, without FEAT_SPEv1p3."),
    NUMBER(fault_late_samples, 0, 1024, "0 to 1024", 0, "D17.8-009",
           "With FEAT_SPEv1p5: samples that are still taken, and lost, after one with a fault."),
    WORD3(fault_boundary_dl, "unchanged", "0", "1", SPE_DL_UNCHANGED, "D17.8-068",
          "What DL becomes on a fault at a record boundary."),
    WORD2(spe_exc_order, "highest_target_first", "lowest_target_first", SPE_HIGHEST_TARGET_FIRST,
          "D17.8-076", "Several Profiling exceptions are unmasked: which is taken."),
    NUMBER(spe_exc_delay, 0, UINT32_MAX, "0 to 4294967295", 0, "D17.8-113",
           "Instructions within which an unsynchronized Profiling exception is taken."),
    WORD2(pmscr_el1_ee_reserved, "table", "literal", SPE_EE_TABLE, "D17.8-118",
          "PMSCR_EL1.EE 0b01 and 0b10 without FEAT_NV: as 0b00 and 0b11, or neither interrupt nor "
          "exception."),
    POWER(min_align_bytes, 1, 2048, "a power of two, 1 to 2048", 1, "D17.8-136",
          "Minimum alignment of the write pointer, PMBIDR_EL1.Align."),
    WORD3(misaligned_ptr, "alignment_fault", "write_anyway", "access_not_allowed",
          SPE_MISALIGNED_WRITE_ANYWAY, "D17.8-136",
          "A write at a PMBPTR_EL1 that is not so aligned."),
    FLAG(tlb_conflict_fault, 1, "D17.8-140", "Whether TLB conflicts on buffer writes are faults."),
    FLAG(walk_abort_sets_ea, 0, "D17.8-150",
         "Whether an External abort that is a fault, on a walk, sets EA."),
    FLAG(spu_hw_af_dirty, 1, "D17.8-153",
         "Whether the unit's translations manage Access flag and dirty state, PMBIDR_EL1.F."),
    FLAG(speculative_dirty, 0, "D17.8-154",
         "Whether the page after the one written is made dirty in advance."),
    {{"write_abort", "ignore | serror | report",
      "External abort on a buffer write; report is for units without FEAT_SPEv1p3.", "D17.8-156"},
     LIST("ignore", "serror", "mmu_fault", "report"),
     0,
     0xb,
     SPE_ABORT_SERROR,
     PLACE(write_abort),
     KIND_WORD},
    {{"walk_abort", "ignore | serror | mmu_fault | report",
      "External abort on a walk for a buffer write; report is for units without FEAT_SPEv1p3.",
      "D17.8-156"},
     LIST("ignore", "serror", "mmu_fault", "report"),
     0,
     0xf,
     SPE_ABORT_MMU_FAULT,
     PLACE(walk_abort),
     KIND_WORD},
    WORD2(access_not_allowed, "event", "silent_discard", SPE_NOT_ALLOWED_EVENT, "D17.8-170",
          "A write that cannot be made: an event, or the record is lost without one."),
    WORD2(impdef_buffer_event, "absent", "present", SPE_ABSENT, "D17.8-173",
          "Whether there are management events for IMPLEMENTATION DEFINED reasons; off at reset."),

    /* D18 */
    POWER(access_granule_bytes, 1, 2048, "a power of two, 1 to 2048", 64, "D18.1-016",
          "Largest write that the unit makes to the buffer."),
    WORD2(access_granule_mode, "fixed", "varying", SPE_GRANULE_FIXED, "D18.1-017",
          "Whether writes are of that size, or of changing sizes up to it."),
    WORD2(tbi0_tag, "zero", "va_63_56", SPE_TBI0_ZERO, "D18.2-020",
          "TAG of a data address without Top Byte Ignore."),
    FLAG(ch_when_tcf_ignored, 1, "D18.2-025",
         "CH of a Tag Checked access whose Tag Check Faults are ignored."),
    WORD2(pat_unchecked, "zero", "tag", SPE_PAT_ZERO, "D18.2-028",
          "PAT of an access that is not Tag Checked."),
    FLAG(complete_means_committed, 0, "D18.2-043",
         "Whether an operation is complete only when its results are architectural state."),
    WORD2(wfx_complete, "before_sleep", "on_wake", SPE_WFX_BEFORE_SLEEP, "D18.2-044",
          "When WFE and WFI are complete."),
    FLAG(wfx_counters_run, 0, "D18.2-045", "Whether counters count in low-power state."),
    FLAG(wfx_sample_wakes, 0, "D18.2-046", "Whether sampling an operation wakes the PE."),
    {{"count_size", "12 | 16", "Bits of a counter, PMSIDR_EL1.CountSize.", "D18.2-050"},
     LIST("12", "16"),
     0,
     0,
     16,
     PLACE(count_size),
     KIND_ONE_OF},
    FLAG(data_source_on_abort, 0, "D18.2-053",
         "Whether loads and atomics that end in an External abort have a data source."),
    FLAG(data_source_st_atomic, 0, "D18.2-054",
         "Whether atomics that return no value have a data source."),
    {{"data_source_map", "raw | a list of up to 64 numbers",
      "What SOURCE is for the host's source numbers 0, 1 ...; raw is the number itself.",
      "D18.2-055"},
     LIST("raw"),
     0,
     0xffff,
     0,
     PLACE(data_source_map),
     KIND_SOURCE_MAP},
    {{"events_size", "1 | 2 | 4 | 8 | smallest",
      "Bytes of the Events payload; smallest is the least that holds the set bits.", "D18.2-060"},
     LIST("1", "2", "4", "8", "smallest"),
     0,
     0,
     0,
     PLACE(events_size),
     KIND_ONE_OF},
    WORD3(ev_modified_scope, "cache_hit", "snoop_hit", "both", SPE_MODIFIED_BOTH, "D18.2-069",
          "Which hits on modified data E[21] tells."),
    FLAG(llc_includes_remote, 0, "D18.2-082",
         "Whether the Last Level cache includes caches of other sockets."),
    FLAG(pmu_rd_only, 0, "D18.2-083",
         "Whether E[2], E[3], E[8] to E[10] agree with the PMU events that count reads only."),
    FLAG(pmu_mispred_retired, 0, "D18.2-083",
         "Whether E[7] agrees with BR_MIS_PRED_RETIRED rather than BR_MIS_PRED."),
    FLAG(spec_sampling, 0, "D18.2-093",
         "Whether operations that never retire can be recorded, so that E[1] tells."),
    WORD2(zero_masked_ets, "whole", "exact", SPE_ETS_MASKED_EXACT, "D18.2-114",
          "ETS of a ZERO (tiles) whose mask leaves part of the array."),
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* ---- Values --------------------------------------------------------------------------------- */

int spu_refuse(char *why, size_t why_size, const char *format, ...)
{
    va_list args;

    if (why && why_size) {
        va_start(args, format);
        vsnprintf(why, why_size, format, args);
        va_end(args);
    }
    return SPE_ERR_INVALID;
}

static uint64_t load(const struct option *o, const struct spe_spu_config *config)
{
    const char *at = (const char *)config + o->offset;
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;

    switch (o->width) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        memcpy(&v16, at, sizeof(v16));
        return v16;
    case 4:
        memcpy(&v32, at, sizeof(v32));
        return v32;
    default:
        memcpy(&v64, at, sizeof(v64));
        return v64;
    }
}

static void store(const struct option *o, struct spe_spu_config *config, uint64_t value)
{
    char *at = (char *)config + o->offset;
    uint8_t v8 = (uint8_t)value;
    uint16_t v16 = (uint16_t)value;
    uint32_t v32 = (uint32_t)value;

    switch (o->width) {
    case 1:
        memcpy(at, &v8, sizeof(v8));
        break;
    case 2:
        memcpy(at, &v16, sizeof(v16));
        break;
    case 4:
        memcpy(at, &v32, sizeof(v32));
        break;
    default:
        memcpy(at, &value, sizeof(value));
    }
}

static size_t word_count(const struct option *o)
{
    size_t n = 0;

    while (o->words && o->words[n])
        n++;
    return n;
}

/* Index of the word that is `length` characters at `text`, or -1. */
static int word_index(const struct option *o, const char *text, size_t length)
{
    for (size_t i = 0; i < word_count(o); i++)
        if (strlen(o->words[i]) == length && !memcmp(o->words[i], text, length))
            return (int)i;
    return -1;
}

static bool parse_number(const char *text, size_t length, uint64_t *value)
{
    char digits[72], *end;
    int base = 0;

    if (length == 0 || length >= sizeof(digits) || text[0] == '-' || text[0] == '+')
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B'))
        base = 2;
    else if (digits[0] != '0' || (digits[1] != 'x' && digits[1] != 'X'))
        base = 10;
    if (digits[base == 2 ? 2 : 0] < '0' || digits[base == 2 ? 2 : 0] > '9')
        return false;
    if (base == 2 && strspn(digits + 2, "01") != length - 2) /* newer C libraries take 0b0b1 */
        return false;
    errno = 0;
    *value = strtoull(digits + (base == 2 ? 2 : 0), &end, base);
    return *end == 0 && errno == 0;
}

static bool is_power(uint64_t value)
{
    return value && !(value & (value - 1));
}

/* May the option hold this value, looked at alone? */
static bool permitted(const struct option *o, uint64_t value)
{
    switch (o->kind) {
    case KIND_WORD:
        return value < word_count(o) && (o->high >> value & 1);
    case KIND_ONE_OF:
        for (size_t i = 0; i < word_count(o); i++)
            if (strtoull(o->words[i], NULL, 10) == value)
                return true;
        return false;
    case KIND_NUMBER:
    case KIND_POWER:
        if (value == 0 && o->words)
            return true;
        return value >= o->low && value <= o->high && (o->kind == KIND_NUMBER || is_power(value));
    case KIND_MASK:
    case KIND_SET:
    case KIND_INDEXES:
        return !(value & ~o->high);
    default:
        return true;
    }
}

/* Call fn for each piece of a comma list; stops at the first that returns false. */
typedef bool piece_fn(const struct option *o, const char *text, size_t length, void *to);

static bool each_piece(const struct option *o, const char *list, piece_fn *fn, void *to)
{
    for (;;) {
        size_t length = strcspn(list, ",");

        if (!fn(o, list, length, to))
            return false;
        if (!list[length])
            return true;
        list += length + 1;
    }
}

static bool add_set_word(const struct option *o, const char *text, size_t length, void *to)
{
    int i = word_index(o, text, length);

    if (i < 2)
        return false;
    *(uint64_t *)to |= UINT64_C(1) << (i - 2);
    return true;
}

static bool add_index(const struct option *o, const char *text, size_t length, void *to)
{
    uint64_t index;

    if (!parse_number(text, length, &index) || index >= SPE_INDEX_COUNT || !(o->high >> index & 1))
        return false;
    *(uint64_t *)to |= UINT64_C(1) << index;
    return true;
}

static bool set_store_event(const struct option *o, const char *text, size_t length, void *to)
{
    const char *colon = memchr(text, ':', length);
    uint8_t *choices = to;
    uint64_t event;
    int word;

    if (!colon || !parse_number(text, (size_t)(colon - text), &event) || event >= 32 ||
        !(SPU_STORE_EVENTS >> event & 1))
        return false;
    word = word_index(o, colon + 1, length - (size_t)(colon + 1 - text));
    if (word < 0)
        return false;
    choices[event] = (uint8_t)word;
    return true;
}

static void fill_store_events(struct spe_spu_config *config, uint8_t choice)
{
    for (unsigned event = 0; event < 32; event++)
        config->store_cache_events[event] = SPU_STORE_EVENTS >> event & 1 ? choice : 0;
}

struct source_map {
    uint16_t value[SPE_SOURCE_MAP_MAX];
    uint16_t count;
};

static bool add_source(const struct option *o, const char *text, size_t length, void *to)
{
    struct source_map *map = to;
    uint64_t value;

    if (map->count == SPE_SOURCE_MAP_MAX || !parse_number(text, length, &value) || value > o->high)
        return false;
    map->value[map->count++] = (uint16_t)value;
    return true;
}

/* ---- Text to value -------------------------------------------------------------------------- */

/* The kinds whose value is one number. */
static bool parse_simple(const struct option *o, const char *text, uint64_t *value)
{
    int word = word_index(o, text, strlen(text));

    *value = 0;
    switch (o->kind) {
    case KIND_WORD:
        *value = (uint64_t)word;
        return word >= 0 && permitted(o, *value);
    case KIND_ONE_OF:
        if (word >= 0) /* "smallest" is zero, and the only way to say it */
            *value = strtoull(text, NULL, 10);
        return word >= 0 ||
               (parse_number(text, strlen(text), value) && *value && permitted(o, *value));
    case KIND_SET:
        if (word == 1)
            *value = o->high;
        return word == 0 || word == 1 || each_piece(o, text, add_set_word, value);
    case KIND_INDEXES:
        return word == 0 || each_piece(o, text, add_index, value);
    default:
        if (word == 0)
            return true;
        /* Where zero has a word, only the word means it. */
        return parse_number(text, strlen(text), value) && permitted(o, *value) &&
               !(*value == 0 && o->words);
    }
}

static int set_feature(const struct option *o, struct spe_spu_config *config, const char *text)
{
    int word = word_index(o, text, strlen(text));
    spe_features bit = UINT64_C(1) << o->low;

    if (word < 0)
        return SPE_ERR_INVALID;
    if ((unsigned)word ^ (unsigned)o->high)
        spe_spu_config_features(config, config->features | bit);
    else
        spe_spu_config_features(config, config->features & ~bit);
    return SPE_OK;
}

static int set_store_events(const struct option *o, struct spe_spu_config *config, const char *text)
{
    int word = word_index(o, text, strlen(text));
    uint8_t choices[32];

    if (word >= 0) {
        fill_store_events(config, (uint8_t)word);
        return SPE_OK;
    }
    memcpy(choices, config->store_cache_events, sizeof(choices));
    if (!each_piece(o, text, set_store_event, choices))
        return SPE_ERR_INVALID;
    memcpy(config->store_cache_events, choices, sizeof(choices));
    return SPE_OK;
}

static int set_source_map(const struct option *o, struct spe_spu_config *config, const char *text)
{
    struct source_map map = {.count = 0};

    if (strcmp(text, "raw") != 0 && !each_piece(o, text, add_source, &map))
        return SPE_ERR_INVALID;
    memcpy(config->data_source_map, map.value, sizeof(map.value));
    config->data_source_map_count = map.count;
    return SPE_OK;
}

static int set_layout(struct spe_spu_config *config, const char *text)
{
    const struct spe_layout *layout = spe_layout_by_name(text);

    if (!layout)
        return SPE_ERR_INVALID;
    config->layout = layout;
    return SPE_OK;
}

static int set_value(const struct option *o, struct spe_spu_config *config, const char *text)
{
    uint64_t value;

    switch (o->kind) {
    case KIND_FEATURE:
        return set_feature(o, config, text);
    case KIND_LAYOUT:
        return set_layout(config, text);
    case KIND_STORE_EVENTS:
        return set_store_events(o, config, text);
    case KIND_SOURCE_MAP:
        return set_source_map(o, config, text);
    default:
        if (!parse_simple(o, text, &value))
            return SPE_ERR_INVALID;
        store(o, config, value);
        return SPE_OK;
    }
}

static const struct option *find(const char *name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (!strcmp(options[i].option.name, name))
            return &options[i];
    return NULL;
}

int spe_spu_option_set(struct spe_spu_config *config, const char *name, const char *value,
                       char *why, size_t why_size)
{
    const struct option *o = find(name);
    spe_features features = config->features;

    if (!o) {
        spu_refuse(why, why_size, "There is no option named %s.", name);
        return SPE_ERR_UNKNOWN;
    }
    if (o->kind == KIND_FEATURES) {
        int error = spe_features_parse(value, &features, why, why_size);

        if (!error)
            spe_spu_config_features(config, features);
        return error;
    }
    if (set_value(o, config, value))
        return spu_refuse(why, why_size, "Option %s cannot be %s; it takes %s.", name, value,
                          o->option.values);
    return SPE_OK;
}

/* ---- Value to text -------------------------------------------------------------------------- */

/* Text that grows in a buffer which may be too small, as snprintf counts. */
struct text {
    char *out;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    size_t room = t->length < t->size ? t->size - t->length : 0;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(room ? t->out + t->length : NULL, room, format, args);
    va_end(args);
    t->length += n > 0 ? (size_t)n : 0;
}

static void put_bits(struct text *t, const struct option *o, uint64_t value)
{
    const char *comma = "";

    for (unsigned i = 0; i < 64; i++) {
        if (!(value >> i & 1))
            continue;
        if (o->kind == KIND_SET)
            put(t, "%s%s", comma, o->words[i + 2]);
        else
            put(t, "%s%u", comma, i);
        comma = ",";
    }
}

static void put_store_events(struct text *t, const struct option *o,
                             const struct spe_spu_config *config)
{
    const uint8_t *choices = config->store_cache_events;
    uint8_t first = choices[SPE_EVENT_L1D_ACCESS];
    const char *comma = "";
    bool same = true;

    for (unsigned i = 0; i < 32; i++)
        same &= !(SPU_STORE_EVENTS >> i & 1) || choices[i] == first;
    if (same) {
        put(t, "%s", o->words[first % 3]);
        return;
    }
    for (unsigned i = 0; i < 32; i++) {
        if (!(SPU_STORE_EVENTS >> i & 1))
            continue;
        put(t, "%s%u:%s", comma, i, o->words[choices[i] % 3]);
        comma = ",";
    }
}

static void put_source_map(struct text *t, const struct spe_spu_config *config)
{
    if (!config->data_source_map_count)
        put(t, "raw");
    for (unsigned i = 0; i < config->data_source_map_count && i < SPE_SOURCE_MAP_MAX; i++)
        put(t, "%s0x%x", i ? "," : "", config->data_source_map[i]);
}

static void put_simple(struct text *t, const struct option *o, uint64_t value)
{
    switch (o->kind) {
    case KIND_WORD:
        put(t, "%s", value < word_count(o) ? o->words[value] : "?");
        break;
    case KIND_SET:
    case KIND_INDEXES:
        if (value == 0)
            put(t, "%s", o->words[0]);
        else if (o->kind == KIND_SET && value == o->high)
            put(t, "%s", o->words[1]);
        else
            put_bits(t, o, value);
        break;
    case KIND_MASK:
        put(t, "0x%llx", (unsigned long long)value);
        break;
    case KIND_ONE_OF:
        if (value == 0)
            put(t, "%s", o->words[word_count(o) - 1]);
        else
            put(t, "%llu", (unsigned long long)value);
        break;
    default:
        if (value == 0 && o->words)
            put(t, "%s", o->words[0]);
        else
            put(t, "%llu", (unsigned long long)value);
    }
}

int spe_spu_option_get(const struct spe_spu_config *config, const char *name, char *out,
                       size_t out_size)
{
    const struct option *o = find(name);
    struct text t = {out, out_size, 0};

    if (!o)
        return SPE_ERR_UNKNOWN;
    switch (o->kind) {
    case KIND_FEATURES:
        return spe_features_format(config->features, out, out_size);
    case KIND_FEATURE:
        put(&t, "%s",
            o->words[(unsigned)spe_has(config->features, (enum spe_feature)o->low) ^
                     (unsigned)o->high]);
        break;
    case KIND_LAYOUT:
        put(&t, "%s", config->layout && config->layout->name ? config->layout->name : "none");
        break;
    case KIND_STORE_EVENTS:
        put_store_events(&t, o, config);
        break;
    case KIND_SOURCE_MAP:
        put_source_map(&t, config);
        break;
    default:
        put_simple(&t, o, load(o, config));
    }
    return (int)t.length;
}

/* ---- Listing -------------------------------------------------------------------------------- */

const struct spe_option *spe_spu_option_at(size_t i)
{
    return i < OPTION_COUNT ? &options[i].option : NULL;
}

const struct spe_option *spe_spu_option_find(const char *name)
{
    const struct option *o = find(name);

    return o ? &o->option : NULL;
}

const char *spe_spu_option_word(const struct spe_option *option, size_t i)
{
    const struct option *o = find(option->name);

    if (!o)
        return NULL;
    for (size_t w = 0; w < word_count(o); w++) {
        if (o->kind == KIND_WORD && !(o->high >> w & 1))
            continue; /* write_abort shares its words with walk_abort, but for one */
        if (i-- == 0)
            return o->words[w];
    }
    return NULL;
}

/* ---- Defaults and what features settle ------------------------------------------------------ */

void spu_options_default(struct spe_spu_config *config)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options[i].kind < KIND_FEATURE)
            store(&options[i], config, options[i].initial);
    fill_store_events(config, SPE_STORE_RECORDED);
    config->data_source_map_count = 0;
    memset(config->data_source_map, 0, sizeof(config->data_source_map));
}

static void settle_sampling(struct spe_spu_config *c)
{
    bool ernd = spe_has(c->features, SPE_FEAT_SPE_ERnd);

    c->random_when = ernd ? SPE_RANDOM_AFTER_ZERO : SPE_RANDOM_BEFORE_COUNTDOWN;
    if (ernd)
        c->reload_point = SPE_RELOAD_BEFORE_RANDOM;
    else
        c->ecount_select = SPE_ECOUNT_ON_REACH;
    if (spe_has(c->features, SPE_FEAT_SPE_ArchInst)) {
        c->simd_split_bits = 0;
        c->sve128_as = 0;
    }
}

static void settle_events(struct spe_spu_config *c)
{
    if (!spe_has(c->features, SPE_FEAT_SPEv1p1))
        c->ev_align = 0;
    if (!spe_has(c->features, SPE_FEAT_SPEv1p4))
        c->ev_l2 = c->ev_modified = c->ev_recent = c->ev_snoop = 0;
    else
        c->impdef_events &= ~UINT64_C(0xff000000);
    if (spe_has(c->features, SPE_FEAT_SPE_SME))
        c->impdef_events &= ~UINT64_C(0x3000000);
    if (c->events_size && spu_config_events(c) >> (c->events_size * 8 - 1) > 1)
        c->events_size = 0;
}

static void settle_types(struct spe_spu_config *c)
{
    if (!spe_has(c->features, SPE_FEAT_SPEv1p1)) {
        c->pre_v1p3_tag_mops_as = SPE_AS_GENERAL;
        c->tag_data_store_as = SPE_AS_GENERAL;
        c->sme_ldst_as = SPE_SME_LDST_SVE_SME;
        c->dc_zva_as = SPE_ZVA_CACHE_MAINTENANCE;
    }
    if (!spe_has(c->features, SPE_FEAT_SPE_LDS))
        c->data_source = SPE_SOURCE_NONE;
    else if (c->data_source == SPE_SOURCE_NONE)
        c->data_source = SPE_SOURCE_8BIT;
    if (c->async_counter_clock == SPE_ASYNC_SMCU_ALT &&
        (!spe_has(c->features, SPE_FEAT_SPE_SME) || !spe_has(c->features, SPE_FEAT_SPE_ALTCLK)))
        c->async_counter_clock = SPE_ASYNC_CPU;
}

static void settle_buffer(struct spe_spu_config *c)
{
    if (spe_has(c->features, SPE_FEAT_SPEv1p3)) {
        c->spu_hw_af_dirty = 1;
        c->ea_described = 1;
        if (c->write_abort == SPE_ABORT_REPORT)
            c->write_abort = SPE_ABORT_SERROR;
        if (c->walk_abort == SPE_ABORT_REPORT)
            c->walk_abort = SPE_ABORT_MMU_FAULT;
    }
    if (!c->spu_hw_af_dirty)
        c->speculative_dirty = 0;
    if (!spe_has(c->features, SPE_FEAT_SPEv1p5))
        c->fault_late_samples = 0;
    if (spe_has(c->features, SPE_FEAT_NV))
        c->pmscr_el1_ee_reserved = SPE_EE_TABLE;
}

void spu_options_settle(struct spe_spu_config *config)
{
    settle_sampling(config);
    settle_events(config);
    settle_types(config);
    settle_buffer(config);
}

void spe_spu_config_features(struct spe_spu_config *config, spe_features features)
{
    config->features = spe_features_close(features);
    spu_options_settle(config);
}

/* ---- What follows from a configuration ------------------------------------------------------ */

uint64_t spu_config_events(const struct spe_spu_config *c)
{
    uint64_t events = 0x7f | c->impdef_events;
    spe_features f = c->features;

    if (c->branch_prediction)
        events |= SPE_EVENT_BIT(MISPREDICTED);
    if (c->ev_llc)
        events |= SPE_EVENT_BIT(LLC_ACCESS) | SPE_EVENT_BIT(LLC_MISS);
    if (c->ev_remote)
        events |= SPE_EVENT_BIT(REMOTE);
    if (c->ev_align && spe_has(f, SPE_FEAT_SPEv1p1))
        events |= SPE_EVENT_BIT(MISALIGNED);
    if (spe_has(f, SPE_FEAT_SPEv1p1) && (spe_has(f, SPE_FEAT_SVE) || spe_has(f, SPE_FEAT_SME)))
        events |= SPE_EVENT_BIT(PARTIAL_PREDICATE) | SPE_EVENT_BIT(EMPTY_PREDICATE);
    if (spe_has(f, SPE_FEAT_SPEv1p4)) { /* X05: not FEAT_SPEv1p2 */
        events |= c->ev_l2 ? SPE_EVENT_BIT(L2D_ACCESS) | SPE_EVENT_BIT(L2D_MISS) : 0;
        events |= c->ev_modified ? SPE_EVENT_BIT(MODIFIED) : 0;
        events |= c->ev_recent ? SPE_EVENT_BIT(RECENTLY_FETCHED) : 0;
        events |= c->ev_snoop ? SPE_EVENT_BIT(SNOOPED) : 0;
    }
    if (spe_has(f, SPE_FEAT_SPE_SME)) {
        events |= SPE_EVENT_BIT(STREAMING);
        events |= c->ev_smcu ? SPE_EVENT_BIT(SMCU) : 0;
    }
    return events;
}

uint64_t spu_config_filterable(const struct spe_spu_config *c)
{
    uint64_t implemented = spu_config_events(c) | SPE_EVENT_BIT(MISPREDICTED);
    uint64_t may = SPE_EVENT_BIT(L1D_MISS) | SPE_EVENT_BIT(TLB_WALK) | SPE_EVENT_BIT(MISPREDICTED);

    if (c->spec_sampling)
        may |= SPE_EVENT_BIT(RETIRED);
    if (spe_has(c->features, SPE_FEAT_SPE_FnE))
        may |= SPE_EVENT_BIT(NOT_TAKEN);
    may |= SPE_EVENT_BIT(MISALIGNED) | SPE_EVENT_BIT(PARTIAL_PREDICATE) |
           SPE_EVENT_BIT(EMPTY_PREDICATE);
    may |= UINT64_C(0x3f80000); /* 19 to 25 exist only where they can be filtered on */
    may |= spe_has(c->features, SPE_FEAT_SPEv1p4) ? UINT64_C(0x714) : 0;
    /* The rest is the implementation's choice, except that bits above cannot be taken away. */
    may &= ~(c->impdef_events & ~c->filter_events);
    may |= c->filter_events & EVENTS_OPTIONAL;
    return implemented & may;
}

void spu_config_layout(const struct spe_spu_config *config, struct spe_layout *layout)
{
    *layout = *config->layout;
    layout->max_size = (uint16_t)config->max_size;
    layout->align = (uint16_t)config->min_align_bytes;
    layout->count_bits = config->count_size;
    layout->events_size = config->events_size;
    layout->source_size = config->data_source == SPE_SOURCE_16BIT ? 2 : 1;
    if (layout->min_size > layout->max_size)
        layout->min_size = layout->max_size;
}

/* ---- Combinations --------------------------------------------------------------------------- */

static const char *bad_sampling(const struct spe_spu_config *c)
{
    bool ernd = spe_has(c->features, SPE_FEAT_SPE_ERnd);

    if (ernd && c->reload_point != SPE_RELOAD_BEFORE_RANDOM)
        return "Option reload_point must be before_random with FEAT_SPE_ERnd.";
    if (ernd != (c->random_when == SPE_RANDOM_AFTER_ZERO))
        return "Option random_when must be after_zero with FEAT_SPE_ERnd and before_countdown "
               "without it.";
    if (!ernd && c->ecount_select != SPE_ECOUNT_ON_REACH)
        return "Option ecount_select next needs FEAT_SPE_ERnd.";
    return NULL;
}

static const char *bad_events(const struct spe_spu_config *c)
{
    spe_features f = c->features;

    if (c->ev_align && !spe_has(f, SPE_FEAT_SPEv1p1))
        return "Option ev_align needs FEAT_SPEv1p1.";
    if ((c->ev_l2 || c->ev_modified || c->ev_recent || c->ev_snoop) &&
        !spe_has(f, SPE_FEAT_SPEv1p4))
        return "Options ev_l2, ev_modified, ev_recent and ev_snoop need FEAT_SPEv1p4.";
    if ((c->impdef_events & 0xff000000) && spe_has(f, SPE_FEAT_SPEv1p4))
        return "Option impdef_events cannot have events 24 to 31 with FEAT_SPEv1p4.";
    if ((c->impdef_events & 0x3000000) && spe_has(f, SPE_FEAT_SPE_SME))
        return "Option impdef_events cannot have events 24 and 25 with FEAT_SPE_SME.";
    if (c->events_size && c->events_size < 8 && spu_config_events(c) >> (c->events_size * 8))
        return "Option events_size is too small for the events that are implemented.";
    if (c->fixed_counter_value > spe_counter_max(c->count_size))
        return "Option fixed_counter_value does not fit count_size.";
    return NULL;
}

static const char *bad_types(const struct spe_spu_config *c)
{
    spe_features f = c->features;
    bool v1p1 = spe_has(f, SPE_FEAT_SPEv1p1);

    if (spe_has(f, SPE_FEAT_SPE_LDS) != (c->data_source != SPE_SOURCE_NONE))
        return "Option data_source must be none without FEAT_SPE_LDS, and only then.";
    if (!v1p1 && c->pre_v1p3_tag_mops_as == SPE_AS_UNSPECIFIED)
        return "Option pre_v1p3_tag_mops_as unspecified needs FEAT_SPEv1p1.";
    if (!v1p1 && c->tag_data_store_as == SPE_AS_UNSPECIFIED)
        return "Option tag_data_store_as unspecified needs FEAT_SPEv1p1.";
    if (!v1p1 && c->dc_zva_as == SPE_ZVA_STORE)
        return "Option dc_zva_as store is a store of unspecified registers: it needs FEAT_SPEv1p1.";
    if (!v1p1 && c->sme_ldst_as == SPE_SME_LDST_UNSPECIFIED)
        return "Option sme_ldst_as unspecified needs FEAT_SPEv1p1.";
    if (spe_has(f, SPE_FEAT_SPE_ArchInst) && c->simd_split_bits)
        return "Option simd_split_bits needs sample_unit micro_op.";
    if (spe_has(f, SPE_FEAT_SPE_ArchInst) && c->sve128_as)
        return "Option sve128_as advsimd needs sample_unit micro_op.";
    return NULL;
}

static const char *bad_clock(const struct spe_spu_config *c)
{
    if (c->async_counter_clock == SPE_ASYNC_SMCU_ALT) {
        if (!spe_has(c->features, SPE_FEAT_SPE_SME))
            return "Option async_counter_clock smcu_alt needs FEAT_SPE_SME.";
        if (!spe_has(c->features, SPE_FEAT_SPE_ALTCLK) || c->altclk != SPE_ALTCLK_SMCU)
            return "Option async_counter_clock smcu_alt needs FEAT_SPE_ALTCLK and altclk smcu.";
    }
    if (c->async_counter_clock == SPE_ASYNC_IMPDEF &&
        (c->impdef_counters >> c->async_counter_index & 1))
        return "Option async_counter_clock impdef needs an async_counter_index that is not one of "
               "impdef_counters.";
    return NULL;
}

/* D18.2-093: without speculative sampling E[1] reads as one, so nothing may need a zero there. */
static const char *bad_speculation(const struct spe_spu_config *c)
{
    if (c->capture_misspec && !c->pop_misspec)
        return "Option capture_misspec needs pop_misspec.";
    if (c->capture_nonarch && !c->pop_nonarch)
        return "Option capture_nonarch needs pop_nonarch.";
    if (c->capture_nonarch_exc && !c->pop_nonarch_exc)
        return "Option capture_nonarch_exc needs pop_nonarch_exc.";
    if (c->spec_sampling)
        return NULL;
    if (c->capture_misspec || c->capture_nonarch)
        return "Options capture_misspec and capture_nonarch need spec_sampling.";
    if (c->capture_nonarch_exc && c->nonarch_exc_record == SPE_NONARCH_NOT_EXECUTED)
        return "Option capture_nonarch_exc with nonarch_exc_record not_executed needs "
               "spec_sampling.";
    return NULL;
}

static const char *bad_buffer(const struct spe_spu_config *c)
{
    spe_features f = c->features;

    if (spe_has(f, SPE_FEAT_SPEv1p3)) {
        if (c->write_abort == SPE_ABORT_REPORT || c->walk_abort == SPE_ABORT_REPORT)
            return "Options write_abort and walk_abort cannot be report with FEAT_SPEv1p3.";
        if (!c->spu_hw_af_dirty)
            return "Option spu_hw_af_dirty must be 1 with FEAT_SPEv1p3.";
        if (!c->ea_described)
            return "Option ea_described must be 1 with FEAT_SPEv1p3.";
    }
    if (c->speculative_dirty && !c->spu_hw_af_dirty)
        return "Option speculative_dirty needs spu_hw_af_dirty.";
    if (c->fault_late_samples && !spe_has(f, SPE_FEAT_SPEv1p5))
        return "Option fault_late_samples needs FEAT_SPEv1p5.";
    if (c->pmscr_el1_ee_reserved == SPE_EE_LITERAL && spe_has(f, SPE_FEAT_NV))
        return "Option pmscr_el1_ee_reserved cannot be literal with FEAT_NV, which gives the "
               "values a meaning.";
    if (c->min_align_bytes > c->max_size)
        return "Option min_align_bytes is larger than max_size.";
    return NULL;
}

/* The largest records that can come: a load, and a branch that may have a GCS access too. */
static void largest_record(const struct spe_spu_config *c, bool branch, struct spe_record *r)
{
    spe_features f = c->features;
    bool pbt = spe_has(f, SPE_FEAT_SPE_PBT);
    bool data = !branch || (spe_has(f, SPE_FEAT_GCS) && spe_has(f, SPE_FEAT_SPEv1p4));

    memset(r, 0, sizeof(*r));
    r->has = SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_CONTEXT1 | SPE_HAS_TIMESTAMP;
    r->has |= spe_has(f, SPE_FEAT_EL2) ? SPE_HAS_CONTEXT2 : 0;
    r->op_class = branch ? SPE_CLASS_BRANCH : SPE_CLASS_LDST;
    r->events = spu_config_events(c);
    r->events_size = (uint8_t)spe_events_size(r->events);
    r->addresses = 1u << SPE_ADDRESS_PC | c->impdef_addresses;
    r->counters = 1u << SPE_COUNTER_TOTAL | 1u << SPE_COUNTER_ISSUE | c->impdef_counters;
    if (branch)
        r->addresses |= 1u << SPE_ADDRESS_TARGET;
    if (pbt && (branch || c->pbt_non_branch))
        r->addresses |= 1u << SPE_ADDRESS_PREVIOUS_TARGET;
    if (data) {
        r->addresses |= 1u << SPE_ADDRESS_VA | 1u << SPE_ADDRESS_PA;
        r->counters |= 1u << SPE_COUNTER_TRANSLATION;
    }
    if (data && c->data_source != SPE_SOURCE_NONE) {
        r->has |= SPE_HAS_SOURCE;
        r->source_size = c->data_source == SPE_SOURCE_16BIT ? 2 : 1;
    }
    /* Another clock's counter stands in for INDEX 1, and may have a larger header. */
    if (c->async_counter_clock == SPE_ASYNC_IMPDEF)
        r->counters = (r->counters & ~(1u << SPE_COUNTER_ISSUE)) | 1u << c->async_counter_index;
}

static int check_layout(const struct spe_spu_config *config, char *why, size_t why_size)
{
    struct spe_layout layout;
    struct spe_record record;
    uint8_t bytes[SPE_RECORD_MAX];
    int error;

    if (!config->layout)
        return spu_refuse(why, why_size, "Option layout is missing.");
    spu_config_layout(config, &layout);
    error = spe_layout_validate(&layout, why, why_size);
    for (int branch = 0; !error && branch < 2; branch++) {
        largest_record(config, branch, &record);
        error = spe_record_encode(&record, &layout, bytes, sizeof(bytes));
        if (error >= 0)
            error = SPE_OK;
        else if (error == SPE_ERR_SIZE)
            spu_refuse(why, why_size, "Option max_size %u is too small for the largest %s record.",
                       config->max_size, branch ? "branch" : "load");
        else
            spu_refuse(why, why_size, "Option layout %s cannot hold the largest %s record: %s.",
                       layout.name, branch ? "branch" : "load", spe_strerror(error));
    }
    return error ? SPE_ERR_INVALID : SPE_OK;
}

static int check_single(const struct spe_spu_config *config, char *why, size_t why_size)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];

        if (o->kind < KIND_FEATURE && !permitted(o, load(o, config)))
            return spu_refuse(why, why_size, "Option %s cannot be %llu; it takes %s.",
                              o->option.name, (unsigned long long)load(o, config),
                              o->option.values);
    }
    for (unsigned i = 0; i < 32; i++)
        if (config->store_cache_events[i] > (SPU_STORE_EVENTS >> i & 1 ? SPE_STORE_VARYING : 0))
            return spu_refuse(why, why_size, "Option store_cache_events cannot be %u for event %u.",
                              config->store_cache_events[i], i);
    if (config->data_source_map_count > SPE_SOURCE_MAP_MAX)
        return spu_refuse(why, why_size, "Option data_source_map has more than %d entries.",
                          SPE_SOURCE_MAP_MAX);
    for (unsigned i = 0; i < config->data_source_map_count; i++)
        if (config->data_source != SPE_SOURCE_16BIT && config->data_source_map[i] > 0xff)
            return spu_refuse(why, why_size,
                              "Option data_source_map has 0x%x, which needs data_source 16bit.",
                              config->data_source_map[i]);
    return SPE_OK;
}

typedef const char *combination_fn(const struct spe_spu_config *);

int spe_spu_config_validate(const struct spe_spu_config *config, char *why, size_t why_size)
{
    static combination_fn *const combinations[] = {
        bad_sampling, bad_events, bad_types, bad_clock, bad_speculation, bad_buffer,
    };
    int error;

    if (config->size != sizeof(*config))
        return spu_refuse(why, why_size, "The configuration's size is not that of this library.");
    if (!spe_has(config->features, SPE_FEAT_SPE))
        return spu_refuse(why, why_size, "The features lack FEAT_SPE.");
    error = spe_features_validate(config->features, why, why_size);
    if (!error)
        error = check_single(config, why, why_size);
    for (size_t i = 0; !error && i < sizeof(combinations) / sizeof(combinations[0]); i++) {
        const char *sentence = combinations[i](config);

        if (sentence)
            error = spu_refuse(why, why_size, "%s", sentence);
    }
    return error ? error : check_layout(config, why, why_size);
}
