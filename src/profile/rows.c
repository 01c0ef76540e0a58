/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Groups of rows: their columns as one table, so that copying and selecting need no list of them.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

struct column {
    uint16_t place; /* of the pointer in struct group */
    uint8_t size;   /* of an element */
    uint8_t want;   /* SPE_WANT_..., 0: always there */
};

#define COLUMN(field, wanted)                                                                      \
    {                                                                                              \
        offsetof(struct group, field), sizeof(*((struct group *)0)->field), wanted                 \
    }

/* clang-format off */
static const struct column columns[] = {
    COLUMN(columns.offset, 0), COLUMN(columns.pc, 0), COLUMN(columns.target, 0),
    COLUMN(columns.va, 0), COLUMN(columns.pa, 0), COLUMN(columns.previous_target, 0),
    COLUMN(columns.events, 0), COLUMN(columns.timestamp, 0),
    COLUMN(time_ns, 0), COLUMN(join_time, 0), COLUMN(symbol, SPE_WANT_SYMBOL),
    COLUMN(columns.context1, 0), COLUMN(columns.context2, 0),
    COLUMN(cpu, 0), COLUMN(pid, 0), COLUMN(tid, 0), COLUMN(thread, 0), COLUMN(comm, 0),
    COLUMN(map, 0), COLUMN(line, SPE_WANT_LINE), COLUMN(queues, 0),
    COLUMN(columns.total, 0), COLUMN(columns.issue, 0), COLUMN(columns.translation, 0),
    COLUMN(columns.alt_issue, 0), COLUMN(columns.source, 0), COLUMN(columns.op, 0),
    COLUMN(columns.has, 0), COLUMN(columns.addresses, 0), COLUMN(columns.counters, 0),
    COLUMN(el, 0), COLUMN(flags, 0), COLUMN(tag, 0), COLUMN(level, 0),
};
/* clang-format on */

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static uint8_t **pointer(const struct group *g, size_t i)
{
    return (uint8_t **)(uintptr_t)((const uint8_t *)g + columns[i].place);
}

int group_init(struct group *g, size_t capacity, unsigned want)
{
    size_t words = (capacity + 63) / 64, size = words * sizeof(uint64_t);
    uint8_t *at;

    for (size_t i = 0; i < COLUMNS; i++)
        size += columns[i].want && !(columns[i].want & want) ? 0 : words * 64 * columns[i].size;
    memset(g, 0, sizeof(*g));
    g->memory = at = malloc(size);
    if (!at)
        return SPE_ERR_NOMEM;
    g->selected = (uint64_t *)(void *)at;
    at += words * sizeof(uint64_t);
    for (size_t i = 0; i < COLUMNS; i++) { /* wide ones first: all are aligned */
        if (columns[i].want && !(columns[i].want & want))
            continue;
        *pointer(g, i) = at;
        at += words * 64 * columns[i].size;
    }
    g->columns.size = sizeof(g->columns);
    g->columns.capacity = capacity;
    return SPE_OK;
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
        if (*pointer(g, i))
            g->columns.rows = select_column(*pointer(g, i), columns[i].size, rows, selected);
    }
}

void group_copy_row(struct group *to, const struct group *from, size_t row)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        size_t size = columns[i].size;

        if (*pointer(to, i))
            memcpy(*pointer(to, i) + to->columns.rows * size, *pointer(from, i) + row * size, size);
    }
    to->columns.rows++;
}

void group_show(const struct group *g, struct spe_rows *rows, bool queues)
{
    const struct spe_columns *c = &g->columns;

    *rows = (struct spe_rows){
        .count = c->rows,
        .queue = g->queue,
        .queues = queues ? g->queues : NULL,
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
        .total = c->total,
        .issue = c->issue,
        .translation = c->translation,
        .alt_issue = c->alt_issue,
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
    };
}

static void account_add(struct spe_account *to, const struct spe_account *from)
{
    to->bytes += from->bytes;
    to->records += from->records;
    to->record_bytes += from->record_bytes;
    to->padding_bytes += from->padding_bytes;
    to->skipped += from->skipped;
    to->skipped_bytes += from->skipped_bytes;
    for (size_t i = 0; i < SPE_SKIP_REASON_COUNT; i++)
        to->skipped_by[i] += from->skipped_by[i];
    to->unknown += from->unknown;
}

void counts_add(struct spe_profile_counts *to, const struct spe_profile_counts *from)
{
    account_add(&to->account, &from->account);
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
    if (from->last_ns || from->first_ns) {
        if (!to->first_ns || from->first_ns < to->first_ns)
            to->first_ns = from->first_ns;
        if (from->last_ns > to->last_ns)
            to->last_ns = from->last_ns;
    }
}
