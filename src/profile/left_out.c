/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Loads and stores that were left out by their data, of which somebody later needs those of some
 * cache lines. Notes of 16 bits a record tell where they may be, so that the bytes are not read a
 * second time but there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/large.h"
#include "profile_internal.h"

#define BLOCK_NOTES 680 /* 16 KB */
#define SEARCH_ROWS 2048
#define LINES 65536 /* numbers that spe_pass_line gives */

struct note_block {
    struct note_block *next;
    size_t count;
    struct spe_pass_note notes[BLOCK_NOTES];
};

struct search {
    uint64_t lines[LINES / 64]; /* a bit for each that is wanted */
    size_t queue;
    const struct note_block *block; /* NULL: the queue's first one */
    size_t note;
    const uint8_t *found[SEARCH_ROWS]; /* records of the queue */
    size_t found_count;
    struct group group;
    struct joiner *joiner;
};

/* ---- Notes ---------------------------------------------------------------------------------- */

/* One large array: what is not used of it takes no memory. */
bool left_out_start(struct spe_profile *p, uint64_t bytes)
{
    p->note_blocks_most = bytes / sizeof(struct note_block);
    return p->note_blocks_most && p->note_blocks_most <= SIZE_MAX / sizeof(struct note_block) &&
           large_resize(&p->note_blocks, 0,
                        (size_t)p->note_blocks_most * sizeof(struct note_block)) == SPE_OK;
}

static struct note_block *new_block(struct spe_profile *p)
{
    uint64_t number = atomic_fetch_add(&p->note_block_count, 1);
    struct note_block *block;

    if (number >= p->note_blocks_most)
        return NULL;
    block = &p->note_blocks[number];
    block->next = NULL;
    block->count = 0;
    return block;
}

static struct left_out *start_notes(const struct queue *q, const struct spe_profile_data *data)
{
    struct left_out *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    spe_pass_data_init(&l->pass);
    l->pass.shift = data->shift;
    for (unsigned i = 0; q->levels && i < 256; i++) {
        unsigned level = q->levels[i];

        l->pass.sources[i] = (uint8_t)((level != SPE_LEVEL_UNKNOWN ? SPE_PASS_SAID : 0) |
                                       (data->levels >> level & 1 ? SPE_PASS_WANTED : 0));
    }
    return l;
}

static bool add_block(struct spe_profile *p, struct left_out *l)
{
    struct note_block *block = new_block(p);

    if (!block)
        return false;
    *(l->last ? &l->last->next : &l->first) = block;
    l->last = block;
    l->pass.notes = block->notes;
    l->pass.count = 0;
    l->pass.capacity = BLOCK_NOTES;
    return true;
}

bool left_out_room(struct spe_profile *p, struct queue *q, const struct needed *needed)
{
    struct left_out *l = q->left_out ? q->left_out : start_notes(q, &needed->data);
    bool room = l != NULL;

    q->left_out = l;
    if (l) {
        l->pass.base = l->pass.base ? l->pass.base : q->bytes;
        if (l->last)
            l->last->count = l->pass.count;
        if (!l->last || l->last->count == BLOCK_NOTES)
            room = add_block(p, l);
    }
    if (!room) /* nothing more is left out; what was is noted */
        atomic_store(&p->only, NULL);
    return room;
}

static void end_search(struct spe_profile *p)
{
    if (!p->search)
        return;
    group_free(&p->search->group);
    joiner_free(p->search->joiner);
    free(p->search);
    p->search = NULL;
}

void left_out_forget(struct spe_profile *p)
{
    end_search(p);
    for (size_t i = 0; i < p->queue_count; i++) {
        free(p->queues[i].left_out);
        p->queues[i].left_out = NULL;
    }
    free(p->note_blocks);
    p->note_blocks = NULL;
    p->note_blocks_most = 0;
    atomic_store(&p->note_block_count, 0);
}

/* ---- Finding them again --------------------------------------------------------------------- */

/* All queues have the same; any, if nothing was left out. */
static unsigned shift_of(const struct spe_profile *p)
{
    for (size_t i = 0; i < p->queue_count; i++) {
        if (p->queues[i].left_out)
            return p->queues[i].left_out->pass.shift;
    }
    return 0;
}

int spe_profile_left_out(struct spe_profile *p, const uint64_t *addresses, size_t count)
{
    const unsigned shift = shift_of(p);
    struct search *s;
    int error = SPE_ERR_NOMEM;

    end_search(p);
    s = p->search = calloc(1, sizeof(*s));
    if (!s)
        return SPE_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        unsigned line = spe_pass_line(addresses[i], shift);

        s->lines[line / 64] |= UINT64_C(1) << line % 64;
    }
    s->joiner = joiner_new(p, &error);
    if (s->joiner)
        error = group_init(&s->group, 1, SEARCH_ROWS, p, GROUP_JOIN);
    if (error < 0)
        end_search(p);
    return error;
}

static unsigned is_wanted(const struct search *s, uint16_t line)
{
    return s->lines[line / 64] >> line % 64 & 1;
}

/* They lie far apart: all are on their way from memory before the first one is read. A record is
 * mostly in two lines of the cache: what comes before the records has any length. */
static void find_noted(struct search *s, const struct left_out *l, const struct spe_pass_note *n)
{
    const uint8_t *first = l->pass.base + ((int64_t)n->place >> 16);
    unsigned stride = n->place >> 8 & 0xff, count = n->place & 0xff;

    for (unsigned i = 0; i < count; i++) {
        const uint8_t *record = first + (size_t)i * stride;

        if (!is_wanted(s, n->line[i]))
            continue;
        __builtin_prefetch(record);
        __builtin_prefetch(record + stride - 1);
        s->found[s->found_count++] = record;
    }
}

/* Lines behind the last record of a note may be anything: find_noted does not look at them. */
static bool may_be_wanted(const struct search *s, const struct spe_pass_note *n)
{
    unsigned wanted = 0;

    for (unsigned i = 0; i < SPE_PASS_NOTED; i++)
        wanted |= is_wanted(s, n->line[i]);
    return wanted;
}

static bool has_room(const struct search *s)
{
    return SEARCH_ROWS - s->found_count >= SPE_PASS_NOTED;
}

/* Records of one queue, from where the search is. */
static void search_queue(struct search *s, const struct left_out *l)
{
    const struct note_block *block = s->block ? s->block : l ? l->first : NULL;

    s->found_count = 0;
    while (block && has_room(s)) {
        size_t count = block == l->last ? l->pass.count : block->count;

        for (; s->note < count && has_room(s); s->note++) {
            if (may_be_wanted(s, &block->notes[s->note]))
                find_noted(s, l, &block->notes[s->note]);
        }
        if (s->note == count) {
            block = block->next;
            s->note = 0;
        }
    }
    s->block = block;
}

static int make_rows(struct spe_profile *p, struct search *s, struct queue *q)
{
    struct group *g = &s->group;

    for (size_t i = 0; i < s->found_count; i++) {
        int error = spe_bulk_noted(q->bulk, &g->columns, s->found[i]);

        if (error < 0)
            return error; /* somebody has changed the file */
    }
    if (!g->columns.rows)
        return SPE_OK;
    queue_set_times(p, q, g, 0);
    return join_group(p, s->joiner, q, g);
}

int left_out_next(struct spe_profile *p, struct group **group)
{
    struct search *s = p->search;
    struct group *g = &s->group;
    int error = SPE_OK;

    *group = g;
    g->columns.rows = 0;
    while (s->queue < p->queue_count && !g->columns.rows && error == SPE_OK) {
        struct queue *q = &p->queues[s->queue];

        search_queue(s, q->left_out);
        error = make_rows(p, s, q);
        s->queue += !s->block;
    }
    return error < 0 ? error : g->columns.rows != 0;
}
