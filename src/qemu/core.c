/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/core.h"

#include <stdatomic.h>
#include <unistd.h>

#include "qemu/callbacks.h"
#include "qemu/tasks.h"

#define APART __attribute__((noinline))  /* so that the common case saves no registers */
#define HOT __attribute__((aligned(64))) /* at a line of the host's cache, wherever others are */

/* ---- Blocks and accesses -------------------------------------------------------------------- */

/* Where the last taken branch went, for the unit. */
static inline void follow(struct vcpu *v, const struct pe_block *b)
{
    const struct pe_block *last = here.block;
    bool taken;

    here.block = b;
    if (last->branch && unit_branch_outcome(last, b->pc, &taken) && taken)
        v->taken = b->pc;
}

/* A thread that is not recorded does so at every block. */
APART static void hand(unsigned index)
{
    if (here.writer.events)
        pe_stream_hand(&vcpus_at(index)->stream);
    else
        pe_write_nowhere(&here.writer);
}

/*
 * Who hands over may have to wait for others. If it had a lock of the program then, they would find
 * it taken and go into the kernel, where they hold nobody up: they would run one after the other.
 * How often would depend on where in the program's loop a batch ends, and so on QEMU, for not all
 * tell the accesses of a pair in the same number of events. Just before it takes a lock, a thread
 * has none as a rule, and who takes many will come to such a place.
 */
APART static void hand_soon(unsigned index, const struct pe_block *b)
{
    if (b->acquires || pe_is_late(&here.writer, PE_HAND_LATER))
        hand(index);
}

static inline void put_new_block(unsigned index, const struct pe_block *b)
{
    if (RARELY(pe_put_new_block(&here.writer, b)))
        hand_soon(index, b);
}

APART static void close_and_put(unsigned index, const struct pe_block *b)
{
    pe_close(&here.writer);
    put_new_block(index, b);
}

static inline void put_block(unsigned index, const struct pe_block *b)
{
    if (pe_begins_again(&here.writer, b))
        return;
    if (RARELY(pe_is_open(&here.writer)))
        close_and_put(index, b);
    else
        put_new_block(index, b);
}

/* The first block of a thread does so: from then on it has a place to write to. */
APART static void look_and_put(unsigned index, struct pe_block *b)
{
    vcpus_look(index, b, NULL);
    if (!here.writer.events)
        pe_write_nowhere(&here.writer);
    put_block(index, b);
}

static inline void begin_block(unsigned index, struct pe_block *b)
{
    here.left -= b->count;
    if (RARELY(here.left < 0))
        look_and_put(index, b);
    else
        put_block(index, b);
}

HOT static void on_block(unsigned index, void *user)
{
    begin_block(index, user);
}

static void on_block_followed(unsigned index, void *user)
{
    struct vcpu *v = vcpus_at(index);

    if (RARELY(!v))
        return;
    follow(v, user);
    begin_block(index, user);
}

APART static void begin_behind_call(unsigned index, struct pe_block *b)
{
    struct vcpu *v = vcpus_at(index);

    if (v)
        calls_follow(&v->calls, here.block, b);
    here.block = b;
    begin_block(index, b);
}

static void on_block_calls(unsigned index, void *user)
{
    if (RARELY(calls_matter(here.block, user))) {
        begin_behind_call(index, user);
    } else {
        here.block = user;
        begin_block(index, user);
    }
}

static void on_block_calls_followed(unsigned index, void *user)
{
    struct vcpu *v = vcpus_at(index);

    if (RARELY(!v))
        return;
    if (RARELY(calls_matter(here.block, user)))
        calls_follow(&v->calls, here.block, user);
    follow(v, user);
    begin_block(index, user);
}

static qemu_plugin_exec_fn block_function(void)
{
    static const qemu_plugin_exec_fn functions[2][2] = {
        {on_block, on_block_followed},
        {on_block_calls, on_block_calls_followed},
    };

    return functions[unit_process.calls][(unit_process.config.features & SPE_FEAT(SPE_PBT)) != 0];
}

static inline uint64_t tag_of(const struct pe_site *site)
{
    return (uint64_t)site->ordinal << PE_EVENT_SHIFT;
}

/* The instruction's ordinal is all that has to be known of it, and it is in its place already. */
HOT static void on_plain_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    (void)index;
    (void)info;
    pe_put_access(&here.writer, (uint64_t)(uintptr_t)user, va);
}

static inline void put_site(const struct pe_site *site, uint64_t va)
{
    pe_put_access(&here.writer, tag_of(site), va);
}

/* QEMU tells the size, and asking once is enough. */
APART static void first_of_pair(uint32_t info, uint64_t va, struct pe_site *site)
{
    pe_site_note_bytes(site, 1u << qemu_plugin_mem_size_shift(info));
    put_site(site, va);
}

/* on_plain_access for those that need more of the site. */
static void on_site_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    (void)index;
    (void)info;
    put_site(user, va);
}

static void on_paired_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    struct pe_site *site = user;

    (void)index;
    if (RARELY(!__atomic_load_n(&site->bytes, __ATOMIC_RELAXED)))
        first_of_pair(info, va, site);
    else
        put_site(site, va);
}

/* One block may have more of these than there is room for behind the last look. */
static inline void put_wide(unsigned index, uint32_t info, uint64_t va, const struct pe_site *site,
                            unsigned how)
{
    if (RARELY(pe_is_late(&here.writer, PE_BLOCK_EVENTS / 2)))
        hand(index);
    pe_put_wide(&here.writer, (uint32_t)(site - site->block->sites), va,
                1u << qemu_plugin_mem_size_shift(info), how);
}

static void on_wide_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    put_wide(index, info, va, user, qemu_plugin_mem_is_store(info) ? SPE_ACCESS_STORE : 0);
}

/* Is the latest event an access of the instruction? */
static bool has_accessed(const struct pe_site *site)
{
    const struct pe_writer *w = &here.writer;

    return w->at - w->events > 2 && w->at[-2] >> PE_EVENT_SHIFT == PE_EVENT_WIDE &&
           &site->block->sites[PE_WIDE_INDEX(w->at[-1])] == site;
}

/* For the model an atomic is one access. QEMU 7.2 tells it as a write where the program has several
 * threads, QEMU 10 always as a read and then a write. */
static void on_atomic_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    const struct pe_site *site = user;

    if (RARELY(!here.writer.events) || (qemu_plugin_mem_is_store(info) && has_accessed(site)))
        return;
    put_wide(index, info, va, site,
             SPE_ACCESS_ATOMIC | (site->is & PE_IS_STORE ? SPE_ACCESS_STORE : 0));
}

BY_SP(on_site_access)
BY_SP(on_paired_access)
BY_SP(on_wide_access)
BY_SP(on_atomic_access)

_Static_assert(PE_ORDINALS + 2 < PE_BLOCK_EVENTS / 2, "plain accesses have room behind wide ones");
_Static_assert(PE_HAND_LATER <= PE_BLOCK_EVENTS / 2, "and behind blocks that did not hand over");

/* Of those that are not on_plain_access's. */
static qemu_plugin_mem_fn access_function(const struct pe_site *site)
{
    if (site->paired)
        return site->by_sp ? on_paired_access_by_sp : on_paired_access;
    if (site->how & SPE_ACCESS_ATOMIC)
        return site->by_sp ? on_atomic_access_by_sp : on_atomic_access;
    if (!site->bytes)
        return site->by_sp ? on_wide_access_by_sp : on_wide_access;
    return on_site_access_by_sp;
}

void core_call_back(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    qemu_plugin_register_vcpu_tb_exec_cb(tb, block_function(), QEMU_NO_REGS, b);
    for (uint32_t i = 0; i < b->count; i++) {
        struct pe_site *site = &b->sites[i];
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        if (site->hidden)
            continue; /* see recorder.c */
        if (site->bytes && !site->paired && !site->by_sp)
            qemu_plugin_register_vcpu_mem_cb(insn, on_plain_access, QEMU_NO_REGS, QEMU_MEM_BOTH,
                                             (void *)(uintptr_t)tag_of(site));
        else
            qemu_plugin_register_vcpu_mem_cb(insn, access_function(site), QEMU_NO_REGS,
                                             QEMU_MEM_BOTH, site);
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

/*
 * On the machine that is modelled a thread that was woken runs soon. On the host it may have to
 * wait for a processor, and others would be far ahead. Who wakes does not wait in the kernel, so it
 * holds up those that it woke while it is there; then it waits until they are back. Where all are
 * woken, that is more than the kernel says: some may be on their way into it, and find that they
 * need not wait. Nobody knows who they are. The more often it waits in vain, the shorter it does.
 */
enum { FUTEXES = 256, FUTEX_COMMAND = 0x7f, WAKING_ROUNDS = 2000, WAKING_PAUSE = 50 /* us */ };
enum { FUTEX_WAITS = 1 << 0 | 1 << 9, FUTEX_WAKES = 1 << 1 | 1 << 10 }; /* with and without bits */
enum { IN_VAIN_MAX = 8 };

/* By a hash of where threads wait. */
static struct futex {
    atomic_uint went, back; /* calls that wait, and those that are over */
    atomic_uint in_vain;    /* latest waits for the woken that were */
} futexes[FUTEXES];

static struct futex *futex_at(uint64_t address)
{
    return &futexes[address * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

static bool is_futex(int64_t number, const uint64_t arguments[8], unsigned commands)
{
    return number == SYSCALL_FUTEX && (arguments[1] & FUTEX_COMMAND) < 32 &&
           commands >> (arguments[1] & FUTEX_COMMAND) & 1;
}

static void count_waiting(struct vcpu *v, const uint64_t arguments[8])
{
    struct futex *futex = futex_at(arguments[0]);
    uint32_t waiting;

    v->woken = atomic_load_explicit(&futex->back, memory_order_relaxed);
    waiting = atomic_load_explicit(&futex->went, memory_order_relaxed) - v->woken;
    v->wakes = waiting < (uint32_t)arguments[2] ? waiting : 0;
}

static void wait_for_woken(const struct vcpu *v)
{
    struct futex *futex = futex_at(v->call_arguments[0]);
    unsigned in_vain = atomic_load_explicit(&futex->in_vain, memory_order_relaxed);

    for (unsigned i = 0; i < (unsigned)WAKING_ROUNDS >> in_vain; i++) {
        if (atomic_load_explicit(&futex->back, memory_order_relaxed) - v->woken >= v->wakes) {
            atomic_store_explicit(&futex->in_vain, 0, memory_order_relaxed);
            return;
        }
        usleep(WAKING_PAUSE);
    }
    if (in_vain < IN_VAIN_MAX)
        atomic_store_explicit(&futex->in_vain, in_vain + 1, memory_order_relaxed);
}

/* In vcpu_exit QEMU has locks, and nobody should wait long: what a thread has done is had before.
 */
void core_syscall(struct vcpu *v, int64_t number, const uint64_t arguments[8], bool forks)
{
    if (is_futex(number, arguments, FUTEX_WAKES)) {
        count_waiting(v, arguments);
        unit_show(v);
        return;
    }
    if (is_futex(number, arguments, FUTEX_WAITS))
        atomic_fetch_add_explicit(&futex_at(arguments[0])->went, 1, memory_order_relaxed);
    if (number == SYSCALL_EXIT)
        unit_end_stream(v);
    else
        unit_away(v);
    if (number == SYSCALL_EXIT_GROUP || forks)
        hurry(v);
}

void core_syscall_return(struct vcpu *v, int64_t number, int64_t result)
{
    if (is_futex(number, v->call_arguments, FUTEX_WAITS))
        atomic_fetch_add_explicit(&futex_at(v->call_arguments[0])->back, 1, memory_order_relaxed);
    if (v->hurries)
        pe_merge_hurry(unit_process.merge, false);
    v->hurries = false;
    unit_back(v); /* from now on it holds up those that it woke, and they it */
    if (!is_futex(number, v->call_arguments, FUTEX_WAKES))
        return;
    if (result > v->wakes)
        v->wakes = (uint32_t)result;
    if (v->wakes)
        wait_for_woken(v);
}

void core_forked(void)
{
    for (unsigned i = 0; i < FUTEXES; i++)
        atomic_store_explicit(&futexes[i].went,
                              atomic_load_explicit(&futexes[i].back, memory_order_relaxed),
                              memory_order_relaxed);
}
