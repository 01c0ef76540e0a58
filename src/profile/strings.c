/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Strings by number: each is kept once. */
#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

#define BLOCK 65536

static uint32_t hash(const char *text, size_t size)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < size; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    return h ^ h >> 15;
}

int strings_init(struct strings *s)
{
    s->table.capacity = 1024;
    s->table.at = malloc(s->table.capacity * sizeof(uint32_t));
    if (!s->table.at)
        return SPE_ERR_NOMEM;
    memset(s->table.at, 0xff, s->table.capacity * sizeof(uint32_t));
    return SPE_OK;
}

void strings_free(struct strings *s)
{
    for (size_t i = 0; i < s->blocks.count; i++)
        free(s->blocks.at[i]);
    for (size_t i = 0; i < STRING_CHUNK; i++)
        free(s->chunk[i]);
    free(s->blocks.at);
    free(s->table.at);
    memset(s, 0, sizeof(*s));
}

const char *strings_at(const struct strings *s, uint32_t id)
{
    return id < s->count ? s->chunk[id / STRING_CHUNK][id % STRING_CHUNK] : "";
}

/* Where the string is in the table, or would be. */
static size_t find_slot(const struct strings *s, const char *text, size_t size)
{
    size_t mask = s->table.capacity - 1;
    size_t slot = hash(text, size) & mask;

    for (; s->table.at[slot] != NONE; slot = (slot + 1) & mask) {
        const char *other = strings_at(s, s->table.at[slot]);

        if (!strncmp(other, text, size) && !other[size])
            break;
    }
    return slot;
}

uint32_t strings_find(const struct strings *s, const char *text)
{
    return s->table.at[find_slot(s, text, strnlen(text, STRING_MAX))];
}

static int grow_table(struct strings *s)
{
    size_t capacity = 2 * s->table.capacity;
    uint32_t *bigger = malloc(capacity * sizeof(uint32_t));

    if (!bigger)
        return SPE_ERR_NOMEM;
    memset(bigger, 0xff, capacity * sizeof(uint32_t));
    free(s->table.at);
    s->table.at = bigger;
    s->table.capacity = capacity;
    for (uint32_t id = 0; id < s->count; id++) {
        const char *text = strings_at(s, id);

        s->table.at[find_slot(s, text, strlen(text))] = id;
    }
    return SPE_OK;
}

static char *copy_text(struct strings *s, const char *text, size_t size)
{
    char *copy;

    if (s->left <= size) {
        if (VECTOR_ROOM(&s->blocks) < 0)
            return NULL;
        s->room = malloc(BLOCK);
        s->left = s->room ? BLOCK : 0;
        if (!s->room)
            return NULL;
        s->blocks.at[s->blocks.count++] = s->room;
    }
    copy = s->room;
    memcpy(copy, text, size);
    copy[size] = 0;
    s->room += size + 1;
    s->left -= size + 1;
    return copy;
}

uint32_t strings_add(struct strings *s, const char *text)
{
    size_t size = strnlen(text, STRING_MAX);
    size_t slot = find_slot(s, text, size);
    char ***chunk = &s->chunk[s->count / STRING_CHUNK % STRING_CHUNK];
    char *copy;

    if (s->table.at[slot] != NONE)
        return s->table.at[slot];
    if (s->count >= STRING_CHUNK * STRING_CHUNK)
        return NONE;
    if (!*chunk)
        *chunk = malloc(STRING_CHUNK * sizeof(char *));
    if (!*chunk)
        return NONE;
    copy = copy_text(s, text, size);
    if (!copy)
        return NONE;
    (*chunk)[s->count % STRING_CHUNK] = copy;
    s->table.at[slot] = s->count++;
    if (4 * (size_t)s->count > 3 * s->table.capacity && grow_table(s) < 0)
        return NONE;
    return s->count - 1;
}
