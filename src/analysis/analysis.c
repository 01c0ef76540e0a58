/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The one pass over the rows, and the answers to what it has counted. */
#include <specimen/analysis.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/callers.h"
#include "analysis/exact.h"
#include "analysis/findings.h"
#include "analysis/groups.h"
#include "analysis/heavy.h"
#include "analysis/journal.h"
#include "analysis/latency.h"
#include "analysis/lists.h"
#include "analysis/mix.h"
#include "analysis/other_calls.h"
#include "analysis/places.h"
#include "analysis/slices.h"
#include "analysis/times.h"
#include "analysis/top.h"
#include "base/sized.h"
#include "format/clones.h"

#define DATA_MEMORY (UINT64_C(64) << 20)
#define DATA_MEMORY_LEAST 8192
#define FIRST_PLACES 8192 /* of data: a near cache has them */
#define MORE_PLACES 8192  /* ... and of those that are heavy after a while */
#define HEAVY_CELLS_KEPT 256
#define JOURNAL_MEMORY (UINT64_C(2) << 20)       /* of rows that can come again ... */
#define MORE_JOURNAL_MEMORY (UINT64_C(16) << 20) /* ... and would, for more places than these: */
#define FEW_PLACES 32
#define DATA_AHEAD 8
#define BATCH RUN_MOST /* rows */
#define PC_SLOTS 524288
#define BRANCH_SLOTS 131072 /* branches that are kept when pcs are summed up */

/* Places count in 32 bits: sum them up before one can overflow. */
#define ROWS_BEFORE_SUM (UINT32_C(1) << 31)

#define IN_CODE                                                                                    \
    (1u << SPE_BY_FUNCTION | 1u << SPE_BY_LINE | 1u << SPE_BY_FUNCTION_LINE | 1u << SPE_BY_DSO |   \
     1u << SPE_BY_PC)

struct op_count {
    uint64_t samples, latency_samples, latency;
};

struct spe_analysis {
    struct spe_analysis_config config;
    uint8_t class_of[OP_COUNT];    /* enum mix_class */
    struct op_count ops[OP_COUNT]; /* of the places that have been summed up */
    uint64_t events[64];           /* samples with each of them */
    struct latency served[SPE_SERVED_COUNT];
    uint64_t untimed[SPE_SERVED_COUNT]; /* loads without a total latency */
    struct places places, branches;
    uint64_t rows_since_sum, branch_error;
    struct groups groups[SPE_BY_COUNT];
    struct spe_counts totals; /* of the places that have been summed up */
    struct exact exact;       /* data: the places that came first */
    struct journal journal;   /* ... samples of others */
    struct exact rest; /* ... their places, looked up when the journal is full, or at the end */
    struct heavy data; /* ... when there is no room for all places: instead of these three */
    uint64_t wanted;   /* rows come again: what a place must weigh at least to be of interest */
    struct kept kept;  /* for findings */
    uint64_t pairs, repeats; /* neighbouring rows; those of the same pc */
    struct times times;
    struct callers callers;
};

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_power_of_two(size_t n)
{
    return n >= 16 && (n & (n - 1)) == 0;
}

/* At first most of the memory is for samples. Only with more of them than that, places need it. The
 * few hottest places stand out; the hundredth weighs hardly more than many others, and only samples
 * that were kept save reading all of them again. */
static void divide_memory(struct spe_analysis *a)
{
    uint64_t memory = a->config.data_memory,
             most = a->config.data_top > FEW_PLACES ? MORE_JOURNAL_MEMORY : JOURNAL_MEMORY;
    size_t places = (size_t)(memory / 4 * 3 / EXACT_BYTES);

    exact_init(&a->exact, places < FIRST_PLACES ? places : FIRST_PLACES);
    a->exact.filtered = 2 * a->exact.max;
    exact_init(&a->rest, places);
    a->rest.seed = a->exact.seed;
    a->journal.memory = memory / 8 * 5;
    if (a->config.again && a->journal.memory > most)
        a->journal.memory = most;
    a->journal.shift = a->config.data_shift;
}

static size_t heavy_slots_in(uint64_t memory)
{
    size_t slots = 16;

    while (slots * 2 * 8 * EXACT_BYTES <= memory)
        slots *= 2;
    return slots;
}

static int prepare(struct spe_analysis *a)
{
    struct spe_analysis_config *config = &a->config;
    unsigned i;

    config->data_memory = config->data_memory ? config->data_memory : DATA_MEMORY;
    config->pc_slots = config->pc_slots ? config->pc_slots : PC_SLOTS;
    config->data_shift = config->data_shift ? config->data_shift : 6;
    if (config->data_memory < DATA_MEMORY_LEAST || !is_power_of_two(config->pc_slots) ||
        config->data_shift > 32)
        return SPE_ERR_INVALID;
    for (i = 0; i < OP_COUNT; i++)
        a->class_of[i] = (uint8_t)mix_class_of(i);
    for (i = 0; i < SPE_SERVED_COUNT; i++) {
        if (latency_prepare(&a->served[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    if ((config->findings && kept_init(&a->kept) < 0) ||
        (config->time && times_init(&a->times) < 0))
        return SPE_ERR_NOMEM;
    divide_memory(a);
    return SPE_OK;
}

int spe_analysis_create(struct spe_analysis **analysis, const struct spe_analysis_config *config)
{
    struct spe_analysis_config own = {0};
    struct spe_analysis *a;
    int error;

    *analysis = NULL;
    if (!sized_take(&own, sizeof(own), config, config->size))
        return SPE_ERR_INVALID;
    a = calloc(1, sizeof(*a));
    if (!a)
        return SPE_ERR_NOMEM;
    a->config = own;
    error = prepare(a);
    if (error < 0) {
        spe_analysis_destroy(a);
        return error;
    }
    *analysis = a;
    return SPE_OK;
}

void spe_analysis_destroy(struct spe_analysis *a)
{
    unsigned i;

    if (!a)
        return;
    for (i = 0; i < SPE_SERVED_COUNT; i++)
        latency_free(&a->served[i]);
    for (i = 0; i < SPE_BY_COUNT; i++)
        groups_free(&a->groups[i]);
    places_free(&a->places);
    places_free(&a->branches);
    exact_free(&a->exact);
    exact_free(&a->rest);
    journal_free(&a->journal);
    heavy_free(&a->data);
    kept_free(&a->kept);
    times_free(&a->times);
    callers_free(&a->callers);
    free(a);
}

/* ---- groupings ------------------------------------------------------------------------------- */

enum { TASK_KINDS = 4 }; /* that pairs have */

enum spe_group_by spe_group_by_code(enum spe_group_by by)
{
    static const enum spe_group_by codes[] = {SPE_BY_FUNCTION, SPE_BY_LINE, SPE_BY_DSO};

    if (by >= SPE_BY_FUNCTION_THREAD && by < SPE_BY_COUNT)
        return codes[(by - SPE_BY_FUNCTION_THREAD) / TASK_KINDS];
    return by < SPE_BY_COUNT && IN_CODE >> by & 1 ? by : SPE_BY_COUNT;
}

enum spe_group_by spe_group_by_task(enum spe_group_by by)
{
    static const enum spe_group_by tasks[TASK_KINDS] = {SPE_BY_THREAD, SPE_BY_PROCESS, SPE_BY_COMM,
                                                        SPE_BY_CPU};

    if (by >= SPE_BY_FUNCTION_THREAD && by < SPE_BY_COUNT)
        return tasks[(by - SPE_BY_FUNCTION_THREAD) % TASK_KINDS];
    return by < SPE_BY_COUNT && !(IN_CODE >> by & 1) ? by : SPE_BY_COUNT;
}

/* ---- summing up instructions ----------------------------------------------------------------- */

static uint32_t dso_of_map(struct spe_profile *profile, uint32_t map)
{
    const struct spe_profile_map *m =
        profile && map != SPE_NO_ID ? spe_profile_map(profile, map) : NULL;

    return m ? m->dso : SPE_NO_ID;
}

uint64_t address_in_file(struct spe_profile *profile, uint32_t map, uint64_t pc)
{
    const struct spe_profile_map *m =
        profile && map != SPE_NO_ID ? spe_profile_map(profile, map) : NULL;
    const struct spe_profile_dso *dso = m ? spe_profile_dso(profile, m->dso) : NULL;
    uint64_t address;

    if (!dso || dso->kernel || dso->state == SPE_DSO_ANONYMOUS)
        return pc;
    address = spe_profile_find_address(profile, map, pc);
    return address != UINT64_MAX ? address : pc - m->start + m->page_offset;
}

/* What a place is called in a grouping. Unknown lines are grouped by function, and unknown
 * functions by DSO. */
void name_group(struct spe_profile *profile, const struct place *place, unsigned by, uint32_t line,
                struct spe_group *group)
{
    uint32_t dso = place->symbol != SPE_NO_SYMBOL ? (uint32_t)(place->symbol >> 32)
                                                  : dso_of_map(profile, place_map(place));

    group->id = SPE_NO_ID;
    group->address = by == SPE_BY_PC ? address_in_file(profile, place_map(place), place->pc) : 0;
    group->dso = dso;
    group->line = by == SPE_BY_LINE || by == SPE_BY_FUNCTION_LINE ? line : SPE_NO_ID;
    group->symbol = by == SPE_BY_DSO ? SPE_NO_SYMBOL : place->symbol;
    if (by == SPE_BY_LINE && line != SPE_NO_ID) {
        group->symbol = SPE_NO_SYMBOL;
        group->dso = SPE_NO_ID;
    }
}

void counts_of_place(const struct place *place, enum mix_class class_, struct spe_counts *counts)
{
    uint32_t memory = -(uint32_t)(class_ <= MIX_STORE), branch = -(uint32_t)(class_ == MIX_BRANCH);

    *counts = (struct spe_counts){
        .samples = place->samples,
        .timed = place->timed,
        .latency = place->latency,
        .memory = place->samples & memory,
        .branches = place->samples & branch,
        .l1_misses = place->l1_misses & memory,
        .llc_misses = place->llc_misses & memory,
        .tlb_walks = place->tlb_walks & memory,
        .mispredicted = place->mispredicted & branch,
    };
}

static void count_op(struct op_count *count, const struct place *place)
{
    count->samples += place->samples;
    count->latency_samples += place->timed;
    count->latency += place->latency;
}

/* Those without a misprediction too: one may come later, and its rate is of all samples. */
static int add_branch(struct spe_analysis *a, const struct place *place)
{
    struct place branch = *place;

    branch.code = place_code(place_map(place), 0);
    branch.first_op = place_op(place);
    return places_add(&a->branches, &branch);
}

static int sum_up_place(struct spe_analysis *a, struct spe_profile *profile,
                        const struct place *place)
{
    unsigned lines = 1u << SPE_BY_LINE | 1u << SPE_BY_FUNCTION_LINE, by;
    struct spe_group group;
    uint32_t map = place_map(place), line = SPE_NO_ID;
    uint16_t op = place_op(place);

    if (a->config.by & lines && profile && map != SPE_NO_ID)
        line = spe_profile_find_line(profile, map, place->pc);
    memset(&group, 0, sizeof(group));
    counts_of_place(place, a->class_of[op], &group.counts);
    count_op(&a->ops[op], place);
    group_counts_add(&a->totals, &group.counts);
    for (by = 0; by < SPE_BY_COUNT; by++) {
        if (!(a->config.by & IN_CODE & 1u << by))
            continue;
        name_group(profile, place, by, line, &group);
        if (groups_add(&a->groups[by], &group) < 0)
            return SPE_ERR_NOMEM;
    }
    return group.counts.branches ? add_branch(a, place) : SPE_OK;
}

static int sum_up_places(struct spe_analysis *a, struct spe_profile *profile)
{
    size_t i;

    places_drop_index(&a->places); /* which takes memory, and nobody looks anything up now */
    for (i = 0; i < a->places.used; i++) {
        if (sum_up_place(a, profile, &a->places.list[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    a->places.used = 0;
    a->rows_since_sum = 0;
    if (a->branches.used > BRANCH_SLOTS)
        a->branch_error += places_keep_mispredicted(&a->branches, BRANCH_SLOTS / 2);
    return SPE_OK;
}

static int make_room_for_place(struct spe_analysis *a, struct spe_profile *profile)
{
    if (a->places.used == a->config.pc_slots && sum_up_places(a, profile) < 0)
        return SPE_ERR_NOMEM;
    return places_make_room(&a->places);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What the passes over some rows share. */
struct batch {
    struct spe_profile *profile;
    const struct spe_rows *rows;
    size_t from, count;   /* rows */
    uint16_t op[BATCH];   /* OP_NONE: none */
    uint64_t code[BATCH]; /* place_code */
    uint64_t place_hash[BATCH];
    uint32_t word[BATCH];    /* place_word */
    uint8_t class_[BATCH];   /* enum mix_class */
    uint64_t rest_of_events; /* of any row, without the low 16 */
};

static CLONES void prepare_batch(const struct spe_analysis *a, struct batch *b)
{
    const uint8_t *has = b->rows->has + b->from, *counters = b->rows->counters + b->from;
    const uint16_t *op = b->rows->op + b->from;
    const uint32_t *map = b->rows->map + b->from;
    const uint64_t *events = b->rows->events + b->from, *pc = b->rows->pc + b->from;
    uint64_t all = 0, seed = a->places.seed;
    size_t count = b->count, i;

    for (i = 0; i < count; i++)
        b->op[i] = has[i] & SPE_HAS_OP ? op[i] & 0x3ff : OP_NONE;
    for (i = 0; i < count; i++)
        b->code[i] = place_code(map[i], b->op[i]);
    for (i = 0; i < count; i++)
        b->place_hash[i] = place_hash(seed, pc[i], b->code[i]);
    for (i = 0; i < count; i++) {
        b->word[i] = place_word(events[i], counters[i] >> SPE_COUNTER_TOTAL & 1);
        all |= events[i];
    }
    for (i = 0; i < count; i++)
        b->class_[i] = a->class_of[b->op[i]];
    b->rest_of_events = all >> 16;
}

/* The place of a row that is the first of its place. */
static struct place *new_place(struct spe_analysis *a, const struct batch *b, size_t i)
{
    const struct spe_rows *rows = b->rows;
    size_t row = b->from + i;
    struct place *place;

    if (make_room_for_place(a, b->profile) < 0)
        return NULL;
    place = places_append(&a->places, rows->pc[row], b->code[i]);
    place->symbol = rows->symbol ? rows->symbol[row]
                    : b->profile ? spe_profile_find_symbol(b->profile, rows->map[row], place->pc)
                                 : SPE_NO_SYMBOL;
    return place;
}

static CLONES int count_places(struct spe_analysis *a, const struct batch *b)
{
    const uint64_t *pc = b->rows->pc + b->from;
    const uint16_t *total = b->rows->total + b->from;
    struct places places = a->places; /* which counting does not change */
    size_t count = b->count, i;

    for (i = 0; i < count; i++) {
        uint32_t found = places.index[place_find(&places, b->place_hash[i], pc[i], b->code[i])];
        struct place *place = found ? &places.list[found - 1] : new_place(a, b, i);

        if (!place)
            return SPE_ERR_NOMEM;
        if (!found)
            places = a->places;
        place_count(place, b->word[i], total[i]);
    }
    return SPE_OK;
}

/*
 * How often each bit of a byte of the events is set, in up to 127 rows. Of eight copies of the byte
 * one after the other, copy 7 - i leaves its bit i; these bits are 7 places apart, so that sums of
 * such numbers have the count of bit i from place 56 - 7 i on.
 */
static CLONES uint64_t sum_of_bits(const uint64_t *events, size_t count, unsigned first)
{
    const uint64_t copies = UINT64_C(0x0101010101010101), bits = UINT64_C(0x0102040810204080);
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < count; i++)
        sum += (events[i] >> first & 0xff) * copies & bits;
    return sum;
}

static void count_events(struct spe_analysis *a, const struct batch *b)
{
    const uint64_t *events = b->rows->events + b->from;
    unsigned first, bit, end = b->rest_of_events ? 64 : 16;
    size_t left, count;

    for (left = b->count; left; left -= count, events += count) {
        count = left < 120 ? left : 120;
        for (first = 0; first < end; first += 8) {
            uint64_t sum = sum_of_bits(events, count, first);

            for (bit = 0; bit < 8; bit++)
                a->events[first + bit] += sum >> (56 - 7 * bit) & 0x7f;
        }
    }
}

static void count_load(struct spe_analysis *a, const struct spe_rows *rows, size_t i)
{
    unsigned served = served_row(rows, i);

    if (rows->counters[i] >> SPE_COUNTER_TOTAL & 1)
        latency_add(&a->served[served], rows->total[i]);
    else
        a->untimed[served]++;
}

/* One sample of a key. Its weight has been added. */
static void count_key(struct heavy_counts *counts, const struct spe_rows *rows, size_t i,
                      unsigned shift)
{
    uint32_t thread = rows->thread[i];

    counts->thread = counts->samples == 1 ? thread : counts->thread;
    counts->loads += !(rows->op[i] & 1);
    counts->misses += rows->events[i] >> SPE_EVENT_L1D_MISS & 1;
    counts->several |= counts->thread != thread;
    counts->shared += from_another_cache(rows, i);
    heavy_vote(counts, (uint32_t)(rows->va[i] & ((UINT64_C(1) << shift) - 1)), rows->total[i]);
}

static void count_data(struct spe_analysis *a, const struct spe_rows *rows, size_t i, uint64_t hash)
{
    uint64_t va = rows->va[i];
    struct heavy_counts *counts = heavy_add_hashed(&a->data, hash, va >> a->config.data_shift,
                                                   space_of(va, rows->pid[i]), rows->total[i]);

    if (counts)
        count_key(counts, rows, i, a->config.data_shift);
}

static CLONES void hash_data(const struct batch *b, unsigned shift, uint64_t *hash)
{
    const uint64_t *va = b->rows->va + b->from;
    const uint32_t *pid = b->rows->pid + b->from;
    size_t count = b->count, i;

    for (i = 0; i < count; i++)
        hash[i] = heavy_hash(va[i] >> shift, space_of(va[i], pid[i]));
}

/* Whether the table has a key is what nobody can predict: rows are first told apart by what it has
 * before them. Cells are in no near cache: they are asked for ahead. */
static CLONES void count_heavy_data(struct spe_analysis *a, const struct batch *b,
                                    const uint16_t *with_data, size_t n)
{
    uint16_t known[BATCH], others[BATCH];
    size_t n_known = 0, n_others = 0, i;
    uint64_t hash[BATCH];

    hash_data(b, a->config.data_shift, hash);
    for (i = 0; i < n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the first n are filled */
        uint16_t row = with_data[i];
        bool may_be = heavy_may_have(&a->data, hash[row]);

        known[n_known] = others[n_others] = row;
        n_known += may_be;
        n_others += !may_be;
    }
    for (i = 0; i < n_known; i++)
        count_data(a, b->rows, b->from + known[i], hash[known[i]]);
    for (i = 0; i < n_others; i++) {
        uint16_t row = others[i];

        heavy_prefetch(&a->data, hash[others[i + DATA_AHEAD < n_others ? i + DATA_AHEAD : i]]);
        if (!heavy_absorb(&a->data, hash[row], b->rows->total[b->from + row]))
            count_data(a, b->rows, b->from + row, hash[row]);
    }
}

static void pour_keys(struct heavy *to, struct exact *from)
{
    size_t i;

    for (i = 0; i < from->count; i++)
        heavy_add_counts(to, from->keys[i].place, &from->keys[i].counts, from->keys[i].weight);
    exact_free(from);
}

static void pour_key(struct heavy *to, const struct exact_key *key)
{
    heavy_add_counts(to, key->place, &key->counts, key->weight);
}

/* Go on with the heaviest only. */
static int pour_data(struct spe_analysis *a)
{
    size_t run = 0, i;

    if (a->data.sets)
        return SPE_OK;
    if (heavy_init(&a->data, heavy_slots_in(a->config.data_memory)) < 0)
        return SPE_ERR_NOMEM;
    pour_keys(&a->data, &a->exact);
    pour_keys(&a->data, &a->rest);
    for (i = 0; i < a->journal.count; i++) {
        struct exact_key key = journal_key(&a->journal, i, &run);

        pour_key(&a->data, &key);
    }
    journal_free(&a->journal);
    return SPE_OK;
}

/* Look up entries of the journal, some at a time from its end, whose place can have the weight.
 * Those that have been are gone, unless others were left out. False if there is no room for all. */
static bool look_up_entries(struct spe_analysis *a, size_t n, size_t left, uint64_t weight,
                            size_t *run)
{
    struct journal *j = &a->journal;
    struct exact_key key[BATCH];
    uint64_t hash[BATCH];
    size_t k;

    for (k = 0; k < n; k++) {
        key[k] = journal_key(j, left - 1 - k, run);
        hash[k] = exact_hash(a->exact.seed, key[k].place, key[k].counts.space);
        if (*journal_cell(j, hash[k]) >= weight)
            exact_prefetch(&a->rest, hash[k]);
    }
    for (k = 0; k < n; k++) {
        if (*journal_cell(j, hash[k]) >= weight && !exact_add(&a->rest, &key[k]))
            return false;
        j->count = weight ? j->count : left - 1 - k;
    }
    return true;
}

static int empty_journal(struct spe_analysis *a, uint64_t weight)
{
    size_t left = journal_reaches(&a->journal, weight) ? a->journal.count : 0, run = 0, n;

    for (; left; left -= n) {
        n = left < BATCH ? left : BATCH;
        if (exact_make_room(&a->rest, n) < 0)
            return SPE_ERR_NOMEM;
        if (look_up_entries(a, n, left, weight, &run))
            continue;
        if (weight) /* nothing was there before, and all entries still are */
            exact_free(&a->rest);
        return pour_data(a);
    }
    journal_free(&a->journal);
    a->journal.memory = a->config.data_memory / 16;
    return SPE_OK;
}

/* What the journal keeps of the rows of a batch. Masks instead of truth: the compiler vectorises
 * these. */
static CLONES void pack_data(const struct batch *b, uint64_t *restrict packed)
{
    const uint64_t *va = b->rows->va + b->from, *events = b->rows->events + b->from;
    const uint64_t peers = SPE_LEVEL_REMOTE_CACHE - SPE_LEVEL_PEER_CORE;
    const uint8_t *level = b->rows->level + b->from;
    size_t count = b->count, i;

    for (i = 0; i < count; i++) {
        uint64_t op = b->op[i], beyond = level[i] - (uint64_t)SPE_LEVEL_PEER_CORE;
        uint64_t shared = events[i] >> SPE_EVENT_MODIFIED | events[i] >> SPE_EVENT_SNOOPED;

        shared = (shared & 1) * JOURNAL_SHARED;
        shared |= -(uint64_t)(beyond <= peers) & JOURNAL_SHARED;
        packed[i] = (va[i] & UINT64_MAX >> 8) | (~op & 1) * JOURNAL_LOAD |
                    (events[i] >> SPE_EVENT_L1D_MISS & 1) * JOURNAL_MISS | shared;
    }
}

static CLONES void hash_exact_data(const struct batch *b, uint64_t seed, unsigned shift,
                                   uint64_t *hash)
{
    const uint64_t *va = b->rows->va + b->from;
    const uint32_t *pid = b->rows->pid + b->from;
    size_t count = b->count, i;

    for (i = 0; i < count; i++)
        hash[i] = exact_hash(seed, va[i] >> shift, space_of(va[i], pid[i]));
}

/* A place that is among the first, or becomes one of them; false if it is neither. */
static bool count_first_place(struct spe_analysis *a, const struct spe_rows *rows, size_t i,
                              uint64_t hash)
{
    uint64_t place = rows->va[i] >> a->config.data_shift;
    size_t number = exact_find(&a->exact, hash, place, space_of(rows->va[i], rows->pid[i]));
    struct exact_key *key;

    if (number == SIZE_MAX)
        return false;
    key = &a->exact.keys[number];
    key->weight += rows->total[i];
    key->counts.samples++;
    count_key(&key->counts, rows, i, a->config.data_shift);
    return true;
}

static void write_data(struct journal *j, const struct batch *b, const uint16_t *others, size_t n,
                       const uint64_t *hash)
{
    const uint32_t *pid = b->rows->pid + b->from, *thread = b->rows->thread + b->from;
    const uint16_t *total = b->rows->total + b->from;
    struct journal own = *j; /* which its own entries cannot change, as far as the compiler knows */
    uint64_t packed[BATCH];
    size_t i;

    pack_data(b, packed);
    for (i = 0; i < n; i++) {
        uint16_t row = others[i];

        journal_run(&own, pid[row], thread[row]);
        journal_add(&own, hash[row], packed[row], total[row]);
    }
    *j = own;
}

static void weigh_data(struct journal *j, const uint16_t *others, size_t n, const uint64_t *hash,
                       const uint16_t *total)
{
    size_t i;

    for (i = 0; i < n; i++)
        journal_weigh(j, hash[others[i]], total[others[i]]);
}

/* Whether a place is among the first is what nobody can predict: rows are told apart by it before,
 * as far as one look tells. */
static CLONES void count_exact_data(struct spe_analysis *a, const struct batch *b,
                                    const uint16_t *with_data, size_t n)
{
    const uint16_t *total = b->rows->total + b->from;
    bool full = a->exact.count == a->exact.max;
    uint16_t first[BATCH], others[BATCH];
    size_t n_first = 0, n_others = 0, i;
    uint64_t hash[BATCH];

    hash_exact_data(b, a->exact.seed, a->config.data_shift, hash);
    for (i = 0; i < n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the first n are filled */
        uint16_t row = with_data[i];
        bool may_be = !full | exact_may_have(&a->exact, hash[row]);

        first[n_first] = others[n_others] = row;
        n_first += may_be;
        n_others += !may_be;
        a->exact.total += total[row];
    }
    for (i = 0; i < n_first; i++) {
        if (!count_first_place(a, b->rows, b->from + first[i], hash[first[i]]))
            others[n_others++] = first[i];
    }
    if (a->journal.cells_only)
        weigh_data(&a->journal, others, n_others, hash, total);
    else
        write_data(&a->journal, b, others, n_others, hash);
}

/* All entries of some cells become places that are counted as those that came first are. Nothing
 * was left out of them so far, and nothing will be. */
static void promote_entries(struct spe_analysis *a, uint32_t weight)
{
    uint64_t heavy[JOURNAL_CELLS / 64] = {0}, total = a->exact.total;
    struct journal *j = &a->journal;
    size_t run = 0, i;

    for (i = 0; i < JOURNAL_CELLS; i++)
        heavy[i / 64] |= (uint64_t)(j->cells[i] >= weight && j->cells[i] != UINT32_MAX) << i % 64;
    for (i = 0; i < j->count; i++) {
        struct exact_key key = journal_key(j, i, &run);
        uint64_t hash = exact_hash(a->exact.seed, key.place, key.counts.space);
        uint32_t *cell = journal_cell(j, hash);

        if (heavy[(cell - j->cells) / 64] >> (cell - j->cells) % 64 & 1 &&
            exact_add(&a->exact, &key))
            *cell -= (uint32_t)key.weight;
    }
    a->exact.total = total; /* which had them all */
}

/* The journal is full, and the rows can come again: places that are heavy by now stay so, as a
 * rule, and are counted from now on. Of the others it is enough to know what they can weigh. */
static int end_journal(struct spe_analysis *a)
{
    size_t more = a->exact.max < MORE_PLACES ? a->exact.max : MORE_PLACES;

    a->exact.max += more;
    if (exact_make_room(&a->exact, more) < 0)
        return SPE_ERR_NOMEM;
    promote_entries(a, journal_heaviest(&a->journal, HEAVY_CELLS_KEPT));
    a->exact.max = a->exact.count;
    journal_keep_cells(&a->journal);
    return SPE_OK;
}

/* Room for n samples, of whatever places they are; or the table of the heaviest. */
static int make_room_for_data(struct spe_analysis *a, size_t n)
{
    if (a->journal.count && journal_is_full(&a->journal, n)) {
        int error = a->config.again ? end_journal(a) : empty_journal(a, 0);

        if (error < 0)
            return error;
    }
    if (a->data.sets)
        return SPE_OK;
    return exact_make_room(&a->exact, n) < 0 ? SPE_ERR_NOMEM : journal_make_room(&a->journal, n);
}

static int count_all_data(struct spe_analysis *a, const struct batch *b, const uint16_t *with_data,
                          size_t n)
{
    if (!n)
        return SPE_OK;
    if (!a->data.sets && make_room_for_data(a, n) < 0)
        return SPE_ERR_NOMEM;
    if (a->data.sets)
        count_heavy_data(a, b, with_data, n);
    else
        count_exact_data(a, b, with_data, n);
    return SPE_OK;
}

const uint32_t *task_ids(const struct spe_rows *rows, enum spe_group_by task)
{
    switch (task) {
    case SPE_BY_THREAD:
        return rows->thread;
    case SPE_BY_PROCESS:
        return rows->pid;
    case SPE_BY_COMM:
        return rows->comm;
    default:
        return rows->cpu;
    }
}

/* The function that called the row's. */
static int name_caller_group(struct spe_analysis *a, struct spe_profile *profile,
                             const struct spe_rows *rows, size_t i, struct spe_group *group)
{
    uint32_t stack = rows->stack ? rows->stack[i] : SPE_NO_ID;
    const struct stack_of whose = {rows->thread[i], rows->time_ns[i]};
    const struct caller *caller;
    struct spe_profile_call call;

    group->symbol = SPE_NO_SYMBOL;
    group->dso = group->line = SPE_NO_ID;
    group->id = stack == SPE_NO_ID ? SPE_CALLER_UNKNOWN : SPE_CALLER_NOBODY;
    if (stack == SPE_NO_ID && rows->symbol && spe_profile_info(profile)->other_stacks) {
        group->symbol = rows->symbol[i]; /* shared out when all samples are known */
        group->dso = dso_of_row(profile, rows, i);
        group->id = CALLER_OF;
    }
    if (stack == SPE_NO_ID || spe_profile_call(profile, stack, &call) < 0)
        return SPE_OK;
    caller = callers_find(&a->callers, profile, &whose, stack, call.address);
    if (!caller)
        return SPE_ERR_NOMEM;
    group->symbol = caller->symbol;
    group->dso = caller->dso;
    group->id = SPE_CALLER_FUNCTION;
    return SPE_OK;
}

/* One row in a grouping by who ran it, or a pair with it. */
static void name_task_group(struct spe_profile *profile, const struct spe_rows *rows, size_t i,
                            enum spe_group_by by, struct spe_group *group)
{
    enum spe_group_by code = spe_group_by_code(by);

    group->symbol = SPE_NO_SYMBOL;
    group->dso = group->line = SPE_NO_ID;
    if (code != SPE_BY_COUNT) {
        struct place place = {.pc = rows->pc[i],
                              .code = place_code(rows->map[i], 0),
                              .symbol = rows->symbol ? rows->symbol[i] : SPE_NO_SYMBOL};

        name_group(profile, &place, code, rows->line ? rows->line[i] : SPE_NO_ID, group);
    }
    group->id = task_ids(rows, spe_group_by_task(by))[i];
}

void count_row(struct spe_counts *counts, const struct spe_rows *rows, size_t i,
               enum mix_class class_)
{
    unsigned memory = class_ <= MIX_STORE, branch = class_ == MIX_BRANCH;
    uint64_t events = rows->events[i];

    counts->samples++;
    counts->timed += rows->counters[i] >> SPE_COUNTER_TOTAL & 1;
    counts->latency += rows->total[i];
    counts->memory += memory;
    counts->branches += branch;
    counts->l1_misses += events >> SPE_EVENT_L1D_MISS & memory;
    counts->llc_misses += events >> SPE_EVENT_LLC_MISS & memory;
    counts->tlb_walks += events >> SPE_EVENT_TLB_WALK & memory;
    counts->mispredicted += events >> SPE_EVENT_MISPREDICTED & branch;
}

static CLONES void add_run(struct spe_counts *counts, const struct run *run)
{
    uint32_t timed = 0, latency = 0, memory = 0, branches = 0, l1 = 0, llc = 0, tlb = 0, wrong = 0;

    for (size_t i = 0; i < run->count; i++) {
        uint32_t word = run->word[i], data = run->class_[i] <= MIX_STORE;
        uint32_t branch = run->class_[i] == MIX_BRANCH;

        timed += word >> 16;
        latency += run->total[i];
        memory += data;
        branches += branch;
        l1 += word >> SPE_EVENT_L1D_MISS & data;
        llc += word >> SPE_EVENT_LLC_MISS & data;
        tlb += word >> SPE_EVENT_TLB_WALK & data;
        wrong += word >> SPE_EVENT_MISPREDICTED & branch;
    }
    group_counts_add(counts, &(struct spe_counts){run->count, timed, latency, memory, branches, l1,
                                                  llc, tlb, wrong});
}

/* Clones are chosen by a symbol that the compiler does not hide: only a static one stays ours. */
void count_run(struct spe_counts *counts, const struct run *run)
{
    add_run(counts, run);
}

struct spe_counts counts_of_row(const struct spe_rows *rows, size_t i)
{
    unsigned op = rows->has[i] & SPE_HAS_OP ? rows->op[i] & 0x3ff : OP_NONE;
    struct spe_counts counts = {.samples = 0};

    count_row(&counts, rows, i, mix_class_of(op));
    return counts;
}

/* Groupings by who ran it, and by nothing else. */
#define BY_TASK (1u << SPE_BY_THREAD | 1u << SPE_BY_PROCESS | 1u << SPE_BY_COMM | 1u << SPE_BY_CPU)

/* A batch in one of them. Neighbouring rows are mostly of the same task, which is looked up once.
 */
static int count_task(struct spe_analysis *a, const struct batch *b, enum spe_group_by by)
{
    const uint32_t *ids = task_ids(b->rows, by) + b->from;
    size_t i, end;

    for (i = 0; i < b->count; i = end) {
        struct spe_group key = {
            .symbol = SPE_NO_SYMBOL, .dso = SPE_NO_ID, .line = SPE_NO_ID, .id = ids[i]};

        for (end = i + 1; end < b->count && ids[end] == key.id;)
            end++;
        count_run(&key.counts,
                  &(struct run){b->word + i, b->class_ + i, b->rows->total + b->from + i, end - i});
        if (groups_add(&a->groups[by], &key) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

/* One row in the other groupings that are not of code alone. */
static int count_pairs(struct spe_analysis *a, struct spe_profile *profile,
                       const struct spe_rows *rows, size_t i, enum mix_class class_)
{
    unsigned left = a->config.by & ~(IN_CODE | BY_TASK), by;
    struct spe_group key = {.address = 0};

    for (; left; left &= left - 1) {
        struct spe_counts *counts;

        by = (unsigned)__builtin_ctz(left);
        if (by != SPE_BY_CALLER)
            name_task_group(profile, rows, i, by, &key);
        else if (name_caller_group(a, profile, rows, i, &key) < 0)
            return SPE_ERR_NOMEM;
        counts = groups_counts(&a->groups[by], &key);
        if (!counts)
            return SPE_ERR_NOMEM;
        count_row(counts, rows, i, class_);
    }
    return SPE_OK;
}

/* Which rows are loads, and which have data, is first found out without a branch that nobody can
 * predict. */
static CLONES int count_memory(struct spe_analysis *a, const struct batch *b)
{
    const uint16_t *total = b->rows->total + b->from;
    const uint8_t *addresses = b->rows->addresses + b->from;
    uint16_t loads[BATCH], with_data[BATCH];
    size_t count = b->count, n_loads = 0, n_data = 0, i;

    for (i = 0; i < count; i++) {
        loads[n_loads] = with_data[n_data] = (uint16_t)i;
        n_loads += b->class_[i] == MIX_LOAD;
        n_data += (b->class_[i] <= MIX_STORE) & (total[i] != 0) & addresses[i] >> SPE_ADDRESS_VA;
    }
    for (i = 0; i < n_loads; i++)
        count_load(a, b->rows, b->from + loads[i]);
    return a->config.data ? count_all_data(a, b, with_data, n_data) : SPE_OK;
}

/* The rows of a batch that have data. */
static CLONES size_t rows_with_data(const struct spe_analysis *a, const struct batch *b,
                                    uint16_t *with_data)
{
    const uint8_t *has = b->rows->has + b->from, *addresses = b->rows->addresses + b->from;
    const uint16_t *op = b->rows->op + b->from, *total = b->rows->total + b->from;
    size_t count = b->count, n = 0, i;

    for (i = 0; i < count; i++) {
        unsigned class_ = a->class_of[has[i] & SPE_HAS_OP ? op[i] & 0x3ff : OP_NONE];

        with_data[n] = (uint16_t)i;
        n += (class_ <= MIX_STORE) & (total[i] != 0) & addresses[i] >> SPE_ADDRESS_VA;
    }
    return n;
}

/* A row, for the second time, whose place can be of interest: one that is not among the first. */
static int count_again(struct spe_analysis *a, const struct spe_rows *rows, size_t i, uint64_t hash)
{
    uint64_t place = rows->va[i] >> a->config.data_shift;
    uint32_t space = space_of(rows->va[i], rows->pid[i]);
    size_t number;

    if (exact_has(&a->exact, hash, place, space))
        return SPE_OK;
    number = a->data.sets ? SIZE_MAX : exact_find(&a->rest, hash, place, space);
    if (number != SIZE_MAX) {
        struct exact_key *key = &a->rest.keys[number];

        key->weight += rows->total[i];
        key->counts.samples++;
        count_key(&key->counts, rows, i, a->config.data_shift);
        return SPE_OK;
    }
    if (!a->data.sets) {
        if (heavy_init(&a->data, heavy_slots_in(a->config.data_memory)) < 0)
            return SPE_ERR_NOMEM;
        pour_keys(&a->data, &a->rest);
    }
    count_data(a, rows, i, heavy_hash(place, space));
    return SPE_OK;
}

static int add_data_again(struct spe_analysis *a, const struct batch *b)
{
    uint16_t with_data[BATCH];
    uint64_t hash[BATCH];
    size_t n = rows_with_data(a, b, with_data), i;

    hash_exact_data(b, a->exact.seed, a->config.data_shift, hash);
    if (!a->data.sets && exact_make_room(&a->rest, n) < 0)
        return SPE_ERR_NOMEM;
    for (i = 0; i < n; i++) {
        uint16_t row = with_data[i];

        if (*journal_cell(&a->journal, hash[row]) >= a->wanted &&
            count_again(a, b->rows, b->from + row, hash[row]) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

int spe_analysis_add_data(struct spe_analysis *a, const struct spe_rows *rows)
{
    struct spe_rows own;
    struct batch b;

    rows = sized_view(&own, sizeof(own), rows, rows->size);
    if (!rows || !a->journal.cells_only)
        return SPE_ERR_INVALID;
    b.profile = NULL;
    b.rows = rows;
    for (b.from = 0; b.from < rows->count; b.from += b.count) {
        b.count = rows->count - b.from < BATCH ? rows->count - b.from : BATCH;
        if (add_data_again(a, &b) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static CLONES uint64_t count_repeats(const uint64_t *pc, size_t count)
{
    uint64_t repeats = 0;
    size_t i;

    for (i = 1; i < count; i++)
        repeats += pc[i] == pc[i - 1];
    return repeats;
}

static void add_extras(struct spe_analysis *a, const struct spe_rows *rows)
{
    if (a->config.findings && rows->count) {
        kept_add(&a->kept, rows);
        a->pairs += rows->count - 1;
        a->repeats += count_repeats(rows->pc, rows->count);
    }
    if (a->config.time)
        times_add(&a->times, rows);
}

static int add_batch(struct spe_analysis *a, struct batch *b)
{
    unsigned left;
    size_t i;

    prepare_batch(a, b);
    if (count_places(a, b) < 0)
        return SPE_ERR_NOMEM;
    count_events(a, b);
    if (count_memory(a, b) < 0)
        return SPE_ERR_NOMEM;
    for (left = a->config.by & BY_TASK; left; left &= left - 1) {
        if (count_task(a, b, (unsigned)__builtin_ctz(left)) < 0)
            return SPE_ERR_NOMEM;
    }
    for (i = 0; a->config.by & ~(IN_CODE | BY_TASK) && i < b->count; i++) {
        if (count_pairs(a, b->profile, b->rows, b->from + i, b->class_[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

int spe_analysis_add(struct spe_analysis *a, struct spe_profile *profile,
                     const struct spe_rows *rows)
{
    struct spe_rows own;
    struct batch b;

    rows = sized_view(&own, sizeof(own), rows, rows->size);
    if (!rows)
        return SPE_ERR_INVALID;
    b.profile = profile;
    b.rows = rows;
    add_extras(a, rows);
    a->rows_since_sum += rows->count;
    if (a->rows_since_sum > ROWS_BEFORE_SUM && sum_up_places(a, profile) < 0)
        return SPE_ERR_NOMEM;
    if (places_make_room(&a->places) < 0)
        return SPE_ERR_NOMEM;
    for (b.from = 0; b.from < rows->count; b.from += b.count) {
        int error;

        b.count = rows->count - b.from < BATCH ? rows->count - b.from : BATCH;
        error = add_batch(a, &b);
        if (error < 0)
            return error;
    }
    return SPE_OK;
}

/* ---- merging --------------------------------------------------------------------------------- */

static int merge_places(struct places *to, const struct places *from)
{
    size_t i;

    for (i = 0; i < from->used; i++) {
        if (places_add(to, &from->list[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static void merge_tables(struct spe_analysis *a, const struct spe_analysis *from)
{
    unsigned i;

    for (i = 0; i < OP_COUNT; i++) {
        a->ops[i].samples += from->ops[i].samples;
        a->ops[i].latency_samples += from->ops[i].latency_samples;
        a->ops[i].latency += from->ops[i].latency;
    }
    for (i = 0; i < 64; i++)
        a->events[i] += from->events[i];
    for (i = 0; i < SPE_SERVED_COUNT; i++)
        a->untimed[i] += from->untimed[i];
}

/* A key that comes behind all others. */
static int add_key(struct spe_analysis *a, const struct exact_key *key)
{
    if (!a->data.sets) {
        if (exact_make_room(&a->exact, 1) < 0 || exact_make_room(&a->rest, 1) < 0)
            return SPE_ERR_NOMEM;
        if (exact_add(&a->exact, key) || exact_add(&a->rest, key))
            return SPE_OK;
        if (pour_data(a) < 0)
            return SPE_ERR_NOMEM;
    }
    pour_key(&a->data, key);
    return SPE_OK;
}

static int add_keys(struct spe_analysis *a, const struct exact *from)
{
    size_t i;

    for (i = 0; i < from->count; i++) {
        if (add_key(a, &from->keys[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static int merge_data(struct spe_analysis *a, const struct spe_analysis *from)
{
    uint64_t total = a->exact.total + from->exact.total;
    size_t run = 0, i;

    if (from->data.sets && pour_data(a) < 0)
        return SPE_ERR_NOMEM;
    if (add_keys(a, &from->exact) < 0 || add_keys(a, &from->rest) < 0)
        return SPE_ERR_NOMEM;
    for (i = 0; i < from->journal.count; i++) {
        struct exact_key key = journal_key(&from->journal, i, &run);

        if (add_key(a, &key) < 0)
            return SPE_ERR_NOMEM;
    }
    if (from->data.sets)
        heavy_merge(&a->data, &from->data);
    a->exact.total = total;
    return SPE_OK;
}

int spe_analysis_merge(struct spe_analysis *a, const struct spe_analysis *from,
                       struct spe_profile *profile)
{
    unsigned i;

    if (a->config.again || from->config.again)
        return SPE_ERR_INVALID;
    merge_tables(a, from);
    for (i = 0; i < SPE_SERVED_COUNT; i++) {
        if (latency_merge(&a->served[i], &from->served[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    for (i = 0; i < SPE_BY_COUNT; i++) {
        if (groups_merge(&a->groups[i], &from->groups[i]) < 0)
            return SPE_ERR_NOMEM;
    }
    group_counts_add(&a->totals, &from->totals);
    if (a->config.findings)
        kept_merge(&a->kept, &from->kept);
    a->pairs += from->pairs;
    a->repeats += from->repeats;
    if (a->config.time)
        times_merge(&a->times, &from->times);
    if (a->config.data && merge_data(a, from) < 0)
        return SPE_ERR_NOMEM;
    a->branch_error += from->branch_error;
    if (merge_places(&a->branches, &from->branches) < 0)
        return SPE_ERR_NOMEM;
    if (a->rows_since_sum + from->rows_since_sum > ROWS_BEFORE_SUM && sum_up_places(a, profile) < 0)
        return SPE_ERR_NOMEM;
    a->rows_since_sum += from->rows_since_sum;
    if (merge_places(&a->places, &from->places) < 0)
        return SPE_ERR_NOMEM;
    return a->places.used > a->config.pc_slots ? sum_up_places(a, profile) : SPE_OK;
}

static int exact_order(const void *left, const void *right, void *user)
{
    const struct exact_key *a = left, *b = right;

    (void)user;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->counts.space != b->counts.space)
        return a->counts.space < b->counts.space ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* The weight below which a place is not among those that are wanted, as far as those say that came
 * first: 0 if they do not, or SPE_ERR_NOMEM. */
static int64_t least_wanted(const struct spe_analysis *a)
{
    size_t n = a->config.data_top, i;
    struct top top = {.size = sizeof(struct exact_key), .n = n, .order = exact_order};
    int64_t least;

    if (!n || n > a->exact.count || a->rest.count)
        return 0;
    top.elements = calloc(n, top.size);
    if (!top.elements)
        return SPE_ERR_NOMEM;
    for (i = 0; i < a->exact.count; i++)
        top_offer(&top, &a->exact.keys[i]);
    least = (int64_t)((struct exact_key *)top.elements)[0].weight; /* the last of them */
    free(top.elements);
    return least;
}

int spe_analysis_wants_data(struct spe_analysis *a)
{
    int64_t least = a->journal.cells_only ? least_wanted(a) : 0;

    if (least < 0)
        return SPE_ERR_NOMEM;
    a->wanted = (uint64_t)least;
    return a->journal.cells_only && journal_reaches(&a->journal, a->wanted);
}

int spe_analysis_finish(struct spe_analysis *a, struct spe_profile *profile)
{
    int64_t least = a->journal.count ? least_wanted(a) : 0;

    if (a->journal.cells_only) {
        if (a->data.sets)
            pour_keys(&a->data, &a->exact);
        journal_free(&a->journal);
    }
    if (least < 0 || (a->journal.count && empty_journal(a, (uint64_t)least) < 0))
        return SPE_ERR_NOMEM;
    if (a->config.by & 1u << SPE_BY_CALLER &&
        other_calls_share_groups(&a->groups[SPE_BY_CALLER], &a->callers, profile) < 0)
        return SPE_ERR_NOMEM;
    return sum_up_places(a, profile);
}

/* ---- answers --------------------------------------------------------------------------------- */

void spe_analysis_events(const struct spe_analysis *a, uint64_t samples[64])
{
    memcpy(samples, a->events, sizeof(a->events));
}

size_t analysis_mix(const struct spe_analysis *a, struct spe_mix mix[SPE_MIX_MAX])
{
    struct spe_mix kinds[MIX_CLASSES][MIX_KINDS] = {0}, classes[MIX_CLASSES] = {0};
    unsigned op, class_, kind;
    size_t n = 0;

    for (op = 0; op < OP_COUNT; op++) {
        struct spe_mix *both[2] = {&classes[a->class_of[op]],
                                   &kinds[a->class_of[op]][mix_kind_of(op)]};

        for (kind = 0; kind < 2; kind++) {
            both[kind]->samples += a->ops[op].samples;
            both[kind]->latency_samples += a->ops[op].latency_samples;
            both[kind]->latency += a->ops[op].latency;
        }
    }
    for (class_ = 0; class_ < MIX_CLASSES; class_++) {
        if (!classes[class_].samples)
            continue;
        classes[class_].name = mix_class_name(class_);
        classes[class_].is_class = true;
        mix[n++] = classes[class_];
        for (kind = 0; kind < MIX_KINDS && class_ < MIX_RESERVED; kind++) {
            if (kinds[class_][kind].samples && n < SPE_MIX_MAX) {
                kinds[class_][kind].name = mix_kind_name(kind);
                mix[n++] = kinds[class_][kind];
            }
        }
    }
    return n;
}

/* Nearest first; by source before by events. */
size_t analysis_served(const struct spe_analysis *a, struct spe_served_row rows[SPE_SERVED_COUNT])
{
    size_t n = 0;
    unsigned served;

    for (served = 0; served < SPE_SERVED_COUNT; served++) {
        uint64_t loads = latency_samples(&a->served[served]) + a->untimed[served];

        if (!loads)
            continue;
        rows[n].served = (uint8_t)served;
        rows[n].by_source = served < SPE_LEVEL_COUNT;
        rows[n].loads = loads;
        latency_summary(&a->served[served], a->config.saturated_at, &rows[n].latency);
        n++;
    }
    return n;
}

void spe_analysis_latencies(const struct spe_analysis *a, unsigned served,
                            uint64_t samples[SPE_LATENCY_BINS])
{
    static const struct latency none;

    latency_bins(served < SPE_SERVED_COUNT ? &a->served[served] : &none, samples);
}

void spe_analysis_totals_sized(const struct spe_analysis *a, struct spe_counts *totals, size_t size)
{
    sized_give(totals, size, &a->totals, sizeof(a->totals));
}

size_t analysis_groups(const struct spe_analysis *a, enum spe_group_by by, enum spe_sort sort,
                       struct spe_group *top, size_t n)
{
    return groups_top(&a->groups[by], sort, top, n);
}

size_t spe_analysis_group_count(const struct spe_analysis *a, enum spe_group_by by)
{
    return a->groups[by].all.count;
}

static int branch_order(const void *left, const void *right, void *user)
{
    const struct spe_branch *a = left, *b = right;

    (void)user;
    if (a->mispredicted != b->mispredicted)
        return a->mispredicted > b->mispredicted ? -1 : 1;
    if (a->pc != b->pc)
        return a->pc < b->pc ? -1 : 1;
    return a->map < b->map ? -1 : a->map > b->map;
}

size_t analysis_branches(const struct spe_analysis *a, struct spe_branch *first, size_t n,
                         uint64_t *error)
{
    struct top top = {.elements = first, .size = sizeof(*first), .n = n, .order = branch_order};
    size_t i;

    for (i = 0; i < a->branches.used; i++) {
        const struct place *place = &a->branches.list[i];
        struct spe_branch branch = {
            .pc = place->pc,
            .symbol = place->symbol,
            .map = place_map(place),
            .op = (uint16_t)place->first_op,
            .samples = place->samples,
            .mispredicted = place->mispredicted,
            .not_taken = place->not_taken,
            .latency = place->latency,
        };

        if (place->mispredicted)
            top_offer(&top, &branch);
    }
    *error = a->branch_error;
    return top_finish(&top);
}

static int data_order(const void *left, const void *right, void *user)
{
    const struct spe_data *a = left, *b = right;

    (void)user;
    if (a->latency != b->latency)
        return a->latency > b->latency ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* All keys, of weight 0 where there is none. */
static size_t data_keys(const struct spe_analysis *a)
{
    return a->data.sets ? heavy_slots(&a->data) : a->exact.count + a->rest.count;
}

static struct heavy_key data_key_at(const struct spe_analysis *a, size_t i)
{
    const struct exact_key *key;

    if (a->data.sets)
        return heavy_key_at(&a->data, i);
    key = i < a->exact.count ? &a->exact.keys[i] : &a->rest.keys[i - a->exact.count];
    return (struct heavy_key){.weight = key->weight,
                              .place = key->place,
                              .space = key->counts.space,
                              .samples = key->counts.samples,
                              .loads = key->counts.loads,
                              .misses = key->counts.misses,
                              .thread = key->counts.thread,
                              .several = key->counts.several,
                              .shared = key->counts.shared,
                              .within = key->counts.within};
}

size_t analysis_data(const struct spe_analysis *a, struct spe_data *first, size_t n,
                     struct spe_data_summary *summary)
{
    struct top top = {.elements = first, .size = sizeof(*first), .n = n, .order = data_order};
    size_t i;

    if (a->config.data_top && n > a->config.data_top)
        top.n = a->config.data_top;
    *summary = (struct spe_data_summary){
        .shift = a->config.data_shift,
        .latency = a->data.sets && !a->config.again ? a->data.total : a->exact.total,
        .missing = heavy_error(&a->data)};
    if (a->data.sets && summary->missing < a->wanted) /* lighter places were not looked at */
        summary->missing = a->wanted;
    for (i = 0; i < data_keys(a); i++) {
        struct heavy_key key = data_key_at(a, i);
        struct spe_data data = {
            .address = key.place << a->config.data_shift,
            .hottest = key.place << a->config.data_shift | key.within,
            .pid = key.space,
            .thread = key.thread,
            .latency = key.weight,
            .error = key.error,
            .samples = key.samples,
            .loads = key.loads,
            .stores = key.samples - key.loads,
            .l1_misses = key.misses,
            .shared = key.shared,
            .several_threads = key.several,
        };

        if (key.weight)
            top_offer(&top, &data);
    }
    return top_finish(&top);
}

int analysis_findings(struct spe_analysis *a, struct spe_profile *profile,
                      struct spe_finding findings[SPE_FINDINGS_MAX])
{
    struct study study = {
        .count = a->kept.count,
        .saturated_at = a->config.saturated_at,
        .profile = profile,
        .info = profile ? spe_profile_info(profile) : NULL,
        .counts = profile ? spe_profile_counts(profile) : NULL,
        .pairs = a->pairs,
        .repeats = a->repeats,
    };
    int result;

    kept_name(&a->kept, profile);
    study.rows = a->kept.rows;
    if (study_begin(&study) < 0)
        return SPE_ERR_NOMEM;
    result = findings_of(&study, findings);
    study_end(&study);
    return result;
}

int spe_analysis_times(const struct spe_analysis *a, size_t most, struct spe_times *times)
{
    return times_show(&a->times, most, times);
}
