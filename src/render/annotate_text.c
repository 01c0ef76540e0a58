/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* `spe annotate` as a page for a terminal. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/annotate.h"
#include "render/cells.h"
#include "render/report.h"
#include "render/text.h"
#include "render/wrap.h"

#define CODE_CONTEXT 3   /* instructions shown around one with samples */
#define SOURCE_CONTEXT 2 /* lines */
#define FOLD_FROM 3      /* fewer are shown, not folded */
#define TAB 4

enum { PLACE = ANNOTATE_COLUMNS, TEXT, ALL_COLUMNS };

struct page {
    struct out *out;
    const struct annotate *annotate;
    const struct annotate_function *function;
    unsigned width;
    bool color;
    int error;          /* the first */
    uint64_t hot;       /* samples or latency from which on instructions or lines are marked */
    uint32_t *labels;   /* of the function's words: number, or 0 */
    size_t label_width; /* of "L3: " */
    bool newer;         /* a source file is newer than the recording */
};

static void fail(struct page *p, int error)
{
    if (p->error == SPE_OK)
        p->error = error;
}

/* ---- headings -------------------------------------------------------------------------------- */

static void line(struct page *p, enum tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void line(struct page *p, enum tone tone, const char *format, ...)
{
    struct wrap wrap = {p->out, p->width, p->color, 0, tone};
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (!(tone == TONE_TITLE ? wrap_title(&wrap, text) : wrap_text(&wrap, "", text)))
        fail(p, SPE_ERR_NOMEM);
}

/* "DRAM 91 %, L1 cache 9 %": where the loads were served, the most frequent first. */
static void served_line(struct page *p, const struct spe_instruction *sum)
{
    struct spe_instruction left = *sum;
    char text[512];
    size_t used = 0;
    unsigned most;
    uint64_t loads;

    while ((most = annotate_mostly_served(&left, &loads)) != SPE_SERVED_COUNT &&
           used < sizeof(text)) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %.1f %%", used ? ", " : "",
                                 spe_served_name(most), 100.0 * share_of(loads, sum->loads));
        left.served[most] = 0;
    }
    if (used)
        line(p, TONE_PLAIN, "loads served by: %s", text);
}

static double mean_of(const struct spe_latency_sum *sum, uint64_t samples)
{
    return samples ? (double)sum->cycles / (double)samples : 0.0;
}

/* Parts of the mean are of the same samples, those that have a total: they add up. */
static void latency_line(struct page *p, const struct spe_instruction *sum)
{
    uint64_t samples = sum->total.samples;

    if (!samples)
        return;
    if (sum->execution.samples == samples)
        line(p, TONE_PLAIN, "%.1f cycles on average: issue %.1f, translation %.1f, execution %.1f",
             mean_of(&sum->total, samples), mean_of(&sum->issue, samples),
             mean_of(&sum->translation, samples), mean_of(&sum->execution, samples));
    else
        line(p, TONE_PLAIN, "%.1f cycles on average", mean_of(&sum->total, samples));
}

static void function_heading(struct page *p)
{
    const struct annotate *a = p->annotate;
    const struct annotate_function *f = p->function;
    const struct spe_counts *c = &f->sum.counts;
    struct spe_interval i = spe_interval_of_share(c->samples, a->samples);
    const struct spe_profile_dso *dso =
        f->dso != SPE_NO_ID ? spe_profile_dso(a->profile, f->dso) : NULL;
    char samples[32], all[32];

    line(p, TONE_TITLE, "%s%s%s", f->name, dso && f->symbol != SPE_NO_SYMBOL ? " in " : "",
         dso && f->symbol != SPE_NO_SYMBOL ? spe_profile_string(a->profile, dso->path) : "");
    text_grouped(samples, c->samples);
    text_grouped(all, a->samples);
    line(p, TONE_PLAIN, "%s of %s samples: %.2f %% (%.2f-%.2f), %.2f %% of the latency", samples,
         all, 100.0 * share_of(c->samples, a->samples), 100.0 * i.low, 100.0 * i.high,
         100.0 * share_of(c->latency, a->latency));
    latency_line(p, &f->sum);
    served_line(p, &f->sum);
    if (f->no_code)
        line(p, TONE_NOTABLE, "no code is shown: %s", f->no_code);
}

/* ---- hot or not ------------------------------------------------------------------------------ */

static uint64_t weight_of(const struct annotate *a, const struct spe_instruction *insn)
{
    return a->by_latency ? insn->counts.latency : insn->counts.samples;
}

#define MARKED 10

/* What is at least half as hot as the hottest is marked, but not more than some. */
static void set_heat(struct page *p, const struct spe_instruction *first, size_t step, size_t count)
{
    uint64_t top[MARKED] = {0};

    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)first + i * step;
        uint64_t weight = weight_of(p->annotate, (const struct spe_instruction *)(const void *)at);

        for (size_t k = 0; k < MARKED; k++) {
            if (weight > top[k]) {
                uint64_t less = top[k];

                top[k] = weight;
                weight = less;
            }
        }
    }
    p->hot = top[0] / 2 > top[MARKED - 1] ? top[0] / 2 : top[MARKED - 1];
}

/* Below the limit that was asked for. */
static bool is_cold(const struct page *p, const struct spe_instruction *insn)
{
    const struct annotate *a = p->annotate;

    return share_of(weight_of(a, insn), weight_of(a, &p->function->sum)) < a->limit;
}

static bool is_hot(const struct page *p, const struct spe_instruction *insn)
{
    return weight_of(p->annotate, insn) >= (p->hot ? p->hot : 1);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* What goes first when there is no room; 0 stays. */
static const struct table_column number_columns[ANNOTATE_COLUMNS] = {
    [ANNOTATE_SHARE] = {"share", false, 0, 0},
    [ANNOTATE_INTERVAL] = {"95 %", false, 8, 0},
    [ANNOTATE_SAMPLES] = {"samples", false, 6, 0},
    [ANNOTATE_LATENCY] = {"cycles", false, 0, 0},
    [ANNOTATE_WEIGHT] = {"lat %", false, 4, 0},
    [ANNOTATE_ISSUE] = {"issue", false, 9, 0},
    [ANNOTATE_TRANSLATION] = {"xlat", false, 10, 0},
    [ANNOTATE_EXECUTION] = {"exec", false, 11, 0},
    [ANNOTATE_L1] = {"L1m", false, 1, 0},
    [ANNOTATE_LLC] = {"LLCm", false, 7, 0},
    [ANNOTATE_TLB] = {"TLBm", false, 3, 0},
    [ANNOTATE_SERVED] = {"served", true, 2, 10},
    [ANNOTATE_MISPREDICTED] = {"misp", false, 5, 0},
    [ANNOTATE_OPERATION] = {"operation", true, 12, 10},
};

/* Columns in which the function has something. */
static unsigned useful_columns(const struct spe_instruction *sum)
{
    unsigned columns = (1u << ANNOTATE_COLUMNS) - 1;

    if (!sum->total.samples)
        columns &= ~(1u << ANNOTATE_LATENCY | 1u << ANNOTATE_WEIGHT);
    if (!sum->issue.cycles)
        columns &= ~(1u << ANNOTATE_ISSUE);
    if (!sum->execution.cycles)
        columns &= ~(1u << ANNOTATE_EXECUTION);
    if (!sum->translation.cycles)
        columns &= ~(1u << ANNOTATE_TRANSLATION);
    if (!sum->counts.l1_misses)
        columns &= ~(1u << ANNOTATE_L1);
    if (!sum->counts.llc_misses)
        columns &= ~(1u << ANNOTATE_LLC);
    if (!sum->counts.tlb_walks)
        columns &= ~(1u << ANNOTATE_TLB);
    if (!sum->loads)
        columns &= ~(1u << ANNOTATE_SERVED);
    if (!sum->counts.mispredicted)
        columns &= ~(1u << ANNOTATE_MISPREDICTED);
    return columns;
}

/* Where the mark of hot code stands: beside what it is hot by, unless that column was not chosen.
 */
static unsigned marked_column(const struct annotate *a)
{
    bool has_weight = !a->chosen || a->columns >> ANNOTATE_WEIGHT & 1;

    return a->by_latency && has_weight ? ANNOTATE_WEIGHT : ANNOTATE_SHARE;
}

static void set_columns(const struct page *p, const char *place, const char *text,
                        struct table_column columns[ALL_COLUMNS])
{
    const struct annotate *a = p->annotate;
    bool lines = strcmp(place, "line") == 0;
    unsigned shown = a->chosen ? a->columns : useful_columns(&p->function->sum);

    for (unsigned i = 0; i < ANNOTATE_COLUMNS; i++) {
        columns[i] = number_columns[i];
        if (!(shown >> i & 1))
            columns[i].title = NULL;
        if (a->chosen)
            columns[i].rank = 1 + i;
    }
    columns[marked_column(a)].rank = 0;
    if (lines)
        columns[ANNOTATE_OPERATION].title = NULL;
    columns[PLACE] = (struct table_column){place, false, 0, 0};
    columns[TEXT] = (struct table_column){text, TABLE_END, 0, p->width / 2};
}

/* A share, with a mark in front if it is hot. */
static void hot_cell(struct table *t, double share, bool mark)
{
    double percent = 100.0 * share;

    table_format(t, tone_of_share(share), "%s%.*f", mark ? "> " : "", percent < 9.995 ? 2 : 1,
                 percent);
}

/* spe_served_name, for a narrow column. */
static const char *const short_served[SPE_SERVED_COUNT] = {
    [SPE_LEVEL_UNKNOWN] = "?",
    [SPE_LEVEL_L1] = "L1",
    [SPE_LEVEL_L2] = "L2",
    [SPE_LEVEL_L3] = "L3",
    [SPE_LEVEL_PEER_CORE] = "peer",
    [SPE_LEVEL_LOCAL_CLUSTER] = "cluster",
    [SPE_LEVEL_PEER_CLUSTER] = "peer cl.",
    [SPE_LEVEL_REMOTE_CACHE] = "remote",
    [SPE_LEVEL_DRAM] = "DRAM",
    [SPE_LEVEL_REMOTE_DRAM] = "far DRAM",
    [SPE_LEVEL_IO] = "device",
    [SPE_SERVED_L1_HIT] = "L1",
    [SPE_SERVED_IN_FLIGHT] = "fetched",
    [SPE_SERVED_L2_HIT] = "L2",
    [SPE_SERVED_LLC_HIT] = "LLC",
    [SPE_SERVED_REMOTE] = "remote",
    [SPE_SERVED_BEYOND_LLC] = "> LLC",
    [SPE_SERVED_BEYOND_L2] = "> L2",
    [SPE_SERVED_BEYOND_L1] = "> L1",
    [SPE_SERVED_UNKNOWN] = "?",
};

static void served_cell(struct table *t, const struct spe_instruction *insn)
{
    uint64_t loads;
    unsigned most = annotate_mostly_served(insn, &loads);

    if (most == SPE_SERVED_COUNT)
        table_text(t, TONE_QUIET, "");
    else
        table_format(t, TONE_PLAIN, "%s %.0f", short_served[most],
                     100.0 * share_of(loads, insn->loads));
}

/* The kind is left out where it says nothing. A line has no operation: it may have several. */
static void operation_cell(struct table *t, const struct spe_instruction *insn)
{
    bool plain = !insn->kind || strcmp(insn->kind, "general-purpose") == 0 ||
                 strcmp(insn->kind, "all else") == 0;

    table_format(t, TONE_PLAIN, "%s%s%s", insn->operation ? insn->operation : "", plain ? "" : ", ",
                 plain ? "" : insn->kind);
}

static void sum_cell(struct table *t, const struct spe_latency_sum *sum)
{
    if (sum->samples)
        mean_cell(t, sum->cycles, sum->samples);
    else
        table_text(t, TONE_PLAIN, "");
}

/* Empty where there are none of its kind: most instructions are of one kind. */
static void own_cell(struct table *t, uint64_t part, uint64_t of)
{
    if (of)
        miss_cell(t, part, of);
    else
        table_text(t, TONE_PLAIN, "");
}

static void number_cell(const struct page *p, struct table *t, unsigned column,
                        const struct spe_instruction *insn)
{
    const struct annotate *a = p->annotate;
    const struct spe_instruction *whole = &p->function->sum;
    const struct spe_counts *c = &insn->counts;
    uint64_t samples = a->global ? a->samples : whole->counts.samples;
    uint64_t latency = a->global ? a->latency : whole->counts.latency;

    switch (column) {
    case ANNOTATE_SHARE:
        hot_cell(t, share_of(c->samples, samples), marked_column(a) == column && is_hot(p, insn));
        break;
    case ANNOTATE_INTERVAL:
        interval_cell(t, c->samples, samples);
        break;
    case ANNOTATE_SAMPLES:
        table_count(t, TONE_PLAIN, c->samples);
        break;
    case ANNOTATE_LATENCY:
        sum_cell(t, &insn->total);
        break;
    case ANNOTATE_WEIGHT:
        hot_cell(t, share_of(c->latency, latency), marked_column(a) == column && is_hot(p, insn));
        break;
    case ANNOTATE_ISSUE:
        sum_cell(t, &insn->issue);
        break;
    case ANNOTATE_TRANSLATION:
        sum_cell(t, &insn->translation);
        break;
    case ANNOTATE_EXECUTION:
        sum_cell(t, &insn->execution);
        break;
    case ANNOTATE_L1:
        own_cell(t, c->l1_misses, c->memory);
        break;
    case ANNOTATE_LLC:
        own_cell(t, c->llc_misses, c->memory);
        break;
    case ANNOTATE_TLB:
        own_cell(t, c->tlb_walks, c->memory);
        break;
    case ANNOTATE_SERVED:
        served_cell(t, insn);
        break;
    case ANNOTATE_MISPREDICTED:
        own_cell(t, c->mispredicted, c->branches);
        break;
    default:
        operation_cell(t, insn);
        break;
    }
}

/* The numbers of a row; none if insn is NULL. */
static void number_cells(const struct page *p, struct table *t, const struct spe_instruction *insn)
{
    for (unsigned i = 0; i < ANNOTATE_COLUMNS; i++) {
        if (insn)
            number_cell(p, t, i, insn);
        else
            table_text(t, TONE_PLAIN, "");
    }
}

/* A row that has only text. */
static void text_row(const struct page *p, struct table *t, enum tone tone, const char *text)
{
    number_cells(p, t, NULL);
    table_text(t, TONE_PLAIN, "");
    table_text(t, tone, text);
}

static void fold_row(const struct page *p, struct table *t, uint64_t count, const char *what,
                     uint64_t samples)
{
    char text[128], digits[32], of[32];

    text_grouped(digits, count);
    text_grouped(of, samples);
    snprintf(text, sizeof(text), "... %s %s with%s%s sample%s", digits, what, samples ? " " : "out",
             samples ? of : "", samples == 1 ? "" : "s");
    text_row(p, t, TONE_QUIET, text);
}

static void end_table(struct page *p, struct table *t)
{
    if (!table_end(t, p->out, p->width, p->color))
        fail(p, SPE_ERR_NOMEM);
}

/* ---- source ---------------------------------------------------------------------------------- */

static const char *shown_path(const struct page *p, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] && !p->annotate->full_paths ? slash + 1 : path;
}

/* The line's text with tabs as blanks. */
static void source_text(struct page *p, const char *path, uint32_t number, char *text, size_t size)
{
    char raw[SPE_TEXT_LINE];
    size_t used = 0;
    bool newer;

    fail(p, annotate_source_line(p->annotate->sources, path, number, raw, &newer));
    p->newer |= newer;
    for (const char *s = raw; *s && used + TAB < size; s++) {
        if (*s != '\t') {
            text[used++] = *s;
            continue;
        }
        do {
            text[used++] = ' ';
        } while (used % TAB);
    }
    text[used] = '\0';
}

static void source_row(struct page *p, struct table *t, const char *path, uint32_t number,
                       const struct spe_instruction *sum)
{
    char text[4 * SPE_TEXT_LINE];

    source_text(p, path, number, text, sizeof(text));
    number_cells(p, t, sum);
    table_format(t, sum ? TONE_PLAIN : TONE_QUIET, "%" PRIu32, number);
    table_text(t, sum ? TONE_PLAIN : TONE_QUIET, text);
}

/* Lines without samples from `from` up to, not including, `to`: few are shown, of more the ones
 * next to others. 0: there is none on that side. */
static void source_gap(struct page *p, struct table *t, const char *path, uint32_t from,
                       uint32_t to)
{
    uint32_t head = from, tail = to, gap;

    if (from && to && to - from <= 2 * SOURCE_CONTEXT + FOLD_FROM) {
        head = to;
    } else {
        if (from)
            head = from + SOURCE_CONTEXT;
        if (to)
            tail = to > SOURCE_CONTEXT ? to - SOURCE_CONTEXT : 1;
    }
    for (uint32_t n = from; from && n < head; n++)
        source_row(p, t, path, n, NULL);
    gap = from && to && tail > head ? tail - head : 0;
    if (gap)
        fold_row(p, t, gap, "lines", 0);
    for (uint32_t n = tail > head ? tail : head; to && n < to; n++)
        source_row(p, t, path, n, NULL);
}

static bool same_part(const struct spe_code_place *a, const struct spe_code_place *b)
{
    return a->file == b->file && a->inlined == b->inlined &&
           (!a->inlined || a->function == b->function);
}

static void part_heading(struct page *p, struct table *t, const struct spe_code_place *place)
{
    const struct annotate *a = p->annotate;
    const char *path = shown_path(p, spe_profile_string(a->profile, place->file));
    char text[1024];

    if (place->inlined)
        snprintf(text, sizeof(text),
                 "inlined %s, %s:", spe_profile_string(a->profile, place->function), path);
    else
        snprintf(text, sizeof(text), "%s:", path);
    text_row(p, t, TONE_TITLE, text);
}

static bool has_source(struct page *p, const char *path)
{
    char text[SPE_TEXT_LINE];
    bool newer;

    for (uint32_t n = 1; n <= 8; n++) {
        fail(p, annotate_source_line(p->annotate->sources, path, n, text, &newer));
        if (text[0])
            return true;
    }
    return false;
}

static void source_part(struct page *p, struct table *t, const struct spe_annotated_line *lines,
                        size_t count)
{
    const char *path = spe_profile_string(p->annotate->profile, lines[0].place.file);
    bool found = has_source(p, path);

    part_heading(p, t, &lines[0].place);
    if (!found) {
        text_row(p, t, TONE_NOTABLE, "(this file was not found: --source-dir)");
        text_row(p, t, TONE_NOTABLE, path);
    }
    for (size_t i = 0; i < count; i++) {
        if (found)
            source_gap(p, t, path, i ? lines[i - 1].place.line + 1 : 0, lines[i].place.line);
        source_row(p, t, path, lines[i].place.line, &lines[i].sum);
    }
    if (found)
        source_gap(p, t, path, lines[count - 1].place.line + 1, 0);
}

static void source_section(struct page *p)
{
    const struct annotate_function *f = p->function;
    struct table_column columns[ALL_COLUMNS];
    struct table t;

    if (!f->line_count) {
        line(p, TONE_QUIET, "its lines are not known: there is no debug information");
        return;
    }
    set_heat(p, &f->lines[0].sum, sizeof(f->lines[0]), f->line_count);
    out_char(p->out, '\n');
    set_columns(p, "line", "source", columns);
    table_begin(&t, columns, ALL_COLUMNS);
    for (size_t i = 0, end; i < f->line_count; i = end) {
        for (end = i + 1;
             end < f->line_count && same_part(&f->lines[i].place, &f->lines[end].place);)
            end++;
        source_part(p, &t, &f->lines[i], end - i);
    }
    end_table(p, &t);
    if (p->newer)
        line(p, TONE_NOTABLE,
             "a source file was changed after the recording: its text may not be that of the "
             "program");
}

/* ---- assembly -------------------------------------------------------------------------------- */

static bool has_word(const struct annotate_function *f, uint64_t address)
{
    return address >= f->start && (address - f->start) / 4 < f->word_count;
}

static size_t word_at(const struct annotate_function *f, uint64_t address)
{
    return (size_t)((address - f->start) / 4);
}

#define SHOWN UINT32_MAX /* in place of a label, until there are labels */

static void show_around(struct page *p, uint64_t address, size_t reach)
{
    const struct annotate_function *f = p->function;
    size_t at = word_at(f, address), first = at > reach ? at - reach : 0;

    for (size_t i = first; i <= at + reach && i < f->word_count; i++)
        p->labels[i] = SHOWN;
}

#define TARGETS_SHOWN 3

/* A target of a branch's samples, of the first ones, if it is in the function; else NULL. */
static const struct spe_branch_target *own_target(const struct page *p,
                                                  const struct spe_instruction *insn, size_t i)
{
    const struct annotate_function *f = p->function;
    const struct spe_branch_target *target = &p->annotate->targets[insn->first_target + i];

    return target->dso == f->dso && has_word(f, target->address) ? target : NULL;
}

/* What a branch goes to is shown with it, if it has samples. */
static void show_targets(struct page *p, const struct spe_instruction *insn)
{
    const struct annotate_function *f = p->function;
    struct spe_code_word word;

    if (!insn->counts.branches)
        return;
    spe_disassemble(p->annotate->disassembler, insn->address, f->words[word_at(f, insn->address)],
                    &word);
    if (word.has_target && has_word(f, word.target))
        show_around(p, word.target, 0);
    for (size_t i = 0; i < insn->target_count && i < TARGETS_SHOWN; i++) {
        if (own_target(p, insn, i))
            show_around(p, own_target(p, insn, i)->address, 0);
    }
}

static void fill_small_gaps(struct page *p)
{
    size_t gap = 0, i;

    for (i = 0; i < p->function->word_count; i++) {
        if (p->labels[i] != SHOWN) {
            gap++;
            continue;
        }
        for (; gap && gap < FOLD_FROM; gap--)
            p->labels[i - gap] = SHOWN;
        gap = 0;
    }
    for (; gap && gap < FOLD_FROM; gap--)
        p->labels[i - gap] = SHOWN;
}

static void choose_words(struct page *p)
{
    const struct annotate_function *f = p->function;

    for (size_t i = 0; i < f->count; i++) {
        if (!has_word(f, f->instructions[i].address) || is_cold(p, &f->instructions[i]))
            continue;
        show_around(p, f->instructions[i].address, CODE_CONTEXT);
        show_targets(p, &f->instructions[i]);
    }
    for (size_t i = 0; p->annotate->all && i < f->word_count; i++)
        p->labels[i] = SHOWN;
    fill_small_gaps(p);
}

#define WORD_SHOWN 1u  /* in labels, from here on: shown, and 2 * number of its label */
#define WORD_TARGET 2u /* until it has a number */

static void label(struct page *p, uint64_t address)
{
    const struct annotate_function *f = p->function;

    if (has_word(f, address) && p->labels[word_at(f, address)] & WORD_SHOWN)
        p->labels[word_at(f, address)] |= WORD_TARGET;
}

/* Labels are for what is shown, from what is shown. */
static void find_labels(struct page *p)
{
    const struct annotate_function *f = p->function;
    struct spe_code_word word;
    uint32_t number = 0;

    for (size_t i = 0; i < f->word_count; i++)
        p->labels[i] = p->labels[i] == SHOWN ? WORD_SHOWN : 0;
    for (size_t i = 0; i < f->word_count; i++) {
        if (!(p->labels[i] & WORD_SHOWN) || f->data[i])
            continue;
        spe_disassemble(p->annotate->disassembler, f->start + 4 * i, f->words[i], &word);
        if (word.has_target)
            label(p, word.target);
    }
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k < f->instructions[i].target_count && k < TARGETS_SHOWN; k++) {
            if (own_target(p, &f->instructions[i], k))
                label(p, own_target(p, &f->instructions[i], k)->address);
        }
    }
    for (size_t i = 0; i < f->word_count; i++) {
        if (p->labels[i] & WORD_TARGET)
            p->labels[i] = WORD_SHOWN | 2 * ++number;
    }
    p->label_width = number < 10 ? 4 : number < 100 ? 5 : number < 1000 ? 6 : 12;
}

#define TEXT_MAX 1024 /* of an instruction or a source line */

/* The number of the label at an address; 0: none. */
static uint32_t label_at(const struct page *p, uint64_t address)
{
    const struct annotate_function *f = p->function;

    return has_word(f, address) ? p->labels[word_at(f, address)] / 2 : 0;
}

/* What is at an address of the same file. */
static void append_place(struct page *p, struct text *t, uint64_t address)
{
    const struct annotate_function *f = p->function;
    const struct spe_instruction *near = &f->instructions[0];
    struct spe_branch_target target = {f->dso, address, SPE_NO_SYMBOL, 0, 0, 0};
    struct spe_profile_symbol symbol;
    char name[ANNOTATE_NAME];

    if (near->map == SPE_NO_ID)
        return;
    target.symbol = spe_profile_find_symbol(p->annotate->profile, near->map,
                                            near->pc + address - near->address);
    if (target.symbol == SPE_NO_SYMBOL ||
        spe_profile_symbol(p->annotate->profile, target.symbol, &symbol) != SPE_OK)
        return;
    target.in_symbol = address - symbol.address;
    annotate_target_name(p->annotate, &target, name);
    text_add(t, " <%s>", name);
}

/* A branch's text with its target's label in place of the address, which is its last operand; or
 * with the name of what is there. */
static void append_branch(struct page *p, struct text *t, const struct spe_code_word *word)
{
    uint32_t number = label_at(p, word->target);
    const char *operand = strrchr(word->text, ' ');

    if (number && word->known && operand)
        text_add(t, "%.*s L%" PRIu32, (int)(operand - word->text), word->text, number);
    else
        text_add(t, "%s", word->text);
    if (!number)
        append_place(p, t, word->target);
}

/* Where samples of a branch went: of one with a target in its word how often, of others where to.
 */
static void append_targets(struct page *p, struct text *t, const struct spe_instruction *insn,
                           const struct spe_code_word *word)
{
    const char *start = word->known ? "  // " : ", "; /* behind the kind of a bare word */
    uint64_t all = insn->counts.branches, said = 0;
    char name[ANNOTATE_NAME];
    size_t i;

    if (!all)
        return;
    if (word->has_target) {
        if (insn->not_taken)
            text_add(t, "%staken %.1f %%", start, 100.0 * share_of(all - insn->not_taken, all));
        return;
    }
    for (i = 0; i < insn->target_count && i < TARGETS_SHOWN; i++) {
        const struct spe_branch_target *target = &p->annotate->targets[insn->first_target + i];

        if (own_target(p, insn, i) && label_at(p, target->address))
            snprintf(name, sizeof(name), "L%" PRIu32, label_at(p, target->address));
        else
            annotate_target_name(p->annotate, target, name);
        text_add(t, "%s%s %s %.1f %%", i ? "" : start, i ? "," : "to", name,
                 100.0 * share_of(target->samples, all));
        said += target->samples;
    }
    if (i < insn->target_count)
        text_add(t, ", %zu others %.1f %%", insn->target_count - i,
                 100.0 * share_of(all - said, all));
}

/* ".word" for data; the instruction; a word that nobody can read, with what it is for SPE. */
static void word_text(struct page *p, size_t at, const struct spe_instruction *insn, struct text *t)
{
    const struct annotate_function *f = p->function;
    struct spe_code_word word;

    if (p->labels[at] / 2)
        text_add(t, "L%" PRIu32 ":", p->labels[at] / 2);
    text_add(t, "%*s", (int)(p->label_width - t->used), "");
    if (f->data[at]) {
        text_add(t, ".word 0x%08" PRIx32, f->words[at]);
        return;
    }
    spe_disassemble(p->annotate->disassembler, f->start + 4 * at, f->words[at], &word);
    if (word.has_target)
        append_branch(p, t, &word);
    else
        text_add(t, "%s", word.text);
    if (!word.known)
        text_add(t, "  // %s", word.kind);
    if (insn)
        append_targets(p, t, insn, &word);
}

static void place_cell(struct page *p, struct table *t, uint64_t address, const uint32_t *word)
{
    if (word && p->annotate->words)
        table_format(t, TONE_QUIET, "%" PRIx64 ": %08" PRIx32, address, *word);
    else
        table_format(t, TONE_QUIET, "%" PRIx64, address);
}

/* The source line that the code is of, if it is another one than before. */
static void code_line(struct page *p, struct table *t, uint64_t address,
                      struct spe_code_place *last)
{
    const struct annotate *a = p->annotate;
    const struct spe_instruction *near = &p->function->instructions[0];
    struct spe_code_place place;
    char source[4 * SPE_TEXT_LINE];
    char bytes[TEXT_MAX];
    struct text text = TEXT_IN(bytes);
    const char *path, *s;

    if (!p->annotate->source ||
        !spe_code_place(a->profile, near->map, near->pc + address - near->address, &place) ||
        (place.file == last->file && place.line == last->line && same_part(&place, last)))
        return;
    *last = place;
    path = spe_profile_string(a->profile, place.file);
    source_text(p, path, place.line, source, sizeof(source));
    for (s = source; *s == ' ';)
        s++;
    text_add(&text, "%s:%" PRIu32, shown_path(p, path), place.line);
    if (place.inlined)
        text_add(&text, " (inlined %s)", spe_profile_string(a->profile, place.function));
    if (*s)
        text_add(&text, "  %s", s);
    text_row(p, t, TONE_NOTABLE, text.bytes);
}

static void word_row(struct page *p, struct table *t, size_t at, const struct spe_instruction *insn)
{
    const struct annotate_function *f = p->function;
    char bytes[TEXT_MAX];
    struct text text = TEXT_IN(bytes);

    word_text(p, at, insn, &text);
    number_cells(p, t, insn);
    place_cell(p, t, f->start + 4 * at, &f->words[at]);
    table_text(t, insn ? TONE_PLAIN : TONE_QUIET, text.bytes);
}

/* An instruction whose word is not at hand. */
static void bare_row(struct page *p, struct table *t, const struct spe_instruction *insn)
{
    number_cells(p, t, insn);
    place_cell(p, t, insn->address, NULL);
    table_text(t, TONE_QUIET, insn->operation ? insn->operation : "");
}

/* Instructions that are folded, and the samples that they have. */
struct fold {
    uint64_t words, samples;
};

static void end_fold(struct page *p, struct table *t, struct fold *fold)
{
    if (fold->words)
        fold_row(p, t, fold->words, "instructions", fold->samples);
    *fold = (struct fold){0, 0};
}

static void word_rows(struct page *p, struct table *t)
{
    const struct annotate_function *f = p->function;
    struct spe_code_place last = {SPE_NO_ID, SPE_NO_ID, 0, false};
    struct fold fold = {0, 0};
    size_t next = 0;

    while (next < f->count && !has_word(f, f->instructions[next].address))
        bare_row(p, t, &f->instructions[next++]);
    for (size_t i = 0; i < f->word_count; i++) {
        const struct spe_instruction *insn = NULL;

        if (next < f->count && f->instructions[next].address == f->start + 4 * i)
            insn = &f->instructions[next++];
        if (!(p->labels[i] & WORD_SHOWN)) {
            fold.words++;
            fold.samples += insn ? insn->counts.samples : 0;
            continue;
        }
        end_fold(p, t, &fold);
        if (!f->data[i])
            code_line(p, t, f->start + 4 * i, &last);
        word_row(p, t, i, insn);
    }
    end_fold(p, t, &fold);
    for (; next < f->count; next++)
        bare_row(p, t, &f->instructions[next]);
}

static void assembly_section(struct page *p)
{
    const struct annotate_function *f = p->function;
    struct table_column columns[ALL_COLUMNS];
    struct table t;

    p->labels = calloc(f->word_count + 1, sizeof(*p->labels));
    if (!p->labels) {
        fail(p, SPE_ERR_NOMEM);
        return;
    }
    set_heat(p, f->instructions, sizeof(f->instructions[0]), f->count);
    choose_words(p);
    find_labels(p);
    out_char(p->out, '\n');
    set_columns(p, "address", f->word_count ? "instruction" : "operation", columns);
    table_begin(&t, columns, ALL_COLUMNS);
    word_rows(p, &t);
    end_table(p, &t);
    free(p->labels);
    p->labels = NULL;
}

int annotate_text(struct out *o, const struct annotate *a, unsigned width, bool color)
{
    struct page p = {.out = o, .annotate = a, .width = width, .color = color};

    for (size_t i = 0; i < a->function_count && p.error == SPE_OK; i++) {
        p.function = &a->functions[i];
        p.newer = false;
        if (i)
            out_char(o, '\n');
        function_heading(&p);
        if (a->source)
            source_section(&p);
        if (a->assembly)
            assembly_section(&p);
    }
    return p.error;
}
