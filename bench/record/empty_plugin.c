/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A plugin that does nothing, at each block and each access: what QEMU itself takes where it can
 * only call. For QEMU up to 8.2 (interface 1); later ones do not load it.
 */
#include <stddef.h>
#include <stdint.h>

#define VISIBLE __attribute__((visibility("default")))

enum { NO_REGS = 0, READS_AND_WRITES = 3 };

struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef void block_fn(unsigned vcpu, void *user);
typedef void access_fn(unsigned vcpu, uint32_t info, uint64_t va, void *user);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                           void (*translate)(uint64_t id,
                                                             struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, block_fn *call, int flags,
                                          void *user);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, access_fn *call, int flags,
                                      int which, void *user);

VISIBLE int qemu_plugin_version = 1;
VISIBLE int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static void on_block(unsigned vcpu, void *user)
{
    (void)vcpu;
    (void)user;
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t va, void *user)
{
    (void)vcpu;
    (void)info;
    (void)va;
    (void)user;
}

static void translate(uint64_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, NO_REGS, NULL);
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access, NO_REGS,
                                         READS_AND_WRITES, NULL);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    return 0;
}
