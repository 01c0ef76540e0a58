/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The list of columns (columns.def, and a boolean for each event), and a choice of them. */
#ifndef COLUMNS_COLUMNS_H
#define COLUMNS_COLUMNS_H

#include <specimen/profile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMNS_VERSION "1" /* of the schema: columns do not change their meaning within it */
#define COLUMNS_MAX 128
#define EVENT_PREFIX "event_"

enum column_type {
    COLUMN_U8,
    COLUMN_U16,
    COLUMN_U32,
    COLUMN_U64,
    COLUMN_I64,
    COLUMN_TEXT, /* int32 index of a dictionary */
    COLUMN_FLAG, /* a bit */
};

enum column_style { COLUMN_DECIMAL, COLUMN_HEX };

/* Bits of a row's presence word: has, addresses and counters of struct spe_rows, and the rest. */
enum column_presence {
    PRESENT_OP = 0,
    PRESENT_EVENTS = 1,
    PRESENT_SOURCE = 2,
    PRESENT_CONTEXT1 = 3,
    PRESENT_CONTEXT2 = 4,
    PRESENT_TIMESTAMP = 5,
    PRESENT_PC = 8 + SPE_ADDRESS_PC,
    PRESENT_TARGET = 8 + SPE_ADDRESS_TARGET,
    PRESENT_VA = 8 + SPE_ADDRESS_VA,
    PRESENT_PA = 8 + SPE_ADDRESS_PA,
    PRESENT_PREVIOUS_TARGET = 8 + SPE_ADDRESS_PREVIOUS_TARGET,
#define COUNTER(name, NAME, sentence) PRESENT_##NAME = 16 + SPE_COUNTER_##NAME,
#include "format/counters.def"
    PRESENT_TIME = 24,
    PRESENT_CPU,
    PRESENT_PID,
    PRESENT_TID,
    PRESENT_EL,
    PRESENT_LEVEL,
    PRESENT_COMM,
    PRESENT_SYMBOL,
    PRESENT_DSO,
    PRESENT_FILE,
    PRESENT_DSO_PC,
    PRESENT_SOURCE_NAME,
    PRESENT_DATA,
    PRESENT_BUILD_ID,
    PRESENT_ALWAYS = 63,
};

/* Numbers of the columns of columns.def; events follow. */
enum column_id {
#define NUMBER(name, type, style, presence, member, sentence) COLUMN_ID_##name,
#define MADE(name, type, style, presence, sentence) COLUMN_ID_##name,
#define TEXT(name, presence, sentence) COLUMN_ID_##name,
#include "columns/columns.def"
    COLUMN_ID_EVENT,
};

struct column {
    char name[32];
    uint8_t type, style, presence;
    uint8_t event;   /* of a flag */
    uint8_t id;      /* enum column_id */
    uint32_t member; /* offset of its array in struct spe_rows, or NO_MEMBER */
    const char *sentence;
};

#define NO_MEMBER UINT32_MAX

/* Bytes of a value; a flag has none. */
static inline size_t column_size(const struct column *c)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 8, 4, 0};

    return sizes[c->type];
}

struct column_choice {
    struct column at[COLUMNS_MAX];
    size_t count;
};

/* Every column in order; false past the last. */
bool column_at(size_t i, struct column *column);

/*
 * The columns that a comma-separated list names, in its order; NULL: all but those that are found
 * only when they are asked for. SPE_OK, or SPE_ERR_INVALID with a sentence that lists them.
 */
int columns_choose(struct column_choice *choice, const char *names,
                   struct spe_profile_error *error);

/* What a profile must be opened with for these columns: SPE_WANT_... */
unsigned columns_want(const struct column_choice *choice);
/* ... and which of its columns nobody needs: SPE_OMIT_... */
unsigned columns_omit(const struct column_choice *choice);

#endif
