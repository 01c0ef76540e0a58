/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Rows of larger recordings against what was written: all of them, in the order that was asked for,
 * the same for any number of threads, however the buffers are cut into pieces.
 */
#include <errno.h>

#include "profile/profile_internal.h"
#include "support/profile_recording.h"
#include "support/random.h"

#include <stdio.h>
#include <unistd.h>

#define QUEUES 8
#define SAMPLES 20000       /* of all queues */
#define LONG_SAMPLES 150000 /* of each of two queues: more than 4 MB */

struct truth {
    uint64_t time, pc;
    uint32_t tid;
    uint32_t number; /* in its queue */
};

struct world {
    struct recording r;
    struct truth *samples[QUEUES];
    size_t count[QUEUES];
};

/* One in `stray` has a time that was long ago; 0: none. */
static void make_world(struct world *w, unsigned seed, unsigned how, unsigned stray)
{
    struct random rng = {seed};
    uint64_t time = 1000;

    memset(w, 0, sizeof(*w));
    recording_open(&w->r, how, QUEUES, NEOVERSE_N1, NULL);
    for (uint32_t t = 1; t <= 20; t++) {
        recording_comm(&w->r, 0, t / 4 * 4 + 1, t, "thread", false);
        recording_map(&w->r, 0, t / 4 * 4 + 1, 0x10000 * t, 0x10000, 0, "/bin/x", NULL, 0);
    }
    for (unsigned q = 0; q < QUEUES; q++)
        w->samples[q] = malloc(SAMPLES * sizeof(struct truth));
    for (unsigned i = 0; i < SAMPLES; i++) {
        unsigned q = random_below(&rng, QUEUES - 1); /* the last has none */
        struct truth *s = &w->samples[q][w->count[q]];

        time += random_below(&rng, 3);
        *s = (struct truth){time, 0x10000 + 4 * random_below(&rng, 0x40000),
                            1 + random_below(&rng, 22), (uint32_t)w->count[q]};
        if (stray && random_below(&rng, stray) == 0)
            s->time -= random_below(&rng, 500);
        w->count[q]++;
        recording_sample(&w->r, q, s->time, s->pc, 0, s->tid);
        if (random_below(&rng, 100) == 0)
            recording_flush(&w->r, q, how & SPE_PERF_PER_THREAD ? ANY : q, ANY,
                            1 + random_below(&rng, (uint32_t)w->r.spe_size[q]));
    }
    for (unsigned q = 0; q < QUEUES; q++) {
        if (w->r.spe_size[q])
            recording_flush(&w->r, q, how & SPE_PERF_PER_THREAD ? ANY : q, ANY, 0);
    }
    recording_finish(&w->r);
}

static void free_world(struct world *w)
{
    for (unsigned q = 0; q < QUEUES; q++)
        free(w->samples[q]);
    recording_free(&w->r);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 29;
}

/* Everything in the rows and counts as one number. */
static uint64_t digest(struct spe_profile *p, size_t *count)
{
    struct spe_rows rows;
    uint64_t hash = 1;

    *count = 0;
    while (spe_profile_next(p, &rows) > 0) {
        for (size_t i = 0; i < rows.count; i++) {
            hash = mix(hash, rows.time_ns[i]);
            hash = mix(hash, rows.pc[i]);
            hash = mix(hash, rows.queues ? rows.queues[i] : rows.queue);
            hash = mix(hash, rows.offset[i]);
            hash = mix(hash, (uint64_t)rows.tid[i] << 32 | rows.pid[i]);
            hash = mix(hash, (uint64_t)rows.map[i] << 32 | rows.thread[i]);
            hash = mix(hash, rows.symbol ? rows.symbol[i] : 0);
            hash = mix(hash, rows.flags[i]);
        }
        *count += rows.count;
    }
    hash = mix(hash, spe_profile_counts(p)->account.record_bytes);
    hash = mix(hash, spe_profile_counts(p)->no_map);
    return mix(hash, spe_profile_counts(p)->context_unknown);
}

static void any_number_of_threads(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, 1, 0, 0);
    for (unsigned order = SPE_ORDER_FAST; order <= SPE_ORDER_TIME; order++) {
        uint64_t first = 0;

        for (unsigned threads = 1; threads <= 8; threads *= 2) {
            struct spe_profile_options options = quiet_options(threads);
            struct spe_profile *p;
            size_t count;
            uint64_t hash;

            options.order = order;
            options.group_rows = 100;
            options.want = SPE_WANT_SYMBOL;
            p = recording_profile(&w.r, &options);
            hash = digest(p, &count);
            assert_int_equal(count, SAMPLES);
            assert_int_equal(spe_profile_counts(p)->rows, SAMPLES);
            assert_int_equal(spe_profile_counts(p)->account.skipped_bytes, 0);
            if (threads == 1)
                first = hash;
            assert_true(hash == first);
            assert_int_equal(spe_profile_rewind(p), SPE_OK);
            assert_true(digest(p, &count) == first);
            spe_profile_close(p);
        }
    }
    free_world(&w);
}

/* Threads 1 to 20 have names, 21 has a map of its own, nobody knows 22. */
static uint32_t pid_of(uint32_t tid)
{
    return tid <= 20 ? tid / 4 * 4 + 1 : tid == 21 ? 21 : SPE_NO_TASK;
}

/* Every sample as it was written. */
static void check_queue_order(struct world *w, unsigned order, unsigned rows)
{
    struct spe_profile_options options = quiet_options(2);
    struct row *row = malloc(SAMPLES * sizeof(*row));
    size_t seen[QUEUES] = {0}, queue = 0;
    struct spe_profile *p;

    options.order = order;
    options.group_rows = rows;
    p = recording_profile(&w->r, &options);
    assert_int_equal(read_rows(p, row, SAMPLES), SAMPLES);
    for (size_t i = 0; i < SAMPLES; i++) {
        uint32_t cpu = row[i].cpu;
        const struct truth *t = &w->samples[cpu][seen[cpu]++];
        bool mapped;

        assert_int_equal(row[i].time, t->time);
        assert_int_equal(row[i].pc, t->pc);
        assert_int_equal(row[i].tid, t->tid);
        assert_int_equal(row[i].pid, pid_of(t->tid));
        if (order == SPE_ORDER_QUEUE) {
            assert_true(row[i].queue >= queue);
            queue = row[i].queue;
        }
        if (order == SPE_ORDER_TIME && i)
            assert_true(row[i].time > row[i - 1].time ||
                        (row[i].time == row[i - 1].time && row[i].queue >= row[i - 1].queue));
        mapped = t->pc >> 16 <= 20 && pid_of((uint32_t)(t->pc >> 16)) == pid_of(t->tid);
        assert_int_equal(row[i].map != SPE_NO_ID, mapped);
        if (mapped)
            assert_int_equal(spe_profile_map(p, row[i].map)->start, t->pc & ~UINT64_C(0xffff));
    }
    spe_profile_close(p);
    free(row);
}

static void all_samples(void **state)
{
    struct world w;

    (void)state;
    make_world(&w, 2, 0, 0);
    for (unsigned order = SPE_ORDER_FAST; order <= SPE_ORDER_TIME; order++) {
        check_queue_order(&w, order, 0);
        check_queue_order(&w, order, 1);
        check_queue_order(&w, order, 37);
    }
    free_world(&w);
}

/* The simple way to order rows by time: again and again the first queue with the least time, which
 * is that of its row or of one before it. */
static void merge(const struct row *in, size_t count, struct row *out)
{
    size_t at[QUEUES + 1] = {0}, end[QUEUES + 1] = {0};
    uint64_t key[QUEUES + 1] = {0};

    for (size_t i = count; i-- > 0;)
        at[in[i].queue] = i;
    for (size_t i = 0; i < count; i++)
        end[in[i].queue] = i + 1;
    for (size_t i = 0; i < count; i++) {
        size_t first = QUEUES;

        for (size_t q = 0; q < QUEUES; q++) {
            if (at[q] == end[q])
                continue;
            key[q] = in[at[q]].time > key[q] ? in[at[q]].time : key[q];
            first = first == QUEUES || key[q] < key[first] ? q : first;
        }
        out[i] = in[at[first]++];
    }
}

static void time_order(void **state)
{
    struct row *row = malloc(3 * SAMPLES * sizeof(*row)), *merged = row + SAMPLES;
    struct row *wanted = merged + SAMPLES;
    struct world w;

    (void)state;
    make_world(&w, 8, 0, 20);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct spe_profile_options options = quiet_options(threads);
        struct spe_profile *p;

        options.order = SPE_ORDER_QUEUE;
        p = recording_profile(&w.r, &options);
        assert_int_equal(read_rows(p, row, SAMPLES), SAMPLES);
        spe_profile_close(p);
        merge(row, SAMPLES, wanted);
        options.order = SPE_ORDER_TIME;
        options.group_rows = 300 * threads;
        p = recording_profile(&w.r, &options);
        assert_int_equal(read_rows(p, merged, SAMPLES), SAMPLES);
        spe_profile_close(p);
        for (size_t i = 0; i < SAMPLES; i++) {
            assert_int_equal(merged[i].queue, wanted[i].queue);
            assert_int_equal(merged[i].time, wanted[i].time);
            assert_int_equal(merged[i].pc, wanted[i].pc);
            assert_int_equal(merged[i].tid, wanted[i].tid);
        }
    }
    free(row);
    free_world(&w);
}

static void check_omitted(const struct spe_rows *rows, unsigned order)
{
    const void *columns[] = {rows->offset,      rows->target,          rows->va,    rows->tag,
                             rows->pa,          rows->previous_target, rows->issue, rows->comm,
                             rows->translation, rows->alt_issue,       rows->cpu,   rows->tid};

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        assert_null(columns[i]);
    if (order == SPE_ORDER_TIME) /* else they are where the rows were made, which needs them */
        assert_true(!rows->timestamp && !rows->source && !rows->context1 && !rows->context2);
}

/* Columns that are left out change nothing in the others; a filter needs them all. */
static void omitted_columns(void **state)
{
    struct row *row = malloc(2 * SAMPLES * sizeof(*row)), *full = row + SAMPLES;
    struct world w;

    (void)state;
    make_world(&w, 9, 0, 0);
    for (unsigned order = SPE_ORDER_FAST; order <= SPE_ORDER_TIME; order++) {
        struct spe_profile_options options = quiet_options(2);
        struct spe_rows rows;
        struct spe_profile *p;

        options.order = order;
        p = recording_profile(&w.r, &options);
        assert_int_equal(read_rows(p, full, SAMPLES), SAMPLES);
        spe_profile_close(p);
        options.omit = ~(unsigned)SPE_OMIT_COMM;
        p = recording_profile(&w.r, &options);
        assert_int_equal(read_rows(p, row, SAMPLES), SAMPLES);
        for (size_t i = 0; i < SAMPLES; i++) {
            assert_int_equal(row[i].time, full[i].time);
            assert_int_equal(row[i].pc, full[i].pc);
            assert_int_equal(row[i].queue, full[i].queue);
            assert_int_equal(row[i].comm, full[i].comm);
            assert_int_equal(row[i].map, full[i].map);
            assert_int_equal(row[i].thread, full[i].thread);
            assert_int_equal(row[i].flags, full[i].flags);
        }
        spe_profile_close(p);
        options.omit = ~0u;
        p = recording_profile(&w.r, &options);
        assert_int_equal(spe_profile_next(p, &rows), 1);
        check_omitted(&rows, order);
        assert_true(rows.pc && rows.time_ns && rows.total && rows.level && rows.pid);
        spe_profile_close(p);
        options.filter = "pc > 0";
        p = recording_profile(&w.r, &options);
        assert_int_equal(spe_profile_next(p, &rows), 1);
        assert_true(rows.va && rows.comm && rows.context2);
        spe_profile_close(p);
    }
    free(row);
    free_world(&w);
}

/* What the cut should leave of a queue, checked against rows in order. */
static size_t cut_of_queue(const struct world *w, uint32_t cpu, uint64_t from, uint64_t to,
                           uint32_t pid, const struct row *row)
{
    size_t count = 0;

    for (size_t i = 0; i < w->count[cpu]; i++) {
        const struct truth *t = &w->samples[cpu][i];

        if (t->time < from || t->time >= to || (t->tid != 5 && t->tid != 6 && t->tid != 21) ||
            (pid && pid_of(t->tid) != pid))
            continue;
        assert_int_equal(row[count].cpu, cpu);
        assert_int_equal(row[count].time, t->time);
        assert_int_equal(row[count].pc, t->pc);
        assert_int_equal(row[count].tid, t->tid);
        count++;
    }
    return count;
}

/* The time of a sample that the cut's list of threads would keep. */
static uint64_t time_of_five(const struct world *w, size_t from)
{
    while (w->samples[0][from].tid != 5)
        from++;
    return w->samples[0][from].time;
}

/* The cut keeps exactly what lies in it; its limits are the times of samples. */
static void cut(void **state)
{
    static const uint32_t cpus[] = {0, 3}, tids[] = {5, 6, 21}, pids[] = {5};
    struct spe_profile_options options = quiet_options(2);
    struct row *row = malloc(SAMPLES * sizeof(*row));
    struct spe_profile *p;
    struct world w;

    (void)state;
    make_world(&w, 3, 0, 0);
    options.order = SPE_ORDER_QUEUE;
    options.time_from = time_of_five(&w, 500);
    options.time_to = time_of_five(&w, 1500);
    options.cpus = cpus;
    options.cpu_count = 2;
    options.tids = tids;
    options.tid_count = 3;
    options.pids = pids;
    for (unsigned by_pid = 0; by_pid < 2; by_pid++) {
        size_t count, wanted = 0;

        options.pid_count = by_pid;
        p = recording_profile(&w.r, &options);
        count = read_rows(p, row, SAMPLES);
        for (unsigned c = 0; c < 2; c++) /* queues come as they appear in the file */
            wanted += cut_of_queue(&w, cpus[row[0].cpu == cpus[0] ? c : 1 - c], options.time_from,
                                   options.time_to, by_pid ? pids[0] : 0, row + wanted);
        assert_int_equal(count, wanted);
        assert_true(count > 50);
        assert_int_equal(spe_profile_counts(p)->cut, SAMPLES - wanted);
        assert_int_equal(spe_profile_counts(p)->account.records, SAMPLES);
        spe_profile_close(p);
    }
    free(row);
    free_world(&w);
}

/* Each cut alone is as in the rows of all, whatever is left out. */
static void cut_omits(void **state)
{
    static const uint32_t cpu = 3, tid = 6, pid = 5;
    struct row *row = malloc(2 * SAMPLES * sizeof(*row)), *all = row + SAMPLES;
    struct spe_profile *p;
    struct world w;

    (void)state;
    make_world(&w, 3, 0, 0);
    for (unsigned which = 0; which < 5; which++) {
        struct spe_profile_options options = quiet_options(1);
        uint64_t middle = time_of_five(&w, 1000);
        size_t count, wanted = 0;

        p = recording_profile(&w.r, &options);
        assert_int_equal(read_rows(p, all, SAMPLES), SAMPLES);
        spe_profile_close(p);
        options.omit = ~0u;
        options.cpus = which == 0 ? &cpu : NULL;
        options.pids = which == 1 ? &pid : NULL;
        options.tids = which == 2 ? &tid : NULL;
        options.cpu_count = options.pid_count = options.tid_count = 1;
        options.time_from = which == 3 ? middle : 0;
        options.time_to = which == 4 ? middle : 0;
        p = recording_profile(&w.r, &options);
        count = read_rows(p, row, SAMPLES);
        for (size_t i = 0; i < SAMPLES; i++) {
            bool in = which == 0   ? all[i].cpu == cpu
                      : which == 1 ? all[i].pid == pid
                      : which == 2 ? all[i].tid == tid
                      : which == 3 ? all[i].time >= middle
                                   : all[i].time < middle;

            if (!in)
                continue;
            assert_true(wanted < count);
            assert_int_equal(row[wanted].pc, all[i].pc);
            wanted++;
        }
        assert_int_equal(count, wanted);
        assert_true(count > 50);
        spe_profile_close(p);
    }
    free(row);
    free_world(&w);
}

/* Readers that share the queues have together what one has, in every order and after a rewind. */
static void chosen_queues(void **state)
{
    static const uint32_t parts[2][5] = {{0, 2, 4, 6, 9999}, {5, 3, 1, 5, 1}};
    struct row *row = malloc(2 * SAMPLES * sizeof(*row)), *all = row + SAMPLES;
    struct world w;

    (void)state;
    make_world(&w, 3, 0, 0);
    for (unsigned order = SPE_ORDER_FAST; order <= SPE_ORDER_TIME; order++) {
        struct spe_profile_options options = quiet_options(2);
        struct spe_profile *p;
        size_t together = 0;

        options.order = order;
        p = recording_profile(&w.r, &options);
        assert_int_equal(read_rows(p, all, SAMPLES), SAMPLES);
        assert_int_equal(spe_profile_info(p)->queue_count, 7);
        spe_profile_close(p);
        for (unsigned part = 0; part < 2; part++) {
            size_t count = 0, wanted = 0;

            options.queues = parts[part];
            options.queue_count = 5;
            p = recording_profile(&w.r, &options);
            for (unsigned turn = 0; turn < 2; turn++, assert_int_equal(spe_profile_rewind(p), 0))
                count = read_rows(p, row, SAMPLES);
            for (size_t i = 0; order != SPE_ORDER_FAST && i < SAMPLES; i++) {
                if (all[i].queue % 2 != part)
                    continue;
                assert_int_equal(row[wanted].queue, all[i].queue);
                assert_int_equal(row[wanted++].pc, all[i].pc);
            }
            assert_int_equal(order == SPE_ORDER_FAST ? count : wanted, count);
            together += count;
            spe_profile_close(p);
        }
        assert_int_equal(together, SAMPLES);
    }
    free(row);
    free_world(&w);
}

/* A gap in a buffer: what is behind it is found again, and nothing is put together across it. */
static void gap(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_perf_auxtrace piece = {.idx = 0, .cpu = 0, .tid = ANY};
    const struct spe_account *a;
    struct spe_profile *p;
    struct spe_rows rows;
    struct recording r;
    size_t size;

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    for (uint64_t i = 0; i < 20; i++)
        recording_sample(&r, 0, 1000 + i, 0x1000 + 4 * i, 0, 5);
    size = r.spe_size[0] / 20;
    assert_int_equal(spe_perf_writer_aux(r.writer, &piece, r.spe[0], 5 * size + 10), SPE_OK);
    piece.offset = 10 * size + 10; /* five records are missing */
    assert_int_equal(spe_perf_writer_aux(r.writer, &piece, r.spe[0] + piece.offset, 10 * size - 10),
                     SPE_OK);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(spe_profile_next(p, &rows), 1);
    a = &spe_profile_counts(p)->account;
    assert_in_range(rows.count, 5 + 8, 5 + 9);
    for (size_t i = 0; i < rows.count; i++) {
        size_t sample = i < 5 ? i : 20 - (rows.count - i);

        assert_int_equal(rows.time_ns[i], 1000 + sample);
        assert_int_equal(rows.pc[i], 0x1000 + 4 * sample);
        if (i)
            assert_true(rows.offset[i] > rows.offset[i - 1]);
    }
    assert_true(a->skipped_by[SPE_SKIP_TRUNCATED] > 0);
    assert_true(a->skipped_by[SPE_SKIP_UNSYNCED] > 0);
    assert_int_equal(a->bytes, a->record_bytes + a->padding_bytes + a->skipped_bytes);
    spe_profile_close(p);
    recording_free(&r);
}

/* Cut off anywhere, the file is read as far as it goes; and bytes add up. */
static void truncated(void **state)
{
    struct world w;
    size_t last = 0;

    (void)state;
    make_world(&w, 4, 0, 0);
    for (size_t size = 0; size <= w.r.size; size += size < 4000 ? 101 : 40009) {
        struct spe_profile_options options = quiet_options(2);
        uint8_t *copy = malloc(size ? size : 1);
        struct spe_profile_error error;
        struct spe_profile *p;
        const struct spe_account *a;
        size_t count;

        memcpy(copy, w.r.bytes, size);
        if (size >= 8 && spe_profile_open_memory(&p, copy, size, &options, &error) == SPE_OK) {
            digest(p, &count);
            a = &spe_profile_counts(p)->account;
            assert_int_equal(a->bytes, a->record_bytes + a->padding_bytes + a->skipped_bytes);
            assert_int_equal(a->bytes, spe_profile_info(p)->aux_bytes);
            assert_true(count >= last || count + 100 > last);
            last = count;
            spe_profile_close(p);
        }
        free(copy);
    }
    assert_true(last > SAMPLES / 2);
    free_world(&w);
}

/* Random bytes changed: an answer or an error, the same for one thread and for three. */
static void damaged(void **state)
{
    struct random rng = {5};
    struct world w;
    uint8_t *copy;

    (void)state;
    make_world(&w, 5, 0, 0);
    copy = malloc(w.r.size);
    for (int i = 0; i < 60; i++) {
        uint64_t hash[2] = {0, 0};

        memcpy(copy, w.r.bytes, w.r.size);
        for (int j = 0; j < 20; j++)
            copy[random_below(&rng, (uint32_t)(i % 2 ? w.r.size : 8192))] =
                (uint8_t)random_next(&rng);
        for (int j = 0; j < 2; j++) {
            struct spe_profile_options options = quiet_options(j ? 3 : 1);
            struct spe_profile *p;
            size_t count;

            options.order = (unsigned)i % 3;
            if (spe_profile_open_memory(&p, copy, w.r.size, &options, NULL) < 0)
                continue;
            hash[j] = digest(p, &count);
            spe_profile_close(p);
        }
        assert_true(hash[0] == hash[1]);
    }
    free(copy);
    free_world(&w);
}

/* Raw SPE bytes: no time, no threads but what CONTEXT says, the CPU by option. */
static void raw_bytes(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_profile_error error;
    struct spe_profile *p;
    struct spe_rows rows;
    struct recording r = {0};
    struct spe_record s = {.has = SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_SOURCE,
                           .source = 0xe,
                           .source_size = 1,
                           .op_class = SPE_CLASS_LDST};

    (void)state;
    sample_bytes(&r, 0, &s);
    s.has &= ~(uint32_t)SPE_HAS_SOURCE;
    sample_bytes(&r, 0, &s);
    recording_sample(&r, 0, 77, 0x1234, 0, 5);
    options.cpu = "neoverse-n1";
    assert_int_equal(spe_profile_open_memory(&p, r.spe[0], r.spe_size[0], &options, &error),
                     SPE_OK);
    assert_true(spe_profile_info(p)->raw);
    assert_string_equal(spe_profile_info(p)->cpu->name, "neoverse-n1");
    assert_int_equal(spe_profile_next(p, &rows), 1);
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.level[0], SPE_LEVEL_DRAM);
    assert_int_equal(rows.level[1], SPE_LEVEL_UNKNOWN);
    assert_int_equal(rows.tid[2], 5);
    assert_int_equal(rows.timestamp[2], 77);
    assert_int_equal(rows.time_ns[2], 0);
    assert_int_equal(rows.map[2], SPE_NO_ID);
    assert_int_equal(spe_profile_next(p, &rows), 0);
    assert_int_equal(spe_profile_next(p, &rows), 0);
    spe_profile_close(p);
    options.cpu = "0x413fd0c1";
    assert_int_equal(spe_profile_open_memory(&p, r.spe[0], r.spe_size[0], &options, &error),
                     SPE_OK);
    spe_profile_close(p);
    options.cpu = "frog";
    assert_int_equal(spe_profile_open_memory(&p, r.spe[0], r.spe_size[0], &options, &error),
                     SPE_ERR_UNKNOWN);
    assert_non_null(strstr(error.text, "frog"));
    free(r.spe[0]);
}

/* Files, and paths that are not files. */
static void paths(void **state)
{
    char path[] = "/tmp/spe-rows-XXXXXX", command[128];
    struct spe_profile_options options = quiet_options(2);
    struct spe_profile_error error;
    struct spe_profile *p;
    struct world w;
    size_t count;
    uint64_t hash;
    int fd = mkstemp(path), saved;

    (void)state;
    make_world(&w, 6, 0, 0);
    assert_true(write(fd, w.r.bytes, w.r.size) == (ssize_t)w.r.size);
    p = recording_profile(&w.r, &options);
    hash = digest(p, &count);
    spe_profile_close(p);
    assert_int_equal(spe_profile_open(&p, path, &options, &error), SPE_OK);
    assert_int_equal(spe_profile_info(p)->bytes, w.r.size);
    assert_int_equal(spe_profile_info(p)->period, 4096);
    assert_true(digest(p, &count) == hash);
    spe_profile_close(p);
    /* Standard input that is a pipe. */
    snprintf(command, sizeof(command), "cat %s", path);
    {
        FILE *pipe = popen(command, "r");

        saved = dup(STDIN_FILENO);
        dup2(fileno(pipe), STDIN_FILENO);
        assert_int_equal(spe_profile_open(&p, "-", &options, &error), SPE_OK);
        dup2(saved, STDIN_FILENO);
        close(saved);
        pclose(pipe);
    }
    assert_true(digest(p, &count) == hash);
    spe_profile_close(p);
    unlink(path);
    close(fd);
    assert_int_equal(spe_profile_open(&p, path, &options, &error), SPE_ERR_IO);
    assert_string_equal(error.text, strerror(ENOENT));
    free_world(&w);
}

/* A file of more bytes than are read at once, in pieces of which some are as well. */
static void make_long(struct recording *r, uint8_t **raw, size_t *raw_size)
{
    struct random rng = {9};

    recording_open(r, 0, 2, NEOVERSE_N1, NULL);
    recording_comm(r, 0, 1, 1, "one", false);
    recording_map(r, 0, 1, 0x10000, 0x10000, 0, "/bin/x", NULL, 0);
    for (unsigned i = 0; i < 2 * LONG_SAMPLES; i++)
        recording_sample(r, i % 2, 1000 + i, 0x10000 + random_below(&rng, 0x18000), 0,
                         random_chance(&rng, 90) ? 1 : NO_CONTEXT);
    *raw_size = r->spe_size[0];
    *raw = malloc(*raw_size);
    assert_true(*raw && *raw_size > (size_t)4 << 20);
    memcpy(*raw, r->spe[0], *raw_size);
    recording_flush(r, 0, 0, ANY, 0);
    while (r->spe_size[1])
        recording_flush(r, 1, 1, ANY, 1 + random_below(&rng, 300000));
    recording_finish(r);
}

static uint64_t digest_file(const char *path, struct spe_profile_options options, bool map)
{
    struct spe_profile *p;
    size_t count;
    uint64_t hash;

    options.map = map;
    assert_int_equal(spe_profile_open(&p, path, &options, NULL), SPE_OK);
    assert_int_equal(p->in_place, map);
    hash = digest(p, &count);
    assert_int_equal(count, options.raw ? LONG_SAMPLES : 2 * LONG_SAMPLES);
    assert_int_equal(spe_profile_rewind(p), SPE_OK); /* pages that were done with come again */
    assert_true(digest(p, &count) == hash);
    spe_profile_close(p);
    return hash;
}

static void compare_ways_to_read(const uint8_t *bytes, size_t size, bool raw)
{
    char path[] = "/tmp/spe-rows-XXXXXX";
    int fd = mkstemp(path);

    assert_true(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    for (unsigned order = SPE_ORDER_FAST; order <= SPE_ORDER_TIME; order++) {
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            struct spe_profile_options options = quiet_options(threads);
            struct spe_profile *p;
            size_t count;
            uint64_t hash;

            options.order = order;
            options.raw = raw;
            assert_int_equal(spe_profile_open_memory(&p, bytes, size, &options, NULL), SPE_OK);
            hash = digest(p, &count);
            spe_profile_close(p);
            assert_true(digest_file(path, options, false) == hash);
            assert_true(digest_file(path, options, true) == hash);
        }
    }
    unlink(path);
}

/* In memory, read and mapped: the same rows, the second time as well. */
static void ways_to_read(void **state)
{
    struct recording r;
    uint8_t *raw;
    size_t raw_size;

    (void)state;
    make_long(&r, &raw, &raw_size);
    compare_ways_to_read(r.bytes, r.size, false);
    compare_ways_to_read(raw, raw_size, true);
    free(raw);
    recording_free(&r);
}

/* Closed in the middle, and opened with options that make no sense. */
static void odd_ends(void **state)
{
    struct spe_profile_options options = quiet_options(4);
    struct spe_profile_error error;
    struct spe_profile *p;
    struct spe_rows rows;
    struct world w;

    (void)state;
    make_world(&w, 7, 0, 0);
    for (unsigned order = SPE_ORDER_FAST; order <= SPE_ORDER_TIME; order++) {
        options.order = order;
        p = recording_profile(&w.r, &options);
        spe_profile_close(p);
        p = recording_profile(&w.r, &options);
        assert_int_equal(spe_profile_next(p, &rows), 1);
        spe_profile_close(p);
    }
    options.order = 9;
    assert_int_equal(spe_profile_open_memory(&p, "", 0, &options, &error), SPE_ERR_INVALID);
    options.order = 0;
    options.size = 1;
    assert_int_equal(spe_profile_open_memory(&p, "", 0, &options, &error), SPE_ERR_INVALID);
    options = (struct spe_profile_options)SPE_PROFILE_OPTIONS;
    assert_int_equal(spe_profile_open_memory(&p, "", 0, NULL, NULL), SPE_ERR_FORMAT);
    options.raw = true;
    assert_int_equal(spe_profile_open_memory(&p, "", 0, &options, NULL), SPE_OK);
    assert_int_equal(spe_profile_next(p, &rows), 0);
    spe_profile_close(p);
    spe_profile_close(NULL);
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(all_samples),
        cmocka_unit_test(time_order),
        cmocka_unit_test(omitted_columns),
        cmocka_unit_test(cut),
        cmocka_unit_test(cut_omits),
        cmocka_unit_test(chosen_queues),
        cmocka_unit_test(truncated),
        cmocka_unit_test(damaged),
        cmocka_unit_test(raw_bytes),
        cmocka_unit_test(paths),
        cmocka_unit_test(ways_to_read),
        cmocka_unit_test(odd_ends),
        cmocka_unit_test(gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
