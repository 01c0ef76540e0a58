/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What `spe record --stat-json` has written, read again: exact counts by function. */
#ifndef RECORD_STAT_FILE_H
#define RECORD_STAT_FILE_H

#include <specimen/analysis.h>
#include <stdio.h>

#define STAT_FILE_WHY 200

/* A regular file that begins as such a file does. */
bool is_stat_file(const char *path);

/* Its functions as a side of the diff. False with a sentence. */
bool stat_file_read(const char *path, struct spe_diff *diff, unsigned side,
                    char why[STAT_FILE_WHY]);

#endif
