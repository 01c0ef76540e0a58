/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Makes calls of a program fail: a library for LD_PRELOAD, controlled by its environment.
 *
 *   FAULT_KIND    which calls count: memory, read, write, open, map, thread or size
 *   FAULT_FIRST   the number of the call that fails, from 1 on; 0 or nothing: none
 *   FAULT_LAST    and all up to this one (FAULT_FIRST)
 *   FAULT_HOW     its errno as a number (12, ENOMEM), or "short": half of the bytes, no error
 *   FAULT_COUNT   a file that gets, when the program ends, the number of such calls and where the
 *                 first that failed returns to, as an address in the program's file
 *
 * Only calls from the program itself count, which is told by the address they return to. Libraries
 * are left alone: ld.so ends the process when it has no memory, and libdw crashes. What a library
 * function of the C library allocates for the program counts as one call of that function.
 *
 * The calls go on to the kernel or to glibc by other names, because dlsym may itself allocate.
 * Programs that this one starts run undisturbed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { NO_KIND, MEMORY, READ, WRITE, OPEN, MAP, THREAD, SIZE };

static struct {
    enum kind kind;
    unsigned long first, last;
    int error; /* 0: a short transfer */
    const char *count_file;
    uintptr_t start, end; /* the program in memory */
    atomic_ulong calls, place;
} fault;

static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    fault.start = UINTPTR_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD)
            continue;
        fault.start = start < fault.start ? start : fault.start;
        fault.end = start + p->p_memsz > fault.end ? start + p->p_memsz : fault.end;
    }
    return 1; /* the program comes first, the others are libraries */
}

static enum kind kind_named(const char *name)
{
    static const char *const names[] = {"",     "memory", "read",   "write",
                                        "open", "map",    "thread", "size"};

    for (enum kind k = MEMORY; name && k <= SIZE; k++)
        if (strcmp(names[k], name) == 0)
            return k;
    return NO_KIND;
}

static unsigned long number_named(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void start(void)
{
    static const char *const ours[] = {"LD_PRELOAD", "FAULT_KIND", "FAULT_FIRST",
                                       "FAULT_LAST", "FAULT_HOW",  "FAULT_COUNT"};
    const char *count_file = getenv("FAULT_COUNT");
    enum kind kind = kind_named(getenv("FAULT_KIND"));

    fault.first = number_named("FAULT_FIRST", 0);
    fault.last = number_named("FAULT_LAST", fault.first);
    fault.error = (int)number_named("FAULT_HOW", 0);
    fault.count_file = count_file ? strdup(count_file) : NULL;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        unsetenv(ours[i]);
    dl_iterate_phdr(find_program, NULL);
    fault.kind = kind;
}

__attribute__((destructor)) static void finish(void)
{
    char text[64];
    int size = snprintf(text, sizeof(text), "%lu %#lx\n", fault.calls, fault.place), fd;

    if (!fault.count_file)
        return;
    fd = (int)syscall(SYS_openat, AT_FDCWD, fault.count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || syscall(SYS_write, fd, text, size) != size)
        abort();
    syscall(SYS_close, fd);
}

/* Is this call one of those that go wrong? */
static bool hit(enum kind kind, const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    unsigned long number;

    if (kind != fault.kind || at < fault.start || at >= fault.end)
        return false;
    number = ++fault.calls;
    if (number == fault.first)
        fault.place = at - fault.start;
    return number >= fault.first && number <= fault.last;
}

/* The same, for calls that have no short form: they fail only with an errno. */
static bool fails(enum kind kind, const void *caller)
{
    if (!hit(kind, caller) || !fault.error)
        return false;
    errno = fault.error;
    return true;
}

#define CALLER __builtin_return_address(0)

/* The next definition of a function behind this one. */
#define NEXT(name) (__extension__(__typeof__(&(name))) dlsym(RTLD_NEXT, #name))

/* ---- memory ---------------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    return fails(MEMORY, CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MEMORY, CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(MEMORY, CALLER) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return fails(MEMORY, CALLER) ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(MEMORY, CALLER) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **place, size_t alignment, size_t size)
{
    if (fails(MEMORY, CALLER))
        return fault.error;
    *place = __libc_memalign(alignment, size);
    return *place ? 0 : ENOMEM;
}

char *strndup(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    char *copy = fails(MEMORY, CALLER) ? NULL : __libc_malloc(length + 1);

    if (!copy)
        return NULL;
    copy[length] = '\0';
    return memcpy(copy, text, length);
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = fails(MEMORY, CALLER) ? NULL : __libc_malloc(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

int vasprintf(char **text, const char *format, va_list args)
{
    return fails(MEMORY, CALLER) ? -1 : NEXT(vasprintf)(text, format, args);
}

int asprintf(char **text, const char *format, ...)
{
    va_list args;
    int length;

    if (fails(MEMORY, CALLER))
        return -1;
    va_start(args, format);
    length = NEXT(vasprintf)(text, format, args);
    va_end(args);
    return length;
}

FILE *open_memstream(char **text, size_t *size)
{
    return fails(MEMORY, CALLER) ? NULL : NEXT(open_memstream)(text, size);
}

FILE *fdopen(int fd, const char *mode)
{
    return fails(MEMORY, CALLER) ? NULL : NEXT(fdopen)(fd, mode);
}

ssize_t __getdelim(char **line, size_t *size, int delimiter, FILE *file)
{
    return fails(MEMORY, CALLER) ? -1 : NEXT(getdelim)(line, size, delimiter, file);
}

ssize_t getline(char **line, size_t *size, FILE *file)
{
    return fails(MEMORY, CALLER) ? -1 : NEXT(getdelim)(line, size, '\n', file);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* How much of a transfer is tried: half, but never nothing, which would be the end of the file. */
static size_t part(size_t size)
{
    return size > 1 ? size / 2 : size;
}

#define TRANSFER(kind, number, offset)                                                             \
    if (hit(kind, CALLER)) {                                                                       \
        errno = fault.error;                                                                       \
        if (fault.error)                                                                           \
            return -1;                                                                             \
        size = part(size);                                                                         \
    }                                                                                              \
    return syscall(number, fd, bytes, size, offset)

ssize_t read(int fd, void *bytes, size_t size)
{
    TRANSFER(READ, SYS_read, 0);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
    TRANSFER(READ, SYS_pread64, offset);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    TRANSFER(WRITE, SYS_write, 0);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    TRANSFER(WRITE, SYS_pwrite64, offset);
}

static int open_at(int folder, const char *path, int flags, va_list args)
{
    int mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, int) : 0;

    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    va_list args;
    int fd;

    if (fails(OPEN, CALLER))
        return -1;
    va_start(args, flags);
    fd = open_at(folder, path, flags, args);
    va_end(args);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    int fd;

    if (fails(OPEN, CALLER))
        return -1;
    va_start(args, flags);
    fd = open_at(AT_FDCWD, path, flags, args);
    va_end(args);
    return fd;
}

FILE *fopen64(const char *path, const char *mode)
{
    return fails(OPEN, CALLER) ? NULL : NEXT(fopen64)(path, mode);
}

int mkostemp64(char *path, int flags)
{
    return fails(OPEN, CALLER) ? -1 : NEXT(mkostemp64)(path, flags);
}

int mkstemp64(char *path)
{
    return fails(OPEN, CALLER) ? -1 : NEXT(mkstemp64)(path);
}

int pipe2(int fds[2], int flags)
{
    return fails(OPEN, CALLER) ? -1 : (int)syscall(SYS_pipe2, fds, flags);
}

int socket(int domain, int type, int protocol)
{
    return fails(OPEN, CALLER) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
    if (fails(MAP, CALLER))
        return MAP_FAILED;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

int ftruncate64(int fd, off64_t size)
{
    return fails(SIZE, CALLER) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

/* ---- threads --------------------------------------------------------------------------------- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *user)
{
    if (fails(THREAD, CALLER))
        return fault.error;
    return NEXT(pthread_create)(thread, attributes, run, user);
}
