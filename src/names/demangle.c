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

#include "names_internal.h"

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

/* ---- How long it may take ------------------------------------------------------------------- */

/* Bytes of a reference at s: S_, S1A_, T_, T0_; 0 if there is none. */
static size_t reference(const char *s)
{
    size_t size = 1;

    while (isdigit((unsigned char)s[size]) || (s[0] == 'S' && isupper((unsigned char)s[size])))
        size++;
    return s[size] == '_' ? size + 1 : 0;
}

/*
 * A readable name repeats what a reference (S_) stands for, and that may hold references in turn:
 * 400 bytes can stand for more than all memory. Among so many references as the name has, the worst
 * is that each piece is repeated three times in the next: 3 to the power of a third of them. A
 * template parameter (T_) means something else in each place, so the same piece may be inside of
 * itself, but the library stops at the second time: it counts twice, and so do packs. What only
 * looks like a reference counts, too: a few long names stay as they are.
 */
uint64_t demangle_steps(const char *name)
{
    uint64_t steps = strlen(name);
    unsigned count = 0;

    for (const char *s = name; *s; s++) {
        if (*s == 'S' && reference(s))
            count++;
        else if ((*s == 'T' && (reference(s) || s[1] == 'L')) || *s == 'J' ||
                 !strncmp(s, "Dp", 2) || !strncmp(s, "sp", 2) || !strncmp(s, "sP", 2) ||
                 !strncmp(s, "sZ", 2))
            count += 2;
    }
    for (; count >= 3 && steps <= DEMANGLE_MAX; count -= 3)
        steps *= 3;
    return count == 1 ? steps * 3 / 2 : count == 2 ? steps * 9 / 4 : steps;
}

static bool is_affordable(struct budget *b, const char *name)
{
    uint64_t steps = demangle_steps(name);

    return steps <= DEMANGLE_MAX &&
           (!b || atomic_fetch_add_explicit(&b->demangled, steps, memory_order_relaxed) + steps <=
                      DEMANGLE_ALL);
}

/* ---- The library's -------------------------------------------------------------------------- */

static bool is_mangled(const char *name)
{
    return !strncmp(name, "_Z", 2);
}

/* Loading the library takes longer than reading the symbols of a small file. */
static bool any_mangled(const struct symtab *t, const struct symbol *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_mangled(t->names.at + symbols[i].name))
            return true;
    }
    return false;
}

int demangle(struct symtab *t, struct symbol *symbols, size_t count)
{
    void *library =
        any_mangled(t, symbols, count) ? dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL) : NULL;
    demangler *function = NULL;
    int result = SPE_OK;

    if (library) /* ISO C has no way to write it */
        *(void **)&function = dlsym(library, "__cxa_demangle");
    for (size_t i = 0; function && i < count && result == SPE_OK; i++) {
        const char *name = t->names.at + symbols[i].name;
        bool mangled = is_mangled(name) && is_affordable(t->budget, name);
        char *full = mangled ? function(name, NULL, NULL, NULL) : NULL;

        if (full)
            result = symtab_name(t, plain_name(name, full), &symbols[i].name);
        free(full);
    }
    if (library)
        dlclose(library);
    return result;
}
