/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Clears 1 MiB again and again, as programs do: by memset. */
#include <string.h>

static char memory[1 << 20];

int main(void)
{
    void *(*volatile clear)(void *, int, size_t) = memset;

    for (int i = 0; i < 64; i++)
        clear(memory, 0, sizeof(memory));
    return 0;
}
