/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* CSV as RFC 4180 has it, with lines that end in a newline alone. */
#ifndef RENDER_EXPORT_CSV_H
#define RENDER_EXPORT_CSV_H

#include "render/out.h"

/* A text field: in quotes where it needs them. Text that a spreadsheet would take as a formula (it
 * begins with = + - @, tab or CR) gets a ' in front, because names come from outside. A
 * file gets every byte of the name; a terminal gets it safe (render/safe.h). */
void csv_text(struct out *o, const char *text);

/* One more field: a comma and a number. */
void csv_number(struct out *o, uint64_t value);

/* Text in quotes, whatever it begins with. */
void csv_quoted(struct out *o, const char *text);

#endif
