/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Arrays that grow to many megabytes, written from the beginning on. A page of the usual size costs
 * more to get from the kernel than to fill; large ones, where the kernel has them, do not.
 */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <stddef.h>

/* Elements that there should be room for when `wanted` are needed: twice as many as before while
 * these are few, and then all, `most`, since memory that nobody has touched costs nothing. */
size_t large_capacity(size_t capacity, size_t wanted, size_t most);

/* Room for `size` bytes in an array (a pointer to one, of which `used` bytes are kept) that free
 * gives back. SPE_OK, or SPE_ERR_NOMEM and the array as it was. */
int large_resize(void *array, size_t used, size_t size);

#endif
