/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the files of the profile room share. From the bytes to the rows:
 *
 *   sideband.c  records of the perf.data -> events in order of time
 *   tasks.c     events -> threads, processes, who ran where
 *   stacks.c    SAMPLE records -> call stacks
 *   queue.c     SPE bytes of one queue -> columns
 *   join.c      columns -> rows
 *   pass.c      records of which no rows are needed; left_out.c: some of them found again
 *   objects.c   what a data address was; thread_stacks.c: whose stack
 *   rows.c      groups of rows; order.c: which comes next; pool.c: threads
 *
 * The tasks, spaces and maps are complete before the first row is made and do not change after
 * that, so the threads that make rows need no locks, but for symbols: those are read on first use.
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

#include "base/hash.h"
#include "base/id_table.h"
#include "base/spaces.h"
#include "names/names_internal.h"
#include "perfdata/input.h"
#include "profile/program.h"

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

struct tasks {
    VECTOR(struct process) processes; /* process 0 is the kernel */
    VECTOR(struct thread) threads;
    VECTOR(struct cpu_turns) cpus;
    struct id_table by_tid, by_pid, by_cpu; /* the newest thread and process; the turns */
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

/* ---- Call stacks ---------------------------------------------------------------------------- */

struct stack_sample {
    uint64_t time, pc;
    uint32_t tid, stack;
};

struct other_sample { /* of another event than that of `spe record -g` */
    struct stack_sample sample;
    uint64_t weight;
    uint32_t event;
};

struct stacks {
    VECTOR(struct spe_profile_call) calls; /* those without a caller are processes */
    struct hash_table index;
    uint64_t seed;
    VECTOR(struct stack_sample) samples; /* in order, when all are there */
    VECTOR(struct other_sample) others;  /* of one event, when all are there; none beside samples */
    struct id_table programs;            /* pid -> how many it has become */
};

/* SPE_OK or SPE_ERR_NOMEM. A process has become another program; a SAMPLE with a call chain, of an
 * SPE record or of another event. */
int stacks_exec(struct stacks *s, uint32_t pid);
int stacks_take(struct stacks *s, const struct spe_perf_record *r);
int stacks_take_other(struct stacks *s, const struct spe_perf_record *r);
void stacks_finish(struct stacks *s);
uint64_t stacks_memory(const struct stacks *s); /* bytes */
/* SPE_NO_ID if there is none. */
uint32_t stacks_find(const struct stacks *s, uint64_t time, uint64_t pc, uint32_t tid);
void stacks_free(struct stacks *s);

/* ---- Groups --------------------------------------------------------------------------------- */

/* What is counted of a group's rows: spe_profile_counts is larger, and there may be many groups. */
struct group_counts {
    struct spe_account account;
    uint64_t rows, cut, filtered, without_time;
    uint64_t by_context, by_switch, by_buffer, by_nothing, context_unknown, context_mismatch,
        no_map, stacks;
    uint64_t first_ns, last_ns;
    uint64_t passed, passed_latency;
    struct spe_profile_left_out left_out;
};

struct group {
    void *memory; /* NULL: it is part of another group */
    struct spe_columns columns;
    uint64_t *time_ns, *join_time;
    uint64_t *symbol;
    uint32_t *cpu, *pid, *tid, *thread, *comm, *map, *line, *stack, *queues;
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
    const uint8_t *bytes;     /* that were fed last */
    uint64_t piece, position; /* that is read next */
    uint64_t taken;           /* bytes before it that are being decoded */
    uint64_t base;            /* offset of the stream that is being read */
    uint64_t last_time, join_time;
    bool has_time, ending, drained;
    bool unread;               /* it is not one of those that were asked for */
    struct left_out *left_out; /* NULL: nothing was, by its data */
    uint64_t issued, decoded;  /* tickets */
    bool ended;
};

struct joiner;

int queue_fill(struct spe_profile *p, struct joiner *j, struct queue *q, struct group *g);
void queue_stop(struct queue *q);
/* Time of the group's rows from `from` on, which were decoded last. */
void queue_set_times(const struct spe_profile *p, struct queue *q, struct group *g, size_t from);

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

/* ---- Records without rows ------------------------------------------------------------------- */

/* Of what rows are needed. */
struct needed {
    struct needed *older;         /* which a thread may still be using */
    struct spe_profile_data data; /* of loads and stores, if it has a size; else of code: */
    unsigned grain;
    uint64_t low, high; /* as spe_bulk_pass wants them */
    uint64_t bits[SPE_PASS_BITS / 64];
};

/* What is known of a queue's loads and stores that were left out. */
struct note_block;

struct left_out {
    struct spe_pass_data pass;
    struct note_block *first, *last;
};

/* Memory for notes: whether there is any. */
bool left_out_start(struct spe_profile *p, uint64_t bytes);
/* Room for notes in q->left_out: whether there is any. */
bool left_out_room(struct spe_profile *p, struct queue *q, const struct needed *needed);
void left_out_forget(struct spe_profile *p);
/* The next rows that spe_profile_left_out has asked for: 1, 0 at their end, or an error. */
int left_out_next(struct spe_profile *p, struct group **group);

/* Records that follow each other on a queue and have the same thread for the same reason, as the
 * group's last row has. */
struct pass_run {
    struct spe_bulk_pass pass;
    uint8_t flags;   /* SPE_ROW_... */
    uint32_t thread; /* SPE_NO_ID: the recording does not know it */
};

/* What is known of the records behind the group's last row. */
void join_run(const struct spe_profile *p, struct joiner *j, const struct queue *q,
              const struct group *g, struct pass_run *pass);
void join_passed(struct group_counts *counts, const struct pass_run *pass, uint64_t records);
/* NULL if all rows have to be made. */
const struct needed *pass_set(const struct spe_profile *p);
/* Append rows, and pass over records, as far as that goes: whether that is worth it. */
bool pass_fill(struct spe_profile *p, struct joiner *j, struct queue *q, struct group *g,
               const struct needed *needed);
void pass_forget(struct spe_profile *p);

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

/* ---- Threads' stacks ------------------------------------------------------------------------ */

struct stack_range {
    uint64_t low, high; /* low > high: none */
};

struct thread_stacks {
    VECTOR(struct stack_range) used; /* by thread: what it used as its stack */
    VECTOR(uint32_t) roots;          /* by process: the tree of its pages, by thread */
    struct spaces owners;
};

/* A thread used this address as its stack. SPE_OK or SPE_ERR_NOMEM. */
int thread_stacks_tell(struct thread_stacks *s, uint32_t thread, uint32_t process,
                       uint64_t address);
/* The thread whose stack it is, or NONE. */
uint32_t thread_stacks_owner(const struct thread_stacks *s, uint32_t process, uint64_t address);
void thread_stacks_free(struct thread_stacks *s);

struct spe_profile {
    struct spe_perf_reader *reader;
    int fd;              /* of the file or of a temporary one; -1 */
    struct pd_input raw; /* without a reader */

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
    uint32_t *chosen_queues; /* NULL: all */
    size_t chosen_count;
    char *filter_text;
    struct spe_filter *filter; /* NULL, or applied by the caller's thread: it needs lines */
    bool worker_filter;
    const struct spe_cpu *given_cpu;

    struct strings strings;
    struct budget budget; /* of names */
    struct tasks tasks;
    struct dsos dsos;
    struct stacks stacks;
    VECTOR(struct spe_profile_map) maps;
    struct thread_stacks thread_stacks; /* as far as somebody told of them */

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
    struct group *current;          /* that the caller reads */
    _Atomic(struct needed *) only;  /* NULL: all rows are needed */
    struct needed *sets;            /* that were made */
    struct note_block *note_blocks; /* of what was left out */
    uint64_t note_blocks_most;
    _Atomic(uint64_t) note_block_count; /* it may be more than there are */
    struct search *search;              /* for some of that; NULL: rows come from the bytes */
    size_t next_queue, batch;           /* that is asked next; first queue of the batch */
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
