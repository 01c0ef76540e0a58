/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/text.h"

#include <stdarg.h>
#include <stdio.h>

void text_add(struct text *t, const char *format, ...)
{
    size_t room = t->size - t->used;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->bytes + t->used, room, format, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n < room ? (size_t)n : room - 1;
}
