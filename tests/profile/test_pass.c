/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Rows of some code only: those that are needed are the same as when all rows are made, and what is
 * counted of threads is, too.
 */
#include "profile/profile_internal.h"
#include "support/profile_recording.h"
#include "support/random.h"

#define QUEUES 4
#define SAMPLES 40000
#define PAGES 64 /* of code */

enum { SWITCHES = 1, CONTEXTS = 2, GAPS = 4 };

static uint64_t page(unsigned i)
{
    return 0x400000 + 0x1000 * (uint64_t)i;
}

/* Threads take turns on CPUs. What tells whose turn it is: SWITCH records, contexts, or both, which
 * then sometimes contradict each other; and some records have no timestamp. */
static void make_recording(struct recording *r, unsigned seed, unsigned what)
{
    struct random rng = {seed};
    uint32_t running[QUEUES] = {0};
    uint64_t time = 1000;

    recording_open(r, 0, QUEUES, NEOVERSE_N1, NULL);
    for (uint32_t t = 1; t <= 6; t++) {
        recording_comm(r, 0, t, t, "thread", false);
        recording_map(r, 0, t, page(0), page(PAGES) - page(0), 0, "/bin/x", NULL, 0);
    }
    for (unsigned i = 0; i < SAMPLES; i++) {
        unsigned q = random_below(&rng, QUEUES);
        uint32_t who;
        bool timed = !(what & GAPS) || !random_chance(&rng, 1);

        time += random_below(&rng, 3);
        if (random_below(&rng, 300) == 0) {
            running[q] = 1 + random_below(&rng, 8); /* nobody knows the last two */
            if (what & SWITCHES)
                recording_switch(r, time, q, running[q], running[q], false, -1);
        }
        who = random_below(&rng, 2000) ? running[q] : 1 + random_below(&rng, 8);
        recording_sample(r, q, timed ? time : NO_TIME,
                         page(random_below(&rng, PAGES)) + 4 * random_below(&rng, 1024), 0,
                         what & CONTEXTS ? (int64_t)who : NO_CONTEXT);
        if (random_below(&rng, 500) == 0)
            recording_flush(r, q, q, ANY, 1 + random_below(&rng, (uint32_t)r->spe_size[q]));
    }
    for (unsigned q = 0; q < QUEUES; q++) {
        if (r->spe_size[q])
            recording_flush(r, q, q, ANY, 0);
    }
    recording_finish(r);
}

static bool in_spans(const struct spe_profile_span *spans, size_t count, uint64_t pc)
{
    for (size_t i = 0; i < count; i++) {
        if (pc >= spans[i].start && pc < spans[i].end)
            return true;
    }
    return false;
}

/* Only rows of this code, from those that there are. */
static size_t keep(struct row *rows, size_t count, const struct spe_profile_span *spans, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (in_spans(spans, n, rows[i].pc))
            rows[kept++] = rows[i];
    }
    return kept;
}

/* Queue after queue: in which turn they come may change with the groups. */
static void by_queue(struct row *rows, size_t count)
{
    static struct row sorted[SAMPLES];
    size_t n = 0;

    for (size_t q = 0; q < QUEUES; q++) {
        for (size_t i = 0; i < count; i++) {
            if (rows[i].queue == q)
                sorted[n++] = rows[i];
        }
    }
    assert_int_equal(n, count);
    memcpy(rows, sorted, n * sizeof(*rows));
}

static void same_rows(const struct row *a, const struct row *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].time, b[i].time);
        assert_int_equal(a[i].pc, b[i].pc);
        assert_int_equal(a[i].pid, b[i].pid);
        assert_int_equal(a[i].tid, b[i].tid);
        assert_int_equal(a[i].thread, b[i].thread);
        assert_int_equal(a[i].map, b[i].map);
        assert_int_equal(a[i].queue, b[i].queue);
        assert_int_equal(a[i].el, b[i].el);
        assert_int_equal(a[i].flags, b[i].flags);
    }
}

static void same_counts(const struct spe_profile_counts *a, const struct spe_profile_counts *b)
{
    assert_int_equal(a->by_context, b->by_context);
    assert_int_equal(a->by_switch, b->by_switch);
    assert_int_equal(a->by_buffer, b->by_buffer);
    assert_int_equal(a->by_nothing, b->by_nothing);
    assert_int_equal(a->context_unknown, b->context_unknown);
    assert_int_equal(a->context_mismatch, b->context_mismatch);
    assert_int_equal(a->without_time, b->without_time);
    assert_memory_equal(&a->account, &b->account, sizeof(a->account));
    assert_int_equal(a->rows + a->passed, b->rows + b->passed);
}

static struct row all[SAMPLES], some[SAMPLES];

/* Returns how many records were passed over. */
static uint64_t check(const struct recording *r, const struct spe_profile_options *options,
                      const struct spe_profile_span *spans, size_t n)
{
    struct spe_profile *p = recording_profile(r, options);
    struct spe_profile_counts everything;
    size_t count, got;
    uint64_t passed;

    count = read_rows(p, all, SAMPLES);
    assert_int_equal(count, SAMPLES);
    everything = *spe_profile_counts(p);
    assert_int_equal(everything.passed, 0);
    assert_int_equal(spe_profile_only(p, spans, n), SPE_OK);
    assert_int_equal(spe_profile_rewind(p), SPE_OK);
    got = read_rows(p, some, SAMPLES);
    assert_int_equal(spe_profile_counts(p)->rows, got);
    same_counts(spe_profile_counts(p), &everything);
    passed = spe_profile_counts(p)->passed;
    assert_int_equal(got + passed, SAMPLES);
    assert_int_equal(spe_profile_counts(p)->passed_latency, 30 * passed);
    got = keep(some, got, spans, n);
    assert_int_equal(keep(all, count, spans, n), got);
    if (options->order == SPE_ORDER_FAST) {
        by_queue(all, got);
        by_queue(some, got);
    }
    same_rows(all, some, got);

    assert_int_equal(spe_profile_only(p, NULL, 0), SPE_OK); /* all again */
    assert_int_equal(spe_profile_rewind(p), SPE_OK);
    assert_int_equal(read_rows(p, some, SAMPLES), SAMPLES);
    spe_profile_close(p);
    return passed;
}

static void needed_rows(void **state)
{
    struct random rng = {5};

    (void)state;
    for (unsigned what = 0; what <= (SWITCHES | CONTEXTS | GAPS); what++) {
        struct recording r = {0};

        make_recording(&r, 10 + what, what);
        for (unsigned round = 0; round < 6; round++) {
            struct spe_profile_options options = quiet_options(1 + round % 3);
            struct spe_profile_span spans[3];
            size_t n = round % 4;

            options.order = round / 2;
            options.group_rows = round % 2 ? 100 : 0;
            for (size_t i = 0; i < n; i++) {
                spans[i].start = page(random_below(&rng, PAGES)) + 4 * random_below(&rng, 1024);
                spans[i].end = spans[i].start + 4 * random_below(&rng, 1024);
            }
            assert_true(check(&r, &options, spans, n) > SAMPLES / 2);
        }
        recording_free(&r);
    }
}

/* Code that is everywhere, nowhere, or where 56 bits end. */
static void odd_spans(void **state)
{
    static const struct spe_profile_span spans[] = {
        {0, UINT64_MAX},
        {UINT64_MAX - 10, UINT64_MAX},
        {5, 5},
        {9, 3},
        {UINT64_C(0x00fffffffffff000), UINT64_C(0x0100000000001000)},
        {UINT64_C(0xffff800000000000), UINT64_MAX},
    };
    struct spe_profile_options options = quiet_options(1);
    struct recording r = {0};

    (void)state;
    make_recording(&r, 3, CONTEXTS);
    assert_int_equal(check(&r, &options, spans, 1), 0);
    for (size_t i = 1; i < sizeof(spans) / sizeof(spans[0]); i++)
        check(&r, &options, &spans[i], 1);
    recording_free(&r);
}

/* A cut has to see every row. */
static void with_a_cut(void **state)
{
    static const struct spe_profile_span spans[] = {{0x400000, 0x401000}};
    struct spe_profile_options options = quiet_options(1);
    struct recording r = {0};
    struct spe_profile *p;
    uint32_t cpu = 1;
    size_t count;

    (void)state;
    make_recording(&r, 4, CONTEXTS);
    options.cpus = &cpu;
    options.cpu_count = 1;
    p = recording_profile(&r, &options);
    count = read_rows(p, all, SAMPLES);
    assert_int_equal(spe_profile_only(p, spans, 1), SPE_OK);
    assert_int_equal(spe_profile_rewind(p), SPE_OK);
    assert_int_equal(read_rows(p, some, SAMPLES), count);
    assert_int_equal(spe_profile_counts(p)->passed, 0);
    spe_profile_close(p);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needed_rows),
        cmocka_unit_test(odd_spans),
        cmocka_unit_test(with_a_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
