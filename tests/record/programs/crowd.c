/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What makes work for the launcher: maps and an exec at once, many processes, odd files. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long count;

__attribute__((noinline)) static void work(long n)
{
    while (n--)
        count++;
}

/* Say who we are, and wait for a word. */
static void wait_for_word(void)
{
    char line[32];

    snprintf(line, sizeof(line), "%d\n", (int)getpid());
    if (write(1, line, strlen(line)) < 0 || read(0, line, 1) != 1)
        _exit(90);
}

/* Maps of code, work, another program. */
static int become(const char *program)
{
    int fd = open(program, O_RDONLY);

    wait_for_word();
    for (int i = 0; i < 80; i++)
        if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
            return 91;
    work(500000);
    execl(program, program, "work", (char *)NULL);
    return 92;
}

/* So many children, all there at the same time. */
static int crowd(int size)
{
    int here[2], go[2], status, bad = 0;
    char byte = 0;

    if (pipe(here) < 0 || pipe(go) < 0)
        return 93;
    for (int i = 0; i < size; i++) {
        pid_t child = fork();

        if (child < 0)
            return 94;
        if (child == 0) {
            close(go[1]);
            work(1000);
            if (write(here[1], &byte, 1) != 1)
                _exit(95);
            _exit(read(go[0], &byte, 1) != 0);
        }
    }
    for (int i = 0; i < size; i++)
        bad |= read(here[0], &byte, 1) != 1;
    close(go[1]);
    for (int i = 0; i < size; i++)
        bad |= wait(&status) < 0 || status != 0;
    return bad ? 96 : 0;
}

/* A map of a file that is gone, where /proc/self/maps then names a FIFO. */
static int map_fifo(const char *path)
{
    char fifo[4096];
    int fd = open(path, O_RDWR | O_CREAT, 0600);

    snprintf(fifo, sizeof(fifo), "%s (deleted)", path);
    if (fd < 0 || ftruncate(fd, 4096) < 0 || unlink(path) < 0 || mkfifo(fifo, 0600) < 0)
        return 97;
    work(100000);
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ? 98 : 0;
}

static int limits(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    printf("%llu %llu\n", (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    return 0;
}

/* A child that goes on until it is killed. */
static int leave_behind(void)
{
    char line[32];
    int here[2];
    pid_t child;

    if (pipe(here) < 0)
        return 93;
    child = fork();
    if (child == 0) {
        work(1000);
        if (write(here[1], "x", 1) != 1)
            _exit(95);
        close(0);
        close(1);
        close(2);
        for (;;)
            work(1000);
    }
    snprintf(line, sizeof(line), "%d\n", (int)child);
    return read(here[0], line + 31, 1) != 1 || write(1, line, strlen(line)) < 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "work") == 0)
        work(100000);
    if (strcmp(what, "become") == 0)
        return become(argv[0]);
    if (strcmp(what, "crowd") == 0 && argc > 2)
        return crowd(atoi(argv[2]));
    if (strcmp(what, "fifo") == 0 && argc > 2)
        return map_fifo(argv[2]);
    if (strcmp(what, "limits") == 0)
        return limits();
    if (strcmp(what, "leave") == 0)
        return leave_behind();
    if (strcmp(what, "stubborn") == 0) {
        signal(SIGTERM, SIG_IGN);
        wait_for_word();
        for (;;)
            work(1000);
    }
    return 0;
}
