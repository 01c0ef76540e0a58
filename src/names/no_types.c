/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* In place of types.c, variables.c and track.c where debug information cannot be read. */
#include "names/types.h"

bool types_variable(struct dsos *d, uint32_t dso, uint64_t address, struct variable_place *found)
{
    (void)d;
    (void)dso;
    (void)address;
    (void)found;
    return false;
}

void types_access(struct dsos *d, uint32_t dso, uint64_t address, struct spe_profile_access *access)
{
    (void)d;
    (void)dso;
    (void)address;
    access->reason = SPE_ACCESS_NO_FILE;
}

bool types_access_of(struct dsos *d, uint32_t type, uint64_t offset,
                     struct spe_profile_access *access)
{
    (void)d;
    (void)type;
    (void)offset;
    (void)access;
    return false;
}

bool types_path(struct dsos *d, uint32_t type, uint64_t offset, uint64_t size, char *text,
                size_t room)
{
    (void)d;
    (void)type;
    (void)offset;
    (void)size;
    (void)text;
    (void)room;
    return false;
}

int types_type(struct dsos *d, uint32_t id, struct spe_profile_type *type)
{
    (void)d;
    (void)id;
    (void)type;
    return SPE_ERR_UNKNOWN;
}

int types_member(struct dsos *d, uint32_t id, size_t i, struct spe_profile_member *member)
{
    (void)d;
    (void)id;
    (void)i;
    (void)member;
    return SPE_ERR_UNKNOWN;
}

size_t types_count(const struct dsos *d)
{
    (void)d;
    return 0;
}

void types_close(struct file_types *f)
{
    (void)f;
}

void types_free(struct types *t)
{
    (void)t;
}
