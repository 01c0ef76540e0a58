/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "perfdata/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *temporary_folder(void)
{
    const char *directory = getenv("TMPDIR");

    return directory && directory[0] ? directory : "/tmp";
}

static int temporary_file(void)
{
    const char *directory = temporary_folder();
    char *path;
    int fd;

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

static int copy_failed(int copy, char why[SPOOL_WHY])
{
    snprintf(why, SPOOL_WHY,
             "this cannot be read twice, and there is no room for a copy in %.300s: %s; set TMPDIR",
             temporary_folder(), strerror(errno));
    if (copy >= 0)
        close(copy);
    return -1;
}

int spool_input(int fd, const void *read_already, size_t size, char why[SPOOL_WHY])
{
    int copy = temporary_file();
    char buffer[65536];
    ssize_t got = 1;

    if (copy < 0 || !write_all(copy, read_already, size))
        return copy_failed(copy, why);
    while (got > 0 || (got < 0 && errno == EINTR)) {
        got = read(fd, buffer, sizeof(buffer));
        if (got > 0 && !write_all(copy, buffer, (size_t)got))
            return copy_failed(copy, why);
    }
    if (got == 0)
        return copy;
    snprintf(why, SPOOL_WHY, "%s", strerror(errno));
    close(copy);
    return -1;
}
