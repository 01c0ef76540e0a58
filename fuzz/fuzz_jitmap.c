/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* /tmp/perf-PID.map: any bytes give a table in order, and names that end. */
#include <stdio.h>

#include "names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = 16 << 20};
    struct symtab t = {.budget = &budget};
    int fd = file_of(data, size);
    FILE *file;

    REQUIRE(lseek(fd, 0, SEEK_SET) == 0 && (file = fdopen(fd, "r")));
    symtab_read_jit(&t, file);
    fclose(file);
    symtab_finish(&t);
    check_table(&t);
    for (size_t i = 1; i < t.functions.count; i++)
        REQUIRE(t.functions.at[i - 1].end <= t.functions.at[i].start);
    symtab_free(&t);
    REQUIRE(budget.used == 0);
    return 0;
}
