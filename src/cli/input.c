/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

#define BUFFER (256 * 1024)

static bool read_failed(struct input *in)
{
    complain(in->name, "%s", strerror(errno));
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

/* Fill the buffer behind the bytes that are left, or up to the end of the input. */
static bool fill(struct input *in)
{
    while (in->length < BUFFER && !in->last) {
        uint8_t *bytes = in->bytes + in->length;
        size_t room = BUFFER - in->length;
        ssize_t n = in->size_known ? read_file(in, in->offset + in->length, bytes, room)
                                   : read(in->fd, bytes, room);

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

/* perf.data, in either byte order. Reading it belongs here. */
static bool is_perf_data(const struct input *in)
{
    return in->length >= 8 &&
           (memcmp(in->bytes, "PERFILE2", 8) == 0 || memcmp(in->bytes, "2ELIFREP", 8) == 0);
}

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

bool input_open(struct input *in, const char *path, uint64_t offset, bool raw)
{
    memset(in, 0, sizeof(*in));
    in->name = strcmp(path, "-") == 0 ? "standard input" : path;
    in->buffer = in->bytes = malloc(BUFFER);
    if (!in->buffer) {
        complain(in->name, "%s", spe_strerror(SPE_ERR_NOMEM));
        return false;
    }
    if (!open_file(in, path) || !fill(in)) {
        input_close(in);
        return false;
    }
    if (!raw && is_perf_data(in)) {
        complain(in->name, "is a perf.data file, which spe does not read yet: give the bare SPE "
                           "bytes of its AUX buffers (--raw takes any file as such bytes)");
        input_close(in);
        return false;
    }
    if (offset && !skip_to(in, offset)) {
        input_close(in);
        return false;
    }
    return true;
}

void input_used(struct input *in, size_t n)
{
    in->bytes += n;
    in->length -= n;
    in->offset += n;
}

bool input_more(struct input *in)
{
    memmove(in->buffer, in->bytes, in->length);
    in->bytes = in->buffer;
    return fill(in);
}

void input_close(struct input *in)
{
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    free(in->buffer);
    in->buffer = NULL;
}
