/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "base/vector.h"

#include <stdlib.h>

int vector_grow(void *array, size_t *capacity, size_t count, size_t element)
{
    void **at = array;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *bigger;

    if (count < *capacity)
        return SPE_OK;
    bigger = realloc(*at, wanted * element);
    if (!bigger)
        return SPE_ERR_NOMEM;
    *at = bigger;
    *capacity = wanted;
    return SPE_OK;
}
