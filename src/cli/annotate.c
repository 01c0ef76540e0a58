/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe annotate: source lines and instructions of the hottest functions, or of those that are named.
 */
#include "render/annotate.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count_of.h"
#include "base/vector.h"
#include "cli/cli.h"
#include "cli/functions.h"
#include "cli/recording.h"
#include "cli/words.h"
#include "render/report.h"

static const char usage[] =
    "Usage: spe annotate [OPTION]... [PLACE] [FILE]\n"
    "\n"
    "Source lines and instructions of the hottest functions, or of those at PLACE, with\n"
    "samples, latency, misses and where loads were served. PLACE is the name of a\n"
    "function, FILE:LINE of its source, or an address: 0x1234, function+0x10,\n"
    "library.so+0x1234. FILE is a perf.data file (perf.data).\n";

static const char examples[] = "Examples:\n"
                               "  spe annotate\n"
                               "  spe annotate walk perf.data\n"
                               "  spe annotate --asm -F share,latency,served table.c:120\n"
                               "  spe annotate -i perf.data --source --source-dir ~/src/zstd\n";

/* What is asked for. */
struct place {
    const char *text; /* NULL: the hottest functions */
    enum { PLACE_HOTTEST, PLACE_FUNCTION, PLACE_LINE, PLACE_ADDRESS } kind;
    char name[1024]; /* a function or a dso of an address; or a source file */
    uint64_t number; /* line, or address */
};

struct job {
    const struct command *command;
    struct recording recording;
    struct annotate annotate;
    struct annotate_sources sources;
    struct place place;
    VECTOR(struct spe_code_choice) choices;
    uint64_t top, width;
    bool json, sorted; /* sorted: --sort says by what */
};

/* ---- options --------------------------------------------------------------------------------- */

static bool columns_option(const struct command *c, void *target, const char *text)
{
    const char *names[ANNOTATE_COLUMNS + 1] = {NULL}, *word = text;
    struct job *job = target;
    char list[256];

    for (unsigned i = 0; i < ANNOTATE_COLUMNS; i++)
        names[i] = annotate_column_name(i);
    job->annotate.chosen = true;
    job->annotate.columns = 0;
    for (;;) {
        size_t length = strcspn(word, ",");
        unsigned i = find_name(names, word, length);

        if (i == ANNOTATE_COLUMNS) {
            list_names(list, sizeof(list), names, ANNOTATE_COLUMNS, " and ");
            usage_error(c, "--columns", "there is no column '%.*s'; there are %s",
                        length < 40 ? (int)length : 40, word, list);
            return false;
        }
        job->annotate.columns |= 1u << i;
        if (!word[length])
            return true;
        word += length + 1;
    }
}

static bool sort_option(const struct command *c, void *target, const char *text)
{
    static const char *const names[] = {"samples", "latency", NULL};
    struct job *job = target;
    unsigned key;

    if (!choice_option(c, "--sort", text, names, &key))
        return false;
    job->sorted = true;
    job->annotate.by_latency = key > 0;
    return true;
}

static bool limit_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    double percent;

    if (!share_option(c, "--percent-limit", text, &percent))
        return false;
    job->annotate.limit = percent / 100;
    return true;
}

/* perf has hits and periods of each; they are the same here. */
static bool percent_option(const struct command *c, void *target, const char *text)
{
    static const char *const types[] = {"local",  "local-hits",  "local-period",
                                        "global", "global-hits", "global-period"};
    struct job *job = target;

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (strcmp(types[i], text) == 0) {
            job->annotate.global = i >= 3;
            return true;
        }
    }
    usage_error(c, "--percent-type", "'%s' is neither local nor global", text);
    return false;
}

static const struct option_row options[] = {
    {OPTION_TEXT("What to show:")},
    {"symbol", 's', "NAME", "the same as PLACE, as in perf", OPTION_STRING(struct job, place.text)},
    {"top", 0, "N", "number of functions without PLACE (3)",
     OPTION_NUMBER(struct job, top, 1, FUNCTIONS_MAX)},
    {"sort", 0, "KEY", "hot by latency or by samples (latency; samples if there are no latencies)",
     OPTION_TAKE(sort_option)},
    {"source", 0, NULL, "source lines only", OPTION_FLAG(struct job, annotate.source)},
    {"asm", 0, NULL, NULL, OPTION_FLAG(struct job, annotate.assembly)},
    {"no-source", 0, NULL, "instructions only", OPTION_FLAG(struct job, annotate.assembly)},
    {"all", 0, NULL, "also show code without samples", OPTION_FLAG(struct job, annotate.all)},
    {"percent-limit", 0, "N", "also fold instructions with less than N % of the function",
     OPTION_TAKE(limit_option)},
    {"columns", 'F', "LIST",
     "of: share, interval, samples, latency, weight, issue, translation, execution, l1, llc, tlb, "
     "served, mispredicted, operation (as many as there is room for)",
     OPTION_TAKE(columns_option)},
    {"percent-type", 0, "T", "shares of the function (local) or of all samples (global)",
     OPTION_TAKE(percent_option)},
    {"asm-raw", 0, NULL, "also show the instruction words",
     OPTION_FLAG(struct job, annotate.words)},
    {"full-paths", 'P', NULL, "full paths of source files, not only names",
     OPTION_FLAG(struct job, annotate.full_paths)},
    {"source-dir", 0, "DIR", "look for source files below DIR",
     OPTION_STRING(struct job, sources.directory)},
    {"json", 0, NULL, "everything as one JSON object", OPTION_FLAG(struct job, json)},
    WIDTH_OPTION(struct job, width),
    {OPTION_ROWS(page_options)},
    {"stdio", 0, NULL, NULL, OPTION_NOTHING},
    {"print-line", 'l', NULL, NULL, OPTION_NOTHING},
    {"show-nr-samples", 'n', NULL, "accepted for compatibility with perf; no effect",
     OPTION_NOTHING},
    {OPTION_TABLE(struct job, recording, recording_options)},
    {0},
};

/* "function", "file.c:12", "0x1234", "name+0x10". */
static void read_place(struct place *p)
{
    const char *colon = strrchr(p->text, ':'), *plus = strrchr(p->text, '+');
    char *end;

    p->kind = PLACE_FUNCTION;
    if (strncmp(p->text, "0x", 2) == 0) {
        p->number = strtoull(p->text, &end, 16);
        p->kind = *end ? PLACE_FUNCTION : PLACE_ADDRESS;
    } else if (plus && strncmp(plus, "+0x", 3) == 0) {
        p->number = strtoull(plus + 1, &end, 16);
        p->kind = *end ? PLACE_FUNCTION : PLACE_ADDRESS;
        snprintf(p->name, sizeof(p->name), "%.*s", (int)(plus - p->text), p->text);
    } else if (colon && colon > p->text && colon[1] >= '0' && colon[1] <= '9') {
        p->number = strtoull(colon + 1, &end, 10);
        p->kind = *end ? PLACE_FUNCTION : PLACE_LINE;
        snprintf(p->name, sizeof(p->name), "%.*s", (int)(colon - p->text), p->text);
    }
}

/* Does a perf.data have this name? Programs and functions are often called the same, so that being
 * a file is not enough. */
static bool is_recording(const char *path)
{
    char magic[8] = "";
    struct stat st;
    bool is = false;
    FILE *f;

    if (strcmp(path, "-") == 0)
        return true;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !(f = fopen(path, "re")))
        return false;
    if (fread(magic, 1, sizeof(magic), f) == sizeof(magic))
        is = memcmp(magic, "PERFILE2", sizeof(magic)) == 0;
    fclose(f);
    return is;
}

/* Words that are not options: a place, a recording, or both. False after a complaint. */
static bool take_words(struct job *job, int argc, char **argv)
{
    for (; optind < argc; optind++) {
        char *word = argv[optind];
        bool recording = !job->recording.input && is_recording(word);

        if (recording) {
            job->recording.input = word;
        } else if (!job->place.text) {
            job->place.text = word;
        } else if (!job->recording.input) {
            job->recording.input = word; /* opening it says what is wrong with it */
        } else {
            usage_error(job->command, word, "give one place and one file only");
            return false;
        }
    }
    if (job->place.text)
        read_place(&job->place);
    job->annotate.file = recording_file(&job->recording, job->command, argc, argv);
    return job->annotate.file != NULL;
}

/* ---- which functions ------------------------------------------------------------------------- */

static int failed(const struct job *job, int error)
{
    complain(job->annotate.file, "%s", spe_strerror(error));
    return STATUS_BAD_DATA;
}

/* A name without its parameters is enough: "walk" for "walk(int)". */
static bool is_called(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);

    return strncmp(name, wanted, length) == 0 && (!name[length] || name[length] == '(');
}

/* A path, or the end of it: "src/table.c" of "/home/me/src/table.c". */
static bool is_path(const char *path, const char *wanted)
{
    size_t all = strlen(path), length = strlen(wanted);

    return length <= all && strcmp(path + all - length, wanted) == 0 &&
           (length == all || wanted[0] == '/' || path[all - length - 1] == '/');
}

static bool has_address(struct spe_profile *profile, const struct place *p,
                        const struct spe_profile_symbol *symbol)
{
    const struct spe_profile_dso *dso = spe_profile_dso(profile, symbol->dso);
    bool inside = p->number >= symbol->address && p->number - symbol->address < symbol->size;

    if (!p->name[0])
        return inside;
    if (is_called(symbol->name, p->name))
        return p->number < symbol->size;
    return inside && dso && strcmp(spe_profile_string(profile, dso->name), p->name) == 0;
}

/* Of a function that is named; one pass over the rows is then enough. */
static bool is_named(void *user, struct spe_profile *profile, uint64_t id)
{
    const struct place *p = user;
    struct spe_profile_symbol symbol;

    return spe_profile_symbol(profile, id, &symbol) == SPE_OK && is_called(symbol.name, p->text);
}

static bool is_wanted(struct job *job, struct spe_profile *profile, const struct spe_group *group)
{
    const struct place *p = &job->place;
    struct spe_profile_symbol symbol;
    struct spe_profile_line line;

    if (p->kind == PLACE_HOTTEST)
        return job->choices.count < job->top;
    if (p->kind == PLACE_LINE)
        return spe_profile_line(profile, group->line, &line) == SPE_OK && line.line == p->number &&
               is_path(spe_profile_string(profile, line.file), p->name);
    return p->kind == PLACE_ADDRESS &&
           spe_profile_symbol(profile, group->symbol, &symbol) == SPE_OK &&
           has_address(profile, p, &symbol);
}

static bool is_chosen(const struct job *job, const struct spe_group *group)
{
    for (size_t i = 0; i < job->choices.count; i++) {
        if (job->choices.at[i].symbol == group->symbol && job->choices.at[i].dso == group->dso)
            return true;
    }
    return false;
}

static bool choose(struct job *job, struct spe_profile *profile, const struct spe_group *groups,
                   size_t count)
{
    for (size_t i = 0; i < count && job->choices.count < FUNCTIONS_MAX; i++) {
        if (!is_wanted(job, profile, &groups[i]) || is_chosen(job, &groups[i]))
            continue;
        if (VECTOR_ROOM(&job->choices) < 0)
            return false;
        job->choices.at[job->choices.count++] =
            (struct spe_code_choice){groups[i].symbol, groups[i].dso};
    }
    return true;
}

/* An address as it was when the program ran, which is what `spe script` shows. */
static bool choose_by_pc(struct job *job, struct spe_profile *profile)
{
    size_t maps = spe_profile_map_count(profile);

    for (uint32_t i = 0; i < maps && !job->place.name[0]; i++) {
        const struct spe_profile_map *map = spe_profile_map(profile, i);
        uint64_t pc = job->place.number, symbol;

        if (pc < map->start || pc >= map->end)
            continue;
        symbol = spe_profile_find_symbol(profile, i, pc);
        if (VECTOR_ROOM(&job->choices) < 0)
            return false;
        job->choices.at[job->choices.count++] = (struct spe_code_choice){symbol, map->dso};
        return true;
    }
    return true;
}

#define NEAR_NAMES 1000

/* Nothing has samples there. */
static int nothing_there(struct job *job, struct spe_profile *profile,
                         const struct spe_group *groups, size_t count)
{
    const char *names[NEAR_NAMES], *near = NULL;
    struct spe_profile_symbol symbol;
    size_t n = 0;

    recording_warn(&job->recording, profile, job->annotate.file);
    for (size_t i = 0; i < count && n < NEAR_NAMES; i++) {
        if (spe_profile_symbol(profile, groups[i].symbol, &symbol) == SPE_OK)
            names[n++] = symbol.name;
    }
    if (job->place.kind == PLACE_FUNCTION)
        near = nearest_name(job->place.text, names, n);
    if (!job->place.text)
        complain(job->annotate.file, "there are no samples");
    else if (near)
        complain(job->annotate.file, "no sample is in '%s'; did you mean '%s'?", job->place.text,
                 near);
    else
        complain(job->annotate.file,
                 "no sample is in '%s'; 'spe report --by function' lists functions with samples",
                 job->place.text);
    return STATUS_BAD_DATA;
}

/* Latency is what SPE is for; some recordings have none. */
static void sort_by_default(struct job *job, uint64_t latency)
{
    if (!job->sorted)
        job->annotate.by_latency = latency != 0;
}

/* The first pass: which functions (and lines) have samples. */
static int choose_functions(struct job *job, struct spe_profile *profile)
{
    enum spe_group_by by = job->place.kind == PLACE_LINE ? SPE_BY_FUNCTION_LINE : SPE_BY_FUNCTION;
    struct spe_analysis_config config = {.size = sizeof(config), .by = 1u << by};
    struct spe_analysis *analysis = NULL;
    struct spe_counts totals;
    struct spe_group *groups = NULL;
    int status = STATUS_OK, error = spe_analysis_create(&analysis, &config);
    size_t count = 0;

    if (error == SPE_OK)
        error = recording_analyse(profile, job->annotate.file, analysis);
    if (error == SPE_OK) {
        spe_analysis_totals(analysis, &totals);
        sort_by_default(job, totals.latency);
        count = spe_analysis_group_count(analysis, by);
        groups = calloc(count + 1, sizeof(*groups));
    }
    if (groups)
        count = spe_analysis_groups(analysis, by,
                                    job->annotate.by_latency ? SPE_SORT_LATENCY : SPE_SORT_SAMPLES,
                                    groups, count);
    if (error == SPE_OK && (!groups || !choose(job, profile, groups, count)))
        error = SPE_ERR_NOMEM;
    if (error == SPE_OK && !job->choices.count && job->place.kind == PLACE_ADDRESS &&
        !choose_by_pc(job, profile))
        error = SPE_ERR_NOMEM;
    if (error < 0) {
        status = failed(job, error);
    } else if (!job->choices.count) {
        status = nothing_there(job, profile, groups, count);
    }
    free(groups);
    spe_analysis_destroy(analysis);
    return status;
}

/* ---- the work -------------------------------------------------------------------------------- */

static int show(struct job *job)
{
    struct annotate *a = &job->annotate;
    struct out out;
    int error;

    sort_by_default(job, a->latency);
    if (!job->json)
        start_pager();
    if (!open_stdout(&out))
        return STATUS_BAD_DATA;
    if (job->json)
        error = annotate_json(&out, a);
    else
        error =
            annotate_text(&out, a, page_width(job->width, STDOUT_FILENO), use_color(STDOUT_FILENO));
    recording_warn(&job->recording, a->profile, a->file);
    return close_stdout(&out, error < 0 ? failed(job, error) : recording_status(a->profile));
}

static int count_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = spe_annotation_add(user, profile, rows);

    if (result >= 0)
        result = spe_annotation_narrow(user, profile, rows);
    return result < 0 ? result : 1;
}

/* The pass that counts. SPE_OK, or an error that has not been reported. */
static int count_instructions(struct job *job, struct spe_profile *profile,
                              struct spe_annotation *annotation)
{
    int error = spe_annotation_narrow(annotation, profile, NULL);

    if (error >= 0)
        error = recording_rows(profile, job->annotate.file, count_rows, annotation);
    if (error >= 0)
        error = spe_annotation_widen(annotation, profile);
    return error < 0 ? error : spe_annotation_finish(annotation);
}

/* Chooses functions, by a pass of its own or while counting, and counts. */
static int annotate_rows(struct job *job, struct spe_profile *profile,
                         struct spe_annotation **annotation)
{
    bool named = job->place.kind == PLACE_FUNCTION;
    int status = named ? STATUS_OK : choose_functions(job, profile), error;
    size_t found = 0;

    if (status != STATUS_OK)
        return status;
    error = spe_annotation_create(annotation, job->choices.at, job->choices.count);
    if (error == SPE_OK && named)
        spe_annotation_ask(*annotation, is_named, &job->place);
    else if (error == SPE_OK)
        error = spe_profile_rewind(profile);
    if (error == SPE_OK)
        error = count_instructions(job, profile, *annotation);
    if (error < 0)
        return failed(job, error);
    spe_annotation_choices(*annotation, &found);
    if (found)
        return STATUS_OK;
    error = spe_profile_rewind(profile);
    return error < 0 ? failed(job, error) : choose_functions(job, profile); /* which says it */
}

static int annotate_profile(void *user, struct spe_profile *profile)
{
    struct job *job = user;
    struct spe_annotation *annotation = NULL;
    int status = annotate_rows(job, profile, &annotation);

    job->annotate.profile = profile;
    if (status == STATUS_OK)
        status = functions_describe(&job->annotate, profile, annotation)
                     ? show(job)
                     : failed(job, SPE_ERR_NOMEM);
    if (status == STATUS_OK && recording_result(profile, job->annotate.file, SPE_OK) < 0)
        status = STATUS_BAD_DATA;
    spe_annotation_destroy(annotation);
    return status;
}

static void free_job(struct job *job)
{
    functions_free(&job->annotate);
    annotate_sources_free(&job->sources);
    free(job->choices.at);
}

static int run(const struct command *self, int argc, char **argv)
{
    static struct job job; /* it has room for long lists, which hardly anybody needs */
    struct annotate *a = &job.annotate;
    int status;

    memset(&job, 0, sizeof(job));
    job.command = self;
    recording_init(&job.recording);
    job.recording.options.order = SPE_ORDER_FAST;
    job.recording.options.omit = SPE_ANNOTATION_OMIT;
    job.top = 3;
    a->sources = &job.sources;
    if (!take_options(self, &job, argc, argv, &status))
        return status;
    if (!a->source && !a->assembly)
        a->source = a->assembly = true;
    if (!take_words(&job, argc, argv))
        return STATUS_USAGE;
    job.sources.recorded = recording_made_at(a->file);
    status = recording_run(&job.recording, self, a->file, annotate_profile, &job);
    free_job(&job);
    return status;
}

const struct command command_annotate = {
    .name = "annotate",
    .summary = "source lines and instructions of the hottest functions",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
