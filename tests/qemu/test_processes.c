/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* fork, and exec: a process becomes "QEMU", which here is a script that writes down how it was
 * started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "a64.h"
#include "hear.h"
#include "qemu/tasks.h"
#include "stand_in.h"

static struct qemu_plugin_tb *block;

static void begin(const char *socket_name, int level)
{
    stand_in_install(socket_name, level);
    stand_in_begin(0);
    block = stand_in_translate(LOOP_PC, loop_words, LOOP_SIZE);
}

static void run(unsigned vcpu, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        stand_in_run(vcpu, block, 0x10000 + i % 64 * 8);
}

static void assert_status(const struct heard *heard, int status)
{
    assert_true(WIFEXITED(heard->status));
    assert_int_equal(WEXITSTATUS(heard->status), status);
}

/* ---- fork ----------------------------------------------------------------------------------- */

static int fork_level;
static pthread_barrier_t before, after;

static void *other_thread(void *unused)
{
    run(1, 1000);
    pthread_barrier_wait(&before);
    pthread_barrier_wait(&after);
    run(1, 500);
    stand_in_end(1);
    return unused;
}

/* TSan asks to be told that a child of a process with threads starts one of its own. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static void *childs_thread(void *unused)
{
    run(1, 300);
    stand_in_end(1);
    return unused;
}

/* Another thread lives when this one forks; the child makes a thread with the same index. */
static void family(const char *socket_name)
{
    pthread_t thread;
    int status;
    pid_t child;

    begin(socket_name, fork_level);
    pthread_barrier_init(&before, NULL, 2);
    pthread_barrier_init(&after, NULL, 2);
    stand_in_begin(1);
    REQUIRE(pthread_create(&thread, NULL, other_thread, NULL) == 0);
    run(0, 2000);
    pthread_barrier_wait(&before);
    child = fork();
    if (child == 0) {
        run(0, 400);
        stand_in_begin(1);
        REQUIRE(pthread_create(&thread, NULL, childs_thread, NULL) == 0);
        pthread_join(thread, NULL);
        stand_in_exit();
        _exit(5);
    }
    pthread_barrier_wait(&after);
    run(0, 100);
    REQUIRE(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
    pthread_join(thread, NULL);
    stand_in_exit();
}

static void test_fork(void **state)
{
    const struct {
        unsigned flags;
        int level;
    } ways[] = {{0, 1},
                {0, 3},
                {WIRE_FUNCTIONAL, 1},
                {WIRE_STAT | WIRE_FUNCTIONAL, 1},
                {WIRE_STAT | WIRE_CORE | WIRE_FUNCTIONAL, 1}};
    const unsigned times = 1000 + 500 + 2000 + 400 + 300 + 100;
    struct wire_setup setup;
    struct heard heard;

    (void)state;
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        fork_level = ways[i].level;
        hear_setup(&setup, ways[i].flags, 512);
        hear(family, &setup, &heard, NULL, NULL);
        assert_status(&heard, 0);
        assert_int_equal(heard.processes, 2);
        assert_int_equal(heard.forked, 1);
        assert_int_equal(heard.threads, 4);
        assert_int_equal(heard.ends, 4);
        assert_int_equal(heard.troubles, 0);
        assert_int_equal(heard.statistics.operations, times * LOOP_SIZE);
        assert_int_equal(heard.bytes, heard.statistics.bytes);
        if (ways[i].flags & WIRE_STAT)
            assert_int_equal(heard_executed(&heard, LOOP_PC), times);
    }
}

/* ---- exec ----------------------------------------------------------------------------------- */

static char folder[64];

static const char *in_folder(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
    int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    REQUIRE(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

/* "-0", the program's name for itself, the file. */
static const char qemu_script[] =
    "#!/bin/sh\n"
    "out=${0%/*}/out\n"
    "printf '%s\\n' \"$SPECIMEN_PLUGIN_LEVEL\" \"$WORD\" \"$@\" >$out\n"
    "head -c 4 \"$3\" >>$out || exit 41\n"
    "exit 42\n";

static int set_up(void **state)
{
    Elf64_Ehdr elf = {.e_ident = ELFMAG, .e_type = ET_EXEC, .e_machine = EM_AARCH64};
    char script[256];

    (void)state;
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    elf.e_ident[EI_DATA] = ELFDATA2LSB;
    strcpy(folder, "/tmp/spe-test-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
    write_file("program", &elf, sizeof(elf), 0755);
    write_file("qemu", qemu_script, sizeof(qemu_script) - 1, 0755);
    snprintf(script, sizeof(script), "#!%s one word\n", in_folder("program"));
    write_file("script", script, strlen(script), 0755);
    REQUIRE(mkfifo(in_folder("fifo"), 0755) == 0);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"program", "qemu", "script", "fifo", "out"};

    (void)state;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlink(in_folder(names[i]));
    return rmdir(folder);
}

static uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static char word[] = "WORD=a word", old_level[] = "SPECIMEN_PLUGIN_LEVEL=9";
static char name[] = "called", argument[] = "argument";
static char *const arguments[] = {name, argument, NULL}, *const environment[] = {old_level, word,
                                                                                 NULL};

static void call_execve(const char *path)
{
    stand_in_call(0, SYSCALL_EXECVE,
                  (uint64_t[8]){address(path), address(arguments), address(environment)});
}

static void call_execveat(int fd, const char *path, int flags)
{
    stand_in_call(0, SYSCALL_EXECVEAT,
                  (uint64_t[8]){(uint64_t)fd, address(path), address(arguments),
                                address(environment), (uint64_t)flags});
}

static void by_path(void)
{
    call_execve(in_folder("program"));
}

static void by_script(void)
{
    call_execve(in_folder("script"));
}

static void by_fifo(void)
{
    call_execve(in_folder("fifo"));
}

static void by_closing(void)
{
    call_execveat(open(in_folder("program"), O_RDONLY | O_CLOEXEC), "", AT_EMPTY_PATH);
}

static void by_open_script(void)
{
    REQUIRE(dup2(open(in_folder("script"), O_RDONLY | O_CLOEXEC), 77) == 77);
    call_execveat(77, "", AT_EMPTY_PATH);
}

static void by_closing_script(void)
{
    call_execveat(open(in_folder("script"), O_RDONLY | O_CLOEXEC), "", AT_EMPTY_PATH);
}

static void by_empty_path(void)
{
    call_execveat(open(in_folder("program"), O_RDONLY), "", 0);
}

static void by_nothing(void)
{
    call_execve((const char *)8); /* nothing is there */
}

static void by_memory(void)
{
    Elf64_Ehdr elf;
    int from = open(in_folder("program"), O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("program", MFD_CLOEXEC);

    REQUIRE(read(from, &elf, sizeof(elf)) == sizeof(elf));
    REQUIRE(write(fd, &elf, sizeof(elf)) == sizeof(elf));
    call_execveat(fd, "", AT_EMPTY_PATH);
}

static void *run_on(void *unused)
{
    run(1, 1000);
    pthread_barrier_wait(&before);
    for (;;)
        run(1, 1);
    return unused;
}

/* Another thread runs until the kernel ends it. */
static void with_thread(void)
{
    pthread_t thread;

    pthread_barrier_init(&before, NULL, 2);
    stand_in_begin(1);
    REQUIRE(pthread_create(&thread, NULL, run_on, NULL) == 0);
    pthread_barrier_wait(&before);
    by_path();
}

static void (*become)(void);

static void exec(const char *socket_name)
{
    begin(socket_name, 6); /* which the new QEMU cannot tell from 7 */
    run(0, 1000);
    become();
    run(0, 500); /* nothing came of it */
    stand_in_exit();
    exit(7);
}

/* What "QEMU" was started with, "" if it was not. */
static const char *become_by(void (*how)(void), struct heard *heard)
{
    static char text[1024];
    struct wire_setup setup;
    FILE *f;

    become = how;
    unlink(in_folder("out"));
    hear_setup(&setup, WIRE_FUNCTIONAL, 512);
    setup.argument_count = 1;
    setup.arguments_size = (uint32_t)strlen(strcpy(setup.arguments, in_folder("qemu"))) + 1;
    hear(exec, &setup, heard, NULL, NULL);
    f = fopen(in_folder("out"), "re");
    text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
    return text;
}

static void test_exec(void **state)
{
    static void (*const ways[])(void) = {by_path, by_closing};
    struct heard heard;
    char wanted[512];

    (void)state;
    snprintf(wanted, sizeof(wanted),
             "6\na word\n-0\ncalled\n%s\nargument\n\x7f"
             "ELF",
             in_folder("program"));
    for (unsigned i = 0; i < 2; i++) {
        assert_string_equal(become_by(ways[i], &heard), wanted);
        assert_status(&heard, 42);
        assert_int_equal(heard.aways, 1);
        assert_int_equal(heard.statistics.operations, 1000 * LOOP_SIZE);
        assert_int_equal(heard.bytes, heard.statistics.bytes);
    }
    assert_string_equal(become_by(with_thread, &heard), wanted);
    assert_status(&heard, 42);
    assert_int_equal(heard.ends, 2);
    assert_int_equal(heard.bytes, heard.statistics.bytes);
    assert_non_null(strstr(become_by(by_memory, &heard), "\n/proc/self/fd/"));
    assert_status(&heard, 42);
}

static void test_script(void **state)
{
    struct heard heard;
    char wanted[512];

    (void)state;
    snprintf(wanted, sizeof(wanted), "6\na word\n-0\n%s\n%s\none word\n%s\nargument\n",
             in_folder("program"), in_folder("program"), in_folder("script"));
    assert_memory_equal(become_by(by_script, &heard), wanted, strlen(wanted));
    snprintf(wanted, sizeof(wanted), "6\na word\n-0\n%s\n%s\none word\n/dev/fd/77\nargument\n",
             in_folder("program"), in_folder("program"));
    assert_memory_equal(become_by(by_open_script, &heard), wanted, strlen(wanted));
}

/* The plugin leaves it to QEMU, and goes on. */
static void test_nothing(void **state)
{
    static void (*const ways[])(void) = {by_fifo, by_closing_script, by_empty_path, by_nothing};
    struct heard heard;

    (void)state;
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        assert_string_equal(become_by(ways[i], &heard), "");
        assert_status(&heard, 7);
        assert_int_equal(heard.aways, 0);
        assert_int_equal(heard.statistics.operations, 1500 * LOOP_SIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fork),
        cmocka_unit_test_setup_teardown(test_exec, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_script, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
    };
    struct iovec part = {name, 1};

    if (process_vm_readv(getpid(), &part, 1, &part, 1, 0) != 1) {
        puts("process_vm_readv does not work here (an emulator): exec cannot be tried");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
