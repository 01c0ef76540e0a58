/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The report as a page for a terminal. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/count_of.h"
#include "render/cells.h"
#include "render/report.h"
#include "render/safe.h"
#include "render/sheet.h"
#include "render/table.h"
#include "render/text.h"

struct page {
    struct sheet sheet;
    const struct report *report;
    bool begun; /* a section is above */
};

/* ---- header ---------------------------------------------------------------------------------- */

#define LABEL 12

/* A label in its column, and text that goes on below itself where it is too long. The text may hold
 * names from the file. */
static void header_line(struct page *p, const char *label, enum tone tone, const char *text)
{
    sheet_wrapped(&p->sheet, LABEL, label, tone, text);
}

#define TEXT_MAX 4096

static void append_count(struct text *t, uint64_t count, const char *what)
{
    char digits[32];

    text_grouped(digits, count);
    text_add(t, "%s %s%s", digits, what, count == 1 ? "" : "s");
}

/* Parts with commas between them; NULL and "" are left out. */
static void append_part(struct text *t, const char *part)
{
    if (part && *part)
        text_add(t, "%s%s", t->used ? ", " : "", part);
}

static void machine_line(struct page *p)
{
    const struct spe_profile_info *info = p->report->info;
    char bytes[TEXT_MAX];
    struct text t = TEXT_IN(bytes);

    append_part(&t, info->hostname);
    append_part(&t, info->osrelease);
    append_part(&t, info->arch);
    if (info->cpus_online)
        text_add(&t, "%s%" PRIu32 "%s CPU%s", t.used ? ", " : "", info->cpus_online,
                 info->simulated ? " modelled" : "", info->cpus_online == 1 ? "" : "s");
    if (t.used)
        header_line(p, "machine", TONE_PLAIN, t.bytes);
}

static void cpu_line(struct page *p)
{
    const struct spe_profile_info *info = p->report->info;
    const char *version = report_spe_version(p->report);
    char bytes[TEXT_MAX];
    struct text t = TEXT_IN(bytes);
    size_t known = 0, i;

    if (info->cpu) {
        text_add(&t, "%s", info->cpu->title);
    } else {
        for (i = 0; i < info->cpu_count; i++)
            known += info->cpus[i].cpu != NULL;
        text_add(&t, "%s", known ? "of several kinds" : "not known");
        if (!known && info->cpu_count && info->cpus[0].midr)
            text_add(&t, " (MIDR 0x%" PRIx64 ")", info->cpus[0].midr);
        if (!known && !info->simulated)
            append_part(&t, info->cpudesc);
    }
    text_add(&t, version ? ", SPE%s" : ", SPE version not known", version ? version : "");
    if (info->cpu && !info->cpu->sources)
        text_add(&t, ", its data sources are not known");
    header_line(p, "CPU", TONE_PLAIN, t.bytes);
    if (info->simulated)
        header_line(p, "", TONE_NOTABLE,
                    info->model_note ? info->model_note : "made by a model, not by hardware");
}

static void command_line(struct page *p)
{
    char command[REPORT_COMMAND];

    report_command(p->report->info, command);
    if (command[0])
        header_line(p, "command", TONE_PLAIN, command);
}

static void duration_line(struct page *p)
{
    const struct spe_profile_counts *counts = p->report->counts;
    char bytes[TEXT_MAX];
    struct text t = TEXT_IN(bytes);

    if (p->report->info->timed && !counts->rows && (counts->cut || counts->filtered))
        text_add(&t, "not known: no sample was chosen");
    else if (!p->report->info->timed || counts->last_ns < counts->first_ns || !counts->last_ns)
        text_add(&t, "not known: the records have no time");
    else
        text_add(&t, "%.6f s, samples from %.6fs to %.6fs",
                 (double)(counts->last_ns - counts->first_ns) * 1e-9,
                 (double)counts->first_ns * 1e-9, (double)counts->last_ns * 1e-9);
    header_line(p, "duration", TONE_PLAIN, t.bytes);
}

/* PMSIRR_EL1.RND: 0 to 255 operations more, or with FEAT_SPE_ERnd any of 256 of them (D17.3.2). */
static void append_interval(struct text *t, const struct spe_profile_info *info)
{
    bool jitter = info->config & SPE_CONFIG_JITTER;

    if (!info->period)
        return;
    text_add(t, ", one in %" PRIu64, info->period);
    if (jitter && !(info->features & SPE_FEAT(SPE_ERnd)))
        text_add(t, " to %" PRIu64, info->period + 255);
    text_add(t, " operations%s", jitter ? " at random" : "");
}

static void samples_line(struct page *p)
{
    const struct spe_profile_counts *counts = p->report->counts;
    char bytes[TEXT_MAX];
    struct text t = TEXT_IN(bytes);

    append_count(&t, counts->rows, "sample");
    append_interval(&t, p->report->info);
    if (counts->cut) {
        text_add(&t, ", ");
        append_count(&t, counts->cut, "other");
        text_add(&t, " outside the cut");
    }
    if (p->report->filter) {
        text_add(&t, ", ");
        append_count(&t, counts->filtered, "other");
        text_add(&t, " not matching %s", p->report->filter);
    }
    header_line(p, "samples", TONE_PLAIN, t.bytes);
}

/* What has no stack is said: nobody should take a part for the whole. */
static void stacks_line(struct page *p)
{
    const struct report *r = p->report;
    char bytes[TEXT_MAX];
    struct text t = TEXT_IN(bytes);

    if (!r->info->stacks)
        return;
    if (r->info->other_event) {
        text_add(&t, "none of these samples has one; ");
        append_count(&t, r->info->other_stacks, "stack");
        text_add(&t,
                 " of another event (%s) show the callers of a function: its samples are "
                 "divided among them",
                 r->info->other_event);
    } else if (r->wants_stacks && !r->counts->stacks) {
        text_add(&t, "no sample has one: those of the recording are of another event than SPE's");
    } else if (r->wants_stacks) {
        char digits[32];

        text_grouped(digits, r->counts->stacks);
        text_add(&t, "%s of ", digits);
        append_count(&t, r->counts->rows, "sample");
        text_add(&t, " have one");
    } else {
        append_count(&t, r->info->stacks, "call stack");
        text_add(&t, "; -g and --by caller show them");
    }
    header_line(p, "call stacks", TONE_PLAIN, t.bytes);
}

static void lost_line(struct page *p)
{
    const struct spe_profile_counts *c = p->report->counts;
    bool bad = c->lost || c->aux_truncated || c->aux_collision || c->aux_partial;
    char bytes[TEXT_MAX];
    struct text t = TEXT_IN(bytes);

    if (p->report->info->raw) {
        header_line(p, "lost", TONE_PLAIN, "not known: raw SPE bytes do not say");
        return;
    }
    append_count(&t, c->lost, "record");
    text_add(&t, "; ");
    append_count(&t, c->aux_truncated, "buffer");
    text_add(&t, " truncated, ");
    text_add(&t, "%" PRIu64 " with collisions, %" PRIu64 " with gaps", c->aux_collision,
             c->aux_partial);
    header_line(p, "lost", bad ? TONE_HOT : TONE_GOOD, t.bytes);
}

static void decoded_line(struct page *p)
{
    const struct spe_account *a = &p->report->counts->account;
    uint64_t in_file = p->report->counts->file.skipped_bytes;
    char bytes[TEXT_MAX];
    struct text t = TEXT_IN(bytes);
    unsigned i;

    append_count(&t, a->skipped_bytes, "byte");
    text_add(&t, " of ");
    append_count(&t, a->bytes, "SPE byte");
    for (i = 0; i < SPE_SKIP_REASON_COUNT; i++) {
        if (a->skipped_by[i])
            text_add(&t, "; %s: %" PRIu64, spe_skip_reason_name(i), a->skipped_by[i]);
    }
    if (a->unknown)
        text_add(&t, "; %" PRIu64 " unknown packet%s stepped over", a->unknown,
                 a->unknown == 1 ? "" : "s");
    if (in_file)
        text_add(&t, "; and %" PRIu64 " bytes of the file", in_file);
    header_line(p, "not decoded", a->skipped_bytes || in_file ? TONE_HOT : TONE_GOOD, t.bytes);
}

static void file_line(struct page *p)
{
    const struct spe_profile_info *info = p->report->info;
    char bytes[TEXT_MAX];
    struct text t = TEXT_IN(bytes);

    text_add(&t, "%s, %.1f MB, %.1f MB of it SPE", p->report->file, (double)info->bytes * 1e-6,
             (double)info->aux_bytes * 1e-6);
    header_line(p, "file", TONE_PLAIN, t.bytes);
    if (info->truncated)
        header_line(p, "", TONE_HOT, "the file is shorter than it should be");
    if (info->incomplete)
        header_line(p, "", TONE_HOT, "the recording is not complete: it ends at the last flush");
    if (info->unterminated)
        header_line(p, "", TONE_HOT, "the recording was killed: it ends at the last flush");
}

static void title(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void title(struct page *p, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (p->begun)
        out_char(p->sheet.out, '\n');
    p->begun = true;
    sheet_title(&p->sheet, text);
}

static void header(struct page *p)
{
    size_t i;

    title(p, "Recording");
    file_line(p);
    machine_line(p);
    cpu_line(p);
    command_line(p);
    duration_line(p);
    samples_line(p);
    stacks_line(p);
    lost_line(p);
    decoded_line(p);
    for (i = 0; !p->report->quiet && spe_profile_warning(p->report->profile, i); i++)
        header_line(p, i ? "" : "warnings", TONE_NOTABLE,
                    spe_profile_warning(p->report->profile, i));
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void latency_cell(struct table *t, const struct spe_latency_summary *l, uint16_t value)
{
    if (!l->samples)
        table_text(t, TONE_QUIET, "-");
    else
        table_format(t, TONE_PLAIN, "%u%s", value,
                     l->saturated_at && value >= l->saturated_at ? "+" : "");
}

static void remark(struct page *p, const char *text)
{
    sheet_wrapped(&p->sheet, 0, "", TONE_QUIET, text);
}

/* ---- sections -------------------------------------------------------------------------------- */

static void mix_section(struct page *p)
{
    static const struct table_column columns[] = {
        {"operation", true, 0, 16}, {"samples", false, 0, 0},     {"share", false, 0, 0},
        {"95 %", false, 0, 0},      {"mean cycles", false, 0, 0},
    };
    const struct report *r = p->report;
    struct table t;
    size_t i;

    title(p, "Operations, shares in %%");
    table_begin(&t, columns, COUNT_OF(columns));
    for (i = 0; i < r->mix_count; i++) {
        const struct spe_mix *m = &r->mix[i];
        double share = share_of(m->samples, r->totals.samples);

        table_format(&t, m->is_class ? TONE_PLAIN : TONE_QUIET, "%s%s", m->is_class ? "" : "  ",
                     m->name);
        table_count(&t, TONE_PLAIN, m->samples);
        table_percent(&t, TONE_PLAIN, share);
        interval_cell(&t, m->samples, r->totals.samples);
        mean_cell(&t, m->latency, m->latency_samples);
    }
    sheet_table(&p->sheet, &t);
}

/* Of what an event is a share: an event of branches says little as a share of everything. */
static uint64_t event_base(const struct spe_counts *totals, unsigned event, const char **name)
{
    switch (event) {
    case SPE_EVENT_NOT_TAKEN:
    case SPE_EVENT_MISPREDICTED:
        *name = "branches";
        return totals->branches;
    case SPE_EVENT_L1D_ACCESS:
    case SPE_EVENT_L1D_MISS:
    case SPE_EVENT_TLB_ACCESS:
    case SPE_EVENT_TLB_WALK:
    case SPE_EVENT_LLC_ACCESS:
    case SPE_EVENT_LLC_MISS:
    case SPE_EVENT_REMOTE:
    case SPE_EVENT_MISALIGNED:
    case SPE_EVENT_L2D_ACCESS:
    case SPE_EVENT_L2D_MISS:
    case SPE_EVENT_MODIFIED:
    case SPE_EVENT_RECENTLY_FETCHED:
    case SPE_EVENT_SNOOPED:
        *name = "loads and stores";
        return totals->memory;
    default:
        *name = "samples";
        return totals->samples;
    }
}

static void event_name_cell(struct table *t, const struct report *r, unsigned event)
{
    const char *name = spe_event_name(event);

    if (r->info->cpu && spe_cpu_event_name(r->info->cpu, event))
        name = spe_cpu_event_name(r->info->cpu, event);
    if (name)
        table_text(t, TONE_PLAIN, name);
    else
        table_format(t, TONE_PLAIN, "event %u", event);
}

static void events_section(struct page *p)
{
    static const struct table_column columns[] = {
        {"event", true, 0, 12}, {"samples", false, 0, 0}, {"share", false, 0, 0},
        {"95 %", false, 0, 0},  {"of", true, 0, 4},
    };
    const struct report *r = p->report;
    struct table t;
    unsigned i;

    title(p, "Events, in %% (a sample can have several: they do not add up)");
    table_begin(&t, columns, COUNT_OF(columns));
    for (i = 0; i < 64; i++) {
        const char *of;
        uint64_t base = event_base(&r->totals, i, &of);

        if (!r->events[i])
            continue;
        if (r->events[i] > base) { /* IMPLEMENTATION DEFINED on other operations, or a wrong bit */
            base = r->totals.samples;
            of = "samples";
        }
        event_name_cell(&t, r, i);
        table_count(&t, TONE_PLAIN, r->events[i]);
        table_percent(&t, TONE_PLAIN, share_of(r->events[i], base));
        interval_cell(&t, r->events[i], base);
        table_text(&t, TONE_QUIET, of);
    }
    sheet_table(&p->sheet, &t);
}

static enum tone served_tone(unsigned served)
{
    switch (served) {
    case SPE_LEVEL_L1:
    case SPE_SERVED_L1_HIT:
        return TONE_GOOD;
    case SPE_LEVEL_REMOTE_CACHE:
    case SPE_LEVEL_DRAM:
    case SPE_LEVEL_REMOTE_DRAM:
    case SPE_SERVED_REMOTE:
    case SPE_SERVED_BEYOND_LLC:
        return TONE_HOT;
    case SPE_SERVED_UNKNOWN:
        return TONE_QUIET;
    default:
        return TONE_NOTABLE;
    }
}

static void served_section(struct page *p)
{
    static const struct table_column columns[] = {
        {"served by", true, 0, 18}, {"by", true, 3, 6},      {"loads", false, 0, 0},
        {"share", false, 0, 0},     {"95 %", false, 5, 0},   {"latency", false, 0, 0},
        {"mean", false, 0, 0},      {"median", false, 0, 0}, {"p95", false, 0, 0},
        {"p99", false, 0, 0},       {"max", false, 4, 0},
    };
    const struct report *r = p->report;
    uint64_t loads = 0, latency = 0, saturated = 0;
    struct table t;
    size_t i;

    for (i = 0; i < r->served_count; i++) { /* every load is in one row: this sum is right */
        loads += r->served[i].loads;
        latency += r->served[i].latency.sum;
        saturated += r->served[i].latency.saturated;
    }
    if (!loads)
        return;
    title(p, "Where loads were served, shares in %%, total latency in cycles");
    table_begin(&t, columns, COUNT_OF(columns));
    for (i = 0; i < r->served_count; i++) {
        const struct spe_served_row *row = &r->served[i];
        const struct spe_latency_summary *l = &row->latency;

        table_text(&t, served_tone(row->served), spe_served_name(row->served));
        table_text(&t, TONE_QUIET,
                   row->by_source                      ? "source"
                   : row->served == SPE_SERVED_UNKNOWN ? "nothing"
                                                       : "events");
        table_count(&t, TONE_PLAIN, row->loads);
        table_percent(&t, TONE_PLAIN, share_of(row->loads, loads));
        interval_cell(&t, row->loads, loads);
        table_percent(&t, tone_of_share(share_of(l->sum, latency)), share_of(l->sum, latency));
        mean_cell(&t, l->sum, l->samples);
        latency_cell(&t, l, l->median);
        latency_cell(&t, l, l->p95);
        latency_cell(&t, l, l->p99);
        latency_cell(&t, l, l->max);
    }
    sheet_table(&p->sheet, &t);
    if (saturated)
        remark(p, "+: the counter was full, the latency is that or more; means are too low");
}

static bool is_pair(enum spe_group_by by)
{
    return by >= SPE_BY_FUNCTION_THREAD;
}

/* What stands beside the name of a group; "" where there is no such column. */
static void second_name(const struct report *r, enum spe_group_by by, const struct spe_group *group,
                        char name[REPORT_NAME])
{
    name[0] = '\0';
    if (by == SPE_BY_FUNCTION_LINE) {
        report_line_name(r, group->line, name);
        if (!name[0])
            snprintf(name, REPORT_NAME, "[no line]");
    } else if (by == SPE_BY_FUNCTION || by == SPE_BY_CALLER) {
        snprintf(name, REPORT_NAME, "%s", report_dso_name(r, group->dso));
    } else if (by == SPE_BY_PC) {
        report_symbol_name(r, group->symbol, name);
    } else if (is_pair(by)) {
        report_task_name(r, by, group, name);
    }
}

/* The columns of names: one, or two. */
static void name_columns(enum spe_group_by by, struct table_column columns[2])
{
    if (by == SPE_BY_FUNCTION_LINE) {
        columns[0].title = "function";
        columns[1] = (struct table_column){"line", true, 0, 14};
    } else if (by == SPE_BY_PC) {
        columns[1] = (struct table_column){"function", true, 0, 14};
    } else if (is_pair(by)) {
        columns[0] = (struct table_column){report_by_name(spe_group_by_code(by)), true, 0, 14};
        columns[1] = (struct table_column){report_by_name(spe_group_by_task(by)), true, 0,
                                           spe_group_by_task(by) == SPE_BY_THREAD ? 20 : 12};
    } else if (by != SPE_BY_FUNCTION && by != SPE_BY_CALLER) {
        columns[1].title = NULL;
    }
}

static void group_row(struct page *p, struct table *t, const struct report_groups *g, size_t i)
{
    const struct spe_counts *all = &p->report->totals, *c = &g->groups[i].counts;
    double share = share_of(c->samples, all->samples), latency = share_of(c->latency, all->latency);
    char name[REPORT_NAME];

    report_group_name(p->report, g->by, &g->groups[i], name);
    table_text(t, TONE_PLAIN, name);
    second_name(p->report, g->by, &g->groups[i], name);
    table_text(t, g->by == SPE_BY_FUNCTION || g->by == SPE_BY_CALLER ? TONE_QUIET : TONE_PLAIN,
               name);
    table_count(t, TONE_PLAIN, c->samples);
    table_percent(t, tone_of_share(share), share);
    interval_cell(t, c->samples, all->samples);
    table_percent(t, tone_of_share(latency), latency);
    mean_cell(t, c->latency, c->timed);
    miss_cell(t, c->l1_misses, c->memory);
    miss_cell(t, c->llc_misses, c->memory);
    miss_cell(t, c->tlb_walks, c->memory);
    miss_cell(t, c->mispredicted, c->branches);
}

/* Without lines the list by line is the list by function again. */
static bool has_no_lines(const struct report_groups *g)
{
    if (!g->by_default || g->by != SPE_BY_LINE)
        return false;
    for (size_t i = 0; i < g->count; i++) {
        if (g->groups[i].line != SPE_NO_ID)
            return false;
    }
    return true;
}

static void group_section(struct page *p, const struct report_groups *g)
{
    static const char *const titles[SPE_BY_COUNT] = {
        [SPE_BY_FUNCTION] = "functions",
        [SPE_BY_LINE] = "lines",
        [SPE_BY_FUNCTION_LINE] = "functions and lines",
        [SPE_BY_DSO] = "programs and libraries",
        [SPE_BY_THREAD] = "threads",
        [SPE_BY_CPU] = "CPUs",
        [SPE_BY_PROCESS] = "processes",
        [SPE_BY_COMM] = "names of threads",
        [SPE_BY_PC] = "instructions",
        [SPE_BY_CALLER] = "callers",
    };
    enum spe_group_by code = spe_group_by_code(g->by), task = spe_group_by_task(g->by);
    const char *first = titles[code != SPE_BY_COUNT ? code : task];
    const char *second = is_pair(g->by) ? titles[task] : NULL;
    struct table_column columns[] = {
        {report_by_name(g->by), true, 0, 28},
        {"dso", true, 8, 8},
        {"samples", false, 0, 0},
        {"share", false, 0, 0},
        {"95 %", false, 9, 0},
        {"lat", false, 0, 0},
        {"mean", false, 1, 0},
        {"L1m", false, 2, 0},
        {"LLCm", false, 4, 0},
        {"TLB", false, 3, 0},
        {"misp", false, 0, 0},
    };
    bool shared = report_is_shared(p->report, g->by);
    struct table t;
    size_t i;

    if (!g->count || has_no_lines(g))
        return;
    title(p, "Hottest %s%s%s by %s, %zu of %zu, in %%%s%s", first, second ? " with " : "",
          second ? second : "", report_sort_name(p->report->sort), g->count, g->of,
          shared ? "; callers by " : "", shared ? p->report->info->other_event : "");
    name_columns(g->by, columns);
    if (shared)
        columns[4].title = NULL;
    table_begin(&t, columns, COUNT_OF(columns));
    for (i = 0; i < g->count; i++)
        group_row(p, &t, g, i);
    sheet_table(&p->sheet, &t);
}

static void calls_section(struct page *p)
{
    if (!p->report->calls)
        return;
    title(p, "Call paths of the functions above, in %% of all %s%s%s",
          p->report->sort == SPE_SORT_LATENCY ? "latency" : "samples",
          p->report->info->other_event ? "; callers by " : "",
          p->report->info->other_event ? p->report->info->other_event : "");
    p->sheet.no_memory |= !report_calls_text(p->sheet.out, p->report);
}

static void groups_remark(struct page *p)
{
    const struct report *r = p->report;

    if (r->table_count && r->tables[0].count)
        remark(p,
               "lat: of all latency; L1m, LLCm, TLB: of its loads and stores; misp: of branches");
    for (size_t i = 0; i < r->table_count; i++) {
        if (r->tables[i].count && has_no_lines(&r->tables[i]))
            remark(p, "no lines: none of the hottest code has debug information (compile with -g)");
    }
}

static void branch_section(struct page *p)
{
    static const struct table_column columns[] = {
        {"pc", false, 0, 0},      {"function", true, 0, 18}, {"line", true, 1, 18},
        {"mispred", false, 0, 0}, {"of all", false, 2, 0},   {"samples", false, 0, 0},
        {"rate", false, 0, 0},    {"95 %", false, 3, 0},     {"not taken", false, 4, 0},
        {"mean", false, 5, 0},
    };
    const struct report *r = p->report;
    char name[REPORT_NAME];
    struct table t;
    size_t i;

    if (!r->branch_count)
        return;
    title(p, "Branches with the most mispredictions, in %%");
    table_begin(&t, columns, COUNT_OF(columns));
    for (i = 0; i < r->branch_count; i++) {
        const struct spe_branch *b = &r->branches[i];
        double of_all = share_of(b->mispredicted, r->totals.mispredicted);

        table_format(&t, TONE_PLAIN, "%" PRIx64, b->pc);
        report_place_name(r, b, name);
        table_text(&t, TONE_PLAIN, name);
        report_line_name(
            r, b->map == SPE_NO_ID ? SPE_NO_ID : spe_profile_find_line(r->profile, b->map, b->pc),
            name);
        table_text(&t, TONE_QUIET, name);
        table_count(&t, TONE_PLAIN, b->mispredicted);
        table_percent(&t, tone_of_share(of_all), of_all);
        table_count(&t, TONE_PLAIN, b->samples);
        miss_cell(&t, b->mispredicted, b->samples);
        interval_cell(&t, b->mispredicted, b->samples);
        table_percent(&t, TONE_PLAIN, share_of(b->not_taken, b->samples));
        mean_cell(&t, b->latency, b->samples);
    }
    sheet_table(&p->sheet, &t);
    if (r->branch_error) {
        char bytes[TEXT_MAX];
        struct text text = TEXT_IN(bytes);

        text_add(&text, "each count may be too small by up to %" PRIu64, r->branch_error);
        remark(p, text.bytes);
    }
}

static void data_row(struct page *p, struct table *t, const struct spe_data *d)
{
    const struct report *r = p->report;
    double share = share_of(d->latency, r->data_summary.latency);
    char name[REPORT_NAME];

    table_format(t, TONE_PLAIN, "%" PRIx64, d->address);
    if (d->pid == SPE_NO_TASK)
        table_text(t, TONE_PLAIN, "kernel");
    else
        table_format(t, TONE_PLAIN, "%" PRIu32, d->pid);
    table_count(t, TONE_PLAIN, d->latency);
    table_percent(t, tone_of_share(share), share);
    table_count(t, TONE_PLAIN, d->samples);
    mean_cell(t, d->latency, d->samples);
    table_count(t, TONE_PLAIN, d->loads);
    table_count(t, TONE_PLAIN, d->stores);
    miss_cell(t, d->l1_misses, d->samples);
    miss_cell(t, d->shared, d->samples);
    table_text(t, d->several_threads ? TONE_NOTABLE : TONE_QUIET,
               d->several_threads ? "several" : "one");
    report_data_name(r, d, name);
    table_text(t, TONE_PLAIN, name);
}

/* There were more places than were kept. */
static void remark_errors(struct page *p)
{
    const struct report *r = p->report;
    char bytes[TEXT_MAX];
    struct text text = TEXT_IN(bytes);
    uint64_t error = 0;
    size_t i;

    if (!r->data_summary.missing)
        return;
    for (i = 0; i < r->data_count; i++)
        error = r->data[i].error > error ? r->data[i].error : error;
    text_add(&text, "more places than were kept: a latency may be too small by up to ");
    append_count(&text, error, "cycle");
    text_add(&text, ", and a place with up to ");
    append_count(&text, r->data_summary.missing, "cycle");
    text_add(&text, " may be missing");
    remark(p, text.bytes);
}

static void data_section(struct page *p)
{
    static const struct table_column columns[] = {
        {"address", false, 0, 0}, {"pid", false, 1, 0},     {"latency", false, 0, 0},
        {"share", false, 0, 0},   {"samples", false, 0, 0}, {"mean", false, 0, 0},
        {"loads", false, 5, 0},   {"stores", false, 4, 0},  {"L1m", false, 3, 0},
        {"shared", false, 0, 0},  {"threads", true, 2, 0},  {"what", true, 0, 18},
    };
    const struct report *r = p->report;
    struct table t;
    size_t i;

    if (!r->data_count)
        return;
    title(p, "Data with the most latency, by %s of %u bytes, shares in %%",
          r->data_summary.shift > 9 ? "page" : "line", 1u << r->data_summary.shift);
    table_begin(&t, columns, COUNT_OF(columns));
    for (i = 0; i < r->data_count; i++)
        data_row(p, &t, &r->data[i]);
    sheet_table(&p->sheet, &t);
    remark(
        p,
        "shared: of its samples, those that came from another core's cache or met modified data");
    remark_errors(p);
}

static void types_section(struct page *p)
{
    const struct types_page page = {&p->sheet, p->report->profile, &p->report->types};

    if (types_wanted(&p->report->types))
        types_text(&page);
}

/* What people look for first: it fits on the first screen. */
static void answers(struct page *p)
{
    const struct report *r = p->report;
    size_t i;

    if (r->finding_count)
        title(p, "Findings");
    if (!findings_text(p->sheet.out, r, p->sheet.width, p->sheet.color))
        p->sheet.no_memory = true;
    for (i = 0; i < r->table_count; i++)
        group_section(p, &r->tables[i]);
    groups_remark(p);
    types_section(p);
    calls_section(p);
    if (r->times.count)
        title(p, "Over time, %zu bins of %.6f s, from %.6fs", r->times.count,
              (double)r->times.bin_ns * 1e-9, (double)r->times.from_ns * 1e-9);
    times_text(p->sheet.out, r);
}

bool report_text(struct out *o, const struct report *report, unsigned width, bool color)
{
    struct page p = {.sheet = {.out = o, .width = width, .color = color}, .report = report};
    bool empty = !report->totals.samples || report->header_only;

    if (!empty)
        answers(&p);
    header(&p);
    if (!empty) {
        served_section(&p);
        branch_section(&p);
        data_section(&p);
        mix_section(&p);
        events_section(&p);
        out_char(o, '\n');
        remark(&p, "95 %: Wilson's interval of the share, if samples are independent");
    }
    return !p.sheet.no_memory;
}
