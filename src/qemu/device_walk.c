/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Writes to the Profiling Buffer (D17.8.3): privileged writes in the translation regime of the
 * owning Exception level, whatever level the PE is at. The guest's tables are walked here
 * (VMSAv8-64, D8), because that tells where and why a write fails, and works when a sample is taken
 * at EL0.
 *
 * The unit may use a translation until the guest invalidates it: one page is kept, until any TLB
 * maintenance.
 */
#include <string.h>

#include "qemu/device.h"

struct walk {
    uint64_t table;       /* of the first level */
    unsigned granule;     /* log2 of the page size */
    unsigned va_bits;     /* that the tables translate */
    bool large;           /* 52-bit addresses in descriptors: TCR_ELx.DS, or 64K with LPA */
    bool access_flag;     /* hardware sets it: HA */
    bool dirty;           /* hardware manages dirty state: HD */
    bool hierarchical;    /* APTable counts */
    bool indirect;        /* permissions from PIR_ELx */
    uint64_t permissions; /* PIR_ELx */
    bool stage2;
    unsigned first_level;
};

struct leaf {
    uint64_t descriptor, at; /* at: its own address */
    uint64_t pa;
    int level;
    bool read_only_above;
};

/* Sets result->fault and the rest; returns false always, which says that a walk has failed. */
static bool fault(struct spe_write_result *r, enum spe_fault f, int level, const struct walk *w)
{
    r->fault = (uint8_t)f;
    r->level = (int8_t)level;
    r->stage = w->stage2 ? 2 : 1;
    return false;
}

static uint64_t bits(uint64_t value, unsigned high, unsigned low)
{
    return value >> low & ((UINT64_C(2) << (high - low)) - 1);
}

/* The address in a table or page descriptor: bits 47:granule, and those above where the format
 * has them (52-bit addresses: 9:8 to 51:50 with 4K and 16K pages, 15:12 to 51:48 with 64K). */
static uint64_t output_address(const struct walk *w, uint64_t descriptor, unsigned low)
{
    uint64_t top = w->large ? (w->granule == 16 ? 48 : 50) : 48;
    uint64_t pa = descriptor & ((UINT64_C(1) << top) - 1) & ~((UINT64_C(1) << low) - 1);

    if (w->large && w->granule == 16)
        pa |= bits(descriptor, 15, 12) << 48;
    else if (w->large)
        pa |= bits(descriptor, 9, 8) << 50;
    return pa;
}

/* FEAT_LPA2 and the blocks that it allows are not told apart: a block at level 0 needs it. */
static bool block_allowed(const struct walk *w, int level)
{
    if (w->granule == 12)
        return level == 1 || level == 2 || (level == 0 && w->large);
    return level == 2 || (level == 1 && w->large);
}

static bool find_leaf(const struct walk *w, uint64_t va, struct leaf *leaf,
                      struct spe_write_result *r)
{
    unsigned stride = w->granule - 3;
    int level = (int)w->first_level - 1;
    uint64_t table = w->table;

    for (;; level++) {
        unsigned low = w->granule + stride * (unsigned)(3 - level);
        unsigned high = low + stride - 1;

        if (high >= w->va_bits)
            high = w->va_bits - 1;
        leaf->at = table + bits(va, high, low) * 8;
        leaf->level = level;
        if (!plugin_read_pa(leaf->at, &leaf->descriptor, sizeof(leaf->descriptor))) {
            r->walk = SPE_WALK_TABLE;
            return fault(r, SPE_FAULT_EXTERNAL_ABORT, level, w);
        }
        if (!(leaf->descriptor & 1))
            return fault(r, SPE_FAULT_TRANSLATION, level, w);
        if (level == 3 || !(leaf->descriptor & 2)) {
            if (level == 3 ? !(leaf->descriptor & 2) : !block_allowed(w, level))
                return fault(r, SPE_FAULT_TRANSLATION, level, w);
            leaf->pa = output_address(w, leaf->descriptor, low) | (va & ((UINT64_C(1) << low) - 1));
            return true;
        }
        leaf->read_only_above |= w->hierarchical && (leaf->descriptor >> 62 & 1);
        table = output_address(w, leaf->descriptor, w->granule);
    }
}

/* Privileged stage 1 permissions that PIR_ELx can give (D8.4.2.1): those with write. */
static bool indirect_write(uint64_t pir, uint64_t descriptor)
{
    unsigned index = (unsigned)(bits(descriptor, 54, 53) << 2 | bits(descriptor, 51, 51) << 1 |
                                bits(descriptor, 6, 6));
    unsigned permission = (unsigned)(pir >> (4 * index)) & 15;

    return permission == 5 || permission == 6 || permission == 7 || permission == 12 ||
           permission == 14;
}

/* May it be written, perhaps after an update of the descriptor? */
static bool check_leaf(const struct walk *w, const struct leaf *leaf, bool manage,
                       struct spe_write_result *r)
{
    uint64_t d = leaf->descriptor, updated = d;
    bool read_only, dirty_managed = w->dirty && manage;

    if (!(d & UINT64_C(1) << 10)) {
        if (!w->access_flag || !manage)
            return fault(r, SPE_FAULT_ACCESS_FLAG, leaf->level, w);
        updated |= UINT64_C(1) << 10;
    }
    if (w->stage2) {
        read_only = !(d >> 7 & 1); /* S2AP[1] */
        if (read_only && (!(d >> 51 & 1) || !dirty_managed))
            return fault(r, SPE_FAULT_PERMISSION, leaf->level, w);
        updated |= UINT64_C(1) << 7;
    } else {
        read_only = d >> 7 & 1; /* AP[2]; nDirty with indirect permissions */
        if (leaf->read_only_above || (w->indirect && !indirect_write(w->permissions, d)))
            return fault(r, SPE_FAULT_PERMISSION, leaf->level, w);
        if (read_only && !((w->indirect || (d >> 51 & 1)) && dirty_managed)) {
            r->dirty_bit = w->indirect;
            return fault(r, SPE_FAULT_PERMISSION, leaf->level, w);
        }
        updated &= ~(UINT64_C(1) << 7);
    }
    if (updated != d)
        plugin_write_pa(leaf->at, &updated, sizeof(updated));
    return true;
}

/* The level at which a walk of so many bits begins: one more for each that a table cannot hold. */
static unsigned first_level(unsigned granule, unsigned va_bits)
{
    unsigned levels = (va_bits - granule + granule - 4) / (granule - 3);

    return 3 - levels + 1 + 1; /* plus one, so that level -1 is 0 */
}

static unsigned granule_of(unsigned tg, bool second)
{
    static const uint8_t first_half[4] = {12, 16, 14, 12}, second_half[4] = {12, 14, 12, 16};

    return second ? second_half[tg] : first_half[tg];
}

/* Stage 1 of EL1&0, EL2&0, or EL2. False: a fault of level 0, or translation is off (*off). */
static bool stage1(uint8_t el, bool e2h, uint64_t va, struct walk *w, bool *off,
                   struct spe_write_result *r)
{
    bool two_halves = el == 1 || e2h, high = two_halves && (va >> 55 & 1);
    uint64_t tcr = device_read(el == 1 ? REG_TCR_EL1 : REG_TCR_EL2);
    uint64_t sctlr = device_read(el == 1 ? REG_SCTLR_EL1 : REG_SCTLR_EL2);
    uint64_t tcr2 = device_read(el == 1 ? REG_TCR2_EL1 : REG_TCR2_EL2);
    unsigned size = (unsigned)(high ? bits(tcr, 21, 16) : bits(tcr, 5, 0));
    uint64_t ttbr, extension;
    unsigned top;

    *w = (struct walk){0};
    *off = !(sctlr & 1);
    if (*off)
        return true;
    w->granule = granule_of((unsigned)(high ? bits(tcr, 31, 30) : bits(tcr, 15, 14)), high);
    w->va_bits = 64 - size;
    w->large = two_halves ? tcr >> 59 & 1 : tcr >> 32 & 1;
    w->access_flag = two_halves ? tcr >> 39 & 1 : tcr >> 21 & 1;
    w->dirty = two_halves ? tcr >> 40 & 1 : tcr >> 22 & 1;
    w->hierarchical = !(two_halves ? tcr >> (high ? 42 : 41) & 1 : tcr >> 24 & 1);
    w->indirect = tcr2 >> 1 & 1;
    if (w->indirect) {
        w->permissions = device_read(el == 1 ? REG_PIR_EL1 : REG_PIR_EL2);
        w->hierarchical = false;
    }
    if (w->granule == 16) /* 52-bit addresses are LPA's, which TCR_ELx.IPS says */
        w->large = bits(tcr, two_halves ? 34 : 18, two_halves ? 32 : 16) >= 6;
    /* Addresses outside both ranges, and ranges that are switched off (EPD), do not translate. */
    top = two_halves ? (unsigned)(tcr >> (high ? 38 : 37) & 1) : (unsigned)(tcr >> 20 & 1);
    extension = va << (top ? 8 : 0) >> (top ? 8 : 0);
    if (high)
        extension = ~(va | (top ? UINT64_C(0xff) << 56 : 0));
    if (w->va_bits > 52 || w->va_bits <= w->granule + 3 || extension >> w->va_bits ||
        (two_halves && (tcr >> (high ? 23 : 7) & 1)))
        return fault(r, SPE_FAULT_TRANSLATION, 0, w);
    ttbr = el == 1 ? device_read(high ? REG_TTBR1_EL1 : REG_TTBR0_EL1)
                   : device_read(high ? REG_TTBR1_EL2 : REG_TTBR0_EL2);
    w->table = bits(ttbr, 47, 1) << 1;
    if (w->large) /* bits 51:48 are in 5:2 */
        w->table = (w->table & ~UINT64_C(0x3f)) | bits(ttbr, 5, 2) << 48;
    w->first_level = first_level(w->granule, w->va_bits);
    return true;
}

/* Stage 2 of EL1&0. */
static bool stage2(uint64_t ipa, struct walk *w, struct spe_write_result *r)
{
    uint64_t vtcr = device_read(REG_VTCR_EL2);
    unsigned sl0 = (unsigned)bits(vtcr, 7, 6);

    *w = (struct walk){.stage2 = true};
    w->granule = granule_of((unsigned)bits(vtcr, 15, 14), false);
    w->va_bits = 64 - (unsigned)bits(vtcr, 5, 0);
    w->large = vtcr >> 32 & 1;
    w->access_flag = vtcr >> 21 & 1;
    w->dirty = vtcr >> 22 & 1;
    if (w->va_bits > 52 || w->va_bits <= w->granule + 3 || ipa >> w->va_bits)
        return fault(r, SPE_FAULT_TRANSLATION, 0, w);
    w->table = bits(device_read(REG_VTTBR_EL2), 47, 1) << 1;
    w->first_level = (w->granule == 12 ? 2 - sl0 : 3 - sl0) + 1;
    /* A first table that is several tables side by side has more index bits; va_bits limits them.
     */
    return true;
}

/* Stage 2 starts with up to 16 tables side by side, which find_leaf's limit on the index does not
 * know: the first step is made here. */
static bool walk_once(const struct walk *w, uint64_t va, bool manage, uint64_t *pa,
                      struct spe_write_result *r)
{
    struct walk step = *w;
    struct leaf leaf = {0};
    unsigned low;

    if (w->stage2) {
        low = w->granule + (w->granule - 3) * (4 - w->first_level + 1);
        if (w->va_bits > low && w->va_bits - low <= 4)
            step.table += bits(va, w->va_bits - 1, low) << w->granule;
    }
    if (!find_leaf(&step, va, &leaf, r) || !check_leaf(w, &leaf, manage, r))
        return false;
    *pa = leaf.pa;
    return true;
}

static bool translate(const struct device_cpu *cpu, const struct spe_write *write, uint64_t *pa,
                      struct spe_write_result *r)
{
    bool manage = write->flags & SPE_WRITE_AF_DIRTY, off = write->flags & SPE_WRITE_NVM;
    bool e2h = cpu->pe.hcr_el2 >> 34 & 1, second;
    struct walk w;

    *pa = write->address;
    if (!off && !stage1(write->el, e2h, write->address, &w, &off, r))
        return false;
    if (!off && !walk_once(&w, write->address, manage, pa, r))
        return false;
    second =
        write->el == 1 && (cpu->pe.hcr_el2 & 1) && spe_spu_status(cpu->spu)->el2_in_owning_state;
    if (!second)
        return true;
    return stage2(*pa, &w, r) && walk_once(&w, *pa, manage, pa, r);
}

/* The page's physical address, by a walk if the last one does not tell. */
static bool find_page(struct device_cpu *cpu, const struct spe_write *write, uint64_t *pa,
                      struct spe_write_result *result)
{
    unsigned generation = atomic_load(&device.generation);
    uint64_t page = write->address >> 12;

    if (!cpu->page.valid || cpu->page.va != page || cpu->page.generation != generation ||
        cpu->page.el != write->el || (write->flags & SPE_WRITE_NVM)) {
        cpu->page.valid = false;
        if (!translate(cpu, write, pa, result))
            return false;
        cpu->page.va = page;
        cpu->page.pa = *pa >> 12;
        cpu->page.generation = generation;
        cpu->page.el = write->el;
        cpu->page.valid = !(write->flags & SPE_WRITE_NVM);
    }
    *pa = cpu->page.pa << 12 | (write->address & 0xfff);
    return true;
}

void device_write(void *user, const struct spe_write *write, struct spe_write_result *result)
{
    struct spe_write part = *write;
    uint64_t pa;

    /* Page by page: a write can be larger. A write of nothing asks for its page, too. */
    do {
        uint64_t in_page = 4096 - (part.address & 4095);

        part.size = write->size - result->written;
        part.size = part.size < in_page ? part.size : (uint32_t)in_page;
        if (!find_page(user, &part, &pa, result))
            return;
        if (part.size && !plugin_write_pa(pa, part.data, part.size)) {
            result->fault = SPE_FAULT_EXTERNAL_ABORT;
            return;
        }
        result->written += part.size;
        part.address += part.size;
        part.data += part.size;
    } while (result->written < write->size);
}
