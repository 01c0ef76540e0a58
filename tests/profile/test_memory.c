/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A recording of 240 MB in 24 queues is read in less than 100 MB, in every order, lines apart: what
 * is held does not grow with the file. If it is mapped, the pages that a queue has in use count
 * too.
 */
#include "gen/state.h"
#include "support/profile_recording.h"
#include "support/sanitized.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <specimen/gen.h>

#define QUEUES 24
#define LIMIT_KB 100000

#ifdef SANITIZED
#define PIECE ((size_t)1 << 20)
#define PIECES 1
#else
#define PIECE ((size_t)5 << 20) /* which is not read at once */
#define PIECES 2                /* of each queue */
#endif

static char path[] = "/tmp/spe-memory-XXXXXX";
static uint64_t samples;

static void fill_piece(struct spe_gen *gen, uint8_t *bytes, size_t *size)
{
    struct spe_record record;

    *size = 0;
    while (*size + 256 < PIECE) {
        int n;

        spe_gen_next(gen, &record);
        n = spe_record_encode(&record, spe_layout_by_name("neoverse-n1"), bytes + *size,
                              PIECE - *size);
        assert_true(n > 0);
        *size += (size_t)n;
        samples++;
    }
}

static void make_file(void)
{
    static const uint64_t id = 11;
    struct spe_perf_time_conv conv = {0};
    struct spe_perf_cpu cpus[QUEUES];
    struct spe_perf_metadata metadata = {.version = 2, .pmu_type = 8, .cpus = cpus};
    struct spe_perf_start start = {sizeof(start), &conv, &metadata, NULL, 0};
    struct spe_perf_event event;
    struct spe_perf_writer *writer;
    struct spe_gen_config config;
    struct spe_gen *gen = malloc(QUEUES * sizeof(*gen));
    uint8_t *bytes = malloc(PIECE);

    assert_true(gen && bytes);
    spe_perf_time_from_hz(&conv, 1000000000);
    spe_gen_config_init(&config);
    config.layout = spe_layout_by_name("neoverse-n1");
    for (unsigned i = 0; i < QUEUES; i++) {
        cpus[i] = (struct spe_perf_cpu){.cpu = i, .pmu_type = 8, .midr = NEOVERSE_N1};
        config.seed = i + 1;
        assert_int_equal(spe_gen_init(&gen[i], &config, NULL, 0), SPE_OK);
    }
    metadata.cpu_count = QUEUES;
    spe_perf_event_init_spe(&event, 8, 0);
    event.ids = &id;
    event.id_count = 1;
    assert_int_equal(spe_perf_writer_open(&writer, path, 0, NULL), SPE_OK);
    assert_int_equal(spe_perf_writer_event(writer, &event), 0);
    assert_int_equal(spe_perf_writer_begin(writer, &start), SPE_OK);
    for (unsigned i = 0; i < PIECES * QUEUES; i++) {
        struct spe_perf_auxtrace piece = {.offset = SPE_PERF_OFFSET_NEXT,
                                          .idx = i % QUEUES,
                                          .cpu = i % QUEUES,
                                          .tid = UINT32_MAX};
        size_t size;

        fill_piece(&gen[i % QUEUES], bytes, &size);
        assert_int_equal(spe_perf_writer_aux(writer, &piece, bytes, size), SPE_OK);
    }
    assert_int_equal(spe_perf_writer_finish(writer), SPE_OK);
    spe_perf_writer_close(writer);
    free(gen);
    free(bytes);
}

/* The number of samples; near it, if headers of the file are read as if they were samples. */
static bool right_count(uint64_t count, bool raw)
{
    uint64_t distance = count < samples ? samples - count : count - samples;

    return distance <= (raw ? samples / 100 : 0);
}

/* In a process of its own: the most that it ever had, and whether it read everything. */
static void read_file(unsigned order, bool map, bool raw)
{
    int status;
    struct rusage usage;
    pid_t child;

    child = fork();
    if (!child) {
        struct spe_profile_options options = quiet_options(4);
        struct spe_profile *p;
        struct spe_rows rows;
        uint64_t count = 0;

        options.order = order;
        options.map = map;
        options.raw = raw;
        options.filter = "total > 0 or not total";
        if (spe_profile_open(&p, path, &options, NULL) < 0)
            _exit(1);
        while (spe_profile_next(p, &rows) > 0)
            count += rows.count;
        spe_profile_close(p);
        _exit(!right_count(count, raw));
    }
    assert_true(wait4(child, &status, 0, &usage) == child);
    assert_int_equal(status, 0);
#ifndef SANITIZED
    if (usage.ru_maxrss > LIMIT_KB)
        fail_msg("order %u, map %d, raw %d: %ld KB", order, map, raw, usage.ru_maxrss);
#endif
}

static void bounded(void **state)
{
    (void)state;
    for (unsigned order = SPE_ORDER_FAST; order <= SPE_ORDER_TIME; order++) {
        read_file(order, false, false);
        read_file(order, true, false);
    }
}

/* The file as if it were the bytes of one buffer. */
static void bounded_raw(void **state)
{
    (void)state;
    read_file(SPE_ORDER_QUEUE, false, true);
    read_file(SPE_ORDER_QUEUE, true, true);
}

static int set_up(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    make_file();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded),
        cmocka_unit_test(bounded_raw),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
