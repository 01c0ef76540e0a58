/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Where variables are, out of DWARF: those with an address of their own, in a whole file; and those
 * of one function, in registers and on the stack, by the piece of code for which that holds.
 */
#include <stdlib.h>
#include <string.h>

#include "names/types_internal.h"

#define LOCATIONS_MAX (1u << 17)    /* of one function */
#define LOCATION_STEPS (1u << 20)   /* descriptions and lists that are read for it */
#define VARIABLES_MAX (1u << 22)    /* of one file */
#define DESCRIPTIONS_MAX (1u << 25) /* that are read for them */
#define OPERATIONS_MAX 64           /* of a location */

/* ---- Locations ------------------------------------------------------------------------------ */

#ifndef DW_OP_GNU_push_tls_address
#define DW_OP_GNU_push_tls_address 0xe0
#endif

enum place_kind {
    PLACE_NONE,
    PLACE_VALUE,   /* what the register holds, and offset, is the variable */
    PLACE_MEMORY,  /* the variable lies there */
    PLACE_FRAME,   /* ... at the function's frame base and offset */
    PLACE_CFA,     /* ... at the CFA and offset */
    PLACE_ADDRESS, /* ... at the address */
    PLACE_TLS,     /* ... there in the thread's block */
};

struct place {
    uint8_t kind, reg;
    bool pointer; /* ... but a pointer to the variable does: DW_OP_deref */
    int64_t offset;
};

static bool is_breg(unsigned op)
{
    return op >= DW_OP_breg0 && op <= DW_OP_breg31;
}

/* The first operation of a location: where it starts from. */
static bool start_place(Dwarf_Attribute *attribute, const Dwarf_Op *op, struct place *p)
{
    Dwarf_Attribute result;
    Dwarf_Addr address;

    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        *p = (struct place){.kind = PLACE_VALUE, .reg = (uint8_t)(op->atom - DW_OP_reg0)};
    } else if (op->atom == DW_OP_regx && op->number < 32) {
        *p = (struct place){.kind = PLACE_VALUE, .reg = (uint8_t)op->number};
    } else if (is_breg(op->atom)) {
        *p = (struct place){.kind = PLACE_MEMORY,
                            .reg = (uint8_t)(op->atom - DW_OP_breg0),
                            .offset = (int64_t)op->number};
    } else if (op->atom == DW_OP_bregx && op->number < 32) {
        *p = (struct place){
            .kind = PLACE_MEMORY, .reg = (uint8_t)op->number, .offset = (int64_t)op->number2};
    } else if (op->atom == DW_OP_fbreg) {
        *p = (struct place){.kind = PLACE_FRAME, .offset = (int64_t)op->number};
    } else if (op->atom == DW_OP_call_frame_cfa) {
        *p = (struct place){.kind = PLACE_CFA};
    } else if (op->atom == DW_OP_addr) {
        *p = (struct place){.kind = PLACE_ADDRESS, .offset = (int64_t)op->number};
    } else if (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index ||
               op->atom == DW_OP_constx || op->atom == DW_OP_GNU_const_index) {
        if (dwarf_getlocation_attr(attribute, op, &result) != 0 ||
            dwarf_formaddr(&result, &address) != 0)
            return false;
        *p = (struct place){.kind = PLACE_ADDRESS, .offset = (int64_t)address};
    } else if (op->atom == DW_OP_const4u || op->atom == DW_OP_const8u) {
        *p = (struct place){.kind = PLACE_TLS, .offset = (int64_t)op->number};
    } else {
        return false;
    }
    return true;
}

/* The operations behind it, up to a piece: false if there is one that is not understood. */
static bool finish_place(const Dwarf_Op *ops, size_t count, struct place *p)
{
    bool tls = false;

    for (size_t i = 0; i < count; i++) {
        unsigned op = ops[i].atom;

        if (op == DW_OP_plus_uconst) {
            p->offset = (int64_t)((uint64_t)p->offset + ops[i].number);
        } else if (op == DW_OP_stack_value && i + 1 == count && p->kind == PLACE_MEMORY) {
            p->kind = PLACE_VALUE;
        } else if (op == DW_OP_deref && i + 1 == count && !p->pointer &&
                   (p->kind == PLACE_FRAME || p->kind == PLACE_MEMORY)) {
            p->pointer = true;
        } else if ((op == DW_OP_form_tls_address || op == DW_OP_GNU_push_tls_address) && !i &&
                   (p->kind == PLACE_TLS || p->kind == PLACE_ADDRESS)) {
            p->kind = PLACE_TLS;
            tls = true;
        } else {
            return false;
        }
    }
    return p->kind != PLACE_TLS || tls;
}

/* The part of a variable that the operations up to the next piece describe: how many operations
 * that are. *size is UINT64_MAX if there are no pieces. */
static size_t next_part(Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
                        struct place *p, uint64_t *size)
{
    size_t end = 0;

    while (end < count && ops[end].atom != DW_OP_piece && ops[end].atom != DW_OP_bit_piece)
        end++;
    *p = (struct place){.kind = PLACE_NONE};
    *size = end < count ? ops[end].number : UINT64_MAX;
    if (end < count && ops[end].atom == DW_OP_bit_piece)
        *size = ops[end].number / 8;
    if (!end || !start_place(attribute, &ops[0], p) || !finish_place(ops + 1, end - 1, p))
        p->kind = PLACE_NONE;
    return end < count ? end + 1 : end;
}

/* ---- Variables of a file -------------------------------------------------------------------- */

/* What there is no memory for is not too large: the command says that names are missing. */
static bool make_room(struct dsos *d, int room)
{
    if (room < 0)
        names_missing(d->strings, room);
    return room >= 0;
}

struct global_walk {
    struct dsos *d;
    struct file_types *f;
    uint32_t dso;
    uint64_t steps;
    bool full;
};

static void add_variable(struct global_walk *w, struct variables *list, uint64_t start,
                         uint64_t part, uint64_t part_size, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_diename(die);
    struct variable v = {.start = start, .part = part};
    Dwarf_Die type;
    uint64_t size;

    if (!name || !dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type))
        return;
    v.type = types_of_die(w->d, w->dso, &type);
    size = types_at(w->d, v.type)->size;
    v.name = strings_add(w->d->strings, name);
    if (!size || size > UINT64_MAX - start || v.type == NONE || v.name == NONE)
        return;
    if (part >= size)
        return;
    v.end = start + (part_size < size - part ? part_size : size - part);
    w->full = list->count >= VARIABLES_MAX || !file_types_take(w->f, sizeof(v)) ||
              !make_room(w->d, VECTOR_ROOM(list));
    if (w->full)
        return;
    list->at[list->count++] = v;
}

/* GCC does not say where variables of threads are; their symbols do. */
static void see_tls(struct global_walk *w, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    uint32_t id;

    if (!w->f->tls_symbols.count || !name || dwarf_hasattr(die, DW_AT_declaration) ||
        dwarf_hasattr(die, DW_AT_const_value))
        return;
    id = strings_add(w->d->strings, name);
    for (size_t i = 0; i < w->f->tls_symbols.count; i++) {
        const struct tls_symbol *s = &w->f->tls_symbols.at[i];

        if (s->name == id && !s->several)
            add_variable(w, &w->f->tls, s->offset, 0, UINT64_MAX, die);
    }
}

static void see_variable(struct global_walk *w, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    struct place p;
    uint64_t size, part = 0;
    Dwarf_Op *ops;
    size_t count, done = 0;

    if (!dwarf_attr(die, DW_AT_location, &attribute)) {
        see_tls(w, die);
        return;
    }
    /* A location list has no address: that is for variables that move. */
    if (dwarf_whatform(&attribute) == DW_FORM_sec_offset ||
        dwarf_whatform(&attribute) == DW_FORM_loclistx ||
        dwarf_getlocation(&attribute, &ops, &count) != 0 || !count || count > OPERATIONS_MAX)
        return;
    while (done < count) {
        done += next_part(&attribute, ops + done, count - done, &p, &size);
        if (p.kind == PLACE_ADDRESS && p.offset && !p.pointer)
            add_variable(w, &w->f->globals, (uint64_t)p.offset, part, size, die);
        else if (p.kind == PLACE_TLS && !p.pointer)
            add_variable(w, &w->f->tls, (uint64_t)p.offset, part, size, die);
        if (size > UINT64_MAX - part)
            return;
        part += size;
    }
}

static bool may_hold_variables(int tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        return true;
    default:
        return false;
    }
}

static void walk_globals(struct global_walk *w, Dwarf_Die *parent, int depth)
{
    Dwarf_Die die;
    int next = depth < 2 * TYPE_DEPTH ? dwarf_child(parent, &die) : 1;

    for (; next == 0 && !w->full; next = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);

        w->full |= ++w->steps > DESCRIPTIONS_MAX;
        if (tag == DW_TAG_variable)
            see_variable(w, &die);
        else if (may_hold_variables(tag))
            walk_globals(w, &die, depth + 1);
    }
}

static int compare_variables(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* A variable may be described in several units; one is enough. */
static void sort_variables(struct variables *v)
{
    size_t kept = 0;

    if (v->count)
        qsort(v->at, v->count, sizeof(v->at[0]), compare_variables);
    for (size_t i = 0; i < v->count; i++) {
        if (!kept || v->at[kept - 1].start != v->at[i].start)
            v->at[kept++] = v->at[i];
    }
    v->count = kept;
}

const struct variable *variables_find(const struct variables *v, uint64_t address)
{
    size_t low = 0, high = v->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (v->at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < v->at[low - 1].end ? &v->at[low - 1] : NULL;
}

void variables_list(struct dsos *d, uint32_t dso, struct file_types *f)
{
    struct global_walk w = {.d = d, .f = f, .dso = dso};
    Dwarf *dwarf;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;

    if (f->listed)
        return;
    f->listed = true;
    dwarf = lines_dwarf(d, d->list.at[dso]);
    file_types_open(d, d->list.at[dso], f);
    while (dwarf && !w.full && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        if (type == DW_UT_compile)
            walk_globals(&w, &die, 0);
    }
    sort_variables(&f->globals);
    sort_variables(&f->tls);
}

bool types_variable(struct dsos *d, uint32_t dso, uint64_t address, struct variable_place *found)
{
    struct file_types *f = dso < d->list.count ? file_types_of(d, d->list.at[dso]) : NULL;
    const struct variable *v;

    if (!f)
        return false;
    variables_list(d, dso, f);
    v = variables_find(&f->globals, address);
    if (v)
        *found = (struct variable_place){v->start - v->part, v->end - v->start + v->part, v->name,
                                         v->type};
    return v;
}

/* ---- Variables of a function ---------------------------------------------------------------- */

struct local_walk {
    struct dsos *d;
    uint32_t dso;
    struct locations *list;
    struct place base; /* DW_AT_frame_base */
};

static bool add_location(struct local_walk *w, const struct location *l)
{
    w->list->full |= w->list->count >= LOCATIONS_MAX || !make_room(w->d, VECTOR_ROOM(w->list));
    if (!w->list->full)
        w->list->at[w->list->count++] = *l;
    return !w->list->full;
}

/* What of a variable is where, for one piece of code. */
static void add_place(struct local_walk *w, struct location l, const struct place *p)
{
    l.offset = p->offset;
    l.reg = p->reg;
    switch (p->kind) {
    case PLACE_VALUE:
        l.kind = LOCATION_REGISTER;
        break;
    case PLACE_MEMORY:
        l.kind = LOCATION_MEMORY;
        break;
    case PLACE_CFA:
        l.kind = LOCATION_FRAME;
        break;
    case PLACE_FRAME:
        l.kind = w->base.kind == PLACE_CFA ? LOCATION_FRAME : LOCATION_MEMORY;
        l.reg = w->base.reg;
        l.offset = (int64_t)((uint64_t)l.offset + (uint64_t)w->base.offset);
        if (w->base.kind == PLACE_NONE)
            return;
        break;
    default:
        return;
    }
    if (p->pointer) {
        if (l.part || l.kind == LOCATION_REGISTER)
            return;
        l.type = types_pointer(w->d, l.type);
        l.size = 8;
        l.name = NONE;
    }
    add_location(w, &l);
}

static void add_expression(struct local_walk *w, Dwarf_Attribute *attribute, const Dwarf_Op *ops,
                           size_t count, struct location l)
{
    uint64_t size, whole = l.size;
    struct place p;
    size_t done = 0;

    if (count > OPERATIONS_MAX)
        return;
    while (done < count && !w->list->full) {
        done += next_part(attribute, ops + done, count - done, &p, &size);
        if (l.part >= whole)
            return;
        l.size = size < whole - l.part ? size : whole - l.part;
        if (p.kind != PLACE_NONE)
            add_place(w, l, &p);
        l.part += l.size;
    }
}

/* A location that holds in all of the scope. */
static void add_everywhere(struct local_walk *w, Dwarf_Die *scope, Dwarf_Attribute *attribute,
                           struct location l)
{
    Dwarf_Addr base, start, end;
    Dwarf_Op *ops;
    size_t count;
    ptrdiff_t at = 0;

    if (dwarf_getlocation(attribute, &ops, &count) != 0)
        return;
    while (!w->list->full && (at = dwarf_ranges(scope, at, &base, &start, &end)) > 0) {
        w->list->full |= ++w->list->steps > LOCATION_STEPS;
        l.start = start;
        l.end = end;
        if (start < end)
            add_expression(w, attribute, ops, count, l);
    }
}

static void add_list(struct local_walk *w, Dwarf_Attribute *attribute, struct location l)
{
    Dwarf_Addr base, start, end;
    Dwarf_Op *ops;
    size_t count;
    ptrdiff_t at = 0;

    while (!w->list->full &&
           (at = dwarf_getlocations(attribute, at, &base, &start, &end, &ops, &count)) > 0) {
        w->list->full |= ++w->list->steps > LOCATION_STEPS;
        l.start = start;
        l.end = end;
        if (start < end)
            add_expression(w, attribute, ops, count, l);
    }
}

static void see_local(struct local_walk *w, Dwarf_Die *scope, Dwarf_Die *die, bool first)
{
    Dwarf_Attribute location, attribute;
    const char *name = dwarf_diename(die);
    struct location l = {.name = NONE, .first = first};
    Dwarf_Die type;
    unsigned form;

    if (!dwarf_attr(die, DW_AT_location, &location) ||
        !dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type))
        return;
    l.type = types_of_die(w->d, w->dso, &type);
    l.size = types_at(w->d, l.type)->size;
    l.name = name ? strings_add(w->d->strings, name) : NONE;
    if (l.type == NONE || !l.size)
        return;
    form = dwarf_whatform(&location);
    if (form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 ||
        form == DW_FORM_data8)
        add_list(w, &location, l);
    else
        add_everywhere(w, scope, &location, l);
}

static void walk_locals(struct local_walk *w, Dwarf_Die *scope, int depth)
{
    Dwarf_Die die;
    int next = depth < 4 * TYPE_DEPTH ? dwarf_child(scope, &die) : 1;
    bool first = !depth;

    for (; next == 0 && !w->list->full; next = dwarf_siblingof(&die, &die)) {
        int tag = dwarf_tag(&die);

        w->list->full |= ++w->list->steps > LOCATION_STEPS;
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
            see_local(w, scope, &die, first && tag == DW_TAG_formal_parameter);
        first &= tag != DW_TAG_formal_parameter;
        if (tag != DW_TAG_subprogram && may_hold_variables(tag))
            walk_locals(w, &die, depth + 1);
    }
}

int locations_list(struct dsos *d, uint32_t dso, Dwarf_Die *function, struct locations *list)
{
    struct local_walk w = {.d = d, .dso = dso, .list = list};
    Dwarf_Attribute attribute;
    uint64_t size;
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) &&
        dwarf_getlocation(&attribute, &ops, &count) == 0 && count && count <= OPERATIONS_MAX &&
        next_part(&attribute, ops, count, &w.base, &size) == count && w.base.kind != PLACE_FRAME &&
        !w.base.pointer)
        w.base.kind = w.base.kind == PLACE_CFA ? PLACE_CFA : PLACE_MEMORY;
    else
        w.base.kind = PLACE_NONE;
    walk_locals(&w, function, 0);
    return list->full ? SPE_ERR_NOSPACE : SPE_OK;
}
