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
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names/types_internal.h"

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
    bool listed;  /* functions are */
    bool counted; /* its lines are part of `taken` */
    bool left_out;
    struct code_ranges functions;
};

/* Debug information with nothing in it. */
struct empty_file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[3];
    char names[32], zeros[8];
};

struct lines {
    int fd, other_fd;
    Dwarf *dwarf;            /* NULL: no debug information */
    Dwarf *other;            /* what several files share (dwz), or NULL */
    struct empty_file empty; /* in place of one that was not found */
    Elf *empty_elf;
    VECTOR(struct unit) units;
    struct code_ranges code; /* of units */
    Elf_Data *programs;      /* .debug_line, or NULL */
    struct budget *budget;
    uint64_t taken; /* of it */
    bool full;
};

/* ---- Memory --------------------------------------------------------------------------------- */

#define LINE_COST 32 /* bytes that libdw takes for a byte of .debug_line */

static bool take(struct lines *l, uint64_t bytes)
{
    if (!budget_take(l->budget, bytes)) {
        l->full = true;
        return false;
    }
    l->taken += bytes;
    return true;
}

/* A section as it was packed before there was a flag for it: "ZLIB" and its size. */
static uint64_t old_packed_size(int fd, const GElf_Shdr *header)
{
    uint8_t start[12];
    uint64_t size = 0;

    if (header->sh_type != SHT_PROGBITS || header->sh_flags & SHF_ALLOC ||
        pread(fd, start, sizeof(start), (off_t)header->sh_offset) != sizeof(start) ||
        memcmp(start, "ZLIB", 4) != 0)
        return 0;
    for (int i = 4; i < 12; i++)
        size = size << 8 | start[i];
    return size;
}

/* libdw unpacks all sections at once, whatever they say they hold. */
static uint64_t unpacked_sections(int fd)
{
    Elf *elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    Elf_Scn *section = NULL;
    uint64_t sum = 0;

    while (elf && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Chdr packed = {0};

        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_flags & SHF_COMPRESSED)
            gelf_getchdr(section, &packed);
        else
            packed.ch_size = old_packed_size(fd, &header);
        sum = packed.ch_size > UINT64_MAX - sum ? UINT64_MAX : sum + packed.ch_size;
    }
    elf_end(elf);
    return sum;
}

/* The file as debug information, if it fits. */
static Dwarf *begin_dwarf(struct lines *l, int fd)
{
    return take(l, unpacked_sections(fd)) ? dwarf_begin(fd, DWARF_C_READ) : NULL;
}

static Elf_Data *line_programs(Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

        if (name && (!strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line")))
            return elf_getdata(section, NULL);
    }
    return NULL;
}

/* How long the unit's line program says it is; not longer than what is there. */
static uint64_t program_size(const struct lines *l, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word at;
    uint64_t left;
    uint8_t start[4];

    if (!l->programs || dwarf_formudata(dwarf_attr(die, DW_AT_stmt_list, &attribute), &at) < 0 ||
        at >= l->programs->d_size || l->programs->d_size - at < sizeof(start))
        return 0;
    left = l->programs->d_size - at;
    memcpy(start, (const uint8_t *)l->programs->d_buf + at, sizeof(start));
    for (int i = 0; i < 2; i++) { /* of either byte order */
        const int order[2][4] = {{3, 2, 1, 0}, {0, 1, 2, 3}};
        uint32_t size = 0;

        for (int j = 0; j < 4; j++)
            size = size << 8 | start[order[i][j]];
        if (size < left)
            return size;
    }
    return left;
}

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

static int add_ranges(struct lines *l, struct code_ranges *r, Dwarf_Die *die, uint64_t what)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (start >= end)
            continue;
        if (!take(l, sizeof(r->at[0])) || VECTOR_ROOM(r) < 0)
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
        if (!take(l, sizeof(struct unit)))
            break;
        if (VECTOR_ROOM(&l->units) < 0 || add_ranges(l, &l->code, &die, l->units.count) < 0) {
            if (!l->full)
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
static int list_functions(struct lines *l, struct code_ranges *r, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die die;
    int more = depth < DEPTH_MAX ? dwarf_child(parent, &die) : 1, result = SPE_OK;

    for (; more == 0 && result == SPE_OK; more = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);

        if (tag == DW_TAG_subprogram)
            result = add_ranges(l, r, &die, dwarf_dieoffset(&die));
        else if (may_hold_functions(tag))
            result = list_functions(l, r, &die, depth + 1);
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

/* A file that was not found is empty, else libdw would look for it by itself, and open whatever the
 * name leads to. False without memory. */
static bool forbid_shared(struct lines *l)
{
    static const struct empty_file empty = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_version = EV_CURRENT,
                   .e_shoff = offsetof(struct empty_file, sections),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 3,
                   .e_shstrndx = 1},
        .sections = {[1] = {.sh_name = 13,
                            .sh_type = SHT_STRTAB,
                            .sh_offset = offsetof(struct empty_file, names),
                            .sh_size = sizeof(empty.names)},
                     [2] = {.sh_name = 1,
                            .sh_type = SHT_PROGBITS,
                            .sh_offset = offsetof(struct empty_file, zeros),
                            .sh_size = sizeof(empty.zeros)}},
        .names = "\0.debug_line\0.shstrtab",
    };

    l->empty = empty;
    l->empty_elf = elf_memory((char *)&l->empty, sizeof(l->empty));
    l->other = l->empty_elf ? dwarf_begin_elf(l->empty_elf, DWARF_C_READ, NULL) : NULL;
    if (l->other)
        dwarf_setalt(l->dwarf, l->other);
    return l->other;
}

/* What dwz has moved to a file that several share (.gnu_debugaltlink) is part of this one. libdw
 * looks for it, but not below the root of another machine. False without memory. */
static bool open_shared(const struct dsos *d, struct lines *l, const char *file)
{
    const char *name;
    const void *id;
    ssize_t size = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &id);
    char *root, *path;

    if (size <= 0)
        return true;
    if (size > SPE_PERF_BUILD_ID_MAX)
        return forbid_shared(l);
    root = dso_below(d, DEBUG_ROOT);
    for (int i = 0; i < 2 && !l->other; i++) {
        path = i ? shared_path(d, name, file) : build_id_path(d, root, id, (size_t)size, ".debug");
        l->other_fd = path ? dso_opened(d, dso_open_regular(path)) : -1;
        free(path);
        if (l->other_fd < 0)
            continue;
        if (has_build_id(l->other_fd, id, (size_t)size))
            l->other = begin_dwarf(l, l->other_fd);
        if (!l->other) {
            close(l->other_fd);
            l->other_fd = -1;
        }
    }
    free(root);
    if (!l->other)
        return forbid_shared(l);
    dwarf_setalt(l->dwarf, l->other);
    return true;
}

static void close_dwarf(struct lines *l)
{
    if (l->dwarf)
        dwarf_end(l->dwarf);
    if (l->fd >= 0)
        close(l->fd);
    if (l->other)
        dwarf_end(l->other);
    if (l->other_fd >= 0)
        close(l->other_fd);
    elf_end(l->empty_elf);
    l->dwarf = l->other = NULL;
    l->empty_elf = NULL;
    l->programs = NULL;
    l->fd = l->other_fd = -1;
    budget_give(l->budget, l->taken);
    l->taken = 0;
    while (l->units.count)
        free(l->units.at[--l->units.count].functions.at);
}

/* Takes a file that has lines. */
static void use_file(const struct dsos *d, struct lines *l, int fd, const char *file)
{
    l->fd = fd;
    l->dwarf = fd >= 0 ? begin_dwarf(l, fd) : NULL;
    if (l->dwarf && open_shared(d, l, file)) {
        l->programs = line_programs(l->dwarf);
        list_units(d, l);
    }
    if (!l->code.count)
        close_dwarf(l);
}

/* The mapped file itself, if it has lines; else its debug file. Lines of a module would have to be
 * relocated first. */
static void open_dwarf(struct dsos *d, struct dso *dso, struct lines *l)
{
    char *file = NULL, *warning = NULL;
    uint8_t state;

    if (dso->file && (dso->kind == DSO_FILE || dso->kind == DSO_KERNEL))
        use_file(d, l, dso_open_checked(d, dso, dso->file, &state, &warning), dso->file);
    if (!l->dwarf && dso->kind == DSO_FILE)
        use_file(d, l, dso_open_debug(d, dso, &file, &warning), file);
    free(file);
    free(warning);
}

static void warn_of_budget(struct dsos *d, const struct dso *dso)
{
    char *text = dso_over_budget(d, dso, "source lines");

    if (text)
        d->warn(d->owner, text);
    free(text);
}

static struct lines *lines_of(struct dsos *d, struct dso *dso)
{
    dso_load(d, dso);
    if (dso->lines)
        return dso->lines;
    dso->lines = calloc(1, sizeof(*dso->lines));
    if (!dso->lines) {
        names_missing(d->strings, SPE_ERR_NOMEM);
        return NULL;
    }
    dso->lines->fd = dso->lines->other_fd = -1;
    dso->lines->budget = d->budget;
    if (dso->state == SPE_DSO_VERIFIED || dso->state == SPE_DSO_UNVERIFIED)
        open_dwarf(d, dso, dso->lines);
    if (dso->lines->full)
        warn_of_budget(d, dso);
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

static const struct code_range *find_function(struct dsos *d, struct lines *l, struct unit *unit,
                                              Dwarf_Die *unit_die, uint64_t address, Dwarf_Die *die)
{
    const struct code_range *range;

    if (!unit->listed) {
        if (list_functions(l, &unit->functions, unit_die, 0) < 0 && !l->full)
            names_missing(d->strings, SPE_ERR_NOMEM);
        sort_ranges(&unit->functions);
        unit->listed = true;
    }
    range = find_range(&unit->functions, address);
    return range && dwarf_offdie(l->dwarf, range->what, die) ? range : NULL;
}

/* ---- Ids ------------------------------------------------------------------------------------ */

static uint32_t line_id(struct line_table *t, const struct spe_profile_line *line)
{
    uint64_t hash;
    size_t cursor = 0;
    uint32_t id;

    if (!t->seed)
        t->seed = hash_seed();
    hash = hash_number(t->seed, (uint64_t)line->file << 32 | line->line);
    hash = hash_number(hash, line->dso);
    while ((id = hash_table_find(&t->table, hash, &cursor)) != UINT32_MAX) {
        const struct spe_profile_line *other = &t->lines.at[id];

        if (other->file == line->file && other->line == line->line && other->dso == line->dso)
            return id;
    }
    id = (uint32_t)t->lines.count;
    if (t->lines.count >= UINT32_MAX || VECTOR_ROOM(&t->lines) < 0 ||
        hash_table_add(&t->table, hash, id) < 0)
        return SPE_NO_ID;
    t->lines.at[t->lines.count++] = *line;
    return id;
}

static uint32_t text(struct dsos *d, const char *string)
{
    uint32_t id = strings_add(d->strings, string ? string : "");

    if (id == NONE)
        names_missing(d->strings, SPE_ERR_NOMEM);
    return id;
}

/* A source file. libdw leaves names relative to where the compiler ran; anybody else's directory
 * would make another file of them. */
static uint32_t file_text(struct dsos *d, Dwarf_Die *unit, const char *file)
{
    const char *directory = NULL;
    Dwarf_Attribute attribute;
    char *path;
    uint32_t id;

    if (file && *file != '/')
        directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    if (!directory)
        return text(d, file);
    if (asprintf(&path, "%s/%s", directory, file) < 0) {
        names_missing(d->strings, SPE_ERR_NOMEM);
        return NONE;
    }
    id = text(d, path);
    free(path);
    return id;
}

/* The line of an address, if those of its unit fit. */
static Dwarf_Line *find_source(struct dsos *d, struct dso *dso, struct unit *unit, Dwarf_Die *die,
                               uint64_t address)
{
    struct lines *l = dso->lines;

    if (!unit->counted) {
        unit->counted = true;
        unit->left_out = !take(l, LINE_COST * program_size(l, die));
        if (unit->left_out)
            warn_of_budget(d, dso);
    }
    return unit->left_out ? NULL : dwarf_getsrc_die(die, address);
}

static uint32_t read_line(struct dsos *d, struct dso *dso, uint32_t dso_id, uint64_t address)
{
    struct lines *l = lines_of(d, dso);
    struct spe_profile_line line = {.dso = dso_id};
    Dwarf_Line *found;
    const char *file;
    struct unit *unit;
    Dwarf_Die die;
    uint32_t id;
    int number = 0;

    unit = find_unit(l, address, &die);
    if (!unit)
        return SPE_NO_ID;
    found = find_source(d, dso, unit, &die, address);
    file = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
    if (!file)
        return SPE_NO_ID;
    dwarf_lineno(found, &number);
    line.file = file_text(d, &die, file);
    line.line = number > 0 ? (uint32_t)number : 0;
    id = line.file == NONE ? SPE_NO_ID : line_id(&d->lines, &line);
    if (id == SPE_NO_ID)
        names_missing(d->strings, SPE_ERR_NOMEM);
    return id;
}

uint32_t lines_find(struct dsos *d, struct dso *dso, uint32_t dso_id, uint64_t address)
{
    struct line_cache_entry *entry;

    if (!d->lines.cache) {
        d->lines.cache = malloc(CACHE * sizeof(*entry));
        if (!d->lines.cache) {
            names_missing(d->strings, SPE_ERR_NOMEM);
            return SPE_NO_ID;
        }
        memset(d->lines.cache, 0xff, CACHE * sizeof(*entry));
    }
    entry = &d->lines.cache[((address >> 2) * 0x9e3779b97f4a7c15u >> 40 ^ dso_id) % CACHE];
    if (entry->address != address || entry->dso != dso_id)
        *entry = (struct line_cache_entry){address, dso_id, read_line(d, dso, dso_id, address)};
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
static void line_place(struct dsos *d, Dwarf_Die *unit, Dwarf_Line *found,
                       struct spe_profile_frame *frame)
{
    unsigned discriminator = 0;
    int line = 0;

    if (found) {
        dwarf_lineno(found, &line);
        dwarf_linediscriminator(found, &discriminator);
    }
    frame->file = file_text(d, unit, found ? dwarf_linesrc(found, NULL, NULL) : NULL);
    frame->line = line > 0 ? (uint32_t)line : 0;
    set_discriminator(unit, discriminator, frame);
}

/* Where an inlined function was called: the place of the frame around it. */
static void call_site(struct dsos *d, Dwarf_Die *inlined, Dwarf_Die *unit, bool has_files,
                      struct spe_profile_frame *frame)
{
    uint32_t file = number_of(inlined, DW_AT_call_file);
    Dwarf_Files *files;
    size_t count;

    frame->line = number_of(inlined, DW_AT_call_line);
    frame->file = file_text(d, unit,
                            has_files && dwarf_hasattr(inlined, DW_AT_call_file) &&
                                    dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count
                                ? dwarf_filesrc(files, file, NULL, NULL)
                                : NULL);
    set_discriminator(unit, number_of(inlined, DW_AT_GNU_discriminator), frame);
}

/* What the function is, out of its definition if this is a copy of it. */
static void name_frame(struct dsos *d, Dwarf_Die *die, struct spe_profile_frame *frame)
{
    const char *name = dwarf_diename(die), *linkage;
    Dwarf_Attribute attribute;
    Dwarf_Addr base, end;
    int line = 0;

    linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    if (!linkage)
        linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
    frame->function = text(d, name);
    frame->linkage = text(d, linkage ? linkage : name);
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

int lines_inlines(struct dsos *d, struct dso *dso, uint64_t address,
                  struct spe_profile_frame *frames, size_t max)
{
    struct lines *l = lines_of(d, dso);
    struct spe_profile_frame frame = {0};
    Dwarf_Die scopes[SCOPES_MAX], die;
    struct unit *unit = find_unit(l, address, &die);
    const struct code_range *function =
        unit ? find_function(d, l, unit, &die, address, &scopes[0]) : NULL;
    int count;

    if (!function)
        return 0;
    count = find_scopes(address, scopes);
    line_place(d, &die, find_source(d, dso, unit, &die, address), &frame);
    for (int i = 0; i < count && (size_t)i < max; i++) {
        Dwarf_Die *scope = &scopes[count - 1 - i];

        name_frame(d, scope, &frame);
        frame.start = i == count - 1 ? function->start : 0;
        frame.end = i == count - 1 ? function->end : 0;
        frames[i] = frame;
        call_site(d, scope, &die, !unit->left_out, &frame);
    }
    return count;
}

/* ---- For types ------------------------------------------------------------------------------- */

Dwarf *lines_dwarf(struct dsos *d, struct dso *dso)
{
    struct lines *l = lines_of(d, dso);

    return l ? l->dwarf : NULL;
}

bool lines_function(struct dsos *d, struct dso *dso, uint64_t address, Dwarf_Die *function)
{
    struct lines *l = lines_of(d, dso);
    Dwarf_Die die;
    struct unit *unit = find_unit(l, address, &die);

    return unit && find_function(d, l, unit, &die, address, function);
}
