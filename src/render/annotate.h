/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * `spe annotate` as a page and as JSON. Everything has been counted; here it gets names, source
 * text and places.
 */
#ifndef RENDER_ANNOTATE_H
#define RENDER_ANNOTATE_H

#include <specimen/analysis.h>

#include "render/out.h"

/* Columns of numbers, in the order of the page; the page has others for places and text. */
enum annotate_column {
    ANNOTATE_SHARE,
    ANNOTATE_INTERVAL,
    ANNOTATE_SAMPLES,
    ANNOTATE_LATENCY,
    ANNOTATE_WEIGHT,
    ANNOTATE_ISSUE,
    ANNOTATE_TRANSLATION,
    ANNOTATE_EXECUTION,
    ANNOTATE_L1,
    ANNOTATE_LLC,
    ANNOTATE_TLB,
    ANNOTATE_SERVED,
    ANNOTATE_MISPREDICTED,
    ANNOTATE_OPERATION,
    ANNOTATE_COLUMNS
};

const char *annotate_column_name(unsigned column); /* "share" ..., as in --columns */

/* Source files that were looked for, each once. */
struct annotate_sources {
    const char *directory; /* of --source-dir; NULL */
    int64_t recorded;      /* when the recording was made, in seconds; 0: not known */
    struct annotate_source *list;
    size_t count, capacity;
};

struct annotate_function {
    uint64_t symbol; /* or SPE_NO_SYMBOL */
    uint32_t dso;    /* or SPE_NO_ID */
    char *name;
    const struct spe_instruction *instructions; /* with samples, by address */
    size_t count;
    struct spe_instruction sum;
    struct spe_annotated_line *lines;
    size_t line_count;
    uint64_t start;  /* of its code */
    uint32_t *words; /* NULL: there is none, and why */
    uint8_t *data;
    size_t word_count;
    const char *no_code;
};

struct annotate {
    const char *file;
    struct spe_profile *profile;
    struct spe_disassembler *disassembler;
    struct annotate_sources *sources;
    struct annotate_function *functions;
    size_t function_count;
    const struct spe_branch_target *targets;
    uint64_t samples, latency; /* of the recording */
    bool source, assembly;     /* which parts of the page */
    double limit;              /* instructions below so much of the function are folded; 0 to 1 */
    bool all;                  /* code without samples, too */
    bool by_latency;           /* what is hot: by latency; else by samples */
    bool global;               /* shares of the recording; else of the function */
    bool words;                /* instruction words beside the text */
    bool full_paths;
    bool chosen;      /* `columns` were named; else as many as there is room for */
    unsigned columns; /* bit n: enum annotate_column n */
};

/* SPE_OK, SPE_ERR_NOMEM, or SPE_ERR_IO: a source file could not be read. */
int annotate_text(struct out *o, const struct annotate *a, unsigned width, bool color);
int annotate_json(struct out *o, const struct annotate *a);

/* ---- what both share ------------------------------------------------------------------------- */

/* The text of a line, or "" if there is no such source; *newer: the file was changed after the
 * recording. SPE_OK, SPE_ERR_NOMEM or SPE_ERR_IO. */
int annotate_source_line(struct annotate_sources *s, const char *path, uint32_t line,
                         char text[SPE_TEXT_LINE], bool *newer);
void annotate_sources_free(struct annotate_sources *s);

/* How a branch's target is called: "L3", "memcpy@plt", "walk+0x10", "0x1234". Labels are those
 * inside the function; 0: none. */
#define ANNOTATE_NAME 256
void annotate_target_name(const struct annotate *a, const struct spe_branch_target *target,
                          char name[ANNOTATE_NAME]);

/* The nearest place in which most of its loads were served, and how many; SPE_SERVED_COUNT: it has
 * no loads. */
unsigned annotate_mostly_served(const struct spe_instruction *insn, uint64_t *loads);

#endif
