/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Types, members and objects. A sample costs two look-ups: what its instruction accesses, and what
 * its address is of, if that is wanted or the instruction alone does not tell. Both are remembered.
 */
#include <specimen/analysis.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/line_users.h"
#include "analysis/lists.h"
#include "analysis/times.h"
#include "analysis/top.h"
#include "base/hash.h"
#include "base/vector.h"

#define NOBODY UINT32_MAX
#define ADDRESS_CACHE 65536 /* addresses whose objects are remembered */
#define SLICED_ROWS 1000    /* of each list */
#define FIELDS 7            /* the first of struct spe_access_counts */

/* What an instruction accesses. */
struct instruction {
    uint64_t pc;
    uint32_t map;
    uint32_t member; /* index of members, NOBODY: its type is not known */
    struct spe_profile_access access;
};

struct visit { /* of a row by a thread */
    uint32_t row, thread;
    uint32_t list; /* which rows */
    bool wrote;
};

struct address_entry {
    uint64_t address;
    uint32_t thread, object, member;
    uint32_t size;
    bool known;
};

enum { LIST_TYPES, LIST_MEMBERS, LIST_OBJECTS, LISTS };

struct spe_types {
    unsigned want;
    enum spe_sort sort;
    uint64_t seed;
    VECTOR(struct instruction) instructions;
    struct hash_table instruction_table;
    VECTOR(struct spe_type_row) types;
    VECTOR(struct spe_type_row) members;
    VECTOR(struct spe_object_row) objects;
    struct hash_table type_table, member_table, object_table;
    VECTOR(struct visit) visits;
    struct hash_table visit_table;
    struct line_users line_users; /* of types that several threads use */
    struct address_entry *addresses;
    struct spe_times times; /* without bins */
    size_t last_bin;
    uint64_t *slices[LISTS]; /* of SLICED_ROWS rows all bins, of a bin all fields; or NULL */
    struct spe_access_counts all, reasons[SPE_ACCESS_REASONS];
    bool no_memory;
};

int spe_types_create(struct spe_types **types, unsigned want)
{
    struct spe_types *t = calloc(1, sizeof(*t));

    *types = t;
    if (!t)
        return SPE_ERR_NOMEM;
    t->want = want;
    t->sort = SPE_SORT_LATENCY;
    t->seed = hash_seed();
    t->addresses = calloc(ADDRESS_CACHE, sizeof(*t->addresses));
    if (t->addresses)
        return SPE_OK;
    free(t);
    *types = NULL;
    return SPE_ERR_NOMEM;
}

void spe_types_destroy(struct spe_types *t)
{
    if (!t)
        return;
    free(t->instructions.at);
    free(t->types.at);
    free(t->members.at);
    free(t->objects.at);
    free(t->visits.at);
    free(t->addresses);
    for (unsigned i = 0; i < LISTS; i++)
        free(t->slices[i]);
    hash_table_free(&t->instruction_table);
    hash_table_free(&t->type_table);
    hash_table_free(&t->member_table);
    hash_table_free(&t->object_table);
    hash_table_free(&t->visit_table);
    line_users_free(&t->line_users);
    free(t);
}

int spe_types_over_time(struct spe_types *t, const struct spe_times *times)
{
    t->times = *times;
    t->times.bins = NULL;
    for (unsigned i = 0; i < LISTS; i++) {
        t->slices[i] = calloc(SLICED_ROWS * times->count * FIELDS + 1, sizeof(*t->slices[i]));
        if (!t->slices[i])
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A row that there is no memory for is not a row that nobody knows. */
static uint32_t no_memory(struct spe_types *t)
{
    t->no_memory = true;
    return NOBODY;
}

static uint32_t find_type(struct spe_types *t, uint32_t type)
{
    uint64_t hash = hash_number(t->seed, type);
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&t->type_table, hash, &cursor)) != NOBODY) {
        if (t->types.at[i].type == type)
            return i;
    }
    if (VECTOR_ROOM(&t->types) < 0 ||
        hash_table_add(&t->type_table, hash, (uint32_t)t->types.count) < 0)
        return no_memory(t);
    t->types.at[t->types.count] = (struct spe_type_row){.type = type, .member = SPE_NO_ID};
    return (uint32_t)t->types.count++;
}

static uint32_t find_member(struct spe_types *t, const struct spe_profile_access *a)
{
    uint64_t hash = hash_number(hash_number(t->seed, a->type), a->offset << 32 ^ a->member);
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&t->member_table, hash, &cursor)) != NOBODY) {
        const struct spe_type_row *m = &t->members.at[i];

        if (m->type == a->type && m->offset == a->offset && m->member == a->member)
            return i;
    }
    if (VECTOR_ROOM(&t->members) < 0 ||
        hash_table_add(&t->member_table, hash, (uint32_t)t->members.count) < 0)
        return no_memory(t);
    t->members.at[t->members.count] =
        (struct spe_type_row){.type = a->type, .offset = a->offset, .member = a->member};
    return (uint32_t)t->members.count++;
}

/* Variables are told apart by where they are; stacks by their threads; other memory by its name. */
static bool same_object(const struct spe_object_row *row, const struct spe_profile_object *o,
                        uint32_t pid)
{
    const struct spe_profile_object *p = &row->object;

    return p->kind == o->kind && p->name == o->name && p->dso == o->dso && p->thread == o->thread &&
           row->pid == pid && (o->kind != SPE_OBJECT_VARIABLE || p->start == o->start);
}

static uint32_t find_object(struct spe_types *t, const struct spe_profile_object *o, uint32_t pid)
{
    uint64_t hash = hash_number(t->seed, (uint64_t)o->kind << 32 | o->name), cursor_hash;
    size_t cursor = 0;
    uint32_t i;

    hash = hash_number(hash, (uint64_t)o->dso << 32 | o->thread);
    cursor_hash = hash_number(hash, (o->kind == SPE_OBJECT_VARIABLE ? o->start : 0) ^ pid);
    while ((i = hash_table_find(&t->object_table, cursor_hash, &cursor)) != NOBODY) {
        if (same_object(&t->objects.at[i], o, pid))
            return i;
    }
    if (VECTOR_ROOM(&t->objects) < 0 ||
        hash_table_add(&t->object_table, cursor_hash, (uint32_t)t->objects.count) < 0)
        return no_memory(t);
    t->objects.at[t->objects.count] = (struct spe_object_row){.object = *o, .pid = pid};
    return (uint32_t)t->objects.count++;
}

/* ---- Samples --------------------------------------------------------------------------------- */

static int visit(struct spe_types *t, uint32_t list, uint32_t row, uint32_t thread, bool wrote,
                 struct spe_access_counts *c)
{
    uint64_t hash = hash_number(hash_number(t->seed, (uint64_t)list << 32 | row), thread);
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&t->visit_table, hash, &cursor)) != NOBODY) {
        struct visit *v = &t->visits.at[i];

        if (v->row != row || v->thread != thread || v->list != list)
            continue;
        c->writers += wrote && !v->wrote;
        v->wrote |= wrote;
        return SPE_OK;
    }
    if (VECTOR_ROOM(&t->visits) < 0 ||
        hash_table_add(&t->visit_table, hash, (uint32_t)t->visits.count) < 0)
        return SPE_ERR_NOMEM;
    t->visits.at[t->visits.count++] = (struct visit){row, thread, list, wrote};
    c->threads++;
    c->writers += wrote;
    return SPE_OK;
}

static void count(struct spe_access_counts *c, const struct spe_rows *rows, size_t i, bool store)
{
    uint64_t events = rows->events[i];

    c->samples++;
    c->loads += !store;
    c->stores += store;
    c->latency += rows->total[i];
    c->l1_misses += events >> SPE_EVENT_L1D_MISS & 1;
    c->llc_misses += events >> SPE_EVENT_LLC_MISS & 1;
    c->tlb_walks += events >> SPE_EVENT_TLB_WALK & 1;
}

/* The same, of the row's bin. */
static void count_slice(struct spe_types *t, unsigned list, uint32_t row,
                        const struct spe_rows *rows, size_t i, bool store)
{
    size_t bin;

    if (!t->slices[list] || row >= SLICED_ROWS || !rows->time_ns)
        return;
    bin = time_bin_of(&t->times, rows->time_ns[i], &t->last_bin);
    if (bin != SIZE_MAX) {
        struct spe_access_counts c = {0};
        uint64_t *to = t->slices[list] + (row * t->times.count + bin) * FIELDS;
        const uint64_t *from = (const uint64_t *)(const void *)&c;

        count(&c, rows, i, store);
        for (unsigned field = 0; field < FIELDS; field++)
            to[field] += from[field];
    }
}

static struct instruction *find_instruction(struct spe_types *t, struct spe_profile *profile,
                                            uint32_t map, uint64_t pc)
{
    uint64_t hash = hash_number(hash_number(t->seed, map), pc);
    struct instruction *new;
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&t->instruction_table, hash, &cursor)) != NOBODY) {
        if (t->instructions.at[i].pc == pc && t->instructions.at[i].map == map)
            return &t->instructions.at[i];
    }
    if (VECTOR_ROOM(&t->instructions) < 0 ||
        hash_table_add(&t->instruction_table, hash, (uint32_t)t->instructions.count) < 0)
        return NULL;
    new = &t->instructions.at[t->instructions.count++];
    *new = (struct instruction){.pc = pc, .map = map, .member = NOBODY};
    if (spe_profile_access(profile, map, pc, &new->access) == SPE_OK)
        new->member = find_member(t, &new->access);
    return new;
}

/* Addresses of the kernel are the same in all processes. */
static uint32_t pid_of(const struct spe_rows *rows, size_t i)
{
    return rows->va[i] >> 63 ? SPE_NO_TASK : rows->pid[i];
}

/* What the address is of. A member that it tells is of the size that the instruction accesses. */
static struct address_entry *find_address(struct spe_types *t, struct spe_profile *profile,
                                          const struct spe_rows *rows, size_t i,
                                          const struct instruction *instruction)
{
    uint64_t address = rows->va[i];
    uint32_t thread = rows->thread[i], size = instruction->access.size;
    uint64_t hash = hash_number(hash_number(t->seed, address), (uint64_t)size << 32 | thread);
    struct address_entry *e = &t->addresses[hash % ADDRESS_CACHE];
    struct spe_profile_object object;
    struct spe_profile_access access = {.size = size};

    if (e->known && e->address == address && e->thread == thread && e->size == size)
        return e;
    *e = (struct address_entry){address, thread, NOBODY, NOBODY, size, true};
    spe_profile_object(profile, thread, rows->time_ns ? rows->time_ns[i] : UINT64_MAX, address,
                       &object);
    if (t->want & SPE_TYPES_OBJECTS)
        e->object = find_object(t, &object, pid_of(rows, i));
    if (spe_profile_access_of_object(profile, &object, &access) == SPE_OK)
        e->member = find_member(t, &access);
    return e;
}

static int add_line_user(struct spe_types *t, const struct spe_rows *rows, size_t i, bool store,
                         uint32_t member)
{
    struct line_user user = {.member = member, .thread = rows->thread[i], .wrote = store};

    if (!(rows->addresses[i] & 1u << SPE_ADDRESS_VA) || user.thread == SPE_NO_ID)
        return SPE_OK;
    return line_users_add(&t->line_users, t->seed, pid_of(rows, i), rows->va[i], &user);
}

static int add_type(struct spe_types *t, const struct spe_rows *rows, size_t i, bool store,
                    uint32_t member, unsigned reason)
{
    uint32_t thread = rows->thread[i], type;

    count(&t->all, rows, i, store);
    count(&t->reasons[reason], rows, i, store);
    if (member == NOBODY)
        return SPE_OK;
    type = find_type(t, t->members.at[member].type);
    if (type == NOBODY)
        return SPE_ERR_NOMEM;
    count(&t->types.at[type].counts, rows, i, store);
    count(&t->members.at[member].counts, rows, i, store);
    count_slice(t, LIST_TYPES, type, rows, i, store);
    count_slice(t, LIST_MEMBERS, member, rows, i, store);
    if (visit(t, LIST_TYPES, type, thread, store, &t->types.at[type].counts) < 0 ||
        (t->types.at[type].counts.threads > 1 && add_line_user(t, rows, i, store, member) < 0))
        return SPE_ERR_NOMEM;
    return visit(t, LIST_MEMBERS, member, thread, store, &t->members.at[member].counts);
}

/* Of a global variable the address says more than the code: which of several that an index may
 * reach. */
static bool is_global(const struct instruction *i)
{
    return i->access.variable != SPE_NO_ID && !i->access.stack;
}

static int add_sample(struct spe_types *t, struct spe_profile *profile, const struct spe_rows *rows,
                      size_t i)
{
    const uint8_t data = 1u << SPE_ADDRESS_VA;
    struct instruction *instruction = find_instruction(t, profile, rows->map[i], rows->pc[i]);
    struct address_entry *e = NULL;
    uint32_t member;
    struct spe_op op;
    bool store;
    int result = SPE_OK;

    if (!instruction)
        return SPE_ERR_NOMEM;
    spe_op_decode((uint8_t)(rows->op[i] >> 8), (uint8_t)rows->op[i], &op);
    store = op.store;
    if (rows->addresses[i] & data && instruction->access.stack &&
        spe_profile_stack(profile, rows->thread[i], rows->va[i]) == SPE_ERR_NOMEM)
        return SPE_ERR_NOMEM;
    if (rows->addresses[i] & data &&
        (t->want & SPE_TYPES_OBJECTS || instruction->member == NOBODY || is_global(instruction)))
        e = find_address(t, profile, rows, i, instruction);
    if (e && e->object != NOBODY) {
        struct spe_object_row *row = &t->objects.at[e->object];

        count(&row->counts, rows, i, store);
        count_slice(t, LIST_OBJECTS, e->object, rows, i, store);
        result = visit(t, LIST_OBJECTS, e->object, rows->thread[i], store, &row->counts);
    }
    if (result < 0)
        return result;
    member = instruction->member;
    if (e && (member == NOBODY || (is_global(instruction) && e->member != NOBODY)))
        member = e->member;
    return add_type(t, rows, i, store, member,
                    member == instruction->member ? instruction->access.reason : SPE_ACCESS_KNOWN);
}

int spe_types_add(struct spe_types *t, struct spe_profile *profile, const struct spe_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        int result;

        if (rows->op[i] >> 8 != SPE_CLASS_LDST || !(rows->has[i] & SPE_HAS_OP))
            continue;
        result = add_sample(t, profile, rows, i);
        if (result < 0 || t->no_memory)
            return result < 0 ? result : SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

/* ---- Answers --------------------------------------------------------------------------------- */

void spe_types_totals(const struct spe_types *t, struct spe_access_counts *all,
                      struct spe_access_counts reasons[SPE_ACCESS_REASONS])
{
    *all = t->all;
    memcpy(reasons, t->reasons, sizeof(t->reasons));
}

int spe_types_sort(struct spe_types *t, enum spe_sort sort)
{
    if ((unsigned)sort >= SPE_SORT_COUNT || sort == SPE_SORT_MISPREDICTED)
        return SPE_ERR_INVALID;
    t->sort = sort;
    return SPE_OK;
}

static uint64_t sort_count(const struct spe_access_counts *c, enum spe_sort sort)
{
    switch (sort) {
    case SPE_SORT_SAMPLES:
        return c->samples;
    case SPE_SORT_L1:
        return c->l1_misses;
    case SPE_SORT_LLC:
        return c->llc_misses;
    case SPE_SORT_TLB:
        return c->tlb_walks;
    default:
        return c->latency;
    }
}

static int by_counts(const struct spe_access_counts *a, const struct spe_access_counts *b,
                     enum spe_sort sort)
{
    uint64_t left = sort_count(a, sort), right = sort_count(b, sort);

    if (left != right)
        return left > right ? -1 : 1;
    if (a->latency != b->latency)
        return a->latency > b->latency ? -1 : 1;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return 0;
}

static int type_order(const void *left, const void *right, void *user)
{
    const struct spe_type_row *a = left, *b = right;
    int order = by_counts(&a->counts, &b->counts, *(const enum spe_sort *)user);

    order = order ? order : (a->type > b->type) - (a->type < b->type);
    order = order ? order : (a->offset > b->offset) - (a->offset < b->offset);
    return order ? order : (a->member > b->member) - (a->member < b->member);
}

static int object_order(const void *left, const void *right, void *user)
{
    const struct spe_object_row *a = left, *b = right;
    int order = by_counts(&a->counts, &b->counts, *(const enum spe_sort *)user);

    order = order ? order : (a->object.kind > b->object.kind) - (a->object.kind < b->object.kind);
    order =
        order ? order : (a->object.start > b->object.start) - (a->object.start < b->object.start);
    order = order ? order : (a->object.name > b->object.name) - (a->object.name < b->object.name);
    order = order ? order
                  : (a->object.thread > b->object.thread) - (a->object.thread < b->object.thread);
    return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

size_t types_top(const struct spe_types *t, struct spe_type_row *first, size_t n)
{
    enum spe_sort sort = t->sort;
    struct top top = {first, sizeof(*first), n, 0, type_order, &sort};

    for (size_t i = 0; i < t->types.count; i++)
        top_offer(&top, &t->types.at[i]);
    return top_finish(&top);
}

size_t spe_types_count(const struct spe_types *t)
{
    return t->types.count;
}

size_t types_objects(const struct spe_types *t, struct spe_object_row *first, size_t n)
{
    enum spe_sort sort = t->sort;
    struct top top = {first, sizeof(*first), n, 0, object_order, &sort};

    for (size_t i = 0; i < t->objects.count; i++)
        top_offer(&top, &t->objects.at[i]);
    return top_finish(&top);
}

size_t spe_types_object_count(const struct spe_types *t)
{
    return t->objects.count;
}

static int slices_table(const struct spe_types *t, size_t count, struct spe_slice_table *table)
{
    static const char *const names[FIELDS] = {"samples",   "loads",      "stores",   "latency",
                                              "l1_misses", "llc_misses", "tlb_walks"};
    uint64_t *cells = calloc(t->times.count * count * FIELDS + 1, sizeof(*cells));

    *table = (struct spe_slice_table){names, FIELDS, FIELDS, count, cells};
    return cells ? SPE_OK : SPE_ERR_NOMEM;
}

/* Row `of` of a list becomes row `row` of the table. */
static void copy_slices(const struct spe_types *t, unsigned list, size_t of, size_t row,
                        struct spe_slice_table *table)
{
    uint64_t *cells = (uint64_t *)(uintptr_t)table->cells;

    if (of >= SLICED_ROWS || !t->slices[list])
        return;
    for (size_t bin = 0; bin < t->times.count; bin++)
        memcpy(cells + (bin * table->rows + row) * FIELDS,
               t->slices[list] + (of * t->times.count + bin) * FIELDS, FIELDS * sizeof(*cells));
}

static bool same_type_row(const struct spe_type_row *a, const struct spe_type_row *b)
{
    return a->type == b->type && a->offset == b->offset && a->member == b->member;
}

int spe_types_slices(const struct spe_types *t, const struct spe_type_row *rows, size_t count,
                     struct spe_slice_table *table)
{
    if (slices_table(t, count, table) < 0)
        return SPE_ERR_NOMEM;
    for (size_t row = 0; row < count; row++) {
        bool member = rows[row].member != SPE_NO_ID;
        const struct spe_type_row *list = member ? t->members.at : t->types.at;
        size_t n = member ? t->members.count : t->types.count, of = 0;

        while (of < n && !same_type_row(&list[of], &rows[row]))
            of++;
        copy_slices(t, member ? LIST_MEMBERS : LIST_TYPES, of, row, table);
    }
    return SPE_OK;
}

int spe_types_object_slices(const struct spe_types *t, const struct spe_object_row *rows,
                            size_t count, struct spe_slice_table *table)
{
    if (slices_table(t, count, table) < 0)
        return SPE_ERR_NOMEM;
    for (size_t row = 0; row < count; row++) {
        size_t of = 0;

        while (of < t->objects.count &&
               !same_object(&t->objects.at[of], &rows[row].object, rows[row].pid))
            of++;
        copy_slices(t, LIST_OBJECTS, of, row, table);
    }
    return SPE_OK;
}

static bool is_member(const struct spe_type_row *row, uint32_t type)
{
    return row->counts.samples && (type == SPE_NO_ID || row->type == type);
}

static size_t members_by(const struct spe_types *t, enum spe_sort sort, uint32_t type,
                         struct spe_type_row *first, size_t n)
{
    struct top top = {first, sizeof(*first), n, 0, type_order, &sort};

    for (size_t i = 0; i < t->members.count; i++) {
        if (is_member(&t->members.at[i], type))
            top_offer(&top, &t->members.at[i]);
    }
    return top_finish(&top);
}

size_t types_members(const struct spe_types *t, uint32_t type, struct spe_type_row *first, size_t n)
{
    return members_by(t, t->sort, type, first, n);
}

size_t spe_types_member_count(const struct spe_types *t, uint32_t type)
{
    size_t found = 0;

    for (size_t i = 0; i < t->members.count; i++)
        found += is_member(&t->members.at[i], type);
    return found;
}

bool types_apart(const struct spe_types *t, uint32_t type, struct spe_type_row members[2])
{
    struct spe_type_row top[8];
    size_t found = members_by(t, SPE_SORT_LATENCY, type, top, 8);
    uint64_t latency = 0;

    for (size_t i = 0; i < t->types.count; i++)
        latency = t->types.at[i].type == type ? t->types.at[i].counts.latency : latency;
    for (size_t i = 1; i < found; i++) {
        if (top[i].counts.latency < latency / 10)
            break;
        if (top[i].offset / LINE == top[0].offset / LINE)
            continue;
        members[0] = top[0];
        members[1] = top[i];
        return true;
    }
    return false;
}

/* Two users of a line: are they an example, and one that is further to the front? */
static bool is_example(const struct spe_types *t, const struct line_user *x,
                       const struct line_user *y, const struct spe_type_row than[2])
{
    const struct spe_type_row *a = &t->members.at[x->member], *b = &t->members.at[y->member];

    if (a->type != b->type || x->thread == y->thread || !(x->wrote || y->wrote) ||
        a->offset >= b->offset)
        return false;
    return a->offset != than[0].offset ? a->offset < than[0].offset : b->offset < than[1].offset;
}

#define USERS_LOOKED_AT 256 /* of one line, beside each of its users */

bool types_contended(const struct spe_types *t, uint32_t type, struct spe_type_row members[2])
{
    const struct line_user *users = t->line_users.users.at;
    struct spe_type_row best[2] = {{.offset = UINT64_MAX}, {.offset = UINT64_MAX}};

    for (size_t i = 0; i < t->line_users.users.count; i++) {
        uint32_t other = users[i].before;

        if (t->members.at[users[i].member].type != type)
            continue;
        for (int n = 0; n < USERS_LOOKED_AT && other != NOBODY; n++, other = users[other].before) {
            const struct line_user *x = &users[i], *y = &users[other];
            bool example = is_example(t, x, y, best), reverse = is_example(t, y, x, best);

            if (example || reverse) {
                best[0] = t->members.at[example ? x->member : y->member];
                best[1] = t->members.at[example ? y->member : x->member];
            }
        }
    }
    if (best[0].offset == UINT64_MAX)
        return false;
    memcpy(members, best, sizeof(best));
    return true;
}
