/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Names, each kept once and known by a number. */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vector.h"

#define NONE UINT32_MAX

#define STRING_MAX 4095 /* bytes; longer ones are cut */
#define STRING_CHUNK 4096

/* Interned strings. Old ones may be read by any thread while one thread adds new ones. */
struct strings {
    char **chunk[STRING_CHUNK];
    _Atomic uint32_t count; /* is told when the string is there */
    struct hash_table table;
    uint64_t seed;
    char *room; /* of the block that is being filled */
    size_t left;
    VECTOR(char *) blocks;
    atomic_int trouble; /* why names are missing that were looked for later; 0: none is */
};

void strings_init(struct strings *s, uint64_t seed);
void strings_free(struct strings *s);
/* Id of a string, or NONE if there is no memory for it. */
uint32_t strings_add(struct strings *s, const char *text);
const char *strings_at(const struct strings *s, uint32_t id);
/* Bytes that they take. */
uint64_t strings_memory(const struct strings *s);

/* A name could not be found out: SPE_ERR_NOMEM, SPE_ERR_IO. The profile's user is told by
 * spe_profile_status; the first reason counts. */
static inline void names_missing(struct strings *s, int why)
{
    int none = 0;

    atomic_compare_exchange_strong(&s->trouble, &none, why);
}

#endif
