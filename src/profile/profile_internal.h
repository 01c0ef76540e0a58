/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the files of the profile room share. From the bytes to the rows:
 *
 *   sideband.c  records of the perf.data -> events in order of time
 *   tasks.c     events -> threads, processes, who ran where
 *   spaces.c    address spaces that change over time
 *   dsos.c      files that were mapped, and where their symbols are; open.c, symbols.c, kernel.c,
 *               jit.c, lines.c
 *   queue.c     SPE bytes of one queue -> columns
 *   join.c      columns -> rows
 *   rows.c      groups of rows; order.c: which comes next; pool.c: threads
 *
 * Everything up to dsos.c is complete before the first row is made and does not change after that,
 * so the threads that make rows need no locks, but for symbols: those are read on first use.
 */
#ifndef SPECIMEN_SRC_PROFILE_INTERNAL_H
#define SPECIMEN_SRC_PROFILE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <specimen/perfdata.h>
#include <specimen/profile.h>

#include "perfdata/source.h"
#include "profile/budget.h"
#include "profile/files.h"
#include "profile/hash.h"
#include "profile/vector.h"

#define NONE UINT32_MAX

/* ---- Strings -------------------------------------------------------------------------------- */

#define STRING_MAX 4095 /* bytes; longer ones are cut */
#define STRING_CHUNK 4096

/* Interned strings. Old ones may be read by any thread while one thread adds new ones. */
struct strings {
    char **chunk[STRING_CHUNK];
    _Atomic uint32_t count; /* is told when the string is there */
    struct hash_table table;
    uint64_t seed;
    char *room; /* of the block that is being filled */
    size_t left;
    VECTOR(char *) blocks;
    atomic_int trouble; /* why names are missing that were looked for later; 0: none is */
};

void strings_init(struct strings *s, uint64_t seed);
void strings_free(struct strings *s);
/* Id of a string, or NONE if there is no memory for it. */
uint32_t strings_add(struct strings *s, const char *text);
const char *strings_at(const struct strings *s, uint32_t id);
/* Bytes that they take. */
uint64_t strings_memory(const struct strings *s);

/* A name could not be found out: SPE_ERR_NOMEM, SPE_ERR_IO. The profile's user is told by
 * spe_profile_status; the first reason counts. */
static inline void names_missing(struct strings *s, int why)
{
    int none = 0;

    atomic_compare_exchange_strong(&s->trouble, &none, why);
}

/* ---- Address spaces ------------------------------------------------------------------------- */

/*
 * A space at a moment is a tree of maps by address. A change makes a new tree that shares all but
 * the changed path with the old one, so that every moment can be looked up, and a fork costs
 * nothing.
 */
struct space_node {
    uint64_t start, end;
    uint32_t map; /* NONE: unmapped */
    uint32_t left, right;
    uint32_t edit; /* whoever has this number may change the node in place */
};

struct spaces {
    VECTOR(struct space_node) nodes; /* node 0 is the empty tree */
    uint64_t seed;
    uint32_t edits;
    bool full; /* no more history: changes apply from the last version on */
};

int spaces_init(struct spaces *s);
/* The tree with [start, end) given to a map; NONE without memory. */
uint32_t spaces_assign(struct spaces *s, uint32_t root, uint32_t edit, uint64_t start, uint64_t end,
                       uint32_t map);

/* The map of an address in a tree, or NONE, and the addresses around it that have the same. */
struct map_view {
    uint64_t first, last;
    uint32_t root, map;
};

struct map_view spaces_view(const struct spaces *s, uint32_t root, uint64_t address);

struct version {
    uint64_t time; /* from here on */
    uint32_t what; /* root of a tree, or name of a thread */
};

struct history {
    VECTOR(struct version) versions; /* ascending */
};

/* From `time` on it is `what`; times do not descend. */
int history_add(struct history *h, uint64_t time, uint32_t what);
/* What it is at a time and, narrowed down in *from and *to, from when until when. Before the first
 * version the first one counts; `none` if there is no version. */
uint32_t history_at(const struct history *h, uint64_t time, uint32_t none, uint64_t *from,
                    uint64_t *to);

/* ---- Tasks ---------------------------------------------------------------------------------- */

struct process {
    uint32_t pid;
    uint32_t edit;
    struct history space;
};

struct thread {
    struct spe_profile_thread shown;
    uint32_t process; /* NONE: not known */
    uint32_t older;   /* thread that had the same tid before, or NONE */
    uint32_t far;     /* one further back, or itself: it takes few steps to any */
    uint32_t age;     /* how many are older */
    struct history comm;
};

/* Who runs on a CPU from a time on. */
struct turn {
    uint64_t time;
    uint32_t tid; /* NONE: not known */
    uint32_t order;
};

struct cpu_turns {
    uint32_t cpu;
    VECTOR(struct turn) turns;
    uint32_t before; /* who ran before the first turn */
};

struct id_table {           /* tid -> newest thread, pid -> newest process, cpu -> its turns */
    VECTOR(uint64_t) slots; /* key << 32 | value; all ones: free */
    uint64_t seed;
    size_t used;
};

struct tasks {
    VECTOR(struct process) processes; /* process 0 is the kernel */
    VECTOR(struct thread) threads;
    VECTOR(struct cpu_turns) cpus;
    struct id_table by_tid, by_pid, by_cpu;
    struct spaces spaces;
    uint64_t turns, versions; /* of all CPUs, processes and threads */
};

int tasks_init(struct tasks *t, uint64_t seed);
void tasks_free(struct tasks *t);
/* Bytes that they take, at most. */
uint64_t tasks_memory(const struct tasks *t);
/* Events, in order of time. */
int tasks_comm(struct tasks *t, uint64_t time, uint32_t pid, uint32_t tid, uint32_t name,
               bool exec);
/* copy: the new process starts with the maps of its parent. */
int tasks_fork(struct tasks *t, uint64_t time, const struct spe_perf_task *task, bool copy);
/* A thread that some record names; call it when all events are in. */
int tasks_seen(struct tasks *t, uint32_t pid, uint32_t tid, uint32_t name);
int id_table_set(struct id_table *t, uint32_t key, uint32_t value);
uint32_t id_table_get(const struct id_table *t, uint32_t key); /* NONE if it is not there */
int tasks_map(struct tasks *t, uint64_t time, uint32_t pid, uint64_t start, uint64_t end,
              uint32_t map);
int tasks_turn(struct tasks *t, uint32_t cpu, uint64_t time, uint32_t tid, uint32_t left);
void tasks_finish(struct tasks *t);

/* What a thread is at a time, and how long that holds. */
struct task_view {
    uint64_t from, to;
    uint32_t tid, pid, thread, comm, root;
};

void tasks_view(const struct tasks *t, uint32_t tid, uint64_t time, struct task_view *view);
void tasks_view_thread(const struct tasks *t, uint32_t thread, uint64_t time,
                       struct task_view *view);
uint32_t tasks_kernel_root(const struct tasks *t, uint64_t time, uint64_t *from, uint64_t *to);
const struct cpu_turns *tasks_turns(const struct tasks *t, uint32_t cpu);

/* ---- Files that were mapped ----------------------------------------------------------------- */

enum dso_kind { DSO_FILE, DSO_KERNEL, DSO_MODULE, DSO_ANONYMOUS, DSO_JIT, DSO_KSYMBOL };

enum { SYMBOL_FUNCTION = 1, SYMBOL_OBJECT = 2 };

struct symbol {
    uint64_t start, end;
    uint32_t name; /* offset in symtab.names */
    uint8_t kind, rank;
};

struct segment {
    uint64_t offset, address, size;
    uint64_t memory; /* bytes that it has there: those behind `size` (.bss) are not in the file */
};

/* Symbols of a file; does not change once it is there. */
struct symtab {
    VECTOR(struct symbol) functions; /* ascending by start */
    VECTOR(struct symbol) objects;
    VECTOR(char) names;
    VECTOR(struct segment) segments; /* where the file's bytes are in its own addresses */
    uint64_t kernel_shift;           /* what to add to the kernel's addresses in its file */
    bool relative;                   /* use segments */
    bool full;                       /* more than the budget had: names are missing */
    struct budget *budget;           /* NULL: no end */
    uint64_t taken;                  /* of it */
};

struct dso {
    uint32_t path, name; /* as they are shown */
    uint32_t mapped;     /* the path in the recording */
    uint8_t kind;
    bool several_ids; /* the recording has more than one for its path */
    uint8_t id_size;
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    uint64_t ksymbol_start, ksymbol_size;
    uint64_t reference;      /* of the kernel: where reference_name was */
    uint32_t reference_name; /* string */
    struct spe_profile_dso shown;

    pthread_mutex_t lock;
    atomic_int loaded; /* once 1 everything below is read only */
    uint8_t state;
    char *file, *warning;
    uint8_t file_id_size; /* the build-id of the file itself: the recording may have none */
    uint8_t file_id[SPE_PERF_BUILD_ID_MAX];
    char *link; /* name of its debug file (.gnu_debuglink), or NULL */
    uint32_t link_crc;
    struct symtab symbols;

    struct lines *lines; /* the profile's own thread only */
};

struct dsos {
    VECTOR(struct dso *) list;
    struct strings *strings;
    struct budget *budget;
    char *symfs, *debug_dir, *vmlinux, *kallsyms; /* NULL: none */
    char *symfs_path;    /* absolute and without links; NULL: none, or it does not exist */
    const char *release; /* of the recorded kernel, or NULL */
    bool debuginfod;
    struct spe_perf_build_id *ids; /* of the recording */
    size_t id_count;
    bool ids_sorted;
    struct hash_table table;               /* by path, kind and build-id */
    struct kallsyms_files *kallsyms_files; /* once there is a kernel or a module */
    uint32_t kernel; /* 1 + number of the first one that is the kernel; 0: none is */
};

#define VDSO_NAME "[vdso]"
#define DEBUG_ROOT "/usr/lib/debug" /* of installed debug files */

/* Find or add. NONE: no memory. */
uint32_t dsos_add(struct dsos *d, const char *path, bool kernel, uint64_t page_offset,
                  const uint8_t *id, size_t id_size);
/* Memory that may hold code made at run time, by its path in the recording. */
bool is_jit_memory(const char *path);
uint32_t dsos_add_jit(struct dsos *d, uint32_t pid);
uint32_t dsos_add_ksymbol(struct dsos *d, const char *name, uint64_t start, uint64_t size);
void dsos_free(struct dsos *d);

/* Read the symbols if nobody has. */
void dso_load(const struct dsos *d, struct dso *dso);
/* An address in the file's own addresses, from one in a map. */
uint64_t dso_address(const struct dso *dso, const struct spe_profile_map *map, uint64_t pc);
/* The same for an address behind the file's bytes in a map of its data, in or behind that map: the
 * program's loader puts .bss there. UINT64_MAX if it is not in .bss. */
uint64_t dso_bss_address(const struct dso *dso, const struct spe_profile_map *map,
                         uint64_t address);
/* Number of the symbol that holds the address, or NONE. */
uint32_t dso_find(const struct dso *dso, uint64_t address, unsigned kind);

/* A sentence, to be freed: something of this file was left out for its size. NULL but the first
 * time. */
char *dso_over_budget(const struct dsos *d, const struct dso *dso, const char *what);

/* Open a file of a dso: the mapped one, or the one with debug information. A descriptor, or -1;
 * *file is its name, to be freed. The first sets state and warning; what is refused by the second
 * leaves a warning in *warning if there is none yet. */
int dso_open(const struct dsos *d, struct dso *dso, char **file);
int dso_open_debug(const struct dsos *d, const struct dso *dso, char **file, char **warning);
/* Copies of /proc/kallsyms that were read. */
struct kallsyms_files *kallsyms_new(void); /* NULL: no memory */
void kallsyms_free(struct kallsyms_files *files);
/* Under their lock: the file, read now if nobody has. NULL: no memory. */
struct kallsyms *kallsyms_read(struct kallsyms_files *files, const char *path);
/* Symbols of the kernel or a module. */
void dso_load_kernel(const struct dsos *d, struct dso *dso);
/* Names of /tmp/perf-PID.map. */
void dso_load_jit(const struct dsos *d, struct dso *dso);
/* A descriptor of a regular file that is not empty, or -1. Nothing else is opened: a path out of a
 * recording may name anything. */
int dso_open_regular(const char *path);
/* The same for kernel symbols, which /proc has as a file of size 0. */
FILE *dso_open_kallsyms(const char *path);
/* The same for a file where anybody may put one: it must be the user's own or root's, and not a
 * link. *why says who put something else there, else it is NULL. */
int dso_open_own(const char *path, const char **why);
/* Passes on what they return. That a file is not there is no news; that it could not be opened
 * because something ran out is: names are missing then. */
int dso_opened(const struct dsos *d, int fd);
/* Text to be freed. Without memory it is NULL, and names are missing. */
char *dso_text(const struct dsos *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The path below --symfs, to be freed. */
char *dso_below(const struct dsos *d, const char *path);
int dso_open_checked(const struct dsos *d, const struct dso *dso, const char *path, uint8_t *state,
                     char **warning);
/* dir/.build-id/xx/yyyy and `rest`, to be freed; NULL without build-id or memory. */
char *build_id_path(const struct dsos *d, const char *dir, const uint8_t *id, size_t id_size,
                    const char *rest);
/* The file of a module below /lib/modules: its name, to be freed; or NULL. */
char *module_file(const struct dsos *d, const struct dso *dso);
/* "nf_tables" of "[nf_tables]" or ".../nf-tables.ko.zst". */
void module_name(const char *path, char *out, size_t size);
/* A file that debuginfod has: its name, to be freed; or NULL. */
char *debuginfod_find(const uint8_t *id, size_t id_size, bool debug);

/* Names of one file are below 4 GB, and ids have 31 bits. */
#define SYMBOL_MAX (1u << 28)

/* Returns the number of names in the static symbol table: 0 if the file is stripped. */
int symtab_read(struct symtab *t, int fd, enum dso_kind kind);
/* Functions of a stripped file, by whatever else it has: `name` is what it is called. */
int symtab_read_stripped(struct symtab *t, int fd, const char *name);
/* Lines of /tmp/perf-PID.map; SPE_ERR_NOSPACE if there were too many. */
int symtab_read_jit(struct symtab *t, FILE *file);
/* The symbols of the kernel (module "") or a module: their number, or an error. */
int symtab_take_kallsyms(struct symtab *t, const struct kallsyms *k, const char *module);
int symtab_add(struct symtab *t, const char *name, uint64_t start, uint64_t size, unsigned kind,
               unsigned rank);
int symtab_finish(struct symtab *t);
int symtab_name(struct symtab *t, const char *name, uint32_t *at);
/* Symbols with names of C++ get readable ones, unless that might take too many steps. */
int demangle(struct symtab *t, struct symbol *symbols, size_t count);
/* Not fewer than it takes to make this name readable. */
uint64_t demangle_steps(const char *name);
void symtab_free(struct symtab *t);
/* The build-id of an open ELF file: its size, 0 if it has none, or negative. */
int elf_build_id(int fd, enum dso_kind kind, uint8_t *id, size_t max, uint16_t *machine);
/* What .gnu_debuglink says: the name of the debug file, to be freed, and its CRC; or NULL. */
int elf_debuglink(int fd, char **link, uint32_t *crc);

#define SYMBOL_OF_OBJECT 0x80000000u /* in the low half of ids: objects, not functions */

/* ---- Lines ---------------------------------------------------------------------------------- */

struct line_cache_entry {
    uint64_t address;
    uint32_t dso, line;
};

struct line_table {
    VECTOR(struct spe_profile_line) lines;
    VECTOR(uint32_t) table; /* open addressing */
    uint64_t seed;
    struct line_cache_entry *cache;
};

uint32_t lines_find(struct spe_profile *p, struct dso *dso, uint32_t dso_id, uint64_t address);
void lines_close(struct lines *lines);

/* ---- Groups --------------------------------------------------------------------------------- */

/* What is counted of a group's rows: spe_profile_counts is larger, and there may be many groups. */
struct group_counts {
    struct spe_account account;
    uint64_t rows, cut, filtered, without_time;
    uint64_t by_context, by_switch, by_buffer, by_nothing, context_unknown, context_mismatch,
        no_map;
    uint64_t first_ns, last_ns;
};

struct group {
    void *memory; /* NULL: it is part of another group */
    struct spe_columns columns;
    uint64_t *time_ns, *join_time;
    uint64_t *symbol;
    uint32_t *cpu, *pid, *tid, *thread, *comm, *map, *line, *queues;
    uint8_t *el, *flags, *tag, *level;
    uint64_t *selected;
    size_t queue, queue_index;
    uint64_t ticket;
    bool ready;
    int error;
    struct group_counts counts;
};

enum group_use { GROUP_JOIN, GROUP_MERGE }; /* rows are made in it, or gathered from others */

/* Memory for `count` groups of `capacity` rows, one after the other. */
int group_init(struct group *g, size_t count, size_t capacity, const struct spe_profile *p,
               enum group_use use);
void group_free(struct group *g);
/* One of those groups. */
void group_part(struct group *part, const struct group *whole, size_t number, size_t capacity);
/* Bytes of a row. */
size_t group_row_size(const struct spe_profile *p, enum group_use use);
/* Keep only the rows whose bit is set. */
void group_select(struct group *g, const uint64_t *selected);
/* Append these rows to a group; there must be room for them. */
void group_gather(struct group *to, const struct group *from, const uint32_t *rows, size_t count);
void group_show(const struct group *g, struct spe_rows *rows);
void counts_add(struct spe_profile_counts *to, const struct group_counts *from);

/* ---- Queues --------------------------------------------------------------------------------- */

struct queue {
    const struct spe_perf_queue *perf; /* NULL: raw bytes */
    uint32_t cpu, tid;
    const uint8_t *levels; /* enum spe_source_level of sources below 256, or NULL */
    const struct spe_cpu *model;

    /* Decoding, under the ticket. */
    struct spe_bulk *bulk;
    uint8_t *buffer;
    uint64_t piece, position; /* that is read next */
    uint64_t taken;           /* bytes before it that are being decoded */
    uint64_t base;            /* offset of the stream that is being read */
    uint64_t last_time, join_time;
    bool has_time, ending, drained;
    uint64_t issued, decoded; /* tickets */
    bool ended;
};

int queue_fill(struct spe_profile *p, struct queue *q, struct group *g);
void queue_stop(struct queue *q);

/* ---- Joining -------------------------------------------------------------------------------- */

#define PC_CACHE 4096
#define MAP_CACHE 256
#define TASK_CACHE 128

struct pc_entry {
    uint64_t pc, symbol;
    uint32_t map;
};

/* What one thread remembers from row to row. */
struct joiner {
    struct pc_entry *pc; /* PC_CACHE of them, if symbols are wanted */
    struct map_view map[MAP_CACHE];
    struct map_view user, kernel; /* of the last rows */
    struct task_view task[TASK_CACHE];
    struct spe_filter *filter;
};

struct joiner *joiner_new(struct spe_profile *p, int *error);
void joiner_free(struct joiner *j);
int join_group(struct spe_profile *p, struct joiner *j, const struct queue *q, struct group *g);

/* ---- The profile ---------------------------------------------------------------------------- */

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, progress;
    pthread_t *threads;
    unsigned count;          /* 0: the caller's thread does it all */
    struct group **requests; /* a ring */
    size_t first, waiting, capacity;
    bool stop, started;
    int error; /* a thread could not start: nobody may wait for it */
};

struct level_table {
    const struct spe_source_table *sources;
    uint8_t level[256];
};

struct spe_profile {
    struct spe_perf_reader *reader;
    int fd;               /* of the file or of a temporary one; -1 */
    struct pd_source raw; /* without a reader */

    struct spe_profile_info info;
    struct spe_profile_counts counts, start_counts;
    VECTOR(char *) warnings;
    VECTOR(struct spe_profile_cpu) cpus;
    VECTOR(struct level_table *) levels;

    unsigned thread_count, order, want, omit;
    unsigned cpus_here; /* of the machine that reads the recording */
    size_t group_rows;
    uint64_t memory_limit; /* bytes; raw bytes take little and have none */
    bool in_place;         /* bytes are decoded where they are: in memory or a mapped file */
    size_t chunk;          /* bytes that are read at once */
    uint64_t time_from, time_to;
    uint32_t *cut_cpus, *cut_pids, *cut_tids;
    size_t cut_cpu_count, cut_pid_count, cut_tid_count;
    char *filter_text;
    struct spe_filter *filter; /* NULL, or applied by the caller's thread: it needs lines */
    bool worker_filter;
    const struct spe_cpu *given_cpu;

    struct strings strings;
    struct budget budget; /* of names */
    struct tasks tasks;
    struct dsos dsos;
    VECTOR(struct spe_profile_map) maps;
    struct line_table lines;

    struct queue *queues;
    size_t queue_count;
    struct spe_perf_time_conv time_conv; /* mult 0: there is none */
    bool sideband_timed;                 /* tasks and maps are in order of time, else of the file */

    struct pool pool;
    struct joiner *joiner; /* of the caller's thread */
    struct group table;    /* the memory of all slots, so that a row of any is one number */
    struct group *slots;   /* all groups there are */
    size_t slot_count, slot_stride; /* rows of the table from one to the next */
    struct group **free_slots;
    size_t free_count;
    struct group **ring; /* requested, in order */
    size_t ring_first, ring_count;
    struct group *current;    /* that the caller reads */
    size_t next_queue, batch; /* that is asked next; first queue of the batch */
    struct merge *merge;
    bool unordered; /* there are too many queues for a merge, and that is said */
    bool finished;
};

int profile_warn(struct spe_profile *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int profile_fail(struct spe_profile_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int sideband_read(struct spe_profile *p);

int pool_start(struct spe_profile *p);
void pool_stop(struct spe_profile *p);
/* Ask for the next rows of a queue in a group. */
void pool_request(struct spe_profile *p, struct group *g, size_t queue);
/* Until the group is there: SPE_OK, or an error, its own or of all. */
int pool_wait(struct spe_profile *p, struct group *g);
bool pool_queue_ended(struct spe_profile *p, size_t queue);

int order_start(struct spe_profile *p);
void order_stop(struct spe_profile *p);
/* The next group that has rows: 1, 0, or an error. */
int order_next(struct spe_profile *p, struct group **group);

int merge_start(struct spe_profile *p);
void merge_stop(struct spe_profile *p);
int merge_next(struct spe_profile *p, struct group **group);

#endif
