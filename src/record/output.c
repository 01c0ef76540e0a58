/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/output.h"

enum { TRIES = 100, AGAIN = -2 };

static int fail(struct problem *problem, const char *path, const char *why)
{
    problem_say(problem, false, path, "%s", why);
    return -1;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool keep_old(const char *path)
{
    char *old;
    bool good;

    if (asprintf(&old, "%s.old", path) < 0)
        return false;
    good = rename(path, old) == 0;
    free(old);
    return good;
}

/*
 * The file is ours if we have the lock of the file that has the name, and it is empty. Who finds a
 * recording there moves it away first, for which the lock is needed too: a recording that is being
 * written keeps its name. AGAIN: somebody moved the file, or we did.
 */
static int claim(int fd, const char *path, const struct stat *st, struct problem *problem)
{
    struct stat now;

    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return fail(problem, path,
                    "another recording is being written to it: wait, or give another name with -o");
    if (stat(path, &now) < 0 || !same_file(st, &now))
        return AGAIN;
    if (now.st_size == 0)
        return fd;
    return keep_old(path) ? AGAIN : fail(problem, path, strerror(errno));
}

static int open_once(const char *path, const struct stat *program, bool *seekable,
                     struct problem *problem)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), result;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return fail(problem, path, strerror(errno));
    *seekable = S_ISREG(st.st_mode);
    if (!*seekable)
        return fd;
    result = same_file(&st, program) ? fail(problem, path, "is the program to be recorded")
                                     : claim(fd, path, &st, problem);
    if (result < 0)
        close(fd);
    return result;
}

int output_open(const char *path, const char *program, bool *seekable, struct problem *problem)
{
    struct stat program_file = {0};
    int fd = AGAIN;
    char *file;

    *seekable = false;
    if (strcmp(path, "-") == 0)
        return isatty(STDOUT_FILENO) ? fail(problem, "standard output",
                                            "is a terminal, and a recording is not text; give -o "
                                            "FILE")
                                     : STDOUT_FILENO;
    file = pd_follow(path);
    if (!file)
        return fail(problem, path, strerror(errno));
    stat(program, &program_file);
    for (int i = 0; i < TRIES && fd == AGAIN; i++)
        fd = open_once(file, &program_file, seekable, problem);
    free(file);
    return fd == AGAIN ? fail(problem, path, "other recordings keep taking this name") : fd;
}
