/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Finding what it takes to run the program: QEMU, our plugin, the sysroot, the program itself. */
#ifndef RECORD_FIND_H
#define RECORD_FIND_H

#include <limits.h>
#include <stdbool.h>

#include "launch/qemu.h"
#include "record/record.h"

struct found {
    char qemu[PATH_MAX];
    struct qemu_version version;
    char plugin[PATH_MAX];
    char sysroot[PATH_MAX]; /* "": none is needed, or none was found */
    char program[PATH_MAX]; /* its file, by PATH */
    char file[PATH_MAX];    /* what QEMU runs: the program, or its interpreter */
    char script[PATH_MAX];  /* argument 0 of an interpreter; "" if the program is none's */
    char argument[256];     /* of an interpreter */
};

bool find_all(const struct record_options *options, struct found *found, struct problem *problem);

#endif
