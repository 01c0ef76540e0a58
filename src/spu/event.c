/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.8: what a Profiling Buffer management event does. Which PMBSR_ELx it is recorded in
 * (RHJXHT), what is written there, and what follows from an S bit: the SPE Profiling exception
 * (RYZJQX, RNXPMV), the interrupt request PMBIRQ (RTSJRP) and PMU counters that stand still.
 */
#include "spu_internal.h"

enum { PMCR_DP = 5 };

/* PMBSR_ELx by x. */
static const uint8_t syndrome_registers[] = {0, SPE_REG_PMBSR_EL1, SPE_REG_PMBSR_EL2,
                                             SPE_REG_PMBSR_EL3};

static bool service(const struct spe_spu *spu, unsigned x)
{
    return spu_bit(spu->reg[syndrome_registers[x]], PMBSR_S);
}

/* ---- Routing (RHJXHT, Tables D17-5 to D17-7) ------------------------------------------------ */

/* A kind of event, as far as routing looks at it. */
struct kind {
    bool stage1, stage2;
    bool gpc; /* Granule Protection Check fault other than a GPF */
    bool gpf;
    bool abort; /* synchronous External abort */
};

static struct kind kind_of(const struct spe_spu *spu, unsigned ec, unsigned fsc)
{
    struct kind k = {.stage1 = ec == EC_STAGE1, .stage2 = ec == EC_STAGE2};
    bool rme = spu_has(spu, SPE_FEAT_RME), fault = k.stage1 || k.stage2;

    k.gpc = rme && ec == EC_GPC;
    k.gpf = rme && fault && fsc >= 0x22 && fsc <= 0x28;
    k.abort = fault && (fsc == 0x10 || (fsc >= 0x12 && fsc <= 0x17) || fsc == 0x1b);
    return k;
}

static bool routed_to_el3(const struct spe_spu *spu, const struct kind *k)
{
    const struct spe_spu_status *s = &spu->status;

    if (!spu_has(spu, SPE_FEAT_EL3) || !(s->pmsee & 2))
        return false;
    return s->pmsee == 3 || k->gpc || (k->gpf && spu_bit(spu->pe.scr_el3, SCR_GPF)) ||
           (k->abort && s->ea);
}

static bool routed_to_el2(const struct spe_spu *spu, const struct kind *k)
{
    const struct spe_spu_status *s = &spu->status;

    if (!(s->ee2 & 2))
        return false;
    return s->ee2 == 3 || k->stage2 || k->gpc || (k->stage1 && s->owner_el == 2) ||
           (k->gpf && spu_bit(spu->pe.hcr_el2, HCR_GPF)) || (k->abort && s->tea);
}

/* The controls are those of the moment of the write; without FEAT_SPE_EXC they all read as off. */
unsigned spu_route(const struct spe_spu *spu, unsigned ec, unsigned fsc)
{
    struct kind k = kind_of(spu, ec, fsc);

    if (!spu_has(spu, SPE_FEAT_SPE_EXC))
        return 1;
    if (routed_to_el3(spu, &k))
        return 3;
    return routed_to_el2(spu, &k) ? 2 : 1;
}

unsigned spe_spu_route(const struct spe_spu *spu, unsigned ec, unsigned fsc)
{
    return spu_route(spu, ec, fsc);
}

/* ---- Syndrome of a fault (D17.8.3) ---------------------------------------------------------- */

unsigned spu_fault_ec(const struct spe_write_result *fault)
{
    bool abort = fault->fault == SPE_FAULT_EXTERNAL_ABORT;
    bool on_access = (abort || fault->fault == SPE_FAULT_GPF) && fault->walk == SPE_WALK_NO;

    if (fault->fault == SPE_FAULT_GPC || (abort && fault->walk == SPE_WALK_GPT))
        return EC_GPC;
    /* Aborts and GPFs of the access itself belong to no stage: they are told as stage 1. */
    return fault->stage == 2 && !on_access ? EC_STAGE2 : EC_STAGE1;
}

/* Codes by level: of 0, to which the level is added; of -1 and -2, or none. */
struct codes {
    uint8_t level0, minus1, minus2;
};

static unsigned code_at(const struct codes *codes, int level)
{
    if (level < 0 && codes->minus1)
        return level == -1 ? codes->minus1 : codes->minus2;
    return codes->level0 + (unsigned)(level < 0 ? 0 : level > 3 ? 3 : level);
}

static unsigned abort_code(const struct spe_write_result *abort, bool async)
{
    static const struct codes on_walk = {0x14, 0x13, 0x12};

    if (async)
        return 0x11;
    return abort->walk == SPE_WALK_TABLE ? code_at(&on_walk, abort->level) : 0x10;
}

unsigned spu_fault_fsc(const struct spe_write_result *fault, bool async)
{
    static const struct codes address_size = {0x00, 0x29, 0x2c};
    static const struct codes translation = {0x04, 0x2b, 0x2a};
    static const struct codes access_flag = {0x08, 0, 0};
    static const struct codes permission = {0x0c, 0, 0};
    static const struct codes gpf_on_walk = {0x24, 0x23, 0x22};

    switch (fault->fault) {
    case SPE_FAULT_ADDRESS_SIZE:
        return code_at(&address_size, fault->level);
    case SPE_FAULT_TRANSLATION:
        return code_at(&translation, fault->level);
    case SPE_FAULT_ACCESS_FLAG:
        return code_at(&access_flag, fault->level);
    case SPE_FAULT_PERMISSION:
        return code_at(&permission, fault->level);
    case SPE_FAULT_ALIGNMENT:
        return 0x21;
    case SPE_FAULT_TLB_CONFLICT:
        return 0x30;
    case SPE_FAULT_UNSUPPORTED_ATOMIC:
        return 0x31;
    case SPE_FAULT_GPF:
        return fault->walk == SPE_WALK_NO ? 0x28 : code_at(&gpf_on_walk, fault->level);
    case SPE_FAULT_EXTERNAL_ABORT:
        return abort_code(fault, async);
    default:
        return 0;
    }
}

/* MSS2: details of a Permission fault, zero for every other. */
enum { MSS2_DIRTY_BIT = 5, MSS2_OVERLAY = 6, MSS2_ASSURED_ONLY = 7, MSS2_TOP_LEVEL = 8 };

static uint32_t permission_details(const struct spe_spu *spu, const struct spe_write_result *fault)
{
    bool the = spu_has(spu, SPE_FEAT_THE) && fault->stage == 2;
    bool overlay = spu_has(spu, SPE_FEAT_S1POE), indirect = spu_has(spu, SPE_FEAT_S1PIE);

    if (fault->fault != SPE_FAULT_PERMISSION)
        return 0;
    return (uint32_t)(the && fault->top_level) << MSS2_TOP_LEVEL |
           (uint32_t)(the && fault->assured_only) << MSS2_ASSURED_ONLY |
           (uint32_t)(overlay && fault->overlay) << MSS2_OVERLAY |
           (uint32_t)(indirect && fault->dirty_bit) << MSS2_DIRTY_BIT;
}

/* ---- Recording (RNXZXG) --------------------------------------------------------------------- */

/* A change of one PMBSR_ELx on its way. */
struct change {
    unsigned x;
    uint64_t before, after;
};

static struct change begin(const struct spe_spu *spu, unsigned x)
{
    uint64_t value = spu->reg[syndrome_registers[x]];

    return (struct change){x, value, value};
}

static void set_field(uint64_t *value, unsigned low, unsigned bits, uint64_t field)
{
    uint64_t mask = (~UINT64_C(0) >> (64 - bits)) << low;

    *value = (*value & ~mask) | (field << low & mask);
}

static void set_bit(struct change *c, unsigned bit)
{
    c->after |= UINT64_C(1) << bit;
}

/* S, the class and its syndrome; what else the event sets is the caller's. */
static void set_event(struct change *c, unsigned ec, unsigned mss, uint32_t mss2)
{
    set_bit(c, PMBSR_S);
    set_field(&c->after, PMBSR_EC, 6, ec);
    set_field(&c->after, PMBSR_MSS, 16, mss);
    set_field(&c->after, PMBSR_MSS2, 24, mss2);
}

static bool is_new(const struct change *c)
{
    return !spu_bit(c->before, PMBSR_S) && spu_bit(c->after, PMBSR_S);
}

static void notify(struct spe_spu *spu, const struct change *c)
{
    const struct spe_management_event event = {
        .el = (uint8_t)c->x,
        .ec = (uint8_t)spu_bits(c->after, PMBSR_EC + 5, PMBSR_EC),
        .mss = (uint16_t)spu_bits(c->after, PMBSR_MSS + 15, PMBSR_MSS),
        .mss2 = (uint32_t)spu_bits(c->after, PMBSR_MSS2 + 23, PMBSR_MSS2),
        .before = c->before,
        .after = c->after,
        .pointer = spu->reg[SPE_REG_PMBPTR_EL1],
        .is_new = is_new(c),
    };

    if (spu->host.management_event && c->after != c->before)
        spu->host.management_event(spu->host.user, &event);
}

/* SPEFreezeOnEvent() for each range of counters. The cycle counter is of the first, and stands
 * still only where PMCR_EL0.DP lets it. */
static void update_freeze(struct spe_spu *spu)
{
    uint64_t limitr = spu->reg[SPE_REG_PMBLIMITR_EL1], pmcr = spu->pe.pmcr_el0;
    bool freeze = spu_has(spu, SPE_FEAT_SPEv1p2) && spu_has(spu, SPE_FEAT_PMUv3p7) &&
                  spu_bit(limitr, PMBLIMITR_E) && spu_bit(limitr, PMBLIMITR_PMFZ) &&
                  spu->status.stopped;

    spu->status.freeze_first = freeze && spu_bit(pmcr, PMCR_FZS);
    spu->status.freeze_second =
        freeze && spu_has(spu, SPE_FEAT_EL2) && spu_bit(spu->pe.mdcr_el2, MDCR2_HPMFZS);
    spu->status.freeze_cycles =
        spu->status.freeze_first && spu_has(spu, SPE_FEAT_SPE_DPFZS) && spu_bit(pmcr, PMCR_DP);
}

/* Make the change. The host hears of it first, with the unit as it is then, and of the interrupt or
 * exception that follows from it afterwards. */
static void commit(struct spe_spu *spu, const struct change *c)
{
    spu->reg[syndrome_registers[c->x]] = c->after;
    if (is_new(c)) {
        spu->sync[c->x] = (struct spu_sync){.by_unit = true};
        spu->stats.management_events++;
    }
    spu_derive(&spu->config, &spu->pe, spu->reg, &spu->status);
    update_freeze(spu);
    notify(spu, c);
    spu_state_update(spu);
}

/* X08: at a record boundary the text leaves DL alone in one place and chooses it in another. */
static void set_data_loss(const struct spe_spu *spu, struct change *c, bool mid_record)
{
    if (mid_record || spu->config.fault_boundary_dl == SPE_DL_1)
        set_bit(c, PMBSR_DL);
    else if (spu->config.fault_boundary_dl == SPE_DL_0)
        set_field(&c->after, PMBSR_DL, 1, 0);
}

/* U09: with S already 1 there is no new event, and the syndrome stays. */
static bool record_fault(struct spe_spu *spu, unsigned x, const struct spe_write_result *fault,
                         bool mid_record)
{
    unsigned ec = spu_fault_ec(fault);
    struct change c = begin(spu, x);

    if (service(spu, x))
        return false;
    set_event(&c, ec, ec == EC_GPC ? 0 : spu_fault_fsc(fault, false),
              permission_details(spu, fault));
    set_data_loss(spu, &c, mid_record);
    if (fault->fault == SPE_FAULT_EXTERNAL_ABORT && spu->config.walk_abort_sets_ea)
        set_bit(&c, PMBSR_EA);
    commit(spu, &c);
    return true;
}

/* With FEAT_SPEv1p5 some samples more may be taken, and lost, after a fault (RWVKFM); but with S
 * set the unit has stopped, and PMSICR_EL1 stands still (D17.4). So S comes with the last of them:
 * where the event is routed to is settled now, by the controls of the write. */
bool spu_event_fault(struct spe_spu *spu, const struct spe_write_result *fault, bool mid_record)
{
    unsigned ec = spu_fault_ec(fault);
    unsigned x = spu_route(spu, ec, ec == EC_GPC ? 0 : spu_fault_fsc(fault, false));

    if (spu->config.fault_late_samples == 0)
        return record_fault(spu, x, fault, mid_record);
    spu->late = (struct spu_late){
        .left = spu->config.fault_late_samples,
        .x = (uint8_t)x,
        .mid_record = mid_record,
        .fault = *fault,
    };
    return false;
}

void spu_event_late_end(struct spe_spu *spu)
{
    struct spu_late late = spu->late;

    spu->late.left = 0;
    record_fault(spu, late.x, &late.fault, late.mid_record);
}

/* D17.8.4.4: EA and DL act whether or not S was 1. U10: on a GPT fetch it is a GPC fault's class,
 * with the abort's FSC all the same. */
bool spu_event_abort(struct spe_spu *spu, const struct spe_write_result *abort, bool async,
                     bool mid_record)
{
    unsigned ec = spu_fault_ec(abort), fsc = spu_fault_fsc(abort, async);
    struct change c = begin(spu, spu_route(spu, ec, fsc));

    set_bit(&c, PMBSR_EA);
    if (async || mid_record)
        set_bit(&c, PMBSR_DL);
    if (!spu_bit(c.before, PMBSR_S))
        set_event(&c, ec, fsc, 0);
    commit(spu, &c);
    return is_new(&c);
}

bool spu_event_other(struct spe_spu *spu, unsigned bsc)
{
    struct change c = begin(spu, spu_route(spu, EC_OTHER, 0));

    if (spu_bit(c.before, PMBSR_S))
        return false;
    set_event(&c, EC_OTHER, bsc, 0);
    if (bsc == BSC_NOT_ALLOWED)
        set_bit(&c, PMBSR_DL);
    commit(spu, &c);
    if (bsc == BSC_FULL)
        spu_pmu(spu, SPE_PMU_SAMPLE_BUFFER_FULL, 1);
    return true;
}

/* Nothing is derived from COLL, so there is nothing to update. */
void spu_event_collision(struct spe_spu *spu)
{
    struct change c = begin(spu, spu_route(spu, EC_OTHER, 0));

    set_bit(&c, PMBSR_COLL);
    spu->reg[syndrome_registers[c.x]] = c.after;
    notify(spu, &c);
    spu_pmu(spu, SPE_PMU_SAMPLE_COLLISION, 1);
}

int spe_spu_impdef_enable(struct spe_spu *spu, bool enable)
{
    if (spu->config.impdef_buffer_event != SPE_PRESENT)
        return SPE_ERR_INVALID;
    spu->impdef_enabled = enable;
    return SPE_OK;
}

int spe_spu_impdef_event(struct spe_spu *spu, uint16_t mss, uint32_t mss2)
{
    struct change c;

    if (spu->config.impdef_buffer_event != SPE_PRESENT)
        return SPE_ERR_INVALID;
    c = begin(spu, spu_route(spu, EC_IMPDEF, 0));
    /* D17.5.5: in Discard mode buffer management events are not generated, whatever the reason. */
    if (!spu->impdef_enabled || spu->status.discard || spu_bit(c.before, PMBSR_S))
        return 0;
    set_event(&c, EC_IMPDEF, mss, mss2);
    commit(spu, &c);
    return 1;
}

/* ---- The SPE Profiling exception (RYZJQX, Tables D17-8 to D17-10) --------------------------- */

#define PROFILING_SYNDROME (0x3du << 26 | 1u << 25 | 1u << 1) /* SPE, not synchronous */

static bool in_owning_state(const struct spe_spu *spu)
{
    return spu->status.security == spu->status.owner_security;
}

/* At the Exception level that it is taken to, KE and PSTATE.PM decide. */
static enum spe_masking masked_by_pm(const struct spe_spu *spu, bool kernel_enabled)
{
    if (!kernel_enabled)
        return SPE_MASK_ALWAYS;
    return spu->pe.pm ? SPE_MASK_BY_PM : SPE_MASK_UNMASKED;
}

static enum spe_masking masking_el3(const struct spe_spu *spu)
{
    if (!spu_has(spu, SPE_FEAT_EL3) || !(spu->status.pmsee & 2))
        return SPE_MASK_DISABLED;
    return spu->pe.el == 3 || spu->pe.debug ? SPE_MASK_ALWAYS : SPE_MASK_UNMASKED;
}

static enum spe_masking masking_el2(const struct spe_spu *spu)
{
    bool kernel = spu->status.ee2 == 3 && spu_bit(spu->reg[SPE_REG_PMSCR_EL2], PMSCR_KE);

    if (!(spu->status.ee2 & 2))
        return SPE_MASK_DISABLED;
    if (spu->pe.el == 3 || spu->pe.debug || !in_owning_state(spu))
        return SPE_MASK_ALWAYS;
    return spu->pe.el == 2 ? masked_by_pm(spu, kernel) : SPE_MASK_UNMASKED;
}

static enum spe_masking masking_el1(const struct spe_spu *spu)
{
    if (spu->status.ee1 != 3)
        return SPE_MASK_DISABLED;
    if (spu->pe.el >= 2 || spu->pe.debug || !in_owning_state(spu))
        return SPE_MASK_ALWAYS;
    if (spu->pe.el == 0)
        return SPE_MASK_UNMASKED;
    return masked_by_pm(spu, spu_bit(spu->reg[SPE_REG_PMSCR_EL1], PMSCR_KE));
}

static enum spe_masking masking_of(const struct spe_spu *spu, unsigned x)
{
    if (!spu_has(spu, SPE_FEAT_SPE_EXC) || !service(spu, x))
        return SPE_MASK_DISABLED;
    return x == 3 ? masking_el3(spu) : x == 2 ? masking_el2(spu) : masking_el1(spu);
}

void spe_spu_exception_of(const struct spe_spu *spu, unsigned x, struct spe_exception *exception)
{
    *exception = (struct spe_exception){0};
    if (x < 1 || x > 3)
        return;
    exception->masking = (uint8_t)masking_of(spu, x);
    if (exception->masking == SPE_MASK_DISABLED)
        return;
    exception->source = (uint8_t)x;
    exception->target_el = (uint8_t)(x == 1 && spu->status.tge ? 2 : x);
    exception->synchronized = exception->masking == SPE_MASK_UNMASKED && spu->sync[x].synchronized;
    exception->within = exception->synchronized ? 0 : spu->config.spe_exc_delay;
    exception->syndrome = PROFILING_SYNDROME;
}

/* U06: the order among several is a choice. One that can be taken goes before all that are
 * masked. */
void spe_spu_exception(const struct spe_spu *spu, struct spe_exception *exception)
{
    bool highest_first = spu->config.spe_exc_order == SPE_HIGHEST_TARGET_FIRST;
    struct spe_exception candidate;

    *exception = (struct spe_exception){0};
    for (unsigned i = 1; i <= 3; i++) {
        spe_spu_exception_of(spu, highest_first ? 4 - i : i, &candidate);
        if (candidate.masking == SPE_MASK_UNMASKED) {
            *exception = candidate;
            return;
        }
        if (exception->masking == SPE_MASK_DISABLED)
            *exception = candidate;
    }
}

/* ---- Bounds (RNXPMV) ------------------------------------------------------------------------ */

void spu_event_observed(struct spe_spu *spu, unsigned x)
{
    spu->sync[x].observed = true;
}

/* A is the instruction that has seen S=1, B a Context synchronization event after it. */
void spe_spu_context_sync(struct spe_spu *spu)
{
    spu->last.since_cse = false;
    for (unsigned x = 1; x <= 3; x++)
        if (spu->sync[x].observed)
            spu->sync[x].synchronized = true;
    spu_event_update(spu);
}

/* HFGITR_EL2.PSBCSYNC, FEAT_SPEv1p5. */
static bool psb_traps(const struct spe_spu *spu)
{
    const struct spe_spu_status *s = &spu->status;

    if (!spu_has(spu, SPE_FEAT_SPEv1p5) || !spu_has(spu, SPE_FEAT_FGT))
        return false;
    if (spu->pe.el > 1 || !s->el2_enabled || s->in_host)
        return false;
    if (spu_has(spu, SPE_FEAT_EL3) && !spu_bit(spu->pe.scr_el3, SCR_FGTEN))
        return false;
    return spu_bit(spu->pe.hfgitr_el2, HFGITR_PSBCSYNC);
}

/* The trap's ISS is 4 in the description of ESR_EL2, which is followed, and 3 in the pseudocode.
 * AArch32 has no PSB CSYNC. */
void spe_spu_psb_csync(struct spe_spu *spu, struct spe_register_access *access)
{
    *access = (struct spe_register_access){.outcome = SPE_OUTCOME_DONE};
    if (spu->pe.aarch32 || !spu_has(spu, SPE_FEAT_SPE)) {
        access->outcome = SPE_OUTCOME_NOP;
        return;
    }
    if (psb_traps(spu)) {
        access->outcome = SPE_OUTCOME_TRAP;
        access->target_el = 2;
        access->syndrome = 0x0au << 26 | 1u << 25 | 4;
        return;
    }
    if (spu->late.left) /* what it waits for includes the fault's event */
        spu_event_late_end(spu);
    for (unsigned x = 1; x <= 3; x++)
        if (spu->sync[x].by_unit)
            spu_event_observed(spu, x);
}

/* ---- Levels that follow --------------------------------------------------------------------- */

bool spe_spu_interrupt_enabled(const struct spe_spu *spu)
{
    return spu->status.ee1 == 0;
}

bool spe_spu_interrupt(const struct spe_spu *spu)
{
    return spe_spu_interrupt_enabled(spu) && service(spu, 1);
}

static bool same_exception(const struct spe_exception *a, const struct spe_exception *b)
{
    return a->masking == b->masking && a->source == b->source && a->target_el == b->target_el &&
           a->synchronized == b->synchronized && a->within == b->within;
}

static void update_exception(struct spe_spu *spu)
{
    struct spe_exception now;

    spe_spu_exception(spu, &now);
    if (same_exception(&now, &spu->told))
        return;
    spu->told = now;
    if (spu->host.exception)
        spu->host.exception(spu->host.user, &now);
}

static void update_interrupt(struct spe_spu *spu)
{
    bool level = spe_spu_interrupt(spu);

    if (level == spu->irq)
        return;
    spu->irq = level;
    if (spu->host.interrupt)
        spu->host.interrupt(spu->host.user, level);
}

void spu_event_update(struct spe_spu *spu)
{
    for (unsigned x = 1; x <= 3; x++)
        if (!service(spu, x))
            spu->sync[x] = (struct spu_sync){0};
    update_freeze(spu);
    update_interrupt(spu);
    update_exception(spu);
}
