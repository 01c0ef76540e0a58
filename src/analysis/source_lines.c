/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Samples by line of source, inlined functions in the ones around them. */
#include <specimen/analysis.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "base/vector.h"

#define FRAMES_MAX 64                    /* that are inlined into each other */
#define FUNCTION_MAX (UINT64_C(1) << 20) /* bytes; of larger ones only sampled lines are told */
#define OFFSET_MAX UINT32_C(0x7fff)      /* what LLVM takes for an offset of a line */

struct builder {
    struct spe_profile *profile;
    uint32_t dso;
    VECTOR(struct spe_code_step) steps; /* of all counts, one after the other */
    VECTOR(struct spe_code_count) counts;
    uint64_t no_line;
    uint64_t listed_to; /* functions are, up to this address */
};

/* Where an address is; depth 0: nobody knows. */
struct where {
    uint64_t address, entry, start, end; /* of the function: see struct spe_profile_frame */
    uint32_t depth, times;
    struct spe_code_step steps[FRAMES_MAX];
};

/* ---- places ---------------------------------------------------------------------------------- */

/* The text that the name goes to has no way to quote blanks and line ends, and what begins with a
 * digit is a count. */
static bool is_plain(const char *name)
{
    const char *s = name;

    while ((unsigned char)*s > ' ')
        s++;
    return !*s && s > name && !(*name >= '0' && *name <= '9');
}

static bool make_step(struct spe_profile *profile, const struct spe_profile_frame *frame,
                      struct spe_code_step *step)
{
    step->function = frame->linkage;
    step->offset = frame->line - frame->first_line;
    step->discriminator = frame->discriminator;
    return frame->line && frame->first_line && step->offset <= OFFSET_MAX &&
           is_plain(spe_profile_string(profile, frame->linkage));
}

static void find_where(const struct builder *b, uint64_t address, struct where *where)
{
    struct spe_profile_frame frames[FRAMES_MAX];
    int found = spe_profile_inlines_at(b->profile, b->dso, address, frames, FRAMES_MAX), i;

    where->address = address;
    where->depth = 0;
    if (found < 1 || found > FRAMES_MAX)
        return;
    where->times = frames[0].times;
    where->entry = frames[found - 1].entry;
    where->start = frames[found - 1].start;
    where->end = frames[found - 1].end;
    for (i = 0; i < found; i++) {
        if (!make_step(b->profile, &frames[i], &where->steps[found - 1 - i]))
            return;
    }
    where->depth = (uint32_t)found;
}

/* ---- counting -------------------------------------------------------------------------------- */

static int add_count(struct builder *b, enum spe_code_kind kind, const struct where *where,
                     uint32_t callee, uint64_t samples)
{
    uint32_t depth = kind == SPE_CODE_ENTRY ? 1 : where->depth, i;

    if (VECTOR_ROOM(&b->counts) < 0)
        return SPE_ERR_NOMEM;
    for (i = 0; i < depth; i++) {
        if (VECTOR_ROOM(&b->steps) < 0)
            return SPE_ERR_NOMEM;
        b->steps.at[b->steps.count++] = where->steps[i];
    }
    if (kind == SPE_CODE_ENTRY) { /* of the function, wherever its first line is */
        b->steps.at[b->steps.count - 1].offset = 0;
        b->steps.at[b->steps.count - 1].discriminator = 0;
    }
    b->counts.at[b->counts.count++] = (struct spe_code_count){
        .depth = depth, .callee = callee, .kind = (uint8_t)kind, .samples = samples};
    return SPE_OK;
}

static int add_jump(struct builder *b, const struct spe_edge *edge, const struct where *from)
{
    struct where to;
    int error;

    find_where(b, edge->to, &to);
    if (!to.depth || to.entry != edge->to)
        return SPE_OK;
    error = add_count(b, SPE_CODE_ENTRY, &to, SPE_NO_ID, edge->samples);
    if (error == SPE_OK && edge->from && from->depth)
        error =
            add_count(b, SPE_CODE_CALL, from, to.steps[0].function, edge->samples * from->times);
    return error;
}

static bool same_place(const struct where *a, const struct where *b)
{
    return a->depth == b->depth && !memcmp(a->steps, b->steps, a->depth * sizeof(a->steps[0]));
}

/* All lines of the function, without samples. */
static int add_function(struct builder *b, const struct where *inside)
{
    struct where places[2] = {{.depth = 0}};
    uint64_t address;
    unsigned turn = 0;
    int error = SPE_OK;

    if (inside->end - inside->start > FUNCTION_MAX)
        return SPE_OK;
    for (address = inside->start; address < inside->end && error == SPE_OK; address += 4) {
        struct where *here = &places[turn], *before = &places[!turn];

        find_where(b, address, here);
        if (here->depth && !same_place(here, before))
            error = add_count(b, SPE_CODE_LINE, here, SPE_NO_ID, 0);
        turn = !turn;
    }
    return error;
}

static int add_line(struct builder *b, const struct spe_edge *edge, const struct where *where)
{
    if (!where->depth) {
        b->no_line += edge->samples;
        return SPE_OK;
    }
    if (edge->from >= b->listed_to) { /* edges ascend, so all below is */
        b->listed_to = where->end;
        if (add_function(b, where) < 0)
            return SPE_ERR_NOMEM;
    }
    return add_count(b, SPE_CODE_LINE, where, SPE_NO_ID, edge->samples * where->times);
}

static int add_edges(struct builder *b, const struct spe_edge *edges, size_t count)
{
    struct where from = {.address = 0};
    int error = SPE_OK;
    size_t i;

    for (i = 0; i < count && error == SPE_OK; i++) {
        const struct spe_edge *edge = &edges[i];

        if (edge->from != from.address)
            find_where(b, edge->from, &from);
        if (edge->kind == SPE_EDGE_JUMP && edge->to)
            error = add_jump(b, edge, &from);
        else if (edge->kind == SPE_EDGE_NONE)
            error = add_line(b, edge, &from);
    }
    return error;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Ids of equal strings are equal. */
static int compare_names(const struct spe_profile *profile, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(spe_profile_string(profile, a), spe_profile_string(profile, b));
}

/* 0: they are counts of the same. */
static int count_order(const void *left, const void *right, void *profile)
{
    const struct spe_code_count *a = left, *b = right;
    int order = 0;
    uint32_t i;

    for (i = 0; i < a->depth && i < b->depth && !order; i++) {
        order = compare_names(profile, a->steps[i].function, b->steps[i].function);
        if (!order && i == 0)
            order = (a->kind != SPE_CODE_ENTRY) - (b->kind != SPE_CODE_ENTRY);
        if (!order)
            order = compare_numbers(a->steps[i].offset, b->steps[i].offset);
        if (!order)
            order = compare_numbers(a->steps[i].discriminator, b->steps[i].discriminator);
    }
    order = order ? order : compare_numbers(a->depth, b->depth);
    order = order ? order : compare_numbers(a->kind, b->kind);
    return order ? order : compare_names(profile, a->callee, b->callee);
}

static void join(struct spe_code_count *to, const struct spe_code_count *from)
{
    if (from->kind != SPE_CODE_LINE)
        to->samples += from->samples;
    else if (from->samples > to->samples)
        to->samples = from->samples;
}

static void sort_counts(struct builder *b)
{
    struct spe_code_count *counts = b->counts.at;
    size_t n = 0, step = 0, i;

    for (i = 0; i < b->counts.count; i++) {
        counts[i].steps = b->steps.at + step;
        step += counts[i].depth;
    }
    if (b->counts.count)
        qsort_r(counts, b->counts.count, sizeof(*counts), count_order, b->profile);
    for (i = 0; i < b->counts.count; i++) {
        if (n && count_order(&counts[n - 1], &counts[i], b->profile) == 0)
            join(&counts[n - 1], &counts[i]);
        else
            counts[n++] = counts[i];
    }
    b->counts.count = n;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* What is shown and what it is made of. */
struct owner {
    struct spe_code_profile shown;
    struct builder builder;
};

int spe_code_profile_create(struct spe_code_profile **source, struct spe_profile *profile,
                            uint32_t dso, const struct spe_edge *edges, size_t count)
{
    struct owner *owner = calloc(1, sizeof(*owner));
    int error = SPE_ERR_NOMEM;

    *source = NULL;
    if (!owner)
        return error;
    owner->builder.profile = profile;
    owner->builder.dso = dso;
    error = add_edges(&owner->builder, edges, count);
    if (error < 0) {
        spe_code_profile_destroy(&owner->shown);
        return error;
    }
    sort_counts(&owner->builder);
    owner->shown = (struct spe_code_profile){
        .counts = owner->builder.counts.at,
        .count = owner->builder.counts.count,
        .no_line = owner->builder.no_line,
    };
    *source = &owner->shown;
    return SPE_OK;
}

void spe_code_profile_destroy(struct spe_code_profile *source)
{
    struct owner *owner = (struct owner *)source; /* whose first member it is */

    if (!owner)
        return;
    free(owner->builder.steps.at);
    free(owner->builder.counts.at);
    free(owner);
}
