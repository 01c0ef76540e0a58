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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile_internal.h"

#define CACHE 16384

#ifndef DW_AT_GNU_discriminator /* GCC's and LLVM's, of an inlined call */
#define DW_AT_GNU_discriminator 0x2136
#endif

struct unit_range {
    uint64_t start, end;
    Dwarf_Off die;
};

struct lines {
    int fd;
    Dwarf *dwarf; /* NULL: no debug information */
    VECTOR(struct unit_range) units;
};

static int compare_units(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static int add_unit(struct lines *l, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        if (VECTOR_ROOM(&l->units) < 0)
            return SPE_ERR_NOMEM;
        l->units.at[l->units.count++] = (struct unit_range){start, end, dwarf_dieoffset(die)};
    }
    return SPE_OK;
}

static void list_units(struct lines *l)
{
    Dwarf_CU *unit = NULL;
    uint8_t type;
    Dwarf_Die die;

    while (dwarf_get_units(l->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        if (type != DW_UT_type && type != DW_UT_split_type && add_unit(l, &die) < 0)
            break;
    }
    if (l->units.count)
        qsort(l->units.at, l->units.count, sizeof(l->units.at[0]), compare_units);
}

/* The mapped file itself, if it has lines; else its debug file. */
static void open_dwarf(struct spe_profile *p, struct dso *dso, struct lines *l)
{
    char *file = NULL;
    uint8_t state;
    char *warning = NULL;

    for (int i = 0; i < 2 && !l->dwarf; i++) {
        if (i == 0)
            l->fd = dso->file ? dso_open_checked(dso, dso->file, &state, &warning) : -1;
        else
            l->fd = dso->kind == DSO_FILE ? dso_open_debug(&p->dsos, dso, &file) : -1;
        if (l->fd < 0)
            continue;
        l->dwarf = dwarf_begin(l->fd, DWARF_C_READ);
        if (l->dwarf)
            list_units(l);
        if (l->dwarf && !l->units.count) {
            dwarf_end(l->dwarf);
            l->dwarf = NULL;
        }
        if (!l->dwarf) {
            close(l->fd);
            l->fd = -1;
        }
    }
    free(file);
    free(warning);
}

static struct lines *lines_of(struct spe_profile *p, struct dso *dso)
{
    dso_load(&p->dsos, dso);
    if (dso->lines)
        return dso->lines;
    dso->lines = calloc(1, sizeof(*dso->lines));
    if (!dso->lines)
        return NULL;
    dso->lines->fd = -1;
    if (dso->state == SPE_DSO_VERIFIED || dso->state == SPE_DSO_UNVERIFIED)
        open_dwarf(p, dso, dso->lines);
    return dso->lines;
}

void lines_close(struct lines *l)
{
    if (!l)
        return;
    if (l->dwarf)
        dwarf_end(l->dwarf);
    if (l->fd >= 0)
        close(l->fd);
    free(l->units.at);
    free(l);
}

static bool find_unit(struct lines *l, uint64_t address, Dwarf_Die *die)
{
    size_t low = 0, high = l->units.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (l->units.at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < l->units.at[low - 1].end &&
           dwarf_offdie(l->dwarf, l->units.at[low - 1].die, die);
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

static uint32_t read_line(struct spe_profile *p, struct dso *dso, uint32_t dso_id, uint64_t address)
{
    struct lines *l = lines_of(p, dso);
    struct spe_profile_line line = {.dso = dso_id};
    Dwarf_Line *found;
    const char *file;
    Dwarf_Die unit;
    int number = 0;

    if (!l || !l->dwarf || !find_unit(l, address, &unit))
        return SPE_NO_ID;
    found = dwarf_getsrc_die(&unit, address);
    file = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
    if (!file)
        return SPE_NO_ID;
    dwarf_lineno(found, &number);
    line.file = strings_add(&p->strings, file);
    line.line = number > 0 ? (uint32_t)number : 0;
    return line.file == NONE ? SPE_NO_ID : line_id(&p->lines, &line);
}

uint32_t lines_find(struct spe_profile *p, struct dso *dso, uint32_t dso_id, uint64_t address)
{
    struct line_cache_entry *entry;

    if (!p->lines.cache) {
        p->lines.cache = malloc(CACHE * sizeof(*entry));
        if (!p->lines.cache)
            return SPE_NO_ID;
        memset(p->lines.cache, 0xff, CACHE * sizeof(*entry));
    }
    entry = &p->lines.cache[((address >> 2) * 0x9e3779b97f4a7c15u >> 40 ^ dso_id) % CACHE];
    if (entry->address != address || entry->dso != dso_id)
        *entry = (struct line_cache_entry){address, dso_id, read_line(p, dso, dso_id, address)};
    return entry->line;
}

/* ---- Inlined functions ---------------------------------------------------------------------- */

static uint32_t text(struct spe_profile *p, const char *string)
{
    return strings_add(&p->strings, string ? string : "");
}

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

/* Other compilers count pieces of code, and that is all. */
static void set_discriminator(Dwarf_Die *unit, uint32_t discriminator,
                              struct spe_profile_frame *frame)
{
    Dwarf_Attribute attribute;
    const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));

    frame->discriminator = discriminator;
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

static int walk_scopes(struct spe_profile *p, Dwarf_Die *scopes, int count, Dwarf_Die *unit,
                       struct spe_profile_frame frame, struct spe_profile_frame *frames, size_t max)
{
    int found = 0;

    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);

        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        name_frame(p, &scopes[i], &frame);
        if ((size_t)found < max)
            frames[found] = frame;
        found++;
        if (tag == DW_TAG_subprogram)
            break;
        call_site(p, &scopes[i], unit, &frame);
    }
    return found;
}

/* What holds the pc, from the innermost outwards. dwarf_getscopes leaves the nest of calls for the
 * nest of definitions at an inlined function: its first is right, and leads to the others. */
static int find_scopes(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes)
{
    Dwarf_Die *inner = NULL;
    int count = dwarf_getscopes(unit, address, &inner);

    *scopes = NULL;
    count = count > 0 ? dwarf_getscopes_die(&inner[0], scopes) : 0;
    free(inner);
    return count;
}

int spe_profile_inlines_at(struct spe_profile *profile, uint32_t dso, uint64_t address,
                           struct spe_profile_frame *frames, size_t max)
{
    struct dso *file = dso < profile->dsos.list.count ? profile->dsos.list.at[dso] : NULL;
    struct lines *l = file ? lines_of(profile, file) : NULL;
    struct spe_profile_frame frame = {0};
    Dwarf_Die unit, *scopes;
    int count;

    if (!l || !l->dwarf || !find_unit(l, address, &unit))
        return 0;
    line_place(profile, &unit, address, &frame);
    count = find_scopes(&unit, address, &scopes);
    count = walk_scopes(profile, scopes, count, &unit, frame, frames, max);
    free(scopes);
    return count;
}
