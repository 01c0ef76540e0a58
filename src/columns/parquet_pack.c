/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/parquet_pack.h"

#include "format/clones.h"

#define DELTA_BLOCK 128
#define DELTA_MINI 32

static inline uint64_t load_four(const uint16_t *values)
{
    uint64_t four;

    memcpy(&four, values, sizeof(four));
    return four;
}

/* ---- runs and packed bits ------------------------------------------------------------------- */

/* Four values of 16 bits, of which `width` count, as one of four times `width`. */
static inline uint64_t squeeze(uint64_t four, unsigned width)
{
    const uint64_t even = UINT64_C(0x0000ffff0000ffff);
    uint64_t two = (four & even) | (four >> 16 & even) << width;

    return (two & UINT32_MAX) | two >> 32 << 2 * width;
}

/* The lowest value comes first; `count` is a multiple of 8. */
CLONES static void squeeze_all(uint8_t *to, const uint16_t *values, size_t count, unsigned width)
{
    for (size_t i = 0; i < count; i += 8, to += width) {
        uint64_t low = squeeze(load_four(values + i), width);
        uint64_t high = squeeze(load_four(values + i + 4), width);
        uint64_t first = width < 16 ? low | high << 4 * width : low;
        uint64_t second = width < 16 ? high >> (64 - 4 * width) : high;

        memcpy(to, &first, sizeof(first));
        memcpy(to + sizeof(first), &second, sizeof(second));
    }
}

static void put_packed(struct buffer *b, uint16_t *values, size_t count, unsigned width)
{
    size_t groups = (count + 7) / 8;
    uint8_t *to;

    if (!count)
        return;
    for (size_t i = count; i < groups * 8; i++)
        values[i] = 0; /* only the last run is not a multiple of 8 */
    buffer_varint(b, groups << 1 | 1);
    to = buffer_room(b, groups * width + 16);
    if (!to)
        return;
    squeeze_all(to, values, groups * 8, width);
    b->size += groups * width;
}

static void put_run(struct buffer *b, uint32_t value, size_t count, unsigned width)
{
    buffer_varint(b, count << 1);
    buffer_put(b, &value, (width + 7) / 8);
}

/* How many values from the first one on are equal to it; 0: fewer than eight. */
static size_t run_of(const uint16_t *values, size_t count)
{
    uint64_t four = load_four(values);
    size_t run = 8;

    if (four != load_four(values + 4) || four != (four >> 16 | four << 48))
        return 0;
    while (run + 4 <= count && load_four(values + run) == four)
        run += 4;
    while (run < count && values[run] == values[0])
        run++;
    return run;
}

/* Values are looked at eight at a time. A run and the header of what is packed behind it take some
 * bytes: short runs of few bits are packed, too. */
void pack_indexes(struct buffer *b, uint16_t *indexes, size_t count, unsigned width)
{
    size_t start = 0, i = 0, worth = width < 8 ? 64 / width : 8;

    while (i + 8 <= count) {
        size_t run = run_of(indexes + i, count - i);

        if (!run) {
            i += 8;
            continue;
        }
        if (run >= worth) {
            put_packed(b, indexes + start, i - start, width);
            put_run(b, indexes[i], run, width);
            start = i + run;
        }
        i += run >= worth ? run : run / 8 * 8;
    }
    put_packed(b, indexes + start, count - start, width);
}

/* ---- differences ---------------------------------------------------------------------------- */

/* Values of 1 to 56 bits: those that are not yet whole bytes wait in a word. */
static void pack_narrow(uint8_t *to, const uint64_t *values, size_t count, unsigned width)
{
    uint64_t word = 0;
    unsigned used = 0;

    for (size_t i = 0; i < count; i++) {
        word |= values[i] << used;
        memcpy(to, &word, sizeof(word));
        used += width;
        to += used / 8;
        word >>= used / 8 * 8;
        used %= 8;
    }
}

/* Values of more: one may lie in two words. */
static void pack_wide(uint8_t *to, const uint64_t *values, size_t count, unsigned width)
{
    uint64_t word = 0;
    unsigned used = 0;

    for (size_t i = 0; i < count; i++) {
        word |= values[i] << used;
        used += width;
        if (used < 64)
            continue;
        memcpy(to, &word, sizeof(word));
        to += sizeof(word);
        used -= 64;
        word = used ? values[i] >> (width - used) : 0;
    }
    memcpy(to, &word, sizeof(word));
}

static void put_mini(struct buffer *b, const uint64_t *values, size_t count, unsigned width)
{
    size_t size = count * width / 8; /* whole bytes */
    uint8_t *to = buffer_room(b, size + 16);

    if (!to || !width)
        return;
    if (width <= 56)
        pack_narrow(to, values, count, width);
    else
        pack_wide(to, values, count, width);
    b->size += size;
}

/* Neighbours become one value of twice as many bits: half the work. */
static unsigned pair(uint64_t *values, size_t count, unsigned width)
{
    for (size_t i = 0; i < count / 2; i++)
        values[i] = values[2 * i] | values[2 * i + 1] << width;
    return 2 * width;
}

/* Differences above the least of them, 32 at a time with as many bits as their greatest has. */
CLONES static void put_block(struct buffer *b, const uint64_t *values, size_t count)
{
    uint64_t differences[DELTA_BLOCK] = {0}, or [DELTA_BLOCK / DELTA_MINI] = {0};
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < count; i++) {
        differences[i] = values[i + 1] - values[i];
        if ((int64_t)differences[i] < least)
            least = (int64_t)differences[i];
    }
    for (size_t i = 0; i < count; i++) {
        differences[i] -= (uint64_t)least;
        or [i / DELTA_MINI] |= differences[i];
    }
    buffer_zigzag(b, least);
    for (size_t m = 0; m < DELTA_BLOCK / DELTA_MINI; m++)
        buffer_byte(b, bits_of(or [m]));
    for (size_t m = 0; m * DELTA_MINI < count; m++) {
        uint64_t *mini = differences + m * DELTA_MINI;
        unsigned width = bits_of(or [m]);
        size_t left = DELTA_MINI;

        for (; width && width <= 28; left /= 2)
            width = pair(mini, left, width);
        put_mini(b, mini, left, width);
    }
}

void pack_differences(struct buffer *b, const uint64_t *values, size_t count)
{
    buffer_varint(b, DELTA_BLOCK);
    buffer_varint(b, DELTA_BLOCK / DELTA_MINI);
    buffer_varint(b, count);
    buffer_zigzag(b, count ? (int64_t)values[0] : 0);
    for (size_t i = 0; i + 1 < count; i += DELTA_BLOCK)
        put_block(b, values + i, count - 1 - i < DELTA_BLOCK ? count - 1 - i : DELTA_BLOCK);
}
