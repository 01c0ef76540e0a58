/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Pointers: a list in random order through two megabytes, a tree, a queue. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES 32768
#define PART __attribute__((noinline))

struct node {
    struct node *next, *left, *right;
    uint64_t key, pad[4];
};

static struct node nodes[NODES];
static uint32_t order[NODES];
static uint64_t state = 1;

PART static uint32_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)state;
}

PART static void shuffle(void)
{
    for (uint32_t i = 0; i < NODES; i++)
        order[i] = i;
    for (uint32_t i = NODES - 1; i > 0; i--) {
        uint32_t j = next_random() % (i + 1), t = order[i];

        order[i] = order[j];
        order[j] = t;
    }
}

PART static void link_list(void)
{
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
        nodes[order[i]].key = next_random();
        nodes[order[i]].left = nodes[order[i]].right = NULL;
    }
}

PART static uint64_t walk_list(unsigned steps)
{
    const struct node *n = nodes;
    uint64_t sum = 0;

    while (steps--) {
        sum += n->key;
        n = n->next;
    }
    return sum;
}

PART static struct node *insert(struct node *root, struct node *n)
{
    struct node **at = &root;

    while (*at)
        at = n->key < (*at)->key ? &(*at)->left : &(*at)->right;
    *at = n;
    return root;
}

PART static unsigned find(const struct node *n, uint64_t key)
{
    unsigned depth = 0;

    while (n && n->key != key) {
        n = n->key > key ? n->left : n->right;
        depth++;
    }
    return depth;
}

int main(void)
{
    struct node *root = NULL;
    uint64_t sum = 0;

    shuffle();
    link_list();
    sum += walk_list(3000000);
    for (uint32_t i = 0; i < NODES; i++)
        root = insert(root, &nodes[i]);
    for (unsigned i = 0; i < 120000; i++)
        sum += find(root, i & 1 ? nodes[next_random() % NODES].key : next_random());
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
