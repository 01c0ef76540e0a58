/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* speedscope's own format: a "sampled" profile for each thread, in the order of time. */
#include <stdlib.h>

#include "render/json.h"
#include "render/viewers.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_frames(struct json *j, const struct viewer *v)
{
    const struct timeline *s = v->timeline;
    char name[VIEWER_NAME];

    json_object(j, "shared");
    json_array(j, "frames");
    for (size_t i = 0; i < s->frames.count && !v->out->error; i++) {
        const struct stack_frame *frame = &s->frames.at[i];
        struct spe_profile_line line;

        json_object(j, NULL);
        json_string(j, "name", viewer_frame_name(v, frame, name));
        if (frame->line != SPE_NO_ID &&
            spe_profile_line(v->profile, frame->line, &line) == SPE_OK) {
            json_string(j, "file", spe_profile_string(v->profile, line.file));
            if (line.line)
                json_number(j, "line", line.line);
        }
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

/* The outermost first; `path` has room for all nodes. */
static void put_stack(struct json *j, const struct timeline *s, uint32_t node, uint32_t *path)
{
    size_t depth = 0;

    for (; node; node = s->nodes.at[node].caller)
        path[depth++] = s->nodes.at[node].frame;
    json_array(j, NULL);
    while (depth)
        json_number(j, NULL, path[--depth]);
    json_array_end(j);
}

static uint64_t weight(const struct viewer *v, const struct stack_entry *e)
{
    return v->latency ? e->latency : e->samples;
}

/* What weighs nothing is not there: latency is not recorded of all samples. */
static void put_thread(struct json *j, const struct viewer *v, size_t from, size_t to,
                       uint32_t *path)
{
    const struct stack_entry *entries = v->timeline->entries.at;
    char name[VIEWER_NAME];
    uint64_t sum = 0;

    json_object(j, NULL);
    json_string(j, "type", "sampled");
    json_string(j, "name",
                from < to ? viewer_thread_name(v, entries[from].thread, name) : "[no samples]");
    json_string(j, "unit", "none");
    json_array(j, "samples");
    for (size_t i = from; i < to && !v->out->error; i++) {
        if (weight(v, &entries[i]))
            put_stack(j, v->timeline, entries[i].node, path);
    }
    json_array_end(j);
    json_array(j, "weights");
    for (size_t i = from; i < to; i++) {
        sum += weight(v, &entries[i]);
        if (weight(v, &entries[i]))
            json_number(j, NULL, weight(v, &entries[i]));
    }
    json_array_end(j);
    json_number(j, "startValue", 0);
    json_number(j, "endValue", sum);
    json_object_end(j);
}

/* A file without a profile is refused. */
int export_speedscope(const struct viewer *v)
{
    size_t count = v->timeline->entries.count;
    uint32_t *path = calloc(v->timeline->nodes.count, sizeof(*path));
    struct json j;

    if (!path)
        return SPE_ERR_NOMEM;
    json_begin(&j, v->out);
    json_object(&j, NULL);
    json_string(&j, "$schema", SCHEMA);
    json_string(&j, "name", v->file);
    json_string(&j, "exporter", "spe export");
    put_frames(&j, v);
    json_array(&j, "profiles");
    if (!count)
        put_thread(&j, v, 0, 0, path);
    for (size_t from = 0, to; from < count; from = to) {
        to = viewer_thread_end(v, from);
        put_thread(&j, v, from, to, path);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_end_line(&j);
    free(path);
    return SPE_OK;
}
