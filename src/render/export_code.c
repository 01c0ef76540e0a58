/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/export_code.h"

#include "render/safe.h"

/* Readers take signed numbers. */
static uint64_t weigh(uint64_t samples, uint64_t weight)
{
    uint64_t product;

    return __builtin_mul_overflow(samples, weight, &product) || product > INT64_MAX ? INT64_MAX
                                                                                    : product;
}

/* ---- BOLT ------------------------------------------------------------------------------------ */

static void put_edge(struct out *o, const struct spe_edge *edge, uint64_t weight)
{
    bool branch = edge->kind == SPE_EDGE_JUMP || edge->kind == SPE_EDGE_TAKEN;

    out_string(o, branch ? "B " : "F ");
    out_hex(o, edge->from);
    out_char(o, ' ');
    out_hex(o, edge->to);
    out_char(o, ' ');
    out_decimal(o, weigh(edge->samples, weight));
    if (branch) {
        out_char(o, ' ');
        out_decimal(o, weigh(edge->mispredicted, weight));
    }
    out_char(o, '\n');
}

void export_bolt(struct out *o, const struct spe_edge *edges, size_t count, bool straight_on,
                 uint64_t weight)
{
    unsigned other = straight_on ? SPE_EDGE_NOT_TAKEN : SPE_EDGE_STRAIGHT_ON;
    size_t i;

    for (i = 0; i < count; i++) {
        if (edges[i].kind != SPE_EDGE_NONE && edges[i].kind != other)
            put_edge(o, &edges[i], weight);
    }
}

/* ---- LLVM ------------------------------------------------------------------------------------ */

struct text {
    struct out *out;
    const struct spe_profile *profile;
    uint64_t weight;
};

typedef const struct spe_code_count *counts;

/* Past the first ones that are in the same function as the first, at this depth, and on the same
 * line of it. */
static counts same_function(counts c, counts end, uint32_t depth)
{
    uint32_t function = c->steps[depth].function;

    while (c < end && c->steps[depth].function == function)
        c++;
    return c;
}

static counts same_line(counts c, counts end, uint32_t depth)
{
    const struct spe_code_step *step = &c->steps[depth];

    while (c < end && c->steps[depth].offset == step->offset &&
           c->steps[depth].discriminator == step->discriminator)
        c++;
    return c;
}

static void put_name(const struct text *t, uint32_t name, uint64_t samples)
{
    out_data(t->out, spe_profile_string(t->profile, name));
    out_char(t->out, ':');
    out_decimal(t->out, weigh(samples, t->weight));
}

static uint64_t sum_of_lines(counts c, counts end)
{
    uint64_t sum = 0;

    for (; c < end; c++)
        sum += c->kind == SPE_CODE_LINE ? c->samples : 0;
    return sum;
}

static void put_place(const struct text *t, const struct spe_code_step *step, uint32_t depth)
{
    out_spaces(t->out, depth + 1);
    out_decimal(t->out, step->offset);
    if (step->discriminator) {
        out_char(t->out, '.');
        out_decimal(t->out, step->discriminator);
    }
    out_string(t->out, ": ");
}

/* The count of a line, and whom it calls. Every call has a line before it: its own sample. */
static counts put_line(const struct text *t, counts c, counts end, uint32_t depth)
{
    if (c->depth != depth + 1)
        return c;
    put_place(t, &c->steps[depth], depth);
    out_decimal(t->out, weigh(c->samples, t->weight));
    for (c++; c < end && c->depth == depth + 1; c++) {
        out_char(t->out, ' ');
        put_name(t, c->callee, c->samples);
    }
    out_char(t->out, '\n');
    return c;
}

/* Lines of one function; functions inlined there are one blank deeper. */
static void put_body(const struct text *t, counts c, counts end, uint32_t depth)
{
    while (c < end) {
        counts line = same_line(c, end, depth);

        c = put_line(t, c, line, depth);
        while (c < line) {
            counts inlined = same_function(c, line, depth + 1);

            put_place(t, &c->steps[depth], depth);
            put_name(t, c->steps[depth + 1].function, sum_of_lines(c, inlined));
            out_char(t->out, '\n');
            put_body(t, c, inlined, depth + 1);
            c = inlined;
        }
    }
}

void export_autofdo(struct out *o, const struct spe_profile *profile,
                    const struct spe_code_profile *source, uint64_t weight)
{
    struct text t = {o, profile, weight};
    counts c = source->counts, end = source->count ? c + source->count : c;

    while (c < end) {
        counts function = same_function(c, end, 0);
        bool entered = c->kind == SPE_CODE_ENTRY;

        put_name(&t, c->steps[0].function, sum_of_lines(c, function));
        out_char(o, ':');
        out_decimal(o, entered ? weigh(c->samples, weight) : 0);
        out_char(o, '\n');
        put_body(&t, c + entered, function, 0);
        c = function;
    }
}
