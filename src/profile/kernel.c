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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile_internal.h"

/* ---- kallsyms ------------------------------------------------------------------------------- */

/* "ffff800010080000 T _text" or "... t name\t[module]"; false if it is of another module. */
static bool parse_line(char *line, const char *module, uint64_t *address, char **name)
{
    char *end, *bracket;

    *address = strtoull(line, &end, 16);
    if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !strchr("tTwW", end[1]))
        return false;
    *name = end + 3;
    (*name)[strcspn(*name, "\n")] = 0;
    bracket = strchr(*name, '\t');
    if (bracket)
        *bracket++ = 0;
    if (!module)
        return !bracket && (*name)[0] != '$';
    return bracket && bracket[0] == '[' && !strncmp(bracket + 1, module, strlen(module)) &&
           bracket[1 + strlen(module)] == ']' && (*name)[0] != '$';
}

int symtab_read_kallsyms(struct symtab *t, const char *path, const char *module)
{
    FILE *file = dso_open_kallsyms(path);
    char *line = NULL, *name;
    size_t size = 0;
    uint64_t address, any = 0;
    int count = 0;

    if (!file)
        return SPE_ERR_IO;
    while (count >= 0 && getline(&line, &size, file) > 0) {
        if (!parse_line(line, module, &address, &name))
            continue;
        any |= address;
        count = symtab_add(t, name, address, 0, SYMBOL_FUNCTION, 0) < 0 ? SPE_ERR_NOMEM : count + 1;
    }
    if (count >= 0 && !feof(file) && !ferror(file))
        count = SPE_ERR_NOMEM; /* no room for the line */
    free(line);
    fclose(file);
    if (count > 0 && !any)
        return SPE_ERR_FORMAT; /* addresses are hidden from who copied it */
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
    for (size_t i = 0; dso->kind != DSO_KERNEL && i < d->list.count; i++) {
        if (d->list.at[i]->kind == DSO_KERNEL)
            return d->list.at[i];
    }
    return dso;
}

static bool same_boot(const struct dsos *d, const struct dso *kernel, const char *path)
{
    const char *name = strings_at(d->strings, kernel->reference_name);
    struct symtab all = {0};
    const struct symbol *symbol;
    int result;
    bool same;

    if (kernel->kind != DSO_KERNEL || !kernel->reference || !name[0])
        return path == d->kallsyms; /* nothing to compare with: who gives it should know */
    result = symtab_read_kallsyms(&all, path, NULL);
    if (result < 0) {
        if (result != SPE_ERR_FORMAT && !all.full) /* which will be told when it is read */
            names_missing(d->strings, result);
        symtab_free(&all);
        return true;
    }
    symbol = symbol_by_name(&all, name);
    same = symbol && symbol->start == kernel->reference;
    symtab_free(&all);
    return same;
}

static bool use_kallsyms(const struct dsos *d, struct dso *dso, const char *path)
{
    char module[256];
    int count;

    module_name(strings_at(d->strings, dso->path), module, sizeof(module));
    if (access(path, R_OK) < 0)
        return false;
    if (!same_boot(d, kernel_of(d, dso), path)) {
        refuse(d, dso, path, "is, or may be, of another kernel or boot");
        return false;
    }
    count = symtab_read_kallsyms(&dso->symbols, path, dso->kind == DSO_KERNEL ? NULL : module);
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
