/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Names that have to fit into a column. Two names that differ still differ when they are short,
 * unless the column is narrower than the difference.
 */
#ifndef RENDER_SHORTEN_H
#define RENDER_SHORTEN_H

#include <stdbool.h>
#include <stddef.h>

struct short_name {
    const char *full;
    char *text; /* from malloc: what is shown */
};

/* Paths lose their directories: "f /usr/src/t.js:1" becomes "f t.js:1". Where two names would then
 * be the same, the directories in which they differ stay. False if memory ran out. */
bool shorten_paths(struct short_name *names, size_t count);

/* No text is wider than `width` (at least 8) code points. The middle becomes "..", because names
 * differ at their ends more often; with `keep_start` the end does. False if memory ran out. */
bool shorten_texts(struct short_name *names, size_t count, unsigned width, bool keep_start);

#endif
