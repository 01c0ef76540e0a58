/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which QEMU, and how to start it. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vm/vm.h"

#define PROGRAM "qemu-system-aarch64"

static void redirect(const char *path, int flags, int to)
{
    int fd = open(path, flags, 0666);

    if (fd < 0 || dup2(fd, to) < 0)
        _exit(127);
    close(fd);
}

/* Waits for the child; after `seconds`, if not 0, it is ended. */
static int wait_for(pid_t child, unsigned seconds, bool *ended)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    time_t limit = time(NULL) + (time_t)seconds;
    int status = 0;

    *ended = false;
    if (seconds == 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        return status;
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (time(NULL) >= limit && !*ended) {
            kill(child, SIGKILL);
            *ended = true;
        }
        nanosleep(&moment, NULL);
    }
    return status;
}

int vm_run_program(char *const *command, const char *output, bool interactive, unsigned seconds,
                   struct vm_error *error)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    bool ended;
    int status;
    pid_t child;

    fflush(NULL);
    /* Control-c ends the program, and then we tidy up. */
    sigaction(SIGINT, &ignore, &before);
    child = fork();
    if (child < 0)
        sigaction(SIGINT, &before, NULL);
    if (child < 0)
        return vm_fail(error, SPE_ERR_IO, command[0], "%s", strerror(errno));
    if (child == 0) {
        sigaction(SIGINT, &before, NULL);
        if (!interactive)
            redirect("/dev/null", O_RDONLY, STDIN_FILENO);
        if (output)
            redirect(output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
        execvp(command[0], command);
        _exit(127);
    }
    status = wait_for(child, seconds, &ended);
    sigaction(SIGINT, &before, NULL);
    if (ended)
        return vm_fail(error, SPE_ERR_IO, command[0], "it was ended after %u seconds", seconds);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return vm_fail(error, SPE_ERR_IO, command[0], "it could not be started");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* "QEMU emulator version 11.1.2 (Debian ...)" */
static bool read_version(char *const *command, int *major, int *minor)
{
    struct vm_words words = {0};
    char path[] = "/tmp/spe-vm-XXXXXX", line[256] = "";
    struct vm_error ignored;
    int fd = mkstemp(path);
    char *number, *end;
    FILE *f;

    if (fd < 0)
        return false;
    vm_words_add_list(&words, command);
    vm_words_add(&words, "--version");
    if (!words.failed && vm_run_program(words.list, path, false, 20, &ignored) == 0 &&
        (f = fdopen(fd, "r"))) {
        if (!fgets(line, sizeof(line), f))
            line[0] = '\0';
        fclose(f);
    } else {
        close(fd);
    }
    unlink(path);
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
