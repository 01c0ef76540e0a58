/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the other files need of memory: growing bytes, sentences. */
#include "perfdata_internal.h"

#include <stdio.h>

void pd_put(struct pd_bytes *b, const void *bytes, size_t size)
{
    if (b->failed || size > SIZE_MAX - b->size ||
        vector_reserve(&b->bytes, &b->capacity, b->size + size, 1) < 0) {
        b->failed = true;
        return;
    }
    if (size)
        memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

void pd_put16(struct pd_bytes *b, uint16_t value)
{
    pd_put(b, &value, sizeof(value));
}

void pd_put32(struct pd_bytes *b, uint32_t value)
{
    pd_put(b, &value, sizeof(value));
}

void pd_put64(struct pd_bytes *b, uint64_t value)
{
    pd_put(b, &value, sizeof(value));
}

void pd_put_zeros(struct pd_bytes *b, size_t size)
{
    static const uint8_t zeros[64];

    for (; size > sizeof(zeros); size -= sizeof(zeros))
        pd_put(b, zeros, sizeof(zeros));
    pd_put(b, zeros, size);
}

void pd_bytes_free(struct pd_bytes *b)
{
    free(b->bytes);
    memset(b, 0, sizeof(*b));
}

__attribute__((format(printf, 4, 0))) static void
set_error(struct spe_perf_error *e, int code, uint64_t offset, const char *format, va_list args)
{
    e->code = code;
    e->offset = offset;
    vsnprintf(e->text, sizeof(e->text), format, args);
}

int pd_fail(struct spe_perf_error *error, int code, uint64_t offset, const char *format, ...)
{
    va_list args;

    if (error) {
        va_start(args, format);
        set_error(error, code, offset, format, args);
        va_end(args);
    }
    return code;
}

void pd_problem(struct spe_perf_reader *r, int code, uint64_t offset, const char *format, ...)
{
    va_list args;

    r->damaged = true;
    if (r->problem.code)
        return;
    va_start(args, format);
    set_error(&r->problem, code, offset, format, args);
    va_end(args);
}

int pd_compare_u64(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}
