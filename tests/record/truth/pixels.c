/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Bytes of a picture: drawn, blurred both ways, counted, made black and white, filled. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WIDE 512
#define HIGH 384
#define PART __attribute__((noinline))

static uint8_t picture[HIGH][WIDE], other[HIGH][WIDE];
static uint32_t histogram[256];
static uint32_t todo[WIDE * HIGH];

PART static void draw(void)
{
    for (unsigned y = 0; y < HIGH; y++)
        for (unsigned x = 0; x < WIDE; x++)
            picture[y][x] = (uint8_t)((x * x + 3 * y * y) >> 6);
}

PART static void blur_rows(void)
{
    for (unsigned y = 0; y < HIGH; y++)
        for (unsigned x = 1; x < WIDE - 1; x++)
            other[y][x] =
                (uint8_t)((picture[y][x - 1] + 2 * picture[y][x] + picture[y][x + 1]) / 4);
}

PART static void blur_columns(void)
{
    for (unsigned x = 0; x < WIDE; x++)
        for (unsigned y = 1; y < HIGH - 1; y++)
            picture[y][x] = (uint8_t)((other[y - 1][x] + 2 * other[y][x] + other[y + 1][x]) / 4);
}

PART static void count(void)
{
    memset(histogram, 0, sizeof(histogram));
    for (unsigned y = 0; y < HIGH; y++)
        for (unsigned x = 0; x < WIDE; x++)
            histogram[picture[y][x]]++;
}

PART static uint8_t median(void)
{
    uint32_t sum = 0;
    unsigned value = 0;

    while (value < 255 && sum + histogram[value] < WIDE * HIGH / 2)
        sum += histogram[value++];
    return (uint8_t)value;
}

PART static void cut(uint8_t limit)
{
    for (unsigned y = 0; y < HIGH; y++)
        for (unsigned x = 0; x < WIDE; x++)
            if (picture[y][x] > limit)
                other[y][x] = 1;
            else
                other[y][x] = 0;
}

PART static void visit(unsigned x, unsigned y, unsigned *end)
{
    if (x < WIDE && y < HIGH && other[y][x] == 0) {
        other[y][x] = 2;
        todo[(*end)++] = y * WIDE + x;
    }
}

PART static unsigned fill(void)
{
    unsigned areas = 0;

    for (unsigned i = 0; i < WIDE * HIGH; i++) {
        unsigned end = 0;

        visit(i % WIDE, i / WIDE, &end);
        areas += end;
        for (unsigned at = 0; at < end; at++) {
            unsigned x = todo[at] % WIDE, y = todo[at] / WIDE;

            visit(x + 1, y, &end);
            visit(x - 1, y, &end);
            visit(x, y + 1, &end);
            visit(x, y - 1, &end);
        }
    }
    return areas;
}

int main(void)
{
    unsigned sum = 0;

    draw();
    for (unsigned i = 0; i < 3; i++) {
        blur_rows();
        blur_columns();
        count();
        cut(median());
        sum += fill();
    }
    printf("%u\n", sum);
    return 0;
}
