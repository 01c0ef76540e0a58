/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D24.7: the registers of the unit. Encodings, fields and access rules are rows of registers.def;
 * here is what walks them: which bits exist under a configuration, what an access at an Exception
 * level comes to, and the values of the identification registers.
 */
#include "spu_internal.h"

#include <string.h>

/* ---- The tables ----------------------------------------------------------------------------- */

enum need {
    NEED_SPE,
    NEED_FNE,
    NEED_FDS,
    NEED_ERND,
    NEED_EFT,
    NEED_V1P2,
    NEED_NVM,
    NEED_NVM_NV,
    NEED_NVM_EL2,
    NEED_EXC,
    NEED_EXC_EL2,
    NEED_EXC_EL3,
    NEED_EXC_VHE,
    NEED_EL2,
    NEED_VHE,
    NEED_RNG, /* an option */
};

static const spe_features need_features[] = {
    [NEED_SPE] = SPE_FEAT(SPE),
    [NEED_FNE] = SPE_FEAT(SPE_FnE),
    [NEED_FDS] = SPE_FEAT(SPE_FDS),
    [NEED_ERND] = SPE_FEAT(SPE_ERnd),
    [NEED_EFT] = SPE_FEAT(SPE_EFT),
    [NEED_V1P2] = SPE_FEAT(SPEv1p2),
    [NEED_NVM] = SPE_FEAT(SPE_nVM),
    [NEED_NVM_NV] = SPE_FEAT(SPE_nVM) | SPE_FEAT(NV),
    [NEED_NVM_EL2] = SPE_FEAT(SPE_nVM) | SPE_FEAT(EL2),
    [NEED_EXC] = SPE_FEAT(SPE_EXC),
    [NEED_EXC_EL2] = SPE_FEAT(SPE_EXC) | SPE_FEAT(EL2),
    [NEED_EXC_EL3] = SPE_FEAT(SPE_EXC) | SPE_FEAT(EL3),
    [NEED_EXC_VHE] = SPE_FEAT(SPE_EXC) | SPE_FEAT(VHE),
    [NEED_EL2] = SPE_FEAT(EL2),
    [NEED_VHE] = SPE_FEAT(VHE),
};

enum group { GROUP_NONE, GROUP_PMS, GROUP_PMB };
enum check3 { CHECK_NONE, CHECK_NSPB, CHECK_ENPMS4, CHECK_ENPMS3, CHECK_ENPMSN, CHECK_PMSEE };
enum fgt { FGT_NONE, FGT_FGT, FGT_NFGT, FGT_NFGT2, FGT_READ };
enum access { ACCESS_RW, ACCESS_RO, ACCESS_EVENTS, ACCESS_SOURCES };

/* op1 says whose register it is. */
enum { OP1_EL1 = 0, OP1_EL2 = 4, OP1_EL12 = 5, OP1_EL3 = 6 };

struct info {
    const char *name;
    uint8_t op1, crm, op2;
    uint8_t need, group, check3, fgt, fgt_bit;
    uint16_t nv2;
};

static const struct info registers[SPE_REG_NAME_COUNT] = {
#define SPU_REGISTER(reg, op1, crm, op2, need, group, check3, fgt, fgt_bit, nv2)                   \
    [SPE_REG_##reg] = {#reg,           op1,       crm,     op2, NEED_##need, GROUP_##group,        \
                       CHECK_##check3, FGT_##fgt, fgt_bit, nv2},
#include "registers.def"
#undef SPU_REGISTER
};

struct field {
    uint8_t reg, high, low, need, access;
    const char *name;
};

static const struct field fields[] = {
#define SPU_FIELD(reg, name, high, low, need, access)                                              \
    {SPE_REG_##reg, high, low, NEED_##need, ACCESS_##access, #name},
#include "registers.def"
#undef SPU_FIELD
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

/* ---- Names and encodings -------------------------------------------------------------------- */

int spe_register_encoding(unsigned reg)
{
    unsigned crn = reg == SPE_REG_RNG ? 15 : 9; /* 15: IMPLEMENTATION DEFINED */

    if (reg >= SPE_REG_NAME_COUNT)
        return SPE_ERR_INVALID;
    return (int)SPE_SYSREG(3, registers[reg].op1, crn, registers[reg].crm, registers[reg].op2);
}

int spe_register_by_encoding(unsigned encoding)
{
    for (unsigned reg = 0; reg < SPE_REG_NAME_COUNT; reg++)
        if ((unsigned)spe_register_encoding(reg) == encoding)
            return (int)reg;
    return SPE_ERR_UNKNOWN;
}

const char *spe_register_name(unsigned reg)
{
    return reg < SPE_REG_NAME_COUNT ? registers[reg].name : NULL;
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char upper = *a >= 'a' && *a <= 'z' ? (char)(*a - 'a' + 'A') : *a;

        if (upper != *b)
            return false;
    }
    return *a == *b;
}

int spe_register_by_name(const char *name)
{
    for (unsigned reg = 0; reg < SPE_REG_NAME_COUNT; reg++)
        if (same_name(name, registers[reg].name))
            return (int)reg;
    return SPE_ERR_UNKNOWN;
}

/* The register that a name of the _EL12 kind stands for. */
static unsigned own_register(unsigned reg)
{
    switch (reg) {
    case SPE_REG_PMSCR_EL12:
        return SPE_REG_PMSCR_EL1;
    case SPE_REG_PMBSR_EL12:
        return SPE_REG_PMBSR_EL1;
    default:
        return reg;
    }
}

/* ---- Which bits there are ------------------------------------------------------------------- */

static bool exists(const struct spe_spu *spu, unsigned need)
{
    if (need == NEED_RNG)
        return spu->config.rng_config_regs == SPE_PRESENT;
    return !(need_features[need] & ~spu->config.features);
}

static uint64_t field_bits(const struct field *f)
{
    return (~UINT64_C(0) >> (63 - (f->high - f->low))) << f->low;
}

static uint64_t field_mask(const struct spe_spu *spu, const struct field *f)
{
    if (!exists(spu, f->need))
        return 0;
    switch (f->access) {
    case ACCESS_RW:
        return field_bits(f);
    case ACCESS_EVENTS:
        return spu->filterable_events;
    case ACCESS_SOURCES:
        return spu->config.filter_sources;
    default:
        return 0;
    }
}

/* Parts of a field that a feature or an option takes away. */
static uint64_t lost_bits(const struct spe_spu *spu, unsigned reg)
{
    const uint64_t pct = UINT64_C(3) << PMSCR_PCT, pct_high = UINT64_C(2) << PMSCR_PCT;

    switch (reg) {
    case SPE_REG_PMSCR_EL1: /* without EL2 it reads 01: fixed_bits */
        if (!spu_has(spu, SPE_FEAT_EL2))
            return pct;
        return spu_has(spu, SPE_FEAT_ECV) ? 0 : pct_high;
    case SPE_REG_PMSCR_EL2:
        return spu_has(spu, SPE_FEAT_ECV) ? 0 : pct_high;
    case SPE_REG_PMBLIMITR_EL1: /* LIMIT[N-1:12]; below are other fields */
        return ((UINT64_C(1) << spu->config.granule_shift) - 1) & ~UINT64_C(0xfff);
    case SPE_REG_PMSLATFR_EL1: /* D24.7.16: MINLAT[15:12] */
        return spu->config.count_size == 16 ? 0 : UINT64_C(0xf000);
    case SPE_REG_PMBPTR_EL1:
        return spu->config.ptr_low_res0 ? spu->config.min_align_bytes - 1 : 0;
    default:
        return 0;
    }
}

uint64_t spu_register_mask(const struct spe_spu *spu, enum spe_register reg)
{
    unsigned own = own_register(reg);
    uint64_t mask = 0;

    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (fields[i].reg == own)
            mask |= field_mask(spu, &fields[i]);
    return mask & ~lost_bits(spu, own);
}

/* Bits that instructions can neither see nor change now: PMSCR_EL2.{E2SPE, E0HSPE} are RES0 unless
 * MDCR_EL2.E2PB is 0b00. What they hold stays. */
static uint64_t hidden_bits(const struct spe_spu *spu, unsigned reg)
{
    if (reg == SPE_REG_PMSCR_EL2 && spu_bits(spu->pe.mdcr_el2, MDCR2_E2PB + 1, MDCR2_E2PB) != 0)
        return UINT64_C(1) << PMSCR_E1SPE | UINT64_C(1) << PMSCR_E0SPE;
    return 0;
}

bool spe_register_field_at(const struct spe_spu *spu, unsigned reg, size_t i,
                           struct spe_register_field *field)
{
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        if (fields[f].reg != own_register(reg) || i-- != 0)
            continue;
        field->name = fields[f].name;
        field->high = fields[f].high;
        field->low = fields[f].low;
        field->present = exists(spu, registers[reg].need) && exists(spu, fields[f].need);
        field->writable = field->present &&
                          (field_mask(spu, &fields[f]) & ~lost_bits(spu, own_register(reg))) != 0;
        return true;
    }
    return false;
}

/* ---- Identification registers --------------------------------------------------------------- */

static unsigned log2_of(uint32_t power)
{
    unsigned log = 0;

    while (power >> (log + 1))
        log++;
    return log;
}

/* PMSIDR_EL1.Interval; 1 is reserved. */
static unsigned interval_code(uint32_t min_interval)
{
    static const uint16_t intervals[] = {256, 0, 512, 768, 1024, 1536, 2048, 3072, 4096};
    unsigned code = 0;

    while (code + 1 < sizeof(intervals) / sizeof(intervals[0]) && intervals[code] != min_interval)
        code++;
    return code;
}

static unsigned altclk_code(const struct spe_spu *spu)
{
    if (!spu_has(spu, SPE_FEAT_SPE_ALTCLK))
        return 0;
    return spu->config.altclk == SPE_ALTCLK_SMCU ? 1 : 15;
}

/* Format, [23:20], is 0 in every version. */
static uint64_t pmsidr(const struct spe_spu *spu)
{
    static const struct {
        uint8_t feature, bit;
    } flags[] = {
        {SPE_FEAT_SPE_SME, 32}, {SPE_FEAT_SPE_FPF, 27},     {SPE_FEAT_SPE_EFT, 26},
        {SPE_FEAT_SPE_CRR, 25}, {SPE_FEAT_SPE_PBT, 24},     {SPE_FEAT_SPE_FDS, 7},
        {SPE_FEAT_SPE_FnE, 6},  {SPE_FEAT_SPE_ERnd, 5},     {SPE_FEAT_SPE_LDS, 4},
        {SPE_FEAT_SPE, 2},      {SPE_FEAT_SPE_ArchInst, 3}, {SPE_FEAT_SPE, 1},
        {SPE_FEAT_SPE, 0},
    };
    uint64_t value = (uint64_t)altclk_code(spu) << 28;

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (spu_has(spu, (enum spe_feature)flags[i].feature))
            value |= UINT64_C(1) << flags[i].bit;
    value |= (spu->config.count_size == 16 ? UINT64_C(3) : UINT64_C(2)) << 16;
    value |= (uint64_t)log2_of(spu->config.max_size) << 12;
    return value | (uint64_t)interval_code(spu->config.min_interval) << 8;
}

/* IKDMQG: how an External abort on a write shows. Reports to the unit have no code. */
static unsigned ea_code(const struct spe_spu *spu)
{
    if (!spu->config.ea_described)
        return 0;
    switch (spu->config.write_abort) {
    case SPE_ABORT_IGNORE:
        return 1;
    case SPE_ABORT_SERROR:
        return 2;
    default:
        return 0;
    }
}

/* P: somebody else owns the buffer. EL3 can program it for everybody. */
static bool programming_not_allowed(const struct spe_spu *spu)
{
    const struct spe_spu_status *s = &spu->status;

    return spu->pe.el < 3 && (s->owner_el > spu->pe.el || s->owner_security != s->security);
}

static uint64_t pmbidr(const struct spe_spu *spu)
{
    bool p = programming_not_allowed(spu);
    uint64_t value = log2_of(spu->config.min_align_bytes);

    value |= (uint64_t)p << 4 | (uint64_t)(spu->config.spu_hw_af_dirty != 0) << 5;
    value |= (uint64_t)(spu->status.envm && !p) << 6; /* AddrMode: virtual and physical */
    return value | (uint64_t)ea_code(spu) << 8;
}

/* ---- Values --------------------------------------------------------------------------------- */

static uint64_t value_of(const struct spe_spu *spu, unsigned reg)
{
    switch (reg) {
    case SPE_REG_PMSIDR_EL1:
        return pmsidr(spu);
    case SPE_REG_PMBIDR_EL1:
        return pmbidr(spu);
    case SPE_REG_PMSICR_EL1:
        return spu_sampling_get(spu);
    case SPE_REG_RNG:
        return exists(spu, NEED_RNG) ? spu->rng.state : 0;
    case SPE_REG_PMSCR_EL1: /* without EL2 the time is physical, and PCT says so */
        return spu->reg[reg] | (uint64_t)!spu_has(spu, SPE_FEAT_EL2) << PMSCR_PCT;
    default:
        return spu->reg[reg];
    }
}

/* Change the bits of `mask`, which the register must have. */
static void change(struct spe_spu *spu, unsigned reg, uint64_t value, uint64_t mask)
{
    value &= mask;
    switch (reg) {
    case SPE_REG_PMSICR_EL1:
        spu_sampling_set(spu, value);
        break;
    case SPE_REG_RNG:
        spu->rng.state = (spu->rng.state & ~mask) | value;
        break;
    default:
        spu->reg[reg] = (spu->reg[reg] & ~mask) | value;
    }
}

/* x of PMBSR_ELx, or 0. */
static unsigned syndrome_el(unsigned reg)
{
    switch (reg) {
    case SPE_REG_PMBSR_EL1:
        return 1;
    case SPE_REG_PMBSR_EL2:
        return 2;
    case SPE_REG_PMBSR_EL3:
        return 3;
    default:
        return 0;
    }
}

/* RNXPMV: an instruction has read S as 1 or written it so. */
static void note_observed(struct spe_spu *spu, unsigned reg)
{
    unsigned x = syndrome_el(reg);

    if (x && spu_bit(spu->reg[reg], PMBSR_S))
        spu_event_observed(spu, x);
}

uint64_t spe_spu_reg_get(const struct spe_spu *spu, enum spe_register reg)
{
    return (unsigned)reg < SPE_REG_NAME_COUNT ? value_of(spu, own_register(reg)) : 0;
}

void spe_spu_reg_set(struct spe_spu *spu, enum spe_register reg, uint64_t value)
{
    if ((unsigned)reg >= SPE_REG_NAME_COUNT)
        return;
    change(spu, own_register(reg), value, spu_register_mask(spu, reg));
    spu_state_update(spu);
}

/* Whose PMSCR_ELx.EE is 0b00 after reset; with EL3 it is MDCR_EL3.PMSEE, which is not ours. */
static enum spe_register highest_control(const struct spe_spu *spu)
{
    return spu_has(spu, SPE_FEAT_EL2) ? SPE_REG_PMSCR_EL2 : SPE_REG_PMSCR_EL1;
}

void spu_registers_reset(struct spe_spu *spu)
{
    for (unsigned reg = 0; reg < SPE_REG_COUNT; reg++) {
        uint64_t mask = spu_register_mask(spu, (enum spe_register)reg);

        if (reg == SPE_REG_RNG) /* sampling.c makes it useable */
            continue;
        change(spu, reg, spu->config.reset_values == SPE_RESET_RANDOM ? spu_choice_bits(spu) : 0,
               mask);
    }
    spu->reg[SPE_REG_PMBLIMITR_EL1] &= ~(UINT64_C(1) << PMBLIMITR_E);
    if (!spu_has(spu, SPE_FEAT_EL3))
        spu->reg[highest_control(spu)] &= ~(UINT64_C(3) << PMSCR_EE);
}

/* ---- What an access comes to ---------------------------------------------------------------- */

struct attempt {
    const struct spe_spu *spu;
    unsigned reg; /* as named by the instruction */
    const struct info *info;
    bool write;
    unsigned rt;
    struct spe_register_access *access;
};

static void done(const struct attempt *a, unsigned reg)
{
    a->access->outcome = SPE_OUTCOME_DONE;
    a->access->reg = (uint8_t)reg;
}

static void undefined(const struct attempt *a)
{
    a->access->outcome = SPE_OUTCOME_UNDEFINED;
}

/* ESR_ELx of a trapped MSR or MRS: EC 0x18, IL, and the ISS's order of the encoding's parts. */
static void trap(const struct attempt *a, unsigned el)
{
    unsigned encoding = (unsigned)spe_register_encoding(a->reg);
    unsigned op0 = encoding >> 14, op1 = encoding >> 11 & 7, crn = encoding >> 7 & 15;
    unsigned crm = encoding >> 3 & 15, op2 = encoding & 7;

    a->access->outcome = SPE_OUTCOME_TRAP;
    a->access->target_el = (uint8_t)el;
    a->access->syndrome = 0x18u << 26 | 1u << 25 | op0 << 20 | op2 << 17 | op1 << 14 | crn << 10 |
                          (a->rt & 31) << 5 | crm << 1 | !a->write;
}

/* Effective HCR_EL2.{NV2, NV1, NV}; without NV the others mean nothing. */
enum { NV = 1, NV1 = 2, NV2 = 4 };

static unsigned nested(const struct spe_spu *spu)
{
    uint64_t hcr = spu->pe.hcr_el2;

    if (!spu->status.el2_enabled || !spu_has(spu, SPE_FEAT_NV) || !spu_bit(hcr, HCR_NV))
        return 0;
    return NV | (spu_bit(hcr, HCR_NV1) ? NV1 : 0u) |
           (spu_has(spu, SPE_FEAT_NV2) && spu_bit(hcr, HCR_NV2) ? NV2 : 0u);
}

/* ELIsInHost(EL2) */
static bool host_el2(const struct spe_spu *spu)
{
    return spu->status.e2h && !spu->pe.el2_aarch32;
}

/* CheckMDCR_EL3_NSPBTrap(): the buffer is not this Security state's, or everybody is trapped. */
static bool nspb_traps(const struct spe_spu *spu)
{
    const struct spe_spu_status *s = &spu->status;
    uint64_t mdcr = spu->pe.mdcr_el3;
    bool rme = spu_has(spu, SPE_FEAT_RME);

    if (rme && s->owner_security == SPE_SECURITY_RESERVED)
        return spu->config.nspb_reserved_traps;
    return !spu_bit(mdcr, MDCR3_NSPB) || spu_bit(mdcr, MDCR3_NSPB + 1) != s->ns ||
           (rme && spu_bit(mdcr, MDCR3_NSPBE) != s->nse);
}

/* The controls of EL3. Their order does not show: all trap to EL3 with the same syndrome. */
static bool el3_traps(const struct attempt *a)
{
    uint64_t mdcr = a->spu->pe.mdcr_el3;

    if (!spu_has(a->spu, SPE_FEAT_EL3))
        return false;
    switch (a->info->check3) {
    case CHECK_NONE:
        return false;
    case CHECK_ENPMS4:
        return !spu_bit(mdcr, MDCR3_ENPMS4) || nspb_traps(a->spu);
    case CHECK_ENPMS3:
        return !spu_bit(mdcr, MDCR3_ENPMS3) || nspb_traps(a->spu);
    case CHECK_ENPMSN:
        return !spu_bit(mdcr, MDCR3_ENPMSN) || nspb_traps(a->spu);
    case CHECK_PMSEE:
        return a->spu->status.pmsee == 0 || nspb_traps(a->spu);
    default:
        return nspb_traps(a->spu);
    }
}

/* EL3SDDUndef(): the debugger has locked EL3 away. */
static bool el3_locked(const struct spe_spu *spu)
{
    return spu->pe.debug && spu->pe.sdd;
}

static void trap_el3(const struct attempt *a)
{
    if (el3_locked(a->spu))
        undefined(a);
    else
        trap(a, 3);
}

/* Fine-grained traps. They exist for EL1 only; FEAT_FGT2's act as on while EL3 keeps them off. */
static bool fine_grained_traps(const struct attempt *a)
{
    const struct spe_pe_state *pe = &a->spu->pe;
    uint64_t fgtr = a->write ? pe->hdfgwtr_el2 : pe->hdfgrtr_el2;
    uint64_t fgtr2 = a->write ? pe->hdfgwtr2_el2 : pe->hdfgrtr2_el2;
    bool el3 = spu_has(a->spu, SPE_FEAT_EL3);
    bool on = spu_has(a->spu, SPE_FEAT_FGT) && (!el3 || spu_bit(pe->scr_el3, SCR_FGTEN));

    if (!a->spu->status.el2_enabled)
        return false;
    switch (a->info->fgt) {
    case FGT_FGT:
    case FGT_READ:
        return on && spu_bit(fgtr, a->info->fgt_bit);
    case FGT_NFGT:
        return on && !spu_bit(fgtr, a->info->fgt_bit);
    case FGT_NFGT2:
        return spu_has(a->spu, SPE_FEAT_FGT2) &&
               ((el3 && !spu_bit(pe->scr_el3, SCR_FGTEN2)) || !spu_bit(fgtr2, a->info->fgt_bit));
    default:
        return false;
    }
}

static bool group_traps(const struct attempt *a)
{
    uint64_t mdcr = a->spu->pe.mdcr_el2;

    if (!a->spu->status.el2_enabled)
        return false;
    switch (a->info->group) {
    case GROUP_PMS:
        return spu_bit(mdcr, MDCR2_TPMS);
    case GROUP_PMB:
        return !spu_bit(mdcr, MDCR2_E2PB);
    default:
        return false;
    }
}

/* FEAT_NV2: is the access of a guest hypervisor at EL1 one to memory? */
static bool goes_to_memory(const struct attempt *a)
{
    unsigned nv = nested(a->spu);
    uint64_t pmscr = a->spu->reg[SPE_REG_PMSCR_EL1];

    if (!(nv & NV2) || !a->info->nv2)
        return false;
    switch (a->reg) {
    case SPE_REG_PMSCR_EL1:
        return nv & NV1;
    case SPE_REG_PMBSR_EL1: /* while no exceptions are in use NV1 is ignored */
        return a->spu->status.ee2 == 0 || spu_bits(pmscr, PMSCR_EE + 1, PMSCR_EE) == 0 ||
               (nv & NV1);
    default:
        return true;
    }
}

static void to_memory(const struct attempt *a)
{
    a->access->outcome = SPE_OUTCOME_MEMORY;
    a->access->memory_offset = a->info->nv2;
}

/* Registers of EL2 at EL1 are a matter of nested virtualization only. */
static void el2_register_at_el1(const struct attempt *a)
{
    unsigned nv = nested(a->spu);

    if (a->info->op1 == OP1_EL12 && nv == (NV2 | NV))
        to_memory(a);
    else if (nv)
        trap(a, 2);
    else
        undefined(a);
}

static void at_el1(const struct attempt *a)
{
    bool first = a->spu->config.sdd_trap_first && el3_locked(a->spu);

    if (a->info->op1 == OP1_EL3 || (first && a->info->op1 == OP1_EL1 && el3_traps(a)))
        undefined(a);
    else if (a->info->op1 != OP1_EL1)
        el2_register_at_el1(a);
    else if (fine_grained_traps(a) || group_traps(a))
        trap(a, 2);
    else if (el3_traps(a))
        trap_el3(a);
    else if (goes_to_memory(a))
        to_memory(a);
    else
        done(a, a->reg);
}

/* With HCR_EL2.E2H the names of EL1's registers reach those of EL2. */
static unsigned host_redirection(const struct attempt *a)
{
    if (!host_el2(a->spu))
        return a->reg;
    if (a->reg == SPE_REG_PMSCR_EL1)
        return SPE_REG_PMSCR_EL2;
    if (a->reg == SPE_REG_PMBSR_EL1 && a->spu->status.ee2 != 0)
        return SPE_REG_PMBSR_EL2;
    return own_register(a->reg);
}

static void at_el2(const struct attempt *a)
{
    if (a->info->op1 == OP1_EL3 || (a->info->op1 == OP1_EL12 && !host_el2(a->spu)))
        undefined(a);
    else if (el3_traps(a))
        trap_el3(a);
    else
        done(a, host_redirection(a));
}

static void at_el3(const struct attempt *a)
{
    if (a->info->op1 == OP1_EL12 && !host_el2(a->spu))
        undefined(a);
    else
        done(a, own_register(a->reg));
}

/* MRS of all that exist, MSR of those that are not identification registers. */
static bool accessible(const struct attempt *a)
{
    bool read_only = a->reg == SPE_REG_PMSIDR_EL1 || a->reg == SPE_REG_PMBIDR_EL1;

    return !a->spu->pe.aarch32 && exists(a->spu, a->info->need) && !(a->write && read_only);
}

static void route(const struct attempt *a)
{
    if (!accessible(a)) {
        undefined(a);
        return;
    }
    switch (a->spu->pe.el) {
    case 1:
        at_el1(a);
        break;
    case 2:
        at_el2(a);
        break;
    case 3:
        at_el3(a);
        break;
    default:
        undefined(a);
    }
}

/* Returns the register's name or SPE_ERR_UNKNOWN, having decided what happens. */
static int attempt(const struct spe_spu *spu, unsigned encoding, bool write, unsigned rt,
                   struct spe_register_access *access)
{
    int reg = spe_register_by_encoding(encoding);
    struct attempt a = {.spu = spu, .write = write, .rt = rt, .access = access};

    /* Without rng_config_regs that encoding belongs to whoever uses it. */
    if (reg < 0 || (reg == SPE_REG_RNG && !exists(spu, NEED_RNG)))
        return SPE_ERR_UNKNOWN;
    a.reg = (unsigned)reg;
    a.info = &registers[reg];
    memset(access, 0, sizeof(*access));
    route(&a);
    return SPE_OK;
}

int spe_spu_read(struct spe_spu *spu, unsigned encoding, unsigned rt,
                 struct spe_register_access *access)
{
    int error = attempt(spu, encoding, false, rt, access);

    if (error || access->outcome != SPE_OUTCOME_DONE)
        return error;
    access->value = value_of(spu, access->reg) & ~hidden_bits(spu, access->reg);
    note_observed(spu, access->reg);
    return SPE_OK;
}

int spe_spu_write(struct spe_spu *spu, unsigned encoding, unsigned rt, uint64_t value,
                  struct spe_register_access *access)
{
    int error = attempt(spu, encoding, true, rt, access);
    uint64_t mask;

    if (error || access->outcome != SPE_OUTCOME_DONE)
        return error;
    mask = spu_register_mask(spu, (enum spe_register)access->reg) & ~hidden_bits(spu, access->reg);
    change(spu, access->reg, value, mask);
    note_observed(spu, access->reg);
    spu_state_update(spu);
    return SPE_OK;
}
