/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Structs that grow at their end. A caller that was built with another release has a smaller or a
 * larger one than the library: its size says which.
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIZED_MAX 65536 /* no struct of any release is larger: the size was never written */

/*
 * What the caller has, over what `own` holds: members that the caller does not know keep it. False
 * if the caller asks for something that this library does not know, namely a byte behind the last
 * member that is not zero, or if its size cannot be one.
 */
static inline bool sized_take(void *own, size_t own_size, const void *theirs, size_t their_size)
{
    const uint8_t *bytes = (const uint8_t *)theirs;

    if (their_size < sizeof(size_t) || their_size > SIZED_MAX)
        return false;
    for (size_t i = own_size; i < their_size; i++)
        if (bytes[i])
            return false;
    memcpy(own, theirs, their_size < own_size ? their_size : own_size);
    return true;
}

/* The caller's struct if it is of this library's size, else a copy in `own`; NULL as above. */
static inline const void *sized_view(void *own, size_t own_size, const void *theirs,
                                     size_t their_size)
{
    if (their_size == own_size)
        return theirs;
    memset(own, 0, own_size);
    return sized_take(own, own_size, theirs, their_size) ? own : NULL;
}

/* As much of `own` as the caller has room for; what the library does not know becomes zero. */
static inline void sized_give(void *theirs, size_t their_size, const void *own, size_t own_size)
{
    size_t known = their_size < own_size ? their_size : own_size;

    memcpy(theirs, own, known);
    memset((uint8_t *)theirs + known, 0, their_size - known);
}

#endif
