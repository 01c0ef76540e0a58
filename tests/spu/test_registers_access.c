/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D24.7: what an MRS or MSR comes to at each Exception level: the register, UNDEFINED, a trap, the
 * register of another name, or memory. The rules are typed in here from the descriptions of the
 * registers, row by row, and followed for every register over all combinations of the controls.
 */
#include "support/spu_unit.h"

/* ---- What the descriptions say -------------------------------------------------------------- */

enum need { SPE, FNE, FDS, NVM, EXC, EXC_EL3, VHE, EXC_VHE };

/* fgt: bit of HDFGxTR_EL2 that traps when 1, or -bit when it traps when 0; fgt2: bit of
 * HDFGxTR2_EL2 that traps when 0. el2: 'T' MDCR_EL2.TPMS, 'E' MDCR_EL2.E2PB. el3: 'N' for NSPB, and
 * 3, 4, n, e for EnPMS3, EnPMS4, EnPMSN, PMSEE. */
static const struct rule {
    const char *name;
    unsigned op1, crm, op2;
    enum need need;
    bool read_only;
    int fgt, fgt2;
    char el2;
    const char *el3;
    unsigned nv2;
} rules[] = {
    {"PMSCR_EL1", 0, 9, 0, SPE, false, 26, 0, 'T', "N", 0x828},
    {"PMSNEVFR_EL1", 0, 9, 1, FNE, false, -62, 0, 'T', "Nn", 0x850},
    {"PMSICR_EL1", 0, 9, 2, SPE, false, 29, 0, 'T', "N", 0x838},
    {"PMSIRR_EL1", 0, 9, 3, SPE, false, 31, 0, 'T', "N", 0x840},
    {"PMSFCR_EL1", 0, 9, 4, SPE, false, 28, 0, 'T', "N", 0},
    {"PMSEVFR_EL1", 0, 9, 5, SPE, false, 27, 0, 'T', "N", 0x830},
    {"PMSLATFR_EL1", 0, 9, 6, SPE, false, 32, 0, 'T', "N", 0x848},
    {"PMSIDR_EL1", 0, 9, 7, SPE, true, 30, 0, 'T', "N", 0},
    {"PMBLIMITR_EL1", 0, 10, 0, SPE, false, 23, 0, 'E', "N", 0x800},
    {"PMBPTR_EL1", 0, 10, 1, SPE, false, 24, 0, 'E', "N", 0x810},
    {"PMBSR_EL1", 0, 10, 3, SPE, false, 25, 0, 'E', "N", 0x820},
    {"PMSDSFR_EL1", 0, 10, 4, FDS, false, 0, 19, 'T', "N3", 0x858},
    {"PMBMAR_EL1", 0, 10, 5, NVM, false, 0, 24, 'E', "N4", 0},
    {"PMBIDR_EL1", 0, 10, 7, SPE, true, 63, 0, 0, "", 0},
    {"PMSCR_EL2", 4, 9, 0, SPE, false, 0, 0, 0, "N", 0},
    {"PMBSR_EL2", 4, 10, 3, EXC, false, 0, 0, 0, "Ne", 0},
    {"PMSCR_EL12", 5, 9, 0, VHE, false, 0, 0, 0, "N", 0x828},
    {"PMBSR_EL12", 5, 10, 3, EXC_VHE, false, 0, 0, 0, "N", 0x820},
    {"PMBSR_EL3", 6, 10, 3, EXC_EL3, false, 0, 0, 0, "", 0},
};

/* Everything that an access looks at. */
struct world {
    unsigned el;
    bool write;
    bool fgt, fgt2;           /* the register's fine-grained trap is set */
    bool fgten, fgten2;       /* SCR_EL3 */
    bool tpms, e2pb0;         /* MDCR_EL2: TPMS=1; E2PB[0]=0 */
    bool nspb0, nspb1;        /* MDCR_EL3.NSPB[0]=0; the owner is another Security state */
    bool keep3, keep4, keepn; /* MDCR_EL3.EnPMS3, EnPMS4, EnPMSN are 0 */
    unsigned pmsee;
    unsigned nv; /* HCR_EL2.{NV2,NV1,NV} */
    bool e2h;
    unsigned ee1, ee2; /* PMSCR_ELx.EE */
    bool secure;       /* Secure state with EL2 disabled there */
    bool debug, sdd;
};

struct platform {
    const char *features;
    bool sdd_trap_first;
    bool el3, el2, fgt, fgt2, nv, nv2, vhe, exc, fne, fds, nvm;
};

/* ---- Putting a world in place --------------------------------------------------------------- */

static void put_rule_traps(struct spe_pe_state *pe, const struct rule *r, const struct world *w)
{
    uint64_t hdfg = BIT(62), hdfg2 = BIT(19) | BIT(24); /* those that trap when 0 */
    uint64_t *one = w->write ? &pe->hdfgwtr_el2 : &pe->hdfgrtr_el2;
    uint64_t *two = w->write ? &pe->hdfgwtr2_el2 : &pe->hdfgrtr2_el2;

    pe->hdfgrtr_el2 = pe->hdfgwtr_el2 = hdfg;
    pe->hdfgrtr2_el2 = pe->hdfgwtr2_el2 = hdfg2;
    if (w->fgt && r->fgt > 0)
        *one |= BIT(r->fgt);
    if (w->fgt && r->fgt < 0)
        *one &= ~BIT(-r->fgt);
    if (w->fgt2 && r->fgt2)
        *two &= ~BIT(r->fgt2);
}

static void put_world(struct unit *u, const struct rule *r, const struct world *w)
{
    struct spe_pe_state *pe = &u->pe;
    unsigned ns = !w->secure;

    put_rule_traps(pe, r, w);
    unit_put(&pe->scr_el3, 0, 1, ns);
    unit_put(&pe->scr_el3, 18, 1, 0);
    unit_put(&pe->scr_el3, 27, 1, w->fgten);
    unit_put(&pe->scr_el3, 59, 1, w->fgten2);
    unit_put(&pe->mdcr_el2, 14, 1, w->tpms);
    unit_put(&pe->mdcr_el2, 12, 2, w->e2pb0 ? 2 : 3);
    unit_put(&pe->mdcr_el3, 12, 1, !w->nspb0);
    unit_put(&pe->mdcr_el3, 13, 1, w->nspb1 ? !ns : ns);
    unit_put(&pe->mdcr_el3, 42, 1, !w->keep3);
    unit_put(&pe->mdcr_el3, 55, 1, !w->keep4);
    unit_put(&pe->mdcr_el3, 36, 1, !w->keepn);
    unit_put(&pe->mdcr_el3, 51, 2, w->pmsee);
    unit_put(&pe->hcr_el2, 42, 1, w->nv & 1);
    unit_put(&pe->hcr_el2, 43, 1, w->nv >> 1 & 1);
    unit_put(&pe->hcr_el2, 45, 1, w->nv >> 2 & 1);
    unit_put(&pe->hcr_el2, 34, 1, w->e2h);
    pe->el = (uint8_t)w->el;
    pe->debug = w->debug;
    pe->sdd = w->sdd;
    u->spu->reg[SPE_REG_PMSCR_EL1] = w->ee1 << 8;
    u->spu->reg[SPE_REG_PMSCR_EL2] = w->ee2 << 8;
    unit_pe(u);
}

/* ---- The order of the descriptions ---------------------------------------------------------- */

enum { UNDEFINED = 1000, TRAP_EL2, TRAP_EL3, MEMORY }; /* else: a register */

static bool present(const struct platform *p, enum need need)
{
    switch (need) {
    case FNE:
        return p->fne;
    case FDS:
        return p->fds;
    case NVM:
        return p->nvm;
    case EXC:
        return p->exc;
    case EXC_EL3:
        return p->exc && p->el3;
    case VHE:
        return p->vhe;
    case EXC_VHE:
        return p->exc && p->vhe;
    default:
        return true;
    }
}

static bool el3_check(const struct platform *p, const struct rule *r, const struct world *w)
{
    bool trap = false;

    if (!p->el3)
        return false;
    for (const char *c = r->el3; *c; c++)
        trap |= (*c == 'N' && (w->nspb0 || w->nspb1)) || (*c == '3' && w->keep3) ||
                (*c == '4' && w->keep4) || (*c == 'n' && w->keepn) || (*c == 'e' && w->pmsee == 0);
    return trap;
}

static unsigned effective_ee2(const struct platform *p, const struct world *w)
{
    if (!p->exc || (p->el3 && w->pmsee == 0))
        return 0;
    return p->el2 && !(p->el3 && w->secure) ? w->ee2 : 1;
}

static unsigned self(const struct rule *r)
{
    int reg = spe_register_by_name(r->name);

    return reg == SPE_REG_PMSCR_EL12   ? SPE_REG_PMSCR_EL1
           : reg == SPE_REG_PMBSR_EL12 ? SPE_REG_PMBSR_EL1
                                       : (unsigned)reg;
}

static unsigned effective_nv(const struct platform *p, const struct world *w, bool el2_on)
{
    if (!el2_on || !p->nv || !(w->nv & 1))
        return 0;
    return p->nv2 ? w->nv : w->nv & 3;
}

static bool fine_grained(const struct platform *p, const struct rule *r, const struct world *w)
{
    if (r->fgt)
        return p->fgt && (!p->el3 || w->fgten) && w->fgt;
    return r->fgt2 && p->fgt2 && ((p->el3 && !w->fgten2) || w->fgt2);
}

static unsigned at_el1(const struct platform *p, const struct rule *r, const struct world *w)
{
    bool el2_on = p->el2 && !(p->el3 && w->secure);
    bool locked = w->debug && w->sdd;
    unsigned nv = effective_nv(p, w, el2_on);
    unsigned reg = self(r);
    bool memory = r->nv2 && (nv & 5) == 5;

    if (r->op1 == 6)
        return UNDEFINED;
    if (r->op1 == 4)
        return nv ? TRAP_EL2 : UNDEFINED;
    if (r->op1 == 5)
        return nv == 5 ? MEMORY : nv ? TRAP_EL2 : UNDEFINED;
    if (locked && p->sdd_trap_first && el3_check(p, r, w))
        return UNDEFINED;
    if (el2_on && fine_grained(p, r, w))
        return TRAP_EL2;
    if (el2_on && ((r->el2 == 'T' && w->tpms) || (r->el2 == 'E' && w->e2pb0)))
        return TRAP_EL2;
    if (el3_check(p, r, w))
        return locked ? UNDEFINED : TRAP_EL3;
    if (reg == SPE_REG_PMSCR_EL1)
        memory &= nv == 7;
    if (reg == SPE_REG_PMBSR_EL1)
        memory &= effective_ee2(p, w) == 0 || !p->exc || w->ee1 == 0 || nv == 7;
    return memory ? MEMORY : reg;
}

static unsigned at_el2(const struct platform *p, const struct rule *r, const struct world *w)
{
    bool host = p->vhe && w->e2h && !(p->el3 && w->secure);

    if (r->op1 == 6 || (r->op1 == 5 && !host))
        return UNDEFINED;
    if (el3_check(p, r, w))
        return w->debug && w->sdd ? UNDEFINED : TRAP_EL3;
    if (!strcmp(r->name, "PMSCR_EL1") && host)
        return SPE_REG_PMSCR_EL2;
    if (!strcmp(r->name, "PMBSR_EL1") && host && effective_ee2(p, w) != 0)
        return SPE_REG_PMBSR_EL2;
    return self(r);
}

static unsigned expected(const struct platform *p, const struct rule *r, const struct world *w)
{
    bool host = p->vhe && w->e2h && !(p->el3 && w->secure);

    if (!present(p, r->need) || w->el == 0 || (w->write && r->read_only))
        return UNDEFINED;
    if (w->el == 1)
        return at_el1(p, r, w);
    if (w->el == 2)
        return at_el2(p, r, w);
    return r->op1 == 5 && !host ? UNDEFINED : self(r);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static void describe(const struct platform *p, const struct rule *r, const struct world *w,
                     const struct spe_register_access *a, unsigned want)
{
    fail_msg("%s %s at EL%u with %s: outcome %u reg %u EL%u, expected %u (nv %u e2h %d ee %u,%u "
             "debug %d sdd %d secure %d)",
             w->write ? "MSR" : "MRS", r->name, w->el, p->features, a->outcome, a->reg,
             a->target_el, want, w->nv, w->e2h, w->ee1, w->ee2, w->debug, w->sdd, w->secure);
}

static uint32_t syndrome_of(const struct rule *r, const struct world *w, unsigned rt)
{
    return 0x62300000u | r->op2 << 17 | r->op1 << 14 | 0x2400u | rt << 5 | r->crm << 1 |
           (w->write ? 0u : 1u);
}

static bool as_expected(const struct rule *r, const struct world *w,
                        const struct spe_register_access *a, unsigned want, unsigned rt)
{
    switch (want) {
    case UNDEFINED:
        return a->outcome == SPE_OUTCOME_UNDEFINED;
    case TRAP_EL2:
    case TRAP_EL3:
        return a->outcome == SPE_OUTCOME_TRAP && a->target_el == (want == TRAP_EL2 ? 2 : 3) &&
               a->syndrome == syndrome_of(r, w, rt);
    case MEMORY:
        return a->outcome == SPE_OUTCOME_MEMORY && a->memory_offset == r->nv2;
    default:
        return a->outcome == SPE_OUTCOME_DONE && a->reg == want;
    }
}

static void check(struct unit *u, const struct platform *p, const struct rule *r,
                  const struct world *w)
{
    unsigned encoding = SPE_SYSREG(3, r->op1, 9, r->crm, r->op2);
    unsigned want = expected(p, r, w), rt = w->el * 7 + w->nv;
    struct spe_register_access access;

    put_world(u, r, w);
    if (w->write)
        assert_int_equal(spe_spu_write(u->spu, encoding, rt, 0, &access), SPE_OK);
    else
        assert_int_equal(spe_spu_read(u->spu, encoding, rt, &access), SPE_OK);
    if (!as_expected(r, w, &access, want, rt))
        describe(p, r, w, &access, want);
}

/* ---- Enumeration ---------------------------------------------------------------------------- */

static const struct platform platforms[] = {
    {"all", false, true, true, true, true, true, true, true, true, true, true, true},
    {"all", true, true, true, true, true, true, true, true, true, true, true, true},
    {"all,-el3", false, false, true, true, true, true, true, true, true, true, true, true},
    {"all,-el2", false, true, false, true, true, false, false, false, true, true, true, true},
    {"all,-fgt", false, true, true, false, false, true, true, true, false, true, false, false},
    {"all,-fgt2", false, true, true, true, false, true, true, true, false, true, false, false},
    {"all,-nv", false, true, true, true, true, false, false, true, true, true, true, true},
    {"all,-nv2", false, true, true, true, true, true, false, true, true, true, true, true},
    {"all,-vhe", false, true, true, true, true, true, true, false, true, true, true, true},
    {"all,-spe_exc", false, true, true, true, true, true, true, true, false, true, true, true},
    {"all,-spe_fds", false, true, true, true, true, true, true, true, true, true, false, true},
    {"all,-spe_nvm", false, true, true, true, true, true, true, true, false, true, true, false},
    {"spe,el2,el3,secure,vhe,e2h0", false, true, true, false, false, false, false, true, false,
     false, false, false},
};

typedef void visit_fn(struct unit *u, const struct platform *p, const struct rule *r,
                      struct world *w);

static const struct world plain = {.fgten = true, .fgten2 = true, .pmsee = 1};

static void on_every_platform(visit_fn *visit)
{
    struct spe_spu_config config;
    struct unit u;

    for (size_t i = 0; i < COUNT(platforms); i++) {
        unit_config(&config, platforms[i].features);
        config.sdd_trap_first = platforms[i].sdd_trap_first;
        unit_create(&u, &config);
        for (size_t r = 0; r < COUNT(rules); r++) {
            for (unsigned n = 0; n < 8; n++) {
                struct world w = plain;

                w.el = n % 4;
                w.write = n / 4;
                if (w.el == 2 && !platforms[i].el2)
                    continue;
                if (w.el == 3 && !platforms[i].el3)
                    continue;
                visit(&u, &platforms[i], &rules[r], &w);
            }
        }
        unit_destroy(&u);
    }
}

/* Every combination on implementations with all traps; elsewhere, and where nothing traps, some. */
static unsigned stride(const struct platform *p, const struct world *w)
{
    bool all = p->el2 && p->fgt2 && p->exc && p->nv2 && p->vhe && p->fds;

    return all && (w->el == 1 || w->el == 2) ? 1 : 31;
}

/* All traps against each other, with Debug state. */
static void visit_traps(struct unit *u, const struct platform *p, const struct rule *r,
                        struct world *w)
{
    for (unsigned n = 0; n < 1u << 13; n += stride(p, w)) {
        w->fgt = w->fgt2 = n & 1;
        w->fgten = n & 2;
        w->fgten2 = n & 4;
        w->tpms = n & 8;
        w->e2pb0 = n & 16;
        w->nspb0 = n & 32;
        w->nspb1 = n & 64;
        w->keep3 = w->keep4 = w->keepn = n & 128;
        w->pmsee = n & 256 ? 0 : 1;
        w->debug = n & 512;
        w->sdd = n & 1024;
        w->secure = n & 2048;
        w->nv = n & 4096 ? 7 : 0;
        if (w->secure && (w->el == 2 || !p->el3))
            continue; /* EL2 is off there; and NS is EL3's */
        check(u, p, r, w);
    }
}

static void traps(void **state)
{
    (void)state;
    on_every_platform(visit_traps);
}

/* Nested virtualization and the host's redirection: PMSCR_ELx and PMBSR_ELx in full. */
static void visit_redirections(struct unit *u, const struct platform *p, const struct rule *r,
                               struct world *w)
{
    unsigned step = r->op1 || r->nv2 == 0x828 || r->nv2 == 0x820 ? 1 : 5;

    for (unsigned n = 0; n < 8 * 2 * 4 * 4 * 4; n += step) {
        w->nv = n % 8;
        w->e2h = n / 8 % 2;
        w->ee1 = n / 16 % 4;
        w->ee2 = n / 64 % 4;
        w->pmsee = n / 256;
        check(u, p, r, w);
    }
}

static void redirections(void **state)
{
    (void)state;
    on_every_platform(visit_redirections);
}

/* ---- By example ----------------------------------------------------------------------------- */

/* Syndromes worked out by hand. */
static void syndromes(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    u.pe.el = 1;
    unit_put(&u.pe.mdcr_el2, 14, 1, 1); /* TPMS */
    unit_put(&u.pe.mdcr_el2, 12, 2, 2); /* E2PB */
    unit_pe(&u);
    spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 9, 0), 5, &access); /* MRS X5, PMSCR_EL1 */
    assert_int_equal(access.outcome, SPE_OUTCOME_TRAP);
    assert_int_equal(access.target_el, 2);
    assert_int_equal(access.syndrome, 0x623024b3);
    spe_spu_write(u.spu, SPE_SYSREG(3, 0, 9, 10, 3), 31, 0, &access); /* MSR PMBSR_EL1, XZR */
    assert_int_equal(access.syndrome, 0x623627f4);
    spe_spu_write(u.spu, SPE_SYSREG(3, 0, 9, 9, 4), 63, 0, &access); /* only five bits are Rt */
    assert_int_equal(access.syndrome, 0x623827f2);
    unit_destroy(&u);
}

/* A redirected access reaches the other register's value. */
static void host_names(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    u.pe.el = 2;
    unit_put(&u.pe.hcr_el2, 34, 1, 1);
    unit_put(&u.pe.mdcr_el3, 51, 2, 1);
    unit_pe(&u);
    unit_set(&u, SPE_REG_PMSCR_EL1, 0x20);
    unit_set(&u, SPE_REG_PMSCR_EL2, 0x310);
    unit_set(&u, SPE_REG_PMBSR_EL1, 0x11);
    unit_set(&u, SPE_REG_PMBSR_EL2, 0x22);
    spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 9, 0), 0, &access);
    assert_int_equal(access.value, 0x310);
    spe_spu_read(u.spu, SPE_SYSREG(3, 5, 9, 9, 0), 0, &access);
    assert_int_equal(access.value, 0x20);
    spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 10, 3), 0, &access);
    assert_int_equal(access.value, 0x22);
    spe_spu_read(u.spu, SPE_SYSREG(3, 5, 9, 10, 3), 0, &access);
    assert_int_equal(access.value, 0x11);
    spe_spu_write(u.spu, SPE_SYSREG(3, 5, 9, 10, 3), 0, 0x33, &access);
    assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL1), 0x33);
    spe_spu_write(u.spu, SPE_SYSREG(3, 0, 9, 10, 3), 0, 0x44, &access);
    assert_int_equal(unit_get(&u, SPE_REG_PMBSR_EL2), 0x44);
    unit_destroy(&u);
}

/* What did not reach a register has changed none. */
static void trapped_writes_do_nothing(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    for (uint8_t el = 0; el < 3; el++) {
        u.pe.el = el;
        unit_put(&u.pe.mdcr_el3, 12, 2, 0);
        unit_pe(&u);
        spe_spu_write(u.spu, SPE_SYSREG(3, 0, 9, 9, 3), 0, 0xffff, &access);
        assert_int_not_equal(access.outcome, SPE_OUTCOME_DONE);
        assert_int_equal(unit_get(&u, SPE_REG_PMSIRR_EL1), 0);
    }
    u.pe.el = 3;
    unit_pe(&u);
    spe_spu_write(u.spu, SPE_SYSREG(3, 0, 9, 9, 3), 0, 0xffff, &access);
    assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
    assert_int_equal(unit_get(&u, SPE_REG_PMSIRR_EL1), 0xff01);
    unit_destroy(&u);
}

/* Nothing of an earlier answer is left. */
static void answers_are_whole(void **state)
{
    static const struct spe_register_access zero = {.outcome = SPE_OUTCOME_UNDEFINED};
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    unit_set(&u, SPE_REG_PMSCR_EL1, 0x3b);
    memset(&access, 0xff, sizeof(access));
    spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 9, 0), 0, &access);
    assert_int_equal(access.outcome, zero.outcome);
    assert_int_equal(access.reg, zero.reg);
    assert_int_equal(access.target_el, zero.target_el);
    assert_int_equal(access.memory_offset, zero.memory_offset);
    assert_int_equal(access.syndrome, zero.syndrome);
    assert_int_equal(access.value, zero.value);
    unit_destroy(&u);
}

/* Reads and writes have fine-grained traps of their own. */
static void read_and_write_traps_are_apart(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    u.pe.el = 1;
    u.pe.hdfgrtr_el2 |= BIT(31);
    unit_pe(&u);
    spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 9, 3), 0, &access);
    assert_int_equal(access.outcome, SPE_OUTCOME_TRAP);
    spe_spu_write(u.spu, SPE_SYSREG(3, 0, 9, 9, 3), 0, 1, &access);
    assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
    unit_destroy(&u);
}

/* Registers of EL2 without EL2: RES0 from EL3. */
static void el2_registers_without_el2(void **state)
{
    static const unsigned encodings[] = {SPE_SYSREG(3, 4, 9, 9, 0), SPE_SYSREG(3, 4, 9, 10, 3)};
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all,-el2");
    u.pe.el = 3;
    unit_pe(&u);
    for (size_t i = 0; i < COUNT(encodings); i++) {
        spe_spu_write(u.spu, encodings[i], 0, ~UINT64_C(0), &access);
        assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
        spe_spu_read(u.spu, encodings[i], 0, &access);
        assert_int_equal(access.outcome, SPE_OUTCOME_DONE);
        assert_int_equal(access.value, 0);
    }
    unit_destroy(&u);
}

/* FEAT_RME: {NSPBE,NSPB[1]} against SCR_EL3.{NSE,NS}; 0b10 is reserved, an option says what it
 * does. */
static void realms_and_reserved_owners(void **state)
{
    static const uint8_t states[] = {SPE_SECURE, SPE_NONSECURE, SPE_REALM};
    struct spe_spu_config config;
    struct spe_register_access access;
    struct unit u;

    (void)state;
    for (unsigned n = 0; n < 3 * 4 * 2 * 2; n++) {
        unsigned now = states[n % 3], owner = n / 3 % 4, nspb0 = n / 12 % 2;
        bool reserved_traps = n / 24, trap = owner != now || !nspb0;

        unit_config(&config, "all");
        config.nspb_reserved_traps = reserved_traps;
        unit_create(&u, &config);
        u.pe.el = 1;
        unit_put(&u.pe.scr_el3, 0, 1, now & 1);
        unit_put(&u.pe.scr_el3, 62, 1, now >> 1);
        unit_put(&u.pe.mdcr_el3, 12, 1, nspb0);
        unit_put(&u.pe.mdcr_el3, 13, 1, owner & 1);
        unit_put(&u.pe.mdcr_el3, 11, 1, owner >> 1);
        unit_pe(&u);
        if (owner == SPE_SECURITY_RESERVED)
            trap = reserved_traps;
        spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 9, 3), 0, &access);
        assert_int_equal(access.outcome, trap ? SPE_OUTCOME_TRAP : SPE_OUTCOME_DONE);
        unit_destroy(&u);
    }
}

/* HCR_EL2.E2H cannot be 0 without FEAT_E2H0; nor does an AArch32 EL2 have it. */
static void fixed_host(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all,-e2h0");
    u.pe.el = 2;
    unit_pe(&u);
    spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 9, 0), 0, &access);
    assert_int_equal(access.reg, SPE_REG_PMSCR_EL2);
    u.pe.el = 3;
    u.pe.el2_aarch32 = true;
    unit_pe(&u);
    spe_spu_read(u.spu, SPE_SYSREG(3, 5, 9, 9, 0), 0, &access);
    assert_int_equal(access.outcome, SPE_OUTCOME_UNDEFINED);
    unit_destroy(&u);
}

/* AArch32 has no such instruction. */
static void not_from_aarch32(void **state)
{
    struct spe_register_access access;
    struct unit u;

    (void)state;
    unit_with(&u, "all");
    u.pe.el = 1;
    u.pe.aarch32 = true;
    unit_pe(&u);
    spe_spu_read(u.spu, SPE_SYSREG(3, 0, 9, 9, 0), 0, &access);
    assert_int_equal(access.outcome, SPE_OUTCOME_UNDEFINED);
    unit_destroy(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traps),
        cmocka_unit_test(redirections),
        cmocka_unit_test(syndromes),
        cmocka_unit_test(host_names),
        cmocka_unit_test(trapped_writes_do_nothing),
        cmocka_unit_test(answers_are_whole),
        cmocka_unit_test(read_and_write_traps_are_apart),
        cmocka_unit_test(el2_registers_without_el2),
        cmocka_unit_test(realms_and_reserved_owners),
        cmocka_unit_test(fixed_host),
        cmocka_unit_test(not_from_aarch32),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
