/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/export_csv.h"
#include "render/json.h"
#include "render/safe.h"
#include "render/script.h"

/* ---- names ----------------------------------------------------------------------------------- */

struct names {
    const char *comm, *symbol, *dso, *file;
    uint32_t line;
};

static void find_names(struct spe_profile *profile, const struct spe_rows *rows, size_t i,
                       struct names *names)
{
    const struct spe_profile_map *map =
        rows->map[i] != SPE_NO_ID ? spe_profile_map(profile, rows->map[i]) : NULL;
    const struct spe_profile_dso *dso = map ? spe_profile_dso(profile, map->dso) : NULL;
    struct spe_profile_symbol symbol;
    struct spe_profile_line line;

    memset(names, 0, sizeof(*names));
    names->comm = rows->comm[i] != SPE_NO_ID ? spe_profile_string(profile, rows->comm[i]) : NULL;
    names->dso = dso ? spe_profile_string(profile, dso->path) : NULL;
    if (rows->symbol && spe_profile_symbol(profile, rows->symbol[i], &symbol) == SPE_OK)
        names->symbol = symbol.name;
    if (rows->line && spe_profile_line(profile, rows->line[i], &line) == SPE_OK) {
        names->file = spe_profile_string(profile, line.file);
        names->line = line.line;
    }
}

static const char *op_class(const struct spe_rows *rows, size_t i)
{
    if (!(rows->has[i] & SPE_HAS_OP))
        return NULL;
    switch (rows->op[i] >> 8) {
    case SPE_CLASS_LDST:
        return rows->op[i] & 1 ? "store" : "load";
    case SPE_CLASS_BRANCH:
        return "branch";
    case SPE_CLASS_OTHER:
        return "other";
    default:
        return "reserved";
    }
}

static const char *op_kind(const struct spe_rows *rows, size_t i)
{
    struct spe_op op;

    if (!(rows->has[i] & SPE_HAS_OP))
        return NULL;
    spe_op_decode(rows->op[i] >> 8, (uint8_t)rows->op[i], &op);
    return spe_op_kind_name(op.kind);
}

/* ---- numbers that may be absent -------------------------------------------------------------- */

struct cell {
    const char *name;
    bool there, hex;
    uint64_t value;
};

#define CELLS 19

/* All numbers of a row, in the order of the columns. */
static void find_cells(const struct spe_profile_info *info, const struct spe_rows *r, size_t i,
                       struct cell cells[CELLS])
{
    uint8_t addresses = r->addresses[i], counters = r->counters[i], has = r->has[i];
    const struct cell list[CELLS] = {
        {"time_ns", info->timed, false, r->time_ns[i]},
        {"cpu", r->cpu[i] != SPE_NO_CPU, false, r->cpu[i]},
        {"pid", r->pid[i] != SPE_NO_TASK, false, r->pid[i]},
        {"tid", r->tid[i] != SPE_NO_TASK, false, r->tid[i]},
        {"pc", addresses >> SPE_ADDRESS_PC & 1, true, r->pc[i]},
        {"el", r->el[i] != SPE_NO_EL, false, r->el[i]},
        {"events", has & SPE_HAS_EVENTS, true, r->events[i]},
        {"va", addresses >> SPE_ADDRESS_VA & 1, true, r->va[i]},
        {"pa", addresses >> SPE_ADDRESS_PA & 1, true, r->pa[i]},
        {"target", addresses >> SPE_ADDRESS_TARGET & 1, true, r->target[i]},
        {"previous_target", addresses >> SPE_ADDRESS_PREVIOUS_TARGET & 1, true,
         r->previous_target[i]},
        {"total", counters >> SPE_COUNTER_TOTAL & 1, false, r->total[i]},
        {"issue", counters >> SPE_COUNTER_ISSUE & 1, false, r->issue[i]},
        {"translation", counters >> SPE_COUNTER_TRANSLATION & 1, false, r->translation[i]},
        {"source", has & SPE_HAS_SOURCE, true, r->source[i]},
        {"context1", has & SPE_HAS_CONTEXT1, false, r->context1[i]},
        {"context2", has & SPE_HAS_CONTEXT2, false, r->context2[i]},
        {"timestamp", has & SPE_HAS_TIMESTAMP, false, r->timestamp[i]},
        {"offset", true, false, r->offset[i]},
    };

    memcpy(cells, list, sizeof(list));
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void export_csv_header(struct out *o)
{
    out_string(o, "time_ns,cpu,pid,tid,pc,el,events,va,pa,target,previous_target,total,issue,"
                  "translation,source,context1,context2,timestamp,offset,op,kind,level,comm,"
                  "symbol,dso,file,line\n");
}

static void optional_text(struct out *o, const char *text)
{
    out_char(o, ',');
    if (text)
        csv_text(o, text);
}

static void csv_row(struct out *o, struct spe_profile *profile, const struct spe_rows *rows,
                    size_t i)
{
    struct cell cells[CELLS];
    struct names names;
    unsigned c;

    find_cells(spe_profile_info(profile), rows, i, cells);
    find_names(profile, rows, i, &names);
    for (c = 0; c < CELLS; c++) {
        if (c)
            out_char(o, ',');
        if (!cells[c].there)
            continue;
        if (cells[c].hex)
            out_bytes(o, "0x", 2);
        if (cells[c].hex)
            out_hex(o, cells[c].value);
        else
            out_decimal(o, cells[c].value);
    }
    optional_text(o, op_class(rows, i));
    optional_text(o, op_kind(rows, i));
    optional_text(o, rows->level[i] == SPE_LEVEL_UNKNOWN ? NULL
                                                         : spe_source_level_name(rows->level[i]));
    optional_text(o, names.comm);
    optional_text(o, names.symbol);
    optional_text(o, names.dso);
    optional_text(o, names.file);
    out_char(o, ',');
    if (names.file)
        out_decimal(o, names.line);
    out_char(o, '\n');
}

void export_csv_rows(struct out *o, struct spe_profile *profile, const struct spe_rows *rows)
{
    size_t i;

    for (i = 0; i < rows->count; i++)
        csv_row(o, profile, rows, i);
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

static void present_string(struct json *j, const char *key, const char *text)
{
    if (text)
        json_string(j, key, text);
}

static void ndjson_row(struct out *o, struct spe_profile *profile, const struct spe_rows *rows,
                       size_t i)
{
    struct cell cells[CELLS];
    struct names names;
    struct json j;
    unsigned c;

    find_cells(spe_profile_info(profile), rows, i, cells);
    find_names(profile, rows, i, &names);
    json_begin(&j, o);
    json_object(&j, NULL);
    for (c = 0; c < CELLS; c++) {
        if (cells[c].there && cells[c].hex)
            json_hex(&j, cells[c].name, cells[c].value);
        else if (cells[c].there)
            json_number(&j, cells[c].name, cells[c].value);
    }
    event_names(&j, rows->events[i]);
    present_string(&j, "op", op_class(rows, i));
    present_string(&j, "kind", op_kind(rows, i));
    if (rows->level[i] != SPE_LEVEL_UNKNOWN)
        json_string(&j, "level", spe_source_level_name(rows->level[i]));
    present_string(&j, "comm", names.comm);
    present_string(&j, "symbol", names.symbol);
    present_string(&j, "dso", names.dso);
    present_string(&j, "file", names.file);
    if (names.file)
        json_number(&j, "line", names.line);
    json_object_end(&j);
    json_end_line(&j);
}

void export_ndjson_rows(struct out *o, struct spe_profile *profile, const struct spe_rows *rows)
{
    size_t i;

    for (i = 0; i < rows->count; i++)
        ndjson_row(o, profile, rows, i);
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

static void put_function(struct out *o, struct spe_profile *profile,
                         const struct spe_call_node *node)
{
    const struct spe_profile_dso *dso =
        node->dso != SPE_NO_ID ? spe_profile_dso(profile, node->dso) : NULL;
    struct spe_profile_symbol symbol;

    if (node->no_stack) {
        put_frame(o, "[no call stack]");
    } else if (spe_profile_symbol(profile, node->symbol, &symbol) == SPE_OK) {
        put_frame(o, symbol.name);
    } else {
        out_string(o, dso ? "[no symbol] " : "[no map]");
        put_frame(o, dso ? spe_profile_string(profile, dso->name) : "");
    }
}

/* Stacks are deep, but no deeper than there are nodes: `path` has room for all. */
static void put_path(struct out *o, struct spe_profile *profile, const struct spe_call_tree *tree,
                     uint32_t node, uint32_t *path)
{
    size_t depth = 0;

    for (; node; node = spe_call_tree_at(tree, node)->caller)
        path[depth++] = node;
    while (depth) {
        put_function(o, profile, spe_call_tree_at(tree, path[--depth]));
        out_char(o, depth ? ';' : ' ');
    }
}

int export_folded_calls(struct out *o, struct spe_profile *profile,
                        const struct spe_call_tree *tree, bool latency)
{
    size_t count = spe_call_tree_count(tree);
    uint32_t *path = calloc(count, sizeof(*path));

    if (!path)
        return SPE_ERR_NOMEM;
    for (size_t i = 1; i < count && !o->error; i++) {
        const struct spe_counts *self = &spe_call_tree_at(tree, i)->self;
        uint64_t weight = latency ? self->latency : self->samples;

        if (!weight)
            continue;
        put_path(o, profile, tree, (uint32_t)i, path);
        out_decimal(o, weight);
        out_char(o, '\n');
    }
    free(path);
    return SPE_OK;
}

void export_folded(struct out *o, struct spe_profile *profile, const struct spe_group *groups,
                   size_t count, bool latency)
{
    size_t i;

    for (i = 0; i < count; i++) {
        const struct spe_group *g = &groups[i];
        const struct spe_profile_dso *dso =
            g->dso != SPE_NO_ID ? spe_profile_dso(profile, g->dso) : NULL;
        uint64_t weight = latency ? g->counts.latency : g->counts.samples;
        struct spe_profile_symbol symbol;
        struct spe_profile_line line;

        if (!weight)
            continue;
        put_frame(o, dso ? spe_profile_string(profile, dso->name) : "[no map]");
        out_char(o, ';');
        put_frame(o, spe_profile_symbol(profile, g->symbol, &symbol) == SPE_OK ? symbol.name
                                                                               : "[no symbol]");
        if (g->line != SPE_NO_ID && spe_profile_line(profile, g->line, &line) == SPE_OK) {
            out_char(o, ';');
            put_frame(o, spe_profile_string(profile, line.file));
            out_char(o, ':');
            out_decimal(o, line.line);
        }
        out_char(o, ' ');
        out_decimal(o, weight);
        out_char(o, '\n');
    }
}
