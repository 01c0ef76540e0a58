/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Questions over the sample table: what was executed, where loads were served and how long it
 * took, and which functions, lines, branches and data it was.
 *
 *     spe_analysis_create(&analysis, &config);
 *     while ((result = spe_profile_next(profile, &rows)) > 0)
 *         spe_analysis_add(analysis, profile, &rows);
 *     spe_analysis_finish(analysis, profile);
 *     n = spe_analysis_groups(analysis, SPE_BY_FUNCTION, SPE_SORT_LATENCY, top, 20);
 *
 * One pass, in memory that is bounded by the number of symbols and lines, not of samples. The same
 * rows in the same order give the same answers; so do analyses of parts that are merged, but for
 * hot data and branches of more places than memory is spent on, which come with their error.
 *
 * Groups may overlap (a sample can miss in the L1 cache and in the TLB): nothing here adds them up,
 * and nobody should. Where counts are disjoint, it is said.
 */
#ifndef SPECIMEN_ANALYSIS_H
#define SPECIMEN_ANALYSIS_H

#include "profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Statistics ----------------------------------------------------------------------------- */

struct spe_interval {
    double low, high;
};

/* The 95 % confidence interval of hits/samples: Wilson's score interval, that is
 *     (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
 * with z = 1.96. From 0 to 1 if there are no samples. It takes samples as independent, which they
 * are if the sampling period is jittered. */
SPE_API struct spe_interval spe_interval_of_share(uint64_t hits, uint64_t samples);

/* Exact: the counters have at most 16 bits, and every value is counted. */
struct spe_latency_summary {
    uint64_t samples, sum; /* those that have the counter; cycles */
    double mean;
    uint16_t median, p95, p99, max; /* nearest rank: the least value that 50 %, 95 % ... do not
                                       exceed */
    uint64_t saturated;             /* samples at or above saturated_at */
    uint16_t saturated_at;          /* this value means "or more"; 0: not known */
};

/* Columns of the rows that are not read: spe_profile_options.omit. Only groupings by CPU
 * read cpu, and those by comm read comm, which is among these. */
#define SPE_ANALYSIS_OMIT                                                                          \
    (SPE_OMIT_OFFSET | SPE_OMIT_TIMESTAMP | SPE_OMIT_TARGET | SPE_OMIT_PA |                        \
     SPE_OMIT_PREVIOUS_TARGET | SPE_OMIT_LATENCIES | SPE_OMIT_SOURCE | SPE_OMIT_CONTEXTS |         \
     SPE_OMIT_COMM | SPE_OMIT_TID)

/* ---- Asking --------------------------------------------------------------------------------- */

enum spe_group_by {
    SPE_BY_FUNCTION,
    SPE_BY_LINE,
    SPE_BY_FUNCTION_LINE, /* a line of a header that is in several functions is several groups */
    SPE_BY_DSO,
    SPE_BY_THREAD,
    SPE_BY_CPU,
    SPE_BY_PROCESS,
    SPE_BY_COMM, /* the name that the thread had at that time */
    SPE_BY_PC,
    /* Pairs: each function, line or dso, and who or what ran it. The rows need symbols and lines
     * (SPE_WANT_SYMBOL, SPE_WANT_LINE). */
    SPE_BY_FUNCTION_THREAD,
    SPE_BY_FUNCTION_PROCESS,
    SPE_BY_FUNCTION_COMM,
    SPE_BY_FUNCTION_CPU,
    SPE_BY_LINE_THREAD,
    SPE_BY_LINE_PROCESS,
    SPE_BY_LINE_COMM,
    SPE_BY_LINE_CPU,
    SPE_BY_DSO_THREAD,
    SPE_BY_DSO_PROCESS,
    SPE_BY_DSO_COMM,
    SPE_BY_DSO_CPU,
    SPE_BY_COUNT
};

/* What a grouping says of the code (function, line, dso, pc ...) and of who ran it (thread,
 * process, comm, CPU): SPE_BY_COUNT if nothing. */
SPE_API enum spe_group_by spe_group_by_code(enum spe_group_by by);
SPE_API enum spe_group_by spe_group_by_task(enum spe_group_by by);

struct spe_analysis_config {
    size_t size;           /* sizeof(struct spe_analysis_config) */
    unsigned by;           /* bit n: groups by enum spe_group_by n are wanted */
    bool data;             /* hot data is wanted */
    unsigned data_shift;   /* of 2^n bytes each: 6 lines, 12 pages; 0: 6 */
    size_t data_slots;     /* places in memory for it, a power of two from 16; 0: 8192 */
    size_t pc_slots;       /* likewise for distinct pcs before they are summed up; 0: 524288 */
    uint16_t saturated_at; /* of the latency counters, see above */
};

struct spe_analysis;

/* SPE_OK, SPE_ERR_NOMEM, or SPE_ERR_INVALID if a size is no power of two. */
SPE_API int spe_analysis_create(struct spe_analysis **analysis,
                                const struct spe_analysis_config *config);
SPE_API void spe_analysis_destroy(struct spe_analysis *analysis); /* NULL is fine */

/* SPE_OK or SPE_ERR_NOMEM. Functions, where the rows have no symbols, and lines are looked up here,
 * once for each pc. The profile may be NULL if neither these nor DSOs are wanted. */
SPE_API int spe_analysis_add(struct spe_analysis *analysis, struct spe_profile *profile,
                             const struct spe_rows *rows);

/* Add what another analysis of the same profile and configuration has seen. Before finish. */
SPE_API int spe_analysis_merge(struct spe_analysis *analysis, const struct spe_analysis *from,
                               struct spe_profile *profile);

/* After the last row, before the questions. */
SPE_API int spe_analysis_finish(struct spe_analysis *analysis, struct spe_profile *profile);

/* ---- Answers -------------------------------------------------------------------------------- */

/* What is counted for each group. l1_misses, llc_misses and tlb_walks are of memory operations;
 * mispredicted is of branches. */
struct spe_counts {
    uint64_t samples;
    uint64_t latency; /* sum of total latencies, cycles */
    uint64_t memory;  /* loads and stores */
    uint64_t branches;
    uint64_t l1_misses, llc_misses, tlb_walks;
    uint64_t mispredicted;
};

SPE_API void spe_analysis_totals(const struct spe_analysis *analysis, struct spe_counts *totals);

/* Samples with each event; they overlap. */
SPE_API void spe_analysis_events(const struct spe_analysis *analysis, uint64_t samples[64]);

/* The operation mix: the classes, disjoint, and behind each class its kinds, disjoint too. */
struct spe_mix {
    const char *name; /* "loads", "general-purpose" ... */
    bool is_class;    /* else a kind of the class before it */
    uint64_t samples;
    uint64_t latency_samples, latency; /* those with a total latency, and its sum */
};

#define SPE_MIX_MAX 48

/* Rows that have samples; at most SPE_MIX_MAX. */
SPE_API size_t spe_analysis_mix(const struct spe_analysis *analysis,
                                struct spe_mix mix[SPE_MIX_MAX]);

/*
 * Where loads were served: every load is in one row. By its data source, if the record has one and
 * the CPU's table knows it; else by what its events say; else it is not known, and nothing is
 * guessed: a missing Data Source packet is no L1 hit.
 */
enum spe_served {
    /* by data source: enum spe_source_level, from SPE_LEVEL_L1 on */
    SPE_SERVED_L1_HIT = SPE_LEVEL_COUNT, /* by events, from here on */
    SPE_SERVED_IN_FLIGHT,                /* L1 miss on a line that was just being fetched */
    SPE_SERVED_L2_HIT,
    SPE_SERVED_LLC_HIT,
    SPE_SERVED_REMOTE,
    SPE_SERVED_BEYOND_LLC,
    SPE_SERVED_BEYOND_L2,
    SPE_SERVED_BEYOND_L1,
    SPE_SERVED_UNKNOWN,
    SPE_SERVED_COUNT
};

SPE_API const char *spe_served_name(unsigned served); /* "L2 cache", "LLC hit" ...; never NULL */

/* For one load of this level and events. */
SPE_API enum spe_served spe_served_by(uint8_t level, uint64_t events);

struct spe_served_row {
    uint8_t served; /* enum spe_served */
    bool by_source;
    uint64_t loads;
    struct spe_latency_summary latency; /* total latency */
};

/* Rows that have loads, nearest first. */
SPE_API size_t spe_analysis_served(const struct spe_analysis *analysis,
                                   struct spe_served_row rows[SPE_SERVED_COUNT]);

struct spe_group {
    uint64_t symbol;  /* SPE_NO_SYMBOL */
    uint32_t dso;     /* SPE_NO_ID */
    uint32_t line;    /* SPE_NO_ID */
    uint32_t id;      /* of the thread, number of the CPU or process, string of the comm; else
                         SPE_NO_ID */
    uint64_t address; /* SPE_BY_PC: in the file's own addresses, of the kernel and without a file as
                         it was; else 0 */
    struct spe_counts counts;
};

enum spe_sort {
    SPE_SORT_SAMPLES,
    SPE_SORT_LATENCY,
    SPE_SORT_L1,
    SPE_SORT_LLC,
    SPE_SORT_TLB,
    SPE_SORT_MISPREDICTED,
    SPE_SORT_COUNT
};

/* The first n groups by a count, equal ones by samples, then by their ids. Returns their number.
 * Samples without a symbol (or line) are groups of their own, by DSO (or function). */
SPE_API size_t spe_analysis_groups(const struct spe_analysis *analysis, enum spe_group_by by,
                                   enum spe_sort sort, struct spe_group *top, size_t n);
SPE_API size_t spe_analysis_group_count(const struct spe_analysis *analysis, enum spe_group_by by);

struct spe_branch {
    uint64_t pc, symbol;
    uint32_t map;
    uint16_t op; /* as in rows; one of them if they differ */
    uint64_t samples, mispredicted, not_taken;
    uint64_t latency;
};

/* Branch instructions with the most mispredictions. The numbers are exact if *error is 0; else
 * each may be too small by up to *error mispredictions, and the other counts too. */
SPE_API size_t spe_analysis_branches(const struct spe_analysis *analysis, struct spe_branch *top,
                                     size_t n, uint64_t *error);

struct spe_data {
    uint64_t address; /* of the first byte */
    uint32_t pid;     /* whose; SPE_NO_TASK: the kernel's */
    uint32_t thread;  /* the first one that was seen */
    uint64_t latency;
    uint64_t error; /* by which the latency may be too small */
    uint64_t samples, loads, stores, l1_misses;
    uint64_t shared;      /* samples that another core's cache served, or that met modified data */
    bool several_threads; /* others than the first came, too */
    uint64_t hottest;     /* the byte that most of the latency is of; else one of those accessed */
};

struct spe_data_summary {
    unsigned shift;
    uint64_t latency; /* of all samples with a data address */
    uint64_t missing; /* whatever is not in the list has at most the last one's latency, or this */
};

/* Lines or pages with the highest sum of latencies. */
SPE_API size_t spe_analysis_data(const struct spe_analysis *analysis, struct spe_data *top,
                                 size_t n, struct spe_data_summary *summary);

/* ---- Edges ---------------------------------------------------------------------------------- */

/*
 * How control went through the code of one file, in the file's own addresses, whichever process ran
 * it where. Memory grows with the code that has samples, not with the samples. Operations that did
 * not retire are left out: they did not happen.
 */
enum spe_edge_kind {
    SPE_EDGE_NONE,        /* no edge: any operation at `from`, branches too; `to` is 0 */
    SPE_EDGE_JUMP,        /* an unconditional branch: jump, call or return. 0: outside the file */
    SPE_EDGE_TAKEN,       /* a conditional branch that was taken. 0: likewise */
    SPE_EDGE_NOT_TAKEN,   /* ... that was not: `to` is the next instruction, and not the target that
                             the record may have (D17.6.3: it is UNKNOWN) */
    SPE_EDGE_STRAIGHT_ON, /* from the target of the previous taken branch (FEAT_SPE_PBT) to the
                             branch, at `to`, that was taken next: nothing between them was */
};

struct spe_edge {
    uint64_t from, to;
    uint8_t kind; /* enum spe_edge_kind */
    uint64_t samples, mispredicted;
};

struct spe_edge_counts {
    uint64_t samples;
    uint64_t inside, elsewhere, kernel, no_map, not_retired; /* disjoint, together all samples */
    uint64_t branches;                                       /* those inside that are */
    uint64_t no_target;           /* ... were taken, but do not say where to: no edge */
    uint64_t taken, previous;     /* ... were taken; have a previous target, too */
    uint64_t previous_impossible; /* ... which lies behind the branch or outside: no edge */
};

struct spe_edges;

/* Of a dso: bit n of kinds asks for edges of kind n. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_edges_create(struct spe_edges **edges, uint32_t dso, unsigned kinds);
SPE_API void spe_edges_destroy(struct spe_edges *edges); /* NULL is fine */
SPE_API int spe_edges_add(struct spe_edges *edges, struct spe_profile *profile,
                          const struct spe_rows *rows);
SPE_API const struct spe_edge_counts *spe_edges_counts(const struct spe_edges *edges);
SPE_API size_t spe_edges_count(const struct spe_edges *edges);

/* All of them, spe_edges_count(), by from, kind and to. */
SPE_API void spe_edges_list(const struct spe_edges *edges, struct spe_edge *list);

/* ---- Source profiles ------------------------------------------------------------------------ */

/*
 * How often lines ran, with the functions that were inlined into others told apart by where: what
 * LLVM calls a sample profile. A line has the count of its instruction that was sampled most, so
 * that long lines do not look hotter than short ones; calls and entries have the sum. Lines of
 * sampled functions that have code, but no sample, are there with 0: a line that is not there may
 * as well have been optimised away.
 */
struct spe_source_step {
    uint32_t function; /* string: what the linker calls it */
    uint32_t offset;   /* lines from the function's declaration: of the line, or of the call of the
                          next step's function */
    uint32_t discriminator;
};

enum spe_source_kind {
    SPE_SOURCE_ENTRY, /* one step: branches to the first instruction of the function */
    SPE_SOURCE_LINE,
    SPE_SOURCE_CALL, /* branches from the line to the first instruction of `callee` */
};

struct spe_source_count {
    const struct spe_source_step *steps; /* the first is the function that is a symbol */
    uint32_t depth;
    uint32_t callee; /* string, or SPE_NO_ID */
    uint8_t kind;    /* enum spe_source_kind */
    uint64_t samples;
};

struct spe_source_profile {
    const struct spe_source_count
        *counts; /* by functions' names, entry, line; outer before inner */
    size_t count;
    uint64_t no_line; /* samples that debug information says nothing of */
};

/* Out of the dso's edges NONE and JUMP, in the order of spe_edges_list. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_source_profile_create(struct spe_source_profile **source,
                                      struct spe_profile *profile, uint32_t dso,
                                      const struct spe_edge *edges, size_t count);
SPE_API void spe_source_profile_destroy(struct spe_source_profile *source); /* NULL is fine */

/* ---- Types and objects ---------------------------------------------------------------------- */

/*
 * Which types, members and objects loads and stores accessed. What the code does not tell, the data
 * address may: that of a variable. Memory grows with the instructions, members, objects and threads
 * that have samples, not with the samples.
 */
struct spe_access_counts {
    uint64_t samples, loads, stores;
    uint64_t latency; /* sum of total latencies, cycles */
    uint64_t l1_misses, llc_misses, tlb_walks;
    uint32_t threads; /* that came here; those that nothing tells are one */
    uint32_t writers; /* of them, those that wrote */
};

struct spe_type_row {
    uint32_t type; /* spe_profile_type */
    uint64_t
        offset; /* of a member: where it is, with the first element in place of others; else 0 */
    uint32_t member; /* string, as in spe_profile_access; SPE_NO_ID: the type as a whole */
    struct spe_access_counts counts;
};

struct spe_object_row {
    struct spe_profile_object object; /* the offset is that of the first access that was seen */
    uint32_t pid;                     /* of the process; SPE_NO_TASK: of the kernel, or not known */
    struct spe_access_counts counts;
};

enum {
    SPE_TYPES_OBJECTS = 1u << 0,
    SPE_TYPES_TYPES = 1u << 1, /* and members */
};

struct spe_types;

/* want: SPE_TYPES_... SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_types_create(struct spe_types **types, unsigned want);
SPE_API void spe_types_destroy(struct spe_types *types); /* NULL is fine */
SPE_API int spe_types_add(struct spe_types *types, struct spe_profile *profile,
                          const struct spe_rows *rows);

/* All loads and stores, and those of each reason: SPE_ACCESS_KNOWN are the ones with a type. */
SPE_API void spe_types_totals(const struct spe_types *types, struct spe_access_counts *all,
                              struct spe_access_counts reasons[SPE_ACCESS_REASONS]);

/* The first n by latency, then samples, then ids; returns how many. */
SPE_API size_t spe_types_top(const struct spe_types *types, struct spe_type_row *top, size_t n);
SPE_API size_t spe_types_count(const struct spe_types *types);
SPE_API size_t spe_types_objects(const struct spe_types *types, struct spe_object_row *top,
                                 size_t n);
SPE_API size_t spe_types_object_count(const struct spe_types *types);

/* Members of a type (SPE_NO_ID: of all) that have samples, by latency as above. */
SPE_API size_t spe_types_members(const struct spe_types *types, uint32_t type,
                                 struct spe_type_row *top, size_t n);
SPE_API size_t spe_types_member_count(const struct spe_types *types, uint32_t type);

/* Members of a type that have at least a tenth of its latency each and lie on different lines: the
 * first two by latency. False: there are none. */
SPE_API bool spe_types_apart(const struct spe_types *types, uint32_t type,
                             struct spe_type_row members[2]);

/* Different threads of which one at least writes, at different members of one line (of 64 bytes, if
 * the type begins one): the first two such members, by offset. False: there are none. */
SPE_API bool spe_types_contended(const struct spe_types *types, uint32_t type,
                                 struct spe_type_row members[2]);

#ifdef __cplusplus
}
#endif
#endif
