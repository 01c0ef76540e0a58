/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Words of code, out of the file that the symbols came from. It is opened again, and must have the
 * recording's build-id still: bytes of another file would be wrong without anybody noticing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_file.h"
#include "format/bytes.h"

/* ---- Data between code ----------------------------------------------------------------------- */

/* Mapping symbols: from "$d" on there is data, from "$x" on code, each up to the next. */
struct marks {
    uint64_t address, end;
    uint8_t *at;     /* of each word: 0: none begins there, 1: code, 2: data */
    uint64_t before; /* the last one at or before the address, and what it says */
    uint8_t first;
};

static void mark(struct marks *m, uint64_t address, uint8_t what)
{
    if (address > m->address && address < m->end) {
        m->at[(address - m->address) / 4] = what;
    } else if (address <= m->address && (!m->first || address >= m->before)) {
        m->before = address;
        m->first = what;
    }
}

static void read_marks(struct marks *m, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

    for (size_t i = 0; i < count && i < SYMBOL_MAX; i++) {
        GElf_Sym symbol;
        const char *name = gelf_getsym(data, (int)i, &symbol)
                               ? elf_strptr(elf, header->sh_link, symbol.st_name)
                               : NULL;

        if (name && name[0] == '$' && (name[1] == 'x' || name[1] == 'd') &&
            (!name[2] || name[2] == '.'))
            mark(m, symbol.st_value, name[1] == 'd' ? 2 : 1);
    }
}

/* What is not said to be data is code. */
static void mark_data(struct dsos *d, int fd, enum dso_kind kind, uint64_t address, uint8_t *data,
                      size_t count)
{
    struct marks m = {.address = address, .end = address + 4 * count, .at = data};
    Elf_Scn *section = NULL;
    struct elf_file f;
    uint8_t now;

    memset(data, 0, count);
    if (elf_file_open(&f, fd, kind, d->budget) < 0)
        return;
    while ((section = elf_nextscn(f.elf, section))) {
        GElf_Shdr header;

        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            read_marks(&m, f.elf, section, &header);
    }
    elf_file_close(&f);
    now = m.first;
    for (size_t i = 0; i < count; i++) {
        now = data[i] ? data[i] : now;
        data[i] = now == 2;
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

static const struct segment *find_segment(const struct symtab *t, uint64_t address)
{
    for (size_t i = 0; i < t->segments.count; i++) {
        const struct segment *s = &t->segments.at[i];

        if (address >= s->address && address - s->address < s->size)
            return s;
    }
    return NULL;
}

/* Why there is no code; NULL if there may be. */
static const char *no_code(const struct dso *dso)
{
    switch (dso->kind) {
    case DSO_FILE:
        break;
    case DSO_KERNEL:
        if (!dso->symbols.segments.count)
            return "the kernel's code is not available: give its ELF file with --vmlinux";
        break;
    case DSO_MODULE:
        return "code of kernel modules changes when they are loaded: it is not read";
    default:
        return "this code is in no file: it was made at run time";
    }
    if (dso->state == SPE_DSO_REFUSED)
        return dso->warning ? dso->warning : "the file is another one than the recorded one";
    return dso->file ? NULL : "the file with this code was not found (--symfs, --debug-dir)";
}

/* Fewer than asked for if the file ends before: it is shorter than it says. SPE_ERR_IO. */
static int64_t read_words(int fd, uint64_t offset, uint32_t *words, size_t count)
{
    int64_t read = file_read(fd, offset, words, 4 * count);

    if (read < 0)
        return read;
    for (int64_t i = 0; i < read / 4; i++)
        words[i] = load32((uint8_t *)&words[i]);
    return read / 4;
}

int64_t dso_code(struct dsos *d, struct dso *dso, uint64_t address, uint32_t *words, uint8_t *data,
                 size_t count, const char **why)
{
    const struct segment *segment;
    char *warning = NULL;
    uint8_t state;
    int64_t read;
    int fd;

    dso_load(d, dso);
    *why = no_code(dso);
    if (*why)
        return SPE_ERR_UNKNOWN;
    address -= dso->symbols.kernel_shift;
    segment = find_segment(&dso->symbols, address);
    *why = "the file has no bytes there";
    if (!segment || address % 4)
        return SPE_ERR_UNKNOWN;
    fd = dso_open_checked(d, dso, dso->file, &state, &warning);
    free(warning);
    *why = "the file has become another one than the recorded one";
    if (fd < 0)
        return SPE_ERR_UNKNOWN;
    if (count > (segment->size - (address - segment->address)) / 4)
        count = (segment->size - (address - segment->address)) / 4;
    read = read_words(fd, segment->offset + (address - segment->address), words, count);
    if (read >= 0)
        mark_data(d, fd, dso->kind, address, data, (size_t)read);
    else
        names_missing(d->strings, (int)read);
    close(fd);
    *why = read < 0 ? "the file could not be read" : NULL;
    return read < 0 ? SPE_ERR_UNKNOWN : read;
}
