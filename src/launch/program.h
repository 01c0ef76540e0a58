/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Is a file a program that QEMU for AArch64 can run? Asked before start, and again at exec. */
#ifndef LAUNCH_PROGRAM_H
#define LAUNCH_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum program_verdict {
    PROGRAM_OK,
    PROGRAM_MISSING,   /* cannot be opened: errno */
    PROGRAM_DIRECTORY, /* no regular file */
    PROGRAM_UNKNOWN,   /* neither ELF nor script */
    PROGRAM_FOREIGN,   /* ELF for another machine: `machine` */
    PROGRAM_LIBRARY,   /* ELF, but no program */
    PROGRAM_NO_LOADER, /* its loader is not in the sysroot: `loader` */
};

struct program {
    char file[PATH_MAX]; /* the ELF file: the path itself, or a script's interpreter */
    bool script;
    char interpreter[PATH_MAX]; /* script: as its first line names it */
    char argument[256];         /* script: behind the interpreter, or "" */
    char loader[PATH_MAX];      /* the ELF file's loader, as it names it; "" of a static one */
    unsigned machine;           /* e_machine */
};

/* `sysroot` may be "": then loaders and interpreters are those of this machine. */
enum program_verdict program_examine(const char *path, const char *sysroot,
                                     struct program *program);

#endif
