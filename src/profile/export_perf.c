/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "profile/export_perf.h"

#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

#define PIECE (1024 * 1024) /* bytes of an AUXTRACE record that is written */
#define BUFFER (256 * 1024)

struct job {
    struct spe_profile *profile;
    struct spe_perf_reader *reader;
    struct spe_perf_writer *writer;
    struct spe_rows rows; /* the rows that come next, from row `at` on */
    size_t at;
    bool more; /* there is a row */
    uint8_t *kept, *buffer;
    size_t kept_size;
};

/* ---- everything but SPE bytes ---------------------------------------------------------------- */

/* What spe_perf_writer_begin, or the form of a file, has already said. */
static bool is_written(uint32_t type)
{
    switch (type) {
    case SPE_PERF_TIME_CONV:
    case SPE_PERF_AUXTRACE_INFO:
    case SPE_PERF_AUXTRACE:
    case SPE_PERF_HEADER_ATTR:
    case SPE_PERF_HEADER_FEATURE:
    case SPE_PERF_TRACING_DATA:
    case SPE_PERF_COMPRESSED:
    case SPE_PERF_COMPRESSED2:
        return true;
    default:
        return false;
    }
}

static int copy_record(struct job *job, struct spe_perf_record *record)
{
    if (is_written(record->type))
        return SPE_OK;
    /* As it is, with the sample_id that its bytes have. A SAMPLE has more than its view. */
    if (!record->viewed || record->type == SPE_PERF_SAMPLE) {
        if (record->size < 8)
            return SPE_OK;
        record->bytes += 8;
        record->size -= 8;
        record->event = -1;
    }
    return spe_perf_writer_record(job->writer, record);
}

static int begin(struct job *job)
{
    struct spe_perf_start start = {.size = sizeof(start)};
    size_t i;
    int error = SPE_OK;

    for (i = 0; error >= 0 && i < spe_perf_reader_event_count(job->reader); i++)
        error = spe_perf_writer_event(job->writer, spe_perf_reader_event(job->reader, i));
    start.time_conv = spe_perf_reader_time_conv(job->reader);
    start.metadata = spe_perf_reader_metadata(job->reader);
    return error < 0 ? error : spe_perf_writer_begin(job->writer, &start);
}

/* Metadata comes as a record: one pass over the file to have it, one to copy. */
static int read_all(struct job *job, bool copy)
{
    struct spe_perf_record record;
    int result;

    while ((result = spe_perf_reader_next(job->reader, &record)) > 0) {
        result = copy ? copy_record(job, &record) : SPE_OK;
        if (result < 0)
            return result;
    }
    return result;
}

/* ---- SPE bytes ------------------------------------------------------------------------------- */

static int next_row(struct job *job)
{
    int result = 1;

    job->at++;
    if (job->at >= job->rows.count) {
        job->at = 0;
        result = spe_profile_next(job->profile, &job->rows);
    }
    job->more = result > 0;
    return result < 0 ? result : SPE_OK;
}

static int write_kept(struct job *job, const struct spe_perf_queue *queue)
{
    struct spe_perf_auxtrace piece = {.offset = SPE_PERF_OFFSET_NEXT, .idx = queue->idx};
    size_t size = job->kept_size;

    piece.tid = queue->tid;
    piece.cpu = queue->cpu;
    job->kept_size = 0;
    return size ? spe_perf_writer_aux(job->writer, &piece, job->kept, size) : SPE_OK;
}

/* Records whose offset is that of the next row of the queue stay. */
static int keep_items(struct job *job, size_t number, const struct spe_perf_queue *queue,
                      struct spe_stream *stream)
{
    struct spe_record record;
    struct spe_item item;
    int error = SPE_OK;

    while (error >= 0 && spe_stream_next(stream, &item, &record)) {
        if (item.type != SPE_ITEM_RECORD || !job->more || job->rows.queue != number ||
            job->rows.offset[job->at] != item.offset)
            continue;
        if (job->kept_size + item.size > PIECE)
            error = write_kept(job, queue);
        memcpy(job->kept + job->kept_size, item.bytes, (size_t)item.size);
        job->kept_size += (size_t)item.size;
        error = error < 0 ? error : next_row(job);
    }
    return error;
}

static int copy_stream(struct job *job, size_t number, struct spe_stream *stream)
{
    const struct spe_perf_queue *queue = spe_perf_reader_queue(job->reader, number);
    const uint8_t *bytes;
    int64_t n = 0;
    uint64_t i;
    int error = SPE_OK;

    spe_stream_init(stream, 0);
    for (i = 0; error >= 0 && queue->pieces && i < queue->piece_count; i++) {
        const struct spe_perf_piece *piece = &queue->pieces[i];
        uint64_t from;

        if (piece->flags & SPE_PERF_PIECE_UNSYNCED)
            return SPE_ERR_FORMAT; /* a stream with gaps: offsets of rows cannot be told */
        for (from = 0; error >= 0; from += (uint64_t)n) {
            n = spe_perf_piece_read(job->reader, piece, from, job->buffer, BUFFER, &bytes);
            if (n <= 0)
                break;
            spe_stream_feed(stream, bytes, (size_t)n);
            error = keep_items(job, number, queue, stream);
        }
        if (n < 0)
            error = (int)n;
    }
    spe_stream_end(stream);
    if (error >= 0)
        error = keep_items(job, number, queue, stream);
    return error < 0 ? error : write_kept(job, queue);
}

static int copy_queue(struct job *job, size_t number)
{
    struct spe_stream *stream = malloc(spe_stream_sizeof());
    int error = stream ? copy_stream(job, number, stream) : SPE_ERR_NOMEM;

    free(stream);
    return error;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The profile's own file once more: it may be a copy of standard input. */
static int reopen(struct job *job, struct spe_perf_error *error)
{
    spe_perf_reader_close(job->reader);
    return spe_perf_reader_open_fd(&job->reader, job->profile->fd, SPE_PERF_NO_MAP, error);
}

/* What was lost before is still lost: the copy does not look better than its original. */
static int finish(struct job *job)
{
    const struct spe_profile_info *info = spe_profile_info(job->profile);

    return info->damage || info->incomplete || info->unterminated
               ? spe_perf_writer_flush(job->writer)
               : spe_perf_writer_finish(job->writer);
}

/* A file that says from when to when it has samples says it of those that were kept. */
static int copy_features(struct job *job)
{
    const struct spe_profile_counts *counts = spe_profile_counts(job->profile);
    struct spe_perf_features features = *spe_perf_reader_features(job->reader);

    if (features.last_sample_ns) {
        features.first_sample_ns = counts->first_ns;
        features.last_sample_ns = counts->last_ns;
    }
    return spe_perf_writer_features(job->writer, &features);
}

static int copy_all(struct job *job, struct spe_perf_error *error)
{
    struct spe_perf_reader *first;
    size_t i;
    int result = read_all(job, false);

    if (result >= 0)
        result = begin(job);
    if (result < 0)
        return result;
    first = job->reader;
    job->reader = NULL;
    result = reopen(job, error);
    spe_perf_reader_close(first);
    if (result >= 0)
        result = read_all(job, true);
    if (result >= 0)
        result = next_row(job);
    for (i = 0; result >= 0 && i < spe_perf_reader_queue_count(job->reader); i++)
        result = copy_queue(job, i);
    if (result >= 0 && job->more)
        return SPE_ERR_FORMAT; /* a row without a record: the file changed meanwhile */
    if (result >= 0)
        result = copy_features(job);
    return result < 0 ? result : finish(job);
}

int export_perf(struct spe_profile *profile, int output, struct spe_perf_error *error)
{
    struct job job = {.profile = profile};
    int result;

    job.kept = malloc(PIECE);
    job.buffer = malloc(BUFFER);
    result = job.kept && job.buffer ? SPE_OK : SPE_ERR_NOMEM;
    if (result == SPE_OK)
        result = reopen(&job, error);
    if (result == SPE_OK)
        result = spe_perf_writer_open_fd(&job.writer, output, 0, error);
    if (result == SPE_OK)
        result = copy_all(&job, error);
    if (result < 0 && !error->text[0] && job.writer)
        *error = *spe_perf_writer_problem(job.writer);
    spe_perf_writer_close(job.writer);
    spe_perf_reader_close(job.reader);
    free(job.kept);
    free(job.buffer);
    return result;
}
