/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Variables, types and accesses out of DWARF, for the profile room. One thread at a time. Ids are
 * those of the whole profile; what is remembered is taken from the budget.
 */
#ifndef NAMES_TYPES_H
#define NAMES_TYPES_H

#include "names/names_internal.h"

/* A variable with a place of its own, in the file's own addresses. */
struct variable_place {
    uint64_t start, size;
    uint32_t name, type;
};

/* The global or static variable that holds an address. */
bool types_variable(struct dsos *d, uint32_t dso, uint64_t address, struct variable_place *found);

/* spe_profile_access_at */
void types_access(struct dsos *d, uint32_t dso, uint64_t address,
                  struct spe_profile_access *access);

/* What the type has at offset; access->size is given. False: nothing lies there. */
bool types_access_of(struct dsos *d, uint32_t type, uint64_t offset,
                     struct spe_profile_access *access);

/* ".slots[17].key" for what lies at offset; "" if the type has no members. False: nothing does. */
bool types_path(struct dsos *d, uint32_t type, uint64_t offset, uint64_t size, char *text,
                size_t room);

int types_type(struct dsos *d, uint32_t id, struct spe_profile_type *type);
int types_member(struct dsos *d, uint32_t id, size_t i, struct spe_profile_member *member);
size_t types_count(const struct dsos *d);

/* Of one file, and of all. */
void types_close(struct file_types *f);
void types_free(struct types *t);

#endif
