/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/report_page.h"

#include <stdlib.h>

#include "cli/functions.h"
#include "cli/recording.h"
#include "cli/report_types.h"

/* ---- the first pass -------------------------------------------------------------------------- */

/* again: there is another pass behind this one. */
static int find_sharing(struct report_page *p, enum spe_sharing_basis basis, bool again)
{
    struct spe_sharing_config config = {
        .size = sizeof(config), .basis = basis, .top = HTML_LINES, .again = again};

    spe_sharing_destroy(p->sharing);
    p->sharing = NULL;
    return spe_sharing_create(&p->sharing, &config);
}

struct first_pass {
    struct spe_analysis *analysis;
    struct spe_sharing *sharing;
};

static int first_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    struct first_pass *pass = user;
    int result = spe_analysis_add(pass->analysis, profile, rows);

    if (result == SPE_OK)
        result = spe_sharing_find(pass->sharing, rows);
    return result < 0 ? result : 1;
}

int report_page_analyse(struct report_page *p, const struct report *report,
                        struct spe_analysis *analysis)
{
    int error = find_sharing(p, spe_sharing_basis_of(report->info), true);
    struct first_pass pass = {analysis, p->sharing};

    if (error == SPE_OK)
        error = recording_rows(report->profile, report->file, first_rows, &pass);
    return error < 0 ? error : recording_finish(report->profile, report->file, analysis);
}

/* ---- the second pass ------------------------------------------------------------------------- */

struct second_pass {
    struct spe_annotation *annotation;
    struct spe_lanes *lanes;     /* or NULL */
    struct spe_slices *slices;   /* or NULL */
    struct spe_types *types;     /* or NULL */
    struct spe_sharing *sharing; /* or NULL: nothing is left to do */
    bool find;                   /* with another basis; else who uses the lines */
};

static int second_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    struct second_pass *pass = user;
    int result = spe_annotation_add(pass->annotation, profile, rows);

    if (pass->lanes)
        spe_lanes_add(pass->lanes, rows);
    if (result == SPE_OK && pass->slices)
        result = spe_slices_add(pass->slices, profile, rows);
    if (result == SPE_OK && pass->types)
        result = spe_types_add(pass->types, profile, rows);
    if (result == SPE_OK && pass->sharing)
        result = pass->find ? spe_sharing_find(pass->sharing, rows)
                            : spe_sharing_add(pass->sharing, rows);
    return result < 0 ? result : 1;
}

static int third_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = spe_sharing_add(user, rows);

    (void)profile;
    return result < 0 ? result : 1;
}

/* What the second pass has to do for shared lines: nothing, in most recordings. */
static int prepare_sharing(struct report_page *p, const struct report *report,
                           struct second_pass *pass)
{
    enum spe_sharing_basis next =
        spe_sharing_next_basis(spe_sharing_result(p->sharing), report->info);
    int result;

    if (next != SPE_SHARING_BASIS_COUNT) {
        result = find_sharing(p, next, false);
        pass->find = true;
        pass->sharing = p->sharing;
        return result;
    }
    result = spe_sharing_choose(p->sharing);
    pass->sharing = result > 0 ? p->sharing : NULL;
    return result < 0 ? result : SPE_OK;
}

static int finish_sharing(struct report_page *p, const struct report *report,
                          const struct second_pass *pass)
{
    int result = pass->find ? spe_sharing_choose(p->sharing) : SPE_OK;

    if (result > 0) {
        result = spe_profile_rewind(report->profile);
        if (result == SPE_OK)
            result = recording_rows(report->profile, report->file, third_rows, p->sharing);
    }
    return result < 0 ? result : spe_sharing_finish(p->sharing);
}

/* Of those that the page always has. */
static const struct report_groups *list_by(const struct report *report, enum spe_group_by by)
{
    const struct report_groups *list = report->tables;

    while (list->by != by)
        list++;
    return list;
}

/* Where most samples are of no known thread, CPUs: as many as there is room for. */
static void list_cpus(struct report_page *p, const struct spe_profile_info *info)
{
    struct report_groups *list = &p->cpus;

    list->by = SPE_BY_CPU;
    list->groups = p->cpu_groups;
    list->of = info->cpu_count;
    for (list->count = 0; list->count < list->of && list->count < HTML_LANES; list->count++)
        list->groups[list->count].id = info->cpus[list->count].number;
}

static int choose_lanes(struct report_page *p, const struct report *report)
{
    const struct report_groups *list = list_by(report, SPE_BY_THREAD);
    uint32_t ids[HTML_LANES];
    size_t count;

    list_cpus(p, report->info);
    if (list->count && list->groups[0].id == SPE_NO_ID && p->cpus.count)
        list = &p->cpus;
    p->page.lane_ids = list;
    for (count = 0; count < list->count && count < HTML_LANES; count++)
        ids[count] = list->groups[count].id;
    p->page.lane_count = count;
    return spe_lanes_create(&p->lanes, list->by, ids, count, &report->times);
}

static int choose_functions(struct report_page *p, const struct report *report)
{
    const struct report_groups *list = list_by(report, SPE_BY_FUNCTION);
    struct spe_code_choice choices[HTML_FUNCTIONS];
    size_t count;

    p->page.functions = list;
    for (count = 0; count < list->count && count < HTML_FUNCTIONS; count++)
        choices[count] =
            (struct spe_code_choice){list->groups[count].symbol, list->groups[count].dso};
    return spe_annotation_create(&p->annotation, choices, count);
}

/* Lists that are not counted over time, as pairs are, stay what they are. */
static int slice_lists(struct spe_slices *slices, const struct report *r)
{
    int error = spe_slices_branches(slices, r->branches, r->branch_count);

    for (size_t i = 0; i < r->table_count && (error == SPE_OK || error == SPE_ERR_INVALID); i++)
        error = spe_slices_groups(slices, r->tables[i].by, r->tables[i].groups, r->tables[i].count);
    if (error == SPE_OK || error == SPE_ERR_INVALID)
        error = spe_slices_mix(slices, r->mix, r->mix_count);
    if (error == SPE_OK)
        error = spe_slices_data(slices, r->data, r->data_count, r->data_summary.shift);
    return error;
}

static int prepare_time(struct report_page *p, const struct report *report)
{
    int error;

    if (!report->times.count)
        return SPE_OK;
    error = choose_lanes(p, report);
    if (error == SPE_OK)
        error = spe_slices_create(&p->slices, &report->times);
    return error == SPE_OK ? slice_lists(p->slices, report) : error;
}

/* Types come from debug information: with it, some line is known. */
static int prepare_types(struct report_page *p, const struct report *report)
{
    const struct report_groups *lines = list_by(report, SPE_BY_LINE);
    bool known = false;
    int error;

    for (size_t i = 0; i < lines->count; i++)
        known |= lines->groups[i].line != SPE_NO_ID;
    if (!known)
        return SPE_OK;
    error = spe_types_create(&p->types, SPE_TYPES_OBJECTS | SPE_TYPES_TYPES);
    if (error == SPE_OK && report->times.count)
        error = spe_types_over_time(p->types, &report->times);
    return error;
}

static size_t limited(size_t count)
{
    return count < SPE_SLICE_ROWS ? count : SPE_SLICE_ROWS;
}

static int slice_types(struct report_page *p)
{
    const struct report_types *t = &p->report_types;
    int error = spe_types_slices(p->types, t->types, limited(t->type_count), &p->page.type_slices);

    if (error == SPE_OK)
        error = spe_types_slices(p->types, t->members, limited(t->member_count),
                                 &p->page.member_slices);
    if (error == SPE_OK)
        error = spe_types_object_slices(p->types, t->objects, limited(t->object_count),
                                        &p->page.object_slices);
    return error;
}

/* The first `top` of each list, and pictures of the first types. */
static int ask_types(struct report_page *p, const struct report *report, size_t top)
{
    if (!p->types)
        return SPE_OK;
    p->report_types.by_member = true;
    if (!types_ask(&p->report_types, p->types, report->profile, SPE_SORT_LATENCY, top))
        return SPE_ERR_NOMEM;
    p->page.types = &p->report_types;
    return p->slices ? slice_types(p) : SPE_OK;
}

/* Those that were chosen by now: of another basis they are not known before the rows have been read
 * once more. */
static int slice_lines(struct report_page *p, const struct second_pass *pass)
{
    const struct spe_sharing_result *result = spe_sharing_result(p->sharing);

    if (!p->slices || pass->find)
        return SPE_OK;
    p->page.candidates = p->candidates;
    p->page.candidate_count = spe_sharing_candidates(p->sharing, p->candidates, SPE_SLICE_ROWS);
    return spe_slices_lines(p->slices, p->candidates, p->page.candidate_count, result->basis,
                            result->shift);
}

static int read_again(struct report_page *p, const struct report *report)
{
    struct second_pass pass = {
        .annotation = p->annotation, .lanes = p->lanes, .slices = p->slices, .types = p->types};
    int error = prepare_sharing(p, report, &pass);

    if (error == SPE_OK)
        error = slice_lines(p, &pass);
    if (error == SPE_OK)
        error = spe_profile_rewind(report->profile);
    if (error == SPE_OK)
        error = recording_rows(report->profile, report->file, second_rows, &pass);
    if (error == SPE_OK && p->slices)
        spe_slices_finish(p->slices);
    if (error == SPE_OK)
        error = spe_annotation_finish(p->annotation);
    return error < 0 ? error : finish_sharing(p, report, &pass);
}

static bool describe(struct report_page *p, const struct report *report)
{
    p->sources.recorded = recording_made_at(report->file);
    p->annotate.file = report->file;
    p->annotate.profile = report->profile;
    p->annotate.sources = &p->sources;
    return functions_describe(&p->annotate, report->profile, p->annotation);
}

int report_page_complete(struct report_page *p, const struct report *report,
                         const struct spe_analysis *analysis, size_t top)
{
    int error = choose_functions(p, report);

    if (error == SPE_OK)
        error = prepare_time(p, report);
    if (error == SPE_OK)
        error = prepare_types(p, report);
    if (error == SPE_OK)
        error = read_again(p, report);
    if (error == SPE_OK)
        error = ask_types(p, report, top);
    if (error < 0)
        return error;
    if (!describe(p, report))
        return SPE_ERR_NOMEM;
    for (unsigned served = 0; served < SPE_SERVED_COUNT; served++)
        spe_analysis_latencies(analysis, served, p->page.latencies[served]);
    p->c2c.report = *report;
    p->c2c.result = spe_sharing_result(p->sharing);
    p->page.report = report;
    p->page.annotate = &p->annotate;
    for (unsigned i = 0; i < 2; i++)
        p->page.changes[i] = p->changes.page[i].result ? &p->changes.page[i] : NULL;
    p->page.lanes = p->lanes;
    p->page.slices = p->slices;
    p->page.no_sharing = c2c_nothing(p->c2c.result);
    p->page.c2c = p->page.no_sharing ? NULL : &p->c2c;
    return SPE_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

int report_page_write(const struct report_page *p, const char *path, int status)
{
    struct output output;
    int error;

    if (!open_output(&output, path))
        return STATUS_BAD_DATA;
    error = html_page(&output.out, &p->page);
    if (error < 0)
        complain(p->page.report->file, "%s", spe_strerror(error));
    return close_output(&output, error == SPE_OK, error < 0 ? STATUS_BAD_DATA : status);
}

void report_page_free(struct report_page *p)
{
    functions_free(&p->annotate);
    annotate_sources_free(&p->sources);
    spe_annotation_destroy(p->annotation);
    spe_lanes_destroy(p->lanes);
    spe_slices_destroy(p->slices);
    spe_types_destroy(p->types);
    report_changes_free(&p->changes);
    types_forget(&p->report_types);
    free((void *)(uintptr_t)p->page.type_slices.cells);
    free((void *)(uintptr_t)p->page.member_slices.cells);
    free((void *)(uintptr_t)p->page.object_slices.cells);
    spe_sharing_destroy(p->sharing);
}
