/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/count_of.h"

enum { GRACE = 5 }; /* seconds from SIGTERM to SIGKILL */

/* ---- Signals --------------------------------------------------------------------------------- */

/* Those that ask us to end, without those that we were told to ignore (nohup). SIGPIPE is among
 * them because what we say may go into a pipe. */
static void ending_signals(sigset_t *set)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct sigaction action;

    sigemptyset(set);
    for (size_t i = 0; i < COUNT_OF(signals); i++)
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, signals[i]);
}

void child_hold_signals(sigset_t *before)
{
    sigset_t set;

    ending_signals(&set);
    sigprocmask(SIG_BLOCK, &set, before);
}

void child_let_signals(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

bool child_asked_to_end(void)
{
    sigset_t set, pending;

    ending_signals(&set);
    sigpending(&pending);
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(&set, signal) == 1 && sigismember(&pending, signal) == 1)
            return true;
    return false;
}

/* ---- Programs -------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Waits for the child and for signals. A child that has to end gets SIGTERM, and SIGKILL if it does
 * not. `asked` is the signal that was the reason. */
static int wait_for(pid_t child, unsigned seconds, bool *late, int *asked)
{
    double limit = seconds ? now() + seconds : 0;
    int status = 0, next = SIGTERM;
    sigset_t set;

    ending_signals(&set);
    sigaddset(&set, SIGCHLD);
    while (waitpid(child, &status, WNOHANG) == 0) {
        double left = limit > 0 ? limit - now() : 3600;
        struct timespec t = {.tv_sec = (time_t)left,
                             .tv_nsec = (long)((left - (time_t)left) * 1e9)};
        int signal = left > 0 ? sigtimedwait(&set, NULL, &t) : -1;

        if (signal > 0 && signal != SIGCHLD && !*asked)
            *asked = signal;
        else if (left <= 0 && !*asked && next == SIGTERM)
            *late = true;
        else if (left > 0)
            continue;
        kill(child, next);
        next = SIGKILL;
        limit = now() + GRACE;
    }
    return status;
}

static void redirect(int fd, int to)
{
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(127);
}

/* In the child: it ends when we do, however that may be. */
static _Noreturn void become(char *const *command, const struct child_options *o, pid_t parent,
                             const struct sigaction *child, const sigset_t *before)
{
    sigset_t ending;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(127);
    ending_signals(&ending);
    sigaction(SIGCHLD, child, NULL);
    sigprocmask(SIG_SETMASK, before, NULL);
    sigprocmask(SIG_UNBLOCK, &ending, NULL); /* the caller may hold them */
    if (!o->interactive)
        redirect(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    if (o->output >= 0)
        redirect(o->output, STDOUT_FILENO);
    if (o->silent)
        redirect(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    execvp(command[0], command);
    _exit(127);
}

/* *status as of waitpid, then as of a shell. */
static enum child_end end_of(int *status, bool late, bool asked)
{
    int code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
    bool started = !WIFEXITED(*status) || code != 127;

    *status = code;
    return asked ? CHILD_ASKED : late ? CHILD_LATE : started ? CHILD_ENDED : CHILD_NOT_STARTED;
}

enum child_end child_run(char *const *command, const struct child_options *options, int *status)
{
    pid_t parent = getpid(), child = -1;
    struct sigaction usual = {.sa_handler = SIG_DFL}, kept;
    int asked = 0, error = EINTR;
    bool late = false;
    sigset_t chld, before;

    *status = 0;
    fflush(NULL);
    sigaction(SIGCHLD, &usual, &kept); /* if it were ignored, there would be no status */
    child_hold_signals(&before);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    if (!child_asked_to_end()) {
        child = fork();
        error = errno;
    }
    if (child == 0)
        become(command, options, parent, &kept, &before);
    if (child > 0)
        *status = wait_for(child, options->seconds, &late, &asked);
    if (asked)
        raise(asked); /* it waits until somebody lets it */
    sigaction(SIGCHLD, &kept, NULL);
    child_let_signals(&before);
    errno = error;
    return child < 0 ? CHILD_FAILED : end_of(status, late, asked);
}

enum child_end child_text(char *const *command, unsigned seconds, char *text, size_t room,
                          int *status)
{
    struct child_options options = {
        .output = memfd_create("text", MFD_CLOEXEC), .silent = true, .seconds = seconds};
    enum child_end end = CHILD_FAILED;
    ssize_t size = 0;

    if (options.output >= 0)
        end = child_run(command, &options, status);
    if (end == CHILD_ENDED && *status == 0)
        size = pread(options.output, text, room - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    if (options.output >= 0)
        close(options.output);
    return end;
}
