/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Threads, a child, another program, a library that is loaded late. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORK 300000

volatile long left_count, right_count;

__attribute__((noinline)) void *left_work(void *unused)
{
    prctl(PR_SET_NAME, "lefty");
    for (int i = 0; i < WORK; i++)
        left_count++;
    return unused;
}

__attribute__((noinline)) void *right_work(void *unused)
{
    for (int i = 0; i < WORK; i++)
        right_count++;
    return unused;
}

__attribute__((noinline)) void child_work(void)
{
    for (int i = 0; i < WORK; i++)
        left_count++;
}

__attribute__((noinline)) void new_program_work(void)
{
    for (int i = 0; i < WORK; i++)
        right_count++;
}

static int threads(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, left_work, NULL);
    pthread_create(&b, NULL, right_work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return left_count == WORK && right_count == WORK ? 0 : 1;
}

static int family(char **argv, const char *program)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        child_work();
        execl(program, argv[0], "work", (char *)NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#ifdef STATIC
static int late_library(const char *path)
{
    (void)path;
    return 98;
}
#else
static int late_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    int (*work)(int) = library ? (int (*)(int))dlsym(library, "library_work") : NULL;

    return work ? work(WORK) : 98;
}
#endif

static int close_everything(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    new_program_work();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "work") == 0) {
        new_program_work();
        return 42;
    }
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        return threads();
    if (argc > 2 && strcmp(argv[1], "family") == 0)
        return family(argv, argv[2]);
    if (argc > 2 && strcmp(argv[1], "library") == 0)
        return late_library(argv[2]);
    if (argc > 1 && strcmp(argv[1], "close") == 0)
        return close_everything();
    return 97;
}
