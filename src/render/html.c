/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The page of `spe report --html` as a whole: its frame (render/page/page.html), what was recorded,
 * the findings, and the parts in their order. */
#include "render/html.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/count_of.h"
#include "render/page_parts.h"
#include "render/table.h"

#define TEXT_MAX 4096

/* ---- the recording --------------------------------------------------------------------------- */

static void fact(struct out *o, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    out_printf(o, "<div><dt>%s</dt><dd>", name);
    html_text(o, text);
    out_string(o, "</dd></div>\n");
}

static void command_fact(struct out *o, const struct spe_profile_info *info)
{
    char text[REPORT_COMMAND];

    report_command(info, text);
    fact(o, "command", text);
}

static void samples_fact(struct out *o, const struct report *r)
{
    char text[TEXT_MAX], samples[32];
    int used;

    text_grouped(samples, r->totals.samples);
    used = snprintf(text, sizeof(text), "%s", samples);
    if (r->info->period)
        used += snprintf(text + used, sizeof(text) - (size_t)used,
                         ", about one in %" PRIu64 " operations", r->info->period);
    if (r->filter)
        snprintf(text + used, sizeof(text) - (size_t)used, ", those that match %s", r->filter);
    fact(o, "samples", text);
}

static void duration_fact(struct out *o, const struct report *r)
{
    const struct spe_profile_counts *c = r->counts;
    char text[80];

    if (!r->info->timed || !c->last_ns || c->last_ns < c->first_ns)
        return;
    snprintf(text, sizeof(text), "%.6f s", (double)(c->last_ns - c->first_ns) * 1e-9);
    fact(o, "duration", text);
}

static void lost_fact(struct out *o, const struct report *r)
{
    const struct spe_profile_counts *c = r->counts;
    char text[200];

    if (!c->lost && !c->aux_truncated && !c->aux_collision && !c->aux_partial)
        return;
    snprintf(text, sizeof(text),
             "%" PRIu64 " records; %" PRIu64 " buffers truncated, %" PRIu64
             " with collisions, %" PRIu64 " with gaps",
             c->lost, c->aux_truncated, c->aux_collision, c->aux_partial);
    fact(o, "lost", text);
}

static void recording(struct out *o, const struct report *r)
{
    const struct spe_profile_info *info = r->info;
    char text[80];

    out_string(o, "<dl class=\"facts\">\n");
    fact(o, "file", r->file);
    command_fact(o, info);
    fact(o, "machine", info->hostname);
    fact(o, "CPU", info->cpu ? info->cpu->title : "not known");
    if (info->simulated)
        fact(o, "made by",
             info->model_note ? info->model_note : "made by a model, not by hardware");
    samples_fact(o, r);
    duration_fact(o, r);
    lost_fact(o, r);
    if (r->counts->account.skipped_bytes) {
        snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64 " SPE bytes",
                 r->counts->account.skipped_bytes, r->counts->account.bytes);
        fact(o, "not decoded", text);
    }
    for (size_t i = 0; !r->quiet && i < 10 && spe_profile_warning(r->profile, i); i++)
        fact(o, "warning", spe_profile_warning(r->profile, i));
    out_string(o, "</dl>\n");
}

/* ---- findings -------------------------------------------------------------------------------- */

static void finding(struct out *o, const struct html_page *page, const struct spe_finding *f)
{
    const struct report *r = page->report;
    const struct spe_profile_map *map =
        f->map != SPE_NO_ID ? spe_profile_map(r->profile, f->map) : NULL;
    char text[TEXT_MAX];
    size_t code = f->pc ? html_code_of(page, f->symbol, map ? map->dso : SPE_NO_ID) : SIZE_MAX;

    out_string(o, spe_finding_is_doubt(f->rule) ? "<li class=\"doubt\"><p>" : "<li><p>");
    finding_sentence(r, f, 60, text, sizeof(text));
    html_text(o, text);
    out_string(o, ".</p>");
    if (f->share > 0.0 && f->rule != SPE_FINDING_NOTHING)
        html_interval(o, f->share, f->interval);
    out_string(o, "<p class=\"next\">");
    if (code != SIZE_MAX)
        out_printf(o, "<a href=\"#code-%zu\">Show the code</a> ", code);
    finding_next(r, f, text, sizeof(text));
    if (text[0]) {
        out_string(o, "<code>");
        html_text(o, text);
        out_string(o, "</code>");
    }
    out_string(o, "</p></li>\n");
}

static void findings(struct out *o, const struct html_page *page)
{
    const struct report *r = page->report;

    out_string(o, "<section id=\"findings\"><h2>Findings</h2>\n<ol>\n");
    for (size_t i = 0; i < r->finding_count; i++)
        finding(o, page, &r->findings[i]);
    out_string(o, "</ol>\n</section>\n");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool has_threads(const struct report *r)
{
    for (size_t i = 0; i < r->table_count; i++) {
        if (r->tables[i].by == SPE_BY_THREAD)
            return true;
    }
    return false;
}

static void navigation(struct out *o, const struct html_page *page)
{
    const struct report *r = page->report;
    const struct {
        const char *id, *name;
        bool is;
    } places[] = {
        {"findings", "Findings", r->finding_count},
        {"changes", "Changes", page->changes[0]},
        {"functions", "Functions", true},
        {"time", "Time line", true},
        {"loads", "Loads", r->served_count},
        {"latency", "Latency", r->served_count},
        {"operations", "Operations", r->mix_count},
        {"lines", "Lines", true},
        {"thread", "Threads", has_threads(r)},
        {"types", "Types", page->types && page->types->all.samples},
        {"objects", "Objects", page->types && page->types->all.samples},
        {"data", "Data", r->data_count},
        {"branches", "Branches", r->branch_count},
        {"cache-lines", "Cache lines", true},
        {"code", "Code", page->annotate && page->annotate->function_count},
    };

    out_string(o, "<nav aria-label=\"Parts of the page\"><ul>\n");
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        if (places[i].is)
            out_printf(o, "<li><a href=\"#%s\">%s</a></li>\n", places[i].id, places[i].name);
    }
    out_string(o, "</ul></nav>\n");
}

int html_page(struct out *o, const struct html_page *page)
{
    const struct report *r = page->report;
    const char *slash = strrchr(r->file, '/');
    int error;

    out_string(o, page_before_title);
    html_text(o, slash && slash[1] ? slash + 1 : r->file);
    out_string(o, page_before_body);
    navigation(o, page);
    out_string(o, "<main>\n<h1>");
    html_text(o, slash && slash[1] ? slash + 1 : r->file);
    out_string(o, "</h1>\n");
    if (r->finding_count)
        findings(o, page);
    html_changes(o, page);
    recording(o, r);
    html_functions(o, page);
    html_time(o, page);
    html_overview(o, page);
    html_tables(o, page);
    html_shared_lines(o, page);
    error = html_code(o, page);
    out_string(o, "</main>\n");
    out_string(o, page_before_data);
    html_data(o, page);
    out_string(o, page_after_data);
    return error;
}
