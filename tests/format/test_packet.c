/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.1.1 and D18.1.4: every header byte and every pair of header bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

/* Payload bytes after a one-byte header, typed from the ranges of D18.1.1; -1: extended. */
static int expected_payload(unsigned header)
{
    static const struct {
        unsigned first, last;
        int payload;
    } ranges[] = {
        {0x00, 0x1f, 0}, {0x20, 0x3f, -1},                  /* D18.1-005, D18.1-006 */
        {0x40, 0x4f, 1}, {0x80, 0x8f, 1},  {0xc0, 0xcf, 1}, /* D18.1-007 */
        {0x50, 0x5f, 2}, {0x90, 0x9f, 2},  {0xd0, 0xdf, 2}, /* D18.1-008 */
        {0x60, 0x6f, 4}, {0xa0, 0xaf, 4},  {0xe0, 0xef, 4}, /* D18.1-009 */
        {0x70, 0x7f, 8}, {0xb0, 0xbf, 8},  {0xf0, 0xff, 8}, /* D18.1-010 */
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (header >= ranges[i].first && header <= ranges[i].last)
            return ranges[i].payload;
    fail_msg("header 0x%02x is in no range", header);
    return 0;
}

/* Table D18-1, row by row. */
static unsigned expected_type(unsigned header)
{
    if (header == 0x00)
        return SPE_PACKET_PADDING; /* D18.1-025, D18.2-138 */
    if (header == 0x01)
        return SPE_PACKET_END; /* D18.1-026, D18.2-056 */
    if (header == 0x71)
        return SPE_PACKET_TIMESTAMP; /* D18.1-027, D18.2-139 */
    if (header == 0x42 || header == 0x52 || header == 0x62 || header == 0x72)
        return SPE_PACKET_EVENTS; /* D18.1-028 */
    if (header == 0x43 || header == 0x53 || header == 0x63 || header == 0x73)
        return SPE_PACKET_DATA_SOURCE; /* D18.1-029 */
    if (header >= 0x64 && header <= 0x67)
        return SPE_PACKET_CONTEXT; /* D18.1-030 */
    if (header >= 0x48 && header <= 0x4b)
        return SPE_PACKET_OP_TYPE; /* D18.1-031 */
    if (header >= 0xb0 && header <= 0xb7)
        return SPE_PACKET_ADDRESS; /* D18.1-032 */
    if (header >= 0x98 && header <= 0x9f)
        return SPE_PACKET_COUNTER; /* D18.1-033 */
    return SPE_PACKET_UNKNOWN;     /* D18.1-034 */
}

static const uint8_t payload[8] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};

static uint64_t expected_value(int size)
{
    return size == 8 ? UINT64_C(0x8877665544332211)
                     : UINT64_C(0x8877665544332211) & ((UINT64_C(1) << (8 * size)) - 1);
}

/* Decode, compare, encode back, and try every shorter length. */
static void check_packet(const uint8_t *bytes, int size, int header_size, unsigned type)
{
    struct spe_packet p;
    uint8_t back[SPE_PACKET_MAX];

    assert_int_equal(spe_packet_size(bytes, (size_t)header_size), size);
    assert_int_equal(spe_packet_decode(bytes, SPE_PACKET_MAX, &p), size); /* D18.1-004 */
    assert_int_equal(p.type, type);
    assert_int_equal(p.header_size, header_size);
    assert_int_equal(p.payload_size, size - header_size);
    assert_int_equal(p.payload, expected_value(size - header_size)); /* D18.1-013 */
    for (int len = 0; len < size; len++)
        assert_int_equal(spe_packet_decode(bytes, (size_t)len, &p), SPE_ERR_TRUNCATED);
    memset(back, 0xee, sizeof(back));
    assert_int_equal(spe_packet_encode(&p, back, sizeof(back)), size);
    assert_memory_equal(back, bytes, (size_t)size);
    for (int at = size; at < SPE_PACKET_MAX; at++)
        assert_int_equal(back[at], 0xee);
    assert_int_equal(spe_packet_encode(&p, back, (size_t)size - 1), SPE_ERR_NOSPACE);
}

static void every_short_header(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 256; h++) {
        uint8_t bytes[SPE_PACKET_MAX] = {(uint8_t)h};
        int size = expected_payload(h);

        if (size < 0)
            continue;
        memcpy(bytes + 1, payload, 8);
        check_packet(bytes, 1 + size, 1, expected_type(h));
    }
}

static void every_extended_header(void **state)
{
    unsigned known = 0;

    (void)state;
    for (unsigned h0 = 0x20; h0 < 0x40; h0++) {
        for (unsigned h1 = 0; h1 < 256; h1++) {
            uint8_t bytes[SPE_PACKET_MAX] = {(uint8_t)h0, (uint8_t)h1};
            int size = expected_payload(h1);
            unsigned type = SPE_PACKET_UNKNOWN;
            struct spe_packet p;

            memcpy(bytes + 2, payload, 8);
            if (size < 0) { /* D18.1-011: an extended header in an extended header */
                assert_int_equal(spe_packet_decode(bytes, 10, &p), SPE_ERR_FRAMING);
                assert_int_equal(spe_packet_size(bytes, 2), SPE_ERR_FRAMING);
                continue;
            }
            if (h0 <= 0x23 && h1 >= 0xb0 && h1 <= 0xb7)
                type = SPE_PACKET_ADDRESS; /* D18.1-036 */
            if (h0 <= 0x23 && h1 >= 0x98 && h1 <= 0x9f)
                type = SPE_PACKET_COUNTER; /* D18.1-037 */
            known += type != SPE_PACKET_UNKNOWN;
            check_packet(bytes, 2 + size, 2, type); /* D18.1-006, D18.1-038 */
        }
    }
    assert_int_equal(known, 64); /* D18.1-038 */
}

/* D18.1-024, D18.1-035, D18.2-002, D18.2-003, D18.2-004, D18.2-034, D18.2-035: both forms are the
 * same packet, and the INDEX bits stand where the field text says. */
static void index_in_both_forms(void **state)
{
    struct spe_packet p;

    (void)state;
    for (unsigned index = 0; index < 32; index++) {
        uint8_t address[10] = {(uint8_t)(0x20 | index >> 3), (uint8_t)(0xb0 | (index & 7))};
        uint8_t counter[10] = {(uint8_t)(0x20 | index >> 3), (uint8_t)(0x98 | (index & 7))};

        assert_int_equal(spe_packet_decode(address, 10, &p), 10); /* D18.2-001 */
        assert_int_equal(p.index, index);
        assert_int_equal(spe_packet_decode(counter, 10, &p), 4); /* D18.2-033 */
        assert_int_equal(p.index, index);
        if (index > 7)
            continue;
        assert_int_equal(spe_packet_decode(address + 1, 9, &p), 9);
        assert_int_equal(p.index, index);
        assert_int_equal(p.type, SPE_PACKET_ADDRESS);
        assert_int_equal(spe_packet_decode(counter + 1, 9, &p), 3);
        assert_int_equal(p.index, index);
        assert_int_equal(p.type, SPE_PACKET_COUNTER);
    }
}

struct made {
    unsigned type, index, size;
    uint64_t payload;
    unsigned length;
    uint8_t bytes[10];
};

/* Packets made from their fields, against bytes typed from the header tables. */
static void made_packets(void **state)
{
    static const struct made made[] = {
        {SPE_PACKET_PADDING, 0, 0, 0, 1, {0x00}},
        {SPE_PACKET_END, 0, 0, 0, 1, {0x01}},
        {SPE_PACKET_TIMESTAMP,
         0,
         8,
         UINT64_C(0x0706050403020100),
         9, /* D18.2-140 */
         {0x71, 0, 1, 2, 3, 4, 5, 6, 7}},
        {SPE_PACKET_EVENTS, 0, 1, 0x82, 2, {0x42, 0x82}}, /* D18.2-057 */
        {SPE_PACKET_EVENTS, 0, 2, 0x0182, 3, {0x52, 0x82, 0x01}},
        {SPE_PACKET_EVENTS, 0, 4, 0x10182, 5, {0x62, 0x82, 0x01, 0x01, 0x00}},
        {SPE_PACKET_EVENTS, 0, 8, UINT64_C(1) << 63, 9, {0x72, 0, 0, 0, 0, 0, 0, 0, 0x80}},
        {SPE_PACKET_DATA_SOURCE, 0, 1, 0x0e, 2, {0x43, 0x0e}}, /* D18.2-051 */
        {SPE_PACKET_DATA_SOURCE, 0, 2, 0x120e, 3, {0x53, 0x0e, 0x12}},
        {SPE_PACKET_CONTEXT, 0, 4, 0x01020304, 5, {0x64, 4, 3, 2, 1}}, /* D18.2-029, D18.2-030 */
        {SPE_PACKET_CONTEXT, 1, 4, 0x01020304, 5, {0x65, 4, 3, 2, 1}}, /* D18.2-031 */
        {SPE_PACKET_OP_TYPE, 0, 1, 0x01, 2, {0x48, 0x01}},             /* D18.2-096 */
        {SPE_PACKET_OP_TYPE, 2, 1, 0x1f, 2, {0x4a, 0x1f}},
        {SPE_PACKET_ADDRESS, 2, 8, 0x1122, 9, {0xb2, 0x22, 0x11}},
        {SPE_PACKET_ADDRESS, 16, 8, 0x1122, 10, {0x22, 0xb0, 0x22, 0x11}},
        {SPE_PACKET_ADDRESS, 31, 8, 0x1122, 10, {0x23, 0xb7, 0x22, 0x11}},
        {SPE_PACKET_COUNTER, 1, 2, 0x0fff, 3, {0x99, 0xff, 0x0f}},
        {SPE_PACKET_COUNTER, 9, 2, 0x1234, 4, {0x21, 0x99, 0x34, 0x12}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        const struct made *m = &made[i];
        struct spe_packet p, back;
        uint8_t bytes[10] = {0};

        assert_int_equal(spe_packet_make(&p, m->type, m->index, m->size, m->payload), SPE_OK);
        assert_int_equal(spe_packet_encode(&p, bytes, 10), m->length);
        assert_memory_equal(bytes, m->bytes, m->length);
        assert_int_equal(spe_packet_decode(bytes, 10, &back), m->length);
        assert_int_equal(back.type, m->type);
        assert_int_equal(back.index, m->index);
        assert_int_equal(back.payload, m->payload);
    }
}

static void impossible_packets_are_refused(void **state)
{
    struct spe_packet p = {0};
    uint8_t bytes[10];

    (void)state;
    assert_int_equal(spe_packet_make(&p, SPE_PACKET_ADDRESS, 32, 8, 0), SPE_ERR_RANGE);
    assert_int_equal(spe_packet_make(&p, SPE_PACKET_CONTEXT, 4, 4, 0), SPE_ERR_RANGE);
    assert_int_equal(spe_packet_make(&p, SPE_PACKET_EVENTS, 0, 3, 0), SPE_ERR_INVALID);
    assert_int_equal(spe_packet_make(&p, SPE_PACKET_DATA_SOURCE, 0, 4, 0), SPE_ERR_INVALID);
    assert_int_equal(spe_packet_make(&p, SPE_PACKET_EVENTS, 0, 1, 0x100), SPE_ERR_RANGE);
    assert_int_equal(spe_packet_make(&p, SPE_PACKET_COUNTER, 0, 2, 0x10000), SPE_ERR_RANGE);
    assert_int_equal(spe_packet_make(&p, SPE_PACKET_UNKNOWN, 0, 0, 0), SPE_ERR_INVALID);
    assert_int_equal(spe_packet_make(&p, SPE_PACKET_EVENTS, 0, 1, 0xff), SPE_OK);
    p.payload = 0x100;
    assert_int_equal(spe_packet_encode(&p, bytes, 10), SPE_ERR_RANGE);
    p.payload = 0;
    p.payload_size = 2; /* the header says 1 */
    assert_int_equal(spe_packet_encode(&p, bytes, 10), SPE_ERR_INVALID);
    p.payload_size = 1;
    p.header_size = 2; /* a short header */
    assert_int_equal(spe_packet_encode(&p, bytes, 10), SPE_ERR_INVALID);
}

/* D18.1-018: the protocol framing packets are padding, End and Timestamp; here: what ends a record
 * and what may stand outside one. */
static void framing_packets(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 256; h++) {
        uint8_t bytes[24] = {0};
        struct spe_record r;
        bool ends = h == 0x01 || h == 0x71;

        if (expected_payload(h) < 0 || h == 0)
            continue;
        bytes[0] = (uint8_t)h;
        bytes[20] = 0x01;
        assert_int_equal(spe_record_decode(bytes, sizeof(bytes), &r),
                         ends ? 1 + expected_payload(h) : 21);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_header),  cmocka_unit_test(every_extended_header),
        cmocka_unit_test(index_in_both_forms), cmocka_unit_test(made_packets),
        cmocka_unit_test(framing_packets),     cmocka_unit_test(impossible_packets_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
