/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.6.9: what the controls let a record hold: timestamp (Table D17-3 over all of its inputs,
 * typed in from the requirements), contexts, physical address. Everything is read from written
 * records.
 */
#include "support/sampling_unit.h"

#define NOW UINT64_C(0x123456789abcdef0)
#define VIRTUAL_OFFSET UINT64_C(0x1111111111111)
#define PHYSICAL_OFFSET UINT64_C(0xfedc000000000000) /* larger than the count: it wraps */

#define NO_EL2 ALL ",-el2,-rme,-sel2,-vhe,-e2h0,-nv,-nv2,-ecv_poff"
#define NO_EL3 ALL ",-el3,-rme,-secure,-sel2"

enum { SCR_NS_BIT = 0, SCR_EEL2_BIT = 18, SCR_ECVEN_BIT = 28 };
enum { HCR_TGE_BIT = 27, HCR_E2H_BIT = 34 };
enum { E0SPE = 1, E1SPE = 2, CX = 8, PA = 16, TS = 32, PCT_SHIFT = 6 };

static void put(uint64_t *word, unsigned bit, bool value)
{
    *word = (*word & ~BIT(bit)) | (uint64_t)value << bit;
}

/* EL2 is disabled in Secure state, which then owns the buffer. */
static void set_el2(struct bench *b, bool enabled)
{
    put(&b->pe.scr_el3, SCR_NS_BIT, enabled);
    put(&b->pe.scr_el3, SCR_EEL2_BIT, false);
    put(&b->pe.mdcr_el3, 13, enabled);
}

static void set_owner(struct bench *b, unsigned el)
{
    b->pe.mdcr_el2 = el == 2 ? 0 : UINT64_C(3) << 12;
}

static void begin(struct bench *b, const char *features, const char *options)
{
    bench_open(b, features, options);
    b->now = NOW;
    b->pe.cntvoff_el2 = VIRTUAL_OFFSET;
    b->pe.cntpoff_el2 = PHYSICAL_OFFSET;
    b->pe.cnthctl_el2 = BIT(12);
    put(&b->pe.scr_el3, SCR_ECVEN_BIT, true);
}

/* Take one sample with these controls beside the enables. */
static void sample(struct bench *b, uint64_t pmscr_el1, uint64_t pmscr_el2)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = access_operation(SPE_OPERATION_LOAD, &a, 1);

    bench_pe(b);
    bench_set(b, SPE_REG_PMSCR_EL1, pmscr_el1 | E0SPE | E1SPE);
    bench_set(b, SPE_REG_PMSCR_EL2, pmscr_el2 | E0SPE | E1SPE);
    bench_record(b, &op);
}

/* ---- Table D17-3 ---------------------------------------------------------------------------- */

struct inputs {
    bool el2;
    unsigned owner, pct2, ts2, pct1, ts1;
};

struct row {
    const char *el2, *owner, *pct2, *ts2, *pct1, *ts1;
    char result; /* N: none, V, P, O: physical count minus virtual, no, physical offset */
};

static const struct row table[] = {
    {"x", "1", "xx", "x", "xx", "0", 'N'}, /* D17.6-177 */
    {"x", "1", "xx", "x", "00", "1", 'V'}, /* D17.6-178 */
    {"F", "1", "xx", "x", "01", "1", 'P'}, /* D17.6-179 */
    {"F", "1", "xx", "x", "11", "1", 'O'}, /* D17.6-180 */
    {"T", "1", "00", "x", "xx", "1", 'V'}, /* D17.6-181 */
    {"T", "1", "01", "x", "01", "1", 'P'}, /* D17.6-182 */
    {"T", "1", "01", "x", "11", "1", 'O'}, /* D17.6-183 */
    {"T", "1", "11", "x", "01", "1", 'O'}, /* D17.6-184 */
    {"T", "1", "11", "x", "11", "1", 'O'}, /* D17.6-185 */
    {"T", "2", "xx", "0", "xx", "x", 'N'}, /* D17.6-186 */
    {"T", "2", "00", "1", "xx", "x", 'V'}, /* D17.6-187 */
    {"T", "2", "01", "1", "xx", "x", 'P'}, /* D17.6-188 */
    {"T", "2", "11", "1", "xx", "x", 'O'}, /* D17.6-189 */
};

static bool matches(const char *pattern, unsigned value)
{
    size_t width = strlen(pattern);

    for (size_t i = 0; i < width; i++)
        if (pattern[i] != 'x' && (unsigned)(pattern[i] - '0') != (value >> (width - 1 - i) & 1))
            return false;
    return true;
}

static char look_up(const struct inputs *in)
{
    char result = 0;

    for (size_t i = 0; i < COUNT(table); i++) {
        const struct row *r = &table[i];

        if (r->el2[0] != 'x' && (r->el2[0] == 'T') != in->el2)
            continue;
        if ((unsigned)(r->owner[0] - '0') != in->owner || !matches(r->pct2, in->pct2) ||
            !matches(r->ts2, in->ts2) || !matches(r->pct1, in->pct1) || !matches(r->ts1, in->ts1))
            continue;
        assert_true(result == 0 || result == r->result); /* rows that overlap agree */
        result = r->result;
    }
    assert_int_not_equal(result, 0); /* no input is forgotten */
    return result;
}

/* D17.6-172: the three values. */
static uint64_t time_of(char result)
{
    switch (result) {
    case 'V':
        return NOW - VIRTUAL_OFFSET;
    case 'O':
        return NOW - PHYSICAL_OFFSET;
    default:
        return NOW;
    }
}

static void check_row(struct bench *b, const struct inputs *in, char expected)
{
    unsigned highest = in->owner;

    for (unsigned el = 0; el <= highest; el++) {
        set_el2(b, in->el2);
        set_owner(b, in->owner);
        b->pe.el = (uint8_t)el;
        sample(b, (uint64_t)in->pct1 << PCT_SHIFT | (in->ts1 ? TS : 0),
               (uint64_t)in->pct2 << PCT_SHIFT | (in->ts2 ? TS : 0));
        /* D17.6-001 */ /* D17.6-171 */ /* D18.2-143 is the End packet that is there instead */
        assert_int_equal(b->record.has & SPE_HAS_TIMESTAMP,
                         expected == 'N' ? 0 : SPE_HAS_TIMESTAMP);
        if (expected != 'N') /* D17.6-172 */ /* D18.2-142 */
            assert_int_equal(b->record.timestamp, time_of(expected));
    }
}

/* All inputs; PCT 0b10 is looked up as what pct_reserved_as says. */
static void check_table(struct bench *b, unsigned reserved_as)
{
    for (unsigned n = 0; n < 2 * 2 * 4 * 2 * 4 * 2; n++) {
        struct inputs in = {
            .el2 = n & 1,
            .owner = n & 2 ? 2 : 1,
            .pct2 = n >> 2 & 3,
            .ts2 = n >> 4 & 1,
            .pct1 = n >> 5 & 3,
            .ts1 = n >> 7 & 1,
        };
        struct inputs looked = in;

        if (in.owner == 2 && !in.el2)
            continue; /* there is no such owner: D17.6-173 has a test of its own */
        looked.pct1 = in.pct1 == 2 ? reserved_as : in.pct1;
        looked.pct2 = in.pct2 == 2 ? reserved_as : in.pct2;
        check_row(b, &in, look_up(&looked));
    }
}

static void test_table(void **state)
{
    static const char *const options[] = {"pct_reserved_as=0b00", "pct_reserved_as=0b01",
                                          "pct_reserved_as=0b11"};
    static const unsigned reserved[] = {0, 1, 3};
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(options); i++) { /* D17.6-190 */
        begin(&b, ALL, options[i]);
        check_table(&b, reserved[i]);
        bench_close(&b);
    }
}

/* EL2 that is disabled owns nothing, whatever E2PB says. */
static void test_owner_without_el2(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, ALL, "");
    set_el2(&b, false);
    set_owner(&b, 2);
    b.pe.el = 1;
    sample(&b, TS | 1 << PCT_SHIFT, 0);
    assert_int_equal(b.record.timestamp, NOW); /* D17.6-173 */
    sample(&b, 0, TS | 1 << PCT_SHIFT);
    assert_false(b.record.has & SPE_HAS_TIMESTAMP); /* D17.6-173 */
    bench_close(&b);
}

/* Without FEAT_ECV only the low bit of PCT exists; without EL2 the time is physical. */
static void test_time_without_features(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, ALL ",-ecv,-ecv_poff", "");
    for (unsigned pct2 = 0; pct2 < 4; pct2++)
        for (unsigned pct1 = 0; pct1 < 4; pct1++) {
            sample(&b, TS | (uint64_t)pct1 << PCT_SHIFT, (uint64_t)pct2 << PCT_SHIFT);
            /* D17.6-172: offset physical time needs FEAT_ECV */
            assert_int_equal(b.record.timestamp, pct1 & pct2 & 1 ? NOW : NOW - VIRTUAL_OFFSET);
        }
    bench_close(&b);
    begin(&b, NO_EL2, "");
    for (unsigned pct1 = 0; pct1 < 4; pct1++) {
        sample(&b, TS | (uint64_t)pct1 << PCT_SHIFT, 0);
        assert_int_equal(b.record.timestamp, NOW);
    }
    bench_close(&b);
}

/* ---- Offsets -------------------------------------------------------------------------------- */

static void test_virtual_offset(void **state)
{
    static const struct {
        bool e2h, tge;
        unsigned el;
        bool zero;
    } cases[] = {
        /* D17.6-175 */
        {false, false, 0, false}, {false, false, 1, false}, {false, false, 2, false},
        {true, false, 0, false},  {true, false, 1, false},  {true, false, 2, true},
        {false, true, 0, false},  {false, true, 2, false},  {true, true, 0, true},
        {true, true, 2, true},
    };
    struct bench b;

    (void)state;
    begin(&b, ALL, "");
    set_owner(&b, 2);
    for (size_t i = 0; i < COUNT(cases); i++) {
        b.pe.el = (uint8_t)cases[i].el;
        put(&b.pe.hcr_el2, HCR_E2H_BIT, cases[i].e2h);
        put(&b.pe.hcr_el2, HCR_TGE_BIT, cases[i].tge);
        sample(&b, 0, TS);
        /* D17.6-175 */
        assert_int_equal(b.record.timestamp, cases[i].zero ? NOW : NOW - VIRTUAL_OFFSET);
    }
    bench_close(&b);
    begin(&b, ALL ",-e2h0", ""); /* E2H then counts as 1 */
    set_owner(&b, 2);
    b.pe.el = 2;
    sample(&b, 0, TS);
    assert_int_equal(b.record.timestamp, NOW); /* D17.6-175 */
    bench_close(&b);
}

static void test_physical_offset(void **state)
{
    static const struct {
        const char *features;
        bool ecv, ecven, zero;
    } cases[] = {
        /* D17.6-176 */
        {ALL, true, true, false},     {ALL, false, true, true},
        {ALL, true, false, true},     {ALL ",-ecv_poff", true, true, true},
        {NO_EL3, true, false, false}, /* SCR_EL3 is not there */
        {NO_EL3, false, false, true}, {NO_EL2, true, true, true},
    };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin(&b, cases[i].features, "");
        b.pe.cnthctl_el2 = cases[i].ecv ? BIT(12) : 0;
        put(&b.pe.scr_el3, SCR_ECVEN_BIT, cases[i].ecven);
        sample(&b, TS | 3 << PCT_SHIFT, 3 << PCT_SHIFT);
        /* D17.6-176 */
        assert_int_equal(b.record.timestamp, cases[i].zero ? NOW : NOW - PHYSICAL_OFFSET);
        bench_close(&b);
    }
}

/* ---- The moment and the counter ------------------------------------------------------------- */

static void test_point(void **state)
{
    static const char *const options[] = {"ts_point=sampled", "ts_point=later",
                                          "ts_point=finished"};
    static const uint64_t after[] = {0, 500, 1000};
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(options); i++) {
        begin(&b, ALL, options[i]);
        b.flight_time = 1000;
        sample(&b, TS | 1 << PCT_SHIFT, 1 << PCT_SHIFT);
        assert_int_equal(b.record.timestamp, NOW + after[i]); /* D17.6-002 */
        bench_close(&b);
    }
}

static void test_counter_disabled(void **state)
{
    uint64_t first;
    struct bench b;

    (void)state;
    begin(&b, ALL, "ts_counter_disabled=as_disabled");
    b.pe.counter_enabled = false;
    sample(&b, TS, 0);
    assert_false(b.record.has & SPE_HAS_TIMESTAMP); /* D17.6-003 */ /* D18.2-144 */
    assert_int_equal(b.memory[b.size - 1], 0x01);
    bench_close(&b);
    begin(&b, ALL, "ts_counter_disabled=unknown_value");
    b.pe.counter_enabled = false;
    sample(&b, TS, 0);
    assert_true(b.record.has & SPE_HAS_TIMESTAMP); /* D17.6-003 */ /* D18.2-144 */
    first = b.record.timestamp;
    sample(&b, TS, 0);
    assert_int_not_equal(b.record.timestamp, first); /* it means nothing */
    sample(&b, 0, 0);
    assert_false(b.record.has & SPE_HAS_TIMESTAMP); /* timestamps are not on */
    bench_close(&b);
}

/* CNTHCTL_EL2 keeps EL0 and EL1 from the counter: no matter, as long as it counts. */
static void test_counter_out_of_reach(void **state)
{
    static const char *const options[] = {"ts_counter_disabled=as_disabled",
                                          "ts_counter_disabled=unknown_value"};
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(options); i++) {
        begin(&b, ALL, options[i]);
        b.pe.cnthctl_el2 = 0; /* EL1PCTEN, EL1PCEN, EL0PCTEN, EL0VCTEN are 0 */
        for (b.pe.el = 0; b.pe.el < 2; b.pe.el++) {
            sample(&b, TS | 1 << PCT_SHIFT, 1 << PCT_SHIFT);
            assert_int_equal(b.record.timestamp, NOW); /* D17.6-004 */
        }
        bench_close(&b);
    }
}

/* Controls as they were at selection, also for the time. */
static void test_taken_at_selection(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        begin(&b, ALL, "");
        b.pe.contextidr_el1 = 0x1234;
        b.pe.contextidr_el2 = 0x5678;
        b.pe.el = 1;
        bench_pe(&b);
        bench_set(&b, SPE_REG_PMSCR_EL1, E0SPE | E1SPE | (on ? CX | TS : 0));
        bench_set(&b, SPE_REG_PMSCR_EL2, on ? CX : 0);
        bench_select(&b);
        b.pe.contextidr_el1 = b.pe.contextidr_el2 = 0xffff;
        b.pe.cntvoff_el2 = 0;
        b.pe.el = on ? 0 : 1;
        bench_pe(&b);
        bench_set(&b, SPE_REG_PMSCR_EL1, E0SPE | E1SPE | (on ? 0 : CX | TS));
        bench_set(&b, SPE_REG_PMSCR_EL2, on ? 0 : CX);
        assert_int_equal(bench_finish(&b, &op), SPE_FATE_WRITTEN);
        /* D17.6-169 */
        assert_int_equal(b.record.has & (SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2 | SPE_HAS_TIMESTAMP),
                         on ? SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2 | SPE_HAS_TIMESTAMP : 0);
        if (on) {
            assert_int_equal(b.record.context[0], 0x1234); /* D17.6-169 */
            assert_int_equal(b.record.context[1], 0x5678);
            assert_int_equal(b.record.timestamp, NOW - VIRTUAL_OFFSET);
            assert_int_equal(b.record.address[SPE_ADDRESS_PC] >> 61 & 3, 1);
        }
        bench_close(&b);
    }
}

/* ---- Contexts ------------------------------------------------------------------------------- */

/* D17.6-168, D17.6-170 as they read. */
static void check_contexts(struct bench *b, bool implemented, bool enabled, bool tge, unsigned cx)
{
    bool one = (cx & 1) && b->pe.el < 2 && (!implemented || !enabled || !tge);
    bool two = (cx & 2) && implemented && enabled;

    /* D17.6-168 */ /* D17.6-005 */
    assert_int_equal((b->record.has & SPE_HAS_CONTEXT1) != 0, one);
    /* D17.6-170 */ /* D17.6-005 */
    assert_int_equal((b->record.has & SPE_HAS_CONTEXT2) != 0, two);
    if (one)
        assert_int_equal(b->record.context[0], 0xaaaa1111);
    if (two)
        assert_int_equal(b->record.context[1], 0xbbbb2222);
}

static void test_contexts(void **state)
{
    static const struct {
        const char *features;
        bool implemented, enabled;
        unsigned owner;
    } places[] = {
        {ALL, true, true, 1},
        {ALL, true, true, 2},
        {ALL, true, false, 1},
        {NO_EL2, false, false, 1},
    };
    struct bench b;

    (void)state;
    for (size_t p = 0; p < COUNT(places); p++) {
        begin(&b, places[p].features, "");
        b.pe.contextidr_el1 = 0xaaaa1111;
        b.pe.contextidr_el2 = 0xbbbb2222;
        set_el2(&b, places[p].enabled || !places[p].implemented);
        set_owner(&b, places[p].owner);
        for (unsigned n = 0; n < 4 * 2 * 3; n++) {
            unsigned cx = n & 3, el = n >> 3;
            bool tge = n >> 2 & 1;

            if (el > places[p].owner || (tge && el == 1) ||
                (tge && places[p].enabled && places[p].owner == 1))
                continue; /* nothing is sampled there, or there is no such state */
            b.pe.el = (uint8_t)el;
            put(&b.pe.hcr_el2, HCR_TGE_BIT, tge);
            sample(&b, cx & 1 ? CX : 0, cx & 2 ? CX : 0);
            check_contexts(&b, places[p].implemented, places[p].enabled, tge, cx);
        }
        bench_close(&b);
    }
}

/* Exception level and Security state travel in the PC. */
static void test_state_of_pc(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, ALL, "");
    for (unsigned el = 0; el < 3; el++)
        for (unsigned security = 0; security < 4; security++) {
            struct spe_address pc;

            if (security == SPE_SECURITY_RESERVED || (security == SPE_SECURE && el == 2))
                continue;
            b.pe.el = (uint8_t)el;
            set_owner(&b, el == 2 ? 2 : 1);
            put(&b.pe.scr_el3, SCR_EEL2_BIT, false);
            put(&b.pe.scr_el3, SCR_NS_BIT, security & 1);
            put(&b.pe.scr_el3, 62, security >> 1);
            put(&b.pe.mdcr_el3, 13, security & 1);
            put(&b.pe.mdcr_el3, 11, security >> 1);
            sample(&b, 0, 0);
            spe_address_decode(SPE_ADDRESS_PC, b.record.address[SPE_ADDRESS_PC], &pc);
            /* D17.6-005 */ /* D18.2-015 */
            assert_int_equal(pc.el, el);
            assert_int_equal(pc.nse << 1 | pc.ns, security);
        }
    bench_close(&b);
}

/* ---- Physical address ----------------------------------------------------------------------- */

static void test_physical_address(void **state)
{
    static const struct {
        const char *features;
        bool el2; /* implemented and enabled for the owning state */
        unsigned owner;
    } places[] = {{ALL, true, 1}, {ALL, true, 2}, {ALL, false, 1}, {NO_EL2, false, 1}};
    struct bench b;

    (void)state;
    for (size_t p = 0; p < COUNT(places); p++) {
        begin(&b, places[p].features, "");
        set_el2(&b, places[p].el2 || !strcmp(places[p].features, NO_EL2));
        set_owner(&b, places[p].owner);
        for (unsigned n = 0; n < 4; n++) {
            bool one = n & 1, two = n >> 1, expected;

            if (!places[p].el2)
                expected = one; /* D17.6-192 */
            else
                expected = places[p].owner == 2 ? two : one && two; /* D17.6-191 */
            for (b.pe.el = 0; b.pe.el <= places[p].owner; b.pe.el++) {
                sample(&b, one ? PA : 0, two ? PA : 0);
                assert_true(has_address(&b, SPE_ADDRESS_VA));
                /* D17.6-050 */ /* D17.6-086 */ /* D17.6-191 */ /* D17.6-192 */
                assert_int_equal(has_address(&b, SPE_ADDRESS_PA), expected);
            }
        }
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_owner_without_el2),
        cmocka_unit_test(test_time_without_features),
        cmocka_unit_test(test_virtual_offset),
        cmocka_unit_test(test_physical_offset),
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_counter_disabled),
        cmocka_unit_test(test_counter_out_of_reach),
        cmocka_unit_test(test_taken_at_selection),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_state_of_pc),
        cmocka_unit_test(test_physical_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
