/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Source lines and instructions of the hottest functions, with their heat. What has no samples is
 * shown around what has; long functions keep what is hottest. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/count_of.h"
#include "render/html.h"
#include "render/table.h"

#define ROWS 256 /* with samples, of each table */
#define AROUND 3
#define HEATS 6
#define TARGETS 3

struct code {
    struct out *out;
    const struct html_page *page;
    const struct annotate *annotate;
    const struct annotate_function *function;
    uint64_t least;   /* samples of a row that is shown */
    uint64_t hottest; /* samples of the hottest row */
    int error;
};

/* ---- which rows ------------------------------------------------------------------------------ */

static int more_first(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? 1 : *a > *b ? -1 : 0;
}

/* The least samples of those that are shown: 1 if all are. `first` is the first of `count` sums,
 * `stride` bytes apart. */
static void set_least(struct code *c, const struct spe_instruction *first, size_t stride,
                      size_t count)
{
    uint64_t *samples = calloc(count + 1, sizeof(*samples));

    c->least = c->hottest = 1;
    if (!samples) {
        c->error = SPE_ERR_NOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++)
        samples[i] =
            ((const struct spe_instruction *)(const void *)((const char *)first + i * stride))
                ->counts.samples;
    qsort(samples, count, sizeof(*samples), more_first);
    if (count)
        c->hottest = samples[0] ? samples[0] : 1;
    if (count > ROWS)
        c->least = samples[ROWS - 1] + (samples[ROWS] == samples[ROWS - 1]);
    free(samples);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* 1 to HEATS; 0 without samples. */
static unsigned heat_of(const struct code *c, const struct spe_instruction *insn)
{
    return insn ? (unsigned)(1 + (HEATS - 1) * insn->counts.samples / c->hottest) : 0;
}

static void empty_cells(struct out *o, unsigned n)
{
    while (n--)
        out_string(o, "<td></td>");
}

static void served_cell(struct out *o, const struct spe_instruction *insn)
{
    uint64_t loads;
    unsigned served = annotate_mostly_served(insn, &loads);
    char share[32];

    if (served == SPE_SERVED_COUNT) {
        out_string(o, "<td></td>");
        return;
    }
    text_percent(share, share_of(loads, insn->loads));
    out_string(o, "<td class=\"t\">");
    html_text(o, spe_served_name(served));
    out_char(o, ' ');
    html_text(o, share);
    out_string(o, " %</td>");
}

static const struct html_column columns[] = {
    {"place", NULL, true, NULL},
    {"share %", "of the function's samples, with the 95 % interval", false, NULL},
    {"samples", NULL, false, NULL},
    {"mean", "cycles of a sample", false, NULL},
    {"L1 miss %", "of its loads and stores", false, NULL},
    {"TLB walk %", "of its loads and stores", false, NULL},
    {"served by", "where most of its loads were", true, NULL},
    {"mispred. %", "of its branches", false, NULL},
    {"text", NULL, true, NULL},
};

/* The numbers before the text, which may be long. */
static void cells(struct code *c, const struct spe_instruction *insn)
{
    if (!insn) {
        empty_cells(c->out, 7);
        return;
    }
    html_cell_interval(c->out, insn->counts.samples, c->function->sum.counts.samples);
    html_cell_count(c->out, insn->counts.samples);
    html_cell_mean(c->out, insn->total.cycles, insn->total.samples);
    html_cell_share(c->out, insn->counts.l1_misses, insn->counts.memory);
    html_cell_share(c->out, insn->counts.tlb_walks, insn->counts.memory);
    served_cell(c->out, insn);
    html_cell_share(c->out, insn->counts.mispredicted, insn->counts.branches);
}

/* The caller writes the text. */
static void row_begin(struct code *c, const struct spe_instruction *insn, const char *place)
{
    out_printf(c->out, "<tr class=\"heat-%u\">", heat_of(c, insn));
    html_head_text(c->out, place);
    cells(c, insn);
    out_string(c->out, "<td class=\"text\"><code>");
}

static void row_end(struct code *c)
{
    out_string(c->out, "</code></td></tr>\n");
}

static void gap_row(struct code *c, const char *text)
{
    out_printf(c->out, "<tr class=\"gap\"><td colspan=\"%zu\">", COUNT_OF(columns));
    html_text(c->out, text);
    out_string(c->out, "</td></tr>\n");
}

static void table_begin_of(struct code *c, const char *what, const char *caption)
{
    char id[48];

    snprintf(id, sizeof(id), "%s-%zu", what, (size_t)(c->function - c->annotate->functions));
    html_table_begin(c->out, id, caption, columns, COUNT_OF(columns));
}

/* ---- source ---------------------------------------------------------------------------------- */

static void source_row(struct code *c, const char *path, uint32_t number,
                       const struct spe_instruction *sum)
{
    char text[SPE_TEXT_LINE], place[32];
    bool newer;
    int error = annotate_source_line(c->annotate->sources, path, number, text, &newer);

    c->error = error < 0 ? error : c->error;
    if (!sum && !text[0])
        return;
    snprintf(place, sizeof(place), "%" PRIu32, number);
    row_begin(c, sum, place);
    html_text(c->out, text);
    row_end(c);
}

/* A function, or one that was inlined into it, and the file. */
static void part_row(struct code *c, const struct spe_code_place *place)
{
    const struct spe_profile *profile = c->annotate->profile;
    char text[REPORT_NAME];

    snprintf(text, sizeof(text), "%s%s%s", spe_profile_string(profile, place->file),
             place->inlined && place->function != SPE_NO_ID ? ", inlined: " : "",
             place->inlined && place->function != SPE_NO_ID
                 ? spe_profile_string(profile, place->function)
                 : "");
    gap_row(c, text);
}

static bool same_part(const struct spe_code_place *a, const struct spe_code_place *b)
{
    return a->file == b->file && a->function == b->function && a->inlined == b->inlined;
}

/* Lines from `from` up to `line`, AROUND of them at most. */
static void lines_before(struct code *c, const char *path, uint32_t from, uint32_t line)
{
    uint32_t first = line > AROUND ? line - AROUND : 1;

    for (uint32_t n = first > from ? first : from; n < line; n++)
        source_row(c, path, n, NULL);
}

static void source_table(struct code *c)
{
    const struct annotate_function *f = c->function;
    const struct spe_code_place *before = NULL;

    if (!f->line_count) {
        out_string(c->out,
                   "<p>Its source lines are not known: there is no debug information.</p>\n");
        return;
    }
    set_least(c, &f->lines[0].sum, sizeof(f->lines[0]), f->line_count);
    table_begin_of(c, "source", "Source lines that have samples, and those before them");
    for (size_t i = 0; i < f->line_count; i++) {
        const struct spe_annotated_line *line = &f->lines[i];
        const char *path = spe_profile_string(c->annotate->profile, line->place.file);
        uint32_t from = 1;

        if (line->sum.counts.samples < c->least)
            continue;
        if (!before || !same_part(before, &line->place))
            part_row(c, &line->place);
        else
            from = before->line + 1;
        lines_before(c, path, from, line->place.line);
        source_row(c, path, line->place.line, &line->sum);
        before = &line->place;
    }
    html_table_end(c->out);
}

/* ---- assembly -------------------------------------------------------------------------------- */

static void word_text(struct code *c, uint64_t address, const struct spe_instruction *insn)
{
    const struct annotate_function *f = c->function;
    size_t at = address >= f->start ? (size_t)((address - f->start) / 4) : f->word_count;
    struct spe_code_word word;
    char name[ANNOTATE_NAME];

    if (at < f->word_count) {
        spe_disassemble(c->annotate->disassembler, address, f->words[at], &word);
        html_text(c->out, word.text);
    } else if (insn) {
        out_printf(c->out, "(%s)", insn->operation);
    }
    for (size_t i = 0; insn && i < insn->target_count && i < TARGETS; i++) {
        annotate_target_name(c->annotate, &c->annotate->targets[insn->first_target + i], name);
        out_string(c->out, i ? ", " : " <span class=\"to\">→ ");
        html_text(c->out, name);
    }
    if (insn && insn->target_count)
        out_string(c->out, "</span>");
}

static void word_row(struct code *c, uint64_t address, const struct spe_instruction *insn)
{
    char place[32];

    snprintf(place, sizeof(place), "%" PRIx64, address);
    row_begin(c, insn, place);
    word_text(c, address, insn);
    row_end(c);
}

/* Instructions without samples, from `from` up to `address`. */
static void words_before(struct code *c, uint64_t from, uint64_t address)
{
    uint64_t first = address > 4 * AROUND ? address - UINT64_C(4) * AROUND : 0;
    char text[80];

    if (first > from) {
        snprintf(text, sizeof(text), "%" PRIu64 " %s not shown", (first - from) / 4,
                 first - from == 4 ? "instruction is" : "instructions are");
        gap_row(c, text);
    }
    for (uint64_t at = first > from ? first : from; at < address; at += 4)
        word_row(c, at, NULL);
}

static void assembly_table(struct code *c)
{
    const struct annotate_function *f = c->function;
    uint64_t next = f->start;

    if (f->no_code) {
        out_string(c->out, "<p>There is no code: ");
        html_text(c->out, f->no_code);
        out_string(c->out, ".</p>\n");
    }
    if (!f->count)
        return;
    set_least(c, f->instructions, sizeof(*f->instructions), f->count);
    table_begin_of(c, "asm", "Instructions that have samples, and those before them");
    for (size_t i = 0; i < f->count; i++) {
        const struct spe_instruction *insn = &f->instructions[i];

        if (insn->counts.samples < c->least)
            continue;
        if (f->word_count && insn->address >= next)
            words_before(c, next, insn->address);
        word_row(c, insn->address, insn);
        next = insn->address + 4;
    }
    html_table_end(c->out);
}

/* ---- functions ------------------------------------------------------------------------------- */

static void heading(struct code *c, size_t number)
{
    const struct spe_instruction *sum = &c->function->sum;
    char samples[32], share[32];

    out_printf(c->out, "<section class=\"code\" id=\"code-%zu\"><h3 tabindex=\"-1\">", number);
    html_text(c->out, c->function->name);
    text_grouped(samples, sum->counts.samples);
    text_percent(share, share_of(sum->counts.samples, c->annotate->samples));
    out_printf(c->out, "</h3>\n<p>%s samples, ", samples);
    html_text(c->out, share);
    out_printf(c->out,
               " %% of all; %.1f cycles on average. <a href=\"#functions\">Back to the "
               "functions</a></p>\n",
               share_of(sum->total.cycles, sum->total.samples));
}

int html_code(struct out *o, const struct html_page *page)
{
    struct code c = {.out = o, .page = page, .annotate = page->annotate};

    if (!c.annotate || !c.annotate->function_count)
        return SPE_OK;
    out_string(o, "<section id=\"code\"><h2>Code of the hottest functions</h2>\n");
    for (size_t i = 0; i < c.annotate->function_count && c.error == SPE_OK; i++) {
        c.function = &c.annotate->functions[i];
        heading(&c, i);
        source_table(&c);
        assembly_table(&c);
        out_string(o, "</section>\n");
    }
    out_string(o, "</section>\n");
    return c.error;
}
