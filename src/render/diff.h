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

#endif
