/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The library that disassembles: capstone.c, or no_capstone.c where there is none. */
#ifndef NAMES_DISASSEMBLE_H
#define NAMES_DISASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spe_disassembler;

/* The word's mnemonic, and all of it as text; false if the library cannot read it. */
bool library_read(struct spe_disassembler *d, uint64_t address, uint32_t word, char *mnemonic,
                  size_t mnemonic_size, char *text, size_t size);

#endif
