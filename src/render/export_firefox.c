/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The processed format of the Firefox Profiler, in a version that it upgrades itself. Each thread
 * has tables of its own: of frames, functions and so on that its samples need.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/json.h"
#include "render/viewers.h"

enum { GECKO_VERSION = 27, PROCESSED_VERSION = 47 };
enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };
enum { RESOURCE_LIBRARY = 1 };

/* Some of many things: numbered anew, in the order in which they come. */
struct some {
    uint32_t *number; /* and 1, by id */
    VECTOR(uint32_t) ids;
};

struct firefox {
    const struct viewer *v;
    struct json json;
    struct some nodes, frames, functions, dsos; /* of a thread */
    struct some libraries;                      /* dsos of all threads */
    uint32_t *files;                            /* by frame of a function: string, or SPE_NO_ID */
    VECTOR(uint32_t) path;
};

/* ---- some of many ---------------------------------------------------------------------------- */

static bool some_init(struct some *s, size_t count)
{
    s->number = calloc(count ? count : 1, sizeof(*s->number));
    return s->number;
}

static void some_free(struct some *s)
{
    free(s->number);
    free(s->ids.at);
}

static void some_clear(struct some *s)
{
    while (s->ids.count)
        s->number[s->ids.at[--s->ids.count]] = 0;
}

static int some_add(struct some *s, uint32_t id)
{
    if (s->number[id])
        return SPE_OK;
    if (VECTOR_ROOM(&s->ids) < 0)
        return SPE_ERR_NOMEM;
    s->ids.at[s->ids.count++] = id;
    s->number[id] = (uint32_t)s->ids.count;
    return SPE_OK;
}

static uint32_t some_number(const struct some *s, uint32_t id)
{
    return s->number[id] - 1;
}

/* ---- which they are -------------------------------------------------------------------------- */

static const struct stack_frame *frame_at(const struct firefox *f, uint32_t id)
{
    return &f->v->timeline->frames.at[id];
}

static int add_frame(struct firefox *f, uint32_t id)
{
    const struct stack_frame *frame = frame_at(f, id);

    if (some_add(&f->frames, id) < 0 || some_add(&f->functions, frame->function) < 0)
        return SPE_ERR_NOMEM;
    return frame->dso != SPE_NO_ID ? some_add(&f->dsos, frame->dso) : SPE_OK;
}

/* Callers come first. */
static int add_stack(struct firefox *f, uint32_t node)
{
    const struct timeline *s = f->v->timeline;

    for (; node && !f->nodes.number[node]; node = s->nodes.at[node].caller) {
        if (VECTOR_ROOM(&f->path) < 0)
            return SPE_ERR_NOMEM;
        f->path.at[f->path.count++] = node;
    }
    while (f->path.count) {
        node = f->path.at[--f->path.count];
        if (some_add(&f->nodes, node) < 0 || add_frame(f, s->nodes.at[node].frame) < 0)
            return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static int find_libraries(struct firefox *f)
{
    const struct timeline *s = f->v->timeline;

    for (size_t i = 0; i < s->frames.count; i++) {
        const struct stack_frame *frame = &s->frames.at[i];
        struct spe_profile_line line;

        if (frame->dso != SPE_NO_ID && some_add(&f->libraries, frame->dso) < 0)
            return SPE_ERR_NOMEM;
        if (frame->line != SPE_NO_ID && f->files[frame->function] == SPE_NO_ID &&
            spe_profile_line(f->v->profile, frame->line, &line) == SPE_OK)
            f->files[frame->function] = line.file;
    }
    return SPE_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

static void put_same(struct json *j, const char *key, size_t count, int64_t value)
{
    json_array(j, key);
    while (count--) {
        if (value < 0)
            json_null(j, NULL);
        else
            json_number(j, NULL, (uint64_t)value);
    }
    json_array_end(j);
}

static void put_false(struct json *j, const char *key, size_t count)
{
    json_array(j, key);
    while (count--)
        json_bool(j, NULL, false);
    json_array_end(j);
}

static void put_empty_table(struct json *j, const char *key, const char *const *columns)
{
    json_object(j, key);
    json_number(j, "length", 0);
    for (; *columns; columns++)
        put_same(j, *columns, 0, 0);
    json_object_end(j);
}

/* ---- tables of a thread ---------------------------------------------------------------------- */

/* What an entry weighs is a number of samples. */
static void put_samples(struct firefox *f, size_t from, size_t to)
{
    const struct timeline *s = f->v->timeline;
    struct json *j = &f->json;

    json_object(j, "samples");
    json_number(j, "length", to - from);
    json_array(j, "stack");
    for (size_t i = from; i < to; i++)
        json_number(j, NULL, some_number(&f->nodes, s->entries.at[i].node));
    json_array_end(j);
    json_array(j, "time");
    for (size_t i = from; i < to; i++)
        json_decimal(j, NULL, timeline_time(s, &s->entries.at[i]) - s->least_ns, 6); /* ms */
    json_array_end(j);
    json_array(j, "weight");
    for (size_t i = from; i < to; i++)
        json_number(j, NULL, s->entries.at[i].samples);
    json_array_end(j);
    json_string(j, "weightType", "samples");
    json_object_end(j);
}

static unsigned category(const struct firefox *f, const struct stack_frame *frame)
{
    const struct spe_profile_dso *dso =
        frame->dso != SPE_NO_ID ? spe_profile_dso(f->v->profile, frame->dso) : NULL;

    if (!dso)
        return CATEGORY_OTHER;
    return dso->kernel ? CATEGORY_KERNEL : CATEGORY_USER;
}

static void put_stacks(struct firefox *f)
{
    const struct timeline *s = f->v->timeline;
    size_t count = f->nodes.ids.count;
    struct json *j = &f->json;

    json_object(j, "stackTable");
    json_number(j, "length", count);
    json_array(j, "prefix");
    for (size_t i = 0; i < count; i++) {
        uint32_t caller = s->nodes.at[f->nodes.ids.at[i]].caller;

        if (caller)
            json_number(j, NULL, some_number(&f->nodes, caller));
        else
            json_null(j, NULL);
    }
    json_array_end(j);
    json_array(j, "frame");
    for (size_t i = 0; i < count; i++)
        json_number(j, NULL, some_number(&f->frames, s->nodes.at[f->nodes.ids.at[i]].frame));
    json_array_end(j);
    json_array(j, "category");
    for (size_t i = 0; i < count; i++)
        json_number(j, NULL, category(f, frame_at(f, s->nodes.at[f->nodes.ids.at[i]].frame)));
    json_array_end(j);
    put_same(j, "subcategory", count, 0);
    json_object_end(j);
}

static void put_no_addresses(struct json *j, size_t count)
{
    json_array(j, "address");
    while (count--) {
        out_string(j->out, j->comma ? ",-1" : "-1");
        j->comma = true;
    }
    json_array_end(j);
}

static void put_lines(struct firefox *f)
{
    struct json *j = &f->json;

    json_array(j, "line");
    for (size_t i = 0; i < f->frames.ids.count; i++) {
        struct spe_profile_line line = {0};
        uint32_t id = frame_at(f, f->frames.ids.at[i])->line;

        if (id != SPE_NO_ID && spe_profile_line(f->v->profile, id, &line) == SPE_OK && line.line)
            json_number(j, NULL, line.line);
        else
            json_null(j, NULL);
    }
    json_array_end(j);
}

static void put_frames(struct firefox *f)
{
    size_t count = f->frames.ids.count;
    struct json *j = &f->json;

    json_object(j, "frameTable");
    json_number(j, "length", count);
    put_no_addresses(j, count);
    put_same(j, "inlineDepth", count, 0);
    json_array(j, "category");
    for (size_t i = 0; i < count; i++)
        json_number(j, NULL, category(f, frame_at(f, f->frames.ids.at[i])));
    json_array_end(j);
    put_same(j, "subcategory", count, 0);
    json_array(j, "func");
    for (size_t i = 0; i < count; i++)
        json_number(j, NULL,
                    some_number(&f->functions, frame_at(f, f->frames.ids.at[i])->function));
    json_array_end(j);
    put_same(j, "nativeSymbol", count, -1);
    put_same(j, "innerWindowID", count, 0);
    put_same(j, "implementation", count, -1);
    put_lines(f);
    put_same(j, "column", count, -1);
    json_object_end(j);
}

/* Strings of a thread: names of functions, of resources, then files of those functions that have
 * one. */
static void put_functions(struct firefox *f)
{
    size_t count = f->functions.ids.count, file = count + f->dsos.ids.count;
    struct json *j = &f->json;

    json_object(j, "funcTable");
    json_number(j, "length", count);
    json_array(j, "name");
    for (size_t i = 0; i < count; i++)
        json_number(j, NULL, i);
    json_array_end(j);
    put_false(j, "isJS", count);
    put_false(j, "relevantForJS", count);
    json_array(j, "resource");
    for (size_t i = 0; i < count; i++) {
        uint32_t dso = frame_at(f, f->functions.ids.at[i])->dso;

        if (dso != SPE_NO_ID) {
            json_number(j, NULL, some_number(&f->dsos, dso));
        } else {
            out_string(j->out, j->comma ? ",-1" : "-1");
            j->comma = true;
        }
    }
    json_array_end(j);
    json_array(j, "fileName");
    for (size_t i = 0; i < count; i++) {
        if (f->files[f->functions.ids.at[i]] != SPE_NO_ID)
            json_number(j, NULL, file++);
        else
            json_null(j, NULL);
    }
    json_array_end(j);
    put_same(j, "lineNumber", count, -1);
    put_same(j, "columnNumber", count, -1);
    json_object_end(j);
}

static void put_resources(struct firefox *f)
{
    size_t count = f->dsos.ids.count;
    struct json *j = &f->json;

    json_object(j, "resourceTable");
    json_number(j, "length", count);
    json_array(j, "lib");
    for (size_t i = 0; i < count; i++)
        json_number(j, NULL, some_number(&f->libraries, f->dsos.ids.at[i]));
    json_array_end(j);
    json_array(j, "name");
    for (size_t i = 0; i < count; i++)
        json_number(j, NULL, f->functions.ids.count + i);
    json_array_end(j);
    put_same(j, "host", count, -1);
    put_same(j, "type", count, RESOURCE_LIBRARY);
    json_object_end(j);
}

static const char *dso_name(const struct firefox *f, uint32_t id)
{
    return spe_profile_string(f->v->profile, spe_profile_dso(f->v->profile, id)->name);
}

static void put_strings(struct firefox *f)
{
    struct json *j = &f->json;
    char name[VIEWER_NAME];

    json_array(j, "stringArray");
    for (size_t i = 0; i < f->functions.ids.count; i++)
        json_string(j, NULL, viewer_frame_name(f->v, frame_at(f, f->functions.ids.at[i]), name));
    for (size_t i = 0; i < f->dsos.ids.count; i++)
        json_string(j, NULL, dso_name(f, f->dsos.ids.at[i]));
    for (size_t i = 0; i < f->functions.ids.count; i++) {
        uint32_t file = f->files[f->functions.ids.at[i]];

        if (file != SPE_NO_ID)
            json_string(j, NULL, spe_profile_string(f->v->profile, file));
    }
    json_array_end(j);
}

/* ---- threads and the rest -------------------------------------------------------------------- */

static void put_thread_head(struct firefox *f, uint32_t id)
{
    struct spe_profile_thread thread = viewer_thread(f->v, id);
    struct json *j = &f->json;
    char pid[16];

    snprintf(pid, sizeof(pid), "%" PRIu32, thread.pid);
    json_string(j, "processType", "default");
    json_number(j, "processStartupTime", 0);
    json_null(j, "processShutdownTime");
    json_number(j, "registerTime", 0);
    json_null(j, "unregisterTime");
    put_same(j, "pausedRanges", 0, 0);
    json_string(j, "name", viewer_comm(f->v, id));
    json_string(j, "processName", viewer_comm(f->v, id));
    json_bool(j, "isMainThread", thread.pid == thread.tid);
    json_string(j, "pid", pid);
    json_number(j, "tid", thread.tid);
}

static int put_thread(struct firefox *f, size_t from, size_t to)
{
    static const char *const markers[] = {"data",  "name",     "startTime", "endTime",
                                          "phase", "category", NULL};
    static const char *const symbols[] = {"address", "functionSize", "libIndex", "name", NULL};
    const struct timeline *s = f->v->timeline;

    some_clear(&f->nodes);
    some_clear(&f->frames);
    some_clear(&f->functions);
    some_clear(&f->dsos);
    for (size_t i = from; i < to; i++) {
        if (add_stack(f, s->entries.at[i].node) < 0)
            return SPE_ERR_NOMEM;
    }
    json_object(&f->json, NULL);
    put_thread_head(f, s->entries.at[from].thread);
    put_samples(f, from, to);
    put_empty_table(&f->json, "markers", markers);
    put_stacks(f);
    put_frames(f);
    put_functions(f);
    put_resources(f);
    put_empty_table(&f->json, "nativeSymbols", symbols);
    put_strings(f);
    json_object_end(&f->json);
    return SPE_OK;
}

static void put_category(struct json *j, const char *name, const char *color)
{
    json_object(j, NULL);
    json_string(j, "name", name);
    json_string(j, "color", color);
    json_array(j, "subcategories");
    json_string(j, NULL, "Other");
    json_array_end(j);
    json_object_end(j);
}

/* How far samples are apart, about: the page draws them as wide. */
static double interval_ms(const struct timeline *s)
{
    double span = s->samples ? (double)(s->most_ns - s->least_ns) / (double)s->samples : 0;
    double bin = s->shift < TIMELINE_NO_TIME ? (double)(UINT64_C(1) << s->shift) : 1;

    return (span > bin ? span : bin) * 1e-6;
}

static void put_meta(struct firefox *f)
{
    struct json *j = &f->json;

    json_object(j, "meta");
    json_number(j, "version", GECKO_VERSION);
    json_number(j, "preprocessedProfileVersion", PROCESSED_VERSION);
    json_string(j, "product", f->v->file);
    json_string(j, "importedFrom", "spe export");
    json_real(j, "interval", interval_ms(f->v->timeline));
    json_number(j, "startTime", 0);
    json_number(j, "processType", 0);
    json_number(j, "stackwalk", 1);
    json_number(j, "debug", 0);
    json_bool(j, "symbolicated", true);
    json_bool(j, "usesOnlyOneStackType", true);
    json_bool(j, "doesNotUseFrameImplementation", true);
    json_bool(j, "sourceCodeIsNotOnSearchfox", true);
    json_object(j, "extensions");
    json_number(j, "length", 0);
    put_same(j, "baseURL", 0, 0);
    put_same(j, "id", 0, 0);
    put_same(j, "name", 0, 0);
    json_object_end(j);
    json_array(j, "categories");
    put_category(j, "Other", "grey");
    put_category(j, "User", "yellow");
    put_category(j, "Kernel", "orange");
    json_array_end(j);
    put_same(j, "markerSchema", 0, 0);
    json_object_end(j);
}

/* A build-id in Breakpad's way: a GUID, whose first three numbers have the other byte order, and an
 * age. */
static void breakpad_id(const struct spe_profile_dso *dso, char text[34])
{
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

    for (size_t i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02X", order[i] < dso->id_size ? dso->id[order[i]] : 0);
    text[32] = '0';
    text[33] = 0;
}

static void put_libraries(struct firefox *f)
{
    struct json *j = &f->json;

    json_array(j, "libs");
    for (size_t i = 0; i < f->libraries.ids.count; i++) {
        uint32_t id = f->libraries.ids.at[i];
        const struct spe_profile_dso *dso = spe_profile_dso(f->v->profile, id);
        const char *path = spe_profile_string(f->v->profile, dso->path);
        char breakpad[34];

        breakpad_id(dso, breakpad);
        json_object(j, NULL);
        json_string(j, "name", dso_name(f, id));
        json_string(j, "path", path);
        json_string(j, "debugName", dso_name(f, id));
        json_string(j, "debugPath", path);
        json_string(j, "breakpadId", breakpad);
        json_null(j, "codeId");
        json_string(j, "arch", "arm64");
        json_object_end(j);
    }
    json_array_end(j);
}

static int put_profile(struct firefox *f)
{
    size_t count = f->v->timeline->entries.count;
    int result = find_libraries(f);

    json_begin(&f->json, f->v->out);
    json_object(&f->json, NULL);
    put_meta(f);
    put_libraries(f);
    put_same(&f->json, "pages", 0, 0);
    put_same(&f->json, "counters", 0, 0);
    put_same(&f->json, "profilerOverhead", 0, 0);
    json_array(&f->json, "threads");
    for (size_t from = 0, to; from < count && result == SPE_OK && !f->v->out->error; from = to) {
        to = viewer_thread_end(f->v, from);
        result = put_thread(f, from, to);
    }
    json_array_end(&f->json);
    json_object_end(&f->json);
    json_end_line(&f->json);
    return result;
}

int export_firefox(const struct viewer *v)
{
    struct firefox f = {.v = v};
    size_t dsos = spe_profile_dso_count(v->profile), frames = v->timeline->frames.count;
    int result = SPE_ERR_NOMEM;

    f.files = malloc(frames * sizeof(*f.files));
    if (f.files && some_init(&f.nodes, v->timeline->nodes.count) && some_init(&f.frames, frames) &&
        some_init(&f.functions, frames) && some_init(&f.dsos, dsos) &&
        some_init(&f.libraries, dsos)) {
        memset(f.files, 0xff, frames * sizeof(*f.files)); /* SPE_NO_ID */
        result = put_profile(&f);
    }
    free(f.files);
    some_free(&f.nodes);
    some_free(&f.frames);
    some_free(&f.functions);
    some_free(&f.dsos);
    some_free(&f.libraries);
    free(f.path.at);
    return result;
}
