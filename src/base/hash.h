/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Hashes with a seed, and a table for them. Who makes a file does not know the seed, so that no
 * file can be made in which all keys meet in one place. Answers do not depend on it.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Another one each time. */
uint64_t hash_seed(void);

static inline uint64_t hash_number(uint64_t seed, uint64_t number)
{
    uint64_t h = number ^ seed;

    h = (h ^ h >> 31) * 0x7fb5d329728ea185u;
    h = (h ^ h >> 27) * 0x81dadef4bc2dd44du;
    return h ^ h >> 33;
}

static inline uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    uint64_t h = hash_number(seed, size), word;

    for (const char *at = bytes; size; at += sizeof(word)) {
        size_t part = size < sizeof(word) ? size : sizeof(word);

        word = 0;
        memcpy(&word, at, part);
        h = hash_number(h, word);
        size -= part;
    }
    return h;
}

/* Numbers by hash: open addressing. Whoever has the things with these numbers compares them. */
struct hash_table {
    uint64_t *at; /* hash << 32 | number; all ones: free */
    size_t capacity, used;
};

/* The next number with the low half of this hash, or UINT32_MAX; *cursor begins with 0. */
uint32_t hash_table_find(const struct hash_table *t, uint64_t hash, size_t *cursor);
int hash_table_add(struct hash_table *t, uint64_t hash, uint32_t number);
void hash_table_free(struct hash_table *t);

#endif
