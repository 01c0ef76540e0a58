/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* kallsyms: any bytes give a table in order, for the kernel and for a module. */
#include <stdio.h>

#include "names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const modules[] = {NULL, "nf_tables"};
    int fd = file_of(data, size);
    char path[40];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < 2; i++) {
        struct budget budget = {.limit = 16 << 20};
        struct symtab t = {.budget = &budget};

        symtab_read_kallsyms(&t, path, modules[i]);
        symtab_finish(&t);
        check_table(&t);
        symtab_free(&t);
        REQUIRE(budget.used == 0);
    }
    close(fd);
    return 0;
}
