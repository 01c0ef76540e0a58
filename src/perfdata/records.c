/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Record bytes -> views. The kernel appends a sample_id to each of its records if the event asked
 * for it (sample_id_all), so the body ends where that begins, and what it holds depends on the
 * event, which in turn is found by an ID in it.
 */
#include "base/count_of.h"
#include "perfdata_internal.h"

#define ID_FIELDS                                                                                  \
    (SPE_PERF_SAMPLE_TID | SPE_PERF_SAMPLE_TIME | SPE_PERF_SAMPLE_ID | SPE_PERF_SAMPLE_STREAM_ID | \
     SPE_PERF_SAMPLE_CPU | SPE_PERF_SAMPLE_IDENTIFIER)

/* ---- sample_id ------------------------------------------------------------------------------ */

static size_t fields(uint64_t sample_type, uint64_t which)
{
    return (size_t)__builtin_popcountll(sample_type & which);
}

/* The ID at a place that the first event tells: all events of a file have it at the same one. */
static bool find_id(const struct spe_perf_record *rec, uint64_t type, bool sample, uint64_t *id)
{
    size_t behind, before;

    if (!(type & (SPE_PERF_SAMPLE_IDENTIFIER | SPE_PERF_SAMPLE_ID)))
        return false;
    if (type & SPE_PERF_SAMPLE_IDENTIFIER) {
        before = 0;
        behind = 1;
    } else {
        before = fields(type, SPE_PERF_SAMPLE_IP | SPE_PERF_SAMPLE_TID | SPE_PERF_SAMPLE_TIME |
                                  SPE_PERF_SAMPLE_ADDR);
        behind = 1 + fields(type, SPE_PERF_SAMPLE_STREAM_ID | SPE_PERF_SAMPLE_CPU);
    }
    if (sample) {
        if (rec->size < 16 + 8 * before)
            return false;
        *id = load64(rec->bytes + 8 + 8 * before);
        return true;
    }
    if (rec->size < 8 + 8 * behind)
        return false;
    *id = load64(rec->bytes + rec->size - 8 * behind);
    return true;
}

/* The event whose sample_type lays the record out; NULL if there are no events. */
static const struct spe_perf_event *layout_event(struct spe_perf_reader *r,
                                                 struct spe_perf_record *rec)
{
    const struct spe_perf_event *first = spe_perf_reader_event(r, 0);
    uint64_t id;

    rec->event = r->event_count == 1 ? 0 : -1;
    if (!first)
        return NULL;
    if (r->event_count > 1 && find_id(rec, first->sample_type, rec->type == SPE_PERF_SAMPLE, &id)) {
        int found = spe_perf_reader_event_by_id(r, id);

        /* perf's own records have ID 0. */
        rec->event = found < 0 ? -1 : found;
    }
    return rec->event < 0 ? first : spe_perf_reader_event(r, (size_t)rec->event);
}

/* Take the sample_id off the end; returns where the body ends. */
static size_t take_sample_id(struct spe_perf_record *rec, const struct spe_perf_event *event)
{
    uint64_t type = event->sample_type;
    size_t size = 8 * fields(type, ID_FIELDS);
    const uint8_t *p = rec->bytes + rec->size - size;
    struct spe_perf_sample_id *id = &rec->id;

    if (!(event->flags & SPE_PERF_FLAG_SAMPLE_ID_ALL) || rec->size < 8 + size)
        return rec->size;
    id->has = type & ID_FIELDS & ~(uint64_t)SPE_PERF_SAMPLE_IDENTIFIER;
    if (type & SPE_PERF_SAMPLE_TID) {
        id->pid = load32(p);
        id->tid = load32(p + 4);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_TIME) {
        id->time = load64(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_ID) {
        id->id = load64(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_STREAM_ID) {
        id->stream_id = load64(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_CPU) {
        id->cpu = load32(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_IDENTIFIER) {
        id->id = load64(p);
        id->has |= SPE_PERF_SAMPLE_ID;
    }
    return rec->size - size;
}

/* ---- Views ---------------------------------------------------------------------------------- */

/* The text from `at` to the end of the body, NULL if it has no end. */
static const char *text(const struct spe_perf_record *rec, size_t at, size_t end)
{
    if (at >= end || !memchr(rec->bytes + at, 0, end - at))
        return NULL;
    return (const char *)rec->bytes + at;
}

static bool view_mmap(struct spe_perf_record *rec, size_t end)
{
    const uint8_t *p = rec->bytes;
    struct spe_perf_mmap *m = &rec->mmap;

    if (end < 40)
        return false;
    m->pid = load32(p + 8);
    m->tid = load32(p + 12);
    m->start = load64(p + 16);
    m->length = load64(p + 24);
    m->page_offset = load64(p + 32);
    if (rec->type == SPE_PERF_MMAP) {
        m->path = text(rec, 40, end);
        return m->path;
    }
    if (end < 72)
        return false;
    if (rec->misc & SPE_PERF_MISC_MMAP_BUILD_ID) {
        m->id_size = p[40];
        if (m->id_size > SPE_PERF_BUILD_ID_MAX)
            return false;
        memcpy(m->id, p + 44, SPE_PERF_BUILD_ID_MAX);
    } else {
        m->major = load32(p + 40);
        m->minor = load32(p + 44);
        m->inode = load64(p + 48);
        m->inode_generation = load64(p + 56);
    }
    m->protection = load32(p + 64);
    m->flags = load32(p + 68);
    m->path = text(rec, 72, end);
    return m->path;
}

static bool view_comm(struct spe_perf_record *rec, size_t end)
{
    if (end < 16)
        return false;
    rec->comm.pid = load32(rec->bytes + 8);
    rec->comm.tid = load32(rec->bytes + 12);
    rec->comm.name = text(rec, 16, end);
    return rec->comm.name;
}

static bool view_task(struct spe_perf_record *rec, size_t end)
{
    const uint8_t *p = rec->bytes;

    if (end < 32)
        return false;
    rec->task.pid = load32(p + 8);
    rec->task.parent_pid = load32(p + 12);
    rec->task.tid = load32(p + 16);
    rec->task.parent_tid = load32(p + 20);
    rec->task.time = load64(p + 24);
    return true;
}

static bool view_switch(struct spe_perf_record *rec, size_t end)
{
    if (rec->type == SPE_PERF_SWITCH)
        return true;
    if (end < 16)
        return false;
    rec->switched.other_pid = load32(rec->bytes + 8);
    rec->switched.other_tid = load32(rec->bytes + 12);
    return true;
}

static bool view_thread(struct spe_perf_record *rec, size_t end)
{
    if (end < 16)
        return false;
    rec->thread.pid = load32(rec->bytes + 8);
    rec->thread.tid = load32(rec->bytes + 12);
    return true;
}

static bool view_aux(struct spe_perf_record *rec, size_t end)
{
    if (end < 32)
        return false;
    rec->aux.offset = load64(rec->bytes + 8);
    rec->aux.size = load64(rec->bytes + 16);
    rec->aux.flags = load64(rec->bytes + 24);
    return true;
}

static bool view_lost(struct spe_perf_record *rec, size_t end)
{
    bool samples = rec->type == SPE_PERF_LOST_SAMPLES;

    if (end < (samples ? 16 : 24))
        return false;
    if (!samples)
        rec->lost.id = load64(rec->bytes + 8);
    rec->lost.count = load64(rec->bytes + (samples ? 8 : 16));
    return true;
}

static bool view_throttle(struct spe_perf_record *rec, size_t end)
{
    if (end < 32)
        return false;
    rec->throttle.time = load64(rec->bytes + 8);
    rec->throttle.id = load64(rec->bytes + 16);
    rec->throttle.stream_id = load64(rec->bytes + 24);
    return true;
}

static bool view_namespaces(struct spe_perf_record *rec, size_t end)
{
    if (end < 24)
        return false;
    rec->namespaces.pid = load32(rec->bytes + 8);
    rec->namespaces.tid = load32(rec->bytes + 12);
    rec->namespaces.count = load64(rec->bytes + 16);
    rec->namespaces.links = rec->bytes + 24;
    return rec->namespaces.count <= (end - 24) / 16;
}

static bool view_ksymbol(struct spe_perf_record *rec, size_t end)
{
    if (end < 24)
        return false;
    rec->ksymbol.address = load64(rec->bytes + 8);
    rec->ksymbol.length = load32(rec->bytes + 16);
    rec->ksymbol.type = load16(rec->bytes + 20);
    rec->ksymbol.flags = load16(rec->bytes + 22);
    rec->ksymbol.name = text(rec, 24, end);
    return rec->ksymbol.name;
}

static bool view_bpf(struct spe_perf_record *rec, size_t end)
{
    if (end < 24)
        return false;
    rec->bpf.type = load16(rec->bytes + 8);
    rec->bpf.flags = load16(rec->bytes + 10);
    rec->bpf.id = load32(rec->bytes + 12);
    memcpy(rec->bpf.tag, rec->bytes + 16, 8);
    return true;
}

static bool view_auxtrace(struct spe_perf_record *rec, size_t end)
{
    const uint8_t *p = rec->bytes;
    struct spe_perf_auxtrace *a = &rec->auxtrace;

    if (end < PD_AUXTRACE_SIZE)
        return false;
    a->size = load64(p + 8);
    a->offset = load64(p + 16);
    a->reference = load64(p + 24);
    a->idx = load32(p + 32);
    a->tid = load32(p + 36);
    a->cpu = load32(p + 40);
    return true;
}

/* Words of the READ field at `words`, of which there are `room`; more than that: it is cut off. */
static uint64_t read_words(const uint8_t *words, uint64_t room, uint64_t format)
{
    enum { TOTAL_TIMES = 3, ID = 4, GROUP = 8, LOST = 16 };
    uint64_t times = fields(format, TOTAL_TIMES), each = 1 + fields(format, ID | LOST);
    uint64_t count;

    if (!(format & GROUP))
        return times + each;
    if (!room)
        return 1;
    count = load64(words);
    return count > room ? room + 1 : 1 + times + count * each;
}

/* The call chain behind the fixed fields, which end at `p`. */
static bool view_callchain(struct spe_perf_record *rec, const struct spe_perf_event *event,
                           const uint8_t *p)
{
    uint64_t room = (rec->size - (size_t)(p - rec->bytes)) / 8, skip = 0;

    if (!(event->sample_type & SPE_PERF_SAMPLE_CALLCHAIN))
        return true;
    if (event->sample_type & SPE_PERF_SAMPLE_READ)
        skip = read_words(p, room, event->read_format);
    if (skip >= room || load64(p + 8 * skip) > room - skip - 1)
        return false;
    rec->sample.callchain_count = load64(p + 8 * skip);
    rec->sample.callchain = p + 8 * (skip + 1);
    return true;
}

/* The fields that come before those of variable size, in their order, and the call chain. */
static bool view_sample(struct spe_perf_record *rec, const struct spe_perf_event *event)
{
    uint64_t type = event ? event->sample_type : 0;
    struct spe_perf_sample_id *id = &rec->id;
    const uint8_t *p = rec->bytes + 8;

    if (!event ||
        rec->size < 8 + 8 * fields(type, ID_FIELDS | SPE_PERF_SAMPLE_IP | SPE_PERF_SAMPLE_ADDR |
                                             SPE_PERF_SAMPLE_PERIOD))
        return false;
    id->has = type & ID_FIELDS & ~(uint64_t)SPE_PERF_SAMPLE_IDENTIFIER;
    if (type & SPE_PERF_SAMPLE_IDENTIFIER) {
        id->id = load64(p);
        id->has |= SPE_PERF_SAMPLE_ID;
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_IP) {
        rec->sample.ip = load64(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_TID) {
        id->pid = load32(p);
        id->tid = load32(p + 4);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_TIME) {
        id->time = load64(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_ADDR) {
        rec->sample.address = load64(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_ID) {
        id->id = load64(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_STREAM_ID) {
        id->stream_id = load64(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_CPU) {
        id->cpu = load32(p);
        p += 8;
    }
    if (type & SPE_PERF_SAMPLE_PERIOD) {
        rec->sample.period = load64(p);
        p += 8;
    }
    return view_callchain(rec, event, p);
}

/* Does the type have a view at all? *good: is it filled in? */
static bool view_by_type(struct spe_perf_record *rec, size_t end, bool *good)
{
    switch (rec->type) {
    case SPE_PERF_MMAP:
    case SPE_PERF_MMAP2:
        *good = view_mmap(rec, end);
        return true;
    case SPE_PERF_COMM:
        *good = view_comm(rec, end);
        return true;
    case SPE_PERF_FORK:
    case SPE_PERF_EXIT:
        *good = view_task(rec, end);
        return true;
    case SPE_PERF_SWITCH:
    case SPE_PERF_SWITCH_CPU_WIDE:
        *good = view_switch(rec, end);
        return true;
    case SPE_PERF_ITRACE_START:
        *good = view_thread(rec, end);
        return true;
    case SPE_PERF_AUX:
        *good = view_aux(rec, end);
        return true;
    case SPE_PERF_LOST:
    case SPE_PERF_LOST_SAMPLES:
        *good = view_lost(rec, end);
        return true;
    case SPE_PERF_THROTTLE:
    case SPE_PERF_UNTHROTTLE:
        *good = view_throttle(rec, end);
        return true;
    case SPE_PERF_NAMESPACES:
        *good = view_namespaces(rec, end);
        return true;
    case SPE_PERF_KSYMBOL:
        *good = view_ksymbol(rec, end);
        return true;
    case SPE_PERF_BPF:
        *good = view_bpf(rec, end);
        return true;
    case SPE_PERF_BUILD_ID:
        *good = pd_build_id_view(rec->bytes, rec->size, &rec->build_id);
        return true;
    case SPE_PERF_TIME_CONV:
        *good = pd_time_conv_parse(rec->bytes, rec->size, &rec->time_conv);
        return true;
    case SPE_PERF_AUXTRACE:
        *good = view_auxtrace(rec, end);
        return true;
    default:
        return false;
    }
}

void pd_record_view(struct spe_perf_reader *r, struct spe_perf_record *record)
{
    const struct spe_perf_event *event = NULL;
    size_t end = record->size;
    bool good = true;

    record->misc = load16(record->bytes + 4);
    record->viewed = false;
    record->event = -1;
    memset(&record->id, 0, sizeof(record->id));
    memset(&record->mmap, 0, sizeof(record->mmap)); /* the largest of the union */
    if (record->type < SPE_PERF_HEADER_ATTR)
        event = layout_event(r, record);
    if (record->type == SPE_PERF_SAMPLE) {
        good = record->viewed = view_sample(record, event);
    } else {
        if (event)
            end = take_sample_id(record, event);
        record->viewed = view_by_type(record, end, &good) && good;
    }
    if (!good)
        r->account.malformed++;
}

const char *spe_perf_record_name(uint32_t type)
{
    static const char *const names[] = {
        [1] = "MMAP",
        [2] = "LOST",
        [3] = "COMM",
        [4] = "EXIT",
        [5] = "THROTTLE",
        [6] = "UNTHROTTLE",
        [7] = "FORK",
        [8] = "READ",
        [9] = "SAMPLE",
        [10] = "MMAP2",
        [11] = "AUX",
        [12] = "ITRACE_START",
        [13] = "LOST_SAMPLES",
        [14] = "SWITCH",
        [15] = "SWITCH_CPU_WIDE",
        [16] = "NAMESPACES",
        [17] = "KSYMBOL",
        [18] = "BPF_EVENT",
        [19] = "CGROUP",
        [20] = "TEXT_POKE",
        [21] = "AUX_OUTPUT_HW_ID",
        [64] = "ATTR",
        [65] = "EVENT_TYPE",
        [66] = "TRACING_DATA",
        [67] = "BUILD_ID",
        [68] = "FINISHED_ROUND",
        [69] = "ID_INDEX",
        [70] = "AUXTRACE_INFO",
        [71] = "AUXTRACE",
        [72] = "AUXTRACE_ERROR",
        [73] = "THREAD_MAP",
        [74] = "CPU_MAP",
        [75] = "STAT_CONFIG",
        [76] = "STAT",
        [77] = "STAT_ROUND",
        [78] = "EVENT_UPDATE",
        [79] = "TIME_CONV",
        [80] = "FEATURE",
        [81] = "COMPRESSED",
        [82] = "FINISHED_INIT",
        [83] = "COMPRESSED2",
    };

    return type < COUNT_OF(names) ? names[type] : NULL;
}
