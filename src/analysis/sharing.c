/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The two passes, and what they have counted, put in order. */
#include "analysis/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/exact.h"
#include "analysis/slices.h"
#include "analysis/top.h"
#include "base/vector.h"
#include "format/clones.h"

#define MEMORY (UINT64_C(64) << 20)
#define MEMORY_LEAST 65536
#define BATCH 512
#define SPARE_LINES 10 /* that are looked at beside those that are wanted: some are refused */

/* Accesses of one thread on one CPU by one instruction at one offset of a line. */
struct access {
    uint64_t pc;
    uint32_t map, thread, cpu, line, offset;
    uint64_t samples, reads, writes, travelled, latency;
};

/* A sample, as short as it can be: the first pass keeps them while there is memory, so that the
 * rows need not be read again. */
struct note {
    uint64_t va;
    uint64_t pc_and_flags; /* flags above bit 55, from which the pc is extended */
    uint32_t pid, thread, map;
    uint16_t cpu, total;
};

#define NOTE_STORE (UINT64_C(1) << 56)
#define NOTE_TRAVELLED (UINT64_C(1) << 57)
#define NOTE_WRITES (UINT64_C(1) << 58)
#define SUBCLASS_EXTENDED_MASK 0xe2 /* of the operation's payload: 0b000xxx1x */
#define SUBCLASS_EXTENDED 0x02
#define ATOMIC 0x04
#define NOTE_NO_CPU UINT16_MAX

struct candidate {
    uint64_t place;
    uint32_t space, travelled;
};

struct spe_sharing {
    struct spe_sharing_config config;
    struct spe_sharing_result result;
    struct exact lines; /* of the first pass: those with a sample that travelled */
    struct note *notes; /* of all samples; NULL if there are too many */
    size_t note_count, note_capacity;
    bool no_notes;
    uint64_t memory;
    uint32_t thread; /* the first one */
    bool any;
    struct candidate *chosen;
    size_t chosen_count;
    struct hash_table index; /* of the second pass: chosen lines, then accesses */
    struct hash_table by_key;
    uint64_t seed;
    uint64_t filter[64]; /* bits of the chosen lines' hashes */
    VECTOR(struct access) accesses;
    size_t most_accesses;
    struct spe_shared_line *out;
    struct spe_shared_offset *offsets;
    struct spe_shared_user *users;
};

/* ---- life ------------------------------------------------------------------------------------ */

/* The event is not tried on CPUs that are known to be older: its bit may mean anything there. */
static enum spe_sharing_basis by_events(const struct spe_profile_info *info)
{
    spe_features features = info->features;
    size_t i;

    for (i = 0; i < info->cpu_count; i++)
        features |= info->cpus[i].cpu ? info->cpus[i].cpu->features : 0;
    return !features || features & SPE_FEAT(SPEv1p4) ? SPE_SHARING_SNOOPED : SPE_SHARING_MISSES;
}

enum spe_sharing_basis spe_sharing_basis_of(const struct spe_profile_info *info)
{
    size_t i;

    for (i = 0; i < info->cpu_count; i++) {
        if (info->cpus[i].cpu && info->cpus[i].cpu->sources)
            return SPE_SHARING_SOURCE;
    }
    return info->cpu && info->cpu->sources ? SPE_SHARING_SOURCE : by_events(info);
}

enum spe_sharing_basis spe_sharing_next_basis(const struct spe_sharing_result *result,
                                              const struct spe_profile_info *info)
{
    if (result->basis == SPE_SHARING_SOURCE && !result->said)
        return by_events(info);
    if (result->basis == SPE_SHARING_SNOOPED && !result->travelled)
        return SPE_SHARING_MISSES;
    return SPE_SHARING_BASIS_COUNT;
}

int spe_sharing_create(struct spe_sharing **sharing, const struct spe_sharing_config *config)
{
    uint64_t memory = config->memory ? config->memory : MEMORY;
    unsigned shift = config->shift ? config->shift : 6;
    struct spe_sharing *s;

    *sharing = NULL;
    if (config->size != sizeof(*config) || memory < MEMORY_LEAST || shift < 4 || shift > 12 ||
        config->basis >= SPE_SHARING_BASIS_COUNT || !config->top ||
        config->top > UINT32_MAX - SPARE_LINES)
        return SPE_ERR_INVALID;
    s = calloc(1, sizeof(*s));
    if (!s)
        return SPE_ERR_NOMEM;
    s->config = *config;
    s->config.shift = shift;
    s->result.basis = config->basis;
    s->result.shift = shift;
    /* One pass ends before the other begins. An access has its place in the index, and up to an
     * offset and two users in the result. */
    s->memory = memory;
    exact_init(&s->lines, (size_t)(memory / EXACT_BYTES));
    s->most_accesses =
        (size_t)(memory / (sizeof(struct access) + 16 + sizeof(struct spe_shared_offset) +
                           2 * sizeof(struct spe_shared_user)));
    s->seed = hash_seed();
    *sharing = s;
    return SPE_OK;
}

void spe_sharing_destroy(struct spe_sharing *s)
{
    if (!s)
        return;
    exact_free(&s->lines);
    hash_table_free(&s->index);
    hash_table_free(&s->by_key);
    free(s->notes);
    free(s->chosen);
    free(s->accesses.at);
    free(s->out);
    free(s->offsets);
    free(s->users);
    free(s);
}

const struct spe_sharing_result *spe_sharing_result(const struct spe_sharing *s)
{
    return &s->result;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The rows from `from` on, BATCH at most, that are loads or stores with an address; and how many
 * are without. */
static CLONES size_t rows_with_data(const struct spe_rows *rows, size_t from, size_t count,
                                    uint16_t *with_data, uint64_t *without)
{
    const uint16_t *op = rows->op + from;
    const uint8_t *has = rows->has + from, *addresses = rows->addresses + from;
    size_t memory = 0, n = 0, i;

    for (i = 0; i < count; i++) {
        unsigned is_memory = (op[i] >> 8 == SPE_CLASS_LDST) & ((has[i] & SPE_HAS_OP) != 0);

        with_data[n] = (uint16_t)i;
        n += is_memory & addresses[i] >> SPE_ADDRESS_VA;
        memory += is_memory;
    }
    *without += memory - n;
    return n;
}

/* Whether memory is written: by a store, or by an atomic, which may be a memory-reading instruction
 * as well (D18.2.7). */
static bool is_write(uint16_t op)
{
    return op & 1 || ((op & SUBCLASS_EXTENDED_MASK) == SUBCLASS_EXTENDED && op & ATOMIC);
}

static struct note note_of(const struct spe_rows *rows, size_t i, bool travelled)
{
    return (struct note){
        .va = rows->va[i],
        .pc_and_flags = (rows->pc[i] & UINT64_MAX >> 8) | (rows->op[i] & 1 ? NOTE_STORE : 0) |
                        (is_write(rows->op[i]) ? NOTE_WRITES : 0) |
                        (travelled ? NOTE_TRAVELLED : 0),
        .pid = rows->pid[i],
        .thread = rows->thread[i],
        .map = rows->map[i],
        .cpu = rows->cpu[i] < NOTE_NO_CPU ? (uint16_t)rows->cpu[i] : NOTE_NO_CPU,
        .total = rows->total[i],
    };
}

/* ---- the first pass -------------------------------------------------------------------------- */

static void note_thread(struct spe_sharing *s, uint32_t thread)
{
    s->thread = s->any ? s->thread : thread;
    s->any = true;
    s->result.several_threads |= s->thread != thread;
}

static void count_line(struct spe_sharing *s, const struct spe_rows *rows, size_t i)
{
    uint64_t place = rows->va[i] >> s->config.shift;
    uint32_t space = space_of(rows->va[i], rows->pid[i]);
    size_t number = exact_find(&s->lines, exact_hash(s->lines.seed, place, space), place, space);
    struct heavy_counts *c;

    s->result.travelled++;
    if (number == SIZE_MAX) {
        s->result.left_out++;
        return;
    }
    c = &s->lines.keys[number].counts;
    c->thread = c->samples ? c->thread : rows->thread[i];
    c->several |= c->thread != rows->thread[i];
    c->samples++;
}

static void drop_notes(struct spe_sharing *s)
{
    free(s->notes);
    s->notes = NULL;
    s->no_notes = true;
}

/* Room for n more, or they are dropped: lines come first. */
static void make_room_for_notes(struct spe_sharing *s, size_t n)
{
    size_t wanted = s->note_count + n, capacity = s->note_capacity ? s->note_capacity : 4096;
    struct note *notes;

    if (s->no_notes)
        return;
    if (wanted * sizeof(*notes) + s->lines.count * EXACT_BYTES > s->memory) {
        drop_notes(s);
        return;
    }
    while (capacity < wanted)
        capacity *= 2;
    if (capacity == s->note_capacity)
        return;
    notes = realloc(s->notes, capacity * sizeof(*notes));
    if (!notes) {
        drop_notes(s);
        return;
    }
    s->notes = notes;
    s->note_capacity = capacity;
}

static void note_all(struct spe_sharing *s, const struct spe_rows *rows, size_t from,
                     const uint16_t *with_data, size_t n)
{
    struct note *notes = s->notes + s->note_count;
    size_t i;

    for (i = 0; i < n; i++) {
        size_t row = from + with_data[i];

        notes[i] = note_of(rows, row, has_travelled(s->config.basis, rows, row));
    }
    s->note_count += n;
}

static CLONES void count_all(struct spe_sharing *s, const struct spe_rows *rows, size_t from,
                             const uint16_t *with_data, size_t n)
{
    const uint64_t said = s->config.basis == SPE_SHARING_SNOOPED
                              ? UINT64_MAX
                              : SPE_EVENT_BIT(L1D_ACCESS) | SPE_EVENT_BIT(L1D_MISS);
    struct spe_sharing_result *r = &s->result;
    size_t i;

    r->samples += n;
    for (i = 0; i < n; i++) {
        size_t row = from + with_data[i];

        r->loads += !(rows->op[row] & 1);
        r->latency += rows->total[row];
        r->said += s->config.basis == SPE_SHARING_SOURCE ? rows->level[row] != SPE_LEVEL_UNKNOWN
                                                         : (rows->events[row] & said) != 0;
    }
    for (i = 0; i < n && !r->several_threads; i++)
        note_thread(s, rows->thread[from + with_data[i]]);
    for (i = 0; i < n; i++) {
        if (has_travelled(s->config.basis, rows, from + with_data[i]))
            count_line(s, rows, from + with_data[i]);
    }
}

int spe_sharing_find(struct spe_sharing *s, const struct spe_rows *rows)
{
    uint16_t with_data[BATCH];
    size_t from, count, n;

    for (from = 0; from < rows->count; from += count) {
        count = rows->count - from < BATCH ? rows->count - from : BATCH;
        n = rows_with_data(rows, from, count, with_data, &s->result.no_address);
        if (exact_make_room(&s->lines, n) < 0)
            return SPE_ERR_NOMEM;
        count_all(s, rows, from, with_data, n);
        make_room_for_notes(s, n);
        if (s->notes)
            note_all(s, rows, from, with_data, n);
    }
    return SPE_OK;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static int candidate_order(const void *left, const void *right, void *user)
{
    const struct candidate *a = left, *b = right;

    (void)user;
    if (a->travelled != b->travelled)
        return a->travelled > b->travelled ? -1 : 1;
    if (a->space != b->space)
        return a->space < b->space ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Several threads must have been seen to miss; that one thread alone had a load served by another
 * core says that the other core had the line. */
static bool may_be_shared(const struct spe_sharing *s, const struct heavy_counts *c)
{
    return c->samples >= SPE_SHARING_LEAST && (s->config.basis != SPE_SHARING_MISSES || c->several);
}

static int index_chosen(struct spe_sharing *s)
{
    size_t i;

    for (i = 0; i < s->chosen_count; i++) {
        uint64_t hash = exact_hash(s->seed, s->chosen[i].place, s->chosen[i].space);

        s->filter[hash >> 58] |= UINT64_C(1) << (hash >> 52 & 63);
        if (hash_table_add(&s->index, hash, (uint32_t)i) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

int spe_sharing_choose(struct spe_sharing *s)
{
    struct top top = {.size = sizeof(*s->chosen), .order = candidate_order};
    size_t may_be = 0, i;

    for (i = 0; i < s->lines.count; i++)
        may_be += may_be_shared(s, &s->lines.keys[i].counts);
    top.n = may_be < s->config.top + SPARE_LINES ? may_be : s->config.top + SPARE_LINES;
    s->chosen = top.elements = calloc(top.n + 1, sizeof(*s->chosen));
    if (!s->chosen)
        return SPE_ERR_NOMEM;
    for (i = 0; i < s->lines.count; i++) {
        const struct exact_key *key = &s->lines.keys[i];
        struct candidate c = {key->place, key->counts.space, key->counts.samples};

        if (may_be_shared(s, &key->counts))
            top_offer(&top, &c);
    }
    s->chosen_count = top_finish(&top);
    s->result.seen = s->lines.count;
    s->result.too_few = s->lines.count - may_be;
    s->result.not_examined = may_be - s->chosen_count;
    exact_free(&s->lines);
    return index_chosen(s) < 0 ? SPE_ERR_NOMEM : s->notes ? 0 : 1;
}

size_t spe_sharing_candidates(const struct spe_sharing *s, struct spe_shared_line *lines, size_t n)
{
    size_t i;

    for (i = 0; i < s->chosen_count && i < n; i++)
        lines[i] = (struct spe_shared_line){.address = s->chosen[i].place << s->config.shift,
                                            .pid = s->chosen[i].space};
    return i;
}

/* ---- the second pass ------------------------------------------------------------------------- */

static uint32_t find_line(const struct spe_sharing *s, uint64_t hash, uint64_t place,
                          uint32_t space)
{
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&s->index, hash, &cursor)) != UINT32_MAX) {
        if (s->chosen[i].place == place && s->chosen[i].space == space)
            return i;
    }
    return UINT32_MAX;
}

static uint64_t access_hash(uint64_t seed, const struct access *a)
{
    const uint64_t key[] = {a->pc, (uint64_t)a->map << 32 | a->thread,
                            (uint64_t)a->cpu << 32 | a->line, a->offset};

    return hash_bytes(seed, key, sizeof(key));
}

static bool same_access(const struct access *a, const struct access *b)
{
    return a->pc == b->pc && a->map == b->map && a->thread == b->thread && a->cpu == b->cpu &&
           a->line == b->line && a->offset == b->offset;
}

/* The access with this key, new if need be. NULL if there is no memory for more: *error, or 0 if
 * the limit says so. */
static struct access *find_access(struct spe_sharing *s, const struct access *key, int *error)
{
    uint64_t hash = access_hash(s->seed, key);
    size_t cursor = 0;
    uint32_t i;

    *error = SPE_OK;
    while ((i = hash_table_find(&s->by_key, hash, &cursor)) != UINT32_MAX) {
        if (same_access(&s->accesses.at[i], key))
            return &s->accesses.at[i];
    }
    if (s->accesses.count == s->most_accesses)
        return NULL;
    if (VECTOR_ROOM(&s->accesses) < 0 ||
        hash_table_add(&s->by_key, hash, (uint32_t)s->accesses.count) < 0) {
        *error = SPE_ERR_NOMEM;
        return NULL;
    }
    s->accesses.at[s->accesses.count] = *key;
    return &s->accesses.at[s->accesses.count++];
}

static int add_access(struct spe_sharing *s, const struct note *n, uint32_t line)
{
    struct access key = {
        .pc = (uint64_t)((int64_t)(n->pc_and_flags << 8) >> 8),
        .map = n->map,
        .thread = n->thread,
        .cpu = n->cpu == NOTE_NO_CPU ? SPE_NO_CPU : n->cpu,
        .line = line,
        .offset = (uint32_t)(n->va & ((UINT64_C(1) << s->config.shift) - 1)),
    };
    int error;
    struct access *a = find_access(s, &key, &error);

    if (!a) {
        s->result.left_out++;
        return error;
    }
    a->reads += !(n->pc_and_flags & NOTE_STORE);
    a->writes += (n->pc_and_flags & NOTE_WRITES) != 0;
    a->samples++;
    a->travelled += (n->pc_and_flags & NOTE_TRAVELLED) != 0;
    a->latency += n->total;
    return SPE_OK;
}

static uint64_t hash_of(const struct spe_sharing *s, uint64_t va, uint32_t pid)
{
    return exact_hash(s->seed, va >> s->config.shift, space_of(va, pid));
}

static bool may_be_chosen(const struct spe_sharing *s, uint64_t hash)
{
    return s->filter[hash >> 58] >> (hash >> 52 & 63) & 1;
}

static int add_note(struct spe_sharing *s, const struct note *n)
{
    uint64_t place = n->va >> s->config.shift;
    uint32_t space = space_of(n->va, n->pid);
    uint32_t line = find_line(s, exact_hash(s->seed, place, space), place, space);

    return line == UINT32_MAX ? SPE_OK : add_access(s, n, line);
}

static int add_notes(struct spe_sharing *s)
{
    size_t i;

    for (i = 0; i < s->note_count; i++) {
        const struct note *n = &s->notes[i];

        if (may_be_chosen(s, hash_of(s, n->va, n->pid)) && add_note(s, n) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

/* The rows of chosen lines, as far as the filter tells. */
static CLONES size_t filter_rows(const struct spe_sharing *s, const struct spe_rows *rows,
                                 size_t from, const uint16_t *with_data, size_t n, uint16_t *left)
{
    size_t found = 0, i;

    for (i = 0; i < n; i++) {
        /* The first n are filled. */
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        size_t row = from + with_data[i];

        left[found] = with_data[i];
        found += may_be_chosen(s, hash_of(s, rows->va[row], rows->pid[row]));
    }
    return found;
}

int spe_sharing_add(struct spe_sharing *s, const struct spe_rows *rows)
{
    uint16_t with_data[BATCH], left[BATCH];
    size_t from, count, n, i;
    uint64_t without = 0; /* counted by the first pass */

    for (from = 0; from < rows->count; from += count) {
        count = rows->count - from < BATCH ? rows->count - from : BATCH;
        n = rows_with_data(rows, from, count, with_data, &without);
        n = filter_rows(s, rows, from, with_data, n, left);
        for (i = 0; i < n; i++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): likewise */
            size_t row = from + left[i];
            struct note note = note_of(rows, row, has_travelled(s->config.basis, rows, row));

            if (add_note(s, &note) < 0)
                return SPE_ERR_NOMEM;
        }
    }
    return SPE_OK;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_offset(const void *left, const void *right)
{
    const struct access *a = left, *b = right;
    int order = compare(a->line, b->line);

    return order ? order : compare(a->offset, b->offset);
}

static int by_thread(const void *left, const void *right)
{
    const struct access *a = left, *b = right;

    return compare(a->thread, b->thread);
}

static int by_cpu(const void *left, const void *right)
{
    const struct access *a = left, *b = right;

    return compare(a->cpu, b->cpu);
}

static int by_code(const void *left, const void *right)
{
    const struct access *a = left, *b = right;
    int order = compare(a->pc, b->pc);

    return order ? order : compare(a->map, b->map);
}

/* Most accesses first. */
static int by_use(const void *left, const void *right)
{
    const struct spe_shared_user *a = left, *b = right;
    int order = compare(b->samples, a->samples);

    order = order ? order : compare(a->thread, b->thread);
    order = order ? order : compare(a->pc, b->pc);
    return order ? order : compare(a->map, b->map);
}

typedef int order(const void *left, const void *right);

/* How many are different, by an order in which they are put. */
static uint32_t count_different(struct access *a, size_t n, order *by)
{
    uint32_t count = n != 0;
    size_t i;

    qsort(a, n, sizeof(*a), by);
    for (i = 1; i < n; i++)
        count += by(&a[i - 1], &a[i]) != 0;
    return count;
}

static uint32_t count_cpus(struct access *a, size_t n)
{
    uint32_t count = count_different(a, n, by_cpu);

    return n && a[n - 1].cpu == SPE_NO_CPU ? count - 1 : count; /* the greatest number of all */
}

/* Users of an offset to `users`, one for each that is different; their number. */
static size_t collect_users(struct access *a, size_t n, order *by, struct spe_shared_user *users)
{
    struct spe_shared_user *user = users;
    size_t i, count;

    qsort(a, n, sizeof(*a), by);
    for (i = 0; i < n; i++) {
        if (i && by(&a[i - 1], &a[i]))
            user++;
        user->thread = by == by_thread ? a[i].thread : SPE_NO_ID;
        user->map = by == by_thread ? SPE_NO_ID : a[i].map;
        user->pc = by == by_thread ? 0 : a[i].pc;
        user->samples += a[i].samples;
        user->reads += a[i].reads;
        user->writes += a[i].writes;
        user->travelled += a[i].travelled;
        user->latency += a[i].latency;
    }
    count = n ? (size_t)(user - users) + 1 : 0;
    qsort(users, count, sizeof(*users), by_use);
    return count;
}

static void fill_offset(struct spe_shared_offset *o, struct access *a, size_t n,
                        struct spe_shared_user **users)
{
    size_t i;

    o->offset = a->offset;
    for (i = 0; i < n; i++) {
        o->samples += a[i].samples;
        o->reads += a[i].reads;
        o->writes += a[i].writes;
        o->travelled += a[i].travelled;
        o->latency += a[i].latency;
    }
    o->cpus = count_cpus(a, n);
    o->threads = *users;
    o->thread_count = collect_users(a, n, by_thread, *users);
    *users += o->thread_count;
    o->code = *users;
    o->code_count = collect_users(a, n, by_code, *users);
    *users += o->code_count;
}

/* How many accesses from a[0] on are alike. */
static size_t run_of(const struct access *a, size_t n, bool same_offset)
{
    size_t i = 1;

    while (i < n && a[i].line == a->line && (!same_offset || a[i].offset == a->offset))
        i++;
    return i;
}

static void fill_line(const struct spe_sharing *s, struct spe_shared_line *line, struct access *a,
                      size_t n, struct spe_shared_offset **offsets, struct spe_shared_user **users)
{
    const struct candidate *c = &s->chosen[a->line];
    struct spe_shared_offset *first = *offsets;
    size_t at, run;

    *line = (struct spe_shared_line){.address = c->place << s->config.shift, .pid = c->space};
    line->threads = count_different(a, n, by_thread);
    line->cpus = count_cpus(a, n);
    qsort(a, n, sizeof(*a), by_offset);
    for (at = 0; at < n; at += run) {
        struct spe_shared_offset *o = (*offsets)++;

        run = run_of(a + at, n - at, true);
        fill_offset(o, a + at, run, users);
        line->loads += o->reads;
        line->stores += o->samples - o->reads;
        line->travelled += o->travelled;
        line->latency += o->latency;
    }
    line->travelled_of = line->loads + (s->config.basis == SPE_SHARING_MISSES ? line->stores : 0);
    line->offsets = first;
    line->offset_count = (size_t)(*offsets - first);
    line->kind = sharing_kind(line, first);
}

/*
 * Is there enough to call it shared? Two threads were seen. That a line travelled is certain where
 * records say so. Misses have other reasons too: threads must be seen to be in each other's way,
 * and the line must miss more often than other data does, with 95 % confidence.
 */
static bool is_supported(const struct spe_sharing *s, const struct spe_shared_line *line)
{
    const struct spe_sharing_result *r = &s->result;
    uint64_t samples = line->loads + line->stores, others = r->samples - samples;
    struct spe_interval share = spe_interval_of_share(line->travelled, line->travelled_of);
    double usual = others ? (double)(r->travelled - line->travelled) / (double)others : 0.0;

    if (line->threads < 2 || line->travelled < SPE_SHARING_LEAST)
        return false;
    return s->config.basis != SPE_SHARING_MISSES ||
           (line->kind != SPE_SHARING_UNCLEAR && share.low > usual);
}

static int allocate_answer(struct spe_sharing *s)
{
    size_t n = s->accesses.count;

    s->out = calloc(s->chosen_count + 1, sizeof(*s->out));
    s->offsets = calloc(n + 1, sizeof(*s->offsets));
    s->users = calloc(2 * n + 1, sizeof(*s->users));
    return s->out && s->offsets && s->users ? SPE_OK : SPE_ERR_NOMEM;
}

int spe_sharing_finish(struct spe_sharing *s)
{
    struct spe_shared_offset *offsets;
    struct spe_shared_user *users;
    size_t n, at, run, count = 0;
    struct access *a;

    if (s->notes && add_notes(s) < 0)
        return SPE_ERR_NOMEM;
    a = s->accesses.at;
    n = s->accesses.count;
    free(s->notes);
    s->notes = NULL;

    hash_table_free(&s->by_key);
    if (allocate_answer(s) < 0)
        return SPE_ERR_NOMEM;
    offsets = s->offsets;
    users = s->users;
    if (n)
        qsort(a, n, sizeof(*a), by_offset);
    for (at = 0; at < n; at += run) {
        run = run_of(a + at, n - at, false);
        fill_line(s, &s->out[count], a + at, run, &offsets, &users);
        if (!is_supported(s, &s->out[count]))
            s->result.too_few++;
        else if (count == s->config.top)
            s->result.not_examined++;
        else
            count++;
    }
    s->result.lines = s->out;
    s->result.line_count = count;
    return SPE_OK;
}
