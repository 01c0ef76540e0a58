/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The device tree of a machine: where its GIC is, and a node for the SPU. */
#include <libfdt.h>
#include <stdlib.h>
#include <string.h>

#include "base/count_of.h"
#include "vm/vm.h"

const bool vm_has_fdt = true;

static const char gic_v3[] = "arm,gic-v3";
static const char *const gic_v2[] = {"arm,cortex-a15-gic", "arm,gic-400"};

static uint32_t word_at(const uint8_t *tree, uint64_t at)
{
    return fdt32_ld((const fdt32_t *)(const void *)(tree + at));
}

/* Bytes of the token at `at`, of which `left` are there; 0 if it does not fit, or is the end. */
static uint64_t token_size(const uint8_t *tree, uint64_t at, uint64_t left)
{
    uint64_t size = 4;

    switch (left < size ? FDT_END : word_at(tree, at)) {
    case FDT_BEGIN_NODE:
        size += strnlen((const char *)tree + at + size, (size_t)(left - size)) + 1;
        break;
    case FDT_PROP:
        size = left < 12 ? left + 1 : 12 + (uint64_t)word_at(tree, at + 4);
        break;
    case FDT_END_NODE:
    case FDT_NOP:
        break;
    default:
        return 0;
    }
    size = (size + 3) & ~UINT64_C(3);
    return size > left ? 0 : size;
}

/*
 * libfdt's check goes around in circles where a property is nearly 4 GB long, and crashes on
 * properties of versions before QEMU's, which is 17: what it gets must fit.
 */
static bool good_tree(const uint8_t *tree, size_t size)
{
    uint64_t at, end;

    if (size < sizeof(struct fdt_header) || fdt_version(tree) < 17 || fdt_check_header(tree) != 0 ||
        fdt_totalsize(tree) > size)
        return false;
    at = fdt_off_dt_struct(tree);
    end = at + fdt_size_dt_struct(tree);
    if (end > size)
        return false;
    for (uint64_t token; (token = token_size(tree, at, end - at)) != 0;)
        at += token;
    return end - at >= 4 && word_at(tree, at) == FDT_END && fdt_check_full(tree, size) == 0;
}

static int find_gic(const uint8_t *tree, int *version)
{
    int node = fdt_node_offset_by_compatible(tree, -1, gic_v3);

    *version = node >= 0 ? 3 : 2;
    for (size_t i = 0; node < 0 && i < COUNT_OF(gic_v2); i++)
        node = fdt_node_offset_by_compatible(tree, -1, gic_v2[i]);
    return node;
}

/* Addresses and sizes of the virt machine have two cells each. */
static unsigned regions_of(const uint8_t *tree, int node, struct vm_region *regions, unsigned max)
{
    int size = 0;
    const fdt64_t *reg = fdt_getprop(tree, node, "reg", &size);
    unsigned n = 0;

    for (; reg && size >= 16 && n < max; size -= 16, reg += 2, n++)
        regions[n] = (struct vm_region){fdt64_ld(reg), fdt64_ld(reg + 1)};
    return n;
}

static unsigned redistributor_regions(const uint8_t *tree, int node)
{
    int size = 0;
    const fdt32_t *number = fdt_getprop(tree, node, "#redistributor-regions", &size);

    return number && size == 4 ? fdt32_ld(number) : 1;
}

int vm_fdt_gic(const uint8_t *tree, size_t size, struct vm_gic *gic)
{
    struct vm_region regions[6];
    unsigned count;
    int node;

    memset(gic, 0, sizeof(*gic));
    if (!good_tree(tree, size))
        return SPE_ERR_INVALID;
    node = find_gic(tree, &gic->version);
    count = node < 0 ? 0 : regions_of(tree, node, regions, 6);
    if (count < (gic->version == 3 ? 2 : 1))
        return SPE_ERR_UNKNOWN;
    gic->distributor = regions[0];
    if (gic->version == 3)
        for (unsigned i = 1; i < count && i <= redistributor_regions(tree, node) && i <= 4; i++)
            gic->redistributor[gic->redistributors++] = regions[i];
    return 0;
}

/* A PPI, level-sensitive, active high; for GICv2 with a mask of the CPUs. */
static int put_spe(uint8_t *tree, const struct vm_gic *gic, unsigned cpus, unsigned ppi)
{
    uint32_t flags = 4 | (gic->version == 2 ? ((1u << cpus) - 1) << 8 : 0);
    int node = fdt_add_subnode(tree, 0, "spe");

    if (node < 0 ||
        fdt_setprop_string(tree, node, "compatible", "arm,statistical-profiling-extension-v1") ||
        fdt_appendprop_u32(tree, node, "interrupts", 1) ||
        fdt_appendprop_u32(tree, node, "interrupts", ppi) ||
        fdt_appendprop_u32(tree, node, "interrupts", flags))
        return SPE_ERR_INVALID;
    return fdt_pack(tree) == 0 ? 0 : SPE_ERR_INVALID; /* Linux takes none of more than 2 MB */
}

int vm_fdt_add_spe(const uint8_t *tree, size_t size, const struct vm_gic *gic, unsigned cpus,
                   unsigned ppi, uint8_t **out, size_t *out_size)
{
    enum { ROOM = 256 };
    int result;

    if (!good_tree(tree, size) || size > INT_MAX - ROOM)
        return SPE_ERR_INVALID;
    *out = malloc(size + ROOM);
    if (!*out)
        return SPE_ERR_NOMEM;
    result = fdt_open_into(tree, *out, (int)size + ROOM) ? SPE_ERR_INVALID
                                                         : put_spe(*out, gic, cpus, ppi);
    *out_size = result == 0 ? fdt_totalsize(*out) : 0;
    if (result < 0) {
        free(*out);
        *out = NULL;
    }
    return result;
}
