/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe evlist and spe buildid-list: what of a recording perf's commands of these names list. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/recording.h"
#include "render/safe.h"

#define INPUT_USAGE "FILE is a perf.data file; the default is perf.data in the current directory.\n"

struct job {
    const char *input;
};

static const struct option_row options[] = {
    {"input", 'i', "FILE", "the same as FILE, as in perf", OPTION_STRING(struct job, input)},
    {"force", 'f', NULL, "accepted for perf's sake; changes nothing", OPTION_NOTHING},
    {0},
};

/* The file, or NULL with the status. */
static const char *parse_options(const struct command *c, int argc, char **argv, int *status)
{
    struct job job = {0};

    if (!take_options(c, &job, argc, argv, status))
        return NULL;
    return one_file(c, job.input, argc, argv);
}

/* A recording of raw bytes has neither events nor files. */
static bool is_recording(const char *file, const struct spe_profile *profile)
{
    if (!spe_profile_info(profile)->raw)
        return true;
    complain(file, "is not a perf.data file");
    return false;
}

static int open_file(const struct command *c, int argc, char **argv, const char **file,
                     struct spe_profile **profile)
{
    static struct recording recording;
    int status;

    recording_init(&recording);
    *file = parse_options(c, argc, argv, &status);
    if (!*file)
        return status;
    status = recording_open(&recording, c, *file, profile);
    if (status == STATUS_OK && !is_recording(*file, *profile)) {
        spe_profile_close(*profile);
        status = STATUS_BAD_DATA;
    }
    return status;
}

static int buildid_list(const struct command *self, int argc, char **argv)
{
    const struct spe_profile_dso *dso;
    struct spe_profile *profile;
    struct out out;
    const char *file;
    int status = open_file(self, argc, argv, &file, &profile);

    if (status != STATUS_OK || !file)
        return status;
    if (open_stdout(&out)) {
        for (uint32_t i = 0; (dso = spe_profile_dso(profile, i)) != NULL; i++) {
            if (!dso->id_size)
                continue;
            for (unsigned byte = 0; byte < dso->id_size; byte++)
                out_printf(&out, "%02x", dso->id[byte]);
            out_char(&out, ' ');
            out_safe(&out, spe_profile_string(profile, dso->path));
            out_char(&out, '\n');
        }
        status = close_stdout(&out, recording_status(profile));
    } else {
        status = STATUS_BAD_DATA;
    }
    spe_profile_close(profile);
    return status;
}

static int print_events(struct spe_perf_reader *reader)
{
    const struct spe_perf_event *event;
    struct out out;

    if (!open_stdout(&out))
        return STATUS_BAD_DATA;
    for (size_t i = 0; (event = spe_perf_reader_event(reader, i)) != NULL; i++) {
        if (event->name)
            out_safe(&out, event->name);
        else
            out_printf(&out, "type %u, config 0x%llx", event->type,
                       (unsigned long long)event->config);
        out_char(&out, '\n');
    }
    return close_stdout(&out, STATUS_OK);
}

static int evlist(const struct command *self, int argc, char **argv)
{
    struct spe_perf_reader *reader;
    struct spe_perf_error error = {0};
    int status;
    const char *file = parse_options(self, argc, argv, &status);

    if (!file)
        return status;
    if (spe_perf_reader_open(&reader, file, 0, &error) < 0) {
        complain(file, "%s", error.text);
        return STATUS_BAD_DATA;
    }
    status = print_events(reader);
    spe_perf_reader_close(reader);
    return status;
}

const struct command command_evlist = {
    .name = "evlist",
    .summary = "the events of a recording",
    .usage = "Usage: spe evlist [OPTION]... [FILE]\n"
             "\n"
             "The events of a recording, one per line, as 'perf evlist' names them.\n" INPUT_USAGE,
    .options = options,
    .examples = "Examples:\n"
                "  spe evlist perf.data\n",
    .run = evlist,
};

const struct command command_buildid_list = {
    .name = "buildid-list",
    .summary = "programs and libraries of a recording, with build-ids",
    .usage = "Usage: spe buildid-list [OPTION]... [FILE]\n"
             "\n"
             "Programs and libraries of a recording that have a build-id, one a line: the\n"
             "build-id and the path, as 'perf buildid-list' does.\n" INPUT_USAGE,
    .options = options,
    .examples = "Examples:\n"
                "  spe buildid-list perf.data\n",
    .run = buildid_list,
};
