/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Symbols of the kernel and its modules: from a vmlinux that was given, a kallsyms that was given,
 * the build-id cache, the kernel that runs here if it is the recorded one, the module's own file,
 * or debuginfod. Addresses of kallsyms are those of one boot: they count only if the recording's
 * reference symbol is where kallsyms has it.
 */
#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names_internal.h"

/* ---- kallsyms ------------------------------------------------------------------------------- */

/* A file is read once, for the kernel and all modules: there may be hundreds of them, and a file
 * has hundreds of thousands of lines. */
struct kallsyms_line {
    uint64_t address;
    uint32_t name; /* in text */
    uint32_t next; /* line of the same part, or NONE */
};

struct kallsyms_part { /* the kernel or a module */
    uint32_t name, first, last;
};

struct kallsyms {
    char *path;
    int error;
    VECTOR(struct kallsyms_line) lines;
    VECTOR(struct kallsyms_part) parts;
    VECTOR(char) text;
    struct hash_table table; /* parts by name */
    uint64_t seed;
    const struct dso *kernel; /* that the file was compared with last */
    bool same_boot;
};

struct kallsyms_files {
    pthread_mutex_t lock;
    VECTOR(struct kallsyms *) list;
};

struct kallsyms_files *kallsyms_new(void)
{
    struct kallsyms_files *files = calloc(1, sizeof(*files));

    if (files)
        pthread_mutex_init(&files->lock, NULL);
    return files;
}

void kallsyms_free(struct kallsyms_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->list.count; i++) {
        struct kallsyms *k = files->list.at[i];

        free(k->path);
        free(k->lines.at);
        free(k->parts.at);
        free(k->text.at);
        hash_table_free(&k->table);
        free(k);
    }
    free(files->list.at);
    pthread_mutex_destroy(&files->lock);
    free(files);
}

/* "ffff800010080000 T _text" or "... t name\t[module]"; *module is "" for the kernel. */
static bool parse_line(char *line, uint64_t *address, char **name, char **module)
{
    char *end;

    *address = strtoull(line, &end, 16);
    if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !strchr("tTwW", end[1]) ||
        end[3] == '$')
        return false;
    *name = end + 3;
    (*name)[strcspn(*name, "\n")] = 0;
    *module = *name + strcspn(*name, "\t");
    if (!**module)
        return true;
    *(*module)++ = 0;
    end = strchr(*module, ']');
    if (**module != '[' || !end)
        return false;
    *end = 0;
    return *++*module;
}

static uint32_t add_text(struct kallsyms *k, const char *text)
{
    uint32_t at = (uint32_t)k->text.count;

    do {
        if (k->text.count >= NONE || VECTOR_ROOM(&k->text) < 0)
            return NONE;
        k->text.at[k->text.count++] = *text;
    } while (*text++);
    return at;
}

static struct kallsyms_part *find_part(const struct kallsyms *k, const char *name)
{
    uint64_t hash = hash_bytes(k->seed, name, strlen(name));
    struct kallsyms_part *parts = k->parts.at;
    size_t cursor = 0;
    uint32_t number;

    while (parts && (number = hash_table_find(&k->table, hash, &cursor)) != NONE) {
        if (!strcmp(k->text.at + parts[number].name, name))
            return &parts[number];
    }
    return NULL;
}

static struct kallsyms_part *new_part(struct kallsyms *k, const char *name)
{
    uint32_t text = add_text(k, name);

    if (text == NONE || VECTOR_ROOM(&k->parts) < 0 ||
        hash_table_add(&k->table, hash_bytes(k->seed, name, strlen(name)),
                       (uint32_t)k->parts.count) < 0)
        return NULL;
    k->parts.at[k->parts.count] = (struct kallsyms_part){text, NONE, NONE};
    return &k->parts.at[k->parts.count++];
}

static int add_line(struct kallsyms *k, uint64_t address, const char *name, const char *module)
{
    struct kallsyms_part *part = find_part(k, module);
    uint32_t number = (uint32_t)k->lines.count, text = add_text(k, name);

    if (!part)
        part = new_part(k, module);
    if (!part || text == NONE || number == NONE || VECTOR_ROOM(&k->lines) < 0)
        return SPE_ERR_NOMEM;
    k->lines.at[k->lines.count++] = (struct kallsyms_line){address, text, NONE};
    if (part->first == NONE)
        part->first = number;
    else
        k->lines.at[part->last].next = number;
    part->last = number;
    return SPE_OK;
}

static int read_lines(struct kallsyms *k)
{
    FILE *file = dso_open_kallsyms(k->path);
    char *line = NULL, *name, *module;
    size_t size = 0;
    uint64_t address;
    int result = SPE_OK;

    if (!file)
        return SPE_ERR_IO;
    while (result >= 0 && getline(&line, &size, file) > 0) {
        if (parse_line(line, &address, &name, &module))
            result = add_line(k, address, name, module);
    }
    if (result >= 0 && !feof(file) && !ferror(file))
        result = SPE_ERR_NOMEM; /* no room for the line */
    free(line);
    fclose(file);
    return result;
}

struct kallsyms *kallsyms_read(struct kallsyms_files *files, const char *path)
{
    struct kallsyms *k;

    for (size_t i = 0; i < files->list.count; i++) {
        if (!strcmp(files->list.at[i]->path, path))
            return files->list.at[i];
    }
    k = POINTER_ROOM(&files->list) < 0 ? NULL : calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->seed = hash_seed();
    k->path = strdup(path);
    k->error = k->path ? read_lines(k) : SPE_ERR_NOMEM;
    if (!k->path) {
        free(k);
        return NULL;
    }
    files->list.at[files->list.count++] = k;
    return k;
}

static bool hides_addresses(const struct kallsyms *k, const struct kallsyms_part *part)
{
    uint64_t any = 0;

    for (uint32_t i = part->first; i != NONE; i = k->lines.at[i].next)
        any |= k->lines.at[i].address;
    return !any;
}

int symtab_take_kallsyms(struct symtab *t, const struct kallsyms *k, const char *module)
{
    const struct kallsyms_part *part = find_part(k, module);
    int count = 0;

    if (k->error < 0 || !part)
        return k->error;
    if (hides_addresses(k, part))
        return SPE_ERR_FORMAT; /* from who copied it */
    for (uint32_t i = part->first; i != NONE; i = k->lines.at[i].next) {
        const struct kallsyms_line *line = &k->lines.at[i];

        if (symtab_add(t, k->text.at + line->name, line->address, 0, SYMBOL_FUNCTION, 0) < 0)
            return SPE_ERR_NOMEM;
        count++;
    }
    return count;
}

static const struct symbol *symbol_by_name(const struct symtab *t, const char *name)
{
    for (size_t i = 0; i < t->functions.count; i++) {
        if (!strcmp(t->names.at + t->functions.at[i].name, name))
            return &t->functions.at[i];
    }
    for (size_t i = 0; i < t->objects.count; i++) {
        if (!strcmp(t->names.at + t->objects.at[i].name, name))
            return &t->objects.at[i];
    }
    return NULL;
}

static void refuse(const struct dsos *d, struct dso *dso, const char *path, const char *why)
{
    symtab_free(&dso->symbols);
    dso->state = SPE_DSO_REFUSED;
    if (!dso->warning)
        dso->warning = dso_text(d, "%s %s: its symbols are not used", path, why);
}

void module_name(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    snprintf(out, size, "%s", name[0] == '[' ? name + 1 : name);
    out[strcspn(out, name[0] == '[' ? "]" : ".")] = 0;
    for (; *out; out++) {
        if (*out == '-')
            *out = '_';
    }
}

/* The kernel dso knows the reference; modules are of the same boot if it matches. */
static const struct dso *kernel_of(const struct dsos *d, const struct dso *dso)
{
    return dso->kind != DSO_KERNEL && d->kernel ? d->list.at[d->kernel - 1] : dso;
}

/* Is the recording's reference symbol where the file has it? What cannot be read, or hides its
 * addresses, is told when it is used. */
static bool has_reference(const struct kallsyms *k, const char *name, uint64_t address)
{
    const struct kallsyms_part *part = find_part(k, "");
    const struct kallsyms_line *lines = k->lines.at;

    if (k->error < 0 || (part && hides_addresses(k, part)))
        return true;
    for (uint32_t i = part && lines ? part->first : NONE; i != NONE; i = lines[i].next) {
        if (!strcmp(k->text.at + lines[i].name, name))
            return lines[i].address == address;
    }
    return false;
}

/* Under the lock. */
static bool same_boot(const struct dsos *d, const struct dso *kernel, struct kallsyms *k)
{
    const char *name = strings_at(d->strings, kernel->reference_name);

    if (kernel->kind != DSO_KERNEL || !kernel->reference || !name[0])
        return d->kallsyms && !strcmp(k->path, d->kallsyms); /* who gives it should know */
    if (k->kernel != kernel) {
        k->kernel = kernel;
        k->same_boot = has_reference(k, name, kernel->reference);
    }
    return k->same_boot;
}

static bool use_kallsyms(const struct dsos *d, struct dso *dso, const char *path)
{
    char module[256] = "";
    struct kallsyms *k;
    bool same;
    int count;

    if (dso->kind != DSO_KERNEL)
        module_name(strings_at(d->strings, dso->path), module, sizeof(module));
    if (access(path, R_OK) < 0 || (dso->kind != DSO_KERNEL && !module[0]))
        return false;
    pthread_mutex_lock(&d->kallsyms_files->lock);
    k = kallsyms_read(d->kallsyms_files, path);
    same = k && same_boot(d, kernel_of(d, dso), k);
    pthread_mutex_unlock(&d->kallsyms_files->lock);
    if (!k)
        names_missing(d->strings, SPE_ERR_NOMEM);
    else if (!same)
        refuse(d, dso, path, "is, or may be, of another kernel or boot");
    if (!same)
        return false;
    count = symtab_take_kallsyms(&dso->symbols, k, module);
    if (count <= 0) {
        if ((count == SPE_ERR_NOMEM && !dso->symbols.full) || count == SPE_ERR_IO)
            names_missing(d->strings, count);
        if (count == SPE_ERR_FORMAT)
            refuse(d, dso, path, "hides its addresses");
        symtab_free(&dso->symbols);
        return false;
    }
    dso->file = dso_text(d, "%s", path);
    dso->state = SPE_DSO_UNVERIFIED;
    return true;
}

/* ---- vmlinux -------------------------------------------------------------------------------- */

static bool use_vmlinux(const struct dsos *d, struct dso *dso, const char *path)
{
    const char *name = strings_at(d->strings, dso->reference_name);
    uint8_t state = SPE_DSO_MISSING;
    const struct symbol *symbol;
    int fd = dso_open_checked(d, dso, path, &state, &dso->warning);

    if (state != SPE_DSO_MISSING)
        dso->state = state;
    if (fd < 0)
        return false;
    if (symtab_read(&dso->symbols, fd, DSO_KERNEL) == SPE_ERR_NOMEM && !dso->symbols.full)
        names_missing(d->strings, SPE_ERR_NOMEM);
    close(fd);
    symbol = dso->reference && name[0] ? symbol_by_name(&dso->symbols, name) : NULL;
    if (symbol)
        dso->symbols.kernel_shift = dso->reference - symbol->start;
    if (dso->reference && name[0] && !symbol) { /* where it was loaded is not known */
        refuse(d, dso, path, "lacks the recording's reference symbol");
        return false;
    }
    dso->file = dso_text(d, "%s", path);
    return true;
}

/* ---- Files of modules ----------------------------------------------------------------------- */

/* Backwards by name, so that updates/ comes before kernel/, as for modprobe. */
static int compare_entries(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*b)->fts_name, (*a)->fts_name);
}

static bool is_file_of(const FTSENT *entry, const char *module)
{
    char name[256];

    if (entry->fts_info != FTS_F || !strstr(entry->fts_name, ".ko"))
        return false;
    module_name(entry->fts_name, name, sizeof(name));
    return !strcmp(name, module);
}

static char *find_module(const struct dsos *d, char *directory, const char *module)
{
    char *const roots[] = {directory, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_entries);
    char *found = NULL;
    FTSENT *entry;

    while (tree && !found && (entry = fts_read(tree))) {
        if (is_file_of(entry, module))
            found = dso_text(d, "%s", entry->fts_path);
    }
    if (tree)
        fts_close(tree);
    return found;
}

char *module_file(const struct dsos *d, const struct dso *dso)
{
    static const char *const trees[] = {"/lib/modules", "/usr/lib/modules"};
    char module[256], *directory, *found = NULL;

    if (dso->kind != DSO_MODULE || !d->release || !d->release[0] || d->release[0] == '.' ||
        strchr(d->release, '/'))
        return NULL;
    module_name(strings_at(d->strings, dso->path), module, sizeof(module));
    for (size_t i = 0; i < 2 && !found; i++) {
        directory = dso_text(d, "%s%s/%s/", d->symfs ? d->symfs : "", trees[i], d->release);
        found = directory ? find_module(d, directory, module) : NULL;
        free(directory);
    }
    return found;
}

static bool use_module(const struct dsos *d, struct dso *dso)
{
    int fd = dso_open(d, dso, &dso->file);

    if (fd < 0)
        return false;
    dso->symbols.relative = true;
    if (symtab_read(&dso->symbols, fd, DSO_MODULE) == SPE_ERR_NOMEM && !dso->symbols.full)
        names_missing(d->strings, SPE_ERR_NOMEM);
    close(fd);
    return true;
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* Does the recorded kernel run here? */
static bool runs_here(const struct dso *kernel)
{
    uint8_t notes[4096];
    int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, notes, sizeof(notes));

    if (fd >= 0)
        close(fd);
    return kernel->id_size >= 8 && size > 0 &&
           memmem(notes, (size_t)size, kernel->id, kernel->id_size);
}

static bool use_cache(const struct dsos *d, struct dso *dso, const struct dso *kernel)
{
    char *kallsyms = build_id_path(d, d->debug_dir, kernel->id, kernel->id_size, "/kallsyms");
    char *vmlinux = dso->kind == DSO_KERNEL
                        ? build_id_path(d, d->debug_dir, dso->id, dso->id_size, "/vmlinux")
                        : NULL;
    char *elf = dso->kind == DSO_KERNEL
                    ? build_id_path(d, d->debug_dir, dso->id, dso->id_size, "/elf")
                    : NULL;
    bool used = (vmlinux && use_vmlinux(d, dso, vmlinux)) || (elf && use_vmlinux(d, dso, elf)) ||
                (kallsyms && use_kallsyms(d, dso, kallsyms));

    free(kallsyms);
    free(vmlinux);
    free(elf);
    return used;
}

void dso_load_kernel(const struct dsos *d, struct dso *dso)
{
    const struct dso *kernel = kernel_of(d, dso);
    char *found = NULL;
    bool used = false;

    dso->state = SPE_DSO_MISSING;
    if (dso->kind == DSO_KERNEL && d->vmlinux)
        used = use_vmlinux(d, dso, d->vmlinux);
    if (!used && d->kallsyms)
        used = use_kallsyms(d, dso, d->kallsyms);
    if (!used)
        used = use_cache(d, dso, kernel);
    if (!used && runs_here(kernel))
        used = use_kallsyms(d, dso, "/proc/kallsyms");
    if (!used && dso->kind == DSO_MODULE)
        used = use_module(d, dso);
    if (!used && dso->kind == DSO_KERNEL && d->debuginfod && dso->id_size) {
        found = debuginfod_find(dso->id, dso->id_size, true);
        used = found && use_vmlinux(d, dso, found);
        free(found);
    }
    if (used && dso->warning) {
        free(dso->warning);
        dso->warning = NULL;
    }
}
