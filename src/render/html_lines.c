/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Shared cache lines of the page: a list, and a picture of each with who uses which of its bytes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/count_of.h"
#include "render/html.h"

#define CODES 4 /* instructions of an offset */
#define OFFSETS 64

/* SIZE_MAX: it has none. */
static size_t slices_of(const struct html_page *page, const struct spe_shared_line *line)
{
    for (size_t i = 0; i < page->candidate_count; i++) {
        if (page->candidates[i].address == line->address && page->candidates[i].pid == line->pid)
            return i;
    }
    return SIZE_MAX;
}

static void line_row(struct out *o, const struct html_page *page, size_t number)
{
    const struct c2c *c = page->c2c;
    const struct spe_shared_line *line = &c->result->lines[number];
    char name[REPORT_NAME];

    html_row_of(o, slices_of(page, line), NULL);
    html_head_begin(o);
    out_printf(o, "<a href=\"#line-%zu\">0x%" PRIx64 "</a>", number, line->address);
    html_head_end(o);
    c2c_object_name(c, line, c2c_hottest(line), name);
    html_cell_text(o, name);
    html_cell_text(o, c2c_kind_name(line->kind));
    html_cell_count(o, line->travelled);
    html_cell_interval(o, line->travelled, line->travelled_of);
    html_cell_count(o, line->loads);
    html_cell_count(o, line->stores);
    html_cell_count(o, line->latency);
    html_cell_share(o, line->latency, c->result->latency);
    html_cell_count(o, line->threads);
    html_row_end(o);
}

static void line_table(struct out *o, const struct html_page *page)
{
    const struct c2c *c = page->c2c;
    bool misses = c->result->basis == SPE_SHARING_MISSES;
    const struct html_column columns[] = {
        {"address", NULL, true, NULL},
        {"what", "the variable that most of its latency is of", true, NULL},
        {"sharing", "true: the same bytes; false: different bytes", true, NULL},
        {misses ? "L1 misses" : "from peers",
         misses ? "loads and stores that missed in L1" : "loads that another core's cache served",
         false, "count travelled"},
        {misses ? "miss %" : "peer %", "of all that could, with the 95 % interval", false,
         misses ? "interval travelled loads+stores" : "interval travelled loads"},
        {"loads", NULL, false, "count loads"},
        {"stores", NULL, false, "count stores"},
        {"latency", "cycles, sum of its samples", false, "count latency"},
        {"of all %", "of all latency of data", false, "share latency all.data_latency"},
        {"threads", NULL, false, NULL},
    };

    html_table_begin(o, "shared",
                     misses ? "Cache lines that several threads miss; the records do not say who "
                              "served them"
                            : "Cache lines that travel between cores",
                     columns, COUNT_OF(columns));
    for (size_t i = 0; i < c->result->line_count; i++)
        line_row(o, page, i);
    html_table_end(o);
}

/* ---- pictures -------------------------------------------------------------------------------- */

enum { BYTE = 14, TALL = 34 };

static uint64_t most_samples(const struct spe_shared_line *line)
{
    uint64_t most = 1;

    for (size_t i = 0; i < line->offset_count; i++)
        most = line->offsets[i].samples > most ? line->offsets[i].samples : most;
    return most;
}

/* Where accesses begin: the bar is as tall as they are many, its lower part as tall as those that
 * write. */
static void offset_bar(struct out *o, const struct c2c *c, const struct spe_shared_line *line,
                       const struct spe_shared_offset *at, double scale)
{
    double tall = (double)at->samples * scale;
    double writes = at->samples ? tall * (double)at->writes / (double)at->samples : 0.0;
    char name[REPORT_NAME];

    c2c_object_name(c, line, at, name);
    out_string(o, at->same_used ? "<g class=\"same\"><title>" : "<g><title>");
    out_printf(o, "+0x%" PRIx32 " ", at->offset);
    html_text(o, name);
    out_printf(o,
               ": %" PRIu64 " reads, %" PRIu64 " writes, %zu threads%s</title>"
               "<rect class=\"reads\" x=\"%u\" y=\"%.1f\" width=\"%u\" height=\"%.1f\"/>"
               "<rect class=\"writes\" x=\"%u\" y=\"%.1f\" width=\"%u\" height=\"%.1f\"/></g>",
               at->reads, at->writes, at->thread_count, at->same_used ? " use the same bytes" : "",
               BYTE * at->offset, TALL - tall, BYTE - 2, tall, BYTE * at->offset, TALL - writes,
               BYTE - 2, writes);
}

static void picture(struct out *o, const struct c2c *c, const struct spe_shared_line *line)
{
    unsigned bytes = 1u << c->result->shift;
    double scale = TALL / (double)most_samples(line);

    out_printf(
        o,
        "<svg class=\"line\" viewBox=\"0 0 %u %u\" role=\"img\" aria-label=\"%u bytes; where "
        "accesses begin\">",
        BYTE * bytes, TALL + 16, bytes);
    for (unsigned i = 0; i < bytes; i += 8)
        out_printf(o,
                   "<rect class=\"word\" x=\"%u\" y=\"0\" width=\"%u\" height=\"%u\"/>"
                   "<text x=\"%u\" y=\"%u\">%u</text>",
                   BYTE * i, BYTE * 8 - 1, TALL, BYTE * i, TALL + 13, i);
    for (size_t i = 0; i < line->offset_count && i < OFFSETS; i++)
        offset_bar(o, c, line, &line->offsets[i], scale);
    out_string(o, "</svg>\n");
}

static void thread_names(struct out *o, const struct c2c *c, const struct spe_shared_offset *at)
{
    out_string(o, "<td class=\"t\">");
    for (size_t i = 0; i < at->thread_count && i < CODES; i++) {
        const struct spe_profile_thread *thread =
            at->threads[i].thread != SPE_NO_ID
                ? spe_profile_thread(c->report.profile, at->threads[i].thread)
                : NULL;

        out_string(o, i ? ", " : "");
        if (thread)
            out_decimal(o, thread->tid);
        else
            out_char(o, '?');
    }
    if (at->thread_count > CODES)
        out_printf(o, " and %zu more", at->thread_count - CODES);
    out_string(o, "</td>");
}

static void user_rows(struct out *o, const struct html_page *page,
                      const struct spe_shared_line *line, const struct spe_shared_offset *at)
{
    const struct c2c *c = page->c2c;
    char name[REPORT_NAME];

    for (size_t i = 0; i < at->code_count && i < CODES; i++) {
        const struct spe_shared_user *code = &at->code[i];
        const struct spe_profile_map *map =
            code->map != SPE_NO_ID ? spe_profile_map(c->report.profile, code->map) : NULL;

        html_row_begin(o);
        snprintf(name, sizeof(name), "+0x%" PRIx32, at->offset);
        html_head_text(o, name);
        c2c_object_name(c, line, at, name);
        html_cell_text(o, name);
        html_cell_count(o, code->reads);
        html_cell_count(o, code->writes);
        html_cell_share(o, code->travelled, line->travelled);
        html_cell_mean(o, code->latency, code->samples);
        thread_names(o, c, at);
        c2c_function_name(c, code, name);
        out_string(o, "<td class=\"t\">");
        html_function_link(o, page,
                           map ? spe_profile_find_symbol(c->report.profile, code->map, code->pc)
                               : SPE_NO_SYMBOL,
                           map ? map->dso : SPE_NO_ID, name);
        out_string(o, "</td>");
        c2c_line_name(c, code, name);
        html_cell_text(o, name);
        html_row_end(o);
    }
}

static void line_part(struct out *o, const struct html_page *page, size_t number)
{
    static const struct html_column columns[] = {
        {"offset", "where accesses begin", true, NULL},
        {"what", NULL, true, NULL},
        {"reads", NULL, false, NULL},
        {"writes", NULL, false, NULL},
        {"of line %", "of what travelled, or missed, of the line", false, NULL},
        {"mean", "cycles of a sample", false, NULL},
        {"threads", NULL, true, NULL},
        {"function", NULL, true, NULL},
        {"source", NULL, true, NULL},
    };
    const struct c2c *c = page->c2c;
    const struct spe_shared_line *line = &c->result->lines[number];
    char advice[C2C_ADVICE], id[32];

    out_printf(o, "<section class=\"shared\" id=\"line-%zu\"><h3>Line at 0x%" PRIx64 "</h3>\n",
               number, line->address);
    c2c_advice(c, line, advice);
    out_string(o, "<p>");
    html_text(o, advice);
    out_string(o, "</p>\n");
    picture(o, c, line);
    snprintf(id, sizeof(id), "line-%zu", number);
    html_table_begin(o, id, "Who uses it", columns, COUNT_OF(columns));
    for (size_t i = 0; i < line->offset_count && i < OFFSETS; i++)
        user_rows(o, page, line, &line->offsets[i]);
    html_table_end(o);
    out_string(o, "</section>\n");
}

void html_shared_lines(struct out *o, const struct html_page *page)
{
    const struct c2c *c = page->c2c;

    out_string(o, "<section id=\"cache-lines\"><h2>Shared cache lines</h2>\n");
    if (!c || !c->result->line_count) {
        out_string(o, "<p>None: ");
        html_text(o, page->no_sharing                   ? page->no_sharing
                     : c && !c->result->several_threads ? "all loads and stores are of one thread"
                                                        : "no line was seen to travel often enough "
                                                          "between cores");
        out_string(o, ".</p>\n</section>\n");
        return;
    }
    line_table(o, page);
    out_string(o, "<p class=\"note\">Pictures: one column for each byte where accesses begin; its "
                  "lower part are writes. A frame: several threads use the same bytes.</p>\n");
    for (size_t i = 0; i < c->result->line_count; i++)
        line_part(o, page, i);
    out_string(o, "</section>\n");
}
