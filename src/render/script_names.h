/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The text for a pc, made once and kept: programs run few instructions often. When the store is
 * full it is emptied, so that memory is bounded.
 */
#ifndef RENDER_SCRIPT_NAMES_H
#define RENDER_SCRIPT_NAMES_H

#include <specimen/profile.h>

enum { NAMES_SYM = 1, NAMES_SYMOFF = 2, NAMES_DSO = 4, NAMES_LINE = 8 };

#define PLACE_SHORT 64 /* bytes that can be read of every text, for copies of a constant size */

struct place_text {
    uint64_t pc; /* or symbol */
    uint32_t map;
    uint32_t length;
    char *text; /* NULL: the slot is free */
};

struct place_texts {
    struct spe_profile *profile;
    unsigned what; /* NAMES_... */
    struct place_text *slots;
    size_t used;
};

/* SPE_OK or SPE_ERR_NOMEM. */
int place_texts_init(struct place_texts *p, struct spe_profile *profile, unsigned what);
void place_texts_free(struct place_texts *p);

/* " function+0x10 (dso) file:line", as much of it as was asked for; NULL if there is no memory.
 * Text is safe for a terminal. Valid until the next call. */
const struct place_text *place_texts_find(struct place_texts *p, const struct spe_rows *rows,
                                          size_t i);

#endif
