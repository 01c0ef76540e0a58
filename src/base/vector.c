/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "base/vector.h"

#include <stdint.h>
#include <stdlib.h>

int vector_reserve(void *array, size_t *capacity, size_t need, size_t element)
{
    void **at = array;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *bigger;

    if (need <= *capacity)
        return SPE_OK;
    if (wanted < need)
        wanted = need;
    bigger = wanted <= SIZE_MAX / 2 / element ? realloc(*at, wanted * element) : NULL;
    if (!bigger)
        return SPE_ERR_NOMEM;
    *at = bigger;
    *capacity = wanted;
    return SPE_OK;
}

int vector_grow(void *array, size_t *capacity, size_t count, size_t element)
{
    return vector_reserve(array, capacity, count + 1, element);
}
