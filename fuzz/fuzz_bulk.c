/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The bulk decoder against the record stream: same rows, same skipped ranges, same account, on
 * every path that this machine has. The first two bytes choose flags and pieces.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/format.h>

#include "../tests/support/columns.h"
#include "format/state.h"
#include "require.h"

enum { ROOM = 8192 }; /* rows; an input has at most as many bytes */

static struct spe_columns expected, got;
static struct spe_item ranges[ROOM];
static struct spe_account account;

static size_t run_stream(const uint8_t *data, size_t size, unsigned flags)
{
    static struct spe_stream s;
    struct spe_item item;
    struct spe_record r;
    size_t n = 0;

    expected.rows = 0;
    spe_stream_init(&s, flags);
    REQUIRE(spe_stream_feed(&s, data, size) == SPE_OK);
    spe_stream_end(&s);
    while (spe_stream_next(&s, &item, &r) != SPE_ITEM_NONE) {
        if (item.type == SPE_ITEM_RECORD)
            columns_append(&expected, &r, item.offset);
        else
            ranges[n++] = item;
    }
    account = s.account;
    return n;
}

static size_t drain(struct spe_bulk *b, size_t range)
{
    struct spe_item skipped;
    int what;

    while ((what = spe_bulk_next(b, &got, &skipped)) != SPE_ITEM_NONE) {
        REQUIRE(what == SPE_ITEM_SKIPPED);
        REQUIRE(skipped.offset == ranges[range].offset && skipped.size == ranges[range].size &&
                skipped.reason == ranges[range].reason);
        range++;
    }
    return range;
}

static void run_bulk(const uint8_t *data, size_t size, size_t piece, unsigned flags,
                     enum spe_bulk_path path, size_t n)
{
    static struct spe_bulk b;
    size_t range = 0;

    if (spe_bulk_init(&b, flags, path) < 0)
        return;
    got.rows = 0;
    for (size_t at = 0; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;
        uint8_t *copy = malloc(len);

        REQUIRE(copy);
        memcpy(copy, data + at, len);
        REQUIRE(spe_bulk_feed(&b, copy, len) == SPE_OK);
        range = drain(&b, range);
        free(copy);
    }
    spe_bulk_end(&b);
    REQUIRE(drain(&b, range) == n);
    REQUIRE(!memcmp(&b.stream.account, &account, sizeof(account)));
    REQUIRE(same_columns(&got, &expected));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned flags;
    size_t piece, n;

    if (size < 3 || size - 2 >= ROOM)
        return 0;
    if (!got.pc) {
        expected = make_columns(ROOM);
        got = make_columns(ROOM);
    }
    flags = data[0] & 1 ? SPE_STREAM_UNSYNCED : 0;
    piece = data[0] & 2 ? size : 1 + (size_t)data[1] * 19;
    n = run_stream(data + 2, size - 2, flags);
    for (unsigned path = SPE_BULK_AUTO; path <= SPE_BULK_NEON; path++)
        run_bulk(data + 2, size - 2, piece, flags, (enum spe_bulk_path)path, n);
    return 0;
}
