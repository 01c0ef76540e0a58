/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Bytes: making text, checksums, counting words in a hash table, searching, packing. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SIZE 400000
#define SLOTS 4096
#define PART __attribute__((noinline))

static uint8_t text[SIZE], packed[2 * SIZE];
static uint32_t table[256], counts[SLOTS];
static uint64_t words[SLOTS];

PART static void make_text(void)
{
    uint32_t seed = 7;

    for (size_t i = 0; i < SIZE; i++) {
        seed = seed * 1103515245 + 12345;
        text[i] = seed >> 16 & 15 ? (uint8_t)('a' + (seed >> 20) % 13) : ' ';
    }
}

PART static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;

        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
        table[i] = c;
    }
}

PART static uint32_t checksum(void)
{
    uint32_t c = ~0u;

    for (size_t i = 0; i < SIZE; i++)
        c = c >> 8 ^ table[(uint8_t)c ^ text[i]];
    return ~c;
}

PART static void count_word(uint64_t word)
{
    uint32_t slot = (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 52);

    for (unsigned tries = 0; tries < 16; tries++) {
        if (!words[slot])
            words[slot] = word;
        if (words[slot] == word) {
            counts[slot]++;
            return;
        }
        slot = (slot + 1) % SLOTS;
    }
}

PART static void count_words(void)
{
    uint64_t word = 0;

    for (size_t i = 0; i < SIZE; i++) {
        if (text[i] != ' ')
            word = word * 31 + text[i];
        else if (word) {
            count_word(word % 5003 + 1);
            word = 0;
        }
    }
}

PART static size_t pack(void)
{
    size_t out = 0;

    for (size_t i = 0; i < SIZE;) {
        size_t run = 1;

        while (i + run < SIZE && text[i + run] == text[i] && run < 255)
            run++;
        packed[out++] = (uint8_t)run;
        packed[out++] = text[i];
        i += run;
    }
    return out;
}

PART static unsigned search(const char *what)
{
    size_t length = strlen(what);
    unsigned found = 0;

    for (size_t i = 0; i + length <= SIZE; i++) {
        size_t j = 0;

        while (j < length && text[i + j] == (uint8_t)what[j])
            j++;
        found += j == length;
    }
    return found;
}

int main(void)
{
    unsigned long sum = 0;

    make_table();
    for (int round = 0; round < 4; round++) {
        make_text();
        sum += checksum() + pack() + search("bad cafe") + search("aba");
        count_words();
    }
    printf("%lu\n", sum);
    return 0;
}
