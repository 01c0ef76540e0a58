/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/other_calls.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct other_call *x = a, *y = b;

    if (x->symbol != y->symbol)
        return x->symbol < y->symbol ? -1 : 1;
    if (x->dso != y->dso)
        return x->dso < y->dso ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static void merge_equal(struct other_calls *o)
{
    size_t kept = 0;

    if (!o->count)
        return;
    qsort(o->at, o->count, sizeof(*o->at), compare);
    for (size_t i = 1; i < o->count; i++) {
        if (compare(&o->at[kept], &o->at[i]) == 0)
            o->at[kept].weight += o->at[i].weight;
        else
            o->at[++kept] = o->at[i];
    }
    o->count = kept + 1;
}

int other_calls_read(struct other_calls *o, struct spe_profile *profile)
{
    uint64_t count = spe_profile_info(profile)->other_stacks;
    struct spe_profile_other_stack s;

    *o = (struct other_calls){.at = count ? calloc(count, sizeof(*o->at)) : NULL};
    if (count && !o->at)
        return SPE_ERR_NOMEM;
    for (size_t i = 0; i < count && spe_profile_other_stack(profile, i, &s) == SPE_OK; i++) {
        struct spe_profile_place place;

        spe_profile_place(profile, s.thread, s.time_ns, s.pc, false, &place);
        if (place.symbol != SPE_NO_SYMBOL)
            o->at[o->count++] = (struct other_call){.symbol = place.symbol,
                                                    .dso = place.dso,
                                                    .stack = s.stack,
                                                    .weight = s.weight,
                                                    .whose = {s.thread, s.time_ns}};
    }
    merge_equal(o);
    return SPE_OK;
}

void other_calls_free(struct other_calls *o)
{
    free(o->at);
    *o = (struct other_calls){0};
}

/* The first that does not come before the key. */
static size_t lower_bound(const struct other_calls *o, const struct other_call *key)
{
    size_t low = 0, high = o->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&o->at[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t other_calls_of(const struct other_calls *o, uint64_t symbol, uint32_t dso, size_t *first)
{
    struct other_call key = {.symbol = symbol, .dso = dso};
    size_t count = 0;

    if (symbol == SPE_NO_SYMBOL)
        return 0;
    *first = lower_bound(o, &key);
    while (*first + count < o->count && o->at[*first + count].symbol == symbol &&
           o->at[*first + count].dso == dso)
        count++;
    return count;
}

/* A part of `whole`, rounded so that the parts from 0 to `all` add up to it. */
static uint64_t part(uint64_t whole, uint64_t from, uint64_t to, uint64_t all)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)((wide)whole * to / all) - (uint64_t)((wide)whole * from / all);
}

struct share other_calls_shares(const struct other_calls *o, size_t first, size_t count,
                                const struct spe_counts *whole)
{
    struct share share = {.whole = whole};

    for (size_t i = 0; i < count; i++)
        share.all += o->at[first + i].weight;
    return share;
}

struct spe_counts other_calls_part(struct share *share, const struct other_call *call)
{
    const struct spe_counts *whole = share->whole;
    uint64_t from = part(whole->samples, 0, share->before, share->all), to;
    struct spe_counts counts;

    share->before += call->weight;
    to = part(whole->samples, 0, share->before, share->all);
#define COUNT(name) counts.name = part(whole->name, from, to, whole->samples);
#include "analysis/counts.def"
    counts.samples = to - from;
    return counts;
}

/* ---- Groups by caller ------------------------------------------------------------------------ */

struct sharing {
    struct other_calls calls;
    struct callers *callers;
    struct spe_profile *profile;
    struct groups shared;
};

static int add_caller(struct sharing *s, const struct other_call *call,
                      const struct spe_counts *counts)
{
    struct spe_group group = {.symbol = SPE_NO_SYMBOL,
                              .dso = SPE_NO_ID,
                              .line = SPE_NO_ID,
                              .id = SPE_CALLER_NOBODY,
                              .counts = *counts};
    struct spe_profile_call innermost;

    if (!counts->samples)
        return SPE_OK;
    if (spe_profile_call(s->profile, call->stack, &innermost) == SPE_OK) {
        const struct caller *caller =
            callers_find(s->callers, s->profile, &call->whose, call->stack, innermost.address);

        if (!caller)
            return SPE_ERR_NOMEM;
        group.id = SPE_CALLER_FUNCTION;
        group.symbol = caller->symbol;
        group.dso = caller->dso;
    }
    return groups_add(&s->shared, &group);
}

static int share_group(struct sharing *s, const struct spe_group *group)
{
    struct spe_group rest = *group;
    size_t first = 0, count = 0;
    int result = SPE_OK;
    struct share share;

    if (group->id == CALLER_OF) {
        count = other_calls_of(&s->calls, group->symbol, group->dso, &first);
        rest.symbol = SPE_NO_SYMBOL;
        rest.dso = SPE_NO_ID;
        rest.id = SPE_CALLER_UNKNOWN;
    }
    if (!count || !s->calls.at)
        return groups_add(&s->shared, &rest);
    share = other_calls_shares(&s->calls, first, count, &group->counts);
    for (size_t i = 0; i < count && result == SPE_OK; i++) {
        struct spe_counts counts = other_calls_part(&share, &s->calls.at[first + i]);

        result = add_caller(s, &s->calls.at[first + i], &counts);
    }
    return result;
}

int other_calls_share_groups(struct groups *groups, struct callers *callers,
                             struct spe_profile *profile)
{
    struct sharing s = {.callers = callers, .profile = profile};
    int result;

    if (!spe_profile_info(profile)->other_stacks)
        return SPE_OK;
    result = other_calls_read(&s.calls, profile);
    for (size_t i = 0; i < groups->all.count && result == SPE_OK; i++)
        result = share_group(&s, &groups->all.at[i]);
    other_calls_free(&s.calls);
    if (result < 0) {
        groups_free(&s.shared);
        return result;
    }
    groups_free(groups);
    *groups = s.shared;
    return SPE_OK;
}
