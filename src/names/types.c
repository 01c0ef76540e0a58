/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Types out of DWARF: what they are called, how large they are, which member lies where. A type is
 * read when somebody first asks for it, its members when somebody looks into it. Descriptions are
 * untrusted: they may be endless, lie in each other, overlap, and have any size.
 */
#include "names/types_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An id is that of an element of the list, and a number of a member that of one of its members:
 * clang-tidy 14 takes both for pointers that may be NULL. */
/* NOLINTBEGIN(clang-analyzer-core.NullDereference) */

/* ---- The table ------------------------------------------------------------------------------ */

struct types *types_of(struct dsos *d)
{
    if (!d->types) {
        d->types = calloc(1, sizeof(*d->types));
        if (!d->types) {
            names_missing(d->strings, SPE_ERR_NOMEM);
            return NULL;
        }
        d->types->seed = hash_seed();
        d->types->budget = d->budget;
        d->types->stack_operation = NONE;
    }
    return d->types;
}

void types_free(struct types *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->list.count; i++)
        free(t->list.at[i].members.at);
    budget_give(t->budget, t->taken);
    free(t->list.at);
    hash_table_free(&t->table);
    hash_table_free(&t->alike);
    free(t);
}

static bool take(struct types *t, uint64_t bytes)
{
    if (!budget_take(t->budget, bytes))
        return false;
    t->taken += bytes;
    return true;
}

const struct type *types_at(struct dsos *d, uint32_t id)
{
    static const struct type nothing = {.kind = SPE_TYPE_OTHER,
                                        .listed = true,
                                        .given = NONE,
                                        .name = NONE,
                                        .same = NONE,
                                        .target = NONE};

    return d->types && id < d->types->list.count ? &d->types->list.at[id] : &nothing;
}

static uint64_t die_hash(const struct types *t, const Dwarf_Die *die, uint32_t dimension)
{
    return hash_number(t->seed, (uint64_t)(uintptr_t)die->addr + dimension);
}

static uint32_t add_type(struct dsos *d, const struct type *type, uint64_t hash)
{
    struct types *t = d->types;

    if (t->list.count >= TYPE_MAX || !take(t, sizeof(*type) + sizeof(uint64_t)))
        return NONE;
    if (VECTOR_ROOM(&t->list) < 0 || hash_table_add(&t->table, hash, (uint32_t)t->list.count) < 0) {
        names_missing(d->strings, SPE_ERR_NOMEM);
        return NONE;
    }
    t->list.at[t->list.count] = *type;
    return (uint32_t)t->list.count++;
}

/* ---- Descriptions --------------------------------------------------------------------------- */

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    Dwarf_Sword sword;

    if (!dwarf_attr_integrate(die, name, &attribute))
        return false;
    if (dwarf_formudata(&attribute, &word) == 0) {
        *value = word;
        return true;
    }
    if (dwarf_formsdata(&attribute, &sword) != 0)
        return false;
    *value = (uint64_t)sword;
    return true;
}

static bool flag_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool flag = false;

    return dwarf_formflag(dwarf_attr(die, name, &attribute), &flag) == 0 && flag;
}

static bool type_die(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;

    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type);
}

static bool is_alias(int tag)
{
    switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_immutable_type:
    case DW_TAG_packed_type:
    case DW_TAG_shared_type:
        return true;
    default:
        return false;
    }
}

/* Without typedefs and qualifiers; *given is the last typedef's name. False: void, or endless. */
static bool peel(Dwarf_Die *die, const char **given)
{
    int depth = 0;

    *given = NULL;
    while (is_alias(dwarf_tag(die))) {
        if (dwarf_tag(die) == DW_TAG_typedef)
            *given = dwarf_diename(die);
        if (depth++ >= TYPE_DEPTH || !type_die(die, die))
            return false;
    }
    return true;
}

static uint32_t type_of(struct dsos *d, uint32_t dso, Dwarf_Die *die, uint32_t dimension);

/* Elements of the dimension of an array, and how many follow it. */
static uint64_t dimension_of(Dwarf_Die *array, uint32_t dimension, uint32_t *more)
{
    Dwarf_Die die;
    uint64_t count = 0, low = 0;
    uint32_t at = 0;
    int next = dwarf_child(array, &die);

    for (; next == 0 && at < TYPE_DEPTH; next = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);

        if (tag != DW_TAG_subrange_type && tag != DW_TAG_enumeration_type)
            continue;
        if (at++ != dimension)
            continue;
        if (!number_of(&die, DW_AT_count, &count) && number_of(&die, DW_AT_upper_bound, &count)) {
            number_of(&die, DW_AT_lower_bound, &low);
            count = count + 1 - low; /* of [] it is -1 and 1 */
        }
    }
    *more = at > dimension + 1 ? at - dimension - 1 : 0;
    return count;
}

static void describe_array(struct dsos *d, struct type *type)
{
    Dwarf_Die die = type->die, element;
    uint32_t more;
    uint64_t size;

    type->count = dimension_of(&die, type->dimension, &more);
    if (more)
        type->target = type_of(d, type->dso, &die, type->dimension + 1);
    else
        type->target = type_die(&die, &element) ? types_of_die(d, type->dso, &element) : NONE;
    size = types_at(d, type->target)->size;
    if (size && type->count > UINT64_MAX / 2 / size)
        type->count = 0;
    type->size = size * type->count;
}

static void describe(struct dsos *d, struct type *type)
{
    Dwarf_Die *die = &type->die, target;

    number_of(die, DW_AT_byte_size, &type->size);
    switch (dwarf_tag(die)) {
    case DW_TAG_base_type:
        type->kind = SPE_TYPE_BASE;
        break;
    case DW_TAG_enumeration_type:
        type->kind = SPE_TYPE_ENUM;
        break;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_pointer_type:
        type->reference = dwarf_tag(die) != DW_TAG_pointer_type;
        type->kind = SPE_TYPE_POINTER;
        type->size = 8;
        type->target = type_die(die, &target) ? types_of_die(d, type->dso, &target) : NONE;
        break;
    case DW_TAG_ptr_to_member_type:
        type->kind = SPE_TYPE_BASE;
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_interface_type:
        type->kind = SPE_TYPE_STRUCT;
        break;
    case DW_TAG_union_type:
        type->kind = SPE_TYPE_UNION;
        break;
    case DW_TAG_array_type:
        type->kind = SPE_TYPE_ARRAY;
        describe_array(d, type);
        break;
    default:
        break;
    }
    if (flag_of(die, DW_AT_declaration)) {
        type->kind = SPE_TYPE_OTHER;
        type->size = 0;
    }
}

/* The type is in the table before what it points to is looked at: it may point to itself. */
static uint32_t type_of(struct dsos *d, uint32_t dso, Dwarf_Die *die, uint32_t dimension)
{
    struct types *t = types_of(d);
    struct type type = {.die = *die,
                        .dso = dso,
                        .dimension = dimension,
                        .given = NONE,
                        .name = NONE,
                        .same = NONE,
                        .target = NONE};
    uint64_t hash;
    size_t cursor = 0;
    uint32_t id;

    if (!t)
        return NONE;
    hash = die_hash(t, die, dimension);
    while ((id = hash_table_find(&t->table, hash, &cursor)) != NONE) {
        if (t->list.at[id].die.addr == die->addr && t->list.at[id].dimension == dimension)
            return id;
    }
    if (t->depth >= TYPE_DEPTH || dimension >= TYPE_DEPTH)
        return NONE;
    id = add_type(d, &type, hash);
    if (id == NONE)
        return NONE;
    t->depth++;
    describe(d, &type);
    t->depth--;
    t->list.at[id] = type;
    return id;
}

uint32_t types_of_die(struct dsos *d, uint32_t dso, Dwarf_Die *die)
{
    Dwarf_Die peeled = *die;
    const char *given;
    uint32_t id = peel(&peeled, &given) ? type_of(d, dso, &peeled, 0) : NONE;

    if (id != NONE && given && d->types->list.at[id].given == NONE && !dwarf_diename(&peeled))
        d->types->list.at[id].given = strings_add(d->strings, given);
    return id;
}

uint32_t types_pointer(struct dsos *d, uint32_t target)
{
    struct types *t = types_of(d);
    struct type type = {.dso = types_at(d, target)->dso,
                        .kind = SPE_TYPE_POINTER,
                        .listed = true,
                        .given = NONE,
                        .name = NONE,
                        .same = NONE,
                        .target = target,
                        .size = 8};
    uint64_t hash;
    size_t cursor = 0;
    uint32_t id;

    if (!t)
        return NONE;
    hash = hash_number(t->seed, target);
    while ((id = hash_table_find(&t->table, hash, &cursor)) != NONE) {
        if (!t->list.at[id].die.addr && t->list.at[id].target == target)
            return id;
    }
    return add_type(d, &type, hash);
}

/* perf's name for it. */
uint32_t types_stack_operation(struct dsos *d)
{
    struct types *t = types_of(d);
    struct type type = {.dso = NONE,
                        .kind = SPE_TYPE_OTHER,
                        .listed = true,
                        .given = NONE,
                        .name = strings_add(d->strings, "(stack operation)"),
                        .same = NONE,
                        .target = NONE};

    if (type.name == NONE)
        names_missing(d->strings, SPE_ERR_NOMEM);
    if (t && type.name != NONE && t->stack_operation == NONE)
        t->stack_operation = add_type(d, &type, hash_number(t->seed, type.name));
    return t ? t->stack_operation : NONE;
}

/* ---- Members -------------------------------------------------------------------------------- */

/* Where a member begins; false: that depends on the object (a virtual base), or it has no place. */
static bool member_offset(Dwarf_Die *die, bool in_union, uint64_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;

    *offset = 0;
    if (!dwarf_attr_integrate(die, DW_AT_data_member_location, &attribute))
        return in_union || dwarf_hasattr(die, DW_AT_data_bit_offset) ||
               !(flag_of(die, DW_AT_external) || flag_of(die, DW_AT_declaration) ||
                 dwarf_hasattr(die, DW_AT_const_value));
    if (number_of(die, DW_AT_data_member_location, offset))
        return true;
    if (dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1 ||
        ops[0].atom != DW_OP_plus_uconst)
        return false;
    *offset = ops[0].number;
    return true;
}

static void set_bits(Dwarf_Die *die, uint64_t storage, struct member *m)
{
    uint64_t bits, from_end, at = m->offset * 8;

    if (!number_of(die, DW_AT_bit_size, &bits) || !bits || bits > 128 ||
        m->offset > UINT64_MAX / 16)
        return;
    if (number_of(die, DW_AT_data_bit_offset, &at)) {
        /* from the start of the whole */
    } else if (number_of(die, DW_AT_bit_offset, &from_end)) { /* as big-endian machines count */
        number_of(die, DW_AT_byte_size, &storage);
        at += storage * 8 - from_end - bits;
    }
    m->offset = at / 8;
    m->bit = at % 8;
    m->bits = (uint8_t)bits;
    m->size = (m->bit + bits + 7) / 8;
}

static bool is_flexible(const struct type *t)
{
    return t->kind == SPE_TYPE_ARRAY && !t->count;
}

/* Is the description the member that tells the variants of a part from each other? */
static bool is_discriminant(Dwarf_Die *part, const Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die named;

    return dwarf_tag(part) == DW_TAG_variant_part &&
           dwarf_formref_die(dwarf_attr(part, DW_AT_discr, &attribute), &named) &&
           named.addr == die->addr;
}

static bool add_member(struct dsos *d, uint32_t id, Dwarf_Die *parent, Dwarf_Die *die,
                       bool in_union)
{
    struct type *type;
    struct member m = {.inherited = dwarf_tag(die) == DW_TAG_inheritance,
                       .discriminant = is_discriminant(parent, die)};
    Dwarf_Die of;
    const char *name = m.inherited ? NULL : dwarf_diename(die);

    if (!member_offset(die, in_union, &m.offset) || !type_die(die, &of))
        return true;
    m.type = types_of_die(d, types_at(d, id)->dso, &of);
    m.size = types_at(d, m.type)->size;
    m.name = strings_add(d->strings, name ? name : m.discriminant ? "discriminant" : "");
    set_bits(die, m.size, &m);
    if (m.offset > UINT64_MAX - m.size || (!m.size && !is_flexible(types_at(d, m.type))))
        return true;
    type = &d->types->list.at[id];
    if (type->members.count >= TYPE_MEMBERS || !take(d->types, sizeof(m)))
        return false;
    if (m.name == NONE || VECTOR_ROOM(&type->members) < 0) {
        names_missing(d->strings, SPE_ERR_NOMEM);
        return false;
    }
    type->members.at[type->members.count++] = m;
    return true;
}

/* Variants of an enum of Rust share their bytes, as the members of a union do. */
static bool add_members(struct dsos *d, uint32_t id, Dwarf_Die *parent, bool in_union, int depth)
{
    Dwarf_Die die;
    int next = depth < TYPE_DEPTH ? dwarf_child(parent, &die) : 1;
    bool good = true;

    for (; next == 0 && good; next = dwarf_siblingof(&die, &die)) {
        switch (dwarf_tag(&die)) {
        case DW_TAG_member:
        case DW_TAG_inheritance:
            good = add_member(d, id, parent, &die, in_union);
            break;
        case DW_TAG_variant_part:
        case DW_TAG_variant:
            good = add_members(d, id, &die, in_union, depth + 1);
            break;
        default:
            break;
        }
    }
    return good;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->bit != y->bit)
        return x->bit < y->bit ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

void types_list(struct dsos *d, uint32_t id)
{
    struct type *type;
    Dwarf_Die die;

    if (!d->types || id >= d->types->list.count || d->types->list.at[id].listed)
        return;
    type = &d->types->list.at[id];
    type->listed = true;
    if (type->kind != SPE_TYPE_STRUCT && type->kind != SPE_TYPE_UNION)
        return;
    die = type->die;
    add_members(d, id, &die, type->kind == SPE_TYPE_UNION, 0);
    type = &d->types->list.at[id];
    if (type->members.count)
        qsort(type->members.at, type->members.count, sizeof(struct member), compare_members);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static int language_of(Dwarf_Die *die)
{
    Dwarf_Die unit;

    return dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : 0;
}

bool types_in_rust(Dwarf_Die *die)
{
    return language_of(die) == DW_LANG_Rust;
}

static bool is_c(Dwarf_Die *die)
{
    switch (language_of(die)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_ObjC:
        return true;
    default:
        return false;
    }
}

/* The namespaces and types around a type, by the places of their descriptions: what lies in one is
 * described before its sibling. */
static void add_scopes(Dwarf_Die *die, char *text, size_t size)
{
    Dwarf_Die at, next;
    size_t length = 0;
    int more, depth = 0;

    text[0] = 0;
    if (!dwarf_diecu(die, &at, NULL, NULL))
        return;
    more = dwarf_child(&at, &at);
    while (more == 0 && depth < TYPE_DEPTH && at.addr < die->addr) {
        int tag = dwarf_tag(&at);
        const char *name = dwarf_diename(&at);

        more = dwarf_siblingof(&at, &next);
        if (more == 0 && next.addr <= die->addr) {
            at = next;
            continue;
        }
        if (tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
            tag == DW_TAG_union_type) {
            int added = snprintf(text + length, size - length,
                                 "%s::", name ? name : "(anonymous namespace)");

            if (added < 0 || (size_t)added >= size - length)
                return;
            length += (size_t)added;
        }
        more = dwarf_child(&at, &at);
        depth++;
    }
}

#define NAME_MAX_SIZE 1024

static void struct_name(struct dsos *d, uint32_t id, char text[NAME_MAX_SIZE])
{
    const struct type *t = types_at(d, id);
    Dwarf_Die die = t->die;
    const char *name = dwarf_diename(&die), *keyword = "";
    char scopes[NAME_MAX_SIZE / 2] = "";
    int tag = dwarf_tag(&die);

    if (!name && t->given != NONE) {
        snprintf(text, NAME_MAX_SIZE, "%s", strings_at(d->strings, t->given));
        return;
    }
    if (is_c(&die) || !name)
        keyword = tag == DW_TAG_union_type         ? "union "
                  : tag == DW_TAG_enumeration_type ? "enum "
                  : tag == DW_TAG_class_type       ? "class "
                                                   : "struct ";
    if (!is_c(&die))
        add_scopes(&die, scopes, sizeof(scopes));
    snprintf(text, NAME_MAX_SIZE, "%s%s%s", keyword, scopes, name ? name : "(anonymous)");
}

static void make_name(struct dsos *d, uint32_t id, int depth, char text[NAME_MAX_SIZE])
{
    const struct type *t = types_at(d, id);
    char inner[NAME_MAX_SIZE];
    Dwarf_Die die = t->die;
    const char *name;
    size_t length;

    if (id == NONE || depth >= TYPE_DEPTH) {
        snprintf(text, NAME_MAX_SIZE, id == NONE ? "void" : "...");
        return;
    }
    switch (t->kind) {
    case SPE_TYPE_POINTER:
        name = die.addr && types_in_rust(&die) ? dwarf_diename(&die) : NULL;
        if (name) {
            snprintf(text, NAME_MAX_SIZE, "%s", name);
            break;
        }
        make_name(d, t->target, depth + 1, inner);
        length = strlen(inner);
        snprintf(text, NAME_MAX_SIZE, "%.*s%s%s", NAME_MAX_SIZE - 8, inner,
                 length && (inner[length - 1] == '*' || inner[length - 1] == '&') ? "" : " ",
                 types_at(d, id)->reference ? "&" : "*");
        break;
    case SPE_TYPE_ARRAY: {
        uint64_t count = t->count;
        size_t dimensions;

        make_name(d, t->target, depth + 1, inner);
        dimensions = types_at(d, types_at(d, id)->target)->kind == SPE_TYPE_ARRAY
                         ? strcspn(inner, "[")
                         : strlen(inner);
        if (count)
            snprintf(text, NAME_MAX_SIZE, "%.*s[%" PRIu64 "]%.*s", (int)dimensions, inner, count,
                     NAME_MAX_SIZE / 4, inner + dimensions);
        else
            snprintf(text, NAME_MAX_SIZE, "%.*s[]%.*s", (int)dimensions, inner, NAME_MAX_SIZE / 4,
                     inner + dimensions);
        break;
    }
    case SPE_TYPE_BASE:
        name = dwarf_diename(&die);
        snprintf(text, NAME_MAX_SIZE, "%s", name ? name : "(anonymous)");
        break;
    default:
        if (dwarf_tag(&die) == DW_TAG_subroutine_type)
            snprintf(text, NAME_MAX_SIZE, "function");
        else
            struct_name(d, id, text);
        break;
    }
}

static uint32_t name_of(struct dsos *d, uint32_t id)
{
    char text[NAME_MAX_SIZE];

    if (id >= d->types->list.count)
        return NONE;
    if (d->types->list.at[id].name == NONE) {
        make_name(d, id, 0, text);
        d->types->list.at[id].name = strings_add(d->strings, text);
        if (d->types->list.at[id].name == NONE)
            names_missing(d->strings, SPE_ERR_NOMEM);
    }
    return d->types->list.at[id].name;
}

/* ---- Equal types ---------------------------------------------------------------------------- */

static uint64_t content_hash(struct dsos *d, uint32_t id)
{
    const struct type *t = types_at(d, id);
    uint64_t hash = hash_number(d->types->seed, (uint64_t)t->name << 8 | t->kind);

    hash = hash_number(hash, t->size);
    for (size_t i = 0; i < t->members.count; i++)
        hash = hash_number(hash, (t->members.at[i].offset << 32) + t->members.at[i].name);
    return hash;
}

/* Do both have the same members in the same places? What those are in turn is not asked: types may
 * lie in each other's pointers without end. */
static bool is_alike(struct dsos *d, uint32_t a, uint32_t b)
{
    const struct type *x = types_at(d, a), *y = types_at(d, b);

    if (x->kind != y->kind || x->name != y->name || x->size != y->size ||
        x->members.count != y->members.count)
        return false;
    for (size_t i = 0; i < x->members.count; i++) {
        const struct member *m = &x->members.at[i], *n = &y->members.at[i];

        if (m->offset != n->offset || m->name != n->name || m->size != n->size ||
            m->bits != n->bits || m->bit != n->bit)
            return false;
    }
    return true;
}

uint32_t types_same(struct dsos *d, uint32_t id)
{
    struct types *t = d->types;
    uint64_t hash;
    size_t cursor = 0;
    uint32_t other;

    if (!t || id >= t->list.count)
        return NONE;
    if (t->list.at[id].same != NONE)
        return t->list.at[id].same;
    types_list(d, id);
    if (name_of(d, id) == NONE)
        return id;
    hash = content_hash(d, id);
    while ((other = hash_table_find(&t->alike, hash, &cursor)) != NONE) {
        if (is_alike(d, id, other))
            break;
    }
    if (other == NONE) {
        other = id;
        if (hash_table_add(&t->alike, hash, id) < 0)
            names_missing(d->strings, SPE_ERR_NOMEM);
    }
    t->list.at[id].same = other;
    return other;
}

/* ---- What lies where ------------------------------------------------------------------------ */

#define CANDIDATES 8 /* members that an access is said to touch */

static bool is_record(const struct type *t)
{
    return t->kind == SPE_TYPE_STRUCT || t->kind == SPE_TYPE_UNION;
}

/* Where a member ends; what has no end of its own goes on for ever. */
static uint64_t member_end(struct dsos *d, const struct member *m)
{
    return is_flexible(types_at(d, m->type)) ? UINT64_MAX : m->offset + m->size;
}

static bool touches(struct dsos *d, const struct member *m, uint64_t offset, uint64_t size)
{
    return m->offset < offset + size && offset < member_end(d, m);
}

static bool holds(struct dsos *d, const struct member *m, uint64_t offset, uint64_t size)
{
    return m->offset <= offset && offset + size <= member_end(d, m);
}

/* Members that an access touches: the number of them. Where several share the bytes, those go whose
 * leaf is not of the size, if that leaves some. A discriminant goes that has no bytes of its own:
 * it is then some values of what a variant has there. */
static size_t candidates(struct dsos *d, uint32_t id, uint64_t offset, uint64_t size, size_t *list,
                         size_t max, int depth);

static bool leaf_at(struct dsos *d, uint32_t id, uint64_t offset, uint64_t size, int depth,
                    uint64_t base, struct type_leaf *leaf)
{
    size_t list[CANDIDATES], count, member;
    uint64_t element;
    const struct type *t;

    types_list(d, id);
    t = types_at(d, id);
    if (depth >= TYPE_DEPTH || !size || offset > UINT64_MAX / 4)
        return false;
    switch (t->kind) {
    case SPE_TYPE_STRUCT:
    case SPE_TYPE_UNION:
        count = candidates(d, id, offset, size, list, CANDIDATES, depth);
        if (!count)
            return false;
        member = list[0];
        if (count > 1 || !holds(d, &types_at(d, id)->members.at[member], offset, size) ||
            types_at(d, id)->members.at[member].bits) {
            leaf->type = id;
            leaf->offset = offset;
            leaf->flat += offset;
            leaf->matches += (unsigned)count;
            return true;
        }
        offset -= types_at(d, id)->members.at[member].offset;
        base += types_at(d, id)->members.at[member].offset;
        leaf->flat += types_at(d, id)->members.at[member].offset;
        return leaf_at(d, types_at(d, id)->members.at[member].type, offset, size, depth + 1, base,
                       leaf);
    case SPE_TYPE_ARRAY:
        element = types_at(d, t->target)->size;
        if (!element || (t->count && offset >= t->size))
            return false;
        leaf->array = base;
        leaf->array_size = t->count ? t->size : UINT64_MAX;
        leaf->element = element;
        if (offset % element + size > element) { /* several elements */
            leaf->type = t->target;
            leaf->offset = offset % element;
            leaf->flat += offset % element;
            leaf->matches++;
            return !t->count || offset + size <= t->size;
        }
        return leaf_at(d, t->target, offset % element, size, depth + 1,
                       base + offset - offset % element, leaf);
    case SPE_TYPE_OTHER:
        return false;
    default:
        leaf->type = id;
        leaf->offset = offset;
        leaf->flat += offset;
        leaf->matches++;
        return offset + size <= t->size;
    }
}

/* Is the member, if it is this one, accessed as what it is? */
static bool fits(struct dsos *d, uint32_t type, uint64_t offset, uint64_t size, int depth)
{
    struct type_leaf leaf = {0};
    const struct type *t;

    if (!leaf_at(d, type, offset, size, depth + 1, 0, &leaf) || leaf.matches != 1)
        return false;
    t = types_at(d, leaf.type);
    return !leaf.offset && t->size == size;
}

static size_t candidates(struct dsos *d, uint32_t id, uint64_t offset, uint64_t size, size_t *list,
                         size_t max, int depth)
{
    size_t count = 0, kept = 0, total = types_at(d, id)->members.count;
    bool overlap = false;

    for (size_t i = 0; i < total; i++) {
        const struct member *m = &types_at(d, id)->members.at[i];

        if (m->offset >= offset + size)
            break;
        if (!touches(d, m, offset, size))
            continue;
        if (count && !m->bits && m->offset < member_end(d, &types_at(d, id)->members.at[list[0]]))
            overlap = true;
        if (count < max)
            list[count] = i;
        count++;
    }
    if (!overlap || count > max || depth >= TYPE_DEPTH / 4)
        return count;
    for (size_t i = 0; i < count; i++) {
        struct member m = types_at(d, id)->members.at[list[i]];

        if (m.offset > offset || !fits(d, m.type, offset - m.offset, size, depth))
            continue;
        if (kept && types_at(d, id)->members.at[list[kept - 1]].discriminant)
            kept--;
        if (!kept || !m.discriminant)
            list[kept++] = list[i];
    }
    return kept ? kept : count;
}

bool types_leaf(struct dsos *d, uint32_t type, uint64_t offset, uint64_t size,
                struct type_leaf *leaf)
{
    *leaf = (struct type_leaf){.type = NONE};
    return leaf_at(d, type, offset, size, 0, 0, leaf) && leaf->matches;
}

#define ARRAYS_STEPS 4096 /* members that are looked at for an array */

struct array_search {
    uint64_t stride, size;
    int64_t offset; /* of the access in the whole */
    int64_t found;  /* ... in the first element */
    unsigned matches, steps;
};

static void search_arrays(struct dsos *d, uint32_t id, uint64_t base, struct array_search *s,
                          int depth)
{
    struct type_leaf leaf = {0};
    const struct type *t;
    uint64_t element, in;

    types_list(d, id);
    t = types_at(d, id);
    if (depth >= TYPE_DEPTH || ++s->steps > ARRAYS_STEPS || base > INT64_MAX / 2)
        return;
    if (t->kind == SPE_TYPE_ARRAY) {
        element = types_at(d, t->target)->size;
        if (!element || element > INT64_MAX / 2)
            return;
        if (s->stride % element || t->count == 1) {
            search_arrays(d, t->target, base, s, depth + 1);
            return;
        }
        in = (uint64_t)floor_modulo(s->offset - (int64_t)base, element);
        if (!leaf_at(d, t->target, in, s->size, depth + 1, 0, &leaf))
            return;
        s->matches++;
        s->found = (int64_t)(base + in);
        return;
    }
    for (size_t i = 0; i < types_at(d, id)->members.count && s->matches < 2; i++) {
        struct member m = types_at(d, id)->members.at[i];

        if (base <= UINT64_MAX - m.offset)
            search_arrays(d, m.type, base + m.offset, s, depth + 1);
    }
}

bool types_only_array(struct dsos *d, uint32_t type, uint64_t stride, uint64_t size,
                      int64_t *offset)
{
    struct array_search s = {.stride = stride, .size = size, .offset = *offset};

    if (*offset > INT64_MAX / 2 || *offset < INT64_MIN / 2)
        return false;
    search_arrays(d, type, 0, &s, 0);
    if (s.matches != 1 || s.steps > ARRAYS_STEPS)
        return false;
    *offset = s.found;
    return true;
}

#define CONTAINS_STEPS 4096     /* members that are looked at for a part */
#define COMMON_STEPS (1u << 22) /* ... for all that types have in common in one function */

static bool contains(struct dsos *d, uint32_t whole, uint64_t offset, uint32_t part, int depth,
                     unsigned *steps)
{
    const struct type *t;
    uint64_t element;

    if (!offset && types_same(d, whole) == part)
        return true;
    if (whole == NONE || depth >= TYPE_DEPTH || ++*steps > CONTAINS_STEPS)
        return false;
    types_list(d, whole);
    t = types_at(d, whole);
    element = t->kind == SPE_TYPE_ARRAY ? types_at(d, t->target)->size : 0;
    if (element)
        return contains(d, t->target, offset % element, part, depth + 1, steps);
    for (size_t i = 0; i < types_at(d, whole)->members.count; i++) {
        struct member m = types_at(d, whole)->members.at[i];

        if (m.offset <= offset && offset < member_end(d, &m) &&
            contains(d, m.type, offset - m.offset, part, depth + 1, steps))
            return true;
    }
    return false;
}

bool types_contains(struct dsos *d, uint32_t whole, uint64_t offset, uint32_t part)
{
    unsigned steps = 0;

    return part != NONE && contains(d, whole, offset, types_same(d, part), 0, &steps);
}

/* Without arrays around the type: *offset is then in an element. */
static uint32_t element_of(struct dsos *d, uint32_t type, uint64_t *offset, bool *indexed)
{
    for (int depth = 0; depth < TYPE_DEPTH && types_at(d, type)->kind == SPE_TYPE_ARRAY; depth++) {
        uint64_t size = types_at(d, types_at(d, type)->target)->size;

        if (!size || (types_at(d, type)->count && *offset >= types_at(d, type)->size))
            return NONE;
        *indexed = true;
        *offset %= size;
        type = types_at(d, type)->target;
    }
    return type;
}

/* The member that holds the byte at an offset of a struct, and the rest of the offset in it. False:
 * none does, or several. */
static bool only_member(struct dsos *d, uint32_t *id, uint64_t *offset)
{
    size_t list[CANDIDATES];
    const struct member *m;

    types_list(d, *id);
    if (*offset > UINT64_MAX / 4 || candidates(d, *id, *offset, 1, list, CANDIDATES, 0) != 1)
        return false;
    m = &types_at(d, *id)->members.at[list[0]];
    *offset -= m->offset;
    *id = m->type;
    return true;
}

/* Is there a type `part` at offset in `whole`? What it takes to say so is counted. */
static bool contains_counted(struct dsos *d, uint32_t whole, uint64_t offset, uint32_t part)
{
    unsigned steps = 0;
    bool found = contains(d, whole, offset, types_same(d, part), 0, &steps);

    d->types->common_steps += steps;
    return found;
}

bool types_common(struct dsos *d, uint32_t a, uint64_t a_offset, uint32_t b, uint64_t b_offset,
                  uint32_t *type, uint64_t *offset)
{
    bool indexed = false;

    for (int depth = 0; depth < TYPE_DEPTH; depth++) {
        a = element_of(d, a, &a_offset, &indexed);
        if (!is_record(types_at(d, a)) || d->types->common_steps > COMMON_STEPS)
            return false;
        if (a_offset <= b_offset && contains_counted(d, b, b_offset - a_offset, a)) {
            *type = types_same(d, a);
            *offset = a_offset;
            return true;
        }
        if (!only_member(d, &a, &a_offset))
            return false;
    }
    return false;
}

/* ---- Pointers of Rust's library ------------------------------------------------------------- */

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* The type that a generic struct has for a parameter. */
static bool parameter_of(Dwarf_Die *generic, const char *name, Dwarf_Die *type)
{
    Dwarf_Die die;
    int next = dwarf_child(generic, &die);

    for (; next == 0; next = dwarf_siblingof(&die, &die)) {
        const char *has =
            dwarf_tag(&die) == DW_TAG_template_type_parameter ? dwarf_diename(&die) : NULL;

        if (has && !strcmp(has, name))
            return type_die(&die, type);
    }
    return false;
}

/* Who says what lies behind a pointer to bytes. */
static bool knows_elements(const char *name)
{
    return starts(name, "RawVec<") || starts(name, "Iter<") || starts(name, "IterMut<") ||
           starts(name, "IntoIter<");
}

uint32_t types_pointed(struct dsos *d, uint32_t type, uint64_t offset, uint32_t target)
{
    uint32_t found = target;
    const struct type *t = types_at(d, target);
    Dwarf_Die die = t->die, parameter;

    if (t->kind != SPE_TYPE_BASE || t->size != 1 || !types_in_rust(&die))
        return target;
    for (int depth = 0; depth < TYPE_DEPTH && type != NONE; depth++) {
        size_t list[CANDIDATES], count;
        const char *name;

        types_list(d, type);
        if (!is_record(types_at(d, type)))
            break;
        die = types_at(d, type)->die;
        name = dwarf_diename(&die);
        if (name && knows_elements(name) && parameter_of(&die, "T", &parameter))
            return types_of_die(d, types_at(d, type)->dso, &parameter);
        if (name && starts(name, "NonNull<"))
            found = NONE;
        count = candidates(d, type, offset, 8, list, CANDIDATES, depth);
        if (count != 1)
            break;
        offset -= types_at(d, type)->members.at[list[0]].offset;
        type = types_at(d, type)->members.at[list[0]].type;
    }
    return found;
}

/* ---- Paths ---------------------------------------------------------------------------------- */

struct path {
    char *text;
    size_t size, length;
    bool indices; /* else every element is [] */
};

static void path_add(struct path *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void path_add(struct path *p, const char *format, ...)
{
    va_list arguments;
    int added;

    va_start(arguments, format);
    added = vsnprintf(p->text + p->length, p->size - p->length, format, arguments);
    va_end(arguments);
    if (added < 0)
        return;
    p->length += (size_t)added < p->size - p->length ? (size_t)added : p->size - p->length - 1;
}

static bool add_path(struct dsos *d, struct path *p, uint32_t id, uint64_t offset, uint64_t size,
                     int depth);

static void add_member_path(struct dsos *d, struct path *p, const struct member *m, uint64_t offset,
                            uint64_t size, int depth)
{
    const char *name = strings_at(d->strings, m->name);
    bool first = !p->length || strchr(".{,", p->text[p->length - 1]);

    if (*name)
        path_add(p, "%s%s", first ? "" : ".", name);
    if (!m->bits)
        add_path(d, p, m->type, offset - m->offset, size, depth + 1);
}

/* Several members, each with the part of it that is accessed: the first few. */
static void add_names(struct dsos *d, struct path *p, uint32_t id, uint64_t offset, uint64_t size,
                      const size_t *list, size_t count, int depth)
{
    path_add(p, "%s{", p->length && !strchr(".{,", p->text[p->length - 1]) ? "." : "");
    for (size_t i = 0; i < count && i < CANDIDATES; i++) {
        struct member m = types_at(d, id)->members.at[list[i]];
        uint64_t start = m.offset > offset ? m.offset : offset, end = member_end(d, &m);

        end = end < offset + size ? end : offset + size;
        path_add(p, i ? "," : "");
        add_member_path(d, p, &m, start, end - start, depth);
    }
    path_add(p, "%s}", count > CANDIDATES ? ",..." : "");
}

static bool add_path(struct dsos *d, struct path *p, uint32_t id, uint64_t offset, uint64_t size,
                     int depth)
{
    size_t list[CANDIDATES], count;
    uint64_t element;
    const struct type *t;
    struct member m;

    types_list(d, id);
    t = types_at(d, id);
    if (depth >= TYPE_DEPTH)
        return false;
    if (t->kind == SPE_TYPE_ARRAY) {
        element = types_at(d, t->target)->size;
        if (!element || (t->count && offset >= t->size))
            return false;
        if (p->indices)
            path_add(p, "[%" PRIu64 "]", offset / element);
        else
            path_add(p, "[]");
        return offset % element + size > element ||
               add_path(d, p, t->target, offset % element, size, depth + 1);
    }
    if (!is_record(t))
        return t->kind != SPE_TYPE_OTHER && offset + size <= t->size;
    count = candidates(d, id, offset, size, list, CANDIDATES, depth);
    if (!count)
        return false;
    m = types_at(d, id)->members.at[list[0]];
    if (count > 1)
        add_names(d, p, id, offset, size, list, count, depth);
    else if (m.bits || !holds(d, &m, offset, size))
        add_member_path(d, p, &m, offset < m.offset ? m.offset : offset,
                        member_end(d, &m) - (offset < m.offset ? m.offset : offset), depth);
    else
        add_member_path(d, p, &m, offset, size, depth);
    return true;
}

bool types_path(struct dsos *d, uint32_t type, uint64_t offset, uint64_t size, char *text,
                size_t room)
{
    struct path p = {.text = text, .size = room, .indices = true};

    if (!room)
        return false;
    text[0] = 0;
    path_add(&p, is_record(types_at(d, type)) ? "." : "");
    if (size && offset < UINT64_MAX / 4 && add_path(d, &p, type, offset, size, 0))
        return true;
    text[0] = 0;
    return false;
}

bool types_access_of(struct dsos *d, uint32_t type, uint64_t offset,
                     struct spe_profile_access *access)
{
    char text[NAME_MAX_SIZE] = "";
    struct path p = {.text = text, .size = sizeof(text)};
    struct type_leaf leaf;
    uint64_t size = access->size ? access->size : 1;
    bool indexed = false;

    type = element_of(d, type, &offset, &indexed);
    if (type == NONE)
        return false;
    /* Vectors of a type that has no members are several of it. */
    if (!is_record(types_at(d, type)) && indexed && types_at(d, type)->size &&
        !(size % types_at(d, type)->size) && !offset)
        size = types_at(d, type)->size;
    if (is_record(types_at(d, type)) && indexed && offset + size > types_at(d, type)->size)
        size = types_at(d, type)->size - offset; /* and some of the next element */
    if (!types_leaf(d, type, offset, size, &leaf) || !add_path(d, &p, type, offset, size, 0))
        return false;
    indexed |= leaf.element != 0;
    access->type = types_same(d, type);
    access->offset = leaf.flat;
    access->indexed = indexed;
    access->member = strings_add(d->strings, text);
    access->reason = SPE_ACCESS_KNOWN;
    if (access->member == NONE)
        names_missing(d->strings, SPE_ERR_NOMEM);
    return access->member != NONE && access->type != NONE;
}

/* ---- For the profile ------------------------------------------------------------------------ */

int types_type(struct dsos *d, uint32_t id, struct spe_profile_type *type)
{
    const struct type *t;

    *type = (struct spe_profile_type){.name = SPE_NO_ID, .target = SPE_NO_ID, .dso = SPE_NO_ID};
    if (!d->types || id >= d->types->list.count)
        return SPE_ERR_UNKNOWN;
    types_list(d, id);
    type->name = name_of(d, id);
    t = types_at(d, id);
    type->kind = t->kind;
    type->size = t->size;
    type->target = t->target;
    type->count = t->count;
    type->members = t->members.count;
    type->dso = t->dso;
    return SPE_OK;
}

int types_member(struct dsos *d, uint32_t id, size_t i, struct spe_profile_member *member)
{
    const struct member *m;

    if (!d->types || id >= d->types->list.count || i >= d->types->list.at[id].members.count)
        return SPE_ERR_UNKNOWN;
    m = &d->types->list.at[id].members.at[i];
    *member = (struct spe_profile_member){.name = m->name,
                                          .type = m->type,
                                          .offset = m->offset,
                                          .size = m->size,
                                          .bit = m->bit,
                                          .bits = m->bits,
                                          .inherited = m->inherited};
    return SPE_OK;
}

size_t types_count(const struct dsos *d)
{
    return d->types ? d->types->list.count : 0;
}

/* NOLINTEND(clang-analyzer-core.NullDereference) */
