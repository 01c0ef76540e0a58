/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Records of which nobody needs rows: the decoder passes over them, and of the others rows are made
 * as usual. What is counted of rows by thread is counted of them, too, a run of records of one
 * thread at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "profile_internal.h"

#define GRAIN_LEAST 6
#define GRAIN_MOST 48
#define BITS_USED                                                                                  \
    (SPE_PASS_BITS / 8) /* so that code that is not wanted seldom has a bit of these */
#define SHORT_RUN 16    /* records for which asking who runs does not pay */
#define SHORT_RUNS_MAX 32

/* ---- The set -------------------------------------------------------------------------------- */

/* The grains of a span; some number that is too great if it is very long. */
static uint64_t grains_of(const struct spe_profile_span *span, unsigned grain)
{
    return span->end > span->start ? ((span->end - 1) >> grain) - (span->start >> grain) + 1 : 0;
}

static unsigned choose_grain(const struct spe_profile_span *spans, size_t count)
{
    unsigned grain = GRAIN_LEAST;

    for (; grain < GRAIN_MOST; grain++) {
        uint64_t sum = 0;

        for (size_t i = 0; i < count && sum <= BITS_USED; i++) {
            uint64_t grains = grains_of(&spans[i], grain);

            sum += grains < SPE_PASS_BITS ? grains : SPE_PASS_BITS;
        }
        if (sum <= BITS_USED)
            break;
    }
    return grain;
}

/* Addresses have 56 bits in records: a span may begin above its end in these. */
static void widen_bounds(struct needed *set, const struct spe_profile_span *span)
{
    const uint64_t mask = UINT64_MAX >> 8;
    uint64_t low = span->start & mask, high = (span->end - 1) & mask;

    if (span->end - 1 - span->start > mask || low > high) {
        low = 0;
        high = mask;
    }
    set->low = low < set->low ? low : set->low;
    set->high = high > set->high ? high : set->high;
}

static void add_span(struct needed *set, const struct spe_profile_span *span)
{
    uint64_t grains = grains_of(span, set->grain), first = span->start >> set->grain;

    for (uint64_t i = 0; i < grains && i < SPE_PASS_BITS; i++) {
        uint64_t bit = spe_pass_bit((first + i) << set->grain, set->grain);

        set->bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    if (grains)
        widen_bounds(set, span);
}

static void take_set(struct spe_profile *p, struct needed *set)
{
    set->older = p->sets;
    p->sets = set;
    atomic_store(&p->only, set);
}

int spe_profile_only(struct spe_profile *profile, const struct spe_profile_span *spans,
                     size_t count)
{
    struct needed *set;

    if (!spans) {
        atomic_store(&profile->only, NULL);
        return SPE_OK;
    }
    set = calloc(1, sizeof(*set));
    if (!set)
        return SPE_ERR_NOMEM;
    set->grain = choose_grain(spans, count);
    set->low = UINT64_MAX >> 8;
    for (size_t i = 0; i < count; i++)
        add_span(set, &spans[i]);
    take_set(profile, set);
    return SPE_OK;
}

int spe_profile_only_data(struct spe_profile *profile, const struct spe_profile_data *data)
{
    struct spe_profile_data own = {0};
    struct needed *set;

    left_out_forget(profile);
    atomic_store(&profile->only, NULL);
    if (data && (!sized_take(&own, sizeof(own), data, data->size) || own.shift > 63))
        return SPE_ERR_INVALID;
    /* Notes point into the bytes. Without times of maps and threads they would have to tell those,
     * too. */
    if (!data || !profile->in_place || !profile->sideband_timed ||
        !left_out_start(profile, own.memory))
        return SPE_OK;
    set = calloc(1, sizeof(*set));
    if (!set)
        return SPE_ERR_NOMEM;
    set->data = own;
    set->data.size = sizeof(own);
    take_set(profile, set);
    return SPE_OK;
}

void pass_forget(struct spe_profile *p)
{
    while (p->sets) {
        struct needed *older = p->sets->older;

        free(p->sets);
        p->sets = older;
    }
    atomic_store(&p->only, NULL);
    left_out_forget(p);
}

/* ---- Where functions are -------------------------------------------------------------------- */

/* Code of a segment from one address of the file to another, as it is in the map: the reverse of
 * dso_address. Wrapping sums cancel out. */
static void widen_span(struct spe_profile_span *span, const struct spe_profile_map *map,
                       const struct segment *s, uint64_t from, uint64_t to)
{
    uint64_t shift = s->offset - s->address - map->page_offset + map->start;
    uint64_t last = s->address + (s->size - 1);

    from = from > s->address ? from : s->address;
    to = to - 1 < last ? to - 1 : last;
    if (!s->size || from > to)
        return;
    span->start = from + shift < span->start ? from + shift : span->start;
    span->end = to + shift + 1 > span->end ? to + shift + 1 : span->end;
}

bool spe_profile_span(const struct spe_profile *p, uint32_t map, uint64_t symbol,
                      struct spe_profile_span *span)
{
    const struct spe_profile_map *m = spe_profile_map(p, map);
    const struct dso *dso = m ? p->dsos.list.at[m->dso] : NULL;
    struct spe_profile_symbol is;

    *span = (struct spe_profile_span){UINT64_MAX, 0};
    if (!dso || spe_profile_symbol(p, symbol, &is) != SPE_OK || is.dso != m->dso || !is.size)
        return false;
    if (!dso->symbols.relative)
        *span = (struct spe_profile_span){is.address, is.address + is.size};
    for (size_t i = 0; dso->symbols.relative && i < dso->symbols.segments.count; i++) {
        uint64_t from = is.address - dso->symbols.kernel_shift;

        widen_span(span, m, &dso->symbols.segments.at[i], from, from + is.size);
    }
    span->start = span->start > m->start ? span->start : m->start;
    span->end = span->end < m->end ? span->end : m->end;
    return span->start < span->end;
}

/* ---- Passing -------------------------------------------------------------------------------- */

/* A cut and a filter have to see every row. */
const struct needed *pass_set(const struct spe_profile *p)
{
    bool cut =
        p->time_from || p->time_to || p->cut_cpu_count || p->cut_pid_count || p->cut_tid_count;

    return cut || p->filter ? NULL : atomic_load(&p->only);
}

/* What was passed over since `before` is of this thread. */
static void count_data(struct spe_profile_left_out *sum, uint32_t thread,
                       const struct spe_pass_data *now, const struct spe_pass_data *before)
{
    uint64_t samples = now->samples - before->samples;

    if (samples) {
        sum->several_threads |= sum->samples && sum->thread != thread;
        sum->thread = sum->samples ? sum->thread : thread;
    }
    sum->samples += samples;
    sum->stores += now->stores - before->stores;
    sum->latency += now->latency - before->latency;
    sum->said += now->said - before->said;
    sum->no_address += now->no_address - before->no_address;
}

static void count_passed(const struct spe_profile *p, struct queue *q, struct group *g,
                         const struct pass_run *run, const struct spe_bulk_pass *before)
{
    uint64_t records = run->pass.records - before->records;

    if (!records)
        return;
    join_passed(&g->counts, run, records);
    g->counts.passed += records;
    g->counts.passed_latency += run->pass.latency - before->latency;
    if (p->info.timed) {
        q->last_time = spe_perf_time_to_ns(&p->time_conv, run->pass.timestamp);
        q->has_time = true;
    }
}

/* spe_bulk_pass, and what it tells of the records that it passed over. */
static int pass_some(const struct spe_profile *p, struct queue *q, struct group *g,
                     struct pass_run *run)
{
    struct spe_bulk_pass before = run->pass;
    const struct spe_pass_data *data = run->pass.data;
    struct spe_pass_data data_before = data ? *data : (struct spe_pass_data){0};
    size_t rows = g->columns.rows;
    int goes_on;

    goes_on = spe_bulk_pass(q->bulk, &g->columns, &run->pass);
    queue_set_times(p, q, g, rows);
    count_passed(p, q, g, run, &before);
    if (data)
        count_data(&g->counts.left_out, run->thread, data, &data_before);
    return goes_on;
}

bool pass_fill(struct spe_profile *p, struct joiner *j, struct queue *q, struct group *g,
               const struct needed *needed)
{
    struct pass_run run = {.thread = SPE_NO_ID};
    unsigned short_runs = 0;
    int goes_on;

    spe_bulk_pass_init(&run.pass);
    run.pass.pcs = needed->bits;
    run.pass.grain = needed->grain;
    run.pass.low = needed->low;
    run.pass.high = needed->high;
    run.pass.has = ~0u; /* no record has: the first one becomes a row, and tells of a run */
    do {
        uint64_t records = run.pass.records;
        size_t rows = g->columns.rows;

        if (needed->data.size) {
            if (!left_out_room(p, q, needed))
                return false;
            run.pass.data = &q->left_out->pass;
        }
        goes_on = pass_some(p, q, g, &run);
        if (goes_on > 0)
            join_run(p, j, q, g, &run);
        short_runs += run.pass.records - records + g->columns.rows - rows < SHORT_RUN;
    } while (goes_on > 0 && short_runs < SHORT_RUNS_MAX);
    return short_runs < SHORT_RUNS_MAX;
}
