/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The unit's state, and what its files are to each other. Data flows down this list:
 *
 *   registers.c  D24.7    register table, access, identification, reset values
 *   state.c      D17.4    effective values, owner, enabled; D17.6.9 collection controls
 *   sampling.c   D17.3    counters, generators, selection, collisions
 *   collect*.c   D17.6    operation -> record; collect.h says which file does what
 *   filter.c     D17.5    which records are kept; PMU feed events
 *   buffer.c     D17.8    record -> memory, full test, faults
 *   event.c      D17.8    PMBSR_ELx, routing, exception, interrupt, freeze, PSB CSYNC
 *   options.c, options_text.c, config.c, preset.c   the configuration
 *   save.c                the state as bytes
 *   spu.c                 life, PE state, completion, statistics
 */
#ifndef SPECIMEN_SPU_INTERNAL_H
#define SPECIMEN_SPU_INTERNAL_H

#include <specimen/spu.h>

/* ---- Bits ----------------------------------------------------------------------------------- */

static inline uint64_t spu_bits(uint64_t value, unsigned high, unsigned low)
{
    return value >> low & (~UINT64_C(0) >> (63 - (high - low)));
}

static inline bool spu_bit(uint64_t value, unsigned bit)
{
    return value >> bit & 1;
}

/* Controls in registers of the PE: bit numbers. */
enum {
    SCR_NS = 0,
    SCR_EA = 3,
    SCR_RW = 10,
    SCR_EEL2 = 18,
    SCR_FGTEN = 27,
    SCR_ECVEN = 28,
    SCR_GPF = 48,
    SCR_FGTEN2 = 59,
    SCR_NSE = 62,
    HCR_VM = 0,
    HCR_DC = 12,
    HCR_TGE = 27,
    HCR_E2H = 34,
    HCR_TEA = 37,
    HCR_NV = 42,
    HCR_NV1 = 43,
    HCR_NV2 = 45,
    HCR_GPF = 48,
    MDCR3_NSPBE = 11,
    MDCR3_NSPB = 12, /* two bits */
    MDCR3_ENPMSN = 36,
    MDCR3_ENPMS3 = 42,
    MDCR3_PMSEE = 51, /* two bits */
    MDCR3_ENPMS4 = 55,
    MDCR2_E2PB = 12, /* two bits */
    MDCR2_TPMS = 14,
    MDCR2_HPMFZS = 36,
    CNTHCTL_ECV = 12,
    PMCR_FZS = 32,
    HFGITR_PSBCSYNC = 63,
};

/* Fields of the unit's own registers that rules read: bit numbers (D24.7). */
enum {
    PMSCR_E0SPE = 0, /* E0HSPE in PMSCR_EL2 */
    PMSCR_E1SPE = 1, /* E2SPE in PMSCR_EL2 */
    PMSCR_CX = 3,
    PMSCR_PA = 4,
    PMSCR_TS = 5,
    PMSCR_PCT = 6, /* two bits */
    PMSCR_EE = 8,  /* two bits */
    PMSCR_KE = 10,
    PMSCR_ENVM = 11,
    PMBLIMITR_E = 0,
    PMBLIMITR_FM = 1, /* two bits */
    PMBLIMITR_PMFZ = 5,
    PMBLIMITR_NVM = 7,
    PMBSR_MSS = 0, /* sixteen bits; BSC and FSC are its low six */
    PMBSR_COLL = 16,
    PMBSR_S = 17,
    PMBSR_EA = 18,
    PMBSR_DL = 19,
    PMBSR_EC = 26,   /* six bits */
    PMBSR_MSS2 = 32, /* 24 bits */
};

enum { /* PMBSR_ELx.EC */
       EC_OTHER = 0x00,
       EC_GPC = 0x1e,
       EC_IMPDEF = 0x1f,
       EC_STAGE1 = 0x24,
       EC_STAGE2 = 0x25,
};

enum { /* PMBSR_ELx.BSC */
       BSC_NOT_ALLOWED = 0,
       BSC_FULL = 1,
};

enum { FM_FILL = 0, FM_DISCARD = 2 };

/* INDEXes of addresses and counters alike that are IMPLEMENTATION DEFINED: 6, 7, 16-31. */
#define SPU_INDEXES_IMPDEF UINT32_C(0xffff00c0)

/* Events of caches and other sockets, which a store may finish before: 2 3 8-10 19-23
 * (D18.2-072). */
#define SPU_STORE_EVENTS UINT32_C(0x00f8070c)

/* ---- Parts ---------------------------------------------------------------------------------- */

/* A small generator, one of the rng_kinds. Never in a state in which it is stuck (D17.3-013). */
struct spu_rng {
    uint64_t state;
    uint8_t kind; /* SPE_RNG_LFSR or SPE_RNG_XORSHIFT */
};

/* The sample interval counters and what selection remembers between operations (D17.3). COUNT,
 * ECOUNT and skid are `ran` members behind: the batch path only adds to it. */
struct spu_sampling {
    uint64_t budget; /* members that can still run before one has to be looked at */
    uint64_t ran;    /* members that have run since the fields below were brought up to date */
    uint32_t count;  /* PMSICR_EL1.COUNT */
    uint8_t ecount;  /* PMSICR_EL1.ECOUNT, 0 without FEAT_SPE_ERnd */
    bool ecount_due; /* ecount_select "next": ECOUNT is zero, the next member is selected */
    bool ecount_on;  /* ECOUNT counts: PMSIRR_EL1.RND was set at the last spu_sampling_update */
    bool loaded;     /* COUNT was loaded when profiling was enabled: the next member is not counted,
                        as the pseudocode would load it only there */
    uint8_t skid;    /* sample_pick: the member that many further on is taken; 0: none waits */
    bool enabled;    /* whether members counted as of the last spu_sampling_update */
};

/* What is known of the last taken and retired branch (D17.6.3.1). */
struct spu_last_branch {
    struct spe_taken_branch branch;
    bool valid;     /* there was one, and it ran while profiling was enabled */
    bool since_cse; /* a branch has retired since the last Context synchronization event */
};

/* A sampled operation in flight: what was taken when it was selected. */
struct spu_flight {
    bool busy;
    uint64_t order; /* which is the oldest */
    uint8_t el, security;
    bool context1, context2, physical_address;
    bool nv2_address;  /* profiling is enabled at EL2: the VA of an NV2 access may be recorded */
    uint8_t timestamp; /* enum spe_timestamp_kind; NONE also if ts_counter_disabled says so */
    bool time_unknown; /* the system counter is disabled: ts_counter_disabled "unknown_value" */
    uint32_t contextidr_el1, contextidr_el2;
    uint64_t time_offset, start_count;
    struct spu_last_branch last;
};

/* Type flags of an operation for the type filter, in PMSFCR_EL1.TYPE order (D17.5). */
enum {
    SPU_TYPE_B = 1u << 0,
    SPU_TYPE_LD = 1u << 1,
    SPU_TYPE_ST = 1u << 2,
    SPU_TYPE_FP = 1u << 3,
    SPU_TYPE_SIMD = 1u << 4,
};

/* A collected sample: the record, and what the filters look at. */
struct spu_sample {
    struct spe_record record;
    uint64_t events; /* all of E[63:0], before the payload size cuts it */
    uint8_t types;   /* SPU_TYPE_* */
    bool captured;   /* false: the capture_ options keep it out of the buffer */
    bool has_source; /* a load or value-returning atomic with a valid data source */
    uint16_t source;
    uint16_t total; /* total latency, clipped to the counter's size */
};

/* RNXPMV for one PMBSR_ELx: A has been seen, and B after it. */
struct spu_sync {
    bool observed;     /* A: read S=1, wrote S=1, or PSB CSYNC over an event that set S */
    bool synchronized; /* B: a Context synchronization event since */
    bool by_unit;      /* the unit set S since the last PSB CSYNC: what that one would observe */
};

/* fault_late_samples: a fault whose event is not recorded yet. */
struct spu_late {
    uint32_t left; /* samples that are still taken, and lost; 0: there is no such fault */
    uint8_t x;     /* of the PMBSR_ELx that it goes to */
    bool mid_record;
    struct spe_write_result fault;
};

/* A payload of a record: where it is in the bytes, and where in struct spe_record. Size 0: none. */
struct spu_patch {
    uint16_t from;
    uint8_t to, size;
    bool counter;
};

#define SPU_SHAPES 8
#define SPU_SHAPE_BYTES 128
#define SPU_SHAPE_PATCHES 24

/* Records that hold the same packets differ in their payloads only: buffer.c keeps the bytes of the
 * last one of each shape, and encodes the next by storing payloads. */
struct spu_shape {
    uint32_t has, addresses, counters;
    uint8_t op_class, events_size; /* bytes of the Events payload */
    uint8_t size;                  /* of the record; 0: not in use */
    uint8_t patches;
    struct spu_patch patch[SPU_SHAPE_PATCHES + 1]; /* large payloads first; behind them size 0 */
    uint8_t bytes[SPU_SHAPE_BYTES];
};

struct spe_spu {
    struct spe_spu_config config;
    struct spe_spu_host host;
    struct spe_pe_state pe;
    uint64_t reg[SPE_REG_COUNT]; /* PMSICR_EL1 and RNG live in sampling and rng; ID ones unused */

    struct spe_spu_status status; /* derived: spu_state_update */
    struct spe_layout layout;     /* the configuration's, with its sizes; spu.c at creation */
    uint64_t implemented_events;  /* spu_config_events */
    uint64_t filterable_events;   /* spu_config_filterable */
    unsigned excluded_population; /* SPE_POP_*: flags that keep an operation out */

    struct spu_sampling sampling;
    struct spu_rng rng;    /* PMSIRR_EL1.RND */
    struct spu_rng choice; /* every other random choice: never disturbs the samples */
    uint32_t round_robin;  /* part_choice */
    struct spu_last_branch last;

    unsigned in_flight;
    uint64_t next_order;

    uint64_t record_start; /* PMBPTR_EL1 at the start of the record being written */
    uint64_t prepared;     /* speculative_dirty: the page that was last prepared */
    struct spu_late late;
    bool impdef_enabled;

    struct spu_sync sync[4];   /* by x of PMBSR_ELx, 1 to 3 */
    bool irq;                  /* what the host was last told */
    struct spe_exception told; /* likewise */

    struct spe_spu_stats stats;
    struct spu_sample scratch; /* the sample being completed */
    struct spu_shape shape[SPU_SHAPES];
    uint8_t next_shape;     /* to be replaced */
    uint8_t usual_shape[4]; /* by CLASS: that of the last record */
    uint8_t bytes[SPE_RECORD_MAX];
    struct spu_flight flight[]; /* config.max_inflight_samples */
};

static inline bool spu_has(const struct spe_spu *spu, enum spe_feature f)
{
    return spe_has(spu->config.features, f);
}

/* ---- config.c ------------------------------------------------------------------------------- */

/* Events that records of this implementation may have set: architected, optional and IMPDEF. */
uint64_t spu_config_events(const struct spe_spu_config *config);

/* Events that PMSEVFR_EL1 and PMSNEVFR_EL1 can filter on; their other bits are RAZ/WI. */
uint64_t spu_config_filterable(const struct spe_spu_config *config);

/* The layout that the unit encodes with: the configuration's with its sizes put in. */
void spu_config_layout(const struct spe_spu_config *config, struct spe_layout *layout);

/* Set every option to its default, and force those that the features leave no choice for. */
void spu_options_default(struct spe_spu_config *config);
int spu_option_set(struct spe_spu_config *config, const char *name, const char *value, char *why,
                   size_t why_size);
int spu_option_get(const struct spe_spu_config *config, const char *name, char *out,
                   size_t out_size);
int spu_config_preset(struct spe_spu_config *config, const char *preset);
void spu_config_features(struct spe_spu_config *config, spe_features features);
int spu_config_validate(const struct spe_spu_config *config, char *why, size_t why_size);
int spu_config_take(struct spe_spu_config *own, const struct spe_spu_config *config, char *why,
                    size_t why_size);
void spu_options_settle(struct spe_spu_config *config);

/* Write a sentence to `why` if there is room; returns SPE_ERR_INVALID. */
int spu_refuse(char *why, size_t why_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- save.c --------------------------------------------------------------------------------- */

/* What stands in the last 8 bytes of a state, of those before them. */
uint64_t spu_save_checksum(const uint8_t *bytes, size_t size);

/* ---- state.c -------------------------------------------------------------------------------- */

/* Compute *status from configuration, PE state and registers. Pure: same inputs, same answer. */
void spu_derive(const struct spe_spu_config *config, const struct spe_pe_state *pe,
                const uint64_t *reg, struct spe_spu_status *status);

/* After any change of PE state or registers: derive, then let sampling.c see an edge of `enabled`
 * and event.c the levels that follow. Every function that changes spu->pe or spu->reg ends in it.
 */
void spu_state_update(struct spe_spu *spu);

/* ---- sampling.c ----------------------------------------------------------------------------- */

/* Put the generators in a useable state from the seed and forget counters and skid (reset). */
void spu_sampling_reset(struct spe_spu *spu);

/* Called by spu_state_update: on disabled -> enabled, load the counters if PMSICR_EL1 is zero
 * (D17.3.3; where the pseudocode loads on the next operation the result is the same). */
void spu_sampling_update(struct spe_spu *spu);

void spu_sampling_settle(struct spu_sampling *s);            /* take what ran into the counters */
uint64_t spu_sampling_get(const struct spe_spu *spu);        /* PMSICR_EL1 */
void spu_sampling_set(struct spe_spu *spu, uint64_t pmsicr); /* written by software */
uint8_t spu_random_byte(struct spe_spu *spu);                /* PMSIRR_EL1.RND; may ask the host */
uint32_t spu_choose(struct spe_spu *spu, uint32_t n);        /* 0 to n-1, evenly; choice rng */
uint64_t spu_choice_bits(struct spe_spu *spu);               /* 64 bits for UNKNOWN values */

/* ---- collect.c ------------------------------------------------------------------------------ */

/* An operation is selected and a slot is free: take context, time and permissions (D17.6.9). */
void spu_flight_begin(struct spe_spu *spu, struct spu_flight *flight);

/* The operation has finished: build *sample. SPE_ERR_INVALID if op contradicts itself. */
int spu_collect(struct spe_spu *spu, const struct spu_flight *flight,
                const struct spe_operation *op, struct spu_sample *sample);

/* ---- filter.c ------------------------------------------------------------------------------- */

/* Bit f set: enum spe_sample_filter f rejects the sample, with its enable. Zero: it is kept. */
unsigned spu_filter(const struct spe_spu *spu, const struct spu_sample *sample);

/* SAMPLE_FEED and the FEED_x events, which ignore the filters' enables. */
void spu_filter_feed(struct spe_spu *spu, const struct spu_sample *sample);

/* The direction that MEMCPY and GCSSS2 take under the type filter: SPU_TYPE_LD, SPU_TYPE_ST, or
 * both when either may be sampled (D17.6.4.3, D17.6.4.5, U04). */
unsigned spu_filter_directions(const struct spe_spu *spu);

/* ---- buffer.c ------------------------------------------------------------------------------- */

/* Encode the sample's record and write it at PMBPTR_EL1, with everything that follows: faults,
 * aborts, the full test. Counts bytes and returns the fate. */
enum spe_sample_fate spu_buffer_write(struct spe_spu *spu, const struct spe_record *record);

/* First byte past the buffer: PMBLIMITR_EL1.LIMIT. */
uint64_t spu_buffer_limit(const struct spe_spu *spu);

/* ---- event.c -------------------------------------------------------------------------------- */

/* RHJXHT: x of the PMBSR_ELx for an event, at the controls of now: ReportSPEEvent(). */
unsigned spu_route(const struct spe_spu *spu, unsigned ec, unsigned fsc);

/* EC and FSC of a fault; the stage is 1 if the result says 0. */
unsigned spu_fault_ec(const struct spe_write_result *fault);
unsigned spu_fault_fsc(const struct spe_write_result *fault, bool async);

/* Record a fault at PMBPTR_EL1 (already the faulting address): D17.8.3. mid_record: it is not the
 * first byte after the last complete record. Returns whether S was set by it, which
 * fault_late_samples puts off. */
bool spu_event_fault(struct spe_spu *spu, const struct spe_write_result *fault, bool mid_record);

/* The last of fault_late_samples was taken, or none can come any more: record the fault. */
void spu_event_late_end(struct spe_spu *spu);

/* Record an External abort that is reported to the unit: D17.8.4.4. */
bool spu_event_abort(struct spe_spu *spu, const struct spe_write_result *abort, bool async,
                     bool mid_record);

/* Record an "other" event: BSC_FULL (also SAMPLE_BUFFER_FULL) or BSC_NOT_ALLOWED (DL=1). */
bool spu_event_other(struct spe_spu *spu, unsigned bsc);

/* COLL by the "other event" route and the PMU event; nothing else changes (D17.3.7). */
void spu_event_collision(struct spe_spu *spu);

/* Direct reads and writes of a PMBSR_ELx, for RNXPMV. Called by registers.c. */
void spu_event_observed(struct spe_spu *spu, unsigned x);

/* Called by spu_state_update: PMBIRQ edges, the exception notice, the freeze flags of status. */
void spu_event_update(struct spe_spu *spu);

/* Count a PMU event, if anybody listens. */
static inline void spu_pmu(struct spe_spu *spu, unsigned event, uint64_t count)
{
    if (spu->host.pmu_event)
        spu->host.pmu_event(spu->host.user, event, count);
}

/* ---- registers.c ---------------------------------------------------------------------------- */

/* Reset values of every register (D24.7). */
void spu_registers_reset(struct spe_spu *spu);

/* The bits of a register that hold state under the configuration. */
uint64_t spu_register_mask(const struct spe_spu *spu, enum spe_register reg);

#endif
