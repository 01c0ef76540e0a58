/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Cache lines that travel: recordings of each basis, made by hand, and what has to be seen. */
#include "support/profile_recording.h"

#include <specimen/analysis.h>

#define COUNTERS UINT64_C(0x1000)
#define L1_HIT SPE_EVENT_BIT(L1D_ACCESS)
#define L1_MISS (SPE_EVENT_BIT(L1D_ACCESS) | SPE_EVENT_BIT(L1D_MISS))
#define CORTEX_A78 0x410fd410u /* its data sources are not known */

enum { LOAD = 0, STORE = 1, ATOMIC_LOAD = 6 };
enum { L1 = 0, PEER_CORE = 9, NO_SOURCE = -1 };

struct use {
    unsigned cpu; /* its thread is cpu + 1 */
    uint64_t va;
    uint8_t op; /* LOAD ... */
    uint64_t events;
    int source;
};

static uint64_t now;

static void use(struct recording *r, unsigned times, struct use u)
{
    struct spe_address pc = {.address = 0x400000 + u.va % 64 + (u.op == STORE), .ns = 1};
    struct spe_address va = {.address = u.va};
    struct spe_record s = {.has =
                               SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_TIMESTAMP | SPE_HAS_CONTEXT1,
                           .addresses = 1u << SPE_ADDRESS_PC | (u.va ? 1u << SPE_ADDRESS_VA : 0),
                           .counters = 1u << SPE_COUNTER_TOTAL,
                           .events = SPE_EVENT_BIT(RETIRED) | u.events,
                           .op_class = SPE_CLASS_LDST,
                           .op = u.op};

    s.address[SPE_ADDRESS_PC] = spe_address_encode(SPE_ADDRESS_PC, &pc);
    s.address[SPE_ADDRESS_VA] = spe_address_encode(SPE_ADDRESS_VA, &va);
    s.counter[SPE_COUNTER_TOTAL] = 10;
    s.context[0] = u.cpu + 1;
    if (u.source >= 0) {
        s.has |= SPE_HAS_SOURCE;
        s.source = (uint16_t)u.source;
        s.source_size = 1;
    }
    while (times--) {
        s.timestamp = ++now;
        sample_bytes(r, u.cpu, &s);
    }
}

static void start(struct recording *r, uint64_t midr)
{
    now = 1000;
    recording_open(r, 0, 4, midr, NULL);
    for (uint32_t tid = 1; tid <= 4; tid++)
        recording_comm(r, tid, 1, tid, "task", false);
}

/* Both passes, or all that is left of them with much memory; the basis is that of the recording. */
static struct spe_sharing *share(struct recording *r, uint64_t memory, size_t top, bool *again)
{
    struct spe_sharing_config config = {.size = sizeof(config), .top = top, .memory = memory};
    struct spe_profile_options options = quiet_options(1);
    struct spe_sharing *s = NULL;
    struct spe_profile *p;
    struct spe_rows rows;

    for (unsigned cpu = 0; cpu < 4; cpu++) {
        if (r->spe_size[cpu])
            recording_flush(r, cpu, cpu, ANY, 0);
    }
    recording_finish(r);
    p = recording_profile(r, &options);
    config.basis = spe_sharing_basis_of(spe_profile_info(p));
    for (;;) {
        assert_int_equal(spe_sharing_create(&s, &config), SPE_OK);
        while (spe_profile_next(p, &rows) > 0)
            assert_int_equal(spe_sharing_find(s, &rows), SPE_OK);
        assert_int_equal(spe_profile_rewind(p), SPE_OK);
        config.basis = spe_sharing_next_basis(spe_sharing_result(s), spe_profile_info(p));
        if (config.basis == SPE_SHARING_BASIS_COUNT)
            break;
        spe_sharing_destroy(s);
    }
    *again = spe_sharing_choose(s) > 0;
    while (*again && spe_profile_next(p, &rows) > 0)
        assert_int_equal(spe_sharing_add(s, &rows), SPE_OK);
    assert_int_equal(spe_sharing_finish(s), SPE_OK);
    spe_profile_close(p);
    recording_free(r);
    return s;
}

/* Counters of two threads in one line, and one that is read by both and written by one. */
static void fill_false(struct recording *r, uint64_t load, int source)
{
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        use(r, 20, (struct use){cpu, COUNTERS + 8 * cpu, LOAD, load, source});
        use(r, 30, (struct use){cpu, COUNTERS + 8 * cpu, LOAD, L1_HIT, source < 0 ? source : L1});
        use(r, 50, (struct use){cpu, COUNTERS + 8 * cpu, STORE, load & L1_MISS, NO_SOURCE});
        use(r, 100, (struct use){cpu, 0x8000 + 64 * cpu, LOAD, L1_HIT, source < 0 ? source : L1});
    }
}

static void check_false(const struct spe_sharing_result *r)
{
    const struct spe_shared_line *line = r->lines;

    assert_int_equal(r->line_count, 1);
    assert_int_equal(r->samples, 400);
    assert_int_equal(r->loads, 300);
    assert_true(r->several_threads);
    assert_int_equal(line->address, COUNTERS);
    assert_int_equal(line->pid, 1);
    assert_int_equal(line->kind, SPE_SHARING_FALSE);
    assert_int_equal(line->loads, 100);
    assert_int_equal(line->stores, 100);
    assert_int_equal(line->latency, 2000);
    assert_int_equal(line->threads, 2);
    assert_int_equal(line->cpus, 2);
    assert_int_equal(line->offset_count, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct spe_shared_offset *o = &line->offsets[i];

        assert_int_equal(o->offset, 8 * i);
        assert_int_equal(o->reads, 50);
        assert_int_equal(o->writes, 50);
        assert_int_equal(o->latency, 1000);
        assert_int_equal(o->cpus, 1);
        assert_int_equal(o->thread_count, 1);
        assert_int_equal(o->code_count, 2);
        assert_int_equal(o->code[0].pc, 0x400000 + 8 * i);
        assert_int_equal(o->code[0].reads, 50);
        assert_int_equal(o->code[1].pc, 0x400001 + 8 * i);
        assert_int_equal(o->code[1].writes, 50);
        assert_false(o->same_used);
    }
}

static void test_by_source(void **state)
{
    struct spe_sharing *s;
    struct recording r;
    bool again;

    (void)state;
    start(&r, NEOVERSE_N1);
    fill_false(&r, L1_MISS, PEER_CORE);
    s = share(&r, 0, 10, &again);
    assert_false(again);
    assert_int_equal(spe_sharing_result(s)->basis, SPE_SHARING_SOURCE);
    assert_int_equal(spe_sharing_result(s)->travelled, 40);
    assert_int_equal(spe_sharing_result(s)->lines->travelled, 40);
    assert_int_equal(spe_sharing_result(s)->lines->travelled_of, 100);
    check_false(spe_sharing_result(s));
    spe_sharing_destroy(s);
}

static void test_by_snoops(void **state)
{
    struct spe_sharing *s;
    struct recording r;
    bool again;

    (void)state;
    start(&r, 0);
    fill_false(&r, L1_MISS | SPE_EVENT_BIT(SNOOPED), NO_SOURCE);
    s = share(&r, 0, 10, &again);
    assert_int_equal(spe_sharing_result(s)->basis, SPE_SHARING_SNOOPED);
    assert_int_equal(spe_sharing_result(s)->lines->travelled, 40);
    check_false(spe_sharing_result(s));
    spe_sharing_destroy(s);
}

static void test_by_misses(void **state)
{
    static const uint64_t midrs[] = {CORTEX_A78, NEOVERSE_N1, 0}; /* N1: records without sources */

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct spe_sharing *s;
        struct recording r;
        bool again;

        start(&r, midrs[i]);
        fill_false(&r, L1_MISS, NO_SOURCE);
        s = share(&r, 0, 10, &again);
        assert_int_equal(spe_sharing_result(s)->basis, SPE_SHARING_MISSES);
        assert_int_equal(spe_sharing_result(s)->lines->travelled, 140);
        assert_int_equal(spe_sharing_result(s)->lines->travelled_of, 200);
        check_false(spe_sharing_result(s));
        spe_sharing_destroy(s);
    }
}

/* Misses of lines that miss no more than others do are not sharing. */
static void test_usual_misses(void **state)
{
    struct spe_sharing *s;
    struct recording r;
    bool again;

    (void)state;
    start(&r, CORTEX_A78);
    fill_false(&r, L1_MISS, NO_SOURCE);
    use(&r, 1000, (struct use){2, 0x20000, LOAD, L1_MISS, NO_SOURCE});
    s = share(&r, 0, 10, &again);
    assert_int_equal(spe_sharing_result(s)->line_count, 0);
    assert_int_equal(spe_sharing_result(s)->too_few, 2);
    spe_sharing_destroy(s);
}

static enum spe_sharing_kind kind_of(struct recording *r)
{
    bool again;
    struct spe_sharing *s = share(r, 0, 10, &again);
    enum spe_sharing_kind kind;

    assert_int_equal(spe_sharing_result(s)->line_count, 1);
    kind = spe_sharing_result(s)->lines->kind;
    spe_sharing_destroy(s);
    return kind;
}

static void test_kinds(void **state)
{
    const struct use read = {0, COUNTERS, LOAD, L1_MISS, PEER_CORE};
    const struct use write = {1, COUNTERS, STORE, L1_HIT, NO_SOURCE};
    const struct use beside = {2, COUNTERS + 32, STORE, L1_HIT, NO_SOURCE};
    struct recording r;

    (void)state;
    start(&r, NEOVERSE_N1); /* the same bytes */
    use(&r, 50, read);
    use(&r, 50, write);
    assert_int_equal(kind_of(&r), SPE_SHARING_TRUE);
    start(&r, NEOVERSE_N1); /* ... and another's beside them */
    use(&r, 50, read);
    use(&r, 50, write);
    use(&r, 50, beside);
    assert_int_equal(kind_of(&r), SPE_SHARING_BOTH);
    start(&r, NEOVERSE_N1); /* ... of which there is too little to matter */
    use(&r, 50, read);
    use(&r, 50, write);
    use(&r, 5, beside);
    assert_int_equal(kind_of(&r), SPE_SHARING_TRUE);
    start(&r, NEOVERSE_N1); /* atomics, which are loads to the record, write */
    for (unsigned cpu = 0; cpu < 2; cpu++)
        use(&r, 50, (struct use){cpu, COUNTERS, ATOMIC_LOAD, L1_MISS, PEER_CORE});
    assert_int_equal(kind_of(&r), SPE_SHARING_TRUE);
    start(&r, NEOVERSE_N1); /* nobody writes */
    use(&r, 50, read);
    use(&r, 50, (struct use){1, COUNTERS, LOAD, L1_HIT, L1});
    assert_int_equal(kind_of(&r), SPE_SHARING_UNCLEAR);
    start(&r, NEOVERSE_N1); /* who came by once does not decide */
    use(&r, 100, read);
    use(&r, 1, write);
    use(&r, 100, beside);
    assert_int_equal(kind_of(&r), SPE_SHARING_FALSE);
}

/* Fewer than five say nothing; nor does one thread, wherever it ran. */
static void test_support(void **state)
{
    struct spe_sharing *s;
    struct recording r;
    bool again;

    (void)state;
    start(&r, NEOVERSE_N1);
    use(&r, 4, (struct use){0, COUNTERS, LOAD, L1_MISS, PEER_CORE});
    use(&r, 50, (struct use){1, COUNTERS, STORE, L1_HIT, NO_SOURCE});
    use(&r, 50, (struct use){2, 0x9000, LOAD, L1_MISS, PEER_CORE});
    s = share(&r, 0, 10, &again);
    assert_int_equal(spe_sharing_result(s)->line_count, 0);
    assert_int_equal(spe_sharing_result(s)->seen, 2);
    assert_int_equal(spe_sharing_result(s)->too_few, 2);
    spe_sharing_destroy(s);
    start(&r, NEOVERSE_N1);
    use(&r, 50, (struct use){0, 0, LOAD, L1_MISS, PEER_CORE}); /* without an address */
    use(&r, 7, (struct use){0, COUNTERS, LOAD, L1_MISS, PEER_CORE});
    s = share(&r, 0, 10, &again);
    assert_int_equal(spe_sharing_result(s)->no_address, 50);
    assert_int_equal(spe_sharing_result(s)->samples, 7);
    assert_false(spe_sharing_result(s)->several_threads);
    assert_int_equal(spe_sharing_result(s)->line_count, 0);
    spe_sharing_destroy(s);
}

/* With little memory the rows are read again, and the answers are the same. */
static void test_memory(void **state)
{
    for (int pass = 0; pass < 2; pass++) {
        struct spe_sharing *s;
        struct recording r;
        bool again;

        (void)state;
        start(&r, NEOVERSE_N1);
        for (unsigned line = 0; line < 40; line++) {
            use(&r, 10 + line, (struct use){0, COUNTERS + 64 * line, LOAD, L1_MISS, PEER_CORE});
            use(&r, 40, (struct use){1, COUNTERS + 64 * line + 8, STORE, L1_HIT, NO_SOURCE});
        }
        s = share(&r, pass ? 65536 : 0, 5, &again);
        assert_int_equal(again, pass);
        assert_int_equal(spe_sharing_result(s)->line_count, 5);
        assert_int_equal(spe_sharing_result(s)->not_examined, 35);
        assert_int_equal(spe_sharing_result(s)->left_out, 0);
        for (unsigned i = 0; i < 5; i++) {
            const struct spe_shared_line *line = &spe_sharing_result(s)->lines[i];

            assert_int_equal(line->address, COUNTERS + 64 * (39 - i));
            assert_int_equal(line->travelled, 49 - i);
            assert_int_equal(line->stores, 40);
            assert_int_equal(line->kind, SPE_SHARING_FALSE);
        }
        spe_sharing_destroy(s);
    }
}

/* More lines than memory: what was left out is counted. */
static void test_left_out(void **state)
{
    struct spe_sharing *s;
    struct recording r;
    bool again;

    (void)state;
    start(&r, NEOVERSE_N1);
    for (unsigned line = 0; line < 3000; line++)
        use(&r, 1, (struct use){line % 2, COUNTERS + 64 * line, LOAD, L1_MISS, PEER_CORE});
    s = share(&r, 65536, 5, &again);
    assert_int_equal(spe_sharing_result(s)->seen, 1024);
    assert_int_equal(spe_sharing_result(s)->left_out, 3000 - 1024);
    spe_sharing_destroy(s);
}

static void test_config(void **state)
{
    struct spe_sharing_config config = {.size = sizeof(config), .top = 1, .shift = 13};
    struct spe_sharing *s;

    (void)state;
    assert_int_equal(spe_sharing_create(&s, &config), SPE_ERR_INVALID);
    config.shift = 0;
    config.memory = 65535;
    assert_int_equal(spe_sharing_create(&s, &config), SPE_ERR_INVALID);
    config.memory = 0;
    config.top = 0;
    assert_int_equal(spe_sharing_create(&s, &config), SPE_ERR_INVALID);
    assert_null(s);
    spe_sharing_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_source), cmocka_unit_test(test_by_snoops),
        cmocka_unit_test(test_by_misses), cmocka_unit_test(test_usual_misses),
        cmocka_unit_test(test_kinds),     cmocka_unit_test(test_support),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_config),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
