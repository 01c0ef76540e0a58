/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Packed indexes and differences, read back by a reader that takes one bit at a time: every width,
 * every length around that of a group and a block, with runs and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "columns/parquet_pack.h"
#include "support/random.h"

#define MOST 600

static struct random chance = {1};

struct reader {
    const uint8_t *at, *end;
};

static uint8_t read_byte(struct reader *r)
{
    assert_true(r->at < r->end);
    return *r->at++;
}

static uint64_t read_varint(struct reader *r)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = read_byte(r);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static uint64_t read_zigzag(struct reader *r)
{
    uint64_t value = read_varint(r);

    return value >> 1 ^ -(value & 1);
}

/* `count` values, the lowest bit of each first. */
static void read_bits(struct reader *r, uint64_t *values, size_t count, unsigned width)
{
    size_t bit = 0;

    for (size_t i = 0; i < count; i++) {
        values[i] = 0;
        for (unsigned k = 0; k < width; k++, bit++) {
            assert_true(r->at + bit / 8 < r->end);
            values[i] |= (uint64_t)(r->at[bit / 8] >> bit % 8 & 1) << k;
        }
    }
    r->at += (bit + 7) / 8;
}

/* Writes up to a group behind `count`; how many bytes were there. */
static size_t read_indexes(const struct buffer *b, uint64_t *values, size_t count, unsigned width)
{
    struct reader r = {b->at, b->size ? b->at + b->size : b->at};
    size_t i = 0;

    while (i < count) {
        uint64_t head = read_varint(&r);

        assert_true(head >> 1 <= MOST);
        if (head & 1) {
            read_bits(&r, values + i, (head >> 1) * 8, width);
            i += (head >> 1) * 8;
        } else {
            uint64_t value = 0;

            for (unsigned k = 0; k < width; k += 8)
                value |= (uint64_t)read_byte(&r) << k;
            for (uint64_t k = 0; k < head >> 1; k++)
                values[i++] = value;
        }
    }
    return (size_t)(r.at - b->at);
}

static void check_indexes(const uint16_t *indexes, size_t count, unsigned width)
{
    uint16_t copy[MOST + 8];
    uint64_t values[MOST + 8];
    struct buffer b = {0};

    memcpy(copy, indexes, count * sizeof(*indexes));
    pack_indexes(&b, copy, count, width);
    assert_false(b.failed);
    assert_int_equal(read_indexes(&b, values, count, width), b.size);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(values[i], indexes[i]);
    buffer_free(&b);
}

static void indexes_of_all_widths(void **unused)
{
    uint16_t indexes[MOST];

    (void)unused;
    for (unsigned width = 1; width <= 16; width++) {
        for (size_t count = 0; count < 70; count++) {
            for (size_t i = 0; i < count; i++)
                indexes[i] = (uint16_t)(random_next(&chance) & ((1u << width) - 1));
            check_indexes(indexes, count, width);
        }
    }
}

/* Runs of all lengths, at all places in a group. */
static void indexes_in_runs(void **unused)
{
    uint16_t indexes[MOST];

    (void)unused;
    for (unsigned width = 1; width <= 16; width++) {
        for (unsigned round = 0; round < 40; round++) {
            uint16_t value = 0;
            size_t left = 0, most = 1 + random_next(&chance) % 100;

            for (size_t i = 0; i < MOST; i++, left--) {
                if (!left) {
                    left = 1 + random_next(&chance) % most;
                    value = (uint16_t)(random_next(&chance) & ((1u << width) - 1));
                }
                indexes[i] = value;
            }
            check_indexes(indexes, MOST - random_next(&chance) % 16, width);
        }
    }
}

static void equal_indexes_are_one_run(void **unused)
{
    uint16_t indexes[MOST + 8];
    struct buffer b = {0};

    (void)unused;
    for (size_t i = 0; i < MOST; i++)
        indexes[i] = 3;
    pack_indexes(&b, indexes, MOST, 2);
    assert_int_equal(b.size, 3); /* two bytes say how many, one says what */
    buffer_free(&b);
}

static void check_differences(const uint64_t *values, size_t count)
{
    struct buffer b = {0};
    struct reader r;
    uint64_t value;

    pack_differences(&b, values, count);
    assert_false(b.failed);
    r = (struct reader){b.at, b.at + b.size};
    assert_int_equal(read_varint(&r), 128);
    assert_int_equal(read_varint(&r), 4);
    assert_int_equal(read_varint(&r), count);
    value = read_zigzag(&r);
    if (count)
        assert_true(value == values[0]);
    for (size_t i = 1; i < count; i += 128) {
        uint64_t least = read_zigzag(&r), differences[32];
        uint8_t widths[4];

        for (size_t m = 0; m < 4; m++)
            widths[m] = read_byte(&r);
        for (size_t m = 0; m < 4 && i + 32 * m < count; m++) {
            assert_true(widths[m] <= 64);
            read_bits(&r, differences, 32, widths[m]);
            for (size_t k = 0; k < 32 && i + 32 * m + k < count; k++) {
                value += least + differences[k];
                assert_true(value == values[i + 32 * m + k]);
            }
        }
    }
    assert_ptr_equal(r.at, r.end);
    buffer_free(&b);
}

/* Differences of every width, from none to all bits. */
static void differences_of_all_widths(void **unused)
{
    static const size_t counts[] = {0, 1, 2, 32, 33, 34, 128, 129, 130, 161, 257, 500};
    uint64_t values[MOST];

    (void)unused;
    for (unsigned width = 0; width <= 64; width++) {
        uint64_t mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;

        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            uint64_t value = random_next(&chance);

            for (size_t i = 0; i < counts[c]; i++) {
                values[i] = value;
                value += i % 7 ? random_next(&chance) & mask : mask;
            }
            check_differences(values, counts[c]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_of_all_widths),
        cmocka_unit_test(indexes_in_runs),
        cmocka_unit_test(equal_indexes_are_one_run),
        cmocka_unit_test(differences_of_all_widths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
