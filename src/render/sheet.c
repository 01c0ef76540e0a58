/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/sheet.h"

#include "render/wrap.h"

void sheet_title(struct sheet *s, const char *text)
{
    struct wrap wrap = {s->out, s->width, s->color, 0, TONE_TITLE};

    s->no_memory |= !wrap_title(&wrap, text);
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
