/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What chosen rows of lists have in each bin of time. As in the first pass a sample costs one
 * look-up of its instruction; which rows that counts for is found out once, and added to them when
 * the time comes to another bin. Neighbouring samples are nearly always of the same one.
 */
#include "analysis/slices.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/groups.h"
#include "analysis/latency.h"
#include "analysis/mix.h"
#include "analysis/places.h"
#include "analysis/sharing.h"
#include "analysis/times.h"
#include "base/count_of.h"
#include "base/hash.h"
#include "base/vector.h"
#include "format/clones.h"

#define BATCH RUN_MOST /* rows */
#define NO_ROW UINT16_MAX
#define PLACES_MAX 262144 /* then they are forgotten */
#define CODE_TABLES 8     /* of groups by code, and branches */
#define TASK_TABLES 4
#define WATCH_SLOTS 1024 /* a power of two, more than twice SPE_SLICE_ROWS */

_Static_assert(WATCH_SLOTS > 2 * SPE_SLICE_ROWS, "watched addresses leave room");

static const char *const count_fields[] = {
#define COUNT(name) #name,
#include "analysis/counts.def"
};
static const char *const total_fields[] = {
#define COUNT(name) #name,
#include "analysis/counts.def"
    "loads", "memory_latency", "data_latency"};
static const char *const branch_fields[] = {"samples", "mispredicted", "not_taken", "latency"};
static const char *const data_fields[] = {"samples",   "latency", "loads",
                                          "l1_misses", "shared",  "thread"};
static const char *const line_fields[] = {"travelled", "loads", "stores", "latency"};
static const char *const mix_fields[] = {"samples", "timed", "latency"};
static const char *const served_fields[] = {"loads", "timed", "latency", "max"};

enum {
    COUNTS = COUNT_OF(count_fields),
    TOTAL_LOADS = COUNTS,
    TOTAL_MEMORY_LATENCY,
    TOTAL_DATA_LATENCY
};
enum { BRANCH_SAMPLES, BRANCH_MISPREDICTED, BRANCH_NOT_TAKEN, BRANCH_LATENCY };
enum { DATA_SAMPLES, DATA_LATENCY, DATA_LOADS, DATA_MISSES, DATA_SHARED, DATA_THREAD };
enum { LINE_TRAVELLED, LINE_LOADS, LINE_STORES, LINE_LATENCY };
enum { SERVED_LOADS, SERVED_TIMED, SERVED_LATENCY, SERVED_MAX, SERVED_BINS };

_Static_assert(sizeof(struct spe_counts) == COUNTS * sizeof(uint64_t), "a count is a field");

/* One list. */
struct table {
    const char *const *names;
    size_t named, rows, fields;
    uint64_t *cells;
    enum spe_group_by by;     /* of groups */
    struct spe_group *groups; /* or NULL */
    struct spe_branch *branches;
    uint32_t last_id; /* of a task, and its row */
    uint16_t last_row;
    bool has_last;
};

/* Addresses that are looked for. */
struct watch {
    struct table *table; /* or NULL */
    unsigned shift;
    uint64_t filter[64];
    uint64_t place[WATCH_SLOTS];
    uint32_t space[WATCH_SLOTS];
    uint16_t row[WATCH_SLOTS]; /* and 1; 0: free */
};

/* The rows that a place counts for. */
struct place_rows {
    uint16_t code[CODE_TABLES];
};

struct spe_slices {
    struct spe_times times; /* without bins */
    size_t bin, last_bin;   /* that is being counted; of the last row */
    struct table total, served, mix;
    struct table code[CODE_TABLES], tasks[TASK_TABLES], data_table, line_table;
    size_t code_count, task_count;
    struct watch data, lines;
    enum spe_sharing_basis basis;
    struct places places;
    VECTOR(struct place_rows) rows_of;
    VECTOR(uint32_t) touched; /* places that have counts of this bin */
    uint64_t seed;
    uint8_t class_of[OP_COUNT];
    uint16_t mix_row[OP_COUNT], mix_class_row[OP_COUNT];
    bool wants_lines;
};

/* ---- life ------------------------------------------------------------------------------------ */

static int table_init(struct spe_slices *s, struct table *t, const char *const *names, size_t named,
                      size_t fields, size_t rows)
{
    t->names = names;
    t->named = named;
    t->fields = fields;
    t->rows = rows;
    t->cells = calloc(s->times.count * rows * fields + 1, sizeof(*t->cells));
    return t->cells ? SPE_OK : SPE_ERR_NOMEM;
}

#define TABLE_INIT(s, t, names, rows)                                                              \
    table_init(s, t, names, COUNT_OF(names), COUNT_OF(names), rows)

static void table_free(struct table *t)
{
    free(t->cells);
    free(t->groups);
    free(t->branches);
}

int spe_slices_create(struct spe_slices **slices, const struct spe_times *times)
{
    struct spe_slices *s = calloc(1, sizeof(*s));

    *slices = NULL;
    if (!s)
        return SPE_ERR_NOMEM;
    s->times = *times;
    s->times.bins = NULL;
    s->seed = hash_seed();
    s->bin = SIZE_MAX;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        s->class_of[op] = (uint8_t)mix_class_of(op);
        s->mix_row[op] = s->mix_class_row[op] = NO_ROW;
    }
    if (TABLE_INIT(s, &s->total, total_fields, 1) < 0 ||
        table_init(s, &s->served, served_fields, SERVED_BINS, SERVED_BINS + SPE_LATENCY_BINS,
                   SPE_SERVED_COUNT) < 0) {
        spe_slices_destroy(s);
        return SPE_ERR_NOMEM;
    }
    *slices = s;
    return SPE_OK;
}

void spe_slices_destroy(struct spe_slices *s)
{
    if (!s)
        return;
    table_free(&s->total);
    table_free(&s->served);
    table_free(&s->mix);
    table_free(&s->data_table);
    table_free(&s->line_table);
    for (size_t i = 0; i < CODE_TABLES; i++)
        table_free(&s->code[i]);
    for (size_t i = 0; i < TASK_TABLES; i++)
        table_free(&s->tasks[i]);
    places_free(&s->places);
    free(s->rows_of.at);
    free(s->touched.at);
    free(s);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static size_t at_most(size_t count)
{
    return count < SPE_SLICE_ROWS ? count : SPE_SLICE_ROWS;
}

static void *copy(const void *from, size_t count, size_t size)
{
    void *to = malloc(count * size + 1);

    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

int spe_slices_groups(struct spe_slices *s, enum spe_group_by by, const struct spe_group *groups,
                      size_t count)
{
    bool task = spe_group_by_code(by) == SPE_BY_COUNT;
    struct table *t;

    if (by == SPE_BY_CALLER || by >= SPE_BY_FUNCTION_THREAD ||
        (task ? s->task_count == TASK_TABLES : s->code_count == CODE_TABLES))
        return SPE_ERR_INVALID;
    t = task ? &s->tasks[s->task_count++] : &s->code[s->code_count++];
    t->by = by;
    t->groups = copy(groups, at_most(count), sizeof(*groups));
    s->wants_lines |= by == SPE_BY_LINE || by == SPE_BY_FUNCTION_LINE;
    return t->groups ? TABLE_INIT(s, t, count_fields, at_most(count)) : SPE_ERR_NOMEM;
}

int spe_slices_branches(struct spe_slices *s, const struct spe_branch *branches, size_t count)
{
    struct table *t;

    if (s->code_count == CODE_TABLES)
        return SPE_ERR_INVALID;
    t = &s->code[s->code_count++];
    t->by = SPE_BY_COUNT;
    t->branches = copy(branches, at_most(count), sizeof(*branches));
    return t->branches ? TABLE_INIT(s, t, branch_fields, at_most(count)) : SPE_ERR_NOMEM;
}

static uint64_t watch_hash(uint64_t seed, uint64_t place, uint32_t space)
{
    return hash_number(seed, place ^ (uint64_t)space << 40);
}

static uint16_t *watch_find(struct watch *w, uint64_t hash, uint64_t place, uint32_t space)
{
    size_t at = hash % WATCH_SLOTS;

    while (w->row[at] && (w->place[at] != place || w->space[at] != space))
        at = (at + 1) % WATCH_SLOTS;
    w->place[at] = w->row[at] ? w->place[at] : place;
    w->space[at] = w->row[at] ? w->space[at] : space;
    return &w->row[at];
}

static void watch_add(const struct spe_slices *s, struct watch *w, uint64_t address, uint32_t space,
                      size_t row)
{
    uint64_t place = address >> w->shift;
    uint64_t hash = watch_hash(s->seed, place, space);

    w->filter[hash >> 58] |= UINT64_C(1) << (hash >> 52 & 63);
    *watch_find(w, hash, place, space) = (uint16_t)(row + 1);
}

int spe_slices_data(struct spe_slices *s, const struct spe_data *data, size_t count, unsigned shift)
{
    s->data.table = &s->data_table;
    s->data.shift = shift;
    for (size_t i = 0; i < at_most(count); i++)
        watch_add(s, &s->data, data[i].address, data[i].pid, i);
    return TABLE_INIT(s, &s->data_table, data_fields, at_most(count));
}

int spe_slices_lines(struct spe_slices *s, const struct spe_shared_line *lines, size_t count,
                     enum spe_sharing_basis basis, unsigned shift)
{
    s->lines.table = &s->line_table;
    s->lines.shift = shift;
    s->basis = basis;
    for (size_t i = 0; i < at_most(count); i++)
        watch_add(s, &s->lines, lines[i].address, lines[i].pid, i);
    return TABLE_INIT(s, &s->line_table, line_fields, at_most(count));
}

/* Which rows an operation type is of: its class and its kind. */
static void name_op(struct spe_slices *s, unsigned op, const struct spe_mix *mix, size_t count)
{
    const char *kind = mix_kind_name(mix_kind_of(op)), *class_ = mix_class_name(s->class_of[op]);
    bool in_class = false;

    for (size_t i = 0; i < count; i++) {
        if (mix[i].is_class) {
            in_class = mix[i].name == class_;
            s->mix_class_row[op] = in_class ? (uint16_t)i : s->mix_class_row[op];
        } else if (in_class && mix[i].name == kind) {
            s->mix_row[op] = (uint16_t)i;
        }
    }
}

int spe_slices_mix(struct spe_slices *s, const struct spe_mix *mix, size_t count)
{
    for (unsigned op = 0; op < OP_COUNT; op++)
        name_op(s, op, mix, count);
    return TABLE_INIT(s, &s->mix, mix_fields, count);
}

/* ---- places ---------------------------------------------------------------------------------- */

static uint64_t *cell(const struct spe_slices *s, const struct table *t, size_t row)
{
    return t->cells + (s->bin * t->rows + row) * t->fields;
}

static void add_counts(uint64_t *to, const struct spe_counts *counts)
{
    group_counts_add((struct spe_counts *)(void *)to, counts);
}

static void add_branch(uint64_t *to, const struct place *place)
{
    to[BRANCH_SAMPLES] += place->samples;
    to[BRANCH_MISPREDICTED] += place->mispredicted;
    to[BRANCH_NOT_TAKEN] += place->not_taken;
    to[BRANCH_LATENCY] += place->latency;
}

static void add_mix(struct spe_slices *s, uint16_t row, const struct place *place)
{
    uint64_t *to;

    if (row == NO_ROW || !s->mix.cells)
        return;
    to = cell(s, &s->mix, row);
    to[0] += place->samples;
    to[1] += place->timed;
    to[2] += place->latency;
}

static void add_place(struct spe_slices *s, const struct place *place,
                      const struct place_rows *rows)
{
    unsigned op = place_op(place);
    struct spe_counts counts;

    counts_of_place(place, s->class_of[op], &counts);
    add_mix(s, s->mix_class_row[op], place);
    add_mix(s, s->mix_row[op], place);
    for (size_t i = 0; i < s->code_count; i++) {
        const struct table *t = &s->code[i];

        if (rows->code[i] == NO_ROW)
            continue;
        if (t->branches)
            add_branch(cell(s, t, rows->code[i]), place);
        else
            add_counts(cell(s, t, rows->code[i]), &counts);
    }
}

/* What places have of this bin goes to the rows. */
static void end_bin(struct spe_slices *s)
{
    for (size_t i = 0; i < s->touched.count; i++) {
        struct place *place = &s->places.list[s->touched.at[i]];

        add_place(s, place, &s->rows_of.at[s->touched.at[i]]);
        place->latency = 0;
        memset(place->counts, 0, sizeof(place->counts));
    }
    s->touched.count = 0;
}

static uint16_t find_group(const struct table *t, const struct spe_group *group)
{
    for (size_t i = 0; i < t->rows; i++) {
        if (same_group(&t->groups[i], group))
            return (uint16_t)i;
    }
    return NO_ROW;
}

static uint16_t find_branch(const struct table *t, const struct place *place)
{
    for (size_t i = 0; i < t->rows; i++) {
        if (t->branches[i].pc == place->pc && t->branches[i].map == place_map(place))
            return (uint16_t)i;
    }
    return NO_ROW;
}

static void find_rows(const struct spe_slices *s, struct spe_profile *profile,
                      const struct place *place, struct place_rows *rows)
{
    uint32_t map = place_map(place), line = SPE_NO_ID;
    struct spe_group group;

    if (s->wants_lines && profile && map != SPE_NO_ID)
        line = spe_profile_find_line(profile, map, place->pc);
    for (size_t i = 0; i < s->code_count; i++) {
        const struct table *t = &s->code[i];

        if (t->branches) {
            rows->code[i] =
                s->class_of[place_op(place)] == MIX_BRANCH ? find_branch(t, place) : NO_ROW;
            continue;
        }
        name_group(profile, place, t->by, line, &group);
        rows->code[i] = find_group(t, &group);
    }
}

static int forget_places(struct spe_slices *s)
{
    end_bin(s);
    s->places.used = 0;
    s->rows_of.count = 0;
    places_drop_index(&s->places);
    return places_make_room(&s->places);
}

/* The number of a place that came for the first time; UINT32_MAX without memory. */
static uint32_t new_place(struct spe_slices *s, struct spe_profile *profile, uint64_t pc,
                          uint64_t code)
{
    uint32_t number;
    struct place *place;

    if (s->places.used == PLACES_MAX && forget_places(s) < 0)
        return UINT32_MAX;
    number = (uint32_t)s->places.used;
    if (places_make_room(&s->places) < 0 || VECTOR_ROOM(&s->rows_of) < 0)
        return UINT32_MAX;
    place = places_append(&s->places, pc, code);
    place->symbol =
        profile ? spe_profile_find_symbol(profile, place_map(place), pc) : SPE_NO_SYMBOL;
    find_rows(s, profile, place, &s->rows_of.at[s->rows_of.count++]);
    return number;
}

/* What is known of some neighbouring rows, all of one bin. */
struct batch {
    const struct spe_rows *rows;
    size_t from, count;
    uint16_t op[BATCH]; /* OP_NONE: none */
    uint64_t code[BATCH], hash[BATCH];
    uint32_t word[BATCH];
    uint8_t class_[BATCH];
};

static CLONES void prepare(const struct spe_slices *s, struct batch *b)
{
    const uint8_t *has = b->rows->has + b->from, *counters = b->rows->counters + b->from;
    const uint16_t *op = b->rows->op + b->from;
    const uint32_t *map = b->rows->map + b->from;
    const uint64_t *events = b->rows->events + b->from, *pc = b->rows->pc + b->from;
    uint64_t seed = s->places.seed;
    size_t count = b->count, i;

    for (i = 0; i < count; i++)
        b->op[i] = has[i] & SPE_HAS_OP ? op[i] & 0x3ff : OP_NONE;
    for (i = 0; i < count; i++)
        b->code[i] = place_code(map[i], b->op[i]);
    for (i = 0; i < count; i++)
        b->hash[i] = place_hash(seed, pc[i], b->code[i]);
    for (i = 0; i < count; i++)
        b->word[i] = place_word(events[i], counters[i] >> SPE_COUNTER_TOTAL & 1);
    for (i = 0; i < count; i++)
        b->class_[i] = s->class_of[b->op[i]];
}

/* Room in `touched` for a whole batch has been made. */
static CLONES int count_places(struct spe_slices *s, struct spe_profile *profile,
                               const struct batch *b)
{
    const uint64_t *pc = b->rows->pc + b->from;
    const uint16_t *total = b->rows->total + b->from;
    struct places places = s->places; /* which counting does not change */
    uint32_t *touched = s->touched.at + s->touched.count;

    for (size_t i = 0; i < b->count; i++) {
        uint32_t number = places.index[place_find(&places, b->hash[i], pc[i], b->code[i])] - 1;
        struct place *place;

        if (number == UINT32_MAX) {
            s->touched.count = (size_t)(touched - s->touched.at);
            number = new_place(s, profile, pc[i], b->code[i]);
            if (number == UINT32_MAX)
                return SPE_ERR_NOMEM;
            touched = s->touched.at + s->touched.count;
            places = s->places;
        }
        place = &places.list[number];
        *touched = number;
        touched += !place->samples;
        place_count(place, b->word[i], total[i]);
    }
    s->touched.count = (size_t)(touched - s->touched.at);
    return SPE_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void count_load(struct spe_slices *s, const struct spe_rows *rows, size_t i)
{
    uint64_t *to = cell(s, &s->served, served_row(rows, i));
    uint16_t total = rows->total[i];

    to[SERVED_LOADS]++;
    if (!(rows->counters[i] >> SPE_COUNTER_TOTAL & 1))
        return;
    to[SERVED_TIMED]++;
    to[SERVED_LATENCY] += total;
    to[SERVED_MAX] = total > to[SERVED_MAX] ? total : to[SERVED_MAX];
    to[SERVED_BINS + latency_bin_of(total)]++;
}

static void count_data(const struct spe_rows *rows, size_t i, uint64_t *to)
{
    uint64_t thread = (uint64_t)rows->thread[i] + 1;

    to[DATA_SAMPLES]++;
    to[DATA_LATENCY] += rows->total[i];
    to[DATA_LOADS] += !(rows->op[i] & 1);
    to[DATA_MISSES] += rows->events[i] >> SPE_EVENT_L1D_MISS & 1;
    to[DATA_SHARED] += from_another_cache(rows, i);
    to[DATA_THREAD] = !to[DATA_THREAD] || to[DATA_THREAD] == thread ? thread : SPE_SLICE_SEVERAL;
}

static void count_line(const struct spe_rows *rows, size_t i, enum spe_sharing_basis basis,
                       uint64_t *to)
{
    bool store = rows->op[i] & 1;

    to[LINE_TRAVELLED] += has_travelled(basis, rows->op[i], rows->level[i], rows->events[i]) & 1;
    to[LINE_LOADS] += !store;
    to[LINE_STORES] += store;
    to[LINE_LATENCY] += rows->total[i];
}

static CLONES void hash_addresses(const struct spe_slices *s, const struct watch *w,
                                  const struct batch *b, uint64_t *hash)
{
    const uint64_t *va = b->rows->va + b->from, seed = s->seed;
    const uint32_t *pid = b->rows->pid + b->from;
    size_t count = b->count;

    for (size_t i = 0; i < count; i++)
        hash[i] = watch_hash(seed, va[i] >> w->shift, space_of(va[i], pid[i]));
}

/* Those of some rows with an address that is watched, in all likelihood; returns how many. */
static size_t select_watched(const struct watch *w, const uint64_t *hash, const uint16_t *data,
                             size_t count, uint16_t *selected)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): the first are filled */
        uint64_t h = hash[data[i]];

        selected[n] = data[i];
        n += w->filter[h >> 58] >> (h >> 52 & 63) & 1;
    }
    return n;
}

static void count_watched(struct spe_slices *s, struct watch *w, const struct batch *b,
                          const uint16_t *data, size_t count)
{
    const struct spe_rows *rows = b->rows;
    uint16_t selected[BATCH];
    uint64_t hash[BATCH];

    hash_addresses(s, w, b, hash);
    count = select_watched(w, hash, data, count, selected);
    for (size_t k = 0; k < count; k++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): likewise */
        size_t i = b->from + selected[k];
        uint16_t row = *watch_find(w, hash[selected[k]], rows->va[i] >> w->shift,
                                   space_of(rows->va[i], rows->pid[i]));

        if (row && w == &s->lines)
            count_line(rows, i, s->basis, cell(s, w->table, row - 1u));
        else if (row && rows->total[i])
            count_data(rows, i, cell(s, w->table, row - 1u));
    }
}

static void find_task(struct table *t, uint32_t id)
{
    if (t->has_last && t->last_id == id)
        return;
    t->last_id = id;
    t->last_row = NO_ROW;
    t->has_last = true;
    for (size_t row = 0; row < t->rows; row++)
        t->last_row = t->groups[row].id == id ? (uint16_t)row : t->last_row;
}

static void count_tasks(struct spe_slices *s, struct table *t, const struct batch *b)
{
    const uint32_t *ids = task_ids(b->rows, t->by) + b->from;

    for (size_t from = 0, to; from < b->count; from = to) {
        for (to = from + 1; to < b->count && ids[to] == ids[from];)
            to++;
        find_task(t, ids[from]);
        if (t->last_row != NO_ROW)
            count_run((struct spe_counts *)(void *)cell(s, t, t->last_row),
                      &(struct run){b->word + from, b->class_ + from,
                                    b->rows->total + b->from + from, to - from});
    }
}

/* What all rows are together. */
static CLONES void count_total(struct spe_slices *s, const struct batch *b)
{
    const uint16_t *total = b->rows->total + b->from;
    uint64_t *to = cell(s, &s->total, 0);
    uint32_t loads = 0, latency = 0;

    for (size_t i = 0; i < b->count; i++) {
        loads += b->class_[i] == MIX_LOAD;
        latency += total[i] & -(uint32_t)(b->class_[i] <= MIX_STORE);
    }
    to[TOTAL_LOADS] += loads;
    to[TOTAL_MEMORY_LATENCY] += latency;
    count_run((struct spe_counts *)(void *)to, &(struct run){b->word, b->class_, total, b->count});
}

/* Which rows are loads, and which have an address, is found out without a branch that nobody can
 * predict. */
static CLONES void count_memory(struct spe_slices *s, const struct batch *b)
{
    const uint8_t *addresses = b->rows->addresses + b->from;
    const uint16_t *total = b->rows->total + b->from;
    size_t load_count = 0, data_count = 0, i;
    uint16_t loads[BATCH], data[BATCH];
    uint64_t latency = 0;

    for (i = 0; i < b->count; i++) {
        uint32_t has_address = (b->class_[i] <= MIX_STORE) & addresses[i] >> SPE_ADDRESS_VA;

        loads[load_count] = data[data_count] = (uint16_t)i;
        load_count += b->class_[i] == MIX_LOAD;
        data_count += has_address;
        latency += total[i] & -has_address;
    }
    cell(s, &s->total, 0)[TOTAL_DATA_LATENCY] += latency;
    for (i = 0; i < load_count; i++)
        count_load(s, b->rows, b->from + loads[i]);
    if (s->data.table)
        count_watched(s, &s->data, b, data, data_count);
    if (s->lines.table)
        count_watched(s, &s->lines, b, data, data_count);
}

static int count_batch(struct spe_slices *s, struct spe_profile *profile, struct batch *b)
{
    if (places_make_room(&s->places) < 0 || VECTOR_ROOM_FOR(&s->touched, BATCH) < 0)
        return SPE_ERR_NOMEM;
    prepare(s, b);
    if (count_places(s, profile, b) < 0)
        return SPE_ERR_NOMEM;
    count_total(s, b);
    count_memory(s, b);
    for (size_t t = 0; t < s->task_count; t++)
        count_tasks(s, &s->tasks[t], b);
    return SPE_OK;
}

/* Rows from `from` on that are in the same bin, BATCH at most. */
static size_t run_of_bin(const struct spe_slices *s, const struct spe_rows *rows, size_t from,
                         size_t bin)
{
    uint64_t start = s->times.from_ns + bin * s->times.bin_ns, ns = s->times.bin_ns;
    size_t end = rows->count - from < BATCH ? rows->count : from + BATCH, i = from + 1;

    while (i < end && time_is_within(rows, i, start, ns))
        i++;
    return i - from;
}

int spe_slices_add(struct spe_slices *s, struct spe_profile *profile, const struct spe_rows *rows)
{
    struct batch b = {.rows = rows};

    for (b.from = 0; b.from < rows->count; b.from += b.count) {
        size_t bin = time_bin_of(&s->times, rows->time_ns[b.from], &s->last_bin);

        b.count = bin == SIZE_MAX ? 1 : run_of_bin(s, rows, b.from, bin);
        if (bin == SIZE_MAX)
            continue;
        if (bin != s->bin) {
            end_bin(s);
            s->bin = bin;
        }
        if (count_batch(s, profile, &b) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

void spe_slices_finish(struct spe_slices *s)
{
    end_bin(s);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool give(const struct table *t, struct spe_slice_table *table)
{
    if (!t->cells)
        return false;
    *table = (struct spe_slice_table){t->names, t->named, t->fields, t->rows, t->cells};
    return true;
}

bool spe_slices_table(const struct spe_slices *s, enum spe_slice_kind kind, enum spe_group_by by,
                      struct spe_slice_table *table)
{
    const struct table *const single[] = {
        [SPE_SLICE_TOTAL] = &s->total,      [SPE_SLICE_SERVED] = &s->served,
        [SPE_SLICE_MIX] = &s->mix,          [SPE_SLICE_DATA] = &s->data_table,
        [SPE_SLICE_LINES] = &s->line_table,
    };

    if (kind != SPE_SLICE_GROUPS && kind != SPE_SLICE_BRANCHES)
        return give(single[kind], table);
    for (size_t i = 0; i < CODE_TABLES; i++) {
        const struct table *t = &s->code[i];

        if (t->cells &&
            (kind == SPE_SLICE_BRANCHES ? t->branches != NULL : t->groups && t->by == by))
            return give(t, table);
    }
    for (size_t i = 0; i < TASK_TABLES; i++) {
        if (kind == SPE_SLICE_GROUPS && s->tasks[i].cells && s->tasks[i].by == by)
            return give(&s->tasks[i], table);
    }
    return false;
}
