/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What cannot be read twice (a pipe, a terminal) is copied to a file without a name in $TMPDIR or
 * /tmp.
 */
#ifndef PERFDATA_SPOOL_H
#define PERFDATA_SPOOL_H

#include <stddef.h>

enum { SPOOL_WHY = 512 };

/* The bytes that were read already, then the rest of fd. A descriptor at no special place, or -1
 * with a sentence in `why`, which names the folder if the copy is what failed. fd stays open. */
int spool_input(int fd, const void *read_already, size_t size, char why[SPOOL_WHY]);

#endif
