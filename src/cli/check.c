/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe check: is every record one that the architecture allows, and where did every byte go? */
#include <inttypes.h>
#include <specimen/perfdata.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "format/account.h"
#include "render/json.h"
#include "render/safe.h"
#include "render/spe_record.h"

static const char usage[] =
    "Usage: spe check [OPTION]... [FILE]...\n"
    "\n"
    "Check every record against the architecture, for a PE with these features, and\n"
    "account for every byte. FILE is a perf.data file, raw SPE bytes, or - for standard\n"
    "input (perf.data). The exit status is 1 if a rule was broken, bytes were skipped,\n"
    "or the file is damaged or incomplete.\n";

static const char examples[] = "Examples:\n"
                               "  spe check perf.data\n"
                               "  spe check --cpu neoverse-n1 trace.spe\n"
                               "  spe check --features v1p4,sve,mte2 --limit 3 trace.spe\n"
                               "  spe check --json trace.spe | jq 'select(.type == \"summary\")'\n";

/* Rules that a record breaks by lacking what a feature brings: not for features that are only
 * guessed. */
static const char *const rules_of_known_features[] = {
    "missing-data-source",
    "call-return-not-recorded",
};

struct job {
    const struct command *command;
    bool json, raw, many, list;
    uint64_t limit, max_size, align;
    struct machine_options machine;
    struct naming naming;
    struct spe_check_config config;
    size_t rules;
    uint64_t *violations, *remarks; /* by rule */
    bool *of_known_features;        /* by rule */
    uint64_t skips_shown;
    const char *file;         /* name in the reports, NULL if there is only one */
    const struct input *in;   /* the stream that is checked */
    bool titled;              /* its title has been shown */
    struct spe_account total; /* over the file's streams */
    struct out out;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool limit_option(const struct command *c, void *target, const char *text)
{
    uint64_t *limit = target;

    *limit = UINT64_MAX;
    return strcmp(text, "all") == 0 || number_option(c, "--limit", text, 0, UINT64_MAX - 1, limit);
}

static bool align_option(const struct command *c, void *target, const char *text)
{
    uint64_t *align = target;

    if (!size_option(c, "--align", text, align))
        return false;
    if (*align >= 1 && *align <= SPE_RECORD_MAX && (*align & (*align - 1)) == 0)
        return true;
    usage_error(c, "--align", "%s is not a power of two from 1 to %d", text, SPE_RECORD_MAX);
    return false;
}

static void list_rules(void)
{
    size_t i;

    for (i = 0; spe_rule_at(i); i++) {
        const struct spe_rule *rule = spe_rule_at(i);

        printf("%-29s %-19s %s\n", rule->name, rule->reference, rule->sentence);
    }
}

static const struct option_row options[] = {
    {OPTION_TEXT("What to check against:")},
    {"cpu", 0, "NAME", "this CPU's features, counters, record size and alignment",
     OPTION_STRING(struct job, machine.cpu)},
    {"features", 0, "LIST",
     "these features, for example v1p4,sve; with --cpu the list adds to the CPU's features, "
     "and -NAME removes one",
     OPTION_STRING(struct job, machine.features)},
    {"count-bits", 0, "N", "counters have 12 or 16 bits", OPTION_TAKE(count_bits_option),
     OPTION_TARGET(struct job, machine.count_bits, uint64_t)},
    {"max-size", 0, "N", "the largest record in bytes",
     OPTION_NUMBER(struct job, max_size, 16, SPE_RECORD_MAX)},
    {"align", 0, "N", "records start at a multiple of N bytes", OPTION_TAKE(align_option),
     OPTION_TARGET(struct job, align, uint64_t)},
    {"no-speculative", 0, NULL, "operations that do not retire are not sampled",
     OPTION_UNSET(struct job, config.speculative)},
    {"no-tbi", 0, NULL, "data addresses have no tag in their top byte",
     OPTION_UNSET(struct job, config.tbi)},
    {OPTION_TEXT("Without --cpu and --features, the CPU of the perf.data file; without that, each "
                 "feature may be there or not.\n"
                 "\n"
                 "What to show:")},
    {"limit", 0, "N", "show at most N reports of each rule, or 'all' (20)",
     OPTION_TAKE(limit_option), OPTION_TARGET(struct job, limit, uint64_t)},
    {"json", 0, NULL, "one JSON object per report, then a summary", OPTION_FLAG(struct job, json)},
    {"list-rules", 0, NULL, "print the rules with their sections of the Arm ARM",
     OPTION_FLAG(struct job, list)},
    {"raw", 0, NULL, "treat the file as raw SPE bytes, without a check",
     OPTION_FLAG(struct job, raw)},
    {OPTION_ROWS(page_options)},
    {0},
};

/* From the options, else from the CPU's layout. */
static void configure(struct job *job, uint64_t midr)
{
    struct spe_check_config *config = &job->config;
    const struct spe_layout *layout;

    find_machine(job->command, &job->machine, midr, &job->naming);
    layout = job->naming.cpu ? job->naming.cpu->layout : NULL;
    config->size = sizeof(*config);
    config->features = naming_features(&job->naming);
    config->count_bits = job->naming.count_bits;
    config->max_size = (unsigned)(job->max_size ? job->max_size : layout ? layout->max_size : 0);
    config->align = (unsigned)(job->align ? job->align : layout ? layout->align : 0);
}

/* ---- reports --------------------------------------------------------------------------------- */

/* Before the first report of a stream: offsets are offsets in it. */
static void stream_text(struct job *job)
{
    if (!job->titled && job->in->title[0])
        out_printf(&job->out, "%s:\n", job->in->title);
    job->titled = true;
}

static void report_text(struct job *job, const struct spe_violation *v)
{
    struct out *o = &job->out;
    bool remark = v->severity == SPE_REMARK;

    stream_text(job);
    out_hex_min(o, v->offset, 8);
    out_string(o, ": ");
    if (job->naming.color)
        out_string(o, remark ? "\033[33m" : "\033[31m");
    out_string(o, v->rule->name);
    if (job->naming.color)
        out_string(o, "\033[0m");
    out_string(o, remark ? " (remark): " : ": ");
    if (v->detail[0]) {
        out_string(o, v->detail);
        out_string(o, "; ");
    }
    out_string(o, v->rule->sentence);
    out_string(o, " [");
    out_string(o, v->rule->reference);
    out_string(o, "]\n");
}

static void report_json(struct job *job, const struct spe_violation *v)
{
    struct json j;

    json_begin(&j, &job->out);
    json_object(&j, NULL);
    json_string(&j, "type", v->severity == SPE_REMARK ? "remark" : "violation");
    if (job->file)
        json_string(&j, "file", job->file);
    if (job->in->title[0])
        json_string(&j, "stream", job->in->title);
    json_number(&j, "offset", v->offset);
    json_string(&j, "rule", v->rule->name);
    json_string(&j, "reference", v->rule->reference);
    json_string(&j, "sentence", v->rule->sentence);
    json_string(&j, "detail", v->detail);
    json_object_end(&j);
    json_end_line(&j);
}

static bool is_of_known_features(const struct spe_rule *rule)
{
    size_t i;

    for (i = 0; i < COUNT_OF(rules_of_known_features); i++) {
        if (strcmp(rule->name, rules_of_known_features[i]) == 0)
            return true;
    }
    return false;
}

static void on_violation(void *user, const struct spe_violation *v)
{
    struct job *job = user;
    size_t rule = (size_t)(v->rule - spe_rule_at(0));
    uint64_t *count;

    if (!job->naming.features_known && job->of_known_features[rule])
        return;
    count = v->severity == SPE_REMARK ? &job->remarks[rule] : &job->violations[rule];
    if ((*count)++ >= job->limit)
        return;
    if (job->json)
        report_json(job, v);
    else
        report_text(job, v);
}

static void on_skipped(struct job *job, const struct spe_item *item)
{
    if (job->skips_shown++ >= job->limit)
        return;
    if (job->json) {
        render_skipped_json(&job->out, job->file, item);
    } else {
        stream_text(job);
        render_skipped_text(&job->out, &job->naming, item);
    }
}

/* ---- summary --------------------------------------------------------------------------------- */

static uint64_t sum(const uint64_t *counts, size_t n)
{
    uint64_t total = 0;

    while (n-- > 0)
        total += counts[n];
    return total;
}

static void counts_text(struct job *job, const char *title, const uint64_t *counts)
{
    size_t i;

    if (!sum(counts, job->rules))
        return;
    out_printf(&job->out, "\n%s by rule\n", title);
    for (i = 0; i < job->rules; i++) {
        if (counts[i])
            out_printf(&job->out, "  %-34s %14" PRIu64 "\n", spe_rule_at(i)->name, counts[i]);
    }
}

static void machine_text(struct job *job)
{
    char features[1200];
    const struct spe_cpu *cpu = job->naming.cpu;

    if (!job->naming.features_known) {
        out_printf(&job->out, "checked against every feature%s%s%s\n", cpu ? ": those of " : "",
                   cpu ? cpu->title : "", cpu ? " are not known" : "");
        return;
    }
    spe_features_format(job->naming.features, features, sizeof(features));
    out_printf(&job->out, "checked against %s%s\n", cpu ? cpu->title : "",
               cpu ? " with" : "these features");
    out_string(&job->out, "  ");
    out_string(&job->out, features);
    out_char(&job->out, '\n');
}

static void account_text(struct job *job, const struct spe_account *a)
{
    struct out *o = &job->out;
    unsigned i;

    out_printf(o, "\n%-36s %14" PRIu64 "\n", job->in->account ? "SPE bytes" : "bytes", a->bytes);
    out_printf(o, "  %-34s %14" PRIu64 "  %" PRIu64 " record%s\n", "in records", a->record_bytes,
               a->records, a->records == 1 ? "" : "s");
    out_printf(o, "  %-34s %14" PRIu64 "\n", "padding between them", a->padding_bytes);
    out_printf(o, "  %-34s %14" PRIu64 "  %" PRIu64 " range%s\n", "skipped", a->skipped_bytes,
               a->skipped, a->skipped == 1 ? "" : "s");
    for (i = 0; i < SPE_SKIP_REASON_COUNT; i++) {
        if (a->skipped_by[i])
            out_printf(o, "    %-32s %14" PRIu64 "\n", spe_skip_reason_name(i), a->skipped_by[i]);
    }
    if (a->unknown)
        out_printf(o, "unknown packets stepped over         %14" PRIu64 "\n", a->unknown);
}

/* Where every byte of a perf.data went. */
static void file_text(struct out *o, const struct spe_perf_account *a)
{
    out_printf(o, "\n%-36s %14" PRIu64 "\n", "bytes of the file", a->bytes);
    out_printf(o, "  %-34s %14" PRIu64 "\n", "header and events", a->header_bytes);
    out_printf(o, "  %-34s %14" PRIu64 "  %" PRIu64 " record%s\n", "records of the recorder",
               a->record_bytes + a->attached_bytes, a->records, a->records == 1 ? "" : "s");
    out_printf(o, "  %-34s %14" PRIu64 "\n", "SPE bytes", a->aux_bytes);
    out_printf(o, "  %-34s %14" PRIu64 "\n", "padding", a->padding_bytes);
    out_printf(o, "  %-34s %14" PRIu64 "  %" PRIu64 " range%s\n", "skipped", a->skipped_bytes,
               a->ranges, a->ranges == 1 ? "" : "s");
    out_printf(o, "  %-34s %14" PRIu64 "\n", "behind the data", a->rest_bytes);
    if (a->missing_bytes)
        out_printf(o, "%-36s %14" PRIu64 "\n", "bytes that are missing", a->missing_bytes);
}

/* What is wrong, after the file's name. */
static void verdict_text(struct job *job, const struct input *in, uint64_t violations)
{
    struct out *o = &job->out;
    uint64_t skipped = job->total.skipped_bytes;

    out_printf(o, "%" PRIu64 " violation%s, %" PRIu64 " byte%s skipped", violations,
               violations == 1 ? "" : "s", skipped, skipped == 1 ? "" : "s");
    if (in->damage[0]) {
        out_string(o, ", ");
        out_string(o, in->damage);
    }
    if (in->incomplete)
        out_string(o, ", the recording is not complete");
}

static void summary_text(struct job *job, const struct input *in, const struct spe_account *a,
                         bool good)
{
    struct out *o = &job->out;
    uint64_t violations = sum(job->violations, job->rules);

    if (job->skips_shown > job->limit || violations || sum(job->remarks, job->rules))
        out_char(o, '\n');
    machine_text(job);
    counts_text(job, "violations", job->violations);
    counts_text(job, "remarks", job->remarks);
    if (in->account)
        file_text(o, in->account);
    account_text(job, a);
    out_char(o, '\n');
    out_safe(o, in->name);
    if (job->naming.color)
        out_string(o, good ? ": \033[32m" : ": \033[31m");
    else
        out_string(o, ": ");
    if (good)
        out_string(o, "good");
    else
        verdict_text(job, in, violations);
    out_string(o, job->naming.color ? "\033[0m\n" : "\n");
}

static void counts_json(struct job *job, struct json *j, const char *key, const uint64_t *counts)
{
    size_t i;

    json_object(j, key);
    for (i = 0; i < job->rules; i++) {
        if (counts[i])
            json_number(j, spe_rule_at(i)->name, counts[i]);
    }
    json_object_end(j);
}

static void file_json(struct json *j, const struct input *in)
{
    const struct spe_perf_account *a = in->account;

    json_bool(j, "complete", !in->incomplete);
    json_string(j, "damage", in->damage[0] ? in->damage : NULL);
    json_object(j, "file_bytes");
    json_number(j, "all", a->bytes);
    json_number(j, "header", a->header_bytes);
    json_number(j, "records", a->record_bytes + a->attached_bytes);
    json_number(j, "spe", a->aux_bytes);
    json_number(j, "padding", a->padding_bytes);
    json_number(j, "skipped", a->skipped_bytes);
    json_number(j, "behind", a->rest_bytes);
    json_number(j, "missing", a->missing_bytes);
    json_object_end(j);
}

static void summary_json(struct job *job, const struct spe_account *a, bool good)
{
    char features[1200];
    struct json j;
    unsigned i;

    spe_features_format(job->naming.features, features, sizeof(features));
    json_begin(&j, &job->out);
    json_object(&j, NULL);
    json_string(&j, "type", "summary");
    if (job->file)
        json_string(&j, "file", job->file);
    json_bool(&j, "good", good);
    if (job->in->account)
        file_json(&j, job->in);
    json_string(&j, "cpu", job->naming.cpu ? job->naming.cpu->name : NULL);
    json_string(&j, "features", job->naming.features_known ? features : NULL);
    json_number(&j, "bytes", a->bytes);
    json_number(&j, "records", a->records);
    json_number(&j, "record_bytes", a->record_bytes);
    json_number(&j, "padding_bytes", a->padding_bytes);
    json_number(&j, "skipped", a->skipped);
    json_number(&j, "skipped_bytes", a->skipped_bytes);
    json_object(&j, "skipped_by");
    for (i = 0; i < SPE_SKIP_REASON_COUNT; i++) {
        if (a->skipped_by[i])
            json_number(&j, spe_skip_reason_name(i), a->skipped_by[i]);
    }
    json_object_end(&j);
    json_number(&j, "unknown", a->unknown);
    counts_json(job, &j, "violations", job->violations);
    counts_json(job, &j, "remarks", job->remarks);
    json_object_end(&j);
    json_end_line(&j);
}

/* ---- the work -------------------------------------------------------------------------------- */

static void check_items(struct job *job, struct spe_stream *stream)
{
    struct spe_record record;
    struct spe_item item;

    while (spe_stream_next(stream, &item, &record)) {
        item.offset += job->in->start;
        if (item.type == SPE_ITEM_SKIPPED)
            on_skipped(job, &item);
        else
            spe_check_record(&job->config, item.bytes, (size_t)item.size, item.offset, on_violation,
                             job);
    }
}

static bool check_stream(struct job *job, struct input *in)
{
    struct progress progress;
    struct spe_stream *stream = input_stream(in);
    bool good = true;

    if (!stream)
        return false;
    job->titled = false;
    configure(job, in->midr);
    progress_start(&progress, in->name, in->size_known ? in->size : 0);
    while (in->length > 0 && good && !job->out.error) {
        spe_stream_feed(stream, in->bytes, in->length);
        check_items(job, stream);
        input_used(in, in->length);
        good = input_more(in);
        progress_update(&progress, in->offset);
    }
    spe_stream_end(stream);
    check_items(job, stream);
    progress_end(&progress);
    account_add(&job->total, spe_stream_account(stream), &(struct spe_account){0});
    free(stream);
    return good;
}

static void begin_file(struct job *job, const struct input *in)
{
    job->file = job->many ? in->name : NULL;
    job->in = in;
    job->skips_shown = 0;
    job->total = (struct spe_account){0};
    memset(job->violations, 0, job->rules * sizeof(*job->violations));
    memset(job->remarks, 0, job->rules * sizeof(*job->remarks));
}

static int check_file(struct job *job, const char *path)
{
    struct input in;
    bool good;

    if (!input_open(&in, path, 0, job->raw))
        return STATUS_BAD_DATA;
    if (in.last && in.length == 0)
        complain(in.name, "there are no bytes to check");
    begin_file(job, &in);
    do
        good = check_stream(job, &in);
    while (good && !job->out.error && input_next(&in));
    if (good && !in.failed) {
        good = !job->total.skipped_bytes && !sum(job->violations, job->rules) && !in.damage[0] &&
               !in.incomplete;
        if (job->json)
            summary_json(job, &job->total, good);
        else
            summary_text(job, &in, &job->total, good);
    }
    good = good && !in.failed;
    input_close(&in);
    job->in = NULL;
    return good ? STATUS_OK : STATUS_BAD_DATA;
}

/* False without memory. */
static bool know_rules(struct job *job)
{
    size_t i;

    while (spe_rule_at(job->rules))
        job->rules++;
    job->violations = calloc(job->rules, sizeof(*job->violations));
    job->remarks = calloc(job->rules, sizeof(*job->remarks));
    job->of_known_features = calloc(job->rules, sizeof(*job->of_known_features));
    for (i = 0; job->of_known_features && i < job->rules; i++)
        job->of_known_features[i] = is_of_known_features(spe_rule_at(i));
    return job->violations && job->remarks && job->of_known_features;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct job job = {.command = self, .limit = 20};
    struct files files;
    int status, i;

    job.config.speculative = true;
    job.config.tbi = true;
    if (!take_options(self, &job, argc, argv, &status))
        return status;
    if (job.list) {
        list_rules();
        return STATUS_OK;
    }
    if (!find_machine(self, &job.machine, 0, &job.naming))
        return STATUS_USAGE;
    files = files_of(argc, argv);
    if (!job.json)
        start_pager();
    if (!open_stdout(&job.out))
        return STATUS_BAD_DATA;
    job.naming.color = use_color(STDOUT_FILENO);
    job.many = files.count > 1;
    if (!know_rules(&job)) {
        complain(self->name, "%s", spe_strerror(SPE_ERR_NOMEM));
        status = STATUS_BAD_DATA;
    } else {
        status = STATUS_OK;
        for (i = 0; i < files.count && !job.out.error; i++)
            status |= check_file(&job, files.names[i]);
    }
    free(job.violations);
    free(job.remarks);
    free(job.of_known_features);
    return close_stdout(&job.out, status);
}

const struct command command_check = {
    .name = "check",
    .summary = "check records against the architecture and account for every byte",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
