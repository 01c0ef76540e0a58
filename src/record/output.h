/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Where a recording goes. Unlike other outputs it is written under its own name from the beginning:
 * if the launcher is killed, what was recorded can be read. So an earlier recording of that name is
 * kept as NAME.old, as perf does, and no two recorders write one file.
 */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include "record/record.h"

/*
 * Open what -o names ("-": standard output). *seekable: the file can be written anywhere; else only
 * the form for pipes can be written. Returns a descriptor, or -1 with a problem.
 *
 * A FIFO waits for its reader: call this while signals still end the program.
 */
int output_open(const char *path, const char *program, bool *seekable, struct problem *problem);

#endif
