/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Events. struct perf_event_attr has grown over the years and says its own size: fields that a file
 * does not have are zero, and those that this version does not know are kept as bytes.
 */
#include "base/sized.h"
#include "perfdata_internal.h"

/* Where the fields are. */
enum {
    ATTR_TYPE = 0,
    ATTR_SIZE = 4,
    ATTR_CONFIG = 8,
    ATTR_PERIOD = 16,
    ATTR_SAMPLE_TYPE = 24,
    ATTR_READ_FORMAT = 32,
    ATTR_FLAGS = 40,
    ATTR_CONFIG1 = 56,
    ATTR_CONFIG2 = 64,
    ATTR_CLOCKID = 92,
    ATTR_CONFIG3 = 128,
    ATTR_CONFIG4 = 136,
};

size_t pd_attr_size(const uint8_t *attr, size_t room)
{
    size_t size;

    if (room < PD_ATTR_MIN)
        return 0;
    size = load32(attr + ATTR_SIZE);
    if (!size) /* the first version's writers left it out */
        size = PD_ATTR_MIN;
    return size >= PD_ATTR_MIN && size <= room ? size : 0;
}

static uint64_t field64(const uint8_t *attr, size_t size, size_t at)
{
    return at + 8 <= size ? load64(attr + at) : 0;
}

static void decode(const uint8_t *attr, size_t size, struct spe_perf_event *e)
{
    e->type = load32(attr + ATTR_TYPE);
    e->attr_size = (uint32_t)size;
    e->config = load64(attr + ATTR_CONFIG);
    e->period = load64(attr + ATTR_PERIOD);
    e->sample_type = load64(attr + ATTR_SAMPLE_TYPE);
    e->read_format = load64(attr + ATTR_READ_FORMAT);
    e->flags = load64(attr + ATTR_FLAGS);
    e->config1 = field64(attr, size, ATTR_CONFIG1);
    e->config2 = field64(attr, size, ATTR_CONFIG2);
    e->config3 = field64(attr, size, ATTR_CONFIG3);
    e->config4 = field64(attr, size, ATTR_CONFIG4);
    if (ATTR_CLOCKID + 4 <= size)
        e->clockid = (int32_t)load32(attr + ATTR_CLOCKID);
}

/* Merge an event's sorted IDs into the table of all, from the back. */
static bool merge_ids(struct spe_perf_reader *r, const uint64_t *ids, size_t count, uint32_t event)
{
    size_t old = r->id_count, at = old + count;

    if (vector_reserve(&r->ids, &r->id_capacity, at, sizeof(*r->ids)) < 0)
        return false;
    r->id_count = at;
    while (count) {
        if (old && r->ids[old - 1].id > ids[count - 1])
            r->ids[--at] = r->ids[--old];
        else
            r->ids[--at] = (struct pd_id){ids[--count], event};
    }
    return true;
}

static bool take_ids(struct spe_perf_reader *r, struct pd_event *e, const uint8_t *ids,
                     size_t count)
{
    if (!count)
        return true;
    e->ids = malloc(count * sizeof(*e->ids));
    if (!e->ids)
        return false;
    memcpy(e->ids, ids, count * sizeof(*e->ids));
    qsort(e->ids, count, sizeof(*e->ids), pd_compare_u64);
    e->event.ids = e->ids;
    e->event.id_count = count;
    return merge_ids(r, e->ids, count, (uint32_t)r->event_count);
}

int pd_events_add(struct spe_perf_reader *r, const uint8_t *attr, size_t attr_size,
                  const uint8_t *ids, size_t id_count, uint64_t offset)
{
    struct pd_event *e;

    if (r->event_count >= SPE_PERF_EVENT_MAX || id_count > SPE_PERF_ID_MAX - r->id_count) {
        pd_problem(r, SPE_ERR_FORMAT, offset,
                   "the file has more events or IDs than Specimen takes");
        return SPE_ERR_FORMAT;
    }
    if (vector_reserve(&r->events, &r->event_capacity, r->event_count + 1, sizeof(*r->events)) < 0)
        return SPE_ERR_NOMEM;
    e = &r->events[r->event_count];
    memset(e, 0, sizeof(*e));
    e->attr = malloc(attr_size);
    if (!e->attr || !take_ids(r, e, ids, id_count)) {
        free(e->attr);
        free(e->ids);
        return SPE_ERR_NOMEM;
    }
    memcpy(e->attr, attr, attr_size);
    decode(e->attr, attr_size, &e->event);
    e->event.attr = e->attr;
    r->event_count++;
    return SPE_OK;
}

bool pd_event_name(struct spe_perf_reader *r, size_t event, const char *name, size_t size)
{
    char *copy = strndup(name, size);

    if (!copy)
        return false;
    free(r->events[event].name);
    r->events[event].name = copy;
    r->events[event].event.name = copy;
    return true;
}

void pd_events_free(struct spe_perf_reader *r)
{
    for (size_t i = 0; i < r->event_count; i++) {
        free(r->events[i].attr);
        free(r->events[i].ids);
        free(r->events[i].name);
    }
    free(r->events);
    free(r->ids);
}

size_t spe_perf_reader_event_count(const struct spe_perf_reader *reader)
{
    return reader->event_count;
}

const struct spe_perf_event *spe_perf_reader_event(const struct spe_perf_reader *reader, size_t i)
{
    return i < reader->event_count ? &reader->events[i].event : NULL;
}

int spe_perf_reader_event_by_id(const struct spe_perf_reader *reader, uint64_t id)
{
    size_t low = 0, high = reader->id_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (reader->ids[middle].id == id)
            return (int)reader->ids[middle].event;
        if (reader->ids[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return SPE_ERR_UNKNOWN;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* perf refuses a file whose attributes are larger than its own: 6.1 knows 128 bytes, 6.12 knows 136
 * (config3), 6.19 knows 144 (config4). */
size_t pd_attr_wanted(const struct spe_perf_event *event)
{
    if (event->attr_size)
        return event->attr_size;
    if (event->config4)
        return PD_ATTR_MAX;
    return event->config3 ? ATTR_CONFIG4 : ATTR_CONFIG3;
}

static void put64(uint8_t *attr, size_t size, size_t at, uint64_t value)
{
    if (at + 8 <= size)
        store64(attr + at, value);
}

size_t pd_attr_encode(const struct spe_perf_event *event, uint8_t *attr, size_t room)
{
    size_t size = pd_attr_wanted(event);

    if (size > room)
        size = room;
    memset(attr, 0, room);
    if (event->attr) {
        memcpy(attr, event->attr, size);
        return size;
    }
    store32(attr + ATTR_TYPE, event->type);
    store32(attr + ATTR_SIZE, (uint32_t)size);
    store64(attr + ATTR_CONFIG, event->config);
    store64(attr + ATTR_PERIOD, event->period);
    store64(attr + ATTR_SAMPLE_TYPE, event->sample_type);
    store64(attr + ATTR_READ_FORMAT, event->read_format);
    store64(attr + ATTR_FLAGS, event->flags);
    put64(attr, size, ATTR_CONFIG1, event->config1);
    put64(attr, size, ATTR_CONFIG2, event->config2);
    put64(attr, size, ATTR_CONFIG3, event->config3);
    put64(attr, size, ATTR_CONFIG4, event->config4);
    if (ATTR_CLOCKID + 4 <= size)
        store32(attr + ATTR_CLOCKID, (uint32_t)event->clockid);
    return size;
}

static uint64_t common_sample_type(unsigned how)
{
    uint64_t type = SPE_PERF_SAMPLE_IP | SPE_PERF_SAMPLE_TID | SPE_PERF_SAMPLE_IDENTIFIER;

    if (!(how & SPE_PERF_TIMELESS))
        type |= SPE_PERF_SAMPLE_TIME;
    if (!(how & SPE_PERF_PER_THREAD))
        type |= SPE_PERF_SAMPLE_CPU;
    return type;
}

static void init_spe(struct spe_perf_event *event, uint32_t pmu_type, unsigned how)
{
    memset(event, 0, sizeof(*event));
    event->type = pmu_type;
    event->config = 1 | (how & SPE_PERF_PHYSICAL ? 2 : 0); /* ts_enable, pa_enable */
    event->period = 4096;
    event->sample_type = common_sample_type(how) | SPE_PERF_SAMPLE_DATA_SRC;
    if (how & SPE_PERF_PHYSICAL)
        event->sample_type |= SPE_PERF_SAMPLE_PHYS_ADDR;
    event->read_format = 4; /* ID */
    event->flags = SPE_PERF_FLAG_DISABLED | SPE_PERF_FLAG_INHERIT | SPE_PERF_FLAG_ENABLE_ON_EXEC |
                   SPE_PERF_FLAG_SAMPLE_ID_ALL | SPE_PERF_FLAG_EXCLUDE_GUEST;
    event->name = "arm_spe_0//";
}

void spe_perf_event_init_spe_sized(struct spe_perf_event *event, size_t size, uint32_t pmu_type,
                                   unsigned how)
{
    struct spe_perf_event own;

    init_spe(&own, pmu_type, how);
    sized_give(event, size, &own, sizeof(own));
}

static void init_tracking(struct spe_perf_event *event, unsigned how)
{
    memset(event, 0, sizeof(*event));
    event->type = 1;   /* software */
    event->config = 9; /* dummy */
    event->period = 1;
    event->sample_type = common_sample_type(how);
    event->read_format = 4;
    event->flags = SPE_PERF_FLAG_DISABLED | SPE_PERF_FLAG_INHERIT | SPE_PERF_FLAG_ENABLE_ON_EXEC |
                   SPE_PERF_FLAG_SAMPLE_ID_ALL | SPE_PERF_FLAG_EXCLUDE_GUEST |
                   SPE_PERF_FLAG_EXCLUDE_KERNEL | SPE_PERF_FLAG_EXCLUDE_HV | SPE_PERF_FLAG_MMAP |
                   SPE_PERF_FLAG_MMAP2 | SPE_PERF_FLAG_COMM | SPE_PERF_FLAG_COMM_EXEC |
                   SPE_PERF_FLAG_TASK | SPE_PERF_FLAG_CONTEXT_SWITCH | SPE_PERF_FLAG_KSYMBOL |
                   SPE_PERF_FLAG_BPF_EVENT;
    event->name = "dummy:u";
}

void spe_perf_event_init_tracking_sized(struct spe_perf_event *event, size_t size, unsigned how)
{
    struct spe_perf_event own;

    init_tracking(&own, how);
    sized_give(event, size, &own, sizeof(own));
}

/* perf script shows no frames of software's dummy. */
static void init_calls(struct spe_perf_event *event, uint32_t pmu_type, unsigned how)
{
    memset(event, 0, sizeof(*event));
    event->type = pmu_type;
    event->period = 1;
    event->sample_type = common_sample_type(how) | SPE_PERF_SAMPLE_CALLCHAIN;
    event->read_format = 4;
    event->flags = SPE_PERF_FLAG_DISABLED | SPE_PERF_FLAG_INHERIT | SPE_PERF_FLAG_ENABLE_ON_EXEC |
                   SPE_PERF_FLAG_SAMPLE_ID_ALL | SPE_PERF_FLAG_EXCLUDE_GUEST |
                   SPE_PERF_FLAG_EXCLUDE_KERNEL | SPE_PERF_FLAG_EXCLUDE_HV;
    event->name = SPE_PERF_CALLS_NAME;
}

void spe_perf_event_init_calls_sized(struct spe_perf_event *event, size_t size, uint32_t pmu_type,
                                     unsigned how)
{
    struct spe_perf_event own;

    init_calls(&own, pmu_type, how);
    sized_give(event, size, &own, sizeof(own));
}
