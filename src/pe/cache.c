/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* One set-associative cache: lines and their states, without meaning. */
#include "machine_internal.h"

#include <stdlib.h>

#define HOST_LINE 64 /* bytes */

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
    /* Not aligned_alloc, which would have to touch it all to make it zero. */
    cache->memory = calloc(sets * shape->ways + HOST_LINE / sizeof(pe_word), sizeof(pe_word));
    cache->used = calloc(sets, sizeof(*cache->used));
    if (!cache->memory || !cache->used)
        return SPE_ERR_NOMEM;
    cache->words = (pe_word *)(((uintptr_t)cache->memory + HOST_LINE - 1) / HOST_LINE * HOST_LINE);
    return SPE_OK;
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
