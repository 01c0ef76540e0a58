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
 * on their number. Call the functions of one profile from one thread at a time.
 *
 * Text (names of symbols, files, threads, hosts) is untrusted. It is bounded in length, ends with a
 * NUL, and may hold any other byte. Escape it before you show it.
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
    uint64_t offset;     /* in the file, where it is known; of the filter: see filter_position */
    int filter_position; /* -1, or the first wrong byte of options.filter */
    char text[800];      /* one sentence without a full stop */
};

/* ---- Opening -------------------------------------------------------------------------------- */

/* Joins that take time: done only if these flags or the filter need them. */
enum {
    SPE_WANT_SYMBOL = 1u << 0, /* symbol */
    SPE_WANT_LINE = 1u << 1,   /* line: needs debug information, and time to read it */
    SPE_WANT_STACK = 1u << 2,  /* stack: where the recording has call stacks (`spe record -g`) */
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
    SPE_ORDER_FAST,  /* groups of all queues in turn: best for sums, uses all cores */
    SPE_ORDER_QUEUE, /* one queue after the other, each by offset */
    SPE_ORDER_TIME,  /* by time; equal times by queue, then by offset. Records without time come
                        with the one before them. In a recording without time: as QUEUE */
};

struct spe_profile_options {
    size_t size;      /* written by spe_profile_options_init */
    unsigned threads; /* 0: as many as there are CPUs, at most one for each 256 MB of SPE bytes */
    unsigned order;   /* enum spe_profile_order */
    unsigned want;    /* SPE_WANT_... */
    unsigned omit; /* SPE_OMIT_...: columns that are not read. A filter and a cut read everything */
    unsigned group_rows; /* most rows of a group; 0: 1024; at most 65536 */
    bool map;            /* map the file instead of reading it (see SPE_PERF_NO_MAP for SIGBUS) */

    const char *symfs;     /* files of the recording's machine are below this directory; NULL: / */
    const char *debug_dir; /* build-id cache; NULL: $HOME/.debug; "": none */
    const char *vmlinux;   /* symbols of the kernel: an ELF file ... */
    const char *kallsyms;  /* ... or a copy of /proc/kallsyms (and of its modules) */
    bool no_debuginfod;    /* do not ask, even if DEBUGINFOD_URLS is set */

    const char *cpu; /* "neoverse-n1" or a MIDR ("0x413fd0c1"), if the file does not name it */
    bool raw;        /* read the bytes as one SPE buffer, even if they look like something else */

    /* A cut: rows outside are dropped before they are joined, and counted in `cut`. */
    uint64_t time_from, time_to; /* ns, from <= time < to; to 0: no end. Rows without time stay */
    const uint32_t *cpus, *pids, *tids; /* any of; NULL: all */
    size_t cpu_count, pid_count, tid_count;

    const char *filter; /* spe-filter(7); NULL: all rows */

    /* Most bytes of memory, about, for each of two things: what the recording's tasks, maps and
     * queues take (0: 1 GiB, or as many as the file has), and what is unpacked and parsed of
     * programs: symbols, debug information (0: 1 GiB). What does not fit is left out, with a
     * warning. */
    uint64_t memory_limit;

    /* Numbers of queues; NULL: all. Others are not read, nor counted as cut: several readers can
     * share a recording. A number that is not there is not an error. */
    const uint32_t *queues;
    size_t queue_count;
};

/* The usual ones. */
static inline void spe_profile_options_init(struct spe_profile_options *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

/* The same as an initializer. */
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

SPE_API void spe_profile_close(struct spe_profile *profile); /* NULL is fine */

/* ---- About the recording --------------------------------------------------------------------- */

struct spe_profile_cpu {
    uint32_t number;
    uint64_t midr;             /* 0: not known */
    const struct spe_cpu *cpu; /* facts about it; NULL: none are known */
};

/* NULL, 0: the file does not say. */
struct spe_profile_info {
    bool raw;        /* raw SPE bytes: no time, no threads, no maps */
    bool timed;      /* time_ns means something */
    bool per_thread; /* buffers belong to threads, and rows have no CPU */
    bool snapshot;
    bool truncated;     /* the file is shorter than it should be */
    bool unterminated;  /* the recording was killed */
    bool incomplete;    /* ... or could not be written to its end, as the file says */
    const char *damage; /* a sentence about the damage of the file; NULL: none */
    const char *hostname, *osrelease, *perf_version, *arch, *cpudesc;
    const char *const *command; /* the arguments of the recorder */
    size_t command_count;
    const struct spe_profile_cpu *cpus; /* of the metadata, or those with SPE buffers; ascending */
    size_t cpu_count;
    uint32_t cpus_available, cpus_online;
    const struct spe_cpu *cpu; /* the one that all have in common, else NULL */
    spe_features features;     /* of that CPU, hence the SPE version; 0: not known */
    bool simulated;            /* written by a model of an SPU, not recorded from hardware */
    const char *model_note;    /* its description of itself */
    uint64_t period;           /* sample period of the first SPE event; 0: not known */
    uint64_t config, config1, config2;      /* of the same */
    uint64_t first_event_ns, last_event_ns; /* of records with time, SPE's excepted */
    uint64_t bytes;                         /* of the file */
    uint64_t aux_bytes;                     /* of SPE buffers in it */
    size_t queue_count;
    uint64_t stacks; /* call stacks in it, of SPE records or of other events */
    const struct spe_perf_features *features_of_file; /* NUMA, memory, PMUs; NULL for raw bytes */
    uint64_t other_stacks;   /* of these, if SPE records have none: those of one other event */
    const char *other_event; /* its name; NULL: there are none, or stacks are not wanted */
};

/* In config: "jitter" in the kernel's format of the event, PMSIRR_EL1.RND. */
#define SPE_CONFIG_JITTER (UINT64_C(1) << 16)

SPE_API const struct spe_profile_info *spe_profile_info(const struct spe_profile *profile);

/* Of loads and stores that spe_profile_only_data left out. */
struct spe_profile_left_out {
    uint64_t samples, stores; /* with a data address; those of them that store */
    uint64_t latency;         /* the sum of their total latencies */
    uint64_t said;            /* of these: the data source is known */
    uint64_t no_address;      /* loads and stores without a data address */
    uint32_t thread;          /* of the samples, if there are any ... */
    bool several_threads;     /* ... and whether all have this one */
};

/* Up to the rows handed out so far, complete when spe_profile_next has returned 0; those marked *
 * are complete from the beginning. account: records + padding + skipped = bytes fed. */
struct spe_profile_counts {
    struct spe_account account;   /* of SPE bytes: records, bytes not decoded by reason */
    struct spe_perf_account file; /* * of the perf.data; zeros for raw bytes */
    uint64_t rows;                /* handed out */
    uint64_t cut, filtered;       /* dropped by the cut, by the filter */
    uint64_t lost;                /* * by LOST and LOST_SAMPLES records */
    uint64_t aux_truncated;       /* * AUX records that say: samples were lost, buffer full */
    uint64_t aux_collision;       /* * ... samples collided */
    uint64_t aux_partial;         /* * ... the buffer has gaps */
    uint64_t without_time;        /* rows of a timed recording without a timestamp */
    uint64_t by_context, by_switch, by_buffer; /* rows, by the source of the thread */
    uint64_t by_nothing;                       /* rows whose thread is not known: tid -1 */
    uint64_t context_unknown;   /* rows: CONTEXT names a thread that no record of the file names */
    uint64_t context_mismatch;  /* rows: SWITCH records, or the buffer, name another thread than
                                   CONTEXT. The row has the thread of CONTEXT */
    uint64_t no_map;            /* rows whose pc lies in no known map */
    uint64_t stacks;            /* rows that have a call stack, if these are wanted */
    uint64_t first_ns, last_ns; /* least and greatest time of a row; 0 if there is none */
    uint64_t passed;            /* records that spe_profile_only left out: they are in by_* and
                                   context_*, but not in the other counts of rows */
    uint64_t passed_latency;    /* the sum of their total latencies; not with ..._only_data */
    struct spe_profile_left_out left_out;
};

SPE_API const struct spe_profile_counts *spe_profile_counts(const struct spe_profile *profile);

/* Sentences for the user (a binary was refused, CONTEXT is missing ...), in an order that does not
 * depend on the number of threads; NULL past the last. Complete after the last row. */
SPE_API const char *spe_profile_warning(const struct spe_profile *profile, size_t i);

/* SPE_OK, or the reason for missing names of functions, lines or files in the look-ups so far:
 * SPE_ERR_NOMEM, SPE_ERR_IO. Call it after the last look-up. */
SPE_API int spe_profile_status(const struct spe_profile *profile);

/* ---- Rows ----------------------------------------------------------------------------------- */

#define SPE_NO_CPU UINT32_MAX
#define SPE_NO_EL 0xff

/* rows.flags */
enum {
    SPE_ROW_TIMESTAMP = 1u << 0, /* the record has a timestamp of its own */
    SPE_ROW_BY_CONTEXT = 1u << 1,
    SPE_ROW_BY_SWITCH = 1u << 2,
    SPE_ROW_BY_BUFFER = 1u << 3,
    SPE_ROW_MISMATCH = 1u << 4, /* see context_mismatch */
    SPE_ROW_KERNEL = 1u << 5,   /* EL1 and up */
    SPE_ROW_NS = 1u << 6,       /* NS and NSE of the pc */
    SPE_ROW_NSE = 1u << 7,
};

/*
 * `count` rows as columns. A cell is zero (an id: none) if the record does not have the value;
 * `has`, `addresses` and `counters` distinguish this from a zero. Valid until the next call for the
 * profile.
 */
struct spe_rows {
    size_t size; /* written by spe_profile_next */
    size_t count;
    size_t queue;           /* whose rows these are; with SPE_ORDER_TIME see queues */
    const uint32_t *queues; /* SPE_ORDER_TIME: the queue of each row, else NULL */

    const uint64_t *offset;    /* of the record in the queue's SPE bytes */
    const uint64_t *time_ns;   /* timed recordings, by perf's rule; a record without a timestamp has
                                  the time of the one before it */
    const uint64_t *timestamp; /* as recorded, in ticks */
    const uint32_t *cpu;
    const uint32_t *pid, *tid;
    const uint8_t *el; /* SPE_NO_EL without a pc */
    const uint8_t *flags;

    /* Addresses as software uses them: virtual ones sign-extended from bit 55, without tag. */
    const uint64_t *pc, *target, *va, *pa, *previous_target;
    const uint8_t *tag; /* top byte of the va, as recorded */

    const uint64_t *events; /* SPE_EVENT_BIT */
    const uint16_t *op;     /* CLASS << 8 | payload: spe_op_decode(op >> 8, op & 0xff, ...) */
    const uint16_t *total, *issue, *translation, *alt_issue;
    const uint16_t *source;
    const uint8_t *level; /* enum spe_source_level by the CPU's table; a record without a Data
                             Source packet, or a CPU without a table, is SPE_LEVEL_UNKNOWN */
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
    const uint32_t *stack;  /* spe_profile_call: its innermost; NULL if not wanted */
};

/* The next group: 1, or 0 at the end, or SPE_ERR_IO, SPE_ERR_NOMEM. A group has at least one row.
 * Damage is not an error: it is in the counts. */
SPE_API int spe_profile_next_sized(struct spe_profile *profile, struct spe_rows *rows, size_t size);

static inline int spe_profile_next(struct spe_profile *profile, struct spe_rows *rows)
{
    return spe_profile_next_sized(profile, rows, sizeof(*rows));
}

/* Start again with the first group. Ids stay the same. */
SPE_API int spe_profile_rewind(struct spe_profile *profile);

struct spe_profile_span {
    uint64_t start, end; /* addresses of code; end is the first behind it */
};

/*
 * From now on, rows are needed only of these addresses: of others, and of records without a pc,
 * rows may be left out, which is several times as fast if they are most. How many are is in the
 * counts. Nothing is left out by this where there is a cut or a filter. The spans are copied; with
 * none of them no row is needed, and with NULL all are. It holds until the next call. SPE_OK or
 * SPE_ERR_NOMEM.
 */
SPE_API int spe_profile_only(struct spe_profile *profile, const struct spe_profile_span *spans,
                             size_t count);

struct spe_profile_data {
    size_t size;     /* sizeof(struct spe_profile_data) */
    uint32_t levels; /* a bit for each enum spe_source_level */
    unsigned shift;  /* lines of 2^shift bytes */
    uint64_t memory; /* most bytes of notes, about */
};

/*
 * The same by data: rows are needed only of loads and stores with a data address that were served
 * from one of these levels. What is left out is in the counts, and notes are taken of it: after the
 * last row, spe_profile_left_out gives rows of those whose data address is in one of the lines.
 * When the notes take too much memory, nothing more is left out. NULL: all rows are needed, and
 * notes are forgotten, as spe_profile_rewind does. To be called before the first row or after the
 * last one. SPE_OK, SPE_ERR_NOMEM or SPE_ERR_INVALID.
 */
SPE_API int spe_profile_only_data(struct spe_profile *profile, const struct spe_profile_data *data);

/* From the next call on, spe_profile_next gives rows of what was left out: of these lines, given by
 * an address each, and perhaps of others, queue after queue, without offset. They change no
 * counts. SPE_OK or SPE_ERR_NOMEM. */
SPE_API int spe_profile_left_out(struct spe_profile *profile, const uint64_t *addresses,
                                 size_t count);

/* Where a map has a function's code; false if it has none of it. */
SPE_API bool spe_profile_span(const struct spe_profile *profile, uint32_t map, uint64_t symbol,
                              struct spe_profile_span *span);

/* ---- Tables --------------------------------------------------------------------------------- */

/* Never NULL: "" for an id that is none. Valid until the profile is closed. */
SPE_API const char *spe_profile_string(const struct spe_profile *profile, uint32_t id);

struct spe_profile_thread {
    uint32_t pid, tid; /* pid SPE_NO_TASK: not known */
    uint32_t comm;     /* string: the last name it had; SPE_NO_ID */
    uint64_t start_ns; /* 0: was there before */
};

/* A tid that is used again by another thread is another thread. NULL past the last. */
SPE_API const struct spe_profile_thread *spe_profile_thread(const struct spe_profile *profile,
                                                            uint32_t id);
SPE_API size_t spe_profile_thread_count(const struct spe_profile *profile);

/* NULL past the last. state, file and warning are current at the time of the call. */
SPE_API const struct spe_profile_dso *spe_profile_dso(const struct spe_profile *profile,
                                                      uint32_t id);
SPE_API size_t spe_profile_dso_count(const struct spe_profile *profile);

/* The file of the recorded program: of the first process (of those in spe_profile_options.pids)
 * that mapped a file. SPE_NO_ID if no process did. */
SPE_API uint32_t spe_profile_program(const struct spe_profile *profile);

/* The first dso with this path, or else with this name without directories; SPE_NO_ID. */
SPE_API uint32_t spe_profile_find_dso(const struct spe_profile *profile, const char *name);

/* The mean number of operations from one sample to the next; 0 if it is not known. */
SPE_API double spe_profile_interval(const struct spe_profile *profile);

SPE_API const struct spe_profile_map *spe_profile_map(const struct spe_profile *profile,
                                                      uint32_t id);
SPE_API size_t spe_profile_map_count(const struct spe_profile *profile);

struct spe_profile_symbol {
    const char *name;
    uint32_t dso;
    uint64_t address, size; /* in the file's own addresses; of the kernel: as it ran */
};

/* SPE_OK, or SPE_ERR_UNKNOWN: *symbol is then { "", SPE_NO_ID, 0, 0 }. Ids are not dense, but
 * ascend within a dso: id >> 32 is the dso. */
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
 * A call that a row is in, by rows.stack, and whose caller is the next outer one, and so on up to
 * the id for which SPE_ERR_UNKNOWN is returned. A row without a stack has SPE_NO_ID; one whose
 * stack is known to have no call has an id for which SPE_ERR_UNKNOWN is returned at once. Equal
 * stacks of a program have equal ids.
 */
struct spe_profile_call {
    uint64_t address; /* behind the call, where it returns to: the caller is at address - 4 */
    uint32_t caller;
};

SPE_API int spe_profile_call(const struct spe_profile *profile, uint32_t id,
                             struct spe_profile_call *call);

/*
 * Call stacks of another event, such as cycles of `perf record -g -e arm_spe// -e cycles`, in a
 * recording whose SPE records have none. They do not belong to rows; they only show the callers of
 * a function and their frequency. If several events have call stacks, the one with the most is
 * used.
 */
struct spe_profile_other_stack {
    uint64_t pc, time_ns;
    uint64_t weight; /* the event's period, or 1 */
    uint32_t thread; /* or SPE_NO_ID */
    uint32_t stack;  /* spe_profile_call: its innermost, as of rows.stack */
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
    uint32_t dso;       /* likewise */
    uint64_t symbol;    /* function, or with data: object; or SPE_NO_SYMBOL */
    uint64_t address;   /* in the file's own addresses */
    uint64_t in_symbol; /* offset from the symbol's start */
};

/* What an address was for a thread at a time (ns; UINT64_MAX: at the end). data: look for objects,
 * not functions, and in all maps. SPE_OK, or SPE_ERR_UNKNOWN if there was no map. */
SPE_API int spe_profile_place_sized(struct spe_profile *profile, uint32_t thread, uint64_t time_ns,
                                    uint64_t address, bool data, struct spe_profile_place *place,
                                    size_t size);

static inline int spe_profile_place(struct spe_profile *profile, uint32_t thread, uint64_t time_ns,
                                    uint64_t address, bool data, struct spe_profile_place *place)
{
    return spe_profile_place_sized(profile, thread, time_ns, address, data, place, sizeof(*place));
}

/* Function of a pc in a map, as in rows.symbol: id or SPE_NO_SYMBOL. */
SPE_API uint64_t spe_profile_find_symbol(struct spe_profile *profile, uint32_t map, uint64_t pc);

/* Line of a pc in a map, as in rows.line: id or SPE_NO_ID. */
SPE_API uint32_t spe_profile_find_line(struct spe_profile *profile, uint32_t map, uint64_t pc);

/* An address in the file's own addresses, from one in a map; UINT64_MAX: the file has no such
 * place. Means something if the dso's state is verified or unverified. */
SPE_API uint64_t spe_profile_find_address(struct spe_profile *profile, uint32_t map, uint64_t pc);

/* The functions that were inlined at a pc, innermost first, and last the one that is a symbol.
 * Writes at most `max` and returns how many there are; 0 without debug information. */
SPE_API int spe_profile_inlines(struct spe_profile *profile, uint32_t map, uint64_t pc,
                                struct spe_profile_frame *frames, size_t max);

/* The same at an address of a dso, in the file's own addresses. */
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

/* Report that a thread used this address as its stack, for later calls. A recording names the stack
 * of a process's first thread at most. */
SPE_API int spe_profile_stack(struct spe_profile *profile, uint32_t thread, uint64_t address);

/* "table.slots[17].key", "counter+0x4", "stack of worker (4711)", "[heap]": at most size bytes with
 * the NUL. access_size: bytes that are accessed there (0: one). */
SPE_API void spe_profile_object_text(struct spe_profile *profile,
                                     const struct spe_profile_object *object, uint32_t access_size,
                                     char *text, size_t size);

/* The data that a load or store accesses, from its pc in a map alone. Results are kept for each
 * instruction. SPE_OK (reason: SPE_ACCESS_KNOWN, SPE_ACCESS_SAVED), or SPE_ERR_UNKNOWN. */
SPE_API int spe_profile_access(struct spe_profile *profile, uint32_t map, uint64_t pc,
                               struct spe_profile_access *access);

/* The same at an address of a dso, in the file's own addresses. */
SPE_API int spe_profile_access_at(struct spe_profile *profile, uint32_t dso, uint64_t address,
                                  struct spe_profile_access *access);

/* The member of an object's type at the object's offset, for an access of the size in `access`: an
 * answer from the data address, for instructions whose code does not give one. SPE_OK, or
 * SPE_ERR_UNKNOWN if the object has no type, or no member there. */
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
SPE_API void spe_filter_destroy(struct spe_filter *filter); /* NULL is fine */

/* SPE_WANT_... that the expression needs in the rows. */
SPE_API unsigned spe_filter_wants(const struct spe_filter *filter);

/*
 * Set bit i of selected (rows.count bits, in words of 64; the last one's rest is cleared) if row i
 * matches. Returns the number of rows that do, or SPE_ERR_NOMEM. Names are looked up once an id and
 * remembered in the filter, so a filter is for one profile, and for one thread at a time.
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
