/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Symbols of one file as a table by address, wherever they come from. */
#include <stdlib.h>
#include <string.h>

#include "names_internal.h"

static bool take(struct symtab *t, size_t bytes)
{
    if (t->full || !budget_take(t->budget, bytes)) {
        t->full = true;
        return false;
    }
    t->taken += bytes;
    return true;
}

int symtab_name(struct symtab *t, const char *name, uint32_t *at)
{
    size_t size = strnlen(name, STRING_MAX);

    if (t->names.count > UINT32_MAX - STRING_MAX - 1 || !take(t, size + 1))
        return SPE_ERR_NOMEM;
    while (t->names.capacity < t->names.count + size + 1) {
        if (vector_grow(&t->names.at, &t->names.capacity, t->names.capacity, 1) < 0)
            return SPE_ERR_NOMEM;
    }
    *at = (uint32_t)t->names.count;
    memcpy(t->names.at + *at, name, size);
    t->names.at[*at + size] = 0;
    t->names.count += size + 1;
    return SPE_OK;
}

int symtab_add(struct symtab *t, const char *name, uint64_t start, uint64_t size, unsigned kind,
               unsigned rank)
{
    struct symbol symbol = {.start = start, .kind = (uint8_t)kind, .rank = (uint8_t)rank};

    symbol.end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
    if (!take(t, sizeof(symbol)))
        return SPE_ERR_NOMEM;
    if (kind == SYMBOL_OBJECT ? VECTOR_ROOM(&t->objects) < 0 : VECTOR_ROOM(&t->functions) < 0)
        return SPE_ERR_NOMEM;
    if (t->objects.count + t->functions.count >= SYMBOL_MAX ||
        symtab_name(t, name, &symbol.name) < 0)
        return SPE_ERR_NOMEM;
    if (kind == SYMBOL_OBJECT)
        t->objects.at[t->objects.count++] = symbol;
    else
        t->functions.at[t->functions.count++] = symbol;
    return SPE_OK;
}

/* By address; of several at one address the best first. */
static int compare_symbols(const void *a, const void *b, void *names)
{
    const struct symbol *x = a, *y = b;
    const char *x_name = (const char *)names + x->name, *y_name = (const char *)names + y->name;
    size_t x_size, y_size;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    x_size = strlen(x_name);
    y_size = strlen(y_name);
    if (x_size != y_size)
        return x_size > y_size ? -1 : 1;
    return strcmp(x_name, y_name);
}

/* One symbol an address. Functions without a size reach to the next, unless they lie inside of one:
 * then they are labels, and name nothing that the function does not. Data without a size is a mark
 * (the start of a section, say): it names its own address, and nothing behind it. */
static size_t finish(struct symbol *at, size_t count, char *names)
{
    size_t kept = 0;
    uint64_t covered = 0;

    if (count)
        qsort_r(at, count, sizeof(*at), compare_symbols, names);
    for (size_t i = 0; i < count; i++) {
        bool label = at[i].end == at[i].start && at[i].start < covered;

        if (label || (kept && at[kept - 1].start == at[i].start))
            continue;
        if (at[i].end > covered)
            covered = at[i].end;
        at[kept++] = at[i];
    }
    for (size_t i = 0; i < kept; i++) {
        if (at[i].end != at[i].start)
            continue;
        if (at[i].kind == SYMBOL_OBJECT)
            at[i].end = at[i].start + 1;
        else
            at[i].end = i + 1 < kept ? at[i + 1].start : at[i].start + 4096;
    }
    return kept;
}

/* A table that is not complete would give a name to its neighbours, too. */
static void drop_names(struct symtab *t)
{
    free(t->functions.at);
    free(t->objects.at);
    free(t->names.at);
    memset(&t->functions, 0, sizeof(t->functions));
    memset(&t->objects, 0, sizeof(t->objects));
    memset(&t->names, 0, sizeof(t->names));
    budget_give(t->budget, t->taken);
    t->taken = 0;
}

int symtab_finish(struct symtab *t)
{
    int result;

    if (t->full)
        drop_names(t);
    t->functions.count = finish(t->functions.at, t->functions.count, t->names.at);
    t->objects.count = finish(t->objects.at, t->objects.count, t->names.at);
    result = demangle(t, t->functions.at, t->functions.count);
    return result < 0 ? result : demangle(t, t->objects.at, t->objects.count);
}

void symtab_free(struct symtab *t)
{
    struct budget *budget = t->budget;

    drop_names(t);
    free(t->segments.at);
    memset(t, 0, sizeof(*t));
    t->budget = budget;
}
