/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The launcher's end of the wire: processes, their threads, and which queue of the file each thread
 * writes to. A queue belongs to one thread at a time, so that it is in order of time.
 */
#ifndef RECORD_COLLECT_H
#define RECORD_COLLECT_H

#include "record/file.h"

struct collector;

/* NULL without memory. The setup is sent to every process; counts may be NULL. */
struct collector *collector_create(struct record_file *file, const struct wire_setup *setup,
                                   struct record_summary *summary, struct record_counts *counts);

/* A process has connected; the descriptor is the collector's now. */
void collector_accept(struct collector *c, int fd);

/* Descriptors that want to be read: into `fds`, at most `max`; returns how many. */
struct pollfd;
size_t collector_poll(const struct collector *c, struct pollfd *fds, size_t max);
size_t collector_count(const struct collector *c);

/* Read from one of them what there is, at most some messages. */
void collector_read(struct collector *c, int fd);

/* Take what every process that is still there has left in its buffers, and end it. */
void collector_end(struct collector *c);
void collector_free(struct collector *c);

#endif
