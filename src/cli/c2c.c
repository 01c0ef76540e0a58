/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe c2c: cache lines that travel between cores, who uses them, and what would separate them. */
#include "render/c2c.h"

#include <unistd.h>

#include "cli/cli.h"
#include "cli/recording.h"

static const char usage[] =
    "Usage: spe c2c [report] [OPTION]... [FILE]\n"
    "\n"
    "Cache lines that travel between cores: how often, at what cost, which threads use\n"
    "which bytes, whether sharing is true or false, and how to separate the threads.\n"
    "FILE is a perf.data file, raw SPE bytes, or - for standard input; the default is\n"
    "perf.data in the current directory.\n";

static const char examples[] = "Examples:\n"
                               "  spe record --model core -- ./program && spe c2c\n"
                               "  spe c2c --top 3 --json perf.data\n";

struct job {
    const struct command *command;
    struct recording recording;
    struct spe_sharing_config config;
    struct c2c c2c;
    bool json;
    uint64_t width, top;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool line_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    uint64_t size;

    if (!number_option(c, "--line-size", text, 16, 4096, &size))
        return false;
    if (size & (size - 1)) {
        usage_error(c, "--line-size", "%s is not a power of two", text);
        return false;
    }
    job->config.shift = (unsigned)__builtin_ctzll(size);
    job->c2c.line_size_given = true;
    return true;
}

static bool display_option(const struct command *c, void *target, const char *text)
{
    (void)target;
    if (strcmp(text, "peer") == 0)
        return true;
    usage_error(c, "--display",
                "'%s' is not available: SPE records have no HITM; lines are sorted by loads that "
                "other cores served (peer)",
                text);
    return false;
}

static const struct option_row options[] = {
    {OPTION_TEXT("What to show:")},
    {"top", 0, "N", "lines (10)", OPTION_NUMBER(struct job, top, 1, 10000)},
    {"line-size", 0, "N",
     "bytes of a cache line, a power of two from 16 to 4096 (64, or the model's)",
     OPTION_TAKE(line_option)},
    DATA_MEMORY_OPTION(struct job, config.memory, "for lines and their users, such as 256M (64M)"),
    {"json", 0, NULL, "everything as one JSON object", OPTION_FLAG(struct job, json)},
    WIDTH_OPTION(struct job, width),
    {OPTION_ROWS(page_options)},
    {"stdio", 0, NULL, "accepted for compatibility with perf; no effect", OPTION_NOTHING},
    {"display", 'd', "peer", "likewise: lines are sorted by loads that others served",
     OPTION_TAKE(display_option)},
    {OPTION_TABLE(struct job, recording, recording_options), .without = "cd"},
    {0},
};

/* ---- the work -------------------------------------------------------------------------------- */

/* The size of a line that the recording's model was set to, "neoverse-n1 with l2=2M,line=128,
 * software SPE ..."; 0 if it has that of its CPU, or if the sentence is somebody else's. */
static uint64_t model_line_size(const struct spe_profile_info *info)
{
    const char *at =
        info->simulated && info->model_note ? strstr(info->model_note, " with ") : NULL;
    uint64_t size = 0;

    if (!at)
        return 0;
    at += strlen(" with ");
    while (strncmp(at, "line=", 5) != 0) {
        at += strcspn(at, ",");
        if (!*at || *++at == ' ') /* behind the settings */
            return 0;
    }
    for (at += 5; *at >= '0' && *at <= '9' && size <= 4096; at++)
        size = 10 * size + (uint64_t)(*at - '0');
    return *at == ',' && size >= 16 && size <= 4096 && !(size & (size - 1)) ? size : 0;
}

static void take_line_size(struct job *job, const struct spe_profile_info *info)
{
    uint64_t size = job->c2c.line_size_given ? 0 : model_line_size(info);

    if (!size)
        return;
    job->config.shift = (unsigned)__builtin_ctzll(size);
    job->c2c.line_size_of_model = true;
}

static int find(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = spe_sharing_find(user, rows);

    (void)profile;
    return result < 0 ? result : 1;
}

static int add(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = spe_sharing_add(user, rows);

    (void)profile;
    return result < 0 ? result : 1;
}

/* The first pass: with the best of what the records say something by. */
static int find_lines(struct job *job, struct spe_profile *profile, struct spe_sharing **sharing)
{
    const struct spe_profile_info *info = spe_profile_info(profile);
    enum spe_sharing_basis basis = spe_sharing_basis_of(info);
    int error;

    for (;;) {
        job->config.basis = basis;
        error = spe_sharing_create(sharing, &job->config);
        if (error == SPE_OK)
            error = spe_sharing_leave_out(*sharing, profile);
        if (error == SPE_OK)
            error = recording_rows(profile, job->c2c.report.file, find, *sharing);
        if (error < 0)
            return error;
        spe_sharing_left_out(*sharing, spe_profile_counts(profile));
        basis = spe_sharing_next_basis(spe_sharing_result(*sharing), info);
        if (basis == SPE_SHARING_BASIS_COUNT)
            return SPE_OK;
        spe_sharing_destroy(*sharing);
        *sharing = NULL;
        error = spe_profile_rewind(profile);
        if (error < 0)
            return error;
    }
}

static int find_users(struct job *job, struct spe_profile *profile, struct spe_sharing *sharing)
{
    int error = spe_sharing_choose(sharing);

    if (error > 0) {
        error = spe_profile_only_data(profile, NULL);
        if (error == SPE_OK)
            error = spe_profile_rewind(profile);
    } else if (error == SPE_OK) {
        error = spe_sharing_look_again(sharing, profile);
    }
    if (error == SPE_OK)
        error = recording_rows(profile, job->c2c.report.file, add, sharing);
    return error < 0 ? error : spe_sharing_finish(sharing);
}

static int show(struct job *job)
{
    struct report *r = &job->c2c.report;
    bool good = true;
    struct out out;

    if (!job->json)
        start_pager();
    if (!open_stdout(&out))
        return STATUS_BAD_DATA;
    if (job->json)
        c2c_json(&out, &job->c2c);
    else
        good = c2c_text(&out, &job->c2c, page_width(job->width, STDOUT_FILENO),
                        use_color(STDOUT_FILENO));
    if (r->info->damage)
        complain(r->file, "%s", r->info->damage);
    if (!good)
        complain(r->file, "%s", spe_strerror(SPE_ERR_NOMEM));
    return close_stdout(&out, good ? recording_status(r->profile) : STATUS_BAD_DATA);
}

static int answer(void *user, struct spe_profile *profile)
{
    struct job *job = user;
    struct report *r = &job->c2c.report;
    struct spe_sharing *sharing = NULL;
    int status = STATUS_BAD_DATA, error;
    const char *why;

    r->profile = profile;
    r->info = spe_profile_info(profile);
    r->counts = spe_profile_counts(profile);
    take_line_size(job, r->info);
    error = find_lines(job, profile, &sharing);
    why = error < 0 ? NULL : c2c_nothing(spe_sharing_result(sharing));
    if (!why && error == SPE_OK)
        error = find_users(job, profile, sharing);
    if (error < 0) {
        complain(r->file, "%s", spe_strerror(error));
    } else if (why) {
        if (!recording_missed(&job->recording, r->file, profile))
            complain(r->file, "%s", why);
    } else {
        job->c2c.result = spe_sharing_result(sharing);
        status = show(job);
    }
    if (status == STATUS_OK && recording_result(profile, r->file, SPE_OK) < 0)
        status = STATUS_BAD_DATA;
    spe_sharing_destroy(sharing);
    return status;
}

/* "perf c2c report" and "perf c2c record" are in people's fingers. */
static bool take_subcommand(struct job *job, int *argc, char ***argv)
{
    if (*argc > 1 && strcmp((*argv)[1], "record") == 0) {
        usage_error(job->command, "record", "is perf's word; see 'spe record --model core'");
        return false;
    }
    if (*argc > 1 && strcmp((*argv)[1], "report") == 0) {
        (*argc)--;
        (*argv)++;
    }
    return true;
}

static int run(const struct command *self, int argc, char **argv)
{
    static struct job job; /* it has room for long lists, which hardly anybody needs */
    struct report *r = &job.c2c.report;
    int status;

    memset(&job, 0, sizeof(job));
    job.command = self;
    if (!take_subcommand(&job, &argc, &argv))
        return STATUS_USAGE;
    recording_init(&job.recording);
    job.recording.options.order = SPE_ORDER_FAST;
    job.recording.options.omit = SPE_ANALYSIS_OMIT;
    job.config.size = sizeof(job.config);
    job.top = 10;
    if (!take_options(self, &job, argc, argv, &status))
        return status;
    r->file = recording_file(&job.recording, self, argc, argv);
    if (!r->file)
        return STATUS_USAGE;
    job.config.top = (size_t)job.top;
    r->quiet = job.recording.quiet;
    return recording_run(&job.recording, self, r->file, answer, &job);
}

const struct command command_c2c = {
    .name = "c2c",
    .summary = "cache lines that travel between cores: true and false sharing",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
