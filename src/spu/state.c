/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.4 and D17.7: who owns the Profiling Buffer, whether profiling is enabled; D17.6.9: what may
 * be collected. All from the Effective values of fields, which are worked out first. Everything is
 * computed once per change of PE state or registers, never per operation.
 */
#include "spu_internal.h"

/* Inputs of one derivation, to keep the signatures short. */
struct inputs {
    const struct spe_spu_config *config;
    const struct spe_pe_state *pe;
    const uint64_t *reg;
};

static bool has(const struct inputs *in, enum spe_feature f)
{
    return spe_has(in->config->features, f);
}

/* ---- Effective values ----------------------------------------------------------------------- */

/* A PE with Secure state and without EL3 is Secure only. */
static bool secure_only(const struct inputs *in)
{
    return has(in, SPE_FEAT_Secure) && !has(in, SPE_FEAT_EL3);
}

static void derive_security(const struct inputs *in, struct spe_spu_status *s)
{
    if (!has(in, SPE_FEAT_EL3))
        s->ns = !secure_only(in);
    else
        s->ns = !has(in, SPE_FEAT_Secure) || spu_bit(in->pe->scr_el3, SCR_NS);
    s->nse = has(in, SPE_FEAT_RME) && has(in, SPE_FEAT_EL3) && spu_bit(in->pe->scr_el3, SCR_NSE);
    s->security = (uint8_t)(s->nse << 1 | s->ns);
}

static void derive_el2(const struct inputs *in, struct spe_spu_status *s)
{
    bool el3 = has(in, SPE_FEAT_EL3);

    s->secure_el2 = has(in, SPE_FEAT_EL2) && has(in, SPE_FEAT_SEL2) &&
                    (el3 ? spu_bit(in->pe->scr_el3, SCR_EEL2) : secure_only(in));
    s->el2_enabled = has(in, SPE_FEAT_EL2) && (!el3 || s->ns || s->secure_el2);
}

/* Effective HCR_EL2.E2H: fixed to 1 where it cannot be 0. */
static bool effective_e2h(const struct inputs *in, const struct spe_spu_status *s)
{
    if (!has(in, SPE_FEAT_VHE) || !s->el2_enabled)
        return false;
    return !has(in, SPE_FEAT_E2H0) || spu_bit(in->pe->hcr_el2, HCR_E2H);
}

static void derive_controls(const struct inputs *in, struct spe_spu_status *s)
{
    const struct spe_pe_state *pe = in->pe;

    s->tge = s->el2_enabled && spu_bit(pe->hcr_el2, HCR_TGE);
    s->e2h = effective_e2h(in, s);
    s->in_host = s->e2h && (pe->el == 2 || (pe->el == 0 && s->tge));
    s->ea = has(in, SPE_FEAT_EL3) && !pe->debug && spu_bit(pe->scr_el3, SCR_EA);
    s->tea = s->el2_enabled && has(in, SPE_FEAT_RAS) && spu_bit(pe->hcr_el2, HCR_TEA);
}

/* PMSCR_EL2.EE: looks at SCR_EL3 even while the PE is at EL3 (RHJXHT). */
static uint8_t effective_ee2(const struct inputs *in, const struct spe_spu_status *s)
{
    if (!has(in, SPE_FEAT_SPE_EXC))
        return 0;
    if (has(in, SPE_FEAT_EL3) && s->pmsee == 0)
        return 0;
    if (has(in, SPE_FEAT_EL2) && (s->ns || s->secure_el2))
        return (uint8_t)spu_bits(in->reg[SPE_REG_PMSCR_EL2], PMSCR_EE + 1, PMSCR_EE);
    return 1;
}

/* PMSCR_EL1.EE. X09: the rules test 00 and 11, Table D17-8 0X and 1X; they differ for 01 and 10,
 * which are reserved without FEAT_NV and folded with it. */
static uint8_t effective_ee1(const struct inputs *in, const struct spe_spu_status *s)
{
    uint8_t ee = (uint8_t)spu_bits(in->reg[SPE_REG_PMSCR_EL1], PMSCR_EE + 1, PMSCR_EE);

    if (s->ee2 == 0)
        return 0;
    if (in->config->pmscr_el1_ee_reserved == SPE_EE_LITERAL && !has(in, SPE_FEAT_NV))
        return ee;
    return ee & 2 ? 3 : 0;
}

static void derive_exception_enables(const struct inputs *in, struct spe_spu_status *s)
{
    s->pmsee = 1;
    if (has(in, SPE_FEAT_EL3))
        s->pmsee = (uint8_t)spu_bits(in->pe->mdcr_el3, MDCR3_PMSEE + 1, MDCR3_PMSEE);
    if (!has(in, SPE_FEAT_SPE_EXC))
        s->pmsee = 0; /* the field is RES0 */
    s->ee2 = effective_ee2(in, s);
    s->ee1 = effective_ee1(in, s);
}

/* ---- Owner ---------------------------------------------------------------------------------- */

/* Numbered as {NSPBE,NSPB[1]}, which is how enum spe_security is numbered. */
static uint8_t owning_state(const struct inputs *in)
{
    uint64_t mdcr = in->pe->mdcr_el3;
    unsigned state;

    if (!has(in, SPE_FEAT_EL3))
        return secure_only(in) ? SPE_SECURE : SPE_NONSECURE;
    state = spu_bit(mdcr, MDCR3_NSPB + 1);
    if (has(in, SPE_FEAT_RME))
        state |= (unsigned)spu_bit(mdcr, MDCR3_NSPBE) << 1;
    if (state == SPE_SECURE && !has(in, SPE_FEAT_Secure))
        return SPE_SECURITY_RESERVED;
    return (uint8_t)state;
}

/* ProfilingBufferOwner() */
static void derive_owner(const struct inputs *in, struct spe_spu_status *s)
{
    bool el2;

    s->owner_security = owning_state(in);
    el2 = has(in, SPE_FEAT_EL2) && (s->owner_security != SPE_SECURE || s->secure_el2);
    s->el2_in_owning_state = el2;
    s->owner_el = el2 && spu_bits(in->pe->mdcr_el2, MDCR2_E2PB + 1, MDCR2_E2PB) == 0 ? 2 : 1;
    /* EL2 decides for an owner EL1 whether it may give intermediate physical addresses. */
    s->envm = has(in, SPE_FEAT_SPE_nVM) &&
              (!el2 || s->owner_el == 2 || spu_bit(in->reg[SPE_REG_PMSCR_EL2], PMSCR_ENVM));
    s->nvm = s->envm && spu_bit(in->reg[SPE_REG_PMBLIMITR_EL1], PMBLIMITR_NVM);
}

/* ---- Enabled -------------------------------------------------------------------------------- */

/* SPEProfilingStopped(): an S bit whose Exception level has not been given the events is ignored.
 */
static bool stopped(const struct inputs *in, const struct spe_spu_status *s)
{
    const uint64_t *reg = in->reg;

    if (spu_bit(reg[SPE_REG_PMBSR_EL1], PMBSR_S))
        return true;
    if ((s->ee2 & 2) && spu_bit(reg[SPE_REG_PMBSR_EL2], PMBSR_S))
        return true;
    return has(in, SPE_FEAT_EL3) && (s->pmsee & 2) && spu_bit(reg[SPE_REG_PMBSR_EL3], PMBSR_S);
}

/* ProfilingBufferEnabled(), but for SPEProfilingStopped() */
static bool buffer_usable(const struct inputs *in, const struct spe_spu_status *s)
{
    bool aarch32 = s->owner_el == 2 ? in->pe->el2_aarch32 : in->pe->el1_aarch32;

    return has(in, SPE_FEAT_SPE) && !in->pe->debug && !aarch32 &&
           s->owner_security != SPE_SECURITY_RESERVED && s->security == s->owner_security &&
           spu_bit(in->reg[SPE_REG_PMBLIMITR_EL1], PMBLIMITR_E);
}

/* StatisticalProfilingEnabled(el), but for ProfilingBufferEnabled() */
static bool enabled_at(const struct inputs *in, const struct spe_spu_status *s, unsigned el)
{
    uint64_t pmscr1 = in->reg[SPE_REG_PMSCR_EL1], pmscr2 = in->reg[SPE_REG_PMSCR_EL2];

    if (in->pe->aarch32 || el > s->owner_el)
        return false;
    if (s->tge && s->owner_el == 1)
        return false;
    switch (el) {
    case 2:
        return spu_bit(pmscr2, PMSCR_E1SPE); /* E2SPE */
    case 1:
        return !s->tge && spu_bit(pmscr1, PMSCR_E1SPE);
    default:
        return s->tge ? spu_bit(pmscr2, PMSCR_E0SPE) : spu_bit(pmscr1, PMSCR_E0SPE);
    }
}

static void derive_enabled(const struct inputs *in, struct spe_spu_status *s)
{
    uint64_t limitr = in->reg[SPE_REG_PMBLIMITR_EL1];
    bool usable = buffer_usable(in, s);
    unsigned el = in->pe->el;

    s->stopped = stopped(in, s);
    s->buffer_enabled = usable && !s->stopped;
    for (unsigned e = 0; e < 3; e++) /* records are never made at EL3 (D18.2-016) */
        s->enabled_at[e] = s->buffer_enabled && enabled_at(in, s, e);
    s->enabled = el < 3 && s->enabled_at[el];
    s->enabled_unless_stopped = el < 3 && usable && enabled_at(in, s, el);
    s->discard =
        has(in, SPE_FEAT_SPEv1p2) && spu_bits(limitr, PMBLIMITR_FM + 1, PMBLIMITR_FM) == FM_DISCARD;
}

/* ---- Collection controls (D17.6.9) ---------------------------------------------------------- */

/* PMSCR_ELx.PCT: bit 1 exists with FEAT_ECV only; 10 is reserved (U05). */
static unsigned effective_pct(const struct inputs *in, uint64_t pmscr)
{
    static const uint8_t reserved_as[] = {0, 1, 3};
    unsigned pct = (unsigned)spu_bits(pmscr, PMSCR_PCT + 1, PMSCR_PCT);

    if (!has(in, SPE_FEAT_ECV))
        return pct & 1;
    return pct == 2 ? reserved_as[in->config->pct_reserved_as] : pct;
}

/* Table D17-3, for timestamps that are on: what both levels agree to is the least that is told. */
static enum spe_timestamp_kind timestamp_kind(const struct inputs *in,
                                              const struct spe_spu_status *s)
{
    unsigned p1 = has(in, SPE_FEAT_EL2) ? effective_pct(in, in->reg[SPE_REG_PMSCR_EL1]) : 1;
    unsigned p2 = s->el2_enabled ? effective_pct(in, in->reg[SPE_REG_PMSCR_EL2]) : 1;
    unsigned pct;

    if (s->owner_el == 2)
        pct = p2;
    else if (p2 == 0 || p1 == 0)
        pct = 0;
    else
        pct = p1 | p2; /* 01 with 01 is 01; 11 on either side is 11 */
    return pct == 0   ? SPE_TIMESTAMP_VIRTUAL
           : pct == 1 ? SPE_TIMESTAMP_PHYSICAL
                      : SPE_TIMESTAMP_OFFSET_PHYSICAL;
}

static uint64_t virtual_offset(const struct inputs *in, const struct spe_spu_status *s)
{
    return !has(in, SPE_FEAT_EL2) || s->in_host ? 0 : in->pe->cntvoff_el2;
}

/* The text's four conditions; the pseudocode's fifth (SCR_EL3.RW=0) cannot meet an enabled unit. */
static uint64_t physical_offset(const struct inputs *in)
{
    if (!has(in, SPE_FEAT_EL2) || !has(in, SPE_FEAT_ECV_POFF))
        return 0;
    if (!spu_bit(in->pe->cnthctl_el2, CNTHCTL_ECV))
        return 0;
    if (has(in, SPE_FEAT_EL3) && !spu_bit(in->pe->scr_el3, SCR_ECVEN))
        return 0;
    return in->pe->cntpoff_el2;
}

/* CollectTimeStamp() */
static void derive_timestamp(const struct inputs *in, struct spe_spu_status *s)
{
    uint64_t owner = in->reg[s->owner_el == 2 ? SPE_REG_PMSCR_EL2 : SPE_REG_PMSCR_EL1];

    s->timestamp = SPE_TIMESTAMP_NONE;
    if (s->enabled && spu_bit(owner, PMSCR_TS))
        s->timestamp = timestamp_kind(in, s);
    switch (s->timestamp) {
    case SPE_TIMESTAMP_VIRTUAL:
        s->time_offset = virtual_offset(in, s);
        break;
    case SPE_TIMESTAMP_OFFSET_PHYSICAL:
        s->time_offset = physical_offset(in);
        break;
    default:
        s->time_offset = 0;
    }
}

/* CollectContextIDR1(), CollectContextIDR2(), CollectPhysicalAddress() */
static void derive_permissions(const struct inputs *in, struct spe_spu_status *s)
{
    uint64_t pmscr1 = in->reg[SPE_REG_PMSCR_EL1], pmscr2 = in->reg[SPE_REG_PMSCR_EL2];

    s->context1 = s->enabled && in->pe->el < 2 && !s->tge && spu_bit(pmscr1, PMSCR_CX);
    s->context2 = s->enabled && s->el2_enabled && spu_bit(pmscr2, PMSCR_CX);
    s->physical_address = (!s->el2_in_owning_state || spu_bit(pmscr2, PMSCR_PA)) &&
                          (s->owner_el == 2 || spu_bit(pmscr1, PMSCR_PA));
}

/* ---- Entry points --------------------------------------------------------------------------- */

void spu_derive(const struct spe_spu_config *config, const struct spe_pe_state *pe,
                const uint64_t *reg, struct spe_spu_status *status)
{
    const struct inputs in = {config, pe, reg};

    *status = (struct spe_spu_status){0};
    derive_security(&in, status);
    derive_el2(&in, status);
    derive_controls(&in, status);
    derive_exception_enables(&in, status);
    derive_owner(&in, status);
    derive_enabled(&in, status);
    derive_timestamp(&in, status);
    derive_permissions(&in, status);
}

void spu_state_update(struct spe_spu *spu)
{
    spu_derive(&spu->config, &spu->pe, spu->reg, &spu->status);
    spu_sampling_update(spu);
    if (spu->late.left && !spu->status.enabled)
        spu_event_late_end(spu); /* no sample comes any more: the fault's event does */
    spu_event_update(spu);
}

const struct spe_spu_status *spe_spu_status(const struct spe_spu *spu)
{
    return &spu->status;
}
