/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Address spaces over time. The trees are treaps: a node's priority is a hash of its key, so that
 * they are balanced whatever the order of maps is. The seed keeps a file from being made to spoil
 * that; the answers do not depend on it.
 */
#include <stdlib.h>

#include "base/spaces.h"

#define NODE_MAX (1u << 21) /* 80 MB; recordings have thousands */

int spaces_init(struct spaces *s)
{
    s->seed = hash_seed();
    if (VECTOR_ROOM(&s->nodes) < 0)
        return SPE_ERR_NOMEM;
    s->nodes.at[0] = (struct space_node){.map = NONE};
    s->nodes.count = 1;
    return SPE_OK;
}

static uint64_t priority(const struct spaces *s, uint32_t node)
{
    return hash_number(s->seed, s->nodes.at[node].start);
}

static uint32_t new_node(struct spaces *s, const struct space_node *node)
{
    if (s->nodes.count >= UINT32_MAX / 2 || VECTOR_ROOM(&s->nodes) < 0)
        return NONE;
    s->nodes.at[s->nodes.count] = *node;
    if (s->nodes.count >= NODE_MAX)
        s->full = true;
    return (uint32_t)s->nodes.count++;
}

/* A node that may be changed: itself, or a copy. */
static uint32_t own(struct spaces *s, uint32_t node, uint32_t edit)
{
    struct space_node copy = s->nodes.at[node];

    if (copy.edit == edit)
        return node;
    copy.edit = edit;
    return new_node(s, &copy);
}

/* Into the nodes that start before `key` and the others. */
static int split(struct spaces *s, uint32_t root, uint32_t edit, uint64_t key, uint32_t *left,
                 uint32_t *right)
{
    uint32_t part;

    *left = *right = 0;
    if (!root)
        return SPE_OK;
    root = own(s, root, edit);
    if (root == NONE)
        return SPE_ERR_NOMEM;
    if (s->nodes.at[root].start < key) {
        if (split(s, s->nodes.at[root].right, edit, key, &part, right) < 0)
            return SPE_ERR_NOMEM;
        s->nodes.at[root].right = part;
        *left = root;
    } else {
        if (split(s, s->nodes.at[root].left, edit, key, left, &part) < 0)
            return SPE_ERR_NOMEM;
        s->nodes.at[root].left = part;
        *right = root;
    }
    return SPE_OK;
}

static uint32_t join(struct spaces *s, uint32_t left, uint32_t right, uint32_t edit)
{
    uint32_t root, part;

    if (!left || !right || left == NONE || right == NONE)
        return left == NONE || right == NONE ? NONE : left ? left : right;
    if (priority(s, left) > priority(s, right)) {
        root = own(s, left, edit);
        part = root == NONE ? NONE : join(s, s->nodes.at[root].right, right, edit);
        if (part == NONE)
            return NONE;
        s->nodes.at[root].right = part;
    } else {
        root = own(s, right, edit);
        part = root == NONE ? NONE : join(s, left, s->nodes.at[root].left, edit);
        if (part == NONE)
            return NONE;
        s->nodes.at[root].left = part;
    }
    return root;
}

/* Cut the last node of a tree off at `end`. What was there and behind it is copied to *cut. */
static uint32_t trim(struct spaces *s, uint32_t root, uint32_t edit, uint64_t end,
                     struct space_node *cut)
{
    uint32_t at = root, next;

    if (!root)
        return 0;
    while (s->nodes.at[at].right)
        at = s->nodes.at[at].right;
    *cut = s->nodes.at[at];
    if (cut->end <= end)
        return root;
    root = at = own(s, root, edit);
    while (at != NONE && s->nodes.at[at].right) {
        next = own(s, s->nodes.at[at].right, edit);
        if (next == NONE)
            return NONE;
        s->nodes.at[at].right = next;
        at = next;
    }
    if (at != NONE)
        s->nodes.at[at].end = end;
    return root;
}

uint32_t spaces_assign(struct spaces *s, uint32_t root, uint32_t edit, uint64_t start, uint64_t end,
                       uint32_t map)
{
    struct space_node first = {0}, last = {0}, node = {start, end, map, 0, 0, edit};
    uint32_t before, within, behind, middle;

    if (split(s, root, edit, start, &before, &behind) < 0 ||
        split(s, behind, edit, end, &within, &behind) < 0)
        return NONE;
    before = trim(s, before, edit, start, &first);
    if (before == NONE)
        return NONE;
    for (uint32_t at = within; at; at = s->nodes.at[at].right)
        last = s->nodes.at[at];
    if (first.end > end)
        last = first;
    if (last.end > end) { /* the rest of a map that reaches over the new one's end */
        struct space_node rest = {end, last.end, last.map, 0, 0, edit};
        uint32_t tail = new_node(s, &rest);

        behind = tail == NONE ? NONE : join(s, tail, behind, edit);
    }
    middle = new_node(s, &node);
    if (middle == NONE || behind == NONE)
        return NONE;
    return join(s, join(s, before, middle, edit), behind, edit);
}

struct map_view spaces_view(const struct spaces *s, uint32_t root, uint64_t address)
{
    struct map_view view = {0, UINT64_MAX, root, NONE};

    while (root) {
        const struct space_node *node = &s->nodes.at[root];

        if (address < node->start) {
            view.last = node->start - 1;
            root = node->left;
        } else if (address >= node->end) {
            view.first = node->end;
            root = node->right;
        } else {
            view.first = node->start;
            view.last = node->end - 1;
            view.map = node->map;
            break;
        }
    }
    return view;
}

int history_add(struct history *h, uint64_t time, uint32_t what)
{
    struct version *last = h->versions.count ? &h->versions.at[h->versions.count - 1] : NULL;

    if (last && last->time >= time) {
        last->what = what;
        return SPE_OK;
    }
    if (VECTOR_ROOM(&h->versions) < 0)
        return SPE_ERR_NOMEM;
    h->versions.at[h->versions.count++] = (struct version){time, what};
    return SPE_OK;
}

uint32_t history_at(const struct history *h, uint64_t time, uint32_t none, uint64_t *from,
                    uint64_t *to)
{
    size_t low = 0, high = h->versions.count;

    if (!high)
        return none;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (h->versions.at[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    if (low && h->versions.at[low].time > *from)
        *from = h->versions.at[low].time;
    if (high < h->versions.count && h->versions.at[high].time < *to)
        *to = h->versions.at[high].time;
    return h->versions.at[low].what;
}
