/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* `spe diff` as a page and as JSON: what changed between two recordings. */
#ifndef RENDER_DIFF_H
#define RENDER_DIFF_H

#include <specimen/analysis.h>

#include "render/out.h"

/* A bound of --fail-if, and what became of it. */
struct diff_gate {
    const char *text;                /* as it was given */
    const struct spe_change *change; /* NULL: the function is on neither side */
    bool failed;
};

struct diff {
    const struct spe_diff_result *result;
    const char *file[2];  /* the first one of each side */
    size_t file_count[2]; /* of a side */
    enum spe_group_by by;
    enum spe_diff_per per;
    const char *function; /* of SPE_PER_FUNCTION */
    size_t top;           /* rows of the page */
    bool all;             /* those without a significant change, too */
    const struct diff_gate *gates;
    size_t gate_count;
};

/* False if memory ran out. */
bool diff_text(struct out *o, const struct diff *diff, unsigned width, bool color);
void diff_json(struct out *o, const struct diff *diff);

const char *diff_by_name(enum spe_group_by by);     /* "function" ..., as in --by */
const char *diff_per_name(const struct diff *diff); /* "operation" ..., as in --per */

/* ---- what the page and the text share -------------------------------------------------------- */

#define DIFF_NUMBER 64
#define DIFF_TEXT 4096

bool diff_in_percent(const struct diff *diff, unsigned quantity); /* values are shares */
bool diff_is_shown(const struct diff *diff, unsigned quantity);   /* of the whole program */
void diff_value_text(char text[DIFF_NUMBER], double value);
void diff_change_text(const struct spe_change *change, char text[DIFF_NUMBER]);
void diff_interval_text(const struct spe_change *change, char text[DIFF_NUMBER]);
const char *diff_quantity_words(unsigned quantity);
void diff_per_words(const struct diff *diff, char *text, size_t size);
void diff_row_name(const struct diff *diff, const struct spe_diff_row *row, char *text,
                   size_t size);
unsigned diff_main_quantity(const struct diff *diff); /* that the answer is about */

/* The answer: of the whole, and where most of it is ("" if nowhere). */
void diff_total_sentence(const struct diff *diff, char *text, size_t size);
void diff_most_sentence(const struct diff *diff, char *text, size_t size);
/* Other quantities of a row that changed. */
void diff_also_text(const struct diff *diff, const struct spe_diff_row *row, char *text,
                    size_t size);

#endif
