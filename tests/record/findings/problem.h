/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the programs share: each has one classic problem, and "healthy" is its repaired twin. */
#ifndef PROBLEM_H
#define PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

static inline bool is_healthy(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "healthy") == 0;
}

static inline uint32_t next_random(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

#endif
