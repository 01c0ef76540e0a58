/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The recorder: what the plugin does for `spe record`. It runs in every process of the program,
 * has a unit for every thread, and sends records and what a kernel would tell to the launcher.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pe/machine_fast.h"
#include "qemu/api.h"
#include "qemu/channel.h"
#include "qemu/counts.h"
#include "qemu/registers.h"
#include "qemu/slots.h"
#include "qemu/tasks.h"
#include "qemu/unit.h"

enum { VCPUS_MAX = 1 << 18 };

/* A thread's last system call, until it returns. */
struct call {
    int64_t number;
    uint64_t arguments[8];
};

static struct vcpu vcpus[VCPUS_MAX]; /* by QEMU's index, which grows with every thread */
static struct call calls[VCPUS_MAX];
static unsigned vcpu_end; /* no index so far was as large */
static struct wire_setup setup;
static bool announced; /* the launcher knows what is loaded */
static pid_t process;

/* Where a vCPU is before its first block. */
static const struct block nowhere;

#define RARELY(condition) __builtin_expect(!!(condition), 0)
#define SELDOM __attribute__((noinline, cold))

/* ---- Without a model ------------------------------------------------------------------------ */

static void on_block(unsigned index, void *user)
{
    struct vcpu *v = &vcpus[index];
    const struct block *b = user;

    v->left -= b->count;
    if (RARELY(v->left < 0))
        unit_look(v, b);
}

/* Apart, so that the common case saves no registers. */
SELDOM static void on_armed_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    unit_access(&vcpus[index], user, va, 1u << qemu_plugin_mem_size_shift(info),
                qemu_plugin_mem_is_store(info), NULL);
}

static void on_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    if (RARELY(unit_is_armed(&vcpus[index], user)))
        on_armed_access(index, info, va, user);
}

/* ---- With the model ------------------------------------------------------------------------- */

static struct site_counts *counts_of(struct vcpu *v, const struct site *site)
{
    return site->id < v->met_count ? &v->met[site->id] : NULL;
}

static void count_executed(struct vcpu *v, const struct block *b)
{
    v->met_site = NULL;
    if (b->id < v->executed_count || unit_grow_counts(v))
        v->executed[b->id]++;
}

/* How the branch at the end of the last block went, where it goes on at `next`. False if nobody
 * knows: a signal's handler is no target of a direct branch. */
static inline bool branch_outcome(const struct block *last, uint64_t next, bool *taken)
{
    *taken = last->direct ? next == last->target : true;
    return *taken || next == last->end;
}

/* Tell it to whoever wants to know. */
static void branch_met(struct vcpu *v, const struct block *last, bool taken, bool wrong)
{
    const struct site *site = block_last(last);
    struct site_counts *counts = unit_process.stat ? counts_of(v, site) : NULL;

    if (unit_is_armed(v, site))
        unit_branch(v, site, wrong);
    if (counts) {
        counts->taken += taken;
        counts->mispredicted += wrong;
    }
}

static __attribute__((noinline)) void any_branch(struct vcpu *v, const struct block *last,
                                                 uint64_t next)
{
    bool taken, wrong;

    if (!branch_outcome(last, next, &taken))
        return;
    if (taken)
        v->taken = next;
    if (v->cpu_lock)
        pthread_mutex_lock(v->cpu_lock);
    wrong =
        spe_machine_branch(unit_process.machine, v->cpu, last->end - 4, last->kind, taken, next);
    if (v->cpu_lock)
        pthread_mutex_unlock(v->cpu_lock);
    branch_met(v, last, taken, wrong);
}

/* What most branches are: direct, conditional, no calls, and with nothing to count, to learn or to
 * tell. */
static inline bool as_foreseen(struct vcpu *v, const struct block *last, uint64_t next)
{
    bool taken;

    if (!last->plain || !v->pe || !branch_outcome(last, next, &taken) ||
        !pe_foreseen(v->pe, last->end - 4, taken))
        return false;
    if (taken)
        v->taken = next;
    return true;
}

/* Apart, as on_armed_access is. */
__attribute__((noinline)) static void after_branch(struct vcpu *v, const struct block *last,
                                                   const struct block *b)
{
    any_branch(v, last, b->pc);
    v->left -= b->count;
    if (RARELY(v->left < 0))
        unit_look(v, b);
}

static void on_block_modelled(unsigned index, void *user)
{
    struct vcpu *v = &vcpus[index];
    const struct block *b = user, *last = v->block;

    v->block = b;
    if (last->branch && !as_foreseen(v, last, b->pc)) {
        after_branch(v, last, b);
        return;
    }
    v->left -= b->count;
    if (RARELY(v->left < 0))
        unit_look(v, b);
}

static void on_block_met(unsigned index, void *user)
{
    count_executed(&vcpus[index], user);
    on_block_modelled(index, user);
}

/* Operations are counted, not accesses: a pair that misses twice is one that missed. */
static void count_access(struct vcpu *v, const struct site *site, uint64_t va, uint32_t bytes,
                         const struct spe_machine_access *met)
{
    struct site_counts *counts = counts_of(v, site);
    uint32_t before = site == v->met_site && va == v->met_end ? v->met_facts : 0;
    uint32_t facts = met->facts & ~before;

    v->met_site = site;
    v->met_end = va + bytes;
    v->met_facts = before | facts;
    if (!counts)
        return;
    counts->l1_misses += (facts & SPE_FACT_L1D_REFILL) != 0;
    counts->llc_misses += (facts & SPE_FACT_LLC_MISS) != 0;
    counts->walks += (facts & SPE_FACT_TLB_WALK) != 0;
}

/* An access that somebody wants to know about, that is not simple, or its site's first. All
 * accesses of an instruction have the same size, so that asking once is enough. */
SELDOM static void on_access_met(unsigned index, uint32_t info, uint64_t va, void *user)
{
    struct vcpu *v = &vcpus[index];
    struct site *site = user;
    uint32_t bytes = 1u << qemu_plugin_mem_size_shift(info);
    bool store = qemu_plugin_mem_is_store(info);
    struct spe_machine_access met = {0}; /* a cpu that the machine has not does nothing */

    site->bytes = (uint16_t)bytes;
    if (v->cpu_lock)
        pthread_mutex_lock(v->cpu_lock);
    spe_machine_touch(unit_process.machine, v->cpu, va, bytes,
                      (store ? SPE_ACCESS_STORE : 0) | site->how, &met);
    if (v->cpu_lock)
        pthread_mutex_unlock(v->cpu_lock);
    if (unit_process.stat)
        count_access(v, site, va, bytes, &met);
    if (unit_is_armed(v, site))
        unit_access(v, site, va, bytes, store, &met);
}

static inline void on_simple_access(unsigned index, uint32_t info, uint64_t va, struct site *site,
                                    bool store)
{
    struct vcpu *v = &vcpus[index];

    if (RARELY(!site->bytes || unit_is_armed(v, site) || !v->pe))
        on_access_met(index, info, va, site);
    else
        pe_touch_fast(unit_process.machine, v->pe, va, site->bytes, store);
}

static void on_load(unsigned index, uint32_t info, uint64_t va, void *user)
{
    on_simple_access(index, info, va, user, false);
}

static void on_store(unsigned index, uint32_t info, uint64_t va, void *user)
{
    on_simple_access(index, info, va, user, true);
}

static void on_block_counted(unsigned index, void *user)
{
    count_executed(&vcpus[index], user);
    on_block(index, user);
}

/* ---- Without a model, where QEMU can count by itself ---------------------------------------- */

/*
 * QEMU's code adds a block's operations to `count`, and calls when that reaches TRIP: it is TRIP -
 * 1 less what is left. An instruction that wants registers calls when `armed` is its id + 1.
 */
#define TRIP (INT64_C(1) << 62)

struct cells {
    uint64_t count, armed;
};

static struct qemu_plugin_scoreboard *board;

static struct cells *cells_of(unsigned index)
{
    return qemu_plugin_scoreboard_find(board, index);
}

static void pull(unsigned index)
{
    if (board)
        vcpus[index].left = TRIP - 1 - (int64_t)cells_of(index)->count;
}

static void push(unsigned index)
{
    if (board)
        *cells_of(index) = (struct cells){(uint64_t)(TRIP - 1 - vcpus[index].left),
                                          unit_wants_registers(&vcpus[index])};
}

static void on_trip(unsigned index, void *user)
{
    pull(index);
    unit_look(&vcpus[index], user);
    push(index);
}

static void on_armed(unsigned index, void *user)
{
    unit_evaluate(&vcpus[index], user, &registers_now);
    cells_of(index)->armed = unit_wants_registers(&vcpus[index]);
}

static void count_inline(struct qemu_plugin_tb *tb, struct block *b)
{
    const struct qemu_plugin_u64 count = {board, offsetof(struct cells, count)};
    const struct qemu_plugin_u64 armed = {board, offsetof(struct cells, armed)};

    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_INLINE_ADD, count, b->count);
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_trip, QEMU_NO_REGS, QEMU_COND_GE, count, TRIP,
                                              b);
    for (uint32_t i = 0; i < b->count; i++)
        if (b->sites[i].registers)
            qemu_plugin_register_vcpu_insn_exec_cond_cb(qemu_plugin_tb_get_insn(tb, i), on_armed,
                                                        QEMU_R_REGS, QEMU_COND_EQ, armed,
                                                        (uint64_t)b->sites[i].id + 1, &b->sites[i]);
}

/* ---- Translation ---------------------------------------------------------------------------- */

/* What a plain load or store does is known without asking QEMU at each access. (QEMU could also be
 * asked for reads or writes alone, but 7.2 mixes them up.) */
static qemu_plugin_mem_fn access_function(const struct site *site, bool modelled)
{
    if (!modelled)
        return on_access;
    if (site->how || (site->is != WIRE_IS_LOAD && site->is != WIRE_IS_STORE))
        return on_access_met;
    return site->is == WIRE_IS_LOAD ? on_load : on_store;
}

/* The program is loaded. In user mode the "hardware" address of code is where it is in this
 * process. */
static void begin_program(const struct qemu_plugin_tb *tb)
{
    const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);

    tasks_announce((uint64_t)(uintptr_t)qemu_plugin_insn_haddr(first) -
                   qemu_plugin_insn_vaddr(first));
    announced = true;
}

static void call_back(struct qemu_plugin_tb *tb, struct block *b)
{
    bool modelled = unit_process.machine != NULL;
    qemu_plugin_exec_fn at_block = modelled ? on_block_modelled : on_block;

    if (unit_process.stat)
        at_block = modelled ? on_block_met : on_block_counted;

    qemu_plugin_register_vcpu_tb_exec_cb(tb, at_block, QEMU_NO_REGS, b);
    for (uint32_t i = 0; i < b->count; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i),
                                         access_function(&b->sites[i], modelled), QEMU_NO_REGS,
                                         QEMU_MEM_BOTH, &b->sites[i]);
}

static void translate(struct qemu_plugin_tb *tb)
{
    struct block *b;

    if (!announced)
        begin_program(tb);
    b = blocks_find(tb);
    if (b && board)
        count_inline(tb, b);
    else if (b)
        call_back(tb, b);
}

/* ---- Threads and processes ------------------------------------------------------------------ */

static void vcpu_init(unsigned index)
{
    if (index >= VCPUS_MAX || !unit_prepare(&vcpus[index])) {
        fputs("specimen: there is no room for another thread\n", stderr);
        abort();
    }
    if (index >= vcpu_end)
        vcpu_end = index + 1;
    vcpus[index].block = &nowhere;
    if (board)
        registers_find();
    push(index);
}

static void vcpu_exit(unsigned index)
{
    struct vcpu *v = &vcpus[index];

    pull(index);
    unit_end(v);
    if (unit_process.stat)
        counts_add(v);
    unit_free(v);
}

/* Counts are added only of threads that do not run any more. */
static void end_units(bool (*stands_still)(unsigned index))
{
    for (unsigned i = 0; i < vcpu_end; i++) {
        if (!vcpus[i].samples)
            continue;
        pull(i);
        unit_end(&vcpus[i]);
        if (unit_process.stat && stands_still(i))
            counts_add(&vcpus[i]);
    }
    if (unit_process.stat)
        counts_send();
}

/* At the end of the process QEMU has stopped all of them. */
static bool any(unsigned index)
{
    (void)index;
    return true;
}

static void end_all(void)
{
    end_units(any);
    channel_bye();
}

/* ---- Fork ----------------------------------------------------------------------------------- */

static void before_fork(void)
{
    channel_lock();
    blocks_lock();
}

static void after_fork(void)
{
    blocks_unlock();
    channel_unlock();
    unit_process.lineage = unit_process.lineage * 31 + 1;
}

/* Only the thread that forked is here; every vCPU starts again when it next runs, which only that
 * one will. */
static void in_child(void)
{
    char why[200];

    blocks_unlock();
    channel_unlock();
    channel_forked(process);
    process = getpid();
    unit_process.generation++;
    unit_process.lineage = unit_process.lineage * 31 + 2;
    slots_reset();
    counts_reset();
    for (unsigned i = 0; i < vcpu_end; i++) {
        struct vcpu *v = &vcpus[i];

        if (!v->samples)
            continue;
        pthread_mutex_init(&v->lock, NULL);
        free(v->executed);
        free(v->met);
        v->executed = NULL;
        v->met = NULL;
        v->executed_count = v->met_count = 0;
        v->left = -1;
        v->pe = NULL;
        v->forced = v->ended = false;
        v->sample_count = 0;
        push(i);
    }
    /* The parent's other threads may have been inside its machine: a new one, with cold caches. */
    if (unit_process.machine && !unit_setup(&setup, why, sizeof(why))) {
        fprintf(stderr, "specimen: a process that was forked cannot be modelled: %s\n", why);
        abort(); /* code that is translated already counts on the machine */
    }
}

/* ---- System calls --------------------------------------------------------------------------- */

/* Just before exec, which is where the thread of this vCPU stands. */
static unsigned leaving;

static bool is_leaving(unsigned index)
{
    return index == leaving;
}

static void leave(void)
{
    end_units(is_leaving);
    channel_leave();
}

/* QEMU makes a fork of a vfork. */
static bool starts_thread(int64_t number, const uint64_t arguments[8])
{
    return number == SYSCALL_CLONE3 ||
           (number == SYSCALL_CLONE && (arguments[0] & (CLONE_VM | CLONE_VFORK)) == CLONE_VM);
}

static void on_syscall(unsigned index, int64_t number, const uint64_t arguments[8])
{
    if (unit_process.machine && starts_thread(number, arguments))
        spe_machine_alone(unit_process.machine, false);
    calls[index].number = number;
    memcpy(calls[index].arguments, arguments, sizeof(calls[index].arguments));
    tasks_syscall(number, arguments);
    if (number == SYSCALL_EXECVE || number == SYSCALL_EXECVEAT) {
        leaving = index;
        tasks_exec(number, arguments, leave);
        channel_bye(); /* QEMU may become a program of this machine now */
    }
}

static void on_syscall_return(unsigned index, int64_t number, int64_t result)
{
    if (calls[index].number == number)
        tasks_syscall_return(number, calls[index].arguments, result);
}

/* ---- Set-up --------------------------------------------------------------------------------- */

static const struct plugin_role role = {
    .vcpu_init = vcpu_init,
    .vcpu_exit = vcpu_exit,
    .translate = translate,
    .exit = end_all,
    .syscall = on_syscall,
    .syscall_return = on_syscall_return,
};

const struct plugin_role *recorder_create(const struct qemu_plugin_info *info,
                                          const struct plugin_arguments *arguments)
{
    const char *socket_name = plugin_argument(arguments, "socket");
    char why[200];

    if (info->system_emulation) {
        fputs("specimen: the recorder is for user mode\n", stderr);
        return NULL;
    }
    if (!socket_name || !channel_open(socket_name, &setup)) {
        fprintf(stderr, "specimen: there is no launcher to talk to: %s\n",
                socket_name ? strerror(errno) : "the argument \"socket\" is missing");
        return NULL;
    }
    process = getpid();
    if (!unit_setup(&setup, why, sizeof(why)) ||
        ((setup.flags & WIRE_SHARE_CPUS) && !slots_share_cpus(setup.cpus))) {
        channel_text(WIRE_TROUBLE, why);
        return NULL;
    }
    if (!unit_process.machine && !unit_process.stat && plugin_level() >= 3) {
        board = qemu_plugin_scoreboard_new(sizeof(struct cells));
        unit_process.by_registers = true;
    }
    tasks_begin(&setup);
    pthread_atfork(before_fork, after_fork, in_child);
    return &role;
}
