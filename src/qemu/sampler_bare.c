/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/sampler_bare.h"

#include "qemu/callbacks.h"
#include "qemu/countdown.h"
#include "qemu/registers_bare.h"

#ifdef BARE_PASS

BARE_CALL(bare_look);
BARE_CALL(bare_follow);
BARE_CALL(bare_unproved);
BARE_CALL(bare_unproved_calls);

/* Registers tell now what most accesses of the block will be. */
void bare_look(unsigned index, void *user, const void *state)
{
    vcpus_look(index, user, bare_registers(state));
}

/* Where there is no countdown of its count. The block's address with its count below it, so that
 * the count has not to be loaded: addresses of programs are shorter than 48 bits. */
static void *with_count(const struct pe_block *b)
{
    return (void *)((uintptr_t)b << 16 | (uint16_t)b->count);
}

static void on_bare_block(unsigned index, void *user)
{
    here.left -= (uint16_t)(uintptr_t)user;
    if (RARELY(here.left < 0))
        bare_look_here(index, (void *)((uintptr_t)user >> 16));
}

static inline void count_bare(unsigned index, struct pe_block *b, const void *state)
{
    here.left -= b->count;
    if (here.left < 0)
        bare_look(index, b, state);
}

void bare_follow(unsigned index, void *user, const void *state)
{
    struct pe_block *b = user;
    struct vcpu *v = vcpus_at(index);

    if (v && !bare_is_proved()) /* any more */
        v->calls.unsettled = true;
    else if (v && !calls_follow_usual(&v->calls, here.block, b, bare_sp(state)))
        calls_follow_sp(&v->calls, here.block, b, bare_sp(state));
    here.flow = (b->flow & FLOW_ENDS) | (v && v->calls.unsettled);
    here.block = b;
    count_bare(index, b, state);
}

static void on_bare_block_calls(unsigned index, void *user)
{
    const struct pe_block *b = user;

    if (RARELY(here.flow | (b->flow & FLOW_HANDLER))) {
        bare_follow_here(index, user);
        return;
    }
    here.flow = b->flow & FLOW_ENDS;
    here.block = b;
    here.left -= b->count;
    if (RARELY(here.left < 0))
        bare_look_here(index, user);
}

void bare_unproved(unsigned index, void *user, const void *state)
{
    bare_foresee(user, state);
    count_bare(index, user, state);
}

static void on_unproved_block(unsigned index, void *user)
{
    bare_unproved_here(index, user);
}

/* Until registers are proved, accesses tell the stack pointer. */
void bare_unproved_calls(unsigned index, void *user, const void *state)
{
    struct pe_block *b = user;
    struct vcpu *v = vcpus_at(index);

    if (bare_is_proved()) {
        bare_follow(index, user, state);
        return;
    }
    if (v && calls_matter(here.block, b))
        calls_follow(&v->calls, here.block, b);
    here.flow = (b->flow & FLOW_ENDS) | (v && v->calls.unsettled);
    here.block = b;
    bare_unproved(index, user, state);
}

static void on_unproved_block_calls(unsigned index, void *user)
{
    bare_unproved_calls_here(index, user);
}

static void on_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    tell_armed(index, info, va, user);
}

static void on_unproved_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    bare_compare(user, va);
    tell_armed(index, info, va, user);
}

BY_SP(on_unproved_access)

void bare_prepare(void)
{
    countdown_begin(bare_look_here, unit_process.calls ? bare_follow_here : NULL);
}

/* Registers are proved. */
static void count_down(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    qemu_plugin_exec_fn countdown = countdown_of(b);

    if (countdown)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, countdown, QEMU_NO_REGS, b);
    else if (unit_process.calls)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_bare_block_calls, QEMU_NO_REGS, b);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_bare_block, QEMU_NO_REGS, with_count(b));
}

void bare_call_back(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    bool proved = bare_is_proved();

    if (proved)
        count_down(tb, b);
    else
        qemu_plugin_register_vcpu_tb_exec_cb(
            tb, unit_process.calls ? on_unproved_block_calls : on_unproved_block, QEMU_NO_REGS, b);
    for (uint32_t i = 0; i < b->count; i++) {
        struct pe_site *site = &b->sites[i];

        if (!site->hidden && !(proved && site->early))
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i),
                                             proved        ? on_access
                                             : site->by_sp ? on_unproved_access_by_sp
                                                           : on_unproved_access,
                                             QEMU_NO_REGS, QEMU_MEM_BOTH, site);
    }
}

#else

void bare_prepare(void) {}

void bare_call_back(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    (void)tb;
    (void)b;
}

#endif
