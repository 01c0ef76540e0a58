/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A file of --machine: one KEY=VALUE a line, '#' begins a comment. */
#ifndef RECORD_MACHINE_FILE_H
#define RECORD_MACHINE_FILE_H

#include "record/record.h"

struct machine_file {
    const char *path;
    char *text, *next; /* all of it; the line that comes next, NULL at the end */
    unsigned line;     /* of the last setting */
};

/* Reads all of it. False with a problem; close it in either case. The path has to last. */
bool machine_file_open(struct machine_file *f, const char *path, struct problem *problem);
void machine_file_close(struct machine_file *f);

/* The next setting, without spaces around key and value, cut if there is no room for it. False at
 * the end. */
bool machine_file_next(struct machine_file *f, char *setting, size_t room);

/* What is wrong with that setting, said of its line. */
void machine_file_fail(const struct machine_file *f, const struct problem *wrong,
                       struct problem *problem);

#endif
