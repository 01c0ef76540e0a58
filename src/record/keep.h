/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Copies of recorded binaries by build-id, where perf keeps them and looks for them: a recording
 * keeps its names when a program is built again. Nothing here is fatal.
 */
#ifndef RECORD_KEEP_H
#define RECORD_KEEP_H

#include "record/record.h"

/* Keep the file that fd is open for, unless its build-id is there. What was done is counted. */
void keep_binary(const char *directory, int fd, const char *path, const uint8_t *id, size_t id_size,
                 struct record_kept *kept);

#endif
