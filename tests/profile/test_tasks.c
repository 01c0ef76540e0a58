/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Who a sample is of, and what was mapped where it was, when. */
#include "support/profile_recording.h"

#include <stdio.h>

static void check_row(struct spe_profile *p, const struct row *row, uint32_t pid, uint32_t tid,
                      const char *comm, const char *path)
{
    assert_int_equal(row->pid, pid);
    assert_int_equal(row->tid, tid);
    assert_string_equal(spe_profile_string(p, row->comm), comm);
    assert_string_equal(path_of(p, row->map), path);
}

/* One CPU; a process forks, the child execs; both have other files at one address. */
static void fork_and_exec(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[16];

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 100, 100, "shell", false);
    recording_map(&r, 0, 100, 0x400000, 0x10000, 0, "/bin/shell", NULL, 0);
    recording_fork(&r, 2000, 101, 101, 100, 100);
    recording_map(&r, 2500, 101, 0x900000, 0x1000, 0, "/lib/plugin", NULL, 0);
    recording_comm(&r, 3000, 101, 101, "worker", true);
    recording_map(&r, 3100, 101, 0x400000, 0x4000, 0, "/bin/worker", NULL, 0);
    recording_sample(&r, 0, 1000, 0x400100, 0, 100);
    recording_sample(&r, 0, 2100, 0x400100, 0, 101);
    recording_sample(&r, 0, 2400, 0x900100, 0, 101); /* not mapped yet */
    recording_sample(&r, 0, 2600, 0x900100, 0, 101);
    recording_sample(&r, 0, 2700, 0x900100, 0, 100); /* the child's alone */
    recording_sample(&r, 0, 3050, 0x400100, 0, 101); /* exec took all maps */
    recording_sample(&r, 0, 3200, 0x400100, 0, 101);
    recording_sample(&r, 0, 3300, 0x404100, 0, 101); /* behind the new map */
    recording_sample(&r, 0, 3400, 0x404100, 0, 100);
    recording_sample(&r, 0, 3500, 0x400100, 0, 777); /* nobody knows it */
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 16), 10);
    check_row(p, &row[0], 100, 100, "shell", "/bin/shell");
    check_row(p, &row[1], 101, 101, "shell", "/bin/shell");
    check_row(p, &row[2], 101, 101, "shell", "");
    check_row(p, &row[3], 101, 101, "shell", "/lib/plugin");
    check_row(p, &row[4], 100, 100, "shell", "");
    check_row(p, &row[5], 101, 101, "worker", "");
    check_row(p, &row[6], 101, 101, "worker", "/bin/worker");
    check_row(p, &row[7], 101, 101, "worker", "");
    check_row(p, &row[8], 100, 100, "shell", "/bin/shell");
    check_row(p, &row[9], SPE_NO_TASK, 777, "", "");
    assert_int_equal(spe_profile_counts(p)->context_unknown, 1);
    assert_int_equal(spe_profile_counts(p)->by_context, 10);
    assert_int_equal(spe_profile_counts(p)->no_map, 5);
    assert_int_equal(row[0].time, 1000);
    spe_profile_close(p);
    recording_free(&r);
}

/* Maps and forks of one moment, as perf makes them at the beginning: order alone decides. */
static void fork_at_once(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[8];

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 100, 100, "parent", false);
    recording_map(&r, 0, 100, 0x1000, 0x1000, 0, "/both", NULL, 0);
    recording_fork(&r, 0, 101, 101, 100, 100);
    recording_map(&r, 0, 100, 0x1800, 0x800, 0, "/parent", NULL, 0);
    recording_map(&r, 0, 101, 0x3000, 0x1000, 0, "/child", NULL, 0);
    for (uint32_t tid = 100; tid <= 101; tid++) {
        recording_sample(&r, 0, 10, 0x1100, 0, tid);
        recording_sample(&r, 0, 10, 0x1900, 0, tid);
        recording_sample(&r, 0, 10, 0x3100, 0, tid);
    }
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 8), 6);
    check_row(p, &row[0], 100, 100, "parent", "/both");
    check_row(p, &row[1], 100, 100, "parent", "/parent");
    check_row(p, &row[2], 100, 100, "parent", "");
    check_row(p, &row[3], 101, 101, "parent", "/both");
    check_row(p, &row[4], 101, 101, "parent", "/both");
    check_row(p, &row[5], 101, 101, "parent", "/child");
    spe_profile_close(p);
    recording_free(&r);
}

/* A map over the middle of another, and another over both their ends. */
static void overlapping_maps(void **state)
{
    static const struct {
        uint64_t time, pc;
        const char *path;
    } want[] = {
        {150, 0x1000, "/a"}, {150, 0x4fff, "/a"}, {250, 0x1fff, "/a"}, {250, 0x2000, "/b"},
        {250, 0x2fff, "/b"}, {250, 0x3000, "/a"}, {250, 0x5000, ""},   {350, 0x17ff, "/a"},
        {350, 0x1800, "/c"}, {350, 0x27ff, "/c"}, {350, 0x2800, "/b"}, {350, 0x3000, "/a"},
    };
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[16];
    size_t count = sizeof(want) / sizeof(want[0]);

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 5, 5, "x", false);
    /* Order in the file is not order in time. */
    recording_map(&r, 300, 5, 0x1800, 0x1000, 0, "/c", NULL, 0);
    recording_map(&r, 100, 5, 0x1000, 0x4000, 0, "/a", NULL, 0);
    recording_map(&r, 200, 5, 0x2000, 0x1000, 0, "/b", NULL, 0);
    for (size_t i = 0; i < count; i++)
        recording_sample(&r, 0, want[i].time, want[i].pc, 0, 5);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 16), count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(path_of(p, row[i].map), want[i].path))
            fail_msg("row %zu: %s, not %s", i, path_of(p, row[i].map), want[i].path);
    }
    spe_profile_close(p);
    recording_free(&r);
}

/* Without CONTEXT: by SWITCH records, of both kinds, and by the buffer before anything is known. */
static void threads_by_switch(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[16];

    (void)state;
    options.order = SPE_ORDER_QUEUE;
    recording_open(&r, 0, 3, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 10, 10, "ten", false);
    recording_comm(&r, 0, 20, 20, "twenty", false);
    recording_fork(&r, 0, 20, 21, 20, 20);
    recording_switch(&r, 1000, 0, 10, 10, true, 21); /* CPU 0: 10 goes, 21 comes */
    recording_switch(&r, 2000, 0, 21, 21, true, 0);  /* idle */
    recording_switch(&r, 3000, 1, 20, 20, false, -1);
    recording_switch(&r, 4000, 1, 20, 20, true, -1);
    recording_sample(&r, 0, 500, 0x1000, 0, NO_CONTEXT);
    recording_sample(&r, 0, 1000, 0x1000, 0, NO_CONTEXT);
    recording_sample(&r, 0, 1999, 0x1000, 0, NO_CONTEXT);
    recording_sample(&r, 0, 2500, 0x1000, 1, NO_CONTEXT);
    recording_sample(&r, 0, 700, 0x1000, 0, NO_CONTEXT); /* time may go back */
    recording_flush(&r, 0, 0, ANY, 0);
    recording_sample(&r, 1, 2900, 0x1000, 0, NO_CONTEXT);
    recording_sample(&r, 1, 3500, 0x1000, 0, NO_CONTEXT);
    recording_flush(&r, 1, 1, 10, 0);
    recording_sample(&r, 2, 3500, 0x1000, 0, NO_CONTEXT);
    recording_flush(&r, 2, 2, ANY, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 16), 8);
    check_row(p, &row[0], 10, 10, "ten", "");
    check_row(p, &row[1], 20, 21, "twenty", "");
    check_row(p, &row[2], 20, 21, "twenty", "");
    check_row(p, &row[3], 0, 0, "swapper", "");
    check_row(p, &row[4], 10, 10, "ten", "");
    check_row(p, &row[5], 10, 10, "ten", ""); /* by the buffer */
    check_row(p, &row[6], 20, 20, "twenty", "");
    check_row(p, &row[7], SPE_NO_TASK, SPE_NO_TASK, "", "");
    assert_int_equal(spe_profile_counts(p)->by_switch, 6);
    assert_int_equal(spe_profile_counts(p)->by_buffer, 1);
    assert_int_equal(spe_profile_counts(p)->by_nothing, 1);
    assert_non_null(strstr(spe_profile_warning(p, 0), "CONTEXT"));
    spe_profile_close(p);
    recording_free(&r);
}

/* A thread that migrates; CONTEXT and SWITCH that contradict each other are reported. */
static void context_first(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[16];

    (void)state;
    options.order = SPE_ORDER_TIME;
    recording_open(&r, 0, 2, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 10, 10, "ten", false);
    recording_comm(&r, 0, 20, 20, "twenty", false);
    recording_comm(&r, 2000, 10, 10, "renamed", false);
    recording_switch(&r, 1000, 0, 10, 10, true, 20);
    recording_sample(&r, 0, 900, 0x1000, 0, 10);
    recording_sample(&r, 0, 1500, 0x1000, 0, 10); /* SWITCH says 20 */
    recording_sample(&r, 1, 1700, 0x1000, 0, 10);
    recording_sample(&r, 1, 2300, 0x1000, 0, 10);
    recording_sample(&r, 0, 2100, 0x1000, 0, 20);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_flush(&r, 1, 1, ANY, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 16), 5);
    check_row(p, &row[0], 10, 10, "ten", "");
    check_row(p, &row[1], 10, 10, "ten", "");
    check_row(p, &row[2], 10, 10, "ten", "");
    check_row(p, &row[3], 20, 20, "twenty", "");
    check_row(p, &row[4], 10, 10, "renamed", "");
    assert_int_equal(row[2].cpu, 1);
    assert_int_equal(row[3].cpu, 0);
    assert_int_equal(row[1].flags & SPE_ROW_MISMATCH, SPE_ROW_MISMATCH);
    assert_int_equal(row[0].flags & SPE_ROW_MISMATCH, 0);
    assert_int_equal(spe_profile_counts(p)->context_mismatch, 1);
    spe_profile_close(p);
    recording_free(&r);
}

/* On a host with VHE the packet is that of CONTEXTIDR_EL2. */
static void context_of_el2(void **state)
{
    struct spe_record s = {.has = SPE_HAS_OP | SPE_HAS_TIMESTAMP | SPE_HAS_CONTEXT1 |
                                  SPE_HAS_CONTEXT2 | SPE_HAS_EVENTS,
                           .timestamp = 5,
                           .context = {44, 10}};
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[4];

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 10, 10, "ten", false);
    sample_bytes(&r, 0, &s);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 4), 1);
    check_row(p, &row[0], 10, 10, "ten", "");
    assert_int_equal(row[0].el, SPE_NO_EL);
    spe_profile_close(p);
    recording_free(&r);
}

/* A tid that comes back is another thread. */
static void tid_again(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[4];

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 1, 1, "one", false);
    recording_comm(&r, 0, 2, 2, "two", false);
    recording_fork(&r, 100, 1, 50, 1, 1);
    recording_fork(&r, 200, 2, 50, 2, 2);
    recording_sample(&r, 0, 150, 0x1000, 0, 50);
    recording_sample(&r, 0, 250, 0x1000, 0, 50);
    recording_sample(&r, 0, 160, 0x1000, 0, 50); /* time may go back */
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 4), 3);
    check_row(p, &row[0], 1, 50, "one", "");
    check_row(p, &row[1], 2, 50, "two", "");
    check_row(p, &row[2], 1, 50, "one", "");
    assert_true(row[0].thread != row[1].thread);
    assert_int_equal(spe_profile_thread(p, row[1].thread)->start_ns, 200);
    spe_profile_close(p);
    recording_free(&r);
}

/* Without time, what comes before a buffer in the file counts for it. */
static void timeless(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[4];

    (void)state;
    recording_open(&r, SPE_PERF_PER_THREAD | SPE_PERF_TIMELESS, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 9, 9, "before", false);
    recording_map(&r, 0, 9, 0x1000, 0x1000, 0, "/old", NULL, 0);
    recording_sample(&r, 0, NO_TIME, 0x1100, 0, NO_CONTEXT);
    recording_flush(&r, 0, ANY, 9, 0);
    recording_comm(&r, 0, 9, 9, "after", true);
    recording_map(&r, 0, 9, 0x1000, 0x1000, 0, "/new", NULL, 0);
    recording_sample(&r, 0, NO_TIME, 0x1100, 0, NO_CONTEXT);
    recording_sample(&r, 0, 12345, 0x1100, 0, 9);
    recording_flush(&r, 0, ANY, 9, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_false(spe_profile_info(p)->timed);
    assert_true(spe_profile_info(p)->per_thread);
    assert_int_equal(read_rows(p, row, 4), 3);
    check_row(p, &row[0], 9, 9, "before", "/old");
    check_row(p, &row[1], 9, 9, "after", "/new");
    check_row(p, &row[2], 9, 9, "after", "/new");
    assert_int_equal(row[2].time, 0);
    assert_int_equal(row[0].cpu, SPE_NO_CPU);
    assert_int_equal(spe_profile_counts(p)->by_buffer, 2);
    spe_profile_close(p);
    recording_free(&r);
}

/* Records without a timestamp have the time of the one before; before any, how it was at last. */
static void some_without_time(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[4];

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 9, 9, "first", false);
    recording_comm(&r, 500, 9, 9, "second", false);
    recording_sample(&r, 0, NO_TIME, 0x1100, 0, 9);
    recording_sample(&r, 0, 300, 0x1100, 0, 9);
    recording_sample(&r, 0, NO_TIME, 0x1100, 0, 9);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 4), 3);
    check_row(p, &row[0], 9, 9, "second", "");
    check_row(p, &row[1], 9, 9, "first", "");
    check_row(p, &row[2], 9, 9, "first", "");
    assert_int_equal(row[2].time, 300);
    assert_int_equal(row[2].flags & SPE_ROW_TIMESTAMP, 0);
    assert_int_equal(spe_profile_counts(p)->without_time, 2);
    spe_profile_close(p);
    recording_free(&r);
}

/* Kernel addresses are looked up in kernel maps, whoever runs; EL1 in the lower half nowhere. */
static void kernel_maps(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct recording r;
    struct spe_profile *p;
    struct row row[8];
    struct spe_perf_record ksymbol = {
        .type = SPE_PERF_KSYMBOL,
        .ksymbol = {UINT64_C(0xffff800010900000), 0x100, 1, 0, "bpf_prog_1"}};

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 9, 9, "x", false);
    recording_map(&r, 0, 9, 0x1000, 0x1000, 0, "/user", NULL, 0);
    recording_map(&r, 0, ANY, UINT64_C(0xffff800010000000), 0x800000, UINT64_C(0xffff800010000000),
                  "[kernel.kallsyms]_text", NULL, 0);
    recording_add(&r, &ksymbol, 400, 0, 0, 0);
    recording_sample(&r, 0, 300, UINT64_C(0xffff800010000010), 1, 9);
    recording_sample(&r, 0, 300, UINT64_C(0xffff800010000010), 2, 9);
    recording_sample(&r, 0, 300, 0x1100, 1, 9);
    recording_sample(&r, 0, 300, UINT64_C(0xffff800010900010), 2, 9);
    recording_sample(&r, 0, 500, UINT64_C(0xffff800010900010), 2, 9);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    options.want = SPE_WANT_SYMBOL;
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 8), 5);
    assert_true(row[0].pc == UINT64_C(0xffff800010000010));
    assert_int_equal(row[1].el, 2);
    check_row(p, &row[0], 9, 9, "x", "[kernel.kallsyms]");
    check_row(p, &row[1], 9, 9, "x", "[kernel.kallsyms]");
    check_row(p, &row[2], 9, 9, "x", "");
    check_row(p, &row[3], 9, 9, "x", "");
    check_row(p, &row[4], 9, 9, "x", "bpf_prog_1");
    assert_true(row[4].symbol != SPE_NO_SYMBOL);
    spe_profile_close(p);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork_and_exec),     cmocka_unit_test(overlapping_maps),
        cmocka_unit_test(threads_by_switch), cmocka_unit_test(context_first),
        cmocka_unit_test(context_of_el2),    cmocka_unit_test(tid_again),
        cmocka_unit_test(timeless),          cmocka_unit_test(some_without_time),
        cmocka_unit_test(kernel_maps),       cmocka_unit_test(fork_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
