/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * RHJXHT: which PMBSR_ELx a management event is recorded in. Tables D17-5, D17-6 and D17-7 are
 * typed in here and looked up for every combination of their inputs; the prose of the rule is
 * followed branch by branch over Security states and missing Exception levels.
 */
#include "support/spu_unit.h"

/* ---- Inputs --------------------------------------------------------------------------------- */

/* Effective values of the left sides of the tables. */
struct controls {
    unsigned pmsee, scr_gpf, scr_ea, ee, e2pb, hcr_gpf, tea;
};

static void apply(struct unit *u, const struct controls *c)
{
    unit_put(&u->pe.mdcr_el3, 51, 2, c->pmsee);
    unit_put(&u->pe.scr_el3, 48, 1, c->scr_gpf);
    unit_put(&u->pe.scr_el3, 3, 1, c->scr_ea);
    unit_put(&u->pe.mdcr_el2, 12, 2, c->e2pb);
    unit_put(&u->pe.hcr_el2, 48, 1, c->hcr_gpf);
    unit_put(&u->pe.hcr_el2, 37, 1, c->tea);
    unit_pe(u);
    unit_field(u, SPE_REG_PMSCR_EL2, 8, 2, c->ee);
}

/* The n-th of all combinations; E2PB 0b01 is reserved and in no row. */
#define COMBINATIONS (4u * 2 * 2 * 4 * 3 * 2 * 2)

static struct controls combination(unsigned n)
{
    static const unsigned e2pb[] = {0, 2, 3};
    struct controls c;

    c.pmsee = n % 4, n /= 4;
    c.scr_gpf = n % 2, n /= 2;
    c.scr_ea = n % 2, n /= 2;
    c.ee = n % 4, n /= 4;
    c.e2pb = e2pb[n % 3], n /= 3;
    c.hcr_gpf = n % 2, n /= 2;
    c.tea = n % 2;
    return c;
}

/* ---- Kinds of event, by EC and FSC ---------------------------------------------------------- */

enum kind { GPF, GPC, ABORT, OTHER_FAULT, OTHER_EVENT };

/* FSC codes of PMBSR_ELx.MSS: GPF on walk L-2 to L3 and not on walk;
 * External aborts that are synchronous; all the rest is another abort. */
static enum kind fault_kind(unsigned fsc)
{
    switch (fsc) {
    case 0x22:
    case 0x23:
    case 0x24:
    case 0x25:
    case 0x26:
    case 0x27:
    case 0x28:
        return GPF;
    case 0x10:
    case 0x12:
    case 0x13:
    case 0x14:
    case 0x15:
    case 0x16:
    case 0x17:
    case 0x1b:
        return ABORT;
    default:
        return OTHER_FAULT;
    }
}

/* ---- The tables ----------------------------------------------------------------------------- */

struct row {
    const char *pmsee, *scr, *ee, *e2pb, *hcr; /* scr and hcr: GPF, or EA and TEA */
    unsigned stage1, stage2, last;             /* last: GPC fault, none, Other event */
};

static const struct row table_5[] = {
    {"00", "X", "XX", "XX", "X", 1, 1, 1}, /* D17.8-029 */
    {"01", "X", "0X", "XX", "X", 1, 1, 1}, /* D17.8-030 */
    {"01", "X", "10", "00", "X", 2, 2, 2}, /* D17.8-031 */
    {"01", "X", "10", "1X", "0", 1, 2, 2}, /* D17.8-032 */
    {"01", "X", "10", "1X", "1", 2, 2, 2}, /* D17.8-033 */
    {"01", "X", "11", "XX", "X", 2, 2, 2}, /* D17.8-034 */
    {"10", "0", "0X", "XX", "X", 1, 1, 3}, /* D17.8-035 */
    {"10", "0", "10", "00", "X", 2, 2, 3}, /* D17.8-036 */
    {"10", "0", "10", "1X", "0", 1, 2, 3}, /* D17.8-037 */
    {"10", "0", "10", "1X", "1", 2, 2, 3}, /* D17.8-038 */
    {"10", "0", "11", "XX", "X", 2, 2, 3}, /* D17.8-039 */
    {"10", "1", "XX", "XX", "X", 3, 3, 3}, /* D17.8-040 */
    {"11", "X", "XX", "XX", "X", 3, 3, 3}, /* D17.8-041 */
};

static const struct row table_6[] = {
    {"00", "X", "XX", "XX", "X", 1, 1, 0}, /* D17.8-042 */
    {"01", "X", "0X", "XX", "X", 1, 1, 0}, /* D17.8-043 */
    {"01", "X", "10", "00", "X", 2, 2, 0}, /* D17.8-044 */
    {"01", "X", "10", "1X", "0", 1, 2, 0}, /* D17.8-045 */
    {"01", "X", "10", "1X", "1", 2, 2, 0}, /* D17.8-046 */
    {"01", "X", "11", "XX", "X", 2, 2, 0}, /* D17.8-047 */
    {"10", "0", "0X", "XX", "X", 1, 1, 0}, /* D17.8-048 */
    {"10", "0", "10", "00", "X", 2, 2, 0}, /* D17.8-049 */
    {"10", "0", "10", "1X", "0", 1, 2, 0}, /* D17.8-050 */
    {"10", "0", "10", "1X", "1", 2, 2, 0}, /* D17.8-051 */
    {"10", "0", "11", "XX", "X", 2, 2, 0}, /* D17.8-052 */
    {"10", "1", "XX", "XX", "X", 3, 3, 0}, /* D17.8-053 */
    {"11", "X", "XX", "XX", "X", 3, 3, 0}, /* D17.8-054 */
};

static const struct row table_7[] = {
    {"00", "X", "XX", "XX", "X", 1, 1, 1}, /* D17.8-055 */
    {"01", "X", "0X", "XX", "X", 1, 1, 1}, /* D17.8-056 */
    {"01", "X", "10", "00", "X", 2, 2, 1}, /* D17.8-057 */
    {"01", "X", "10", "1X", "X", 1, 2, 1}, /* D17.8-058 */
    {"01", "X", "11", "XX", "X", 2, 2, 2}, /* D17.8-059 */
    {"10", "X", "0X", "XX", "X", 1, 1, 1}, /* D17.8-060 */
    {"10", "X", "10", "00", "X", 2, 2, 1}, /* D17.8-061 */
    {"10", "X", "10", "1X", "X", 1, 2, 1}, /* D17.8-062 */
    {"10", "X", "11", "XX", "X", 2, 2, 2}, /* D17.8-063 */
    {"11", "X", "XX", "XX", "X", 3, 3, 3}, /* D17.8-064 */
};

static const struct {
    const char *name;
    const struct row *rows;
    size_t count;
} tables[] = {
    {"D17-5", table_5, COUNT(table_5)},
    {"D17-6", table_6, COUNT(table_6)},
    {"D17-7", table_7, COUNT(table_7)},
};

/* The one row for the inputs. */
static const struct row *lookup(unsigned table, const struct controls *c)
{
    const struct row *found = NULL;

    for (size_t i = 0; i < tables[table].count; i++) {
        const struct row *r = &tables[table].rows[i];
        unsigned scr = table == 0 ? c->scr_gpf : c->scr_ea;
        unsigned hcr = table == 0 ? c->hcr_gpf : c->tea;

        if (!unit_matches(r->pmsee, c->pmsee) || !unit_matches(r->scr, scr) ||
            !unit_matches(r->ee, c->ee) || !unit_matches(r->e2pb, c->e2pb) ||
            !unit_matches(r->hcr, hcr))
            continue;
        assert_null(found);
        found = r;
    }
    assert_non_null(found);
    return found;
}

static unsigned table_of(enum kind kind)
{
    return kind == GPF || kind == GPC ? 0 : kind == ABORT ? 1 : 2;
}

static void expect_route(struct unit *u, const struct controls *c, unsigned ec, unsigned fsc)
{
    enum kind kind = ec == 0x24 || ec == 0x25 ? fault_kind(fsc) : ec == 0x1e ? GPC : OTHER_EVENT;
    unsigned table = table_of(kind);
    const struct row *r = lookup(table, c);
    unsigned x = ec == 0x24 ? r->stage1 : ec == 0x25 ? r->stage2 : r->last;
    unsigned got = spe_spu_route(u->spu, ec, fsc);

    if (got != x)
        fail_msg("Table %s row %zu: EC 0x%x FSC 0x%x at EL%u is recorded in EL%u, not EL%u",
                 tables[table].name, (size_t)(r - tables[table].rows) + 1, ec, fsc, u->pe.el, got,
                 x);
}

/* All events at one setting of the controls. */
static void expect_routes(struct unit *u, const struct controls *c)
{
    for (unsigned fsc = 0; fsc < 64; fsc++) {
        expect_route(u, c, 0x24, fsc);
        expect_route(u, c, 0x25, fsc);
        expect_route(u, c, 0x00, fsc); /* an FSC means nothing to an event that is no fault */
        expect_route(u, c, 0x1e, fsc);
        expect_route(u, c, 0x1f, fsc);
    }
}

static void tables_at_every_el(void **state)
{
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned n = 0; n < COMBINATIONS; n++) {
        struct controls c = combination(n);

        for (unsigned el = 0; el < 4; el++) {
            u.pe.el = (uint8_t)el;
            apply(&u, &c);
            expect_routes(&u, &c);
        }
    }
    unit_destroy(&u);
}

/* ---- The same by recorded events ------------------------------------------------------------ */

/* Which S bits are set, as bits 1 to 3; they are cleared again. */
static unsigned recorded(struct unit *u)
{
    unsigned set = 0;

    for (unsigned x = 1; x <= 3; x++) {
        set |= (unsigned)(unit_get(u, unit_pmbsr(x)) >> 17 & 1) << x;
        unit_set(u, unit_pmbsr(x), 0);
    }
    return set;
}

/* Collisions leave COLL, not S. */
static unsigned collided(struct unit *u)
{
    unsigned set = 0;

    spu_event_collision(u->spu);
    for (unsigned x = 1; x <= 3; x++) {
        set |= (unsigned)(unit_get(u, unit_pmbsr(x)) >> 16 & 1) << x;
        unit_set(u, unit_pmbsr(x), 0);
    }
    return set;
}

static unsigned after_fault(struct unit *u, const struct spe_write_result *fault)
{
    spu_event_fault(u->spu, fault, false);
    return recorded(u);
}

static unsigned after_other(struct unit *u, unsigned bsc)
{
    spu_event_other(u->spu, bsc);
    return recorded(u);
}

static void events_follow_the_tables(void **state)
{
    static const struct spe_write_result translation1 = {
        .fault = SPE_FAULT_TRANSLATION, .stage = 1, .level = 3};
    static const struct spe_write_result translation2 = {
        .fault = SPE_FAULT_TRANSLATION, .stage = 2, .level = 3};
    static const struct spe_write_result gpf1 = {
        .fault = SPE_FAULT_GPF, .stage = 1, .level = 2, .walk = SPE_WALK_TABLE};
    static const struct spe_write_result gpf2 = {
        .fault = SPE_FAULT_GPF, .stage = 2, .level = 2, .walk = SPE_WALK_TABLE};
    static const struct spe_write_result abort1 = {
        .fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 1, .level = 1, .walk = SPE_WALK_TABLE};
    static const struct spe_write_result abort2 = {
        .fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .level = 1, .walk = SPE_WALK_TABLE};
    static const struct spe_write_result gpt = {
        .fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .walk = SPE_WALK_GPT};
    static const struct spe_write_result gpc = {.fault = SPE_FAULT_GPC};
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (unsigned n = 0; n < COMBINATIONS; n++) {
        struct controls c = combination(n);
        const struct row *t5 = lookup(0, &c), *t6 = lookup(1, &c), *t7 = lookup(2, &c);

        apply(&u, &c);
        recorded(&u);
        assert_int_equal(after_fault(&u, &gpf1), 1u << t5->stage1);
        assert_int_equal(after_fault(&u, &gpf2), 1u << t5->stage2);
        assert_int_equal(after_fault(&u, &gpc), 1u << t5->last);
        assert_int_equal(after_fault(&u, &gpt), 1u << t5->last); /* U10 */
        assert_int_equal(after_fault(&u, &abort1), 1u << t6->stage1);
        assert_int_equal(after_fault(&u, &abort2), 1u << t6->stage2);
        assert_int_equal(after_fault(&u, &translation1), 1u << t7->stage1);
        assert_int_equal(after_fault(&u, &translation2), 1u << t7->stage2);
        assert_int_equal(after_other(&u, BSC_FULL), 1u << t7->last);        /* D17.8-132 */
        assert_int_equal(after_other(&u, BSC_NOT_ALLOWED), 1u << t7->last); /* D17.8-172 */
        assert_int_equal(collided(&u), 1u << t7->last);
    }
    unit_destroy(&u);
}

/* ---- The rule, over implementations and Security states ------------------------------------- */

enum { NO_EL3 = 1, NO_EL2 = 2, NO_SEL2 = 4, NO_RME = 8, NO_EXC = 16, NO_RAS = 32 };

static const struct {
    const char *features;
    unsigned lacks;
} implementations[] = {
    {"all", 0},
    {"all,-sel2", NO_SEL2},
    {"all,-rme", NO_RME},
    {"all,-el2", NO_EL2 | NO_SEL2 | NO_RME},
    {"all,-el3", NO_EL3 | NO_RME},
    {"all,-el3,-secure", NO_EL3 | NO_SEL2 | NO_RME},
    {"all,-el3,-el2", NO_EL3 | NO_EL2 | NO_SEL2 | NO_RME},
    {"all,-ras", NO_RAS},
    {"all,-spe_exc", NO_EXC},
};

struct world {
    struct controls c;
    unsigned lacks;
    bool secure_only;  /* no EL3, Secure state */
    unsigned security; /* {NSE,NS} of the PE */
    bool eel2;
    unsigned owner; /* {NSPBE,NSPB[1]} */
};

static void apply_world(struct unit *u, const struct world *w)
{
    unit_put(&u->pe.scr_el3, 0, 1, w->security & 1);
    unit_put(&u->pe.scr_el3, 62, 1, w->security >> 1);
    unit_put(&u->pe.scr_el3, 18, 1, w->eel2);
    unit_put(&u->pe.mdcr_el3, 13, 1, w->owner & 1);
    unit_put(&u->pe.mdcr_el3, 11, 1, w->owner >> 1);
    apply(u, &w->c);
}

/* Does the Security state have EL2, and is it on there? */
static bool has_el2(const struct world *w, unsigned security)
{
    if (w->lacks & NO_EL2)
        return false;
    if (security != SPE_SECURE)
        return true;
    return !(w->lacks & NO_SEL2) && (w->lacks & NO_EL3 ? w->secure_only : w->eel2);
}

static bool el2_owns(const struct world *w)
{
    unsigned owner = w->owner;

    if (w->lacks & NO_EL3)
        owner = w->secure_only ? SPE_SECURE : SPE_NONSECURE;
    return has_el2(w, owner) && w->c.e2pb == 0;
}

/* EL3 routes its own: D17.8-016. */
static bool el3_takes(const struct world *w, enum kind kind)
{
    return kind == GPC || (kind == GPF && w->c.scr_gpf) || (kind == ABORT && w->c.scr_ea);
}

/* D17.8-020 */
static bool el2_takes_from_el1(const struct world *w, enum kind kind, unsigned ec)
{
    bool tea = w->c.tea && !(w->lacks & NO_RAS);

    return ec == 0x25 || (kind == GPF && w->c.hcr_gpf) || (kind == ABORT && tea);
}

static void check_rule(struct unit *u, const struct world *w, unsigned ec, unsigned fsc)
{
    bool fault = ec == 0x24 || ec == 0x25 || ec == 0x1e;
    enum kind kind = !fault ? OTHER_EVENT : ec == 0x1e ? GPC : fault_kind(fsc);
    unsigned security =
        w->lacks & NO_EL3 ? (w->secure_only ? SPE_SECURE : SPE_NONSECURE) : w->security;
    unsigned x = spe_spu_route(u->spu, ec, fsc);

    if (w->lacks & NO_EXC)
        assert_int_equal(x, 1); /* D17.8-023 */
    else if (!(w->lacks & NO_EL3) && w->c.pmsee == 3)
        assert_int_equal(x, 3); /* D17.8-015 */
    else if (!(w->lacks & NO_EL3) && w->c.pmsee == 2 && el3_takes(w, kind))
        assert_int_equal(x, 3); /* D17.8-016 */
    else if (!(w->lacks & NO_EL3) && w->c.pmsee == 0)
        assert_int_equal(x, 1); /* D17.8-017 */
    else if (!has_el2(w, security))
        assert_int_equal(x, 1); /* D17.8-017 */
    else if (w->c.ee == 3)
        assert_int_equal(x, 2); /* D17.8-018 */
    else if (w->c.ee == 2 && kind == GPC)
        assert_int_equal(x, 2); /* D17.8-021 */
    else if (w->c.ee == 2 && el2_owns(w) && fault)
        assert_int_equal(x, 2); /* D17.8-019 */
    else if (w->c.ee == 2 && el2_owns(w))
        assert_int_equal(x, 1); /* D17.8-019: not a fault */
    else if (w->c.ee == 2 && el2_takes_from_el1(w, kind, ec))
        assert_int_equal(x, 2); /* D17.8-020 */
    else
        assert_int_equal(x, 1); /* D17.8-022 */
}

static void check_events(struct unit *u, const struct world *w)
{
    static const uint8_t fscs[] = {0x07, 0x0f, 0x10, 0x11, 0x12, 0x17, 0x18,
                                   0x1b, 0x1c, 0x21, 0x22, 0x28, 0x29, 0x30};
    bool rme = !(w->lacks & NO_RME);

    for (size_t i = 0; i < COUNT(fscs); i++) {
        if (!rme && fault_kind(fscs[i]) == GPF)
            continue;
        check_rule(u, w, 0x24, fscs[i]);
        check_rule(u, w, 0x25, fscs[i]);
    }
    check_rule(u, w, 0x00, 0);
    check_rule(u, w, 0x1f, 0);
    if (rme)
        check_rule(u, w, 0x1e, 0);
}

static void check_worlds(struct unit *u, struct world *w)
{
    static const uint8_t els[] = {1, 3}; /* the rule does not look at the current EL */

    for (unsigned n = 0; n < COMBINATIONS; n++) {
        w->c = combination(n);
        for (size_t e = 0; e < COUNT(els); e++) {
            u->pe.el = els[e];
            apply_world(u, w);
            check_events(u, w);
        }
    }
}

static void rule_in_every_world(void **state)
{
    static const uint8_t states[] = {SPE_SECURE, SPE_NONSECURE, SPE_REALM};
    struct unit u;

    (void)state;
    for (size_t i = 0; i < COUNT(implementations); i++) {
        struct world w = {.lacks = implementations[i].lacks};

        unit_with(&u, implementations[i].features);
        w.secure_only = !strcmp(implementations[i].features, "all,-el3") ||
                        !strcmp(implementations[i].features, "all,-el3,-el2");
        for (unsigned n = 0; n < 3 * 2 * 3; n++) {
            w.security = states[n % 3];
            w.eel2 = n / 3 % 2;
            w.owner = states[n / 6];
            if ((w.lacks & NO_RME) && (w.security == SPE_REALM || w.owner == SPE_REALM))
                continue;
            check_worlds(&u, &w);
        }
        unit_destroy(&u);
    }
}

/* EffectiveEA(): SCR_EL3.EA counts as 0 in Debug state. */
static void external_aborts_in_debug_state(void **state)
{
    const struct controls c = {.pmsee = 2, .scr_ea = 1, .ee = 1, .e2pb = 3};
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    apply(&u, &c);
    assert_int_equal(spe_spu_route(u.spu, 0x24, 0x14), 3); /* D17.8-016 */
    u.pe.debug = true;
    unit_pe(&u);
    assert_int_equal(spe_spu_route(u.spu, 0x24, 0x14), 1);
    unit_destroy(&u);
}

/* ISFJPD: two ways of sharing the work between EL1 and EL2. */
static void target_and_owner_differ(void **state)
{
    static const struct spe_write_result fault = {.fault = SPE_FAULT_TRANSLATION, .stage = 1};
    struct controls c = {.pmsee = 1, .ee = 3, .e2pb = 3};
    struct spe_exception e;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    apply(&u, &c);
    assert_int_equal(spe_spu_status(u.spu)->owner_el, 1);
    spu_event_fault(u.spu, &fault, false);
    spe_spu_exception(u.spu, &e);
    assert_int_equal(e.target_el, 2); /* D17.8-107 */
    recorded(&u);

    c.ee = 2;
    c.e2pb = 0;
    apply(&u, &c);
    unit_field(&u, SPE_REG_PMSCR_EL1, 8, 2, 3);
    assert_int_equal(spe_spu_status(u.spu)->owner_el, 2);
    spu_event_other(u.spu, BSC_FULL);
    spe_spu_exception(u.spu, &e);
    assert_int_equal(e.source, 1);    /* D17.8-107 */
    assert_int_equal(e.target_el, 1); /* D17.8-107 */
    unit_destroy(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_at_every_el),      cmocka_unit_test(events_follow_the_tables),
        cmocka_unit_test(rule_in_every_world),     cmocka_unit_test(external_aborts_in_debug_state),
        cmocka_unit_test(target_and_owner_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
