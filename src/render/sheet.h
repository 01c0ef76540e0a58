/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Where a page of text goes: its titles, tables and wrapped lines. */
#ifndef RENDER_SHEET_H
#define RENDER_SHEET_H

#include "render/color.h"
#include "render/out.h"
#include "render/table.h"

struct sheet {
    struct out *out;
    unsigned width;
    bool color, no_memory;
};

/* Text, which may come from a file, on a line of its own. */
void sheet_title(struct sheet *s, const char *text);

/* A label, and text that is wrapped behind it, from a column on. */
void sheet_wrapped(struct sheet *s, unsigned column, const char *label, enum tone tone,
                   const char *text);

/* table_end on the sheet. */
void sheet_table(struct sheet *s, struct table *t);

#endif
