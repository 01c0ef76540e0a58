/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* One set-associative cache: lines and their states, without meaning. */
#include "machine_internal.h"

#include <stdlib.h>

int pe_cache_init(struct pe_cache *cache, const struct spe_cache_shape *shape, uint32_t line_shift)
{
    uint64_t sets;

    if (shape->bytes == 0)
        return SPE_OK;
    sets = shape->bytes / shape->ways >> line_shift;
    cache->ways = shape->ways;
    cache->line_shift = line_shift;
    cache->set_mask = sets - 1;
    cache->words = calloc(sets * shape->ways, sizeof(*cache->words));
    cache->used = calloc(sets, sizeof(*cache->used));
    return cache->words && cache->used ? SPE_OK : SPE_ERR_NOMEM;
}

void pe_cache_free(struct pe_cache *cache)
{
    free(cache->words);
    free(cache->used);
}

/* Acquire: a line that is seen to have left an L1 has left its state in L2 before. */
int pe_cache_find(const struct pe_cache *cache, uint64_t line)
{
    const pe_word *words = pe_cache_word(cache, line, 0);

    for (unsigned way = 0; way < cache->ways; way++) {
        uint64_t word = atomic_load_explicit(&words[way], memory_order_acquire);

        if ((word & ~(uint64_t)(PE_STATE & ~PE_VALID)) == (line | PE_VALID))
            return (int)way;
    }
    return -1;
}

unsigned pe_cache_victim(const struct pe_cache *cache, uint64_t line)
{
    const pe_word *words = pe_cache_word(cache, line, 0);
    uint32_t used = cache->used[line >> cache->line_shift & cache->set_mask];

    for (unsigned way = 0; way < cache->ways; way++)
        if (pe_get(&words[way]) == 0)
            return way;
    return cache->ways == 1 ? 0 : (unsigned)__builtin_ctz(~used);
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
