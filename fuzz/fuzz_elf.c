/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Programs and modules, packed ones too: any bytes as the file that a recording has mapped, through
 * symbols, source lines and inlined functions, within the memory that they may take.
 */
#include <stdio.h>

#include "names.h"
#include "profile/profile_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(struct spe_profile *p, uint32_t number, uint64_t address)
{
    struct dso *dso = p->dsos.list.at[number];
    struct spe_profile_frame frames[4];
    uint32_t line = lines_find(&p->dsos, dso, number, address);

    REQUIRE(line == SPE_NO_ID || line < p->dsos.lines.lines.count);
    spe_profile_inlines_at(p, number, address, frames, 4);
    dso_find(dso, address, SYMBOL_FUNCTION);
    dso_find(dso, address, SYMBOL_OBJECT);
}

static void read_file(struct spe_profile *p, const char *path, bool module)
{
    static const uint8_t no_id[1];
    uint32_t number = dsos_add(&p->dsos, path, module, 0, no_id, 0);
    const struct symtab *t;

    REQUIRE(number < p->dsos.list.count);
    dso_load(&p->dsos, p->dsos.list.at[number]);
    t = &p->dsos.list.at[number]->symbols;
    check_table(t);
    for (size_t i = 0; i < t->functions.count && i < 32; i++)
        look_up(p, number, t->functions.at[i].start);
    look_up(p, number, 0);
    look_up(p, number, 0x1000);
    for (size_t i = 0; spe_profile_warning(p, i); i++)
        REQUIRE(strlen(spe_profile_warning(p, i)));
    REQUIRE(p->budget.used <= p->budget.limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;
    struct spe_profile *p;
    int fd = file_of(data, size);
    char path[40];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    options.raw = true;
    options.threads = 1;
    options.group_rows = 16;
    options.debug_dir = "";
    options.no_debuginfod = true;
    options.memory_limit = 32 << 20;
    REQUIRE(spe_profile_open_memory(&p, "", 0, &options, NULL) == SPE_OK);
    read_file(p, path, false);
    read_file(p, path, true);
    spe_profile_close(p);
    close(fd);
    return 0;
}
