/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* One set-associative cache: lines and their states, without meaning. */
#include "machine_internal.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HOST_LINE 64                      /* bytes */
#define HOST_LARGE_PAGE ((size_t)2 << 20) /* ... where the kernel has such */

/* Words that are zero, at a line of the host's cache, or on large pages: an LLC has so many words,
 * and is looked at here and there, that their pages are harder to find than they are. Not
 * aligned_alloc, whose memory would have to be touched to make it zero. */
static pe_word *allocate(size_t bytes, void **memory)
{
    size_t unit = bytes < HOST_LARGE_PAGE ? HOST_LINE : HOST_LARGE_PAGE;
    char *words = *memory = calloc(1, bytes + unit);

    if (!words)
        return NULL;
    words += (unit - (uintptr_t)words % unit) % unit;
    if (unit == HOST_LARGE_PAGE)
        madvise(words, bytes, MADV_HUGEPAGE);
    return (pe_word *)words;
}

int pe_cache_init(struct pe_cache *cache, const struct spe_cache_shape *shape, uint32_t line_shift)
{
    uint64_t sets;

    if (shape->bytes == 0)
        return SPE_OK;
    sets = shape->bytes / shape->ways >> line_shift;
    cache->ways = shape->ways;
    cache->all_used = UINT32_MAX >> (32 - shape->ways);
    cache->line_shift = line_shift;
    cache->set_mask = sets - 1;
    cache->words = allocate(sets * shape->ways * sizeof(pe_word), &cache->memory);
    cache->used = calloc(sets, sizeof(*cache->used));
    return cache->words && cache->used ? SPE_OK : SPE_ERR_NOMEM;
}

void pe_cache_free(struct pe_cache *cache)
{
    free(cache->memory);
    free(cache->used);
}

uint64_t pe_cache_clear(struct pe_cache *cache, uint64_t line, uint64_t bits)
{
    int way = cache->words ? pe_cache_find(cache, line) : -1;
    uint64_t word, after;
    pe_word *at;

    if (way < 0)
        return 0;
    at = pe_cache_word(cache, line, (unsigned)way);
    word = atomic_load_explicit(at, memory_order_acquire);
    do { /* meanwhile its owner may modify it, or put another in its place */
        if ((word & ~(uint64_t)PE_STATE) != line || !(word & PE_VALID))
            return 0;
        after = bits & PE_VALID ? 0 : word & ~bits;
    } while (!atomic_compare_exchange_weak_explicit(at, &word, after, memory_order_acq_rel,
                                                    memory_order_acquire));
    return word & PE_STATE;
}
