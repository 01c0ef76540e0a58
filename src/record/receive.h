/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The launcher's end of the wire: processes, their threads, and which queue of the file each thread
 * writes to. A queue belongs to one thread at a time, so that it is in order of time.
 */
#ifndef RECORD_RECEIVE_H
#define RECORD_RECEIVE_H

#include <sys/types.h>

#include "record/file.h"

struct receiver;

/* NULL without memory, or with errno. The setup is sent to every process; counts may be NULL. */
struct receiver *receiver_create(struct record_file *file, const struct wire_setup *setup,
                                 struct record_summary *summary, struct record_counts *counts);

/* A process has connected, which the kernel calls `peer`; the descriptor is the receiver's now,
 * unless it has no memory (false). The process may say what it likes: nothing that comes is
 * trusted, and nothing is waited for. */
bool receiver_accept(struct receiver *c, int fd, pid_t peer);

/* Readable when somebody has said something. */
int receiver_descriptor(const struct receiver *c);

/* Let those who have something to say have `most` turns, of some messages each; how many were
 * needed. */
unsigned receiver_serve(struct receiver *c, unsigned most);

size_t receiver_count(const struct receiver *c); /* connections */

/* Take what every process that is still there has left in its buffers, and end it. */
void receiver_end(struct receiver *c);
void receiver_free(struct receiver *c);

#endif
