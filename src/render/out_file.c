/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count_of.h"
#include "perfdata/output.h"

/* ---- when a signal comes --------------------------------------------------------------------- */

/* What is to be removed: no command has more outputs than this. */
static const char *volatile temporaries[4];

enum { TEMPORARIES = COUNT_OF(temporaries) };

void out_file_abandon(void)
{
    for (int i = 0; i < TEMPORARIES; i++) {
        const char *name = temporaries[i];

        if (name)
            unlink(name);
    }
}

static void on_signal(int number)
{
    out_file_abandon();
    raise(number); /* the handler is gone: now it ends the program, as it would have */
}

/* A signal that somebody ignores or handles does not end the program. */
static void watch_signals(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ};
    struct sigaction action = {.sa_flags = (int)SA_RESETHAND}, old;

    action.sa_handler = on_signal;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

static bool remember(const char *name)
{
    for (int i = 0; i < TEMPORARIES; i++)
        if (!temporaries[i]) {
            temporaries[i] = name;
            return true;
        }
    return false;
}

static void forget(const char *name)
{
    for (int i = 0; i < TEMPORARIES; i++)
        if (temporaries[i] == name)
            temporaries[i] = NULL;
}

/* ---- the temporary file ---------------------------------------------------------------------- */

/* A name in the folder of `path` that nobody has. */
static char *temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    uint64_t random;
    char *name;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random) ||
        asprintf(&name, "%.*s.spe-%016" PRIx64, folder, path, random) < 0)
        return NULL;
    return name;
}

/* As open() would: the mode is that of a new file, or that of the one that is there. */
static int open_temporary(struct out_file *f, const struct stat *old)
{
    int error;

    f->temporary = temporary_name(f->path);
    if (!f->temporary || !remember(f->temporary))
        return ENOMEM;
    watch_signals();
    f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f->fd < 0)
        return errno;
    if (!old)
        return 0;
    if (fchown(f->fd, old->st_uid, old->st_gid) < 0) {
        /* Somebody else's file, which we may write: the new one is ours. */
    }
    if (fchmod(f->fd, old->st_mode & 07777) == 0)
        return 0;
    error = errno;
    unlink(f->temporary);
    close(f->fd);
    return error;
}

static bool is_open_as(int fd, const struct stat *st)
{
    struct stat other;

    return fstat(fd, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Something is there: 0 and a descriptor if it is written directly, EEXIST if it is replaced. */
static int open_existing(struct out_file *f, const char *path, struct stat *st)
{
    if (stat(path, st) < 0)
        return errno;
    f->fd = open(path, O_WRONLY | O_CLOEXEC); /* also to see that it may be written */
    if (f->fd < 0)
        return errno;
    if (!S_ISREG(st->st_mode))
        return 0;
    close(f->fd);
    for (f->fd = STDOUT_FILENO; f->fd <= STDERR_FILENO; f->fd++)
        if (is_open_as(f->fd, st))
            return 0;
    return EEXIST;
}

static int open_by_name(struct out_file *f, const char *path)
{
    struct stat st;
    int error = open_existing(f, path, &st);

    if (error != EEXIST && error != ENOENT)
        return error;
    f->path = pd_follow(path);
    return f->path ? open_temporary(f, error == EEXIST ? &st : NULL) : errno;
}

static void forget_file(struct out_file *f)
{
    if (f->temporary)
        forget(f->temporary);
    free(f->temporary);
    free(f->path);
    *f = (struct out_file){.fd = -1};
}

int out_file_open(struct out_file *f, const char *path)
{
    int error;

    *f = (struct out_file){.fd = STDOUT_FILENO};
    if (!path || strcmp(path, "-") == 0)
        return 0;
    error = open_by_name(f, path);
    if (error)
        forget_file(f);
    return error;
}

/* Not every file system can rename without replacing; a link does not replace either. */
static int take_name(const struct out_file *f)
{
    if (!f->only_new)
        return rename(f->temporary, f->path) < 0 ? errno : 0;
    if (renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL || link(f->temporary, f->path) < 0)
        return errno;
    return unlink(f->temporary) < 0 ? errno : 0;
}

int out_file_close(struct out_file *f, bool complete)
{
    int error = 0;

    if (f->fd > STDERR_FILENO && close(f->fd) < 0)
        error = errno;
    if (f->temporary && complete && !error)
        error = take_name(f);
    if (f->temporary && (!complete || error))
        unlink(f->temporary);
    forget_file(f);
    return error;
}
