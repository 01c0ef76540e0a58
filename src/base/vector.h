/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Arrays that grow. */
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include <specimen/error.h>
#include <stddef.h>

#define VECTOR(type)                                                                               \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }

/* Room for one more element: SPE_OK or SPE_ERR_NOMEM. */
#define VECTOR_ROOM(v) vector_grow(&(v)->at, &(v)->capacity, (v)->count, sizeof(*(v)->at))
#define POINTER_ROOM(v) vector_grow(&(v)->at, &(v)->capacity, (v)->count, sizeof(void *))

/* Room for n more. */
#define VECTOR_ROOM_FOR(v, n)                                                                      \
    vector_reserve(&(v)->at, &(v)->capacity, (v)->count + (n), sizeof(*(v)->at))

/* The same for an array whose parts have other names: one more than `count`, or `need` in all. */
int vector_grow(void *array, size_t *capacity, size_t count, size_t element);
int vector_reserve(void *array, size_t *capacity, size_t need, size_t element);

#endif
