/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Differences as a page for a terminal. */
#include <math.h>
#include <stdio.h>

#include "render/diff.h"
#include "render/safe.h"
#include "render/table.h"
#include "render/wrap.h"

#define LABEL 12
#define TEXT 4096
#define NUMBER 64

struct page {
    struct out *out;
    const struct diff *diff;
    const struct spe_diff_result *result;
    unsigned width;
    bool color, no_memory;
};

static void wrapped(struct page *p, unsigned column, const char *label, enum tone tone,
                    const char *text)
{
    struct wrap wrap = {p->out, p->width, p->color, column, tone};

    p->no_memory |= !wrap_text(&wrap, label, text);
}

static void title(struct page *p, const char *text)
{
    tone_begin(p->out, p->color, TONE_TITLE);
    out_safe(p->out, text);
    tone_end(p->out, p->color, TONE_TITLE);
    out_char(p->out, '\n');
}

static void end_table(struct page *p, struct table *t)
{
    if (!table_end(t, p->out, p->width, p->color))
        p->no_memory = true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Of counts of operations these are shares. */
static bool in_percent(const struct page *p, unsigned q)
{
    return p->diff->per == SPE_PER_OPERATION && q != SPE_DIFF_LATENCY;
}

static void value_text(char text[NUMBER], double value)
{
    if (value >= 1000.0 && value < 1e18)
        text_grouped(text, (uint64_t)(value + 0.5));
    else if (fabs(value - rint(value)) < 1e-9)
        snprintf(text, NUMBER, "%.0f", value);
    else
        snprintf(text, NUMBER, value >= 10.0 ? "%.1f" : "%.3g", value);
}

static void value_cell(const struct page *p, struct table *t, unsigned q, double value)
{
    char text[NUMBER];

    if (in_percent(p, q)) {
        table_percent(t, TONE_PLAIN, value);
        return;
    }
    value_text(text, value);
    table_text(t, TONE_PLAIN, text);
}

/* "-52.1", "new", "x 12"; a star if it is significant. Nothing here is cheap to misread: a change
 * that chance explains has no star. */
static void change_text(const struct spe_change *c, char text[NUMBER])
{
    const char *star = c->significant ? "*" : "";
    double percent = c->before > 0.0 ? 100.0 * (c->after / c->before - 1.0) : 0.0;

    if (c->before <= 0.0 && c->after <= 0.0)
        snprintf(text, NUMBER, "-");
    else if (c->before <= 0.0)
        snprintf(text, NUMBER, "new%s", star);
    else if (c->after <= 0.0)
        snprintf(text, NUMBER, "gone%s", star);
    else if (percent >= 999.5)
        snprintf(text, NUMBER, "x %.0f%s", c->after / c->before, star);
    else if (fabs(percent) > 0.0 && fabs(percent) < 0.05)
        snprintf(text, NUMBER, "%+.3g%s", percent, star);
    else
        snprintf(text, NUMBER, fabs(percent) > 0.0 ? "%+.1f%s" : "%.0f%s", percent, star);
}

/* What is less is better, of everything that is counted here. */
static enum tone change_tone(const struct spe_change *c)
{
    return !c->significant ? TONE_QUIET : c->after < c->before ? TONE_GOOD : TONE_HOT;
}

static void change_cell(struct table *t, const struct spe_change *c)
{
    char text[NUMBER];

    change_text(c, text);
    table_text(t, change_tone(c), text);
}

/* Rounded away from each other, as all intervals are. */
static void interval_text(const struct spe_change *c, char text[NUMBER])
{
    double low = 100.0 * (c->ratio.low - 1.0), high = 100.0 * (c->ratio.high - 1.0);
    double scale = high - low < 10.0 ? 10.0 : 1.0;
    int digits = scale > 1.0;

    low = floor(low * scale) / scale;
    high = ceil(high * scale) / scale;
    if (!c->tested || c->before <= 0.0)
        snprintf(text, NUMBER, "-");
    else if (!isfinite(high))
        snprintf(text, NUMBER, "from %+.*f", digits, low);
    else
        snprintf(text, NUMBER, "%+.*f to %+.*f", digits, low, digits, high);
}

static void range_cell(struct table *t, const struct spe_change *c)
{
    char text[NUMBER];

    interval_text(c, text);
    table_text(t, TONE_QUIET, text);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static const char *quantity_words(unsigned q)
{
    static const char *const words[SPE_DIFF_QUANTITIES] = {
        [SPE_DIFF_OPERATIONS] = "operations",
        [SPE_DIFF_LATENCY] = "latency",
        [SPE_DIFF_LOADS] = "loads",
        [SPE_DIFF_STORES] = "stores",
        [SPE_DIFF_BRANCHES] = "branches",
        [SPE_DIFF_NOT_TAKEN] = "not taken",
        [SPE_DIFF_MISPREDICTED] = "mispredicted",
        [SPE_DIFF_L1_MISSES] = "L1 misses",
        [SPE_DIFF_LLC_MISSES] = "LLC misses",
        [SPE_DIFF_WALKS] = "TLB walks",
    };

    return words[q];
}

static void per_words(const struct page *p, char *text, size_t size)
{
    switch (p->diff->per) {
    case SPE_PER_RUN:
        snprintf(text, size, "of a run");
        break;
    case SPE_PER_TIME:
        snprintf(text, size, "per second");
        break;
    case SPE_PER_FUNCTION:
        snprintf(text, size, "per operation of %s", p->diff->function);
        break;
    default:
        snprintf(text, size, "per operation");
        break;
    }
}

static void row_name(const struct page *p, const struct spe_diff_row *row, char *text, size_t size)
{
    const char *dso = *row->dso ? row->dso : "[no map]";

    if (p->diff->by == SPE_BY_DSO)
        snprintf(text, size, "%s", dso);
    else if (*row->line)
        snprintf(text, size, "%s (%s)", row->line, row->function);
    else if (*row->function)
        snprintf(text, size, "%s%s", row->function,
                 p->diff->by == SPE_BY_FUNCTION_LINE ? " [no line]" : "");
    else
        snprintf(text, size, "[no symbol] %s", dso);
}

/* The quantity that the answer is about. */
static unsigned main_quantity(const struct page *p)
{
    return p->result->known >> SPE_DIFF_LATENCY & 1 ? SPE_DIFF_LATENCY : SPE_DIFF_OPERATIONS;
}

static void total_sentence(const struct page *p, char *text, size_t size)
{
    unsigned q = main_quantity(p);
    const struct spe_change *c = &p->result->total->changes[q];
    char per[TEXT / 4], before[NUMBER], after[NUMBER], change[NUMBER], range[NUMBER];

    per_words(p, per, sizeof(per));
    value_text(before, c->before);
    value_text(after, c->after);
    change_text(c, change);
    change[strcspn(change, "*")] = '\0';
    interval_text(c, range);
    if (!c->significant && p->result->exact)
        snprintf(text, size, "%s %s: the same; other counts changed", quantity_words(q), per);
    else if (!c->significant)
        snprintf(text, size, "no significant change of %s %s as a whole", quantity_words(q), per);
    else if (p->result->exact)
        snprintf(text, size, "%s %s: %s, was %s: %s %%", quantity_words(q), per, after, before,
                 change);
    else
        snprintf(text, size, "%s %s: %s, was %s: %s %% (%s)", quantity_words(q), per, after, before,
                 change, range);
}

static void most_sentence(const struct page *p, char *text, size_t size)
{
    const struct spe_diff_row *row = p->result->rows;
    unsigned q = main_quantity(p);
    const struct spe_change *c = p->result->row_significant ? &row->changes[q] : NULL;
    char name[TEXT / 4], before[NUMBER], after[NUMBER];

    text[0] = '\0';
    if (!c || !c->significant)
        return;
    row_name(p, row, name, sizeof(name));
    value_text(before, in_percent(p, q) ? 100.0 * c->before : c->before);
    value_text(after, in_percent(p, q) ? 100.0 * c->after : c->after);
    snprintf(text, size, "%s in %s: %s, was %s",
             p->result->total->changes[q].significant ? "most of it" : "the most", name, after,
             before);
}

static void answer(struct page *p)
{
    const struct spe_diff_result *r = p->result;
    const struct spe_change *c = &r->total->changes[main_quantity(p)];
    char text[TEXT];

    if (!r->significant) {
        wrapped(p, LABEL, "answer", TONE_GOOD,
                r->exact ? "no change: all counts are the same" : "no significant change");
        return;
    }
    total_sentence(p, text, sizeof(text));
    wrapped(p, LABEL, "answer", change_tone(c) == TONE_QUIET ? TONE_PLAIN : change_tone(c), text);
    most_sentence(p, text, sizeof(text));
    if (*text)
        wrapped(p, LABEL, "", TONE_PLAIN, text);
}

/* ---- header ---------------------------------------------------------------------------------- */

static void side_line(struct page *p, unsigned side)
{
    const struct spe_diff_result *r = p->result;
    char samples[NUMBER], operations[NUMBER], more[NUMBER] = "", text[TEXT];

    text_grouped(samples, r->total->samples[side]);
    value_text(operations, r->operations[side]);
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
    wrapped(p, LABEL, side ? "new" : "old", TONE_PLAIN, text);
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
        wrapped(p, LABEL, i ? "" : "fail if", g->failed ? TONE_HOT : TONE_GOOD, text);
    }
}

static void header(struct page *p)
{
    const struct spe_diff_result *r = p->result;
    char text[TEXT];

    title(p, "Difference");
    answer(p);
    gate_lines(p);
    side_line(p, 0);
    side_line(p, 1);
    if (r->program[0]) {
        snprintf(text, sizeof(text), "%s, which is new, is taken for what %s was", r->program[1],
                 r->program[0]);
        wrapped(p, LABEL, "program", TONE_NOTABLE, text);
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

    per_words(p, per, sizeof(per));
    snprintf(text, sizeof(text), "Whole program, %s%s", per,
             p->diff->per == SPE_PER_OPERATION ? "; counts and changes in %" : "; changes in %");
    out_char(p->out, '\n');
    title(p, text);
    table_begin(&t, columns, 5);
    for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        const struct spe_change *c = &p->result->total->changes[q];

        if (!(p->result->known >> q & 1) || (q == SPE_DIFF_OPERATIONS && in_percent(p, q)))
            continue;
        table_text(&t, TONE_PLAIN, quantity_words(q));
        value_cell(p, &t, q, c->before);
        value_cell(p, &t, q, c->after);
        change_cell(&t, c);
        range_cell(&t, c);
    }
    end_table(p, &t);
}

/* Other quantities of a row that changed: "L1 misses -98.0, mispredicted new". */
static void also_text(const struct page *p, const struct spe_diff_row *row, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned q = SPE_DIFF_QUANTITIES - 1; q > SPE_DIFF_LATENCY; q--) {
        const struct spe_change *c = &row->changes[q];
        char change[NUMBER];
        int n;

        if (!(p->result->known >> q & 1) || !c->significant)
            continue;
        change_text(c, change);
        change[strcspn(change, "*")] = '\0';
        n = snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", quantity_words(q),
                     change);
        used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
    }
}

static void put_row(struct page *p, struct table *t, const struct spe_diff_row *row)
{
    const struct spe_change *latency = &row->changes[SPE_DIFF_LATENCY];
    const struct spe_change *operations = &row->changes[SPE_DIFF_OPERATIONS];
    char text[TEXT];

    row_name(p, row, text, sizeof(text));
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
    also_text(p, row, text, sizeof(text));
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

    per_words(p, per, sizeof(per));
    snprintf(text, sizeof(text), "%s%s, %zu of %zu, %s; changes in %%", words[by],
             p->diff->all ? "" : " that changed", shown,
             p->diff->all ? p->result->row_count : p->result->row_significant, per);
    out_char(p->out, '\n');
    title(p, text);
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
    wrapped(p, 0, "", TONE_QUIET, text);
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
        table_begin(&t, columns, 11);
        for (size_t i = 0; i < shown; i++)
            put_row(p, &t, &p->result->rows[i]);
        end_table(p, &t);
    }
    if (rest && !p->diff->all) {
        text_grouped(count, rest);
        snprintf(text, sizeof(text), "%s %s%s: no %schange%s", count, shown ? "other " : "",
                 p->diff->by == SPE_BY_DSO             ? "files"
                 : p->diff->by == SPE_BY_FUNCTION_LINE ? "lines"
                                                       : "functions",
                 p->result->exact ? "" : "significant ", " (--all)");
        if (!shown)
            out_char(p->out, '\n');
        wrapped(p, 0, "", TONE_QUIET, text);
    }
    legend(p);
}

bool diff_text(struct out *o, const struct diff *diff, unsigned width, bool color)
{
    struct page p = {
        .out = o, .diff = diff, .result = diff->result, .width = width, .color = color};

    header(&p);
    total_section(&p);
    rows_section(&p);
    return !p.no_memory;
}
