/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Opening files whose names come out of a recording, which may name anything. To open a device may
 * do something (a watchdog starts to count), and so may to open a FIFO (who waits to write goes
 * on). So the type is looked at first, through a descriptor that opens nothing (O_PATH); then that
 * very file is opened, by way of /proc, whatever its name leads to by now.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names_internal.h"

/* The file, not opened; -1 if there is none. */
static int look(const char *path, int flags, struct stat *st)
{
    int place;

    errno = 0; /* what is not opened for its kind has no error */
    place = open(path, O_PATH | O_CLOEXEC | flags);
    if (place >= 0 && fstat(place, st) < 0) {
        close(place);
        place = -1;
    }
    return place;
}

/* Opens it if it is good, and ends the look at it. */
static int open_looked_at(int place, bool good)
{
    char name[40];
    int fd = -1;

    if (place < 0)
        return -1;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
    if (good)
        fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    close(place);
    return fd;
}

/* Files of the kernel's (/proc/kmsg, trace_pipe) pass for regular ones, but their size is 0: to
 * read them may take something away, and no file of interest is empty. */
int dso_open_regular(const char *path)
{
    struct stat st;
    int place = look(path, 0, &st);

    return open_looked_at(place, place >= 0 && S_ISREG(st.st_mode) && st.st_size > 0);
}

int64_t file_read(int fd, uint64_t offset, void *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SPE_ERR_IO;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

FILE *dso_open_kallsyms(const char *path)
{
    struct stat st;
    int place = look(path, 0, &st), fd = open_looked_at(place, place >= 0 && S_ISREG(st.st_mode));
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (fd >= 0 && !file)
        close(fd);
    return file;
}

/* Anybody may write to /tmp. perf asks who owns what is there, be it a link, and follows it then;
 * we do not follow it. */
int dso_open_own(const char *path, const char **why)
{
    struct stat st;
    int place = look(path, O_NOFOLLOW, &st);

    *why = NULL;
    if (place < 0)
        return -1;
    if (st.st_uid != 0 && st.st_uid != geteuid())
        *why = "belongs neither to you nor to root";
    else if (S_ISLNK(st.st_mode))
        *why = "is a symbolic link, which is not followed";
    return open_looked_at(place, !*why && S_ISREG(st.st_mode));
}
