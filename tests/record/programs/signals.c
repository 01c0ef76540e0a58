/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Handlers, faults, and ends of all kinds. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;
static volatile long work;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
    for (int i = 0; i < 1000; i++)
        work++;
}

__attribute__((noinline)) static void spin(long n)
{
    while (n--)
        work++;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "alarm") == 0) {
        struct itimerval often = {{0, 1000}, {0, 1000}};

        signal(SIGALRM, on_alarm);
        setitimer(ITIMER_REAL, &often, NULL);
        while (alarms < 20)
            spin(1000);
        return 6;
    }
    spin(200000);
    if (strcmp(what, "fault") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(what, "wait") == 0) {
        FILE *f = fopen(argv[2], "w");

        fprintf(f, "%d", getpid());
        fclose(f);
        spin(200000);
        for (int i = 0; i < 200 && access(argv[3], F_OK) < 0; i++) {
            spin(20000);
            usleep(50000);
        }
        f = fopen(argv[4], "w");
        fclose(f);
    }
    return 0;
}
