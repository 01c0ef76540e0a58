/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The options of an implementation: one table with a row per choice of D17 and D18. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"

#define ANY UINT64_MAX

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

const struct spu_option spu_options[] = {
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
    FLAG(ev_pred_no_vector, 0, "",
         "Whether E[17] and E[18] tell the predicate of SVE data processing that writes no vector "
         "under it, such as INCP (as SVE_PRED_SPEC counts it)."),
    MASK(filter_events, EVENTS_OPTIONAL, "a mask of events 2 4 8-10 12-15 24-31 48-63",
         EVENTS_OPTIONAL, "",
         "Which events that need not be filterable PMSEVFR_EL1 can filter on, if implemented."),
    MASK(filter_sources, ANY, "a 64-bit mask", ANY, "",
         "Which data sources PMSDSFR_EL1 can filter on."),
    WORD2(zero_type_filter, "none_recorded", "as_off", SPE_ZERO_FILTER_AS_OFF, "",
          "PMSFCR_EL1.FT set and no type chosen, without FEAT_SPE_EFT."),
    WORD2(zero_event_filter, "none_recorded", "as_off", SPE_ZERO_FILTER_AS_OFF, "",
          "PMSFCR_EL1.FE set and PMSEVFR_EL1 zero."),
    WORD2(zero_inverted_filter, "none_recorded", "as_off", SPE_ZERO_FILTER_AS_OFF, "",
          "PMSFCR_EL1.FnE set and PMSNEVFR_EL1 zero."),
    WORD2(common_event_filter, "none_recorded", "as_off", SPE_ZERO_FILTER_NONE_RECORDED, "",
          "PMSFCR_EL1.FE and FnE set and a bit common to PMSEVFR_EL1 and PMSNEVFR_EL1."),
    WORD2(zero_latency_filter, "none_recorded", "as_off", SPE_ZERO_FILTER_AS_OFF, "",
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
    WORD2(ext_abort_sync, "sync", "async", SPE_EXT_ABORT_SYNC, "D17.8-007 D17.8-164",
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

const size_t spu_option_count = sizeof(spu_options) / sizeof(spu_options[0]);

/* ---- Rows ----------------------------------------------------------------------------------- */

const struct spu_option *spu_option_find(const char *name)
{
    for (size_t i = 0; i < spu_option_count; i++)
        if (!strcmp(spu_options[i].option.name, name))
            return &spu_options[i];
    return NULL;
}

size_t spu_option_words(const struct spu_option *o)
{
    size_t n = 0;

    while (o->words && o->words[n])
        n++;
    return n;
}

const struct spe_option *spe_spu_option_at(size_t i)
{
    return i < spu_option_count ? &spu_options[i].option : NULL;
}

const struct spe_option *spe_spu_option_find(const char *name)
{
    const struct spu_option *o = spu_option_find(name);

    return o ? &o->option : NULL;
}

const char *spe_spu_option_word(const struct spe_option *option, size_t i)
{
    const struct spu_option *o = spu_option_find(option->name);

    if (!o)
        return NULL;
    for (size_t w = 0; w < spu_option_words(o); w++) {
        if (o->kind == KIND_WORD && !(o->high >> w & 1))
            continue; /* write_abort shares its words with walk_abort, but for one */
        if (i-- == 0)
            return o->words[w];
    }
    return NULL;
}

/* ---- Values --------------------------------------------------------------------------------- */

uint64_t spu_option_load(const struct spu_option *o, const struct spe_spu_config *config)
{
    return load_sized((const uint8_t *)config + o->offset, o->width);
}

void spu_option_store(const struct spu_option *o, struct spe_spu_config *config, uint64_t value)
{
    store_sized((uint8_t *)config + o->offset, o->width, value);
}

static bool is_power(uint64_t value)
{
    return value && !(value & (value - 1));
}

bool spu_option_permits(const struct spu_option *o, uint64_t value)
{
    switch (o->kind) {
    case KIND_WORD:
        return value < spu_option_words(o) && (o->high >> value & 1);
    case KIND_ONE_OF:
        for (size_t i = 0; i < spu_option_words(o); i++)
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

void spu_store_events_fill(struct spe_spu_config *config, uint8_t choice)
{
    for (unsigned event = 0; event < 32; event++)
        config->store_cache_events[event] = SPU_STORE_EVENTS >> event & 1 ? choice : 0;
}
