/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/export_csv.h"

void csv_text(struct out *o, const char *text)
{
    bool formula = *text && strchr("=+-@\t\r", *text);

    if (!formula && !text[strcspn(text, ",\"\r\n")]) {
        out_string(o, text);
        return;
    }
    out_char(o, '"');
    if (formula)
        out_char(o, '\'');
    for (; *text; text++) {
        if (*text == '"')
            out_char(o, '"');
        out_char(o, *text);
    }
    out_char(o, '"');
}
