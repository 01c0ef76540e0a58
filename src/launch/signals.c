/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "launch/signals.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/count_of.h"

static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGXFSZ, SIGPIPE};

enum { NUMBERS = COUNT_OF(numbers) };

/* A handler is told nothing else. */
static struct {
    volatile pid_t program;
    volatile sig_atomic_t last, terminations;
    int event;
    struct sigaction before[NUMBERS];
    sigset_t mask_before;
} signals;

static void end_by(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t it;

    sigaction(number, &usual, NULL);
    sigemptyset(&it);
    sigaddset(&it, number);
    sigprocmask(SIG_UNBLOCK, &it, NULL);
    raise(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    const uint64_t one = 1;
    int error = errno;

    (void)context;
    if (number == SIGALRM)
        end_by(signals.last);
    if (number != SIGCHLD) {
        /* A terminal's have no sender, and the program has them already. */
        if (signals.program > 0 && (number == SIGTERM || number == SIGHUP || info->si_pid > 0))
            kill(signals.program, number);
        signals.terminations += number == SIGTERM;
        signals.last = number;
        alarm(SIGNALS_PATIENCE);
    }
    if (write(signals.event, &one, sizeof(one)) < 0)
        errno = error; /* it is readable already */
    errno = error;
}

static void watch_one(int i)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

    sigfillset(&action.sa_mask);
    if (numbers[i] == SIGXFSZ || numbers[i] == SIGPIPE)
        action = (struct sigaction){.sa_handler = SIG_IGN};
    sigaction(numbers[i], NULL, &signals.before[i]);
    if (signals.before[i].sa_handler != SIG_IGN || numbers[i] == SIGCHLD || numbers[i] == SIGALRM)
        sigaction(numbers[i], &action, NULL);
}

bool signals_watch(void)
{
    sigset_t set;

    signals.program = 0;
    signals.last = signals.terminations = 0;
    signals.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (signals.event < 0)
        return false;
    sigemptyset(&set);
    for (int i = 0; i < NUMBERS; i++) {
        watch_one(i);
        sigaddset(&set, numbers[i]);
    }
    sigprocmask(SIG_UNBLOCK, &set, &signals.mask_before);
    return true;
}

void signals_unwatch(void)
{
    alarm(0);
    for (int i = 0; i < NUMBERS; i++)
        sigaction(numbers[i], &signals.before[i], NULL);
    sigprocmask(SIG_SETMASK, &signals.mask_before, NULL);
    close(signals.event);
}

/* One that comes in between waits until there is somebody to forward it to. */
pid_t signals_fork(void)
{
    sigset_t all, mine;
    pid_t child;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mine);
    child = fork();
    if (child == 0) {
        signals_unwatch();
        return 0;
    }
    signals.program = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &mine, NULL);
    return child;
}

/* If a signal has ended it, only our own end is left to do. */
void signals_child_ended(void)
{
    signals.program = 0;
    if (signals.last)
        alarm(SIGNALS_PATIENCE);
}

int signals_descriptor(void)
{
    return signals.event;
}

void signals_take(void)
{
    uint64_t count;

    if (read(signals.event, &count, sizeof(count)) < 0)
        return;
    if (signals.program > 0)
        alarm(0);
}

bool signals_want_end(void)
{
    return signals.terminations > 1;
}
