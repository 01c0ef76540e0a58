/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * `spe report --html`: one page that needs nothing but itself. Findings, tables, code and pictures
 * of cache lines are HTML that is made here; the script of the page (render/page) sorts, searches,
 * draws the time line, and computes nothing else.
 */
#ifndef RENDER_HTML_H
#define RENDER_HTML_H

#include "render/annotate.h"
#include "render/c2c.h"
#include "render/diff.h"
#include "render/report.h"

#define HTML_FUNCTIONS 24 /* with their code */
#define HTML_TOP 1000     /* rows of a list, at most: browsers have to live with them */
#define HTML_LANES 32
#define HTML_BINS 160
#define HTML_LINES 16 /* shared cache lines */

struct html_page {
    const struct report *report;
    const struct annotate *annotate;                  /* the first of the list of functions */
    const struct report_groups *functions, *lane_ids; /* lists of the report */
    const struct spe_lanes *lanes;                    /* NULL: there is no time */
    size_t lane_count;
    const struct spe_slices *slices;          /* NULL likewise */
    const struct spe_shared_line *candidates; /* those whose slices there are */
    size_t candidate_count;
    const struct c2c *c2c;  /* NULL: there is no answer ... */
    const char *no_sharing; /* ... and why */
    uint64_t latencies[SPE_SERVED_COUNT][SPE_LATENCY_BINS];
    const struct diff *changes[2];    /* by function and line, since an older one; or NULL */
    const struct report_types *types; /* NULL: nothing tells them */
    struct spe_slice_table type_slices, member_slices, object_slices; /* cells NULL: none */
};

/* SPE_OK, SPE_ERR_NOMEM, or SPE_ERR_IO: a source file could not be read. */
int html_page(struct out *o, const struct html_page *page);

/* ---- parts of it ---------------------------------------------------------------------------- */

void html_functions(struct out *o, const struct html_page *page);
void html_tables(struct out *o, const struct html_page *page);   /* all other lists */
void html_overview(struct out *o, const struct html_page *page); /* loads, mix, histograms */
void html_changes(struct out *o, const struct html_page *page);
void html_types(struct out *o, const struct html_page *page);
void html_shared_lines(struct out *o, const struct html_page *page);
int html_code(struct out *o, const struct html_page *page);
void html_time(struct out *o, const struct html_page *page); /* its place in the page */
void html_data(struct out *o, const struct html_page *page); /* JSON that the script draws */

/* ---- what they share ------------------------------------------------------------------------ */

/* Text from files: safe to look at (render/safe.h), and never markup. At most HTML_NAME bytes of it
 * are shown, and "…" for the rest. */
#define HTML_NAME 512
void html_text(struct out *o, const char *text);

struct html_column {
    const char *title, *hint; /* hint: what it means; NULL */
    bool text;                /* else a number: to the right, and the largest first */
    const char *of;           /* how the script makes it out of slices (page.js); NULL: it cannot */
};

/* The first cell of a row is its head. The id is for links and the script. */
void html_table_begin(struct out *o, const char *id, const char *caption,
                      const struct html_column *columns, size_t count);
void html_table_end(struct out *o);
void html_row_begin(struct out *o);
void html_row_of(struct out *o, size_t number, const char *class_); /* of its slices; NULL */
void html_row_end(struct out *o);

void html_head_begin(struct out *o); /* of a row; the caller writes what is in it */
void html_head_end(struct out *o);
void html_head_text(struct out *o, const char *text);
void html_cell_text(struct out *o, const char *text);
void html_cell_count(struct out *o, uint64_t count);
void html_cell_mean(struct out *o, uint64_t sum, uint64_t samples); /* "-" of none */
void html_cell_share(struct out *o, uint64_t part, uint64_t whole); /* in %; "-" of nothing */
void html_cell_cycles(struct out *o, const struct spe_latency_summary *l, uint16_t value);

/* A share with its interval drawn. */
void html_cell_interval(struct out *o, uint64_t hits, uint64_t samples);
void html_interval(struct out *o, double share, struct spe_interval interval);

/* Number of the code section of a function; SIZE_MAX if the page has none. */
size_t html_code_of(const struct html_page *page, uint64_t symbol, uint32_t dso);

/* The name, as a link to its code if the page has it. */
void html_function_link(struct out *o, const struct html_page *page, uint64_t symbol, uint32_t dso,
                        const char *name);

#endif
