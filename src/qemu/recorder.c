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
#include "qemu/callbacks.h"
#include "qemu/channel.h"
#include "qemu/core.h"
#include "qemu/counts.h"
#include "qemu/registers.h"
#include "qemu/registers_bare.h"
#include "qemu/sampler_bare.h"
#include "qemu/slots.h"
#include "qemu/tasks.h"
#include "qemu/trouble.h"

static struct wire_setup setup;
static bool announced; /* the launcher knows what is loaded */
static bool bare;      /* see sampler_bare.h */
static pid_t process;

enum { PAGE_BYTES = 4096, BLOCK_MAX = 256 }; /* of QEMU's translation; instructions */

/* ---- Without a model ------------------------------------------------------------------------ */

static inline void count_block(struct vcpu *v, const struct pe_block *b)
{
    here.left -= b->count;
    if (RARELY(here.left < 0))
        unit_look(v, b, NULL);
}

static void on_block(unsigned index, void *user)
{
    const struct pe_block *b = user;

    here.left -= b->count;
    if (RARELY(here.left < 0))
        vcpus_look(index, b, NULL);
}

static void on_access(unsigned index, uint32_t info, uint64_t va, void *user)
{
    tell_armed(index, info, va, user);
}

/* ---- With the model ------------------------------------------------------------------------- */

static struct pe_site_counts *counts_of(struct vcpu *v, const struct pe_site *site)
{
    return site->id < v->met_count ? &v->met[site->id] : NULL;
}

static void count_executed(struct vcpu *v, const struct pe_block *b)
{
    v->met_site = NULL;
    if ((b->id < v->executed_count && pe_block_last(b)->id < v->met_count) || unit_grow_counts(v))
        v->executed[b->id]++;
}

/* Tell it to whoever wants to know. */
static void branch_met(struct vcpu *v, const struct pe_block *last, bool taken, bool wrong)
{
    const struct pe_site *site = pe_block_last(last);
    struct pe_site_counts *counts = unit_process.stat ? counts_of(v, site) : NULL;

    if (unit_is_armed(v, site))
        unit_branch(v, site, wrong);
    if (counts) {
        counts->taken += taken;
        counts->mispredicted += wrong;
    }
}

static __attribute__((noinline)) void any_branch(struct vcpu *v, const struct pe_block *last,
                                                 uint64_t next)
{
    bool taken, wrong;

    if (!unit_branch_outcome(last, next, &taken))
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
static inline bool as_foreseen(struct vcpu *v, const struct pe_block *last, uint64_t next)
{
    bool taken;

    if (!last->plain || !v->pe || !unit_branch_outcome(last, next, &taken) ||
        !pe_foreseen(v->pe, last->end - 4, taken))
        return false;
    if (taken)
        v->taken = next;
    return true;
}

/* Apart, as tell_armed_access is. */
__attribute__((noinline)) static void after_branch(struct vcpu *v, const struct pe_block *last,
                                                   const struct pe_block *b)
{
    any_branch(v, last, b->pc);
    count_block(v, b);
}

static inline void block_modelled(struct vcpu *v, const struct pe_block *b)
{
    const struct pe_block *last = here.block;

    here.block = b;
    if (last->branch && !as_foreseen(v, last, b->pc)) {
        after_branch(v, last, b);
        return;
    }
    count_block(v, b);
}

static void on_block_modelled(unsigned index, void *user)
{
    struct vcpu *v = vcpus_at(index);

    if (RARELY(!v))
        return;
    block_modelled(v, user);
}

static void on_block_met(unsigned index, void *user)
{
    struct vcpu *v = vcpus_at(index);

    if (RARELY(!v))
        return;
    count_executed(v, user);
    block_modelled(v, user);
}

/* Operations are counted, not accesses: a pair that misses twice is one that missed. */
static void count_access(struct vcpu *v, const struct pe_site *site, uint64_t va, uint32_t bytes,
                         const struct spe_machine_access *met)
{
    struct pe_site_counts *counts = counts_of(v, site);
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
SELDOM static void access_met(struct vcpu *v, uint32_t info, uint64_t va, struct pe_site *site)
{
    uint32_t bytes = 1u << qemu_plugin_mem_size_shift(info);
    bool store = qemu_plugin_mem_is_store(info);
    struct spe_machine_access met = {0}; /* a cpu that the machine has not does nothing */

    __atomic_store_n(&site->bytes, (uint8_t)bytes, __ATOMIC_RELAXED);
    if (v->cpu_lock)
        pthread_mutex_lock(v->cpu_lock);
    spe_machine_touch(unit_process.machine, v->cpu, va, bytes,
                      (store ? SPE_ACCESS_STORE : 0) | (site->how & SPE_ACCESS_ATOMIC), &met);
    if (v->cpu_lock)
        pthread_mutex_unlock(v->cpu_lock);
    if (unit_process.stat)
        count_access(v, site, va, bytes, &met);
    if (unit_is_armed(v, site))
        unit_access(v, site, va, bytes, store, &met);
}

static void on_access_met(unsigned index, uint32_t info, uint64_t va, void *user)
{
    struct vcpu *v = vcpus_at(index);

    if (RARELY(!v))
        return;
    access_met(v, info, va, user);
}

static inline void on_simple_access(unsigned index, uint32_t info, uint64_t va,
                                    struct pe_site *site, bool store)
{
    struct vcpu *v = vcpus_at(index);
    uint32_t bytes = __atomic_load_n(&site->bytes, __ATOMIC_RELAXED);

    if (RARELY(!v))
        return;
    if (RARELY(!bytes || unit_is_armed(v, site) || !v->pe))
        access_met(v, info, va, site);
    else
        pe_touch_fast(unit_process.machine, v->pe, va, bytes, store);
}

static void on_load(unsigned index, uint32_t info, uint64_t va, void *user)
{
    on_simple_access(index, info, va, user, false);
}

static void on_store(unsigned index, uint32_t info, uint64_t va, void *user)
{
    on_simple_access(index, info, va, user, true);
}

/* ---- Accesses that are not seen ------------------------------------------------------------- */

/* Through the machine at once; what they met is added up for the exact counts. */
static void touch_hidden(struct vcpu *v, const struct pe_site *site, const struct hidden *h,
                         struct spe_machine_access *met)
{
    struct spe_machine_access all = {0};

    if (v->cpu_lock)
        pthread_mutex_lock(v->cpu_lock);
    for (uint32_t i = 0; i < h->op.access_count; i++) {
        const struct spe_memory_access *a = &h->accesses[i];

        if (hidden_is_made(a))
            spe_machine_touch(unit_process.machine, v->cpu, a->va, a->bytes,
                              h->how | (a->store ? SPE_ACCESS_STORE : 0), &met[i]);
        all.facts |= met[i].facts;
    }
    if (v->cpu_lock)
        pthread_mutex_unlock(v->cpu_lock);
    v->met_site = NULL;
    if (unit_process.stat)
        count_access(v, site, 0, 0, &all);
}

/* One block may have more of these than there is room for behind the last look. */
static void put_piece(struct vcpu *v, const struct pe_site *site, uint64_t va, uint32_t bytes,
                      unsigned how)
{
    if (pe_is_late(&here.writer, PE_BLOCK_EVENTS / 2))
        pe_stream_hand(&v->stream);
    pe_put_wide(&here.writer, (uint32_t)(site - site->block->sites), va, bytes, how);
}

/* On the way to the model. An event has room for small sizes; a memory set may be of a large one.
 */
static void put_hidden(struct vcpu *v, const struct pe_site *site, const struct hidden *h)
{
    enum { PIECE = 1 << 15 };

    for (uint32_t i = 0; here.writer.events && i < h->op.access_count; i++) {
        const struct spe_memory_access *a = &h->accesses[i];
        unsigned how = h->how | (a->store ? SPE_ACCESS_STORE : 0);

        for (uint64_t at = 0; hidden_is_made(a) && at < a->bytes; at += PIECE)
            put_piece(v, site, a->va + at,
                      a->bytes - at < PIECE ? (uint32_t)(a->bytes - at) : PIECE, how);
    }
}

static void on_hidden(unsigned index, void *user)
{
    struct spe_machine_access met[SPE_A64_ACCESSES_MAX] = {0};
    const struct pe_site *site = user;
    struct vcpu *v = vcpus_at(index);
    struct hidden h;

    if (!v || (!unit_process.machine && !unit_is_armed(v, site)) ||
        !hidden_evaluate(site, v->vector_bits, &h))
        return;
    if (unit_process.merge) {
        unit_predicate(v, site, &h);
        put_hidden(v, site, &h);
        return;
    }
    if (unit_process.machine)
        touch_hidden(v, site, &h, met);
    if (unit_is_armed(v, site))
        unit_hidden(v, site, &h, unit_process.machine ? met : NULL);
}

static bool can_read_registers(void)
{
    return plugin_level() >= 2;
}

static void call_back_hidden(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    for (uint32_t i = 0; can_read_registers() && i < b->count; i++)
        if (b->sites[i].hidden)
            qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i), on_hidden,
                                                   QEMU_R_REGS, &b->sites[i]);
}

/* ---- Without a model, with exact counts ----------------------------------------------------- */

static void on_block_counted(unsigned index, void *user)
{
    struct vcpu *v = vcpus_at(index);

    if (RARELY(!v))
        return;
    count_executed(v, user);
    count_block(v, user);
}

/* ---- Without a model, where QEMU can count by itself ---------------------------------------- */

/*
 * QEMU's code adds a block's operations to `count`, and calls when that reaches TRIP: it is TRIP -
 * 1 less what is left. Registers tell then what most accesses of the block will be. Any other
 * instruction that wants registers calls when `armed` is its id + 1: that splits the block for
 * QEMU, and costs more.
 */
#define TRIP (UINT64_C(1) << 62)

struct cells {
    uint64_t count, armed;
};

static struct qemu_plugin_scoreboard *board;

static struct cells *cells_of(unsigned index)
{
    return qemu_plugin_scoreboard_find(board, index);
}

static void pull(unsigned index, struct vcpu *v)
{
    if (board)
        v->here->left = (int64_t)(TRIP - 1 - cells_of(index)->count);
}

static void push(unsigned index, struct vcpu *v)
{
    if (board)
        *cells_of(index) =
            (struct cells){TRIP - 1 - (uint64_t)v->here->left, unit_wants_registers(v)};
}

static void on_trip(unsigned index, void *user)
{
    struct vcpu *v = vcpus_at(index);

    if (!v)
        return;
    pull(index, v);
    unit_look(v, user, &registers_now);
    push(index, v);
}

static void on_armed(unsigned index, void *user)
{
    const struct pe_site *site = user;
    struct vcpu *v = vcpus_at(index);
    struct hidden h;

    if (!v)
        return;
    if (site->hidden && hidden_evaluate(site, v->vector_bits, &h))
        unit_hidden(v, site, &h, NULL);
    else
        unit_evaluate(v, site, &registers_now);
    cells_of(index)->armed = unit_wants_registers(v);
}

static void count_inline(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    const struct qemu_plugin_u64 count = {board, offsetof(struct cells, count)};
    const struct qemu_plugin_u64 armed = {board, offsetof(struct cells, armed)};

    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_INLINE_ADD, count, b->count);
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_trip, QEMU_R_REGS, QEMU_COND_GE, count, TRIP,
                                              b);
    for (uint32_t i = 0; i < b->count; i++)
        if (b->sites[i].registers && !b->sites[i].early)
            qemu_plugin_register_vcpu_insn_exec_cond_cb(qemu_plugin_tb_get_insn(tb, i), on_armed,
                                                        QEMU_R_REGS, QEMU_COND_EQ, armed,
                                                        (uint64_t)b->sites[i].id + 1, &b->sites[i]);
}

/* ---- With calls ----------------------------------------------------------------------------- */

/* The same as without, but that calls are followed first: apart, as tell_armed_access is. */
#define WITH_CALLS(name, goes_on)                                                                  \
    __attribute__((noinline)) static void name##_behind_call(struct vcpu *v, struct pe_block *b)   \
    {                                                                                              \
        calls_follow(&v->calls, here.block, b);                                                    \
        goes_on(v, b);                                                                             \
    }                                                                                              \
                                                                                                   \
    static void name##_calls(unsigned index, void *user)                                           \
    {                                                                                              \
        struct vcpu *v = vcpus_at(index);                                                          \
                                                                                                   \
        if (RARELY(!v))                                                                            \
            return;                                                                                \
        if (RARELY(calls_matter(here.block, user)))                                                \
            name##_behind_call(v, user);                                                           \
        else                                                                                       \
            goes_on(v, user);                                                                      \
    }

static inline void count_and_note(struct vcpu *v, struct pe_block *b)
{
    here.block = b;
    count_block(v, b);
}

static inline void count_all_and_note(struct vcpu *v, struct pe_block *b)
{
    count_executed(v, b);
    count_and_note(v, b);
}

static inline void model_and_count_all(struct vcpu *v, struct pe_block *b)
{
    count_executed(v, b);
    block_modelled(v, b);
}

WITH_CALLS(on_block, count_and_note)
WITH_CALLS(on_block_counted, count_all_and_note)
WITH_CALLS(on_block_modelled, block_modelled)
WITH_CALLS(on_block_met, model_and_count_all)
BY_SP(on_access)
BY_SP(on_access_met)
BY_SP(on_load)
BY_SP(on_store)

static void on_load_of_sp(unsigned index, uint32_t info, uint64_t va, void *user)
{
    struct vcpu *v = vcpus_at(index);

    (void)info;
    if (v)
        calls_load(&v->calls, user, va);
}

static void mark_calls(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    if (!(b->flow & FLOW_MARKED)) /* QEMU translates one block at a time */
        calls_mark(b, (uint32_t)tasks_read_word(b->pc - 4));
    if (bare_is_proved())
        return;
    for (uint32_t i = 0; b->flow & FLOW_MOVES_SP && i < b->count; i++)
        if (b->sites[i].is == PE_IS_LOAD)
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_load_of_sp,
                                             QEMU_NO_REGS, QEMU_MEM_BOTH, &b->sites[i]);
}

/* ---- Translation ---------------------------------------------------------------------------- */

/* What a plain load or store does is known without asking QEMU at each access. (QEMU could also be
 * asked for reads or writes alone, but 7.2 mixes them up.) */
static qemu_plugin_mem_fn access_function(const struct pe_site *site, bool modelled)
{
    bool by_sp = site->by_sp;

    if (!modelled)
        return by_sp ? on_access_by_sp : on_access;
    if ((site->how & SPE_ACCESS_ATOMIC) || (site->is != PE_IS_LOAD && site->is != PE_IS_STORE))
        return by_sp ? on_access_met_by_sp : on_access_met;
    if (site->is == PE_IS_LOAD)
        return by_sp ? on_load_by_sp : on_load;
    return by_sp ? on_store_by_sp : on_store;
}

static qemu_plugin_exec_fn block_function(bool modelled)
{
    static const qemu_plugin_exec_fn functions[2][2][2] = {
        {{on_block, on_block_counted}, {on_block_modelled, on_block_met}},
        {{on_block_calls, on_block_counted_calls}, {on_block_modelled_calls, on_block_met_calls}},
    };

    return functions[unit_process.calls][modelled][unit_process.stat];
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

static void call_back(struct qemu_plugin_tb *tb, struct pe_block *b)
{
    bool modelled = unit_process.machine != NULL;

    qemu_plugin_register_vcpu_tb_exec_cb(tb, block_function(modelled), QEMU_NO_REGS, b);
    for (uint32_t i = 0; i < b->count; i++)
        if (!b->sites[i].hidden)
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i),
                                             access_function(&b->sites[i], modelled), QEMU_NO_REGS,
                                             QEMU_MEM_BOTH, &b->sites[i]);
}

/* QEMU ends a block behind an instruction that its CPU does not have, and few others end one there:
 * branches, system instructions, the last of a page or of very many. Tell it, for the program may
 * end now, with SIGILL. */
static void tell_strange(const struct pe_block *b)
{
    const struct pe_site *last = pe_block_last(b);
    bool system = (last->word >> 26 & 7) == 5;
    struct wire_strange message = {
        .header = {.type = WIRE_STRANGE, .size = sizeof(message)},
        .pc = b->end - 4,
        .word = last->word,
    };

    if (!system && b->end % PAGE_BYTES != 0 && b->count < BLOCK_MAX)
        channel_send(&message.header, NULL, 0, -1);
}

static void translate(struct qemu_plugin_tb *tb)
{
    struct pe_block *b;

    if (!announced)
        begin_program(tb);
    b = blocks_find(tb);
    if (!b)
        return;
    tell_strange(b);
    if (unit_process.calls)
        mark_calls(tb, b);
    if (board) {
        count_inline(tb, b);
        return;
    }
    if (unit_process.merge)
        core_call_back(tb, b);
    else if (bare)
        bare_call_back(tb, b);
    else
        call_back(tb, b);
    call_back_hidden(tb, b);
}

/* ---- Threads and processes ------------------------------------------------------------------ */

/* A thread that finds no room is not recorded, and said to be; it runs all the same. */
static void vcpu_init(unsigned index)
{
    struct vcpu *v;

    if (can_read_registers())
        registers_find();
    vcpus_lock();
    v = vcpus_add(index);
    if (v) {
        unit_prepare(v);
        unit_begin_stream(v);
        push(index, v);
    }
    vcpus_unlock();
    if (!v)
        unit_not_recorded("there is no room for another one");
}

static void end_unit(unsigned index, struct vcpu *v)
{
    pull(index, v);
    unit_end(v);
    if (unit_process.stat)
        counts_add(v);
}

/* The process may end meanwhile, in another thread: whoever comes first has the lock, and the
 * other finds that nothing is left to tell. */
static void vcpu_exit(unsigned index)
{
    struct vcpu *v;

    vcpus_lock();
    v = vcpus_at(index);
    if (v && v->there) {
        end_unit(index, v);
        unit_free(v);
        vcpus_remove(index);
    }
    vcpus_unlock();
}

static void hand_over(unsigned index, struct vcpu *v)
{
    (void)index;
    unit_away(v);
}

/* The process ends: see api.h. The model first has what all have done, in the order of time. */
static void end_all(void)
{
    vcpus_lock();
    vcpus_each(hand_over);
    vcpus_each(end_unit);
    vcpus_unlock();
    if (unit_process.stat)
        counts_send();
    channel_bye();
}

/* ---- Fork ----------------------------------------------------------------------------------- */

static void before_fork(void)
{
    vcpus_lock();
    channel_lock();
    blocks_lock();
    if (unit_process.merge)
        pe_merge_lock(unit_process.merge);
}

static void unlock_all(void)
{
    if (unit_process.merge)
        pe_merge_unlock(unit_process.merge);
    blocks_unlock();
    channel_unlock();
    vcpus_unlock();
}

/* A child without descriptors, for its connection and for memory that it shares, cannot be
 * recorded, and cannot say so. It has as many as its parent. */
static void after_fork(void)
{
    unlock_all();
    if (!tasks_has_descriptors(2))
        trouble_tell("a process could not be recorded: %s", strerror(errno));
    unit_process.lineage = unit_process.lineage * 31 + 1;
}

static void begin_anew(unsigned index, struct vcpu *v)
{
    unit_forked(v);
    push(index, v);
}

/* The parent's other threads may have been inside its machine: a new one, with cold caches. Without
 * the memory for it the child has the parent's. */
static void renew_machine(void)
{
    struct spe_machine *old = unit_process.machine;
    char why[200];

    if (!old)
        return;
    if (!unit_setup(&setup, why, sizeof(why))) {
        unit_process.machine = old;
        trouble_tell("a process began with its parent's caches: %s", why);
    }
    if (unit_process.merge)
        unit_begin_merge();
}

/* Only the thread that forked is here; every vCPU starts again when it next runs, which only that
 * one will. */
static void in_child(void)
{
    unlock_all();
    channel_forked(process);
    process = getpid();
    unit_process.lineage = unit_process.lineage * 31 + 2;
    slots_reset();
    counts_reset();
    vcpus_each(begin_anew);
    here = (struct here){.block = here.block, .flow = here.flow};
    core_forked();
    renew_machine();
}

/* ---- System calls --------------------------------------------------------------------------- */

static void stop_other(unsigned index, struct vcpu *v)
{
    (void)index;
    unit_stop(v);
}

/* Just before exec, in the thread of this vCPU; the others still run. */
static void leave(unsigned index)
{
    struct vcpu *v;

    if (unit_process.merge)
        pe_merge_finish(unit_process.merge); /* the others cannot be waited for */
    vcpus_lock();
    v = vcpus_at(index);
    if (v)
        end_unit(index, v);
    vcpus_each(stop_other);
    vcpus_unlock();
    if (unit_process.stat)
        counts_send();
    channel_leave();
}

/* QEMU makes a fork of a vfork. */
static bool starts_thread(int64_t number, const uint64_t arguments[8])
{
    return number == SYSCALL_CLONE3 ||
           (number == SYSCALL_CLONE && (arguments[0] & (CLONE_VM | CLONE_VFORK)) == CLONE_VM);
}

/* Its function may have been called before. */
static void note_handler(uint64_t pc)
{
    if (calls_handler(pc))
        blocks_mark(pc, FLOW_HANDLER);
}

static void on_syscall(unsigned index, int64_t number, const uint64_t arguments[8])
{
    struct vcpu *v = vcpus_at(index);

    if (unit_process.machine && !unit_process.merge && starts_thread(number, arguments))
        spe_machine_alone(unit_process.machine, false);
    if (v && unit_process.merge)
        core_syscall(v, number, arguments,
                     number == SYSCALL_CLONE && !starts_thread(number, arguments));
    if (unit_process.calls && number == SYSCALL_RT_SIGACTION)
        note_handler(tasks_read_word(arguments[1]));
    if (v) {
        v->call = number;
        v->call_time = number == SYSCALL_CLONE ? channel_time() : 0;
        memcpy(v->call_arguments, arguments, sizeof(v->call_arguments));
    }
    tasks_syscall(number, arguments);
    if (number == SYSCALL_EXECVE || number == SYSCALL_EXECVEAT) {
        tasks_exec(number, arguments, leave, index);
        channel_bye(); /* QEMU may become a program of this machine now */
    }
}

/* The thread may have set the length of its vectors, which those that it starts inherit. */
static void vectors_changed(struct vcpu *v, int64_t result)
{
    enum { PR_SVE_SET_VL = 50, PR_SVE_VL_LEN_MASK = 0xffff };

    if (v->call_arguments[0] == PR_SVE_SET_VL && result > 0)
        v->vector_bits = unit_process.vector_bits = (uint32_t)(result & PR_SVE_VL_LEN_MASK) * 8;
}

static void on_syscall_return(unsigned index, int64_t number, int64_t result)
{
    struct vcpu *v = vcpus_at(index);

    if (v && v->call == number)
        tasks_syscall_return(number, v->call_arguments, result, v->call_time);
    if (v && v->call == number && number == SYSCALL_PRCTL)
        vectors_changed(v, result);
    if (v && unit_process.merge)
        core_syscall_return(v, number, result);
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

/* Without a model. Calls need more than a callback now and then. */
static void choose_sampler(void)
{
    if (plugin_level() >= 3 && !unit_process.calls) {
        board = qemu_plugin_scoreboard_new(sizeof(struct cells));
        unit_process.by_registers = true;
    } else {
        bare = bare_begin();
        if (bare)
            bare_prepare();
    }
}

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
    if (setup.flags & WIRE_CORE)
        unit_begin_merge();
    if (!unit_process.machine && !unit_process.stat)
        choose_sampler();
    tasks_begin(&setup);
    calls_read_with(tasks_read_word);
    pthread_atfork(before_fork, after_fork, in_child);
    return &role;
}
