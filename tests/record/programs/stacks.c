/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Three threads and a child, each at work on its own stack. The child has a copy of the first
 * one's. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *unused)
{
    volatile long local[1024] = {0};

    for (long i = 0; i < 100000; i++)
        local[i & 1023] += i;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pid_t child;

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    child = fork();
    work(NULL);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return 0;
}
