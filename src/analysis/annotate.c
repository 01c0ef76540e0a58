/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Counts by instruction of chosen functions. A row costs one look-up, by its map and pc; what that
 * is (which function, where in its file) is found out once for each, and so is where a branch went.
 */
#include <specimen/analysis.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/groups.h"
#include "analysis/lines.h"
#include "analysis/mix.h"
#include "analysis/narrow.h"
#include "analysis/places.h"
#include "analysis/times.h"
#include "base/hash.h"
#include "base/vector.h"
#include "format/clones.h"

#define FIRST_SEEN 4096
#define SPARSE 4 /* entries for each that is seen: nearly all are where they are looked for */
#define FIRST_COUNTED 1024
#define NOT_CHOSEN UINT32_MAX
#define ROWS_BEFORE_SUM (UINT32_C(1) << 31) /* counts of rows have 32 bits */

/* A map and a pc of the samples, and their instruction. */
struct seen {
    uint64_t pc;
    uint32_t map;
    uint32_t number; /* of the instruction, and 1; 0: the entry is free; NOT_CHOSEN */
};

/* The same of a branch and its target. */
struct seen_target {
    uint64_t to;
    uint32_t map, instruction, number;
};

struct target {
    uint32_t instruction;
    struct spe_branch_target is;
};

/* Where a branch went last, and how often since it began to. */
struct last_target {
    uint64_t to;
    uint32_t map;
    uint32_t number; /* of the target, and 1; 0: none yet */
    uint32_t samples, mispredicted;
};

/* What has been counted of an instruction since it was summed up. There may be so many of them that
 * no near cache has them all: one cache line is enough for most rows, two for nearly all others. */
struct counted {
    uint64_t total, issue, translation, execution; /* cycles ... */
    uint32_t with_total, with_issue, with_translation, with_execution;
    uint32_t samples, branches, mispredicted, not_taken;
    /* a cache line ends here */
    struct last_target last;
    uint32_t memory, loads, l1_misses, llc_misses, tlb_walks;
    uint32_t served[SPE_SERVED_COUNT];
} __attribute__((aligned(CACHE_LINE)));

_Static_assert(offsetof(struct counted, last) == CACHE_LINE, "what all rows have is a cache line");

struct spe_annotation {
    VECTOR(struct spe_code_choice) choices;
    spe_annotation_wanted *wanted; /* or NULL */
    void *user;
    struct seen *seen; /* a table of its own: every row is looked up here, inline */
    size_t mask, used;
    uint64_t seed;
    VECTOR(struct spe_instruction) instructions;
    struct counted *counted; /* of each of them */
    size_t counted_room;
    uint64_t rows_since_sum;
    struct hash_table by_address;
    VECTOR(struct seen_target) seen_targets;
    struct hash_table by_target, by_place; /* of seen_targets and targets */
    VECTOR(struct target) targets;
    VECTOR(struct spe_branch_target) listed; /* the targets, in order */
    uint64_t samples, latency;
    struct narrow narrow;
};

/* ---- life ------------------------------------------------------------------------------------ */

int spe_annotation_create(struct spe_annotation **annotation, const struct spe_code_choice *choices,
                          size_t count)
{
    struct spe_annotation *a = calloc(1, sizeof(*a));

    *annotation = a;
    if (!a)
        return SPE_ERR_NOMEM;
    a->seed = hash_seed();
    a->mask = FIRST_SEEN - 1;
    a->seen = calloc(FIRST_SEEN, sizeof(*a->seen));
    a->choices.at = calloc(count + 1, sizeof(*choices));
    if (!a->seen || !a->choices.at) {
        spe_annotation_destroy(a);
        *annotation = NULL;
        return SPE_ERR_NOMEM;
    }
    if (count)
        memcpy(a->choices.at, choices, count * sizeof(*choices));
    a->choices.count = count;
    a->choices.capacity = count + 1;
    return SPE_OK;
}

void spe_annotation_ask(struct spe_annotation *a, spe_annotation_wanted *wanted, void *user)
{
    a->wanted = wanted;
    a->user = user;
}

const struct spe_code_choice *spe_annotation_choices(const struct spe_annotation *a, size_t *count)
{
    *count = a->choices.count;
    return a->choices.at;
}

void spe_annotation_destroy(struct spe_annotation *a)
{
    if (!a)
        return;
    free(a->choices.at);
    free(a->seen);
    free(a->instructions.at);
    free(a->counted);
    hash_table_free(&a->by_address);
    free(a->seen_targets.at);
    hash_table_free(&a->by_target);
    hash_table_free(&a->by_place);
    free(a->targets.at);
    free(a->listed.at);
    narrow_free(&a->narrow);
    free(a);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* NOT_CHOSEN without memory, too: *error says so. */
static uint32_t find_choice(struct spe_annotation *a, struct spe_profile *profile, uint32_t map,
                            uint64_t pc, int *error)
{
    const struct spe_profile_map *m = map != SPE_NO_ID ? spe_profile_map(profile, map) : NULL;
    uint64_t symbol = m ? spe_profile_find_symbol(profile, map, pc) : SPE_NO_SYMBOL;
    uint32_t dso = m ? m->dso : SPE_NO_ID;

    for (size_t i = 0; i < a->choices.count; i++) {
        const struct spe_code_choice *c = &a->choices.at[i];

        if (c->symbol == symbol && (symbol != SPE_NO_SYMBOL || c->dso == dso))
            return (uint32_t)i;
    }
    if (!a->wanted || symbol == SPE_NO_SYMBOL || !a->wanted(a->user, profile, symbol))
        return NOT_CHOSEN;
    *error = VECTOR_ROOM(&a->choices);
    if (*error < 0)
        return NOT_CHOSEN;
    a->choices.at[a->choices.count] = (struct spe_code_choice){symbol, dso};
    return (uint32_t)a->choices.count++;
}

/* Of one instruction, where the mix has them of many. */
static const char *const operation_names[MIX_CLASSES] = {
    [MIX_LOAD] = "load",   [MIX_STORE] = "store",       [MIX_BRANCH] = "branch",
    [MIX_OTHER] = "other", [MIX_RESERVED] = "reserved", [MIX_NONE] = "not said",
};

static void name_operation(struct spe_instruction *insn, const struct spe_rows *rows, size_t i)
{
    unsigned op = rows->has[i] & SPE_HAS_OP ? rows->op[i] & 0x3ff : OP_NONE;

    insn->operation = operation_names[mix_class_of(op)];
    insn->kind = op == OP_NONE ? NULL : mix_kind_name(mix_kind_of(op));
}

/* For one more instruction. */
static int make_room_for_counted(struct spe_annotation *a)
{
    size_t count = a->instructions.count, room = count ? 2 * count : FIRST_COUNTED;
    struct counted *counted;

    if (count < a->counted_room)
        return SPE_OK;
    counted = aligned_alloc(CACHE_LINE, room * sizeof(*counted));
    if (!counted)
        return SPE_ERR_NOMEM;
    if (count)
        memcpy(counted, a->counted, count * sizeof(*counted));
    free(a->counted);
    a->counted = counted;
    a->counted_room = room;
    return SPE_OK;
}

/* The number of the row's instruction; NOT_CHOSEN if it is in none of the functions, or without
 * memory: *error says which. */
static uint32_t find_instruction(struct spe_annotation *a, struct spe_profile *profile,
                                 const struct spe_rows *rows, size_t i, int *error)
{
    struct spe_instruction insn = {.map = rows->map[i], .pc = rows->pc[i]};
    uint32_t choice, number;
    size_t cursor = 0;
    uint64_t hash;

    *error = SPE_OK;
    choice = find_choice(a, profile, insn.map, insn.pc, error);
    if (choice == NOT_CHOSEN)
        return NOT_CHOSEN;
    insn.choice = choice;
    insn.address = address_in_file(profile, insn.map, insn.pc);
    hash = hash_number(hash_number(a->seed, choice), insn.address);
    while ((number = hash_table_find(&a->by_address, hash, &cursor)) != UINT32_MAX) {
        const struct spe_instruction *other = &a->instructions.at[number];

        if (other->choice == choice && other->address == insn.address)
            return number;
    }
    name_operation(&insn, rows, i);
    *error = SPE_ERR_NOMEM;
    if (a->instructions.count >= NOT_CHOSEN - 1 || VECTOR_ROOM(&a->instructions) < 0 ||
        make_room_for_counted(a) < 0 ||
        hash_table_add(&a->by_address, hash, (uint32_t)a->instructions.count) < 0)
        return NOT_CHOSEN;
    *error = SPE_OK;
    a->instructions.at[a->instructions.count] = insn;
    a->counted[a->instructions.count] = (struct counted){0};
    return (uint32_t)a->instructions.count++;
}

static size_t seen_hash(uint64_t seed, uint64_t pc, uint32_t map)
{
    return (size_t)hash_number(seed, pc + map * (seed | 1));
}

static struct seen *find_seen(const struct spe_annotation *a, size_t hash, uint64_t pc,
                              uint32_t map)
{
    size_t at = hash & a->mask;

    while (a->seen[at].number && (a->seen[at].pc != pc || a->seen[at].map != map))
        at = (at + 1) & a->mask;
    return &a->seen[at];
}

static int grow_seen(struct spe_annotation *a)
{
    struct seen *old = a->seen;
    size_t entries = a->mask + 1;

    a->seen = calloc(2 * entries, sizeof(*a->seen));
    if (!a->seen) {
        a->seen = old;
        return SPE_ERR_NOMEM;
    }
    a->mask = 2 * entries - 1;
    for (size_t i = 0; i < entries; i++) {
        if (old[i].number)
            *find_seen(a, seen_hash(a->seed, old[i].pc, old[i].map), old[i].pc, old[i].map) =
                old[i];
    }
    free(old);
    return SPE_OK;
}

/* What a row's instruction is, which came for the first time. */
static int see(struct spe_annotation *a, struct spe_profile *profile, const struct spe_rows *rows,
               size_t i, uint32_t *number)
{
    int error;

    if (SPARSE * a->used > a->mask && grow_seen(a) < 0)
        return SPE_ERR_NOMEM;
    *number = find_instruction(a, profile, rows, i, &error);
    if (error < 0)
        return error;
    *number += *number != NOT_CHOSEN;
    *find_seen(a, seen_hash(a->seed, rows->pc[i], rows->map[i]), rows->pc[i], rows->map[i]) =
        (struct seen){rows->pc[i], rows->map[i], *number};
    a->used++;
    return SPE_OK;
}

/* ---- targets --------------------------------------------------------------------------------- */

/* What an address is that the row's branch went to. */
static void name_target(struct spe_profile *profile, const struct spe_rows *rows, size_t i,
                        struct spe_branch_target *target)
{
    uint64_t to = rows->target[i];
    struct spe_profile_place place;

    *target = (struct spe_branch_target){SPE_NO_ID, to, SPE_NO_SYMBOL, 0, 0, 0};
    if (spe_profile_place(profile, rows->thread[i], rows->time_ns[i], to, false, &place) != SPE_OK)
        return;
    target->dso = place.dso;
    target->symbol = place.symbol;
    target->in_symbol = place.in_symbol;
    target->address = address_in_file(profile, place.map, to);
}

static uint32_t find_target(struct spe_annotation *a, uint32_t instruction,
                            const struct spe_branch_target *is)
{
    uint64_t hash = hash_number(hash_number(a->seed, instruction), is->address ^ is->dso);
    size_t cursor = 0;
    uint32_t number;

    while ((number = hash_table_find(&a->by_place, hash, &cursor)) != UINT32_MAX) {
        const struct target *t = &a->targets.at[number];

        if (t->instruction == instruction && t->is.address == is->address && t->is.dso == is->dso)
            return number;
    }
    if (VECTOR_ROOM(&a->targets) < 0 ||
        hash_table_add(&a->by_place, hash, (uint32_t)a->targets.count) < 0)
        return UINT32_MAX;
    a->targets.at[a->targets.count] = (struct target){instruction, *is};
    return (uint32_t)a->targets.count++;
}

/* The number of the row's target, or UINT32_MAX without memory. */
static uint32_t see_target(struct spe_annotation *a, struct spe_profile *profile,
                           const struct spe_rows *rows, size_t i, uint32_t instruction)
{
    struct seen_target new = {rows->target[i], rows->map[i], instruction, 0};
    uint64_t hash =
        hash_number(hash_number(a->seed, (uint64_t)instruction << 32 | new.map), new.to);
    struct spe_branch_target is;
    size_t cursor = 0;
    uint32_t number;

    while ((number = hash_table_find(&a->by_target, hash, &cursor)) != UINT32_MAX) {
        const struct seen_target *s = &a->seen_targets.at[number];

        if (s->to == new.to && s->map == new.map && s->instruction == instruction)
            return s->number;
    }
    name_target(profile, rows, i, &is);
    new.number = find_target(a, instruction, &is);
    if (new.number == UINT32_MAX || VECTOR_ROOM(&a->seen_targets) < 0 ||
        hash_table_add(&a->by_target, hash, (uint32_t)a->seen_targets.count) < 0)
        return UINT32_MAX;
    a->seen_targets.at[a->seen_targets.count++] = new;
    return new.number;
}

static void sum_up_target(struct spe_annotation *a, struct last_target *last)
{
    if (last->number) {
        a->targets.at[last->number - 1].is.samples += last->samples;
        a->targets.at[last->number - 1].is.mispredicted += last->mispredicted;
    }
    last->samples = last->mispredicted = 0;
}

/* Most branches go where they went before. */
static int count_target(struct spe_annotation *a, struct spe_profile *profile,
                        const struct spe_rows *rows, size_t i, uint32_t instruction)
{
    struct last_target *last = &a->counted[instruction].last;

    if (!last->number || last->to != rows->target[i] || last->map != rows->map[i]) {
        uint32_t number = see_target(a, profile, rows, i, instruction);

        if (number == UINT32_MAX)
            return SPE_ERR_NOMEM;
        sum_up_target(a, last);
        *last = (struct last_target){rows->target[i], rows->map[i], number + 1, 0, 0};
    }
    last->samples++;
    last->mispredicted += rows->events[i] >> SPE_EVENT_MISPREDICTED & 1;
    return SPE_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void count_latency(struct counted *c, const struct spe_rows *rows, size_t i)
{
    unsigned counters = rows->counters[i];
    uint32_t has_total = counters >> SPE_COUNTER_TOTAL & 1,
             has_issue = counters >> SPE_COUNTER_ISSUE & 1,
             has_translation = counters >> SPE_COUNTER_TRANSLATION & 1;
    uint32_t total = has_total * rows->total[i], issue = has_issue * rows->issue[i],
             translation = has_translation * rows->translation[i], waited = issue + translation;
    uint32_t execution = has_issue && total > waited ? total - waited : 0;

    c->total += total;
    c->issue += issue;
    c->translation += translation;
    c->execution += execution;
    c->with_total += has_total;
    c->with_issue += has_issue;
    c->with_translation += has_translation;
    c->with_execution += has_total & has_issue;
}

static void count_memory(struct counted *c, const struct spe_rows *rows, size_t i)
{
    uint64_t events = rows->events[i];
    bool load = !(rows->op[i] & 1); /* D18.2.7: ST */

    c->memory++;
    c->l1_misses += events >> SPE_EVENT_L1D_MISS & 1;
    c->llc_misses += events >> SPE_EVENT_LLC_MISS & 1;
    c->tlb_walks += events >> SPE_EVENT_TLB_WALK & 1;
    c->loads += load;
    c->served[served_if(rows, i, load)] += load;
}

static int count_branch(struct spe_annotation *a, struct spe_profile *profile,
                        const struct spe_rows *rows, size_t i, uint32_t number)
{
    struct counted *c = &a->counted[number];
    bool not_taken = rows->events[i] >> SPE_EVENT_NOT_TAKEN & 1;

    c->branches++;
    c->mispredicted += rows->events[i] >> SPE_EVENT_MISPREDICTED & 1;
    c->not_taken += not_taken;
    /* D17.6.3: the target of a branch that was not taken is UNKNOWN. */
    if (not_taken || !(rows->addresses[i] >> SPE_ADDRESS_TARGET & 1))
        return SPE_OK;
    return count_target(a, profile, rows, i, number);
}

static void add_sum(struct spe_latency_sum *sum, uint32_t samples, uint64_t cycles)
{
    sum->samples += samples;
    sum->cycles += cycles;
}

static void sum_up_instruction(struct spe_instruction *insn, const struct counted *c)
{
    insn->counts.samples += c->samples;
    insn->counts.latency += c->total;
    insn->counts.memory += c->memory;
    insn->counts.branches += c->branches;
    insn->counts.l1_misses += c->l1_misses;
    insn->counts.llc_misses += c->llc_misses;
    insn->counts.tlb_walks += c->tlb_walks;
    insn->counts.mispredicted += c->mispredicted;
    insn->loads += c->loads;
    insn->not_taken += c->not_taken;
    add_sum(&insn->total, c->with_total, c->total);
    add_sum(&insn->issue, c->with_issue, c->issue);
    add_sum(&insn->translation, c->with_translation, c->translation);
    add_sum(&insn->execution, c->with_execution, c->execution);
    for (size_t i = 0; i < SPE_SERVED_COUNT; i++)
        insn->served[i] += c->served[i];
}

static void sum_up(struct spe_annotation *a)
{
    for (size_t i = 0; i < a->instructions.count; i++) {
        sum_up_instruction(&a->instructions.at[i], &a->counted[i]);
        sum_up_target(a, &a->counted[i].last);
        a->counted[i] = (struct counted){.last = a->counted[i].last};
    }
    a->rows_since_sum = 0;
}

#define BATCH 256

/* Where the rows' instructions are in the table, which is in no near cache if there are many. */
static CLONES void hash_rows(const struct spe_annotation *a, const struct spe_rows *rows,
                             size_t from, size_t count, size_t *hash)
{
    const uint64_t *pc = rows->pc + from, seed = a->seed;
    const uint32_t *map = rows->map + from;

    for (size_t i = 0; i < count; i++)
        hash[i] = seen_hash(seed, pc[i], map[i]);
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&a->seen[hash[i] & a->mask]);
}

/* Rows of chosen functions, and of their instructions the numbers. */
struct chosen {
    uint16_t row[BATCH]; /* from the first of the batch on */
    uint32_t number[BATCH];
    size_t count;
};

static void choose(struct chosen *c, size_t row, uint32_t number, bool is)
{
    c->row[c->count] = (uint16_t)row;
    c->number[c->count] = number;
    c->count += is;
}

static int find_chosen(struct spe_annotation *a, struct spe_profile *profile,
                       const struct spe_rows *rows, size_t from, size_t count, struct chosen *c)
{
    uint64_t latency = 0;
    size_t hash[BATCH];

    c->count = 0;
    hash_rows(a, rows, from, count, hash);
    for (size_t i = 0; i < count; i++) {
        size_t row = from + i;
        uint32_t number = find_seen(a, hash[i], rows->pc[row], rows->map[row])->number;

        latency += rows->total[row];
        if (!number && see(a, profile, rows, row, &number) < 0)
            return SPE_ERR_NOMEM;
        if (number != NOT_CHOSEN) {
            __builtin_prefetch(&a->counted[number - 1], 1);
            __builtin_prefetch(&a->counted[number - 1].last, 1);
        }
        choose(c, i, number - 1, number != NOT_CHOSEN);
    }
    a->latency += latency;
    return SPE_OK;
}

/* Which rows are loads and stores, and which are branches, is found out without a branch that
 * nobody can predict. */
static int add_batch(struct spe_annotation *a, struct spe_profile *profile,
                     const struct spe_rows *rows, size_t from, size_t count)
{
    struct chosen all, memory = {.count = 0}, branches = {.count = 0};
    int error = find_chosen(a, profile, rows, from, count, &all);

    if (error < 0)
        return error;
    for (size_t k = 0; k < all.count; k++) {
        size_t i = from + all.row[k];
        struct counted *c = &a->counted[all.number[k]];
        unsigned class_ = rows->has[i] & SPE_HAS_OP ? rows->op[i] >> 8 & 3 : SPE_CLASS_OTHER;

        c->samples++;
        count_latency(c, rows, i);
        choose(&memory, all.row[k], all.number[k], class_ == SPE_CLASS_LDST);
        choose(&branches, all.row[k], all.number[k], class_ == SPE_CLASS_BRANCH);
    }
    for (size_t k = 0; k < memory.count; k++)
        count_memory(&a->counted[memory.number[k]], rows, from + memory.row[k]);
    for (size_t k = 0; k < branches.count && error == SPE_OK; k++)
        error = count_branch(a, profile, rows, from + branches.row[k], branches.number[k]);
    return error;
}

int spe_annotation_add(struct spe_annotation *a, struct spe_profile *profile,
                       const struct spe_rows *rows)
{
    int error = SPE_OK;

    a->rows_since_sum += rows->count;
    if (a->rows_since_sum > ROWS_BEFORE_SUM)
        sum_up(a);
    for (size_t from = 0; from < rows->count && error == SPE_OK; from += BATCH) {
        size_t left = rows->count - from;

        error = add_batch(a, profile, rows, from, left < BATCH ? left : BATCH);
    }
    a->samples += rows->count;
    return error;
}

/* ---- which rows are needed ------------------------------------------------------------------- */

int spe_annotation_narrow(struct spe_annotation *a, struct spe_profile *profile,
                          const struct spe_rows *rows)
{
    int error = SPE_OK;

    if (!rows)
        error = narrow_start(&a->narrow, profile, a->choices.at, a->choices.count, !a->wanted);
    for (size_t i = 0; rows && i < rows->count && error == SPE_OK; i++)
        error = narrow_see(&a->narrow, profile, rows->map[i], a->wanted, a->user);
    return error == SPE_OK ? narrow_tell(&a->narrow, profile) : error;
}

int spe_annotation_widen(struct spe_annotation *a, struct spe_profile *profile)
{
    const struct spe_profile_counts *counts = spe_profile_counts(profile);

    a->samples += counts->passed;
    a->latency += counts->passed_latency;
    return spe_profile_only(profile, NULL, 0);
}

/* ---- answers --------------------------------------------------------------------------------- */

static int instruction_order(const void *left, const void *right)
{
    const struct spe_instruction *a = left, *b = right;
    int order = compare_numbers(a->choice, b->choice);

    return order ? order : compare_numbers(a->address, b->address);
}

/* By the instruction's first number, so that the targets of one are together. */
static int target_order(const void *left, const void *right)
{
    const struct target *a = left, *b = right;
    int order = compare_numbers(a->instruction, b->instruction);

    order = order ? order : compare_numbers(b->is.samples, a->is.samples);
    order = order ? order : compare_numbers(a->is.dso, b->is.dso);
    return order ? order : compare_numbers(a->is.address, b->is.address);
}

int spe_annotation_finish(struct spe_annotation *a)
{
    sum_up(a);
    if (a->targets.count)
        qsort(a->targets.at, a->targets.count, sizeof(*a->targets.at), target_order);
    for (size_t i = 0; i < a->targets.count; i++) {
        struct spe_instruction *insn = &a->instructions.at[a->targets.at[i].instruction];

        if (VECTOR_ROOM(&a->listed) < 0)
            return SPE_ERR_NOMEM;
        insn->first_target = insn->target_count ? insn->first_target : i;
        insn->target_count++;
        a->listed.at[a->listed.count++] = a->targets.at[i].is;
    }
    if (a->instructions.count)
        qsort(a->instructions.at, a->instructions.count, sizeof(*a->instructions.at),
              instruction_order);
    return SPE_OK;
}

void spe_annotation_totals(const struct spe_annotation *a, uint64_t *samples, uint64_t *latency)
{
    *samples = a->samples;
    *latency = a->latency;
}

const struct spe_instruction *spe_annotation_instructions(const struct spe_annotation *a,
                                                          size_t choice, size_t *count)
{
    const struct spe_instruction *at = a->instructions.at;
    size_t first = 0, end;

    while (first < a->instructions.count && at[first].choice < choice)
        first++;
    for (end = first; end < a->instructions.count && at[end].choice == choice;)
        end++;
    *count = end - first;
    return end > first ? &at[first] : NULL;
}

const struct spe_branch_target *spe_annotation_targets(const struct spe_annotation *a)
{
    return a->listed.at;
}

static void add_latency(struct spe_latency_sum *sum, const struct spe_latency_sum *more)
{
    sum->samples += more->samples;
    sum->cycles += more->cycles;
}

void spe_instruction_add(struct spe_instruction *sum, const struct spe_instruction *more)
{
    group_counts_add(&sum->counts, &more->counts);
    sum->loads += more->loads;
    sum->not_taken += more->not_taken;
    add_latency(&sum->total, &more->total);
    add_latency(&sum->issue, &more->issue);
    add_latency(&sum->translation, &more->translation);
    add_latency(&sum->execution, &more->execution);
    for (size_t i = 0; i < SPE_SERVED_COUNT; i++)
        sum->served[i] += more->served[i];
}

/* ---- lines ----------------------------------------------------------------------------------- */

bool spe_code_place(struct spe_profile *profile, uint32_t map, uint64_t pc,
                    struct spe_code_place *place)
{
    struct spe_profile_frame frame;
    struct spe_profile_line line;
    int count = map != SPE_NO_ID ? spe_profile_inlines(profile, map, pc, &frame, 1) : 0;

    *place = (struct spe_code_place){SPE_NO_ID, SPE_NO_ID, 0, false};
    if (count > 0) {
        *place = (struct spe_code_place){frame.function, frame.file, frame.line, count > 1};
        return frame.line != 0;
    }
    if (map == SPE_NO_ID ||
        spe_profile_line(profile, spe_profile_find_line(profile, map, pc), &line) != SPE_OK)
        return false;
    place->file = line.file;
    place->line = line.line;
    return line.line != 0;
}

static bool same_function(const struct spe_code_place *a, const struct spe_code_place *b)
{
    return a->inlined == b->inlined && (!a->inlined || a->function == b->function);
}

static int place_order(const void *left, const void *right)
{
    const struct spe_code_place *a = &((const struct spe_annotated_line *)left)->place,
                                *b = &((const struct spe_annotated_line *)right)->place;
    int order = compare_numbers(a->inlined, b->inlined);

    order = order || !a->inlined ? order : compare_numbers(a->function, b->function);
    order = order ? order : compare_numbers(a->file, b->file);
    return order ? order : compare_numbers(a->line, b->line);
}

/* Each line once; returns their number. */
static size_t sum_lines(struct spe_annotated_line *lines, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept && place_order(&lines[kept - 1], &lines[i]) == 0)
            spe_instruction_add(&lines[kept - 1].sum, &lines[i].sum);
        else
            lines[kept++] = lines[i];
    }
    return kept;
}

/* A function's lines while functions are put in order. */
struct line_block {
    size_t first, count;
    uint64_t samples;
};

static int block_order(const void *left, const void *right)
{
    const struct line_block *a = left, *b = right;
    int order = compare_numbers(b->samples, a->samples);

    return order ? order : compare_numbers(a->first, b->first);
}

/* The function's own lines stay first, inlined ones follow by their samples. */
static int order_functions(struct spe_annotated_line *lines, size_t count)
{
    struct spe_annotated_line *copy = malloc((count + 1) * sizeof(*lines));
    VECTOR(struct line_block) blocks = {0};
    size_t at = 0;

    for (size_t i = 0; copy && i < count; i++) {
        if (i == 0 || !same_function(&lines[i - 1].place, &lines[i].place)) {
            if (VECTOR_ROOM(&blocks) < 0)
                break;
            blocks.at[blocks.count++] = (struct line_block){i, 0, 0};
            if (!lines[i].place.inlined)
                blocks.at[blocks.count - 1].samples = UINT64_MAX / 2;
        }
        blocks.at[blocks.count - 1].count++;
        blocks.at[blocks.count - 1].samples += lines[i].sum.counts.samples;
        copy[i] = lines[i];
        at = i + 1;
    }
    if (at == count && copy && count) {
        qsort(blocks.at, blocks.count, sizeof(*blocks.at), block_order);
        at = 0;
        for (size_t i = 0; i < blocks.count; i++) {
            memcpy(&lines[at], &copy[blocks.at[i].first], blocks.at[i].count * sizeof(*lines));
            at += blocks.at[i].count;
        }
    }
    free(blocks.at);
    free(copy);
    return at == count ? SPE_OK : SPE_ERR_NOMEM;
}

int spe_annotation_lines(const struct spe_annotation *a, struct spe_profile *profile, size_t choice,
                         struct spe_annotated_line **lines, size_t *count)
{
    size_t instructions, n = 0;
    const struct spe_instruction *insn = spe_annotation_instructions(a, choice, &instructions);
    struct spe_annotated_line *list = calloc(instructions + 1, sizeof(*list));

    *lines = list;
    *count = 0;
    if (!list)
        return SPE_ERR_NOMEM;
    for (size_t i = 0; i < instructions; i++) {
        if (!spe_code_place(profile, insn[i].map, insn[i].pc, &list[n].place))
            continue;
        spe_instruction_add(&list[n].sum, &insn[i]);
        n++;
    }
    if (n)
        qsort(list, n, sizeof(*list), place_order);
    *count = sum_lines(list, n);
    return order_functions(list, *count);
}
