/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.5: filters by type, events, inverted events, latency and data source, and the PMU events that
 * count samples. Types are tried exhaustively: all flags of an operation, all controls, all masks.
 */
#include "support/random.h"
#include "support/sampling_unit.h"

#include "spu/spu_internal.h"

#define PLAIN (ALL NO_EFT)

enum { FE = 1, FT = 2, FL = 4, FNE = 8, FDS = 16 };

#define REJECTED(f) (1u << SPE_SAMPLE_FILTER_##f)

static struct spu_sample sample_with(uint8_t types, uint64_t events)
{
    struct spu_sample s;

    memset(&s, 0, sizeof(s));
    s.types = types;
    s.events = events;
    s.captured = true;
    return s;
}

static uint64_t type_controls(unsigned types, unsigned mask)
{
    return (uint64_t)types << 16 | (uint64_t)mask << 48;
}

/* ---- Type (D17.5.1) ------------------------------------------------------------------------- */

/* RNYZKJ, a type at a time: masked types must be as the control says; of the others one that is
 * asked for must be there, if any is asked for. */
static bool kept_by_type(unsigned flags, unsigned ctrl, unsigned mask)
{
    bool asked = false, found = false;

    for (unsigned bit = 1; bit < 32; bit <<= 1) {
        if (mask & bit) {
            if ((flags & bit) != (ctrl & bit))
                return false;
        } else if (ctrl & bit) {
            asked = true;
            found |= (flags & bit) != 0;
        }
    }
    return found || !asked;
}

static void test_types_eft(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (unsigned ctrl = 0; ctrl < 32; ctrl++)
        for (unsigned mask = 0; mask < 32; mask++) {
            for (unsigned ft = 0; ft < 2; ft++) {
                bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(ctrl, mask) | (ft ? FT : 0));
                for (uint8_t flags = 0; flags < 32; flags++) {
                    struct spu_sample s = sample_with(flags, 0);
                    bool kept = !ft || kept_by_type(flags, ctrl, mask);

                    assert_int_equal(spu_filter(b.spu, &s), kept ? 0 : REJECTED(TYPE));
                }
            }
        }
    bench_close(&b);
}

static void test_types_plain(void **state)
{
    static const char *const choices[] = {"zero_type_filter=none_recorded",
                                          "zero_type_filter=as_off"};
    struct bench b;

    (void)state;
    for (unsigned as_off = 0; as_off < 2; as_off++) {
        bench_open(&b, PLAIN, choices[as_off]);
        for (unsigned ctrl = 0; ctrl < 32; ctrl++) {
            bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(ctrl, 31) | FT);
            for (uint8_t flags = 0; flags < 32; flags++) {
                struct spu_sample s = sample_with(flags, 0);
                bool kept = ctrl & 7 ? flags & ctrl & 7 : as_off;

                assert_int_equal(spu_filter(b.spu, &s), kept ? 0 : REJECTED(TYPE));
            }
        }
        bench_close(&b);
    }
}

/* Which of the two directions of a Memory Copy passes: only one, or either. */
static void test_directions(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (unsigned ctrl = 0; ctrl < 32; ctrl++)
        for (unsigned mask = 0; mask < 32; mask++) {
            bool load = kept_by_type(SPU_TYPE_LD, ctrl, mask);
            bool store = kept_by_type(SPU_TYPE_ST, ctrl, mask);
            unsigned expected = SPU_TYPE_LD | SPU_TYPE_ST;

            if (load != store) /* D17.6-104 */ /* D17.6-110 */
                expected = load ? SPU_TYPE_LD : SPU_TYPE_ST;
            bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(ctrl, mask) | FT);
            assert_int_equal(spu_filter_directions(b.spu), expected);
            bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(ctrl, mask)); /* U04 */
            /* D17.6-105 */                                               /* D17.6-111 */
            assert_int_equal(spu_filter_directions(b.spu), SPU_TYPE_LD | SPU_TYPE_ST);
        }
    bench_close(&b);
}

/* ---- Events (D17.5.2) ----------------------------------------------------------------------- */

/* Bits that can be filtered on, from the register descriptions; IMPDEF ones are chosen below. */
static const struct {
    const char *features, *options;
    uint64_t filterable;
} event_units[] = {
    {ALL, "spec_sampling=1", UINT64_C(0x3fe0ffe)},
    {ALL, "spec_sampling=0", UINT64_C(0x3fe0ffc)},
    {ALL, "ev_l2=0 ev_snoop=0 ev_llc=0", UINT64_C(0x2660cfc) | UINT64_C(0x1000000)},
    {NO_V1P4, "filter_events=0", UINT64_C(0x3060000 | 0x8e8)},
    {NO_V1P4, "filter_events=0x514", UINT64_C(0x3060000 | 0x8e8 | 0x514)},
    {NO_V1P2, "filter_events=0", UINT64_C(0x3060000 | 0x8a8)},
    {NO_V1P1, "filter_events=0", UINT64_C(0xa8)},
    {NO_V1P1, "filter_events=0xf000 impdef_events=0x5000", UINT64_C(0x50a8)},
};

static bool kept_by_events(uint64_t wanted, uint64_t unwanted, uint64_t events)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        bool set = events >> bit & 1;

        if ((wanted >> bit & 1) && !set)
            return false;
        if ((unwanted >> bit & 1) && set)
            return false;
    }
    return true;
}

static void check_event_masks(struct bench *b, uint64_t filterable, uint64_t wanted,
                              uint64_t unwanted, struct random *r)
{
    bool fne = spe_has(b->config.features, SPE_FEAT_SPE_FnE);

    bench_set(b, SPE_REG_PMSEVFR_EL1, wanted);
    bench_set(b, SPE_REG_PMSNEVFR_EL1, unwanted);
    wanted &= filterable;
    unwanted &= fne ? filterable : 0;
    for (unsigned i = 0; i < 8; i++) {
        struct spu_sample s = sample_with(0, random_next(r) | random_next(r));
        unsigned rejected = 0;

        if (i & 1)
            s.events |= wanted;
        if (i & 2)
            s.events &= ~unwanted;
        bench_set(b, SPE_REG_PMSFCR_EL1, FE);
        if (wanted && !kept_by_events(wanted, 0, s.events))
            rejected |= REJECTED(EVENTS);
        assert_int_equal(spu_filter(b->spu, &s), rejected);
        bench_set(b, SPE_REG_PMSFCR_EL1, FNE);
        rejected = 0;
        if (unwanted && !kept_by_events(0, unwanted, s.events))
            rejected |= REJECTED(INVERTED);
        assert_int_equal(spu_filter(b->spu, &s), rejected);
        bench_set(b, SPE_REG_PMSFCR_EL1, 0);
        assert_int_equal(spu_filter(b->spu, &s), 0);
    }
}

static void test_events(void **state)
{
    struct random r = {7};
    struct bench b;

    (void)state;
    for (size_t u = 0; u < COUNT(event_units); u++) {
        uint64_t filterable = event_units[u].filterable;

        bench_open(&b, event_units[u].features, event_units[u].options);
        for (unsigned bit = 0; bit < 64; bit++) { /* each alone: does it matter at all? */
            struct spu_sample without = sample_with(0, 0), with = sample_with(0, ~UINT64_C(0));

            bench_set(&b, SPE_REG_PMSEVFR_EL1, BIT(bit));
            bench_set(&b, SPE_REG_PMSFCR_EL1, FE);
            assert_int_equal(spu_filter(b.spu, &without),
                             filterable >> bit & 1 ? REJECTED(EVENTS) : 0);
            assert_int_equal(spu_filter(b.spu, &with), 0);
        }
        for (unsigned i = 0; i < 500; i++) {
            uint64_t wanted = random_next(&r) & random_next(&r) & random_next(&r);
            uint64_t unwanted = random_next(&r) & random_next(&r) & random_next(&r);

            check_event_masks(&b, filterable, wanted, unwanted, &r);
        }
        bench_close(&b);
    }
}

static void test_events_zero(void **state)
{
    static const char *const choices[] = {"none_recorded", "as_off"};
    struct spu_sample s = sample_with(0, 2);
    char options[160];
    struct bench b;

    (void)state;
    for (unsigned off = 0; off < 2; off++) {
        snprintf(options, sizeof(options), "zero_event_filter=%s zero_inverted_filter=%s",
                 choices[off], choices[!off]);
        bench_open(&b, ALL, options);
        bench_set(&b, SPE_REG_PMSFCR_EL1, FE);
        assert_int_equal(spu_filter(b.spu, &s), off ? 0 : REJECTED(EVENTS));
        bench_set(&b, SPE_REG_PMSFCR_EL1, FNE);
        assert_int_equal(spu_filter(b.spu, &s), off ? REJECTED(INVERTED) : 0);
        bench_close(&b);
    }
}

/* The same event wanted and unwanted: nothing, or as if both were off. */
static void test_events_common(void **state)
{
    static const char *const choices[] = {"common_event_filter=none_recorded",
                                          "common_event_filter=as_off"};
    unsigned both = REJECTED(EVENTS) | REJECTED(INVERTED);
    struct bench b;

    (void)state;
    for (unsigned off = 0; off < 2; off++) {
        bench_open(&b, ALL, choices[off]);
        for (unsigned i = 0; i < 2; i++) {
            struct spu_sample s = sample_with(0, i ? 0x28 : 0);

            bench_set(&b, SPE_REG_PMSEVFR_EL1, 0x28);
            bench_set(&b, SPE_REG_PMSNEVFR_EL1, 0x88);
            bench_set(&b, SPE_REG_PMSFCR_EL1, FE | FNE);
            assert_int_equal(spu_filter(b.spu, &s), off ? 0 : both);
            bench_set(&b, SPE_REG_PMSNEVFR_EL1, 0x80); /* nothing in common */
            assert_int_equal(spu_filter(b.spu, &s), i ? 0 : REJECTED(EVENTS));
            bench_set(&b, SPE_REG_PMSNEVFR_EL1, 0x88);
            bench_set(&b, SPE_REG_PMSFCR_EL1, FE); /* the other is off */
            assert_int_equal(spu_filter(b.spu, &s), i ? 0 : REJECTED(EVENTS));
            bench_set(&b, SPE_REG_PMSFCR_EL1, FNE);
            assert_int_equal(spu_filter(b.spu, &s), i ? REJECTED(INVERTED) : 0);
        }
        bench_close(&b);
    }
}

/* ---- Latency (D17.5.3) ---------------------------------------------------------------------- */

static void test_latency(void **state)
{
    static const unsigned latencies[] = {0, 1, 2, 100, 0xffe, 0xfff, 0x1000, 0xfffe, 0xffff};
    static const char *const choices[] = {"zero_latency_filter=none_recorded",
                                          "zero_latency_filter=as_off"};
    struct bench b;

    (void)state;
    for (unsigned off = 0; off < 2; off++) {
        bench_open(&b, ALL, choices[off]);
        for (size_t m = 0; m < COUNT(latencies); m++)
            for (size_t t = 0; t < COUNT(latencies); t++) {
                struct spu_sample s = sample_with(0, 0);
                bool kept = latencies[m] ? latencies[t] >= latencies[m] : off;

                s.total = (uint16_t)latencies[t];
                bench_set(&b, SPE_REG_PMSLATFR_EL1, latencies[m]);
                bench_set(&b, SPE_REG_PMSFCR_EL1, FL);
                assert_int_equal(spu_filter(b.spu, &s), kept ? 0 : REJECTED(LATENCY));
                bench_set(&b, SPE_REG_PMSFCR_EL1, 0);
                assert_int_equal(spu_filter(b.spu, &s), 0);
            }
        bench_close(&b);
    }
}

/* A counter that is full is as long as can be asked for. */
static void test_latency_saturated(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "count_size=12");
    op.execute_cycles = 1000000;
    bench_set(&b, SPE_REG_PMSLATFR_EL1, 0xffff); /* reads 0xfff */
    bench_set(&b, SPE_REG_PMSFCR_EL1, FL);
    assert_int_equal(bench_sample(&b, &op), SPE_FATE_WRITTEN);
    op.execute_cycles = 0xffe - op.issue_cycles;
    assert_int_equal(bench_sample(&b, &op), SPE_FATE_FILTERED);
    bench_close(&b);
}

/* ---- Data source (D17.5.4) ------------------------------------------------------------------ */

static void test_source(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "filter_sources=0xfffffffffffffffd");
    for (unsigned source = 0; source < 300; source++)
        for (unsigned bit = 0; bit < 64; bit++) {
            struct spu_sample s = sample_with(0, 0);
            bool kept = source % 64 == bit && bit != 1;

            s.has_source = true;
            s.source = (uint16_t)source;
            bench_set(&b, SPE_REG_PMSDSFR_EL1, BIT(bit));
            bench_set(&b, SPE_REG_PMSFCR_EL1, FDS);
            assert_int_equal(spu_filter(b.spu, &s), kept ? 0 : REJECTED(SOURCE));
            s.has_source = false; /* others are not affected */
            assert_int_equal(spu_filter(b.spu, &s), 0);
            s.has_source = true;
            bench_set(&b, SPE_REG_PMSFCR_EL1, 0);
            assert_int_equal(spu_filter(b.spu, &s), 0);
        }
    bench_close(&b);
}

/* With an External abort a load has no data source here. */
static int fate_of(struct bench *b, enum spe_operation_kind kind, bool returns, bool aborts)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = access_operation(kind, &a, 1);

    a.source = 9;
    a.external_abort = op.exception = aborts;
    a.store = kind == SPE_OPERATION_STORE;
    op.returns_value = returns;
    return bench_sample(b, &op);
}

static void test_source_of_operations(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "data_source_st_atomic=1");
    bench_set(&b, SPE_REG_PMSFCR_EL1, FDS);
    bench_set(&b, SPE_REG_PMSDSFR_EL1, 0); /* drops all that have one */
    assert_int_equal(fate_of(&b, SPE_OPERATION_LOAD, false, false), SPE_FATE_FILTERED);
    assert_int_equal(fate_of(&b, SPE_OPERATION_ATOMIC, true, false), SPE_FATE_FILTERED);
    assert_int_equal(fate_of(&b, SPE_OPERATION_LOAD, false, true), SPE_FATE_WRITTEN);
    assert_int_equal(fate_of(&b, SPE_OPERATION_ATOMIC, false, false), SPE_FATE_WRITTEN);
    assert_int_equal(fate_of(&b, SPE_OPERATION_STORE, false, false), SPE_FATE_WRITTEN);
    bench_set(&b, SPE_REG_PMSDSFR_EL1, BIT(9));
    assert_int_equal(fate_of(&b, SPE_OPERATION_LOAD, false, false), SPE_FATE_WRITTEN);
    assert_int_equal(fate_of(&b, SPE_OPERATION_ATOMIC, true, false), SPE_FATE_WRITTEN);
    bench_set(&b, SPE_REG_PMSDSFR_EL1, ~BIT(9));
    assert_int_equal(fate_of(&b, SPE_OPERATION_LOAD, false, false), SPE_FATE_FILTERED);
    bench_close(&b);
}

/* ---- All together --------------------------------------------------------------------------- */

static void test_filters_without_features(void **state)
{
    struct spu_sample s = sample_with(0, 0);
    struct bench b;

    (void)state;
    bench_open(&b, NO_V1P2, "");
    bench_set(&b, SPE_REG_PMSNEVFR_EL1, ~UINT64_C(0));
    bench_set(&b, SPE_REG_PMSFCR_EL1, FNE | FDS);
    s.events = ~UINT64_C(0);
    s.has_source = true;
    assert_int_equal(spu_filter(b.spu, &s), 0);
    bench_close(&b);
}

/* Several filters may reject one sample; the statistics count it for each. */
static void test_statistics(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = access_operation(SPE_OPERATION_LOAD, &a, 1);
    struct spe_spu_stats stats;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    bench_set(&b, SPE_REG_PMSEVFR_EL1, BIT(7));
    bench_set(&b, SPE_REG_PMSNEVFR_EL1, BIT(2));
    bench_set(&b, SPE_REG_PMSLATFR_EL1, 1000);
    bench_set(&b, SPE_REG_PMSDSFR_EL1, 0);
    for (unsigned on = 0; on < 32; on++) {
        bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(SPU_TYPE_B, 0) | on);
        assert_int_equal(bench_sample(&b, &op), on ? SPE_FATE_FILTERED : SPE_FATE_WRITTEN);
    }
    spe_spu_stats(b.spu, &stats);
    for (unsigned f = 0; f < SPE_SAMPLE_FILTER_COUNT; f++)
        assert_int_equal(stats.filtered_by[f], 16);
    assert_int_equal(stats.fate[SPE_FATE_FILTERED], 31);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED), 32);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FILTRATE), 1);
    bench_close(&b);
}

/* ---- PMU events ----------------------------------------------------------------------------- */

static void test_feed_types(void **state)
{
    static const struct {
        unsigned event;
        uint8_t type;
        const char *gone; /* features in which the event does not exist */
    } cases[] = {
        {SPE_PMU_SAMPLE_FEED_BR, SPU_TYPE_B, NO_V1P2},
        {SPE_PMU_SAMPLE_FEED_LD, SPU_TYPE_LD, NO_V1P2},
        {SPE_PMU_SAMPLE_FEED_ST, SPU_TYPE_ST, NO_V1P2},
        {SPE_PMU_SAMPLE_FEED_FP, SPU_TYPE_FP, PLAIN},
        {SPE_PMU_SAMPLE_FEED_SIMD, SPU_TYPE_SIMD, PLAIN},
    };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (unsigned gone = 0; gone < 2; gone++) {
            bench_open(&b, gone ? cases[i].gone : ALL, "");
            for (uint8_t flags = 0; flags < 32; flags++) {
                struct spu_sample s = sample_with(flags, 0);

                spu_filter_feed(b.spu, &s);
            }
            assert_int_equal(bench_pmu(&b, cases[i].event), gone ? 0 : 16);
            assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED), 32);
            bench_close(&b);
        }
}

/* The values of the filters count, not their enables. */
static void test_feed_matches(void **state)
{
    struct spu_sample s = sample_with(SPU_TYPE_LD, 0x28);
    struct bench b;

    (void)state;
    s.total = 50;
    s.has_source = true;
    s.source = 64 + 5;
    for (unsigned on = 0; on < 2; on++) {
        bench_open(&b, ALL, "");
        bench_set(&b, SPE_REG_PMSFCR_EL1, on ? 31 : 0);
        spu_filter_feed(b.spu, &s);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_OP), 0); /* no type is named */
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_EVENT), 1);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_LAT), 1);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_DS), 0);
        bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(SPU_TYPE_LD, 0) | (on ? 31 : 0));
        bench_set(&b, SPE_REG_PMSEVFR_EL1, 0x20);
        bench_set(&b, SPE_REG_PMSNEVFR_EL1, 0x80);
        bench_set(&b, SPE_REG_PMSLATFR_EL1, 50);
        bench_set(&b, SPE_REG_PMSDSFR_EL1, BIT(5));
        spu_filter_feed(b.spu, &s);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_OP), 1);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_EVENT), 2);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_LAT), 2);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_DS), 1);
        bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(0, SPU_TYPE_LD));
        bench_set(&b, SPE_REG_PMSNEVFR_EL1, 0x88);
        bench_set(&b, SPE_REG_PMSLATFR_EL1, 51);
        bench_set(&b, SPE_REG_PMSDSFR_EL1, ~BIT(5));
        spu_filter_feed(b.spu, &s);
        bench_set(&b, SPE_REG_PMSNEVFR_EL1, 0);
        bench_set(&b, SPE_REG_PMSEVFR_EL1, 0x80);
        spu_filter_feed(b.spu, &s);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_OP), 1);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_EVENT), 2);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_LAT), 2);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_DS), 1);
        bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(0, SPU_TYPE_ST)); /* not a store: it is */
        spu_filter_feed(b.spu, &s);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_OP), 2);
        assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED), 5);
        bench_close(&b);
    }
}

static void test_feed_without_features(void **state)
{
    struct spu_sample s = sample_with(SPU_TYPE_LD, 0x28);
    struct bench b;

    (void)state;
    s.has_source = true;
    bench_open(&b, NO_V1P2, "");
    bench_set(&b, SPE_REG_PMSFCR_EL1, type_controls(SPU_TYPE_LD, 0));
    spu_filter_feed(b.spu, &s);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED), 1);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_OP), 0);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_EVENT), 0);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_LAT), 0);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED_DS), 0);
    bench_close(&b);
}

/* POP, FEED and FILTRATE over a run: every member, every sample, every one that is kept. */
static void test_counts(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    bench_set(&b, SPE_REG_PMSICR_EL1, 0);
    bench_set(&b, SPE_REG_PMSFCR_EL1, FL);
    bench_set(&b, SPE_REG_PMSLATFR_EL1, 10);
    for (unsigned i = 0; i < 257 * 12; i++) {
        op.execute_cycles = i / 257 % 3 ? 3 : 300;
        if (spe_spu_step(b.spu, 0))
            bench_finish(&b, &op);
    }
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_POP), 257 * 12);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED), 12);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FILTRATE), 4);
    bench_set(&b, SPE_REG_PMBLIMITR_EL1, (BUFFER_BASE + BUFFER_SIZE) | 4 | 1); /* Discard mode */
    op.execute_cycles = 300;
    assert_int_equal(bench_sample(&b, &op), SPE_FATE_DISCARD_MODE);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED), 13);
    assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FILTRATE), 5);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_eft),
        cmocka_unit_test(test_types_plain),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_events_zero),
        cmocka_unit_test(test_events_common),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_latency_saturated),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_source_of_operations),
        cmocka_unit_test(test_filters_without_features),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_feed_types),
        cmocka_unit_test(test_feed_matches),
        cmocka_unit_test(test_feed_without_features),
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
