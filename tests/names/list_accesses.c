/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * list_accesses FILE [PART]: what every load and store of a program's functions (of those that have
 * PART in their names) accesses, by its code alone, one a line, with tabs between
 *
 *     address  file:line  function  reason  type  member  variable  bytes  chain  types  stack
 * steps
 *
 * chain: the innermost type that has a name, and its members that are accessed ("struct a.b;struct
 * a.c"). types: all types around them. stack: 1 if the address comes from the stack pointer. steps:
 * as chain, on all of the way to the members.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/types.h"
#include "profile/profile_internal.h"

#define FUNCTION_MAX 0x10000 /* bytes */

static const char *type_name(struct spe_profile *p, uint32_t id)
{
    struct spe_profile_type type;

    spe_profile_type(p, id, &type);
    return spe_profile_string(p, type.name);
}

static uint32_t without_arrays(struct spe_profile *p, uint32_t id)
{
    struct spe_profile_type type;

    while (spe_profile_type(p, id, &type) == SPE_OK && type.kind == SPE_TYPE_ARRAY)
        id = type.target;
    return id;
}

/* The member of a name, also in members without one; *owner: whose it is. */
static uint32_t find(struct spe_profile *p, uint32_t id, const char *name, uint32_t *owner)
{
    struct spe_profile_member m;
    uint32_t found = SPE_NO_ID;

    for (size_t i = 0; spe_profile_member(p, id, i, &m) == SPE_OK; i++) {
        if (!strcmp(spe_profile_string(p, m.name), name)) {
            if (m.inherited || !strstr(type_name(p, id), "(anonymous)"))
                *owner = id;
            return without_arrays(p, m.type);
        }
    }
    for (size_t i = 0; found == SPE_NO_ID && spe_profile_member(p, id, i, &m) == SPE_OK; i++) {
        struct spe_profile_type type;

        spe_profile_type(p, m.type, &type);
        if (*spe_profile_string(p, m.name) || !type.members)
            continue;
        if (m.inherited)
            *owner = m.type;
        found = find(p, m.type, name, owner);
    }
    return found;
}

/* What is said of the ways down from a type. */
struct ways {
    char types[4096], steps[8192];
};

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format,
                                                      ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* One way down from a type: the innermost type that has a name and its member. */
static void print_way(struct spe_profile *p, uint32_t type, char *path, struct ways *ways)
{
    uint32_t owner = type, next = type;
    char *step, *rest = path, *last = path;

    while (rest) {
        bool array;

        type = next;
        owner = type;
        /* "_vptr.Shape" is one name */
        step = find(p, type, rest, &owner) == SPE_NO_ID ? strsep(&rest, ".") : rest;
        rest = step == rest ? NULL : rest;
        array = strchr(step, '[');
        step[strcspn(step, "[")] = 0;
        next = find(p, type, step, &owner);
        add(ways->types, sizeof(ways->types), ";%s%s%s", type_name(p, owner), array ? ";" : "",
            array ? type_name(p, next) : "");
        add(ways->steps, sizeof(ways->steps), "%s.%s;", type_name(p, owner), step);
        last = step;
    }
    printf("%s.%s;", type_name(p, owner), last);
}

/* "a.{b,c.d}.e" has several ways: the first brace is taken apart. */
static void print_ways(struct spe_profile *p, uint32_t type, const char *path, struct ways *ways)
{
    const char *open = strchr(path, '{'), *at, *end;
    char way[1024];
    int depth = 1;

    if (!open) {
        snprintf(way, sizeof(way), "%s", path);
        print_way(p, type, way, ways);
        return;
    }
    for (at = end = open + 1; *end && depth; end++) {
        depth += *end == '{';
        depth -= *end == '}';
        if (!((*end == ',' && depth == 1) || (*end == '}' && !depth)))
            continue;
        if (strncmp(at, "...", 3) != 0) {
            snprintf(way, sizeof(way), "%.*s%.*s", (int)(open - path), path, (int)(end - at), at);
            print_ways(p, type, way, ways);
        }
        at = end + 1;
    }
}

static void print_chain(struct spe_profile *p, const struct spe_profile_access *access)
{
    const char *path = spe_profile_string(p, access->member);
    struct ways ways = {.steps = ""};

    snprintf(ways.types, sizeof(ways.types), "%s", type_name(p, access->type));
    if (*path)
        print_ways(p, access->type, path, &ways);
    else
        printf("%s", ways.types);
    printf("\t%s\t%d\t%s\n", ways.types, access->stack, ways.steps);
}

static void list(struct spe_profile *p, uint32_t dso, uint64_t address, const char *function)
{
    struct spe_profile_access access;
    struct spe_profile_line line;

    spe_profile_access_at(p, dso, address, &access);
    if (access.reason == SPE_ACCESS_NO_ACCESS || !(access.load || access.store))
        return;
    spe_profile_line(p, lines_find(&p->dsos, p->dsos.list.at[dso], dso, address), &line);
    printf(
        "%" PRIx64 "\t%s:%u\t%s\t%s\t%s\t%s\t%s\t%u\t", address, spe_profile_string(p, line.file),
        line.line, function, spe_access_reason_name(access.reason), type_name(p, access.type),
        spe_profile_string(p, access.member), spe_profile_string(p, access.variable), access.size);
    print_chain(p, &access);
}

int main(int argc, char **argv)
{
    static const uint8_t no_id[1];
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;
    struct spe_profile *p;
    const struct symtab *t;
    uint32_t dso;

    options.raw = true;
    options.debug_dir = "";
    options.no_debuginfod = true;
    if (argc < 2 || argc > 3 || spe_profile_open_memory(&p, "", 0, &options, NULL) != SPE_OK)
        return 2;
    dso = dsos_add(&p->dsos, argv[1], false, 0, no_id, 0);
    dso_load(&p->dsos, p->dsos.list.at[dso]);
    t = &p->dsos.list.at[dso]->symbols;
    for (size_t i = 0; i < t->functions.count; i++) {
        const struct symbol *s = &t->functions.at[i];

        if (argc == 3 && !strstr(t->names.at + s->name, argv[2]))
            continue;
        /* Sizes of a damaged file may be anything. */
        for (uint64_t at = s->start; at < s->end && at - s->start < FUNCTION_MAX; at += 4)
            list(p, dso, at, t->names.at + s->name);
    }
    spe_profile_close(p);
    return 0;
}
