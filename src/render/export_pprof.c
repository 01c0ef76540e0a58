/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * profile.proto of pprof. A frame is a location, and has its number and 1; a function has the
 * number of its frame and 1. Text is made safe: pprof prints names as they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/strings.h"
#include "render/gzip.h"
#include "render/safe.h"
#include "render/viewers.h"

/* Fields of the messages. */
enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_DURATION_NS = 10,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_DEFAULT_TYPE,
};
enum type_field { TYPE_NAME = 1, TYPE_UNIT };
enum sample_field { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum label_field { LABEL_KEY = 1, LABEL_STRING };
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_END,
    MAPPING_OFFSET,
    MAPPING_FILE,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES,
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum line_field { LINE_FUNCTION = 1, LINE_NUMBER };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

struct pprof {
    const struct viewer *v;
    struct gzip *gzip;
    struct strings *strings;
    struct buffer message, inner, head;
    bool *nodes;     /* those that entries need */
    bool *locations; /* frames that are locations */
    bool *functions; /* ... and frames of their functions */
    uint32_t *files; /* by frame of a function: string of the profile, or SPE_NO_ID */
    bool *mapped;    /* maps that are mappings */
    bool failed;     /* no memory */
};

/* ---- messages -------------------------------------------------------------------------------- */

enum { WIRE_VARINT, WIRE_BYTES = 2 };

static void put_number(struct buffer *b, unsigned field, uint64_t value)
{
    if (!value)
        return;
    buffer_varint(b, field << 3 | WIRE_VARINT);
    buffer_varint(b, value);
}

static void put_bytes_field(struct buffer *b, unsigned field, const void *bytes, size_t size)
{
    buffer_varint(b, field << 3 | WIRE_BYTES);
    buffer_varint(b, size);
    buffer_put(b, bytes, size);
}

/* `inner` as a field of the message. */
static void put_inner(struct pprof *p, unsigned field)
{
    put_bytes_field(&p->message, field, p->inner.at, p->inner.size);
    p->inner.size = 0;
}

/* The message as a field of the profile. */
static void end_message(struct pprof *p, unsigned field)
{
    p->head.size = 0;
    buffer_varint(&p->head, field << 3 | WIRE_BYTES);
    buffer_varint(&p->head, p->message.size);
    p->failed |= p->message.failed || p->inner.failed || p->head.failed;
    if (!p->failed) {
        gzip_put(p->gzip, p->head.at, p->head.size);
        gzip_put(p->gzip, p->message.at, p->message.size);
    }
    p->message.size = 0;
}

static void put_profile_number(struct pprof *p, unsigned field, uint64_t value)
{
    p->head.size = 0;
    put_number(&p->head, field, value);
    p->failed |= p->head.failed;
    if (!p->failed)
        gzip_put(p->gzip, p->head.at, p->head.size);
}

static uint32_t string(struct pprof *p, const char *text)
{
    char *safe = text_safe(text);
    uint32_t id = safe ? strings_add(p->strings, safe) : NONE;

    free(safe);
    p->failed |= id == NONE;
    return id == NONE ? 0 : id;
}

static void put_string(struct pprof *p, struct buffer *b, unsigned field, const char *text)
{
    put_number(b, field, string(p, text));
}

static void put_type(struct pprof *p, unsigned field, const char *name, const char *unit)
{
    put_string(p, &p->message, TYPE_NAME, name);
    put_string(p, &p->message, TYPE_UNIT, unit);
    end_message(p, field);
}

/* ---- what is in them ------------------------------------------------------------------------- */

static void put_label(struct pprof *p, const char *key, const char *text)
{
    put_string(p, &p->inner, LABEL_KEY, key);
    put_string(p, &p->inner, LABEL_STRING, text);
    put_inner(p, SAMPLE_LABEL);
}

static void put_sample(struct pprof *p, const struct stack_entry *e)
{
    const struct timeline *s = p->v->timeline;
    struct spe_profile_thread thread = viewer_thread(p->v, e->thread);
    char tid[16];

    for (uint32_t node = e->node; node; node = s->nodes.at[node].caller)
        buffer_varint(&p->inner, (uint64_t)s->nodes.at[node].frame + 1);
    put_inner(p, SAMPLE_LOCATIONS);
    buffer_varint(&p->inner, e->samples);
    buffer_varint(&p->inner, e->latency);
    put_inner(p, SAMPLE_VALUES);
    if (thread.tid != SPE_NO_TASK) {
        snprintf(tid, sizeof(tid), "%" PRIu32, thread.tid);
        put_label(p, "thread", tid);
        put_label(p, "comm", viewer_comm(p->v, e->thread));
    }
    end_message(p, PROFILE_SAMPLE);
}

/* What entries need, and in which files functions are. */
static void find_used(struct pprof *p)
{
    const struct timeline *s = p->v->timeline;

    for (size_t i = 0; i < s->entries.count; i++)
        p->nodes[s->entries.at[i].node] = true;
    for (size_t i = s->nodes.count; i-- > 1;) {
        const struct stack_frame *f = &s->frames.at[s->nodes.at[i].frame];
        struct spe_profile_line line;

        if (!p->nodes[i])
            continue;
        p->nodes[s->nodes.at[i].caller] = true;
        p->locations[s->nodes.at[i].frame] = true;
        p->functions[f->function] = true;
        if (f->map != SPE_NO_ID)
            p->mapped[f->map] = true;
        if (f->line != SPE_NO_ID && p->files[f->function] == SPE_NO_ID &&
            spe_profile_line(p->v->profile, f->line, &line) == SPE_OK)
            p->files[f->function] = line.file;
    }
}

static bool has_symbols(const struct spe_profile_dso *dso)
{
    return dso->state == SPE_DSO_VERIFIED || dso->state == SPE_DSO_UNVERIFIED;
}

static void put_mapping(struct pprof *p, uint32_t id)
{
    const struct spe_profile_map *map = spe_profile_map(p->v->profile, id);
    const struct spe_profile_dso *dso = spe_profile_dso(p->v->profile, map->dso);
    char build_id[2 * SPE_PERF_BUILD_ID_MAX + 1] = "";
    struct buffer *m = &p->message;
    bool lines = p->v->timeline->config.lines;

    for (unsigned i = 0; dso && i < dso->id_size; i++)
        snprintf(build_id + (size_t)2 * i, 3, "%02x", dso->id[i]);
    put_number(m, MAPPING_ID, (uint64_t)id + 1);
    put_number(m, MAPPING_START, map->start);
    put_number(m, MAPPING_END, map->end);
    put_number(m, MAPPING_OFFSET, map->page_offset);
    put_string(p, m, MAPPING_FILE, dso ? spe_profile_string(p->v->profile, dso->path) : "");
    put_string(p, m, MAPPING_BUILD_ID, build_id);
    put_number(m, MAPPING_HAS_FUNCTIONS, dso && has_symbols(dso));
    put_number(m, MAPPING_HAS_FILES, dso && has_symbols(dso) && lines);
    put_number(m, MAPPING_HAS_LINES, dso && has_symbols(dso) && lines);
    end_message(p, PROFILE_MAPPING);
}

/* An instruction without a symbol has no function: pprof then shows its address and file. */
static void put_location(struct pprof *p, uint32_t id)
{
    const struct stack_frame *f = &p->v->timeline->frames.at[id];
    struct spe_profile_line line = {0};
    bool is_instruction = f->function != id;

    put_number(&p->message, LOCATION_ID, (uint64_t)id + 1);
    if (f->map != SPE_NO_ID)
        put_number(&p->message, LOCATION_MAPPING, (uint64_t)f->map + 1);
    put_number(&p->message, LOCATION_ADDRESS, f->pc);
    if (f->symbol != SPE_NO_SYMBOL || !is_instruction) {
        if (f->line != SPE_NO_ID)
            spe_profile_line(p->v->profile, f->line, &line);
        put_number(&p->inner, LINE_FUNCTION, (uint64_t)f->function + 1);
        put_number(&p->inner, LINE_NUMBER, line.line);
        put_inner(p, LOCATION_LINE);
    }
    end_message(p, PROFILE_LOCATION);
}

static void put_function(struct pprof *p, uint32_t id)
{
    const struct stack_frame *f = &p->v->timeline->frames.at[id];
    char name[VIEWER_NAME];
    uint32_t text = string(p, viewer_frame_name(p->v, f, name));

    put_number(&p->message, FUNCTION_ID, (uint64_t)id + 1);
    put_number(&p->message, FUNCTION_NAME, text);
    put_number(&p->message, FUNCTION_SYSTEM_NAME, text);
    if (p->files[id] != SPE_NO_ID)
        put_string(p, &p->message, FUNCTION_FILE, spe_profile_string(p->v->profile, p->files[id]));
    end_message(p, PROFILE_FUNCTION);
}

static void put_tables(struct pprof *p)
{
    const struct timeline *s = p->v->timeline;
    size_t maps = spe_profile_map_count(p->v->profile);

    for (size_t i = 0; i < maps; i++) {
        if (p->mapped[i])
            put_mapping(p, (uint32_t)i);
    }
    for (size_t i = 0; i < s->frames.count; i++) {
        if (p->locations[i])
            put_location(p, (uint32_t)i);
        if (p->functions[i])
            put_function(p, (uint32_t)i);
    }
}

static void put_head(struct pprof *p)
{
    const struct spe_profile_info *info = spe_profile_info(p->v->profile);
    const struct timeline *s = p->v->timeline;

    string(p, ""); /* has to be the first */
    put_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
    put_type(p, PROFILE_SAMPLE_TYPE, "latency", "cycles");
    put_profile_number(p, PROFILE_DEFAULT_TYPE, string(p, p->v->latency ? "latency" : "samples"));
    put_profile_number(p, PROFILE_DURATION_NS, s->most_ns - s->least_ns);
    if (info->period) {
        put_type(p, PROFILE_PERIOD_TYPE, "operations", "count");
        put_profile_number(p, PROFILE_PERIOD, info->period);
    }
    if (info->simulated && info->model_note)
        put_profile_number(p, PROFILE_COMMENT, string(p, info->model_note));
}

static void put_strings(struct pprof *p)
{
    uint32_t count = p->strings->count;

    for (uint32_t i = 0; i < count; i++) {
        const char *text = strings_at(p->strings, i);

        buffer_put(&p->message, text, strlen(text));
        end_message(p, PROFILE_STRING);
    }
}

static bool prepare(struct pprof *p)
{
    size_t frames = p->v->timeline->frames.count, maps = spe_profile_map_count(p->v->profile);

    p->strings = calloc(1, sizeof(*p->strings));
    if (p->strings)
        strings_init(p->strings, hash_seed());
    p->nodes = calloc(p->v->timeline->nodes.count, sizeof(*p->nodes));
    p->locations = calloc(frames, sizeof(*p->locations));
    p->functions = calloc(frames, sizeof(*p->functions));
    p->files = malloc(frames * sizeof(*p->files));
    p->mapped = calloc(maps ? maps : 1, sizeof(*p->mapped));
    p->gzip = gzip_open(p->v->out);
    if (!p->strings || !p->nodes || !p->locations || !p->functions || !p->files || !p->mapped ||
        !p->gzip)
        return false;
    memset(p->files, 0xff, frames * sizeof(*p->files)); /* SPE_NO_ID */
    return true;
}

static void release(struct pprof *p)
{
    if (p->gzip)
        gzip_close(p->gzip);
    if (p->strings)
        strings_free(p->strings);
    free(p->strings);
    free(p->nodes);
    free(p->locations);
    free(p->functions);
    free(p->files);
    free(p->mapped);
    buffer_free(&p->message);
    buffer_free(&p->inner);
    buffer_free(&p->head);
}

int export_pprof(const struct viewer *v)
{
    struct pprof p = {.v = v};

    p.failed = !prepare(&p);
    if (!p.failed) {
        find_used(&p);
        put_head(&p);
        for (size_t i = 0; i < v->timeline->entries.count && !p.failed && !v->out->error; i++)
            put_sample(&p, &v->timeline->entries.at[i]);
        put_tables(&p);
        put_strings(&p);
    }
    release(&p);
    return p.failed ? SPE_ERR_NOMEM : SPE_OK;
}
