/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Paths of a recording may name devices, FIFOs and other people's links. The look-up of symbols
 * opens none of them: inotify tells of every open, and who waits at a FIFO would be woken by one.
 */
#include "support/profile_recording.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "names/names_internal.h"

static char directory[] = "/tmp/spe-open-XXXXXX";
static int watch;

static const char *at(const char *name)
{
    static char path[4][PATH_MAX];
    static unsigned turn;

    snprintf(path[++turn % 4], PATH_MAX, "%s/%s", directory, name);
    return path[turn % 4];
}

static bool was_opened(void)
{
    struct pollfd p = {.fd = watch, .events = POLLIN};
    char events[4096];
    bool opened = false;

    while (poll(&p, 1, 0) > 0)
        opened = read(watch, events, sizeof(events)) > 0;
    return opened;
}

static void watch_opens(const char *name)
{
    assert_true(inotify_add_watch(watch, at(name), IN_OPEN) >= 0);
    was_opened(); /* what was before does not count */
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(at(name), "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void regular_files(void **state)
{
    const char *why;
    char text[8];
    int fd;

    (void)state;
    put("file", "text");
    watch_opens("file");
    fd = dso_open_regular(at("file"));
    assert_true(fd >= 0);
    assert_true(was_opened()); /* so the watch sees it */
    assert_int_equal(read(fd, text, sizeof(text)), 4);
    close(fd);
    assert_int_equal(symlink("file", at("link")), 0);
    fd = dso_open_regular(at("link")); /* the build-id cache is made of links */
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(dso_open_own(at("link"), &why), -1);
    assert_non_null(strstr(why, "link"));
    fd = dso_open_own(at("file"), &why);
    assert_true(fd >= 0);
    assert_null(why);
    close(fd);
    put("empty", "");
    assert_int_equal(dso_open_regular(at("empty")), -1);
    assert_int_equal(dso_open_regular(at("none")), -1);
    assert_int_equal(dso_open_regular(directory), -1);
}

/* In what state a process is, as the kernel says it: S while it waits. */
static char state_of(pid_t pid)
{
    char path[64], line[512] = "", *end;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    end = strrchr(line, ')');
    return end ? end[2] : '?';
}

static void fifo_with_a_writer(void **state)
{
    const char *why;
    int status, fd;
    pid_t pid;

    (void)state;
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(open(at("fifo"), O_WRONLY) < 0);
    while (state_of(pid) != 'S') /* it waits for a reader */
        usleep(1000);
    assert_int_equal(dso_open_regular(at("fifo")), -1);
    assert_null(dso_open_kallsyms(at("fifo")));
    assert_int_equal(dso_open_own(at("fifo"), &why), -1);
    usleep(50000);
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* and still does */
    fd = open(at("fifo"), O_RDONLY);                     /* now it need not */
    assert_true(fd >= 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(fd);
}

/* Maps of a process and of the kernel, kernel symbols, caches and links lead to the node. */
static void look_up(const char *node)
{
    struct spe_profile_options options = quiet_options(1);
    uint8_t id[20] = {0x12, 0x34};
    struct spe_profile *p;
    struct recording r;
    struct row rows[4];
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "/tmp/..%s/%s", directory, node);
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    recording_map(&r, 0, 7, 0x10000, 0x1000, 0, path, NULL, 0);
    recording_map(&r, 0, 7, 0x20000, 0x1000, 0, "/nowhere", id, sizeof(id));
    recording_map(&r, 0, ANY, UINT64_C(0xffff800000000000), 0x1000, 0, path, NULL, 0);
    recording_map(&r, 0, ANY, UINT64_C(0xffff800010000000), 0x1000, 0, "[kernel.kallsyms]_text",
                  NULL, 0);
    recording_sample(&r, 0, 10, 0x10010, 0, 7);
    recording_sample(&r, 0, 11, 0x20010, 0, 7);
    recording_sample(&r, 0, 12, UINT64_C(0xffff800000000010), 1, 7);
    recording_sample(&r, 0, 13, UINT64_C(0xffff800010000010), 1, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    options.want = SPE_WANT_SYMBOL | SPE_WANT_LINE;
    options.symfs = "";
    options.kallsyms = path;
    options.vmlinux = path;
    options.debug_dir = at("cache");
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, rows, 4), 4);
    for (int i = 0; i < 4; i++)
        assert_true(rows[i].symbol == SPE_NO_SYMBOL);
    spe_profile_close(p);
    recording_free(&r);
}

static void nothing_is_opened(void **state)
{
    char link[PATH_MAX];

    (void)state;
    alarm(50); /* who waits at a FIFO waits for ever */
    snprintf(link, sizeof(link), "%s/node", directory);
    assert_int_equal(mkdir(at("cache"), 0700), 0);
    assert_int_equal(mkdir(at("cache/.build-id"), 0700), 0);
    assert_int_equal(mkdir(at("cache/.build-id/12"), 0700), 0);
    assert_int_equal(mkdir(at("cache/.build-id/12/34000000000000000000000000000000000000"), 0700),
                     0);
    assert_int_equal(
        symlink(link, at("cache/.build-id/12/34000000000000000000000000000000000000/elf")), 0);
    assert_int_equal(mkfifo(at("node"), 0600), 0);
    watch_opens("node");
    look_up("node");
    assert_false(was_opened());
    assert_int_equal(unlink(at("node")), 0);
    if (mknod(at("node"), S_IFCHR | 0600, makedev(1, 3)) < 0) {
        print_message("no right to make a device: tested with a FIFO only\n");
    } else {
        watch_opens("node");
        look_up("node");
        assert_false(was_opened());
    }
    alarm(0);
}

static int set_up(void **state)
{
    (void)state;
    watch = inotify_init1(IN_CLOEXEC);
    return watch < 0 || !mkdtemp(directory);
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    close(watch);
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_files),
        cmocka_unit_test(fifo_with_a_writer),
        cmocka_unit_test(nothing_is_opened),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
