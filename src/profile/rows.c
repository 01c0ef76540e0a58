/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Groups of rows: their columns as one table, so that copying and selecting need no list of them.
 */
#include <stdlib.h>
#include <string.h>

#include "format/account.h"
#include "profile_internal.h"

enum { JOIN = 1 << GROUP_JOIN, MERGE = 1 << GROUP_MERGE, BOTH = JOIN | MERGE };

struct column {
    uint16_t place; /* of the pointer in struct group */
    uint8_t size;   /* of an element */
    uint8_t want;   /* SPE_WANT_... without which it is not there; 0: none */
    uint16_t omit;  /* SPE_OMIT_... with which it is not there */
    uint8_t uses;   /* of which groups it is a column */
    uint8_t always; /* ... even if it may be omitted */
};

#define COLUMN(field, wanted, omitted, uses, always)                                               \
    {                                                                                              \
        offsetof(struct group, field), sizeof(*((struct group *)0)->field), wanted, omitted, uses, \
            always                                                                                 \
    }

/* clang-format off */
static const struct column columns[] = {
    COLUMN(columns.offset,          0, SPE_OMIT_OFFSET, BOTH, 0),
    COLUMN(columns.pc,              0, 0, BOTH, 0),
    COLUMN(columns.target,          0, SPE_OMIT_TARGET, BOTH, 0),
    COLUMN(columns.va,              0, SPE_OMIT_VA, BOTH, 0),
    COLUMN(columns.pa,              0, SPE_OMIT_PA, BOTH, 0),
    COLUMN(columns.previous_target, 0, SPE_OMIT_PREVIOUS_TARGET, BOTH, 0),
    COLUMN(columns.events,          0, 0, BOTH, 0),
    COLUMN(columns.timestamp,       0, SPE_OMIT_TIMESTAMP, BOTH, JOIN),
    COLUMN(time_ns,                 0, 0, BOTH, 0),
    COLUMN(join_time,               0, 0, JOIN, 0),
    COLUMN(symbol,                  SPE_WANT_SYMBOL, 0, BOTH, 0),
    COLUMN(columns.context1,        0, SPE_OMIT_CONTEXTS, BOTH, JOIN),
    COLUMN(columns.context2,        0, SPE_OMIT_CONTEXTS, BOTH, JOIN),
    COLUMN(cpu,                     0, SPE_OMIT_CPU, BOTH, 0),
    COLUMN(pid,                     0, 0, BOTH, 0),
    COLUMN(tid,                     0, SPE_OMIT_TID, BOTH, 0),
    COLUMN(thread,                  0, 0, BOTH, 0),
    COLUMN(comm,                    0, SPE_OMIT_COMM, BOTH, 0),
    COLUMN(map,                     0, 0, BOTH, 0),
    COLUMN(line,                    SPE_WANT_LINE, 0, BOTH, 0),
    COLUMN(stack,                   SPE_WANT_STACK, 0, BOTH, 0),
    COLUMN(queues,                  0, 0, MERGE, 0),
#define COUNTER(name, NAME, sentence) \
    COLUMN(columns.name, 0, SPE_COUNTER_##NAME == SPE_COUNTER_TOTAL ? 0 : SPE_OMIT_LATENCIES, BOTH, 0),
#include "format/counters.def"
    COLUMN(columns.source,          0, SPE_OMIT_SOURCE, BOTH, JOIN),
    COLUMN(columns.op,              0, 0, BOTH, 0),
    COLUMN(columns.has,             0, 0, BOTH, 0),
    COLUMN(columns.addresses,       0, 0, BOTH, 0),
    COLUMN(columns.counters,        0, 0, BOTH, 0),
    COLUMN(el,                      0, 0, BOTH, 0),
    COLUMN(flags,                   0, 0, BOTH, 0),
    COLUMN(tag,                     0, SPE_OMIT_VA, BOTH, 0),
    COLUMN(level,                   0, 0, BOTH, 0),
};
/* clang-format on */

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static uint8_t *column(const struct group *g, size_t i)
{
    uint8_t *at;

    memcpy(&at, (const uint8_t *)g + columns[i].place, sizeof(at));
    return at;
}

static void set_column(struct group *g, size_t i, uint8_t *at)
{
    memcpy((uint8_t *)g + columns[i].place, &at, sizeof(at));
}

static bool has_column(const struct column *c, const struct spe_profile *p, enum group_use use)
{
    unsigned bit = 1u << use;

    return (c->uses & bit) && (!c->want || c->want & p->want) &&
           (c->always & bit || !(c->omit & p->omit));
}

size_t group_row_size(const struct spe_profile *p, enum group_use use)
{
    size_t size = 0;

    for (size_t i = 0; i < COLUMNS; i++)
        size += has_column(&columns[i], p, use) ? columns[i].size : 0;
    return size;
}

/* Groups share columns, but no word of `selected`. Wide columns come first, and there is a multiple
 * of 64 rows: all are aligned. */
int group_init(struct group *g, size_t count, size_t capacity, const struct spe_profile *p,
               enum group_use use)
{
    size_t rows = (count * capacity + 63) / 64 * 64, words = count * ((capacity + 63) / 64);
    uint8_t *at;

    memset(g, 0, sizeof(*g));
    g->memory = at = malloc(words * sizeof(uint64_t) + rows * group_row_size(p, use));
    if (!at)
        return SPE_ERR_NOMEM;
    g->selected = (uint64_t *)(void *)at;
    at += words * sizeof(uint64_t);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!has_column(&columns[i], p, use))
            continue;
        set_column(g, i, at);
        at += rows * columns[i].size;
    }
    g->columns.size = sizeof(g->columns);
    g->columns.capacity = capacity;
    return SPE_OK;
}

void group_part(struct group *part, const struct group *whole, size_t number, size_t capacity)
{
    *part = *whole;
    part->memory = NULL;
    part->selected += number * ((whole->columns.capacity + 63) / 64);
    part->columns.capacity = capacity;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (column(whole, i))
            set_column(part, i,
                       column(whole, i) + number * whole->columns.capacity * columns[i].size);
    }
}

void group_free(struct group *g)
{
    free(g->memory);
    memset(g, 0, sizeof(*g));
}

static size_t select_column(uint8_t *at, size_t size, size_t rows, const uint64_t *selected)
{
    size_t kept = 0;

    for (size_t base = 0; base < rows; base += 64) {
        for (uint64_t bits = selected[base / 64]; bits; bits &= bits - 1) {
            size_t row = base + (size_t)__builtin_ctzll(bits);

            memmove(at + kept++ * size, at + row * size, size);
        }
    }
    return kept;
}

void group_select(struct group *g, const uint64_t *selected)
{
    size_t rows = g->columns.rows;

    for (size_t i = 0; i < COLUMNS; i++) {
        if (column(g, i))
            g->columns.rows = select_column(column(g, i), columns[i].size, rows, selected);
    }
}

static void gather8(uint8_t *to, const uint8_t *from, const uint32_t *rows, size_t count)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++)
        to[i] = from[rows[i]];
}

static void gather16(uint16_t *to, const uint16_t *from, const uint32_t *rows, size_t count)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++)
        to[i] = from[rows[i]];
}

static void gather32(uint32_t *to, const uint32_t *from, const uint32_t *rows, size_t count)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++)
        to[i] = from[rows[i]];
}

static void gather64(uint64_t *to, const uint64_t *from, const uint32_t *rows, size_t count)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++)
        to[i] = from[rows[i]];
}

/* Column by column: a loop of one load and one store each, instead of a list of columns a row. */
void group_gather(struct group *to, const struct group *from, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        void *at = column(to, i);
        const void *source = column(from, i);

        if (!at || !source)
            continue;
        at = (uint8_t *)at + to->columns.rows * columns[i].size;
        if (columns[i].size == 8)
            gather64(at, source, rows, count);
        else if (columns[i].size == 4)
            gather32(at, source, rows, count);
        else if (columns[i].size == 2)
            gather16(at, source, rows, count);
        else
            gather8(at, source, rows, count);
    }
    to->columns.rows += count;
}

void group_show(const struct group *g, struct spe_rows *rows)
{
    const struct spe_columns *c = &g->columns;

    *rows = (struct spe_rows){
        .size = sizeof(*rows),
        .count = c->rows,
        .queue = g->queue,
        .queues = g->queues,
        .offset = c->offset,
        .time_ns = g->time_ns,
        .timestamp = c->timestamp,
        .cpu = g->cpu,
        .pid = g->pid,
        .tid = g->tid,
        .el = g->el,
        .flags = g->flags,
        .pc = c->pc,
        .target = c->target,
        .va = c->va,
        .pa = c->pa,
        .previous_target = c->previous_target,
        .tag = g->tag,
        .events = c->events,
        .op = c->op,
#define COUNTER(name, NAME, sentence) .name = c->name,
#include "format/counters.def"
        .source = c->source,
        .level = g->level,
        .context1 = c->context1,
        .context2 = c->context2,
        .has = c->has,
        .addresses = c->addresses,
        .counters = c->counters,
        .thread = g->thread,
        .comm = g->comm,
        .map = g->map,
        .symbol = g->symbol,
        .line = g->line,
        .stack = g->stack,
    };
}

static void left_out_add(struct spe_profile_left_out *to, const struct spe_profile_left_out *from)
{
    bool both = to->samples && from->samples;

    to->several_threads |= from->several_threads || (both && to->thread != from->thread);
    to->thread = to->samples ? to->thread : from->thread;
    to->samples += from->samples;
    to->stores += from->stores;
    to->latency += from->latency;
    to->said += from->said;
    to->no_address += from->no_address;
}

void counts_add(struct spe_profile_counts *to, const struct group_counts *from)
{
    account_add(&to->account, &from->account, &(struct spe_account){0});
    to->rows += from->rows;
    to->cut += from->cut;
    to->filtered += from->filtered;
    to->without_time += from->without_time;
    to->by_context += from->by_context;
    to->by_switch += from->by_switch;
    to->by_buffer += from->by_buffer;
    to->by_nothing += from->by_nothing;
    to->context_unknown += from->context_unknown;
    to->context_mismatch += from->context_mismatch;
    to->no_map += from->no_map;
    to->stacks += from->stacks;
    to->passed += from->passed;
    to->passed_latency += from->passed_latency;
    left_out_add(&to->left_out, &from->left_out);
    if (from->last_ns || from->first_ns) {
        if (!to->first_ns || from->first_ns < to->first_ns)
            to->first_ns = from->first_ns;
        if (from->last_ns > to->last_ns)
            to->last_ns = from->last_ns;
    }
}
