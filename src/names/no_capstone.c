/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* In place of capstone.c: no word can be read, and all are shown as they are. */
#include <specimen/names.h>
#include <stdlib.h>

#include "names/disassemble.h"

struct spe_disassembler {
    char nothing;
};

int spe_disassembler_create(struct spe_disassembler **disassembler)
{
    *disassembler = calloc(1, sizeof(**disassembler));
    return *disassembler ? SPE_OK : SPE_ERR_NOMEM;
}

void spe_disassembler_destroy(struct spe_disassembler *d)
{
    free(d);
}

bool library_read(struct spe_disassembler *d, uint64_t address, uint32_t word, char *mnemonic,
                  size_t mnemonic_size, char *text, size_t size)
{
    (void)d;
    (void)address;
    (void)word;
    (void)mnemonic;
    (void)mnemonic_size;
    (void)text;
    (void)size;
    return false;
}
