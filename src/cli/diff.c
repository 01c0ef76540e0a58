/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe diff: what changed between two recordings, and is it more than chance? */
#include "render/diff.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/words.h"
#include "record/stat_file.h"

static const char usage[] =
    "Usage: spe diff [OPTION]... OLD NEW\n"
    "\n"
    "The changes between two recordings, for the whole program and by function, and\n"
    "whether they are significant. Functions are matched by name.\n"
    "OLD and NEW are perf.data files or raw SPE bytes; or both are files of\n"
    "'spe record --stat-json', which have exact counts.\n";

static const char examples[] =
    "Examples:\n"
    "  spe diff before.data after.data\n"
    "  spe diff --by line --per run before.data after.data\n"
    "  spe diff --fail-if 'operations > +1%' --fail-if 'l1_misses > +2%' old.json new.json\n";

#define FILES 64 /* of a side */
#define GATES 32
#define NAME 256

/* --fail-if: [FUNCTION:] QUANTITY > BOUND */
struct bound {
    const char *text;
    char function[NAME];
    unsigned quantity;
    bool below, percent;
    double value;
};

struct job {
    const struct command *command;
    struct recording recording;
    struct spe_diff_config config;
    struct diff page;
    const char *files[2][FILES];
    struct bound bounds[GATES];
    struct diff_gate gates[GATES];
    size_t bound_count;
    bool json, per_given, exact;
    uint64_t width, top;
};

/* ---- bounds ---------------------------------------------------------------------------------- */

struct alias {
    const char *word;
    enum spe_diff_quantity quantity;
};

static const struct alias aliases[] = {
    {"instructions", SPE_DIFF_OPERATIONS},
    {"executions", SPE_DIFF_OPERATIONS},
    {"samples", SPE_DIFF_OPERATIONS},
    {"cycles", SPE_DIFF_LATENCY},
    {"l1d_miss", SPE_DIFF_L1_MISSES},
    {"l1_miss", SPE_DIFF_L1_MISSES},
    {"llc_miss", SPE_DIFF_LLC_MISSES},
    {"tlb_walk", SPE_DIFF_WALKS},
    {"tlb_walks", SPE_DIFF_WALKS},
    {"mispredict", SPE_DIFF_MISPREDICTED},
    {"mispredictions", SPE_DIFF_MISPREDICTED},
};

static unsigned quantity_named(const char *word)
{
    unsigned q;

    for (size_t i = 0; i < COUNT_OF(aliases); i++) {
        if (strcmp(aliases[i].word, word) == 0)
            return aliases[i].quantity;
    }
    for (q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        if (strcmp(spe_diff_quantity_name(q), word) == 0)
            break;
    }
    return q;
}

/* "+5%", "-1000"; false if it is none. */
static bool take_value(struct bound *b, const char *text)
{
    char *end;

    b->value = strtod(text, &end);
    if (end == text || !isfinite(b->value))
        return false;
    while (isspace((unsigned char)*end))
        end++;
    b->percent = *end == '%';
    end += b->percent;
    while (isspace((unsigned char)*end))
        end++;
    return !*end;
}

/* The words before the sign: a function, which may have colons of its own, and the quantity. */
static bool take_names(struct bound *b, const char *text, size_t length)
{
    char names[NAME], *quantity = names, *colon = NULL;

    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    if (length >= sizeof(names))
        return false;
    memcpy(names, text, length);
    names[length] = '\0';
    for (char *c = strchr(names, ':'); c; c = strchr(c + 1, ':')) {
        if (isspace((unsigned char)c[1]))
            colon = c;
    }
    if (colon) {
        *colon = '\0';
        quantity = colon + 1;
        snprintf(b->function, sizeof(b->function), "%s", names + strspn(names, " \t"));
    }
    b->quantity = quantity_named(quantity + strspn(quantity, " \t"));
    return true;
}

static bool fail_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    struct bound *b = &job->bounds[job->bound_count];
    size_t length = strlen(text);
    const char *sign = NULL;

    if (job->bound_count == GATES) {
        usage_error(c, "--fail-if", "there are more than %d bounds", GATES);
        return false;
    }
    for (size_t i = length; i > 0 && !sign; i--) { /* names of functions may have these signs */
        if (text[i - 1] == '>' || text[i - 1] == '<')
            sign = text + i - 1;
    }
    *b = (struct bound){.text = text, .below = sign && *sign == '<'};
    if (!sign || !take_names(b, text, (size_t)(sign - text)) || !take_value(b, sign + 1)) {
        usage_error(c, "--fail-if",
                    "'%s' is not a bound; it is QUANTITY > +N%%, such as 'latency > +5%%'", text);
        return false;
    }
    if (b->quantity == SPE_DIFF_QUANTITIES) {
        const char *names[SPE_DIFF_QUANTITIES];
        char list[256];

        for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++)
            names[q] = spe_diff_quantity_name(q);
        list_names(list, sizeof(list), names, SPE_DIFF_QUANTITIES, " and ");
        usage_error(c, "--fail-if", "'%s': there are bounds of %s", text, list);
        return false;
    }
    job->bound_count++;
    return true;
}

/* Bounds that can never be exceeded are a mistake in somebody's script. */
static bool bounds_make_sense(const struct job *job)
{
    for (size_t i = 0; i < job->bound_count; i++) {
        const struct bound *b = &job->bounds[i];
        const struct spe_diff_result *r = job->page.result;

        if (!(r->known >> b->quantity & 1)) {
            complain(
                b->text, "%s is not known of both sides%s", spe_diff_quantity_name(b->quantity),
                r->exact && b->quantity == SPE_DIFF_LATENCY      ? ": exact counts have no latency"
                : r->exact && b->quantity >= SPE_DIFF_MISALIGNED ? ": it is not counted exactly"
                : r->exact ? ": without a model, misses and mispredictions are not counted"
                           : "");
            return false;
        }
        if (b->quantity == SPE_DIFF_OPERATIONS && !*b->function &&
            job->config.per == SPE_PER_OPERATION) {
            complain(b->text, "per operation there is always one operation: see --per run");
            return false;
        }
    }
    return true;
}

static const struct spe_change *change_of(const struct job *job, const struct bound *b)
{
    const struct spe_diff_result *r = job->page.result;

    if (!*b->function)
        return &r->total->changes[b->quantity];
    for (size_t i = 0; i < r->row_count; i++) {
        if (strcmp(r->rows[i].function, b->function) == 0)
            return &r->rows[i].changes[b->quantity];
    }
    return NULL;
}

/* STATUS_OK, or STATUS_BAD_DATA if one is exceeded or names a function that is not there. */
static int judge(struct job *job)
{
    int status = STATUS_OK;

    for (size_t i = 0; i < job->bound_count; i++) {
        const struct bound *b = &job->bounds[i];
        struct diff_gate *gate = &job->gates[i];

        gate->text = b->text;
        gate->change = change_of(job, b);
        gate->failed = gate->change && spe_change_exceeds(gate->change, b->value, b->below,
                                                          b->percent, job->page.result->exact);
        if (!gate->change)
            complain(b->text, "there is no such function on either side");
        if (!gate->change || gate->failed)
            status = STATUS_BAD_DATA;
    }
    job->page.gates = job->gates;
    job->page.gate_count = job->bound_count;
    return status;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool by_option(const struct command *c, void *target, const char *text)
{
    static const enum spe_group_by all[] = {SPE_BY_FUNCTION, SPE_BY_FUNCTION_LINE, SPE_BY_DSO};
    const char *names[] = {diff_by_name(all[0]), diff_by_name(all[1]), diff_by_name(all[2]), NULL};
    struct job *job = target;
    unsigned i;

    if (!choice_option(c, "--by", text, names, &i))
        return false;
    job->config.by = all[i];
    return true;
}

static bool per_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;

    (void)c;
    job->per_given = true;
    job->config.function = NULL;
    if (strcmp(text, "operation") == 0 || strcmp(text, "operations") == 0)
        job->config.per = SPE_PER_OPERATION;
    else if (strcmp(text, "run") == 0)
        job->config.per = SPE_PER_RUN;
    else if (strcmp(text, "time") == 0)
        job->config.per = SPE_PER_TIME;
    else
        job->config.per = SPE_PER_FUNCTION;
    if (job->config.per == SPE_PER_FUNCTION)
        job->config.function = text;
    return true;
}

static bool add_file(struct job *job, unsigned side, const char *file)
{
    size_t *count = &job->page.file_count[side];

    if (*count == FILES) {
        usage_error(job->command, file, "more than %d recordings of one side", FILES);
        return false;
    }
    job->files[side][(*count)++] = file;
    return true;
}

/* -i and the arguments: first the old one, then the new one. */
static bool take_files(struct job *job, int argc, char **argv)
{
    const char *files[2];
    int n = 0;

    if (job->recording.input)
        files[n++] = job->recording.input;
    for (int i = optind; i < argc; i++) {
        if (n == 2) {
            usage_error(job->command, argv[i], "give two recordings; --old and --new add more");
            return false;
        }
        files[n++] = argv[i];
    }
    for (int i = 0, side = 0; i < n; i++, side++) {
        if (n == 1 && job->page.file_count[0])
            side = 1; /* --old FILE, and the new one */
        if (!add_file(job, (unsigned)side, files[i]))
            return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        job->page.file[side] = job->files[side][0];
        if (job->page.file_count[side])
            continue;
        usage_error(job->command, side ? "NEW" : "OLD", "two recordings are compared: OLD and NEW");
        return false;
    }
    return true;
}

static bool old_option(const struct command *c, void *target, const char *text)
{
    (void)c;
    return add_file(target, 0, text);
}

static bool new_option(const struct command *c, void *target, const char *text)
{
    (void)c;
    return add_file(target, 1, text);
}

static const struct option_row options[] = {
    {OPTION_TEXT("What to compare:")},
    {"per", 0, "UNIT",
     "unit of work: operation, run (the whole run), time (seconds), or the name of a function, "
     "whose operations are the unit (operation; for exact counts run)",
     OPTION_TAKE(per_option)},
    {"by", 0, "WHAT", "by function, line or dso (function)", OPTION_TAKE(by_option)},
    {"old", 0, "FILE", "another recording of the old program", OPTION_TAKE(old_option)},
    {"new", 0, "FILE", "another recording of the new program", OPTION_TAKE(new_option)},
    {"fail-if", 0, "BOUND",
     "exit with status 1 if the bound is exceeded, such as 'latency > +5%', or 'walk: latency > "
     "+5%' for one function. Quantities: operations, latency, loads, stores, branches, not_taken, "
     "mispredicted, l1_misses, llc_misses, walks, misaligned, partial_predicates",
     OPTION_TAKE(fail_option)},
    {OPTION_TEXT("\nWhat to show:")},
    {"top", 0, "N", "rows (10)", OPTION_NUMBER(struct job, top, 1, 1000000)},
    {"all", 0, NULL, "also rows without a significant change", OPTION_FLAG(struct job, page.all)},
    {"json", 0, NULL, "everything as one JSON object", OPTION_FLAG(struct job, json)},
    WIDTH_OPTION(struct job, width),
    {OPTION_ROWS(page_options)},
    {OPTION_TABLE(struct job, recording, recording_options), .without = "cd"},
    {0},
};

/* ---- the work -------------------------------------------------------------------------------- */

struct reading {
    struct spe_diff *diff;
    unsigned side;
};

static int add(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    const struct reading *reading = user;
    int result = spe_diff_add(reading->diff, reading->side, profile, rows);

    return result < 0 ? result : 1;
}

/* False: there is nothing to compare, and *status says why. */
static bool read_recording(struct job *job, struct reading *reading, const char *file, int *status)
{
    struct spe_profile *profile;
    int result;

    *status = recording_open(&job->recording, job->command, file, &profile);
    if (*status != STATUS_OK)
        return false;
    result = recording_rows(profile, file, add, reading);
    if (result == SPE_OK)
        result = spe_diff_end_side(reading->diff, reading->side, profile);
    *status =
        recording_result(profile, file, result) < 0 ? STATUS_BAD_DATA : recording_status(profile);
    if (spe_profile_info(profile)->damage)
        complain(file, "%s", spe_profile_info(profile)->damage);
    recording_warn(&job->recording, profile, file);
    if (job->config.per == SPE_PER_TIME && spe_profile_info(profile)->simulated &&
        !job->recording.quiet)
        complain(file, "its time is that of the emulator, not of a processor");
    recording_missed(&job->recording, file, profile);
    spe_profile_close(profile);
    return result >= 0;
}

static bool read_file(struct job *job, struct reading *reading, const char *file, int *status)
{
    char why[STAT_FILE_WHY];

    if (!job->exact)
        return read_recording(job, reading, file, status);
    *status = STATUS_OK;
    if (stat_file_read(file, reading->diff, reading->side, why))
        return true;
    complain(file, "%s", why);
    *status = STATUS_BAD_DATA;
    return false;
}

/* Both sides are exact, or neither is. */
static bool same_kind(struct job *job)
{
    const char *exact = NULL, *other = NULL;

    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = 0; i < job->page.file_count[side]; i++) {
            const char *file = job->files[side][i];

            *(is_stat_file(file) ? &exact : &other) = file;
        }
    }
    job->exact = exact && !other;
    if (exact && other)
        complain(other, "%s has exact counts; they are not compared with a recording", exact);
    return !exact || !other;
}

static void say_no_work(const struct job *job)
{
    const char *file = job->page.file[0];

    switch (job->config.per) {
    case SPE_PER_RUN:
        complain(file, "the interval of samples is not known of both: --per run needs it");
        break;
    case SPE_PER_TIME:
        complain(file, "%s: --per time needs it",
                 job->exact ? "exact counts have no time" : "the time is not known of both");
        break;
    case SPE_PER_FUNCTION:
        complain(job->config.function, "no operation of a function of this name is on both sides");
        break;
    default:
        complain(file, "there are no samples on both sides to compare");
        break;
    }
}

static int show(struct job *job, int status)
{
    bool good = true;
    struct out out;

    if (!job->json)
        start_pager();
    if (!open_stdout(&out))
        return STATUS_BAD_DATA;
    if (job->json)
        diff_json(&out, &job->page);
    else
        good = diff_text(&out, &job->page, page_width(job->width, STDOUT_FILENO),
                         use_color(STDOUT_FILENO));
    if (!good)
        complain(job->page.file[0], "%s", spe_strerror(SPE_ERR_NOMEM));
    return close_stdout(&out, good ? status : STATUS_BAD_DATA);
}

static int answer(struct job *job, struct spe_diff *diff, int status)
{
    int error = spe_diff_finish(diff), judged;

    if (error == SPE_ERR_UNKNOWN) {
        say_no_work(job);
        return STATUS_BAD_DATA;
    }
    if (error < 0) {
        complain(job->page.file[0], "%s", spe_strerror(error));
        return STATUS_BAD_DATA;
    }
    job->page.result = spe_diff_result(diff);
    if (!bounds_make_sense(job))
        return STATUS_USAGE;
    judged = judge(job);
    return show(job, status == STATUS_OK ? judged : status);
}

static bool read_all(struct job *job, struct spe_diff *diff, int *status)
{
    int read = STATUS_OK;
    bool good = true;

    *status = STATUS_OK;
    for (unsigned side = 0; side < 2; side++) {
        struct reading reading = {diff, side};

        for (size_t i = 0; i < job->page.file_count[side] && good; i++) {
            good = read_file(job, &reading, job->files[side][i], &read);
            *status = read != STATUS_OK ? read : *status;
        }
    }
    return good;
}

static int compare(struct job *job)
{
    struct spe_diff *diff;
    int status, error = spe_diff_create(&diff, &job->config);

    if (error < 0) {
        complain(job->page.file[0], "%s", spe_strerror(error));
        return STATUS_BAD_DATA;
    }
    if (read_all(job, diff, &status))
        status = answer(job, diff, status);
    spe_diff_destroy(diff);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    static struct job job; /* it has room for long lists, which hardly anybody needs */
    int status;

    memset(&job, 0, sizeof(job));
    job.command = self;
    recording_init(&job.recording);
    job.recording.options.order = SPE_ORDER_FAST;
    job.recording.options.omit = SPE_DIFF_OMIT;
    spe_diff_config_init(&job.config);
    job.top = 10;
    if (!take_options(self, &job, argc, argv, &status))
        return status;
    if (!take_files(&job, argc, argv) || !recording_choose(&job.recording, self))
        return STATUS_USAGE;
    if (!same_kind(&job))
        return STATUS_BAD_DATA;
    if (job.exact && !job.per_given)
        job.config.per = SPE_PER_RUN;
    job.page.by = job.config.by;
    job.page.per = job.config.per;
    job.page.function = job.config.function;
    job.page.top = (size_t)job.top;
    return compare(&job);
}

const struct command command_diff = {
    .name = "diff",
    .summary = "what changed between two recordings, and whether it is chance",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
