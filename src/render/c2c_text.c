/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Shared cache lines as a page for a terminal. */
#include <inttypes.h>
#include <stdio.h>

#include "base/count_of.h"
#include "render/c2c.h"
#include "render/cells.h"
#include "render/safe.h"
#include "render/sheet.h"
#include "render/table.h"

#define LABEL 12
#define CODES 3 /* rows of an offset */
#define TIDS 2  /* threads that a cell names */

struct page {
    struct sheet sheet;
    const struct c2c *c2c;
};

/* ---- header ---------------------------------------------------------------------------------- */

static const char *basis_sentence(enum spe_sharing_basis basis)
{
    switch (basis) {
    case SPE_SHARING_SOURCE:
        return "data sources: loads that another core, cluster or socket served";
    case SPE_SHARING_SNOOPED:
        return "the event \"data snooped\": loads that another core's cache served";
    default:
        return "L1 misses of lines that several threads use: the records do not say who served "
               "them";
    }
}

static void file_line(struct page *p)
{
    const struct report *r = &p->c2c->report;
    char text[REPORT_NAME];

    snprintf(text, sizeof(text), "%s, %.1f MB", r->file, (double)r->info->bytes * 1e-6);
    sheet_wrapped(&p->sheet, LABEL, "file", TONE_PLAIN, text);
    sheet_wrapped(&p->sheet, LABEL, "CPU", TONE_PLAIN,
                  r->info->cpu ? r->info->cpu->title : "not known");
    if (r->info->simulated)
        sheet_wrapped(&p->sheet, LABEL, "", TONE_NOTABLE,
                      r->info->model_note ? r->info->model_note
                                          : "made by a model, not by hardware");
}

static void samples_line(struct page *p)
{
    const struct spe_sharing_result *r = p->c2c->result;
    char samples[32], loads[32], without[32], text[200];

    text_grouped(samples, r->samples);
    text_grouped(loads, r->loads);
    text_grouped(without, r->no_address);
    snprintf(text, sizeof(text), "%s loads and stores with a data address, %s of them loads%s%s%s",
             samples, loads, r->no_address ? "; " : "", r->no_address ? without : "",
             r->no_address ? " without one" : "");
    sheet_wrapped(&p->sheet, LABEL, "samples", TONE_PLAIN, text);
}

static void size_line(struct page *p)
{
    const struct c2c *c = p->c2c;
    char text[120];

    snprintf(text, sizeof(text), "%u bytes%s; offsets are where accesses begin",
             1u << c->result->shift,
             c->line_size_given      ? ""
             : c->line_size_of_model ? ", as those of the model"
             : c->report.info->cpu   ? ", as those of this CPU"
                                     : ", since the CPU is not known");
    sheet_wrapped(&p->sheet, LABEL, "lines of", TONE_PLAIN, text);
}

static void found_line(struct page *p)
{
    const struct spe_sharing_result *r = p->c2c->result;
    char shown[32], more[32], few[32], text[400];
    int n;

    text_grouped(shown, r->line_count + r->not_examined);
    text_grouped(more, r->not_examined);
    text_grouped(few, r->too_few);
    n = snprintf(text, sizeof(text), "%s%s shared line%s%s%s%s", r->not_examined ? "up to " : "",
                 r->line_count + r->not_examined ? shown : "no",
                 r->line_count + r->not_examined == 1 ? "" : "s", r->not_examined ? ", " : "",
                 r->not_examined ? more : "", r->not_examined ? " of them not shown (--top)" : "");
    if (!r->several_threads)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      ": all loads and stores are of one thread");
    if (r->too_few)
        snprintf(text + n, sizeof(text) - (size_t)n,
                 "; %s other%s with too little to call %s shared", few, r->too_few == 1 ? "" : "s",
                 r->too_few == 1 ? "it" : "them");
    sheet_wrapped(&p->sheet, LABEL, "found", r->line_count ? TONE_NOTABLE : TONE_GOOD, text);
    if (r->left_out) {
        text_grouped(more, r->left_out);
        snprintf(text, sizeof(text), "%s samples did not fit into memory (--data-memory)", more);
        sheet_wrapped(&p->sheet, LABEL, "", TONE_HOT, text);
    }
}

static void header(struct page *p)
{
    const struct report *r = &p->c2c->report;
    size_t i;

    sheet_title(&p->sheet, "Recording");
    file_line(p);
    samples_line(p);
    sheet_wrapped(&p->sheet, LABEL, "based on", TONE_PLAIN, basis_sentence(p->c2c->result->basis));
    size_line(p);
    found_line(p);
    for (i = 0; !r->quiet && spe_profile_warning(r->profile, i); i++)
        sheet_wrapped(&p->sheet, LABEL, i ? "" : "warnings", TONE_NOTABLE,
                      spe_profile_warning(r->profile, i));
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void count_cell(struct table *t, uint32_t count)
{
    if (count)
        table_count(t, TONE_PLAIN, count);
    else
        table_text(t, TONE_QUIET, "-");
}

static void line_row(struct page *p, struct table *t, size_t i)
{
    const struct spe_shared_line *line = &p->c2c->result->lines[i];
    double latency = share_of(line->latency, p->c2c->result->latency);
    char name[REPORT_NAME];

    table_format(t, TONE_PLAIN, "%zu", i + 1);
    table_format(t, TONE_PLAIN, "%" PRIx64, line->address);
    if (line->pid == SPE_NO_TASK)
        table_text(t, TONE_PLAIN, "kernel");
    else
        table_format(t, TONE_PLAIN, "%" PRIu32, line->pid);
    c2c_object_name(p->c2c, line, c2c_hottest(line), name);
    table_text(t, TONE_PLAIN, name);
    table_text(t, line->kind == SPE_SHARING_UNCLEAR ? TONE_QUIET : TONE_NOTABLE,
               c2c_kind_name(line->kind));
    table_count(t, TONE_PLAIN, line->travelled);
    table_percent(t, TONE_HOT, share_of(line->travelled, line->travelled_of));
    interval_cell(t, line->travelled, line->travelled_of);
    table_count(t, TONE_PLAIN, line->loads);
    table_count(t, TONE_PLAIN, line->stores);
    table_count(t, TONE_PLAIN, line->latency);
    table_percent(t, tone_of_share(latency), latency);
    mean_cell(t, line->latency, line->loads + line->stores);
    table_count(t, TONE_PLAIN, line->threads);
    count_cell(t, line->cpus);
}

static void lines_section(struct page *p)
{
    bool misses = p->c2c->result->basis == SPE_SHARING_MISSES;
    const struct table_column columns[] = {
        {"#", false, 0, 0},      {"address", false, 0, 0}, {"pid", false, 9, 0},
        {"what", true, 0, 18},   {"sharing", true, 0, 7},  {misses ? "L1m" : "peer", false, 0, 0},
        {"share", false, 0, 0},  {"95 %", false, 8, 0},    {"loads", false, 6, 0},
        {"stores", false, 6, 0}, {"latency", false, 5, 0}, {"of all", false, 0, 0},
        {"mean", false, 4, 0},   {"threads", false, 0, 0}, {"CPUs", false, 3, 0},
    };
    struct table t;
    size_t i;

    out_char(p->sheet.out, '\n');
    sheet_title(&p->sheet, misses ? "Cache lines that several threads miss, shares in %"
                                  : "Cache lines that travel between cores, shares in %");
    table_begin(&t, columns, COUNT_OF(columns));
    for (i = 0; i < p->c2c->result->line_count; i++)
        line_row(p, &t, i);
    sheet_table(&p->sheet, &t);
    sheet_wrapped(&p->sheet, 0, "", TONE_QUIET,
                  misses
                      ? "L1m: its loads and stores that missed in L1; share: of them; of all: its "
                        "part of all latency of data"
                      : "peer: its loads that another core's cache served; share: of its loads; of "
                        "all: its part of all latency of data");
}

/* ---- one line -------------------------------------------------------------------------------- */

/* "17,18 +2": tids, most accesses first. */
static void threads_cell(struct page *p, struct table *t, const struct spe_shared_offset *o)
{
    char text[80];
    int used = 0;
    size_t i;

    for (i = 0; i < o->thread_count && i < TIDS; i++) {
        const struct spe_profile_thread *thread =
            o->threads[i].thread != SPE_NO_ID
                ? spe_profile_thread(p->c2c->report.profile, o->threads[i].thread)
                : NULL;

        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", i ? "," : "");
        used += thread ? snprintf(text + used, sizeof(text) - (size_t)used, "%" PRIu32, thread->tid)
                       : snprintf(text + used, sizeof(text) - (size_t)used, "?");
    }
    if (o->thread_count > TIDS)
        snprintf(text + used, sizeof(text) - (size_t)used, " +%zu", o->thread_count - TIDS);
    table_text(t, o->same_used ? TONE_NOTABLE : TONE_PLAIN, text);
}

static void code_cells(struct page *p, struct table *t, const struct spe_shared_user *code)
{
    char name[REPORT_NAME];
    const char *slash;

    c2c_function_name(p->c2c, code, name);
    table_text(t, TONE_PLAIN, name);
    c2c_line_name(p->c2c, code, name);
    slash = strrchr(name, '/');
    table_text(t, TONE_QUIET, slash ? slash + 1 : name);
}

static void use_cells(struct table *t, const struct spe_shared_line *line,
                      const struct spe_shared_user *code)
{
    table_count(t, TONE_PLAIN, code->reads);
    table_count(t, TONE_PLAIN, code->writes);
    if (line->travelled)
        table_percent(t, TONE_PLAIN, share_of(code->travelled, line->travelled));
    else
        table_text(t, TONE_QUIET, "-");
    mean_cell(t, code->latency, code->samples);
}

/* Code beyond the first CODES, as one row. */
static void rest_row(struct table *t, const struct spe_shared_line *line,
                     const struct spe_shared_offset *o)
{
    struct spe_shared_user rest = {0};
    size_t i;

    for (i = CODES; i < o->code_count; i++) {
        rest.samples += o->code[i].samples;
        rest.reads += o->code[i].reads;
        rest.writes += o->code[i].writes;
        rest.travelled += o->code[i].travelled;
        rest.latency += o->code[i].latency;
    }
    table_text(t, TONE_PLAIN, "");
    table_text(t, TONE_PLAIN, "");
    use_cells(t, line, &rest);
    table_text(t, TONE_PLAIN, "");
    table_text(t, TONE_PLAIN, "");
    table_format(t, TONE_QUIET, "+%zu more", o->code_count - CODES);
    table_text(t, TONE_PLAIN, "");
}

/* A row for each instruction; the first has what is the offset's. */
static void offset_rows(struct page *p, struct table *t, const struct spe_shared_line *line,
                        const struct spe_shared_offset *o)
{
    char name[REPORT_NAME];
    size_t i;

    for (i = 0; i < o->code_count && i < CODES; i++) {
        if (i == 0) {
            table_format(t, TONE_PLAIN, "0x%" PRIx32, o->offset);
            c2c_object_name(p->c2c, line, o, name);
            table_text(t, TONE_PLAIN, name);
        } else {
            table_text(t, TONE_PLAIN, "");
            table_text(t, TONE_PLAIN, "");
        }
        use_cells(t, line, &o->code[i]);
        if (i == 0) {
            threads_cell(p, t, o);
            count_cell(t, o->cpus);
        } else {
            table_text(t, TONE_PLAIN, "");
            table_text(t, TONE_PLAIN, "");
        }
        code_cells(p, t, &o->code[i]);
    }
    if (o->code_count > CODES)
        rest_row(t, line, o);
}

static void line_section(struct page *p, size_t number)
{
    const struct spe_shared_line *line = &p->c2c->result->lines[number];
    bool misses = p->c2c->result->basis == SPE_SHARING_MISSES;
    const struct table_column columns[] = {
        {"offset", false, 0, 0},
        {"what", true, 2, 14},
        {"reads", false, 0, 0},
        {"writes", false, 0, 0},
        {misses ? "L1m" : "peer", false, 0, 0},
        {"mean", false, 3, 0},
        {"threads", false, 0, 0},
        {"CPUs", false, 4, 0},
        {"function", true, 0, 12},
        {"source", true, 0, 14},
    };
    char text[REPORT_NAME + 80], name[REPORT_NAME], advice[C2C_ADVICE];
    struct table t;
    size_t i;

    c2c_object_name(p->c2c, line, c2c_hottest(line), name);
    snprintf(text, sizeof(text), "Line %zu at %" PRIx64 "%s%s", number + 1, line->address,
             *name ? ", " : "", name);
    out_char(p->sheet.out, '\n');
    sheet_title(&p->sheet, text);
    table_begin(&t, columns, COUNT_OF(columns));
    for (i = 0; i < line->offset_count; i++)
        offset_rows(p, &t, line, &line->offsets[i]);
    sheet_table(&p->sheet, &t);
    c2c_advice(p->c2c, line, advice);
    sheet_wrapped(&p->sheet, 0, "", TONE_NOTABLE, advice);
}

bool c2c_text(struct out *o, const struct c2c *c2c, unsigned width, bool color)
{
    struct page p = {.sheet = {.out = o, .width = width, .color = color}, .c2c = c2c};
    size_t i;

    header(&p);
    if (c2c->result->line_count) {
        lines_section(&p);
        for (i = 0; i < c2c->result->line_count; i++)
            line_section(&p, i);
        out_char(o, '\n');
        sheet_wrapped(
            &p.sheet, 0, "", TONE_QUIET,
            c2c->result->basis == SPE_SHARING_MISSES
                ? "L1m of an offset: its part of the line's; 95 %: Wilson's interval of the "
                  "share, if samples are independent"
                : "peer of an offset: its part of the line's; 95 %: Wilson's interval of the "
                  "share, if samples are independent");
    }
    return !p.sheet.no_memory;
}
