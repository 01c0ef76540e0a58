/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * In place of symbols.c and lines.c where elfutils is not to be had: no file can be verified, so
 * none is used. Names out of kallsyms and of code made at run time work as ever.
 */
#include "names_internal.h"

int elf_build_id(int fd, enum dso_kind kind, uint8_t *id, size_t max, uint16_t *machine)
{
    (void)fd;
    (void)kind;
    (void)id;
    (void)max;
    (void)machine;
    return SPE_ERR_UNKNOWN;
}

int elf_debuglink(int fd, char **link, uint32_t *crc)
{
    (void)fd;
    (void)crc;
    *link = NULL;
    return SPE_OK;
}

int symtab_read(struct symtab *t, int fd, enum dso_kind kind)
{
    (void)t;
    (void)fd;
    (void)kind;
    return SPE_ERR_UNKNOWN;
}

int symtab_read_stripped(struct symtab *t, int fd, const char *name)
{
    (void)t;
    (void)fd;
    (void)name;
    return SPE_ERR_UNKNOWN;
}

uint32_t lines_find(struct dsos *d, struct dso *dso, uint32_t dso_id, uint64_t address)
{
    (void)d;
    (void)dso;
    (void)dso_id;
    (void)address;
    return SPE_NO_ID;
}

void lines_close(struct lines *lines)
{
    (void)lines;
}

int lines_inlines(struct dsos *d, struct dso *dso, uint64_t address,
                  struct spe_profile_frame *frames, size_t max)
{
    (void)d;
    (void)dso;
    (void)address;
    (void)frames;
    (void)max;
    return 0;
}

int64_t dso_code(struct dsos *d, struct dso *dso, uint64_t address, uint32_t *words, uint8_t *data,
                 size_t count, const char **why)
{
    (void)d;
    (void)dso;
    (void)address;
    (void)words;
    (void)data;
    (void)count;
    *why = "this build cannot read programs (it has no elfutils)";
    return SPE_ERR_UNKNOWN;
}
