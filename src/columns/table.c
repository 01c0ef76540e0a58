/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Numbers are copied as they are. Which of them are there, and which events happened, is a word of
 * 64 bits for each row; 64 of these words are turned by 90 degrees at once, and each row of the
 * result is a word of the bitmap of one column. Names are looked up once for each pc, map and
 * thread name, and remembered.
 */
#include "columns/table.h"

#include <stdlib.h>
#include <string.h>

#include "format/clones.h"

#define PLACES 16384 /* pcs that are remembered: a power of 2 */
#define ALIGNMENT 64

/* What is known of a pc. */
struct place {
    uint64_t pc, dso_pc, symbol_offset;
    uint32_t map;
    int32_t symbol;
    bool known, has_address;
};

/* What is known of a variable. */
struct variable {
    uint64_t va, offset;
    uint32_t thread;
    int32_t index;
    bool known;
};

struct source_name {
    const struct spe_cpu *cpu;
    uint16_t source;
    int32_t index;
    bool known;
};

typedef VECTOR(int32_t) index_list; /* by an id: NO_INDEX, or UNKNOWN_INDEX */

#define UNKNOWN_INDEX (-2)
#define SOURCE_NAMES 256

struct table {
    struct spe_profile *profile;
    struct column_choice choice;
    size_t rows;                     /* most of a batch */
    uint64_t needs;                  /* presence bits that some column has */
    bool flags;                      /* some column is an event */
    int column[COLUMN_ID_EVENT + 1]; /* place in the choice, or -1 */
    struct dictionary texts[COLUMNS_MAX];

    struct batch *batch;
    uint64_t *present, *events; /* of the batch's rows */
    struct spe_rows group;      /* that table_next is in */
    size_t from;

    struct place *places;
    struct variable *variables;
    struct source_name *source_names;
    index_list comms, dsos, files; /* by string, map, string */
    int32_t ops[6], kinds[1024], levels[256];
};

/* ---- batches -------------------------------------------------------------------------------- */

void batch_keep(struct batch *b)
{
    atomic_fetch_add(&b->users, 1);
}

void batch_release(struct batch *b)
{
    if (!b || atomic_fetch_sub(&b->users, 1) != 1)
        return;
    for (size_t i = 0; b->cells && i < b->count; i++)
        dictionary_view_release(b->cells[i].texts);
    for (size_t i = 0; i < sizeof(b->memory) / sizeof(b->memory[0]); i++)
        free(b->memory[i]);
    free(b->cells);
    free(b);
}

static size_t round_up(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t bitmap_size(size_t rows)
{
    return round_up((rows + 63) / 64 * sizeof(uint64_t));
}

/* Values of all columns, one after the other. */
static int batch_new(struct table *t)
{
    struct batch *b = calloc(1, sizeof(*b));
    size_t size = 0;
    char *at;

    if (!b)
        return SPE_ERR_NOMEM;
    atomic_init(&b->users, 1);
    t->batch = b;
    b->count = t->choice.count;
    b->cells = calloc(b->count ? b->count : 1, sizeof(*b->cells));
    for (size_t i = 0; i < b->count; i++)
        size += round_up(t->rows * column_size(&t->choice.at[i]));
    if (!b->cells || posix_memalign(&b->memory[0], ALIGNMENT, size ? size : ALIGNMENT) != 0)
        return SPE_ERR_NOMEM;
    at = b->memory[0];
    for (size_t i = 0; i < b->count; i++) {
        b->cells[i].values = at;
        at += round_up(t->rows * column_size(&t->choice.at[i]));
    }
    return SPE_OK;
}

/* 64 words of 64 bits as a square: bit k of word i becomes bit i of word k. */
static void turn(uint64_t w[64])
{
    uint64_t mask = 0x00000000ffffffff;

    for (unsigned step = 32; step; step >>= 1, mask ^= mask << step) {
        for (unsigned i = 0; i < 64; i = (i + step + 1) & ~step) {
            uint64_t swap = (w[i] >> step ^ w[i + step]) & mask;

            w[i] ^= swap << step;
            w[i + step] ^= swap;
        }
    }
}

/* Bitmaps of the bits in `needs`, each of `words` words, out of one word a row. */
CLONES static void turn_all(const uint64_t *rows, size_t count, uint64_t needs, uint64_t *bitmaps,
                            size_t words)
{
    for (size_t block = 0; block * 64 < count; block++) {
        size_t there = count - block * 64 < 64 ? count - block * 64 : 64;
        uint64_t square[64] = {0}, left = needs;

        memcpy(square, rows + block * 64, there * sizeof(square[0]));
        turn(square);
        for (size_t k = 0; left; k++, left &= left - 1)
            bitmaps[k * words + block] = square[__builtin_ctzll(left)];
    }
}

/* The bitmap of a bit among those of `needs`. */
static uint64_t *bitmap_of(void *bitmaps, uint64_t needs, unsigned bit, size_t words)
{
    return (uint64_t *)bitmaps +
           (size_t)__builtin_popcountll(needs & ((UINT64_C(1) << bit) - 1)) * words;
}

static size_t count_zeros(const uint64_t *bitmap, size_t rows)
{
    size_t ones = 0;

    for (size_t i = 0; i < (rows + 63) / 64; i++)
        ones += (size_t)__builtin_popcountll(bitmap[i]);
    return rows - ones;
}

static int make_bitmaps(const uint64_t *words_of_rows, size_t rows, uint64_t needs, void **memory)
{
    size_t size = bitmap_size(rows);
    size_t all = size * (size_t)__builtin_popcountll(needs);

    if (posix_memalign(memory, ALIGNMENT, all ? all : ALIGNMENT) != 0)
        return SPE_ERR_NOMEM;
    memset(*memory, 0, all);
    turn_all(words_of_rows, rows, needs, *memory, size / sizeof(uint64_t));
    return SPE_OK;
}

static uint64_t events_needed(const struct table *t)
{
    uint64_t needs = 0;

    for (size_t i = 0; i < t->choice.count; i++) {
        if (t->choice.at[i].type == COLUMN_FLAG)
            needs |= UINT64_C(1) << t->choice.at[i].event;
    }
    return needs;
}

/* Absent flags are 0, whatever the word says. */
static int finish_batch(struct table *t)
{
    struct batch *b = t->batch;
    size_t words = bitmap_size(b->rows) / sizeof(uint64_t);
    uint64_t events = events_needed(t);

    if (make_bitmaps(t->present, b->rows, t->needs, &b->memory[1]) < 0 ||
        (events && make_bitmaps(t->events, b->rows, events, &b->memory[2]) < 0))
        return SPE_ERR_NOMEM;
    for (size_t i = 0; i < b->count; i++) {
        const struct column *c = &t->choice.at[i];
        struct cells *cells = &b->cells[i];

        if (c->type == COLUMN_FLAG)
            cells->values = bitmap_of(b->memory[2], events, c->event, words);
        if (c->type == COLUMN_TEXT) {
            cells->texts = dictionary_view(&t->texts[i]);
            if (!cells->texts)
                return SPE_ERR_NOMEM;
        }
        if (c->presence == PRESENT_ALWAYS)
            continue;
        cells->valid = bitmap_of(b->memory[1], t->needs, c->presence, words);
        cells->nulls = count_zeros(cells->valid, b->rows);
        if (!cells->nulls)
            cells->valid = NULL;
    }
    return SPE_OK;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* The list's entry for an id, made if need be; NULL: no memory. */
static int32_t *list_at(index_list *l, uint32_t id)
{
    while (l->count <= id) {
        if (VECTOR_ROOM(l) < 0)
            return NULL;
        while (l->count < l->capacity)
            l->at[l->count++] = UNKNOWN_INDEX;
    }
    return &l->at[id];
}

static int32_t add_text(struct table *t, enum column_id id, const char *text, int *error)
{
    int64_t index = dictionary_add(&t->texts[t->column[id]], text);

    if (index < 0)
        *error = (int)index;
    return index < 0 ? NO_INDEX : (int32_t)index;
}

/* Index of a string, remembered in a list by its id. */
static int32_t string_index(struct table *t, enum column_id column, index_list *list, uint32_t id,
                            uint32_t string, int *error)
{
    int32_t *at = list_at(list, id);

    if (!at) {
        *error = SPE_ERR_NOMEM;
        return NO_INDEX;
    }
    if (*at == UNKNOWN_INDEX)
        *at = add_text(t, column, spe_profile_string(t->profile, string), error);
    return *at;
}

/* Values of a column in the batch; NULL if it is not chosen. */
static void *cells_of(const struct table *t, enum column_id id)
{
    return t->column[id] < 0 ? NULL : t->batch->cells[t->column[id]].values;
}

#define PRESENT(name) (UINT64_C(1) << PRESENT_##name)

static int add_comms(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *cells = cells_of(t, COLUMN_ID_comm);
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        uint32_t id = r->comm[from + i];
        size_t row = t->batch->rows + i;

        cells[row] = 0;
        if (id == SPE_NO_ID)
            continue;
        cells[row] = string_index(t, COLUMN_ID_comm, &t->comms, id, id, &error);
        t->present[row] |= PRESENT(COMM);
    }
    return error;
}

static int add_dsos(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *cells = cells_of(t, COLUMN_ID_dso);
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        uint32_t id = r->map[from + i];
        size_t row = t->batch->rows + i;
        const int32_t *known;

        cells[row] = 0;
        if (id == SPE_NO_ID)
            continue;
        known = id < t->dsos.count ? &t->dsos.at[id] : NULL;
        if (!known || *known == UNKNOWN_INDEX) {
            const struct spe_profile_map *map = spe_profile_map(t->profile, id);

            cells[row] = string_index(t, COLUMN_ID_dso, &t->dsos, id,
                                      spe_profile_dso(t->profile, map->dso)->path, &error);
        } else {
            cells[row] = *known;
        }
        t->present[row] |= PRESENT(DSO);
    }
    return error;
}

static int add_lines(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *files = cells_of(t, COLUMN_ID_file);
    uint32_t *lines = cells_of(t, COLUMN_ID_line);
    int error = SPE_OK;

    for (size_t i = 0; (files || lines) && i < count; i++) {
        size_t row = t->batch->rows + i;
        struct spe_profile_line line;
        bool found = r->line && spe_profile_line(t->profile, r->line[from + i], &line) == SPE_OK;

        if (files)
            files[row] =
                !found ? 0
                       : string_index(t, COLUMN_ID_file, &t->files, line.file, line.file, &error);
        if (lines)
            lines[row] = found ? line.line : 0;
        t->present[row] |= found ? PRESENT(FILE) : 0;
    }
    return error;
}

/* What is not remembered of a pc. */
static int find_place(struct table *t, const struct spe_rows *r, size_t i, struct place *place)
{
    struct spe_profile_symbol symbol = {.dso = SPE_NO_ID};
    int error = SPE_OK;

    *place = (struct place){.pc = r->pc[i], .map = r->map[i], .symbol = NO_INDEX, .known = true};
    if (place->map == SPE_NO_ID)
        return SPE_OK;
    place->dso_pc = spe_profile_find_address(t->profile, place->map, place->pc);
    place->has_address = place->dso_pc != UINT64_MAX;
    if (!r->symbol || spe_profile_symbol(t->profile, r->symbol[i], &symbol) != SPE_OK)
        return SPE_OK;
    place->symbol_offset = place->dso_pc - symbol.address;
    place->symbol = 0;
    if (t->column[COLUMN_ID_symbol] >= 0)
        place->symbol = add_text(t, COLUMN_ID_symbol, symbol.name, &error);
    return error;
}

static int add_places(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *symbols = cells_of(t, COLUMN_ID_symbol);
    uint64_t *addresses = cells_of(t, COLUMN_ID_dso_pc);
    uint64_t *offsets = cells_of(t, COLUMN_ID_symbol_offset);
    int error = SPE_OK;

    for (size_t i = 0; t->places && i < count; i++) {
        uint64_t pc = r->pc[from + i];
        uint32_t map = r->map[from + i];
        struct place *place = &t->places[((pc >> 2) * 0x9e3779b97f4a7c15u >> 40 ^ map) % PLACES];
        size_t row = t->batch->rows + i;

        if (place->pc != pc || place->map != map || !place->known) {
            int result = find_place(t, r, from + i, place);

            error = result < 0 ? result : error;
        }
        if (symbols)
            symbols[row] = place->symbol == NO_INDEX ? 0 : place->symbol;
        if (addresses)
            addresses[row] = place->has_address ? place->dso_pc : 0;
        if (offsets)
            offsets[row] = place->symbol == NO_INDEX ? 0 : place->symbol_offset;
        t->present[row] |= (place->symbol == NO_INDEX ? 0 : PRESENT(SYMBOL)) |
                           (place->has_address ? PRESENT(DSO_PC) : 0);
    }
    return error;
}

static int find_variable(struct table *t, const struct spe_rows *r, size_t i, struct variable *v)
{
    struct spe_profile_symbol symbol;
    struct spe_profile_place place;
    int error = SPE_OK;

    *v =
        (struct variable){.va = r->va[i], .thread = r->thread[i], .index = NO_INDEX, .known = true};
    if (spe_profile_place(t->profile, v->thread, r->time_ns ? r->time_ns[i] : UINT64_MAX, v->va,
                          true, &place) != SPE_OK ||
        spe_profile_symbol(t->profile, place.symbol, &symbol) != SPE_OK)
        return SPE_OK;
    v->offset = place.in_symbol;
    v->index = 0;
    if (t->column[COLUMN_ID_data] >= 0)
        v->index = add_text(t, COLUMN_ID_data, symbol.name, &error);
    return error;
}

static int add_variables(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *names = cells_of(t, COLUMN_ID_data);
    uint64_t *offsets = cells_of(t, COLUMN_ID_data_offset);
    int error = SPE_OK;

    for (size_t i = 0; t->variables && i < count; i++) {
        size_t row = t->batch->rows + i;
        struct variable none = {.index = NO_INDEX}, *v = &none;

        if (r->addresses[from + i] >> SPE_ADDRESS_VA & 1) {
            uint64_t va = r->va[from + i];
            uint32_t thread = r->thread[from + i];

            v = &t->variables[(va * 0x9e3779b97f4a7c15u >> 40 ^ thread) % PLACES];
            if (v->va != va || v->thread != thread || !v->known) {
                int result = find_variable(t, r, from + i, v);

                error = result < 0 ? result : error;
            }
        }
        if (names)
            names[row] = v->index == NO_INDEX ? 0 : v->index;
        if (offsets)
            offsets[row] = v->offset;
        t->present[row] |= v->index == NO_INDEX ? 0 : PRESENT(DATA);
    }
    return error;
}

/* ---- operations, levels, sources ------------------------------------------------------------ */

static const char *op_name(unsigned op)
{
    switch (op >> 8) {
    case SPE_CLASS_LDST:
        return op & 1 ? "store" : "load";
    case SPE_CLASS_BRANCH:
        return "branch";
    case SPE_CLASS_OTHER:
        return "other";
    default:
        return "reserved";
    }
}

static const char *kind_name(unsigned op)
{
    struct spe_op decoded;

    spe_op_decode(op >> 8, (uint8_t)op, &decoded);
    return spe_op_kind_name(decoded.kind);
}

/* Four classes of 256 payloads. */
static int add_ops(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *ops = cells_of(t, COLUMN_ID_op), *kinds = cells_of(t, COLUMN_ID_kind);
    int error = SPE_OK;

    for (size_t i = 0; (ops || kinds) && i < count; i++) {
        unsigned op = r->op[from + i] & 0x3ff;
        unsigned name = op >> 8 == SPE_CLASS_LDST ? op & 1 : 2 + (op >> 8);
        size_t row = t->batch->rows + i;
        bool there = r->has[from + i] & SPE_HAS_OP;

        if (ops && there && t->ops[name] == UNKNOWN_INDEX)
            t->ops[name] = add_text(t, COLUMN_ID_op, op_name(op), &error);
        if (kinds && there && t->kinds[op] == UNKNOWN_INDEX)
            t->kinds[op] = add_text(t, COLUMN_ID_kind, kind_name(op), &error);
        if (ops)
            ops[row] = there ? t->ops[name] : 0;
        if (kinds)
            kinds[row] = there ? t->kinds[op] : 0;
    }
    return error;
}

static int add_levels(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *cells = cells_of(t, COLUMN_ID_level);
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        uint8_t level = r->level[from + i];
        size_t row = t->batch->rows + i;

        cells[row] = 0;
        if (level == SPE_LEVEL_UNKNOWN)
            continue;
        if (t->levels[level] == UNKNOWN_INDEX)
            t->levels[level] = add_text(t, COLUMN_ID_level, spe_source_level_name(level), &error);
        cells[row] = t->levels[level];
        t->present[row] |= PRESENT(LEVEL);
    }
    return error;
}

static const struct spe_cpu *cpu_of(const struct spe_profile_info *info, uint32_t number)
{
    size_t from = 0, to = info->cpu_count;

    if (info->cpu)
        return info->cpu;
    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (info->cpus[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from < info->cpu_count && info->cpus[from].number == number ? info->cpus[from].cpu
                                                                       : NULL;
}

static int add_source_names(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    const struct spe_profile_info *info = spe_profile_info(t->profile);
    int32_t *cells = cells_of(t, COLUMN_ID_source_name);
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        const struct spe_cpu *cpu = cpu_of(info, r->cpu[from + i]);
        uint16_t source = r->source[from + i];
        struct source_name *name = &t->source_names[source % SOURCE_NAMES];
        size_t row = t->batch->rows + i;

        cells[row] = 0;
        if (!cpu || !(r->has[from + i] & SPE_HAS_SOURCE))
            continue;
        if (name->cpu != cpu || name->source != source || !name->known) {
            const struct spe_source *known = spe_cpu_source(cpu, source);

            *name = (struct source_name){cpu, source, NO_INDEX, true};
            if (known)
                name->index = add_text(t, COLUMN_ID_source_name, known->name, &error);
        }
        if (name->index == NO_INDEX)
            continue;
        cells[row] = name->index;
        t->present[row] |= PRESENT(SOURCE_NAME);
    }
    return error;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* What struct spe_rows says itself. */
CLONES static void add_present(uint64_t *present, const struct spe_rows *r, size_t from,
                               size_t count, uint64_t always)
{
    const uint8_t *has = r->has + from, *addresses = r->addresses + from;
    const uint8_t *counters = r->counters + from, *el = r->el + from;
    const uint32_t *pid = r->pid + from;

    for (size_t i = 0; i < count; i++)
        present[i] = always | has[i] | (uint64_t)addresses[i] << 8 | (uint64_t)counters[i] << 16 |
                     (pid[i] != SPE_NO_TASK ? PRESENT(PID) : 0) |
                     (el[i] != SPE_NO_EL ? PRESENT(EL) : 0);
    for (size_t i = 0; r->cpu && i < count; i++)
        present[i] |= r->cpu[from + i] != SPE_NO_CPU ? PRESENT(CPU) : 0;
    for (size_t i = 0; r->tid && i < count; i++)
        present[i] |= r->tid[from + i] != SPE_NO_TASK ? PRESENT(TID) : 0;
}

/* A number that stands for "none" in the rows is 0 here. */
static void clear_absent(const struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    uint32_t *cells[3] = {cells_of(t, COLUMN_ID_cpu), cells_of(t, COLUMN_ID_pid),
                          cells_of(t, COLUMN_ID_tid)};
    uint8_t *el = cells_of(t, COLUMN_ID_el);
    size_t row = t->batch->rows;

    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; cells[k] && i < count; i++)
            cells[k][row + i] = cells[k][row + i] == UINT32_MAX ? 0 : cells[k][row + i];
    }
    for (size_t i = 0; el && i < count; i++)
        el[row + i] = r->el[from + i] == SPE_NO_EL ? 0 : r->el[from + i];
}

static void copy_numbers(const struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    for (size_t k = 0; k < t->choice.count; k++) {
        const struct column *c = &t->choice.at[k];
        size_t size = column_size(c);
        const char *array;
        char *to = t->batch->cells[k].values;

        if (c->member == NO_MEMBER)
            continue;
        memcpy(&array, (const char *)r + c->member, sizeof(array));
        if (array)
            memcpy(to + t->batch->rows * size, array + from * size, count * size);
        else
            memset(to + t->batch->rows * size, 0, count * size);
    }
    clear_absent(t, r, from, count);
}

static int add_part(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    static int (*const parts[])(struct table *, const struct spe_rows *, size_t, size_t) = {
        add_comms,     add_dsos, add_lines,  add_places,
        add_variables, add_ops,  add_levels, add_source_names,
    };
    uint64_t always = spe_profile_info(t->profile)->timed ? PRESENT(TIME) : 0;

    copy_numbers(t, r, from, count);
    add_present(t->present + t->batch->rows, r, from, count, always);
    if (t->flags)
        memcpy(t->events + t->batch->rows, r->events + from, count * sizeof(*t->events));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        int error = parts[i](t, r, from, count);

        if (error < 0)
            return error;
    }
    t->batch->rows += count;
    return SPE_OK;
}

int table_add(struct table *t, const struct spe_rows *rows, size_t *from)
{
    size_t count = rows->count - *from;
    int result = t->batch ? SPE_OK : batch_new(t);

    if (result < 0)
        return result;
    if (count > t->rows - t->batch->rows)
        count = t->rows - t->batch->rows;
    result = add_part(t, rows, *from, count);
    *from += count;
    return result < 0 ? result : t->batch->rows == t->rows;
}

int table_take(struct table *t, struct batch **batch)
{
    int result = t->batch && t->batch->rows ? finish_batch(t) : SPE_OK;

    *batch = NULL;
    if (result == SPE_OK && t->batch && t->batch->rows) {
        *batch = t->batch;
        t->batch = NULL;
    }
    return result;
}

int table_next(struct table *t, struct batch **batch)
{
    int result = 1;

    *batch = NULL;
    while (result > 0) {
        if (t->from < t->group.count) {
            result = table_add(t, &t->group, &t->from);
            if (result)
                break;
        }
        t->from = 0;
        t->group.count = 0;
        result = spe_profile_next(t->profile, &t->group);
    }
    if (result < 0)
        return result;
    result = table_take(t, batch);
    return result < 0 ? result : *batch != NULL;
}

/* ---- opening -------------------------------------------------------------------------------- */

static int open_caches(struct table *t)
{
    for (size_t i = 0; i < sizeof(t->ops) / sizeof(t->ops[0]); i++)
        t->ops[i] = UNKNOWN_INDEX;
    for (size_t i = 0; i < sizeof(t->kinds) / sizeof(t->kinds[0]); i++)
        t->kinds[i] = UNKNOWN_INDEX;
    for (size_t i = 0; i < sizeof(t->levels) / sizeof(t->levels[0]); i++)
        t->levels[i] = UNKNOWN_INDEX;
    if (t->column[COLUMN_ID_symbol] >= 0 || t->column[COLUMN_ID_dso_pc] >= 0 ||
        t->column[COLUMN_ID_symbol_offset] >= 0) {
        t->places = calloc(PLACES, sizeof(*t->places));
        if (!t->places)
            return SPE_ERR_NOMEM;
    }
    if (t->column[COLUMN_ID_data] >= 0 || t->column[COLUMN_ID_data_offset] >= 0) {
        t->variables = calloc(PLACES, sizeof(*t->variables));
        if (!t->variables)
            return SPE_ERR_NOMEM;
    }
    t->source_names = calloc(SOURCE_NAMES, sizeof(*t->source_names));
    return t->source_names ? SPE_OK : SPE_ERR_NOMEM;
}

static int open_columns(struct table *t, bool utf8)
{
    memset(t->column, 0xff, sizeof(t->column));
    for (size_t i = 0; i < t->choice.count; i++) {
        const struct column *c = &t->choice.at[i];

        t->column[c->id] = (int)i;
        t->flags |= c->type == COLUMN_FLAG;
        if (c->presence != PRESENT_ALWAYS)
            t->needs |= UINT64_C(1) << c->presence;
        if (c->type == COLUMN_TEXT && dictionary_init(&t->texts[i], utf8) < 0)
            return SPE_ERR_NOMEM;
    }
    t->present = malloc(t->rows * sizeof(*t->present));
    t->events = malloc(t->rows * sizeof(*t->events));
    return t->present && t->events ? open_caches(t) : SPE_ERR_NOMEM;
}

int table_open(struct table **table, struct spe_profile *profile,
               const struct column_choice *choice, size_t rows, bool utf8)
{
    struct table *t = calloc(1, sizeof(*t));

    *table = NULL;
    if (!t)
        return SPE_ERR_NOMEM;
    t->profile = profile;
    t->choice = *choice;
    t->rows = rows;
    if (open_columns(t, utf8) < 0) {
        table_close(t);
        return SPE_ERR_NOMEM;
    }
    *table = t;
    return SPE_OK;
}

void table_close(struct table *t)
{
    if (!t)
        return;
    batch_release(t->batch);
    for (size_t i = 0; i < t->choice.count; i++)
        dictionary_free(&t->texts[i]);
    free(t->present);
    free(t->events);
    free(t->places);
    free(t->variables);
    free(t->source_names);
    free(t->comms.at);
    free(t->dsos.at);
    free(t->files.at);
    free(t);
}

const struct column_choice *table_choice(const struct table *t)
{
    return &t->choice;
}
