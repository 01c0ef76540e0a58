/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Types, members and objects of the page; and pictures of types, as they lie in memory. */
#include <inttypes.h>
#include <stdio.h>

#include "base/count_of.h"
#include "render/html.h"
#include "render/table.h"

#define LINE 64
#define DEPTH 6 /* structs in each other that are opened */
#define HEATS 6
#define LINES_MAX 24   /* of a picture */
#define PIECES_MAX 500 /* members of a picture, one for each line that they are on */

/* ---- lists ----------------------------------------------------------------------------------- */

#define COUNT_COLUMNS                                                                              \
    {"samples", NULL, false, "count samples"},                                                     \
        {"share %", "of all loads and stores, with the 95 % interval", false,                      \
         "interval samples all.memory"},                                                           \
        {"latency", "cycles, sum of its samples", false, "count latency"},                         \
        {"of all %", "of the latency of all loads and stores", false,                              \
         "share latency all.memory_latency"},                                                      \
        {"mean", "cycles of a sample", false, "mean latency samples"},                             \
        {"L1 miss %", "of its samples", false, "share l1_misses samples"},                         \
        {"LLC miss %", "of its samples", false, "share llc_misses samples"},                       \
        {"TLB walk %", "of its samples", false, "share tlb_walks samples"},                        \
        {"stores %", "of its samples", false, "share stores samples"},                             \
    {                                                                                              \
        "threads", NULL, false, NULL                                                               \
    }

static void count_cells(struct out *o, const struct spe_access_counts *c,
                        const struct spe_access_counts *all)
{
    html_cell_count(o, c->samples);
    html_cell_interval(o, c->samples, all->samples);
    html_cell_count(o, c->latency);
    html_cell_share(o, c->latency, all->latency);
    html_cell_mean(o, c->latency, c->samples);
    html_cell_share(o, c->l1_misses, c->samples);
    html_cell_share(o, c->llc_misses, c->samples);
    html_cell_share(o, c->tlb_walks, c->samples);
    html_cell_share(o, c->stores, c->samples);
    html_cell_count(o, c->threads);
}

/* A row without slices, or with a part of them, has no number. */
static void row_begin(struct out *o, const struct html_page *page,
                      const struct spe_slice_table *slices, size_t row, uint64_t samples)
{
    uint64_t sliced = 0;

    for (size_t bin = 0; slices->cells && bin < page->report->times.count; bin++)
        sliced += slices->cells[(bin * slices->rows + row) * slices->fields];
    if (sliced == samples)
        html_row_of(o, row, NULL);
    else
        html_row_begin(o);
}

static void type_rows(struct out *o, const struct html_page *page, const struct spe_type_row *rows,
                      size_t count, bool members)
{
    struct spe_profile *profile = page->report->profile;
    char name[REPORT_NAME];

    for (size_t i = 0; i < count; i++) {
        struct spe_profile_type type = {.size = 0};

        spe_profile_type(profile, rows[i].type, &type);
        row_begin(o, page, members ? &page->member_slices : &page->type_slices, i,
                  rows[i].counts.samples);
        types_member_name(profile, &rows[i], name, sizeof(name));
        html_head_text(o, name);
        if (members || type.size)
            html_cell_count(o, members ? rows[i].offset : type.size);
        else
            html_cell_text(o, "-");
        count_cells(o, &rows[i].counts, &page->types->all);
        html_row_end(o);
    }
}

static void caption_of(char *caption, size_t size, const char *what, size_t count, size_t of)
{
    char total[32];

    text_grouped(total, of);
    snprintf(caption, size, "%s that loads and stores accessed: the first %zu of %s, by latency",
             what, count, total);
}

static void type_table(struct out *o, const struct html_page *page)
{
    static const struct html_column columns[] = {
        {"type", NULL, true, NULL}, {"size", "bytes", false, "keep"}, COUNT_COLUMNS};
    char caption[128];

    out_string(o, "<section id=\"types\"><h2>Types</h2>\n");
    caption_of(caption, sizeof(caption), "Types", page->types->type_count, page->types->type_of);
    html_table_begin(o, "type", caption, columns, COUNT_OF(columns));
    type_rows(o, page, page->types->types, page->types->type_count, false);
    html_table_end(o);
}

static void member_table(struct out *o, const struct html_page *page)
{
    static const struct html_column columns[] = {
        {"member", NULL, true, NULL}, {"offset", "bytes", false, "keep"}, COUNT_COLUMNS};
    char caption[128];

    out_string(o, "<h3>Members</h3>\n");
    caption_of(caption, sizeof(caption), "Members", page->types->member_count,
               page->types->member_of);
    html_table_begin(o, "member", caption, columns, COUNT_OF(columns));
    type_rows(o, page, page->types->members, page->types->member_count, true);
    html_table_end(o);
}

static void object_table(struct out *o, const struct html_page *page)
{
    static const struct html_column columns[] = {
        {"object", NULL, true, NULL}, {"of", "file, or kind of memory", true, NULL}, COUNT_COLUMNS};
    struct spe_profile *profile = page->report->profile;
    const struct report_types *t = page->types;
    char caption[128], name[REPORT_NAME];

    out_string(o, "<section id=\"objects\"><h2>Objects</h2>\n");
    caption_of(caption, sizeof(caption), "Objects", t->object_count, t->object_of);
    html_table_begin(o, "object", caption, columns, COUNT_OF(columns));
    for (size_t i = 0; i < t->object_count; i++) {
        row_begin(o, page, &page->object_slices, i, t->objects[i].counts.samples);
        types_object_name(profile, &t->objects[i].object, name, sizeof(name));
        html_head_text(o, name);
        html_cell_text(o, types_object_place(profile, &t->objects[i].object));
        count_cells(o, &t->objects[i].counts, &t->all);
        html_row_end(o);
    }
    html_table_end(o);
    out_string(o, "</section>\n");
}

/* Nobody should take saved registers for data of the program. */
static void stack_operations(struct out *o, const struct report_types *t)
{
    char share[32];

    if (!t->reasons[SPE_ACCESS_SAVED].samples)
        return;
    text_percent(share, share_of(t->reasons[SPE_ACCESS_KNOWN].samples, t->all.samples));
    out_string(o, "<p class=\"note whole\">");
    html_text(o, share);
    out_string(o, " % of the loads and stores have a type of the program, ");
    text_percent(share, share_of(t->reasons[SPE_ACCESS_SAVED].samples, t->all.samples));
    html_text(o, share);
    out_string(o, " % are stack operations: functions save and restore registers.</p>\n");
}

/* Which loads and stores have no type, and why. */
static void unknown(struct out *o, const struct report_types *t)
{
    bool first = true;
    char share[32];

    if (!types_unknown(t))
        return;
    text_percent(share, share_of(types_unknown(t), t->all.samples));
    out_string(o, "<p class=\"note whole\">");
    html_text(o, share);
    out_string(o, " % of the loads and stores are of no known type: ");
    for (unsigned i = SPE_ACCESS_KNOWN + 1; i < SPE_ACCESS_REASONS; i++) {
        if (!t->reasons[i].samples || types_is_answer(i))
            continue;
        out_string(o, first ? "" : "; ");
        html_text(o, spe_access_reason_name(i));
        text_percent(share, share_of(t->reasons[i].samples, t->all.samples));
        out_char(o, ' ');
        html_text(o, share);
        out_string(o, " %");
        first = false;
    }
    out_string(o, ".</p>\n");
}

/* ---- pictures -------------------------------------------------------------------------------- */

enum { BYTE = 14, TALL = 30, LEFT = 56 };

/* A type from its first byte to its last, one line of the cache below the other. */
struct picture {
    struct out *out;
    struct spe_profile *profile;
    const struct report_layout *of;
    uint64_t hottest;          /* latency of the hottest member */
    uint64_t lines[LINES_MAX]; /* those that are shown */
    size_t line_count, piece_count;
};

static unsigned heat_of(const struct picture *p, const struct spe_access_counts *c)
{
    return c->samples ? (unsigned)(1 + (HEATS - 1) * c->latency / p->hottest) : 0;
}

static size_t row_of_line(const struct picture *p, uint64_t line)
{
    size_t row = 0;

    while (row < p->line_count && p->lines[row] != line)
        row++;
    return row;
}

static void piece_title(const struct picture *p, uint64_t offset, const char *declaration,
                        const struct spe_access_counts *c)
{
    char share[32];

    out_printf(p->out, "<title>+%" PRIu64 " ", offset);
    html_text(p->out, declaration);
    if (c->samples) {
        text_percent(share, share_of(c->latency, p->of->type.counts.latency));
        out_printf(p->out, ": %" PRIu64 " loads, %" PRIu64 " stores, %.1f cycles on average, ",
                   c->loads, c->stores, share_of(c->latency, c->samples));
        html_text(p->out, share);
        out_string(p->out, " % of the type&#39;s latency");
    } else {
        out_string(p->out, ": no samples");
    }
    out_string(p->out, "</title>");
}

/* As much of the name as there is room for. */
static void piece_name(const struct picture *p, const char *name, unsigned x, size_t y,
                       unsigned bytes)
{
    unsigned room = bytes * BYTE > 8 ? (bytes * BYTE - 8) / 7 : 0;
    bool fits = strlen(name) <= room;
    char text[2 * LINE + 8];

    if (!fits && room < 4)
        return;
    snprintf(text, sizeof(text), "%.*s%s", (int)(fits ? room : room - 1), name, fits ? "" : "…");
    out_printf(p->out, "<text x=\"%u\" y=\"%zu\">", x + 4, y + TALL / 2 + 4);
    html_text(p->out, text);
    out_string(p->out, "</text>");
}

/* The part of a member on one line. */
static void piece(struct picture *p, uint64_t from, uint64_t to, const char *name,
                  const char *declaration, uint64_t offset, const struct spe_access_counts *c)
{
    size_t row = row_of_line(p, from / LINE), y = row * (TALL + 4);
    unsigned x = LEFT + BYTE * (unsigned)(from % LINE), bytes = (unsigned)(to - from);

    if (row == p->line_count || p->piece_count >= PIECES_MAX)
        return;
    p->piece_count++;
    out_printf(p->out, "<g class=\"member heat-%u\">", heat_of(p, c));
    piece_title(p, offset, declaration, c);
    out_printf(p->out, "<rect x=\"%u\" y=\"%zu\" width=\"%u\" height=\"%u\"/>", x, y,
               BYTE * bytes - 1, TALL);
    piece_name(p, name, x, y, bytes);
    out_string(p->out, "</g>");
}

static void pieces(struct picture *p, const struct spe_profile_member *m, uint64_t offset,
                   const struct spe_access_counts *c)
{
    char declaration[256];

    types_declare(p->profile, m, declaration, sizeof(declaration));
    for (uint64_t from = offset, to; from < offset + m->size; from = to) {
        to = (from / LINE + 1) * LINE;
        to = to < offset + m->size ? to : offset + m->size;
        piece(p, from, to, spe_profile_string(p->profile, m->name), declaration, offset, c);
    }
}

typedef void on_member(struct picture *p, const struct spe_profile_member *m, uint64_t offset,
                       const struct spe_access_counts *c);

/* Members that have none of their own, or none that was accessed. */
static void walk(struct picture *p, uint32_t type, uint64_t base, unsigned depth, on_member *see)
{
    struct spe_profile_member m;

    for (size_t i = 0; spe_profile_member(p->profile, type, i, &m) == SPE_OK; i++) {
        struct spe_profile_type inner;
        uint32_t element = types_element(p->profile, m.type, &inner);
        struct spe_access_counts counts;

        types_counts_in(p->of, base + m.offset, m.size, &counts);
        if (inner.members && inner.size == m.size && counts.samples && depth < DEPTH && !m.bits)
            walk(p, element, base + m.offset, depth + 1, see);
        else
            see(p, &m, base + m.offset, &counts);
    }
}

static void see_heat(struct picture *p, const struct spe_profile_member *m, uint64_t offset,
                     const struct spe_access_counts *c)
{
    (void)m;
    (void)offset;
    p->hottest = c->latency > p->hottest ? c->latency : p->hottest;
}

/* The lines that have samples; all of them if there is room. */
static void choose_lines(struct picture *p, uint64_t size)
{
    uint64_t lines = (size + LINE - 1) / LINE;
    struct spe_access_counts counts;

    for (uint64_t line = 0; line < lines && p->line_count < LINES_MAX; line++) {
        types_counts_in(p->of, line * LINE, LINE, &counts);
        if (counts.samples || lines <= LINES_MAX)
            p->lines[p->line_count++] = line;
        if (line > UINT64_C(1) << 20)
            break;
    }
}

static void line_frames(const struct picture *p, uint64_t size)
{
    for (size_t row = 0; row < p->line_count; row++) {
        uint64_t left = size - p->lines[row] * LINE;

        out_printf(p->out,
                   "<text x=\"0\" y=\"%zu\">+%" PRIu64 "</text><rect class=\"word\" x=\"%u\" "
                   "y=\"%zu\" width=\"%u\" height=\"%u\"/>",
                   row * (TALL + 4) + TALL / 2 + 4, p->lines[row] * LINE, LEFT, row * (TALL + 4),
                   BYTE * (unsigned)(left < LINE ? left : LINE), TALL);
    }
}

static void remarks(struct out *o, struct spe_profile *profile, const struct report_layout *l)
{
    if (l->apart) {
        out_string(o, "<p>Hot members lie on different lines: ");
        html_text(o, spe_profile_string(profile, l->apart_members[0].member));
        out_string(o, " and ");
        html_text(o, spe_profile_string(profile, l->apart_members[1].member));
        out_string(o, ".</p>\n");
    }
    if (l->contended) {
        out_string(o, "<p>Different threads use ");
        html_text(o, spe_profile_string(profile, l->contended_members[0].member));
        out_string(o, " and ");
        html_text(o, spe_profile_string(profile, l->contended_members[1].member));
        out_string(o, ", some write, and both are on one line.</p>\n");
    }
}

static void layout(struct out *o, const struct html_page *page, const struct report_layout *l)
{
    struct picture p = {.out = o, .profile = page->report->profile, .of = l, .hottest = 1};
    struct spe_profile_type type;

    if (spe_profile_type(p.profile, l->type.type, &type) != SPE_OK || !type.size)
        return;
    walk(&p, l->type.type, 0, 0, see_heat);
    choose_lines(&p, type.size);
    out_string(o, "<figure class=\"layout whole\"><figcaption>");
    html_text(o, spe_profile_string(p.profile, type.name));
    out_printf(o, ": %" PRIu64 " bytes", type.size);
    if (p.line_count < (type.size + LINE - 1) / LINE)
        out_printf(o, "; %zu of %" PRIu64 " lines, those with samples", p.line_count,
                   (type.size + LINE - 1) / LINE);
    out_printf(o,
               "</figcaption><svg class=\"line\" viewBox=\"0 0 %u %zu\" role=\"img\" "
               "aria-label=\"Members in memory, a row for each line of %d bytes\">",
               LEFT + BYTE * LINE, p.line_count * (TALL + 4), LINE);
    line_frames(&p, type.size);
    walk(&p, l->type.type, 0, 0, pieces);
    out_string(o, "</svg>\n");
    remarks(o, p.profile, l);
    out_string(o, "</figure>\n");
}

void html_types(struct out *o, const struct html_page *page)
{
    const struct report_types *t = page->types;

    if (!t || !t->all.samples)
        return;
    type_table(o, page);
    stack_operations(o, t);
    unknown(o, t);
    member_table(o, page);
    if (t->layout_count)
        out_string(o, "<h3>How types lie in memory</h3>\n<p class=\"note\">One row for each cache "
                      "line of 64 bytes, if the type begins one. The darker a member, the more of "
                      "the latency is its own; grey ones have no samples.</p>\n");
    for (size_t i = 0; i < t->layout_count; i++)
        layout(o, page, &t->layouts[i]);
    out_string(o, "</section>\n");
    object_table(o, page);
}
