/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Names of code that was made at run time: its memory has no file, but many runtimes write a line
 * "START SIZE name" (hexadecimal) for each function to /tmp/perf-PID.map. Lines have no time: of
 * those that overlap the last one counts, where it lies, since memory of old code is used again.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spaces.h"
#include "names_internal.h"

#define JIT_LINES (1u << 21) /* each takes up to 80 bytes while they are put in order */

/* A line, without what is too long for a name. False at the end. */
static bool next_line(FILE *file, char *line, size_t size)
{
    size_t count = 0;
    int c;

    while ((c = getc_unlocked(file)) != EOF && c != '\n') {
        if (count < size - 1)
            line[count++] = (char)c;
    }
    line[count] = 0;
    return c != EOF || count;
}

static const char *parse_line(const char *line, uint64_t *start, uint64_t *size)
{
    char *end;

    if (!isxdigit((unsigned char)line[0]))
        return NULL;
    *start = strtoull(line, &end, 16);
    if (end[0] != ' ' || !isxdigit((unsigned char)end[1]))
        return NULL;
    *size = strtoull(end + 1, &end, 16);
    if (end[0] != ' ' || !end[1] || !*size || *size > UINT64_MAX - *start)
        return NULL;
    return end + 1;
}

/* Every address as its last line has it: in the tree the name stands for the map. */
static int read_lines(struct symtab *t, FILE *file, struct spaces *tree, uint32_t *root)
{
    char line[STRING_MAX + 40];
    uint64_t start, size;
    uint32_t name, count = 0;

    while (next_line(file, line, sizeof(line))) {
        const char *text = parse_line(line, &start, &size);

        if (!text)
            continue;
        if (count++ == JIT_LINES)
            return SPE_ERR_NOSPACE;
        if (symtab_name(t, text, &name) < 0)
            return SPE_ERR_NOMEM;
        *root = spaces_assign(tree, *root, 1, start, start + size, name);
        if (*root == NONE)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static int add_symbols(struct symtab *t, const struct spaces *tree, uint32_t root)
{
    struct map_view view = {.last = UINT64_MAX};

    do {
        view = spaces_view(tree, root, view.last + 1);
        if (view.map == NONE)
            continue;
        if (VECTOR_ROOM(&t->functions) < 0)
            return SPE_ERR_NOMEM;
        t->functions.at[t->functions.count++] = (struct symbol){
            .start = view.first, .end = view.last + 1, .name = view.map, .kind = SYMBOL_FUNCTION};
    } while (view.last != UINT64_MAX);
    return SPE_OK;
}

int symtab_read_jit(struct symtab *t, FILE *file)
{
    struct spaces tree = {0};
    uint32_t root = 0;
    int result = spaces_init(&tree);

    if (result == SPE_OK)
        result = read_lines(t, file, &tree, &root);
    if (result != SPE_ERR_NOMEM && add_symbols(t, &tree, root) < 0)
        result = SPE_ERR_NOMEM;
    free(tree.nodes.at);
    return result;
}

void dso_load_jit(const struct dsos *d, struct dso *dso)
{
    char *path = dso_below(d, strings_at(d->strings, dso->path));
    const char *why = NULL;
    int fd = path ? dso_opened(d, dso_open_own(path, &why)) : -1, result;
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (fd >= 0 && !file)
        names_missing(d->strings, SPE_ERR_NOMEM);
    dso->state = why ? SPE_DSO_REFUSED : SPE_DSO_ANONYMOUS;
    if (why)
        dso->warning = dso_text(d, "%s %s: its names are not used", path, why);
    if (file) {
        dso->state = SPE_DSO_UNVERIFIED;
        result = symtab_read_jit(&dso->symbols, file);
        if (result == SPE_ERR_NOSPACE)
            dso->warning =
                dso_text(d, "%s has too many lines: names of the last ones are missing", path);
        else if (result < 0 && !dso->symbols.full)
            names_missing(d->strings, result);
        fclose(file);
        dso->file = path;
        return;
    }
    if (fd >= 0)
        close(fd);
    free(path);
}
