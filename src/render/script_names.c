/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/script_names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/safe.h"

#define SLOTS 16384
#define TEXT 2048

int place_texts_init(struct place_texts *p, struct spe_profile *profile, unsigned what)
{
    p->profile = profile;
    p->what = what;
    p->used = 0;
    p->slots = calloc(SLOTS, sizeof(*p->slots));
    return p->slots ? SPE_OK : SPE_ERR_NOMEM;
}

static void empty(struct place_texts *p)
{
    size_t i;

    for (i = 0; i < SLOTS; i++)
        free(p->slots[i].text);
    memset(p->slots, 0, SLOTS * sizeof(*p->slots));
    p->used = 0;
}

void place_texts_free(struct place_texts *p)
{
    if (p->slots)
        empty(p);
    free(p->slots);
    p->slots = NULL;
}

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, TEXT - used, format, args);
    va_end(args);
}

static void append_symbol(struct place_texts *p, const struct spe_rows *rows, size_t i, char *text)
{
    uint64_t id = rows->symbol ? rows->symbol[i] : SPE_NO_SYMBOL;
    struct spe_profile_symbol symbol;
    struct spe_profile_place place;

    if (id == SPE_NO_SYMBOL || spe_profile_symbol(p->profile, id, &symbol) != SPE_OK) {
        append(text, " [unknown]");
        return;
    }
    append(text, " %s", symbol.name);
    if (p->what & NAMES_SYMOFF &&
        spe_profile_place(p->profile, rows->thread[i], rows->time_ns ? rows->time_ns[i] : 0,
                          rows->pc[i], false, &place) == SPE_OK &&
        place.symbol == id)
        append(text, "+0x%" PRIx64, place.in_symbol);
}

static void append_dso(struct place_texts *p, uint32_t id, char *text)
{
    const struct spe_profile_map *map = id != SPE_NO_ID ? spe_profile_map(p->profile, id) : NULL;
    const struct spe_profile_dso *dso = map ? spe_profile_dso(p->profile, map->dso) : NULL;

    append(text, " (%s)", dso ? spe_profile_string(p->profile, dso->path) : "[unknown]");
}

static void append_line(struct place_texts *p, uint32_t map, uint64_t pc, char *text)
{
    uint32_t id = map != SPE_NO_ID ? spe_profile_find_line(p->profile, map, pc) : SPE_NO_ID;
    struct spe_profile_line line;

    if (id == SPE_NO_ID || spe_profile_line(p->profile, id, &line) != SPE_OK)
        append(text, " [unknown]:0");
    else
        append(text, " %s:%" PRIu32, spe_profile_string(p->profile, line.file), line.line);
}

/* What tells the text, beside the map: functions have one for all their pcs. */
static uint64_t key_of(const struct place_texts *p, const struct spe_rows *rows, size_t i)
{
    if (p->what & (NAMES_SYMOFF | NAMES_LINE) || !rows->symbol)
        return rows->pc[i];
    return rows->symbol[i];
}

static bool fill(struct place_texts *p, const struct spe_rows *rows, size_t i,
                 struct place_text *slot)
{
    char text[TEXT] = "", *safe;

    if (p->what & NAMES_SYM)
        append_symbol(p, rows, i, text);
    if (p->what & NAMES_DSO)
        append_dso(p, rows->map[i], text);
    if (p->what & NAMES_LINE)
        append_line(p, rows->map[i], rows->pc[i], text);
    safe = text_safe(text);
    if (!safe)
        return false;
    slot->length = (uint32_t)strlen(safe);
    slot->text = calloc(1, slot->length + PLACE_SHORT);
    if (slot->text)
        memcpy(slot->text, safe, slot->length);
    free(safe);
    if (!slot->text)
        return false;
    slot->pc = key_of(p, rows, i);
    slot->map = rows->map[i];
    p->used++;
    return true;
}

const struct place_text *place_texts_find(struct place_texts *p, const struct spe_rows *rows,
                                          size_t i)
{
    uint64_t pc = key_of(p, rows, i);
    uint32_t map = rows->map[i];
    uint64_t x = (pc >> 2 ^ (uint64_t)map << 44) * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot;

    if (p->used >= SLOTS / 4 * 3)
        empty(p);
    for (slot = (size_t)(x >> 40) % SLOTS; p->slots[slot].text; slot = (slot + 1) % SLOTS) {
        if (p->slots[slot].pc == pc && p->slots[slot].map == map)
            return &p->slots[slot];
    }
    return fill(p, rows, i, &p->slots[slot]) ? &p->slots[slot] : NULL;
}
