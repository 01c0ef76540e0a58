/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A table for a terminal: columns as wide as they need to be, numbers to the right, and a page
 * width that is kept. If the table does not fit, paths lose their directories, then text columns
 * are shortened down to their minimum, then columns go, the least important first. Only when none
 * can go are names cut further. A column that went is named in a line below the table.
 *
 * All cells are kept until the table is printed, so a table is for a page, not for a file.
 */
#ifndef RENDER_TABLE_H
#define RENDER_TABLE_H

#include "render/color.h"
#include "render/out.h"

#define TABLE_COLUMNS 16

enum { TABLE_END = 2 };

struct table_column {
    const char *title; /* NULL: the column is not there */
    uint8_t text;      /* to the left, may be shortened: in the middle, or if it is TABLE_END at its
                          end; 0: to the right, never shortened */
    unsigned rank;     /* 0 stays always; of the others the highest goes first */
    unsigned minimum;  /* text: not shortened below this while another column can go */
};

struct table_cell {
    char *text; /* safe for a terminal */
    unsigned width;
    enum tone tone;
};

struct table {
    const struct table_column *columns;
    unsigned count;
    struct table_cell *cells; /* rows times count */
    size_t rows, room, filled;
    bool no_memory;
};

void table_begin(struct table *t, const struct table_column *columns, unsigned count);

/* The next cell; a row is complete when it has one for each column. Text is taken as untrusted. */
void table_text(struct table *t, enum tone tone, const char *text);
void table_format(struct table *t, enum tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "12.3", "0.05", "<0.01": a share of 1 in percent, with three digits that mean something. */
void table_percent(struct table *t, enum tone tone, double share);

/* "1,234,567" */
void table_count(struct table *t, enum tone tone, uint64_t count);

/* Print, and free the cells. False if memory ran out. */
bool table_end(struct table *t, struct out *o, unsigned width, bool color);

/* Columns that `text` takes on a terminal that shows one for each code point. */
unsigned text_width(const char *text);

/* 1234567 as "1,234,567" into at least 32 bytes. */
void text_grouped(char *buffer, uint64_t value);

/* As table_percent shows it, into at least 32 bytes. */
void text_percent(char *buffer, double share);

#endif
