/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What changed since an older recording, on the page of the newer one. */
#include <math.h>
#include <stdio.h>

#include "base/count_of.h"
#include "render/html.h"
#include "render/table.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static void value_cell(struct out *o, const struct diff *d, unsigned q, double value)
{
    char text[DIFF_NUMBER];

    if (diff_in_percent(d, q))
        text_percent(text, value);
    else
        diff_value_text(text, value);
    out_printf(o, "<td data-v=\"%.9g\">", value);
    html_text(o, text);
    out_string(o, "</td>");
}

/* From halved or less on the left to doubled or more on the right, on a logarithmic scale. */
static double place_of(double ratio)
{
    double at = ratio > 0.0 ? 50.0 + 50.0 * log2(ratio) : 0.0;

    return at < 0.0 ? 0.0 : at > 100.0 ? 100.0 : at;
}

static void picture(struct out *o, const struct spe_change *c)
{
    double low = place_of(c->ratio.low), high = place_of(c->ratio.high);
    char text[DIFF_NUMBER];

    diff_interval_text(c, text);
    out_printf(
        o,
        "<svg class=\"ci change\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" "
        "role=\"img\" aria-label=\"95 %% interval: %s %%\"><title>95 %% interval: %s %%; the "
        "middle means no change, the ends half and double</title>"
        "<path class=\"none\" d=\"M50 0v12\"/>"
        "<path d=\"M%.2f 6H%.2fM%.2f 1v10M%.2f 1v10\"/></svg>",
        text, text, low, high, low, high);
}

static void change_cell(struct out *o, const struct spe_change *c)
{
    double percent = c->before > 0.0  ? 100.0 * (c->after / c->before - 1.0)
                     : c->after > 0.0 ? 1e9
                                      : 0;
    char text[DIFF_NUMBER];

    diff_change_text(c, text);
    out_printf(o, "<td class=\"share%s\" data-v=\"%.9g\"><span>",
               !c->significant        ? ""
               : c->after < c->before ? " better"
                                      : " worse",
               percent);
    html_text(o, text);
    out_string(o, "</span>");
    if (c->tested && c->before > 0.0)
        picture(o, c);
    out_string(o, "</td>");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void total_table(struct out *o, const struct diff *d)
{
    static const struct html_column columns[] = {
        {"quantity", NULL, true, NULL},
        {"old", NULL, false, NULL},
        {"new", NULL, false, NULL},
        {"change %", "with the 95 % interval; *: significant", false, NULL},
    };
    char per[DIFF_TEXT / 2], caption[DIFF_TEXT];

    diff_per_words(d, per, sizeof(per));
    snprintf(caption, sizeof(caption), "Whole program, %s; counts in %%", per);
    html_table_begin(o, "change-total", caption, columns, COUNT_OF(columns));
    for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        const struct spe_change *c = &d->result->total->changes[q];

        if (!diff_is_shown(d, q))
            continue;
        html_row_begin(o);
        html_head_text(o, diff_quantity_words(q));
        value_cell(o, d, q, c->before);
        value_cell(o, d, q, c->after);
        change_cell(o, c);
        html_row_end(o);
    }
    html_table_end(o);
}

static void change_row(struct out *o, const struct diff *d, const struct spe_diff_row *row)
{
    char text[DIFF_TEXT];

    html_row_begin(o);
    diff_row_name(d, row, text, sizeof(text));
    html_head_text(o, text);
    html_cell_text(o, row->dso);
    for (unsigned q = SPE_DIFF_LATENCY + 1; q-- > 0;) { /* latency, then operations */
        const struct spe_change *c = &row->changes[q];

        value_cell(o, d, q, c->before);
        value_cell(o, d, q, c->after);
        change_cell(o, c);
    }
    diff_also_text(d, row, text, sizeof(text));
    html_cell_text(o, text);
    html_row_end(o);
}

static void rows_table(struct out *o, const struct diff *d, const char *id)
{
    const struct html_column columns[] = {
        {diff_by_name(d->by), NULL, true, NULL},
        {"where", "program or library", true, NULL},
        {"latency old", "cycles per operation of the program", false, NULL},
        {"latency new", "cycles per operation of the program", false, NULL},
        {"change %", "of latency, with the 95 % interval; *: significant", false, NULL},
        {"op old %", "of all operations", false, NULL},
        {"op new %", "of all operations", false, NULL},
        {"change % of op", "with the 95 % interval; *: significant", false, NULL},
        {"also changed, %", NULL, true, NULL},
    };
    size_t count = d->result->row_count < d->top ? d->result->row_count : d->top;
    char caption[DIFF_TEXT];

    snprintf(caption, sizeof(caption),
             "By %s: %zu of %zu, of which %zu changed significantly; those come first",
             diff_by_name(d->by), count, d->result->row_count, d->result->row_significant);
    html_table_begin(o, id, caption, columns, COUNT_OF(columns));
    for (size_t i = 0; i < count; i++)
        change_row(o, d, &d->result->rows[i]);
    html_table_end(o);
}

static void answer(struct out *o, const struct diff *d)
{
    char text[DIFF_TEXT], samples[2][32];

    if (!d->result->significant)
        snprintf(text, sizeof(text), "no significant change");
    else
        diff_total_sentence(d, text, sizeof(text));
    out_string(o, "<p class=\"answer\">");
    html_text(o, text);
    diff_most_sentence(d, text, sizeof(text));
    out_string(o, *text ? "; " : "");
    html_text(o, text);
    out_string(o, ".</p>\n<p class=\"note\">Old: ");
    for (unsigned side = 0; side < 2; side++) {
        text_grouped(samples[side], d->result->total->samples[side]);
        out_string(o, side ? "; new: " : "");
        html_text(o, d->file[side]);
        out_printf(o, ", %s samples", samples[side]);
    }
    out_printf(o,
               ". *: significant, of which %.0f %% are by chance, among all %zu that were "
               "tested.</p>\n",
               100.0 * SPE_DIFF_RATE, d->result->tests);
}

/* Without lines, a list of them is that of functions once more. */
static bool has_lines(const struct diff *d)
{
    for (size_t i = 0; i < d->result->row_count; i++) {
        if (*d->result->rows[i].line)
            return true;
    }
    return false;
}

void html_changes(struct out *o, const struct html_page *page)
{
    if (!page->changes[0])
        return;
    out_string(o, "<section id=\"changes\"><h2>What changed</h2>\n");
    answer(o, page->changes[0]);
    total_table(o, page->changes[0]);
    rows_table(o, page->changes[0], "change-function");
    if (has_lines(page->changes[1]))
        rows_table(o, page->changes[1], "change-line");
    out_string(o, "</section>\n");
}
