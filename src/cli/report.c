/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe report: one page that says what was executed, where it waited, and why. */
#include "render/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/report_page.h"
#include "cli/report_types.h"
#include "cli/words.h"

static const char usage[] =
    "Usage: spe report [OPTION]... [FILE]\n"
    "       spe report [OPTION]... --html PAGE OLD NEW\n"
    "\n"
    "One page about a recording: the largest costs and their causes, the hottest\n"
    "functions and lines, where loads were served, branches, data, operations.\n"
    "FILE is a perf.data file, raw SPE bytes, or - for standard input; the default is\n"
    "perf.data in the current directory.\n";

static const char examples[] =
    "Examples:\n"
    "  spe report --by line --sort samples --top 30 perf.data\n"
    "  spe report --filter 'load and level == dram' --by symbol+source perf.data\n"
    "  spe report --by type perf.data\n"
    "  spe report --html page.html old.data new.data\n";

enum form { FORM_PAGE, FORM_JSON, FORM_CSV, FORM_HTML };

struct job {
    const struct command *command;
    struct recording recording;
    struct spe_analysis_config config;
    struct report report;
    struct spe_analysis *analysis;
    struct spe_types *types; /* NULL: not wanted */
    enum form form;
    const char *html; /* the file of --html */
    const char *old;  /* the recording that it is compared with; NULL: none */
    struct report_page page;
    uint64_t top, width, bins;
    bool no_findings;
    double percent_limit;
    bool calls, sorted;
};

/* ---- perf's keys of --sort ------------------------------------------------------------------- */

enum {
    KEY_SYM = 1,
    KEY_LINE = 2,
    KEY_DSO = 4,
    KEY_TID = 8,
    KEY_PID = 16,
    KEY_COMM = 32,
    KEY_CPU = 64,
};

struct key {
    const char *name;
    unsigned bit; /* 0: see the answer */
    const char *answer;
};

static const struct key keys[] = {
    {"sym", KEY_SYM, NULL},
    {"symbol", KEY_SYM, NULL},
    {"dso", KEY_DSO, NULL},
    {"srcline", KEY_LINE, NULL},
    {"comm", KEY_COMM, NULL},
    {"pid", KEY_PID, NULL},
    {"tid", KEY_TID, NULL},
    {"cpu", KEY_CPU, NULL},
    {"mem", 0, "the page has where loads were served; --filter 'level == dram' chooses"},
    {"snoop", 0, "the page has where loads were served; --filter 'level == dram' chooses"},
    {"weight", 0, "--sort latency"},
    {"local_weight", 0, "--sort latency"},
    {"overhead", 0, "--sort samples"},
    {"sample", 0, "--sort samples"},
    {"symbol_daddr", 0, "--data line or --data page"},
    {"dso_daddr", 0, "--data line or --data page"},
    {"dcacheline", 0, "--data line"},
    {"phys_daddr", 0, "spe script -F phys_addr"},
    {"mispredict", 0, "--sort mispredicted"},
    {"parent", 0, "--by caller"},
    {"caller", 0, "--by caller"},
};

static const struct key *find_key(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (strlen(keys[i].name) == length && strncmp(keys[i].name, word, length) == 0)
            return &keys[i];
    }
    return NULL;
}

/* Our word for one list by all of these. A function's row has its dso, a thread's its process and
 * name. */
static void by_of_keys(unsigned bits, char *by, size_t size)
{
    const char *task = bits & KEY_TID    ? "thread"
                       : bits & KEY_PID  ? "process"
                       : bits & KEY_COMM ? "comm"
                       : bits & KEY_CPU  ? "cpu"
                                         : "";
    const char *code = bits & KEY_LINE  ? (bits & KEY_SYM && !*task ? "symbol+source" : "line")
                       : bits & KEY_SYM ? "function"
                       : bits & KEY_DSO ? "dso"
                                        : "";

    snprintf(by, size, "%s%s%s", code, *code && *task ? "+" : "", task);
}

/* ---- options --------------------------------------------------------------------------------- */

static bool add_by(struct job *job, const char *word, size_t length)
{
    struct report *r = &job->report;
    enum types_list list;
    unsigned by;

    if (length == 4 && strncmp(word, "time", length) == 0)
        return job->config.time = true;
    list = types_by(&r->types, word, length);
    if (list != TYPES_NONE) {
        if (!r->table_count && r->types.csv == TYPES_NONE)
            r->types.csv = list;
        return true;
    }
    for (by = 0; by < SPE_BY_COUNT; by++) {
        const char *name = report_by_name(by);

        if (strlen(name) != length || strncmp(name, word, length) != 0)
            continue;
        if (!(job->config.by & 1u << by))
            r->tables[r->table_count++] = (struct report_groups){.by = by};
        job->config.by |= 1u << by;
        return true;
    }
    return false;
}

/* A key of perf is its list of ours. */
static bool add_key(struct job *job, const char *word, size_t length)
{
    const struct key *key = find_key(word, length);
    char by[32];

    if (!key || !key->bit)
        return false;
    by_of_keys(key->bit, by, sizeof(by));
    return add_by(job, by, strlen(by));
}

static bool unknown_by(struct job *job, const char *word, size_t length)
{
    const char *names[SPE_BY_COUNT], *near;
    char list[256], name[64];

    for (unsigned by = 0; by < SPE_BY_COUNT; by++)
        names[by] = report_by_name(by);
    snprintf(name, sizeof(name), "%.*s", length < 60 ? (int)length : 60, word);
    near = nearest_name(name, names, SPE_BY_COUNT);
    list_names(list, sizeof(list), names, SPE_BY_FUNCTION_THREAD, ", ");
    if (near)
        usage_error(
            job->command, "--by",
            "there is no list by '%s'; did you mean %s? There are %s, object, type, member, time, and "
            "pairs such as function+thread",
            name, near, list);
    else
        usage_error(
            job->command, "--by",
            "there is no list by '%s'; there are %s, object, type, member, time, and pairs such as "
            "function+thread",
            name, list);
    return false;
}

static bool by_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    const char *word = text;

    (void)c;
    job->config.by = 0;
    job->config.time = false;
    job->report.table_count = 0;
    job->report.types.by_object = job->report.types.by_type = job->report.types.by_member = false;
    job->report.types.csv = TYPES_NONE;
    for (;;) {
        size_t length = strcspn(word, ",");

        if (!add_by(job, word, length) && !add_key(job, word, length)) {
            return unknown_by(job, word, length);
        }
        if (!word[length])
            return true;
        word += length + 1;
    }
}

static bool perf_keys(struct job *job, const char *text)
{
    const unsigned tasks = KEY_TID | KEY_PID | KEY_COMM;
    const char *word = text;
    unsigned bits = 0;
    char by[32];

    for (;;) {
        size_t length = strcspn(word, ",");
        const struct key *key = find_key(word, length);

        if (!key) {
            usage_error(job->command, "--sort",
                        "'%.*s' is none of samples, latency, l1, llc, tlb, mispredicted, nor of "
                        "perf's sym, dso, srcline, comm, pid, tid, cpu",
                        length < 40 ? (int)length : 40, word);
            return false;
        }
        if (key->answer) {
            usage_error(job->command, "--sort", "perf's key %s is here: %s", key->name,
                        key->answer);
            return false;
        }
        bits |= key->bit;
        if (!word[length])
            break;
        word += length + 1;
    }
    if (bits & KEY_CPU && bits & tasks) {
        usage_error(job->command, "--sort", "cpu does not go together with comm, pid or tid");
        return false;
    }
    by_of_keys(bits, by, sizeof(by));
    return by_option(job->command, job, by);
}

/* Our keys say how groups are sorted, perf's what they are. */
static bool sort_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    unsigned sort;

    (void)c;
    for (sort = 0; sort < SPE_SORT_COUNT; sort++) {
        if (strcmp(report_sort_name(sort), text) == 0) {
            job->report.sort = sort;
            job->sorted = true;
            return true;
        }
    }
    return perf_keys(job, text);
}

static bool data_option(const struct command *c, void *target, const char *text)
{
    static const char *const names[] = {"none", "line", "page", NULL};
    struct job *job = target;
    unsigned what;

    if (!choice_option(c, "--data", text, names, &what))
        return false;
    job->config.data = what > 0;
    job->config.data_shift = what == 2 ? 12 : 6;
    return true;
}

static bool limit_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;

    return share_option(c, "--percent-limit", text, &job->percent_limit);
}

static bool html_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;

    (void)c;
    job->form = FORM_HTML;
    job->html = text;
    return true;
}

static const struct option_row options[] = {
    {OPTION_TEXT("What to show:")},
    {"by", 0, "LIST",
     "comma-separated groupings: function, line, symbol+source, dso, pc, caller, thread, process, "
     "comm, cpu; pairs of function, line or dso with one of the last four, such as "
     "function+thread; for loads and stores object, type, member; time: the recording over time "
     "(function,line)",
     OPTION_TAKE(by_option)},
    {"bins", 0, "N", "maximum number of bars of --by time (as many as fit)",
     OPTION_NUMBER(struct job, bins, 1, SPE_TIME_BINS_MAX)},
    {"no-findings", 0, NULL, "leave out the findings", OPTION_FLAG(struct job, no_findings)},
    {"call-graph", 'g', NULL,
     "the callers of each listed function as a tree, from the call stacks of 'spe record -g', or "
     "of another event of the recording",
     OPTION_FLAG(struct job, calls)},
    {"sort", 's', "KEY",
     "sort by latency, samples, l1, llc, tlb or mispredicted, which is not for object, type and "
     "member (latency, if there are latencies); perf's keys select a list: sym, dso, srcline, "
     "comm, pid, tid, cpu",
     OPTION_TAKE(sort_option)},
    {"top", 0, "N", "rows of each list (10)", OPTION_NUMBER(struct job, top, 1, 1000000)},
    {"type", 0, "NAME", "the memory layout of a type, with the accesses to it",
     OPTION_STRING(struct job, report.types.name)},
    {"data", 0, "WHAT", "hot data by line (64 bytes), page (4096 bytes) or none (line)",
     OPTION_TAKE(data_option)},
    DATA_MEMORY_OPTION(struct job, config.data_memory,
                       "memory limit for hot data, such as 256M (64M)"),
    {"json", 0, NULL, "everything as one JSON object", OPTION_VALUE(struct job, form, FORM_JSON)},
    {"csv", 0, NULL, "the first list of --by as CSV", OPTION_VALUE(struct job, form, FORM_CSV)},
    {"html", 0, "FILE",
     "write one HTML page with code, shared cache lines, types and a time line; with OLD and NEW: "
     "the page of NEW, with the changes; lists have 100 rows",
     OPTION_TAKE(html_option)},
    {"percent-limit", 0, "N", "only groups with at least N % of the latency (or samples)",
     OPTION_TAKE(limit_option)},
    {"header-only", 0, NULL, "only the header of the page",
     OPTION_FLAG(struct job, report.header_only)},
    WIDTH_OPTION(struct job, width),
    {OPTION_ROWS(page_options)},
    {"stdio", 0, NULL, NULL, OPTION_NOTHING},
    {"header", 0, NULL, NULL, OPTION_NOTHING},
    {"no-children", 0, NULL, NULL, OPTION_NOTHING},
    {"show-nr-samples", 'n', NULL, "accepted for compatibility with perf; no effect",
     OPTION_NOTHING},
    {OPTION_TABLE(struct job, recording, recording_options)},
    {0},
};

/* Which of them go together, and which file. */
static bool check_options(struct job *job, int argc, char **argv)
{
    const struct command *c = job->command;

    if (job->form == FORM_CSV && !job->report.table_count && job->report.types.csv == TYPES_NONE) {
        usage_error(c, "--csv", "it has a list of groups; --by time is on the page and in --json");
        return false;
    }
    if (job->form == FORM_CSV && job->report.types.name) {
        usage_error(c, "--csv",
                    "it has one list, and --type shows a layout, on the page and in --json; --csv "
                    "--by member has the members of all types");
        return false;
    }
    if (types_lack(&job->report.types, job->report.sort)) {
        usage_error(
            c, "--sort",
            "loads and stores are not mispredicted, so that lists by object, type or member "
            "have the keys latency, samples, l1, llc and tlb only");
        return false;
    }
    if (job->html && job->form != FORM_HTML) {
        usage_error(c, "--html", "it is a form of its own, as --json and --csv are");
        return false;
    }
    if (job->html && job->top > HTML_TOP) {
        usage_error(c, "--top", "a page has lists of at most %d rows", HTML_TOP);
        return false;
    }
    if (!job->top)
        job->top = job->html ? 100 : 10;
    if (job->html && optind + 1 < argc)
        job->old = argv[optind++];
    job->report.file = recording_file(&job->recording, c, argc, argv);
    return job->report.file != NULL;
}

/* What the page always has, whatever --by names beside it. */
static void want_page(struct job *job)
{
    static const char *const lists[] = {"function", "line", "thread", "time"};

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        add_by(job, lists[i], strlen(lists[i]));
    if (!job->bins)
        job->bins = HTML_BINS;
    job->recording.options.omit &= SPE_ANNOTATION_OMIT;
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

/* A group's part of what groups are sorted by. */
static double weight_of(const struct report *r, const struct spe_counts *c)
{
    return r->sort == SPE_SORT_LATENCY ? share_of(c->latency, r->totals.latency)
                                       : share_of(c->samples, r->totals.samples);
}

/* Groups below --percent-limit. */
static void drop_small(const struct job *job, struct report_groups *g)
{
    size_t kept = 0;

    for (size_t i = 0; i < g->count; i++) {
        if (100 * weight_of(&job->report, &g->groups[i].counts) >= job->percent_limit)
            g->groups[kept++] = g->groups[i];
    }
    g->count = kept;
}

/* What costs most, and how it went. False if there is no memory. */
static bool ask_summary(struct job *job, struct spe_analysis *a)
{
    struct report *r = &job->report;
    unsigned room = times_bins(page_width(job->width, STDOUT_FILENO));

    if (job->config.findings) {
        int n = spe_analysis_findings(a, r->profile, r->findings);

        if (n < 0)
            return false;
        r->finding_count = (size_t)n;
    }
    return !job->config.time ||
           spe_analysis_times(a, job->bins ? (size_t)job->bins : room, &r->times) == SPE_OK;
}

/* Ask everything that the report shows. False if there is no memory. */
static bool ask(struct job *job, struct spe_analysis *a)
{
    struct report *r = &job->report;
    size_t i;

    spe_analysis_totals(a, &r->totals);
    if (!job->sorted)
        r->sort = r->totals.latency ? SPE_SORT_LATENCY : SPE_SORT_SAMPLES;
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
        drop_small(job, g);
    }
    r->branches = calloc(job->top + 1, sizeof(*r->branches));
    r->data = calloc(job->top + 1, sizeof(*r->data));
    if (!r->branches || !r->data)
        return false;
    r->branch_count = spe_analysis_branches(a, r->branches, job->top, &r->branch_error);
    r->data_count = spe_analysis_data(a, r->data, job->top, &r->data_summary);
    return ask_summary(job, a);
}

static int show(struct job *job)
{
    bool good = true;
    struct out out;

    if (job->html) {
        recording_missed(&job->recording, job->report.file, job->report.profile);
        return report_page_write(&job->page, job->html, recording_status(job->report.profile));
    }
    if (job->form == FORM_PAGE)
        start_pager();
    if (!open_stdout(&out))
        return STATUS_BAD_DATA;
    if (job->form == FORM_CSV && job->report.info->other_event && !job->recording.quiet)
        complain(job->report.file, OTHER_CALLS, job->report.info->other_event);
    if (job->form == FORM_JSON)
        report_json(&out, &job->report);
    else if (job->form == FORM_CSV && job->report.types.csv != TYPES_NONE)
        types_csv(&out, job->report.profile, &job->report.types);
    else if (job->form == FORM_CSV)
        report_csv(&out, &job->report);
    else
        good = report_text(&out, &job->report, page_width(job->width, STDOUT_FILENO),
                           use_color(STDOUT_FILENO));
    recording_missed(&job->recording, job->report.file, job->report.profile);
    if (job->report.info->damage)
        complain(job->report.file, "%s", job->report.info->damage);
    return close_stdout(&out, good ? recording_status(job->report.profile) : out_of_memory(job));
}

/* Everything that wants all rows, once. */
static int see_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    struct job *job = user;
    int result = spe_analysis_add(job->analysis, profile, rows);

    if (result >= 0 && job->report.calls)
        result = spe_call_tree_add(job->report.calls, profile, rows);
    if (result >= 0 && job->types)
        result = spe_types_add(job->types, profile, rows);
    return result < 0 ? result : 1;
}

static int analyse(struct job *job, struct spe_profile *profile)
{
    int error = spe_analysis_create(&job->analysis, &job->config);

    if (error == SPE_OK && job->calls)
        error = spe_call_tree_create(&job->report.calls);
    if (error == SPE_OK && types_wanted(&job->report.types))
        error = spe_types_create(&job->types, types_want(&job->report.types));
    if (error == SPE_OK && job->html)
        return report_page_analyse(&job->page, &job->report, job->analysis);
    if (error == SPE_OK)
        error = recording_rows(profile, job->report.file, see_rows, job);
    if (error >= 0)
        error = recording_finish(profile, job->report.file, job->analysis);
    if (error >= 0 && job->report.calls)
        error = spe_call_tree_share(job->report.calls, profile);
    if (error >= 0 && job->report.calls)
        spe_call_tree_finish(job->report.calls);
    return error;
}

static int report_profile(void *user, struct spe_profile *profile)
{
    struct job *job = user;
    int status = STATUS_BAD_DATA, error;

    job->report.profile = profile;
    job->report.info = spe_profile_info(profile);
    job->report.counts = spe_profile_counts(profile);
    job->config.data_top = (size_t)job->top;
    job->config.again = true;
    if (job->report.wants_stacks && !job->report.info->stacks) {
        complain(job->report.file, "has no call stacks: 'spe record -g' records them, and so does "
                                   "another event beside SPE (perf record -g -e arm_spe// -e "
                                   "cycles)");
        return STATUS_BAD_DATA;
    }
    job->config.saturated_at = saturation(job->report.info);
    error = analyse(job, profile);
    if (error >= 0 && (!ask(job, job->analysis) ||
                       (job->types && !types_ask(&job->report.types, job->types, profile,
                                                 job->report.sort, job->top))))
        error = SPE_ERR_NOMEM;
    if (error >= 0 && job->html)
        error = report_page_complete(&job->page, &job->report, job->analysis, (size_t)job->top);
    if (error < 0)
        complain(job->report.file, "%s", spe_strerror(error));
    else
        status = show(job);
    if (status == STATUS_OK && recording_result(profile, job->report.file, SPE_OK) < 0)
        status = STATUS_BAD_DATA;
    report_page_free(&job->page);
    spe_analysis_destroy(job->analysis);
    spe_types_destroy(job->types);
    return status;
}

static void free_report(struct report *r)
{
    size_t i;

    for (i = 0; i < r->table_count; i++)
        free(r->tables[i].groups);
    free(r->branches);
    free(r->data);
    spe_times_free(&r->times);
    spe_call_tree_destroy(r->calls);
    types_forget(&r->types);
}

/* Columns that only some groupings read. */
static void want_columns(struct job *job)
{
    struct spe_profile_options *o = &job->recording.options;
    bool cpu = job->html, comm = false; /* the time line may be of CPUs */

    for (unsigned by = 0; by < SPE_BY_COUNT; by++) {
        enum spe_group_by code = spe_group_by_code(by), task = spe_group_by_task(by);

        if (!(job->config.by & 1u << by))
            continue;
        cpu |= task == SPE_BY_CPU;
        comm |= task == SPE_BY_COMM;
        if (by == SPE_BY_CALLER)
            o->want |= SPE_WANT_STACK | SPE_WANT_SYMBOL;
        if (code != SPE_BY_COUNT && task != SPE_BY_COUNT)
            o->want |= SPE_WANT_SYMBOL | (code == SPE_BY_LINE ? SPE_WANT_LINE : 0);
    }
    if (job->config.findings)
        o->omit &= ~(unsigned)SPE_OMIT_LATENCIES;
    if (job->calls)
        o->want |= SPE_WANT_STACK | SPE_WANT_SYMBOL;
    job->report.wants_stacks = o->want & SPE_WANT_STACK;
    if (!cpu)
        o->omit |= SPE_OMIT_CPU;
    if (comm)
        o->omit &= ~(unsigned)SPE_OMIT_COMM;
}

/* What changed since the older recording. */
static int compare(struct job *job)
{
    const char *const files[2] = {job->old, job->report.file};
    int status = report_changes_read(&job->page.changes, &job->recording, job->command, files,
                                     (size_t)job->top);

    if (status != STATUS_OK)
        report_changes_free(&job->page.changes);
    return status;
}

/* What the options mean together. */
static void decide(struct job *job)
{
    if (job->calls)
        add_by(job, "function", strlen("function"));
    job->report.filter = job->recording.options.filter;
    job->report.quiet = job->recording.quiet;
    job->config.findings = !job->no_findings && !job->report.header_only && job->form != FORM_CSV;
    job->report.utf8 = use_utf8();
    if (job->html)
        want_page(job);
}

static int run(const struct command *self, int argc, char **argv)
{
    static struct job job; /* it has room for long lists, which hardly anybody needs */
    int status;

    memset(&job, 0, sizeof(job));
    job.command = self;
    recording_init(&job.recording);
    job.recording.options.order = SPE_ORDER_FAST;
    job.recording.options.omit = SPE_ANALYSIS_OMIT;
    job.config.size = sizeof(job.config);
    job.config.data = true;
    by_option(self, &job, "function,line");
    job.report.tables[1].by_default = true;
    if (!take_options(self, &job, argc, argv, &status))
        return status;
    if (!check_options(&job, argc, argv))
        return STATUS_USAGE;
    if (job.html &&
        (is_input(job.html, job.report.file) || (job.old && is_input(job.html, job.old))))
        return STATUS_BAD_DATA;
    decide(&job);
    status = job.old ? compare(&job) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    want_columns(&job);
    status = recording_run(&job.recording, self, job.report.file, report_profile, &job);
    free_report(&job.report);
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "one page about a recording: what was slow, where, and why",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
