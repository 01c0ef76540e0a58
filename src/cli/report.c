/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe report: one page that says what was executed, where it waited, and why. */
#include "render/report.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/recording.h"

static const char help[] =
    "Usage: spe report [OPTION]... [FILE]\n"
    "\n"
    "One page about a recording: its header, operation mix, where loads were served\n"
    "and how long they took, the hottest functions, lines, branches and data.\n"
    "FILE is a perf.data file, or bare SPE bytes, or - for standard input; without it\n"
    "perf.data in this folder.\n"
    "\n"
    "What to show:\n"
    "      --by LIST          groups: function, line, symbol+source, dso, thread, cpu\n"
    "                         (function,line)\n"
    "      --sort KEY         groups by samples, latency, l1, llc, tlb or mispredicted\n"
    "                         (samples)\n"
    "      --top N            rows of a list (10)\n"
    "      --data WHAT        hot data by line (64 bytes), page (4096 bytes) or none\n"
    "                         (line)\n"
    "      --json             everything as one JSON object\n"
    "      --csv              the first list of groups as CSV\n"
    "      --width N          columns of the page (the terminal's, or 80)\n"
    "\n" RECORDING_HELP "  -h, --help             this text\n"
    "\n"
    "Examples:\n"
    "  spe report perf.data\n"
    "  spe report --by line --sort latency --top 30 perf.data\n"
    "  spe report --filter 'load and level == dram' --by symbol+source perf.data\n"
    "  spe report --csv --by thread --top 1000 perf.data >threads.csv\n";

enum form { FORM_PAGE, FORM_JSON, FORM_CSV };

struct job {
    const struct command *command;
    struct recording recording;
    struct spe_analysis_config config;
    struct report report;
    enum form form;
    uint64_t top, width;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool add_by(struct job *job, const char *word, size_t length)
{
    struct report *r = &job->report;
    unsigned by;

    for (by = 0; by < SPE_BY_COUNT; by++) {
        const char *name = report_by_name(by);

        if (strlen(name) != length || strncmp(name, word, length) != 0)
            continue;
        if (!(job->config.by & 1u << by))
            r->tables[r->table_count++].by = by;
        job->config.by |= 1u << by;
        return true;
    }
    return false;
}

static bool by_option(struct job *job, const char *text)
{
    const char *word = text;

    job->config.by = 0;
    job->report.table_count = 0;
    for (;;) {
        size_t length = strcspn(word, ",");

        if (!add_by(job, word, length)) {
            usage_error(job->command, "--by",
                        "%s is no list of function, line, symbol+source, dso, thread, cpu", text);
            return false;
        }
        if (!word[length])
            return true;
        word += length + 1;
    }
}

static bool sort_option(struct job *job, const char *text)
{
    unsigned sort;

    for (sort = 0; sort < SPE_SORT_COUNT; sort++) {
        job->report.sort = sort;
        if (strcmp(report_sort_name(sort), text) == 0)
            return true;
    }
    usage_error(job->command, "--sort",
                "%s is none of samples, latency, l1, llc, tlb, mispredicted", text);
    return false;
}

static bool data_option(struct job *job, const char *text)
{
    job->config.data = strcmp(text, "none") != 0;
    job->config.data_shift = strcmp(text, "page") == 0 ? 12 : 6;
    if (!job->config.data || strcmp(text, "line") == 0 || strcmp(text, "page") == 0)
        return true;
    usage_error(job->command, "--data", "%s is none of line, page, none", text);
    return false;
}

static bool parse_options(struct job *job, int argc, char **argv, int *status)
{
    enum { BY = 256, SORT, TOP, DATA, JSON, CSV, WIDTH };
    static const struct option options[] = {
        {"by", required_argument, NULL, BY},       {"sort", required_argument, NULL, SORT},
        {"top", required_argument, NULL, TOP},     {"data", required_argument, NULL, DATA},
        {"json", no_argument, NULL, JSON},         {"csv", no_argument, NULL, CSV},
        {"width", required_argument, NULL, WIDTH}, RECORDING_OPTIONS,
        {"help", no_argument, NULL, 'h'},          {0},
    };
    const struct command *c = job->command;
    int option;

    *status = STATUS_USAGE;
    while ((option = next_option(c, argc, argv, ":h", options)) != -1) {
        bool good = true;

        switch (option) {
        case BY:
            good = by_option(job, optarg);
            break;
        case SORT:
            good = sort_option(job, optarg);
            break;
        case TOP:
            good = number_option(c, "--top", optarg, 1, 1000000, &job->top);
            break;
        case DATA:
            good = data_option(job, optarg);
            break;
        case JSON:
            job->form = FORM_JSON;
            break;
        case CSV:
            job->form = FORM_CSV;
            break;
        case WIDTH:
            good = width_option(c, optarg, &job->width);
            break;
        case OPTION_HELP:
            *status = STATUS_OK;
            return false;
        case '?':
        case ':':
            return false;
        default:
            good = recording_take(&job->recording, c, option, optarg);
            break;
        }
        if (!good)
            return false;
    }
    job->report.file = recording_file(c, argc, argv);
    return job->report.file != NULL;
}

/* ---- the work -------------------------------------------------------------------------------- */

static int out_of_memory(const struct job *job)
{
    complain(job->report.file, "%s", spe_strerror(SPE_ERR_NOMEM));
    return STATUS_BAD_DATA;
}

/* Where the counters end, if the CPU is one whose counters are known. */
static uint16_t saturation(const struct spe_profile_info *info)
{
    const struct spe_layout *layout = info->cpu ? info->cpu->layout : NULL;

    return layout ? spe_counter_max(layout->count_bits) : 0xffff;
}

/* Ask everything that the report shows. False if there is no memory. */
static bool ask(struct job *job, const struct spe_analysis *a)
{
    struct report *r = &job->report;
    size_t i;

    spe_analysis_totals(a, &r->totals);
    spe_analysis_events(a, r->events);
    r->mix_count = spe_analysis_mix(a, r->mix);
    r->served_count = spe_analysis_served(a, r->served);
    for (i = 0; i < r->table_count; i++) {
        struct report_groups *g = &r->tables[i];
        size_t n;

        g->of = spe_analysis_group_count(a, g->by);
        n = g->of < job->top ? g->of : (size_t)job->top;
        g->groups = calloc(n ? n : 1, sizeof(*g->groups));
        if (!g->groups)
            return false;
        g->count = spe_analysis_groups(a, g->by, r->sort, g->groups, n);
    }
    r->branches = calloc(job->top + 1, sizeof(*r->branches));
    r->data = calloc(job->top + 1, sizeof(*r->data));
    if (!r->branches || !r->data)
        return false;
    r->branch_count = spe_analysis_branches(a, r->branches, job->top, &r->branch_error);
    r->data_count = spe_analysis_data(a, r->data, job->top, &r->data_summary);
    return true;
}

static int show(struct job *job)
{
    bool color = use_color(STDOUT_FILENO), good = true;
    struct out out;

    if (!open_stdout(&out))
        return STATUS_BAD_DATA;
    if (job->form == FORM_JSON)
        report_json(&out, &job->report);
    else if (job->form == FORM_CSV)
        report_csv(&out, &job->report);
    else
        good = report_text(&out, &job->report, page_width(job->width, STDOUT_FILENO), color);
    if (job->report.info->damage)
        complain(job->report.file, "%s", job->report.info->damage);
    return close_stdout(&out, good ? recording_status(job->report.profile) : out_of_memory(job));
}

static int report_profile(struct job *job, struct spe_profile *profile)
{
    struct spe_analysis *analysis = NULL;
    int status = STATUS_BAD_DATA, error;

    job->report.profile = profile;
    job->report.info = spe_profile_info(profile);
    job->report.counts = spe_profile_counts(profile);
    job->config.saturated_at = saturation(job->report.info);
    error = spe_analysis_create(&analysis, &job->config);
    if (error == SPE_OK)
        error = recording_analyse(profile, job->report.file, analysis);
    if (error < 0)
        complain(job->report.file, "%s", spe_strerror(error));
    else if (!ask(job, analysis))
        status = out_of_memory(job);
    else
        status = show(job);
    if (status == STATUS_OK && recording_result(profile, job->report.file, SPE_OK) < 0)
        status = STATUS_BAD_DATA;
    spe_analysis_destroy(analysis);
    return status;
}

static void free_report(struct report *r)
{
    size_t i;

    for (i = 0; i < r->table_count; i++)
        free(r->tables[i].groups);
    free(r->branches);
    free(r->data);
}

static int run_job(struct job *job, int argc, char **argv)
{
    struct spe_profile *profile;
    int status;

    recording_init(&job->recording);
    job->recording.options.order = SPE_ORDER_FAST;
    job->recording.options.omit = SPE_ANALYSIS_OMIT;
    job->config.size = sizeof(job->config);
    job->config.data = true;
    job->top = 10;
    by_option(job, "function,line");
    if (!parse_options(job, argc, argv, &status))
        return status;
    job->report.filter = job->recording.options.filter;
    if (!(job->config.by & 1u << SPE_BY_CPU))
        job->recording.options.omit |= SPE_OMIT_CPU;
    status = recording_open(&job->recording, job->command, job->report.file, &profile);
    if (status == STATUS_OK) {
        status = report_profile(job, profile);
        spe_profile_close(profile);
    }
    free_report(&job->report);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    static struct job job; /* it has room for long lists, which hardly anybody needs */

    memset(&job, 0, sizeof(job));
    job.command = self;
    return run_job(&job, argc, argv);
}

const struct command command_report = {
    .name = "report",
    .summary = "one page about a recording: what was slow, where, and why",
    .help = help,
    .run = run,
};
