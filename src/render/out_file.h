/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A file that appears when it is complete, and not before. It is written under a temporary name in
 * the same folder and then renamed, so that a file of that name stays as it was until then: also
 * after an error, and after a signal that ends the program, which removes the temporary file.
 *
 * What is not a regular file (a pipe, a device), and what standard output or standard error are
 * already open for, cannot be replaced: it is written directly.
 */
#ifndef RENDER_OUT_FILE_H
#define RENDER_OUT_FILE_H

#include <stdbool.h>

struct out_file {
    int fd;
    char *path, *temporary; /* NULL: it is written directly */
    bool only_new;          /* set by the caller: out_file_close replaces nothing (EEXIST) */
};

/* Mode and owner are those of the file that is replaced, else those that open() gives. Returns 0 or
 * an errno. NULL or "-" is standard output. */
int out_file_open(struct out_file *f, const char *path);

/* Close it, and if it is complete let it take its name. Returns 0 or an errno. */
int out_file_close(struct out_file *f, bool complete);

/* Remove all temporary files. For signal handlers: main has one for SIGBUS. */
void out_file_abandon(void);

#endif
