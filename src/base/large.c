/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "base/large.h"

#include <specimen/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST 1024
#define FEW 65536
#define LARGE_PAGE ((size_t)2 << 20)

size_t large_capacity(size_t capacity, size_t wanted, size_t most)
{
    size_t next = capacity ? capacity : FIRST;

    while (next < wanted && next < FEW)
        next *= 2;
    if (next < wanted)
        next = most;
    return next < wanted ? wanted : next;
}

/* Without large pages it is slower, and that is all. */
static void *allocate(size_t size)
{
    size_t pages = (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *memory;

    if (size < LARGE_PAGE)
        return malloc(size);
    memory = aligned_alloc(LARGE_PAGE, pages);
    if (memory)
        madvise(memory, pages, MADV_HUGEPAGE);
    return memory;
}

int large_resize(void *array, size_t used, size_t size)
{
    void **at = array;
    void *bigger = allocate(size);

    if (!bigger)
        return SPE_ERR_NOMEM;
    if (used)
        memcpy(bigger, *at, used);
    free(*at);
    *at = bigger;
    return SPE_OK;
}
