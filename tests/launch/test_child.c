/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Children and their ends: by themselves, by a signal, by the clock, by a signal to us. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "fakes.h"
#include "launch/child.h"

static const struct child_options plain = {.output = -1};

static enum child_end run(char *path, const struct child_options *options, int *status)
{
    char *command[] = {path, NULL};

    return child_run(command, options, status);
}

static void test_ends(void **state)
{
    int status;

    (void)state;
    assert_int_equal(run(fake_program("good", "exit 0"), &plain, &status), CHILD_ENDED);
    assert_int_equal(status, 0);
    assert_int_equal(run(fake_program("bad", "exit 42"), &plain, &status), CHILD_ENDED);
    assert_int_equal(status, 42);
    assert_int_equal(run(fake_program("killed", "kill -9 $$"), &plain, &status), CHILD_ENDED);
    assert_int_equal(status, 128 + SIGKILL);
    assert_int_equal(run(fake_path("nothing"), &plain, &status), CHILD_NOT_STARTED);
    assert_int_equal(run(fake_file("plain", "", 0600), &plain, &status), CHILD_NOT_STARTED);
}

/* SIGTERM first, and SIGKILL for those that do not mind it. */
static void test_late(void **state)
{
    struct child_options options = {.output = -1, .seconds = 1};
    int status;

    (void)state;
    assert_int_equal(run(fake_program("waits", "exec sleep 1000"), &options, &status), CHILD_LATE);
    assert_int_equal(status, 128 + SIGTERM);
    assert_int_equal(run(fake_program("tidies", "trap 'exit 7' TERM; while :; do sleep 0.1; done"),
                         &options, &status),
                     CHILD_LATE);
    assert_int_equal(status, 7);
}

/* A child has no standard input unless it is given ours, and no standard error if it is silent. */
static void test_descriptors(void **state)
{
    char text[200], *command[] = {fake_program("reads", "cat; echo heard >&2; echo said"), NULL};
    int status;

    (void)state;
    assert_int_equal(child_text(command, 0, text, sizeof(text), &status), CHILD_ENDED);
    assert_string_equal(text, "said\n");
    assert_int_equal(child_text(command, 0, text, 3, &status), CHILD_ENDED);
    assert_string_equal(text, "sa");
    command[0] = fake_program("fails", "echo said; exit 3");
    assert_int_equal(child_text(command, 0, text, sizeof(text), &status), CHILD_ENDED);
    assert_int_equal(status, 3);
    assert_string_equal(text, "");
}

/* If the user ignores SIGCHLD, the status comes all the same, and the child ignores it, too: a
 * shell would not say so, it has its own mind about this signal. */
static void test_ignored_child_signal(void **state)
{
    char grep[] = "grep", what[] = "SigIgn", where[] = "/proc/self/status";
    char text[200], *command[] = {grep, what, where, NULL};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before, now;
    int status, text_status;
    enum child_end end;

    (void)state;
    sigaction(SIGCHLD, &ignore, &before);
    run(fake_program("bad", "exit 42"), &plain, &status);
    end = child_text(command, 0, text, sizeof(text), &text_status);
    sigaction(SIGCHLD, &before, &now);
    assert_int_equal(status, 42);
    assert_true(now.sa_handler == SIG_IGN);
    assert_int_equal(end, CHILD_ENDED);
    assert_true(strtoull(text + strlen("SigIgn:"), NULL, 16) >> (SIGCHLD - 1) & 1);
}

/* A signal to us ends the child, and then us, unless we hold it. */
static void test_asked(void **state)
{
    char *path = fake_program("asks", "kill -TERM $PPID; exec sleep 1000");
    pid_t child;
    int status;

    (void)state;
    child = fork();
    if (child == 0) {
        run(path, &plain, &status);
        _exit(99); /* the signal has ended us before */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    child = fork();
    if (child == 0) {
        sigset_t before;
        enum child_end end;

        child_hold_signals(&before);
        end = run(path, &plain, &status);
        _exit(end == CHILD_ASKED && child_asked_to_end() &&
                      run(path, &plain, &status) == CHILD_FAILED && errno == EINTR
                  ? 17
                  : 99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 17);
}

/* Whoever kills us has no orphans to look for. */
static void test_no_orphans(void **state)
{
    char *path = fake_program("lives", "echo $$; exec sleep 1000");
    int pipes[2], status;
    char text[32] = "";
    pid_t child, orphan;

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        struct child_options options = {.output = pipes[1]};

        run(path, &options, &status);
        _exit(99);
    }
    assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
    orphan = (pid_t)strtol(text, NULL, 10);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(pipes[1]);
    assert_int_equal(read(pipes[0], text, sizeof(text)), 0); /* its end: the last writer is gone */
    close(pipes[0]);
    assert_true(orphan > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),        cmocka_unit_test(test_late),
        cmocka_unit_test(test_descriptors), cmocka_unit_test(test_ignored_child_signal),
        cmocka_unit_test(test_asked),       cmocka_unit_test(test_no_orphans),
    };

    return cmocka_run_group_tests(tests, make_fakes, remove_fakes);
}
