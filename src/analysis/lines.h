/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Tables whose entries fill cache lines begin at one. */
#ifndef ANALYSIS_LINES_H
#define ANALYSIS_LINES_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64

/* As calloc; the size of an element is a multiple of a line. */
static inline void *calloc_lines(size_t count, size_t size)
{
    void *memory = aligned_alloc(CACHE_LINE, count * size);

    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

#endif
