/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The plugin as a device: each vCPU of a system QEMU has a unit, and the guest's own software
 * programs it. docs/vm.md.
 *
 *   device.c         the role: what is instrumented, sampling
 *   device_cpu.c     a vCPU: PE state, MRS and MSR
 *   device_config.c  arguments, features
 *   device_walk.c    writes to the Profiling Buffer through the guest's translation tables
 *   device_gic.c     the interrupt
 *   device_model.c   caches, TLB and branch prediction, on request
 *   device_time.c    the system counter
 *
 * A vCPU's struct is used by its thread alone.
 */
#ifndef QEMU_DEVICE_H
#define QEMU_DEVICE_H

#include <specimen/pe.h>
#include <specimen/spu.h>
#include <stdatomic.h>

#include "qemu/api.h"

enum { DEVICE_CPUS_MAX = 512, DEVICE_REGIONS_MAX = 4 };

/* System registers of the guest that are read by name. */
enum device_register {
    REG_CPSR,
    REG_VG,
    REG_HCR_EL2,
    REG_SCR_EL3,
    REG_MDCR_EL2,
    REG_MDCR_EL3,
    REG_HDFGRTR_EL2,
    REG_HDFGWTR_EL2,
    REG_HDFGRTR2_EL2,
    REG_HDFGWTR2_EL2,
    REG_HFGITR_EL2,
    REG_CNTHCTL_EL2,
    REG_CNTVOFF_EL2,
    REG_CNTPOFF_EL2,
    REG_CNTFRQ_EL0,
    REG_PMCR_EL0,
    REG_CONTEXTIDR_EL1,
    REG_CONTEXTIDR_EL2,
    REG_SCTLR_EL1,
    REG_SCTLR_EL2,
    REG_TCR_EL1,
    REG_TCR_EL2,
    REG_TCR2_EL1,
    REG_TCR2_EL2,
    REG_TTBR0_EL1,
    REG_TTBR1_EL1,
    REG_TTBR0_EL2,
    REG_TTBR1_EL2,
    REG_PIR_EL1,
    REG_PIR_EL2,
    REG_VTCR_EL2,
    REG_VTTBR_EL2,
    REG_ID_AA64DFR0_EL1,
    REG_ZCR_EL1,
    REG_ERRIDR_EL1,
    REG_ID_AA64PFR1_EL1,
    REG_ID_AA64ISAR1_EL1,
    REG_ID_AA64ISAR2_EL1,
    REG_ID_AA64MMFR0_EL1,
    REG_ID_AA64MMFR1_EL1,
    REG_ID_AA64MMFR2_EL1,
    REG_ID_AA64MMFR3_EL1,
    DEVICE_REGISTERS
};

/* A translated block: what a callback needs to know of it. Blocks live until all are flushed. */
struct device_block;
struct device_site {
    const struct device_block *block;
    uint32_t index;
};

struct device_block {
    struct device_block *next;
    uint64_t pc;
    uint32_t count; /* instructions that count: up to the first that always leaves the block */
    struct device_site *sites;
    uint32_t *words;
    bool branch; /* with a model: its last instruction is one */
    uint8_t branch_kind;
    uint8_t *alone; /* needs registers as they are before it runs: has a callback of its own */
};

/* What is to be done at the next callback, whatever that is for. */
enum {
    PENDING_SAMPLE = 1u << 0, /* an operation has been selected and has not yet finished */
    PENDING_TIME = 1u << 1,   /* the guest has read the system counter */
    PENDING_STATE = 1u << 2,  /* the PE state may have changed */
    PENDING_LEVEL = 1u << 3,  /* the Exception level may have changed */
};

struct device_cpu {
    unsigned index;
    struct spe_spu *spu;
    struct spe_pe_state pe;
    uint64_t base;               /* the counter's value when the unit last knew of everything */
    unsigned pending;            /* PENDING_* */
    bool watching;               /* Exception levels matter now */
    bool interrupt;              /* PMBIRQ */
    uint64_t mdcr_el2, mdcr_el3; /* the unit's fields, which QEMU does not keep */
    bool tbi[2];

    /* PENDING_SAMPLE */
    const struct device_block *block; /* NULL after a flush */
    uint64_t block_pc;
    uint32_t block_index;
    struct spe_a64 insn;
    struct spe_operation op;
    struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX];
    struct spe_machine_access met[SPE_A64_ACCESSES_MAX]; /* with a model */
    uint32_t met_count;
    const struct device_block *flow; /* with a model: a branch ended it */

    /* PENDING_TIME */
    unsigned time_register;
    bool time_virtual;
    uint32_t time_reads;

    /* The page that the buffer was last written in */
    struct {
        uint64_t va, pa;
        unsigned generation;
        uint8_t el;
        bool valid;
    } page;
};

struct device {
    struct spe_spu_config config;
    unsigned ppi;
    struct {
        int version; /* 2 or 3 */
        uint64_t distributor;
        struct {
            uint64_t base;
            unsigned frames;
        } regions[DEVICE_REGIONS_MAX];
        unsigned region_count;
    } gic;
    bool functional; /* with a model */
    uint32_t pmsver;
    struct spe_machine *machine;
    struct qemu_plugin_scoreboard *score;
    struct qemu_plugin_register *registers[DEVICE_REGISTERS];
    struct qemu_plugin_register *x[32]; /* 31 is SP */
    _Atomic(struct device_cpu *) cpus[DEVICE_CPUS_MAX];
    _Atomic(struct device_block *) blocks;
    atomic_uint generation;   /* of translations: counts TLB maintenance */
    atomic_llong time_offset; /* host's count minus the guest's */
    atomic_bool time_known;
};

/* There is one a process: QEMU's callbacks have no other way to find it. */
extern struct device device;

static inline uint64_t device_read(enum device_register reg)
{
    return plugin_read(device.registers[reg]);
}

/* ---- device.c ---- */

uint32_t device_vector_length(void); /* in bits */

/* ---- device_config.c ---- */

/* Arguments into device.config, device.gic ...; false after a sentence on standard error. */
bool device_configure(const struct plugin_arguments *arguments);
/* The features of this unit on a PE that has what its ID registers say. Reads registers. */
spe_features device_features(spe_features wanted);

/* ---- device_cpu.c ---- */

void device_find_registers(void);
void device_read_state(struct device_cpu *cpu);   /* all of the PE state; tells the unit */
uint8_t device_level(void);                       /* the Exception level, AArch64 */
void device_read_level(struct device_cpu *cpu);   /* the Exception level; tells the unit */
void device_read_context(struct device_cpu *cpu); /* CONTEXTIDR_ELx; tells the unit */
/* MRS or MSR before it runs. True if it was carried out: go on behind it. */
bool device_access(struct device_cpu *cpu, uint32_t word);

enum device_access_kind {
    ACCESS_NONE,
    ACCESS_UNIT,    /* the unit's, or one that it changes: device_access */
    ACCESS_CONTROL, /* a write to what the PE state holds */
    ACCESS_COUNTER, /* a read of the system counter */
};
enum device_access_kind device_access_kind(uint32_t word);

/* ---- device_walk.c ---- */
void device_write(void *user, const struct spe_write *write, struct spe_write_result *result);

/* ---- device_gic.c ---- */
bool device_gic_configure(const struct plugin_arguments *arguments);
void device_interrupt(void *user, bool level);
void device_interrupt_again(struct device_cpu *cpu); /* a level that is still there */

/* ---- device_model.c: all but the first only with a model ---- */
bool device_model_create(const char *preset, unsigned cpus);
void device_model_access(unsigned vcpu, uint32_t info, uint64_t va, void *user); /* a site */
void device_model_evaluate(unsigned vcpu, void *user); /* a site, before it runs */
void device_model_block(unsigned vcpu, void *user);    /* a block */
void device_model_note_branch(struct device_block *block, const struct spe_a64 *insn);
void device_model_describe(struct device_cpu *cpu);

/* ---- device_time.c ---- */
uint64_t device_ticks(uint64_t nanoseconds, uint64_t frequency); /* of the counter in that time */
uint64_t device_count(void *user);
/* The guest has just read this from the physical counter. */
void device_count_seen(uint64_t count);

#endif
