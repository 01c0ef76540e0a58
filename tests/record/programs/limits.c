/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* limits WHICH VALUE: a thread and a child under a limit of the process, and what comes of a signal
 * that waits: limits waiting 0. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long count;

__attribute__((noinline)) void *thread_work(void *unused)
{
    for (int i = 0; i < 300000; i++)
        count++;
    return unused;
}

static int thread_and_child(void)
{
    pthread_t thread;
    int status = 0, result = pthread_create(&thread, NULL, thread_work, NULL);
    pid_t child;

    printf("thread %d\n", result);
    if (result == 0)
        pthread_join(thread, NULL);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        thread_work(NULL);
        _exit(7);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    printf("child %s %d\n", child > 0 ? "ended" : "failed", status);
    return (int)(count / 100000);
}

/* A signal of the program's own that waits must wait on. */
static int with_signal(void)
{
    const struct timespec at_once = {0};
    sigset_t set;
    int result;

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGXFSZ);
    result = thread_and_child();
    printf("signal %d\n", sigtimedwait(&set, NULL, &at_once));
    return result;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int resource;
    } limits[] = {{"fsize", RLIMIT_FSIZE},
                  {"nofile", RLIMIT_NOFILE},
                  {"as", RLIMIT_AS},
                  {"nproc", RLIMIT_NPROC},
                  {"waiting", RLIMIT_FSIZE}};

    if (argc != 3)
        return 97;
    for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        rlim_t value = (rlim_t)atol(argv[2]);
        struct rlimit limit = {value, value};

        if (strcmp(argv[1], limits[i].name) == 0 && setrlimit(limits[i].resource, &limit) < 0)
            return 96;
    }
    return strcmp(argv[1], "waiting") == 0 ? with_signal() : thread_and_child();
}
