/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Symbols and build-ids of ELF files, through libelf. */
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names/elf_file.h"
#include "names/unpack.h"

#define MODULE_MAX (UINT64_C(1) << 32)
#define NOTES_MAX (1u << 20) /* bytes of one section or segment */

/* ---- Files ---------------------------------------------------------------------------------- */

void elf_file_close(struct elf_file *f)
{
    elf_end(f->elf);
    free(f->image);
    budget_give(f->budget, f->taken);
}

bool elf_file_take(struct elf_file *f, uint64_t bytes)
{
    f->full |= (!f->budget && bytes > MEMORY_LIMIT - f->taken) || !budget_take(f->budget, bytes);
    f->taken += f->full ? 0 : bytes;
    return !f->full;
}

static uint8_t *read_packed(struct elf_file *f, int fd, size_t size)
{
    uint8_t *bytes = elf_file_take(f, size) ? malloc(size) : NULL;

    if (bytes && file_read(fd, 0, bytes, size) == (int64_t)size)
        return bytes;
    free(bytes);
    return NULL;
}

static Elf *unpacked_elf(struct elf_file *f, enum packing packing, const uint8_t *bytes,
                         size_t packed)
{
    uint64_t size = unpacked_size(packing, bytes, packed);

    if (size && size <= UNPACKED_MAX && elf_file_take(f, size))
        f->image = malloc(size);
    size = f->image ? unpack(packing, bytes, packed, f->image, size) : 0;
    return size ? elf_memory((char *)f->image, size) : NULL;
}

/* The file in memory, if it is packed. */
static Elf *open_packed(struct elf_file *f, int fd, enum packing packing)
{
    struct stat st;
    uint8_t *bytes;
    Elf *elf;

    if (fstat(fd, &st) < 0 || st.st_size <= 0 || (uint64_t)st.st_size > PACKED_MAX)
        return NULL;
    bytes = read_packed(f, fd, (size_t)st.st_size);
    elf = bytes ? unpacked_elf(f, packing, bytes, (size_t)st.st_size) : NULL;
    free(bytes);
    return elf;
}

/* What libelf keeps of the sections that are read, names unpacked: the names of N sections, or N
 * tables of symbols, may all lie in one place of the file. */
static uint64_t read_size(Elf *elf)
{
    Elf_Scn *section = NULL;
    uint64_t sum = 0;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Chdr packed;
        uint64_t size;

        if (!gelf_getshdr(section, &header) ||
            (header.sh_type != SHT_STRTAB && header.sh_type != SHT_SYMTAB &&
             header.sh_type != SHT_DYNSYM))
            continue;
        size = header.sh_flags & SHF_COMPRESSED && gelf_getchdr(section, &packed) ? packed.ch_size
                                                                                  : header.sh_size;
        sum = size > UINT64_MAX - sum ? UINT64_MAX : sum + size;
    }
    return sum;
}

/* What was opened, if it can be read. */
static int judge(struct elf_file *f)
{
    int result = SPE_OK;

    if (!f->elf || elf_kind(f->elf) != ELF_K_ELF)
        result = f->full ? SPE_ERR_NOSPACE : SPE_ERR_FORMAT;
    else if (!elf_file_take(f, read_size(f->elf)))
        result = SPE_ERR_NOSPACE;
    if (result < 0)
        elf_file_close(f);
    return result;
}

int elf_file_open(struct elf_file *f, int fd, enum dso_kind kind, struct budget *budget)
{
    uint8_t start[6] = {0};
    enum packing packing = PACKED_NOT;

    *f = (struct elf_file){.budget = budget};
    if (elf_version(EV_CURRENT) == EV_NONE)
        return SPE_ERR_FORMAT;
    if (kind == DSO_MODULE && pread(fd, start, sizeof(start), 0) == sizeof(start))
        packing = packing_of(start);
    f->elf = packing == PACKED_NOT ? elf_begin(fd, ELF_C_READ, NULL) : open_packed(f, fd, packing);
    return judge(f);
}

int elf_file_unpack(struct elf_file *f, const uint8_t *bytes, size_t size, struct budget *budget)
{
    *f = (struct elf_file){.budget = budget};
    if (elf_version(EV_CURRENT) == EV_NONE)
        return SPE_ERR_FORMAT;
    f->elf = size <= PACKED_MAX ? unpacked_elf(f, PACKED_XZ, bytes, size) : NULL;
    return judge(f);
}

/* ---- Build-ids ------------------------------------------------------------------------------ */

/* The GNU build-id among notes: its size or 0. */
static int id_in_notes(Elf_Data *data, uint8_t *id, size_t max)
{
    size_t offset = 0, next, name, descriptor;
    GElf_Nhdr note;

    while (data && (next = gelf_getnote(data, offset, &note, &name, &descriptor)) > 0) {
        const char *bytes = data->d_buf;

        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(bytes + name, "GNU", 4) && note.n_descsz && note.n_descsz <= max) {
            memcpy(id, bytes + descriptor, note.n_descsz);
            return (int)note.n_descsz;
        }
        offset = next;
    }
    return 0;
}

static int id_in_segments(Elf *elf, uint8_t *id, size_t max)
{
    size_t count = 0;
    int size = 0;

    if (elf_getphdrnum(elf, &count) < 0)
        return 0;
    for (size_t i = 0; i < count && !size; i++) {
        GElf_Phdr header;

        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE ||
            header.p_filesz > NOTES_MAX)
            continue;
        size = id_in_notes(elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
                                                header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
                           id, max);
    }
    return size;
}

static int id_in_sections(Elf *elf, uint8_t *id, size_t max)
{
    Elf_Scn *section = NULL;
    int size = 0;

    while (!size && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;

        if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
            header.sh_size <= NOTES_MAX)
            size = id_in_notes(elf_getdata(section, NULL), id, max);
    }
    return size;
}

int elf_build_id(int fd, enum dso_kind kind, uint8_t *id, size_t max, uint16_t *machine)
{
    struct elf_file f;
    GElf_Ehdr header;
    int size = SPE_ERR_FORMAT;

    if (elf_file_open(&f, fd, kind, NULL) < 0)
        return size;
    if (gelf_getehdr(f.elf, &header)) {
        *machine = header.e_machine;
        size = id_in_sections(f.elf, id, max);
        if (!size)
            size = id_in_segments(f.elf, id, max);
    }
    elf_file_close(&f);
    return size;
}

/* The section ends with the CRC, in the byte order of the file. */
int elf_debuglink(int fd, char **link, uint32_t *crc)
{
    struct elf_file f;
    const char *name;
    bool plain;

    *link = NULL;
    if (elf_file_open(&f, fd, DSO_FILE, NULL) < 0)
        return SPE_OK;
    name = dwelf_elf_gnu_debuglink(f.elf, crc);
    /* A name, not a path: it must not lead out of the directories where it is looked for. */
    plain = name && name[0] && !strchr(name, '/');
    *link = plain ? strdup(name) : NULL;
    elf_file_close(&f);
    return plain && !*link ? SPE_ERR_NOMEM : SPE_OK;
}

/* ---- ELF ------------------------------------------------------------------------------------ */

/* Sized before unsized, strong before weak, global before local, few underscores before many. */
static unsigned rank_of(const GElf_Sym *symbol, const char *name)
{
    unsigned bind = GELF_ST_BIND(symbol->st_info), underscores = 0;

    while (name[underscores] == '_' && underscores < 31)
        underscores++;
    return (symbol->st_size ? 128u : 0) | (bind != STB_WEAK ? 64u : 0) |
           (bind != STB_LOCAL ? 32u : 0) | (31 - underscores);
}

/* What a symbol names: code, data or nothing of use. $x and $d mark code and data, and name
 * nothing. */
static unsigned kind_of(Elf *elf, const GElf_Sym *symbol, const char *name)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    GElf_Shdr header;
    Elf_Scn *section;

    if (!name || !name[0] || name[0] == '$' || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx == SHN_ABS)
        return 0;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return SYMBOL_FUNCTION;
    if (type == STT_OBJECT)
        return SYMBOL_OBJECT;
    if (type != STT_NOTYPE)
        return 0;
    section = elf_getscn(elf, symbol->st_shndx);
    if (!section || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
        return 0;
    return SYMBOL_FUNCTION;
}

/* Moves a symbol of a relocatable file to its place; false if that is not known. */
static bool place_symbol(const struct section_places *places, GElf_Sym *symbol)
{
    if (!places)
        return true;
    if (symbol->st_shndx >= places->count || places->at[symbol->st_shndx] == UINT64_MAX)
        return false;
    symbol->st_value += places->at[symbol->st_shndx];
    return true;
}

/* Returns how many names it has. */
static int read_symbols(struct symtab *t, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                        const struct section_places *places)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    int added = 0;

    for (size_t i = 0; i < count && i < SYMBOL_MAX; i++) {
        GElf_Sym symbol;
        const char *name;
        unsigned kind;

        if (!gelf_getsym(data, (int)i, &symbol))
            break;
        name = elf_strptr(elf, header->sh_link, symbol.st_name);
        kind = kind_of(elf, &symbol, name);
        if (!kind || !place_symbol(places, &symbol))
            continue;
        if (symtab_add(t, name, symbol.st_value, symbol.st_size, kind, rank_of(&symbol, name)) < 0)
            return SPE_ERR_NOMEM;
        added++;
    }
    return added;
}

static int add_segment(struct symtab *t, uint64_t offset, uint64_t address, uint64_t size,
                       uint64_t memory)
{
    if (VECTOR_ROOM(&t->segments) < 0)
        return SPE_ERR_NOMEM;
    t->segments.at[t->segments.count++] = (struct segment){offset, address, size, memory};
    return SPE_OK;
}

/* Files of `perf inject --jit` may have sections only. */
static int read_sections(struct symtab *t, Elf *elf)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;

        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR &&
            header.sh_type == SHT_PROGBITS && header.sh_size &&
            add_segment(t, header.sh_offset, header.sh_addr, header.sh_size, header.sh_size) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static int read_segments(struct symtab *t, Elf *elf)
{
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) < 0)
        return SPE_OK;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD && header.p_filesz &&
            add_segment(t, header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz) < 0)
            return SPE_ERR_NOMEM;
    }
    return t->segments.count ? SPE_OK : read_sections(t, elf);
}

/* Behind these the place of code depends on the machine: they grow when a module is loaded. */
static bool has_own_size(const char *name)
{
    return !strcmp(name, ".plt") || !strcmp(name, ".text.ftrace_trampoline");
}

/* As the kernel loads a module: sections of code one behind the other, in their order and from the
 * map's start on, without those that it only needs to begin. */
static int lay_out(struct symtab *t, Elf *elf, struct section_places *places)
{
    size_t names, count;
    uint64_t end = 0;
    bool known = elf_getshdrstrndx(elf, &names) == 0;

    if (elf_getshdrnum(elf, &count) < 0)
        return SPE_OK;
    for (size_t i = 0; i < count; i++) {
        Elf_Scn *section = elf_getscn(elf, i);
        GElf_Shdr header;
        const char *name = section && gelf_getshdr(section, &header)
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        uint64_t align, mask = SHF_ALLOC | SHF_EXECINSTR;

        if (VECTOR_ROOM(places) < 0)
            return SPE_ERR_NOMEM;
        places->at[places->count++] = UINT64_MAX;
        if (!name || (header.sh_flags & mask) != mask || !strncmp(name, ".init", 5))
            continue;
        align = header.sh_addralign ? header.sh_addralign : 1;
        known = known && !has_own_size(name) && !(align & (align - 1)) && align < MODULE_MAX &&
                header.sh_size < MODULE_MAX && end < MODULE_MAX;
        if (!known)
            continue;
        end = (end + align - 1) & ~(align - 1);
        places->at[i] = end;
        if (header.sh_size && add_segment(t, end, end, header.sh_size, header.sh_size) < 0)
            return SPE_ERR_NOMEM;
        end += header.sh_size;
    }
    return SPE_OK;
}

Elf_Scn *elf_file_section(Elf *elf, const char *name, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return NULL;
    while ((section = elf_nextscn(elf, section))) {
        const char *other =
            gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;

        if (other && !strcmp(other, name))
            return section;
    }
    return NULL;
}

const uint8_t *elf_file_bytes(struct elf_file *f, const char *name, GElf_Shdr *header)
{
    Elf_Scn *section = elf_file_section(f->elf, name, header);
    Elf_Data *data = section && header->sh_type == SHT_PROGBITS && header->sh_size &&
                             elf_file_take(f, header->sh_size)
                         ? elf_rawdata(section, NULL)
                         : NULL;

    return data && data->d_size == header->sh_size ? data->d_buf : NULL;
}

/* Entries of the procedure linkage table: behind a header of 32 bytes one of 16 bytes (24 with
 * branch protection) for each relocation. */
static int read_plt(struct symtab *t, struct elf_file *f)
{
    Elf *elf = f->elf;
    GElf_Shdr plt, relocations, symbols;
    Elf_Scn *section = elf_file_section(elf, ".plt", &plt)
                           ? elf_file_section(elf, ".rela.plt", &relocations)
                           : NULL;
    Elf_Data *data =
        section && elf_file_take(f, relocations.sh_size) ? elf_getdata(section, NULL) : NULL;
    Elf_Scn *table = section ? elf_getscn(elf, relocations.sh_link) : NULL;
    bool known = table && gelf_getshdr(table, &symbols) &&
                 (symbols.sh_type == SHT_DYNSYM || symbols.sh_type == SHT_SYMTAB);
    Elf_Data *names = known ? elf_getdata(table, NULL) : NULL;
    size_t count = data && relocations.sh_entsize ? data->d_size / relocations.sh_entsize : 0;
    uint64_t entry = count && plt.sh_size > 32 ? (plt.sh_size - 32) / count : 0;

    if (!names || (entry != 16 && entry != 24))
        return SPE_OK;
    for (size_t i = 0; i < count && i < SYMBOL_MAX; i++) {
        char name[STRING_MAX + 8];
        GElf_Sym symbol;
        GElf_Rela rela;
        const char *base;

        if (!gelf_getrela(data, (int)i, &rela) ||
            !gelf_getsym(names, (int)GELF_R_SYM(rela.r_info), &symbol))
            continue;
        base = elf_strptr(elf, symbols.sh_link, symbol.st_name);
        if (!base || !base[0])
            continue;
        snprintf(name, sizeof(name), "%.*s@plt", STRING_MAX - 4, base);
        if (symtab_add(t, name, plt.sh_addr + 32 + i * entry, entry, SYMBOL_FUNCTION, 0) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

/* A file has one table of each kind. */
int symtab_read_tables(struct symtab *t, Elf *elf, const struct section_places *places)
{
    Elf_Scn *section = NULL;
    bool symbols = false, dynamic = false;
    int found = 0;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        bool *seen;
        int added;

        if (!gelf_getshdr(section, &header) ||
            (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        seen = header.sh_type == SHT_SYMTAB ? &symbols : &dynamic;
        if (*seen)
            continue;
        *seen = true;
        added = read_symbols(t, elf, section, &header, places);
        if (added < 0)
            return added;
        if (header.sh_type == SHT_SYMTAB)
            found = added;
    }
    return found;
}

int symtab_read(struct symtab *t, int fd, enum dso_kind kind)
{
    struct elf_file f;
    struct section_places places = {0};
    bool module = kind == DSO_MODULE;
    GElf_Ehdr header;
    int result = elf_file_open(&f, fd, kind, t->budget);

    t->full |= result == SPE_ERR_NOSPACE;
    if (result < 0)
        return result;
    result = SPE_ERR_FORMAT;
    if (gelf_getehdr(f.elf, &header) && (header.e_type == ET_REL) == module) {
        result = module ? lay_out(t, f.elf, &places) : read_segments(t, f.elf);
        if (result == SPE_OK && !module)
            result = read_plt(t, &f);
        if (result == SPE_OK)
            result = symtab_read_tables(t, f.elf, module ? &places : NULL);
    }
    free(places.at);
    elf_file_close(&f);
    return result;
}
