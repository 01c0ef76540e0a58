/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Two recordings beside each other: counted by instruction, summed up by name, tested. */
#include "analysis/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/count_of.h"
#include "base/path.h"
#include "base/sized.h"
#include "base/strings.h"

#define SPOTS 131072   /* instructions before they are summed up */
#define CLASS_MEMORY 1 /* of rows.op */
#define CLASS_BRANCH 2
#define LATENCY SPE_DIFF_LATENCY
#define THREADS 1024 /* told apart */
#define WORKS 0.05   /* of the samples are of other threads than the busiest: several work */

const char *spe_diff_quantity_name(unsigned quantity)
{
    static const char *const names[SPE_DIFF_QUANTITIES] = {
        [SPE_DIFF_OPERATIONS] = "operations",
        [SPE_DIFF_LATENCY] = "latency",
        [SPE_DIFF_LOADS] = "loads",
        [SPE_DIFF_STORES] = "stores",
        [SPE_DIFF_BRANCHES] = "branches",
        [SPE_DIFF_NOT_TAKEN] = "not_taken",
        [SPE_DIFF_MISPREDICTED] = "mispredicted",
        [SPE_DIFF_L1_MISSES] = "l1_misses",
        [SPE_DIFF_LLC_MISSES] = "llc_misses",
        [SPE_DIFF_WALKS] = "walks",
        [SPE_DIFF_MISALIGNED] = "misaligned",
        [SPE_DIFF_PARTIAL_PREDICATES] = "partial_predicates",
    };

    return quantity < SPE_DIFF_QUANTITIES ? names[quantity] : "";
}

struct sums {
    uint64_t count[SPE_DIFF_QUANTITIES]; /* of latency: the cycles */
    uint64_t squares;                    /* of latencies ... */
    double cubes, fourths;
    uint64_t timed;            /* samples with a latency */
    struct diff_uneven uneven; /* latencies over time */
};

struct spot {
    uint64_t pc;
    uint32_t map;
    struct sums sums;
    struct diff_blocks blocks;
};

/* What has one name, on both sides. */
struct item {
    uint32_t dso, function, line; /* strings */
    struct sums side[2];
    struct diff_blocks blocks; /* of the recording that is being read */
};

struct side {
    bool exact, sampled;
    bool parallel; /* several threads work */
    unsigned known;
    double runs; /* by the interval of each: samples by this are operations of a run */
    double seconds;
    double operations;
};

struct spe_diff {
    struct spe_diff_config config;
    struct strings strings;
    uint64_t seed;
    VECTOR(struct spot) spots; /* of the side that is being read */
    struct hash_table spot_table;
    VECTOR(struct item) items;
    struct hash_table item_table;
    struct side side[2];
    struct sums total[2];
    struct diff_clock clock; /* of the recording that is being read, and the blocks of it all */
    struct diff_blocks blocks;
    struct diff_blocks *threads; /* THREADS */
    struct spe_diff_row whole;   /* result.total */
    struct diff_work work[2];
    struct spe_diff_row *rows;
    struct spe_diff_result result;
};

/* ---- life ------------------------------------------------------------------------------------ */

int spe_diff_create(struct spe_diff **diff, const struct spe_diff_config *config)
{
    struct spe_diff_config own = {0};
    struct spe_diff *d;

    *diff = NULL;
    if (!sized_take(&own, sizeof(own), config, config->size) ||
        (own.by != SPE_BY_FUNCTION && own.by != SPE_BY_FUNCTION_LINE && own.by != SPE_BY_DSO) ||
        own.per > SPE_PER_FUNCTION || (own.per == SPE_PER_FUNCTION && !own.function))
        return SPE_ERR_INVALID;
    d = calloc(1, sizeof(*d));
    if (!d)
        return SPE_ERR_NOMEM;
    d->threads = calloc(THREADS, sizeof(*d->threads));
    if (!d->threads) {
        free(d);
        return SPE_ERR_NOMEM;
    }
    d->config = own;
    d->seed = hash_seed();
    strings_init(&d->strings, d->seed);
    *diff = d;
    return SPE_OK;
}

void spe_diff_destroy(struct spe_diff *d)
{
    if (!d)
        return;
    strings_free(&d->strings);
    free(d->spots.at);
    free(d->items.at);
    free(d->threads);
    free(d->rows);
    hash_table_free(&d->spot_table);
    hash_table_free(&d->item_table);
    free(d);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void sums_add(struct sums *to, const struct sums *from)
{
    for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++)
        to->count[q] += from->count[q];
    to->squares += from->squares;
    to->cubes += from->cubes;
    to->fourths += from->fourths;
    to->timed += from->timed;
    diff_uneven_add(&to->uneven, &from->uneven);
}

static uint64_t item_hash(const struct spe_diff *d, const struct item *name)
{
    return hash_number(hash_number(d->seed, (uint64_t)name->dso << 32 | name->function),
                       name->line);
}

static struct item *find_item(struct spe_diff *d, const struct item *name)
{
    uint64_t hash = item_hash(d, name);
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&d->item_table, hash, &cursor)) != UINT32_MAX) {
        struct item *item = &d->items.at[i];

        if (item->dso == name->dso && item->function == name->function && item->line == name->line)
            return item;
    }
    return NULL;
}

/* NULL without memory. */
static struct item *take_item(struct spe_diff *d, const struct item *name)
{
    struct item *item = find_item(d, name);

    if (item)
        return item;
    if (d->items.count >= UINT32_MAX - 1 || VECTOR_ROOM(&d->items) < 0 ||
        hash_table_add(&d->item_table, item_hash(d, name), (uint32_t)d->items.count) < 0)
        return NULL;
    item = &d->items.at[d->items.count++];
    *item = (struct item){.dso = name->dso, .function = name->function, .line = name->line};
    return item;
}

/* A part of a function, or a copy for certain arguments, is the function: which of them there are
 * is the compiler's choice of the day. */
static void plain_function(const char *name, char plain[STRING_MAX + 1])
{
    static const char *const marks[] = {" [clone ", ".constprop.", ".isra.",
                                        ".part.",   ".cold",       ".llvm."};

    snprintf(plain, STRING_MAX + 1, "%s", name);
    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        char *mark = strstr(plain, marks[i]);

        if (mark && mark > plain)
            *mark = '\0';
    }
}

static const char *dso_name(struct spe_profile *profile, uint32_t map)
{
    const struct spe_profile_map *m = map != SPE_NO_ID ? spe_profile_map(profile, map) : NULL;
    const struct spe_profile_dso *dso = m ? spe_profile_dso(profile, m->dso) : NULL;

    return dso ? spe_profile_string(profile, dso->name) : "";
}

/* Folders are left out: the same source is built in many. */
static void line_name(struct spe_profile *profile, const struct spot *spot, char *text, size_t size)
{
    uint32_t id = spe_profile_find_line(profile, spot->map, spot->pc);
    struct spe_profile_line line;

    text[0] = '\0';
    if (id != SPE_NO_ID && spe_profile_line(profile, id, &line) == SPE_OK)
        snprintf(text, size, "%s:%u", base_name(spe_profile_string(profile, line.file)),
                 (unsigned)line.line);
}

/* False without memory. */
static bool name_spot(struct spe_diff *d, struct spe_profile *profile, const struct spot *spot,
                      struct item *name)
{
    char function[STRING_MAX + 1] = "", line[1024] = "";

    if (d->config.by != SPE_BY_DSO && spot->map != SPE_NO_ID) {
        struct spe_profile_symbol symbol;
        uint64_t id = spe_profile_find_symbol(profile, spot->map, spot->pc);

        if (id != SPE_NO_SYMBOL && spe_profile_symbol(profile, id, &symbol) == SPE_OK)
            plain_function(symbol.name, function);
        if (d->config.by == SPE_BY_FUNCTION_LINE)
            line_name(profile, spot, line, sizeof(line));
    }
    name->dso = strings_add(&d->strings, dso_name(profile, spot->map));
    name->function = strings_add(&d->strings, function);
    name->line = strings_add(&d->strings, line);
    return name->dso != NONE && name->function != NONE && name->line != NONE;
}

static int sum_up(struct spe_diff *d, unsigned side, struct spe_profile *profile)
{
    for (size_t i = 0; i < d->spots.count; i++) {
        const struct spot *spot = &d->spots.at[i];
        struct item name, *item;

        item = name_spot(d, profile, spot, &name) ? take_item(d, &name) : NULL;
        if (!item)
            return SPE_ERR_NOMEM;
        sums_add(&item->side[side], &spot->sums);
        sums_add(&d->total[side], &spot->sums);
        diff_blocks_add(&item->blocks, &spot->blocks);
        diff_blocks_add(&d->blocks, &spot->blocks);
    }
    d->spots.count = 0;
    hash_table_free(&d->spot_table);
    d->spot_table = (struct hash_table){0};
    return SPE_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t spot_hash(const struct spe_diff *d, uint64_t pc, uint32_t map)
{
    return hash_number(hash_number(d->seed, pc), map);
}

/* NULL without memory. */
static struct spot *spot_of(struct spe_diff *d, uint64_t pc, uint32_t map)
{
    uint64_t hash = spot_hash(d, pc, map);
    struct spot *spot;
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&d->spot_table, hash, &cursor)) != UINT32_MAX) {
        if (d->spots.at[i].pc == pc && d->spots.at[i].map == map)
            return &d->spots.at[i];
    }
    if (VECTOR_ROOM(&d->spots) < 0 ||
        hash_table_add(&d->spot_table, hash, (uint32_t)d->spots.count) < 0)
        return NULL;
    spot = &d->spots.at[d->spots.count++];
    *spot = (struct spot){.pc = pc, .map = map};
    return spot;
}

static void count_row(struct sums *s, const struct spe_rows *rows, size_t i)
{
    unsigned class_ = rows->has[i] & SPE_HAS_OP ? rows->op[i] >> 8 : 0;
    bool memory = class_ == CLASS_MEMORY, branch = class_ == CLASS_BRANCH;
    uint64_t events = rows->events[i];

    s->count[SPE_DIFF_OPERATIONS]++;
    s->count[SPE_DIFF_LOADS] += memory && !(rows->op[i] & 1);
    s->count[SPE_DIFF_STORES] += memory && rows->op[i] & 1;
    s->count[SPE_DIFF_BRANCHES] += branch;
    s->count[SPE_DIFF_NOT_TAKEN] += branch && events >> SPE_EVENT_NOT_TAKEN & 1;
    s->count[SPE_DIFF_MISPREDICTED] += branch && events >> SPE_EVENT_MISPREDICTED & 1;
    s->count[SPE_DIFF_L1_MISSES] += memory && events >> SPE_EVENT_L1D_MISS & 1;
    s->count[SPE_DIFF_LLC_MISSES] += memory && events >> SPE_EVENT_LLC_MISS & 1;
    s->count[SPE_DIFF_WALKS] += memory && events >> SPE_EVENT_TLB_WALK & 1;
    s->count[SPE_DIFF_MISALIGNED] += memory && events >> SPE_EVENT_MISALIGNED & 1;
    s->count[SPE_DIFF_PARTIAL_PREDICATES] +=
        (events & (SPE_EVENT_BIT(PARTIAL_PREDICATE) | SPE_EVENT_BIT(EMPTY_PREDICATE))) != 0;
    if (rows->counters[i] >> SPE_COUNTER_TOTAL & 1) {
        uint64_t cycles = rows->total[i], square = cycles * cycles;

        s->timed++;
        s->count[LATENCY] += cycles;
        s->squares += square;
        s->cubes += (double)square * (double)cycles;
        s->fourths += (double)square * (double)square;
    }
}

static void double_blocks(struct spe_diff *d)
{
    diff_clock_double(&d->clock);
    diff_blocks_double(&d->blocks);
    for (size_t i = 0; i < THREADS; i++)
        diff_blocks_double(&d->threads[i]);
    for (size_t i = 0; i < d->spots.count; i++)
        diff_blocks_double(&d->spots.at[i].blocks);
    for (size_t i = 0; i < d->items.count; i++)
        diff_blocks_double(&d->items.at[i].blocks);
}

static void count_in_block(struct spe_diff *d, struct spot *spot, const struct spe_rows *rows,
                           size_t i)
{
    struct diff_blocks *thread = &d->threads[rows->thread[i] % THREADS];
    uint64_t block;

    if (!(rows->counters[i] >> SPE_COUNTER_TOTAL & 1))
        return;
    while ((block = diff_block(&d->clock, rows->time_ns[i])) >= DIFF_BLOCKS)
        double_blocks(d);
    spot->blocks.cycles[block] += rows->total[i];
    spot->blocks.samples[block]++;
    thread->cycles[block] += rows->total[i];
    thread->samples[block]++;
}

int spe_diff_add(struct spe_diff *d, unsigned side, struct spe_profile *profile,
                 const struct spe_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct spot *spot;

        if (d->spots.count >= SPOTS && sum_up(d, side, profile) < 0)
            return SPE_ERR_NOMEM;
        spot = spot_of(d, rows->pc[i], rows->map[i]);
        if (!spot)
            return SPE_ERR_NOMEM;
        count_row(&spot->sums, rows, i);
        count_in_block(d, spot, rows, i);
    }
    d->side[side].sampled |= rows->count > 0;
    return SPE_OK;
}

/* Do other threads than the busiest work, too? */
static bool is_parallel(const struct spe_diff *d)
{
    uint64_t all = 0, most = 0;

    for (size_t t = 0; t < THREADS; t++) {
        uint64_t samples = 0;

        for (unsigned i = 0; i < DIFF_BLOCKS; i++)
            samples += d->threads[t].samples[i];
        all += samples;
        most = samples > most ? samples : most;
    }
    return (double)(all - most) > WORKS * (double)all;
}

/* Blocks are of one recording: what they say is kept, and they are empty again. */
static void end_blocks(struct spe_diff *d, unsigned side)
{
    static const struct diff_blocks empty;
    double mean[DIFF_BLOCKS];

    d->side[side].parallel |= is_parallel(d);
    diff_even_threads(d->threads, THREADS, mean);
    for (size_t i = 0; i < d->items.count; i++) {
        diff_uneven_blocks(&d->items.at[i].side[side].uneven, &d->items.at[i].blocks, mean);
        d->items.at[i].blocks = empty;
    }
    diff_uneven_blocks(&d->total[side].uneven, &d->blocks, mean);
    d->blocks = empty;
    memset(d->threads, 0, THREADS * sizeof(*d->threads));
    d->clock = (struct diff_clock){0};
}

int spe_diff_end_side(struct spe_diff *d, unsigned side, struct spe_profile *profile)
{
    struct side *s = &d->side[side];
    const struct spe_profile_counts *counts;
    const struct spe_profile_info *info;
    double interval;

    if (!profile) {
        s->exact = true;
        s->runs += 1.0;
        return SPE_OK;
    }
    info = spe_profile_info(profile);
    counts = spe_profile_counts(profile);
    interval = spe_profile_interval(profile);
    s->sampled = true;
    s->known = (1u << SPE_DIFF_QUANTITIES) - 1;
    if (interval > 0.0) {
        s->runs += 1.0 / interval;
        s->operations += interval * (double)counts->rows;
    }
    if (info->timed)
        s->seconds += (double)(counts->last_ns - counts->first_ns) * 1e-9;
    if (sum_up(d, side, profile) < 0)
        return SPE_ERR_NOMEM;
    end_blocks(d, side);
    return SPE_OK;
}

int spe_diff_add_exact(struct spe_diff *d, unsigned side, const char *dso, const char *function,
                       unsigned known, const uint64_t counts[SPE_DIFF_QUANTITIES])
{
    char plain[STRING_MAX + 1] = "";
    struct sums sums = {0};
    struct item name, *item;

    if (d->config.by != SPE_BY_DSO)
        plain_function(function, plain);
    memcpy(sums.count, counts, sizeof(sums.count));
    name.dso = strings_add(&d->strings, dso);
    name.function = strings_add(&d->strings, plain);
    name.line = strings_add(&d->strings, "");
    if (name.dso == NONE || name.function == NONE || name.line == NONE)
        return SPE_ERR_NOMEM;
    item = take_item(d, &name);
    if (!item)
        return SPE_ERR_NOMEM;
    d->side[side].exact = true;
    d->side[side].known = known & ~(1u << LATENCY);
    sums_add(&item->side[side], &sums);
    sums_add(&d->total[side], &sums);
    return SPE_OK;
}

/* ---- a program of another name --------------------------------------------------------------- */

static bool is_empty(const struct sums *s)
{
    return s->count[SPE_DIFF_OPERATIONS] == 0;
}

/* On which sides the files of these items are: bits by string. NULL without memory. */
static uint8_t *sides_of_files(const struct spe_diff *d)
{
    uint8_t *sides = calloc((size_t)d->strings.count + 1, 1);

    for (size_t i = 0; sides && i < d->items.count; i++) {
        const struct item *item = &d->items.at[i];

        for (unsigned side = 0; side < 2; side++)
            sides[item->dso] |= (uint8_t)(is_empty(&item->side[side]) ? 0 : 1u << side);
    }
    return sides;
}

/* The one file that is on this side only; NONE if there is none, or several. [kernel] and the like
 * are not programs. */
static uint32_t lonely_file(const struct spe_diff *d, const uint8_t *sides, unsigned side)
{
    uint32_t found = NONE;

    for (uint32_t i = 0; i < d->strings.count; i++) {
        const char *name = strings_at(&d->strings, i);

        if (sides[i] != 1u << side || name[0] == '[' || !name[0])
            continue;
        if (found != NONE)
            return NONE;
        found = i;
    }
    return found;
}

/* If each side has exactly one file that the other does not have, they are the program before and
 * after: the items of the second go to those of the first. */
static int join_programs(struct spe_diff *d)
{
    uint8_t *sides = sides_of_files(d);
    uint32_t old, new_;
    size_t count = d->items.count;

    if (!sides)
        return SPE_ERR_NOMEM;
    old = lonely_file(d, sides, 0);
    new_ = lonely_file(d, sides, 1);
    free(sides);
    if (old == NONE || new_ == NONE)
        return SPE_OK;
    d->result.program[0] = strings_at(&d->strings, old);
    d->result.program[1] = strings_at(&d->strings, new_);
    for (size_t i = 0; i < count; i++) {
        struct item name = d->items.at[i], *item;

        if (name.dso != new_)
            continue;
        name.dso = old;
        item = take_item(d, &name);
        if (!item)
            return SPE_ERR_NOMEM;
        sums_add(&item->side[1], &d->items.at[i].side[1]);
        memset(&d->items.at[i].side[1], 0, sizeof(d->items.at[i].side[1]));
    }
    return SPE_OK;
}

/* ---- changes --------------------------------------------------------------------------------- */

static double operations_of_function(const struct spe_diff *d, unsigned side)
{
    double operations = 0.0;

    for (size_t i = 0; i < d->items.count; i++) {
        const struct item *item = &d->items.at[i];

        if (strcmp(strings_at(&d->strings, item->function), d->config.function) == 0)
            operations += (double)item->side[side].count[SPE_DIFF_OPERATIONS];
    }
    return operations;
}

static int find_work(struct spe_diff *d)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct side *side = &d->side[i];
        struct diff_work *work = &d->work[i];

        switch (d->config.per) {
        case SPE_PER_OPERATION:
            *work = (struct diff_work){(double)d->total[i].count[SPE_DIFF_OPERATIONS], -1.0};
            break;
        case SPE_PER_RUN:
            *work = (struct diff_work){side->runs, 0.0};
            break;
        case SPE_PER_TIME: /* samples by seconds and operations by sample */
            *work = (struct diff_work){side->operations > 0.0
                                           ? side->seconds *
                                                 (double)d->total[i].count[SPE_DIFF_OPERATIONS] /
                                                 side->operations
                                           : 0.0,
                                       0.0};
            break;
        case SPE_PER_FUNCTION:
            *work = (struct diff_work){operations_of_function(d, i), 1.0};
            break;
        }
        if (!(work->units > 0.0))
            return SPE_ERR_UNKNOWN;
        d->result.work[i] = work->units;
    }
    return SPE_OK;
}

static struct moments moments_of(const struct sums *s, unsigned q)
{
    double count = (double)s->count[q];

    if (q == LATENCY)
        return (struct moments){{count, (double)s->squares, s->cubes, s->fourths}};
    return (struct moments){{count, count, count, count}};
}

static void exact_change(const struct spe_diff *d, const struct sums side[2], unsigned q,
                         struct spe_change *c)
{
    double ratio;

    c->before = (double)side[0].count[q] / d->work[0].units;
    c->after = (double)side[1].count[q] / d->work[1].units;
    ratio = c->before > 0.0 ? c->after / c->before : c->after > 0.0 ? INFINITY : 1.0;
    c->ratio = (struct spe_interval){ratio, ratio};
    c->p = 0.0;
    c->tested = true;
    c->significant = c->before < c->after || c->before > c->after;
}

static void latency_change(const struct spe_diff *d, const struct sums side[2],
                           struct spe_change *c)
{
    struct moments moments[2] = {moments_of(&side[0], LATENCY), moments_of(&side[1], LATENCY)};
    const uint64_t samples[2] = {side[0].timed, side[1].timed};
    const struct diff_uneven uneven[2] = {side[0].uneven, side[1].uneven};

    if (d->side[0].parallel || d->side[1].parallel)
        diff_change_uneven(c, moments, d->work, samples, uneven);
    else
        diff_change(c, moments, d->work, samples[0] + samples[1]);
}

static void change_row(const struct spe_diff *d, const struct sums side[2],
                       struct spe_diff_row *row)
{
    for (unsigned i = 0; i < 2; i++)
        row->samples[i] = d->result.exact ? 0 : side[i].count[SPE_DIFF_OPERATIONS];
    for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        struct moments moments[2] = {moments_of(&side[0], q), moments_of(&side[1], q)};

        if (!(d->result.known >> q & 1))
            continue;
        if (d->result.exact)
            exact_change(d, side, q, &row->changes[q]);
        else if (q == LATENCY)
            latency_change(d, side, &row->changes[q]);
        else
            diff_change(&row->changes[q], moments, d->work, side[0].count[q] + side[1].count[q]);
    }
}

static int make_rows(struct spe_diff *d)
{
    d->rows = calloc(d->items.count ? d->items.count : 1, sizeof(*d->rows));
    if (!d->rows)
        return SPE_ERR_NOMEM;
    for (size_t i = 0; i < d->items.count; i++) {
        const struct item *item = &d->items.at[i];
        struct spe_diff_row *row = &d->rows[d->result.row_count];

        if (is_empty(&item->side[0]) && is_empty(&item->side[1]))
            continue;
        row->dso = strings_at(&d->strings, item->dso);
        row->function = strings_at(&d->strings, item->function);
        row->line = strings_at(&d->strings, item->line);
        change_row(d, item->side, row);
        d->result.row_count++;
    }
    d->result.rows = d->rows;
    d->result.total = &d->whole;
    d->whole.dso = d->whole.function = d->whole.line = "";
    change_row(d, d->total, &d->whole);
    return SPE_OK;
}

static size_t take_tests(const struct spe_diff_row *row, double *p, size_t n)
{
    for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        if (row->changes[q].tested)
            p[n++] = row->changes[q].p;
    }
    return n;
}

static void mark_row(struct spe_diff *d, struct spe_diff_row *row, double threshold)
{
    for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        struct spe_change *c = &row->changes[q];

        if (!d->result.exact)
            c->significant = c->tested && c->p <= threshold;
        row->significant |= c->significant;
        d->result.significant += c->significant;
    }
}

static int mark_significant(struct spe_diff *d)
{
    double *p = calloc((d->result.row_count + 1) * SPE_DIFF_QUANTITIES, sizeof(*p)), threshold;
    size_t n;

    if (!p)
        return SPE_ERR_NOMEM;
    n = take_tests(&d->whole, p, 0);
    for (size_t i = 0; i < d->result.row_count; i++)
        n = take_tests(&d->rows[i], p, n);
    d->result.tests = n;
    threshold = diff_threshold(p, n);
    mark_row(d, &d->whole, threshold);
    for (size_t i = 0; i < d->result.row_count; i++) {
        mark_row(d, &d->rows[i], threshold);
        d->result.row_significant += d->rows[i].significant;
    }
    free(p);
    return SPE_OK;
}

static double size_of(const struct spe_change *c)
{
    return fabs(c->after - c->before);
}

static int by_weight(const void *left, const void *right)
{
    const struct spe_diff_row *a = left, *b = right;
    double rest[2] = {0.0, 0.0}, x[3], y[3];
    int order;

    if (a->significant != b->significant)
        return a->significant ? -1 : 1;
    for (unsigned q = SPE_DIFF_LOADS; q < SPE_DIFF_QUANTITIES; q++) {
        rest[0] += size_of(&a->changes[q]);
        rest[1] += size_of(&b->changes[q]);
    }
    x[0] = size_of(&a->changes[LATENCY]), y[0] = size_of(&b->changes[LATENCY]);
    x[1] = size_of(&a->changes[SPE_DIFF_OPERATIONS]);
    y[1] = size_of(&b->changes[SPE_DIFF_OPERATIONS]);
    x[2] = rest[0], y[2] = rest[1];
    for (unsigned i = 0; i < 3; i++) {
        if (x[i] > y[i] || x[i] < y[i])
            return x[i] > y[i] ? -1 : 1;
    }
    order = strcmp(a->function, b->function);
    order = order ? order : strcmp(a->dso, b->dso);
    return order ? order : strcmp(a->line, b->line);
}

int spe_diff_finish(struct spe_diff *d)
{
    struct spe_diff_result *r = &d->result;
    int error;

    if ((d->side[0].exact || d->side[1].exact) && (d->side[0].sampled || d->side[1].sampled))
        return SPE_ERR_INVALID;
    r->exact = d->side[0].exact;
    r->known = d->side[0].known & d->side[1].known;
    if (!d->total[0].timed || !d->total[1].timed)
        r->known &= ~(1u << LATENCY);
    for (unsigned i = 0; i < 2; i++) {
        r->operations[i] =
            r->exact ? (double)d->total[i].count[SPE_DIFF_OPERATIONS] : d->side[i].operations;
        r->seconds[i] = d->side[i].seconds;
    }
    error = join_programs(d);
    if (error == SPE_OK)
        error = find_work(d);
    if (error == SPE_OK)
        error = make_rows(d);
    if (error == SPE_OK)
        error = mark_significant(d);
    if (error == SPE_OK)
        qsort(d->rows, r->row_count, sizeof(*d->rows), by_weight);
    return error;
}

const struct spe_diff_result *spe_diff_result(const struct spe_diff *d)
{
    return &d->result;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

bool spe_change_exceeds(const struct spe_change *c, double bound, bool below, bool percent,
                        bool exact)
{
    double difference = c->after - c->before;

    if (c->before <= 0.0) /* from nothing to something is more than any percentage */
        return !below && c->after > 0.0 && (exact || c->significant) &&
               (percent || c->after > bound);
    if (!exact) /* the end of the interval that is nearer to no change decides */
        difference = c->before * ((below ? c->ratio.high : c->ratio.low) - 1.0);
    if (percent)
        difference = 100.0 * difference / c->before;
    return below ? difference < bound : difference > bound;
}
