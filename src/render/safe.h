/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Text that we did not make: names of files, threads, symbols and source files, words of a recorded
 * program. On its way to a person it must not move the cursor, colour the page, ring the bell or
 * pretend to be other text. Everything that shows such text takes it through safe_next.
 *
 * What stays is UTF-8 that can be seen. What goes comes out as \xNN for each of its bytes:
 *
 *   - bytes that are not UTF-8 (overlong, surrogates, cut short, beyond U+10FFFF);
 *   - controls: C0, DEL, and C1, which terminals obey in UTF-8 as well;
 *   - what turns the order of letters around (bidirectional marks, embeddings, isolates);
 *   - what is not seen (zero width, soft hyphen, byte order mark, tags), and separators of lines.
 */
#ifndef RENDER_SAFE_H
#define RENDER_SAFE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/utf8.h"
#include "render/out.h"

/* Most bytes that safe_next makes at a time. */
#define SAFE_MAX 16

/* May a person be shown this code point as it is? */
bool safe_code(uint32_t code);

/* The next code point (or a byte that is not part of one) of *text, made safe, to `to`. Returns the
 * new end of it and moves *text on. */
char *safe_next(char *to, const char **text);

/* A safe copy, to be freed; NULL if there is no memory. */
char *text_safe(const char *text);

/* All of it, safe. */
void out_safe(struct out *o, const char *text);

/* Data for another program: as it is, but safe where the output is a terminal. */
void out_data(struct out *o, const char *text);

#endif
