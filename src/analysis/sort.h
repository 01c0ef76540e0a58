/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Things in the order of a number that each has: by the number's bytes, which asks nobody which of
 * two comes first. */
#ifndef ANALYSIS_SORT_H
#define ANALYSIS_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_key {
    uint64_t key;
    uint32_t number; /* which thing it is */
};

/* Those with the same key stay in their order. `room` is for n others. */
void sort_keys(struct sort_key *keys, struct sort_key *room, size_t n);

#endif
