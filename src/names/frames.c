/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Frames as the unwinder sees them: where the CFA is, and where a function keeps the registers of
 * its caller.
 */
#include <stdlib.h>

#include "names/types_internal.h"

#define ROWS_MAX 4096 /* of the unwinder's table for one function */

/* The registers that a function has to give back (AAPCS64), as DWARF numbers them. */
#define FIRST_SAVED 19
#define LAST_SAVED 30
#define FIRST_SAVED_VECTOR 72 /* V8 */
#define LAST_SAVED_VECTOR 87  /* V23, of the vector variant */

/* .eh_frame of the file that runs: that of the debug information may be empty. It is read when
 * somebody asks, so the file stays open. */
static Dwarf_CFI *open_eh_frame(struct file_types *f)
{
    GElf_Shdr header;
    Elf *elf = f->fd >= 0 ? elf_begin(f->fd, ELF_C_READ, NULL) : NULL;
    Dwarf_CFI *cfi = NULL;

    if (elf && elf_file_section(elf, ".eh_frame", &header) && header.sh_type == SHT_PROGBITS &&
        file_types_take(f, header.sh_size))
        cfi = dwarf_getcfi_elf(elf);
    if (cfi)
        f->cfi_elf = elf;
    else
        elf_end(elf);
    return cfi;
}

static Dwarf_CFI *cfi_of(struct dsos *d, struct dso *dso, struct file_types *f)
{
    Dwarf *dwarf;

    if (f->cfi_tried)
        return f->cfi;
    f->cfi_tried = true;
    f->cfi = open_eh_frame(f);
    dwarf = f->cfi ? NULL : lines_dwarf(d, dso);
    if (dwarf)
        f->cfi = dwarf_getcfi(dwarf); /* .debug_frame, which goes with it */
    return f->cfi;
}

void frames_close(struct file_types *f)
{
    if (f->cfi_elf) {
        dwarf_cfi_end(f->cfi);
        elf_end(f->cfi_elf);
    }
}

bool frames_cfa(struct dsos *d, struct dso *dso, struct file_types *f, uint64_t pc, unsigned *reg,
                int64_t *offset)
{
    Dwarf_CFI *cfi = cfi_of(d, dso, f);
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops;
    size_t count;
    bool known;

    if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
        return false;
    known = dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1;
    if (known && ops[0].atom == DW_OP_bregx) {
        *reg = (unsigned)ops[0].number;
        *offset = (int64_t)ops[0].number2;
    } else if (known) {
        *reg = (unsigned)(ops[0].atom - DW_OP_breg0);
        *offset = (int64_t)ops[0].number;
    }
    free(frame);
    return known;
}

static int add_saved(Dwarf_Frame *frame, int reg, struct saved_places *saved)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    int64_t place;

    if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0 || count < 1 || count > 2 ||
        ops[0].atom != DW_OP_call_frame_cfa || (count == 2 && ops[1].atom != DW_OP_plus_uconst))
        return SPE_OK;
    place = count == 2 ? (int64_t)ops[1].number : 0;
    for (size_t i = 0; i < saved->count; i++) {
        if (saved->at[i] == place)
            return SPE_OK;
    }
    if (VECTOR_ROOM(saved) < 0)
        return SPE_ERR_NOMEM;
    saved->at[saved->count++] = place;
    return SPE_OK;
}

static int add_row(Dwarf_Frame *frame, struct saved_places *saved)
{
    int result = SPE_OK;

    for (int reg = FIRST_SAVED; reg <= LAST_SAVED && result == SPE_OK; reg++)
        result = add_saved(frame, reg, saved);
    for (int reg = FIRST_SAVED_VECTOR; reg <= LAST_SAVED_VECTOR && result == SPE_OK; reg++)
        result = add_saved(frame, reg, saved);
    return result;
}

/* A place that is said to hold a register in one row holds it in all of the function: compilers say
 * so after the store, and may say it of several at once. */
int frames_saved(struct dsos *d, struct dso *dso, struct file_types *f,
                 const struct code_piece *pieces, size_t count, struct saved_places *saved)
{
    Dwarf_CFI *cfi = cfi_of(d, dso, f);
    unsigned rows = 0;
    int result = SPE_OK;

    for (size_t i = 0; i < count && cfi; i++) {
        uint64_t pc = pieces[i].start;

        while (pc < pieces[i].end && rows++ < ROWS_MAX && result == SPE_OK) {
            Dwarf_Addr start, end = 0;
            Dwarf_Frame *frame = NULL;

            if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
                break;
            result = add_row(frame, saved);
            if (dwarf_frame_info(frame, &start, &end, NULL) < 0 || end <= pc)
                end = UINT64_MAX;
            free(frame);
            pc = end;
        }
    }
    return result;
}
