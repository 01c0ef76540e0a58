/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Where a run's files go. They are unpacked into a folder of their own in the output, so that
 * nothing of the user's can be in their way or lead them astray, and are then moved, one name after
 * the other: a move neither follows links nor replaces anything unless it is told to.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/vm.h"

enum { TOLD_MAX = 20 }; /* names that came; more are counted */

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

int vm_output_open(struct vm_output *o, const char *path, struct problem *error)
{
    *o = (struct vm_output){.path = path, .fd = -1};
    o->made = mkdir(path, 0777) == 0;
    if (!o->made && errno != EEXIST)
        return problem_say(error, SPE_ERR_IO, path, "%s", strerror(errno));
    /* The folder itself is the user's word: it may be a link. */
    o->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (o->fd < 0)
        return problem_say(error, SPE_ERR_IO, path, "%s", strerror(errno));
    return 0;
}

void vm_output_close(struct vm_output *o)
{
    if (o->fd < 0)
        return;
    close(o->fd);
    o->fd = -1;
    if (o->made)
        rmdir(o->path); /* does nothing if something came */
}

/* ---- Folders --------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_folder(int folder, struct vm_words *names)
{
    int fd = openat(folder, ".", FOLDER_FLAGS);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            vm_words_add(names, "%s", entry->d_name);
    closedir(dir);
    if (names->count)
        qsort(names->list, names->count, sizeof(*names->list), by_name);
    return !names->failed;
}

static bool is_folder(int at, const char *name)
{
    struct stat st;

    return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

struct sum {
    uint64_t files, bytes;
};

/* Files and bytes of a name and below. */
static void measure(int at, const char *name, struct sum *sum)
{
    struct vm_words names = {0};
    struct stat st;
    int fd;

    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (!S_ISDIR(st.st_mode)) {
        sum->files++;
        sum->bytes += (uint64_t)st.st_size;
        return;
    }
    fd = openat(at, name, FOLDER_FLAGS);
    if (fd >= 0 && list_folder(fd, &names))
        for (size_t i = 0; i < names.count; i++)
            measure(fd, names.list[i], sum);
    vm_words_free(&names);
    if (fd >= 0)
        close(fd);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

struct move {
    const struct vm_output *output;
    int from;
    bool force;
};

static bool merge(int from, int to, const char *name);

/* A rename that does not replace; EEXIST if it would. */
static bool rename_new(int from, int to, const char *name)
{
    if (renameat2(from, name, to, name, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    /* A file system without that: a new link and a new folder do not replace, either. */
    if (is_folder(from, name))
        return mkdirat(to, name, 0777) == 0 && merge(from, to, name);
    return linkat(from, name, to, name, 0) == 0 && unlinkat(from, name, 0) == 0;
}

static bool replace(int from, int to, const char *name);

/* Moves what is in a folder into the folder of the same name. */
static bool merge(int from, int to, const char *name)
{
    int below = openat(from, name, FOLDER_FLAGS), into = openat(to, name, FOLDER_FLAGS);
    struct vm_words names = {0};
    bool good = below >= 0 && into >= 0 && list_folder(below, &names);

    for (size_t i = 0; good && i < names.count; i++)
        good = rename_new(below, into, names.list[i]) || replace(below, into, names.list[i]);
    vm_words_free(&names);
    if (below >= 0)
        close(below);
    if (into >= 0)
        close(into);
    return good && unlinkat(from, name, AT_REMOVEDIR) == 0;
}

/* A file replaces a file or a link, never what is behind the link. */
static bool replace(int from, int to, const char *name)
{
    return errno == EEXIST &&
           (is_folder(from, name) ? merge(from, to, name) : renameat(from, name, to, name) == 0);
}

static bool is_recording(const char *name)
{
    return strcmp(name, "perf.data") == 0;
}

/* NULL, or why the name stays where it is. */
static const char *move_in(const struct move *m, const char *name, bool *kept_old)
{
    int to = m->output->fd;

    if (name[0] == '.' && !m->force && !m->output->made)
        return "hidden names are not moved to an existing directory (--force)";
    if (rename_new(m->from, to, name))
        return NULL;
    if (errno == EEXIST && is_recording(name) && !is_folder(to, name) &&
        renameat(to, name, to, "perf.data.old") == 0) {
        *kept_old = true;
        if (rename_new(m->from, to, name))
            return NULL;
    }
    if (errno == EEXIST && !m->force)
        return "it exists already (--force replaces it)";
    return replace(m->from, to, name) ? NULL : strerror(errno);
}

static void tell_came(vm_tell *tell, const char *name, const struct sum *sum, bool kept_old)
{
    char sentence[160];

    snprintf(sentence, sizeof(sentence), "from the guest: %llu file%s, %llu bytes%s",
             (unsigned long long)sum->files, sum->files == 1 ? "" : "s",
             (unsigned long long)sum->bytes,
             kept_old ? "; the one that was there is perf.data.old now" : "");
    tell(name, sentence);
}

/* How many names stayed in the folder that they were unpacked to. */
static size_t move_all(const struct move *m, const char *folder, vm_tell *tell)
{
    struct vm_words names = {0};
    size_t stayed = 0, came = 0;
    char sentence[PATH_MAX + 256];

    if (!list_folder(m->from, &names))
        tell(folder, "the guest's files stay here: the directory cannot be read");
    for (size_t i = 0; i < names.count; i++) {
        struct sum sum = {0};
        bool kept_old = false;
        const char *why;

        measure(m->from, names.list[i], &sum);
        why = move_in(m, names.list[i], &kept_old);
        if (!why && came++ < TOLD_MAX)
            tell_came(tell, names.list[i], &sum, kept_old);
        if (why && stayed++ < TOLD_MAX) {
            snprintf(sentence, sizeof(sentence), "the guest's is in %s: %s", folder, why);
            tell(names.list[i], sentence);
        }
    }
    if (came > TOLD_MAX || stayed > TOLD_MAX) {
        snprintf(sentence, sizeof(sentence), "%zu names came, %zu stayed in %s", came, stayed,
                 folder);
        tell("the guest's files", sentence);
    }
    stayed += names.failed;
    vm_words_free(&names);
    return stayed;
}

int vm_output_take(const struct vm_output *o, int archive, const struct vm_limits *limits,
                   bool force, vm_tell *tell, struct vm_outcome *outcome, struct problem *error)
{
    struct move move = {.output = o, .force = force};
    char folder[PATH_MAX];
    int result;

    if (snprintf(folder, sizeof(folder), "%s/spe-vm-XXXXXX", o->path) >= (int)sizeof(folder) ||
        !mkdtemp(folder))
        return problem_say(error, SPE_ERR_IO, o->path, "no directory can be created in it: %s",
                           strerror(errno));
    move.from = open(folder, FOLDER_FLAGS);
    if (move.from < 0)
        return problem_say(error, SPE_ERR_IO, folder, "%s", strerror(errno));
    result = vm_unpack(archive, move.from, limits, o->symbols, tell, outcome, error);
    if (move_all(&move, folder, tell) > 0)
        outcome->incomplete = true;
    close(move.from);
    rmdir(folder); /* does nothing if something stays */
    return result;
}
