/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The sample table: one row for every SPE record of a recording, joined with time, thread, map,
 * symbol and source line. Rows come in groups, so a recording of any size fits into memory.
 *
 *     struct spe_profile_options options = SPE_PROFILE_OPTIONS;
 *     options.want = SPE_WANT_SYMBOL;
 *     options.filter = "load and total > 100";
 *     if (spe_profile_open(&profile, "perf.data", &options, &error) == SPE_OK) {
 *         while ((result = spe_profile_next(profile, &rows)) > 0)
 *             for (size_t i = 0; i < rows.count; i++)
 *                 use(rows.pc[i], rows.symbol[i]);
 *         spe_profile_close(profile);
 *     }
 *
 * Several internal threads decode and join queues. Rows, their order, ids and counts do not depend
 * on the number of threads. One thread at a time may use a profile.
 *
 * Text (names of symbols, files, threads, hosts) is untrusted. It is bounded in length, ends with a
 * NUL, and may contain any other byte. Escape it before you display it.
 */
#ifndef SPECIMEN_PROFILE_H
#define SPECIMEN_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"
#include "format.h"
#include "names.h"
#include "perfdata.h"

#ifdef __cplusplus
extern "C" {
#endif

struct spe_profile;
struct spe_filter;

/* An error in a file or in a filter. */
struct spe_profile_error {
    int code;            /* enum spe_error; 0: none */
    uint64_t offset;     /* in the file, if known; for a filter see filter_position */
    int filter_position; /* -1, or the first wrong byte of options.filter */
    char text[800];      /* one sentence without a full stop */
};

/* ---- Opening -------------------------------------------------------------------------------- */

/* Joins that take time. They are done only if these flags or the filter need them. */
enum {
    SPE_WANT_SYMBOL = 1u << 0, /* symbol */
    SPE_WANT_LINE = 1u << 1,   /* line: needs debug information, and time to read it */
    SPE_WANT_STACK = 1u << 2,  /* stack: if the recording has call stacks (`spe record -g`) */
};

/* Columns to leave out, for speed. Such a column is NULL unless the library itself needs it. */
enum {
    SPE_OMIT_OFFSET = 1u << 0,
    SPE_OMIT_TIMESTAMP = 1u << 1, /* time_ns stays */
    SPE_OMIT_TARGET = 1u << 2,
    SPE_OMIT_VA = 1u << 3, /* and tag */
    SPE_OMIT_PA = 1u << 4,
    SPE_OMIT_PREVIOUS_TARGET = 1u << 5,
    SPE_OMIT_LATENCIES = 1u << 6, /* issue, translation, alt_issue; total stays */
    SPE_OMIT_SOURCE = 1u << 7,    /* level stays */
    SPE_OMIT_CONTEXTS = 1u << 8,  /* pid, tid and thread stay */
    SPE_OMIT_COMM = 1u << 9,
    SPE_OMIT_CPU = 1u << 10,
    SPE_OMIT_TID = 1u << 11, /* pid and thread stay */
};

/* The order of rows. Queues (SPE buffers, one for each CPU or thread) are numbered as they appear
 * in the file. The rows of a group belong to one queue, except with SPE_ORDER_TIME. */
enum spe_profile_order {
    SPE_ORDER_FAST,  /* groups from all queues in turn: best for sums, uses all cores */
    SPE_ORDER_QUEUE, /* one queue after the other, each by offset */
    SPE_ORDER_TIME,  /* by time; equal times by queue, then by offset. A record without a time
                        follows the record before it. Without times: as SPE_ORDER_QUEUE */
};

struct spe_profile_options {
    size_t size;         /* written by spe_profile_options_init */
    unsigned threads;    /* 0: one per CPU, but at most one per 256 MB of SPE bytes */
    unsigned order;      /* enum spe_profile_order */
    unsigned want;       /* SPE_WANT_... */
    unsigned omit;       /* SPE_OMIT_...: columns to leave out, ignored with a filter or a cut */
    unsigned group_rows; /* maximum rows of a group, up to 65536; 0: 1024 */
    bool map;            /* map the file instead of reading it (see SPE_PERF_NO_MAP for SIGBUS) */

    const char *symfs;     /* directory with the files of the recorded machine; NULL: / */
    const char *debug_dir; /* build-id cache; NULL: $HOME/.debug; "": none */
    const char *vmlinux;   /* symbols of the kernel: an ELF file */
    const char *kallsyms;  /* symbols of the kernel and its modules: a copy of /proc/kallsyms */
    bool no_debuginfod;    /* do not use debuginfod, even if DEBUGINFOD_URLS is set */

    const char *cpu; /* "neoverse-n1" or a MIDR ("0x413fd0c1"), if the file has none */
    bool raw;        /* read the bytes as one SPE buffer, even if they do not look like SPE */

    /* A cut: rows outside it are dropped before they are joined, and counted in `cut`. */
    uint64_t time_from, time_to; /* ns, from <= time < to; to 0: no end. Rows without time stay */
    const uint32_t *cpus, *pids, *tids; /* keep rows of any of these; NULL: all */
    size_t cpu_count, pid_count, tid_count;

    const char *filter; /* spe-filter(7); NULL: all rows */

    /* Approximate memory limit in bytes, which applies separately to two parts: the recording's
     * tasks, maps and queues (0: 1 GiB, or the size of the file if that is larger), and the symbols
     * and debug information of programs (0: 1 GiB). Data beyond the limit is skipped, with a
     * warning. */
    uint64_t memory_limit;

    /* Numbers of the queues to read; NULL: all. Other queues are not read and not counted as cut,
     * so that several readers can share a recording. A number that does not exist is not an error.
     */
    const uint32_t *queues;
    size_t queue_count;
};

/* The defaults. */
static inline void spe_profile_options_init(struct spe_profile_options *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

/* The same defaults as an initializer. */
#ifdef __cplusplus
static inline struct spe_profile_options spe_profile_options_usual(void)
{
    struct spe_profile_options options = {};

    options.size = sizeof(options);
    return options;
}
#define SPE_PROFILE_OPTIONS spe_profile_options_usual()
#else
#define SPE_PROFILE_OPTIONS                                                                        \
    {                                                                                              \
        .size = sizeof(struct spe_profile_options)                                                 \
    }
#endif

/*
 * Open a perf.data (file or directory) or a file of raw SPE bytes; the first bytes decide. Input
 * that is not a regular file ("-" is standard input) is first copied to an unnamed temporary file.
 * This function reads all records except SPE records, which spe_profile_next reads. The strings and
 * lists of the options are copied.
 *
 * SPE_OK, or a negative error with a sentence in *error (which may be NULL), and NULL in *profile.
 */
SPE_API int spe_profile_open(struct spe_profile **profile, const char *path,
                             const struct spe_profile_options *options,
                             struct spe_profile_error *error);

/* The same from memory, which is borrowed until the profile is closed. */
SPE_API int spe_profile_open_memory(struct spe_profile **profile, const void *bytes, size_t size,
                                    const struct spe_profile_options *options,
                                    struct spe_profile_error *error);

SPE_API void spe_profile_close(struct spe_profile *profile); /* NULL is allowed */

/* ---- About the recording --------------------------------------------------------------------- */

struct spe_profile_cpu {
    uint32_t number;
    uint64_t midr;             /* 0: not known */
    const struct spe_cpu *cpu; /* properties of the CPU; NULL: not known */
};

/* NULL or 0: the file does not have the value. */
struct spe_profile_info {
    bool raw;        /* raw SPE bytes: no time, no threads, no maps */
    bool timed;      /* rows have a valid time_ns */
    bool per_thread; /* buffers belong to threads, and rows have no CPU */
    bool snapshot;
    bool truncated;     /* the file is shorter than its header states */
    bool unterminated;  /* the recorder was killed */
    bool incomplete;    /* the file is marked as not written to its end */
    const char *damage; /* a sentence about damage of the file; NULL: none */
    const char *hostname, *osrelease, *perf_version, *arch, *cpudesc;
    const char *const *command; /* the arguments of the recorder */
    size_t command_count;
    const struct spe_profile_cpu *cpus; /* from the metadata, or CPUs with SPE buffers; ascending */
    size_t cpu_count;
    uint32_t cpus_available, cpus_online;
    const struct spe_cpu *cpu; /* if all CPUs are of the same type, else NULL */
    spe_features features;     /* of that CPU, including the SPE version; 0: not known */
    bool simulated;            /* written by a model of an SPU, not recorded from hardware */
    const char *model_note;    /* the model's description of itself */
    uint64_t period;           /* sample period of the first SPE event; 0: not known */
    uint64_t config, config1, config2;      /* of the same */
    uint64_t first_event_ns, last_event_ns; /* of records with a time, without SPE records */
    uint64_t bytes;                         /* of the file */
    uint64_t aux_bytes;                     /* of SPE buffers in it */
    size_t queue_count;
    uint64_t stacks; /* call stacks of SPE records or of other events */
    const struct spe_perf_features *features_of_file; /* NUMA, memory, PMUs; NULL for raw bytes */
    uint64_t other_stacks;   /* stacks of one other event, if SPE records have none */
    const char *other_event; /* its name; NULL: there is none, or stacks are not wanted */
};

/* The bit of config for the term "jitter", which sets PMSIRR_EL1.RND. */
#define SPE_CONFIG_JITTER (UINT64_C(1) << 16)

SPE_API const struct spe_profile_info *spe_profile_info(const struct spe_profile *profile);

/* Sums of the loads and stores that spe_profile_only_data skipped. */
struct spe_profile_left_out {
    uint64_t samples, stores; /* with a data address; of these, stores */
    uint64_t latency;         /* sum of their total latencies */
    uint64_t said;            /* samples with a known data source */
    uint64_t no_address;      /* loads and stores without a data address */
    uint32_t thread;          /* a thread of the samples, if there are any */
    bool several_threads;     /* the samples belong to more than one thread */
};

/* Counts up to the last returned row, complete when spe_profile_next has returned 0. Counts marked
 * * are complete from the beginning. */
struct spe_profile_counts {
    struct spe_account account;   /* of SPE bytes: records, bytes not decoded by reason */
    struct spe_perf_account file; /* * of the perf.data; zeros for raw bytes */
    uint64_t rows;                /* handed out */
    uint64_t cut, filtered;       /* dropped by the cut, by the filter */
    uint64_t lost;                /* * according to LOST and LOST_SAMPLES records */
    uint64_t aux_truncated; /* * AUX records with the flag TRUNCATED: samples were lost, the buffer
                               was full */
    uint64_t aux_collision; /* * AUX records with the flag COLLISION: samples collided */
    uint64_t aux_partial;   /* * AUX records with the flag PARTIAL: the buffer has gaps */
    uint64_t without_time;  /* rows without a timestamp in a recording with times */
    uint64_t by_context, by_switch, by_buffer; /* rows, by the source of the thread */
    uint64_t by_nothing;                       /* rows whose thread is not known: tid -1 */
    uint64_t context_unknown;  /* rows: CONTEXT has a thread that no other record of the file has */
    uint64_t context_mismatch; /* rows: SWITCH records or the buffer have another thread than
                                  CONTEXT. The row has the thread of CONTEXT */
    uint64_t no_map;           /* rows whose pc is in no known map */
    uint64_t stacks;           /* rows with a call stack, if stacks are wanted */
    uint64_t first_ns, last_ns; /* smallest and largest time of a row; 0: none */
    uint64_t passed;         /* records that spe_profile_only skipped: they are included in by_* and
                                context_*, but not in the other counts of rows */
    uint64_t passed_latency; /* sum of their total latencies; not with spe_profile_only_data */
    struct spe_profile_left_out left_out;
};

SPE_API const struct spe_profile_counts *spe_profile_counts(const struct spe_profile *profile);

/* Warnings for the user (a binary was refused, CONTEXT is missing ...), one sentence each. The
 * order does not depend on the number of threads. NULL past the last. Complete after the last row.
 */
SPE_API const char *spe_profile_warning(const struct spe_profile *profile, size_t i);

/* SPE_OK, or the error because of which look-ups so far returned no function, line or file:
 * SPE_ERR_NOMEM, SPE_ERR_IO. Call it after the last look-up. */
SPE_API int spe_profile_status(const struct spe_profile *profile);

/* ---- Rows ----------------------------------------------------------------------------------- */

#define SPE_NO_CPU UINT32_MAX
#define SPE_NO_EL 0xff

/* rows.flags */
enum {
    SPE_ROW_TIMESTAMP = 1u << 0, /* the record has its own timestamp */
    SPE_ROW_BY_CONTEXT = 1u << 1,
    SPE_ROW_BY_SWITCH = 1u << 2,
    SPE_ROW_BY_BUFFER = 1u << 3,
    SPE_ROW_MISMATCH = 1u << 4, /* see context_mismatch */
    SPE_ROW_KERNEL = 1u << 5,   /* EL1 and above */
    SPE_ROW_NS = 1u << 6,       /* NS and NSE of the pc */
    SPE_ROW_NSE = 1u << 7,
};

/*
 * `count` rows as columns. A cell is zero (for ids: SPE_NO_...) if the record does not have the
 * value; `has`, `addresses` and `counters` distinguish this from a zero. Valid until the next call
 * for the profile.
 */
struct spe_rows {
    size_t size; /* written by spe_profile_next */
    size_t count;
    size_t queue;           /* the queue of these rows; with SPE_ORDER_TIME see queues */
    const uint32_t *queues; /* SPE_ORDER_TIME: the queue of each row, else NULL */

    const uint64_t *offset;  /* of the record in the queue's SPE bytes */
    const uint64_t *time_ns; /* converted as perf does; a record without a timestamp has the time of
                                the record before it */
    const uint64_t *timestamp; /* as recorded, in ticks */
    const uint32_t *cpu;
    const uint32_t *pid, *tid;
    const uint8_t *el; /* SPE_NO_EL if there is no pc */
    const uint8_t *flags;

    /* Addresses as software uses them: virtual ones sign-extended from bit 55, without tag. */
    const uint64_t *pc, *target, *va, *pa, *previous_target;
    const uint8_t *tag; /* top byte of the va, as recorded */

    const uint64_t *events; /* SPE_EVENT_BIT */
    const uint16_t *op;     /* CLASS << 8 | payload: spe_op_decode(op >> 8, op & 0xff, ...) */
    const uint16_t *total, *issue, *translation, *alt_issue;
    const uint16_t *source;
    const uint8_t *level; /* enum spe_source_level, from the CPU's table; SPE_LEVEL_UNKNOWN without
                             a Data Source packet or without a table */
    const uint32_t *context1, *context2;

    const uint8_t *has;       /* SPE_HAS_... */
    const uint8_t *addresses; /* bit i: address i is present */
    const uint8_t *counters;  /* bit i: counter i is present */

    /* Ids. */
    const uint32_t *thread; /* spe_profile_thread */
    const uint32_t *comm;   /* spe_profile_string: the thread's name at that time */
    const uint32_t *map;    /* spe_profile_map, of the pc */
    const uint64_t *symbol; /* spe_profile_symbol; NULL if not wanted */
    const uint32_t *line;   /* spe_profile_line; NULL if not wanted */
    const uint32_t *stack;  /* spe_profile_call: the innermost call; NULL if not wanted */
};

/* Get the next group. Returns 1, 0 at the end, or SPE_ERR_IO, SPE_ERR_NOMEM. A group has at least
 * one row. Damage is not an error: it is in the counts. */
SPE_API int spe_profile_next_sized(struct spe_profile *profile, struct spe_rows *rows, size_t size);

static inline int spe_profile_next(struct spe_profile *profile, struct spe_rows *rows)
{
    return spe_profile_next_sized(profile, rows, sizeof(*rows));
}

/* Start again with the first group. Ids stay the same. */
SPE_API int spe_profile_rewind(struct spe_profile *profile);

struct spe_profile_span {
    uint64_t start, end; /* addresses of code; end is exclusive */
};

/*
 * From now on, the caller needs only rows with a pc in these spans. Rows of other addresses, and of
 * records without a pc, may be skipped, which is several times as fast if most rows are skipped.
 * The counts have their number. With a cut or a filter nothing is skipped. The spans are copied.
 * With a count of 0 no row is needed; with NULL all rows are. This holds until the next call.
 * SPE_OK or SPE_ERR_NOMEM.
 */
SPE_API int spe_profile_only(struct spe_profile *profile, const struct spe_profile_span *spans,
                             size_t count);

struct spe_profile_data {
    size_t size;     /* sizeof(struct spe_profile_data) */
    uint32_t levels; /* bit n: enum spe_source_level n is needed */
    unsigned shift;  /* lines of 2^shift bytes */
    uint64_t memory; /* approximate memory limit for notes, in bytes */
};

/*
 * The same by data: the caller needs only rows of loads and stores with a data address that were
 * served from one of these levels. The counts have sums of the skipped rows. Notes are kept, so
 * that after the last row spe_profile_left_out can return skipped rows by cache line. When the
 * notes reach the memory limit, nothing more is skipped. NULL: all rows are needed, and the notes
 * are dropped, as by spe_profile_rewind. Call it before the first row or after the last one.
 * SPE_OK, SPE_ERR_NOMEM or SPE_ERR_INVALID.
 */
SPE_API int spe_profile_only_data(struct spe_profile *profile, const struct spe_profile_data *data);

/* From the next call on, spe_profile_next returns skipped rows of these lines, each given by one
 * address. Rows of other lines may be among them. They come queue by queue, without offset, and do
 * not change the counts. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_profile_left_out(struct spe_profile *profile, const uint64_t *addresses,
                                 size_t count);

/* The addresses of a function in a map; false if the map has none of its code. */
SPE_API bool spe_profile_span(const struct spe_profile *profile, uint32_t map, uint64_t symbol,
                              struct spe_profile_span *span);

/* ---- Tables --------------------------------------------------------------------------------- */

/* Never NULL: "" for an invalid id. Valid until the profile is closed. */
SPE_API const char *spe_profile_string(const struct spe_profile *profile, uint32_t id);

struct spe_profile_thread {
    uint32_t pid, tid; /* pid SPE_NO_TASK: not known */
    uint32_t comm;     /* string: its last name; SPE_NO_ID */
    uint64_t start_ns; /* 0: started before the recording */
};

/* If a tid is reused, it is a different thread here. NULL past the last. */
SPE_API const struct spe_profile_thread *spe_profile_thread(const struct spe_profile *profile,
                                                            uint32_t id);
SPE_API size_t spe_profile_thread_count(const struct spe_profile *profile);

/* NULL past the last. state, file and warning are current at the time of the call. */
SPE_API const struct spe_profile_dso *spe_profile_dso(const struct spe_profile *profile,
                                                      uint32_t id);
SPE_API size_t spe_profile_dso_count(const struct spe_profile *profile);

/* The file of the recorded program: the first file that a process mapped (a process of
 * spe_profile_options.pids, if set). SPE_NO_ID if there is none. */
SPE_API uint32_t spe_profile_program(const struct spe_profile *profile);

/* The first dso with this path, or else with this name without directories, or SPE_NO_ID. */
SPE_API uint32_t spe_profile_find_dso(const struct spe_profile *profile, const char *name);

/* The mean number of operations between two samples; 0 if it is not known. */
SPE_API double spe_profile_interval(const struct spe_profile *profile);

SPE_API const struct spe_profile_map *spe_profile_map(const struct spe_profile *profile,
                                                      uint32_t id);
SPE_API size_t spe_profile_map_count(const struct spe_profile *profile);

struct spe_profile_symbol {
    const char *name;
    uint32_t dso;
    uint64_t address, size; /* address in the file; for the kernel, address in memory */
};

/* SPE_OK, or SPE_ERR_UNKNOWN with *symbol { "", SPE_NO_ID, 0, 0 }. Ids are not dense; within a dso
 * they ascend. id >> 32 is the dso. */
SPE_API int spe_profile_symbol_sized(const struct spe_profile *profile, uint64_t id,
                                     struct spe_profile_symbol *symbol, size_t size);

static inline int spe_profile_symbol(const struct spe_profile *profile, uint64_t id,
                                     struct spe_profile_symbol *symbol)
{
    return spe_profile_symbol_sized(profile, id, symbol, sizeof(*symbol));
}

/* Equal places have equal ids. SPE_OK or SPE_ERR_UNKNOWN as above. Ids are dense. */
SPE_API int spe_profile_line(const struct spe_profile *profile, uint32_t id,
                             struct spe_profile_line *line);

/*
 * One call of a call stack. rows.stack is the innermost call; `caller` is the next outer call, and
 * so on until SPE_ERR_UNKNOWN is returned. A row without a stack has SPE_NO_ID. If a stack is known
 * to be empty, its id gives SPE_ERR_UNKNOWN at once. Equal stacks of a program have equal ids.
 */
struct spe_profile_call {
    uint64_t address; /* the return address: the call instruction is at address - 4 */
    uint32_t caller;
};

SPE_API int spe_profile_call(const struct spe_profile *profile, uint32_t id,
                             struct spe_profile_call *call);

/*
 * Call stacks of another event, such as cycles of `perf record -g -e arm_spe// -e cycles`, in a
 * recording whose SPE records have none. They do not belong to rows; they only show the callers of
 * a function and their frequency. If several events have call stacks, the event with the most
 * stacks is used.
 */
struct spe_profile_other_stack {
    uint64_t pc, time_ns;
    uint64_t weight; /* the event's period, or 1 */
    uint32_t thread; /* or SPE_NO_ID */
    uint32_t stack;  /* spe_profile_call: the innermost call, as rows.stack */
};

/* SPE_OK, or SPE_ERR_UNKNOWN past the last of info.other_stacks. */
SPE_API int spe_profile_other_stack_sized(const struct spe_profile *profile, size_t i,
                                          struct spe_profile_other_stack *stack, size_t size);

static inline int spe_profile_other_stack(const struct spe_profile *profile, size_t i,
                                          struct spe_profile_other_stack *stack)
{
    return spe_profile_other_stack_sized(profile, i, stack, sizeof(*stack));
}

/* ---- Places on request ---------------------------------------------------------------------- */

struct spe_profile_place {
    uint32_t map;       /* or SPE_NO_ID */
    uint32_t dso;       /* or SPE_NO_ID */
    uint64_t symbol;    /* function, or with data: object; or SPE_NO_SYMBOL */
    uint64_t address;   /* in the file's own addresses */
    uint64_t in_symbol; /* offset from the symbol's start */
};

/* Look up an address for a thread at a time (ns; UINT64_MAX: the end). data: look for data objects
 * instead of functions, in all maps. SPE_OK, or SPE_ERR_UNKNOWN if the address was not mapped. */
SPE_API int spe_profile_place_sized(struct spe_profile *profile, uint32_t thread, uint64_t time_ns,
                                    uint64_t address, bool data, struct spe_profile_place *place,
                                    size_t size);

static inline int spe_profile_place(struct spe_profile *profile, uint32_t thread, uint64_t time_ns,
                                    uint64_t address, bool data, struct spe_profile_place *place)
{
    return spe_profile_place_sized(profile, thread, time_ns, address, data, place, sizeof(*place));
}

/* The function of a pc in a map, as in rows.symbol: id or SPE_NO_SYMBOL. */
SPE_API uint64_t spe_profile_find_symbol(struct spe_profile *profile, uint32_t map, uint64_t pc);

/* The line of a pc in a map, as in rows.line: id or SPE_NO_ID. */
SPE_API uint32_t spe_profile_find_line(struct spe_profile *profile, uint32_t map, uint64_t pc);

/* Convert an address in a map to an address in the file; UINT64_MAX: the file has no such address.
 * The result is valid only if the dso's state is verified or unverified. */
SPE_API uint64_t spe_profile_find_address(struct spe_profile *profile, uint32_t map, uint64_t pc);

/* The functions that were inlined at a pc, innermost first; the last is the function with a symbol.
 * Writes at most `max` frames and returns the number of frames; 0 without debug information. */
SPE_API int spe_profile_inlines(struct spe_profile *profile, uint32_t map, uint64_t pc,
                                struct spe_profile_frame *frames, size_t max);

/* The same for an address in the file of a dso. */
SPE_API int spe_profile_inlines_at(struct spe_profile *profile, uint32_t dso, uint64_t address,
                                   struct spe_profile_frame *frames, size_t max);

/* ---- Code ----------------------------------------------------------------------------------- */

/*
 * `count` words of code at an address of a dso, in the file's own addresses, from the file of the
 * symbols. data[i] is 1 if the word is data between code (mapping symbols), else 0. Returns the
 * number of words up to the end of that part of the file, or SPE_ERR_NOMEM, or SPE_ERR_UNKNOWN with
 * a sentence in *why: the file was not found, was refused, has changed, or is not an ELF file with
 * code.
 */
SPE_API int64_t spe_profile_code(struct spe_profile *profile, uint32_t dso, uint64_t address,
                                 uint32_t *words, uint8_t *data, size_t count, const char **why);
/* ---- Objects and types ---------------------------------------------------------------------- */

/* The variable, stack or other memory at an address, for a thread at a time (ns; UINT64_MAX: at the
 * end). SPE_OK, or SPE_ERR_UNKNOWN with kind SPE_OBJECT_NONE. */
SPE_API int spe_profile_object(struct spe_profile *profile, uint32_t thread, uint64_t time_ns,
                               uint64_t address, struct spe_profile_object *object);

/* Declare that this address is on the stack of a thread, for later calls. A recording itself has at
 * most the stack of the first thread of a process. */
SPE_API int spe_profile_stack(struct spe_profile *profile, uint32_t thread, uint64_t address);

/* "table.slots[17].key", "counter+0x4", "stack of worker (4711)", "[heap]": at most size bytes
 * including the NUL. access_size: size of the access in bytes (0: 1). */
SPE_API void spe_profile_object_text(struct spe_profile *profile,
                                     const struct spe_profile_object *object, uint32_t access_size,
                                     char *text, size_t size);

/* The data that a load or store accesses, derived only from its pc in a map. Results are cached for
 * each instruction. SPE_OK (reason: SPE_ACCESS_KNOWN, SPE_ACCESS_SAVED), or SPE_ERR_UNKNOWN with
 * another reason. */
SPE_API int spe_profile_access(struct spe_profile *profile, uint32_t map, uint64_t pc,
                               struct spe_profile_access *access);

/* The same for an address in the file of a dso. */
SPE_API int spe_profile_access_at(struct spe_profile *profile, uint32_t dso, uint64_t address,
                                  struct spe_profile_access *access);

/* The member of an object's type at the object's offset, for an access of the size in `access`.
 * This uses the data address, for instructions whose code gives no answer. SPE_OK, or
 * SPE_ERR_UNKNOWN if the object has no type, or no member at the offset. */
SPE_API int spe_profile_access_of_object(struct spe_profile *profile,
                                         const struct spe_profile_object *object,
                                         struct spe_profile_access *access);

/* SPE_OK or SPE_ERR_UNKNOWN. */
SPE_API int spe_profile_type(struct spe_profile *profile, uint32_t id,
                             struct spe_profile_type *type);
SPE_API size_t spe_profile_type_count(const struct spe_profile *profile);

/* Member i of a struct or union, in the order of its description. SPE_OK or SPE_ERR_UNKNOWN. */
SPE_API int spe_profile_member(struct spe_profile *profile, uint32_t type, size_t i,
                               struct spe_profile_member *member);

/* ---- Filters -------------------------------------------------------------------------------- */

/*
 * Compile an expression of spe-filter(7), such as
 *
 *     load and total > 100 and symbol ~ "memcpy" and not events.retired
 *
 * SPE_OK, or SPE_ERR_NOMEM, or SPE_ERR_INVALID with the position and a sentence in *error (which
 * may be NULL). The text is copied.
 */
SPE_API int spe_filter_create(struct spe_filter **filter, const char *text,
                              struct spe_profile_error *error);
SPE_API void spe_filter_destroy(struct spe_filter *filter); /* NULL is allowed */

/* SPE_WANT_... that the expression needs in the rows. */
SPE_API unsigned spe_filter_wants(const struct spe_filter *filter);

/*
 * Set bit i of selected (rows.count bits, in 64-bit words; unused bits of the last word are
 * cleared) if row i matches. Returns the number of matching rows, or SPE_ERR_NOMEM. The filter
 * caches the names of ids, so use it with one profile only, and from one thread at a time.
 */
SPE_API int64_t spe_filter_select(struct spe_filter *filter, const struct spe_profile *profile,
                                  const struct spe_rows *rows, uint64_t *selected);

/* Fields that an expression can name, for help texts; NULL past the last. */
struct spe_filter_field {
    const char *name;     /* "total" */
    const char *kind;     /* "number", "text", "flag" */
    const char *sentence; /* its meaning */
};

SPE_API const struct spe_filter_field *spe_filter_field_at(size_t i);

#ifdef __cplusplus
}
#endif
#endif
