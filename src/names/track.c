/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What loads and stores access. A function is followed as a whole, once: for every instruction it
 * is found out what each register points to, over all ways that lead there. Debug information says
 * which variables registers hold; between these the instructions say what becomes of them: moves,
 * additions, loads of pointers, calls. Where ways meet that do not agree, nothing is known.
 *
 * What is said holds on every way through the code. An access of which that cannot be shown has a
 * reason in place of a type.
 */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes.h"
#include "names/operands.h"
#include "names/types_internal.h"

#define CODE_MAX (1u << 16) /* instructions of one function */
#define ACTIVE_MAX                                                                                 \
    (1u << 22)    /* locations, each counted for every instruction for which it holds              \
                   */
#define VISITS 16 /* of one block before what still changes is given up ... */
#define VISITS_ALL (4 * VISITS) /* ... and everything is */
#define SLOTS 32                /* of the stack that are followed */
#define REGISTERS 32
#define REG_RESULT 8    /* where a large result goes */
#define MEMBER_TEXT 512 /* bytes of a member's path, where two are named */
#define TLS_MAX 4096    /* variables of threads in one file */
#define TCB 16          /* bytes of the thread's own in front of its block (AAELF64) */

/* ---- Values --------------------------------------------------------------------------------- */

enum value_kind {
    VALUE_NONE,    /* no way has come here */
    VALUE_UNKNOWN, /* a multiple of `stride`, and offset */
    VALUE_POINTER, /* to `type`, and offset */
    VALUE_ADDRESS, /* the number `offset` */
    VALUE_FRAME,   /* the CFA and offset */
    VALUE_THREAD,  /* the thread pointer and offset */
};

/* All but VALUE_UNKNOWN may have any multiple of stride added; 0: nothing is. */
struct value {
    uint8_t kind, why; /* why: of what is not known, enum spe_access_reason */
    bool two;          /* the multiple of stride is 0 or 1: a choice between two places */
    uint32_t type;
    uint32_t id; /* within a block: what is not known of others with the same one here is the same
                    (VALUE_UNKNOWN: the number of strides; VALUE_POINTER: where offset 0 is); NONE:
                    of no other */
    int64_t offset;
    uint64_t stride;
};

static struct value unknown(unsigned why)
{
    return (struct value){
        .kind = VALUE_UNKNOWN, .why = (uint8_t)why, .type = NONE, .id = NONE, .stride = 1};
}

static struct value number(uint64_t value)
{
    return (struct value){
        .kind = VALUE_ADDRESS, .type = NONE, .id = NONE, .offset = (int64_t)value};
}

static struct value pointer(uint32_t type, int64_t offset)
{
    return (struct value){.kind = VALUE_POINTER, .type = type, .id = NONE, .offset = offset};
}

static struct value in_frame(int64_t offset)
{
    return (struct value){.kind = VALUE_FRAME, .type = NONE, .id = NONE, .offset = offset};
}

static bool same_value(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && a->type == b->type && a->offset == b->offset &&
           a->stride == b->stride && a->two == b->two && a->why == b->why;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

static bool is_null(const struct value *v)
{
    return v->kind == VALUE_ADDRESS && !v->offset && !v->stride;
}

/* Small numbers are no addresses. */
static bool is_address(const struct value *v)
{
    return v->kind == VALUE_ADDRESS && distance(v->offset, 0) >= 4096;
}

static bool is_place(const struct value *v)
{
    return v->kind != VALUE_NONE && v->kind != VALUE_UNKNOWN;
}

/* Is a choice of two places, one of which b is, or both? */
static bool is_of_two(const struct value *a, const struct value *b)
{
    uint64_t from = (uint64_t)b->offset - (uint64_t)a->offset;

    if (!a->two)
        return false;
    return b->stride ? same_value(a, b) : !from || from == a->stride;
}

/* One of two places in the same thing. */
static struct value choice(const struct value *a, const struct value *b)
{
    struct value v = a->offset < b->offset ? *a : *b;

    v.stride = distance(a->offset, b->offset);
    v.two = v.stride;
    return v;
}

static struct value add_number(struct value v, uint64_t n)
{
    v.offset = (int64_t)((uint64_t)v.offset + n);
    return v;
}

/* Pointers into different types that have the same struct there: one to that. */
static bool common_part(struct dsos *d, const struct value *a, const struct value *b,
                        struct value *v)
{
    uint32_t type;
    uint64_t offset;

    if (a->kind != VALUE_POINTER || b->kind != VALUE_POINTER || a->stride || b->stride ||
        a->offset < 0 || b->offset < 0 ||
        !types_common(d, a->type, (uint64_t)a->offset, b->type, (uint64_t)b->offset, &type,
                      &offset))
        return false;
    *v = pointer(type, (int64_t)offset);
    return true;
}

/* The same, where one may be a choice of two places. */
static bool common_parts(struct dsos *d, const struct value *a, const struct value *b,
                         struct value *v)
{
    struct value low = *a, high, second;

    if (b->two && !a->two)
        return common_parts(d, b, a, v);
    if (!a->two)
        return common_part(d, a, b, v);
    low.stride = 0;
    high = add_number(low, a->stride);
    return !b->two && common_part(d, &low, b, v) && common_part(d, &high, b, &second) &&
           same_value(v, &second);
}

/* Nobody accesses what a null pointer points to: who does it has the other value. */
static struct value join(struct dsos *d, const struct value *a, const struct value *b)
{
    struct value v = *a;

    if (a->kind == VALUE_NONE)
        return *b;
    if (b->kind == VALUE_NONE)
        return *a;
    if (is_null(a) && b->kind == VALUE_POINTER)
        return *b;
    if (is_null(b) && a->kind == VALUE_POINTER)
        return *a;
    if (a->kind == VALUE_UNKNOWN && b->kind == VALUE_UNKNOWN) {
        v.why = a->why < b->why ? b->why : a->why;
        v.stride = gcd(gcd(a->stride, b->stride), distance(a->offset, b->offset));
        v.id = a->id == b->id && a->stride == b->stride && a->offset == b->offset ? a->id : NONE;
        return v;
    }
    if (a->kind != b->kind || a->type != b->type) {
        if (common_parts(d, a, b, &v))
            return v;
        v = unknown(SPE_ACCESS_NO_VARIABLE);
        if (is_place(a) || is_place(b))
            v.why = SPE_ACCESS_LOST_TRACK;
        return v;
    }
    v.stride = gcd(gcd(a->stride, b->stride), distance(a->offset, b->offset));
    if (is_of_two(a, b))
        v = *a;
    else if (is_of_two(b, a))
        v = *b;
    else if (!a->stride && !b->stride)
        v = choice(a, b);
    else
        v.two = false;
    if (a->id != b->id || v.stride)
        v.id = NONE;
    return v;
}

static struct value shift_left(struct value v, unsigned shift)
{
    if (!shift)
        return v;
    if (v.kind == VALUE_ADDRESS || v.kind == VALUE_UNKNOWN) {
        v.offset = (int64_t)((uint64_t)v.offset << shift);
        v.stride = v.stride > UINT64_MAX >> shift ? 1 : v.stride << shift;
        return v;
    }
    return unknown(SPE_ACCESS_LOST_TRACK);
}

/* Of a and `times` b, for which nothing is known: what both are multiples of. Twice a number and
 * the number itself are three times that. */
static struct value add_unknown(const struct value *a, const struct value *b, bool minus)
{
    struct value v = *a;

    v.offset = (int64_t)(minus ? (uint64_t)a->offset - (uint64_t)b->offset
                               : (uint64_t)a->offset + (uint64_t)b->offset);
    if (a->id != NONE && a->id == b->id && a->stride < INT32_MAX && b->stride < INT32_MAX) {
        v.stride = minus ? distance((int64_t)a->stride, (int64_t)b->stride) : a->stride + b->stride;
        return v.stride ? v : number((uint64_t)v.offset);
    }
    v.stride = gcd(a->stride, b->stride);
    v.id = NONE;
    return v;
}

/* Numbers may be added to anything, places to nothing but numbers. */
static struct value add_values(const struct value *a, const struct value *b)
{
    bool swap = a->kind == VALUE_UNKNOWN || (a->kind == VALUE_ADDRESS && b->kind != VALUE_UNKNOWN);
    struct value v = swap ? *b : *a;
    const struct value *other = swap ? a : b;

    if (v.kind == VALUE_UNKNOWN && other->kind == VALUE_UNKNOWN)
        return add_unknown(a, b, false);
    if (other->kind != VALUE_ADDRESS && other->kind != VALUE_UNKNOWN)
        return unknown(SPE_ACCESS_LOST_TRACK);
    v = add_number(v, (uint64_t)other->offset);
    if (v.kind == VALUE_ADDRESS && other->kind == VALUE_UNKNOWN && !is_address(&v)) {
        v.kind = VALUE_UNKNOWN;
        v.why = other->why;
        v.id = v.stride ? NONE : other->id;
    } else if (v.stride || other->stride) {
        v.id = NONE;
    }
    v.two = other->stride ? other->two && !v.stride : v.two;
    v.stride = gcd(v.stride, other->stride);
    return v;
}

/* ---- State ---------------------------------------------------------------------------------- */

struct slot {
    int64_t offset; /* from the CFA */
    struct value value;
};

struct state {
    struct value x[REGISTERS];
    struct slot slots[SLOTS];
    unsigned slot_count;
    uint32_t changed; /* bit n: mark_unknown() has not seen what Xn is now */
    bool reached;
};

struct block {
    uint32_t first, end; /* instructions */
    uint32_t visits;
    bool waiting;
    bool indirect; /* no branch leads here */
    struct state in;
};

struct location_value {
    uint32_t location;
    uint8_t reg;
    uint32_t type;
    int64_t offset;
    bool weak;   /* a pointer to anything */
    bool memory; /* LOCATION_MEMORY: only if the register does not point into the frame */
};

/* What later instructions of a block say of a value, at offset 0. */
struct learnt {
    uint32_t id;
    struct value value;
};

struct follower {
    struct dsos *d;
    struct dso *dso;
    uint32_t dso_id;
    struct file_types *file;
    Dwarf_Die function;
    uint64_t entry;

    struct code_piece *pieces; /* of the function */
    size_t piece_count, piece_capacity;
    uint64_t *pcs;
    struct operands *code;
    uint32_t *block_of;
    size_t count;

    struct block *blocks;
    size_t block_count;

    struct locations locations; /* those in registers last */
    size_t memory_count;        /* of the others */
    VECTOR(struct location_value) values;
    uint32_t *active,
        *active_at;            /* of instruction i: active[active_at[i]] up to active_at[i + 1] */
    struct saved_places saved; /* once somebody asked */
    bool saved_listed;
    struct state jump;   /* at indirect branches, all together */
    struct state unwind; /* at calls, as an exception that is caught here finds it */
    VECTOR(struct learnt) learnt;
    struct hash_table learnt_table; /* by id */
    bool learning;
    bool too_large, no_memory;
};

static void set_register(struct state *s, unsigned r, const struct value *value)
{
    s->x[r] = *value;
    s->changed |= UINT32_C(1) << r;
}

/* Bit n of registers: Xn. */
static void forget_registers(struct state *s, uint32_t registers)
{
    struct value nothing = unknown(SPE_ACCESS_NO_VARIABLE);

    for (; registers; registers &= registers - 1)
        set_register(s, (unsigned)__builtin_ctz(registers), &nothing);
}

static const struct value *slot_of(const struct state *s, int64_t offset)
{
    for (unsigned i = 0; i < s->slot_count; i++) {
        if (s->slots[i].offset == offset)
            return &s->slots[i].value;
    }
    return NULL;
}

/* A store to [offset, offset + size) of the frame ends what was known of it. */
static void forget_slots(struct state *s, int64_t offset, uint64_t size)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < s->slot_count; i++) {
        if (s->slots[i].offset + 8 <= offset || s->slots[i].offset >= offset + (int64_t)size)
            s->slots[kept++] = s->slots[i];
    }
    s->slot_count = kept;
}

static void set_slot(struct state *s, int64_t offset, const struct value *value)
{
    forget_slots(s, offset, 8);
    if (is_place(value) && s->slot_count < SLOTS)
        s->slots[s->slot_count++] = (struct slot){offset, *value};
}

static void forget_ids(struct state *s)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        s->x[i].id = NONE;
    for (unsigned i = 0; i < s->slot_count; i++)
        s->slots[i].value.id = NONE;
}

/* False: nothing changes. */
static bool join_state(struct dsos *d, struct state *to, const struct state *from)
{
    bool changed = false;
    unsigned kept = 0;

    if (!to->reached) {
        *to = *from;
        to->reached = true;
        forget_ids(to);
        return true;
    }
    for (unsigned i = 0; i < REGISTERS; i++) {
        struct value v;

        if (same_value(&to->x[i], &from->x[i])) /* as most are */
            continue;
        v = join(d, &to->x[i], &from->x[i]);
        v.id = NONE;
        changed |= !same_value(&v, &to->x[i]);
        to->x[i] = v;
    }
    for (unsigned i = 0; i < to->slot_count; i++) {
        const struct value *other = slot_of(from, to->slots[i].offset);
        struct value v =
            other ? join(d, &to->slots[i].value, other) : unknown(SPE_ACCESS_NO_VARIABLE);

        v.id = NONE;
        changed |= !same_value(&v, &to->slots[i].value);
        if (is_place(&v))
            to->slots[kept++] = (struct slot){to->slots[i].offset, v};
    }
    to->slot_count = kept;
    return changed;
}

/* ---- Variables at a place ------------------------------------------------------------------- */

static bool is_scalar(const struct type *t)
{
    return t->kind == SPE_TYPE_BASE || t->kind == SPE_TYPE_ENUM || t->kind == SPE_TYPE_POINTER;
}

static bool is_weak(struct dsos *d, uint32_t type)
{
    const struct type *t = types_at(d, type);

    return t->kind == SPE_TYPE_OTHER || (t->kind == SPE_TYPE_BASE && t->size <= 1);
}

/* The pointer that a variable's part is, if it is one: what it points to. */
static bool pointer_in(struct dsos *d, uint32_t type, uint64_t part, uint32_t *target)
{
    struct type_leaf leaf;

    if (!types_leaf(d, type, part, 8, &leaf) || leaf.matches != 1 || leaf.offset ||
        types_at(d, leaf.type)->kind != SPE_TYPE_POINTER)
        return false;
    *target = types_same(d, types_pointed(d, type, part, types_at(d, leaf.type)->target));
    return true;
}

/* What a location says of a register. */
static void value_of_location(struct follower *f, uint32_t i)
{
    const struct location *l = &f->locations.at[i];
    struct location_value v = {.location = i, .reg = l->reg, .type = l->type};

    if (l->kind == LOCATION_FRAME || l->reg >= REGISTERS)
        return;
    if (l->kind == LOCATION_MEMORY) {
        /* Where a plain value can be found may be anything that happens to be equal. A struct is
         * one, also where it is a copy. */
        if (types_at(f->d, l->type)->kind != SPE_TYPE_STRUCT || l->part)
            return;
        v.memory = true;
        v.type = types_same(f->d, l->type);
        v.offset = (int64_t)(l->part - (uint64_t)l->offset);
    } else {
        if (l->size < 8 || !pointer_in(f->d, l->type, l->part, &v.type))
            return;
        v.offset = -l->offset;
    }
    v.weak = is_weak(f->d, v.type);
    if (VECTOR_ROOM(&f->values) < 0)
        f->no_memory = true;
    else
        f->values.at[f->values.count++] = v;
}

/* The first instruction at or behind an address. */
static size_t index_at(const struct follower *f, uint64_t pc)
{
    size_t low = 0, high = f->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->pcs[middle] < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sort_locations(struct follower *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->locations.count; i++) {
        struct location l = f->locations.at[i];

        if (l.kind == LOCATION_REGISTER)
            continue;
        f->locations.at[i] = f->locations.at[kept];
        f->locations.at[kept++] = l;
    }
    f->memory_count = kept;
}

/* For each instruction, the values that hold there. */
static void list_active(struct follower *f)
{
    uint64_t total = 0;

    for (size_t i = 0; i < f->locations.count; i++)
        value_of_location(f, (uint32_t)i);
    f->active_at = calloc(f->count + 2, sizeof(*f->active_at));
    if (!f->active_at) {
        f->no_memory = true;
        return;
    }
    for (size_t i = 0; i < f->values.count; i++) {
        const struct location *l = &f->locations.at[f->values.at[i].location];
        size_t first = index_at(f, l->start), end = index_at(f, l->end);

        total += end - first;
        if (total > ACTIVE_MAX) {
            f->too_large = true;
            return;
        }
        for (size_t j = first; j < end; j++)
            f->active_at[j + 2]++;
    }
    f->active = calloc(total + 1, sizeof(*f->active));
    if (!f->active) {
        f->no_memory = true;
        return;
    }
    for (size_t i = 2; i < f->count + 2; i++)
        f->active_at[i] += f->active_at[i - 1];
    for (size_t i = 0; i < f->values.count; i++) {
        const struct location *l = &f->locations.at[f->values.at[i].location];
        size_t end = index_at(f, l->end);

        for (size_t j = index_at(f, l->start); j < end; j++)
            f->active[f->active_at[j + 1]++] = (uint32_t)i;
    }
}

/* What a variable says of a value that points to the same type already: where both differ by whole
 * elements, they point into an array. */
static struct value same_array(struct follower *f, const struct value *had, struct value v)
{
    uint64_t size = types_at(f->d, v.type)->size;
    uint64_t stride = gcd(had->stride, distance(had->offset, v.offset));

    if (had->kind == VALUE_POINTER && had->type == v.type && size && stride && !(stride % size))
        v.stride = stride;
    return v;
}

/* Where what `part` points to begins in what `whole`, the same address, points to. */
static bool part_offset(struct follower *f, const struct value *whole, const struct value *part,
                        uint64_t *offset)
{
    int64_t at = whole->offset - part->offset;
    uint64_t size = types_at(f->d, whole->type)->size;

    if (whole->kind != VALUE_POINTER || distance(whole->offset, 0) > INT64_MAX / 4 ||
        distance(part->offset, 0) > INT64_MAX / 4)
        return false;
    if (whole->stride) {
        if (!size || size > INT64_MAX || whole->stride % size)
            return false;
        at = floor_modulo(at, size);
    }
    *offset = (uint64_t)at;
    return at >= 0;
}

/* Does what `whole` points to have in it what `part`, the same address, points to? */
static bool has_part(struct follower *f, const struct value *whole, const struct value *part)
{
    uint64_t offset;

    return part_offset(f, whole, part, &offset) &&
           types_contains(f->d, whole->type, offset, part->type);
}

/* Is a number said to lie in a struct where the struct has none? */
static bool is_impossible(struct follower *f, const struct value *v, const struct value *said)
{
    const struct type *whole = types_at(f->d, v->type);
    uint64_t offset, size = whole->size;

    return v->kind == VALUE_POINTER && whole->kind == SPE_TYPE_STRUCT &&
           is_scalar(types_at(f->d, said->type)) && part_offset(f, v, said, &offset) &&
           offset < size && !types_contains(f->d, v->type, offset, said->type);
}

/* Two variables in one register: the one that has the other in it, if one has. */
static struct value both(struct follower *f, const struct value *a, const struct value *b)
{
    struct value array = same_array(f, a, *b);

    if (a->kind == VALUE_UNKNOWN)
        return *a;
    if (array.stride)
        return array;
    if (a->type == b->type && a->offset == b->offset)
        return *a;
    if (has_part(f, a, b))
        return *a;
    if (has_part(f, b, a))
        return *b;
    return unknown(SPE_ACCESS_AMBIGUOUS);
}

/* What is known of a register without debug information is better than a pointer to anything; that
 * it is the address of a variable is better than any pointer. */
static bool is_better(struct follower *f, const struct value *v, const struct location_value *l)
{
    if (v->kind == VALUE_ADDRESS)
        return !v->stride && is_address(v);
    if (v->kind == VALUE_FRAME || v->kind == VALUE_THREAD)
        return !v->stride;
    if (!l->weak || v->kind != VALUE_POINTER)
        return false;
    return types_at(f->d, v->type)->kind != SPE_TYPE_OTHER ||
           types_at(f->d, l->type)->kind == SPE_TYPE_OTHER;
}

/* A pointer into something larger says more than one to the part alone. */
static bool is_around(struct follower *f, const struct value *v, const struct value *part)
{
    return (v->type != part->type || v->offset == part->offset) && has_part(f, v, part);
}

/* The code says that a pointer is to another place of the same type than a variable says: compilers
 * that move code do not always move the variable along. */
static bool is_contradicted(struct follower *f, const struct value *v, const struct value *said)
{
    uint64_t size = types_at(f->d, said->type)->size;

    return v->kind == VALUE_POINTER && v->type == said->type && size &&
           distance(v->offset, said->offset) % gcd(v->stride, size);
}

static struct learnt *learnt_of(struct follower *f, uint32_t id)
{
    size_t cursor = 0;
    uint32_t number;

    while (f->learnt.count &&
           (number = hash_table_find(&f->learnt_table, hash_number(0, id), &cursor)) != NONE) {
        if (f->learnt.at[number].id == id)
            return &f->learnt.at[number];
    }
    return NULL;
}

static void keep_learnt(struct follower *f, uint32_t id, const struct value *value)
{
    struct learnt *known = learnt_of(f, id);

    if (known) {
        known->value = both(f, &known->value, value);
    } else if (VECTOR_ROOM(&f->learnt) < 0 || hash_table_add(&f->learnt_table, hash_number(0, id),
                                                             (uint32_t)f->learnt.count) < 0) {
        f->no_memory = true;
    } else {
        f->learnt.at[f->learnt.count++] = (struct learnt){id, *value};
    }
}

/* What had an id is the pointer v: so it was before, and so are its copies. Two variables that say
 * different things of it say nothing. */
static void learn_id(struct follower *f, const struct value *had, const struct value *v)
{
    struct value base = add_number(*v, -(uint64_t)had->offset);

    if (f->learning && had->id != NONE && v->kind == VALUE_POINTER && !v->stride &&
        had->stride == (had->kind == VALUE_UNKNOWN))
        keep_learnt(f, had->id, &base);
}

/* Registers (bit n: Xn) of which several variables speak. */
static uint32_t disputed_registers(const struct follower *f, size_t i)
{
    uint32_t once = 0, again = 0;

    for (uint32_t j = f->active_at[i]; j < f->active_at[i + 1]; j++) {
        uint32_t reg = UINT32_C(1) << f->values.at[f->active[j]].reg;

        again |= once & reg;
        once |= reg;
    }
    return again;
}

/* Those of them of which one says what the code says, too. */
static uint32_t agreed_registers(struct follower *f, size_t i, const struct state *s)
{
    uint32_t disputed = disputed_registers(f, i), agreed = 0;

    for (uint32_t j = f->active_at[i]; disputed && j < f->active_at[i + 1]; j++) {
        const struct location_value *l = &f->values.at[f->active[j]];
        const struct value *x = &s->x[l->reg];
        struct value said = pointer(l->type, l->offset);

        if (disputed >> l->reg & 1 && !l->weak && x->kind == VALUE_POINTER && x->type == l->type &&
            !is_contradicted(f, x, &said))
            agreed |= UINT32_C(1) << l->reg;
    }
    return agreed;
}

/* What variables say of a register. Where several speak of it, all have to agree before its copies
 * are believed to be the same. */
static void apply_locations(struct follower *f, size_t i, struct state *s)
{
    uint32_t strong = 0, learns = 0, agreed = agreed_registers(f, i, s);
    struct value before[REGISTERS];

    for (uint32_t j = f->active_at[i]; j < f->active_at[i + 1]; j++) {
        const struct location_value *l = &f->values.at[f->active[j]];
        const struct value *x = &s->x[l->reg];
        struct value v = pointer(l->type, l->offset);
        bool again = strong >> l->reg & 1;

        if (l->memory && (x->kind == VALUE_FRAME || l->reg == REG_SP))
            continue;
        if (agreed >> l->reg & 1 && is_impossible(f, x, &v))
            continue;
        if (again && !l->weak) {
            v = both(f, x, &v);
            set_register(s, l->reg, &v);
        } else if (!again && !is_better(f, x, l) && !is_around(f, x, &v) &&
                   !is_contradicted(f, x, &v)) {
            before[l->reg] = *x;
            learns |= (uint32_t)!l->weak << l->reg;
            v = same_array(f, x, v);
            set_register(s, l->reg, &v);
        }
        if (!l->weak && !is_better(f, x, l))
            strong |= UINT32_C(1) << l->reg;
    }
    for (; learns; learns &= learns - 1) {
        unsigned r = (unsigned)__builtin_ctz(learns);

        learn_id(f, &before[r], &s->x[r]);
    }
}

/* ---- Places --------------------------------------------------------------------------------- */

static struct target no_target(unsigned why)
{
    return (struct target){.type = NONE, .name = NONE, .next = NONE, .why = (uint8_t)why};
}

static uint32_t room_of(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static bool frame_offset(const struct location *l, const struct state *s, int64_t *offset)
{
    if (l->kind == LOCATION_REGISTER)
        return false;
    *offset = l->offset;
    if (l->kind == LOCATION_FRAME)
        return true;
    if (l->reg >= REGISTERS || s->x[l->reg].kind != VALUE_FRAME || s->x[l->reg].stride)
        return false;
    *offset = (int64_t)((uint64_t)l->offset + (uint64_t)s->x[l->reg].offset);
    return true;
}

/* The variable that lies at a place of the frame. */
static struct target frame_target(struct follower *f, uint64_t pc, const struct state *s,
                                  const struct value *v)
{
    struct target found = no_target(v->stride ? SPE_ACCESS_LOST_TRACK : SPE_ACCESS_TEMPORARY);

    for (size_t i = 0; i < f->memory_count; i++) {
        const struct location *l = &f->locations.at[i];
        struct target t = {.type = l->type, .name = l->name, .next = NONE, .variable = true};
        int64_t at;

        if (pc < l->start || pc >= l->end || !frame_offset(l, s, &at) || v->offset < at ||
            (uint64_t)(v->offset - at) >= l->size)
            continue;
        t.offset = v->offset - at + (int64_t)l->part;
        t.room = room_of(l->size - (uint64_t)(v->offset - at));
        t.stride = v->stride;
        t.two = v->two;
        if (found.type == NONE ||
            (t.offset >= found.offset &&
             types_contains(f->d, t.type, (uint64_t)(t.offset - found.offset), found.type)))
            found = t;
        else if (found.offset < t.offset ||
                 !types_contains(f->d, found.type, (uint64_t)(found.offset - t.offset), t.type))
            return no_target(SPE_ACCESS_AMBIGUOUS);
    }
    return found;
}

/* Does an instruction between two others overwrite what the first one stores? */
static bool is_overwritten(const struct follower *f, size_t first, uint64_t until)
{
    const struct operands *o = &f->code[first];

    for (size_t i = first + 1; i < f->count && f->pcs[i] < until; i++) {
        const struct operands *next = &f->code[i];

        if (next->store && next->known && next->base == o->base && next->index >= REGISTERS &&
            next->offset < o->offset + (int64_t)o->bytes &&
            o->offset < next->offset + (int64_t)next->bytes)
            return true;
    }
    return false;
}

/* Where, behind a store and before the next branch, the first variable lies in a place of the frame
 * in which none lies yet: it is this variable that is given its value. 0: nowhere. */
static uint64_t next_scope(const struct follower *f, size_t i, const struct state *s,
                           const struct value *v)
{
    uint64_t end = f->pcs[f->blocks[f->block_of[i]].end - 1], next = 0;

    for (size_t n = 0; n < f->memory_count; n++) {
        const struct location *l = &f->locations.at[n];
        int64_t at;

        if (l->start > f->pcs[i] && l->start <= end + 4 && (!next || l->start < next) &&
            frame_offset(l, s, &at) && v->offset >= at && (uint64_t)(v->offset - at) < l->size)
            next = l->start;
    }
    return next && !is_overwritten(f, i, next) ? next : 0;
}

static struct target variable_target(const struct variables *list, const struct value *v,
                                     uint64_t address, unsigned otherwise)
{
    const struct variable *found = variables_find(list, address);

    if (!found)
        return no_target(otherwise);
    return (struct target){.type = found->type,
                           .name = found->name,
                           .next = NONE,
                           .offset = (int64_t)(address - found->start + found->part),
                           .room = room_of(found->end - address),
                           .stride = v->stride,
                           .variable = true,
                           .two = v->two};
}

static struct target target_of(struct follower *f, uint64_t pc, const struct state *s,
                               const struct value *v);

/* What an access of some bytes is of. A pair may go on in the variable that lies behind. */
static struct target target_of_bytes(struct follower *f, uint64_t pc, const struct state *s,
                                     const struct value *v, uint64_t bytes)
{
    struct target t = target_of(f, pc, s, v);

    while (t.variable && !t.stride && t.room < bytes) {
        struct value behind = add_number(*v, t.room);
        struct target next = target_of(f, pc, s, &behind);
        bool part = next.variable && next.type == t.type && next.name == t.name &&
                    next.offset == t.offset + (int64_t)t.room;

        t.next = next.variable ? next.name : NONE;
        if (!part)
            break;
        t.next = NONE;
        t.room = room_of((uint64_t)t.room + next.room);
    }
    return t;
}

static struct target target_of(struct follower *f, uint64_t pc, const struct state *s,
                               const struct value *v)
{
    uint64_t align = f->file->tls_align, block = (TCB + align - 1) / align * align;

    switch (v->kind) {
    case VALUE_POINTER:
        return (struct target){.type = v->type,
                               .name = NONE,
                               .next = NONE,
                               .offset = v->offset,
                               .stride = v->stride,
                               .two = v->two};
    case VALUE_FRAME:
        return frame_target(f, pc, s, v);
    case VALUE_ADDRESS:
        return variable_target(&f->file->globals, v, (uint64_t)v->offset, SPE_ACCESS_CONSTANT);
    case VALUE_THREAD:
        return variable_target(&f->file->tls, v, (uint64_t)v->offset - block,
                               SPE_ACCESS_NO_VARIABLE);
    case VALUE_NONE:
        return no_target(SPE_ACCESS_NO_VARIABLE);
    default:
        return no_target(v->why);
    }
}

/* An access to some element of an array that lies at the offset: all of them are the first one.
 * `first` may be before the array's start where the index does not begin with 0; it is then in what
 * lies before the array, so its last element is not believed. */
static bool settle_array(struct follower *f, struct target *t, uint64_t size)
{
    struct type_leaf leaf;
    uint64_t at = (uint64_t)t->offset, in;

    if (t->offset < 0 || !types_leaf(f->d, t->type, at, size ? size : 1, &leaf) || !leaf.element ||
        t->stride % leaf.element)
        return false;
    in = at - leaf.array;
    if (leaf.array_size != UINT64_MAX && leaf.array_size > leaf.element &&
        in >= leaf.array_size - leaf.element && in >= leaf.element)
        return false;
    t->offset = (int64_t)(leaf.array + in % leaf.element);
    t->stride = 0;
    return true;
}

/* Pointers are to one of several: any number of the type may lie before and behind. A constant says
 * so only of types without members: with members it may as well be the way out to the type around
 * this one. */
static bool settle_pointer(struct follower *f, struct target *t, uint64_t size)
{
    const struct type *type = types_at(f->d, t->type);

    if (!type->size || type->size > INT64_MAX)
        return false;
    if (is_scalar(type)) {
        if (size % type->size && t->stride && size < type->size)
            t->offset = 0; /* some part of some element */
        else if (size % type->size)
            return t->offset >= 0 && (uint64_t)t->offset + size <= type->size && !t->stride;
        else if (floor_modulo(t->offset, type->size) && t->stride != 1)
            return false;
        t->offset = 0;
        t->stride = 0;
        return true;
    }
    if (!t->stride || t->stride % type->size)
        return !t->stride;
    t->offset = floor_modulo(t->offset, type->size);
    t->stride = 0;
    return true;
}

/* An access to some element where the array cannot be told by the offset: it is the only one. */
static bool settle_only_array(struct follower *f, struct target *t, uint64_t size)
{
    if (!t->stride || !types_only_array(f->d, t->type, t->stride, size ? size : 1, &t->offset))
        return false;
    t->stride = 0;
    return true;
}

/* An access to one of two members: both are named. */
static bool settle_two(struct follower *f, const struct target *t,
                       struct spe_profile_access *access)
{
    struct spe_profile_access first = *access, second = *access;
    char text[2 * MEMBER_TEXT];

    if (!t->two || !t->stride || types_at(f->d, t->type)->kind != SPE_TYPE_STRUCT ||
        t->offset < 0 || t->stride > INT64_MAX / 4 || t->offset > INT64_MAX / 4 ||
        !types_access_of(f->d, t->type, (uint64_t)t->offset, &first) ||
        !types_access_of(f->d, t->type, (uint64_t)t->offset + t->stride, &second))
        return false;
    if (first.member != second.member) {
        snprintf(text, sizeof(text), "{%.*s,%.*s}", MEMBER_TEXT - 4,
                 strings_at(f->d->strings, first.member), MEMBER_TEXT - 4,
                 strings_at(f->d->strings, second.member));
        first.member = strings_add(f->d->strings, text);
        if (first.member == NONE) {
            f->no_memory = true;
            return false;
        }
    }
    *access = first;
    if (t->variable)
        access->variable = t->name;
    return true;
}

/* How much of an access lies in what is at its address: a pair may go on behind it. */
static uint64_t size_within(struct follower *f, const struct target *t, uint64_t size)
{
    uint64_t whole = types_at(f->d, t->type)->size, offset = (uint64_t)t->offset;

    if (t->variable && t->next != NONE)
        return t->room;
    return offset < whole && whole - offset < size ? whole - offset : size;
}

static uint32_t both_names(struct follower *f, const struct target *t)
{
    char text[2 * MEMBER_TEXT];
    uint32_t name;

    snprintf(text, sizeof(text), "{%.*s,%.*s}", MEMBER_TEXT - 4, strings_at(f->d->strings, t->name),
             MEMBER_TEXT - 4, strings_at(f->d->strings, t->next));
    name = strings_add(f->d->strings, text);
    f->no_memory |= name == NONE;
    return name;
}

/* What is accessed, and its reason. */
static void settle(struct follower *f, struct target t, uint32_t bytes,
                   struct spe_profile_access *access)
{
    uint64_t size = bytes ? bytes : 1;

    access->reason = t.why;
    if (t.why != SPE_ACCESS_KNOWN)
        return;
    access->reason = SPE_ACCESS_NO_TYPE;
    if (types_at(f->d, t.type)->kind == SPE_TYPE_OTHER || settle_two(f, &t, access))
        return;
    if (!t.variable && !(t.stride && settle_array(f, &t, size)) && !settle_pointer(f, &t, size) &&
        !settle_only_array(f, &t, size)) {
        access->reason = t.stride ? SPE_ACCESS_LOST_TRACK : SPE_ACCESS_OUTSIDE;
        return;
    }
    if (t.stride && !settle_array(f, &t, size) && !settle_only_array(f, &t, size)) {
        access->reason = SPE_ACCESS_LOST_TRACK;
        return;
    }
    access->reason = SPE_ACCESS_OUTSIDE;
    if (t.offset < 0)
        return;
    access->size = (uint32_t)size_within(f, &t, size);
    if (types_access_of(f->d, t.type, (uint64_t)t.offset, access) && t.variable)
        access->variable = t.next == NONE || t.next == t.name ? t.name : both_names(f, &t);
    access->size = bytes;
}

/* The address of an access. */
static struct value address_of(const struct operands *o, const struct state *s)
{
    struct value v, index;

    if (!o->known || o->base >= REGISTERS)
        return unknown(SPE_ACCESS_LOST_TRACK);
    v = add_number(s->x[o->base], (uint64_t)o->offset);
    if (o->index >= REGISTERS)
        return v;
    index = shift_left(s->x[o->index], o->scale);
    return add_values(&v, &index);
}

/* Does the unwinder find a caller's register in these bytes of the frame? */
static bool saves_register(struct follower *f, int64_t offset, uint64_t size)
{
    if (!f->saved_listed &&
        frames_saved(f->d, f->dso, f->file, f->pieces, f->piece_count, &f->saved) < 0)
        f->no_memory = true;
    f->saved_listed = true;
    for (size_t i = 0; i < f->saved.count; i++) {
        if (f->saved.at[i] < offset + (int64_t)size && offset < f->saved.at[i] + 8)
            return true;
    }
    return false;
}

/* What an instruction accesses. Its type is looked up when somebody asks for it. */
static struct target target_at(struct follower *f, size_t i, const struct state *s,
                               struct spe_profile_access *access)
{
    const struct operands *o = &f->code[i];
    struct value v = address_of(o, s);
    struct target t = target_of_bytes(f, f->pcs[i], s, &v, o->bytes);
    uint64_t scope;

    *access = (struct spe_profile_access){.load = o->load,
                                          .store = o->store,
                                          .stack = v.kind == VALUE_FRAME || o->base == REG_SP,
                                          .type = SPE_NO_ID,
                                          .size = o->bytes,
                                          .member = SPE_NO_ID,
                                          .variable = SPE_NO_ID};
    if (t.why != SPE_ACCESS_TEMPORARY)
        return t;
    if (saves_register(f, v.offset, o->bytes)) {
        access->type = types_stack_operation(f->d);
        access->member = strings_add(f->d->strings, "");
        f->no_memory |= access->member == NONE;
        return no_target(SPE_ACCESS_SAVED);
    }
    scope = o->store ? next_scope(f, i, s, &v) : 0;
    return scope ? target_of_bytes(f, scope, s, &v, o->bytes) : t;
}

/* ---- Instructions --------------------------------------------------------------------------- */

static uint64_t got_entry(struct follower *f, uint64_t address, uint8_t *kind)
{
    size_t low = 0, high = f->file->relocations.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (f->file->relocations.at[middle].at < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= f->file->relocations.count || f->file->relocations.at[low].at != address)
        return 0;
    *kind = f->file->relocations.at[low].thread ? VALUE_THREAD : VALUE_ADDRESS;
    return f->file->relocations.at[low].value;
}

static struct value loaded(struct follower *f, size_t i, struct state *s,
                           const struct value *place);

/* Two places of one thing, not of two elements of an array? */
static bool is_choice(struct follower *f, const struct value *place)
{
    uint64_t size = types_at(f->d, place->type)->size;

    return place->two && place->kind == VALUE_POINTER && size && place->stride % size;
}

/* What 8 bytes at one of two places are. */
static struct value loaded_either(struct follower *f, size_t i, struct state *s,
                                  const struct value *place)
{
    struct value low = *place, high, first, second;

    low.stride = 0;
    low.two = false;
    high = add_number(low, place->stride);
    first = loaded(f, i, s, &low);
    second = loaded(f, i, s, &high);
    return join(f->d, &first, &second);
}

/* What 8 bytes at a place are. */
static struct value loaded(struct follower *f, size_t i, struct state *s, const struct value *place)
{
    struct target t = target_of(f, f->pcs[i], s, place);
    struct spe_profile_access access = {.size = 8};
    struct value v = unknown(SPE_ACCESS_NO_VARIABLE);
    const struct value *slot;
    uint8_t kind = VALUE_NONE;
    uint64_t entry;
    uint32_t target;

    if (is_choice(f, place))
        return loaded_either(f, i, s, place);
    if (place->kind == VALUE_ADDRESS && !place->stride) {
        entry = got_entry(f, (uint64_t)place->offset, &kind);
        if (kind != VALUE_NONE) {
            v = number(entry);
            v.kind = kind;
            return v;
        }
    }
    settle(f, t, 8, &access);
    if (access.reason != SPE_ACCESS_KNOWN) {
        slot = place->kind == VALUE_FRAME && !place->stride ? slot_of(s, place->offset) : NULL;
        if (slot)
            return *slot;
        v.why = t.why == SPE_ACCESS_KNOWN ? SPE_ACCESS_LOST_TRACK : access.reason;
        if (v.why == SPE_ACCESS_TEMPORARY || v.why == SPE_ACCESS_CONSTANT)
            v.why = SPE_ACCESS_NO_VARIABLE;
        return v;
    }
    if (!pointer_in(f->d, access.type, access.offset, &target))
        return v;
    return pointer(target, 0);
}

/* A value that is put where a pointer lies is this pointer. A variable of the function lies there
 * if it does behind the store. A member of something else says so only of types with members:
 * numbers that a pointer to a number is the way to may lie in any struct. */
static void learn_stored(struct follower *f, size_t i, struct state *s, const struct value *place,
                         uint8_t reg)
{
    bool frame = place->kind == VALUE_FRAME;
    struct target t = target_of(f, f->pcs[i] + (frame ? 4 : 0), s, place);
    struct spe_profile_access access = {.size = 8};
    struct value v, had;
    uint32_t target;

    if (reg >= REGISTERS || s->x[reg].id == NONE)
        return;
    had = s->x[reg];
    settle(f, t, 8, &access);
    if (access.reason != SPE_ACCESS_KNOWN || !pointer_in(f->d, access.type, access.offset, &target))
        return;
    v = pointer(target, 0);
    if (types_at(f->d, target)->kind == SPE_TYPE_STRUCT || (frame && !is_weak(f->d, target)))
        learn_id(f, &had, &v);
}

static void store_values(struct follower *f, size_t i, struct state *s)
{
    const struct operands *o = &f->code[i];
    struct value place = address_of(o, s), next = add_number(place, 8), zero = number(0);

    if (o->gives_value && !o->writes_back) {
        learn_stored(f, i, s, &place, o->d);
        if (o->bytes == 16)
            learn_stored(f, i, s, &next, o->a);
    }
    if (place.kind != VALUE_FRAME)
        return;
    if (place.stride || !o->bytes) {
        s->slot_count = 0;
        return;
    }
    forget_slots(s, place.offset, o->bytes);
    if (!o->gives_value)
        return;
    set_slot(s, place.offset, o->d < REGISTERS ? &s->x[o->d] : &zero);
    if (o->bytes == 16)
        set_slot(s, place.offset + 8, o->a < REGISTERS ? &s->x[o->a] : &zero);
}

static void transfer_access(struct follower *f, size_t i, struct state *s)
{
    const struct operands *o = &f->code[i];
    struct value place = address_of(o, s), first, second, base;

    first = second = unknown(SPE_ACCESS_NO_VARIABLE);
    base = o->base < REGISTERS ? add_number(s->x[o->base], (uint64_t)o->advance) : first;
    if (o->takes_value) {
        first = loaded(f, i, s, &place);
        if (o->a < REGISTERS) {
            place = add_number(place, 8);
            second = loaded(f, i, s, &place);
        }
    }
    if (o->store)
        store_values(f, i, s);
    forget_registers(s, o->writes);
    if (o->writes_back && o->base < REGISTERS)
        set_register(s, o->base, &base);
    if (o->takes_value && o->d < REGISTERS)
        set_register(s, o->d, &first);
    if (o->takes_value && o->a < REGISTERS)
        set_register(s, o->a, &second);
}

static struct value register_value(const struct state *s, uint8_t r)
{
    return r < REGISTERS ? s->x[r] : number(0);
}

static struct value multiplied(const struct state *s, const struct operands *o)
{
    struct value a = register_value(s, o->a), n = register_value(s, o->n),
                 m = register_value(s, o->m), v = unknown(SPE_ACCESS_NO_VARIABLE);

    if (n.kind == VALUE_ADDRESS && m.kind != VALUE_ADDRESS) {
        v = n;
        n = m;
        m = v;
        v = unknown(SPE_ACCESS_NO_VARIABLE);
    }
    if (m.kind == VALUE_ADDRESS && !m.stride && m.offset > 0 && m.offset < INT32_MAX &&
        !is_null(&m)) {
        if (n.kind == VALUE_ADDRESS && !n.stride) {
            v = number((uint64_t)n.offset * (uint64_t)m.offset);
        } else if (n.kind == VALUE_UNKNOWN && n.stride < INT32_MAX &&
                   distance(n.offset, 0) < INT32_MAX) {
            v.stride = n.stride * (uint64_t)m.offset;
            v.offset = n.offset * m.offset;
        } else {
            v.stride = (uint64_t)m.offset;
        }
    }
    return add_values(&a, &v);
}

static struct value subtracted(const struct state *s, const struct operands *o)
{
    struct value n = register_value(s, o->n), m = shift_left(register_value(s, o->m), o->shift);

    if (m.kind == VALUE_ADDRESS) {
        m.offset = (int64_t) - (uint64_t)m.offset;
        m.two = false;
        return add_values(&n, &m);
    }
    if (m.kind != VALUE_UNKNOWN)
        return unknown(SPE_ACCESS_NO_VARIABLE);
    return n.kind == VALUE_UNKNOWN ? add_unknown(&n, &m, true) : add_values(&n, &m);
}

static struct value added(const struct state *s, const struct operands *o)
{
    struct value n = register_value(s, o->n), m = shift_left(register_value(s, o->m), o->shift);

    if (o->m < REGISTERS)
        n = add_values(&n, &m);
    return add_number(n, o->value);
}

static struct value result_of(struct dsos *d, const struct state *s, const struct operands *o)
{
    struct value n, m;

    switch (o->kind) {
    case OPERANDS_CONSTANT:
        return number(o->value);
    case OPERANDS_INSERT:
        n = register_value(s, o->d);
        if (n.kind != VALUE_ADDRESS || n.stride)
            return unknown(SPE_ACCESS_NO_VARIABLE);
        return number(((uint64_t)n.offset & ~(UINT64_C(0xffff) << o->shift)) | o->value);
    case OPERANDS_ADD:
        return added(s, o);
    case OPERANDS_SUBTRACT:
        return subtracted(s, o);
    case OPERANDS_MULTIPLY:
        return multiplied(s, o);
    case OPERANDS_EXTEND:
        n = register_value(s, o->n);
        if (n.kind == VALUE_ADDRESS && !n.stride)
            return number((uint64_t)(int64_t)(int32_t)n.offset);
        return n.kind == VALUE_UNKNOWN ? n : unknown(SPE_ACCESS_NO_VARIABLE);
    case OPERANDS_SELECT:
        n = register_value(s, o->n);
        m = register_value(s, o->m);
        return join(d, &n, &m);
    case OPERANDS_THREAD:
        n = number(0);
        n.kind = VALUE_THREAD;
        return n;
    default:
        return unknown(SPE_ACCESS_LOST_TRACK);
    }
}

/* The type that a function returns; NONE: nothing. */
static uint32_t return_type(struct follower *f, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;

    if (!dwarf_formref_die(dwarf_attr_integrate(function, DW_AT_type, &attribute), &type))
        return NONE;
    return types_of_die(f->d, f->dso_id, &type);
}

/* What a function returns in X0, if it is a pointer. */
static struct value returned(struct follower *f, uint64_t target)
{
    struct value v = unknown(SPE_ACCESS_NO_VARIABLE);
    Dwarf_Die die;
    Dwarf_Addr entry;
    uint32_t id;

    if (!target || !lines_function(f->d, f->dso, target, &die) ||
        dwarf_entrypc(&die, &entry) != 0 || entry != target)
        return v;
    id = return_type(f, &die);
    if (types_at(f->d, id)->kind != SPE_TYPE_POINTER)
        return v;
    return pointer(types_same(f->d, types_at(f->d, id)->target), 0);
}

/* Functions of C's library that return their first argument: compilers go on with the result. */
static bool returns_argument(const struct follower *f, uint64_t target)
{
    static const char *const functions[] = {"memcpy", "memmove", "memset",  "strcpy",
                                            "strcat", "strncpy", "strncat", NULL};
    const struct symtab *t = &f->dso->symbols;
    uint32_t n = target ? dso_find(f->dso, target, SYMBOL_FUNCTION) : NONE;
    const char *name;
    size_t length;

    if (n == NONE || t->functions.at[n].start != target)
        return false;
    name = t->names.at + t->functions.at[n].name;
    length = strcspn(name, "@");
    for (size_t i = 0; functions[i]; i++) {
        if (strlen(functions[i]) == length && !memcmp(functions[i], name, length))
            return true;
    }
    return false;
}

static void transfer_call(struct follower *f, const struct operands *o, struct state *s)
{
    uint32_t changed = callees_changed(f->d, f->dso, f->file, o->target);
    struct value result = s->x[0];

    forget_registers(s, changed);
    if (changed & 1) {
        if (!returns_argument(f, o->target))
            result = returned(f, o->target);
        set_register(s, 0, &result);
    }
}

/* What an exception out of a call leaves: registers that calls keep (AAPCS64), and the stack. */
static void keep_for_unwinding(struct follower *f, const struct state *s)
{
    struct state left = *s;

    forget_registers(&left, CALL_CHANGES_ALL);
    join_state(f->d, &f->unwind, &left);
}

static void transfer(struct follower *f, size_t i, struct state *s)
{
    const struct operands *o = &f->code[i];
    struct value v;

    if (o->flow == FLOW_CALL) {
        transfer_call(f, o, s);
        return;
    }
    if (o->load || o->store) {
        transfer_access(f, i, s);
        return;
    }
    v = result_of(f->d, s, o);
    if (o->narrow && v.kind != VALUE_ADDRESS && v.kind != VALUE_UNKNOWN)
        v = unknown(SPE_ACCESS_NO_VARIABLE);
    forget_registers(s, o->writes);
    if (o->d < REGISTERS)
        set_register(s, o->d, &v);
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static uint32_t block_at(const struct follower *f, uint64_t pc)
{
    size_t i = index_at(f, pc);

    return i < f->count && f->pcs[i] == pc ? f->block_of[i] : NONE;
}

/* Does a function say that it does not return? */
static bool is_last_call(struct follower *f, const struct operands *o)
{
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    Dwarf_Addr entry;
    bool flag = false;

    return o->flow == FLOW_CALL && o->target && lines_function(f->d, f->dso, o->target, &die) &&
           dwarf_entrypc(&die, &entry) == 0 && entry == o->target &&
           dwarf_formflag(dwarf_attr_integrate(&die, DW_AT_noreturn, &attribute), &flag) == 0 &&
           flag;
}

static bool is_leader(const struct follower *f, const uint8_t *targets, size_t i)
{
    return !i || targets[i] || f->pcs[i] != f->pcs[i - 1] + 4 || f->code[i - 1].ends ||
           (f->code[i - 1].flow != FLOW_NEXT && f->code[i - 1].flow != FLOW_CALL);
}

static bool make_blocks(struct follower *f)
{
    uint8_t *targets = calloc(f->count + 1, 1);
    size_t count = 0;

    f->block_of = calloc(f->count + 1, sizeof(*f->block_of));
    if (!targets || !f->block_of) {
        free(targets);
        return false;
    }
    for (size_t i = 0; i < f->count; i++) {
        uint8_t flow = f->code[i].flow;
        size_t to =
            flow == FLOW_BRANCH || flow == FLOW_MAYBE ? index_at(f, f->code[i].target) : f->count;

        f->code[i].ends = is_last_call(f, &f->code[i]);
        if (to < f->count && f->pcs[to] == f->code[i].target)
            targets[to] = 1;
    }
    for (size_t i = 0; i < f->count; i++) {
        count += is_leader(f, targets, i);
        f->block_of[i] = (uint32_t)count - 1;
    }
    free(targets);
    f->blocks = calloc(count + 1, sizeof(*f->blocks));
    f->block_count = count;
    if (!f->blocks)
        return false;
    for (size_t i = 0; i < f->count; i++) {
        struct block *b = &f->blocks[f->block_of[i]];

        if (!i || f->block_of[i] != f->block_of[i - 1])
            b->first = (uint32_t)i;
        b->end = (uint32_t)i + 1;
    }
    return true;
}

/* What still changes does not settle: nothing is known of it. */
static void give_up(struct state *s, const struct state *before, bool all)
{
    for (unsigned i = 0; i < REGISTERS; i++) {
        if (all || !same_value(&s->x[i], &before->x[i]))
            s->x[i] = unknown(SPE_ACCESS_LOST_TRACK);
    }
    if (all)
        s->slot_count = 0;
}

static void flow_to(struct follower *f, uint32_t number, const struct state *s)
{
    struct block *b = number < f->block_count ? &f->blocks[number] : NULL;
    bool often = b && b->visits >= VISITS;
    struct state before;

    if (!b)
        return;
    if (often)
        before = b->in;
    if (!join_state(f->d, &b->in, s))
        return;
    b->visits++;
    if (often)
        give_up(&b->in, &before, b->visits > VISITS_ALL);
    b->waiting = b->visits <= VISITS_ALL + 1;
}

/* What an instruction makes that nothing is known of is a number of its own, unless a later one of
 * the block says what it is. */
static void mark_unknown(struct follower *f, struct state *s, size_t i)
{
    for (; s->changed; s->changed &= s->changed - 1) {
        unsigned r = (unsigned)__builtin_ctz(s->changed);
        struct value *x = &s->x[r];
        uint32_t id = (uint32_t)(i * REGISTERS + r);
        const struct learnt *known;

        if (x->id != NONE || (x->kind != VALUE_UNKNOWN &&
                              (x->kind != VALUE_POINTER || x->stride || !is_weak(f->d, x->type))))
            continue;
        x->id = id;
        known = f->learning ? NULL : learnt_of(f, id);
        if (known && known->value.kind == VALUE_POINTER && x->stride == (x->kind == VALUE_UNKNOWN))
            *x = add_number(known->value, (uint64_t)x->offset);
    }
}

static struct state entered(const struct block *b)
{
    struct state s = b->in;

    s.changed = UINT32_MAX;
    return s;
}

static void follow_block(struct follower *f, uint32_t number)
{
    struct block *b = &f->blocks[number];
    struct state s = entered(b);
    const struct operands *last = &f->code[b->end - 1];
    uint64_t next = f->pcs[b->end - 1] + 4;

    b->waiting = false;
    for (size_t i = b->first; i < b->end; i++) {
        apply_locations(f, i, &s);
        mark_unknown(f, &s, i);
        if (f->file->catches && f->code[i].flow == FLOW_CALL)
            keep_for_unwinding(f, &s);
        transfer(f, i, &s);
    }
    if (last->flow == FLOW_JUMP)
        join_state(f->d, &f->jump, &s);
    if (last->flow == FLOW_BRANCH || last->flow == FLOW_MAYBE)
        flow_to(f, block_at(f, last->target), &s);
    if (last->flow == FLOW_NEXT || last->flow == FLOW_MAYBE ||
        (last->flow == FLOW_CALL && !last->ends))
        flow_to(f, block_at(f, next), &s);
}

static void follow_blocks(struct follower *f)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < f->block_count; i++) {
            if (!f->blocks[i].waiting)
                continue;
            follow_block(f, (uint32_t)i);
            more = true;
        }
    }
}

/* Where nothing is known but what the unwinder knows: of the stack pointer or the frame pointer. */
static void start_from_cfi(struct follower *f, uint64_t pc, struct state *s)
{
    int64_t offset;
    unsigned reg;

    if (frames_cfa(f->d, f->dso, f->file, pc, &reg, &offset) && (reg == 29 || reg == REG_SP))
        s->x[reg] = in_frame((int64_t) - (uint64_t)offset);
}

/* Is there an argument before the first parameter? rustc passes where the result goes, and LLVM may
 * take X0 for it as for any other argument. */
static bool has_hidden_argument(struct follower *f)
{
    for (size_t i = 0; i < f->locations.count; i++) {
        const struct location *l = &f->locations.at[i];

        if (l->first && l->start <= f->entry && f->entry < l->end && !l->part)
            return l->kind == LOCATION_REGISTER && l->reg == 1 && !l->offset &&
                   types_in_rust(&f->function);
    }
    return false;
}

/* What the caller gives: the stack, and in X8 the place for a result that does not fit into
 * registers (AAPCS64). A function whose result does fit does not read X8 before it writes it. */
static void start_function(struct follower *f, struct state *s)
{
    uint32_t type = types_same(f->d, return_type(f, &f->function));
    uint8_t kind = types_at(f->d, type)->kind;

    s->x[REG_SP] = in_frame(0);
    if (kind != SPE_TYPE_STRUCT && kind != SPE_TYPE_UNION)
        return;
    s->x[REG_RESULT] = pointer(type, 0);
    if (has_hidden_argument(f))
        s->x[0] = pointer(type, 0);
}

static void start_block(struct follower *f, uint32_t number, bool entry)
{
    struct block *b = &f->blocks[number];

    for (unsigned i = 0; i < REGISTERS; i++)
        b->in.x[i] = unknown(SPE_ACCESS_NO_VARIABLE);
    b->in.slot_count = 0;
    b->in.reached = true;
    b->waiting = true;
    if (entry)
        start_function(f, &b->in);
    else
        start_from_cfi(f, f->pcs[b->first], &b->in);
}

/* Blocks that no branch leads to are reached by the function's jump tables or, where exceptions are
 * caught, by one out of a call. */
static void start_indirect(struct follower *f, uint32_t number)
{
    f->blocks[number].indirect = true;
    if (f->jump.reached)
        flow_to(f, number, &f->jump);
    if (f->unwind.reached)
        flow_to(f, number, &f->unwind);
    if (!f->blocks[number].in.reached)
        start_block(f, number, false);
}

/* Until what is found in these blocks does not change how they are reached. */
static void follow(struct follower *f)
{
    uint32_t entry = block_at(f, f->entry);
    bool more = true;

    if (entry < f->block_count)
        start_block(f, entry, true);
    follow_blocks(f);
    while (more) {
        more = false;
        for (uint32_t i = 0; i < f->block_count; i++) {
            if (f->blocks[i].in.reached && !f->blocks[i].indirect)
                continue;
            start_indirect(f, i);
            more |= f->blocks[i].waiting;
            follow_blocks(f);
        }
    }
}

/* ---- A function ----------------------------------------------------------------------------- */

struct file_types *file_types_of(struct dsos *d, struct dso *dso)
{
    if (!dso->types) {
        dso->types = calloc(1, sizeof(*dso->types));
        if (!dso->types) {
            names_missing(d->strings, SPE_ERR_NOMEM);
            return NULL;
        }
        dso->types->fd = -1;
        dso->types->tls_align = 1;
        dso->types->budget = d->budget;
    }
    return dso->types;
}

bool file_types_take(struct file_types *f, uint64_t bytes)
{
    if (!budget_take(f->budget, bytes))
        return false;
    f->taken += bytes;
    return true;
}

void types_close(struct file_types *f)
{
    if (!f)
        return;
    frames_close(f);
    if (f->fd >= 0)
        close(f->fd);
    budget_give(f->budget, f->taken);
    free(f->globals.at);
    free(f->tls.at);
    free(f->relocations.at);
    free(f->tls_symbols.at);
    free(f->accesses.at);
    hash_table_free(&f->table);
    free(f->callees.at);
    hash_table_free(&f->callee_table);
    free(f);
}

static int compare_relocations(const void *a, const void *b)
{
    const struct relocation *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static void add_relocation(struct file_types *f, const struct relocation *r)
{
    if (f->relocations.count >= RELOCATIONS_MAX || !file_types_take(f, sizeof(*r)) ||
        VECTOR_ROOM(&f->relocations) < 0)
        return;
    f->relocations.at[f->relocations.count++] = *r;
}

/* The global offset table: what the loader writes there. */
static void read_relocations(struct file_types *f, Elf *elf, Elf_Scn *section,
                             const GElf_Shdr *header, const GElf_Shdr *got)
{
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *table = elf_getscn(elf, header->sh_link);
    Elf_Data *names = table ? elf_getdata(table, NULL) : NULL;
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

    for (size_t i = 0; i < count && i < SYMBOL_MAX; i++) {
        GElf_Rela rela;
        GElf_Sym symbol = {0};
        struct relocation r;
        bool own;

        if (!gelf_getrela(data, (int)i, &rela) || rela.r_offset - got->sh_addr >= got->sh_size)
            continue;
        own = !GELF_R_SYM(rela.r_info) ||
              (names && gelf_getsym(names, (int)GELF_R_SYM(rela.r_info), &symbol) &&
               symbol.st_shndx != SHN_UNDEF);
        r = (struct relocation){rela.r_offset, symbol.st_value + (uint64_t)rela.r_addend, false};
        if (!own)
            continue;
        switch (GELF_R_TYPE(rela.r_info)) {
        case R_AARCH64_TLS_TPREL:
            r.thread = true;
            r.value += (TCB + f->tls_align - 1) / f->tls_align * f->tls_align;
            add_relocation(f, &r);
            break;
        case R_AARCH64_GLOB_DAT:
        case R_AARCH64_ABS64:
        case R_AARCH64_RELATIVE:
            add_relocation(f, &r);
            break;
        default:
            break;
        }
    }
}

/* Where nothing is relocated, the table is as it is in the file. */
static void read_fixed(struct file_types *f, Elf_Scn *section, const GElf_Shdr *got)
{
    Elf_Data *data = elf_getdata(section, NULL);

    for (size_t i = 0; data && i + 8 <= data->d_size; i += 8)
        add_relocation(f, &(struct relocation){got->sh_addr + i,
                                               load64((const uint8_t *)data->d_buf + i), false});
}

static void read_tables(struct file_types *f, Elf *elf)
{
    GElf_Shdr got, header;
    Elf_Scn *section = NULL, *table = elf_file_section(elf, ".got", &got);
    GElf_Ehdr file;
    size_t count = 0;

    if (elf_getphdrnum(elf, &count) == 0) {
        for (size_t i = 0; i < count; i++) {
            GElf_Phdr p;

            if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_TLS && p.p_align &&
                p.p_align < UINT32_MAX)
                f->tls_align = p.p_align;
        }
    }
    f->catches = elf_file_section(elf, ".gcc_except_table", &header);
    if (!table || got.sh_type != SHT_PROGBITS || !gelf_getehdr(elf, &file))
        return;
    if (file.e_type == ET_EXEC)
        read_fixed(f, table, &got);
    while ((section = elf_nextscn(elf, section))) {
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            read_relocations(f, elf, section, &header, &got);
    }
    if (f->relocations.count)
        qsort(f->relocations.at, f->relocations.count, sizeof(struct relocation),
              compare_relocations);
}

static void add_tls_symbol(struct dsos *d, struct file_types *f, const char *name,
                           const GElf_Sym *symbol)
{
    struct tls_symbol s = {symbol->st_value, symbol->st_size, strings_add(d->strings, name), false};

    for (size_t i = 0; i < f->tls_symbols.count; i++) {
        if (f->tls_symbols.at[i].name == s.name && f->tls_symbols.at[i].offset != s.offset)
            f->tls_symbols.at[i].several = s.several = true;
    }
    if (f->tls_symbols.count < TLS_MAX && VECTOR_ROOM(&f->tls_symbols) == SPE_OK)
        f->tls_symbols.at[f->tls_symbols.count++] = s;
}

static void read_tls_symbols(struct dsos *d, struct file_types *f, Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Sym symbol;

    while ((section = elf_nextscn(elf, section))) {
        Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB
                             ? elf_getdata(section, NULL)
                             : NULL;
        size_t count = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;

        for (size_t i = 0; i < count && i < SYMBOL_MAX; i++) {
            const char *name;

            if (!gelf_getsym(data, (int)i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_TLS ||
                symbol.st_shndx == SHN_UNDEF)
                continue;
            name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (name && *name)
                add_tls_symbol(d, f, name, &symbol);
        }
    }
}

bool file_types_open(struct dsos *d, struct dso *dso, struct file_types *f)
{
    char *warning = NULL;
    struct elf_file elf;
    uint8_t state;

    if (f->tried)
        return f->fd >= 0;
    f->tried = true;
    if (!dso->file)
        return false;
    f->fd = dso_open_checked(d, dso, dso->file, &state, &warning);
    free(warning);
    if (f->fd >= 0 && elf_file_open(&elf, f->fd, DSO_FILE, f->budget) == SPE_OK) {
        read_tables(f, elf.elf);
        read_tls_symbols(d, f, elf.elf);
        elf_file_close(&elf);
    }
    return f->fd >= 0;
}

bool file_types_code(const struct dso *dso, const struct file_types *f, uint64_t address,
                     uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < dso->symbols.segments.count; i++) {
        const struct segment *s = &dso->symbols.segments.at[i];

        if (address >= s->address && address - s->address < s->size &&
            size <= s->size - (address - s->address))
            return pread(f->fd, bytes, size, (off_t)(address - s->address + s->offset)) ==
                   (ssize_t)size;
    }
    return false;
}

/* The function's code, decoded. */
static bool read_piece(struct follower *f, uint64_t start, uint64_t end)
{
    size_t words = (end - start) / 4;
    uint8_t *bytes = malloc(4 * words + 1);
    bool good = bytes && file_types_code(f->dso, f->file, start, bytes, 4 * words);

    for (size_t i = 0; good && i < words; i++) {
        f->pcs[f->count] = start + 4 * i;
        operands_decode(load32(bytes + 4 * i), start + 4 * i, &f->code[f->count++]);
    }
    free(bytes);
    return good;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct code_piece *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static bool list_pieces(struct follower *f)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    uint64_t words = 0;

    while ((at = dwarf_ranges(&f->function, at, &base, &start, &end)) > 0) {
        if (start >= end || start & 3)
            continue;
        words += (end - start) / 4;
        f->too_large = words > CODE_MAX;
        f->no_memory =
            vector_grow(&f->pieces, &f->piece_capacity, f->piece_count, sizeof(f->pieces[0])) < 0;
        if (f->too_large || f->no_memory)
            return false;
        f->pieces[f->piece_count++] = (struct code_piece){start, end};
    }
    if (f->piece_count)
        qsort(f->pieces, f->piece_count, sizeof(f->pieces[0]), compare_pieces);
    for (size_t i = 1; i < f->piece_count; i++) {
        if (f->pieces[i].start < f->pieces[i - 1].end) /* damaged */
            return false;
    }
    f->pcs = calloc(words + 1, sizeof(*f->pcs));
    f->code = calloc(words + 1, sizeof(*f->code));
    f->no_memory = !f->pcs || !f->code;
    return !f->no_memory;
}

static bool read_function(struct follower *f)
{
    if (!list_pieces(f))
        return false;
    for (size_t i = 0; i < f->piece_count; i++) {
        if (!read_piece(f, f->pieces[i].start, f->pieces[i].end))
            return false;
    }
    if (dwarf_entrypc(&f->function, &f->entry) != 0)
        f->entry = f->count ? f->pcs[0] : 0;
    return f->count;
}

/* ---- What is remembered --------------------------------------------------------------------- */

static uint64_t address_hash(uint64_t address)
{
    return hash_number(0, address);
}

static void remember(struct follower *f, uint64_t address, const struct spe_profile_access *access,
                     const struct target *target)
{
    struct file_types *t = f->file;

    if (t->accesses.count >= UINT32_MAX / 2 ||
        !file_types_take(t, sizeof(struct known_access) + 2 * sizeof(uint64_t)))
        return;
    if (VECTOR_ROOM(&t->accesses) < 0 ||
        hash_table_add(&t->table, address_hash(address), (uint32_t)t->accesses.count) < 0) {
        f->no_memory = true;
        return;
    }
    t->accesses.at[t->accesses.count++] =
        (struct known_access){address, *access, *target, target->why != SPE_ACCESS_KNOWN};
}

static struct known_access *recall(const struct file_types *t, uint64_t address)
{
    size_t cursor = 0;
    uint32_t number;

    while ((number = hash_table_find(&t->table, address_hash(address), &cursor)) != NONE) {
        if (t->accesses.at[number].address == address)
            return &t->accesses.at[number];
    }
    return NULL;
}

static void remember_all(struct follower *f)
{
    struct spe_profile_access access;
    struct target target;

    for (size_t n = 0; n < f->block_count; n++) {
        struct state s = entered(&f->blocks[n]);

        for (size_t i = f->blocks[n].first; i < f->blocks[n].end; i++) {
            apply_locations(f, i, &s);
            mark_unknown(f, &s, i);
            if (f->code[i].load || f->code[i].store) {
                target = target_at(f, i, &s, &access);
                access.reason = target.why;
                remember(f, f->pcs[i], &access, &target);
            }
            transfer(f, i, &s);
        }
    }
}

/* What variables say of values that were made before, with all that is known of the blocks. */
static void learn_ids(struct follower *f)
{
    f->learning = true;
    for (size_t n = 0; n < f->block_count; n++) {
        struct state s = entered(&f->blocks[n]);

        for (size_t i = f->blocks[n].first; i < f->blocks[n].end; i++) {
            apply_locations(f, i, &s);
            mark_unknown(f, &s, i);
            transfer(f, i, &s);
        }
    }
    f->learning = false;
}

static void forget_blocks(struct follower *f)
{
    f->jump.reached = f->unwind.reached = false;
    for (size_t n = 0; n < f->block_count; n++) {
        f->blocks[n].in.reached = f->blocks[n].waiting = f->blocks[n].indirect = false;
        f->blocks[n].visits = 0;
    }
}

static void follow_function(struct follower *f)
{
    variables_list(f->d, f->dso_id, f->file);
    if (!read_function(f))
        return;
    if (locations_list(f->d, f->dso_id, &f->function, &f->locations) < 0)
        f->too_large = true;
    sort_locations(f);
    if (!f->too_large)
        list_active(f);
    if (f->too_large || f->no_memory || !make_blocks(f))
        return;
    follow(f);
    learn_ids(f);
    if (f->learnt.count) {
        forget_blocks(f);
        follow(f);
    }
    remember_all(f);
}

static void free_follower(struct follower *f)
{
    free(f->pieces);
    free(f->pcs);
    free(f->code);
    free(f->block_of);
    free(f->blocks);
    free(f->locations.at);
    free(f->values.at);
    free(f->active);
    free(f->active_at);
    free(f->saved.at);
    free(f->learnt.at);
    hash_table_free(&f->learnt_table);
}

static unsigned why_not(struct dsos *d, struct dso *dso)
{
    dso_load(d, dso);
    if (dso->kind != DSO_FILE)
        return SPE_ACCESS_NO_CODE;
    return dso->state == SPE_DSO_VERIFIED || dso->state == SPE_DSO_UNVERIFIED ? SPE_ACCESS_KNOWN
                                                                              : SPE_ACCESS_NO_FILE;
}

/* A function that was followed is remembered, too, at an address that no instruction has: that of
 * its description, made odd. */
static uint64_t function_key(const Dwarf_Die *function)
{
    return (uint64_t)(uintptr_t)function->addr << 1 | 1;
}

/* What the function of an address does; the reason if it cannot be said. */
static unsigned learn(struct dsos *d, uint32_t dso, struct file_types *t, uint64_t address)
{
    struct follower f = {.d = d, .dso = d->list.at[dso], .dso_id = dso, .file = t};
    struct spe_profile_access done = {.reason = SPE_ACCESS_NO_ACCESS};
    struct target nothing = no_target(SPE_ACCESS_NO_ACCESS);
    const struct known_access *before;

    if (!lines_function(d, f.dso, address, &f.function))
        return SPE_ACCESS_NO_DEBUG_INFO;
    if (!file_types_open(d, f.dso, t))
        return SPE_ACCESS_NO_FILE;
    before = recall(t, function_key(&f.function));
    if (before)
        return before->access.reason;
    if (d->types)
        d->types->common_steps = 0;
    follow_function(&f);
    if (f.too_large)
        done.reason = SPE_ACCESS_TOO_LARGE;
    remember(&f, function_key(&f.function), &done, &nothing);
    if (f.no_memory)
        names_missing(d->strings, SPE_ERR_NOMEM);
    free_follower(&f);
    return done.reason;
}

void types_access(struct dsos *d, uint32_t dso, uint64_t address, struct spe_profile_access *access)
{
    struct dso *file = d->list.at[dso];
    struct file_types *t;
    struct known_access *known;
    struct follower note = {.d = d};
    struct target nothing;

    access->reason = (uint8_t)why_not(d, file);
    t = access->reason == SPE_ACCESS_KNOWN ? file_types_of(d, file) : NULL;
    if (!t)
        return;
    note.file = t;
    known = recall(t, address);
    if (!known) {
        access->reason = (uint8_t)learn(d, dso, t, address);
        known = recall(t, address);
        nothing = no_target(access->reason);
        if (!known)
            remember(&note, address, access, &nothing);
    }
    if (known && !known->settled)
        settle(&note, known->target, known->access.size, &known->access);
    if (known) {
        known->settled = true;
        *access = known->access;
    }
    if (note.no_memory)
        names_missing(d->strings, SPE_ERR_NOMEM);
}
