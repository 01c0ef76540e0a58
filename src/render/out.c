/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "specimen/error.h"

/* Large enough that system calls do not show, small enough to stay in the second-level cache. */
#define OUT_BUFFER (64 * 1024)

const char out_decimal_pairs[201] = "00010203040506070809"
                                    "10111213141516171819"
                                    "20212223242526272829"
                                    "30313233343536373839"
                                    "40414243444546474849"
                                    "50515253545556575859"
                                    "60616263646566676869"
                                    "70717273747576777879"
                                    "80818283848586878889"
                                    "90919293949596979899";

int out_open(struct out *o, int fd)
{
    o->buffer = malloc(OUT_BUFFER);
    if (!o->buffer)
        return SPE_ERR_NOMEM;
    o->used = 0;
    o->size = OUT_BUFFER;
    o->fd = fd;
    o->error = 0;
    o->terminal = isatty(fd);
    return SPE_OK;
}

static void write_all(struct out *o, const char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size && !o->error) {
        ssize_t n = write(o->fd, bytes + done, size - done);

        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            o->error = errno;
    }
}

void out_flush(struct out *o)
{
    write_all(o, o->buffer, o->used);
    o->used = 0;
}

int out_close(struct out *o)
{
    out_flush(o);
    free(o->buffer);
    o->buffer = NULL;
    return o->error;
}

/* Three digits and more: pairs from the right into a scratch, then one copy. */
char *put_decimal_long(char *p, uint64_t v)
{
    char scratch[24];
    char *first = scratch + 20;

    while (v >= 100) {
        first -= 2;
        memcpy(first, out_decimal_pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        first -= 2;
        memcpy(first, out_decimal_pairs + 2 * v, 2);
    } else {
        *--first = (char)('0' + v);
    }
    return put_bytes(p, first, (size_t)(scratch + 20 - first));
}

void out_bytes(struct out *o, const char *s, size_t n)
{
    if (n >= o->size) { /* not worth a copy */
        out_flush(o);
        write_all(o, s, n);
        return;
    }
    while (n > 0) {
        size_t part = n < 4096 ? n : 4096;

        out_advance(o, put_bytes(out_room(o, part), s, part));
        s += part;
        n -= part;
    }
}

void out_string(struct out *o, const char *s)
{
    out_bytes(o, s, strlen(s));
}

void out_char(struct out *o, char c)
{
    *out_room(o, 1) = c;
    o->used++;
}

void out_hex(struct out *o, uint64_t v)
{
    out_advance(o, put_hex(out_room(o, 16), v));
}

void out_hex_min(struct out *o, uint64_t v, unsigned min_digits)
{
    while (min_digits > 1 && (min_digits > 16 || v >> 4 * (min_digits - 1) == 0)) {
        out_char(o, '0');
        min_digits--;
    }
    out_hex(o, v);
}

void out_decimal(struct out *o, uint64_t v)
{
    out_advance(o, put_decimal(out_room(o, 20), v));
}

void out_spaces(struct out *o, unsigned n)
{
    while (n-- > 0)
        out_char(o, ' ');
}

void out_printf(struct out *o, const char *format, ...)
{
    char *room = out_room(o, 1000);
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(room, 1000, format, args);
    va_end(args);
    if (n > 0)
        o->used += n < 1000 ? (size_t)n : 999;
}
