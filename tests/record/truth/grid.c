/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Tables of small numbers: a sieve, the distance of two words, cells that live and die, a walk. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SIDE 256
#define PRIMES 300000
#define WORD 600
#define PART __attribute__((noinline))

static uint8_t cells[SIDE][SIDE], after[SIDE][SIDE], composite[PRIMES];
static char first[WORD], second[WORD];
static uint16_t row[WORD + 1];

PART static unsigned sieve(void)
{
    unsigned primes = 0;

    memset(composite, 0, sizeof(composite));
    for (unsigned i = 2; i < PRIMES; i++) {
        if (composite[i])
            continue;
        primes++;
        for (unsigned j = 2 * i; j < PRIMES; j += i)
            composite[j] = 1;
    }
    return primes;
}

PART static void make_words(uint32_t seed)
{
    for (unsigned i = 0; i < WORD; i++) {
        seed = seed * 1664525 + 1013904223;
        first[i] = (char)('a' + (seed >> 24) % 4);
        second[i] = (char)('a' + (seed >> 16) % 4);
    }
}

PART static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned d = a < b ? a : b;

    return d < c ? d : c;
}

PART static unsigned distance(void)
{
    for (unsigned j = 0; j <= WORD; j++)
        row[j] = (uint16_t)j;
    for (unsigned i = 1; i <= WORD; i++) {
        unsigned corner = row[0];

        row[0] = (uint16_t)i;
        for (unsigned j = 1; j <= WORD; j++) {
            unsigned up = row[j];

            row[j] = (uint16_t)least(up + 1, row[j - 1] + 1u,
                                     corner + (first[i - 1] != second[j - 1]));
            corner = up;
        }
    }
    return row[WORD];
}

PART static void scatter(uint32_t seed)
{
    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned x = 0; x < SIDE; x++) {
            seed = seed * 1664525 + 1013904223;
            cells[y][x] = seed >> 30 == 0;
        }
}

PART static unsigned neighbours(unsigned y, unsigned x)
{
    unsigned sum = 0;

    for (unsigned dy = SIDE - 1; dy <= SIDE + 1; dy++)
        for (unsigned dx = SIDE - 1; dx <= SIDE + 1; dx++)
            sum += cells[(y + dy) % SIDE][(x + dx) % SIDE];
    return sum - cells[y][x];
}

PART static void generation(void)
{
    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned x = 0; x < SIDE; x++) {
            unsigned n = neighbours(y, x);

            after[y][x] = n == 3 || (n == 2 && cells[y][x]);
        }
    memcpy(cells, after, sizeof(cells));
}

PART static unsigned walk(unsigned steps)
{
    unsigned y = 1, x = 1, met = 0;

    while (steps--) {
        if (cells[y][x]) {
            met++;
            y = (y * 5 + 1) % SIDE;
        } else {
            x = (x * 13 + 7 + y) % SIDE;
        }
        cells[y][x] ^= 1;
    }
    return met;
}

int main(void)
{
    unsigned sum = 0;

    for (uint32_t round = 0; round < 3; round++) {
        sum += sieve();
        make_words(round);
        sum += distance();
        scatter(round);
        generation();
        generation();
        sum += walk(400000);
    }
    printf("%u\n", sum);
    return 0;
}
