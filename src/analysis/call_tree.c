/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <stdlib.h>
#include <string.h>

#include "analysis/callers.h"
#include "analysis/groups.h"
#include "analysis/other_calls.h"
#include "analysis/slices.h"
#include "base/hash.h"
#include "base/vector.h"

struct node {
    struct spe_call_node shown;
    uint32_t line; /* SPE_NO_ID: not known, or nobody asks */
    uint32_t task; /* of a node that is a task; else SPE_NO_ID */
    bool is_task;
};

/* The function of a stack's innermost call, below the node of a task or TOP. */
struct place_of_stack {
    uint32_t root, node; /* node and 1; 0: not known */
};

struct spe_call_tree {
    VECTOR(struct node) nodes;
    struct hash_table index;
    uint64_t seed;
    struct callers callers;
    enum spe_group_by tasks;               /* SPE_BY_COUNT: not by task */
    VECTOR(struct place_of_stack) node_of; /* by rows.stack: where it was found last */
    VECTOR(uint32_t) unwound; /* calls of a stack that have no node yet, innermost first */
};

enum { TOP }; /* the first node */

static bool same_node(const struct node *a, const struct node *b)
{
    return a->shown.caller == b->shown.caller && a->shown.symbol == b->shown.symbol &&
           a->shown.dso == b->shown.dso && a->line == b->line &&
           a->shown.no_stack == b->shown.no_stack && a->is_task == b->is_task && a->task == b->task;
}

static int add_node(struct spe_call_tree *t, struct node node, uint32_t *id)
{
    uint64_t hash = hash_number(hash_number(t->seed, node.shown.symbol),
                                (uint64_t)node.shown.caller << 32 | node.shown.dso);
    size_t cursor = 0;

    hash = node.line == SPE_NO_ID ? hash : hash_number(hash, node.line);
    hash = node.is_task ? hash_number(hash, node.task) : hash;
    while ((*id = hash_table_find(&t->index, hash, &cursor)) != UINT32_MAX) {
        if (same_node(&t->nodes.at[*id], &node))
            return SPE_OK;
    }
    *id = (uint32_t)t->nodes.count;
    if (VECTOR_ROOM(&t->nodes) < 0 || hash_table_add(&t->index, hash, *id) < 0)
        return SPE_ERR_NOMEM;
    t->nodes.at[t->nodes.count++] = node;
    return SPE_OK;
}

static int add_child(struct spe_call_tree *t, uint32_t caller, const struct caller *function,
                     uint32_t *id)
{
    const struct node node = {
        .shown = {.caller = caller, .symbol = function->symbol, .dso = function->dso},
        .line = function->line,
        .task = SPE_NO_ID,
    };

    return add_node(t, node, id);
}

static struct node other_node(uint32_t caller)
{
    return (struct node){
        .shown = {.caller = caller, .symbol = SPE_NO_SYMBOL, .dso = SPE_NO_ID},
        .line = SPE_NO_ID,
        .task = SPE_NO_ID,
    };
}

/* The node that stacks of a row are below. */
static int add_root(struct spe_call_tree *t, const struct spe_rows *rows, size_t i, uint32_t *id)
{
    struct node node = other_node(TOP);

    *id = TOP;
    if (t->tasks == SPE_BY_COUNT)
        return SPE_OK;
    node.is_task = true;
    node.task = task_ids(rows, t->tasks)[i];
    return add_node(t, node, id);
}

static int add_no_stack(struct spe_call_tree *t, uint32_t root, uint32_t *id)
{
    struct node node = other_node(root);

    node.shown.no_stack = true;
    return add_node(t, node, id);
}

int spe_call_tree_create(struct spe_call_tree **tree)
{
    struct spe_call_tree *t = *tree = calloc(1, sizeof(*t));
    uint32_t id;

    if (!t)
        return SPE_ERR_NOMEM;
    t->seed = hash_seed();
    t->tasks = SPE_BY_COUNT;
    if (add_node(t, other_node(SPE_NO_ID), &id) < 0) {
        spe_call_tree_destroy(t);
        *tree = NULL;
        return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

void spe_call_tree_by_line(struct spe_call_tree *t)
{
    t->callers.lines = true;
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

int spe_call_tree_by_task(struct spe_call_tree *t, enum spe_group_by by)
{
    if (by != SPE_BY_COMM && by != SPE_BY_THREAD)
        return SPE_ERR_INVALID;
    t->tasks = by;
    return SPE_OK;
}

static uint32_t known_node(const struct spe_call_tree *t, uint32_t root, uint32_t stack)
{
    const struct place_of_stack *at = stack < t->node_of.count ? &t->node_of.at[stack] : NULL;

    return at && at->root == root ? at->node : 0;
}

static int know_node(struct spe_call_tree *t, uint32_t root, uint32_t stack, uint32_t node)
{
    while (t->node_of.count <= stack) {
        if (VECTOR_ROOM(&t->node_of) < 0)
            return SPE_ERR_NOMEM;
        t->node_of.at[t->node_of.count++] = (struct place_of_stack){.node = 0};
    }
    t->node_of.at[stack] = (struct place_of_stack){root, node + 1};
    return SPE_OK;
}

/* From the stack outwards to a call that has a node, or to the end. */
static int unwind(struct spe_call_tree *t, const struct spe_profile *profile, uint32_t root,
                  uint32_t stack, uint32_t *node)
{
    struct spe_profile_call call;

    t->unwound.count = 0;
    for (; !known_node(t, root, stack); stack = call.caller) {
        *node = root;
        if (spe_profile_call(profile, stack, &call) < 0)
            return SPE_OK;
        if (VECTOR_ROOM(&t->unwound) < 0)
            return SPE_ERR_NOMEM;
        t->unwound.at[t->unwound.count++] = stack;
    }
    *node = known_node(t, root, stack) - 1;
    return SPE_OK;
}

/* The node of the function that made the innermost call of a stack, below a root. */
static int find_caller(struct spe_call_tree *t, struct spe_profile *profile,
                       const struct stack_of *whose, uint32_t root, uint32_t stack, uint32_t *node)
{
    if (stack == SPE_NO_ID)
        return add_no_stack(t, root, node);
    if (unwind(t, profile, root, stack, node) < 0)
        return SPE_ERR_NOMEM;
    while (t->unwound.count) {
        uint32_t id = t->unwound.at[--t->unwound.count];
        const struct caller *caller;
        struct spe_profile_call call;

        spe_profile_call(profile, id, &call);
        caller = callers_find(&t->callers, profile, whose, id, call.address);
        if (!caller || add_child(t, *node, caller, node) < 0 || know_node(t, root, id, *node) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

int spe_call_tree_add(struct spe_call_tree *t, struct spe_profile *profile,
                      const struct spe_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct stack_of whose = {rows->thread[i], rows->time_ns[i]};
        const struct caller function = {
            .symbol = rows->symbol[i],
            .dso = dso_of_row(profile, rows, i),
            .line = t->callers.lines && rows->line ? rows->line[i] : SPE_NO_ID,
        };
        struct spe_counts counts = counts_of_row(rows, i);
        uint32_t root, node;

        if (add_root(t, rows, i, &root) < 0 ||
            find_caller(t, profile, &whose, root, rows->stack[i], &node) < 0 ||
            add_child(t, node, &function, &node) < 0)
            return SPE_ERR_NOMEM;
        group_counts_add(&t->nodes.at[node].shown.self, &counts);
    }
    return SPE_OK;
}

/* What a function has without a stack goes to those that call it elsewhere. */
static int share_node(struct spe_call_tree *t, struct spe_profile *profile,
                      const struct other_calls *o, uint32_t from)
{
    const struct node whole = t->nodes.at[from];
    const struct caller function = {
        .symbol = whole.shown.symbol, .dso = whole.shown.dso, .line = whole.line};
    size_t first = 0, count = other_calls_of(o, function.symbol, function.dso, &first);
    struct share share = other_calls_shares(o, first, count, &whole.shown.self);
    uint32_t root = t->nodes.at[whole.shown.caller].shown.caller;

    for (size_t i = 0; i < count; i++) {
        const struct other_call *call = &o->at[first + i];
        struct spe_counts counts = other_calls_part(&share, call);
        uint32_t node;

        if (!counts.samples)
            continue;
        if (find_caller(t, profile, &call->whose, root, call->stack, &node) < 0 ||
            add_child(t, node, &function, &node) < 0)
            return SPE_ERR_NOMEM;
        group_counts_add(&t->nodes.at[node].shown.self, &counts);
    }
    if (count)
        t->nodes.at[from].shown.self = (struct spe_counts){.samples = 0};
    return SPE_OK;
}

int spe_call_tree_share(struct spe_call_tree *t, struct spe_profile *profile)
{
    size_t nodes = t->nodes.count; /* what follows adds others, which have a stack */
    struct other_calls others;
    int result = other_calls_read(&others, profile);

    for (size_t i = TOP + 1; i < nodes && others.count && result == SPE_OK; i++) {
        const struct spe_call_node *n = &t->nodes.at[i].shown;

        if (t->nodes.at[n->caller].shown.no_stack && n->self.samples)
            result = share_node(t, profile, &others, (uint32_t)i);
    }
    other_calls_free(&others);
    return result;
}

/* Callers come before those that they call. */
void spe_call_tree_finish(struct spe_call_tree *t)
{
    for (size_t i = 0; i < t->nodes.count; i++) {
        struct spe_call_node *n = &t->nodes.at[i].shown;

        n->samples = n->self.samples;
        n->latency = n->self.latency;
    }
    for (size_t i = t->nodes.count; i-- > 1;) {
        const struct spe_call_node *n = &t->nodes.at[i].shown;
        struct spe_call_node *caller = &t->nodes.at[n->caller].shown;

        caller->samples += n->samples;
        caller->latency += n->latency;
    }
}

size_t spe_call_tree_count(const struct spe_call_tree *t)
{
    return t->nodes.count;
}

const struct spe_call_node *spe_call_tree_at(const struct spe_call_tree *t, size_t i)
{
    return i < t->nodes.count ? &t->nodes.at[i].shown : NULL;
}

uint32_t spe_call_tree_line(const struct spe_call_tree *t, size_t i)
{
    return i < t->nodes.count ? t->nodes.at[i].line : SPE_NO_ID;
}

bool spe_call_tree_task(const struct spe_call_tree *t, size_t i, uint32_t *id)
{
    if (i >= t->nodes.count || !t->nodes.at[i].is_task)
        return false;
    *id = t->nodes.at[i].task;
    return true;
}
