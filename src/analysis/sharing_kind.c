/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * True or false sharing, by where accesses begin. A thread that came by once (the one that set
 * everything to zero, say) does not decide: a user counts with two accesses that are 2 % of the
 * offset's, an offset with 1 % of the line's.
 */
#include "analysis/sharing.h"

#define USER_SHARE 50    /* one in so many */
#define OFFSET_SHARE 100 /* likewise */
#define BESIDE_SHARE 10  /* of the line's accesses, beside those that share the same bytes */

static bool user_counts(const struct spe_shared_offset *o, const struct spe_shared_user *u)
{
    return u->samples >= 2 && u->samples * USER_SHARE >= o->samples;
}

static bool offset_counts(const struct spe_shared_line *line, const struct spe_shared_offset *o)
{
    return o->samples >= 2 && o->samples * OFFSET_SHARE >= line->loads + line->stores;
}

static bool is_same_used(const struct spe_shared_offset *o)
{
    size_t users = 0, writers = 0, i;

    for (i = 0; i < o->thread_count; i++) {
        if (!user_counts(o, &o->threads[i]))
            continue;
        users++;
        writers += o->threads[i].writes != 0;
    }
    return users > 1 && writers;
}

/* Two threads, of which one writes, each at one of the offsets. */
static bool conflict(const struct spe_shared_offset *a, const struct spe_shared_offset *b)
{
    size_t i, j;

    for (i = 0; i < a->thread_count; i++) {
        const struct spe_shared_user *u = &a->threads[i];

        for (j = 0; user_counts(a, u) && j < b->thread_count; j++) {
            const struct spe_shared_user *v = &b->threads[j];

            if (u->thread != v->thread && (u->writes || v->writes) && user_counts(b, v))
                return true;
        }
    }
    return false;
}

static bool common_thread(const struct spe_shared_offset *a, const struct spe_shared_offset *b)
{
    size_t i, j;

    for (i = 0; i < a->thread_count; i++) {
        for (j = 0; user_counts(a, &a->threads[i]) && j < b->thread_count; j++) {
            if (a->threads[i].thread == b->threads[j].thread && user_counts(b, &b->threads[j]))
                return true;
        }
    }
    return false;
}

/* Whether two offsets would do better apart: different threads use them, and not all the same. */
static bool better_apart(const struct spe_shared_offset *a, const struct spe_shared_offset *b)
{
    if (a->same_used && b->same_used)
        return !common_thread(a, b);
    return conflict(a, b);
}

static bool beside_others(const struct spe_shared_line *line,
                          const struct spe_shared_offset *offsets, size_t i)
{
    size_t j;

    for (j = 0; j < line->offset_count; j++) {
        if (j != i && offset_counts(line, &offsets[j]) && better_apart(&offsets[i], &offsets[j]))
            return true;
    }
    return false;
}

enum spe_sharing_kind sharing_kind(const struct spe_shared_line *line,
                                   struct spe_shared_offset *offsets)
{
    uint64_t same = 0, beside = 0;
    size_t i;

    for (i = 0; i < line->offset_count; i++) {
        offsets[i].same_used = offset_counts(line, &offsets[i]) && is_same_used(&offsets[i]);
        same += offsets[i].same_used;
    }
    for (i = 0; i < line->offset_count; i++) {
        if (offset_counts(line, &offsets[i]) && beside_others(line, offsets, i) &&
            !(offsets[i].same_used && same == 1))
            beside += offsets[i].samples;
    }
    if (!same)
        return beside ? SPE_SHARING_FALSE : SPE_SHARING_UNCLEAR;
    return beside * BESIDE_SHARE >= line->loads + line->stores ? SPE_SHARING_BOTH
                                                               : SPE_SHARING_TRUE;
}
