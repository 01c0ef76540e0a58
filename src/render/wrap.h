/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Text on a page that is not wide enough for it. */
#ifndef RENDER_WRAP_H
#define RENDER_WRAP_H

#include "render/color.h"
#include "render/out.h"

struct wrap {
    struct out *out;
    unsigned width;
    bool color;
    unsigned column; /* of the label in front */
    enum tone tone;
};

/* A label in its column, and text that goes on below itself where it is too long. The text may hold
 * names from a file. False if there is no memory. */
bool wrap_text(const struct wrap *w, const char *label, const char *text);

/* Text from the first column on, which goes on below itself with blanks in front. False if there is
 * no memory. */
bool wrap_title(const struct wrap *w, const char *text);

/* Where a line of the text has to end so that it fits: at a blank or a line feed, or else within a
 * word, but not within a code point. */
size_t wrap_line(const char *s, size_t room);

/* Rows that the text takes behind a label of `column` columns. */
unsigned wrap_rows(unsigned width, unsigned column, const char *text);

#endif
