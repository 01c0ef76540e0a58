/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Linux perf.data, both ways, for recordings that hold SPE buffers.
 *
 *   reading    spe_perf_reader_*   files, pipes, memory; compressed records; damaged files
 *   writing    spe_perf_writer_*   files and pipes that perf 6.1 and everything newer reads
 *   time       spe_perf_time_*     timestamps <-> nanoseconds of the recording's clock
 *
 * Reader and writer use the same structs for records, events, features and metadata. SPE packets
 * are not decoded: AUX bytes are passed through unchanged.
 *
 * One thread at a time may use a reader or writer; the one exception is marked.
 */
#ifndef SPECIMEN_PERFDATA_H
#define SPECIMEN_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An error in a file. */
struct spe_perf_error {
    int code;        /* enum spe_error; 0: none */
    uint64_t offset; /* of the wrong bytes, in the file */
    char text[200];  /* one sentence without a full stop */
};

/* ---- Time ----------------------------------------------------------------------------------- */

/* How timestamps (counter ticks) become nanoseconds: the TIME_CONV record. */
struct spe_perf_time_conv {
    uint64_t shift; /* 0 to 63 */
    uint64_t mult;  /* not 0 */
    uint64_t zero;  /* modulo 2^64: the clock may have started before the counter */
    uint64_t cycles, mask;
    bool cap_zero, cap_short; /* cap_short: `cycles` and `mask` are valid */
};

/* SPE_OK, or SPE_ERR_RANGE if shift or mult is invalid. */
SPE_API int spe_perf_time_validate(const struct spe_perf_time_conv *tc);

/* All are exact in 128 bits and wrap at 2^64 as the clock itself does. spe_perf_time_to_ticks gives
 * the last tick that is not after the nanosecond. An invalid conversion gives 0. */
SPE_API uint64_t spe_perf_time_to_ns(const struct spe_perf_time_conv *tc, uint64_t ticks);
SPE_API void spe_perf_times_to_ns(const struct spe_perf_time_conv *tc, const uint64_t *ticks,
                                  uint64_t *ns, size_t count);
SPE_API uint64_t spe_perf_time_to_ticks(const struct spe_perf_time_conv *tc, uint64_t ns);

/* The conversion that Linux uses for a counter of this frequency, with zero = 0: the largest
 * multiplier with which an hour does not overflow. SPE_ERR_RANGE for 0 and above 2^32 - 1. */
SPE_API int spe_perf_time_from_hz(struct spe_perf_time_conv *tc, uint64_t hz);

/* ---- Events --------------------------------------------------------------------------------- */

/* Bits of sample_type that determine the positions of fields. */
enum {
    SPE_PERF_SAMPLE_IP = 1u << 0,
    SPE_PERF_SAMPLE_TID = 1u << 1,
    SPE_PERF_SAMPLE_TIME = 1u << 2,
    SPE_PERF_SAMPLE_ADDR = 1u << 3,
    SPE_PERF_SAMPLE_READ = 1u << 4,
    SPE_PERF_SAMPLE_CALLCHAIN = 1u << 5,
    SPE_PERF_SAMPLE_ID = 1u << 6,
    SPE_PERF_SAMPLE_CPU = 1u << 7,
    SPE_PERF_SAMPLE_PERIOD = 1u << 8,
    SPE_PERF_SAMPLE_STREAM_ID = 1u << 9,
    SPE_PERF_SAMPLE_DATA_SRC = 1u << 15,
    SPE_PERF_SAMPLE_IDENTIFIER = 1u << 16,
    SPE_PERF_SAMPLE_PHYS_ADDR = 1u << 19,
};

/* Bits of an event's flags word (from struct perf_event_attr) that are used here. */
#define SPE_PERF_FLAG_DISABLED (UINT64_C(1) << 0)
#define SPE_PERF_FLAG_INHERIT (UINT64_C(1) << 1)
#define SPE_PERF_FLAG_EXCLUDE_KERNEL (UINT64_C(1) << 5)
#define SPE_PERF_FLAG_EXCLUDE_HV (UINT64_C(1) << 6)
#define SPE_PERF_FLAG_MMAP (UINT64_C(1) << 8)
#define SPE_PERF_FLAG_COMM (UINT64_C(1) << 9)
#define SPE_PERF_FLAG_FREQ (UINT64_C(1) << 10)
#define SPE_PERF_FLAG_ENABLE_ON_EXEC (UINT64_C(1) << 12)
#define SPE_PERF_FLAG_TASK (UINT64_C(1) << 13)
#define SPE_PERF_FLAG_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define SPE_PERF_FLAG_EXCLUDE_GUEST (UINT64_C(1) << 20)
#define SPE_PERF_FLAG_MMAP2 (UINT64_C(1) << 23)
#define SPE_PERF_FLAG_COMM_EXEC (UINT64_C(1) << 24)
#define SPE_PERF_FLAG_USE_CLOCKID (UINT64_C(1) << 25)
#define SPE_PERF_FLAG_CONTEXT_SWITCH (UINT64_C(1) << 26)
#define SPE_PERF_FLAG_KSYMBOL (UINT64_C(1) << 29)
#define SPE_PERF_FLAG_BPF_EVENT (UINT64_C(1) << 30)

struct spe_perf_event {
    uint32_t type;      /* PMU: 1 is software, dynamic PMUs (SPE) are 6 and above */
    uint32_t attr_size; /* bytes of struct perf_event_attr; writing: 0 for the default */
    uint64_t config, config1, config2, config3, config4;
    uint64_t period; /* or frequency, with SPE_PERF_FLAG_FREQ */
    uint64_t sample_type, read_format, flags;
    int32_t clockid;
    const char *name;    /* NULL if it is not known (in a pipe it may come later) */
    const uint64_t *ids; /* reading: in ascending order */
    size_t id_count;
    const uint8_t *attr; /* reading: attr_size bytes from the file; writing: if not NULL, written
                            instead of the fields above */
};

enum {
    SPE_PERF_PER_THREAD = 1u << 0, /* buffers belong to threads: no CPU in records */
    SPE_PERF_TIMELESS = 1u << 1,   /* no time in records */
    SPE_PERF_PHYSICAL = 1u << 2,   /* pa_enable: physical addresses are recorded */
};

/* The two events of a recording, as `perf record -e arm_spe//` opens them. The SPE event comes
 * first in a file. Per-thread recordings with Context packets must be timeless: perf stops with an
 * error if such a recording has time. */
SPE_API void spe_perf_event_init_spe_sized(struct spe_perf_event *event, size_t size,
                                           uint32_t pmu_type, unsigned how);
SPE_API void spe_perf_event_init_tracking_sized(struct spe_perf_event *event, size_t size,
                                                unsigned how);

static inline void spe_perf_event_init_spe(struct spe_perf_event *event, uint32_t pmu_type,
                                           unsigned how)
{
    spe_perf_event_init_spe_sized(event, sizeof(*event), pmu_type, how);
}

static inline void spe_perf_event_init_tracking(struct spe_perf_event *event, unsigned how)
{
    spe_perf_event_init_tracking_sized(event, sizeof(*event), how);
}

/* A third event, whose SAMPLE records have the call stacks of SPE records: one for each SPE record
 * with a stack, with its thread, time and pc. perf shows them as samples of this event. Its PMU is
 * not SPE's, but one that exists only in the file (spe_perf_features.pmus). */
#define SPE_PERF_CALLS_NAME "spe-callchain"
SPE_API void spe_perf_event_init_calls_sized(struct spe_perf_event *event, size_t size,
                                             uint32_t pmu_type, unsigned how);

static inline void spe_perf_event_init_calls(struct spe_perf_event *event, uint32_t pmu_type,
                                             unsigned how)
{
    spe_perf_event_init_calls_sized(event, sizeof(*event), pmu_type, how);
}

/* ---- SPE metadata (AUXTRACE_INFO) ----------------------------------------------------------- */

#define SPE_PERF_NO_PMU UINT32_MAX

struct spe_perf_cpu {
    uint32_t cpu;
    uint32_t pmu_type; /* SPE_PERF_NO_PMU: this CPU has no SPE */
    uint64_t midr;
    uint64_t min_interval;
    uint64_t event_filter;
    bool has_event_filter; /* Linux 6.18 and up */
};

struct spe_perf_metadata {
    unsigned version;   /* 1 or 2, according to the layout of the block */
    uint32_t pmu_type;  /* of the first SPE PMU */
    uint32_t word;      /* version word of the block; this writer puts the PMU type there */
    bool per_cpu_mmaps; /* version 1 only */
    const struct spe_perf_cpu *cpus; /* version 2, else NULL */
    size_t cpu_count;
};

/* ---- Features ------------------------------------------------------------------------------- */

/* Numbers of the sections after the data. */
enum spe_perf_feature {
    SPE_PERF_FEATURE_TRACING_DATA = 1,
    SPE_PERF_FEATURE_BUILD_ID = 2,
    SPE_PERF_FEATURE_HOSTNAME = 3,
    SPE_PERF_FEATURE_OSRELEASE = 4,
    SPE_PERF_FEATURE_VERSION = 5,
    SPE_PERF_FEATURE_ARCH = 6,
    SPE_PERF_FEATURE_NRCPUS = 7,
    SPE_PERF_FEATURE_CPUDESC = 8,
    SPE_PERF_FEATURE_CPUID = 9,
    SPE_PERF_FEATURE_TOTAL_MEM = 10,
    SPE_PERF_FEATURE_CMDLINE = 11,
    SPE_PERF_FEATURE_EVENT_DESC = 12,
    SPE_PERF_FEATURE_CPU_TOPOLOGY = 13,
    SPE_PERF_FEATURE_NUMA_TOPOLOGY = 14,
    SPE_PERF_FEATURE_BRANCH_STACK = 15,
    SPE_PERF_FEATURE_PMU_MAPPINGS = 16,
    SPE_PERF_FEATURE_GROUP_DESC = 17,
    SPE_PERF_FEATURE_AUXTRACE = 18,
    SPE_PERF_FEATURE_STAT = 19,
    SPE_PERF_FEATURE_CACHE = 20,
    SPE_PERF_FEATURE_SAMPLE_TIME = 21,
    SPE_PERF_FEATURE_MEM_TOPOLOGY = 22,
    SPE_PERF_FEATURE_CLOCKID = 23,
    SPE_PERF_FEATURE_DIR_FORMAT = 24,
    SPE_PERF_FEATURE_COMPRESSED = 27,
    SPE_PERF_FEATURE_CLOCK_DATA = 29,
    SPE_PERF_FEATURE_COUNT = 256 /* bits in the file's header */
};

struct spe_perf_numa_node {
    uint32_t node;
    uint64_t total_kb, free_kb;
    const char *cpus; /* "0-3,8" */
};

/* The blocks of physical memory of a node: bit n is block n. */
struct spe_perf_mem_node {
    uint64_t node;
    uint64_t bits;
    const uint64_t *set; /* (bits + 63) / 64 words */
};

struct spe_perf_pmu {
    uint32_t type;
    const char *name;
};

#define SPE_PERF_BUILD_ID_MAX 20

struct spe_perf_build_id {
    int32_t pid;   /* -1: the kernel and its modules, or any process */
    uint16_t misc; /* cpumode: 1 kernel, 2 user */
    uint8_t id_size;
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    const char *path;
};

/* The features. Text is untrusted. NULL, 0 or an empty array: the feature is missing. The reader
 * owns its arrays; the writer copies its arguments. */
struct spe_perf_features {
    const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
    uint32_t cpus_available, cpus_online;
    uint64_t total_mem_kb;
    const char *const *command; /* the arguments of `perf record` */
    size_t command_count;
    const struct spe_perf_numa_node *numa;
    size_t numa_count;
    uint64_t mem_block_size;
    const struct spe_perf_mem_node *mem;
    size_t mem_count;
    const struct spe_perf_pmu *pmus;
    size_t pmu_count;
    const struct spe_perf_build_id *build_ids;
    size_t build_id_count;
    uint64_t first_sample_ns, last_sample_ns;
    uint64_t clockid_resolution_ns;
    struct {
        uint32_t version, type, level, ratio, mmap_size;
    } compressed; /* reading only */
};

/* ---- Records -------------------------------------------------------------------------------- */

enum spe_perf_record_type {
    SPE_PERF_MMAP = 1,
    SPE_PERF_LOST = 2,
    SPE_PERF_COMM = 3,
    SPE_PERF_EXIT = 4,
    SPE_PERF_THROTTLE = 5,
    SPE_PERF_UNTHROTTLE = 6,
    SPE_PERF_FORK = 7,
    SPE_PERF_READ = 8,
    SPE_PERF_SAMPLE = 9,
    SPE_PERF_MMAP2 = 10,
    SPE_PERF_AUX = 11,
    SPE_PERF_ITRACE_START = 12,
    SPE_PERF_LOST_SAMPLES = 13,
    SPE_PERF_SWITCH = 14,
    SPE_PERF_SWITCH_CPU_WIDE = 15,
    SPE_PERF_NAMESPACES = 16,
    SPE_PERF_KSYMBOL = 17,
    SPE_PERF_BPF = 18,
    SPE_PERF_CGROUP = 19,
    SPE_PERF_TEXT_POKE = 20,
    /* Types from 64 are written by perf, not by the kernel, and have no sample_id. */
    SPE_PERF_HEADER_ATTR = 64,
    SPE_PERF_TRACING_DATA = 66,
    SPE_PERF_BUILD_ID = 67,
    SPE_PERF_FINISHED_ROUND = 68,
    SPE_PERF_ID_INDEX = 69,
    SPE_PERF_AUXTRACE_INFO = 70,
    SPE_PERF_AUXTRACE = 71,
    SPE_PERF_AUXTRACE_ERROR = 72,
    SPE_PERF_THREAD_MAP = 73,
    SPE_PERF_CPU_MAP = 74,
    SPE_PERF_EVENT_UPDATE = 78,
    SPE_PERF_TIME_CONV = 79,
    SPE_PERF_HEADER_FEATURE = 80,
    SPE_PERF_COMPRESSED = 81,
    SPE_PERF_FINISHED_INIT = 82,
    SPE_PERF_COMPRESSED2 = 83,
    SPE_PERF_RECORD_TYPES = 128 /* size of tables by type; larger types count as type 0 */
};

/* Bits of misc. */
enum {
    SPE_PERF_MISC_CPUMODE = 7, /* 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user */
    SPE_PERF_MISC_KERNEL = 1,
    SPE_PERF_MISC_USER = 2,
    SPE_PERF_MISC_MMAP_DATA = 1u << 13,
    SPE_PERF_MISC_COMM_EXEC = 1u << 13,
    SPE_PERF_MISC_SWITCH_OUT = 1u << 13,
    SPE_PERF_MISC_SWITCH_OUT_PREEMPT = 1u << 14,
    SPE_PERF_MISC_MMAP_BUILD_ID = 1u << 14, /* the reader sets id_size instead */
    SPE_PERF_MISC_BUILD_ID_SIZE = 1u << 15,
};

/* The words that the kernel appends to its records (sample_id_all), if the event requested them. */
struct spe_perf_sample_id {
    uint64_t has; /* fields present: SPE_PERF_SAMPLE_TID, _TIME, _ID, _STREAM_ID, _CPU */
    uint32_t pid, tid;
    uint64_t time; /* ns; 0 in records that perf wrote itself */
    uint64_t id, stream_id;
    uint32_t cpu;
};

struct spe_perf_mmap { /* MMAP, MMAP2 */
    uint32_t pid, tid; /* pid -1: the kernel */
    uint64_t start, length, page_offset;
    uint32_t major, minor; /* MMAP2 without build-id */
    uint64_t inode, inode_generation;
    uint8_t id_size; /* MMAP2 with build-id: 1 to 20 */
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    uint32_t protection, flags; /* MMAP2 */
    const char *path;
};

struct spe_perf_comm {
    uint32_t pid, tid;
    const char *name;
};

struct spe_perf_task { /* FORK, EXIT */
    uint32_t pid, parent_pid, tid, parent_tid;
    uint64_t time;
};

struct spe_perf_switch {           /* SWITCH, SWITCH_CPU_WIDE; misc has the direction */
    uint32_t other_pid, other_tid; /* SWITCH_CPU_WIDE: the next (out) or previous (in) thread */
};

struct spe_perf_thread { /* ITRACE_START */
    uint32_t pid, tid;
};

enum {
    SPE_PERF_AUX_TRUNCATED = 1u << 0, /* records were lost: the buffer was full */
    SPE_PERF_AUX_OVERWRITE = 1u << 1, /* snapshot mode */
    SPE_PERF_AUX_PARTIAL = 1u << 2,   /* the buffer has gaps */
    SPE_PERF_AUX_COLLISION = 1u << 3, /* samples collided */
};

struct spe_perf_aux {
    uint64_t offset, size, flags;
};

struct spe_perf_lost { /* LOST: id and count; LOST_SAMPLES: count */
    uint64_t id, count;
};

struct spe_perf_throttle { /* THROTTLE, UNTHROTTLE */
    uint64_t time, id, stream_id;
};

struct spe_perf_namespaces {
    uint32_t pid, tid;
    uint64_t count;
    const uint8_t *links; /* count times {u64 device, u64 inode}, not aligned */
};

struct spe_perf_ksymbol {
    uint64_t address;
    uint32_t length;
    uint16_t type, flags;
    const char *name;
};

struct spe_perf_bpf {
    uint16_t type, flags;
    uint32_t id;
    uint8_t tag[8];
};

struct spe_perf_sample { /* SAMPLE: the fields at fixed positions; sample_id has the others */
    uint64_t ip, address, period;
    /* callchain_count words, not aligned, innermost first. Words from SPE_PERF_CONTEXT_MAX on are
     * not addresses, but the context (user, kernel) of the words that follow. NULL: the event has
     * no call chains. */
    const uint8_t *callchain;
    uint64_t callchain_count;
};

#define SPE_PERF_CONTEXT_USER ((uint64_t)-512)
#define SPE_PERF_CONTEXT_MAX ((uint64_t)-4095)

enum {
    SPE_PERF_PIECE_UNSYNCED = 1u << 0,  /* does not continue the previous piece: end the SPE stream
                                           and start a new one with SPE_STREAM_UNSYNCED */
    SPE_PERF_PIECE_TRUNCATED = 1u << 1, /* the file ends inside it */
};

#define SPE_PERF_OFFSET_NEXT UINT64_MAX

struct spe_perf_auxtrace {
    uint64_t size;      /* reading: in the file, including padding */
    uint64_t offset;    /* in the queue's AUX bytes; writing: may be SPE_PERF_OFFSET_NEXT */
    uint64_t reference; /* any number */
    uint32_t idx;       /* the queue */
    uint32_t tid, cpu;  /* -1: any */
    uint8_t flags;      /* SPE_PERF_PIECE_...; reading */
    uint8_t held; /* reading: zeros to feed before an UNSYNCED piece, see spe_perf_reader_aux */
};

struct spe_perf_record {
    uint32_t type; /* enum spe_perf_record_type, or a type that this version does not know */
    uint16_t misc;
    bool viewed;          /* the union below is filled in */
    bool decompressed;    /* it was in a compressed record, whose offset is `offset` */
    uint64_t offset;      /* in the file */
    const uint8_t *bytes; /* the whole record with its 8-byte header; writing: the body without the
                             header, only for types without a view */
    size_t size;          /* of bytes */
    int event; /* number of its event, -1 if not known; writing: the event whose sample_type
                  determines the appended sample_id, -1: append none */
    struct spe_perf_sample_id id;
    union {
        struct spe_perf_mmap mmap;
        struct spe_perf_comm comm;
        struct spe_perf_task task;
        struct spe_perf_switch switched;
        struct spe_perf_thread thread;
        struct spe_perf_aux aux;
        struct spe_perf_lost lost;
        struct spe_perf_throttle throttle;
        struct spe_perf_namespaces namespaces;
        struct spe_perf_ksymbol ksymbol;
        struct spe_perf_bpf bpf;
        struct spe_perf_build_id build_id;
        struct spe_perf_sample sample;
        struct spe_perf_time_conv time_conv;
        struct spe_perf_auxtrace auxtrace;
    };
};

/* "MMAP2", "AUXTRACE_INFO" ...; NULL for an unknown type. */
SPE_API const char *spe_perf_record_name(uint32_t type);

/* ---- Reading -------------------------------------------------------------------------------- */

struct spe_perf_reader;

enum {
    /* Read the file instead of mapping it. Mapping is faster, but if another process truncates the
     * mapped file, or its disk fails, the next access raises SIGBUS. */
    SPE_PERF_NO_MAP = 1u << 0,
    /* Keep no list of AUX pieces; queues only count. This is always so for input without random
     * access. */
    SPE_PERF_NO_PIECES = 1u << 1,
};

/* A source of bytes that is not a file. The callback reads at most `size` bytes into `bytes` and
 * returns their number, 0 at the end, or a negative spe_error. */
struct spe_perf_input {
    int64_t (*read)(void *user, void *bytes, size_t size);
    void *user;
};

/* Do these bytes begin a perf.data file, in any byte order? 8 bytes are enough. */
SPE_API bool spe_perf_probe(const uint8_t *bytes, size_t size);

/*
 * Open a recording and read its header, events and features, but not its data. The caller keeps the
 * descriptor of spe_perf_reader_open_fd; descriptor, memory or input must outlive the reader. For a
 * directory, as `perf record --kcore` makes it, the file "data" in it is opened. Pipes and inputs
 * are read in bounded memory. There, the features of a recording in file format come last and are
 * known only after spe_perf_reader_next has returned 0.
 *
 * SPE_OK, or SPE_ERR_IO (errno), SPE_ERR_NOMEM, SPE_ERR_FORMAT with a sentence in *error (which may
 * be NULL) and NULL in *reader.
 */
SPE_API int spe_perf_reader_open(struct spe_perf_reader **reader, const char *path, unsigned flags,
                                 struct spe_perf_error *error);
SPE_API int spe_perf_reader_open_fd(struct spe_perf_reader **reader, int fd, unsigned flags,
                                    struct spe_perf_error *error);
SPE_API int spe_perf_reader_open_memory(struct spe_perf_reader **reader, const void *bytes,
                                        size_t size, unsigned flags, struct spe_perf_error *error);
SPE_API int spe_perf_reader_open_input(struct spe_perf_reader **reader,
                                       const struct spe_perf_input *input, unsigned flags,
                                       struct spe_perf_error *error);
SPE_API void spe_perf_reader_close(struct spe_perf_reader *reader); /* NULL is allowed */

struct spe_perf_info {
    bool pipe;         /* pipe format: attributes and features are records */
    bool seekable;     /* pieces can be read at any time */
    bool mapped;       /* the file is mapped into memory */
    bool unterminated; /* the header's data size is 0: the recorder was killed */
    bool truncated;    /* the input is shorter than its header states */
    bool incomplete;   /* Specimen's writer ended before spe_perf_writer_finish. For a pipe this is
                          known at the end. Always false for files of perf, which have no such mark */
    bool overwrite;    /* snapshot mode: AUX records with the OVERWRITE flag were seen */
    uint64_t size;     /* of the input; 0: not known yet */
    uint64_t data_offset;
    uint64_t data_size;                             /* according to the header */
    uint64_t features[SPE_PERF_FEATURE_COUNT / 64]; /* bits of the features that can be read */
};

SPE_API const struct spe_perf_info *spe_perf_reader_info(const struct spe_perf_reader *reader);

SPE_API size_t spe_perf_reader_event_count(const struct spe_perf_reader *reader);
SPE_API const struct spe_perf_event *spe_perf_reader_event(const struct spe_perf_reader *reader,
                                                           size_t i); /* NULL past the last */
SPE_API int spe_perf_reader_event_by_id(const struct spe_perf_reader *reader,
                                        uint64_t id); /* number, or SPE_ERR_UNKNOWN */

/* Valid and unchanged until the next call of spe_perf_reader_next or spe_perf_reader_close. */
SPE_API const struct spe_perf_features *
spe_perf_reader_features(const struct spe_perf_reader *reader);

/* The bytes of a feature. SPE_OK, or SPE_ERR_UNKNOWN if the file does not have it. The index of
 * AUXTRACE records is not kept: it is always SPE_ERR_UNKNOWN. */
SPE_API int spe_perf_reader_feature(const struct spe_perf_reader *reader, unsigned feature,
                                    const uint8_t **bytes, size_t *size);

/* NULL until the record has been read; the last of several records is used. */
SPE_API const struct spe_perf_metadata *
spe_perf_reader_metadata(const struct spe_perf_reader *reader);
SPE_API const struct spe_perf_time_conv *
spe_perf_reader_time_conv(const struct spe_perf_reader *reader);

/* MIDR_EL1 of a CPU from the metadata, else from the CPUID feature; 0 if not known. For cpu -1
 * (per-thread buffers): the value that all CPUs have in common. */
SPE_API uint64_t spe_perf_reader_midr(const struct spe_perf_reader *reader, uint32_t cpu);

/* Does the event belong to an SPE PMU, according to the metadata? There may be several SPE PMUs. */
SPE_API bool spe_perf_reader_is_spe(const struct spe_perf_reader *reader, size_t event);

/*
 * Read the next record. Returns 1, 0 at the end, or SPE_ERR_IO, SPE_ERR_NOMEM
 * (spe_perf_reader_problem has the sentence; the next call returns the same error). For a
 * compressed record, its contents are returned. Damage is not an error: it is skipped, as far as
 * the file allows, and counted in the account.
 *
 * Strings and bytes of the record are valid until the next call of this or of spe_perf_reader_aux.
 * Text is untrusted, but ends with a NUL. A record that is too short for its type, or whose text
 * has no NUL, has no view and is counted as malformed.
 */
SPE_API int spe_perf_reader_next_sized(struct spe_perf_reader *reader,
                                       struct spe_perf_record *record, size_t size);

static inline int spe_perf_reader_next(struct spe_perf_reader *reader,
                                       struct spe_perf_record *record)
{
    return spe_perf_reader_next_sized(reader, record, sizeof(*record));
}

/*
 * The next bytes of an AUXTRACE record, after the record itself. Returns 1, or 0 if there are no
 * more bytes, or an error. Bytes that are not read are skipped.
 *
 * Up to 7 zeros at the end of a piece may be alignment. Only the next piece of the queue shows
 * whether they are, so they are held back; zeros that are data come first with the next piece.
 * Before an SPE stream ends, feed it the held zeros: spe_perf_auxtrace.held if the next piece is
 * UNSYNCED, spe_perf_queue.held at the end of the recording.
 */
SPE_API int spe_perf_reader_aux(struct spe_perf_reader *reader, const uint8_t **bytes,
                                size_t *size);

/* ---- AUX queues ----------------------------------------------------------------------------- */

/* The bytes of one AUXTRACE record in the file. */
struct spe_perf_piece {
    uint64_t file_offset;
    uint64_t size; /* without the padding that follows it */
    uint64_t aux_offset;
    uint32_t tid, cpu;
    uint8_t padding; /* 0 to 7 */
    uint8_t flags;   /* SPE_PERF_PIECE_... */
};

/* The buffers of one AUX ring, in order. Together they are one stream of SPE records, except that a
 * piece with SPE_PERF_PIECE_UNSYNCED starts a new stream. In snapshot mode the first piece also has
 * this flag. */
struct spe_perf_queue {
    uint32_t idx;
    uint32_t cpu, tid; /* of the first piece */
    uint64_t bytes;    /* in all pieces, without padding */
    uint8_t held;      /* zeros at the end that spe_perf_reader_aux has not returned */
    uint64_t piece_count;
    const struct spe_perf_piece *pieces; /* NULL if no list is kept */
};

/* Queues in order of appearance. They are complete when spe_perf_reader_next has returned 0; the
 * last piece of a queue may change until then. */
SPE_API size_t spe_perf_reader_queue_count(const struct spe_perf_reader *reader);
SPE_API const struct spe_perf_queue *spe_perf_reader_queue(const struct spe_perf_reader *reader,
                                                           size_t i);

/*
 * Get up to `size` bytes of a piece, from offset `from`; *bytes points to them. Bytes of a file are
 * copied into `buffer`. If the file is mapped and `buffer` is NULL, *bytes points into the mapping.
 * Bytes of a recording in memory are never copied. Returns their number, 0 at the end of the piece,
 * SPE_ERR_IO, or SPE_ERR_INVALID (no random access). Any number of threads may call this at the
 * same time.
 */
SPE_API int64_t spe_perf_piece_read(const struct spe_perf_reader *reader,
                                    const struct spe_perf_piece *piece, uint64_t from, void *buffer,
                                    size_t size, const uint8_t **bytes);

/* These bytes of a piece are no longer needed: the memory of a mapped file can be released. */
SPE_API void spe_perf_piece_done(const struct spe_perf_reader *reader,
                                 const struct spe_perf_piece *piece, uint64_t from, uint64_t size);

/* ---- Accounting ----------------------------------------------------------------------------- */

enum spe_perf_skip {
    SPE_PERF_SKIP_HEADER,       /* a record's size is smaller than its header */
    SPE_PERF_SKIP_TRUNCATED,    /* the data ends inside a record */
    SPE_PERF_SKIP_QUEUES,       /* bytes of more queues than SPE_PERF_QUEUE_MAX */
    SPE_PERF_SKIP_DECOMPRESS,   /* a compressed record cannot be decompressed */
    SPE_PERF_SKIP_DECOMPRESSED, /* the decompressed bytes are not records */
    SPE_PERF_SKIP_COUNT
};

#define SPE_PERF_SKIP_ROOM 16 /* size of tables by reason, with room for more */

SPE_API const char *spe_perf_skip_name(unsigned reason); /* a short phrase; never NULL */

#define SPE_PERF_QUEUE_MAX 32768
#define SPE_PERF_EVENT_MAX 1024
#define SPE_PERF_ID_MAX (1u << 20)

struct spe_perf_range {
    uint64_t offset, size; /* in the file */
    uint32_t reason;       /* enum spe_perf_skip */
};

/*
 * An account of every byte that has been read so far. After the last record:
 *
 *   bytes      = header_bytes + data_bytes + rest_bytes
 *   data_bytes = record_bytes + attached_bytes + aux_bytes + padding_bytes + skipped_bytes
 *   unpacked_bytes = unpacked_record_bytes + unpacked_skipped_bytes
 */
struct spe_perf_account {
    uint64_t bytes;          /* of the input */
    uint64_t header_bytes;   /* before the data: header, IDs, attributes */
    uint64_t rest_bytes;     /* after the data: features */
    uint64_t data_bytes;     /* present in the input */
    uint64_t missing_bytes;  /* missing, although the header or a record states them */
    uint64_t record_bytes;   /* records with their headers; compressed records as in the file */
    uint64_t attached_bytes; /* after TRACING_DATA records */
    uint64_t aux_bytes;      /* after AUXTRACE records, without padding */
    uint64_t padding_bytes;  /* after AUX bytes, and zeros between records */
    uint64_t skipped_bytes;
    uint64_t skipped_by[SPE_PERF_SKIP_ROOM];

    uint64_t unpacked_bytes; /* from compressed records */
    uint64_t unpacked_record_bytes, unpacked_skipped_bytes;

    uint64_t records;                           /* returned records and compressed records */
    uint64_t records_by[SPE_PERF_RECORD_TYPES]; /* number of these, by type */
    uint64_t bytes_by[SPE_PERF_RECORD_TYPES]; /* bytes of these, by type, without attached bytes */
    uint64_t malformed;                       /* records without a view that should have one */
    uint64_t index_entries;                   /* of the AUXTRACE index */
    uint64_t index_found; /* of these, entries that point to an AUXTRACE record */
    uint64_t aux_truncated, aux_overwrite, aux_partial, aux_collision; /* AUX records, by flag */
    uint64_t lost;   /* according to LOST and LOST_SAMPLES records */
    uint64_t ranges; /* number of skipped ranges */
};

SPE_API const struct spe_perf_account *
spe_perf_reader_account(const struct spe_perf_reader *reader);

/* The skipped ranges in order, up to the first SPE_PERF_RANGE_MAX; NULL past the last. */
#define SPE_PERF_RANGE_MAX 1024
SPE_API const struct spe_perf_range *spe_perf_reader_range(const struct spe_perf_reader *reader,
                                                           size_t i);

/* The first problem that was found, including features; its code is 0 if there is none. */
SPE_API const struct spe_perf_error *spe_perf_reader_problem(const struct spe_perf_reader *reader);

/* Is the file damaged? If so, the text says where, and how many bytes are missing or were skipped.
 * Complete when spe_perf_reader_next has returned 0. A killed recorder (info.unterminated,
 * info.incomplete) and reported losses of samples are not damage. */
SPE_API bool spe_perf_reader_damage(const struct spe_perf_reader *reader, char *text, size_t size);

/* ---- Writing -------------------------------------------------------------------------------- */

/*
 * A recording is written in this order: open; events; features (at any time); begin; records and
 * AUX bytes in file order; an occasional flush; finish; close.
 *
 * At any moment, Specimen and perf can read the file up to the last flush, however the program
 * ends: the header is written last and states the end of the flushed data. (With
 * SPE_PERF_WRITE_SYNC this includes a crash of the machine.)
 *
 * SPE_ERR_INVALID, and SPE_ERR_SIZE for a record, are mistakes of the caller and do not change the
 * recording. After any other error all later calls return the same error.
 */
struct spe_perf_writer;

/* The receiver of the bytes. Offsets ascend, except that a file's header is written again; with
 * SPE_PERF_WRITE_PIPE they always ascend. write: write all `size` bytes, or return a negative
 * spe_error. sync (may be NULL): make the bytes so far survive a crash of the machine. truncate
 * (may be NULL): end the file at this size. */
struct spe_perf_output {
    int (*write)(void *user, uint64_t offset, const void *bytes, size_t size);
    int (*sync)(void *user);
    int (*truncate)(void *user, uint64_t size);
    void *user;
};

enum {
    SPE_PERF_WRITE_PIPE = 1u << 0, /* pipe format, for `perf script -i -`: only the features known
                                      at the beginning are written, and there is no index */
    SPE_PERF_WRITE_SYNC = 1u << 1, /* a flush waits until the data is on disk */
};

/* Create or truncate a file; or use an open descriptor, which the caller still owns; or an output,
 * which must outlive the writer. Errors as spe_perf_reader_open. */
SPE_API int spe_perf_writer_open(struct spe_perf_writer **writer, const char *path, unsigned flags,
                                 struct spe_perf_error *error);
SPE_API int spe_perf_writer_open_fd(struct spe_perf_writer **writer, int fd, unsigned flags,
                                    struct spe_perf_error *error);
SPE_API int spe_perf_writer_open_output(struct spe_perf_writer **writer,
                                        const struct spe_perf_output *output, unsigned flags,
                                        struct spe_perf_error *error);

/* Add an event; returns its number. The SPE event must be the first. IDs must be unique and not 0.
 * With several events, each must have the IDENTIFIER bit. */
SPE_API int spe_perf_writer_event_sized(struct spe_perf_writer *writer,
                                        const struct spe_perf_event *event, size_t size);

static inline int spe_perf_writer_event(struct spe_perf_writer *writer,
                                        const struct spe_perf_event *event)
{
    return spe_perf_writer_event_sized(writer, event, sizeof(*event));
}

/* Set the features. They are copied and replace earlier ones; features without a value are not
 * written. EVENT_DESC and AUXTRACE are always written. `perf c2c` needs numa, arch and
 * cpus_available; `perf buildid-list` needs build_ids. */
SPE_API int spe_perf_writer_features_sized(struct spe_perf_writer *writer,
                                           const struct spe_perf_features *features, size_t size);

static inline int spe_perf_writer_features(struct spe_perf_writer *writer,
                                           const struct spe_perf_features *features)
{
    return spe_perf_writer_features_sized(writer, features, sizeof(*features));
}

/* Add a build-id after those of spe_perf_writer_features. */
SPE_API int spe_perf_writer_build_id(struct spe_perf_writer *writer,
                                     const struct spe_perf_build_id *build_id);

struct spe_perf_id { /* entry of the ID_INDEX record */
    uint64_t id, idx;
    uint64_t cpu, tid; /* -1: any */
};

struct spe_perf_start {
    size_t size; /* written by spe_perf_start_init */
    /* NULL only if no event has time: perf divides by zero without it. */
    const struct spe_perf_time_conv *time_conv;
    const struct spe_perf_metadata *metadata; /* pmu_type and cpus (no cpus: version 1) */
    const struct spe_perf_id *ids;            /* ID_INDEX, if any */
    size_t id_count;
};

static inline void spe_perf_start_init(struct spe_perf_start *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

/*
 * Write the beginning, in the order that perf needs: header and attributes, TIME_CONV, ID_INDEX,
 * AUXTRACE_INFO.
 *
 * AUXTRACE_INFO has the layout of version 2, which has every CPU's MIDR, but with the PMU type in
 * place of the version: perf up to 6.12 reads the PMU type there, and later versions ignore it.
 * With more CPUs than fit into a record (1169), it is version 1, and the CPUID feature must have
 * the MIDR.
 */
SPE_API int spe_perf_writer_begin(struct spe_perf_writer *writer,
                                  const struct spe_perf_start *start);

/* Append a record from the view of its type, or from `bytes` and `size` for a type without one.
 * offset, viewed and decompressed are ignored. Text must not be NULL. SPE_ERR_INVALID for AUXTRACE
 * and HEADER_ATTR, SPE_ERR_SIZE if the record is larger than 65528 bytes. */
SPE_API int spe_perf_writer_record_sized(struct spe_perf_writer *writer,
                                         const struct spe_perf_record *record, size_t size);

static inline int spe_perf_writer_record(struct spe_perf_writer *writer,
                                         const struct spe_perf_record *record)
{
    return spe_perf_writer_record_sized(writer, record, sizeof(*record));
}

/*
 * Append AUX bytes as one AUXTRACE record, padded with zeros to a multiple of 8. End the bytes at
 * the end of an SPE record (spe_stream and spe_record_decode find it). Specimen reads pieces that
 * end anywhere, but perf reads a packet in two pieces as two broken packets, and the padding
 * between them confuses readers that ignore offsets. piece->size is ignored.
 */
SPE_API int spe_perf_writer_aux(struct spe_perf_writer *writer,
                                const struct spe_perf_auxtrace *piece, const void *bytes,
                                size_t size);

/* Make the file readable up to here. This writes all features, including the index: call it about
 * once per second, not for every record. For a pipe: write the buffered bytes. */
SPE_API int spe_perf_writer_flush(struct spe_perf_writer *writer);

/* The last flush, which marks the recording as complete (docs/perfdata.md). Nothing can be added
 * later. */
SPE_API int spe_perf_writer_finish(struct spe_perf_writer *writer);

/* Without spe_perf_writer_finish before it, the file stays marked as incomplete. NULL is allowed.
 */
SPE_API void spe_perf_writer_close(struct spe_perf_writer *writer);

/* The size of the file up to the end of the data, including buffered bytes; after finish, the size
 * of the whole file. */
SPE_API uint64_t spe_perf_writer_size(const struct spe_perf_writer *writer);

SPE_API const struct spe_perf_error *spe_perf_writer_problem(const struct spe_perf_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
