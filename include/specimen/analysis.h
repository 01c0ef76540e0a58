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

/* Exact, because every value of the counters (at most 16 bits) is counted. */
struct spe_latency_summary {
    uint64_t samples, sum; /* samples that have the counter; the sum in cycles */
    double mean;
    uint16_t median, p95, p99, max; /* nearest rank: at least 50 %, 95 % ... are not larger */
    uint64_t saturated;             /* samples at or above saturated_at */
    uint16_t saturated_at;          /* this value means "or more"; 0: not known */
};

/* Columns that the analysis does not read, for spe_profile_options.omit. This includes comm, which
 * only groupings by comm read. Only groupings by CPU read cpu. */
#define SPE_ANALYSIS_OMIT                                                                          \
    (SPE_OMIT_OFFSET | SPE_OMIT_TIMESTAMP | SPE_OMIT_TARGET | SPE_OMIT_PA |                        \
     SPE_OMIT_PREVIOUS_TARGET | SPE_OMIT_LATENCIES | SPE_OMIT_SOURCE | SPE_OMIT_CONTEXTS |         \
     SPE_OMIT_COMM | SPE_OMIT_TID)

/* ---- Asking --------------------------------------------------------------------------------- */

enum spe_group_by {
    SPE_BY_FUNCTION,
    SPE_BY_LINE,
    SPE_BY_FUNCTION_LINE, /* a header's line that is inlined into several functions is several
                             groups */
    SPE_BY_DSO,
    SPE_BY_THREAD,
    SPE_BY_CPU,
    SPE_BY_PROCESS,
    SPE_BY_COMM, /* the thread's name at that time */
    SPE_BY_PC,
    SPE_BY_CALLER, /* the function that called the sampled one; needs SPE_WANT_STACK and _SYMBOL */
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
    unsigned by;          /* bit n: group by enum spe_group_by n */
    bool data;            /* find hot data */
    unsigned data_shift;  /* hot data in units of 2^n bytes: 6 for lines, 12 for pages; 0: 6 */
    uint64_t data_memory; /* memory limit for hot data in bytes, at least 8192; 0: 64 MB. Results
                             are exact until the limit is reached */
    size_t data_top;      /* most lines or pages that spe_analysis_data can return; 0: all */
    size_t pc_slots; /* distinct pcs to keep before they are summed into groups: a power of two, at
                        least 16; 0: 524288 */
    bool findings;   /* compute findings; do not use SPE_OMIT_LATENCIES then */
    bool time;       /* count over time */
    uint16_t saturated_at; /* of the latency counters, see spe_latency_summary */
    bool again; /* the caller can pass all rows twice (spe_analysis_wants_data). Then data_memory is
                   only needed for candidates, and results stay exact for much larger recordings.
                   Such an analysis cannot be merged */
};

/* The default: only totals, events and loads. */
static inline void spe_analysis_config_init(struct spe_analysis_config *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

struct spe_analysis;

/* SPE_OK, SPE_ERR_NOMEM, or SPE_ERR_INVALID if a size is not allowed. */
SPE_API int spe_analysis_create(struct spe_analysis **analysis,
                                const struct spe_analysis_config *config);
SPE_API void spe_analysis_destroy(struct spe_analysis *analysis); /* NULL is allowed */

/* SPE_OK or SPE_ERR_NOMEM. This function looks up lines, and functions if the rows have no symbols,
 * once for each pc. The profile may be NULL if the configuration asks for no functions, lines or
 * DSOs. */
SPE_API int spe_analysis_add(struct spe_analysis *analysis, struct spe_profile *profile,
                             const struct spe_rows *rows);

/* Add the counts of another analysis of the same profile and configuration. Call it before
 * spe_analysis_finish. */
SPE_API int spe_analysis_merge(struct spe_analysis *analysis, const struct spe_analysis *from,
                               struct spe_profile *profile);

/* With `again`, after the last row: 1 if spe_analysis_add_data needs all rows once more to find the
 * hottest data; 0 if the hottest data is known already, which is usual; or SPE_ERR_NOMEM. */
SPE_API int spe_analysis_wants_data(struct spe_analysis *analysis);

/* Pass the same rows again. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_analysis_add_data(struct spe_analysis *analysis, const struct spe_rows *rows);

/* Call this after the last row and before the functions below. */
SPE_API int spe_analysis_finish(struct spe_analysis *analysis, struct spe_profile *profile);

/* ---- Answers -------------------------------------------------------------------------------- */

/* The counts of a group. l1_misses, llc_misses and tlb_walks count memory operations; mispredicted
 * counts branches. */
struct spe_counts {
    uint64_t samples;
    uint64_t timed;   /* samples with a total latency */
    uint64_t latency; /* the sum of these latencies, in cycles */
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

/* The number of samples with each event. A sample can have several events. */
SPE_API void spe_analysis_events(const struct spe_analysis *analysis, uint64_t samples[64]);

/* The operation mix: disjoint classes, each followed by its disjoint kinds. */
struct spe_mix {
    const char *name; /* "loads", "general-purpose" ... */
    bool is_class;    /* else a kind of the preceding class */
    uint64_t samples;
    uint64_t latency_samples, latency; /* samples with a total latency, and the sum */
};

#define SPE_MIX_MAX 48

/* The rows that have samples, at most SPE_MIX_MAX. Returns their number. */
SPE_API size_t spe_analysis_mix_sized(const struct spe_analysis *analysis,
                                      struct spe_mix mix[SPE_MIX_MAX], size_t size);

static inline size_t spe_analysis_mix(const struct spe_analysis *analysis,
                                      struct spe_mix mix[SPE_MIX_MAX])
{
    return spe_analysis_mix_sized(analysis, mix, sizeof(*mix));
}

/*
 * Where loads were served: every load is in one row. The data source determines the row, if the
 * record has one and the CPU's table contains it; otherwise the events do; otherwise the row is
 * SPE_SERVED_UNKNOWN. A missing Data Source packet is not an L1 hit.
 */
enum spe_served {
    /* by data source: enum spe_source_level, from SPE_LEVEL_L1 on */
    SPE_SERVED_L1_HIT = SPE_LEVEL_COUNT, /* by events, from here on */
    SPE_SERVED_IN_FLIGHT,                /* L1 miss on a line that was already being fetched */
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

/* Where one load with this level and these events was served. */
SPE_API enum spe_served spe_served_by(uint8_t level, uint64_t events);

struct spe_served_row {
    uint8_t served; /* enum spe_served */
    bool by_source;
    uint64_t loads;
    struct spe_latency_summary latency; /* total latency */
};

/* The rows that have loads, nearest level first. Returns their number. */
SPE_API size_t spe_analysis_served_sized(const struct spe_analysis *analysis,
                                         struct spe_served_row rows[SPE_SERVED_COUNT], size_t size);

static inline size_t spe_analysis_served(const struct spe_analysis *analysis,
                                         struct spe_served_row rows[SPE_SERVED_COUNT])
{
    return spe_analysis_served_sized(analysis, rows, sizeof(*rows));
}

/* The distribution of these latencies. Below 8 cycles, a bin is one cycle wide; above, each power
 * of two has four bins. */
#define SPE_LATENCY_BINS 60
SPE_API void spe_analysis_latencies(const struct spe_analysis *analysis, unsigned served,
                                    uint64_t samples[SPE_LATENCY_BINS]);
SPE_API uint32_t spe_latency_bin_from(unsigned bin); /* smallest latency of the bin */

struct spe_group {
    uint64_t symbol; /* SPE_NO_SYMBOL */
    uint32_t dso;    /* SPE_NO_ID */
    uint32_t line;   /* SPE_NO_ID */
    uint32_t id; /* thread id, CPU number, pid, or string of the comm; for callers: enum spe_caller;
                    else SPE_NO_ID */
    uint64_t address; /* SPE_BY_PC: the address in the file; for the kernel and code without a file,
                         the address in memory; else 0 */
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

/* The first n groups, sorted by a count, then by samples, then by id. Returns their number. Samples
 * without a symbol (or line) form separate groups by DSO (or function). */
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
    uint16_t op; /* as in rows; if the samples differ, one of their values */
    uint64_t samples, mispredicted, not_taken;
    uint64_t latency;
};

/* Branch instructions with the most mispredictions. The counts are exact if *error is 0. Otherwise
 * mispredicted may be too small by up to *error, and the other counts may be too small as well. */
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
    uint32_t pid;     /* the process; SPE_NO_TASK: the kernel */
    uint32_t thread;  /* the first thread that accessed it */
    uint64_t latency;
    uint64_t error; /* the latency may be too small by this much */
    uint64_t samples, loads, stores, l1_misses;
    uint64_t shared;      /* samples that another core's cache served, or that hit modified data */
    bool several_threads; /* other threads accessed it as well */
    uint64_t hottest; /* the byte with more than half of the latency; if there is none, one of the
                         accessed bytes */
};

struct spe_data_summary {
    unsigned shift;
    uint64_t latency; /* of all samples with a data address */
    uint64_t missing; /* the latency of a place outside the list is at most this, or that of the
                         last row */
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
 * Cache lines that travel between cores. The first step finds the lines, the second step the users
 * of their bytes, for the requested number of lines. If the samples do not fit into memory, the
 * rows are read twice.
 *
 *     spe_sharing_create(&sharing, &config);
 *     ... spe_sharing_find(sharing, &rows) of all rows ...
 *     if (spe_sharing_choose(sharing) > 0)
 *         ... spe_profile_rewind, spe_sharing_add(sharing, &rows) of all rows ...
 *     spe_sharing_finish(sharing);
 *     result = spe_sharing_result(sharing);
 *
 * A faster way skips most rows. Call spe_sharing_leave_out before the first row, then
 *
 *     ... spe_sharing_find(sharing, &rows) of all rows ...
 *     spe_sharing_left_out(sharing, spe_profile_counts(profile));
 *     if (spe_sharing_choose(sharing) > 0)
 *         ... spe_profile_only_data(profile, NULL), spe_profile_rewind, and as above ...
 *     else
 *         ... spe_sharing_look_again(sharing, profile), spe_sharing_add(sharing, &rows) of what
 *         spe_profile_next then gives ...
 */
/* The evidence that a line travelled, best first. */
enum spe_sharing_basis {
    SPE_SHARING_SOURCE,     /* a load's data source: another core, cluster or
                               socket (D18.2.4) */
    SPE_SHARING_SNOOPED,    /* a load's event "data snooped" of FEAT_SPEv1p4
                               (D18.2.6) */
    SPE_SHARING_MISSES,     /* an L1 miss on a line that several threads use: weaker evidence */
    SPE_SHARING_BASIS_COUNT /* none of these is recorded */
};

struct spe_sharing_config {
    size_t size;                  /* sizeof(struct spe_sharing_config) */
    enum spe_sharing_basis basis; /* the evidence to use */
    unsigned shift;               /* lines of 2^n bytes, 4 to 12; 0: 6 */
    size_t top;                   /* number of lines to return */
    uint64_t memory;              /* approximate memory limit in bytes, at least 65536; 0: 64 MB */
    bool again; /* the caller always passes the rows twice, so no samples are kept between the
                   passes */
};

/* The best evidence that the CPUs of a recording can provide. Its records may have less. */
SPE_API enum spe_sharing_basis spe_sharing_basis_of(const struct spe_profile_info *info);

/* The basis to try next if the first pass found no evidence; SPE_SHARING_BASIS_COUNT: keep the
 * current one. "Data snooped" is optional, so a recording may not have it. */
struct spe_sharing_result;
SPE_API enum spe_sharing_basis spe_sharing_next_basis(const struct spe_sharing_result *result,
                                                      const struct spe_profile_info *info);

enum spe_sharing_kind {
    SPE_SHARING_UNCLEAR, /* too few samples of writes or of a second thread */
    SPE_SHARING_TRUE,    /* several threads use the same bytes, and one writes them */
    SPE_SHARING_FALSE,   /* they use different bytes */
    SPE_SHARING_BOTH,    /* the same bytes, and different bytes as well */
};

/* A thread, or code, at an offset of a line. */
struct spe_shared_user {
    uint32_t thread; /* for code: SPE_NO_ID */
    uint32_t map;    /* for code: the map of the pc */
    uint64_t pc;
    uint64_t samples, reads, writes; /* an atomic that returns a value counts as both */
    uint64_t travelled, latency;
};

struct spe_shared_offset {
    uint32_t offset; /* the first byte of the accesses; records do not have their size */
    uint64_t samples, reads, writes, travelled, latency;
    uint32_t cpus;  /* 0: not known */
    bool same_used; /* several threads use this offset, and one of them writes */
    const struct spe_shared_user *threads, *code; /* most accesses first */
    size_t thread_count, code_count;
};

struct spe_shared_line {
    uint64_t address;
    uint32_t pid; /* SPE_NO_TASK: the kernel's */
    enum spe_sharing_kind kind;
    uint64_t loads, stores;
    uint64_t travelled;     /* loads that other cores served; SPE_SHARING_MISSES: L1 misses */
    uint64_t travelled_of;  /* out of this many loads; SPE_SHARING_MISSES: loads and stores */
    uint64_t latency;       /* of all samples of the line */
    uint32_t threads, cpus; /* cpus 0: not known */
    const struct spe_shared_offset *offsets; /* ascending */
    size_t offset_count;
};

struct spe_sharing_result {
    enum spe_sharing_basis basis;
    unsigned shift;
    uint64_t samples;      /* loads and stores with a data address */
    uint64_t loads;        /* of them */
    uint64_t no_address;   /* loads and stores without a data address */
    uint64_t said;         /* samples for which the basis gives an answer */
    uint64_t travelled;    /* samples that show a line that travelled */
    uint64_t latency;      /* of all samples */
    bool several_threads;  /* the samples are of more than one thread */
    uint64_t seen;         /* lines with at least one sample that travelled */
    uint64_t too_few;      /* of these, lines with too few samples to call them shared */
    uint64_t not_examined; /* of these, lines beyond the requested number */
    uint64_t left_out;     /* samples that did not fit into memory */
    const struct spe_shared_line *lines; /* the shared lines, the one that travelled most first */
    size_t line_count;
};

/* A line with fewer samples that travelled is not called shared. */
#define SPE_SHARING_LEAST 5

struct spe_sharing;

/* SPE_OK, SPE_ERR_NOMEM or SPE_ERR_INVALID. */
SPE_API int spe_sharing_create(struct spe_sharing **sharing,
                               const struct spe_sharing_config *config);
SPE_API void spe_sharing_destroy(struct spe_sharing *sharing); /* NULL is allowed */

/* Each returns SPE_OK or SPE_ERR_NOMEM. spe_sharing_choose can also return 1: then pass all rows to
 * spe_sharing_add. */
SPE_API int spe_sharing_find(struct spe_sharing *sharing, const struct spe_rows *rows);
SPE_API int spe_sharing_choose(struct spe_sharing *sharing);
SPE_API int spe_sharing_add(struct spe_sharing *sharing, const struct spe_rows *rows);
SPE_API int spe_sharing_finish(struct spe_sharing *sharing);

/* If the basis is data sources, let the profile skip rows that show no line that travelled. SPE_OK
 * or SPE_ERR_NOMEM. */
SPE_API int spe_sharing_leave_out(const struct spe_sharing *sharing, struct spe_profile *profile);
/* After the last row: count the skipped rows. */
SPE_API void spe_sharing_left_out(struct spe_sharing *sharing,
                                  const struct spe_profile_counts *counts);
/* After spe_sharing_choose returned 0: make the profile return the skipped rows of the chosen lines
 * next. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_sharing_look_again(const struct spe_sharing *sharing, struct spe_profile *profile);

/* After spe_sharing_choose: up to n lines that may turn out to be shared, with address and pid
 * only. Returns their number. */
SPE_API size_t spe_sharing_candidates(const struct spe_sharing *sharing,
                                      struct spe_shared_line *lines, size_t n);

/* After spe_sharing_choose: the result without lines. After spe_sharing_finish: the whole result.
 * The struct spe_sharing owns it. */
SPE_API const struct spe_sharing_result *spe_sharing_result(const struct spe_sharing *sharing);
/* ---- Findings ------------------------------------------------------------------------------- */

/*
 * The largest costs and their causes. docs/findings.md has a section for each rule, with its
 * threshold. A finding is reported only if the lower end of its interval also meets the threshold.
 * The rules use up to 32768 samples, spread evenly over the recording.
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
    SPE_FINDING_BEYOND_L1, /* loads that missed, if it is not recorded where they were served */
    SPE_FINDING_TLB_WALKS,
    SPE_FINDING_ATOMICS,
    SPE_FINDING_STORES,
    SPE_FINDING_MISPREDICTED,
    SPE_FINDING_MISALIGNED,
    SPE_FINDING_EMPTY_PREDICATES,
    SPE_FINDING_PARTIAL_PREDICATES,
    SPE_FINDING_ISSUE_WAIT,
    SPE_FINDING_NOTHING, /* no rule applies */
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
    uint64_t samples;             /* that show it; SPE_OF_BUFFERS, _BYTES: buffers, bytes */
    double cycles; /* mean cycles of such a sample, without the wait for older operations; 0: not
                      known, all counters were saturated */
    double others; /* mean cycles of the samples it is compared with; 0: there are none */
    double here;   /* the fraction of the finding at the place */

    /* The place. Missing parts are SPE_NO_SYMBOL, SPE_NO_ID or 0. */
    uint64_t pc, symbol;
    uint32_t map, line;
    uint32_t thread;  /* SPE_FINDING_ONE_THREAD: the thread; else a thread that used the data */
    uint32_t pid;     /* the process of the data; SPE_NO_TASK */
    uint64_t address; /* of data */
    uint64_t from_ns, to_ns; /* of SPE_FINDING_ONE_PHASE */
    uint64_t other; /* SPE_FINDING_FALSE_SHARING: data of another thread on the line; 0: none */
};

#define SPE_FINDINGS_MAX 5

SPE_API const char *spe_finding_name(unsigned rule); /* "false-sharing" ...; never NULL */
SPE_API bool spe_finding_is_doubt(unsigned rule);

/* Call it after spe_analysis_finish; the configuration must have `findings`. The largest share
 * comes first, doubts last. Returns the number of findings, at least 1, or SPE_ERR_NOMEM. */
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
    uint64_t from_ns, bin_ns; /* the start of the first bin; the length of each bin */
    struct spe_time_bin *bins;
    size_t count;
};

#define SPE_TIME_BINS_MAX 1024

/* At most `most` bins from the first sample to the last, all of the same length. Samples without a
 * time are not counted. The configuration must have `time`. SPE_OK or SPE_ERR_NOMEM. Free the bins
 * with spe_times_free. */
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
    uint32_t caller;           /* a node with a smaller number; node 0: SPE_NO_ID */
    uint64_t symbol;           /* SPE_NO_SYMBOL */
    uint32_t dso;              /* SPE_NO_ID */
    bool no_stack;             /* not a function: the parent of samples without a call stack */
    uint64_t samples, latency; /* including all functions that it called */
    struct spe_counts self;    /* the last member: it may grow */
};

struct spe_call_tree;

/* SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_call_tree_create(struct spe_call_tree **tree);
SPE_API void spe_call_tree_destroy(struct spe_call_tree *tree); /* NULL is allowed */
SPE_API int spe_call_tree_add(struct spe_call_tree *tree, struct spe_profile *profile,
                              const struct spe_rows *rows);
SPE_API void spe_call_tree_finish(struct spe_call_tree *tree);

/* Before the first row: make each node a line of a function, the line of the sample or of the call.
 * Rows also need SPE_WANT_LINE. */
SPE_API void spe_call_tree_by_line(struct spe_call_tree *tree);
/* spe_profile_line of a node, or SPE_NO_ID. */
SPE_API uint32_t spe_call_tree_line(const struct spe_call_tree *tree, size_t i);

/* Before the first row: make the nodes directly below node 0 tasks, with all other nodes below
 * them. by: SPE_BY_COMM or SPE_BY_THREAD; else SPE_ERR_INVALID. */
SPE_API int spe_call_tree_by_task(struct spe_call_tree *tree, enum spe_group_by by);
/* False: the node is not a task. *id is as in spe_group. */
SPE_API bool spe_call_tree_task(const struct spe_call_tree *tree, size_t i, uint32_t *id);

/*
 * After the last row and before spe_call_tree_finish: divide the samples without a call stack among
 * the callers of their function. The callers and their weights come from the call stacks of another
 * event (spe_profile_other_stack). Without such stacks this does nothing. SPE_OK or SPE_ERR_NOMEM.
 */
SPE_API int spe_call_tree_share(struct spe_call_tree *tree, struct spe_profile *profile);
SPE_API size_t spe_call_tree_count(const struct spe_call_tree *tree);
SPE_API const struct spe_call_node *spe_call_tree_at(const struct spe_call_tree *tree, size_t i);

/*
 * Time bins for each of some threads or CPUs. Choose the threads or CPUs first (with
 * spe_analysis_groups for example), and the bins (with spe_analysis_times). A second pass over the
 * rows counts. Memory depends only on the number of lanes and bins.
 */
struct spe_lanes;

/* by: SPE_BY_THREAD or SPE_BY_CPU; ids as in spe_group. Ids and bins are copied. SPE_OK,
 * SPE_ERR_NOMEM or SPE_ERR_INVALID. */
SPE_API int spe_lanes_create(struct spe_lanes **lanes, enum spe_group_by by, const uint32_t *ids,
                             size_t count, const struct spe_times *times);
SPE_API void spe_lanes_destroy(struct spe_lanes *lanes); /* NULL is allowed */
SPE_API void spe_lanes_add(struct spe_lanes *lanes, const struct spe_rows *rows);

/* Returns times->count bins. Lane `count` is the sum of all other threads or CPUs. */
SPE_API const struct spe_time_bin *spe_lanes_bins(const struct spe_lanes *lanes, size_t lane);

/*
 * The counts of list rows in each time bin, to show a part of the recording. Choose the list rows
 * first, with spe_analysis_groups for example. A second pass over the samples counts, by the same
 * rules as the first. Memory depends only on the lists and bins: only the first SPE_SLICE_ROWS of
 * each list are counted.
 */
#define SPE_SLICE_ROWS 200

/* The field "thread" of a data row: 0 without samples, the thread id plus 1, or this value for
 * several threads. */
#define SPE_SLICE_SEVERAL ((UINT64_C(1) << 32) + 1)

enum spe_slice_kind {
    SPE_SLICE_TOTAL,  /* one row */
    SPE_SLICE_SERVED, /* one row for each enum spe_served; it also has SPE_LATENCY_BINS unnamed
                         fields */
    SPE_SLICE_MIX,
    SPE_SLICE_DATA,
    SPE_SLICE_LINES,
    SPE_SLICE_BRANCHES,
    SPE_SLICE_GROUPS,
};

struct spe_slice_table {
    const char *const *names; /* names of fields; all except "max" and "thread" are sums */
    size_t named, fields, rows;
    const uint64_t *cells; /* by bin, then row, then field */
};

struct spe_slices;

/* The bins are copied. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_slices_create(struct spe_slices **slices, const struct spe_times *times);
SPE_API void spe_slices_destroy(struct spe_slices *slices); /* NULL is allowed */

/* Before the first row, once for each list. The lists are copied. SPE_OK, SPE_ERR_NOMEM, or
 * SPE_ERR_INVALID for groups that cannot be counted: pairs and callers. */
SPE_API int spe_slices_groups(struct spe_slices *slices, enum spe_group_by by,
                              const struct spe_group *groups, size_t count);
SPE_API int spe_slices_branches(struct spe_slices *slices, const struct spe_branch *branches,
                                size_t count);
SPE_API int spe_slices_data(struct spe_slices *slices, const struct spe_data *data, size_t count,
                            unsigned shift);
SPE_API int spe_slices_lines(struct spe_slices *slices, const struct spe_shared_line *lines,
                             size_t count, enum spe_sharing_basis basis, unsigned shift);
SPE_API int spe_slices_mix(struct spe_slices *slices, const struct spe_mix *mix, size_t count);

/* SPE_OK or SPE_ERR_NOMEM. Rows without a time are not counted. */
SPE_API int spe_slices_add(struct spe_slices *slices, struct spe_profile *profile,
                           const struct spe_rows *rows);
SPE_API void spe_slices_finish(struct spe_slices *slices);

/* `by` matters for SPE_SLICE_GROUPS only. False: the table was not counted. The struct spe_slices
 * owns the cells. */
SPE_API bool spe_slices_table(const struct spe_slices *slices, enum spe_slice_kind kind,
                              enum spe_group_by by, struct spe_slice_table *table);

/* ---- Edges ---------------------------------------------------------------------------------- */

/*
 * The control flow in one file, as addresses in that file, over all processes that ran it. Memory
 * grows with the sampled code, not with the number of samples. Operations that did not retire are
 * omitted.
 */
enum spe_edge_kind {
    SPE_EDGE_NONE,  /* not an edge: any operation at `from`, including branches; `to` is 0 */
    SPE_EDGE_JUMP,  /* an unconditional branch: jump, call or return. Address 0: outside the file */
    SPE_EDGE_TAKEN, /* a conditional branch that was taken. Address 0: outside the file */
    SPE_EDGE_NOT_TAKEN,   /* a conditional branch that was not taken: `to` is the next instruction,
                             not the recorded target, which is UNKNOWN (D17.6.3) */
    SPE_EDGE_STRAIGHT_ON, /* from the target of the previous taken branch (FEAT_SPE_PBT) to the next
                             taken branch at `to`: no branch between them was taken */
};

struct spe_edge {
    uint64_t from, to;
    uint8_t kind; /* enum spe_edge_kind */
    uint64_t samples, mispredicted;
};

struct spe_edge_counts {
    uint64_t samples;
    uint64_t inside, elsewhere, kernel, no_map, not_retired; /* disjoint; their sum is `samples` */
    uint64_t branches;                                       /* branches among those inside */
    uint64_t no_target;           /* of these: taken, but without a target, so there is no edge */
    uint64_t taken, previous;     /* of these: taken; taken with a previous target */
    uint64_t previous_impossible; /* of these: the previous target is after the branch or outside
                                     the file, so there is no edge */
};

struct spe_edges;

/* Edges of a dso. Bit n of kinds selects edges of kind n. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_edges_create(struct spe_edges **edges, uint32_t dso, unsigned kinds);
SPE_API void spe_edges_destroy(struct spe_edges *edges); /* NULL is allowed */
SPE_API int spe_edges_add(struct spe_edges *edges, struct spe_profile *profile,
                          const struct spe_rows *rows);
SPE_API const struct spe_edge_counts *spe_edges_counts(const struct spe_edges *edges);
SPE_API size_t spe_edges_count(const struct spe_edges *edges);

/* All spe_edges_count() edges, sorted by from, kind and to. struct spe_edge never grows. */
SPE_API void spe_edges_list(const struct spe_edges *edges, struct spe_edge *list);

/* ---- Instructions --------------------------------------------------------------------------- */

/*
 * Counts for each instruction of some functions. Choose the functions first (with
 * spe_analysis_groups for example), or with a callback for each sampled function. One pass over the
 * rows counts. Memory grows with the number of distinct sampled instructions.
 */
struct spe_code_choice {
    uint64_t symbol; /* a function; SPE_NO_SYMBOL: the code without a symbol in `dso` */
    uint32_t dso;    /* SPE_NO_ID: code in no map */
};

struct spe_latency_sum {
    uint64_t samples, cycles; /* samples that have the counter, and its sum */
};

struct spe_instruction {
    uint32_t choice;       /* index of the function in the list of choices */
    uint64_t address;      /* the address in the file; for the kernel and code without a file, the
                              address in memory */
    uint32_t map;          /* one of the maps it ran in, or SPE_NO_ID */
    uint64_t pc;           /* its address in that map */
    const char *operation; /* from its first sample: "load", "store", "branch", "other" ... */
    const char *kind;      /* as in the operation mix: "general-purpose"; or NULL */
    uint64_t loads;        /* part of counts.memory */
    uint64_t not_taken;    /* part of counts.branches */
    struct spe_latency_sum total, issue, translation;
    struct spe_latency_sum execution;  /* total minus issue and translation, if it has both */
    uint64_t served[SPE_SERVED_COUNT]; /* loads; their sum is `loads` */
    size_t first_target, target_count; /* range in spe_annotation_targets */
    struct spe_counts counts;          /* the last member: it may grow */
};

/* A target of a taken branch, from records that have one. */
struct spe_branch_target {
    uint32_t dso;     /* or SPE_NO_ID */
    uint64_t address; /* as in spe_instruction; without a dso: the address in memory */
    uint64_t symbol;  /* or SPE_NO_SYMBOL */
    uint64_t in_symbol;
    uint64_t samples, mispredicted;
};

struct spe_annotation;

/* Columns that annotations do not read. */
#define SPE_ANNOTATION_OMIT                                                                        \
    (SPE_OMIT_OFFSET | SPE_OMIT_TIMESTAMP | SPE_OMIT_VA | SPE_OMIT_PA | SPE_OMIT_PREVIOUS_TARGET | \
     SPE_OMIT_SOURCE | SPE_OMIT_CONTEXTS | SPE_OMIT_COMM | SPE_OMIT_CPU | SPE_OMIT_TID)

/* The choices are copied. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_annotation_create(struct spe_annotation **annotation,
                                  const struct spe_code_choice *choices, size_t count);
SPE_API void spe_annotation_destroy(struct spe_annotation *annotation); /* NULL is allowed */

/* Before the first row: a function that is not in the choices is added to them if `wanted` returns
 * true. The callback is called once for each pc of a map. */
typedef bool spe_annotation_wanted(void *user, struct spe_profile *profile, uint64_t symbol);
SPE_API void spe_annotation_ask(struct spe_annotation *annotation, spe_annotation_wanted *wanted,
                                void *user);

/* All choices, including those that `wanted` added. */
SPE_API const struct spe_code_choice *
spe_annotation_choices(const struct spe_annotation *annotation, size_t *count);
SPE_API int spe_annotation_add(struct spe_annotation *annotation, struct spe_profile *profile,
                               const struct spe_rows *rows);

/* For speed: let the profile skip rows that cannot belong to the functions (spe_profile_only), as
 * far as that is known. Call it before the first row with NULL, and after each spe_annotation_add
 * with its rows. Other analyses cannot use the rows then. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_annotation_narrow(struct spe_annotation *annotation, struct spe_profile *profile,
                                  const struct spe_rows *rows);

/* After the last row, with spe_annotation_narrow: add the skipped rows from the profile's counts,
 * and let the profile return all rows again. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_annotation_widen(struct spe_annotation *annotation, struct spe_profile *profile);

/* After the last row: sort the results. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_annotation_finish(struct spe_annotation *annotation);

/* Samples and latency of all rows. */
SPE_API void spe_annotation_totals(const struct spe_annotation *annotation, uint64_t *samples,
                                   uint64_t *latency);

/* The instructions of one function, by address. Valid until the annotation is destroyed. */
SPE_API const struct spe_instruction *
spe_annotation_instructions(const struct spe_annotation *annotation, size_t choice, size_t *count);

/* All targets. The targets of one instruction are adjacent, the most frequent first. */
SPE_API const struct spe_branch_target *
spe_annotation_targets(const struct spe_annotation *annotation);

/* The source position of a pc in a map, in the innermost function. `inlined`: this function is not
 * that of the symbol. Returns false if nothing is known. function is SPE_NO_ID if only the line is
 * known. */
struct spe_code_place {
    uint32_t function, file, line;
    bool inlined;
};
SPE_API bool spe_code_place(struct spe_profile *profile, uint32_t map, uint64_t pc,
                            struct spe_code_place *place);

/* The source lines of a function with the sums of their instructions: first the function's own
 * lines, then those of each inlined function, the function with the most samples first; each sorted
 * by file and line. Instructions without a line are omitted. Free the list with free(). SPE_OK or
 * SPE_ERR_NOMEM. */
struct spe_annotated_line {
    struct spe_code_place place;
    struct spe_instruction sum;
};
SPE_API int spe_annotation_lines(const struct spe_annotation *annotation,
                                 struct spe_profile *profile, size_t choice,
                                 struct spe_annotated_line **lines, size_t *count);

/* Add the counts of an instruction to the sum of a line or a function. */
SPE_API void spe_instruction_add(struct spe_instruction *sum, const struct spe_instruction *more);

/* ---- Differences ---------------------------------------------------------------------------- */

/*
 * The changes between two recordings, or between two sets of exact counts: for the whole program
 * and for each function, line or file. These are matched by name; addresses are not compared.
 *
 *     spe_diff_create(&diff, &config);
 *     ... for side 0, the old one, and side 1: spe_diff_add of all rows, spe_diff_end_side ...
 *     spe_diff_finish(diff);
 *     result = spe_diff_result(diff);
 *
 * Several recordings of one side count as one longer recording.
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

/* The unit of work: quantities are divided by it. */
enum spe_diff_per {
    SPE_PER_OPERATION,
    SPE_PER_RUN,      /* recordings: samples times the sample interval */
    SPE_PER_TIME,     /* the same, divided by the seconds from the first sample to the last */
    SPE_PER_FUNCTION, /* the operations of one function */
};

struct spe_diff_config {
    size_t size;          /* written by spe_diff_config_init */
    enum spe_group_by by; /* SPE_BY_FUNCTION, SPE_BY_FUNCTION_LINE or SPE_BY_DSO */
    enum spe_diff_per per;
    const char *function; /* for SPE_PER_FUNCTION; must stay valid until spe_diff_finish */
};

static inline void spe_diff_config_init(struct spe_diff_config *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

struct spe_change {
    double before, after;      /* per unit of work */
    struct spe_interval ratio; /* after divided by before, 95 % interval; high is INFINITY if before
                                  may be 0. Exact counts: the ratio itself */
    double p;                  /* p-value: the probability of at least this difference by chance */
    bool tested;               /* there are enough samples for a test */
    bool significant; /* also after correction for the number of tests. Exact counts: the values
                         differ */
};

/* Does a change exceed a bound? The change must be greater than `bound`, or less with `below`.
 * `percent`: relative to before, else in the unit of the quantity. For samples (`exact` is false)
 * the whole interval must be beyond the bound. */
SPE_API bool spe_change_exceeds(const struct spe_change *change, double bound, bool below,
                                bool percent, bool exact);

struct spe_diff_row {
    const char *dso, *function, *line; /* "" where there is none */
    uint64_t samples[2];
    struct spe_change changes[SPE_DIFF_QUANTITIES];
    bool significant; /* one of its changes is significant */
};

/* A quantity is not tested if both sides together have fewer samples. */
#define SPE_DIFF_LEAST 10

/* The false discovery rate (Benjamini and Hochberg): the expected fraction of significant changes
 * that are due to chance. If nothing changed, it is the probability that anything is called a
 * change. It is below the 5 % that people expect, to leave a margin. */
#define SPE_DIFF_RATE 0.02

struct spe_diff_result {
    bool exact;                /* exact counts, not samples */
    unsigned known;            /* bit n: both sides have quantity n */
    double work[2];            /* units of work; SPE_PER_RUN: 1 for each run */
    double operations[2];      /* estimated, by samples and interval; 0: not known */
    double seconds[2];         /* 0: not known */
    const char *program[2];    /* two files with different names that were matched with each other;
                                  else NULL */
    size_t tests, significant; /* tested changes; significant changes */
    const struct spe_diff_row *total; /* the whole program */
    const struct spe_diff_row *rows;  /* significant rows first; then by the change of latency, of
                                         operations, of the other quantities */
    size_t row_count, row_significant;
};

struct spe_diff;

/* SPE_OK, SPE_ERR_NOMEM or SPE_ERR_INVALID. */
SPE_API int spe_diff_create(struct spe_diff **diff, const struct spe_diff_config *config);
SPE_API void spe_diff_destroy(struct spe_diff *diff); /* NULL is allowed */

/* side: 0 or 1. SPE_OK or SPE_ERR_NOMEM. After spe_diff_end_side, the profile may be closed, and
 * another recording of the same side may follow. */
SPE_API int spe_diff_add(struct spe_diff *diff, unsigned side, struct spe_profile *profile,
                         const struct spe_rows *rows);
SPE_API int spe_diff_end_side(struct spe_diff *diff, unsigned side, struct spe_profile *profile);

/* Instead of rows: add exact counts of a function. Several calls add up. `known` as in the result.
 * Both sides must have exact counts. End such a side with a NULL profile. */
SPE_API int spe_diff_add_exact(struct spe_diff *diff, unsigned side, const char *dso,
                               const char *function, unsigned known,
                               const uint64_t counts[SPE_DIFF_QUANTITIES]);

/* SPE_OK, SPE_ERR_NOMEM, SPE_ERR_INVALID if one side is exact and the other is not, or
 * SPE_ERR_UNKNOWN if the amount of work of a side is not known: it has no samples, no time, or no
 * operation of the function. */
SPE_API int spe_diff_finish(struct spe_diff *diff);

/* After finish. The diff owns the result. */
SPE_API const struct spe_diff_result *spe_diff_result(const struct spe_diff *diff);

/* Columns that a diff does not read. */
#define SPE_DIFF_OMIT (SPE_ANALYSIS_OMIT | SPE_OMIT_CPU | SPE_OMIT_VA)

/* ---- Source profiles ------------------------------------------------------------------------ */

/*
 * Counts of source lines, with inlined functions separated by call site: LLVM's sample profile. A
 * line has the count of its most sampled instruction, so that a line with many instructions does
 * not look hotter than others. Calls and entries have the sum. A line of a sampled function that
 * has code but no sample has the count 0. A missing line may have been optimised away.
 */
struct spe_code_step {
    uint32_t function; /* string: the linkage name */
    uint32_t offset;   /* line number relative to the function's declaration: of the line, or of the
                          call to the function of the next step */
    uint32_t discriminator;
};

enum spe_code_kind {
    SPE_CODE_ENTRY, /* one step: branches to the first instruction of the function */
    SPE_CODE_LINE,
    SPE_CODE_CALL, /* branches from the line to the first instruction of `callee` */
};

struct spe_code_count {
    const struct spe_code_step *steps; /* the first step is the function with a symbol */
    uint32_t depth;
    uint32_t callee; /* string, or SPE_NO_ID */
    uint8_t kind;    /* enum spe_code_kind */
    uint64_t samples;
};

struct spe_code_profile {
    const struct spe_code_count *counts; /* by function names, entry, line; outer before inner */
    size_t count;
    uint64_t no_line; /* samples without debug information */
};

/* Made from the dso's edges NONE and JUMP, in the order of spe_edges_list. SPE_OK or SPE_ERR_NOMEM.
 */
SPE_API int spe_code_profile_create(struct spe_code_profile **source, struct spe_profile *profile,
                                    uint32_t dso, const struct spe_edge *edges, size_t count);
SPE_API void spe_code_profile_destroy(struct spe_code_profile *source); /* NULL is allowed */

/* ---- Types and objects ---------------------------------------------------------------------- */

/*
 * The types, members and objects that loads and stores accessed. They are derived from the code, or
 * from the data address if it belongs to a variable. Memory grows with the number of distinct
 * instructions, members, objects and threads, not with the number of samples.
 */
struct spe_access_counts {
    uint64_t samples, loads, stores;
    uint64_t latency; /* sum of total latencies, cycles */
    uint64_t l1_misses, llc_misses, tlb_walks;
    uint32_t threads; /* that accessed it; all unknown threads count as one */
    uint32_t writers; /* threads that wrote */
};

struct spe_type_row {
    uint32_t type;   /* spe_profile_type */
    uint64_t offset; /* of the member, in the first element of any array; else 0 */
    uint32_t member; /* string, as in spe_profile_access; SPE_NO_ID: the whole type */
    struct spe_access_counts counts;
};

struct spe_object_row {
    struct spe_profile_object object; /* its offset is that of the first access */
    uint32_t pid;                     /* the process; SPE_NO_TASK: the kernel, or not known */
    struct spe_access_counts counts;
};

enum {
    SPE_TYPES_OBJECTS = 1u << 0,
    SPE_TYPES_TYPES = 1u << 1, /* and members */
};

struct spe_types;

/* want: SPE_TYPES_... SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_types_create(struct spe_types **types, unsigned want);
SPE_API void spe_types_destroy(struct spe_types *types); /* NULL is allowed */
SPE_API int spe_types_add(struct spe_types *types, struct spe_profile *profile,
                          const struct spe_rows *rows);

/* Before the first row: also count in time bins, for the first 1000 rows of each list. The bins are
 * copied. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_types_over_time(struct spe_types *types, const struct spe_times *times);

/* The time bins of list rows (from spe_types_top, spe_types_members or spe_types_objects), as in
 * spe_slices_table. Free the cells with free(). If a row was not counted over time, its cells add
 * up to fewer samples than the row has. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_types_slices(const struct spe_types *types, const struct spe_type_row *rows,
                             size_t count, struct spe_slice_table *table);
SPE_API int spe_types_object_slices(const struct spe_types *types,
                                    const struct spe_object_row *rows, size_t count,
                                    struct spe_slice_table *table);

/* All loads and stores, and the loads and stores by reason. SPE_ACCESS_KNOWN: those with a type of
 * the program; SPE_ACCESS_SAVED: stack operations. */
SPE_API void spe_types_totals(const struct spe_types *types, struct spe_access_counts *all,
                              struct spe_access_counts reasons[SPE_ACCESS_REASONS]);

/* The order of the lists below; the default is by latency. SPE_ERR_INVALID for
 * SPE_SORT_MISPREDICTED, which applies to branches only; the order does not change then. */
SPE_API int spe_types_sort(struct spe_types *types, enum spe_sort sort);

/* The first n by that order, then by latency, samples and id. Returns their number. */
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

/* Members of a type (SPE_NO_ID: of all types) that have samples, in the same order. */
SPE_API size_t spe_types_members_sized(const struct spe_types *types, uint32_t type,
                                       struct spe_type_row *top, size_t n, size_t size);

static inline size_t spe_types_members(const struct spe_types *types, uint32_t type,
                                       struct spe_type_row *top, size_t n)
{
    return spe_types_members_sized(types, type, top, n, sizeof(*top));
}
SPE_API size_t spe_types_member_count(const struct spe_types *types, uint32_t type);

/* The member with the most latency, and the next one by latency that lies on another line and has
 * at least a tenth of the type's latency. False: there is no such pair. */
SPE_API bool spe_types_apart_sized(const struct spe_types *types, uint32_t type,
                                   struct spe_type_row members[2], size_t size);

static inline bool spe_types_apart(const struct spe_types *types, uint32_t type,
                                   struct spe_type_row members[2])
{
    return spe_types_apart_sized(types, type, members, sizeof(*members));
}

/* The first two members, by offset, that different threads use on one line of 64 bytes, where at
 * least one of the two writes. Objects that one thread uses alone, on lines of their own, do not
 * count. False: no such members were sampled. */
SPE_API bool spe_types_contended_sized(const struct spe_types *types, uint32_t type,
                                       struct spe_type_row members[2], size_t size);

static inline bool spe_types_contended(const struct spe_types *types, uint32_t type,
                                       struct spe_type_row members[2])
{
    return spe_types_contended_sized(types, type, members, sizeof(*members));
}

/* ---- Lists of the library's ----------------------------------------------------------------- */

/*
 * Later releases may add members at the end of the elements of lists that the library owns. A
 * program that is to run with a later release must use spe_shared_line_at(list, i) and similar
 * functions instead of list[i].
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
