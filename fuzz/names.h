/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the targets that read names share: bytes as a file, and what holds of every table. */
#ifndef FUZZ_NAMES_H
#define FUZZ_NAMES_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "names/names_internal.h"
#include "require.h"

/* A file in memory; its path is /proc/self/fd/N. */
static inline int file_of(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    return fd;
}

static inline void check_symbols(const struct symbol *at, size_t count, const struct symtab *t)
{
    for (size_t i = 0; i < count; i++) {
        REQUIRE(at[i].name < t->names.count);
        REQUIRE(at[i].name + strlen(t->names.at + at[i].name) < t->names.count);
        REQUIRE(!i || at[i - 1].start < at[i].start);
    }
}

/* Every symbol is where it is looked for, unless another one begins there, too. */
static inline void check_table(const struct symtab *t)
{
    check_symbols(t->functions.at, t->functions.count, t);
    check_symbols(t->objects.at, t->objects.count, t);
}

#endif
