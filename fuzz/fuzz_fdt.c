/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* QEMU's device tree: any bytes are refused, or get a node and are a tree again. */
#include <stdint.h>
#include <string.h>

#include "require.h"
#include "vm/vm.h"

enum { CPUS = 2, PPI = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *tree = malloc(size ? size : 1), *out; /* aligned, as what was read from a file is */
    struct vm_gic gic, again;
    size_t out_size;

    REQUIRE(tree);
    if (size)
        memcpy(tree, data, size);
    if (vm_fdt_gic(tree, size, &gic) == 0 &&
        vm_fdt_add_spe(tree, size, &gic, CPUS, PPI, &out, &out_size) == 0) {
        REQUIRE(vm_fdt_gic(out, out_size, &again) == 0);
        free(out);
    }
    free(tree);
    return 0;
}
