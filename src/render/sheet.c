/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/sheet.h"

#include "render/safe.h"
#include "render/wrap.h"

void sheet_title(struct sheet *s, const char *text)
{
    tone_begin(s->out, s->color, TONE_TITLE);
    out_safe(s->out, text);
    tone_end(s->out, s->color, TONE_TITLE);
    out_char(s->out, '\n');
}

void sheet_wrapped(struct sheet *s, unsigned column, const char *label, enum tone tone,
                   const char *text)
{
    struct wrap wrap = {s->out, s->width, s->color, column, tone};

    s->no_memory |= !wrap_text(&wrap, label, text);
}

void sheet_table(struct sheet *s, struct table *t)
{
    s->no_memory |= !table_end(t, s->out, s->width, s->color);
}
