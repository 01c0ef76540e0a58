/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A vCPU as the unit sees it: the state of the PE, and the guest's MRS and MSR. */
#include <stdio.h>
#include <string.h>

#include "qemu/device.h"

static const char *const names[DEVICE_REGISTERS] = {
    [REG_CPSR] = "cpsr",
    [REG_VG] = "vg",
    [REG_HCR_EL2] = "HCR_EL2",
    [REG_SCR_EL3] = "SCR_EL3",
    [REG_MDCR_EL2] = "MDCR_EL2",
    [REG_MDCR_EL3] = "MDCR_EL3",
    [REG_HDFGRTR_EL2] = "HDFGRTR_EL2",
    [REG_HDFGWTR_EL2] = "HDFGWTR_EL2",
    [REG_HDFGRTR2_EL2] = "HDFGRTR2_EL2",
    [REG_HDFGWTR2_EL2] = "HDFGWTR2_EL2",
    [REG_HFGITR_EL2] = "HFGITR_EL2",
    [REG_CNTHCTL_EL2] = "CNTHCTL_EL2",
    [REG_CNTVOFF_EL2] = "CNTVOFF_EL2",
    [REG_CNTPOFF_EL2] = "CNTPOFF_EL2",
    [REG_CNTFRQ_EL0] = "CNTFRQ_EL0",
    [REG_PMCR_EL0] = "PMCR_EL0",
    [REG_CONTEXTIDR_EL1] = "CONTEXTIDR_EL1",
    [REG_CONTEXTIDR_EL2] = "CONTEXTIDR_EL2",
    [REG_SCTLR_EL1] = "SCTLR_EL1",
    [REG_SCTLR_EL2] = "SCTLR_EL2",
    [REG_TCR_EL1] = "TCR_EL1",
    [REG_TCR_EL2] = "TCR_EL2",
    [REG_TCR2_EL1] = "TCR2_EL1",
    [REG_TCR2_EL2] = "TCR2_EL2",
    [REG_TTBR0_EL1] = "TTBR0_EL1",
    [REG_TTBR1_EL1] = "TTBR1_EL1",
    [REG_TTBR0_EL2] = "TTBR0_EL2",
    [REG_TTBR1_EL2] = "TTBR1_EL2",
    [REG_PIR_EL1] = "PIR_EL1",
    [REG_PIR_EL2] = "PIR_EL2",
    [REG_VTCR_EL2] = "VTCR_EL2",
    [REG_VTTBR_EL2] = "VTTBR_EL2",
    [REG_ID_AA64DFR0_EL1] = "ID_AA64DFR0_EL1",
    [REG_ZCR_EL1] = "ZCR_EL1",
    [REG_ERRIDR_EL1] = "ERRIDR_EL1",
    [REG_ID_AA64PFR1_EL1] = "ID_AA64PFR1_EL1",
    [REG_ID_AA64ISAR1_EL1] = "ID_AA64ISAR1_EL1",
    [REG_ID_AA64ISAR2_EL1] = "ID_AA64ISAR2_EL1",
    [REG_ID_AA64MMFR0_EL1] = "ID_AA64MMFR0_EL1",
    [REG_ID_AA64MMFR1_EL1] = "ID_AA64MMFR1_EL1",
    [REG_ID_AA64MMFR2_EL1] = "ID_AA64MMFR2_EL1",
    [REG_ID_AA64MMFR3_EL1] = "ID_AA64MMFR3_EL1",
};

void device_find_registers(void)
{
    char name[8];

    for (unsigned i = 0; i < DEVICE_REGISTERS; i++)
        device.registers[i] = plugin_find_register(names[i]);
    for (unsigned i = 0; i < 31; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        device.x[i] = plugin_find_register(name);
    }
    device.x[31] = plugin_find_register("sp");
}

/* ---- The PE state ---------------------------------------------------------------------------- */

enum { CPSR_NRW = 1u << 4 };

/* Fields of MDCR_EL2 and MDCR_EL3 that are the unit's. QEMU, which has no unit, need not keep
 * them: TPMS, E2PB, HPMFZS; NSPBE, NSPB, EnPMSN, EnPMS3. */
#define MDCR_EL2_FIELDS (UINT64_C(1) << 36 | UINT64_C(7) << 12)
#define MDCR_EL3_FIELDS (UINT64_C(1) << 42 | UINT64_C(1) << 36 | UINT64_C(7) << 11)

uint8_t device_level(void)
{
    return device_read(REG_CPSR) >> 2 & 3;
}

static void take_level(struct device_cpu *cpu)
{
    uint64_t cpsr = device_read(REG_CPSR);

    cpu->pe.aarch32 = cpsr & CPSR_NRW;
    /* An AArch32 mode other than User is at least EL1: which one does not matter, as profiling is
     * off in AArch32 state (D17.4). */
    cpu->pe.el = cpu->pe.aarch32 ? (cpsr & 15) != 0 : cpsr >> 2 & 3;
}

static uint64_t mdcr(uint64_t qemu, uint64_t own, uint64_t fields)
{
    return (qemu & ~fields) | (own & fields);
}

void device_read_state(struct device_cpu *cpu)
{
    struct spe_pe_state *pe = &cpu->pe;
    uint64_t tcr;

    take_level(cpu);
    pe->scr_el3 = device_read(REG_SCR_EL3);
    pe->hcr_el2 = device_read(REG_HCR_EL2);
    pe->mdcr_el2 = mdcr(device_read(REG_MDCR_EL2), cpu->mdcr_el2, MDCR_EL2_FIELDS);
    pe->mdcr_el3 = mdcr(device_read(REG_MDCR_EL3), cpu->mdcr_el3, MDCR_EL3_FIELDS);
    pe->hdfgrtr_el2 = device_read(REG_HDFGRTR_EL2);
    pe->hdfgwtr_el2 = device_read(REG_HDFGWTR_EL2);
    pe->hdfgrtr2_el2 = device_read(REG_HDFGRTR2_EL2);
    pe->hdfgwtr2_el2 = device_read(REG_HDFGWTR2_EL2);
    pe->hfgitr_el2 = device_read(REG_HFGITR_EL2);
    pe->cnthctl_el2 = device_read(REG_CNTHCTL_EL2);
    pe->cntvoff_el2 = device_read(REG_CNTVOFF_EL2);
    pe->cntpoff_el2 = device_read(REG_CNTPOFF_EL2);
    pe->pmcr_el0 = device_read(REG_PMCR_EL0);
    pe->contextidr_el1 = (uint32_t)device_read(REG_CONTEXTIDR_EL1);
    pe->contextidr_el2 = (uint32_t)device_read(REG_CONTEXTIDR_EL2);
    pe->counter_enabled = true;
    spe_spu_set_pe(cpu->spu, pe);
    tcr = device_read(spe_spu_status(cpu->spu)->in_host ? REG_TCR_EL2 : REG_TCR_EL1);
    cpu->tbi[0] = tcr >> 37 & 1;
    cpu->tbi[1] = tcr >> 38 & 1;
}

void device_read_level(struct device_cpu *cpu)
{
    take_level(cpu);
    spe_spu_set_pe(cpu->spu, &cpu->pe);
}

void device_read_context(struct device_cpu *cpu)
{
    uint32_t one = (uint32_t)device_read(REG_CONTEXTIDR_EL1);
    uint32_t two = (uint32_t)device_read(REG_CONTEXTIDR_EL2);

    if (one == cpu->pe.contextidr_el1 && two == cpu->pe.contextidr_el2)
        return;
    cpu->pe.contextidr_el1 = one;
    cpu->pe.contextidr_el2 = two;
    spe_spu_set_pe(cpu->spu, &cpu->pe);
}

/* ---- MRS and MSR ----------------------------------------------------------------------------- */

#define ID_AA64DFR0_EL1 SPE_SYSREG(3, 0, 0, 5, 0)
#define MDCR_EL2 SPE_SYSREG(3, 4, 1, 1, 1)
#define MDCR_EL3 SPE_SYSREG(3, 6, 1, 3, 1)

#define HCR_TID3 (UINT64_C(1) << 18)

static unsigned encoding_of(uint32_t word)
{
    return word >> 5 & 0xffff;
}

static bool is_read(uint32_t word)
{
    return word >> 21 & 1;
}

enum device_access_kind device_access_kind(uint32_t word)
{
    unsigned encoding = encoding_of(word);

    if ((word & 0xffd00000) != 0xd5100000) /* MRS or MSR (register), op0 2 or 3 */
        return ACCESS_NONE;
    if (spe_register_by_encoding(encoding) >= 0 || encoding == MDCR_EL2 || encoding == MDCR_EL3)
        return ACCESS_UNIT;
    if (is_read(word))
        switch (encoding) {
        case ID_AA64DFR0_EL1:
            return ACCESS_UNIT;
        case SPE_SYSREG(3, 3, 14, 0, 1): /* CNTPCT_EL0 */
        case SPE_SYSREG(3, 3, 14, 0, 2): /* CNTVCT_EL0 */
        case SPE_SYSREG(3, 3, 14, 0, 5): /* CNTPCTSS_EL0 */
        case SPE_SYSREG(3, 3, 14, 0, 6): /* CNTVCTSS_EL0 */
            return ACCESS_COUNTER;
        default:
            return ACCESS_NONE;
        }
    switch (encoding) {
    case SPE_SYSREG(3, 0, 2, 0, 2):  /* TCR_EL1 */
    case SPE_SYSREG(3, 4, 2, 0, 2):  /* TCR_EL2 */
    case SPE_SYSREG(3, 4, 1, 1, 0):  /* HCR_EL2 */
    case SPE_SYSREG(3, 6, 1, 1, 0):  /* SCR_EL3 */
    case SPE_SYSREG(3, 4, 3, 1, 4):  /* HDFGRTR_EL2 */
    case SPE_SYSREG(3, 4, 3, 1, 5):  /* HDFGWTR_EL2 */
    case SPE_SYSREG(3, 4, 14, 0, 3): /* CNTVOFF_EL2 */
    case SPE_SYSREG(3, 4, 14, 0, 6): /* CNTPOFF_EL2 */
    case SPE_SYSREG(3, 4, 14, 1, 0): /* CNTHCTL_EL2 */
        return ACCESS_CONTROL;
    default:
        return ACCESS_NONE;
    }
}

static uint64_t get_x(unsigned n)
{
    return n == 31 ? 0 : plugin_read(device.x[n]);
}

static void set_x(unsigned n, uint64_t value)
{
    if (n != 31)
        plugin_write(device.x[n], value);
}

static bool read_id(const struct device_cpu *cpu, unsigned rt)
{
    uint64_t value = device_read(REG_ID_AA64DFR0_EL1);

    if (cpu->pe.el == 1 && spe_spu_status(cpu->spu)->el2_enabled && (cpu->pe.hcr_el2 & HCR_TID3))
        return false; /* QEMU traps it to EL2 */
    set_x(rt, (value & ~(UINT64_C(15) << 32)) | (uint64_t)device.pmsver << 32);
    return true;
}

/* QEMU has the register; the unit's fields of it are kept here. A write is QEMU's, too. */
static bool access_mdcr(struct device_cpu *cpu, uint32_t word, unsigned el, uint64_t *own,
                        uint64_t fields, enum device_register reg)
{
    if (cpu->pe.el < el)
        return false;
    if (is_read(word)) {
        set_x(word & 31, mdcr(device_read(reg), *own, fields));
        return true;
    }
    *own = get_x(word & 31) & fields;
    cpu->pending |= PENDING_STATE;
    return false;
}

bool device_access(struct device_cpu *cpu, uint32_t word)
{
    unsigned encoding = encoding_of(word), rt = word & 31;
    struct spe_register_access access;
    int error;

    device_read_state(cpu);
    if (cpu->pe.el == 0 || cpu->pe.aarch32)
        return false;
    if (encoding == ID_AA64DFR0_EL1)
        return read_id(cpu, rt);
    if (encoding == MDCR_EL2)
        return access_mdcr(cpu, word, 2, &cpu->mdcr_el2, MDCR_EL2_FIELDS, REG_MDCR_EL2);
    if (encoding == MDCR_EL3)
        return access_mdcr(cpu, word, 3, &cpu->mdcr_el3, MDCR_EL3_FIELDS, REG_MDCR_EL3);
    error = is_read(word) ? spe_spu_read(cpu->spu, encoding, rt, &access)
                          : spe_spu_write(cpu->spu, encoding, rt, get_x(rt), &access);
    /* A trap cannot be taken from here: QEMU's Undefined stands for it. */
    if (error < 0 || access.outcome != SPE_OUTCOME_DONE)
        return false;
    if (is_read(word))
        set_x(rt, access.value);
    cpu->page.valid = false;
    return true;
}
