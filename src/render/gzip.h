/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Bytes packed with gzip; as they are in a build without zlib. */
#ifndef RENDER_GZIP_H
#define RENDER_GZIP_H

#include "render/out.h"

struct gzip;

/* NULL if there is no memory. */
struct gzip *gzip_open(struct out *out);
void gzip_put(struct gzip *g, const void *bytes, size_t size);
/* Write the end, and free. */
void gzip_close(struct gzip *g);

#endif
