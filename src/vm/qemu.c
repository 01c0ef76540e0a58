/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which QEMU, and how to start it. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vm/vm.h"

#define PROGRAM "qemu-system-aarch64"

enum { GRACE = 5 }; /* seconds from SIGTERM to SIGKILL */

/* ---- Signals --------------------------------------------------------------------------------- */

/* Those that ask us to end, without those that we were told to ignore (nohup). SIGPIPE is among
 * them because what we say may go into a pipe. */
static void ending_signals(sigset_t *set)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct sigaction action;

    sigemptyset(set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, signals[i]);
}

void vm_hold_signals(sigset_t *before)
{
    sigset_t set;

    ending_signals(&set);
    sigprocmask(SIG_BLOCK, &set, before);
}

void vm_let_signals(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

bool vm_asked_to_end(void)
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
__attribute__((noreturn)) static void become(char *const *command, int output, bool interactive,
                                             pid_t parent, const sigset_t *before)
{
    sigset_t ending;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(127);
    ending_signals(&ending);
    sigprocmask(SIG_SETMASK, before, NULL);
    sigprocmask(SIG_UNBLOCK, &ending, NULL); /* the caller may hold them */
    if (!interactive)
        redirect(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    if (output >= 0)
        redirect(output, STDOUT_FILENO);
    execvp(command[0], command);
    _exit(127);
}

int vm_run_program(char *const *command, int output, bool interactive, unsigned seconds,
                   struct vm_error *error)
{
    pid_t parent = getpid(), child = -1;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    int status = 0, asked = 0;
    bool late = false;
    sigset_t chld, before;

    fflush(NULL);
    sigaction(SIGCHLD, &usual, NULL); /* if it were ignored, there would be no status */
    vm_hold_signals(&before);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    if (!vm_asked_to_end())
        child = fork();
    else
        errno = EINTR;
    if (child < 0)
        vm_fail(error, SPE_ERR_IO, command[0], "%s", strerror(errno));
    if (child == 0)
        become(command, output, interactive, parent, &before);
    if (child > 0)
        status = wait_for(child, seconds, &late, &asked);
    if (asked)
        raise(asked); /* it waits until somebody lets it */
    vm_let_signals(&before);
    if (child < 0)
        return SPE_ERR_IO;
    if (asked)
        return vm_fail(error, SPE_ERR_IO, command[0], "it was ended by a signal");
    if (late)
        return vm_fail(error, SPE_ERR_IO, command[0], "it was ended after %u seconds", seconds);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return vm_fail(error, SPE_ERR_IO, command[0], "it could not be started");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- Which QEMU ------------------------------------------------------------------------------ */

/* "QEMU emulator version 11.1.2 (Debian ...)" */
static bool read_version(char *const *command, int *major, int *minor)
{
    struct vm_words words = {0};
    char line[256] = "", *number, *end;
    struct vm_error ignored;
    int fd = memfd_create("version", MFD_CLOEXEC);

    vm_words_add_list(&words, command);
    vm_words_add(&words, "--version");
    if (fd < 0 || words.failed || vm_run_program(words.list, fd, false, 20, &ignored) != 0 ||
        pread(fd, line, sizeof(line) - 1, 0) < 0)
        line[0] = '\0';
    if (fd >= 0)
        close(fd);
    vm_words_free(&words);
    number = strstr(line, "version ");
    if (!number)
        return false;
    *major = (int)strtol(number + strlen("version "), &end, 10);
    if (*end != '.')
        return false;
    *minor = (int)strtol(end + 1, NULL, 10);
    return true;
}

/* QEMU of the cache has its own C library, and comes with the loader that fits it. */
static bool from_cache(const char *cache, struct vm_qemu *q)
{
    char pattern[4096];
    glob_t loader = {0}, libraries = {0};
    bool found;

    snprintf(q->path, sizeof(q->path), "%s/qemu/usr/bin/" PROGRAM, cache);
    if (access(q->path, R_OK) < 0)
        return false;
    snprintf(pattern, sizeof(pattern), "%s/qemu/usr/lib*/ld-linux-*.so.*", cache);
    found = glob(pattern, 0, NULL, &loader) == 0;
    snprintf(pattern, sizeof(pattern), "%s/qemu/usr/lib/*-linux-gnu", cache);
    found = found && glob(pattern, 0, NULL, &libraries) == 0;
    if (found) {
        vm_words_add(&q->command, "%s", loader.gl_pathv[0]);
        vm_words_add(&q->command, "--library-path");
        vm_words_add(&q->command, "%s", libraries.gl_pathv[0]);
        vm_words_add(&q->command, "%s", q->path);
        vm_words_add(&q->command, "-L");
        vm_words_add(&q->command, "%s/qemu/usr/share/qemu", cache);
    }
    globfree(&loader);
    globfree(&libraries);
    return found;
}

static bool fit(struct vm_qemu *q)
{
    if (!read_version(q->command.list, &q->major, &q->minor))
        q->major = q->minor = 0;
    q->level = q->major > 11 || (q->major == 11 && q->minor >= 1) ? 7 : 6;
    return q->major >= 11;
}

void vm_qemu_free(struct vm_qemu *q)
{
    vm_words_free(&q->command);
}

int vm_find_qemu(const char *path, const char *cache, struct vm_qemu *q, struct vm_error *error)
{
    *q = (struct vm_qemu){0};
    if (!path && from_cache(cache, q) && fit(q))
        return 0;
    vm_qemu_free(q);
    snprintf(q->path, sizeof(q->path), "%s", path ? path : PROGRAM);
    vm_words_add(&q->command, "%s", q->path);
    if (fit(q))
        return 0;
    vm_qemu_free(q);
    if (q->major)
        return vm_fail(error, SPE_ERR_UNKNOWN, q->path,
                       "this is QEMU %d.%d, whose plugins cannot be a device: 11.0 or newer can. "
                       "Debian has one in trixie-backports; 'spe vm --fetch' unpacks it into %s",
                       q->major, q->minor, cache);
    return vm_fail(error, SPE_ERR_UNKNOWN, q->path,
                   "there is no such QEMU here, and none in %s. It takes version 11.0 or newer: "
                   "Debian has one in trixie-backports, and 'spe vm --fetch' unpacks it there",
                   cache);
}
