/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The recorder: what the plugin does for `spe record`. It runs in every process of the program,
 * has a unit for every thread, and sends records and what a kernel would tell to the launcher.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu/api.h"
#include "qemu/channel.h"
#include "qemu/counts.h"
#include "qemu/slots.h"
#include "qemu/tasks.h"
#include "qemu/unit.h"

enum { VCPUS_MAX = 1 << 16 };

/* A thread's last system call, until it returns. */
struct call {
    int64_t number;
    uint64_t arguments[8];
};

static struct vcpu *vcpus[VCPUS_MAX]; /* by QEMU's index, which grows with every thread */
static struct call calls[VCPUS_MAX];
static struct wire_setup setup;
static bool based; /* the guest's base is known */
static pid_t process;

/* Where a vCPU is before its first block. */
static const struct block nowhere;

#define RARELY(condition) __builtin_expect(!!(condition), 0)

/* ---- Without a model ------------------------------------------------------------------------ */

static void on_block(unsigned index, void *user)
{
    struct vcpu *v = vcpus[index];
    const struct block *b = user;

    v->left -= b->count;
    if (RARELY(v->left < 0))
        unit_look(v, b);
}

static void on_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    struct vcpu *v = vcpus[index];
    const struct site *site = user;

    if (RARELY(site->block == v->armed))
        unit_access(v, site, va, 1u << qemu_plugin_mem_size_shift(info),
                    qemu_plugin_mem_is_store(info), NULL);
}

/* ---- With the model ------------------------------------------------------------------------- */

static struct site_counts *counts_of(struct vcpu *v, const struct site *site)
{
    return site->id < v->met_count ? &v->met[site->id] : NULL;
}

/* A signal's handler is no target of a direct branch, and tells nothing. */
static void branch_ended(struct vcpu *v, const struct block *last, uint64_t next)
{
    bool taken = next != last->end || (last->direct && next == last->target), wrong;
    const struct site *site = block_last(last);
    struct site_counts *counts;

    if (last->direct && taken && next != last->target)
        return;
    if (taken)
        v->taken = next;
    if (RARELY(v->cpu_lock))
        pthread_mutex_lock(v->cpu_lock);
    wrong =
        spe_machine_branch(unit_process.machine, v->cpu, last->end - 4, last->kind, taken, next);
    if (RARELY(v->cpu_lock))
        pthread_mutex_unlock(v->cpu_lock);
    if (RARELY(v->armed == last))
        unit_branch(v, site, wrong);
    if (unit_process.stat && (counts = counts_of(v, site)) != NULL) {
        counts->taken += taken;
        counts->mispredicted += wrong;
    }
}

static void count_executed(struct vcpu *v, const struct block *b)
{
    if (b->id < v->executed_count || unit_grow_counts(v))
        v->executed[b->id]++;
}

static void on_block_modelled(unsigned index, void *user)
{
    struct vcpu *v = vcpus[index];
    const struct block *b = user, *last = v->block;

    v->block = b;
    if (last->branch)
        branch_ended(v, last, b->pc);
    if (unit_process.stat)
        count_executed(v, b);
    v->left -= b->count;
    if (RARELY(v->left < 0))
        unit_look(v, b);
}

static void count_access(struct vcpu *v, const struct site *site,
                         const struct spe_machine_access *met)
{
    struct site_counts *counts = counts_of(v, site);

    if (!counts)
        return;
    counts->l1_misses += (met->facts & SPE_FACT_L1D_REFILL) != 0;
    counts->llc_misses += (met->facts & SPE_FACT_LLC_MISS) != 0;
    counts->walks += (met->facts & SPE_FACT_TLB_WALK) != 0;
}

static void on_access_modelled(unsigned index, uint32_t info, uint64_t va, void *user)
{
    struct vcpu *v = vcpus[index];
    const struct site *site = user;
    uint32_t bytes = 1u << qemu_plugin_mem_size_shift(info);
    bool store = qemu_plugin_mem_is_store(info), told = site->block == v->armed;
    unsigned how = (store ? SPE_ACCESS_STORE : 0) | site->how;
    struct spe_machine_access met = {0}; /* a cpu that the machine has not does nothing */

    if (RARELY(v->cpu_lock))
        pthread_mutex_lock(v->cpu_lock);
    if (!told && !unit_process.stat)
        spe_machine_touch(unit_process.machine, v->cpu, va, bytes, how, NULL);
    else
        spe_machine_touch(unit_process.machine, v->cpu, va, bytes, how, &met);
    if (RARELY(v->cpu_lock))
        pthread_mutex_unlock(v->cpu_lock);
    if (unit_process.stat)
        count_access(v, site, &met);
    if (RARELY(told))
        unit_access(v, site, va, bytes, store, &met);
}

static void on_block_counted(unsigned index, void *user)
{
    count_executed(vcpus[index], user);
    on_block(index, user);
}

/* ---- Translation ---------------------------------------------------------------------------- */

static void translate(struct qemu_plugin_tb *tb)
{
    bool modelled = unit_process.machine != NULL;
    qemu_plugin_exec_fn at_block = modelled            ? on_block_modelled
                                   : unit_process.stat ? on_block_counted
                                                       : on_block;
    struct block *b;

    if (!based) {
        const struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);

        tasks_guest_base((uint64_t)(uintptr_t)qemu_plugin_insn_haddr(first) -
                         qemu_plugin_insn_vaddr(first));
        based = true;
    }
    b = blocks_find(tb);
    if (!b)
        return;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, at_block, QEMU_NO_REGS, b);
    for (uint32_t i = 0; i < b->count; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i),
                                         modelled ? on_access_modelled : on_access, QEMU_NO_REGS,
                                         QEMU_MEM_BOTH, &b->sites[i]);
}

/* ---- Threads and processes ------------------------------------------------------------------ */

static void vcpu_init(unsigned index)
{
    if (index >= VCPUS_MAX)
        return;
    if (!vcpus[index])
        vcpus[index] = unit_create(index);
    if (!vcpus[index]) {
        fputs("specimen: there is no memory for another thread\n", stderr);
        abort();
    }
    vcpus[index]->block = &nowhere;
    vcpus[index]->started = false;
    vcpus[index]->ended = false;
    vcpus[index]->left = -1;
    vcpus[index]->forced = false;
}

static void vcpu_exit(unsigned index)
{
    struct vcpu *v = vcpus[index];

    unit_end(v);
    if (unit_process.stat)
        counts_add(v);
}

static void end_all(void)
{
    for (unsigned i = 0; i < VCPUS_MAX && vcpus[i]; i++) {
        unit_end(vcpus[i]);
        if (unit_process.stat)
            counts_add(vcpus[i]);
    }
    if (unit_process.stat)
        counts_send();
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
    for (unsigned i = 0; i < VCPUS_MAX && vcpus[i]; i++) {
        pthread_mutex_init(&vcpus[i]->lock, NULL);
        free(vcpus[i]->executed);
        free(vcpus[i]->met);
        vcpus[i]->executed = NULL;
        vcpus[i]->met = NULL;
        vcpus[i]->executed_count = vcpus[i]->met_count = 0;
        vcpus[i]->left = -1;
        vcpus[i]->forced = false;
        vcpus[i]->ended = false;
    }
    /* The parent's other threads may have been inside its machine: a new one, with cold caches. */
    if (unit_process.machine && !unit_setup(&setup, why, sizeof(why)))
        unit_process.machine = NULL;
}

/* ---- System calls --------------------------------------------------------------------------- */

/* Just before exec. */
static void leave(void)
{
    end_all();
    channel_leave();
}

static void on_syscall(unsigned index, int64_t number, const uint64_t arguments[8])
{
    calls[index].number = number;
    memcpy(calls[index].arguments, arguments, sizeof(calls[index].arguments));
    tasks_syscall(number, arguments);
    if (number == SYSCALL_EXECVE || number == SYSCALL_EXECVEAT)
        tasks_exec(number, arguments, leave);
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
    tasks_begin(&setup);
    pthread_atfork(before_fork, after_fork, in_child);
    return &role;
}
