/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The cpio format "newc": a header of hexadecimal numbers, a name, bytes; each padded to four. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/vm.h"

static void pad(struct vm_cpio *c, size_t written)
{
    static const char zeros[4];

    if (written % 4 && fwrite(zeros, 1, 4 - written % 4, c->file) != 4 - written % 4)
        c->failed = true;
}

static void header(struct vm_cpio *c, const char *path, unsigned mode, size_t size, unsigned major,
                   unsigned minor)
{
    size_t name_size = strlen(path) + 1;

    if (fprintf(c->file, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x", ++c->inode,
                mode, 0u, 0u, 1u, 0u, size, 0u, 0u, major, minor, name_size, 0u) < 0 ||
        fwrite(path, 1, name_size, c->file) != name_size)
        c->failed = true;
    pad(c, 110 + name_size);
}

void vm_cpio_file(struct vm_cpio *c, const char *path, unsigned mode, const void *bytes,
                  size_t size)
{
    header(c, path, mode, size, 0, 0);
    if (fwrite(bytes, 1, size, c->file) != size)
        c->failed = true;
    pad(c, size);
}

void vm_cpio_folder(struct vm_cpio *c, const char *path)
{
    header(c, path, S_IFDIR | 0755, 0, 0, 0);
}

void vm_cpio_device(struct vm_cpio *c, const char *path, unsigned major, unsigned minor)
{
    header(c, path, S_IFCHR | 0600, 0, major, minor);
}

bool vm_cpio_end(struct vm_cpio *c)
{
    header(c, "TRAILER!!!", 0, 0, 0, 0);
    return !c->failed && fflush(c->file) == 0;
}

int vm_cpio_copy(struct vm_cpio *c, const char *path, unsigned mode, const char *from,
                 struct problem *error)
{
    struct stat st;
    char bytes[65536];
    size_t n, done = 0;
    FILE *f;

    /* The type comes first: opening a FIFO waits, opening a device may do anything. */
    if (stat(from, &st) < 0)
        return problem_say(error, SPE_ERR_IO, from, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size > INT32_MAX)
        return problem_say(error, SPE_ERR_INVALID, from, "this is not a regular file below 2 GB");
    f = fopen(from, "rb");
    if (!f)
        return problem_say(error, SPE_ERR_IO, from, "%s", strerror(errno));
    header(c, path, mode, (size_t)st.st_size, 0, 0);
    while (done < (size_t)st.st_size && (n = fread(bytes, 1, sizeof(bytes), f)) > 0) {
        n = n < (size_t)st.st_size - done ? n : (size_t)st.st_size - done;
        if (fwrite(bytes, 1, n, c->file) != n)
            c->failed = true;
        done += n;
    }
    fclose(f);
    pad(c, (size_t)st.st_size);
    if (done < (size_t)st.st_size)
        return problem_say(error, SPE_ERR_IO, from, "the file became shorter while it was read");
    return 0;
}

static int add_entry(struct vm_cpio *c, const char *from, const char *path, struct problem *error);

static int add_folder(struct vm_cpio *c, const char *from, const char *path, struct problem *error)
{
    struct dirent **list;
    char below_from[4096], below[4096];
    int n = scandir(from, &list, NULL, alphasort), status = 0;

    if (n < 0)
        return problem_say(error, SPE_ERR_IO, from, "%s", strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;

        if (status == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            if (snprintf(below_from, sizeof(below_from), "%s/%s", from, name) >=
                    (int)sizeof(below_from) ||
                snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", name) >=
                    (int)sizeof(below))
                status = problem_say(error, SPE_ERR_RANGE, from, "a path below is too long");
            else
                status = add_entry(c, below_from, below, error);
        }
        free(list[i]);
    }
    free(list);
    return status;
}

static int add_entry(struct vm_cpio *c, const char *from, const char *path, struct problem *error)
{
    struct stat st;
    char target[4096];
    ssize_t n;

    if (lstat(from, &st) < 0)
        return problem_say(error, SPE_ERR_IO, from, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode)) {
        vm_cpio_folder(c, path);
        return add_folder(c, from, path, error);
    }
    if (S_ISLNK(st.st_mode)) {
        n = readlink(from, target, sizeof(target));
        if (n < 0)
            return problem_say(error, SPE_ERR_IO, from, "%s", strerror(errno));
        vm_cpio_file(c, path, S_IFLNK | 0777, target, (size_t)n);
        return 0;
    }
    return vm_cpio_copy(c, path, S_IFREG | (st.st_mode & 0777), from, error);
}

int vm_cpio_tree(struct vm_cpio *c, const char *folder, struct problem *error)
{
    return add_folder(c, folder, "", error);
}
