/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What follows from an S bit: the SPE Profiling exception (RYZJQX, RNXPMV), PMBIRQ (RTSJRP), PMU
 * counters that stand still. Tables D17-8, D17-9 and D17-10 are typed in here and looked up for
 * every combination of their inputs.
 */
#include "support/spu_unit.h"

#define S BIT(17)

/* ---- Inputs --------------------------------------------------------------------------------- */

struct inputs {
    unsigned pmsee, ee2, ke2, tge, ee1, ke1, pm, el;
};

#define COMBINATIONS (4u * 4 * 2 * 2 * 4 * 2 * 2 * 4)

static struct inputs combination(unsigned n)
{
    struct inputs in;

    in.pmsee = n % 4, n /= 4;
    in.ee2 = n % 4, n /= 4;
    in.ke2 = n % 2, n /= 2;
    in.tge = n % 2, n /= 2;
    in.ee1 = n % 4, n /= 4;
    in.ke1 = n % 2, n /= 2;
    in.pm = n % 2, n /= 2;
    in.el = n % 4;
    return in;
}

static void apply(struct unit *u, const struct inputs *in)
{
    unit_put(&u->pe.mdcr_el3, 51, 2, in->pmsee);
    unit_put(&u->pe.hcr_el2, 27, 1, in->tge);
    u->pe.pm = in->pm;
    u->pe.el = (uint8_t)in->el;
    unit_pe(u);
    unit_set(u, SPE_REG_PMSCR_EL2, in->ke2 << 10 | in->ee2 << 8);
    unit_set(u, SPE_REG_PMSCR_EL1, in->ke1 << 10 | in->ee1 << 8);
}

static void only_s(struct unit *u, unsigned x)
{
    for (unsigned y = 1; y <= 3; y++)
        unit_set(u, unit_pmbsr(y), y == x ? S : 0);
}

/* ---- The tables ----------------------------------------------------------------------------- */

/* Cells by the EL that it is taken from. N: None; B; C; 1, 2, 3: taken to; -: not applicable. */
struct row {
    const char *pmsee, *ee2, *ke2, *tge, *ee1, *ke1, *pm;
    char irq; /* H, L; table D17-8 only */
    char from[5];
};

static const struct row table_8[] = {
    {"00", "XX", "X", "0", "XX", "X", "X", 'H', "NNNN"},   /* D17.8-079 */
    {"00", "XX", "X", "1", "XX", "X", "X", 'H', "N-NN"},   /* D17.8-080 */
    {"!00", "00", "X", "0", "XX", "X", "X", 'H', "NNNN"},  /* D17.8-081 */
    {"!00", "00", "X", "1", "XX", "X", "X", 'H', "N-NN"},  /* D17.8-082 */
    {"!00", "!00", "X", "0", "0X", "X", "X", 'H', "NNNN"}, /* D17.8-083 */
    {"!00", "!00", "X", "0", "1X", "0", "X", 'L', "1CCC"}, /* D17.8-084 */
    {"!00", "!00", "X", "0", "1X", "1", "0", 'L', "11CC"}, /* D17.8-085 */
    {"!00", "!00", "X", "0", "1X", "1", "1", 'L', "1BCC"}, /* D17.8-086 */
    {"!00", "!00", "X", "1", "0X", "X", "X", 'H', "N-NN"}, /* D17.8-087 */
    {"!00", "!00", "X", "1", "1X", "X", "X", 'L', "2-CC"}, /* D17.8-088 */
};

static const struct row table_9[] = {
    {"00", "XX", "X", "0", "XX", "X", "X", 0, "NNNN"},  /* D17.8-089 */
    {"00", "XX", "X", "1", "XX", "X", "X", 0, "N-NN"},  /* D17.8-090 */
    {"!00", "0X", "X", "0", "XX", "X", "X", 0, "NNNN"}, /* D17.8-091 */
    {"!00", "0X", "X", "1", "XX", "X", "X", 0, "N-NN"}, /* D17.8-092 */
    {"!00", "10", "X", "0", "XX", "X", "X", 0, "22CC"}, /* D17.8-093 */
    {"!00", "10", "X", "1", "XX", "X", "X", 0, "2-CC"}, /* D17.8-094 */
    {"!00", "11", "0", "0", "XX", "X", "X", 0, "22CC"}, /* D17.8-095 */
    {"!00", "11", "0", "1", "XX", "X", "X", 0, "2-CC"}, /* D17.8-096 */
    {"!00", "11", "1", "0", "XX", "X", "0", 0, "222C"}, /* D17.8-097 */
    {"!00", "11", "1", "0", "XX", "X", "1", 0, "22BC"}, /* D17.8-098 */
    {"!00", "11", "1", "1", "XX", "X", "0", 0, "2-2C"}, /* D17.8-099 */
    {"!00", "11", "1", "1", "XX", "X", "1", 0, "2-BC"}, /* D17.8-100 */
};

static const struct row table_10[] = {
    {"0X", "XX", "X", "0", "XX", "X", "X", 0, "NNNN"}, /* D17.8-101 */
    {"0X", "XX", "X", "1", "XX", "X", "X", 0, "N-NN"}, /* D17.8-102 */
    {"10", "XX", "X", "0", "XX", "X", "X", 0, "333C"}, /* D17.8-103 */
    {"10", "XX", "X", "1", "XX", "X", "X", 0, "3-3C"}, /* D17.8-104 */
    {"11", "XX", "X", "0", "XX", "X", "X", 0, "333C"}, /* D17.8-105 */
    {"11", "XX", "X", "1", "XX", "X", "X", 0, "3-3C"}, /* D17.8-106 */
};

static const struct {
    const struct row *rows;
    size_t count;
} tables[] = {
    {NULL, 0},
    {table_8, COUNT(table_8)},
    {table_9, COUNT(table_9)},
    {table_10, COUNT(table_10)},
};

static const struct row *lookup(unsigned x, const struct inputs *in)
{
    const struct row *found = NULL;

    for (size_t i = 0; i < tables[x].count; i++) {
        const struct row *r = &tables[x].rows[i];

        if (!unit_matches(r->pmsee, in->pmsee) || !unit_matches(r->ee2, in->ee2) ||
            !unit_matches(r->ke2, in->ke2) || !unit_matches(r->tge, in->tge) ||
            !unit_matches(r->ee1, in->ee1) || !unit_matches(r->ke1, in->ke1) ||
            !unit_matches(r->pm, in->pm))
            continue;
        assert_null(found);
        found = r;
    }
    assert_non_null(found);
    return found;
}

static char cell_of(const struct spe_exception *e)
{
    switch (e->masking) {
    case SPE_MASK_DISABLED:
        return 'N';
    case SPE_MASK_BY_PM:
        return 'B';
    case SPE_MASK_ALWAYS:
        return 'C';
    default:
        return (char)('0' + e->target_el);
    }
}

static void check_row(struct unit *u, unsigned x, const struct inputs *in)
{
    const struct row *r = lookup(x, in);
    char cell = r ? r->from[in->el] : '?';
    struct spe_exception one, any;

    if (cell == '-')
        return;
    spe_spu_exception_of(u->spu, x, &one);
    spe_spu_exception(u->spu, &any);
    if (cell_of(&one) != cell)
        fail_msg("Table D17-%u row %zu, from EL%u: %c instead of %c", x + 7,
                 (size_t)(r - tables[x].rows) + 1, in->el, cell_of(&one), cell);
    assert_int_equal(cell_of(&any), cell); /* with only this S bit set they agree */
    assert_int_equal(cell_of(&u->exception), cell);
    if (cell != 'N') {
        assert_int_equal(one.source, x);
        assert_int_equal(one.target_el, x == 1 && in->tge ? 2 : x);
        assert_int_equal(one.syndrome, 0xf6000002); /* EC 0x3d, IL, SPE, not synchronous */
    }
    if (r->irq) {
        assert_int_equal(spe_spu_interrupt(u->spu), r->irq == 'H');
        assert_int_equal(u->irq, r->irq == 'H');
    } else {
        assert_false(spe_spu_interrupt(u->spu)); /* only PMBSR_EL1.S drives it */
    }
}

static void tables_8_9_10(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned x = 1; x <= 3; x++) {
        only_s(&u, x);
        for (unsigned n = 0; n < COMBINATIONS; n++) {
            struct inputs in = combination(n);

            apply(&u, &in);
            check_row(&u, x, &in);
        }
    }
    unit_destroy(&u);
}

/* Nothing pending, nothing enabled. */
static void without_s_there_is_nothing(void **state)
{
    struct spe_exception e;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    only_s(&u, 0);
    for (unsigned n = 0; n < COMBINATIONS; n++) {
        struct inputs in = combination(n);

        apply(&u, &in);
        spe_spu_exception(u.spu, &e);
        assert_int_equal(e.masking, SPE_MASK_DISABLED); /* D17.8-074 */
        assert_false(spe_spu_interrupt(u.spu));
    }
    assert_int_equal(u.exceptions, 0);
    assert_int_equal(u.irq_edges, 0);
    for (unsigned x = 0; x < 6; x++) {
        spe_spu_exception_of(u.spu, x, &e);
        assert_int_equal(e.masking, SPE_MASK_DISABLED);
    }
    unit_destroy(&u);
}

/* FEAT_SPE_EXC is missing: the interrupt is all there is. */
static void without_the_feature(void **state)
{
    struct spe_exception e;
    struct unit u;

    (void)state;
    unit_with(&u, "all,-spe_exc");
    for (unsigned x = 1; x <= 3; x++) {
        only_s(&u, x);
        for (unsigned n = 0; n < COMBINATIONS; n++) {
            struct inputs in = combination(n);

            apply(&u, &in);
            spe_spu_exception(u.spu, &e);
            assert_int_equal(e.masking, SPE_MASK_DISABLED);       /* D17.8-074, D17.8-078 */
            assert_int_equal(spe_spu_interrupt(u.spu), x == 1);   /* D17.8-078, D17.8-114 */
            assert_true(spe_spu_interrupt_enabled(u.spu));        /* D17.8-114 */
            assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL2), 0); /* D17.8-078 */
            assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL3), 0); /* D17.8-078 */
        }
    }
    unit_destroy(&u);
}

/* ---- The rule, beyond what the tables show -------------------------------------------------- */

static void expect(struct unit *u, unsigned x, char cell)
{
    struct spe_exception e;

    spe_spu_exception_of(u->spu, x, &e);
    assert_int_equal(cell_of(&e), cell);
}

/* Everything on, all S bits set. */
static void all_on(struct unit *u)
{
    const struct inputs in = {.pmsee = 3, .ee2 = 3, .ke2 = 1, .ee1 = 3, .ke1 = 1};

    apply(u, &in);
    for (unsigned x = 1; x <= 3; x++)
        unit_set(u, unit_pmbsr(x), S);
}

static void in_debug_state(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    all_on(&u);
    for (uint8_t el = 0; el < 4; el++) {
        u.pe.el = el;
        u.pe.debug = true;
        unit_pe(&u);
        expect(&u, 3, 'C'); /* D17.8-069 */
        expect(&u, 2, 'C'); /* D17.8-071 */
        expect(&u, 1, 'C'); /* D17.8-073 */
        u.pe.debug = false;
        unit_pe(&u);
        expect(&u, 3, el < 3 ? '3' : 'C'); /* D17.8-069 */
        expect(&u, 2, el < 3 ? '2' : 'C'); /* D17.8-070, D17.8-071 */
        expect(&u, 1, el < 2 ? '1' : 'C'); /* D17.8-072, D17.8-073 */
    }
    unit_destroy(&u);
}

/* Security states of the PE against those of the owner; {NSE,NS} and {NSPBE,NSPB[1]}. */
static void in_another_security_state(void **state)
{
    static const uint8_t states[] = {SPE_SECURE, SPE_NONSECURE, SPE_REALM};
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned n = 0; n < 27; n++) {
        unsigned now = states[n % 3], owner = states[n / 3 % 3];
        uint8_t el = (uint8_t)(n / 9);

        unit_put(&u.pe.scr_el3, 0, 1, now & 1);
        unit_put(&u.pe.scr_el3, 62, 1, now >> 1);
        unit_put(&u.pe.mdcr_el3, 13, 1, owner & 1);
        unit_put(&u.pe.mdcr_el3, 11, 1, owner >> 1);
        all_on(&u);
        u.pe.el = el;
        unit_pe(&u);
        expect(&u, 3, '3');                                /* D17.8-069 */
        expect(&u, 2, now == owner ? '2' : 'C');           /* D17.8-071 */
        expect(&u, 1, now == owner && el < 2 ? '1' : 'C'); /* D17.8-073 */
    }
    unit_destroy(&u);
}

/* Secure state without Secure EL2: PMSCR_EL2.EE counts as 0b01. */
static void el2_disabled_in_the_state(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    unit_put(&u.pe.scr_el3, 0, 1, 0);
    unit_put(&u.pe.scr_el3, 18, 1, 0);
    unit_put(&u.pe.mdcr_el3, 13, 1, 0);
    for (unsigned ee2 = 0; ee2 < 4; ee2++) {
        all_on(&u);
        unit_put(&u.pe.hcr_el2, 27, 1, 1); /* TGE counts as 0 */
        unit_pe(&u);
        unit_field(&u, SPE_REG_PMSCR_EL2, 8, 2, ee2);
        expect(&u, 2, 'N'); /* D17.8-070 */
        expect(&u, 1, '1'); /* D17.8-072 */
        assert_false(spe_spu_interrupt(u.spu));
        unit_field(&u, SPE_REG_PMSCR_EL1, 8, 2, 0);
        assert_true(spe_spu_interrupt(u.spu)); /* D17.8-117 */
    }
    unit_put(&u.pe.scr_el3, 18, 1, 1); /* EEL2 */
    all_on(&u);
    expect(&u, 2, '2'); /* D17.8-070 */
    unit_destroy(&u);
}

/* Exception levels that do not exist count as delegating. */
static void missing_exception_levels(void **state)
{
    static const struct {
        const char *features;
        char el2, el3;
    } rows[] = {
        {"all,-el3", '2', 'N'},         /* D17.8-069, D17.8-070 */
        {"all,-el2", 'N', '3'},         /* D17.8-070, D17.8-072 */
        {"all,-el3,-el2", 'N', 'N'},    /* D17.8-072 */
        {"all,-el3,-secure", '2', 'N'}, /* D17.8-070 */
    };
    struct unit u;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unit_with(&u, rows[i].features);
        all_on(&u);
        expect(&u, 3, rows[i].el3);
        expect(&u, 2, rows[i].el2);
        expect(&u, 1, '1'); /* D17.8-072 */
        unit_destroy(&u);
    }
}

/* A masked exception waits, is noticed when it becomes free, and is never taken at EL3. */
static void pending_across_exception_levels(void **state)
{
    struct unit u;
    unsigned told;

    (void)state;
    unit_with(&u, "all");
    all_on(&u);
    u.pe.el = 3;
    unit_pe(&u);
    assert_int_equal(u.exception.masking, SPE_MASK_ALWAYS); /* D17.8-075 */
    told = u.exceptions;
    unit_pe(&u);
    assert_int_equal(u.exceptions, told); /* nothing new */
    u.pe.el = 0;
    unit_pe(&u);
    assert_int_equal(u.exception.masking, SPE_MASK_UNMASKED); /* D17.8-075 */
    assert_int_equal(u.exception.target_el, 3);               /* D17.8-075 */
    u.pe.el = 3;                                              /* it is taken */
    unit_pe(&u);
    assert_int_equal(u.exception.masking, SPE_MASK_ALWAYS); /* D17.8-075 */
    only_s(&u, 0);
    assert_int_equal(u.exception.masking, SPE_MASK_DISABLED);
    unit_destroy(&u);
}

/* spe_exc_order: U06. */
static void order_of_several(void **state)
{
    static const struct {
        const char *order;
        uint8_t sources[8]; /* by the set of S bits, bit x-1 */
    } rows[] = {
        {"highest_target_first", {0, 1, 2, 2, 3, 3, 3, 3}}, /* D17.8-076 */
        {"lowest_target_first", {0, 1, 2, 1, 3, 1, 2, 1}},  /* D17.8-076 */
    };
    struct spe_spu_config config;
    struct spe_exception e;
    struct unit u;
    char why[128];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unit_config(&config, "all");
        assert_int_equal(
            spe_spu_option_set(&config, "spe_exc_order", rows[i].order, why, sizeof(why)), SPE_OK);
        unit_create(&u, &config);
        all_on(&u);
        for (unsigned set = 0; set < 8; set++) {
            for (unsigned x = 1; x <= 3; x++)
                unit_set(&u, unit_pmbsr(x), set >> (x - 1) & 1 ? S : 0);
            spe_spu_exception(u.spu, &e);
            assert_int_equal(e.source, rows[i].sources[set]);
        }
        /* At EL2 that of EL1 is masked: the others go first whatever the order. */
        u.pe.el = 2;
        unit_pe(&u);
        unit_set(&u, SPE_REG_PMBSR_EL3, 0);
        spe_spu_exception(u.spu, &e);
        assert_int_equal(e.source, 2);
        assert_int_equal(e.masking, SPE_MASK_UNMASKED);
        unit_destroy(&u);
    }
    assert_int_equal(spe_spu_option_set(&config, "spe_exc_order", "random", why, sizeof(why)),
                     SPE_ERR_INVALID);
}

/* ---- RNXPMV --------------------------------------------------------------------------------- */

static bool bounded(struct unit *u, unsigned x)
{
    struct spe_exception e;

    spe_spu_exception_of(u->spu, x, &e);
    return e.synchronized;
}

static unsigned encoding_of(unsigned x)
{
    static const unsigned encodings[] = {0, SPE_SYSREG(3, 0, 9, 10, 3), SPE_SYSREG(3, 4, 9, 10, 3),
                                         SPE_SYSREG(3, 6, 9, 10, 3)};

    return encodings[x];
}

/* Record an event in PMBSR_ELx by the unit itself. */
static void event_in(struct unit *u, unsigned x)
{
    const struct inputs in = {
        .pmsee = x == 3 ? 3 : 1, .ee2 = x == 2 ? 3 : 1, .ke2 = 1, .ee1 = 3, .ke1 = 1};

    only_s(u, 0);
    apply(u, &in);
    assert_true(spu_event_other(u->spu, BSC_FULL));
    assert_true(unit_get(u, unit_pmbsr(x)) & S);
}

/* All registers can be accessed at EL3; the exception itself is looked at from EL0. */
static void at_el3(struct unit *u, bool there)
{
    u->pe.el = there ? 3 : 0;
    unit_pe(u);
}

static void bound_after_reading(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned x = 1; x <= 3; x++) {
        event_in(&u, x);
        spe_spu_context_sync(u.spu);  /* B alone does not do */
        assert_false(bounded(&u, x)); /* D17.8-112 */
        at_el3(&u, true);
        assert_int_equal(spe_spu_read(u.spu, encoding_of(x), 0, &access), SPE_OK);
        assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
        at_el3(&u, false);
        assert_false(bounded(&u, x)); /* A alone does not do */
        for (unsigned y = 1; y <= 3; y++)
            if (y != x)
                assert_false(bounded(&u, y));
        spe_spu_context_sync(u.spu);
        assert_true(bounded(&u, x)); /* D17.8-109 */
        assert_true(u.exception.synchronized);
        assert_int_equal(u.exception.within, 0); /* D17.8-109 */
        assert_int_equal(u.exception.source, x);
    }
    unit_destroy(&u);
}

/* Reading S=0, or reading on behalf of the host, says nothing. */
static void bound_needs_to_observe(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned x = 1; x <= 3; x++) {
        only_s(&u, 0);
        at_el3(&u, true);
        spe_spu_read(u.spu, encoding_of(x), 0, &access);
        at_el3(&u, false);
        event_in(&u, x);
        unit_get(&u, unit_pmbsr(x));
        spe_spu_context_sync(u.spu);
        assert_false(bounded(&u, x)); /* D17.8-109, D17.8-112 */
    }
    unit_destroy(&u);
}

static void bound_after_writing(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned x = 1; x <= 3; x++) {
        event_in(&u, x); /* for the controls */
        only_s(&u, 0);
        at_el3(&u, true);
        assert_int_equal(spe_spu_write(u.spu, encoding_of(x), 0, S, &access), SPE_OK);
        assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
        at_el3(&u, false);
        assert_false(bounded(&u, x));
        spe_spu_context_sync(u.spu);
        assert_true(bounded(&u, x)); /* D17.8-110 */
        /* Clearing S forgets it, and the next event starts anew. */
        at_el3(&u, true);
        spe_spu_write(u.spu, encoding_of(x), 0, 0, &access);
        at_el3(&u, false);
        unit_set(&u, unit_pmbsr(x), S);
        spe_spu_context_sync(u.spu);
        assert_false(bounded(&u, x)); /* D17.8-112 */
        event_in(&u, x);
        spe_spu_context_sync(u.spu);
        assert_false(bounded(&u, x)); /* D17.8-112 */
    }
    unit_destroy(&u);
}

static void bound_after_psb_csync(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned x = 1; x <= 3; x++) {
        spe_spu_psb_csync(u.spu, &access); /* before the event */
        event_in(&u, x);
        spe_spu_context_sync(u.spu);
        assert_false(bounded(&u, x)); /* D17.8-112 */
        spe_spu_psb_csync(u.spu, &access);
        assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
        assert_false(bounded(&u, x));
        spe_spu_context_sync(u.spu);
        assert_true(bounded(&u, x)); /* D17.8-111 */
    }
    /* An S bit that software set is not from a profiling operation. */
    event_in(&u, 1);
    only_s(&u, 0);
    unit_set(&u, SPE_REG_PMBSR_EL1, S);
    spe_spu_psb_csync(u.spu, &access);
    spe_spu_context_sync(u.spu);
    assert_false(bounded(&u, 1)); /* D17.8-111 */
    unit_destroy(&u);
}

/* The bound is one on an exception that can be taken. */
static void masked_has_no_bound(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    event_in(&u, 1);
    spe_spu_psb_csync(u.spu, &access);
    spe_spu_context_sync(u.spu);
    u.pe.el = 1;
    u.pe.pm = true;
    unit_pe(&u);
    assert_int_equal(u.exception.masking, SPE_MASK_BY_PM);
    assert_false(bounded(&u, 1));
    u.pe.pm = false;
    unit_pe(&u);
    assert_true(bounded(&u, 1));
    unit_destroy(&u);
}

/* spe_exc_delay */
static void delay_of_the_others(void **state)
{
    static const char *const delays[] = {"0", "1", "1000", "4294967295"};
    static const uint32_t within[] = {0, 1, 1000, 4294967295u};
    struct spe_spu_config config;
    struct spe_exception e;
    struct spe_register_access access;
    struct unit u;
    char why[128];

    (void)state;
    for (size_t i = 0; i < COUNT(delays); i++) {
        unit_config(&config, "all");
        assert_int_equal(spe_spu_option_set(&config, "spe_exc_delay", delays[i], why, sizeof(why)),
                         SPE_OK);
        unit_create(&u, &config);
        event_in(&u, 1);
        spe_spu_exception(u.spu, &e);
        assert_int_equal(e.masking, SPE_MASK_UNMASKED);
        assert_int_equal(e.within, within[i]); /* D17.8-112, D17.8-113 */
        spe_spu_psb_csync(u.spu, &access);
        spe_spu_context_sync(u.spu);
        spe_spu_exception(u.spu, &e);
        assert_int_equal(e.within, 0);
        unit_destroy(&u);
    }
    assert_int_equal(spe_spu_option_set(&config, "spe_exc_delay", "4294967296", why, sizeof(why)),
                     SPE_ERR_INVALID); /* it has to be finite */
}

/* D17.6.3.1 wants to know too. */
static void context_sync_and_the_last_branch(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    u.spu->last.since_cse = true;
    spe_spu_context_sync(u.spu);
    assert_false(u.spu->last.since_cse);
    unit_destroy(&u);
}

/* RYMRRB: ISS.SYNC is 0; it belongs to no operation that the unit was in the middle of. */
static void asynchronous_and_precise(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned x = 1; x <= 3; x++) {
        event_in(&u, x);
        assert_int_equal(u.exception.syndrome & 1, 0);      /* D17.8-108 */
        assert_int_equal(u.exception.syndrome >> 26, 0x3d); /* D17.8-108 */
        assert_int_equal(spe_spu_in_flight(u.spu), 0);
    }
    unit_destroy(&u);
}

/* ---- PMBIRQ (RTSJRP, IGRLRX) ---------------------------------------------------------------- */

static const struct {
    const char *features;
    bool el3, el2, sel2;
} interrupt_rows[] = {
    {"all", true, true, true},
    {"all,-sel2", true, true, false},
    {"all,-el2", true, false, false},
    {"all,-el3", false, true, true},
    {"all,-el3,-el2", false, false, false},
};

/* Any of the four conditions; `ns` and `eel2` are Effective values. */
static void check_interrupt(struct unit *u, size_t row, const struct inputs *in, bool ns, bool eel2)
{
    bool el3 = interrupt_rows[row].el3, el2 = interrupt_rows[row].el2;
    bool secure_el2 = interrupt_rows[row].sel2 && eel2;
    bool enabled = spe_spu_interrupt_enabled(u->spu);

    if (el3 && in->pmsee == 0)
        assert_true(enabled); /* D17.8-115 */
    else if (el2 && in->ee2 == 0 && (ns || secure_el2))
        assert_true(enabled); /* D17.8-116 */
    else if (in->ee1 == 0)
        assert_true(enabled); /* D17.8-117 */
    else if (in->ee1 == 3)
        assert_false(enabled); /* D17.8-119 */
    else
        assert_int_equal(enabled, in->ee1 == 1);          /* X09: the table */
    assert_int_equal(spe_spu_interrupt(u->spu), enabled); /* S is 1 */
}

static void interrupt_in_every_world(void **state)
{
    struct unit u;

    (void)state;
    for (size_t i = 0; i < COUNT(interrupt_rows); i++) {
        unit_with(&u, interrupt_rows[i].features);
        unit_set(&u, SPE_REG_PMBSR_EL1, S);
        for (unsigned n = 0; n < COMBINATIONS; n++) {
            struct inputs in = combination(n);

            for (unsigned state_ = 0; state_ < 4; state_++) {
                bool ns = state_ & 1, eel2 = state_ & 2;

                unit_put(&u.pe.scr_el3, 0, 1, ns);
                unit_put(&u.pe.scr_el3, 18, 1, eel2);
                apply(&u, &in); /* at every EL, EL3 too */
                if (!interrupt_rows[i].el3)
                    ns = false, eel2 = true; /* a Secure-only PE with Secure EL2 */
                check_interrupt(&u, i, &in, ns, eel2);
            }
        }
        unit_destroy(&u);
    }
}

static void interrupt_is_a_level(void **state)
{
    const struct inputs on = {.pmsee = 1, .ee2 = 1, .el = 1};
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    apply(&u, &on);
    assert_int_equal(spe_spu_write(u.spu, encoding_of(1), 0, S, &access), SPE_OK);
    assert_true(u.irq); /* D17.8-120 */
    assert_int_equal(u.irq_edges, 1);
    spe_spu_read(u.spu, encoding_of(1), 0, &access);
    spe_spu_context_sync(u.spu);
    spe_spu_psb_csync(u.spu, &access);
    spe_spu_write(u.spu, encoding_of(1), 0, S | 1, &access);
    u.pe.el = 3;
    unit_pe(&u);
    u.pe.el = 1;
    unit_pe(&u);
    assert_true(spe_spu_interrupt(u.spu));
    assert_int_equal(u.irq_edges, 1); /* D17.8-121: asserted all the time */
    unit_field(&u, SPE_REG_PMSCR_EL1, 8, 2, 3);
    assert_false(u.irq); /* D17.8-119: disabled and LOW with S=1 */
    unit_field(&u, SPE_REG_PMSCR_EL1, 8, 2, 0);
    assert_true(u.irq); /* re-evaluated */
    spe_spu_write(u.spu, encoding_of(1), 0, 0, &access);
    assert_false(u.irq); /* D17.8-121 */
    assert_int_equal(u.irq_edges, 4);
    unit_destroy(&u);
}

/* pmscr_el1_ee_reserved: X09. */
static void reserved_enables(void **state)
{
    static const struct {
        const char *value;
        unsigned ee;
        bool irq;
        char cell;
    } rows[] = {
        {"table", 0, true, 'N'},    {"table", 1, true, 'N'},    /* D17.8-118 */
        {"table", 2, false, '1'},   {"table", 3, false, '1'},   /* D17.8-118 */
        {"literal", 0, true, 'N'},  {"literal", 1, false, 'N'}, /* D17.8-118 */
        {"literal", 2, false, 'N'}, {"literal", 3, false, '1'}, /* D17.8-118 */
    };
    struct spe_spu_config config;
    struct unit u;
    char why[256];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct inputs in = {.pmsee = 1, .ee2 = 1, .ee1 = rows[i].ee};

        unit_config(&config, "all,-nv");
        assert_int_equal(
            spe_spu_option_set(&config, "pmscr_el1_ee_reserved", rows[i].value, why, sizeof(why)),
            SPE_OK);
        unit_create(&u, &config);
        only_s(&u, 1);
        apply(&u, &in);
        assert_int_equal(spe_spu_interrupt(u.spu), rows[i].irq);
        expect(&u, 1, rows[i].cell);
        unit_destroy(&u);
    }
    unit_config(&config, "all"); /* FEAT_NV gives the values a meaning */
    config.pmscr_el1_ee_reserved = SPE_EE_LITERAL;
    assert_int_equal(spe_spu_config_validate(&config, why, sizeof(why)), SPE_ERR_INVALID);
    assert_int_equal(
        spe_spu_option_set(&config, "pmscr_el1_ee_reserved", "ignored", why, sizeof(why)),
        SPE_ERR_INVALID);
}

/* ---- PMU freeze (SPEFreezeOnEvent) ---------------------------------------------------------- */

static void counters_stand_still(void **state)
{
    static const struct {
        const char *features;
        bool freezes, cycles;
    } rows[] = {
        {"all", true, true},
        {"all,-spe_dpfzs", true, false},
        {"all,-v1p2", false, false},
        {"all,-pmuv3p7", false, false},
    };
    struct unit u;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unit_with(&u, rows[i].features);
        for (unsigned n = 0; n < 64; n++) {
            bool e = n & 1, pmfz = n & 2, s = n & 4, fzs = n & 8, hpmfzs = n & 16, dp = n & 32;
            bool freeze = rows[i].freezes && e && pmfz && s;
            const struct spe_spu_status *status = spe_spu_status(u.spu);

            unit_set(&u, SPE_REG_PMBLIMITR_EL1, (e ? 1 : 0) | (pmfz ? BIT(5) : 0));
            unit_set(&u, SPE_REG_PMBSR_EL1, s ? S : 0);
            u.pe.pmcr_el0 = (fzs ? BIT(32) : 0) | (dp ? BIT(5) : 0);
            unit_put(&u.pe.mdcr_el2, 36, 1, hpmfzs);
            unit_pe(&u);
            assert_int_equal(status->freeze_first, freeze && fzs);
            assert_int_equal(status->freeze_second, freeze && hpmfzs);
            assert_int_equal(status->freeze_cycles, freeze && fzs && dp && rows[i].cycles);
        }
        unit_destroy(&u);
    }
}

/* SPEProfilingStopped(): an S bit counts where its Exception level is enabled. */
static void stopped_by_which(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    unit_set(&u, SPE_REG_PMBLIMITR_EL1, 1 | BIT(5));
    u.pe.pmcr_el0 = BIT(32);
    for (unsigned x = 1; x <= 3; x++) {
        only_s(&u, x);
        for (unsigned n = 0; n < COMBINATIONS; n++) {
            struct inputs in = combination(n);
            bool stopped =
                x == 1 || (x == 2 && in.pmsee != 0 && in.ee2 >= 2) || (x == 3 && in.pmsee >= 2);

            apply(&u, &in);
            assert_int_equal(spe_spu_status(u.spu)->stopped, stopped);
            assert_int_equal(spe_spu_status(u.spu)->freeze_first, stopped);
        }
    }
    unit_destroy(&u);
}

/* ---- PSB CSYNC ------------------------------------------------------------------------------ */

static unsigned psb(struct unit *u, struct spe_register_access *access)
{
    spe_spu_psb_csync(u->spu, access);
    return access->outcome;
}

static void psb_csync_trap(void **state)
{
    static const struct {
        const char *features;
        bool traps, el3;
    } rows[] = {
        {"all", true, true},        {"all,-el3", true, false}, {"all,-fgt", false, true},
        {"all,-v1p5", false, true}, {"all,-el2", false, true},
    };
    struct spe_register_access access;
    struct unit u;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unit_with(&u, rows[i].features);
        for (unsigned n = 0; n < 4 * 2 * 2 * 4; n++) {
            unsigned el = n % 4, fgten = n / 4 % 2, bit = n / 8 % 2, host = n / 16;
            bool in_host = el == 0 && host == 3;
            bool trap = rows[i].traps && el < 2 && bit && (fgten || !rows[i].el3) && !in_host;

            u.pe.el = (uint8_t)el;
            unit_put(&u.pe.scr_el3, 27, 1, fgten);
            unit_put(&u.pe.hcr_el2, 34, 1, host & 1);  /* E2H */
            unit_put(&u.pe.hcr_el2, 27, 1, host >> 1); /* TGE */
            u.pe.hfgitr_el2 = (uint64_t)bit << 63;
            unit_pe(&u);
            assert_int_equal(psb(&u, &access), trap ? SPE_OUTCOME_TRAP : SPE_OUTCOME_DONE);
            if (trap) {
                assert_int_equal(access.target_el, 2);
                assert_int_equal(access.syndrome, 0x2a000004); /* EC 0x0a, IL, ISS 4 */
            }
        }
        unit_destroy(&u);
    }
}

static void psb_csync_in_aarch32(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    u.pe.aarch32 = true;
    u.pe.hfgitr_el2 = BIT(63);
    unit_pe(&u);
    assert_int_equal(psb(&u, &access), SPE_OUTCOME_NOP);
    unit_destroy(&u);
}

/* A trapped PSB CSYNC has synchronized nothing. */
static void trapped_psb_csync_is_not_executed(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    event_in(&u, 1);
    u.pe.hfgitr_el2 = BIT(63);
    unit_pe(&u);
    assert_int_equal(psb(&u, &access), SPE_OUTCOME_TRAP);
    u.pe.hfgitr_el2 = 0;
    unit_pe(&u);
    spe_spu_context_sync(u.spu);
    assert_false(bounded(&u, 1)); /* D17.8-111 */
    unit_destroy(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_8_9_10),
        cmocka_unit_test(without_s_there_is_nothing),
        cmocka_unit_test(without_the_feature),
        cmocka_unit_test(in_debug_state),
        cmocka_unit_test(in_another_security_state),
        cmocka_unit_test(el2_disabled_in_the_state),
        cmocka_unit_test(missing_exception_levels),
        cmocka_unit_test(pending_across_exception_levels),
        cmocka_unit_test(order_of_several),
        cmocka_unit_test(bound_after_reading),
        cmocka_unit_test(bound_needs_to_observe),
        cmocka_unit_test(bound_after_writing),
        cmocka_unit_test(bound_after_psb_csync),
        cmocka_unit_test(masked_has_no_bound),
        cmocka_unit_test(delay_of_the_others),
        cmocka_unit_test(context_sync_and_the_last_branch),
        cmocka_unit_test(asynchronous_and_precise),
        cmocka_unit_test(interrupt_in_every_world),
        cmocka_unit_test(interrupt_is_a_level),
        cmocka_unit_test(reserved_enables),
        cmocka_unit_test(counters_stand_still),
        cmocka_unit_test(stopped_by_which),
        cmocka_unit_test(psb_csync_trap),
        cmocka_unit_test(psb_csync_in_aarch32),
        cmocka_unit_test(trapped_psb_csync_is_not_executed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
