/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The SPE bytes of one queue, piece by piece, into the columns of a group, with time. Pieces are
 * one stream; records that straddle them are whole. One thread at a time reads a queue.
 */
#include <stdlib.h>
#include <string.h>

#include "format/account.h"
#include "profile_internal.h"

static int start_stream(const struct spe_profile *p, struct queue *q, unsigned flags)
{
    if (!q->bulk) {
        q->bulk = malloc(spe_bulk_sizeof());
        q->buffer = p->in_place ? NULL : malloc(p->chunk);
        if (!q->bulk || !(q->buffer || p->in_place))
            return SPE_ERR_NOMEM;
    }
    q->ending = false;
    return spe_bulk_init(q->bulk, flags, SPE_BULK_AUTO);
}

void queue_stop(struct queue *q)
{
    free(q->bulk);
    free(q->buffer);
    q->bulk = NULL;
    q->buffer = NULL;
}

/* The next bytes: their number, 0 at the end, or an error. Those before are decoded. */
static int64_t read_raw(const struct spe_profile *p, struct queue *q, const uint8_t **bytes)
{
    int64_t got = pd_input_take(&p->raw, q->position, q->buffer, p->chunk, bytes);

    if (!q->left_out) /* else they may be looked at again */
        pd_input_done_around(&p->raw, q->position - q->taken, q->taken);
    q->taken = got > 0 ? (uint64_t)got : 0;
    q->position += q->taken;
    return got;
}

/* As above, and *unsynced if these bytes do not continue those before: they are then not taken. */
static int64_t read_pieces(const struct spe_profile *p, struct queue *q, const uint8_t **bytes,
                           bool *unsynced)
{
    while (q->piece < q->perf->piece_count) {
        const struct spe_perf_piece *piece = &q->perf->pieces[q->piece];
        int64_t got;

        if (!q->position && piece->flags & SPE_PERF_PIECE_UNSYNCED &&
            spe_bulk_account(q->bulk)->bytes) {
            *unsynced = true;
            return 0;
        }
        if (!q->position && piece->flags & SPE_PERF_PIECE_UNSYNCED &&
            spe_bulk_init(q->bulk, SPE_STREAM_UNSYNCED, SPE_BULK_AUTO) < 0)
            return SPE_ERR_INVALID;
        got = spe_perf_piece_read(p->reader, piece, q->position, q->buffer, p->chunk, bytes);
        if (got < 0)
            return got;
        if (!q->left_out) /* else they may be looked at again */
            spe_perf_piece_done(p->reader, piece, q->position - q->taken, q->taken);
        q->taken = (uint64_t)got;
        if (got > 0) {
            if (!p->sideband_timed)
                q->join_time = piece->file_offset;
            q->position += q->taken;
            return got;
        }
        q->piece++;
        q->position = 0;
    }
    return 0;
}

/* Feed more bytes, or end the stream. */
static int feed(const struct spe_profile *p, struct queue *q)
{
    const uint8_t *bytes = NULL;
    bool unsynced = false;
    int64_t got;

    if (q->ending) {
        q->base += spe_bulk_account(q->bulk)->bytes;
        if (!q->perf || q->piece >= q->perf->piece_count) {
            q->drained = true;
            return SPE_OK;
        }
        return start_stream(p, q, SPE_STREAM_UNSYNCED);
    }
    got = q->perf ? read_pieces(p, q, &bytes, &unsynced) : read_raw(p, q, &bytes);
    if (got < 0)
        return (int)got;
    if (!got) {
        spe_bulk_end(q->bulk);
        q->ending = true;
        return SPE_OK;
    }
    q->bytes = bytes;
    return spe_bulk_feed(q->bulk, bytes, (size_t)got);
}

/* Time of the rows from `from` on. One without a timestamp has that of the row before it; until
 * there is one, it is joined with how things were at the end. */
static void set_some_times(const struct spe_profile *p, struct queue *q, struct group *g,
                           size_t from)
{
    bool timed = p->info.timed;

    for (size_t i = from; i < g->columns.rows; i++) {
        bool has = g->columns.has[i] & SPE_HAS_TIMESTAMP;

        g->flags[i] = has ? SPE_ROW_TIMESTAMP : 0;
        if (timed && has) {
            q->last_time = spe_perf_time_to_ns(&p->time_conv, g->columns.timestamp[i]);
            q->has_time = true;
        }
        g->counts.without_time += timed && !has;
        g->time_ns[i] = q->last_time;
        g->join_time[i] = !p->sideband_timed ? q->join_time
                          : q->has_time      ? q->last_time
                                             : UINT64_MAX;
    }
}

/* The same where every row has one, as with most recordings. */
static void set_all_times(const struct spe_profile *p, struct queue *q, struct group *g,
                          size_t from)
{
    size_t rows = g->columns.rows;

    spe_perf_times_to_ns(&p->time_conv, g->columns.timestamp + from, g->time_ns + from,
                         rows - from);
    memset(g->flags + from, SPE_ROW_TIMESTAMP, rows - from);
    q->last_time = g->time_ns[rows - 1];
    q->has_time = true;
    for (size_t i = from; i < rows; i++)
        g->join_time[i] = p->sideband_timed ? g->time_ns[i] : q->join_time;
}

void queue_set_times(const struct spe_profile *p, struct queue *q, struct group *g, size_t from)
{
    const uint8_t *has = g->columns.has;
    size_t rows = g->columns.rows;
    uint8_t all = SPE_HAS_TIMESTAMP;

    if (from == rows)
        return;
    for (size_t i = from; i < rows; i++)
        all &= has[i];
    if (all && p->info.timed)
        set_all_times(p, q, g, from);
    else
        set_some_times(p, q, g, from);
    for (size_t i = from; q->base && g->columns.offset && i < rows; i++)
        g->columns.offset[i] += q->base;
}

#define ROWS_BETWEEN 8 /* that are decoded until it is tried again to pass over records */

/* spe_bulk_next of all rows, or of some if most records are passed over. */
static int next_some(struct queue *q, struct group *g, bool passing, struct spe_item *skipped)
{
    size_t capacity = g->columns.capacity;
    int item;

    if (passing && capacity - g->columns.rows > ROWS_BETWEEN)
        g->columns.capacity = g->columns.rows + ROWS_BETWEEN;
    item = spe_bulk_next(q->bulk, &g->columns, skipped);
    g->columns.capacity = capacity;
    return item;
}

int queue_fill(struct spe_profile *p, struct joiner *j, struct queue *q, struct group *g)
{
    const struct needed *needed = pass_set(p);
    struct spe_account then = {0};
    struct spe_item skipped;
    int result = SPE_OK;

    g->columns.rows = 0;
    memset(&g->counts, 0, sizeof(g->counts));
    if (q->drained)
        return SPE_OK;
    if (!q->bulk)
        result = start_stream(p, q, 0);
    if (result >= 0)
        then = *spe_bulk_account(q->bulk);
    while (result >= 0 && !q->drained) {
        size_t before;
        int item;

        if (needed && !pass_fill(p, j, q, g, needed))
            needed = NULL;
        before = g->columns.rows;
        item = next_some(q, g, needed, &skipped);
        queue_set_times(p, q, g, before);
        if (g->columns.rows == g->columns.capacity)
            break;
        if (item == SPE_ITEM_RECORD || item == SPE_ITEM_SKIPPED)
            continue;
        if (q->ending) {
            account_add(&g->counts.account, spe_bulk_account(q->bulk), &then);
            memset(&then, 0, sizeof(then));
            result = feed(p, q);
            if (q->drained)
                break;
        } else {
            result = feed(p, q);
        }
    }
    if (!q->drained && result >= 0)
        account_add(&g->counts.account, spe_bulk_account(q->bulk), &then);
    else if (!q->left_out || result < 0) /* else its decoder is needed again */
        queue_stop(q);
    return result;
}
