/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * One line a sample, in the order, the widths and the words of `perf script`. Fields that perf does
 * not have follow as name=value.
 */
#ifndef RENDER_SCRIPT_H
#define RENDER_SCRIPT_H

#include <specimen/analysis.h>

#include "render/out.h"

enum script_field {
    SCRIPT_COMM,
    SCRIPT_PID,
    SCRIPT_TID,
    SCRIPT_CPU,
    SCRIPT_TIME,
    SCRIPT_PERIOD,
    SCRIPT_EVENT,
    SCRIPT_FLAGS,
    SCRIPT_ADDR,
    SCRIPT_DATA_SRC,
    SCRIPT_WEIGHT,
    SCRIPT_IP,
    SCRIPT_SYM,
    SCRIPT_SYMOFF,
    SCRIPT_DSO,
    SCRIPT_PHYS_ADDR,
    SCRIPT_SRCLINE,
    /* Not perf's: */
    SCRIPT_OP,
    SCRIPT_EVENTS,
    SCRIPT_ISSUE,
    SCRIPT_TRANSLATION,
    SCRIPT_SOURCE,
    SCRIPT_LEVEL,
    SCRIPT_TARGET,
    SCRIPT_PREVIOUS,
    SCRIPT_EL,
    SCRIPT_TIMESTAMP,
    SCRIPT_OFFSET,
    SCRIPT_FIELDS
};

const char *script_field_name(unsigned field); /* as in -F; NULL past the last */

#define SCRIPT_BIT(name) (UINT32_C(1) << SCRIPT_##name)
#define SCRIPT_DEFAULT                                                                             \
    (SCRIPT_BIT(COMM) | SCRIPT_BIT(PID) | SCRIPT_BIT(TID) | SCRIPT_BIT(CPU) | SCRIPT_BIT(TIME) |   \
     SCRIPT_BIT(EVENT) | SCRIPT_BIT(ADDR) | SCRIPT_BIT(WEIGHT) | SCRIPT_BIT(IP) |                  \
     SCRIPT_BIT(SYM) | SCRIPT_BIT(SYMOFF) | SCRIPT_BIT(DSO))

struct script;

/* Columns that these fields do not need: SPE_OMIT_... */
unsigned script_omit(uint32_t fields);

/* NULL if there is no memory. ns: times with nine digits, else six. */
struct script *script_create(struct spe_profile *profile, uint32_t fields, bool ns);
void script_destroy(struct script *s);

/* False if memory ran out. */
bool script_rows(struct script *s, struct out *o, const struct spe_rows *rows);

/* ---- shared with the exports ----------------------------------------------------------------- */

/* perf's name of the group that a sample belongs to most closely: "memory", "branch",
 * "instructions". */
const char *script_event(uint16_t op, uint8_t has);

/* Data address of loads and stores, target of branches, else 0. */
uint64_t script_address(const struct spe_rows *rows, size_t i);

#endif
