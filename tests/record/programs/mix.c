/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Functions of many kinds, some millions of instructions each: what estimates are compared on. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum { SIZE = 1 << 18 };

static uint32_t words[SIZE];
static uint8_t text[SIZE];
static uint64_t table[1 << 14];
static double samples[1 << 14];
static struct node {
    struct node *next, *left, *right;
    uint32_t key;
} nodes[1 << 14];
static uint32_t state = 12345;
volatile uint64_t sink;

NOINLINE static uint32_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

NOINLINE static void fill_words(void)
{
    for (int i = 0; i < SIZE; i++)
        words[i] = next_random();
}

NOINLINE static void fill_text(void)
{
    for (int i = 0; i < SIZE; i++)
        text[i] = (uint8_t)("etaoin shrdlu"[words[i] % 13]);
}

NOINLINE static uint64_t sum_strided(unsigned stride)
{
    uint64_t sum = 0;

    for (unsigned start = 0; start < stride; start++)
        for (unsigned i = start; i < SIZE; i += stride)
            sum += words[i];
    return sum;
}

NOINLINE static unsigned count_spaces(void)
{
    unsigned spaces = 0;

    for (int i = 0; i < SIZE; i++)
        if (text[i] == ' ')
            spaces++;
    return spaces;
}

NOINLINE static uint32_t checksum(void)
{
    uint32_t sum = 0;

    for (int i = 0; i < SIZE / 4; i++) {
        sum ^= text[i];
        for (int k = 0; k < 8; k++)
            sum = sum >> 1 ^ (0xedb88320 & -(sum & 1));
    }
    return sum;
}

NOINLINE static void hash_insert(uint32_t key)
{
    uint32_t at = key * 2654435761u >> 18;

    while (table[at] && table[at] != key)
        at = (at + 1) & ((1 << 14) - 1);
    table[at] = key;
}

NOINLINE static void hash_all(void)
{
    memset(table, 0, sizeof(table));
    for (int i = 0; i < 10000; i++)
        hash_insert(words[i] | 1);
}

NOINLINE static void sift_down(uint32_t *heap, unsigned at, unsigned count)
{
    for (unsigned child; (child = 2 * at + 1) < count; at = child) {
        uint32_t t = heap[at];

        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (t >= heap[child])
            return;
        heap[at] = heap[child];
        heap[child] = t;
    }
}

NOINLINE static void heap_sort(uint32_t *heap, unsigned count)
{
    for (unsigned i = count / 2; i-- > 0;)
        sift_down(heap, i, count);
    for (unsigned i = count; i-- > 1;) {
        uint32_t t = heap[0];

        heap[0] = heap[i];
        heap[i] = t;
        sift_down(heap, 0, i);
    }
}

NOINLINE static struct node *tree_insert(struct node *root, struct node *n)
{
    struct node **at = &root;

    while (*at)
        at = n->key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = n;
    return root;
}

NOINLINE static unsigned tree_depth(const struct node *n)
{
    unsigned left, right;

    if (!n)
        return 0;
    left = tree_depth(n->left);
    right = tree_depth(n->right);
    return 1 + (left > right ? left : right);
}

NOINLINE static unsigned tree_build(unsigned count)
{
    struct node *root = NULL;

    for (unsigned i = 0; i < count; i++) {
        nodes[i] = (struct node){.key = next_random()};
        root = tree_insert(root, &nodes[i]);
    }
    return tree_depth(root);
}

NOINLINE static void list_link(void)
{
    for (unsigned i = 0; i < 1 << 14; i++)
        nodes[i].next = &nodes[(i * 5 + 1) & ((1 << 14) - 1)];
}

NOINLINE static unsigned list_walk(unsigned steps)
{
    const struct node *n = nodes;

    while (steps--)
        n = n->next;
    return (unsigned)(n - nodes);
}

NOINLINE static double filter(void)
{
    double sum = 0;

    for (int i = 0; i < 1 << 14; i++)
        samples[i] = i * 0.25;
    for (int round = 0; round < 12; round++)
        for (int i = 2; i < 1 << 14; i++)
            samples[i] = 0.5 * samples[i] + 0.3 * samples[i - 1] + 0.2 * samples[i - 2];
    for (int i = 0; i < 1 << 14; i++)
        sum += samples[i];
    return sum;
}

NOINLINE static uint64_t divide(void)
{
    uint64_t sum = 0;

    for (int i = 1; i < 200000; i++)
        sum += words[i] / (uint32_t)i;
    return sum;
}

static uint64_t add_one(uint64_t x) { return x + 1; }
static uint64_t times_three(uint64_t x) { return x * 3; }
static uint64_t flip(uint64_t x) { return ~x; }
static uint64_t half(uint64_t x) { return x >> 1; }

NOINLINE static uint64_t dispatch(void)
{
    static uint64_t (*volatile const functions[])(uint64_t) = {add_one, times_three, flip, half};
    uint64_t x = 1;

    for (int i = 0; i < 150000; i++)
        x = functions[words[i] >> 7 & 3](x);
    return x;
}

NOINLINE static void copy_blocks(void)
{
    for (int i = 0; i < 60; i++)
        memcpy(text + (i & 1) * 1000, words, SIZE / 2);
}

NOINLINE static void print_numbers(char *to, size_t room)
{
    for (int i = 0; i < 6000; i++)
        snprintf(to, room, "%u %x %d", words[i], words[i], i);
}

int main(void)
{
    char line[100];

    for (int round = 0; round < 2; round++) {
        fill_words();
        fill_text();
        sink += sum_strided(1) + sum_strided(16) + sum_strided(4096);
        sink += count_spaces() + checksum();
        hash_all();
        heap_sort(words, 30000);
        sink += tree_build(12000);
        list_link();
        sink += list_walk(600000);
        sink += (uint64_t)filter() + divide() + dispatch();
        copy_blocks();
        print_numbers(line, sizeof(line));
    }
    return 0;
}
