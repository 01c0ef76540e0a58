/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/safe.h"

#define INDENT 2

/* ---- text ------------------------------------------------------------------------------------ */

unsigned text_width(const char *text)
{
    unsigned width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void text_grouped(char *buffer, uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, value), i;

    for (i = 0; i < n; i++) {
        *buffer++ = digits[i];
        if (i + 1 < n && (n - i) % 3 == 1)
            *buffer++ = ',';
    }
    *buffer = '\0';
}

/* ---- cells ----------------------------------------------------------------------------------- */

void table_begin(struct table *t, const struct table_column *columns, unsigned count)
{
    memset(t, 0, sizeof(*t));
    t->columns = columns;
    t->count = count;
}

static struct table_cell *next_cell(struct table *t)
{
    if (t->filled == t->room) {
        size_t room = t->room ? 2 * t->room : 16 * (size_t)t->count;
        struct table_cell *cells = realloc(t->cells, room * sizeof(*cells));

        if (!cells) {
            t->no_memory = true;
            return NULL;
        }
        t->cells = cells;
        t->room = room;
    }
    return &t->cells[t->filled++];
}

void table_text(struct table *t, enum tone tone, const char *text)
{
    struct table_cell *cell = t->no_memory ? NULL : next_cell(t);

    if (!cell)
        return;
    cell->text = text_safe(text);
    cell->tone = tone;
    cell->width = cell->text ? text_width(cell->text) : 0;
    t->no_memory = !cell->text;
    t->rows = t->filled / t->count;
}

void table_format(struct table *t, enum tone tone, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    table_text(t, tone, text);
}

void table_percent(struct table *t, enum tone tone, double share)
{
    double percent = 100.0 * share;

    if (percent <= 0.0)
        table_text(t, TONE_QUIET, "0");
    else if (percent < 0.01)
        table_text(t, tone, "<0.01");
    else
        table_format(t, tone, percent < 9.995 ? "%.2f" : "%.1f", percent);
}

void table_count(struct table *t, enum tone tone, uint64_t count)
{
    char text[32];

    text_grouped(text, count);
    table_text(t, count ? tone : TONE_QUIET, text);
}

/* ---- printing -------------------------------------------------------------------------------- */

struct layout {
    unsigned width[TABLE_COLUMNS];
    bool shown[TABLE_COLUMNS];
    unsigned gap; /* between columns: two if there is room for everything, else one */
};

static void natural_widths(const struct table *t, struct layout *l)
{
    unsigned c;
    size_t r;

    for (c = 0; c < t->count; c++) {
        l->shown[c] = t->columns[c].title != NULL;
        l->width[c] = l->shown[c] ? text_width(t->columns[c].title) : 0;
        for (r = 0; r < t->rows; r++) {
            unsigned width = t->cells[r * t->count + c].width;

            l->width[c] = width > l->width[c] ? width : l->width[c];
        }
    }
}

static unsigned total_width(const struct table *t, const struct layout *l)
{
    unsigned total = INDENT, c, gap = 0;

    for (c = 0; c < t->count; c++) {
        if (l->shown[c]) {
            total += gap + l->width[c];
            gap = l->gap;
        }
    }
    return total;
}

/* Take from the widest text column until it fits. */
static void shorten(const struct table *t, struct layout *l, unsigned width)
{
    while (total_width(t, l) > width) {
        unsigned c, widest = TABLE_COLUMNS;

        for (c = 0; c < t->count; c++) {
            if (l->shown[c] && t->columns[c].text && l->width[c] > t->columns[c].minimum &&
                (widest == TABLE_COLUMNS || l->width[c] > l->width[widest]))
                widest = c;
        }
        if (widest == TABLE_COLUMNS)
            return;
        l->width[widest]--;
    }
}

static unsigned least_important(const struct table *t, const struct layout *l)
{
    unsigned c, found = TABLE_COLUMNS, rank = 0;

    for (c = 0; c < t->count; c++) {
        if (l->shown[c] && t->columns[c].rank > rank) {
            rank = t->columns[c].rank;
            found = c;
        }
    }
    return found;
}

static void lay_out(const struct table *t, struct layout *l, unsigned width)
{
    struct layout natural;

    natural_widths(t, &natural);
    natural.gap = 2;
    if (total_width(t, &natural) > width)
        natural.gap = 1;
    *l = natural;
    shorten(t, l, width);
    while (total_width(t, l) > width) {
        unsigned gone = least_important(t, l), c;

        if (gone == TABLE_COLUMNS)
            return;
        l->shown[gone] = false;
        for (c = 0; c < t->count; c++)
            l->width[c] = natural.width[c];
        shorten(t, l, width);
    }
}

/* The text behind its first n code points. */
static const char *skip_points(const char *p, unsigned n)
{
    while (n > 0 && *p) {
        p++;
        while (((unsigned char)*p & 0xc0) == 0x80)
            p++;
        n--;
    }
    return p;
}

static unsigned count_points(const char *p)
{
    unsigned n = 0;

    for (; *p; p++)
        n += ((unsigned char)*p & 0xc0) != 0x80;
    return n;
}

static void put_ends(struct out *o, const char *text, unsigned length, unsigned head, unsigned tail)
{
    out_bytes(o, text, (size_t)(skip_points(text, head) - text));
    out_bytes(o, "..", 2);
    out_string(o, skip_points(text, length - tail));
}

/* The whole text, or its two ends: names differ at the ends more often than in the middle. Of a
 * path only the end, if the file's name fits: directories go first. Of code only the beginning. */
static void put_shortened(struct out *o, const char *text, unsigned length, unsigned width,
                          bool keep_start)
{
    unsigned tail = (width - 2) / 2;

    if (length <= width)
        out_string(o, text);
    else if (keep_start)
        put_ends(o, text, length, width - 2, 0);
    else if (text[0] == '/' && count_points(strrchr(text, '/')) <= width - 2)
        put_ends(o, text, length, 0, width - 2);
    else
        put_ends(o, text, length, width - 2 - tail, tail);
}

static void put_cell(struct out *o, const struct table_column *column, const char *text,
                     unsigned length, unsigned width, bool last)
{
    unsigned shown = length < width ? length : width;

    if (!column->text)
        out_spaces(o, width - shown);
    if (column->text)
        put_shortened(o, text, length, width, column->text == TABLE_END);
    else
        out_string(o, text);
    if (column->text && !last)
        out_spaces(o, width - shown);
}

static void put_titles(const struct table *t, const struct layout *l, struct out *o, unsigned last,
                       bool color)
{
    unsigned c, gap = INDENT;

    tone_begin(o, color, TONE_QUIET);
    for (c = 0; c < t->count; c++) {
        const struct table_column *column = &t->columns[c];

        if (!l->shown[c])
            continue;
        out_spaces(o, gap);
        put_cell(o, column, column->title, text_width(column->title), l->width[c], c == last);
        gap = l->gap;
    }
    tone_end(o, color, TONE_QUIET);
    out_char(o, '\n');
}

/* Up to its last cell that is not empty: lines do not end in blanks. */
static void put_row(const struct table *t, const struct layout *l, struct out *o, size_t row,
                    bool color)
{
    unsigned c, last = 0, gap = INDENT;

    for (c = 0; c < t->count; c++) {
        if (l->shown[c] && t->cells[row * t->count + c].width)
            last = c;
    }
    for (c = 0; c <= last; c++) {
        const struct table_cell *cell = &t->cells[row * t->count + c];

        if (!l->shown[c])
            continue;
        out_spaces(o, gap);
        tone_begin(o, color, cell->tone);
        put_cell(o, &t->columns[c], cell->text, cell->width, l->width[c], c == last);
        tone_end(o, color, cell->tone);
        gap = l->gap;
    }
    out_char(o, '\n');
}

/* The titles of the columns that went, on as many lines as they need. */
static void put_hidden(const struct table *t, const struct layout *l, struct out *o, unsigned width,
                       bool color)
{
    static const char start[] = "  no room for:";
    unsigned c, at = 0;

    for (c = 0; c < t->count; c++) {
        const char *title = t->columns[c].title;

        if (l->shown[c] || !title)
            continue;
        if (!at) {
            tone_begin(o, color, TONE_QUIET);
            out_string(o, start);
            at = sizeof(start) - 1;
        } else {
            out_char(o, ',');
            at++;
        }
        if (at + 1 + text_width(title) + 1 > width) { /* with the comma behind it */
            out_char(o, '\n');
            out_spaces(o, INDENT + 1);
            at = INDENT + 1;
        }
        out_char(o, ' ');
        out_string(o, title);
        at += 1 + text_width(title);
    }
    if (at) {
        tone_end(o, color, TONE_QUIET);
        out_char(o, '\n');
    }
}

static void free_cells(struct table *t)
{
    while (t->filled > 0)
        free(t->cells[--t->filled].text);
    free(t->cells);
    t->cells = NULL;
}

bool table_end(struct table *t, struct out *o, unsigned width, bool color)
{
    struct layout l;
    unsigned last = 0, c;
    size_t r;

    if (!t->no_memory) {
        lay_out(t, &l, width);
        for (c = 0; c < t->count; c++)
            last = l.shown[c] ? c : last;
        put_titles(t, &l, o, last, color);
        for (r = 0; r < t->rows; r++)
            put_row(t, &l, o, r, color);
        put_hidden(t, &l, o, width, color);
    }
    free_cells(t);
    return !t->no_memory;
}
