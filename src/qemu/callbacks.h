/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What callbacks of all models have in common. */
#ifndef QEMU_CALLBACKS_H
#define QEMU_CALLBACKS_H

#include "qemu/api.h"
#include "qemu/vcpus.h"

#define RARELY(condition) __builtin_expect(!!(condition), 0)
#define SELDOM __attribute__((noinline, cold, unused))

/* Apart, so that the common case saves no registers. */
SELDOM static void tell_armed_access(struct vcpu *v, uint32_t info, uint64_t va,
                                     const struct pe_site *site)
{
    unit_access(v, site, va, 1u << qemu_plugin_mem_size_shift(info), qemu_plugin_mem_is_store(info),
                NULL);
}

/* Without a model: an access matters only if it belongs to a sample. */
static inline void tell_armed(unsigned index, uint32_t info, uint64_t va,
                              const struct pe_site *site)
{
    struct vcpu *v = vcpus_at(index);

    if (RARELY(v && unit_is_armed(v, site)))
        tell_armed_access(v, info, va, site);
}

/* NAME_by_sp of a callback NAME, for accesses that tell the stack pointer: one call for both is
 * cheaper than two. */
#define BY_SP(access_function)                                                                     \
    static void access_function##_by_sp(unsigned index, uint32_t info, uint64_t va, void *user)    \
    {                                                                                              \
        struct vcpu *v = vcpus_at(index);                                                          \
                                                                                                   \
        if (RARELY(!v))                                                                            \
            return;                                                                                \
        calls_access(&v->calls, user, va);                                                         \
        access_function(index, info, va, user);                                                    \
    }

#endif
