/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "stand_in.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/tasks.h"

/* Up to level 6 these have the plugin's id in front. */
typedef void (*any_fn)(void);
typedef void (*vcpu_fn)(qemu_plugin_id id, unsigned vcpu);
typedef void (*translate_fn)(qemu_plugin_id id, struct qemu_plugin_tb *tb);
typedef void (*call_fn)(qemu_plugin_id id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                        uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                        uint64_t a8);
typedef void (*return_fn)(qemu_plugin_id id, unsigned vcpu, int64_t number, int64_t result);

extern int qemu_plugin_version;

static any_fn on_begin, on_end, on_translate, on_exit_, on_call, on_return;

struct condition {
    qemu_plugin_exec_fn fn;
    void *user;
    struct qemu_plugin_u64 cell;
    int how;
    uint64_t value;
};

struct qemu_plugin_insn {
    uint64_t pc;
    uint32_t word;
    qemu_plugin_mem_fn access;
    void *access_user;
    qemu_plugin_exec_fn exec;
    void *exec_user;
    struct condition condition;
};

struct qemu_plugin_tb {
    struct qemu_plugin_tb *next; /* QEMU has them all, to the end */
    uint64_t pc;
    size_t count;
    qemu_plugin_exec_fn exec;
    void *exec_user;
    struct qemu_plugin_u64 add; /* score NULL: nothing */
    uint64_t add_value;
    struct condition condition;
    struct qemu_plugin_insn insns[STAND_IN_INSNS];
};

/* ---- Scoreboards ---------------------------------------------------------------------------- */

struct qemu_plugin_scoreboard {
    size_t entry_size;
    _Alignas(64) uint8_t bytes[STAND_IN_VCPUS * 64];
};

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t entry_size)
{
    struct qemu_plugin_scoreboard *score = aligned_alloc(64, sizeof(*score));

    if (!score || entry_size > 64)
        abort();
    memset(score, 0, sizeof(*score));
    score->entry_size = entry_size;
    return score;
}

void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned vcpu)
{
    if (vcpu >= STAND_IN_VCPUS)
        abort();
    return score->bytes + (size_t)vcpu * 64;
}

static uint64_t *cell(struct qemu_plugin_u64 at, unsigned vcpu)
{
    return (uint64_t *)((uint8_t *)qemu_plugin_scoreboard_find(at.score, vcpu) + at.offset);
}

static void check(const struct condition *c, unsigned vcpu)
{
    uint64_t value;

    if (!c->fn)
        return;
    value = *cell(c->cell, vcpu);
    if (c->how == QEMU_COND_GE ? value >= c->value : value == c->value)
        c->fn(vcpu, c->user);
}

/* ---- What the plugin registers -------------------------------------------------------------- */

#define REGISTER(name, where)                                                                      \
    void name(qemu_plugin_id id, any_fn fn, void *user);                                           \
    void name(qemu_plugin_id id, any_fn fn, void *user)                                            \
    {                                                                                              \
        (void)id, (void)user;                                                                      \
        where = fn;                                                                                \
    }

static any_fn ignored;

REGISTER(qemu_plugin_register_vcpu_init_cb, on_begin)
REGISTER(qemu_plugin_register_vcpu_exit_cb, on_end)
REGISTER(qemu_plugin_register_vcpu_tb_trans_cb, on_translate)
REGISTER(qemu_plugin_register_atexit_cb, on_exit_)
REGISTER(qemu_plugin_register_vcpu_syscall_cb, on_call)
REGISTER(qemu_plugin_register_vcpu_syscall_ret_cb, on_return)
REGISTER(qemu_plugin_register_flush_cb, ignored)

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_exec_fn fn,
                                          int flags, void *user)
{
    (void)flags;
    tb->exec = fn;
    tb->exec_user = user;
}

void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_exec_fn fn,
                                            int flags, void *user)
{
    (void)flags;
    insn->exec = fn;
    insn->exec_user = user;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_fn fn,
                                      int flags, int rw, void *user)
{
    (void)flags, (void)rw;
    insn->access = fn;
    insn->access_user = user;
}

void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb, int op,
                                                       struct qemu_plugin_u64 at, uint64_t value)
{
    (void)op;
    tb->add = at;
    tb->add_value = value;
}

void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb, qemu_plugin_exec_fn fn,
                                               int flags, int how, struct qemu_plugin_u64 at,
                                               uint64_t value, void *user)
{
    (void)flags;
    tb->condition = (struct condition){fn, user, at, how, value};
}

void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn,
                                                 qemu_plugin_exec_fn fn, int flags, int how,
                                                 struct qemu_plugin_u64 at, uint64_t value,
                                                 void *user)
{
    (void)flags;
    insn->condition = (struct condition){fn, user, at, how, value};
}

/* ---- What the plugin asks ------------------------------------------------------------------- */

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
    return tb->count;
}

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb)
{
    return tb->pc;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i)
{
    return (struct qemu_plugin_insn *)(uintptr_t)&tb->insns[i];
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
    return insn->pc;
}

void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn)
{
    return (void *)(uintptr_t)insn->pc;
}

/* Both shapes of it: see api.c. */
void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *out, size_t size);
void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *out, size_t size)
{
    if (out)
        memcpy(out, &insn->word, size < 4 ? size : 4);
    return (void *)(uintptr_t)&insn->word;
}

/* `info` is the store's bit; all accesses are of eight bytes. */
unsigned qemu_plugin_mem_size_shift(uint32_t info)
{
    (void)info;
    return 3;
}

bool qemu_plugin_mem_is_store(uint32_t info)
{
    return info & 1;
}

/* ---- Driving -------------------------------------------------------------------------------- */

void stand_in_install(const char *socket_name, int level)
{
    static const struct qemu_plugin_info info = {.target_name = "aarch64"};
    char text[128];
    char *list[] = {text};
    const struct plugin_arguments arguments = {1, list};
    const struct plugin_role *role;

    qemu_plugin_version = level;
    snprintf(text, sizeof(text), "socket=%s", socket_name);
    role = recorder_create(&info, &arguments);
    if (!role)
        abort();
    plugin_register(1, role);
}

struct qemu_plugin_tb *stand_in_translate(uint64_t pc, const uint32_t *words, size_t count)
{
    static struct qemu_plugin_tb *all;
    struct qemu_plugin_tb *tb = calloc(1, sizeof(*tb));

    if (!tb || count > STAND_IN_INSNS)
        abort();
    tb->next = all;
    all = tb;
    tb->pc = pc;
    tb->count = count;
    for (size_t i = 0; i < count; i++) {
        tb->insns[i].pc = pc + 4 * i;
        tb->insns[i].word = words[i];
    }
    ((translate_fn)on_translate)(1, tb);
    return tb;
}

void stand_in_begin(unsigned vcpu)
{
    if (vcpu > 0)
        stand_in_call(0, SYSCALL_CLONE, (uint64_t[8]){CLONE_VM | CLONE_THREAD});
    ((vcpu_fn)on_begin)(1, vcpu);
}

void stand_in_end(unsigned vcpu)
{
    stand_in_call(vcpu, SYSCALL_EXIT, (uint64_t[8]){0});
    ((vcpu_fn)on_end)(1, vcpu);
}

/* Loads and stores are those with bit 27 set and bit 25 clear (C4.1, "Loads and Stores"). */
static bool accesses(uint32_t word)
{
    return (word >> 27 & 1) && !(word >> 25 & 1);
}

const void *stand_in_state;

/* As generated code calls: see qemu/registers_bare.h. */
static void begin_block(unsigned vcpu, const struct qemu_plugin_tb *tb)
{
    void *user = tb->exec_user;

    if (!stand_in_state) {
        tb->exec(vcpu, user);
        return;
    }
#if defined(__x86_64__)
    {
        const void *state = stand_in_state;
        qemu_plugin_exec_fn call = tb->exec;

        __asm__ volatile("mov %%rsp, %%rbx\n\t"
                         "sub $128, %%rsp\n\t" /* what the compiler has below the stack pointer */
                         "and $-16, %%rsp\n\t"
                         "push %%rbp\n\t"
                         "push %%rbp\n\t"
                         "mov %%rcx, %%rbp\n\t"
                         "call *%%rax\n\t"
                         "pop %%rbp\n\t"
                         "mov %%rbx, %%rsp"
                         : "+D"(vcpu), "+S"(user), "+c"(state), "+a"(call)
                         :
                         : "rbx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
                           "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                           "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
    }
#elif defined(__aarch64__)
    {
        register uint64_t x0 __asm__("x0") = vcpu;
        register void *x1 __asm__("x1") = user;

        __asm__ volatile("mov x19, %[state]\n\tblr %[call]"
                         : "+r"(x0), "+r"(x1)
                         : [state] "r"(stand_in_state), [call] "r"(tb->exec)
                         : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
                           "x13", "x14", "x15", "x16", "x17", "x19", "x30", "memory", "cc");
    }
#else
    tb->exec(vcpu, user);
#endif
}

bool stand_in_tells(const struct qemu_plugin_tb *tb, size_t insn)
{
    return tb->insns[insn].access != NULL;
}

bool stand_in_splits_atomics;

/* LDADD ... SWP */
static bool is_atomic(uint32_t word)
{
    return (word & 0x3f200c00) == 0x38200000;
}

static void access_memory(unsigned vcpu, const struct qemu_plugin_insn *insn, uint64_t va)
{
    bool atomic = is_atomic(insn->word);

    if (atomic && stand_in_splits_atomics)
        insn->access(vcpu, 0, va, insn->access_user);
    insn->access(vcpu, atomic || !(insn->word >> 22 & 1), va, insn->access_user);
}

void stand_in_run(unsigned vcpu, struct qemu_plugin_tb *tb, uint64_t va)
{
    if (tb->exec)
        begin_block(vcpu, tb);
    if (tb->add.score)
        *cell(tb->add, vcpu) += tb->add_value;
    check(&tb->condition, vcpu);
    for (size_t i = 0; i < tb->count; i++) {
        struct qemu_plugin_insn *insn = &tb->insns[i];

        if (insn->exec)
            insn->exec(vcpu, insn->exec_user);
        check(&insn->condition, vcpu);
        if (insn->access && accesses(insn->word))
            access_memory(vcpu, insn, va);
    }
}

void stand_in_call(unsigned vcpu, int64_t number, const uint64_t a[8])
{
    ((call_fn)on_call)(1, vcpu, number, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
}

void stand_in_return(unsigned vcpu, int64_t number, int64_t result)
{
    ((return_fn)on_return)(1, vcpu, number, result);
}

void stand_in_exit(void)
{
    on_exit_();
}
