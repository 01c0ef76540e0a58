/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The perf.data of a recording, as perf would have written it on a machine with SPE. */
#ifndef RECORD_FILE_H
#define RECORD_FILE_H

#include "record/record.h"

struct record_file;

/* NULL with a problem. The options and the settings of the machine, for the header, have to last.
 * `program`: the file that is recorded. */
struct record_file *file_create(const struct record_options *options, const char *settings,
                                const char *program, unsigned cpus, struct problem *problem);

/* Who, when, and on which CPU, as the kernel appends it to its records. */
struct file_place {
    uint32_t pid, tid, cpu;
    uint64_t time;
};

void file_comm(struct record_file *f, const struct file_place *at, const char *name, bool exec);
void file_map(struct record_file *f, const struct file_place *at, const struct wire_map *map);
void file_fork(struct record_file *f, const struct file_place *at, uint32_t parent,
               uint32_t parent_tid);
void file_exit(struct record_file *f, const struct file_place *at, uint32_t parent);
void file_start(struct record_file *f, const struct file_place *at); /* ITRACE_START */
void file_switch(struct record_file *f, const struct file_place *at, bool out);
/* Has the queue's thread a CPU of its own in the file? Else CONTEXT packets alone tell it. */
bool file_has_own_cpu(const struct record_file *f, uint32_t queue);

/* So many records of the thread, of SPE or others, will never come. */
void file_lost(struct record_file *f, const struct file_place *at, uint64_t count);

/* The call stack of an SPE record at that time: the frames behind its pc, innermost first. */
void file_stack(struct record_file *f, const struct file_place *at, uint64_t pc,
                const uint64_t *frames, size_t count);

/* AUX bytes of a queue, whole records, with their AUX record. */
void file_aux(struct record_file *f, const struct file_place *at, uint32_t queue, unsigned flags,
              const void *bytes, size_t size);

/* Make what is there readable, whatever happens. False with a problem once writing has failed;
 * all later calls do nothing. */
bool file_flush(struct record_file *f, struct problem *problem);
bool file_finish(struct record_file *f, uint64_t *bytes, struct problem *problem);
/* Copies of the mapped files that have a build-id, in a directory; see record/keep.h. */
void file_keep(const struct record_file *f, const char *directory, struct record_kept *kept);
void file_free(struct record_file *f);

struct file_unread file_unread(const struct record_file *f);

#endif
