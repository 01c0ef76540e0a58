/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What data an address was: a variable, somebody's stack, the heap, a file. And what a load or
 * store accesses, which the names room knows by the instruction.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/types.h"
#include "profile_internal.h"

static const char *const kind_names[] = {
    [SPE_OBJECT_NONE] = "unknown", [SPE_OBJECT_VARIABLE] = "variable", [SPE_OBJECT_STACK] = "stack",
    [SPE_OBJECT_HEAP] = "heap",    [SPE_OBJECT_ANONYMOUS] = "memory",  [SPE_OBJECT_FILE] = "file",
    [SPE_OBJECT_VDSO] = "vdso",    [SPE_OBJECT_KERNEL] = "kernel",
};

const char *spe_object_kind_name(unsigned kind)
{
    return kind < SPE_OBJECT_KINDS ? kind_names[kind] : "unknown";
}

static const char *const reason_names[] = {
    [SPE_ACCESS_KNOWN] = "known",
    [SPE_ACCESS_NO_CODE] = "no file at the pc",
    [SPE_ACCESS_NO_FILE] = "file missing",
    [SPE_ACCESS_NO_DEBUG_INFO] = "no debug info",
    [SPE_ACCESS_NO_VARIABLE] = "no variable",
    [SPE_ACCESS_LOST_TRACK] = "lost track",
    [SPE_ACCESS_SAVED] = "saved register",
    [SPE_ACCESS_TEMPORARY] = "temporary",
    [SPE_ACCESS_CONSTANT] = "constant",
    [SPE_ACCESS_NO_TYPE] = "no type",
    [SPE_ACCESS_OUTSIDE] = "not within one type",
    [SPE_ACCESS_AMBIGUOUS] = "ambiguous",
    [SPE_ACCESS_NO_ACCESS] = "not an access",
    [SPE_ACCESS_TOO_LARGE] = "too large",
};

const char *spe_access_reason_name(unsigned reason)
{
    return reason < SPE_ACCESS_REASONS ? reason_names[reason] : "unknown";
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* ---- Stacks --------------------------------------------------------------------------------- */

static uint32_t process_of(const struct spe_profile *p, uint32_t thread)
{
    return thread < p->tasks.threads.count ? p->tasks.threads.at[thread].process : NONE;
}

int spe_profile_stack(struct spe_profile *p, uint32_t thread, uint64_t address)
{
    if (thread >= p->tasks.threads.count)
        return SPE_ERR_UNKNOWN;
    return thread_stacks_tell(&p->thread_stacks, thread, process_of(p, thread), address);
}

/* Whose stack it is: "[stack]" is that of the first thread of a thread's process, "[stack:4711]" of
 * another one. The child of such a thread has a copy, which is nobody's by name. */
static uint32_t named_thread(const struct spe_profile *p, uint32_t thread, const char *path)
{
    struct task_view view;
    unsigned long tid;
    uint32_t pid =
        thread < p->tasks.threads.count ? p->tasks.threads.at[thread].shown.pid : SPE_NO_TASK;

    if (pid == SPE_NO_TASK)
        return SPE_NO_ID;
    tid = begins(path, "[stack:") ? strtoul(path + strlen("[stack:"), NULL, 10) : pid;
    tasks_view(&p->tasks, tid < SPE_NO_TASK ? (uint32_t)tid : SPE_NO_TASK, UINT64_MAX, &view);
    return view.pid == pid ? view.thread : SPE_NO_ID;
}

/* ---- Objects -------------------------------------------------------------------------------- */

/* Memory that is not a file's, by the name that the kernel gives it. */
static void name_memory(const struct spe_profile *p, uint32_t thread, const char *path,
                        struct spe_profile_object *o)
{
    if (begins(path, "[stack")) {
        o->kind = SPE_OBJECT_STACK;
        o->thread = named_thread(p, thread, path);
    } else if (begins(path, "[heap]")) {
        o->kind = SPE_OBJECT_HEAP;
    } else if (begins(path, VDSO_NAME)) {
        o->kind = SPE_OBJECT_VDSO;
    } else {
        o->kind = SPE_OBJECT_ANONYMOUS;
    }
}

static void name_map(struct spe_profile *p, uint32_t thread, uint64_t address,
                     const struct spe_profile_place *place, struct spe_profile_object *o)
{
    const struct spe_profile_map *map = &p->maps.at[place->map];
    const struct dso *dso = p->dsos.list.at[map->dso];
    const char *path = strings_at(&p->strings, dso->mapped);

    o->name = dso->name;
    o->start = map->start;
    o->size = map->end - map->start;
    o->offset = address - map->start;
    if (dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE || dso->kind == DSO_KSYMBOL)
        o->kind = SPE_OBJECT_KERNEL;
    else if (dso->kind == DSO_FILE && strcmp(path, VDSO_NAME) != 0)
        o->kind = SPE_OBJECT_FILE;
    else
        name_memory(p, thread, path, o);
}

/* A variable by its debug information, else by its symbol. False: there is none. */
static bool name_variable(struct spe_profile *p, uint64_t address,
                          const struct spe_profile_place *place, struct spe_profile_object *o)
{
    struct variable_place v;
    struct spe_profile_symbol s;
    bool symbol =
        place->symbol != SPE_NO_SYMBOL && spe_profile_symbol(p, place->symbol, &s) == SPE_OK;

    if (types_variable(&p->dsos, place->dso, place->address, &v)) {
        o->name = v.name;
        o->type = v.type;
        o->offset = place->address - v.start;
        o->size = v.size;
    } else if (symbol) {
        o->name = strings_add(&p->strings, s.name);
        o->offset = place->in_symbol;
        o->size = s.size;
    } else {
        return false;
    }
    o->kind = SPE_OBJECT_VARIABLE;
    o->start = address - o->offset;
    return true;
}

int spe_profile_object(struct spe_profile *p, uint32_t thread, uint64_t time_ns, uint64_t address,
                       struct spe_profile_object *o)
{
    struct spe_profile_place place;
    uint32_t owner;
    bool known = spe_profile_place(p, thread, time_ns, address, true, &place) == SPE_OK;

    *o = (struct spe_profile_object){.name = SPE_NO_ID,
                                     .dso = known ? place.dso : SPE_NO_ID,
                                     .thread = SPE_NO_ID,
                                     .type = SPE_NO_ID};
    if (known && name_variable(p, address, &place, o))
        return SPE_OK;
    if (known)
        name_map(p, thread, address, &place, o);
    owner = thread_stacks_owner(&p->thread_stacks, process_of(p, thread), address);
    if (owner != NONE && o->kind != SPE_OBJECT_FILE) {
        o->kind = SPE_OBJECT_STACK;
        o->thread = owner;
    }
    if (o->kind == SPE_OBJECT_NONE && address >> 63)
        o->kind = SPE_OBJECT_KERNEL;
    return o->kind == SPE_OBJECT_NONE ? SPE_ERR_UNKNOWN : SPE_OK;
}

static void stack_text(const struct spe_profile *p, const struct spe_profile_object *o, char *text,
                       size_t size)
{
    const struct spe_profile_thread *t = spe_profile_thread(p, o->thread);
    const char *comm = t && t->comm != SPE_NO_ID ? spe_profile_string(p, t->comm) : "";

    if (!t)
        snprintf(text, size, "[stack]");
    else if (*comm)
        snprintf(text, size, "[stack of %s %" PRIu32 "]", comm, t->tid);
    else
        snprintf(text, size, "[stack of thread %" PRIu32 "]", t->tid);
}

static void variable_text(struct spe_profile *p, const struct spe_profile_object *o,
                          uint32_t access_size, char *text, size_t size)
{
    int length = snprintf(text, size, "%s", spe_profile_string(p, o->name));

    if (length < 0 || (size_t)length >= size)
        return;
    if (o->type != SPE_NO_ID && types_path(&p->dsos, o->type, o->offset, access_size + !access_size,
                                           text + length, size - (size_t)length))
        return;
    if (o->offset)
        snprintf(text + length, size - (size_t)length, "+0x%" PRIx64, o->offset);
}

void spe_profile_object_text(struct spe_profile *p, const struct spe_profile_object *o,
                             uint32_t access_size, char *text, size_t size)
{
    const char *name = spe_profile_string(p, o->name);

    switch (o->kind) {
    case SPE_OBJECT_VARIABLE:
        variable_text(p, o, access_size, text, size);
        break;
    case SPE_OBJECT_STACK:
        stack_text(p, o, text, size);
        break;
    case SPE_OBJECT_HEAP:
        snprintf(text, size, "[heap]");
        break;
    case SPE_OBJECT_ANONYMOUS:
        snprintf(text, size, "[anonymous memory]");
        break;
    case SPE_OBJECT_KERNEL:
        snprintf(text, size, "%s", *name ? name : "[kernel]");
        break;
    case SPE_OBJECT_NONE:
        snprintf(text, size, "[unknown]");
        break;
    default:
        snprintf(text, size, "%s", name);
        break;
    }
}

/* ---- Types ---------------------------------------------------------------------------------- */

int spe_profile_access_at(struct spe_profile *p, uint32_t dso, uint64_t address,
                          struct spe_profile_access *access)
{
    *access = (struct spe_profile_access){.reason = SPE_ACCESS_NO_CODE,
                                          .type = SPE_NO_ID,
                                          .member = SPE_NO_ID,
                                          .variable = SPE_NO_ID};
    if (dso < p->dsos.list.count)
        types_access(&p->dsos, dso, address, access);
    return access->type != SPE_NO_ID ? SPE_OK : SPE_ERR_UNKNOWN;
}

int spe_profile_access(struct spe_profile *p, uint32_t map, uint64_t pc,
                       struct spe_profile_access *access)
{
    const struct spe_profile_map *m = spe_profile_map(p, map);

    return spe_profile_access_at(p, m ? m->dso : SPE_NO_ID,
                                 m ? spe_profile_find_address(p, map, pc) : 0, access);
}

int spe_profile_access_of_object(struct spe_profile *p, const struct spe_profile_object *o,
                                 struct spe_profile_access *access)
{
    if (o->kind != SPE_OBJECT_VARIABLE || o->type == SPE_NO_ID ||
        !types_access_of(&p->dsos, o->type, o->offset, access))
        return SPE_ERR_UNKNOWN;
    access->variable = o->name;
    return SPE_OK;
}

int spe_profile_type(struct spe_profile *p, uint32_t id, struct spe_profile_type *type)
{
    return types_type(&p->dsos, id, type);
}

size_t spe_profile_type_count(const struct spe_profile *p)
{
    return types_count(&p->dsos);
}

int spe_profile_member(struct spe_profile *p, uint32_t type, size_t i,
                       struct spe_profile_member *member)
{
    return types_member(&p->dsos, type, i, member);
}
