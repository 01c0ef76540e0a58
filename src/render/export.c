/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/export_csv.h"
#include "render/json.h"
#include "render/report.h"
#include "render/safe.h"

/* ---- CSV ------------------------------------------------------------------------------------- */

void export_csv_header(struct out *o, const struct column_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (i)
            out_char(o, ',');
        out_string(o, choice->at[i].name);
    }
    out_char(o, '\n');
}

static uint64_t number_at(const struct column *c, const struct cells *cells, size_t row)
{
    switch (column_size(c)) {
    case 1:
        return ((const uint8_t *)cells->values)[row];
    case 2:
        return ((const uint16_t *)cells->values)[row];
    case 4:
        return ((const uint32_t *)cells->values)[row];
    default:
        return ((const uint64_t *)cells->values)[row];
    }
}

static bool flag_at(const struct cells *cells, size_t row)
{
    return ((const uint64_t *)cells->values)[row / 64] >> row % 64 & 1;
}

/* The text with its end, which others have to have; NULL: no memory. */
static const char *text_at(struct export_texts *t, const struct cells *cells, size_t row)
{
    int32_t index = ((const int32_t *)cells->values)[row];
    int32_t from = cells->texts->offsets[index], to = cells->texts->offsets[index + 1];

    t->text.size = 0;
    buffer_put(&t->text, cells->texts->bytes + from, (size_t)(to - from));
    buffer_byte(&t->text, 0);
    return t->text.failed ? NULL : (const char *)t->text.at;
}

static void csv_cell(struct out *o, struct export_texts *t, const struct column *c,
                     const struct cells *cells, size_t row)
{
    const char *text;

    switch (c->type) {
    case COLUMN_TEXT:
        text = text_at(t, cells, row);
        if (text)
            csv_text(o, text);
        break;
    case COLUMN_FLAG:
        out_char(o, flag_at(cells, row) ? '1' : '0');
        break;
    default:
        if (c->style == COLUMN_HEX) {
            out_bytes(o, "0x", 2);
            out_hex(o, number_at(c, cells, row));
        } else {
            out_decimal(o, number_at(c, cells, row));
        }
        break;
    }
}

void export_csv_batch(struct out *o, struct export_texts *t, const struct column_choice *choice,
                      const struct batch *batch)
{
    for (size_t row = 0; row < batch->rows; row++) {
        for (size_t i = 0; i < choice->count; i++) {
            if (i)
                out_char(o, ',');
            if (cell_there(&batch->cells[i], row))
                csv_cell(o, t, &choice->at[i], &batch->cells[i], row);
        }
        out_char(o, '\n');
    }
}

/* ---- JSON Lines ------------------------------------------------------------------------------ */

static void event_names(struct json *j, uint64_t events)
{
    unsigned event;

    json_array(j, "event_names");
    for (event = 0; event < 64; event++) {
        if (events >> event & 1 && spe_event_name(event))
            json_string(j, NULL, spe_event_name(event));
    }
    json_array_end(j);
}

/* Events are one list of names instead of a flag each. */
static void json_cell(struct json *j, struct export_texts *t, const struct column *c,
                      const struct cells *cells, size_t row)
{
    uint64_t number;
    const char *text;

    if (c->type == COLUMN_FLAG)
        return;
    if (c->type == COLUMN_TEXT) {
        text = text_at(t, cells, row);
        if (text)
            json_string(j, c->name, text);
        return;
    }
    number = number_at(c, cells, row);
    if (c->style == COLUMN_HEX)
        json_hex(j, c->name, number);
    else
        json_number(j, c->name, number);
    if (c->id == COLUMN_ID_events)
        event_names(j, number);
}

void export_ndjson_batch(struct out *o, struct export_texts *t, const struct column_choice *choice,
                         const struct batch *batch)
{
    for (size_t row = 0; row < batch->rows; row++) {
        struct json j;

        json_begin(&j, o);
        json_object(&j, NULL);
        for (size_t i = 0; i < choice->count; i++) {
            if (cell_there(&batch->cells[i], row))
                json_cell(&j, t, &choice->at[i], &batch->cells[i], row);
        }
        json_object_end(&j);
        json_end_line(&j);
    }
}

/* ---- folded ---------------------------------------------------------------------------------- */

/* A frame: ';' and newlines separate, the last blank comes before the weight. */
static void put_frame(struct out *o, const char *text)
{
    char safe[SAFE_MAX + 1], *end, *s;

    while (*text) {
        end = safe_next(safe, &text);
        for (s = safe; s < end; s++)
            out_char(o, *s == ';' ? ':' : *s);
    }
}

/* A frame of its own, if the line is known. */
static void put_line(struct out *o, struct spe_profile *profile, uint32_t id)
{
    struct spe_profile_line line;

    if (id == SPE_NO_ID || spe_profile_line(profile, id, &line) < 0)
        return;
    out_char(o, ';');
    put_frame(o, spe_profile_string(profile, line.file));
    out_char(o, ':');
    out_decimal(o, line.line);
}

static void put_dso(struct out *o, struct spe_profile *profile, uint32_t id)
{
    const struct spe_profile_dso *dso = id != SPE_NO_ID ? spe_profile_dso(profile, id) : NULL;

    put_frame(o, dso ? spe_profile_string(profile, dso->name) : "[no map]");
}

static void put_function(struct out *o, struct spe_profile *profile,
                         const struct spe_call_node *node)
{
    const struct spe_profile_dso *dso =
        node->dso != SPE_NO_ID ? spe_profile_dso(profile, node->dso) : NULL;
    struct spe_profile_symbol symbol;

    if (spe_profile_symbol(profile, node->symbol, &symbol) == SPE_OK) {
        put_frame(o, symbol.name);
    } else {
        out_string(o, dso ? "[no symbol] " : "[no map]");
        put_frame(o, dso ? spe_profile_string(profile, dso->name) : "");
    }
}

static void put_task(struct out *o, struct spe_profile *profile, enum spe_group_by task,
                     uint32_t id)
{
    const struct report names = {.profile = profile};
    const struct spe_group group = {.id = id};
    char name[REPORT_NAME];

    report_task_name(&names, task, &group, name);
    put_frame(o, name);
}

struct folded {
    struct spe_profile *profile;
    const struct spe_call_tree *tree;
    enum spe_group_by task;
    uint32_t *path; /* stacks are deep, but no deeper than there are nodes: it has room for all */
};

/* A recording without any stack has the file in their place. */
static void put_no_stack(struct out *o, const struct folded *f, uint32_t below)
{
    if (spe_profile_info(f->profile)->stacks)
        put_frame(o, "[no call stack]");
    else
        put_dso(o, f->profile, spe_call_tree_at(f->tree, below)->dso);
}

static void put_path(struct out *o, const struct folded *f, uint32_t node)
{
    size_t depth = 0;
    uint32_t task;

    for (; node; node = spe_call_tree_at(f->tree, node)->caller)
        f->path[depth++] = node;
    while (depth) {
        const struct spe_call_node *at = spe_call_tree_at(f->tree, f->path[--depth]);

        if (spe_call_tree_task(f->tree, f->path[depth], &task))
            put_task(o, f->profile, f->task, task);
        else if (at->no_stack && depth)
            put_no_stack(o, f, f->path[depth - 1]);
        else
            put_function(o, f->profile, at);
        put_line(o, f->profile, spe_call_tree_line(f->tree, f->path[depth]));
        out_char(o, depth ? ';' : ' ');
    }
}

int export_folded_calls(struct out *o, struct spe_profile *profile,
                        const struct spe_call_tree *tree, enum spe_group_by task, bool latency)
{
    size_t count = spe_call_tree_count(tree);
    struct folded f = {profile, tree, task, calloc(count, sizeof(*f.path))};

    if (!f.path)
        return SPE_ERR_NOMEM;
    for (size_t i = 1; i < count && !o->error; i++) {
        const struct spe_counts *self = &spe_call_tree_at(tree, i)->self;
        uint64_t weight = latency ? self->latency : self->samples;

        if (!weight)
            continue;
        put_path(o, &f, (uint32_t)i);
        out_decimal(o, weight);
        out_char(o, '\n');
    }
    free(f.path);
    return SPE_OK;
}

void export_folded(struct out *o, struct spe_profile *profile, const struct spe_group *groups,
                   size_t count, bool latency)
{
    size_t i;

    for (i = 0; i < count; i++) {
        const struct spe_group *g = &groups[i];
        uint64_t weight = latency ? g->counts.latency : g->counts.samples;
        struct spe_profile_symbol symbol;

        if (!weight)
            continue;
        put_dso(o, profile, g->dso);
        out_char(o, ';');
        put_frame(o, spe_profile_symbol(profile, g->symbol, &symbol) == SPE_OK ? symbol.name
                                                                               : "[no symbol]");
        put_line(o, profile, g->line);
        out_char(o, ' ');
        out_decimal(o, weight);
        out_char(o, '\n');
    }
}
