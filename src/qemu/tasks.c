/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "launch/program.h"
#include "qemu/api.h"
#include "qemu/channel.h"
#include "qemu/trouble.h"

enum {
    QEMU_MAPS_MAX = 1024,
    HIGH_DESCRIPTOR = 900, /* out of the way of programs that count theirs */
    START_DESCRIPTORS = 5, /* what QEMU and we have open at once while they start */
    MAPS_KEPT = 1024,
};

/* In the program's addresses. */
struct kept_map {
    uint64_t start, end;
    bool anonymous;
};

static struct {
    const struct wire_setup *setup;
    uint64_t base;
    uint64_t own[QEMU_MAPS_MAX]; /* starts of QEMU's mappings */
    size_t own_count;
    _Atomic uint64_t heap_end; /* 0: not known yet */
    struct kept_map maps[MAPS_KEPT];
    size_t map_count; /* of all; the last of them are kept */
} tasks;

/* ---- /proc/self/maps ------------------------------------------------------------------------ */

/* One line of it. */
struct mapping {
    uint64_t start, end, offset, inode;
    unsigned major, minor;
    char access[4]; /* "rwxp" */
    char path[PATH_MAX];
};

/* A number, and the character that has to follow it. */
static bool take_number(const char **at, int base, char then, uint64_t *value)
{
    char *end;

    *value = strtoull(*at, &end, base);
    if (end == *at || *end != then)
        return false;
    *at = end + 1;
    return true;
}

/* The line has \012 for a newline, and a backslash as it is: what looks like a newline may be none.
 * The kernel has the path as it is elsewhere. */
static void take_path(const char *line, struct mapping *m)
{
    char link[64], exact[PATH_MAX];
    ssize_t length;

    snprintf(m->path, sizeof(m->path), "%.*s", (int)strcspn(line, "\n"), line);
    if (!strstr(m->path, "\\012"))
        return;
    snprintf(link, sizeof(link), "/proc/self/map_files/%llx-%llx", (unsigned long long)m->start,
             (unsigned long long)m->end);
    length = readlink(link, exact, sizeof(exact) - 1);
    if (length > 0)
        snprintf(m->path, sizeof(m->path), "%.*s", (int)length, exact);
}

/* "start-end rwxp offset major:minor inode   path" */
static bool parse_mapping(const char *line, struct mapping *m)
{
    uint64_t major, minor;

    if (!take_number(&line, 16, '-', &m->start) || !take_number(&line, 16, ' ', &m->end) ||
        strlen(line) < 5)
        return false;
    memcpy(m->access, line, 4);
    line += 5;
    if (!take_number(&line, 16, ' ', &m->offset) || !take_number(&line, 16, ':', &major) ||
        !take_number(&line, 16, ' ', &minor))
        return false;
    m->major = (unsigned)major;
    m->minor = (unsigned)minor;
    m->inode = strtoull(line, NULL, 10);
    line += strspn(line, "0123456789");
    line += strspn(line, " ");
    take_path(line, m);
    return true;
}

/* Calls `see` for every mapping that touches [start, end), in host addresses. */
static void for_mappings(uint64_t start, uint64_t end,
                         void (*see)(const struct mapping *m, const void *context),
                         const void *context)
{
    FILE *f = fopen("/proc/self/maps", "re");
    struct mapping m;
    char *line = NULL;
    size_t room = 0;

    if (!f) {
        trouble_tell("the maps of a process cannot be read, symbols may be missing: %s",
                     strerror(errno));
        return;
    }
    while (getline(&line, &room, f) > 0)
        if (parse_mapping(line, &m) && m.start < end && start < m.end)
            see(&m, context);
    free(line);
    fclose(f);
}

static void note_own(const struct mapping *m, const void *context)
{
    (void)context;
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
 * the program's own file and its loader the launcher finds out which parts are code. `is_code`: the
 * guest asked for memory that can be executed, which QEMU does not tell the host. */
static void tell_mapping(const struct mapping *m, const void *is_code)
{
    const bool code = *(const bool *)is_code;
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

/* Memory without a file, under perf's name for it. Since when: 0 is now. */
static void tell_memory_since(uint64_t time, uint64_t start, uint64_t length, const char *name)
{
    struct wire_map map = {
        .header = {.type = WIRE_MAP, .size = offsetof(struct wire_map, path), .time = time},
        .start = start,
        .length = length,
        .protection = PROT_READ | PROT_WRITE,
        .flags = MAP_PRIVATE,
    };

    channel_send(&map.header, name, strlen(name) + 1, -1);
}

static void tell_memory(uint64_t start, uint64_t length, const char *name)
{
    tell_memory_since(0, start, length, name);
}

/* The C library asks for the heap's end before it moves it. */
static void tell_heap(uint64_t end)
{
    uint64_t before = atomic_exchange(&tasks.heap_end, end);

    if (before && end > before)
        tell_memory(before, end - before, "[heap]");
}

/* Guest memory may not be there: the kernel looks for us. */
static bool read_guest(uint64_t address, void *out, size_t size)
{
    struct iovec local = {out, size};
    struct iovec remote = {(void *)(uintptr_t)(address + tasks.base), size};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* ---- Stacks --------------------------------------------------------------------------------- */

/* The program's first stack has the name of its file at the top, below one word. */
static void tell_first_stack(const struct mapping *m, const void *path)
{
    size_t size = strlen(path) + 1;
    char top[PATH_MAX];

    if (m->start < tasks.base || m->inode || m->access[1] != 'w' || is_own(m) ||
        size > sizeof(top) || m->end - m->start < size + 8 ||
        !read_guest(m->end - tasks.base - 8 - size, top, size) || memcmp(top, path, size) != 0)
        return;
    tell_memory(m->start - tasks.base, m->end - m->start, "[stack]");
}

/* What the program mapped, the newest in place of the oldest. To look into /proc for it takes a
 * descriptor, which the thread that begins may need. */
static void keep_map(uint64_t start, uint64_t length, bool anonymous)
{
    channel_lock(); /* which is held while the process forks */
    tasks.maps[tasks.map_count++ % MAPS_KEPT] = (struct kept_map){start, start + length, anonymous};
    channel_unlock();
}

/* The start of the newest map that has the byte, if it has no file; else 0. */
static uint64_t find_memory(uint64_t address)
{
    uint64_t start = 0;

    channel_lock();
    for (size_t i = 1; i <= MAPS_KEPT && i <= tasks.map_count; i++) {
        const struct kept_map *m = &tasks.maps[(tasks.map_count - i) % MAPS_KEPT];

        if (address < m->start || address >= m->end)
            continue;
        start = m->anonymous ? m->start : 0;
        break;
    }
    channel_unlock();
    return start;
}

/* A thread's stack ends at the address that clone was given. What lies above it in the same map is
 * not stack: the C library has the thread's variables there. The name is that of Linux 3.4 to 4.4.
 * The thread may have ended by now: it has its stack since clone was called. */
static void tell_new_thread(const uint64_t a[8], int64_t tid, uint64_t called)
{
    uint64_t start = a[1] ? find_memory(a[1] - 1) : 0;
    char name[40];

    if (!start)
        return;
    snprintf(name, sizeof(name), "[stack:%lld]", (long long)tid);
    tell_memory_since(called, start, a[1] - start, name);
}

/* ---- The program ---------------------------------------------------------------------------- */

void tasks_begin(const struct wire_setup *setup)
{
    tasks.setup = setup;
    tasks.own_count = tasks.map_count = 0;
    atomic_store(&tasks.heap_end, 0);
    for_mappings(0, UINT64_MAX, note_own, NULL);
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

void tasks_announce(uint64_t base)
{
    size_t room = sizeof(tasks.setup->arguments) + 2 * PATH_MAX;
    char *buffer = malloc(room);
    const char *path = buffer ? program_path(buffer, room) : "unknown";
    const char *slash = strrchr(path, '/');

    tasks.base = base;
    channel_text(WIRE_PROGRAM, slash ? slash + 1 : path);
    for_mappings(0, UINT64_MAX, tell_mapping, &(bool){false});
    for_mappings(0, UINT64_MAX, tell_first_stack, path);
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

static void tell_map(const uint64_t a[8], uint64_t start)
{
    bool code = a[2] & PROT_EXEC;

    keep_map(start, a[1], a[3] & MAP_ANONYMOUS);
    if (code || !(a[3] & MAP_ANONYMOUS))
        for_mappings(start + tasks.base, start + tasks.base + a[1], tell_mapping, &code);
    else
        tell_memory(start, a[1], "//anon");
}

static void tell_code(uint64_t start, uint64_t length)
{
    for_mappings(start + tasks.base, start + tasks.base + length, tell_mapping, &(bool){true});
}

void tasks_syscall_return(int64_t number, const uint64_t a[8], int64_t result, uint64_t called)
{
    if (number == SYSCALL_PRCTL && a[0] == PR_SET_NAME && result == 0)
        tell_name();
    else if (number == SYSCALL_MMAP && result > 0)
        tell_map(a, (uint64_t)result);
    else if (number == SYSCALL_BRK && result > 0)
        tell_heap((uint64_t)result);
    else if (number == SYSCALL_MPROTECT && result == 0 && (a[2] & PROT_EXEC))
        tell_code(a[0], a[1]);
    else if (number == SYSCALL_CLONE && result > 0 && (a[0] & CLONE_THREAD))
        tell_new_thread(a, result, called);
}

/* ---- exec ----------------------------------------------------------------------------------- */

uint64_t tasks_read_word(uint64_t address)
{
    uint64_t word;

    return read_guest(address, &word, sizeof(word)) ? word : 0;
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

/* What execve or execveat names. */
struct target {
    char path[PATH_MAX]; /* that we can open */
    char name[PATH_MAX]; /* the same in the kernel's words, for a script's interpreter */
};

/* False if there is nothing to run: QEMU tells the program why. */
static bool find_target(int64_t number, const uint64_t a[8], struct target *t)
{
    int fd = (int)a[0], flags = (int)a[4];
    char name[PATH_MAX - 32];
    struct stat st;

    if (number == SYSCALL_EXECVE) {
        if (!read_string(a[0], t->path, PATH_MAX))
            return false;
        memcpy(t->name, t->path, PATH_MAX);
        return true;
    }
    if ((flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) ||
        !read_string(a[1], name, sizeof(name)) || (!name[0] && !(flags & AT_EMPTY_PATH)))
        return false;
    if (name[0] == '/' || fd == AT_FDCWD) {
        snprintf(t->path, PATH_MAX, "%s", name);
        snprintf(t->name, PATH_MAX, "%s", name);
    } else {
        snprintf(t->path, PATH_MAX, "/proc/self/fd/%d%s%s", fd, name[0] ? "/" : "", name);
        snprintf(t->name, PATH_MAX, "/dev/fd/%d%s%s", fd, name[0] ? "/" : "", name);
    }
    return !name[0] || !(flags & AT_SYMLINK_NOFOLLOW) || lstat(t->path, &st) < 0 ||
           !S_ISLNK(st.st_mode);
}

/* Does the path lead through a descriptor that exec closes? */
static bool is_fleeting(const char *path)
{
    char own[32];
    const char *const folders[] = {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/", own};

    snprintf(own, sizeof(own), "/proc/%d/fd/", (int)getpid());
    for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        size_t length = strlen(folders[i]);
        int flags = -1;

        if (strncmp(path, folders[i], length) == 0)
            flags = fcntl((int)strtol(path + length, NULL, 10), F_GETFD);
        if (flags >= 0)
            return flags & FD_CLOEXEC;
    }
    return false;
}

static bool is_file(const char *path, uint64_t inode)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_ino == inode;
}

/*
 * A kernel has the file open before it closes descriptors; QEMU opens it after. So it needs another
 * path: the file's own, or, of one that has none any more, that of a descriptor which stays open
 * (-1: there is none). False if there is neither.
 */
static bool make_lasting(char path[PATH_MAX], int *kept)
{
    char link[64], own[PATH_MAX];
    struct stat st;
    int fd = open(path, O_PATH | O_CLOEXEC);
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    if (fd >= 0 && length > 0 && fstat(fd, &st) == 0 && is_file(own, st.st_ino)) {
        memcpy(path, own, PATH_MAX);
        close(fd);
        return true;
    }
    *kept = fcntl(fd, F_DUPFD, HIGH_DESCRIPTOR);
    if (*kept < 0)
        *kept = fcntl(fd, F_DUPFD, 3);
    if (fd >= 0)
        close(fd);
    snprintf(path, PATH_MAX, "/proc/self/fd/%d", *kept);
    return *kept >= 0;
}

/* The file that QEMU is to run, where QEMU will find it. A script that its interpreter could not
 * open is the kernel's to refuse. */
static bool find_program(struct target *t, const char *sysroot, struct program *program, int *kept)
{
    if (program_examine(t->path, sysroot, program) != PROGRAM_OK || access(t->path, X_OK) < 0)
        return false;
    if (!is_fleeting(t->path))
        return true;
    return !program->script && make_lasting(program->file, kept);
}

/* QEMU as it was started, then -0 name, then the program. A script is run by its interpreter, with
 * the script's own path in front of the arguments. */
static bool make_command(const struct program *program, const char *name,
                         const struct list *arguments, struct list *command)
{
    const char *at = tasks.setup->arguments;
    bool good = true;

    for (uint32_t i = 0; i < tasks.setup->argument_count; i++, at += strlen(at) + 1)
        good = good && append(command, at);
    good = good && append(command, "-0");
    if (!program->script)
        good = good && append(command, arguments->count ? arguments->text[0] : name) &&
               append(command, program->file);
    else {
        good = good && append(command, program->interpreter) && append(command, program->file);
        if (program->argument[0])
            good = good && append(command, program->argument);
        good = good && append(command, name);
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

/* The new QEMU speaks the same level, which it cannot always find out by itself (api.c). Its "-U"
 * takes the word out of the program's environment; one of the program's own must not be in front.
 */
static bool read_environment(uint64_t address, struct list *list)
{
    static const char word[] = "SPECIMEN_PLUGIN_LEVEL=";
    char level[64];

    snprintf(level, sizeof(level), "%s%d", word, plugin_level());
    if (!read_list(address, list))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        if (strncmp(list->text[i], word, sizeof(word) - 1) == 0) {
            free(list->text[i]);
            list->text[i--] = list->text[--list->count];
        }
    }
    return append(list, level);
}

bool tasks_has_descriptors(unsigned count)
{
    int fd = open("/", O_PATH | O_CLOEXEC);
    bool good = fd >= 0 && (count == 1 || tasks_has_descriptors(count - 1));

    if (fd >= 0)
        close(fd);
    return good;
}

/* Returns if there is nothing to become, or if that failed. */
static void become(const struct list *command, const struct list *environment,
                   void (*leave)(unsigned vcpu), unsigned vcpu)
{
    if (!tasks_has_descriptors(START_DESCRIPTORS)) {
        trouble_tell("a program could not be recorded after exec: %s", strerror(errno));
        return;
    }
    leave(vcpu);
    execve(command->text[0], command->text, environment->text);
    trouble_tell("a process is not recorded any more: exec of %s: %s", command->text[0],
                 strerror(errno));
}

void tasks_exec(int64_t number, const uint64_t a[8], void (*leave)(unsigned vcpu), unsigned vcpu)
{
    int shift = number == SYSCALL_EXECVEAT, kept = -1;
    struct list arguments = {0}, environment = {0}, command = {0};
    struct program program;
    struct target target;

    if (find_target(number, a, &target) && find_program(&target, sysroot(), &program, &kept) &&
        read_list(a[1 + shift], &arguments) && read_environment(a[2 + shift], &environment) &&
        make_command(&program, target.name, &arguments, &command))
        become(&command, &environment, leave, vcpu);
    if (kept >= 0)
        close(kept);
    drop(&arguments);
    drop(&environment);
    drop(&command);
}
