/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/sort.h"

#include <string.h>

#define FEW 24 /* for which counting bytes does not pay */

static void insert_each(struct sort_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct sort_key one = keys[i];
        size_t at = i;

        for (; at && keys[at - 1].key > one.key; at--)
            keys[at] = keys[at - 1];
        keys[at] = one;
    }
}

static void sort_by_byte(const struct sort_key *from, struct sort_key *to, size_t n, unsigned shift)
{
    size_t next[256] = {0}, start = 0;

    for (size_t i = 0; i < n; i++)
        next[from[i].key >> shift & 0xff]++;
    for (unsigned byte = 0; byte < 256; byte++) {
        size_t count = next[byte];

        next[byte] = start;
        start += count;
    }
    for (size_t i = 0; i < n; i++)
        to[next[from[i].key >> shift & 0xff]++] = from[i];
}

/* From the lowest byte to the highest, without those that all keys have in common. */
void sort_keys(struct sort_key *keys, struct sort_key *room, size_t n)
{
    struct sort_key *from = keys, *to = room;
    uint64_t differs = 0;

    if (n <= FEW) {
        insert_each(keys, n);
        return;
    }
    for (size_t i = 1; i < n; i++)
        differs |= keys[i].key ^ keys[0].key;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        struct sort_key *sorted = to;

        if (!(differs >> shift & 0xff))
            continue;
        sort_by_byte(from, to, n, shift);
        to = from;
        from = sorted;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof(*keys));
}
