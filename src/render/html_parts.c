/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Text, tables and cells of the page. */
#include "render/cells.h"
#include "render/html.h"
#include "render/safe.h"

static void escaped(struct out *o, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '&':
            out_string(o, "&amp;");
            break;
        case '<':
            out_string(o, "&lt;");
            break;
        case '>':
            out_string(o, "&gt;");
            break;
        case '"':
            out_string(o, "&quot;");
            break;
        case '\'':
            out_string(o, "&#39;");
            break;
        default:
            out_char(o, text[i]);
        }
    }
}

void html_text(struct out *o, const char *text)
{
    const char *end = text + HTML_NAME;
    char safe[SAFE_MAX + OUT_SLACK];

    while (*text && text < end)
        escaped(o, safe, (size_t)(safe_next(safe, &text) - safe));
    if (*text)
        out_string(o, "…");
}

/* ---- tables ---------------------------------------------------------------------------------- */

void html_table_begin(struct out *o, const char *id, const char *caption,
                      const struct html_column *columns, size_t count)
{
    out_printf(
        o,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"%s-caption\">"
        "<table id=\"%s-table\" class=\"list\"><caption id=\"%s-caption\">",
        id, id, id);
    html_text(o, caption);
    out_string(o, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        out_string(o, columns[i].text ? "<th scope=\"col\" class=\"t\"" : "<th scope=\"col\"");
        if (columns[i].of)
            out_printf(o, " data-of=\"%s\"", columns[i].of);
        if (columns[i].hint) {
            out_string(o, " title=\"");
            html_text(o, columns[i].hint);
            out_char(o, '"');
        }
        out_char(o, '>');
        html_text(o, columns[i].title);
        out_string(o, "</th>");
    }
    out_string(o, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct out *o)
{
    out_string(o, "</tbody></table></div>\n");
}

void html_row_begin(struct out *o)
{
    out_string(o, "<tr>");
}

void html_row_of(struct out *o, size_t number, const char *class_)
{
    out_printf(o, "<tr data-r=\"%zu\"", number);
    if (class_)
        out_printf(o, " class=\"%s\"", class_);
    out_char(o, '>');
}

void html_row_end(struct out *o)
{
    out_string(o, "</tr>\n");
}

/* ---- cells ----------------------------------------------------------------------------------- */

void html_head_begin(struct out *o)
{
    out_string(o, "<th scope=\"row\">");
}

void html_head_end(struct out *o)
{
    out_string(o, "</th>");
}

void html_head_text(struct out *o, const char *text)
{
    html_head_begin(o);
    html_text(o, text);
    html_head_end(o);
}

void html_cell_text(struct out *o, const char *text)
{
    out_string(o, "<td class=\"t\">");
    html_text(o, text);
    out_string(o, "</td>");
}

void html_cell_count(struct out *o, uint64_t count)
{
    char text[32];

    text_grouped(text, count);
    out_string(o, "<td data-v=\"");
    out_decimal(o, count);
    out_printf(o, "\">%s</td>", text);
}

static void nothing(struct out *o)
{
    out_string(o, "<td data-v=\"-1\">-</td>");
}

void html_cell_mean(struct out *o, uint64_t sum, uint64_t samples)
{
    double mean = share_of(sum, samples);

    if (samples)
        out_printf(o, "<td data-v=\"%.3f\">%.1f</td>", mean, mean);
    else
        nothing(o);
}

void html_cell_share(struct out *o, uint64_t part, uint64_t whole)
{
    double share = share_of(part, whole);
    char text[32];

    if (!whole) {
        nothing(o);
        return;
    }
    text_percent(text, share);
    out_printf(o, "<td data-v=\"%.9f\">", share);
    html_text(o, text);
    out_string(o, "</td>");
}

void html_cell_cycles(struct out *o, const struct spe_latency_summary *l, uint16_t value)
{
    if (l->samples)
        out_printf(o, "<td data-v=\"%u\">%u%s</td>", value, value,
                   l->saturated_at && value >= l->saturated_at ? "+" : "");
    else
        nothing(o);
}

/* A bar up to the share, and a line from one end of the interval to the other. */
void html_interval(struct out *o, double share, struct spe_interval interval)
{
    char text[32];

    interval_text(text, interval);
    out_printf(o,
               "<svg class=\"ci\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"95 %% interval: %s %%\"><title>95 %% interval: %s %%</title>"
               "<rect class=\"bar\" y=\"2\" width=\"%.2f\" height=\"8\"/>"
               "<path d=\"M%.2f 6H%.2fM%.2f 1v10M%.2f 1v10\"/></svg>",
               text, text, 100.0 * share, 100.0 * interval.low, 100.0 * interval.high,
               100.0 * interval.low, 100.0 * interval.high);
}

void html_cell_interval(struct out *o, uint64_t hits, uint64_t samples)
{
    double share = share_of(hits, samples);
    char text[32];

    text_percent(text, share);
    out_printf(o, "<td class=\"share\" data-v=\"%.9f\"><span>", share);
    html_text(o, text);
    out_string(o, "</span>");
    html_interval(o, share, spe_interval_of_share(hits, samples));
    out_string(o, "</td>");
}

/* ---- functions ------------------------------------------------------------------------------- */

size_t html_code_of(const struct html_page *page, uint64_t symbol, uint32_t dso)
{
    const struct annotate *a = page->annotate;

    for (size_t i = 0; a && i < a->function_count; i++) {
        const struct annotate_function *f = &a->functions[i];

        if (f->symbol == symbol && (symbol != SPE_NO_SYMBOL || f->dso == dso))
            return i;
    }
    return SIZE_MAX;
}

void html_function_link(struct out *o, const struct html_page *page, uint64_t symbol, uint32_t dso,
                        const char *name)
{
    size_t code = html_code_of(page, symbol, dso);

    if (code != SIZE_MAX)
        out_printf(o, "<a href=\"#code-%zu\">", code);
    html_text(o, name);
    if (code != SIZE_MAX)
        out_string(o, "</a>");
}
