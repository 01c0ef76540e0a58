/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Looking for the next certain record. The stream remembers what its tries have seen; here is the
 * same search without a memory, and both have to say the same about any bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <specimen/format.h>

#include "../support/streams.h"
#include "format/state.h"

#define BYTES_MAX 16384

/* Where records and skipped ranges are. */
struct found {
    struct {
        uint64_t offset, size;
        uint8_t type;
    } item[BYTES_MAX];
    size_t count;
};

static void find(struct found *f, uint8_t type, uint64_t offset, uint64_t size)
{
    if (!size)
        return;
    assert_true(f->count < BYTES_MAX);
    f->item[f->count].type = type;
    f->item[f->count].offset = offset;
    f->item[f->count++].size = size;
}

/* ---- The search without a memory ------------------------------------------------------------ */

static bool certain(const struct spe_record *r)
{
    return !r->unknown && r->has & SPE_HAS_OP && r->has & SPE_HAS_EVENTS &&
           spe_record_has_address(r, SPE_ADDRESS_PC);
}

/* From `at` to the next certain record, or behind more zeros than a record can hold; *end is where
 * the skipped range ends. */
static size_t search(const uint8_t *bytes, size_t len, size_t at, int first, size_t *end)
{
    struct spe_record r;
    size_t zeros = 0;

    for (; at < len; at++) {
        if (!bytes[at] && ++zeros == SPE_RECORD_MAX) {
            *end = at + 1 - zeros;
            return at + 1;
        }
        if (!bytes[at])
            continue;
        zeros = 0;
        if ((first < 0 || bytes[at] == first) && spe_record_decode(bytes + at, len - at, &r) > 0 &&
            certain(&r))
            break;
    }
    *end = at;
    return at;
}

static void reference(const uint8_t *bytes, size_t len, bool unsynced, struct found *f)
{
    struct spe_record r;
    size_t at = 0, end;
    int first = -1;

    f->count = 0;
    if (unsynced) {
        at = search(bytes, len, 0, first, &end);
        find(f, SPE_ITEM_SKIPPED, 0, end);
    }
    while (at < len) {
        int size = bytes[at] ? spe_record_decode(bytes + at, len - at, &r) : 0;
        size_t from = at;

        if (!bytes[at]) {
            at++;
        } else if (size > 0) {
            first = bytes[at];
            find(f, SPE_ITEM_RECORD, at, (uint64_t)size);
            at += (size_t)size;
        } else {
            at = search(bytes, len, size == SPE_ERR_TRUNCATED ? len : at + 1, first, &end);
            find(f, SPE_ITEM_SKIPPED, from, end - from);
        }
    }
}

/* ---- The stream ----------------------------------------------------------------------------- */

static void listen(struct spe_stream *s, struct found *f)
{
    struct spe_item item;
    struct spe_record r;

    while (spe_stream_next(s, &item, &r) != SPE_ITEM_NONE)
        find(f, item.type, item.offset, item.size);
}

static void stream(const uint8_t *bytes, size_t len, size_t piece, bool unsynced, struct found *f)
{
    struct spe_stream s;

    f->count = 0;
    spe_stream_init(&s, unsynced ? SPE_STREAM_UNSYNCED : 0);
    for (size_t at = 0; at < len; at += piece) {
        assert_int_equal(spe_stream_feed(&s, bytes + at, len - at < piece ? len - at : piece), 0);
        listen(&s, f);
    }
    spe_stream_end(&s);
    listen(&s, f);
}

static void same(const struct found *a, const struct found *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->item[i].type, b->item[i].type);
        assert_int_equal(a->item[i].offset, b->item[i].offset);
        assert_int_equal(a->item[i].size, b->item[i].size);
    }
}

/* Columns hold rows and no offsets of skipped ranges: those come as items. */
static void same_in_bulk(const uint8_t *bytes, size_t len, bool unsynced, const struct found *f)
{
    static uint64_t offset[BYTES_MAX];
    struct spe_columns c = {.size = sizeof(c), .capacity = BYTES_MAX, .offset = offset};
    struct spe_bulk *b = malloc(sizeof(*b));
    struct spe_item skipped;
    size_t row = 0;

    assert_non_null(b);
    assert_int_equal(spe_bulk_init(b, unsynced ? SPE_STREAM_UNSYNCED : 0, SPE_BULK_AUTO), SPE_OK);
    if (len)
        assert_int_equal(spe_bulk_feed(b, bytes, len), SPE_OK);
    spe_bulk_end(b);
    for (size_t i = 0; i < f->count; i++) {
        if (f->item[i].type == SPE_ITEM_RECORD)
            continue;
        assert_int_equal(spe_bulk_next(b, &c, &skipped), SPE_ITEM_SKIPPED);
        assert_int_equal(skipped.offset, f->item[i].offset);
        assert_int_equal(skipped.size, f->item[i].size);
    }
    assert_int_equal(spe_bulk_next(b, &c, &skipped), SPE_ITEM_NONE);
    for (size_t i = 0; i < f->count; i++) {
        if (f->item[i].type == SPE_ITEM_RECORD)
            assert_int_equal(offset[row++], f->item[i].offset);
    }
    assert_int_equal(row, c.rows);
    free(b);
}

static void compare_from(struct random *rng, const uint8_t *bytes, size_t len, bool unsynced)
{
    static struct found expected, got;

    reference(bytes, len, unsynced, &expected);
    stream(bytes, len, len ? len : 1, unsynced, &got);
    same(&expected, &got);
    stream(bytes, len, 1 + random_below(rng, 3000), unsynced, &got);
    same(&expected, &got);
    same_in_bulk(bytes, len, unsynced, &expected);
}

static void compare(struct random *rng, const uint8_t *bytes, size_t len)
{
    compare_from(rng, bytes, len, false);
    compare_from(rng, bytes, len, true);
}

/* ---- Hostile bytes -------------------------------------------------------------------------- */

static const uint8_t record[] = {0xb0, 1, 2, 3, 4, 5, 6, 7, 8, 0x49, 0x00, 0x42, 0x02, 0x01};

/* Headers that say what the search cares for: packets that come once, that may repeat, that are
 * unknown, that have no size, that end a record; and padding. */
static const uint8_t headers[] = {0xb0, 0xb2, 0xb6, 0x9f, 0x9e, 0x98, 0x49, 0x42, 0x43, 0x64, 0x65,
                                  0x01, 0x71, 0x00, 0x00, 0x02, 0x5a, 0x20, 0x22, 0x23, 0xb7, 0x9d};

static size_t put(uint8_t *to, size_t room, const uint8_t *bytes, size_t size)
{
    size = size < room ? size : room;
    memcpy(to, bytes, size);
    return size;
}

/* Some words of one kind, one after the other. */
static size_t put_words(struct random *rng, uint8_t *to, size_t room)
{
    uint8_t word[20], *w = word;
    size_t size = 1 + random_below(rng, 12), len = 0;
    unsigned times = 1 + random_below(rng, random_chance(rng, 20) ? 900 : 4);

    for (size_t i = 0; i < size; i++)
        w[i] = headers[random_below(rng, sizeof(headers))];
    if (random_chance(rng, 30))
        memset(word, word[0], size);
    if (random_chance(rng, 25)) {
        memcpy(word, record, sizeof(record));
        size = sizeof(record);
        times = 1;
    }
    while (times--)
        len += put(to + len, room - len, word, size);
    return len;
}

static void hostile_bytes(void **state)
{
    struct random rng = {7};
    uint8_t *bytes = malloc(BYTES_MAX);

    (void)state;
    assert_non_null(bytes);
    for (unsigned round = 0; round < 120; round++) {
        size_t room = 1 + random_below(&rng, 9000), len = 0;

        while (len < room)
            len += put_words(&rng, bytes + len, room - len);
        compare(&rng, bytes, len);
    }
    free(bytes);
}

static void random_bytes(void **state)
{
    struct random rng = {8};
    uint8_t *bytes = malloc(BYTES_MAX);

    (void)state;
    assert_non_null(bytes);
    for (unsigned round = 0; round < 120; round++) {
        size_t len = random_below(&rng, 9000);

        for (size_t i = 0; i < len; i++)
            bytes[i] = (uint8_t)random_next(&rng);
        for (unsigned i = 0; i < 5 && len > sizeof(record); i++)
            memcpy(bytes + random_below(&rng, (uint32_t)(len - sizeof(record))), record,
                   sizeof(record));
        compare(&rng, bytes, len);
    }
    free(bytes);
}

/* Each try of the search without a memory takes as long as a record can be: these bytes are few,
 * and begin in one way each. */
static void repeated_bytes(void **state)
{
    enum { BYTES = SPE_RECORD_MAX + 400 };
    struct random rng = {9};
    uint8_t *bytes = malloc(BYTES);

    (void)state;
    assert_non_null(bytes);
    for (unsigned value = 0; value < 256; value++) {
        memset(bytes, (int)value, BYTES);
        compare_from(&rng, bytes, BYTES, value % 2);
        memcpy(bytes + SPE_RECORD_MAX + 100, record, sizeof(record));
        compare_from(&rng, bytes, BYTES, (value + 1) % 2);
    }
    free(bytes);
}

/* ---- Time ----------------------------------------------------------------------------------- */

#define TIMED (128 << 10)

static double least_time(const uint8_t *bytes)
{
    struct timespec from, to;
    struct spe_stream s;
    struct spe_item item;
    struct spe_record r;
    double least = 1e9, time;

    for (unsigned i = 0; i < 3; i++) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        spe_stream_init(&s, SPE_STREAM_UNSYNCED);
        assert_int_equal(spe_stream_feed(&s, bytes, TIMED), SPE_OK);
        spe_stream_end(&s);
        while (spe_stream_next(&s, &item, &r) != SPE_ITEM_NONE)
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        time = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        least = time < least ? time : least;
    }
    return least;
}

/* Bytes that frame without an end take hardly longer than random ones. Tries that see everything up
 * to the largest record took hundreds of times as long. */
static void no_bytes_are_slow(void **state)
{
    static const uint8_t words[][12] = {
        {0x9f, 1, 1, 0},            /* counters that may repeat, and padding */
        {0x22, 0xb0, 0x22, 0xb0},   /* addresses that may repeat, in two ways */
        {0x9f, 0x49, 0x49, 0x9f},   /* operations that lead to counters that may repeat */
        {0xb6, 0, 0, 0, 0x9e, 0x9e} /* padding that is also payload */
    };
    struct random rng = {10};
    uint8_t *bytes = malloc(TIMED);
    double limit;

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < TIMED; i++)
        bytes[i] = (uint8_t)random_next(&rng);
    limit = 50 * least_time(bytes);
    for (unsigned value = 0; value < 256; value++) {
        memset(bytes, (int)value, TIMED);
        assert_true(least_time(bytes) < limit);
    }
    for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
        for (size_t size = 3; size <= 12; size++) {
            for (size_t i = 0; i < TIMED; i++)
                bytes[i] = words[w][i % size];
            assert_true(least_time(bytes) < limit);
        }
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_bytes),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(repeated_bytes),
        cmocka_unit_test(no_bytes_are_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
