/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/columns.h"

#include <stdio.h>
#include <string.h>

static const struct column list[] = {
#define NUMBER(name, type, style, presence, member, sentence)                                      \
    {#name,                                                                                        \
     COLUMN_##type,                                                                                \
     COLUMN_##style,                                                                               \
     PRESENT_##presence,                                                                           \
     0,                                                                                            \
     COLUMN_ID_##name,                                                                             \
     offsetof(struct spe_rows, member),                                                            \
     sentence},
#define MADE(name, type, style, presence, sentence)                                                \
    {#name, COLUMN_##type,    COLUMN_##style, PRESENT_##presence,                                  \
     0,     COLUMN_ID_##name, NO_MEMBER,      sentence},
#define TEXT(name, presence, sentence)                                                             \
    {#name, COLUMN_TEXT,      COLUMN_DECIMAL, PRESENT_##presence,                                  \
     0,     COLUMN_ID_##name, NO_MEMBER,      sentence},
#include "columns/columns.def"
};

#define LISTED (sizeof(list) / sizeof(list[0]))

/* The i-th event that the architecture names, as a column. */
static bool event_column(size_t i, struct column *column)
{
    unsigned event;

    for (event = 0; event < 64; event++) {
        if (spe_event_name(event) && !i--)
            break;
    }
    if (event == 64)
        return false;
    *column = (struct column){
        .type = COLUMN_FLAG,
        .presence = PRESENT_EVENTS,
        .event = (uint8_t)event,
        .id = COLUMN_ID_EVENT,
        .member = NO_MEMBER,
        .sentence = "event of that name",
    };
    snprintf(column->name, sizeof(column->name), EVENT_PREFIX "%s", spe_event_name(event));
    return true;
}

bool column_at(size_t i, struct column *column)
{
    if (i >= LISTED)
        return event_column(i - LISTED, column);
    *column = list[i];
    return true;
}

static bool find_column(const char *name, size_t length, struct column *column)
{
    for (size_t i = 0; column_at(i, column); i++) {
        if (strlen(column->name) == length && memcmp(column->name, name, length) == 0)
            return true;
    }
    return false;
}

static bool is_chosen(const struct column_choice *choice, const char *name)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (strcmp(choice->at[i].name, name) == 0)
            return true;
    }
    return false;
}

static int refuse(struct spe_profile_error *error, const char *name, size_t length, const char *why)
{
    struct column column;
    size_t used;

    if (!error)
        return SPE_ERR_INVALID;
    *error = (struct spe_profile_error){.code = SPE_ERR_INVALID, .filter_position = -1};
    used = (size_t)snprintf(error->text, sizeof(error->text), "'%.*s' %s; there are",
                            length > 60 ? 60 : (int)length, name, why);
    for (size_t i = 0; column_at(i, &column) && used < sizeof(error->text); i++)
        used += (size_t)snprintf(error->text + used, sizeof(error->text) - used, "%s %s",
                                 i ? "," : "", column.name);
    return SPE_ERR_INVALID;
}

static void choose_all(struct column_choice *choice)
{
    struct column column;

    for (size_t i = 0; column_at(i, &column); i++) {
        if (column.presence != PRESENT_DATA)
            choice->at[choice->count++] = column;
    }
}

int columns_choose(struct column_choice *choice, const char *names, struct spe_profile_error *error)
{
    choice->count = 0;
    if (!names) {
        choose_all(choice);
        return SPE_OK;
    }
    for (const char *name = names;; name++) {
        size_t length = strcspn(name, ",");
        struct column column;

        if (!find_column(name, length, &column))
            return refuse(error, name, length, "is not a column");
        if (is_chosen(choice, column.name))
            return refuse(error, name, length, "is named twice");
        choice->at[choice->count++] = column;
        name += length;
        if (!*name)
            return SPE_OK;
    }
}

static bool has_id(const struct column_choice *choice, enum column_id id)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->at[i].id == id)
            return true;
    }
    return false;
}

unsigned columns_want(const struct column_choice *choice)
{
    unsigned want = 0;

    if (has_id(choice, COLUMN_ID_symbol) || has_id(choice, COLUMN_ID_symbol_offset))
        want |= SPE_WANT_SYMBOL;
    if (has_id(choice, COLUMN_ID_file) || has_id(choice, COLUMN_ID_line))
        want |= SPE_WANT_LINE;
    return want;
}

unsigned columns_omit(const struct column_choice *choice)
{
    static const struct {
        uint8_t columns[8];
        unsigned omit;
    } parts[] = {
        {{COLUMN_ID_offset}, SPE_OMIT_OFFSET},
        {{COLUMN_ID_timestamp}, SPE_OMIT_TIMESTAMP},
        {{COLUMN_ID_target}, SPE_OMIT_TARGET},
        {{COLUMN_ID_va, COLUMN_ID_data, COLUMN_ID_data_offset}, SPE_OMIT_VA},
        {{COLUMN_ID_pa}, SPE_OMIT_PA},
        {{COLUMN_ID_previous_target}, SPE_OMIT_PREVIOUS_TARGET},
#define COUNTER(name, NAME, sentence)                                                              \
    SPE_COUNTER_##NAME == SPE_COUNTER_TOTAL ? COLUMN_ID_issue : COLUMN_ID_##name,
        {{
#include "format/counters.def"
         },
         SPE_OMIT_LATENCIES}, /* total stays */
        {{COLUMN_ID_source, COLUMN_ID_source_name}, SPE_OMIT_SOURCE},
        {{COLUMN_ID_context1, COLUMN_ID_context2}, SPE_OMIT_CONTEXTS},
        {{COLUMN_ID_comm}, SPE_OMIT_COMM},
        {{COLUMN_ID_cpu, COLUMN_ID_source_name}, SPE_OMIT_CPU},
        {{COLUMN_ID_tid}, SPE_OMIT_TID},
    };
    unsigned omit = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        bool needed = false;

        for (size_t k = 0; k < sizeof(parts[i].columns) && (!k || parts[i].columns[k]); k++)
            needed |= has_id(choice, parts[i].columns[k]);
        omit |= needed ? 0 : parts[i].omit;
    }
    return omit;
}
