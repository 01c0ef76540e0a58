/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Names of C++ functions as people write them, without their parameters, as perf shows them. The
 * C++ run-time library does the work, if it is there.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

typedef char *demangler(const char *mangled, char *buffer, size_t *size, int *status);

/* What may stand behind the parameters: " const", " volatile", " &", " &&". */
static size_t without_suffix(const char *name, size_t size)
{
    static const char *const words[] = {" const", " volatile", " &&", " &"};
    size_t before;

    do {
        before = size;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            size_t length = strlen(words[i]);

            if (size > length && !memcmp(name + size - length, words[i], length))
                size -= length;
        }
    } while (size != before);
    return size;
}

/* Where the parameters begin, if the name ends with them; else its end. */
static size_t parameters(const char *name)
{
    size_t size = without_suffix(name, strlen(name)), at = size;
    unsigned depth = 0;

    if (!size || name[size - 1] != ')')
        return strlen(name);
    while (at-- > 0) {
        if (name[at] == ')')
            depth++;
        else if (name[at] == '(' && --depth == 0)
            return at ? at : size;
    }
    return size;
}

/* Rust's older names end with a hash, which says nothing: "::h" and 16 digits. */
static size_t without_hash(const char *name, size_t size)
{
    if (size <= 19 || memcmp(name + size - 19, "::h", 3) != 0)
        return size;
    for (size_t i = size - 16; i < size; i++) {
        if (!isxdigit((unsigned char)name[i]))
            return size;
    }
    return size - 19;
}

/* In front of a function's name there is its type if it is a template: it ends with the last space
 * that is in no brackets, and before the word operator, behind which there may be some. */
static size_t type_before(const char *name, size_t size)
{
    size_t begin = 0;
    unsigned depth = 0;

    for (size_t i = 0; i < size; i++) {
        if (!depth && !strncmp(name + i, "operator", 8) && (!i || strchr(": ", name[i - 1])))
            break;
        if (strchr("(<{[", name[i]))
            depth++;
        else if (strchr(")>}]", name[i]) && depth)
            depth--;
        else if (name[i] == ' ' && !depth)
            begin = i + 1;
    }
    return begin;
}

/* "vtable for x", "virtual thunk to x()" (_ZT, _ZG) stay as they are. */
static char *plain_name(const char *mangled, char *full)
{
    size_t end = without_hash(full, parameters(full)), begin = type_before(full, end);

    if (mangled[2] == 'T' || mangled[2] == 'G')
        return full;
    memmove(full, full + begin, end - begin);
    full[end - begin] = 0;
    return full;
}

int demangle(struct symtab *t, struct symbol *symbols, size_t count)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    demangler *function = NULL;
    int result = SPE_OK;

    if (library) /* ISO C has no way to write it */
        *(void **)&function = dlsym(library, "__cxa_demangle");
    for (size_t i = 0; function && i < count && result == SPE_OK; i++) {
        const char *name = t->names.at + symbols[i].name;
        char *full = strncmp(name, "_Z", 2) ? NULL : function(name, NULL, NULL, NULL);

        if (full)
            result = symtab_name(t, plain_name(name, full), &symbols[i].name);
        free(full);
    }
    if (library)
        dlclose(library);
    return result;
}
