/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* An allocator: flexible arrays, offsets from pointers, sizes in headers. */
#include <stddef.h>
#include <stdint.h>

struct block {
    uint32_t size;
    uint32_t used;
    struct block *next;
    unsigned char bytes[];
};

struct pool {
    struct block *blocks;
    uint64_t total;
    uint32_t classes[8];
};

__attribute__((noinline)) struct block *take(struct pool *p, uint32_t size)
{
    for (struct block *b = p->blocks; b; b = b->next) { /* T: struct pool.blocks; struct block.next */
        if (!b->used && b->size >= size) { /* T: struct block.used; struct block.size */
            b->used = 1; /* T: struct block.used */
            p->total += b->size; /* T: struct pool.total; struct block.size */
            return b;
        }
    }
    return NULL;
}

__attribute__((noinline)) void give(struct pool *p, struct block *b)
{
    b->used = 0; /* T: struct block.used */
    p->total -= b->size; /* T: struct pool.total; struct block.size */
    p->classes[b->size & 7]++; /* T: struct pool.classes; struct block.size */
}

__attribute__((noinline)) unsigned check(const struct block *b, unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++)
        sum += b->bytes[i]; /* T: struct block.bytes */
    return sum;
}

__attribute__((noinline)) uint64_t report(const struct pool *p)
{
    uint64_t sum = p->total; /* T: struct pool.total */

    for (int i = 0; i < 8; i++)
        sum += p->classes[i]; /* T: struct pool.classes */
    return sum;
}

int main(void)
{
    static uint64_t memory[64];
    static struct pool pool;
    struct block *b = (struct block *)memory;

    b->size = 64; /* T: struct block.size; uint64_t; long unsigned int */
    pool.blocks = b; /* T: struct pool.blocks */
    b = take(&pool, 10);
    give(&pool, b);
    return check(b, 64) + report(&pool) == 12345;
}
