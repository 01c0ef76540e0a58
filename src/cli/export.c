/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe export: samples for other programs. */
#include "render/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/cli.h"
#include "cli/export_code.h"
#include "cli/export_columns.h"
#include "cli/export_dataset.h"
#include "cli/export_viewers.h"
#include "cli/recording.h"
#include "cli/words.h"
#include "profile/export_perf.h"

static const char usage[] =
    "Usage: spe export --format FORMAT [OPTION]... [FILE]\n"
    "       spe export --format FORMAT -o DIRECTORY/ [OPTION]... FILE...\n"
    "\n"
    "Write the samples of a recording for other programs.\n"
    "FILE is a perf.data file, raw SPE bytes, or - for standard input; the default is\n"
    "perf.data in the current directory.\n";

static const char examples[] =
    "Examples:\n"
    "  spe export --format csv -o samples.csv perf.data\n"
    "  spe export --format parquet -o samples.parquet perf.data\n"
    "  spe export --format parquet --partition host,date -o fleet/ */perf.data\n"
    "  spe export --format ndjson perf.data | jq 'select(.level == \"dram\") | .symbol'\n"
    "  spe export --format folded --weight latency perf.data | flamegraph.pl >flame.svg\n"
    "  spe export --format pprof -o spe.pb.gz && pprof -http=: spe.pb.gz\n"
    "  spe export --format perf --time 12.5s,13s --cpus 0-3 -o part.data perf.data\n"
    "  spe export --format bolt -o prog.bolt && perf2bolt prog -pa -p prog.bolt -o prog.fdata\n"
    "  spe export --format autofdo --dso libz.so.1 -o libz.prof perf.data\n";

enum format {
    FORMAT_NONE,
    FORMAT_CSV,
    FORMAT_NDJSON,
    FORMAT_ARROW,
    FORMAT_PARQUET,
    FORMAT_FOLDED,
    FORMAT_PPROF, /* the next four as enum viewer_format */
    FORMAT_SPEEDSCOPE,
    FORMAT_FIREFOX,
    FORMAT_PERFETTO,
    FORMAT_PERF,
    FORMAT_BOLT,
    FORMAT_AUTOFDO,
};

struct job {
    const struct command *command;
    const char *file, *output, *dso, *columns, *partition;
    char **files; /* of a dataset */
    int file_count;
    enum format format;
    enum spe_group_by task; /* SPE_BY_COUNT: no frame for it */
    bool latency, lines;
    struct column_choice choice;
    struct dataset dataset;
    struct recording recording;
    struct output out;
};

/* ---- options --------------------------------------------------------------------------------- */

static const char *const format_names[] = {"csv",   "ndjson",     "arrow",   "parquet",  "folded",
                                           "pprof", "speedscope", "firefox", "perfetto", "perf",
                                           "bolt",  "autofdo",    NULL};

static bool format_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    unsigned i;

    if (!choice_option(c, "--format", text, format_names, &i))
        return false;
    job->format = FORMAT_CSV + i;
    return true;
}

static bool weight_option(const struct command *c, void *target, const char *text)
{
    static const char *const names[] = {"samples", "latency", NULL};
    struct job *job = target;
    unsigned i;

    if (!choice_option(c, "--weight", text, names, &i))
        return false;
    job->latency = i > 0;
    return true;
}

static bool task_option(const struct command *c, void *target, const char *text)
{
    static const char *const names[] = {"comm", "thread", NULL};
    struct job *job = target;
    unsigned i;

    if (!choice_option(c, "--task", text, names, &i))
        return false;
    job->task = i ? SPE_BY_THREAD : SPE_BY_COMM;
    return true;
}

static const struct option_row options[] = {
    {"format", 0, "FORMAT",
     "csv: one row per sample\n"
     "ndjson: one JSON object per sample\n"
     "arrow: an Arrow IPC stream\n"
     "parquet: a Parquet file, compressed with zstd\n"
     "folded: 'dso;function weight', for flame graphs; where there are call stacks, "
     "'caller;...;function weight'\n"
     "pprof: a profile for pprof, Pyroscope, Parca\n"
     "speedscope: for speedscope.app, one profile per thread\n"
     "firefox: for profiler.firefox.com\n"
     "perfetto: a trace for ui.perfetto.dev, over time\n"
     "perf: a perf.data file, cut by --time, --cpus, --pid and --tid (needs -o)\n"
     "bolt: branches of one program or library, what 'perf2bolt -pa' reads\n"
     "autofdo: how often its lines ran, LLVM's sample profile as text, what 'clang "
     "-fprofile-sample-use' reads",
     OPTION_TAKE(format_option)},
    {"columns", 0, "LIST", "csv, ndjson, arrow and parquet: these columns only; help lists them",
     OPTION_STRING(struct job, columns)},
    {"output", 'o', "FILE",
     "output file; the default, -, is standard output. A directory gets one table per recording",
     OPTION_STRING(struct job, output)},
    {"partition", 0, "LIST", "subdirectories host=..., date=...: host, date or both",
     OPTION_STRING(struct job, partition)},
    {"dso", 0, "NAME", "bolt and autofdo: the program or library, by path or name (the program)",
     OPTION_STRING(struct job, dso)},
    {"weight", 0, "WHAT",
     "folded and speedscope: samples or latency (samples); pprof: the one to show first",
     OPTION_TAKE(weight_option)},
    {"task", 0, "WHAT", "folded: begin each stack with a frame for the comm or the thread",
     OPTION_TAKE(task_option)},
    {"lines", 0, NULL, "look up source lines; folded: a frame for each line, also of callers",
     OPTION_FLAG(struct job, lines)},
    {OPTION_TABLE(struct job, recording, recording_options)},
    {0},
};

static bool is_code(const struct job *job)
{
    return job->format == FORMAT_BOLT || job->format == FORMAT_AUTOFDO;
}

static bool is_columns(const struct job *job)
{
    return job->format >= FORMAT_CSV && job->format <= FORMAT_PARQUET;
}

static bool is_viewer(const struct job *job)
{
    return job->format >= FORMAT_PPROF && job->format <= FORMAT_PERFETTO;
}

static enum viewer_format viewer_of(const struct job *job)
{
    return (enum viewer_format)(job->format - FORMAT_PPROF);
}

static bool is_binary(const struct job *job)
{
    return job->format == FORMAT_ARROW || job->format == FORMAT_PARQUET ||
           job->format == FORMAT_PPROF;
}

/* name, type as Arrow has it, what it is */
static void list_columns(void)
{
    static const char *const types[] = {"uint8", "uint16",     "uint32", "uint64",
                                        "int64", "dictionary", "bool"};
    struct column c;

    for (size_t i = 0; column_at(i, &c); i++)
        printf("%-25s %-10s %s\n", c.name, types[c.type], c.sentence);
}

static bool choose_columns(struct job *job)
{
    struct spe_profile_error error;

    if (columns_choose(&job->choice, job->columns, &error) == SPE_OK)
        return true;
    usage_error(job->command, "--columns", "%s", error.text);
    return false;
}

/* A folder takes any number of files, of -i or arguments. */
static bool check_files(struct job *job, int argc, char **argv)
{
    bool folder = dataset_is_folder(job->output);
    const char *why = job->partition ? dataset_partition(&job->dataset, job->partition) : NULL;

    if (why) {
        usage_error(job->command, "--partition", "'%s' %s", job->partition, why);
        return false;
    }
    if (job->partition && !folder) {
        usage_error(job->command, "--partition", "needs a directory, such as -o fleet/");
        return false;
    }
    if (folder && is_columns(job)) {
        job->dataset.folder = job->output;
        if (optind < argc) {
            job->files = argv + optind;
            job->file_count = argc - optind;
            argc = optind + 1;
        }
    }
    job->file = recording_file(&job->recording, job->command, argc, argv);
    return job->file != NULL;
}

static void say_formats(const struct command *c)
{
    char list[256];

    list_names(list, sizeof(list), format_names, COUNT_OF(format_names) - 1, " or ");
    usage_error(c, "--format", "say which: %s", list);
}

static bool check_options(struct job *job, int argc, char **argv)
{
    const struct command *c = job->command;
    bool to_stdout = !job->output || strcmp(job->output, "-") == 0;

    if (!check_files(job, argc, argv))
        return false;
    if (job->format == FORMAT_NONE)
        say_formats(c);
    else if (job->format == FORMAT_PERF && to_stdout)
        usage_error(c, "--output", "a perf.data file needs a name");
    else if (job->format == FORMAT_PERF && job->recording.options.filter)
        usage_error(c, "--filter",
                    "a perf.data file is cut by --time, --cpus, --pid and --tid only");
    else if (job->columns && !is_columns(job))
        usage_error(c, "--columns", "is for csv, ndjson, arrow and parquet");
    else if (job->partition && !is_columns(job))
        usage_error(c, "--partition", "is for csv, ndjson, arrow and parquet");
    else if (is_binary(job) && to_stdout && isatty(STDOUT_FILENO))
        usage_error(c, "--output", "a terminal cannot show this format: give the file a name");
    else if (job->latency && (job->format == FORMAT_FIREFOX || job->format == FORMAT_PERFETTO))
        usage_error(c, "--weight",
                    job->format == FORMAT_FIREFOX ? "the Firefox Profiler has no unit for cycles"
                                                  : "a trace has both");
    else if (job->task != SPE_BY_COUNT && job->format != FORMAT_FOLDED)
        usage_error(c, "--task", "is for folded");
    else if (job->lines && job->format == FORMAT_PERFETTO)
        usage_error(c, "--lines", "a trace has functions only");
    else if (!choose_columns(job))
        return false;
    else if (job->dso && !is_code(job))
        usage_error(c, "--dso", "is for bolt and autofdo; --filter 'dso == \"...\"' is for all");
    else
        return true;
    return false;
}

/* ---- the work -------------------------------------------------------------------------------- */

static void set_options(struct job *job)
{
    struct spe_profile_options *o = &job->recording.options;

    o->order = job->format == FORMAT_FOLDED || is_code(job) ? SPE_ORDER_FAST
               : job->format == FORMAT_PERF                 ? SPE_ORDER_QUEUE
                                                            : SPE_ORDER_TIME;
    o->want = job->format == FORMAT_FOLDED ? SPE_WANT_SYMBOL : 0;
    if (job->format == FORMAT_FOLDED)
        o->want |= SPE_WANT_STACK | (job->lines ? SPE_WANT_LINE : 0);
    if (is_viewer(job))
        viewer_wants(viewer_of(job), job->lines, o);
    if (!is_columns(job))
        return;
    o->want = columns_want(&job->choice);
    o->omit = columns_omit(&job->choice);
    if (!job->columns && !job->lines)
        o->want &= ~(unsigned)SPE_WANT_LINE; /* reading lines takes time: only if asked */
}

static int write_groups(struct job *job, struct spe_profile *profile, struct spe_analysis *a,
                        enum spe_group_by by)
{
    size_t n = spe_analysis_group_count(a, by);
    struct spe_group *groups = calloc(n ? n : 1, sizeof(*groups));

    if (!groups)
        return SPE_ERR_NOMEM;
    n = spe_analysis_groups(a, by, job->latency ? SPE_SORT_LATENCY : SPE_SORT_SAMPLES, groups, n);
    export_folded(&job->out.out, profile, groups, n, job->latency);
    free(groups);
    return SPE_OK;
}

static int export_groups(struct job *job, struct spe_profile *profile)
{
    enum spe_group_by by = job->lines ? SPE_BY_FUNCTION_LINE : SPE_BY_FUNCTION;
    struct spe_analysis_config config = {.size = sizeof(config), .by = 1u << by};
    struct spe_analysis *analysis;
    int result = spe_analysis_create(&analysis, &config);

    if (result == SPE_OK)
        result = recording_analyse(profile, job->file, analysis);
    if (result == SPE_OK)
        result = write_groups(job, profile, analysis, by);
    spe_analysis_destroy(analysis);
    return result;
}

static int add_calls(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = spe_call_tree_add(user, profile, rows);

    return result < 0 ? result : 1;
}

static int export_calls(struct job *job, struct spe_profile *profile)
{
    const char *event = spe_profile_info(profile)->other_event;
    struct spe_call_tree *tree;
    int result = spe_call_tree_create(&tree);

    if (event && !job->recording.quiet)
        complain(job->file, OTHER_CALLS, event);
    if (result == SPE_OK && job->lines)
        spe_call_tree_by_line(tree);
    if (result == SPE_OK && job->task != SPE_BY_COUNT)
        result = spe_call_tree_by_task(tree, job->task);
    if (result == SPE_OK)
        result = recording_rows(profile, job->file, add_calls, tree);
    if (result >= 0)
        result = spe_call_tree_share(tree, profile);
    if (result >= 0)
        result = export_folded_calls(&job->out.out, profile, tree, job->task, job->latency);
    spe_call_tree_destroy(tree);
    return result;
}

static int export_folded_form(struct job *job, struct spe_profile *profile)
{
    bool tree = spe_profile_info(profile)->stacks || job->task != SPE_BY_COUNT;

    return tree ? export_calls(job, profile) : export_groups(job, profile);
}

static int export_profile(struct job *job, struct spe_profile *profile)
{
    uint32_t dso = SPE_NO_ID;
    int result;

    if (is_code(job)) {
        dso = export_code_dso(profile, job->file, job->dso);
        if (dso == SPE_NO_ID)
            return STATUS_BAD_DATA;
    }
    if (is_viewer(job) && !viewer_can(profile, job->file, viewer_of(job)))
        return STATUS_BAD_DATA;
    if (!open_output(&job->out, job->output))
        return STATUS_BAD_DATA;
    job->out.file.only_new = job->dataset.folder != NULL;
    if (job->format == FORMAT_FOLDED)
        result = export_folded_form(job, profile);
    else if (is_viewer(job))
        result = export_viewer(profile, job->file, viewer_of(job), job->latency, job->lines,
                               job->recording.quiet, &job->out.out);
    else if (is_code(job))
        result = export_code(profile, job->file, dso, job->format == FORMAT_AUTOFDO, &job->out.out);
    else
        result = export_columns(profile, job->file, (enum columns_format)(job->format - FORMAT_CSV),
                                &job->choice, &job->out.out);
    out_flush(&job->out.out);
    result = recording_result(profile, job->file, result);
    if (result >= 0)
        recording_missed(&job->recording, job->file, profile);
    recording_warn(&job->recording, profile, job->file);
    return close_output(&job->out, result >= 0,
                        result < 0 ? STATUS_BAD_DATA : recording_status(profile));
}

static int export_recording(struct job *job, struct spe_profile *profile)
{
    struct spe_perf_error error = {0};
    struct out_file file;
    int result, late;

    if (spe_profile_info(profile)->raw) {
        complain(job->file, "is not a perf.data file, so no part of it can be exported");
        return STATUS_BAD_DATA;
    }
    late = out_file_open(&file, job->output);
    if (late) {
        complain(job->output, "%s", strerror(late));
        return STATUS_BAD_DATA;
    }
    result = export_perf(profile, file.fd, &error);
    late = out_file_close(&file, result >= 0);
    if (result < 0 || late)
        complain(job->output, "%s",
                 late            ? strerror(late)
                 : error.text[0] ? error.text
                                 : spe_strerror(result));
    recording_warn(&job->recording, profile, job->file);
    return result < 0 || late ? STATUS_BAD_DATA : recording_status(profile);
}

static int export_to_folder(struct job *job, struct spe_profile *profile)
{
    job->output =
        dataset_path(&job->dataset, profile, job->file, format_names[job->format - FORMAT_CSV]);
    return job->output ? export_profile(job, profile) : STATUS_BAD_DATA;
}

static int export_file(struct job *job)
{
    struct spe_profile *profile;
    int status = recording_open(&job->recording, job->command, job->file, &profile);

    if (status != STATUS_OK)
        return status;
    status = job->dataset.folder          ? export_to_folder(job, profile)
             : job->format == FORMAT_PERF ? export_recording(job, profile)
                                          : export_profile(job, profile);
    spe_profile_close(profile);
    return status;
}

/* One recording that cannot be read does not keep others from it. */
static int export_files(struct job *job)
{
    int status = export_file(job);

    for (int i = 1; i < job->file_count && status != STATUS_USAGE; i++) {
        int next;

        job->file = job->files[i];
        next = export_file(job);
        if (next != STATUS_OK)
            status = next;
    }
    dataset_free(&job->dataset);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    static struct job job; /* it has room for long lists, which hardly anybody needs */
    int status;

    memset(&job, 0, sizeof(job));
    job.command = self;
    job.task = SPE_BY_COUNT;
    recording_init(&job.recording);
    if (!take_options(self, &job, argc, argv, &status))
        return status;
    if (job.columns && strcmp(job.columns, "help") == 0) {
        list_columns();
        return STATUS_OK;
    }
    if (!check_options(&job, argc, argv))
        return STATUS_USAGE;
    if (!job.output || strcmp(job.output, "-") == 0)
        progress_with_output();
    if (!job.dataset.folder && is_input(job.output, job.file))
        return STATUS_BAD_DATA;
    set_options(&job);
    return export_files(&job);
}

const struct command command_export = {
    .name = "export",
    .summary = "samples for other programs: CSV, Parquet, Arrow, pprof, Firefox, perf, BOLT",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
