/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Differences as a page for a terminal. */
#include <math.h>
#include <stdio.h>

#include "base/count_of.h"
#include "render/diff.h"
#include "render/safe.h"
#include "render/sheet.h"
#include "render/table.h"

#define LABEL 12
#define TEXT DIFF_TEXT
#define NUMBER DIFF_NUMBER

struct page {
    struct sheet sheet;
    const struct diff *diff;
    const struct spe_diff_result *result;
};

/* ---- numbers --------------------------------------------------------------------------------- */

static void value_cell(const struct page *p, struct table *t, unsigned q, double value)
{
    char text[NUMBER];

    if (diff_in_percent(p->diff, q)) {
        table_percent(t, TONE_PLAIN, value);
        return;
    }
    diff_value_text(text, value);
    table_text(t, TONE_PLAIN, text);
}

/* What is less is better, of everything that is counted here. */
static enum tone change_tone(const struct spe_change *c)
{
    return !c->significant ? TONE_QUIET : c->after < c->before ? TONE_GOOD : TONE_HOT;
}

static void change_cell(struct table *t, const struct spe_change *c)
{
    char text[NUMBER];

    diff_change_text(c, text);
    table_text(t, change_tone(c), text);
}

static void range_cell(struct table *t, const struct spe_change *c)
{
    char text[NUMBER];

    diff_interval_text(c, text);
    table_text(t, TONE_QUIET, text);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void answer(struct page *p)
{
    const struct spe_diff_result *r = p->result;
    const struct spe_change *c = &r->total->changes[diff_main_quantity(p->diff)];
    char text[TEXT];

    if (!r->significant) {
        sheet_wrapped(&p->sheet, LABEL, "answer", TONE_GOOD,
                      r->exact ? "no change: all counts are the same" : "no significant change");
        return;
    }
    diff_total_sentence(p->diff, text, sizeof(text));
    sheet_wrapped(&p->sheet, LABEL, "answer",
                  change_tone(c) == TONE_QUIET ? TONE_PLAIN : change_tone(c), text);
    diff_most_sentence(p->diff, text, sizeof(text));
    if (*text)
        sheet_wrapped(&p->sheet, LABEL, "", TONE_PLAIN, text);
}

/* ---- header ---------------------------------------------------------------------------------- */

static void side_line(struct page *p, unsigned side)
{
    const struct spe_diff_result *r = p->result;
    char samples[NUMBER], operations[NUMBER], more[NUMBER] = "", text[TEXT];

    text_grouped(samples, r->total->samples[side]);
    diff_value_text(operations, r->operations[side]);
    if (p->diff->file_count[side] > 1)
        snprintf(more, sizeof(more), " and %zu more", p->diff->file_count[side] - 1);
    if (r->exact)
        snprintf(text, sizeof(text), "%s%s, %s operations, exactly", p->diff->file[side], more,
                 operations);
    else if (r->operations[side] > 0.0)
        snprintf(text, sizeof(text), "%s%s, %s samples of about %s operations", p->diff->file[side],
                 more, samples, operations);
    else
        snprintf(text, sizeof(text), "%s%s, %s samples", p->diff->file[side], more, samples);
    sheet_wrapped(&p->sheet, LABEL, side ? "new" : "old", TONE_PLAIN, text);
}

static void gate_lines(struct page *p)
{
    char text[TEXT];

    for (size_t i = 0; i < p->diff->gate_count; i++) {
        const struct diff_gate *g = &p->diff->gates[i];

        snprintf(text, sizeof(text), "%s: %s", g->text,
                 g->failed    ? "yes, it fails"
                 : !g->change ? "there is no such function"
                              : "no, it passes");
        sheet_wrapped(&p->sheet, LABEL, i ? "" : "fail if", g->failed ? TONE_HOT : TONE_GOOD, text);
    }
}

static void header(struct page *p)
{
    const struct spe_diff_result *r = p->result;
    char text[TEXT];

    sheet_title(&p->sheet, "Difference");
    answer(p);
    gate_lines(p);
    side_line(p, 0);
    side_line(p, 1);
    if (r->program[0]) {
        snprintf(text, sizeof(text), "%s, which is new, is taken for what %s was", r->program[1],
                 r->program[0]);
        sheet_wrapped(&p->sheet, LABEL, "program", TONE_NOTABLE, text);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void total_section(struct page *p)
{
    const struct table_column columns[] = {
        {"quantity", true, 0, 8},
        {"old", false, 0, 0},
        {"new", false, 0, 0},
        {"change", false, 0, 0},
        {p->result->exact ? NULL : "95 %", false, 0, 0},
    };
    char per[TEXT / 2], text[TEXT];
    struct table t;

    diff_per_words(p->diff, per, sizeof(per));
    snprintf(text, sizeof(text), "Whole program, %s%s", per,
             p->diff->per == SPE_PER_OPERATION ? "; counts and changes in %" : "; changes in %");
    out_char(p->sheet.out, '\n');
    sheet_title(&p->sheet, text);
    table_begin(&t, columns, COUNT_OF(columns));
    for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        const struct spe_change *c = &p->result->total->changes[q];

        if (!diff_is_shown(p->diff, q))
            continue;
        table_text(&t, TONE_PLAIN, diff_quantity_words(q));
        value_cell(p, &t, q, c->before);
        value_cell(p, &t, q, c->after);
        change_cell(&t, c);
        range_cell(&t, c);
    }
    sheet_table(&p->sheet, &t);
}

static void put_row(struct page *p, struct table *t, const struct spe_diff_row *row)
{
    const struct spe_change *latency = &row->changes[SPE_DIFF_LATENCY];
    const struct spe_change *operations = &row->changes[SPE_DIFF_OPERATIONS];
    char text[TEXT];

    diff_row_name(p->diff, row, text, sizeof(text));
    table_text(t, TONE_PLAIN, text);
    table_text(t, TONE_QUIET, row->dso);
    value_cell(p, t, SPE_DIFF_LATENCY, latency->before);
    value_cell(p, t, SPE_DIFF_LATENCY, latency->after);
    change_cell(t, latency);
    range_cell(t, latency);
    value_cell(p, t, SPE_DIFF_OPERATIONS, operations->before);
    value_cell(p, t, SPE_DIFF_OPERATIONS, operations->after);
    change_cell(t, operations);
    range_cell(t, operations);
    diff_also_text(p->diff, row, text, sizeof(text));
    table_text(t, TONE_PLAIN, text);
}

static size_t rows_shown(const struct page *p)
{
    size_t n = p->diff->all ? p->result->row_count : p->result->row_significant;

    return n < p->diff->top ? n : p->diff->top;
}

static void rows_title(struct page *p, size_t shown)
{
    static const char *const words[] = {"Functions", "Lines", "Programs and libraries"};
    unsigned by = p->diff->by == SPE_BY_DSO ? 2 : p->diff->by == SPE_BY_FUNCTION_LINE;
    char per[TEXT / 2], text[TEXT];

    diff_per_words(p->diff, per, sizeof(per));
    snprintf(text, sizeof(text), "%s%s, %zu of %zu, %s; changes in %%", words[by],
             p->diff->all ? "" : " that changed", shown,
             p->diff->all ? p->result->row_count : p->result->row_significant, per);
    out_char(p->sheet.out, '\n');
    sheet_title(&p->sheet, text);
}

static void legend(struct page *p)
{
    char text[TEXT];

    if (p->result->exact)
        snprintf(text, sizeof(text), "op: operations; *: another count than before");
    else
        snprintf(text, sizeof(text),
                 "%sop: operations%s; 95 %%: interval of the change before it; *: significant, "
                 "%.0f %% of them by chance, among all %zu that were tested",
                 p->result->known >> SPE_DIFF_LATENCY & 1 ? "lat: cycles; " : "",
                 p->diff->per == SPE_PER_OPERATION ? ", in % of all" : "", 100.0 * SPE_DIFF_RATE,
                 p->result->tests);
    sheet_wrapped(&p->sheet, 0, "", TONE_QUIET, text);
}

static void rows_section(struct page *p)
{
    bool latency = p->result->known >> SPE_DIFF_LATENCY & 1, exact = p->result->exact;
    const struct table_column columns[] = {
        {diff_by_name(p->diff->by), true, 0, 12},
        {p->diff->by == SPE_BY_DSO ? NULL : "dso", true, 5, 6},
        {latency ? "lat old" : NULL, false, 0, 0},
        {latency ? "lat new" : NULL, false, 0, 0},
        {latency ? "change" : NULL, false, 0, 0},
        {latency && !exact ? "95 %" : NULL, false, 2, 0},
        {"op old", false, 1, 0},
        {"op new", false, 1, 0},
        {"change", false, 0, 0},
        {exact ? NULL : "95 %", false, 4, 0},
        {"also", TABLE_END, 3, 10},
    };
    size_t shown = rows_shown(p), rest = p->result->row_count - p->result->row_significant;
    char count[NUMBER], text[TEXT];
    struct table t;

    if (shown) {
        rows_title(p, shown);
        table_begin(&t, columns, COUNT_OF(columns));
        for (size_t i = 0; i < shown; i++)
            put_row(p, &t, &p->result->rows[i]);
        sheet_table(&p->sheet, &t);
    }
    if (rest && !p->diff->all) {
        text_grouped(count, rest);
        snprintf(text, sizeof(text), "%s %s%s: no %schange%s", count, shown ? "other " : "",
                 p->diff->by == SPE_BY_DSO             ? "files"
                 : p->diff->by == SPE_BY_FUNCTION_LINE ? "lines"
                                                       : "functions",
                 p->result->exact ? "" : "significant ", " (--all)");
        if (!shown)
            out_char(p->sheet.out, '\n');
        sheet_wrapped(&p->sheet, 0, "", TONE_QUIET, text);
    }
    legend(p);
}

bool diff_text(struct out *o, const struct diff *diff, unsigned width, bool color)
{
    struct page p = {
        .sheet = {.out = o, .width = width, .color = color}, .diff = diff, .result = diff->result};

    header(&p);
    total_section(&p);
    rows_section(&p);
    return !p.sheet.no_memory;
}
