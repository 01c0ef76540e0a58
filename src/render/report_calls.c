/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Who called the hottest functions: a tree for each, from the outermost caller on, as perf draws
 * it. */
#include <stdio.h>
#include <stdlib.h>

#include "render/report.h"
#include "render/safe.h"

#define LEAST 0.005 /* of all; what has less is summed up */
#define INDENT_MAX 1024

/* What leads to one function. */
struct paths {
    struct out *out;
    const struct report *report;
    uint64_t *weight; /* of each node: what of the function is below it */
    uint32_t *nodes;  /* with a weight, by caller, heavy ones first */
    size_t count;
    uint64_t whole;
    char indent[INDENT_MAX + 16];
    size_t indented;
};

void report_node_name(const struct report *r, const struct spe_call_node *node,
                      char name[REPORT_NAME])
{
    struct spe_group group = {.symbol = node->symbol, .dso = node->dso};

    if (node->no_stack)
        snprintf(name, REPORT_NAME, "[no call stack]");
    else
        report_group_name(r, SPE_BY_FUNCTION, &group, name);
}

static uint64_t weight_of(const struct report *r, const struct spe_counts *c)
{
    return r->sort == SPE_SORT_LATENCY ? c->latency : c->samples;
}

static const struct spe_call_node *node_at(const struct paths *p, uint32_t i)
{
    return spe_call_tree_at(p->report->calls, i);
}

static int compare_nodes(const void *left, const void *right, void *user)
{
    const struct paths *p = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint32_t x = node_at(p, a)->caller, y = node_at(p, b)->caller;

    if (x != y)
        return x < y ? -1 : 1;
    if (p->weight[a] != p->weight[b])
        return p->weight[a] > p->weight[b] ? -1 : 1;
    return (a > b) - (a < b);
}

/* Callers have lower numbers than those that they call. */
static void weigh(struct paths *p, const struct spe_group *function)
{
    size_t count = spe_call_tree_count(p->report->calls);

    memset(p->weight, 0, count * sizeof(*p->weight));
    p->count = 0;
    for (size_t i = count; i-- > 1;) {
        const struct spe_call_node *n = node_at(p, (uint32_t)i);

        if (n->symbol == function->symbol && n->dso == function->dso && !n->no_stack)
            p->weight[i] += weight_of(p->report, &n->self);
        p->weight[n->caller] += p->weight[i];
        if (p->weight[i])
            p->nodes[p->count++] = (uint32_t)i;
    }
    qsort_r(p->nodes, p->count, sizeof(*p->nodes), compare_nodes, p);
}

/* Where the nodes begin that a node called: in order of callers. */
static size_t first_called(const struct paths *p, uint32_t node)
{
    size_t low = 0, high = p->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (node_at(p, p->nodes[middle])->caller < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct called {
    size_t first, shown, hidden;
    uint64_t hidden_weight;
};

static struct called called_by(const struct paths *p, uint32_t node)
{
    struct called c = {.first = first_called(p, node)};

    for (size_t i = c.first; i < p->count && node_at(p, p->nodes[i])->caller == node; i++) {
        uint64_t weight = p->weight[p->nodes[i]];

        if (share_of(weight, p->whole) >= LEAST || !c.shown) {
            c.shown++;
        } else {
            c.hidden++;
            c.hidden_weight += weight;
        }
    }
    return c;
}

static void put_indent(struct paths *p)
{
    out_bytes(p->out, p->indent, p->indented);
}

static void put_name(struct paths *p, uint32_t node)
{
    char name[REPORT_NAME];

    report_node_name(p->report, node_at(p, node), name);
    out_safe(p->out, name);
    out_char(p->out, '\n');
}

static void indent(struct paths *p, const char *text)
{
    memcpy(p->indent + p->indented, text, strlen(text));
    p->indented += strlen(text);
}

static void go_on(struct paths *p, uint32_t node);

/* Several ways on: each with its share of all. */
static void fork_paths(struct paths *p, const struct called *c)
{
    size_t ways = c->shown + (c->hidden > 0), before = p->indented;

    for (size_t i = 0; i < ways; i++) {
        bool last = i + 1 == ways, hidden = i == c->shown;
        uint32_t node = hidden ? 0 : p->nodes[c->first + i];
        uint64_t weight = hidden ? c->hidden_weight : p->weight[node];

        put_indent(p);
        out_string(p->out, "|\n");
        put_indent(p);
        out_printf(p->out, "%s--%.2f%%--", last ? " " : "|", 100 * share_of(weight, p->whole));
        if (hidden) {
            out_printf(p->out, "[%zu other%s]\n", c->hidden, c->hidden == 1 ? "" : "s");
            continue;
        }
        put_name(p, node);
        indent(p, last ? "           " : "|          ");
        go_on(p, node);
        p->indented = before;
    }
}

/* From a node that is shown, to the function. */
static void go_on(struct paths *p, uint32_t node)
{
    for (;;) {
        struct called c = called_by(p, node);

        if (!c.shown)
            return;
        if (p->indented >= INDENT_MAX - 16) {
            put_indent(p);
            out_string(p->out, "...\n");
            return;
        }
        if (c.shown + c.hidden > 1 || p->weight[p->nodes[c.first]] < p->weight[node]) {
            fork_paths(p, &c);
            return;
        }
        node = p->nodes[c.first];
        put_indent(p);
        put_name(p, node);
    }
}

static void put_function(struct paths *p, const struct spe_group *function)
{
    struct called c;
    char name[REPORT_NAME];

    weigh(p, function);
    if (!p->weight[0])
        return;
    report_group_name(p->report, SPE_BY_FUNCTION, function, name);
    out_printf(p->out, "  %6.2f%%  ", 100 * share_of(p->weight[0], p->whole));
    out_safe(p->out, name);
    out_string(p->out, "\n            |\n");
    c = called_by(p, 0);
    p->indented = 0;
    indent(p, "            ");
    if (c.shown + c.hidden > 1) {
        fork_paths(p, &c);
    } else {
        out_string(p->out, "            ---");
        put_name(p, p->nodes[c.first]);
        indent(p, "   ");
        go_on(p, p->nodes[c.first]);
    }
    out_char(p->out, '\n');
}

static const struct report_groups *functions_of(const struct report *r)
{
    for (size_t i = 0; i < r->table_count; i++)
        if (r->tables[i].by == SPE_BY_FUNCTION)
            return &r->tables[i];
    return NULL;
}

bool report_calls_text(struct out *o, const struct report *r)
{
    const struct report_groups *functions = functions_of(r);
    size_t count = spe_call_tree_count(r->calls);
    struct paths p = {.out = o, .report = r, .whole = weight_of(r, &r->totals)};
    bool good;

    p.weight = calloc(count, sizeof(*p.weight));
    p.nodes = calloc(count, sizeof(*p.nodes));
    good = p.weight && p.nodes;
    for (size_t i = 0; good && functions && i < functions->count; i++)
        put_function(&p, &functions->groups[i]);
    free(p.weight);
    free(p.nodes);
    return good;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void report_calls_json(struct json *j, const struct report *r)
{
    char name[REPORT_NAME];

    json_object(j, "calls");
    json_number(j, "stacks", r->counts->stacks);
    json_string(j, "other_event", r->info->other_event);
    json_number(j, "other_stacks", r->info->other_stacks);
    json_array(j, "tree");
    for (size_t i = 1; i < spe_call_tree_count(r->calls); i++) {
        const struct spe_call_node *n = spe_call_tree_at(r->calls, i);
        const char *dso = report_dso_name(r, n->dso);

        if (!n->samples)
            continue;
        json_object(j, NULL);
        json_number(j, "id", i);
        if (n->caller)
            json_number(j, "caller", n->caller);
        else
            json_null(j, "caller");
        report_node_name(r, n, name);
        json_string(j, "function", name);
        json_string(j, "dso", *dso ? dso : NULL);
        json_number(j, "samples", n->samples);
        json_number(j, "latency", n->latency);
        json_number(j, "self_samples", n->self.samples);
        json_number(j, "self_latency", n->self.latency);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}
