/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/core.h"

#include "qemu/tasks.h"
#include "qemu/vcpus.h"

#define RARELY(condition) __builtin_expect(!!(condition), 0)

/* ---- Blocks and accesses -------------------------------------------------------------------- */

/* Where the last taken branch went, for the unit. */
static inline void follow(struct vcpu *v, const struct pe_block *b)
{
    const struct pe_block *last = v->block;
    bool taken;

    v->block = b;
    if (last->branch && unit_branch_outcome(last, b->pc, &taken) && taken)
        v->taken = b->pc;
}

static void on_block(unsigned index, void *user)
{
    struct vcpu *v = vcpus_at(index);
    struct pe_block *b = user;

    if (RARELY(!v))
        return;
    follow(v, b);
    v->left -= b->count;
    if (RARELY(v->left < 0))
        unit_look(v, b);
    if (RARELY(!v->stream.events))
        return;
    if (RARELY(pe_put_block(&v->stream, b)))
        pe_stream_hand(&v->stream);
}

/* The instruction's ordinal is all that has to be known of it. */
static void on_plain_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    struct vcpu *v = vcpus_at(index);

    (void)info;
    if (RARELY(!v || !v->stream.events))
        return;
    pe_put_access(&v->stream, (uint64_t)(uintptr_t)user << PE_EVENT_SHIFT, va);
}

/* One block may have more of these than there is room for behind the last look. */
static void on_wide_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    const struct pe_site *site = user;
    unsigned how =
        (qemu_plugin_mem_is_store(info) ? SPE_ACCESS_STORE : 0) | (site->how & SPE_ACCESS_ATOMIC);
    struct vcpu *v = vcpus_at(index);

    if (RARELY(!v || !v->stream.events))
        return;
    if (RARELY(v->stream.end >= v->stream.hand_at + PE_BLOCK_EVENTS / 2))
        pe_stream_hand(&v->stream);
    pe_put_wide(&v->stream, (uint32_t)(site - site->block->sites), va,
                1u << qemu_plugin_mem_size_shift(info), how);
}

_Static_assert(PE_ORDINALS + 2 < PE_BLOCK_EVENTS / 2, "plain accesses have room behind wide ones");

void core_call_back(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_NO_REGS, b);
    for (uint32_t i = 0; i < b->count; i++) {
        struct pe_site *site = &b->sites[i];
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        if (site->hidden)
            continue; /* see recorder.c */
        if (site->bytes)
            qemu_plugin_register_vcpu_mem_cb(insn, on_plain_access, QEMU_NO_REGS, QEMU_MEM_BOTH,
                                             (void *)(uintptr_t)site->ordinal);
        else
            qemu_plugin_register_vcpu_mem_cb(insn, on_wide_access, QEMU_NO_REGS, QEMU_MEM_BOTH,
                                             site);
    }
}

/* ---- System calls --------------------------------------------------------------------------- */

/*
 * QEMU stops all threads to fork and to end. One that waits for another's events does not stop, and
 * one that has stopped has no events: nobody waits then. (QEMU stops them for other reasons, too;
 * then patience ends.)
 */
static void hurry(struct vcpu *v)
{
    v->hurries = true;
    pe_merge_hurry(unit_process.merge, true);
}

/* In vcpu_exit QEMU has locks, and nobody should wait long: what a thread has done is had before.
 */
void core_syscall(struct vcpu *v, int64_t number, bool forks)
{
    if (number == SYSCALL_EXIT)
        unit_end_stream(v);
    else
        unit_away(v);
    if (number == SYSCALL_EXIT_GROUP || forks)
        hurry(v);
}

void core_syscall_return(struct vcpu *v)
{
    if (v->hurries)
        pe_merge_hurry(unit_process.merge, false);
    v->hurries = false;
    unit_back(v);
}
