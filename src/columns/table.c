/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Numbers are copied as they are. Which of them are there, and which events happened, is a word of
 * 64 bits for each row; the same bit of 64 of these words is a word of the bitmap of one column.
 * Names are looked up once for each pc, map and thread name, and remembered. A batch is one block
 * of memory, which the next one takes over: fresh pages cost more than the rows that are put in
 * them.
 */
#include "columns/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "columns/shelf.h"
#include "format/clones.h"

#define PLACES 16384 /* pcs that are remembered: a power of 2 */

/* What is known of a pc. */
struct place {
    uint64_t pc, dso_pc, symbol_offset;
    uint32_t map;
    int32_t symbol;
    bool known, has_address;
};

/* What a row without a map has. */
static const struct place nowhere = {.symbol = NO_INDEX};

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
};

/* A column of names in batches that have views. */
struct name_column {
    int32_t *numbers;               /* of the batch's rows: 1 for the first text, 0 for none */
    VECTOR(struct text_view) views; /* by that number */
};

typedef VECTOR(int32_t) index_list; /* by an id: NO_INDEX, or UNKNOWN_INDEX */

#define UNKNOWN_INDEX (-2)
#define SOURCE_NAMES 256

struct table {
    struct spe_profile *profile;
    struct column_choice choice;
    size_t rows;                     /* most of a batch */
    uint64_t needs, events_needed;   /* bits of presence and events that some column has */
    int column[COLUMN_ID_EVENT + 1]; /* place in the choice, or -1 */
    struct dictionary texts[COLUMNS_MAX];
    bool has_views; /* names are views, not indexes */
    struct name_column names[COLUMNS_MAX];

    struct shelf *shelf;
    struct batch *batch;
    uint64_t *present, *events; /* of the batch's rows */
    struct spe_rows group;      /* that table_next is in */
    size_t from;

    struct place *places;
    struct variable *variables;
    struct source_name *source_names;
    index_list comms, dsos, build_ids, files; /* by string, map, map, string */
    int32_t ops[1024], kinds[1024], levels[256];
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
    shelf_put(b->shelf, b->memory);
    shelf_release(b->shelf);
    free(b->cells);
    free(b);
}

static size_t round_up(size_t size)
{
    return (size + SHELF_ALIGNMENT - 1) / SHELF_ALIGNMENT * SHELF_ALIGNMENT;
}

static size_t bitmap_size(size_t rows)
{
    return round_up((rows + 63) / 64 * sizeof(uint64_t));
}

/* Bytes of a value in a batch; a flag has none. */
static size_t cell_size(const struct table *t, const struct column *c)
{
    return t->has_views && c->type == COLUMN_TEXT ? sizeof(struct text_view) : column_size(c);
}

/* Bytes of the values of all columns, one after the other. */
static size_t values_size(const struct table *t)
{
    size_t size = 0;

    for (size_t i = 0; i < t->choice.count; i++)
        size += round_up(t->rows * cell_size(t, &t->choice.at[i]));
    return size;
}

/* Room for the values, and for the bitmaps behind them. */
static size_t block_size(const struct table *t)
{
    size_t bitmaps =
        (size_t)__builtin_popcountll(t->needs) + (size_t)__builtin_popcountll(t->events_needed);

    return values_size(t) + (bitmaps + 1) * bitmap_size(t->rows);
}

static int batch_new(struct table *t)
{
    struct batch *b = calloc(1, sizeof(*b));
    char *at;

    if (!b)
        return SPE_ERR_NOMEM;
    atomic_init(&b->users, 1);
    t->batch = b;
    b->has_views = t->has_views;
    b->shelf = t->shelf;
    shelf_keep(t->shelf);
    b->count = t->choice.count;
    b->cells = calloc(b->count ? b->count : 1, sizeof(*b->cells));
    b->memory = shelf_take(t->shelf);
    if (!b->cells || !b->memory)
        return SPE_ERR_NOMEM;
    at = b->memory;
    for (size_t i = 0; i < b->count; i++) {
        b->cells[i].values = at;
        at += round_up(t->rows * cell_size(t, &t->choice.at[i]));
    }
    return SPE_OK;
}

/* Bit `bit` of each of 64 bytes. */
static inline uint64_t same_bit(const uint8_t bytes[64], unsigned bit)
{
    uint64_t result = 0;

#ifdef __SSE2__
    const __m128i left = _mm_cvtsi32_si128((int)(7 - bit));

    for (unsigned i = 0; i < 64; i += 16) {
        __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));

        result |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_sll_epi16(some, left)) << i;
    }
#else
    for (unsigned i = 0; i < 64; i += 8) {
        uint64_t some;

        memcpy(&some, bytes + i, sizeof(some));
        some = some >> bit & UINT64_C(0x0101010101010101);
        /* Byte k comes to bit 56 + k, and no two of them to the same one. */
        result |= (some * UINT64_C(0x0102040810204080) >> 56) << i;
    }
#endif
    return result;
}

/* Bitmaps of the bits in `needs`, each of `words` words, out of one word a row. The last words of
 * `rows` may be more than `count` has; their bits are 0. */
CLONES static void turn_all(const uint64_t *rows, size_t count, uint64_t needs, uint64_t *bitmaps,
                            size_t words)
{
    for (size_t block = 0; block * 64 < count; block++) {
        size_t there = count - block * 64;
        uint64_t mask = there < 64 ? (UINT64_C(1) << there) - 1 : UINT64_MAX;
        uint64_t *to = bitmaps + block;

        for (unsigned shift = 0; shift < 64; shift += 8) {
            uint64_t left = needs >> shift & 0xff;
            uint8_t bytes[64];

            if (!left)
                continue;
            for (size_t i = 0; i < 64; i++)
                bytes[i] = (uint8_t)(rows[block * 64 + i] >> shift);
            for (; left; left &= left - 1, to += words)
                *to = same_bit(bytes, (unsigned)__builtin_ctzll(left)) & mask;
        }
    }
}

/* The bitmap of a bit among those of `needs`. */
static uint64_t *bitmap_of(void *bitmaps, uint64_t needs, unsigned bit, size_t words)
{
    return (uint64_t *)bitmaps +
           (size_t)__builtin_popcountll(needs & ((UINT64_C(1) << bit) - 1)) * words;
}

CLONES static size_t count_zeros(const uint64_t *bitmap, size_t rows)
{
    size_t ones = 0;

    for (size_t i = 0; i < (rows + 63) / 64; i++)
        ones += (size_t)__builtin_popcountll(bitmap[i]);
    return rows - ones;
}

/* Views of the texts that a column has by now; number 0 is of none. */
static int add_views(struct name_column *name, const struct dictionary_view *texts)
{
    size_t there = name->views.count;

    if (VECTOR_ROOM_FOR(&name->views, texts->count + 1 - there) < 0)
        return SPE_ERR_NOMEM;
    for (; there <= texts->count; there++)
        name->views.at[there] = there ? text_view(texts, there - 1) : (struct text_view){0};
    name->views.count = there;
    return SPE_OK;
}

/* The batch has the texts of a column as they are now, and views of them if it is to have views. */
static int finish_names(struct table *t, size_t i)
{
    struct cells *cells = &t->batch->cells[i];
    struct name_column *name = &t->names[i];
    struct text_view *to = cells->values;

    cells->texts = dictionary_view(&t->texts[i]);
    if (!cells->texts || (t->has_views && add_views(name, cells->texts) < 0))
        return SPE_ERR_NOMEM;
    for (size_t row = 0; t->has_views && row < t->batch->rows; row++)
        to[row] = name->views.at[name->numbers[row]];
    return SPE_OK;
}

/* The bitmaps of presence, and of events behind them. Absent flags are 0, whatever the word says.
 */
static int finish_batch(struct table *t)
{
    struct batch *b = t->batch;
    size_t words = bitmap_size(b->rows) / sizeof(uint64_t);
    uint64_t *present = (uint64_t *)(void *)((char *)b->memory + values_size(t));
    uint64_t *events = bitmap_of(present, t->needs, 63, words);

    turn_all(t->present, b->rows, t->needs, present, words);
    turn_all(t->events, b->rows, t->events_needed, events, words);
    for (size_t i = 0; i < b->count; i++) {
        const struct column *c = &t->choice.at[i];
        struct cells *cells = &b->cells[i];

        if (c->type == COLUMN_FLAG)
            cells->values = bitmap_of(events, t->events_needed, c->event, words);
        if (c->type == COLUMN_TEXT && finish_names(t, i) < 0)
            return SPE_ERR_NOMEM;
        if (c->presence == PRESENT_ALWAYS)
            continue;
        cells->valid = bitmap_of(present, t->needs, c->presence, words);
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

/* Values of a column behind the batch's rows, or the numbers that become its views; NULL if it is
 * not chosen. */
static void *cells_of(const struct table *t, enum column_id id)
{
    int i = t->column[id];

    if (i < 0)
        return NULL;
    if (t->names[i].numbers)
        return t->names[i].numbers + t->batch->rows;
    return (char *)t->batch->cells[i].values + t->batch->rows * column_size(&t->choice.at[i]);
}

#define PRESENT(name) (UINT64_C(1) << PRESENT_##name)

/* Loops over rows write a column and a bit of the presence word without a branch: which rows have a
 * name is not to be foreseen. */
static inline int32_t name_cell(const struct table *t, int32_t index)
{
    int32_t number = index + t->has_views;

    return number > 0 ? number : 0;
}

static inline uint64_t present_if(bool there, enum column_presence bit)
{
    return (uint64_t)there << bit;
}

static int add_comms(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *cells = cells_of(t, COLUMN_ID_comm);
    uint64_t *present = t->present + t->batch->rows;
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        uint32_t id = r->comm[from + i];
        int32_t index = id < t->comms.count ? t->comms.at[id] : UNKNOWN_INDEX;

        if (index < 0 && id != SPE_NO_ID)
            index = string_index(t, COLUMN_ID_comm, &t->comms, id, id, &error);
        cells[i] = name_cell(t, index);
        present[i] |= present_if(id != SPE_NO_ID, PRESENT_COMM);
    }
    return error;
}

/* Index of the build-id of a map's file, remembered by the map. */
static int32_t build_id_index(struct table *t, uint32_t map, int *error)
{
    const struct spe_profile_dso *dso =
        spe_profile_dso(t->profile, spe_profile_map(t->profile, map)->dso);
    int32_t *at = list_at(&t->build_ids, map);
    char text[2 * SPE_PERF_BUILD_ID_MAX + 1] = "";

    if (!at) {
        *error = SPE_ERR_NOMEM;
        return NO_INDEX;
    }
    for (size_t i = 0; i < dso->id_size; i++)
        snprintf(text + 2 * i, sizeof(text) - 2 * i, "%02x", dso->id[i]);
    *at = dso->id_size ? add_text(t, COLUMN_ID_build_id, text, error) : NO_INDEX;
    return *at;
}

static int add_build_ids(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *cells = cells_of(t, COLUMN_ID_build_id);
    uint64_t *present = t->present + t->batch->rows;
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        uint32_t map = r->map[from + i];
        int32_t index = NO_INDEX;

        if (map != SPE_NO_ID)
            index = map < t->build_ids.count && t->build_ids.at[map] != UNKNOWN_INDEX
                        ? t->build_ids.at[map]
                        : build_id_index(t, map, &error);
        cells[i] = name_cell(t, index);
        present[i] |= present_if(index != NO_INDEX, PRESENT_BUILD_ID);
    }
    return error;
}

static int32_t dso_index(struct table *t, uint32_t map, int *error)
{
    uint32_t dso = spe_profile_map(t->profile, map)->dso;

    return string_index(t, COLUMN_ID_dso, &t->dsos, map, spe_profile_dso(t->profile, dso)->path,
                        error);
}

static int add_dsos(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *cells = cells_of(t, COLUMN_ID_dso);
    uint64_t *present = t->present + t->batch->rows;
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        uint32_t map = r->map[from + i];

        cells[i] = 0;
        if (map == SPE_NO_ID)
            continue;
        cells[i] =
            name_cell(t, map < t->dsos.count && t->dsos.at[map] >= 0 ? t->dsos.at[map]
                                                                     : dso_index(t, map, &error));
        present[i] |= PRESENT(DSO);
    }
    return error;
}

static int add_lines(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *files = cells_of(t, COLUMN_ID_file);
    uint32_t *lines = cells_of(t, COLUMN_ID_line);
    uint64_t *present = t->present + t->batch->rows;
    int error = SPE_OK;

    if (files)
        memset(files, 0, count * sizeof(*files));
    if (lines)
        memset(lines, 0, count * sizeof(*lines));
    for (size_t i = 0; r->line && (files || lines) && i < count; i++) {
        struct spe_profile_line line;

        if (spe_profile_line(t->profile, r->line[from + i], &line) != SPE_OK)
            continue;
        if (files)
            files[i] = name_cell(
                t, string_index(t, COLUMN_ID_file, &t->files, line.file, line.file, &error));
        if (lines)
            lines[i] = line.line;
        present[i] |= PRESENT(FILE);
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

/* The place of a row, remembered or found. */
static const struct place *place_of(struct table *t, const struct spe_rows *r, size_t i, int *error)
{
    uint64_t pc = r->pc[i];
    uint32_t map = r->map[i];
    struct place *place = &t->places[((pc >> 2) * 0x9e3779b97f4a7c15u >> 40 ^ map) % PLACES];

    if (map == SPE_NO_ID)
        return &nowhere;
    if (place->pc != pc || place->map != map || !place->known) {
        int result = find_place(t, r, i, place);

        *error = result < 0 ? result : *error;
    }
    return place;
}

static int add_places(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *symbols = cells_of(t, COLUMN_ID_symbol);
    uint64_t *addresses = cells_of(t, COLUMN_ID_dso_pc);
    uint64_t *offsets = cells_of(t, COLUMN_ID_symbol_offset);
    uint64_t *present = t->present + t->batch->rows;
    int error = SPE_OK;

    for (size_t i = 0; t->places && i < count; i++) {
        const struct place *place = place_of(t, r, from + i, &error);

        if (symbols)
            symbols[i] = name_cell(t, place->symbol);
        if (addresses)
            addresses[i] = place->has_address ? place->dso_pc : 0;
        if (offsets)
            offsets[i] = place->symbol == NO_INDEX ? 0 : place->symbol_offset;
        present[i] |= present_if(place->symbol != NO_INDEX, PRESENT_SYMBOL) |
                      present_if(place->has_address, PRESENT_DSO_PC);
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
    uint64_t *present = t->present + t->batch->rows;
    int error = SPE_OK;

    for (size_t i = 0; t->variables && i < count; i++) {
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
            names[i] = name_cell(t, v->index);
        if (offsets)
            offsets[i] = v->offset;
        present[i] |= v->index == NO_INDEX ? 0 : PRESENT(DATA);
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

/* Names of an operation: of four classes with 256 payloads. */
static int name_op(struct table *t, unsigned op)
{
    int error = SPE_OK;

    t->ops[op] = t->kinds[op] = 0;
    if (t->column[COLUMN_ID_op] >= 0)
        t->ops[op] = add_text(t, COLUMN_ID_op, op_name(op), &error);
    if (t->column[COLUMN_ID_kind] >= 0)
        t->kinds[op] = add_text(t, COLUMN_ID_kind, kind_name(op), &error);
    return error;
}

static int add_ops(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *ops = cells_of(t, COLUMN_ID_op), *kinds = cells_of(t, COLUMN_ID_kind);
    int error = SPE_OK;

    for (size_t i = 0; (ops || kinds) && i < count; i++) {
        unsigned op = r->op[from + i] & 0x3ff;
        int32_t there = r->has[from + i] & SPE_HAS_OP ? -1 : 0;

        if (t->ops[op] == UNKNOWN_INDEX && there) {
            int result = name_op(t, op);

            error = result < 0 ? result : error;
        }
        if (ops)
            ops[i] = name_cell(t, t->ops[op]) & there;
        if (kinds)
            kinds[i] = name_cell(t, t->kinds[op]) & there;
    }
    return error;
}

static int add_levels(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    int32_t *cells = cells_of(t, COLUMN_ID_level);
    uint64_t *present = t->present + t->batch->rows;
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        uint8_t level = r->level[from + i];
        int32_t index;

        if (t->levels[level] == UNKNOWN_INDEX)
            t->levels[level] = add_text(t, COLUMN_ID_level, spe_source_level_name(level), &error);
        index = t->levels[level];
        cells[i] = name_cell(t, index);
        present[i] |= present_if(index != NO_INDEX, PRESENT_LEVEL);
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

static void find_source_name(struct table *t, const struct spe_cpu *cpu, uint16_t source,
                             int *error)
{
    const struct spe_source *known = spe_cpu_source(cpu, source);
    struct source_name *name = &t->source_names[source % SOURCE_NAMES];

    *name = (struct source_name){cpu, source, NO_INDEX};
    if (known)
        name->index = add_text(t, COLUMN_ID_source_name, known->name, error);
}

static int add_source_names(struct table *t, const struct spe_rows *r, size_t from, size_t count)
{
    const struct spe_profile_info *info = spe_profile_info(t->profile);
    int32_t *cells = cells_of(t, COLUMN_ID_source_name);
    uint64_t *present = t->present + t->batch->rows;
    int error = SPE_OK;

    for (size_t i = 0; cells && i < count; i++) {
        const struct spe_cpu *cpu = info->cpu ? info->cpu : cpu_of(info, r->cpu[from + i]);
        bool there = (cpu != NULL) & !!(r->has[from + i] & SPE_HAS_SOURCE);
        uint16_t source = r->source[from + i];
        const struct source_name *name = &t->source_names[source % SOURCE_NAMES];
        int32_t index;

        if (there & ((name->cpu != cpu) | (name->source != source)))
            find_source_name(t, cpu, source, &error);
        index = name->index | -(int32_t)!there; /* NO_INDEX has all bits */
        cells[i] = name_cell(t, index);
        present[i] |= present_if(index >= 0, PRESENT_SOURCE_NAME);
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

    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; cells[k] && i < count; i++)
            cells[k][i] = cells[k][i] == UINT32_MAX ? 0 : cells[k][i];
    }
    for (size_t i = 0; el && i < count; i++)
        el[i] = r->el[from + i] == SPE_NO_EL ? 0 : r->el[from + i];
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
        add_comms,     add_dsos, add_build_ids, add_lines,        add_places,
        add_variables, add_ops,  add_levels,    add_source_names,
    };
    uint64_t always = spe_profile_info(t->profile)->timed ? PRESENT(TIME) : 0;

    copy_numbers(t, r, from, count);
    add_present(t->present + t->batch->rows, r, from, count, always);
    if (t->events_needed)
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
        t->levels[i] = i == SPE_LEVEL_UNKNOWN ? NO_INDEX : UNKNOWN_INDEX;
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

static int open_names(struct table *t, size_t i, enum table_names names)
{
    if (dictionary_init(&t->texts[i], names != NAMES_BYTES) < 0)
        return SPE_ERR_NOMEM;
    if (t->has_views)
        t->names[i].numbers = calloc(t->rows, sizeof(int32_t));
    return t->has_views && !t->names[i].numbers ? SPE_ERR_NOMEM : SPE_OK;
}

static int open_columns(struct table *t, enum table_names names)
{
    memset(t->column, 0xff, sizeof(t->column));
    for (size_t i = 0; i < t->choice.count; i++) {
        const struct column *c = &t->choice.at[i];

        t->column[c->id] = (int)i;
        if (c->type == COLUMN_FLAG)
            t->events_needed |= UINT64_C(1) << c->event;
        if (c->presence != PRESENT_ALWAYS)
            t->needs |= UINT64_C(1) << c->presence;
        if (c->type == COLUMN_TEXT && open_names(t, i, names) < 0)
            return SPE_ERR_NOMEM;
    }
    t->present = calloc(t->rows + 63, sizeof(*t->present)); /* they are read 64 at a time */
    t->events = calloc(t->rows + 63, sizeof(*t->events));
    t->shelf = shelf_new(block_size(t)); /* batches may outlive the table */
    return t->present && t->events && t->shelf ? open_caches(t) : SPE_ERR_NOMEM;
}

int table_open(struct table **table, struct spe_profile *profile,
               const struct column_choice *choice, size_t rows, enum table_names names)
{
    struct table *t = calloc(1, sizeof(*t));

    *table = NULL;
    if (!t)
        return SPE_ERR_NOMEM;
    t->profile = profile;
    t->choice = *choice;
    t->rows = rows;
    t->has_views = names == NAMES_VIEWS;
    if (open_columns(t, names) < 0) {
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
    shelf_release(t->shelf);
    for (size_t i = 0; i < t->choice.count; i++) {
        dictionary_free(&t->texts[i]);
        free(t->names[i].numbers);
        free(t->names[i].views.at);
    }
    free(t->present);
    free(t->events);
    free(t->places);
    free(t->variables);
    free(t->source_names);
    free(t->comms.at);
    free(t->dsos.at);
    free(t->build_ids.at);
    free(t->files.at);
    free(t);
}

const struct column_choice *table_choice(const struct table *t)
{
    return &t->choice;
}
