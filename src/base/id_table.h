/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Numbers that files give to things, such as tids, and numbers of ours. */
#ifndef BASE_ID_TABLE_H
#define BASE_ID_TABLE_H

#include "base/hash.h"
#include "base/strings.h"
#include "base/vector.h"

struct id_entry {
    uint32_t key, value;
};

struct id_table {
    VECTOR(struct id_entry) entries; /* in the order in which they came */
    struct hash_table table;
    uint64_t seed; /* of the caller's, or 0: one is made */
};

/* SPE_OK or SPE_ERR_NOMEM. The key's old value, if any, is forgotten. */
int id_table_set(struct id_table *t, uint32_t key, uint32_t value);
uint32_t id_table_get(const struct id_table *t, uint32_t key); /* NONE if it is not there */
uint64_t id_table_memory(const struct id_table *t);            /* bytes */
void id_table_free(struct id_table *t);

#endif
