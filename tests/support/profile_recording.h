/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Recordings in memory, made with the writer: a nanosecond is a tick, the SPE PMU has type 8, and
 * every test says who runs where. All functions assert that they succeed.
 */
#ifndef TESTS_SUPPORT_PROFILE_RECORDING_H
#define TESTS_SUPPORT_PROFILE_RECORDING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/perfdata.h>
#include <specimen/profile.h>

#define NEOVERSE_N1 0x413fd0c1u
#define NO_CONTEXT (-1)
#define NO_TIME UINT64_MAX
#define ANY UINT32_MAX

struct recording {
    uint8_t *bytes;
    size_t size, capacity;
    struct spe_perf_writer *writer;
    uint8_t *spe[16]; /* of each queue, what is not written yet */
    size_t spe_size[16], spe_capacity[16];
    unsigned how;
};

static inline int recording_write(void *user, uint64_t offset, const void *bytes, size_t size)
{
    struct recording *r = user;

    if (offset + size > r->capacity) {
        r->capacity = 2 * (size_t)(offset + size);
        r->bytes = realloc(r->bytes, r->capacity);
        assert_non_null(r->bytes);
    }
    memcpy(r->bytes + offset, bytes, size);
    if (offset + size > r->size)
        r->size = (size_t)(offset + size);
    return SPE_OK;
}

/* midr 0: the file does not say. `how`: SPE_PERF_PER_THREAD, SPE_PERF_TIMELESS. */
static inline void recording_open(struct recording *r, unsigned how, unsigned cpus, uint64_t midr,
                                  const struct spe_perf_features *features)
{
    static const uint64_t ids[2] = {11, 12};
    struct spe_perf_output output = {recording_write, NULL, NULL, r};
    struct spe_perf_time_conv conv = {0};
    struct spe_perf_cpu list[16];
    struct spe_perf_metadata metadata = {.version = 2, .pmu_type = 8, .cpus = list};
    struct spe_perf_start start = {sizeof(start), &conv, &metadata, NULL, 0};
    struct spe_perf_event event;

    memset(r, 0, sizeof(*r));
    r->how = how;
    assert_int_equal(spe_perf_time_from_hz(&conv, 1000000000), SPE_OK);
    for (unsigned i = 0; i < cpus; i++)
        list[i] = (struct spe_perf_cpu){.cpu = i, .pmu_type = 8, .midr = midr};
    metadata.cpu_count = cpus;
    assert_int_equal(spe_perf_writer_open_output(&r->writer, &output, 0, NULL), SPE_OK);
    spe_perf_event_init_spe(&event, 8, how);
    event.ids = &ids[0];
    event.id_count = 1;
    event.period = 4096;
    assert_int_equal(spe_perf_writer_event(r->writer, &event), 0);
    spe_perf_event_init_tracking(&event, how);
    event.ids = &ids[1];
    event.id_count = 1;
    assert_int_equal(spe_perf_writer_event(r->writer, &event), 1);
    if (features)
        assert_int_equal(spe_perf_writer_features(r->writer, features), SPE_OK);
    assert_int_equal(spe_perf_writer_begin(r->writer, &start), SPE_OK);
}

/* A record of the kernel: with time and who it is of. */
static inline void recording_add(struct recording *r, struct spe_perf_record *record, uint64_t time,
                                 uint32_t cpu, uint32_t pid, uint32_t tid)
{
    record->event = 1;
    record->id.time = time;
    record->id.cpu = cpu;
    record->id.pid = pid;
    record->id.tid = tid;
    record->id.id = 12;
    assert_int_equal(spe_perf_writer_record(r->writer, record), SPE_OK);
}

static inline void recording_comm(struct recording *r, uint64_t time, uint32_t pid, uint32_t tid,
                                  const char *name, bool exec)
{
    struct spe_perf_record record = {.type = SPE_PERF_COMM, .comm = {pid, tid, name}};

    record.misc = exec ? SPE_PERF_MISC_COMM_EXEC : 0;
    recording_add(r, &record, time, 0, pid, tid);
}

static inline void recording_fork(struct recording *r, uint64_t time, uint32_t pid, uint32_t tid,
                                  uint32_t parent_pid, uint32_t parent_tid)
{
    struct spe_perf_record record = {.type = SPE_PERF_FORK,
                                     .task = {pid, parent_pid, tid, parent_tid, time}};

    recording_add(r, &record, time, 0, parent_pid, parent_tid);
}

/* pid ANY: of the kernel. */
static inline void recording_map(struct recording *r, uint64_t time, uint32_t pid, uint64_t start,
                                 uint64_t length, uint64_t offset, const char *path,
                                 const uint8_t *id, size_t id_size)
{
    struct spe_perf_record record = {.type = SPE_PERF_MMAP2};

    record.mmap = (struct spe_perf_mmap){.pid = pid,
                                         .tid = pid,
                                         .start = start,
                                         .length = length,
                                         .page_offset = offset,
                                         .id_size = (uint8_t)id_size,
                                         .protection = 5,
                                         .path = path};
    if (id_size)
        memcpy(record.mmap.id, id, id_size);
    record.misc = pid == ANY ? SPE_PERF_MISC_KERNEL : SPE_PERF_MISC_USER;
    if (id_size)
        record.misc |= SPE_PERF_MISC_MMAP_BUILD_ID;
    recording_add(r, &record, time, 0, pid, pid);
}

/* tid comes to the CPU or, with out, leaves it; other: SWITCH_CPU_WIDE. */
static inline void recording_switch(struct recording *r, uint64_t time, uint32_t cpu, uint32_t pid,
                                    uint32_t tid, bool out, int64_t other)
{
    struct spe_perf_record record = {.type = SPE_PERF_SWITCH};

    record.misc = out ? SPE_PERF_MISC_SWITCH_OUT : 0;
    if (other >= 0) {
        record.type = SPE_PERF_SWITCH_CPU_WIDE;
        record.switched = (struct spe_perf_switch){(uint32_t)other, (uint32_t)other};
    }
    recording_add(r, &record, time, cpu, pid, tid);
}

static inline void recording_bytes(struct recording *r, unsigned queue, const void *bytes,
                                   size_t size)
{
    if (r->spe_size[queue] + size > r->spe_capacity[queue]) {
        r->spe_capacity[queue] = 2 * (r->spe_size[queue] + size);
        r->spe[queue] = realloc(r->spe[queue], r->spe_capacity[queue]);
        assert_non_null(r->spe[queue]);
    }
    memcpy(r->spe[queue] + r->spe_size[queue], bytes, size);
    r->spe_size[queue] += size;
}

static inline void sample_bytes(struct recording *r, unsigned queue, const struct spe_record *s)
{
    uint8_t bytes[SPE_RECORD_MAX];
    int size = spe_record_encode(s, spe_layout_by_name("architecture"), bytes, sizeof(bytes));

    assert_true(size > 0);
    recording_bytes(r, queue, bytes, (size_t)size);
}

/* A load at EL `el` of thread `context`. */
static inline void recording_sample(struct recording *r, unsigned queue, uint64_t time, uint64_t pc,
                                    unsigned el, int64_t context)
{
    struct spe_address a = {.address = pc & UINT64_MAX >> 8, .el = (uint8_t)el, .ns = 1};
    struct spe_record s = {.has = SPE_HAS_OP | SPE_HAS_EVENTS,
                           .addresses = 1u << SPE_ADDRESS_PC,
                           .counters = 1u << SPE_COUNTER_TOTAL,
                           .events = SPE_EVENT_BIT(RETIRED),
                           .op_class = SPE_CLASS_LDST};

    s.address[SPE_ADDRESS_PC] = spe_address_encode(SPE_ADDRESS_PC, &a);
    s.counter[SPE_COUNTER_TOTAL] = 30;
    if (time != NO_TIME) {
        s.has |= SPE_HAS_TIMESTAMP;
        s.timestamp = time;
    }
    if (context >= 0) {
        s.has |= SPE_HAS_CONTEXT1;
        s.context[0] = (uint32_t)context;
    }
    sample_bytes(r, queue, &s);
}

/* Write a queue's samples so far, or their first `size` bytes. */
static inline void recording_flush(struct recording *r, unsigned queue, uint32_t cpu, uint32_t tid,
                                   size_t size)
{
    struct spe_perf_auxtrace piece = {
        .offset = SPE_PERF_OFFSET_NEXT, .idx = queue, .cpu = cpu, .tid = tid};

    if (!size || size > r->spe_size[queue])
        size = r->spe_size[queue];
    assert_int_equal(spe_perf_writer_aux(r->writer, &piece, r->spe[queue], size), SPE_OK);
    memmove(r->spe[queue], r->spe[queue] + size, r->spe_size[queue] - size);
    r->spe_size[queue] -= size;
}

static inline void recording_finish(struct recording *r)
{
    assert_int_equal(spe_perf_writer_finish(r->writer), SPE_OK);
    spe_perf_writer_close(r->writer);
    r->writer = NULL;
    for (unsigned i = 0; i < 16; i++)
        free(r->spe[i]);
}

static inline void recording_free(struct recording *r)
{
    free(r->bytes);
    memset(r, 0, sizeof(*r));
}

/* Options without anything from the machine that runs the test. */
static inline struct spe_profile_options quiet_options(unsigned threads)
{
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;

    options.threads = threads;
    options.debug_dir = "";
    options.symfs = "/nowhere";
    options.no_debuginfod = true;
    return options;
}

static inline struct spe_profile *recording_profile(const struct recording *r,
                                                    const struct spe_profile_options *options)
{
    struct spe_profile_error error;
    struct spe_profile *profile;

    if (spe_profile_open_memory(&profile, r->bytes, r->size, options, &error) < 0)
        fail_msg("%s", error.text);
    return profile;
}

/* Rows of small recordings, one after the other. */
struct row {
    uint64_t time, pc, symbol;
    uint32_t cpu, pid, tid, thread, comm, map, line;
    size_t queue;
    uint8_t el, flags;
};

static inline size_t read_rows(struct spe_profile *profile, struct row *out, size_t max)
{
    struct spe_rows rows;
    size_t count = 0;
    int result;

    while ((result = spe_profile_next(profile, &rows)) > 0) {
        for (size_t i = 0; i < rows.count; i++) {
            assert_true(count < max);
            out[count++] = (struct row){
                .time = rows.time_ns[i],
                .pc = rows.pc[i],
                .symbol = rows.symbol ? rows.symbol[i] : SPE_NO_SYMBOL,
                .cpu = rows.cpu ? rows.cpu[i] : SPE_NO_CPU,
                .pid = rows.pid[i],
                .tid = rows.tid ? rows.tid[i] : SPE_NO_TASK,
                .thread = rows.thread[i],
                .comm = rows.comm[i],
                .map = rows.map[i],
                .line = rows.line ? rows.line[i] : SPE_NO_ID,
                .queue = rows.queues ? rows.queues[i] : rows.queue,
                .el = rows.el[i],
                .flags = rows.flags[i],
            };
        }
    }
    assert_int_equal(result, 0);
    return count;
}

static inline const char *path_of(const struct spe_profile *p, uint32_t map)
{
    const struct spe_profile_map *m = spe_profile_map(p, map);

    return m ? spe_profile_string(p, spe_profile_dso(p, m->dso)->path) : "";
}

#endif
