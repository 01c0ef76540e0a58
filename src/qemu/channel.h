/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The process's connection to the launcher. Any thread may send. A program may close descriptors
 * that it never opened, and it may fork: the connection is made again when it is needed. When the
 * launcher is gone, sending fails for good, and the program goes on without us.
 */
#ifndef QEMU_CHANNEL_H
#define QEMU_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "qemu/wire.h"

/* Connect for the first time; the launcher's setup. False with errno. A launcher that has no room
 * for us says WIRE_UNRECORDED: then it is as if it had gone. */
bool channel_open(const char *socket_name, struct wire_setup *setup);

/*
 * Send a message: `head`, whose type and size (of head) are set, and `size` bytes behind it. tid 0
 * is the calling thread, time 0 is now. A descriptor (or -1) goes with it. False if it cannot be
 * sent, now or ever again.
 */
bool channel_send(struct wire_header *head, const void *bytes, size_t size, int descriptor);

/* A line of text with its type. */
bool channel_text(enum wire_type type, const char *text);

/* The number of our descriptor is about to be closed, or reused, by the program. */
int channel_descriptor(void);
void channel_leave(void); /* end the connection with WIRE_AWAY; the next message makes a new one */

/* The process ends now, perhaps: nothing is lost if no more comes. */
void channel_bye(void);

/* In a forked child: forget the parent's connection. */
void channel_forked(pid_t parent);

/* Around fork. */
void channel_lock(void);
void channel_unlock(void);

uint64_t channel_time(void); /* CLOCK_MONOTONIC in ns */

#endif
