/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/mix.h"

enum {
    TOP,
    NO_STACK,
    LEFT_OUT,
    SPECIAL_NODES
}; /* the first nodes; their frames have such numbers */

/* ---- frames and nodes ------------------------------------------------------------------------ */

/* An instruction has its line since it was added. */
static bool same_frame(const struct stack_frame *a, const struct stack_frame *b)
{
    return a->symbol == b->symbol && a->pc == b->pc && a->map == b->map && a->dso == b->dso &&
           a->kind == b->kind && (a->pc || a->line == b->line);
}

/* frame->function is UINT32_MAX if it is its own. */
static int add_frame(struct timeline *s, const struct stack_frame *frame, uint32_t *id)
{
    uint64_t hash = hash_number(s->seed, frame->symbol ^ frame->pc << 8);
    size_t cursor = 0;

    hash = hash_number(hash, (uint64_t)frame->dso << 32 | frame->line);
    hash = hash_number(hash, (uint64_t)frame->map << 32 | frame->kind);
    while ((*id = hash_table_find(&s->frame_index, hash, &cursor)) != UINT32_MAX) {
        if (same_frame(&s->frames.at[*id], frame))
            return SPE_OK;
    }
    *id = (uint32_t)s->frames.count;
    if (VECTOR_ROOM(&s->frames) < 0 || hash_table_add(&s->frame_index, hash, *id) < 0)
        return SPE_ERR_NOMEM;
    s->frames.at[*id] = *frame;
    if (frame->function == UINT32_MAX)
        s->frames.at[*id].function = *id;
    s->frames.count++;
    return SPE_OK;
}

static int add_node(struct timeline *s, uint32_t caller, uint32_t frame, uint32_t *id)
{
    uint64_t hash = hash_number(s->seed, (uint64_t)caller << 32 | frame);
    size_t cursor = 0;

    while ((*id = hash_table_find(&s->node_index, hash, &cursor)) != UINT32_MAX) {
        if (s->nodes.at[*id].caller == caller && s->nodes.at[*id].frame == frame)
            return SPE_OK;
    }
    *id = (uint32_t)s->nodes.count;
    if (VECTOR_ROOM(&s->nodes) < 0 || hash_table_add(&s->node_index, hash, *id) < 0)
        return SPE_ERR_NOMEM;
    s->nodes.at[s->nodes.count++] = (struct stack_node){caller, frame};
    return SPE_OK;
}

int timeline_init(struct timeline *s, const struct timeline_config *config)
{
    static const uint8_t kinds[] = {FRAME_CODE, FRAME_NO_STACK, FRAME_LEFT_OUT};

    memset(s, 0, sizeof(*s));
    s->config = *config;
    s->seed = hash_seed();
    s->shift = config->timed ? 0 : TIMELINE_NO_TIME;
    s->least_ns = UINT64_MAX;
    for (unsigned i = TOP; i < SPECIAL_NODES; i++) {
        struct stack_frame frame = {.symbol = SPE_NO_SYMBOL,
                                    .map = SPE_NO_ID,
                                    .dso = SPE_NO_ID,
                                    .line = SPE_NO_ID,
                                    .function = UINT32_MAX,
                                    .kind = kinds[i]};
        uint32_t id;

        if (add_frame(s, &frame, &id) < 0 || add_node(s, i == TOP ? SPE_NO_ID : TOP, id, &id) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

void timeline_free(struct timeline *s)
{
    free(s->frames.at);
    free(s->nodes.at);
    free(s->entries.at);
    free(s->node_of.at);
    free(s->unwound.at);
    hash_table_free(&s->frame_index);
    hash_table_free(&s->node_index);
    hash_table_free(&s->entry_index);
    memset(s, 0, sizeof(*s));
}

/* ---- entries --------------------------------------------------------------------------------- */

static int add_entry(struct timeline *s, const struct stack_entry *entry)
{
    uint64_t hash = hash_number(s->seed, (uint64_t)entry->thread << 32 | entry->node);
    size_t cursor = 0;
    uint32_t id;

    hash = hash_number(hash, entry->bin);
    while ((id = hash_table_find(&s->entry_index, hash, &cursor)) != UINT32_MAX) {
        struct stack_entry *e = &s->entries.at[id];

        if (e->thread == entry->thread && e->node == entry->node && e->bin == entry->bin) {
            e->samples += entry->samples;
            e->latency += entry->latency;
            return SPE_OK;
        }
    }
    if (VECTOR_ROOM(&s->entries) < 0 ||
        hash_table_add(&s->entry_index, hash, (uint32_t)s->entries.count) < 0)
        return SPE_ERR_NOMEM;
    s->entries.at[s->entries.count++] = *entry;
    return SPE_OK;
}

/* Bins of twice the length. An entry moves to its own place or to one before it. */
static int coarsen(struct timeline *s)
{
    size_t count = s->entries.count;

    hash_table_free(&s->entry_index);
    memset(&s->entry_index, 0, sizeof(s->entry_index));
    s->entries.count = 0;
    s->shift++;
    for (size_t i = 0; i < count; i++) {
        struct stack_entry entry = s->entries.at[i];

        entry.bin >>= 1;
        if (add_entry(s, &entry) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct place {
    uint64_t symbol, pc;
    uint32_t map, dso, line;
};

static int code_frame(struct timeline *s, struct spe_profile *profile, const struct place *p,
                      bool function_only, uint32_t *id)
{
    struct stack_frame frame = {.symbol = p->symbol,
                                .map = SPE_NO_ID,
                                .dso = p->dso,
                                .line = SPE_NO_ID,
                                .function = UINT32_MAX,
                                .kind = FRAME_CODE};
    size_t known;

    if (add_frame(s, &frame, id) < 0)
        return SPE_ERR_NOMEM;
    if (function_only || (!s->config.by_pc && !s->config.lines))
        return SPE_OK;
    frame.function = *id;
    if (!s->config.by_pc) {
        frame.line = p->line;
        return add_frame(s, &frame, id);
    }
    frame.pc = p->pc;
    frame.map = p->map;
    known = s->frames.count;
    if (add_frame(s, &frame, id) < 0)
        return SPE_ERR_NOMEM;
    if (s->frames.count > known && s->config.lines && p->map != SPE_NO_ID)
        s->frames.at[*id].line = spe_profile_find_line(profile, p->map, p->pc);
    return SPE_OK;
}

static uint32_t known_node(const struct timeline *s, uint32_t stack)
{
    return stack < s->node_of.count ? s->node_of.at[stack] : 0;
}

static int know_node(struct timeline *s, uint32_t stack, uint32_t node)
{
    while (s->node_of.count <= stack) {
        if (VECTOR_ROOM(&s->node_of) < 0)
            return SPE_ERR_NOMEM;
        s->node_of.at[s->node_of.count++] = 0;
    }
    s->node_of.at[stack] = node + 1;
    return SPE_OK;
}

/* From the stack outwards to a call that has a node, or to the end. */
static int unwind(struct timeline *s, const struct spe_profile *profile, uint32_t stack,
                  uint32_t *node)
{
    struct spe_profile_call call;

    s->unwound.count = 0;
    for (; !known_node(s, stack); stack = call.caller) {
        *node = TOP;
        if (spe_profile_call(profile, stack, &call) < 0)
            return SPE_OK;
        if (VECTOR_ROOM(&s->unwound) < 0)
            return SPE_ERR_NOMEM;
        s->unwound.at[s->unwound.count++] = stack;
    }
    *node = known_node(s, stack) - 1;
    return SPE_OK;
}

/* The address is behind the call, which may be the last instruction of its function. */
static int add_call(struct timeline *s, struct spe_profile *profile, const struct spe_rows *rows,
                    size_t i, uint32_t id, uint32_t *node)
{
    struct spe_profile_place found;
    struct spe_profile_call call;
    struct place place;
    uint32_t frame;

    spe_profile_call(profile, id, &call);
    place.pc = call.address - 4;
    spe_profile_place(profile, rows->thread[i], rows->time_ns[i], place.pc, false, &found);
    place.symbol = found.symbol;
    place.map = found.map;
    place.dso = found.dso;
    place.line = s->config.lines && !s->config.by_pc && found.map != SPE_NO_ID
                     ? spe_profile_find_line(profile, found.map, place.pc)
                     : SPE_NO_ID;
    if (code_frame(s, profile, &place, false, &frame) < 0 || add_node(s, *node, frame, node) < 0)
        return SPE_ERR_NOMEM;
    return know_node(s, id, *node);
}

/* The node of what made the innermost call of a row. */
static int find_caller(struct timeline *s, struct spe_profile *profile, const struct spe_rows *rows,
                       size_t i, uint32_t *node)
{
    *node = TOP;
    if (s->config.served || !rows->stack || !spe_profile_info(profile)->stacks)
        return SPE_OK;
    if (rows->stack[i] == SPE_NO_ID) {
        *node = NO_STACK;
        return SPE_OK;
    }
    if (unwind(s, profile, rows->stack[i], node) < 0)
        return SPE_ERR_NOMEM;
    while (s->unwound.count) {
        uint32_t id = s->unwound.at[--s->unwound.count];

        if (add_call(s, profile, rows, i, id, node) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static int add_served(struct timeline *s, const struct spe_rows *rows, size_t i, uint32_t *node)
{
    struct stack_frame frame = {.map = SPE_NO_ID,
                                .dso = SPE_NO_ID,
                                .line = SPE_NO_ID,
                                .function = UINT32_MAX,
                                .kind = FRAME_SERVED};
    uint32_t id;

    if (!(rows->has[i] & SPE_HAS_OP) || mix_class_of(rows->op[i] & 0x3ff) != MIX_LOAD)
        return SPE_OK;
    frame.symbol = spe_served_by(rows->level[i], rows->events[i]);
    if (add_frame(s, &frame, &id) < 0)
        return SPE_ERR_NOMEM;
    return add_node(s, *node, id, node);
}

/* Too many entries, although bins cannot become longer, or stacks. */
static bool is_full(const struct timeline *s, size_t times)
{
    return s->entries.count >= times * s->config.most ||
           s->nodes.count >= 4 * times * s->config.most;
}

static int find_node(struct timeline *s, struct spe_profile *profile, const struct spe_rows *rows,
                     size_t i, uint32_t *node)
{
    bool full = is_full(s, 1);
    struct place place = {rows->symbol[i], rows->pc[i], rows->map[i], SPE_NO_ID,
                          rows->line ? rows->line[i] : SPE_NO_ID};
    uint32_t frame;

    if (place.map != SPE_NO_ID)
        place.dso = spe_profile_map(profile, place.map)->dso;
    *node = LEFT_OUT;
    s->left_out += full;
    if (full && is_full(s, 2))
        return SPE_OK;
    if (code_frame(s, profile, &place, full, &frame) < 0 ||
        (!full && find_caller(s, profile, rows, i, node) < 0) ||
        add_node(s, *node, frame, node) < 0)
        return SPE_ERR_NOMEM;
    return s->config.served && !full ? add_served(s, rows, i, node) : SPE_OK;
}

int timeline_add(struct timeline *s, struct spe_profile *profile, const struct spe_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t time = rows->time_ns[i];
        struct stack_entry entry = {.bin = time >> s->shift,
                                    .samples = 1,
                                    .latency = rows->total[i],
                                    .thread = rows->thread[i]};

        if (s->config.served && !time) {
            s->without_time++;
            continue;
        }
        if (find_node(s, profile, rows, i, &entry.node) < 0 || add_entry(s, &entry) < 0)
            return SPE_ERR_NOMEM;
        s->samples++;
        s->least_ns = time && time < s->least_ns ? time : s->least_ns;
        s->most_ns = time > s->most_ns ? time : s->most_ns;
        while (s->entries.count >= s->config.most && s->shift < TIMELINE_NO_TIME) {
            if (coarsen(s) < 0)
                return SPE_ERR_NOMEM;
        }
    }
    return SPE_OK;
}

static int compare(const void *a, const void *b)
{
    const struct stack_entry *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->bin != y->bin)
        return x->bin < y->bin ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

int timeline_finish(struct timeline *s)
{
    if (!s->most_ns)
        s->least_ns = 0;
    while (s->config.bins && s->shift < TIMELINE_NO_TIME &&
           (s->most_ns >> s->shift) - (s->least_ns >> s->shift) >= s->config.bins) {
        if (coarsen(s) < 0)
            return SPE_ERR_NOMEM;
    }
    if (s->entries.count)
        qsort(s->entries.at, s->entries.count, sizeof(*s->entries.at), compare);
    return SPE_OK;
}

uint64_t timeline_time(const struct timeline *s, const struct stack_entry *entry)
{
    uint64_t time = entry->bin << s->shift;

    return time < s->least_ns ? s->least_ns : time;
}
