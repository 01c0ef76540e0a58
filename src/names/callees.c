/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which registers a call changes. AAPCS64 lets a function change X0 to X18, but compilers look into
 * functions of the same file and keep values in registers that these leave alone (GCC: -fipa-ra).
 * So do we: a function changes what its instructions write, and what the functions that it calls
 * change. Each function is looked at once.
 */
#include <stdlib.h>

#include "format/bytes.h"
#include "names/operands.h"
#include "names/types_internal.h"

#define CALLS_DEPTH 12          /* functions that call each other */
#define CALLEE_WORDS (1u << 14) /* of one function */
#define CHANGED_BY_LINKER (UINT32_C(1) << 16 | UINT32_C(1) << 17 | UINT32_C(1) << 30)

struct callee_walk {
    struct dsos *d;
    struct dso *dso;
    struct file_types *file;
    uint64_t entry;
    unsigned depth;
};

static uint32_t changed_by(struct callee_walk *w, uint64_t entry);

static bool holds_pc(Dwarf_Die *function, uint64_t pc)
{
    return dwarf_haspc(function, pc) == 1;
}

/* What one instruction changes, seen from the caller. */
static uint32_t changed_at(struct callee_walk *w, Dwarf_Die *function, const struct operands *o)
{
    switch (o->flow) {
    case FLOW_JUMP:
        return CALL_CHANGES_ALL;
    case FLOW_CALL:
        return o->target == w->entry ? CHANGED_BY_LINKER : changed_by(w, o->target);
    case FLOW_BRANCH:
    case FLOW_MAYBE: /* out of the function it is a call that does not return here */
        return o->target == w->entry || holds_pc(function, o->target) ? o->writes
                                                                      : changed_by(w, o->target);
    default:
        return o->writes;
    }
}

static uint32_t changed_in(struct callee_walk *w, Dwarf_Die *function, uint64_t start, uint64_t end)
{
    size_t words = (end - start) / 4;
    uint8_t *bytes = words <= CALLEE_WORDS ? malloc(4 * words + 1) : NULL;
    bool good = bytes && file_types_code(w->dso, w->file, start, bytes, 4 * words);
    uint32_t changed = good ? 0 : CALL_CHANGES_ALL;

    for (size_t i = 0; good && i < words && changed != CALL_CHANGES_ALL; i++) {
        struct operands o;

        operands_decode(load32(bytes + 4 * i), start + 4 * i, &o);
        changed |= changed_at(w, function, &o) & CALL_CHANGES_ALL;
    }
    free(bytes);
    return changed;
}

static uint32_t look(struct callee_walk *w, uint64_t entry)
{
    struct callee_walk inner = *w;
    Dwarf_Addr base, start, end, first;
    Dwarf_Die function;
    ptrdiff_t at = 0;
    uint32_t changed = CHANGED_BY_LINKER;
    bool any = false;

    inner.entry = entry;
    inner.depth++;
    if (w->depth >= CALLS_DEPTH || !lines_function(w->d, w->dso, entry, &function) ||
        dwarf_entrypc(&function, &first) != 0 || first != entry)
        return CALL_CHANGES_ALL;
    while (changed != CALL_CHANGES_ALL &&
           (at = dwarf_ranges(&function, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        changed |= changed_in(&inner, &function, start, end);
        any = true;
    }
    return any ? changed : CALL_CHANGES_ALL;
}

/* A function that is being looked at is in the table already: it may change everything. */
static uint32_t changed_by(struct callee_walk *w, uint64_t entry)
{
    struct file_types *f = w->file;
    uint64_t hash = hash_number(0, entry);
    size_t cursor = 0;
    uint32_t number, changed;

    if (!entry)
        return CALL_CHANGES_ALL;
    while ((number = hash_table_find(&f->callee_table, hash, &cursor)) != NONE) {
        if (f->callees.at[number].entry == entry)
            return f->callees.at[number].changed;
    }
    number = (uint32_t)f->callees.count;
    if (number == UINT32_MAX / 2 ||
        !file_types_take(f, sizeof(struct callee) + 2 * sizeof(uint64_t)) ||
        VECTOR_ROOM(&f->callees) < 0 || hash_table_add(&f->callee_table, hash, number) < 0)
        return CALL_CHANGES_ALL;
    f->callees.at[f->callees.count++] = (struct callee){entry, CALL_CHANGES_ALL};
    changed = look(w, entry); /* moves the table if it adds to it */
    f->callees.at[number].changed = changed;
    return changed;
}

uint32_t callees_changed(struct dsos *d, struct dso *dso, struct file_types *f, uint64_t entry)
{
    struct callee_walk w = {.d = d, .dso = dso, .file = f};

    return changed_by(&w, entry);
}
