/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * `spe report --html`: what its page has beyond the report, namely code, lines that are shared, and
 * how threads and all lists went over time. That takes a second pass over the rows.
 */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include "cli/cli.h"
#include "cli/report_changes.h"
#include "render/html.h"

struct report_page {
    struct html_page page;
    struct annotate annotate;
    struct annotate_sources sources;
    struct spe_annotation *annotation;
    struct spe_lanes *lanes;
    struct spe_slices *slices;
    struct spe_types *types; /* NULL: there is no debug information */
    struct report_types report_types;
    struct spe_shared_line candidates[SPE_SLICE_ROWS];
    struct spe_sharing *sharing;
    struct report_changes changes; /* since an older recording, if there is one */
    struct c2c c2c;
    struct report_groups cpus;
    struct spe_group cpu_groups[HTML_LANES];
};

/* As recording_analyse, with what is found of shared lines on the way. The report has its file,
 * profile and info. */
int report_page_analyse(struct report_page *p, const struct report *report,
                        struct spe_analysis *analysis);

/* After all questions to the analysis: the second pass. SPE_OK or an error. */
int report_page_complete(struct report_page *p, const struct report *report,
                         const struct spe_analysis *analysis, size_t top);

/* Write it; the status. Errors have been reported. */
int report_page_write(const struct report_page *p, const char *path, int status);

void report_page_free(struct report_page *p);

#endif
