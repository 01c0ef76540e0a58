/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/driver.h"

/* ---- Registers ------------------------------------------------------------------------------ */

static void msr(struct spe_spu *spu, enum spe_register reg, uint64_t value)
{
    struct spe_register_access access;

    spe_spu_write(spu, (unsigned)spe_register_encoding(reg), 0, value, &access);
}

static uint64_t mrs(struct spe_spu *spu, enum spe_register reg)
{
    struct spe_register_access access = {0};

    spe_spu_read(spu, (unsigned)spe_register_encoding(reg), 0, &access);
    return access.value;
}

static void go_to_el(struct spe_spu *spu, unsigned el)
{
    struct spe_pe_state pe;

    spe_spu_get_pe(spu, &pe);
    pe.el = (uint8_t)el;
    spe_spu_set_pe(spu, &pe);
    spe_spu_context_sync(spu);
}

/* ---- From attributes to registers ----------------------------------------------------------- */

/* Bits of config, and where they go. */
enum {
    TS_ENABLE = 0,
    PA_ENABLE = 1,
    PCT_ENABLE = 2,
    JITTER = 16,
    DISCARD = 35,
};

#define PMSCR_E0SPE UINT64_C(1)
#define PMSCR_E1SPE (UINT64_C(1) << 1)
#define PMSCR_CX (UINT64_C(1) << 3)
#define PMSCR_PA (UINT64_C(1) << 4)
#define PMSCR_TS (UINT64_C(1) << 5)
#define PMSCR_PCT_PHYSICAL (UINT64_C(1) << 6)
#define PMSFCR_FE UINT64_C(1)
#define PMSFCR_FT (UINT64_C(1) << 1)
#define PMSFCR_FL (UINT64_C(1) << 2)
#define PMSFCR_FNE (UINT64_C(1) << 3)
#define PMSFCR_FDS (UINT64_C(1) << 4)
#define PMBLIMITR_E UINT64_C(1)
#define PMBLIMITR_FM_DISCARD (UINT64_C(2) << 1)
#define PMBSR_COLL (UINT64_C(1) << 16)
#define PMBSR_S (UINT64_C(1) << 17)
#define PMBSR_DL (UINT64_C(1) << 19)
#define PMBSR_EC(sr) ((sr) >> 26 & 0x3f)
#define PMBSR_BSC(sr) ((sr)&0x3f)
#define BSC_FULL 1

static const struct {
    uint8_t config, pmsfcr;
} type_filters[] = {
    {32, 16}, /* branch_filter: B */
    {33, 17}, /* load_filter: LD */
    {34, 18}, /* store_filter: ST */
    {36, 48}, /* branch_filter_mask: Bm */
    {37, 49}, /* load_filter_mask: LDm */
    {38, 50}, /* store_filter_mask: STm */
    {39, 20}, /* simd_filter: SIMD */
    {40, 52}, /* simd_filter_mask: SIMDm */
    {41, 19}, /* float_filter: FP */
    {42, 51}, /* float_filter_mask: FPm */
};

static uint64_t bit(uint64_t word, unsigned n)
{
    return word >> n & 1;
}

static uint64_t pmsfcr_of(const struct driver_event *event)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < sizeof(type_filters) / sizeof(type_filters[0]); i++)
        value |= bit(event->config, type_filters[i].config) << type_filters[i].pmsfcr;
    if (value)
        value |= PMSFCR_FT;
    if (event->config1)
        value |= PMSFCR_FE;
    if (event->config2)
        value |= PMSFCR_FL;
    if (event->config3)
        value |= PMSFCR_FNE;
    if (event->config4)
        value |= PMSFCR_FDS;
    return value;
}

/* The command is profiled, its kernel is not there; threads are told by CONTEXTIDR_EL1. */
static uint64_t pmscr_of(const struct driver_event *event)
{
    return PMSCR_E0SPE | PMSCR_E1SPE | PMSCR_CX | (bit(event->config, TS_ENABLE) ? PMSCR_TS : 0) |
           (bit(event->config, PA_ENABLE) ? PMSCR_PA : 0) |
           (bit(event->config, PCT_ENABLE) ? PMSCR_PCT_PHYSICAL : 0);
}

/* ---- The life of a buffer ------------------------------------------------------------------- */

static void enable_buffer(struct spe_spu *spu, uint64_t base, uint64_t size, uint64_t mode)
{
    msr(spu, SPE_REG_PMBPTR_EL1, base);
    msr(spu, SPE_REG_PMBLIMITR_EL1, (base + size) | mode | PMBLIMITR_E);
}

void driver_start(struct spe_spu *spu, const struct driver_event *event, uint64_t base,
                  uint64_t size, uint32_t context)
{
    struct spe_pe_state pe;
    uint64_t mode = bit(event->config, DISCARD) ? PMBLIMITR_FM_DISCARD : 0;

    spe_spu_get_pe(spu, &pe);
    pe.contextidr_el1 = context;
    spe_spu_set_pe(spu, &pe);
    go_to_el(spu, 1);
    msr(spu, SPE_REG_PMBSR_EL1, 0);
    enable_buffer(spu, base, size, mode);
    msr(spu, SPE_REG_PMSFCR_EL1, pmsfcr_of(event));
    msr(spu, SPE_REG_PMSEVFR_EL1, event->config1);
    msr(spu, SPE_REG_PMSNEVFR_EL1, event->config3);
    msr(spu, SPE_REG_PMSDSFR_EL1, ~event->config4);
    msr(spu, SPE_REG_PMSLATFR_EL1, event->config2);
    msr(spu, SPE_REG_PMSIRR_EL1, driver_interval(event->period) | bit(event->config, JITTER));
    spe_spu_context_sync(spu);
    msr(spu, SPE_REG_PMSICR_EL1, 0);
    spe_spu_context_sync(spu);
    msr(spu, SPE_REG_PMSCR_EL1, pmscr_of(event));
    go_to_el(spu, 0);
}

static unsigned flags_of(uint64_t pmbsr)
{
    return (pmbsr & PMBSR_DL ? DRIVER_TRUNCATED | DRIVER_PARTIAL : 0) |
           (pmbsr & PMBSR_COLL ? DRIVER_COLLISION : 0);
}

void driver_collect(struct spe_spu *spu, uint64_t base, struct driver_data *data)
{
    struct spe_register_access access;
    uint64_t pmbsr;

    go_to_el(spu, 1);
    spe_spu_psb_csync(spu, &access);
    pmbsr = mrs(spu, SPE_REG_PMBSR_EL1);
    data->size = mrs(spu, SPE_REG_PMBPTR_EL1) - base;
    data->flags = flags_of(pmbsr);
    data->fatal = (pmbsr & PMBSR_S) && (PMBSR_EC(pmbsr) != 0 || PMBSR_BSC(pmbsr) != BSC_FULL);
    go_to_el(spu, 0);
}

void driver_resume(struct spe_spu *spu, uint64_t base, uint64_t size)
{
    uint64_t limit;

    go_to_el(spu, 1);
    limit = mrs(spu, SPE_REG_PMBLIMITR_EL1);
    enable_buffer(spu, base, size, limit & PMBLIMITR_FM_DISCARD);
    msr(spu, SPE_REG_PMBSR_EL1, 0);
    go_to_el(spu, 0);
}
