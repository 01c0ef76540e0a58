/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Functions of files whose symbol table was stripped off, as distributions do it. Some have a
 * small one left, packed (MiniDebugInfo, .gnu_debugdata); Go's run-time library has names of its
 * own (.gopclntab); and nearly all have tables to unwind the stack, which tell where functions
 * begin and end: such a function is called after its file and its address there.
 *
 * All sizes, offsets and counts in the file may be wrong: each is held against the section first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/bytes.h"
#include "names/elf_file.h"

/* Above every name out of unwind tables, which have 0. */
enum { RANK_OF_NAMES = 1 };

/* ---- MiniDebugInfo -------------------------------------------------------------------------- */

static int read_mini(struct symtab *t, struct elf_file *f)
{
    GElf_Shdr header;
    const uint8_t *bytes = elf_file_bytes(f, ".gnu_debugdata", &header);
    struct elf_file mini;
    int result;

    if (!bytes)
        return SPE_OK;
    result = elf_file_unpack(&mini, bytes, header.sh_size, t->budget);
    t->full |= result == SPE_ERR_NOSPACE;
    if (result < 0)
        return result == SPE_ERR_FORMAT ? SPE_OK : result;
    result = symtab_read_tables(t, mini.elf, NULL);
    elf_file_close(&mini);
    return result < 0 ? result : SPE_OK;
}

/* ---- Go ------------------------------------------------------------------------------------- */

/* The table of functions: pairs of where one begins and where its description is, and behind the
 * last pair where that function ends. */
struct go_table {
    const uint8_t *bytes;
    uint64_t size;
    uint64_t functions; /* offset of the pairs; descriptions count from here */
    uint64_t count;
    uint64_t names; /* offset of the names */
    uint64_t text;  /* address that beginnings count from */
    unsigned word;  /* bytes of a number in a pair */
};

#define GO_1_16 0xfffffffau /* what the table begins with, since which version */
#define GO_1_18 0xfffffff0u
#define GO_1_20 0xfffffff1u
#define GO_HEADER (8 + 8 * 8) /* bytes */

/* False if it is none that we know. */
static bool open_go(struct go_table *g)
{
    uint32_t magic = g->size >= GO_HEADER ? load32(g->bytes) : 0;
    const uint8_t *words = g->bytes + 8;
    unsigned more = magic == GO_1_16 ? 0 : 1; /* the address of the text */
    uint64_t room;

    if ((magic != GO_1_16 && magic != GO_1_18 && magic != GO_1_20) || load16(g->bytes + 4) ||
        g->bytes[7] != 8)
        return false;
    g->word = more ? 4 : 8;
    g->count = load64(words);
    g->text = more ? load64(words + 16) : 0;
    g->names = load64(words + 16 + 8 * more);
    g->functions = load64(words + 48 + 8 * more);
    if (g->functions > g->size || g->names >= g->size)
        return false;
    room = g->size - g->functions;
    return room >= g->word && g->count <= (room - g->word) / (2 * g->word);
}

static uint64_t go_begin(const struct go_table *g, uint64_t i)
{
    return g->text + load_sized(g->bytes + g->functions + 2 * g->word * i, g->word);
}

/* Go 1.26 and position-independent programs do not have the address in the table. It is that of
 * .text, unless a linker put other code there, too: then the functions do not fill it (but for what
 * aligns its end), and nobody knows where they begin. */
static bool find_go_text(struct go_table *g, Elf *elf)
{
    uint64_t size = go_begin(g, g->count);
    GElf_Shdr text;

    if (g->text || g->word == 8)
        return true;
    if (!elf_file_section(elf, ".text", &text) || size > text.sh_size || text.sh_size - size >= 32)
        return false;
    g->text = text.sh_addr;
    return true;
}

/* NULL if it is not in the table. */
static const char *go_name(const struct go_table *g, uint64_t i)
{
    uint64_t at = load_sized(g->bytes + g->functions + (2 * i + 1) * g->word, g->word);
    uint64_t room = g->size - g->functions, name;

    if (at > room || room - at < g->word + 4)
        return NULL;
    name = load32(g->bytes + g->functions + at + g->word);
    room = g->size - g->names;
    if (name >= room || strnlen((const char *)g->bytes + g->names + name,
                                room - name < STRING_MAX ? room - name : STRING_MAX) == room - name)
        return NULL;
    return (const char *)g->bytes + g->names + name;
}

static int read_go(struct symtab *t, struct elf_file *f)
{
    GElf_Shdr header;
    struct go_table g = {.bytes = elf_file_bytes(f, ".gopclntab", &header)};

    if (!g.bytes)
        g.bytes = elf_file_bytes(f, ".data.rel.ro.gopclntab", &header);
    g.size = g.bytes ? header.sh_size : 0;
    if (!g.bytes || !open_go(&g) || !find_go_text(&g, f->elf))
        return SPE_OK;
    for (uint64_t i = 0; i < g.count && i < SYMBOL_MAX; i++) {
        const char *name = go_name(&g, i);
        uint64_t begin = go_begin(&g, i), end = go_begin(&g, i + 1);

        if (name && name[0] && end > begin &&
            symtab_add(t, name, begin, end - begin, SYMBOL_FUNCTION, RANK_OF_NAMES) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

/* ---- Unwind tables -------------------------------------------------------------------------- */

/* Encodings of pointers in .eh_frame_hdr (Linux Standard Base, 10.6.2): 4 bytes with a sign, from
 * here or from the start of the table. Linkers write no others. */
enum { FROM_HERE = 0x1b, FROM_TABLE = 0x3b, UNSIGNED = 0x03, HDR_SIZE = 12 };

struct frames {
    const uint8_t *hdr, *frames; /* .eh_frame_hdr, .eh_frame */
    uint64_t hdr_address, hdr_size, address, size;
};

static uint64_t from(uint64_t base, const uint8_t *at)
{
    return base + (uint64_t)(int32_t)load32(at);
}

/* How long the function is that this description is of; 0 if it is written in a way that we do not
 * know. It has its size, its common part, where the function begins, and how long that is. */
static uint64_t length_of(const struct frames *f, uint64_t entry, uint64_t begin)
{
    uint64_t at = entry - f->address;

    if (entry < f->address || at > f->size || f->size - at < 16 ||
        from(entry + 8, f->frames + at + 8) != begin)
        return 0;
    return load32(f->frames + at + 12);
}

static int add_frames(struct symtab *t, const struct frames *f, const char *file)
{
    uint64_t count = (f->hdr_size - HDR_SIZE) / 8;
    char name[STRING_MAX];

    if (count > load32(f->hdr + 8))
        count = load32(f->hdr + 8);
    for (uint64_t i = 0; i < count && i < SYMBOL_MAX; i++) {
        const uint8_t *pair = f->hdr + HDR_SIZE + 8 * i;
        uint64_t begin = from(f->hdr_address, pair);
        uint64_t length = length_of(f, from(f->hdr_address, pair + 4), begin);

        snprintf(name, sizeof(name), "%s+0x%" PRIx64, file, begin);
        if (length && symtab_add(t, name, begin, length, SYMBOL_FUNCTION, 0) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static int read_frames(struct symtab *t, struct elf_file *f, const char *file)
{
    GElf_Shdr hdr, frames;
    struct frames all = {.hdr = elf_file_bytes(f, ".eh_frame_hdr", &hdr)};

    all.frames = all.hdr ? elf_file_bytes(f, ".eh_frame", &frames) : NULL;
    if (!all.frames || hdr.sh_size < HDR_SIZE || all.hdr[0] != 1 || all.hdr[1] != FROM_HERE ||
        all.hdr[2] != UNSIGNED || all.hdr[3] != FROM_TABLE)
        return SPE_OK;
    all.hdr_address = hdr.sh_addr;
    all.hdr_size = hdr.sh_size;
    all.address = frames.sh_addr;
    all.size = frames.sh_size;
    return add_frames(t, &all, file);
}

int symtab_read_stripped(struct symtab *t, int fd, const char *name)
{
    struct elf_file f;
    GElf_Ehdr header;
    int result = elf_file_open(&f, fd, DSO_FILE, t->budget);

    t->full |= result == SPE_ERR_NOSPACE;
    if (result < 0)
        return result;
    if (gelf_getehdr(f.elf, &header) && header.e_ident[EI_DATA] == ELFDATA2LSB) {
        result = read_mini(t, &f);
        if (result == SPE_OK)
            result = read_go(t, &f);
        if (result == SPE_OK)
            result = read_frames(t, &f, name);
    }
    t->full |= f.full;
    elf_file_close(&f);
    return result;
}
