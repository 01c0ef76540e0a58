/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "render/safe.h"
#include "render/shorten.h"

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
    if (vector_grow(&t->cells, &t->room, t->filled, sizeof(*t->cells)) < 0) {
        t->no_memory = true;
        return NULL;
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

void text_percent(char *buffer, double share)
{
    double percent = 100.0 * share;

    if (percent <= 0.0)
        snprintf(buffer, 32, "0");
    else if (percent < 0.01)
        snprintf(buffer, 32, "<0.01");
    else
        snprintf(buffer, 32, percent < 9.995 ? "%.2f" : "%.1f", percent);
}

void table_percent(struct table *t, enum tone tone, double share)
{
    char text[32];

    text_percent(text, share);
    table_text(t, share > 0.0 ? tone : TONE_QUIET, text);
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

/* Names keep this many columns when nothing else can go. */
#define FLOOR 8

/* The text column to take from: the least important one, or the widest of these. */
static unsigned next_to_shorten(const struct table *t, const struct layout *l, bool to_floor)
{
    unsigned found = TABLE_COLUMNS;

    for (unsigned c = 0; c < t->count; c++) {
        const struct table_column *column = &t->columns[c];

        if (!l->shown[c] || !column->text || l->width[c] <= text_width(column->title) ||
            l->width[c] <= (to_floor ? FLOOR : column->minimum))
            continue;
        if (found == TABLE_COLUMNS || column->rank > t->columns[found].rank ||
            (column->rank == t->columns[found].rank && l->width[c] > l->width[found]))
            found = c;
    }
    return found;
}

/* Shorten text columns until it fits, or none can be shortened. Titles stay whole. */
static void shorten(const struct table *t, struct layout *l, unsigned width, bool to_floor)
{
    while (total_width(t, l) > width) {
        unsigned c = next_to_shorten(t, l, to_floor);

        if (c == TABLE_COLUMNS)
            return;
        l->width[c]--;
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

/* A column that may be shortened gets other texts. `width` 0: without directories. */
static bool shorten_column(struct table *t, unsigned c, unsigned width)
{
    struct short_name *names = calloc(t->rows ? t->rows : 1, sizeof(*names));
    char **full = calloc(t->rows ? t->rows : 1, sizeof(*full));
    bool keep_start = t->columns[c].text == TABLE_END, good = names && full;
    size_t r;

    for (r = 0; good && r < t->rows; r++) {
        struct table_cell *cell = &t->cells[r * t->count + c];

        full[r] = strdup(cell->text);
        names[r] = (struct short_name){full[r], cell->text};
        good = full[r] != NULL;
    }
    if (good)
        good = width ? shorten_texts(names, t->rows, width, keep_start)
                     : shorten_paths(names, t->rows);
    for (r = 0; names && full && r < t->rows && full[r]; r++) {
        struct table_cell *cell = &t->cells[r * t->count + c];

        cell->text = names[r].text;
        cell->width = text_width(cell->text);
        free(full[r]);
    }
    free(full);
    free(names);
    return good;
}

/* Directories are the first to go, but not from code. */
static void drop_directories(struct table *t)
{
    for (unsigned c = 0; c < t->count && !t->no_memory; c++) {
        if (t->columns[c].title && t->columns[c].text && t->columns[c].text != TABLE_END)
            t->no_memory = !shorten_column(t, c, 0);
    }
}

/* Names keep their minimum as long as another column can go in their place. */
static void lay_out(struct table *t, struct layout *l, unsigned width)
{
    struct layout natural;
    unsigned c;

    natural.gap = 2;
    natural_widths(t, &natural);
    if (total_width(t, &natural) > width) {
        drop_directories(t);
        natural_widths(t, &natural);
    }
    if (total_width(t, &natural) > width)
        natural.gap = 1;
    *l = natural;
    shorten(t, l, width, false);
    while (total_width(t, l) > width) {
        unsigned gone = least_important(t, l);

        if (gone == TABLE_COLUMNS) {
            shorten(t, l, width, true);
            break;
        }
        l->shown[gone] = false;
        for (c = 0; c < t->count; c++)
            l->width[c] = natural.width[c];
        shorten(t, l, width, false);
    }
    for (c = 0; c < t->count && !t->no_memory; c++) {
        if (l->shown[c] && t->columns[c].text && l->width[c] < natural.width[c])
            t->no_memory = !shorten_column(t, c, l->width[c]);
    }
}

static void put_cell(struct out *o, const struct table_column *column, const char *text,
                     unsigned length, unsigned width, bool last)
{
    unsigned shown = length < width ? length : width;

    if (!column->text)
        out_spaces(o, width - shown);
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

    if (!t->no_memory)
        lay_out(t, &l, width);
    if (!t->no_memory) {
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
