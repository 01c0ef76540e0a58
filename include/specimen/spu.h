/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The Statistical Profiling Unit (Arm ARM D17), as an architectural model:
 *
 *   configuration    spe_spu_config_*, spe_spu_option_*   every IMPLEMENTATION DEFINED choice
 *   the host         struct spe_spu_host                  memory, time, interrupt, PMU ...
 *   the PE           struct spe_pe_state                  the state that the rules depend on
 *   registers        spe_spu_read, spe_spu_write          with traps and redirections
 *   sampling         spe_spu_budget, _advance, _step      D17.3
 *   collection       spe_spu_sample, struct spe_operation D17.6
 *   the buffer       behind the memory callback           D17.8
 *   queries          exception, interrupt, owner, statistics
 *
 * One unit belongs to one PE, and one thread at a time may use it. There can be any number of
 * units. Only spe_spu_create allocates memory. Nothing here does I/O. Two units with the same
 * configuration, seed, callback results and calls behave identically.
 *
 * Callbacks run inside the call that causes them. They must not call functions of the same unit,
 * except queries (functions with a const unit).
 */
#ifndef SPECIMEN_SPU_H
#define SPECIMEN_SPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"
#include "features.h"
#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct spe_spu;

/* ---- Configuration -------------------------------------------------------------------------- */

/* Values of the options that take words. The first is not always the default. */
enum { SPE_RELOAD_BEFORE_RANDOM, SPE_RELOAD_AT_SELECTION };
enum { SPE_RNG_LFSR, SPE_RNG_XORSHIFT, SPE_RNG_USER };
enum { SPE_RANDOM_BEFORE_COUNTDOWN, SPE_RANDOM_AFTER_ZERO };
enum { SPE_ECOUNT_ON_REACH, SPE_ECOUNT_NEXT };
enum { SPE_STAGE_DECODE, SPE_STAGE_DISPATCH, SPE_STAGE_ISSUE };
enum { SPE_TS_SAMPLED, SPE_TS_LATER, SPE_TS_FINISHED };
enum { SPE_TS_AS_DISABLED, SPE_TS_UNKNOWN_VALUE };
enum { SPE_INFO_NONE, SPE_INFO_SUBSET, SPE_INFO_ALL };
enum { SPE_ASYNC_CPU, SPE_ASYNC_SMCU_ALT, SPE_ASYNC_IMPDEF };
enum { SPE_ERET_ACTUAL, SPE_ERET_SPSR };
enum { SPE_NOT_TAKEN_OMIT, SPE_NOT_TAKEN_EMIT_UNKNOWN };
enum { SPE_SOURCE_NONE, SPE_SOURCE_8BIT, SPE_SOURCE_16BIT };
enum { SPE_SOURCE_COMBINED, SPE_SOURCE_CHOSEN_PART };
enum { SPE_STORE_RECORDED, SPE_STORE_ZERO, SPE_STORE_VARYING };
enum { SPE_ZVA_STORE, SPE_ZVA_CACHE_MAINTENANCE };
enum { SPE_MULTI_ALL, SPE_MULTI_PART };
enum { SPE_PART_RANDOM, SPE_PART_ROUND_ROBIN };
enum { SPE_PART_VA_LOWEST, SPE_PART_VA_CHOSEN };
enum { SPE_PART_EVENTS_WHOLE, SPE_PART_EVENTS_CHOSEN };
enum { SPE_XLAT_WAITING_AND_NONE_ACCESSING, SPE_XLAT_WAITING };
enum { SPE_NO_ACCESS_OMIT, SPE_NO_ACCESS_ZERO }; /* no_access_xlat */
enum { SPE_NO_ACCESS_EVENTS_RECORDED, SPE_NO_ACCESS_EVENTS_ZERO };
enum { SPE_TAG_VA_LOCATION, SPE_TAG_VA_GRANULE_BASE };
enum { SPE_TAG_PA_FROM_VA, SPE_TAG_PA_FROM_GRANULE_BASE };
enum { SPE_AS_GENERAL, SPE_AS_UNSPECIFIED }; /* tag_data_store_as, pre_v1p3_... */
enum { SPE_ST64BV_TO_RESULT, SPE_ST64BV_AS_STORE };
enum { SPE_AS_OTHER, SPE_AS_SVE_VECTOR }; /* zt_op_as, multivec_op_as */
enum { SPE_SME_LDST_SVE_SME, SPE_SME_LDST_UNSPECIFIED };
enum { SPE_SUBSET_NONE, SPE_SUBSET_ADDRESS, SPE_SUBSET_FULL }; /* sve_prefetch_info, cmo_info */
enum { SPE_PREFETCH_SVE_VECTOR, SPE_PREFETCH_OTHER };
enum { SPE_CONTIG_LOWEST_ELEMENT, SPE_CONTIG_LOWEST_ACTIVE };
enum { SPE_PCT_AS_00, SPE_PCT_AS_01, SPE_PCT_AS_11 };
enum { SPE_NONARCH_HANDLING, SPE_NONARCH_NOT_EXECUTED };
enum { SPE_EXT_ABORT_SYNC, SPE_EXT_ABORT_ASYNC };
enum { SPE_DL_UNCHANGED, SPE_DL_0, SPE_DL_1 };
enum { SPE_HIGHEST_TARGET_FIRST, SPE_LOWEST_TARGET_FIRST };
enum { SPE_EE_TABLE, SPE_EE_LITERAL };
enum { SPE_MISALIGNED_FAULT, SPE_MISALIGNED_WRITE_ANYWAY, SPE_MISALIGNED_NOT_ALLOWED };
enum { SPE_ABORT_IGNORE, SPE_ABORT_SERROR, SPE_ABORT_MMU_FAULT, SPE_ABORT_REPORT };
enum { SPE_NOT_ALLOWED_EVENT, SPE_NOT_ALLOWED_SILENT };
enum { SPE_GRANULE_FIXED, SPE_GRANULE_VARYING };
enum { SPE_TBI0_ZERO, SPE_TBI0_VA_63_56 };
enum { SPE_PAT_ZERO, SPE_PAT_TAG };
enum { SPE_WFX_BEFORE_SLEEP, SPE_WFX_ON_WAKE };
enum { SPE_MODIFIED_CACHE_HIT, SPE_MODIFIED_SNOOP_HIT, SPE_MODIFIED_BOTH };
enum { SPE_ETS_MASKED_WHOLE, SPE_ETS_MASKED_EXACT };
enum { SPE_ABSENT, SPE_PRESENT }; /* rng_config_regs, impdef_buffer... */
enum {
    SPE_ZERO_FILTER_NONE_RECORDED,
    SPE_ZERO_FILTER_AS_OFF
}; /* for the CONSTRAINED UNPREDICTABLE filters */
enum { SPE_RESET_ZERO, SPE_RESET_RANDOM };
enum { SPE_ALTCLK_SMCU, SPE_ALTCLK_IMPDEF };

/* cond_ops: the operations that count as conditional (D17.6.5). Also spe_operation.cond_op, as 1 +
 * n. */
enum {
    SPE_COND_CSEL = 1u << 0,
    SPE_COND_FCSEL = 1u << 1,
    SPE_COND_CSINC = 1u << 2,
    SPE_COND_CSNEG = 1u << 3,
    SPE_COND_CSINV = 1u << 4,
    SPE_COND_CCMP = 1u << 5,
    SPE_COND_FCCMP = 1u << 6,
    SPE_COND_CCMN = 1u << 7,
};

/* sve128_as: the types that are recorded as their Advanced SIMD equivalent. */
enum { SPE_SVE128_DP = 1u << 0, SPE_SVE128_LDST = 1u << 1 };

#define SPE_SOURCE_MAP_MAX 64

/*
 * An implementation. Fill it with spe_spu_config_init, then change it. Change the features first
 * (spe_spu_config_features or the option "features"), because they determine some options. Set
 * fields directly or by name from text. Each field is the option of the same name;
 * spe_spu_option_at lists the options with their permitted values, a sentence and their requirement
 * rows.
 *
 * An option marked 0|1 is a flag. Options without a comment hold one of the enum values above;
 * spe_spu_option_word gives their spelling in text.
 */
struct spe_spu_config {
    size_t size; /* written by spe_spu_config_init */

    /* Identity: the contents of PMSIDR_EL1 and PMBIDR_EL1, which are not rows of the catalogue. The
     * catalogue's rows feat_spe_ernd and sample_unit are members of `features` (SPE_ERnd,
     * SPE_ArchInst). */
    spe_features features;
    const struct spe_layout *layout; /* order of packets; the sizes below override its sizes */
    uint32_t max_size;               /* 2^PMSIDR_EL1.MaxSize: 64 to 2048 bytes */
    uint32_t min_interval;           /* PMSIDR_EL1.Interval: 256 512 768 1024 1536 2048 3072 4096 */
    uint8_t altclk;                  /* PMSIDR_EL1.ALTCLK with FEAT_SPE_ALTCLK */
    uint8_t ea_described;            /* 0|1: PMBIDR_EL1.EA shows write_abort; else it reads as 0 */
    uint8_t granule_shift;           /* smallest translation granule: 12, 14 or 16 */
    uint8_t pa_bits;                 /* implemented physical address size: 32 to 56 */
    uint8_t reset_values;            /* the values of fields that are UNKNOWN after reset */
    uint8_t sdd_trap_first; /* 0|1: in Debug state with EDSCR.SDD=1, EL3 traps are checked first and
                               are UNDEFINED */
    uint8_t nspb_reserved_traps;  /* 0|1: a reserved {NSPBE,NSPB} traps EL1 and EL2 accesses */
    uint8_t ptr_low_res0;         /* 0|1: PMBPTR_EL1 bits below the alignment are RES0 */
    uint8_t ev_smcu;              /* 0|1: event 25 is implemented, FEAT_SPE_SME */
    uint8_t ev_pred_no_vector;    /* 0|1: events 17, 18 also for INCP and similar instructions */
    uint64_t filter_events;       /* optional and IMPDEF events that PMSEVFR_EL1 can filter */
    uint64_t filter_sources;      /* data sources that PMSDSFR_EL1 can filter */
    uint8_t zero_type_filter;     /* FT=1 and no type selected, without FEAT_SPE_EFT */
    uint8_t zero_event_filter;    /* FE=1, PMSEVFR_EL1 zero */
    uint8_t zero_inverted_filter; /* FnE=1, PMSNEVFR_EL1 zero */
    uint8_t common_event_filter;  /* FE=FnE=1 and a common bit: record nothing, or both off */
    uint8_t zero_latency_filter;  /* FL=1, MINLAT zero */

    /* D17.3 Sampling */
    uint8_t sample_pick;  /* 0: exact; N: 0 to N operations later, evenly distributed */
    uint8_t reload_point; /* see D17.3-009; at_selection: the member at zero is selected */
    uint8_t rng_kind;
    uint64_t rng_seed;       /* any value; also seeds the unit's other choices */
    uint8_t rng_config_regs; /* SPE_PRESENT: SPE_SYSREG_RNG holds the generator's state */
    uint8_t random_when;     /* fixed by FEAT_SPE_ERnd */
    uint8_t ecount_select;
    uint8_t sample_stage;
    uint16_t max_inflight_samples; /* 1 to 1024 */

    /* D17.6 What a record holds */
    uint8_t ts_point;
    uint8_t ts_counter_disabled;
    uint8_t incomplete_op_info;
    uint8_t omit_fixed_counters; /* 0|1 */
    uint32_t fixed_counters;     /* bit i: counter INDEX i always has fixed_counter_value */
    uint16_t fixed_counter_value;
    uint64_t impdef_events;    /* bit n: event n is implemented */
    uint32_t impdef_counters;  /* bit i: counter INDEX i (6, 7, 16-31) */
    uint32_t impdef_addresses; /* bit i: address INDEX i (6, 7, 16-31) */
    uint8_t async_counter_clock;
    uint8_t async_counter_index; /* INDEX of the IMPDEF clock's counter: 6, 7, 16-31 */
    uint8_t illegal_eret_context;
    uint8_t branch_prediction; /* 0|1 */
    uint8_t not_taken_target;
    uint8_t isb_is_branch;                                                        /* 0|1 */
    uint8_t pbt_non_branch, pbt_after_cse, pbt_none_since_cse;                    /* 0|1 */
    uint8_t ev_llc, ev_remote, ev_align, ev_l2, ev_modified, ev_recent, ev_snoop; /* 0|1 */
    uint8_t data_source;
    uint8_t data_source_multi;
    uint8_t store_cache_events[32]; /* per event: 2 3 8 9 10 19-23; SPE_STORE_* */
    uint8_t dc_zva_as;
    uint8_t multi_access;
    uint8_t part_choice;
    uint8_t part_contig_va;
    uint8_t part_events;
    uint8_t xlat_latency_rule;
    uint8_t stx_fail_pa; /* 0|1 */
    uint8_t no_access_xlat;
    uint8_t no_access_events;
    uint8_t tag_access_va;
    uint8_t tag_access_pa;
    uint8_t tag_data_store_as;
    uint8_t pre_v1p3_tag_mops_as;
    uint8_t st64bv_data_source; /* 0|1 */
    uint8_t st64bv_latency;
    uint16_t align_rule; /* 0: an access that crosses a line of line_bytes; else a boundary, a power
                            of two */
    uint16_t line_bytes; /* cache line: 16 to 2048 */
    uint8_t cond_ops;    /* SPE_COND_* */
    uint32_t simd_split_bits; /* 0: none; else a power of two, 32 to 2048 */
    uint8_t sve128_as;        /* SPE_SVE128_* */
    uint8_t zt_op_as;
    uint8_t multivec_op_as;
    uint8_t sme_ldst_as;
    uint8_t sve_prefetch_info;
    uint8_t sve_prefetch_as;
    uint8_t sve_contig_va;
    uint8_t sve_contig_inactive_va;                                /* 0|1 */
    uint8_t pop_misspec, pop_nonarch, pop_nonarch_exc;             /* 0|1 */
    uint8_t capture_misspec, capture_nonarch, capture_nonarch_exc; /* 0|1 */
    uint8_t cmo_info;
    uint8_t pct_reserved_as;
    uint32_t pa_collect_cycles;
    uint8_t nonarch_exc_record;
    uint8_t nonarch_exc_e0; /* 0|1 */

    /* D17.8 The Profiling Buffer */
    uint8_t ext_abort_sync;
    uint32_t fault_late_samples; /* samples after a fault before its event is recorded */
    uint8_t fault_boundary_dl;
    uint8_t spe_exc_order;
    uint32_t spe_exc_delay; /* instructions */
    uint8_t pmscr_el1_ee_reserved;
    uint32_t min_align_bytes; /* 2^PMBIDR_EL1.Align: 1 to 2048 */
    uint8_t misaligned_ptr;
    uint8_t tlb_conflict_fault; /* 0|1 */
    uint8_t walk_abort_sets_ea; /* 0|1 */
    uint8_t spu_hw_af_dirty;    /* 0|1: PMBIDR_EL1.F */
    uint8_t speculative_dirty;  /* 0|1 */
    uint8_t write_abort;        /* SPE_ABORT_*, never MMU_FAULT */
    uint8_t walk_abort;         /* SPE_ABORT_* */
    uint8_t access_not_allowed;
    uint8_t impdef_buffer_event;

    /* D18 Records and packets */
    uint16_t access_granule_bytes; /* a power of two, 1 to 2048 */
    uint8_t access_granule_mode;
    uint8_t tbi0_tag;
    uint8_t ch_when_tcf_ignored; /* 0|1 */
    uint8_t pat_unchecked;
    uint8_t complete_means_committed; /* 0|1 */
    uint8_t wfx_complete;
    uint8_t wfx_counters_run;       /* 0|1 */
    uint8_t wfx_sample_wakes;       /* 0|1 */
    uint8_t count_size;             /* 12 or 16 */
    uint8_t data_source_on_abort;   /* 0|1 */
    uint8_t data_source_st_atomic;  /* 0|1 */
    uint16_t data_source_map_count; /* 0: the host's value is SOURCE; else an index into the map */
    uint16_t data_source_map[SPE_SOURCE_MAP_MAX];
    uint8_t events_size; /* 0: the smallest size that holds the set bits; else 1, 2, 4 or 8 */
    uint8_t ev_modified_scope;
    uint8_t llc_includes_remote;              /* 0|1 */
    uint8_t pmu_rd_only, pmu_mispred_retired; /* 0|1 */
    uint8_t spec_sampling;                    /* 0|1 */
    uint8_t zero_masked_ets;
};

/* Called by spe_spu_config_init after it has set the size. */
SPE_API int spe_spu_config_preset(struct spe_spu_config *config, const char *preset);

/* Fill *config from a preset: "architecture" (the choices of the Arm ARM's pseudocode, all
 * features), "neoverse-n1", "neoverse-v1", "neoverse-n2", "neoverse-v2", "ampereone-1a",
 * "kunpeng-920"; NULL is "architecture". SPE_ERR_UNKNOWN. */
static inline int spe_spu_config_init(struct spe_spu_config *config, const char *preset)
{
    config->size = sizeof(*config);
    return spe_spu_config_preset(config, preset);
}
SPE_API const char *spe_spu_preset_at(size_t i);       /* a name; NULL past the last */
SPE_API const char *spe_spu_preset_sentence(size_t i); /* its meaning */

/* Set the features (closed by spe_features_close), and set every option for which they allow only
 * one value. */
SPE_API void spe_spu_config_features(struct spe_spu_config *config, spe_features features);

/* Zero if the configuration is valid. Else SPE_ERR_INVALID, and the sentence in `why` names the
 * invalid option or combination of options. */
SPE_API int spe_spu_config_validate(const struct spe_spu_config *config, char *why,
                                    size_t why_size);

/* One option. Its strings are static. */
struct spe_option {
    const char *name;
    const char *values;       /* for people: "exact | 1 to 255" */
    const char *sentence;     /* its meaning */
    const char *requirements; /* catalogue ids, separated by spaces; "" if there is no row */
};

SPE_API const struct spe_option *spe_spu_option_at(size_t i); /* NULL past the last */
SPE_API const struct spe_option *spe_spu_option_find(const char *name);

/* Word i that the option accepts; NULL past the last, and for options that accept only numbers.
 * Flags have "0" and "1". */
SPE_API const char *spe_spu_option_word(const struct spe_option *option, size_t i);

/*
 * Set an option from text. Numbers are decimal, 0x or 0b; sets of words and lists of INDEXes are
 * separated by commas. SPE_ERR_UNKNOWN if the option does not exist, SPE_ERR_INVALID if the value
 * is not permitted; `why` (may be NULL) then has a sentence. spe_spu_config_validate checks
 * combinations.
 */
SPE_API int spe_spu_option_set(struct spe_spu_config *config, const char *name, const char *value,
                               char *why, size_t why_size);

/* Write the option's value as text for spe_spu_option_set. Returns the required length, like
 * snprintf, or SPE_ERR_UNKNOWN. */
SPE_API int spe_spu_option_get(const struct spe_spu_config *config, const char *name, char *out,
                               size_t out_size);

/* ---- The PE --------------------------------------------------------------------------------- */

/*
 * The state of the PE that the rules depend on, including registers that do not belong to the unit.
 * Registers hold their architected 64-bit values; a field whose feature is missing is ignored. Call
 * spe_spu_set_pe whenever anything in it changes, after reporting all operations that ran before
 * (spe_spu_advance).
 */
struct spe_pe_state {
    size_t size;          /* written by spe_pe_state_init */
    uint8_t el;           /* current Exception level, 0 to 3 */
    bool aarch32;         /* the current state is AArch32 */
    bool el1_aarch32;     /* EL1 uses AArch32 */
    bool el2_aarch32;     /* EL2 uses AArch32 */
    bool debug;           /* in Debug state */
    bool sdd;             /* EDSCR.SDD */
    bool pm;              /* PSTATE.PM */
    bool counter_enabled; /* CNTCR.EN */
    uint64_t scr_el3, hcr_el2, mdcr_el2, mdcr_el3;
    uint64_t hdfgrtr_el2, hdfgwtr_el2, hdfgrtr2_el2, hdfgwtr2_el2, hfgitr_el2;
    uint64_t cnthctl_el2, cntvoff_el2, cntpoff_el2;
    uint64_t pmcr_el0;
    uint32_t contextidr_el1, contextidr_el2;
};

/* Called by spe_pe_state_init after it has set the size. */
SPE_API void spe_pe_state_default(struct spe_pe_state *pe);

/* The default state: EL0, AArch64, Non-secure, EL2 enabled, counter enabled, no traps, EL1 owns the
 * buffer (NSPB=0b11, E2PB=0b11, fine-grained traps off). */
static inline void spe_pe_state_init(struct spe_pe_state *pe)
{
    pe->size = sizeof(*pe);
    spe_pe_state_default(pe);
}

/* ---- The host ------------------------------------------------------------------------------- */

enum spe_fault {
    SPE_FAULT_NONE,
    SPE_FAULT_TRANSLATION,
    SPE_FAULT_ADDRESS_SIZE,
    SPE_FAULT_ACCESS_FLAG,
    SPE_FAULT_PERMISSION,
    SPE_FAULT_ALIGNMENT,
    SPE_FAULT_TLB_CONFLICT,
    SPE_FAULT_UNSUPPORTED_ATOMIC, /* hardware cannot update the tables atomically */
    SPE_FAULT_GPF, /* Granule Protection Fault; set `walk` if on a table walk or update */
    SPE_FAULT_GPC, /* any other Granule Protection Check fault */
    SPE_FAULT_EXTERNAL_ABORT, /* `walk` tells which access */
    SPE_FAULT_NOT_ALLOWED,    /* D17.8.5: the write is not possible for another reason */
    SPE_FAULT_COUNT
};

enum spe_walk {
    SPE_WALK_NO,    /* the access itself */
    SPE_WALK_TABLE, /* a translation table walk or update */
    SPE_WALK_GPT,   /* a granule protection table walk */
};

enum {
    SPE_WRITE_NVM = 1u << 0, /* address is not virtual: stage 1 is skipped (FEAT_SPE_nVM) */
    SPE_WRITE_AF_DIRTY =
        1u << 1, /* manage Access flag and dirty state; else AF=0 and DBM cause a fault */
    SPE_WRITE_PREPARE =
        1u << 2, /* size 0: make the page dirty if a write is permitted, D17.8.3.1 */
    SPE_WRITE_NO_TLB_CONFLICT = 1u << 3, /* resolve a TLB conflict instead of reporting it */
};

/* One write to the Profiling Buffer. It is privileged, not tag checked, ignores PSTATE.PAN and
 * never hits a observerpoint (D17.8.3). It does not cross a multiple of access_granule_bytes. */
struct spe_write {
    uint64_t address;
    const uint8_t *data; /* valid during the call */
    uint32_t size;
    uint32_t flags;   /* SPE_WRITE_* */
    uint8_t el;       /* of the owning translation regime: 1 or 2 */
    uint8_t security; /* enum spe_security of the owning regime */
    uint8_t sh, attr; /* PMBMAR_EL1, with SPE_WRITE_NVM */
};

/* Zeroed before the call, so a host that writes everything only sets `written`. */
struct spe_write_result {
    uint32_t written;  /* bytes before the fault, or all */
    uint8_t fault;     /* enum spe_fault */
    uint8_t stage;     /* 1 or 2; 0 means 1 */
    int8_t level;      /* -2 to 3, if the fault has a level */
    uint8_t walk;      /* enum spe_walk */
    bool top_level;    /* PERMISSION: FEAT_THE TopLevel check */
    bool assured_only; /* PERMISSION, stage 2: AssuredOnly */
    bool overlay;      /* PERMISSION: because of an overlay */
    bool dirty_bit;    /* PERMISSION: because of the dirty state */
};

/* A record that is written to the buffer, for hosts that observe records. */
struct spe_record_notice {
    const struct spe_record *record;
    const uint8_t *bytes;
    uint32_t size;
    uint64_t pointer; /* PMBPTR_EL1 before the write */
    uint32_t written; /* bytes that reached memory */
    uint8_t fate;     /* enum spe_sample_fate */
};

/* A change of a PMBSR_ELx by the unit, not by a register write. */
struct spe_management_event {
    uint8_t el; /* x: 1, 2 or 3 */
    uint8_t ec;
    uint16_t mss;
    uint32_t mss2;
    uint64_t before, after; /* the register */
    uint64_t pointer;       /* PMBPTR_EL1 after the event */
    bool is_new;            /* S went from 0 to 1: a Profiling Buffer management event */
};

enum spe_pmu_event { /* PMU event numbers */
                     SPE_PMU_SAMPLE_POP = 0x4000,
                     SPE_PMU_SAMPLE_FEED = 0x4001,
                     SPE_PMU_SAMPLE_FILTRATE = 0x4002,
                     SPE_PMU_SAMPLE_COLLISION = 0x4003,
                     SPE_PMU_SAMPLE_FEED_DS = 0x8122,
                     SPE_PMU_SAMPLE_BUFFER_FULL = 0x8123,
                     SPE_PMU_SAMPLE_FEED_BR = 0x812a,
                     SPE_PMU_SAMPLE_FEED_LD = 0x812b,
                     SPE_PMU_SAMPLE_FEED_ST = 0x812c,
                     SPE_PMU_SAMPLE_FEED_OP = 0x812d,
                     SPE_PMU_SAMPLE_FEED_EVENT = 0x812e,
                     SPE_PMU_SAMPLE_FEED_LAT = 0x812f,
                     SPE_PMU_SAMPLE_FEED_FP = 0x8348,
                     SPE_PMU_SAMPLE_FEED_SIMD = 0x8349,
};

#define SPE_CTI_TRIGGER 2 /* CTI input trigger: a record was written */

struct spe_exception;

/*
 * Callbacks. The comment of each says what happens if it is NULL. Each gets `user`. spe_spu_create
 * copies the struct.
 */
struct spe_spu_host {
    size_t size; /* written by spe_spu_host_init */
    void *user;
    /* NULL: no write is allowed (D17.8.5). */
    void (*write)(void *user, const struct spe_write *write, struct spe_write_result *result);
    uint64_t (*physical_count)(void *user); /* PhysicalCountInt(); NULL: always 0 */
    uint8_t (*random_byte)(void *user);     /* for rng_kind "user", which requires it */
    void (*interrupt)(void *user,
                      bool level); /* PMBIRQ, called on edges; NULL: use spe_spu_interrupt */
    void (*pmu_event)(void *user, unsigned event, uint64_t count); /* NULL: not counted */
    void (*cti_trigger)(void *user, unsigned trigger);             /* NULL: no CTI */
    void (*serror)(void *user, uint64_t address); /* External abort as SError; NULL: lost */
    void (*wake)(void *user); /* a sample began and wfx_sample_wakes is 1; NULL: no wake-up */
    /* The pending exception appeared, disappeared, was masked or unmasked, or its limit changed.
     * NULL: use spe_spu_exception. */
    void (*exception)(void *user, const struct spe_exception *exception);
    void (*management_event)(void *user, const struct spe_management_event *event); /* observer */
    void (*record)(void *user, const struct spe_record_notice *notice);             /* observer */
};

/* No callbacks. */
static inline void spe_spu_host_init(struct spe_spu_host *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

/* ---- Life ----------------------------------------------------------------------------------- */

/*
 * Create a unit in the state after a Warm reset, with the PE state of spe_pe_state_init. config and
 * host are copied; a NULL host has no callbacks. *spu is set on success only. SPE_ERR_INVALID with
 * a sentence in `why` (may be NULL), SPE_ERR_NOMEM.
 */
SPE_API int spe_spu_create(const struct spe_spu_config *config, const struct spe_spu_host *host,
                           struct spe_spu **spu, char *why, size_t why_size);
SPE_API void spe_spu_destroy(struct spe_spu *spu); /* NULL is allowed */

/* Warm reset of registers, generator and samples in flight. Statistics and the PE state do not
 * change. */
SPE_API void spe_spu_reset(struct spe_spu *spu);

/* SPE_ERR_INVALID, without any effect, if pe->size is 0 or a member is set that this library does
 * not know. */
SPE_API int spe_spu_set_pe(struct spe_spu *spu, const struct spe_pe_state *pe);

/* Copies of the unit's PE state and configuration, as far as they fit the caller's struct. */
SPE_API void spe_spu_pe_sized(const struct spe_spu *spu, struct spe_pe_state *pe, size_t size);
SPE_API void spe_spu_config_sized(const struct spe_spu *spu, struct spe_spu_config *config,
                                  size_t size);

static inline void spe_spu_get_pe(const struct spe_spu *spu, struct spe_pe_state *pe)
{
    spe_spu_pe_sized(spu, pe, sizeof(*pe));
}

static inline void spe_spu_get_config(const struct spe_spu *spu, struct spe_spu_config *config)
{
    spe_spu_config_sized(spu, config, sizeof(*config));
}

/* ---- Registers ------------------------------------------------------------------------------ */

enum spe_register {
    SPE_REG_PMSCR_EL1,
    SPE_REG_PMSNEVFR_EL1,
    SPE_REG_PMSICR_EL1,
    SPE_REG_PMSIRR_EL1,
    SPE_REG_PMSFCR_EL1,
    SPE_REG_PMSEVFR_EL1,
    SPE_REG_PMSLATFR_EL1,
    SPE_REG_PMSIDR_EL1,
    SPE_REG_PMBLIMITR_EL1,
    SPE_REG_PMBPTR_EL1,
    SPE_REG_PMBSR_EL1,
    SPE_REG_PMSDSFR_EL1,
    SPE_REG_PMBMAR_EL1,
    SPE_REG_PMBIDR_EL1,
    SPE_REG_PMSCR_EL2,
    SPE_REG_PMBSR_EL2,
    SPE_REG_PMBSR_EL3,
    SPE_REG_RNG,   /* IMPLEMENTATION DEFINED: rng_config_regs */
    SPE_REG_COUNT, /* aliases of registers follow */
    SPE_REG_PMSCR_EL12 = SPE_REG_COUNT,
    SPE_REG_PMBSR_EL12,
    SPE_REG_NAME_COUNT
};

/* The encoding of a system register in MRS and MSR. */
#define SPE_SYSREG(op0, op1, crn, crm, op2)                                                        \
    ((unsigned)(op0) << 14 | (unsigned)(op1) << 11 | (unsigned)(crn) << 7 | (unsigned)(crm) << 3 | \
     (unsigned)(op2))
#define SPE_SYSREG_RNG SPE_SYSREG(3, 0, 15, 9, 0) /* in the IMPLEMENTATION DEFINED space */

SPE_API int spe_register_encoding(unsigned reg);         /* or SPE_ERR_INVALID */
SPE_API int spe_register_by_encoding(unsigned encoding); /* enum spe_register, or SPE_ERR_UNKNOWN */
SPE_API const char *spe_register_name(unsigned reg);     /* "PMSCR_EL1"; NULL */
SPE_API int spe_register_by_name(const char *name);      /* any case; or SPE_ERR_UNKNOWN */

struct spe_register_field {
    const char *name;
    uint8_t high, low;
    bool present; /* with the unit's features; else RES0 or RAZ/WI */
    bool writable;
};

/* The i-th field of a register, highest first; false past the last. */
SPE_API bool spe_register_field_at(const struct spe_spu *spu, unsigned reg, size_t i,
                                   struct spe_register_field *field);

enum spe_outcome {
    SPE_OUTCOME_DONE,      /* the access reached `reg`; a read has its value */
    SPE_OUTCOME_UNDEFINED, /* Undefined Instruction exception (EC 0) */
    SPE_OUTCOME_TRAP,      /* to target_el, with syndrome */
    SPE_OUTCOME_MEMORY,    /* a load or store at VNCR_EL2 base + memory_offset instead (NV2) */
    SPE_OUTCOME_NOP,       /* PSB CSYNC without FEAT_SPE */
};

struct spe_register_access {
    uint8_t outcome;        /* enum spe_outcome */
    uint8_t reg;            /* DONE: the enum spe_register after redirection */
    uint8_t target_el;      /* TRAP */
    uint16_t memory_offset; /* MEMORY */
    uint32_t syndrome;      /* TRAP: ESR_ELx: EC, IL, ISS */
    uint64_t value;         /* DONE, read */
};

/*
 * Execute MRS or MSR by encoding in the PE's current state, with the trap order of the
 * architecture. rt is the number of the general-purpose register, for the syndrome. A write that is
 * DONE has taken effect. A read counts as a direct read for RNXPMV and RLTMKQ. SPE_ERR_UNKNOWN if
 * the encoding is not that of an SPE register: the host handles it. Operations that ran before must
 * have been reported.
 */
SPE_API int spe_spu_read(struct spe_spu *spu, unsigned encoding, unsigned rt,
                         struct spe_register_access *access);
SPE_API int spe_spu_write(struct spe_spu *spu, unsigned encoding, unsigned rt, uint64_t value,
                          struct spe_register_access *access);

/* For hosts (migration, debuggers) and tests: access without traps; reading has no side effects.
 * Setting drops RES0 and read-only bits, as hardware does, and takes effect. */
SPE_API uint64_t spe_spu_reg_get(const struct spe_spu *spu, enum spe_register reg);
SPE_API void spe_spu_reg_set(struct spe_spu *spu, enum spe_register reg, uint64_t value);

/* ---- Sampling (D17.3) ----------------------------------------------------------------------- */

/* Reasons to keep an operation out of the sample population. 0 is an ordinary operation. */
enum {
    SPE_POP_MISSPECULATED = 1u << 0,     /* on a misspeculated path */
    SPE_POP_NONARCH = 1u << 1,           /* belongs to no architectural instruction */
    SPE_POP_NONARCH_EXCEPTION = 1u << 2, /* generates a non-architectural exception */
};

/* Is such an operation in the population, according to pop_misspec, pop_nonarch, pop_nonarch_exc?
 */
SPE_API bool spe_spu_in_population(const struct spe_spu *spu, unsigned population);

/*
 * The number of members of the population that may run unobserved, because none of them is sampled.
 * The next one must go through spe_spu_step. UINT64_MAX while profiling is disabled, 0 if the very
 * next one needs spe_spu_step. The result is valid until the next call on the unit that is not a
 * query.
 */
SPE_API uint64_t spe_spu_budget(const struct spe_spu *spu);

/* Report that this many members of the population have run, at most the budget. SPE_ERR_RANGE,
 * without any effect, if it is more than the budget. */
SPE_API int spe_spu_advance(struct spe_spu *spu, uint64_t operations);

/*
 * Run one operation. Returns 0 if it is not sampled (not in the population, not selected, or
 * collided), else its number in flight, 1 to max_inflight_samples. When it has finished, describe
 * it with spe_spu_complete or spe_spu_sample. Context, time, permissions and the previous branch
 * target are captured now.
 */
SPE_API int spe_spu_step(struct spe_spu *spu, unsigned population);

/* ---- Collection (D17.6) --------------------------------------------------------------------- */

enum spe_operation_kind {
    SPE_OPERATION_OTHER, /* anything without a more specific kind, including conditional select and
                            compare */
    SPE_OPERATION_SVE,   /* SVE SIMD data processing, D17.6.6 */
    SPE_OPERATION_SME_VECTOR, /* on ZA array vectors or tile slices */
    SPE_OPERATION_SME_TILE,   /* on 2D ZA tiles */
    SPE_OPERATION_LOAD,       /* of `registers`; also LD64B */
    SPE_OPERATION_STORE,      /* also ST64B and ST64BV */
    SPE_OPERATION_ATOMIC,     /* LDADD, SWP, CAS ..., and STADD ... without `returns_value` */
    SPE_OPERATION_MEMCPY,     /* CPY, CPYF */
    SPE_OPERATION_MEMSET,     /* SET, SETG */
    SPE_OPERATION_GCS,        /* Guarded Control Stack access that is not a branch; GCSSS2: both */
    SPE_OPERATION_BRANCH,
    SPE_OPERATION_ERET,
    SPE_OPERATION_ISB,
    SPE_OPERATION_CMO,      /* cache maintenance by VA */
    SPE_OPERATION_PREFETCH, /* other than SVE */
    SPE_OPERATION_SVE_PREFETCH,
    SPE_OPERATION_AT,     /* address translation */
    SPE_OPERATION_DC_ZVA, /* DC ZVA, DC GVA, DC GZVA */
    SPE_OPERATION_WFX,    /* WFE, WFI */
    SPE_OPERATION_KIND_COUNT
};

enum spe_operation_registers { /* LOAD, STORE, ATOMIC */
                               SPE_REGISTERS_GENERAL,
                               SPE_REGISTERS_FP,   /* SIMD&FP, scalar, not Q */
                               SPE_REGISTERS_SIMD, /* SIMD&FP, Q, structure or replicate */
                               SPE_REGISTERS_SVE,
                               SPE_REGISTERS_SME,      /* ZA tile slices or array vectors, ZT0 */
                               SPE_REGISTERS_TAG,      /* Allocation Tags: LDG, STG ... */
                               SPE_REGISTERS_TAG_DATA, /* Tags and data: STGP ... */
                               SPE_REGISTERS_NV2, /* MRS or MSR at EL1 transformed into a load or
                                                     store */
                               SPE_REGISTERS_UNSPECIFIED,
                               SPE_REGISTERS_COUNT
};

/* Events of an access; the options determine the resulting Events bits. */
enum spe_fact {
    SPE_FACT_L1D_ACCESS = 1u << 0,
    SPE_FACT_L1D_MISS = 1u << 1,   /* missed, and the refill of an earlier miss did not serve it */
    SPE_FACT_L1D_REFILL = 1u << 2, /* caused a refill of L1 from outside it */
    SPE_FACT_TLB_ACCESS = 1u << 3,
    SPE_FACT_TLB_WALK = 1u << 4,
    SPE_FACT_L2D_ACCESS = 1u << 5,
    SPE_FACT_L2D_MISS = 1u << 6,
    SPE_FACT_LLC_ACCESS = 1u << 7,
    SPE_FACT_LLC_MISS = 1u << 8,        /* not completed by this socket's Last Level cache */
    SPE_FACT_REMOTE = 1u << 9,          /* accessed another socket */
    SPE_FACT_REMOTE_LLC_HIT = 1u << 10, /* completed by another socket's Last Level cache */
    SPE_FACT_MODIFIED_HIT = 1u << 11,   /* modified data in a cache that was hit */
    SPE_FACT_MODIFIED_SNOOP = 1u << 12, /* modified data in a cache that was snooped */
    SPE_FACT_RECENT = 1u << 13,         /* recently fetched line */
    SPE_FACT_SNOOPED = 1u << 14,        /* data from a cache outside this PE's hierarchy */
    SPE_FACT_SLOW_ALIGNMENT = 1u << 15, /* alignment penalty that align_rule does not cover */
};

/* One access of an operation. Times are cycles since the operation was issued. */
struct spe_memory_access {
    uint64_t va; /* all 64 bits */
    uint64_t pa;
    uint64_t granule_pa; /* Tag accesses: translation of the lowest address the tags cover */
    uint32_t bytes;
    uint32_t granule;            /* Tag accesses: bytes that the tags cover; 0 means 16 */
    uint32_t facts;              /* SPE_FACT_* */
    uint16_t source;             /* data source: SOURCE, or an index into data_source_map */
    bool has_source;             /* false: not known; loads and atomics then have source 0 */
    bool store;                  /* this access writes */
    bool untranslated;           /* not translated: pa is not valid */
    bool unperformed;            /* the access was not performed */
    bool inactive;               /* SVE, SME: of an Inactive element */
    bool external_abort;         /* it ended with an External abort */
    bool tbi;                    /* the applicable TBI bit is 1 */
    bool mte_untagged_addresses; /* the context uses Memory Tagging with Address tagging disabled */
    bool tag_checked;            /* Tag Checked access */
    bool tcf_ignored;            /* Tag Check Faults are ignored (SCTLR_ELx.TCF) */
    bool canonical_tag;          /* the location is Canonically Tagged */
    uint8_t pat;                 /* Physical Address Tag, 0 to 15 */
    uint8_t pas;                 /* physical address space: enum spe_security */
    uint32_t wait_start, translated_at, done_at; /* wait for the MMU, access, end */
};

/* An IMPLEMENTATION DEFINED address or counter. */
struct spe_extra {
    uint8_t type;  /* SPE_PACKET_ADDRESS or SPE_PACKET_COUNTER */
    uint8_t index; /* 6, 7, 16-31 */
    uint64_t value;
};

/*
 * A sampled operation (instruction or micro-operation), which the host describes when it has
 * finished. Call spe_operation_init and fill in the fields that apply; zeros describe a plain,
 * unconditional, retired operation. The unit captured the EL and Security state when it selected
 * the operation.
 */
struct spe_operation {
    size_t size;  /* written by spe_operation_init */
    uint8_t kind; /* enum spe_operation_kind */
    uint64_t pc;

    /* How it ended (D17.6, D17.6.7, D17.6.10) */
    bool exception;         /* it generated a synchronous exception */
    bool fault_condition;   /* an exception condition without an exception: D17.6-195 */
    bool misspeculated;     /* did not retire: it was on a misspeculated path */
    bool nonarch;           /* belongs to no architectural instruction */
    bool nonarch_exception; /* it generated a non-architectural exception */
    bool unfinished_mops;   /* MEMCPY, MEMSET: started, interrupted before its end */
    bool unmodelled; /* latency and caches are not known: the record has no counters and no data
                        source, and of `accesses` only the addresses */

    /* Branches: BRANCH, ERET, ISB with isb_is_branch */
    bool taken, conditional, indirect, link, procedure_return, mispredicted;
    bool gcs_access;     /* it made a Guarded Control Stack access: accesses[0] */
    bool illegal_return; /* ERET: the SPSR was illegal */
    uint64_t target;
    uint8_t target_el, target_security; /* at the target */
    uint8_t spsr_el, spsr_security;     /* illegal_return: from the SPSR */

    /* Conditions (D17.6.5) */
    uint8_t cond_op;       /* OTHER: 0, or 1 + bit number of SPE_COND_* */
    bool condition_failed; /* of a conditional operation or branch with a condition */

    /* Loads, stores, atomics */
    uint8_t registers;  /* enum spe_operation_registers */
    bool returns_value; /* ATOMIC: to a register; GCS: a swap that returns a value */
    bool acquire_release, exclusive, exclusive_failed;
    bool st64bv;             /* ST64BV, ST64BV0 */
    bool address_generation; /* micro-operation that only generates the address: treated as other */
    bool contiguous;         /* several accesses: architecturally contiguous */
    const struct spe_memory_access *accesses; /* valid during the call */
    uint32_t access_count;

    /* Vectors (D17.6.6), Advanced SIMD and floating-point */
    bool floating_point, advanced_simd;
    bool predicated;        /* Sampled predicated operation */
    bool zeroing;           /* predicated load: with zeroing predication */
    bool predicate_operand; /* has a predicate register as input or output */
    bool predicate_only;    /* reads or writes only predicates: predicate_bits */
    bool predicate_as_counter;
    bool gather_scatter;
    bool advsimd_equivalent; /* an Advanced SIMD operation does the same */
    bool uses_zt, multi_vector;
    bool whole_za;          /* works on the whole ZA array at once */
    bool masked_zero;       /* ZERO (tiles) whose mask does not cover the whole array */
    bool partial_predicate; /* some element of the Governing predicate(s) is FALSE */
    bool empty_predicate;   /* all elements are FALSE */
    bool streaming;         /* in Streaming SVE mode */
    bool smcu;              /* ran on a Streaming Mode Compute Unit or coprocessor */
    bool asynchronous;      /* ran in another clock domain: set alt_issue_cycles */
    uint32_t vl_bits;       /* effective vector length */
    uint32_t vector_bits;   /* elements * element size of the output operand; 0 means vl_bits */
    uint32_t vectors;       /* number of vectors; 0 means 1 */
    uint32_t predicate_bits;
    uint32_t tile_bits; /* SME_TILE: of the tile or tiles */

    /* Time in cycles. Total latency = issue + execute, depending on sample_stage and other options.
     */
    uint32_t decode_cycles;  /* decoded to dispatched */
    uint32_t issue_cycles;   /* dispatched to issued */
    uint32_t execute_cycles; /* issued to finished */
    uint32_t commit_cycles;  /* finished to committed */
    uint32_t sleep_cycles;   /* WFX: in low-power state, after execute_cycles */
    uint32_t result_cycles;  /* st64bv: finished to status returned */
    uint32_t alt_issue_cycles;

    uint64_t impdef_events;
    const struct spe_extra *extras; /* valid during the call */
    uint32_t extra_count;
};

static inline void spe_operation_init(struct spe_operation *op, enum spe_operation_kind kind)
{
    memset(op, 0, sizeof(*op));
    op->size = sizeof(*op);
    op->kind = (uint8_t)kind;
}

enum spe_sample_fate {
    SPE_FATE_WRITTEN,      /* the whole record is in the buffer */
    SPE_FATE_FILTERED,     /* a filter rejected it: D17.5 */
    SPE_FATE_NOT_CAPTURED, /* capture_misspec, capture_nonarch or capture_nonarch_exc is 0 */
    SPE_FATE_DISCARD_MODE, /* PMBLIMITR_EL1.FM */
    SPE_FATE_STOPPED,      /* a PMBSR_ELx.S had already stopped profiling */
    SPE_FATE_DISABLED,     /* the buffer was disabled since the operation was selected */
    SPE_FATE_FAULT,        /* a fault on the write; part of the record may be in memory */
    SPE_FATE_ABORT,        /* an External abort that was reported to the unit */
    SPE_FATE_NOT_ALLOWED,  /* D17.8.5 */
    SPE_FATE_COUNT
};

#define SPE_FATE_ROOM 16 /* size of tables by fate, with room for more */

SPE_API const char *spe_sample_fate_name(unsigned fate); /* "written" ...; never NULL */

/* Finish the sampled operation in flight with this number: filter it, build the record, write it to
 * the buffer. Returns its fate; SPE_ERR_INVALID if the number does not exist, or if the description
 * is inconsistent (then the sample is dropped). */
SPE_API int spe_spu_complete(struct spe_spu *spu, unsigned number, const struct spe_operation *op);

/* The same for the oldest sample in flight, for hosts with one sample at a time. */
SPE_API int spe_spu_sample(struct spe_spu *spu, const struct spe_operation *op);

SPE_API unsigned spe_spu_in_flight(const struct spe_spu *spu);

/* A branch that was taken and retired, needed for FEAT_SPE_PBT only. It is enough to report the
 * latest branch before each sampled operation and before each change of registers or PE state. */
struct spe_taken_branch {
    uint64_t target;
    uint8_t el, security; /* at the target */
    bool context_sync;    /* it was a Context synchronization operation, exception-generating
                             instruction or exception return (or ISB) */
};
SPE_API void spe_spu_branch(struct spe_spu *spu, const struct spe_taken_branch *branch);

/* ---- Synchronization, exception, interrupt -------------------------------------------------- */

/* Execute PSB CSYNC in the PE's current state: TRAP (FEAT_SPEv1p5), NOP or DONE. A fault that waits
 * for fault_late_samples is recorded first. */
SPE_API void spe_spu_psb_csync(struct spe_spu *spu, struct spe_register_access *access);

/* A Context synchronization event (ISB, exception entry or return ...) or a taken exception. */
SPE_API void spe_spu_context_sync(struct spe_spu *spu);

enum spe_masking {                    /* a cell of Tables D17-8 to D17-10 */
                   SPE_MASK_DISABLED, /* None: the S bit is ignored */
                   SPE_MASK_UNMASKED, /* ELx: will be taken */
                   SPE_MASK_BY_PM,    /* B: masked by PSTATE.PM, pending */
                   SPE_MASK_ALWAYS,   /* C: masked regardless of PSTATE.PM, pending */
};

struct spe_exception {
    uint8_t masking; /* enum spe_masking; DISABLED: not pending */
    uint8_t source;  /* x of PMBSR_ELx */
    uint8_t target_el;
    bool synchronized; /* RNXPMV: taken before the next instruction completes */
    uint32_t within;   /* it is taken within this many instructions after it became pending and
                          unmasked: 0 if synchronized, else spe_exc_delay */
    uint32_t syndrome; /* ESR_ELx: EC 0x3d, IL, ISS */
};

/* The SPE Profiling exception that would be taken now, else the first masked one. Always DISABLED
 * without FEAT_SPE_EXC. */
SPE_API void spe_spu_exception(const struct spe_spu *spu, struct spe_exception *exception);
/* The same for one PMBSR_ELx alone, as if the S bits of the others were 0. x: 1 to 3. */
SPE_API void spe_spu_exception_of(const struct spe_spu *spu, unsigned x,
                                  struct spe_exception *exception);

SPE_API bool spe_spu_interrupt(const struct spe_spu *spu); /* PMBIRQ */
SPE_API bool
spe_spu_interrupt_enabled(const struct spe_spu *spu); /* PMBIRQ is driven from PMBSR_EL1.S */

/* An External abort on an earlier write arrives (ext_abort_sync "async", D17.8.4.4). Returns 1 if
 * it is a new event, 0 if not: it is ignored, becomes an SError, S was 1 already, or Discard mode
 * is on. SPE_ERR_INVALID if it is not an asynchronous External abort. */
SPE_API int spe_spu_external_abort(struct spe_spu *spu, const struct spe_write_result *abort);

/* D17.8.6: events for an IMPLEMENTATION DEFINED reason, EC 0x1f. They are disabled at first;
 * SPE_ERR_INVALID without impdef_buffer_event. spe_spu_impdef_event returns 1 if an event was
 * recorded, 0 if not: S was 1 already, or Discard mode is on. */
SPE_API int spe_spu_impdef_enable(struct spe_spu *spu, bool enable);
SPE_API int spe_spu_impdef_event(struct spe_spu *spu, uint16_t mss, uint32_t mss2);

/* ---- Snapshots ------------------------------------------------------------------------------ */

/*
 * Save the unit's whole state as bytes: registers, PE state, counters and generators, samples in
 * flight, the interrupts and exceptions reported to the host, statistics. Returns the number of
 * bytes, and writes them if `size` is large enough. Two units in the same state give the same
 * bytes. The configuration, the host and the contents of the Profiling Buffer are not part of it.
 */
SPE_API size_t spe_spu_save(const struct spe_spu *spu, void *bytes, size_t size);

/*
 * Restore this state in a unit with the same configuration, on any machine. No callback runs,
 * because the snapshot of the host has its own interrupt lines. SPE_ERR_FORMAT if the bytes are
 * damaged or from another version, SPE_ERR_INVALID if the configuration differs; `why` (may be
 * NULL) then has a sentence, and the unit does not change.
 */
SPE_API int spe_spu_restore(struct spe_spu *spu, const void *bytes, size_t size, char *why,
                            size_t why_size);

/* ---- Queries -------------------------------------------------------------------------------- */

enum spe_timestamp_kind { /* CollectTimeStamp() */
                          SPE_TIMESTAMP_NONE,
                          SPE_TIMESTAMP_VIRTUAL,
                          SPE_TIMESTAMP_PHYSICAL,
                          SPE_TIMESTAMP_OFFSET_PHYSICAL,
};

/* Effective and derived values at the moment (D17.2, D17.4, D17.6.9, D17.7). */
struct spe_spu_status {
    bool ns, nse;
    uint8_t security; /* {NSE,NS}: enum spe_security */
    bool secure_el2, el2_enabled, el2_in_owning_state;
    bool tge, e2h, in_host, ea, tea;
    uint8_t pmsee, ee2, ee1;
    bool nvm, envm;
    uint8_t owner_el;       /* 1 or 2 */
    uint8_t owner_security; /* enum spe_security; SPE_SECURITY_RESERVED: the buffer has no owner */
    bool stopped;           /* SPEProfilingStopped() */
    bool buffer_enabled;    /* ProfilingBufferEnabled() */
    bool enabled;           /* StatisticalProfilingEnabled() at the current EL */
    bool enabled_at[4];     /* ... at each EL */
    bool enabled_unless_stopped; /* would be enabled at the current EL if no S bit had stopped it */
    bool context1, context2, physical_address;       /* Collect...() */
    uint8_t timestamp;                               /* enum spe_timestamp_kind */
    uint64_t time_offset;                            /* to subtract from the physical count */
    bool discard;                                    /* Discard mode */
    bool freeze_first, freeze_second, freeze_cycles; /* PMU counters that are frozen */
};

/* Valid until the next call on the unit that is not a query. */
SPE_API const struct spe_spu_status *spe_spu_status(const struct spe_spu *spu);

/* The x of the PMBSR_ELx in which an event would be recorded, 1 to 3: RHJXHT, ReportSPEEvent(). */
SPE_API unsigned spe_spu_route(const struct spe_spu *spu, unsigned ec, unsigned fsc);

enum spe_sample_filter { /* D17.5 */
                         SPE_SAMPLE_FILTER_TYPE,
                         SPE_SAMPLE_FILTER_EVENTS,
                         SPE_SAMPLE_FILTER_INVERTED,
                         SPE_SAMPLE_FILTER_LATENCY,
                         SPE_SAMPLE_FILTER_SOURCE,
                         SPE_SAMPLE_FILTER_COUNT
};

#define SPE_SAMPLE_FILTER_ROOM 8 /* size of tables by filter, with room for more */

/* Counts since creation. filtered_by counts the samples that each filter rejected; several filters
 * may reject the same sample. */
struct spe_spu_stats {
    uint64_t population; /* members seen while enabled: SAMPLE_POP */
    uint64_t selected;   /* collided + sampled */
    uint64_t collisions;
    uint64_t sampled; /* samples that went in flight */
    uint64_t dropped; /* in flight at a reset, or completed with an inconsistent description */
    uint64_t fate[SPE_FATE_ROOM]; /* sampled = in flight + dropped + their sum */
    uint64_t filtered_by[SPE_SAMPLE_FILTER_ROOM];
    uint64_t records;       /* whole records in the buffer */
    uint64_t bytes_built;   /* = written + discarded */
    uint64_t bytes_written; /* bytes in memory, including partial records */
    uint64_t bytes_discarded;
    uint64_t bytes_discarded_by[SPE_FATE_ROOM];
    uint64_t management_events; /* events that set an S bit */
};

SPE_API void spe_spu_stats_sized(const struct spe_spu *spu, struct spe_spu_stats *stats,
                                 size_t size);

static inline void spe_spu_stats(const struct spe_spu *spu, struct spe_spu_stats *stats)
{
    spe_spu_stats_sized(spu, stats, sizeof(*stats));
}

#ifdef __cplusplus
}
#endif
#endif
