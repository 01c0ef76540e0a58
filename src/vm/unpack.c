/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What of a guest's archive becomes a file here. The guest may be hostile, and whoever runs it may
 * be root: regular files and folders only, without set-id bits, each name walked component by
 * component below the folder, no link followed, nothing replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/vm.h"

enum {
    DEPTH_MAX = 64, /* folders in one another */
    TOLD_MAX = 20,  /* entries that are refused by name; more are counted */
};

struct unpacking {
    struct vm_tar tar;
    int folder;
    const struct vm_limits *limits;
    struct vm_symbols *symbols;
    vm_tell *tell;
    struct vm_outcome *outcome;
    struct problem *error;
    uint64_t bytes, entries, refused;
};

static void refuse(struct unpacking *u, const struct vm_tar_entry *e, const char *why)
{
    char sentence[256];

    u->outcome->incomplete = true;
    if (u->refused++ >= TOLD_MAX)
        return;
    snprintf(sentence, sizeof(sentence), "refused: %s", why);
    u->tell(e->name, sentence);
}

/* Why an entry does not come because of what it is; NULL: it does. */
static const char *refused_type(const struct vm_tar_entry *e)
{
    switch (e->type) {
    case '\0':
    case '0':
    case '5':
        return NULL;
    case '1':
        return "it is a hard link";
    case '2':
        return "it is a symbolic link";
    case '3':
    case '4':
        return "it is a device";
    case '6':
        return "it is a FIFO";
    case 'S':
        return "it is stored as a sparse file";
    default:
        return "it is neither a file nor a directory";
    }
}

/* ---- Names ----------------------------------------------------------------------------------- */

struct path {
    char text[VM_TAR_NAME_MAX];
    const char *parts[DEPTH_MAX];
    unsigned count;
};

/* Takes a name apart. NULL, or why it is refused. */
static const char *split(const struct vm_tar_entry *e, struct path *path)
{
    char *rest = NULL;

    path->count = 0;
    if (e->bad_name)
        return "its name is too long or holds a NUL";
    if (e->name[0] == '/')
        return "its name is absolute";
    memcpy(path->text, e->name, sizeof(path->text));
    for (char *part = strtok_r(path->text, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0)
            return "its name leads out of the directory";
        if (path->count == DEPTH_MAX)
            return "it is too deep";
        path->parts[path->count++] = part;
    }
    return NULL;
}

/* The folder that holds the last part of a path below `work`; folders on the way are made. */
static int open_parent(const struct unpacking *u, const struct path *path)
{
    int at = openat(u->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (unsigned i = 1; at >= 0 && i + 1 < path->count; i++) {
        int next;

        mkdirat(at, path->parts[i], 0777); /* if it cannot, the next line says why */
        next = openat(at, path->parts[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = next;
    }
    return at;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool write_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(fd, bytes, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static bool copy(const struct unpacking *u, const struct vm_tar_entry *e, int fd)
{
    uint8_t bytes[65536];

    for (uint64_t done = 0; done < e->size;) {
        size_t n = e->size - done < sizeof(bytes) ? (size_t)(e->size - done) : sizeof(bytes);

        errno = EIO; /* what a short read means */
        if (!vm_tar_read(&u->tar, e->at + done, bytes, n) || !write_all(fd, bytes, n))
            return false;
        done += n;
    }
    return true;
}

/* A file that could not be written whole is not left. */
static int make_file(struct unpacking *u, const struct vm_tar_entry *e, int parent,
                     const char *name)
{
    int fd = openat(parent, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600 | (e->mode & 0777));
    bool good;

    if (fd < 0) {
        refuse(u, e, errno == EEXIST ? "the archive has this name twice" : strerror(errno));
        return 0;
    }
    good = copy(u, e, fd);
    if (good && u->symbols)
        vm_symbols_read(u->symbols, fd);
    if (close(fd) < 0)
        good = false;
    if (!good) {
        int reason = errno;

        unlinkat(parent, name, 0);
        return problem_say(u->error, SPE_ERR_IO, e->name, "it could not be unpacked: %s",
                           strerror(reason));
    }
    u->bytes += e->size;
    return 0;
}

static int make_entry(struct unpacking *u, const struct vm_tar_entry *e, const struct path *path)
{
    const char *name = path->parts[path->count - 1];
    int parent = open_parent(u, path), result = 0;

    if (parent < 0)
        refuse(u, e,
               errno == ENOTDIR ? "a file is where its directory should be" : strerror(errno));
    else if (e->type != '5')
        result = make_file(u, e, parent, name);
    else if (mkdirat(parent, name, 0700 | (e->mode & 0777)) < 0 && errno != EEXIST)
        refuse(u, e, strerror(errno));
    if (parent >= 0)
        close(parent);
    return result;
}

/* ---- The archive ----------------------------------------------------------------------------- */

static void take_status(struct unpacking *u, const struct vm_tar_entry *e)
{
    char text[16] = "", *end;
    long status;

    if (e->type == '5' || e->size >= sizeof(text) ||
        !vm_tar_read(&u->tar, e->at, text, (size_t)e->size)) {
        refuse(u, e, "it is not a file with a number");
        return;
    }
    status = strtol(text, &end, 10);
    if (end == text || (*end && *end != '\n') || status < 0 || status > 255)
        refuse(u, e, "it is not a number from 0 to 255");
    else
        u->outcome->status = (int)status;
}

/* It is beside the user's files and has a limit of its own. */
static void take_kallsyms(struct unpacking *u, const struct vm_tar_entry *e)
{
    int fd;

    if (!u->symbols)
        return;
    if (refused_type(e) || e->type == '5' || u->symbols->kallsyms >= 0) {
        refuse(u, e, "it is not the one file of this name");
        return;
    }
    if (e->size > VM_KALLSYMS_MAX) {
        refuse(u, e, "it is too large for a kernel's file");
        return;
    }
    fd = memfd_create("kallsyms", MFD_CLOEXEC);
    if (fd >= 0 && copy(u, e, fd)) {
        u->symbols->kallsyms = fd;
        return;
    }
    refuse(u, e, strerror(errno));
    if (fd >= 0)
        close(fd);
}

static int over_limit(struct unpacking *u, const struct vm_tar_entry *e)
{
    if (u->entries++ >= u->limits->entries)
        return problem_say(u->error, SPE_ERR_RANGE, e->name,
                           "this and what follows was not unpacked: the guest left more than %llu "
                           "files and folders (--max-files)",
                           (unsigned long long)u->limits->entries);
    if (e->size > u->limits->bytes - u->bytes)
        return problem_say(
            u->error, SPE_ERR_RANGE, e->name,
            "this and what follows was not unpacked: the guest's files are more than "
            "%llu bytes (--max-size)",
            (unsigned long long)u->limits->bytes);
    return 0;
}

static int take_entry(struct unpacking *u, const struct vm_tar_entry *e)
{
    const char *why = refused_type(e);
    struct path path;
    int result;

    if (strcmp(e->name, "kallsyms") == 0) {
        take_kallsyms(u, e);
        return 0;
    }
    result = over_limit(u, e);
    if (result < 0)
        return result;
    if (!why)
        why = split(e, &path);
    if (!why && path.count == 1 && strcmp(path.parts[0], "status") == 0) {
        take_status(u, e);
        return 0;
    }
    if (!why && (path.count == 0 || strcmp(path.parts[0], "work") != 0))
        why = "it is not in the command's directory";
    if (!why && path.count == 1 && e->type != '5')
        why = "it is where the command's directory should be";
    if (why)
        refuse(u, e, why);
    return why || path.count == 1 ? 0 : make_entry(u, e, &path);
}

int vm_unpack(int archive, int folder, const struct vm_limits *limits, struct vm_symbols *symbols,
              vm_tell *tell, struct vm_outcome *outcome, struct problem *error)
{
    struct unpacking u = {.folder = folder,
                          .limits = limits,
                          .symbols = symbols,
                          .tell = tell,
                          .outcome = outcome,
                          .error = error};
    struct vm_tar_entry entry;
    int result;

    *outcome = (struct vm_outcome){.status = -1};
    result = vm_tar_open(&u.tar, archive, error);
    if (result < 0)
        return result;
    while ((result = vm_tar_next(&u.tar, &entry, error)) == 1 &&
           (result = take_entry(&u, &entry)) == 0)
        ;
    if (u.refused > TOLD_MAX) {
        char more[64];

        snprintf(more, sizeof(more), "%llu more were refused",
                 (unsigned long long)(u.refused - TOLD_MAX));
        tell("the guest's files", more);
    }
    return result;
}
