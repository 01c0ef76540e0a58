/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * How much the names of one profile may cost. Files are named by a recording, and small ones may
 * unpack to anything: what is kept of them, and what is unpacked to read them, is taken from one
 * budget before it is there. What does not fit is left out, and said to be.
 *
 * Which file finds the budget empty may depend on the threads that read symbols; what is shown is
 * right in any case.
 */
#ifndef NAMES_BUDGET_H
#define NAMES_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Where spe_profile_options.memory_limit does not say. */
#define MEMORY_LIMIT (UINT64_C(1) << 30)
/* Of one module that is packed: as it is, and unpacked. */
#define PACKED_MAX (UINT64_C(64) << 20)
#define UNPACKED_MAX (UINT64_C(256) << 20)
/* Steps to make names of C++ readable (demangle.c): for one name, and for all of a profile. */
#define DEMANGLE_MAX (UINT64_C(1) << 24)
#define DEMANGLE_ALL (UINT64_C(1) << 33)

struct budget {
    uint64_t limit; /* bytes */
    atomic_uint_fast64_t used;
    atomic_uint_fast64_t demangled; /* steps */
    atomic_bool said;               /* that something did not fit */
};

/* False, and nothing is taken, if it is not there any more. No budget (NULL) has no end. */
static inline bool budget_take(struct budget *b, uint64_t bytes)
{
    uint64_t used;

    if (!b)
        return true;
    used = atomic_load_explicit(&b->used, memory_order_relaxed);
    do {
        if (bytes > b->limit || used > b->limit - bytes)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&b->used, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static inline void budget_give(struct budget *b, uint64_t bytes)
{
    if (b)
        atomic_fetch_sub_explicit(&b->used, bytes, memory_order_relaxed);
}

#endif
