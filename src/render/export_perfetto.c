/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Chrome's trace events, as Perfetto reads them: for each thread counters over time, and a slice
 * for as long as one function has the most samples.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/json.h"
#include "render/viewers.h"

/* One bin of one thread. */
struct bin {
    uint64_t number;
    uint64_t samples, latency;
    uint64_t loads[SPE_SERVED_COUNT];
    uint32_t function; /* frame that has most samples */
    uint64_t most;     /* ... so many */
};

struct slice {
    uint64_t from, to; /* bins */
    uint32_t function; /* SPE_NO_ID: none */
    uint64_t samples;
};

struct trace {
    const struct viewer *v;
    struct json json;
    struct spe_profile_thread thread;
    char name[VIEWER_NAME]; /* the thread's */
    bool served[SPE_SERVED_COUNT];
    struct slice slice;
};

/* Microseconds, with nanoseconds behind the point. */
static void put_time(struct trace *t, const char *key, uint64_t ns)
{
    json_decimal(&t->json, key, ns, 3);
}

static void begin_event(struct trace *t, const char *phase, const char *name)
{
    json_object(&t->json, NULL);
    json_string(&t->json, "ph", phase);
    json_string(&t->json, "name", name);
    json_number(&t->json, "pid", t->thread.pid);
    json_number(&t->json, "tid", t->thread.tid);
}

static void put_name(struct trace *t, const char *what, const char *name)
{
    begin_event(t, "M", what);
    json_object(&t->json, "args");
    json_string(&t->json, "name", name);
    json_object_end(&t->json);
    json_object_end(&t->json);
}

static uint64_t time_of(const struct trace *t, uint64_t bin)
{
    return bin << t->v->timeline->shift;
}

/* Counters belong to processes: which thread it is of is in the name. */
static void begin_counter(struct trace *t, const char *what, uint64_t bin)
{
    char name[VIEWER_NAME + 32];

    snprintf(name, sizeof(name), "%s %s", t->name, what);
    begin_event(t, "C", name);
    put_time(t, "ts", time_of(t, bin));
    json_object(&t->json, "args");
}

static void end_event(struct trace *t)
{
    json_object_end(&t->json);
    json_object_end(&t->json);
}

static void put_counters(struct trace *t, const struct bin *b)
{
    begin_counter(t, "samples", b->number);
    json_number(&t->json, "samples", b->samples);
    end_event(t);
    begin_counter(t, "latency, cycles per sample", b->number);
    json_real(&t->json, "cycles", b->samples ? (double)b->latency / (double)b->samples : 0);
    end_event(t);
    for (unsigned i = 0; i < SPE_SERVED_COUNT; i++) {
        char name[64];

        if (!t->served[i])
            continue;
        snprintf(name, sizeof(name), "loads: %s", spe_served_name(i));
        begin_counter(t, name, b->number);
        json_number(&t->json, "loads", b->loads[i]);
        end_event(t);
    }
}

static void end_slice(struct trace *t)
{
    const struct slice *s = &t->slice;
    char name[VIEWER_NAME];

    if (s->function == SPE_NO_ID)
        return;
    begin_event(t, "X", viewer_frame_name(t->v, &t->v->timeline->frames.at[s->function], name));
    json_string(&t->json, "cat", "most samples");
    put_time(t, "ts", time_of(t, s->from));
    put_time(t, "dur", time_of(t, s->to - s->from));
    json_object(&t->json, "args");
    json_number(&t->json, "samples of it", s->samples);
    end_event(t);
}

static void put_bin(struct trace *t, const struct bin *b)
{
    struct slice *s = &t->slice;

    put_counters(t, b);
    if (s->function == b->function && s->to == b->number) {
        s->to++;
        s->samples += b->most;
        return;
    }
    end_slice(t);
    *s = (struct slice){b->number, b->number + 1, b->function, b->most};
}

/* The function of a node: below it may be where its loads were served. */
static uint32_t function_of(const struct timeline *s, uint32_t node)
{
    if (s->frames.at[s->nodes.at[node].frame].kind == FRAME_SERVED)
        node = s->nodes.at[node].caller;
    return s->nodes.at[node].frame;
}

/* Entries of a function follow each other: its node is less than those of its loads, but others may
 * stand between, so that samples are summed up by frame. */
static void count_entry(struct trace *t, struct bin *b, const struct stack_entry *e,
                        uint64_t *by_frame)
{
    const struct timeline *s = t->v->timeline;
    const struct stack_frame *frame = &s->frames.at[s->nodes.at[e->node].frame];
    uint32_t function = function_of(s, e->node);

    b->samples += e->samples;
    b->latency += e->latency;
    if (frame->kind == FRAME_SERVED)
        b->loads[frame->symbol] += e->samples;
    by_frame[function] += e->samples;
    if (by_frame[function] > b->most) {
        b->most = by_frame[function];
        b->function = function;
    }
}

static void find_served(struct trace *t, size_t from, size_t to)
{
    const struct timeline *s = t->v->timeline;

    memset(t->served, 0, sizeof(t->served));
    for (size_t i = from; i < to; i++) {
        const struct stack_frame *f = &s->frames.at[s->nodes.at[s->entries.at[i].node].frame];

        if (f->kind == FRAME_SERVED)
            t->served[f->symbol] = true;
    }
}

static void put_thread(struct trace *t, size_t from, size_t to, uint64_t *by_frame)
{
    const struct timeline *s = t->v->timeline;
    uint32_t thread = s->entries.at[from].thread;
    const char *name;

    t->thread = viewer_thread(t->v, thread);
    name = viewer_thread_name(t->v, thread, t->name);
    if (name != t->name)
        snprintf(t->name, sizeof(t->name), "%s", name);
    t->slice = (struct slice){.function = SPE_NO_ID};
    put_name(t, "thread_name", viewer_comm(t->v, thread));
    if (t->thread.pid == t->thread.tid)
        put_name(t, "process_name", viewer_comm(t->v, thread));
    find_served(t, from, to);
    for (size_t i = from, next; i < to && !t->v->out->error; i = next) {
        struct bin bin = {.number = s->entries.at[i].bin};

        for (next = i; next < to && s->entries.at[next].bin == bin.number; next++)
            count_entry(t, &bin, &s->entries.at[next], by_frame);
        for (; i < next; i++)
            by_frame[function_of(s, s->entries.at[i].node)] = 0;
        put_bin(t, &bin);
        if (next == to || s->entries.at[next].bin != bin.number + 1)
            put_counters(t, &(struct bin){.number = bin.number + 1}); /* nothing was seen */
    }
    end_slice(t);
}

int export_perfetto(const struct viewer *v)
{
    struct trace t = {.v = v};
    uint64_t *by_frame = calloc(v->timeline->frames.count, sizeof(*by_frame));

    if (!by_frame)
        return SPE_ERR_NOMEM;
    json_begin(&t.json, v->out);
    json_object(&t.json, NULL);
    json_string(&t.json, "displayTimeUnit", "ns");
    json_object(&t.json, "otherData");
    json_string(&t.json, "recording", v->file);
    json_number(&t.json, "bin_ns", UINT64_C(1) << v->timeline->shift);
    json_object_end(&t.json);
    json_array(&t.json, "traceEvents");
    for (size_t from = 0, to; from < v->timeline->entries.count; from = to) {
        to = viewer_thread_end(v, from);
        put_thread(&t, from, to, by_frame);
    }
    json_array_end(&t.json);
    json_object_end(&t.json);
    json_end_line(&t.json);
    free(by_frame);
    return SPE_OK;
}
