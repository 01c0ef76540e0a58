/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "record/truth.h"

#include <specimen/analysis.h>
#include <specimen/profile.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"

const char *const truth_names[TRUTH_QUANTITIES] = {
    "operations",   "loads",     "stores",     "branches", "not_taken",
    "mispredicted", "l1_misses", "llc_misses", "walks",
};

unsigned truth_quantities(const struct record_options *options)
{
    return options->model == RECORD_MODEL_NONE ? TRUTH_BRANCHES + 1 : TRUTH_QUANTITIES;
}

/* ---- Functions by symbol -------------------------------------------------------------------- */

/* From a profile's place to a function; a key is the symbol, or the dso without one. */
struct finder {
    struct spe_profile *profile;
    struct truth *truth;
    struct hash_table table;
    VECTOR(uint64_t) keys; /* of the functions */
    uint64_t seed;
};

static uint64_t key_of(uint64_t symbol, uint32_t dso)
{
    return symbol != SPE_NO_SYMBOL ? symbol : UINT64_C(1) << 63 | dso;
}

static bool add_function(struct finder *f, uint64_t key, uint64_t symbol, uint32_t dso)
{
    struct truth *t = f->truth;
    const struct spe_profile_dso *d = spe_profile_dso(f->profile, dso);
    struct spe_profile_symbol s = {.name = ""};

    if (VECTOR_ROOM(&f->keys) < 0 ||
        vector_grow(&t->functions, &t->room, t->count, sizeof(*t->functions)) < 0 ||
        hash_table_add(&f->table, hash_number(f->seed, key), (uint32_t)t->count) < 0)
        return false;
    f->keys.at[f->keys.count++] = key;
    if (symbol != SPE_NO_SYMBOL)
        spe_profile_symbol(f->profile, symbol, &s);
    t->functions[t->count++] = (struct truth_function){
        .name = strdup(s.name[0] ? s.name : "[no symbol]"),
        .dso = strdup(d ? spe_profile_string(f->profile, d->name) : "[unknown]"),
    };
    return true;
}

/* NULL without memory. */
static struct truth_function *function_of(struct finder *f, uint64_t symbol, uint32_t dso)
{
    uint64_t key = key_of(symbol, dso), hash = hash_number(f->seed, key);
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&f->table, hash, &cursor)) != UINT32_MAX) {
        if (f->keys.at[i] == key)
            return &f->truth->functions[i];
    }
    return add_function(f, key, symbol, dso) ? &f->truth->functions[f->truth->count - 1] : NULL;
}

/* ---- Exact counts --------------------------------------------------------------------------- */

static void add_exact(struct truth_function *to, const struct wire_count *c)
{
    to->exact[TRUTH_OPERATIONS] += c->executed;
    if (c->is & WIRE_IS_LOAD)
        to->exact[TRUTH_LOADS] += c->executed;
    if (c->is & WIRE_IS_STORE)
        to->exact[TRUTH_STORES] += c->executed;
    if (c->is & WIRE_IS_BRANCH) {
        to->exact[TRUTH_BRANCHES] += c->executed;
        to->exact[TRUTH_NOT_TAKEN] += c->executed > c->taken ? c->executed - c->taken : 0;
    }
    to->exact[TRUTH_MISPREDICTED] += c->mispredicted;
    to->exact[TRUTH_L1_MISSES] += c->l1_misses;
    to->exact[TRUTH_LLC_MISSES] += c->llc_misses;
    to->exact[TRUTH_WALKS] += c->walks;
}

/* The main thread of a process, which has its maps. */
static uint32_t thread_of(const struct finder *f, uint32_t pid)
{
    for (uint32_t i = 0; i < spe_profile_thread_count(f->profile); i++) {
        const struct spe_profile_thread *t = spe_profile_thread(f->profile, i);

        if (t && t->tid == pid)
            return i;
    }
    return SPE_NO_ID;
}

static bool add_all_exact(struct finder *f, const struct record_counts *counts)
{
    uint32_t pid = 0, thread = SPE_NO_ID;

    for (size_t i = 0; i < counts->count; i++) {
        const struct record_count *c = &counts->at[i];
        struct spe_profile_place place;
        struct truth_function *function;

        if (thread == SPE_NO_ID || c->pid != pid) {
            pid = c->pid;
            thread = thread_of(f, pid);
        }
        if (spe_profile_place(f->profile, thread, c->count.time, c->count.pc, false, &place) < 0) {
            place.symbol = SPE_NO_SYMBOL;
            place.dso = SPE_NO_ID;
        }
        function = function_of(f, place.symbol, place.dso);
        if (!function)
            return false;
        add_exact(function, &c->count);
        f->truth->operations += c->count.executed;
    }
    return true;
}

/* ---- Samples -------------------------------------------------------------------------------- */

static void add_sample(struct truth_function *to, uint64_t number, uint16_t operation,
                       uint64_t events)
{
    bool memory = operation >> 8 == 1, branch = operation >> 8 == 2;
    bool is[TRUTH_QUANTITIES] = {
        [TRUTH_OPERATIONS] = true,
        [TRUTH_LOADS] = memory && !(operation & 1),
        [TRUTH_STORES] = memory && (operation & 1),
        [TRUTH_BRANCHES] = branch,
        [TRUTH_NOT_TAKEN] = events >> SPE_EVENT_NOT_TAKEN & 1,
        [TRUTH_MISPREDICTED] = events >> SPE_EVENT_MISPREDICTED & 1,
        [TRUTH_L1_MISSES] = events >> SPE_EVENT_L1D_MISS & 1,
        [TRUTH_LLC_MISSES] = events >> SPE_EVENT_LLC_MISS & 1,
        [TRUTH_WALKS] = events >> SPE_EVENT_TLB_WALK & 1,
    };

    for (unsigned q = 0; q < TRUTH_QUANTITIES; q++) {
        if (!is[q])
            continue;
        to->samples[q]++;
        to->runs[q] += to->last[q] + 1 != number;
        to->last[q] = number;
    }
}

static bool add_all_samples(struct finder *f)
{
    struct spe_rows rows;
    int result;

    while ((result = spe_profile_next(f->profile, &rows)) > 0) {
        for (size_t i = 0; i < rows.count; i++) {
            const struct spe_profile_map *map =
                rows.map[i] == SPE_NO_ID ? NULL : spe_profile_map(f->profile, rows.map[i]);
            struct truth_function *function =
                function_of(f, rows.symbol[i], map ? map->dso : SPE_NO_ID);

            if (!function)
                return false;
            add_sample(function, ++f->truth->samples, rows.op[i], rows.events[i]);
        }
    }
    return result == 0;
}

/* ---- Both ----------------------------------------------------------------------------------- */

/*
 * The interval of a share. Samples are not drawn one by one from all operations: each stretch of
 * the program has one. If a function runs in long phases it is only at their ends that a sample may
 * be one more or less. Half the sum of squared differences of neighbours measures that: it is the
 * number of runs of samples that count, which is hits x (1 - share) where they lie at random. The
 * length of stretches varies, too. Fewer surprises are as good as more samples.
 */
static struct spe_interval interval_of(uint64_t hits, uint64_t runs, uint64_t samples,
                                       double stretch)
{
    double at_random = samples ? (double)hits * (1 - (double)hits / (double)samples) : 0;
    double variance = (double)runs + at_random * stretch;
    double scale = variance > 0 && variance < at_random ? at_random / variance : 1;

    return spe_interval_of_share((uint64_t)((double)hits * scale + 0.5),
                                 (uint64_t)((double)samples * scale + 0.5));
}

/* The square of the deviation of a stretch's length, by that of its mean: 0 to 255 operations are
 * added at random (D17.3.2). */
static double stretch_of(uint64_t sampled, double operations)
{
    double mean = sampled ? operations / (double)sampled : 0;

    return mean > 0 ? 256.0 * 256.0 / 12.0 / (mean * mean) : 0;
}

/* Every sample stands for the same number of operations, whether a filter let it pass or not. */
static void estimate(struct truth *t, const struct record_summary *summary)
{
    uint64_t sampled = summary->statistics.sampled;
    double operations = (double)summary->statistics.operations;
    double stretch = stretch_of(sampled, operations);

    for (size_t i = 0; i < t->count; i++) {
        for (unsigned q = 0; q < TRUTH_QUANTITIES; q++) {
            struct truth_function *f = &t->functions[i];
            struct spe_interval share = interval_of(f->samples[q], f->runs[q], sampled, stretch);

            f->estimate[q] = sampled ? (double)f->samples[q] / (double)sampled * operations : 0;
            f->low[q] = share.low * operations;
            f->high[q] = share.high * operations;
        }
    }
}

static int by_operations(const void *a, const void *b)
{
    const struct truth_function *x = a, *y = b;

    if (x->exact[0] != y->exact[0])
        return x->exact[0] < y->exact[0] ? 1 : -1;
    return strcmp(x->name, y->name);
}

bool truth_find(const struct record_options *options, const struct record_summary *summary,
                const struct record_counts *counts, struct truth *truth, struct problem *problem)
{
    struct spe_profile_options how = SPE_PROFILE_OPTIONS;
    struct spe_profile_error error = {0};
    struct finder f = {.truth = truth, .seed = hash_seed()};
    bool good;

    memset(truth, 0, sizeof(*truth));
    how.want = SPE_WANT_SYMBOL;
    if (spe_profile_open(&f.profile, options->output, &how, &error) < 0) {
        problem_say(problem, false, options->output, "%s",
                    error.text[0] ? error.text : spe_strerror(error.code));
        return false;
    }
    good = add_all_samples(&f) && add_all_exact(&f, counts);
    truth->cycles = summary->statistics.cycles;
    if (good) {
        estimate(truth, summary);
        qsort(truth->functions, truth->count, sizeof(*truth->functions), by_operations);
    } else
        problem_say(problem, false, options->output, "%s", spe_strerror(SPE_ERR_NOMEM));
    hash_table_free(&f.table);
    free(f.keys.at);
    spe_profile_close(f.profile);
    return good;
}

void truth_free(struct truth *truth)
{
    for (size_t i = 0; i < truth->count; i++) {
        free(truth->functions[i].name);
        free(truth->functions[i].dso);
    }
    free(truth->functions);
    memset(truth, 0, sizeof(*truth));
}
