/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Files that were mapped, and where their symbols are read from. A file is used only if its
 * build-id is the recording's; where the recording has none, if it is a file for Arm. Names out of
 * the wrong file would be wrong without anybody noticing.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names/types.h"
#include "names_internal.h"

#define KERNEL_NAME "[kernel.kallsyms]"
#define PAGE_MAX 0x10000 /* the largest page of Arm's Linux */

static const char *const state_names[] = {
    [SPE_DSO_UNTRIED] = "untried",       [SPE_DSO_VERIFIED] = "verified",
    [SPE_DSO_UNVERIFIED] = "unverified", [SPE_DSO_REFUSED] = "refused",
    [SPE_DSO_MISSING] = "missing",       [SPE_DSO_ANONYMOUS] = "anonymous",
};

const char *spe_dso_state_name(unsigned state)
{
    return state < sizeof(state_names) / sizeof(state_names[0]) ? state_names[state] : "unknown";
}

/* ---- The table ------------------------------------------------------------------------------ */

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct spe_perf_build_id *)a)->path,
                  ((const struct spe_perf_build_id *)b)->path);
}

/* One build-id a path. A path that had several (containers, an update) keeps none of them: which
 * file was mapped is not known. */
static void sort_ids(struct dsos *d)
{
    size_t kept = 0;

    if (d->id_count)
        qsort(d->ids, d->id_count, sizeof(*d->ids), compare_ids);
    for (size_t i = 0; i < d->id_count; i++) {
        struct spe_perf_build_id *last = kept ? &d->ids[kept - 1] : NULL, *next = &d->ids[i];

        if (!next->id_size)
            continue;
        if (!last || compare_ids(last, next))
            d->ids[kept++] = *next;
        else if (last->id_size != next->id_size || memcmp(last->id, next->id, next->id_size) != 0)
            last->id_size = 0;
    }
    d->id_count = kept;
    d->ids_sorted = true;
}

/* The build-id that the recording has for a path; of size 0 if it has several. */
static const struct spe_perf_build_id *find_id(struct dsos *d, const char *path)
{
    struct spe_perf_build_id key = {.path = path};

    if (!d->ids_sorted)
        sort_ids(d);
    return d->id_count ? bsearch(&key, d->ids, d->id_count, sizeof(*d->ids), compare_ids) : NULL;
}

bool is_jit_memory(const char *path)
{
    static const char *const begins[] = {
        "//anon", "/dev/zero", "/anon_hugepage", "/memfd:", "/SYSV", "[anon:", "[heap]", "[stack"};

    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (!strncmp(path, begins[i], strlen(begins[i])))
            return true;
    }
    return false;
}

static uint8_t kind_of(const char *path, bool kernel)
{
    if (kernel)
        return !strncmp(path, KERNEL_NAME, strlen(KERNEL_NAME)) ? DSO_KERNEL : DSO_MODULE;
    if (!strcmp(path, VDSO_NAME))
        return DSO_FILE;
    if (path[0] != '/' || !strncmp(path, "//", 2) || !strncmp(path, "/dev/", 5) ||
        is_jit_memory(path))
        return DSO_ANONYMOUS;
    return DSO_FILE;
}

/* What tells two files apart. */
struct dso_key {
    uint32_t path;
    uint8_t kind, id_size, id[SPE_PERF_BUILD_ID_MAX];
};

static struct dso_key key_of(uint32_t path, uint8_t kind, const uint8_t *id, size_t id_size)
{
    struct dso_key key;

    memset(&key, 0, sizeof(key)); /* and what is between its members: all of it is hashed */
    key.path = path;
    key.kind = kind;
    key.id_size = (uint8_t)id_size;
    if (id_size)
        memcpy(key.id, id, id_size);
    return key;
}

/* Its number, or NONE. */
static uint32_t find_dso(const struct dsos *d, const struct dso_key *key)
{
    uint64_t hash = hash_bytes(d->strings->seed, key, sizeof(*key));
    size_t cursor = 0;
    uint32_t number;

    while ((number = hash_table_find(&d->table, hash, &cursor)) != NONE) {
        const struct dso *dso = d->list.at[number];

        if (dso->path == key->path && dso->kind == key->kind && dso->id_size == key->id_size &&
            !memcmp(dso->id, key->id, key->id_size))
            break;
    }
    return number;
}

static struct dso *new_dso(struct dsos *d, const struct dso_key *key)
{
    const char *text = strings_at(d->strings, key->path), *slash = strrchr(text, '/');
    bool kernel = key->kind == DSO_KERNEL || key->kind == DSO_MODULE;
    struct dso *dso;

    if (kernel && !d->kallsyms_files)
        d->kallsyms_files = kallsyms_new();
    dso = kernel && !d->kallsyms_files ? NULL : calloc(1, sizeof(*dso));
    if (!dso)
        return NULL;
    pthread_mutex_init(&dso->lock, NULL);
    dso->path = dso->mapped = key->path;
    dso->kind = key->kind;
    dso->id_size = key->id_size;
    memcpy(dso->id, key->id, key->id_size);
    dso->state = key->kind == DSO_ANONYMOUS ? SPE_DSO_ANONYMOUS : SPE_DSO_UNTRIED;
    dso->reference_name = SPE_NO_ID;
    dso->symbols.budget = d->budget;
    dso->name = strings_add(d->strings, slash && slash[1] ? slash + 1 : text);
    if (dso->name == NONE || d->list.count >= UINT32_MAX / 2 || POINTER_ROOM(&d->list) < 0 ||
        hash_table_add(&d->table, hash_bytes(d->strings->seed, key, sizeof(*key)),
                       (uint32_t)d->list.count) < 0) {
        pthread_mutex_destroy(&dso->lock);
        free(dso);
        return NULL;
    }
    d->list.at[d->list.count++] = dso;
    if (key->kind == DSO_KERNEL && !d->kernel)
        d->kernel = (uint32_t)d->list.count;
    return dso;
}

/* The kernel and its modules are called as perf calls them. */
static uint32_t shown_path(struct dsos *d, const char *path, uint8_t kind)
{
    char module[256], shown[sizeof(module) + 2];

    if (kind == DSO_KERNEL)
        return strings_add(d->strings, KERNEL_NAME);
    if (kind != DSO_MODULE || path[0] != '/')
        return strings_add(d->strings, path);
    module_name(path, module, sizeof(module));
    snprintf(shown, sizeof(shown), "[%s]", module);
    return strings_add(d->strings, shown);
}

uint32_t dsos_add(struct dsos *d, const char *path, bool kernel, uint64_t page_offset,
                  const uint8_t *id, size_t id_size)
{
    uint8_t kind = kind_of(path, kernel);
    uint32_t mapped = strings_add(d->strings, path), shown = shown_path(d, path, kind), number;
    struct dso_key key;
    const struct spe_perf_build_id *known;
    struct dso *dso;

    if (mapped == NONE || shown == NONE)
        return NONE;
    known = id_size ? NULL : find_id(d, path);
    if (!known && !id_size)
        known = find_id(d, strings_at(d->strings, shown));
    if (known) {
        id = known->id;
        id_size = known->id_size;
    }
    key = key_of(shown, kind, id, id_size);
    number = find_dso(d, &key);
    if (number != NONE)
        return number;
    dso = new_dso(d, &key);
    if (!dso)
        return NONE;
    dso->mapped = mapped;
    dso->several_ids = known && !id_size;
    if (kind == DSO_KERNEL) {
        dso->reference = page_offset;
        dso->reference_name = strings_add(d->strings, path + strlen(KERNEL_NAME));
    }
    return (uint32_t)d->list.count - 1;
}

/* As perf calls it: by the file in columns of paths, and by the process in those of names. */
uint32_t dsos_add_jit(struct dsos *d, uint32_t pid)
{
    char path[40], name[40];
    uint32_t path_id, name_id, number;
    struct dso_key key;
    struct dso *dso;

    snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", pid);
    snprintf(name, sizeof(name), "[JIT] tid %" PRIu32, pid);
    path_id = strings_add(d->strings, path);
    name_id = strings_add(d->strings, name);
    if (path_id == NONE || name_id == NONE)
        return NONE;
    key = key_of(path_id, DSO_JIT, NULL, 0);
    number = find_dso(d, &key);
    if (number != NONE)
        return number;
    dso = new_dso(d, &key);
    if (!dso)
        return NONE;
    dso->name = name_id;
    return (uint32_t)d->list.count - 1;
}

uint32_t dsos_add_ksymbol(struct dsos *d, const char *name, uint64_t start, uint64_t size)
{
    uint32_t path = strings_add(d->strings, name);
    struct dso_key key = key_of(path, DSO_KSYMBOL, NULL, 0);
    struct dso *dso = path == NONE ? NULL : new_dso(d, &key);

    if (!dso)
        return NONE;
    dso->ksymbol_start = start;
    dso->ksymbol_size = size;
    return (uint32_t)d->list.count - 1;
}

void dsos_free(struct dsos *d)
{
    for (size_t i = 0; i < d->list.count; i++) {
        struct dso *dso = d->list.at[i];

        types_close(dso->types);
        lines_close(dso->lines);
        symtab_free(&dso->symbols);
        free(dso->file);
        free(dso->warning);
        free(dso->link);
        pthread_mutex_destroy(&dso->lock);
        free(dso);
    }
    free(d->list.at);
    hash_table_free(&d->table);
    kallsyms_free(d->kallsyms_files);
    free(d->ids);
    free(d->symfs);
    free(d->symfs_path);
    free(d->debug_dir);
    free(d->vmlinux);
    free(d->kallsyms);
    free(d->lines.lines.at);
    hash_table_free(&d->lines.table);
    free(d->lines.cache);
    types_free(d->types);
    memset(d, 0, sizeof(*d));
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void hex(const uint8_t *bytes, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
    out[2 * size] = 0;
}

char *dso_text(const struct dsos *d, const char *format, ...)
{
    va_list arguments;
    char *text;
    int size;

    va_start(arguments, format);
    size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        names_missing(d->strings, SPE_ERR_NOMEM);
    return size < 0 ? NULL : text;
}

char *build_id_path(const struct dsos *d, const char *dir, const uint8_t *id, size_t id_size,
                    const char *rest)
{
    char text[2 * SPE_PERF_BUILD_ID_MAX + 1];

    if (!dir || id_size < 2)
        return NULL;
    hex(id, id_size, text);
    return dso_text(d, "%s/.build-id/%.2s/%s%s", dir, text, text + 2, rest);
}

/* The path of a recording made here, of a program below --symfs, has that in front already. */
static const char *without_symfs(const struct dsos *d, const char *path)
{
    size_t size = d->symfs_path ? strlen(d->symfs_path) : 0;

    return size && !strncmp(path, d->symfs_path, size) && path[size] == '/' ? path + size : path;
}

char *dso_below(const struct dsos *d, const char *path)
{
    return dso_text(d, "%s%s", d->symfs ? d->symfs : "", without_symfs(d, path));
}

int file_build_id(int fd, uint8_t *id, size_t max)
{
    uint16_t machine;

    return elf_build_id(fd, DSO_FILE, id, max, &machine);
}

int dso_opened(const struct dsos *d, int fd)
{
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO))
        names_missing(d->strings, SPE_ERR_IO);
    return fd;
}

static char *mismatch(const struct dsos *d, const struct dso *dso, const char *path,
                      const uint8_t *id, int id_size)
{
    char want[2 * SPE_PERF_BUILD_ID_MAX + 1], have[2 * SPE_PERF_BUILD_ID_MAX + 1];

    hex(dso->id, dso->id_size, want);
    hex(id, id_size > 0 ? (size_t)id_size : 0, have);
    if (id_size > 0)
        return dso_text(d,
                        "%s is another file than the recorded one (build-id %s, not %s): "
                        "its symbols are not used",
                        path, have, want);
    return dso_text(d,
                    "%s has no build-id, the recorded file has %s: its symbols are "
                    "not used",
                    path, want);
}

/* Why a file that has the wrong build-id, or none, or is of another kind, is refused. */
static char *reason(const struct dsos *d, const struct dso *dso, const char *path,
                    const uint8_t *id, int size)
{
    if (size == SPE_ERR_UNKNOWN)
        return dso_text(d, "this build cannot read symbols (it has no elfutils)");
    if (size >= 0 && dso->id_size)
        return mismatch(d, dso, path, id, size);
    return dso_text(d, "%s is not a program for Arm%s: its symbols are not used", path,
                    size < 0 ? " that can be read" : "");
}

/* Keeps the first of several warnings. */
static void keep(char **warning, char *text)
{
    if (*warning)
        free(text);
    else
        *warning = text;
}

/* Takes the file if it is the recorded one. What is refused leaves a warning. */
int dso_open_checked(const struct dsos *d, const struct dso *dso, const char *path, uint8_t *state,
                     char **warning)
{
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    uint16_t machine = EM_NONE;
    int fd = dso_opened(d, dso_open_regular(path)), size;

    if (fd < 0)
        return -1;
    size = elf_build_id(fd, dso->kind, id, sizeof(id), &machine);
    if (dso->id_size && size == dso->id_size && !memcmp(id, dso->id, (size_t)size)) {
        *state = SPE_DSO_VERIFIED;
        return fd;
    }
    if (!dso->id_size && size >= 0 && (machine == EM_AARCH64 || machine == EM_ARM)) {
        *state = SPE_DSO_UNVERIFIED;
        return fd;
    }
    close(fd);
    *state = SPE_DSO_REFUSED;
    if (dso->code || size >= 0) /* data need not be a program */
        keep(warning, reason(d, dso, path, id, size));
    return -1;
}

/* ---- Places of the mapped file -------------------------------------------------------------- */

/* Each gives the name of a file, to be freed; or NULL where there is none for this dso. */
typedef char *place(const struct dsos *d, const struct dso *dso);

static char *cached_elf(const struct dsos *d, const struct dso *dso)
{
    return build_id_path(d, d->debug_dir, dso->id, dso->id_size, "/elf");
}

static char *cached_vdso(const struct dsos *d, const struct dso *dso)
{
    return build_id_path(d, d->debug_dir, dso->id, dso->id_size, "/vdso");
}

static char *cached_file(const struct dsos *d, const struct dso *dso) /* caches of old perfs */
{
    return build_id_path(d, d->debug_dir, dso->id, dso->id_size, "");
}

/* What the links in .build-id lead to, where these were lost: "[vdso]/ID/vdso", "/bin/ls/ID/elf".
 */
static char *cached_by_name(const struct dsos *d, const struct dso *dso)
{
    const char *path = strings_at(d->strings, dso->mapped);
    char id[2 * SPE_PERF_BUILD_ID_MAX + 1];

    if (!d->debug_dir || !dso->id_size)
        return NULL;
    hex(dso->id, dso->id_size, id);
    return dso_text(d, "%s/%s/%s/%s", d->debug_dir, path, id,
                    !strcmp(path, VDSO_NAME) ? "vdso" : "elf");
}

static char *mapped_file(const struct dsos *d, const struct dso *dso)
{
    const char *path = strings_at(d->strings, dso->mapped);

    return path[0] == '/' ? dso_below(d, path) : NULL;
}

static char *served_file(const struct dsos *d, const struct dso *dso)
{
    return d->debuginfod && dso->id_size ? debuginfod_find(dso->id, dso->id_size, false) : NULL;
}

int dso_open(const struct dsos *d, struct dso *dso, char **file)
{
    static place *const places[] = {cached_elf,  cached_vdso, cached_file, cached_by_name,
                                    mapped_file, module_file, served_file};
    int fd = -1;

    if (dso->several_ids) {
        dso->state = SPE_DSO_REFUSED;
        keep(&dso->warning,
             dso_text(d, "the recording has several build-ids of %s: no symbols are used",
                      strings_at(d->strings, dso->mapped)));
        return -1;
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++) {
        char *path = places[i](d, dso);

        fd = path ? dso_open_checked(d, dso, path, &dso->state, &dso->warning) : -1;
        if (fd >= 0)
            *file = path;
        else
            free(path);
    }
    if (fd >= 0) { /* what was refused before it does not matter any more */
        free(dso->warning);
        dso->warning = NULL;
    }
    return fd;
}

/* ---- Places of its debug file --------------------------------------------------------------- */

static char *cached_debug(const struct dsos *d, const struct dso *dso)
{
    return build_id_path(d, d->debug_dir, dso->file_id, dso->file_id_size, "/debug");
}

static char *installed_debug(const struct dsos *d, const struct dso *dso)
{
    char *directory = dso_below(d, DEBUG_ROOT);
    char *path = build_id_path(d, directory, dso->file_id, dso->file_id_size, ".debug");

    free(directory);
    return path;
}

/* A path that the first `root` characters of the file's path make, a directory above it. */
typedef char *below(const struct dsos *d, const struct dso *dso, const char *file, size_t root);

static char *id_below(const struct dsos *d, const struct dso *dso, const char *file, size_t root)
{
    char *directory = dso_text(d, "%.*s" DEBUG_ROOT, (int)root, file);
    char *path = build_id_path(d, directory, dso->file_id, dso->file_id_size, ".debug");

    free(directory);
    return path;
}

static char *link_below(const struct dsos *d, const struct dso *dso, const char *file, size_t root)
{
    const char *rest = file + root;

    return dso_text(d, "%.*s" DEBUG_ROOT "%.*s%s", (int)root, file,
                    (int)(strrchr(rest, '/') + 1 - rest), rest, dso->link);
}

/* A sysroot has its own /usr/lib/debug: above the file, whichever directory is its root. */
static char *in_sysroot(const struct dsos *d, const struct dso *dso, below *make)
{
    char *file = mapped_file(d, dso), *path = NULL;

    for (size_t at = file ? strlen(file) : 0; at > 0 && !path; at--) {
        if (file[at] != '/')
            continue;
        path = make(d, dso, file, at);
        if (path && access(path, R_OK) < 0) {
            free(path);
            path = NULL;
        }
    }
    free(file);
    return path;
}

static char *sysroot_debug(const struct dsos *d, const struct dso *dso)
{
    return dso->file_id_size ? in_sysroot(d, dso, id_below) : NULL;
}

static char *sysroot_linked(const struct dsos *d, const struct dso *dso)
{
    return dso->link ? in_sysroot(d, dso, link_below) : NULL;
}

/* The debug file that the file names: in a directory `above` the file's own, or `within` it. */
static char *linked(const struct dsos *d, const struct dso *dso, const char *above,
                    const char *within)
{
    const char *path = without_symfs(d, strings_at(d->strings, dso->mapped));
    const char *slash = strrchr(path, '/');

    if (!dso->link || !slash || path[0] != '/')
        return NULL;
    return dso_text(d, "%s%s%.*s%s%s", d->symfs ? d->symfs : "", above, (int)(slash - path + 1),
                    path, within, dso->link);
}

static char *linked_beside(const struct dsos *d, const struct dso *dso)
{
    return linked(d, dso, "", "");
}

static char *linked_below(const struct dsos *d, const struct dso *dso)
{
    return linked(d, dso, "", ".debug/");
}

static char *linked_installed(const struct dsos *d, const struct dso *dso)
{
    return linked(d, dso, DEBUG_ROOT, "");
}

static char *served_debug(const struct dsos *d, const struct dso *dso)
{
    return d->debuginfod && dso->file_id_size
               ? debuginfod_find(dso->file_id, dso->file_id_size, true)
               : NULL;
}

/* The CRC of .gnu_debuglink: CRC-32 of IEEE 802.3. */
static bool has_crc(int fd, uint32_t want)
{
    uint8_t bytes[65536];
    uint32_t table[256], crc = UINT32_MAX;
    off_t at = 0;
    ssize_t size;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    while ((size = pread(fd, bytes, sizeof(bytes), at)) > 0) {
        for (ssize_t i = 0; i < size; i++)
            crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
        at += size;
    }
    return size == 0 && ~crc == want;
}

bool has_build_id(int fd, const uint8_t *id, size_t id_size)
{
    uint8_t have[SPE_PERF_BUILD_ID_MAX];
    uint16_t machine;
    int size = elf_build_id(fd, DSO_FILE, have, sizeof(have), &machine);

    return size > 0 && (size_t)size == id_size && !memcmp(have, id, id_size);
}

static bool is_debug_file(const struct dso *dso, int fd, bool by_link)
{
    return by_link ? has_crc(fd, dso->link_crc) : has_build_id(fd, dso->file_id, dso->file_id_size);
}

int dso_open_debug(const struct dsos *d, const struct dso *dso, char **file, char **warning)
{
    static const struct {
        place *at;
        bool by_link; /* the file's name and CRC lead there; else its build-id */
    } places[] = {
        {cached_debug, false},  {installed_debug, false}, {sysroot_debug, false},
        {linked_beside, true},  {linked_below, true},     {linked_installed, true},
        {sysroot_linked, true}, {served_debug, false},
    };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char *path = places[i].at(d, dso);
        int fd = path ? dso_opened(d, dso_open_regular(path)) : -1;

        if (fd >= 0 && is_debug_file(dso, fd, places[i].by_link)) {
            *file = path;
            return fd;
        }
        if (fd >= 0) {
            close(fd);
            keep(warning,
                 dso_text(d, "%s is the debug file of another program: it is not used", path));
        }
        free(path);
    }
    return -1;
}

/* ---- Symbols -------------------------------------------------------------------------------- */

/* What is wrong with a file is not news, only that there was no memory for its names. */
static void check(const struct dsos *d, const struct dso *dso, int result)
{
    if (result == SPE_ERR_NOMEM && !dso->symbols.full)
        names_missing(d->strings, result);
}

/* A file whose names were stripped off may have them in its debug file. */
static void load_file(const struct dsos *d, struct dso *dso)
{
    char *debug = NULL;
    uint16_t machine;
    int fd, other = -1, size, names;

    dso->state = SPE_DSO_MISSING;
    fd = dso_open(d, dso, &dso->file);
    if (fd < 0)
        return;
    size = elf_build_id(fd, DSO_FILE, dso->file_id, sizeof(dso->file_id), &machine);
    dso->file_id_size = size > 0 ? (uint8_t)size : 0;
    check(d, dso, elf_debuglink(fd, &dso->link, &dso->link_crc));
    dso->symbols.relative = true;
    names = symtab_read(&dso->symbols, fd, DSO_FILE);
    check(d, dso, names);
    if (names == 0)
        other = dso_open_debug(d, dso, &debug, &dso->warning);
    if (other >= 0) {
        size_t segments = dso->symbols.segments.count;

        names = symtab_read(&dso->symbols, other, DSO_FILE);
        check(d, dso, names);
        dso->symbols.segments.count = segments;
        close(other);
    }
    if (names <= 0)
        check(d, dso, symtab_read_stripped(&dso->symbols, fd, strings_at(d->strings, dso->name)));
    free(debug);
    close(fd);
}

char *dso_over_budget(const struct dsos *d, const struct dso *dso, const char *what)
{
    if (atomic_exchange(&d->budget->said, true))
        return NULL;
    return dso_text(d,
                    "%s of %s would take more memory than they may (%" PRIu64
                    " MB): they are left out, as may be those of other files",
                    what, strings_at(d->strings, dso->path), d->budget->limit >> 20);
}

static void load(const struct dsos *d, struct dso *dso)
{
    bool full;
    char *text;

    switch (dso->kind) {
    case DSO_FILE:
        load_file(d, dso);
        break;
    case DSO_KERNEL:
    case DSO_MODULE:
        dso_load_kernel(d, dso);
        break;
    case DSO_JIT:
        dso_load_jit(d, dso);
        break;
    case DSO_KSYMBOL:
        check(d, dso,
              symtab_add(&dso->symbols, strings_at(d->strings, dso->path), dso->ksymbol_start,
                         dso->ksymbol_size, SYMBOL_FUNCTION, 0));
        dso->state = SPE_DSO_VERIFIED;
        break;
    default:
        break;
    }
    full = dso->symbols.full;
    check(d, dso, symtab_finish(&dso->symbols));
    if (full && (text = dso_over_budget(d, dso, "symbols"))) {
        free(dso->warning);
        dso->warning = text;
    }
}

void dso_load(const struct dsos *d, struct dso *dso)
{
    if (atomic_load_explicit(&dso->loaded, memory_order_acquire))
        return;
    pthread_mutex_lock(&dso->lock);
    if (!atomic_load_explicit(&dso->loaded, memory_order_relaxed)) {
        load(d, dso);
        atomic_store_explicit(&dso->loaded, 1, memory_order_release);
    }
    pthread_mutex_unlock(&dso->lock);
}

uint64_t dso_address(const struct dso *dso, const struct spe_profile_map *map, uint64_t pc)
{
    uint64_t offset = pc - map->start + map->page_offset;

    if (!dso->symbols.relative)
        return pc - dso->symbols.kernel_shift;
    for (size_t i = 0; i < dso->symbols.segments.count; i++) {
        const struct segment *s = &dso->symbols.segments.at[i];

        if (offset >= s->offset && offset - s->offset < s->size)
            return offset - s->offset + s->address;
    }
    return UINT64_MAX;
}

/* Does the map end with the last page of the segment's bytes in the file? It may begin behind the
 * segment's start (a part of it can have other rights), or a page before it. */
static bool ends_segment(const struct spe_profile_map *map, const struct segment *s)
{
    uint64_t begin = map->page_offset, end = begin + (map->end - map->start);
    uint64_t last = s->offset + s->size;

    return s->memory > s->size && last >= s->size && end > begin && last > begin && last <= end &&
           end - last < PAGE_MAX && (s->offset <= begin || s->offset - begin < PAGE_MAX);
}

uint64_t dso_bss_address(const struct dso *dso, const struct spe_profile_map *map, uint64_t address)
{
    uint64_t offset = address - map->start + map->page_offset;

    for (size_t i = 0; dso->symbols.relative && i < dso->symbols.segments.count; i++) {
        const struct segment *s = &dso->symbols.segments.at[i];

        if (ends_segment(map, s) && offset >= s->offset + s->size && offset - s->offset < s->memory)
            return offset - s->offset + s->address;
    }
    return UINT64_MAX;
}

uint32_t dso_find(const struct dso *dso, uint64_t address, unsigned kind)
{
    bool object = kind == SYMBOL_OBJECT;
    size_t low = 0, high = object ? dso->symbols.objects.count : dso->symbols.functions.count;
    const struct symbol *at = object ? dso->symbols.objects.at : dso->symbols.functions.at;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* Smaller symbols may lie inside larger ones: a few steps back find the larger one. */
    for (size_t back = 1; back <= 8 && back <= low; back++) {
        if (address < at[low - back].end)
            return (uint32_t)(low - back);
    }
    return NONE;
}
