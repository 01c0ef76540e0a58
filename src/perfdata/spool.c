/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "perfdata/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int temporary_file(void)
{
    const char *directory = getenv("TMPDIR");
    char *path;
    int fd;

    directory = directory && directory[0] ? directory : "/tmp";
    fd = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 || asprintf(&path, "%s/spe-XXXXXX", directory) < 0)
        return fd;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t done = write(fd, bytes, size);

        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
        }
    }
    return true;
}

static bool copy_rest(int from, int to)
{
    char buffer[65536];

    for (;;) {
        ssize_t got = read(from, buffer, sizeof(buffer));

        if (got == 0)
            return true;
        if ((got < 0 && errno != EINTR) || (got > 0 && !write_all(to, buffer, (size_t)got)))
            return false;
    }
}

int spool_input(int fd, const void *read_already, size_t size)
{
    int copy = temporary_file();

    if (copy >= 0 && (!write_all(copy, read_already, size) || !copy_rest(fd, copy))) {
        int error = errno;

        close(copy);
        errno = error;
        return -1;
    }
    return copy;
}
