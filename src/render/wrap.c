/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "render/safe.h"

size_t wrap_line(const char *s, size_t room)
{
    size_t end = strcspn(s, "\n");

    if (end <= room)
        return end;
    for (end = room; end > 0 && s[end] != ' '; end--)
        ;
    if (end)
        return end;
    for (end = room; end > 1 && ((unsigned char)s[end] & 0xc0) == 0x80; end--)
        ;
    return end;
}

static unsigned room_for(unsigned width, unsigned column)
{
    return width > column + 22 ? width - column - 2 : 20;
}

unsigned wrap_rows(unsigned width, unsigned column, const char *text)
{
    unsigned rows = 0;

    do {
        text += wrap_line(text, room_for(width, column));
        text += *text == ' ';
        rows++;
    } while (*text);
    return rows;
}

static void put_line(const struct wrap *w, const char *s, size_t size)
{
    tone_begin(w->out, w->color, w->tone);
    out_bytes(w->out, s, size);
    tone_end(w->out, w->color, w->tone);
    out_char(w->out, '\n');
}

/* The first line has the margin and the label, the others are below its text. */
static bool put_lines(const struct wrap *w, const char *margin, const char *label, const char *text)
{
    unsigned room = room_for(w->width, w->column);
    char *safe = text_safe(text);
    const char *s = safe;

    if (!safe)
        return false;
    do {
        size_t end = wrap_line(s, *margin ? room : room + 2);

        out_printf(w->out, "%s%-*s", margin, (int)w->column, label);
        put_line(w, s, end);
        s += end + (s[end] == ' ');
        margin = "  ";
        label = "";
    } while (*s);
    free(safe);
    return true;
}

bool wrap_title(const struct wrap *w, const char *text)
{
    return put_lines(w, "", "", text);
}

bool wrap_text(const struct wrap *w, const char *label, const char *text)
{
    return put_lines(w, "  ", label, text);
}
