/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <stdlib.h>
#include <string.h>

#include "analysis/callers.h"
#include "analysis/groups.h"
#include "base/hash.h"
#include "base/vector.h"

struct spe_call_tree {
    VECTOR(struct spe_call_node) nodes;
    struct hash_table index;
    uint64_t seed;
    struct callers callers;
    VECTOR(uint32_t) node_of; /* by rows.stack, and 1: the function of its innermost call */
    VECTOR(uint32_t) unwound; /* calls of a stack that have no node yet, innermost first */
};

enum { TOP, NO_STACK }; /* nodes that are not functions */

static int add_node(struct spe_call_tree *t, struct spe_call_node node, uint32_t *id)
{
    uint64_t hash =
        hash_number(hash_number(t->seed, node.symbol), (uint64_t)node.caller << 32 | node.dso);
    size_t cursor = 0;

    while ((*id = hash_table_find(&t->index, hash, &cursor)) != UINT32_MAX) {
        const struct spe_call_node *n = &t->nodes.at[*id];

        if (n->caller == node.caller && n->symbol == node.symbol && n->dso == node.dso &&
            n->no_stack == node.no_stack)
            return SPE_OK;
    }
    *id = (uint32_t)t->nodes.count;
    if (VECTOR_ROOM(&t->nodes) < 0 || hash_table_add(&t->index, hash, *id) < 0)
        return SPE_ERR_NOMEM;
    t->nodes.at[t->nodes.count++] = node;
    return SPE_OK;
}

static int add_child(struct spe_call_tree *t, uint32_t caller, uint64_t symbol, uint32_t dso,
                     uint32_t *id)
{
    return add_node(t, (struct spe_call_node){.caller = caller, .symbol = symbol, .dso = dso}, id);
}

int spe_call_tree_create(struct spe_call_tree **tree)
{
    struct spe_call_node top = {.caller = SPE_NO_ID, .symbol = SPE_NO_SYMBOL, .dso = SPE_NO_ID};
    struct spe_call_node none = top;
    struct spe_call_tree *t = *tree = calloc(1, sizeof(*t));
    uint32_t id;

    if (!t)
        return SPE_ERR_NOMEM;
    t->seed = hash_seed();
    none.caller = TOP;
    none.no_stack = true;
    if (add_node(t, top, &id) < 0 || add_node(t, none, &id) < 0) {
        spe_call_tree_destroy(t);
        *tree = NULL;
        return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

void spe_call_tree_destroy(struct spe_call_tree *t)
{
    if (!t)
        return;
    free(t->nodes.at);
    free(t->node_of.at);
    free(t->unwound.at);
    hash_table_free(&t->index);
    callers_free(&t->callers);
    free(t);
}

static uint32_t known_node(const struct spe_call_tree *t, uint32_t stack)
{
    return stack < t->node_of.count ? t->node_of.at[stack] : 0;
}

static int know_node(struct spe_call_tree *t, uint32_t stack, uint32_t node)
{
    while (t->node_of.count <= stack) {
        if (VECTOR_ROOM(&t->node_of) < 0)
            return SPE_ERR_NOMEM;
        t->node_of.at[t->node_of.count++] = 0;
    }
    t->node_of.at[stack] = node + 1;
    return SPE_OK;
}

/* From the stack outwards to a call that has a node, or to the end. */
static int unwind(struct spe_call_tree *t, const struct spe_profile *profile, uint32_t stack,
                  uint32_t *node)
{
    struct spe_profile_call call;

    t->unwound.count = 0;
    for (; !known_node(t, stack); stack = call.caller) {
        *node = TOP;
        if (spe_profile_call(profile, stack, &call) < 0)
            return SPE_OK;
        if (VECTOR_ROOM(&t->unwound) < 0)
            return SPE_ERR_NOMEM;
        t->unwound.at[t->unwound.count++] = stack;
    }
    *node = known_node(t, stack) - 1;
    return SPE_OK;
}

/* The node of the function that made the innermost call of a row. */
static int find_caller(struct spe_call_tree *t, struct spe_profile *profile,
                       const struct spe_rows *rows, size_t i, uint32_t *node)
{
    if (rows->stack[i] == SPE_NO_ID) {
        *node = NO_STACK;
        return SPE_OK;
    }
    if (unwind(t, profile, rows->stack[i], node) < 0)
        return SPE_ERR_NOMEM;
    while (t->unwound.count) {
        uint32_t id = t->unwound.at[--t->unwound.count];
        const struct caller *caller;
        struct spe_profile_call call;

        spe_profile_call(profile, id, &call);
        caller = callers_find(&t->callers, profile, rows, i, id, call.address);
        if (!caller || add_child(t, *node, caller->symbol, caller->dso, node) < 0 ||
            know_node(t, id, *node) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static uint32_t dso_of_row(const struct spe_profile *profile, const struct spe_rows *rows, size_t i)
{
    const struct spe_profile_map *map =
        rows->map[i] != SPE_NO_ID ? spe_profile_map(profile, rows->map[i]) : NULL;

    return map ? map->dso : SPE_NO_ID;
}

int spe_call_tree_add(struct spe_call_tree *t, struct spe_profile *profile,
                      const struct spe_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct spe_counts counts = counts_of_row(rows, i);
        uint32_t node;

        if (find_caller(t, profile, rows, i, &node) < 0 ||
            add_child(t, node, rows->symbol[i], dso_of_row(profile, rows, i), &node) < 0)
            return SPE_ERR_NOMEM;
        group_counts_add(&t->nodes.at[node].self, &counts);
    }
    return SPE_OK;
}

/* Callers come before those that they call. */
void spe_call_tree_finish(struct spe_call_tree *t)
{
    for (size_t i = 0; i < t->nodes.count; i++) {
        t->nodes.at[i].samples = t->nodes.at[i].self.samples;
        t->nodes.at[i].latency = t->nodes.at[i].self.latency;
    }
    for (size_t i = t->nodes.count; i-- > 1;) {
        struct spe_call_node *caller = &t->nodes.at[t->nodes.at[i].caller];

        caller->samples += t->nodes.at[i].samples;
        caller->latency += t->nodes.at[i].latency;
    }
}

size_t spe_call_tree_count(const struct spe_call_tree *t)
{
    return t->nodes.count;
}

const struct spe_call_node *spe_call_tree_at(const struct spe_call_tree *t, size_t i)
{
    return i < t->nodes.count ? &t->nodes.at[i] : NULL;
}
