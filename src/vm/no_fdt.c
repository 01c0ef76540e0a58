/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* In place of fdt.c, where there is no libfdt. */
#include "vm/vm.h"

const bool vm_has_fdt = false;

int vm_fdt_gic(const uint8_t *tree, size_t size, struct vm_gic *gic)
{
    (void)tree, (void)size, (void)gic;
    return SPE_ERR_UNKNOWN;
}

int vm_fdt_add_spe(const uint8_t *tree, size_t size, const struct vm_gic *gic, unsigned cpus,
                   unsigned ppi, uint8_t **out, size_t *out_size)
{
    (void)tree, (void)size, (void)gic, (void)cpus, (void)ppi, (void)out, (void)out_size;
    return SPE_ERR_UNKNOWN;
}
