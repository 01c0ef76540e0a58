/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * All records of a perf.data but SPE's: read once, put in order of time, and applied to tasks, maps
 * and files. Records that perf made itself have time 0 and so come first. In a recording without
 * time the place in the file takes the part of time, for these records and for SPE buffers.
 *
 * What is kept of them is held against the profile's memory limit: half of it is for reading, since
 * applying what was read takes as much again. What is behind the limit is left out and counted.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "profile_internal.h"

#define MISC_FORK_EXEC (1u << 13) /* FORK made by perf: the child has maps of its own */
#define KSYMBOL_GONE 1u

enum event_type { EVENT_COMM, EVENT_EXEC, EVENT_FORK, EVENT_SPAWN, EVENT_MAP, EVENT_KSYMBOL };

struct event {
    uint64_t time;
    uint32_t order;
    uint8_t type;
    uint32_t pid, tid;
    uint32_t parent_pid, parent_tid; /* FORK; COMM: parent_pid is the name; MAP: index in maps */
};

struct event_map {
    uint64_t start, end, page_offset;
    uint32_t path;
    uint8_t kernel, gone, code, jit, id_size, id[SPE_PERF_BUILD_ID_MAX];
};

struct sideband {
    struct spe_profile *p;
    VECTOR(struct event) events;
    VECTOR(struct event_map) maps;
    VECTOR(struct spe_perf_build_id) ids; /* of BUILD_ID records */
    struct id_table seen;                 /* tid -> pid */
    bool timed;
    bool full;         /* no more is kept */
    uint64_t limit;    /* bytes */
    uint64_t steps;    /* records read or events applied */
    uint64_t left_out; /* of them */
    uint64_t stacks_left_out;
};

#define STEPS_A_LOOK 64 /* at the memory */

/* Arrays that grow have room for up to twice as many elements as they have. */
static uint64_t memory_of(const struct sideband *s)
{
    const struct spe_profile *p = s->p;

    return 2 * s->events.count * sizeof(struct event) +
           2 * s->maps.count * sizeof(struct event_map) +
           2 * s->ids.count * sizeof(struct spe_perf_build_id) + id_table_memory(&s->seen) +
           2 * p->maps.count * sizeof(struct spe_profile_map) +
           p->dsos.list.count * (sizeof(struct dso) + 2 * sizeof(struct dso *)) +
           strings_memory(&p->strings) + tasks_memory(&p->tasks);
}

/* Is there room for one more? If not, it is counted. */
static bool has_room(struct sideband *s)
{
    if (!s->full && !(s->steps++ % STEPS_A_LOOK))
        s->full = memory_of(s) > s->limit;
    s->left_out += s->full;
    return !s->full;
}

static uint64_t time_of(const struct sideband *s, const struct spe_perf_record *r)
{
    if (!s->timed)
        return r->offset;
    return r->id.has & SPE_PERF_SAMPLE_TIME ? r->id.time : 0;
}

/* Names that are given twice at the same time are so once. */
static bool is_known_comm(const struct sideband *s, const struct event *e)
{
    const struct event *last = s->events.count ? &s->events.at[s->events.count - 1] : NULL;

    return last && (e->type == EVENT_COMM || e->type == EVENT_EXEC) && last->type == e->type &&
           last->time == e->time && last->pid == e->pid && last->tid == e->tid &&
           last->parent_pid == e->parent_pid;
}

static int add_event(struct sideband *s, struct event event)
{
    if (is_known_comm(s, &event))
        return SPE_OK;
    if (s->events.count >= UINT32_MAX || VECTOR_ROOM(&s->events) < 0)
        return SPE_ERR_NOMEM;
    event.order = (uint32_t)s->events.count;
    s->events.at[s->events.count++] = event;
    return SPE_OK;
}

static int see(struct sideband *s, uint32_t pid, uint32_t tid)
{
    if (tid == SPE_NO_TASK || pid == SPE_NO_TASK)
        return SPE_OK;
    return id_table_set(&s->seen, tid, pid);
}

static int add_map(struct sideband *s, const struct spe_perf_record *r, enum event_type type,
                   struct event_map map, uint32_t pid, const char *path)
{
    map.path = strings_add(&s->p->strings, path);
    if (map.path == NONE || VECTOR_ROOM(&s->maps) < 0)
        return SPE_ERR_NOMEM;
    s->maps.at[s->maps.count] = map;
    return add_event(s, (struct event){.time = time_of(s, r),
                                       .type = (uint8_t)type,
                                       .pid = pid,
                                       .parent_pid = (uint32_t)s->maps.count++});
}

/* MMAP records say that memory is for data, and not more. */
static bool is_code(const struct spe_perf_record *r)
{
    return r->type == SPE_PERF_MMAP ? !(r->misc & SPE_PERF_MISC_MMAP_DATA)
                                    : r->mmap.protection & PROT_EXEC;
}

static int take_mmap(struct sideband *s, const struct spe_perf_record *r)
{
    const struct spe_perf_mmap *m = &r->mmap;
    unsigned mode = r->misc & SPE_PERF_MISC_CPUMODE;
    struct event_map map = {.start = m->start, .page_offset = m->page_offset};

    if (!m->length || mode > 3) /* of a guest: its addresses are none of ours */
        return SPE_OK;
    map.kernel = m->pid == SPE_NO_TASK || mode == SPE_PERF_MISC_KERNEL;
    map.end = m->length > UINT64_MAX - m->start ? UINT64_MAX : m->start + m->length;
    if (!strcmp(m->path, VDSO_NAME)) /* it is mapped from its start, whatever the record says */
        map.page_offset = 0;
    map.code = map.kernel || is_code(r);
    map.jit = !map.kernel && map.code && is_jit_memory(m->path);
    map.id_size = m->id_size;
    memcpy(map.id, m->id, m->id_size);
    if (!map.kernel && see(s, m->pid, m->tid) < 0)
        return SPE_ERR_NOMEM;
    return add_map(s, r, EVENT_MAP, map, map.kernel ? SPE_NO_TASK : m->pid, m->path);
}

static int take_ksymbol(struct sideband *s, const struct spe_perf_record *r)
{
    const struct spe_perf_ksymbol *k = &r->ksymbol;
    struct event_map map = {.start = k->address, .kernel = 1, .gone = k->flags & KSYMBOL_GONE};

    if (!k->length || k->length > UINT64_MAX - k->address)
        return SPE_OK;
    map.end = k->address + k->length;
    return add_map(s, r, EVENT_KSYMBOL, map, SPE_NO_TASK, k->name);
}

static int take_comm(struct sideband *s, const struct spe_perf_record *r)
{
    uint32_t name = strings_add(&s->p->strings, r->comm.name);
    bool exec = r->misc & SPE_PERF_MISC_COMM_EXEC;

    if (name == NONE || (exec && stacks_exec(&s->p->stacks, r->comm.pid) < 0))
        return SPE_ERR_NOMEM;
    return add_event(s, (struct event){.time = time_of(s, r),
                                       .type = exec ? EVENT_EXEC : EVENT_COMM,
                                       .pid = r->comm.pid,
                                       .tid = r->comm.tid,
                                       .parent_pid = name});
}

static int take_fork(struct sideband *s, const struct spe_perf_record *r)
{
    return add_event(s, (struct event){.time = time_of(s, r),
                                       .type = r->misc & MISC_FORK_EXEC ? EVENT_SPAWN : EVENT_FORK,
                                       .pid = r->task.pid,
                                       .tid = r->task.tid,
                                       .parent_pid = r->task.parent_pid,
                                       .parent_tid = r->task.parent_tid});
}

/* A SWITCH record says who goes or comes; one of the whole CPU says both. */
static int take_switch(struct sideband *s, const struct spe_perf_record *r)
{
    const uint64_t needed = SPE_PERF_SAMPLE_TID | SPE_PERF_SAMPLE_TIME | SPE_PERF_SAMPLE_CPU;
    bool wide = r->type == SPE_PERF_SWITCH_CPU_WIDE;
    bool out = r->misc & SPE_PERF_MISC_SWITCH_OUT;
    uint32_t other = wide ? r->switched.other_tid : SPE_NO_TASK;

    if ((r->id.has & needed) != needed)
        return SPE_OK;
    if (see(s, r->id.pid, r->id.tid) < 0 ||
        (wide && see(s, r->switched.other_pid, r->switched.other_tid) < 0))
        return SPE_ERR_NOMEM;
    return tasks_turn(&s->p->tasks, r->id.cpu, r->id.time, out ? other : r->id.tid,
                      out ? r->id.tid : other);
}

static int take_start(struct sideband *s, const struct spe_perf_record *r)
{
    const uint64_t needed = SPE_PERF_SAMPLE_TIME | SPE_PERF_SAMPLE_CPU;

    if (see(s, r->thread.pid, r->thread.tid) < 0)
        return SPE_ERR_NOMEM;
    /* Whole-system events start with pid -1; and without SWITCH records it is not a turn. */
    if ((r->id.has & needed) != needed || r->thread.tid == SPE_NO_TASK ||
        !tasks_turns(&s->p->tasks, r->id.cpu))
        return SPE_OK;
    return tasks_turn(&s->p->tasks, r->id.cpu, r->id.time, r->thread.tid, SPE_NO_TASK);
}

static int take_build_id(struct sideband *s, const struct spe_perf_record *r)
{
    struct spe_perf_build_id id = r->build_id;
    uint32_t path = strings_add(&s->p->strings, id.path);

    if (path == NONE || VECTOR_ROOM(&s->ids) < 0)
        return SPE_ERR_NOMEM;
    id.path = strings_at(&s->p->strings, path);
    s->ids.at[s->ids.count++] = id;
    return SPE_OK;
}

/* Is it of the event with the stacks of SPE records, as far as its name is known by now? If not,
 * it is taken for one: only thread, time and pc of a record find it. */
static bool is_own(const struct sideband *s, const struct spe_perf_record *r)
{
    const struct spe_perf_event *event =
        r->event >= 0 ? spe_perf_reader_event(s->p->reader, (size_t)r->event) : NULL;

    return !event || !event->name || strcmp(event->name, SPE_PERF_CALLS_NAME) == 0;
}

/* Names and maps are worth more than stacks, which have a part of the memory of their own. */
static int take_sample(struct sideband *s, const struct spe_perf_record *r)
{
    const uint64_t needed = SPE_PERF_SAMPLE_TID | SPE_PERF_SAMPLE_TIME;

    if (!r->sample.callchain || (r->id.has & needed) != needed)
        return SPE_OK;
    s->p->info.stacks++;
    if (!(s->p->want & SPE_WANT_STACK))
        return SPE_OK;
    if (stacks_memory(&s->p->stacks) <= s->limit / 2)
        return is_own(s, r) ? stacks_take(&s->p->stacks, r) : stacks_take_other(&s->p->stacks, r);
    s->stacks_left_out++;
    return SPE_OK;
}

static void take_time(struct spe_profile *p, const struct spe_perf_record *r)
{
    if (!(r->id.has & SPE_PERF_SAMPLE_TIME) || !r->id.time)
        return;
    if (!p->info.first_event_ns || r->id.time < p->info.first_event_ns)
        p->info.first_event_ns = r->id.time;
    if (r->id.time > p->info.last_event_ns)
        p->info.last_event_ns = r->id.time;
}

static bool is_kept(uint32_t type)
{
    return type == SPE_PERF_MMAP || type == SPE_PERF_MMAP2 || type == SPE_PERF_KSYMBOL ||
           type == SPE_PERF_COMM || type == SPE_PERF_FORK || type == SPE_PERF_SWITCH ||
           type == SPE_PERF_SWITCH_CPU_WIDE || type == SPE_PERF_ITRACE_START ||
           type == SPE_PERF_BUILD_ID;
}

static int take_record(struct sideband *s, const struct spe_perf_record *r)
{
    take_time(s->p, r);
    if (r->viewed && r->type == SPE_PERF_SAMPLE)
        return take_sample(s, r);
    if (!r->viewed || !is_kept(r->type) || !has_room(s))
        return SPE_OK;
    switch (r->type) {
    case SPE_PERF_MMAP:
    case SPE_PERF_MMAP2:
        return take_mmap(s, r);
    case SPE_PERF_KSYMBOL:
        return take_ksymbol(s, r);
    case SPE_PERF_COMM:
        return take_comm(s, r);
    case SPE_PERF_FORK:
        return take_fork(s, r);
    case SPE_PERF_SWITCH:
    case SPE_PERF_SWITCH_CPU_WIDE:
        return take_switch(s, r);
    case SPE_PERF_ITRACE_START:
        return take_start(s, r);
    case SPE_PERF_BUILD_ID:
        return take_build_id(s, r);
    default:
        return SPE_OK;
    }
}

/* ---- Applying ------------------------------------------------------------------------------- */

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int apply_map(struct sideband *s, const struct event *e)
{
    struct spe_profile *p = s->p;
    const struct event_map *m = &s->maps.at[e->parent_pid];
    const char *path = strings_at(&p->strings, m->path);
    uint32_t map = NONE, dso;

    if (!m->gone) {
        dso = e->type == EVENT_KSYMBOL
                  ? dsos_add_ksymbol(&p->dsos, path, m->start, m->end - m->start)
              : m->jit ? dsos_add_jit(&p->dsos, e->pid)
                       : dsos_add(&p->dsos, path, m->kernel, m->page_offset, m->id, m->id_size);
        if (dso == NONE || p->maps.count >= UINT32_MAX || VECTOR_ROOM(&p->maps) < 0)
            return SPE_ERR_NOMEM;
        p->dsos.list.at[dso]->code |= m->code;
        map = (uint32_t)p->maps.count++;
        p->maps.at[map] = (struct spe_profile_map){m->start, m->end, m->page_offset, dso, e->pid};
    }
    return tasks_map(&p->tasks, e->time, e->pid, m->start, m->end, map);
}

static int apply(struct sideband *s, const struct event *e)
{
    struct tasks *tasks = &s->p->tasks;
    struct spe_perf_task task = {e->pid, e->parent_pid, e->tid, e->parent_tid, e->time};

    switch (e->type) {
    case EVENT_COMM:
    case EVENT_EXEC:
        return tasks_comm(tasks, e->time, e->pid, e->tid, e->parent_pid, e->type == EVENT_EXEC);
    case EVENT_FORK:
    case EVENT_SPAWN:
        return tasks_fork(tasks, e->time, &task, e->type == EVENT_FORK);
    default:
        return apply_map(s, e);
    }
}

/* Build-ids of the features, and then those of records. */
static int collect_ids(struct sideband *s)
{
    const struct spe_perf_features *f = spe_perf_reader_features(s->p->reader);
    struct dsos *d = &s->p->dsos;
    size_t count = f->build_id_count + s->ids.count;

    d->ids = calloc(count ? count : 1, sizeof(*d->ids));
    if (!d->ids)
        return SPE_ERR_NOMEM;
    if (f->build_id_count)
        memcpy(d->ids, f->build_ids, f->build_id_count * sizeof(*d->ids));
    if (s->ids.count)
        memcpy(d->ids + f->build_id_count, s->ids.at, s->ids.count * sizeof(*d->ids));
    d->id_count = count;
    d->release = f->osrelease;
    return SPE_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const struct id_entry *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

/* Threads that records only mention, by tid. The table is not asked any more. */
static int apply_seen(struct sideband *s)
{
    int result = SPE_OK;

    if (s->seen.entries.count)
        qsort(s->seen.entries.at, s->seen.entries.count, sizeof(*s->seen.entries.at), compare_keys);
    for (size_t i = 0; i < s->seen.entries.count && result >= 0; i++) {
        const struct id_entry *seen = &s->seen.entries.at[i];

        if (has_room(s))
            result = tasks_seen(&s->p->tasks, seen->value, seen->key, SPE_NO_ID);
    }
    return result;
}

static int apply_all(struct sideband *s)
{
    uint32_t idle = strings_add(&s->p->strings, "swapper");
    int result = collect_ids(s);

    s->limit = s->p->memory_limit;
    s->full = false;
    if (s->events.count)
        qsort(s->events.at, s->events.count, sizeof(struct event), compare_events);
    for (size_t i = 0; i < s->events.count && result >= 0; i++)
        result = has_room(s) ? apply(s, &s->events.at[i]) : SPE_OK;
    if (result >= 0)
        result = tasks_seen(&s->p->tasks, 0, 0, idle);
    if (result >= 0)
        result = apply_seen(s);
    tasks_finish(&s->p->tasks);
    return result;
}

static bool has_time(const struct spe_perf_reader *reader)
{
    for (size_t i = 0; i < spe_perf_reader_event_count(reader); i++) {
        if (spe_perf_reader_event(reader, i)->sample_type & SPE_PERF_SAMPLE_TIME)
            return true;
    }
    return false;
}

/* Whether records have time is known from the first of them on: events come before. In a pipe they
 * are records, too. */
static int read_all(struct sideband *s)
{
    struct spe_perf_reader *reader = s->p->reader;
    struct spe_perf_record record;
    int result, kept = SPE_OK;

    while ((result = spe_perf_reader_next(reader, &record)) > 0) {
        if (!s->timed)
            s->timed = has_time(reader);
        kept = take_record(s, &record);
        if (kept < 0)
            return kept;
    }
    return result;
}

/* Stacks of another event, if there are any, are said to be of it. */
static int tell_other_stacks(struct spe_profile *p)
{
    const struct stacks *s = &p->stacks;
    const struct spe_perf_event *event;
    uint32_t name;

    if (!s->others.count)
        return SPE_OK;
    event = spe_perf_reader_event(p->reader, s->others.at[0].event);
    name = strings_add(&p->strings, event->name);
    if (name == NONE)
        return SPE_ERR_NOMEM;
    p->info.other_event = strings_at(&p->strings, name);
    p->info.other_stacks = s->others.count;
    return SPE_OK;
}

int sideband_read(struct spe_profile *p)
{
    struct sideband s = {
        .p = p,
        .timed = has_time(p->reader),
        .limit = p->memory_limit / 2,
        .seen.seed = p->strings.seed,
    };
    const struct spe_perf_time_conv *conv;
    int result;

    p->stacks.seed = p->stacks.programs.seed = p->strings.seed;
    result = read_all(&s);
    stacks_finish(&p->stacks);
    if (result >= 0)
        result = tell_other_stacks(p);
    conv = spe_perf_reader_time_conv(p->reader);
    if (conv && spe_perf_time_validate(conv) == SPE_OK)
        p->time_conv = *conv;
    else if (s.timed)
        profile_warn(p, "timestamps cannot be converted to time: the recording has no TIME_CONV");
    p->sideband_timed = s.timed;
    p->info.timed = s.timed && p->time_conv.mult;
    if (result >= 0)
        result = apply_all(&s);
    if (s.left_out)
        profile_warn(p,
                     "%llu records of tasks and maps are left out: they take more memory than the "
                     "limit of %llu MB (--max-memory)",
                     (unsigned long long)s.left_out, (unsigned long long)(p->memory_limit >> 20));
    if (s.stacks_left_out)
        profile_warn(p,
                     "%llu call stacks are left out: they take more than a quarter of the limit of "
                     "%llu MB (--max-memory)",
                     (unsigned long long)s.stacks_left_out,
                     (unsigned long long)(p->memory_limit >> 20));
    free(s.events.at);
    free(s.maps.at);
    free(s.ids.at);
    id_table_free(&s.seen);
    return result;
}
