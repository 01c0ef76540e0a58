/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Questions over the sample table: the operations, the memory that served loads, latencies, and
 * the functions, lines, branches and data with the most of them.
 *
 *     spe_analysis_create(&analysis, &config);
 *     while ((result = spe_profile_next(profile, &rows)) > 0)
 *         spe_analysis_add(analysis, profile, &rows);
 *     spe_analysis_finish(analysis, profile);
 *     n = spe_analysis_groups(analysis, SPE_BY_FUNCTION, SPE_SORT_LATENCY, top, 20);
 *
 * One pass over the rows is enough. Memory depends on the number of symbols and lines, not on the
 * number of samples. The same rows in the same order give the same answers, and so do merged
 * analyses of parts. There is one exception: if hot data or branches do not fit into the memory
 * limit, their results have an error bound.
 *
 * Groups may overlap: a sample can miss in the L1 cache and in the TLB. Do not add them up unless a
 * comment says that counts are disjoint.
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
 * with z = 1.96. From 0 to 1 if there are no samples. It assumes independent samples: record with
 * jitter. */
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
    SPE_BY_CALLER, /* the function that called the one of the sample; needs SPE_WANT_STACK and
                      _SYMBOL */
    /* Pairs of a function, line or dso with a thread, process, name or CPU. The rows need symbols
     * and lines (SPE_WANT_SYMBOL, SPE_WANT_LINE). */
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

/* The part of a grouping that is about code (function, line, dso, pc ...), and the part that is
 * about tasks (thread, process, comm, CPU). SPE_BY_COUNT if there is no such part. */
SPE_API enum spe_group_by spe_group_by_code(enum spe_group_by by);
SPE_API enum spe_group_by spe_group_by_task(enum spe_group_by by);

struct spe_analysis_config {
    size_t size;          /* written by spe_analysis_config_init */
    unsigned by;          /* bit n: groups by enum spe_group_by n are wanted */
    bool data;            /* hot data is wanted */
    unsigned data_shift;  /* of 2^n bytes each: 6 lines, 12 pages; 0: 6 */
    uint64_t data_memory; /* most bytes for it, from 8192 on; 0: 64 MB. Exact until it is used */
    size_t data_top;      /* most lines or pages that will be asked for; 0: all */
    size_t pc_slots; /* distinct pcs before they are summed up, a power of two from 16; 0: 524288 */
    bool findings;   /* are wanted: the rows should have latencies (SPE_OMIT_LATENCIES) */
    bool time;       /* how it went over time is wanted */
    uint16_t saturated_at; /* of the latency counters, see above */
    bool again;            /* rows can come twice, see spe_analysis_wants_data: the memory above is
                              then for what is looked at twice, and exact far longer. No merging */
};

/* Totals, events and loads only. */
static inline void spe_analysis_config_init(struct spe_analysis_config *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

struct spe_analysis;

/* SPE_OK, SPE_ERR_NOMEM, or SPE_ERR_INVALID if a size cannot be. */
SPE_API int spe_analysis_create(struct spe_analysis **analysis,
                                const struct spe_analysis_config *config);
SPE_API void spe_analysis_destroy(struct spe_analysis *analysis); /* NULL is fine */

/* SPE_OK or SPE_ERR_NOMEM. Functions, where the rows have no symbols, and lines are looked up here,
 * once for each pc. The profile may be NULL if neither these nor DSOs are wanted. */
SPE_API int spe_analysis_add(struct spe_analysis *analysis, struct spe_profile *profile,
                             const struct spe_rows *rows);

/* Add the counts of another analysis of the same profile and configuration. Before finish. */
SPE_API int spe_analysis_merge(struct spe_analysis *analysis, const struct spe_analysis *from,
                               struct spe_profile *profile);

/* With `again`, after the last row: 1 if spe_analysis_add_data needs all rows once more to find the
 * hottest data; 0 if the hottest data is known already, which is usual; or SPE_ERR_NOMEM. */
SPE_API int spe_analysis_wants_data(struct spe_analysis *analysis);

/* The same rows once more. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_analysis_add_data(struct spe_analysis *analysis, const struct spe_rows *rows);

/* After the last row, before the questions. */
SPE_API int spe_analysis_finish(struct spe_analysis *analysis, struct spe_profile *profile);

/* ---- Answers -------------------------------------------------------------------------------- */

/* The counts of a group. l1_misses, llc_misses and tlb_walks are of memory operations;
 * mispredicted is of branches. */
struct spe_counts {
    uint64_t samples;
    uint64_t timed;   /* those with a total latency */
    uint64_t latency; /* its sum, cycles */
    uint64_t memory;  /* loads and stores */
    uint64_t branches;
    uint64_t l1_misses, llc_misses, tlb_walks;
    uint64_t mispredicted;
};

SPE_API void spe_analysis_totals_sized(const struct spe_analysis *analysis,
                                       struct spe_counts *totals, size_t size);

static inline void spe_analysis_totals(const struct spe_analysis *analysis,
                                       struct spe_counts *totals)
{
    spe_analysis_totals_sized(analysis, totals, sizeof(*totals));
}

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
SPE_API size_t spe_analysis_mix_sized(const struct spe_analysis *analysis,
                                      struct spe_mix mix[SPE_MIX_MAX], size_t size);

static inline size_t spe_analysis_mix(const struct spe_analysis *analysis,
                                      struct spe_mix mix[SPE_MIX_MAX])
{
    return spe_analysis_mix_sized(analysis, mix, sizeof(*mix));
}

/*
 * Where loads were served: every load is in one row. By its data source, if the record has one and
 * the CPU's table knows it; else by its events; else it is not known, and nothing is
 * guessed: a missing Data Source packet is not an L1 hit.
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
SPE_API size_t spe_analysis_served_sized(const struct spe_analysis *analysis,
                                         struct spe_served_row rows[SPE_SERVED_COUNT], size_t size);

static inline size_t spe_analysis_served(const struct spe_analysis *analysis,
                                         struct spe_served_row rows[SPE_SERVED_COUNT])
{
    return spe_analysis_served_sized(analysis, rows, sizeof(*rows));
}

/* The distribution of these latencies, in bins that become wider with the latency: of one cycle
 * below 8, and from there on four for each power of two. */
#define SPE_LATENCY_BINS 60
SPE_API void spe_analysis_latencies(const struct spe_analysis *analysis, unsigned served,
                                    uint64_t samples[SPE_LATENCY_BINS]);
SPE_API uint32_t spe_latency_bin_from(unsigned bin); /* its least cycles; of the next: the end */

struct spe_group {
    uint64_t symbol;  /* SPE_NO_SYMBOL */
    uint32_t dso;     /* SPE_NO_ID */
    uint32_t line;    /* SPE_NO_ID */
    uint32_t id;      /* of the thread, number of the CPU or process, string of the comm; of a
                         caller: enum spe_caller; else SPE_NO_ID */
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
SPE_API size_t spe_analysis_groups_sized(const struct spe_analysis *analysis, enum spe_group_by by,
                                         enum spe_sort sort, struct spe_group *top, size_t n,
                                         size_t size);

static inline size_t spe_analysis_groups(const struct spe_analysis *analysis, enum spe_group_by by,
                                         enum spe_sort sort, struct spe_group *top, size_t n)
{
    return spe_analysis_groups_sized(analysis, by, sort, top, n, sizeof(*top));
}
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
SPE_API size_t spe_analysis_branches_sized(const struct spe_analysis *analysis,
                                           struct spe_branch *top, size_t n, uint64_t *error,
                                           size_t size);

static inline size_t spe_analysis_branches(const struct spe_analysis *analysis,
                                           struct spe_branch *top, size_t n, uint64_t *error)
{
    return spe_analysis_branches_sized(analysis, top, n, error, sizeof(*top));
}

struct spe_data {
    uint64_t address; /* of the first byte */
    uint32_t pid;     /* whose; SPE_NO_TASK: the kernel's */
    uint32_t thread;  /* the first one that was seen */
    uint64_t latency;
    uint64_t error; /* by which the latency may be too small */
    uint64_t samples, loads, stores, l1_misses;
    uint64_t shared;      /* samples that another core's cache served, or that met modified data */
    bool several_threads; /* not only the first */
    uint64_t hottest;     /* the byte that most of the latency is of; else one of those accessed */
};

struct spe_data_summary {
    unsigned shift;
    uint64_t latency; /* of all samples with a data address */
    uint64_t missing; /* a place outside the list has at most this, or the last row's latency */
};

/* Lines or pages with the highest sum of latencies. */
SPE_API size_t spe_analysis_data_sized(const struct spe_analysis *analysis, struct spe_data *top,
                                       size_t n, size_t size, struct spe_data_summary *summary,
                                       size_t summary_size);

static inline size_t spe_analysis_data(const struct spe_analysis *analysis, struct spe_data *top,
                                       size_t n, struct spe_data_summary *summary)
{
    return spe_analysis_data_sized(analysis, top, n, sizeof(*top), summary, sizeof(*summary));
}

/* ---- Sharing -------------------------------------------------------------------------------- */

/*
 * Cache lines that travel between cores. The first step finds the lines, the second the users of
 * their bytes, for the first lines only. If the samples do not fit into memory, the rows are read
 * twice.
 *
 *     spe_sharing_create(&sharing, &config);
 *     ... spe_sharing_find(sharing, &rows) of all rows ...
 *     if (spe_sharing_choose(sharing) > 0)
 *         ... spe_profile_rewind, spe_sharing_add(sharing, &rows) of all rows ...
 *     spe_sharing_finish(sharing);
 *     result = spe_sharing_result(sharing);
 *
 * Most rows need not be made: spe_sharing_leave_out before the first one, and then
 *
 *     ... spe_sharing_find(sharing, &rows) of all rows ...
 *     spe_sharing_left_out(sharing, spe_profile_counts(profile));
 *     if (spe_sharing_choose(sharing) > 0)
 *         ... spe_profile_only_data(profile, NULL), spe_profile_rewind, and as above ...
 *     else
 *         ... spe_sharing_look_again(sharing, profile), spe_sharing_add(sharing, &rows) of what
 *         spe_profile_next then gives ...
 */
/* The sign of a line that travelled, best first. */
enum spe_sharing_basis {
    SPE_SHARING_SOURCE,     /* a load's data source: another core, cluster or
                               socket (D18.2.4) */
    SPE_SHARING_SNOOPED,    /* a load's event "data snooped" of FEAT_SPEv1p4
                               (D18.2.6) */
    SPE_SHARING_MISSES,     /* an L1 miss, of a line that several threads use: it
                               may have */
    SPE_SHARING_BASIS_COUNT /* none of these is recorded */
};

struct spe_sharing_config {
    size_t size;                  /* sizeof(struct spe_sharing_config) */
    enum spe_sharing_basis basis; /* that is to be used */
    unsigned shift;               /* lines of 2^n bytes, 4 to 12; 0: 6 */
    size_t top;                   /* lines that are wanted */
    uint64_t memory;              /* most bytes, about, from 65536 on; 0: 64 MB */
    bool again;                   /* rows come twice anyway: no samples are kept until then */
};

/* What the CPUs of a recording have; its records may have less. */
SPE_API enum spe_sharing_basis spe_sharing_basis_of(const struct spe_profile_info *info);

/* What to try after a first pass with another basis that said nothing; SPE_SHARING_BASIS_COUNT:
 * stay with this one. "Data snooped" is optional: a recording without it says nothing. */
struct spe_sharing_result;
SPE_API enum spe_sharing_basis spe_sharing_next_basis(const struct spe_sharing_result *result,
                                                      const struct spe_profile_info *info);

enum spe_sharing_kind {
    SPE_SHARING_UNCLEAR, /* no write, or no second thread, was sampled often enough to tell */
    SPE_SHARING_TRUE,    /* several threads use the same bytes, and one writes them */
    SPE_SHARING_FALSE,   /* they use different bytes */
    SPE_SHARING_BOTH,    /* the same bytes, and others beside them */
};

/* A thread, or code, at an offset of a line. */
struct spe_shared_user {
    uint32_t thread; /* of code: SPE_NO_ID */
    uint32_t map;    /* of code: with the pc */
    uint64_t pc;
    uint64_t samples, reads, writes; /* an atomic that returns a value is both */
    uint64_t travelled, latency;
};

struct spe_shared_offset {
    uint32_t offset; /* where the accesses begin: records do not say how long they are */
    uint64_t samples, reads, writes, travelled, latency;
    uint32_t cpus;                                /* 0: not known */
    bool same_used;                               /* by several threads, of which one writes */
    const struct spe_shared_user *threads, *code; /* most accesses first */
    size_t thread_count, code_count;
};

struct spe_shared_line {
    uint64_t address;
    uint32_t pid; /* SPE_NO_TASK: the kernel's */
    enum spe_sharing_kind kind;
    uint64_t loads, stores;
    uint64_t travelled;     /* loads that others served; SPE_SHARING_MISSES: L1 misses */
    uint64_t travelled_of;  /* ... of so many: loads; SPE_SHARING_MISSES: loads and stores */
    uint64_t latency;       /* of all its samples */
    uint32_t threads, cpus; /* cpus 0: not known */
    const struct spe_shared_offset *offsets; /* ascending */
    size_t offset_count;
};

struct spe_sharing_result {
    enum spe_sharing_basis basis;
    unsigned shift;
    uint64_t samples;                    /* loads and stores with a data address */
    uint64_t loads;                      /* of them */
    uint64_t no_address;                 /* loads and stores without one */
    uint64_t said;                       /* those of which the basis can say something */
    uint64_t travelled;                  /* those that travelled */
    uint64_t latency;                    /* of all of them */
    bool several_threads;                /* more than one thread has such samples */
    uint64_t seen;                       /* lines with at least one that travelled */
    uint64_t too_few;                    /* ... with too little to call them shared */
    uint64_t not_examined;               /* ... behind those that were wanted */
    uint64_t left_out;                   /* samples for which there was no memory */
    const struct spe_shared_line *lines; /* those that are shared, most travelled first */
    size_t line_count;
};

/* With fewer samples that travelled a line is not called shared. */
#define SPE_SHARING_LEAST 5

struct spe_sharing;

/* SPE_OK, SPE_ERR_NOMEM or SPE_ERR_INVALID. */
SPE_API int spe_sharing_create(struct spe_sharing **sharing,
                               const struct spe_sharing_config *config);
SPE_API void spe_sharing_destroy(struct spe_sharing *sharing); /* NULL is fine */

/* Each returns SPE_OK or SPE_ERR_NOMEM. choose also returns 1: then add all rows. */
SPE_API int spe_sharing_find(struct spe_sharing *sharing, const struct spe_rows *rows);
SPE_API int spe_sharing_choose(struct spe_sharing *sharing);
SPE_API int spe_sharing_add(struct spe_sharing *sharing, const struct spe_rows *rows);
SPE_API int spe_sharing_finish(struct spe_sharing *sharing);

/* The profile may leave out rows that tell of no line that travelled, where sharing is based on
 * data sources. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_sharing_leave_out(const struct spe_sharing *sharing, struct spe_profile *profile);
/* After the last row: what was left out is counted. */
SPE_API void spe_sharing_left_out(struct spe_sharing *sharing,
                                  const struct spe_profile_counts *counts);
/* After choose, if that returned 0: the profile's next rows are those of the lines that were left
 * out. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_sharing_look_again(const struct spe_sharing *sharing, struct spe_profile *profile);

/* After choose: the lines that may turn out to be shared, their address and pid alone; at most n of
 * them. Returns their number. */
SPE_API size_t spe_sharing_candidates(const struct spe_sharing *sharing,
                                      struct spe_shared_line *lines, size_t n);

/* After choose: without lines. After finish: everything. It is the sharing's. */
SPE_API const struct spe_sharing_result *spe_sharing_result(const struct spe_sharing *sharing);
/* ---- Findings ------------------------------------------------------------------------------- */

/*
 * What costs most, and why, in a few words: docs/findings.md has a section for each of these, with
 * its threshold. A finding holds for the lower end of its interval too. They are asked of up to
 * 16384 samples, evenly over the recording.
 */
enum spe_finding_rule {
    SPE_FINDING_ONE_THREAD,
    SPE_FINDING_ONE_PHASE,
    SPE_FINDING_FALSE_SHARING,
    SPE_FINDING_TRUE_SHARING,
    SPE_FINDING_CONTENDED_ATOMICS,
    SPE_FINDING_DRAM,
    SPE_FINDING_L3,
    SPE_FINDING_L2,
    SPE_FINDING_BEYOND_L1, /* loads that missed, and nothing says where they were served */
    SPE_FINDING_TLB_WALKS,
    SPE_FINDING_ATOMICS,
    SPE_FINDING_STORES,
    SPE_FINDING_MISPREDICTED,
    SPE_FINDING_MISALIGNED,
    SPE_FINDING_EMPTY_PREDICATES,
    SPE_FINDING_PARTIAL_PREDICATES,
    SPE_FINDING_ISSUE_WAIT,
    SPE_FINDING_NOTHING, /* stands out */
    /* Doubts about the data. */
    SPE_FINDING_FEW_SAMPLES,
    SPE_FINDING_NO_LATENCY,
    SPE_FINDING_LOST,
    SPE_FINDING_COLLISIONS,
    SPE_FINDING_DAMAGED,
    SPE_FINDING_RESONANCE,
    SPE_FINDING_NO_THREADS,
    SPE_FINDING_NO_SYMBOLS,
    SPE_FINDING_UNKNOWN_SOURCES,
    SPE_FINDING_CONTRADICTIONS,
    SPE_FINDING_RULES
};

/* The whole that a share is a part of. */
enum spe_finding_basis {
    SPE_OF_LATENCY,
    SPE_OF_SAMPLES,
    SPE_OF_BRANCHES,
    SPE_OF_ACCESSES, /* loads and stores */
    SPE_OF_LOADS,
    SPE_OF_SVE, /* SVE operations */
    SPE_OF_BUFFERS,
    SPE_OF_BYTES,
};

struct spe_finding {
    uint8_t rule;  /* enum spe_finding_rule */
    uint8_t basis; /* enum spe_finding_basis */
    double share;
    struct spe_interval interval; /* of the share, 95 % */
    uint64_t samples;             /* that show it; buffers or bytes of SPE_OF_BUFFERS, _BYTES */
    double cycles;                /* that such a sample takes, without waiting for older ones; 0:
                                     not known, all counters were full */
    double others;                /* cycles of the samples in comparison; 0: there are none */
    double here;                  /* which part of it is in the place */

    /* The place: SPE_NO_SYMBOL, SPE_NO_ID, 0 where there is none. */
    uint64_t pc, symbol;
    uint32_t map, line;
    uint32_t thread;         /* of SPE_FINDING_ONE_THREAD, else of the data */
    uint32_t pid;            /* whose data; SPE_NO_TASK */
    uint64_t address;        /* of data */
    uint64_t from_ns, to_ns; /* of SPE_FINDING_ONE_PHASE */
    uint64_t other; /* SPE_FINDING_FALSE_SHARING: data of another thread on the line; 0: none */
};

#define SPE_FINDINGS_MAX 5

SPE_API const char *spe_finding_name(unsigned rule); /* "false-sharing" ...; never NULL */
SPE_API bool spe_finding_is_doubt(unsigned rule);

/* Ask after finish; the analysis was created with `findings`. The largest share first, doubts last.
 * Returns their number, at least 1, or SPE_ERR_NOMEM. */
SPE_API int spe_analysis_findings_sized(struct spe_analysis *analysis, struct spe_profile *profile,
                                        struct spe_finding findings[SPE_FINDINGS_MAX], size_t size);

static inline int spe_analysis_findings(struct spe_analysis *analysis, struct spe_profile *profile,
                                        struct spe_finding findings[SPE_FINDINGS_MAX])
{
    return spe_analysis_findings_sized(analysis, profile, findings, sizeof(*findings));
}

/* ---- Over time ------------------------------------------------------------------------------ */

struct spe_time_bin {
    uint64_t samples, latency;
    uint64_t loads[SPE_SERVED_COUNT]; /* by where they were served */
};

struct spe_times {
    uint64_t from_ns, bin_ns; /* the start of the first bin; how long each is */
    struct spe_time_bin *bins;
    size_t count;
};

#define SPE_TIME_BINS_MAX 1024

/* At most `most` bins from the first sample to the last, all of the same length. Samples without
 * time are in none. The analysis was created with `time`. SPE_OK or SPE_ERR_NOMEM; free the bins.
 */
SPE_API int spe_analysis_times(const struct spe_analysis *analysis, size_t most,
                               struct spe_times *times);
SPE_API void spe_times_free(struct spe_times *times);
/* spe_group.id of SPE_BY_CALLER. */
enum spe_caller {
    SPE_CALLER_FUNCTION,
    SPE_CALLER_NOBODY,  /* the stack has no caller: a thread began there */
    SPE_CALLER_UNKNOWN, /* the sample has no call stack */
};

/* ---- Call tree ------------------------------------------------------------------------------ */

/*
 * Samples by function and all its callers. A node is a function as called by the functions above
 * it; node 0 is above all. Rows need SPE_WANT_STACK and SPE_WANT_SYMBOL.
 */
struct spe_call_node {
    uint32_t caller;           /* node; of node 0: SPE_NO_ID. Less than its own number */
    uint64_t symbol;           /* SPE_NO_SYMBOL */
    uint32_t dso;              /* SPE_NO_ID */
    bool no_stack;             /* not a function: samples without a call stack are below it */
    uint64_t samples, latency; /* with those of all that it called */
    struct spe_counts self;    /* the last member: it may grow */
};

struct spe_call_tree;

/* SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_call_tree_create(struct spe_call_tree **tree);
SPE_API void spe_call_tree_destroy(struct spe_call_tree *tree); /* NULL is fine */
SPE_API int spe_call_tree_add(struct spe_call_tree *tree, struct spe_profile *profile,
                              const struct spe_rows *rows);
SPE_API void spe_call_tree_finish(struct spe_call_tree *tree);

/* Before the first row: a node is a line of a function, that of the sample or of the call. Rows
 * also need SPE_WANT_LINE. */
SPE_API void spe_call_tree_by_line(struct spe_call_tree *tree);
/* spe_profile_line of a node, or SPE_NO_ID. */
SPE_API uint32_t spe_call_tree_line(const struct spe_call_tree *tree, size_t i);

/* Before the first row: the nodes below node 0 are tasks, and all others are below one of these.
 * by: SPE_BY_COMM or SPE_BY_THREAD; else SPE_ERR_INVALID. */
SPE_API int spe_call_tree_by_task(struct spe_call_tree *tree, enum spe_group_by by);
/* False: the node is not a task. *id is that of a spe_group. */
SPE_API bool spe_call_tree_task(const struct spe_call_tree *tree, size_t i, uint32_t *id);

/*
 * After the last row and before spe_call_tree_finish: samples of functions without a call stack go
 * to the callers that stacks of another event (spe_profile_other_stack) have for the same function,
 * in proportion to the weights of these. It does nothing where the profile has none. SPE_OK or
 * SPE_ERR_NOMEM.
 */
SPE_API int spe_call_tree_share(struct spe_call_tree *tree, struct spe_profile *profile);
SPE_API size_t spe_call_tree_count(const struct spe_call_tree *tree);
SPE_API const struct spe_call_node *spe_call_tree_at(const struct spe_call_tree *tree, size_t i);

/*
 * The same for each of some threads or CPUs, which are chosen first (by spe_analysis_groups, say),
 * as are the bins (by spe_analysis_times): a second pass over the rows counts. Memory depends on
 * the lanes and bins alone.
 */
struct spe_lanes;

/* by: SPE_BY_THREAD or SPE_BY_CPU; ids as of spe_group. Ids and bins are copied. SPE_OK,
 * SPE_ERR_NOMEM or SPE_ERR_INVALID. */
SPE_API int spe_lanes_create(struct spe_lanes **lanes, enum spe_group_by by, const uint32_t *ids,
                             size_t count, const struct spe_times *times);
SPE_API void spe_lanes_destroy(struct spe_lanes *lanes); /* NULL is fine */
SPE_API void spe_lanes_add(struct spe_lanes *lanes, const struct spe_rows *rows);

/* As many bins as there were in times; lane `count` is of all others. */
SPE_API const struct spe_time_bin *spe_lanes_bins(const struct spe_lanes *lanes, size_t lane);

/*
 * The counts of list rows in each bin of time, for a view of a part of the time. Choose the list
 * rows first, with spe_analysis_groups for example. A second pass over the samples counts, by the
 * same rules as the first. Memory depends on the lists and bins alone: only the first
 * SPE_SLICE_ROWS of each list are counted.
 */
#define SPE_SLICE_ROWS 200

/* "thread" of a row of data: a thread's id and 1, or 0 of no samples, or this. */
#define SPE_SLICE_SEVERAL ((UINT64_C(1) << 32) + 1)

enum spe_slice_kind {
    SPE_SLICE_TOTAL,  /* one row */
    SPE_SLICE_SERVED, /* one row for each enum spe_served; unnamed fields: SPE_LATENCY_BINS of them
                       */
    SPE_SLICE_MIX,
    SPE_SLICE_DATA,
    SPE_SLICE_LINES,
    SPE_SLICE_BRANCHES,
    SPE_SLICE_GROUPS,
};

struct spe_slice_table {
    const char *const *names; /* of fields; all but "max" and "thread" are sums */
    size_t named, fields, rows;
    const uint64_t *cells; /* of each bin all rows, of each row all fields */
};

struct spe_slices;

/* The bins are copied. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_slices_create(struct spe_slices **slices, const struct spe_times *times);
SPE_API void spe_slices_destroy(struct spe_slices *slices); /* NULL is fine */

/* Before the first row, each list once; they are copied. SPE_OK, SPE_ERR_NOMEM, or SPE_ERR_INVALID
 * of groups that are not counted: pairs and callers. */
SPE_API int spe_slices_groups(struct spe_slices *slices, enum spe_group_by by,
                              const struct spe_group *groups, size_t count);
SPE_API int spe_slices_branches(struct spe_slices *slices, const struct spe_branch *branches,
                                size_t count);
SPE_API int spe_slices_data(struct spe_slices *slices, const struct spe_data *data, size_t count,
                            unsigned shift);
SPE_API int spe_slices_lines(struct spe_slices *slices, const struct spe_shared_line *lines,
                             size_t count, enum spe_sharing_basis basis, unsigned shift);
SPE_API int spe_slices_mix(struct spe_slices *slices, const struct spe_mix *mix, size_t count);

/* SPE_OK or SPE_ERR_NOMEM. Rows without time are in no bin. */
SPE_API int spe_slices_add(struct spe_slices *slices, struct spe_profile *profile,
                           const struct spe_rows *rows);
SPE_API void spe_slices_finish(struct spe_slices *slices);

/* `by` is of SPE_SLICE_GROUPS. False: that is not counted. The cells are the slices'. */
SPE_API bool spe_slices_table(const struct spe_slices *slices, enum spe_slice_kind kind,
                              enum spe_group_by by, struct spe_slice_table *table);

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
    uint64_t no_target;           /* ... taken, but without a target: no edge */
    uint64_t taken, previous;     /* ... taken; taken and with a previous target */
    uint64_t previous_impossible; /* ... whose previous target is behind the branch or outside: no
                                     edge */
};

struct spe_edges;

/* Of a dso: bit n of kinds asks for edges of kind n. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_edges_create(struct spe_edges **edges, uint32_t dso, unsigned kinds);
SPE_API void spe_edges_destroy(struct spe_edges *edges); /* NULL is fine */
SPE_API int spe_edges_add(struct spe_edges *edges, struct spe_profile *profile,
                          const struct spe_rows *rows);
SPE_API const struct spe_edge_counts *spe_edges_counts(const struct spe_edges *edges);
SPE_API size_t spe_edges_count(const struct spe_edges *edges);

/* All of them, spe_edges_count(), by from, kind and to. This struct does not grow. */
SPE_API void spe_edges_list(const struct spe_edges *edges, struct spe_edge *list);

/* ---- Instructions --------------------------------------------------------------------------- */

/*
 * What happened at each instruction of some functions. The functions are chosen first (by
 * spe_analysis_groups, say), or by a question about each that has samples; one pass over the rows
 * counts. Memory grows with the distinct instructions that have samples.
 */
struct spe_code_choice {
    uint64_t symbol; /* a function; SPE_NO_SYMBOL: the code without a symbol in ... */
    uint32_t dso;    /* ... this dso (SPE_NO_ID: in no map) */
};

struct spe_latency_sum {
    uint64_t samples, cycles; /* those that have the counter, and the sum of it */
};

struct spe_instruction {
    uint32_t choice;  /* number of the function in the list of choices */
    uint64_t address; /* in the file's own addresses; of the kernel and without a file: as it was */
    uint32_t map;     /* one of the maps it ran in, or SPE_NO_ID ... */
    uint64_t pc;      /* ... and where it was there */
    const char *operation; /* of its first sample: "load", "store", "branch", "other" ... */
    const char *kind;      /* ... and as in the operation mix: "general-purpose"; or NULL */
    uint64_t loads;        /* of counts.memory */
    uint64_t not_taken;    /* of counts.branches */
    struct spe_latency_sum total, issue, translation;
    struct spe_latency_sum execution;  /* total less issue and translation, where both are there */
    uint64_t served[SPE_SERVED_COUNT]; /* loads; their sum is `loads` */
    size_t first_target, target_count; /* in spe_annotation_targets */
    struct spe_counts counts;          /* the last member: it may grow */
};

/* Where a branch went when it was taken and its record says so. */
struct spe_branch_target {
    uint32_t dso;     /* or SPE_NO_ID */
    uint64_t address; /* as of instructions; without a dso: as it was */
    uint64_t symbol;  /* or SPE_NO_SYMBOL */
    uint64_t in_symbol;
    uint64_t samples, mispredicted;
};

struct spe_annotation;

/* Columns that are not read. */
#define SPE_ANNOTATION_OMIT                                                                        \
    (SPE_OMIT_OFFSET | SPE_OMIT_TIMESTAMP | SPE_OMIT_VA | SPE_OMIT_PA | SPE_OMIT_PREVIOUS_TARGET | \
     SPE_OMIT_SOURCE | SPE_OMIT_CONTEXTS | SPE_OMIT_COMM | SPE_OMIT_CPU | SPE_OMIT_TID)

/* The choices are copied. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_annotation_create(struct spe_annotation **annotation,
                                  const struct spe_code_choice *choices, size_t count);
SPE_API void spe_annotation_destroy(struct spe_annotation *annotation); /* NULL is fine */

/* Before the first row: a function outside the choices becomes one if `wanted` returns true. It is
 * called once for each pc of a map. */
typedef bool spe_annotation_wanted(void *user, struct spe_profile *profile, uint64_t symbol);
SPE_API void spe_annotation_ask(struct spe_annotation *annotation, spe_annotation_wanted *wanted,
                                void *user);

/* All choices, including those of `wanted`. */
SPE_API const struct spe_code_choice *
spe_annotation_choices(const struct spe_annotation *annotation, size_t *count);
SPE_API int spe_annotation_add(struct spe_annotation *annotation, struct spe_profile *profile,
                               const struct spe_rows *rows);

/* For speed, before the first row and after each spe_annotation_add of `rows` (at first NULL):
 * makes the profile skip rows that cannot belong to the functions (spe_profile_only), as far as
 * that is known. The rows are then of no use for other analyses. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_annotation_narrow(struct spe_annotation *annotation, struct spe_profile *profile,
                                  const struct spe_rows *rows);

/* After the last row, with spe_annotation_narrow: add the skipped rows from the profile's counts,
 * and let the profile have all rows again. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_annotation_widen(struct spe_annotation *annotation, struct spe_profile *profile);

/* After the last row: put everything in order. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_annotation_finish(struct spe_annotation *annotation);

/* Samples and latency of all rows. */
SPE_API void spe_annotation_totals(const struct spe_annotation *annotation, uint64_t *samples,
                                   uint64_t *latency);

/* Of one function, by address. Valid until the annotation is destroyed. */
SPE_API const struct spe_instruction *
spe_annotation_instructions(const struct spe_annotation *annotation, size_t choice, size_t *count);

/* All of them; those of one instruction are together, the most frequent first. */
SPE_API const struct spe_branch_target *
spe_annotation_targets(const struct spe_annotation *annotation);

/* Where a pc of a map is in the source: the innermost function that it was compiled from, of which
 * `inlined` says whether it is another one than the symbol's. False: nothing is known. function is
 * SPE_NO_ID where only the line is. */
struct spe_code_place {
    uint32_t function, file, line;
    bool inlined;
};
SPE_API bool spe_code_place(struct spe_profile *profile, uint32_t map, uint64_t pc,
                            struct spe_code_place *place);

/* The lines of a function's instructions, with their sums: the function's own first, then those of
 * each inlined function, the ones with the most samples first; by file and line. Instructions
 * without a line are in none. To be freed with free(). SPE_OK or SPE_ERR_NOMEM. */
struct spe_annotated_line {
    struct spe_code_place place;
    struct spe_instruction sum;
};
SPE_API int spe_annotation_lines(const struct spe_annotation *annotation,
                                 struct spe_profile *profile, size_t choice,
                                 struct spe_annotated_line **lines, size_t *count);

/* Add the counts of an instruction to a sum: of a line, of a function. */
SPE_API void spe_instruction_add(struct spe_instruction *sum, const struct spe_instruction *more);

/* ---- Differences ---------------------------------------------------------------------------- */

/*
 * The changes between two recordings, or between two sets of exact counts: of the whole program and
 * of each function, line or file. These are matched by name; addresses do not matter.
 *
 *     spe_diff_create(&diff, &config);
 *     ... for side 0, the old one, and side 1: spe_diff_add of all rows, spe_diff_end_side ...
 *     spe_diff_finish(diff);
 *     result = spe_diff_result(diff);
 *
 * Several recordings of a side count as one longer recording.
 */
enum spe_diff_quantity {
    SPE_DIFF_OPERATIONS,
    SPE_DIFF_LATENCY, /* cycles; exact counts have none */
    SPE_DIFF_LOADS,
    SPE_DIFF_STORES,
    SPE_DIFF_BRANCHES,
    SPE_DIFF_NOT_TAKEN,
    SPE_DIFF_MISPREDICTED,
    SPE_DIFF_L1_MISSES,
    SPE_DIFF_LLC_MISSES,
    SPE_DIFF_WALKS,
    SPE_DIFF_MISALIGNED,         /* exact counts do not have these two */
    SPE_DIFF_PARTIAL_PREDICATES, /* including empty ones */
    SPE_DIFF_QUANTITIES
};

SPE_API const char *spe_diff_quantity_name(unsigned quantity); /* "l1_misses" ...; never NULL */

/* The numbers are divided by this. */
enum spe_diff_per {
    SPE_PER_OPERATION,
    SPE_PER_RUN,      /* of recordings: samples times their interval */
    SPE_PER_TIME,     /* ... by the seconds from the first sample to the last */
    SPE_PER_FUNCTION, /* the operations of one function */
};

struct spe_diff_config {
    size_t size;          /* written by spe_diff_config_init */
    enum spe_group_by by; /* SPE_BY_FUNCTION, SPE_BY_FUNCTION_LINE or SPE_BY_DSO */
    enum spe_diff_per per;
    const char *function; /* of SPE_PER_FUNCTION; the caller's, until finish */
};

static inline void spe_diff_config_init(struct spe_diff_config *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

struct spe_change {
    double before, after;      /* per unit of work */
    struct spe_interval ratio; /* of after by before, 95 %; high is INFINITY where before may be
                                  nothing. Of exact counts: the ratio itself */
    double p;                  /* how likely so much of a difference is by chance, at least */
    bool tested;               /* there are enough samples to ask */
    bool significant;          /* ... even though much else was asked too. Of exact counts: there is
                                  a difference */
};

/* Whether a change is beyond a bound: more than `bound`, or with `below` less; `percent`: of
 * before, else in the quantity's own unit. Of samples (`exact` is false) the whole interval has to
 * be. */
SPE_API bool spe_change_exceeds(const struct spe_change *change, double bound, bool below,
                                bool percent, bool exact);

struct spe_diff_row {
    const char *dso, *function, *line; /* "" where there is none */
    uint64_t samples[2];
    struct spe_change changes[SPE_DIFF_QUANTITIES];
    bool significant; /* one of its changes is */
};

/* A quantity with fewer samples, of both sides together, is not tested. */
#define SPE_DIFF_LEAST 10

/* Which part of the changes that are called significant may be none: Benjamini and Hochberg. If
 * nothing changed, that is how often anything is called a change; 5 % would leave no room below the
 * 5 % that people expect. */
#define SPE_DIFF_RATE 0.02

struct spe_diff_result {
    bool exact;                       /* counts, not samples */
    unsigned known;                   /* bit n: both sides have quantity n */
    double work[2];                   /* units of it; of SPE_PER_RUN: 1 for each run */
    double operations[2];             /* estimated, by samples and interval; 0: not known */
    double seconds[2];                /* 0: not known */
    const char *program[2];           /* files of two names that were taken for the same; NULL */
    size_t tests, significant;        /* changes that were tested; that are significant */
    const struct spe_diff_row *total; /* the whole program */
    const struct spe_diff_row *rows;  /* significant ones first; then by the change of latency, of
                                         operations, of the rest */
    size_t row_count, row_significant;
};

struct spe_diff;

/* SPE_OK, SPE_ERR_NOMEM or SPE_ERR_INVALID. */
SPE_API int spe_diff_create(struct spe_diff **diff, const struct spe_diff_config *config);
SPE_API void spe_diff_destroy(struct spe_diff *diff); /* NULL is fine */

/* side: 0 or 1. SPE_OK or SPE_ERR_NOMEM. After the end of a side its profile may be closed, or its
 * next recording may follow. */
SPE_API int spe_diff_add(struct spe_diff *diff, unsigned side, struct spe_profile *profile,
                         const struct spe_rows *rows);
SPE_API int spe_diff_end_side(struct spe_diff *diff, unsigned side, struct spe_profile *profile);

/* Instead of rows: exact counts of a function; several calls add up. `known` as in the result.
 * Both sides must be of the same kind. End such a side with a NULL profile. */
SPE_API int spe_diff_add_exact(struct spe_diff *diff, unsigned side, const char *dso,
                               const char *function, unsigned known,
                               const uint64_t counts[SPE_DIFF_QUANTITIES]);

/* SPE_OK, SPE_ERR_NOMEM, SPE_ERR_INVALID if one side is exact and the other is not, or
 * SPE_ERR_UNKNOWN if nothing is known of the unit of work of a side: it has no samples, no time, or
 * no operation of the function. */
SPE_API int spe_diff_finish(struct spe_diff *diff);

/* After finish. The diff owns the result. */
SPE_API const struct spe_diff_result *spe_diff_result(const struct spe_diff *diff);

/* Columns of the rows that are not read. */
#define SPE_DIFF_OMIT (SPE_ANALYSIS_OMIT | SPE_OMIT_CPU | SPE_OMIT_VA)

/* ---- Source profiles ------------------------------------------------------------------------ */

/*
 * Counts of source lines, with inlined functions separated by their place: LLVM's sample profile. A
 * line has the count of its most sampled instruction, so long lines do not look hotter than short
 * ones. Calls and entries have the sum. A line of a sampled function that has code but no sample
 * has the count 0. A missing line may have been optimised away.
 */
struct spe_code_step {
    uint32_t function; /* string: its name for the linker */
    uint32_t offset;   /* lines from the function's declaration: of the line, or of the call of the
                          next step's function */
    uint32_t discriminator;
};

enum spe_code_kind {
    SPE_CODE_ENTRY, /* one step: branches to the first instruction of the function */
    SPE_CODE_LINE,
    SPE_CODE_CALL, /* branches from the line to the first instruction of `callee` */
};

struct spe_code_count {
    const struct spe_code_step *steps; /* the first is the function that is a symbol */
    uint32_t depth;
    uint32_t callee; /* string, or SPE_NO_ID */
    uint8_t kind;    /* enum spe_code_kind */
    uint64_t samples;
};

struct spe_code_profile {
    const struct spe_code_count *counts; /* by functions' names, entry, line; outer before inner */
    size_t count;
    uint64_t no_line; /* samples that debug information says nothing of */
};

/* Out of the dso's edges NONE and JUMP, in the order of spe_edges_list. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_code_profile_create(struct spe_code_profile **source, struct spe_profile *profile,
                                    uint32_t dso, const struct spe_edge *edges, size_t count);
SPE_API void spe_code_profile_destroy(struct spe_code_profile *source); /* NULL is fine */

/* ---- Types and objects ---------------------------------------------------------------------- */

/*
 * The types, members and objects that loads and stores accessed. They come from the code, or from
 * the data address if it belongs to a variable. Memory grows with the sampled instructions,
 * members, objects and threads, not with the number of samples.
 */
struct spe_access_counts {
    uint64_t samples, loads, stores;
    uint64_t latency; /* sum of total latencies, cycles */
    uint64_t l1_misses, llc_misses, tlb_walks;
    uint32_t threads; /* that used it; all unknown ones count as one */
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

/* Before the first row: also count in bins of time, for the first 1000 rows of each list. The bins
 * are copied. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_types_over_time(struct spe_types *types, const struct spe_times *times);

/* Of rows of a list (spe_types_top, spe_types_members; spe_types_objects), as of spe_slices_table.
 * The cells are to be freed with free(); rows that were not counted have fewer samples there than
 * the row itself. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_types_slices(const struct spe_types *types, const struct spe_type_row *rows,
                             size_t count, struct spe_slice_table *table);
SPE_API int spe_types_object_slices(const struct spe_types *types,
                                    const struct spe_object_row *rows, size_t count,
                                    struct spe_slice_table *table);

/* All loads and stores, and those of each reason: SPE_ACCESS_KNOWN are those with a type of the
 * program, SPE_ACCESS_SAVED those that are stack operations. */
SPE_API void spe_types_totals(const struct spe_types *types, struct spe_access_counts *all,
                              struct spe_access_counts reasons[SPE_ACCESS_REASONS]);

/* What the lists below are sorted by; without it, by latency. SPE_ERR_INVALID: rows do not have
 * that (SPE_SORT_MISPREDICTED is of branches), and nothing changes. */
SPE_API int spe_types_sort(struct spe_types *types, enum spe_sort sort);

/* The first n by that, then latency, then samples, then ids; returns how many. */
SPE_API size_t spe_types_top_sized(const struct spe_types *types, struct spe_type_row *top,
                                   size_t n, size_t size);

static inline size_t spe_types_top(const struct spe_types *types, struct spe_type_row *top,
                                   size_t n)
{
    return spe_types_top_sized(types, top, n, sizeof(*top));
}
SPE_API size_t spe_types_count(const struct spe_types *types);
SPE_API size_t spe_types_objects_sized(const struct spe_types *types, struct spe_object_row *top,
                                       size_t n, size_t size);

static inline size_t spe_types_objects(const struct spe_types *types, struct spe_object_row *top,
                                       size_t n)
{
    return spe_types_objects_sized(types, top, n, sizeof(*top));
}
SPE_API size_t spe_types_object_count(const struct spe_types *types);

/* Members of a type (SPE_NO_ID: of all) that have samples, in the same order. */
SPE_API size_t spe_types_members_sized(const struct spe_types *types, uint32_t type,
                                       struct spe_type_row *top, size_t n, size_t size);

static inline size_t spe_types_members(const struct spe_types *types, uint32_t type,
                                       struct spe_type_row *top, size_t n)
{
    return spe_types_members_sized(types, type, top, n, sizeof(*top));
}
SPE_API size_t spe_types_member_count(const struct spe_types *types, uint32_t type);

/* Members of a type that have at least a tenth of its latency each and lie on different lines: the
 * first two by latency. False: there are none. */
SPE_API bool spe_types_apart_sized(const struct spe_types *types, uint32_t type,
                                   struct spe_type_row members[2], size_t size);

static inline bool spe_types_apart(const struct spe_types *types, uint32_t type,
                                   struct spe_type_row members[2])
{
    return spe_types_apart_sized(types, type, members, sizeof(*members));
}

/* Different threads of which one at least writes, at different members of one line (of 64 bytes, if
 * the type begins one): the first two such members, by offset. False: there are none. */
SPE_API bool spe_types_contended_sized(const struct spe_types *types, uint32_t type,
                                       struct spe_type_row members[2], size_t size);

static inline bool spe_types_contended(const struct spe_types *types, uint32_t type,
                                       struct spe_type_row members[2])
{
    return spe_types_contended_sized(types, type, members, sizeof(*members));
}

/* ---- Lists of the library's ----------------------------------------------------------------- */

/*
 * Elements of lists that the library owns grow at their end. A program that shall run with a later
 * release steps through such a list with spe_shared_line_at(list, i) and the like, and not with
 * list[i].
 */
enum spe_element {
    SPE_ELEMENT_SHARED_LINE,
    SPE_ELEMENT_SHARED_OFFSET,
    SPE_ELEMENT_SHARED_USER,
    SPE_ELEMENT_TIME_BIN,
    SPE_ELEMENT_INSTRUCTION,
    SPE_ELEMENT_BRANCH_TARGET,
    SPE_ELEMENT_ANNOTATED_LINE,
    SPE_ELEMENT_DIFF_ROW,
    SPE_ELEMENT_CODE_COUNT,
    SPE_ELEMENT_COUNT
};

/* Bytes from one element to the next; 0 if this release does not know such elements. */
SPE_API size_t spe_element_size(enum spe_element element);

#define SPE_ELEMENT_AT(name, element)                                                              \
    static inline const struct name *name##_at(const struct name *list, size_t i)                  \
    {                                                                                              \
        return (const struct name *)(const void *)((const char *)list +                            \
                                                   i * spe_element_size(element));                 \
    }
SPE_ELEMENT_AT(spe_shared_line, SPE_ELEMENT_SHARED_LINE)
SPE_ELEMENT_AT(spe_shared_offset, SPE_ELEMENT_SHARED_OFFSET)
SPE_ELEMENT_AT(spe_shared_user, SPE_ELEMENT_SHARED_USER)
SPE_ELEMENT_AT(spe_time_bin, SPE_ELEMENT_TIME_BIN)
SPE_ELEMENT_AT(spe_instruction, SPE_ELEMENT_INSTRUCTION)
SPE_ELEMENT_AT(spe_branch_target, SPE_ELEMENT_BRANCH_TARGET)
SPE_ELEMENT_AT(spe_annotated_line, SPE_ELEMENT_ANNOTATED_LINE)
SPE_ELEMENT_AT(spe_diff_row, SPE_ELEMENT_DIFF_ROW)
SPE_ELEMENT_AT(spe_code_count, SPE_ELEMENT_CODE_COUNT)
#undef SPE_ELEMENT_AT

#ifdef __cplusplus
}
#endif
#endif
