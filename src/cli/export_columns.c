/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/export_columns.h"

#include <unistd.h>

#include "columns/ipc.h"
#include "columns/parquet.h"
#include "render/export.h"

#define BATCH_ROWS 65536
#define TEXT_ROWS 4096 /* that fit into a cache */
#define ZSTD_LEVEL 1

struct job {
    struct spe_profile *profile;
    enum columns_format format;
    const struct column_choice *choice;
    struct out *out;
    struct table *table;
    struct ipc *ipc;
    struct parquet *parquet;
    struct export_texts texts;
};

static int put(void *user, const void *bytes, size_t size)
{
    struct out *o = user;

    out_bytes(o, bytes, size);
    return o->error ? SPE_ERR_IO : SPE_OK;
}

static int open_ipc(struct job *job)
{
    struct facts facts = {0};
    int result = facts_of(&facts, job->profile);

    if (result == SPE_OK)
        result = ipc_open(&job->ipc, job->choice, &facts, put, job->out);
    facts_free(&facts);
    return result;
}

static int open_parquet(struct job *job)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct parquet_options options = {
        .threads = cpus > 16  ? 16
                   : cpus > 1 ? (unsigned)cpus
                              : 1,
        .level = ZSTD_LEVEL,
        .by_time = spe_profile_info(job->profile)->timed,
        .put = put,
        .user = job->out,
    };

    return parquet_open(&job->parquet, job->choice, &options);
}

static int open_format(struct job *job)
{
    switch (job->format) {
    case COLUMNS_CSV:
        export_csv_header(job->out, job->choice);
        return SPE_OK;
    case COLUMNS_NDJSON:
        return SPE_OK;
    case COLUMNS_ARROW:
        return open_ipc(job);
    default:
        return open_parquet(job);
    }
}

static int write_batch(struct job *job, struct batch *batch)
{
    int result = SPE_OK;

    if (job->format == COLUMNS_PARQUET)
        return parquet_add(job->parquet, batch);
    if (job->format == COLUMNS_CSV)
        export_csv_batch(job->out, &job->texts, job->choice, batch);
    else if (job->format == COLUMNS_NDJSON)
        export_ndjson_batch(job->out, &job->texts, job->choice, batch);
    else
        result = ipc_add(job->ipc, batch);
    batch_release(batch);
    return job->texts.text.failed ? SPE_ERR_NOMEM : result;
}

static int take_batch(struct job *job)
{
    struct batch *batch;
    int result = table_take(job->table, &batch);

    if (result == SPE_OK && batch)
        result = write_batch(job, batch);
    return result;
}

static int add_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    struct job *job = user;
    size_t from = 0;

    (void)profile;
    while (from < rows->count) {
        int result = table_add(job->table, rows, &from);

        if (result > 0)
            result = take_batch(job);
        if (result < 0)
            return result;
    }
    return !job->out->error;
}

/* A pipe that nobody reads is an error of the output, not of the recording: it is said there. */
static int finish(struct job *job)
{
    struct facts facts = {0};
    int result = take_batch(job);

    if (result == SPE_OK && job->parquet)
        result = facts_of(&facts, job->profile);
    if (result == SPE_OK)
        result = facts_of_end(&facts, job->profile);
    if (result == SPE_OK && job->ipc)
        result = ipc_finish(job->ipc, &facts);
    if (result == SPE_OK && job->parquet)
        result = parquet_finish(job->parquet, &facts);
    facts_free(&facts);
    return result;
}

int export_columns(struct spe_profile *profile, const char *file, enum columns_format format,
                   const struct column_choice *choice, struct out *o)
{
    bool text = format == COLUMNS_CSV || format == COLUMNS_NDJSON;
    size_t rows = format == COLUMNS_PARQUET ? PARQUET_ROWS : text ? TEXT_ROWS : BATCH_ROWS;
    struct job job = {.profile = profile, .format = format, .choice = choice, .out = o};
    int result = table_open(&job.table, profile, choice, rows, text ? NAMES_BYTES : NAMES_UTF8);

    if (result == SPE_OK)
        result = open_format(&job);
    if (result == SPE_OK)
        result = recording_rows(profile, file, add_rows, &job);
    if (result >= 0)
        result = finish(&job);
    table_close(job.table);
    ipc_close(job.ipc);
    parquet_close(job.parquet);
    buffer_free(&job.texts.text);
    return o->error ? SPE_OK : result;
}
