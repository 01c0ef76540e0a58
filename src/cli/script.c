/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe script: one line per sample, with perf's fields. */
#include "render/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "cli/words.h"

static const char usage[] =
    "Usage: spe script [OPTION]... [FILE]\n"
    "\n"
    "One line per sample, in the layout of 'perf script'; every record is one sample.\n"
    "FILE is a perf.data file, raw SPE bytes, or - for standard input; the default is\n"
    "perf.data in the current directory.\n";

static const char examples[] =
    "Examples:\n"
    "  spe script perf.data | head\n"
    "  spe script -F time,ip,sym,addr,weight --filter 'load and total > 500' perf.data\n"
    "  spe script -F +data_src,phys_addr --cpus 3 perf.data\n"
    "  spe script -F pid,event,addr,ip perf.data\n";

struct job {
    const struct command *command;
    const char *file;
    struct recording recording;
    uint32_t fields;
    uint64_t count;
    bool ns;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool find_field(const char *word, size_t length, uint32_t *bit)
{
    unsigned i;

    for (i = 0; script_field_name(i); i++) {
        const char *name = script_field_name(i);

        *bit = UINT32_C(1) << i;
        if (strlen(name) == length && strncmp(name, word, length) == 0)
            return true;
    }
    return false;
}

static void unknown_field(const struct command *c, const char *word, size_t length)
{
    const char *names[32], *near;
    char list[512], name[64];
    size_t n = 0;

    for (; n < 32 && script_field_name((unsigned)n); n++)
        names[n] = script_field_name((unsigned)n);
    snprintf(name, sizeof(name), "%.*s", (int)(length < 40 ? length : 40), word);
    near = nearest_name(name, names, n);
    list_names(list, sizeof(list), names, n, " and ");
    if (near)
        usage_error(c, "--fields", "there is no field %s; did you mean %s? There are %s", name,
                    near, list);
    else
        usage_error(c, "--fields", "there is no field %s; there are %s", name, list);
}

/* A sign holds for the names after it, as in perf. */
static bool fields_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    const char *word = text;
    char sign = *text == '+' || *text == '-' ? *text : '=';

    if (sign == '=')
        job->fields = 0;
    for (;;) {
        size_t length;
        uint32_t bit;

        if (*word == '+' || *word == '-')
            sign = *word++;
        length = strcspn(word, ",");
        if (!find_field(word, length, &bit)) {
            unknown_field(c, word, length);
            return false;
        }
        job->fields = sign == '-' ? job->fields & ~bit : job->fields | bit;
        if (!word[length])
            return true;
        word += length + 1;
    }
}

static const char *const orders[] = {
    [SPE_ORDER_FAST] = "fast", [SPE_ORDER_QUEUE] = "queue", [SPE_ORDER_TIME] = "time", NULL};

static const struct option_row options[] = {
    {OPTION_TEXT("What to show:")},
    {"fields", 'F', "LIST",
     "these fields; +NAME adds to the default fields, -NAME removes. As in perf: comm, pid, tid, cpu, "
     "time, period, event, flags, addr, data_src, weight, ip, sym, symoff, dso, phys_addr, "
     "srcline; and op, events, issue, translation, source, level, target, previous_target, el, "
     "timestamp, offset",
     OPTION_TAKE(fields_option)},
    {"ns", 0, NULL, "times with nine digits", OPTION_FLAG(struct job, ns)},
    {"order", 0, "WHICH", "by time, by queue, or fast: as they are decoded (time)",
     OPTION_CHOICE(struct job, recording.options.order, orders)},
    {"count", 0, "N", "stop after N lines", OPTION_NUMBER(struct job, count, 0, UINT64_MAX)},
    {OPTION_ROWS(page_options)},
    {OPTION_TABLE(struct job, recording, recording_options)},
    {0},
};

/* ---- the work -------------------------------------------------------------------------------- */

/* What a recording lacks should not look like a time of 0 or a thread -1. */
static uint32_t fields_there_are(uint32_t fields, const struct spe_profile_info *info)
{
    if (!info->timed)
        fields &= ~SCRIPT_BIT(TIME);
    if (info->per_thread || info->raw)
        fields &= ~SCRIPT_BIT(CPU);
    return fields;
}

struct printer {
    struct script *script;
    struct out out;
    uint64_t count; /* lines that may still be printed */
};

static int print_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    struct printer *p = user;

    (void)profile;
    if (rows->count > p->count)
        rows->count = (size_t)p->count;
    p->count -= rows->count;
    if (!script_rows(p->script, &p->out, rows))
        return SPE_ERR_NOMEM;
    return p->count > 0 && !p->out.error;
}

static int script_profile(void *user, struct spe_profile *profile)
{
    struct job *job = user;
    uint32_t fields = fields_there_are(job->fields, spe_profile_info(profile));
    struct printer p = {.script = script_create(profile, fields, job->ns), .count = job->count};
    int result;

    if (!p.script) {
        complain(job->file, "%s", spe_strerror(SPE_ERR_NOMEM));
        return STATUS_BAD_DATA;
    }
    start_pager();
    if (!open_stdout(&p.out)) {
        script_destroy(p.script);
        return STATUS_BAD_DATA;
    }
    result = p.count ? recording_rows(profile, job->file, print_rows, &p) : SPE_OK;
    out_flush(&p.out);
    result = recording_result(profile, job->file, result);
    if (result >= 0)
        recording_missed(&job->recording, job->file, profile);
    if (result >= 0 && p.count > 0 && !p.out.error)
        recording_warn(&job->recording, profile, job->file); /* else they are of a part only */
    else if (spe_profile_info(profile)->damage)
        complain(job->file, "%s", spe_profile_info(profile)->damage);
    script_destroy(p.script);
    return close_stdout(&p.out, result < 0 ? STATUS_BAD_DATA : recording_status(profile));
}

static int run(const struct command *self, int argc, char **argv)
{
    static struct job job; /* it has room for long lists, which hardly anybody needs */
    int status;

    memset(&job, 0, sizeof(job));
    job.command = self;
    recording_init(&job.recording);
    job.recording.options.order = SPE_ORDER_TIME;
    job.fields = SCRIPT_DEFAULT;
    job.count = UINT64_MAX;
    if (!take_options(self, &job, argc, argv, &status))
        return status;
    job.file = recording_file(&job.recording, self, argc, argv);
    if (!job.file)
        return STATUS_USAGE;
    if (job.fields & SCRIPT_BIT(SYM))
        job.recording.options.want |= SPE_WANT_SYMBOL;
    job.recording.options.omit = script_omit(job.fields);
    progress_with_output();
    return recording_run(&job.recording, self, job.file, script_profile, &job);
}

const struct command command_script = {
    .name = "script",
    .summary = "one line per sample, with the fields of perf script",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
