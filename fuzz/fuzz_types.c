/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Types, variables and what loads and stores access: any bytes as the file that a recording has
 * mapped.
 */
#include <stdio.h>

#include "names.h"
#include "names/types.h"
#include "profile/profile_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_types(struct spe_profile *p)
{
    for (uint32_t id = 0; id < spe_profile_type_count(p) && id < 256; id++) {
        struct spe_profile_type type;
        struct spe_profile_member member;
        char text[128];

        REQUIRE(spe_profile_type(p, id, &type) == SPE_OK);
        for (size_t i = 0; i < type.members && i < 64; i++)
            REQUIRE(spe_profile_member(p, id, i, &member) == SPE_OK);
        for (uint64_t offset = 0; offset < 32; offset += 4)
            types_path(&p->dsos, id, offset, 4, text, sizeof(text));
        types_path(&p->dsos, id, UINT64_MAX - 3, 8, text, sizeof(text));
    }
}

static void look_up(struct spe_profile *p, uint32_t dso, uint64_t start, uint64_t end)
{
    struct spe_profile_access access;
    struct variable_place place;

    for (uint64_t at = start; at < end && at < start + 1024; at += 4) {
        spe_profile_access_at(p, dso, at, &access);
        REQUIRE(access.reason < SPE_ACCESS_REASONS);
        REQUIRE(access.reason != SPE_ACCESS_KNOWN || access.type < spe_profile_type_count(p));
    }
    types_variable(&p->dsos, dso, start, &place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t no_id[1];
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;
    struct spe_profile *p;
    const struct symtab *t;
    uint32_t dso;
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
    dso = dsos_add(&p->dsos, path, false, 0, no_id, 0);
    REQUIRE(dso < p->dsos.list.count);
    dso_load(&p->dsos, p->dsos.list.at[dso]);
    t = &p->dsos.list.at[dso]->symbols;
    for (size_t i = 0; i < t->functions.count && i < 32; i++)
        look_up(p, dso, t->functions.at[i].start, t->functions.at[i].end);
    look_up(p, dso, 0x1000, 0x1040);
    look_at_types(p);
    REQUIRE(p->budget.used <= p->budget.limit);
    spe_profile_close(p);
    close(fd);
    return 0;
}
