/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Types, members and objects for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/count_of.h"
#include "render/color.h"
#include "render/table.h"
#include "render/types.h"

#define NAME 1024
#define LINE 64
#define DEPTH 6       /* structs in each other that are opened */
#define ROWS_MAX 2000 /* of one layout */
#define COLD_RUN 3    /* members without samples that are shown one by one */

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

const char *types_name(struct spe_profile *profile, uint32_t id)
{
    struct spe_profile_type type;

    return spe_profile_type(profile, id, &type) == SPE_OK ? spe_profile_string(profile, type.name)
                                                          : "void";
}

void types_member_name(struct spe_profile *profile, const struct spe_type_row *row, char *name,
                       size_t size)
{
    const char *member = spe_profile_string(profile, row->member);

    snprintf(name, size, "%s%s%s", types_name(profile, row->type), *member ? "." : "", member);
}

static void title(const struct types_page *p, const char *text)
{
    out_char(p->sheet->out, '\n');
    sheet_title(p->sheet, text);
}

static void remark(const struct types_page *p, const char *text)
{
    sheet_wrapped(p->sheet, 0, "", TONE_QUIET, text);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void percent_or_none(struct table *t, uint64_t part, uint64_t whole)
{
    if (whole)
        table_percent(t, TONE_PLAIN, share(part, whole));
    else
        table_text(t, TONE_QUIET, "-");
}

static void count_cells(struct table *t, const struct spe_access_counts *c,
                        const struct spe_access_counts *all)
{
    table_count(t, TONE_PLAIN, c->samples);
    percent_or_none(t, c->samples, all->samples);
    percent_or_none(t, c->latency, all->latency);
    if (c->samples)
        table_format(t, TONE_PLAIN, "%.1f", (double)c->latency / (double)c->samples);
    else
        table_text(t, TONE_QUIET, "-");
    percent_or_none(t, c->l1_misses, c->samples);
    percent_or_none(t, c->llc_misses, c->samples);
    percent_or_none(t, c->tlb_walks, c->samples);
    percent_or_none(t, c->stores, c->samples);
    table_count(t, c->threads > 1 ? TONE_NOTABLE : TONE_PLAIN, c->threads);
}

#define COUNT_COLUMNS                                                                              \
    {"samples", false, 0, 0}, {"share", false, 0, 0}, {"lat", false, 0, 0}, {"mean", false, 4, 0}, \
        {"L1m", false, 0, 0}, {"LLCm", false, 3, 0}, {"TLB", false, 6, 0},                         \
        {"stores", false, 5, 0},                                                                   \
    {                                                                                              \
        "threads", false, 2, 0                                                                     \
    }
#define COUNT_COLUMN_COUNT 9

static void list_types(const struct types_page *p, const struct spe_type_row *rows, size_t count,
                       bool members)
{
    const struct table_column columns[] = {{members ? "member" : "type", true, 0, 20},
                                           {members ? "offset" : "size", false, 7, 0},
                                           COUNT_COLUMNS};
    char name[NAME];
    struct table t;

    table_begin(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < count; i++) {
        struct spe_profile_type type;

        types_member_name(p->profile, &rows[i], name, sizeof(name));
        spe_profile_type(p->profile, rows[i].type, &type);
        table_text(&t, TONE_PLAIN, name);
        if (members)
            table_format(&t, TONE_QUIET, "%" PRIu64, rows[i].offset);
        else if (type.size)
            table_count(&t, TONE_QUIET, type.size);
        else
            table_text(&t, TONE_QUIET, "-");
        count_cells(&t, &rows[i].counts, &p->types->all);
    }
    sheet_table(p->sheet, &t);
}

/* Nobody should take saved registers for data of the program. */
static void stack_operations(const struct types_page *p)
{
    const struct report_types *t = p->types;
    char text[NAME];

    if (!t->reasons[SPE_ACCESS_SAVED].samples)
        return;
    snprintf(text, sizeof(text),
             "types of the program: %.1f %%; (stack operation), saved registers: %.1f %%",
             100 * share(t->reasons[SPE_ACCESS_KNOWN].samples, t->all.samples),
             100 * share(t->reasons[SPE_ACCESS_SAVED].samples, t->all.samples));
    remark(p, text);
}

static void list_reasons(const struct types_page *p)
{
    static const struct table_column columns[] = {{"[unknown]", true, 0, 20},
                                                  {"samples", false, 0, 0},
                                                  {"share", false, 0, 0},
                                                  {"lat", false, 0, 0}};
    const struct report_types *types = p->types;
    struct table t;

    if (!types_unknown(types))
        return;
    table_begin(&t, columns, COUNT_OF(columns));
    for (unsigned i = SPE_ACCESS_KNOWN + 1; i < SPE_ACCESS_REASONS; i++) {
        const struct spe_access_counts *c = &types->reasons[i];

        if (!c->samples || types_is_answer(i))
            continue;
        table_text(&t, TONE_PLAIN, spe_access_reason_name(i));
        table_count(&t, TONE_PLAIN, c->samples);
        percent_or_none(&t, c->samples, types->all.samples);
        percent_or_none(&t, c->latency, types->all.latency);
    }
    sheet_table(p->sheet, &t);
}

void types_object_name(struct spe_profile *profile, const struct spe_profile_object *object,
                       char *name, size_t size)
{
    struct spe_profile_object o = *object;

    o.offset = 0;
    if (o.kind == SPE_OBJECT_VARIABLE)
        snprintf(name, size, "%s", spe_profile_string(profile, o.name));
    else
        spe_profile_object_text(profile, &o, 0, name, size);
}

const char *types_object_place(struct spe_profile *profile, const struct spe_profile_object *o)
{
    const struct spe_profile_dso *dso = spe_profile_dso(profile, o->dso);

    return o->kind == SPE_OBJECT_VARIABLE && dso ? spe_profile_string(profile, dso->name)
                                                 : spe_object_kind_name(o->kind);
}

static void list_objects(const struct types_page *p)
{
    const struct table_column columns[] = {
        {"object", true, 0, 20}, {"of", true, 6, 8}, COUNT_COLUMNS};
    const struct report_types *types = p->types;
    char name[NAME];
    struct table t;

    table_begin(&t, columns, COUNT_OF(columns));
    for (size_t i = 0; i < types->object_count; i++) {
        types_object_name(p->profile, &types->objects[i].object, name, sizeof(name));
        table_text(&t, TONE_PLAIN, name);
        table_text(&t, TONE_QUIET, types_object_place(p->profile, &types->objects[i].object));
        count_cells(&t, &types->objects[i].counts, &types->all);
    }
    sheet_table(p->sheet, &t);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

struct layout_row {
    uint64_t offset, size;
    uint64_t hole; /* bytes before it that are no member's */
    unsigned depth;
    bool opened; /* its members follow */
    char text[256];
    struct spe_access_counts counts;
};

struct layout {
    const struct types_page *page;
    const struct report_layout *of;
    struct table table;
    uint64_t line;                    /* the last one that was named */
    struct layout_row last;           /* the last one with counts */
    struct layout_row cold[COLD_RUN]; /* the first of a run of members without samples */
    uint64_t cold_count, rows;
};

void types_counts_in(const struct report_layout *l, uint64_t offset, uint64_t size,
                     struct spe_access_counts *c)
{
    memset(c, 0, sizeof(*c));
    for (size_t i = 0; i < l->member_count; i++) {
        const struct spe_access_counts *m = &l->members[i].counts;

        if (l->members[i].offset < offset || l->members[i].offset - offset >= size)
            continue;
        c->samples += m->samples;
        c->loads += m->loads;
        c->stores += m->stores;
        c->latency += m->latency;
        c->l1_misses += m->l1_misses;
        c->llc_misses += m->llc_misses;
        c->tlb_walks += m->tlb_walks;
        c->threads = c->threads > m->threads ? c->threads : m->threads;
    }
}

static void text_row(struct layout *l, const char *text)
{
    table_text(&l->table, TONE_PLAIN, "");
    table_text(&l->table, TONE_PLAIN, "");
    table_text(&l->table, TONE_QUIET, text);
    for (unsigned i = 0; i < COUNT_COLUMN_COUNT; i++)
        table_text(&l->table, TONE_PLAIN, "");
}

/* Do two members share the bytes that were accessed? */
static bool is_same(const struct layout_row *a, const struct layout_row *b)
{
    return a->offset == b->offset && a->counts.samples == b->counts.samples;
}

static void show_cells(struct layout *l, const struct layout_row *row)
{
    l->rows++;
    table_format(&l->table, TONE_QUIET, "%" PRIu64, row->offset);
    table_format(&l->table, TONE_QUIET, "%" PRIu64, row->size);
    table_format(&l->table, row->counts.samples ? TONE_PLAIN : TONE_QUIET, "%*s%s",
                 (int)(2 * row->depth), "", row->text);
    if (row->counts.samples && !row->opened && !is_same(row, &l->last)) {
        count_cells(&l->table, &row->counts, &l->of->type.counts);
        l->last = *row;
        return;
    }
    /* Members of a union and bit fields share their bytes: the accesses are those above. */
    table_text(&l->table, TONE_QUIET, row->counts.samples && !row->opened ? "\"" : "");
    for (unsigned i = 1; i < COUNT_COLUMN_COUNT; i++)
        table_text(&l->table, TONE_PLAIN, "");
}

/* Before the first member of a line of the cache. */
static void mark_line(struct layout *l, uint64_t offset)
{
    char text[96];

    if (offset / LINE == l->line)
        return;
    snprintf(text, sizeof(text), "-- line %" PRIu64 " --", offset / LINE);
    text_row(l, text);
    l->line = offset / LINE;
}

/* A member, behind the hole and the start of a line that are before it. */
static void show_member(struct layout *l, const struct layout_row *row)
{
    char text[96];

    if (row->hole) {
        snprintf(text, sizeof(text), "-- hole: %" PRIu64 " byte%s --", row->hole,
                 row->hole == 1 ? "" : "s");
        text_row(l, text);
    }
    mark_line(l, row->offset);
    show_cells(l, row);
}

static void fold_cold(struct layout *l)
{
    char text[96];

    if (l->cold_count > COLD_RUN) {
        snprintf(text, sizeof(text), "... %" PRIu64 " not sampled", l->cold_count);
        text_row(l, text);
    }
    for (uint64_t i = 0; i < l->cold_count && l->cold_count <= COLD_RUN; i++)
        show_member(l, &l->cold[i]);
    l->cold_count = 0;
}

static void show_row(struct layout *l, const struct layout_row *row)
{
    if (row->counts.samples || row->opened) {
        fold_cold(l);
        show_member(l, row);
        return;
    }
    if (l->cold_count < COLD_RUN)
        l->cold[l->cold_count] = *row;
    l->cold_count++;
}

void types_declare(struct spe_profile *p, const struct spe_profile_member *m, char *text,
                   size_t size)
{
    const char *type = types_name(p, m->type), *name = spe_profile_string(p, m->name);
    size_t array = strcspn(type, "[");

    if (m->inherited)
        snprintf(text, size, "(base) %s", type);
    else if (m->bits)
        snprintf(text, size, "%s %s:%u", type, name, m->bits);
    else
        snprintf(text, size, "%.*s%s%s%s", (int)array, type,
                 *name && array && type[array - 1] != '*' ? " " : "", name, type + array);
}

uint32_t types_element(struct spe_profile *p, uint32_t id, struct spe_profile_type *type)
{
    while (spe_profile_type(p, id, type) == SPE_OK && type->kind == SPE_TYPE_ARRAY)
        id = type->target;
    return id;
}

static void lay_out(struct layout *l, uint32_t id, uint64_t base, unsigned depth)
{
    struct spe_profile *p = l->page->profile;
    struct spe_profile_member m;
    uint64_t end = base; /* of the members so far */

    for (size_t i = 0; l->rows < ROWS_MAX && spe_profile_member(p, id, i, &m) == SPE_OK; i++) {
        struct layout_row row = {.offset = base + m.offset, .size = m.size, .depth = depth};
        struct spe_profile_type inner;
        uint32_t element = types_element(p, m.type, &inner);

        row.hole = row.offset > end ? row.offset - end : 0;
        types_declare(p, &m, row.text, sizeof(row.text));
        types_counts_in(l->of, row.offset, m.size ? m.size : UINT64_MAX - row.offset, &row.counts);
        row.opened = inner.members && row.counts.samples && depth < DEPTH && !m.bits;
        show_row(l, &row);
        if (row.opened)
            lay_out(l, element, row.offset, depth + 1);
        if (row.offset + m.size > end)
            end = row.offset + m.size;
    }
}

static void show_layout(const struct types_page *p, const struct report_layout *of)
{
    const struct table_column columns[] = {
        {"offset", false, 0, 0}, {"size", false, 1, 0}, {"member", true, 0, 24}, COUNT_COLUMNS};
    struct layout l = {.page = p, .of = of};
    struct spe_profile_type type;
    char text[NAME], a[NAME], b[NAME], bytes[32], lines[32];

    spe_profile_type(p->profile, of->type.type, &type);
    text_grouped(bytes, type.size);
    text_grouped(lines, (type.size + LINE - 1) / LINE);
    snprintf(text, sizeof(text), "%s: %s byte%s, %s line%s of %d, shares of it in %%",
             types_name(p->profile, of->type.type), bytes, type.size == 1 ? "" : "s", lines,
             type.size <= LINE ? "" : "s", LINE);
    title(p, text);
    table_begin(&l.table, columns, COUNT_OF(columns));
    lay_out(&l, of->type.type, 0, 0);
    fold_cold(&l);
    sheet_table(p->sheet, &l.table);
    if (of->apart) {
        snprintf(text, sizeof(text), "hot members lie on different lines: %.400s and %.400s",
                 spe_profile_string(p->profile, of->apart_members[0].member),
                 spe_profile_string(p->profile, of->apart_members[1].member));
        remark(p, text);
    }
    if (of->contended) {
        snprintf(a, sizeof(a), "%s",
                 spe_profile_string(p->profile, of->contended_members[0].member));
        snprintf(b, sizeof(b), "%s",
                 spe_profile_string(p->profile, of->contended_members[1].member));
        snprintf(text, sizeof(text),
                 "different threads use %.400s and %.400s, some write, and both are on one line", a,
                 b);
        remark(p, text);
    }
}

/* ---- The page -------------------------------------------------------------------------------- */

static void list_title(const struct types_page *p, const char *what, size_t count, size_t of)
{
    static const char *const sorts[SPE_SORT_COUNT] = {
        [SPE_SORT_SAMPLES] = "samples", [SPE_SORT_LATENCY] = "latency", [SPE_SORT_L1] = "L1 misses",
        [SPE_SORT_LLC] = "LLC misses",  [SPE_SORT_TLB] = "TLB walks",
    };
    char text[NAME];

    snprintf(text, sizeof(text), "%s with the most %s, %zu of %zu, in %%", what,
             sorts[p->types->sort], count, of);
    title(p, text);
}

void types_text(const struct types_page *p)
{
    const struct report_types *t = p->types;
    char text[NAME];

    if (t->by_object) {
        list_title(p, "Objects", t->object_count, t->object_of);
        list_objects(p);
    }
    if (t->by_type) {
        list_title(p, "Types", t->type_count, t->type_of);
        list_types(p, t->types, t->type_count, false);
        list_reasons(p);
    }
    if (t->by_member) {
        list_title(p, "Members", t->member_count, t->member_of);
        list_types(p, t->members, t->member_count, true);
        if (!t->by_type)
            list_reasons(p);
    }
    for (size_t i = 0; i < t->layout_count; i++)
        show_layout(p, &t->layouts[i]);
    if (t->not_found) {
        snprintf(text, sizeof(text), "No load or store of a type '%.400s' is in this recording",
                 t->name);
        title(p, text);
    }
    if (t->by_type || t->by_member)
        stack_operations(p);
    if (types_wanted(t))
        remark(p, "shares are of loads and stores; L1m, LLCm, TLB, stores: of its own");
}
