/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Names for what a guest has recorded: what a recording maps is put into perf's build-id cache,
 * where perf and `spe report` look, as `perf buildid-cache --add` would do it.
 *
 * The recording is the guest's word, so it only chooses: files are those that this machine gave to
 * the guest, found by their build-ids, and no path of the guest's is used. The guest's kallsyms is
 * kept for the Linux that was booted and for nothing else. Nothing that is there is replaced.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <specimen/perfdata.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"
#include "names/files.h"
#include "vm/vm.h"

/* Something that a recording may name by its build-id. */
struct vm_named {
    uint8_t id[SPE_PERF_BUILD_ID_MAX], id_size;
    char *path;  /* NULL: the guest's Linux */
    bool wanted; /* a recording has it */
};

void vm_symbols_free(struct vm_symbols *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->list[i].path);
    free(s->list);
    s->list = NULL;
    s->count = s->room = 0;
    if (s->kallsyms >= 0)
        close(s->kallsyms);
    s->kallsyms = -1;
}

/* ---- What the guest was given ---------------------------------------------------------------- */

/* Takes over `path`. Without memory there are fewer names. */
static void add(struct vm_symbols *s, const uint8_t *id, size_t id_size, char *path)
{
    struct vm_named *named;

    if (vector_grow(&s->list, &s->room, s->count, sizeof(*s->list)) < 0) {
        free(path);
        return;
    }
    named = &s->list[s->count++];
    *named = (struct vm_named){.id_size = (uint8_t)id_size, .path = path};
    memcpy(named->id, id, id_size);
}

static void add_file(struct vm_symbols *s, const char *path)
{
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), size = 0;
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        size = file_build_id(fd, id, sizeof(id));
    if (fd >= 0)
        close(fd);
    if (size > 0) {
        char *real = realpath(path, NULL);

        if (real)
            add(s, id, (size_t)size, real);
    }
}

/* Links are left out: what they lead to is a file of the tree. */
static void add_tree(struct vm_symbols *s, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[PATH_MAX];
    struct stat st;

    if (!dir)
        return;
    while ((entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= (int)sizeof(path) ||
            lstat(path, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            add_tree(s, path);
        else if (S_ISREG(st.st_mode))
            add_file(s, path);
    }
    closedir(dir);
}

/* An arm64 Image has the kernel's notes as they are in vmlinux, and those of the vDSO. */
static void add_kernel(struct vm_symbols *s)
{
    static const char note[] = "\4\0\0\0\x14\0\0\0\3\0\0\0GNU"; /* sizes, NT_GNU_BUILD_ID, owner */
    int fd = open(s->kernel, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    uint8_t *image = MAP_FAILED;
    const uint8_t *at, *end;
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (image == MAP_FAILED)
        return;
    end = image + st.st_size;
    for (at = image; (at = memmem(at, (size_t)(end - at), note, sizeof(note))); at += sizeof(note))
        if ((size_t)(end - at) >= sizeof(note) + SPE_PERF_BUILD_ID_MAX)
            add(s, at + sizeof(note), SPE_PERF_BUILD_ID_MAX, NULL);
    munmap(image, (size_t)st.st_size);
}

static void list_given(struct vm_symbols *s)
{
    s->listed = true;
    add_kernel(s);
    add_tree(s, s->root);
    for (char *const *file = s->put; file && *file; file++)
        add_file(s, *file);
}

/* ---- What a recording names ------------------------------------------------------------------ */

static void want(struct vm_symbols *s, const uint8_t *id, size_t id_size, bool kernel)
{
    for (size_t i = 0; id_size && i < s->count; i++)
        if (s->list[i].id_size == id_size && memcmp(s->list[i].id, id, id_size) == 0 &&
            !s->list[i].path == kernel)
            s->list[i].wanted = true;
}

static bool is_kernel(uint16_t misc)
{
    return (misc & SPE_PERF_MISC_CPUMODE) == SPE_PERF_MISC_KERNEL;
}

static void want_all(struct vm_symbols *s, struct spe_perf_reader *reader)
{
    const struct spe_perf_features *f;
    struct spe_perf_record r;

    while (spe_perf_reader_next(reader, &r) > 0) {
        if (r.viewed && r.type == SPE_PERF_MMAP2)
            want(s, r.mmap.id, r.mmap.id_size, is_kernel(r.misc));
        else if (r.viewed && r.type == SPE_PERF_BUILD_ID)
            want(s, r.build_id.id, r.build_id.id_size, is_kernel(r.misc));
    }
    f = spe_perf_reader_features(reader); /* complete now, whatever the file's form */
    for (size_t i = 0; i < f->build_id_count; i++)
        want(s, f->build_ids[i].id, f->build_ids[i].id_size, is_kernel(f->build_ids[i].misc));
}

void vm_symbols_read(struct vm_symbols *s, int file)
{
    struct spe_perf_reader *reader;
    uint8_t head[8];

    if (pread(file, head, sizeof(head), 0) != sizeof(head) || !spe_perf_probe(head, sizeof(head)))
        return;
    if (!s->listed)
        list_given(s);
    if (spe_perf_reader_open_fd(&reader, file, SPE_PERF_NO_MAP | SPE_PERF_NO_PIECES, NULL) < 0)
        return; /* whoever reads it will be told */
    want_all(s, reader);
    spe_perf_reader_close(reader);
}

/* ---- The cache ------------------------------------------------------------------------------- */

/* Makes the folders of a path; the last part is a folder, too. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755); /* if it cannot, the last one says why */
        *slash = '/';
    }
    return mkdir(path, 0755) == 0 || errno == EEXIST;
}

static bool copy_bytes(int from, int to)
{
    uint8_t bytes[65536];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(from, bytes, sizeof(bytes), at)) > 0) {
        for (ssize_t done = 0, one; done < n; done += one)
            if ((one = write(to, bytes + done, (size_t)(n - done))) < 0)
                return false;
        at += n;
    }
    return n == 0;
}

/* A new file, whole or not at all. One that is there stays. */
static bool put_file(const char *folder, const char *name, int from)
{
    char path[PATH_MAX], new[PATH_MAX];
    bool good;
    int to;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) ||
        snprintf(new, sizeof(new), "%s/.%s-XXXXXX", folder, name) >= (int)sizeof(new)) {
        errno = ENAMETOOLONG;
        return false;
    }
    to = mkostemp(new, O_CLOEXEC);
    if (to < 0)
        return false;
    good = copy_bytes(from, to) && fchmod(to, 0644) == 0;
    if (close(to) < 0)
        good = false;
    if (good)
        good = link(new, path) == 0 || errno == EEXIST;
    unlink(new);
    return good;
}

struct place {
    char link[PATH_MAX];   /* .build-id/12/345... */
    char folder[PATH_MAX]; /* where that leads */
    char target[PATH_MAX]; /* as the link has it */
};

static bool find_place(const struct vm_named *named, const char *cache, struct place *p)
{
    char id[2 * SPE_PERF_BUILD_ID_MAX + 1];
    const char *path = named->path ? named->path + 1 : "[kernel.kallsyms]";

    for (size_t i = 0; i < named->id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", named->id[i]);
    if (snprintf(p->link, PATH_MAX, "%s/.build-id/%.2s/%s", cache, id, id + 2) < PATH_MAX &&
        snprintf(p->folder, PATH_MAX, "%s/%s/%s", cache, path, id) < PATH_MAX &&
        snprintf(p->target, PATH_MAX, "../../%s/%s", path, id) < PATH_MAX)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static bool make_link(struct place *p)
{
    char *slash = strrchr(p->link, '/');
    bool good;

    *slash = '\0';
    good = make_folders(p->link);
    *slash = '/';
    return good && (symlink(p->target, p->link) == 0 || errno == EEXIST);
}

/* One file, as perf would have it: in a folder that a link named by the build-id leads to. A link
 * that is there leads to the folder that counts. */
static bool keep(const struct vm_symbols *s, const struct vm_named *named, const char *cache)
{
    int from = named->path ? open(named->path, O_RDONLY | O_CLOEXEC) : s->kallsyms;
    const char *name = named->path ? "elf" : "kallsyms";
    struct place p;
    struct stat st;
    bool good = from >= 0 && find_place(named, cache, &p);

    if (good && stat(p.link, &st) == 0 && S_ISDIR(st.st_mode))
        good = put_file(p.link, name, from);
    else if (good)
        good = make_folders(p.folder) && put_file(p.folder, name, from) && make_link(&p);
    if (named->path && from >= 0) {
        int reason = errno;

        close(from);
        errno = reason;
    }
    return good;
}

static void tell_kept(vm_tell *tell, const char *cache, size_t files, bool kernel)
{
    char text[200], count[40];

    snprintf(count, sizeof(count), "%zu file%s", files, files == 1 ? "" : "s");
    snprintf(text, sizeof(text), "symbols for what the guest recorded: %s%s%s (--no-symbols)",
             kernel ? "its Linux" : "", kernel && files ? " and " : "", files ? count : "");
    tell(cache, text);
}

void vm_symbols_keep(const struct vm_symbols *s, vm_tell *tell)
{
    const char *home = getenv("HOME");
    size_t files = 0, kernels = 0;
    char cache[PATH_MAX];

    if (!home || home[0] != '/' ||
        snprintf(cache, sizeof(cache), "%s/.debug", home) >= (int)sizeof(cache))
        return; /* readers have no cache, either */
    for (size_t i = 0; i < s->count; i++) {
        const struct vm_named *named = &s->list[i];

        if (!named->wanted || (!named->path && s->kallsyms < 0))
            continue;
        if (!keep(s, named, cache)) {
            char why[200];

            snprintf(why, sizeof(why), "symbols for what the guest recorded are missing: %s",
                     strerror(errno));
            tell(named->path ? named->path : "kallsyms", why);
        } else if (named->path) {
            files++;
        } else {
            kernels++;
        }
    }
    if (files || kernels)
        tell_kept(tell, cache, files, kernels > 0);
}
