/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "qemu/channel.h"
#include "qemu/program.h"

enum { QEMU_MAPS_MAX = 1024 };

static struct {
    const struct wire_setup *setup;
    uint64_t base;
    uint64_t own[QEMU_MAPS_MAX]; /* starts of QEMU's mappings */
    size_t own_count;
    bool announced;
} tasks;

/* ---- /proc/self/maps ------------------------------------------------------------------------ */

/* One line of it. */
struct mapping {
    uint64_t start, end, offset, inode;
    unsigned major, minor;
    char access[8];
    char path[PATH_MAX];
};

static bool parse_mapping(const char *line, struct mapping *m)
{
    int at = 0;

    m->path[0] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
               &m->end, m->access, &m->offset, &m->major, &m->minor, &m->inode, &at) < 7)
        return false;
    if (at)
        snprintf(m->path, sizeof(m->path), "%.*s", (int)strcspn(line + at, "\n"), line + at);
    return true;
}

/* Calls `see` for every mapping that touches [start, end), in host addresses. `code`: the guest
 * asked for one that can be executed, which QEMU does not tell the host. */
static void for_mappings(uint64_t start, uint64_t end, bool code,
                         void (*see)(const struct mapping *m, bool code))
{
    FILE *f = fopen("/proc/self/maps", "re");
    struct mapping m;
    char *line = NULL;
    size_t room = 0;

    if (!f)
        return;
    while (getline(&line, &room, f) > 0)
        if (parse_mapping(line, &m) && m.start < end && start < m.end)
            see(&m, code);
    free(line);
    fclose(f);
}

static void note_own(const struct mapping *m, bool code)
{
    (void)code;
    if (tasks.own_count < QEMU_MAPS_MAX)
        tasks.own[tasks.own_count++] = m->start;
}

static bool is_own(const struct mapping *m)
{
    for (size_t i = 0; i < tasks.own_count; i++)
        if (tasks.own[i] == m->start)
            return true;
    return false;
}

/* Files, and code without a file: what the kernel tells perf, and what a data address may need. Of
 * the program's own file and its loader the launcher finds out which parts are code. */
static void tell_mapping(const struct mapping *m, bool code)
{
    struct wire_map map = {
        .header = {.type = WIRE_MAP, .size = offsetof(struct wire_map, path)},
        .start = m->start - tasks.base,
        .length = m->end - m->start,
        .offset = m->offset,
        .inode = m->inode,
        .major = m->major,
        .minor = m->minor,
        .protection = (uint32_t)((m->access[0] == 'r' ? PROT_READ : 0) |
                                 (m->access[1] == 'w' ? PROT_WRITE : 0) | (code ? PROT_EXEC : 0)),
        .flags = m->access[3] == 's' ? MAP_SHARED : MAP_PRIVATE,
    };
    const char *path = m->inode ? m->path : "//anon";

    if (m->start < tasks.base || (!m->inode && !code) || is_own(m))
        return;
    channel_send(&map.header, path, strlen(path) + 1, -1);
}

/* ---- The program ---------------------------------------------------------------------------- */

void tasks_begin(const struct wire_setup *setup)
{
    tasks.setup = setup;
    tasks.own_count = 0;
    for_mappings(0, UINT64_MAX, false, note_own);
}

void tasks_guest_base(uint64_t base)
{
    tasks.base = base;
}

/* QEMU's arguments are those of the launcher, "-0", the program's name for itself, its file ... */
static const char *program_path(char *buffer, size_t room)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t size = 0, skip = tasks.setup->argument_count + 2, at = 0;
    ssize_t got;

    if (fd < 0)
        return "unknown";
    while (size < room - 1 && (got = read(fd, buffer + size, room - 1 - size)) > 0)
        size += (size_t)got;
    close(fd);
    buffer[size] = '\0';
    for (; skip && at < size; skip--)
        at += strlen(buffer + at) + 1;
    return at < size ? buffer + at : "unknown";
}

void tasks_announce(void)
{
    size_t room = sizeof(tasks.setup->arguments) + 2 * PATH_MAX;
    char *buffer = malloc(room);
    const char *path = buffer ? program_path(buffer, room) : "unknown";
    const char *slash = strrchr(path, '/');

    if (!tasks.announced) {
        channel_text(WIRE_PROGRAM, slash ? slash + 1 : path);
        for_mappings(0, UINT64_MAX, false, tell_mapping);
    }
    tasks.announced = true;
    free(buffer);
}

/* ---- System calls --------------------------------------------------------------------------- */

static bool touches_descriptor(int64_t number, const uint64_t a[8])
{
    int fd = channel_descriptor();

    if (fd < 0)
        return false;
    switch (number) {
    case SYSCALL_CLOSE:
        return (int)a[0] == fd;
    case SYSCALL_DUP3:
        return (int)a[1] == fd;
    case SYSCALL_CLOSE_RANGE:
        return (unsigned)a[0] <= (unsigned)fd && (unsigned)fd <= (unsigned)a[1];
    default:
        return false;
    }
}

void tasks_syscall(int64_t number, const uint64_t a[8])
{
    if (touches_descriptor(number, a))
        channel_leave();
}

static void tell_name(void)
{
    char name[17] = "";

    if (prctl(PR_GET_NAME, name) == 0)
        channel_text(WIRE_COMM, name);
}

void tasks_syscall_return(int64_t number, const uint64_t a[8], int64_t result)
{
    if (number == SYSCALL_PRCTL && a[0] == PR_SET_NAME && result == 0)
        tell_name();
    else if (number == SYSCALL_MMAP && result > 0 &&
             ((a[2] & PROT_EXEC) || !(a[3] & MAP_ANONYMOUS)))
        for_mappings((uint64_t)result + tasks.base, (uint64_t)result + tasks.base + a[1],
                     a[2] & PROT_EXEC, tell_mapping);
    else if (number == SYSCALL_MPROTECT && result == 0 && (a[2] & PROT_EXEC))
        for_mappings(a[0] + tasks.base, a[0] + tasks.base + a[1], true, tell_mapping);
}

/* ---- exec ----------------------------------------------------------------------------------- */

/* Guest memory may not be there: the kernel looks for us. */
static bool read_guest(uint64_t address, void *out, size_t size)
{
    struct iovec local = {out, size};
    struct iovec remote = {(void *)(uintptr_t)(address + tasks.base), size};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* A string of at most `room` bytes with its end; false if it is longer or not there. */
static bool read_string(uint64_t address, char *out, size_t room)
{
    for (size_t at = 0; at < room;) {
        size_t piece = 4096 - (address + at) % 4096; /* a page may be the last */

        piece = piece < room - at ? piece : room - at;
        if (!read_guest(address + at, out + at, piece))
            return false;
        if (memchr(out + at, '\0', piece))
            return true;
        at += piece;
    }
    return false;
}

struct list {
    char **text;
    size_t count, room;
};

static bool append(struct list *list, const char *text)
{
    char **grown;

    if (list->count + 2 > list->room) {
        grown = realloc(list->text, (list->room * 2 + 16) * sizeof(*grown));
        if (!grown)
            return false;
        list->text = grown;
        list->room = list->room * 2 + 16;
    }
    list->text[list->count] = strdup(text);
    list->text[list->count + 1] = NULL;
    return list->text[list->count++] != NULL;
}

static void drop(struct list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->text[i]);
    free(list->text);
}

/* A guest's array of strings that ends with NULL. */
static bool read_list(uint64_t address, struct list *list)
{
    const size_t most = 128 << 10; /* what the kernel allows one string to be */
    char *text = malloc(most);
    uint64_t pointer = 1;
    bool good = text != NULL;

    for (; good && address; address += 8) {
        good = read_guest(address, &pointer, sizeof(pointer));
        if (!good || !pointer)
            break;
        good = read_string(pointer, text, most) && append(list, text);
    }
    free(text);
    return good;
}

/* The path that execve or execveat names, as one that any process of ours can open. */
static bool exec_path(int64_t number, const uint64_t a[8], char path[PATH_MAX])
{
    char name[PATH_MAX - 32];

    if (number == SYSCALL_EXECVE)
        return read_string(a[0], path, PATH_MAX);
    if (!read_string(a[1], name, sizeof(name)))
        return false;
    if (name[0] == '/' || ((int)a[0] == AT_FDCWD && name[0]))
        strcpy(path, name);
    else if (name[0])
        snprintf(path, PATH_MAX, "/proc/self/fd/%d/%s", (int)a[0], name);
    else
        snprintf(path, PATH_MAX, "/proc/self/fd/%d", (int)a[0]);
    return true;
}

/* QEMU as it was started, then -0 name, then the program. A script is run by its interpreter, with
 * the script's own path in front of the arguments. */
static bool make_command(const struct program *program, const char *path,
                         const struct list *arguments, struct list *command)
{
    const char *at = tasks.setup->arguments;
    bool good = true;

    for (uint32_t i = 0; i < tasks.setup->argument_count; i++, at += strlen(at) + 1)
        good = good && append(command, at);
    good = good && append(command, "-0");
    if (!program->script)
        good = good && append(command, arguments->count ? arguments->text[0] : path) &&
               append(command, program->file);
    else {
        good = good && append(command, program->interpreter) && append(command, program->file);
        if (program->argument[0])
            good = good && append(command, program->argument);
        good = good && append(command, path);
    }
    for (size_t i = 1; i < arguments->count; i++)
        good = good && append(command, arguments->text[i]);
    return good;
}

static const char *sysroot(void)
{
    const char *at = tasks.setup->arguments;

    for (uint32_t i = 0; i + 1 < tasks.setup->argument_count; i++, at += strlen(at) + 1)
        if (strcmp(at, "-L") == 0)
            return at + 3;
    return "";
}

void tasks_exec(int64_t number, const uint64_t a[8], void (*leave)(void))
{
    int shift = number == SYSCALL_EXECVEAT;
    struct list arguments = {0}, environment = {0}, command = {0};
    struct program program;
    char path[PATH_MAX];

    if (exec_path(number, a, path) && program_examine(path, sysroot(), &program) == PROGRAM_OK &&
        access(path, X_OK) == 0 && read_list(a[1 + shift], &arguments) &&
        read_list(a[2 + shift], &environment) &&
        make_command(&program, path, &arguments, &command)) {
        leave();
        execve(command.text[0], command.text, environment.text ? environment.text : &(char *){0});
        channel_text(WIRE_TROUBLE, "exec of the emulator failed: a program is not recorded");
    }
    drop(&arguments);
    drop(&environment);
    drop(&command);
}
