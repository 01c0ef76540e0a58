/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Text that is put together in memory of the caller's, and cut at its end if it is too long. */
#ifndef RENDER_TEXT_H
#define RENDER_TEXT_H

#include <stddef.h>

struct text {
    char *bytes; /* always a string */
    size_t size, used;
};

/* In an array. */
#define TEXT_IN(array) text_in(array, sizeof(array))

static inline struct text text_in(char *bytes, size_t size)
{
    bytes[0] = '\0';
    return (struct text){bytes, size, 0};
}

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
