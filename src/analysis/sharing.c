/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The two passes, and what they have counted, put in order. */
#include "analysis/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/exact.h"
#include "analysis/slices.h"
#include "analysis/sort.h"
#include "analysis/top.h"
#include "base/large.h"
#include "base/sized.h"
#include "base/vector.h"
#include "format/clones.h"

#define MEMORY (UINT64_C(64) << 20)
#define MEMORY_LEAST 65536
#define LEFT_OUT_PART 2 /* of the memory: for the profile's notes of what it leaves out */
#define BATCH 512
#define SPARE_LINES 10 /* that are looked at beside those that are wanted: some are refused */

/* Accesses of one thread on one CPU by one instruction at one offset of a line. */
struct access {
    uint64_t pc;
    uint32_t map, thread, cpu, line, offset;
    uint64_t samples, reads, writes, travelled, latency;
};

/* A sample, as short as it can be. */
struct note {
    uint64_t va_and_flags; /* flags above bit 55, from which the address is extended */
    uint64_t pc;
    uint32_t pid, thread, cpu, map;
    uint16_t total;
};

#define NOTE_STORE (UINT64_C(1) << 56)
#define NOTE_TRAVELLED (UINT64_C(1) << 57)
#define NOTE_WRITES (UINT64_C(1) << 58)
#define SUBCLASS_EXTENDED_MASK 0xe2 /* of the operation's payload: 0b000xxx1x */
#define SUBCLASS_EXTENDED 0x02
#define ATOMIC 0x04
#define LINE_AT 32 /* in the key that accesses are sorted by: its line is above its offset */

/* Whose the notes from `first` on are. */
struct note_run {
    size_t first;
    uint32_t pid, thread, cpu;
};

/* The first pass keeps notes of all samples while there is memory, so that the rows need not be
 * read again. At the end most of them are looked at by their address only: each member is apart. */
struct notes {
    uint64_t *va_and_flags, *pc;
    uint32_t *map;
    uint16_t *total;
    size_t count, capacity;
    struct note_run *runs;
    size_t run_count, run_capacity;
    bool dropped; /* there were too many */
};

#define NOTE_BYTES (2 * sizeof(uint64_t) + sizeof(uint32_t) + sizeof(uint16_t))

struct candidate {
    uint64_t place;
    uint32_t space, travelled;
};

struct spe_sharing {
    struct spe_sharing_config config;
    struct spe_sharing_result result;
    struct exact lines; /* of the first pass: those with a sample that travelled */
    struct notes notes;
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
    struct sort_key *sorted, *keys, *room; /* one of each access: by line and offset; for now */
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
    struct spe_sharing_config own = {0};
    struct spe_sharing *s;
    uint64_t memory;
    unsigned shift;

    *sharing = NULL;
    if (!sized_take(&own, sizeof(own), config, config->size))
        return SPE_ERR_INVALID;
    memory = own.memory ? own.memory : MEMORY;
    shift = own.shift ? own.shift : 6;
    if (memory < MEMORY_LEAST || shift < 4 || shift > 12 || own.basis >= SPE_SHARING_BASIS_COUNT ||
        !own.top || own.top > UINT32_MAX - SPARE_LINES)
        return SPE_ERR_INVALID;
    s = calloc(1, sizeof(*s));
    if (!s)
        return SPE_ERR_NOMEM;
    s->config = own;
    s->notes.dropped = own.again;
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

static void free_notes(struct notes *n)
{
    free(n->va_and_flags);
    free(n->pc);
    free(n->map);
    free(n->total);
    free(n->runs);
    *n = (struct notes){.dropped = n->dropped};
}

void spe_sharing_destroy(struct spe_sharing *s)
{
    if (!s)
        return;
    exact_free(&s->lines);
    hash_table_free(&s->index);
    hash_table_free(&s->by_key);
    free_notes(&s->notes);
    free(s->chosen);
    free(s->accesses.at);
    free(s->out);
    free(s->offsets);
    free(s->users);
    free(s->sorted);
    free(s->keys);
    free(s->room);
    free(s);
}

const struct spe_sharing_result *spe_sharing_result(const struct spe_sharing *s)
{
    return &s->result;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What the passes over some rows share. */
struct part {
    const struct spe_rows *rows;
    size_t from, count;
    uint64_t va_and_flags[BATCH]; /* as in notes; valid of those with data */
    uint16_t with_data[BATCH];    /* loads and stores with an address */
    size_t n;                     /* of them */
};

/* Whether memory is written: by a store, or by an atomic, which may be a memory-reading instruction
 * as well (D18.2.7). As a mask. */
static inline uint64_t is_write(uint64_t op)
{
    return -(op & 1) | (-(uint64_t)((op & SUBCLASS_EXTENDED_MASK) == SUBCLASS_EXTENDED) &
                        -(uint64_t)((op & ATOMIC) != 0));
}

static inline __attribute__((always_inline)) void pack_rows(struct part *p,
                                                            enum spe_sharing_basis basis)
{
    const uint64_t *va = p->rows->va + p->from, *events = p->rows->events + p->from;
    const uint16_t *ops = p->rows->op + p->from;
    const uint8_t *level = p->rows->level + p->from;
    size_t count = p->count, i;

    for (i = 0; i < count; i++) {
        uint64_t op = ops[i];

        p->va_and_flags[i] = (va[i] & UINT64_MAX >> 8) | (op & 1) * NOTE_STORE |
                             (is_write(op) & NOTE_WRITES) |
                             (has_travelled(basis, op, level[i], events[i]) & NOTE_TRAVELLED);
    }
}

/* The basis is a constant of each loop: the compiler vectorises these. */
static CLONES void pack(struct part *p, enum spe_sharing_basis basis)
{
    if (basis == SPE_SHARING_SOURCE)
        pack_rows(p, SPE_SHARING_SOURCE);
    else if (basis == SPE_SHARING_SNOOPED)
        pack_rows(p, SPE_SHARING_SNOOPED);
    else
        pack_rows(p, SPE_SHARING_MISSES);
}

/* The rows of a part that are loads or stores with an address; and how many are without. */
static CLONES void find_data(struct part *p, uint64_t *without)
{
    const uint16_t *op = p->rows->op + p->from;
    const uint8_t *has = p->rows->has + p->from, *addresses = p->rows->addresses + p->from;
    size_t count = p->count, memory = 0, n = 0, i;

    for (i = 0; i < count; i++) {
        unsigned is_memory = (op[i] >> 8 == SPE_CLASS_LDST) & ((has[i] & SPE_HAS_OP) != 0);

        p->with_data[n] = (uint16_t)i;
        n += is_memory & addresses[i] >> SPE_ADDRESS_VA;
        memory += is_memory;
    }
    *without += memory - n;
    p->n = n;
}

static struct note note_of(const struct part *p, size_t i)
{
    const struct spe_rows *rows = p->rows;
    size_t row = p->from + i;

    return (struct note){
        .va_and_flags = p->va_and_flags[i],
        .pc = rows->pc[row],
        .pid = rows->pid[row],
        .thread = rows->thread[row],
        .cpu = rows->cpu[row],
        .map = rows->map[row],
        .total = rows->total[row],
    };
}

static inline uint64_t note_va(uint64_t va_and_flags)
{
    return (uint64_t)((int64_t)(va_and_flags << 8) >> 8);
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
    free_notes(&s->notes);
    s->notes.dropped = true;
}

static int grow_notes(struct notes *n, size_t capacity)
{
    size_t used = n->count;

    if (large_resize(&n->va_and_flags, used * sizeof(*n->va_and_flags),
                     capacity * sizeof(*n->va_and_flags)) < 0 ||
        large_resize(&n->pc, used * sizeof(*n->pc), capacity * sizeof(*n->pc)) < 0 ||
        large_resize(&n->map, used * sizeof(*n->map), capacity * sizeof(*n->map)) < 0 ||
        large_resize(&n->total, used * sizeof(*n->total), capacity * sizeof(*n->total)) < 0)
        return SPE_ERR_NOMEM;
    n->capacity = capacity;
    return SPE_OK;
}

/* Room for more, or they are dropped: lines come first. */
static void make_room_for_notes(struct spe_sharing *s, size_t more)
{
    struct notes *n = &s->notes;
    size_t wanted = n->count + more;

    if (n->dropped)
        return;
    if (wanted * NOTE_BYTES + (n->run_count + more) * sizeof(*n->runs) +
            s->lines.count * EXACT_BYTES + s->memory / LEFT_OUT_PART >
        s->memory) {
        drop_notes(s);
        return;
    }
    if ((wanted > n->capacity &&
         grow_notes(n, large_capacity(n->capacity, wanted, (size_t)(s->memory / NOTE_BYTES))) <
             0) ||
        vector_reserve(&n->runs, &n->run_capacity, n->run_count + more, sizeof(*n->runs)) < 0)
        drop_notes(s);
}

static void note_run(struct notes *n, uint32_t pid, uint32_t thread, uint32_t cpu)
{
    const struct note_run *last = &n->runs[n->run_count ? n->run_count - 1 : 0];

    if (!n->run_count || last->pid != pid || last->thread != thread || last->cpu != cpu)
        n->runs[n->run_count++] = (struct note_run){n->count, pid, thread, cpu};
}

/* One behind the other: the loops over a member each are for the compiler. */
static void note_all(struct notes *n, const struct part *p)
{
    const struct spe_rows *rows = p->rows;
    size_t at = n->count, i;

    for (i = 0; i < p->n; i++) {
        size_t row = p->from + p->with_data[i];

        note_run(n, rows->pid[row], rows->thread[row], rows->cpu[row]);
        n->count++;
    }
    for (i = 0; i < p->n; i++)
        n->va_and_flags[at + i] = p->va_and_flags[p->with_data[i]];
    for (i = 0; i < p->n; i++)
        n->pc[at + i] = rows->pc[p->from + p->with_data[i]];
    for (i = 0; i < p->n; i++)
        n->map[at + i] = rows->map[p->from + p->with_data[i]];
    for (i = 0; i < p->n; i++)
        n->total[at + i] = rows->total[p->from + p->with_data[i]];
}

static CLONES void count_all(struct spe_sharing *s, const struct part *p)
{
    const uint64_t said = s->config.basis == SPE_SHARING_SNOOPED
                              ? UINT64_MAX
                              : SPE_EVENT_BIT(L1D_ACCESS) | SPE_EVENT_BIT(L1D_MISS);
    const uint8_t *level = p->rows->level + p->from;
    const uint16_t *total = p->rows->total + p->from;
    const uint64_t *events = p->rows->events + p->from;
    uint64_t stores = 0, latency = 0, says = 0;
    struct spe_sharing_result *r = &s->result;
    size_t n = p->n, i;

    for (i = 0; i < n; i++) {
        latency += total[p->with_data[i]];
        stores += p->va_and_flags[p->with_data[i]] / NOTE_STORE & 1;
    }
    if (s->config.basis == SPE_SHARING_SOURCE) {
        for (i = 0; i < n; i++)
            says += level[p->with_data[i]] != SPE_LEVEL_UNKNOWN;
    } else {
        for (i = 0; i < n; i++)
            says += (events[p->with_data[i]] & said) != 0;
    }
    r->samples += n;
    r->loads += n - stores;
    r->latency += latency;
    r->said += says;
    for (i = 0; i < n && !r->several_threads; i++)
        note_thread(s, p->rows->thread[p->from + p->with_data[i]]);
    for (i = 0; i < n; i++) {
        if (p->va_and_flags[p->with_data[i]] & NOTE_TRAVELLED)
            count_line(s, p->rows, p->from + p->with_data[i]);
    }
}

int spe_sharing_find(struct spe_sharing *s, const struct spe_rows *rows)
{
    struct part p;

    p.rows = rows;
    for (p.from = 0; p.from < rows->count; p.from += p.count) {
        p.count = rows->count - p.from < BATCH ? rows->count - p.from : BATCH;
        find_data(&p, &s->result.no_address);
        pack(&p, s->config.basis);
        if (exact_make_room(&s->lines, p.n) < 0)
            return SPE_ERR_NOMEM;
        count_all(s, &p);
        make_room_for_notes(s, p.n);
        if (!s->notes.dropped)
            note_all(&s->notes, &p);
    }
    return SPE_OK;
}

/* ---- rows that are left out ------------------------------------------------------------------ */

int spe_sharing_leave_out(const struct spe_sharing *s, struct spe_profile *profile)
{
    struct spe_profile_data data = {
        .size = sizeof(data), .shift = s->config.shift, .memory = s->memory / LEFT_OUT_PART};
    unsigned level;

    for (level = SPE_LEVEL_PEER_CORE; level <= SPE_LEVEL_REMOTE_CACHE; level++)
        data.levels |= 1u << level;
    return spe_profile_only_data(profile, s->config.basis == SPE_SHARING_SOURCE ? &data : NULL);
}

void spe_sharing_left_out(struct spe_sharing *s, const struct spe_profile_counts *counts)
{
    const struct spe_profile_left_out *l = &counts->left_out;
    struct spe_sharing_result *r = &s->result;

    r->samples += l->samples;
    r->loads += l->samples - l->stores;
    r->latency += l->latency;
    r->said += l->said;
    r->no_address += l->no_address;
    r->several_threads |= l->several_threads;
    if (l->samples)
        note_thread(s, l->thread);
}

int spe_sharing_look_again(const struct spe_sharing *s, struct spe_profile *profile)
{
    uint64_t *addresses = calloc(s->chosen_count + 1, sizeof(*addresses));
    size_t i;
    int error;

    if (!addresses)
        return SPE_ERR_NOMEM;
    for (i = 0; i < s->chosen_count; i++)
        addresses[i] = s->chosen[i].place << s->config.shift;
    error = spe_profile_left_out(profile, addresses, s->chosen_count);
    free(addresses);
    return error;
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
    return index_chosen(s) < 0 ? SPE_ERR_NOMEM : s->notes.dropped;
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
        .pc = n->pc,
        .map = n->map,
        .thread = n->thread,
        .cpu = n->cpu,
        .line = line,
        .offset = (uint32_t)(n->va_and_flags & ((UINT64_C(1) << s->config.shift) - 1)),
    };
    int error;
    struct access *a = find_access(s, &key, &error);

    if (!a) {
        s->result.left_out++;
        return error;
    }
    a->reads += !(n->va_and_flags & NOTE_STORE);
    a->writes += (n->va_and_flags & NOTE_WRITES) != 0;
    a->samples++;
    a->travelled += (n->va_and_flags & NOTE_TRAVELLED) != 0;
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
    uint64_t va = note_va(n->va_and_flags), place = va >> s->config.shift;
    uint32_t space = space_of(va, n->pid);
    uint32_t line = find_line(s, exact_hash(s->seed, place, space), place, space);

    return line == UINT32_MAX ? SPE_OK : add_access(s, n, line);
}

/* Those of `count` addresses of a process that may be of chosen lines, as numbers. */
static CLONES size_t filter(const struct spe_sharing *s, const uint64_t *va_and_flags, size_t count,
                            uint32_t pid, uint16_t *left)
{
    uint64_t hash[BATCH];
    size_t found = 0, i;

    for (i = 0; i < count; i++)
        hash[i] = hash_of(s, note_va(va_and_flags[i]), pid);
    for (i = 0; i < count; i++) {
        left[found] = (uint16_t)i;
        found += may_be_chosen(s, hash[i]);
    }
    return found;
}

/* Notes of one run, from `first` on. */
static int add_some_notes(struct spe_sharing *s, const struct note_run *run, size_t first,
                          size_t count)
{
    const struct notes *n = &s->notes;
    uint16_t left[BATCH];
    size_t found = filter(s, n->va_and_flags + first, count, run->pid, left), i;

    for (i = 0; i < found; i++) {
        size_t at = first + left[i]; /* NOLINT(clang-analyzer-core.*): filter has set it */
        struct note note = {n->va_and_flags[at], n->pc[at],   run->pid, run->thread, run->cpu,
                            n->map[at],          n->total[at]};

        if (add_note(s, &note) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static int add_notes(struct spe_sharing *s)
{
    const struct notes *n = &s->notes;
    size_t r, at, count;

    for (r = 0; r < n->run_count; r++) {
        size_t end = r + 1 < n->run_count ? n->runs[r + 1].first : n->count;

        for (at = n->runs[r].first; at < end; at += count) {
            count = end - at < BATCH ? end - at : BATCH;
            if (add_some_notes(s, &n->runs[r], at, count) < 0)
                return SPE_ERR_NOMEM;
        }
    }
    return SPE_OK;
}

int spe_sharing_add(struct spe_sharing *s, const struct spe_rows *rows)
{
    uint64_t without = 0; /* counted by the first pass */
    struct part p;
    size_t i;

    p.rows = rows;
    for (p.from = 0; p.from < rows->count; p.from += p.count) {
        p.count = rows->count - p.from < BATCH ? rows->count - p.from : BATCH;
        find_data(&p, &without);
        pack(&p, s->config.basis);
        for (i = 0; i < p.n; i++) {
            struct note note;

            /* find_data has set it. NOLINTNEXTLINE(clang-analyzer-core.*) */
            if (!may_be_chosen(s, hash_of(s, rows->va[p.from + p.with_data[i]],
                                          rows->pid[p.from + p.with_data[i]])))
                continue;
            note = note_of(&p, p.with_data[i]);
            if (add_note(s, &note) < 0)
                return SPE_ERR_NOMEM;
        }
    }
    return SPE_OK;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Most accesses first. */
static int by_use(const void *left, const void *right)
{
    const struct spe_shared_user *a = left, *b = right;
    int order = compare_numbers(b->samples, a->samples);

    order = order ? order : compare_numbers(a->thread, b->thread);
    order = order ? order : compare_numbers(a->pc, b->pc);
    return order ? order : compare_numbers(a->map, b->map);
}

/* By what accesses are sorted. */
enum field { BY_THREAD, BY_CPU, BY_MAP, BY_PC };

static void sort_by(const struct spe_sharing *s, struct sort_key *keys, size_t n, enum field field)
{
    for (size_t i = 0; i < n; i++) {
        const struct access *a = &s->accesses.at[keys[i].number];

        keys[i].key = field == BY_THREAD ? a->thread
                      : field == BY_CPU  ? a->cpu
                      : field == BY_MAP  ? a->map
                                         : a->pc;
    }
    sort_keys(keys, s->room, n);
}

/* How many threads or CPUs some accesses are of; CPUs that are not known do not count. */
static uint32_t count_different(const struct spe_sharing *s, const struct sort_key *accesses,
                                size_t n, enum field field)
{
    uint32_t count = 0;
    size_t i;

    memcpy(s->keys, accesses, n * sizeof(*accesses));
    sort_by(s, s->keys, n, field);
    for (i = 0; i < n; i++)
        count += (!i || s->keys[i - 1].key != s->keys[i].key) &&
                 !(field == BY_CPU && s->keys[i].key == SPE_NO_CPU);
    return count;
}

static bool same_user(const struct access *a, const struct access *b, bool threads)
{
    return threads ? a->thread == b->thread : a->pc == b->pc && a->map == b->map;
}

/* Users of an offset to `users`, one for each thread or instruction; their number. */
static size_t collect_users(const struct spe_sharing *s, const struct sort_key *accesses, size_t n,
                            bool threads, struct spe_shared_user *users)
{
    struct spe_shared_user *user = users;
    const struct access *last = NULL;
    size_t i;

    memcpy(s->keys, accesses, n * sizeof(*accesses));
    if (!threads)
        sort_by(s, s->keys, n, BY_MAP);
    sort_by(s, s->keys, n, threads ? BY_THREAD : BY_PC);
    for (i = 0; i < n; i++) {
        const struct access *a = &s->accesses.at[s->keys[i].number];

        if (!last || !same_user(last, a, threads))
            *user++ = (struct spe_shared_user){.thread = threads ? a->thread : SPE_NO_ID,
                                               .map = threads ? SPE_NO_ID : a->map,
                                               .pc = threads ? 0 : a->pc};
        user[-1].samples += a->samples;
        user[-1].reads += a->reads;
        user[-1].writes += a->writes;
        user[-1].travelled += a->travelled;
        user[-1].latency += a->latency;
        last = a;
    }
    qsort(users, (size_t)(user - users), sizeof(*users), by_use);
    return (size_t)(user - users);
}

static void fill_offset(const struct spe_sharing *s, struct spe_shared_offset *o,
                        const struct sort_key *accesses, size_t n, struct spe_shared_user **users)
{
    size_t i;

    *o = (struct spe_shared_offset){.offset = (uint32_t)accesses->key};
    for (i = 0; i < n; i++) {
        const struct access *a = &s->accesses.at[accesses[i].number];

        o->samples += a->samples;
        o->reads += a->reads;
        o->writes += a->writes;
        o->travelled += a->travelled;
        o->latency += a->latency;
    }
    o->cpus = count_different(s, accesses, n, BY_CPU);
    o->threads = *users;
    o->thread_count = collect_users(s, accesses, n, true, *users);
    *users += o->thread_count;
    o->code = *users;
    o->code_count = collect_users(s, accesses, n, false, *users);
    *users += o->code_count;
}

/* How many accesses from the first on are of its line, or of its offset as well. */
static size_t run_of(const struct sort_key *accesses, size_t n, bool same_offset)
{
    const unsigned shift = same_offset ? 0 : LINE_AT;
    size_t i = 1;

    while (i < n && accesses[i].key >> shift == accesses->key >> shift)
        i++;
    return i;
}

static void fill_line(const struct spe_sharing *s, struct spe_shared_line *line,
                      const struct sort_key *a, size_t n, struct spe_shared_offset **offsets,
                      struct spe_shared_user **users)
{
    const struct candidate *c = &s->chosen[a->key >> LINE_AT];
    struct spe_shared_offset *first = *offsets;
    size_t at, run;

    *line = (struct spe_shared_line){.address = c->place << s->config.shift, .pid = c->space};
    line->threads = count_different(s, a, n, BY_THREAD);
    line->cpus = count_different(s, a, n, BY_CPU);
    for (at = 0; at < n; at += run) {
        struct spe_shared_offset *o = (*offsets)++;

        run = run_of(a + at, n - at, true);
        fill_offset(s, o, a + at, run, users);
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
    s->offsets = malloc((n + 1) * sizeof(*s->offsets));
    s->users = malloc((2 * n + 1) * sizeof(*s->users));
    s->sorted = malloc((n + 1) * sizeof(*s->sorted));
    s->keys = malloc((n + 1) * sizeof(*s->keys));
    s->room = malloc((n + 1) * sizeof(*s->room));
    return s->out && s->offsets && s->users && s->sorted && s->keys && s->room ? SPE_OK
                                                                               : SPE_ERR_NOMEM;
}

/* By line, and by offset in it. */
static void sort_accesses(struct spe_sharing *s)
{
    size_t n = s->accesses.count, i;

    for (i = 0; i < n; i++) {
        const struct access *a = &s->accesses.at[i];

        s->sorted[i] = (struct sort_key){(uint64_t)a->line << LINE_AT | a->offset, (uint32_t)i};
    }
    sort_keys(s->sorted, s->room, n);
}

int spe_sharing_finish(struct spe_sharing *s)
{
    struct spe_shared_offset *offsets;
    struct spe_shared_user *users;
    size_t n, at, run, count = 0;
    const struct sort_key *a;

    if (add_notes(s) < 0)
        return SPE_ERR_NOMEM;
    free_notes(&s->notes);
    hash_table_free(&s->by_key);
    if (allocate_answer(s) < 0)
        return SPE_ERR_NOMEM;
    sort_accesses(s);
    a = s->sorted;
    n = s->accesses.count;
    offsets = s->offsets;
    users = s->users;
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
