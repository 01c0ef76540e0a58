/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/gzip.h"

#include <stdlib.h>

#ifdef SPE_NO_ZLIB

struct gzip {
    struct out *out;
};

struct gzip *gzip_open(struct out *out)
{
    struct gzip *g = calloc(1, sizeof(*g));

    if (g)
        g->out = out;
    return g;
}

void gzip_put(struct gzip *g, const void *bytes, size_t size)
{
    out_bytes(g->out, bytes, size);
}

void gzip_close(struct gzip *g)
{
    free(g);
}

#else

#define ZLIB_CONST
#include <zlib.h>

struct gzip {
    struct out *out;
    z_stream stream;
    unsigned char packed[16384];
};

enum { WINDOW_AND_GZIP = 15 + 16, MEMORY_LEVEL = 8 };

struct gzip *gzip_open(struct out *out)
{
    struct gzip *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->out = out;
    if (deflateInit2(&g->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_AND_GZIP, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(g);
        return NULL;
    }
    return g;
}

/* deflate cannot fail: its stream is sound, and it always has room. */
static void pack(struct gzip *g, const void *bytes, size_t size, int flush)
{
    g->stream.next_in = bytes;
    g->stream.avail_in = (uInt)size;
    do {
        g->stream.next_out = g->packed;
        g->stream.avail_out = sizeof(g->packed);
        deflate(&g->stream, flush);
        out_bytes(g->out, (const char *)g->packed, sizeof(g->packed) - g->stream.avail_out);
    } while (g->stream.avail_out == 0);
}

void gzip_put(struct gzip *g, const void *bytes, size_t size)
{
    const char *at = bytes;

    for (size_t part; size; at += part, size -= part) {
        part = size < 1u << 30 ? size : 1u << 30;
        pack(g, at, part, Z_NO_FLUSH);
    }
}

void gzip_close(struct gzip *g)
{
    pack(g, NULL, 0, Z_FINISH);
    deflateEnd(&g->stream);
    free(g);
}

#endif
