/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The ways to become another program: exec HOW FILE. That program is this one with "work". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static volatile long count;

__attribute__((noinline)) void new_program_work(void)
{
    for (int i = 0; i < 300000; i++)
        count++;
}

static int open_copy(const char *path)
{
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
    char bytes[65536];
    ssize_t got;

    while ((got = read(from, bytes, sizeof(bytes))) > 0)
        if (write(to, bytes, (size_t)got) != got)
            return -1;
    return to;
}

static void execveat_raw(int fd, const char *name, char **argv, int flags)
{
    syscall(SYS_execveat, fd, name, argv, environ, flags);
}

static void become(const char *how, const char *path, char **argv)
{
    char copy[4096], other[4096];
    int folder;

    snprintf(copy, sizeof(copy), "%s", path);
    snprintf(other, sizeof(other), "%s", path);
    folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (strcmp(how, "path") == 0)
        execve(path, argv, environ);
    else if (strcmp(how, "open") == 0)
        fexecve(open(path, O_RDONLY), argv, environ);
    else if (strcmp(how, "closing") == 0)
        fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, environ);
    else if (strcmp(how, "memory") == 0)
        fexecve(open_copy(path), argv, environ);
    else if (strcmp(how, "folder") == 0)
        execveat_raw(folder, basename(other), argv, 0);
    else if (strcmp(how, "nofollow") == 0)
        execveat_raw(folder, basename(other), argv, AT_SYMLINK_NOFOLLOW);
    else if (strcmp(how, "not-empty") == 0)
        execveat_raw(open(path, O_RDONLY), "", argv, 0);
    else if (strcmp(how, "bad-flags") == 0)
        execveat_raw(open(path, O_RDONLY), "", argv, AT_EMPTY_PATH | 0x4000000);
}

int main(int argc, char **argv)
{
    char name[] = "called", work[] = "work";
    char *new_argv[] = {name, work, NULL};

    if (argc > 1 && strcmp(argv[1], "work") == 0) {
        new_program_work();
        printf("%s has %s\n", argv[0], getenv("WORD") ? getenv("WORD") : "nothing");
        return 42;
    }
    if (argc != 3)
        return 97;
    setenv("WORD", "a word", 1);
    become(argv[1], argv[2], new_argv);
    printf("%s: %s\n", argv[1], strerror(errno));
    return 1;
}
