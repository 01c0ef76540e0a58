/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * PMBIRQ is a level-sensitive private peripheral interrupt. A plugin has no wire to the interrupt
 * controller, but it can write to its registers: a write to ISPENDR is an interrupt that stays
 * pending until it is taken or ICPENDR clears it. A level that outlives its handler is made
 * pending again when the handler returns.
 */
#include <stdio.h>
#include <stdlib.h>

#include "qemu/device.h"

enum {
    FIRST_PPI = 16,
    GICD_ISPENDR0 = 0x200,
    GICD_ICPENDR0 = 0x280,
    GICR_FRAME = 0x20000,
    GICR_SGI_BASE = 0x10000 /* the second half of a frame: SGIs and PPIs, offsets as in GICD */
};

/* "BASE/SIZE+BASE/SIZE" */
static bool regions(const char *text)
{
    while (device.gic.region_count < DEVICE_REGIONS_MAX) {
        char *end;
        uint64_t base = strtoull(text, &end, 0);
        uint64_t size = *end == '/' ? strtoull(end + 1, &end, 0) : 0;
        unsigned n = device.gic.region_count;

        if (size < GICR_FRAME)
            return false;
        device.gic.regions[n].base = base;
        device.gic.regions[n].frames = (unsigned)(size / GICR_FRAME);
        device.gic.region_count++;
        if (*end == '\0')
            return true;
        if (*end != '+')
            return false;
        text = end + 1;
    }
    return false;
}

bool device_gic_configure(const struct plugin_arguments *arguments)
{
    const char *gicr = plugin_argument(arguments, "gicr"),
               *gicd = plugin_argument(arguments, "gicd");
    const char *ppi = plugin_argument(arguments, "ppi");

    device.ppi = ppi ? (unsigned)strtoul(ppi, NULL, 10) : 5;
    if (device.ppi < 16 && gicr && regions(gicr)) {
        device.gic.version = 3;
        return true;
    }
    if (device.ppi < 16 && gicd) {
        device.gic.version = 2;
        device.gic.distributor = strtoull(gicd, NULL, 0);
        return true;
    }
    fputs("specimen: the device needs gicr=BASE/SIZE or gicd=BASE, and ppi=0 to 15\n", stderr);
    return false;
}

/* Where this CPU's interrupts 0 to 31 are. GICv2's registers for them are banked by CPU. */
static bool bank(unsigned cpu, uint64_t *base)
{
    if (device.gic.version == 2) {
        *base = device.gic.distributor;
        return true;
    }
    for (unsigned i = 0; i < device.gic.region_count; i++) {
        if (cpu < device.gic.regions[i].frames) {
            *base = device.gic.regions[i].base + (uint64_t)cpu * GICR_FRAME + GICR_SGI_BASE;
            return true;
        }
        cpu -= device.gic.regions[i].frames;
    }
    return false;
}

static void set_pending(const struct device_cpu *cpu, bool pending)
{
    uint32_t bit = UINT32_C(1) << (FIRST_PPI + device.ppi);
    uint64_t base;

    if (bank(cpu->index, &base))
        plugin_write_pa(base + (pending ? GICD_ISPENDR0 : GICD_ICPENDR0), &bit, sizeof(bit));
}

void device_interrupt(void *user, bool level)
{
    struct device_cpu *cpu = user;

    cpu->interrupt = level;
    set_pending(cpu, level);
}

void device_interrupt_again(struct device_cpu *cpu)
{
    if (cpu->interrupt)
        set_pending(cpu, true);
}
