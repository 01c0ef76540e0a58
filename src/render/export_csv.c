/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/export_csv.h"

#include "render/safe.h"

static void put_quoted(struct out *o, const char *mark, const char *text)
{
    out_char(o, '"');
    out_string(o, mark);
    while (*text) {
        char piece[SAFE_MAX + 1] = {text[0]}, *end = piece + 1;

        if (*text == '"')
            out_char(o, '"');
        if (o->terminal)
            end = safe_next(piece, &text);
        else
            text++;
        out_bytes(o, piece, (size_t)(end - piece));
    }
    out_char(o, '"');
}

void csv_number(struct out *o, uint64_t value)
{
    out_char(o, ',');
    out_decimal(o, value);
}

void csv_quoted(struct out *o, const char *text)
{
    put_quoted(o, "", text);
}

void csv_text(struct out *o, const char *text)
{
    bool formula = *text && strchr("=+-@\t\r", *text);

    if (formula || text[strcspn(text, ",\"\r\n")])
        put_quoted(o, formula ? "'" : "", text);
    else
        out_data(o, text);
}
