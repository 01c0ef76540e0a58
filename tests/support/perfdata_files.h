/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Recordings for tests: an output in memory, perf.data bytes put together by hand, and a machine
 * with threads that migrate, fork and exec, whose SPE records are known one by one.
 */
#ifndef TESTS_SUPPORT_PERFDATA_FILES_H
#define TESTS_SUPPORT_PERFDATA_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/format.h>
#include <specimen/gen.h>
#include <specimen/perfdata.h>

#include "gen/state.h"
#include "random.h"

/* ---- Bytes in memory ------------------------------------------------------------------------ */

struct memory_file {
    uint8_t *bytes;
    size_t size, capacity;
    unsigned writes; /* calls so far; from `stop_after` on nothing is written any more */
    unsigned stop_after;
    bool fails;  /* ... and that is an error */
    size_t room; /* unless 0: bytes behind it are not written, and that is an error */
};

static inline void memory_reserve(struct memory_file *m, size_t size)
{
    if (size > m->capacity) {
        m->capacity = size + size / 2 + 4096;
        m->bytes = realloc(m->bytes, m->capacity);
        if (!m->bytes)
            abort();
    }
}

static inline int memory_write(void *user, uint64_t offset, const void *bytes, size_t size)
{
    struct memory_file *m = user;
    int result = SPE_OK;

    if (m->stop_after && m->writes >= m->stop_after)
        return m->fails ? SPE_ERR_IO : SPE_OK;
    m->writes++;
    if (m->room && offset + size > m->room) {
        size = offset < m->room ? m->room - (size_t)offset : 0;
        result = SPE_ERR_IO;
    }
    memory_reserve(m, (size_t)offset + size);
    if (offset > m->size)
        memset(m->bytes + m->size, 0, (size_t)offset - m->size);
    memcpy(m->bytes + offset, bytes, size);
    if (offset + size > m->size)
        m->size = (size_t)offset + size;
    return result;
}

static inline int memory_truncate(void *user, uint64_t size)
{
    struct memory_file *m = user;

    if (!(m->stop_after && m->writes >= m->stop_after) && size < m->size)
        m->size = (size_t)size;
    return SPE_OK;
}

static inline struct spe_perf_output memory_output(struct memory_file *m)
{
    return (struct spe_perf_output){memory_write, NULL, memory_truncate, m};
}

static inline void memory_free(struct memory_file *m)
{
    free(m->bytes);
    memset(m, 0, sizeof(*m));
}

/* ---- By hand -------------------------------------------------------------------------------- */

static inline void hand_put(struct memory_file *m, const void *bytes, size_t size)
{
    memory_reserve(m, m->size + size);
    if (size)
        memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
}

static inline void hand_put64(struct memory_file *m, uint64_t value)
{
    hand_put(m, &value, 8);
}

/* Words of 64 bits as a record. */
static inline void hand_record(struct memory_file *m, uint32_t type, uint16_t misc,
                               const uint64_t *words, size_t count)
{
    uint16_t size = (uint16_t)(8 + 8 * count);

    hand_put(m, &type, 4);
    hand_put(m, &misc, 2);
    hand_put(m, &size, 2);
    hand_put(m, words, 8 * count);
}

static inline void hand_auxtrace(struct memory_file *m, uint32_t idx, uint64_t offset,
                                 const void *bytes, size_t size)
{
    uint64_t words[5] = {size, offset, 0, idx | UINT64_C(0xffffffff) << 32, idx};

    hand_record(m, SPE_PERF_AUXTRACE, 0, words, 5);
    hand_put(m, bytes, size);
}

/* An attribute of 64 bytes or more. */
static inline void hand_attr(struct memory_file *m, uint32_t type, uint32_t size,
                             uint64_t sample_type, uint64_t flags)
{
    uint8_t attr[256] = {0};

    memcpy(attr, &type, 4);
    memcpy(attr + 4, &size, 4);
    memcpy(attr + 24, &sample_type, 8);
    memcpy(attr + 40, &flags, 8);
    hand_put(m, attr, size ? size : 64);
}

/* The header of a file with one event without IDs: 104 + 80 bytes. Data is appended behind it. */
static inline void hand_header(struct memory_file *m, uint64_t sample_type, uint64_t data_size)
{
    uint64_t words[] = {104, 80, 104, 80, 184, data_size, 0, 0, 0, 0, 0, 0};

    hand_put(m, "PERFILE2", 8);
    hand_put(m, words, sizeof(words));
    hand_attr(m, 8, 64, sample_type, sample_type ? SPE_PERF_FLAG_SAMPLE_ID_ALL : 0);
    hand_put64(m, 0);
    hand_put64(m, 0);
}

/* What the data's size is, once it is there. */
static inline void hand_finish(struct memory_file *m)
{
    uint64_t size = m->size - 184;

    memcpy(m->bytes + 48, &size, 8);
}

/* ---- A machine ------------------------------------------------------------------------------ */

enum {
    MACHINE_CPUS = 8,
    MACHINE_THREADS = 12,
    MACHINE_PID = 1000,   /* threads 1000 to 1009 */
    MACHINE_CHILD = 2000, /* and a child process with two, forked by 1000 */
    MACHINE_SLICES = 6,   /* each CPU runs so many threads, one after the other */
    MACHINE_PMU = 8,
};

#define MACHINE_CODE UINT64_C(0x400000)
#define MACHINE_CODE_SIZE UINT64_C(0x1000000)
#define MACHINE_MIDR UINT64_C(0x413fd0c1) /* Neoverse N1 */

struct machine {
    unsigned records_per_slice;
    bool pipe, timeless, per_thread;
    bool cut_anywhere; /* pieces end inside records */
    /* What happened. */
    uint64_t records, aux_bytes, pieces;
    uint64_t records_of[MACHINE_THREADS];
    uint64_t loads_stores;
    uint64_t sum_pc, sum_ns; /* of all records, modulo 2^64 */
};

static inline uint32_t machine_tid(unsigned thread)
{
    return thread < 10 ? MACHINE_PID + thread : MACHINE_CHILD + thread - 10;
}

static inline uint32_t machine_pid(unsigned thread)
{
    return thread < 10 ? MACHINE_PID : MACHINE_CHILD;
}

static inline void machine_time(struct spe_perf_time_conv *tc)
{
    spe_perf_time_from_hz(tc, 1000000000);
    tc->zero = 5000000000;
}

/* 0, or what the writer said. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_result = (call);                                                                   \
        if (try_result < 0)                                                                        \
            return try_result;                                                                     \
    } while (0)

static inline int machine_events(const struct machine *m, struct spe_perf_writer *w)
{
    unsigned how = (m->timeless ? SPE_PERF_TIMELESS : 0) |
                   (m->per_thread ? SPE_PERF_PER_THREAD : 0) | SPE_PERF_PHYSICAL;
    uint64_t ids[2][MACHINE_CPUS];
    struct spe_perf_event event;

    for (unsigned i = 0; i < MACHINE_CPUS; i++) {
        ids[0][i] = 100 + i;
        ids[1][i] = 200 + i;
    }
    spe_perf_event_init_spe(&event, MACHINE_PMU, how);
    event.ids = ids[0];
    event.id_count = MACHINE_CPUS;
    TRY(spe_perf_writer_event(w, &event));
    spe_perf_event_init_tracking(&event, how);
    event.ids = ids[1];
    event.id_count = MACHINE_CPUS;
    TRY(spe_perf_writer_event(w, &event));
    return SPE_OK;
}

static inline int machine_features(struct spe_perf_writer *w)
{
    static const char *const command[] = {"spe", "record", "--", "./prog"};
    static const struct spe_perf_numa_node numa[] = {{0, 8000000, 4000000, "0-3"},
                                                     {1, 8000000, 4000000, "4-7"}};
    static const uint64_t blocks[2] = {0xff, 0xff00};
    static const struct spe_perf_mem_node mem[] = {{0, 16, &blocks[0]}, {1, 16, &blocks[1]}};
    static const struct spe_perf_pmu pmus[] = {{1, "software"}, {MACHINE_PMU, "arm_spe_0"}};
    static const struct spe_perf_build_id ids[] = {
        {-1, SPE_PERF_MISC_KERNEL, 20, {1, 2, 3}, "[kernel.kallsyms]"},
        {MACHINE_PID, SPE_PERF_MISC_USER, 20, {4, 5, 6}, "/opt/prog"},
        {MACHINE_PID, SPE_PERF_MISC_USER, 16, {7, 8, 9}, "/opt/lib.so"},
    };
    struct spe_perf_features f = {
        .hostname = "machine",
        .osrelease = "6.12.0",
        .version = "0.1",
        .arch = "aarch64",
        .cpudesc = "Neoverse-N1",
        .cpuid = "0x00000000413fd0c1",
        .cpus_available = MACHINE_CPUS,
        .cpus_online = MACHINE_CPUS,
        .total_mem_kb = 16000000,
        .command = command,
        .command_count = 4,
        .numa = numa,
        .numa_count = 2,
        .mem_block_size = 128 << 20,
        .mem = mem,
        .mem_count = 2,
        .pmus = pmus,
        .pmu_count = 2,
        .build_ids = ids,
        .build_id_count = 2,
        .first_sample_ns = 6000000000,
        .last_sample_ns = 7000000000,
    };

    TRY(spe_perf_writer_features(w, &f));
    return spe_perf_writer_build_id(w, &ids[2]);
}

static inline int machine_begin(struct spe_perf_writer *w)
{
    struct spe_perf_cpu cpus[MACHINE_CPUS];
    struct spe_perf_id ids[2 * MACHINE_CPUS];
    struct spe_perf_metadata metadata = {
        .pmu_type = MACHINE_PMU, .cpus = cpus, .cpu_count = MACHINE_CPUS};
    struct spe_perf_time_conv tc;
    struct spe_perf_start start = {sizeof(start), &tc, &metadata, ids, 2 * MACHINE_CPUS};

    machine_time(&tc);
    for (unsigned i = 0; i < MACHINE_CPUS; i++) {
        cpus[i] = (struct spe_perf_cpu){i, MACHINE_PMU, MACHINE_MIDR, 1024, 0xffe, true};
        ids[i] = (struct spe_perf_id){100 + i, i, i, UINT64_MAX};
        ids[MACHINE_CPUS + i] = (struct spe_perf_id){200 + i, i, i, UINT64_MAX};
    }
    return spe_perf_writer_begin(w, &start);
}

/* A record of the tracking event, on a CPU at a time. */
static inline struct spe_perf_record machine_record(uint32_t type, unsigned cpu, uint64_t ns,
                                                    unsigned thread)
{
    struct spe_perf_record r = {.type = type, .event = 1};

    r.id.pid = machine_pid(thread);
    r.id.tid = machine_tid(thread);
    r.id.cpu = cpu;
    r.id.time = ns;
    r.id.id = 200 + cpu;
    return r;
}

static inline int machine_map(struct spe_perf_writer *w, uint64_t ns, const char *path,
                              uint64_t start, uint64_t size, uint8_t id)
{
    struct spe_perf_record r = machine_record(SPE_PERF_MMAP2, 0, ns, 0);

    r.misc = SPE_PERF_MISC_USER;
    r.mmap.pid = r.mmap.tid = MACHINE_PID;
    r.mmap.start = start;
    r.mmap.length = size;
    r.mmap.protection = 5;
    r.mmap.flags = 2;
    r.mmap.path = path;
    r.mmap.id_size = id ? 20 : 0;
    r.mmap.id[0] = id;
    return spe_perf_writer_record(w, &r);
}

static inline int machine_comm(struct spe_perf_writer *w, uint64_t ns, unsigned thread,
                               const char *name, bool exec)
{
    struct spe_perf_record r = machine_record(SPE_PERF_COMM, 0, ns, thread);

    r.misc = exec ? SPE_PERF_MISC_COMM_EXEC : 0;
    r.comm.pid = machine_pid(thread);
    r.comm.tid = machine_tid(thread);
    r.comm.name = name;
    return spe_perf_writer_record(w, &r);
}

static inline int machine_fork(struct spe_perf_writer *w, uint32_t type, uint64_t ns,
                               unsigned thread)
{
    struct spe_perf_record r = machine_record(type, 0, ns, thread == 11 ? 10 : 0);
    unsigned parent = thread == 11 ? 10 : 0;

    r.task.pid = machine_pid(thread);
    r.task.tid = machine_tid(thread);
    r.task.parent_pid = machine_pid(parent);
    r.task.parent_tid = machine_tid(parent);
    r.task.time = ns;
    return spe_perf_writer_record(w, &r);
}

/* The kernel's map, a shell that execs the program, its threads, its child. */
static inline int machine_tasks(struct spe_perf_writer *w, uint64_t ns)
{
    struct spe_perf_record kernel = {.type = SPE_PERF_MMAP, .misc = SPE_PERF_MISC_KERNEL};
    struct spe_perf_record init = {.type = SPE_PERF_FINISHED_INIT, .event = -1};
    struct spe_perf_record start = machine_record(SPE_PERF_ITRACE_START, 0, ns, 0);

    kernel.event = 1;
    kernel.mmap.pid = UINT32_MAX;
    kernel.mmap.start = UINT64_C(0xffff800000000000);
    kernel.mmap.length = UINT64_C(0x7fffffffffff);
    kernel.mmap.page_offset = kernel.mmap.start;
    kernel.mmap.path = "[kernel.kallsyms]_text";
    TRY(spe_perf_writer_record(w, &kernel));
    TRY(machine_comm(w, 0, 0, "sh", false));
    TRY(spe_perf_writer_record(w, &init));
    start.thread.pid = start.thread.tid = MACHINE_PID;
    TRY(spe_perf_writer_record(w, &start));
    TRY(machine_comm(w, ns, 0, "prog", true));
    TRY(machine_map(w, ns + 1, "/opt/prog", MACHINE_CODE, MACHINE_CODE_SIZE, 4));
    TRY(machine_map(w, ns + 2, "/opt/lib.so", UINT64_C(0xffff90000000), 0x10000, 0));
    for (unsigned t = 1; t < MACHINE_THREADS; t++)
        TRY(machine_fork(w, SPE_PERF_FORK, ns + 10 + t, t));
    TRY(machine_comm(w, ns + 50, 10, "child", false));
    return SPE_OK;
}

static inline int machine_switch(struct spe_perf_writer *w, unsigned cpu, uint64_t ns,
                                 unsigned thread, bool out)
{
    struct spe_perf_record r = machine_record(SPE_PERF_SWITCH_CPU_WIDE, cpu, ns, thread);

    r.misc = out ? SPE_PERF_MISC_SWITCH_OUT : 0;
    return spe_perf_writer_record(w, &r);
}

static inline int machine_aux_record(struct spe_perf_writer *w, unsigned cpu, uint64_t ns,
                                     uint64_t offset, uint64_t size, uint64_t flags)
{
    struct spe_perf_record r = machine_record(SPE_PERF_AUX, cpu, ns, 0);

    r.event = 0;
    r.id.id = 100 + cpu;
    r.aux.offset = offset;
    r.aux.size = size;
    r.aux.flags = flags;
    return spe_perf_writer_record(w, &r);
}

/* One CPU's slice: records of one thread, as bytes. */
static inline size_t machine_slice(struct machine *m, struct spe_gen *gen, unsigned thread,
                                   uint8_t *bytes, size_t room, uint64_t *last)
{
    const struct spe_layout *layout = spe_layout_by_name("architecture");
    struct spe_perf_time_conv tc;
    struct spe_record r;
    size_t size = 0;

    machine_time(&tc);
    for (unsigned i = 0; i < m->records_per_slice; i++) {
        int n;

        spe_gen_next(gen, &r);
        r.context[0] = machine_tid(thread);
        r.address[SPE_ADDRESS_PC] = (UINT64_C(0x80) << 56) | MACHINE_CODE |
                                    (r.address[SPE_ADDRESS_PC] & (MACHINE_CODE_SIZE - 1));
        n = spe_record_encode(&r, layout, bytes + size, room - size);
        if (n < 0)
            abort();
        size += (size_t)n;
        m->records++;
        m->records_of[thread]++;
        m->loads_stores += r.op_class == SPE_CLASS_LDST;
        m->sum_pc += spe_address_canonical(SPE_ADDRESS_PC, r.address[SPE_ADDRESS_PC]);
        m->sum_ns += spe_perf_time_to_ns(&tc, r.timestamp);
        *last = spe_perf_time_to_ns(&tc, r.timestamp);
    }
    return size;
}

/* A slice's bytes in pieces. */
static inline int machine_pieces(struct machine *m, struct spe_perf_writer *w, unsigned cpu,
                                 const uint8_t *bytes, size_t size)
{
    struct spe_perf_auxtrace piece = {.offset = SPE_PERF_OFFSET_NEXT, .idx = cpu, .cpu = cpu};
    size_t cut = m->cut_anywhere ? size / 3 : 0;

    piece.tid = UINT32_MAX;
    if (m->per_thread) {
        piece.tid = MACHINE_PID + cpu;
        piece.cpu = UINT32_MAX;
    }
    if (cut)
        TRY(spe_perf_writer_aux(w, &piece, bytes, cut));
    TRY(spe_perf_writer_aux(w, &piece, bytes + cut, size - cut));
    m->pieces += cut ? 2 : 1;
    m->aux_bytes += size;
    return SPE_OK;
}

static inline int machine_cpu_slice(struct machine *m, struct spe_perf_writer *w,
                                    struct spe_gen *gen, unsigned cpu, unsigned slice,
                                    uint64_t *offset)
{
    unsigned thread = (cpu + slice * 5) % MACHINE_THREADS; /* nobody is on two CPUs at once */
    size_t room = (size_t)m->records_per_slice * 128 + 128;
    uint8_t *bytes = malloc(room);
    struct spe_perf_time_conv tc;
    uint64_t last = 0, first;
    size_t size;
    int result;

    if (!bytes)
        abort();
    machine_time(&tc);
    first = spe_perf_time_to_ns(&tc, gen->time);
    size = machine_slice(m, gen, thread, bytes, room, &last);
    result = machine_switch(w, cpu, first, thread, false);
    if (result == SPE_OK)
        result = machine_pieces(m, w, cpu, bytes, size);
    free(bytes);
    TRY(result);
    TRY(machine_aux_record(w, cpu, last, *offset, size,
                           slice == 2   ? SPE_PERF_AUX_TRUNCATED | SPE_PERF_AUX_PARTIAL
                           : slice == 4 ? SPE_PERF_AUX_COLLISION
                                        : 0));
    *offset += size;
    return machine_switch(w, cpu, last, thread, true);
}

/* Everything between begin and finish. */
static inline int machine_run(struct machine *m, struct spe_perf_writer *w, bool flushes)
{
    struct spe_gen *gen = calloc(MACHINE_CPUS, sizeof(*gen));
    uint64_t offset[MACHINE_CPUS] = {0};
    struct spe_perf_record round = {.type = SPE_PERF_FINISHED_ROUND, .event = -1};
    struct spe_gen_config config;
    char why[200];
    int result;

    if (!gen)
        abort();
    spe_gen_config_init(&config);
    config.context1 = !(m->per_thread && !m->timeless);
    for (unsigned i = 0; i < MACHINE_CPUS; i++) {
        config.seed = i + 1;
        if (spe_gen_init(&gen[i], &config, why, sizeof(why)) < 0)
            abort();
    }
    result = machine_tasks(w, 5900000000);
    for (unsigned slice = 0; result == SPE_OK && slice < MACHINE_SLICES; slice++) {
        for (unsigned cpu = 0; result == SPE_OK && cpu < MACHINE_CPUS; cpu++)
            result = machine_cpu_slice(m, w, &gen[cpu], cpu, slice, &offset[cpu]);
        if (result == SPE_OK)
            result = spe_perf_writer_record(w, &round);
        if (result == SPE_OK && flushes)
            result = spe_perf_writer_flush(w);
    }
    if (result == SPE_OK)
        result = machine_fork(w, SPE_PERF_EXIT, 9000000000, 10);
    free(gen);
    return result;
}

static inline int machine_write(struct machine *m, struct spe_perf_writer *w, bool flushes)
{
    TRY(machine_events(m, w));
    TRY(machine_features(w));
    TRY(machine_begin(w));
    TRY(machine_run(m, w, flushes));
    return spe_perf_writer_finish(w);
}

/* The whole recording, in memory. */
static inline int machine_make(struct machine *m, struct memory_file *file, bool flushes)
{
    struct spe_perf_output output = memory_output(file);
    struct spe_perf_writer *w;
    int result = spe_perf_writer_open_output(&w, &output, m->pipe ? SPE_PERF_WRITE_PIPE : 0, NULL);

    if (result < 0)
        return result;
    result = machine_write(m, w, flushes);
    spe_perf_writer_close(w);
    return result;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static inline bool perf_account_adds_up(const struct spe_perf_account *a)
{
    return a->bytes == a->header_bytes + a->data_bytes + a->rest_bytes &&
           a->data_bytes == a->record_bytes + a->attached_bytes + a->aux_bytes + a->padding_bytes +
                                a->skipped_bytes &&
           a->unpacked_bytes == a->unpacked_record_bytes + a->unpacked_skipped_bytes;
}

/* An input that gives a few bytes at a time. */
struct dribble {
    const uint8_t *bytes;
    size_t size, at, most;
};

static inline int64_t dribble_read(void *user, void *bytes, size_t size)
{
    struct dribble *d = user;
    size_t n = d->size - d->at;

    if (n > size)
        n = size;
    if (n > d->most)
        n = d->most;
    if (n)
        memcpy(bytes, d->bytes + d->at, n);
    d->at += n;
    return (int64_t)n;
}

#endif
