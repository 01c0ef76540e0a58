/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * DIR/usr/bin/ls/ID/elf is the copy, and DIR/.build-id/xx/yyyy a link to its directory. It is a
 * copy and not a hard link: a linker that writes over the program would change that, too. It gets
 * its name when it is complete and has the right build-id.
 */
#include "record/keep.h"

#include <errno.h>
#include <limits.h>
#include <specimen/perfdata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names/files.h"

#define KEEP_MAX (UINT64_C(1) << 30) /* bytes that one recording adds */

struct names {
    char id[2 * SPE_PERF_BUILD_ID_MAX + 1];
    char folder[2 * PATH_MAX]; /* of the copy */
    char elf[2 * PATH_MAX + 16], fresh[2 * PATH_MAX + 16];
    char link[2 * PATH_MAX], target[2 * PATH_MAX];
};

/* False if they are too long. The path has neither links nor "..": it cannot lead out of the
 * directory. */
static bool make_names(struct names *n, const char *directory, const char *path, const uint8_t *id,
                       size_t id_size)
{
    size_t all = strlen(directory) + strlen(path) + sizeof(n->id) + 32;

    for (size_t i = 0; i < id_size; i++)
        snprintf(n->id + 2 * i, 3, "%02x", id[i]);
    if (all >= sizeof(n->folder))
        return false;
    snprintf(n->folder, sizeof(n->folder), "%s%s/%s", directory, path, n->id);
    snprintf(n->elf, sizeof(n->elf), "%s/elf", n->folder);
    snprintf(n->fresh, sizeof(n->fresh), "%s/elf.XXXXXX", n->folder);
    snprintf(n->link, sizeof(n->link), "%s/.build-id/%.2s/%s", directory, n->id, n->id + 2);
    snprintf(n->target, sizeof(n->target), "../..%s/%s", path, n->id);
    return true;
}

/* All directories that the path names before its last slash. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        bool made;

        *slash = '\0';
        made = mkdir(path, 0755) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

static bool copy_bytes(int from, int to, uint64_t size)
{
    char bytes[1 << 16];
    uint64_t at = 0;

    while (at < size) {
        ssize_t got = pread(from, bytes, sizeof(bytes), (off_t)at);

        if (got <= 0 || write(to, bytes, (size_t)got) != got)
            return false;
        at += (uint64_t)got;
    }
    return true;
}

/* The file may have been built again since its build-id was read. */
static bool copy(struct names *n, int from, const struct stat *st, const uint8_t *id,
                 size_t id_size, const char **why)
{
    int to = make_folders(n->elf) ? mkstemp(n->fresh) : -1;
    bool good;

    if (to < 0) {
        *why = strerror(errno);
        return false;
    }
    errno = 0;
    good = copy_bytes(from, to, (uint64_t)st->st_size) && fchmod(to, st->st_mode & 0755) == 0;
    *why = errno ? strerror(errno) : "it became shorter";
    if (good && !has_build_id(to, id, id_size)) {
        good = false;
        *why = "the file has changed since";
    }
    if (good && rename(n->fresh, n->elf) < 0) {
        good = false;
        *why = strerror(errno);
    }
    if (!good)
        unlink(n->fresh);
    close(to);
    return good;
}

/* One that leads nowhere is replaced. */
static bool link_to(struct names *n, const char **why)
{
    if (!make_folders(n->link)) {
        *why = strerror(errno);
        return false;
    }
    if (symlink(n->target, n->link) == 0)
        return true;
    unlink(n->link);
    if (symlink(n->target, n->link) == 0)
        return true;
    *why = strerror(errno);
    return false;
}

static bool is_there(const struct names *n)
{
    char elf[sizeof(n->link) + 8];

    snprintf(elf, sizeof(elf), "%s/elf", n->link);
    return access(elf, R_OK) == 0;
}

/* True if it is there now; else why not. */
static bool keep(const char *directory, int fd, const char *path, const uint8_t *id, size_t id_size,
                 struct record_kept *kept, const char **why)
{
    struct names n;
    struct stat st;

    *why = "its path is too long";
    if (!make_names(&n, directory, path, id, id_size))
        return false;
    if (is_there(&n))
        return true;
    *why = "the recording's files are too large together";
    if (fstat(fd, &st) < 0 || st.st_size < 0 || (uint64_t)st.st_size > KEEP_MAX - kept->bytes)
        return false;
    if (!copy(&n, fd, &st, id, id_size, why) || !link_to(&n, why))
        return false;
    kept->files++;
    kept->bytes += (uint64_t)st.st_size;
    return true;
}

void keep_binary(const char *directory, int fd, const char *path, const uint8_t *id, size_t id_size,
                 struct record_kept *kept)
{
    char *real = realpath(path, NULL);
    const char *why = strerror(errno);

    if (!real || !keep(directory, fd, real, id, id_size, kept, &why)) {
        if (!kept->left_out++)
            snprintf(kept->why, sizeof(kept->why), "%s: %s", path, why);
    }
    free(real);
}
