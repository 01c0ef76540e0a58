/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Texts of a column, each kept once. Readers of Arrow and Parquet insist on UTF-8: for them bytes
 * that are not part of it become \xNN. A dictionary only grows. Whoever hands out its texts takes a
 * copy (dictionary_view) that stays as it is.
 */
#ifndef COLUMNS_DICTIONARY_H
#define COLUMNS_DICTIONARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vector.h"

#define NO_INDEX (-1)

/* The first `count` texts: text i is bytes[offsets[i]] to bytes[offsets[i + 1]]. */
struct dictionary_view {
    atomic_uint users;
    size_t count;
    int32_t *offsets;
    char *bytes;
};

/* A text as Arrow's utf8_view has it: its size, then the text itself if that fits, else its first
 * bytes and where it is. */
struct text_view {
    uint64_t start, end;
};

struct dictionary {
    VECTOR(int32_t) offsets;
    VECTOR(char) bytes;
    struct hash_table table;
    uint64_t seed;
    bool utf8;
    struct dictionary_view *view; /* of all texts, or NULL */
};

int dictionary_init(struct dictionary *d, bool utf8);
void dictionary_free(struct dictionary *d);
/* Number of a text, or a negative enum spe_error. */
int64_t dictionary_add(struct dictionary *d, const char *text);
size_t dictionary_count(const struct dictionary *d);

/* A view of all texts, to be given back; NULL: no memory. */
struct dictionary_view *dictionary_view(struct dictionary *d);
void dictionary_view_release(struct dictionary_view *v);

/* Of text `number`. It holds for later views of the dictionary, too: texts do not move. */
struct text_view text_view(const struct dictionary_view *v, size_t number);

#endif
