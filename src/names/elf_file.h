/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* An ELF file while symbols are read from it: what that takes is taken from the budget. */
#ifndef NAMES_ELF_FILE_H
#define NAMES_ELF_FILE_H

#include <gelf.h>
#include <libelf.h>

#include "names_internal.h"

struct elf_file {
    Elf *elf;
    uint8_t *image; /* of a file that was packed */
    struct budget *budget;
    uint64_t taken;
    bool full; /* more than there was */
};

/* The file as ELF: SPE_ERR_FORMAT if it is none, SPE_ERR_NOSPACE if it is too large. Only modules
 * may be compressed: a path out of a recording may name any archive. */
int elf_file_open(struct elf_file *f, int fd, enum dso_kind kind, struct budget *budget);
/* The same of packed bytes (xz). They are not kept. */
int elf_file_unpack(struct elf_file *f, const uint8_t *bytes, size_t size, struct budget *budget);
void elf_file_close(struct elf_file *f);
/* For as long as the file is open. */
bool elf_file_take(struct elf_file *f, uint64_t bytes);
/* A section by its name, or NULL. */
Elf_Scn *elf_file_section(Elf *elf, const char *name, GElf_Shdr *header);
/* Its bytes, or NULL: there are none, or no memory for them. */
const uint8_t *elf_file_bytes(struct elf_file *f, const char *name, GElf_Shdr *header);

/* Where the sections of a relocatable file are in memory. */
struct section_places {
    uint64_t *at; /* by section; UINT64_MAX: not known */
    size_t count, capacity;
};

/* Returns the number of names in the static symbol table; a file without is stripped. */
int symtab_read_tables(struct symtab *t, Elf *elf, const struct section_places *places);

#endif
