/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "perfdata_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define AROUND 65536 /* bytes that Linux maps with one that is read, on either side */
#define MAPPED_WINDOW (UINT64_C(16) << 20)

static int make_window(struct pd_input *s)
{
    s->window = malloc(PD_WINDOW);
    return s->window ? SPE_OK : SPE_ERR_NOMEM;
}

static bool map_file(struct pd_input *s)
{
    void *map;

    if (!s->size || s->size > SIZE_MAX)
        return false;
    map = mmap(NULL, (size_t)s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
    if (map == MAP_FAILED)
        return false;
    s->kind = PD_MEMORY;
    s->memory = map;
    s->mapped = true;
    return true;
}

/* A FIFO in the place of the file must not make us wait: nobody asked to read it. */
static int open_data(int directory, const char **why)
{
    int fd = openat(directory, "data", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    *why = strerror(errno);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    *why = "is a directory whose \"data\" is not a file";
    close(fd);
    return -1;
}

int pd_open_path(const char *path, const char **why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), data;
    struct stat st;

    *why = strerror(errno);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
        return fd;
    data = open_data(fd, why);
    close(fd);
    return data;
}

int pd_input_open_fd(struct pd_input *s, int fd, bool map)
{
    struct stat st;

    s->fd = fd;
    s->size = UINT64_MAX;
    if (fstat(fd, &st) < 0)
        return SPE_ERR_IO;
    s->kind = S_ISREG(st.st_mode) ? PD_FILE : PD_STREAM;
    if (s->kind == PD_FILE) {
        s->size = (uint64_t)st.st_size;
        if (map && map_file(s))
            return SPE_OK;
    }
    return make_window(s);
}

void pd_input_open_memory(struct pd_input *s, const void *bytes, size_t size)
{
    s->kind = PD_MEMORY;
    s->fd = -1;
    s->memory = bytes;
    s->size = size;
}

int pd_input_open_input(struct pd_input *s, const struct spe_perf_input *input)
{
    s->kind = PD_STREAM;
    s->fd = -1;
    s->input = *input;
    s->size = UINT64_MAX;
    return make_window(s);
}

void pd_input_close(struct pd_input *s)
{
    if (s->mapped) {
        void *map;

        memcpy(&map, &s->memory, sizeof(map));
        munmap(map, (size_t)s->size);
    }
    if (s->own_fd)
        close(s->fd);
    free(s->window);
    memset(s, 0, sizeof(*s));
}

int64_t pd_input_read(const struct pd_input *s, uint64_t offset, void *bytes, size_t size)
{
    size_t done = 0;

    if (offset >= s->size)
        return 0;
    if (size > s->size - offset)
        size = (size_t)(s->size - offset);
    if (s->kind == PD_MEMORY && !s->mapped) {
        memcpy(bytes, s->memory + offset, size);
        return (int64_t)size;
    }
    while (done < size) {
        ssize_t n = pread(s->fd, (uint8_t *)bytes + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SPE_ERR_IO;
        if (!n) /* somebody cut the file off */
            break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

int64_t pd_input_take(const struct pd_input *s, uint64_t offset, void *buffer, size_t size,
                      const uint8_t **bytes)
{
    if (s->kind != PD_MEMORY || (s->mapped && buffer)) {
        *bytes = buffer;
        return pd_input_read(s, offset, buffer, size);
    }
    if (offset >= s->size)
        return 0;
    *bytes = s->memory + offset;
    return (int64_t)(size < s->size - offset ? size : s->size - offset);
}

void pd_input_done(const struct pd_input *s, uint64_t offset, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t first = offset / page * page, end = (offset + size) / page * page;
    void *start;

    if (!s->mapped || end <= first)
        return;
    memcpy(&start, &s->memory, sizeof(start));
    madvise((uint8_t *)start + first, (size_t)(end - first), MADV_DONTNEED);
}

void pd_input_done_around(const struct pd_input *s, uint64_t offset, uint64_t size)
{
    uint64_t before = offset < AROUND ? offset : AROUND;
    uint64_t behind = s->size - offset - size < AROUND ? s->size - offset - size : AROUND;

    if (size < AROUND)
        pd_input_done(s, offset, size);
    else
        pd_input_done(s, offset - before, before + size + behind);
}

static int64_t read_stream(struct pd_input *s, uint8_t *bytes, size_t size)
{
    ssize_t n;

    if (s->input.read) {
        int64_t got = s->input.read(s->input.user, bytes, size);

        return got > (int64_t)size ? SPE_ERR_IO : got;
    }
    do
        n = read(s->fd, bytes, size);
    while (n < 0 && errno == EINTR);
    return n < 0 ? SPE_ERR_IO : n;
}

/* Read until the window has `size` bytes, or all there are. */
static int fill_stream(struct pd_input *s, size_t size)
{
    while (s->window_fill < size && s->size == UINT64_MAX) {
        int64_t n = read_stream(s, s->window + s->window_fill, PD_WINDOW - s->window_fill);

        if (n < 0)
            return (int)n;
        s->window_fill += (size_t)n;
        if (!n)
            s->size = s->window_offset + s->window_fill;
    }
    return SPE_OK;
}

/* Drop what lies before the offset; the window then begins there, or the stream has ended. */
static int forward_stream(struct pd_input *s, uint64_t offset)
{
    while (offset > s->window_offset) {
        uint64_t distance = offset - s->window_offset;
        size_t drop = distance < s->window_fill ? (size_t)distance : s->window_fill;
        int result;

        memmove(s->window, s->window + drop, s->window_fill - drop);
        s->window_offset += drop;
        s->window_fill -= drop;
        if (offset == s->window_offset)
            break;
        result = fill_stream(s, 1);
        if (result < 0)
            return result;
        if (!s->window_fill)
            break;
    }
    return SPE_OK;
}

static int64_t stream_at(struct pd_input *s, uint64_t offset, size_t size, const uint8_t **bytes)
{
    int result;

    if (offset < s->window_offset)
        return SPE_ERR_INVALID;
    /* Move the rest to the front only when there is no room behind it. */
    if (offset - s->window_offset + size > PD_WINDOW) {
        result = forward_stream(s, offset);
        if (result < 0)
            return result;
        if (s->window_offset < offset)
            return 0;
    }
    result = fill_stream(s, (size_t)(offset - s->window_offset) + size);
    if (result < 0)
        return result;
    if (s->window_offset + s->window_fill <= offset)
        return 0;
    *bytes = s->window + (offset - s->window_offset);
    if (s->window_offset + s->window_fill - offset < size)
        size = (size_t)(s->window_offset + s->window_fill - offset);
    return (int64_t)size;
}

static int64_t file_at(struct pd_input *s, uint64_t offset, size_t size, const uint8_t **bytes)
{
    if (offset < s->window_offset || !pd_within(offset - s->window_offset, size, s->window_fill)) {
        int64_t n = pd_input_read(s, offset, s->window, PD_WINDOW);

        if (n < 0)
            return n;
        s->window_offset = offset;
        s->window_fill = (size_t)n;
    }
    *bytes = s->window + (offset - s->window_offset);
    if (s->window_offset + s->window_fill - offset < size)
        size = (size_t)(s->window_offset + s->window_fill - offset);
    return (int64_t)size;
}

/* What was read of a mapped file stays in memory for a while only. */
static void move_window(struct pd_input *s, uint64_t offset)
{
    if (offset < s->window_offset) {
        s->window_offset = offset;
    } else if (offset - s->window_offset > MAPPED_WINDOW) {
        pd_input_done(s, s->window_offset, offset - s->window_offset);
        s->window_offset = offset;
    }
}

int64_t pd_input_at(struct pd_input *s, uint64_t offset, size_t size, const uint8_t **bytes)
{
    if (s->kind == PD_STREAM)
        return stream_at(s, offset, size, bytes);
    if (offset >= s->size)
        return 0;
    if (size > s->size - offset)
        size = (size_t)(s->size - offset);
    if (s->kind == PD_FILE)
        return file_at(s, offset, size, bytes);
    if (s->mapped)
        move_window(s, offset);
    *bytes = s->memory + offset;
    return (int64_t)size;
}
