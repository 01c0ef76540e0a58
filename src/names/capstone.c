/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Disassembly by Capstone, of version 4 or 5. */
#include <capstone/capstone.h>
#include <specimen/names.h>
#include <stdio.h>
#include <stdlib.h>

#include "names/disassemble.h"

struct spe_disassembler {
    csh handle;
    cs_insn *insn;
};

int spe_disassembler_create(struct spe_disassembler **disassembler)
{
    struct spe_disassembler *d = *disassembler = calloc(1, sizeof(*d));

    if (d && cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &d->handle) == CS_ERR_OK)
        d->insn = cs_malloc(d->handle);
    if (d && d->insn)
        return SPE_OK;
    spe_disassembler_destroy(d);
    *disassembler = NULL;
    return SPE_ERR_NOMEM;
}

void spe_disassembler_destroy(struct spe_disassembler *d)
{
    if (!d)
        return;
    if (d->insn)
        cs_free(d->insn, 1);
    if (d->handle)
        cs_close(&d->handle);
    free(d);
}

bool library_read(struct spe_disassembler *d, uint64_t address, uint32_t word, char *mnemonic,
                  size_t mnemonic_size, char *text, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)&word;
    size_t left = sizeof(word);

    if (!cs_disasm_iter(d->handle, &bytes, &left, &address, d->insn))
        return false;
    snprintf(mnemonic, mnemonic_size, "%s", d->insn->mnemonic);
    snprintf(text, size, "%s%s%s", d->insn->mnemonic, d->insn->op_str[0] ? " " : "",
             d->insn->op_str);
    return true;
}
