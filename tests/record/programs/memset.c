/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Clears 1 MiB again and again, as programs do: by memset; with an argument all bytes become 1. */
#include <string.h>

static char memory[1 << 20];

int main(int argc, char **argv)
{
    void *(*volatile set)(void *, int, size_t) = memset;

    (void)argv;
    for (int i = 0; i < 64; i++)
        set(memory, argc > 1, sizeof(memory));
    return 0;
}
