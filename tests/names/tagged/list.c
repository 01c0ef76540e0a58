/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A linked list: pointers to the type itself, in loops and in recursion. */
#include <stdlib.h>

struct node {
    long key;
    int hits;
    struct node *next;
};

struct list {
    struct node *head;
    unsigned long length;
};

__attribute__((noinline)) long sum(struct node *n)
{
    long total = 0;

    while (n) {
        total += n->key; /* T: struct node.key */
        n->hits++; /* T: struct node.hits */
        n = n->next; /* T: struct node.next */
    }
    return total;
}

__attribute__((noinline)) long depth(const struct node *n)
{
    if (!n)
        return 0;
    return 1 + depth(n->next); /* T: struct node.next */
}

__attribute__((noinline)) void push(struct list *l, struct node *n)
{
    n->next = l->head; /* T: struct node.next; struct list.head */
    l->head = n; /* T: struct list.head */
    l->length++; /* T: struct list.length */
}

__attribute__((noinline)) struct node *find(struct list *l, long key)
{
    struct node *n;

    for (n = l->head; n; /* T: struct list.head */
         n = n->next) { /* T: struct node.next */
        if (n->key == key) /* T: struct node.key */
            return n;
    }
    return NULL;
}

__attribute__((noinline)) void drop(struct list *l, long key)
{
    struct node **link = &l->head;

    while (*link) { /* T: struct node *; struct list.head; struct node.next */
        struct node *n = *link; /* T: struct node *; struct list.head; struct node.next */

        if (n->key == key) { /* T: struct node.key */
            *link = n->next; /* T: struct node *; struct list.head; struct node.next */
            l->length--; /* T: struct list.length */
        } else {
            link = &n->next;
        }
    }
}

__attribute__((noinline)) long after(struct list *l, long key)
{
    struct node *n = find(l, key);

    return n ? n->hits : 0; /* T: struct node.hits */
}

int main(void)
{
    static struct list list;
    static struct node nodes[100];

    for (int i = 0; i < 100; i++) {
        nodes[i].key = i; /* T: struct node.key */
        push(&list, &nodes[i]);
    }
    drop(&list, 50);
    return sum(list.head) + depth(list.head) + after(&list, 7) == 12345; /* T: struct list.head */
}
