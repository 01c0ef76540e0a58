/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Source files. Their paths come out of debug information, and may name anything: only regular
 * files are opened, and only so much of them is read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names_internal.h"

#define SOURCE_MAX (UINT64_C(64) << 20)

struct spe_text_file {
    char *path, *bytes;
    size_t size;
    int64_t time;
    VECTOR(size_t) lines; /* where each begins */
};

/* ---- Finding --------------------------------------------------------------------------------- */

/* The descriptor of directory/path; *opened is its name, to be freed. Or SPE_ERR_UNKNOWN: there is
 * none; SPE_ERR_NOMEM, SPE_ERR_IO. */
static int try_path(const char *directory, const char *path, char **opened)
{
    int fd, why;

    if (asprintf(opened, "%s%s%s", directory ? directory : "", directory ? "/" : "", path) < 0) {
        *opened = NULL;
        return SPE_ERR_NOMEM;
    }
    fd = dso_open_regular(*opened);
    if (fd >= 0)
        return fd;
    why = errno;
    free(*opened);
    *opened = NULL;
    return why == EMFILE || why == ENFILE || why == ENOMEM || why == EIO ? SPE_ERR_IO
                                                                         : SPE_ERR_UNKNOWN;
}

/* Most of the path first: two files may have the same name. A path that leads upwards could lead
 * out of the directory. */
static int find_source(const char *path, const char *directory, char **opened)
{
    const char *rest = path;
    int fd = SPE_ERR_UNKNOWN;

    while (directory && fd == SPE_ERR_UNKNOWN && rest) {
        while (*rest == '/')
            rest++;
        if (*rest && !strstr(rest, "../"))
            fd = try_path(directory, rest, opened);
        rest = strchr(rest, '/');
    }
    return fd == SPE_ERR_UNKNOWN ? try_path(NULL, path, opened) : fd;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int read_all(struct spe_text_file *s, int fd)
{
    int64_t read;

    s->bytes = malloc(s->size + 1);
    if (!s->bytes)
        return SPE_ERR_NOMEM;
    read = file_read(fd, 0, s->bytes, s->size);
    s->size = read < 0 ? 0 : (size_t)read;
    return read < 0 ? (int)read : SPE_OK;
}

static int find_lines(struct spe_text_file *s)
{
    for (size_t at = 0; at < s->size;) {
        const char *end = memchr(s->bytes + at, '\n', s->size - at);

        if (VECTOR_ROOM(&s->lines) < 0)
            return SPE_ERR_NOMEM;
        s->lines.at[s->lines.count++] = at;
        at = end ? (size_t)(end - s->bytes) + 1 : s->size;
    }
    return SPE_OK;
}

static int read_source(struct spe_text_file *s, int fd)
{
    struct stat st;
    int result;

    if (fstat(fd, &st) < 0)
        return SPE_ERR_IO;
    if ((uint64_t)st.st_size > SOURCE_MAX)
        return SPE_ERR_NOSPACE;
    s->size = (size_t)st.st_size;
    s->time = st.st_mtime;
    result = read_all(s, fd);
    return result < 0 ? result : find_lines(s);
}

int spe_text_file_open(struct spe_text_file **source, const char *path, const char *directory)
{
    struct spe_text_file *s = calloc(1, sizeof(*s));
    int fd, result;

    *source = NULL;
    if (!s)
        return SPE_ERR_NOMEM;
    fd = find_source(path, directory, &s->path);
    result = fd < 0 ? fd : read_source(s, fd);
    if (fd >= 0)
        close(fd);
    if (result < 0) {
        spe_text_file_close(s);
        return result;
    }
    *source = s;
    return SPE_OK;
}

void spe_text_file_close(struct spe_text_file *s)
{
    if (!s)
        return;
    free(s->path);
    free(s->bytes);
    free(s->lines.at);
    free(s);
}

const char *spe_text_file_path(const struct spe_text_file *s)
{
    return s->path;
}

int64_t spe_text_file_time(const struct spe_text_file *s)
{
    return s->time;
}

uint32_t spe_text_file_lines(const struct spe_text_file *s)
{
    return s->lines.count < UINT32_MAX ? (uint32_t)s->lines.count : UINT32_MAX;
}

void spe_text_file_line(const struct spe_text_file *s, uint32_t n, char text[SPE_TEXT_LINE])
{
    size_t at, end, size;

    text[0] = '\0';
    if (n < 1 || n > s->lines.count)
        return;
    at = s->lines.at[n - 1];
    end = n < s->lines.count ? s->lines.at[n] : s->size;
    while (end > at && (s->bytes[end - 1] == '\n' || s->bytes[end - 1] == '\r'))
        end--;
    size = end - at < SPE_TEXT_LINE - 1 ? end - at : SPE_TEXT_LINE - 1;
    memcpy(text, s->bytes + at, size);
    text[size] = '\0';
}
