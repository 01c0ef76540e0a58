/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The launcher's end of the wire: processes, their threads, and which queue of the file each thread
 * writes to. A queue belongs to one thread at a time, so that it is in order of time.
 */
#ifndef RECORD_COLLECT_H
#define RECORD_COLLECT_H

#include <sys/types.h>

#include "record/file.h"

struct collector;

/* NULL without memory, or with errno. The setup is sent to every process; counts may be NULL. */
struct collector *collector_create(struct record_file *file, const struct wire_setup *setup,
                                   struct record_summary *summary, struct record_counts *counts);

/* A process has connected, which the kernel calls `peer`; the descriptor is the collector's now,
 * unless it has no memory (false). The process may say what it likes: nothing that comes is
 * trusted, and nothing is waited for. */
bool collector_accept(struct collector *c, int fd, pid_t peer);

/* Readable when somebody has said something. */
int collector_descriptor(const struct collector *c);

/* Let those who have something to say have `most` turns, of some messages each; how many were
 * needed. */
unsigned collector_serve(struct collector *c, unsigned most);

size_t collector_count(const struct collector *c); /* connections */

/* Take what every process that is still there has left in its buffers, and end it. */
void collector_end(struct collector *c);
void collector_free(struct collector *c);

#endif
