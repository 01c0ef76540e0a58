/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe dump: packets, records, or JSON, out of SPE bytes. */
#include "render/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "render/safe.h"
#include "render/spe_record.h"

static const char usage[] =
    "Usage: spe dump [OPTION]... [FILE]...\n"
    "\n"
    "Show SPE bytes: one packet per line, in the layout and words of 'perf script -D'.\n"
    "FILE is a perf.data file, raw SPE bytes, or - for standard input; the default is\n"
    "perf.data in the current directory.\n";

static const char examples[] =
    "Examples:\n"
    "  spe dump perf.data\n"
    "  spe dump --records --cpu neoverse-n1 --count 10 trace.spe\n"
    "  spe dump --json trace.spe | jq 'select(.events.set | index(\"mispredicted\")) | .pc.address'\n"
    "  spe gen --records 5 -o - | spe dump -\n";

enum view { VIEW_PACKETS, VIEW_RECORDS, VIEW_JSON };

struct job {
    const struct command *command;
    enum view view;
    uint64_t offset, count;
    bool raw, verbose, many; /* many: more than one file */
    struct machine_options machine;
    struct naming naming;
    struct dump *dump; /* VIEW_PACKETS */
    struct out out;
};

static const struct option_row options[] = {
    {OPTION_TEXT("What to show:")},
    {"records", 0, NULL, "one record per line", OPTION_VALUE(struct job, view, VIEW_RECORDS)},
    {"json", 0, NULL, "one JSON object per record, fields raw and decoded",
     OPTION_VALUE(struct job, view, VIEW_JSON)},
    {"offset", 0, "N", "start at byte N of raw SPE bytes (N may end in K, M or G)",
     OPTION_SIZE(struct job, offset, 0, UINT64_MAX)},
    {"count", 0, "N", "stop after N lines", OPTION_NUMBER(struct job, count, 0, UINT64_MAX)},
    {OPTION_ROWS(page_options)},
    {OPTION_TEXT("\nWhat the bytes are:")},
    {"raw", 0, NULL, "treat the file as raw SPE bytes, without a check",
     OPTION_FLAG(struct job, raw)},
    {"cpu", 0, "NAME", "name data sources and events as this CPU does",
     OPTION_STRING(struct job, machine.cpu)},
    {"features", 0, "LIST", "name events by these features, for example v1p4,sve",
     OPTION_STRING(struct job, machine.features)},
    {"count-bits", 0, "N", "counters have 12 or 16 bits: mark the saturated ones",
     OPTION_TAKE(count_bits_option), OPTION_TARGET(struct job, machine.count_bits, uint64_t)},
    {OPTION_TEXT("")},
    {"verbose", 'v', NULL,
     "end with the accounting of all bytes on standard error; without it only if some are not "
     "packets or were skipped",
     OPTION_FLAG(struct job, verbose)},
    {0},
};

/* A preamble like perf's; with several files or streams, which one it is. */
static void begin_packets(struct job *job, const struct input *in)
{
    dump_preamble(&job->out, in->size - in->offset, in->size_known);
    if (job->many) {
        out_string(&job->out, ". ... file ");
        out_safe(&job->out, in->name);
        out_char(&job->out, '\n');
    }
    if (in->title[0]) {
        out_string(&job->out, ". ... ");
        out_string(&job->out, in->title);
        out_char(&job->out, '\n');
    }
    dump_init(job->dump, &job->naming, in->offset, job->count);
}

static bool dump_packet_view(struct job *job, struct input *in, struct progress *progress)
{
    struct dump *d = job->dump;
    bool good = true;

    begin_packets(job, in);
    for (;;) {
        input_used(in, dump_packets(d, &job->out, in->bytes, in->length, in->last));
        if (in->last || d->lines >= d->limit || job->out.error)
            break;
        if (!in->size_known)
            out_flush(&job->out); /* a pipe may be slow: show the lines so far */
        good = input_more(in);
        if (!good)
            break;
        progress_update(progress, in->offset);
    }
    job->count -= d->lines;
    out_flush(&job->out); /* before the accounting, where both go to one place */
    if (d->bad || job->verbose)
        complain(in->name, "bytes outside packets %" PRIu64 ", unknown packets %" PRIu64, d->bad,
                 d->unknown);
    return good;
}

/* Show what the stream has to say so far. */
static void show_items(struct job *job, struct spe_stream *stream, const struct input *in)
{
    const char *file = job->many ? in->name : NULL;
    struct spe_record record;
    struct spe_item item;

    while (job->count > 0 && !job->out.error && spe_stream_next(stream, &item, &record)) {
        item.offset += in->start;
        if (item.type == SPE_ITEM_SKIPPED && job->view == VIEW_JSON)
            render_skipped_json(&job->out, file, &item);
        else if (item.type == SPE_ITEM_SKIPPED)
            render_skipped_text(&job->out, &job->naming, &item);
        else if (job->view == VIEW_JSON)
            render_record_json(&job->out, &job->naming, file, &item, &record);
        else
            render_record_text(&job->out, &job->naming, &item, &record);
        job->count--;
    }
}

static bool dump_record_view(struct job *job, struct input *in, struct progress *progress)
{
    struct spe_stream *stream = input_stream(in);
    const struct spe_account *account;
    bool good = true;

    if (!stream)
        return false;
    if (job->view == VIEW_RECORDS && (job->many || in->title[0])) {
        out_safe(&job->out, in->name);
        out_string(&job->out, in->title[0] ? ", " : "");
        out_string(&job->out, in->title);
        out_string(&job->out, ":\n");
    }
    while (in->length > 0 && job->count > 0 && !job->out.error) {
        spe_stream_feed(stream, in->bytes, in->length);
        show_items(job, stream, in);
        if (!in->size_known)
            out_flush(&job->out);
        input_used(in, in->length);
        good = input_more(in);
        if (!good)
            break;
        progress_update(progress, in->offset);
    }
    spe_stream_end(stream);
    show_items(job, stream, in);
    out_flush(&job->out);
    account = spe_stream_account(stream);
    if ((account->skipped || job->verbose) && job->count > 0) /* else it is of a part only */
        report_account(in->name, account);
    free(stream);
    return good;
}

static int dump_file(struct job *job, const char *path)
{
    struct progress progress;
    struct input in;
    bool good;

    if (!input_open(&in, path, job->offset, job->raw))
        return STATUS_BAD_DATA;
    if (in.last && in.length == 0)
        complain(in.name, "there are no bytes to show");
    do {
        find_machine(job->command, &job->machine, in.midr, &job->naming);
        progress_with_output();
        progress_start(&progress, in.name, in.size_known ? in.size : 0);
        good = job->view == VIEW_PACKETS ? dump_packet_view(job, &in, &progress)
                                         : dump_record_view(job, &in, &progress);
        progress_end(&progress);
    } while (good && job->count > 0 && !job->out.error && input_next(&in));
    good = good && !in.failed && !in.damage[0];
    input_close(&in);
    return good ? STATUS_OK : STATUS_BAD_DATA;
}

static int dump_files(struct job *job, int files, char *const *paths)
{
    int status = STATUS_OK, i;

    if (job->view == VIEW_PACKETS) {
        job->dump = malloc(sizeof(*job->dump));
        if (!job->dump) {
            complain(job->command->name, "%s", spe_strerror(SPE_ERR_NOMEM));
            return STATUS_BAD_DATA;
        }
    }
    for (i = 0; i < files && !job->out.error; i++) {
        int one = dump_file(job, paths[i]);

        status = one > status ? one : status;
    }
    free(job->dump);
    return status;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct job job = {.command = self, .count = UINT64_MAX};
    struct files files;
    int status;

    if (!take_options(self, &job, argc, argv, &status))
        return status;
    if (!find_machine(self, &job.machine, 0, &job.naming))
        return STATUS_USAGE;
    files = files_of(argc, argv);
    if (job.view != VIEW_JSON)
        start_pager();
    if (!open_stdout(&job.out))
        return STATUS_BAD_DATA;
    job.naming.color = use_color(STDOUT_FILENO);
    job.many = files.count > 1;
    status = dump_files(&job, files.count, files.names);
    return close_stdout(&job.out, status);
}

const struct command command_dump = {
    .name = "dump",
    .summary = "show SPE bytes: packets as perf prints them, records, or JSON",
    .usage = usage,
    .options = options,
    .examples = examples,
    .run = run,
};
