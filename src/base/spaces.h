/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Address spaces that change over time. */
#ifndef BASE_SPACES_H
#define BASE_SPACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/vector.h"

/*
 * A space at a moment is a tree of maps by address. A change makes a new tree that shares all but
 * the changed path with the old one, so that every moment can be looked up, and a fork costs
 * nothing.
 */
struct space_node {
    uint64_t start, end;
    uint32_t map; /* NONE: unmapped */
    uint32_t left, right;
    uint32_t edit; /* whoever has this number may change the node in place */
};

struct spaces {
    VECTOR(struct space_node) nodes; /* node 0 is the empty tree */
    uint64_t seed;
    uint32_t edits;
    bool full; /* no more history: changes apply from the last version on */
};

int spaces_init(struct spaces *s);
/* The tree with [start, end) given to a map; NONE without memory. */
uint32_t spaces_assign(struct spaces *s, uint32_t root, uint32_t edit, uint64_t start, uint64_t end,
                       uint32_t map);

/* The map of an address in a tree, or NONE, and the addresses around it that have the same. */
struct map_view {
    uint64_t first, last;
    uint32_t root, map;
};

struct map_view spaces_view(const struct spaces *s, uint32_t root, uint64_t address);

struct version {
    uint64_t time; /* from here on */
    uint32_t what; /* root of a tree, or name of a thread */
};

struct history {
    VECTOR(struct version) versions; /* ascending */
};

/* From `time` on it is `what`; times do not descend. */
int history_add(struct history *h, uint64_t time, uint32_t what);
/* What it is at a time and, narrowed down in *from and *to, from when until when. Before the first
 * version the first one counts; `none` if there is no version. */
uint32_t history_at(const struct history *h, uint64_t time, uint32_t none, uint64_t *from,
                    uint64_t *to);

#endif
