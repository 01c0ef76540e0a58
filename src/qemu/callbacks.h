/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What callbacks of all models have in common. */
#ifndef QEMU_CALLBACKS_H
#define QEMU_CALLBACKS_H

#include "qemu/vcpus.h"

#define RARELY(condition) __builtin_expect(!!(condition), 0)

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
