/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * QEMU's TCG plugin interface, declared by ourselves: no distribution ships its header, and one
 * plugin has to serve every level of the interface.
 *
 *   level 1   QEMU 6.0 to 8.2     2   9.0    3   9.1    4   9.2, 10.0
 *   level 5   10.1, 10.2          6   11.0   7   11.1
 *
 * Functions that some level lacks are declared weak: test the address, or the level, before use.
 * What differs between levels in other ways is behind the plugin_ functions below; nothing else in
 * this room may know it.
 */
#ifndef QEMU_API_H
#define QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))
#define PLUGIN_WEAK __attribute__((weak))

/* ---- QEMU's side ---------------------------------------------------------------------------- */

typedef uint64_t qemu_plugin_id;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;
struct qemu_plugin_register;
struct qemu_plugin_hwaddr;

struct qemu_plugin_info {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
};

/* A uint64_t in each vCPU's entry of a scoreboard. */
struct qemu_plugin_u64 {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
};

enum { QEMU_NO_REGS, QEMU_R_REGS, QEMU_RW_REGS, QEMU_RW_REGS_PC /* level 6 */ };
enum { QEMU_MEM_READ = 1, QEMU_MEM_WRITE = 2, QEMU_MEM_BOTH = 3 };
enum { QEMU_INLINE_ADD, QEMU_INLINE_STORE /* level 2 */ };
enum {
    QEMU_COND_NEVER,
    QEMU_COND_ALWAYS,
    QEMU_COND_EQ,
    QEMU_COND_NE,
    QEMU_COND_LT,
    QEMU_COND_LE,
    QEMU_COND_GT,
    QEMU_COND_GE
};
enum { QEMU_DISCON_INTERRUPT = 1, QEMU_DISCON_EXCEPTION = 2, QEMU_DISCON_HOSTCALL = 4 };

/* These two are the same at every level. */
typedef void (*qemu_plugin_exec_fn)(unsigned vcpu, void *user);
typedef void (*qemu_plugin_mem_fn)(unsigned vcpu, uint32_t info, uint64_t va, void *user);

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_exec_fn fn,
                                          int flags, void *user);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, qemu_plugin_exec_fn fn,
                                            int flags, void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_mem_fn fn,
                                      int flags, int rw, void *user);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t va);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *hwaddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *hwaddr);

void qemu_plugin_outs(const char *text);

/* From level 2. An entry moves when vCPUs are added: do not keep what scoreboard_find returns. */
PLUGIN_WEAK struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t entry_size);
PLUGIN_WEAK void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned vcpu);
PLUGIN_WEAK int qemu_plugin_num_vcpus(void);
PLUGIN_WEAK void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb,
                                                                   int op,
                                                                   struct qemu_plugin_u64 cell,
                                                                   uint64_t value);
PLUGIN_WEAK void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
                                                                     int op,
                                                                     struct qemu_plugin_u64 cell,
                                                                     uint64_t value);

/* From level 3. */
PLUGIN_WEAK void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *tb,
                                                           qemu_plugin_exec_fn fn, int flags,
                                                           int cond, struct qemu_plugin_u64 cell,
                                                           uint64_t value, void *user);
PLUGIN_WEAK void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn,
                                                             qemu_plugin_exec_fn fn, int flags,
                                                             int cond, struct qemu_plugin_u64 cell,
                                                             uint64_t value, void *user);

/* From level 5. */
PLUGIN_WEAK bool qemu_plugin_translate_vaddr(uint64_t va, uint64_t *pa);

/* From level 6. Leaves the block: does not return. */
PLUGIN_WEAK void qemu_plugin_set_pc(uint64_t va);

/* ---- Our side ------------------------------------------------------------------------------- */

/* The level that the plugin speaks with this QEMU. */
int plugin_level(void);

/*
 * What a role of the plugin wants to hear; NULL: nothing. There is one role a process, and no user
 * pointer, because QEMU has none for these below level 7.
 */
struct plugin_role {
    void (*vcpu_init)(unsigned vcpu);
    void (*vcpu_exit)(unsigned vcpu);
    void (*translate)(struct qemu_plugin_tb *tb);
    void (*flush)(void); /* all blocks are thrown away */
    void (*exit)(void);  /* the process ends: others run no block and no access of ours any more,
                            but one may be in vcpu_exit or at a system call */
    /* User mode: before and after. */
    void (*syscall)(unsigned vcpu, int64_t number, const uint64_t arguments[8]);
    void (*syscall_return)(unsigned vcpu, int64_t number, int64_t result);
    /* Level 6 (and 10.2): exceptions, interrupts and host calls that were just taken. */
    void (*discontinuity)(unsigned vcpu, unsigned type, uint64_t from, uint64_t to);
};

/* Register the role's callbacks. The role has to live for ever. */
void plugin_register(qemu_plugin_id id, const struct plugin_role *role);

/* The instruction's first four bytes: an A64 word. */
uint32_t plugin_word(const struct qemu_plugin_insn *insn);

/*
 * Registers (level 2), by the name they have in GDB ("x0", "sp", "cpsr", "CONTEXTIDR_EL1"); NULL if
 * there is none. Look for them in vcpu_init or later.
 */
struct qemu_plugin_register *plugin_find_register(const char *name);

/* Low bytes of a register into `out`, in a callback registered with QEMU_R_REGS or more. Returns
 * the register's size, 0 if it cannot be read. */
size_t plugin_read_bytes(struct qemu_plugin_register *reg, void *out, size_t size);

/* The same as a number, 0 if it cannot be read (reg may be NULL). */
uint64_t plugin_read(struct qemu_plugin_register *reg);

/* Level 5, QEMU_RW_REGS. */
bool plugin_write(struct qemu_plugin_register *reg, uint64_t value);

/* Guest memory. By virtual address at the vCPU's current state (read: level 4, write: 5), or by
 * physical address (level 5), devices included. */
bool plugin_read_va(uint64_t va, void *out, size_t size);
bool plugin_write_va(uint64_t va, const void *bytes, size_t size);
bool plugin_read_pa(uint64_t pa, void *out, size_t size);
bool plugin_write_pa(uint64_t pa, const void *bytes, size_t size);

/* ---- Roles ---------------------------------------------------------------------------------- */

/* An argument of the plugin, "name=value" on QEMU's command line; NULL if it was not given. The
 * text lives for ever. */
struct plugin_arguments {
    int count;
    char **list;
};
const char *plugin_argument(const struct plugin_arguments *arguments, const char *name);

/* Set a role up: its callbacks, or NULL after a sentence on standard error. */
const struct plugin_role *recorder_create(const struct qemu_plugin_info *info,
                                          const struct plugin_arguments *arguments);
const struct plugin_role *device_create(const struct qemu_plugin_info *info,
                                        const struct plugin_arguments *arguments);

#endif
