/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Writing to a descriptor. Pipes take bytes in order only. */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata_internal.h"

static int fd_write(void *user, uint64_t offset, const void *bytes, size_t size)
{
    struct pd_output_fd *o = user;
    const uint8_t *p = bytes;

    if (!o->seekable && offset != o->position)
        return SPE_ERR_INVALID;
    while (size) {
        ssize_t n = o->seekable ? pwrite(o->fd, p, size, (off_t)offset) : write(o->fd, p, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SPE_ERR_IO;
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    o->position = offset;
    return SPE_OK;
}

static int fd_sync(void *user)
{
    struct pd_output_fd *o = user;

    return o->seekable && fdatasync(o->fd) < 0 ? SPE_ERR_IO : SPE_OK;
}

static int fd_truncate(void *user, uint64_t size)
{
    struct pd_output_fd *o = user;

    return o->seekable && ftruncate(o->fd, (off_t)size) < 0 ? SPE_ERR_IO : SPE_OK;
}

void pd_output_fd_init(struct pd_output_fd *o, struct spe_perf_output *output, int fd)
{
    struct stat st;

    o->fd = fd;
    o->seekable = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    o->position = 0;
    output->write = fd_write;
    output->sync = fd_sync;
    output->truncate = fd_truncate;
    output->user = o;
}

/* ---- Where a path leads --------------------------------------------------------------------- */

enum { LINKS_MAX = 40 }; /* as many as Linux follows */

/* The path that a link's text means: it counts from the link's own folder. */
static char *link_target(const char *link, const char *text)
{
    const char *slash = strrchr(link, '/');
    int folder = slash && text[0] != '/' ? (int)(slash + 1 - link) : 0;
    char *path;

    return asprintf(&path, "%.*s%s", folder, link, text) < 0 ? NULL : path;
}

char *pd_follow(const char *path)
{
    char *at = strdup(path), text[PATH_MAX];

    for (int i = 0; at && i < LINKS_MAX; i++) {
        ssize_t n = readlink(at, text, sizeof(text) - 1);
        char *next;

        if (n < 0)
            return at;
        text[n] = '\0';
        next = link_target(at, text);
        free(at);
        at = next;
    }
    errno = at ? ELOOP : ENOMEM;
    free(at);
    return NULL;
}
