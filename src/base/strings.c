/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Strings by number: each is kept once. */
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

#define BLOCK 65536

void strings_init(struct strings *s, uint64_t seed)
{
    s->seed = seed;
}

void strings_free(struct strings *s)
{
    for (size_t i = 0; i < s->blocks.count; i++)
        free(s->blocks.at[i]);
    for (size_t i = 0; i < STRING_CHUNK; i++)
        free(s->chunk[i]);
    free(s->blocks.at);
    hash_table_free(&s->table);
    memset(s, 0, sizeof(*s));
}

uint64_t strings_memory(const struct strings *s)
{
    return s->blocks.count * (uint64_t)BLOCK + s->table.capacity * sizeof(*s->table.at) +
           s->count * sizeof(char *);
}

const char *strings_at(const struct strings *s, uint32_t id)
{
    return id < atomic_load_explicit(&s->count, memory_order_acquire)
               ? s->chunk[id / STRING_CHUNK][id % STRING_CHUNK]
               : "";
}

static uint32_t find(const struct strings *s, const char *text, size_t size, uint64_t hash)
{
    size_t cursor = 0;
    uint32_t id;

    while ((id = hash_table_find(&s->table, hash, &cursor)) != NONE) {
        const char *other = strings_at(s, id);

        if (!strncmp(other, text, size) && !other[size])
            break;
    }
    return id;
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
    uint64_t hash = hash_bytes(s->seed, text, size);
    uint32_t id = find(s, text, size, hash);
    char ***chunk, *copy;

    if (id != NONE)
        return id;
    id = s->count;
    if (id >= STRING_CHUNK * STRING_CHUNK)
        return NONE;
    chunk = &s->chunk[id / STRING_CHUNK];
    if (!*chunk)
        *chunk = malloc(STRING_CHUNK * sizeof(char *));
    if (!*chunk)
        return NONE;
    copy = copy_text(s, text, size);
    if (!copy || hash_table_add(&s->table, hash, id) < 0)
        return NONE;
    (*chunk)[id % STRING_CHUNK] = copy;
    atomic_store_explicit(&s->count, id + 1, memory_order_release);
    return id;
}
