/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Records -> bytes: order, places, alignment, sizes, and the way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#include "../support/streams.h"

/* A load with everything that Neoverse N1 records, with values that tell their place. */
static struct spe_record full_load(void)
{
    struct spe_record r;

    memset(&r, 0, sizeof(r));
    r.has = SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_SOURCE | SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2 |
            SPE_HAS_TIMESTAMP;
    r.addresses = 1u << SPE_ADDRESS_PC | 1u << SPE_ADDRESS_VA | 1u << SPE_ADDRESS_PA;
    r.counters = 1u << SPE_COUNTER_TOTAL | 1u << SPE_COUNTER_ISSUE | 1u << SPE_COUNTER_TRANSLATION;
    r.address[SPE_ADDRESS_PC] = UINT64_C(0xa0a1a2a3a4a5a6a7);
    r.address[SPE_ADDRESS_VA] = UINT64_C(0xc0c1c2c3c4c5c6c7);
    r.address[SPE_ADDRESS_PA] = UINT64_C(0xd0d1d2d3d4d5d6d7);
    r.counter[SPE_COUNTER_TOTAL] = 0x123;
    r.counter[SPE_COUNTER_ISSUE] = 0x045;
    r.counter[SPE_COUNTER_TRANSLATION] = 0x067;
    r.context[0] = 0x11223344;
    r.context[1] = 0x55667788;
    r.events = 0x0316;
    r.source = 0x0e;
    r.source_size = 1;
    r.op_class = SPE_CLASS_LDST;
    r.timestamp = UINT64_C(0xf0f1f2f3f4f5f6f7);
    return r;
}

/* Typed from public dumps: PC at 0, contexts at 9, op type 0x13, events 0x15, issue 0x18, total
 * 0x1b, VA 0x1e, translation 0x27, PA 0x2a, source 0x33, timestamp 0x37. */
static void neoverse_n1_places(void **state)
{
    static const uint8_t expected[64] = {
        0xb0, 0xa7, 0xa6, 0xa5, 0xa4, 0xa3, 0xa2, 0xa1, 0xa0, 0x64, 0x44, 0x33, 0x22,
        0x11, 0x65, 0x88, 0x77, 0x66, 0x55, 0x49, 0x00, 0x52, 0x16, 0x03, 0x99, 0x45,
        0x00, 0x98, 0x23, 0x01, 0xb2, 0xc7, 0xc6, 0xc5, 0xc4, 0xc3, 0xc2, 0xc1, 0xc0,
        0x9a, 0x67, 0x00, 0xb3, 0xd7, 0xd6, 0xd5, 0xd4, 0xd3, 0xd2, 0xd1, 0xd0, 0x43,
        0x0e, 0x00, 0x00, 0x71, 0xf7, 0xf6, 0xf5, 0xf4, 0xf3, 0xf2, 0xf1, 0xf0};
    struct spe_record r = full_load();
    uint8_t bytes[64];

    (void)state;
    assert_int_equal(spe_record_encode(&r, spe_layout_by_name("neoverse-n1"), bytes, 64), 64);
    assert_memory_equal(bytes, expected, 64);
}

/* What is absent is padding in its place, and the record keeps its size. */
static void neoverse_n1_gaps(void **state)
{
    struct spe_record r = full_load();
    uint8_t bytes[64];

    (void)state;
    r.has = SPE_HAS_OP | SPE_HAS_EVENTS;
    r.addresses = 1u << SPE_ADDRESS_PC;
    r.counters = 1u << SPE_COUNTER_TOTAL;
    assert_int_equal(spe_record_encode(&r, spe_layout_by_name("neoverse-n1"), bytes, 64), 64);
    for (unsigned i = 0; i < 64; i++) {
        bool used = i < 9 || (i >= 0x13 && i < 0x18) || (i >= 0x1b && i < 0x1e) || i == 0x37;

        if (!used)
            assert_int_equal(bytes[i], 0x00); /* D18.2-138 */
    }
    assert_int_equal(bytes[0x37], 0x01); /* D18.2-141, D18.2-143: End without a timestamp */
}

static void neoverse_n1_limits(void **state)
{
    const struct spe_layout *n1 = spe_layout_by_name("neoverse-n1");
    struct spe_record r = full_load();
    uint8_t bytes[64];

    (void)state;
    r.addresses |= 1u << SPE_ADDRESS_PREVIOUS_TARGET; /* has no place */
    assert_int_equal(spe_record_encode(&r, n1, bytes, 64), SPE_ERR_LAYOUT);
    r = full_load();
    r.addresses |= 1u << SPE_ADDRESS_TARGET; /* its place is taken by the VA */
    assert_int_equal(spe_record_encode(&r, n1, bytes, 64), SPE_ERR_LAYOUT);
    r = full_load();
    r.events = 0x10000; /* two bytes of events */
    assert_int_equal(spe_record_encode(&r, n1, bytes, 64), SPE_ERR_RANGE);
    r = full_load();
    r.source = 0x100; /* one byte of source */
    assert_int_equal(spe_record_encode(&r, n1, bytes, 64), SPE_ERR_RANGE);
    r = full_load();
    for (size_t len = 0; len < 64; len++)
        assert_int_equal(spe_record_encode(&r, n1, bytes, len), SPE_ERR_NOSPACE);
    r.counter[SPE_COUNTER_TOTAL] = 0xffff; /* D18.2-049: 12 bits saturate */
    assert_int_equal(spe_record_encode(&r, n1, bytes, 64), 64);
    assert_int_equal(bytes[0x1c], 0xff);
    assert_int_equal(bytes[0x1d], 0x0f);
}

/* The pseudocode's order: contexts, counters, addresses, source, type, events, terminator. */
static void architecture_order(void **state)
{
    static const uint8_t headers[] = {0x64, 0x65, 0x98, 0x99, 0x9a, 0xb0,
                                      0xb2, 0xb3, 0x43, 0x49, 0x52, 0x71};
    struct spe_record r = full_load();
    struct spe_packet p;
    uint8_t bytes[SPE_RECORD_MAX];
    int size = spe_record_encode(&r, spe_layout_by_name("architecture"), bytes, sizeof(bytes));
    int pos = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(headers); i++) {
        assert_true(pos < size);
        pos += spe_packet_decode(bytes + pos, (size_t)(size - pos), &p);
        assert_int_equal(p.header[0], headers[i]);
    }
    assert_int_equal(pos, size); /* D18.1-012, D18.2-141: the terminator is last */
    /* Sum of the packets: contexts 5+5, counters 3 each, addresses 9 each, source 2, type 2,
     * events 3, timestamp 9. */
    assert_int_equal(size, 10 + 9 + 27 + 2 + 2 + 3 + 9);
}

/* Kunpeng 920: records 44 bytes apart at an alignment of 4. */
static void kunpeng_stride(void **state)
{
    const struct spe_layout *layout = spe_layout_by_name("kunpeng-920");
    struct random rng = {3};
    uint8_t bytes[64];

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct spe_record r;

        random_record(&rng, &r);
        assert_int_equal(spe_record_encode(&r, layout, bytes, sizeof(bytes)), 44);
    }
}

/* Every alignment and size rule, with records decoded by a reader that knows none of them. */
static void alignment_and_size(void **state)
{
    struct random rng = {4};

    (void)state;
    for (unsigned align = 1; align <= 2048; align *= 2) {
        struct spe_layout layout = *spe_layout_by_name("architecture");
        char why[128];

        layout.align = (uint16_t)align;
        assert_int_equal(spe_layout_validate(&layout, why, sizeof(why)), SPE_OK);
        for (unsigned i = 0; i < 200; i++) {
            uint8_t bytes[SPE_RECORD_MAX];
            struct spe_record r, back;
            int size, used;

            random_record(&rng, &r);
            size = spe_record_encode(&r, &layout, bytes, sizeof(bytes));
            assert_true(size > 0);
            assert_int_equal((unsigned)size % align, 0);
            used = spe_record_decode(bytes, (size_t)size, &back); /* D18.1-020 */
            assert_true(used > 0 && size - used < (int)align);
            assert_true(same_record(&r, &back));
            for (int at = used; at < size; at++)
                assert_int_equal(bytes[at], 0); /* D18.1-019, D18.1-020 */
        }
    }
}

/* The largest record: every index of both kinds. It fits 2048 bytes and not 512. */
static void everything_at_once(void **state)
{
    struct spe_layout layout = *spe_layout_by_name("architecture");
    struct spe_record r = full_load(), back;
    uint8_t bytes[SPE_RECORD_MAX];
    int size;

    (void)state;
    r.addresses = 0;
    r.counters = 0;
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++) {
        if (spe_address_status(i, SPE_FEATURES_ALL) != SPE_RESERVED)
            r.addresses |= 1u << i;
        if (spe_counter_status(i, SPE_FEATURES_ALL) != SPE_RESERVED)
            r.counters |= 1u << i;
        r.address[i] = UINT64_C(0x0101010101010101) * i;
        r.counter[i] = (uint16_t)(i * 0x101);
    }
    r.events = UINT64_MAX;
    r.source = 0x1234;
    r.source_size = 2;
    size = spe_record_encode(&r, &layout, bytes, sizeof(bytes));
    /* 5 + 2 short and 16 extended addresses (9, 10), 4 + 2 short and 16 extended counters (3, 4),
     * contexts 10, source 3, type 2, events 9, timestamp 9 */
    assert_int_equal(size, 7 * 9 + 16 * 10 + 6 * 3 + 16 * 4 + 10 + 3 + 2 + 9 + 9);
    assert_int_equal(spe_record_decode(bytes, (size_t)size, &back), size);
    assert_true(same_record(&r, &back));
    assert_int_equal(back.source_size, 2);
    assert_int_equal(back.events_size, 8);
    layout.max_size = 256;
    assert_int_equal(spe_record_encode(&r, &layout, bytes, sizeof(bytes)), SPE_ERR_SIZE);
    layout.max_size = 512;
    assert_int_equal(spe_record_encode(&r, &layout, bytes, sizeof(bytes)), size);
}

/* D18.2-060: the Events payload has the size that the layout says, or the smallest that fits. */
static void events_sizes(void **state)
{
    static const uint8_t headers[] = {[1] = 0x42, [2] = 0x52, [4] = 0x62, [8] = 0x72};
    struct spe_layout layout = *spe_layout_by_name("architecture");

    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        for (unsigned size = 0; size <= 8; size = size ? 2 * size : 1) {
            unsigned needed = bit < 8 ? 1 : bit < 16 ? 2 : bit < 32 ? 4 : 8;
            struct spe_record r = {.has = SPE_HAS_EVENTS, .events = UINT64_C(1) << bit}, back;
            uint8_t bytes[16];
            int got;

            layout.events_size = (uint8_t)size;
            got = spe_record_encode(&r, &layout, bytes, sizeof(bytes));
            if (size && size < needed) {
                assert_int_equal(got, SPE_ERR_RANGE);
                continue;
            }
            assert_int_equal(got, 1 + (size ? size : needed) + 1);
            assert_int_equal(bytes[0], headers[size ? size : needed]);
            assert_int_equal(spe_record_decode(bytes, (size_t)got, &back), got);
            assert_int_equal(back.events, r.events); /* D18.2-058 */
        }
    }
}

static void round_trip(void **state)
{
    struct random rng = {5};

    (void)state;
    for (unsigned i = 0; i < 30000; i++) {
        const struct spe_layout *layout = spe_layout_at(i % 3);
        uint8_t bytes[SPE_RECORD_MAX];
        struct spe_record r, back;
        int size;

        random_record(&rng, &r);
        if (random_chance(&rng, 30))
            r.has &= ~(uint32_t)SPE_HAS_TIMESTAMP;
        size = spe_record_encode(&r, layout, bytes, sizeof(bytes));
        assert_true(size > 0 && size <= layout->max_size);
        assert_true(spe_record_decode(bytes, (size_t)size, &back) > 0);
        assert_true(same_record(&r, &back));
    }
}

static void bad_layouts_are_refused(void **state)
{
    const struct spe_layout good = *spe_layout_by_name("neoverse-n1");
    struct spe_layout bad;
    char why[160];

    (void)state;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        bad = good;                                                                                \
        bad.change;                                                                                \
        why[0] = '\0';                                                                             \
        assert_int_equal(spe_layout_validate(&bad, why, sizeof(why)), SPE_ERR_INVALID);            \
        assert_true(strlen(why) > 10);                                                             \
    } while (0)
    REFUSED(align = 0);
    REFUSED(align = 3);
    REFUSED(align = 4096);
    REFUSED(align = 128);
    REFUSED(max_size = 8);
    REFUSED(max_size = 100);
    REFUSED(max_size = 4096);
    REFUSED(min_size = 65);
    REFUSED(events_size = 3);
    REFUSED(events_size = 16);
    REFUSED(source_size = 4);
    REFUSED(count_bits = 14);
    REFUSED(slots = SPE_LAYOUT_SLOTS + 1);
    REFUSED(slot[0].index = 32);
    REFUSED(slot[1].index = 2);
    REFUSED(slot[3].index = 1);
    REFUSED(slot[0].type = SPE_PACKET_END);
    for (size_t i = 0; spe_layout_at(i); i++)
        assert_int_equal(spe_layout_validate(spe_layout_at(i), why, sizeof(why)), SPE_OK);
    assert_null(spe_layout_by_name("cortex-m0"));
}

static void sizes_to_the_byte(void **state)
{
    const struct spe_layout *n1 = spe_layout_by_name("neoverse-n1");
    const struct spe_layout *kunpeng = spe_layout_by_name("kunpeng-920");
    struct spe_layout layout = *spe_layout_by_name("architecture");
    struct spe_record r = {.counters = 1, .counter = {0xabc}};
    uint8_t bytes[64];
    char why[160];

    (void)state;
    assert_int_equal(n1->min_size, 64);
    assert_int_equal(n1->max_size, 64);
    assert_int_equal(kunpeng->min_size, 44);
    assert_int_equal(kunpeng->max_size, 64);
    assert_int_equal(spe_record_encode(&r, &layout, bytes, sizeof(bytes)), 4);
    assert_memory_equal(bytes, ((const uint8_t[]){0x98, 0xbc, 0x0a, 0x01}), 4);
    for (unsigned size = 0; size < 6; size++) { /* a source has one or two bytes */
        struct spe_record source = {.has = SPE_HAS_SOURCE, .source_size = (uint8_t)size};
        int expected = size == 1 ? 3 : size == 2 ? 4 : SPE_ERR_INVALID;

        assert_int_equal(spe_record_encode(&source, &layout, bytes, sizeof(bytes)), expected);
    }
    layout.align = 0; /* not valid, and taken as none */
    assert_int_equal(spe_record_encode(&r, &layout, bytes, sizeof(bytes)), 4);
    layout = *n1;
    layout.terminator_place = 63; /* End is the last byte there is room for */
    assert_int_equal(spe_record_encode(&r, &layout, bytes, sizeof(bytes)), 64);
    layout.terminator_place = 64; /* padding fits, End does not */
    assert_int_equal(spe_record_encode(&r, &layout, bytes, sizeof(bytes)), SPE_ERR_SIZE);
    layout.terminator_place = 65;
    assert_int_equal(spe_record_encode(&r, &layout, bytes, sizeof(bytes)), SPE_ERR_SIZE);
    layout = *spe_layout_by_name("architecture");
    layout.max_size = 16; /* the smallest that PMSIDR_EL1.MaxSize can say */
    assert_int_equal(spe_layout_validate(&layout, why, sizeof(why)), SPE_OK);
    layout = *n1;
    layout.slots = SPE_LAYOUT_SLOTS;
    for (unsigned i = 0; i < SPE_LAYOUT_SLOTS; i++)
        layout.slot[i] = n1->slot[0];
    assert_int_equal(spe_layout_validate(&layout, why, sizeof(why)), SPE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neoverse_n1_places), cmocka_unit_test(neoverse_n1_gaps),
        cmocka_unit_test(neoverse_n1_limits), cmocka_unit_test(architecture_order),
        cmocka_unit_test(kunpeng_stride),     cmocka_unit_test(alignment_and_size),
        cmocka_unit_test(everything_at_once), cmocka_unit_test(events_sizes),
        cmocka_unit_test(round_trip),         cmocka_unit_test(bad_layouts_are_refused),
        cmocka_unit_test(sizes_to_the_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
