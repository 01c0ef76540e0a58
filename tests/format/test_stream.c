/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.1.2 and D18.1.3: records out of bytes, in pieces, with unknown packets, and after damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#include "../support/streams.h"
#include "format/state.h"

/* Everything a stream said. */
struct heard {
    struct spe_record record[64];
    uint64_t offset[64];
    unsigned records;
    struct spe_item skipped[64];
    unsigned ranges;
    struct spe_account account;
};

static void listen(struct spe_stream *s, struct heard *h)
{
    struct spe_item item;
    struct spe_record r;

    while (spe_stream_next(s, &item, &r) != SPE_ITEM_NONE) {
        if (item.type == SPE_ITEM_RECORD) {
            assert_true(h->records < 64);
            assert_int_equal(item.size, r.size);
            assert_non_null(item.bytes);
            h->offset[h->records] = item.offset;
            h->record[h->records++] = r;
        } else {
            assert_true(h->ranges < 64);
            h->skipped[h->ranges++] = item;
        }
    }
}

/* Feed in pieces that end at the given places. */
static void hear(const uint8_t *bytes, size_t len, const size_t *cut, size_t cuts, unsigned flags,
                 struct heard *h)
{
    struct spe_stream s;
    size_t from = 0;

    memset(h, 0, sizeof(*h));
    spe_stream_init(&s, flags);
    for (size_t i = 0; i <= cuts; i++) {
        size_t to = i < cuts ? cut[i] : len;
        uint8_t *piece = malloc(to - from + 1); /* so that sanitizers see every overrun */

        memcpy(piece, bytes + from, to - from);
        assert_int_equal(spe_stream_feed(&s, piece, to - from), SPE_OK);
        listen(&s, h);
        free(piece);
        from = to;
    }
    spe_stream_end(&s);
    listen(&s, h);
    h->account = s.account;
    assert_true(account_adds_up(&h->account));
    assert_int_equal(h->account.bytes, len);
    assert_int_equal(h->account.records, h->records);
    assert_int_equal(h->account.skipped, h->ranges);
}

static void same_heard(const struct heard *a, const struct heard *b)
{
    assert_int_equal(a->records, b->records);
    assert_int_equal(a->ranges, b->ranges);
    assert_memory_equal(&a->account, &b->account, sizeof(a->account));
    for (unsigned i = 0; i < a->records; i++) {
        assert_int_equal(a->offset[i], b->offset[i]);
        assert_true(same_record(&a->record[i], &b->record[i]));
    }
    for (unsigned i = 0; i < a->ranges; i++) {
        assert_int_equal(a->skipped[i].offset, b->skipped[i].offset);
        assert_int_equal(a->skipped[i].size, b->skipped[i].size);
        assert_int_equal(a->skipped[i].reason, b->skipped[i].reason);
    }
}

/* D18.1-014: [16-bit header][LSB][MSB][8-bit header][data][End]. */
static void worked_layout_end(void **state)
{
    static const uint8_t bytes[] = {0x99, 0x34, 0x02, 0x42, 0x12, 0x01};
    struct heard h;

    (void)state;
    hear(bytes, sizeof(bytes), NULL, 0, 0, &h);
    assert_int_equal(h.records, 1);
    assert_int_equal(h.record[0].size, 6);
    assert_int_equal(h.record[0].counters, 1u << 1);
    assert_int_equal(h.record[0].counter[1], 0x234);
    assert_int_equal(h.record[0].events, 0x12);
    assert_int_equal(h.record[0].has, SPE_HAS_EVENTS);
}

/* D18.1-015: the same, then 0x71 at 5 and TS[63:56] at 13. D18.2-140: eight distinct bytes. */
static void worked_layout_timestamp(void **state)
{
    static const uint8_t bytes[] = {0x99, 0x34, 0x02, 0x42, 0x12, 0x71, 0x08,
                                    0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01};
    struct heard h;

    (void)state;
    hear(bytes, sizeof(bytes), NULL, 0, 0, &h);
    assert_int_equal(h.records, 1);
    assert_int_equal(h.record[0].size, 14);
    assert_int_equal(h.record[0].timestamp, UINT64_C(0x0102030405060708));
    assert_int_equal(h.record[0].has, SPE_HAS_EVENTS | SPE_HAS_TIMESTAMP);
}

/* A record with a packet in its middle: PC, `middle`, op type, events, total, End. */
static size_t record_around(uint8_t *out, const uint8_t *middle, size_t len)
{
    static const uint8_t head[] = {0xb0, 0x10, 0x20, 0x30, 0, 0, 0, 0, 0x80};
    static const uint8_t tail[] = {0x49, 0x01, 0x52, 0x16, 0x01, 0x98, 0x40, 0x00, 0x01};

    memcpy(out, head, sizeof(head));
    if (len)
        memcpy(out + sizeof(head), middle, len);
    memcpy(out + sizeof(head) + len, tail, sizeof(tail));
    return sizeof(head) + len + sizeof(tail);
}

static void expect_around(const uint8_t *bytes, size_t len, unsigned unknown, unsigned padding)
{
    struct heard h;

    hear(bytes, len, NULL, 0, 0, &h);
    assert_int_equal(h.records, 1);
    assert_int_equal(h.ranges, 0);
    assert_int_equal(h.record[0].size, len);
    assert_int_equal(h.record[0].unknown, unknown);
    assert_int_equal(h.record[0].padding, padding);
    assert_int_equal(h.account.unknown, unknown);
    assert_int_equal(h.record[0].addresses, 1);
    assert_int_equal(h.record[0].address[0], UINT64_C(0x8000000000302010));
    assert_int_equal(h.record[0].has, SPE_HAS_OP | SPE_HAS_EVENTS);
    assert_int_equal(h.record[0].op_class, 1);
    assert_int_equal(h.record[0].op, 1);
    assert_int_equal(h.record[0].events, 0x116);
    assert_int_equal(h.record[0].counter[0], 0x40);
}

/* D18.1-021: every unallocated header, with payload bytes that look like terminators, is stepped
 * over by its size and changes nothing else. */
static void unknown_packets_are_stepped_over(void **state)
{
    uint8_t bytes[64], middle[10];

    (void)state;
    for (unsigned h0 = 0; h0 < 256; h0++) {
        for (unsigned h1 = 0; h1 < 256; h1++) {
            struct spe_packet p;
            int size;

            memset(middle, 0x01, sizeof(middle));
            middle[0] = (uint8_t)h0;
            middle[1] = (uint8_t)h1;
            size = spe_packet_decode(middle, sizeof(middle), &p);
            if (size < 0 || p.type != SPE_PACKET_UNKNOWN)
                continue;
            expect_around(bytes, record_around(bytes, middle, (size_t)size), 1, 0);
            if (p.header_size == 1)
                break;
        }
    }
}

/* D18.1-022: a known packet with a reserved value is stepped over as well. */
static void reserved_values_are_stepped_over(void **state)
{
    static const struct {
        uint8_t bytes[10];
        unsigned size;
    } reserved[] = {
        {{0x66, 1, 1, 1, 1}, 5},                    /* context INDEX 2: D18.2-032 */
        {{0x67, 1, 1, 1, 1}, 5},                    /* context INDEX 3 */
        {{0x63, 1, 1, 1, 1}, 5},                    /* data source SZ 0b10: D18.1-029 */
        {{0x73, 1, 1, 1, 1, 1, 1, 1, 1}, 9},        /* data source SZ 0b11 */
        {{0x4b, 0x01}, 2},                          /* CLASS 3: D18.2-099 */
        {{0xb5, 1, 1, 1, 1, 1, 1, 1, 1}, 9},        /* address INDEX 5: D18.2-010 */
        {{0x21, 0xb0, 1, 1, 1, 1, 1, 1, 1, 1}, 10}, /* address INDEX 8 */
        {{0x21, 0xb7, 1, 1, 1, 1, 1, 1, 1, 1}, 10}, /* address INDEX 15 */
        {{0x9b, 1, 1}, 3},                          /* counter INDEX 3: D18.2-040 */
        {{0x9d, 1, 1}, 3},                          /* counter INDEX 5 */
        {{0x21, 0x98, 1, 1}, 4},                    /* counter INDEX 8 */
    };
    uint8_t bytes[64];

    (void)state;
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        expect_around(bytes, record_around(bytes, reserved[i].bytes, reserved[i].size), 1, 0);
}

/* D18.1-023 and D18.1-019: padding anywhere a header may stand. */
static void padding_is_legal_between_packets(void **state)
{
    static const uint8_t zeros[300];
    uint8_t bytes[512] = {0};
    struct heard h;
    size_t len;

    (void)state;
    for (unsigned n = 0; n <= 300; n += 1 + n / 8)
        expect_around(bytes, record_around(bytes, zeros, n), 0, n);
    memset(bytes, 0, sizeof(bytes));
    len = record_around(bytes + 40, NULL, 0);
    hear(bytes, 40 + len + 100, NULL, 0, 0, &h);
    assert_int_equal(h.records, 1);
    assert_int_equal(h.offset[0], 40);
    assert_int_equal(h.account.padding_bytes, 140);
    assert_int_equal(h.account.record_bytes, len);
}

/* D18.2-059: event bits that are not output are zero, whatever the record before had. */
static void missing_event_bits_are_zero(void **state)
{
    static const uint8_t bytes[] = {0x72, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0x01, 0x42, 0x03, 0x01};
    struct heard h;

    (void)state;
    hear(bytes, sizeof(bytes), NULL, 0, 0, &h);
    assert_int_equal(h.records, 2);
    assert_int_equal(h.record[0].events, UINT64_MAX);
    assert_int_equal(h.record[1].events, 0x03);
    assert_int_equal(h.record[1].events_size, 1);
}

/* IMPLEMENTATION DEFINED packets are not damage, even twice; the last one counts. */
static void impdef_packets_are_kept(void **state)
{
    static const uint8_t middle[] = {0xb6, 1, 0, 0,    0, 0, 0, 0, 0, 0x22, 0xb0, 2, 0,    0, 0, 0,
                                     0,    0, 0, 0xb6, 3, 0, 0, 0, 0, 0,    0,    0, 0x9f, 4, 0};
    uint8_t bytes[64];
    struct heard h;

    (void)state;
    hear(bytes, record_around(bytes, middle, sizeof(middle)), NULL, 0, 0, &h);
    assert_int_equal(h.records, 1);
    assert_int_equal(h.record[0].unknown, 0);
    assert_int_equal(h.record[0].addresses, 1u | 1u << 6 | 1u << 16);
    assert_int_equal(h.record[0].address[6], 3);
    assert_int_equal(h.record[0].address[16], 2);
    assert_int_equal(h.record[0].counter[7], 4);
}

/* ---- Damage --------------------------------------------------------------------------------- */

/* Three good records with something between the first and the second. */
static size_t with_damage(uint8_t *out, const uint8_t *damage, size_t len)
{
    size_t n = record_around(out, NULL, 0);

    memcpy(out + n, damage, len);
    n += len;
    n += record_around(out + n, NULL, 0);
    n += record_around(out + n, NULL, 0);
    return n;
}

static void expect_skip(const uint8_t *bytes, size_t len, uint64_t offset, uint64_t size,
                        unsigned reason, unsigned records)
{
    struct heard h;

    hear(bytes, len, NULL, 0, 0, &h);
    assert_int_equal(h.ranges, 1);
    assert_int_equal(h.skipped[0].offset, offset);
    assert_int_equal(h.skipped[0].size, size);
    assert_int_equal(h.skipped[0].reason, reason);
    assert_int_equal(h.records, records);
}

static void damage_is_skipped_and_named(void **state)
{
    static const uint8_t framing[] = {0x20, 0x20};
    static const uint8_t no_end[] = {0xb0, 1, 2, 3, 4, 5, 6, 7, 8, 0x49, 0x00, 0x42, 0x02};
    uint8_t zeros[SPE_RECORD_MAX + 2] = {0x42, 0x02};
    uint8_t bytes[4 * SPE_RECORD_MAX];
    size_t len, one = record_around(bytes, NULL, 0);

    (void)state;
    len = with_damage(bytes, framing, sizeof(framing)); /* D18.1-011 */
    expect_skip(bytes, len, one, sizeof(framing), SPE_SKIP_FRAMING, 3);
    len = with_damage(bytes, no_end, sizeof(no_end)); /* D18.1-012: the terminator is lost */
    expect_skip(bytes, len, one, sizeof(no_end), SPE_SKIP_DUPLICATE, 3);
    len = with_damage(bytes, zeros, SPE_RECORD_MAX + 1);
    expect_skip(bytes, len, one, SPE_RECORD_MAX + 1, SPE_SKIP_OVERSIZE, 3);
    len = with_damage(bytes, zeros, SPE_RECORD_MAX + 2); /* so long a padding is padding again */
    expect_skip(bytes, len, one, 2, SPE_SKIP_OVERSIZE, 3);
    len = with_damage(bytes, framing, 0);
    for (size_t cut = 2 * one + 1; cut < len; cut++) /* the last record cut at every byte */
        expect_skip(bytes, cut, 2 * one, cut - 2 * one, SPE_SKIP_TRUNCATED, 2);
}

/* The largest record there is, and one byte more. */
static void largest_record(void **state)
{
    uint8_t bytes[SPE_RECORD_MAX + 64] = {0x42, 0x02};
    struct heard h;

    (void)state;
    bytes[SPE_RECORD_MAX - 1] = 0x01;
    hear(bytes, SPE_RECORD_MAX, NULL, 0, 0, &h);
    assert_int_equal(h.records, 1);
    assert_int_equal(h.record[0].size, SPE_RECORD_MAX);
    bytes[SPE_RECORD_MAX - 1] = 0x00;
    bytes[SPE_RECORD_MAX] = 0x01;
    hear(bytes, SPE_RECORD_MAX + 1, NULL, 0, 0, &h);
    assert_int_equal(h.records, 0);
    assert_int_equal(h.account.skipped_by[SPE_SKIP_OVERSIZE], SPE_RECORD_MAX + 1);
}

static void unsynced_stream(void **state)
{
    uint8_t bytes[128];
    size_t one = record_around(bytes, NULL, 0);
    size_t len = one + record_around(bytes + one, NULL, 0);

    (void)state;
    for (size_t from = 0; from <= one; from++) {
        struct heard h;

        hear(bytes + from, len - from, NULL, 0, SPE_STREAM_UNSYNCED, &h);
        assert_int_equal(h.records, from ? 1 : 2);
        assert_int_equal(h.ranges, from && from < one);
        if (h.ranges) {
            assert_int_equal(h.skipped[0].offset, 0);
            assert_int_equal(h.skipped[0].size, one - from);
            assert_int_equal(h.skipped[0].reason, SPE_SKIP_UNSYNCED);
        }
    }
}

static void misuse_is_refused(void **state)
{
    static const uint8_t bytes[] = {0x42, 0x02, 0x01};
    struct spe_stream s;
    struct spe_item item;
    struct spe_record r;

    (void)state;
    spe_stream_init(&s, 0);
    assert_int_equal(spe_stream_next(&s, &item, &r), SPE_ITEM_NONE);
    assert_int_equal(spe_stream_feed(&s, bytes, 0), SPE_OK);
    assert_int_equal(spe_stream_feed(&s, bytes, 3), SPE_OK);
    assert_int_equal(spe_stream_feed(&s, bytes, 3), SPE_ERR_INVALID);
    assert_int_equal(spe_stream_next(&s, &item, &r), SPE_ITEM_RECORD);
    assert_int_equal(spe_stream_next(&s, &item, &r), SPE_ITEM_NONE);
    spe_stream_end(&s);
    assert_int_equal(spe_stream_feed(&s, bytes, 3), SPE_ERR_INVALID);
    assert_int_equal(spe_stream_next(&s, &item, &r), SPE_ITEM_NONE);
    assert_int_equal(spe_record_decode(bytes, 2, &r), SPE_ERR_TRUNCATED);
    assert_int_equal(spe_record_decode(bytes, 3, &r), 3);
    assert_int_equal(spe_record_decode((const uint8_t[]){0x20, 0x20}, 2, &r), SPE_ERR_FRAMING);
}

/* ---- Pieces --------------------------------------------------------------------------------- */

/* One cut at every place, through records, padding and damage. */
static void cut_anywhere(void **state)
{
    static const uint8_t damage[] = {0xb0, 1,    2,    3,    4,    5,    6,   7,
                                     8,    0x49, 0x00, 0x42, 0x02, 0x20, 0x21};
    uint8_t bytes[256] = {0};
    size_t len = with_damage(bytes, damage, sizeof(damage)) + 24;
    struct heard whole, cut;

    (void)state;
    len += record_around(bytes + len, NULL, 0) - 3;
    hear(bytes, len, NULL, 0, 0, &whole);
    assert_int_equal(whole.records, 3);
    for (size_t at = 0; at <= len; at++) {
        hear(bytes, len, &at, 1, 0, &cut);
        same_heard(&whole, &cut);
    }
}

/* Random bytes and damaged records, random pieces down to single bytes: same answers, and every
 * byte accounted for. */
static void random_pieces(void **state)
{
    struct random rng = {1};

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        static struct heard whole, pieces;
        uint8_t bytes[1500];
        size_t cut[1500], cuts = 0, len = 0;
        unsigned flags = random_chance(&rng, 20) ? SPE_STREAM_UNSYNCED : 0;
        const struct spe_layout *layout = spe_layout_at(random_below(&rng, 3));
        unsigned style = random_below(&rng, 4);

        while (len < 1300) {
            struct spe_record r;

            random_record(&rng, &r);
            len += (size_t)spe_record_encode(&r, layout, bytes + len, sizeof(bytes) - len);
        }
        for (unsigned hit = style == 0 ? 0 : random_below(&rng, 12); hit; hit--)
            bytes[random_below(&rng, (uint32_t)len)] = (uint8_t)random_next(&rng);
        hear(bytes, len, NULL, 0, flags, &whole);
        for (size_t at = 0; at < len;) {
            at += style == 1 ? 1 : 1 + random_below(&rng, style == 2 ? 20 : 700);
            if (at < len)
                cut[cuts++] = at;
        }
        hear(bytes, len, cut, cuts, flags, &pieces);
        same_heard(&whole, &pieces);
    }
}

/* Pieces around the size of the carry buffer, with records of every size up to the largest. */
static void large_records_in_pieces(void **state)
{
    static uint8_t bytes[20000];
    struct random rng = {2};

    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        static struct heard whole, pieces;
        size_t cut[64], cuts = 0, len = 0;

        memset(bytes, 0, sizeof(bytes));
        while (len + SPE_RECORD_MAX + 8 < sizeof(bytes) && len < 15000) {
            size_t body = random_below(&rng, SPE_RECORD_MAX + 4);

            bytes[len] = 0xb0;
            bytes[len + 9] = 0x49;
            bytes[len + 11] = 0x42;
            bytes[len + 12] = 0x02;
            len += 13 + body;
            bytes[len++] = 0x01;
        }
        hear(bytes, len, NULL, 0, 0, &whole);
        for (size_t at = 0; at < len && cuts < 60;) {
            at += 1 + random_below(&rng, 4500);
            if (at < len)
                cut[cuts++] = at;
        }
        hear(bytes, len, cut, cuts, 0, &pieces);
        same_heard(&whole, &pieces);
    }
}

/* ---- The promise ---------------------------------------------------------------------------- */

/*
 * One record in a hundred is hit by one random wrong byte; the truth is known. At least 99 % of the
 * records that were not hit come out right, at their offset, and every byte is accounted for.
 */
static void recovers_after_damage(const struct spe_layout *layout)
{
    enum { RECORDS = 100000 };
    struct random rng = {42};
    struct spe_record *truth = calloc(RECORDS, sizeof(*truth));
    uint64_t *at = calloc(RECORDS, sizeof(*at));
    bool *hit = calloc(RECORDS, sizeof(*hit));
    uint8_t *bytes = malloc((size_t)RECORDS * 128);
    struct spe_stream s;
    struct spe_item item;
    struct spe_record r;
    size_t len = 0, next = 0, untouched = 0, right = 0;

    for (size_t i = 0; i < RECORDS; i++) {
        int size;

        random_record(&rng, &truth[i]);
        size = spe_record_encode(&truth[i], layout, bytes + len, 128);
        assert_true(size > 0);
        at[i] = len;
        hit[i] = random_below(&rng, 100) == 0;
        if (hit[i]) {
            uint8_t *byte = &bytes[len + random_below(&rng, (uint32_t)size)];

            *byte ^= (uint8_t)(1 + random_below(&rng, 255));
        }
        untouched += !hit[i];
        len += (size_t)size;
    }
    spe_stream_init(&s, 0);
    assert_int_equal(spe_stream_feed(&s, bytes, len), SPE_OK);
    spe_stream_end(&s);
    while (spe_stream_next(&s, &item, &r) != SPE_ITEM_NONE) {
        while (next < RECORDS && at[next] < item.offset)
            next++;
        if (item.type == SPE_ITEM_RECORD && next < RECORDS && at[next] == item.offset && !hit[next])
            right += same_record(&truth[next], &r);
    }
    print_message("%s: %zu of %zu untouched records right (%.3f %%), %llu bytes skipped\n",
                  layout->name, right, untouched, 100.0 * (double)right / (double)untouched,
                  (unsigned long long)s.account.skipped_bytes);
    assert_true(account_adds_up(&s.account));
    assert_true(right >= untouched * 99 / 100 + 1);
    free(bytes);
    free(hit);
    free(at);
    free(truth);
}

static void one_percent_damage(void **state)
{
    (void)state;
    for (size_t i = 0; spe_layout_at(i); i++)
        recovers_after_damage(spe_layout_at(i));
}

/* Every reason has its own words; and every packet that comes once is known to come once. */
static void names_and_twice(void **state)
{
    static const uint8_t once[][10] = {
        {0xb0}, {0xb1}, {0xb2}, {0xb3}, {0xb4}, {0x98}, {0x99},
        {0x9a}, {0x9c}, {0x64}, {0x65}, {0x49}, {0x42}, {0x43},
    };

    (void)state;
    for (unsigned i = 0; i < SPE_SKIP_REASON_COUNT; i++) {
        assert_true(strlen(spe_skip_reason_name(i)) > 5);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(spe_skip_reason_name(i), spe_skip_reason_name(j));
    }
    assert_string_equal(spe_skip_reason_name(SPE_SKIP_REASON_COUNT), "unknown reason");
    for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
        uint8_t bytes[24] = {0};
        struct spe_record r;
        int size = spe_packet_size(once[i], 1);

        memcpy(bytes, once[i], (size_t)size);
        bytes[size] = 0x01;
        assert_int_equal(spe_record_decode(bytes, sizeof(bytes), &r), size + 1);
        memcpy(bytes + size, once[i], (size_t)size);
        bytes[2 * size] = 0x01;
        assert_int_equal(spe_record_decode(bytes, sizeof(bytes), &r), SPE_ERR_FRAMING);
    }
}

/* Zeros inside a skipped range, or at its end, are part of it unless they are more in a row than a
 * record can hold. */
static void zeros_in_damage(void **state)
{
    static uint8_t bytes[8192];
    size_t one = record_around(bytes, NULL, 0), len = one;
    struct heard h;

    (void)state;
    memset(bytes + len, 0, 32);
    bytes[len] = bytes[len + 1] = 0x20;
    expect_skip(bytes, len + 7, one, 7, SPE_SKIP_FRAMING, 1);
    len += 2;
    for (unsigned i = 0; i < 400; i++) { /* 3200 zeros, never more than eight in a row */
        bytes[len] = 0xb0;
        memset(bytes + len + 1, 0, 8);
        len += 9;
    }
    len += record_around(bytes + len, NULL, 0);
    hear(bytes, len, NULL, 0, 0, &h);
    assert_int_equal(h.records, 2);
    assert_int_equal(h.ranges, 1);
    assert_int_equal(h.skipped[0].size, len - 2 * one);
    assert_int_equal(h.account.padding_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_layout_end),
        cmocka_unit_test(worked_layout_timestamp),
        cmocka_unit_test(unknown_packets_are_stepped_over),
        cmocka_unit_test(reserved_values_are_stepped_over),
        cmocka_unit_test(padding_is_legal_between_packets),
        cmocka_unit_test(missing_event_bits_are_zero),
        cmocka_unit_test(impdef_packets_are_kept),
        cmocka_unit_test(damage_is_skipped_and_named),
        cmocka_unit_test(largest_record),
        cmocka_unit_test(unsynced_stream),
        cmocka_unit_test(misuse_is_refused),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(random_pieces),
        cmocka_unit_test(large_records_in_pieces),
        cmocka_unit_test(one_percent_damage),
        cmocka_unit_test(names_and_twice),
        cmocka_unit_test(zeros_in_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
