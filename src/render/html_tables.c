/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Lists of the page: groups, branches, data; and where loads were served, with histograms. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/count_of.h"
#include "render/html.h"
#include "render/table.h"

static void section_begin(struct out *o, const char *id, const char *title)
{
    out_printf(o, "<section id=\"%s\"><h2>%s</h2>\n", id, title);
}

static void section_end(struct out *o)
{
    out_string(o, "</section>\n");
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void counts_cells(struct out *o, const struct report *r, const struct spe_counts *c)
{
    html_cell_count(o, c->samples);
    html_cell_interval(o, c->samples, r->totals.samples);
    html_cell_count(o, c->latency);
    html_cell_share(o, c->latency, r->totals.latency);
    html_cell_mean(o, c->latency, c->timed);
    html_cell_share(o, c->l1_misses, c->memory);
    html_cell_share(o, c->llc_misses, c->memory);
    html_cell_share(o, c->tlb_walks, c->memory);
    html_cell_share(o, c->mispredicted, c->branches);
}

/* A line is a place by itself. */
static bool has_where(enum spe_group_by by)
{
    return spe_group_by_code(by) != SPE_BY_COUNT && spe_group_by_code(by) != SPE_BY_LINE;
}

static void group_row(struct out *o, const struct html_page *page, const struct report_groups *g,
                      size_t number)
{
    const struct spe_group *group = &g->groups[number];
    enum spe_group_by code = spe_group_by_code(g->by);
    const struct report *r = page->report;
    char name[REPORT_NAME];

    html_row_of(o, number, NULL);
    html_head_begin(o);
    report_group_name(r, g->by, group, name);
    if (code == SPE_BY_FUNCTION || code == SPE_BY_FUNCTION_LINE)
        html_function_link(o, page, group->symbol, group->dso, name);
    else
        html_text(o, name);
    html_head_end(o);
    if (has_where(g->by)) {
        report_line_name(r, code == SPE_BY_FUNCTION_LINE ? group->line : SPE_NO_ID, name);
        html_cell_text(o, name[0] ? name : report_dso_name(r, group->dso));
    }
    if (code != SPE_BY_COUNT && spe_group_by_task(g->by) != SPE_BY_COUNT) {
        report_task_name(r, g->by, group, name);
        html_cell_text(o, name);
    }
    counts_cells(o, r, &group->counts);
    html_row_end(o);
}

/* Titles of the usual lists; of the others the name of --by. */
static const char *group_title(enum spe_group_by by)
{
    switch (by) {
    case SPE_BY_FUNCTION:
        return "Functions";
    case SPE_BY_LINE:
        return "Lines";
    case SPE_BY_THREAD:
        return "Threads";
    case SPE_BY_CPU:
        return "CPUs";
    default:
        return report_by_name(by);
    }
}

static void group_caption(const struct report *r, const struct report_groups *g, char *text,
                          size_t size)
{
    char count[32], of[32], list[80];

    text_grouped(count, g->count);
    text_grouped(of, g->of);
    if (g->count < g->of)
        snprintf(list, sizeof(list), "The first %s of %s", count, of);
    else
        snprintf(list, sizeof(list), "All %s", count);
    snprintf(text, size,
             "%s, by %s; latency and mean are cycles; misses and walks are %% of loads and stores",
             list, report_sort_name(r->sort));
}

static void group_table(struct out *o, const struct html_page *page, const struct report_groups *g)
{
    struct html_column columns[] = {
        {report_by_name(g->by), NULL, true, NULL},
        {"where", "program or library, or line", true, NULL},
        {"who", "thread, process, name or CPU", true, NULL},
        {"samples", NULL, false, "count samples"},
        {"share %", "of all samples, with the 95 % interval", false,
         "interval samples all.samples"},
        {"latency", "cycles, sum of all samples", false, "count latency"},
        {"of all %", "of all latency", false, "share latency all.latency"},
        {"mean", "cycles of a sample", false, "mean latency timed"},
        {"L1 miss %", "of its loads and stores", false, "share l1_misses memory"},
        {"LLC miss %", "of its loads and stores", false, "share llc_misses memory"},
        {"TLB walk %", "of its loads and stores", false, "share tlb_walks memory"},
        {"mispred. %", "of its branches", false, "share mispredicted branches"},
    };
    bool pair =
        spe_group_by_code(g->by) != SPE_BY_COUNT && spe_group_by_task(g->by) != SPE_BY_COUNT;
    struct html_column shown[COUNT_OF(columns)];
    char caption[256];
    size_t n = 0;

    for (size_t i = 0; i < COUNT_OF(columns); i++) {
        if ((i == 1 && !has_where(g->by)) || (i == 2 && !pair))
            continue;
        shown[n++] = columns[i];
    }
    group_caption(page->report, g, caption, sizeof(caption));
    section_begin(o,
                  g->by == SPE_BY_FUNCTION ? "functions"
                  : g->by == SPE_BY_LINE   ? "lines"
                                           : report_by_name(g->by),
                  group_title(g->by));
    if (!g->count) {
        out_string(o, "<p>None: there are no samples.</p>\n");
        section_end(o);
        return;
    }
    html_table_begin(o, report_by_name(g->by), caption, shown, n);
    for (size_t i = 0; i < g->count; i++)
        group_row(o, page, g, i);
    html_table_end(o);
    section_end(o);
}

/* ---- branches -------------------------------------------------------------------------------- */

static void branch_row(struct out *o, const struct html_page *page, size_t number)
{
    const struct report *r = page->report;
    const struct spe_branch *b = &r->branches[number];
    const struct spe_profile_map *map =
        b->map != SPE_NO_ID ? spe_profile_map(r->profile, b->map) : NULL;
    char name[REPORT_NAME];

    html_row_of(o, number, NULL);
    snprintf(name, sizeof(name), "0x%" PRIx64, b->pc);
    html_head_text(o, name);
    report_place_name(r, b, name);
    out_string(o, "<td class=\"t\">");
    html_function_link(o, page, b->symbol, map ? map->dso : SPE_NO_ID, name);
    out_string(o, "</td>");
    html_cell_count(o, b->samples);
    html_cell_count(o, b->mispredicted);
    html_cell_interval(o, b->mispredicted, b->samples);
    html_cell_share(o, b->samples - b->not_taken, b->samples);
    html_cell_mean(o, b->latency, b->samples);
    html_row_end(o);
}

static void branch_table(struct out *o, const struct html_page *page)
{
    static const struct html_column columns[] = {
        {"pc", NULL, true, NULL},
        {"function", NULL, true, NULL},
        {"samples", NULL, false, "count samples"},
        {"mispredicted", NULL, false, "count mispredicted"},
        {"mispred. %", "of its samples, with the 95 % interval", false,
         "interval mispredicted samples"},
        {"taken %", "of its samples", false, "share samples-not_taken samples"},
        {"mean", "cycles of a sample", false, "mean latency samples"},
    };
    const struct report *r = page->report;
    char caption[160];

    if (!r->branch_count)
        return;
    section_begin(o, "branches", "Branches");
    snprintf(caption, sizeof(caption), "Branches with the most mispredictions%s",
             r->branch_error ? "; there were more places than memory: numbers may be too small"
                             : "");
    html_table_begin(o, "branch", caption, columns, COUNT_OF(columns));
    for (size_t i = 0; i < r->branch_count; i++)
        branch_row(o, page, i);
    html_table_end(o);
    section_end(o);
}

/* ---- data ------------------------------------------------------------------------------------ */

static void data_row(struct out *o, const struct report *r, size_t number)
{
    const struct spe_data *d = &r->data[number];
    char name[REPORT_NAME];

    html_row_of(o, number, NULL);
    snprintf(name, sizeof(name), "0x%" PRIx64, d->address);
    html_head_text(o, name);
    report_data_name(r, d, name);
    html_cell_text(o, name);
    if (d->pid == SPE_NO_TASK)
        snprintf(name, sizeof(name), "kernel");
    else
        snprintf(name, sizeof(name), "%" PRIu32, d->pid);
    html_cell_text(o, name);
    html_cell_count(o, d->samples);
    html_cell_count(o, d->latency);
    html_cell_share(o, d->latency, r->data_summary.latency);
    html_cell_mean(o, d->latency, d->samples);
    html_cell_count(o, d->loads);
    html_cell_count(o, d->stores);
    html_cell_interval(o, d->l1_misses, d->samples);
    html_cell_share(o, d->shared, d->samples);
    html_cell_text(o, d->several_threads ? "several" : "one");
    html_row_end(o);
}

static void data_table(struct out *o, const struct html_page *page)
{
    static const struct html_column columns[] = {
        {"address", NULL, true, NULL},
        {"what", "variable, or program or library", true, NULL},
        {"pid", NULL, true, NULL},
        {"samples", NULL, false, "count samples"},
        {"latency", "cycles, sum of its samples", false, "count latency"},
        {"of all %", "of all latency of data", false, "share latency all.data_latency"},
        {"mean", "cycles of a sample", false, "mean latency samples"},
        {"loads", NULL, false, "count loads"},
        {"stores", NULL, false, "count samples-loads"},
        {"L1 miss %", "of its samples, with the 95 % interval", false,
         "interval l1_misses samples"},
        {"peer %", "samples that another core's cache had a part in", false,
         "share shared samples"},
        {"threads", NULL, true, "threads thread"},
    };
    const struct report *r = page->report;
    char caption[160];

    if (!r->data_count)
        return;
    section_begin(o, "data", "Data");
    snprintf(caption, sizeof(caption), "%s with the most latency%s",
             r->data_summary.shift == 12 ? "Pages of 4096 bytes" : "Lines of 64 bytes",
             r->data_summary.missing ? "; there were more places than memory: numbers may be too "
                                       "small"
                                     : "");
    html_table_begin(o, "data", caption, columns, COUNT_OF(columns));
    for (size_t i = 0; i < r->data_count; i++)
        data_row(o, r, i);
    html_table_end(o);
    section_end(o);
}

void html_functions(struct out *o, const struct html_page *page)
{
    group_table(o, page, page->functions);
}

void html_tables(struct out *o, const struct html_page *page)
{
    for (size_t i = 0; i < page->report->table_count; i++) {
        if (&page->report->tables[i] != page->functions)
            group_table(o, page, &page->report->tables[i]);
    }
    html_types(o, page);
    data_table(o, page);
    branch_table(o, page);
}

/* ---- overview -------------------------------------------------------------------------------- */

static void served_table(struct out *o, const struct report *r)
{
    static const struct html_column columns[] = {
        {"served by", NULL, true, NULL},
        {"by", "the CPU's data source, or events", true, NULL},
        {"loads", NULL, false, "count loads"},
        {"share %", "of all loads, with the 95 % interval", false, "interval loads all.loads"},
        {"mean", "cycles", false, "mean latency timed"},
        {"median", "cycles", false, "quantile 500"},
        {"p95", "cycles that 95 % do not exceed", false, "quantile 950"},
        {"p99", "cycles that 99 % do not exceed", false, "quantile 990"},
        {"max", "cycles", false, "largest max"},
    };
    uint64_t loads = 0;

    for (size_t i = 0; i < r->served_count; i++)
        loads += r->served[i].loads;
    html_table_begin(o, "served", "Where loads were served, and their latency", columns,
                     COUNT_OF(columns));
    for (size_t i = 0; i < r->served_count; i++) {
        const struct spe_served_row *row = &r->served[i];

        html_row_of(o, row->served, NULL);
        html_head_text(o, spe_served_name(row->served));
        html_cell_text(o, row->by_source                      ? "data source"
                          : row->served == SPE_SERVED_UNKNOWN ? ""
                                                              : "events");
        html_cell_count(o, row->loads);
        html_cell_interval(o, row->loads, loads);
        html_cell_mean(o, row->latency.sum, row->latency.samples);
        html_cell_cycles(o, &row->latency, row->latency.median);
        html_cell_cycles(o, &row->latency, row->latency.p95);
        html_cell_cycles(o, &row->latency, row->latency.p99);
        html_cell_cycles(o, &row->latency, row->latency.max);
        html_row_end(o);
    }
    html_table_end(o);
}

static void mix_table(struct out *o, const struct report *r)
{
    static const struct html_column columns[] = {
        {"operation", NULL, true, NULL},
        {"of", "the class that it is a kind of", true, NULL},
        {"samples", NULL, false, "count samples"},
        {"share %", "of all samples, with the 95 % interval", false,
         "interval samples all.samples"},
        {"mean", "cycles", false, "mean latency timed"},
    };
    const char *class_ = "";

    html_table_begin(o, "mix", "Operations; the kinds of a class are below it", columns,
                     COUNT_OF(columns));
    for (size_t i = 0; i < r->mix_count; i++) {
        const struct spe_mix *m = &r->mix[i];

        html_row_of(o, i, m->is_class ? "class" : "kind");
        html_head_text(o, m->name);
        html_cell_text(o, m->is_class ? "" : class_);
        html_cell_count(o, m->samples);
        html_cell_interval(o, m->samples, r->totals.samples);
        html_cell_mean(o, m->latency, m->latency_samples);
        html_row_end(o);
        class_ = m->is_class ? m->name : class_;
    }
    html_table_end(o);
}

/* ---- histograms ------------------------------------------------------------------------------ */

enum { BAR = 10, HEIGHT = 60 };

static unsigned last_bin(const struct html_page *page)
{
    unsigned last = 0;

    for (size_t i = 0; i < page->report->served_count; i++) {
        for (unsigned bin = 0; bin < SPE_LATENCY_BINS; bin++) {
            if (page->latencies[page->report->served[i].served][bin] && bin > last)
                last = bin;
        }
    }
    return last;
}

static void histogram_bars(struct out *o, const uint64_t *bins, unsigned last, uint64_t all)
{
    uint64_t most = 1;

    for (unsigned bin = 0; bin <= last; bin++)
        most = bins[bin] > most ? bins[bin] : most;
    for (unsigned bin = 0; bin <= last; bin++) {
        double height = ceil((double)HEIGHT * (double)bins[bin] / (double)most);
        uint32_t from = spe_latency_bin_from(bin), to = spe_latency_bin_from(bin + 1) - 1;
        char samples[32], share[32];

        if (!bins[bin])
            continue;
        text_grouped(samples, bins[bin]);
        text_percent(share, share_of(bins[bin], all));
        out_printf(o, "<rect x=\"%u\" y=\"%.0f\" width=\"%u\" height=\"%.0f\"><title>", BAR * bin,
                   HEIGHT - height, BAR - 1, height);
        if (from == to)
            out_printf(o, "%u cycles", from);
        else
            out_printf(o, "%u to %u cycles", from, to);
        out_printf(o, ": %s loads, ", samples);
        html_text(o, share);
        out_string(o, " %</title></rect>");
    }
}

static void histogram_axis(struct out *o, unsigned last)
{
    for (unsigned bin = 0; bin <= last; bin += bin < 8 ? 4 : 8) {
        out_printf(o, "<path class=\"tick\" d=\"M%u %uv4\"/><text x=\"%u\" y=\"%u\">%u</text>",
                   BAR * bin, HEIGHT, BAR * bin, HEIGHT + 15, spe_latency_bin_from(bin));
    }
}

static void histogram(struct out *o, const struct html_page *page, const struct spe_served_row *row,
                      unsigned last)
{
    const char *name = spe_served_name(row->served);

    out_string(o, "<figure><figcaption>");
    html_text(o, name);
    out_printf(
        o,
        "</figcaption><svg class=\"histogram\" data-served=\"%u\" viewBox=\"-2 0 %u %u\" role=\"img\" "
        "aria-label=\"Latency of loads, %s: median %u, 95 %% up to %u cycles\">",
        row->served, BAR * (last + 1) + 24, HEIGHT + 18, name, row->latency.median,
        row->latency.p95);
    out_string(o, "<g class=\"bars\">");
    histogram_bars(o, page->latencies[row->served], last, row->latency.samples);
    out_string(o, "</g>");
    histogram_axis(o, last);
    out_string(o, "</svg></figure>\n");
}

static void histograms(struct out *o, const struct html_page *page)
{
    const struct report *r = page->report;
    unsigned last = last_bin(page);

    section_begin(o, "latency", "Latency of loads");
    out_string(o, "<p class=\"note\">Cycles from left to right on a logarithmic scale, the same in "
                  "all pictures; heights are of each picture's own highest bar.</p>\n"
                  "<div class=\"histograms\">\n");
    for (size_t i = 0; i < r->served_count; i++) {
        if (r->served[i].latency.samples)
            histogram(o, page, &r->served[i], last);
    }
    out_string(o, "</div>\n");
    section_end(o);
}

void html_overview(struct out *o, const struct html_page *page)
{
    const struct report *r = page->report;

    if (r->served_count) {
        section_begin(o, "loads", "Loads");
        served_table(o, r);
        section_end(o);
        histograms(o, page);
    }
    if (r->mix_count) {
        section_begin(o, "operations", "Operations");
        mix_table(o, r);
        section_end(o);
    }
}
