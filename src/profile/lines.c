/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Source lines and inlined functions out of DWARF, through libdw. A file's compilation units are
 * listed once, by address; their line tables are read when an address in them is asked for. All of
 * it happens on the caller's thread, so that ids do not depend on how many threads there are (and
 * libdw is not made for several).
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile_internal.h"

#define CACHE 16384

#ifndef DW_AT_GNU_discriminator /* GCC's and LLVM's, of an inlined call */
#define DW_AT_GNU_discriminator 0x2136
#endif

#define SCOPES_MAX 256 /* functions that are inlined into each other */
#define DEPTH_MAX 64   /* namespaces and types in each other */

/* Code, and what it belongs to. */
struct code_range {
    uint64_t start, end;
    uint64_t what; /* a function: offset of its DIE; a unit: index in units */
};

struct code_ranges {
    struct code_range *at; /* ascending by start, once sorted */
    size_t count, capacity;
};

struct unit {
    Dwarf_Off die;
    bool listed; /* functions are */
    struct code_ranges functions;
};

struct lines {
    int fd, other_fd;
    Dwarf *dwarf; /* NULL: no debug information */
    Dwarf *other; /* what several files share (dwz), or NULL */
    VECTOR(struct unit) units;
    struct code_ranges code; /* of units */
};

/* ---- Units and functions -------------------------------------------------------------------- */

static int compare_ranges(const void *a, const void *b)
{
    const struct code_range *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void sort_ranges(struct code_ranges *r)
{
    if (r->count)
        qsort(r->at, r->count, sizeof(r->at[0]), compare_ranges);
}

static int add_ranges(struct code_ranges *r, Dwarf_Die *die, uint64_t what)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        if (VECTOR_ROOM(r) < 0)
            return SPE_ERR_NOMEM;
        r->at[r->count++] = (struct code_range){start, end, what};
    }
    return SPE_OK;
}

static const struct code_range *find_range(const struct code_ranges *r, uint64_t address)
{
    size_t low = 0, high = r->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < r->at[low - 1].end ? &r->at[low - 1] : NULL;
}

static void list_units(const struct dsos *d, struct lines *l)
{
    Dwarf_CU *unit = NULL;
    uint8_t type;
    Dwarf_Die die;

    while (dwarf_get_units(l->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        if (type == DW_UT_type || type == DW_UT_split_type)
            continue;
        if (VECTOR_ROOM(&l->units) < 0 || add_ranges(&l->code, &die, l->units.count) < 0) {
            names_missing(d->strings, SPE_ERR_NOMEM);
            break;
        }
        l->units.at[l->units.count++] = (struct unit){.die = dwarf_dieoffset(&die)};
    }
    sort_ranges(&l->code);
}

static bool may_hold_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/* Functions are where they are declared with some compilers: in namespaces and types. */
static int list_functions(struct code_ranges *r, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;
    int more = depth < DEPTH_MAX ? dwarf_child(parent, &die) : 1, result = SPE_OK;

    for (; more == 0 && result == SPE_OK; more = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_subprogram)
            result = add_ranges(r, &die, dwarf_dieoffset(&die));
        else if (may_hold_functions(tag))
            result = list_functions(r, &die, depth + 1);
    }
    return result;
}

/* Below a root, else beside the file that names it. */
static char *shared_path(const struct dsos *d, const char *name, const char *file)
{
    const char *slash = strrchr(file, '/');

    if (name[0] == '/')
        return dso_below(d, name);
    return dso_text(d, "%.*s%s", slash ? (int)(slash - file + 1) : 0, file, name);
}

/* What dwz has moved to a file that several share (.gnu_debugaltlink) is part of this one. libdw
 * looks for it, but not below the root of another machine. */
static void open_shared(const struct dsos *d, struct lines *l, const char *file)
{
    const char *name;
    const void *id;
    ssize_t size = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &id);
    char *root, *path;

    if (size <= 0 || size > SPE_PERF_BUILD_ID_MAX)
        return;
    root = dso_below(d, DEBUG_ROOT);
    for (int i = 0; i < 2 && !l->other; i++) {
        path = i ? shared_path(d, name, file) : build_id_path(d, root, id, (size_t)size, ".debug");
        l->other_fd = path ? dso_open_regular(d, path) : -1;
        free(path);
        if (l->other_fd < 0)
            continue;
        if (has_build_id(l->other_fd, id, (size_t)size))
            l->other = dwarf_begin(l->other_fd, DWARF_C_READ);
        if (!l->other)
            close(l->other_fd);
    }
    if (l->other)
        dwarf_setalt(l->dwarf, l->other);
    free(root);
}

static void close_dwarf(struct lines *l)
{
    if (l->dwarf)
        dwarf_end(l->dwarf);
    if (l->fd >= 0)
        close(l->fd);
    if (l->other) {
        dwarf_end(l->other);
        close(l->other_fd);
    }
    l->dwarf = l->other = NULL;
    l->fd = -1;
    while (l->units.count)
        free(l->units.at[--l->units.count].functions.at);
}

/* Takes a file that has lines. */
static void use_file(const struct dsos *d, struct lines *l, int fd, const char *file)
{
    l->fd = fd;
    l->dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
    if (l->dwarf) {
        open_shared(d, l, file);
        list_units(d, l);
    }
    if (!l->code.count)
        close_dwarf(l);
}

/* The mapped file itself, if it has lines; else its debug file. Lines of a module would have to be
 * relocated first. */
static void open_dwarf(struct spe_profile *p, struct dso *dso, struct lines *l)
{
    char *file = NULL, *warning = NULL;
    uint8_t state;

    if (dso->file && (dso->kind == DSO_FILE || dso->kind == DSO_KERNEL))
        use_file(&p->dsos, l, dso_open_checked(&p->dsos, dso, dso->file, &state, &warning),
                 dso->file);
    if (!l->dwarf && dso->kind == DSO_FILE)
        use_file(&p->dsos, l, dso_open_debug(&p->dsos, dso, &file, &warning), file);
    free(file);
    free(warning);
}

static struct lines *lines_of(struct spe_profile *p, struct dso *dso)
{
    dso_load(&p->dsos, dso);
    if (dso->lines)
        return dso->lines;
    dso->lines = calloc(1, sizeof(*dso->lines));
    if (!dso->lines) {
        names_missing(&p->strings, SPE_ERR_NOMEM);
        return NULL;
    }
    dso->lines->fd = -1;
    if (dso->state == SPE_DSO_VERIFIED || dso->state == SPE_DSO_UNVERIFIED)
        open_dwarf(p, dso, dso->lines);
    return dso->lines;
}

void lines_close(struct lines *l)
{
    if (!l)
        return;
    close_dwarf(l);
    free(l->units.at);
    free(l->code.at);
    free(l);
}

static struct unit *find_unit(struct lines *l, uint64_t address, Dwarf_Die *die)
{
    const struct code_range *range = l && l->dwarf ? find_range(&l->code, address) : NULL;
    struct unit *unit = range ? &l->units.at[range->what] : NULL;

    return unit && dwarf_offdie(l->dwarf, unit->die, die) ? unit : NULL;
}

static const struct code_range *find_function(struct spe_profile *p, struct lines *l,
                                              struct unit *unit, Dwarf_Die *unit_die,
                                              uint64_t address, Dwarf_Die *die)
{
    const struct code_range *range;

    if (!unit->listed) {
        if (list_functions(&unit->functions, unit_die, 0) < 0)
            names_missing(&p->strings, SPE_ERR_NOMEM);
        sort_ranges(&unit->functions);
        unit->listed = true;
    }
    range = find_range(&unit->functions, address);
    return range && dwarf_offdie(l->dwarf, range->what, die) ? range : NULL;
}

/* ---- Ids ------------------------------------------------------------------------------------ */

static size_t line_slot(const struct line_table *t, const struct spe_profile_line *line)
{
    size_t mask = t->table.capacity - 1;
    uint64_t hash = (line->file * 0x9e3779b97f4a7c15u ^ line->line) * 0xff51afd7ed558ccdu ^
                    line->dso * 0xc2b2ae3d27d4eb4fu;
    size_t slot = (size_t)(hash >> 20) & mask;

    while (t->table.at[slot] != NONE) {
        const struct spe_profile_line *other = &t->lines.at[t->table.at[slot]];

        if (other->file == line->file && other->line == line->line && other->dso == line->dso)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static int grow_table(struct line_table *t)
{
    size_t capacity = t->table.capacity ? 2 * t->table.capacity : 1024;
    uint32_t *bigger = malloc(capacity * sizeof(uint32_t));

    if (!bigger)
        return SPE_ERR_NOMEM;
    memset(bigger, 0xff, capacity * sizeof(uint32_t));
    free(t->table.at);
    t->table.at = bigger;
    t->table.capacity = capacity;
    for (size_t i = 0; i < t->lines.count; i++)
        t->table.at[line_slot(t, &t->lines.at[i])] = (uint32_t)i;
    return SPE_OK;
}

static uint32_t line_id(struct line_table *t, const struct spe_profile_line *line)
{
    size_t slot;

    if (4 * (t->lines.count + 1) > 3 * t->table.capacity && grow_table(t) < 0)
        return SPE_NO_ID;
    slot = line_slot(t, line);
    if (t->table.at[slot] != NONE)
        return t->table.at[slot];
    if (t->lines.count >= UINT32_MAX || VECTOR_ROOM(&t->lines) < 0)
        return SPE_NO_ID;
    t->lines.at[t->lines.count] = *line;
    t->table.at[slot] = (uint32_t)t->lines.count;
    return (uint32_t)t->lines.count++;
}

static uint32_t text(struct spe_profile *p, const char *string)
{
    uint32_t id = strings_add(&p->strings, string ? string : "");

    if (id == NONE)
        names_missing(&p->strings, SPE_ERR_NOMEM);
    return id;
}

static uint32_t read_line(struct spe_profile *p, struct dso *dso, uint32_t dso_id, uint64_t address)
{
    struct lines *l = lines_of(p, dso);
    struct spe_profile_line line = {.dso = dso_id};
    Dwarf_Line *found;
    const char *file;
    Dwarf_Die unit;
    uint32_t id;
    int number = 0;

    if (!find_unit(l, address, &unit))
        return SPE_NO_ID;
    found = dwarf_getsrc_die(&unit, address);
    file = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
    if (!file)
        return SPE_NO_ID;
    dwarf_lineno(found, &number);
    line.file = text(p, file);
    line.line = number > 0 ? (uint32_t)number : 0;
    id = line.file == NONE ? SPE_NO_ID : line_id(&p->lines, &line);
    if (id == SPE_NO_ID)
        names_missing(&p->strings, SPE_ERR_NOMEM);
    return id;
}

uint32_t lines_find(struct spe_profile *p, struct dso *dso, uint32_t dso_id, uint64_t address)
{
    struct line_cache_entry *entry;

    if (!p->lines.cache) {
        p->lines.cache = malloc(CACHE * sizeof(*entry));
        if (!p->lines.cache) {
            names_missing(&p->strings, SPE_ERR_NOMEM);
            return SPE_NO_ID;
        }
        memset(p->lines.cache, 0xff, CACHE * sizeof(*entry));
    }
    entry = &p->lines.cache[((address >> 2) * 0x9e3779b97f4a7c15u >> 40 ^ dso_id) % CACHE];
    if (entry->address != address || entry->dso != dso_id)
        *entry = (struct line_cache_entry){address, dso_id, read_line(p, dso, dso_id, address)};
    return entry->line;
}

/* ---- Inlined functions ---------------------------------------------------------------------- */

/* LLVM has three numbers in a discriminator, each of 1 bit (it is 0), 7 or 14: the base, how often
 * the code was duplicated, and which copy it is. The first of them; the rest is left. */
static uint32_t take_component(uint32_t *discriminator)
{
    uint32_t d = *discriminator;

    *discriminator = d >> (d & 1 ? 1 : d & 0x40 ? 14 : 7);
    if (d & 1)
        return 0;
    return d & 0x40 ? (d >> 2 & 0xfe0) | (d >> 1 & 0x1f) : d >> 1 & 0x1f;
}

/* Other compilers number pieces of code as they like, and that means nothing to anybody else. */
static void set_discriminator(Dwarf_Die *unit, uint32_t discriminator,
                              struct spe_profile_frame *frame)
{
    Dwarf_Attribute attribute;
    const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));

    frame->discriminator = 0;
    frame->times = 1;
    if (!producer || !strstr(producer, "clang"))
        return;
    frame->discriminator = take_component(&discriminator);
    frame->times = take_component(&discriminator);
    frame->times += !frame->times;
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;

    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) < 0 || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* Where the address is in the innermost function. */
static void line_place(struct spe_profile *p, Dwarf_Die *unit, uint64_t address,
                       struct spe_profile_frame *frame)
{
    Dwarf_Line *found = dwarf_getsrc_die(unit, address);
    unsigned discriminator = 0;
    int line = 0;

    if (found) {
        dwarf_lineno(found, &line);
        dwarf_linediscriminator(found, &discriminator);
    }
    frame->file = text(p, found ? dwarf_linesrc(found, NULL, NULL) : NULL);
    frame->line = line > 0 ? (uint32_t)line : 0;
    set_discriminator(unit, discriminator, frame);
}

/* Where an inlined function was called: the place of the frame around it. */
static void call_site(struct spe_profile *p, Dwarf_Die *inlined, Dwarf_Die *unit,
                      struct spe_profile_frame *frame)
{
    uint32_t file = number_of(inlined, DW_AT_call_file);
    Dwarf_Files *files;
    size_t count;

    frame->line = number_of(inlined, DW_AT_call_line);
    frame->file = text(p, dwarf_hasattr(inlined, DW_AT_call_file) &&
                                  dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count
                              ? dwarf_filesrc(files, file, NULL, NULL)
                              : NULL);
    set_discriminator(unit, number_of(inlined, DW_AT_GNU_discriminator), frame);
}

/* What the function is, out of its definition if this is a copy of it. */
static void name_frame(struct spe_profile *p, Dwarf_Die *die, struct spe_profile_frame *frame)
{
    const char *name = dwarf_diename(die), *linkage;
    Dwarf_Attribute attribute;
    Dwarf_Addr base, end;
    int line = 0;

    linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    if (!linkage)
        linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
    frame->function = text(p, name);
    frame->linkage = text(p, linkage ? linkage : name);
    frame->first_line = dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
    frame->entry = UINT64_MAX;
    if (dwarf_tag(die) == DW_TAG_subprogram && dwarf_entrypc(die, &frame->entry) != 0 &&
        dwarf_ranges(die, 0, &base, &frame->entry, &end) <= 0)
        frame->entry = UINT64_MAX;
}

/* What is inlined at the address, from the function inwards: scopes[0] is the function. */
static int find_scopes(uint64_t address, Dwarf_Die scopes[SCOPES_MAX])
{
    Dwarf_Die die, child;
    int count = 1, more = dwarf_child(&scopes[0], &die);

    while (more == 0 && count < SCOPES_MAX) {
        int tag = dwarf_tag(&die);
        bool inlined = tag == DW_TAG_inlined_subroutine;

        if (!(inlined || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
              tag == DW_TAG_catch_block) ||
            dwarf_haspc(&die, address) <= 0) {
            more = dwarf_siblingof(&die, &die);
            continue;
        }
        if (inlined)
            scopes[count++] = die;
        more = dwarf_child(&die, &child);
        die = child;
    }
    return count;
}

int spe_profile_inlines_at(struct spe_profile *profile, uint32_t dso, uint64_t address,
                           struct spe_profile_frame *frames, size_t max)
{
    struct dso *file = dso < profile->dsos.list.count ? profile->dsos.list.at[dso] : NULL;
    struct lines *l = file ? lines_of(profile, file) : NULL;
    struct spe_profile_frame frame = {0};
    Dwarf_Die scopes[SCOPES_MAX], die;
    struct unit *unit = find_unit(l, address, &die);
    const struct code_range *function =
        unit ? find_function(profile, l, unit, &die, address, &scopes[0]) : NULL;
    int count;

    if (!function)
        return 0;
    count = find_scopes(address, scopes);
    line_place(profile, &die, address, &frame);
    for (int i = 0; i < count && (size_t)i < max; i++) {
        Dwarf_Die *scope = &scopes[count - 1 - i];

        name_frame(profile, scope, &frame);
        frame.start = i == count - 1 ? function->start : 0;
        frame.end = i == count - 1 ? function->end : 0;
        frames[i] = frame;
        call_site(profile, scope, &die, &frame);
    }
    return count;
}
