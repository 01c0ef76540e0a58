/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Arrays that grow. */
#ifndef PROFILE_VECTOR_H
#define PROFILE_VECTOR_H

#include <specimen/error.h>
#include <stdlib.h>

#define VECTOR(type)                                                                               \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }

/* Room for one more element: SPE_OK or SPE_ERR_NOMEM. */
#define VECTOR_ROOM(v) vector_grow(&(v)->at, &(v)->capacity, (v)->count, sizeof(*(v)->at))
#define POINTER_ROOM(v) vector_grow(&(v)->at, &(v)->capacity, (v)->count, sizeof(void *))

static inline int vector_grow(void *array, size_t *capacity, size_t count, size_t element)
{
    void **at = array;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *bigger;

    if (count < *capacity)
        return SPE_OK;
    bigger = realloc(*at, wanted * element);
    if (!bigger)
        return SPE_ERR_NOMEM;
    *at = bigger;
    *capacity = wanted;
    return SPE_OK;
}

#endif
