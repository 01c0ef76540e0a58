/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A buffered writer over a file descriptor. Everything that is rendered goes through it.
 *
 * Appenders never fail: the first error of the operating system is remembered in `error`, later
 * output is dropped, and out_close reports it once. Long jobs look at `error` now and then so as
 * not to work for a closed pipe.
 *
 * The hot paths take room with out_room, write into it by pointer with the put_* functions and hand
 * the new end back with out_advance. A put_* function may write OUT_SLACK bytes past what it
 * returns, because storing a fixed number of bytes is faster than storing the right number.
 */
#ifndef RENDER_OUT_H
#define RENDER_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUT_SLACK 32

struct out {
    char *buffer;
    size_t used, size;
    int fd;
    bool terminal; /* a person reads it as it comes */
    int error;     /* errno of the first write that failed, 0 while all is well */
};

/* SPE_ERR_NOMEM, or 0. The descriptor stays the caller's. */
int out_open(struct out *o, int fd);

/* Write what is buffered. */
void out_flush(struct out *o);

/* Flush and free; returns the errno of the first failure, 0 if everything was written. */
int out_close(struct out *o);

/* Room for n bytes (at most 64 KiB) and the slack, at the end of what was appended. */
static inline char *out_room(struct out *o, size_t n)
{
    if (o->size - o->used < n + OUT_SLACK)
        out_flush(o);
    return o->buffer + o->used;
}

static inline void out_advance(struct out *o, const char *end)
{
    o->used = (size_t)(end - o->buffer);
}

/* ---- by pointer ----------------------------------------------------------------------------- */

static inline char *put_bytes(char *p, const char *s, size_t n)
{
    memcpy(p, s, n);
    return p + n;
}

/* A string literal: the copy has a constant size. */
#define PUT_LITERAL(p, literal) put_bytes((p), "" literal, sizeof(literal) - 1)

/* The eight hex digits of v, as they stand in memory: the first digit in the lowest byte. */
static inline uint64_t hex8(uint32_t v)
{
    uint64_t x = v, above_nine;

    x = (x << 16 | x) & UINT64_C(0x0000ffff0000ffff);
    x = (x << 8 | x) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x << 4 | x) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    above_nine = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    x += UINT64_C(0x3030303030303030) + above_nine * ('a' - '0' - 10);
    return __builtin_bswap64(x);
}

/* Exactly eight digits. */
static inline char *put_hex8(char *p, uint32_t v)
{
    uint64_t digits = hex8(v);

    memcpy(p, &digits, 8);
    return p + 8;
}

/* As many digits as it needs, at least one. */
static inline char *put_hex(char *p, uint64_t v)
{
    unsigned digits = v ? (unsigned)(67 - __builtin_clzll(v)) / 4 : 1;

    v <<= 64 - 4 * digits;
    put_hex8(p, (uint32_t)(v >> 32));
    if (digits > 8)
        put_hex8(p + 8, (uint32_t)v);
    return p + digits;
}

extern const char out_decimal_pairs[201]; /* "00" to "99" */

char *put_decimal_long(char *p, uint64_t v);

static inline char *put_decimal(char *p, uint64_t v)
{
    if (v < 10) {
        *p = (char)('0' + v);
        return p + 1;
    }
    if (v < 100) {
        memcpy(p, out_decimal_pairs + 2 * v, 2);
        return p + 2;
    }
    return put_decimal_long(p, v);
}

/* ---- appenders ------------------------------------------------------------------------------ */

void out_bytes(struct out *o, const char *s, size_t n);
void out_string(struct out *o, const char *s);
void out_char(struct out *o, char c);
void out_hex(struct out *o, uint64_t v);                          /* without 0x */
void out_hex_min(struct out *o, uint64_t v, unsigned min_digits); /* zeros in front */
void out_decimal(struct out *o, uint64_t v);
void out_spaces(struct out *o, unsigned n);

/* printf, for what is printed seldom; longer than 1000 bytes is cut. */
void out_printf(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
