/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/dictionary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define VIEW_INSIDE 12 /* bytes that fit into a view */

int dictionary_init(struct dictionary *d, bool utf8)
{
    memset(d, 0, sizeof(*d));
    d->utf8 = utf8;
    d->seed = hash_seed();
    if (VECTOR_ROOM(&d->offsets) < 0)
        return SPE_ERR_NOMEM;
    d->offsets.at[d->offsets.count++] = 0;
    return SPE_OK;
}

void dictionary_free(struct dictionary *d)
{
    free(d->offsets.at);
    free(d->bytes.at);
    hash_table_free(&d->table);
    dictionary_view_release(d->view);
    memset(d, 0, sizeof(*d));
}

size_t dictionary_count(const struct dictionary *d)
{
    return d->offsets.count - 1;
}

static int put(struct dictionary *d, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (d->bytes.count >= INT32_MAX)
            return SPE_ERR_NOSPACE;
        if (VECTOR_ROOM(&d->bytes) < 0)
            return SPE_ERR_NOMEM;
        d->bytes.at[d->bytes.count++] = bytes[i];
    }
    return SPE_OK;
}

/* Behind the texts that are there. */
static int put_text(struct dictionary *d, const char *text)
{
    int result = SPE_OK;

    if (!d->utf8)
        return put(d, text, strlen(text));
    while (*text && result == SPE_OK) {
        uint32_t code;
        unsigned size = utf8_decode(text, &code);
        char escape[5];

        if (size) {
            result = put(d, text, size);
            text += size;
        } else {
            snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)*text++);
            result = put(d, escape, 4);
        }
    }
    return result;
}

static bool same(const struct dictionary *d, uint32_t number, size_t start)
{
    size_t from = (size_t)d->offsets.at[number], to = (size_t)d->offsets.at[number + 1];
    size_t size = d->bytes.count - start;

    if (to - from != size || !size)
        return to - from == size;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a size has bytes */
    return memcmp(d->bytes.at + from, d->bytes.at + start, size) == 0;
}

int64_t dictionary_add(struct dictionary *d, const char *text)
{
    size_t start = d->bytes.count, cursor = 0;
    int result = put_text(d, text);
    uint32_t number;
    uint64_t hash;

    if (result == SPE_OK && d->offsets.count > INT32_MAX)
        result = SPE_ERR_NOSPACE;
    if (result == SPE_OK) {
        hash = hash_bytes(d->seed, d->bytes.at ? d->bytes.at + start : "", d->bytes.count - start);
        while ((number = hash_table_find(&d->table, hash, &cursor)) != UINT32_MAX) {
            if (same(d, number, start)) {
                d->bytes.count = start;
                return number;
            }
        }
        number = (uint32_t)dictionary_count(d);
        if (VECTOR_ROOM(&d->offsets) == SPE_OK && hash_table_add(&d->table, hash, number) >= 0) {
            d->offsets.at[d->offsets.count++] = (int32_t)d->bytes.count;
            return number;
        }
        result = SPE_ERR_NOMEM;
    }
    d->bytes.count = start;
    return result;
}

static struct dictionary_view *make_view(const struct dictionary *d)
{
    struct dictionary_view *v = calloc(1, sizeof(*v));

    if (!v)
        return NULL;
    atomic_init(&v->users, 1);
    v->count = dictionary_count(d);
    v->offsets = malloc(d->offsets.count * sizeof(*v->offsets));
    v->bytes = malloc(d->bytes.count + 1);
    if (!v->offsets || !v->bytes) {
        dictionary_view_release(v);
        return NULL;
    }
    memcpy(v->offsets, d->offsets.at, d->offsets.count * sizeof(*v->offsets));
    if (d->bytes.count)
        memcpy(v->bytes, d->bytes.at, d->bytes.count);
    return v;
}

struct dictionary_view *dictionary_view(struct dictionary *d)
{
    if (!d->view || d->view->count != dictionary_count(d)) {
        dictionary_view_release(d->view);
        d->view = make_view(d);
    }
    if (d->view)
        atomic_fetch_add(&d->view->users, 1);
    return d->view;
}

void dictionary_view_release(struct dictionary_view *v)
{
    if (!v || atomic_fetch_sub(&v->users, 1) != 1)
        return;
    free(v->offsets);
    free(v->bytes);
    free(v);
}

struct text_view text_view(const struct dictionary_view *v, size_t number)
{
    int32_t from = v->offsets[number], size = v->offsets[number + 1] - from;
    const char *text = v->bytes + from;
    struct text_view view = {0};
    char *to = (char *)&view;

    memcpy(to, &size, sizeof(size));
    if (size <= VIEW_INSIDE) {
        memcpy(to + sizeof(size), text, (size_t)size);
        return view;
    }
    memcpy(to + sizeof(size), text,
           sizeof(size)); /* its first bytes; then number 0 of the buffers */
    memcpy(to + 3 * sizeof(size), &from, sizeof(from));
    return view;
}
