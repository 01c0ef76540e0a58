/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.6.4: what a record holds of loads, stores and atomics: addresses, operation type, events,
 * data source, translation latency; several accesses; MTE, NV2, MOPS, LS64, GCS and alignment.
 */
#include "support/sampling_chi.h"
#include "support/sampling_unit.h"

#define NO_MTE ",-mte,-mte2,-mte_canonical_tags"

/* A load, or a store, of one access. */
static struct spe_operation memory(enum spe_operation_kind kind, struct spe_memory_access *a)
{
    a->store = kind == SPE_OPERATION_STORE || kind == SPE_OPERATION_MEMSET;
    return access_operation(kind, a, 1);
}

/* ---- Addresses ------------------------------------------------------------------------------ */

static void test_addresses(void **state)
{
    static const uint8_t kinds[] = {SPE_OPERATION_LOAD, SPE_OPERATION_STORE, SPE_OPERATION_ATOMIC};
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct spe_memory_access a = access_at(0x123456);
        struct spe_operation op = memory(kinds[i], &a);

        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), 0x123456);              /* D17.6-049 */
        assert_int_equal(address_of(&b, SPE_ADDRESS_PA), 0x123456 + 0x80000000); /* D17.6-050 */
    }
    bench_close(&b);
}

static void test_tags(void **state)
{
    static const struct {
        const char *options;
        bool tbi, mte, kept;
    } cases[] = {
        {"tbi0_tag=zero", true, false, true},
        /* D17.6-051 */                            /* D18.2-019 */
        {"tbi0_tag=zero", false, false, false},    /* D18.2-020 */
        {"tbi0_tag=va_63_56", false, false, true}, /* D18.2-020 */
        {"tbi0_tag=zero", false, true, true},      /* D17.6-094 */
    };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_memory_access a = access_at(UINT64_C(0xa5ff123456789abc));
        struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);

        bench_open(&b, ALL, cases[i].options);
        a.tbi = cases[i].tbi;
        a.mte_untagged_addresses = cases[i].mte;
        bench_record(&b, &op);
        /* D17.6-051 */ /* D18.2-019 */ /* D18.2-020 */ /* D17.6-094 */
        assert_int_equal(b.record.address[SPE_ADDRESS_VA] >> 56, cases[i].kept ? 0xa5 : 0);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), UINT64_C(0xff123456789abc));
        bench_close(&b);
    }
}

static struct spe_address pa_of(struct bench *b, const struct spe_operation *op)
{
    struct spe_address pa;

    bench_record(b, op);
    assert_true(has_address(b, SPE_ADDRESS_PA));
    spe_address_decode(SPE_ADDRESS_PA, b->record.address[SPE_ADDRESS_PA], &pa);
    return pa;
}

static void test_physical_space(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);
    struct bench b;

    (void)state;
    for (unsigned rme = 0; rme < 2; rme++) {
        bench_open(&b, rme ? ALL : ALL ",-rme", "");
        for (a.pas = 0; a.pas < 4; a.pas++) {
            struct spe_address pa;

            if (a.pas == SPE_SECURITY_RESERVED)
                continue;
            pa = pa_of(&b, &op);
            assert_int_equal(pa.ns, a.pas & 1);             /* D17.6-052 */
            assert_int_equal(pa.nse, rme ? a.pas >> 1 : 0); /* D17.6-052 */
        }
        bench_close(&b);
    }
}

/* CH and PAT: {checked access, TCF ignored, Canonically Tagged} under features and options. */
static void test_checked(void **state)
{
    static const char *const features[] = {ALL, ALL ",-mte_canonical_tags", ALL NO_MTE};
    char options[80];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 3 * 4 * 8; n++) {
        unsigned f = n % 3, choice = n / 3 % 4, flags = n / 12;
        bool checked = flags & 1, ignored = flags & 2, canonical = flags & 4;
        bool ch_ignored = choice & 1, unchecked_tag = choice & 2, expected;
        struct spe_memory_access a = access_at(0x1000);
        struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);
        struct spe_address pa;

        snprintf(options, sizeof(options), "ch_when_tcf_ignored=%u pat_unchecked=%s", ch_ignored,
                 unchecked_tag ? "tag" : "zero");
        bench_open(&b, features[f], options);
        a.tag_checked = checked;
        a.tcf_ignored = ignored;
        a.canonical_tag = canonical;
        a.pat = 0xb;
        pa = pa_of(&b, &op);
        expected = f != 2 && checked;
        if (f == 0 && canonical)
            expected = false; /* D18.2-026 */
        if (ignored && !ch_ignored)
            expected = false;                                              /* D18.2-025 */
        assert_int_equal(pa.ch, expected); /* D18.2-024 */ /* D18.2-025 */ /* D18.2-026 */
        /* D18.2-027 */                                                    /* D18.2-028 */
        assert_int_equal(pa.pat, f != 2 && (expected || unchecked_tag) ? 0xb : 0);
        bench_close(&b);
    }
}

static void test_no_physical_address(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    a.untranslated = true;
    bench_record(&b, &op);
    assert_true(has_address(&b, SPE_ADDRESS_VA));
    assert_false(has_address(&b, SPE_ADDRESS_PA)); /* D17.6-084 */
    a.untranslated = false;
    bench_set(&b, SPE_REG_PMSCR_EL1, PMSCR_ON & ~UINT64_C(0x10));
    bench_record(&b, &op);
    assert_false(has_address(&b, SPE_ADDRESS_PA)); /* D17.6-086 */ /* D17.6-050 */
    bench_set(&b, SPE_REG_PMSCR_EL1, PMSCR_ON);
    a.inactive = true; /* of a vector element: no address, so no translation of it */
    op.registers = SPE_REGISTERS_SVE;
    bench_record(&b, &op);
    assert_false(has_address(&b, SPE_ADDRESS_VA));
    assert_false(has_address(&b, SPE_ADDRESS_PA)); /* D17.6-085 */
    bench_close(&b);
}

static void test_exclusive_fails(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct spe_operation op = memory(SPE_OPERATION_STORE, &a);

        bench_open(&b, ALL, on ? "stx_fail_pa=1" : "stx_fail_pa=0");
        op.exclusive = true;
        bench_record(&b, &op);
        assert_true(has_address(&b, SPE_ADDRESS_PA));
        op.exclusive_failed = true;
        a.unperformed = true;
        bench_record(&b, &op);
        assert_true(has_address(&b, SPE_ADDRESS_VA));
        assert_int_equal(has_address(&b, SPE_ADDRESS_PA), on); /* D17.6-087 */
        a.untranslated = true; /* "when permitted by the above rules" */
        bench_record(&b, &op);
        assert_false(has_address(&b, SPE_ADDRESS_PA)); /* D17.6-084 */
        a.untranslated = a.unperformed = false;
        bench_close(&b);
    }
}

static void test_collecting_costs(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);
    static const unsigned cycles[] = {0, 1, 60000};
    char options[40];
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cycles); i++) { /* D17.6-193 */
        snprintf(options, sizeof(options), "pa_collect_cycles=%u", cycles[i]);
        bench_open(&b, ALL, options);
        bench_record(&b, &op);
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 8 + cycles[i]); /* D17.6-193 */
        bench_set(&b, SPE_REG_PMSCR_EL1, PMSCR_ON & ~UINT64_C(0x10));
        bench_record(&b, &op);
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 8);
        bench_close(&b);
    }
}

/* ---- Operation type ------------------------------------------------------------------------- */

static void test_types(void **state)
{
    static const struct {
        uint8_t kind, registers;
        bool returns, ar, excl;
        uint8_t payload, types;
    } cases[] = {
        /* D17.6-053 */ /* D17.6-057 */ /* D17.6-058 */
        {SPE_OPERATION_LOAD, SPE_REGISTERS_GENERAL, 0, 0, 0, 0x00, TYPE_LD},
        {SPE_OPERATION_STORE, SPE_REGISTERS_GENERAL, 0, 0, 0, 0x01, TYPE_ST},
        {SPE_OPERATION_LOAD, SPE_REGISTERS_FP, 0, 0, 0, 0x04, TYPE_LD | TYPE_FP},
        {SPE_OPERATION_STORE, SPE_REGISTERS_FP, 0, 0, 0, 0x05, TYPE_ST | TYPE_FP},
        {SPE_OPERATION_LOAD, SPE_REGISTERS_SIMD, 0, 0, 0, 0x04, TYPE_LD | TYPE_SIMD},
        {SPE_OPERATION_STORE, SPE_REGISTERS_SIMD, 0, 0, 0, 0x05, TYPE_ST | TYPE_SIMD},
        {SPE_OPERATION_LOAD, SPE_REGISTERS_UNSPECIFIED, 0, 0, 0, 0x10, TYPE_LD},
        {SPE_OPERATION_STORE, SPE_REGISTERS_UNSPECIFIED, 0, 0, 0, 0x11, TYPE_ST},
        {SPE_OPERATION_LOAD, SPE_REGISTERS_GENERAL, 0, 1, 0, 0x12, TYPE_LD},          /* LDAR */
        {SPE_OPERATION_STORE, SPE_REGISTERS_GENERAL, 0, 1, 0, 0x13, TYPE_ST},         /* STLR */
        {SPE_OPERATION_LOAD, SPE_REGISTERS_GENERAL, 0, 0, 1, 0x0a, TYPE_LD},          /* LDXR */
        {SPE_OPERATION_STORE, SPE_REGISTERS_GENERAL, 0, 0, 1, 0x0b, TYPE_ST},         /* STXR */
        {SPE_OPERATION_LOAD, SPE_REGISTERS_GENERAL, 0, 1, 1, 0x1a, TYPE_LD},          /* LDAXR */
        {SPE_OPERATION_LOAD, SPE_REGISTERS_SIMD, 0, 1, 0, 0x12, TYPE_LD | TYPE_SIMD}, /* LDAPUR */
        {SPE_OPERATION_ATOMIC, SPE_REGISTERS_GENERAL, 1, 0, 0, 0x06, TYPE_LD | TYPE_ST}, /* LDADD */
        {SPE_OPERATION_ATOMIC, SPE_REGISTERS_GENERAL, 0, 0, 0, 0x07, TYPE_ST},           /* STADD */
        {SPE_OPERATION_ATOMIC, SPE_REGISTERS_GENERAL, 1, 1, 0, 0x16, TYPE_LD | TYPE_ST}, /* SWPAL */
    };
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_memory_access a = access_at(0x1000);
        struct spe_operation op = memory(cases[i].kind, &a);

        op.registers = cases[i].registers;
        op.returns_value = cases[i].returns;
        op.acquire_release = cases[i].ar;
        op.exclusive = cases[i].excl;
        bench_record(&b, &op);
        assert_int_equal(b.record.op_class, SPE_CLASS_LDST);
        /* D17.6-053 */ /* D17.6-057 */ /* D17.6-058 */ /* D17.6-010 */
        assert_int_equal(b.record.op, cases[i].payload);
        assert_int_equal(bench_types(&b, &op), cases[i].types);
    }
    bench_close(&b);
    bench_open(&b, NO_V1P1, ""); /* there is no such subclass before FEAT_SPEv1p1 */
    {
        struct spe_memory_access a = access_at(0x1000);
        struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);

        op.registers = SPE_REGISTERS_UNSPECIFIED;
        bench_record(&b, &op);
        assert_int_equal(b.record.op, 0x00);
    }
    bench_close(&b);
}

/* The subclass of one operation. */
static uint8_t payload_of(const char *features, const char *options, uint8_t kind,
                          uint8_t registers)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = memory(kind, &a);
    uint8_t payload;
    struct bench b;

    bench_open(&b, features, options);
    op.registers = registers;
    bench_record(&b, &op);
    assert_int_equal(b.record.op_class, SPE_CLASS_LDST);
    payload = b.record.op;
    bench_close(&b);
    return payload;
}

static void test_dc_zva(void **state)
{
    static const char *const options[] = {"dc_zva_as=store", "dc_zva_as=cache_maintenance"};
    struct bench b;

    (void)state;
    for (unsigned cmo = 0; cmo < 2; cmo++) {
        struct spe_memory_access a = access_at(0x1000);
        struct spe_operation op = access_operation(SPE_OPERATION_DC_ZVA, &a, 1);

        a.store = true;
        bench_open(&b, ALL, options[cmo]);
        bench_record(&b, &op);
        /* D17.6-072 */
        assert_int_equal(b.record.op_class, cmo ? SPE_CLASS_OTHER : SPE_CLASS_LDST);
        assert_int_equal(b.record.op, cmo ? 0 : 0x11);
        assert_int_equal(bench_types(&b, &op), cmo ? 0 : TYPE_ST);
        bench_close(&b);
    }
}

/* ---- Events --------------------------------------------------------------------------------- */

static uint64_t events_of(struct bench *b, enum spe_operation_kind kind, uint32_t facts)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = memory(kind, &a);

    a.facts = facts;
    bench_record(b, &op);
    return b->record.events & ~UINT64_C(2);
}

/* Each fact alone, for loads and stores, with and without FEAT_SPEv1p4. */
static void test_events(void **state)
{
    static const struct {
        uint32_t fact;
        uint64_t load, store, old_load, old_store;
    } cases[] = {
        {SPE_FACT_L1D_ACCESS, BIT(2), BIT(2), BIT(2), BIT(2)}, /* D17.6-060 */
        {SPE_FACT_L1D_MISS, BIT(3), BIT(3), 0, 0},             /* D17.6-060 */
        {SPE_FACT_L1D_REFILL, 0, 0, BIT(3), BIT(3)},           /* D17.6-060 */
        {SPE_FACT_TLB_ACCESS, BIT(4), BIT(4), BIT(4), BIT(4)}, /* D17.6-061 */
        {SPE_FACT_TLB_WALK, BIT(5), BIT(5), BIT(5), BIT(5)},   /* D17.6-061 */
        {SPE_FACT_LLC_ACCESS, BIT(8), BIT(8), BIT(8), BIT(8)}, /* D17.6-062 */
        {SPE_FACT_LLC_MISS, BIT(9), BIT(9), BIT(9), BIT(9)},   /* D17.6-062 */
        {SPE_FACT_REMOTE, BIT(10), BIT(10), BIT(10), BIT(10)}, /* D17.6-063 */
        {SPE_FACT_REMOTE_LLC_HIT, 0, 0, 0, 0},
        {SPE_FACT_SLOW_ALIGNMENT, BIT(11), BIT(11), BIT(11), BIT(11)}, /* D17.6-066 */
        {SPE_FACT_L2D_ACCESS, BIT(19), 0, 0, 0},                       /* D17.6-067 */
        {SPE_FACT_L2D_MISS, BIT(20), 0, 0, 0},                         /* D17.6-067 */
        {SPE_FACT_MODIFIED_HIT, BIT(21), 0, 0, 0},                     /* D17.6-068 */
        {SPE_FACT_MODIFIED_SNOOP, BIT(21), 0, 0, 0},                   /* D17.6-068 */
        {SPE_FACT_RECENT, BIT(22), 0, 0, 0},                           /* D17.6-068 */
        {SPE_FACT_SNOOPED, BIT(23), 0, 0, 0},                          /* D17.6-069 */
    };
    struct bench now, old;

    (void)state;
    bench_open(&now, ALL, "");
    bench_open(&old, NO_V1P4, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        /* D17.6-060 */ /* D17.6-061 */ /* D17.6-062 */ /* D17.6-063 */ /* D17.6-066 */
        /* D17.6-067 */ /* D17.6-068 */ /* D17.6-069 */                 /* D18.2-072: X16 */
        assert_int_equal(events_of(&now, SPE_OPERATION_LOAD, cases[i].fact), cases[i].load);
        assert_int_equal(events_of(&now, SPE_OPERATION_STORE, cases[i].fact), cases[i].store);
        assert_int_equal(events_of(&now, SPE_OPERATION_ATOMIC, cases[i].fact), cases[i].load);
        assert_int_equal(events_of(&old, SPE_OPERATION_LOAD, cases[i].fact), cases[i].old_load);
        assert_int_equal(events_of(&old, SPE_OPERATION_STORE, cases[i].fact), cases[i].old_store);
    }
    assert_int_equal(events_of(&now, SPE_OPERATION_LOAD, 0), 0);
    bench_close(&now);
    bench_close(&old);
}

static void test_optional_events(void **state)
{
    static const struct {
        const char *option;
        uint64_t events;
    } cases[] = {
        {"ev_llc", BIT(8) | BIT(9)},  /* D17.6-062 */
        {"ev_remote", BIT(10)},       /* D17.6-063 */
        {"ev_align", BIT(11)},        /* D17.6-066 */
        {"ev_l2", BIT(19) | BIT(20)}, /* D17.6-067 */
        {"ev_modified", BIT(21)},     /* D17.6-068 */
        {"ev_recent", BIT(22)},       /* D17.6-068 */
        {"ev_snoop", BIT(23)},        /* D17.6-069 */
    };
    static const uint64_t all = BIT(24) - BIT(19) + 0xf3c;
    char options[40], why[256];
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (unsigned on = 0; on < 2; on++) {
            snprintf(options, sizeof(options), "%s=%u", cases[i].option, on);
            bench_open(&b, ALL, options);
            /* D17.6-062 */ /* D17.6-063 */ /* D17.6-066 */ /* D17.6-067 */ /* D17.6-068 */
            /* D17.6-069 */
            assert_int_equal(events_of(&b, SPE_OPERATION_LOAD, 0xffff),
                             on ? all : all & ~cases[i].events);
            bench_close(&b);
        }
    for (size_t i = 3; i < COUNT(cases); i++) { /* X05 */
        snprintf(options, sizeof(options), "%s=1", cases[i].option);
        /* D17.6-067 */ /* D17.6-068 */ /* D17.6-069 */
        assert_int_equal(bench_create(&b, NO_V1P4, options, why, sizeof(why)), SPE_ERR_INVALID);
    }
    assert_int_equal(bench_create(&b, NO_V1P1, "ev_align=1", why, sizeof(why)),
                     SPE_ERR_INVALID); /* D17.6-066 */
}

static void test_modified_scope(void **state)
{
    static const struct {
        const char *options;
        bool hit, snoop;
    } cases[] = {
        {"ev_modified_scope=cache_hit", true, false}, /* D18.2-069 */
        {"ev_modified_scope=snoop_hit", false, true}, /* D18.2-069 */
        {"ev_modified_scope=both", true, true},       /* D18.2-069 */
    };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bench_open(&b, ALL, cases[i].options);
        /* D18.2-069 */
        assert_int_equal(events_of(&b, SPE_OPERATION_LOAD, SPE_FACT_MODIFIED_HIT),
                         cases[i].hit ? BIT(21) : 0);
        assert_int_equal(events_of(&b, SPE_OPERATION_LOAD, SPE_FACT_MODIFIED_SNOOP),
                         cases[i].snoop ? BIT(21) : 0);
        bench_close(&b);
    }
}

static void test_last_level(void **state)
{
    uint32_t facts = SPE_FACT_LLC_ACCESS | SPE_FACT_LLC_MISS | SPE_FACT_REMOTE;
    struct bench b;

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        bench_open(&b, ALL, on ? "llc_includes_remote=1" : "llc_includes_remote=0");
        assert_int_equal(events_of(&b, SPE_OPERATION_LOAD, facts), 0x700);
        /* D18.2-082 */
        assert_int_equal(events_of(&b, SPE_OPERATION_LOAD, facts | SPE_FACT_REMOTE_LLC_HIT),
                         on ? 0x500 : 0x700);
        bench_close(&b);
    }
}

/* Per event: recorded for stores, zero, or now so and now so. Loads are not concerned. */
static void test_store_events(void **state)
{
    static const unsigned store_events[] = {2, 3, 8, 9, 10};
    static const char *const choices[] = {"recorded", "zero", "varying"};
    uint64_t all = BIT(2) | BIT(3) | BIT(8) | BIT(9) | BIT(10), rest = 0x830;
    char options[60];
    struct bench b;

    (void)state;
    for (size_t e = 0; e < COUNT(store_events); e++)
        for (unsigned choice = 0; choice < 3; choice++) {
            unsigned set = 0;

            /* D17.6-071 */ /* D18.2-072 */
            snprintf(options, sizeof(options), "store_cache_events=%u:%s", store_events[e],
                     choices[choice]);
            bench_open(&b, ALL, options);
            for (unsigned i = 0; i < 100; i++) {
                uint64_t events = events_of(&b, SPE_OPERATION_STORE, 0xffff);

                set += events >> store_events[e] & 1;
                assert_int_equal(events | BIT(store_events[e]), all | rest);
                assert_int_equal(events_of(&b, SPE_OPERATION_LOAD, 0xffff) & all, all);
            }
            /* D17.6-071 */ /* D18.2-072 */
            if (choice == 2)
                assert_in_range(set, 20, 80);
            else
                assert_int_equal(set, choice ? 0 : 100);
            bench_close(&b);
        }
    bench_open(&b, ALL, "store_cache_events=zero");                     /* all of them */
    assert_int_equal(events_of(&b, SPE_OPERATION_STORE, 0xffff), rest); /* D17.6-071 */
    bench_close(&b);
}

/* Sums of event bits over all operations are what a PMU would have counted. */
static void test_events_as_pmu(void **state)
{
    static const struct {
        uint32_t fact;
        uint8_t event;
        bool rd; /* has a PMU event that counts reads only */
    } counted[] = {
        {SPE_FACT_L1D_ACCESS, 2, true},  {SPE_FACT_L1D_MISS, 3, true},
        {SPE_FACT_TLB_ACCESS, 4, false}, {SPE_FACT_TLB_WALK, 5, false},
        {SPE_FACT_LLC_ACCESS, 8, true},  {SPE_FACT_LLC_MISS, 9, true},
        {SPE_FACT_REMOTE, 10, true},
    };
    struct bench b;

    (void)state;
    for (unsigned rd = 0; rd < 2; rd++) {
        unsigned pmu[COUNT(counted)] = {0}, bits[COUNT(counted)] = {0};

        bench_open(&b, ALL, rd ? "pmu_rd_only=1" : "pmu_rd_only=0");
        for (uint32_t facts = 0; facts < 1024; facts++)
            for (unsigned store = 0; store < 2; store++) {
                uint64_t events =
                    events_of(&b, store ? SPE_OPERATION_STORE : SPE_OPERATION_LOAD, facts);

                for (size_t i = 0; i < COUNT(counted); i++) {
                    pmu[i] += (facts & counted[i].fact) && !(rd && counted[i].rd && store);
                    bits[i] += events >> counted[i].event & 1;
                }
            }
        for (size_t i = 0; i < COUNT(counted); i++)
            assert_int_equal(bits[i], pmu[i]); /* D17.6-015 */ /* D18.2-083 */
        bench_close(&b);
    }
}

/* ---- Data source ---------------------------------------------------------------------------- */

static int source_of(struct bench *b, const struct spe_operation *op)
{
    bench_record(b, op);
    return b->record.has & SPE_HAS_SOURCE ? b->record.source : -1;
}

static void test_source(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    a.source = 0x42;
    for (unsigned wide = 0; wide < 2; wide++) {
        struct spe_operation load = memory(SPE_OPERATION_LOAD, &a);
        struct spe_operation atomic = memory(SPE_OPERATION_ATOMIC, &a);
        struct spe_operation store = memory(SPE_OPERATION_STORE, &a);

        bench_open(&b, ALL, wide ? "data_source=16bit" : "data_source=8bit"); /* D17.6-064 */
        assert_int_equal(source_of(&b, &load), 0x42); /* D18.2-052 */         /* D17.6-064 */
        assert_int_equal(b.record.source_size, 1 + wide);                     /* D17.6-064 */
        atomic.returns_value = true;
        assert_int_equal(source_of(&b, &atomic), 0x42); /* D18.2-052 */
        assert_int_equal(source_of(&b, &store), -1);
        a.store = false;
        a.has_source = false;
        assert_int_equal(source_of(&b, &load), 0); /* D18.2-052: it always has one */
        a.has_source = true;
        bench_close(&b);
    }
    bench_open(&b, ALL ",-spe_lds,-spe_fds", "");
    {
        struct spe_operation load = memory(SPE_OPERATION_LOAD, &a);

        assert_int_equal(b.config.data_source, SPE_SOURCE_NONE);
        assert_int_equal(source_of(&b, &load), -1); /* D17.6-064 */
    }
    bench_close(&b);
}

/* What the host does not know is absent, also where the architecture always has it. */
static void test_unmodelled(void **state)
{
    struct spe_memory_access a = {.va = 0x1000, .bytes = 8};
    struct spe_operation op = operation(SPE_OPERATION_LOAD);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    op.registers = SPE_REGISTERS_SVE;
    op.vl_bits = 128;
    op.accesses = &a;
    op.access_count = 1;
    bench_record(&b, &op);
    assert_true(b.record.has & SPE_HAS_SOURCE);
    assert_true(spe_record_has_counter(&b.record, SPE_COUNTER_TOTAL));
    op.unmodelled = true;
    bench_record(&b, &op);
    assert_false(b.record.has & SPE_HAS_SOURCE);
    assert_int_equal(b.record.counters, 0);
    assert_int_equal(address_of(&b, SPE_ADDRESS_VA), 0x1000);
    assert_int_equal(b.record.events, 2); /* retired */
    op.access_count = 0;
    bench_record(&b, &op);
    assert_false(b.record.has & SPE_HAS_SOURCE);
    assert_int_equal(b.record.counters, 0);
    assert_false(spe_record_has_address(&b.record, SPE_ADDRESS_VA));
    bench_close(&b);
}

static void test_source_refused(void **state)
{
    char why[256];
    struct bench b;

    (void)state;
    assert_int_equal(bench_create(&b, ALL, "data_source=none", why, sizeof(why)),
                     SPE_ERR_INVALID); /* D17.6-064 */
    assert_int_equal(
        bench_create(&b, ALL ",-spe_lds,-spe_fds", "data_source=8bit", why, sizeof(why)),
        SPE_ERR_INVALID); /* D17.6-064 */
}

static void test_source_map(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "data_source=16bit data_source_map=7,0x123,9");
    for (a.source = 0; a.source < 3; a.source++) {
        static const int mapped[] = {7, 0x123, 9};

        assert_int_equal(source_of(&b, &op), mapped[a.source]); /* D18.2-055 */
    }
    assert_int_equal(bench_sample(&b, &op), SPE_ERR_INVALID); /* there is no fourth */
    bench_close(&b);
    bench_open(&b, ALL, "data_source=16bit data_source_map=raw");
    a.source = 0xfedc;
    assert_int_equal(source_of(&b, &op), 0xfedc); /* D18.2-055 */
    bench_close(&b);
}

static void test_source_options(void **state)
{
    char options[120];
    struct bench b;

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        struct spe_memory_access a = access_at(0x1000);
        struct spe_operation load = memory(SPE_OPERATION_LOAD, &a);
        struct spe_operation atomic = memory(SPE_OPERATION_ATOMIC, &a);
        struct spe_operation st64bv = memory(SPE_OPERATION_STORE, &a);

        snprintf(options, sizeof(options),
                 "data_source_on_abort=%u data_source_st_atomic=%u st64bv_data_source=%u", on, on,
                 on);
        bench_open(&b, ALL, options);
        a.source = 3;
        assert_int_equal(source_of(&b, &st64bv), -1);
        st64bv.st64bv = true;
        assert_int_equal(source_of(&b, &st64bv), on ? 3 : -1); /* D17.6-108 */
        assert_int_equal(source_of(&b, &atomic), on ? 3 : -1); /* D18.2-054 */
        a.store = false;
        a.external_abort = true;
        load.exception = true;
        assert_int_equal(source_of(&b, &load), on ? 3 : -1); /* D18.2-053 */
        load.exception = false;
        a.external_abort = false;
        assert_int_equal(source_of(&b, &load), 3);
        bench_close(&b);
    }
}

/* ---- Several accesses ----------------------------------------------------------------------- */

/* Three lines of a contiguous load, given from the highest on; the middle one is slow. */
static void three_parts(struct spe_memory_access *a, struct spe_operation *op)
{
    static const uint32_t done[] = {20, 200, 30};

    for (unsigned i = 0; i < 3; i++) {
        a[i] = access_at(0x1080 - 64 * i);
        a[i].bytes = 64;
        a[i].source = (uint16_t)(10 + i);
        a[i].facts = SPE_FACT_TLB_ACCESS;
        a[i].wait_start = 2;
        a[i].translated_at = 4 + i;
        a[i].done_at = done[i];
    }
    a[1].facts |= SPE_FACT_L1D_MISS;
    *op = access_operation(SPE_OPERATION_LOAD, a, 3);
    op->execute_cycles = 10;
}

static unsigned part_of(const struct bench *b)
{
    return (unsigned)(0x1080 - address_of(b, SPE_ADDRESS_VA)) / 64;
}

static void test_all_parts(void **state)
{
    struct spe_memory_access a[3];
    struct spe_operation op;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "multi_access=all"); /* D17.6-073 */
    three_parts(a, &op);
    op.contiguous = true;
    for (unsigned i = 0; i < 20; i++) {
        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), 0x1000); /* D17.6-080 */
        assert_int_equal(address_of(&b, SPE_ADDRESS_PA), 0x80001000);
        assert_true(event(&b, SPE_EVENT_L1D_MISS)); /* D17.6-082 */   /* D17.6-073 */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 203);     /* D17.6-082 */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TRANSLATION), 4); /* D17.6-059 */
    }
    bench_close(&b);
}

/* A single access is its own lowest address, whatever the options. */
static void test_single_access(void **state)
{
    struct spe_memory_access a = access_at(0x1234);
    struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);
    struct bench b;

    (void)state;
    for (unsigned part = 0; part < 2; part++) {
        bench_open(&b, ALL, part ? "multi_access=part" : "multi_access=all");
        a.facts = SPE_FACT_L1D_MISS;
        a.wait_start = 3;
        a.translated_at = 10;
        a.done_at = 40;
        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), 0x1234);     /* D17.6-080 */
        assert_true(event(&b, SPE_EVENT_L1D_MISS));                   /* D17.6-082 */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 43);      /* D17.6-082 */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TRANSLATION), 7); /* D17.6-059 */
        op.contiguous = true;
        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), 0x1234); /* D17.6-080 */
        bench_close(&b);
    }
}

/* The chosen part, evenly. Returns after checking that parts and addresses come in thirds. */
static void check_choice_is_even(struct bench *b, const struct spe_operation *op, bool in_turn)
{
    uint32_t histogram[3] = {0};
    unsigned last = 3;

    for (unsigned i = 0; i < 3000; i++) {
        unsigned part;

        bench_record(b, op);
        part = part_of(b);
        assert_true(part < 3);
        if (in_turn && last < 3) /* D17.6-074 */
            assert_int_equal(part, (last + 1) % 3);
        last = part;
        histogram[part]++;
    }
    assert_true(chi_is_flat(histogram, 3)); /* D17.6-075 */
}

static void test_part_choice(void **state)
{
    static const char *const options[] = {
        "multi_access=part part_choice=random", "multi_access=part part_choice=round_robin",
        "multi_access=all part_choice=random", "multi_access=all part_choice=round_robin"};
    struct spe_memory_access a[3];
    struct spe_operation op;
    struct bench b;

    (void)state;
    three_parts(a, &op); /* not contiguous */
    for (unsigned i = 0; i < 4; i++) {
        /* D17.6-074 */ /* D17.6-075 */ /* D17.6-077 */ /* D17.6-081 */
        bench_open(&b, ALL, options[i]);
        check_choice_is_even(&b, &op, i & 1);
        bench_close(&b);
    }
}

/* What belongs to the chosen part, and what to the whole. */
static void check_part(struct bench *b, const struct spe_operation *op, unsigned part, bool whole)
{
    static const unsigned done[] = {20, 200, 30};

    assert_int_equal(event(b, SPE_EVENT_L1D_MISS), whole || part == 1); /* D17.6-078 */
    assert_int_equal(counter_of(b, SPE_COUNTER_TOTAL),
                     3 + (whole ? 200 : done[part]));                   /* D17.6-078 */
    assert_int_equal(counter_of(b, SPE_COUNTER_TRANSLATION), 2 + part); /* D17.6-079 */
    assert_int_equal(b->record.source, 10 + part);                      /* D17.6-065 */
    assert_int_equal(address_of(b, SPE_ADDRESS_PA),
                     address_of(b, SPE_ADDRESS_VA) + 0x80000000); /* D17.6-077 */
    (void)op;
}

static void test_part_contents(void **state)
{
    static const char *const options[] = {"multi_access=part part_events=chosen",
                                          "multi_access=part part_events=whole"};
    struct spe_memory_access a[3];
    struct spe_operation op;
    struct bench b;

    (void)state;
    three_parts(a, &op);
    for (unsigned whole = 0; whole < 2; whole++) {
        unsigned seen = 0;

        bench_open(&b, ALL, options[whole]); /* D17.6-073 */ /* D17.6-078 */
        for (unsigned i = 0; i < 100; i++) {
            bench_record(&b, &op);
            check_part(&b, &op, part_of(&b), whole);
            seen |= 1u << part_of(&b);
        }
        assert_int_equal(seen, 7);
        bench_close(&b);
    }
}

static void test_part_contiguous(void **state)
{
    static const char *const options[] = {"multi_access=part part_contig_va=lowest",
                                          "multi_access=part part_contig_va=chosen"};
    struct spe_memory_access a[3];
    struct spe_operation op;
    struct bench b;

    (void)state;
    three_parts(a, &op);
    op.contiguous = true;
    for (unsigned chosen = 0; chosen < 2; chosen++) {
        unsigned vas = 0, parts = 0;

        bench_open(&b, ALL, options[chosen]); /* D17.6-076 */
        for (unsigned i = 0; i < 100; i++) {
            bench_record(&b, &op);
            vas |= 1u << part_of(&b);
            parts |= 1u << (b.record.source - 10);
            if (chosen)
                assert_int_equal(part_of(&b), b.record.source - 10u);
        }
        assert_int_equal(parts, 7);
        assert_int_equal(vas, chosen ? 7 : 4); /* D17.6-076 */
        bench_close(&b);
    }
}

static void test_combined_source(void **state)
{
    static const char *const options[] = {"data_source_multi=combined multi_access=all",
                                          "data_source_multi=chosen_part multi_access=all",
                                          "data_source_multi=combined multi_access=part",
                                          "data_source_multi=chosen_part multi_access=part"};
    struct spe_memory_access a[3];
    struct spe_operation op;
    struct bench b;

    (void)state;
    three_parts(a, &op);
    for (unsigned n = 0; n < 4; n++) {
        unsigned seen = 0;

        bench_open(&b, ALL, options[n]);
        for (unsigned i = 0; i < 100; i++) {
            bench_record(&b, &op);
            seen |= 1u << (b.record.source - 10);
        }
        assert_int_equal(seen, n & 1 ? 7 : 2); /* D17.6-065 */ /* D18.2-055 */
        bench_close(&b);
    }
}

/* ---- Translation latency -------------------------------------------------------------------- */

static void test_translation_rule(void **state)
{
    static const char *const options[] = {
        "multi_access=all xlat_latency_rule=waiting",
        "multi_access=all xlat_latency_rule=waiting_and_none_accessing"};
    /* wait_start, translated_at, done_at: waits 0-10 and 5-30 and 40-41; the first accesses 10-25,
     * the second 30-50, the third not at all. */
    static const uint32_t times[3][3] = {{0, 10, 25}, {5, 30, 50}, {40, 41, 41}};
    static const unsigned expected[] = {30 + 1, 10 + 5};
    struct spe_memory_access a[3];
    struct bench b;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        a[i] = access_at(0x1000 * i);
        a[i].wait_start = times[i][0];
        a[i].translated_at = times[i][1];
        a[i].done_at = times[i][2];
    }
    for (unsigned n = 0; n < 2; n++) {
        struct spe_operation op = access_operation(SPE_OPERATION_LOAD, a, 3);

        bench_open(&b, ALL, options[n]); /* D17.6-083 */
        bench_record(&b, &op);
        /* D17.6-083 */ /* D17.6-059 */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TRANSLATION), expected[n]);
        bench_close(&b);
    }
}

/* A cycle at a time, over random times. */
static void test_translation_by_cycles(void **state)
{
    uint32_t seed = 12345;
    struct bench b[2];

    (void)state;
    bench_open(&b[0], ALL, "multi_access=all xlat_latency_rule=waiting");
    bench_open(&b[1], ALL, "multi_access=all xlat_latency_rule=waiting_and_none_accessing");
    for (unsigned round = 0; round < 300; round++) {
        struct spe_memory_access a[5];
        struct spe_operation op = access_operation(SPE_OPERATION_LOAD, a, 2 + round % 4);
        unsigned expected[2] = {0, 0};

        for (unsigned i = 0; i < 5; i++) {
            a[i] = access_at(0x1000 * i);
            a[i].wait_start = (seed = seed * 1103515245 + 12345) >> 16 & 31;
            a[i].translated_at = a[i].wait_start + ((seed = seed * 1103515245 + 12345) >> 16 & 31);
            a[i].done_at = a[i].translated_at + ((seed = seed * 1103515245 + 12345) >> 16 & 31);
        }
        for (unsigned cycle = 0; cycle < 100; cycle++) {
            bool waits = false, accesses = false;

            for (unsigned i = 0; i < op.access_count; i++) {
                waits |= cycle >= a[i].wait_start && cycle < a[i].translated_at;
                accesses |= cycle >= a[i].translated_at && cycle < a[i].done_at;
            }
            expected[0] += waits;
            expected[1] += waits && !accesses;
        }
        for (unsigned n = 0; n < 2; n++) {
            bench_record(&b[n], &op);
            assert_int_equal(counter_of(&b[n], SPE_COUNTER_TRANSLATION), expected[n]);
        }
    }
    bench_close(&b[0]);
    bench_close(&b[1]);
}

/* No access, no address: {translated or not} x options. */
static void test_no_access(void **state)
{
    static const uint64_t access_bits = UINT64_C(0xf80f3c);
    char options[80];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 8; n++) {
        bool zero = n & 1, translated = n & 2, events_zero = n & 4;
        struct spe_memory_access a = access_at(0x103e); /* crosses a line */
        struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);

        snprintf(options, sizeof(options), "no_access_xlat=%s no_access_events=%s",
                 zero ? "zero" : "omit", events_zero ? "zero" : "recorded");
        bench_open(&b, ALL, options);
        a.facts = 0xffff;
        a.unperformed = true;
        a.untranslated = !translated;
        a.translated_at = 30;
        bench_record(&b, &op);
        assert_int_equal(b.record.events & access_bits, 0); /* D17.6-091 */
        /* D17.6-088 */                                     /* D17.6-089 */
        assert_int_equal(has_counter(&b, SPE_COUNTER_TRANSLATION), translated && zero);
        if (translated && zero)
            assert_int_equal(counter_of(&b, SPE_COUNTER_TRANSLATION), 0); /* D17.6-088 */
        assert_int_equal(has_address(&b, SPE_ADDRESS_PA), translated);    /* D17.6-084 */
        bench_close(&b);
    }
}

/* The access is made, but its address must not be told: an NV2 access, here. */
static void test_no_address(void **state)
{
    static const uint64_t access_bits = UINT64_C(0xf80f3c);
    char options[80];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        bool zero = n & 1, events_zero = n & 2;
        struct spe_memory_access a = access_at(0x1000);
        struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);

        snprintf(options, sizeof(options), "no_access_xlat=%s no_access_events=%s",
                 zero ? "zero" : "omit", events_zero ? "zero" : "recorded");
        bench_open(&b, ALL, options);
        op.registers = SPE_REGISTERS_NV2;
        a.facts = 0xffff;
        a.translated_at = 30;
        bench_record(&b, &op);
        assert_false(has_address(&b, SPE_ADDRESS_VA));
        assert_int_equal(b.record.events & access_bits,
                         events_zero ? 0 : access_bits);                  /* D17.6-090 */
        assert_int_equal(has_counter(&b, SPE_COUNTER_TRANSLATION), zero); /* D17.6-088 */
        if (zero)
            assert_int_equal(counter_of(&b, SPE_COUNTER_TRANSLATION), 0); /* D17.6-088 */
        bench_close(&b);
    }
}

/* ---- FEAT_MTE (D17.6.4.1) ------------------------------------------------------------------- */

static void test_tag_addresses(void **state)
{
    char options[80];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        bool base = n & 1, pa_base = n & 2;
        struct spe_memory_access a = access_at(0x1009);
        struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);

        snprintf(options, sizeof(options), "tag_access_va=%s tag_access_pa=%s",
                 base ? "granule_base" : "location", pa_base ? "from_granule_base" : "from_va");
        bench_open(&b, ALL, options);
        op.registers = SPE_REGISTERS_TAG;
        a.pa = 0x50009;
        a.granule_pa = 0x50000;
        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), base ? 0x1000 : 0x1009); /* D17.6-092 */
        /* D17.6-096; where the address is the granule's, its translation is meant by both */
        assert_int_equal(address_of(&b, SPE_ADDRESS_PA), base || pa_base ? 0x50000 : 0x50009);
        a.granule_pa = a.pa;
        a.va = 0x1000;
        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_PA), 0x50009); /* D17.6-095: they are equal */
        a.va = 0x1234;
        a.granule = 256; /* LDGM */
        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), base ? 0x1200 : 0x1234); /* D17.6-092 */
        op.registers = SPE_REGISTERS_GENERAL; /* others are not concerned */
        a.granule_pa = 0x77777;
        bench_record(&b, &op);
        assert_int_equal(address_of(&b, SPE_ADDRESS_VA), 0x1234);
        assert_int_equal(address_of(&b, SPE_ADDRESS_PA), 0x50009);
        bench_close(&b);
    }
}

static void test_tag_types(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    /* D17.6-054 */ /* D17.6-097 */
    assert_int_equal(payload_of(ALL, "", SPE_OPERATION_LOAD, SPE_REGISTERS_TAG), 0x14);
    assert_int_equal(payload_of(ALL, "", SPE_OPERATION_STORE, SPE_REGISTERS_TAG), 0x15);
    /* D17.6-098 */
    assert_int_equal(
        payload_of(ALL, "tag_data_store_as=general", SPE_OPERATION_STORE, SPE_REGISTERS_TAG_DATA),
        0x01);
    assert_int_equal(payload_of(ALL, "tag_data_store_as=unspecified", SPE_OPERATION_STORE,
                                SPE_REGISTERS_TAG_DATA),
                     0x11);
    /* D17.6-102 */
    assert_int_equal(
        payload_of(NO_V1P3, "pre_v1p3_tag_mops_as=general", SPE_OPERATION_STORE, SPE_REGISTERS_TAG),
        0x01);
    assert_int_equal(payload_of(NO_V1P3, "pre_v1p3_tag_mops_as=unspecified", SPE_OPERATION_LOAD,
                                SPE_REGISTERS_TAG),
                     0x10);
    assert_int_equal(payload_of(ALL NO_MTE, "", SPE_OPERATION_LOAD, SPE_REGISTERS_TAG), 0x00);
    bench_open(&b, ALL, "");
    {
        struct spe_operation ldg = memory(SPE_OPERATION_LOAD, &a);

        ldg.registers = SPE_REGISTERS_TAG;
        assert_int_equal(bench_types(&b, &ldg), TYPE_LD); /* D17.6-093 */
        ldg = memory(SPE_OPERATION_STORE, &a);
        ldg.registers = SPE_REGISTERS_TAG;
        assert_int_equal(bench_types(&b, &ldg), TYPE_ST); /* D17.6-093 */
    }
    bench_close(&b);
}

static void test_refused_before_v1p1(void **state)
{
    static const char *const refused[] = {
        "pre_v1p3_tag_mops_as=unspecified", /* D17.6-102 */
        "tag_data_store_as=unspecified",    /* D17.6-098 */
        "dc_zva_as=store",                  /* D17.6-072 */
    };
    char why[256];
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) /* D17.6-102 */ /* D17.6-098 */ /* D17.6-072 */
        assert_int_equal(bench_create(&b, NO_V1P1, refused[i], why, sizeof(why)), SPE_ERR_INVALID);
}

/* ---- FEAT_NV2 (D17.6.4.2) ------------------------------------------------------------------- */

static void test_nv2(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    /* D17.6-055 */ /* D17.6-099 */
    assert_int_equal(payload_of(ALL, "", SPE_OPERATION_LOAD, SPE_REGISTERS_NV2), 0x30);
    assert_int_equal(payload_of(ALL, "", SPE_OPERATION_STORE, SPE_REGISTERS_NV2), 0x31);
    assert_int_equal(payload_of(ALL ",-nv2", "", SPE_OPERATION_LOAD, SPE_REGISTERS_NV2), 0x00);
    for (unsigned on = 0; on < 2; on++) {
        struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);

        bench_open(&b, ALL, "");
        b.pe.el = 1;
        b.pe.mdcr_el2 = 0; /* EL2 owns the buffer and may profile itself */
        bench_pe(&b);
        bench_set(&b, SPE_REG_PMSCR_EL2, on ? 0x12 : 0x10);
        op.registers = SPE_REGISTERS_NV2;
        bench_record(&b, &op);
        assert_int_equal(has_address(&b, SPE_ADDRESS_VA), on);                 /* D17.6-100 */
        assert_int_equal(has_address(&b, SPE_ADDRESS_PA), on); /* D17.6-100 */ /* D17.6-085 */
        op.registers = SPE_REGISTERS_GENERAL;
        bench_record(&b, &op);
        assert_true(has_address(&b, SPE_ADDRESS_VA));
        bench_close(&b);
    }
}

/* ---- Both ways: FEAT_MOPS and GCSSS2 (D17.6.4.3, D17.6.4.5) --------------------------------- */

enum { SOURCE = 0x10000, DESTINATION = 0x20000 };

/* Two loads and two stores; which one is sampled tells by its address. */
static void both_ways(struct spe_memory_access *a, struct spe_operation *op, uint8_t kind)
{
    for (unsigned i = 0; i < 4; i++) {
        a[i] = access_at((i & 1 ? DESTINATION : SOURCE) + 64 * (i / 2));
        a[i].store = i & 1;
    }
    *op = access_operation(kind, a, 4);
}

static void test_both_ways(void **state)
{
    static const struct {
        uint8_t kind, payload;
    } cases[] = {{SPE_OPERATION_MEMCPY, 0x20}, {SPE_OPERATION_GCS, 0x44}};
    struct spe_memory_access a[4];
    struct spe_operation op;
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (unsigned filter = 0; filter < 4; filter++) {
            static const uint64_t pmsfcr[] = {0, TYPE_LD << 16 | 2, TYPE_ST << 16 | 2,
                                              (TYPE_LD | TYPE_ST) << 16 | 2};
            uint32_t stores[2] = {0};

            bench_open(&b, ALL, "");
            bench_set(&b, SPE_REG_PMSFCR_EL1, pmsfcr[filter]);
            both_ways(a, &op, cases[i].kind);
            for (unsigned n = 0; n < 2000; n++) {
                bool store;

                bench_record(&b, &op);
                store = b.type.store;
                stores[store]++;
                assert_int_equal(b.record.op, cases[i].payload | store);
                /* D17.6-106 */ /* D17.6-112 */
                assert_int_equal(address_of(&b, SPE_ADDRESS_VA) & ~0xffffu,
                                 store ? DESTINATION : SOURCE);
                assert_int_equal((b.record.has & SPE_HAS_SOURCE) != 0, !store);
            }
            if (filter == 1)
                assert_int_equal(stores[1], 0); /* D17.6-104 */ /* D17.6-110 */
            else if (filter == 2)
                assert_int_equal(stores[0], 0); /* D17.6-104 */ /* D17.6-110 */
            else
                assert_true(chi_is_flat(stores, 2)); /* D17.6-105 */ /* D17.6-111 */
            bench_close(&b);
        }
}

/* Only one way: nothing to choose. A swap that returns a value is a load and a store. */
static void test_one_way(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (unsigned store = 0; store < 2; store++)
        for (unsigned i = 0; i < 20; i++) {
            struct spe_operation op = access_operation(SPE_OPERATION_GCS, &a, 1);

            a.store = store;
            bench_record(&b, &op);
            assert_int_equal(b.record.op, 0x44 | store); /* D17.6-070 */
            op.kind = SPE_OPERATION_MEMCPY;
            bench_record(&b, &op);
            assert_int_equal(b.record.op, 0x20 | store);
        }
    {
        struct spe_operation swap = access_operation(SPE_OPERATION_GCS, &a, 1);

        swap.returns_value = true; /* GCSSS1 */
        a.facts = SPE_FACT_L2D_ACCESS;
        bench_record(&b, &swap);
        assert_int_equal(b.record.op, 0x44);
        assert_true(event(&b, SPE_EVENT_L2D_ACCESS));
        assert_int_equal(bench_types(&b, &swap), TYPE_LD | TYPE_ST);
        bench_close(&b);
        bench_open(&b, ALL MICRO_OPS, "");
        swap.link = true; /* the access of a BL, as a micro-operation of its own */
        swap.returns_value = false;
        bench_record(&b, &swap);
        assert_int_equal(b.record.op, 0x41);
    }
    bench_close(&b);
}

static void test_mops(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    /* D17.6-056 */ /* D17.6-103 */
    assert_int_equal(payload_of(ALL, "", SPE_OPERATION_MEMCPY, 0), 0x20);
    assert_int_equal(payload_of(ALL, "", SPE_OPERATION_MEMSET, 0), 0x25);
    /* D17.6-102 */
    assert_int_equal(payload_of(NO_V1P3, "pre_v1p3_tag_mops_as=general", SPE_OPERATION_MEMSET, 0),
                     0x01);
    assert_int_equal(
        payload_of(NO_V1P3, "pre_v1p3_tag_mops_as=unspecified", SPE_OPERATION_MEMCPY, 0), 0x10);
    assert_int_equal(payload_of(ALL ",-mops", "", SPE_OPERATION_MEMCPY, 0), 0x00);
    bench_open(&b, ALL, "spec_sampling=1");
    for (unsigned set = 0; set < 2; set++) {
        struct spe_operation op = memory(set ? SPE_OPERATION_MEMSET : SPE_OPERATION_MEMCPY, &a);

        op.unfinished_mops = true;
        bench_record(&b, &op);
        assert_int_equal(b.record.events & 3, 2); /* D17.6-101 */
        op.exception = true;                      /* by a fault in the middle */
        bench_record(&b, &op);
        assert_int_equal(b.record.events & 3, 3); /* D17.6-101 */
        op.access_count = 0;                      /* of no bytes: nothing was accessed */
        op.exception = false;
        bench_record(&b, &op);
        assert_false(has_address(&b, SPE_ADDRESS_VA));
    }
    bench_close(&b);
}

/* ---- FEAT_LS64 (D17.6.4.4) ------------------------------------------------------------------ */

static void test_ls64(void **state)
{
    static const char *const options[] = {"st64bv_latency=as_store", "st64bv_latency=to_result"};
    struct bench b;

    (void)state;
    for (unsigned to_result = 0; to_result < 2; to_result++) {
        struct spe_memory_access a = access_at(0x1000);
        struct spe_operation ld64b, st64b;

        bench_open(&b, ALL, options[to_result]);
        a.bytes = 64;
        ld64b = memory(SPE_OPERATION_LOAD, &a);
        bench_record(&b, &ld64b);
        assert_false(b.type.store);                         /* D17.6-107 */
        assert_int_equal(bench_types(&b, &ld64b), TYPE_LD); /* D17.6-107 */
        st64b = memory(SPE_OPERATION_STORE, &a);
        st64b.result_cycles = 700;
        for (unsigned v = 0; v < 2; v++) {
            st64b.st64bv = v;
            bench_record(&b, &st64b);
            assert_true(b.type.store); /* D17.6-107 */
            /* D17.6-109 */
            assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), v && to_result ? 708 : 8);
            assert_int_equal(bench_types(&b, &st64b), TYPE_ST); /* D17.6-107 */
        }
        bench_close(&b);
    }
}

/* ---- Alignment (D17.6.4.6) ------------------------------------------------------------------ */

static bool slow(struct bench *b, uint64_t va, uint32_t bytes)
{
    struct spe_memory_access a = access_at(va);
    struct spe_operation op = memory(SPE_OPERATION_LOAD, &a);

    a.bytes = bytes;
    bench_record(b, &op);
    return event(b, SPE_EVENT_MISALIGNED);
}

static void test_alignment(void **state)
{
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "align_rule=line_crossing line_bytes=64");
    assert_false(slow(&b, 0x1001, 4)); /* D17.6-115 */ /* D17.6-116: within a line */
    assert_true(slow(&b, 0x103e, 4)); /* D17.6-114 */  /* D17.6-116: spans a line */
    assert_false(slow(&b, 0x103c, 4));
    assert_false(slow(&b, 0x1000, 128)); /* D17.6-116: two lines, aligned */
    assert_true(slow(&b, 0x1008, 128));  /* D17.6-116 */
    assert_false(slow(&b, 0x103f, 1));
    assert_false(slow(&b, 0x103f, 0));
    assert_true(slow(&b, UINT64_MAX - 2, 4)); /* around the end of the space */
    bench_close(&b);
    bench_open(&b, ALL, "align_rule=16"); /* D17.6-117 */
    assert_false(slow(&b, 0x100c, 4));
    assert_true(slow(&b, 0x100e, 4)); /* D17.6-117: the boundary has moved */
    assert_false(slow(&b, 0x1000, 64));
    assert_true(slow(&b, 0x1008, 64));
    bench_close(&b);
    bench_open(&b, ALL, "align_rule=line_crossing line_bytes=128"); /* D17.6-117 */
    assert_false(slow(&b, 0x103e, 4));
    assert_true(slow(&b, 0x107e, 4));
    bench_close(&b);
    bench_open(&b, NO_V1P1, "");
    assert_false(slow(&b, 0x103e, 4)); /* D17.6-114: FEAT_SPEv1p1 */
    bench_close(&b);
}

/* Parts that are contiguous are one stretch; those that are not are each on their own. */
static void test_alignment_of_parts(void **state)
{
    struct spe_memory_access a[3];
    struct spe_operation op = access_operation(SPE_OPERATION_LOAD, a, 2);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "multi_access=all");
    for (unsigned i = 0; i < 3; i++)
        a[i] = access_at(0x1000 + 64 * i);
    a[0].bytes = a[1].bytes = 64;
    op.contiguous = true;
    bench_record(&b, &op);
    assert_false(event(&b, SPE_EVENT_MISALIGNED)); /* D17.6-116: a vector of two lines */
    a[0].va = 0x103c;
    a[0].bytes = a[1].bytes = 4; /* one access of eight bytes that was split at the line */
    bench_record(&b, &op);
    assert_true(event(&b, SPE_EVENT_MISALIGNED)); /* D17.6-114 */
    a[0].va = 0x1040;                             /* the same, given the other way round */
    a[1].va = 0x103c;
    bench_record(&b, &op);
    assert_true(event(&b, SPE_EVENT_MISALIGNED)); /* D17.6-114 */
    a[0].unperformed = a[1].unperformed = true;
    bench_record(&b, &op);
    assert_false(event(&b, SPE_EVENT_MISALIGNED)); /* D17.6-091 */
    a[0].unperformed = a[1].unperformed = false;
    op.contiguous = false;
    bench_record(&b, &op);
    assert_false(event(&b, SPE_EVENT_MISALIGNED));
    op.access_count = 3; /* D17.6-116: any non-optimal one */
    a[2].va = 0x10fe;
    bench_record(&b, &op);
    assert_true(event(&b, SPE_EVENT_MISALIGNED));
    bench_close(&b);
    /* As the host saw it: a penalty that the rule does not know. */
    bench_open(&b, ALL, "");
    a[0].facts = SPE_FACT_SLOW_ALIGNMENT;
    op.access_count = 1;
    bench_record(&b, &op);
    assert_true(event(&b, SPE_EVENT_MISALIGNED)); /* D17.6-114 */
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_physical_space),
        cmocka_unit_test(test_checked),
        cmocka_unit_test(test_no_physical_address),
        cmocka_unit_test(test_exclusive_fails),
        cmocka_unit_test(test_collecting_costs),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_dc_zva),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_optional_events),
        cmocka_unit_test(test_modified_scope),
        cmocka_unit_test(test_last_level),
        cmocka_unit_test(test_store_events),
        cmocka_unit_test(test_events_as_pmu),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_unmodelled),
        cmocka_unit_test(test_source_refused),
        cmocka_unit_test(test_source_map),
        cmocka_unit_test(test_source_options),
        cmocka_unit_test(test_all_parts),
        cmocka_unit_test(test_single_access),
        cmocka_unit_test(test_part_choice),
        cmocka_unit_test(test_part_contents),
        cmocka_unit_test(test_part_contiguous),
        cmocka_unit_test(test_combined_source),
        cmocka_unit_test(test_translation_rule),
        cmocka_unit_test(test_translation_by_cycles),
        cmocka_unit_test(test_no_access),
        cmocka_unit_test(test_no_address),
        cmocka_unit_test(test_tag_addresses),
        cmocka_unit_test(test_tag_types),
        cmocka_unit_test(test_refused_before_v1p1),
        cmocka_unit_test(test_nv2),
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_mops),
        cmocka_unit_test(test_ls64),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_alignment_of_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
