/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <specimen/format.h>
#include <specimen/perfdata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "perfdata/spool.h"

#define BUFFER (256 * 1024)

static bool read_failed(struct input *in)
{
    complain(in->name, "%s", strerror(errno));
    in->failed = true;
    return false;
}

/*
 * Holes of a sparse file are zeros that need not be read: reading them would fill the page cache.
 * At a position where the last answer no longer holds, ask where the hole or the data ends.
 */
static void find_hole(struct input *in, uint64_t position)
{
    off_t data = lseek(in->fd, (off_t)position, SEEK_DATA);
    off_t hole;

    in->in_hole = (data > 0 && (uint64_t)data > position) || (data < 0 && errno == ENXIO);
    if (in->in_hole) {
        in->run_end = data < 0 ? in->size : (uint64_t)data;
        return;
    }
    hole = data < 0 ? data : lseek(in->fd, (off_t)position, SEEK_HOLE);
    in->run_end = hole < 0 ? UINT64_MAX : (uint64_t)hole;
}

/* Like read: some bytes at the position, 0 at the end. */
static ssize_t read_file(struct input *in, uint64_t position, uint8_t *bytes, size_t room)
{
    if (!in->sparse || position >= in->size)
        return pread(in->fd, bytes, room, (off_t)position);
    if (position >= in->run_end)
        find_hole(in, position);
    if (in->run_end - position < room)
        room = (size_t)(in->run_end - position);
    if (!in->in_hole)
        return pread(in->fd, bytes, room, (off_t)position);
    memset(bytes, 0, room);
    return (ssize_t)room;
}

/* The same for the pieces of a queue. */
static ssize_t read_pieces(struct input *in, uint8_t *bytes, size_t room)
{
    const struct spe_perf_queue *queue = spe_perf_reader_queue(in->reader, in->queue);

    while (in->piece < queue->piece_count) {
        const struct spe_perf_piece *piece = &queue->pieces[in->piece];
        const uint8_t *from;
        int64_t n;

        /* It belongs to the next stream, unless it is the first of this one. */
        if (in->piece_position == 0 && piece->flags & SPE_PERF_PIECE_UNSYNCED &&
            in->offset + in->length > in->start)
            return 0;
        n = spe_perf_piece_read(in->reader, piece, in->piece_position, bytes, room, &from);
        if (n != 0) {
            in->piece_position += n > 0 ? (uint64_t)n : 0;
            return (ssize_t)n;
        }
        in->piece++;
        in->piece_position = 0;
    }
    return 0;
}

static ssize_t read_some(struct input *in, uint8_t *bytes, size_t room)
{
    if (in->reader)
        return read_pieces(in, bytes, room);
    if (in->size_known)
        return read_file(in, in->offset + in->length, bytes, room);
    return read(in->fd, bytes, room);
}

/* Fill the buffer behind the bytes that are left, or up to the end of the stream. */
static bool fill(struct input *in)
{
    while (in->length < BUFFER && !in->last) {
        ssize_t n = read_some(in, in->bytes + in->length, BUFFER - in->length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return read_failed(in);
        in->last = n == 0;
        in->length += (size_t)n;
        if (n > 0 && !in->size_known)
            break; /* a pipe: show what is there */
    }
    return true;
}

static bool past_the_end(struct input *in, uint64_t offset, uint64_t size)
{
    complain(in->name, "offset %" PRIu64 " is past the end, there are %" PRIu64 " bytes", offset,
             size);
    return false;
}

/* Go to the offset: a seek, or reading and dropping where there is none. */
static bool skip_to(struct input *in, uint64_t offset)
{
    if (in->size_known) {
        if (offset > in->size)
            return past_the_end(in, offset, in->size);
        in->offset = offset;
        in->bytes = in->buffer;
        in->length = 0;
        in->last = false;
        return fill(in);
    }
    while (in->offset + in->length < offset && !in->last) {
        input_used(in, in->length);
        if (!fill(in))
            return false;
    }
    if (in->offset + in->length < offset)
        return past_the_end(in, offset, in->offset + in->length);
    input_used(in, (size_t)(offset - in->offset));
    return true;
}

/* ---- perf.data ------------------------------------------------------------------------------- */

static bool perf_failed(struct input *in, const struct spe_perf_error *error)
{
    complain(in->name, "%s (at offset %" PRIu64 ")",
             error->text[0] ? error->text : spe_strerror(error->code), error->offset);
    in->failed = true;
    return false;
}

/* Begin with the stream at the current queue and piece; a queue without bytes is none. */
static bool begin_stream(struct input *in)
{
    const struct spe_perf_queue *queue;
    bool first;

    while ((queue = spe_perf_reader_queue(in->reader, in->queue)) != NULL) {
        in->bytes = in->buffer;
        in->length = 0;
        in->last = false;
        first = in->piece == 0;
        in->offset = first ? 0 : in->offset;
        in->start = in->offset;
        in->size = queue->bytes;
        in->unsynced = in->piece < queue->piece_count &&
                       queue->pieces[in->piece].flags & SPE_PERF_PIECE_UNSYNCED;
        in->midr = spe_perf_reader_midr(in->reader, queue->cpu);
        if (queue->cpu != UINT32_MAX)
            snprintf(in->title, sizeof(in->title), "CPU %" PRIu32, queue->cpu);
        else
            snprintf(in->title, sizeof(in->title), "thread %" PRIu32, queue->tid);
        if (!fill(in))
            return false;
        if (in->length > 0)
            return true;
        in->queue++;
        in->piece = 0;
        in->piece_position = 0;
    }
    in->title[0] = '\0';
    in->length = 0;
    in->last = true;
    return true;
}

/* Read all that is not AUX bytes: after it the queues are known. */
static bool read_sideband(struct input *in)
{
    const struct spe_perf_info *info;
    struct spe_perf_record record;
    int result;

    while ((result = spe_perf_reader_next(in->reader, &record)) > 0)
        ;
    if (result < 0)
        return perf_failed(in, spe_perf_reader_problem(in->reader));
    if (spe_perf_reader_damage(in->reader, in->damage, sizeof(in->damage)))
        complain(in->name, "%s", in->damage);
    info = spe_perf_reader_info(in->reader);
    in->incomplete = info->incomplete || info->unterminated;
    if (in->incomplete)
        complain(in->name, "the recording is not complete: the recorder was ended, or could not "
                           "write, before it was done");
    in->account = spe_perf_reader_account(in->reader);
    if (!spe_perf_reader_metadata(in->reader)) {
        complain(in->name, "is a perf.data file without SPE data: record with -e arm_spe//");
        in->failed = true;
    }
    return !in->failed;
}

static bool open_recording(struct input *in, uint64_t offset)
{
    struct spe_perf_error error = {0};

    if (offset) {
        complain(in->name, "is a perf.data file: --offset is for raw SPE bytes");
        return false;
    }
    if (!in->size_known) {
        char why[SPOOL_WHY];
        int copy = spool_input(in->fd, in->bytes, in->length, why);

        if (copy < 0) {
            complain(in->name, "%s", why);
            in->failed = true;
            return false;
        }
        in->fd = copy;
    }
    if (spe_perf_reader_open_fd(&in->reader, in->fd, SPE_PERF_NO_MAP, &error) < 0)
        return perf_failed(in, &error);
    in->size_known = true;
    in->sparse = false;
    return read_sideband(in) && begin_stream(in);
}

bool input_next(struct input *in)
{
    const struct spe_perf_queue *queue;

    if (!in->reader || in->failed)
        return false;
    queue = spe_perf_reader_queue(in->reader, in->queue);
    if (queue && in->piece >= queue->piece_count) {
        in->queue++;
        in->piece = 0;
        in->piece_position = 0;
    }
    return begin_stream(in) && in->length > 0;
}

struct files files_of(int argc, char *const *argv)
{
    static char name[] = "perf.data";
    static char *const usual[] = {name};

    if (optind == argc)
        return (struct files){usual, 1};
    return (struct files){argv + optind, argc - optind};
}

/* ---- any input ------------------------------------------------------------------------------- */

static bool open_file(struct input *in, const char *path)
{
    struct stat st;

    in->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &st) < 0)
        return read_failed(in);
    if (S_ISDIR(st.st_mode)) {
        complain(in->name, "is a directory; give a file of SPE bytes, or - for standard input");
        return false;
    }
    if (S_ISREG(st.st_mode)) {
        in->size_known = true;
        in->size = (uint64_t)st.st_size;
        in->sparse = (uint64_t)st.st_blocks * 512 < in->size;
        posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return true;
}

/* A pipe brings as few bytes as it likes, and the first 8 tell what the rest is. */
static bool fill_first(struct input *in)
{
    bool good = fill(in);

    while (good && in->length < 8 && !in->last)
        good = fill(in);
    return good;
}

/* Bare bytes have to look like SPE records. Of a pipe, read on until that can be told. */
static bool check_likeness(struct input *in)
{
    const char *what;
    int like;

    while ((like = spe_stream_probe(in->bytes,
                                    in->length < SPE_PROBE_SIZE ? in->length : SPE_PROBE_SIZE,
                                    in->last && in->length <= SPE_PROBE_SIZE, &what)) < 0)
        if (!fill(in))
            return false;
    if (!like)
        complain(
            in->name,
            "is not a perf.data file and does not look like SPE records (%s); use --raw to read it anyway",
            what);
    return like;
}

static bool begin(struct input *in, uint64_t offset, bool raw)
{
    if (!raw && spe_perf_probe(in->bytes, in->length))
        return open_recording(in, offset);
    return offset ? skip_to(in, offset) : raw || check_likeness(in);
}

bool input_open(struct input *in, const char *path, uint64_t offset, bool raw)
{
    memset(in, 0, sizeof(*in));
    in->name = strcmp(path, "-") == 0 ? "standard input" : path;
    in->buffer = in->bytes = malloc(BUFFER);
    if (!in->buffer) {
        complain(in->name, "%s", spe_strerror(SPE_ERR_NOMEM));
        return false;
    }
    if (!open_file(in, path) || !fill_first(in) || !begin(in, offset, raw)) {
        input_close(in);
        return false;
    }
    in->start = in->offset;
    in->unsynced |= in->offset > 0;
    return true;
}

void input_used(struct input *in, size_t n)
{
    in->bytes += n;
    in->length -= n;
    in->offset += n;
}

struct spe_stream *input_stream(const struct input *in)
{
    struct spe_stream *stream = malloc(spe_stream_sizeof());

    if (stream)
        spe_stream_init(stream, in->unsynced ? SPE_STREAM_UNSYNCED : 0);
    else
        complain(in->name, "%s", spe_strerror(SPE_ERR_NOMEM));
    return stream;
}

bool input_more(struct input *in)
{
    memmove(in->buffer, in->bytes, in->length);
    in->bytes = in->buffer;
    return fill(in);
}

void input_close(struct input *in)
{
    spe_perf_reader_close(in->reader);
    in->reader = NULL;
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    free(in->buffer);
    in->buffer = NULL;
}
