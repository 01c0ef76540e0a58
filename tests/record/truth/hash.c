/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A table of words with open addressing: fill it, look words up, take some out, let it grow. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART __attribute__((noinline))

struct entry {
    char word[12];
    uint32_t count;
};

static struct entry *table;
static uint32_t size, used;

PART static uint32_t hash_of(const char *word)
{
    uint32_t hash = 2166136261u;

    while (*word)
        hash = (hash ^ (uint8_t)*word++) * 16777619u;
    return hash;
}

PART static void make_word(char word[12], uint32_t number)
{
    unsigned n = 0;

    do {
        word[n++] = (char)('a' + number % 26);
        number /= 26;
    } while (number);
    word[n] = '\0';
}

PART static struct entry *find(const char *word)
{
    uint32_t at = hash_of(word) & (size - 1);

    while (table[at].word[0] && strcmp(table[at].word, word))
        at = (at + 1) & (size - 1);
    return &table[at];
}

PART static void grow(void)
{
    struct entry *old = table;
    uint32_t old_size = size;

    size = size ? 2 * size : 1024;
    table = calloc(size, sizeof(*table));
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].word[0])
            *find(old[i].word) = old[i];
    free(old);
}

PART static void add(uint32_t number)
{
    char word[12];
    struct entry *e;

    if (2 * used >= size)
        grow();
    make_word(word, number);
    e = find(word);
    if (!e->word[0]) {
        memcpy(e->word, word, sizeof(word));
        used++;
    }
    e->count++;
}

PART static uint64_t total(void)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < size; i++)
        sum += table[i].count;
    return sum;
}

int main(void)
{
    uint32_t seed = 9;

    for (unsigned i = 0; i < 150000; i++) {
        seed = seed * 1664525 + 1013904223;
        add(1000 + (seed >> 8) % 30000);
    }
    printf("%u %llu\n", used, (unsigned long long)total());
    return 0;
}
